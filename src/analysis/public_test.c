/* SPDX-License-Identifier: MIT */
/* The analyses as callers of the library see them: columns and statistics on request, tables that stand alone, bad use.
 */

#include "analysis/analysis_fixture.h"
#include "tracelens/model.h"
#include "tracelens/perf.h"

/*
 * Two aten::mm of one shape (kernels of 10 and 20 µs), one of another (5 µs) and an add (3 µs), below nn.Modules.
 */
static tl_store *model(void)
{
	tl_store *s = tl__store_new();
	static const char *const dims[] = {"[[4,8],[8,2]]", "[[4,8],[8,2]]", "[[2,2],[2,2]]", "[[4,2],[4,2]]"};
	static const double times[] = {10, 20, 5, 3};
	tl_fixture_python(s, "nn.Module: Outer_3", 1, 2, 0, 1000, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_python(s, "nn.Module: Linear_0_1", 1, 2, 1, 150, TL_ID_NONE, TL_ID_NONE);
	for (int i = 0; i < 4; i++) {
		double at = 100 * (i + 1) + 0.5;
		tl_row op = tl_fixture_op(s, i < 3 ? "aten::mm" : "aten::add", 1, 2, at, 50 - 10 * (i == 0));
		tl_op_args *args = tl_fixture_op_args(s, op);
		args->dims = tl__interns(s->strings, dims[i]);
		args->types = tl__interns(s->strings, "[\"c10::BFloat16\",\"c10::BFloat16\"]");
		args->strides = tl__interns(s->strings, "[[8,1],[2,1]]");
		args->concrete = tl__interns(s->strings, "[\"\",\"\"]");
		args->external = (tl_id)(40 + i);
		tl_fixture_launch(s, "launch", 1, 2, at + 1, 1, (tl_id)(i + 1));
		tl_fixture_gpu(s, TL_KIND_KERNEL, i < 3 ? "gemm" : "void at::native::elementwise_kernel", 0, 7, at + 5,
			       times[i], (tl_id)(i + 1));
	}
	return s;
}

static void open_model(fixture *f, bool with_python)
{
	fixture_open_frames(f, model(), with_python, NULL);
}

static void expect_columns(const tl_table *table, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = tl_table_column_name(table, i);
		assert_string_equal(name ? name : "(none)", names[i]);
	}
	assert_int_equal(tl_table_columns(table), n);
}
#define EXPECT_COLUMNS(table, ...)                                \
	expect_columns(table, (const char *const[]){__VA_ARGS__}, \
		       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static tl_table *launchers(tl_analyzer *a, const tl_launcher_options *options)
{
	tl_table *table;
	tl_error err = TL_ERROR_INIT;
	if (tl_analyzer_launchers(&table, a, options, &err) < 0)
		fail_msg("%s", err.message);
	return table;
}

#define ARGUMENTS "Input Dims", "Input type", "Input Strides", "Concrete Inputs"
#define TIMES \
	"name", "op category", "UID", "total_direct_kernel_time", "total_subtree_kernel_time", "direct_kernel_count"
#define THREAD "process_name", "process_label", "thread_name"

/* In the order of spec 02 section 2.3. */
static void columns_of_launchers(void **state)
{
	(void)state;
	fixture f;
	open_model(&f, true);
	tl_table *table = launchers(f.a, NULL);
	EXPECT_COLUMNS(table, TIMES, ARGUMENTS, THREAD);
	tl_table_free(table);
	table = launchers(f.a, &(tl_launcher_options){.no_arguments = true, .id_columns = true});
	EXPECT_COLUMNS(table, TIMES, "pid", "tid", "external_id", THREAD);
	expect_number(table, 1, "external_id", 41);
	expect_number(table, 1, "tid", 2);
	tl_table_free(table);
	table = launchers(f.a, &(tl_launcher_options){.kernel_details = true,
						      .id_columns = true,
						      .overlap = true,
						      .start = true,
						      .call_stack = true});
	EXPECT_COLUMNS(table, TIMES, "overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct", "ts",
		       ARGUMENTS, "pid", "tid", "external_id", "kernel_details", "num_kernels", "call_stack",
		       "parent_module", THREAD);
	fixture_close(&f); /* the table stands alone */
	expect_text(table, 0, "Input Dims", "((4, 8), (8, 2))");
	expect_text(table, 0, "kernel_details", "[{'name': 'gemm', 'dur': 10.0, 'stream': 7}]");
	expect_text(table, 0, "call_stack", "['aten::mm', 'nn.Module: Linear_0_1', 'nn.Module: Outer_3']");
	expect_text(table, 0, "parent_module", "nn.Module: Linear");
	expect_text(table, 1, "call_stack", "['aten::mm', 'nn.Module: Outer_3']");
	expect_text(table, 1, "parent_module", "nn.Module: Outer");
	expect_number(table, 3, "ts", 400.5);
	tl_table_free(table);
}

/* What one call asked for is not there in the next. */
static void options_do_not_stay(void **state)
{
	(void)state;
	fixture f;
	open_model(&f, false);
	tl_table_free(launchers(f.a, &(tl_launcher_options){.overlap = true, .start = true}));
	tl_table *table = launchers(f.a, NULL);
	EXPECT_COLUMNS(table, TIMES, ARGUMENTS, THREAD);
	tl_table_free(table);
	fixture_close(&f);
}

/* An operation with a kernel of 5 µs and a collective of 500 that runs at the same time, and a lone collective. */
static tl_store *communicating(void)
{
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "c10d::allreduce_", 1, 2, 0, 100);
	tl_fixture_launch(s, "launch", 1, 2, 1, 1, 1);
	tl_fixture_launch(s, "launch", 1, 2, 10, 1, 2);
	tl_fixture_launch(s, "launch", 1, 2, 200, 1, 3);
	tl_fixture_op(s, "aten::mm", 1, 2, 300, 10);
	tl_fixture_launch(s, "launch", 1, 2, 301, 1, 4);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "ncclDevKernel", 0, 8, 1000, 500, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "prepare", 0, 7, 1100, 5, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "ncclDevKernel", 0, 8, 2000, 7, 3);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 1400, 200, 4);
	return s;
}

