/* SPDX-License-Identifier: MIT */
/* Kernel table, kernel_summary and the short-kernel study; expected values from spec 02 section 9 or counted by hand.
 */
#include "analysis/analysis_fixture.h"

static tl_table *kernels_of(fixture *f)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	assert_int_equal(tl__kernels(&t, f->a, &err), 0);
	return t;
}

static tl_table *kernel_summary_of(fixture *f)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	assert_int_equal(tl__kernel_summary(&t, f->a, &err), 0);
	return t;
}

static tl_table *short_kernels_of(fixture *f, double threshold)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	assert_int_equal(tl__short_kernels(&t, f->a, threshold, &err), 0);
	return t;
}

static tl_table *short_summary_of(fixture *f, double threshold, int64_t topk)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *kernels = short_kernels_of(f, threshold), *t;
	assert_int_equal(tl__short_kernels_summary(&t, f->a, kernels, topk, &err), 0);
	tl_table_free(kernels);
	return t;
}

static tl_table *histogram_of(fixture *f, double threshold, int64_t bins)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *kernels = short_kernels_of(f, threshold), *t;
	assert_int_equal(tl__short_kernel_histogram(&t, kernels, bins, &err), 0);
	tl_table_free(kernels);
	return t;
}

/* Three launches below operations, one without, one kernel without a launch, one copy. GPU time from 200 to 300. */
static tl_store *sample(void)
{
	tl_store *s = tl__store_new();
	tl_row mm = tl_fixture_op(s, "aten::mm", 1, 1, 0, 20);
	tl_op_args *args = tl_fixture_op_args(s, mm);
	args->dims = tl__interns(s->strings, "[[2,3],[3,4]]");
	args->strides = tl__interns(s->strings, "[[3,1],[4,1]]");
	args->concrete = tl__interns(s->strings, "[\"\",\"\"]");
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, 2, 2, 1);
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, 6, 2, 2);
	tl_fixture_op(s, "execute", 1, 1, 30, 20);
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, 32, 2, 3);
	tl_fixture_launch(s, "hipGraphLaunch", 1, 1, 60, 2, 4);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 200, 6, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 210, 2, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "void at::native::reduce_kernel<1>", 0, 7, 220, 40, 3);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "node", 0, 7, 270, 4, 4);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "Memcpy DtoD", 0, 7, 290, 10, 4);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "early", 0, 9, 100, 7, 99);
	return s;
}

static void kernel_table_by_start(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, sample());
	tl_table *t = kernels_of(&f);
	assert_int_equal(tl_table_rows(t), 5); /* no copy */
	expect_text(t, 0, "Kernel name", "early");
	expect_text(t, 0, "Kernel stream", "9");
	expect_empty(t, 0, "Launcher");
	expect_empty(t, 0, "Parent cpu_op UID");
	expect_text(t, 1, "Kernel name", "gemm");
	expect_number(t, 1, "Kernel duration (µs)", 6);
	expect_text(t, 1, "Launcher", "hipLaunchKernel");
	expect_text(t, 1, "Parent cpu_op", "aten::mm");
	expect_text(t, 1, "Input dims", "((2, 3), (3, 4))");
	expect_number(t, 1, "Parent cpu_op busy time (µs)", 8);
	expect_number(t, 1, "Parent cpu_op kernel count", 2);
	expect_number(t, 1, "Percent of Parent cpu_op busy time (%)", 75);
	expect_text(t, 1, "Parent op category", "GEMM");
	expect_text(t, 3, "Parent cpu_op", "execute");
	expect_text(t, 3, "Parent op category", "other"); /* [02-3]: no launcher, so no kernel-name rule */
	expect_number(t, 3, "Percent of Parent cpu_op busy time (%)", 100);
	expect_text(t, 4, "Launcher", "hipGraphLaunch");
	expect_empty(t, 4, "Parent cpu_op");
	tl_table_free(t);
	fixture_close(&f);
}

