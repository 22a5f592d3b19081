/* SPDX-License-Identifier: MIT */
/* Whether a report says with which rates its rooflines count, and what is told when a rate is missing. */
#include "report/testing.h"

#include <stdlib.h>
#include <string.h>

static tl_arch *arch_of(const char *json)
{
	tl_arch *arch;
	assert_int_equal(tl_arch_parse(&arch, json, strlen(json), "test", NULL), 0);
	return arch;
}

/* Seven bf16 products, two fp8 ones, and three vector operations. */
static tl_report *report_with_specs(void)
{
	tl_report *report = tl__report_new();
	assert_non_null(report);
	tl_table *t = add_sheet(report, "unified_perf_summary", 5);
	add_texts(t, "Compute Spec",
		  (const char *const[]){"matrix_bf16", "vector_fp32", NULL, "matrix_bf16", "matrix_fp8"});
	add_ints(t, "operation_count", (const int64_t[]){4, 3, 9, 3, 2});
	t = add_sheet(report, "GEMM", 1);
	add_texts(t, "Compute Spec_first", (const char *const[]){"matrix_bf16"});
	return report;
}

/* An empty health table as the tree makes it, and what is added to it. */
static tl_table *findings(const tl_report *report)
{
	tl_table *health = tl__table_new("trace_health", NULL, 0);
	assert_non_null(health);
	assert_non_null(tl__table_add(health, "kind", "", TL_COL_STRING));
	assert_non_null(tl__table_add(health, "count", "", TL_COL_INT64));
	assert_non_null(tl__table_add(health, "first byte", "", TL_COL_INT64));
	assert_non_null(tl__table_add(health, "repair", "", TL_COL_BOOL));
	assert_non_null(tl__table_add(health, "meaning", "", TL_COL_STRING));
	assert_int_equal(tl__report_roofline_findings(&health, report, NULL), 0);
	return health;
}

static void expect_finding(const tl_table *health, size_t row, const char *kind, int64_t count, const char *meaning)
{
	char text[512];
	tl_table_text(health, 0, row, text, sizeof text);
	assert_string_equal(text, kind);
	assert_int_equal(tl_table_int(health, 1, row), count);
	assert_true(tl_table_is_null(health, 2, row));
	assert_int_equal(tl_table_int(health, 3, row), 0);
	tl_table_text(health, 4, row, text, sizeof text);
	assert_non_null(strstr(text, meaning));
}

/* The sheet that says which rate: 100 achievable, 50 the peak, none. */
static void a_sheet_says_which_rate(void **state)
{
	(void)state;
	static const char *const expected[][5] = {
		{"matrix_bf16", "100.0", "achievable", "1000.0", "a measurement"},
		{"vector_fp32", "50.0", "peak", "1000.0", "a data sheet"},
		{"matrix_fp8", "", "none", "1000.0", ""},
	};
	static const char *const columns[] = {"Compute Spec", "Rate (TFLOPS)", "Rate Kind", "Bandwidth (GB/s)",
					      "Source"};
	tl_report *report = report_with_specs();
	tl_arch *arch = arch_of("{\"mem_bw_gbps\": 1000, \"max_achievable_tflops\": {\"matrix_bf16\": 100},"
				"\"peak_tflops\": {\"matrix_bf16\": 200, \"vector_fp32\": 50}, \"sources\": ["
				"{\"for\": \"peak_tflops\", \"title\": \"a data sheet\"},"
				"{\"for\": \"max_achievable_tflops: matrix_bf16\", \"title\": \"a measurement\"}]}");
	assert_int_equal(tl__report_add_roofline(report, arch, NULL), 0);
	tl_arch_free(arch);
	const tl_table *t = tl_report_find(report, "roofline_rates");
	assert_non_null(t);
	assert_int_equal(tl_table_rows(t), 3);
	for (size_t row = 0; row < 3; row++)
		for (size_t c = 0; c < 5; c++) {
			char text[64];
			assert_string_equal(tl_table_column_name(t, c), columns[c]);
			tl_table_text(t, c, row, text, sizeof text);
			assert_string_equal(text, expected[row][c]);
		}
	tl_report_free(report);
}

static void without_an_architecture_nothing_is_said(void **state)
{
	(void)state;
	tl_report *report = report_with_specs();
	tl_buf json = {0};
	assert_string_equal(tl_report_roofline(report), "");
	tl__report_roofline_json(&json, report);
	assert_int_equal(json.n, 0);
	tl_table *health = findings(report);
	assert_int_equal(tl_table_rows(health), 0);
	tl_table_free(health);
	tl_report_free(report);
}

static void rates_are_named_with_their_kind(void **state)
{
	(void)state;
	tl_arch *arch = arch_of("{\"name\":\"X1\",\"mem_bw_gbps\":5300,\"max_achievable_tflops\":{\"matrix_bf16\":708},"
				"\"peak_tflops\":{\"matrix_bf16\":1307.4,\"vector_fp32\":163.4,\"matrix_fp64\":1}}");
	tl_report *report = report_with_specs();
	assert_int_equal(tl__report_add_roofline(report, arch, NULL), 0);
	tl_arch_free(arch); /* the report must not need it */
	assert_string_equal(tl_report_roofline(report),
			    "X1, 5300 GB/s; matrix_bf16 708 TFLOPS (achievable), vector_fp32 163.4 TFLOPS (peak), "
			    "matrix_fp8 no rate");

	tl_buf json = {0};
	tl__report_roofline_json(&json, report);
	assert_string_equal(tl__buf_text(&json), ",\"roofline\":{\"platform\":\"X1\",\"mem_bw_gbps\":5300.0,\"rates\":["
						 "{\"spec\":\"matrix_bf16\",\"tflops\":708.0,\"rate\":\"achievable\"},"
						 "{\"spec\":\"vector_fp32\",\"tflops\":163.4,\"rate\":\"peak\"},"
						 "{\"spec\":\"matrix_fp8\",\"tflops\":null,\"rate\":null}]}");
	tl__buf_free(&json);

	tl_table *health = findings(report);
	assert_int_equal(tl_table_rows(health), 2);
	expect_finding(health, 0, "peak_rate", 3, "vector_fp32 on X1: only the data sheet's peak rate");
	expect_finding(health, 1, "no_rate", 2, "matrix_fp8 on X1: no rate");
	tl_table_free(health);
	tl_report_free(report);
}

