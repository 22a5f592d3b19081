/* SPDX-License-Identifier: MIT */
/* Tables of costs over ranges: which rows and columns, in what order, and ranges that make no sense. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelens/perf.h"
#include "util/no_memory.h"

enum { MOST = 8 };

static tl_arch *arch_of(const char *json)
{
	tl_arch *arch;
	assert_int_equal(tl_arch_parse(&arch, json, strlen(json), "test", NULL), 0);
	return arch;
}

/* Sweeps "name=value name=value ..." of a family. */
static int sweep(tl_table **out, const char *family, const char *line, const tl_arch *const *archs, size_t n_archs,
		 tl_error *err)
{
	static char copy[512];
	tl_estimate_param params[MOST];
	size_t n = 0;
	snprintf(copy, sizeof copy, "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
		char *equals = strchr(word, '=');
		assert_non_null(equals);
		*equals = '\0';
		params[n++] = (tl_estimate_param){.name = word, .text = equals + 1};
	}
	return tl_estimate_sweep(out, family, params, n, archs, n_archs, err);
}

static tl_table *table_of(const char *family, const char *line)
{
	tl_table *t;
	tl_error err = TL_ERROR_INIT;
	if (sweep(&t, family, line, NULL, 0, &err) < 0)
		fail_msg("%s %s: %s", family, line, err.message);
	return t;
}

static void expect_columns(const tl_table *t, const char *const *names)
{
	size_t n = 0;
	for (; names[n]; n++)
		assert_string_equal(tl_table_column_name(t, n), names[n]);
	assert_int_equal(tl_table_columns(t), n);
}
#define EXPECT_COLUMNS(t, ...) expect_columns(t, (const char *const[]){__VA_ARGS__, NULL})

/* The texts of a column, separated by blanks. */
static void expect_cells(const tl_table *t, const char *column, const char *cells)
{
	char all[1024] = "";
	ptrdiff_t c = tl_table_find_column(t, column);
	assert_true(c >= 0);
	for (size_t r = 0; r < tl_table_rows(t); r++) {
		size_t used = strlen(all);
		if (r)
			all[used++] = ' ';
		tl_table_text(t, (size_t)c, r, all + used, sizeof all - used);
	}
	assert_string_equal(all, cells);
}

static void one_value_each_is_one_row(void **state)
{
	(void)state;
	tl_table *t = table_of("gemm", "M=2 N=3 K=4 bias=true dtype=fp32");
	assert_string_equal(tl_table_name(t), "gemm");
	assert_int_equal(tl_table_rows(t), 1);
	EXPECT_COLUMNS(t, "M", "N", "K", "bias", "dtype", "FLOPs", "Bytes", "FLOPS/Byte", "Compute Spec");
	expect_cells(t, "FLOPs", "54");
	expect_cells(t, "Bytes", "116");
	expect_cells(t, "bias", "True");
	expect_cells(t, "Compute Spec", "matrix_fp32");
	assert_int_equal(tl_table_column_type(t, 0), TL_TYPE_INT64);
	assert_int_equal(tl_table_column_type(t, 3), TL_TYPE_BOOL);
	assert_int_equal(tl_table_column_type(t, 5), TL_TYPE_INT64);
	assert_int_equal(tl_table_column_type(t, 6), TL_TYPE_INT64);
	tl_table_free(t);
}

