/* SPDX-License-Identifier: MIT */
/* Extension files at work: models and categories in reports, tree functions on trees. */
#include <math.h>

#include "extension/extension.h"
#include "trace/trace_testing.h"
#include "tracelens/tracelens.h"
#include "tree/tree.h"

/*
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

static void note(void *user, const char *text)
{
	(void)user;
	size_t n = strlen(noted);
	snprintf(noted + n, sizeof noted - n, "%s\n", text);
}

static tl_extension *open_text(const char *text)
{
	const tl_extension_options options = {.note = note, .max_instructions = 1000000};
	tl_error err = TL_ERROR_INIT;
	tl_extension *x;
	noted[0] = '\0';
	if (tl_extension_open_memory(&x, text, strlen(text), "ops.lua", &options, &err) < 0)
		fail_msg("%s\n  in: %s", err.message, text);
	return x;
}

/* The report with an extension; NULL with the error when it fails. */
static tl_report *report_of(const char *text, int *code, tl_error *err)
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

static tl_report *good_report(const char *text)
{
	tl_error err;
	int code;
	tl_report *report = report_of(text, &code, &err);
	if (code < 0)
		fail_msg("%s\n  in: %s", err.message, text);
	return report;
}

static const tl_table *sheet(const tl_report *report, const char *name)
{
	const tl_table *table = tl_report_find(report, name);
	if (!table)
		fail_msg("no sheet '%s'", name);
	return table;
}

static size_t row_of(const tl_table *table, const char *column, const char *value)
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

static void expect(const tl_table *table, const char *name, const char *column, const char *expected)
{
	char text[1024];
	ptrdiff_t c = tl_table_find_column(table, column);
	if (c < 0)
		fail_msg("no column '%s'", column);
	tl_table_text(table, (size_t)c, row_of(table, "name", name), text, sizeof text);
	assert_string_equal(text, expected);
}

static void expect_part(const tl_table *table, const char *name, const char *column, const char *expected)
{
	char text[1024];
	ptrdiff_t c = tl_table_find_column(table, column);
	if (c < 0)
		fail_msg("no column '%s'", column);
	tl_table_text(table, (size_t)c, row_of(table, "name", name), text, sizeof text);
	if (!strstr(text, expected))
		fail_msg("'%s' has no '%s'", text, expected);
}

/* ---- models ---- */

static void a_model_counts_everywhere(void **state)
{
	(void)state;
	tl_report *r = good_report(
		"model {\n"
		"  name = 'my::op', category = 'MINE', sheet = 'Mine',\n"
		"  eval = function(op)\n"
		"    assert(op.name == 'my::op' and #op.dims == 3 and op.dims[1][2] == 8 and #op.dims[3] == 0)\n"
		"    assert(op.types[3] == 'Scalar' and op.strides[2][1] == 2 and #op.extra == 0)\n"
		"    return {\n"
		"      params = { { 'shape', op.dims[1] }, { 'alpha', literal(op.concrete[3]) }, { 'fast', true },\n"
		"                 { 'n', prod(op.dims[1]) }, { 'kind', op.types[1] }, { 'none', null } },\n"
		"      flops = 64e9, bytes = 1 << 20, maf = 'matrix', precision = precision_of(op.types[1]),\n"
		"    }\n"
		"  end,\n"
		"}\n");
	const tl_table *unified = sheet(r, "unified_perf_summary");
	expect(unified, "my::op", "op category", "MINE");
	expect(unified, "my::op", "GFLOPS", "64.0");
	expect(unified, "my::op", "Data Moved (MB)", "1.0");
	expect(unified, "my::op", "TFLOPS/s_mean", "6400.0"); /* 64e9 in 10 µs */
	expect(unified, "my::op", "Compute Spec", "matrix_bf16");
	expect(unified, "my::op", "has_perf_model", "True");
	expect(unified, "my::op", "perf_params",
	       "{'shape': (4, 8), 'alpha': 0.5, 'fast': True, 'n': 32, 'kind': 'c10::BFloat16', 'none': None}");
	const tl_table *mine = sheet(r, "Mine");
	expect(mine, "my::op", "param: shape", "(4, 8)");
	expect(mine, "my::op", "param: alpha", "0.5");
	expect(mine, "my::op", "param: fast", "True");
	expect(mine, "my::op", "param: none", "");
	expect(mine, "my::op", "Kernel Time (µs)_sum", "10.0");
	(void)row_of(sheet(r, "ops_summary_by_category"), "op category", "MINE");
	/* new families come behind the built-in ones */
	size_t at[2] = {0};
	for (size_t i = 0; i < tl_report_count(r); i++) {
		if (tl_report_table(r, i) == mine)
			at[0] = i;
		if (!strcmp(tl_table_name(tl_report_table(r, i)), "GEMM"))
			at[1] = i;
	}
	assert_true(at[1] > 0 && at[0] > at[1]);
	assert_string_equal(noted, "");
	tl_report_free(r);
}

static void backward_forms_make_two_sheets(void **state)
{
	(void)state;
	tl_report *r = good_report(
		"model { name = 'my::op', category = 'MINE_fwd', bwd_category = 'MINE_bwd', sheet = 'Mine',\n"
		"  eval = function(op) return { flops = 1, bytes = 2, flops_bwd = 3, bytes_bwd = 4 } end }\n");
	(void)sheet(r, "Mine_fwd");
	assert_null(tl_report_find(r, "Mine"));
	tl_report_free(r);
}

