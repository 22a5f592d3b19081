/* SPDX-License-Identifier: MIT */
/**
 * @file xlsx_reader.h
 * Reading workbooks (.xlsx), as far as reports need it: names of sheets, and the values of cells as text. Formats,
 * formulas and everything else are passed over; of a formula its stored value counts. Made for files that nobody
 * vouches for.
 */
#ifndef TL_IO_XLSX_READER_H
#define TL_IO_XLSX_READER_H

#include "io/csv_reader.h"

typedef struct tl_xlsx_file tl_xlsx_file;

/**
 * Opens a workbook and reads the names of its sheets and its shared texts.
 * @return 0, TL_EIO, TL_EFORMAT (no zip file, a part is missing or damaged, or unpacks to absurdly much), TL_ENOMEM
 */
int tl__xlsx_open(tl_xlsx_file **out, const char *path, tl_error *err);
/** The same of bytes in memory, which must live as long. */
int tl__xlsx_open_memory(tl_xlsx_file **out, const void *data, size_t size, tl_error *err);
void tl__xlsx_close(tl_xlsx_file *file);

/** Whether a file is a workbook by its content: a zip file with a member `[Content_Types].xml`. Never fails. */
bool tl__xlsx_detect(const char *path);

size_t tl__xlsx_count(const tl_xlsx_file *file);
/** Name of a worksheet, as its tab shows it. */
const char *tl__xlsx_name(const tl_xlsx_file *file, size_t index);
/**
 * Tells the cells of a worksheet, row by row: numbers as the file spells them, booleans as True and False, error values
 * (#N/A) not at all. TL_EFORMAT, also of a formula without a stored value; TL_ENOMEM, or what `each` returned.
 */
int tl__xlsx_read(tl_xlsx_file *file, size_t index, tl_cell_fn each, void *user, tl_error *err);

#endif
