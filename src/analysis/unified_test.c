/* SPDX-License-Identifier: MIT */
/*
 * The unified table: which events it collects and what it says of them. Expected values from spec 02 section
 * 5 (the worked example at the end of 5.1), and from the formulas of spec 03 sections 4.1 and 6.1 by hand.
 */
#include "analysis/metrics_fixture.h"

static tl_table *table_of(fixture *f)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	assert_int_equal(tl__unified_table(&table, f->a, &err), 0);
	return table;
}

static tl_table *summary_of(fixture *f)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table = table_of(f), *summary;
	assert_int_equal(tl__unified_perf_summary(&summary, table, NULL, &err), 0);
	tl_table_free(table);
	return summary;
}

/* ---- collection ---- */

static void a_kernel_beside_a_modelled_operation_is_a_row_of_its_own(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "outer", HOST, FORWARD_THREAD, 0, 100);
	launch_kernel(s, FORWARD_THREAD, "extra", 1, 20, 1);
	tl_row mm = add_mm(s, 50, 10, 2);
	int64_t events = (int64_t)s->n;
	fixture f;
	fixture_open(&f, s);
	tl_table *t = summary_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "outer->extra (Synthetic Op)");
	expect_text(t, 0, "op category", "other");
	expect_number(t, 0, "Kernel Time (µs)_sum", 20);
	expect_number(t, 0, "total_duration_us", 100);
	expect_number(t, 0, "ex_UID", (double)events);
	expect_text(t, 0, "has_perf_model", "False");
	expect_empty(t, 0, "GFLOPS");
	expect_empty(t, 0, "perf_params");
	expect_text(t, 1, "name", "aten::mm");
	expect_text(t, 1, "op category", "GEMM");
	expect_number(t, 1, "ex_UID", mm);
	expect_number(t, 1, "Kernel Time (µs)_sum", 10);
	expect_text(t, 1, "has_perf_model", "True");
	expect_number(t, 1, "GFLOPS", 65536 / 1e9);
	expect_number(t, 1, "Data Moved (MB)", 7168 / 1048576.0);
	expect_number(t, 1, "FLOPS/Byte", 65536 / 7168.0);
	expect_number(t, 1, "TFLOPS/s_mean", 65536 / 1e12 / 10e-6);
	expect_number(t, 1, "TB/s_mean", 7168 / 1e12 / 10e-6);
	expect_text(t, 1, "Compute Spec", "matrix_bf16");
	expect_number(t, 1, "Cumulative Percentage (%)", 100);
	expect_text(t, 1, "Input Dims", "((64, 32), (32, 16))");
	assert_int_equal(tl_table_find_column(t, "Roofline Bound"), -1);
	tl_table_free(t);
	fixture_close(&f);
}

/* Spec 02 section 5.4, column 16: blank, not absent. Figures of models are absent. */
static void without_any_model_the_column_of_parameters_is_blank(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "my::op", HOST, FORWARD_THREAD, 0, 100);
	launch_kernel(s, FORWARD_THREAD, "k", 1, 20, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = summary_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_empty(t, 0, "perf_params");
	assert_int_equal(column_index(t, "perf_params"), column_index(t, "trunc_kernel_details") + 1);
	assert_true(tl_table_find_column(t, "GFLOPS") < 0);
	tl_table_free(t);
	fixture_close(&f);
}

static void the_outermost_modelled_operation_stands_for_all_below(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "aten::linear", HOST, FORWARD_THREAD, 0, 100);
	tl_row addmm = tl_fixture_op(s, "aten::addmm", HOST, FORWARD_THREAD, 1, 90);
	set_args(s, addmm, "[[16],[64,32],[32,16],[],[]]", "[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]",
		 NULL);
	tl_fixture_op(s, "aten::copy_", HOST, FORWARD_THREAD, 2, 20);
	launch_kernel(s, FORWARD_THREAD, "copy", 3, 3, 1);
	launch_kernel(s, FORWARD_THREAD, "gemm", 40, 7, 2);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "name", "aten::addmm");
	expect_number(t, 0, "Kernel Time (µs)", 10);
	expect_number(t, 0, "GFLOPS", (65536 + 64 * 16) / 1e9); /* with bias */
	tl_table_free(t);
	fixture_close(&f);
}

