/* SPDX-License-Identifier: MIT */
/** @file short_kernels.c The short-kernel study (spec 02 section 9.3): kernels shorter than a threshold. */
#include <math.h>

#include "analysis/aggregate.h"
#include "analysis/analyzer.h"
#include "analysis/columns.h"

#define DURATION "Kernel duration (µs)"

/* ---- the short kernels ---- */

enum { S_OP, S_DIMS, S_STRIDES, S_CONCRETE, S_NAME, S_DUR, S_COLUMNS };

/* Of the columns of the kernel table those that the study reads, under the names that they have there. */
static const tl_column_spec columns[S_COLUMNS] = {
	[S_OP] = {"Parent cpu_op", "", TL_COL_STRING},     [S_DIMS] = {"Input dims", "", TL_COL_VALUE},
	[S_STRIDES] = {"Input strides", "", TL_COL_VALUE}, [S_CONCRETE] = {"Concrete Inputs", "", TL_COL_VALUE},
	[S_NAME] = {"Kernel name", "", TL_COL_STRING},     [S_DUR] = {DURATION, "µs", TL_COL_DOUBLE},
};

/* Position of the operation that a kernel belongs to, or TL_POS_NONE. */
static tl_pos operation_of(const tl_tree *tree, tl_row kernel)
{
	tl_pos pos = tree->pos_of_row[kernel];
	return pos == TL_POS_NONE ? pos : tl__tree_cpu_op_above(tree, pos);
}

static bool any_operation(const tl_tree *tree, const tl_row *kernels, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (operation_of(tree, kernels[i]) != TL_POS_NONE)
			return true;
	return false;
}

/* Keeps the short ones of `kernels`, in their order; how many. */
static size_t keep_short(const tl_store *store, tl_row *kernels, size_t n, double threshold_us)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		tl_time dur = store->dur[kernels[i]];
		if (dur != TL_TIME_NONE && tl__us(dur) < threshold_us)
			kernels[kept++] = kernels[i];
	}
	return kept;
}

static int fill_kernel(tl_analyzer *a, tl_column *c, size_t i, tl_row kernel)
{
	const tl_tree *tree = a->tree;
	tl_pos op = operation_of(tree, kernel);
	c[S_NAME].str[i] = a->store->name[kernel];
	c[S_DUR].f64[i] = tl__us(a->store->dur[kernel]);
	if (op == TL_POS_NONE)
		return 0;
	c[S_OP].str[i] = a->store->name[tree->row[op]];
	const tl_op_args *args = tl__op_args(a->store, tree->row[op]);
	if (!args)
		return 0;
	TL_TRY(tl__analyzer_value(a, args->dims, true, &c[S_DIMS].val[i]));
	TL_TRY(tl__analyzer_value(a, args->strides, true, &c[S_STRIDES].val[i]));
	return tl__analyzer_value(a, args->concrete, true, &c[S_CONCRETE].val[i]);
}

static int fill_kernels(tl_table *table, tl_analyzer *a, const tl_row *kernels, bool with_operations)
{
	TL_TRY(tl__add_columns(table, columns, S_COLUMNS));
	for (size_t i = 0; i < table->rows; i++)
		TL_TRY(fill_kernel(a, table->columns.v, i, kernels[i]));
	if (!with_operations) /* as in the kernel table: what no kernel has is no column */
		tl__remove_columns(table, S_OP, S_NAME);
	return 0;
}

int tl__check_short_kernels(double threshold_us, int64_t bins, tl_error *err)
{
	enum { MOST_BINS = 1000000 };
	if (!(threshold_us >= 0)) /* NaN, too */
		return tl__fail(err, TL_EINVAL, "the short-kernel threshold must be a number of µs from 0 up");
	if (bins < 1 || bins > MOST_BINS)
		return tl__fail(err, TL_EINVAL, "the histogram needs 1 to %d bins", MOST_BINS);
	return 0;
}

int tl__short_kernels(tl_table **out, tl_analyzer *a, double threshold_us, tl_error *err)
{
	tl_row *kernels;
	size_t n;
	*out = NULL;
	if (tl__analyzer_all_kernels(a, &kernels, &n) < 0)
		return tl__nomem(err);
	bool with_operations = any_operation(a->tree, kernels, n);
	size_t n_short = keep_short(a->store, kernels, n, threshold_us);
	tl_table *table = tl__table_new("short_kernels", a->strings, n_short);
	int code = table ? 0 : TL_ENOMEM;
	if (code == 0 && (n_short > 0 || n == 0))
		code = fill_kernels(table, a, kernels, with_operations);
	tl__free(kernels);
	if (code < 0) {
		tl_table_free(table);
		return tl__nomem(err);
	}
	*out = table;
	return 0;
}

/* ---- histogram ---- */

typedef struct range {
	double start, stop;
} range;

static range duration_range(const double *dur, size_t n)
{
	range r = {dur[0], dur[0]};
	for (size_t i = 1; i < n; i++) {
		r.start = fmin(r.start, dur[i]);
		r.stop = fmax(r.stop, dur[i]);
	}
	return r.start < r.stop ? r : (range){r.start - 0.5, r.stop + 0.5};
}

