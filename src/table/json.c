/* SPDX-License-Identifier: MIT */
/* A table as one JSON object. */
#include <string.h>

#include "table/internal.h"

static void put_text(tl_buf *out, const char *text)
{
	tl__json_string(out, text, strlen(text));
}

static const char *type_name(tl_type type)
{
	static const char *const names[] = {"int64", "double", "bool", "string", "list", "record"};
	return names[type];
}

static void put_columns(tl_buf *out, const tl_table *table)
{
	for (size_t c = 0; c < table->columns.n; c++) {
		tl__buf_puts(out, c ? ", {\"name\": " : "{\"name\": ");
		put_text(out, table->columns.v[c].name);
		tl__buf_puts(out, ", \"type\": ");
		put_text(out, type_name(tl_table_column_type(table, c)));
		tl__buf_puts(out, ", \"unit\": ");
		put_text(out, table->columns.v[c].unit);
		tl__buf_putc(out, '}');
	}
}

static void put_rows(tl_buf *out, const tl_table *table)
{
	for (size_t row = 0; row < table->rows && !out->failed; row++) {
		tl__buf_puts(out, row ? ",\n[" : "\n[");
		for (size_t c = 0; c < table->columns.n; c++) {
			if (c)
				tl__buf_put(out, ", ", 2);
			tl__cell_json(table, &table->columns.v[c], row, out);
		}
		tl__buf_putc(out, ']');
	}
}

int tl_table_json(const tl_table *table, char **out, size_t *size, tl_error *err)
{
	tl_buf text = {0};

	tl__buf_puts(&text, "{\"name\": ");
	put_text(&text, table->name);
	tl__buf_puts(&text, ", \"columns\": [");
	put_columns(&text, table);
	tl__buf_puts(&text, "], \"rows\": [");
	put_rows(&text, table);
	tl__buf_puts(&text, table->rows ? "\n]}" : "]}");
	*out = NULL;
	if (!tl__buf_text(&text)) {
		tl__buf_free(&text);
		return tl__nomem(err);
	}
	*out = text.v; /* made by realloc, so the caller can free() it */
	if (size)
		*size = text.n;
	return 0;
}