static void kernel_summary_names_launches(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, sample());
	tl_table *t = kernel_summary_of(&f);
	assert_int_equal(tl_table_rows(t), 4);
	expect_text(t, 0, "Parent cpu_op", "execute");
	expect_number(t, 0, "Kernel duration (µs)_sum", 40);
	expect_number(t, 0, "Percent of kernels time (%)", 40 / 59.0 * 100);
	expect_number(t, 0, "Percent of total time (%)", 40);
	expect_text(t, 1, "Parent cpu_op", "aten::mm");
	expect_text(t, 1, "Kernel duration (µs)_count", "2");
	expect_number(t, 1, "Kernel duration (µs)_mean", 4);
	expect_number(t, 1, "Kernel duration (µs)_min", 2);
	expect_number(t, 1, "Kernel duration (µs)_max", 6);
	expect_empty(t, 2, "Parent cpu_op"); /* no launch */
	expect_number(t, 2, "Percent of total time (%)", 7);
	expect_text(t, 3, "Parent op category", "graph");
	expect_text(t, 3, "Parent cpu_op", "hipGraphLaunch");
	tl_table_free(t);
	fixture_close(&f);
}

static void short_kernels_below_the_threshold(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, sample());
	tl_table *t = short_summary_of(&f, 40, -1);
	/* Without operation or arguments a kernel is dropped [02-16]; 40 is not below 40. */
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "Parent cpu_op", "aten::mm");
	expect_text(t, 0, "Input strides", "((3, 1), (4, 1))");
	expect_number(t, 0, "Short Kernel duration (µs) sum", 8);
	expect_text(t, 0, "Short Kernel count", "2");
	expect_number(t, 0, "Short Kernel duration (µs) mean", 4);
	expect_number(t, 0, "Short Kernel duration (µs) percent of total time", 8);
	tl_table_free(t);
	t = short_summary_of(&f, 40, 0);
	assert_int_equal(tl_table_rows(t), 0);
	tl_table_free(t);
	t = short_summary_of(&f, 2, -1);
	assert_int_equal(tl_table_columns(t), 0);
	tl_table_free(t);
	fixture_close(&f);
}

static tl_store *kernels_only(const double *durations, size_t n)
{
	tl_store *s = tl__store_new();
	for (size_t i = 0; i < n; i++) {
		tl_fixture_launch(s, "cuLaunchKernel", 1, 1, 10 * (double)i, 2, i + 1);
		tl_fixture_gpu(s, TL_KIND_KERNEL, i % 2 ? "odd" : "even", 0, 7, 1000 + 20 * (double)i, durations[i],
			       i + 1);
	}
	return s;
}

static void expect_bins(const double *durations, size_t n, double threshold, const double *edges, const int *counts,
			size_t bins)
{
	fixture f;
	fixture_open(&f, kernels_only(durations, n));
	tl_table *t = histogram_of(&f, threshold, (int64_t)bins);
	assert_int_equal(tl_table_rows(t), bins);
	for (size_t i = 0; i < bins; i++) {
		expect_number(t, i, "bin_start", edges[i]);
		expect_number(t, i, "bin_end", edges[i + 1]);
		expect_number(t, i, "count", counts[i]);
	}
	tl_table_free(t);
	fixture_close(&f);
}

static void histogram_bins_are_half_open_and_the_last_is_closed(void **state)
{
	(void)state;
	expect_bins((double[]){1, 2, 3, 10}, 4, 10, (double[]){1, 2, 3}, (int[]){1, 2}, 2);
	/* all equal: half a microsecond either side */
	expect_bins((double[]){2, 2}, 2, 10, (double[]){1.5, 2, 2.5}, (int[]){0, 2}, 2);
	expect_bins((double[]){0, 0.3, 0.9, 1.0}, 4, 10,
		    (double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0},
		    /* edge 3 is 3 * 0.1, which is above 0.3 in doubles: 0.3 belongs to bin 2 */
		    (int[]){1, 0, 1, 0, 0, 0, 0, 0, 0, 2}, 10);
}

