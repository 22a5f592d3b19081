/* SPDX-License-Identifier: MIT */
/* Tables out of tables: selected rows, one below the other, and cutting the ties to other arenas. */
#include <string.h>

#include "table/internal.h"
#include "util/map.h"

/* Id in `into`'s pool of a string of `from`'s pool; TL_STR_FAIL. */
static tl_str restr(tl_table *into, const tl_table *from, tl_str id)
{
	if (into->strings == from->strings || id == TL_STR_NONE)
		return id;
	return tl__intern(into->strings, tl__str(from->strings, id), tl__str_len(from->strings, id));
}

static int copy_kernels(tl_table *into, const tl_table *from, tl_kernel_range range, tl_kernel_range *out)
{
	*out = (tl_kernel_range){(uint32_t)into->kernels.n, range.count};
	if (into == from) {
		*out = range;
		return 0;
	}
	if (into->kernels.n + range.count > UINT32_MAX)
		return TL_ELIMIT;
	if (!range.count)
		return 0;
	TL_TRY(TL_VEC_RESERVE(&into->kernels, range.count));
	for (uint32_t i = 0; i < range.count; i++) {
		tl_kernel kernel = from->kernels.v[range.first + i];
		kernel.name = restr(into, from, kernel.name);
		kernel.stream_text = restr(into, from, kernel.stream_text);
		kernel.call_stack = tl__stack_copy(into->strings, from->strings, kernel.call_stack);
		if (kernel.name == TL_STR_FAIL || kernel.stream_text == TL_STR_FAIL || kernel.call_stack == TL_STR_FAIL)
			return TL_ENOMEM;
		into->kernels.v[into->kernels.n++] = kernel;
	}
	return 0;
}

int tl__copy_cell(tl_table *into, tl_column *to, size_t to_row, const tl_table *from, const tl_column *column,
		  size_t row)
{
	if (column->null && column->null[row])
		return tl__column_set_null(into, to, to_row);
	switch (column->storage) {
	case TL_COL_INT64:
		to->i64[to_row] = column->i64[row];
		return 0;
	case TL_COL_DOUBLE:
		to->f64[to_row] = column->f64[row];
		return 0;
	case TL_COL_BOOL:
		to->b[to_row] = column->b[row];
		return 0;
	case TL_COL_STRING:
		to->str[to_row] = restr(into, from, column->str[row]);
		return to->str[to_row] == TL_STR_FAIL ? TL_ENOMEM : 0;
	case TL_COL_VALUE:
		to->val[to_row] = column->val[row];
		return 0;
	default:
		return copy_kernels(into, from, column->ker[row], &to->ker[to_row]);
	}
}

/* ---- take ---- */

void tl__gather(void *out, const void *cells, const uint32_t *rows, size_t n, size_t size)
{
	/* copies of a constant size become plain loads and stores */
	char *to = out;
	const char *from = cells;
	switch (size) {
	case 1:
		for (size_t i = 0; i < n; i++)
			to[i] = from[rows[i]];
		break;
	case 4:
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * 4, from + (size_t)rows[i] * 4, 4);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * 8, from + (size_t)rows[i] * 8, 8);
	}
}

static int take_column(tl_table *taken, const tl_table *table, const tl_column *from, const uint32_t *rows, size_t n)
{
	tl_column *to = tl__table_add_like(taken, from->name, from);
	if (!to)
		return TL_ENOMEM;
	if (from->null) {
		to->null = tl__malloc(n);
		if (!to->null)
			return TL_ENOMEM;
		tl__gather(to->null, from->null, rows, n, 1);
	}
	tl__gather(to->data, from->data, rows, n, tl__storage_size(from->storage));
	if (from->storage != TL_COL_KERNELS)
		return 0; /* both tables have one pool, and values are shared */
	for (size_t i = 0; i < n; i++)
		TL_TRY(copy_kernels(taken, table, from->ker[rows[i]], &to->ker[i]));
	return 0;
}

int tl__table_take(tl_table **out, const tl_table *table, const uint32_t *rows, size_t n, tl_error *err)
{
	tl_table *taken = tl__table_new(table->name, table->strings, n);
	int code = taken ? 0 : TL_ENOMEM;

	*out = NULL;
	for (size_t c = 0; c < table->columns.n && code == 0; c++)
		code = take_column(taken, table, &table->columns.v[c], rows, n);
	if (code < 0) {
		tl_table_free(taken);
		return code == TL_ENOMEM ? tl__nomem(err) : tl__fail(err, code, "a table has too many kernels");
	}
	*out = taken;
	return 0;
}

/* ---- concat ---- */

/* The storage that holds cells of both: integers widen to doubles, anything else unlike becomes a value. */
static tl_storage common_storage(const tl_column *a, const tl_column *b)
{
	if (!a || !b || a->storage == b->storage)
		return (tl_storage)(a ? a : b)->storage;
	if ((a->storage == TL_COL_INT64 && b->storage == TL_COL_DOUBLE) ||
	    (a->storage == TL_COL_DOUBLE && b->storage == TL_COL_INT64))
		return TL_COL_DOUBLE;
	return TL_COL_VALUE;
}

/* Cells of `from` (NULL: empty ones) into rows at.. of `to`. */
static int fill(tl_table *into, tl_column *to, size_t at, const tl_table *table, const tl_column *from)
{
	for (size_t row = 0; row < table->rows; row++) {
		if (!from)
			TL_TRY(tl__column_set_null(into, to, at + row));
		else if (from->storage == to->storage)
			TL_TRY(tl__copy_cell(into, to, at + row, table, from, row));
		else if (to->storage == TL_COL_DOUBLE)
			to->f64[at + row] = tl__cell_double(from, row);
		else
			TL_TRY(tl__cell_value(into, table, from, row, &to->val[at + row]));
	}
	return 0;
}