static void launchers_of_communication_on_request(void **state)
{
	(void)state;
	fixture f;
	fixture_open(&f, communicating());
	const tl_launcher_options plain = {.kernel_details = true, .overlap = true};
	tl_launcher_options all = plain;
	all.communication = true;
	for (int i = 0; i < 2; i++) { /* one does not change the other */
		tl_table *table = launchers(f.a, &plain);
		assert_int_equal(tl_table_rows(table), 2);
		expect_text(table, 0, "name", "c10d::allreduce_");
		expect_number(table, 0, "total_direct_kernel_time", 5);
		expect_empty(table, 0, "overlap_pct"); /* of one operation */
		expect_text(table, 1, "overlapping_kernel_names", "['ncclDevKernel']");
		tl_table_free(table);
		table = launchers(f.a, &all);
		assert_int_equal(tl_table_rows(table), 3);
		expect_text(table, 0, "name", "c10d::allreduce_");
		expect_number(table, 0, "direct_kernel_count", 2);
		expect_number(table, 0, "total_direct_kernel_time", 500);
		expect_text(table, 0, "overlapping_kernel_names", "['gemm']");
		expect_number(table, 0, "overlap_pct", 100 / 500.0);
		expect_text(table, 1, "name", "launch");
		expect_number(table, 1, "total_direct_kernel_time", 7);
		expect_text(table, 2, "name", "aten::mm");
		tl_table_free(table);
	}
	fixture_close(&f);
}

static int launchers_of_a_tree(const tl_tree *tree)
{
	tl_analyzer *a;
	tl_table *table = NULL;
	const tl_launcher_options options = {.kernel_details = true, .overlap = true, .communication = true};
	int code = tl_analyzer_new(&a, tree, NULL, NULL);
	if (code < 0)
		return code;
	code = tl_analyzer_launchers(&table, a, &options, NULL);
	tl_table_free(table);
	tl_analyzer_free(a);
	return code;
}

static void launchers_of_communication_without_memory(void **state)
{
	(void)state;
	expect_failed_allocations_reported(communicating(), launchers_of_a_tree, 40);
}

#define KEYS "name", "op category", THREAD, ARGUMENTS, "operation_count"
#define PAIR(statistic) "total_direct_kernel_time_" statistic, "total_subtree_kernel_time_" statistic