static void a_built_in_model_can_be_overridden_and_asked(void **state)
{
	(void)state;
	/* 2 * 4 * 8 * 2 = 128 FLOPs, (32 + 16 + 8) * 4 = 224 bytes */
	tl_report *r = good_report(
		"model { name = 'aten::mm', eval = function(op)\n"
		"  assert(#op.kernels == 1 and op.kernels[1] == 'k2')\n" /* the built-in one reads them */
		"  local r = builtin('aten::mm', op)\n"
		"  assert(r.flops == 128 and r.bytes == 224 and r.maf == 'matrix' and r.precision == 'fp32')\n"
		"  assert(r.params[1][1] == 'M' and r.params[1][2] == 4)\n"
		"  r.flops = 3 * r.flops\n"
		"  return r\n"
		"end }\n");
	expect(sheet(r, "unified_perf_summary"), "aten::mm", "GFLOPS", "3.84e-07");
	expect(sheet(r, "unified_perf_summary"), "aten::mm", "op category", "GEMM");
	expect(sheet(r, "GEMM"), "aten::mm", "GFLOPS_first", "3.84e-07");
	expect(sheet(r, "GEMM"), "aten::mm", "param: M", "4");
	assert_string_equal(noted, "");
	tl_report_free(r);
}

static void a_built_in_model_reads_tables_of_the_file(void **state)
{
	(void)state;
	tl_report *r = good_report(
		"model { name = 'my::op', category = 'GEMM', sheet = 'GEMM', eval = function(op)\n"
		"  local none, why = builtin('aten::mm', { dims = { { 1 } } })\n"
		"  assert(none == nil and type(why) == 'string')\n"
		"  return builtin('aten::mm', { dims = { op.dims[1], op.dims[2] }, types = { 'half', 'half' } })\n"
		"end }\n");
	expect(sheet(r, "GEMM"), "my::op", "GFLOPS_first", "1.28e-07");
	expect(sheet(r, "GEMM"), "my::op", "Compute Spec", "matrix_fp16");
	assert_string_equal(noted, "");
	tl_report_free(r);
}

static void categories_go_before_all_rules(void **state)
{
	(void)state;
	tl_report *r = good_report("category { ['aten::mm'] = 'MY_GEMM', ['outer'] = 'OUTER' }\n"
				   "model { name = 'my::op', category = 'A', eval = function() return {} end }\n"
				   "category { ['my::op'] = 'B' }\n");
	expect(sheet(r, "unified_perf_summary"), "aten::mm", "op category", "MY_GEMM");
	expect(sheet(r, "unified_perf_summary"), "my::op", "op category", "B");
	(void)row_of(sheet(r, "ops_summary_by_category"), "op category", "OUTER");
	tl_report_free(r);
}

static void parameters_in_a_map_come_by_name(void **state)
{
	(void)state;
	tl_report *r = good_report(
		"model { name = 'my::op', sheet = 'Mine', category = 'X',\n"
		"  eval = function() return { params = { b = 2, a = { 1, { 2 } }, c = 'x' }, bytes = 8 } end }\n");
	expect(sheet(r, "unified_perf_summary"), "my::op", "perf_params", "{'a': (1, (2,)), 'b': 2, 'c': 'x'}");
	expect(sheet(r, "unified_perf_summary"), "my::op", "GFLOPS", ""); /* nobody said */
	tl_report_free(r);
}

static void a_model_that_fails_costs_its_metrics_only(void **state)
{
	(void)state;
	tl_report *r = good_report("model { name = 'my::op', category = 'X', eval = function(op)\n"
				   "  return op.dims[9][1]\n"
				   "end }\n");
	expect(sheet(r, "unified_perf_summary"), "my::op", "GFLOPS", "");
	expect(sheet(r, "unified_perf_summary"), "my::op", "Kernel Time (µs)_sum", "10.0");
	expect(sheet(r, "unified_perf_summary"), "my::op", "op category", "X");
	expect(sheet(r, "unified_perf_summary"), "aten::mm", "GFLOPS", "1.28e-07");
	assert_non_null(strstr(noted, "the model of 'my::op' failed on 1 distinct input, which has no metrics; the "
				      "first: ops.lua:2: attempt to index a nil value"));
	tl_report_free(r);
	r = good_report("model { name = 'my::op', category = 'X', eval = function(op) end }\n");
	expect(sheet(r, "unified_perf_summary"), "my::op", "GFLOPS", "");
	assert_string_equal(noted, ""); /* declining is no failure */
	tl_report_free(r);
}

