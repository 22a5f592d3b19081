/* SPDX-License-Identifier: MIT */
/**
 * @file edit.h
 * Changing a call tree: new events, names, arguments, places. A tree is built, edited and sealed: the
 * changes are made on a copy of the events that belongs to the tree, and nobody sees them before tl_edit_commit numbers
 * the tree anew. The trace itself never changes, and tl_edit_abort leaves the tree as it was.
 *
 * Events are named by UID, as everywhere; new ones take the next free UIDs. Every change checks first and then acts:
 * TL_EINVAL (with a message that says why) and TL_ENOMEM leave everything as it was. Whatever is edited, every GPU
 * event is in the tree once or among those without a launch.
 */
#ifndef TRACELENS_EDIT_H
#define TRACELENS_EDIT_H

#include <tracelens/common.h>
#include <tracelens/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_edit tl_edit;

/**
 * Starts changing a tree. One at a time for a tree; while it lasts the tree can be read and is still the old one. What
 * was made from the tree before (analyses, pointers from tl_tree_gpu_events) must be gone before the commit.
 * @param[out] out to be ended by tl_edit_commit or tl_edit_abort
 * @return 0, TL_ENOMEM, TL_EINVAL (the tree is being edited)
 */
TL_API int tl_edit_begin(tl_edit **out, tl_tree *tree, tl_error *err);
/**
 * Makes the changes the tree's and frees `edit`. On failure the tree is as it was, and `edit` is still there, to be
 * aborted or committed again. Linear in the size of the tree. TL_ENOMEM, TL_ELIMIT.
 */
TL_API int tl_edit_commit(tl_edit *edit, tl_error *err);
/** Drops all changes and frees `edit`; NULL is fine. */
TL_API void tl_edit_abort(tl_edit *edit);

/* ---- reading; all see the changes made so far ---- */

/** Number of events, new ones included: UIDs are below it. */
TL_API size_t tl_edit_count(const tl_edit *edit);
/** Name and category (`cat`) of an event; "" beyond the last. Valid until the edit or its tree ends. */
TL_API const char *tl_edit_name(const tl_edit *edit, tl_row event);
TL_API const char *tl_edit_category(const tl_edit *edit, tl_row event);
/** Start and duration in ps; TL_TIME_NONE when unusable. */
TL_API tl_time tl_edit_start(const tl_edit *edit, tl_row event);
TL_API tl_time tl_edit_duration(const tl_edit *edit, tl_row event);
/** Whether an event is a node of the tree. */
TL_API bool tl_edit_in_tree(const tl_edit *edit, tl_row event);
/** Whether an event is GPU work: kernel, copy or memset. */
TL_API bool tl_edit_is_gpu(const tl_edit *edit, tl_row event);
/** Parent of an event; TL_ROW_NONE for roots and events outside the tree. */
TL_API tl_row tl_edit_parent(const tl_edit *edit, tl_row event);
/**
 * Children in order, GPU events last: for (c = tl_edit_first_child(e, x); c != TL_ROW_NONE;
 * c = tl_edit_next_sibling(e, c)). The children of TL_ROW_NONE are the roots.
 */
TL_API tl_row tl_edit_first_child(const tl_edit *edit, tl_row event);
TL_API tl_row tl_edit_next_sibling(const tl_edit *edit, tl_row event);
/** The event that comes next when the subtree of `top` is walked parents first; TL_ROW_NONE behind the last. */
TL_API tl_row tl_edit_next(const tl_edit *edit, tl_row event, tl_row top);
/** GPU events below an event: writes up to `room` to `out` (NULL when room is 0), returns how many there are. */
TL_API size_t tl_edit_gpu_events(const tl_edit *edit, tl_row event, tl_row *out, size_t room);
/**
 * An argument (`args`) of an event as JSON text: "Input Dims", "Input type", "Input Strides", "Concrete Inputs",
 * "Sequence number", "External id", "Fwd thread id", "kernel_file", "correlation", "stream", "device", "grid",
 * "block", and whatever tl_edit_set_arg has attached. Other keys of the file are not kept. Sets *out to NULL when
 * there is none. Valid until the edit or its tree ends. TL_ENOMEM.
 */
TL_API int tl_edit_arg(const char **out, tl_edit *edit, tl_row event, const char *key);

/* ---- changing events ---- */

