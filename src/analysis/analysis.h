/* SPDX-License-Identifier: MIT */
/**
 * @file analysis.h
 * From tree to tables. An analyser owns what the analyses share: parsed argument texts, model results
 * per distinct input, category and kernel class per name. Each function makes one table.
 */
#ifndef TL_ANALYSIS_ANALYSIS_H
#define TL_ANALYSIS_ANALYSIS_H

#include "perf/model.h"
#include "table/table.h"
#include "timeline/timeline.h"
#include "tracelens/analysis.h"
#include "tree/tree.h"

/** How summaries are grouped and what they show. Zero-initialise for the defaults; NULL stands for them, too. */
typedef struct tl_summary_options {
	bool overlap;              /* the `_kl_overlap` form: group by overlapping kernels, too, and show them */
	bool group_by_num_kernels; /* group by the number of kernels, too; not in the unified summary */
	bool first_occurrence;     /* first_occurrence_time in the summary by arguments; needs the column `ts` */
	bool call_stack;           /* unified summary: entry_point and call_stack_full; needs call stacks */
	bool call_stack_debug;     /* and how the entry point was found */
	int64_t top;               /* > 0: only the first so many rows; percentages stay those of all */
} tl_summary_options;

/** The tree must outlive the analyser. */
int tl__analyzer_new(tl_analyzer **out, const tl_tree *tree, const tl_analyzer_options *options, tl_error *err);
void tl__analyzer_free(tl_analyzer *a);

/** Whether the trace has no host operations at all (spec 02 section 6 step 6). */
bool tl__analyzer_gpu_only(const tl_analyzer *a);

/** Sheet families in the order of their sheets, those of registered models last. Belongs to the analyser. */
const char *const *tl__analyzer_sheets(const tl_analyzer *a, size_t *n);

/* analysis/gpu_timeline.c */
int tl__gpu_timeline(tl_table **out, tl_analyzer *a, const double *micro_idle_us, tl_error *err);

/* analysis/launchers.c: spec 02 section 2 */
/**
 * One row a kernel launcher, by start: section 2.3 with kernel_details and num_kernels; the overlap columns, `ts` (µs
 * from the base of the trace) and `is_recompute` as the analyser's options ask.
 */
int tl__launchers(tl_table **out, tl_analyzer *a, tl_error *err);

/* analysis/ops_summary.c: spec 02 section 7; from the launcher table. TL_ENOMEM, TL_ELIMIT (too many rows to group). */
int tl__ops_summary_by_category(tl_table **out, const tl_table *launchers, tl_error *err);
int tl__ops_summary(tl_table **out, const tl_table *launchers, tl_error *err);
int tl__ops_unique_args(tl_table **out, const tl_table *launchers, const tl_summary_options *options, tl_error *err);

/* analysis/metrics.c: spec 02 sections 4 and 8 */
/** Metrics of every event whose model belongs to `sheet`; forward or backward. */
int tl__perf_metrics(tl_table **out, tl_analyzer *a, const char *sheet, bool backward, tl_error *err);
/** The same of given events, in their order; those without a model have no row. `typed`: parameters as values. */
int tl__perf_metrics_of_events(tl_table **out, tl_analyzer *a, const tl_row *events, size_t n, bool backward,
			       bool typed, tl_error *err);
int tl__perf_metrics_summary(tl_table **out, const tl_table *metrics, const tl_summary_options *options, tl_error *err);
/**
 * The sheets of one family ("GEMM"; "SDPA_fwd" and "SDPA_bwd"), and with `overlap` behind them the same in the
 * `_kl_overlap` form: up to four, empty ones left out (*n).
 */
int tl__category_sheets(tl_table *out[4], size_t *n, tl_analyzer *a, const char *sheet,
			const tl_summary_options *options, tl_error *err);

/* analysis/unified.c: spec 02 section 5 */
int tl__unified_table(tl_table **out, tl_analyzer *a, tl_error *err);
/** The same of the events that the options name (NULL: the defaults), which are rows of the store. */
int tl__unified_table_of(tl_table **out, tl_analyzer *a, const tl_unified_options *options, tl_error *err);
int tl__unified_perf_summary(tl_table **out, const tl_table *unified, const tl_summary_options *options, tl_error *err);
/**
 * The same, and into which row of it each row of `unified` went: `*row_of` is freed with tl__free (NULL: not wanted).
 * Rows beyond `options->top` are not there.
 */
int tl__unified_perf_summary_rows(tl_table **out, uint32_t **row_of, const tl_table *unified,
				  const tl_summary_options *options, tl_error *err);

/* analysis/kernels.c: spec 02 sections 9.1 and 9.2 */
/**
 * One row a kernel, linked or not, by start, with launcher and cpu_op detail. The columns of a detail that no
 * kernel has are left out.
 */
int tl__kernels(tl_table **out, tl_analyzer *a, tl_error *err);

/* analysis/kernel_modules.c: spec 01 section 9.4 */
/** Adds the nn.Module above each kernel to a table of tl__kernels; nothing where no kernel has one. TL_ENOMEM. */
int tl__kernel_modules(tl_analyzer *a, tl_table *kernels, tl_error *err);

/* analysis/kernel_summary.c: spec 02 section 9.2 */
/** One row for kernels of one name and stream below one operation; does not need the kernel table. */
int tl__kernel_summary(tl_table **out, tl_analyzer *a, tl_error *err);

/* analysis/short_kernels.c: spec 02 section 9.3 */
/** What a caller asks of the study: a threshold from 0 µs up, infinity included, 1 to 1000000 bins; else TL_EINVAL. */
int tl__check_short_kernels(double threshold_us, int64_t bins, tl_error *err);
/**
 * The kernels of tl__kernels that take less than `threshold_us`, with the columns that the two tables below need;
 * without columns when there are kernels, but no short one. TL_ENOMEM.
 */
int tl__short_kernels(tl_table **out, tl_analyzer *a, double threshold_us, tl_error *err);
/** Of tl__short_kernels. Rows: `bins` (at least 1), or none when no kernel is short. TL_ENOMEM. */
int tl__short_kernel_histogram(tl_table **out, const tl_table *kernels, int64_t bins, tl_error *err);
/** Of tl__short_kernels. At most `topk` rows (< 0: all); no columns when `kernels` has none. */
int tl__short_kernels_summary(tl_table **out, tl_analyzer *a, const tl_table *kernels, int64_t topk, tl_error *err);

/* analysis/collectives.c: spec 02 section 9.4 */
int tl__coll_analysis(tl_table **out, tl_analyzer *a, tl_error *err);

#endif
