/* SPDX-License-Identifier: MIT */
/* Subtrees, parent chains and call stacks as text; the worked example of spec 01 section 4.12. */
#include "tree/tree_fixture.h"

#include <stdio.h>
#include <string.h>

#include "tracelens/event.h"
#include "util/buf.h"

static int collect(void *user, const char *text, size_t n)
{
	tl__buf_put(user, text, n);
	return 0;
}

static int collect_lines(void *user, const char *text, size_t n)
{
	tl__buf_put(user, text, n);
	tl__buf_putc(user, '\n');
	return 0;
}

static const char worked_text[] =
	"{\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::linear\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":50,"
	"\"args\":{\"Sequence number\":7,\"Fwd thread id\":0,\"Input Dims\":[[2,3]],\"Ev "
	"Idx\":4,\"Note\":{\"k\":[1.0,\"it's\"]}}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::addmm\",\"pid\":1,\"tid\":1,\"ts\":105,\"dur\":40},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":110,\"dur\":5,"
	"\"args\":{\"correlation\":1}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":146,\"dur\":3,"
	"\"args\":{\"correlation\":2}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":200,\"dur\":30,"
	"\"args\":{\"correlation\":1,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":0,\"tid\":8,\"ts\":220,\"dur\":"
	"25.0,"
	"\"args\":{\"correlation\":2,\"stream\":8}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"autograd::engine::evaluate_function: "
	"AddmmBackward0\",\"pid\":1,\"tid\":2,"
	"\"ts\":300,\"dur\":50,\"args\":{\"Sequence number\":7,\"Fwd thread id\":1}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":2,\"ts\":301,\"dur\":9},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":2,\"ts\":302,\"dur\":5,"
	"\"args\":{\"correlation\":3}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm_back\",\"pid\":0,\"tid\":7,\"ts\":310,\"dur\":0.5,"
	"\"args\":{\"correlation\":3,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::view\",\"pid\":1,\"tid\":2,\"ts\":320,\"dur\":1},"
	"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\",\"pid\":0,\"tid\":7,\"ts\":400,\"dur\":5}"
	"]}";
enum { LINEAR, ADDMM, LAUNCH, LAUNCH2, GEMM, NCCL, BACKWARD, MM, LAUNCH3, GEMM_BACK, VIEW, UNLINKED };

typedef struct worked {
	tl_trace *trace;
	tl_tree *tree;
} worked;

static worked open_text(const char *text, bool raw)
{
	worked w;
	tl_trace_options options = {.single_thread = true, .keep_raw = raw};
	assert_int_equal(tl_trace_open_memory(&w.trace, text, strlen(text), &options, NULL), 0);
	assert_int_equal(tl_tree_build(&w.tree, w.trace, NULL, NULL), 0);
	return w;
}

static void close_text(worked w)
{
	tl_tree_free(w.tree);
	tl_trace_free(w.trace);
}

static void expect_subtree(const tl_tree *tree, tl_row event, const tl_print_options *options, const char *expected)
{
	tl_buf text = {0};
	assert_int_equal(tl_tree_print(tree, event, options, collect, &text, NULL), 0);
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
}

static void the_worked_example(void **state)
{
	(void)state;
	static const char *const fields[] = {"Input Dims", "Input type"};
	worked w = open_text(worked_text, false);
	tl_print_options options = {.fields = fields, .n_fields = 2, .backward = true};
	expect_subtree(w.tree, LINEAR, &options,
		       "└── UID: 0, Category: cpu_op, Name: aten::linear\n"
		       "    |   Input Dims: [[2, 3]]\n"
		       "    |   \n"
		       "    ├── UID: 1, Category: cpu_op, Name: aten::addmm\n"
		       "    │   └── UID: 2, Category: cuda_runtime, Name: cudaLaunchKernel\n"
		       "    │       └── UID: 4, Category: kernel, Name: gemm, Duration: 30\n"
		       "    ├── UID: 3, Category: cuda_runtime, Name: cudaLaunchKernel\n"
		       "    │   └── UID: 5, Category: kernel, Name: ncclDevKernel_AllReduce, Duration: 25.0\n"
		       "    └── [BWD] autograd::engine::evaluate_function: AddmmBackward0 (UID: 6)\n"
		       "        └── UID: 7, Category: cpu_op, Name: aten::mm\n"
		       "            └── UID: 8, Category: cuda_runtime, Name: cudaLaunchKernel\n"
		       "                └── UID: 9, Category: kernel, Name: gemm_back, Duration: 0.5\n");
	close_text(w);
}

