/* SPDX-License-Identifier: MIT */
/* A comparison as columns of a summary: who gets what of the other trace's time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/columns.h"
#include "compare/inline_diff.h"

__extension__ typedef unsigned __int128 wide;

/* Beyond these a cell is cut: it must fit into a cell of a workbook, and nobody reads on. diff_stats has all. */
enum { MOST_IDS = 1000, MOST_NAMES = 8 << 10 };

typedef struct result_row {
	tl_time time[2];
	int64_t both; /* ancestors that have something of trace2, too */
	/* of the group at hand */
	tl_time here;
	size_t events;
} result_row;

/* What is below the summary's own rows: an operation with its arguments. */
typedef struct extra_row {
	tl_str op, kernel, args[4]; /* of the pool of the comparison */
	bool unlinked;
	tl_row first; /* operation of trace1, or TL_ROW_NONE */
	int64_t operations;
} extra_row;

/* A row is reached by an ancestor. */
typedef struct reach {
	uint32_t row, group;
} reach;

typedef struct booking {
	const tl_inline_diff *d;
	tl_analyzer *a;
	uint32_t *row_of; /* of each event of trace1: its row, or NONE */
	size_t n_own;     /* rows that the summary had */
	TL_VEC(result_row) rows;
	TL_VEC(extra_row) extras;
	TL_VEC(uint32_t) here; /* rows of the group at hand */
	TL_VEC(reach) reached;
	tl_map index;      /* hash of the key of an extra row -> its number */
	tl_map operations; /* operations of trace1 that were counted */
} booking;
#define NONE UINT32_MAX

double tl__inline_speedup(tl_time time1, tl_time time2)
{
	if (time1 == time2)
		return 1;
	if (time1 == 0)
		return (double)NAN;
	double ratio = (double)time2 / (double)time1;
	/* times of years would round to equal ones */
	if (time2 > time1)
		return ratio > 1 ? ratio : nextafter(1, 2);
	return ratio < 1 ? ratio : nextafter(1, 0);
}

/* ---- rows below those of the summary ---- */

static bool same_key(const extra_row *a, const extra_row *b)
{
	return a->op == b->op && !memcmp(a->args, b->args, sizeof a->args);
}

static uint64_t hash_key(const extra_row *key)
{
	uint64_t h = tl__mix(key->op, ((uint64_t)key->args[0] << 32) | key->args[1]);
	return tl__mix(h, ((uint64_t)key->args[2] << 32) | key->args[3]);
}

static int find_extra(uint32_t *out, booking *b, const extra_row *key)
{
	uint64_t hash = hash_key(key);
	uint32_t at, n = (uint32_t)b->extras.n;
	while ((at = tl__map_get_or_set(&b->index, hash, n)) < n && !same_key(key, &b->extras.v[at]))
		hash = tl__mix(hash, 1);
	if (at == TL_MAP_NONE)
		return TL_ENOMEM;
	if (at == n) {
		TL_TRY(TL_VEC_PUSH(&b->extras, *key));
		TL_TRY(TL_VEC_PUSH(&b->rows, (result_row){0}));
	}
	*out = (uint32_t)b->n_own + at;
	return 0;
}

