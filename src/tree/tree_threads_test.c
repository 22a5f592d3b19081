/* SPDX-License-Identifier: MIT */
/* A tree built on two threads is the one that a single thread builds, of a trace with something for every step. */
#include <string.h>

#include "tree/tree_fixture.h"

enum { ROUNDS = 4000 }; /* times ten events: more than a tree that is built on one thread has */

/* An operation, mostly with a backward one, that launches a kernel; frames around, and now and then something odd. */
static void add_round(tl_store *s, int i)
{
	double at = 100.0 * i;
	tl_id thread = (tl_id)i % 3 + 1, stream = (tl_id)i % 2 + 7, correlation = (tl_id)i + 1, sequence = (tl_id)i;
	bool lost = i % 40 == 0; /* the end of a frame in an operation */
	tl_fixture_python(s, i % 50 ? "frame" : "<built-in method f>", 1, thread, lost ? at + 2 : at, lost ? 6000 : 90,
			  TL_ID_NONE, TL_ID_NONE);
	tl_row op = tl_fixture_op(s, "op", 1, thread, at + 1, i % 30 ? 40 : 95);
	tl_fixture_op_args(s, op)->sequence = sequence;
	tl_fixture_op(s, "inner", 1, thread, at + 2, i % 20 ? 30 : 60);
	tl_fixture_launch(s, i % 10 ? "launch" : "cudaGraphLaunch", 1, thread, at + 3, 5, correlation);
	if (i % 7)
		tl_fixture_flow(s, TL_KIND_FLOW, 's', correlation, 1, thread, at + 3);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "kernel", 0, stream, at + 10, i % 60 ? 50 : 2000, correlation);
	tl_fixture_flow(s, TL_KIND_FLOW, 'f', correlation, 0, stream, at + 10);
	if (i % 9 == 0)
		tl_fixture_gpu(s, TL_KIND_MEMCPY, "copy", 0, 9, at + 20, 5, 1000000 + correlation);
	tl_row backward = tl_fixture_op(s, "autograd::engine::evaluate_function: op", 1, 9, at + 50, 20);
	tl_fixture_op_args(s, backward)->sequence = sequence;
	tl_fixture_op_args(s, backward)->fwd_thread = thread;
	tl_fixture_op(s, "elsewhere", 1, 20 + (tl_id)(i % 5), at, 10);
}

static void assert_same_rows(const uint32_t *a, const uint32_t *b, size_t n)
{
	assert_true(n > 0);
	assert_memory_equal(a, b, n * sizeof *a);
}

static void assert_same(const tl_tree *a, const tl_tree *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_gpu, b->n_gpu);
	assert_int_equal(a->n_unlinked, b->n_unlinked);
	assert_int_equal(a->n_links, b->n_links);
	assert_same_rows(a->row, b->row, a->n);
	assert_same_rows(a->end, b->end, a->n);
	assert_same_rows(a->parent, b->parent, a->n);
	assert_same_rows(a->pos_of_row, b->pos_of_row, a->store->n);
	assert_same_rows(a->gpu, b->gpu, a->n_gpu);
	assert_same_rows(a->unlinked, b->unlinked, a->n_unlinked);
	assert_same_rows(a->links_by_backward, b->links_by_backward, a->n_links);
	assert_memory_equal(a->links, b->links, a->n_links * sizeof *a->links);
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++) {
		const tl_health_entry *x = &a->health.entry[kind], *y = &b->health.entry[kind];
		assert_int_equal(x->count, y->count);
		assert_int_equal(x->first_row, y->first_row);
		assert_int_equal(x->time, y->time);
		assert_string_equal(x->detail, y->detail);
	}
}

static void both_ways(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	for (int i = 0; i < ROUNDS; i++)
		add_round(f.store, i);
	for (int python = 0; python < 2; python++)
		for (int clips = 0; clips < 2; clips++) {
			tl_tree_options options = {.with_python = python, .clip_stream_overruns = clips};
			tl_tree *single;
			f.trace = (tl_trace){.store = f.store, .single_thread = true};
			assert_int_equal(tl_tree_build(&single, &f.trace, &options, NULL), 0);
			f.trace.single_thread = false;
			assert_int_equal(tl_tree_build(&f.tree, &f.trace, &options, NULL), 0);
			assert_same(single, f.tree);
			assert_true(f.tree->n_links > 0 && f.tree->n_unlinked > 0);
			static const tl_health_kind kinds[] = {TL_HEALTH_OVERLONG_PYTHON, TL_HEALTH_CLIPPED_SPAN,
							       TL_HEALTH_LINKED_WITHOUT_FLOW, TL_HEALTH_NO_LAUNCH};
			for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
				assert_true(tl_fixture_findings(&f, kinds[i]) > 0);
			assert_true(tl_fixture_findings(&f, clips ? TL_HEALTH_CLIPPED_OVERRUN
								  : TL_HEALTH_STREAM_OVERRUN) > 0);
			tl_fixture_check(&f);
			tl_tree_free(single);
			tl_tree_free(f.tree);
		}
	f.tree = NULL;
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways)};
	return cmocka_run_group_tests_name("two threads", tests, NULL, NULL);
}
