/* SPDX-License-Identifier: MIT */
/*
 * Metrics tables and category sheets. Layout from spec 02 sections 4.2, 4.3 and 8; figures from the formulas of
 * spec 03 by hand.
 */
#include "analysis/metrics_fixture.h"

static size_t sheets_of(fixture *f, const char *family, tl_table *out[4])
{
	tl_error err = TL_ERROR_INIT;
	size_t n;
	assert_int_equal(tl__category_sheets(out, &n, f->a, family, NULL, &err), 0);
	return n;
}

static void free_sheets(tl_table *sheets[4])
{
	tl_table_free(sheets[0]);
	tl_table_free(sheets[1]);
}

static void a_single_sheet_has_one_row_a_name_and_parameters(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row later = add_mm(s, 100, 30, 1);
	tl_row first = add_mm(s, 0, 10, 2);
	tl_row other = tl_fixture_op(s, "aten::bmm", HOST, FORWARD_THREAD, 50, 10);
	set_args(s, other, "[[2,8,4],[2,4,8]]", "[\"float\",\"float\"]", NULL);
	launch_kernel(s, FORWARD_THREAD, "bmm_kernel", 52, 100, 3);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "GEMM", sheets), 1);
	tl_table *t = sheets[0];
	assert_string_equal(tl_table_name(t), "GEMM");
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "aten::bmm"); /* 100 µs before 40 */
	expect_text(t, 1, "name", "aten::mm");
	expect_text(t, 1, "param: M", "64");
	expect_text(t, 1, "param: N", "16");
	expect_text(t, 1, "param: K", "32");
	expect_text(t, 1, "param: bias", "False");
	expect_text(t, 1, "param: stride_A", ""); /* no strides in the trace: absent, hence blank */
	expect_number(t, 1, "GFLOPS_first", 65536 / 1e9);
	expect_number(t, 1, "Kernel Time (µs)_mean", 20);
	expect_number(t, 1, "Kernel Time (µs)_median", 20);
	expect_number(t, 1, "Kernel Time (µs)_std", sqrt(200));
	expect_number(t, 1, "Kernel Time (µs)_min", 10);
	expect_number(t, 1, "Kernel Time (µs)_max", 30);
	expect_number(t, 1, "Kernel Time (µs)_sum", 40);
	expect_number(t, 1, "name_count", 2);
	expect_number(t, 1, "UID_first", later < first ? later : first);
	expect_text(t, 1, "Input Dims_first", "[[64, 32], [32, 16]]"); /* lists, not tuples */
	expect_text(t, 1, "kernel_details__summarize_kernel_stats",
		    "[{'name': 'gemm_kernel', 'stream': 7, 'count': 2, 'total_duration_us': 40.0, 'mean_duration_us': "
		    "20.0, "
		    "'median_duration_us': 20.0, 'std_dev_duration_us': 10.0, 'min_duration_us': 10.0, "
		    "'max_duration_us': 30.0}]");
	/* name, parameters, costs, rates ... as the sheet is laid out */
	assert_true(column_index(t, "param: M") < column_index(t, "GFLOPS_first"));
	assert_int_equal(column_index(t, "GFLOPS_first") + 3, column_index(t, "TB/s_mean"));
	assert_int_equal(column_index(t, "TB/s_mean") + 5, column_index(t, "TFLOPS/s_mean"));
	assert_int_equal(column_index(t, "UID_first") + 1, tl_table_columns(t));
	free_sheets(sheets);
	fixture_close(&f);
}

static void an_operation_without_gpu_work_has_a_row_without_rates(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row mm = tl_fixture_op(s, "aten::mm", HOST, FORWARD_THREAD, 0, 10);
	set_args(s, mm, "[[64,32],[32,16]]", "[\"float\",\"float\"]", NULL);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "GEMM", sheets), 1);
	assert_int_equal(tl_table_rows(sheets[0]), 1);
	expect_number(sheets[0], 0, "Kernel Time (µs)_sum", 0);
	expect_number(sheets[0], 0, "GFLOPS_first", 65536 / 1e9);
	expect_empty(sheets[0], 0, "TFLOPS/s_mean");
	expect_empty(sheets[0], 0, "TB/s_mean");
	expect_text(sheets[0], 0, "kernel_details__summarize_kernel_stats", "[]");
	free_sheets(sheets);
	fixture_close(&f);
}

