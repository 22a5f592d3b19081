/* SPDX-License-Identifier: MIT */
/* Host events nested by time: spec 01 sections 4.7 and 13.1, spec 09 sections 1b, 1d and 2. */
#include <stdlib.h>
#include <string.h>

#include "tree/tree_fixture.h"

#define OP(start, dur) tl_fixture_op(f.store, "op", 1, 1, start, dur)
#define PY(name, start, dur, id, parent) tl_fixture_python(f.store, name, 1, 1, start, dur, id, parent)
#define NO_ID TL_ID_NONE

static void equal_spans_nest_in_file_order(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row a = OP(10, 5), b = OP(10, 5);
	tl_fixture_build(&f, false);
	assert_parent(&f, a, TL_ROW_NONE);
	assert_parent(&f, b, a);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

static void longer_comes_first(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row child = OP(10, 2), parent = OP(10, 20), c2 = OP(12, 3);
	tl_fixture_build(&f, false);
	assert_parent(&f, parent, TL_ROW_NONE);
	assert_parent(&f, child, parent);
	assert_parent(&f, c2, parent);
	tl_row children[2];
	assert_int_equal(tl_tree_children(f.tree, parent, children, 2), 2);
	assert_int_equal(children[0], child);
	assert_int_equal(children[1], c2);
	assert_int_equal(tl_tree_children(f.tree, parent, children, 1), 2);
	assert_int_equal(tl_tree_children(f.tree, parent, NULL, 0), 2);
	tl_fixture_free(&f);
}

static void zero_length_is_child_at_start_and_sibling_at_end(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row a = OP(10, 0), b = OP(10, 0), c = OP(10, 4), d = OP(14, 0), e = OP(14, 1);
	tl_fixture_build(&f, false);
	assert_parent(&f, c, TL_ROW_NONE);
	assert_parent(&f, a, c);
	assert_parent(&f, b, c);
	assert_parent(&f, e, TL_ROW_NONE);
	assert_parent(&f, d, e);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), 0);
	tl_fixture_free(&f);
}

/* An overlap below one microsecond is a sibling's, at the top as well as deeper. */
static void short_overlap_is_no_nesting(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row a = OP(0, 10), b = OP(9.5, 5);
	tl_fixture_build(&f, false);
	assert_parent(&f, a, TL_ROW_NONE);
	assert_parent(&f, b, TL_ROW_NONE);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), 0);
	tl_fixture_free(&f);

	tl_fixture_new(&f);
	tl_row r = OP(0, 12);
	a = OP(0, 10), b = OP(9.5, 5);
	tl_row late = OP(13, 1);
	tl_fixture_build(&f, false);
	assert_parent(&f, a, r);
	assert_parent(&f, b, r);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), 1);
	/* b is clipped to r's end and adopts nothing behind it. */
	assert_parent(&f, late, TL_ROW_NONE);
	tl_fixture_free(&f);
}

/* The repaired event is tested against the next ancestor, too [01-T5]. */
static void short_overlaps_at_several_levels(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row r = OP(0, 100), a = OP(10, 10), b = OP(11, 8.8), c = OP(19.5, 5), d = OP(20, 1);
	tl_fixture_build(&f, false);
	assert_parent(&f, a, r);
	assert_parent(&f, b, a);
	assert_parent(&f, c, r); /* overlaps b by 0.3 and a by 0.5 */
	assert_parent(&f, d, c);
	tl_fixture_free(&f);
}

static void overlap_of_exactly_one_microsecond_is_clipped(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row r = OP(0, 20), a = OP(0, 10), b = OP(9, 5), c = OP(12, 1);
	tl_fixture_build(&f, false);
	assert_parent(&f, a, r);
	assert_parent(&f, b, a);
	assert_parent(&f, c, r);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), 1);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