static void an_operation_without_gpu_work_has_no_row(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row mm = tl_fixture_op(s, "aten::mm", HOST, FORWARD_THREAD, 0, 10);
	set_args(s, mm, "[[64,32],[32,16]]", "[\"float\",\"float\"]", NULL);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f), *summary;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_table_rows(t), 0);
	assert_int_equal(tl__unified_perf_summary(&summary, t, NULL, &err), 0);
	assert_int_equal(tl_table_rows(summary), 0);
	tl_table_free(summary);
	tl_table_free(t);
	fixture_close(&f);
}

static void communication_is_left_out_and_its_neighbours_kept(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "c10d::allreduce_", HOST, FORWARD_THREAD, 0, 100);
	launch_kernel(s, FORWARD_THREAD, "ncclDevKernel_Generic", 1, 500, 1);
	launch_kernel(s, FORWARD_THREAD, "prepare", 10, 5, 2);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "name", "c10d::allreduce_->prepare (Synthetic Op)");
	expect_number(t, 0, "Kernel Time (µs)", 5);
	tl_table_free(t);
	fixture_close(&f);
}

static tl_table *table_with(fixture *f, const tl_unified_options *options)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	assert_int_equal(tl_analyzer_unified(&table, f->a, options, &err), 0);
	return table;
}

/* An operation with a kernel that communicates, one that prepares it, and a launch of communication by itself. */
static void communication_has_rows_on_request(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row reduce = tl_fixture_op(s, "c10d::allreduce_", HOST, FORWARD_THREAD, 0, 100);
	launch_kernel(s, FORWARD_THREAD, "ncclDevKernel_Generic", 1, 500, 1);
	launch_kernel(s, FORWARD_THREAD, "prepare", 10, 5, 2);
	launch_kernel(s, FORWARD_THREAD, "ncclDevKernel_Alone", 200, 7, 3);
	double events = (double)s->n;
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_with(&f, &(tl_unified_options){.communication = true});
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "c10d::allreduce_");
	expect_number(t, 0, "UID", reduce);
	expect_text(t, 1, "name", "hipLaunchKernel->ncclDevKernel_Alone (Synthetic Op)");
	expect_number(t, 1, "UID", events);
	expect_number(t, 1, "Kernel Time (µs)", 7);
	tl_table_free(t);
	t = table_with(&f, NULL);
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "name", "c10d::allreduce_->prepare (Synthetic Op)");
	tl_table_free(t);
	fixture_close(&f);
}

/* ---- events of the caller's choice ---- */

static void chosen_events_have_rows_in_the_order_given(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row outer = tl_fixture_op(s, "outer", HOST, FORWARD_THREAD, 0, 100);
	launch_kernel(s, FORWARD_THREAD, "extra", 1, 20, 1);
	tl_row extra = (tl_row)s->n - 1, mm = add_mm(s, 50, 10, 2);
	tl_row idle = tl_fixture_op(s, "aten::empty", HOST, FORWARD_THREAD, 120, 3);
	tl_row unlinked = tl_fixture_gpu(s, TL_KIND_KERNEL, "lost", 0, 7, 900, 4, 99);
	tl_row idle_mm = tl_fixture_op(s, "aten::mm", HOST, FORWARD_THREAD, 130, 3);
	set_args(s, idle_mm, "[[64,32],[32,16]]", "[\"float\",\"float\"]", NULL);
	tl_row chosen[] = {mm, outer, idle, extra, unlinked, mm, idle_mm};
	double events = (double)s->n;
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_with(&f, &(tl_unified_options){.events = chosen, .n_events = 7});
	assert_int_equal(tl_table_rows(t), 7);
	expect_number(t, 0, "UID", mm);
	expect_text(t, 0, "has_perf_model", "True");
	expect_number(t, 0, "GFLOPS", 65536 / 1e9);
	expect_number(t, 1, "UID", outer);
	expect_text(t, 1, "name", "outer");
	expect_text(t, 1, "has_perf_model", "False");
	expect_number(t, 1, "Kernel Time (µs)", 30); /* all below it */
	expect_empty(t, 1, "GFLOPS");
	expect_number(t, 2, "UID", idle);
	expect_number(t, 2, "duration_us", 3);
	expect_empty(t, 2, "Kernel Time (µs)");
	expect_empty(t, 2, "kernel_details");
	expect_text(t, 3, "name", "outer->extra (Synthetic Op)");
	expect_number(t, 3, "UID", events);
	expect_number(t, 3, "Kernel Time (µs)", 20);
	expect_text(t, 4, "name", "lost (Synthetic Op)");
	expect_number(t, 4, "Kernel Time (µs)", 4);
	expect_number(t, 4, "duration_us", 4);
	expect_number(t, 5, "UID", mm);
	expect_number(t, 5, "GFLOPS", 65536 / 1e9);
	expect_text(t, 6, "has_perf_model", "True");
	expect_number(t, 6, "GFLOPS", 65536 / 1e9);
	expect_number(t, 6, "Kernel Time (µs)", 0);
	expect_empty(t, 6, "TFLOPS/s");
	tl_table_free(t);
	t = table_with(&f, &(tl_unified_options){.events = chosen, .n_events = 0});
	assert_int_equal(tl_table_rows(t), 0);
	tl_table_free(t);
	fixture_close(&f);
}

