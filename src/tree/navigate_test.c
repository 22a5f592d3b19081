/* SPDX-License-Identifier: MIT */
/* Roots, subtrees, names, links and nn.Modules; also after an edit. */
#include "tree/tree_fixture.h"

#include <pthread.h>
#include <string.h>

#include "tracelens/edit.h"
#include "tracelens/event.h"

/*
 * Two threads; thread 2 begins earlier. 0 module A [0, 100] { 1 frame [1, 90] { 2 module B [2, 40] { 3 op x [3, 10] },
 * 4 module C [50, 80], 5 op x [81, 85] } }, thread 2: 6 op y [-5, 50] { 7 op x [0, 9] }, 8 op z on thread 3.
 */
enum { A, FRAME, B, XB, C, XF, Y, XY, Z, LAUNCH, KERNEL, LONELY };

static void make(tl_fixture *f)
{
	tl_fixture_new(f);
	tl_store *s = f->store;
	tl_fixture_python(s, "nn.Module: A_0", 1, 1, 0, 100, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_python(s, "forward", 1, 1, 1, 89, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_python(s, "nn.Module: B_0", 1, 1, 2, 38, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_op(s, "x", 1, 1, 3, 7);
	tl_fixture_python(s, "nn.Module: C_0", 1, 1, 50, 30, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_op(s, "x", 1, 1, 81, 4);
	tl_fixture_op(s, "y", 1, 2, -5, 55);
	tl_fixture_op(s, "x", 1, 2, 0, 9);
	tl_fixture_op(s, "z", 1, 3, 200, 9);
	tl_fixture_launch(s, "launch", 1, 2, 1, 2, 5);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "x", 0, 7, 10, 3, 5);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "lonely", 0, 7, 20, 3, 99);
	tl_fixture_build(f, true);
}

static void expect_named(const tl_tree *tree, const char *name, size_t n, const tl_row *expected)
{
	const tl_row *rows;
	size_t found;
	assert_int_equal(tl_tree_named(&rows, &found, tree, name, NULL), 0);
	assert_int_equal(found, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(rows[i], expected[i]);
	if (!n)
		assert_null(rows);
}

/* Host events by start, whatever their thread and place in the file, then GPU events. */
static void nodes_by_name(void **state)
{
	(void)state;
	tl_fixture f;
	make(&f);
	expect_named(f.tree, "x", 4, (tl_row[]){XY, XB, XF, KERNEL});
	expect_named(f.tree, "y", 1, (tl_row[]){Y});
	expect_named(f.tree, "lonely", 0, NULL); /* not in the tree */
	expect_named(f.tree, "no such name", 0, NULL);
	expect_named(f.tree, "", 0, NULL);
	expect_named(f.tree, NULL, 0, NULL);
	tl_fixture_free(&f);
}

static void all_names(void **state)
{
	(void)state;
	tl_fixture f;
	make(&f);
	static const char *const names[] = {
		"y", "nn.Module: A_0", "x", "forward", "launch", "nn.Module: B_0", "nn.Module: C_0", "z"};
	size_t count, sum = 0;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_tree_name_count(&count, f.tree, NULL), 0);
	assert_int_equal(count, 8);
	for (size_t i = 0; i < count; i++) {
		const char *name;
		const tl_row *rows;
		size_t n;
		assert_int_equal(tl_tree_name_get(&name, &rows, &n, f.tree, i, NULL), 0);
		/* A_0 and x of thread 2 both start at 0: the earlier in the file first */
		assert_string_equal(name, names[i]);
		sum += n;
	}
	assert_int_equal(sum, tl_tree_count(f.tree));
	const char *name;
	const tl_row *rows;
	size_t n;
	assert_int_equal(tl_tree_name_get(&name, &rows, &n, f.tree, count, &err), TL_ENOTFOUND);
	assert_null(name);
	tl_fixture_free(&f);
}

static void roots_and_subtrees(void **state)
{
	(void)state;
	tl_fixture f;
	make(&f);
	tl_row roots[4];
	size_t n;
	assert_int_equal(tl_tree_roots(f.tree, NULL, 0), 3);
	assert_int_equal(tl_tree_roots(f.tree, roots, 4), 3);
	assert_int_equal(roots[0], Y);
	assert_int_equal(roots[1], A);
	assert_int_equal(roots[2], Z);
	assert_int_equal(tl_tree_operation_roots(f.tree, roots, 4), 4);
	assert_int_equal(roots[0], Y);
	assert_int_equal(roots[1], XB);
	assert_int_equal(roots[2], XF);
	assert_int_equal(roots[3], Z);
	assert_int_equal(tl_tree_subtree_size(f.tree, A), 6);
	assert_int_equal(tl_tree_subtree_size(f.tree, KERNEL), 1);
	assert_int_equal(tl_tree_subtree_size(f.tree, LONELY), 0);
	const tl_row *below = tl_tree_subtree(f.tree, Y, &n);
	assert_int_equal(n, 4);
	assert_int_equal(below[0], Y);
	assert_int_equal(below[1], XY);
	assert_int_equal(below[2], LAUNCH);
	assert_int_equal(below[3], KERNEL);
	tl_tree_nodes(f.tree, &n);
	assert_int_equal(n, 11);
	const tl_row *unlinked = tl_tree_unlinked_events(f.tree, &n);
	assert_int_equal(n, 1);
	assert_int_equal(unlinked[0], LONELY);
	assert_true(tl_tree_is_linked(f.tree, KERNEL));
	assert_false(tl_tree_is_linked(f.tree, LONELY));
	assert_true(tl_tree_has_python(f.tree));
	assert_ptr_equal(tl_tree_trace(f.tree), &f.trace);
	assert_int_equal(tl_events_count(tl_tree_events(f.tree)), 12);
	tl_fixture_free(&f);
}

static void modules(void **state)
{
	(void)state;
	tl_fixture f;
	make(&f);
	tl_row children[4];
	assert_true(tl_tree_is_module(f.tree, A));
	assert_false(tl_tree_is_module(f.tree, FRAME));
	assert_false(tl_tree_is_module(f.tree, XB));
	assert_int_equal(tl_tree_module_children(f.tree, A, children, 4), 2);
	assert_int_equal(children[0], B);
	assert_int_equal(children[1], C);
	assert_int_equal(tl_tree_module_children(f.tree, FRAME, children, 1), 2); /* asked of any event */
	assert_int_equal(children[0], B);
	assert_int_equal(tl_tree_module_children(f.tree, B, NULL, 0), 0);
	/* [01-M2]: the parent is a module, whoever was asked before */
	assert_int_equal(tl_tree_module_parent(f.tree, B), A);
	assert_int_equal(tl_tree_module_parent(f.tree, XB), B);
	assert_int_equal(tl_tree_module_parent(f.tree, XF), A);
	assert_int_equal(tl_tree_module_parent(f.tree, A), TL_ROW_NONE);
	assert_int_equal(tl_tree_module_parent(f.tree, XY), TL_ROW_NONE);
	tl_fixture_free(&f);
}

static void bad_uids_are_answered(void **state)
{
	(void)state;
	tl_fixture f;
	make(&f);
	static const tl_row unknown[] = {LONELY + 1, TL_ROW_NONE};
	for (size_t i = 0; i < 2; i++) {
		size_t n;
		assert_int_equal(tl_tree_parent(f.tree, unknown[i]), TL_ROW_NONE);
		assert_int_equal(tl_tree_children(f.tree, unknown[i], NULL, 0), 0);
		tl_tree_gpu_events(f.tree, unknown[i], &n);
		assert_int_equal(n, 0);
		tl_tree_subtree(f.tree, unknown[i], &n);
		assert_int_equal(n, 0);
		assert_false(tl_tree_is_linked(f.tree, unknown[i]));
		assert_false(tl_tree_is_module(f.tree, unknown[i]));
		assert_int_equal(tl_tree_module_parent(f.tree, unknown[i]), TL_ROW_NONE);
		assert_int_equal(tl_tree_module_children(f.tree, unknown[i], NULL, 0), 0);
		assert_int_equal(tl_tree_forward(f.tree, unknown[i]), TL_ROW_NONE);
		assert_int_equal(tl_tree_backward(f.tree, unknown[i], NULL, 0), 0);
	}
	assert_int_equal(tl_events_count(tl_tree_events(NULL)), 0);
	tl_fixture_free(&f);
}

/* An edit gives new names and new nodes, which the next who asks sees. */
static void names_after_an_edit(void **state)
{
	(void)state;
	tl_fixture f;
	make(&f);
	tl_edit *edit;
	tl_row added;
	expect_named(f.tree, "x", 4, (tl_row[]){XY, XB, XF, KERNEL});
	assert_int_equal(tl_edit_begin(&edit, f.tree, NULL), 0);
	assert_int_equal(tl_edit_rename(edit, XB, "renamed", NULL), 0);
	assert_int_equal(tl_edit_append(edit, &added, "x", XF, XF, TL_ROW_NONE, NULL), 0);
	assert_int_equal(tl_edit_commit(edit, NULL), 0);
	expect_named(f.tree, "x", 4, (tl_row[]){XY, XF, added, KERNEL});
	expect_named(f.tree, "renamed", 1, (tl_row[]){XB});
	assert_int_equal(tl_events_count(tl_tree_events(f.tree)), LONELY + 2);
	assert_string_equal(tl_event_name(tl_tree_events(f.tree), added, NULL), "x");
	tl_fixture_free(&f);
}

static void *look_up(void *user)
{
	const tl_tree *tree = user;
	const tl_row *rows;
	size_t n;
	return (void *)(uintptr_t)(tl_tree_named(&rows, &n, tree, "x", NULL) != 0 || n != 4);
}

static void threads_may_ask_at_once(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		tl_fixture f;
		pthread_t thread[4];
		make(&f);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, look_up, f.tree), 0);
		for (size_t i = 0; i < 4; i++) {
			void *failed;
			pthread_join(thread[i], &failed);
			assert_null(failed);
		}
		tl_fixture_free(&f);
	}
}

static int named(void *tree)
{
	const tl_row *rows;
	size_t found;
	int code = tl_tree_named(&rows, &found, tree, "x", NULL);
	assert_int_equal(found, code == 0 ? 4 : 0);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	tl_fixture f;
	make(&f);
	assert_true(fail_each_allocation(named, f.tree) > 0);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_by_name),           cmocka_unit_test(all_names),
		cmocka_unit_test(roots_and_subtrees),      cmocka_unit_test(modules),
		cmocka_unit_test(bad_uids_are_answered),   cmocka_unit_test(names_after_an_edit),
		cmocka_unit_test(threads_may_ask_at_once), cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