/* What a model may return wrongly, and what the note says. */
static const struct {
	const char *result, *message;
} wrong_results[] = {
	{"5", "ops.lua:1: a model returns a table, or nil, not a number"},
	{"{ flop = 1 }", "ops.lua:1: the result of a model has no field 'flop' (did you mean 'flops'?)"},
	{"{ 1, 2 }", "ops.lua:1: the result of a model has no field that is a number"},
	{"{ flops = 'x' }", "ops.lua:1: 'flops' must be a number, not a string"},
	{"{ bytes_bwd = {} }", "ops.lua:1: 'bytes_bwd' must be a number, not a table"},
	{"{ maf = 'matrx' }", "ops.lua:1: 'maf' must be 'matrix' or 'vector', not 'matrx'"},
	{"{ maf = 1 }", "ops.lua:1: 'maf' must be a string, not a number"},
	{"{ precision = 'b f' }", "ops.lua:1: 'precision' must be a short word such as bf16"},
	{"{ params = 1 }", "ops.lua:1: 'params' must be a table, not a number"},
	{"{ params = { 1 } }", "ops.lua:1: parameter 1 must be {\"name\", value}"},
	{"{ params = { { 1, 2 } } }", "ops.lua:1: parameter 1 must be {\"name\", value}"},
	{"{ params = { { '', 2 } } }", "ops.lua:1: a parameter without a name"},
	{"{ params = { { 'x', print } } }", "ops.lua:1: x: a function is no value"},
	{"{ params = { x = { 1, y = 2 } } }", "ops.lua:1: 'params': a table that is a list and a map at once"},
	{"(function() local t = {} t[1] = t return { params = { { 'x', t } } } end)()",
	 "nested over 50 deep, or in itself"},
	{"(function() local p = {} for i = 1, 33 do p[i] = { 'p' .. i, i } end return { params = p } end)()",
	 "ops.lua:1: a model has at most 32 parameters"},
	{"builtin('no::such', op)", "ops.lua:1: there is no built-in model of 'no::such'"},
	{"builtin('aten::mm', op)",
	 "the built-in model of 'aten::mm' reads more than this model declares; add to reads: kernels"},
	{"op.kernels", "ops.lua:1: op.kernels is there for models that declare it: reads = {..., 'kernels'}"},
	{"op.dim", "ops.lua:1: an operation has no field 'dim' (did you mean 'dims'?)"},
	{"error({})", "ops.lua: the error is no text but a table"},
	{"prod({ 1, 'x' })", "ops.lua:1: prod takes a list of numbers, item 2 is a string"},
	{"model { name = 'x', eval = print }", "ops.lua:1: model { ... } belongs outside of functions"},
	{"tree(print)", "ops.lua:1: tree(...) belongs outside of functions"},
};

static void wrong_results_are_told_with_file_and_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrong_results / sizeof wrong_results[0]; i++) {
		char text[512];
		snprintf(text, sizeof text, "model { name = 'my::op', eval = function(op) return %s end }",
			 wrong_results[i].result);
		tl_report *r = good_report(text);
		expect(sheet(r, "unified_perf_summary"), "my::op", "GFLOPS", "");
		if (!strstr(noted, wrong_results[i].message))
			fail_msg("'%s' does not say '%s'", noted, wrong_results[i].message);
		tl_report_free(r);
	}
	/* no number of FLOPs: told with file and line, too */
	static const char *const no_costs[] = {"-1", "0/0", "1/0"};
	for (size_t i = 0; i < 3; i++) {
		char text[256];
		snprintf(text, sizeof text, "model { name = 'my::op', eval = function(op) return { flops = %s } end }",
			 no_costs[i]);
		tl_report *r = good_report(text);
		expect(sheet(r, "unified_perf_summary"), "my::op", "GFLOPS", "");
		if (!strstr(noted, "ops.lua:1: 'flops' must be a number from 0 up, not "))
			fail_msg("%s: %s", no_costs[i], noted);
		tl_report_free(r);
	}
}

static void wrong_declarations_are_told_with_file_and_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"model()", "ops.lua:1: model takes a table"},
		{"model {}", "ops.lua:1: a model needs a name"},
		{"model { eval = print }", "ops.lua:1: a model needs a name"},
		{"model { name = 'x' }", "ops.lua:1: the model of 'x' needs a function 'eval', not a nil"},
		{"model { name = 5, eval = print }", "field 'name' of a model must be a string, not a number"},
		{"model { name = '', eval = print }", "field 'name' of a model must not be empty"},
		{"model { name = 'a\\0b', eval = print }", "field 'name' of a model must not be empty or hold NUL"},
		{"model { name = 'x', evl = print }", "a model has no field 'evl' (did you mean 'eval'?)"},
		{"model { name = 'x', eval = print, [7] = 1 }", "a model has no field that is a number"},
		{"model { name = 'x', eval = print, category = {} }", "field 'category' of a model must be a string"},
		{"model { name = 'x', eval = print, sheet = '../x' }", "'../x' cannot name a sheet"},
		{"model { name = 'x', eval = print, sheet = '.hidden' }", "cannot name a sheet"},
		{"model { name = 'x', eval = print, reads = 'args' }", "field 'reads' of a model must be a list"},
		{"model { name = 'x', eval = print, reads = { 'arg' } }", "not 'arg'"},
		{"model { name = 'x', eval = print, reads = {} }", "field 'reads' of a model is empty"},
		{"category 'x'", "ops.lua:1: category takes a table"},
		{"category { 'x' }", "ops.lua:1: category maps names to names, here is a number"},
		{"category { x = 1 }", "ops.lua:1: category maps names to names, here is a number"},
		{"category { x = '' }", "is empty"},
		{"tree {}", "ops.lua:1: tree takes a function"},
		{"modell { name = 'x' }", "ops.lua:1: attempt to call a nil value (global 'modell')"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		tl_extension *x;
		tl_error err = TL_ERROR_INIT;
		int code = tl_extension_open_memory(&x, wrong[i].text, strlen(wrong[i].text), "ops.lua", NULL, &err);
		if (code != TL_EFORMAT || !strstr(err.message, wrong[i].message))
			fail_msg("%s: '%s' does not say '%s'", wrong[i].text, err.message, wrong[i].message);
		assert_null(x);
	}
	/* an error that the file catches leaves no half a model behind */
	tl_report *r = good_report("assert(not pcall(model, { name = 'my::op' }))");
	tl_report_free(r);
}