static void gpu_only_traces_have_no_operation_column(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, kernels_only((double[]){5, 7, 5}, 3));
	assert_true(tl__analyzer_gpu_only(f.a));
	tl_table *kernels = kernels_of(&f);
	assert_int_equal(tl_table_find_column(kernels, "Parent cpu_op"), -1);
	tl_table *t = kernel_summary_of(&f);
	assert_string_equal(tl_table_column_name(t, 0), "Parent op category");
	assert_string_equal(tl_table_column_name(t, 1), "Kernel name");
	expect_text(t, 0, "Parent op category", "runtime"); /* [02-21]: whatever the launch is called */
	tl_table_free(t);
	t = short_summary_of(&f, 10, 1);
	assert_int_equal(tl_table_rows(t), 1);
	assert_string_equal(tl_table_column_name(t, 0), "Kernel name");
	expect_text(t, 0, "Kernel name", "even");
	expect_number(t, 0, "Short Kernel duration (µs) sum", 10);
	tl_table_free(t);
	tl_table_free(kernels);
	fixture_close(&f);
}

/* Without any launch the category is blank, and its column there (spec 02 section 9.2). */
static void kernels_without_launches_have_no_category(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_gpu(s, TL_KIND_KERNEL, "lonely", 0, 7, 200, 6, TL_ID_NONE);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = kernel_summary_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	assert_string_equal(tl_table_column_name(t, 0), "Parent op category");
	assert_string_equal(tl_table_column_name(t, 1), "Kernel name");
	expect_empty(t, 0, "Parent op category");
	expect_number(t, 0, "Kernel duration (µs)_sum", 6);
	tl_table_free(t);
	fixture_close(&f);
}

static void only_copies_give_headers(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "aten::to", 1, 1, 0, 20);
	tl_fixture_launch(s, "hipMemcpyAsync", 1, 1, 2, 2, 1);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "Memcpy HtoD", 0, 7, 200, 6, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *kernels = kernels_of(&f);
	assert_int_equal(tl_table_rows(kernels), 0);
	tl_table *t = histogram_of(&f, 10, 100);
	assert_int_equal(tl_table_rows(t), 0);
	assert_int_equal(tl_table_columns(t), 3);
	tl_table_free(t);
	t = short_summary_of(&f, 10, -1);
	assert_int_equal(tl_table_rows(t), 0);
	assert_true(tl_table_find_column(t, "Short Kernel count") >= 0);
	tl_table_free(t);
	t = kernel_summary_of(&f);
	assert_int_equal(tl_table_rows(t), 0);
	tl_table_free(t);
	tl_table_free(kernels);
	fixture_close(&f);
}

static void a_kernel_without_usable_time_counts_but_not_its_time(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, kernels_only((double[]){5, TL_NO_TIME}, 2));
	tl_table *kernels = kernels_of(&f), *t = histogram_of(&f, 10, 1);
	expect_number(t, 0, "count", 1);
	tl_table_free(t);
	t = kernel_summary_of(&f);
	expect_text(t, 1, "Kernel name", "odd");
	/* it is a kernel all the same; what is not known is its time */
	expect_text(t, 1, "Kernel duration (µs)_count", "1");
	expect_number(t, 1, "Kernel duration (µs)_sum", 0);
	expect_empty(t, 1, "Kernel duration (µs)_mean");
	expect_empty(t, 1, "Kernel duration (µs)_min");
	tl_table_free(t);
	tl_table_free(kernels);
	fixture_close(&f);
}

static void streams_may_be_texts(void **state)
{
	(void)state;
	tl_store *s = kernels_only((double[]){5, 7, 9}, 3);
	tl_fixture_link_args(s, 1)->stream = tl_fixture_id(s, "default");
	tl_fixture_link_args(s, 3)->stream = TL_ID_NONE;
	fixture f;
	fixture_open(&f, s);
	tl_table *t = kernel_summary_of(&f);
	assert_int_equal(tl_table_rows(t), 3);
	expect_text(t, 0, "Kernel stream", "7");
	expect_empty(t, 1, "Kernel stream");
	expect_text(t, 2, "Kernel stream", "default");
	tl_table_free(t);
	fixture_close(&f);
}

