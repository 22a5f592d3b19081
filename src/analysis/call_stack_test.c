/* SPDX-License-Identifier: MIT */
/* Call stacks of kernels and what the unified summary shows of them (spec 02 sections 5.3 and 5.5). */
#include "analysis/metrics_fixture.h"

#include <stdio.h>

#include "analysis/call_stack.h"

static const tl_analyzer_options with_stacks = {.call_stack = true};

static void frame(tl_store *s, const char *name, double start, double dur)
{
	tl_fixture_python(s, name, HOST, FORWARD_THREAD, start, dur, TL_ID_NONE, TL_ID_NONE);
}

static void expect_stack(fixture *f, tl_row kernel, const char *expected)
{
	tl_arena arena = {0};
	tl_buf text = {0};
	tl_str stack;
	tl_value list;
	assert_int_equal(tl__analyzer_call_stack(f->a, kernel, &stack), 0);
	assert_int_equal(tl__stack_value(&list, f->a->strings, stack, &arena), 0);
	tl__value_repr(&text, &list);
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
	tl__arena_free(&arena);
}

static tl_table *summary_of(fixture *f, bool debug)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table, *summary;
	tl_summary_options o = {.call_stack = true, .call_stack_debug = debug};
	assert_int_equal(tl__unified_table(&table, f->a, &err), 0);
	assert_int_equal(tl__unified_perf_summary(&summary, table, &o, &err), 0);
	assert_int_equal(tl__table_own_values(summary, &err), 0);
	tl_table_free(table);
	return summary;
}

static void which_names_are_in_a_stack(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	frame(s, "main.py(1): main", 0, 100);        /* no path */
	frame(s, "app/train.py(2): step_12", 1, 98); /* without its number */
	frame(s, "nn.Module: Net_0", 2, 96);
	frame(s, "torch::something", 3, 94);
	tl_fixture_op(s, "plain", HOST, FORWARD_THREAD, 4, 90); /* an operation always is */
	tl_row kernel = launch_kernel(s, FORWARD_THREAD, "void k_1<x::y>()", 10, 5, 1);
	fixture f;
	fixture_open_frames(&f, s, true, &with_stacks);
	expect_stack(&f, kernel, "['app/train.py(2): step', 'nn.Module: Net', 'torch::something', 'plain']");
	tl_table *t = summary_of(&f, false);
	/* the kernel closes the stack, under its full name */
	expect_text(t, 0, "call_stack_full",
		    "['app/train.py(2): step', 'nn.Module: Net', 'torch::something', 'plain', 'void k_1<x::y>()']");
	expect_text(t, 0, "entry_point", "app/train.py(2): step");
	assert_int_equal(tl_table_find_column(t, "wrappers"), -1);
	assert_int_equal(tl_table_find_column(t, "call stacks"), -1);
	tl_table_free(t);
	fixture_close(&f);
}

static void kernels_without_anything_above(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_row launched = launch_kernel(s, FORWARD_THREAD, "k", 10, 5, 1);
	tl_row lost = tl_fixture_gpu(s, TL_KIND_KERNEL, "lost", GPU, 7, 100, 5, 77);
	fixture f;
	fixture_open_frames(&f, s, true, &with_stacks);
	expect_stack(&f, launched, "[]");
	expect_stack(&f, lost, "[]");
	fixture_close(&f);
}

/* One chain is flat; of several the common part is, and each distinct rest is a list. */
static void how_several_stacks_are_shown(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	frame(s, "app/a.py(1): f", 0, 400);
	tl_fixture_op(s, "aten::two", HOST, FORWARD_THREAD, 10, 80);
	launch_kernel(s, FORWARD_THREAD, "b", 11, 5, 1);
	launch_kernel(s, FORWARD_THREAD, "a", 21, 4, 2); /* shorter, so before the other one */
	tl_fixture_op(s, "aten::same", HOST, FORWARD_THREAD, 110, 80);
	launch_kernel(s, FORWARD_THREAD, "k", 111, 3, 3);
	launch_kernel(s, FORWARD_THREAD, "k", 121, 3, 4);
	fixture f;
	fixture_open_frames(&f, s, true, &with_stacks);
	tl_table *t = summary_of(&f, true);
	expect_text(t, 0, "call_stack_full", "['app/a.py(1): f', 'aten::two', ['a'], ['b']]");
	expect_text(t, 1, "call_stack_full", "['app/a.py(1): f', 'aten::same', 'k', []]");
	expect_text(t, 0, "entry_point", "app/a.py(1): f");
	expect_text(t, 0, "num_wrappers", "0");
	expect_text(t, 0, "traversal", "outward");
	expect_text(t, 0, "wrappers", "['app/a.py(1): f', 'aten::two']");
	/* they stand together before the percentages */
	size_t at = column_index(t, "has_perf_model");
	static const char *const order[] = {"entry_point", "num_wrappers",    "traversal",
					    "wrappers",    "call_stack_full", "Percentage (%)"};
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(tl_table_column_name(t, at + 1 + i), order[i]);
	tl_table_free(t);
	fixture_close(&f);
}

