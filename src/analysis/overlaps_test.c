/* SPDX-License-Identifier: MIT */
/*
 * Overlap columns, from the worked example of spec 01 section 8.3 and by arithmetic. Launches are on thread 1 far
 * before their kernels, whose times are given.
 */
#include "analysis/analysis_fixture.h"
#include "analysis/overlap.h"

static const tl_analyzer_options with_overlap = {.overlap = true};

/* An operation with one kernel; the n-th is launched at n ms. */
static tl_row op_with_kernel(tl_store *s, const char *op, const char *kernel, tl_id stream, double start, double dur)
{
	tl_id n = (tl_id)s->n;
	double at = -1e6 + 1000.0 * (double)n;
	tl_row row = tl_fixture_op(s, op, 1, 1, at, 10);
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, at + 1, 1, 1000 + n);
	tl_fixture_gpu(s, TL_KIND_KERNEL, kernel, 0, stream, start, dur, 1000 + n);
	return row;
}

/* One more kernel of the operation that was made last. */
static void one_more_kernel(tl_store *s, const char *kernel, tl_id stream, double start, double dur)
{
	tl_row launch = (tl_row)s->n - 2;
	double at = (double)s->start[launch] / 1e6;
	tl_id id = 5000 + (tl_id)s->n;
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, at + 1, 1, id);
	tl_fixture_gpu(s, TL_KIND_KERNEL, kernel, 0, stream, start, dur, id);
}

static tl_table *unique_args_of(const tl_table *launchers, bool overlap)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	tl_summary_options o = {.overlap = overlap};
	assert_int_equal(tl__ops_unique_args(&table, launchers, &o, &err), 0);
	return table;
}

static void the_worked_example(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "aten::mm", "mm_kernel", 7, 1000, 100);
	op_with_kernel(s, "aten::add", "add_kernel", 8, 1050, 150);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f);
	expect_text(t, 0, "overlapping_kernel_names", "['add_kernel']");
	expect_text(t, 0, "overlapping_kernels_details",
		    "[{'name': 'add_kernel', 'dur': 150.0, 'stream': 8, 'overlap_pct': 0.5}]");
	expect_number(t, 0, "overlap_pct", 0.5);
	expect_text(t, 1, "overlapping_kernel_names", "['mm_kernel']");
	expect_text(t, 1, "overlapping_kernels_details",
		    "[{'name': 'mm_kernel', 'dur': 100.0, 'stream': 7, 'overlap_pct': 0.33}]");
	expect_number(t, 1, "overlap_pct", 1 / 3.0); /* rounded when it is shown, not before */

	tl_table *sheet = unique_args_of(t, true);
	assert_string_equal(tl_table_name(sheet), "ops_unique_args_kl_overlap");
	expect_text(sheet, 0, "name", "aten::add");
	expect_text(sheet, 0, "overlapping_kernel_names", "['mm_kernel']");
	expect_text(sheet, 0, "overlapping_kernels_details_summary",
		    "[{'name': 'mm_kernel', 'stream': 7, 'overlap_pct': 0.33, 'count': 1, 'total_duration_us': 100.0, "
		    "'mean_duration_us': 100.0, 'median_duration_us': 100.0, 'std_dev_duration_us': 0.0, "
		    "'min_duration_us': 100.0, 'max_duration_us': 100.0}]");
	expect_text(sheet, 0, "trunc_overlapping_kernels_details",
		    "[{'name': 'mm_kernel', 'stream': 7, 'mean_duration_us': 100.0}]");
	expect_text(sheet, 0, "overlap_pct_mean", "0.33");
	expect_text(sheet, 0, "overlap_pct_std", "0.0"); /* of one row: 0, not empty */
	expect_text(sheet, 1, "overlap_pct_max", "0.5");
	tl_table_free(sheet);
	sheet = unique_args_of(t, false);
	assert_int_equal(tl_table_find_column(sheet, "overlapping_kernel_names"), -1);
	assert_int_equal(tl_table_find_column(sheet, "overlap_pct_mean"), -1);
	tl_table_free(sheet);
	tl_table_free(t);
	fixture_close(&f);
}

