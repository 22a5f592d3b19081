/* SPDX-License-Identifier: MIT */
/*
 * On every real trace at hand: each GPU event with a launch stands in at most one row of the unified table, and those
 * in none are communication. So the kernel time of the table is that of the trace.
 */
#include "analysis/analysis_fixture.h"
#include "trace/corpus_fixture.h"

#include <stdio.h>

/* How often each event of the trace occurs in the kernel lists. */
static uint8_t *occurrences(const tl_table *unified, size_t n_events)
{
	const tl_column *lists = tl__table_column(unified, "kernel_details");
	uint8_t *times = tl__calloc(n_events + 1, 1);
	assert_non_null(times);
	assert_non_null(lists);
	for (size_t row = 0; row < unified->rows; row++)
		for (uint32_t i = 0; i < lists->ker[row].count; i++)
			times[unified->kernels.v[lists->ker[row].first + i].uid]++;
	return times;
}

static void check_table(tl_analyzer *a, const tl_table *unified)
{
	const tl_tree *tree = a->tree;
	uint8_t *times = occurrences(unified, a->store->n);
	for (size_t i = 0; i < tree->n_gpu; i++) {
		tl_row gpu = tree->gpu[i];
		if (times[gpu] > 1 || (times[gpu] == 0 && !tl__analyzer_is_communication(a, gpu)))
			fail_msg("GPU event %u (%s) is in %u rows", gpu, tl__name(a->store, gpu), times[gpu]);
	}
	for (size_t i = 0; i < tree->n_unlinked; i++)
		assert_int_equal(times[tree->unlinked[i]], 0);
	tl__free(times);
}

/* The summary books the same time: its sums add up to those of the table. */
static void check_summary(const tl_table *unified)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *summary;
	double rows = 0, groups = 0;
	assert_int_equal(tl__unified_perf_summary(&summary, unified, NULL, &err), 0);
	for (size_t row = 0; row < unified->rows; row++)
		rows += tl_table_double(unified, column_index(unified, "Kernel Time (µs)"), row);
	for (size_t row = 0; row < summary->rows; row++)
		groups += tl_table_double(summary, column_index(summary, "Kernel Time (µs)_sum"), row);
	assert_true(fabs(rows - groups) <= 1e-9 * fmax(1, rows));
	tl_table_free(summary);
}

static void check_trace(const char *path, bool with_python)
{
	tl_error err = TL_ERROR_INIT;
	tl_tree_options options = {.with_python = with_python};
	tl_trace *trace;
	tl_tree *tree;
	tl_analyzer *a;
	tl_table *unified;
	if (tl_trace_open(&trace, path, NULL, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	assert_int_equal(tl_tree_build(&tree, trace, &options, &err), 0);
	assert_int_equal(tl__analyzer_new(&a, tree, NULL, &err), 0);
	assert_int_equal(tl__unified_table(&unified, a, &err), 0);
	printf("%s%s: %zu GPU events, %zu rows\n", path, with_python ? " with Python frames" : "", tree->n_gpu,
	       unified->rows);
	check_table(a, unified);
	check_summary(unified);
	tl_table_free(unified);
	tl__analyzer_free(a);
	tl_tree_free(tree);
	tl_trace_free(trace);
}

static void check_both(const char *path)
{
	check_trace(path, false);
	check_trace(path, true);
}

static void every_gpu_event_is_booked_once(void **state)
{
	(void)state;
	tl_corpus_traces(check_both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gpu_event_is_booked_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
