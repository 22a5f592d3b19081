/* SPDX-License-Identifier: MIT */
/**
 * @file table.h
 * Tables: what every analysis returns and every writer prints. Typed columns of equal
 * length with a null mask. CSV, XLSX, JSON and the terminal print the same table.
 */
#ifndef TRACELENS_TABLE_H
#define TRACELENS_TABLE_H

#include <tracelens/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_table tl_table;

typedef enum tl_type {
	TL_TYPE_INT64,
	TL_TYPE_DOUBLE,
	TL_TYPE_BOOL,
	TL_TYPE_STRING,
	TL_TYPE_LIST,  /**< list or tuple of values */
	TL_TYPE_RECORD /**< mapping of names to values */
} tl_type;

/**
 * A table of the caller's own, without columns, to be filled by tl_table_add.
 * @param[out] out freed with tl_table_free
 * @param name the sheet's name, may be ""
 * @return 0, TL_ENOMEM, TL_ELIMIT (over 2^32 rows)
 */
TL_API int tl_table_new(tl_table **out, const char *name, size_t rows, tl_error *err);
/**
 * Adds a column behind the others; everything is copied.
 * @param values one a row: int64_t, double (NaN: empty), bool, or const char * (NULL: empty); of a list or record
 *        JSON texts, likewise
 * @param null NULL, or for each row whether it is empty
 * @return 0, TL_EINVAL (no or a known name, no such type, no values, a text that is no JSON), TL_ENOMEM
 */
TL_API int tl_table_add(tl_table *table, const char *name, const char *unit, tl_type type, const void *values,
			const bool *null, tl_error *err);
TL_API void tl_table_free(tl_table *table);
TL_API size_t tl_table_rows(const tl_table *table);
TL_API size_t tl_table_columns(const tl_table *table);
/** Name of the table (the sheet's name), "" when it has none. */
TL_API const char *tl_table_name(const tl_table *table);
/** Name of a column; NULL when there is no such column. Belongs to the table. */
TL_API const char *tl_table_column_name(const tl_table *table, size_t column);
TL_API tl_type tl_table_column_type(const tl_table *table, size_t column);
/** Unit of a column ("µs", "ms", "%", "MB", "GFLOP" ...), "" when it has none. */
TL_API const char *tl_table_column_unit(const tl_table *table, size_t column);
/** Index of a column by name, or -1. */
TL_API ptrdiff_t tl_table_find_column(const tl_table *table, const char *name);

/** Whether a cell is empty. Out of range is empty, too. */
TL_API bool tl_table_is_null(const tl_table *table, size_t column, size_t row);
/** Value of a number or bool cell as a double; NaN when empty or not a number. */
TL_API double tl_table_double(const tl_table *table, size_t column, size_t row);
/** Value of an int64 or bool cell; 0 when empty or of another type. */
TL_API int64_t tl_table_int(const tl_table *table, size_t column, size_t row);
/**
 * Text of any cell as CSV prints it ("" when empty). Written into `out` of `size` bytes and cut
 * there, always NUL terminated. Returns the full length, as snprintf.
 */
TL_API size_t tl_table_text(const tl_table *table, size_t column, size_t row, char *out, size_t size);

/** What a piece of a cell is. */
typedef enum tl_item_kind {
	TL_ITEM_NONE,   /**< nothing: an empty cell, a missing value */
	TL_ITEM_BOOL,   /**< `integer` is 0 or 1 */
	TL_ITEM_INT,    /**< `integer` */
	TL_ITEM_DOUBLE, /**< `real` */
	TL_ITEM_NUMBER, /**< an integer beyond 64 bits: its `n` digits as `text` */
	TL_ITEM_STRING, /**< `text`, `n` bytes, mostly UTF-8 */
	TL_ITEM_LIST,   /**< a list: the next `n` values are its items */
	TL_ITEM_TUPLE,  /**< the same, of a tuple */
	TL_ITEM_RECORD  /**< a mapping: `n` times a name (TL_ITEM_STRING) and a value follow */
} tl_item_kind;
/** A piece of a cell; texts are gone after the call. */
typedef struct tl_item {
	tl_item_kind kind;
	size_t n;
	int64_t integer;
	double real;
	const char *text;
} tl_item;
/** Receives a piece; anything but 0 ends the cell with TL_ECALLBACK. */
typedef int (*tl_item_fn)(void *user, const tl_item *item);
/**
 * Tells what a cell holds, of any type, piece by piece: each list, tuple and record followed by its values, which may
 * be such themselves (at most 200 deep). TL_ECALLBACK, TL_ENOMEM.
 */
TL_API int tl_table_cell(const tl_table *table, size_t column, size_t row, tl_item_fn each, void *user, tl_error *err);
/**
 * A number that tells cells of one column apart where that is known: two cells with the same number above 0 are equal.
 * 0 for empty cells and for columns that have no such numbers. For programs that keep what they made of a cell.
 */
TL_API uint64_t tl_table_cell_id(const tl_table *table, size_t column, size_t row);

/*
 * All cells of a column at once, for programs that take whole columns. `out` has room for tl_table_rows values; a
 * column that is not there is empty.
 */
/** As tl_table_double gives them. */
TL_API void tl_table_doubles(const tl_table *table, size_t column, double *out);
/** As tl_table_int gives them. Whether no cell is empty. */
TL_API bool tl_table_ints(const tl_table *table, size_t column, int64_t *out);
/** As tl_table_cell_id gives them. Whether the column has such numbers; if not, all are 0. */
TL_API bool tl_table_cell_ids(const tl_table *table, size_t column, uint64_t *out);

/** A column of a table that is shown to people. */
typedef struct tl_text_column {
	const char *column; /**< its name in the table */
	const char *head;   /**< what stands above it, mostly its unit; NULL: the name. Of the first: the title */
	int decimals;       /**< of numbers */
} tl_text_column;
/** How it is shown; zero-initialise for the defaults. */
typedef struct tl_text_style {
	int width;   /**< columns of the terminal; 0: 80. Texts are cut to fit, numbers never */
	bool colour; /**< ANSI codes for the head */
	size_t rows; /**< rows to show; 0: all */
} tl_text_style;
/**
 * Columns of a table as aligned lines for a terminal: texts on the left, numbers on the right, with thousands separated
 * by commas, and "-" for empty ones. Control characters do not pass.
 * @param[out] out allocated with malloc; the caller frees it with free()
 * @return 0, TL_ENOTFOUND (no such column), TL_ENOMEM
 */
TL_API int tl_table_text_view(char **out, const tl_table *table, const tl_text_column *columns, size_t n,
			      const tl_text_style *style, tl_error *err);

/**
 * Writes the table as CSV: UTF-8, comma, "\n", header row, quoted only where needed. Goes to a
 * temporary file beside `path` that is renamed when complete. TL_EIO, TL_ENOMEM.
 */
TL_API int tl_table_write_csv(const tl_table *table, const char *path, tl_error *err);
/**
 * The table as a JSON object {"name":..., "columns":[{"name","type","unit"}...], "rows":[[...]...]};
 * lists and records as JSON, empty cells and NaN as null. `*out` is allocated with malloc; the
 * caller frees it with free(). TL_ENOMEM.
 */
TL_API int tl_table_json(const tl_table *table, char **out, size_t *size, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
