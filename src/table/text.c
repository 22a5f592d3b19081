/* SPDX-License-Identifier: MIT */
/* A table for people: texts on the left in the room that is left, numbers on the right below their units. */
#include "table/text.h"

#include <stdio.h>
#include <string.h>

#include "table/alike.h"
#include "table/table.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/terminal.h"

enum { LEAST_WIDTH = 40, DEFAULT_WIDTH = 80, LEAST_TEXT = 12, GAP = 2, INDENT = 2 };

void tl__table_number_text(char out[48], const tl_table *table, ptrdiff_t column, size_t row, int decimals)
{
	if (column < 0 || tl_table_is_null(table, (size_t)column, row)) {
		snprintf(out, 48, "-");
		return;
	}
	char digits[40];
	double value = tl_table_double(table, (size_t)column, row);
	if (!(value < 1e15 && value > -1e15)) {
		snprintf(out, 48, "%g", value);
		return;
	}
	snprintf(digits, sizeof digits, "%.*f", decimals, value);
	size_t whole = strcspn(digits, "."), n = 0;
	for (size_t i = 0; digits[i]; i++) {
		out[n++] = digits[i];
		size_t left = whole - i - 1;
		if (i + 1 < whole && left % 3 == 0 && digits[i] != '-')
			out[n++] = ',';
	}
	out[n] = '\0';
}

typedef struct layout {
	ptrdiff_t column;
	const char *head;
	bool number, settled;
	int decimals;
	size_t width;
	uint32_t *cuts; /* see tl__alike_cuts */
} layout;

static bool is_number(const tl_table *table, ptrdiff_t column)
{
	if (column < 0)
		return true;
	tl_type type = tl_table_column_type(table, (size_t)column);
	return type == TL_TYPE_INT64 || type == TL_TYPE_DOUBLE;
}

static size_t columns_of(const char *text)
{
	return tl__terminal_columns(text, strlen(text));
}

/* The head of the first column stands out to the left by the indent of the rows. */
static void measure(layout *l, const tl_table *table, size_t rows, bool first, tl_buf *text)
{
	size_t head = columns_of(l->head);
	l->width = !first ? head : head > INDENT ? head - INDENT : 0;
	for (size_t r = 0; r < rows; r++) {
		char number[48];
		size_t width;
		if (l->number) {
			tl__table_number_text(number, table, l->column, r, l->decimals);
			width = strlen(number);
		} else {
			tl__buf_clear(text);
			tl__cell_text(table, &table->columns.v[l->column], r, text);
			width = tl__terminal_columns(text->v, text->n);
		}
		l->width = width > l->width ? width : l->width;
	}
}

/*
 * Texts get what they need when there is room; else the short ones keep their width and the others share the rest, the
 * first, which mostly is a name, with twice the weight.
 */
