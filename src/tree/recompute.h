/* SPDX-License-Identifier: MIT */
/**
 * @file recompute.h
 * Which events activation checkpointing runs a second time (spec 01 section 7.6): those in the Python
 * frames of `recompute_fn` of torch/utils/checkpoint.py.
 */
#ifndef TL_TREE_RECOMPUTE_H
#define TL_TREE_RECOMPUTE_H

#include "tree/tree.h"

/** Whether an event lies in a marked region; false for all before tl_tree_mark_recompute and outside the tree. */
static inline bool tl__tree_is_recompute(const tl_tree *t, tl_row row)
{
	tl_pos pos = t->recompute ? t->pos_of_row[row] : TL_POS_NONE;
	return pos != TL_POS_NONE && (t->recompute[pos / 64] >> (pos % 64) & 1);
}

#endif
