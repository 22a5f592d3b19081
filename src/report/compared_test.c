/* SPDX-License-Identifier: MIT */
/* Reports that compare: the other trace as a file and as a tree, bad ones, options, hooks, and the real pairs. */
#include "report/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/inline_diff.h"
#include "trace/corpus_fixture.h"

/* ---- small traces ---- */

/* aten::mm with a kernel, and a kernel without a launch; times in µs. */
#define OP(NAME, KERNEL, TS, DUR, ID)                                                                                  \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" NAME "\",\"pid\":1,\"tid\":1,\"ts\":" TS ",\"dur\":20,"         \
	"\"args\":{\"External id\":" ID ",\"Input Dims\":[[4,8],[8,2]],\"Input type\":[\"float\",\"float\"]}},"        \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":" TS ".5,"    \
	"\"dur\":2,\"args\":{\"correlation\":" ID "}},"                                                                \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" KERNEL "\",\"pid\":0,\"tid\":7,\"ts\":" TS "0,\"dur\":" DUR "," \
	"\"args\":{\"correlation\":" ID ",\"stream\":7}}"
#define LOST(DUR)                                                                                             \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"lost\",\"pid\":0,\"tid\":7,\"ts\":9000,\"dur\":" DUR "," \
	"\"args\":{\"correlation\":99,\"stream\":7}}"
static const char HERE[] = "{\"traceEvents\":[" OP("aten::mm", "gemm", "100", "10", "5") "," LOST("7") "]}";
static const char THERE[] = "{\"traceEvents\":[" OP("aten::mm", "sm90", "100", "4",
						    "5") "," OP("aten::add", "add", "200", "3", "6") "," LOST("2") "]}";
static const char HOST[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,"
			   "\"tid\":1,\"ts\":1,\"dur\":2}]}";

static char folder[] = "/tmp/tl-compared-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path_of("other.json"));
	return rmdir(folder);
}

/* The text as a file; the path is good until the next call. */
static const char *file_of(const char *text, size_t n)
{
	const char *path = path_of("other.json");
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	return path;
}

static int try_report(tl_report **out, const char *text, const tl_report_options *options, tl_error *err)
{
	tl_trace *trace;
	assert_int_equal(tl_trace_open_memory(&trace, text, strlen(text), NULL, NULL), 0);
	int code = tl_report_pytorch(out, trace, options, err);
	tl_trace_free(trace);
	return code;
}

static tl_report *compared(const char *text, const char *other, tl_report_options o)
{
	tl_report *report;
	tl_error err = TL_ERROR_INIT;
	o.comparison_path = file_of(other, strlen(other));
	if (try_report(&report, text, &o, &err) < 0)
		fail_msg("%s", err.message);
	return report;
}

static size_t column(const tl_table *table, const char *name)
{
	ptrdiff_t at = table ? tl_table_find_column(table, name) : -1;
	if (at < 0)
		fail_msg("no column '%s'", name);
	return (size_t)at;
}

static void expect(const tl_table *table, size_t row, const char *name, const char *expected)
{
	char text[256];
	tl_table_text(table, column(table, name), row, text, sizeof text);
	assert_string_equal(text, expected);
}

static tl_time sum(const tl_table *table, const char *name)
{
	tl_time all = 0;
	for (size_t i = 0; i < tl_table_rows(table); i++)
		all += llround(tl_table_double(table, column(table, name), i) * 1e6);
	return all;
}

