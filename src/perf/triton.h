/* SPDX-License-Identifier: MIT */
/** @file triton.h Names of kernels that Inductor compiles with Triton. */
#ifndef TL_PERF_TRITON_H
#define TL_PERF_TRITON_H

#include <stdbool.h>
#include <stddef.h>

/** Longest name that is taken apart; longer ones are not understood. */
#define TL_TRITON_MAX_TOKENS 1024

/** A part of a kernel's name: the name of one operation without "aten.". */
typedef struct tl_triton_op {
	const char *name; /* into the kernel's name, not terminated */
	size_t n;
} tl_triton_op;

/**
 * Fused operations of "triton_{poi,red,per}_fused_<ops>_<number>", in the order of the name. Writes up to
 * `room` of them and returns how many there are; 0 when the name is something else or holds a word that is
 * no known operation.
 */
size_t tl__triton_ops(tl_triton_op *out, size_t room, const char *kernel);
/** FLOPs an element of an operation ("add", without "aten."). */
int tl__triton_op_cost(const char *name, size_t n);
/** Whether it is the name of an operation that Inductor may fuse. */
bool tl__aten_op_known(const char *name, size_t n);

#endif
