/* SPDX-License-Identifier: MIT */
/**
 * @file trace.h
 * Opening a profiler trace. The trace owns all events; it does not change after
 * opening, so any number of threads may read it.
 */
#ifndef TRACELENS_TRACE_H
#define TRACELENS_TRACE_H

#include <tracelens/common.h>
#include <tracelens/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_trace tl_trace;

/**
 * Called about ten times a second while loading, on the thread that loads.
 * `done` of `total` bytes of the file as it lies on disk (total 0 when unknown).
 * Return 0 to go on, anything else to stop (TL_ECANCELLED).
 */
typedef int (*tl_progress_fn)(void *user, uint64_t done, uint64_t total);

/** Options of tl_trace_open; zero-initialise (`tl_trace_options o = {0};`) for the defaults. */
typedef struct tl_trace_options {
	bool strict;             /**< refuse a file that needs any repair (TL_ESTRICT) */
	bool single_thread;      /**< read the file, and build its trees, on the calling thread alone */
	bool keep_raw;           /**< keep the text of every event, packed, for tl_event_raw (event.h) */
	tl_progress_fn progress; /**< may be NULL */
	void *user;              /**< for progress */
} tl_trace_options;

/**
 * Opens a PyTorch (Kineto) trace: JSON in object or array form, plain, gzip, zstd or
 * the only member of a zip, found by content. A file that is cut off or damaged is
 * read as far as it goes; ask tl_trace_is_truncated and tl_trace_health.
 *
 * @param[out] out the trace, to be freed with tl_trace_free; NULL on failure
 * @param path file name; "-" is standard input
 * @param options NULL for the defaults
 * @return 0, TL_EIO, TL_EFORMAT (nothing could be read; the message says what the file
 *         is), TL_EINVAL (no path), TL_ESTRICT, TL_ENOMEM, TL_ECANCELLED, TL_ELIMIT
 */
TL_API int tl_trace_open(tl_trace **out, const char *path, const tl_trace_options *options, tl_error *err);

/** As tl_trace_open, of `size` bytes in memory (packed or not); they are not kept. */
TL_API int tl_trace_open_memory(tl_trace **out, const void *data, size_t size, const tl_trace_options *options,
				tl_error *err);

/**
 * Moves the texts of whole events (keep_raw) from one trace to another of the same file that was opened without: for
 * programs that find out later that they need them. Nothing may read `trace` meanwhile; trees that were edited before
 * do not get them. TL_EINVAL (`from` has none, the traces are not of the same file).
 */
TL_API int tl_trace_take_raw(tl_trace *trace, tl_trace *from, tl_error *err);

/** Frees a trace; trees of it must be gone. NULL is fine. */
TL_API void tl_trace_free(tl_trace *trace);

/** Number of events = number of UIDs. */
TL_API size_t tl_trace_count(const tl_trace *trace);
/** Whether the file ended in the middle of something. */
TL_API bool tl_trace_is_truncated(const tl_trace *trace);
/** Bytes of JSON text read (unpacked). */
TL_API uint64_t tl_trace_text_bytes(const tl_trace *trace);
/** Bytes of memory that the events take. */
TL_API uint64_t tl_trace_memory(const tl_trace *trace);

/**
 * What was repaired or is doubtful: one row per kind that occurred, columns `kind`, `count`,
 * `time ms` (GPU or host time concerned, blank where that means nothing), `first byte`,
 * `first UID`, `repair` (bool: the file was repaired; false: a note), `meaning`, `example`.
 * Findings about links and nesting appear once a tree was built from the trace.
 * @param[out] out owned by the caller
 */
TL_API int tl_trace_health(tl_table **out, const tl_trace *trace, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
