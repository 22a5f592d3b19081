/* SPDX-License-Identifier: MIT */
/* Pools of strings and extensions of pools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/strings.h"

static void equal_strings_have_equal_ids(void **state)
{
	(void)state;
	tl_strings *pool = tl__strings_new(NULL);
	tl_str a = tl__interns(pool, "aten::mm"), empty = tl__intern(pool, "", 0);
	tl_str nul = tl__intern(pool, "a\0b", 3), a_only = tl__intern(pool, "a", 1);
	assert_int_equal(tl__intern(pool, "aten::mm and more", 8), a);
	assert_int_not_equal(empty, TL_STR_NONE);
	assert_int_not_equal(nul, a_only);
	assert_int_equal(tl__str_len(pool, nul), 3);
	assert_memory_equal(tl__str(pool, nul), "a\0b", 4);
	assert_string_equal(tl__str(pool, TL_STR_NONE), "");
	assert_int_equal(tl__str_len(pool, TL_STR_NONE), 0);
	assert_string_equal(tl__str(pool, 9999), "");
	assert_int_equal(tl__strings_find(pool, "a", 1), a_only);
	assert_int_equal(tl__strings_find(pool, "b", 1), TL_STR_NONE);
	assert_int_equal(tl__strings_count(pool), 5);
	tl__strings_unref(pool);
	tl__strings_unref(NULL);
}

static void many_strings_stay_where_they_are(void **state)
{
	(void)state;
	enum { N = 20000 };
	tl_strings *pool = tl__strings_new(NULL);
	char text[32];
	const char *first = tl__str(pool, tl__interns(pool, "0"));
	for (int i = 0; i < N; i++) {
		snprintf(text, sizeof text, "%d", i);
		assert_int_equal(tl__interns(pool, text), i + 1);
	}
	assert_ptr_equal(first, tl__str(pool, 1));
	for (int i = 0; i < N; i++) {
		snprintf(text, sizeof text, "%d", i);
		assert_int_equal(tl__strings_find(pool, text, strlen(text)), i + 1);
		assert_string_equal(tl__str(pool, (tl_str)i + 1), text);
	}
	tl__strings_unref(pool);
}

static void an_extension_knows_its_base_and_keeps_it(void **state)
{
	(void)state;
	tl_strings *base = tl__strings_new(NULL);
	tl_str a = tl__interns(base, "a");
	tl_strings *more = tl__strings_new(base), *other = tl__strings_new(base);
	tl__strings_unref(base);
	assert_int_equal(tl__interns(more, "a"), a);
	tl_str b = tl__interns(more, "b"), c = tl__interns(other, "c");
	assert_int_equal(b, c); /* next ids of two extensions */
	assert_string_equal(tl__str(more, b), "b");
	assert_string_equal(tl__str(other, c), "c");
	assert_string_equal(tl__str(other, a), "a");
	assert_int_equal(tl__strings_find(base, "b", 1), TL_STR_NONE);
	assert_int_equal(tl__strings_count(more), 3);
	tl_strings *third = tl__strings_new(more);
	tl__strings_unref(more);
	assert_int_equal(tl__interns(third, "a"), a);
	assert_int_equal(tl__interns(third, "b"), b);
	assert_int_equal(tl__interns(third, "c"), b + 1);
	tl__strings_unref(other);
	tl__strings_unref(third);
}

/* Extension of extension of extension: the same ids, and few strings cost what they cost once. */
static void extensions_of_extensions(void **state)
{
	(void)state;
	enum { LAYERS = 3000 };
	tl_strings *pool = tl__strings_new(NULL);
	char text[32];
	uint64_t most = 0;
	tl_str root = tl__interns(pool, "root");
	for (int i = 0; i < LAYERS; i++) {
		tl_strings *next = tl__strings_new(pool);
		tl__strings_unref(pool);
		pool = next;
		if (tl__strings_memory(pool) > most)
			most = tl__strings_memory(pool);
	}
	assert_true(most < 4096);
	assert_int_equal(tl__strings_count(pool), root + 1);
	for (int i = 0; i < LAYERS; i++) {
		snprintf(text, sizeof text, "%d", i);
		assert_int_equal(tl__interns(pool, text), root + 1 + (tl_str)i);
		tl_strings *next = tl__strings_new(pool);
		tl__strings_unref(pool);
		pool = next;
	}
	assert_int_equal(tl__interns(pool, "root"), root);
	for (int i = 0; i < LAYERS; i++) {
		snprintf(text, sizeof text, "%d", i);
		assert_int_equal(tl__strings_find(pool, text, strlen(text)), root + 1 + (tl_str)i);
		assert_string_equal(tl__str(pool, root + 1 + (tl_str)i), text);
	}
	assert_string_equal(tl__str(pool, root), "root");
	tl__strings_unref(pool);
}

static void failing_allocations(void **state)
{
	(void)state;
	int failures = 0;
	for (int64_t n = 0;; n++) {
		tl__alloc_fail_after(n);
		tl_strings *pool = tl__strings_new(NULL);
		tl_str id = pool ? 1 : TL_STR_FAIL;
		char text[16];
		for (int i = 0; i < 1000 && id != TL_STR_FAIL; i++) {
			snprintf(text, sizeof text, "text %d", i);
			id = tl__interns(pool, text);
		}
		tl__alloc_fail_after(-1);
		/* what is in the pool stays usable */
		if (pool && id == TL_STR_FAIL) {
			size_t count = tl__strings_count(pool);
			assert_int_equal(tl__interns(pool, "new"), count);
			assert_int_equal(tl__interns(pool, "new"), count);
		}
		tl__strings_unref(pool);
		if (id != TL_STR_FAIL)
			break;
		failures++;
	}
	assert_true(failures > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_have_equal_ids),
		cmocka_unit_test(many_strings_stay_where_they_are),
		cmocka_unit_test(an_extension_knows_its_base_and_keeps_it),
		cmocka_unit_test(extensions_of_extensions),
		cmocka_unit_test(failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
