/* SPDX-License-Identifier: MIT */
/* Tree functions of extension files. */
#include "extension/extension_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_can_be_looked_at),
		cmocka_unit_test(events_can_be_changed),
		cmocka_unit_test(places_can_be_changed),
		cmocka_unit_test(edits_that_make_no_sense_leave_the_tree_as_it_was),
		cmocka_unit_test(events_end_with_the_tree_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