/* [01-T19]: what leads to no GPU work is left out below a backward event as anywhere else. */
static void all_shows_what_leads_nowhere(void **state)
{
	(void)state;
	worked w = open_text(worked_text, false);
	expect_subtree(w.tree, BACKWARD, NULL,
		       "└── UID: 6, Category: cpu_op, Name: autograd::engine::evaluate_function: AddmmBackward0\n"
		       "    └── UID: 7, Category: cpu_op, Name: aten::mm\n"
		       "        └── UID: 8, Category: cuda_runtime, Name: cudaLaunchKernel\n"
		       "            └── UID: 9, Category: kernel, Name: gemm_back, Duration: 0.5\n");
	expect_subtree(w.tree, BACKWARD, &(tl_print_options){.all = true},
		       "└── UID: 6, Category: cpu_op, Name: autograd::engine::evaluate_function: AddmmBackward0\n"
		       "    ├── UID: 7, Category: cpu_op, Name: aten::mm\n"
		       "    │   └── UID: 8, Category: cuda_runtime, Name: cudaLaunchKernel\n"
		       "    │       └── UID: 9, Category: kernel, Name: gemm_back, Duration: 0.5\n"
		       "    └── UID: 10, Category: cpu_op, Name: aten::view\n");
	/* the event itself is always shown, in the tree or not */
	expect_subtree(w.tree, VIEW, NULL, "└── UID: 10, Category: cpu_op, Name: aten::view\n");
	expect_subtree(w.tree, UNLINKED, NULL, "└── UID: 11, Category: gpu_memcpy, Name: Memcpy HtoD, Duration: 5\n");
	close_text(w);
}

/* Any argument with whole events; without them those that the store holds. Values as Python prints them. */
static void fields_of_all_kinds(void **state)
{
	(void)state;
	static const char *const fields[] = {"Note", "Sequence number", "Ev Idx", "no such"};
	tl_print_options options = {.fields = fields, .n_fields = 4};
	worked w = open_text(worked_text, true);
	tl_buf text = {0};
	assert_int_equal(tl_tree_print_parents(w.tree, ADDMM, &options, collect, &text, NULL, NULL), 0);
	assert_string_equal(tl__buf_text(&text), "Node:\n"
						 "  UID: 1, Category: cpu_op, Name: aten::addmm\n"
						 "1-up:\n"
						 "  UID: 0, Category: cpu_op, Name: aten::linear\n"
						 "    Note: {'k': [1.0, \"it's\"]}\n"
						 "    Sequence number: 7\n"
						 "    Ev Idx: 4\n");
	close_text(w);
	w = open_text(worked_text, false);
	tl__buf_clear(&text);
	assert_int_equal(tl_tree_print_parents(w.tree, LINEAR, &options, collect, &text, NULL, NULL), 0);
	assert_string_equal(tl__buf_text(&text), "Node:\n"
						 "  UID: 0, Category: cpu_op, Name: aten::linear\n"
						 "    Sequence number: 7\n");
	tl__buf_free(&text);
	close_text(w);
}

static void parents_and_the_forward_link(void **state)
{
	(void)state;
	worked w = open_text(worked_text, false);
	tl_buf text = {0};
	tl_row root;
	assert_int_equal(tl_tree_print_parents(w.tree, GEMM_BACK, NULL, collect, &text, &root, NULL), 0);
	assert_int_equal(root, BACKWARD);
	static const char chain[] =
		"Node:\n"
		"  UID: 9, Category: kernel, Name: gemm_back, Duration: 0.5\n"
		"1-up:\n"
		"  UID: 8, Category: cuda_runtime, Name: cudaLaunchKernel\n"
		"2-up:\n"
		"  UID: 7, Category: cpu_op, Name: aten::mm\n"
		"3-up:\n"
		"  UID: 6, Category: cpu_op, Name: autograd::engine::evaluate_function: AddmmBackward0\n";
	assert_string_equal(tl__buf_text(&text), chain);
	tl__buf_clear(&text);
	assert_int_equal(tl_tree_print_parents(w.tree, GEMM_BACK, &(tl_print_options){.follow_forward = true}, collect,
					       &text, &root, NULL),
			 0);
	assert_int_equal(root, LINEAR);
	assert_memory_equal(tl__buf_text(&text), chain, sizeof chain - 1);
	assert_string_equal(tl__buf_text(&text) + sizeof chain - 1,
			    "\n============================================================\n"
			    "Following fwd_event link to forward call stack (UID: 0)\n"
			    "============================================================\n"
			    "Node:\n"
			    "  UID: 0, Category: cpu_op, Name: aten::linear\n");
	tl__buf_free(&text);
	close_text(w);
}

