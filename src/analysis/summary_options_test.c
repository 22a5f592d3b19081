/* SPDX-License-Identifier: MIT */
/*
 * Recomputation, first occurrence, kernel counts as keys, heaviest rows only: on stores made for it; expected values
 * by arithmetic from spec 01 section 7.6 and spec 02 sections 7 and 8.
 */
#include "analysis/metrics_fixture.h"

#include <stdio.h>

static void open_marked(fixture *f, tl_store *store, const tl_analyzer_options *options, bool with_python)
{
	tl_error err = TL_ERROR_INIT;
	tl_tree_options to = {.with_python = with_python};
	*f = (fixture){.trace.store = store};
	assert_int_equal(tl_tree_build(&f->tree, &f->trace, &to, &err), 0);
	assert_int_equal(tl_tree_mark_recompute(f->tree, NULL, NULL, &err), 0);
	assert_int_equal(tl__analyzer_new(&f->a, f->tree, options, &err), 0);
}

static tl_table *unique_args_of(const tl_table *launchers, tl_summary_options o)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	assert_int_equal(tl__ops_unique_args(&table, launchers, &o, &err), 0);
	return table;
}

/* ---- recomputation ---- */

/* Three times the same product, the second one a recomputation. Kernels start 1000 µs behind their launch. */
static tl_store *recomputing(bool first_runs)
{
	tl_store *s = tl__store_new();
	if (first_runs)
		add_mm(s, 0, 10, 1); /* kernel 1002..1012 */
	tl_fixture_python(s, "torch/utils/checkpoint.py(1500): recompute_fn", HOST, FORWARD_THREAD, 90, 50, TL_ID_NONE,
			  TL_ID_NONE);
	add_mm(s, 100, 20, 2); /* 1102..1122 */
	if (first_runs)
		add_mm(s, 200, 30, 3); /* 1202..1232 */
	return s;
}

static void expect_part(const tl_table *t, size_t first, const char *flag, double busy, double total)
{
	for (size_t i = 0; i < 8; i++)
		expect_text(t, first + i, "is_recompute", flag);
	expect_text(t, first + 3, "type", "busy_time");
	expect_number(t, first + 3, "time ms", busy / 1e3);
	expect_number(t, first + 3, "percent", busy / total * 100);
	expect_text(t, first + 5, "type", "total_time");
	expect_number(t, first + 5, "time ms", total / 1e3);
}

/* What percentages of other sheets refer to: kernels of `sum` µs, all in one row, and the base. */
static void expect_base(fixture *f, double sum, double base)
{
	tl_table *t;
	assert_int_equal(tl__kernel_summary(&t, f->a, NULL), 0);
	assert_int_equal(tl_table_rows(t), 1);
	expect_number(t, 0, "Kernel duration (µs)_sum", sum);
	expect_number(t, 0, "Percent of total time (%)", sum / base * 100);
	tl_table_free(t);
}

static void the_timeline_comes_in_two_parts(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	fixture f;
	tl_analyzer_options o = {.detect_recompute = true};
	open_marked(&f, recomputing(true), &o, true);
	assert_int_equal(tl__gpu_timeline(&t, f.a, NULL, &err), 0);
	assert_int_equal(tl_table_rows(t), 16);
	expect_part(t, 0, "False", 40, 230); /* 1002..1232 with its own idle time */
	expect_part(t, 8, "True", 20, 20);
	tl_table_free(t);
	expect_base(&f, 60, 230); /* the first part [02-7] */
	double threshold = 1000;
	assert_int_equal(tl__gpu_timeline(&t, f.a, &threshold, &err), 0);
	assert_int_equal(tl_table_rows(t), 18);
	tl_table_free(t);
	fixture_close(&f);
}

static void a_part_without_events_is_left_out(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	fixture f;
	tl_analyzer_options o = {.detect_recompute = true};
	open_marked(&f, recomputing(false), &o, true);
	assert_int_equal(tl__gpu_timeline(&t, f.a, NULL, &err), 0);
	assert_int_equal(tl_table_rows(t), 8);
	expect_part(t, 0, "True", 20, 20);
	tl_table_free(t);
	expect_base(&f, 20, 20);
	fixture_close(&f);

	/* without frames nothing is known to be a recomputation */
	open_marked(&f, recomputing(true), &o, false);
	assert_int_equal(tl__gpu_timeline(&t, f.a, NULL, &err), 0);
	assert_int_equal(tl_table_rows(t), 8);
	expect_part(t, 0, "False", 60, 230);
	tl_table_free(t);
	fixture_close(&f);

	/* no GPU event at all */
	open_marked(&f, tl__store_new(), &o, true);
	assert_int_equal(tl__gpu_timeline(&t, f.a, NULL, &err), 0);
	assert_int_equal(tl_table_rows(t), 8);
	expect_text(t, 0, "is_recompute", "False");
	expect_number(t, 5, "time ms", 0);
	tl_table_free(t);
	fixture_close(&f);
}

