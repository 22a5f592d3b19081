/* SPDX-License-Identifier: MIT */
/* The largest differences of kernel time, by operation or, where reports have none, by kernel. */
#include <math.h>
#include <string.h>

#include "compare/reports.h"

#define MICRO "\xc2\xb5s"
enum { LISTED = 10 }; /* in each direction */
/* ms. Traces tell picoseconds: what is less comes from adding up in another order, as the Python tool does. */
#define LEAST 0.5e-9

typedef struct source {
	const char *sheet, *key, *metric;
	double to_ms;
} source;

static const source sources[] = {
	{"ops_summary", "name", "total_direct_kernel_time_ms", 1},
	{"kernel_summary", "Kernel name", "Kernel duration (" MICRO ")_sum", 1e-3},
	{"kernel_summary", "name", "Total Kernel Time (ms)", 1},
	{"ops_unique_args", "name", "total_direct_kernel_time_sum", 1e-3},
	{"unified_perf_summary", "name", "Kernel Time (" MICRO ")_sum", 1e-3},
	{"ops_all", "name", "total_direct_kernel_time_sum", 1e-3},
};

static bool usable(const tl_table *table, const source *s)
{
	const tl_column *metric = table ? tl__table_column(table, s->metric) : NULL;
	return metric && (metric->storage == TL_COL_INT64 || metric->storage == TL_COL_DOUBLE) &&
	       tl__table_column(table, s->key);
}

static const source *choose(const tl_table **tables, const tl_cmp_report *reports, size_t n)
{
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		size_t r = 0;
		while (r < n && usable(tables[r] = tl__cmp_find(&reports[r], sources[i].sheet), &sources[i]))
			r++;
		if (r == n)
			return &sources[i];
	}
	return NULL;
}

/* The columns of one report in the joined table. */
typedef struct report_columns {
	const tl_table *joined;
	const tl_column *metric; /* NULL: it has none */
	TL_VEC(const tl_column *) all;
} report_columns;

static int find_columns(report_columns *out, const tl_table *joined, const tl_table *table, const char *tag,
			const source *s)
{
	tl_buf name = {0};
	int code = 0;
	out->joined = joined;
	for (size_t i = 0; i < tl_table_columns(table) && code == 0; i++) {
		tl__buf_clear(&name);
		tl__buf_printf(&name, "%s::%s", tag, tl_table_column_name(table, i));
		const char *text = tl__buf_text(&name);
		const tl_column *column = text ? tl__table_column(joined, text) : NULL;
		if (!text)
			code = TL_ENOMEM;
		else if (column)
			code = TL_VEC_PUSH(&out->all, column);
		if (column && !strcmp(tl_table_column_name(table, i), s->metric))
			out->metric = column;
	}
	tl__buf_free(&name);
	return code;
}

/* Time of the row in the report, ms: none when the report lacks the row, NAN when it has the row, but not its time. */
static double time_of(const report_columns *r, size_t row, double to_ms)
{
	const tl_column *first = r->joined->columns.v;
	double value = r->metric ? tl_table_double(r->joined, (size_t)(r->metric - first), row) : NAN;
	if (!isnan(value))
		return value * to_ms;
	for (size_t i = 0; i < r->all.n; i++)
		if (!tl__column_is_null(r->all.v[i], row))
			return NAN;
	return 0;
}

typedef struct change {
	uint32_t row, variant;
	double base, other;
} change;
typedef TL_VEC(change) change_list;

/* Whether the first is the larger change, for better (-1) or worse (1); of equal ones the earlier row. */
static bool is_larger(const change *a, const change *b, int sign)
{
	double x = sign * (a->other - a->base), y = sign * (b->other - b->base);
	return x > y || (x == y && a->row < b->row);
}

/* Keeps the LISTED largest changes behind place `start`, in order. */
static int keep(change_list *list, size_t start, change c, int sign)
{
	if (!(sign * (c.other - c.base) > LEAST))
		return 0;
	size_t at = list->n;
	if (at - start == LISTED) {
		if (!is_larger(&c, &list->v[at - 1], sign))
			return 0;
		at--;
	} else if (TL_VEC_PUSH(list, c) < 0) {
		return TL_ENOMEM;
	}
	for (; at > start && is_larger(&c, &list->v[at - 1], sign); at--)
		list->v[at] = list->v[at - 1];
	list->v[at] = c;
	return 0;
}

