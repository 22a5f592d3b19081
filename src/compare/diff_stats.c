/* SPDX-License-Identifier: MIT */
/* GPU events of a comparison as tables: one a row, by equal arguments, by operation, by ancestor. */
#include <stdlib.h>
#include <string.h>

#include "analysis/columns.h"
#include "compare/diff_rows.h"

/* ---- cells ---- */

static double microseconds(tl_time ps)
{
	return (double)ps / 1e6;
}

/* Argument texts become values once for each distinct text. */
typedef struct arguments {
	uint32_t *known[2]; /* of each text of a side's pool: one more than the place of its value; 0: not asked for */
	TL_VEC(const tl_value *) values;
} arguments;

static void free_arguments(arguments *a)
{
	tl__free(a->known[0]);
	tl__free(a->known[1]);
	TL_VEC_FREE(&a->values);
}

static int new_arguments(arguments *a, const tl_diff_rows *r)
{
	for (int s = 0; s < 2; s++) {
		size_t n = tl__strings_count(r->diff->tree[s]->store->strings);
		a->known[s] = tl__calloc(n + 1, sizeof *a->known[s]);
		if (!a->known[s])
			return TL_ENOMEM;
	}
	return 0;
}

static int argument(const tl_value **out, arguments *a, tl_table *table, const tl_diff_rows *r, int side, tl_str id)
{
	const tl_strings *pool = r->diff->tree[side]->store->strings;
	uint32_t *known = &a->known[side][id];
	*out = NULL;
	if (id == TL_STR_NONE)
		return 0;
	if (!*known) {
		const tl_value *value = NULL;
		if (tl__value_parse(&table->arena, tl__str(pool, id), tl__str_len(pool, id), true, &value) == TL_ENOMEM)
			return TL_ENOMEM;
		TL_TRY(TL_VEC_PUSH(&a->values, value));
		*known = (uint32_t)a->values.n;
	}
	*out = a->values.v[*known - 1];
	return 0;
}

static int fill_arguments(tl_table *table, size_t column, size_t row, arguments *a, const tl_diff_rows *r,
			  const tl_diff_gpu *g)
{
	for (size_t k = 0; k < 4; k++)
		TL_TRY(argument(&table->columns.v[column + k].val[row], a, table, r, g->side, g->args[k]));
	return 0;
}

static int fill_uid(tl_table *table, size_t column, size_t row, uint32_t uid)
{
	if (uid == TL_ROW_NONE)
		return tl__column_set_null(table, &table->columns.v[column], row);
	table->columns.v[column].i64[row] = uid;
	return 0;
}

/* Makes a table with the pool of the rows; `fill` gets it. */
static int make(tl_table **out, const char *name, const tl_diff_rows *r, size_t rows, const tl_column_spec *specs,
		size_t n)
{
	*out = tl__table_new(name, r->strings, rows);
	return *out ? tl__add_columns(*out, specs, n) : TL_ENOMEM;
}

static int hand_out(tl_table **out, int code, tl_error *err)
{
	if (code < 0) {
		tl_table_free(*out);
		*out = NULL;
		return tl__nomem(err);
	}
	return 0;
}

/* ---- one event a row ---- */

static int fill_stats(tl_table *table, arguments *a, const tl_diff_rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const tl_diff_gpu *g = &r->v[i];
		tl_column *c = table->columns.v;
		c[0].str[i] = g->name;
		c[1].str[i] = g->op;
		TL_TRY(fill_uid(table, 2, i, g->op_row));
		c[3].str[i] = r->source[g->side];
		TL_TRY(fill_arguments(table, 4, i, a, r, g));
		c[8].f64[i] = microseconds(tl__diff_gpu_time(r, g));
		c[9].f64[i] = microseconds(r->busy[g->side][g->group]);
		c[10].str[i] = g->ancestor;
		TL_TRY(fill_uid(table, 11, i, g->ancestor == TL_STR_NONE ? TL_ROW_NONE : g->group));
		c[12].i64[i] = g->row;
		c[13].str[i] = g->stack;
		c[14].str[i] = g->module;
	}
	return 0;
}

