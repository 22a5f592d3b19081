/* SPDX-License-Identifier: MIT */
/* Alignments of two sequences: as good as a table over both makes them, long ones, unlike ones; without memory. */
#include "compare/align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/random_testing.h"

/* The weights that align.c states: 8 for a name, 8 for what is below, 8 for arguments, 4 for kernels, 12 for all. */
static uint64_t worth(const tl_align_item *x, const tl_align_item *y)
{
	if (x->name != y->name)
		return 0;
	uint64_t w = 8;
	w += x->structure == y->structure ? 8 : 0;
	w += x->exact == y->exact ? 8 : 0;
	w += x->kernels == y->kernels ? 4 : 0;
	return w == 28 ? 40 : w;
}

/* The best worth there is, by the table over both sequences. */
static uint64_t best_worth(const tl_align_item *a, size_t n, const tl_align_item *b, size_t m)
{
	uint64_t *row = calloc(m + 1, sizeof *row), best;
	assert_non_null(row);
	for (size_t i = 0; i < n; i++) {
		uint64_t diagonal = 0;
		for (size_t j = 0; j < m; j++) {
			uint64_t up = row[j + 1], w = worth(&a[i], &b[j]);
			uint64_t most = up > row[j] ? up : row[j];
			row[j + 1] = w && diagonal + w > most ? diagonal + w : most;
			diagonal = up;
		}
	}
	best = row[m];
	free(row);
	return best;
}

/* Aligns, checks that pairs ascend and have equal names, and returns what they are worth. */
static uint64_t align(tl_align_pairs *pairs, const tl_align_item *a, size_t n, const tl_align_item *b, size_t m)
{
	tl_aligner g = {0};
	uint64_t sum = 0;
	pairs->n = 0;
	assert_int_equal(tl__align(pairs, &g, a, n, b, m), 0);
	for (size_t k = 0; k < pairs->n; k++) {
		tl_align_pair p = pairs->v[k];
		assert_true(p.a < n && p.b < m);
		assert_true(k == 0 || (p.a > pairs->v[k - 1].a && p.b > pairs->v[k - 1].b));
		assert_int_equal(a[p.a].name, b[p.b].name);
		sum += worth(&a[p.a], &b[p.b]);
	}
	tl__aligner_free(&g);
	return sum;
}

static tl_align_item random_item(void)
{
	return (tl_align_item){random_below(3), random_below(2), random_below(3), random_below(2)};
}

/* No alignment of short sequences is better, and none depends on which sequence comes first. */
static void test_best(void **state)
{
	(void)state;
	tl_align_pairs pairs = {0}, mirror = {0};
	random_state = 1;
	for (int round = 0; round < 20000; round++) {
		tl_align_item a[12], b[12];
		size_t n = random_below(13), m = random_below(13);
		for (size_t i = 0; i < n; i++)
			a[i] = random_item();
		for (size_t j = 0; j < m; j++)
			b[j] = random_item();
		assert_int_equal(align(&pairs, a, n, b, m), best_worth(a, n, b, m));
		align(&mirror, b, m, a, n);
		assert_int_equal(pairs.n, mirror.n);
		for (size_t k = 0; k < pairs.n; k++) {
			assert_int_equal(pairs.v[k].a, mirror.v[k].b);
			assert_int_equal(pairs.v[k].b, mirror.v[k].a);
		}
	}
	TL_VEC_FREE(&pairs);
	TL_VEC_FREE(&mirror);
}

enum { LONG = 6000 };

/* Longer than what is done exactly: a sequence and itself with items left out, put in, and changed below. */
static void test_long(void **state)
{
	(void)state;
	tl_align_item *a = calloc(LONG, sizeof *a), *b = calloc(2 * LONG, sizeof *b);
	tl_align_pairs pairs = {0};
	assert_true(a && b);
	for (int round = 0; round < 6; round++) {
		size_t m = 0, kept = 0;
		random_state = (uint64_t)round + 7;
		for (uint32_t i = 0; i < LONG; i++) {
			/* names repeat, as in layers; what is below is rather one of its kind */
			a[i] = (tl_align_item){i % 20, i % 20, 1000 + i, i / 20};
			uint32_t what = random_below(60);
			if (what == 0)
				continue;
			if (what == 1)
				b[m++] = (tl_align_item){500, 500, random_below(1000), 0};
			b[m] = a[i];
			if (what < 30) /* another kernel: no longer identical */
				b[m].kernels += 100000;
			m++;
			kept++;
		}
		align(&pairs, a, LONG, b, m);
		assert_int_equal(pairs.n, kept);
		for (size_t k = 0; k < pairs.n; k++)
			assert_int_equal(a[pairs.v[k].a].exact * 20 + a[pairs.v[k].a].name,
					 b[pairs.v[k].b].exact * 20 + b[pairs.v[k].b].name);
	}
	free(a);
	free(b);
	TL_VEC_FREE(&pairs);
}

/* Long, and nothing or next to nothing in common. */
static void test_unlike(void **state)
{
	(void)state;
	tl_align_item *a = calloc(2 * LONG, sizeof *a), *b = a + LONG;
	tl_align_pairs pairs = {0};
	assert_non_null(a);
	for (uint32_t i = 0; i < LONG; i++) {
		a[i] = (tl_align_item){i, i, i, i};
		b[i] = (tl_align_item){LONG + i, i, i, i};
	}
	align(&pairs, a, LONG, b, LONG);
	assert_int_equal(pairs.n, 0);
	b[17].name = 4000;
	align(&pairs, a, LONG, b, LONG);
	assert_int_equal(pairs.n, 1);
	assert_int_equal(pairs.v[0].a, 4000);
	assert_int_equal(pairs.v[0].b, 17);
	free(a);
	TL_VEC_FREE(&pairs);
}

static void test_no_memory(void **state)
{
	(void)state;
	tl_align_item *a = calloc(2 * LONG, sizeof *a), *b = a + LONG;
	assert_non_null(a);
	for (uint32_t i = 0; i < LONG; i++) {
		a[i] = (tl_align_item){i % 7, i, i, i};
		b[i] = (tl_align_item){i % 11, i, i, i};
	}
	for (int64_t n = 0;; n++) {
		tl_aligner g = {0};
		tl_align_pairs pairs = {0};
		tl__alloc_fail_after(n);
		int code = tl__align(&pairs, &g, a, n < 3 ? LONG : 50, b, n < 3 ? LONG : 60);
		tl__alloc_fail_after(-1);
		tl__aligner_free(&g);
		TL_VEC_FREE(&pairs);
		if (code == 0)
			break;
		assert_int_equal(code, TL_ENOMEM);
	}
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_unlike),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
