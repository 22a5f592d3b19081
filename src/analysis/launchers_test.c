/* SPDX-License-Identifier: MIT */
/* Launchers and the summaries of the launcher table; expected values from spec 02 sections 2 and 7, or counted by hand.
 */
#include "analysis/analysis_fixture.h"

enum { HOST = 1, GPU = 0 };

typedef int (*summary_fn)(tl_table **out, const tl_table *launchers, tl_error *err);

/* With the options of the default report. */
static int unique_args(tl_table **out, const tl_table *launchers, tl_error *err)
{
	return tl__ops_unique_args(out, launchers, NULL, err);
}

static tl_table *summary_of(summary_fn summarize, const tl_table *launchers)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	assert_int_equal(summarize(&table, launchers, &err), 0);
	return table;
}

/* An operation that launches one kernel. */
static tl_row op_with_kernel(tl_store *s, const char *name, double at, const char *kernel, double start, double dur,
			     tl_id correlation)
{
	tl_row op = tl_fixture_op(s, name, HOST, 1, at, 8);
	tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, at + 1, 2, correlation);
	tl_fixture_gpu(s, TL_KIND_KERNEL, kernel, GPU, 7, start, dur, correlation);
	return op;
}

/* ---- which event is a launcher ---- */

static void the_worked_example_has_one_launcher(void **state)
{
	(void)state;
	/* Spec 01 section 4.12, with the second launch outside aten::addmm. */
	tl_store *s = tl__store_new();
	tl_row linear = tl_fixture_op(s, "aten::linear", HOST, 1, 100, 50);
	tl_fixture_op_args(s, linear)->dims = tl__interns(s->strings, "[[2,3]]");
	tl_row addmm = tl_fixture_op(s, "aten::addmm", HOST, 1, 105, 40);
	tl_fixture_launch(s, "cudaLaunchKernel", HOST, 1, 110, 5, 1);
	tl_fixture_launch(s, "cudaLaunchKernel", HOST, 1, 146, 3, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", GPU, 7, 200, 30, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "ncclDevKernel_AllReduce", GPU, 8, 220, 25, 2);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "Memcpy HtoD (Host -> Device)", GPU, 7, 260, 5, 3);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 1); /* communication is booked on nobody; the copy has no launch */
	expect_text(t, 0, "name", "aten::addmm");
	expect_text(t, 0, "op category", "GEMM");
	expect_number(t, 0, "UID", addmm);
	expect_number(t, 0, "total_direct_kernel_time", 30);
	expect_number(t, 0, "total_subtree_kernel_time", 30);
	expect_number(t, 0, "direct_kernel_count", 1);
	expect_empty(t, 0, "Input Dims");
	expect_text(t, 0, "kernel_details", "[{'name': 'gemm', 'dur': 30.0, 'stream': 7}]");
	expect_text(t, 0, "process_name", "Unknown");
	tl_table_free(t);
	fixture_close(&f);
}

static void direct_times_of_nested_launchers_add_up_to_the_subtree(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "aten::miopen_convolution", HOST, 1, 0, 100);
	tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, 5, 2, 1);
	tl_fixture_op(s, "aten::add_", HOST, 1, 20, 30);
	tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, 25, 2, 2);
	tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, 60, 2, 3);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "conv_a", GPU, 7, 200, 10, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "add", GPU, 7, 210, 5, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "conv_b", GPU, 7, 215, 4, 3);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "aten::miopen_convolution");
	expect_number(t, 0, "total_direct_kernel_time", 14);
	expect_number(t, 0, "total_subtree_kernel_time", 19);
	expect_number(t, 0, "num_kernels", 2);
	expect_text(t, 1, "name", "aten::add_");
	expect_number(t, 1, "total_direct_kernel_time", 5);
	expect_number(t, 1, "total_subtree_kernel_time", 5);
	tl_table_free(t);
	fixture_close(&f);
}

static void overlapping_kernels_count_once(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "op", HOST, 1, 0, 100);
	tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, 5, 2, 1);
	tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, 15, 2, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "late", GPU, 7, 250, 100, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "early", GPU, 8, 200, 100, 2);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	expect_number(t, 0, "total_direct_kernel_time", 150);
	expect_text(t, 0, "kernel_details",
		    "[{'name': 'early', 'dur': 100.0, 'stream': 8}, {'name': 'late', 'dur': 100.0, 'stream': 7}]");
	tl_table_free(t);
	fixture_close(&f);
}

