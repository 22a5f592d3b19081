/* SPDX-License-Identifier: MIT */
#include "io/csv_reader.h"

#include "io/source.h"
#include "util/alloc.h"
#include "util/buf.h"

typedef enum place {
	FIELD_START,
	IN_PLAIN,
	IN_QUOTES,
	QUOTE_IN_QUOTES, /* the end of the field, or the first of two */
} place;

typedef struct csv_state {
	place at;
	bool row_open; /* something of the present row was seen */
	bool after_cr; /* a LF that follows belongs to it */
	size_t row, column;
	size_t line, quote_line; /* from 1 */
	tl_buf field;
	tl_cell_fn each;
	void *user;
	tl_error *err;
} csv_state;

static int end_field(csv_state *s)
{
	const char *text = tl__buf_text(&s->field);
	if (!text)
		return tl__nomem(s->err);
	TL_TRY(s->each(s->user, s->row, s->column, text, s->field.n, s->err));
	tl__buf_clear(&s->field);
	s->column++;
	s->at = FIELD_START;
	return 0;
}

static int end_row(csv_state *s)
{
	s->line++;
	if (!s->row_open)
		return 0;
	TL_TRY(end_field(s));
	s->row++;
	s->column = 0;
	s->row_open = false;
	return 0;
}

static int take_special(csv_state *s, char c)
{
	switch (c) {
	case ',':
		s->row_open = true;
		return end_field(s);
	case '"':
		s->row_open = true;
		if (s->at != FIELD_START) {
			tl__buf_putc(&s->field, '"'); /* in the middle of a plain field it is a character */
			return 0;
		}
		s->at = IN_QUOTES;
		s->quote_line = s->line;
		return 0;
	default:
		s->after_cr = c == '\r';
		return end_row(s);
	}
}

static int take_byte(csv_state *s, char c)
{
	bool second_half = s->after_cr && c == '\n';
	s->after_cr = false;
	if (second_half)
		return 0;
	if (s->at == IN_QUOTES) {
		if (c == '"')
			s->at = QUOTE_IN_QUOTES;
		else
			tl__buf_putc(&s->field, c);
		s->line += c == '\n';
		return 0;
	}
	if (s->at == QUOTE_IN_QUOTES) {
		s->at = c == '"' ? IN_QUOTES : IN_PLAIN;
		if (c == '"') {
			tl__buf_putc(&s->field, '"');
			return 0;
		}
	}
	if (c == ',' || c == '"' || c == '\n' || c == '\r')
		return take_special(s, c);
	s->row_open = true;
	s->at = IN_PLAIN;
	tl__buf_putc(&s->field, c);
	return 0;
}

static int take_block(csv_state *s, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* most bytes are plain ones: those go in one by one copy */
		if (s->at == IN_PLAIN || s->at == IN_QUOTES) {
			size_t run = i;
			if (s->at == IN_QUOTES)
				while (run < n && text[run] != '"' && text[run] != '\n')
					run++;
			else
				while (run < n && text[run] != ',' && text[run] != '"' && text[run] != '\n' &&
				       text[run] != '\r')
					run++;
			tl__buf_put(&s->field, text + i, run - i);
			i = run;
			if (i == n)
				break;
		}
		TL_TRY(take_byte(s, text[i]));
	}
	return s->field.failed ? tl__nomem(s->err) : 0;
}

static int read_all(csv_state *s, tl_source *source)
{
	char *block = tl__malloc(65536);
	int64_t n = 0;
	int code = block ? 0 : tl__nomem(s->err);
	size_t mark = 0; /* bytes of the byte order mark that were seen */

	while (code == 0 && (n = tl__source_read(source, block, 65536, s->err)) > 0) {
		size_t skip = 0;
		for (; mark < 3 && skip < (size_t)n && block[skip] == "\xef\xbb\xbf"[mark]; mark++)
			skip++;
		if (mark && mark < 3 && skip < (size_t)n)
			code = take_block(s, "\xef\xbb\xbf", mark); /* it only began like one */
		if (skip < (size_t)n)
			mark = 3;
		if (code == 0)
			code = take_block(s, block + skip, (size_t)n - skip);
	}
	tl__free(block);
	return code < 0 ? code : n < 0 ? (int)n : 0;
}

int tl__csv_read(const char *path, tl_cell_fn each, void *user, tl_error *err)
{
	csv_state s = {.line = 1, .each = each, .user = user, .err = err};
	tl_source *source;
	tl_source_state state;

	TL_TRY(tl__source_open(&source, path, false, err));
	int code = read_all(&s, source);
	tl__source_state(source, &state);
	tl__source_close(source);
	if (code == 0 && (state.truncated || state.damaged))
		code = tl__fail(err, TL_EFORMAT, "%s", *state.note ? state.note : "the file is cut off");
	else if (code == 0 && s.at == IN_QUOTES)
		code = tl__fail(err, TL_EFORMAT, "the quotes that open in line %zu do not close", s.quote_line);
	if (code == 0)
		code = end_row(&s);
	tl__buf_free(&s.field);
	if (code < 0 && code != TL_ENOMEM)
		tl__error_where(err, path, -1);
	return code;
}
