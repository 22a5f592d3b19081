/* SPDX-License-Identifier: MIT */
/* Keys of rows, and tables with one row per key: only then does a join multiply nothing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/reports.h"
#include "util/format.h"
#include "util/map.h"
#include "util/text.h"

/* ---- what columns mean ---- */

static bool begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

tl_cmp_statistic tl__cmp_statistic(const char *column)
{
	static const struct {
		const char *beginning, *ending; /* either is enough */
		tl_cmp_statistic statistic;
	} rules[] = {
		{"Cumulative ", NULL, TL_CMP_CUMULATIVE},
		{"Median ", "_median", TL_CMP_MEDIAN},
		{"Std ", "_std", TL_CMP_STD},
		{"std_duration", NULL, TL_CMP_STD},
		{"Min ", "_min", TL_CMP_MIN},
		{"Max ", "_max", TL_CMP_MAX},
		{"Mean ", "_mean", TL_CMP_MEAN},
		{"mean_duration", NULL, TL_CMP_MEAN},
		{NULL, "_count", TL_CMP_COUNT},
		{"Count", NULL, TL_CMP_COUNT},
		{"Total ", "_sum", TL_CMP_SUM},
		{"total_duration", "_time_ms", TL_CMP_SUM},
		{"time ms", "Percentage (%)", TL_CMP_SUM},
		{"percent", NULL, TL_CMP_SUM},
		{"Percent of ", NULL, TL_CMP_SUM},
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if ((rules[i].beginning && begins_with(column, rules[i].beginning)) ||
		    (rules[i].ending && tl__ends_with(column, rules[i].ending)))
			return rules[i].statistic;
	return TL_CMP_OTHER;
}

/* ---- keys ---- */

/* The text that equal keys share. */
static void put_key(tl_buf *out, const tl_table *table, const tl_column *column, size_t row)
{
	if (!column || tl__column_is_null(column, row)) {
		tl__buf_puts(out, "-");
		return;
	}
	size_t start = out->n;
	double real;
	tl__buf_puts(out, "=");
	tl__cell_text(table, column, row, out);
	size_t n = out->failed ? 0 : out->n - start - 1;
	if (n == 4 && !memcmp(out->v + start + 1, "None", 4)) {
		/* files spell out what is nothing in memory */
		out->n = start;
		tl__buf_puts(out, "-");
		return;
	}
	/* 3, 3.0 and "3" are one key */
	if (column->storage != TL_COL_BOOL && column->storage != TL_COL_INT64 && n < 64 && n > 0 &&
	    tl__parse_double(out->v + start + 1, n, &real) && fabs(real) < 9e15 && real == floor(real)) {
		out->n = start + 1;
		tl__buf_int(out, (int64_t)real);
	}
	tl__buf_printf(out, ":%zu;", out->n - start); /* no two lists of texts run together alike */
}

int tl__cmp_key_ids(tl_str *out, const tl_table *table, const char *const *keys, size_t n_keys, tl_strings *texts)
{
	tl_buf text = {0};
	int code = 0;
	for (size_t row = 0; row < table->rows && code == 0; row++) {
		tl__buf_clear(&text);
		for (size_t i = 0; i < n_keys; i++)
			put_key(&text, table, tl__table_column(table, keys[i]), row);
		out[row] = text.failed ? TL_STR_FAIL : tl__intern(texts, text.v, text.n);
		code = out[row] == TL_STR_FAIL ? TL_ENOMEM : 0;
	}
	tl__buf_free(&text);
	return code;
}

/* ---- one row per key ---- */

typedef struct groups {
	size_t n;
	uint32_t *of_row; /* group of each row */
	uint32_t *first;  /* first row of each group */
	uint32_t *size;
	double *count; /* operations of each row; 1 where the table does not tell */
} groups;

static double number(const tl_column *column, size_t row)
{
	if (tl__column_is_null(column, row))
		return NAN;
	return column->storage == TL_COL_INT64 ? (double)column->i64[row] : column->f64[row];
}

static bool is_number(const tl_column *column)
{
	return column->storage == TL_COL_INT64 || column->storage == TL_COL_DOUBLE;
}

/* The count that means are weighted by. */
static const tl_column *count_column(const tl_table *table)
{
	for (size_t c = 0; c < table->columns.n; c++)
		if (tl__cmp_statistic(table->columns.v[c].name) == TL_CMP_COUNT && is_number(&table->columns.v[c]))
			return &table->columns.v[c];
	return NULL;
}

static void groups_free(groups *g)
{
	tl__free(g->of_row);
	tl__free(g->first);
	tl__free(g->size);
	tl__free(g->count);
}

static int find_groups(groups *g, const tl_str *ids, const tl_table *table)
{
	size_t rows = table->rows;
	tl_map known = {0};
	int code = 0;
	g->of_row = tl__calloc(rows, sizeof *g->of_row);
	g->first = tl__calloc(rows, sizeof *g->first);
	g->size = tl__calloc(rows, sizeof *g->size);
	g->count = tl__calloc(rows, sizeof *g->count);
	if (!g->of_row || !g->first || !g->size || !g->count)
		return TL_ENOMEM;
	const tl_column *counts = count_column(table);
	for (size_t row = 0; row < rows && code == 0; row++) {
		uint32_t group = tl__map_get_or_set(&known, ids[row], (uint32_t)g->n);
		if (group == TL_MAP_NONE) {
			code = TL_ENOMEM;
			break;
		}
		if (group == g->n)
			g->first[g->n++] = (uint32_t)row;
		g->of_row[row] = group;
		g->size[group]++;
		double count = counts ? number(counts, row) : 1;
		g->count[row] = count > 0 ? count : 0;
	}
	tl__map_free(&known);
	return code;
}

/* Sums, extremes and means of a group, in one pass. */
typedef struct moments {
	double sum, min, max, weight, weighted;
	int64_t integers;
	bool overflow, any;
} moments;

static void add_value(moments *m, double value, double weight)
{
	if (isnan(value))
		return;
	m->sum += value;
	m->min = m->any && m->min <= value ? m->min : value;
	m->max = m->any && m->max >= value ? m->max : value;
	m->weight += weight;
	m->weighted += weight * value;
	m->any = true;
}

static double moment(const moments *m, tl_cmp_statistic statistic)
{
	if (!m->any)
		return NAN;
	switch (statistic) {
	case TL_CMP_MEAN:
		return m->weight > 0 ? m->weighted / m->weight : NAN;
	case TL_CMP_MIN:
		return m->min;
	case TL_CMP_MAX:
		return m->max;
	case TL_CMP_MEDIAN:
		return NAN;
	default:
		return m->sum;
	}
}

/* Whether sums of an integer column stay integers. */
static bool stays_integer(tl_cmp_statistic statistic)
{
	return statistic == TL_CMP_SUM || statistic == TL_CMP_COUNT || statistic == TL_CMP_MIN ||
	       statistic == TL_CMP_MAX;
}

static int put_number(tl_table *table, tl_column *column, size_t row, double value)
{
	if (isnan(value))
		return tl__column_set_null(table, column, row);
	if (column->null)
		column->null[row] = 0;
	if (column->storage == TL_COL_INT64)
		column->i64[row] = (int64_t)value;
	else
		column->f64[row] = value;
	return 0;
}

/* Turns an integer column into one of doubles, for means. */
static void widen(tl_column *column, size_t rows)
{
	for (size_t row = 0; row < rows; row++) {
		double value = column->null && column->null[row] ? NAN : (double)column->i64[row];
		column->f64[row] = value; /* of the same size */
	}
	tl__free(column->null);
	column->null = NULL;
	column->storage = TL_COL_DOUBLE;
	column->type = TL_TYPE_DOUBLE;
}

static int merge_column(tl_table *into, tl_column *to, const groups *g, const tl_table *table, const tl_column *from,
			tl_cmp_statistic statistic)
{
	moments *all = tl__calloc(g->n, sizeof *all);
	if (!all)
		return TL_ENOMEM;
	for (size_t row = 0; row < table->rows; row++)
		add_value(&all[g->of_row[row]], number(from, row), g->count[row]);
	int code = 0;
	for (size_t i = 0; i < g->n && code == 0; i++) {
		if (g->size[i] < 2)
			continue;
		double value = moment(&all[i], statistic);
		if (to->storage == TL_COL_INT64 && (!stays_integer(statistic) || fabs(value) > 9e15))
			widen(to, into->rows);
		code = put_number(into, to, i, value);
	}
	tl__free(all);
	return code;
}

/* The column of means that belongs to one of deviations, or NULL. */
static const tl_column *mean_of(const tl_table *table, const char *std)
{
	static const char *const words[][2] = {{"std", "mean"}, {"Std", "Mean"}};
	char name[256];
	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(std, words[i][0]);
		if (!at)
			continue;
		snprintf(name, sizeof name, "%.*s%s%s", (int)(at - std), std, words[i][1], at + strlen(words[i][0]));
		const tl_column *column = tl__table_column(table, name);
		if (column && is_number(column))
			return column;
	}
	return NULL;
}

