/* SPDX-License-Identifier: MIT */
/* Aggregates of groups, as pandas defines them, and percentages. */
#include <math.h>
#include <string.h>

#include "table/internal.h"

/* A sum that carries what rounding loses (Neumaier's form of Kahan's summation). */
typedef struct exact_sum {
	double sum, lost;
} exact_sum;

static void add(exact_sum *s, double x)
{
	double sum = s->sum + x;
	if (isfinite(sum))
		s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - sum) + x : (x - sum) + s->sum;
	s->sum = sum;
}

static double total(const exact_sum *s)
{
	return s->sum + s->lost;
}

/* ---- one group ---- */

static double deviation(const double *v, size_t n)
{
	exact_sum sum = {0}, squares = {0};
	if (n < 2)
		return (double)NAN;
	for (size_t i = 0; i < n; i++)
		add(&sum, v[i]);
	double mean = total(&sum) / (double)n;
	for (size_t i = 0; i < n; i++)
		add(&squares, (v[i] - mean) * (v[i] - mean));
	return sqrt(total(&squares) / (double)(n - 1));
}

static double median(const double *v, size_t n, int64_t *order, int64_t *scratch)
{
	if (!n)
		return (double)NAN;
	for (size_t i = 0; i < n; i++)
		order[i] = tl__order_of_double(v[i]);
	tl__sort_i64(order, scratch, n);
	double high = tl__double_of_order(order[n / 2]);
	if (n % 2)
		return high;
	double low = tl__double_of_order(order[n / 2 - 1]);
	return low + (high - low) / 2 == low ? low : (low + high) / 2;
}

static double extreme(const double *v, size_t n, bool largest)
{
	double best = n ? v[0] : (double)NAN;
	for (size_t i = 1; i < n; i++)
		if (largest ? v[i] > best : v[i] < best)
			best = v[i];
	return best;
}

static double sum_of(const double *v, size_t n)
{
	exact_sum sum = {0};
	for (size_t i = 0; i < n; i++)
		add(&sum, v[i]);
	return total(&sum);
}

static double number(tl_aggregate agg, const double *v, size_t n, int64_t *order, int64_t *scratch)
{
	switch (agg) {
	case TL_AGG_SUM:
		return sum_of(v, n);
	case TL_AGG_MEAN:
		return n ? sum_of(v, n) / (double)n : (double)NAN;
	case TL_AGG_MEDIAN:
		return median(v, n, order, scratch);
	case TL_AGG_STD:
		return deviation(v, n);
	default:
		return extreme(v, n, agg == TL_AGG_MAX);
	}
}

/* ---- columns ---- */

static size_t largest_group(const tl_groups *groups)
{
	size_t largest = 0;
	for (size_t g = 0; g < groups->n; g++)
		if (groups->start[g + 1] - groups->start[g] > largest)
			largest = groups->start[g + 1] - groups->start[g];
	return largest;
}

static int double_column(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source,
			 tl_aggregate agg)
{
	size_t largest = largest_group(groups);
	tl_column *to = tl__table_add(out, name, source->unit, TL_COL_DOUBLE);
	double *values = tl__malloc(largest * sizeof *values);
	int64_t *order = agg == TL_AGG_MEDIAN ? tl__malloc(2 * largest * sizeof *order) : NULL;
	int code = to && values && (order || agg != TL_AGG_MEDIAN) ? 0 : TL_ENOMEM;

	for (size_t g = 0; g < groups->n && code == 0; g++) {
		size_t n = 0;
		for (uint32_t i = groups->start[g]; i < groups->start[g + 1]; i++) {
			double value = tl__cell_double(source, groups->rows[i]);
			if (!isnan(value))
				values[n++] = value;
		}
		to->f64[g] = number(agg, values, n, order, order ? order + largest : NULL);
	}
	tl__free(values);
	tl__free(order);
	return code;
}

/* Sum or extreme of integers; *fits becomes false when a sum leaves 64 bits. */
static int integer_column(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source,
			  tl_aggregate agg, bool *fits)
{
	tl_column *to = tl__table_add(out, name, source->unit, TL_COL_INT64);
	*fits = true;
	if (!to)
		return TL_ENOMEM;
	for (size_t g = 0; g < groups->n; g++) {
		int64_t result = 0;
		bool any = agg == TL_AGG_SUM; /* the sum of nothing is 0 */
		for (uint32_t i = groups->start[g]; i < groups->start[g + 1]; i++) {
			uint32_t row = groups->rows[i];
			if (tl__column_is_null(source, row))
				continue;
			int64_t value = source->i64[row];
			if (agg == TL_AGG_SUM)
				*fits = !__builtin_add_overflow(result, value, &result) && *fits;
			else if (!any || (agg == TL_AGG_MAX ? value > result : value < result))
				result = value;
			any = true;
		}
		to->i64[g] = result;
		if (!any)
			TL_TRY(tl__column_set_null(out, to, g));
	}
	return 0;
}

