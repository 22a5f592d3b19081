/* SPDX-License-Identifier: MIT */
/*
 * Which events overlap: the rules of spec 01 section 8.1 one by one, and the index against a comparison of all pairs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timeline/overlap.h"
#include "trace/store_fixture.h"
#include "util/no_memory.h"

enum { MAX = 400 };

/* Kernels in order of start, each with an owner. */
typedef struct scene {
	tl_store *s;
	tl_row rows[MAX];
	uint32_t owners[MAX];
	size_t n;
} scene;

static void add(scene *x, double start, double dur, tl_id stream, uint32_t owner)
{
	x->rows[x->n] = tl_fixture_gpu(x->s, TL_KIND_KERNEL, "k", 0, stream, start, dur, TL_ID_NONE);
	x->owners[x->n++] = owner;
}

static size_t overlaps_of(const scene *x, size_t i, tl_row out[MAX])
{
	tl_overlap_index *index;
	tl_overlap_rows found = {0};
	assert_int_equal(tl__overlap_index_new(&index, x->s, x->rows, x->owners, x->n), 0);
	assert_int_equal(tl__overlap_find(&found, index, x->s, x->rows[i], x->owners[i]), 0);
	for (size_t k = 0; k < found.n; k++)
		out[k] = found.v[k];
	size_t n = found.n;
	TL_VEC_FREE(&found);
	tl__overlap_index_free(index);
	return n;
}

/* Event `i` overlaps exactly the events `expected`, in this order, and each of those overlaps it. */
static void expect(const scene *x, size_t i, const size_t *expected, size_t n)
{
	tl_row found[MAX], back[MAX];
	assert_int_equal(overlaps_of(x, i, found), n);
	for (size_t k = 0; k < n; k++) {
		assert_int_equal(found[k], x->rows[expected[k]]);
		size_t m = overlaps_of(x, expected[k], back), at = 0;
		while (at < m && back[at] != x->rows[i])
			at++;
		assert_true(at < m);
	}
}
#define EXPECT(x, i, ...) expect(x, i, (size_t[]){__VA_ARGS__}, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t))
#define EXPECT_NONE(x, i) expect(x, i, NULL, 0)

static int setup(void **state)
{
	static scene x;
	x = (scene){.s = tl__store_new()};
	*state = &x;
	return x.s ? 0 : -1;
}

static int teardown(void **state)
{
	tl__store_free(((scene *)*state)->s);
	return 0;
}

static void events_of_one_stream_do_not_overlap(void **state)
{
	scene *x = *state;
	add(x, 0, 10, 7, 1);
	add(x, 5, 10, 7, 2);
	add(x, 6, 10, 8, 3);
	EXPECT(x, 0, 2);
	EXPECT(x, 1, 2);
	EXPECT(x, 2, 0, 1);
}

static void a_missing_stream_is_another_one(void **state)
{
	scene *x = *state;
	add(x, 0, 10, TL_ID_NONE, 1);
	add(x, 1, 10, TL_ID_NONE, 2);
	add(x, 2, 10, 7, 3);
	EXPECT(x, 0, 1, 2);
	EXPECT(x, 1, 0, 2);
}

static void a_stream_may_have_a_text_for_a_name(void **state)
{
	scene *x = *state;
	add(x, 0, 10, tl_fixture_id(x->s, "copy"), 1);
	add(x, 1, 10, tl_fixture_id(x->s, "copy"), 2);
	add(x, 2, 10, tl_fixture_id(x->s, "main"), 3);
	EXPECT(x, 0, 2);
	EXPECT(x, 2, 0, 1);
}

static void events_of_one_operation_do_not_overlap(void **state)
{
	scene *x = *state;
	add(x, 0, 10, 7, 1);
	add(x, 2, 10, 8, 1);
	EXPECT_NONE(x, 0);
	EXPECT_NONE(x, 1);
	/* nothing is known of these two: that is not the same operation */
	add(x, 20, 10, 7, TL_OVERLAP_NO_OWNER);
	add(x, 22, 10, 8, TL_OVERLAP_NO_OWNER);
	EXPECT(x, 2, 3);
}

static void exactly_one_microsecond_overlaps_and_less_does_not(void **state)
{
	scene *x = *state;
	add(x, 0, 10, 7, 1);
	add(x, 9, 10, 8, 2);        /* 9..10 in common */
	add(x, 18.000001, 5, 9, 3); /* 0.999999 with the one before */
	EXPECT(x, 0, 1);
	EXPECT(x, 1, 0);
	EXPECT_NONE(x, 2);
}

static void an_event_inside_another_counts_by_its_own_length(void **state)
{
	scene *x = *state;
	add(x, 0, 100, 7, 1);
	add(x, 10, 0.999999, 8, 2);
	add(x, 20, 1, 8, 3);
	EXPECT(x, 0, 2);
	EXPECT_NONE(x, 1);
}

static void zero_length_and_missing_times_overlap_nothing(void **state)
{
	scene *x = *state;
	add(x, TL_NO_TIME, 5, 9, 1);
	add(x, 0, 10, 7, 2);
	add(x, 5, 0, 8, 3);
	add(x, 6, TL_NO_TIME, 8, 4);
	for (size_t i = 0; i < x->n; i++)
		EXPECT_NONE(x, i);
}

static void touching_events_do_not_overlap(void **state)
{
	scene *x = *state;
	add(x, 0, 10, 7, 1);
	add(x, 10, 10, 8, 2);
	EXPECT_NONE(x, 0);
	EXPECT_NONE(x, 1);
}

static void three_at_once_overlap_each_other(void **state)
{
	scene *x = *state;
	add(x, 0, 10, 7, 1);
	add(x, 1, 10, 8, 2);
	add(x, 2, 10, 9, 3);
	EXPECT(x, 0, 1, 2);
	EXPECT(x, 1, 0, 2);
	EXPECT(x, 2, 0, 1);
}