int tl__diff_stats(tl_table **out, const tl_diff_rows *r, tl_error *err)
{
	static const tl_column_spec columns[] = {{"name", "", TL_COL_STRING},
						 {"cpu_op_name", "", TL_COL_STRING},
						 {"cpu_op_uid", "", TL_COL_INT64},
						 {"source", "", TL_COL_STRING},
						 {"Input Dims", "", TL_COL_VALUE},
						 {"Input Strides", "", TL_COL_VALUE},
						 {"Input type", "", TL_COL_VALUE},
						 {"Concrete Inputs", "", TL_COL_VALUE},
						 {"kernel_time", "\xc2\xb5s", TL_COL_DOUBLE},
						 {"busy_time", "\xc2\xb5s", TL_COL_DOUBLE},
						 {"lowest_common_ancestor_name", "", TL_COL_STRING},
						 {"lowest_common_ancestor_id", "", TL_COL_INT64},
						 {"gpu_op_uid", "", TL_COL_INT64},
						 {"nn_module_stack", "", TL_COL_STRING},
						 {"nn_module_parent", "", TL_COL_STRING}};
	arguments a = {0};
	int code = make(out, "diff_stats", r, r->n, columns, sizeof columns / sizeof *columns);
	if (code == 0)
		code = new_arguments(&a, r);
	if (code == 0)
		code = fill_stats(*out, &a, r);
	free_arguments(&a);
	return hand_out(out, code, err);
}

/* ---- by equal arguments ---- */

typedef struct bundle {
	size_t first; /* index of the first event */
	int64_t count;
	tl_time kernel_time, busy_time;
	uint32_t last_group; /* whose busy time is in already; events of one group follow each other */
} bundle;
typedef TL_VEC(bundle) bundles;

static bool alike(const tl_diff_gpu *a, const tl_diff_gpu *b)
{
	return a->side == b->side && a->name == b->name && a->op == b->op && a->ancestor == b->ancestor &&
	       a->stack == b->stack && a->module == b->module && !memcmp(a->args, b->args, sizeof a->args);
}

static uint64_t key_of(const tl_diff_gpu *g)
{
	uint64_t h = tl__mix(g->name, g->op);
	h = tl__mix(h, ((uint64_t)g->ancestor << 1) | g->side);
	h = tl__mix(h, ((uint64_t)g->stack << 32) | g->module);
	h = tl__mix(h, ((uint64_t)g->args[0] << 32) | g->args[1]);
	return tl__mix(h, ((uint64_t)g->args[2] << 32) | g->args[3]);
}

static int bundle_events(bundles *out, const tl_diff_rows *r)
{
	tl_map index = {0};
	int code = 0;
	for (size_t i = 0; i < r->n && code == 0; i++) {
		const tl_diff_gpu *g = &r->v[i];
		uint64_t key = key_of(g);
		uint32_t at;
		/* two keys of one hash: the next free one */
		while ((at = tl__map_get_or_set(&index, key, (uint32_t)out->n)) < out->n &&
		       !alike(g, &r->v[out->v[at].first]))
			key = tl__mix(key, 1);
		if (at == TL_MAP_NONE)
			code = TL_ENOMEM;
		else if (at == out->n)
			code = TL_VEC_PUSH(out, ((bundle){.first = i, .last_group = TL_DIFF_NONE}));
		if (code < 0)
			break;
		bundle *b = &out->v[at];
		b->count++;
		b->kernel_time += tl__diff_gpu_time(r, g);
		if (b->last_group != g->group)
			b->busy_time += r->busy[g->side][g->group];
		b->last_group = g->group;
	}
	tl__map_free(&index);
	return code;
}

