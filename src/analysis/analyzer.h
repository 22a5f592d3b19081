/* SPDX-License-Identifier: MIT */
/** @file analyzer.h Inside of tl_analyzer: what the analyses share. */
#ifndef TL_ANALYSIS_ANALYZER_H
#define TL_ANALYSIS_ANALYZER_H

#include "analysis/analysis.h"
#include "perf/user_model.h"

/** Kernel launchers (spec 02 section 2): the operation that a GPU event is booked on. */
typedef struct tl_launcher_list {
	size_t n;
	tl_pos *pos;     /* launchers by start, then thread (analysis/order.h) */
	uint32_t *first; /* n + 1 offsets into kernels */
	tl_row *kernels; /* GPU events of each launcher by start, then launch; no communication */
	tl_map index;    /* position -> index of the launcher */
} tl_launcher_list;

struct tl_analyzer {
	const tl_tree *tree;
	const tl_store *store;
	tl_analyzer_options options;
	tl_strings *strings; /* extension of the trace's pool; tables made from this analyser share it */
	tl_arena arena;      /* parsed values, model results; lives as long as the analyser */
	bool gpu_only;
	/* Base of "percent of total time": of the default timeline in ps, with detect_recompute of what is no
	 * recompute, if there is any ([02-7], kept as in the reference). */
	tl_time total_time;
	tl_breakdown breakdown; /* of the default timeline, without a micro-idle threshold; all parts of it */

	tl_models models; /* built-in and registered ones */
	/* Events that a model could not read, since one of the two was reset: of tables of metrics and sheets of
	 * families, and of unified tables, which hold the same events again; and those of the last table. */
	tl_model_failures sheet_failures, unified_failures, last_failures;
	tl_error callback_error; /* of the registered model that failed last */

	/* caches; see analyzer.c and perf_cache.c */
	struct tl_value_cache *values;
	struct tl_perf_cache *perf;
	struct tl_name_cache *names;
	tl_launcher_list *launchers;
	bool books_communication;         /* the launchers are those of communication kernels, too */
	struct tl_overlap_cache *overlap; /* NULL: not asked for yet; overlap.c */
	struct tl_stack_cache *stacks;    /* the same; call_stack.c */
	struct tl_triton_cache *triton;   /* NULL: no Inductor cache to look into */
	tl_str unknown;                   /* "Unknown" */
	tl_interval_buf scratch;          /* for tl__busy_time */

	/*
	 * For busy times of ranges of tree->gpu; n_gpu + 1 each, over the GPU events before. Of two kinds, because
	 * neither does for the other: events of one stream follow one another though other streams crowd them, and
	 * events of several streams may be alone though they do not follow one another.
	 */
	uint64_t *gpu_sum;   /* summed durations in ps, wrapping */
	uint32_t *gpu_jumps; /* how many do not start at or after the end of the one before them */
	/* Made when first needed, or NULL: events that share their time with another one are crowded, the others lone.
	 */
	uint64_t *gpu_lone_sum;       /* summed durations of lone events */
	uint32_t *gpu_crowded_before; /* number of crowded events */
	tl_row *gpu_crowded;          /* the crowded events */
};

/**
 * The parsed value of a canonical argument text (tl_op_args.dims ...), as tuples or lists. Parsed
 * once per distinct text: equal texts give the same pointer. NULL for TL_STR_NONE and JSON null, and
 * for text that does not parse. Sets *out; TL_ENOMEM. Tables share
 * the pointers while the analyser lives; what leaves the analysis goes through tl__table_own_values.
 */
int tl__analyzer_value(tl_analyzer *a, tl_str text, bool tuples, const tl_value **out);

/** Category of an event (spec 02 section 3); `first_kernel` its earliest kernel's name or TL_STR_NONE. A constant. */
const char *tl__analyzer_category(tl_analyzer *a, tl_str name, tl_str first_kernel);
/** The same as an id of a->strings, for string columns; TL_STR_FAIL when out of memory. */
tl_str tl__analyzer_category_id(tl_analyzer *a, tl_str name, tl_str first_kernel);

/** The launchers, found at the first call; owned by the analyser. TL_ENOMEM. launchers.c */
int tl__analyzer_launchers(tl_analyzer *a, const tl_launcher_list **out);
/**
 * Name of the earliest kernel booked directly on an event, for its category: TL_STR_NONE for an event that is
 * no launcher ([02-3], kept as in the reference: such events skip the kernel-name rule). TL_ENOMEM.
 */
int tl__analyzer_direct_kernel(tl_analyzer *a, tl_row event, tl_str *out);

/** Whether a GPU event is a communication kernel (cached by name). */
bool tl__analyzer_is_communication(tl_analyzer *a, tl_row gpu_event);

/**
 * Union of GPU events in ps. Of a range of tree->gpu whose events follow one another, as on one stream, in constant
 * time, so that asking for every operation of a deep nest stays linear; elsewhere only events that share their time
 * with others are merged, the rest adds up.
 */
int tl__analyzer_busy(tl_analyzer *a, const tl_row *rows, size_t n, tl_time *out);

/**
 * Turns the failure of an evaluation into an error: TL_ECALLBACK with what the callback said, anything else is
 * TL_ENOMEM. Returns the code.
 */
int tl__analyzer_fail(const tl_analyzer *a, int code, tl_error *err);

/** Exact-name model of an event's operation, or NULL; resolved once per distinct name. */
const tl_perf_model *tl__analyzer_model(tl_analyzer *a, tl_str name);

/** Frees a->perf; called by tl__analyzer_free with whatever perf_cache.c stored there, NULL included. perf_cache.c */
void tl__perf_cache_free(struct tl_perf_cache *cache);

/** Free a->overlap and a->stacks (NULL is fine). overlap.c, call_stack.c */
void tl__overlap_cache_free(struct tl_overlap_cache *cache);
void tl__stack_cache_free(struct tl_stack_cache *cache);

/** Frees a->launchers (NULL is fine). launchers.c */
void tl__launcher_list_free(tl_launcher_list *list);

/** The tl_kernel record of a GPU event. */
tl_kernel tl__analyzer_kernel(const tl_analyzer *a, tl_row gpu_event);

/**
 * Kernels (no copies, no memsets) of the trace, linked or not, by start, ties by launch (analysis/order.h).
 * *out is the caller's, freed with tl__free.
 */
int tl__analyzer_all_kernels(tl_analyzer *a, tl_row **out, size_t *n);

/** What part of the GPU events: all, what is no recompute, or what is. */
typedef enum tl_timeline_part { TL_TIMELINE_ALL, TL_TIMELINE_FIRST_RUN, TL_TIMELINE_RECOMPUTE } tl_timeline_part;
/** GPU events of the default timeline: linked ones, and the unlinked where the options say so. Free with tl__free. */
int tl__analyzer_timeline_rows(const tl_analyzer *a, tl_timeline_part part, tl_row **out, size_t *n);
/** The breakdown of these (see tl__breakdown). */
int tl__analyzer_breakdown(tl_breakdown *out, const tl_analyzer *a, tl_timeline_part part, const double *micro_idle_us,
			   tl_error *err);

/** Texts of process_name, process_labels, thread_name of an event for tables: "Unknown" when absent. */
void tl__analyzer_thread(tl_analyzer *a, tl_row event, tl_str *process_name, tl_str *process_label,
			 tl_str *thread_name);

/** Picoseconds to the µs of a table cell. */
static inline double tl__us(tl_time ps)
{
	return (double)ps / 1e6;
}

#endif
