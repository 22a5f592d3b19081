/* SPDX-License-Identifier: MIT */
/** @file text.h Tables for people: aligned columns in the width of a terminal. */
#ifndef TL_TABLE_TEXT_H
#define TL_TABLE_TEXT_H

#include "tracelens/table.h"
#include "util/buf.h"

/** Appends the table as tl_table_text_view prints it. TL_ENOTFOUND is no failure here: missing columns print "-". */
void tl__table_put_text(tl_buf *out, const tl_table *table, const tl_text_column *columns, size_t n,
			const tl_text_style *style);
/** "12,345.678"; a cell that is empty or missing (column < 0) is "-". */
void tl__table_number_text(char out[48], const tl_table *table, ptrdiff_t column, size_t row, int decimals);

#endif
