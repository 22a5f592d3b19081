/* SPDX-License-Identifier: MIT */
/* Comparisons of small reports, joined by hand. */
#include "report/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelens/compare.h"

#define US "\xc2\xb5s"

static void expect_near(double value, double expected)
{
	assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
}

static void add_column(tl_table *table, const char *name, const char *const *texts)
{
	add_texts(table, name, texts);
}

static tl_comparison *compare(const tl_report *const *reports, const char *const *names, size_t n, const char *sheets)
{
	tl_error err = TL_ERROR_INIT;
	tl_comparison *c;
	tl_compare_options o = {.names = names, .n_names = n, .sheets = &sheets, .n_sheets = sheets != NULL};
	if (tl_compare_reports_made(&c, reports, n, &o, &err) < 0)
		fail_msg("%s", err.message);
	return c;
}

static void expect_error(const tl_report *const *reports, size_t n, const char *sheets, int code, const char *message)
{
	static const char *const names[] = {"a", "b", "c"};
	tl_error err = TL_ERROR_INIT;
	tl_comparison *c;
	tl_compare_options o = {.names = names, .n_names = n, .sheets = &sheets, .n_sheets = 1};
	assert_int_equal(tl_compare_reports_made(&c, reports, n, &o, &err), code);
	if (!strstr(err.message, message))
		fail_msg("'%s' is not in '%s'", message, err.message);
	assert_null(c);
}

/* A table as CSV text, to compare with what stands in the test. */
static void expect_table(const tl_comparison *c, const char *name, const char *csv)
{
	const tl_table *table = tl_comparison_find(c, name);
	if (!table)
		fail_msg("there is no sheet %s", name);
	char got[8192], cell[512];
	size_t n = 0;
	for (size_t i = 0; i < tl_table_columns(table); i++)
		n += (size_t)snprintf(got + n, sizeof got - n, "%s%s", i ? "," : "", tl_table_column_name(table, i));
	n += (size_t)snprintf(got + n, sizeof got - n, "\n");
	for (size_t row = 0; tl_table_columns(table) && row < tl_table_rows(table); row++) {
		for (size_t i = 0; i < tl_table_columns(table); i++) {
			tl_table_text(table, i, row, cell, sizeof cell);
			n += (size_t)snprintf(got + n, sizeof got - n, "%s%s", i ? "," : "", cell);
		}
		n += (size_t)snprintf(got + n, sizeof got - n, "\n");
	}
	assert_string_equal(got, csv);
}

static tl_report *timeline(size_t rows, const char *const *types, const double *ms)
{
	tl_report *r = tl__report_new();
	tl_table *t = add_sheet(r, "gpu_timeline", rows);
	add_column(t, "type", types);
	add_doubles(t, "time ms", "ms", ms);
	return r;
}

static void three_timelines(void **state)
{
	(void)state;
	tl_report *a = timeline(2, (const char *[]){"busy_time", "Zed"}, (double[]){4, 0});
	tl_report *b = timeline(2, (const char *[]){"Zed", "busy_time"}, (double[]){3, 5});
	tl_report *c = timeline(2, (const char *[]){"new", "busy_time"}, (double[]){1, 1});
	tl_comparison *x = compare((const tl_report *[]){a, b, c}, (const char *[]){"a", "b", "c"}, 3, "gpu_timeline");
	expect_table(
		x, "gpu_timeline",
		"type,time ms__b_diff,time ms__b_pct,time ms__c_diff,time ms__c_pct,a::time ms,b::time ms,c::time ms\n"
		"busy_time,1.0,25.0,-3.0,-75.0,4.0,5.0,1.0\n"
		"Zed,3.0,,,,0.0,3.0,\n"
		"new,,,,,,,1.0\n");
	assert_string_equal(tl_comparison_tag(x, 0), "a");
	assert_null(tl_comparison_tag(x, 3));
	tl_comparison_free(x);
	tl_report_free(a);
	tl_report_free(b);
	tl_report_free(c);
}