static void without_the_option_there_are_no_columns(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "aten::mm", "mm_kernel", 7, 1000, 100);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_find_column(t, "overlap_pct"), -1);
	assert_null(f.a->overlap); /* and nothing was looked for */
	tl_table_free(t);
	fixture_close(&f);
}

static void what_overlaps_nothing_is_empty(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "aten::mm", "mm_kernel", 7, 1000, 100);
	op_with_kernel(s, "aten::add", "add_kernel", 8, 1100, 150);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f), *sheet = unique_args_of(t, true);
	for (size_t row = 0; row < 2; row++) {
		expect_empty(t, row, "overlapping_kernel_names");
		expect_empty(t, row, "overlapping_kernels_details");
		expect_empty(t, row, "overlap_pct");
		expect_empty(sheet, row, "overlapping_kernel_names");
		expect_text(sheet, row, "overlapping_kernels_details_summary", "[]");
		expect_empty(sheet, row, "trunc_overlapping_kernels_details");
		expect_empty(sheet, row, "overlap_pct_mean");
		expect_empty(sheet, row, "overlap_pct_std");
	}
	tl_table_free(sheet);
	tl_table_free(t);
	fixture_close(&f);
}

/* [01-O2]: kernels of one operation on two streams do not overlap each other, but others overlap them. */
static void kernels_of_one_operation_do_not_overlap_each_other(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "aten::mm", "left", 7, 0, 100);
	one_more_kernel(s, "right", 8, 50, 100);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_number(t, 0, "direct_kernel_count", 2);
	expect_empty(t, 0, "overlap_pct");
	tl_table_free(t);
	fixture_close(&f);
}

/* A nested operation is another one: what it launches overlaps what the outer one launches. */
static void the_nearest_operation_decides(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "outer", 1, 1, 0, 100);
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, 1, 1, 1);
	tl_fixture_op(s, "inner", 1, 1, 10, 50);
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, 11, 1, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "a", 0, 7, 1000, 10, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "b", 0, 8, 1005, 10, 2);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f);
	expect_text(t, 0, "overlapping_kernel_names", "['b']");
	expect_text(t, 1, "overlapping_kernel_names", "['a']");
	tl_table_free(t);
	fixture_close(&f);
}

/*
 * a 0..10, b 4..14, c 8..18: a shares 6 with b and 2 with c, together 4..10; b shares 6 with a and 6 with c, together
 * all but nothing: 4..10 and 8..14; c shares 2 with a and 6 with b, together 8..14.
 */
static void three_at_once(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "a", "ka", 1, 0, 10);
	op_with_kernel(s, "b", "kb", 2, 4, 10);
	op_with_kernel(s, "c", "kc", 3, 8, 10);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f);
	expect_text(t, 0, "overlapping_kernels_details",
		    "[{'name': 'kb', 'dur': 10.0, 'stream': 2, 'overlap_pct': 0.6}, "
		    "{'name': 'kc', 'dur': 10.0, 'stream': 3, 'overlap_pct': 0.2}]");
	expect_number(t, 0, "overlap_pct", 0.6);
	expect_text(t, 1, "overlapping_kernel_names", "['ka', 'kc']");
	expect_number(t, 1, "overlap_pct", 1);
	expect_text(t, 2, "overlapping_kernel_names", "['ka', 'kb']");
	expect_number(t, 2, "overlap_pct", 0.6);
	tl_table_free(t);
	fixture_close(&f);
}

/*
 * An operation with two kernels of 10 µs each (busy 20), overlapped by k three times: 4, 5 and 6 µs, 15 of 20 together;
 * a pair has (4 + 5 + 6) / 3 / 20 = 0.25.
 */
static void pairs_of_one_name_are_averaged(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "op", "one", 7, 0, 10);
	one_more_kernel(s, "two", 7, 10, 10);
	op_with_kernel(s, "other", "k", 8, -4, 8);
	one_more_kernel(s, "k", 8, 5, 5);
	one_more_kernel(s, "k", 8, 14, 8);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f);
	expect_text(t, 0, "overlapping_kernels_details",
		    "[{'name': 'k', 'dur': 7.0, 'stream': 8, 'overlap_pct': 0.25}]");
	expect_number(t, 0, "overlap_pct", 0.75);
	tl_table_free(t);
	fixture_close(&f);
}

