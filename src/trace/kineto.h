/* SPDX-License-Identifier: MIT */
/**
 * @file kineto.h
 * The parts of the Kineto importer: kineto.c reads documents and finds the events, kineto_scan.c
 * reads one well-formed event, kineto_repair.c rewrites a broken one so that it can be read,
 * kineto_event.c puts it into the store, kineto_time.c and kineto_zero.c settle times when all is read.
 */
#ifndef TL_TRACE_KINETO_H
#define TL_TRACE_KINETO_H

#include "io/json.h"
#include "trace/decimal.h"
#include "trace/trace.h"
#include "util/buf.h"

/** What the importer reads of an event. */
typedef enum tl_kineto_field {
	TL_F_PH,
	TL_F_CAT,
	TL_F_NAME,
	TL_F_PID,
	TL_F_TID,
	TL_F_TS,
	TL_F_DUR,
	TL_F_ID,
	TL_F_ID2,
	/* of args */
	TL_F_EXTERNAL,
	TL_F_SEQUENCE,
	TL_F_FWD_THREAD,
	TL_F_DIMS,
	TL_F_TYPES,
	TL_F_STRIDES,
	TL_F_CONCRETE,
	TL_F_KERNEL_FILE,
	TL_F_CORRELATION,
	TL_F_STREAM,
	TL_F_DEVICE,
	TL_F_GRID,
	TL_F_BLOCK,
	TL_F_PYTHON_ID,
	TL_F_PYTHON_PARENT,
	TL_F_PYTHON_MODULE,
	TL_F_ARG_NAME,
	TL_F_ARG_LABELS,
	TL_F_PERF_META,  /* what profilers of serving frameworks note about an operation */
	TL_F_COLLECTIVE, /* the first of TL_COLL_FIELDS */
	TL_F_COUNT = TL_F_COLLECTIVE + TL_COLL_FIELDS,
	TL_F_ARGS, /* the object itself, never stored */
	TL_F_NONE
} tl_kineto_field;
#define TL_F_BIT(field) (UINT64_C(1) << (field))

/** One event as it stands in the text; tokens point into it. */
typedef struct tl_kineto_event {
	uint64_t have; /* TL_F_BIT of each field that is there */
	tl_json_token field[TL_F_COUNT];
	uint32_t keys;         /* keys in the event, 0: {} */
	uint32_t duplicates;   /* keys that came again */
	uint32_t big_integers; /* numbers beyond 64 bits, read or not */
	uint32_t odd_numbers;  /* not written as JSON does */
	uint32_t no_numbers;   /* begin like a number and are none; they count as missing */
	/* memory for texts that are made compact while they are read, given by the caller; may be NULL */
	char *scratch, *scratch_next, *scratch_end;
} tl_kineto_event;

/*
 * Keys as they stood in the text before, from behind the comma to the value (`\n      "pid": `). Writers
 * repeat themselves: which key follows which, with which blanks, is nearly always known, and to
 * compare with what is expected is much faster than to find out where a key ends.
 */
enum { TL_KEYS = 64, TL_KEY_TEXT = 48 };
typedef struct tl_kineto_key {
	char text[TL_KEY_TEXT + 16]; /* zeros behind it */
	uint8_t n;                   /* bytes of text; 0: never matches */
	uint8_t field;               /* tl_kineto_field */
	uint8_t args;                /* a key of args, not of the event */
	uint8_t next;                /* the key that followed last time */
} tl_kineto_key;

/** Zero-initialise. */
typedef struct tl_kineto_keys {
	tl_kineto_key key[TL_KEYS]; /* the first two stand for "{" of an event and of args, the third for unknown */
	unsigned n;
} tl_kineto_keys;

/** Category of an event, remembered by its text as it stands in the file. */
typedef struct tl_kineto_category {
	const char *text;
	uint32_t n;
	uint16_t index;
	uint8_t kind;
	bool known;
} tl_kineto_category;

/** A time that waits for the end of the file: before the base was known, or too far from it. */
typedef struct tl_kineto_far {
	tl_int128 ps; /* absolute */
	int64_t offset;
	tl_row row;
} tl_kineto_far;

/** An event whose ts is 0: a time, or none. */
typedef struct tl_kineto_zero {
	int64_t offset;
	tl_row row;
} tl_kineto_zero;

typedef struct tl_kineto_span {
	tl_row row;
	bool begin;
} tl_kineto_span;

