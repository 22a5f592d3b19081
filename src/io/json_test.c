/* SPDX-License-Identifier: MIT */
/* The pull reader: extents of values, what it refuses and where, at every position of a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "io/json.h"

/* The text with the padding that the reader wants, `shift` bytes into a heap block. */
static char *padded(const char *text, size_t n, size_t shift)
{
	char *block = malloc(shift + n + TL_JSON_PAD);
	assert_non_null(block);
	memset(block, ' ', shift);
	memcpy(block + shift, text, n);
	memset(block + shift + n, 0, TL_JSON_PAD);
	return block;
}

/* Reads one value at every alignment. The type, and the length of the value in *used; ABSENT and *used = stop. */
static tl_json_type read_value(const char *text, size_t *used, uint8_t *flags)
{
	tl_json_type type = TL_JSON_ABSENT;
	size_t n = strlen(text);
	for (size_t shift = 0; shift < 40; shift++) {
		char *block = padded(text, n, shift), *start = block + shift;
		tl_json_scan scan = {.end = start + n};
		tl_json_token token = {0};
		const char *after = tl__json_scan_value(&scan, start, &token);
		tl_json_type now = after ? (tl_json_type)token.type : TL_JSON_ABSENT;
		size_t length = (size_t)((after ? after : scan.stop) - start);
		if (shift) {
			assert_int_equal(now, type);
			assert_int_equal(length, *used);
			assert_int_equal(token.flags, *flags);
		}
		type = now;
		*used = length;
		*flags = token.flags;
		free(block);
	}
	return type;
}

static void values(void **state)
{
	static const struct {
		const char *text;
		tl_json_type type;
		size_t used;
		uint8_t flags;
	} cases[] = {
		{"\"\"", TL_JSON_STRING, 2, 0},
		{"\"abc\",", TL_JSON_STRING, 5, 0},
		{"\"0123456789012345678901234567890123456789\"", TL_JSON_STRING, 42, 0},
		{"\"a\\\"b\\\\\"x", TL_JSON_STRING, 8, TL_JSON_ESCAPES},
		{"\"\\u00e9\"", TL_JSON_STRING, 8, TL_JSON_ESCAPES},
		{"\"\xc3\xa9\"", TL_JSON_STRING, 4, TL_JSON_HIGH},
		{"12}", TL_JSON_NUMBER, 2, 0},
		{"-2.5e-10,", TL_JSON_NUMBER, 8, 0},
		{"123456789012345678901234567890 ", TL_JSON_NUMBER, 30, TL_JSON_BIG_INTEGER},
		{"18446744073709551615", TL_JSON_NUMBER, 20, 0},
		{"18446744073709551616", TL_JSON_NUMBER, 20, TL_JSON_BIG_INTEGER},
		{"-9223372036854775808", TL_JSON_NUMBER, 20, 0},
		{"-9223372036854775809", TL_JSON_NUMBER, 20, TL_JSON_BIG_INTEGER},
		{"00000000000000000000000001", TL_JSON_NUMBER, 26, TL_JSON_ODD_NUMBER},
		{"0", TL_JSON_NUMBER, 1, 0},
		{"-0", TL_JSON_NUMBER, 2, 0},
		{"0.5", TL_JSON_NUMBER, 3, 0},
		{"1234567890123456.75", TL_JSON_NUMBER, 19, 0},
		{"01", TL_JSON_NUMBER, 2, TL_JSON_ODD_NUMBER},
		{"-01.5", TL_JSON_NUMBER, 5, TL_JSON_ODD_NUMBER},
		{"-.5", TL_JSON_NUMBER, 3, TL_JSON_ODD_NUMBER},
		{"7.", TL_JSON_NUMBER, 2, TL_JSON_ODD_NUMBER},
		{"123456789012345.", TL_JSON_NUMBER, 16, TL_JSON_ODD_NUMBER},
		{"1.e5", TL_JSON_NUMBER, 4, TL_JSON_ODD_NUMBER},
		{"1e", TL_JSON_NUMBER, 2, TL_JSON_NO_NUMBER},
		{"12-5", TL_JSON_NUMBER, 4, TL_JSON_NO_NUMBER},
		{"1.2.3", TL_JSON_NUMBER, 5, TL_JSON_NO_NUMBER},
		{"-", TL_JSON_NUMBER, 1, TL_JSON_NO_NUMBER},
		{"123456789012345678901234567890.5", TL_JSON_NUMBER, 32, 0},
		{"true]", TL_JSON_BOOL, 4, 0},
		{"false", TL_JSON_BOOL, 5, 0},
		{"null", TL_JSON_NULL, 4, 0},
		{"[]", TL_JSON_ARRAY, 2, 0},
		{"{}{}", TL_JSON_OBJECT, 2, 0},
		{"[[1, {\"a\": [\"]\", \"}\"]}], \"\\\"\"] ", TL_JSON_ARRAY, 30, TL_JSON_ESCAPES},
		{"{\"a\" : {\"b\":[1,2,[3]]}}", TL_JSON_OBJECT, 23, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t used;
		uint8_t flags;
		tl_json_type type = read_value(cases[i].text, &used, &flags);
		if (type != cases[i].type || used != cases[i].used || flags != cases[i].flags)
			fail_msg("%s: type %d, %zu bytes, flags %d", cases[i].text, type, used, flags);
	}
}

/* What is broken is refused where it breaks; what is cut off is refused at the end or behind it. */
static void refusals(void **state)
{
	static const struct {
		const char *text;
		size_t stop;
	} broken[] = {
		{"nul}", 3},        {"inf", 0},     {"\"a\\xb\" and more", 2},   {"\"a\tb\"", 2}, {"[\"a\"b\", 1]", 4},
		{"{\"a\": [1}", 8}, {"[1, {2]", 6}, {"\"\\u12g4 and more\"", 1}, {"", 0},         {"}", 0},
	};
	static const char *const cut[] = {"\"abc",     "\"abc\\", "\"abc\\u00", "[1, 2", "[\"a",
					  "{\"a\": {", "tru",     "[\"a\"",     NULL};
	size_t used;
	uint8_t flags;
	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		assert_int_equal(read_value(broken[i].text, &used, &flags), TL_JSON_ABSENT);
		assert_int_equal(used, broken[i].stop);
	}
	for (const char *const *text = cut; *text; text++) {
		assert_int_equal(read_value(*text, &used, &flags), TL_JSON_ABSENT);
		assert_true(used >= strlen(*text));
	}
}