static void a_runaway_model_ends_the_report(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} wild[] = {
		{"model { name = 'my::op', eval = function()\n while true do end end }",
		 "ops.lua:2: stopped after 1000000"},
		{"model { name = 'my::op', eval = function()\n pcall(function() while true do end end) end }",
		 "ops.lua:2: stop"},
		{"model { name = 'my::op', eval = function()\n return { params = ('x'):rep(1 << 40) } end }",
		 "more than 128 MB"},
		{"tree(function() while true do end end)", "ops.lua:1: stopped after"},
	};
	for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
		tl_error err;
		int code;
		tl_report *r = report_of(wild[i].text, &code, &err);
		assert_null(r);
		assert_int_equal(code, TL_ECALLBACK);
		assert_int_equal(err.code, TL_ECALLBACK);
		if (!strstr(err.message, wild[i].message))
			fail_msg("'%s' does not say '%s'", err.message, wild[i].message);
	}
}

static void two_sheets_need_two_names(void **state)
{
	(void)state;
	tl_error err;
	int code;
	tl_report *r = report_of(
		"model { name = 'my::op', sheet = 'gpu_Timeline', eval = function() return { flops = 1 } end }", &code,
		&err);
	assert_null(r);
	assert_int_equal(code, TL_EINVAL);
	assert_non_null(strstr(err.message, "ops.lua:1: two sheets are named 'gpu_Timeline'"));
	r = report_of("for i = 1, 300 do\n model { name = 'm' .. i, sheet = 'S' .. i, eval = print }\nend", &code,
		      &err);
	assert_null(r);
	assert_non_null(strstr(err.message, "ops.lua:2: more than 200 sheet families"));
}

/* What a built-in model answers comes through Lua as it was: 0.0 stays 0.0, a list a list, a tuple a tuple. */
static void a_result_of_a_built_in_model_stays_what_it_is(void **state)
{
	(void)state;
	static const char convolution[] =
		"model { name = 'my::op', eval = function(op)\n"
		"  local r = builtin('aten::convolution', { dims = { {1,3,8,8}, {4,3,3,3}, {}, {}, {}, {}, {}, {}, {} "
		"},\n"
		"    types = { 'half', 'half', '', 'ScalarList', 'ScalarList', 'ScalarList', 'Scalar', 'ScalarList', "
		"'Scalar' },\n"
		"    concrete = { '', '', '', '[1, 1]', '[0, 0]', '[1, 1]', 'False', '[0, 0]', '1' } })\n"
		"  r.params[#r.params + 1] = { 'mine', { 4 / 2, 0.5 } }\n"
		"  return r\n"
		"end }\n";
	static const char attention[] = "model { name = 'my::op', eval = function(op)\n"
					"  local q = { 1, 2, 8, 4 }\n"
					"  return builtin('aten::_scaled_dot_product_flash_attention', { dims = { q, "
					"q, q }, types = { 'half', 'half', 'half' },\n"
					"    concrete = { '', '', '', '0.', 'False' } })\n"
					"end }\n";
	tl_report *r = good_report(convolution);
	assert_string_equal(noted, "");
	expect_part(sheet(r, "unified_perf_summary"), "my::op", "perf_params", "'mine': (2, 0.5)");
	tl_report_free(r);
	r = good_report(attention);
	assert_string_equal(noted, "");
	expect_part(sheet(r, "unified_perf_summary"), "my::op", "perf_params", "'dropout': 0.0");
	tl_report_free(r);
}

/* Attention of serving needs the iteration: an annotation that the model reads is enough. */
static void built_in_attention_takes_a_declared_annotation(void **state)
{
	(void)state;
	tl_report *r = good_report("model { name = 'my::op', reads = { 'args', 'extras' }, eval = function(op)\n"
				   "  return builtin('vllm::unified_attention_with_output', op) end }\n");
	assert_non_null(strstr(noted,
			       "ops.lua:2: the built-in model of 'vllm::unified_attention_with_output' reads more "
			       "than this model declares; add to reads: annotation"));
	tl_report_free(r);
	r = good_report("model { name = 'my::op', reads = { 'args', 'extras', 'annotation' }, eval = function(op)\n"
			"  assert(op.annotation == nil)\n"
			"  local r, why = builtin('vllm::unified_attention_with_output', op)\n"
			"  assert(r == nil and why == 'no iteration annotation with sums encloses the operation')\n"
			"  r = builtin('vllm::unified_attention_with_output', { dims = { {8,2,64}, {8,2,64} },\n"
			"    types = { 'half', 'half' },\n"
			"    annotation = 'execute_8_context_1(sq8sk8sqsq64sqsk64)_generation_0(sq0sk0sqsq0sqsk0)' })\n"
			"  assert(r.flops == 16384)\n"
			"  return r\n"
			"end }\n");
	assert_string_equal(noted, "");
	expect(sheet(r, "unified_perf_summary"), "my::op", "GFLOPS", "1.6384e-05");
	tl_report_free(r);
}