/* Equal kernels of equal time on many streams, written in the order given. */
static tl_store *tied_store(bool reversed)
{
	tl_store *s = tl__store_new();
	for (size_t k = 0; k < 4; k++) {
		size_t i = reversed ? 3 - k : k;
		char name[] = {'k', (char)('d' - i), 0};
		tl_fixture_gpu(s, TL_KIND_KERNEL, name, 0, i, 100, 5, TL_ID_NONE);
	}
	return s;
}

static void ties_do_not_depend_on_the_order_of_the_file(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		fixture f;
		fixture_open(&f, tied_store(k == 1));
		tl_table *t = kernel_summary_of(&f);
		assert_int_equal(tl_table_rows(t), 4);
		for (size_t i = 0; i < 4; i++) /* by stream */
			expect_text(t, i, "Kernel name", (char[]){'k', (char)('d' - i), 0});
		tl_table_free(t);
		fixture_close(&f);
	}
}

static void what_is_asked_of_the_study_must_make_sense(void **state)
{
	(void)state;
	static const struct {
		double threshold_us;
		int64_t bins;
		const char *says; /* NULL: it makes sense */
	} cases[] = {
		{0, 1, NULL},
		{INFINITY, 1000000, NULL},
		{-0.5, 1, "threshold"},
		{(double)NAN, 1, "threshold"},
		{-INFINITY, 1, "threshold"},
		{10, 0, "bins"},
		{10, -1, "bins"},
		{10, 1000001, "1000000 bins"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_error err = TL_ERROR_INIT;
		int code = tl__check_short_kernels(cases[i].threshold_us, cases[i].bins, &err);
		assert_int_equal(code, cases[i].says ? TL_EINVAL : 0);
		assert_non_null(strstr(err.message, cases[i].says ? cases[i].says : ""));
	}
	/* below infinity all are short: those of the whole table */
	fixture f;
	fixture_open(&f, sample());
	tl_error err = TL_ERROR_INIT;
	tl_table *all, *kernels = short_kernels_of(&f, INFINITY);
	assert_int_equal(tl__kernels(&all, f.a, &err), 0);
	assert_int_equal(tl_table_rows(kernels), tl_table_rows(all));
	tl_table_free(all);
	tl_table_free(kernels);
	fixture_close(&f);
}

/* ---- failure of allocation ---- */

static int all_tables(const tl_tree *tree)
{
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_table *kernels = NULL, *summary = NULL, *histogram = NULL, *shorts = NULL, *short_summary = NULL;
	int code = tl__analyzer_new(&a, tree, NULL, &err);
	if (code < 0)
		return code;
	code = tl__kernels(&kernels, a, &err);
	if (code == 0)
		code = tl__kernel_summary(&summary, a, &err);
	if (code == 0)
		code = tl__short_kernels(&shorts, a, 10, &err);
	if (code == 0)
		code = tl__short_kernel_histogram(&histogram, shorts, 10, &err);
	if (code == 0)
		code = tl__short_kernels_summary(&short_summary, a, shorts, 1, &err);
	tl_table_free(kernels);
	tl_table_free(summary);
	tl_table_free(histogram);
	tl_table_free(shorts);
	tl_table_free(short_summary);
	tl__analyzer_free(a);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	expect_failed_allocations_reported(sample(), all_tables, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_table_by_start),
		cmocka_unit_test(kernel_summary_names_launches),
		cmocka_unit_test(short_kernels_below_the_threshold),
		cmocka_unit_test(histogram_bins_are_half_open_and_the_last_is_closed),
		cmocka_unit_test(gpu_only_traces_have_no_operation_column),
		cmocka_unit_test(kernels_without_launches_have_no_category),
		cmocka_unit_test(only_copies_give_headers),
		cmocka_unit_test(a_kernel_without_usable_time_counts_but_not_its_time),
		cmocka_unit_test(streams_may_be_texts),
		cmocka_unit_test(ties_do_not_depend_on_the_order_of_the_file),
		cmocka_unit_test(what_is_asked_of_the_study_must_make_sense),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
