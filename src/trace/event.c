/* SPDX-License-Identifier: MIT */
/* Single events by UID: the public view of the event store. */
#include "tracelens/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/raw.h"
#include "trace/trace.h"
#include "util/error.h"
#include "util/format.h"

const tl_events *tl_trace_events(const tl_trace *trace)
{
	return trace ? trace->store : NULL;
}

size_t tl_events_count(const tl_events *events)
{
	return events ? events->n : 0;
}

static bool is_event(const tl_events *events, tl_row event)
{
	return events && event < events->n;
}

/* ---- what it is ---- */

tl_event_kind tl_event_kind_of(const tl_events *events, tl_row event)
{
	static const uint8_t kinds[] = {
		[TL_KIND_OTHER] = TL_EVENT_OTHER,
		[TL_KIND_CPU_OP] = TL_EVENT_OPERATION,
		[TL_KIND_RUNTIME] = TL_EVENT_RUNTIME,
		[TL_KIND_PYTHON] = TL_EVENT_PYTHON,
		[TL_KIND_KERNEL] = TL_EVENT_KERNEL,
		[TL_KIND_MEMCPY] = TL_EVENT_MEMCPY,
		[TL_KIND_MEMSET] = TL_EVENT_MEMSET,
		[TL_KIND_ANNOTATION] = TL_EVENT_ANNOTATION,
		[TL_KIND_GPU_ANNOTATION] = TL_EVENT_ANNOTATION,
		[TL_KIND_FLOW] = TL_EVENT_FLOW,
		[TL_KIND_FWDBWD] = TL_EVENT_FLOW,
		[TL_KIND_METADATA] = TL_EVENT_METADATA,
		[TL_KIND_EMPTY] = TL_EVENT_EMPTY,
	};
	return is_event(events, event) ? (tl_event_kind)kinds[events->kind[event]] : TL_EVENT_EMPTY;
}

bool tl_event_is_gpu(const tl_events *events, tl_row event)
{
	return is_event(events, event) && tl__kind_is_gpu(events->kind[event]);
}

/* A text of the pool; `n` may be NULL. */
static const char *text_of(const tl_events *events, tl_str id, size_t *n)
{
	if (n)
		*n = tl__str_len(events->strings, id);
	return tl__str(events->strings, id);
}

static const char *no_text(size_t *n)
{
	if (n)
		*n = 0;
	return "";
}

const char *tl_event_name(const tl_events *events, tl_row event, size_t *n)
{
	return is_event(events, event) ? text_of(events, events->name[event], n) : no_text(n);
}

static tl_str category_of(const tl_events *events, tl_row event)
{
	return is_event(events, event) ? events->categories.v[events->category[event]] : TL_STR_NONE;
}

const char *tl_event_category(const tl_events *events, tl_row event, size_t *n)
{
	tl_str category = category_of(events, event);
	return category != TL_STR_NONE ? text_of(events, category, n) : no_text(n);
}

bool tl_event_has_category(const tl_events *events, tl_row event)
{
	return category_of(events, event) != TL_STR_NONE;
}

/* ---- time ---- */

tl_time tl_event_start(const tl_events *events, tl_row event)
{
	return is_event(events, event) ? events->start[event] : TL_TIME_NONE;
}

tl_time tl_event_duration(const tl_events *events, tl_row event)
{
	return is_event(events, event) ? events->dur[event] : TL_TIME_NONE;
}

bool tl_event_has_duration(const tl_events *events, tl_row event)
{
	return is_event(events, event) && !(events->flags[event] & TL_EVENT_NO_DUR);
}

int64_t tl_events_base_us(const tl_events *events)
{
	return events ? events->base_us : 0;
}

/*
 * Whole microseconds and picoseconds apart: together they may exceed 64 bits. The signs of both are made
 * equal first, so that the digits can be written one behind the other.
 */
