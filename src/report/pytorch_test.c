/* SPDX-License-Identifier: MIT */
/* The report from a trace in memory: which sheets, what of the GPU is left out, and no memory. */
#include "report/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An aten::mm whose kernel takes 10 µs, and a kernel of 7 µs without a launch; times in µs. */
static const char OP[] =
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":20,"
	"\"args\":{\"External id\":1,\"Input Dims\":[[4,8],[8,2]],\"Input type\":[\"float\",\"float\"]}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":105,"
	"\"dur\":2,\"args\":{\"correlation\":5}},"
	"{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":5,\"pid\":1,\"tid\":1,\"ts\":105},"
	"{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":5,\"pid\":0,\"tid\":7,\"ts\":130},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":130,\"dur\":10,"
	"\"args\":{\"correlation\":5,\"stream\":7}}";
static const char LOST[] =
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"lost\",\"pid\":0,\"tid\":7,\"ts\":150,\"dur\":7,"
	"\"args\":{\"correlation\":99,\"stream\":7}}";
static const char HOST[] =
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}";

static tl_trace *trace_of(const char *first, const char *second)
{
	char text[4096];
	snprintf(text, sizeof text, "{\"traceEvents\":[%s%s%s]}", first, second ? "," : "", second ? second : "");
	tl_trace *trace;
	assert_int_equal(tl_trace_open_memory(&trace, text, strlen(text), NULL, NULL), 0);
	return trace;
}

static tl_report *report_of(const char *first, const char *second, const tl_report_options *options)
{
	tl_trace *trace = trace_of(first, second);
	tl_report *report;
	assert_int_equal(tl_report_pytorch(&report, trace, options, NULL), 0);
	tl_trace_free(trace); /* the report must not need it */
	return report;
}

static void expect_sheets(const tl_report *report, const char *const *names)
{
	size_t n = 0;
	for (; names[n]; n++) {
		assert_true(n < tl_report_count(report));
		assert_string_equal(tl_table_name(tl_report_table(report, n)), names[n]);
		assert_ptr_equal(tl_report_find(report, names[n]), tl_report_table(report, n));
	}
	assert_int_equal(tl_report_count(report), n);
	assert_null(tl_report_table(report, n));
	assert_null(tl_report_find(report, "no such sheet"));
}
#define EXPECT_SHEETS(report, ...) expect_sheets(report, (const char *const[]){__VA_ARGS__, NULL})

static double timeline(const tl_report *report, size_t row)
{
	const tl_table *table = tl_report_find(report, "gpu_timeline");
	return tl_table_double(table, (size_t)tl_table_find_column(table, "time ms"), row);
}
enum { COMPUTATION = 0, TOTAL = 5 };

static void sheets_come_in_their_order(void **state)
{
	(void)state;
	tl_report *report = report_of(OP, NULL, NULL);
	EXPECT_SHEETS(report, "gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args",
		      "unified_perf_summary", "GEMM", "trace_health");
	assert_false(tl_report_is_empty(report));
	tl_time time = -1;
	assert_int_equal(tl_report_excluded(report, &time), 0);
	assert_int_equal(time, 0);
	assert_true(timeline(report, COMPUTATION) == 0.01);
	tl_report_free(report);

	tl_report_options o = tl_report_options_default();
	o.enable_kernel_summary = o.short_kernel_study = true;
	report = report_of(OP, NULL, &o);
	EXPECT_SHEETS(report, "gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args",
		      "unified_perf_summary", "GEMM", "kernel_summary", "short_kernel_histogram",
		      "short_kernels_summary", "trace_health");
	/* 10 µs is not below the default threshold of 10 µs */
	assert_int_equal(tl_table_rows(tl_report_find(report, "short_kernel_histogram")), 0);
	tl_report_free(report);
}

