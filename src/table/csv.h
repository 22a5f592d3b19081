/* SPDX-License-Identifier: MIT */
/** @file csv.h A table as CSV text in memory. */
#ifndef TL_TABLE_CSV_H
#define TL_TABLE_CSV_H

#include "table/table.h"

/**
 * Appends the table as CSV (see tl_table_write_csv): cells as tl__cell_text prints them, quoted when
 * they hold a comma, a quote or a line break. No columns: a single line break. 0 or TL_ENOMEM.
 */
int tl__table_csv(const tl_table *table, tl_buf *out);
/** The same line by line, for tables whose text shall not be in memory as a whole. A table without columns has no rows.
 */
void tl__table_csv_head(const tl_table *table, tl_buf *out);
void tl__table_csv_row(const tl_table *table, size_t row, tl_buf *out);

/** tl_table_write_csv of a file that is on its way to another name: messages speak of `shown`. */
int tl__table_write_csv(const tl_table *table, const char *path, const char *shown, tl_error *err);

#endif
