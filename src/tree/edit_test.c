/* SPDX-License-Identifier: MIT */
/* Edits of a tree, one by one: what they change, what they refuse, and that a failure changes nothing. */
#include "tree/edit_fixture.h"
#include "tree/recompute.h"

/*
 * 0 op { 1 op { 2 launch -> 3 kernel, 4 launch -> 5 kernel, 6 memcpy }, 7 op }, 8 op of thread 2, 9 kernel without
 * launch, 10 annotation, 11 python frame over all of thread 1 (in the tree on request).
 */
static void fill(tl_store *s)
{
	tl_row op = tl_fixture_op(s, "aten::linear", 1, 1, 100, 50);
	tl_fixture_op(s, "aten::addmm", 1, 1, 105, 40);
	tl_fixture_launch(s, "cudaLaunchKernel", 1, 1, 110, 5, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 200, 30, 1);
	tl_fixture_launch(s, "cudaGraphLaunch", 1, 1, 120, 5, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "add", 0, 7, 240, 10, 2);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "Memcpy DtoD", 0, 7, 260, 4, 2);
	tl_fixture_op(s, "aten::t", 1, 1, 146, 2);
	tl_fixture_op(s, "aten::relu", 1, 2, 100, 10);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "lost", 0, 7, 300, 8, TL_ID_NONE);
	tl_fixture_event(s, TL_KIND_ANNOTATION, "step", 1, 1, 90, 100);
	tl_fixture_python(s, "train.py(1): step", 1, 1, 90, 100, TL_ID_NONE, TL_ID_NONE);
	tl_op_args *args = tl_fixture_op_args(s, op);
	args->dims = tl__interns(s->strings, "[[2,3]]");
	args->sequence = 7;
}

static void start(tl_fixture *f, bool with_python)
{
	tl_fixture_new(f);
	fill(f->store);
	tl_fixture_build(f, with_python);
}

#define assert_shape(t, text) assert_string_equal(tl_fixture_shape(t), text)
#define BEFORE "0(1(2(*3) 4(*5*6)) 7) 8"

static void test_nothing_changed(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	assert_shape(f.tree, BEFORE);
	const tl_store *store = f.tree->store;
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_count(e), 12);
	tl_edit *second;
	assert_int_equal(tl_edit_begin(&second, f.tree, NULL), TL_EINVAL);
	assert_null(second);
	tl_edit_abort(e);
	tl_edit_abort(NULL);
	assert_ptr_equal(f.tree->store, store);
	assert_int_equal(f.tree->generation, 0);
	tl_fixture_commit(tl_fixture_edit(&f));
	assert_int_equal(f.tree->generation, 1);
	assert_shape(f.tree, BEFORE);
	tl_fixture_check(&f);
	tl_fixture_check_edited(f.tree);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].count, 1);
	tl_fixture_free(&f);
}

static void test_reading(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	tl_row gpu[2];
	assert_string_equal(tl_edit_name(e, 3), "gemm");
	assert_string_equal(tl_edit_name(e, 99), "");
	assert_int_equal(tl_edit_parent(e, 3), 2);
	assert_int_equal(tl_edit_parent(e, 0), TL_ROW_NONE);
	assert_int_equal(tl_edit_parent(e, 9), TL_ROW_NONE);
	assert_int_equal(tl_edit_parent(e, TL_ROW_NONE), TL_ROW_NONE);
	assert_int_equal(tl_edit_first_child(e, TL_ROW_NONE), 0);
	assert_int_equal(tl_edit_next_sibling(e, 0), 8);
	assert_int_equal(tl_edit_first_child(e, 4), 5);
	assert_int_equal(tl_edit_next_sibling(e, 5), 6);
	assert_int_equal(tl_edit_next_sibling(e, 6), TL_ROW_NONE);
	assert_int_equal(tl_edit_gpu_events(e, 0, gpu, 2), 3);
	assert_int_equal(gpu[1], 5);
	assert_int_equal(tl_edit_gpu_events(e, 5, NULL, 0), 0);
	assert_int_equal(tl_edit_start(e, 3), 200 * TL_PS_PER_US);
	assert_int_equal(tl_edit_duration(e, 99), TL_TIME_NONE);
	assert_true(tl_edit_is_gpu(e, 9) && !tl_edit_in_tree(e, 9) && tl_edit_in_tree(e, 3));
	const tl_row order[] = {1, 2, 3, 4, 5, 6};
	tl_row at = tl_edit_next(e, 1, 1);
	for (size_t i = 1; i < 6; i++, at = tl_edit_next(e, at, 1))
		assert_int_equal(at, order[i]);
	assert_int_equal(at, TL_ROW_NONE);
	tl_edit_abort(e);
	tl_fixture_free(&f);
}

