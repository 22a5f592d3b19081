/* SPDX-License-Identifier: MIT */
/**
 * @file store.h
 * The event store: every event of a trace in columns. Row = position in `traceEvents`
 * = UID. Importers fill it (trace/kineto.c), everything else reads it.
 *
 * Columns are flat growable arrays (see util/alloc.h). What only some kinds of events
 * have lies in side tables; `side[row]` is the index there, and `kind[row]` says in which
 * table: op for TL_KIND_CPU_OP and annotations, link for TL_KIND_RUNTIME and GPU kinds,
 * python for TL_KIND_PYTHON, flow for TL_KIND_FLOW and TL_KIND_FWDBWD.
 */
#ifndef TL_TRACE_STORE_H
#define TL_TRACE_STORE_H

#include "tracelens/common.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/map.h"
#include "util/strings.h"

/** What an event is, decided from its category (table in trace/kinds.c), never from its pid. */
typedef enum tl_kind {
	TL_KIND_OTHER,          /* kept and numbered, used by nothing */
	TL_KIND_CPU_OP,         /* cpu_op */
	TL_KIND_RUNTIME,        /* cuda_runtime, cuda_driver, *_runtime, *_driver: launches GPU work */
	TL_KIND_PYTHON,         /* python_function */
	TL_KIND_KERNEL,         /* kernel */
	TL_KIND_MEMCPY,         /* gpu_memcpy */
	TL_KIND_MEMSET,         /* gpu_memset */
	TL_KIND_ANNOTATION,     /* user_annotation */
	TL_KIND_GPU_ANNOTATION, /* gpu_user_annotation */
	TL_KIND_FLOW,           /* ac2g, async_cpu_to_gpu */
	TL_KIND_FWDBWD,         /* fwdbwd */
	TL_KIND_METADATA,       /* ph M */
	TL_KIND_EMPTY           /* unreadable or {} */
} tl_kind;

static inline bool tl__kind_is_gpu(uint8_t kind)
{
	return kind >= TL_KIND_KERNEL && kind <= TL_KIND_MEMSET;
}

enum tl_event_flags {
	TL_EVENT_TS_FRACTION = 1,  /* the text of ts had a fraction: prints 3.0, not 3 */
	TL_EVENT_DUR_FRACTION = 2, /* the same of dur */
	TL_EVENT_NO_DUR = 4,       /* no dur in the file (instant, X without dur): dur column is 0 */
	TL_EVENT_BAD_DUR = 8       /* negative, absurd or unreadable duration: TL_TIME_NONE in the dur column */
};

/**
 * An identifier from the file (pid, tid, correlation, flow id, stream ...), canonical, so that
 * 7, "7" and 7.0 are equal: a non-negative integer below 2^63 as itself; anything else as
 * TL_ID_TEXT | id of its text in the string pool; TL_ID_NONE when absent or null.
 */
typedef uint64_t tl_id;
#define TL_ID_NONE UINT64_MAX
#define TL_ID_TEXT (UINT64_C(1) << 63)

/** Arguments of a host operation. Texts are JSON in canonical spelling (no blanks outside strings). */
typedef struct tl_op_args {
	tl_str dims, types, strides, concrete; /* Input Dims, Input type, Input Strides, Concrete Inputs */
	tl_str kernel_file;                    /* kernel_file, as JSON text */
	tl_id external;                        /* External id */
	tl_id sequence;                        /* Sequence number */
	tl_id fwd_thread;                      /* Fwd thread id */
} tl_op_args;

/** Arguments of launches and GPU events. */
typedef struct tl_link_args {
	tl_id correlation; /* 0 is stored as TL_ID_NONE: several runtimes write 0 for "none" */
	tl_id external;
	tl_id stream;
	tl_id device;
	tl_str grid, block;  /* JSON text */
	uint32_t collective; /* index into collectives, or UINT32_MAX */
} tl_link_args;

