/* SPDX-License-Identifier: MIT */
/* Stable sorting of tables, and the sort of integers that the other files use. */
#include <string.h>

#include "table/internal.h"
#include "util/map.h"
#include "util/sort.h"

enum { SHORT_RUN = 12 };

void tl__sort_i64(int64_t *v, int64_t *scratch, size_t n)
{
	for (size_t start = 0; start < n; start += SHORT_RUN) {
		size_t end = start + SHORT_RUN < n ? start + SHORT_RUN : n;
		for (size_t i = start + 1; i < end; i++) {
			int64_t moved = v[i];
			size_t at = i;
			for (; at > start && moved < v[at - 1]; at--)
				v[at] = v[at - 1];
			v[at] = moved;
		}
	}
	for (size_t run = SHORT_RUN; run < n; run *= 2) {
		for (size_t start = 0; start + run < n; start += 2 * run) {
			size_t middle = start + run, end = middle + run < n ? middle + run : n;
			if (v[middle] >= v[middle - 1])
				continue;
			memcpy(scratch, v + start, run * sizeof *v);
			size_t left = 0, right = middle, at = start;
			while (left < run && right < end)
				v[at++] = v[right] < scratch[left] ? v[right++] : scratch[left++];
			memcpy(v + at, scratch + left, (run - left) * sizeof *v);
		}
	}
}

/* ---- keys: every column becomes integers that order as its cells do ---- */

typedef struct key {
	int64_t *order;
	uint8_t *empty; /* NULL: no cell is */
	bool descending;
} key;

typedef struct key_list {
	key *v;
	size_t n;
} key_list;

static bool row_less(const void *context, uint32_t a, uint32_t b)
{
	const key_list *keys = context;
	for (size_t i = 0; i < keys->n; i++) {
		const key *k = &keys->v[i];
		if (k->empty && (k->empty[a] || k->empty[b])) {
			if (k->empty[a] != k->empty[b])
				return k->empty[b];
			continue;
		}
		if (k->order[a] != k->order[b])
			return (k->order[a] < k->order[b]) != k->descending;
	}
	return false;
}

typedef struct text_list {
	const tl_strings *pool;
	const uint32_t *ids;
} text_list;

static bool text_less(const void *context, uint32_t a, uint32_t b)
{
	const text_list *texts = context;
	tl_str x = texts->ids[a], y = texts->ids[b];
	size_t nx = tl__str_len(texts->pool, x), ny = tl__str_len(texts->pool, y);
	int order = memcmp(tl__str(texts->pool, x), tl__str(texts->pool, y), nx < ny ? nx : ny);
	return order ? order < 0 : nx < ny;
}

/* Ranks of distinct texts: sorting those once beats comparing texts row by row. */
static int rank_texts(int64_t *order, const tl_strings *pool, const uint32_t *ids, size_t rows)
{
	tl_map known = {0};
	TL_VEC(uint32_t) distinct = {0};
	uint32_t *by_text = NULL;
	int64_t *rank = NULL;
	int code = 0;

	for (size_t row = 0; row < rows && code == 0; row++) {
		uint32_t number = tl__map_get_or_set(&known, ids[row], (uint32_t)distinct.n);
		if (number == TL_MAP_NONE)
			code = TL_ENOMEM;
		else if (number == distinct.n)
			code = TL_VEC_PUSH(&distinct, ids[row]);
		order[row] = number;
	}
	if (code == 0) {
		by_text = tl__malloc(distinct.n * sizeof *by_text);
		rank = tl__malloc(distinct.n * sizeof *rank);
		code = by_text && rank ? 0 : TL_ENOMEM;
	}
	if (code == 0) {
		text_list texts = {pool, distinct.v};
		for (uint32_t i = 0; i < distinct.n; i++)
			by_text[i] = i;
		code = tl__sort(by_text, distinct.n, text_less, &texts);
	}
	if (code == 0) {
		for (uint32_t i = 0; i < distinct.n; i++)
			rank[by_text[i]] = i;
		for (size_t row = 0; row < rows; row++)
			order[row] = rank[order[row]];
	}
	tl__map_free(&known);
	TL_VEC_FREE(&distinct);
	tl__free(by_text);
	tl__free(rank);
	return code;
}

