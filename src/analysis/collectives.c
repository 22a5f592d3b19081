/* SPDX-License-Identifier: MIT */
/** @file collectives.c Sheet coll_analysis: communication kernels by what they exchange (spec 02 section 9.4). */
#include <math.h>
#include <string.h>

#include "analysis/aggregate.h"
#include "analysis/analyzer.h"
#include "analysis/columns.h"
#include "analysis/metrics.h"

static const char *const field_names[TL_COLL_FIELDS] = {
	[TL_COLL_GROUP_NAME] = "Process Group Name",
	[TL_COLL_GROUP_RANKS] = "Process Group Ranks",
	[TL_COLL_NAME] = "Collective name",
	[TL_COLL_GROUP_SIZE] = "Group size",
	[TL_COLL_DTYPE] = "dtype",
	[TL_COLL_IN_ELEMS] = "In msg nelems",
	[TL_COLL_OUT_ELEMS] = "Out msg nelems",
	[TL_COLL_IN_SPLIT] = "In split size",
	[TL_COLL_OUT_SPLIT] = "Out split size",
};

/* One communication kernel. */
typedef struct collective {
	tl_row row;
	const tl_value *field[TL_COLL_FIELDS]; /* NULL: missing */
	tl_id stream;
} collective;

typedef TL_VEC(collective) collective_list;

/* ---- reading ---- */

static int read_collective(tl_analyzer *a, tl_row row, const tl_link_args *link, collective *out)
{
	static const tl_value allreduce = {.kind = TL_V_STRING, .n = 9, .s = "allreduce"};
	const tl_store *store = a->store;
	*out = (collective){.row = row, .stream = link->stream};
	if (link->collective < store->collectives.n)
		for (int i = 0; i < TL_COLL_FIELDS; i++)
			TL_TRY(tl__analyzer_value(a, store->collectives.v[link->collective].field[i], true,
						  &out->field[i]));
	/* vLLM's and SGLang's own kernel says in its name what it does. */
	if (!out->field[TL_COLL_NAME] && strstr(tl__name(store, row), "cross_device_reduce"))
		out->field[TL_COLL_NAME] = &allreduce;
	return 0;
}

static int read_collectives(tl_analyzer *a, const tl_row *rows, size_t n, collective_list *out)
{
	for (size_t i = 0; i < n; i++) {
		const tl_link_args *link = tl__link_args(a->store, rows[i]);
		bool identified = link && (link->correlation != TL_ID_NONE || link->external != TL_ID_NONE);
		if (!identified || !tl__analyzer_is_communication(a, rows[i]))
			continue;
		collective c;
		TL_TRY(read_collective(a, rows[i], link, &c));
		TL_TRY(TL_VEC_PUSH(out, c));
	}
	return 0;
}

static const tl_value all_groups = {.kind = TL_V_STRING, .n = 3, .s = "all"};
static const tl_value unknown_group = {.kind = TL_V_STRING, .n = 13, .s = "Unknown_Group"};

static bool has_group(const collective *c)
{
	const tl_value *name = c->field[TL_COLL_GROUP_NAME];
	return name &&
	       !(name->kind == TL_V_STRING && name->n == unknown_group.n && !memcmp(name->s, unknown_group.s, name->n));
}

/*
 * Older profilers name no group. On one stream there is then nothing to tell apart: all is one group; else what has no
 * name is a group of its own (spec 05 section 2.3).
 */
static void name_groups(collective_list *list)
{
	tl_id stream = TL_ID_NONE;
	bool simple = true;
	for (size_t i = 0; i < list->n && simple; i++) {
		const collective *c = &list->v[i];
		simple = !has_group(c) && (c->stream == TL_ID_NONE || stream == TL_ID_NONE || c->stream == stream);
		if (c->stream != TL_ID_NONE)
			stream = c->stream;
	}
	for (size_t i = 0; i < list->n; i++) {
		const tl_value **name = &list->v[i].field[TL_COLL_GROUP_NAME];
		if (simple)
			*name = &all_groups;
		else if (!*name)
			*name = &unknown_group;
	}
}

/* ---- columns of one type each ---- */

