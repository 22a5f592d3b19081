/* SPDX-License-Identifier: MIT */
/** @file timeline.h Interval arithmetic on integer time, and the GPU time breakdown. */
#ifndef TL_TIMELINE_TIMELINE_H
#define TL_TIMELINE_TIMELINE_H

#include "trace/store.h"
#include "tracelens/timeline.h"
#include "util/error.h"

typedef struct tl_interval {
	tl_time start, end;
} tl_interval;

/** Sorts (if need be) and merges in place; touching intervals merge, zero-length ones stay as points. Returns the new
 * count. */
size_t tl__intervals_merge(tl_interval *v, size_t n);
/** Summed length. */
tl_time tl__intervals_length(const tl_interval *v, size_t n);
/**
 * B minus A; both sorted and merged. `out` has room for na + nb intervals; no zero-length pieces.
 * Returns the count.
 */
size_t tl__intervals_subtract(tl_interval *out, const tl_interval *a, size_t na, const tl_interval *b, size_t nb);

/** "rccl", "nccl" or "cross_device_reduce" anywhere in the text, ignoring case. */
bool tl__is_communication_name(const char *name, size_t n);
/** Class of a GPU event (spec 01 section 7.2). */
tl_gpu_class tl__gpu_class_of(uint8_t kind, const char *name, size_t n);

typedef TL_VEC(tl_interval) tl_interval_buf;
/**
 * Union of the GPU events `rows` in ps; events without usable time count nothing. `scratch` is a
 * caller-owned growable buffer reused between calls. 0 or TL_ENOMEM.
 */
int tl__busy_time(tl_time *out, const tl_store *store, const tl_row *rows, size_t n, tl_interval_buf *scratch);

/** Whether a caller's threshold in µs is NULL or a number from 0 up, infinity included; else TL_EINVAL. */
int tl__check_micro_idle(const double *micro_idle_us, tl_error *err);

/**
 * Breakdown of GPU events (spec 01 section 7.4). `micro_idle_us` NULL: none; else gaps shorter than
 * *micro_idle_us are micro, the others macro. No event with a usable time: all zero. TL_ENOMEM.
 */
int tl__breakdown(tl_breakdown *out, const tl_store *store, const tl_row *rows, size_t n, const double *micro_idle_us,
		  tl_error *err);

#endif