static void statistics_in_the_order_asked_for(void **state)
{
	(void)state;
	static const tl_statistic chosen[] = {TL_STAT_MAX, TL_STAT_MEAN, TL_STAT_MAX};
	fixture f;
	tl_table *by;
	open_model(&f, false);
	tl_table *table = launchers(f.a, &(tl_launcher_options){.kernel_details = true});
	assert_int_equal(tl_launchers_by_args(&by, table, NULL, NULL), 0);
	EXPECT_COLUMNS(by, KEYS, PAIR("mean"), PAIR("sum"), "ex_UID", "kernel_details_summary");
	expect_text(by, 0, "kernel_details_summary",
		    "[{'name': 'gemm', 'stream': 7, 'count': 2, 'total_duration_us': 30.0, 'mean_duration_us': 15.0}]");
	expect_number(by, 0, "total_direct_kernel_time_mean", 15);
	expect_number(by, 0, "operation_count", 2);
	tl_table_free(by);
	tl_stat_options options = {
		.statistics = chosen, .n_statistics = 3, .percent = true, .truncated = true, .name = "aten::mm"};
	assert_int_equal(tl_launchers_by_args(&by, table, &options, NULL), 0);
	EXPECT_COLUMNS(by, KEYS, PAIR("max"), PAIR("mean"), PAIR("sum"), "ex_UID", "kernel_details_summary",
		       "trunc_kernel_details", "Percentage (%)", "Cumulative Percentage (%)");
	expect_text(by, 0, "kernel_details_summary",
		    "[{'name': 'gemm', 'stream': 7, 'count': 2, 'total_duration_us': 30.0, 'max_duration_us': 20.0, "
		    "'mean_duration_us': 15.0}]");
	/* only one operation: its shapes make up all */
	assert_int_equal(tl_table_rows(by), 2);
	expect_number(by, 0, "Percentage (%)", 100 * 30.0 / 35);
	expect_number(by, 1, "Cumulative Percentage (%)", 100);
	tl_table_free(by);
	options = (tl_stat_options){.statistics = chosen, .n_statistics = 0};
	assert_int_equal(tl_launchers_by_args(&by, table, &options, NULL), 0);
	EXPECT_COLUMNS(by, KEYS, PAIR("sum"), "ex_UID", "kernel_details_summary");
	tl_table_free(by);
	options = (tl_stat_options){.name = "no such operation", .percent = true};
	assert_int_equal(tl_launchers_by_args(&by, table, &options, NULL), 0);
	assert_int_equal(tl_table_rows(by), 0);
	tl_table_free(by);
	tl_table_free(table);
	fixture_close(&f);
}

static void summaries_by_name_and_category(void **state)
{
	(void)state;
	fixture f;
	tl_table *by;
	open_model(&f, false);
	tl_table *table = launchers(f.a, NULL); /* without kernel details, too */
	assert_int_equal(tl_launchers_by_name(&by, table, NULL), 0);
	assert_int_equal(tl_table_rows(by), 2);
	expect_text(by, 0, "name", "aten::mm");
	expect_number(by, 0, "total_direct_kernel_time_ms", 0.035);
	expect_number(by, 0, "Percentage (%)", 100 * 35.0 / 38);
	tl_table_free(by);
	assert_int_equal(tl_launchers_by_category(&by, table, NULL), 0);
	expect_text(by, 0, "op category", "GEMM");
	expect_number(by, 0, "Count", 3);
	tl_table_free(by);
	tl_table_free(table);
	fixture_close(&f);
}