/* Names that look like what columns are made of, and a tag that does. */
static void tags_may_hold_anything(void **state)
{
	(void)state;
	tl_report *a = timeline(1, (const char *[]){"x"}, (double[]){1});
	tl_report *b = timeline(1, (const char *[]){"x"}, (double[]){2});
	tl_comparison *x =
		compare((const tl_report *[]){a, b}, (const char *[]){"p::q", "r__s_diff"}, 2, "gpu_timeline");
	expect_table(x, "gpu_timeline",
		     "type,time ms__r__s_diff_diff,time ms__r__s_diff_pct,p::q::time ms,r__s_diff::time ms\n"
		     "x,1.0,100.0,1.0,2.0\n");
	tl_comparison_free(x);
	tl_report_free(a);
	tl_report_free(b);
}

static tl_report *kernels(size_t rows, const char *const *names, const double *sum, const int64_t *count)
{
	tl_report *r = tl__report_new();
	tl_table *t = add_sheet(r, "kernel_summary", rows);
	double mean[8];
	for (size_t i = 0; i < rows; i++)
		mean[i] = sum[i] / (double)count[i];
	add_column(t, "Kernel name", names);
	add_doubles(t, "Kernel duration (" US ")_sum", US, sum);
	add_ints(t, "Kernel duration (" US ")_count", count);
	add_doubles(t, "Kernel duration (" US ")_mean", US, mean);
	add_doubles(t, "Kernel duration (" US ")_max", US, sum);
	return r;
}

/* The same kernel on two streams: 2 x 2 rows would give 4, and twice the time. */
static void one_row_a_key(void **state)
{
	(void)state;
	tl_report *a = kernels(3, (const char *[]){"k", "other", "k"}, (double[]){10, 7, 2}, (int64_t[]){1, 7, 3});
	tl_report *b = kernels(2, (const char *[]){"k", "k"}, (double[]){3, 3}, (int64_t[]){1, 2});
	tl_comparison *x = compare((const tl_report *[]){a, b}, (const char *[]){"a", "b"}, 2, "kernel_summary");
	expect_table(
		x, "kernel_summary",
		"Kernel name,Kernel duration (" US ")_sum__b_diff,Kernel duration (" US ")_sum__b_pct,"
		"Kernel duration (" US ")_mean__b_diff,Kernel duration (" US ")_mean__b_pct,"
		"Kernel duration (" US ")_count__b_diff,Kernel duration (" US ")_count__b_pct,"
		"a::Kernel duration (" US ")_sum,a::Kernel duration (" US ")_count,a::Kernel duration (" US ")_mean,"
		"b::Kernel duration (" US ")_sum,b::Kernel duration (" US ")_count,b::Kernel duration (" US ")_mean\n"
		/* means: (1 * 10 + 3 * 2/3) / 4 = 3, (1 * 3 + 2 * 1.5) / 3 = 2 */
		"k,-6.0,-50.0,-1.0,-33.33333333333333,-1,-25.0,12.0,4,3.0,6.0,3,2.0\n"
		"other,,,,,,,7.0,7,1.0,,,\n");
	tl_comparison_free(x);
	tl_report_free(a);
	tl_report_free(b);
}

static tl_report *operations(const char *const *names, const int64_t *dims, const double *sum, const double *std,
			     const double *median)
{
	static const int64_t counts[] = {2, 3};
	tl_report *r = tl__report_new();
	tl_table *t = add_sheet(r, "ops_unique_args", 2);
	static const char *const nothing[] = {NULL, NULL};
	double mean[] = {sum[0] / 2, sum[1] / 3};
	add_column(t, "name", names);
	add_column(t, "Input type", nothing);
	add_ints(t, "Input Dims", dims);
	add_column(t, "Input Strides", nothing);
	add_column(t, "Concrete Inputs", nothing);
	add_ints(t, "operation_count", counts);
	add_doubles(t, "total_direct_kernel_time_sum", US, sum);
	add_doubles(t, "total_direct_kernel_time_mean", US, mean);
	add_doubles(t, "total_direct_kernel_time_std", US, std);
	add_doubles(t, "total_direct_kernel_time_median", US, median);
	return r;
}