/* Two kernels of one operation side by side, both covered by a third: 20 of 12 µs of busy time. */
static void the_share_may_exceed_one(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "op", "one", 7, 0, 10);
	one_more_kernel(s, "two", 8, 2, 10);
	op_with_kernel(s, "other", "k", 9, -5, 100);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f);
	expect_number(t, 0, "overlap_pct", 20 / 12.0);
	tl_table_free(t);
	fixture_close(&f);
}

/* Communication has no row among launchers, but what it overlaps is told. */
static void communication_overlaps_too(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "aten::mm", "mm_kernel", 7, 0, 10);
	op_with_kernel(s, "c10d::allreduce_", "ncclDevKernel_Generic", 9, -10, 100);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "overlapping_kernel_names", "['ncclDevKernel_Generic']");
	expect_number(t, 0, "overlap_pct", 1);
	tl_table_free(t);
	fixture_close(&f);
}

/* A kernel whose launch is not in the trace takes part only where the timeline counts it, too. */
static void unlinked_kernels_take_part_on_request(void **state)
{
	(void)state;
	for (int included = 0; included < 2; included++) {
		tl_store *s = tl__store_new();
		op_with_kernel(s, "aten::mm", "mm_kernel", 7, 0, 10);
		tl_fixture_gpu(s, TL_KIND_KERNEL, "lost", 0, 8, 0, 5, 77);
		fixture f;
		tl_analyzer_options o = {.overlap = true, .include_unlinked = included};
		fixture_open_with(&f, s, &o);
		tl_table *t = launchers_of(&f);
		if (included)
			expect_number(t, 0, "overlap_pct", 0.5);
		else
			expect_empty(t, 0, "overlap_pct");
		tl_table_free(t);
		fixture_close(&f);
	}
}

/* [02-8]: the same two kernels, met in either order, are one row; another set is another one. */
static void sets_of_names_are_keys(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "op", "k", 7, 0, 10); /* q, then p */
	op_with_kernel(s, "side", "q", 8, 0, 4);
	one_more_kernel(s, "p", 8, 5, 4);
	op_with_kernel(s, "op", "k", 7, 100, 10); /* p, then q */
	op_with_kernel(s, "side", "p", 8, 100, 4);
	one_more_kernel(s, "q", 8, 105, 4);
	op_with_kernel(s, "op", "k", 7, 200, 10); /* p alone */
	op_with_kernel(s, "side", "p", 8, 200, 9);
	op_with_kernel(s, "op", "k", 7, 300, 10); /* nothing */
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f), *sheet = unique_args_of(t, true);
	/* op with {p, q}: 20 µs; side over k: 16 and 9 µs, rows of one key; op alone twice */
	assert_int_equal(tl_table_rows(sheet), 4);
	expect_text(sheet, 0, "name", "side");
	expect_number(sheet, 0, "operation_count", 3);
	expect_text(sheet, 1, "name", "op");
	expect_text(sheet, 1, "overlapping_kernel_names", "['q', 'p']"); /* as the earliest has them */
	expect_number(sheet, 1, "operation_count", 2);
	expect_number(sheet, 1, "overlap_pct_mean", 0.8);
	expect_text(sheet, 2, "overlapping_kernel_names", "['p']");
	expect_empty(sheet, 3, "overlapping_kernel_names");
	tl_table_free(sheet);
	/* the plain form knows nothing of it */
	sheet = unique_args_of(t, false);
	assert_int_equal(tl_table_rows(sheet), 2);
	tl_table_free(sheet);
	tl_table_free(t);
	fixture_close(&f);
}

