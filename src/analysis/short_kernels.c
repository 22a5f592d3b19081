/* SPDX-License-Identifier: MIT */
/** @file short_kernels.c The short-kernel study (spec 02 section 9.3): kernels shorter than a threshold. */
#include <math.h>

#include "analysis/aggregate.h"
#include "analysis/analyzer.h"
#include "analysis/columns.h"

#define DURATION "Kernel duration (µs)"

/* Rows of the kernels that are short. */
static int short_rows(uint32_t **out, size_t *n, const tl_table *kernels, double threshold_us)
{
	const tl_column *dur = tl__table_column(kernels, DURATION);
	uint32_t *rows = tl__malloc((kernels->rows + 1) * sizeof *rows);
	*out = rows;
	*n = 0;
	if (!rows)
		return TL_ENOMEM;
	for (size_t i = 0; dur && i < kernels->rows; i++)
		if (dur->f64[i] < threshold_us) /* false for kernels without a usable duration */
			rows[(*n)++] = (uint32_t)i;
	return 0;
}

/* ---- histogram ---- */

typedef struct range {
	double start, stop;
} range;

static range duration_range(const tl_column *dur, const uint32_t *rows, size_t n)
{
	range r = {dur->f64[rows[0]], dur->f64[rows[0]]};
	for (size_t i = 1; i < n; i++) {
		r.start = fmin(r.start, dur->f64[rows[i]]);
		r.stop = fmax(r.stop, dur->f64[rows[i]]);
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

static void fill_histogram(tl_column *c, size_t bins, const tl_column *dur, const uint32_t *rows, size_t n)
{
	range r = duration_range(dur, rows, n);
	double step = (r.stop - r.start) / (double)bins;
	for (size_t k = 0; k < bins; k++) {
		c[0].f64[k] = r.start + (double)k * step;
		c[1].f64[k] = k + 1 < bins ? r.start + (double)(k + 1) * step : r.stop;
	}
	for (size_t i = 0; i < n; i++)
		c[2].i64[bin_of(dur->f64[rows[i]], c, bins, r.start, step)]++;
}

int tl__short_kernel_histogram(tl_table **out, const tl_table *kernels, double threshold_us, int64_t bins,
			       tl_error *err)
{
	static const tl_column_spec columns[] = {
		{"bin_start", "µs", TL_COL_DOUBLE},
		{"bin_end", "µs", TL_COL_DOUBLE},
		{"count", "", TL_COL_INT64},
	};
	uint32_t *rows;
	size_t n;
	*out = NULL;
	if (bins < 1)
		return tl__fail(err, TL_EINVAL, "a histogram needs at least one bin, not %lld", (long long)bins);
	if (short_rows(&rows, &n, kernels, threshold_us) < 0)
		return tl__nomem(err);
	tl_table *table = tl__table_new("short_kernel_histogram", kernels->strings, n > 0 ? (size_t)bins : 0);
	int code = table ? tl__add_columns(table, columns, 3) : TL_ENOMEM;
	if (code == 0 && n > 0)
		fill_histogram(table->columns.v, (size_t)bins, tl__table_column(kernels, DURATION), rows, n);
	tl__free(rows);
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

int tl__short_kernels_summary(tl_table **out, tl_analyzer *a, const tl_table *kernels, double threshold_us,
			      int64_t topk, tl_error *err)
{
	uint32_t *rows;
	size_t n;
	tl_table *selected = NULL;
	*out = NULL;
	if (short_rows(&rows, &n, kernels, threshold_us) < 0)
		return tl__nomem(err);
	if (n == 0 && kernels->rows > 0) { /* kernels, but no short one: a sheet without columns, as the reference's */
		tl__free(rows);
		*out = tl__table_new("short_kernels_summary", kernels->strings, 0);
		return *out ? 0 : tl__nomem(err);
	}
	int code = tl__table_take(&selected, kernels, rows, n, err);
	tl__free(rows);
	if (code == 0)
		code = summarize(out, selected, tl__us(a->total_time), err);
	tl_table_free(selected);
	if (code == 0 && topk >= 0)
		code = keep_first(out, (size_t)topk, err);
	if (code < 0) {
		tl_table_free(*out);
		*out = NULL;
	}
	return code;
}