/* Pooled sample deviation: squares within the rows and between their means. */
static int merge_deviations(tl_table *into, tl_column *to, const groups *g, const tl_table *table,
			    const tl_column *from)
{
	const tl_column *means = mean_of(table, from->name);
	moments *mean = tl__calloc(g->n, sizeof *mean);
	double *squares = tl__calloc(g->n, sizeof *squares);
	int code = mean && squares ? 0 : TL_ENOMEM;
	for (size_t row = 0; row < table->rows && means && code == 0; row++)
		add_value(&mean[g->of_row[row]], number(means, row), g->count[row]);
	for (size_t row = 0; row < table->rows && means && code == 0; row++) {
		const moments *m = &mean[g->of_row[row]];
		double off = number(means, row) - m->weighted / m->weight, std = number(from, row), n = g->count[row];
		if (isnan(off) || n <= 0)
			continue;
		squares[g->of_row[row]] += n * off * off + (n > 1 ? (n - 1) * std * std : 0);
	}
	for (size_t i = 0; i < g->n && code == 0; i++) {
		if (g->size[i] < 2)
			continue;
		double n = means ? mean[i].weight : 0;
		if (to->storage == TL_COL_INT64)
			widen(to, into->rows);
		code = put_number(into, to, i, n > 1 ? sqrt(squares[i] / (n - 1)) : NAN);
	}
	tl__free(mean);
	tl__free(squares);
	return code;
}

