/* SPDX-License-Identifier: MIT */
/* UTF-8: every code point there and back, what is none, counting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "util/utf8.h"

/* Every code point comes back from its bytes, and surrogates never appear. */
static void encoding_and_decoding_agree(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 0x110010; code++) {
		char bytes[4];
		uint32_t read = 0;
		bool valid = code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
		size_t n = tl__utf8_encode(bytes, code);
		assert_int_equal(n, !valid ? 3 : code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
		assert_int_equal(tl__utf8_decode(bytes, n, &read), n);
		assert_int_equal(read, valid ? code : 0xfffd);
		assert_int_equal(tl__utf8_decode(bytes, n - 1, &read), 0);
	}
}

static void what_is_not_utf8(void **state)
{
	(void)state;
	const char *const bad[] = {
		"\x80",             /* continuation alone */
		"\xc0\x80",         /* NUL in two bytes */
		"\xc1\xbf",         /* 'DEL' in two */
		"\xe0\x9f\xbf",     /* too long by a byte */
		"\xed\xa0\x80",     /* surrogate */
		"\xf0\x8f\xbf\xbf", /* too long */
		"\xf4\x90\x80\x80", /* past U+10FFFF */
		"\xf5\x80\x80\x80",
		"\xff",
		"\xe2\x28\xa1",
		"\xc3(",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		uint32_t code;
		assert_int_equal(tl__utf8_decode(bad[i], strlen(bad[i]), &code), 0);
	}
}

static void counting(void **state)
{
	(void)state;
	const char *text = "aµ€😀\xff"
			   "b"; /* 1 + 2 + 3 + 4 bytes, one that is no UTF-8, one more */
	size_t n = strlen(text);
	const size_t ends[] = {0, 1, 3, 6, 10, 11, 12, 12};
	assert_int_equal(n, 12);
	assert_int_equal(tl__utf8_count(text, n), 6);
	assert_int_equal(tl__utf8_count(text, 0), 0);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		assert_int_equal(tl__utf8_prefix(text, n, i), ends[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoding_and_decoding_agree),
		cmocka_unit_test(what_is_not_utf8),
		cmocka_unit_test(counting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
