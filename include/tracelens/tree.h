/* SPDX-License-Identifier: MIT */
/**
 * @file tree.h
 * The call tree of a trace: host operations (with Python frames on request) nested by time
 * per thread, GPU events below the call that launched them. A sealed tree does not change.
 */
#ifndef TRACELENS_TREE_H
#define TRACELENS_TREE_H

#include <tracelens/common.h>
#include <tracelens/table.h>
#include <tracelens/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_tree tl_tree;

/** Options of tl_tree_build; zero-initialise for the defaults. */
typedef struct tl_tree_options {
	bool with_python; /**< Python frames become nodes, too */
} tl_tree_options;

/**
 * Builds the tree. @param trace must outlive the tree. @param[out] out freed with tl_tree_free.
 * TL_ENOMEM, TL_ELIMIT.
 */
TL_API int tl_tree_build(tl_tree **out, const tl_trace *trace, const tl_tree_options *options, tl_error *err);
TL_API void tl_tree_free(tl_tree *tree);

/** Number of nodes: host events and linked GPU events. */
TL_API size_t tl_tree_count(const tl_tree *tree);
/** Parent of an event, or TL_ROW_NONE (roots, events outside the tree). */
TL_API tl_row tl_tree_parent(const tl_tree *tree, tl_row event);
/**
 * Children of an event in start order, GPU events last. Writes up to `room` UIDs to `out`
 * (NULL when room is 0) and returns how many there are.
 */
TL_API size_t tl_tree_children(const tl_tree *tree, tl_row event, tl_row *out, size_t room);
/**
 * GPU events below an event in launch order; a view into the tree, `*n` long. None below a GPU event
 * or an event outside the tree.
 */
TL_API const tl_row *tl_tree_gpu_events(const tl_tree *tree, tl_row event, size_t *n);
/** GPU events without a launch in the trace: number, and sum of their durations in ps. */
TL_API size_t tl_tree_unlinked(const tl_tree *tree, tl_time *time);

/**
 * Marks what activation checkpointing computes a second time: Python frames whose name contains both
 * `torch/utils/checkpoint.py` and `recompute_fn` (regions), and all events below them, GPU events included. Needs a
 * tree with Python frames; without them no region is found. The marks stay with the tree through later edits.
 * @param[out] regions number of regions, nested ones included; may be NULL
 * @param[out] events number of marked events, each counted once; may be NULL
 * @return 0 or TL_ENOMEM, which leaves earlier marks as they were
 */
TL_API int tl_tree_mark_recompute(tl_tree *tree, size_t *regions, size_t *events, tl_error *err);

/** The health table of the trace with the findings of this tree added (see tl_trace_health). */
TL_API int tl_tree_health(tl_table **out, const tl_tree *tree, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