static void gpu_events_without_a_launch_are_counted_or_announced(void **state)
{
	(void)state;
	tl_time time;
	tl_report *report = report_of(OP, LOST, NULL);
	assert_int_equal(tl_report_excluded(report, &time), 1);
	assert_int_equal(time, 7 * TL_PS_PER_US);
	assert_true(timeline(report, COMPUTATION) == 0.01);
	tl_report_free(report);

	tl_report_options o = tl_report_options_default();
	o.include_unlinked_kernels = true;
	report = report_of(OP, LOST, &o);
	assert_int_equal(tl_report_excluded(report, &time), 0);
	assert_true(timeline(report, COMPUTATION) == 0.017);
	assert_true(timeline(report, TOTAL) == 0.027); /* 130 to 157 */
	tl_report_free(report);
}

/* Two processes launched something under the id of the lost kernel. */
static const char RANKS[] =
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":21,\"tid\":1,\"ts\":101,"
	"\"dur\":2,\"args\":{\"correlation\":99}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":22,\"tid\":1,\"ts\":102,"
	"\"dur\":2,\"args\":{\"correlation\":99}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mul\",\"pid\":21,\"tid\":1,\"ts\":100,\"dur\":9}";

/* What a finding means; NULL when there is none of that kind. In a static buffer. */
static const char *health_of(const tl_report *report, const char *kind)
{
	static char text[512];
	const tl_table *health = tl_report_find(report, "trace_health");
	size_t name = (size_t)tl_table_find_column(health, "kind");
	for (size_t row = 0; row < tl_table_rows(health); row++) {
		tl_table_text(health, name, row, text, sizeof text);
		if (strcmp(text, kind) != 0)
			continue;
		tl_table_text(health, (size_t)tl_table_find_column(health, "meaning"), row, text, sizeof text);
		return text;
	}
	return NULL;
}

static void what_several_processes_could_own_is_told_apart(void **state)
{
	(void)state;
	tl_time time;
	char both[2048];
	/* beside a kernel that is linked, and one that nobody launched */
	snprintf(both, sizeof both,
		 "%s,%s,{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"other\",\"pid\":0,\"tid\":7,\"ts\":170,\"dur\":3,"
		 "\"args\":{\"correlation\":98,\"stream\":7}}",
		 RANKS, LOST);
	tl_report *report = report_of(OP, both, NULL);
	assert_int_equal(tl_report_excluded(report, &time), 2);
	assert_int_equal(time, 10 * TL_PS_PER_US);
	assert_int_equal(tl_report_ambiguous(report, &time), 1);
	assert_int_equal(time, 7 * TL_PS_PER_US);
	assert_false(tl_report_is_empty(report));
	assert_non_null(strstr(health_of(report, "ambiguous_ranks"), "left out"));
	assert_non_null(strstr(health_of(report, "ambiguous_ranks"), "several processes use the same correlation ids"));
	assert_non_null(health_of(report, "no_launch"));
	tl_report_free(report);

	/* nothing else is there: no report about the GPU can be made */
	report = report_of(RANKS, LOST, NULL);
	assert_int_equal(tl_report_excluded(report, NULL), 1);
	assert_int_equal(tl_report_ambiguous(report, NULL), 1);
	assert_true(tl_report_is_empty(report));
	assert_null(health_of(report, "no_launch"));
	tl_report_free(report);

	/* unless it is asked for */
	tl_report_options o = tl_report_options_default();
	o.include_unlinked_kernels = true;
	report = report_of(RANKS, LOST, &o);
	assert_int_equal(tl_report_ambiguous(report, NULL), 0);
	assert_false(tl_report_is_empty(report));
	assert_true(timeline(report, COMPUTATION) == 0.007);
	assert_non_null(strstr(health_of(report, "ambiguous_ranks"), "counted in the timeline"));
	tl_report_free(report);
}