static void ranges_and_lists_are_expanded(void **state)
{
	static const struct {
		const char *range, *cells;
	} ranges[] = {
		{"1024:16384:*2", "1024 2048 4096 8192 16384"},
		{"1:100:*10", "1 10 100"},
		{"1:99:*10", "1 10"},
		{"10:50:+20", "10 30 50"},
		{"10:49:20", "10 30"},
		{"3:6", "3 4 5 6"},
		{"7:7", "7"},
		{"1,2,1", "1 2 1"},
		{"1,4:16:*2,100", "1 4 8 16 100"},
		{"9007199254740991:9007199254740992", "9007199254740991 9007199254740992"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		char line[128];
		snprintf(line, sizeof line, "M=%s N=1", ranges[i].range);
		tl_table *t = table_of("softmax", line);
		expect_cells(t, "M", ranges[i].cells);
		tl_table_free(t);
	}
}

static void several_ranges_are_combined_in_order(void **state)
{
	(void)state;
	tl_table *t = table_of("gemm", "M=1,2 N=1 K=10:30:+10 dtype=bf16,fp8");
	expect_cells(t, "M", "1 1 1 1 1 1 2 2 2 2 2 2");
	expect_cells(t, "K", "10 10 20 20 30 30 10 10 20 20 30 30");
	expect_cells(t, "dtype", "bf16 fp8 bf16 fp8 bf16 fp8 bf16 fp8 bf16 fp8 bf16 fp8");
	expect_cells(t, "FLOPs", "20 20 40 40 60 60 40 40 80 80 120 120");
	tl_table_free(t);

	/* sizes of shapes, too; the last one fastest */
	t = table_of("rope", "shape=1:4:*2x5:6x2");
	expect_cells(t, "shape", "1x5x2 1x6x2 2x5x2 2x6x2 4x5x2 4x6x2");
	expect_cells(t, "FLOPs", "30 36 60 72 120 144");
	tl_table_free(t);
	/* without a range a shape stays as it was written */
	t = table_of("rope", "shape=4,5");
	expect_cells(t, "shape", "4,5");
	tl_table_free(t);
	t = table_of("gemm", "M=1 N=1 K=1 backward=false,true");
	expect_cells(t, "backward", "False True");
	expect_cells(t, "FLOPs", "2 4");
	tl_table_free(t);
}

static void values_need_not_be_texts(void **state)
{
	(void)state;
	static const int64_t sizes[] = {4, 5, 6};
	tl_estimate_param p[] = {
		{.name = "shape", .kind = TL_ESTIMATE_SIZES, .sizes = sizes, .n_sizes = 3},
		{.name = "channels", .kind = TL_ESTIMATE_NUMBER, .number = 6},
		{.name = "affine", .kind = TL_ESTIMATE_NUMBER, .number = 0},
		{.name = "dtype", .kind = TL_ESTIMATE_NUMBER, .number = 3},
	};
	tl_table *t;
	assert_int_equal(tl_estimate_sweep(&t, "rmsnorm", p, 4, NULL, 0, NULL), 0);
	expect_cells(t, "shape", "4x5x6");
	expect_cells(t, "channels", "6");
	expect_cells(t, "affine", "False");
	expect_cells(t, "dtype", "3");
	expect_cells(t, "Bytes", "720");
	tl_table_free(t);
}

static void platforms_run_fastest(void **state)
{
	(void)state;
	tl_arch *archs[] = {
		arch_of("{\"name\":\"one\",\"mem_bw_gbps\":1,\"max_achievable_tflops\":{\"matrix_bf16\":0.001}}"),
		arch_of("{\"name\":\"two\",\"mem_bw_gbps\":2,\"peak_tflops\":{\"matrix_bf16\":0.000001}}"),
		arch_of("{\"name\":\"none\"}"),
	};
	tl_table *t;
	assert_int_equal(sweep(&t, "gemm", "M=1,2 N=1 K=1", (const tl_arch *const *)archs, 3, NULL), 0);
	EXPECT_COLUMNS(t, "M", "N", "K", "platform", "FLOPs", "Bytes", "FLOPS/Byte", "Compute Spec", "Rate (TFLOPS)",
		       "Rate Kind", "Knee (FLOPS/Byte)", "Compute Time (µs)", "Memory Time (µs)", "Roofline Time (µs)",
		       "Roofline Bound");
	expect_cells(t, "M", "1 1 1 2 2 2");
	expect_cells(t, "platform", "one two none one two none");
	expect_cells(t, "Rate Kind", "achievable peak  achievable peak ");
	/* 2 FLOPs and 6 bytes: 0.002 and 0.006 µs on the first, 2 and 0.003 µs on the second */
	expect_cells(t, "Roofline Bound", "MEMORY_BOUND COMPUTE_BOUND  MEMORY_BOUND COMPUTE_BOUND ");
	size_t time = (size_t)tl_table_find_column(t, "Roofline Time (µs)");
	assert_true(tl_table_double(t, time, 0) > 0.00599999 && tl_table_double(t, time, 0) < 0.00600001);
	assert_true(tl_table_double(t, time, 1) > 1.999999 && tl_table_double(t, time, 1) < 2.000001);
	assert_true(tl_table_is_null(t, time, 2));
	tl_table_free(t);
	for (size_t i = 0; i < 3; i++)
		tl_arch_free(archs[i]);
}

static void counts_beyond_integers_are_doubles(void **state)
{
	(void)state;
	tl_table *t = table_of("gemm", "M=1000000000 N=1000000000 K=1000000");
	size_t flops = (size_t)tl_table_find_column(t, "FLOPs");
	assert_int_equal(tl_table_column_type(t, flops), TL_TYPE_DOUBLE);
	assert_true(tl_table_double(t, flops, 0) == 2e24);
	tl_table_free(t);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		const char *family, *line;
		int code;
		const char *message;
	} wrong[] = {
		{"gem", "M=1", TL_ENOTFOUND, "unknown model family 'gem'"},
		{"gemm", "M=1 N=1", TL_EINVAL, "needs K"},
		{"gemm", "M=1 N=1 K=1 X=1", TL_ENOTFOUND, "no parameter 'X'"},
		{"gemm", "M=1 N=1 K=1 M=2", TL_EINVAL, "M is given twice"},
		{"gemm", "M=4:1 N=1 K=1", TL_EINVAL, "M: '4:1'"},
		{"gemm", "M=1:4:0 N=1 K=1", TL_EINVAL, "M: '1:4:0'"},
		{"gemm", "M=1:4:*1 N=1 K=1", TL_EINVAL, "M: '1:4:*1'"},
		{"gemm", "M=1:4:+ N=1 K=1", TL_EINVAL, "M: '1:4:+'"},
		{"gemm", "M=1:4:2:2 N=1 K=1", TL_EINVAL, "M: '1:4:2:2'"},
		{"gemm", "M=1: N=1 K=1", TL_EINVAL, "M: '1:'"},
		{"gemm", "M=0:8:*2 N=1 K=1", TL_EINVAL, "M: '0:8:*2'"},
		{"gemm", "M=1,,2 N=1 K=1", TL_EINVAL, "M: '1,,2'"},
		{"gemm", "M=0:8 N=1 K=1", TL_EINVAL, "M: 0 is out of range"},
		{"gemm", "M=1:9223372036854775807 N=1 K=1", TL_ELIMIT, "more than 100000 rows"},
		{"gemm", "M=1:1000 N=1:1000 K=1:1000", TL_ELIMIT, "more than 100000 rows"},
		{"gemm", "M=1 N=1 K=1 dtype=bf16,bf17", TL_EINVAL, "unknown dtype 'bf17'"},
		{"gemm", "M=1 N=1 K=1 bias=true,", TL_EINVAL, "bias: ''"},
		{"rope", "shape=1:2x", TL_EINVAL, "shape: '1:2x'"},
		{"rope", "shape=1:2xax3", TL_EINVAL, "shape: '1:2xax3'"},
		{"rope", "shape=1:2x1x1x1x1x1x1x1x1", TL_EINVAL, "shape:"},
		{"rope", "shape=1:1000x1:1000", TL_ELIMIT, "more than 100000 rows"},
		{"moe_up", "tokens=1 hidden=1 inter=1 experts=1:4 topk=2", TL_EINVAL, "more experts"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		tl_table *t = (tl_table *)&t;
		tl_error err = TL_ERROR_INIT;
		int code = sweep(&t, wrong[i].family, wrong[i].line, NULL, 0, &err);
		if (code != wrong[i].code || !strstr(err.message, wrong[i].message))
			fail_msg("%s %s: %d %s", wrong[i].family, wrong[i].line, code, err.message);
		assert_null(t);
	}
	tl_table *t = table_of("softmax", "M=1:100000 N=1");
	assert_int_equal(tl_table_rows(t), TL_ESTIMATE_MAX_ROWS);
	tl_table_free(t);
}

static int sweep_line(void *line)
{
	tl_table *t;
	int code = sweep(&t, "gemm", line, NULL, 0, NULL);
	assert_int_equal(t == NULL, code != 0);
	tl_table_free(t);
	return code;
}

static void no_memory_is_an_error_and_no_leak(void **state)
{
	char line[] = "M=1:9 N=1 K=1 dtype=bf16,fp8";
	(void)state;
	assert_true(fail_each_allocation(sweep_line, line) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value_each_is_one_row),
		cmocka_unit_test(ranges_and_lists_are_expanded),
		cmocka_unit_test(several_ranges_are_combined_in_order),
		cmocka_unit_test(values_need_not_be_texts),
		cmocka_unit_test(platforms_run_fastest),
		cmocka_unit_test(counts_beyond_integers_are_doubles),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(no_memory_is_an_error_and_no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