/* The narrowest storage that holds every cell: integers print as integers when all are. */
static tl_storage storage_of(const collective_list *list, int field)
{
	bool ints = true, numbers = true, texts = true;
	for (size_t i = 0; i < list->n; i++) {
		const tl_value *v = list->v[i].field[field];
		if (!v)
			continue;
		ints &= v->kind == TL_V_INT;
		numbers &= v->kind == TL_V_INT || v->kind == TL_V_DOUBLE;
		texts &= v->kind == TL_V_STRING;
	}
	return texts ? TL_COL_STRING : ints ? TL_COL_INT64 : numbers ? TL_COL_DOUBLE : TL_COL_VALUE;
}

static double number(const tl_value *v)
{
	return !v ? (double)NAN : v->kind == TL_V_INT ? (double)v->i : v->kind == TL_V_DOUBLE ? v->d : (double)NAN;
}

static int fill_cell(tl_table *table, tl_column *column, size_t i, const tl_value *v)
{
	switch (column->storage) {
	case TL_COL_INT64:
		if (!v)
			return tl__column_set_null(table, column, i);
		column->i64[i] = v->i;
		return 0;
	case TL_COL_DOUBLE:
		column->f64[i] = number(v);
		return 0;
	case TL_COL_STRING:
		if (v)
			column->str[i] = tl__intern(table->strings, v->s, v->n);
		return column->str[i] == TL_STR_FAIL ? TL_ENOMEM : 0;
	default:
		column->val[i] = v;
		return 0;
	}
}

static int add_field(tl_table *table, const collective_list *list, int field)
{
	tl_column *column = tl__table_add(table, field_names[field], "", storage_of(list, field));
	if (!column)
		return TL_ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		TL_TRY(fill_cell(table, column, i, list->v[i].field[field]));
	return 0;
}

static int add_stream(tl_table *table, const tl_store *store, const collective_list *list)
{
	bool texts = false;
	for (size_t i = 0; i < list->n; i++)
		texts |= list->v[i].stream != TL_ID_NONE && (list->v[i].stream & TL_ID_TEXT);
	tl_column *column = tl__table_add(table, "stream", "", texts ? TL_COL_STRING : TL_COL_INT64);
	if (!column)
		return TL_ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		tl_id id = list->v[i].stream;
		char text[64];
		if (id == TL_ID_NONE) {
			if (!texts)
				TL_TRY(tl__column_set_null(table, column, i));
		} else if (!texts) {
			column->i64[i] = (int64_t)id;
		} else {
			column->str[i] = tl__table_str(table, tl__id_text(store, id, text));
			if (column->str[i] == TL_STR_FAIL)
				return TL_ENOMEM;
		}
	}
	return 0;
}

/* Bytes per element of a dtype as collectives name it; 0 when unknown. */
static int element_bytes(const tl_value *dtype)
{
	static const struct {
		const char *name;
		int bytes;
	} sizes[] = {
		{"Float", 4}, {"Int", 4},  {"Long", 8},   {"BFloat16", 2}, {"Bool", 1},
		{"Byte", 1},  {"Char", 1}, {"Double", 8}, {"Half", 2},     {"Short", 2},
	};
	const char *text = tl__value_text(dtype);
	for (size_t i = 0; text && i < sizeof sizes / sizeof *sizes; i++)
		if (strcmp(text, sizes[i].name) == 0)
			return sizes[i].bytes;
	return text ? tl__dtype_bytes(text) : 0; /* float8 and the like, under the names operations use */
}

static int add_size(tl_table *table, const char *name, const collective_list *list, int elements)
{
	tl_column *column = tl__table_add(table, name, "MB", TL_COL_DOUBLE);
	if (!column)
		return TL_ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		int bytes = element_bytes(list->v[i].field[TL_COLL_DTYPE]);
		if (bytes > 0)
			column->f64[i] = number(list->v[i].field[elements]) * bytes / TL_BYTES_PER_MB;
	}
	return 0;
}