static int intern_from(tl_str *out, tl_strings *pool, const tl_strings *from, tl_str id)
{
	*out = id == TL_STR_NONE ? id : tl__intern(pool, tl__str(from, id), tl__str_len(from, id));
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int extra_of_event(uint32_t *out, booking *b, const tl_inline_group *group, const tl_inline_event *e)
{
	const tl_store *s = b->a->store;
	extra_row key = {.op = e->op, .first = e->op_row, .unlinked = group->unlinked};
	const tl_op_args *args = e->op_row == TL_ROW_NONE ? NULL : tl__op_args(s, e->op_row);
	const tl_str texts[4] = {args ? args->dims : TL_STR_NONE, args ? args->strides : TL_STR_NONE,
				 args ? args->types : TL_STR_NONE, args ? args->concrete : TL_STR_NONE};
	for (size_t i = 0; i < 4; i++)
		TL_TRY(intern_from(&key.args[i], b->d->strings, s->strings, texts[i]));
	TL_TRY(intern_from(&key.kernel, b->d->strings, s->strings, s->name[e->row]));
	TL_TRY(find_extra(out, b, &key));
	extra_row *row = &b->extras.v[*out - b->n_own];
	if (e->op_row == TL_ROW_NONE)
		return 0;
	if (row->first == TL_ROW_NONE)
		row->first = e->op_row;
	if (tl__map_get(&b->operations, e->op_row) != TL_MAP_NONE)
		return 0;
	row->operations++;
	return tl__map_set(&b->operations, e->op_row, 1);
}

/* ---- booking ---- */

static int enter(booking *b, uint32_t row, uint32_t group)
{
	result_row *r = &b->rows.v[row];
	if (r->events++)
		return 0;
	r->both += b->d->groups.v[group].n2 > 0;
	TL_TRY(TL_VEC_PUSH(&b->here, row));
	return TL_VEC_PUSH(&b->reached, ((reach){row, group}));
}

/* The time of trace2, cut at each row's end of trace1's time: whatever is rounded down here comes to the next row. */
static void share(booking *b, const tl_inline_group *group, tl_time all)
{
	const tl_time shared = group->apart ? 0 : group->time2;
	uint64_t whole = all ? (uint64_t)all : (uint64_t)group->n, before = 0;
	tl_time given = 0;
	for (size_t i = 0; i < b->here.n; i++) {
		result_row *r = &b->rows.v[b->here.v[i]];
		/* where nothing took any time, events count instead */
		before += all ? (uint64_t)r->here : (uint64_t)r->events;
		tl_time up_to = (tl_time)((wide)shared * before / whole);
		r->time[0] += r->here;
		r->time[1] += up_to - given;
		given = up_to;
	}
}

static int book_events(booking *b, uint32_t number)
{
	const tl_inline_group *group = &b->d->groups.v[number];
	tl_time all = 0;
	for (size_t i = 0; i < group->n; i++) {
		const tl_inline_event *e = &b->d->events.v[group->first + i];
		uint32_t row = b->row_of[e->row];
		if (row == NONE)
			TL_TRY(extra_of_event(&row, b, group, e));
		TL_TRY(enter(b, row, number));
		b->rows.v[row].here += tl__known_dur(b->a->store, e->row);
		all += tl__known_dur(b->a->store, e->row);
	}
	share(b, group, all);
	return 0;
}

static int book_others(booking *b, uint32_t number)
{
	const tl_inline_group *group = &b->d->groups.v[number];
	for (size_t i = 0; i < group->n_others; i++) {
		const tl_inline_other *o = &b->d->others.v[group->first_other + i];
		extra_row key = {.op = o->op, .kernel = o->kernel, .first = TL_ROW_NONE, .unlinked = group->unlinked};
		uint32_t row;
		memcpy(key.args, o->args, sizeof key.args);
		TL_TRY(find_extra(&row, b, &key));
		TL_TRY(enter(b, row, number));
		b->rows.v[row].time[1] += o->time;
	}
	return 0;
}

static int book_all(booking *b, bool include_unlinked)
{
	for (uint32_t i = 0; i < b->d->groups.n; i++) {
		const tl_inline_group *group = &b->d->groups.v[i];
		if (group->unlinked && !include_unlinked)
			continue;
		if (group->n)
			TL_TRY(book_events(b, i));
		TL_TRY(book_others(b, i));
		for (size_t k = 0; k < b->here.n; k++) {
			b->rows.v[b->here.v[k]].here = 0;
			b->rows.v[b->here.v[k]].events = 0;
		}
		b->here.n = 0;
	}
	return 0;
}

static int find_rows(booking *b, const tl_table *summary, const tl_table *unified, const uint32_t *row_of)
{
	const tl_column *kernels = tl__table_column(unified, "kernel_details");
	size_t n = b->a->store->n;
	b->n_own = summary->rows;
	b->row_of = tl__malloc((n + 1) * sizeof *b->row_of);
	if (!b->row_of || TL_VEC_RESERVE(&b->rows, b->n_own + 1) < 0)
		return TL_ENOMEM;
	memset(b->row_of, 0xff, (n + 1) * sizeof *b->row_of);
	memset(b->rows.v, 0, b->n_own * sizeof *b->rows.v);
	b->rows.n = b->n_own;
	for (size_t i = 0; kernels && i < unified->rows; i++)
		for (uint32_t k = 0; k < kernels->ker[i].count; k++)
			b->row_of[unified->kernels.v[kernels->ker[i].first + k].uid] = row_of[i];
	return 0;
}

/* ---- the rows below as a table ---- */

/* Heaviest first, seen from both sides; equal ones as they came. */
typedef struct placed {
	tl_time time;
	uint32_t number;
} placed;

static int compare_placed(const void *x, const void *y)
{
	const placed *a = x, *b = y;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static placed *place_extras(const booking *b)
{
	placed *order = tl__malloc((b->extras.n + 1) * sizeof *order);
	for (uint32_t i = 0; order && i < b->extras.n; i++) {
		const result_row *r = &b->rows.v[b->n_own + i];
		order[i] = (placed){r->time[0] + r->time[1], i};
	}
	if (order && b->extras.n)
		qsort(order, b->extras.n, sizeof *order, compare_placed);
	return order;
}

static int put_texts(booking *b, tl_table *table, size_t at, const extra_row *x)
{
	tl_str name, kernel;
	TL_TRY(intern_from(&name, b->a->strings, b->d->strings, x->op));
	TL_TRY(intern_from(&kernel, b->a->strings, b->d->strings, x->kernel));
	table->columns.v[0].str[at] = name;
	if (x->unlinked)
		return 0;
	tl_str category = tl__analyzer_category_id(b->a, name, kernel);
	table->columns.v[1].str[at] = category;
	return category == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int put_argument(tl_table *table, const tl_strings *pool, const char *column, size_t at, tl_str text)
{
	const tl_value *value = NULL;
	if (text == TL_STR_NONE)
		return 0;
	tl_column *c = tl__table_column(table, column);
	if (!c)
		c = tl__table_add(table, column, "", TL_COL_VALUE);
	if (!c ||
	    tl__value_parse(&table->arena, tl__str(pool, text), tl__str_len(pool, text), true, &value) == TL_ENOMEM)
		return TL_ENOMEM;
	c->val[at] = value;
	return 0;
}

static int put_extra(booking *b, tl_table *table, size_t at, const extra_row *x)
{
	static const char *const args[4] = {"Input Dims", "Input Strides", "Input type", "Concrete Inputs"};
	tl_column *c = table->columns.v;
	TL_TRY(put_texts(b, table, at, x));
	if (x->first == TL_ROW_NONE)
		TL_TRY(tl__column_set_null(table, &c[2], at));
	else
		c[2].i64[at] = x->first;
	c[3].i64[at] = x->operations;
	c[4].b[at] = false;
	for (size_t i = 0; i < 4; i++)
		TL_TRY(put_argument(table, b->d->strings, args[i], at, x->args[i]));
	return 0;
}

/* The rows below; those of `b->rows` are brought into their order, too. */
static int make_extras(tl_table **out, booking *b, placed *order)
{
	static const tl_column_spec columns[] = {{"name", "", TL_COL_STRING},
						 {"op category", "", TL_COL_STRING},
						 {"ex_UID", "", TL_COL_INT64},
						 {"operation_count", "", TL_COL_INT64},
						 {"has_perf_model", "", TL_COL_BOOL}};
	size_t n = b->extras.n;
	*out = tl__table_new("", b->a->strings, n);
	if (!*out)
		return TL_ENOMEM;
	TL_TRY(tl__add_columns(*out, columns, sizeof columns / sizeof *columns));
	result_row *rows = tl__malloc((n + 1) * sizeof *rows);
	uint32_t *place = tl__malloc((n + 1) * sizeof *place);
	int code = rows && place ? 0 : TL_ENOMEM;
	for (uint32_t i = 0; i < n && code == 0; i++) {
		code = put_extra(b, *out, i, &b->extras.v[order[i].number]);
		rows[i] = b->rows.v[b->n_own + order[i].number];
		place[order[i].number] = i;
	}
	if (code == 0 && n)
		memcpy(b->rows.v + b->n_own, rows, n * sizeof *rows);
	for (size_t i = 0; i < b->reached.n && code == 0; i++)
		if (b->reached.v[i].row >= b->n_own)
			b->reached.v[i].row = (uint32_t)b->n_own + place[b->reached.v[i].row - b->n_own];
	tl__free(rows);
	tl__free(place);
	return code;
}

static int append_extras(tl_table **summary, booking *b, tl_error *err)
{
	tl_table *extras = NULL, *both = NULL;
	if (!b->extras.n)
		return 0;
	placed *order = place_extras(b);
	int code = order && make_extras(&extras, b, order) == 0 ? 0 : tl__nomem(err);
	if (code == 0)
		code = tl__table_concat(&both, *summary, extras, err);
	/* the cells of the joint table point into the one that goes */
	if (code == 0)
		code = tl__table_own_values(both, err);
	tl__free(order);
	tl_table_free(extras);
	if (code < 0) {
		tl_table_free(both);
		return code;
	}
	tl_table_free(*summary);
	*summary = both;
	return 0;
}

/* ---- columns ---- */

/* Ancestors by row, each row's in their own order. */
static int sort_reached(booking *b, size_t **start)
{
	size_t n = b->rows.n;
	reach *sorted = tl__malloc((b->reached.n + 1) * sizeof *sorted);
	*start = tl__calloc(n + 2, sizeof **start);
	if (!sorted || !*start) {
		tl__free(sorted);
		return TL_ENOMEM;
	}
	size_t *at = *start;
	for (size_t i = 0; i < b->reached.n; i++)
		at[b->reached.v[i].row + 2]++;
	for (size_t i = 2; i <= n + 1; i++)
		at[i] += at[i - 1];
	/* afterwards at[i] is where row i begins */
	for (size_t i = 0; i < b->reached.n; i++)
		sorted[at[b->reached.v[i].row + 1]++] = b->reached.v[i];
	tl__free(b->reached.v);
	b->reached.v = sorted;
	return 0;
}

/* "12; 40" and "aten::mm; aten::addmm": every ancestor's number, every distinct name once. */
static int put_ancestors(const booking *b, tl_buf *ids, tl_buf *names, tl_map *named, size_t row, const size_t *start)
{
	size_t n_ids = 0;
	bool full = false;
	tl__buf_clear(ids);
	tl__buf_clear(names);
	for (size_t i = start[row]; i < start[row + 1]; i++) {
		const tl_inline_group *g = &b->d->groups.v[b->reached.v[i].group];
		if (g->common && ++n_ids <= MOST_IDS) {
			tl__buf_puts(ids, n_ids > 1 ? "; " : "");
			tl__buf_int(ids, g->node);
		}
		/* the map remembers the row that last had a name */
		if (full || tl__map_get(named, g->name) == row)
			continue;
		if (tl__map_set(named, g->name, (uint32_t)row) < 0)
			return TL_ENOMEM;
		tl__buf_puts(names, names->n ? "; " : "");
		full = names->n + tl__str_len(b->d->strings, g->name) > MOST_NAMES && names->n;
		if (full)
			tl__buf_puts(names, "...");
		else
			tl__buf_put(names, tl__str(b->d->strings, g->name), tl__str_len(b->d->strings, g->name));
	}
	if (n_ids > MOST_IDS)
		tl__buf_puts(ids, "; ...");
	return ids->failed || names->failed ? TL_ENOMEM : 0;
}

static int put_text(tl_str *cell, tl_table *table, const tl_buf *text)
{
	*cell = text->n ? tl__intern(table->strings, text->v, text->n) : TL_STR_NONE;
	return *cell == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int fill_columns(tl_table *table, size_t first, const booking *b, const size_t *start)
{
	tl_column *c = &table->columns.v[first];
	tl_buf ids = {0}, names = {0};
	tl_map named = {0};
	int code = 0;
	for (size_t i = 0; i < table->rows && code == 0; i++) {
		const result_row *r = &b->rows.v[i];
		c[0].f64[i] = tl__inline_speedup(r->time[0], r->time[1]);
		c[1].f64[i] = tl__us(r->time[1] - r->time[0]);
		c[2].i64[i] = r->both;
		code = put_ancestors(b, &ids, &names, &named, i, start);
		if (code == 0)
			code = put_text(&c[3].str[i], table, &ids);
		if (code == 0)
			code = put_text(&c[4].str[i], table, &names);
		c[5].f64[i] = tl__us(r->time[0]);
		c[6].f64[i] = tl__us(r->time[1]);
	}
	tl__buf_free(&ids);
	tl__buf_free(&names);
	tl__map_free(&named);
	return code;
}

static int add_columns(tl_table *table, booking *b)
{
	static const tl_column_spec columns[] = {
		{TL_INLINE_SPEEDUP, "", TL_COL_DOUBLE},
		{TL_INLINE_DELTA, "\xc2\xb5s", TL_COL_DOUBLE},
		{"lca_count_trace2", "", TL_COL_INT64},
		{"lca_id", "", TL_COL_STRING},
		{"lca_name", "", TL_COL_STRING},
		{TL_INLINE_TIME1, "\xc2\xb5s", TL_COL_DOUBLE},
		{TL_INLINE_TIME2, "\xc2\xb5s", TL_COL_DOUBLE},
	};
	const size_t n = sizeof columns / sizeof *columns, first = table->columns.n;
	ptrdiff_t behind = tl_table_find_column(table, "Kernel Time (\xc2\xb5s)_sum");
	size_t *start = NULL;
	int code = tl__add_columns(table, columns, n);
	if (code == 0)
		code = sort_reached(b, &start);
	if (code == 0)
		code = fill_columns(table, first, b, start);
	tl__free(start);
	for (size_t i = 0; i < n && behind >= 0 && code == 0; i++)
		tl__table_move_column(table, first + i, (size_t)behind + 1 + i);
	return code;
}

/* ---- the largest differences ---- */

typedef struct change {
	tl_str name;
	uint32_t number;
	tl_time time[2];
} change;

static int compare_changes(const void *x, const void *y)
{
	const change *a = x, *b = y;
	tl_time da = a->time[1] - a->time[0], db = b->time[1] - b->time[0];
	da = da < 0 ? -da : da;
	db = db < 0 ? -db : db;
	if (da != db)
		return da > db ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int fill_largest(tl_table *out, const change *changes)
{
	static const tl_column_spec columns[] = {{"name", "", TL_COL_STRING},
						 {TL_INLINE_TIME1, "\xc2\xb5s", TL_COL_DOUBLE},
						 {TL_INLINE_TIME2, "\xc2\xb5s", TL_COL_DOUBLE},
						 {TL_INLINE_DELTA, "\xc2\xb5s", TL_COL_DOUBLE},
						 {TL_INLINE_SPEEDUP, "", TL_COL_DOUBLE}};
	TL_TRY(tl__add_columns(out, columns, sizeof columns / sizeof *columns));
	tl_column *c = out->columns.v;
	for (size_t i = 0; i < out->rows; i++) {
		const tl_time *time = changes[i].time;
		c[0].str[i] = changes[i].name;
		c[1].f64[i] = tl__us(time[0]);
		c[2].f64[i] = tl__us(time[1]);
		c[3].f64[i] = tl__us(time[1] - time[0]);
		c[4].f64[i] = tl__inline_speedup(time[0], time[1]);
	}
	return 0;
}

static int make_largest(tl_table **out, const tl_table *summary, const booking *b)
{
	const tl_column *name = tl__table_column(summary, "name");
	TL_VEC(change) changes = {0};
	tl_map index = {0};
	int code = 0;
	for (size_t i = 0; i < summary->rows && code == 0; i++) {
		uint32_t n = (uint32_t)changes.n, at = tl__map_get_or_set(&index, name->str[i], n);
		code = at == TL_MAP_NONE ? TL_ENOMEM : 0;
		if (code == 0 && at == n)
			code = TL_VEC_PUSH(&changes, ((change){.name = name->str[i], .number = n}));
		for (int s = 0; s < 2 && code == 0; s++)
			changes.v[at].time[s] += b->rows.v[i].time[s];
	}
	if (code == 0 && changes.n)
		qsort(changes.v, changes.n, sizeof *changes.v, compare_changes);
	if (code == 0) {
		*out = tl__table_new("largest_differences", summary->strings, changes.n);
		code = *out ? fill_largest(*out, changes.v) : TL_ENOMEM;
	}
	TL_VEC_FREE(&changes);
	tl__map_free(&index);
	return code;
}

/* ---- all of it ---- */

int tl__inline_diff_columns(tl_table **summary, tl_table **largest, const tl_inline_diff *diff, tl_analyzer *a,
			    const tl_table *unified, const uint32_t *row_of, bool include_unlinked, tl_error *err)
{
	booking b = {.d = diff, .a = a};
	*largest = NULL;
	int code = find_rows(&b, *summary, unified, row_of);
	if (code == 0)
		code = book_all(&b, include_unlinked);
	code = code < 0 ? tl__nomem(err) : append_extras(summary, &b, err);
	if (code == 0 && (add_columns(*summary, &b) < 0 || make_largest(largest, *summary, &b) < 0))
		code = tl__nomem(err);
	if (code < 0) {
		tl_table_free(*largest);
		*largest = NULL;
	}
	tl__free(b.row_of);
	TL_VEC_FREE(&b.rows);
	TL_VEC_FREE(&b.extras);
	TL_VEC_FREE(&b.here);
	TL_VEC_FREE(&b.reached);
	tl__map_free(&b.index);
	tl__map_free(&b.operations);
	return code;
}
