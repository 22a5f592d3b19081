/* SPDX-License-Identifier: MIT */
/** @file navigate.h nn.Modules in a tree (spec 01 section 6). */
#ifndef TL_TREE_NAVIGATE_H
#define TL_TREE_NAVIGATE_H

#include "tree/tree.h"

/** Whether an event is an nn.Module: a Python frame named `nn.Module: ...`. */
bool tl__is_module(const tl_store *store, tl_row row);
/** First nn.Module among the positions [from, to), or TL_POS_NONE. The modules below a node: step by t->end. */
tl_pos tl__next_module(const tl_tree *t, tl_pos from, tl_pos to);

/** Whether an event is an operation of the host. */
bool tl__is_operation(const tl_store *store, tl_row row);
/**
 * For each node the nearest one above it that `is_wanted` says yes to, TL_POS_NONE where there is none: in one pass,
 * since parents come first. To be freed with tl__free; NULL: no memory.
 */
tl_pos *tl__nearest_above(const tl_tree *t, bool (*is_wanted)(const tl_store *store, tl_row row));

#endif