static void three_parts(void **state)
{
	(void)state;
	tl_report *a = operations((const char *[]){"mm", "add"}, (int64_t[]){1, 2}, (double[]){4, 9}, (double[]){0, 0},
				  (double[]){2, 3});
	tl_report *b = operations((const char *[]){"mm", "mul"}, (int64_t[]){1, 2}, (double[]){2, 3}, (double[]){0, 0},
				  (double[]){1, 1});
	tl_comparison *x = compare((const tl_report *[]){a, b}, (const char *[]){"a", "b"}, 2, "ops_all");
	assert_int_equal(tl_comparison_count(x), 3);
	expect_table(
		x, "ops_unique_args_intersect_b",
		"name,Input Dims,total_direct_kernel_time_sum__b_diff,total_direct_kernel_time_sum__b_pct,"
		"total_direct_kernel_time_mean__b_diff,total_direct_kernel_time_mean__b_pct,"
		"operation_count__b_diff,operation_count__b_pct,a::operation_count,a::total_direct_kernel_time_sum,"
		"a::total_direct_kernel_time_mean,a::total_direct_kernel_time_std,a::total_direct_kernel_time_median,"
		"b::operation_count,b::total_direct_kernel_time_sum,b::total_direct_kernel_time_mean,"
		"b::total_direct_kernel_time_std,b::total_direct_kernel_time_median\n"
		"mm,1,-2.0,-50.0,-1.0,-50.0,0,0.0,2,4.0,2.0,0.0,2.0,2,2.0,1.0,0.0,1.0\n");
	expect_table(
		x, "ops_unique_args_only_baseline_b",
		"name,Input Dims,a::operation_count,a::total_direct_kernel_time_sum,a::total_direct_kernel_time_mean,"
		"a::total_direct_kernel_time_std,a::total_direct_kernel_time_median\n"
		"add,2,3,9.0,3.0,0.0,3.0\n");
	expect_table(
		x, "ops_unique_args_only_variant_b",
		"name,Input Dims,b::operation_count,b::total_direct_kernel_time_sum,b::total_direct_kernel_time_mean,"
		"b::total_direct_kernel_time_std,b::total_direct_kernel_time_median\n"
		"mul,2,3,3.0,1.0,0.0,1.0\n");
	tl_comparison_free(x);
	tl_report_free(a);
	tl_report_free(b);
}

/* Two rows of one key: {1, 3} and {2, 4, 6} are five values with mean 3.2 and deviation sqrt(14.8 / 4). */
static void deviations_are_pooled_and_medians_unknown(void **state)
{
	(void)state;
	tl_report *a = operations((const char *[]){"mm", "mm"}, (int64_t[]){1, 1}, (double[]){4, 12},
				  (double[]){sqrt(2), 2}, (double[]){2, 4});
	tl_comparison *x = compare((const tl_report *[]){a, a}, (const char *[]){"a", "b"}, 2, "ops_all");
	const tl_table *t = tl_comparison_find(x, "ops_unique_args_intersect_b");
	assert_int_equal(tl_table_rows(t), 1);
	ptrdiff_t std = tl_table_find_column(t, "a::total_direct_kernel_time_std");
	assert_true(std >= 0);
	expect_near(tl_table_double(t, (size_t)std, 0), sqrt(14.8 / 4));
	ptrdiff_t mean = tl_table_find_column(t, "b::total_direct_kernel_time_mean");
	expect_near(tl_table_double(t, (size_t)mean, 0), 3.2);
	assert_int_equal(tl_table_find_column(t, "a::total_direct_kernel_time_median"), -1); /* nothing in it */
	/* equal parts have no other rows, and CSV files of them no column */
	expect_table(x, "ops_unique_args_only_baseline_b", "\n");
	tl_comparison_free(x);
	tl_report_free(a);
}

static tl_table *family(tl_report *r, const char *name, double sum)
{
	tl_table *t = add_sheet(r, name, 1);
	add_column(t, "name", (const char *[]){"mm"});
	add_doubles(t, "Kernel Time (" US ")_sum", US, &sum);
	return t;
}