static void whole_microseconds_round(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row a = OP(0, 10), b = OP(5, 6), c = OP(20, 10), d = OP(25, 7);
	memset(f.store->flags, 0, f.store->n);
	tl_fixture_build(&f, false);
	assert_parent(&f, b, a);
	assert_parent(&f, d, c);
	/* One microsecond too long is rounding, two are not. */
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), 1);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_CLIPPED_SPAN].first_row, d);
	tl_fixture_free(&f);
}

static void threads_and_processes_do_not_mix(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_id big = INT64_C(139900000000128), name = tl_fixture_id(f.store, "stream 7");
	tl_row a = tl_fixture_op(f.store, "a", 100, big, 0, 100);
	tl_row b = tl_fixture_op(f.store, "b", 100, big + INT64_C(0x100000000), 10, 20);
	tl_row c = tl_fixture_op(f.store, "c", 101, big, 10, 20);
	tl_row d = tl_fixture_op(f.store, "d", 100, name, 10, 20);
	tl_row e = tl_fixture_event_of(f.store, 1, TL_KIND_CPU_OP, "e", 100, big, 10, 20);
	tl_row g = tl_fixture_op(f.store, "g", TL_ID_NONE, TL_ID_NONE, 10, 20);
	tl_row h = tl_fixture_op(f.store, "h", TL_ID_NONE, TL_ID_NONE, 11, 2);
	tl_row i = tl_fixture_op(f.store, "i", 100, big, 10, 20);
	tl_fixture_build(&f, false);
	assert_parent(&f, a, TL_ROW_NONE);
	assert_parent(&f, b, TL_ROW_NONE);
	assert_parent(&f, c, TL_ROW_NONE);
	assert_parent(&f, d, TL_ROW_NONE);
	assert_parent(&f, e, TL_ROW_NONE);
	assert_parent(&f, g, TL_ROW_NONE);
	assert_parent(&f, h, g);
	assert_parent(&f, i, a);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

static void events_without_time(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row a = OP(0, 10), b = OP(2, TL_NO_TIME), c = OP(TL_NO_TIME, 1), d = OP(3, 1);
	tl_fixture_build(&f, false);
	assert_parent(&f, b, a);
	assert_parent(&f, d, a);
	assert_false(tl__tree_is_linked(f.tree, c));
	assert_parent(&f, c, TL_ROW_NONE);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* Spec 09 case 4: a launch that bleeds out of its neighbour belongs to their parent. */
static void case_4_launch_outlives_a_sibling(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row a = OP(0, 100), c = OP(8, 82), d = OP(25, 9.4);
	tl_row e = tl_fixture_launch(f.store, "hipLaunchKernel", 1, 1, 34.1, 6.3, 5);
	tl_row k = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, 7, 50, 20, 5);
	tl_fixture_build(&f, false);
	assert_parent(&f, c, a);
	assert_parent(&f, d, c);
	assert_parent(&f, e, c);
	assert_parent(&f, k, e);
	size_t n;
	assert_int_equal(*tl_tree_gpu_events(f.tree, a, &n), k);
	assert_int_equal(n, 1);
	tl_tree_gpu_events(f.tree, d, &n);
	assert_int_equal(n, 0);
	tl_fixture_free(&f);
}

/* Spec 09 case 5: equal ends, whatever the base. */
static void case_5_equal_ends(void **state)
{
	(void)state;
	static const tl_time base[] = {0, INT64_C(5834922471100043000), INT64_C(1000000000000000)};
	for (size_t i = 0; i < 3; i++) {
		tl_fixture f;
		tl_fixture_new(&f);
		tl_row p = OP(0, 50.308), c = OP(3.032, 47.276);
		f.store->start[p] += base[i];
		f.store->start[c] += base[i];
		tl_fixture_build(&f, false);
		assert_parent(&f, c, p);
		assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), 0);
		tl_fixture_free(&f);
	}
}