/* ---- each change, before and after ---- */

static void test_append(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	tl_row a, b, c;
	assert_int_equal(tl_edit_append(e, &a, "first", 2, 1, 2, NULL), 0);
	assert_int_equal(tl_edit_append(e, &b, "last", 8, 1, TL_ROW_NONE, NULL), 0);
	assert_int_equal(tl_edit_append(e, &c, "root", 3, TL_ROW_NONE, 8, NULL), 0);
	assert_int_equal(a, 12);
	assert_int_equal(b, 13);
	assert_int_equal(c, 14);
	assert_string_equal(tl_edit_category(e, c), "cpu_op");
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(1(12 2(*3) 4(*5*6) 13) 7) 14 8");
	const tl_store *s = f.tree->store;
	assert_int_equal(s->start[12], 110 * TL_PS_PER_US);
	assert_int_equal(s->dur[12], 5 * TL_PS_PER_US);
	assert_int_equal(s->track[13], s->track[8]);
	assert_int_equal(f.trace.store->n, 12); /* the trace has not changed */
	assert_string_equal(tl__name(s, 14), "root");
	assert_int_equal(tl_tree_parent(f.tree, 13), 1);
	tl_fixture_check_edited(f.tree);
	/* the next edit counts on */
	e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_append(e, &a, "again", 0, 14, TL_ROW_NONE, NULL), 0);
	assert_int_equal(a, 15);
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(1(12 2(*3) 4(*5*6) 13) 7) 14(15) 8");
	assert_int_equal(f.tree->generation, 2);
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

