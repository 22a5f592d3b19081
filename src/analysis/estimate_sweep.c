/* SPDX-License-Identifier: MIT */
/* Costs of models without a trace over ranges of their parameters, as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "tracelens/perf.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/format.h"

/* One parameter and the values it takes. */
typedef struct axis {
	const tl_estimate_param *given;
	const tl_estimate_param_info *info; /* NULL: `backward` */
	TL_VEC(const char *) texts;         /* when it is given as text */
	size_t n;                           /* values */
	tl_column *column;
} axis;

typedef struct sweep {
	const tl_estimate_family *family;
	axis *axes;
	size_t n_axes;
	const tl_arch *const *archs;
	size_t n_archs;
	size_t rows;
	tl_arena arena; /* texts of values */
	tl_error *err;
} sweep;

static int too_many(const sweep *s)
{
	return tl__fail(s->err, TL_ELIMIT, "the ranges make more than %d rows; make them shorter or their steps longer",
			TL_ESTIMATE_MAX_ROWS);
}

/* ---- ranges ---- */

typedef struct range {
	int64_t from, to, step;
	bool multiply;
} range;

/* "a", "a:b", "a:b:+c", "a:b:c", "a:b:*c"; false when it is none of these or has no end. */
static bool parse_range(range *out, const char *text, size_t n)
{
	const char *first = memchr(text, ':', n), *end = text + n;
	*out = (range){.step = 1};
	if (!tl__parse_int(text, first ? (size_t)(first - text) : n, &out->from))
		return false;
	out->to = out->from;
	if (!first)
		return true;
	const char *second = memchr(first + 1, ':', (size_t)(end - first - 1));
	const char *to_end = second ? second : end;
	if (!tl__parse_int(first + 1, (size_t)(to_end - first - 1), &out->to) || out->to < out->from || out->from < 0)
		return false;
	if (!second)
		return true;
	second++;
	if (second < end && (*second == '*' || *second == '+'))
		out->multiply = *second++ == '*';
	if (!tl__parse_int(second, (size_t)(end - second), &out->step))
		return false;
	return out->multiply ? out->step > 1 && out->from > 0 : out->step > 0;
}

/* The number after `value`, or false past the end. */
static bool next(const range *r, int64_t *value)
{
	int64_t after;
	bool overflow = r->multiply ? __builtin_mul_overflow(*value, r->step, &after)
				    : __builtin_add_overflow(*value, r->step, &after);
	if (overflow || after > r->to)
		return false;
	*value = after;
	return true;
}

static int bad_range(const sweep *s, const axis *a)
{
	return tl__fail(
		s->err, TL_EINVAL,
		"%s: '%s' is neither numbers nor ranges; a range is 1024:65536:*2 or 0:100:+25, from the less to the "
		"greater",
		a->given->name, a->given->text);
}

static int add_text(sweep *s, axis *a, const char *text, size_t n)
{
	char *copy = tl__arena_strndup(&s->arena, text, n);
	if (!copy || TL_VEC_PUSH(&a->texts, copy) < 0)
		return tl__nomem(s->err);
	return a->texts.n > TL_ESTIMATE_MAX_ROWS ? too_many(s) : 0;
}

/* Items separated by commas; those of whole numbers can be ranges. */
static int expand_list(sweep *s, axis *a)
{
	for (const char *item = a->given->text;; item++) {
		size_t n = strcspn(item, ",");
		range r;
		if (!a->info || a->info->kind != TL_ESTIMATE_INT) {
			TL_TRY(add_text(s, a, item, n));
		} else if (!parse_range(&r, item, n)) {
			return bad_range(s, a);
		} else {
			char text[TL_FORMAT_MAX];
			int64_t value = r.from;
			do
				TL_TRY(add_text(s, a, text, tl__format_int(text, value)));
			while (next(&r, &value));
		}
		item += n;
		if (!*item)
			return 0;
	}
}