/* One operation on two threads: the younger thread's comes first, as in a profiler's file, whatever order the file has.
 */
static void the_first_of_a_group_does_not_depend_on_the_file(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		tl_store *s = tl__store_new();
		tl_row rows[2];
		for (int i = 0; i < 2; i++) {
			bool young = i != swapped;
			rows[i] = tl_fixture_op(s, "aten::mm", HOST, young ? 9 : 5, young ? 100 : 0, 10);
			set_args(s, rows[i], "[[64,32],[32,16]]", "[\"float\",\"float\"]",
				 young ? "[\"young\",\"\"]" : "[\"old\",\"\"]");
		}
		fixture f;
		fixture_open(&f, s);
		tl_table *sheets[4];
		assert_int_equal(sheets_of(&f, "GEMM", sheets), 1);
		assert_int_equal(tl_table_rows(sheets[0]), 1);
		expect_text(sheets[0], 0, "Concrete Inputs_first", "['young', '']");
		expect_number(sheets[0], 0, "UID_first", rows[0]);
		free_sheets(sheets);
		fixture_close(&f);
	}
}

static void families_without_events_have_no_sheet(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_mm(s, 0, 10, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	size_t n;
	const char *const *families = tl__perf_sheets(&n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(sheets_of(&f, families[i], sheets), !strcmp(families[i], "GEMM"));
		free_sheets(sheets);
	}
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl__category_sheets(sheets, &n, f.a, "no such family", NULL, &err), TL_ENOTFOUND);
	assert_int_equal(n, 0);
	fixture_close(&f);
}

static void a_forward_operation_has_its_backward_pass_in_the_second_sheet(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row attention = add_attention(s, 0, 1, 77);
	add_backward(s, 100, "aten::_flash_attention_backward", 2, 10, 77);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "SDPA", sheets), 2);
	assert_string_equal(tl_table_name(sheets[0]), "SDPA_fwd");
	assert_string_equal(tl_table_name(sheets[1]), "SDPA_bwd");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(tl_table_rows(sheets[i]), 1);
		expect_text(sheets[i], 0, "name", attention_name);
		expect_number(sheets[i], 0, "UID_first", attention);
		expect_number(sheets[i], 0, "GFLOPS_first", (i ? 2621440 : 1048576) / 1e9);
		expect_number(sheets[i], 0, "Data Moved (MB)_first", (i ? 57344 : 32768) / 1048576.0);
		expect_number(sheets[i], 0, "Kernel Time (µs)_sum", i ? 10 : 4);
	}
	free_sheets(sheets);
	fixture_close(&f);
}

/* A backward operation with a model of its own. */
static void add_own_backward(tl_store *s, double start, double dur, unsigned correlation)
{
	tl_row op = tl_fixture_op(s, "flash_attn::_flash_attn_backward", HOST, BACKWARD_THREAD, start, 10);
	set_args(s, op, "[[1,64,1,64],[1,64,1,64],[1,64,1,64],[1,64,1,64]]",
		 "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]",
		 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"0.\",\"0.125\",\"False\",\"False\"]");
	tl_fixture_op_args(s, op)->strides = tl__interns(
		s->strings, "[[4096,64,64,1],[4096,64,64,1],[4096,64,64,1],[4096,64,64,1],[],[],[],[],[],[],[],[]]");
	launch_kernel(s, BACKWARD_THREAD, "attn_bwd", start + 2, dur, correlation);
}

/* [02-12], [03-F7]: by the model's category, not by a list of four names. */
static void a_backward_operation_stands_in_the_backward_sheet(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_own_backward(s, 0, 8, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "SDPA", sheets), 1);
	assert_string_equal(tl_table_name(sheets[0]), "SDPA_bwd");
	expect_text(sheets[0], 0, "name", "flash_attn::_flash_attn_backward");
	expect_number(sheets[0], 0, "Kernel Time (µs)_sum", 8);
	free_sheets(sheets);
	fixture_close(&f);
}