static void recomputation_is_a_key_of_every_sheet(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_table *t, *sheet, *sheets[4];
	size_t n;
	fixture f;
	tl_analyzer_options o = {.detect_recompute = true};
	open_marked(&f, recomputing(true), &o, true);
	t = launchers_of(&f);
	assert_string_equal(tl_table_column_name(t, tl_table_columns(t) - 1), "is_recompute");
	static int (*const summaries[])(tl_table **, const tl_table *, tl_error *) = {tl__ops_summary_by_category,
										      tl__ops_summary};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(summaries[i](&sheet, t, &err), 0);
		assert_int_equal(tl_table_rows(sheet), 2);
		assert_string_equal(tl_table_column_name(sheet, 1), "is_recompute");
		expect_text(sheet, 0, "is_recompute", "False");
		expect_number(sheet, 0, "total_direct_kernel_time_ms", 0.04);
		expect_number(sheet, 0, "Count", 2);
		expect_number(sheet, 1, "Percentage (%)", 100 / 3.0);
		tl_table_free(sheet);
	}
	sheet = unique_args_of(t, (tl_summary_options){0});
	expect_text(sheet, 1, "is_recompute", "True");
	expect_number(sheet, 1, "total_direct_kernel_time_sum", 20);
	tl_table_free(sheet);
	tl_table_free(t);
	assert_int_equal(tl__unified_table(&t, f.a, &err), 0);
	assert_int_equal(tl__unified_perf_summary(&sheet, t, NULL, &err), 0);
	expect_text(sheet, 1, "is_recompute", "True");
	expect_number(sheet, 1, "Kernel Time (µs)_sum", 20);
	tl_table_free(sheet);
	tl_table_free(t);
	assert_int_equal(tl__category_sheets(sheets, &n, f.a, "GEMM", NULL, &err), 0);
	assert_int_equal(n, 1);
	expect_text(sheets[0], 1, "is_recompute", "True");
	expect_number(sheets[0], 1, "name_count", 1);
	tl_table_free(sheets[0]);
	fixture_close(&f);
}

/* ---- the others ---- */

static void first_occurrence_counts_from_the_earliest_launcher(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_mm(s, 500.125, 10, 1);
	tl_fixture_op(s, "aten::add", HOST, FORWARD_THREAD, 250.0625, 20);
	launch_kernel(s, FORWARD_THREAD, "add", 251, 99, 2);
	add_mm(s, 300.125, 10, 3);
	fixture f;
	tl_analyzer_options o = {.first_occurrence = true};
	fixture_open_with(&f, s, &o);
	tl_table *t = launchers_of(&f), *sheet = unique_args_of(t, (tl_summary_options){.first_occurrence = true});
	expect_text(sheet, 0, "name", "aten::add");
	expect_text(sheet, 0, "first_occurrence_time", "0.0");
	expect_text(sheet, 1, "first_occurrence_time", "50.0625"); /* exactly */
	size_t at = column_index(sheet, "first_occurrence_time");
	assert_string_equal(tl_table_column_name(sheet, at - 1), "operation_count");
	tl_table_free(sheet);
	tl_table_free(t);
	fixture_close(&f);
}

static void kernel_counts_are_keys_on_request(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_mm(s, 0, 10, 1);
	add_mm(s, 100, 10, 2);
	launch_kernel(s, FORWARD_THREAD, "split", 105, 30, 3); /* one more in the second */
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f), *sheet = unique_args_of(t, (tl_summary_options){0});
	assert_int_equal(tl_table_rows(sheet), 1);
	assert_int_equal(tl_table_find_column(sheet, "num_kernels"), -1);
	tl_table_free(sheet);
	sheet = unique_args_of(t, (tl_summary_options){.group_by_num_kernels = true});
	assert_int_equal(tl_table_rows(sheet), 2);
	expect_number(sheet, 0, "num_kernels", 2);
	expect_number(sheet, 1, "num_kernels", 1);
	tl_table_free(sheet);
	tl_table_free(t);
	tl_error err = TL_ERROR_INIT;
	tl_table *sheets[4];
	size_t n;
	tl_summary_options o = {.group_by_num_kernels = true};
	assert_int_equal(tl__category_sheets(sheets, &n, f.a, "GEMM", &o, &err), 0);
	assert_int_equal(tl_table_rows(sheets[0]), 2);
	expect_number(sheets[0], 0, "num_kernels", 2);
	tl_table_free(sheets[0]);
	fixture_close(&f);
}

