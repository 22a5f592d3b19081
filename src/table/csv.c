/* SPDX-License-Identifier: MIT */
#include "table/csv.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "table/internal.h"

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

void tl__table_csv_row(const tl_table *table, size_t row, tl_buf *out)
{
	size_t n = table->columns.n;

	for (size_t c = 0; c < n; c++) {
		if (c)
			tl__buf_putc(out, ',');
		size_t start = out->n;
		tl__cell_text(table, &table->columns.v[c], row, out);
		if (n == 1 && out->n == start)
			tl__buf_puts(out, "\"\""); /* an empty line would not be a row */
		else
			quote_field(out, start);
	}
	tl__buf_putc(out, '\n');
}