/* Means of rows are rounded once: of 1/3 and 1/2 it is 0.42 (0.41666...), not the 0.415 of two rounded values. */
static void shares_are_rounded_once(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "op", "k", 7, 0, 150);
	op_with_kernel(s, "side", "p", 8, 50, 50);
	op_with_kernel(s, "op", "k", 7, 1000, 100);
	op_with_kernel(s, "side", "p", 8, 1050, 50);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_table *t = launchers_of(&f), *sheet = unique_args_of(t, true);
	expect_text(sheet, 0, "name", "op");
	expect_text(sheet, 0, "overlap_pct_mean", "0.42");
	expect_text(sheet, 0, "overlap_pct_min", "0.33");
	expect_text(sheet, 0, "overlap_pct_std", "0.12"); /* (1/2 - 1/3) / sqrt(2) = 0.1178 */
	tl_table_free(sheet);
	tl_table_free(t);
	fixture_close(&f);
}

/* Rows of one operation stay together: mul 8 + 8 stands before add 12, although 12 > 8. */
static void rows_of_one_operation_stay_together(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	op_with_kernel(s, "aten::add", "add", 7, 0, 12);
	op_with_kernel(s, "aten::silly", "mul", 7, 100, 8);
	op_with_kernel(s, "aten::silly", "mul", 7, 200, 8.5);
	op_with_kernel(s, "c10d::allreduce_", "ncclKernel", 9, 200, 5);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_error err = TL_ERROR_INIT;
	tl_table *unified, *sheet;
	tl_summary_options o = {.overlap = true};
	assert_int_equal(tl__unified_table(&unified, f.a, &err), 0);
	assert_int_equal(tl__unified_perf_summary(&sheet, unified, &o, &err), 0);
	assert_string_equal(tl_table_name(sheet), "unified_perf_summary_kl_overlap");
	assert_int_equal(tl_table_rows(sheet), 3);
	expect_text(sheet, 0, "name", "aten::silly");
	expect_text(sheet, 0, "overlapping_kernel_names", "['ncclKernel']");
	expect_text(sheet, 0, "overlap_pct_mean", "0.59"); /* 5 / 8.5 */
	expect_text(sheet, 1, "name", "aten::silly");
	expect_empty(sheet, 1, "overlapping_kernel_names");
	expect_text(sheet, 2, "name", "aten::add");
	assert_int_equal(tl_table_find_column(sheet, "group time"), -1);
	expect_number(sheet, 2, "Cumulative Percentage (%)", 100);
	tl_table_free(sheet);
	/* without the overlaps the two are one row */
	assert_int_equal(tl__unified_perf_summary(&sheet, unified, NULL, &err), 0);
	assert_int_equal(tl_table_rows(sheet), 2);
	tl_table_free(sheet);
	tl_table_free(unified);
	fixture_close(&f);
}

static void expect_by_name(const tl_table *sheet, const char *names, const char *details, const char *summary)
{
	expect_text(sheet, 0, names, "['X', 'Y']");
	expect_text(sheet, 0, details,
		    "[{'name': 'X', 'stream': 8, 'overlap_pct': 0.1, 'count': 2, 'total_duration_us': 20.0, "
		    "'mean_duration_us': 10.0, 'median_duration_us': 10.0, 'std_dev_duration_us': 0.0, "
		    "'min_duration_us': 10.0, 'max_duration_us': 10.0}, "
		    "{'name': 'Y', 'stream': 9, 'overlap_pct': 0.5, 'count': 2, 'total_duration_us': 100.0, "
		    "'mean_duration_us': 50.0, 'median_duration_us': 50.0, 'std_dev_duration_us': 0.0, "
		    "'min_duration_us': 50.0, 'max_duration_us': 50.0}]");
	expect_text(sheet, 0, summary,
		    "[{'name': 'X', 'stream': 8, 'mean_duration_us': 10.0}, "
		    "{'name': 'Y', 'stream': 9, 'mean_duration_us': 50.0}]");
}