static void cut_sheets_keep_percentages_of_all(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	for (int i = 0; i < 4; i++) {
		char name[16];
		snprintf(name, sizeof name, "op %d", i);
		tl_fixture_op(s, name, HOST, FORWARD_THREAD, 100 * i, 50);
		launch_kernel(s, FORWARD_THREAD, "k", 100 * i + 1, 10 * (i + 1), (tl_id)(i + 1));
	}
	fixture f;
	fixture_open(&f, s);
	tl_table *t = launchers_of(&f);
	for (int64_t top = 1; top < 6; top++) {
		tl_table *sheet = unique_args_of(t, (tl_summary_options){.top = top});
		assert_int_equal(tl_table_rows(sheet), top < 4 ? top : 4);
		expect_text(sheet, 0, "name", "op 3");
		expect_number(sheet, 0, "Percentage (%)", 40);
		if (top > 1)
			expect_number(sheet, 1, "Cumulative Percentage (%)", 70);
		tl_table_free(sheet);
	}
	tl_table_free(t);
	fixture_close(&f);
}

/*
 * A backward sheet has two parts, each sorted by itself: the backward passes of forward operations, then operations
 * with a model of their own. Cut to two rows it keeps the two heaviest, wherever they stand.
 */
static void a_cut_backward_sheet_keeps_the_heaviest(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 11);
	add_backward(s, 100, "aten::_flash_attention_backward", 1, 2, 11); /* 5 µs */
	for (int i = 0; i < 2; i++) {
		char dims[160];
		snprintf(dims, sizeof dims,
			 "[[1,%d,1,64],[1,%d,1,64],[1,%d,1,64],[1,%d,1,64],[1,%d,1,64],[1,1,%d],[],[],[]]", 64 + i,
			 64 + i, 64 + i, 64 + i, 64 + i, 64 + i);
		tl_row op =
			tl_fixture_op(s, "flash_attn::_flash_attn_backward", HOST, FORWARD_THREAD, 300 + 100 * i, 50);
		set_args(s, op, dims,
			 "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\","
			 "\"float\",\"\",\"\",\"\"]",
			 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"0.\",\"0.125\",\"False\"]");
		launch_kernel(s, FORWARD_THREAD, "bwd", 301 + 100 * i, i ? 7 : 3, (tl_id)(20 + i));
	}
	fixture f;
	fixture_open(&f, s);
	tl_error err = TL_ERROR_INIT;
	tl_table *sheets[4];
	size_t n;
	for (int64_t top = 0; top < 3; top++) {
		tl_summary_options o = {.top = top};
		assert_int_equal(tl__category_sheets(sheets, &n, f.a, "SDPA", &o, &err), 0);
		assert_int_equal(n, 2);
		const tl_table *bwd = sheets[1];
		assert_string_equal(tl_table_name(bwd), "SDPA_bwd");
		assert_int_equal(tl_table_rows(bwd), top ? top : 3);
		size_t last = (size_t)(top ? top : 2) - 1; /* 5, 7 and 3; 7; 5 and 7 */
		expect_number(bwd, last, "Kernel Time (µs)_sum", 7);
		if (top != 1)
			expect_number(bwd, 0, "Kernel Time (µs)_sum", 5);
		assert_int_equal(tl_table_find_column(bwd, "place"), -1);
		tl_table_free(sheets[0]);
		tl_table_free(sheets[1]);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_timeline_comes_in_two_parts),
		cmocka_unit_test(a_part_without_events_is_left_out),
		cmocka_unit_test(recomputation_is_a_key_of_every_sheet),
		cmocka_unit_test(first_occurrence_counts_from_the_earliest_launcher),
		cmocka_unit_test(kernel_counts_are_keys_on_request),
		cmocka_unit_test(cut_sheets_keep_percentages_of_all),
		cmocka_unit_test(a_cut_backward_sheet_keeps_the_heaviest),
	};
	return cmocka_run_group_tests_name("summary_options", tests, NULL, NULL);
}