static void expect_stack(const tl_tree *tree, tl_row event, const char *const *filters, size_t n, bool forward,
			 const char *expected)
{
	tl_buf text = {0};
	assert_int_equal(tl_tree_call_stack(tree, event, filters, n, forward, collect_lines, &text, NULL), 0);
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
}

/* [01-T18]: no filter hides nothing, and the link is followed from a root, too. */
static void call_stacks(void **state)
{
	(void)state;
	static const char *const aten[] = {"aten::", "no such"};
	worked w = open_text(worked_text, false);
	expect_stack(w.tree, GEMM, NULL, 0, false, "gemm\ncudaLaunchKernel\naten::addmm\naten::linear\n");
	expect_stack(w.tree, GEMM, aten, 2, false, "gemm\naten::addmm\naten::linear\n");
	expect_stack(w.tree, GEMM, aten + 1, 1, false, "gemm\n");
	expect_stack(w.tree, GEMM_BACK, aten, 1, true, "gemm_back\naten::mm\n[FWD]\naten::linear\n");
	expect_stack(w.tree, BACKWARD, NULL, 0, true,
		     "autograd::engine::evaluate_function: AddmmBackward0\n[FWD]\naten::linear\n");
	close_text(w);
}

/* Cut at 64 characters, not bytes; a name of exactly 64 is left alone. */
static void long_names_are_cut(void **state)
{
	(void)state;
	char exact[65 * 2 + 1] = "", longer[70 * 2] = "", parent[400], text[2048];
	for (int i = 0; i < 64; i++)
		strcat(exact, "ä");
	snprintf(longer, sizeof longer, "%sb", exact);
	memset(parent, 'p', 300);
	parent[300] = '\0';
	snprintf(text, sizeof text,
		 "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":1,\"dur\":10},"
		 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":2,\"dur\":5},"
		 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":3,\"dur\":1},"
		 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":3.5,\"dur\":0.1}]",
		 parent, longer, exact);
	worked w = open_text(text, false);
	tl_buf out = {0};
	assert_int_equal(tl_tree_print_parents(w.tree, 3, NULL, collect, &out, NULL, NULL), 0);
	snprintf(text, sizeof text,
		 "Node:\n  UID: 3, Category: cpu_op, Name: Unknown\n"
		 "1-up:\n  UID: 2, Category: cpu_op, Name: %s\n"
		 "2-up:\n  UID: 1, Category: cpu_op, Name: %s..\n"
		 "3-up:\n  UID: 0, Category: cpu_op, Name: %.64s..\n",
		 exact, exact, parent);
	assert_string_equal(tl__buf_text(&out), text);
	tl__buf_clear(&out);
	assert_int_equal(tl_tree_call_stack(w.tree, 0, NULL, 0, false, collect_lines, &out, NULL), 0);
	assert_int_equal(out.n, 301); /* the event's own name is never cut */
	tl__buf_clear(&out);
	assert_int_equal(tl_tree_call_stack(w.tree, 1, NULL, 0, false, collect_lines, &out, NULL), 0);
	assert_int_equal(out.n, strlen(longer) + 1 + 256 + 2 + 1);
	tl__buf_free(&out);
	close_text(w);
}

/* ---- depth ---- */

static int count(void *user, const char *text, size_t n)
{
	size_t *lines = user;
	for (size_t i = 0; i < n; i++)
		*lines += text[i] == '\n';
	return 0;
}

static void deep_trees_print(void **state)
{
	(void)state;
	enum { DEPTH = 100000, PRINTED = 2000 };
	tl_fixture f;
	tl_fixture_new(&f);
	for (int i = 0; i < DEPTH; i++)
		tl_fixture_op(f.store, "op", 1, 1, i, 2.0 * (DEPTH - i));
	tl_row launch = tl_fixture_launch(f.store, "launch", 1, 1, DEPTH, 0.5, 1);
	tl_row kernel = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, 7, DEPTH + 1, 1, 1);
	tl_fixture_build(&f, false);
	size_t lines = 0;
	/* a subtree is as wide as it is deep, so only its end */
	assert_int_equal(tl_tree_print(f.tree, launch - PRINTED, NULL, count, &lines, NULL), 0);
	assert_int_equal(lines, PRINTED + 2);
	lines = 0;
	assert_int_equal(tl_tree_print_parents(f.tree, kernel, NULL, count, &lines, NULL, NULL), 0);
	assert_int_equal(lines, 2 * (DEPTH + 2));
	tl_fixture_free(&f);
}

