/* SPDX-License-Identifier: MIT */
#include "util/terminal.h"

#include <string.h>

#include "util/utf8.h"

/* ---- columns ---- */

typedef struct range {
	uint32_t first, last;
} range;

/* Marks and the like, which take no column of their own. */
static const range no_columns[] = {
	{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},     {0x64b, 0x65f},
	{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x2060, 0x2064},   {0x20d0, 0x20f0},
	{0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

/* East Asian Wide and Fullwidth of Unicode's standard annex 11, and what is shown as a picture. */
static const range two_columns[] = {
	{0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
	{0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274c, 0x274c},
	{0x2753, 0x2755},   {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},
	{0x3041, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
	{0xfe30, 0xfe6f},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
};

static bool is_in(const range *ranges, size_t n, uint32_t code)
{
	size_t low = 0;
	while (low < n) {
		size_t middle = low + (n - low) / 2;
		if (code > ranges[middle].last)
			low = middle + 1;
		else if (code < ranges[middle].first)
			n = middle;
		else
			return true;
	}
	return false;
}

/* Columns of the character at `text`, and its length in bytes. */
static size_t character(size_t *bytes, const char *text, size_t n)
{
	uint32_t code = 0;
	*bytes = 1;
	if ((uint8_t)*text < 0x80)
		return 1;
	size_t taken = tl__utf8_decode(text, n, &code);
	if (!taken)
		return 1;
	*bytes = taken;
	if (is_in(no_columns, sizeof no_columns / sizeof *no_columns, code))
		return 0;
	return is_in(two_columns, sizeof two_columns / sizeof *two_columns, code) ? 2 : 1;
}

size_t tl__terminal_columns(const char *text, size_t n)
{
	size_t columns = 0;
	for (size_t i = 0, bytes; i < n; i += bytes)
		columns += character(&bytes, text + i, n - i);
	return columns;
}

size_t tl__terminal_head(const char *text, size_t n, size_t columns)
{
	size_t i = 0, used = 0;
	for (size_t bytes; i < n; i += bytes) {
		used += character(&bytes, text + i, n - i);
		if (used > columns)
			break;
	}
	return i;
}

size_t tl__terminal_end(const char *text, size_t n, size_t columns)
{
	size_t i = 0, left = tl__terminal_columns(text, n);
	for (size_t bytes; i < n && left > columns; i += bytes)
		left -= character(&bytes, text + i, n - i);
	/* a mark without its character says nothing */
	for (size_t bytes; i < n && left && character(&bytes, text + i, n - i) == 0;)
		i += bytes;
	return i;
}

/* ---- text ---- */

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

size_t tl__terminal_put_cut(tl_buf *out, const char *text, size_t n, size_t room)
{
	size_t columns = tl__terminal_columns(text, n);
	if (columns <= room) {
		tl__terminal_put(out, text, n);
		return columns;
	}
	size_t keep = tl__terminal_head(text, n, room ? room - 1 : 0);
	tl__terminal_put(out, text, keep);
	tl__buf_puts(out, ELLIPSIS);
	return tl__terminal_columns(text, keep) + 1;
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
	size_t head = head_columns(room), rest = tl__terminal_rest(room);
	size_t start = tl__terminal_end(text, n, rest), wanted = from == SIZE_MAX ? n : tl__utf8_prefix(text, n, from);
	start = wanted < start ? wanted : start;
	if (tl__terminal_columns(text, n) <= room || tl__terminal_columns(text, start) <= head)
		return tl__terminal_put_cut(out, text, n, room); /* nothing is left out before `from` */
	size_t bytes = tl__terminal_head(text, n, head);
	tl__terminal_put(out, text, bytes);
	tl__buf_puts(out, ELLIPSIS);
	return tl__terminal_columns(text, bytes) + 1 + tl__terminal_put_cut(out, text + start, n - start, rest);
}

void tl__terminal_blanks(tl_buf *out, size_t n)
{
	while (n--)
		tl__buf_putc(out, ' ');
}