/* A synthetic row is looked up under the operation that it copies. */
static void synthetic_rows_have_a_stack(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	frame(s, "app/a.py(1): loss", 0, 400);
	tl_fixture_op(s, "outer", HOST, FORWARD_THREAD, 10, 100);
	launch_kernel(s, FORWARD_THREAD, "extra", 11, 20, 1);
	add_mm(s, 50, 10, 2);
	fixture f;
	fixture_open_frames(&f, s, true, &with_stacks);
	tl_table *t = summary_of(&f, true);
	expect_text(t, 0, "name", "outer->extra (Synthetic Op)");
	expect_text(t, 0, "call_stack_full", "['app/a.py(1): loss', 'outer', 'extra']");
	expect_text(t, 0, "entry_point", "app/a.py(1): loss");
	expect_text(t, 0, "wrappers", "['app/a.py(1): loss', 'outer']");
	expect_text(t, 1, "wrappers", "['app/a.py(1): loss', 'outer', 'aten::mm']");
	expect_text(t, 1, "num_wrappers", "1");
	tl_table_free(t);
	fixture_close(&f);
}

static void an_operation_that_no_frame_calls(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	add_mm(s, 50, 10, 2);
	fixture f;
	fixture_open_frames(&f, s, true, &with_stacks);
	tl_table *t = summary_of(&f, true);
	expect_text(t, 0, "entry_point", "Not found");
	expect_text(t, 0, "call_stack_full", "['aten::mm', 'gemm_kernel']");
	expect_text(t, 0, "num_wrappers", "-1");
	expect_text(t, 0, "traversal", "");
	expect_text(t, 0, "wrappers", "");
	tl_table_free(t);
	fixture_close(&f);
}

/* [02-6]: kernel lists have stacks only in runs that ask for them, texts of summaries never. */
static void kernel_lists_have_stacks_on_request(void **state)
{
	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		tl_store *s = tl__store_new();
		frame(s, "app/a.py(1): f", 0, 400);
		add_mm(s, 50, 10, 2);
		fixture f;
		tl_analyzer_options o = {.call_stack = asked};
		fixture_open_frames(&f, s, true, &o);
		tl_error err = TL_ERROR_INIT;
		tl_table *t, *summary;
		char text[512];
		assert_int_equal(tl__unified_table(&t, f.a, &err), 0);
		tl_table_text(t, column_index(t, "kernel_details"), 0, text, sizeof text);
		if (asked)
			assert_non_null(strstr(text, "'call_stack': ['app/a.py(1): f', 'aten::mm']}]"));
		else
			assert_null(strstr(text, "call_stack"));
		assert_int_equal(tl__unified_perf_summary(&summary, t, NULL, &err), 0);
		tl_table_text(summary, column_index(summary, "kernel_details_summary"), 0, text, sizeof text);
		assert_null(strstr(text, "call_stack"));
		tl_table_free(summary);
		tl_table_free(t);
		fixture_close(&f);
	}
}

/* A deep stack with a kernel at every depth: stored as one frame more each, 4000 frames in all. */
static void deep_stacks_share_their_frames(void **state)
{
	(void)state;
	enum { DEPTH = 4000 };
	static tl_row rows[DEPTH];
	tl_store *s = tl__store_new();
	for (int i = 0; i < DEPTH; i++) {
		char name[32];
		snprintf(name, sizeof name, "a/b.py(%d): f", i);
		frame(s, name, i, 10.0 * DEPTH - 2 * i);
	}
	for (int i = 0; i < DEPTH; i++)
		rows[i] = launch_kernel(s, FORWARD_THREAD, "k", 9.0 * DEPTH + 0.5 + i, 5, (tl_id)(i + 1));
	fixture f;
	fixture_open_frames(&f, s, true, &with_stacks);
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	assert_int_equal(tl__unified_table(&t, f.a, &err), 0);
	for (int i = 1; i < DEPTH - 1; i++) {
		tl_str stack, above;
		assert_int_equal(tl__analyzer_call_stack(f.a, rows[i - 1], &stack), 0);
		assert_int_equal(tl__analyzer_call_stack(f.a, rows[i], &above), 0);
		assert_int_not_equal(stack, above);
	}
	assert_true(tl__strings_memory(f.a->strings) < 4 << 20); /* as texts they would take over 100 MB */
	tl_table_free(t);
	fixture_close(&f);
}

static int stacks_of_a_summary(const tl_tree *tree)
{
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_table *t = NULL, *summary = NULL;
	const tl_summary_options o = {.call_stack = true, .call_stack_debug = true};
	int code = tl__analyzer_new(&a, tree, &with_stacks, &err);
	if (code == 0)
		code = tl__unified_table(&t, a, &err);
	if (code == 0)
		code = tl__unified_perf_summary(&summary, t, &o, &err);
	tl_table_free(summary);
	tl_table_free(t);
	tl__analyzer_free(a);
	assert_int_equal(err.code, code);
	return code;
}

static void without_memory_it_fails_cleanly(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	frame(s, "app/a.py(1): f_1", 0, 400);
	tl_fixture_op(s, "aten::two", HOST, FORWARD_THREAD, 10, 80);
	launch_kernel(s, FORWARD_THREAD, "b", 11, 5, 1);
	launch_kernel(s, FORWARD_THREAD, "a", 21, 4, 2);
	fixture f;
	fixture_open_frames(&f, s, true, &with_stacks);
	expect_tree_failures_reported(f.tree, stacks_of_a_summary, 30);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_names_are_in_a_stack),
		cmocka_unit_test(kernels_without_anything_above),
		cmocka_unit_test(how_several_stacks_are_shown),
		cmocka_unit_test(synthetic_rows_have_a_stack),
		cmocka_unit_test(an_operation_that_no_frame_calls),
		cmocka_unit_test(kernel_lists_have_stacks_on_request),
		cmocka_unit_test(deep_stacks_share_their_frames),
		cmocka_unit_test(without_memory_it_fails_cleanly),
	};
	return cmocka_run_group_tests_name("call_stack", tests, NULL, NULL);
}
