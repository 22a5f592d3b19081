/* SPDX-License-Identifier: MIT */
/* The run merging sort: any input is sorted and stays stable, shapes of real traces take linear work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/sort.h"

typedef struct {
	const uint32_t *key;
	size_t *compared;
} tl_keys;

static bool key_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_keys *keys = ctx;
	++*keys->compared;
	return keys->key[a] < keys->key[b];
}

/* Sorts ids 0..n-1 by key, those of equal keys in their order; returns the number of comparisons. */
static size_t sorted(const uint32_t *key, size_t n)
{
	uint32_t *v = malloc((n + 1) * sizeof *v);
	assert_non_null(v);
	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)i;
	size_t compared = 0;
	tl_keys keys = {key, &compared};
	assert_int_equal(tl__sort(v, n, key_less, &keys), 0);
	char *seen = calloc(n + 1, 1);
	assert_non_null(seen);
	for (size_t i = 0; i < n; i++) {
		assert_true(v[i] < n && !seen[v[i]]);
		seen[v[i]] = 1;
		if (i)
			assert_true(key[v[i - 1]] < key[v[i]] || (key[v[i - 1]] == key[v[i]] && v[i - 1] < v[i]));
	}
	free(seen);
	free(v);
	return compared;
}

static void small(void **state)
{
	(void)state;
	uint32_t key[64];
	srand(3);
	for (size_t n = 0; n < 64; n++)
		for (int round = 0; round < 50; round++) {
			for (size_t i = 0; i < n; i++)
				key[i] = (uint32_t)rand() % (round < 25 ? 4 : 1000);
			sorted(key, n);
		}
}

static void shapes(void **state)
{
	(void)state;
	enum { N = 200000 };
	uint32_t *key = malloc(N * sizeof *key);
	assert_non_null(key);
	for (size_t i = 0; i < N; i++)
		key[i] = (uint32_t)i;
	assert_true(sorted(key, N) < 2 * N); /* in order */
	for (size_t i = 0; i < N; i++)
		key[i] = (uint32_t)(N - i);
	assert_true(sorted(key, N) < 2 * N); /* backwards */
	for (size_t i = 0; i < N; i++)
		key[i] = (uint32_t)(2 * (i % (N / 4)) + i / (N / 4));
	assert_true(sorted(key, N) < 5 * N); /* four interleaved stretches */
	for (size_t i = 0; i < N; i++)
		key[i] = (uint32_t)(i % 1000 == 0 ? 0 : i);
	assert_true(sorted(key, N) < 40 * N); /* a stray one now and then */
	srand(7);
	for (size_t i = 0; i < N; i++)
		key[i] = (uint32_t)rand();
	assert_true(sorted(key, N) < 40 * N); /* random; log2 of N is under 18 */
	/* Runs that shrink, then one that dwarfs them. */
	size_t at = 0;
	for (size_t length = N / 4; length > 30; length /= 2)
		for (size_t i = 0; i < length; i++)
			key[at++] = (uint32_t)(i * 7);
	for (size_t i = 0; at < N; i++)
		key[at++] = (uint32_t)i;
	assert_true(sorted(key, N) < 40 * N);
	free(key);
}

static void out_of_memory(void **state)
{
	(void)state;
	uint32_t v[64];
	uint32_t key[64];
	for (uint32_t i = 0; i < 64; i++) {
		v[i] = i;
		key[i] = (i * 37) % 64;
	}
	size_t compared = 0;
	tl_keys keys = {key, &compared};
	tl__alloc_fail_after(0);
	int code = tl__sort(v, 64, key_less, &keys);
	tl__alloc_fail_after(-1);
	assert_int_equal(code, TL_ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small),
		cmocka_unit_test(shapes),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