static void sheets_and_totals(void **state)
{
	(void)state;
	static const char *const order[] = {"gpu_timeline",
					    "ops_summary_by_category",
					    "ops_summary",
					    "ops_unique_args",
					    "unified_perf_summary",
					    "diff_stats",
					    "GEMM",
					    "trace_health",
					    "comparison_health"};
	tl_report *report = compared(HERE, THERE, tl_report_options_default());
	assert_int_equal(tl_report_count(report), 9);
	for (size_t i = 0; i < 9; i++) {
		assert_string_equal(tl_table_name(tl_report_table(report, i)), order[i]);
		assert_true(*tl_report_describe(order[i]));
	}
	const tl_table *unified = tl_report_find(report, "unified_perf_summary");
	assert_int_equal(tl_table_rows(unified), 2);
	expect(unified, 0, "name", "aten::mm");
	expect(unified, 0, TL_INLINE_SPEEDUP, "0.4");
	expect(unified, 0, TL_INLINE_DELTA, "-6.0");
	expect(unified, 1, "name", "aten::add");
	expect(unified, 1, TL_INLINE_TIME2, "3.0");
	/* all GPU events of both, those without a launch, too */
	assert_int_equal(tl_table_rows(tl_report_find(report, "diff_stats")), 5);
	const tl_table *health = tl_report_find(report, "comparison_health");
	expect(health, 0, "kind", "no_launch");
	char text[512];
	tl_table_text(health, column(health, "meaning"), 0, text, sizeof text);
	assert_non_null(strstr(text, "compared in diff_stats only"));
	tl_report_comparison c;
	assert_true(tl_report_get_comparison(&c, report));
	assert_string_equal(c.path, path_of("other.json"));
	assert_false(c.identical);
	assert_int_equal(c.gpu_events[0], 1);
	assert_int_equal(c.gpu_events[1], 2);
	assert_int_equal(c.gpu_time[0], 10 * TL_PS_PER_US);
	assert_int_equal(c.gpu_time[1], 7 * TL_PS_PER_US);
	assert_int_equal(c.left_out[0], 1);
	assert_int_equal(c.left_out_time[1], 2 * TL_PS_PER_US);
	expect(c.largest, 0, "name", "aten::mm");
	assert_int_equal(tl_table_rows(c.largest), 2);
	tl_report_free(report);

	tl_report_options o = tl_report_options_default();
	o.include_unlinked_kernels = true;
	report = compared(HERE, THERE, o);
	assert_true(tl_report_get_comparison(&c, report));
	assert_int_equal(c.gpu_time[0], 17 * TL_PS_PER_US);
	assert_int_equal(c.gpu_time[1], 9 * TL_PS_PER_US);
	assert_int_equal(c.left_out[0] + c.left_out[1], 0);
	expect(tl_report_find(report, "unified_perf_summary"), 1, "name", "(no launch in trace)");
	tl_report_free(report);
}

static void plain_reports_say_nothing(void **state)
{
	(void)state;
	tl_report *report;
	tl_report_comparison c;
	assert_int_equal(try_report(&report, HERE, NULL, NULL), 0);
	assert_false(tl_report_get_comparison(&c, report));
	assert_null(tl_report_find(report, "diff_stats"));
	assert_true(tl_table_find_column(tl_report_find(report, "unified_perf_summary"), TL_INLINE_DELTA) < 0);
	tl_report_free(report);
}

static void with_itself(void **state)
{
	(void)state;
	tl_report_comparison c;
	tl_report *report = compared(THERE, THERE, tl_report_options_default());
	assert_true(tl_report_get_comparison(&c, report));
	assert_true(c.identical);
	const tl_table *unified = tl_report_find(report, "unified_perf_summary");
	assert_int_equal(tl_table_rows(unified), 2);
	for (size_t i = 0; i < 2; i++) {
		expect(unified, i, TL_INLINE_SPEEDUP, "1.0");
		expect(unified, i, TL_INLINE_DELTA, "0.0");
	}
	tl_report_free(report);
}

static void expect_refused(const char *other, size_t n, int expected, const char *words)
{
	tl_report *report = (tl_report *)(uintptr_t)1;
	tl_error err = TL_ERROR_INIT;
	tl_report_options o = tl_report_options_default();
	o.comparison_path = other ? file_of(other, n) : path_of("missing.json");
	assert_int_equal(try_report(&report, HERE, &o, &err), expected);
	assert_null(report);
	assert_string_equal(err.file, o.comparison_path);
	if (!strstr(err.message, words))
		fail_msg("'%s' does not say '%s'", err.message, words);
}

static void bad_traces_are_refused(void **state)
{
	(void)state;
	expect_refused(NULL, 0, TL_EIO, "No such file");
	expect_refused("", 0, TL_EFORMAT, "empty");
	expect_refused("this is no trace", 16, TL_EFORMAT, "");
	expect_refused("{\"a\": 1}", 8, TL_EFORMAT, "");
	expect_refused(THERE, sizeof THERE - 20, TL_EFORMAT, "cut off");
	expect_refused(HOST, sizeof HOST - 1, TL_EEMPTY, "no GPU event");
}