static void test_wrap(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	tl_row a, b;
	assert_int_equal(tl_edit_wrap(e, &a, "inner", 0, NULL), 0);
	assert_int_equal(tl_edit_wrap(e, &b, "kernels", 4, NULL), 0);
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(12(1(2(*3) 4(13(*5*6))) 7)) 8");
	const tl_store *s = f.tree->store;
	assert_int_equal(s->start[a], s->start[0]);
	assert_int_equal(s->dur[a], s->dur[0]);
	assert_int_equal(tl__tree_gpu_count(f.tree, f.tree->pos_of_row[a]), 3);
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

static void test_insert_above(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	tl_row row;
	assert_int_equal(tl_edit_insert_above(e, &row, "above launch", 2, NULL), 0);
	assert_int_equal(tl_edit_insert_above(e, &row, "above root", 0, NULL), 0);
	assert_int_equal(tl_edit_insert_above(e, &row, "above kernel", 5, NULL), 0);
	tl_fixture_commit(e);
	assert_shape(f.tree, "13(0(1(12(2(*3)) 4(14(*5)*6)) 7)) 8");
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

static void test_isolate(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	const tl_row alone = 3, one_of_two = 6;
	tl_row a, b;
	const char *text;
	assert_int_equal(tl_edit_isolate(e, &a, "all of a launch", &alone, 1, NULL), 0);
	assert_int_equal(tl_edit_isolate(e, &b, "one of a graph", &one_of_two, 1, NULL), 0);
	assert_int_equal(tl_edit_arg(&text, e, a, "External id"), 0);
	assert_string_equal(text, "1");
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(1(12(2(*3)) 13(*6) 4(*5)) 7) 8");
	const tl_store *s = f.tree->store;
	assert_int_equal(s->start[a], s->start[2]);
	assert_int_equal(s->dur[a], s->dur[2]);
	assert_int_equal(s->track[a], s->track[1]);
	tl_fixture_check_edited(f.tree);

	/* all events of a launch, and events below an operation itself */
	e = tl_fixture_edit(&f);
	const tl_row below_op = 6, last = 5;
	assert_int_equal(tl_edit_isolate(e, &a, "below", &below_op, 1, NULL), 0);
	assert_int_equal(tl_edit_isolate(e, &b, "last", &last, 1, NULL), 0);
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(1(12(2(*3)) 13(14(*6)) 15(4(*5))) 7) 8");
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

static void test_isolate_several_of_a_launch(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	const tl_row both[] = {6, 5}, twice[] = {5, 5}, mixed[] = {3, 5};
	assert_int_equal(tl_edit_isolate(e, NULL, "twice", twice, 2, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_isolate(e, NULL, "two launches", mixed, 2, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_isolate(e, NULL, "none", both, 0, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_isolate(e, NULL, "graph", both, 2, NULL), 0);
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(1(2(*3) 12(4(*5*6))) 7) 8");
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

static void test_reparent(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_reparent(e, 4, 0, 1, NULL), 0);           /* before a sibling of its parent */
	assert_int_equal(tl_edit_reparent(e, 7, TL_ROW_NONE, 0, NULL), 0); /* a root before the first */
	assert_int_equal(tl_edit_reparent(e, 3, 4, 6, NULL), 0);           /* a GPU event among others */
	assert_int_equal(tl_edit_reparent(e, 9, 2, TL_ROW_NONE, NULL), 0); /* one without launch comes in */
	assert_int_equal(tl_edit_reparent(e, 8, 4, 5, NULL), 0);           /* host events stay before GPU events */
	assert_int_equal(tl_edit_reparent(e, 8, 4, 8, NULL), 0);           /* where it is */
	tl_fixture_commit(e);
	assert_shape(f.tree, "7 0(4(8*5*3*6) 1(2(*9)))");
	assert_int_equal(f.tree->n_unlinked, 0);
	assert_int_equal(f.tree->unlinked_time, 0);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].count, 0);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].time, 0);
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

/* Kernels that two processes could have launched: an edit gives one its place. */
static void test_reparent_ambiguous(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row launch = tl_fixture_launch(f.store, "cudaGraphLaunch", 83, 1, 10, 5, 42);
	tl_fixture_launch(f.store, "cudaGraphLaunch", 84, 1, 10, 5, 42);
	tl_row a = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, 7, 20, 1, 42);
	tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 1, 7, 20, 2, 42);
	tl_fixture_gpu(f.store, TL_KIND_KERNEL, "lost", 1, 7, 30, 4, 43);
	tl_fixture_build(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_reparent(e, a, launch, TL_ROW_NONE, NULL), 0);
	tl_fixture_commit(e);
	tl_time time;
	assert_int_equal(tl_tree_unlinked(f.tree, &time), 2);
	assert_int_equal(time, 6 * TL_PS_PER_US);
	assert_int_equal(tl_tree_ambiguous(f.tree, &time), 1);
	assert_int_equal(time, 2 * TL_PS_PER_US);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_AMBIGUOUS_RANKS].count, 1);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_AMBIGUOUS_RANKS].time, 2 * TL_PS_PER_US);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].count, 1);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].time, 4 * TL_PS_PER_US);
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

static void test_detach(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_detach(e, 1, NULL), 0); /* children take its place */
	assert_int_equal(tl_edit_detach(e, 5, NULL), 0); /* a GPU event */
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(2(*3) 4(*6) 7) 8");
	assert_int_equal(f.tree->n_unlinked, 2);
	assert_int_equal(f.tree->unlinked_time, 18 * TL_PS_PER_US);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].count, 2);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].time, 18 * TL_PS_PER_US);
	tl_fixture_check_edited(f.tree);
	e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_detach(e, 0, NULL), 0);
	assert_int_equal(tl_edit_detach(e, 2, NULL), 0); /* a launch that is a root: its kernel loses its launch */
	assert_int_equal(tl_edit_detach(e, 2, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_reparent(e, 1, 7, TL_ROW_NONE, NULL), 0); /* back in, alone */
	tl_fixture_commit(e);
	assert_shape(f.tree, "4(*6) 7(1) 8");
	assert_int_equal(f.tree->n_unlinked, 3);
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

static void test_events(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, true);
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_rename(e, 1, "renamed", NULL), 0);
	assert_int_equal(tl_edit_set_category(e, 11, "cpu_op", NULL), 0);
	assert_int_equal(tl_edit_set_category(e, 7, "python_function", NULL), 0);
	assert_int_equal(tl_edit_set_category(e, 5, "gpu_memset", NULL), 0);
	assert_int_equal(tl_edit_set_category(e, 10, "anything", NULL), 0); /* outside the tree */
	assert_int_equal(tl_edit_set_time(e, 8, 5, 6, NULL), 0);
	assert_int_equal(tl_edit_set_thread(e, 8, 0, NULL), 0);
	assert_string_equal(tl_edit_name(e, 1), "renamed");
	assert_string_equal(tl_edit_category(e, 5), "gpu_memset");
	/* nobody else sees that yet */
	assert_string_equal(tl__name(f.tree->store, 1), "aten::addmm");
	tl_fixture_commit(e);
	const tl_store *s = f.tree->store;
	assert_string_equal(tl__name(s, 1), "renamed");
	assert_int_equal(s->kind[11], TL_KIND_CPU_OP);
	assert_null(tl__op_args(s, 11)); /* its Python ids are gone */
	assert_null(tl__python_args(s, 11));
	assert_int_equal(s->kind[7], TL_KIND_PYTHON);
	assert_int_equal(s->kind[5], TL_KIND_MEMSET);
	assert_int_equal(tl__link_args(s, 5)->correlation, 2);
	assert_int_equal(s->start[8], 5);
	assert_int_equal(s->dur[8], 6);
	assert_int_equal(s->flags[8], TL_EVENT_TS_FRACTION | TL_EVENT_DUR_FRACTION);
	assert_int_equal(s->track[8], s->track[0]);
	assert_string_equal(tl__name(f.trace.store, 1), "aten::addmm");
	assert_int_equal(f.trace.store->kind[11], TL_KIND_PYTHON);
	tl_fixture_free(&f);
}

