/* SPDX-License-Identifier: MIT */
/* The hash map: few and many keys, failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracelens/common.h"
#include "util/alloc.h"
#include "util/map.h"

static void sets_and_gets(void **state)
{
	(void)state;
	tl_map map = {0};
	assert_int_equal(tl__map_get(&map, 0), TL_MAP_NONE);
	assert_int_equal(tl__map_set(&map, 0, 5), 0);
	assert_int_equal(tl__map_set(&map, UINT64_MAX, 0), 0);
	assert_int_equal(tl__map_get(&map, 0), 5);
	assert_int_equal(tl__map_get(&map, UINT64_MAX), 0);
	assert_int_equal(tl__map_get_or_set(&map, 0, 7), 5);
	assert_int_equal(tl__map_get_or_set(&map, 1, 7), 7);
	assert_int_equal(tl__map_set(&map, 0, 6), 0);
	assert_int_equal(tl__map_get(&map, 0), 6);
	assert_int_equal(map.n, 3);
	tl__map_free(&map);
	assert_int_equal(tl__map_get(&map, 0), TL_MAP_NONE);
}

/* Keys in steps that are powers of two would all fall together without mixing. */
static void many_keys(void **state)
{
	(void)state;
	tl_map map = {0};
	for (uint32_t i = 0; i < 50000; i++)
		assert_int_equal(tl__map_set(&map, (uint64_t)i << 32, i), 0);
	for (uint32_t i = 0; i < 50000; i++) {
		assert_int_equal(tl__map_get(&map, (uint64_t)i << 32), i);
		assert_int_equal(tl__map_get(&map, ((uint64_t)i << 32) + 1), TL_MAP_NONE);
	}
	assert_int_equal(map.n, 50000);
	tl__map_free(&map);
}

static void failing_allocations(void **state)
{
	(void)state;
	tl_map map = {0};
	tl__alloc_fail_after(0);
	assert_int_equal(tl__map_set(&map, 1, 1), TL_ENOMEM);
	assert_int_equal(tl__map_get_or_set(&map, 1, 1), TL_MAP_NONE);
	tl__alloc_fail_after(1);
	assert_int_equal(tl__map_set(&map, 1, 1), TL_ENOMEM);
	tl__alloc_fail_after(2);
	uint32_t n = 0;
	while (tl__map_set(&map, n, n) == 0)
		n++;
	tl__alloc_fail_after(-1);
	assert_int_equal(n, 32); /* half of the first 64 slots; what is there stays */
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(tl__map_get(&map, i), i);
	assert_int_equal(tl__map_set(&map, n, n), 0);
	tl__map_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_and_gets),
		cmocka_unit_test(many_keys),
		cmocka_unit_test(failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
