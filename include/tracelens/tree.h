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
	/**
	 * A GPU event that overruns the next start on its stream (same process, thread and stream) by 1 ms or more has
	 * a wrong end: end it at that start, in a copy of the events that the tree then holds (tl_tree_events); the
	 * trace stays as it is. Smaller overlaps are real or jitter, and stay.
	 */
	bool clip_stream_overruns;
} tl_tree_options;

/**
 * Builds the tree. @param trace must outlive the tree. @param[out] out freed with tl_tree_free.
 * TL_EINVAL (no trace), TL_ENOMEM, TL_ELIMIT.
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
 * How many of them are without one only because launches of several processes carry their correlation id, as when
 * the files of several ranks were merged; and sum of their durations in ps. Nobody can tell which launch is theirs.
 */
TL_API size_t tl_tree_ambiguous(const tl_tree *tree, tl_time *time);

/**
 * Marks what activation checkpointing computes a second time: Python frames whose name contains both
 * `torch/utils/checkpoint.py` and `recompute_fn` (regions), and all events below them, GPU events included. Needs a
 * tree with Python frames; without them no region is found. The marks stay with the tree through later edits.
 * @param[out] regions number of regions, nested ones included; may be NULL
 * @param[out] events number of marked events, each counted once; may be NULL
 * @return 0 or TL_ENOMEM, which leaves earlier marks as they were
 */
TL_API int tl_tree_mark_recompute(tl_tree *tree, size_t *regions, size_t *events, tl_error *err);

/** Whether an event was marked so. */
TL_API bool tl_tree_is_recompute(const tl_tree *tree, tl_row event);

/** What pseudo-operations take from outside the trace; zero-initialise for the defaults. */
typedef struct tl_pseudo_options {
	const char *model;       /**< name of the model ("DeepSeek-V4-Pro"), the command's $TL_MODEL; NULL: unknown */
	int64_t tensor_parallel; /**< GPUs that share a layer's heads, the command's $TL_TP; 0: 1 */
} tl_pseudo_options;
/**
 * Makes operations of what serving frameworks (vLLM, SGLang, AITER) leave unrecorded: fused and unfused
 * mixture-of-experts GEMMs, multi-head latent attention, DeepSeek V4 paged decode; takes the running number off names
 * of the SGLang profiler, and tells attention what its KV cache holds. Which of these apply is found from the names in
 * the trace. Kernels move under the new operations, whose UIDs follow the last event's. What does not fit is left as it
 * is and counted in the health table (`pseudo_op_skipped`). A second call does nothing.
 * @param options NULL for the defaults
 * @param[out] made number of operations made; may be NULL
 * @return 0, TL_ENOMEM, TL_ELIMIT, TL_EINVAL (the tree is being edited); then the tree is as it was
 */
TL_API int tl_tree_apply_pseudo_ops(tl_tree *tree, const tl_pseudo_options *options, size_t *made, tl_error *err);
/** Whether some of them need a tree with Python frames, which show where an operation begins and ends. TL_ENOMEM. */
TL_API int tl_pseudo_ops_need_python(bool *out, const tl_trace *trace, tl_error *err);

/** The trace that the tree was built from. */
TL_API const tl_trace *tl_tree_trace(const tl_tree *tree);
/** Whether Python frames are nodes. */
TL_API bool tl_tree_has_python(const tl_tree *tree);
/** Whether an event is a node of the tree: a host event with a time, or a GPU event whose launch is in the trace. */
TL_API bool tl_tree_is_linked(const tl_tree *tree, tl_row event);
/** Number of nodes in the subtree of an event, itself included; 0 for an event outside the tree. */
TL_API size_t tl_tree_subtree_size(const tl_tree *tree, tl_row event);
/**
 * All nodes, each followed by its subtree (pre-order): roots by start, children by start, GPU events last. A view into
 * the tree, `*n` long.
 */
TL_API const tl_row *tl_tree_nodes(const tl_tree *tree, size_t *n);
/** Nodes of the subtree of an event, itself first, in the same order; none for an event outside the tree. */
TL_API const tl_row *tl_tree_subtree(const tl_tree *tree, tl_row event, size_t *n);
/**
 * Nodes without a parent, by start. Writes up to `room` UIDs to `out` (NULL when room is 0) and returns how many there
 * are.
 */
TL_API size_t tl_tree_roots(const tl_tree *tree, tl_row *out, size_t room);
/** The same of operations (cpu_op) without an operation above them. */
TL_API size_t tl_tree_operation_roots(const tl_tree *tree, tl_row *out, size_t room);
/** GPU events without a launch in the trace, by UID; a view into the tree, `*n` long. */
TL_API const tl_row *tl_tree_unlinked_events(const tl_tree *tree, size_t *n);