/* Sizes separated by 'x' or commas, each a number or a range; all combinations, the last size running fastest. */
static int expand_shape(sweep *s, axis *a)
{
	range sizes[TL_ESTIMATE_MAX_RANK];
	int64_t at[TL_ESTIMATE_MAX_RANK];
	size_t rank = 0;
	const char *p = a->given->text;
	if (!strchr(p, ':'))
		return add_text(s, a, p, strlen(p));
	for (;; p++) {
		size_t n = strcspn(p, "xX,");
		if (rank == TL_ESTIMATE_MAX_RANK || !parse_range(&sizes[rank], p, n))
			return bad_range(s, a);
		at[rank] = sizes[rank].from;
		rank++;
		p += n;
		if (!*p)
			break;
	}
	for (;;) {
		char text[TL_ESTIMATE_MAX_RANK * TL_FORMAT_MAX];
		size_t n = 0, i = rank;
		for (size_t k = 0; k < rank; k++) {
			if (k)
				text[n++] = 'x';
			n += tl__format_int(text + n, at[k]);
		}
		TL_TRY(add_text(s, a, text, n));
		while (i > 0 && !next(&sizes[i - 1], &at[i - 1])) {
			at[i - 1] = sizes[i - 1].from;
			i--;
		}
		if (i == 0)
			return 0;
	}
}

static int make_axis(sweep *s, size_t index, const tl_estimate_param *given)
{
	axis *a = &s->axes[index];
	a->given = given;
	if (!given->name)
		return tl__fail(s->err, TL_EINVAL, "parameter %zu has no name", index + 1);
	for (size_t i = 0; i < s->family->n_params; i++)
		if (!strcmp(s->family->params[i].name, given->name))
			a->info = &s->family->params[i];
	for (size_t i = 0; i < index; i++)
		if (!strcmp(s->axes[i].given->name, given->name))
			return tl__fail(s->err, TL_EINVAL, "%s is given twice", given->name);
	a->n = 1;
	if (given->kind == TL_ESTIMATE_TEXT && given->text) {
		TL_TRY(a->info && a->info->kind == TL_ESTIMATE_SHAPE ? expand_shape(s, a) : expand_list(s, a));
		a->n = a->texts.n;
	}
	s->rows *= a->n; /* both at most TL_ESTIMATE_MAX_ROWS */
	return s->rows > TL_ESTIMATE_MAX_ROWS ? too_many(s) : 0;
}

/* ---- the table ---- */

enum { PLATFORM, FLOPS, BYTES, INTENSITY, SPEC, RATE, RATE_KIND, KNEE, COMPUTE, MEMORY, ROOFLINE, BOUND, COLUMNS };

static const struct {
	const char *name, *unit;
	tl_storage storage;
	bool placed; /* with platforms only */
} columns[COLUMNS] = {
	[PLATFORM] = {"platform", "", TL_COL_STRING, true},
	[FLOPS] = {"FLOPs", "FLOP", TL_COL_DOUBLE, false},
	[BYTES] = {"Bytes", "B", TL_COL_DOUBLE, false},
	[INTENSITY] = {"FLOPS/Byte", "FLOP/B", TL_COL_DOUBLE, false},
	[SPEC] = {"Compute Spec", "", TL_COL_STRING, false},
	[RATE] = {"Rate (TFLOPS)", "TFLOP/s", TL_COL_DOUBLE, true},
	[RATE_KIND] = {"Rate Kind", "", TL_COL_STRING, true},
	[KNEE] = {"Knee (FLOPS/Byte)", "FLOP/B", TL_COL_DOUBLE, true},
	[COMPUTE] = {"Compute Time (\xc2\xb5s)", "\xc2\xb5s", TL_COL_DOUBLE, true},
	[MEMORY] = {"Memory Time (\xc2\xb5s)", "\xc2\xb5s", TL_COL_DOUBLE, true},
	[ROOFLINE] = {"Roofline Time (\xc2\xb5s)", "\xc2\xb5s", TL_COL_DOUBLE, true},
	[BOUND] = {"Roofline Bound", "", TL_COL_STRING, true},
};

