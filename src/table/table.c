/* SPDX-License-Identifier: MIT */
/* Life of a table, its columns, and the public getters. */
#include "table/table.h"

#include <math.h>
#include <string.h>

#include "table/internal.h"

size_t tl__storage_size(uint8_t storage)
{
	switch (storage) {
	case TL_COL_INT64:
		return sizeof(int64_t);
	case TL_COL_DOUBLE:
		return sizeof(double);
	case TL_COL_BOOL:
		return sizeof(uint8_t);
	case TL_COL_STRING:
		return sizeof(tl_str);
	case TL_COL_VALUE:
		return sizeof(const tl_value *);
	default:
		return sizeof(tl_kernel_range);
	}
}

static uint8_t type_of_storage(uint8_t storage)
{
	static const uint8_t types[] = {TL_TYPE_INT64,  TL_TYPE_DOUBLE, TL_TYPE_BOOL,
					TL_TYPE_STRING, TL_TYPE_LIST,   TL_TYPE_LIST};
	return types[storage];
}

tl_table *tl__table_new(const char *name, tl_strings *strings, size_t rows)
{
	tl_table *table = tl__calloc(1, sizeof *table);
	if (!table)
		return NULL;
	table->rows = rows;
	table->strings = strings ? tl__strings_ref(strings) : tl__strings_new(NULL);
	table->name = tl__arena_strndup(&table->arena, name ? name : "", name ? strlen(name) : 0);
	if (!table->strings || !table->name) {
		tl_table_free(table);
		return NULL;
	}
	return table;
}

static void free_column(tl_column *column)
{
	tl__free(column->data);
	tl__free(column->null);
}

void tl_table_free(tl_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->columns.n; i++)
		free_column(&table->columns.v[i]);
	TL_VEC_FREE(&table->columns);
	TL_VEC_FREE(&table->kernels);
	tl__strings_unref(table->strings);
	tl__arena_free(&table->arena);
	tl__free(table);
}

/* ---- columns ---- */

tl_column *tl__table_add(tl_table *table, const char *name, const char *unit, tl_storage storage)
{
	tl_column column = {.storage = (uint8_t)storage, .type = type_of_storage((uint8_t)storage)};
	column.name = tl__arena_strndup(&table->arena, name, strlen(name));
	column.unit = tl__arena_strndup(&table->arena, unit ? unit : "", unit ? strlen(unit) : 0);
	if (!column.name || !column.unit)
		return NULL;
	column.data = tl__calloc(table->rows, tl__storage_size(column.storage));
	if (!column.data)
		return NULL;
	if (storage == TL_COL_DOUBLE)
		for (size_t row = 0; row < table->rows; row++)
			column.f64[row] = (double)NAN;
	if (TL_VEC_PUSH(&table->columns, column) < 0) {
		free_column(&column);
		return NULL;
	}
	return &table->columns.v[table->columns.n - 1];
}

tl_column *tl__table_add_like(tl_table *table, const char *name, const tl_column *like)
{
	/* `like` may be a column of this table, whose array moves */
	uint8_t type = like->type, with_uid = like->with_uid;
	tl_column *column = tl__table_add(table, name, like->unit, (tl_storage)like->storage);
	if (column) {
		column->type = type;
		column->with_uid = with_uid;
	}
	return column;
}

tl_column *tl__table_column(const tl_table *table, const char *name)
{
	ptrdiff_t at = tl_table_find_column(table, name);
	return at < 0 ? NULL : &table->columns.v[at];
}

void tl__table_move_column(tl_table *table, size_t from, size_t to)
{
	size_t n = table->columns.n;
	if (from >= n || from == to)
		return;
	if (to >= n)
		to = n - 1;
	tl_column *v = table->columns.v, moved = v[from];
	if (from < to)
		memmove(v + from, v + from + 1, (to - from) * sizeof *v);
	else
		memmove(v + to + 1, v + to, (from - to) * sizeof *v);
	v[to] = moved;
}

void tl__table_remove_column(tl_table *table, size_t column)
{
	if (column >= table->columns.n)
		return;
	tl_column *v = table->columns.v;
	free_column(&v[column]);
	table->columns.n--;
	memmove(v + column, v + column + 1, (table->columns.n - column) * sizeof *v);
}

int tl__column_set_null(const tl_table *table, tl_column *column, size_t row)
{
	switch (column->storage) {
	case TL_COL_DOUBLE:
		column->f64[row] = (double)NAN;
		return 0;
	case TL_COL_STRING:
		column->str[row] = TL_STR_NONE;
		return 0;
	case TL_COL_VALUE:
		column->val[row] = NULL;
		return 0;
	default:
		if (!column->null)
			column->null = tl__calloc(table->rows, 1);
		if (!column->null)
			return TL_ENOMEM;
		column->null[row] = 1;
		return 0;
	}
}

bool tl__column_is_null(const tl_column *column, size_t row)
{
	const tl_value *value;
	if (column->null && column->null[row])
		return true;
	switch (column->storage) {
	case TL_COL_DOUBLE:
		return isnan(column->f64[row]);
	case TL_COL_STRING:
		return column->str[row] == TL_STR_NONE;
	case TL_COL_VALUE:
		value = column->val[row];
		return !value || value->kind == TL_V_NONE || (value->kind == TL_V_DOUBLE && isnan(value->d));
	default:
		return false;
	}
}

/* ---- values made for a table ---- */