/** Forward event of a backward one (autograd), or TL_ROW_NONE. */
TL_API tl_row tl_tree_forward(const tl_tree *tree, tl_row backward);
/** Backward events of a forward one, by UID. `out` and `room` as in tl_tree_children. */
TL_API size_t tl_tree_backward(const tl_tree *tree, tl_row forward, tl_row *out, size_t room);

/**
 * Nodes of a name: host events by start, then GPU events in launch order. A view into the tree, `*n` long; NULL and 0
 * when no node has it. The first call makes an index; it may come from several threads at once.
 * @return 0 or TL_ENOMEM
 */
TL_API int tl_tree_named(const tl_row **out, size_t *n, const tl_tree *tree, const char *name, tl_error *err);
/**
 * Distinct names of nodes in order of their first node: their number and, below it, each with its nodes. TL_ENOMEM,
 * TL_ENOTFOUND (no such index).
 */
TL_API int tl_tree_name_count(size_t *out, const tl_tree *tree, tl_error *err);
TL_API int tl_tree_name_get(const char **name, const tl_row **out, size_t *n, const tl_tree *tree, size_t index,
			    tl_error *err);

/** Whether an event is an nn.Module: a Python frame named `nn.Module: ...`. */
TL_API bool tl_tree_is_module(const tl_tree *tree, tl_row event);
/** The nn.Module nearest above an event (not itself), or TL_ROW_NONE; needs Python frames in the tree. */
TL_API tl_row tl_tree_module_parent(const tl_tree *tree, tl_row event);
/** The nn.Modules nearest below an event, in order of start. `out` and `room` as in tl_tree_children. */
TL_API size_t tl_tree_module_children(const tl_tree *tree, tl_row event, tl_row *out, size_t room);

/** How subtrees and parent chains print. */
typedef struct tl_print_options {
	const char *const *fields; /**< arguments to show of operations ("Input Dims" ...), in this order */
	size_t n_fields;
	bool all;            /**< subtree: host events without GPU work below them, too */
	bool backward;       /**< subtree: the backward events of its nodes, too */
	bool follow_forward; /**< parents: at the root of a backward operation go on with its forward operation */
} tl_print_options;

/**
 * Prints an event and what is below it, one line each: `UID`, `Category`, `Name` (at most 64 characters) and, of GPU
 * events, `Duration` in µs as in the file. Any argument can be a field of a trace opened with `keep_raw`; else
 * the four of tl_event_arg that describe inputs, `kernel_file`, `External id`, `Sequence number` and `Fwd thread id`.
 * @param options NULL for the defaults
 * @return 0, TL_ENOTFOUND (no such event), TL_ECALLBACK, TL_ENOMEM
 */
TL_API int tl_tree_print(const tl_tree *tree, tl_row event, const tl_print_options *options, tl_write_fn write,
			 void *user, tl_error *err);
/**
 * Prints an event and the chain of its parents up to its root.
 * @param[out] root last event of the chain; may be NULL
 * @return as tl_tree_print
 */
TL_API int tl_tree_print_parents(const tl_tree *tree, tl_row event, const tl_print_options *options, tl_write_fn write,
				 void *user, tl_row *root, tl_error *err);
/**
 * The names on the way from an event to its root, one call of `each` a name: the event's own in full, those of its
 * parents cut at 256 characters, and `[FWD]` before the chain of a forward event.
 * @param filters only parents whose name contains one of these; none (n_filters 0): all
 * @return as tl_tree_print
 */
TL_API int tl_tree_call_stack(const tl_tree *tree, tl_row event, const char *const *filters, size_t n_filters,
			      bool follow_forward, tl_write_fn each, void *user, tl_error *err);

/**
 * Events as JSON: a list of {"UID", "name", "cat", "parent", "children", "gpu_events"}, one a line; `parent` is null
 * for a root.
 * @param events UIDs, in the order wanted; NULL: all nodes of the tree by UID
 * @return 0, TL_ENOTFOUND (no such event), TL_ECALLBACK, TL_ENOMEM
 */
TL_API int tl_tree_json(const tl_tree *tree, const tl_row *events, size_t n, tl_write_fn write, void *user,
			tl_error *err);
/**
 * The same as a table: `UID`, `name`, `cat`, `ts` (µs from the base of the trace), `dur` (µs), `parent`, and the
 * numbers of `children` and `gpu_events`. @param[out] out freed with tl_table_free
 */
TL_API int tl_tree_table(tl_table **out, const tl_tree *tree, const tl_row *events, size_t n, tl_error *err);

/** The health table of the trace with the findings of this tree added (see tl_trace_health). */
TL_API int tl_tree_health(tl_table **out, const tl_tree *tree, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
