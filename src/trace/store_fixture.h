/* SPDX-License-Identifier: MIT */
/**
 * @file store_fixture.h
 * Building event stores in memory, for unit tests only. Times are in microseconds, as in a file;
 * TL_NO_TIME stands for "no usable time". Running out of memory ends the test program.
 */
#ifndef TL_TRACE_STORE_FIXTURE_H
#define TL_TRACE_STORE_FIXTURE_H

#include <math.h>
#include <stdlib.h>

#include "trace/trace.h"

#define TL_NO_TIME (-INFINITY)

static inline tl_time tl_fixture_time(double us)
{
	return us == TL_NO_TIME ? TL_TIME_NONE : (tl_time)llround(us * (double)TL_PS_PER_US);
}

/** A text id ("[TP00] 83") for pids, tids and the like. */
static inline tl_id tl_fixture_id(tl_store *s, const char *text)
{
	return TL_ID_TEXT | tl__interns(s->strings, text);
}

/** Appends an event of any kind without arguments, of document `source`; pid and tid TL_ID_NONE: no track. */
static inline tl_row tl_fixture_event_of(tl_store *s, uint32_t source, tl_kind kind, const char *name, tl_id pid,
					 tl_id tid, double start, double dur)
{
	if (tl__store_reserve(s) < 0)
		abort();
	tl_row row = (tl_row)s->n;
	s->name[row] = tl__interns(s->strings, name);
	s->kind[row] = (uint8_t)kind;
	s->flags[row] = TL_EVENT_TS_FRACTION | TL_EVENT_DUR_FRACTION;
	s->track[row] = pid == TL_ID_NONE && tid == TL_ID_NONE ? UINT32_MAX : tl__store_track(s, source, pid, tid);
	s->start[row] = tl_fixture_time(start);
	s->dur[row] = tl_fixture_time(dur);
	s->side[row] = UINT32_MAX;
	s->n++;
	return row;
}

static inline tl_row tl_fixture_event(tl_store *s, tl_kind kind, const char *name, tl_id pid, tl_id tid, double start,
				      double dur)
{
	return tl_fixture_event_of(s, 0, kind, name, pid, tid, start, dur);
}

/** Arguments of a CPU op or annotation, made empty on first use; valid until the next call for another row. */
static inline tl_op_args *tl_fixture_op_args(tl_store *s, tl_row row)
{
	if (s->side[row] == UINT32_MAX) {
		tl_op_args none = {.external = TL_ID_NONE, .sequence = TL_ID_NONE, .fwd_thread = TL_ID_NONE};
		s->side[row] = (uint32_t)s->ops.n;
		if (TL_VEC_PUSH(&s->ops, none) < 0)
			abort();
	}
	return &s->ops.v[s->side[row]];
}

/** The same for launches and GPU events. */
static inline tl_link_args *tl_fixture_link_args(tl_store *s, tl_row row)
{
	if (s->side[row] == UINT32_MAX) {
		tl_link_args none = {.correlation = TL_ID_NONE,
				     .external = TL_ID_NONE,
				     .stream = TL_ID_NONE,
				     .device = TL_ID_NONE,
				     .collective = UINT32_MAX};
		s->side[row] = (uint32_t)s->links.n;
		if (TL_VEC_PUSH(&s->links, none) < 0)
			abort();
	}
	return &s->links.v[s->side[row]];
}

static inline tl_row tl_fixture_op(tl_store *s, const char *name, tl_id pid, tl_id tid, double start, double dur)
{
	return tl_fixture_event(s, TL_KIND_CPU_OP, name, pid, tid, start, dur);
}

/** A runtime call; correlation TL_ID_NONE: none. */
static inline tl_row tl_fixture_launch(tl_store *s, const char *name, tl_id pid, tl_id tid, double start, double dur,
				       tl_id correlation)
{
	tl_row row = tl_fixture_event(s, TL_KIND_RUNTIME, name, pid, tid, start, dur);
	tl_fixture_link_args(s, row)->correlation = correlation;
	return row;
}

/** A GPU event of `kind` on process `pid`; the stream is the tid. */
static inline tl_row tl_fixture_gpu(tl_store *s, tl_kind kind, const char *name, tl_id pid, tl_id stream, double start,
				    double dur, tl_id correlation)
{
	tl_row row = tl_fixture_event(s, kind, name, pid, stream, start, dur);
	tl_link_args *args = tl_fixture_link_args(s, row);
	args->correlation = correlation;
	args->stream = stream;
	return row;
}

/** A Python frame; ids TL_ID_NONE: the file has none. */
static inline tl_row tl_fixture_python(tl_store *s, const char *name, tl_id pid, tl_id tid, double start, double dur,
				       tl_id id, tl_id parent)
{
	tl_row row = tl_fixture_event(s, TL_KIND_PYTHON, name, pid, tid, start, dur);
	tl_python_args args = {.id = id, .parent = parent, .module = TL_ID_NONE};
	s->side[row] = (uint32_t)s->python.n;
	if (TL_VEC_PUSH(&s->python, args) < 0)
		abort();
	return row;
}

/** One half of a flow arrow: phase 's' or 'f', kind TL_KIND_FLOW or TL_KIND_FWDBWD. */
static inline tl_row tl_fixture_flow(tl_store *s, tl_kind kind, char phase, tl_id id, tl_id pid, tl_id tid, double at)
{
	tl_row row = tl_fixture_event(s, kind, "flow", pid, tid, at, 0);
	tl_flow_args args = {.id = id, .phase = phase};
	s->side[row] = (uint32_t)s->flows.n;
	if (TL_VEC_PUSH(&s->flows, args) < 0)
		abort();
	return row;
}

#endif
