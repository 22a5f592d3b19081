/* SPDX-License-Identifier: MIT */
/** @file csv_reader.h Reading CSV files, cell by cell. */
#ifndef TL_IO_CSV_READER_H
#define TL_IO_CSV_READER_H

#include "tracelens/common.h"
#include "util/error.h"

/**
 * Receives a cell of a sheet, rows and columns from 0, row by row. Empty cells may be left out. `text` is gone after
 * the call; it has a NUL behind it. A negative code ends the reading and is handed on.
 */
typedef int (*tl_cell_fn)(void *user, size_t row, size_t column, const char *text, size_t n, tl_error *err);

/**
 * Reads comma-separated values: fields in quotes may hold commas, line breaks and doubled quotes; lines end with LF,
 * CRLF or CR; a byte order mark and blank lines are skipped (a line of a single pair of quotes is a row). Packed files
 * (gzip, zstd) are unpacked. "-" is standard input.
 * @return 0, TL_EIO, TL_EFORMAT (a quoted field or the packed file does not end), TL_ENOMEM, or what `each` returned
 */
int tl__csv_read(const char *path, tl_cell_fn each, void *user, tl_error *err);

#endif
