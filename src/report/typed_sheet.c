/* SPDX-License-Identifier: MIT */
#include "report/typed_sheet.h"

#include <inttypes.h>
#include <string.h>

#include "io/xlsx_writer.h"
#include "util/format.h"
#include "util/map.h"

/* More cells than any report has; a file of a few kilobytes can claim to have them. */
#define MAX_CELLS ((size_t)1 << 27)

struct tl_typed_sheet {
	char *name;
	tl_strings *pool;
	TL_VEC(tl_str) names; /* of the columns */
	TL_VEC(tl_str) cells; /* row by row, as wide as there are names */
	size_t rows;
	size_t last; /* row of the file that the last row is */
};

int tl__typed_sheet_new(tl_typed_sheet **out, const char *name, tl_error *err)
{
	tl_typed_sheet *s = *out = tl__calloc(1, sizeof *s);
	if (s) {
		s->name = tl__strdup(name);
		s->pool = tl__strings_new(NULL);
	}
	if (s && s->name && s->pool)
		return 0;
	tl__typed_sheet_free(s);
	*out = NULL;
	return tl__nomem(err);
}

void tl__typed_sheet_free(tl_typed_sheet *sheet)
{
	if (!sheet)
		return;
	tl__free(sheet->name);
	tl__strings_unref(sheet->pool);
	TL_VEC_FREE(&sheet->names);
	TL_VEC_FREE(&sheet->cells);
	tl__free(sheet);
}

/* What pandas reads as a missing value. */
static bool is_nothing(const char *text, size_t n)
{
	static const char *const words[] = {"#N/A", "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
					    "-nan", "1.#IND",   "<NA>", "1.#QNAN", "N/A",      "NA",
					    "NULL", "NaN",      "n/a",  "nan",     "null"};
	if (n == 0)
		return true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == n && !memcmp(words[i], text, n))
			return true;
	return false;
}

static int take_name(tl_typed_sheet *s, size_t column, const char *text, size_t n, tl_error *err)
{
	if (s->rows)
		return tl__fail(err, TL_EFORMAT, "sheet '%.100s' names columns below its first row", s->name);
	if (column >= TL_XLSX_MAX_COLUMNS)
		return tl__fail(err, TL_ELIMIT, "sheet '%.100s' has over %d columns", s->name, TL_XLSX_MAX_COLUMNS);
	if (n && memchr(text, '\0', n)) /* names of columns are C strings: what follows would be lost */
		return tl__fail(err, TL_EFORMAT, "sheet '%.100s': the name of column %zu is no text (is this UTF-16?)",
				s->name, column + 1);
	while (s->names.n <= column)
		if (TL_VEC_PUSH(&s->names, TL_STR_NONE) < 0)
			return tl__nomem(err);
	if (n) {
		s->names.v[column] = tl__intern(s->pool, text, n);
		if (s->names.v[column] == TL_STR_FAIL)
			return tl__nomem(err);
	}
	return 0;
}

static int add_row(tl_typed_sheet *s, tl_error *err)
{
	size_t width = s->names.n;
	if (s->cells.n + width > MAX_CELLS)
		return tl__fail(err, TL_ELIMIT, "sheet '%.100s' has too many cells", s->name);
	if (TL_VEC_RESERVE(&s->cells, width) < 0)
		return tl__nomem(err);
	memset(s->cells.v + s->cells.n, 0, width * sizeof *s->cells.v);
	s->cells.n += width;
	s->rows++;
	return 0;
}

int tl__typed_sheet_cell(void *sheet, size_t row, size_t column, const char *text, size_t n, tl_error *err)
{
	tl_typed_sheet *s = sheet;
	if (row == 0)
		return take_name(s, column, text, n, err);
	if (column >= s->names.n) {
		if (n == 0)
			return 0;
		return tl__fail(err, TL_EFORMAT, "row %zu of sheet '%.100s' has more cells than there are columns",
				row + 1, s->name);
	}
	if (row != s->last) {
		TL_TRY(add_row(s, err));
		s->last = row;
	}
	if (is_nothing(text, n))
		return 0;
	tl_str id = tl__intern(s->pool, text, n);
	if (id == TL_STR_FAIL)
		return tl__nomem(err);
	s->cells.v[(s->rows - 1) * s->names.n + column] = id;
	return 0;
}

/* ---- types ---- */

