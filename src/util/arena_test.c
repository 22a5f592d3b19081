/* SPDX-License-Identifier: MIT */
/* Arenas: alignment, blocks that do not overlap, failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "util/alloc.h"
#include "util/arena.h"

static void memory_is_aligned_and_apart(void **state)
{
	(void)state;
	tl_arena arena = {0};
	char *before = NULL;
	size_t before_size = 0;
	for (size_t size = 0; size < 3000; size += 7) {
		char *p = tl__arena_alloc(&arena, size);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		memset(p, 0xab, size);
		assert_true(!before || p >= before + before_size || p < before);
		char *text = tl__arena_strndup(&arena, "tracelens", 5);
		assert_string_equal(text, "trace");
		before = p, before_size = size;
	}
	char *zeros = tl__arena_zalloc(&arena, 5000000); /* larger than any block */
	assert_non_null(zeros);
	for (size_t i = 0; i < 5000000; i += 4999)
		assert_int_equal(zeros[i], 0);
	tl_arena_map map;
	assert_int_equal(tl__arena_map_new(&map, &arena), 0);
	assert_true(tl__arena_owns(&map, zeros + 4999999));
	assert_true(tl__arena_owns(&map, before));
	assert_false(tl__arena_owns(&map, &arena));
	assert_false(tl__arena_owns(&map, NULL));
	assert_false(tl__arena_owns(&map, (const void *)UINTPTR_MAX));
	tl__arena_map_free(&map);
	assert_int_equal(tl__arena_map_new(&map, &(tl_arena){0}), 0); /* of nothing */
	assert_false(tl__arena_owns(&map, before));
	tl__arena_map_free(&map);
	assert_string_equal(tl__arena_printf(&arena, "%s %d", "event", 7), "event 7");
	assert_true(arena.total > 5000000);
	tl__arena_free(&arena);
	assert_int_equal(arena.total, 0);
	assert_string_equal(tl__arena_printf(&arena, "again"), "again");
	tl__arena_free(&arena);
}

static void failing_allocations(void **state)
{
	(void)state;
	tl_arena arena = {0};
	tl__alloc_fail_after(0);
	assert_null(tl__arena_alloc(&arena, 1));
	assert_null(tl__arena_zalloc(&arena, 1));
	assert_null(tl__arena_strndup(&arena, "x", 1));
	assert_null(tl__arena_printf(&arena, "x"));
	tl__alloc_fail_after(-1);
	assert_null(tl__arena_alloc(&arena, SIZE_MAX - 8));
	char *p = tl__arena_alloc(&arena, 100);
	assert_non_null(p);
	tl__alloc_fail_after(0);
	assert_non_null(tl__arena_alloc(&arena, 100)); /* there is room in the block */
	assert_null(tl__arena_alloc(&arena, 100000));
	tl__alloc_fail_after(-1);
	tl__arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_aligned_and_apart),
		cmocka_unit_test(failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
