/* SPDX-License-Identifier: MIT */
/**
 * @file triton_cache.h
 * What Inductor wrote about the kernels that it compiled: the Python files of a cache directory (spec 03 section 13.3).
 * They tell sizes and types of a kernel whose launch was recorded without its arguments.
 */
#ifndef TL_PERF_TRITON_CACHE_H
#define TL_PERF_TRITON_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "tracelens/common.h"

typedef struct tl_triton_cache tl_triton_cache;

/** Metadata of one kernel; texts live as long as the cache. */
typedef struct tl_triton_kernel {
	const char *ops;        /* "aten.add, aten.mul"; "" when the file does not tell */
	double cost;            /* FLOPs an element */
	int64_t xnumel, rnumel; /* size hints: 0 and 1 when the file does not tell */
	size_t pointers;        /* tensors of known type */
	double bytes;           /* of one element of each of them, summed */
	double last_bytes;      /* of the last of them */
	double in_out_bytes;    /* of those that are read and written */
	const char *precision;  /* "bf16": type of the first of them, or NULL */
} tl_triton_kernel;

/**
 * A cache over a directory and those below it. Nothing is read before the first kernel is asked for. @param[out] out
 * freed with tl__triton_cache_free. TL_EIO (not a directory, or not readable), TL_ENOMEM.
 */
int tl__triton_cache_new(tl_triton_cache **out, const char *dir, tl_error *err);
void tl__triton_cache_free(tl_triton_cache *cache);

/**
 * Metadata of a kernel by name; *out is NULL when no file has it. Of several files with one kernel the first in the
 * order of their paths counts. What cannot be read or is no Python file of Inductor is passed over. TL_ENOMEM.
 */
int tl__triton_cache_find(tl_triton_cache *cache, const char *name, const tl_triton_kernel **out);

#endif
