/* SPDX-License-Identifier: MIT */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_everywhere),
		cmocka_unit_test(characters_that_are_no_ascii),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