static void execute_is_not_an_operation(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "CompiledFunction", HOST, 1, 0, 50);
	tl_fixture_op(s, "execute", HOST, 1, 5, 40);
	tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, 10, 2, 1);
	tl_fixture_op(s, "execute", HOST, 1, 100, 40); /* nothing above this one: the launch stands for itself */
	tl_fixture_launch(s, "hipModuleLaunchKernel", HOST, 1, 110, 2, 2);
	tl_fixture_launch(s, "hipModuleLaunchKernel", HOST, 1, 120, 2, 3);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "a", GPU, 7, 200, 1, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "b", GPU, 7, 210, 2, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "c", GPU, 7, 220, 3, 3);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 3);
	expect_text(t, 0, "name", "CompiledFunction");
	expect_text(t, 1, "name", "hipModuleLaunchKernel");
	expect_number(t, 1, "total_direct_kernel_time", 2);
	expect_text(t, 2, "name", "hipModuleLaunchKernel");
	expect_number(t, 2, "total_direct_kernel_time", 3);
	expect_text(t, 2, "op category", "other");
	tl_table_free(t);
	fixture_close(&f);
}

static void a_launch_without_operation_or_arguments_is_its_own_launcher(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row launch = tl_fixture_launch(s, "hipGraphLaunch", HOST, 1, 10, 5, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "void at::native::vectorized_elementwise_kernel<4>", GPU, 7, 30, 2, 1);
	tl_fixture_gpu(s, TL_KIND_MEMSET, "Memset (Device)", GPU, 7, 40, 3, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_number(t, 0, "UID", launch);
	expect_number(t, 0, "total_direct_kernel_time", 5);
	expect_number(t, 0, "direct_kernel_count", 2);
	expect_text(t, 0, "op category", "elementwise"); /* by the earliest kernel */
	expect_empty(t, 0, "Concrete Inputs");
	tl_table_free(t);
	fixture_close(&f);
}

static void an_event_linked_by_external_id_is_booked_on_its_operation(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row op = tl_fixture_op(s, "aten::mm", HOST, 1, 10, 5);
	tl_fixture_op_args(s, op)->external = 42;
	tl_row kernel = tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", GPU, 7, 30, 2, TL_ID_NONE);
	tl_fixture_link_args(s, kernel)->external = 42;
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_number(t, 0, "UID", op);
	tl_table_free(t);
	fixture_close(&f);
}

static void names_of_process_and_thread_come_from_metadata(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row op = op_with_kernel(s, "aten::mm", 0, "gemm", 100, 5, 1);
	tl_track *track = &s->tracks.v[s->track[op]];
	track->thread_name = tl__interns(s->strings, "thread 1 (python)");
	s->processes.v[track->process].labels = tl__interns(s->strings, "CPU");
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	expect_text(t, 0, "process_name", "Unknown");
	expect_text(t, 0, "process_label", "CPU");
	expect_text(t, 0, "thread_name", "thread 1 (python)");
	tl_table_free(t);
	fixture_close(&f);
}

static void deep_stacks_are_walked_once(void **state)
{
	(void)state;
	/* Searching each launch's operation from scratch would take 5e9 steps. */
	enum { DEPTH = 100000 };
	tl_store *s = tl__store_new();
	for (size_t i = 0; i < DEPTH; i++) {
		double at = 4 * (double)i;
		tl_fixture_op(s, "execute", HOST, 1, at, 8.0 * DEPTH - 2 * at);
		tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, at + 1, 1, i + 1);
		tl_fixture_gpu(s, TL_KIND_KERNEL, "k", GPU, 7, 1e6 + at, 2, i + 1);
	}
	fixture f;
	fixture_open(&f, s);
	const tl_launcher_list *list;
	assert_int_equal(tl__analyzer_launchers(f.a, &list), 0);
	assert_int_equal(list->n, DEPTH);
	assert_int_equal(list->first[DEPTH], DEPTH);
	fixture_close(&f);
}

static void times_of_a_deep_nest_of_launchers(void **state)
{
	(void)state;
	/* Each operation launches one kernel and contains the next: 5e9 intervals if every subtree were merged anew. */
	enum { DEPTH = 100000 };
	tl_store *s = tl__store_new();
	for (size_t i = 0; i < DEPTH; i++) {
		double at = 4 * (double)i;
		tl_fixture_op(s, "op", HOST, 1, at, 8.0 * DEPTH - 2 * at);
		tl_fixture_launch(s, "hipLaunchKernel", HOST, 1, at + 1, 1, i + 1);
		tl_fixture_gpu(s, TL_KIND_KERNEL, "k", GPU, 7, 1e6 + at, 2, i + 1);
	}
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), DEPTH);
	expect_number(t, 0, "total_subtree_kernel_time", 2.0 * DEPTH);
	expect_number(t, DEPTH - 3, "total_subtree_kernel_time", 6);
	expect_number(t, DEPTH - 3, "total_direct_kernel_time", 2);
	tl_table_free(t);
	fixture_close(&f);
}

