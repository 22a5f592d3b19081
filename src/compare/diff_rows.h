/* SPDX-License-Identifier: MIT */
/** @file diff_rows.h The GPU events of a comparison by their lowest common ancestor: what all its tables are made of.
 */
#ifndef TL_COMPARE_DIFF_ROWS_H
#define TL_COMPARE_DIFF_ROWS_H

#include "compare/tracediff.h"
#include "table/table.h"

/** One GPU event of one side. Texts are ids of the pool of tl_diff_rows, those of `args` of the side's own pool. */
typedef struct tl_diff_gpu {
	tl_row row;
	uint32_t group; /* the merged node that it is booked on */
	uint8_t side;
	tl_str name;
	tl_str op;       /* the operation nearest above, else the call, else TL_DIFF_NO_LAUNCH */
	tl_row op_row;   /* TL_ROW_NONE when there is none */
	tl_str args[4];  /* Input Dims, Input Strides, Input type, Concrete Inputs */
	tl_str ancestor; /* name of the lowest common ancestor; TL_STR_NONE: there is none */
	tl_str stack, module;
} tl_diff_gpu;

typedef struct tl_diff_rows {
	const tl_diff *diff;
	tl_strings *strings;
	size_t n;
	tl_diff_gpu *v;   /* by group, then side, then place in the merged tree */
	tl_time *busy[2]; /* of each merged node that is a group */
	tl_str source[2]; /* "trace1", "trace2" */
} tl_diff_rows;

/** The GPU events of both sides; freed with tl__diff_rows_free. 0 or TL_ENOMEM. */
int tl__diff_rows_new(tl_diff_rows *out, const tl_diff *diff, tl_error *err);
void tl__diff_rows_free(tl_diff_rows *rows);

/** The tables of tl_diff_stats, tl_diff_stats_unique_args and, below, tl_diff_op_map and tl_diff_largest. TL_ENOMEM. */
int tl__diff_stats(tl_table **out, const tl_diff_rows *rows, tl_error *err);
int tl__diff_unique_args(tl_table **out, const tl_diff_rows *rows, tl_error *err);
/** Duration of an event, 0 when it is unusable. */
static inline tl_time tl__diff_gpu_time(const tl_diff_rows *rows, const tl_diff_gpu *event)
{
	return tl__known_dur(rows->diff->tree[event->side]->store, event->row);
}
/** Operations in the order in which `summary` (the table of unique arguments) names them. */
int tl__diff_op_map(tl_table **out, const tl_diff_rows *rows, const tl_table *summary, tl_error *err);
int tl__diff_largest(tl_table **out, const tl_diff_rows *rows, tl_error *err);

/**
 * Name of what an event is booked on, in the pool of the rows: its lowest common ancestor; what has none is named after
 * its root and says which side has it, "A (only trace1)". `buf` is scratch. TL_ENOMEM.
 */
int tl__diff_group_name(tl_str *out, const tl_diff_rows *rows, const tl_diff_gpu *event, tl_buf *buf);

/** Appends the name of a node: of both sides as "a | b" where they differ, without numbers in brackets. */
void tl__diff_put_name(tl_buf *out, const tl_diff *diff, uint32_t node);

#endif
