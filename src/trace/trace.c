/* SPDX-License-Identifier: MIT */
#include "trace/trace.h"

#include "trace/raw.h"
#include "util/error.h"

static bool threaded(const tl_trace_options *options)
{
	return !options || !options->single_thread;
}

/* Reads `source` (taken over) into a new trace. */
static int open_source(tl_trace **out, tl_source *source, const char *path, const tl_trace_options *options,
		       tl_error *err)
{
	tl_trace *trace = tl__calloc(1, sizeof *trace);
	int code = TL_ENOMEM;
	if (trace) {
		trace->single_thread = !threaded(options);
		trace->store = tl__store_new();
		if (trace->store)
			trace->store->path = tl__strdup(path);
		bool keep_raw = options && options->keep_raw;
		if (keep_raw)
			trace->raw = tl__raw_new();
		if (trace->store && trace->store->path && (!keep_raw || trace->raw)) {
			trace->store->raw = trace->raw;
			code = tl__kineto_import(trace->store, source, options, err);
		} else {
			tl__nomem(err);
		}
	} else {
		tl__nomem(err);
	}
	tl__source_close(source);
	if (code < 0) {
		if (err && !err->file[0])
			tl__error_where(err, path, err->offset);
		tl_trace_free(trace);
		return code;
	}
	*out = trace;
	return 0;
}

int tl_trace_open(tl_trace **out, const char *path, const tl_trace_options *options, tl_error *err)
{
	tl_source *source;
	*out = NULL;
	TL_TRY(tl__source_open(&source, path, threaded(options), err));
	return open_source(out, source, path, options, err);
}

int tl_trace_open_memory(tl_trace **out, const void *data, size_t size, const tl_trace_options *options, tl_error *err)
{
	tl_source *source;
	*out = NULL;
	TL_TRY(tl__source_open_memory(&source, data, size, threaded(options), err));
	return open_source(out, source, "memory", options, err);
}

int tl_trace_take_raw(tl_trace *trace, tl_trace *from, tl_error *err)
{
	if (!trace || !from || !from->raw)
		return tl__fail(err, TL_EINVAL, "a trace that was opened with keep_raw is needed");
	if (trace == from || trace->raw)
		return 0;
	if (trace->store->n != from->store->n || trace->store->text_bytes != from->store->text_bytes)
		return tl__fail(err, TL_EINVAL, "the two traces are not of the same file");
	trace->raw = trace->store->raw = from->raw;
	from->raw = from->store->raw = NULL;
	return 0;
}

void tl_trace_free(tl_trace *trace)
{
	if (!trace)
		return;
	tl__store_free(trace->store);
	tl__raw_free(trace->raw);
	tl__free(trace);
}

size_t tl_trace_count(const tl_trace *trace)
{
	return trace->store->n;
}

bool tl_trace_is_truncated(const tl_trace *trace)
{
	return trace->store->truncated;
}

uint64_t tl_trace_text_bytes(const tl_trace *trace)
{
	return trace->store->text_bytes;
}

uint64_t tl_trace_memory(const tl_trace *trace)
{
	return tl__store_memory(trace->store) + (trace->raw ? tl__raw_memory(trace->raw) : 0);
}

int tl_trace_health(tl_table **out, const tl_trace *trace, tl_error *err)
{
	return tl__health_table(out, trace->store, NULL, err);
}