static int order_texts(int64_t *order, const tl_table *table, const tl_column *column)
{
	tl_strings *texts = tl__strings_new(NULL);
	uint32_t *ids = tl__malloc(table->rows * sizeof *ids);
	int code = texts && ids ? tl__column_text_ids(table, column, texts, ids) : TL_ENOMEM;
	if (code == 0)
		code = rank_texts(order, column->storage == TL_COL_STRING ? table->strings : texts, ids, table->rows);
	tl__strings_unref(texts);
	tl__free(ids);
	return code;
}

static int make_key(key *out, const tl_table *table, const tl_column *column)
{
	out->order = tl__malloc(table->rows * sizeof *out->order);
	if (!out->order)
		return TL_ENOMEM;
	for (size_t row = 0; row < table->rows; row++) {
		if (!tl__column_is_null(column, row))
			continue;
		if (!out->empty && !(out->empty = tl__calloc(table->rows, 1)))
			return TL_ENOMEM;
		out->empty[row] = 1;
	}
	switch (column->storage) {
	case TL_COL_INT64:
		memcpy(out->order, column->i64, table->rows * sizeof *out->order);
		return 0;
	case TL_COL_BOOL:
		for (size_t row = 0; row < table->rows; row++)
			out->order[row] = column->b[row];
		return 0;
	case TL_COL_DOUBLE:
		for (size_t row = 0; row < table->rows; row++)
			out->order[row] = out->empty && out->empty[row] ? 0 : tl__order_of_double(column->f64[row]);
		return 0;
	default:
		return order_texts(out->order, table, column);
	}
}

/* ---- sorting a table ---- */

/* Reorders the cells; one scratch area for all columns, so nothing can fail half way. */
static void apply_order(tl_table *table, const uint32_t *rows, char *scratch)
{
	for (size_t c = 0; c < table->columns.n; c++) {
		tl_column *column = &table->columns.v[c];
		size_t size = tl__storage_size(column->storage);
		tl__gather(scratch, column->data, rows, table->rows, size);
		memcpy(column->data, scratch, table->rows * size);
		if (!column->null)
			continue;
		tl__gather(scratch, column->null, rows, table->rows, 1);
		memcpy(column->null, scratch, table->rows);
	}
}

int tl__table_sort(tl_table *table, const tl_sort_key *keys, size_t n, tl_error *err)
{
	key_list list = {NULL, n};
	uint32_t *rows = NULL;
	char *scratch = NULL;
	int code = 0;

	for (size_t i = 0; i < n; i++)
		if (!tl__table_column(table, keys[i].column))
			return tl__fail(err, TL_ENOTFOUND, "table '%s' has no column '%s' to sort by", table->name,
					keys[i].column);
	if (table->rows < 2 || !n)
		return 0;
	if (table->rows > UINT32_MAX - 1)
		return tl__fail(err, TL_ELIMIT, "table '%s' has too many rows to sort", table->name);

	list.v = tl__calloc(n, sizeof *list.v);
	rows = tl__malloc(table->rows * sizeof *rows);
	scratch = tl__malloc(table->rows * sizeof(int64_t));
	if (!list.v || !rows || !scratch)
		code = TL_ENOMEM;
	for (size_t i = 0; i < n && code == 0; i++) {
		list.v[i].descending = keys[i].descending;
		code = make_key(&list.v[i], table, tl__table_column(table, keys[i].column));
	}
	if (code == 0) {
		for (size_t i = 0; i < table->rows; i++)
			rows[i] = (uint32_t)i;
		code = tl__sort(rows, table->rows, row_less, &list);
	}
	if (code == 0)
		apply_order(table, rows, scratch);
	for (size_t i = 0; list.v && i < n; i++) {
		tl__free(list.v[i].order);
		tl__free(list.v[i].empty);
	}
	tl__free(list.v);
	tl__free(rows);
	tl__free(scratch);
	return code < 0 ? tl__nomem(err) : 0;
}
