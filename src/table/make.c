/* SPDX-License-Identifier: MIT */
/* Tables that a caller fills. */
#include "table/internal.h"
#include "util/error.h"

int tl_table_new(tl_table **out, const char *name, size_t rows, tl_error *err)
{
	*out = NULL;
	if (rows >= UINT32_MAX)
		return tl__fail(err, TL_ELIMIT, "a table holds fewer than 2^32 rows");
	*out = tl__table_new(name, NULL, rows);
	return *out ? 0 : tl__nomem(err);
}

static tl_storage storage_of(tl_type type)
{
	switch (type) {
	case TL_TYPE_INT64:
		return TL_COL_INT64;
	case TL_TYPE_DOUBLE:
		return TL_COL_DOUBLE;
	case TL_TYPE_BOOL:
		return TL_COL_BOOL;
	case TL_TYPE_STRING:
		return TL_COL_STRING;
	default:
		return TL_COL_VALUE;
	}
}

static int set_text(tl_table *table, tl_column *column, size_t row, const char *text)
{
	if (!text)
		return tl__column_set_null(table, column, row);
	column->str[row] = tl__table_str(table, text);
	return column->str[row] == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int set_value(tl_table *table, tl_column *column, size_t row, const char *json)
{
	return json ? tl__value_parse(&table->arena, json, strlen(json), false, &column->val[row])
		    : tl__column_set_null(table, column, row);
}

static int set_cell(tl_table *table, tl_column *column, size_t row, const void *values)
{
	switch (column->storage) {
	case TL_COL_INT64:
		column->i64[row] = ((const int64_t *)values)[row];
		return 0;
	case TL_COL_DOUBLE:
		column->f64[row] = ((const double *)values)[row];
		return 0;
	case TL_COL_BOOL:
		column->b[row] = ((const bool *)values)[row];
		return 0;
	case TL_COL_STRING:
		return set_text(table, column, row, ((const char *const *)values)[row]);
	default:
		return set_value(table, column, row, ((const char *const *)values)[row]);
	}
}

int tl_table_add(tl_table *table, const char *name, const char *unit, tl_type type, const void *values,
		 const bool *null, tl_error *err)
{
	if (!name || !*name)
		return tl__fail(err, TL_EINVAL, "a column needs a name");
	if (tl__table_column(table, name))
		return tl__fail(err, TL_EINVAL, "there is a column '%.200s' already", name);
	if ((int)type < TL_TYPE_INT64 || (int)type > TL_TYPE_RECORD)
		return tl__fail(err, TL_EINVAL, "there is no type %d of columns", (int)type);
	if (!values && table->rows)
		return tl__fail(err, TL_EINVAL, "column '%.200s' has no values", name);
	tl_column *column = tl__table_add(table, name, unit ? unit : "", storage_of(type));
	int code = column ? 0 : TL_ENOMEM;
	if (column && column->storage == TL_COL_VALUE)
		column->type = (uint8_t)type;
	for (size_t row = 0; code == 0 && row < table->rows; row++)
		code = null && null[row] ? tl__column_set_null(table, column, row)
					 : set_cell(table, column, row, values);
	if (code == 0)
		return 0;
	if (column)
		tl__table_remove_column(table, table->columns.n - 1);
	return code == TL_ENOMEM ? tl__nomem(err)
				 : tl__fail(err, TL_EINVAL, "a cell of column '%.200s' is no JSON", name);
}