typedef enum cell_kind { CELL_INT = 1, CELL_NUMBER = 2, CELL_BOOL = 4, CELL_TEXT = 8 } cell_kind;

static cell_kind kind_of(const tl_typed_sheet *s, tl_str id)
{
	const char *text = tl__str(s->pool, id);
	size_t n = tl__str_len(s->pool, id);
	int64_t integer;
	double real;
	if (n > 64)
		return CELL_TEXT;
	if (tl__parse_int(text, n, &integer))
		return CELL_INT;
	if (tl__parse_double(text, n, &real))
		return CELL_NUMBER;
	return !strcmp(text, "True") || !strcmp(text, "False") ? CELL_BOOL : CELL_TEXT;
}

static tl_storage storage_of(const tl_typed_sheet *s, size_t column)
{
	int seen = 0;
	for (size_t row = 0; row < s->rows && !(seen & CELL_TEXT); row++) {
		tl_str id = s->cells.v[row * s->names.n + column];
		if (id != TL_STR_NONE)
			seen |= (int)kind_of(s, id);
	}
	if (seen == CELL_INT)
		return TL_COL_INT64;
	if (seen == CELL_BOOL)
		return TL_COL_BOOL;
	/* nothing at all is a column of numbers, as pandas has it */
	return seen & (CELL_TEXT | CELL_BOOL) ? TL_COL_STRING : TL_COL_DOUBLE;
}

static int fill_column(tl_table *table, const tl_typed_sheet *s, size_t c, const char *name, tl_error *err)
{
	tl_column *column = tl__table_add(table, name, "", storage_of(s, c));
	if (!column)
		return tl__nomem(err);
	for (size_t row = 0; row < s->rows; row++) {
		tl_str id = s->cells.v[row * s->names.n + c];
		const char *text = tl__str(s->pool, id);
		if (id == TL_STR_NONE) {
			if (tl__column_set_null(table, column, row) < 0)
				return tl__nomem(err);
		} else if (column->storage == TL_COL_INT64) {
			tl__parse_int(text, strlen(text), &column->i64[row]);
		} else if (column->storage == TL_COL_DOUBLE) {
			tl__parse_double(text, strlen(text), &column->f64[row]);
		} else if (column->storage == TL_COL_BOOL) {
			column->b[row] = *text == 'T';
		} else {
			column->str[row] = id;
		}
	}
	return 0;
}

/* `next`: of each name given so far the number that the next column of this name gets. */
static int name_column(tl_buf *name, const tl_typed_sheet *s, tl_map *next, size_t column)
{
	tl__buf_clear(name);
	if (s->names.v[column] == TL_STR_NONE)
		tl__buf_printf(name, "Unnamed: %zu", column);
	else
		tl__buf_put(name, tl__str(s->pool, s->names.v[column]), tl__str_len(s->pool, s->names.v[column]));
	size_t plain = name->n;
	tl_str first = TL_STR_NONE;
	for (uint32_t again = 0;;) {
		tl_str id = name->failed ? TL_STR_FAIL : tl__intern(s->pool, name->v, name->n);
		if (id == TL_STR_FAIL)
			return TL_ENOMEM;
		uint32_t taken = tl__map_get(next, id);
		if (taken == TL_MAP_NONE) {
			TL_TRY(tl__map_set(next, id, 1));
			return again ? tl__map_set(next, first, again + 1) : 0;
		}
		if (!again)
			first = id;
		again = again ? again + 1 : taken;
		name->n = plain;
		tl__buf_printf(name, ".%" PRIu32, again);
	}
}

int tl__typed_sheet_table(tl_table **out, tl_typed_sheet *sheet, tl_error *err)
{
	tl_buf name = {0};
	tl_map next = {0};
	tl_table *table = tl__table_new(sheet->name, sheet->pool, sheet->rows);
	int code = table ? 0 : tl__nomem(err);
	for (size_t c = 0; c < sheet->names.n && code == 0; c++) {
		code = name_column(&name, sheet, &next, c) < 0 ? tl__nomem(err) : 0;
		if (code == 0)
			code = fill_column(table, sheet, c, tl__buf_text(&name), err);
	}
	tl__buf_free(&name);
	tl__map_free(&next);
	if (code < 0) {
		tl_table_free(table);
		table = NULL;
	}
	*out = table;
	return code;
}
