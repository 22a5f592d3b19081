/* SPDX-License-Identifier: MIT */
/* The outer join of one sheet of several reports, and the differences of their metrics. */
#include <math.h>
#include <string.h>

#include "compare/reports.h"
#include "util/format.h"
#include "util/map.h"

/* One report's part. */
typedef struct side {
	const tl_table *table; /* as given */
	tl_table *merged;      /* one row per key, when it was not so already */
	tl_str *ids;           /* key of each row */
	size_t n_ids;
	uint32_t *row_of; /* of each row of the result; TL_MAP_NONE: none */
} side;

typedef struct join {
	const tl_cmp_plan *plan;
	const tl_cmp_report *reports;
	side *sides;
	size_t n;
	size_t rows;
	tl_strings *texts; /* of keys */
	tl_table *out;
	TL_VEC(tl_cmp_column) columns;
	tl_buf name;
	tl_error *err;
} join;

static const tl_table *rows_of(const side *s)
{
	return s->merged ? s->merged : s->table;
}

static bool is_listed(const char *name, const char *const *list)
{
	for (; list && *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

static bool is_key(const tl_cmp_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_keys; i++)
		if (!strcmp(plan->keys[i], name))
			return true;
	return false;
}

/* ---- rows ---- */

static int number_rows(join *j)
{
	size_t most = 0;
	for (size_t r = 0; r < j->n; r++) {
		side *s = &j->sides[r];
		if (!s->table)
			continue;
		s->ids = tl__calloc(s->table->rows + 1, sizeof *s->ids);
		if (!s->ids || tl__cmp_key_ids(s->ids, s->table, j->plan->keys, j->plan->n_keys, j->texts) < 0)
			return tl__nomem(j->err);
		TL_TRY(tl__cmp_one_row_a_key(&s->merged, s->ids, s->table, j->err));
		most += rows_of(s)->rows;
	}
	if (most >= UINT32_MAX)
		return tl__fail(j->err, TL_ELIMIT, "too many rows to compare");
	tl_map known = {0};
	int code = 0;
	for (size_t r = 0; r < j->n && code == 0; r++) {
		side *s = &j->sides[r];
		s->row_of = tl__malloc((most + 1) * sizeof *s->row_of);
		if (!s->row_of) {
			code = TL_ENOMEM;
			break;
		}
		memset(s->row_of, 0xff, (most + 1) * sizeof *s->row_of);
		for (size_t row = 0; s->table && row < rows_of(s)->rows && code == 0; row++) {
			uint32_t at = tl__map_get_or_set(&known, s->ids[row], (uint32_t)j->rows);
			if (at == TL_MAP_NONE)
				code = TL_ENOMEM;
			else
				s->row_of[at] = (uint32_t)row;
			j->rows += at == j->rows;
		}
	}
	tl__map_free(&known);
	return code < 0 ? tl__nomem(j->err) : 0;
}

/* ---- columns ---- */

/* What a number is measured in; files do not say, but names do. */
static const char *unit_of(const char *name)
{
	static const char *const units[][2] = {
		{"(\xc2\xb5s)", "\xc2\xb5s"},
		{"time ms", "ms"},
		{"_time_ms", "ms"},
		{"(ms)", "ms"},
		{"(%)", "%"},
		{"percent", "%"},
		{"TB/s", "TB/s"},
		{"TFLOPS/s", "TFLOPS/s"},
		{"(MB)", "MB"},
		{"GFLOPS", "GFLOP"},
		{"kernel_time_", "\xc2\xb5s"},
	};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strstr(name, units[i][0]))
			return units[i][1];
	return "";
}

static tl_column *add(join *j, tl_storage storage, const char *unit, tl_cmp_column meaning)
{
	const char *name = tl__buf_text(&j->name);
	tl_column *column = name && TL_VEC_PUSH(&j->columns, meaning) == 0 ? tl__table_add(j->out, name, unit, storage)
									   : NULL;
	if (!column)
		tl__nomem(j->err);
	return column;
}

static tl_str restring(join *j, const tl_table *from, tl_str id)
{
	return tl__intern(j->out->strings, tl__str(from->strings, id), tl__str_len(from->strings, id));
}

