/* SPDX-License-Identifier: MIT */
/* Text made safe for a terminal: every byte at every place, and cutting to a width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/buf.h"
#include "util/terminal.h"

#define REPLACED "\xef\xbf\xbd"

static void expect(const char *text, size_t n, const char *shown)
{
	tl_buf out = {0};
	tl__terminal_put(&out, text, n);
	assert_string_equal(tl__buf_text(&out), shown);
	tl__buf_free(&out);
}

/* Every byte at every place of texts of every length up to a few words of the processor. */
static void every_byte_everywhere(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 20; n++)
		for (size_t at = 0; at < n; at++)
			for (int c = 0; c < 256; c++) {
				char text[20], shown[24];
				memset(text, ' ' + (int)(n % 2) * ('~' - ' '),
				       n); /* the first and the last that are shown */
				text[at] = (char)c;
				bool plain = c >= ' ' && c < 0x7f; /* a byte above is no UTF-8 on its own */
				size_t width = plain ? 1 : sizeof REPLACED - 1;
				memcpy(shown, text, at);
				memcpy(shown + at, plain ? &text[at] : REPLACED, width);
				memcpy(shown + at + width, text + at + 1, n - at - 1);
				shown[n - 1 + width] = '\0';
				expect(text, n, shown);
			}
}

static void characters_that_are_no_ascii(void **state)
{
	(void)state;
	expect("aten::µs\xe2\x82\xac 12345678", 21, "aten::µs\xe2\x82\xac 12345678");
	expect("\x1b[31mred", 8, REPLACED "[31mred");
	expect("a\xe2\x80\xaewrong way", 13, "a" REPLACED "wrong way"); /* right-to-left override */
	expect("a\xc2\x85z", 4, "a" REPLACED "z");                      /* C1 control */
	expect("", 0, "");
}

static void expect_parts(const char *text, size_t room, size_t from, const char *shown)
{
	tl_buf out = {0};
	size_t used = tl__terminal_put_parts(&out, text, strlen(text), room, from);
	assert_string_equal(tl__buf_text(&out), shown);
	assert_true(used <= room);
	tl__buf_free(&out);
}

#define DOTS "\xe2\x80\xa6"

static void two_parts(void **state)
{
	(void)state;
	expect_parts("0123456789", 10, SIZE_MAX, "0123456789"); /* there is room */
	expect_parts("0123456789", 10, 7, "0123456789");
	expect_parts("0123456789", 9, SIZE_MAX, "0123" DOTS "6789");
	expect_parts("0123456789", 8, SIZE_MAX, "0123" DOTS "789"); /* 4, the ellipsis, 3 */
	expect_parts("0123456789abcdef", 9, 8, "0123" DOTS "89a" DOTS);
	expect_parts("0123456789abcdef", 9, 12, "0123" DOTS "cdef");
	expect_parts("0123456789abcdef", 9, 14, "0123" DOTS "cdef"); /* filled up */
	expect_parts("0123456789abcdef", 9, 4, "01234567" DOTS);     /* nothing is left out there */
	expect_parts("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x82\xac", 3, SIZE_MAX, "\xc3\xa4" DOTS "\xe2\x82\xac");
	expect_parts("0123456789", 2, SIZE_MAX, "0" DOTS);
	expect_parts("0123456789", 1, SIZE_MAX, DOTS);
}

/* Widths are those of Unicode's East_Asian_Width (W, F: 2) and of nonspacing marks (0). */
static void columns_of_characters(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t columns;
	} cases[] = {
		{"", 0},
		{"aten::mm", 8},
		{"\xc2\xb5s", 2}, /* U+00B5 */
		{"Gr\xc3\xb6\xc3\x9f"
		 "e",
		 5},                             /* U+00F6, U+00DF */
		{"e\xcc\x81", 1},                /* e and U+0301 on it */
		{"\xe6\xb3\xa8\xe6\x84\x8f", 4}, /* U+6CE8, U+610F */
		{"\xef\xbc\xa6", 2},             /* U+FF26, fullwidth F */
		{"\xef\xbd\xb1", 1},             /* U+FF71, halfwidth katakana */
		{"\xea\xb0\x80", 2},             /* U+AC00, Hangul */
		{"\xf0\x9f\x9a\x80", 2},         /* U+1F680, a rocket */
		{"\xe2\x80\x8b", 0},             /* U+200B, of no width */
		{"\xe2\x94\x94\xe2\x94\x80", 2}, /* U+2514, U+2500: lines of trees */
		{"\xe2\x80\xa6", 1},             /* U+2026, our ellipsis */
		{"\xff\xfe", 2},                 /* no UTF-8 */
		{"\xe6\xb3", 2},                 /* cut off */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(tl__terminal_columns(cases[i].text, strlen(cases[i].text)), cases[i].columns);
}

#define WIDE "\xe6\xb3\xa8"
#define MARKED "e\xcc\x81"

static void wide_characters_are_cut_whole(void **state)
{
	(void)state;
	expect_parts(WIDE WIDE WIDE, 6, SIZE_MAX, WIDE WIDE WIDE);
	expect_parts(WIDE WIDE WIDE, 5, SIZE_MAX, WIDE DOTS WIDE); /* 2, the ellipsis, 2 */
	expect_parts(WIDE WIDE WIDE, 4, SIZE_MAX, WIDE DOTS);      /* of the second part one column is too few */
	expect_parts(WIDE WIDE WIDE, 2, SIZE_MAX, DOTS);
	expect_parts(MARKED MARKED MARKED MARKED, 3, SIZE_MAX, MARKED DOTS MARKED);
	assert_int_equal(tl__terminal_head(WIDE "a", 4, 1), 0);
	assert_int_equal(tl__terminal_head(WIDE "a", 4, 2), 3);
	assert_int_equal(tl__terminal_end(WIDE "a", 4, 2), 3);
	assert_int_equal(tl__terminal_end("a" MARKED, 4, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_everywhere),
		cmocka_unit_test(characters_that_are_no_ascii),
		cmocka_unit_test(two_parts),
		cmocka_unit_test(columns_of_characters),
		cmocka_unit_test(wide_characters_are_cut_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
