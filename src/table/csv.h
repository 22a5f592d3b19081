/* SPDX-License-Identifier: MIT */
/** @file csv.h Lines of a table as CSV text. */
#ifndef TL_TABLE_CSV_H
#define TL_TABLE_CSV_H

#include "table/table.h"

/**
 * Fields of one table as they were written before, as names and arguments of events come again and again. For one
 * thread; zero-initialise.
 */
typedef struct tl_csv_memo {
	struct tl_csv_memo_field *fields;
	tl_buf text;
} tl_csv_memo;
void tl__csv_memo_free(tl_csv_memo *memo);

/**
 * Appends the line of names, or that of a row, as CSV (see tl_table_write_csv): cells as tl__cell_text prints them,
 * quoted when they hold a comma, a quote or a line break. A table without columns has an empty line of names and no
 * rows. `memo` may be NULL. out->failed tells of a lack of memory.
 */
void tl__table_csv_head(const tl_table *table, tl_buf *out);
void tl__table_csv_row(const tl_table *table, size_t row, tl_csv_memo *memo, tl_buf *out);

/** tl_table_write_csv of a file that is on its way to another name: messages speak of `shown`. `threaded`: a second
 * thread renders rows of a large table while those before them are written. */
int tl__table_write_csv(const tl_table *table, const char *path, const char *shown, bool threaded, tl_error *err);

#endif
