/* SPDX-License-Identifier: MIT */
/** @file testing.h Small reports made by hand, for the tests of this folder. */
#ifndef TL_REPORT_TESTING_H
#define TL_REPORT_TESTING_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "report/report.h"

/** A new table that is already a sheet of `report`. */
static inline tl_table *add_sheet(tl_report *report, const char *name, size_t rows)
{
	tl_table *table = tl__table_new(name, NULL, rows);
	assert_non_null(table);
	assert_int_equal(tl__report_add(report, table, NULL), 0);
	return table;
}

static inline void add_texts(tl_table *table, const char *name, const char *const *texts)
{
	tl_column *c = tl__table_add(table, name, "", TL_COL_STRING);
	assert_non_null(c);
	for (size_t r = 0; r < table->rows; r++)
		c->str[r] = texts[r] ? tl__table_str(table, texts[r]) : TL_STR_NONE;
}

static inline void add_doubles(tl_table *table, const char *name, const char *unit, const double *values)
{
	tl_column *c = tl__table_add(table, name, unit, TL_COL_DOUBLE);
	assert_non_null(c);
	for (size_t r = 0; r < table->rows; r++)
		c->f64[r] = values[r];
}

static inline void add_ints(tl_table *table, const char *name, const int64_t *values)
{
	tl_column *c = tl__table_add(table, name, "", TL_COL_INT64);
	assert_non_null(c);
	for (size_t r = 0; r < table->rows; r++)
		c->i64[r] = values[r];
}

#endif
