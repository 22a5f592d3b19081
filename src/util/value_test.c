/* SPDX-License-Identifier: MIT */
/* Values: JSON in, Python's spelling and JSON out, limits, equality, failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracelens/common.h"
#include "util/no_memory.h"
#include "util/value.h"

static const tl_value *parse(tl_arena *arena, const char *text, bool tuples)
{
	const tl_value *value = NULL;
	assert_int_equal(tl__value_parse(arena, text, strlen(text), tuples, &value), 0);
	return value;
}

static void reads_json_and_prints_python_and_json(void **state)
{
	(void)state;
	const struct {
		const char *json;
		bool tuples;
		const char *repr, *again;
	} cases[] = {
		{"[[512],[141,512],[],[]]", true, "((512,), (141, 512), (), ())", "[[512], [141, 512], [], []]"},
		{"[[512],[141,512],[],[]]", false, "[[512], [141, 512], [], []]", "[[512], [141, 512], [], []]"},
		{" { \"k\" : 1 , \"l\" : { } , \"k2\":[ ] } ", true, "{'k': 1, 'l': {}, 'k2': ()}",
		 "{\"k\": 1, \"l\": {}, \"k2\": []}"},
		{"[null,true,false,\"\",0.5,10.0,-3]", false, "[None, True, False, '', 0.5, 10.0, -3]",
		 "[null, true, false, \"\", 0.5, 10.0, -3]"},
		{"123456789012345678901234567890", false, "123456789012345678901234567890",
		 "123456789012345678901234567890"},
		{"-9223372036854775808", false, "-9223372036854775808", "-9223372036854775808"},
		{"[NaN,-Infinity,Infinity,1e400]", false, "[nan, -inf, inf, inf]", "[null, null, null, null]"},
		{"1e-7", false, "1e-07", "1e-07"},
		{"\"\\u00b5s \\ud83d\\ude00 \\ud800\"", false, "'µs 😀 \xef\xbf\xbd'", "\"µs 😀 \xef\xbf\xbd\""},
		{"\"C:\\\\dir\\qfile\"", false, "'C:\\\\dir\\\\qfile'", "\"C:\\\\dir\\\\qfile\""},
		{"\"\\b\\f\\n\\r\\t\\/\\\"\"", false, "'\\x08\\x0c\\n\\r\\t/\"'", "\"\\u0008\\u000c\\n\\r\\t/\\\"\""},
		{"\"it's\"", false, "\"it's\"", "\"it's\""},
		{"\"it's \\\"so\\\"\"", false, "'it\\'s \"so\"'", "\"it's \\\"so\\\"\""},
		{"\"\\u00a0\\u00ad\\u200b\\ue000\\u20ac\\u007f\"", false, "'\\xa0\\xad\\u200b\\ue000€\\x7f'",
		 "\"\xc2\xa0\xc2\xad\xe2\x80\x8b\xee\x80\x80€\x7f\""},
		{"\"\\u0000x\"", false, "'\\x00x'", "\"\\u0000x\""},
		{"\"bad \xff\"", false, "'bad \xef\xbf\xbd'", "\"bad \xef\xbf\xbd\""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_arena arena = {0};
		tl_buf repr = {0}, json = {0};
		const tl_value *value = parse(&arena, cases[i].json, cases[i].tuples);
		tl__value_repr(&repr, value);
		tl__value_json(&json, value);
		assert_string_equal(tl__buf_text(&repr), cases[i].repr);
		assert_string_equal(tl__buf_text(&json), cases[i].again);
		tl__buf_free(&repr);
		tl__buf_free(&json);
		tl__arena_free(&arena);
	}
}

static void str_prints_a_text_as_it_is(void **state)
{
	(void)state;
	tl_buf out = {0};
	tl_value text = TL_VALUE_STRING("a 'b'\n", 6);
	tl__value_str(&out, &text);
	tl__value_str(&out, NULL);
	tl_value list = {.kind = TL_V_LIST, .n = 1, .items = &text};
	tl__value_str(&out, &list);
	assert_string_equal(tl__buf_text(&out), "a 'b'\nNone[\"a 'b'\\n\"]");
	tl__buf_free(&out);
}

static void keys_that_are_no_texts(void **state)
{
	(void)state;
	tl_buf out = {0};
	const tl_value items[] = {TL_VALUE_INT(1), TL_VALUE_BOOL(true), TL_VALUE_NONE, TL_VALUE_INT(2)};
	const tl_value dict = {.kind = TL_V_DICT, .n = 2, .items = items};
	tl__value_repr(&out, &dict);
	tl__value_json(&out, &dict);
	assert_string_equal(tl__buf_text(&out), "{1: True, None: 2}{\"1\": true, \"None\": 2}");
	tl__buf_free(&out);
}

static void refuses_what_is_not_one_value(void **state)
{
	(void)state;
	const char *const bad[] = {
		"",        " ",        "[",     "]",   "[1",         "[1,",    "[1,]", "[,1]", "{",         "{\"a\"",
		"{\"a\":", "{\"a\":}", "{1:2}", "[1}", "{\"a\":1,}", "\"open", "\"\\", "nul",  "1 2",       "1-2",
		"+",       "--1",      "1.2.3", "1e",  "tru",        "[1 2]",  "'a'",  "{]",   "{\"a\":1]", "}",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tl_arena arena = {0};
		const tl_value *value = NULL;
		assert_int_equal(tl__value_parse(&arena, bad[i], strlen(bad[i]), false, &value), TL_EFORMAT);
		tl__arena_free(&arena);
	}
}

static void depth_has_a_limit(void **state)
{
	(void)state;
	enum { DEEP = 100000 };
	tl_arena arena = {0};
	tl_buf text = {0};
	const tl_value *value = NULL;
	char *deep = malloc(DEEP);
	assert_non_null(deep);
	memset(deep, '[', DEEP);
	assert_int_equal(tl__value_parse(&arena, deep, DEEP, false, &value), TL_EFORMAT);
	memset(deep + TL_VALUE_MAX_DEPTH, ']', TL_VALUE_MAX_DEPTH);
	assert_int_equal(tl__value_parse(&arena, deep, 2 * TL_VALUE_MAX_DEPTH, false, &value), 0);
	tl__value_repr(&text, value);
	assert_int_equal(text.n, 2 * TL_VALUE_MAX_DEPTH);
	assert_memory_equal(text.v, deep, text.n);
	assert_true(tl__value_equal(value, value));
	free(deep);
	tl__buf_free(&text);
	tl__arena_free(&arena);
}

static void reading_values(void **state)
{
	(void)state;
	tl_arena arena = {0};
	const tl_value *v = parse(&arena, "{\"a\": [1, 2.0, \"x\", 2.5, true], \"b\": 1, \"b\": 2}", false);
	const tl_value *list = tl__value_get(v, "a");
	int64_t n = 0;
	assert_int_equal(tl__value_count(list), 5);
	assert_true(tl__value_is_list(list));
	assert_true(tl__value_int(tl__value_at(list, 0), &n) && n == 1);
	assert_true(tl__value_int(tl__value_at(list, 1), &n) && n == 2);
	assert_false(tl__value_int(tl__value_at(list, 2), &n));
	assert_false(tl__value_int(tl__value_at(list, 3), &n));
	assert_false(tl__value_int(tl__value_at(list, 4), &n));
	assert_string_equal(tl__value_text(tl__value_at(list, 2)), "x");
	assert_null(tl__value_text(tl__value_at(list, 0)));
	assert_null(tl__value_at(list, 5));
	assert_null(tl__value_at(v, 0));
	assert_null(tl__value_get(v, "c"));
	assert_null(tl__value_get(list, "a"));
	assert_true(tl__value_int(tl__value_get(v, "b"), &n) && n == 2); /* of equal keys the last */
	assert_null(tl__value_at(NULL, 0));
	assert_null(tl__value_get(NULL, "a"));
	assert_null(tl__value_text(NULL));
	assert_false(tl__value_int(NULL, &n));
	assert_false(tl__value_is_list(NULL));
	assert_int_equal(tl__value_count(NULL), 0);
	tl__arena_free(&arena);
}

