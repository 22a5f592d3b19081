/* SPDX-License-Identifier: MIT */
/* Which GPU event of its stream an event is: the argument stream_index, made when the first one is asked for. */
#include "core.h"

#include <stdlib.h>

typedef struct place {
	tl_row row;
	uint32_t stream, index; /* number of the stream, position on it by start */
	tl_time start;
} place;

struct core_streams {
	place *places; /* by row */
	size_t n;
};

void core_streams_free(core_streams *streams)
{
	if (streams)
		PyMem_Free(streams->places);
	PyMem_Free(streams);
}

/* Number of the stream of an event, counted in `numbers`; streams of different processes are different. */
static bool take_stream(const tl_events *events, tl_row row, PyObject *numbers, uint32_t *out)
{
	char pid[TL_EVENT_TEXT], stream[TL_EVENT_TEXT];
	size_t n_pid = tl_event_identifier_text(events, row, TL_IDENT_PID, pid, NULL);
	size_t n = tl_event_identifier_text(events, row, TL_IDENT_STREAM, stream, NULL);
	PyObject *key = Py_BuildValue("(y#y#)", pid, (Py_ssize_t)n_pid, stream, (Py_ssize_t)n);
	PyObject *next = key ? PyLong_FromSsize_t(PyDict_GET_SIZE(numbers)) : NULL;
	PyObject *number = next ? PyDict_SetDefault(numbers, key, next) : NULL; /* borrowed */
	if (number)
		*out = (uint32_t)PyLong_AsUnsignedLong(number);
	Py_XDECREF(key);
	Py_XDECREF(next);
	return number != NULL;
}

static bool has_stream(const tl_events *events, tl_row row)
{
	char text[TL_EVENT_TEXT];
	return tl_event_is_gpu(events, row) && tl_event_identifier_text(events, row, TL_IDENT_STREAM, text, NULL);
}

static int by_stream(const void *left, const void *right)
{
	const place *a = left, *b = right;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int by_row(const void *left, const void *right)
{
	const place *a = left, *b = right;
	return (a->row > b->row) - (a->row < b->row);
}

static bool fill(core_streams *streams, const tl_events *events)
{
	size_t room = 0;
	PyObject *numbers = PyDict_New();
	bool good = numbers != NULL;
	for (tl_row row = 0; row < tl_events_count(events); row++)
		room += has_stream(events, row);
	streams->places = PyMem_Malloc((room + 1) * sizeof *streams->places);
	if (!streams->places) {
		PyErr_NoMemory();
		good = false;
	}
	for (tl_row row = 0; good && row < tl_events_count(events); row++) {
		if (!has_stream(events, row))
			continue;
		place *p = &streams->places[streams->n++];
		*p = (place){.row = row, .start = tl_event_start(events, row)};
		good = take_stream(events, row, numbers, &p->stream);
	}
	Py_XDECREF(numbers);
	if (!good)
		return false;
	qsort(streams->places, streams->n, sizeof *streams->places, by_stream);
	for (size_t i = 1; i < streams->n; i++)
		if (streams->places[i].stream == streams->places[i - 1].stream)
			streams->places[i].index = streams->places[i - 1].index + 1;
	qsort(streams->places, streams->n, sizeof *streams->places, by_row);
	return true;
}

bool core_stream_index(core_trace *trace, tl_row row, long *out)
{
	const tl_events *events = tl_trace_events(trace->trace);
	*out = -1;
	if (row >= tl_events_count(events) || !has_stream(events, row))
		return true;
	if (!trace->streams) {
		core_streams *made = PyMem_Calloc(1, sizeof *made);
		if (!made)
			return PyErr_NoMemory() != NULL;
		if (!fill(made, events)) {
			core_streams_free(made);
			return false;
		}
		trace->streams = made;
	}
	const place *p = bsearch(&(place){.row = row}, trace->streams->places, trace->streams->n, sizeof *p, by_row);
	*out = (long)p->index;
	return true;
}