/* A tree of the caller's gives what the file gives; one without GPU work is refused. */
static void trees_of_the_caller(void **state)
{
	(void)state;
	tl_trace *trace, *host;
	tl_tree *tree, *bare;
	tl_report *report;
	tl_report_comparison c;
	tl_error err = TL_ERROR_INIT;
	tl_report_options o = tl_report_options_default();
	assert_int_equal(tl_trace_open_memory(&trace, THERE, sizeof THERE - 1, NULL, NULL), 0);
	assert_int_equal(tl_tree_build(&tree, trace, NULL, NULL), 0);
	o.comparison_tree = tree;
	assert_int_equal(try_report(&report, HERE, &o, NULL), 0);
	assert_true(tl_report_get_comparison(&c, report));
	assert_string_equal(c.path, "");
	assert_int_equal(c.gpu_time[1], 7 * TL_PS_PER_US);
	tl_report_free(report);
	/* it may have a name, which is not opened */
	o.comparison_path = "what it is called";
	assert_int_equal(try_report(&report, HERE, &o, NULL), 0);
	assert_true(tl_report_get_comparison(&c, report));
	assert_string_equal(c.path, "what it is called");
	tl_report_free(report);
	o.comparison_path = NULL;
	/* the tree of the report was built before, too */
	assert_int_equal(tl_report_pytorch_tree(&report, tree, &o, NULL), 0);
	assert_true(tl_report_get_comparison(&c, report));
	assert_true(c.identical);
	tl_report_free(report);

	assert_int_equal(tl_trace_open_memory(&host, HOST, sizeof HOST - 1, NULL, NULL), 0);
	assert_int_equal(tl_tree_build(&bare, host, NULL, NULL), 0);
	o.comparison_tree = bare;
	assert_int_equal(try_report(&report, HERE, &o, &err), TL_EEMPTY);
	tl_tree_free(bare);
	tl_trace_free(host);
	tl_tree_free(tree);
	tl_trace_free(trace);
}

/* This trace has nothing on the GPU, or nothing but that: what the other one has is told all the same. */
static void one_sided(void **state)
{
	(void)state;
	tl_report_comparison c;
	tl_report *report = compared(HOST, THERE, tl_report_options_default());
	assert_true(tl_report_is_empty(report));
	const tl_table *unified = tl_report_find(report, "unified_perf_summary");
	assert_int_equal(tl_table_rows(unified), 2);
	assert_int_equal(sum(unified, TL_INLINE_TIME2), 7 * TL_PS_PER_US);
	tl_report_free(report);

	static const char lost[] = "{\"traceEvents\":[" LOST("7") "]}";
	report = compared(lost, THERE, tl_report_options_default());
	assert_null(tl_report_find(report, "unified_perf_summary"));
	assert_int_equal(tl_table_rows(tl_report_find(report, "diff_stats")), 4);
	assert_true(tl_report_get_comparison(&c, report));
	assert_null(c.largest);
	assert_int_equal(c.gpu_time[0], 0);
	assert_int_equal(c.gpu_time[1], 7 * TL_PS_PER_US);
	assert_int_equal(c.left_out_time[0], 7 * TL_PS_PER_US);
	tl_report_free(report);

	report = compared(HERE, lost, tl_report_options_default());
	assert_int_equal(sum(tl_report_find(report, "unified_perf_summary"), TL_INLINE_TIME2), 0);
	tl_report_free(report);
}

static int count_trees(void *user, tl_tree *tree, tl_error *err)
{
	size_t *n = user;
	(void)err;
	assert_true(tl_tree_count(tree) > 0);
	return ++*n == 3; /* the third one fails */
}

/* Hooks see both trees, the trace's own first; one that fails ends the report. */
static void hooks_get_both_trees(void **state)
{
	(void)state;
	size_t n = 0;
	const tl_hook hook = {.tree = count_trees, .user = &n};
	const tl_hook *hooks[] = {&hook};
	tl_report_options o = tl_report_options_default();
	o.hooks = hooks;
	o.n_hooks = 1;
	tl_report_free(compared(HERE, THERE, o));
	assert_int_equal(n, 2);
	n = 1;
	tl_report *report;
	o.comparison_path = path_of("other.json");
	assert_int_equal(try_report(&report, HERE, &o, NULL), TL_ECALLBACK);
	assert_int_equal(n, 3);
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	tl_report_options o = tl_report_options_default();
	tl_trace *trace;
	tl_report *report = NULL;
	o.comparison_path = file_of(THERE, sizeof THERE - 1);
	const tl_trace_options single = {.single_thread = true};
	o.comparison_trace = &single;
	assert_int_equal(tl_trace_open_memory(&trace, HERE, sizeof HERE - 1, NULL, NULL), 0);
	int code = TL_ENOMEM;
	for (int64_t n = 0; code != 0; n++) {
		tl__alloc_fail_after(n);
		code = tl_report_pytorch(&report, trace, &o, NULL);
		tl__alloc_fail_after(-1);
		assert_true(code == 0 || code == TL_ENOMEM);
	}
	tl_report_free(report);
	tl_trace_free(trace);
}