static void assert_arg(tl_edit *e, tl_row row, const char *key, const char *expected)
{
	const char *text;
	assert_int_equal(tl_edit_arg(&text, e, row, key), 0);
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void test_arguments(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	assert_arg(e, 0, "Input Dims", "[[2,3]]");
	assert_arg(e, 0, "Sequence number", "7");
	assert_arg(e, 0, "Input type", NULL);
	assert_arg(e, 3, "correlation", "1");
	assert_arg(e, 1, "Input Dims", NULL);
	assert_arg(e, 99, "Input Dims", NULL);

	assert_int_equal(tl_edit_copy_args(e, 7, 0, NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "Input type", " [ \"c10::Half\" , \"a b\" ] ", NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "Sequence number", "12", NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "MoE topk", " 8 ", NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "v4_mode", "\"swa\"", NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "gone", "true", NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "gone", NULL, NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "never", NULL, NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 2, "on a launch", "1.5", NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 7, "v4_mode", "\"csa\"", NULL), 0);
	assert_arg(e, 7, "Input Dims", "[[2,3]]");
	assert_arg(e, 7, "Input type", "[\"c10::Half\",\"a b\"]");
	assert_arg(e, 7, "Sequence number", "12");
	assert_arg(e, 7, "MoE topk", "8");
	assert_arg(e, 7, "gone", NULL);
	tl_fixture_commit(e);
	const tl_store *s = f.tree->store;
	size_t n;
	const tl_extra *extra = tl__store_extras(s, 7, &n);
	assert_int_equal(n, 2);
	assert_string_equal(tl__str(s->strings, extra[0].key), "MoE topk");
	assert_string_equal(tl__str(s->strings, extra[0].value), "8");
	assert_string_equal(tl__str(s->strings, extra[1].value), "\"csa\"");
	assert_int_equal(tl__store_extras(s, 2, &n)->row, 2);
	assert_int_equal(n, 1);
	tl__store_extras(s, 0, &n);
	assert_int_equal(n, 0);
	assert_int_equal(tl__op_args(s, 7)->sequence, 12);

	/* the next edit finds them again, can remove one and put it back */
	e = tl_fixture_edit(&f);
	assert_arg(e, 7, "v4_mode", "\"csa\"");
	assert_int_equal(tl_edit_set_arg(e, 7, "MoE topk", "null", NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 2, "on a launch", NULL, NULL), 0);
	assert_int_equal(tl_edit_set_arg(e, 2, "on a launch", "2", NULL), 0);
	assert_int_equal(tl_edit_copy_args(e, 7, 3, NULL), 0); /* a kernel has none of them */
	assert_arg(e, 7, "Input Dims", NULL);
	assert_arg(e, 7, "Sequence number", NULL);
	tl_fixture_commit(e);
	tl__store_extras(f.tree->store, 7, &n);
	assert_int_equal(n, 1);
	tl__store_extras(f.tree->store, 2, &n);
	assert_int_equal(n, 1);
	tl_fixture_free(&f);
}

static void test_links(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_link(e, 1, 8, NULL), 0);
	assert_int_equal(tl_edit_link(e, 1, 7, NULL), 0);
	assert_int_equal(tl_edit_link(e, 1, 8, NULL), 0);
	assert_int_equal(tl_edit_link(e, 0, 2, NULL), 0);
	assert_int_equal(tl_edit_link(e, 1, 1, NULL), TL_EINVAL);
	tl_fixture_commit(e);
	size_t first;
	assert_int_equal(f.tree->n_links, 3);
	assert_int_equal(tl__tree_backward_of(f.tree, 1, &first), 2);
	assert_int_equal(f.tree->links[first].backward, 7);
	assert_int_equal(tl__tree_forward_of(f.tree, 8), 1);
	e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_link(e, 1, 7, NULL), 0); /* known already */
	tl_fixture_commit(e);
	assert_int_equal(f.tree->n_links, 3);
	tl_fixture_free(&f);
}

