/* SPDX-License-Identifier: MIT */
/**
 * @file edit.h
 * Inside of tl_edit: the tree as lists of children while it changes (edit.c, edit_event.c), and how it is sealed
 * again (edit_commit.c).
 */
#ifndef TL_TREE_EDIT_H
#define TL_TREE_EDIT_H

#include "tracelens/edit.h"
#include "tree/tree.h"
#include "util/alloc.h"

/**
 * A node's place in the lists. All fields are event + 1, so that 0 is "none"; place 0 is that of the forest, whose
 * children are the roots. Siblings: host events, then GPU events.
 */
typedef struct tl_place {
	uint32_t parent; /* TL_OUTSIDE: not in the tree */
	uint32_t first, last;
	uint32_t first_gpu; /* first GPU event among the children */
	uint32_t previous, next;
} tl_place;
#define TL_OUTSIDE UINT32_MAX

typedef struct tl_link {
	tl_row forward, backward;
} tl_link;

struct tl_edit {
	tl_tree *tree;
	tl_store *store; /* a copy that only this edit sees; extras are not sorted */
	TL_VEC(tl_place) places;
	tl_map extra_of;       /* event << 32 | key -> index into store->extras; removed ones have no value */
	TL_VEC(tl_link) links; /* added */
	tl_map linked;         /* backward event -> its last index in links, to find pairs again */
};

static inline tl_place *tl__place(tl_edit *e, tl_row row)
{
	return &e->places.v[row + 1];
}

/** Whether `row` is an event; else fills err and returns TL_EINVAL. */
int tl__edit_check(const tl_edit *e, tl_row row, tl_error *err);
/** Index of a category text in the store, made when new. 0, TL_ENOMEM, TL_ELIMIT. */
int tl__edit_category_index(tl_edit *e, const char *text, uint16_t *out, tl_error *err);
/** Arguments of an operation or annotation, made empty when it has none; NULL when out of memory. */
tl_op_args *tl__edit_op_args(tl_edit *e, tl_row row);

#endif