/** Fields of a collective, as JSON text (strings keep their quotes), TL_STR_NONE when missing. */
enum {
	TL_COLL_GROUP_NAME,  /* Process Group Name */
	TL_COLL_GROUP_RANKS, /* Process Group Ranks */
	TL_COLL_NAME,        /* Collective name */
	TL_COLL_GROUP_SIZE,  /* Group size */
	TL_COLL_DTYPE,       /* dtype */
	TL_COLL_IN_ELEMS,    /* In msg nelems */
	TL_COLL_OUT_ELEMS,   /* Out msg nelems */
	TL_COLL_IN_SPLIT,    /* In split size */
	TL_COLL_OUT_SPLIT,   /* Out split size */
	TL_COLL_FIELDS
};
typedef struct tl_coll_args {
	tl_str field[TL_COLL_FIELDS];
} tl_coll_args;

typedef struct tl_python_args {
	tl_id id, parent, module; /* Python id, Python parent id, Python module id */
} tl_python_args;

typedef struct tl_flow_args {
	tl_id id;
	char phase; /* 's', 't' or 'f' */
} tl_flow_args;

/**
 * A key and value of an event's args that has no place in the tables above: what edits of the tree attach for
 * operation models ("MoE topk"). Texts of the pool; the value is JSON in canonical spelling.
 */
typedef struct tl_extra {
	tl_row row;
	tl_str key, value;
} tl_extra;

/** A thread or stream: one (source, pid, tid). */
typedef struct tl_track {
	uint32_t source;    /* document in the file, 0 for the first */
	uint32_t process;   /* index into processes */
	tl_id pid, tid;     /* TL_ID_NONE when the event has none */
	tl_str thread_name; /* from metadata, or TL_STR_NONE */
} tl_track;

typedef struct tl_process {
	uint32_t source;
	tl_id pid;
	tl_str name, labels; /* process_name, process_labels; TL_STR_NONE when absent */
} tl_process;

/** Kinds of doubt about a trace; text and advice in trace/health.c. */
typedef enum tl_health_kind {
	/* text and syntax */
	TL_HEALTH_TRUNCATED,       /* the file ends in the middle */
	TL_HEALTH_UNESCAPED_QUOTE, /* a quote inside a string */
	TL_HEALTH_BAD_ESCAPE,      /* a backslash that escapes nothing */
	TL_HEALTH_CONTROL_BYTE,    /* raw control byte or newline in a string */
	TL_HEALTH_BAD_UTF8,
	TL_HEALTH_NOT_A_NUMBER, /* inf, nan in all spellings */
	TL_HEALTH_ODD_NUMBER,   /* a number that is not written as JSON does: 007, +5, 1. */
	TL_HEALTH_BARE_WORD,
	TL_HEALTH_TRAILING_COMMA,
	TL_HEALTH_UNREADABLE_EVENT, /* skipped up to the next event */
	TL_HEALTH_NOT_AN_EVENT,     /* array element that is no object */
	TL_HEALTH_EMPTY_EVENT,      /* {} */
	TL_HEALTH_DUPLICATE_KEY,
	TL_HEALTH_LEADING_JUNK,
	TL_HEALTH_TRAILING_JUNK,
	TL_HEALTH_SEVERAL_DOCUMENTS,
	TL_HEALTH_SEVERAL_WRITERS,
	TL_HEALTH_BIG_INTEGER,   /* beyond 64 bits, kept as text */
	TL_HEALTH_LONG_ARGUMENT, /* an argument text beyond 64 KiB, shortened */
	TL_HEALTH_BAD_CONTAINER, /* damaged gzip, zstd or zip data */
	/* time */
	TL_HEALTH_NO_TIMESTAMP,      /* ts missing, unreadable or 0 on an event that needs one */
	TL_HEALTH_TIME_OUT_OF_RANGE, /* more than 106 days from the base */
	TL_HEALTH_MISSING_DURATION,
	TL_HEALTH_NEGATIVE_DURATION,
	TL_HEALTH_ABSURD_DURATION, /* more than 7 days */
	TL_HEALTH_STREAM_OVERRUN,  /* a GPU event overruns the next on its stream by 1 ms or more */
	TL_HEALTH_CLIPPED_OVERRUN, /* the same, ended at that next start because the caller asked for it */
	TL_HEALTH_KERNEL_BEFORE_LAUNCH,
	TL_HEALTH_UNFINISHED_SPAN, /* python frames whose end is the end of profiling */
	TL_HEALTH_UNIT_DOUBT,      /* displayTimeUnit ns and an absurd span */
	/* structure and links */
	TL_HEALTH_UNMATCHED_BEGIN,
	TL_HEALTH_UNMATCHED_END,
	TL_HEALTH_CLIPPED_SPAN,        /* leaves its parent; attached to the ancestor that contains its start */
	TL_HEALTH_OVERLONG_PYTHON,     /* the same, of a python frame, by 1 ms or more */
	TL_HEALTH_NO_LAUNCH,           /* GPU events whose launch is not in the trace: out of the default timeline */
	TL_HEALTH_LINKED_WITHOUT_FLOW, /* linked by correlation although a flow half is missing */
	TL_HEALTH_LINKED_BY_EXTERNAL_ID,
	TL_HEALTH_LINKED_BY_FLOW,       /* no correlation; linked by the flow arrow alone */
	TL_HEALTH_DUPLICATE_LAUNCH,     /* several launches carry one correlation id */
	TL_HEALTH_AMBIGUOUS_RANKS,      /* one correlation id in several processes; left unlinked */
	TL_HEALTH_GRAPH_UNDER_RECORDED, /* a graph replay with far fewer kernels than its siblings */
	TL_HEALTH_PSEUDO_OP_SKIPPED, /* an operation that a pseudo-operation was meant for and could not be made of */
	TL_HEALTH_UNKNOWN_CATEGORY,
	TL_HEALTH_UNKNOWN_PHASE,
	TL_HEALTH_METADATA, /* metadata event without what it needs */
	TL_HEALTH_KINDS
} tl_health_kind;