static void only_communication_leaves_empty_summaries(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "record_param_comms", HOST, 1, 10, 50);
	tl_fixture_launch(s, "cudaLaunchKernel", HOST, 1, 15, 5, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "ncclDevKernel_AllReduce", GPU, 8, 220, 25, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 0);
	static const summary_fn summaries[] = {tl__ops_summary_by_category, tl__ops_summary, unique_args};
	for (size_t i = 0; i < 3; i++) {
		tl_table *summary = summary_of(summaries[i], t);
		assert_int_equal(tl_table_rows(summary), 0);
		assert_true(tl_table_find_column(summary, "Percentage (%)") >= 0);
		tl_table_free(summary);
	}
	tl_table_free(t);
	fixture_close(&f);
}

/* ---- summaries ---- */

static tl_store *mixed_store(void)
{
	tl_store *s = tl__store_new();
	static const char *const dims[] = {"[[2,3],[]]", "[[4,5],[]]", "[[2,3],[]]"};
	static const double durations[] = {10, 50, 20};
	for (size_t i = 0; i < 3; i++) {
		tl_row op = op_with_kernel(s, "aten::addmm", 10 * (double)i, "gemm", 200 + 100 * (double)i,
					   durations[i], i + 1);
		tl_fixture_op_args(s, op)->dims = tl__interns(s->strings, dims[i]);
		tl_fixture_op_args(s, op)->concrete = tl__interns(s->strings, "[\"\",\"1\"]");
	}
	op_with_kernel(s, "aten::fancy", 40, "void at::native::reduce_kernel<512>", 600, 15, 4);
	op_with_kernel(s, "aten::fancy", 50, "fused", 700, 5, 5);
	return s;
}

static void summary_by_category(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, mixed_store());
	tl_table *launchers = launchers_of(&f);
	tl_table *t = summary_of(tl__ops_summary_by_category, launchers);
	assert_int_equal(tl_table_rows(t), 3);
	expect_text(t, 0, "op category", "GEMM");
	expect_text(t, 0, "Count", "3");
	expect_number(t, 0, "total_direct_kernel_time_ms", 0.08);
	expect_number(t, 0, "Percentage (%)", 80);
	expect_text(t, 1, "op category", "reduce");
	expect_number(t, 1, "Cumulative Percentage (%)", 95);
	expect_text(t, 2, "op category", "other");
	expect_number(t, 2, "Cumulative Percentage (%)", 100);
	tl_table_free(t);
	tl_table_free(launchers);
	fixture_close(&f);
}

static void summary_by_name(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, mixed_store());
	tl_table *launchers = launchers_of(&f);
	tl_table *t = summary_of(tl__ops_summary, launchers);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "aten::addmm");
	expect_number(t, 0, "total_direct_kernel_time_sum", 80);
	expect_number(t, 0, "total_subtree_kernel_time_ms", 0.08);
	expect_text(t, 0, "Categories", "['GEMM']");
	expect_text(t, 1, "Categories", "['other', 'reduce']");
	expect_text(t, 1, "Count", "2");
	expect_number(t, 1, "Percentage (%)", 20);
	tl_table_free(t);
	tl_table_free(launchers);
	fixture_close(&f);
}

static void summary_by_arguments(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, mixed_store());
	tl_table *launchers = launchers_of(&f);
	tl_table *t = summary_of(unique_args, launchers);
	assert_int_equal(tl_table_rows(t), 4);
	expect_text(t, 0, "Input Dims", "((4, 5), ())");
	expect_number(t, 0, "total_direct_kernel_time_sum", 50);
	expect_empty(t, 0, "total_direct_kernel_time_std");
	expect_text(t, 1, "Input Dims", "((2, 3), ())");
	expect_text(t, 1, "Concrete Inputs", "('', '1')");
	expect_empty(t, 1, "Input type");
	expect_text(t, 1, "operation_count", "2");
	expect_number(t, 1, "total_direct_kernel_time_mean", 15);
	expect_number(t, 1, "total_direct_kernel_time_median", 15);
	expect_number(t, 1, "total_subtree_kernel_time_std", sqrt(50)); /* sample deviation of 10 and 20 */
	expect_number(t, 1, "total_direct_kernel_time_min", 10);
	expect_number(t, 1, "total_subtree_kernel_time_max", 20);
	expect_text(t, 1, "ex_UID", "0");
	expect_number(t, 1, "Percentage (%)", 30);
	expect_number(t, 1, "Cumulative Percentage (%)", 80);
	/* aten::fancy falls into two groups by the category of its kernel */
	expect_text(t, 2, "op category", "reduce");
	expect_text(t, 3, "op category", "other");
	tl_table_free(t);
	tl_table_free(launchers);
	fixture_close(&f);
}