/* One call is overlapped by X, then Y, the other by Y, then X: each name keeps its own times in all three summaries. */
static void details_are_summed_by_name(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	for (int i = 0; i < 2; i++) {
		tl_row mm = op_with_kernel(s, "aten::mm", "gemm", 7, 1000 * i, 100);
		tl_op_args *args = tl_fixture_op_args(s, mm);
		args->dims = tl__interns(s->strings, "[[64,32],[32,16]]");
		args->types = tl__interns(s->strings, "[\"float\",\"float\"]");
		op_with_kernel(s, "other", "X", 8, i ? 1070 : 10, 10);
		op_with_kernel(s, "other", "Y", 9, i ? 1010 : 50, 50);
	}
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_error err = TL_ERROR_INIT;
	tl_summary_options o = {.overlap = true};
	tl_table *launchers = launchers_of(&f), *unified, *sheets[4], *sheet = unique_args_of(launchers, true);
	size_t n;
	expect_text(sheet, 0, "name", "aten::mm");
	expect_by_name(sheet, "overlapping_kernel_names", "overlapping_kernels_details_summary",
		       "trunc_overlapping_kernels_details");
	tl_table_free(sheet);
	assert_int_equal(tl__unified_table(&unified, f.a, &err), 0);
	assert_int_equal(tl__unified_perf_summary(&sheet, unified, &o, &err), 0);
	expect_by_name(sheet, "overlapping_kernel_names", "overlapping_kernels_details_summary",
		       "trunc_overlapping_kernels_details");
	tl_table_free(sheet);
	assert_int_equal(tl__category_sheets(sheets, &n, f.a, "GEMM", &o, &err), 0);
	assert_int_equal(n, 2);
	expect_by_name(sheets[1], "overlapping_kernel_names_first",
		       "overlapping_kernels_details__summarize_kernel_stats", "trunc_overlapping_kernels_details");
	tl_table_free(sheets[0]);
	tl_table_free(sheets[1]);
	tl_table_free(unified);
	tl_table_free(launchers);
	fixture_close(&f);
}