static void blanks(void **state)
{
	(void)state;
	for (size_t n = 0; n < 100; n++) {
		char text[128 + TL_JSON_PAD] = {0};
		for (size_t i = 0; i < n; i++)
			text[i] = " \n\t\r "[(i * 7) % 5];
		text[n] = 'x';
		assert_ptr_equal(tl__json_blank(text), text + n);
	}
}

/* The masks against their definition, byte by byte, for all bytes at all places. */
static void masks(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++)
		for (unsigned at = 0; at < TL_JSON_BLOCK; at++) {
			char text[TL_JSON_BLOCK];
			uint32_t blank = 0, string = 0, high = 0, brackets = 0, number = 0, other = 0, got;
			for (unsigned i = 0; i < TL_JSON_BLOCK; i++) {
				uint8_t b = i == at ? (uint8_t)c : (uint8_t)(c + 37 * (int)(i - at));
				uint32_t bit = UINT32_C(1) << i;
				text[i] = (char)b;
				blank |= b == ' ' || b == '\n' ? bit : 0;
				string |= b == '"' || b == '\\' || b < 0x20 ? bit : 0;
				high |= b > 0x7f ? bit : 0;
				brackets |= !b || strchr("[]{}\"", b) ? bit : 0;
				number |= b && strchr("0123456789+-.eE", b) ? 0 : bit;
				other |= b >= '0' && b <= '9' ? 0 : bit;
			}
			assert_int_equal(tl__json_mask_blank(text), blank);
			assert_int_equal(tl__json_mask_string(text, &got), string);
			assert_int_equal(got, high);
			assert_int_equal(tl__json_mask_brackets(text), brackets);
			assert_int_equal(tl__json_mask_number_end(text, &got), number);
			assert_int_equal(got, other);
		}
}

static void check_compact(const char *text, const char *expected, unsigned odd)
{
	tl_buf out = {0};
	tl__buf_puts(&out, "before ");
	assert_int_equal(tl__json_compact(&out, text, strlen(text)), odd);
	assert_string_equal(tl__buf_text(&out) + 7, expected);
	tl__buf_free(&out);

	/* the fast way gives the same or gives up */
	char *block = padded(text, strlen(text), 0), *fast = malloc(strlen(text) + 2 * TL_JSON_PAD), *to = fast;
	uint8_t flags;
	assert_non_null(fast);
	const char *after = tl__json_scan_compact(block, block + strlen(text), &to, &flags);
	assert_int_equal(after != NULL, !odd && (*text == '[' || *text == '{'));
	if (after) {
		assert_int_equal(to - fast, strlen(expected));
		assert_memory_equal(fast, expected, strlen(expected));
	}
	free(fast);
	free(block);
}

static void compact(void **state)
{
	(void)state;
	check_compact("[\n  1,\n  -2.5e+3 ,\t\"a b \\\" , ]\"\r\n]", "[1,-2.5e+3,\"a b \\\" , ]\"]", 0);
	check_compact("{ \"k\" : [ true, false , null ], \"l\" : { } }", "{\"k\":[true,false,null],\"l\":{}}", 0);
	check_compact("[\"0123456789abcdef0123456789abcdef\\\\\", 12345678901234567890.123456789]",
		      "[\"0123456789abcdef0123456789abcdef\\\\\",12345678901234567890.123456789]", 0);
	check_compact("\"just a text\"", "\"just a text\"", 0);
	check_compact("[nan, -inf, Infinity, N/A]", "[null,null,null,null]", TL_JSON_ODD_WORD);
	check_compact("[1, 2, ]", "[1,2]", TL_JSON_ODD_COMMA);
	check_compact("[,1,,2]", "[1,2]", TL_JSON_ODD_COMMA);
	check_compact("[1 2 \"a\" [3] {}]", "[1,2,\"a\",[3],{}]", TL_JSON_ODD_COMMA);
	check_compact("[[][]{}\"a\"1]", "[[],[],{},\"a\",1]", TL_JSON_ODD_COMMA);
	check_compact("[x, ]", "[null]", TL_JSON_ODD_WORD | TL_JSON_ODD_COMMA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values), cmocka_unit_test(refusals), cmocka_unit_test(blanks),
		cmocka_unit_test(masks),  cmocka_unit_test(compact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