static int fill_unique(tl_table *table, arguments *a, const tl_diff_rows *r, const bundles *v)
{
	for (size_t i = 0; i < v->n; i++) {
		const bundle *b = &v->v[i];
		const tl_diff_gpu *g = &r->v[b->first];
		tl_column *c = table->columns.v;
		c[0].str[i] = g->name;
		c[1].i64[i] = b->count;
		c[2].str[i] = g->op;
		TL_TRY(fill_uid(table, 3, i, g->op_row));
		c[4].str[i] = r->source[g->side];
		TL_TRY(fill_arguments(table, 5, i, a, r, g));
		c[9].f64[i] = microseconds(b->busy_time);
		c[10].str[i] = g->ancestor;
		c[11].str[i] = g->stack;
		c[12].str[i] = g->module;
		c[13].f64[i] = microseconds(b->kernel_time) / (double)b->count;
		c[14].f64[i] = microseconds(b->kernel_time);
	}
	static const tl_sort_key keys[] = {{"kernel_time_sum", true},
					   {"name", false},
					   {"cpu_op_name", false},
					   {"source", false},
					   {"Input Dims", false},
					   {"Input Strides", false},
					   {"Input type", false},
					   {"Concrete Inputs", false},
					   {"lowest_common_ancestor_name", false},
					   {"nn_module_stack", false}};
	return tl__table_sort(table, keys, sizeof keys / sizeof *keys, NULL);
}

int tl__diff_unique_args(tl_table **out, const tl_diff_rows *r, tl_error *err)
{
	static const tl_column_spec columns[] = {{"name", "", TL_COL_STRING},
						 {"operation_count", "", TL_COL_INT64},
						 {"cpu_op_name", "", TL_COL_STRING},
						 {"cpu_op_uid", "", TL_COL_INT64},
						 {"source", "", TL_COL_STRING},
						 {"Input Dims", "", TL_COL_VALUE},
						 {"Input Strides", "", TL_COL_VALUE},
						 {"Input type", "", TL_COL_VALUE},
						 {"Concrete Inputs", "", TL_COL_VALUE},
						 {"busy_time", "\xc2\xb5s", TL_COL_DOUBLE},
						 {"lowest_common_ancestor_name", "", TL_COL_STRING},
						 {"nn_module_stack", "", TL_COL_STRING},
						 {"nn_module_parent", "", TL_COL_STRING},
						 {"kernel_time_mean", "\xc2\xb5s", TL_COL_DOUBLE},
						 {"kernel_time_sum", "\xc2\xb5s", TL_COL_DOUBLE}};
	arguments a = {0};
	bundles v = {0};
	*out = NULL;
	int code = bundle_events(&v, r);
	if (code == 0)
		code = make(out, "diff_stats_unique_args_summary", r, v.n, columns, sizeof columns / sizeof *columns);
	if (code == 0)
		code = new_arguments(&a, r);
	if (code == 0)
		code = fill_unique(*out, &a, r, &v);
	free_arguments(&a);
	TL_VEC_FREE(&v);
	return hand_out(out, code, err);
}

/* ---- by operation ---- */

/* A kernel or module of an operation on one side. */
typedef struct mention {
	uint32_t entry; /* row of the map: operation and side */
	tl_str text;
	const char *name;
} mention;
typedef TL_VEC(mention) mentions;