/** Sets the name of an event; the text is copied. TL_EINVAL: no such event, no name. TL_ENOMEM. */
TL_API int tl_edit_rename(tl_edit *edit, tl_row event, const char *name, tl_error *err);
/**
 * Sets `cat`, which decides what an event is. In the tree are operations ("cpu_op"), runtime calls ("cuda_runtime"
 * and other "..._runtime", "..._driver"), with Python frames "python_function", and GPU work ("kernel",
 * "gpu_memcpy", "gpu_memset"); host work stays host work, GPU work stays GPU work. Arguments that the new kind of event
 * does not have are dropped. TL_EINVAL when it would be something else.
 */
TL_API int tl_edit_set_category(tl_edit *edit, tl_row event, const char *category, tl_error *err);
/**
 * Sets start and duration in ps. TL_EINVAL: no start, negative duration, longer than 26 days (2^61 ps) or as far from
 * the base of the trace. Changes no place in the tree.
 */
TL_API int tl_edit_set_time(tl_edit *edit, tl_row event, tl_time start, tl_time duration, tl_error *err);
/** Moves an event to the process and thread of another. */
TL_API int tl_edit_set_thread(tl_edit *edit, tl_row event, tl_row like, tl_error *err);
/**
 * Sets an argument to a JSON value; `json` NULL removes it. Of the keys that the file has (see tl_edit_arg), those of
 * launches and GPU events cannot be changed. All other keys are kept for operation models to read. TL_EINVAL: not
 * one JSON value; a number that is no whole number from 0 up where the key needs one.
 */
TL_API int tl_edit_set_arg(tl_edit *edit, tl_row event, const char *key, const char *json, tl_error *err);
/**
 * Copies "Input Dims", "Input type", "Input Strides", "Concrete Inputs" and "Sequence number" from one event to an
 * operation; what `from` lacks, `event` lacks then, too. TL_EINVAL: `event` is no operation.
 */
TL_API int tl_edit_copy_args(tl_edit *edit, tl_row event, tl_row from, tl_error *err);
/** Makes two events the forward and backward half of one operation, unless they are. TL_EINVAL: one and the same. */
TL_API int tl_edit_link(tl_edit *edit, tl_row forward, tl_row backward, tl_error *err);

/* ---- changing the tree ---- */

/**
 * Appends an operation (category "cpu_op", no arguments) with the thread and times of `like`, as a child of `parent`
 * (TL_ROW_NONE: a root) before its child `before` (TL_ROW_NONE: behind the last).
 * @param[out] out the UID of the new event; may be NULL
 * TL_EINVAL: unknown events, `like` without usable times, `parent` GPU work or outside the tree, `before` not its
 * child.
 */
TL_API int tl_edit_append(tl_edit *edit, tl_row *out, const char *name, tl_row like, tl_row parent, tl_row before,
			  tl_error *err);
/**
 * Moves an event with all below it under `parent`, before its child `before`; both as for tl_edit_append. An event
 * that is not in the tree (a GPU event without a launch, one that was taken out) comes in alone. TL_EINVAL: as there;
 * `parent` is the event itself or below it; a GPU event as root; an event that is neither host nor GPU work.
 */
TL_API int tl_edit_reparent(tl_edit *edit, tl_row event, tl_row parent, tl_row before, tl_error *err);
/**
 * Takes an event out of the tree; its children take its place. GPU events that then have nothing above them
 * count as GPU events without a launch. TL_EINVAL: not in the tree.
 */
TL_API int tl_edit_detach(tl_edit *edit, tl_row event, tl_error *err);
/**
 * Puts a new operation between an event and all its children, with the event's thread and times.
 * @param[out] out the UID of the new event; may be NULL
 * TL_EINVAL: not in the tree, no children.
 */
TL_API int tl_edit_wrap(tl_edit *edit, tl_row *out, const char *name, tl_row event, tl_error *err);
/**
 * Puts a new operation between an event and its parent, in the event's place among its siblings, with the event's
 * thread and times. Above a root it is the new root. TL_EINVAL: not in the tree.
 */
TL_API int tl_edit_insert_above(tl_edit *edit, tl_row *out, const char *name, tl_row event, tl_error *err);
/**
 * Puts a new operation around GPU events of one launch: between the launch and its parent when these are all that it
 * launched, with the launch as its child; else directly before the launch, which keeps the others, with the given ones
 * as its children. GPU events that hang below an operation without a launch between come into a new one below that. It
 * has the launch's times, the thread of its parent, and the first GPU event's correlation as "External id".
 * @param[out] out the UID of the new event; may be NULL
 * TL_EINVAL: none given, not in the tree, not GPU events, not all of one parent, named twice.
 */
TL_API int tl_edit_isolate(tl_edit *edit, tl_row *out, const char *name, const tl_row *gpu_events, size_t n,
			   tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
