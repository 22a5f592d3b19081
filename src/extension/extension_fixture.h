/* SPDX-License-Identifier: MIT */
/** @file extension_fixture.h What tests of extension files share: a trace, its report with a file, looking at it. */
#ifndef TL_EXTENSION_EXTENSION_FIXTURE_H
#define TL_EXTENSION_EXTENSION_FIXTURE_H

#include "extension/extension.h"
#include "trace/trace_testing.h"
#include "tracelens/tracelens.h"
#include "tree/tree.h"

/**
 * outer [1000, 1200) runs my::op (1010, kernel k1 10 µs), aten::mm (1050, kernel k2 20 µs) and a graph (1100) of two
 * kernels; autograd::engine::evaluate_function: OpBackward0 is on a second thread.
 */
static const char trace_text[] =
	"{\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":1000,\"dur\":200},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"my::op\",\"pid\":1,\"tid\":1,\"ts\":1010,\"dur\":30,\"args\":{"
	"\"Input Dims\":[[4,8],[8,2],[]],\"Input type\":[\"c10::BFloat16\",\"float\",\"Scalar\"],"
	"\"Input Strides\":[[8,1],[2,1],[]],\"Concrete Inputs\":[\"\",\"\",\"0.5\"],\"Sequence number\":7,"
	"\"External id\":11}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1012,\"dur\":"
	"3,"
	"\"args\":{\"correlation\":1}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k1\",\"pid\":0,\"tid\":7,\"ts\":1050,\"dur\":10,"
	"\"args\":{\"correlation\":1,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1050,\"dur\":20,\"args\":{"
	"\"Input Dims\":[[4,8],[8,2]],\"Input type\":[\"float\",\"float\"],\"Input Strides\":[[8,1],[2,1]],"
	"\"Concrete Inputs\":[\"\",\"\"]}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1052,\"dur\":"
	"3,"
	"\"args\":{\"correlation\":2}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k2\",\"pid\":0,\"tid\":7,\"ts\":1070,\"dur\":20,"
	"\"args\":{\"correlation\":2,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaGraphLaunch\",\"pid\":1,\"tid\":1,\"ts\":1100,\"dur\":3,"
	"\"args\":{\"correlation\":3}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"g1\",\"pid\":0,\"tid\":7,\"ts\":1110,\"dur\":5,"
	"\"args\":{\"correlation\":3,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"g2\",\"pid\":0,\"tid\":7,\"ts\":1120,\"dur\":6,"
	"\"args\":{\"correlation\":3,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"autograd::engine::evaluate_function: "
	"OpBackward0\",\"pid\":1,\"tid\":2,\"ts\":1300,\"dur\":20,"
	"\"args\":{\"Sequence number\":7,\"Fwd thread id\":1}}"
	"]}";
enum { OUTER, MY_OP, LAUNCH_1, K1, MM, LAUNCH_2, K2, GRAPH, G1, G2, BACKWARD, EVENTS };

static char noted[8192];

static inline void note(void *user, const char *text)
{
	(void)user;
	size_t n = strlen(noted);
	snprintf(noted + n, sizeof noted - n, "%s\n", text);
}

static inline tl_extension *open_text(const char *text)
{
	const tl_extension_options options = {.note = note, .max_instructions = 1000000};
	tl_error err = TL_ERROR_INIT;
	tl_extension *x;
	noted[0] = '\0';
	if (tl_extension_open_memory(&x, text, strlen(text), "ops.lua", &options, &err) < 0)
		fail_msg("%s\n  in: %s", err.message, text);
	return x;
}

/** The report with an extension; NULL with the error when it fails. */
static inline tl_report *report_of(const char *text, int *code, tl_error *err)
{
	tl_extension *x = open_text(text);
	tl_trace *trace = load(trace_text);
	const tl_hook *hook = tl_extension_hook(x);
	tl_report_options options = tl_report_options_default();
	options.hooks = &hook;
	options.n_hooks = 1;
	tl_report *report;
	*err = (tl_error)TL_ERROR_INIT;
	*code = tl_report_pytorch(&report, trace, &options, err);
	tl_trace_free(trace);
	tl_extension_notes(x);
	tl_extension_free(x);
	return report;
}

static inline tl_report *good_report(const char *text)
{
	tl_error err;
	int code;
	tl_report *report = report_of(text, &code, &err);
	if (code < 0)
		fail_msg("%s\n  in: %s", err.message, text);
	return report;
}

static inline const tl_table *sheet(const tl_report *report, const char *name)
{
	const tl_table *table = tl_report_find(report, name);
	if (!table)
		fail_msg("no sheet '%s'", name);
	return table;
}

static inline size_t row_of(const tl_table *table, const char *column, const char *value)
{
	char text[256];
	ptrdiff_t c = tl_table_find_column(table, column);
	assert_true(c >= 0);
	for (size_t row = 0; row < tl_table_rows(table); row++) {
		tl_table_text(table, (size_t)c, row, text, sizeof text);
		if (!strcmp(text, value))
			return row;
	}
	fail_msg("no row '%s'", value);
	return 0;
}

static inline void expect(const tl_table *table, const char *name, const char *column, const char *expected)
{
	char text[1024];
	ptrdiff_t c = tl_table_find_column(table, column);
	if (c < 0)
		fail_msg("no column '%s'", column);
	tl_table_text(table, (size_t)c, row_of(table, "name", name), text, sizeof text);
	assert_string_equal(text, expected);
}

static inline void expect_part(const tl_table *table, const char *name, const char *column, const char *expected)
{
	char text[1024];
	ptrdiff_t c = tl_table_find_column(table, column);
	if (c < 0)
		fail_msg("no column '%s'", column);
	tl_table_text(table, (size_t)c, row_of(table, "name", name), text, sizeof text);
	if (!strstr(text, expected))
		fail_msg("'%s' has no '%s'", text, expected);
}

#endif