/* What the library keeps of a file counts against the limit of memory as its tables do. */
static void memory_outside_of_lua_is_limited(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} wild[] = {
		{"tree(function(t)\n local e, d, s = t:events('aten::mm')[1], {}, ('y'):rep(30000000)\n"
		 " for i = 1, 60 do d[i] = s end\n e.concrete = d\nend)",
		 "ops.lua:4: stopped: it needs more than 128 MB of memory"},
		{"tree(function(t)\n local e, s = t:events('aten::mm')[1], ('x'):rep(5000000)\n"
		 " for i = 1, 1000 do\n  e:set_arg('k' .. i, s)\n end\nend)",
		 "ops.lua:4: stopped"},
		{"tree(function(t)\n local e, s = t:events('aten::mm')[1], ('x'):rep(1000000)\n"
		 " for i = 1, 100000 do\n  e.name = s .. i\n end\nend)",
		 "ops.lua:4: stopped"},
		{"model { name = 'my::op', eval = function(op)\n local s, p = ('z'):rep(10000000), {}\n"
		 " for i = 1, 30 do p[i] = { 'p' .. i, s } end\n return { flops = 1, params = p }\nend }",
		 "more than 128 MB of memory"},
		{"model { name = 'my::op', eval = function(op)\n return { params = literal('[' .. "
		 "('1,'):rep(20000000)) }\nend }",
		 "ops.lua:2: stopped"},
		{"tree(function(t)\n local s = ('p'):rep(10000000)\n for i = 1, 1000 do\n  print(s)\n end\nend)",
		 "ops.lua:4: stopped"},
	};
	for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
		tl_error err = TL_ERROR_INIT;
		const tl_extension_options options = {0};
		tl_extension *x;
		assert_int_equal(
			tl_extension_open_memory(&x, wild[i].text, strlen(wild[i].text), "ops.lua", &options, &err), 0);
		tl_trace *trace = load(trace_text);
		const tl_hook *hook = tl_extension_hook(x);
		tl_report_options o = tl_report_options_default();
		o.hooks = &hook;
		o.n_hooks = 1;
		tl_report *report;
		int code = tl_report_pytorch(&report, trace, &o, &err);
		if (code >= 0 || !strstr(err.message, wild[i].message))
			fail_msg("%s: '%s' does not say '%s'", wild[i].text, err.message, wild[i].message);
		tl_trace_free(trace);
		tl_extension_free(x);
	}
}

static void helpers_know_types_and_literals(void **state)
{
	(void)state;
	tl_extension *x =
		open_text("assert(bytes_of('c10::BFloat16') == 2 and bytes_of('float') == 4 and bytes_of('x') == nil)\n"
			  "assert(bytes_of(nil) == nil and bytes_of({}) == nil and precision_of(5) == nil)\n"
			  "assert(precision_of('c10::Half') == 'fp16' and precision_of('nothing') == nil)\n"
			  "assert(prod({}) == 1 and prod({ 2, 3 }) == 6 and math.type(prod({ 2, 3 })) == 'integer')\n"
			  "assert(prod({ 1 << 40, 1 << 40 }) == 2.0 ^ 80)\n"
			  "assert(literal('True') == true and literal('0.5') == 0.5 and literal('') == nil)\n"
			  "assert(literal('[1, 2]')[2] == 2 and literal('None') == nil and literal(nil) == nil)\n"
			  "assert(literal('text') == 'text' and literal(5) == 5)\n"
			  "assert(null ~= nil and null == null)\n");
	tl_extension_free(x);
}

/* ---- trees ---- */

/* Runs the tree functions of a text on the tree of the trace. */
static tl_tree *tree_after(const char *text, tl_trace **trace, int *code, tl_error *err)
{
	tl_extension *x = open_text(text);
	tl_tree *tree;
	*trace = load(trace_text);
	assert_int_equal(tl_tree_build(&tree, *trace, NULL, NULL), 0);
	const tl_hook *hook = tl_extension_hook(x);
	*err = (tl_error)TL_ERROR_INIT;
	*code = hook->tree(hook->user, tree, err);
	tl_extension_free(x);
	return tree;
}

typedef struct outcome {
	tl_trace *trace;
	tl_tree *tree;
} outcome;

static outcome good_tree(const char *text)
{
	outcome o;
	tl_error err;
	int code;
	o.tree = tree_after(text, &o.trace, &code, &err);
	if (code < 0)
		fail_msg("%s\n  in: %s", err.message, text);
	return o;
}

static void drop(outcome o)
{
	tl_tree_free(o.tree);
	tl_trace_free(o.trace);
}

