/* SPDX-License-Identifier: MIT */
/* Notes about GPU events: spec 09 C9, C10, I13 and case 2. */
#include <string.h>

#include "tree/tree_fixture.h"

#define KERNEL(stream, start, dur, correlation) \
	tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, stream, start, dur, correlation)

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

static void graph(tl_fixture *f, const char *name, tl_id id, int kernels, const char *kernel)
{
	tl_fixture_launch(f->store, name, 1, 1, 10.0 * (double)id, 5, id);
	for (int i = 0; i < kernels; i++)
		tl_fixture_gpu(f->store, TL_KIND_KERNEL, kernel, 0, 7, 10.0 * (double)id + i, 0.5, id);
}

static void under_recorded_graphs(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	static const int kernels[] = {8, 3, 8, 8, 0, 4};
	for (tl_id i = 0; i < 6; i++)
		graph(&f, "cudaGraphLaunch", i + 1, kernels[i], "k");
	graph(&f, "cudaGraphLaunch", 7, 2, "first"); /* another graph: a small one */
	/* Three replays say nothing, and neither do other calls. */
	graph(&f, "hipGraphLaunch", 11, 8, "k");
	graph(&f, "hipGraphLaunch", 12, 8, "k");
	graph(&f, "hipGraphLaunch", 13, 0, "k");
	for (tl_id i = 20; i < 26; i++)
		graph(&f, "cudaLaunchKernel", i, i % 6 == 0 ? 0 : 9, "k");
	tl_fixture_build(&f, false);
	/* The empty one, and 3 of 3, 4, 8, 8, 8, whose median is 8; 4 is not below half of it. */
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_GRAPH_UNDER_RECORDED), 2);
	tl_fixture_free(&f);
}

/* One replay of many was recorded: the others are what is doubtful. */
static void one_replay_of_many(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	for (tl_id i = 0; i < 5; i++)
		graph(&f, "cudaGraphLaunch", i + 1, i ? 0 : 8, "k");
	tl_fixture_build(&f, false);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_GRAPH_UNDER_RECORDED), 4);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_2_stream_overrun),
		cmocka_unit_test(ordinary_streams),
		cmocka_unit_test(under_recorded_graphs),
		cmocka_unit_test(one_replay_of_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
