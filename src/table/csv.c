/* SPDX-License-Identifier: MIT */
#include "table/csv.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "table/internal.h"
#include "util/map.h"

/* What a field has of bytes that must be quoted, and of quotes. `out` has room behind it (tl__buf_reserve). */
#if defined(__SSE2__)
enum { LOOK = 16 };
static uint32_t equal(__m128i bytes, char c)
{
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

static bool look(const char *p, size_t n, size_t *quotes)
{
	uint32_t special = 0;
	*quotes = 0;
	for (size_t i = 0; i < n; i += LOOK) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		uint32_t of_field = n - i < LOOK ? (UINT32_C(1) << (n - i)) - 1 : 0xffff;
		uint32_t quote = equal(bytes, '"') & of_field;
		special |= (equal(bytes, ',') | equal(bytes, '\n') | equal(bytes, '\r')) & of_field;
		if (quote) /* seldom, and counting is a function of its own on older processors */
			*quotes += (size_t)__builtin_popcount(quote);
	}
	return special || *quotes;
}
#else
enum { LOOK = 1 };
static bool look(const char *p, size_t n, size_t *quotes)
{
	bool special = false;
	*quotes = 0;
	for (size_t i = 0; i < n; i++) {
		*quotes += p[i] == '"';
		special |= p[i] == ',' || p[i] == '\n' || p[i] == '\r';
	}
	return special || *quotes;
}
#endif

/* Quotes what was appended from `start` on, when it needs that. */
static void quote_field(tl_buf *out, size_t start)
{
	size_t quotes, n = out->n - start;

	if (!tl__buf_reserve(out, LOOK) || !look(out->v + start, n, &quotes))
		return;
	if (!tl__buf_reserve(out, quotes + 2))
		return;
	out->n += quotes + 2;
	/* the text moves from behind into the room that it has now */
	char *from = out->v + start + n, *to = out->v + out->n - 1;
	*to = '"';
	while (quotes) {
		*--to = *--from;
		if (*from == '"') {
			*--to = '"';
			quotes--;
		}
	}
	memmove(out->v + start + 1, out->v + start, (size_t)(from - (out->v + start)));
	out->v[start] = '"';
}

void tl__table_csv_head(const tl_table *table, tl_buf *out)
{
	for (size_t c = 0; c < table->columns.n; c++) {
		if (c)
			tl__buf_putc(out, ',');
		size_t start = out->n;
		tl__buf_puts(out, table->columns.v[c].name);
		quote_field(out, start);
	}
	tl__buf_putc(out, '\n');
}

/* ---- fields that come again ---- */

enum { MEMO_FIELDS = 2048, LONGEST_FIELD = 1 << 10, MEMO_TEXT = 256 << 10 };

typedef struct tl_csv_memo_field {
	uint64_t key; /* 0: nothing */
	uint32_t at, n;
} memo_field;

void tl__csv_memo_free(tl_csv_memo *memo)
{
	tl__free(memo->fields);
	tl__buf_free(&memo->text);
}

/* What tells the text of a cell: the id of a string, or where the value is. 0: neither. */
static uint64_t memo_key(const tl_column *column, size_t row)
{
	if (column->null && column->null[row])
		return 0;
	if (column->storage == TL_COL_STRING)
		return column->str[row] == TL_STR_NONE ? 0 : UINT64_C(1) << 63 | column->str[row];
	return column->storage == TL_COL_VALUE ? (uint64_t)(uintptr_t)column->val[row] : 0;
}

/* Without memory for it there is no memo, which is no failure. */
static memo_field *memo_place(tl_csv_memo *memo, uint64_t key)
{
	if (!memo->fields)
		memo->fields = tl__calloc(MEMO_FIELDS, sizeof *memo->fields);
	return memo->fields ? &memo->fields[tl__mix(key, 0) % MEMO_FIELDS] : NULL;
}

static void memo_set(tl_csv_memo *memo, memo_field *field, uint64_t key, const char *text, size_t n)
{
	if (n > LONGEST_FIELD)
		return;
	if (memo->text.n + n > MEMO_TEXT || memo->text.failed) { /* what is used will be here again soon */
		memset(memo->fields, 0, MEMO_FIELDS * sizeof *memo->fields);
		tl__buf_clear(&memo->text);
	}
	uint32_t at = (uint32_t)memo->text.n;
	tl__buf_put(&memo->text, text, n);
	if (!memo->text.failed)
		*field = (memo_field){key, at, (uint32_t)n};
}

static void put_field(const tl_table *table, const tl_column *column, size_t row, tl_csv_memo *memo, tl_buf *out)
{
	uint64_t key = memo ? memo_key(column, row) : 0;
	memo_field *field = key ? memo_place(memo, key) : NULL;
	size_t start = out->n;
	if (field && field->key == key) {
		tl__buf_put(out, memo->text.v + field->at, field->n);
		return;
	}
	tl__cell_text(table, column, row, out);
	if (column->storage != TL_COL_INT64 && column->storage != TL_COL_DOUBLE)
		quote_field(out, start);
	if (field && !out->failed)
		memo_set(memo, field, key, out->v + start, out->n - start);
}

void tl__table_csv_row(const tl_table *table, size_t row, tl_csv_memo *memo, tl_buf *out)
{
	size_t n = table->columns.n, start = out->n;

	for (size_t c = 0; c < n; c++) {
		if (c)
			tl__buf_putc(out, ',');
		put_field(table, &table->columns.v[c], row, memo, out);
	}
	if (n == 1 && out->n == start)
		tl__buf_puts(out, "\"\""); /* an empty line would not be a row */
	tl__buf_putc(out, '\n');
}
