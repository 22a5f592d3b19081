/* SPDX-License-Identifier: MIT */
/**
 * @file kineto.h
 * The parts of the Kineto importer: kineto.c reads documents and finds the events, kineto_scan.c
 * reads one well-formed event, kineto_repair.c rewrites a broken one so that it can be read, kineto_pipeline.c hands
 * it to the thread that stores, kineto_event.c puts it into the store, kineto_time.c and kineto_zero.c settle times
 * when all is read.
 */
#ifndef TL_TRACE_KINETO_H
#define TL_TRACE_KINETO_H

#include "io/json.h"
#include "trace/decimal.h"
#include "trace/kineto_known.h"
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

/**
 * One event as it stands in the text; tokens point into it, or to known texts. `known` of a token is the number of the
 * text; with TL_JSON_VALUE, of digits behind the point; of a pid or tid, of the run (below) that it came in.
 *
 * Read in place by whoever stores it, so no larger than it must be: TL_EVENT_ROOM bytes while it is scanned,
 * tl__kineto_event_size afterwards.
 */
typedef struct tl_kineto_event {
	uint64_t have;         /* TL_F_BIT of each field that is there */
	int64_t offset;        /* of the event in the unpacked text */
	uint32_t duplicates;   /* keys that came again */
	uint32_t big_integers; /* numbers beyond 64 bits, read or not */
	uint32_t odd_numbers;  /* not written as JSON does */
	uint32_t no_numbers;   /* begin like a number and are none; they count as missing */
	bool empty;            /* {} */
	uint8_t tokens;
	uint8_t slot[TL_F_COUNT]; /* which token is that of a field */
	tl_json_token token[];
} tl_kineto_event;
#define TL_EVENT_ROOM (sizeof(tl_kineto_event) + TL_F_COUNT * sizeof(tl_json_token))

static inline size_t tl__kineto_event_size(const tl_kineto_event *event)
{
	return sizeof *event + event->tokens * sizeof *event->token;
}
/** Token of a field that the event has. */
static inline const tl_json_token *tl__kineto_token(const tl_kineto_event *event, tl_kineto_field field)
{
	return &event->token[event->slot[field]];
}

/** Memory for texts that are made compact while they are read; {0}: none, they are left as they are. */
typedef struct tl_kineto_scratch {
	char *next, *end; /* tokens of the events read so far lie before `next` */
	tl_known *known;  /* names and lists that came before; NULL: none are remembered */
} tl_kineto_scratch;

/*
 * What stood between two values of an event before: `,\n      "pid": `, `,"args":{"External id":`, `}}`. Writers repeat
 * themselves: which of these follows which, with which blanks, is nearly always known, and to compare with what is
 * expected is much faster than to find out what stands there.
 */
enum { TL_STEPS = 128, TL_STEP_TEXT = 80 };
typedef struct tl_kineto_step {
	char text[TL_STEP_TEXT + 16]; /* from behind a value, or the brace of the event, to the next value or its end */
	uint8_t n;                    /* bytes of text; 0: never matches */
	uint8_t field;                /* tl_kineto_field of the value that follows */
	bool has_key;                 /* of the event itself */
	bool opens_args;              /* "args": { is among it */
	bool from_args, in_args;      /* whether the value before and the one that follows belong to args */
	bool ends;                    /* the event ends; no value follows */
	uint8_t next[2];              /* the steps that followed last, the last one first */
} tl_kineto_step;

/*
 * Steps with values between them that come again and again: which phase and category, which thread. From the brace of
 * an event or the value of its name to the first value that is not among those.
 */
enum { TL_RUNS = 32, TL_RUN_TEXT = 128, TL_RUN_VALUES = 4 };
typedef struct tl_kineto_run {
	char text[TL_RUN_TEXT + 16];
	uint8_t n;    /* bytes of text; 0: never matches */
	uint8_t step; /* the last one */
	bool start;   /* behind the brace of an event */
	uint8_t values;
	struct {
		uint8_t field, at, n, type; /* `at`: where it stands in the text */
		uint8_t known;              /* number of the run when it is a pid or tid and a plain integer, else 0 */
	} value[TL_RUN_VALUES];
	uint8_t next[2]; /* the runs that followed last */
} tl_kineto_run;

/** What a writer repeats. Zero-initialise. */
typedef struct tl_kineto_steps {
	tl_kineto_step step[TL_STEPS]; /* the first: the brace of an event, the second: all that is not kept */
	tl_kineto_run run[TL_RUNS];    /* the first: none */
	unsigned n, n_runs;
	uint8_t last_run;
} tl_kineto_steps;

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

/* Between what one thread writes and what the other one uses: a cache line, and the one that is fetched with it. */
#define TL_APART_(line) char apart_##line[128]
#define TL_APART__(line) TL_APART_(line)
#define TL_APART TL_APART__(__LINE__)
typedef struct tl_kineto_pipeline tl_kineto_pipeline;

/* Two threads may be at work: the first half is the scanner's, the second the adder's (trace/kineto_pipeline.h). */
typedef struct tl_kineto {
	tl_store *store;
	struct tl_raw *raw; /* of the store; NULL: texts are not kept */
	const tl_trace_options *options;
	tl_source *source;
	tl_error *err;
	TL_APART;

	/* the window: text from `p` to `scan.end`, then zeros */
	const char *window;
	const char *p;
	tl_json_scan scan;
	uint64_t window_offset; /* of window[0] in the unpacked text */
	bool eof;
	int64_t next_progress; /* ns of the monotonic clock */

	tl_kineto_event *event;    /* where the next one is read to */
	tl_kineto_scratch scratch; /* at least as large as what is left of the window */
	tl_buf repaired;           /* an event rewritten by tl__kineto_repair */
	uint64_t repaired_bytes;   /* of the text, so far */
	uint64_t in_vain;          /* bytes that repairs went through and found no end of a string */
	tl_kineto_pipeline *pipeline;
	tl_kineto_steps steps;
	TL_APART;

	uint32_t document; /* which document of the file, from 0 */
	uint64_t events;   /* objects read as events */
	tl_buf text;       /* scratch for unescaped and compacted texts */

	/* what the next event most likely shares with the last one */
	tl_id last_pid, last_tid;
	uint32_t last_track;
	uint32_t track_of_run[TL_RUNS];  /* whose pid and tid are those of a run; UINT32_MAX: not known */
	tl_kineto_category category[64]; /* by a hash of the text */
	tl_map categories;               /* string -> index of category */
	uint64_t phases[256];

	bool has_base;
	uint64_t in_range;           /* events with a usable time */
	TL_VEC(tl_kineto_zero) zero; /* in file order */
	TL_VEC(tl_kineto_far) far;
	TL_VEC(tl_kineto_span) spans; /* B and E events in file order */
} tl_kineto;

/** Tracks mean something else from here on, as at the beginning of a document. */
void tl__kineto_forget_tracks(tl_kineto *k);

/** Byte offset of a place in the window. */
static inline int64_t tl__kineto_offset(const tl_kineto *k, const char *p)
{
	return (int64_t)k->window_offset + (p - k->window);
}

/** Reads a well-formed event at `p`, which is `{`. The place behind it, or NULL (see tl_json_scan). */
const char *tl__kineto_scan(tl_kineto_event *event, tl_kineto_steps *steps, tl_kineto_scratch *scratch,
			    tl_json_scan *scan, const char *p);

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
int tl__kineto_add(tl_kineto *k, const tl_kineto_event *event);
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