static void host_without_gpu_is_an_empty_report(void **state)
{
	(void)state;
	tl_report_options o = tl_report_options_default();
	o.enable_kernel_summary = o.short_kernel_study = true;
	tl_report *report = report_of(HOST, NULL, &o);
	assert_true(tl_report_is_empty(report));
	assert_int_equal(tl_table_rows(tl_report_find(report, "gpu_timeline")), 8);
	assert_true(timeline(report, TOTAL) == 0);
	assert_non_null(tl_report_find(report, "short_kernels_summary"));
	assert_null(tl_report_find(report, "ops_summary"));
	assert_non_null(tl_report_find(report, "trace_health"));
	tl_report_free(report);
}

static void gpu_without_host_has_kernels_only(void **state)
{
	(void)state;
	tl_report_options o = tl_report_options_default();
	o.enable_kernel_summary = true;
	tl_report *report = report_of(LOST, NULL, &o);
	EXPECT_SHEETS(report, "gpu_timeline", "kernel_summary", "trace_health");
	assert_false(tl_report_is_empty(report));
	tl_report_free(report);
}

static void senseless_options_are_refused(void **state)
{
	(void)state;
	tl_trace *trace = trace_of(OP, NULL);
	tl_report_options o[4];
	for (int i = 0; i < 4; i++) {
		o[i] = tl_report_options_default();
		o[i].short_kernel_study = o[i].has_micro_idle_threshold = true;
	}
	o[0].micro_idle_threshold_us = -1;
	o[1].short_kernel_threshold_us = -0.5;
	o[2].short_kernel_bins = 0;
	o[3].short_kernel_bins = INT64_MAX;
	for (int i = 0; i < 4; i++) {
		tl_report *report;
		tl_error err = TL_ERROR_INIT;
		assert_int_equal(tl_report_pytorch(&report, trace, &o[i], &err), TL_EINVAL);
		assert_null(report);
		assert_true(*err.message);
	}
	tl_trace_free(trace);
}

/* An aten::mm without arguments among others; what the unified table holds, too, counts once. */
static void what_models_cannot_read_is_told(void **state)
{
	(void)state;
	tl_report *report = report_of(OP, HOST, NULL);
	const tl_table *health = tl_report_find(report, "trace_health");
	char text[512];
	assert_int_equal(tl_table_rows(health), 1);
	tl_table_text(health, (size_t)tl_table_find_column(health, "kind"), 0, text, sizeof text);
	assert_string_equal(text, "model_failed");
	assert_int_equal(tl_table_int(health, (size_t)tl_table_find_column(health, "count"), 0), 1);
	assert_int_equal(tl_table_int(health, (size_t)tl_table_find_column(health, "first UID"), 0), 5);
	assert_int_equal(tl_table_int(health, (size_t)tl_table_find_column(health, "repair"), 0), 0);
	assert_true(tl_table_is_null(health, (size_t)tl_table_find_column(health, "first byte"), 0));
	tl_table_text(health, (size_t)tl_table_find_column(health, "meaning"), 0, text, sizeof text);
	assert_non_null(strstr(text, "aten::mm, UID 5: two matrix operands with dtypes are needed."));
	tl_table_text(health, (size_t)tl_table_find_column(health, "example"), 0, text, sizeof text);
	assert_string_equal(text, "aten::mm");
	tl_report_free(report);
	report = report_of(OP, NULL, NULL);
	assert_int_equal(tl_table_rows(tl_report_find(report, "trace_health")), 0);
	tl_report_free(report);
}

static void expect_no_memory_to_be_an_error(const char *second)
{
	tl_report_options o = tl_report_options_default();
	o.enable_kernel_summary = o.short_kernel_study = true;
	o.short_kernel_threshold_us = 100;
	tl_trace *trace = trace_of(OP, second);
	tl_report *report;
	int64_t n = 0;
	for (;; n++) {
		tl_error err = TL_ERROR_INIT;
		tl__alloc_fail_after(n);
		int code = tl_report_pytorch(&report, trace, &o, &err);
		tl__alloc_fail_after(-1);
		if (code == 0)
			break;
		assert_int_equal(code, TL_ENOMEM);
		assert_int_equal(err.code, TL_ENOMEM);
		assert_null(report);
	}
	assert_true(n > 100);
	tl_report_free(report);
	tl_trace_free(trace);
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	expect_no_memory_to_be_an_error(LOST);
	expect_no_memory_to_be_an_error(HOST);
}