/* aten::mm (M, K) x (K, N): 2 M K N FLOPs; bytes of bf16 are 2 (M K + K N + M N). */
static void metrics_of_given_events(void **state)
{
	(void)state;
	fixture f;
	tl_table *metrics, *family, *summary;
	open_model(&f, false);
	const tl_row *named, add = 11;
	size_t n;
	assert_int_equal(tl_tree_named(&named, &n, f.tree, "aten::mm", NULL), 0);
	assert_int_equal(n, 3);
	tl_row events[] = {named[2], named[0], add, named[1], 0};
	assert_int_equal(tl_analyzer_metrics(&metrics, f.a, events, 5, NULL, NULL), 0);
	/* in the order given; the frame (UID 0) has no model */
	assert_int_equal(tl_table_rows(metrics), 4);
	expect_number(metrics, 0, "UID", named[2]);
	expect_number(metrics, 1, "UID", named[0]);
	expect_number(metrics, 1, "GFLOPS", 2 * 4 * 8 * 2 / 1e9);
	expect_number(metrics, 1, "Kernel Time (µs)", 10);
	expect_number(metrics, 1, "TFLOPS/s", 2 * 4 * 8 * 2 / 1e12 / 10e-6);
	expect_number(metrics, 1, "Data Moved (MB)", 2 * (32 + 16 + 8) / 1048576.0);
	assert_int_equal(tl_table_find_column(metrics, "kernel_details"), -1);
	assert_int_equal(tl_table_find_column(metrics, "Input Dims"), -1);
	tl_table_free(metrics);
	tl_metrics_options all = {.kernel_details = true, .arguments = true, .overlap = true};
	assert_int_equal(tl_analyzer_family_metrics(&family, f.a, "GEMM", &all, NULL), 0);
	assert_int_equal(tl_table_rows(family), 3);
	expect_text(family, 0, "Input Dims", "[[4, 8], [8, 2]]");
	expect_text(family, 0, "kernel_details", "[{'name': 'gemm', 'dur': 10.0, 'stream': 7, 'gpu_op_uid': 4}]");
	assert_true(tl_table_find_column(family, "overlap_pct") >= 0);
	assert_int_equal(tl_metrics_summary(&summary, family, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(summary), 2);
	expect_number(summary, 0, "name_count", 2);
	expect_number(summary, 0, "Kernel Time (µs)_mean", 15);
	expect_number(summary, 0, "Kernel Time (µs)_std", sqrt(50)); /* of 10 and 20, n - 1 */
	assert_int_equal(tl_table_find_column(summary, "Kernel Time (µs)_median"), -1);
	assert_int_equal(tl_table_find_column(summary, "trunc_kernel_details"), -1);
	tl_table_free(summary);
	tl_table_free(family);
	/* no backward events: no rows, no failure */
	assert_int_equal(tl_analyzer_metrics(&metrics, f.a, events, 5, &(tl_metrics_options){.backward = true}, NULL),
			 0);
	assert_int_equal(tl_table_rows(metrics), 0);
	tl_table_free(metrics);
	assert_int_equal(tl_analyzer_metrics(&metrics, f.a, NULL, 0, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(metrics), 0);
	assert_int_equal(tl_metrics_summary(&summary, metrics, NULL, NULL), 0);
	tl_table_free(summary);
	tl_table_free(metrics);
	fixture_close(&f);
}

static void rooflines_with_an_architecture(void **state)
{
	(void)state;
	fixture f;
	tl_arch *arch;
	tl_table *metrics;
	open_model(&f, false);
	tl_analyzer_free(f.a);
	assert_int_equal(tl_arch_find(&arch, "MI300X", NULL), 0);
	assert_int_equal(tl_analyzer_new(&f.a, f.tree, &(tl_analyzer_options){.arch = arch}, NULL), 0);
	assert_int_equal(tl_analyzer_family_metrics(&metrics, f.a, "GEMM", NULL, NULL), 0);
	/* 112 bytes at 5300 GB/s take longer than 128 FLOPs */
	expect_text(metrics, 0, "Roofline Bound", "MEMORY_BOUND");
	expect_number(metrics, 0, "Roofline Time (µs)", 112 / 5300e9 * 1e6);
	tl_table_free(metrics);
	fixture_close(&f);
	tl_arch_free(arch);
}

static void families_and_categories(void **state)
{
	(void)state;
	fixture f;
	open_model(&f, false);
	assert_string_equal(tl_analyzer_family(f.a, 0), "GEMM");
	size_t n = 0;
	while (tl_analyzer_family(f.a, n))
		n++;
	assert_true(n >= 20);
	assert_null(tl_analyzer_family(f.a, SIZE_MAX));
	assert_string_equal(tl_analyzer_family_of(f.a, "aten::layer_norm"), "Normalization");
	assert_null(tl_analyzer_family_of(f.a, "no such operation"));
	assert_null(tl_analyzer_family_of(f.a, NULL));
	assert_string_equal(tl_analyzer_category_of(f.a, "aten::layer_norm", NULL), "NORM_fwd");
	assert_string_equal(tl_analyzer_category_of(f.a, "mine", "void at::native::reduce_kernel"), "reduce");
	assert_string_equal(tl_analyzer_category_of(f.a, NULL, NULL), "other");
	assert_ptr_equal(tl_analyzer_tree(f.a), f.tree);
	assert_false(tl_analyzer_is_gpu_only(f.a));
	fixture_close(&f);
}

static int no_cost(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)user, (void)in, (void)out, (void)err;
	return 0;
}

/* Each once, all with a family; a registered one in place of a built-in one does not come again. */
static void operations_with_a_model(void **state)
{
	(void)state;
	fixture f;
	open_model(&f, false);
	tl_model_desc mine = {.name = "mine::op", .category = "Mine", .sheet = "Mine", .eval = no_cost};
	tl_model_desc mm = {.name = "aten::mm", .eval = no_cost};
	size_t n = 0, mms = 0, before = 0;
	while (tl_analyzer_operation(f.a, before))
		before++;
	assert_int_equal(tl_analyzer_register_model(f.a, &mm, NULL), 0);
	assert_int_equal(tl_analyzer_register_model(f.a, &mine, NULL), 0);
	for (const char *name; (name = tl_analyzer_operation(f.a, n)) != NULL; n++) {
		assert_non_null(tl_analyzer_family_of(f.a, name));
		mms += strcmp(name, "aten::mm") == 0;
	}
	assert_int_equal(n, before + 1);
	assert_int_equal(mms, 1);
	assert_string_equal(tl_analyzer_operation(f.a, n - 1), "mine::op");
	assert_string_equal(tl_analyzer_family_of(f.a, "mine::op"), "Mine");
	assert_null(tl_analyzer_operation(f.a, SIZE_MAX));
	fixture_close(&f);
}

static void the_other_tables(void **state)
{
	(void)state;
	fixture f;
	tl_table *table, *summary;
	tl_breakdown b;
	open_model(&f, false);
	assert_int_equal(tl_analyzer_breakdown(&b, f.a, NULL, NULL), 0);
	assert_int_equal(b.busy, tl_fixture_time(38));
	assert_int_equal(b.total, tl_fixture_time(303)); /* 105.5 to 408.5 */
	assert_int_equal(tl_breakdown_table(&table, &b, false, NULL), 0);
	assert_int_equal(tl_table_rows(table), 8);
	expect_text(table, 3, "type", "busy_time");
	expect_number(table, 3, "time ms", 0.038);
	expect_number(table, 3, "percent", 100 * 38.0 / 303);
	tl_table_free(table);
	assert_int_equal(tl_analyzer_gpu_timeline(&table, f.a, NULL, NULL), 0);
	expect_number(table, 3, "time ms", 0.038);
	tl_table_free(table);

	assert_int_equal(tl_analyzer_unified(&table, f.a, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(table), 4);
	assert_int_equal(tl_unified_summary(&summary, table, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(summary), 3);
	assert_true(tl_table_find_column(summary, "Percentage (%)") >= 0);
	tl_table_free(summary);
	static const tl_statistic least[] = {TL_STAT_MIN};
	assert_int_equal(
		tl_unified_summary(&summary, table, &(tl_stat_options){.statistics = least, .n_statistics = 1}, NULL),
		0);
	assert_true(tl_table_find_column(summary, "Kernel Time (µs)_min") >= 0);
	assert_int_equal(tl_table_find_column(summary, "Kernel Time (µs)_mean"), -1);
	tl_table_free(summary);
	tl_table_free(table);

	assert_int_equal(tl_analyzer_kernels(&table, f.a, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(table), 4);
	assert_int_equal(tl_table_find_column(table, "Launcher"), -1);
	expect_text(table, 0, "Parent cpu_op", "aten::mm");
	tl_table_free(table);
	assert_int_equal(
		tl_analyzer_kernels(&table, f.a, &(tl_kernel_options){.launcher = true, .no_cpu_op = true}, NULL), 0);
	expect_text(table, 0, "Launcher", "launch");
	assert_int_equal(tl_table_find_column(table, "Parent cpu_op"), -1);
	tl_table_free(table);
	assert_int_equal(tl_analyzer_kernel_summary(&table, f.a, NULL), 0);
	assert_int_equal(tl_table_rows(table), 2);
	tl_table_free(table);
	assert_int_equal(tl_analyzer_short_kernel_histogram(&table, f.a, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(table), 100);
	tl_table_free(table);
	tl_short_kernel_options so = {.threshold_us = 15, .bins = 3, .top = 1};
	assert_int_equal(tl_analyzer_short_kernel_histogram(&table, f.a, &so, NULL), 0);
	assert_int_equal(tl_table_rows(table), 3);
	tl_table_free(table);
	assert_int_equal(tl_analyzer_short_kernels(&table, f.a, &so, NULL), 0);
	assert_int_equal(tl_table_rows(table), 1);
	tl_table_free(table);
	assert_int_equal(tl_analyzer_collectives(&table, f.a, NULL), 0);
	assert_int_equal(tl_table_rows(table), 0);
	tl_table_free(table);
	fixture_close(&f);
}

static tl_table *kernels_with_modules(tl_analyzer *a)
{
	tl_table *table;
	assert_int_equal(
		tl_analyzer_kernels(&table, a, &(tl_kernel_options){.no_cpu_op = true, .nn_module = true}, NULL), 0);
	return table;
}

/* The inner module has one kernel of 10 µs, the outer one four: 10 + 20 + 5 + 3. */
static void modules_above_kernels(void **state)
{
	(void)state;
	fixture f;
	open_model(&f, true);
	tl_table *table = kernels_with_modules(f.a);
	EXPECT_COLUMNS(table, "UID", "Kernel name", "Kernel t start", "Kernel duration (µs)", "Kernel stream",
		       "Parent nn.Module UID", "Parent nn.Module", "Parent nn.Module kernel count",
		       "Parent nn.Module GPU busy time (µs)", "Percent of Parent nn.Module busy time (%)");
	expect_number(table, 0, "Parent nn.Module UID", 1);
	expect_text(table, 0, "Parent nn.Module", "nn.Module: Linear_0_1");
	expect_number(table, 0, "Parent nn.Module kernel count", 1);
	expect_number(table, 0, "Parent nn.Module GPU busy time (µs)", 10);
	expect_number(table, 0, "Percent of Parent nn.Module busy time (%)", 100);
	expect_number(table, 1, "Parent nn.Module UID", 0);
	expect_text(table, 1, "Parent nn.Module", "nn.Module: Outer_3");
	expect_number(table, 1, "Parent nn.Module kernel count", 4);
	expect_number(table, 1, "Parent nn.Module GPU busy time (µs)", 38);
	expect_number(table, 1, "Percent of Parent nn.Module busy time (%)", 20 / 38.0 * 100);
	expect_number(table, 3, "Parent nn.Module GPU busy time (µs)", 38);
	expect_number(table, 3, "Percent of Parent nn.Module busy time (%)", 3 / 38.0 * 100);
	tl_table_free(table);
	fixture_close(&f);
}

/* A module around nothing; kernels beside modules, and without a launch. */
static void kernels_without_a_module(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	tl_store *s = tl__store_new();
	tl_fixture_python(s, "nn.Module: Dropout_0", 1, 2, 0, 5, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_launch(s, "launch", 1, 2, 10, 1, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "beside", 0, 7, 12, 3, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "alone", 0, 7, 20, 3, 2);
	fixture f = {.trace.store = s};
	assert_int_equal(tl_tree_build(&f.tree, &f.trace, &(tl_tree_options){.with_python = true}, NULL), 0);
	assert_int_equal(tl_analyzer_new(&f.a, f.tree, NULL, NULL), 0);
	table = kernels_with_modules(f.a);
	assert_int_equal(tl_table_rows(table), 2);
	EXPECT_COLUMNS(table, "UID", "Kernel name", "Kernel t start", "Kernel duration (µs)", "Kernel stream");
	tl_table_free(table);
	fixture_close(&f);

	/* one kernel of each kind: the columns are there, and empty where there is no module */
	s = tl__store_new();
	tl_fixture_python(s, "nn.Module: Linear_0", 1, 2, 0, 5, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_launch(s, "launch", 1, 2, 1, 1, 1);
	tl_fixture_launch(s, "launch", 1, 2, 10, 1, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "below", 0, 7, 12, 3, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "beside", 0, 7, 20, 3, 2);
	f = (fixture){.trace.store = s};
	assert_int_equal(tl_tree_build(&f.tree, &f.trace, &(tl_tree_options){.with_python = true}, NULL), 0);
	assert_int_equal(tl_analyzer_new(&f.a, f.tree, NULL, NULL), 0);
	table = kernels_with_modules(f.a);
	expect_number(table, 0, "Parent nn.Module UID", 0);
	expect_empty(table, 1, "Parent nn.Module UID");
	expect_empty(table, 1, "Parent nn.Module");
	expect_empty(table, 1, "Parent nn.Module kernel count");
	expect_empty(table, 1, "Parent nn.Module GPU busy time (µs)");
	expect_empty(table, 1, "Percent of Parent nn.Module busy time (%)");
	tl_table_free(table);
	fixture_close(&f);

	open_model(&f, false);
	assert_int_equal(tl_analyzer_kernels(&table, f.a, &(tl_kernel_options){.nn_module = true}, &err), TL_EINVAL);
	assert_null(table);
	assert_non_null(strstr(err.message, "Python frames"));
	fixture_close(&f);
}

static int kernels_of_a_tree(const tl_tree *tree)
{
	tl_analyzer *a;
	tl_table *table = NULL;
	int code = tl_analyzer_new(&a, tree, NULL, NULL);
	if (code < 0)
		return code;
	code = tl_analyzer_kernels(&table, a, &(tl_kernel_options){.launcher = true, .nn_module = true}, NULL);
	tl_table_free(table);
	tl_analyzer_free(a);
	return code;
}

static void modules_above_kernels_without_memory(void **state)
{
	(void)state;
	fixture f;
	open_model(&f, true);
	expect_tree_failures_reported(f.tree, kernels_of_a_tree, 50);
	fixture_close(&f);
}

/* Two aten::mm without arguments among others; each table says how many of its events failed. */
static void failures_of_models(void **state)
{
	(void)state;
	tl_store *s = model();
	tl_row bad = tl_fixture_op(s, "aten::mm", 1, 2, 700, 10), worse = tl_fixture_op(s, "aten::mm", 1, 2, 720, 10);
	tl_fixture_launch(s, "launch", 1, 2, 701, 1, 77);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 800, 4, 77);
	fixture f;
	fixture_open(&f, s);
	tl_table *table;
	tl_model_failures failures = tl_analyzer_failures(f.a);
	assert_int_equal(failures.count, 0);
	assert_int_equal(failures.first, TL_ROW_NONE);
	assert_string_equal(failures.why, "");

	assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "GEMM", NULL, NULL), 0);
	assert_int_equal(tl_table_rows(table), 3);
	tl_table_free(table);
	failures = tl_analyzer_failures(f.a);
	assert_int_equal(failures.count, 2);
	assert_int_equal(failures.first, bad);
	assert_string_equal(failures.why, "two matrix operands with dtypes are needed");

	assert_int_equal(tl_analyzer_metrics(&table, f.a, &worse, 1, NULL, NULL), 0);
	tl_table_free(table);
	failures = tl_analyzer_failures(f.a);
	assert_int_equal(failures.count, 1);
	assert_int_equal(failures.first, worse);

	assert_int_equal(tl_analyzer_unified(&table, f.a, NULL, NULL), 0); /* of both, only one has GPU work */
	tl_table_free(table);
	failures = tl_analyzer_failures(f.a);
	assert_int_equal(failures.count, 1);
	assert_int_equal(failures.first, bad);

	assert_int_equal(tl_analyzer_metrics(&table, f.a, (tl_row[]){2}, 1, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(table), 1);
	tl_table_free(table);
	assert_int_equal(tl_analyzer_failures(f.a).count, 0);
	fixture_close(&f);
}

static void nodes_as_a_table(void **state)
{
	(void)state;
	fixture f;
	tl_table *table;
	tl_error err = TL_ERROR_INIT;
	open_model(&f, true);
	static const tl_row chosen[] = {4, 2, 0}, unknown[] = {999};
	assert_int_equal(tl_tree_table(&table, f.tree, chosen, 3, NULL), 0);
	EXPECT_COLUMNS(table, "UID", "name", "cat", "ts", "dur", "parent", "children", "gpu_events");
	expect_text(table, 0, "name", "gemm");
	expect_number(table, 0, "dur", 10);
	expect_number(table, 0, "parent", 3);
	expect_number(table, 1, "gpu_events", 1);
	expect_empty(table, 2, "parent");
	expect_number(table, 2, "gpu_events", 4);
	tl_table_free(table);
	assert_int_equal(tl_tree_table(&table, f.tree, NULL, 0, NULL), 0);
	assert_int_equal(tl_table_rows(table), tl_tree_count(f.tree));
	tl_table_free(table);
	assert_int_equal(tl_tree_table(&table, f.tree, unknown, 1, &err), TL_ENOTFOUND);
	assert_null(table);
	fixture_close(&f);
}

static void bad_use_is_answered(void **state)
{
	(void)state;
	fixture f;
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_breakdown b;
	open_model(&f, false);
	tl_table *out, *timeline;
	static const tl_row unknown[] = {3, 999};
	static const tl_statistic wrong[] = {(tl_statistic)9};
	const double below = -1;
	assert_int_equal(tl_analyzer_new(&a, NULL, NULL, &err), TL_EINVAL);
	assert_null(a);
	tl_analyzer_free(NULL);
	assert_int_equal(tl_analyzer_gpu_timeline(&timeline, f.a, NULL, NULL), 0);
	/* a table of another kind, and none */
	const tl_table *tables[] = {timeline, NULL};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(tl_launchers_by_name(&out, tables[i], &err), TL_EINVAL);
		assert_int_equal(tl_launchers_by_category(&out, tables[i], &err), TL_EINVAL);
		assert_int_equal(tl_launchers_by_args(&out, tables[i], NULL, &err), TL_EINVAL);
		assert_int_equal(tl_metrics_summary(&out, tables[i], NULL, &err), TL_EINVAL);
		assert_int_equal(tl_unified_summary(&out, tables[i], NULL, &err), TL_EINVAL);
		assert_null(out);
	}
	tl_table_free(timeline);
	assert_int_equal(tl_analyzer_breakdown(&b, f.a, &below, &err), TL_EINVAL);
	assert_int_equal(tl_analyzer_gpu_timeline(&out, f.a, &below, &err), TL_EINVAL);
	assert_int_equal(tl_breakdown_table(&out, NULL, false, &err), TL_EINVAL);
	assert_int_equal(tl_analyzer_metrics(&out, f.a, unknown, 2, NULL, &err), TL_EINVAL);
	assert_non_null(strstr(err.message, "999"));
	assert_int_equal(tl_analyzer_metrics(&out, f.a, NULL, 2, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_analyzer_family_metrics(&out, f.a, "NOSUCH", NULL, &err), TL_ENOTFOUND);
	assert_non_null(strstr(err.message, "NOSUCH"));
	assert_int_equal(tl_analyzer_family_metrics(&out, f.a, NULL, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_analyzer_launchers(&out, f.a, &(tl_launcher_options){.call_stack = true}, &err), TL_EINVAL);
	assert_int_equal(
		tl_analyzer_short_kernels(&out, f.a, &(tl_short_kernel_options){.threshold_us = (double)NAN}, &err),
		TL_EINVAL);
	assert_int_equal(tl_analyzer_short_kernel_histogram(&out, f.a, &(tl_short_kernel_options){.bins = -1}, &err),
			 TL_EINVAL);
	tl_table *table = launchers(f.a, NULL);
	assert_int_equal(
		tl_launchers_by_args(&out, table, &(tl_stat_options){.statistics = wrong, .n_statistics = 1}, &err),
		TL_EINVAL);
	assert_null(out);
	tl_table_free(table);
	fixture_close(&f);
}

static int every_table(const tl_tree *tree)
{
	tl_analyzer *a;
	tl_table *launched = NULL, *out = NULL;
	static const tl_launcher_options lo = {
		.kernel_details = true, .id_columns = true, .overlap = true, .start = true, .call_stack = true};
	static const tl_metrics_options mo = {.kernel_details = true, .arguments = true};
	int code = tl_analyzer_new(&a, tree, NULL, NULL);
	if (code < 0)
		return code;
	code = tl_analyzer_launchers(&launched, a, &lo, NULL);
	if (code == 0)
		code = tl_launchers_by_args(&out, launched, &(tl_stat_options){.name = "aten::mm"}, NULL);
	tl_table_free(out);
	tl_table_free(launched);
	launched = out = NULL;
	if (code == 0)
		code = tl_analyzer_family_metrics(&launched, a, "GEMM", &mo, NULL);
	if (code == 0)
		code = tl_metrics_summary(&out, launched, NULL, NULL);
	tl_table_free(out);
	tl_table_free(launched);
	out = NULL;
	if (code == 0)
		code = tl_tree_table(&out, tree, NULL, 0, NULL);
	tl_table_free(out);
	tl_analyzer_free(a);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	fixture f;
	open_model(&f, true);
	expect_tree_failures_reported(f.tree, every_table, 100);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_of_launchers),
		cmocka_unit_test(options_do_not_stay),
		cmocka_unit_test(statistics_in_the_order_asked_for),
		cmocka_unit_test(summaries_by_name_and_category),
		cmocka_unit_test(metrics_of_given_events),
		cmocka_unit_test(rooflines_with_an_architecture),
		cmocka_unit_test(families_and_categories),
		cmocka_unit_test(operations_with_a_model),
		cmocka_unit_test(the_other_tables),
		cmocka_unit_test(launchers_of_communication_on_request),
		cmocka_unit_test(launchers_of_communication_without_memory),
		cmocka_unit_test(modules_above_kernels),
		cmocka_unit_test(kernels_without_a_module),
		cmocka_unit_test(modules_above_kernels_without_memory),
		cmocka_unit_test(failures_of_models),
		cmocka_unit_test(nodes_as_a_table),
		cmocka_unit_test(bad_use_is_answered),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