size_t tl_event_start_text(const tl_events *events, tl_row event, char out[TL_EVENT_TEXT])
{
	tl_time start = tl_event_start(events, event);
	out[0] = '\0';
	if (start == TL_TIME_NONE)
		return 0;
	int64_t us = start / TL_PS_PER_US, ps = start % TL_PS_PER_US;
	if (__builtin_add_overflow(events->base_us, us, &us))
		return 0;
	if (us > 0 && ps < 0) {
		us--;
		ps += TL_PS_PER_US;
	} else if (us < 0 && ps > 0) {
		us++;
		ps -= TL_PS_PER_US;
	}
	char fraction[TL_FORMAT_MAX];
	tl__format_us(fraction, ps < 0 ? -ps : ps, events->flags[event] & TL_EVENT_TS_FRACTION); /* "0", "0.25" */
	bool minus = us < 0 || ps < 0;
	uint64_t whole = us < 0 ? (uint64_t)0 - (uint64_t)us : (uint64_t)us;
	return (size_t)snprintf(out, TL_EVENT_TEXT, "%s%" PRIu64 "%s", minus ? "-" : "", whole, fraction + 1);
}

size_t tl_event_duration_text(const tl_events *events, tl_row event, char out[TL_EVENT_TEXT])
{
	tl_time dur = tl_event_duration(events, event);
	out[0] = '\0';
	if (dur == TL_TIME_NONE || !tl_event_has_duration(events, event))
		return 0;
	return tl__format_us(out, dur, events->flags[event] & TL_EVENT_DUR_FRACTION);
}

/* ---- identifiers ---- */

static tl_id track_id(const tl_events *events, tl_row event, tl_identifier which)
{
	if (events->track[event] >= events->tracks.n)
		return TL_ID_NONE;
	const tl_track *track = &events->tracks.v[events->track[event]];
	return which == TL_IDENT_PID ? track->pid : track->tid;
}

static tl_id identifier(const tl_events *events, tl_row event, tl_identifier which)
{
	if (!is_event(events, event))
		return TL_ID_NONE;
	const tl_op_args *op = tl__op_args(events, event);
	const tl_link_args *link = tl__link_args(events, event);
	const tl_python_args *python = tl__python_args(events, event);
	uint8_t kind = events->kind[event];
	bool flow = (kind == TL_KIND_FLOW || kind == TL_KIND_FWDBWD) && events->side[event] != UINT32_MAX;
	switch (which) {
	case TL_IDENT_PID:
	case TL_IDENT_TID:
		return track_id(events, event, which);
	case TL_IDENT_CORRELATION:
		return link ? link->correlation : TL_ID_NONE;
	case TL_IDENT_EXTERNAL:
		return op ? op->external : link ? link->external : TL_ID_NONE;
	case TL_IDENT_SEQUENCE:
		return op ? op->sequence : TL_ID_NONE;
	case TL_IDENT_FORWARD_THREAD:
		return op ? op->fwd_thread : TL_ID_NONE;
	case TL_IDENT_STREAM:
		return link ? link->stream : TL_ID_NONE;
	case TL_IDENT_DEVICE:
		return link ? link->device : TL_ID_NONE;
	case TL_IDENT_PYTHON:
		return python ? python->id : TL_ID_NONE;
	case TL_IDENT_PYTHON_PARENT:
		return python ? python->parent : TL_ID_NONE;
	case TL_IDENT_PYTHON_MODULE:
		return python ? python->module : TL_ID_NONE;
	case TL_IDENT_FLOW:
		return flow ? events->flows.v[events->side[event]].id : TL_ID_NONE;
	}
	return TL_ID_NONE;
}

size_t tl_event_identifier_text(const tl_events *events, tl_row event, tl_identifier which, char out[TL_EVENT_TEXT],
				bool *is_number)
{
	tl_id id = identifier(events, event, which);
	out[0] = '\0';
	if (is_number)
		*is_number = id != TL_ID_NONE && !(id & TL_ID_TEXT);
	if (id == TL_ID_NONE)
		return 0;
	return strlen(tl__id_text(events, id, out));
}

int64_t tl_event_identifier(const tl_events *events, tl_row event, tl_identifier which)
{
	tl_id id = identifier(events, event, which);
	return id & TL_ID_TEXT ? -1 : (int64_t)id; /* "none" has that bit, too */
}

/* ---- process and thread ---- */

static const tl_process *process_of(const tl_events *events, tl_row event)
{
	if (!is_event(events, event) || events->track[event] >= events->tracks.n)
		return NULL;
	uint32_t process = events->tracks.v[events->track[event]].process;
	return process < events->processes.n ? &events->processes.v[process] : NULL;
}

