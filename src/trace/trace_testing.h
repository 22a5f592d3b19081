/* SPDX-License-Identifier: MIT */
/** @file trace_testing.h Reading traces written down in tests, and looking at what came out. */
#ifndef TL_TRACE_TRACE_TESTING_H
#define TL_TRACE_TRACE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"
#include "util/alloc.h"

/** Microseconds and whole picoseconds as the store keeps them. */
#define US(x) ((tl_time)((x)*INT64_C(1000000)))

static inline tl_trace *load_bytes(const char *text, size_t n)
{
	tl_trace_options options = {.single_thread = true};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	if (tl_trace_open_memory(&trace, text, n, &options, &err) < 0)
		fail_msg("%s: %s", tl_code_name(err.code), err.message);
	return trace;
}

static inline tl_trace *load(const char *text)
{
	return load_bytes(text, strlen(text));
}

/** What went wrong when the text could not be read; it must not be readable. */
static inline tl_error load_error(const char *text, size_t n, bool strict)
{
	tl_trace_options options = {.single_thread = true, .strict = strict};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	assert_true(tl_trace_open_memory(&trace, text, n, &options, &err) < 0);
	assert_null(trace);
	assert_true(err.message[0]);
	return err;
}

static inline uint64_t found(const tl_trace *trace, tl_health_kind kind)
{
	return trace->store->health.entry[kind].count;
}

/** Number of repairs, of all kinds. */
static inline uint64_t repairs(const tl_trace *trace)
{
	uint64_t n = 0;
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++)
		n += tl__health_is_repair((tl_health_kind)kind) ? found(trace, (tl_health_kind)kind) : 0;
	return n;
}

/** No finding of any kind. */
static inline void assert_healthy(const tl_trace *trace)
{
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++)
		if (found(trace, (tl_health_kind)kind))
			fail_msg("%s: %llu", tl__health_name((tl_health_kind)kind),
				 (unsigned long long)found(trace, (tl_health_kind)kind));
}

/** Findings of this kind and of no other. */
static inline void assert_only(const tl_trace *trace, tl_health_kind kind, uint64_t count)
{
	for (int other = 0; other < TL_HEALTH_KINDS; other++)
		if (found(trace, (tl_health_kind)other) != ((int)kind == other ? count : 0))
			fail_msg("%s: %llu", tl__health_name((tl_health_kind)other),
				 (unsigned long long)found(trace, (tl_health_kind)other));
}

static inline const char *name_of(const tl_trace *trace, tl_row row)
{
	return tl__name(trace->store, row);
}

static inline const char *text_of(const tl_trace *trace, tl_str id)
{
	return tl__str(trace->store->strings, id);
}

static inline const tl_track *track_of(const tl_trace *trace, tl_row row)
{
	assert_true(trace->store->track[row] < trace->store->tracks.n);
	return &trace->store->tracks.v[trace->store->track[row]];
}

/** The text of an id, in a static buffer. */
static inline const char *id_of(const tl_trace *trace, tl_id id)
{
	static char text[4][64];
	static unsigned next;
	return tl__id_text(trace->store, id, text[next++ % 4]);
}

#endif
