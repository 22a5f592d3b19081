/* SPDX-License-Identifier: MIT */
/* Notes about graph launches: spec 09 I13. */
#include "tree/tree_fixture.h"

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
		cmocka_unit_test(under_recorded_graphs),
		cmocka_unit_test(one_replay_of_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