/* The sheet of both kinds of backward rows is made of two tables that are gone when it is read. */
static void passes_and_operations_share_the_backward_sheet(void **state)
{
	static const char kernels[] = "[{'name': 'attn_bwd', 'stream': 7, 'count': 1, 'total_duration_us': 8.0, "
				      "'mean_duration_us': 8.0, 'median_duration_us': 8.0, 'std_dev_duration_us': 0.0, "
				      "'min_duration_us': 8.0, 'max_duration_us': 8.0}]";
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 77);
	add_backward(s, 100, "aten::_flash_attention_backward", 2, 10, 77);
	add_own_backward(s, 200, 8, 3);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "SDPA", sheets), 2);
	tl_table *t = sheets[1];
	assert_string_equal(tl_table_name(t), "SDPA_bwd");
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", attention_name);
	expect_number(t, 0, "Kernel Time (µs)_sum", 10);
	expect_text(t, 1, "name", "flash_attn::_flash_attn_backward");
	expect_text(t, 1, "kernel_details__summarize_kernel_stats", kernels);
	expect_text(t, 1, "trunc_kernel_details", "[{'name': 'attn_bwd', 'stream': 7, 'mean_duration_us': 8.0}]");
	expect_text(t, 1, "Concrete Inputs_first", "['', '', '', '', '', '', '', '', '0.', '0.125', 'False', 'False']");
	/* as a report keeps it */
	assert_int_equal(tl__table_own_values(t, NULL), 0);
	expect_text(t, 1, "kernel_details__summarize_kernel_stats", kernels);
	free_sheets(sheets);
	fixture_close(&f);
}

/* A convolution's backward pass is an operation with its own model: its row, not one of the forward call. */
static void a_convolution_is_not_counted_twice_in_the_backward_sheet(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row op = tl_fixture_op(s, "aten::convolution", HOST, FORWARD_THREAD, 0, 10);
	set_args(s, op, "[[1,1,4,4],[1,1,3,3],[],[],[],[],[],[],[]]",
		 "[\"float\",\"float\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
		 "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"]");
	tl_fixture_op_args(s, op)->sequence = 5;
	launch_kernel(s, FORWARD_THREAD, "conv", 2, 3, 1);
	tl_row node = tl_fixture_op(s, "autograd::engine::evaluate_function: ConvolutionBackward0", HOST,
				    BACKWARD_THREAD, 100, 50);
	tl_fixture_op_args(s, node)->sequence = 5;
	tl_row backward = tl_fixture_op(s, "aten::convolution_backward", HOST, BACKWARD_THREAD, 101, 40);
	set_args(s, backward, "[[1,1,2,2],[1,1,4,4],[1,1,3,3],[],[],[],[],[],[],[],[]]",
		 "[\"float\",\"float\",\"float\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
		 "[\"\",\"\",\"\",\"[0]\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\",\"[True, True, "
		 "False]\"]");
	launch_kernel(s, BACKWARD_THREAD, "conv_bwd", 103, 6, 2);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "CONV", sheets), 2);
	assert_int_equal(tl_table_rows(sheets[0]), 1);
	expect_text(sheets[0], 0, "name", "aten::convolution");
	expect_number(sheets[0], 0, "GFLOPS_first", 4 * 2 * 9 / 1e9);
	assert_int_equal(tl_table_rows(sheets[1]), 1);
	expect_text(sheets[1], 0, "name", "aten::convolution_backward");
	expect_number(sheets[1], 0, "GFLOPS_first", 2 * 4 * 2 * 9 / 1e9);
	expect_number(sheets[1], 0, "Kernel Time (µs)_sum", 6);
	free_sheets(sheets);
	fixture_close(&f);
}

static void what_a_model_declines_or_cannot_read_has_no_row(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "aten::mm", HOST, FORWARD_THREAD, 0, 10);
	tl_fixture_op(s, "aten::instance_norm_backward", HOST, FORWARD_THREAD, 20, 10);
	fixture f;
	fixture_open(&f, s);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "GEMM", sheets), 0);
	assert_int_equal(sheets_of(&f, "Normalization", sheets), 0);
	fixture_close(&f);
}

