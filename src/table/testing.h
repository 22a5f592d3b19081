/* SPDX-License-Identifier: MIT */
/** @file testing.h What the unit tests of this folder share: columns from plain arrays, tables as text. */
#ifndef TL_TABLE_TESTING_H
#define TL_TABLE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/csv.h"
#include "table/table.h"
#include "util/no_memory.h"

/** Marks an empty cell in put_ints. */
#define EMPTY INT64_MIN

static inline tl_column *put_ints(tl_table *table, const char *name, const int64_t *cells)
{
	tl_column *column = tl__table_add(table, name, "", TL_COL_INT64);
	assert_non_null(column);
	for (size_t row = 0; row < table->rows; row++) {
		if (cells[row] == EMPTY)
			assert_int_equal(tl__column_set_null(table, column, row), 0);
		else
			column->i64[row] = cells[row];
	}
	return column;
}

static inline tl_column *put_doubles(tl_table *table, const char *name, const double *cells)
{
	tl_column *column = tl__table_add(table, name, "µs", TL_COL_DOUBLE);
	assert_non_null(column);
	memcpy(column->f64, cells, table->rows * sizeof *cells);
	return column;
}

/** NULL makes an empty cell. */
static inline tl_column *put_strings(tl_table *table, const char *name, const char *const *cells)
{
	tl_column *column = tl__table_add(table, name, "", TL_COL_STRING);
	assert_non_null(column);
	for (size_t row = 0; row < table->rows; row++)
		column->str[row] = cells[row] ? tl__table_str(table, cells[row]) : TL_STR_NONE;
	return column;
}

/** Cells as JSON texts, arrays as tuples; NULL makes an empty cell. */
static inline tl_column *put_values(tl_table *table, const char *name, const char *const *cells)
{
	tl_column *column = tl__table_add(table, name, "", TL_COL_VALUE);
	assert_non_null(column);
	for (size_t row = 0; row < table->rows; row++)
		if (cells[row])
			assert_int_equal(
				tl__value_parse(&table->arena, cells[row], strlen(cells[row]), true, &column->val[row]),
				0);
	return column;
}

/** A kernel on a numbered stream, duration in ps. */
static inline tl_kernel a_kernel(tl_table *table, const char *name, int64_t dur, int64_t stream, uint32_t uid)
{
	return (tl_kernel){.name = tl__table_str(table, name), .uid = uid, .dur = dur, .stream = stream};
}

static inline void put_kernel(tl_table *table, tl_column *column, size_t row, tl_kernel kernel)
{
	if (!column->ker[row].count)
		column->ker[row].first = (uint32_t)table->kernels.n;
	column->ker[row].count++;
	assert_int_equal(TL_VEC_PUSH(&table->kernels, kernel), 0);
}

/** Appends the table as CSV. */
static inline void print_csv(const tl_table *table, tl_buf *out)
{
	tl_csv_memo memo = {0};
	tl__table_csv_head(table, out);
	for (size_t row = 0; table->columns.n && row < table->rows; row++)
		tl__table_csv_row(table, row, &memo, out);
	tl__csv_memo_free(&memo);
}

static inline void expect_csv(const tl_table *table, const char *expected)
{
	tl_buf text = {0};
	print_csv(table, &text);
	assert_false(text.failed);
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
}

static inline void expect_text(const tl_table *table, const char *column, size_t row, const char *expected)
{
	char text[2048];
	size_t n = tl_table_text(table, (size_t)tl_table_find_column(table, column), row, text, sizeof text);
	assert_string_equal(text, expected);
	assert_int_equal(n, strlen(expected));
}

#endif
