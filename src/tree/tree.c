/* SPDX-License-Identifier: MIT */
#include "tree/tree.h"

#include <string.h>

#include "tree/build.h"
#include "util/aside.h"

/* Smaller trees are built about as fast as a thread starts. */
#define ASIDE_FROM 20000

static int build_steps(tl_build *b)
{
	tl_tree *t = b->tree;
	size_t n = b->store->n;
	t->pos_of_row = tl__malloc((n + 1) * sizeof *t->pos_of_row);
	if (!t->pos_of_row)
		return TL_ENOMEM;
	memset(t->pos_of_row, 0xff, n * sizeof *t->pos_of_row); /* TL_POS_NONE */
	TL_TRY(tl__build_nest(b));
	TL_TRY(tl__build_launches(b));
	TL_TRY(tl__build_number(b));
	return tl__build_checks(t);
}

/* The steps that read the events and nothing of the tree; what they write, findings included, no other step touches. */
typedef struct side_steps {
	tl_build *b;
	bool overruns;
	int code;
} side_steps;

static void build_side_steps(void *user)
{
	side_steps *side = user;
	tl_tree *t = side->b->tree;
	int code = side->overruns ? tl__build_overruns(side->b, false) : 0;
	if (!code)
		code = tl__build_autograd(side->b);
	if (!code)
		code = tl__build_check_python(t);
	side->code = code;
}

static int build(tl_build *b, const tl_tree_options *options)
{
	tl_tree *t = b->tree;
	bool clips = options && options->clip_stream_overruns;
	TL_TRY(tl__build_parts(b));
	if (clips)
		TL_TRY(tl__build_overruns(b, true)); /* changes what all others read */
	b->store = t->store;
	side_steps side = {.b = b, .overruns = !clips};
	tl_aside aside;
	tl__aside_start(&aside, build_side_steps, &side, b->store->n >= ASIDE_FROM && !t->trace->single_thread);
	int code = build_steps(b);
	tl__aside_finish(&aside);
	return code < 0 ? code : side.code;
}

void tl__build_free(tl_build *b)
{
	tl__free(b->parts.host);
	tl__free(b->parts.gpu);
	tl__free(b->order);
	tl__free(b->parent);
	tl__free(b->end);
	tl__free(b->first);
}

int tl_tree_build(tl_tree **out, const tl_trace *trace, const tl_tree_options *options, tl_error *err)
{
	*out = NULL;
	if (!trace)
		return tl__fail(err, TL_EINVAL, "a tree needs a trace");
	if (trace->store->n >= TL_POS_NONE)
		return tl__fail(err, TL_ELIMIT, "more than %u events", TL_POS_NONE - 1);
	tl_tree *t = tl__calloc(1, sizeof *t);
	if (!t)
		return tl__nomem(err);
	t->trace = trace;
	t->store = trace->store;
	t->with_python = options && options->with_python;
	tl__health_clear(&t->health);
	tl_build b = {.tree = t, .store = t->store};
	int code = build(&b, options);
	tl__build_free(&b);
	if (code < 0) {
		tl_tree_free(t);
		return tl__nomem(err);
	}
	*out = t;
	return 0;
}

void tl_tree_free(tl_tree *t)
{
	if (!t)
		return;
	tl__free(t->row);
	tl__free(t->end);
	tl__free(t->parent);
	tl__free(t->gpu_before);
	tl__free(t->pos_of_row);
	tl__free(t->gpu);
	tl__free(t->unlinked);
	tl__free(t->ambiguous);
	tl__free(t->links);
	tl__free(t->links_by_backward);
	tl__free(t->recompute);
	tl__tree_free_names(t);
	tl__store_free(t->own_store);
	tl__free(t);
}

size_t tl_tree_count(const tl_tree *t)
{
	return t->n;
}

tl_row tl_tree_parent(const tl_tree *t, tl_row event)
{
	tl_pos pos = tl__pos_of(t, event);
	tl_pos parent = pos == TL_POS_NONE ? TL_POS_NONE : t->parent[pos];
	return parent == TL_POS_NONE ? TL_ROW_NONE : t->row[parent];
}

size_t tl_tree_children(const tl_tree *t, tl_row event, tl_row *out, size_t room)
{
	tl_pos pos = tl__pos_of(t, event);
	size_t n = 0;
	if (pos == TL_POS_NONE)
		return 0;
	for (tl_pos c = tl__tree_first_child(t, pos); c != TL_POS_NONE; c = tl__tree_next_sibling(t, c), n++)
		if (n < room)
			out[n] = t->row[c];
	return n;
}

const tl_row *tl_tree_gpu_events(const tl_tree *t, tl_row event, size_t *n)
{
	tl_pos pos = tl__pos_of(t, event);
	*n = 0;
	if (pos == TL_POS_NONE)
		return t->gpu;
	/* A GPU event is a leaf: nothing is below it. */
	if (!tl__kind_is_gpu(t->store->kind[event]))
		*n = tl__tree_gpu_count(t, pos);
	return tl__tree_gpu_rows(t, pos);
}

size_t tl_tree_unlinked(const tl_tree *t, tl_time *time)
{
	if (time)
		*time = t->unlinked_time;
	return t->n_unlinked;
}

size_t tl_tree_ambiguous(const tl_tree *t, tl_time *time)
{
	if (time)
		*time = t->ambiguous_time;
	return t->n_ambiguous;
}

int tl_tree_health(tl_table **out, const tl_tree *t, tl_error *err)
{
	return tl__health_table(out, t->store, &t->health, err);
}

tl_pos tl__tree_cpu_op_above(const tl_tree *t, tl_pos pos)
{
	for (pos = t->parent[pos]; pos != TL_POS_NONE; pos = t->parent[pos])
		if (t->store->kind[t->row[pos]] == TL_KIND_CPU_OP)
			break;
	return pos;
}
