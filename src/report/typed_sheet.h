/* SPDX-License-Identifier: MIT */
/** @file typed_sheet.h A table out of the texts of its cells, as files hold them. */
#ifndef TL_REPORT_TYPED_SHEET_H
#define TL_REPORT_TYPED_SHEET_H

#include "table/table.h"

typedef struct tl_typed_sheet tl_typed_sheet;

/** `name`: of the table to come. Freed with tl__typed_sheet_free. TL_ENOMEM. */
int tl__typed_sheet_new(tl_typed_sheet **out, const char *name, tl_error *err);
/**
 * Takes a cell; a tl_cell_fn (csv_reader.h). Row 0 holds the names of the columns: cells right of the last name are
 * refused when they hold something, unnamed columns are called "Unnamed: 3", and a name that was there before gets
 * ".1". Rows without any cell are skipped. TL_EFORMAT, TL_ELIMIT, TL_ENOMEM.
 */
int tl__typed_sheet_cell(void *sheet, size_t row, size_t column, const char *text, size_t n, tl_error *err);
/**
 * The table: a column of nothing but whole numbers is INT64, of numbers DOUBLE, of True and False BOOL, else STRING.
 * Empty cells and the usual words for "nothing" (NaN, NA, null, ...) are empty; None is a text, as the
 * Python tool has it. No cell at all: no columns.
 */
int tl__typed_sheet_table(tl_table **out, tl_typed_sheet *sheet, tl_error *err);
void tl__typed_sheet_free(tl_typed_sheet *sheet);

#endif