static int count_column(tl_table *out, const char *name, const tl_groups *groups, const tl_column *source)
{
	tl_column *to = tl__table_add(out, name, "", TL_COL_INT64);
	if (!to)
		return TL_ENOMEM;
	for (size_t g = 0; g < groups->n; g++) {
		to->i64[g] = groups->start[g + 1] - groups->start[g];
		for (uint32_t i = groups->start[g]; source && i < groups->start[g + 1]; i++)
			to->i64[g] -= tl__column_is_null(source, groups->rows[i]);
	}
	return 0;
}

static int first_column(tl_table *out, const char *name, const tl_groups *groups, const tl_table *table,
			const tl_column *source)
{
	tl_column *to = tl__table_add_like(out, name, source);
	if (!to)
		return TL_ENOMEM;
	for (size_t g = 0; g < groups->n; g++) {
		uint32_t i = groups->start[g], end = groups->start[g + 1];
		while (i < end && tl__column_is_null(source, groups->rows[i]))
			i++;
		TL_TRY(i < end ? tl__copy_cell(out, to, g, table, source, groups->rows[i])
			       : tl__column_set_null(out, to, g));
	}
	return 0;
}

int tl__table_aggregate(tl_table *out, const char *name, const tl_groups *groups, const tl_table *table,
			const char *source, tl_aggregate agg, tl_error *err)
{
	const tl_column *found = source ? tl__table_column(table, source) : NULL;
	const tl_column copy = found ? *found : (tl_column){0}, *column = found ? &copy : NULL;
	bool fits = true; /* a copy of the column, because adding one to the same table moves it */
	int code;

	if (out->rows != groups->n)
		return tl__fail(err, TL_EINVAL, "table '%s' has %zu rows for %zu groups", out->name, out->rows,
				groups->n);
	if (agg == TL_AGG_SIZE) {
		code = count_column(out, name, groups, NULL);
	} else if (!column) {
		return 0;
	} else if (agg == TL_AGG_COUNT) {
		code = count_column(out, name, groups, column);
	} else if (agg == TL_AGG_FIRST) {
		code = first_column(out, name, groups, table, column);
	} else if (column->storage == TL_COL_STRING || column->storage == TL_COL_KERNELS) {
		return tl__fail(err, TL_EINVAL, "column '%s' holds no numbers to aggregate", column->name);
	} else if (column->storage == TL_COL_INT64 && (agg == TL_AGG_SUM || agg == TL_AGG_MIN || agg == TL_AGG_MAX)) {
		code = integer_column(out, name, groups, column, agg, &fits);
		if (code == 0 && !fits) {
			tl__table_remove_column(out, out->columns.n - 1);
			code = double_column(out, name, groups, column, agg);
		}
	} else {
		code = double_column(out, name, groups, column, agg);
	}
	return code == TL_ENOMEM ? tl__nomem(err)
	       : code < 0        ? tl__fail(err, code, "table '%s' has too many kernels", out->name)
				 : 0;
}

int tl__table_add_percentages(tl_table *table, const char *column, tl_error *err)
{
	ptrdiff_t at = tl_table_find_column(table, column);
	exact_sum all = {0}, so_far = {0};

	if (at < 0)
		return tl__fail(err, TL_ENOTFOUND, "table '%s' has no column '%s'", table->name, column);
	if (!tl__table_add(table, "Percentage (%)", "%", TL_COL_DOUBLE) ||
	    !tl__table_add(table, "Cumulative Percentage (%)", "%", TL_COL_DOUBLE))
		return tl__nomem(err);
	const tl_column *source = &table->columns.v[at];
	tl_column *share = &table->columns.v[table->columns.n - 2], *running = share + 1;
	for (size_t row = 0; row < table->rows; row++)
		if (!tl__column_is_null(source, row))
			add(&all, tl__cell_double(source, row));
	double sum = total(&all);
	for (size_t row = 0; row < table->rows; row++) {
		double value = tl__cell_double(source, row);
		if (isnan(value))
			continue; /* stays empty in both */
		share->f64[row] = sum != 0 ? value / sum * 100 : 0;
		add(&so_far, share->f64[row]);
		running->f64[row] = total(&so_far);
	}
	return 0;
}
