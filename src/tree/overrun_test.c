/* SPDX-License-Identifier: MIT */
/* GPU events that overrun their streams: spec 09 C9, C10 and case 2. */
#include <string.h>

#include "timeline/timeline.h"
#include "tree/tree_fixture.h"

#define KERNEL(stream, start, dur, correlation) \
	tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, stream, start, dur, correlation)

static void build_clipped(tl_fixture *f)
{
	f->trace.store = f->store;
	assert_int_equal(tl_tree_build(&f->tree, &f->trace, &(tl_tree_options){.clip_stream_overruns = true}, NULL), 0);
	if (!f->tree) /* tells the compiler what the line above has checked */
		abort();
}

static void case_2_stream_overrun(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	KERNEL(7, 30, 10, TL_ID_NONE);
	KERNEL(7, 0, 10, TL_ID_NONE);
	tl_row k2 = KERNEL(7, 10, 5000, TL_ID_NONE);
	KERNEL(7, 20, 10, TL_ID_NONE);
	tl_fixture_build(&f, false);
	const tl_health_entry *found = &f.tree->health.entry[TL_HEALTH_STREAM_OVERRUN];
	assert_int_equal(found->count, 1);
	assert_int_equal(found->first_row, k2);
	assert_int_equal(found->time, 4990 * TL_PS_PER_US);
	assert_non_null(strstr(found->detail, "4990 µs"));
	tl_fixture_free(&f);
}

/* Other streams, ties and small overlaps are ordinary; invalid durations (case 23) take no part. */
static void ordinary_streams(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	KERNEL(7, 0, 5000, TL_ID_NONE);
	KERNEL(8, 10, 10, TL_ID_NONE);
	KERNEL(8, 19.973, 10, TL_ID_NONE);
	KERNEL(8, 29.973, 900, TL_ID_NONE);
	KERNEL(8, 40, 10, TL_ID_NONE);
	KERNEL(9, 0, TL_NO_TIME, TL_ID_NONE);
	KERNEL(9, TL_NO_TIME, 5000, TL_ID_NONE);
	KERNEL(9, 1, 1, TL_ID_NONE);
	/* Two streams that share a track. */
	KERNEL(10, 0, 5000, TL_ID_NONE);
	tl_fixture_link_args(f.store, KERNEL(10, 10, 10, TL_ID_NONE))->stream = 11;
	tl_fixture_build(&f, false);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_STREAM_OVERRUN), 0);
	tl_fixture_free(&f);
}

/* Of events that start at once each is measured at the next later start, in whatever order the file has them. */
static void equal_starts(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		tl_fixture f;
		tl_fixture_new(&f);
		tl_row a = KERNEL(7, 0, swapped ? 10 : 5000, TL_ID_NONE),
		       b = KERNEL(7, 0, swapped ? 5000 : 10, TL_ID_NONE);
		KERNEL(7, 20, 10, TL_ID_NONE);
		build_clipped(&f);
		assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_OVERRUN), 1);
		assert_int_equal(f.tree->store->dur[swapped ? b : a], 20 * TL_PS_PER_US);
		assert_int_equal(f.tree->store->dur[swapped ? a : b], 10 * TL_PS_PER_US);
		tl_fixture_free(&f);
	}
}

/* Case 2, repaired: K2 = 10, sum 40, span 40, idle 0. The trace keeps what the file says. */
static void case_2_clipped(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row k[] = {KERNEL(7, 0, 10, TL_ID_NONE), KERNEL(7, 10, 5000, TL_ID_NONE), KERNEL(7, 20, 10, TL_ID_NONE),
		      KERNEL(7, 30, 10, TL_ID_NONE)};
	build_clipped(&f);
	const tl_health_entry *found = &f.tree->health.entry[TL_HEALTH_CLIPPED_OVERRUN];
	assert_int_equal(found->count, 1);
	assert_int_equal(found->first_row, k[1]);
	assert_int_equal(found->time, 4990 * TL_PS_PER_US);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_STREAM_OVERRUN), 0);
	tl_time sum = 0;
	tl_breakdown clipped, raw;
	assert_int_equal(tl__breakdown(&clipped, f.tree->store, k, 4, NULL, NULL), 0);
	assert_int_equal(tl__breakdown(&raw, f.store, k, 4, NULL, NULL), 0);
	for (int i = 0; i < 4; i++)
		sum += f.tree->store->dur[k[i]];
	assert_int_equal(f.tree->store->dur[k[1]], 10 * TL_PS_PER_US);
	assert_int_equal(sum, 40 * TL_PS_PER_US);
	assert_int_equal(clipped.total, 40 * TL_PS_PER_US);
	assert_int_equal(clipped.idle, 0);
	assert_int_equal(f.store->dur[k[1]], 5000 * TL_PS_PER_US);
	assert_int_equal(raw.total, 5010 * TL_PS_PER_US);
	assert_int_equal(f.tree->unlinked_time, 40 * TL_PS_PER_US);
	tl_fixture_free(&f);
}

/* Where nothing overruns there is nothing to copy. */
static void nothing_to_clip(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	KERNEL(7, 0, 1019.999, TL_ID_NONE);
	KERNEL(7, 20, 10, TL_ID_NONE);
	build_clipped(&f);
	assert_ptr_equal(f.tree->store, f.store);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_OVERRUN), 0);
	tl_fixture_free(&f);
}

static void failing_allocations(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	KERNEL(7, 0, 5000, TL_ID_NONE);
	KERNEL(7, 20, 5000, TL_ID_NONE);
	KERNEL(7, 10, 10, TL_ID_NONE);
	tl_fixture_fail_to_build(&f, (tl_tree_options){.clip_stream_overruns = true}, 3);
	/* 0..10, and the last has no next */
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_CLIPPED_OVERRUN), 1);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_2_stream_overrun), cmocka_unit_test(ordinary_streams),
		cmocka_unit_test(equal_starts),          cmocka_unit_test(case_2_clipped),
		cmocka_unit_test(nothing_to_clip),       cmocka_unit_test(failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
