/* SPDX-License-Identifier: MIT */
/* Models and categories of extension files in reports. */
#include "extension/extension_fixture.h"

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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
