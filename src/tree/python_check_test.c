/* SPDX-License-Identifier: MIT */
/* Frames with doubtful ends are found whether or not frames are nodes: spec 09 section 2, cases 6 and 35. */
#include <stdlib.h>

#include "tree/tree_fixture.h"

#define OP(start, dur) tl_fixture_op(f.store, "op", 1, 1, start, dur)
#define PY(name, start, dur) tl_fixture_python(f.store, name, 1, 1, start, dur, TL_ID_NONE, TL_ID_NONE)

static void overlong_frame(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	OP(0, 100);
	tl_row capsule = PY("PyCapsule", 10, 5000);
	OP(20, 10);
	OP(200, 10);
	tl_fixture_build(&f, false);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_OVERLONG_PYTHON), 1);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_OVERLONG_PYTHON].first_row, capsule);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_OVERLONG_PYTHON].time, 5000 * TL_PS_PER_US);
	assert_int_equal(tl_tree_count(f.tree), 3);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* The same of a frame that leaves a short frame, which is no operation; and of one that leaves by less than 1 ms. */
static void overlong_in_a_frame(void **state)
{
	(void)state;
	for (int excess = 999; excess <= 1000; excess++) {
		tl_fixture f;
		tl_fixture_new(&f);
		PY("caller", 0, 100);
		PY("wait", 10, 90 + excess);
		OP(3000, 10);
		tl_fixture_build(&f, false);
		assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_OVERLONG_PYTHON), excess == 1000);
		tl_fixture_free(&f);
	}
}

static void unfinished_builtins(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	for (int i = 0; i < 5; i++) {
		PY("<built-in method f>", 10 * i, 1000 - 10 * i);
		OP(10 * i + 2, 5);
	}
	tl_fixture_build(&f, false);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_UNFINISHED_SPAN), 5);
	assert_int_equal(tl_tree_count(f.tree), 5);
	tl_fixture_free(&f);
}

static void clean_frames(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	PY("main", 0, 90000);
	for (int i = 0; i < 8; i++) {
		PY("step", 10000 * i + 100, 9000);
		PY("wait", 10000 * i + 200, 5000);
		OP(10000 * i + 300, 50);
	}
	PY("<built-in method stop>", 80000, 10000);
	tl_fixture_build(&f, false);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_OVERLONG_PYTHON), 0);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_UNFINISHED_SPAN), 0);
	tl_fixture_free(&f);
}

/* A frame leaves, or does not leave, what it starts in: any input, found the same with and without frames as nodes. */
static void as_with_frames(void **state)
{
	static const char *const names[] = {"<built-in f>", "a.py(1): g", "<built-in h>"};
	size_t found[2] = {0};
	(void)state;
	for (unsigned seed = 1; seed <= 600; seed++) {
		srand(seed);
		tl_fixture f;
		tl_fixture_new(&f);
		int n = 2 + rand() % 12, tracks = 1 + rand() % 2;
		/* from millisecond long stretches, where most frames are long, to short ones, where few are */
		int unit = (int[]){1, 50, 400, 1000}[rand() % 4];
		for (int i = 0; i < n; i++) {
			double start = unit * (rand() % 20), dur = unit * (rand() % 20) + rand() % 3;
			if (rand() % 6 == 0)
				dur = 40.0 * unit - start; /* to the end of the track */
			uint64_t tid = (uint64_t)(1 + rand() % tracks);
			bool named = rand() % 2;
			if (rand() % 3 == 0)
				tl_fixture_op(f.store, "op", 1, tid, start, dur);
			else
				tl_fixture_python(f.store, names[rand() % 3], 1, tid, start, dur,
						  named ? (tl_id)i + 1 : TL_ID_NONE,
						  named && i ? (tl_id)(1 + rand() % i) : TL_ID_NONE);
		}
		tl_fixture_build(&f, true);
		tl_tree *with = f.tree;
		tl_fixture_build(&f, false);
		static const tl_health_kind kinds[] = {TL_HEALTH_OVERLONG_PYTHON, TL_HEALTH_UNFINISHED_SPAN};
		for (int i = 0; i < 2; i++) {
			const tl_health_entry *a = &with->health.entry[kinds[i]], *b = &f.tree->health.entry[kinds[i]];
			assert_int_equal(b->count, a->count);
			assert_int_equal(b->first_row, a->first_row);
			assert_int_equal(b->time, a->time);
			found[i] += a->count > 0;
		}
		tl_tree_free(with);
		tl_fixture_free(&f);
	}
	/* the comparison says something only where there was something to find, and something not to */
	for (int i = 0; i < 2; i++)
		assert_in_range(found[i], 50, 550);
}

static void failing_allocations(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	PY("caller", 0, 100);
	PY("wait", 10, 5000);
	OP(20, 10);
	tl_fixture_fail_to_build(&f, (tl_tree_options){0}, 3);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_OVERLONG_PYTHON), 1);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlong_frame),      cmocka_unit_test(overlong_in_a_frame),
		cmocka_unit_test(unfinished_builtins), cmocka_unit_test(clean_frames),
		cmocka_unit_test(as_with_frames),      cmocka_unit_test(failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