/* Index of the bin whose edges enclose `value`: the edges decide, the division only says where to look. */
static size_t bin_of(double value, const tl_column *c, size_t bins, double start, double step)
{
	double guess = step > 0 ? floor((value - start) / step) : 0;
	size_t k = guess <= 0 ? 0 : guess >= (double)bins ? bins - 1 : (size_t)guess;
	while (k > 0 && value < c[0].f64[k])
		k--;
	while (k + 1 < bins && value >= c[0].f64[k + 1])
		k++;
	return k;
}

static void fill_histogram(tl_column *c, size_t bins, const double *dur, size_t n)
{
	range r = duration_range(dur, n);
	double step = (r.stop - r.start) / (double)bins;
	for (size_t k = 0; k < bins; k++) {
		c[0].f64[k] = r.start + (double)k * step;
		c[1].f64[k] = k + 1 < bins ? r.start + (double)(k + 1) * step : r.stop;
	}
	for (size_t i = 0; i < n; i++)
		c[2].i64[bin_of(dur[i], c, bins, r.start, step)]++;
}

int tl__short_kernel_histogram(tl_table **out, const tl_table *kernels, int64_t bins, tl_error *err)
{
	static const tl_column_spec columns_of_bins[] = {
		{"bin_start", "µs", TL_COL_DOUBLE},
		{"bin_end", "µs", TL_COL_DOUBLE},
		{"count", "", TL_COL_INT64},
	};
	*out = NULL;
	size_t n = kernels->rows;
	tl_table *table = tl__table_new("short_kernel_histogram", kernels->strings, n > 0 ? (size_t)bins : 0);
	int code = table ? tl__add_columns(table, columns_of_bins, 3) : TL_ENOMEM;
	if (code == 0 && n > 0)
		fill_histogram(table->columns.v, (size_t)bins, tl__table_column(kernels, DURATION)->f64, n);
	if (code < 0) {
		tl_table_free(table);
		return tl__nomem(err);
	}
	*out = table;
	return 0;
}

/* ---- summary ---- */

#define SUM "Short Kernel duration (µs) sum"
#define COUNT "Short Kernel count"
#define MEAN "Short Kernel duration (µs) mean"
#define PERCENT "Short Kernel duration (µs) percent of total time"

static const char *const keys[] = {"Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs", "Kernel name"};
enum { N_KEYS = sizeof keys / sizeof *keys };

static int build(tl_table *out, const tl_groups *groups, const tl_table *kernels, double total_us, tl_error *err)
{
	const tl_column *dur = tl__table_column(kernels, DURATION);
	TL_TRY(tl__aggregate_keys(out, groups, kernels, keys, N_KEYS, err));
	TL_TRY(tl__aggregate_us(out, SUM, groups, dur, err));
	TL_TRY(tl__table_aggregate(out, COUNT, groups, kernels, DURATION, TL_AGG_COUNT, err));
	TL_TRY(tl__aggregate_mean_us(out, MEAN, groups, dur, err));
	TL_TRY(tl__add_percent_of(out, PERCENT, SUM, total_us, err));
	const tl_sort_key order[] = {{SUM, true}, {COUNT, false}, {MEAN, false}, {PERCENT, false}};
	return tl__table_sort(out, order, 4, err);
}

static int summarize(tl_table **out, const tl_table *kernels, double total_us, tl_error *err)
{
	tl_groups groups = {0};
	/* Kernels that lack a key are dropped ([02-16], kept as in the reference). */
	TL_TRY(tl__table_group(&groups, kernels, keys, N_KEYS, false, err));
	tl_table *table = tl__table_new("short_kernels_summary", kernels->strings, groups.n);
	int code = table ? build(table, &groups, kernels, total_us, err) : tl__nomem(err);
	tl__groups_free(&groups);
	if (code < 0) {
		tl_table_free(table);
		return code;
	}
	*out = table;
	return 0;
}

/* The first `n` rows of *table take its place. */
static int keep_first(tl_table **table, size_t n, tl_error *err)
{
	if (n >= (*table)->rows)
		return 0;
	uint32_t *rows = tl__malloc((n + 1) * sizeof *rows);
	if (!rows)
		return tl__nomem(err);
	for (size_t i = 0; i < n; i++)
		rows[i] = (uint32_t)i;
	tl_table *head = NULL;
	int code = tl__table_take(&head, *table, rows, n, err);
	tl__free(rows);
	if (code < 0)
		return code;
	tl_table_free(*table);
	*table = head;
	return 0;
}

int tl__short_kernels_summary(tl_table **out, tl_analyzer *a, const tl_table *kernels, int64_t topk, tl_error *err)
{
	*out = NULL;
	if (kernels->columns.n == 0) { /* kernels, but no short one: a sheet without columns, as the reference's */
		*out = tl__table_new("short_kernels_summary", kernels->strings, 0);
		return *out ? 0 : tl__nomem(err);
	}
	int code = summarize(out, kernels, tl__us(a->total_time), err);
	if (code == 0 && topk >= 0)
		code = keep_first(out, (size_t)topk, err);
	if (code < 0) {
		tl_table_free(*out);
		*out = NULL;
	}
	return code;
}
