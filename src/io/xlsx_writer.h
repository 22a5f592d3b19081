/* SPDX-License-Identifier: MIT */
/**
 * @file xlsx_writer.h
 * Tables as an Excel workbook, through libxlsxwriter. The front here takes care of what that library
 * leaves to its caller: texts that no cell can hold, names that no tab can have, NaN and infinities.
 * It reads tables through the public interface only, so that it stands below the table layer as the other
 * writers do.
 */
#ifndef TL_IO_XLSX_WRITER_H
#define TL_IO_XLSX_WRITER_H

#include "tracelens/table.h"
#include "util/buf.h"
#include "util/error.h"

/** What is special about a column; flags. */
typedef enum tl_xlsx_mark {
	TL_XLSX_HIDDEN = 1,         /* there, but not shown until it is asked for */
	TL_XLSX_LESS_IS_BETTER = 2, /* a difference: above zero red, below green */
	TL_XLSX_MORE_IS_BETTER = 4, /* the other way round */
	TL_XLSX_NEUTRAL = 8         /* a difference that is neither good nor bad: orange and blue */
} tl_xlsx_mark;

typedef struct tl_xlsx_sheet {
	const tl_table *table;
	const char *description; /* one line for the first sheet */
	const uint8_t *marks;    /* tl_xlsx_mark of each column; NULL: none */
} tl_xlsx_sheet;

/** A line of the first sheet: "Trace", "step7.json.gz". */
typedef struct tl_xlsx_line {
	const char *label, *text;
} tl_xlsx_line;

/** A line of the list of findings on the first sheet. */
typedef struct tl_xlsx_finding {
	const char *label;
	double value;
	const char *text;
} tl_xlsx_finding;

typedef struct tl_xlsx_book {
	const tl_xlsx_line *lines;
	size_t n_lines;
	const char *finding_heads[3]; /* what stands above the findings */
	const tl_xlsx_finding *findings;
	size_t n_findings;
	const tl_xlsx_sheet *sheets;
	size_t n_sheets;
} tl_xlsx_book;

/** Longest text of a cell and of a tab's name, in UTF-16 units as Excel counts; rows and columns of a sheet. */
#define TL_XLSX_MAX_TEXT 32767
#define TL_XLSX_MAX_NAME 31
#define TL_XLSX_MAX_ROWS 1048576
#define TL_XLSX_MAX_COLUMNS 16384

/**
 * Writes a workbook into the file `path`: a first sheet `overview` with the lines, the findings and one line a sheet,
 * then the tables. No cell is a formula. Empty cells and NaN are blank, infinities are text, an integer that a double
 * cannot hold exactly is text.
 * @return 0, TL_ELIMIT (a table has more rows or columns than a sheet), TL_EIO, TL_ENOMEM
 */
int tl__xlsx_write(const char *path, const tl_xlsx_book *book, tl_error *err);

/**
 * Whether every part of a finished workbook is there to its end; TL_EIO when not. tl__xlsx_write calls it, because the
 * library behind it does not notice a full disk.
 */
int tl__xlsx_verify(const char *path, tl_error *err);

/**
 * Text as a cell can hold it: bytes that are not UTF-8 become U+FFFD, control characters their pictures
 * (U+2400...), and what is longer than a cell is cut before a mark "…(cut, 40000 characters)".
 * The answer is `text` itself when nothing has to change, else in `buf`; NULL when out of memory.
 */
const char *tl__xlsx_text(tl_buf *buf, const char *text, size_t n);

/**
 * Name of a tab: forbidden characters become '_', a long one is cut, and one that is taken already (case does not
 * count) gets "~2", "~3" ... `taken` are the `n_taken` names so far. `out` has room for every name.
 */
void tl__xlsx_sheet_name(char out[4 * TL_XLSX_MAX_NAME + 1], const char *name,
			 const char (*taken)[4 * TL_XLSX_MAX_NAME + 1], size_t n_taken);

#endif