/* Category sheets have the overlaps of launchers; each family comes in both forms. */
static void category_sheets_come_in_both_forms(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row mm = op_with_kernel(s, "aten::mm", "gemm", 7, 0, 10);
	tl_op_args *args = tl_fixture_op_args(s, mm);
	args->dims = tl__interns(s->strings, "[[64,32],[32,16]]");
	args->types = tl__interns(s->strings, "[\"float\",\"float\"]");
	op_with_kernel(s, "other", "k", 8, 5, 10);
	fixture f;
	fixture_open_with(&f, s, &with_overlap);
	tl_error err = TL_ERROR_INIT;
	tl_table *sheets[4];
	size_t n;
	tl_summary_options o = {.overlap = true};
	assert_int_equal(tl__category_sheets(sheets, &n, f.a, "GEMM", &o, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(tl_table_name(sheets[0]), "GEMM");
	assert_int_equal(tl_table_find_column(sheets[0], "overlap_pct_mean"), -1);
	assert_string_equal(tl_table_name(sheets[1]), "GEMM_kl_overlap");
	assert_string_equal(tl_table_column_name(sheets[1], 1), "overlapping_kernel_names_first");
	expect_text(sheets[1], 0, "overlapping_kernel_names_first", "['k']");
	expect_number(sheets[1], 0, "overlap_pct_mean", 0.5);
	tl_table_free(sheets[0]);
	tl_table_free(sheets[1]);
	fixture_close(&f);
}

/* ---- of single GPU events ---- */

static void expect_overlapping(tl_analyzer *a, tl_row event, const tl_row *expected, size_t n_expected)
{
	const tl_row *found;
	size_t n;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_analyzer_overlapping(&found, &n, a, event, &err), 0);
	assert_int_equal(n, n_expected);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(found[i], expected[i]);
}

/* 1000..1100, 1050..1200, 1090..1095 and, without a launch, 1050..1060; each on a stream of its own. */
static void what_overlaps_one_event(void **state)
{
	(void)state;
	for (int unlinked = 0; unlinked < 2; unlinked++) {
		tl_store *s = tl__store_new();
		tl_row op = op_with_kernel(s, "aten::mm", "mm_kernel", 7, 1000, 100), mm = (tl_row)s->n - 1;
		op_with_kernel(s, "aten::add", "add_kernel", 8, 1050, 150);
		tl_row add = (tl_row)s->n - 1;
		op_with_kernel(s, "aten::relu", "relu_kernel", 9, 1090, 5);
		tl_row relu = (tl_row)s->n - 1;
		tl_row lost = tl_fixture_gpu(s, TL_KIND_KERNEL, "lost", 0, 10, 1050, 10, 99);
		fixture f;
		fixture_open_with(&f, s, &(tl_analyzer_options){.include_unlinked = unlinked});
		expect_overlapping(f.a, add, unlinked ? (tl_row[]){mm, lost, relu} : (tl_row[]){mm, relu},
				   unlinked ? 3 : 2);
		expect_overlapping(f.a, relu, (tl_row[]){mm, add}, 2);
		expect_overlapping(f.a, lost, (tl_row[]){mm, add}, unlinked ? 2 : 0);
		expect_overlapping(f.a, op, NULL, 0);
		const tl_row *found;
		size_t n;
		tl_error err = TL_ERROR_INIT;
		assert_int_equal(tl_analyzer_overlapping(&found, &n, f.a, (tl_row)s->n, &err), TL_EINVAL);
		assert_non_null(strstr(err.message, "there is no event with UID"));
		fixture_close(&f);
	}
}

static int overlapping_of_a_tree(const tl_tree *tree)
{
	tl_analyzer *a;
	const tl_row *found;
	size_t n;
	int code = tl__analyzer_new(&a, tree, NULL, NULL);
	if (code < 0)
		return code;
	code = tl_analyzer_overlapping(&found, &n, a, 5, NULL);
	tl__analyzer_free(a);
	return code;
}

static tl_store *busy_store(void)
{
	tl_store *s = tl__store_new();
	for (int i = 0; i < 6; i++)
		op_with_kernel(s, i % 2 ? "a" : "b", i % 3 ? "k" : "j", (tl_id)i, i, 20);
	return s;
}

static int overlaps_of_a_summary(const tl_tree *tree)
{
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_table *t = NULL, *sheet = NULL;
	const tl_summary_options o = {.overlap = true, .top = 1};
	int code = tl__analyzer_new(&a, tree, &with_overlap, &err);
	if (code == 0)
		code = tl__launchers(&t, a, &err);
	if (code == 0)
		code = tl__ops_unique_args(&sheet, t, &o, &err);
	tl_table_free(sheet);
	tl_table_free(t);
	tl__analyzer_free(a);
	assert_int_equal(err.code, code);
	return code;
}

static void without_memory_it_fails_cleanly(void **state)
{
	(void)state;
	expect_failed_allocations_reported(busy_store(), overlaps_of_a_summary, 30);
}

static void of_one_event_without_memory(void **state)
{
	(void)state;
	expect_failed_allocations_reported(busy_store(), overlapping_of_a_tree, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example),
		cmocka_unit_test(without_the_option_there_are_no_columns),
		cmocka_unit_test(what_overlaps_nothing_is_empty),
		cmocka_unit_test(kernels_of_one_operation_do_not_overlap_each_other),
		cmocka_unit_test(the_nearest_operation_decides),
		cmocka_unit_test(three_at_once),
		cmocka_unit_test(pairs_of_one_name_are_averaged),
		cmocka_unit_test(the_share_may_exceed_one),
		cmocka_unit_test(communication_overlaps_too),
		cmocka_unit_test(unlinked_kernels_take_part_on_request),
		cmocka_unit_test(sets_of_names_are_keys),
		cmocka_unit_test(shares_are_rounded_once),
		cmocka_unit_test(rows_of_one_operation_stay_together),
		cmocka_unit_test(details_are_summed_by_name),
		cmocka_unit_test(category_sheets_come_in_both_forms),
		cmocka_unit_test(what_overlaps_one_event),
		cmocka_unit_test(without_memory_it_fails_cleanly),
		cmocka_unit_test(of_one_event_without_memory),
	};
	return cmocka_run_group_tests_name("overlaps", tests, NULL, NULL);
}