/* The largest changes from the first of two reports to the second, `variant`, for the worse and then for the better. */
static int compare_times(change_list *out, const report_columns pair[2], uint32_t variant, double to_ms)
{
	for (int sign = 1; sign >= -1; sign -= 2) {
		size_t start = out->n;
		for (uint32_t row = 0; row < pair[0].joined->rows; row++)
			TL_TRY(keep(
				out, start,
				(change){row, variant, time_of(&pair[0], row, to_ms), time_of(&pair[1], row, to_ms)},
				sign));
	}
	return 0;
}

static int find_changes(change_list *out, const tl_table *joined, const source *s, const tl_cmp_report *reports,
			const tl_table **tables, size_t n)
{
	report_columns pair[2] = {{0}, {0}};
	int code = find_columns(&pair[0], joined, tables[0], reports[0].tag, s);
	for (uint32_t variant = 1; variant < n && code == 0; variant++) {
		pair[1].metric = NULL;
		pair[1].all.n = 0;
		code = find_columns(&pair[1], joined, tables[variant], reports[variant].tag, s);
		if (code == 0)
			code = compare_times(out, pair, variant, s->to_ms);
	}
	TL_VEC_FREE(&pair[0].all);
	TL_VEC_FREE(&pair[1].all);
	return code;
}

static int make_table(tl_table **out, const change_list *changes, const tl_table *joined, const source *s,
		      const tl_cmp_report *reports)
{
	tl_table *t = tl__table_new("largest_differences", joined ? joined->strings : NULL, changes->n);
	*out = t;
	if (!t || !tl__table_add(t, "report", "", TL_COL_STRING) || !tl__table_add(t, "name", "", TL_COL_STRING) ||
	    !tl__table_add(t, "baseline ms", "ms", TL_COL_DOUBLE) ||
	    !tl__table_add(t, "report ms", "ms", TL_COL_DOUBLE) || !tl__table_add(t, "diff ms", "ms", TL_COL_DOUBLE) ||
	    !tl__table_add(t, "pct", "%", TL_COL_DOUBLE))
		return TL_ENOMEM;
	tl_column *c = t->columns.v;
	for (size_t i = 0; i < changes->n; i++) {
		const change *at = &changes->v[i];
		const tl_column *key = tl__table_column(joined, s->key);
		tl_buf name = {0};
		tl__cell_text(joined, key, at->row, &name);
		const char *text = tl__buf_text(&name);
		c[0].str[i] = tl__table_str(t, reports[at->variant].tag);
		c[1].str[i] = text ? tl__table_str(t, text) : TL_STR_FAIL;
		tl__buf_free(&name);
		if (c[0].str[i] == TL_STR_FAIL || c[1].str[i] == TL_STR_FAIL)
			return TL_ENOMEM;
		c[2].f64[i] = at->base;
		c[3].f64[i] = at->other;
		c[4].f64[i] = at->other - at->base;
		c[5].f64[i] = at->base > 0 ? 100 * ((at->other - at->base) / at->base) : NAN;
	}
	return 0;
}

int tl__cmp_largest(tl_cmp_result *result, const tl_cmp_report *reports, size_t n, tl_error *err)
{
	const tl_table **tables = tl__calloc(n, sizeof *tables);
	if (!tables)
		return tl__nomem(err);
	const source *s = choose(tables, reports, n);
	tl_table *joined = NULL;
	tl_cmp_column *columns = NULL;
	size_t n_columns;
	change_list changes = {0};
	int code = 0;
	if (s) {
		const tl_cmp_plan plan = {.name = s->sheet, .keys = &s->key, .n_keys = 1};
		code = tl__cmp_join(&joined, &columns, &n_columns, &plan, reports, tables, n, err);
		if (code == 0 && find_changes(&changes, joined, s, reports, tables, n) < 0)
			code = tl__nomem(err);
	}
	if (code == 0 && s && make_table(&result->largest, &changes, joined, s, reports) < 0)
		code = tl__nomem(err);
	TL_VEC_FREE(&changes);
	tl_table_free(joined);
	tl__free(columns);
	tl__free((void *)tables);
	return code;
}
