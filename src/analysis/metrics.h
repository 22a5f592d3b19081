/* SPDX-License-Identifier: MIT */
/** @file metrics.h Metrics of one event (spec 02 section 4, spec 03 section 1.3), and columns that tables of events
 * share. */
#ifndef TL_ANALYSIS_METRICS_H
#define TL_ANALYSIS_METRICS_H

#include "analysis/perf_cache.h"

/** Rates follow from exact kernel time; NaN is an empty cell. */
/** Bytes of what sheets call MB: a MiB, as in the reference. */
#define TL_BYTES_PER_MB 1048576

typedef struct tl_metrics {
	uint8_t status;       /* tl_perf_status; not OK: only `time` is set */
	bool has_roofline;    /* the three cells below exist */
	tl_perf_entry *entry; /* parameters and compute spec; NULL when the event has no model */
	tl_time time;         /* union of the GPU events in ps; TL_TIME_NONE: an empty cell */
	double gflops, tflops, megabytes, intensity, terabytes;
	double roofline_us, roofline_pct;
	bool compute_bound; /* else memory bound */
} tl_metrics;

/**
 * Metrics of an event over its GPU events, or (`backward`) of its backward pass over those below its backward
 * events. *kernels (may be NULL) are those GPU events in order of start, valid until the next call.
 * 0 or TL_ENOMEM; what a model declines is told through `status`.
 */
int tl__metrics_of(tl_analyzer *a, tl_row event, bool backward, tl_metrics *out, const tl_row **kernels, size_t *n);

/** Counts an event among `failures` when its metrics are those of a model that could not read it. */
void tl__note_failure(tl_model_failures *failures, tl_row event, const tl_metrics *metrics);

/**
 * Adds `GFLOPS`, `Kernel Time (µs)`, `TFLOPS/s`, `Data Moved (MB)`, `FLOPS/Byte`, `TB/s`, `Compute Spec` and the three
 * roofline columns; but for the kernel time, columns that no row provides are left out. `stride` is the
 * distance in bytes of the metrics of two rows, which may lie in larger records.
 */
int tl__metrics_columns(tl_table *table, const tl_metrics *first, size_t stride, tl_error *err);

/** Which identifier of an event a column shows. */
typedef enum tl_event_id { TL_EVENT_PID, TL_EVENT_TID, TL_EVENT_EXTERNAL } tl_event_id;
/** Adds a column of identifiers of the events: integers, or texts when one of them is no number. */
int tl__event_id_column(tl_analyzer *a, tl_table *table, const char *name, tl_event_id which, const tl_row *events,
			tl_error *err);
/** Adds `process_name`, `process_label`, `thread_name`. */
int tl__event_thread_columns(tl_analyzer *a, tl_table *table, const tl_row *events, tl_error *err);
/** Adds `Input Dims`, `Input type`, `Input Strides`, `Concrete Inputs` as tuples or lists. */
int tl__event_args_columns(tl_analyzer *a, tl_table *table, const tl_row *events, bool tuples, tl_error *err);

/** Adds `is_recompute` of the events. */
int tl__event_recompute_column(const tl_analyzer *a, tl_table *table, const tl_row *events, tl_error *err);

/** Appends GPU events to the table's kernel array; *out is the cell that holds them. TL_ENOMEM, TL_ELIMIT. */
int tl__kernel_list_add(tl_analyzer *a, tl_table *table, const tl_row *kernels, size_t n, tl_kernel_range *out);

#endif
