/* SPDX-License-Identifier: MIT */
/*
 * On every real trace at hand: each GPU event is booked exactly once. Kernels of launchers, communication and
 * unlinked events together take as long as all GPU events, to the picosecond.
 */
#include "analysis/analysis_fixture.h"
#include "trace/corpus_fixture.h"

#include <stdio.h>

static tl_time usable(const tl_store *store, tl_row row)
{
	return store->dur[row] == TL_TIME_NONE ? 0 : store->dur[row];
}

static tl_time sum(const tl_store *store, const tl_row *rows, size_t n)
{
	tl_time total = 0;
	for (size_t i = 0; i < n; i++)
		total += usable(store, rows[i]);
	return total;
}

static void check_trace(const char *path)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace;
	tl_tree *tree;
	tl_analyzer *a;
	const tl_launcher_list *list;
	if (tl_trace_open(&trace, path, NULL, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	assert_int_equal(tl_tree_build(&tree, trace, NULL, &err), 0);
	assert_int_equal(tl__analyzer_new(&a, tree, NULL, &err), 0);
	assert_int_equal(tl__analyzer_launchers(a, &list), 0);
	const tl_store *store = trace->store;

	tl_time all = 0, communication = 0;
	size_t n_all = 0, n_communication = 0;
	for (size_t i = 0; i < store->n; i++)
		if (tl__kind_is_gpu(store->kind[i])) {
			all += usable(store, (tl_row)i);
			n_all++;
		}
	for (size_t i = 0; i < tree->n_gpu; i++)
		if (tl__analyzer_is_communication(a, tree->gpu[i])) {
			communication += usable(store, tree->gpu[i]);
			n_communication++;
		}
	size_t booked = list->first[list->n];
	assert_int_equal(n_all, booked + n_communication + tree->n_unlinked);
	assert_int_equal(all, sum(store, list->kernels, booked) + communication +
				      sum(store, tree->unlinked, tree->n_unlinked));
	printf("%s: %zu GPU events, %zu launchers\n", path, n_all, list->n);
	tl__analyzer_free(a);
	tl_tree_free(tree);
	tl_trace_free(trace);
}

static void every_gpu_event_is_booked_once(void **state)
{
	(void)state;
	tl_corpus_traces(check_trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gpu_event_is_booked_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