static int compare_mentions(const void *a, const void *b)
{
	const mention *x = a, *y = b;
	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int add_mention(mentions *out, tl_map *seen, const tl_diff_rows *r, uint32_t entry, tl_str text)
{
	uint32_t n = (uint32_t)out->n;
	/* entries and texts are below 2^32: the key is exact */
	uint32_t at = tl__map_get_or_set(seen, ((uint64_t)entry << 32) | text, n);
	if (at == TL_MAP_NONE)
		return TL_ENOMEM;
	return at == n ? TL_VEC_PUSH(out, ((mention){entry, text, tl__str(r->strings, text)})) : 0;
}

static int put_lists(tl_table *table, tl_column *column, mentions *v, const tl_diff_rows *r)
{
	TL_VEC(tl_value) items = {0};
	int code = 0;
	if (v->n)
		qsort(v->v, v->n, sizeof *v->v, compare_mentions);
	for (size_t i = 0; i < v->n && code == 0;) {
		uint32_t entry = v->v[i].entry;
		items.n = 0;
		for (; i < v->n && v->v[i].entry == entry && code == 0; i++)
			code = TL_VEC_PUSH(&items,
					   TL_VALUE_STRING(v->v[i].name, tl__str_len(r->strings, v->v[i].text)));
		const tl_value *list = code == 0 ? tl__table_list(table, items.v, items.n, false) : NULL;
		column->val[entry] = list;
		code = list ? code : TL_ENOMEM;
	}
	TL_VEC_FREE(&items);
	return code;
}

typedef struct op_map {
	tl_map entry;             /* of (operation, side) */
	TL_VEC(uint64_t) entries; /* (operation << 1) | side, in order */
	tl_map seen[2];
	mentions kernels, modules;
} op_map;

static int add_entry(op_map *m, tl_str op, int side)
{
	uint32_t n = (uint32_t)m->entries.n;
	uint64_t key = ((uint64_t)op << 1) | (uint64_t)side;
	uint32_t at = tl__map_get_or_set(&m->entry, key, n);
	if (at == TL_MAP_NONE)
		return TL_ENOMEM;
	return at == n ? TL_VEC_PUSH(&m->entries, key) : 0;
}

static int collect(op_map *m, const tl_diff_rows *r, const tl_table *summary)
{
	const tl_column *op = tl__table_column(summary, "cpu_op_name");
	tl_map sides = {0};
	int code = 0;
	for (size_t i = 0; i < r->n && code == 0; i++) {
		uint32_t had = tl__map_get(&sides, r->v[i].op);
		code = tl__map_set(&sides, r->v[i].op, (had == TL_MAP_NONE ? 0 : had) | (1u << r->v[i].side));
	}
	for (size_t i = 0; i < summary->rows && code == 0; i++)
		for (int s = 0; s < 2 && code == 0; s++)
			if (tl__map_get(&sides, op->str[i]) & (1u << s))
				code = add_entry(m, op->str[i], s);
	tl__map_free(&sides);
	for (size_t i = 0; i < r->n && code == 0; i++) {
		const tl_diff_gpu *g = &r->v[i];
		uint32_t entry = tl__map_get(&m->entry, ((uint64_t)g->op << 1) | g->side);
		code = add_mention(&m->kernels, &m->seen[0], r, entry, g->name);
		if (code == 0)
			code = add_mention(&m->modules, &m->seen[1], r, entry, g->module);
	}
	return code;
}

int tl__diff_op_map(tl_table **out, const tl_diff_rows *r, const tl_table *summary, tl_error *err)
{
	static const tl_column_spec columns[] = {{"cpu_op_name", "", TL_COL_STRING},
						 {"source", "", TL_COL_STRING},
						 {"kernels", "", TL_COL_VALUE},
						 {"nn_module_parents", "", TL_COL_VALUE}};
	op_map m = {0};
	*out = NULL;
	int code = collect(&m, r, summary);
	if (code == 0)
		code = make(out, "cpu_op_map", r, m.entries.n, columns, 4);
	for (size_t i = 0; i < m.entries.n && code == 0; i++) {
		(*out)->columns.v[0].str[i] = (tl_str)(m.entries.v[i] >> 1);
		(*out)->columns.v[1].str[i] = r->source[m.entries.v[i] & 1];
	}
	if (code == 0)
		code = put_lists(*out, &(*out)->columns.v[2], &m.kernels, r);
	if (code == 0)
		code = put_lists(*out, &(*out)->columns.v[3], &m.modules, r);
	tl__map_free(&m.entry);
	tl__map_free(&m.seen[0]);
	tl__map_free(&m.seen[1]);
	TL_VEC_FREE(&m.entries);
	TL_VEC_FREE(&m.kernels);
	TL_VEC_FREE(&m.modules);
	return hand_out(out, code, err);
}

/* ---- by ancestor ---- */

typedef struct change {
	tl_str name;
	uint32_t id, last_group;
	int64_t count;
	tl_time time[2];
} change;
typedef TL_VEC(change) changes;

static tl_time delta(const change *c)
{
	return c->time[1] - c->time[0];
}

static int compare_changes(const void *a, const void *b)
{
	const change *x = a, *y = b;
	tl_time dx = delta(x) < 0 ? -delta(x) : delta(x), dy = delta(y) < 0 ? -delta(y) : delta(y);
	if (dx != dy)
		return dx > dy ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

int tl__diff_group_name(tl_str *out, const tl_diff_rows *r, const tl_diff_gpu *g, tl_buf *buf)
{
	*out = g->ancestor;
	if (*out != TL_STR_NONE)
		return 0;
	tl__buf_clear(buf);
	tl__diff_put_name(buf, r->diff, g->group);
	tl__buf_puts(buf, g->side ? " (only trace2)" : " (only trace1)");
	*out = buf->failed ? TL_STR_FAIL : tl__intern(r->strings, buf->v, buf->n);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int sum_changes(changes *out, const tl_diff_rows *r)
{
	tl_map index = {0};
	tl_buf buf = {0};
	int code = 0;
	for (size_t i = 0; i < r->n && code == 0; i++) {
		const tl_diff_gpu *g = &r->v[i];
		tl_str name;
		code = tl__diff_group_name(&name, r, g, &buf);
		if (code < 0)
			break;
		uint32_t n = (uint32_t)out->n, at = tl__map_get_or_set(&index, name, n);
		if (at == TL_MAP_NONE)
			code = TL_ENOMEM;
		else if (at == n)
			code = TL_VEC_PUSH(out, ((change){.name = name, .id = g->group, .last_group = TL_DIFF_NONE}));
		if (code < 0)
			break;
		change *c = &out->v[at];
		c->count += c->last_group != g->group;
		c->last_group = g->group;
		c->time[g->side] += tl__diff_gpu_time(r, g);
	}
	tl__buf_free(&buf);
	tl__map_free(&index);
	return code;
}

int tl__diff_largest(tl_table **out, const tl_diff_rows *r, tl_error *err)
{
	static const tl_column_spec columns[] = {{"lowest_common_ancestor_name", "", TL_COL_STRING},
						 {"lowest_common_ancestor_id", "", TL_COL_INT64},
						 {"count", "", TL_COL_INT64},
						 {"kernel_time_trace1", "\xc2\xb5s", TL_COL_DOUBLE},
						 {"kernel_time_trace2", "\xc2\xb5s", TL_COL_DOUBLE},
						 {"delta", "\xc2\xb5s", TL_COL_DOUBLE}};
	changes v = {0};
	*out = NULL;
	int code = sum_changes(&v, r);
	if (code == 0 && v.n)
		qsort(v.v, v.n, sizeof *v.v, compare_changes);
	if (code == 0)
		code = make(out, "largest_differences", r, v.n, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < v.n && code == 0; i++) {
		tl_column *c = (*out)->columns.v;
		c[0].str[i] = v.v[i].name;
		c[1].i64[i] = v.v[i].id;
		c[2].i64[i] = v.v[i].count;
		c[3].f64[i] = microseconds(v.v[i].time[0]);
		c[4].f64[i] = microseconds(v.v[i].time[1]);
		c[5].f64[i] = microseconds(delta(&v.v[i]));
	}
	TL_VEC_FREE(&v);
	return hand_out(out, code, err);
}

/* ---- public ---- */

/* One table of the rows of a comparison. */
static int table_of(tl_table **out, const tl_diff *diff,
		    int (*make_table)(tl_table **, const tl_diff_rows *, tl_error *), tl_error *err)
{
	tl_diff_rows r;
	*out = NULL;
	TL_TRY(tl__diff_rows_new(&r, diff, err));
	int code = make_table(out, &r, err);
	tl__diff_rows_free(&r);
	return code;
}

static int summarised_op_map(tl_table **out, const tl_diff_rows *r, tl_error *err)
{
	tl_table *summary = NULL;
	int code = tl__diff_unique_args(&summary, r, err);
	if (code == 0)
		code = tl__diff_op_map(out, r, summary, err);
	tl_table_free(summary);
	return code;
}

int tl_diff_stats(tl_table **out, const tl_diff *diff, tl_error *err)
{
	return table_of(out, diff, tl__diff_stats, err);
}

int tl_diff_stats_unique_args(tl_table **out, const tl_diff *diff, tl_error *err)
{
	return table_of(out, diff, tl__diff_unique_args, err);
}

int tl_diff_op_map(tl_table **out, const tl_diff *diff, tl_error *err)
{
	return table_of(out, diff, summarised_op_map, err);
}

int tl_diff_largest(tl_table **out, const tl_diff *diff, tl_error *err)
{
	return table_of(out, diff, tl__diff_largest, err);
}
