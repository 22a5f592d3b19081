/* SPDX-License-Identifier: MIT */
#include "util/terminal.h"

#include <string.h>

#include "util/utf8.h"

/* One character that is safe to show; returns the bytes that it took. */
static size_t put_character(tl_buf *out, const char *text, size_t n)
{
	char utf8[4];
	uint32_t code;
	size_t taken = tl__utf8_decode(text, n, &code);
	if (!taken || code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
	    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
		code = 0xfffd;
	tl__buf_put(out, utf8, tl__utf8_encode(utf8, code));
	return taken ? taken : 1;
}

/* Bytes at the front that are shown as they are, which nearly all are: eight at a time, then one at a time. */
static size_t plain_run(const char *text, size_t n)
{
	const uint64_t each = UINT64_C(0x0101010101010101), top = each << 7;
	size_t run = 0;
	for (uint64_t x; n - run >= sizeof x; run += sizeof x) {
		memcpy(&x, text + run, sizeof x);
		/* a byte above 126, or one below a blank */
		if (((x | (x + each)) & top) || ((x - each * ' ') & ~x & top))
			break;
	}
	while (run < n && text[run] >= ' ' && text[run] < 0x7f)
		run++;
	return run;
}

void tl__terminal_put(tl_buf *out, const char *text, size_t n)
{
	for (size_t i = 0, run; i < n; i += run) {
		run = plain_run(text + i, n - i);
		if (run)
			tl__buf_put(out, text + i, run);
		else
			run = put_character(out, text + i, n - i);
	}
}

#define ELLIPSIS "\xe2\x80\xa6"

/* So many characters of a text that has them. */
static void put_characters(tl_buf *out, const char *text, size_t n, size_t characters)
{
	for (size_t i = 0, k = 0; k < characters; k++)
		i += put_character(out, text + i, n - i);
}

size_t tl__terminal_put_cut(tl_buf *out, const char *text, size_t n, size_t room)
{
	size_t columns = tl__utf8_count(text, n);
	size_t keep = columns <= room ? columns : room ? room - 1 : 0;
	put_characters(out, text, n, keep);
	if (columns <= room)
		return columns;
	tl__buf_puts(out, ELLIPSIS);
	return keep + 1;
}

/* Columns of the head when the text is longer than `room`. */
static size_t head_columns(size_t room)
{
	return room / 2;
}

size_t tl__terminal_rest(size_t room)
{
	return room ? room - 1 - head_columns(room) : 0;
}

size_t tl__terminal_put_parts(tl_buf *out, const char *text, size_t n, size_t room, size_t from)
{
	size_t columns = tl__utf8_count(text, n), head = head_columns(room), rest = tl__terminal_rest(room);
	size_t start = columns > room && from > columns - rest ? columns - rest : from;
	if (columns <= room || start <= head) /* nothing is left out before `from` */
		return tl__terminal_put_cut(out, text, n, room);
	put_characters(out, text, n, head);
	tl__buf_puts(out, ELLIPSIS);
	size_t skip = tl__utf8_prefix(text, n, start);
	return head + 1 + tl__terminal_put_cut(out, text + skip, n - skip, rest);
}

void tl__terminal_blanks(tl_buf *out, size_t n)
{
	while (n--)
		tl__buf_putc(out, ' ');
}
