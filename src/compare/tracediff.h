/* SPDX-License-Identifier: MIT */
/**
 * @file tracediff.h
 * The comparison of two trees as it is kept, and the parts that make it. Sides are 0 (baseline) and 1 (variant) inside.
 */
#ifndef TL_COMPARE_TRACEDIFF_H
#define TL_COMPARE_TRACEDIFF_H

#include "compare/align.h"
#include "compare/names.h"
#include "tracelens/compare.h"
#include "tree/tree.h"
#include "util/map.h"

struct tl_diff {
	const tl_tree *tree[2];
	size_t n;
	tl_diff_node *node;       /* in pre-order */
	tl_pos *partner[2];       /* of each node of a tree, TL_POS_NONE: none */
	uint8_t *through[2];      /* of each node of a tree: it was looked through */
	uint32_t *node_of[2];     /* of each node of a tree: its merged node, or TL_DIFF_NONE */
	uint32_t *unlinked_of[2]; /* the same of each of tree->unlinked */
	tl_diff_totals totals;
	bool single_thread; /* as asked for */
};

#define TL_DIFF_NO_LAUNCH "(no launch in trace)"

/** Event of a side of a node. */
static inline tl_row tl__diff_row(const tl_diff_node *node, int side)
{
	return side ? node->variant : node->baseline;
}
/** Whether the events of a side of a node, or of both where it has both, are operations. */
bool tl__diff_is_operation(const tl_diff *diff, const tl_diff_node *node);

/* ---- while it is made ---- */

/** What is known of the nodes of one tree before they are aligned. */
typedef struct tl_diff_nodes {
	const tl_tree *tree;
	tl_name_hashes hashes;
	uint64_t *exact;               /* its own exact name and arguments */
	uint64_t *structure, *kernels; /* signatures; see diff_signatures.c */
	uint32_t *operations, *whole;
} tl_diff_nodes;
/** Signatures of all nodes of a tree. 0 or TL_ENOMEM; `*out` is freed with tl__diff_nodes_free in any case. */
int tl__diff_nodes_new(tl_diff_nodes *out, const tl_tree *tree, const tl_twins *twins);
void tl__diff_nodes_free(tl_diff_nodes *nodes);
/** Frees the signatures, after which names can still be asked for. */
void tl__diff_signatures_free(tl_diff_nodes *nodes);
/** What a node is, its kind included: equal numbers mean one thing on both sides. */
uint64_t tl__diff_name(const tl_diff_nodes *nodes, tl_pos pos);
/** The same by its exact name. */
uint64_t tl__diff_plain_name(const tl_diff_nodes *nodes, tl_pos pos);
/** A node as an item of an alignment. */
tl_align_item tl__diff_item(const tl_diff_nodes *nodes, tl_pos pos);

/** One of two sibling lists that are aligned. */
typedef struct tl_diff_entry {
	tl_pos pos;
	tl_pos mate;   /* of the other side, or TL_POS_NONE */
	bool anchored; /* the mate is in order with those of the other anchored entries */
	bool gpu;      /* GPU work is below */
	bool closed;   /* not to be looked through again */
} tl_diff_entry;
typedef TL_VEC(tl_diff_entry) tl_diff_list;

typedef struct tl_diff_lists {
	const tl_diff_nodes *nodes[2];
	uint8_t *through[2]; /* of tl_diff: what is looked through is marked */
	tl_diff_list list[2];
	tl_aligner aligner;
	tl_align_pairs pairs;
	TL_VEC(tl_align_item) item[2];
	TL_VEC(uint32_t) index[2];
	tl_diff_list rebuilt;
} tl_diff_lists;
/** Aligns list[0] with list[1]; entries that are looked through are replaced by what is below. */
int tl__diff_align_lists(tl_diff_lists *lists);
/** Whether a node can be looked through: operations and frames; a call and its kernels belong together. */
bool tl__diff_is_wrapper(const tl_diff_nodes *nodes, tl_pos pos);
/** Opens entries that hold, at any depth, what the other list has; before anything is aligned. diff_open.c */
int tl__diff_open_wrappers(tl_diff_lists *lists);
/** Looks through entries in all gaps between anchors where that helps; *found: some were. diff_wrappers.c */
int tl__diff_look_through(tl_diff_lists *lists, bool *found);
/** Chooses among the alignments of item[0] and item[1] that are worth as much as `pairs`. diff_ties.c */
int tl__diff_break_ties(tl_diff_lists *lists);
void tl__diff_lists_free(tl_diff_lists *lists);

/** Appends an entry to a list. */
int tl__diff_push(tl_diff_lists *lists, int side, tl_diff_list *list, tl_pos pos);
/** A stretch of both lists without an anchor: list[side].v[from[side]..to[side]). */
typedef struct tl_diff_gap {
	size_t from[2], to[2];
} tl_diff_gap;
/** The next gap (zero-initialise for the first); false behind the last. */
bool tl__diff_next_gap(const tl_diff_lists *lists, tl_diff_gap *gap, bool first);

/** The root events of both trees, thread by thread, threads that are alike at equal places. */
int tl__diff_roots(tl_diff_lists *lists, bool threaded);

typedef TL_VEC(tl_diff_node) tl_diff_node_list;
/**
 * Appends the merged tree, but for GPU events without a launch, and says whether no pair changed its place. Fills
 * partner, through and node_of of `diff`. `threaded`: on two threads, with the same result. TL_ELIMIT, TL_ENOMEM;
 * `out` is the caller's in any case. diff_merge.c
 */
int tl__diff_merge(tl_diff_node_list *out, bool *in_order, tl_diff *diff, tl_diff_nodes nodes[2], bool threaded);

#endif