/* Runs of blanks become one. */
static void squeeze(char *text)
{
	char *to = text;
	for (const char *at = text; *at; at++)
		if (*at != ' ' || to == text || to[-1] != ' ')
			*to++ = *at;
	*to = '\0';
}

static void texts_of_the_summary(void **state)
{
	(void)state;
	char *text;
	tl_report *report = compared(HERE, THERE, tl_report_options_default());
	const tl_report_style wide = {.width = 200};
	assert_int_equal(tl_report_summary(report, NULL, &wide, &text, NULL), 0);
	squeeze(text);
	static const char *const parts[] = {
		"Compared with /tmp/",
		"GPU time: 0.010 ms in this trace (trace1), 0.007 ms in that one (trace2); delta -0.003 ms",
		" delta -0.003 ms, speedup (trace2/trace1) 0.7000: this one is the slower one.",
		"1 here (0.007 ms), 1 there (0.002 ms)",
		" aten::mm 10.000 4.000 -6.000 0.4000\n",
		" aten::add 0.000 3.000 3.000 -\n",
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(text, parts[i]))
			fail_msg("no '%s' in:\n%s", parts[i], text);
	free(text);
	tl_report_free(report);
	report = compared(HERE, HERE, tl_report_options_default());
	assert_int_equal(tl_report_summary(report, NULL, &wide, &text, NULL), 0);
	assert_non_null(strstr(text, ", the same."));
	assert_non_null(strstr(text, "same operations in the same places"));
	free(text);
	tl_report_free(report);
}

/* ---- real pairs ---- */

/* Path of a trace of the corpus; skips the test where it is missing. */
static const char *corpus(char out[4096], const char *name)
{
	char file[256];
	snprintf(file, sizeof file, "corpus/%s.json.gz", name);
	return tl_corpus_needed(out, file);
}

/* Sum of the durations of GPU events, those that have a launch or all; from the events themselves. */
static tl_time gpu_time(const char *path, bool unlinked, bool python)
{
	tl_trace *trace;
	tl_tree *tree;
	tl_time all = 0;
	assert_int_equal(tl_trace_open(&trace, path, NULL, NULL), 0);
	assert_int_equal(tl_tree_build(&tree, trace, &(tl_tree_options){.with_python = python}, NULL), 0);
	for (tl_row row = 0; row < trace->store->n; row++)
		if (tl__kind_is_gpu(trace->store->kind[row]) && (unlinked || tl_tree_is_linked(tree, row)))
			all += trace->store->dur[row];
	tl_tree_free(tree);
	tl_trace_free(trace);
	return all;
}

static void check_pair(const char *one, const char *two, const tl_report_options *given)
{
	char path[2][4096];
	tl_report_options o = *given;
	tl_report_comparison c;
	tl_trace *trace;
	tl_report *report;
	corpus(path[0], one);
	o.comparison_path = corpus(path[1], two);
	bool same = !strcmp(one, two), python = o.include_call_stack;
	assert_int_equal(tl_trace_open(&trace, path[0], NULL, NULL), 0);
	assert_int_equal(tl_report_pytorch(&report, trace, &o, NULL), 0);
	tl_trace_free(trace);
	const tl_table *unified = tl_report_find(report, "unified_perf_summary");
	assert_true(tl_report_get_comparison(&c, report));
	tl_time time[2] = {gpu_time(path[0], o.include_unlinked_kernels, python),
			   gpu_time(path[1], o.include_unlinked_kernels, python)};
	assert_int_equal(sum(unified, TL_INLINE_TIME1), time[0]);
	assert_int_equal(sum(unified, TL_INLINE_TIME2), time[1]);
	assert_int_equal(sum(unified, TL_INLINE_DELTA), time[1] - time[0]);
	for (int s = 0; s < 2; s++)
		assert_int_equal(c.gpu_time[s], time[s]);
	assert_int_equal(c.identical, same);
	for (size_t i = 0; i < tl_table_rows(unified); i++) {
		double delta = tl_table_double(unified, column(unified, TL_INLINE_DELTA), i);
		double speedup = tl_table_double(unified, column(unified, TL_INLINE_SPEEDUP), i);
		assert_true(isnan(speedup) ? delta > 0 : (speedup > 1) == (delta > 0) && (speedup < 1) == (delta < 0));
		if (same)
			assert_true(speedup == 1.0 && delta == 0.0);
	}
	printf("%s and %s: %zu rows, %.3f and %.3f ms\n", one, two, tl_table_rows(unified), (double)time[0] / 1e9,
	       (double)time[1] / 1e9);
	tl_report_free(report);
}

