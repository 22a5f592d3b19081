/* SPDX-License-Identifier: MIT */
/* Extension files as a whole: models and tree functions together, several files, no memory. */
#include "extension/extension_fixture.h"

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
		cmocka_unit_test(a_tree_function_and_a_model_work_together),
		cmocka_unit_test(several_files_work_in_order),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
