/* SPDX-License-Identifier: MIT */
/**
 * @file aggregate.c
 * Sums of times. A cell is the double nearest to a whole number of picoseconds, so rounding recovers that
 * number (up to 2^51 ps, 37 minutes in one cell), and the sum over thousands of cells is exact: the order of rows
 * cannot change it, and equal sums tie.
 */
#include "analysis/aggregate.h"

#include <math.h>

__extension__ typedef __int128 wide;

static wide picoseconds(double us)
{
	return isnan(us) ? 0 : (wide)llround(us * 1e6);
}

static wide group_sum(const tl_groups *groups, size_t group, const tl_column *source, size_t *cells)
{
	wide sum = 0;
	*cells = 0;
	for (size_t i = groups->start[group]; i < groups->start[group + 1]; i++) {
		double us = source->f64[groups->rows[i]];
		*cells += isnan(us) ? 0 : 1;
		sum += picoseconds(us);
	}
	return sum;
}

static int aggregate(tl_table *out, const char *name, const char *unit, double per_unit, bool mean,
		     const tl_groups *groups, const tl_column *source, tl_error *err)
{
	tl_column *column = tl__table_add(out, name, unit, TL_COL_DOUBLE);
	if (!column)
		return tl__nomem(err);
	for (size_t g = 0; g < groups->n; g++) {
		size_t cells;
		double sum = (double)group_sum(groups, g, source, &cells) / per_unit;
		column->f64[g] = !mean ? sum : cells > 0 ? sum / (double)cells : (double)NAN;
	}
	return 0;
}

int tl__aggregate_us(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source, tl_error *err)
{
	return aggregate(out, name, "µs", 1e6, false, groups, source, err);
}

int tl__aggregate_ms(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source, tl_error *err)
{
	return aggregate(out, name, "ms", 1e9, false, groups, source, err);
}

int tl__aggregate_mean_us(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source,
			  tl_error *err)
{
	return aggregate(out, name, "µs", 1e6, true, groups, source, err);
}

int tl__add_percent_of(tl_table *table, const char *name, const char *column, double total, tl_error *err)
{
	tl_column *percent = tl__table_add(table, name, "%", TL_COL_DOUBLE);
	if (!percent)
		return tl__nomem(err);
	const tl_column *source = tl__table_column(table, column);
	for (size_t i = 0; source && i < table->rows; i++)
		percent->f64[i] = total > 0 ? source->f64[i] / total * 100 : 0;
	return 0;
}

int tl__aggregate_keys(tl_table *out, const tl_groups *groups, const tl_table *table, const char *const *keys,
		       size_t n_keys, tl_error *err)
{
	for (size_t i = 0; i < n_keys; i++)
		TL_TRY(tl__table_aggregate(out, keys[i], groups, table, keys[i], TL_AGG_FIRST, err));
	return 0;
}

void tl__table_cut(tl_table *table, int64_t top)
{
	if (top > 0 && (uint64_t)top < table->rows)
		table->rows = (size_t)top; /* cells behind the last row are of no harm */
}