/* An integer, a double and a text that mean the same; parameters that one report lacks; a family that one lacks. */
static void keys_of_unlike_types(void **state)
{
	(void)state;
	tl_report *a = tl__report_new(), *b = tl__report_new();
	tl_table *t = family(a, "GEMM", 2);
	add_ints(t, "param: M", (int64_t[]){64});
	add_doubles(t, "param: K", "", (double[]){8});
	add_column(t, "param: only a", (const char *[]){"p"});
	t = family(b, "GEMM", 3);
	add_column(t, "param: M", (const char *[]){"64"});
	add_ints(t, "param: K", (int64_t[]){8});
	add_doubles(t, "GFLOPS_first", "", (double[]){1});
	family(b, "Normalization", 5);
	tl_comparison *x = compare((const tl_report *[]){a, b}, (const char *[]){"a", "b"}, 2, "roofline");
	expect_table(x, "GEMM_intersect_b",
		     "name,param: K,param: M,Kernel Time (" US ")_sum__b_diff,Kernel Time (" US ")_sum__b_pct,"
		     "a::Kernel Time (" US ")_sum,a::param: only a,b::Kernel Time (" US ")_sum\n"
		     "mm,8.0,64,1.0,50.0,2.0,p,3.0\n");
	expect_table(x, "Normalization_only_variant_b", "name,b::Kernel Time (" US ")_sum\nmm,5.0\n");
	expect_table(x, "Normalization_intersect_b", "\n");
	assert_non_null(strstr(tl_comparison_note(x, 0), "has no column 'Kernel Time (" US ")_mean'"));
	tl_comparison_free(x);
	tl_report_free(a);
	tl_report_free(b);
}

static void what_is_missing(void **state)
{
	(void)state;
	tl_report *a = kernels(1, (const char *[]){"k"}, (double[]){1}, (int64_t[]){1});
	tl_report *b = timeline(1, (const char *[]){"x"}, (double[]){1});
	const tl_report *const both[] = {a, b}, *const same[] = {a, a};
	expect_error(both, 2, "kernel_summary", TL_ENOTFOUND, "--enable_kernel_summary");
	expect_error(both, 2, "gpu_timeline", TL_ENOTFOUND, "there is no sheet 'gpu_timeline'");
	expect_error(both, 2, "ops_summary", TL_ENOTFOUND, "there is no sheet 'ops_summary'");
	expect_error(both, 2, "ops_all", TL_ENOTFOUND, "there is no sheet 'ops_unique_args'");
	expect_error(both, 2, "roofline", TL_ENOTFOUND, "performance model");
	expect_error(both, 2, "all", TL_EEMPTY, "no sheet that could be compared");
	expect_error(both, 2, "kernels", TL_EINVAL, "unknown sheets 'kernels'");
	expect_error(both, 1, "all", TL_EINVAL, "at least two reports");
	/* kernels stand in for operations */
	tl_comparison *x = compare(same, (const char *[]){"a", "b"}, 2, "ops_summary");
	assert_int_equal(tl_comparison_count(x), 1);
	assert_non_null(tl_comparison_find(x, "kernel_summary"));
	assert_non_null(strstr(tl_comparison_note(x, 0), "kernel_summary stands in for ops_summary"));
	assert_null(tl_comparison_note(x, 1));
	tl_comparison_free(x);
	tl_error err = TL_ERROR_INIT;
	tl_compare_options o = {.names = (const char *[]){"a", "a"}, .n_names = 2};
	assert_int_equal(tl_compare_reports_made(&x, same, 2, &o, &err), TL_EINVAL);
	assert_non_null(strstr(err.message, "two reports are called 'a'"));
	o.n_names = 1;
	assert_int_equal(tl_compare_reports_made(&x, same, 2, &o, &err), TL_EINVAL);
	tl_report_free(a);
	tl_report_free(b);
}