/* Counts 'Cumulative Percentage (%)' anew, from the largest percentage down. */
static int renew_cumulative(tl_table *table, tl_error *err)
{
	static const char name[] = "Cumulative Percentage (%)";
	const tl_column *share = tl__table_column(table, "Percentage (%)");
	tl_column *cumulative = tl__table_column(table, name);
	if (!share || !cumulative || !is_number(share) || !is_number(cumulative))
		return 0;
	tl_table *order = tl__table_new("", NULL, table->rows);
	tl_column *place = order ? tl__table_add(order, "row", "", TL_COL_INT64) : NULL;
	for (size_t row = 0; place && row < table->rows; row++)
		place->i64[row] = (int64_t)row;
	tl_column *shares = place ? tl__table_add(order, "share", "", TL_COL_DOUBLE) : NULL;
	for (size_t row = 0; shares && row < table->rows; row++)
		shares->f64[row] = number(share, row);
	int code = shares ? tl__table_sort(order, &(tl_sort_key){"share", true}, 1, err) : tl__nomem(err);
	if (code == 0 && cumulative->storage == TL_COL_INT64)
		widen(cumulative, table->rows);
	double sum = 0;
	for (size_t i = 0; i < table->rows && code == 0; i++) {
		size_t row = (size_t)tl__table_column(order, "row")->i64[i];
		double value = tl__table_column(order, "share")->f64[i];
		if (!isnan(value))
			sum += value;
		if (cumulative->null)
			cumulative->null[row] = 0;
		cumulative->f64[row] = sum;
	}
	tl_table_free(order);
	return code;
}

static int merge_rows(tl_table *into, const groups *g, const tl_table *table)
{
	for (size_t c = 0; c < table->columns.n; c++) {
		const tl_column *from = &table->columns.v[c];
		tl_cmp_statistic statistic = tl__cmp_statistic(from->name);
		if (statistic == TL_CMP_OTHER || statistic == TL_CMP_CUMULATIVE || !is_number(from))
			continue;
		tl_column *to = &into->columns.v[c];
		if (statistic == TL_CMP_STD)
			TL_TRY(merge_deviations(into, to, g, table, from));
		else
			TL_TRY(merge_column(into, to, g, table, from, statistic));
	}
	return 0;
}

int tl__cmp_one_row_a_key(tl_table **out, tl_str *ids, const tl_table *table, tl_error *err)
{
	groups g = {0};
	*out = NULL;
	int code = find_groups(&g, ids, table) < 0 ? tl__nomem(err) : 0;
	if (code == 0 && g.n < table->rows) {
		code = tl__table_take(out, table, g.first, g.n, err);
		if (code == 0)
			code = merge_rows(*out, &g, table) < 0 ? tl__nomem(err) : 0;
		if (code == 0)
			code = renew_cumulative(*out, err);
		for (size_t i = 0; i < g.n && code == 0; i++)
			ids[i] = ids[g.first[i]]; /* never before it is read: first[i] >= i */
		if (code < 0) {
			tl_table_free(*out);
			*out = NULL;
		}
	}
	groups_free(&g);
	return code;
}
