/* SPDX-License-Identifier: MIT */
/**
 * @file event.h
 * Single events of a trace or a tree, by UID. A UID is the position in `traceEvents`, counted over all documents of a
 * file; every element has one. Texts belong to the events and stay as long as those. A UID out of range is
 * answered like an event without the property asked for.
 */
#ifndef TRACELENS_EVENT_H
#define TRACELENS_EVENT_H

#include <tracelens/common.h>
#include <tracelens/trace.h>
#include <tracelens/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The events of a trace, or those of a tree, which may have been edited. */
typedef struct tl_store tl_events;

/** All events of a trace; belongs to it. */
TL_API const tl_events *tl_trace_events(const tl_trace *trace);
/** All events of a tree, those included that are not in it (metadata, flows, unlinked kernels); belongs to it. */
TL_API const tl_events *tl_tree_events(const tl_tree *tree);

/** Number of events = number of UIDs. */
TL_API size_t tl_events_count(const tl_events *events);

/** What an event is, by its category and phase. */
typedef enum tl_event_kind {
	TL_EVENT_OTHER,      /**< numbered and kept, used by nothing */
	TL_EVENT_OPERATION,  /**< cpu_op */
	TL_EVENT_RUNTIME,    /**< cuda_runtime and the like: launches GPU work */
	TL_EVENT_PYTHON,     /**< python_function */
	TL_EVENT_KERNEL,     /**< kernel */
	TL_EVENT_MEMCPY,     /**< gpu_memcpy */
	TL_EVENT_MEMSET,     /**< gpu_memset */
	TL_EVENT_ANNOTATION, /**< user_annotation, gpu_user_annotation */
	TL_EVENT_FLOW,       /**< half of an arrow: ac2g, fwdbwd */
	TL_EVENT_METADATA,   /**< ph M */
	TL_EVENT_EMPTY       /**< {}, or something that could not be read */
} tl_event_kind;
/** Kind of an event; TL_EVENT_EMPTY beyond the last. */
TL_API tl_event_kind tl_event_kind_of(const tl_events *events, tl_row event);
/** Kernel, copy or memset. */
TL_API bool tl_event_is_gpu(const tl_events *events, tl_row event);

/** Name and category as in the file; "" when it has none. `*n` (may be NULL) is the length, as a text may hold NUL. */
TL_API const char *tl_event_name(const tl_events *events, tl_row event, size_t *n);
TL_API const char *tl_event_category(const tl_events *events, tl_row event, size_t *n);
/** Whether the event has a category in the file. */
TL_API bool tl_event_has_category(const tl_events *events, tl_row event);

/** Start in ps relative to the base of the trace (tl_events_base_us), or TL_TIME_NONE. */
TL_API tl_time tl_event_start(const tl_events *events, tl_row event);
/**
 * Duration in ps; 0 for an event without one, TL_TIME_NONE for one that is negative, absurd or unreadable, and for a
 * UID out of range.
 */
TL_API tl_time tl_event_duration(const tl_events *events, tl_row event);
/** Whether the event has a duration in the file, usable or not. */
TL_API bool tl_event_has_duration(const tl_events *events, tl_row event);
/** Time 0 in whole microseconds of the clock of the file. */
TL_API int64_t tl_events_base_us(const tl_events *events);

/** Room for a number or identifier as text, the NUL included; longer identifiers are cut. */
#define TL_EVENT_TEXT 64
/**
 * `ts` and `dur` in microseconds as the file states them: exact, `3` and `3.0` told apart. Written into `out`; "" when
 * there is no usable one. Return the length.
 */
TL_API size_t tl_event_start_text(const tl_events *events, tl_row event, char out[TL_EVENT_TEXT]);
TL_API size_t tl_event_duration_text(const tl_events *events, tl_row event, char out[TL_EVENT_TEXT]);

/** Identifiers of an event. */
typedef enum tl_identifier {
	TL_IDENT_PID,
	TL_IDENT_TID,
	TL_IDENT_CORRELATION,    /**< of launches and GPU events */
	TL_IDENT_EXTERNAL,       /**< External id */
	TL_IDENT_SEQUENCE,       /**< Sequence number of operations */
	TL_IDENT_FORWARD_THREAD, /**< Fwd thread id of operations */
	TL_IDENT_STREAM,         /**< of launches and GPU events */
	TL_IDENT_DEVICE,         /**< of launches and GPU events */
	TL_IDENT_PYTHON,         /**< Python id of frames */
	TL_IDENT_PYTHON_PARENT,  /**< Python parent id */
	TL_IDENT_PYTHON_MODULE,  /**< Python module id */
	TL_IDENT_FLOW            /**< id of half of an arrow */
} tl_identifier;
/** An identifier as text, "" when the event has none. Returns the length. `*is_number` (may be NULL): it is an integer.
 */
TL_API size_t tl_event_identifier_text(const tl_events *events, tl_row event, tl_identifier field,
				       char out[TL_EVENT_TEXT], bool *is_number);
/** An identifier that is an integer from 0 up, else -1. */
TL_API int64_t tl_event_identifier(const tl_events *events, tl_row event, tl_identifier field);

/** Process name, process labels and thread name from the metadata; "" when absent. */
TL_API const char *tl_event_process_name(const tl_events *events, tl_row event);
TL_API const char *tl_event_process_labels(const tl_events *events, tl_row event);
TL_API const char *tl_event_thread_name(const tl_events *events, tl_row event);

/** Arguments that are kept for every trace. */
typedef enum tl_event_arg {
	TL_ARG_INPUT_DIMS,      /**< Input Dims of an operation */
	TL_ARG_INPUT_TYPE,      /**< Input type */
	TL_ARG_INPUT_STRIDES,   /**< Input Strides */
	TL_ARG_CONCRETE_INPUTS, /**< Concrete Inputs */
	TL_ARG_KERNEL_FILE,     /**< kernel_file */
	TL_ARG_GRID,            /**< grid of a GPU event or launch */
	TL_ARG_BLOCK            /**< block */
} tl_event_arg;
/** An argument as JSON text without blanks outside strings; NULL when the event has none. */
TL_API const char *tl_event_arg_json(const tl_events *events, tl_row event, tl_event_arg arg, size_t *n);

/**
 * Arguments that edits of the tree attached, by index: the key, and its value as JSON text in `*json`; NULL past the
 * last.
 */
TL_API const char *tl_event_extra(const tl_events *events, tl_row event, size_t index, const char **json);

/**
 * The whole event as JSON text, as it stands in the file without blanks outside strings (a broken one: as it was
 * repaired, an unreadable one: {}; an element that is no object as it is).
 * Only for a trace that was opened with `keep_raw`; an event that was added to a tree has none.
 * @param[out] out NUL-terminated, allocated with malloc; the caller frees it with free()
 * @param[out] n length; may be NULL
 * @return 0, TL_ENOTFOUND (not kept, or no such event), TL_ENOMEM
 */
TL_API int tl_event_raw(char **out, size_t *n, const tl_events *events, tl_row event, tl_error *err);
/** Whether whole events are kept. */
TL_API bool tl_events_have_raw(const tl_events *events);

/** Top-level keys of the file other than traceEvents, with their values as JSON text; NULL past the last. */
TL_API size_t tl_trace_metadata_count(const tl_trace *trace);
TL_API const char *tl_trace_metadata_key(const tl_trace *trace, size_t index);
TL_API const char *tl_trace_metadata_json(const tl_trace *trace, size_t index, size_t *n);

#ifdef __cplusplus
}
#endif

#endif