/* What is all of a backward pass is so when asked for by itself, too; what happens to be below the same node is not. */
static void chosen_backward_operations(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 77);
	tl_row main = add_backward(s, 100, "aten::_flash_attention_backward", 2, 10, 77);
	tl_row helper = tl_fixture_op(s, "aten::resize_", HOST, BACKWARD_THREAD, 104, 0.5);
	tl_row chosen[] = {main, helper};
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_with(&f, &(tl_unified_options){.events = chosen, .n_events = 2});
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "op category", "SDPA_bwd");
	expect_number(t, 0, "GFLOPS", 2621440 / 1e9);
	expect_text(t, 0, "has_perf_model", "True");
	expect_text(t, 1, "has_perf_model", "False");
	expect_empty(t, 1, "GFLOPS");
	tl_table_free(t);
	fixture_close(&f);
}

static void overlaps_are_there_on_request_and_do_not_stay(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_mm(s, 0, 10, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_with(&f, &(tl_unified_options){.overlap = true});
	assert_int_equal(column_index(t, "overlap_pct"), column_index(t, "External id") + 3);
	tl_table_free(t);
	t = table_with(&f, NULL);
	assert_int_equal(tl_table_find_column(t, "overlap_pct"), -1);
	tl_table_free(t);
	fixture_close(&f);
}

static void bad_choices_are_refused(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	tl_store *s = tl__store_new();
	add_mm(s, 0, 10, 1);
	tl_row beyond = (tl_row)s->n;
	fixture f;
	fixture_open(&f, s);
	assert_int_equal(tl_analyzer_unified(&t, f.a, &(tl_unified_options){.events = &beyond, .n_events = 1}, &err),
			 TL_EINVAL);
	assert_null(t);
	assert_non_null(strstr(err.message, "there is no event with UID"));
	assert_int_equal(tl_analyzer_unified(&t, f.a, &(tl_unified_options){.n_events = 1}, &err), TL_EINVAL);
	assert_null(t);
	fixture_close(&f);
}

static void a_launch_without_operation_gives_synthetic_rows_first(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "c10d::allreduce_", HOST, FORWARD_THREAD, 0, 100);
	launch_kernel(s, FORWARD_THREAD, "ncclDevKernel_Generic", 1, 500, 1);
	launch_kernel(s, FORWARD_THREAD, "prepare", 10, 5, 2);
	launch_kernel(s, FORWARD_THREAD, "lonely", 200, 3, 3);
	double events = (double)s->n;
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "hipLaunchKernel->lonely (Synthetic Op)");
	expect_number(t, 0, "UID", events);
	expect_number(t, 0, "duration_us", 1);
	expect_number(t, 1, "UID", events + 1);
	tl_table_free(t);
	fixture_close(&f);
}

/* Kernels below 10 levels of runtime calls are still launched by the operation; below 11 they are not. */
static void launches_count_through_ten_levels(void **state)
{
	(void)state;
	for (int levels = 10; levels <= 11; levels++) {
		tl_store *s = tl__store_new();
		tl_fixture_op(s, "op", HOST, FORWARD_THREAD, 0, 100);
		for (int i = 1; i < levels; i++)
			tl_fixture_launch(s, "hipWrapper", HOST, FORWARD_THREAD, i, 100 - 2 * i, TL_ID_NONE);
		launch_kernel(s, FORWARD_THREAD, "k", 40, 5, 1);
		fixture f;
		fixture_open(&f, s);
		tl_table *t = table_of(&f);
		assert_int_equal(tl_table_rows(t), 1);
		expect_text(t, 0, "name", levels == 10 ? "op" : "op->k (Synthetic Op)");
		tl_table_free(t);
		fixture_close(&f);
	}
}