static void real_pairs(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"pytorch/mi300_qwen1.5_0.5b", "pytorch/h100_qwen1.5_0.5b"},
		{"pytorch/h100_qwen1.5_0.5b", "pytorch/mi300_qwen1.5_0.5b"},
		{"pytorch/mi300_timesformer", "pytorch/h100_timesformer"},
		{"pytorch/h100_timesformer", "pytorch/mi300_timesformer"},
		{"pytorch/mi300_bert_small", "pytorch/mi300_qwen1.5_0.5b"},
		{"pytorch/mi300_qwen1.5_0.5b", "pytorch/mi300_bert_small"},
		{"pytorch/mi300_qwen1.5_0.5b", "pytorch/mi300_qwen1.5_0.5b"},
		{"pytorch/h100_timesformer", "pytorch/h100_timesformer"},
		{"pytorch/mi300_resnet_checkpointing", "pytorch/mi300_resnet_checkpointing"},
	};
	tl_report_options o = tl_report_options_default();
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		o.include_unlinked_kernels = o.include_call_stack = false;
		check_pair(pairs[i][0], pairs[i][1], &o);
		o.include_unlinked_kernels = true;
		check_pair(pairs[i][0], pairs[i][1], &o);
		o.include_call_stack = true;
		check_pair(pairs[i][0], pairs[i][1], &o);
	}
}

/* Serving frameworks: graphs whose launches own many kernels, operations that are made; as with Python frames. */
static void serving_pairs(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"inference/sglang_decode/sglang_Qwen3-8B_decode",
		 "inference/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode"},
		{"inference/vllm_decode_full/graph_execution",
		 "inference/vllm_prefilldecode_piecewise/graph_execution"},
		{"inference/vllm_decode_full/graph_execution", "inference/vllm_decode_full/graph_execution"},
	};
	tl_report_options o = tl_report_options_default();
	o.enable_pseudo_ops = true;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		o.include_unlinked_kernels = o.detect_recompute = false;
		check_pair(pairs[i][0], pairs[i][1], &o);
		check_pair(pairs[i][1], pairs[i][0], &o);
		o.include_unlinked_kernels = o.detect_recompute = true;
		check_pair(pairs[i][0], pairs[i][1], &o);
	}
}

/* The reference's own figures, where one operation stands beside one other and nothing is left to divide: */
static void figures_of_the_reference(void **state)
{
	(void)state;
	char one[4096], two[4096];
	tl_trace *trace;
	tl_report *report;
	tl_report_options o = tl_report_options_default();
	corpus(one, "pytorch/h100_qwen1.5_0.5b");
	o.comparison_path = corpus(two, "pytorch/mi300_qwen1.5_0.5b");
	assert_int_equal(tl_trace_open(&trace, one, NULL, NULL), 0);
	assert_int_equal(tl_report_pytorch(&report, trace, &o, NULL), 0);
	tl_trace_free(trace);
	/* first row of golden reference_inline_diff_qwen: aten::mm */
	const tl_table *t = tl_report_find(report, "unified_perf_summary");
	expect(t, 0, "name", "aten::mm");
	expect(t, 0, TL_INLINE_TIME1, "4055.251");
	expect(t, 0, TL_INLINE_TIME2, "5308.273");
	expect(t, 0, TL_INLINE_DELTA, "1253.022");
	expect(t, 0, "lca_count_trace2", "48");
	assert_true(fabs(tl_table_double(t, column(t, TL_INLINE_SPEEDUP), 0) - 1.3089875324609996) < 1e-9);
	/* and of the second, aten::_scaled_dot_product_flash_attention */
	expect(t, 1, TL_INLINE_DELTA, "1293.638");
	expect(t, 1, "lca_name", "aten::_flash_attention_forward");
	tl_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sheets_and_totals),    cmocka_unit_test(plain_reports_say_nothing),
		cmocka_unit_test(with_itself),          cmocka_unit_test(bad_traces_are_refused),

		cmocka_unit_test(trees_of_the_caller),  cmocka_unit_test(one_sided),
		cmocka_unit_test(hooks_get_both_trees), cmocka_unit_test(no_memory_is_an_error),
		cmocka_unit_test(texts_of_the_summary), cmocka_unit_test(real_pairs),
		cmocka_unit_test(serving_pairs),        cmocka_unit_test(figures_of_the_reference),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