static void kernels_of_zero_duration_give_zero_percent(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "aten::mm", 0, "gemm", 100, 0, 1);
	op_with_kernel(s, "aten::add", 20, "add", 100, 0, 2);
	fixture f;
	fixture_open(&f, s);
	tl_table *launchers = launchers_of(&f);
	tl_table *t = summary_of(tl__ops_summary, launchers);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "aten::mm"); /* a tie: first occurrence first */
	expect_number(t, 0, "Percentage (%)", 0);
	expect_number(t, 1, "Cumulative Percentage (%)", 0);
	tl_table_free(t);
	tl_table_free(launchers);
	fixture_close(&f);
}

static void sums_of_decimal_times_are_exact(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	for (size_t i = 0; i < 1000; i++) /* in doubles, adding 0.1 a thousand times does not give 100 */
		op_with_kernel(s, "aten::mm", 10 * (double)i, "gemm", 20000 + 10 * (double)i, 0.1, i + 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *launchers = launchers_of(&f);
	tl_table *t = summary_of(tl__ops_summary, launchers);
	expect_text(t, 0, "total_direct_kernel_time_sum", "100.0");
	tl_table_free(t);
	tl_table_free(launchers);
	fixture_close(&f);
}

/* ---- the order of the file does not matter ---- */

/* Ties in start and in time; events are written in the order given. */
static tl_store *tied_store(bool reversed)
{
	tl_store *s = tl__store_new();
	for (size_t k = 0; k < 3; k++) {
		size_t i = reversed ? 2 - k : k;
		tl_id correlation = i + 1;
		char name[] = {'o', 'p', (char)('a' + i), 0};
		char kernel[] = {'k', (char)('a' + i), 0};
		tl_fixture_op(s, name, HOST, i, 10, 20);
		tl_fixture_launch(s, "cudaLaunchKernel", HOST, i, 12, 2, correlation);
		tl_fixture_gpu(s, TL_KIND_KERNEL, kernel, GPU, i, 100, 5, correlation);
	}
	return s;
}

static void ties_do_not_depend_on_the_order_of_the_file(void **state)
{
	(void)state;
	fixture f[2];
	tl_table *t[2];
	for (size_t k = 0; k < 2; k++) {
		fixture_open(&f[k], tied_store(k == 1));
		tl_table *launchers = launchers_of(&f[k]);
		t[k] = summary_of(tl__ops_summary, launchers);
		tl_table_free(launchers);
		assert_int_equal(tl_table_rows(t[k]), 3);
	}
	for (size_t i = 0; i < 3; i++) {
		char name[64];
		tl_table_text(t[0], column_index(t[0], "name"), i, name, sizeof name);
		expect_text(t[1], i, "name", name);
	}
	for (size_t k = 0; k < 2; k++) {
		tl_table_free(t[k]);
		fixture_close(&f[k]);
	}
}

/* ---- failure of allocation ---- */

static int all_tables(const tl_tree *tree)
{
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_table *launchers = NULL, *summary = NULL;
	static const summary_fn summaries[] = {tl__ops_summary_by_category, tl__ops_summary, unique_args};
	int code = tl__analyzer_new(&a, tree, NULL, &err);
	if (code < 0)
		return code;
	code = tl__launchers(&launchers, a, &err);
	for (size_t i = 0; i < 3 && code == 0; i++) {
		code = summaries[i](&summary, launchers, &err);
		tl_table_free(summary);
		summary = NULL;
	}
	tl_table_free(launchers);
	tl__analyzer_free(a);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	expect_failed_allocations_reported(mixed_store(), all_tables, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example_has_one_launcher),
		cmocka_unit_test(direct_times_of_nested_launchers_add_up_to_the_subtree),
		cmocka_unit_test(overlapping_kernels_count_once),
		cmocka_unit_test(execute_is_not_an_operation),
		cmocka_unit_test(a_launch_without_operation_or_arguments_is_its_own_launcher),
		cmocka_unit_test(an_event_linked_by_external_id_is_booked_on_its_operation),
		cmocka_unit_test(names_of_process_and_thread_come_from_metadata),
		cmocka_unit_test(deep_stacks_are_walked_once),
		cmocka_unit_test(times_of_a_deep_nest_of_launchers),
		cmocka_unit_test(only_communication_leaves_empty_summaries),
		cmocka_unit_test(summary_by_category),
		cmocka_unit_test(summary_by_name),
		cmocka_unit_test(summary_by_arguments),
		cmocka_unit_test(kernels_of_zero_duration_give_zero_percent),
		cmocka_unit_test(sums_of_decimal_times_are_exact),
		cmocka_unit_test(ties_do_not_depend_on_the_order_of_the_file),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
