/* SPDX-License-Identifier: MIT */
#include "table/alike.h"

#include <stdlib.h>
#include <string.h>

#include "table/table.h"
#include "util/alloc.h"
#include "util/terminal.h"
#include "util/utf8.h"

/* What is shown before the first difference, so that it can be read. */
enum { CONTEXT = 3 };

typedef struct piece {
	const char *text;
	size_t n, row;
} piece;
typedef TL_VEC(piece) pieces;

static int compare_pieces(const void *a, const void *b)
{
	const piece *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
	return order ? order : (x->n > y->n) - (x->n < y->n);
}

static bool same(const piece *a, const piece *b)
{
	return a->n == b->n && !memcmp(a->text, b->text, a->n);
}

static piece head_of(const piece *p, size_t columns)
{
	return (piece){p->text, tl__terminal_head(p->text, p->n, columns), p->row};
}

/* The texts that are cut, one after the other in `text`. */
static int collect(pieces *out, tl_buf *text, const tl_table *table, size_t column, size_t rows, size_t width)
{
	for (size_t row = 0; row < rows; row++) {
		size_t start = text->n;
		tl__cell_text(table, &table->columns.v[column], row, text);
		if (text->failed)
			return TL_ENOMEM;
		if (text->n - start <= width || tl__terminal_columns(text->v + start, text->n - start) <= width)
			text->n = start;
		else
			TL_TRY(TL_VEC_PUSH(out, ((piece){NULL, text->n - start, row})));
	}
	const char *at = text->v;
	for (size_t i = 0; i < out->n; i++, at += out->v[i - 1].n)
		out->v[i].text = at;
	return 0;
}

/* Whether the ends of different texts differ. `end` has room for n pieces. */
static bool differ_at_end(const piece *p, size_t n, piece *end, size_t columns)
{
	for (size_t i = 0; i < n; i++) {
		size_t bytes = tl__terminal_end(p[i].text, p[i].n, columns);
		end[i] = (piece){p[i].text + bytes, p[i].n - bytes, i};
	}
	qsort(end, n, sizeof *end, compare_pieces);
	for (size_t i = 1; i < n; i++)
		if (same(&end[i - 1], &end[i]) && !same(&p[end[i - 1].row], &p[end[i].row]))
			return false;
	return true;
}

/* Characters before the first difference of two texts. */
static size_t common_head(const piece *a, const piece *b)
{
	size_t n = 0;
	while (n < a->n && n < b->n && a->text[n] == b->text[n])
		n++;
	while (n && n < a->n && ((unsigned char)a->text[n] & 0xc0) == 0x80)
		n--; /* to the start of the character */
	return tl__utf8_count(a->text, n);
}

/* Sorted texts with one head, some of which differ. */
static void cut_group(uint32_t *out, const piece *p, size_t n, piece *end, size_t width)
{
	uint32_t cut = TL_CUT_MIDDLE;
	if (!differ_at_end(p, n, end, tl__terminal_rest(width))) {
		size_t common = common_head(&p[0], &p[n - 1]);
		cut = (uint32_t)(common > CONTEXT ? common - CONTEXT : 0);
	}
	for (size_t i = 0; i < n; i++)
		out[p[i].row] = cut;
}

static int cut_groups(uint32_t **out, pieces *p, size_t rows, size_t width)
{
	piece *end = NULL;
	qsort(p->v, p->n, sizeof *p->v, compare_pieces);
	for (size_t i = 0, next; i < p->n; i = next) {
		piece head = head_of(&p->v[i], width - 1), other;
		for (next = i + 1; next < p->n; next++) {
			other = head_of(&p->v[next], width - 1);
			if (!same(&head, &other))
				break;
		}
		if (same(&p->v[i], &p->v[next - 1]))
			continue;
		if (!end) {
			end = tl__malloc(p->n * sizeof *end);
			*out = tl__malloc(rows * sizeof **out);
			if (!end || !*out) {
				tl__free(end);
				return TL_ENOMEM;
			}
			memset(*out, 0xff, rows * sizeof **out); /* TL_CUT_END */
		}
		cut_group(*out, p->v + i, next - i, end, width);
	}
	tl__free(end);
	return 0;
}

int tl__alike_cuts(uint32_t **out, const tl_table *table, size_t column, size_t rows, size_t width)
{
	pieces found = {0};
	tl_buf text = {0};
	*out = NULL;
	int code = width ? collect(&found, &text, table, column, rows, width) : 0;
	if (code == 0 && found.n > 1)
		code = cut_groups(out, &found, rows, width);
	TL_VEC_FREE(&found);
	tl__buf_free(&text);
	if (code < 0) {
		tl__free(*out);
		*out = NULL;
	}
	return code;
}
