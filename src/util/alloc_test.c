/* SPDX-License-Identifier: MIT */
/* Allocation, its injected failures, and growing arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "util/alloc.h"

static void the_chosen_allocation_fails_and_all_after_it(void **state)
{
	(void)state;
	tl__alloc_fail_after(2);
	void *a = tl__malloc(1), *b = tl__calloc(2, 2), *c = tl__malloc(1), *d = tl__realloc(NULL, 5);
	assert_null(tl__strdup("x"));
	tl__alloc_fail_after(-1);
	assert_non_null(a);
	assert_non_null(b);
	assert_null(c);
	assert_null(d);
	tl__free(a);
	tl__free(b);
	tl__free(NULL);
}

static void nothing_is_still_memory(void **state)
{
	(void)state;
	void *a = tl__malloc(0), *b = tl__calloc(0, 8);
	assert_non_null(a);
	assert_non_null(b);
	tl__free(a);
	tl__free(b);
	volatile size_t huge = SIZE_MAX / 2;
	assert_null(tl__calloc(huge, 4));
}

static void strings_are_terminated(void **state)
{
	(void)state;
	char *a = tl__strdup("text"), *b = tl__strndup("text", 2);
	assert_string_equal(a, "text");
	assert_string_equal(b, "te");
	tl__free(a);
	tl__free(b);
}

static void arrays_grow_and_keep_their_elements(void **state)
{
	(void)state;
	TL_VEC(int) v = {0};
	for (int i = 0; i < 1000; i++)
		assert_int_equal(TL_VEC_PUSH(&v, i), 0);
	tl__alloc_fail_after(0);
	assert_int_equal(TL_VEC_RESERVE(&v, 100000), TL_ENOMEM);
	tl__alloc_fail_after(-1);
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.v[i], i);
	assert_int_equal(TL_VEC_RESERVE(&v, 24), 0);
	assert_true(v.cap >= 1024);
	size_t cap = v.cap;
	assert_int_equal(tl__grow((void *)&v.v, &v.cap, SIZE_MAX / 2, sizeof *v.v), TL_ENOMEM);
	assert_int_equal(v.cap, cap);
	TL_VEC_FREE(&v);
	assert_null(v.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chosen_allocation_fails_and_all_after_it),
		cmocka_unit_test(nothing_is_still_memory),
		cmocka_unit_test(strings_are_terminated),
		cmocka_unit_test(arrays_grow_and_keep_their_elements),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