typedef struct tl_kineto {
	tl_store *store;
	const tl_trace_options *options;
	tl_error *err;

	/* the window: text from `p` to `scan.end`, then zeros */
	tl_source *source;
	const char *window;
	const char *p;
	tl_json_scan scan;
	uint64_t window_offset; /* of window[0] in the unpacked text */
	bool eof;
	int64_t next_progress; /* ns of the monotonic clock */

	uint32_t document;     /* which document of the file, from 0 */
	uint64_t events;       /* objects read as events */
	tl_kineto_event event; /* the one being read */
	size_t scratch_size;   /* of event.scratch: at least as large as the window */
	tl_buf text;           /* scratch for unescaped and compacted texts */
	tl_buf repaired;       /* an event rewritten by tl__kineto_repair */

	/* what the next event most likely shares with the last one */
	tl_kineto_keys keys;
	tl_id last_pid, last_tid;
	uint32_t last_track;
	tl_kineto_category category[64]; /* by a hash of the text */
	tl_map categories;               /* string -> index of category */
	uint64_t phases[256];

	bool has_base;
	uint64_t in_range;           /* events with a usable time */
	TL_VEC(tl_kineto_zero) zero; /* in file order */
	TL_VEC(tl_kineto_far) far;
	TL_VEC(tl_kineto_span) spans; /* B and E events in file order */
} tl_kineto;

/** Byte offset of a place in the window. */
static inline int64_t tl__kineto_offset(const tl_kineto *k, const char *p)
{
	return (int64_t)k->window_offset + (p - k->window);
}

/** Reads a well-formed event at `p`, which is `{`. The place behind it, or NULL (see tl_json_scan). */
const char *tl__kineto_scan(tl_kineto_event *event, tl_kineto_keys *keys, tl_json_scan *scan, const char *p);

typedef enum tl_kineto_repaired {
	TL_REPAIR_DONE, /* well-formed text is in k->repaired, padded */
	TL_REPAIR_MORE, /* the text ran out */
	TL_REPAIR_LOST  /* cannot be read */
} tl_kineto_repaired;
/**
 * Rewrites the event at `p` as well-formed JSON into k->repaired and counts what it repaired;
 * `*after` is the place behind the event. TL_ENOMEM, or a tl_kineto_repaired.
 */
int tl__kineto_repair(tl_kineto *k, const char *p, const char **after);

/** What lies behind a place where an event may end. */
typedef enum tl_kineto_boundary {
	TL_BOUNDARY_NO,
	TL_BOUNDARY_EVENT, /* the next event begins at *next */
	TL_BOUNDARY_LIST,  /* a new list of events begins behind *next */
	TL_BOUNDARY_END,   /* the list of events ends at *next */
	TL_BOUNDARY_MORE   /* cannot be told before more text is read */
} tl_kineto_boundary;
/** Looks at `p`, a closing brace or a quote. `eof`: nothing follows `end`. */
tl_kineto_boundary tl__kineto_boundary_at(const char *p, const char *end, bool eof, const char **next);
/** Whether a key is one that events have at their top level. */
bool tl__kineto_is_event_key(const char *key, size_t n);

/** The phase letter of an event, '?' when it is no letter, 0 when there is none. */
char tl__kineto_phase(const tl_kineto_event *event);
/** Text of a token without quotes and escapes, valid until k->text is used again. NULL: out of memory. */
const char *tl__kineto_plain(tl_kineto *k, const tl_json_token *token, size_t *n);

/** Appends the event as the next row. 0, TL_ENOMEM, TL_ELIMIT. */
int tl__kineto_add(tl_kineto *k, const tl_kineto_event *event, int64_t offset);
/** Appends a row for something that is no event. */
int tl__kineto_add_empty(tl_kineto *k, tl_health_kind why, int64_t offset, const char *detail);

/** Sets start and duration of the row being made. */
int tl__kineto_set_time(tl_kineto *k, const tl_kineto_event *event, tl_row row, char phase, int64_t offset);
/** At the end of the file: times of 0, far times, pairs of B and E, doubts about the unit. */
int tl__kineto_settle_times(tl_kineto *k);
/** Places events whose ts is 0, or counts them as having no timestamp. kineto_zero.c */
int tl__kineto_settle_zero(tl_kineto *k);
/** Time relative to the base, or TL_TIME_NONE when it does not fit. */
tl_time tl__kineto_relative(const tl_store *store, tl_int128 ps);
/** First start and last end of the events that are placed in time; false when there is none. */
bool tl__kineto_extent(const tl_store *store, tl_time *first, tl_time *last);

#endif