/* Spec 09 case 6: a frame with a lost end swallows neither siblings nor what follows. */
static void case_6_overlong_python(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row p = OP(0, 100), capsule = PY("PyCapsule", 10, 5000, NO_ID, NO_ID), q = OP(20, 10);
	tl_row lq = tl_fixture_launch(f.store, "cudaLaunchKernel", 1, 1, 22, 2, 1), r = OP(200, 10);
	tl_row lr = tl_fixture_launch(f.store, "cudaLaunchKernel", 1, 1, 202, 2, 2);
	tl_row kq = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "kq", 0, 7, 30, 1, 1);
	tl_row kr = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "kr", 0, 7, 300, 1, 2);
	tl_fixture_build(&f, true);
	assert_parent(&f, capsule, p);
	assert_parent(&f, q, p);
	assert_parent(&f, lq, q);
	assert_parent(&f, kq, lq);
	assert_parent(&f, r, TL_ROW_NONE);
	assert_parent(&f, lr, r);
	assert_parent(&f, kr, lr);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_OVERLONG_PYTHON), 1);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), 0);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* Frames that name an overlong frame as their parent are below it, and so is what they call. */
static void overlong_python_keeps_its_children(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row p = PY("p", 0, 100, 1, NO_ID), wait = PY("wait", 10, 5000, 2, 1), c = PY("c", 11, 5, 3, 2),
	       op = OP(12, 2);
	tl_row after = OP(20, 5), late = PY("late", 30, 5, 4, 2);
	tl_fixture_build(&f, true);
	assert_parent(&f, wait, p);
	assert_parent(&f, c, wait);
	assert_parent(&f, op, c);
	assert_parent(&f, after, p);
	assert_parent(&f, late, p); /* once the frame has proved to be over, it is over */
	tl_fixture_free(&f);
}

/* Spec 09 case 35: built-ins that all end with the profile, one after another. */
static void case_35_unfinished_builtins(void **state)
{
	(void)state;
	for (int with_ids = 0; with_ids < 2; with_ids++) {
		tl_fixture f;
		tl_fixture_new(&f);
		tl_row main_frame = PY("run.py(1): <module>", -5, 1005, with_ids ? 1 : NO_ID, NO_ID);
		tl_row builtin[5], op[5];
		for (int i = 0; i < 5; i++) {
			builtin[i] = PY("<built-in method f>", 10 * i, 1000 - 10 * i, with_ids ? (tl_id)i + 2 : NO_ID,
					with_ids ? 1 : NO_ID);
			op[i] = OP(10 * i + 2, 5);
		}
		tl_fixture_build(&f, true);
		for (int i = 0; i < 5; i++) {
			assert_parent(&f, builtin[i], main_frame);
			assert_parent(&f, op[i], builtin[i]);
		}
		assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_UNFINISHED_SPAN), 5);
		tl_fixture_check(&f);
		tl_fixture_free(&f);
	}
}

/* The call that stops the profiler ends with it, and nothing is wrong with that. */
static void last_call_is_no_unfinished_span(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row exec = PY("<built-in method exec>", 0, 100, 1, NO_ID), module = PY("m.py(1): <module>", 1, 99, 2, 1);
	tl_row call = PY("<built-in function len>", 5, 1, 3, 2), stop = PY("<built-in method stop>", 90, 10, 4, 2);
	tl_fixture_build(&f, true);
	assert_parent(&f, module, exec);
	assert_parent(&f, call, module);
	assert_parent(&f, stop, module);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_UNFINISHED_SPAN), 0);
	tl_fixture_free(&f);
}

/* Frames with equal spans nest by their ids; a frame stays out without with_python. */
static void equal_frames_nest_by_id(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row c = PY("c", 10, 5, 9, 8), op = OP(10, 5), b = PY("b", 10, 5, 8, 7), a = PY("a", 10, 5, 7, NO_ID);
	tl_fixture_build(&f, true);
	assert_parent(&f, a, TL_ROW_NONE);
	assert_parent(&f, op, a);
	assert_parent(&f, b, op);
	assert_parent(&f, c, b);
	tl_tree_free(f.tree);
	tl_fixture_build(&f, false);
	assert_int_equal(tl_tree_count(f.tree), 1);
	assert_parent(&f, op, TL_ROW_NONE);
	tl_fixture_free(&f);
}

