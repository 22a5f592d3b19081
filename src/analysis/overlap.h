/* SPDX-License-Identifier: MIT */
/**
 * @file overlap.h
 * What else the GPU does while it works for an operation (spec 02 section 1.4, spec 01 section 8.3). Overlaps are
 * looked up in the whole trace, always: never among the events that happen to be at hand [01-O1].
 */
#ifndef TL_ANALYSIS_OVERLAP_H
#define TL_ANALYSIS_OVERLAP_H

#include "analysis/analyzer.h"

/** The overlap cells of an operation; NULL, NULL and NaN when nothing overlaps its kernels. */
typedef struct tl_overlap {
	const tl_value *names;   /* distinct names of overlapping events; equal sets give the same pointer */
	const tl_value *details; /* a record a name: name, dur, stream, overlap_pct */
	double pct;              /* overlapped part of the kernels' busy time, a fraction; may exceed 1, not rounded */
} tl_overlap;

/** The same of an event that nothing is known of. */
#define TL_OVERLAP_NONE ((tl_overlap){NULL, NULL, (double)NAN})

/**
 * Overlaps of an event. Those of a launcher are those of the kernels booked on it; of any other event those of
 * `gpu[0..n)`, none when n is 0. Lives as long as the analyser. TL_ENOMEM.
 */
int tl__analyzer_overlap(tl_analyzer *a, tl_row event, const tl_row *gpu, size_t n, tl_overlap *out);
/** The same of all launchers, in their order. TL_ENOMEM. */
int tl__analyzer_launcher_overlaps(tl_analyzer *a, tl_overlap *out);

/** The GPU events that overlap one, by start; none when it does not count in the timeline. Valid until the next call.
 */
int tl__analyzer_overlapping(tl_analyzer *a, tl_row gpu_event, const tl_row **out, size_t *n);

/**
 * Adds `overlapping_kernel_names`, `overlapping_kernels_details`, `overlap_pct`. `stride` is the distance in bytes of
 * the cells of two rows, which may lie in larger records.
 */
int tl__overlap_columns(tl_table *table, const tl_overlap *first, size_t stride, tl_error *err);

/** Name of the column that is one more key of a summary in its `_kl_overlap` form. */
#define TL_OVERLAP_NAMES "overlapping_kernel_names"

/**
 * Adds the overlap columns of a summary: the summarised details as `details_name`, their short form, and
 * overlap_pct_{stat} rounded to two decimals, here and nowhere before [01-O3].
 */
int tl__overlap_summary(tl_table *out, const char *details_name, const tl_groups *groups, const tl_table *table,
			tl_error *err);

/**
 * Sorts a summary in its `_kl_overlap` form: rows that differ in nothing but what overlaps them stay together. The
 * groups of `keys` (the other key columns) by the sum of `time` falling, the rows of one group by `time` falling; ties
 * as they stand.
 */
int tl__overlap_sort(tl_table *table, const char *const *keys, size_t n_keys, const char *time, tl_error *err);

#endif