static void the_metrics_table_is_in_order_of_uids(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row later = add_mm(s, 100, 30, 1);
	tl_row earlier = add_mm(s, 0, 10, 2);
	fixture f;
	fixture_open(&f, s);
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	assert_int_equal(tl__perf_metrics(&t, f.a, "GEMM", false, &err), 0);
	assert_int_equal(tl_table_rows(t), 2);
	expect_number(t, 0, "UID", later);
	expect_number(t, 1, "UID", earlier);
	expect_number(t, 1, "num_kernels", 1);
	expect_number(t, 1, "pid", HOST);
	expect_number(t, 1, "tid", FORWARD_THREAD);
	expect_empty(t, 1, "external_id");
	tl_table_free(t);
	assert_int_equal(tl__perf_metrics(&t, f.a, "GEMM", true, &err), 0);
	assert_int_equal(tl_table_rows(t), 0);
	tl_table_free(t);
	fixture_close(&f);
}

static void equal_inputs_are_evaluated_once(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row a = add_mm(s, 0, 10, 1), b = add_mm(s, 20, 5, 2), c = add_mm(s, 40, 5, 3);
	tl_fixture_op_args(s, c)->dims = tl__interns(s->strings, "[[64,32],[32,8]]");
	fixture f;
	fixture_open(&f, s);
	const tl_perf_result *first = perf_of(&f, a, NULL, 0);
	tl_row gemm = a + 2; /* operation, launch, kernel */
	assert_non_null(first);
	assert_ptr_equal(first, perf_of(&f, b, NULL, 0));
	assert_ptr_not_equal(first, perf_of(&f, c, NULL, 0));
	assert_ptr_not_equal(first, perf_of(&f, a, &gemm, 1)); /* GEMM models read kernel names */
	assert_null(perf_of(&f, gemm, NULL, 0));
	fixture_close(&f);
}

static void a_roofline_needs_a_platform(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_mm(s, 0, 10, 1);
	fixture f;
	tl_arch *arch;
	assert_int_equal(tl_arch_find(&arch, "MI300X", NULL), 0);
	tl_analyzer_options options = {.arch = arch};
	fixture_open_with(&f, s, &options);
	tl_table *sheets[4];
	assert_int_equal(sheets_of(&f, "GEMM", sheets), 1);
	/* 7168 bytes at 5300 GB/s take longer than 65536 FLOPs at 708 TFLOP/s. */
	double us = 7168 / 5300e9 * 1e6;
	expect_number(sheets[0], 0, "Roofline Time (µs)_first", us);
	expect_text(sheets[0], 0, "Roofline Bound_first", "MEMORY_BOUND");
	expect_number(sheets[0], 0, "Pct Roofline_mean", us / 10 * 100);
	free_sheets(sheets);
	fixture_close(&f);
	tl_arch_free(arch);
}

static int attention_sheets(const tl_tree *tree)
{
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_table *sheets[4] = {NULL};
	size_t count = 0;
	int code = tl__analyzer_new(&a, tree, NULL, &err);
	if (code == 0)
		code = tl__category_sheets(sheets, &count, a, "SDPA", NULL, &err);
	assert_int_equal(count == 0, code != 0);
	assert_int_equal(sheets[0] == NULL, code != 0);
	free_sheets(sheets);
	tl__analyzer_free(a);
	return code;
}

static void running_out_of_memory_is_an_error_everywhere(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 77);
	add_backward(s, 100, "aten::_flash_attention_backward", 2, 10, 77);
	add_own_backward(s, 200, 8, 3);
	add_mm(s, 250, 10, 4);
	expect_failed_allocations_reported(s, attention_sheets, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_sheet_has_one_row_a_name_and_parameters),
		cmocka_unit_test(an_operation_without_gpu_work_has_a_row_without_rates),
		cmocka_unit_test(the_first_of_a_group_does_not_depend_on_the_file),
		cmocka_unit_test(families_without_events_have_no_sheet),
		cmocka_unit_test(a_forward_operation_has_its_backward_pass_in_the_second_sheet),
		cmocka_unit_test(a_backward_operation_stands_in_the_backward_sheet),
		cmocka_unit_test(passes_and_operations_share_the_backward_sheet),
		cmocka_unit_test(a_convolution_is_not_counted_twice_in_the_backward_sheet),
		cmocka_unit_test(what_a_model_declines_or_cannot_read_has_no_row),
		cmocka_unit_test(the_metrics_table_is_in_order_of_uids),
		cmocka_unit_test(equal_inputs_are_evaluated_once),
		cmocka_unit_test(a_roofline_needs_a_platform),
		cmocka_unit_test(running_out_of_memory_is_an_error_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