const tl_value *tl__table_value(tl_table *table, tl_value value)
{
	tl_value *copy = tl__arena_alloc(&table->arena, sizeof *copy);
	if (copy)
		*copy = value;
	return copy;
}

const tl_value *tl__table_list(tl_table *table, const tl_value *items, size_t n, bool tuple)
{
	tl_value list = {.kind = tuple ? TL_V_TUPLE : TL_V_LIST, .n = (uint32_t)n};
	if (n) {
		tl_value *copy = tl__arena_alloc(&table->arena, n * sizeof *copy);
		if (!copy)
			return NULL;
		memcpy(copy, items, n * sizeof *copy);
		list.items = copy;
	}
	return tl__table_value(table, list);
}

tl_str tl__table_str(tl_table *table, const char *text)
{
	return tl__interns(table->strings, text);
}

/* ---- public getters ---- */

size_t tl_table_rows(const tl_table *table)
{
	return table->rows;
}

size_t tl_table_columns(const tl_table *table)
{
	return table->columns.n;
}

const char *tl_table_name(const tl_table *table)
{
	return table->name;
}

static const tl_column *column_at(const tl_table *table, size_t column)
{
	return column < table->columns.n ? &table->columns.v[column] : NULL;
}

const char *tl_table_column_name(const tl_table *table, size_t column)
{
	const tl_column *c = column_at(table, column);
	return c ? c->name : NULL;
}

const char *tl_table_column_unit(const tl_table *table, size_t column)
{
	const tl_column *c = column_at(table, column);
	return c ? c->unit : "";
}

tl_type tl_table_column_type(const tl_table *table, size_t column)
{
	const tl_column *c = column_at(table, column);
	if (!c)
		return TL_TYPE_STRING;
	if (c->storage == TL_COL_VALUE && c->type == TL_TYPE_LIST)
		for (size_t row = 0; row < table->rows; row++)
			if (!tl__column_is_null(c, row))
				return c->val[row]->kind == TL_V_DICT ? TL_TYPE_RECORD : TL_TYPE_LIST;
	return (tl_type)c->type;
}

ptrdiff_t tl_table_find_column(const tl_table *table, const char *name)
{
	for (size_t i = 0; name && i < table->columns.n; i++)
		if (!strcmp(table->columns.v[i].name, name))
			return (ptrdiff_t)i;
	return -1;
}

bool tl_table_is_null(const tl_table *table, size_t column, size_t row)
{
	const tl_column *c = column_at(table, column);
	return !c || row >= table->rows || tl__column_is_null(c, row);
}

double tl__cell_double(const tl_column *column, size_t row)
{
	const tl_value *value;
	if (tl__column_is_null(column, row))
		return (double)NAN;
	switch (column->storage) {
	case TL_COL_INT64:
		return (double)column->i64[row];
	case TL_COL_DOUBLE:
		return column->f64[row];
	case TL_COL_BOOL:
		return column->b[row];
	case TL_COL_VALUE:
		value = column->val[row];
		if (value->kind == TL_V_INT)
			return (double)value->i;
		if (value->kind == TL_V_DOUBLE)
			return value->d;
		return value->kind == TL_V_BOOL ? (double)value->b : (double)NAN;
	default:
		return (double)NAN;
	}
}

double tl_table_double(const tl_table *table, size_t column, size_t row)
{
	const tl_column *c = column_at(table, column);
	return c && row < table->rows ? tl__cell_double(c, row) : (double)NAN;
}

int64_t tl_table_int(const tl_table *table, size_t column, size_t row)
{
	const tl_column *c = column_at(table, column);
	if (tl_table_is_null(table, column, row))
		return 0;
	switch (c->storage) {
	case TL_COL_INT64:
		return c->i64[row];
	case TL_COL_BOOL:
		return c->b[row];
	case TL_COL_VALUE:
		if (c->val[row]->kind == TL_V_BOOL)
			return c->val[row]->b;
		return c->val[row]->kind == TL_V_INT ? c->val[row]->i : 0;
	default:
		return 0;
	}
}

size_t tl_table_text(const tl_table *table, size_t column, size_t row, char *out, size_t size)
{
	const tl_column *c = column_at(table, column);
	tl_buf text = {0};
	if (size)
		out[0] = '\0';
	if (!c || row >= table->rows)
		return 0;
	tl__cell_text(table, c, row, &text);
	size_t length = text.failed ? 0 : text.n, shown = length < size ? length : size ? size - 1 : 0;
	if (shown)
		memcpy(out, text.v, shown);
	if (size)
		out[shown] = '\0';
	tl__buf_free(&text);
	return length;
}

void tl_table_doubles(const tl_table *table, size_t column, double *out)
{
	const tl_column *c = column_at(table, column);
	if (c && c->storage == TL_COL_DOUBLE && !c->null) {
		memcpy(out, c->f64, table->rows * sizeof *out);
		return;
	}
	for (size_t row = 0; row < table->rows; row++)
		out[row] = c ? tl__cell_double(c, row) : (double)NAN;
}

bool tl_table_ints(const tl_table *table, size_t column, int64_t *out)
{
	const tl_column *c = column_at(table, column);
	bool full = c != NULL;
	if (c && c->storage == TL_COL_INT64 && !c->null) {
		memcpy(out, c->i64, table->rows * sizeof *out);
		return true;
	}
	for (size_t row = 0; row < table->rows; row++) {
		out[row] = tl_table_int(table, column, row);
		full = full && !tl__column_is_null(c, row);
	}
	return full;
}
