/* SPDX-License-Identifier: MIT */
/**
 * @file inline_diff.h
 * The comparison of a trace with another one as columns of its unified summary (spec 04 part C, with the answers of
 * section F). What is needed of a comparison is kept without its trees, so that the other trace can go early.
 *
 * Times are sums of durations, in whole ps. A lowest common ancestor has some of trace1 and some of trace2. Rows whose
 * operations reach it share its time of trace2 by their parts of its time of trace1, so that the rows add up to
 * what the ancestors have, and those to the traces. What no row of the summary stands for gets a row of its own below.
 *
 * Nothing is shared under a Python frame, which may be the whole program: a memset of trace1 would take over all steps
 * that only trace2 has. So the figures are about those of trees without frames.
 */
#ifndef TL_COMPARE_INLINE_DIFF_H
#define TL_COMPARE_INLINE_DIFF_H

#include "analysis/analyzer.h"
#include "compare/diff_rows.h"

/** A lowest common ancestor that has GPU events, or the root of what only one trace has. */
typedef struct tl_inline_group {
	uint32_t node; /* lowest_common_ancestor_id */
	tl_str name;   /* see tl__diff_group_name */
	bool common;   /* both traces have it */
	bool unlinked; /* what has no launch in its trace */
	bool apart;    /* what both have of it stands beside each other, and is not one and the same work */
	/* GPU events of trace1: tl_inline_diff.events from `first` on */
	size_t first, n;
	/* of trace2: how many, their time, and, where trace1 has none or `apart`, tl_inline_diff.others from
	   `first_other` on */
	size_t n2, first_other, n_others;
	tl_time time2;
} tl_inline_group;

/** A GPU event of trace1. */
typedef struct tl_inline_event {
	tl_row row, op_row; /* itself, and the operation or call above it, TL_ROW_NONE: none */
	tl_str op;          /* its name */
} tl_inline_event;

/** GPU events of trace2 that no event of trace1 stands beside: those of one operation and arguments. */
typedef struct tl_inline_other {
	tl_str op, kernel; /* name of the operation, and of the first event */
	tl_str args[4];    /* Input Dims, Input Strides, Input type, Concrete Inputs, as in the trace */
	tl_time time;
} tl_inline_other;

typedef struct tl_inline_diff {
	tl_strings *strings; /* all texts here are ids of it */
	TL_VEC(tl_inline_group) groups;
	TL_VEC(tl_inline_event) events;
	TL_VEC(tl_inline_other) others;
} tl_inline_diff;

/** Keeps of a comparison what is needed; `rows` may go afterwards. Freed with tl__inline_diff_free. TL_ENOMEM. */
int tl__inline_diff_new(tl_inline_diff *out, const tl_diff_rows *rows, tl_error *err);
void tl__inline_diff_free(tl_inline_diff *diff);

/** What the columns add up to, [0] of trace1, [1] of trace2, and what is left out: without a launch in its trace. */
typedef struct tl_inline_totals {
	size_t events[2], left_out[2];
	tl_time time[2], time_left_out[2];
} tl_inline_totals;
/** @param store of trace1 @param include_unlinked as in tl__inline_diff_columns */
tl_inline_totals tl__inline_diff_totals(const tl_inline_diff *diff, const tl_store *store, bool include_unlinked);

/**
 * Adds the columns to a unified summary, and below its rows those of what it does not have: communication, and what is
 * only in trace2. `*summary` is replaced then.
 * @param a the analyser of trace1
 * @param unified, row_of see tl__unified_perf_summary_rows
 * @param include_unlinked GPU events without a launch in their trace have a row, too
 * @param[out] largest the rows by name, largest difference first: `name` and the four columns of times
 */
int tl__inline_diff_columns(tl_table **summary, tl_table **largest, const tl_inline_diff *diff, tl_analyzer *a,
			    const tl_table *unified, const uint32_t *row_of, bool include_unlinked, tl_error *err);

#define TL_INLINE_SPEEDUP "speedup (trace2/trace1)"
#define TL_INLINE_DELTA "delta_us (trace2 - trace1)"
#define TL_INLINE_TIME1 "lca_total_kernel_time_trace1_us"
#define TL_INLINE_TIME2 "lca_total_kernel_time_trace2_us"

/**
 * trace2 / trace1: above 1 exactly when trace2 took longer, 1 when both took equally long (nothing included), NaN when
 * only trace1 took no time.
 */
double tl__inline_speedup(tl_time time1, tl_time time2);

#endif
