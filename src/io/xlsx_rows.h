/* SPDX-License-Identifier: MIT */
/**
 * @file xlsx_rows.h
 * Rows of large tables, past libxlsxwriter: that makes the workbook with the head of each table, and its rows, which
 * are nothing but cells, are packed here and put in. It takes a fifth of the time.
 */
#ifndef TL_IO_XLSX_ROWS_H
#define TL_IO_XLSX_ROWS_H

#include "io/pack.h"
#include "tracelens/table.h"
#include "util/buf.h"

/** Packed rows of sheets, in a temporary file without a name. */
typedef struct tl_xlsx_spool {
	FILE *file;
	uint64_t at;
	tl_packer *packer;
	tl_buf xml, text, clean;
} tl_xlsx_spool;
/** TL_EIO, TL_ENOMEM; closed by tl__xlsx_spool_close in any case. */
int tl__xlsx_spool_open(tl_xlsx_spool *spool, tl_error *err);
void tl__xlsx_spool_close(tl_xlsx_spool *spool);

/** The rows of one sheet in the spool. */
typedef struct tl_xlsx_rows {
	uint64_t at;
	tl_packed piece;
	size_t rows, columns; /* of the table; rows 0: there is nothing */
} tl_xlsx_rows;

/** Widths beyond this need not be told apart. */
#define TL_XLSX_MAX_WIDTH 60

/**
 * Packs the rows of a table, which stand below its head. `formats`: number of the cell format of each column, 0: none.
 * `widths` of the columns grow to what the cells take on the screen, up to TL_XLSX_MAX_WIDTH. TL_EIO, TL_ENOMEM.
 */
int tl__xlsx_spool_table(tl_xlsx_rows *out, tl_xlsx_spool *spool, const tl_table *table, const int32_t *formats,
			 size_t *widths, tl_error *err);

/**
 * Puts the rows into the finished workbook `path`: rows[i] into its i-th sheet. TL_EIO, TL_ENOMEM.
 */
int tl__xlsx_put_rows(const char *path, tl_xlsx_spool *spool, const tl_xlsx_rows *rows, size_t n, tl_error *err);

#endif