static void equality(void **state)
{
	(void)state;
	const struct {
		const char *a, *b;
		bool equal;
	} cases[] = {
		{"[1, \"x\", {\"k\": null}]", "[1,\"x\",{\"k\":null}]", true},
		{"1", "1.0", false},
		{"[1]", "[1, 1]", false},
		{"[1, 2]", "[1, 3]", false},
		{"{\"a\": 1}", "{\"b\": 1}", false},
		{"\"ab\"", "\"ac\"", false},
		{"NaN", "NaN", true},
		{"true", "false", false},
		{"99999999999999999999", "99999999999999999998", false},
	};
	tl_arena arena = {0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const tl_value *a = parse(&arena, cases[i].a, false), *b = parse(&arena, cases[i].b, false);
		assert_int_equal(tl__value_equal(a, b), cases[i].equal);
	}
	assert_false(tl__value_equal(parse(&arena, "[1]", false), parse(&arena, "[1]", true)));
	assert_false(tl__value_equal(parse(&arena, "1", false), NULL));
	assert_true(tl__value_equal(NULL, NULL));
	tl__arena_free(&arena);
}

static int parse_and_free(void *text)
{
	tl_arena arena = {0};
	const tl_value *value;
	int code = tl__value_parse(&arena, text, strlen(text), false, &value);
	tl__arena_free(&arena);
	return code;
}

static void failing_allocations(void **state)
{
	(void)state;
	char text[] = "[[1, 2], {\"key\": \"value\"}, 99999999999999999999, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]";
	assert_true(fail_each_allocation(parse_and_free, text) > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_json_and_prints_python_and_json),
		cmocka_unit_test(str_prints_a_text_as_it_is),
		cmocka_unit_test(keys_that_are_no_texts),
		cmocka_unit_test(refuses_what_is_not_one_value),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(reading_values),
		cmocka_unit_test(equality),
		cmocka_unit_test(failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
