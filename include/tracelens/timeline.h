/* SPDX-License-Identifier: MIT */
/**
 * @file timeline.h
 * The GPU timeline: how much of a span the GPU computed, communicated, copied and waited. Here of any list
 * of GPU events, without a trace or a tree; tl_analyzer_breakdown (analysis.h) gives the same of a trace.
 */
#ifndef TRACELENS_TIMELINE_H
#define TRACELENS_TIMELINE_H

#include <tracelens/common.h>
#include <tracelens/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a GPU event counts as. */
typedef enum tl_gpu_class {
	TL_GPU_COMPUTATION,   /**< kernels and memsets that are nothing of the below */
	TL_GPU_COMMUNICATION, /**< kernels and memsets whose name holds rccl, nccl or cross_device_reduce, ignoring case
			       */
	TL_GPU_MEMCPY,        /**< copies, and the kernels by which ROCm copies */
	TL_GPU_NONE           /**< not a GPU event: counted nowhere */
} tl_gpu_class;

/**
 * Class of an event by its category ("kernel", "gpu_memcpy", "gpu_memset"; anything else and NULL are TL_GPU_NONE)
 * and its name (NULL: unnamed).
 */
TL_API tl_gpu_class tl_gpu_classify(const char *category, const char *name);

/**
 * Where the time between the first start and the last end of some GPU events goes, in picoseconds. Each is the length
 * of a union of intervals, so work that overlaps counts once:
 * computation + exposed_comm + exposed_memcpy = busy, busy + idle = total.
 */
typedef struct tl_breakdown {
	tl_time computation;            /**< computing */
	tl_time exposed_comm;           /**< communicating while nothing computes */
	tl_time exposed_memcpy;         /**< copying while nothing computes or communicates */
	tl_time busy;                   /**< doing anything */
	tl_time idle;                   /**< total - busy */
	tl_time micro_idle, macro_idle; /**< gaps below the threshold, and the others; 0 without a threshold */
	tl_time total;                  /**< from the first start to the last end */
	tl_time total_comm;             /**< communicating, hidden or not */
	tl_time total_memcpy;           /**< copying, hidden or not */
	size_t events;                  /**< events counted: GPU events with a usable time */
} tl_breakdown;

/**
 * A caller's list of events, column by column. The library only reads it. Times are usable within 2^62 ps (53 days) of
 * the origin, either side.
 */
typedef struct tl_gpu_event_list {
	size_t n;
	const tl_time *start; /**< n starts in ps from any origin; TL_TIME_NONE: not counted */
	const tl_time *dur;   /**< n durations in ps; TL_TIME_NONE and negative ones are not counted */
	/** n classes; or NULL, then `category` and `name` decide as tl_gpu_classify does. */
	const tl_gpu_class *classes;
	const char *const *category; /**< n texts; NULL: all are kernels */
	const char *const *name;     /**< n texts; NULL: all are unnamed */
} tl_gpu_event_list;

/**
 * The breakdown of a bare list of events, in any order; events that are no GPU events may be among them.
 * @param micro_idle_us NULL, or gaps shorter than *micro_idle_us count as micro idle, the others as macro idle
 * @return 0, TL_EEMPTY (no GPU event with a usable time), TL_EINVAL (start or dur missing, a threshold below 0),
 *         TL_ENOMEM
 */
TL_API int tl_gpu_timeline_of_events(tl_breakdown *out, const tl_gpu_event_list *events, const double *micro_idle_us,
				     tl_error *err);

/**
 * A breakdown as the table that reports show: `type`, `time ms`, `percent` (of total_time), one row a figure.
 * @param with_threshold micro_idle_time and macro_idle_time in place of idle_time
 * @param[out] out freed with tl_table_free
 * @return 0, TL_EINVAL, TL_ENOMEM
 */
TL_API int tl_breakdown_table(tl_table **out, const tl_breakdown *breakdown, bool with_threshold, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