/* A hook called from C++ names a distant frame as its parent; time knows better. */
static void ids_do_not_break_clean_nesting(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row forward = PY("model.py(9): forward", 0, 100, 1, NO_ID), relu = PY("<built-in relu_>", 10, 20, 2, 1);
	tl_row op = OP(11, 18), hook = PY("checkpoint.py(1): pack_hook", 13, 5, 3, 1);
	tl_row after = tl_fixture_launch(f.store, "hipLaunchKernel", 1, 1, 20, 2, 1);
	tl_fixture_build(&f, true);
	assert_parent(&f, relu, forward);
	assert_parent(&f, op, relu);
	assert_parent(&f, hook, op);
	assert_parent(&f, after, op);
	tl_fixture_free(&f);
}

/* Where time is doubtful the ids decide: a frame that starts in its parent's last microsecond. */
static void named_parent_keeps_a_late_child(void **state)
{
	(void)state;
	for (int with_ids = 0; with_ids < 2; with_ids++) {
		tl_fixture f;
		tl_fixture_new(&f);
		tl_row p = PY("p", 0, 10, with_ids ? 1 : NO_ID, NO_ID);
		tl_row c = PY("c", 9.5, 2, with_ids ? 2 : NO_ID, with_ids ? 1 : NO_ID);
		tl_fixture_build(&f, true);
		assert_parent(&f, c, with_ids ? p : TL_ROW_NONE);
		assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_SPAN), with_ids);
		tl_fixture_free(&f);
	}
}

/* ---- properties ---- */

/* A random tree of nested spans: parents are known because they were made first. */
static void random_nesting(void **state)
{
	(void)state;
	enum { N = 3000 };
	for (unsigned seed = 1; seed <= 5; seed++) {
		srand(seed);
		tl_fixture f;
		tl_fixture_new(&f);
		/* Spans on a grid that halves: a child lies in its parent, siblings may touch. */
		static tl_time from[N], to[N];
		tl_row expected[N];
		from[0] = 0;
		to[0] = INT64_C(1) << 40;
		expected[0] = TL_ROW_NONE;
		static tl_time free_from[N];
		free_from[0] = 0;
		size_t n = 1;
		while (n < N) {
			size_t p = (size_t)rand() % n;
			tl_time left = to[p] - free_from[p];
			if (left < 64) {
				p = 0;
				left = to[0] - free_from[0];
				if (left < 64)
					break;
			}
			/* Each span differs from its parent, so that there is one right answer. */
			tl_time gap = 1 + (tl_time)rand() % (left / 16 + 1),
				length = left / 8 + (tl_time)rand() % (left / 16 + 1);
			from[n] = free_from[p] + gap;
			to[n] = from[n] + length;
			free_from[n] = from[n];
			free_from[p] = to[n];
			expected[n] = (tl_row)p;
			n++;
		}
		/* Shuffled into the file. */
		size_t at[N];
		tl_row row_of[N];
		for (size_t i = 0; i < n; i++)
			at[i] = i;
		for (size_t i = n; i > 1; i--) {
			size_t j = (size_t)rand() % i, x = at[i - 1];
			at[i - 1] = at[j];
			at[j] = x;
		}
		for (size_t i = 0; i < n; i++) {
			tl_row row = OP(0, 0);
			f.store->start[row] = from[at[i]];
			f.store->dur[row] = to[at[i]] - from[at[i]];
			row_of[at[i]] = row;
		}
		tl_fixture_build(&f, false);
		for (size_t i = 0; i < n; i++)
			assert_parent(&f, row_of[i], expected[i] == TL_ROW_NONE ? TL_ROW_NONE : row_of[expected[i]]);
		tl_fixture_check(&f);
		tl_fixture_free(&f);
	}
}