static int put_text(join *j, tl_column *to, size_t row, const tl_table *from, const tl_column *column, size_t from_row)
{
	tl_buf text = {0};
	tl__cell_text(from, column, from_row, &text);
	const char *v = tl__buf_text(&text);
	to->str[row] = v ? tl__intern(j->out->strings, v, text.n) : TL_STR_FAIL;
	tl__buf_free(&text);
	return to->str[row] == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* A cell of a report into a column of the same storage, or of doubles or texts. */
static int put_cell(join *j, tl_column *to, size_t row, const tl_table *from, const tl_column *column, size_t from_row)
{
	if (!column || tl__column_is_null(column, from_row))
		return tl__column_set_null(j->out, to, row);
	switch (to->storage) {
	case TL_COL_INT64:
		to->i64[row] = column->i64[from_row];
		return 0;
	case TL_COL_DOUBLE:
		to->f64[row] = column->storage == TL_COL_INT64 ? (double)column->i64[from_row] : column->f64[from_row];
		return 0;
	case TL_COL_BOOL:
		to->b[row] = column->b[from_row];
		return 0;
	case TL_COL_VALUE:
		to->val[row] = column->val[from_row];
		return 0;
	default:
		if (column->storage != TL_COL_STRING)
			return put_text(j, to, row, from, column, from_row);
		to->str[row] = restring(j, from, column->str[from_row]);
		return to->str[row] == TL_STR_FAIL ? TL_ENOMEM : 0;
	}
}

/* A key is what it is in all reports, or text. */
static tl_storage key_storage(const join *j, const char *key)
{
	bool seen[TL_COL_KERNELS + 1] = {false};
	for (size_t r = 0; r < j->n; r++) {
		const tl_column *column = j->sides[r].table ? tl__table_column(rows_of(&j->sides[r]), key) : NULL;
		if (column && rows_of(&j->sides[r])->rows)
			seen[column->storage] = true;
	}
	if (seen[TL_COL_STRING] || seen[TL_COL_VALUE] || seen[TL_COL_KERNELS])
		return TL_COL_STRING;
	bool numbers = seen[TL_COL_INT64] || seen[TL_COL_DOUBLE];
	if (seen[TL_COL_BOOL])
		return numbers ? TL_COL_STRING : TL_COL_BOOL;
	return seen[TL_COL_DOUBLE] || !numbers ? TL_COL_DOUBLE : TL_COL_INT64;
}

static int add_key(join *j, const char *key)
{
	tl__buf_clear(&j->name);
	tl__buf_puts(&j->name, key);
	tl_column *to = add(j, key_storage(j, key), "", (tl_cmp_column){.role = TL_CMP_KEY});
	if (!to)
		return TL_ENOMEM;
	for (size_t row = 0; row < j->rows; row++) {
		/* the first report that has the row gives its spelling */
		size_t r = 0;
		while (j->sides[r].row_of[row] == TL_MAP_NONE)
			r++;
		const tl_table *from = rows_of(&j->sides[r]);
		if (put_cell(j, to, row, from, tl__table_column(from, key), j->sides[r].row_of[row]) < 0)
			return tl__nomem(j->err);
	}
	return 0;
}

/* The column of a metric, which must hold numbers; NULL when the report lacks it. */
static int metric_column(const tl_column **out, const join *j, size_t r, const char *metric)
{
	const side *s = &j->sides[r];
	const tl_column *column = *out = s->table ? tl__table_column(rows_of(s), metric) : NULL;
	if (!column || column->storage == TL_COL_INT64 || column->storage == TL_COL_DOUBLE)
		return 0;
	/* Among numbers in a column of texts it is the text that is wrong. */
	const tl_table *rows = rows_of(s);
	size_t c = (size_t)(column - rows->columns.v);
	char text[64];
	double value;
	bool any = false, number = true;
	for (size_t row = 0; row < rows->rows && number; row++) {
		if (tl__column_is_null(column, row))
			continue;
		tl_table_text(rows, c, row, text, sizeof text);
		number = tl__parse_double(text, strlen(text), &value);
		any = true;
	}
	*out = NULL;
	if (!any)
		return 0; /* nothing at all has no type */
	int code = tl__fail(j->err, TL_EFORMAT, "sheet '%s', column '%s': '%s' is not a number",
			    tl_table_name(s->table), metric, text);
	tl__error_where(j->err, j->reports[r].path, -1);
	return code;
}

static double number(const tl_column *column, size_t row)
{
	if (!column || row == TL_MAP_NONE || tl__column_is_null(column, row))
		return NAN;
	return column->storage == TL_COL_INT64 ? (double)column->i64[row] : column->f64[row];
}

static int add_difference(join *j, const char *metric, size_t variant)
{
	const tl_column *base, *other;
	TL_TRY(metric_column(&base, j, 0, metric));
	TL_TRY(metric_column(&other, j, variant, metric));
	bool integers = base && other && base->storage == TL_COL_INT64 && other->storage == TL_COL_INT64;
	const char *tag = j->reports[variant].tag;
	const uint32_t *base_row = j->sides[0].row_of, *other_row = j->sides[variant].row_of;

	tl__buf_clear(&j->name);
	tl__buf_printf(&j->name, "%s__%s_diff", metric, tag);
	tl_column *diff = add(j, integers ? TL_COL_INT64 : TL_COL_DOUBLE, unit_of(metric),
			      (tl_cmp_column){.role = TL_CMP_DIFF, .report = (uint32_t)variant});
	for (size_t row = 0; diff && row < j->rows; row++) {
		double from = number(base, base_row[row]), to = number(other, other_row[row]);
		if (isnan(from) || isnan(to)) {
			if (tl__column_set_null(j->out, diff, row) < 0)
				return tl__nomem(j->err);
		} else if (integers) {
			/* wraps where it does not fit, which no count of operations does */
			diff->i64[row] =
				(int64_t)((uint64_t)other->i64[other_row[row]] - (uint64_t)base->i64[base_row[row]]);
		} else {
			diff->f64[row] = to - from;
		}
	}
	tl__buf_clear(&j->name);
	tl__buf_printf(&j->name, "%s__%s_pct", metric, tag);
	tl_column *pct =
		diff ? add(j, TL_COL_DOUBLE, "%", (tl_cmp_column){.role = TL_CMP_PCT, .report = (uint32_t)variant})
		     : NULL;
	for (size_t row = 0; pct && row < j->rows; row++) {
		double from = number(base, base_row[row]), to = number(other, other_row[row]);
		double share = 100 * ((to - from) / from);
		pct->f64[row] = from == 0 || isinf(share) ? NAN : share;
	}
	return pct ? 0 : TL_ENOMEM;
}

/* Statistics and lists of kernels: in a workbook they are there, but hidden. */
static bool is_noise(const tl_cmp_plan *plan, const char *name)
{
	if (!plan->noise)
		return false;
	tl_cmp_statistic s = tl__cmp_statistic(name);
	return s == TL_CMP_MEDIAN || s == TL_CMP_STD || s == TL_CMP_MIN || s == TL_CMP_MAX ||
	       is_listed(name, plan->noise);
}

static int add_column(join *j, size_t r, const tl_column *from)
{
	const side *s = &j->sides[r];
	tl__buf_clear(&j->name);
	tl__buf_printf(&j->name, "%s::%s", j->reports[r].tag, from->name);
	tl_storage storage = from->storage == TL_COL_KERNELS ? TL_COL_STRING : (tl_storage)from->storage;
	tl_column *to = add(j, storage, *from->unit ? from->unit : unit_of(from->name),
			    (tl_cmp_column){TL_CMP_VALUE, (uint32_t)r, is_noise(j->plan, from->name)});
	if (!to)
		return TL_ENOMEM;
	to->type = from->storage == TL_COL_KERNELS ? TL_TYPE_STRING : from->type;
	for (size_t row = 0; row < j->rows; row++) {
		uint32_t at = s->row_of[row];
		if (put_cell(j, to, row, rows_of(s), at == TL_MAP_NONE ? NULL : from, at) < 0)
			return tl__nomem(j->err);
	}
	return 0;
}

static int add_report(join *j, size_t r)
{
	const side *s = &j->sides[r];
	for (size_t c = 0; s->table && c < rows_of(s)->columns.n; c++) {
		const tl_column *from = &rows_of(s)->columns.v[c];
		if (is_key(j->plan, from->name) || is_listed(from->name, j->plan->drop) ||
		    (r > 0 && is_listed(from->name, j->plan->drop_variant)))
			continue;
		TL_TRY(add_column(j, r, from));
	}
	return 0;
}

/* Where each row was, behind the columns of the result. */
static int add_places(join *j)
{
	for (size_t r = 0; r < j->n; r++) {
		tl_column *place = tl__table_add(j->out, "", "", TL_COL_INT64);
		if (!place)
			return tl__nomem(j->err);
		for (size_t row = 0; row < j->rows; row++) {
			uint32_t at = j->sides[r].row_of[row];
			place->i64[row] = at;
			if (at == TL_MAP_NONE && tl__column_set_null(j->out, place, row) < 0)
				return tl__nomem(j->err);
		}
	}
	return 0;
}

static int add_columns(join *j)
{
	for (size_t i = 0; i < j->plan->n_keys; i++)
		TL_TRY(add_key(j, j->plan->keys[i]));
	for (size_t i = 0; i < j->plan->n_metrics; i++)
		for (size_t r = 1; r < j->n; r++)
			TL_TRY(add_difference(j, j->plan->metrics[i], r));
	for (size_t r = 0; r < j->n; r++)
		TL_TRY(add_report(j, r));
	return add_places(j);
}

/* By a column of the baseline where wanted, then by the keys. A single key keeps the order in which rows were met: it
 * tells more than the alphabet. */
static int sort_rows(join *j)
{
	tl_sort_key *keys = tl__calloc(j->plan->n_keys + 1, sizeof *keys);
	if (!keys)
		return tl__nomem(j->err);
	size_t n = 0;
	if (j->plan->sort) {
		tl__buf_clear(&j->name);
		tl__buf_printf(&j->name, "%s::%s", j->reports[0].tag, j->plan->sort);
		const char *name = tl__buf_text(&j->name);
		if (name && tl__table_column(j->out, name))
			keys[n++] = (tl_sort_key){name, true};
	}
	for (size_t i = 0; j->plan->n_keys > 1 && i < j->plan->n_keys; i++)
		keys[n++] = (tl_sort_key){j->plan->keys[i], false};
	int code = j->name.failed ? tl__nomem(j->err) : tl__table_sort(j->out, keys, n, j->err);
	tl__free(keys);
	return code;
}

static void side_free(side *s)
{
	tl_table_free(s->merged);
	tl__free(s->ids);
	tl__free(s->row_of);
}

int tl__cmp_join(tl_table **out, tl_cmp_column **columns, size_t *n_columns, const tl_cmp_plan *plan,
		 const tl_cmp_report *reports, const tl_table *const *tables, size_t n, tl_error *err)
{
	join j = {.plan = plan, .reports = reports, .n = n, .err = err};
	*out = NULL;
	*columns = NULL;
	j.texts = tl__strings_new(NULL);
	j.sides = tl__calloc(n, sizeof *j.sides);
	int code = j.texts && j.sides ? 0 : tl__nomem(err);
	for (size_t r = 0; r < n && code == 0; r++)
		j.sides[r].table = tables[r];
	if (code == 0)
		code = number_rows(&j);
	if (code == 0) {
		j.out = tl__table_new(plan->name, NULL, j.rows);
		code = j.out ? add_columns(&j) : tl__nomem(err);
	}
	if (code == 0)
		code = sort_rows(&j);
	for (size_t r = 0; j.sides && r < n; r++)
		side_free(&j.sides[r]);
	tl__free(j.sides);
	tl__strings_unref(j.texts);
	tl__buf_free(&j.name);
	if (code < 0) {
		tl_table_free(j.out);
		TL_VEC_FREE(&j.columns);
		return code;
	}
	*out = j.out;
	*columns = j.columns.v;
	*n_columns = j.columns.n;
	return 0;
}