typedef struct tl_health_entry {
	uint64_t count;
	int64_t first_offset; /* byte offset in the unpacked text, -1 when the finding is not about a place */
	tl_row first_row;     /* TL_ROW_NONE when the finding is not about an event */
	tl_time time;         /* sum of the GPU or host time concerned, where that means something, else 0 */
	char detail[128];     /* of the first one, for people; may be "" */
} tl_health_entry;

typedef struct tl_health {
	tl_health_entry entry[TL_HEALTH_KINDS];
} tl_health;

/** No findings. */
void tl__health_clear(tl_health *health);
/** Counts a finding. `offset` -1, `row` TL_ROW_NONE, `time` TL_TIME_NONE when unknown; `detail` NULL or printf text
 * kept of the first. */
void tl__health_add(tl_health *health, tl_health_kind kind, int64_t offset, tl_row row, tl_time time,
		    const char *detail);
/** Whether a kind is a repair of the file (what --strict refuses) as opposed to a mere note about its content. */
bool tl__health_is_repair(tl_health_kind kind);
/** Short name for tables ("unescaped_quote") and a sentence for people. */
const char *tl__health_name(tl_health_kind kind);
const char *tl__health_text(tl_health_kind kind);

/** Number of events of each phase letter and of each category, for the health table. */
typedef struct tl_count {
	tl_str name;
	uint64_t count;
} tl_count;

typedef struct tl_store {
	tl_strings *strings;
	char *path;         /* as given, for messages */
	struct tl_raw *raw; /* texts of whole events (trace/raw.h), those of the trace; NULL: not kept */

	/* ---- columns, n rows each ---- */
	size_t n, cap;
	tl_str *name;
	uint16_t *category;   /* index into categories */
	uint8_t *kind;        /* tl_kind */
	uint8_t *flags;       /* tl_event_flags */
	uint32_t *track;      /* index into tracks; UINT32_MAX for events without pid and tid */
	tl_time *start, *dur; /* TL_TIME_NONE when unusable; dur >= 0 otherwise */
	uint32_t *side;       /* index into the side table of the kind, UINT32_MAX when it has no args */

	/* ---- side tables ---- */
	TL_VEC(tl_op_args) ops;
	TL_VEC(tl_link_args) links;
	TL_VEC(tl_coll_args) collectives;
	TL_VEC(tl_python_args) python;
	TL_VEC(tl_flow_args) flows;
	TL_VEC(tl_extra) extras; /* sorted by row; a key once a row */

	TL_VEC(tl_track) tracks;
	TL_VEC(tl_process) processes;
	TL_VEC(tl_str) categories; /* text of each category index; 0 is "no category" */
	TL_VEC(tl_count) phases;   /* events per phase letter */

	/* ---- the whole file ---- */
	int64_t base_us;                /* absolute time of time 0: whole microseconds of the first ts above 0 */
	int64_t base_ns;                /* baseTimeNanoseconds, 0 when absent */
	uint32_t sources;               /* documents read */
	bool truncated;                 /* cut off; everything before is there */
	uint64_t text_bytes;            /* unpacked */
	TL_VEC(tl_str) metadata_keys;   /* top-level keys other than traceEvents, file order */
	TL_VEC(tl_str) metadata_values; /* their JSON text */
	tl_health health;

	tl_map track_index, process_index; /* for tl__store_track and tl__store_process */
} tl_store;

