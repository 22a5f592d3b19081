/* SPDX-License-Identifier: MIT */
/**
 * @file tree.h
 * The call tree, numbered in pre-order. A node is a position 0..n-1; its subtree is the
 * positions [pos, end[pos]). GPU events are leaves below their launch, so the GPU events below any
 * node are a contiguous range of `gpu`, in launch order. Nothing recurses.
 */
#ifndef TL_TREE_TREE_H
#define TL_TREE_TREE_H

#include "trace/trace.h"
#include "tracelens/tree.h"
#include "util/error.h"

typedef uint32_t tl_pos;
#define TL_POS_NONE UINT32_MAX

struct tl_tree {
	const tl_trace *trace;
	const tl_store *store; /* the trace's, or own_store */
	tl_store *own_store;   /* what clipping (tree/overrun.c) and edits (tree/edit.h) made of it; NULL: nothing was
				  changed */
	uint32_t generation;   /* number of committed edits */
	bool editing;          /* an edit is under way */
	bool has_pseudo_ops;   /* tl_tree_apply_pseudo_ops has been here */
	bool with_python;

	/* ---- nodes, in pre-order ---- */
	size_t n;
	tl_row *row;          /* event of each node */
	tl_pos *end;          /* one past the last descendant */
	tl_pos *parent;       /* TL_POS_NONE for roots */
	uint32_t *gpu_before; /* n + 1: number of GPU events at positions before this one */

	tl_pos *pos_of_row; /* position of each event, TL_POS_NONE when not in the tree */

	size_t n_gpu;          /* linked GPU events */
	tl_row *gpu;           /* in pre-order: by launch, then start, then row */
	size_t n_unlinked;     /* GPU events without a launch in the trace */
	tl_row *unlinked;      /* in row order */
	tl_time unlinked_time; /* sum of their durations */
	size_t n_ambiguous;    /* of them those whose correlation id launches of several processes carry */
	tl_row *ambiguous;     /* in row order */
	tl_time ambiguous_time;

	/* ---- forward and backward (autograd) ---- */
	size_t n_links; /* pairs, sorted by forward row, then backward row */
	struct {
		tl_row forward, backward;
	} * links;
	tl_row *links_by_backward; /* indexes into links sorted by backward row */

	uint64_t *recompute; /* a bit per position; NULL: not marked (tree/recompute.h) */

	tl_health health; /* findings about links and nesting */

	struct tl_name_index *names; /* NULL: not asked for yet (tree/names.c) */
};

static inline bool tl__tree_is_linked(const tl_tree *t, tl_row row)
{
	return t->pos_of_row[row] != TL_POS_NONE;
}
/** Position of an event, TL_POS_NONE when it is not in the tree or is no event at all. */
static inline tl_pos tl__pos_of(const tl_tree *t, tl_row event)
{
	return event < t->store->n ? t->pos_of_row[event] : TL_POS_NONE;
}
/** Whether any GPU event lies below (or is) the node: the complement of "non-GPU path". */
static inline uint32_t tl__tree_gpu_count(const tl_tree *t, tl_pos pos)
{
	return t->gpu_before[t->end[pos]] - t->gpu_before[pos];
}
/** First of the GPU events below the node, in launch order. */
static inline const tl_row *tl__tree_gpu_rows(const tl_tree *t, tl_pos pos)
{
	return t->gpu + t->gpu_before[pos];
}
/* Children of a node: for (c = tl__tree_first_child(t, p); c != TL_POS_NONE; c = tl__tree_next_sibling(t, c)) */
static inline tl_pos tl__tree_first_child(const tl_tree *t, tl_pos pos)
{
	return pos + 1 < t->end[pos] ? pos + 1 : TL_POS_NONE;
}
static inline tl_pos tl__tree_next_sibling(const tl_tree *t, tl_pos pos)
{
	tl_pos parent = t->parent[pos], next = t->end[pos];
	tl_pos limit = parent == TL_POS_NONE ? (tl_pos)t->n : t->end[parent];
	return next < limit ? next : TL_POS_NONE;
}
/** Frees the index of names, if there is one. */
void tl__tree_free_names(tl_tree *t);
/** The forward event of a backward one, or TL_ROW_NONE. */
tl_row tl__tree_forward_of(const tl_tree *t, tl_row backward);
/** Backward events of a forward one: sets *first (index into links) and returns their number. */
size_t tl__tree_backward_of(const tl_tree *t, tl_row forward, size_t *first);
/** Nearest ancestor (not itself) of kind TL_KIND_CPU_OP, or TL_POS_NONE. */
tl_pos tl__tree_cpu_op_above(const tl_tree *t, tl_pos pos);

#endif