static void a_missing_bandwidth_is_told(void **state)
{
	(void)state;
	tl_arch *arch = arch_of("{\"name\":\"X1\",\"max_achievable_tflops\":{\"matrix_bf16\":708}}");
	tl_report *report = report_with_specs();
	assert_int_equal(tl__report_add_roofline(report, arch, NULL), 0);
	tl_arch_free(arch);
	assert_non_null(strstr(tl_report_roofline(report), "X1, no bandwidth; matrix_bf16 708"));
	tl_table *health = findings(report);
	assert_int_equal(tl_table_rows(health), 1);
	expect_finding(health, 0, "no_bandwidth", 12, "no memory bandwidth");
	tl_table_free(health);
	tl_report_free(report);
}

/* An aten::mm of 4 x 8 x 2 in float: 128 FLOPs, 224 bytes; its kernel takes 10 µs. */
static const char TRACE[] =
	"{\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":20,"
	"\"args\":{\"External id\":1,\"Input Dims\":[[4,8],[8,2]],\"Input type\":[\"float\",\"float\"]}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":105,"
	"\"dur\":2,\"args\":{\"correlation\":5}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":130,\"dur\":10,"
	"\"args\":{\"correlation\":5,\"stream\":7}}]}";

static int open_report(tl_report **out, const tl_arch *arch)
{
	tl_trace *trace;
	*out = NULL;
	int code = tl_trace_open_memory(&trace, TRACE, strlen(TRACE), NULL, NULL);
	if (code < 0)
		return code;
	tl_report_options o = tl_report_options_default();
	o.arch = arch;
	code = tl_report_pytorch(out, trace, &o, NULL);
	tl_trace_free(trace);
	return code;
}

static double cell(const tl_report *report, const char *sheet, const char *column)
{
	const tl_table *t = tl_report_find(report, sheet);
	assert_non_null(t);
	ptrdiff_t c = tl_table_find_column(t, column);
	return c < 0 ? -1 : tl_table_double(t, (size_t)c, 0);
}

static void a_report_counts_with_the_given_architecture(void **state)
{
	(void)state;
	/* 128 FLOPs at 1e9 FLOP/s take 0.128 µs, 224 bytes at 1e9 byte/s 0.224 µs */
	tl_arch *arch = arch_of("{\"name\":\"slow\",\"mem_bw_gbps\":1,\"peak_tflops\":{\"matrix_fp32\":0.001}}");
	tl_report *report;
	assert_int_equal(open_report(&report, arch), 0);
	double us = cell(report, "GEMM", "Roofline Time (µs)_first");
	assert_true(us > 0.2239999 && us < 0.2240001);
	double percent = cell(report, "unified_perf_summary", "Pct Roofline_mean");
	assert_true(percent > 2.239999 && percent < 2.240001);
	assert_string_equal(tl_report_roofline(report), "slow, 1 GB/s; matrix_fp32 0.001 TFLOPS (peak)");
	const tl_table *health = tl_report_find(report, "trace_health");
	bool told = false;
	for (size_t r = 0; r < tl_table_rows(health); r++) {
		char kind[64];
		tl_table_text(health, 0, r, kind, sizeof kind);
		told = told || !strcmp(kind, "peak_rate");
	}
	assert_true(told);
	char *text;
	assert_int_equal(tl_report_summary(report, NULL, NULL, &text, NULL), 0);
	assert_non_null(strstr(text, "Roofline  slow, 1 GB/s"));
	free(text);
	tl_report_free(report);
	tl_arch_free(arch);

	assert_int_equal(open_report(&report, NULL), 0);
	assert_true(cell(report, "GEMM", "Roofline Time (µs)_first") == -1);
	tl_report_free(report);
}

static void no_memory_is_an_error_and_no_leak(void **state)
{
	(void)state;
	tl_arch *arch = arch_of("{\"name\":\"slow\",\"mem_bw_gbps\":1,\"peak_tflops\":{\"matrix_fp32\":0.001}}");
	for (int64_t i = 0;; i++) {
		tl_report *report;
		tl__alloc_fail_after(i);
		int code = open_report(&report, arch);
		tl__alloc_fail_after(-1);
		if (code == 0) {
			assert_true(i > 100);
			tl_report_free(report);
			break;
		}
		assert_int_equal(code, TL_ENOMEM);
		assert_null(report);
	}
	tl_arch_free(arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sheet_says_which_rate),
		cmocka_unit_test(without_an_architecture_nothing_is_said),
		cmocka_unit_test(rates_are_named_with_their_kind),
		cmocka_unit_test(a_missing_bandwidth_is_told),
		cmocka_unit_test(a_report_counts_with_the_given_architecture),
		cmocka_unit_test(no_memory_is_an_error_and_no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