/* Spec 02 section 5.1, 6: through runtime calls and Python frames, not through calls of the driver. */
static void launches_through_the_driver_do_not_count(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "op", HOST, FORWARD_THREAD, 0, 100);
	tl_row kernel = launch_kernel(s, FORWARD_THREAD, "k", 40, 5, 1);
	tl_fixture_op(s, "other", HOST, FORWARD_THREAD, 200, 100);
	launch_kernel(s, FORWARD_THREAD, "k", 240, 3, 2);
	assert_int_equal(TL_VEC_PUSH(&s->categories, tl__interns(s->strings, "cuda_driver")), 0);
	s->category[kernel - 1] = (uint16_t)(s->categories.n - 1); /* that of the launch */
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "other");
	expect_number(t, 0, "Kernel Time (µs)", 3);
	expect_text(t, 1, "name", "op->k (Synthetic Op)");
	expect_number(t, 1, "Kernel Time (µs)", 5);
	tl_table_free(t);
	fixture_close(&f);
}

/* ---- sole backward operations ---- */

static void a_sole_backward_operation_has_the_metrics_of_the_backward_pass(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 77);
	tl_row main = add_backward(s, 100, "aten::_flash_attention_backward", 2, 10, 77);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", attention_name);
	expect_text(t, 0, "op category", "SDPA_fwd");
	expect_number(t, 0, "GFLOPS", 1048576 / 1e9);
	expect_number(t, 1, "UID", main);
	expect_text(t, 1, "op category", "SDPA_bwd");
	expect_text(t, 1, "has_perf_model", "True");
	expect_number(t, 1, "Kernel Time (µs)", 10);
	expect_number(t, 1, "GFLOPS", 2621440 / 1e9);
	expect_number(t, 1, "TFLOPS/s", 2621440 / 1e12 / 10e-6);
	expect_number(t, 1, "Data Moved (MB)", 57344 / 1048576.0);
	tl_table_free(t);
	fixture_close(&f);
}

static void a_modelled_operation_below_the_backward_one_counts_instead(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 77);
	add_backward(s, 100, "aten::copy_", 1, 10, 77);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 1, "name", "aten::copy_");
	expect_text(t, 1, "op category", "elementwise");
	tl_table_free(t);
	fixture_close(&f);
}

static void two_backward_operations_of_one_name_are_not_sole(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 77);
	tl_row node =
		tl_fixture_op(s, "autograd::engine::evaluate_function: SdpaBackward0", HOST, BACKWARD_THREAD, 100, 100);
	tl_fixture_op_args(s, node)->sequence = 77;
	for (int i = 0; i < 2; i++) {
		tl_fixture_op(s, "SdpaBackward0", HOST, BACKWARD_THREAD, 101 + 20 * i, 10);
		launch_kernel(s, BACKWARD_THREAD, "attn_bwd", 102 + 20 * i, 5, 10 + (tl_id)i);
	}
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 3);
	for (size_t row = 1; row < 3; row++) {
		expect_text(t, row, "name", "SdpaBackward0");
		expect_text(t, row, "op category", "other");
		expect_text(t, row, "has_perf_model", "False");
		expect_number(t, row, "Kernel Time (µs)", 5);
		expect_empty(t, row, "GFLOPS");
	}
	tl_table_free(t);
	fixture_close(&f);
}

static void without_a_forward_operation_a_backward_one_is_plain(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_backward(s, 100, "aten::_flash_attention_backward", 1, 10, 77);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "name", "aten::_flash_attention_backward");
	expect_text(t, 0, "has_perf_model", "False");
	tl_table_free(t);
	fixture_close(&f);
}

/* ---- what models decline ---- */

static void a_declined_operation_keeps_its_kernel_time(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_mm(s, 0, 10, 1);
	tl_row norm = tl_fixture_op(s, "aten::instance_norm_backward", HOST, FORWARD_THREAD, 50, 10);
	set_args(s, norm, "[[8,8]]", "[\"float\"]", NULL);
	launch_kernel(s, FORWARD_THREAD, "norm", 52, 30, 2);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = summary_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "name", "aten::instance_norm_backward");
	expect_text(t, 0, "op category", "NORM_bwd");
	expect_number(t, 0, "Kernel Time (µs)_sum", 30);
	expect_number(t, 0, "Percentage (%)", 75);
	expect_empty(t, 0, "GFLOPS");
	expect_empty(t, 0, "perf_params");
	tl_table_free(t);
	fixture_close(&f);
}