/* ---- what callers do wrong, and what fails ---- */

static int stop(void *user, const char *text, size_t n)
{
	(void)user, (void)text, (void)n;
	return 7;
}

static void failures_are_told(void **state)
{
	(void)state;
	worked w = open_text(worked_text, false);
	tl_error err = TL_ERROR_INIT;
	tl_row root = 5;
	static const tl_row unknown[] = {UNLINKED + 1, TL_ROW_NONE};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(tl_tree_print(w.tree, unknown[i], NULL, stop, NULL, &err), TL_ENOTFOUND);
		assert_int_equal(tl_tree_print_parents(w.tree, unknown[i], NULL, stop, NULL, &root, &err),
				 TL_ENOTFOUND);
		assert_int_equal(root, TL_ROW_NONE);
		assert_int_equal(tl_tree_call_stack(w.tree, unknown[i], NULL, 0, false, stop, NULL, &err),
				 TL_ENOTFOUND);
		assert_true(err.message[0]);
	}
	assert_int_equal(tl_tree_print(w.tree, LINEAR, NULL, stop, NULL, &err), TL_ECALLBACK);
	assert_int_equal(tl_tree_print_parents(w.tree, LINEAR, NULL, stop, NULL, NULL, &err), TL_ECALLBACK);
	assert_int_equal(tl_tree_call_stack(w.tree, GEMM, NULL, 0, false, stop, NULL, &err), TL_ECALLBACK);
	assert_int_equal(tl_tree_json(w.tree, NULL, 0, stop, NULL, &err), TL_ECALLBACK);
	assert_int_equal(tl_tree_json(w.tree, unknown, 1, stop, NULL, &err), TL_ENOTFOUND);
	close_text(w);
}

static int all_texts(void *tree)
{
	static const char *const fields[] = {"Input Dims", "Note"};
	tl_print_options options = {
		.fields = fields, .n_fields = 2, .backward = true, .all = true, .follow_forward = true};
	size_t lines = 0;
	int code = tl_tree_print(tree, LINEAR, &options, count, &lines, NULL);
	if (code == 0)
		code = tl_tree_print_parents(tree, GEMM_BACK, &options, count, &lines, NULL, NULL);
	if (code == 0)
		code = tl_tree_call_stack(tree, GEMM_BACK, NULL, 0, true, count, &lines, NULL);
	if (code == 0)
		code = tl_tree_json(tree, NULL, 0, count, &lines, NULL);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	worked w = open_text(worked_text, true);
	assert_true(fail_each_allocation(all_texts, w.tree) > 9);
	close_text(w);
}

static void nodes_as_json(void **state)
{
	(void)state;
	worked w = open_text(worked_text, false);
	tl_buf text = {0};
	static const tl_row chosen[] = {ADDMM, GEMM, UNLINKED, BACKWARD};
	assert_int_equal(tl_tree_json(w.tree, chosen, 4, collect, &text, NULL), 0);
	assert_string_equal(
		tl__buf_text(&text),
		"[\n{\"UID\":1,\"name\":\"aten::addmm\",\"cat\":\"cpu_op\",\"parent\":0,\"children\":[2],\"gpu_"
		"events\":[4]},\n"
		"{\"UID\":4,\"name\":\"gemm\",\"cat\":\"kernel\",\"parent\":2,\"children\":[],\"gpu_events\":[]},\n"
		"{\"UID\":11,\"name\":\"Memcpy "
		"HtoD\",\"cat\":\"gpu_memcpy\",\"parent\":null,\"children\":[],\"gpu_events\":[]},\n"
		"{\"UID\":6,\"name\":\"autograd::engine::evaluate_function: AddmmBackward0\",\"cat\":\"cpu_op\","
		"\"parent\":null,\"children\":[7,10],\"gpu_events\":[9]}\n]\n");
	tl__buf_free(&text);
	close_text(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example),
		cmocka_unit_test(all_shows_what_leads_nowhere),
		cmocka_unit_test(fields_of_all_kinds),
		cmocka_unit_test(parents_and_the_forward_link),
		cmocka_unit_test(call_stacks),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(deep_trees_print),
		cmocka_unit_test(failures_are_told),
		cmocka_unit_test(every_failed_allocation_is_reported),
		cmocka_unit_test(nodes_as_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