/* Marks of recomputation follow the edited tree. */
static void test_recompute_marks_stay(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, true);
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_rename(e, 11, "torch/utils/checkpoint.py(1): recompute_fn", NULL), 0);
	tl_fixture_commit(e);
	size_t regions, events;
	assert_int_equal(tl_tree_mark_recompute(f.tree, &regions, &events, NULL), 0);
	assert_int_equal(regions, 1);
	assert_int_equal(events, 9);
	tl_row row;
	e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_wrap(e, &row, "inside", 11, NULL), 0);
	assert_int_equal(tl_edit_reparent(e, 7, TL_ROW_NONE, TL_ROW_NONE, NULL), 0);
	assert_int_equal(tl_edit_reparent(e, 8, 1, TL_ROW_NONE, NULL), 0);
	tl_fixture_commit(e);
	assert_true(tl__tree_is_recompute(f.tree, row));
	assert_false(tl__tree_is_recompute(f.tree, 7));
	assert_true(tl__tree_is_recompute(f.tree, 8));
	tl_fixture_free(&f);
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	const tl_row host = 2, unlinked = 9;
	tl_error err;
#define assert_refused(call, words)                                      \
	do {                                                             \
		err = (tl_error)TL_ERROR_INIT;                           \
		assert_int_equal(call, TL_EINVAL);                       \
		assert_int_equal(err.code, TL_EINVAL);                   \
		if (!strstr(err.message, words))                         \
			fail_msg("'%s' lacks '%s'", err.message, words); \
	} while (0)
	assert_refused(tl_edit_rename(e, 12, "x", &err), "no event 12");
	assert_refused(tl_edit_reparent(e, 0, 0, TL_ROW_NONE, &err), "itself");
	assert_refused(tl_edit_reparent(e, 0, 4, TL_ROW_NONE, &err), "below it");
	assert_refused(tl_edit_reparent(e, 0, 1, TL_ROW_NONE, &err), "below it");
	assert_refused(tl_edit_reparent(e, 8, 3, TL_ROW_NONE, &err), "GPU work and has no children");
	assert_refused(tl_edit_reparent(e, 8, 9, TL_ROW_NONE, &err), "not in the tree");
	assert_refused(tl_edit_reparent(e, 8, 77, TL_ROW_NONE, &err), "no event 77");
	assert_refused(tl_edit_reparent(e, 77, 0, TL_ROW_NONE, &err), "no event 77");
	assert_refused(tl_edit_reparent(e, 8, 0, 2, &err), "no child of the new parent");
	assert_refused(tl_edit_reparent(e, 3, TL_ROW_NONE, TL_ROW_NONE, &err), "needs a parent");
	assert_refused(tl_edit_reparent(e, 10, 0, TL_ROW_NONE, &err), "neither host nor GPU");
	assert_refused(tl_edit_reparent(e, 11, 0, TL_ROW_NONE, &err), "without them");
	assert_refused(tl_edit_append(e, NULL, "x", 12, 0, TL_ROW_NONE, &err), "no event 12");
	assert_refused(tl_edit_append(e, NULL, "x", 0, 3, TL_ROW_NONE, &err), "has no children");
	assert_refused(tl_edit_wrap(e, NULL, "x", 7, &err), "no children");
	assert_refused(tl_edit_wrap(e, NULL, "x", 3, &err), "no children");
	assert_refused(tl_edit_wrap(e, NULL, "x", 10, &err), "not in the tree");
	assert_refused(tl_edit_insert_above(e, NULL, "x", 9, &err), "not in the tree");
	assert_refused(tl_edit_detach(e, 10, &err), "not in the tree");
	assert_refused(tl_edit_isolate(e, NULL, "x", &host, 1, &err), "no GPU work");
	assert_refused(tl_edit_isolate(e, NULL, "x", &unlinked, 1, &err), "not in the tree");
	assert_refused(tl_edit_set_category(e, 3, "cpu_op", &err), "GPU work");
	assert_refused(tl_edit_set_category(e, 1, "kernel", &err), "GPU work");
	assert_refused(tl_edit_set_category(e, 1, "python_function", &err), "no place");
	assert_refused(tl_edit_set_category(e, 1, "whatever", &err), "no place");
	assert_refused(tl_edit_set_time(e, 1, TL_TIME_NONE, 1, &err), "start");
	assert_refused(tl_edit_set_time(e, 1, 1, -1, &err), "duration");
	const tl_time most = INT64_MAX / 4;
	assert_refused(tl_edit_set_time(e, 1, most + 1, 0, &err), "26 days");
	assert_refused(tl_edit_set_time(e, 1, -most - 1, 0, &err), "26 days");
	assert_refused(tl_edit_set_time(e, 1, 0, most + 1, &err), "26 days");
	assert_refused(tl_edit_set_thread(e, 1, 99, &err), "no event");
	assert_refused(tl_edit_set_arg(e, 1, "Input Dims", "[1", &err), "not one JSON value");
	assert_refused(tl_edit_set_arg(e, 1, "x", "1 2", &err), "not one JSON value");
	assert_refused(tl_edit_set_arg(e, 1, "x", "", &err), "not one JSON value");
	assert_refused(tl_edit_set_arg(e, 1, "Sequence number", "-1", &err), "whole number");
	assert_refused(tl_edit_set_arg(e, 1, "Sequence number", "99999999999999999999", &err), "whole number");
	assert_refused(tl_edit_set_arg(e, 1, "Sequence number", "\"7\"", &err), "whole number");
	assert_refused(tl_edit_set_arg(e, 3, "stream", "8", &err), "cannot be changed");
	assert_refused(tl_edit_copy_args(e, 2, 0, &err), "no operation");
	assert_refused(tl_edit_link(e, 1, 99, &err), "no event");
	/* and nothing has changed */
	assert_int_equal(tl_edit_count(e), 12);
	tl_fixture_commit(e);
	assert_shape(f.tree, BEFORE);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