/* Whatever the input, the tree is well formed. */
static void random_mess(void **state)
{
	(void)state;
	static const char *const names[] = {"<built-in f>", "a.py(1): g", "<built-in h>"};
	for (unsigned seed = 1; seed <= 30; seed++) {
		srand(seed);
		tl_fixture f;
		tl_fixture_new(&f);
		for (int i = 0; i < 400; i++) {
			double start = rand() % 2000, dur = rand() % 10 ? rand() % 200 : rand() % 3000;
			if (rand() % 50 == 0)
				dur = TL_NO_TIME;
			if (rand() % 2)
				start += 0.25;
			switch (rand() % 3) {
			case 0:
				tl_fixture_op(f.store, "op", 1, (tl_id)(rand() % 2), start, dur);
				break;
			case 1:
				tl_fixture_launch(f.store, "launch", 1, (tl_id)(rand() % 2), start, dur,
						  (tl_id)(rand() % 50));
				break;
			default:
				tl_fixture_python(f.store, names[rand() % 3], 1, (tl_id)(rand() % 2), start, dur,
						  rand() % 3 ? (tl_id)i : TL_ID_NONE,
						  rand() % 3 ? (tl_id)(rand() % (i + 1)) : TL_ID_NONE);
			}
			if (rand() % 4 == 0)
				tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, (tl_id)(rand() % 3), rand() % 2000, 5,
					       (tl_id)(rand() % 60));
		}
		tl_fixture_build(&f, seed % 2);
		tl_fixture_check(&f);
		tl_fixture_free(&f);
	}
}

/* 200 000 deep: nothing recurses, nothing is quadratic. */
static void deep_stack(void **state)
{
	(void)state;
	enum { DEPTH = 200000 };
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row first = (tl_row)f.store->n;
	for (int i = 0; i < DEPTH; i++)
		PY("f.py(1): f", i, 2 * DEPTH - 2 * i, (tl_id)i, i ? (tl_id)(i / 2) : NO_ID);
	tl_row launch = tl_fixture_launch(f.store, "cudaLaunchKernel", 1, 1, DEPTH - 0.5, 0.25, 1);
	tl_row kernel = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, 7, DEPTH, 1, 1);
	tl_fixture_build(&f, true);
	for (tl_row i = 1; i < DEPTH; i++)
		assert_parent(&f, first + i, first + i - 1);
	assert_parent(&f, launch, first + DEPTH - 1);
	size_t n;
	assert_int_equal(*tl_tree_gpu_events(f.tree, first, &n), kernel);
	assert_int_equal(n, 1);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_spans_nest_in_file_order),
		cmocka_unit_test(longer_comes_first),
		cmocka_unit_test(zero_length_is_child_at_start_and_sibling_at_end),
		cmocka_unit_test(short_overlap_is_no_nesting),
		cmocka_unit_test(short_overlaps_at_several_levels),
		cmocka_unit_test(overlap_of_exactly_one_microsecond_is_clipped),
		cmocka_unit_test(whole_microseconds_round),
		cmocka_unit_test(threads_and_processes_do_not_mix),
		cmocka_unit_test(events_without_time),
		cmocka_unit_test(case_4_launch_outlives_a_sibling),
		cmocka_unit_test(case_5_equal_ends),
		cmocka_unit_test(case_6_overlong_python),
		cmocka_unit_test(overlong_python_keeps_its_children),
		cmocka_unit_test(case_35_unfinished_builtins),
		cmocka_unit_test(last_call_is_no_unfinished_span),
		cmocka_unit_test(equal_frames_nest_by_id),
		cmocka_unit_test(ids_do_not_break_clean_nesting),
		cmocka_unit_test(named_parent_keeps_a_late_child),
		cmocka_unit_test(random_nesting),
		cmocka_unit_test(random_mess),
		cmocka_unit_test(deep_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