static void garbage_arguments_keep_the_row_without_metrics(void **state)
{
	(void)state;
	static const char *const garbage[] = {"[[\"x\"],{}]", "[[1,2],[3]]", "[[1,2",          "17", "null",
					      "[]",           "[[64,32],7]", "[[-1,2],[2,3]]", "{}", ""};
	enum { N = sizeof garbage / sizeof garbage[0] };
	tl_store *s = tl__store_new();
	for (tl_id i = 0; i < N; i++) {
		tl_row mm = tl_fixture_op(s, "aten::mm", HOST, FORWARD_THREAD, 20.0 * (double)i, 10);
		set_args(s, mm, garbage[i], i % 2 ? "[\"float\",null]" : NULL, NULL);
		launch_kernel(s, FORWARD_THREAD, "gemm", 20.0 * (double)i + 2, 2, i + 1);
	}
	tl_fixture_op(s, "aten::mm", HOST, FORWARD_THREAD, 20.0 * N, 10); /* no arguments at all */
	launch_kernel(s, FORWARD_THREAD, "gemm", 20.0 * N + 2, 2, 100);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), N + 1);
	for (size_t row = 0; row <= N; row++)
		expect_number(t, row, "Kernel Time (µs)", 2);
	tl_table_free(t);
	fixture_close(&f);
}

/* ---- order and size ---- */

typedef struct planned {
	const char *name;
	double at, dur;
} planned;

/* Five operations; `order` says in which order they and their kernels are in the file. */
static tl_table *summary_in_order(const int *order)
{
	static const planned ops[] = {{"aten::mm", 0, 9},
				      {"aten::relu", 20, 3},
				      {"aten::mm", 40, 5},
				      {"aten::gelu", 60, 3},
				      {"aten::relu", 80, 9}};
	tl_store *s = tl__store_new();
	for (int i = 0; i < 5; i++) {
		const planned *p = &ops[order[i]];
		launch_kernel(s, FORWARD_THREAD, p->dur > 4 ? "long_kernel" : "short_kernel", p->at + 1, p->dur,
			      (tl_id)order[i] + 1);
		tl_row op = tl_fixture_op(s, p->name, HOST, FORWARD_THREAD, p->at, 10);
		set_args(s, op, "[[64,32],[32,16]]", "[\"float\",\"float\"]", NULL);
	}
	fixture f;
	fixture_open(&f, s);
	tl_table *t = summary_of(&f);
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl__table_own_values(t, &err), 0);
	fixture_close(&f);
	return t;
}

static void the_order_of_the_file_changes_nothing_but_uids(void **state)
{
	(void)state;
	static const int orders[][5] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
	tl_table *first = summary_in_order(orders[0]);
	assert_int_equal(tl_table_rows(first), 3);
	for (size_t k = 1; k < 3; k++) {
		tl_table *other = summary_in_order(orders[k]);
		assert_int_equal(tl_table_rows(other), tl_table_rows(first));
		assert_int_equal(tl_table_columns(other), tl_table_columns(first));
		for (size_t c = 0; c < tl_table_columns(first); c++)
			for (size_t row = 0; row < tl_table_rows(first); row++) {
				char text[1024];
				if (strstr(tl_table_column_name(first, c), "UID"))
					continue;
				tl_table_text(first, c, row, text, sizeof text);
				expect_text(other, row, tl_table_column_name(first, c), text);
			}
		tl_table_free(other);
	}
	tl_table_free(first);
}

static void a_deep_tree_needs_no_stack(void **state)
{
	(void)state;
	enum { DEPTH = 200000 };
	tl_store *s = tl__store_new();
	for (int i = 0; i < DEPTH; i++)
		tl_fixture_op(s, "wrapper", HOST, FORWARD_THREAD, i, 4 * DEPTH - 2 * i);
	add_mm(s, DEPTH + 10, 10, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "name", "aten::mm");
	tl_table_free(t);
	fixture_close(&f);
}