static void nothing_is_found_in_an_empty_index(void **state)
{
	scene *x = *state;
	tl_overlap_index *index;
	tl_overlap_rows found = {0};
	tl_row row = tl_fixture_gpu(x->s, TL_KIND_KERNEL, "k", 0, 7, 0, 10, TL_ID_NONE);
	assert_int_equal(tl__overlap_index_new(&index, x->s, NULL, NULL, 0), 0);
	assert_int_equal(tl__overlap_find(&found, index, x->s, row, 1), 0);
	assert_int_equal(found.n, 0);
	TL_VEC_FREE(&found);
	tl__overlap_index_free(index);
}

static bool overlap_by_definition(const scene *x, size_t i, size_t k)
{
	const tl_store *s = x->s;
	tl_row a = x->rows[i], b = x->rows[k];
	tl_id p = tl__link_args(s, a)->stream, q = tl__link_args(s, b)->stream;
	if (i == k || (p != TL_ID_NONE && p == q))
		return false;
	if (x->owners[i] == x->owners[k] && x->owners[i] != TL_OVERLAP_NO_OWNER)
		return false;
	tl_time start = s->start[a] > s->start[b] ? s->start[a] : s->start[b];
	tl_time end = tl__end(s, a) < tl__end(s, b) ? tl__end(s, a) : tl__end(s, b);
	return s->dur[a] > 0 && s->dur[b] > 0 && end - start >= TL_PS_PER_US;
}

static void the_index_finds_what_comparing_all_pairs_finds(void **state)
{
	scene *x = *state;
	uint32_t random = 12345;
	double at = 0;
	size_t pairs = 0;
	for (size_t i = 0; i < MAX; i++) {
		random = random * 1664525 + 1013904223;
		uint32_t r = random >> 8;
		tl_id stream = r % 6 ? r % 5 : TL_ID_NONE;
		/* mostly short, some that last over many others */
		double dur = r % 29 == 0 ? 40 : r / 7 % 4 / 2.0 + r / 64 % 3;
		add(x, at, dur, stream, r / 11 % 9 ? r / 11 % 9 : TL_OVERLAP_NO_OWNER);
		at += r / 128 % 4 / 4.0;
	}
	for (size_t i = 0; i < MAX; i++) {
		tl_row found[MAX];
		size_t n = overlaps_of(x, i, found), next = 0;
		for (size_t k = 0; k < MAX; k++) {
			if (!overlap_by_definition(x, i, k))
				continue;
			assert_true(next < n);
			assert_int_equal(found[next++], x->rows[k]);
			pairs++;
		}
		assert_int_equal(next, n);
	}
	assert_true(pairs > MAX); /* the comparison says something */
}

/* Ten thousand long events on one stream and one on another: what runs beside it is its own stream's business. */
static void a_busy_stream_does_not_slow_its_own_events(void **state)
{
	scene *x = *state;
	enum { MANY = 200000 };
	tl_row *rows = malloc(MANY * sizeof *rows);
	uint32_t *owners = malloc(MANY * sizeof *owners);
	tl_overlap_index *index;
	tl_overlap_rows found = {0};
	assert_true(rows && owners);
	for (size_t i = 0; i < MANY; i++) {
		rows[i] = tl_fixture_gpu(x->s, TL_KIND_KERNEL, "k", 0, i ? 7 : 8, (double)i, 1e6, TL_ID_NONE);
		owners[i] = TL_OVERLAP_NO_OWNER;
	}
	assert_int_equal(tl__overlap_index_new(&index, x->s, rows, owners, MANY), 0);
	for (size_t i = 1; i < MANY; i++) { /* 2e10 steps if each looked at the others of its stream */
		assert_int_equal(tl__overlap_find(&found, index, x->s, rows[i], TL_OVERLAP_NO_OWNER), 0);
		assert_int_equal(found.n, 1);
		assert_int_equal(found.v[0], rows[0]);
	}
	TL_VEC_FREE(&found);
	tl__overlap_index_free(index);
	free(rows);
	free(owners);
}

static int index_and_find(void *of)
{
	scene *x = of;
	tl_overlap_index *index;
	tl_overlap_rows found = {0};
	int code = tl__overlap_index_new(&index, x->s, x->rows, x->owners, x->n);
	if (code == 0)
		code = tl__overlap_find(&found, index, x->s, x->rows[3], TL_OVERLAP_NO_OWNER);
	TL_VEC_FREE(&found);
	tl__overlap_index_free(index);
	return code;
}

static void without_memory_it_fails_cleanly(void **state)
{
	scene *x = *state;
	for (size_t i = 0; i < 20; i++)
		add(x, (double)i, 30, i, TL_OVERLAP_NO_OWNER);
	assert_true(fail_each_allocation(index_and_find, x) > 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_of_one_stream_do_not_overlap),
		TEST(a_missing_stream_is_another_one),
		TEST(a_stream_may_have_a_text_for_a_name),
		TEST(events_of_one_operation_do_not_overlap),
		TEST(exactly_one_microsecond_overlaps_and_less_does_not),
		TEST(an_event_inside_another_counts_by_its_own_length),
		TEST(zero_length_and_missing_times_overlap_nothing),
		TEST(touching_events_do_not_overlap),
		TEST(three_at_once_overlap_each_other),
		TEST(nothing_is_found_in_an_empty_index),
		TEST(the_index_finds_what_comparing_all_pairs_finds),
		TEST(a_busy_stream_does_not_slow_its_own_events),
		TEST(without_memory_it_fails_cleanly),
	};
	return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