static int set_text(tl_table *table, tl_column *column, size_t row, const char *text)
{
	column->str[row] = *text ? tl__table_str(table, text) : TL_STR_NONE;
	return column->str[row] == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static tl_storage axis_storage(const axis *a)
{
	tl_estimate_kind kind = a->info ? a->info->kind : TL_ESTIMATE_BOOL;
	if (kind == TL_ESTIMATE_BOOL)
		return TL_COL_BOOL;
	return kind == TL_ESTIMATE_INT ? TL_COL_INT64 : TL_COL_STRING;
}

/* A shape given as sizes: "8x64x56x56". */
static void sizes_text(char *out, size_t size, const tl_estimate_param *p)
{
	size_t used = 0;
	*out = '\0';
	for (size_t i = 0; i < p->n_sizes && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%lld", i ? "x" : "", (long long)p->sizes[i]);
}

/* Whether a text of a bool means true; it has been accepted before. */
static bool is_true(const char *text)
{
	return strchr("tT1yY", *text) || !strcasecmp(text, "on");
}

static int set_parameter(tl_table *table, const axis *a, const tl_estimate_param *p, size_t row)
{
	char text[TL_ESTIMATE_MAX_RANK * TL_FORMAT_MAX];
	bool is_text = p->kind == TL_ESTIMATE_TEXT;
	switch (a->column->storage) {
	case TL_COL_INT64:
		a->column->i64[row] = p->number;
		if (is_text && !tl__parse_int(p->text, strlen(p->text), &a->column->i64[row]))
			a->column->i64[row] = 0; /* cannot be: it has been accepted */
		return 0;
	case TL_COL_BOOL:
		a->column->b[row] = is_text ? is_true(p->text) : p->number != 0;
		return 0;
	default:
		if (is_text)
			return set_text(table, a->column, row, p->text);
		if (p->kind == TL_ESTIMATE_SIZES)
			sizes_text(text, sizeof text, p);
		else
			tl__format_int(text, p->number);
		return set_text(table, a->column, row, text);
	}
}

static int set_result(tl_table *table, tl_column *const column[COLUMNS], const tl_estimate_result *r,
		      const tl_arch *arch, size_t row)
{
	static const char *const bounds[] = {
		[TL_BOUND_UNKNOWN] = "", [TL_BOUND_COMPUTE] = "COMPUTE_BOUND", [TL_BOUND_MEMORY] = "MEMORY_BOUND"};
	column[FLOPS]->f64[row] = r->flops;
	column[BYTES]->f64[row] = r->bytes;
	column[INTENSITY]->f64[row] = r->intensity;
	TL_TRY(set_text(table, column[SPEC], row, r->compute_spec));
	if (!arch)
		return 0;
	column[RATE]->f64[row] = r->rate / 1e12;
	column[KNEE]->f64[row] = r->knee;
	column[COMPUTE]->f64[row] = r->compute_us;
	column[MEMORY]->f64[row] = r->memory_us;
	column[ROOFLINE]->f64[row] = r->roofline_us;
	TL_TRY(set_text(table, column[PLATFORM], row, tl_arch_name(arch)));
	TL_TRY(set_text(table, column[RATE_KIND], row, isnan(r->rate) ? "" : r->rate_is_peak ? "peak" : "achievable"));
	return set_text(table, column[BOUND], row, bounds[r->bound]);
}

/* Parameters of a row; the last axis runs fastest. */
static void parameters_of_row(tl_estimate_param *out, const sweep *s, size_t row)
{
	for (size_t i = s->n_axes; i-- > 0;) {
		const axis *a = &s->axes[i];
		out[i] = *a->given;
		if (a->texts.n)
			out[i].text = a->texts.v[row % a->n];
		row /= a->n;
	}
}

static int fill(tl_table *table, sweep *s, tl_column *const column[COLUMNS])
{
	size_t places = s->n_archs ? s->n_archs : 1;
	tl_estimate_param *p = tl__arena_alloc(&s->arena, (s->n_axes + 1) * sizeof *p);
	if (!p)
		return tl__nomem(s->err);
	for (size_t row = 0; row < s->rows; row++) {
		const tl_arch *arch = s->n_archs ? s->archs[row % places] : NULL;
		tl_estimate_result r;
		parameters_of_row(p, s, row / places);
		TL_TRY(tl_estimate(&r, s->family->name, p, s->n_axes, arch, s->err));
		int code = set_result(table, column, &r, arch, row);
		for (size_t i = 0; i < s->n_axes && code == 0; i++)
			code = set_parameter(table, &s->axes[i], &p[i], row);
		if (code < 0)
			return tl__nomem(s->err);
	}
	return 0;
}

static bool all_whole(const tl_column *c, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (!(c->f64[i] == floor(c->f64[i]) && fabs(c->f64[i]) <= 9007199254740992.0))
			return false;
	return true;
}

/* FLOPs and bytes are counts: integers, as long as all of a column can be told exactly. */
static void count_in_integers(tl_column *c, size_t rows)
{
	if (!c || !all_whole(c, rows))
		return;
	for (size_t i = 0; i < rows; i++) {
		int64_t whole = (int64_t)c->f64[i];
		memcpy(&c->i64[i], &whole, sizeof whole); /* both have 8 bytes */
	}
	c->storage = TL_COL_INT64;
	c->type = TL_TYPE_INT64;
}

/* False when out of memory. */
static bool add_columns(tl_table *table, sweep *s, tl_column *column[COLUMNS])
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (!tl__table_add(table, s->axes[i].given->name, "", axis_storage(&s->axes[i])))
			return false;
	for (int c = 0; c < COLUMNS; c++)
		if ((s->n_archs || !columns[c].placed) &&
		    !tl__table_add(table, columns[c].name, columns[c].unit, columns[c].storage))
			return false;
	/* pointers hold from now on only */
	for (size_t i = 0; i < s->n_axes; i++)
		s->axes[i].column = &table->columns.v[i];
	size_t at = s->n_axes;
	for (int c = 0; c < COLUMNS; c++)
		column[c] = s->n_archs || !columns[c].placed ? &table->columns.v[at++] : NULL;
	return true;
}

static int make_table(tl_table **out, sweep *s)
{
	tl_column *column[COLUMNS] = {NULL};
	tl_table *table = tl__table_new(s->family->name, NULL, s->rows);
	if (!table)
		return tl__nomem(s->err);
	int code = add_columns(table, s, column) ? fill(table, s, column) : tl__nomem(s->err);
	if (code != 0) {
		tl_table_free(table);
		return code;
	}
	count_in_integers(column[FLOPS], s->rows);
	count_in_integers(column[BYTES], s->rows);
	*out = table;
	return 0;
}

int tl_estimate_sweep(tl_table **out, const char *family, const tl_estimate_param *params, size_t n,
		      const tl_arch *const *archs, size_t n_archs, tl_error *err)
{
	sweep s = {.family = tl_estimate_family_find(family), .archs = archs, .n_archs = n_archs, .err = err};
	*out = NULL;
	if ((n && !params) || (n_archs && !archs))
		return tl__fail(err, TL_EINVAL, "parameters or platforms are missing");
	if (!s.family)
		return tl__fail(err, TL_ENOTFOUND, "unknown model family '%s'", family ? family : "");
	s.rows = n_archs ? n_archs : 1;
	s.n_axes = n;
	s.axes = tl__calloc(n + 1, sizeof *s.axes);
	if (!s.axes)
		return tl__nomem(err);
	int code = s.rows > TL_ESTIMATE_MAX_ROWS ? too_many(&s) : 0;
	for (size_t i = 0; i < n && code == 0; i++)
		code = make_axis(&s, i, &params[i]);
	if (code == 0)
		code = make_table(out, &s);
	for (size_t i = 0; i < n; i++)
		TL_VEC_FREE(&s.axes[i].texts);
	tl__free(s.axes);
	tl__arena_free(&s.arena);
	return code;
}