static void the_tree_can_be_looked_at(void **state)
{
	(void)state;
	outcome o = good_tree(
		"tree(function(t)\n"
		"  assert(t:count() == 11 and #t:events() == 11 and #t:roots() == 2)\n"
		"  local e = t:event(1)\n"
		"  assert(e.uid == 1 and e.name == 'my::op' and e.category == 'cpu_op' and e.ts == 10 and e.dur == "
		"30)\n"
		"  assert(e.dims[1][1] == 4 and #e.dims[3] == 0 and e.types[1] == 'c10::BFloat16' and e.strides[2][1] "
		"== 2)\n"
		"  assert(e.concrete[3] == '0.5' and e.sequence == 7 and e.external_id == 11 and e.in_tree and not "
		"e.is_gpu)\n"
		"  assert(e.parent.name == 'outer' and e.parent.parent == nil and e.parent == t:event(0))\n"
		"  assert(#e.children == 1 and e.children[1].name == 'cudaLaunchKernel' and #e.children[1].dims == 0)\n"
		"  assert(#e.gpu_events == 1 and e.gpu_events[1].name == 'k1' and e.gpu_events[1].is_gpu)\n"
		"  assert(e.gpu_events[1].stream == 7 and e.gpu_events[1].correlation == 1 and e.correlation == nil)\n"
		"  assert(#e.parent.gpu_events == 4 and #e.parent.children == 3 and #e.parent:descendants() == 9)\n"
		"  assert(#e.parent:descendants('aten::mm') == 1 and #e.parent:descendants('x') == 0)\n"
		"  assert(#t:events('cudaLaunchKernel') == 2 and #t:events { category = 'kernel' } == 4)\n"
		"  assert(#t:events { category = 'kernel', name = 'g2' } == 1 and #t:events('nothing') == 0)\n"
		"  assert(t:events('cudaLaunchKernel')[1].ts < t:events('cudaLaunchKernel')[2].ts)\n"
		"  assert(t:event(99) == nil and t:event(-1) == nil and e:arg('Input Dims')[1][1] == 4 and e:arg('x') "
		"== nil)\n"
		"  local seen = { [e] = true }\n"
		"  assert(seen[t:events('my::op')[1]] and tostring(e) == \"event 1 'my::op'\")\n"
		"  assert(e.backward[1] == t:event(10) and #e.backward == 1 and e.backward[1].forward == e)\n"
		"  assert(e.forward == nil and #e.parent.backward == 0)\n"
		"end)\n");
	assert_int_equal(tl_tree_count(o.tree), EVENTS);
	drop(o);
}

static void events_can_be_changed(void **state)
{
	(void)state;
	outcome o = good_tree(
		"tree(function(t)\n"
		"  local e = t:event(1)\n"
		"  e.name = 'new::name'\n"
		"  assert(e.name == 'new::name' and #t:events('new::name') == 1 and #t:events('my::op') == 0)\n"
		"  t:event(4):rename('mm2')\n"
		"  e.dims = { { 1, 2 }, {} }\n"
		"  e.types = { 'float', '' }\n"
		"  e.concrete = {}\n"
		"  e.sequence = 9\n"
		"  e.strides = nil\n"
		"  e:set_arg('topk', { n = 8, of = { 1, 2.5, 'x', true } })\n"
		"  assert(e:arg('topk').n == 8 and e:arg('topk').of[2] == 2.5 and e.sequence == 9 and #e.strides == "
		"0)\n"
		"  t:event(4):copy_args(e)\n"
		"  assert(t:event(4).dims[1][2] == 2)\n"
		"  t:event(10):set_time(300, 25.5)\n"
		"  t:event(10):set_thread(e)\n"
		"  t:event(7).category = 'cuda_driver'\n"
		"end)\n");
	const tl_store *s = o.tree->store;
	assert_string_equal(tl__name(s, MY_OP), "new::name");
	assert_string_equal(tl__name(s, MM), "mm2");
	assert_string_equal(tl__str(s->strings, tl__op_args(s, MY_OP)->dims), "[[1,2],[]]");
	assert_string_equal(tl__str(s->strings, tl__op_args(s, MM)->types), "[\"float\",\"\"]");
	assert_string_equal(tl__str(s->strings, tl__op_args(s, MY_OP)->concrete), "[]");
	assert_int_equal(tl__op_args(s, MY_OP)->strides, TL_STR_NONE);
	assert_int_equal(tl__op_args(s, MM)->sequence, 9);
	assert_int_equal(s->dur[BACKWARD], US(25) + US(1) / 2);
	assert_int_equal(s->track[BACKWARD], s->track[MY_OP]);
	size_t n;
	const tl_extra *extra = tl__store_extras(s, MY_OP, &n);
	assert_int_equal(n, 1);
	assert_string_equal(tl__str(s->strings, extra->value), "{\"n\":8,\"of\":[1,2.5,\"x\",true]}");
	drop(o);
}

static void places_can_be_changed(void **state)
{
	(void)state;
	outcome o = good_tree(
		"tree(function(t)\n"
		"  local op, mm, graph = t:event(1), t:event(4), t:event(7)\n"
		"  local above = op:insert_above('above')\n"
		"  assert(op.parent == above and above.parent == t:event(0) and above.uid == 11)\n"
		"  local inside = mm:wrap('inside')\n"
		"  assert(#mm.children == 1 and inside.parent == mm and inside.children[1] == t:event(5))\n"
		"  local one = t:event(8):isolate('one')\n"
		"  assert(one.children[1] == t:event(8) and #graph.children == 1)\n"
		"  local rest = t:isolate('rest', graph.gpu_events)\n"
		"  assert(graph.parent == rest)\n"
		"  local new = t:append { name = 'appended', like = mm, parent = t:event(0), before = rest }\n"
		"  assert(new.ts == mm.ts)\n"
		"  mm:reparent(new)\n"
		"  t:event(10):reparent(nil, t:event(0))\n"
		"  assert(t:roots()[1] == t:event(10))\n"
		"  t:link(mm, t:event(10))\n"
		"  assert(t:event(10).forward == mm and mm.backward[1] == t:event(10))\n"
		"  local gone = t:append { name = 'gone', like = mm }\n"
		"  gone:detach()\n"
		"  assert(not gone.in_tree)\n"
		"end)\n");
	const tl_tree *t = o.tree;
	enum { ABOVE = EVENTS, INSIDE, ONE, REST, APPENDED, GONE };
	assert_int_equal(tl_tree_parent(t, MY_OP), ABOVE);
	assert_int_equal(tl_tree_parent(t, ABOVE), OUTER);
	assert_int_equal(tl_tree_parent(t, LAUNCH_2), INSIDE);
	assert_int_equal(tl_tree_parent(t, INSIDE), MM);
	assert_int_equal(tl_tree_parent(t, MM), APPENDED);
	assert_int_equal(tl_tree_parent(t, G1), ONE);
	assert_int_equal(tl_tree_parent(t, G2), GRAPH);
	assert_int_equal(tl_tree_parent(t, GRAPH), REST);
	assert_int_equal(tl_tree_parent(t, GONE), TL_ROW_NONE);
	tl_row below[4], under_outer[8];
	assert_int_equal(tl_tree_children(t, OUTER, under_outer, 8), 4);
	assert_int_equal(under_outer[0], ABOVE);
	size_t n;
	const tl_row *gpu = tl_tree_gpu_events(t, OUTER, &n);
	assert_int_equal(n, 4); /* none is lost */
	memcpy(below, gpu, sizeof below);
	assert_int_equal(below[0], K1);
	drop(o);
}