/* Every level is an autograd node whose forward operation has a model: nothing may search all below at each. */
static void nested_autograd_nodes_are_searched_once(void **state)
{
	(void)state;
	enum { DEPTH = 30000 };
	tl_store *s = tl__store_new();
	for (tl_id i = 0; i < DEPTH; i++) {
		tl_row op = tl_fixture_op(s, attention_name, HOST, FORWARD_THREAD, (double)i, 0.5);
		set_args(s, op, "[[1,1,64,64],[1,1,64,64],[1,1,64,64],[],[],[],[]]", "[\"float\",\"float\",\"float\"]",
			 "[\"\",\"\",\"\",\"0.\",\"False\"]");
		tl_fixture_op_args(s, op)->sequence = i + 1;
	}
	for (tl_id i = 0; i < DEPTH; i++) {
		tl_row node = tl_fixture_op(s, i % 2 ? "inner" : "autograd::engine::evaluate_function: inner", HOST,
					    BACKWARD_THREAD, DEPTH + (double)i, 4.0 * DEPTH - 2 * (double)i);
		tl_fixture_op_args(s, node)->sequence = i + 1;
	}
	launch_kernel(s, BACKWARD_THREAD, "k", 2.0 * DEPTH + 10, 5, 1);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = table_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_number(t, 0, "Kernel Time (µs)", 5);
	tl_table_free(t);
	fixture_close(&f);
}

static int unified_tables(const tl_tree *tree)
{
	static const tl_row rows[] = {0, 1, 2, 3, 4};
	const tl_unified_options chosen_rows = {.events = rows, .n_events = 5, .overlap = true};
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_table *t = NULL, *summary = NULL, *chosen = NULL;
	int code = tl__analyzer_new(&a, tree, NULL, &err);
	if (code == 0)
		code = tl__unified_table(&t, a, &err);
	if (code == 0)
		code = tl_analyzer_unified(&chosen, a, &chosen_rows, &err);
	if (code == 0)
		code = tl__unified_perf_summary(&summary, t, NULL, &err);
	assert_int_equal(summary == NULL, code != 0);
	assert_int_equal(err.code, code);
	tl_table_free(t);
	tl_table_free(chosen);
	tl_table_free(summary);
	tl__analyzer_free(a);
	return code;
}

static void running_out_of_memory_is_an_error_everywhere(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_attention(s, 0, 1, 77);
	add_backward(s, 100, "aten::_flash_attention_backward", 2, 10, 77);
	tl_fixture_op(s, "outer", HOST, FORWARD_THREAD, 200, 100);
	launch_kernel(s, FORWARD_THREAD, "extra", 201, 20, 3);
	add_mm(s, 250, 10, 4);
	expect_failed_allocations_reported(s, unified_tables, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_beside_a_modelled_operation_is_a_row_of_its_own),
		cmocka_unit_test(without_any_model_the_column_of_parameters_is_blank),
		cmocka_unit_test(the_outermost_modelled_operation_stands_for_all_below),
		cmocka_unit_test(an_operation_without_gpu_work_has_no_row),
		cmocka_unit_test(communication_is_left_out_and_its_neighbours_kept),
		cmocka_unit_test(communication_has_rows_on_request),
		cmocka_unit_test(chosen_events_have_rows_in_the_order_given),
		cmocka_unit_test(chosen_backward_operations),
		cmocka_unit_test(overlaps_are_there_on_request_and_do_not_stay),
		cmocka_unit_test(bad_choices_are_refused),
		cmocka_unit_test(a_launch_without_operation_gives_synthetic_rows_first),
		cmocka_unit_test(launches_count_through_ten_levels),
		cmocka_unit_test(launches_through_the_driver_do_not_count),
		cmocka_unit_test(a_sole_backward_operation_has_the_metrics_of_the_backward_pass),
		cmocka_unit_test(a_modelled_operation_below_the_backward_one_counts_instead),
		cmocka_unit_test(two_backward_operations_of_one_name_are_not_sole),
		cmocka_unit_test(without_a_forward_operation_a_backward_one_is_plain),
		cmocka_unit_test(a_declined_operation_keeps_its_kernel_time),
		cmocka_unit_test(garbage_arguments_keep_the_row_without_metrics),
		cmocka_unit_test(the_order_of_the_file_changes_nothing_but_uids),
		cmocka_unit_test(a_deep_tree_needs_no_stack),
		cmocka_unit_test(nested_autograd_nodes_are_searched_once),
		cmocka_unit_test(running_out_of_memory_is_an_error_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