const char *tl_event_process_name(const tl_events *events, tl_row event)
{
	const tl_process *process = process_of(events, event);
	return process ? tl__str(events->strings, process->name) : "";
}

const char *tl_event_process_labels(const tl_events *events, tl_row event)
{
	const tl_process *process = process_of(events, event);
	return process ? tl__str(events->strings, process->labels) : "";
}

const char *tl_event_thread_name(const tl_events *events, tl_row event)
{
	if (!is_event(events, event) || events->track[event] >= events->tracks.n)
		return "";
	return tl__str(events->strings, events->tracks.v[events->track[event]].thread_name);
}

/* ---- arguments ---- */

static tl_str argument(const tl_events *events, tl_row event, tl_event_arg arg)
{
	if (!is_event(events, event))
		return TL_STR_NONE;
	const tl_op_args *op = tl__op_args(events, event);
	const tl_link_args *link = tl__link_args(events, event);
	switch (arg) {
	case TL_ARG_INPUT_DIMS:
		return op ? op->dims : TL_STR_NONE;
	case TL_ARG_INPUT_TYPE:
		return op ? op->types : TL_STR_NONE;
	case TL_ARG_INPUT_STRIDES:
		return op ? op->strides : TL_STR_NONE;
	case TL_ARG_CONCRETE_INPUTS:
		return op ? op->concrete : TL_STR_NONE;
	case TL_ARG_KERNEL_FILE:
		return op ? op->kernel_file : TL_STR_NONE;
	case TL_ARG_GRID:
		return link ? link->grid : TL_STR_NONE;
	case TL_ARG_BLOCK:
		return link ? link->block : TL_STR_NONE;
	}
	return TL_STR_NONE;
}

const char *tl_event_arg_json(const tl_events *events, tl_row event, tl_event_arg arg, size_t *n)
{
	tl_str text = argument(events, event, arg);
	if (text != TL_STR_NONE)
		return text_of(events, text, n);
	no_text(n);
	return NULL;
}

const char *tl_event_extra(const tl_events *events, tl_row event, size_t index, const char **json)
{
	size_t n = 0;
	const tl_extra *extra = is_event(events, event) ? tl__store_extras(events, event, &n) : NULL;
	*json = NULL;
	if (index >= n)
		return NULL;
	*json = tl__str(events->strings, extra[index].value);
	return tl__str(events->strings, extra[index].key);
}

/* ---- whole events ---- */

bool tl_events_have_raw(const tl_events *events)
{
	return events && events->raw;
}

int tl_event_raw(char **out, size_t *n, const tl_events *events, tl_row event, tl_error *err)
{
	*out = NULL;
	if (n)
		*n = 0;
	if (!tl_events_have_raw(events))
		return tl__fail(err, TL_ENOTFOUND, "whole events are not kept: open the trace with keep_raw");
	if (event >= tl__raw_count(events->raw))
		return tl__fail(err, TL_ENOTFOUND, "event %" PRIu32 " is not in the file", event);
	tl_buf text = {0}, json = {0};
	int code = tl__raw_get(&text, events->raw, event);
	if (code == 0)
		code = tl__raw_to_json(&json, text.v ? text.v : "", text.n);
	tl__buf_free(&text);
	if (code == 0 && tl__buf_text(&json)) {
		if (n)
			*n = json.n;
		*out = json.v; /* tl_buf memory comes from malloc */
		return 0;
	}
	tl__buf_free(&json);
	return code == TL_EFORMAT ? tl__fail(err, code, "the kept text of event %" PRIu32 " is damaged", event)
				  : tl__nomem(err);
}

/* ---- the rest of the file ---- */

size_t tl_trace_metadata_count(const tl_trace *trace)
{
	return trace ? trace->store->metadata_keys.n : 0;
}

const char *tl_trace_metadata_key(const tl_trace *trace, size_t index)
{
	return index < tl_trace_metadata_count(trace)
		       ? tl__str(trace->store->strings, trace->store->metadata_keys.v[index])
		       : NULL;
}

const char *tl_trace_metadata_json(const tl_trace *trace, size_t index, size_t *n)
{
	if (index < tl_trace_metadata_count(trace))
		return text_of(trace->store, trace->store->metadata_values.v[index], n);
	no_text(n);
	return NULL;
}