static void test_times_that_cannot_be_given_on(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_fixture_op(f.store, "a", 1, 1, 0, 10);
	tl_fixture_op(f.store, "no start", 1, 1, TL_NO_TIME, 10);
	tl_fixture_op(f.store, "no duration", 1, 1, 20, TL_NO_TIME);
	tl_fixture_build(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	tl_row row;
	assert_int_equal(tl_edit_append(e, NULL, "x", 1, 0, TL_ROW_NONE, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_reparent(e, 1, 0, TL_ROW_NONE, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_append(e, &row, "x", 2, 0, TL_ROW_NONE, NULL), 0);
	assert_int_equal(tl_edit_duration(e, row), 0);
	assert_int_equal(tl_edit_set_time(e, 1, 4, 2, NULL), 0); /* now it has one */
	assert_int_equal(tl_edit_reparent(e, 1, 0, row, NULL), 0);
	tl_fixture_commit(e);
	assert_shape(f.tree, "0(1 3) 2");
	tl_fixture_free(&f);
}

static void test_empty_tree(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_fixture_build(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	assert_int_equal(tl_edit_first_child(e, TL_ROW_NONE), TL_ROW_NONE);
	assert_int_equal(tl_edit_append(e, NULL, "x", 0, TL_ROW_NONE, TL_ROW_NONE, NULL), TL_EINVAL);
	tl_fixture_commit(e);
	assert_int_equal(f.tree->n, 0);
	tl_fixture_free(&f);
}

/* ---- without memory ---- */

static int change_all(tl_edit *e)
{
	const tl_row kernel = 3;
	tl_row row;
	TL_TRY(tl_edit_isolate(e, &row, "isolated", &kernel, 1, NULL));
	TL_TRY(tl_edit_copy_args(e, row, 0, NULL));
	TL_TRY(tl_edit_set_arg(e, row, "MoE topk", "8", NULL));
	TL_TRY(tl_edit_set_arg(e, row, "Input Dims", "[[1,2]]", NULL));
	TL_TRY(tl_edit_wrap(e, &row, "wrapped", 0, NULL));
	TL_TRY(tl_edit_insert_above(e, &row, "above", 8, NULL));
	TL_TRY(tl_edit_append(e, &row, "new", 0, row, TL_ROW_NONE, NULL));
	TL_TRY(tl_edit_set_category(e, 1, "my_runtime", NULL));
	TL_TRY(tl_edit_rename(e, 1, "another", NULL));
	TL_TRY(tl_edit_link(e, 0, 8, NULL));
	return tl_edit_detach(e, 5, NULL);
}

/* NULL where a text or a list is needed is an error, and changes nothing. */
static void test_nothing_is_no_argument(void **state)
{
	(void)state;
	tl_fixture f;
	tl_edit *e;
	tl_row out;
	const char *text;
	start(&f, false);
	assert_int_equal(tl_edit_begin(&e, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_begin(&e, f.tree, NULL), 0);
	size_t count = tl_edit_count(e);
	assert_int_equal(tl_edit_rename(e, 0, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_set_category(e, 0, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_set_arg(e, 0, NULL, "1", NULL), TL_EINVAL);
	assert_int_equal(tl_edit_arg(&text, e, 0, NULL), 0);
	assert_null(text);
	assert_int_equal(tl_edit_append(e, &out, NULL, 0, TL_ROW_NONE, TL_ROW_NONE, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_wrap(e, &out, NULL, 0, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_insert_above(e, &out, NULL, 0, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_isolate(e, &out, "x", NULL, 1, NULL), TL_EINVAL);
	assert_int_equal(tl_edit_count(e), count);
	tl_edit_abort(e);
	tl_fixture_free(&f);
}

static void test_without_memory(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, true);
	assert_int_equal(tl_tree_mark_recompute(f.tree, NULL, NULL, NULL), 0);
	char *before = strdup(tl_fixture_shape(f.tree));
	assert_non_null(before);
	bool done = false;
	for (int64_t n = 0; !done; n++) {
		tl_edit *e = NULL;
		tl__alloc_fail_after(n);
		int code = tl_edit_begin(&e, f.tree, NULL);
		if (code == 0)
			code = change_all(e);
		if (code == 0)
			code = tl_edit_commit(e, NULL);
		tl__alloc_fail_after(-1);
		done = code == 0;
		if (!done) {
			assert_int_equal(code, TL_ENOMEM);
			assert_string_equal(tl_fixture_shape(f.tree), before);
			assert_int_equal(f.tree->generation, 0);
			tl_fixture_check_edited(f.tree);
			tl_edit_abort(e);
		}
	}
	free(before);
	assert_shape(f.tree, "11(0(13(1(12(2(*3)) 4(*6)) 7))) 14(8 15)");
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

/* A commit that fails can be tried again, and an edit goes on after a change that failed. */
static void test_going_on_after_failures(void **state)
{
	(void)state;
	tl_fixture f;
	start(&f, false);
	tl_edit *e = tl_fixture_edit(&f);
	for (int64_t n = 0; n < 40; n++) {
		tl__alloc_fail_after(0);
		(void)change_all(e);
		(void)tl_edit_commit(e, NULL);
		tl__alloc_fail_after(-1);
	}
	assert_int_equal(change_all(e), 0);
	int code = TL_ENOMEM;
	for (int64_t n = 0; code < 0; n++) {
		tl__alloc_fail_after(n);
		code = tl_edit_commit(e, NULL);
		tl__alloc_fail_after(-1);
	}
	tl_fixture_check_edited(f.tree);
	assert_int_equal(f.tree->generation, 1);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_changed),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_nothing_is_no_argument),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_insert_above),
		cmocka_unit_test(test_isolate),
		cmocka_unit_test(test_isolate_several_of_a_launch),
		cmocka_unit_test(test_reparent),
		cmocka_unit_test(test_reparent_ambiguous),
		cmocka_unit_test(test_detach),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_recompute_marks_stay),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_times_that_cannot_be_given_on),
		cmocka_unit_test(test_empty_tree),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_going_on_after_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
