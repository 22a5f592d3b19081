/* SPDX-License-Identifier: MIT */
/* Grouping: one 64-bit hash a row over all keys, then exact comparison with the group's first row. */
#include <math.h>
#include <string.h>

#include "table/internal.h"
#include "util/map.h"

typedef struct key {
	const tl_column *column;
	uint32_t *ids; /* VALUE, KERNELS: number of the cell's text, 0 when empty; else NULL */
} key;

typedef struct grouping {
	const tl_table *table;
	key *keys;
	size_t n_keys;
	tl_strings *texts;
	uint64_t *hash; /* of each row */
	uint32_t *slots;
	size_t mask;
	TL_VEC(uint32_t) first;
} grouping;

static const uint64_t empty_bits = UINT64_C(0x7ff8dead00000000); /* a NaN, so no double of a cell has it */

static uint64_t double_bits(double value)
{
	uint64_t bits;
	if (isnan(value))
		return empty_bits;
	value += 0.0; /* -0 and 0 are one value */
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static bool is_empty(const key *k, size_t row)
{
	return k->ids ? !k->ids[row] : tl__column_is_null(k->column, row);
}

/* What equal cells share; an empty INT64 or BOOL cell may collide and is told apart by same_key. */
static uint64_t key_bits(const key *k, size_t row)
{
	const tl_column *c = k->column;
	if (c->null && c->null[row])
		return empty_bits;
	switch (c->storage) {
	case TL_COL_INT64:
		return (uint64_t)c->i64[row];
	case TL_COL_DOUBLE:
		return double_bits(c->f64[row]);
	case TL_COL_BOOL:
		return c->b[row] != 0;
	case TL_COL_STRING:
		return c->str[row];
	default:
		return k->ids[row];
	}
}

static bool same_key(const key *k, size_t a, size_t b)
{
	const uint8_t *null = k->column->null;
	return key_bits(k, a) == key_bits(k, b) && (!null || null[a] == null[b]);
}

static bool same_group(const grouping *g, size_t a, size_t b)
{
	for (size_t i = 0; i < g->n_keys; i++)
		if (!same_key(&g->keys[i], a, b))
			return false;
	return true;
}

/* ---- preparing the keys ---- */

static int prepare_keys(grouping *g, const char *const *keys, size_t n_keys)
{
	g->keys = tl__calloc(n_keys, sizeof *g->keys);
	g->texts = tl__strings_new(NULL);
	g->hash = tl__calloc(g->table->rows, sizeof *g->hash);
	if (!g->keys || !g->texts || !g->hash)
		return TL_ENOMEM;
	for (size_t i = 0; i < n_keys; i++) {
		key *k = &g->keys[g->n_keys];
		k->column = tl__table_column(g->table, keys[i]);
		if (!k->column)
			continue;
		g->n_keys++;
		if (k->column->storage < TL_COL_VALUE)
			continue;
		k->ids = tl__malloc(g->table->rows * sizeof *k->ids);
		if (!k->ids)
			return TL_ENOMEM;
		TL_TRY(tl__column_text_ids(g->table, k->column, g->texts, k->ids));
	}
	return 0;
}

/* Column by column, because that reads memory in order. Marks rows to drop in `of_row`. */
static void hash_rows(grouping *g, bool keep_empty, uint32_t *of_row)
{
	for (size_t i = 0; i < g->n_keys; i++) {
		const key *k = &g->keys[i];
		for (size_t row = 0; row < g->table->rows; row++)
			g->hash[row] = tl__mix(g->hash[row], key_bits(k, row));
		for (size_t row = 0; !keep_empty && row < g->table->rows; row++)
			if (is_empty(k, row))
				of_row[row] = UINT32_MAX;
	}
}

/* ---- finding groups ---- */

static int enlarge(grouping *g)
{
	size_t size = g->slots ? (g->mask + 1) * 2 : 256;
	uint32_t *slots = tl__calloc(size, sizeof *slots);
	if (!slots)
		return TL_ENOMEM;
	for (size_t group = 0; group < g->first.n; group++) {
		size_t at = g->hash[g->first.v[group]] & (size - 1);
		while (slots[at])
			at = (at + 1) & (size - 1);
		slots[at] = (uint32_t)group + 1;
	}
	tl__free(g->slots);
	g->slots = slots;
	g->mask = size - 1;
	return 0;
}

static int find_group(grouping *g, uint32_t row, uint32_t *out)
{
	size_t at = g->hash[row] & g->mask;
	for (; g->slots[at]; at = (at + 1) & g->mask) {
		uint32_t group = g->slots[at] - 1, other = g->first.v[group];
		if (g->hash[other] == g->hash[row] && same_group(g, other, row)) {
			*out = group;
			return 0;
		}
	}
	*out = (uint32_t)g->first.n;
	TL_TRY(TL_VEC_PUSH(&g->first, row));
	g->slots[at] = (uint32_t)g->first.n;
	return g->first.n * 2 > g->mask ? enlarge(g) : 0;
}

/* Rows of each group by counting, which keeps row order. */
static int collect_rows(tl_groups *out, size_t rows)
{
	out->start = tl__calloc(out->n + 2, sizeof *out->start);
	if (!out->start)
		return TL_ENOMEM;
	for (size_t row = 0; row < rows; row++)
		if (out->of_row[row] != UINT32_MAX)
			out->start[out->of_row[row] + 2]++;
	for (size_t group = 2; group < out->n + 2; group++)
		out->start[group] += out->start[group - 1];
	out->rows = tl__malloc(out->start[out->n + 1] * sizeof *out->rows);
	if (!out->rows)
		return TL_ENOMEM;
	for (size_t row = 0; row < rows; row++)
		if (out->of_row[row] != UINT32_MAX)
			out->rows[out->start[out->of_row[row] + 1]++] = (uint32_t)row;
	return 0;
}

static int group_rows(tl_groups *out, grouping *g, const char *const *keys, size_t n_keys, bool keep_empty)
{
	size_t rows = g->table->rows;

	out->of_row = tl__calloc(rows, sizeof *out->of_row);
	if (!out->of_row)
		return TL_ENOMEM;
	TL_TRY(prepare_keys(g, keys, n_keys));
	hash_rows(g, keep_empty, out->of_row);
	TL_TRY(enlarge(g));
	for (size_t row = 0; row < rows; row++)
		if (out->of_row[row] != UINT32_MAX)
			TL_TRY(find_group(g, (uint32_t)row, &out->of_row[row]));
	out->n = g->first.n;
	out->first = g->first.v;
	g->first.v = NULL;
	return collect_rows(out, rows);
}

int tl__table_group(tl_groups *out, const tl_table *table, const char *const *keys, size_t n_keys, bool keep_empty,
		    tl_error *err)
{
	grouping g = {.table = table};

	*out = (tl_groups){0};
	if (table->rows > UINT32_MAX - 2)
		return tl__fail(err, TL_ELIMIT, "table '%s' has too many rows to group", table->name);
	int code = group_rows(out, &g, keys, n_keys, keep_empty);
	for (size_t i = 0; i < g.n_keys; i++)
		tl__free(g.keys[i].ids);
	tl__free(g.keys);
	tl__strings_unref(g.texts);
	tl__free(g.hash);
	tl__free(g.slots);
	TL_VEC_FREE(&g.first);
	if (code < 0) {
		tl__groups_free(out);
		return tl__nomem(err);
	}
	return 0;
}

void tl__groups_free(tl_groups *groups)
{
	tl__free(groups->of_row);
	tl__free(groups->first);
	tl__free(groups->start);
	tl__free(groups->rows);
	*groups = (tl_groups){0};
}
