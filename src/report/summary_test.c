/* SPDX-License-Identifier: MIT */
/* The summary on a terminal: its columns, its width, and names that would steer the terminal. */
#include "report/testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tl_report *make_report(void)
{
	tl_report *report = tl__report_new();
	tl_table *t = add_sheet(report, "gpu_timeline", 2);
	add_texts(t, "type", (const char *const[]){"computation_time", "total_time"});
	add_doubles(t, "time ms", "ms", (const double[]){1234.5678, 2469.1356});
	add_doubles(t, "percent", "%", (const double[]){50, 100});
	t = add_sheet(report, "ops_summary", 2);
	add_texts(t, "name", (const char *const[]){"aten::mm", "an_operation_with_a_very_long_name\033[31m"});
	add_ints(t, "Count", (const int64_t[]){12345, 1});
	add_doubles(t, "total_direct_kernel_time_ms", "ms", (const double[]){1000, NAN});
	add_doubles(t, "Percentage (%)", "%", (const double[]){99.5, 0.5});
	t = add_sheet(report, "trace_health", 2);
	add_texts(t, "kind", (const char *const[]){"bad_utf8", "no_launch"});
	add_ints(t, "count", (const int64_t[]){3, 12});
	add_texts(t, "meaning", (const char *const[]){"three words and some more of them behind", "told above"});
	return report;
}

static char *summarise(const tl_report *report, int width, bool colour)
{
	char *text;
	tl_report_heading heading = {.trace = "step.json", .command = ""};
	assert_int_equal(
		tl_report_summary(report, &heading, &(tl_report_style){.width = width, .colour = colour}, &text, NULL),
		0);
	return text;
}

static void a_summary_is_aligned_and_fits(void **state)
{
	(void)state;
	tl_report *report = make_report();
	report->excluded = 2;
	report->excluded_time = INT64_C(13749456000); /* ps */
	char *text = summarise(report, 60, false);
	assert_string_equal(text, "step.json\n"
				  "\n"
				  "GPU timeline               ms       %\n"
				  "  computation_time  1,234.568   50.00\n"
				  "  total_time        2,469.136  100.00\n"
				  "Left out of the timeline: 2 GPU events (13.749 ms) whose\n"
				  "launch is not in the trace; --include_unlinked_kernels\n"
				  "counts them.\n"
				  "\n"
				  "Operations by kernel time            count         ms      %\n"
				  "  aten::mm                          12,345  1,000.000  99.50\n"
				  "  an_operation_with_a_very_long_n\xe2\x80\xa6       1          -   0.50\n"
				  "\n"
				  "Trace health\n"
				  "   3  three words and some more of them behind\n");
	free(text);
	/* one of the two could be that of several processes */
	report->ambiguous = 1;
	report->ambiguous_time = INT64_C(10000000000);
	text = summarise(report, 60, false);
	assert_non_null(strstr(text, "\nLeft out of the timeline: 1 GPU event (3.749 ms) whose\n"
				     "launch is not in the trace; --include_unlinked_kernels\n"
				     "counts it.\n"
				     "1 GPU event (10.000 ms) left out because several processes\n"
				     "use the same correlation ids (several ranks merged into one\n"
				     "file?); report each rank's file by itself.\n"));
	free(text);
	report->ambiguous = 0;
	report->ambiguous_time = 0;
	text = summarise(report, 40, false);
	assert_non_null(strstr(text, "   3  three words and some more of them\n      behind\n"));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 40 + 2); /* an ellipsis has three bytes */
	free(text);
	tl_report_free(report);
}

static void a_name_cannot_steer_the_terminal(void **state)
{
	(void)state;
	tl_report *report = make_report();
	char *text = summarise(report, 200, false);
	assert_non_null(strstr(text, "  12  told above\n")); /* nothing was left out, so nothing was told above */
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "very_long_name\xef\xbf\xbd[31m"));
	free(text);
	text = summarise(report, 200, true);
	assert_non_null(strstr(text, "\033[1mGPU timeline"));
	assert_null(strstr(text, "name\033"));
	free(text);
	tl_report_free(report);
}

static void nothing_on_the_gpu_is_said(void **state)
{
	(void)state;
	tl_report *report = tl__report_new();
	report->empty = true;
	char *text = summarise(report, 80, false);
	assert_non_null(strstr(text, "No GPU event"));
	free(text);
	tl_report_free(report);
}

static void a_broken_double_does_not_break_the_layout(void **state)
{
	(void)state;
	tl_report *report = tl__report_new();
	tl_table *t = add_sheet(report, "gpu_timeline", 3);
	add_texts(t, "type", (const char *const[]){"a", "b", "c"});
	add_doubles(t, "time ms", "ms", (const double[]){INFINITY, -1234567.25, 1e300});
	add_doubles(t, "percent", "%", (const double[]){NAN, 0, -0.001});
	char *text = summarise(report, 80, false);
	assert_non_null(strstr(text, "-1,234,567.250"));
	assert_non_null(strstr(text, "1e+300"));
	assert_non_null(strstr(text, "inf"));
	free(text);
	tl_report_free(report);
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	tl_report *report = make_report();
	int64_t n = 0;
	for (;; n++) {
		char *text;
		tl_error err = TL_ERROR_INIT;
		tl__alloc_fail_after(n);
		int code = tl_report_summary(report, NULL, NULL, &text, &err);
		tl__alloc_fail_after(-1);
		if (code == 0) {
			free(text);
			break;
		}
		assert_int_equal(code, TL_ENOMEM);
		assert_null(text);
	}
	assert_true(n > 0);
	tl_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_is_aligned_and_fits),
		cmocka_unit_test(a_name_cannot_steer_the_terminal),
		cmocka_unit_test(nothing_on_the_gpu_is_said),
		cmocka_unit_test(a_broken_double_does_not_break_the_layout),
		cmocka_unit_test(no_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
