/* SPDX-License-Identifier: MIT */
/* Marks of activation checkpointing: regions of Python frames, their names, and a real trace. */
#include "tree/recompute.h"

#include <string.h>

#include "trace/corpus_fixture.h"
#include "tree/tree_fixture.h"

#define REGION_NAME "torch/utils/checkpoint.py(1234): recompute_fn"

/*
 * 0 frame { 1 region { 2 op { 3 launch -> 4 kernel }, 5 region { 6 op } } }, 7 op { 8 launch -> 9 kernel },
 * 10 an operation of the region's name on another thread.
 */
static void fill(tl_store *s)
{
	tl_fixture_python(s, "train.py(1): step", 1, 1, 0, 100, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_python(s, REGION_NAME, 1, 1, 10, 40, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_op(s, "aten::mm", 1, 1, 12, 8);
	tl_fixture_launch(s, "cudaLaunchKernel", 1, 1, 14, 2, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 200, 10, 1);
	tl_fixture_python(s, REGION_NAME, 1, 1, 30, 10, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_op(s, "aten::relu", 1, 1, 32, 2);
	tl_fixture_op(s, "aten::mm", 1, 1, 60, 10);
	tl_fixture_launch(s, "cudaLaunchKernel", 1, 1, 62, 2, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 220, 10, 2);
	tl_fixture_op(s, REGION_NAME, 1, 2, 10, 40);
}

static void test_regions_and_all_below_are_marked_once(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	fill(f.store);
	tl_fixture_build(&f, true);
	for (tl_row row = 0; row < f.store->n; row++)
		assert_false(tl__tree_is_recompute(f.tree, row));
	size_t regions, events;
	for (int time = 0; time < 2; time++) { /* marking again changes nothing */
		assert_int_equal(tl_tree_mark_recompute(f.tree, &regions, &events, NULL), 0);
		assert_int_equal(regions, 2);
		assert_int_equal(events, 6);
		for (tl_row row = 0; row < f.store->n; row++)
			assert_int_equal(tl__tree_is_recompute(f.tree, row), row >= 1 && row <= 6);
	}
	tl_fixture_free(&f);
}

static void test_a_name_needs_file_and_function(void **state)
{
	(void)state;
	tl_fixture f;
	size_t regions, events;
	tl_fixture_new(&f);
	tl_fixture_python(f.store, "torch/utils/checkpoint.py(1): unpack_hook", 1, 1, 0, 1, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_python(f.store, "mine.py(1): recompute_fn", 1, 1, 2, 1, TL_ID_NONE, TL_ID_NONE);
	tl_fixture_python(f.store, "/x/torch/utils/checkpoint.py(1): a.recompute_fn<b>", 1, 1, 4, 1, TL_ID_NONE,
			  TL_ID_NONE);
	tl_fixture_build(&f, true);
	assert_int_equal(tl_tree_mark_recompute(f.tree, &regions, &events, NULL), 0);
	assert_int_equal(regions, 1);
	assert_int_equal(events, 1);
	assert_true(tl__tree_is_recompute(f.tree, 2));
	tl_fixture_free(&f);
}

/* Without frames in the tree there is nothing to find; an empty tree is no trouble either. */
static void test_trees_without_frames(void **state)
{
	(void)state;
	size_t regions, events;
	for (int empty = 0; empty < 2; empty++) {
		tl_fixture f;
		tl_fixture_new(&f);
		if (!empty)
			fill(f.store);
		tl_fixture_build(&f, false);
		assert_int_equal(tl_tree_mark_recompute(f.tree, &regions, &events, NULL), 0);
		assert_int_equal(regions, 0);
		assert_int_equal(events, 0);
		tl_fixture_free(&f);
	}
}

static int mark(void *tree)
{
	tl_error err = TL_ERROR_INIT;
	int code = tl_tree_mark_recompute(tree, NULL, NULL, &err);
	assert_int_equal(err.code, code);
	assert_int_equal(tl__tree_is_recompute(tree, 4), code == 0);
	return code;
}

static void test_without_memory(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	fill(f.store);
	tl_fixture_build(&f, true);
	assert_true(fail_each_allocation(mark, f.tree) > 0);
	tl_fixture_free(&f);
}

static void test_checkpointed_resnet(void **state)
{
	(void)state;
	char path[4096];
	tl_trace *trace;
	tl_tree *tree;
	tl_corpus_needed(path, "corpus/pytorch/mi300_resnet_checkpointing.json.gz");
	assert_int_equal(tl_trace_open(&trace, path, NULL, NULL), 0);
	tl_tree_options options = {.with_python = true};
	assert_int_equal(tl_tree_build(&tree, trace, &options, NULL), 0);
	size_t regions, events, gpu = 0;
	assert_int_equal(tl_tree_mark_recompute(tree, &regions, &events, NULL), 0);
	assert_int_equal(regions, 12);
	for (size_t i = 0; i < tree->n_gpu; i++)
		gpu += tl__tree_is_recompute(tree, tree->gpu[i]);
	assert_true(gpu > 0 && gpu < tree->n_gpu);
	/* The reference's 10 302, no region lying in another, and the 24 memsets whose flow arrow it misses [01-T9]. */
	assert_int_equal(events, 10302 + 24);
	tl_tree_free(tree);
	tl_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regions_and_all_below_are_marked_once),
		cmocka_unit_test(test_a_name_needs_file_and_function),
		cmocka_unit_test(test_trees_without_frames),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_checkpointed_resnet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