tl_store *tl__store_new(void); /* NULL when out of memory */
void tl__store_free(tl_store *store);
/**
 * A store with the same events, tracks and texts; its pool extends that of `from`, which must not grow any more. New
 * tracks and processes are not for it. NULL when out of memory. trace/store_copy.c
 */
tl_store *tl__store_copy(const tl_store *from);
/** Room for one more row in every column; the new row is zeroed, `n` is not advanced. 0, TL_ENOMEM, TL_ELIMIT. */
int tl__store_reserve(tl_store *store);
/** Index of the track of (source, pid, tid), made when new; UINT32_MAX when out of memory. */
uint32_t tl__store_track(tl_store *store, uint32_t source, tl_id pid, tl_id tid);
/** Index of the process (source, pid), made when new; UINT32_MAX when out of memory. */
uint32_t tl__store_process(tl_store *store, uint32_t source, tl_id pid);
/** Bytes that the events take, strings included. */
uint64_t tl__store_memory(const tl_store *store);
/** Extra keys and values of an event: the first, and their number in *n. Of a store whose extras are sorted. */
const tl_extra *tl__store_extras(const tl_store *store, tl_row row, size_t *n);
/** Text of an id for people: "7", "stream 7". Writes at most 64 bytes into out. */
const char *tl__id_text(const tl_store *store, tl_id id, char out[64]);

static inline const tl_op_args *tl__op_args(const tl_store *s, tl_row row)
{
	uint8_t kind = s->kind[row];
	bool has = kind == TL_KIND_CPU_OP || kind == TL_KIND_ANNOTATION || kind == TL_KIND_GPU_ANNOTATION;
	return has && s->side[row] != UINT32_MAX ? &s->ops.v[s->side[row]] : NULL;
}
static inline const tl_link_args *tl__link_args(const tl_store *s, tl_row row)
{
	bool has = s->kind[row] == TL_KIND_RUNTIME || tl__kind_is_gpu(s->kind[row]);
	return has && s->side[row] != UINT32_MAX ? &s->links.v[s->side[row]] : NULL;
}
static inline const tl_python_args *tl__python_args(const tl_store *s, tl_row row)
{
	return s->kind[row] == TL_KIND_PYTHON && s->side[row] != UINT32_MAX ? &s->python.v[s->side[row]] : NULL;
}
/** The document of the file that an event is of. */
static inline uint32_t tl__source_of(const tl_store *s, tl_row row)
{
	return s->track[row] == UINT32_MAX ? 0 : s->tracks.v[s->track[row]].source;
}
/** Duration of an event for sums: 0 when it is unusable. */
static inline tl_time tl__known_dur(const tl_store *s, tl_row row)
{
	return s->dur[row] == TL_TIME_NONE ? 0 : s->dur[row];
}
/** End of an event; TL_TIME_NONE when start or duration is unusable. */
static inline tl_time tl__end(const tl_store *s, tl_row row)
{
	return s->start[row] == TL_TIME_NONE || s->dur[row] == TL_TIME_NONE ? TL_TIME_NONE
									    : s->start[row] + s->dur[row];
}
static inline const char *tl__name(const tl_store *s, tl_row row)
{
	return tl__str(s->strings, s->name[row]);
}

#endif