static void share_room(layout *l, size_t n, size_t width)
{
	size_t taken = INDENT, texts = 0;
	for (size_t i = 0; i < n; i++) {
		taken += l[i].number ? l[i].width + GAP : 0;
		texts += !l[i].number;
	}
	size_t gaps = texts > 1 ? (texts - 1) * GAP : 0;
	size_t room = width > taken + gaps + texts * LEAST_TEXT ? width - taken - gaps : texts * LEAST_TEXT;
	size_t shares = texts + (n && !l[0].number ? 1 : 0);
	for (bool changed = true; changed && shares;) {
		size_t fair = room / shares;
		changed = false;
		for (size_t i = 0; i < n && !changed; i++) {
			size_t weight = i == 0 ? 2 : 1;
			if (l[i].number || l[i].settled || l[i].width > fair * weight)
				continue;
			room -= l[i].width;
			shares -= weight;
			l[i].settled = changed = true;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!l[i].number && !l[i].settled)
			l[i].width = room / shares * (i == 0 ? 2 : 1);
}

/* `cut`: see tl__alike_cuts. */
static void put_text(tl_buf *out, const layout *l, const char *text, size_t n, uint32_t cut)
{
	size_t used = cut == TL_CUT_END      ? tl__terminal_put_cut(out, text, n, l->width)
		      : cut == TL_CUT_MIDDLE ? tl__terminal_put_parts(out, text, n, l->width, SIZE_MAX)
					     : tl__terminal_put_parts(out, text, n, l->width, cut);
	tl__terminal_blanks(out, l->width - used);
}

static void put_number(tl_buf *out, const layout *l, const char *text)
{
	size_t n = strlen(text);
	tl__terminal_blanks(out, l->width - tl__terminal_columns(text, n));
	tl__terminal_put(out, text, n);
}

/* Blanks at the end of a line help nobody. */
static void end_line(tl_buf *out)
{
	while (out->n && out->v[out->n - 1] == ' ')
		out->n--;
	tl__buf_putc(out, '\n');
}

static void put_head(tl_buf *out, layout *l, size_t n, const tl_text_style *style)
{
	if (style->colour)
		tl__buf_puts(out, "\033[1m");
	for (size_t i = 0; i < n; i++) {
		size_t width = l[i].width;
		l[i].width += i == 0 ? INDENT : 0;
		tl__terminal_blanks(out, i == 0 ? 0 : GAP);
		if (l[i].number)
			put_number(out, &l[i], l[i].head);
		else
			put_text(out, &l[i], l[i].head, strlen(l[i].head), TL_CUT_END);
		l[i].width = width;
	}
	if (style->colour)
		tl__buf_puts(out, "\033[0m");
	end_line(out);
}

static void put_row(tl_buf *out, const tl_table *table, const layout *l, size_t n, size_t row, tl_buf *text)
{
	tl__terminal_blanks(out, INDENT);
	for (size_t i = 0; i < n; i++) {
		char number[48];
		tl__terminal_blanks(out, i == 0 ? 0 : GAP);
		if (l[i].number) {
			tl__table_number_text(number, table, l[i].column, row, l[i].decimals);
			put_number(out, &l[i], number);
			continue;
		}
		tl__buf_clear(text);
		tl__cell_text(table, &table->columns.v[l[i].column], row, text);
		put_text(out, &l[i], text->v, text->n, l[i].cuts ? l[i].cuts[row] : TL_CUT_END);
	}
	end_line(out);
}

/* Names are cut where that tells them apart. */
static void find_cuts(tl_buf *out, const tl_table *table, layout *l, size_t n, size_t rows)
{
	for (size_t i = 0; i < n; i++)
		if (!l[i].number && tl__alike_cuts(&l[i].cuts, table, (size_t)l[i].column, rows, l[i].width) < 0)
			out->failed = 1;
}

static void put_rows(tl_buf *out, const tl_table *table, layout *l, size_t n, size_t rows)
{
	tl_buf text = {0};
	find_cuts(out, table, l, n, rows);
	for (size_t r = 0; r < rows && !out->failed; r++)
		put_row(out, table, l, n, r, &text);
	out->failed |= text.failed;
	tl__buf_free(&text);
	for (size_t i = 0; i < n; i++)
		tl__free(l[i].cuts);
}

void tl__table_put_text(tl_buf *out, const tl_table *table, const tl_text_column *columns, size_t n,
			const tl_text_style *style)
{
	size_t rows = tl_table_rows(table);
	size_t width = style->width <= 0            ? DEFAULT_WIDTH
		       : style->width < LEAST_WIDTH ? LEAST_WIDTH
						    : (size_t)style->width;
	layout *l = tl__calloc(n + 1, sizeof *l);
	tl_buf text = {0};
	if (!l) {
		out->failed = 1;
		return;
	}
	rows = style->rows && style->rows < rows ? style->rows : rows;
	for (size_t i = 0; i < n; i++) {
		l[i] = (layout){.column = tl_table_find_column(table, columns[i].column),
				.head = columns[i].head ? columns[i].head : columns[i].column,
				.decimals = columns[i].decimals};
		l[i].number = is_number(table, l[i].column);
		measure(&l[i], table, rows, i == 0, &text);
	}
	out->failed |= text.failed;
	tl__buf_free(&text);
	share_room(l, n, width);
	put_head(out, l, n, style);
	put_rows(out, table, l, n, rows);
	tl__free(l);
}

int tl_table_text_view(char **out, const tl_table *table, const tl_text_column *columns, size_t n,
		       const tl_text_style *style, tl_error *err)
{
	static const tl_text_style defaults;
	tl_buf text = {0};
	*out = NULL;
	for (size_t i = 0; i < n; i++)
		if (tl_table_find_column(table, columns[i].column) < 0)
			return tl__fail(err, TL_ENOTFOUND, "the table has no column '%s'", columns[i].column);
	tl__table_put_text(&text, table, columns, n, style ? style : &defaults);
	/* handed over as it is: tl_buf memory comes from malloc */
	*out = tl__buf_text(&text) ? text.v : NULL;
	if (*out)
		return 0;
	tl__buf_free(&text);
	return tl__nomem(err);
}
