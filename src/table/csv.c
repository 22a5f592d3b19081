/* SPDX-License-Identifier: MIT */
#include "table/csv.h"

#include <string.h>

#include "table/internal.h"

/* Quotes what was appended from `start` on, when it needs that. */
static void quote_field(tl_buf *out, size_t start)
{
	size_t quotes = 0, n = out->n - start;
	bool special = false;

	if (out->failed)
		return;
	for (const char *p = out->v + start, *end = out->v + out->n; p < end; p++) {
		quotes += *p == '"';
		special |= *p == ',' || *p == '\n' || *p == '\r';
	}
	if (!quotes && !special)
		return;
	for (size_t i = 0; i < quotes + 2; i++)
		tl__buf_putc(out, '"'); /* room at the end; the text moves into it from behind */
	if (out->failed)
		return;
	char *from = out->v + start + n, *to = out->v + out->n - 1;
	*to = '"';
	while (from > out->v + start) {
		*--to = *--from;
		if (*from == '"')
			*--to = '"';
	}
	*--to = '"';
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