static void a_metric_that_is_text(void **state)
{
	(void)state;
	tl_report *a = timeline(1, (const char *[]){"x"}, (double[]){1});
	tl_report *b = tl__report_new();
	tl_table *t = add_sheet(b, "gpu_timeline", 1);
	add_column(t, "type", (const char *[]){"x"});
	add_column(t, "time ms", (const char *[]){"soon"});
	expect_error((const tl_report *[]){a, b}, 2, "gpu_timeline", TL_EFORMAT,
		     "sheet 'gpu_timeline', column 'time ms': 'soon' is not a number");
	tl_report_free(b);
	/* among numbers, the text */
	b = tl__report_new();
	t = add_sheet(b, "gpu_timeline", 3);
	add_column(t, "type", (const char *[]){"x", "y", "z"});
	add_column(t, "time ms", (const char *[]){"1.5", "later", "soon"});
	expect_error((const tl_report *[]){a, b}, 2, "gpu_timeline", TL_EFORMAT, "'later' is not a number");
	tl_report_free(b);
	b = tl__report_new();
	add_doubles(add_sheet(b, "gpu_timeline", 1), "time ms", "ms", (double[]){1});
	expect_error((const tl_report *[]){a, b}, 2, "gpu_timeline", TL_EFORMAT,
		     "sheet 'gpu_timeline' has no column 'type'");
	tl_report_free(a);
	tl_report_free(b);
}

static void the_largest_differences(void **state)
{
	(void)state;
	tl_report *a =
		kernels(3, (const char *[]){"k", "gone", "k"}, (double[]){1000, 500, 1000}, (int64_t[]){1, 1, 1});
	tl_report *b = kernels(2, (const char *[]){"new", "k"}, (double[]){100, 3000}, (int64_t[]){1, 1});
	tl_comparison *x = compare((const tl_report *[]){a, b}, (const char *[]){"a", "b"}, 2, NULL);
	const tl_table *t = tl_comparison_largest(x);
	static const struct {
		const char *name;
		double base, other, pct;
	} rows[] = {{"k", 2, 3, 50}, {"new", 0, 0.1, NAN}, {"gone", 0.5, 0, -100}};
	assert_int_equal(tl_table_rows(t), 3);
	for (size_t i = 0; i < 3; i++) {
		char name[32];
		tl_table_text(t, 1, i, name, sizeof name);
		assert_string_equal(name, rows[i].name);
		expect_near(tl_table_double(t, 2, i), rows[i].base);
		expect_near(tl_table_double(t, 3, i), rows[i].other);
		expect_near(tl_table_double(t, 4, i), rows[i].other - rows[i].base);
		if (isnan(rows[i].pct))
			assert_true(tl_table_is_null(t, 5, i));
		else
			expect_near(tl_table_double(t, 5, i), rows[i].pct);
	}
	tl_comparison_free(x);
	tl_report_free(a);
	tl_report_free(b);
}

/* A row that is there without its time is none that took no time: it is not listed. */
static void a_time_that_is_missing(void **state)
{
	(void)state;
	tl_report *a = kernels(3, (const char *[]){"known", "unknown", "gone"}, (double[]){1000, 9000, 500},
			       (int64_t[]){1, 1, 1});
	tl_report *b = kernels(2, (const char *[]){"known", "unknown"}, (double[]){3000, NAN}, (int64_t[]){1, 1});
	for (int turned = 0; turned < 2; turned++) {
		const tl_report *reports[] = {turned ? b : a, turned ? a : b};
		tl_comparison *x = compare(reports, (const char *[]){"a", "b"}, 2, NULL);
		const tl_table *t = tl_comparison_largest(x);
		assert_int_equal(tl_table_rows(t), 2);
		for (size_t i = 0; i < 2; i++) {
			char name[32];
			tl_table_text(t, 1, i, name, sizeof name);
			assert_string_equal(name, (i == 0) != turned ? "known" : "gone");
			expect_near(tl_table_double(t, 4, i), ((i == 0) != turned ? 2 : -0.5) * (turned ? -1 : 1));
		}
		tl_comparison_free(x);
	}
	tl_report_free(a);
	tl_report_free(b);
}

