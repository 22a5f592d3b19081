/* SPDX-License-Identifier: MIT */
/* Cells piece by piece, for programs that make values of their own kind of them. */
#include "table/internal.h"
#include "util/error.h"

enum { MAX_DEPTH = TL_VALUE_MAX_DEPTH };

typedef struct teller {
	tl_item_fn each;
	void *user;
	int code; /* what `each` returned */
} teller;

static int tell(teller *t, tl_item item)
{
	t->code = t->each(t->user, &item);
	return t->code ? TL_ECALLBACK : 0;
}

static int tell_string(teller *t, const char *text, size_t n)
{
	return tell(t, (tl_item){.kind = TL_ITEM_STRING, .text = text, .n = n});
}

static int tell_int(teller *t, int64_t value)
{
	return tell(t, (tl_item){.kind = TL_ITEM_INT, .integer = value});
}

/* One value; of a list its beginning. */
static int tell_head(teller *t, const tl_value *v)
{
	switch (v->kind) {
	case TL_V_BOOL:
		return tell(t, (tl_item){.kind = TL_ITEM_BOOL, .integer = v->b});
	case TL_V_INT:
		return tell_int(t, v->i);
	case TL_V_DOUBLE:
		return tell(t, (tl_item){.kind = TL_ITEM_DOUBLE, .real = v->d});
	case TL_V_NUMBER:
		return tell(t, (tl_item){.kind = TL_ITEM_NUMBER, .text = v->s, .n = v->n});
	case TL_V_STRING:
		return tell_string(t, v->s, v->n);
	case TL_V_LIST:
		return tell(t, (tl_item){.kind = TL_ITEM_LIST, .n = v->n});
	case TL_V_TUPLE:
		return tell(t, (tl_item){.kind = TL_ITEM_TUPLE, .n = v->n});
	case TL_V_DICT:
		return tell(t, (tl_item){.kind = TL_ITEM_RECORD, .n = v->n});
	default:
		return tell(t, (tl_item){.kind = TL_ITEM_NONE});
	}
}

static size_t parts_of(const tl_value *v)
{
	return v->kind == TL_V_LIST || v->kind == TL_V_TUPLE ? v->n : v->kind == TL_V_DICT ? 2 * (size_t)v->n : 0;
}

static int tell_value(teller *t, const tl_value *value)
{
	struct {
		const tl_value *v;
		size_t at, n;
	} open[MAX_DEPTH + 2];
	size_t depth = 0;
	for (;;) {
		TL_TRY(tell_head(t, value));
		if (parts_of(value)) {
			if (depth > MAX_DEPTH)
				return TL_ELIMIT;
			open[depth].v = value->items;
			open[depth].at = 0;
			open[depth++].n = parts_of(value);
		}
		while (depth && open[depth - 1].at == open[depth - 1].n)
			depth--;
		if (!depth)
			return 0;
		value = &open[depth - 1].v[open[depth - 1].at++];
	}
}

int tl__tell_value(const tl_value *value, tl_item_fn each, void *user, tl_error *err)
{
	teller t = {each, user, 0};
	int code = tell_value(&t, value);
	return code < 0 ? tl__fail(err, code, "the value could not be told") : 0;
}

/* Record by record, none of which lives longer than it is told. */
static int tell_kernels(teller *t, const tl_table *table, const tl_column *column, tl_kernel_range range)
{
	tl_arena arena = {0};
	int code = tell(t, (tl_item){.kind = TL_ITEM_LIST, .n = range.count});
	for (uint32_t i = 0; i < range.count && code == 0; i++) {
		tl_value items[TL_KERNEL_ITEMS], record;
		code = tl__kernel_record(&arena, table, column, &table->kernels.v[range.first + i], items, &record);
		if (code == 0)
			code = tell_value(t, &record);
		if (arena.block)
			tl__arena_free(&arena);
	}
	tl__arena_free(&arena);
	return code;
}

static int tell_cell(teller *t, const tl_table *table, const tl_column *column, size_t row)
{
	switch (column->storage) {
	case TL_COL_INT64:
		return tell_int(t, column->i64[row]);
	case TL_COL_DOUBLE:
		return tell(t, (tl_item){.kind = TL_ITEM_DOUBLE, .real = column->f64[row]});
	case TL_COL_BOOL:
		return tell(t, (tl_item){.kind = TL_ITEM_BOOL, .integer = column->b[row] != 0});
	case TL_COL_STRING:
		return tell_string(t, tl__str(table->strings, column->str[row]),
				   tl__str_len(table->strings, column->str[row]));
	case TL_COL_VALUE:
		return tell_value(t, column->val[row]);
	default:
		return tell_kernels(t, table, column, column->ker[row]);
	}
}

int tl_table_cell(const tl_table *table, size_t column, size_t row, tl_item_fn each, void *user, tl_error *err)
{
	teller t = {each, user, 0};
	int code = tl_table_is_null(table, column, row) ? tell(&t, (tl_item){.kind = TL_ITEM_NONE})
							: tell_cell(&t, table, &table->columns.v[column], row);
	if (code == TL_ENOMEM)
		return tl__nomem(err);
	return code < 0 ? tl__fail(err, code, "the cell could not be told") : 0;
}

static uint64_t cell_id(const tl_column *c, size_t row)
{
	if (tl__column_is_null(c, row))
		return 0;
	if (c->storage == TL_COL_STRING)
		return c->str[row];
	return c->storage == TL_COL_VALUE ? (uint64_t)(uintptr_t)c->val[row] : 0;
}

uint64_t tl_table_cell_id(const tl_table *table, size_t column, size_t row)
{
	return tl_table_is_null(table, column, row) ? 0 : cell_id(&table->columns.v[column], row);
}

bool tl_table_cell_ids(const tl_table *table, size_t column, uint64_t *out)
{
	const tl_column *c = column < table->columns.n ? &table->columns.v[column] : NULL;
	bool has = c && (c->storage == TL_COL_STRING || c->storage == TL_COL_VALUE);
	if (has && c->storage == TL_COL_STRING && !c->null) { /* nearly all of them */
		for (size_t row = 0; row < table->rows; row++)
			out[row] = c->str[row];
		return true;
	}
	for (size_t row = 0; row < table->rows; row++)
		out[row] = has ? cell_id(c, row) : 0;
	return has;
}
