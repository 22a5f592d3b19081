/* SPDX-License-Identifier: MIT */
/** @file trace.h Inside of tl_trace, and what importers offer. */
#ifndef TL_TRACE_TRACE_H
#define TL_TRACE_TRACE_H

#include "io/source.h"
#include "trace/store.h"
#include "tracelens/trace.h"

struct tl_trace {
	tl_store *store;
	struct tl_raw *raw; /* owned; the store and its copies only point to it */
	bool single_thread; /* as asked for when it was opened */
};

/**
 * Reads a Kineto trace from `source` to its end into `store`. Cut-off or damaged input is not
 * a failure as long as something was read. Codes as tl_trace_open.
 */
int tl__kineto_import(tl_store *store, tl_source *source, const tl_trace_options *options, tl_error *err);

/** The health table of a store; `more` (may be NULL) is added to the store's own findings. */
int tl__health_table(tl_table **out, const tl_store *store, const tl_health *more, tl_error *err);

#endif