static void formats_are_told_by_content(void **state)
{
	(void)state;
	static const struct {
		const char *content;
		size_t n;
		tl_format format;
	} cases[] = {
		{"{\"traceEvents\":[]}", 18, TL_FORMAT_PYTORCH},
		{"\xef\xbb\xbf \n[ {}", 9, TL_FORMAT_PYTORCH},
		{"{\"rocprofiler-sdk-tool\":[", 25, TL_FORMAT_ROCPROF},
		{"\n\x10\x12\x0e/host:metadata", 18, TL_FORMAT_XPLANE},
		{"\n{\x40\x01", 4, TL_FORMAT_PERFETTO}, /* a message of 123 bytes, no JSON */
		{"SQLite format 3\0", 16, TL_FORMAT_ROCPD},
		{"", 0, TL_FORMAT_UNKNOWN},
		{"hello", 5, TL_FORMAT_UNKNOWN},
	};
	char path[] = "/tmp/tl-detect-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		FILE *file = fopen(path, "wb");
		fwrite(cases[i].content, 1, cases[i].n, file);
		fclose(file);
		tl_format format;
		assert_int_equal(tl_format_detect(&format, path, NULL), 0);
		assert_int_equal(format, cases[i].format);
	}
	unlink(path);
	tl_format format;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_format_detect(&format, path, &err), TL_EIO);
}

/* A tree that was built before gives the same sheets, and stays; tables of the caller's come behind, or in place. */
static void trees_and_tables_of_the_caller(void **state)
{
	(void)state;
	tl_trace *trace = trace_of(OP, LOST);
	tl_tree *tree;
	tl_report *report;
	tl_table *table;
	tl_report_options o = tl_report_options_default();
	o.include_unlinked_kernels = true;
	assert_int_equal(tl_tree_build(&tree, trace, NULL, NULL), 0);
	assert_int_equal(tl_report_pytorch_tree(&report, tree, &o, NULL), 0);
	assert_true(tl_tree_count(tree) > 0);
	tl_tree_free(tree);
	tl_trace_free(trace);
	EXPECT_SHEETS(report, "gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args",
		      "unified_perf_summary", "GEMM", "trace_health");
	assert_true(timeline(report, TOTAL) == 0.027);

	assert_int_equal(tl_table_new(&table, "mine", 0, NULL), 0);
	assert_int_equal(tl_report_add_table(report, table, NULL), 0);
	assert_int_equal(tl_table_new(&table, "Gemm", 0, NULL), 0);
	assert_int_equal(tl_report_add_table(report, table, NULL), 0);
	assert_int_equal(tl_table_new(&table, "", 0, NULL), 0);
	assert_int_equal(tl_report_add_table(report, table, NULL), TL_EINVAL);
	EXPECT_SHEETS(report, "gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args",
		      "unified_perf_summary", "Gemm", "trace_health", "mine");
	tl_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_and_tables_of_the_caller),
		cmocka_unit_test(sheets_come_in_their_order),
		cmocka_unit_test(gpu_events_without_a_launch_are_counted_or_announced),
		cmocka_unit_test(what_several_processes_could_own_is_told_apart),
		cmocka_unit_test(host_without_gpu_is_an_empty_report),
		cmocka_unit_test(gpu_without_host_has_kernels_only),
		cmocka_unit_test(senseless_options_are_refused),
		cmocka_unit_test(what_models_cannot_read_is_told),
		cmocka_unit_test(no_memory_is_an_error),
		cmocka_unit_test(formats_are_told_by_content),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
