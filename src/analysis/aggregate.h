/* SPDX-License-Identifier: MIT */
/** @file aggregate.h Aggregates of times that stay exact: sums are taken in whole picoseconds. */
#ifndef TL_ANALYSIS_AGGREGATE_H
#define TL_ANALYSIS_AGGREGATE_H

#include "table/table.h"

/** Σ of a column of µs over each group, as a new column in µs. Empty cells count nothing. TL_ENOMEM. */
int tl__aggregate_us(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source, tl_error *err);
/** The same in ms. */
int tl__aggregate_ms(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source, tl_error *err);
/** Exact sum / number of non-empty cells, in µs; empty for a group without any. */
int tl__aggregate_mean_us(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source,
			  tl_error *err);

/** Adds 100 * column / total; a total of zero gives 0 (spec 02 section 12, "kernels all of zero duration"). */
int tl__add_percent_of(tl_table *table, const char *name, const char *column, double total, tl_error *err);

/** Names the group's first row's key cells: adds each existing column of `keys` to `out` by TL_AGG_FIRST. */
int tl__aggregate_keys(tl_table *out, const tl_groups *groups, const tl_table *table, const char *const *keys,
		       size_t n_keys, tl_error *err);

/** Keeps the first `top` rows; all when top <= 0. */
void tl__table_cut(tl_table *table, int64_t top);

#endif