/* A workbook and CSV files that are read back are the report that they were written from. */
static void reports_read_back(void **state)
{
	(void)state;
	char folder[] = "/tmp/tl_comparison_XXXXXX", book[64], csv[64];
	assert_non_null(mkdtemp(folder));
	snprintf(book, sizeof book, "%s/r.xlsx", folder);
	snprintf(csv, sizeof csv, "%s/csv", folder);
	tl_error err = TL_ERROR_INIT;
	tl_report *a = kernels(2, (const char *[]){"k, \"x\"\n<&>", NULL}, (double[]){0.1, 1e300}, (int64_t[]){1, 7});
	add_column(a->sheets.v[0], "flag", (const char *[]){"True", "False"});
	assert_int_equal(tl_report_write(a, &(tl_report_outputs){.csv_dir = csv, .xlsx_path = book}, NULL, &err), 0);
	const char *const paths[] = {book, csv};
	for (size_t i = 0; i < 2; i++) {
		tl_report *r;
		if (tl_report_read(&r, paths[i], &err) < 0)
			fail_msg("%s: %s", err.file, err.message);
		assert_int_equal(tl_report_count(r), 1);
		const tl_table *t = tl_report_find(r, "kernel_summary"), *from = a->sheets.v[0];
		assert_int_equal(tl_table_rows(t), 2);
		assert_int_equal(tl_table_columns(t), tl_table_columns(from));
		assert_int_equal(tl_table_column_type(t, 2), TL_TYPE_INT64);
		assert_int_equal(tl_table_column_type(t, 1), TL_TYPE_DOUBLE);
		assert_int_equal(tl_table_column_type(t, 5), TL_TYPE_BOOL);
		for (size_t c = 0; c < tl_table_columns(t); c++) {
			assert_string_equal(tl_table_column_name(t, c), tl_table_column_name(from, c));
			for (size_t row = 0; row < 2; row++) {
				char x[64], y[64];
				tl_table_text(t, c, row, x, sizeof x);
				tl_table_text(from, c, row, y, sizeof y);
				if (tl_table_column_type(t, c) == TL_TYPE_DOUBLE)
					/* workbooks keep 16 digits */
					assert_true(fabs(tl_table_double(t, c, row) - tl_table_double(from, c, row)) <=
						    (i ? 0 : 1e-15) * fabs(tl_table_double(from, c, row)));
				else
					assert_string_equal(x, y);
			}
		}
		tl_report_free(r);
	}
	/* and, compared with each other, they do not differ */
	tl_comparison *x;
	if (tl_compare_reports(&x, paths, 2, NULL, &err) < 0)
		fail_msg("%s: %s", err.file, err.message);
	assert_string_equal(tl_comparison_tag(x, 0), "r");
	assert_string_equal(tl_comparison_tag(x, 1), "csv");
	assert_int_equal(tl_table_rows(tl_comparison_largest(x)), 0);
	assert_int_equal(tl_comparison_write(x, book, csv, &err), 0);
	tl_comparison_free(x);
	tl_report_free(a);
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void lack_of_memory(void **state)
{
	(void)state;
	tl_report *a = kernels(3, (const char *[]){"k", "other", "k"}, (double[]){10, 7, 2}, (int64_t[]){1, 7, 3});
	tl_report *b = operations((const char *[]){"mm", "mm"}, (int64_t[]){1, 1}, (double[]){4, 12}, (double[]){1, 2},
				  (double[]){2, 4});
	family(b, "GEMM", 2);
	const tl_report *const pairs[][2] = {{a, a}, {b, b}};
	for (size_t i = 0; i < 2; i++) {
		int code = TL_ENOMEM;
		for (int64_t n = 0; code == TL_ENOMEM; n++) {
			tl_error err = TL_ERROR_INIT;
			tl_compare_options o = {.names = (const char *[]){"a", "b"}, .n_names = 2};
			tl_comparison *x;
			assert_true(n < 10000);
			tl__alloc_fail_after(n);
			code = tl_compare_reports_made(&x, pairs[i], 2, &o, &err);
			tl__alloc_fail_after(-1);
			if (code == 0)
				tl_comparison_free(x);
			else
				assert_null(x);
		}
		assert_int_equal(code, 0);
	}
	tl_report_free(a);
	tl_report_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_timelines),
		cmocka_unit_test(tags_may_hold_anything),
		cmocka_unit_test(one_row_a_key),
		cmocka_unit_test(three_parts),
		cmocka_unit_test(deviations_are_pooled_and_medians_unknown),
		cmocka_unit_test(keys_of_unlike_types),
		cmocka_unit_test(what_is_missing),
		cmocka_unit_test(a_metric_that_is_text),
		cmocka_unit_test(the_largest_differences),
		cmocka_unit_test(a_time_that_is_missing),
		cmocka_unit_test(reports_read_back),
		cmocka_unit_test(lack_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
