/* SPDX-License-Identifier: MIT */
/* Forward and backward halves: spec 01 section 4.10 and [01-T17]. */
#include "tree/tree_fixture.h"

#define BACKWARD "autograd::engine::evaluate_function: XBackward0"

static tl_row op(tl_fixture *f, const char *name, tl_id pid, tl_id tid, double start, double dur, tl_id sequence,
		 tl_id fwd_thread)
{
	tl_row row = tl_fixture_op(f->store, name, pid, tid, start, dur);
	tl_op_args *args = tl_fixture_op_args(f->store, row);
	args->sequence = sequence;
	args->fwd_thread = fwd_thread;
	return row;
}

/* One forward event of several: the innermost, which is the latest; one backward: the first. */
static void innermost_forward_and_first_backward(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row second = op(&f, BACKWARD, 1, 2, 200, 5, 7, 1), first = op(&f, BACKWARD, 1, 2, 100, 5, 7, 1);
	op(&f, "XBackward0", 1, 2, 101, 3, 7, 1);
	tl_row inner = op(&f, "aten::mse_loss", 1, 1, 11, 5, 7, 0);
	tl_row outer = op(&f, "loss", 1, 1, 10, 10, 7, 0);
	tl_row lone = op(&f, "aten::add", 1, 1, 30, 5, 8, 0);
	op(&f, "none", 1, 1, 40, 5, TL_ID_NONE, 0);
	tl_fixture_build(&f, false);
	assert_int_equal(f.tree->n_links, 1);
	assert_int_equal(tl__tree_forward_of(f.tree, first), inner);
	assert_int_equal(tl__tree_forward_of(f.tree, second), TL_ROW_NONE);
	size_t at;
	assert_int_equal(tl__tree_backward_of(f.tree, inner, &at), 1);
	assert_int_equal(f.tree->links[at].backward, first);
	assert_int_equal(tl__tree_backward_of(f.tree, outer, &at), 0);
	assert_int_equal(tl__tree_backward_of(f.tree, lone, &at), 0);
	tl_fixture_free(&f);
}

/* Autograd on the thread of the forward pass. */
static void same_thread(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row forward = op(&f, "aten::mm", 1, 1, 10, 5, 7, 0), backward = op(&f, BACKWARD, 1, 1, 100, 10, 7, 1);
	op(&f, "MmBackward0", 1, 1, 101, 5, 7, 1);
	tl_row orphan = op(&f, BACKWARD, 1, 1, 200, 10, 8, 1);
	op(&f, "MmBackward0", 1, 1, 201, 5, 8, 1);
	op(&f, "later", 1, 1, 300, 5, 8, 0);
	tl_fixture_build(&f, false);
	assert_int_equal(tl__tree_forward_of(f.tree, backward), forward);
	assert_int_equal(tl__tree_forward_of(f.tree, orphan), TL_ROW_NONE);
	tl_fixture_free(&f);
}

/* Ranks and processes count on their own. */
static void processes_do_not_mix(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row forward[2], backward[2];
	for (int p = 0; p < 2; p++) {
		forward[p] = op(&f, "aten::mm", (tl_id)p + 1, 1, 10 + p, 5, 7, 0);
		backward[p] = op(&f, BACKWARD, (tl_id)p + 1, 2, 100 - p, 5, 7, 1);
	}
	tl_fixture_build(&f, false);
	for (int p = 0; p < 2; p++)
		assert_int_equal(tl__tree_forward_of(f.tree, backward[p]), forward[p]);
	tl_fixture_free(&f);
}

/* Two forward threads with one number: `Fwd thread id`, known from other numbers, tells them apart. */
static void forward_threads_by_other_numbers(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	/* A number with one backward event but two candidates teaches nothing; the latest is taken. */
	op(&f, "aten::mm", 1, 1, 1, 1, 6, 0);
	tl_row latest = op(&f, "aten::mm", 1, 2, 2, 1, 6, 0), lone = op(&f, BACKWARD, 1, 3, 90, 5, 6, 1);
	tl_row a = op(&f, "aten::mm", 1, 1, 10, 5, 7, 0), b = op(&f, "aten::mm", 1, 2, 12, 5, 7, 0);
	tl_row ba = op(&f, BACKWARD, 1, 3, 100, 5, 7, 1), bb = op(&f, BACKWARD, 1, 3, 110, 5, 7, 2);
	tl_row c = op(&f, "aten::mm", 1, 1, 20, 5, 8, 0), bc = op(&f, BACKWARD, 1, 3, 120, 5, 8, 1);
	tl_row d = op(&f, "aten::mm", 1, 2, 22, 5, 9, 0), bd = op(&f, BACKWARD, 1, 3, 130, 5, 9, 2);
	tl_fixture_build(&f, false);
	assert_int_equal(f.tree->n_links, 5);
	assert_int_equal(tl__tree_forward_of(f.tree, lone), latest);
	assert_int_equal(tl__tree_forward_of(f.tree, ba), a);
	assert_int_equal(tl__tree_forward_of(f.tree, bb), b);
	assert_int_equal(tl__tree_forward_of(f.tree, bc), c);
	assert_int_equal(tl__tree_forward_of(f.tree, bd), d);
	tl_fixture_free(&f);
}

/* ... or from a fwdbwd arrow. Without either nothing is guessed. */
static void forward_threads_by_arrows(void **state)
{
	(void)state;
	for (int arrows = 0; arrows < 2; arrows++) {
		tl_fixture f;
		tl_fixture_new(&f);
		tl_row a = op(&f, "aten::mm", 1, 1, 10, 5, 7, 0), b = op(&f, "aten::mm", 1, 2, 12, 5, 7, 0);
		tl_row ba = op(&f, BACKWARD, 1, 3, 100, 5, 7, 1), bb = op(&f, BACKWARD, 1, 3, 110, 5, 7, 2);
		op(&f, "MmBackward0", 1, 3, 101, 2, 7, 1);
		op(&f, "MmBackward0", 1, 3, 111, 2, 7, 2);
		if (arrows) {
			tl_fixture_flow(f.store, TL_KIND_FWDBWD, 's', 1, 1, 1, 10);
			tl_fixture_flow(f.store, TL_KIND_FWDBWD, 'f', 1, 1, 3, 101);
			tl_fixture_flow(f.store, TL_KIND_FWDBWD, 's', 2, 1, 2, 12);
			tl_fixture_flow(f.store, TL_KIND_FWDBWD, 'f', 2, 1, 3, 111);
		}
		tl_fixture_build(&f, false);
		assert_int_equal(tl__tree_forward_of(f.tree, ba), arrows ? a : TL_ROW_NONE);
		assert_int_equal(tl__tree_forward_of(f.tree, bb), arrows ? b : TL_ROW_NONE);
		tl_fixture_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(innermost_forward_and_first_backward),
		cmocka_unit_test(same_thread),
		cmocka_unit_test(processes_do_not_mix),
		cmocka_unit_test(forward_threads_by_other_numbers),
		cmocka_unit_test(forward_threads_by_arrows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