static int add_duration(tl_table *table, const tl_store *store, const collective_list *list)
{
	tl_column *column = tl__table_add(table, "dur", "µs", TL_COL_DOUBLE);
	if (!column)
		return TL_ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		if (store->dur[list->v[i].row] != TL_TIME_NONE)
			column->f64[i] = tl__us(store->dur[list->v[i].row]);
	return 0;
}

/* The table of single kernels, one row each, that the sheet groups. */
static int build_rows(tl_table *table, const tl_store *store, const collective_list *list)
{
	if (!tl__table_add(table, "rank", "", TL_COL_INT64)) /* one trace is rank 0 */
		return TL_ENOMEM;
	for (int i = 0; i < TL_COLL_FIELDS; i++)
		TL_TRY(add_field(table, list, i));
	TL_TRY(add_stream(table, store, list));
	TL_TRY(add_size(table, "In msg size (MB)", list, TL_COLL_IN_ELEMS));
	TL_TRY(add_size(table, "Out msg size (MB)", list, TL_COLL_OUT_ELEMS));
	return add_duration(table, store, list);
}

static int collect(tl_table **out, tl_analyzer *a, tl_error *err)
{
	collective_list list = {0};
	tl_row *rows;
	size_t n;
	int code = tl__analyzer_all_kernels(a, &rows, &n);
	if (code == 0)
		code = read_collectives(a, rows, n, &list);
	tl__free(rows);
	name_groups(&list);
	*out = code == 0 ? tl__table_new("", a->strings, list.n) : NULL;
	if (*out)
		code = build_rows(*out, a->store, &list);
	TL_VEC_FREE(&list);
	return code == 0 && *out ? 0 : tl__nomem(err);
}

/* ---- the sheet ---- */

static const char *const keys[] = {
	"rank",          "Process Group Name", "Process Group Ranks", "Collective name", "Group size", "dtype",
	"In msg nelems", "Out msg nelems",     "In split size",       "Out split size",  "stream",
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static int build_sheet(tl_table *out, const tl_groups *groups, const tl_table *rows, tl_error *err)
{
	const tl_column *dur = tl__table_column(rows, "dur");
	TL_TRY(tl__aggregate_keys(out, groups, rows, keys, N_KEYS, err));
	TL_TRY(tl__table_aggregate(out, "In msg size (MB)_first", groups, rows, "In msg size (MB)", TL_AGG_FIRST, err));
	TL_TRY(tl__table_aggregate(out, "Out msg size (MB)_first", groups, rows, "Out msg size (MB)", TL_AGG_FIRST,
				   err));
	TL_TRY(tl__aggregate_us(out, "dur_sum", groups, dur, err));
	TL_TRY(tl__aggregate_mean_us(out, "dur_mean", groups, dur, err));
	TL_TRY(tl__table_aggregate(out, "dur_std", groups, rows, "dur", TL_AGG_STD, err));
	TL_TRY(tl__table_aggregate(out, "dur_min", groups, rows, "dur", TL_AGG_MIN, err));
	TL_TRY(tl__table_aggregate(out, "dur_max", groups, rows, "dur", TL_AGG_MAX, err));
	TL_TRY(tl__table_aggregate(out, "operation_count", groups, rows, "dur", TL_AGG_SIZE, err));
	return tl__table_sort(out, &(tl_sort_key){"dur_sum", true}, 1, err);
}

static int summarize(tl_table **out, const tl_table *rows, tl_error *err)
{
	tl_groups groups = {0};
	/* Collectives that lack a field are dropped ([02-16], kept as in the reference). */
	TL_TRY(tl__table_group(&groups, rows, keys, N_KEYS, false, err));
	tl_table *table = tl__table_new("coll_analysis", rows->strings, groups.n);
	int code = table ? build_sheet(table, &groups, rows, err) : tl__nomem(err);
	tl__groups_free(&groups);
	if (code < 0) {
		tl_table_free(table);
		return code;
	}
	*out = table;
	return 0;
}

int tl__coll_analysis(tl_table **out, tl_analyzer *a, tl_error *err)
{
	tl_table *rows = NULL;
	*out = NULL;
	int code = collect(&rows, a, err);
	if (code == 0)
		code = summarize(out, rows, err);
	tl_table_free(rows);
	return code;
}