static int add_joint_column(tl_table *into, const tl_table *table, const tl_column *upper, const tl_table *more,
			    const tl_column *lower)
{
	const tl_column *like = upper ? upper : lower;
	tl_column *to = tl__table_add(into, like->name, like->unit, common_storage(upper, lower));
	if (!to)
		return TL_ENOMEM;
	to->with_uid = (uint8_t)((upper && upper->with_uid) || (lower && lower->with_uid));
	if (to->storage == like->storage)
		to->type = like->type;
	TL_TRY(fill(into, to, 0, table, upper));
	return fill(into, to, table->rows, more, lower);
}

int tl__table_concat(tl_table **out, const tl_table *table, const tl_table *more, tl_error *err)
{
	tl_table *joint = tl__table_new(table->name, table->strings, table->rows + more->rows);
	int code = joint ? 0 : TL_ENOMEM;

	*out = NULL;
	for (size_t c = 0; c < table->columns.n && code == 0; c++) {
		const tl_column *upper = &table->columns.v[c];
		code = add_joint_column(joint, table, upper, more, tl__table_column(more, upper->name));
	}
	for (size_t c = 0; c < more->columns.n && code == 0; c++) {
		const tl_column *lower = &more->columns.v[c];
		if (!tl__table_column(table, lower->name))
			code = add_joint_column(joint, table, NULL, more, lower);
	}
	if (code < 0) {
		tl_table_free(joint);
		return code == TL_ENOMEM ? tl__nomem(err) : tl__fail(err, code, "a table has too many kernels");
	}
	*out = joint;
	return 0;
}

/* ---- owning values ---- */

typedef struct owner {
	tl_arena *arena;
	tl_arena_map before; /* what the arena had when this began: what comes later is never asked about */
	tl_map values;       /* address of a value seen before -> index of its copy or itself */
	tl_map blocks;       /* address of foreign text or items -> index of their copy */
	TL_VEC(const tl_value *) value_copies;
	TL_VEC(tl_value) block_copies; /* n, and s or items */
} owner;

static bool has_block(const tl_value *value)
{
	return value->kind >= TL_V_NUMBER && (value->n || value->kind < TL_V_LIST);
}

static int own(owner *o, tl_value *value);

static int own_items(owner *o, tl_value *items, const tl_value *container)
{
	uint32_t n = container->kind == TL_V_DICT ? 2 * container->n : container->n;
	for (uint32_t i = 0; i < n; i++)
		TL_TRY(own(o, &items[i]));
	return 0;
}

/* Makes what a value points to lie in the arena. Values are at most TL_VALUE_MAX_DEPTH deep. */
static int own(owner *o, tl_value *value)
{
	bool text = value->kind < TL_V_LIST;
	const void *block = text ? (const void *)value->s : (const void *)value->items;

	if (!has_block(value))
		return 0;
	if (tl__arena_owns(&o->before, block))
		/* made by this table, but items may point elsewhere; the arena's memory is not really const */
		return text ? 0 : own_items(o, (tl_value *)(uintptr_t)value->items, value);

	uint64_t key = (uint64_t)(uintptr_t)block;
	uint32_t known = tl__map_get(&o->blocks, key);
	if (known != TL_MAP_NONE && o->block_copies.v[known].n == value->n &&
	    o->block_copies.v[known].kind == value->kind) {
		*value = o->block_copies.v[known];
		return 0;
	}
	if (text) {
		value->s = tl__arena_strndup(o->arena, value->s, value->n);
		if (!value->s)
			return TL_ENOMEM;
	} else {
		size_t n = value->kind == TL_V_DICT ? (size_t)2 * value->n : value->n;
		tl_value *items = tl__arena_alloc(o->arena, n * sizeof *items);
		if (!items)
			return TL_ENOMEM;
		memcpy(items, value->items, n * sizeof *items);
		TL_TRY(own_items(o, items, value));
		value->items = items;
	}
	TL_TRY(tl__map_set(&o->blocks, key, (uint32_t)o->block_copies.n));
	return TL_VEC_PUSH(&o->block_copies, *value);
}

static int own_cell(owner *o, const tl_value **cell)
{
	uint64_t key = (uint64_t)(uintptr_t)*cell;
	uint32_t known = tl__map_get(&o->values, key);
	if (known != TL_MAP_NONE) {
		*cell = o->value_copies.v[known];
		return 0;
	}
	tl_value *copy = (tl_value *)(uintptr_t)*cell;
	if (!tl__arena_owns(&o->before, copy)) {
		copy = tl__arena_alloc(o->arena, sizeof *copy);
		if (!copy)
			return TL_ENOMEM;
		*copy = **cell;
	}
	TL_TRY(own(o, copy));
	TL_TRY(TL_VEC_PUSH(&o->value_copies, copy));
	TL_TRY(tl__map_set(&o->values, key, (uint32_t)o->value_copies.n - 1));
	*cell = copy;
	return 0;
}

int tl__table_own_values(tl_table *table, tl_error *err)
{
	owner o = {.arena = &table->arena};
	int code = tl__arena_map_new(&o.before, &table->arena);

	for (size_t c = 0; c < table->columns.n && code == 0; c++) {
		tl_column *column = &table->columns.v[c];
		if (column->storage != TL_COL_VALUE)
			continue;
		for (size_t row = 0; row < table->rows && code == 0; row++)
			if (column->val[row])
				code = own_cell(&o, &column->val[row]);
	}
	tl__arena_map_free(&o.before);
	tl__map_free(&o.values);
	tl__map_free(&o.blocks);
	TL_VEC_FREE(&o.value_copies);
	TL_VEC_FREE(&o.block_copies);
	return code < 0 ? tl__nomem(err) : 0;
}