static void edits_that_make_no_sense_leave_the_tree_as_it_was(void **state)
{
	(void)state;
	static const struct {
		const char *code, *message;
	} wrong[] = {
		{"t:event(3):wrap('x')", "ops.lua:3: event 3 ('k1') has no children to wrap"},
		{"t:event(0):reparent(t:event(1))", "ops.lua:3: event 0 cannot go below event 1"},
		{"t:event(1):isolate('x')", "ops.lua:3: event 1 ('changed') is no GPU work"},
		{"t:isolate('x', {})", "ops.lua:3: there is no GPU event to isolate"},
		{"t:isolate('x', { 1 })", "ops.lua:3: an event is needed, not a number"},
		{"t:event(1).category = 'kernel'",
		 "ops.lua:3: event 1 ('changed') is no GPU work, which category 'kernel'"},
		{"t:event(1).name = ''", "ops.lua:3: a name must not be empty"},
		{"t:event(1).name = 5", "ops.lua:3: a name must be a string, not a number"},
		{"t:event(1).dims = 5", "ops.lua:3: 'Input Dims' must be a list, not a number"},
		{"t:event(1).dims = { print }", "ops.lua:3: Input Dims: a function is no value"},
		{"t:event(1).sequence = 'x'", "ops.lua:3: 'Sequence number' must be a whole number"},
		{"t:event(1).ts = 5", "ops.lua:3: field 'ts' of an event cannot be set"},
		{"t:event(1).nam = 'x'", "ops.lua:3: an event has no field 'nam' (did you mean 'name'?)"},
		{"return t:event(1).child", "ops.lua:3: an event has no field 'child'"},
		{"t:event(3):set_arg('correlation', 5)", "ops.lua:3: 'correlation' of event 3"},
		{"t:event(1):set_time(1e300, 1)", "ops.lua:3: a time must be a number of microseconds"},
		{"t:event(1):set_time(1, -1)", "ops.lua:3: event 1 needs a start and a duration"},
		{"t:append()", "ops.lua:3: t:append takes a table"},
		{"t:append { name = 'x' }", "ops.lua:3: t:append needs 'like'"},
		{"t:append { nam = 'x' }", "ops.lua:3: what t:append takes has no field 'nam' (did you mean 'name'?)"},
		{"t:append { name = 'x', like = 5 }", "ops.lua:3: an event is needed, not a number"},
		{"t:evnts()", "ops.lua:3: the tree has no field 'evnts' (did you mean 'events'?)"},
		{"t:events { nme = 'x' }", "what t:events looks for has no field 'nme' (did you mean 'name'?)"},
		{"t:events { name = 5 }", "ops.lua:3: 'name' must be a string, not a number"},
		{"t:link(t:event(1), t:event(1))", "ops.lua:3: event 1 cannot be its own backward event"},
		{"error('enough')", "ops.lua:3: enough"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char text[512];
		snprintf(text, sizeof text, "tree(function(t)\n  t:event(1).name = 'changed'\n%s\nend)", wrong[i].code);
		tl_trace *trace;
		tl_error err;
		int code;
		tl_tree *tree = tree_after(text, &trace, &code, &err);
		assert_int_equal(code, TL_EFORMAT);
		if (!strstr(err.message, wrong[i].message))
			fail_msg("%s: '%s' does not say '%s'", wrong[i].code, err.message, wrong[i].message);
		assert_string_equal(tl__name(tree->store, MY_OP), "my::op");
		assert_int_equal(tl_tree_count(tree), EVENTS);
		tl_edit *edit; /* and no edit is left open */
		assert_int_equal(tl_edit_begin(&edit, tree, NULL), 0);
		tl_edit_abort(edit);
		tl_tree_free(tree);
		tl_trace_free(trace);
	}
}

static void events_end_with_the_tree_function(void **state)
{
	(void)state;
	tl_report *r = good_report("local kept\n"
				   "tree(function(t) kept = t:event(1) end)\n"
				   "model { name = 'my::op', eval = function() return { flops = kept.dur } end }\n");
	assert_non_null(strstr(noted, "ops.lua:3: the tree function is over: its events can no longer be used"));
	tl_report_free(r);
}

static void a_tree_function_and_a_model_work_together(void **state)
{
	(void)state;
	/* the graph's kernels get an operation of their own, and what the tree function says comes to its model */
	tl_report *r = good_report("tree(function(t)\n"
				   "  local op = t:isolate('my::graph', t:event(7).gpu_events)\n"
				   "  op.dims = { { 3, 5 } }\n"
				   "  op:set_arg('rows', 3)\n"
				   "end)\n"
				   "model { name = 'my::graph', category = 'GRAPH', sheet = 'Graphs',\n"
				   "  eval = function(op) return { params = { { 'rows', op.extra.rows } }, flops = 2 * "
				   "prod(op.dims[1]) } end }\n");
	expect(sheet(r, "Graphs"), "my::graph", "param: rows", "3");
	expect(sheet(r, "Graphs"), "my::graph", "GFLOPS_first", "3e-08");
	expect(sheet(r, "Graphs"), "my::graph", "Kernel Time (µs)_sum", "11.0");
	expect(sheet(r, "unified_perf_summary"), "my::graph", "op category", "GRAPH");
	tl_report_free(r);
}

static void several_files_work_in_order(void **state)
{
	(void)state;
	tl_extension *files[] = {
		open_text("category { ['my::op'] = 'A' } tree(function(t) t:event(10).name = 'first' end)"),
		open_text("category { ['my::op'] = 'B' } tree(function(t)\n"
			  "  assert(t:event(10).name == 'first') end)")};
	const tl_hook *hooks[] = {tl_extension_hook(files[0]), tl_extension_hook(files[1])};
	tl_report_options options = tl_report_options_default();
	options.hooks = hooks;
	options.n_hooks = 2;
	tl_trace *trace = load(trace_text);
	for (int run = 0; run < 2; run++) { /* an extension serves several reports */
		tl_report *r;
		tl_error err = TL_ERROR_INIT;
		if (tl_report_pytorch(&r, trace, &options, &err) < 0)
			fail_msg("%s", err.message);
		expect(sheet(r, "unified_perf_summary"), "my::op", "op category", "B");
		tl_report_free(r);
	}
	tl_trace_free(trace);
	tl_extension_free(files[0]);
	tl_extension_free(files[1]);
}

static void running_out_of_memory_is_an_error(void **state)
{
	(void)state;
	static const char text[] =
		"tree(function(t)\n"
		"  for _, e in ipairs(t:events()) do e:set_arg('x', { e.ts, #e.children }) end\n"
		"  local op = t:isolate('my::graph', t:event(7).gpu_events)\n"
		"  op.dims = { { 3, 5 } }\n"
		"  t:link(op, t:event(10))\n"
		"end)\n"
		"model { name = 'my::graph', category = 'GRAPH', sheet = 'Graphs', reads = { 'args', 'kernels', "
		"'extras' },\n"
		"  eval = function(op) return { params = { { 'k', op.kernels } }, flops = prod(op.dims[1]) } end }\n"
		"category { ['my::op'] = 'Y' }\n";
	tl_trace *trace = load(trace_text);
	tl_report_options options = tl_report_options_default();
	int code = TL_ENOMEM;
	for (int64_t n = 0; code == TL_ENOMEM; n += 1 + n / 100) {
		tl_extension *x = open_text(text);
		const tl_hook *hook = tl_extension_hook(x);
		options.hooks = &hook;
		options.n_hooks = 1;
		tl_report *r = NULL;
		tl_error err = TL_ERROR_INIT;
		tl__alloc_fail_after(n);
		code = tl_report_pytorch(&r, trace, &options, &err);
		tl__alloc_fail_after(-1);
		if (code != 0 && code != TL_ENOMEM)
			fail_msg("allocation %lld: %s: %s", (long long)n, tl_code_name(code), err.message);
		tl_report_free(r);
		tl_extension_free(x);
	}
	tl_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_counts_everywhere),
		cmocka_unit_test(backward_forms_make_two_sheets),
		cmocka_unit_test(a_built_in_model_can_be_overridden_and_asked),
		cmocka_unit_test(a_built_in_model_reads_tables_of_the_file),
		cmocka_unit_test(categories_go_before_all_rules),
		cmocka_unit_test(parameters_in_a_map_come_by_name),
		cmocka_unit_test(a_model_that_fails_costs_its_metrics_only),
		cmocka_unit_test(wrong_results_are_told_with_file_and_line),
		cmocka_unit_test(wrong_declarations_are_told_with_file_and_line),
		cmocka_unit_test(a_runaway_model_ends_the_report),
		cmocka_unit_test(two_sheets_need_two_names),
		cmocka_unit_test(a_result_of_a_built_in_model_stays_what_it_is),
		cmocka_unit_test(built_in_attention_takes_a_declared_annotation),
		cmocka_unit_test(memory_outside_of_lua_is_limited),
		cmocka_unit_test(helpers_know_types_and_literals),
		cmocka_unit_test(the_tree_can_be_looked_at),
		cmocka_unit_test(events_can_be_changed),
		cmocka_unit_test(places_can_be_changed),
		cmocka_unit_test(edits_that_make_no_sense_leave_the_tree_as_it_was),
		cmocka_unit_test(events_end_with_the_tree_function),
		cmocka_unit_test(a_tree_function_and_a_model_work_together),
		cmocka_unit_test(several_files_work_in_order),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
