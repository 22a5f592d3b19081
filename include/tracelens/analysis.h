/* SPDX-License-Identifier: MIT */
/**
 * @file analysis.h
 * From a tree to tables: GPU timeline, kernel launchers and their summaries, FLOPs and bytes of operation families,
 * kernels, collectives, nn.Modules.
 *
 * Every table belongs to the caller (tl_table_free) and outlives analyser, tree and trace. Times in columns are in
 * the column's unit (tl_table_column_unit), mostly microseconds. What the columns mean is in docs/columns.md.
 *
 * An option structure that is zero-initialised, or NULL in its place, asks for the defaults.
 */
#ifndef TRACELENS_ANALYSIS_H
#define TRACELENS_ANALYSIS_H

#include <tracelens/common.h>
#include <tracelens/table.h>
#include <tracelens/timeline.h>
#include <tracelens/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What the analyses of one tree share: launchers, argument values, model results. Made by a handful of calls each, they
 * are kept until it is freed, so ask one analyser for all tables of a trace. It is for one thread at a time, and
 * so are the tables made by it; two analysers of one tree may work in two threads.
 */
typedef struct tl_analyzer tl_analyzer;
/** Peak rates of a GPU; see perf.h. */
typedef struct tl_arch tl_arch;

/** Options of an analyser. */
typedef struct tl_analyzer_options {
	bool include_unlinked; /**< GPU events without a launch in the trace count in the timeline; default: left out */
	bool detect_recompute; /**< keep what tl_tree_mark_recompute marked apart: column `is_recompute` */
	bool overlap;          /**< columns of the kernels that run at the same time */
	bool call_stack;       /**< nn.Modules above each operation: columns `call_stack` and `parent_module` */
	bool first_occurrence; /**< column `ts` of launchers, µs */
	const char
		*inductor_cache_dir; /**< where Inductor keeps the kernels that it compiled; default NULL: not read */
	const tl_arch *arch;         /**< adds roofline columns; must outlive the analyser; default NULL: none */
	/**
	 * Operations that are explained by the annotation of the serving iteration around them: beginnings of their
	 * names, which must outlive the analyser. Default NULL: those of the PyTorch report,
	 * `vllm::unified_attention_with_output`. An empty list (not NULL, 0 names): none.
	 */
	const char *const *annotated;
	size_t n_annotated;
} tl_analyzer_options;

/** @param tree must outlive the analyser. TL_EINVAL (no tree), TL_EIO (no such inductor_cache_dir), TL_ENOMEM. */
TL_API int tl_analyzer_new(tl_analyzer **out, const tl_tree *tree, const tl_analyzer_options *options, tl_error *err);
TL_API void tl_analyzer_free(tl_analyzer *analyzer);
/** The tree that was passed. */
TL_API const tl_tree *tl_analyzer_tree(const tl_analyzer *analyzer);
/** The trace has neither host operations nor Python frames: only timeline and kernels say something. */
TL_API bool tl_analyzer_is_gpu_only(const tl_analyzer *analyzer);

/* ---- GPU timeline ---- */

/**
 * Where GPU time goes, in ps (see tl_breakdown), over the linked GPU events of the trace, and the unlinked ones with
 * `include_unlinked`. All zero when there is none with a usable time.
 * @param micro_idle_us NULL, or the limit between micro and macro idle in µs. TL_EINVAL, TL_ENOMEM.
 */
TL_API int tl_analyzer_breakdown(tl_breakdown *out, tl_analyzer *analyzer, const double *micro_idle_us, tl_error *err);
/** The same as the table gpu_timeline: `type`, `time ms`, `percent`. */
TL_API int tl_analyzer_gpu_timeline(tl_table **out, tl_analyzer *analyzer, const double *micro_idle_us, tl_error *err);

/* ---- operations that launch GPU work ---- */

/** Columns of the launcher table that are there on request. */
typedef struct tl_launcher_options {
	bool kernel_details; /**< `kernel_details` (list of name, dur in µs, stream) and `num_kernels` */
	bool id_columns;     /**< `pid`, `tid`, `external_id` */
	bool overlap;        /**< `overlapping_kernel_names`, `overlapping_kernels_details`, `overlap_pct` */
	bool start;          /**< `ts`: start in µs from the base of the trace (tl_events_base_us) */
	bool call_stack;    /**< `call_stack` and `parent_module`; needs kernel_details and a tree with Python frames */
	bool no_arguments;  /**< leave `Input Dims`, `Input type`, `Input Strides`, `Concrete Inputs` out */
	bool communication; /**< book communication kernels, too; default: left out */
} tl_launcher_options;

/**
 * One row per kernel launcher, by start: the operation nearest above the launch of GPU work (the launch itself when
 * there is none), with the time of the GPU events that it launched itself (`total_direct_kernel_time`) and of all below
 * it
 * (`total_subtree_kernel_time`), each the union of their intervals in µs. Communication kernels count on request.
 */
TL_API int tl_analyzer_launchers(tl_table **out, tl_analyzer *analyzer, const tl_launcher_options *options,
				 tl_error *err);

/** Statistics of the rows of a group; sums come with every summary. */
typedef enum tl_statistic {
	TL_STAT_MEAN,
	TL_STAT_MEDIAN,
	TL_STAT_STD, /**< sample deviation (n - 1) of columns, population deviation within kernel summaries */
	TL_STAT_MIN,
	TL_STAT_MAX
} tl_statistic;

/** How a table is summed up by groups; what a summary cannot use it ignores. */
typedef struct tl_stat_options {
	const tl_statistic *statistics; /**< in the order of their columns; NULL: see each function */
	size_t n_statistics;
	const char *name;          /**< only rows of this operation; NULL: all */
	bool percent;              /**< by arguments: adds `Percentage (%)` and `Cumulative Percentage (%)` */
	bool truncated;            /**< adds a `trunc_...` column of short texts right of each kernel summary */
	bool overlap;              /**< group by overlapping kernels, too, and show them; needs their columns */
	bool group_by_num_kernels; /**< group by the number of kernels, too */
	bool first_occurrence;     /**< by arguments: adds `first_occurrence_time`; needs the column `ts` */
	bool call_stack;           /**< unified: adds `entry_point` and `call_stack_full`; needs call stacks */
	int64_t top;               /**< > 0: only the first so many rows; percentages stay those of all */
} tl_stat_options;

/**
 * Summaries of a table of tl_analyzer_launchers, heaviest row first: by operation name, by category, and by operation
 * name with distinct arguments (default statistic: the mean). TL_EINVAL (not a launcher table), TL_ENOMEM.
 */
TL_API int tl_launchers_by_name(tl_table **out, const tl_table *launchers, tl_error *err);
TL_API int tl_launchers_by_category(tl_table **out, const tl_table *launchers, tl_error *err);
TL_API int tl_launchers_by_args(tl_table **out, const tl_table *launchers, const tl_stat_options *options,
				tl_error *err);

/* ---- operations with a model ---- */

/** Columns of the metrics table. */
typedef struct tl_metrics_options {
	bool backward;         /**< metrics of the backward pass of forward operations, over its kernels */
	bool kernel_details;   /**< `kernel_details` (with `gpu_op_uid`) and `num_kernels` */
	bool arguments;        /**< `Input Dims`, `Input type`, `Input Strides`, `Concrete Inputs` */
	bool overlap;          /**< `overlapping_kernel_names`, `overlapping_kernels_details`, `overlap_pct` */
	bool typed_parameters; /**< `param: ...` columns hold values of any kind (tl_table_cell), not their texts */
} tl_metrics_options;

/**
 * FLOPs, bytes, time and rates of events, one row each in the order given: `GFLOPS`, `Kernel Time (µs)`, `TFLOPS/s`,
 * `Data Moved (MB)`, `FLOPS/Byte`, `TB/s`, roofline columns with an architecture, and a `param: ...` column for each
 * parameter of the models. Events that have no model, or that their model declines or cannot read, have no row.
 * @param events UIDs. TL_EINVAL (a UID out of range), TL_ENOMEM.
 */
TL_API int tl_analyzer_metrics(tl_table **out, tl_analyzer *analyzer, const tl_row *events, size_t n,
			       const tl_metrics_options *options, tl_error *err);
/** As tl_analyzer_metrics of all events of a family ("GEMM", "SDPA", ...; tl_analyzer_family), by UID. TL_ENOTFOUND. */
TL_API int tl_analyzer_family_metrics(tl_table **out, tl_analyzer *analyzer, const char *family,
				      const tl_metrics_options *options, tl_error *err);
/** Names of the families, those of registered models included, in the order of their sheets; NULL past the last. */
TL_API const char *tl_analyzer_family(const tl_analyzer *analyzer, size_t index);
/**
 * Names of the operations that have a model, the built-in ones before others that were registered, each once; NULL past
 * the last. Generated kernels, which are known by how their names begin, are not among them.
 */
TL_API const char *tl_analyzer_operation(const tl_analyzer *analyzer, size_t index);
/**
 * Family of an operation by its exact name ("aten::mm": "GEMM"), or NULL when it has no model; and its category as
 * reports show it ("GEMM", "NORM_fwd", "other"), where `first_kernel` is the name of its first kernel or NULL. Belong
 * to the analyser.
 */
TL_API const char *tl_analyzer_family_of(tl_analyzer *analyzer, const char *name);
TL_API const char *tl_analyzer_category_of(tl_analyzer *analyzer, const char *name, const char *first_kernel);

/** Events whose model could not make sense of their arguments. */
typedef struct tl_model_failures {
	size_t count;
	tl_row first;    /**< UID of the first of them, or TL_ROW_NONE */
	const char *why; /**< what its model said, a line that belongs to the analyser; "" when there is none */
} tl_model_failures;
/** Those among the events of the table that tl_analyzer_metrics, _family_metrics or _unified made last. */
TL_API tl_model_failures tl_analyzer_failures(const tl_analyzer *analyzer);

/**
 * Summary of a table of metrics by operation name and parameters, heaviest first (default statistics: mean and sample
 * deviation). TL_EINVAL (not a metrics table), TL_ENOMEM.
 */
TL_API int tl_metrics_summary(tl_table **out, const tl_table *metrics, const tl_stat_options *options, tl_error *err);

/** Which events the unified table shows. */
typedef struct tl_unified_options {
	bool communication; /**< communication kernels and what launches them have rows, too; default: left out */
	bool overlap;       /**< `overlapping_kernel_names`, `overlapping_kernels_details`, `overlap_pct` */
	/**
	 * UIDs of events to show instead of those that stand for the GPU work, in this order; a GPU event has a row as
	 * one has that no operation stands for. Default NULL. An empty list (not NULL, 0 events): no rows.
	 */
	const tl_row *events;
	size_t n_events;
} tl_unified_options;

/**
 * The unified table: each GPU event counts once, with the outermost operation above it that has a model, else with its
 * launcher, else as a row of its own, whose UID is beyond those of the trace; and its summary by operation and
 * arguments. TL_EINVAL (a UID out of range, not a unified table), TL_ENOMEM.
 */
TL_API int tl_analyzer_unified(tl_table **out, tl_analyzer *analyzer, const tl_unified_options *options, tl_error *err);
TL_API int tl_unified_summary(tl_table **out, const tl_table *unified, const tl_stat_options *options, tl_error *err);

/* ---- kernels and collectives ---- */

/** Columns of the kernel table. */
typedef struct tl_kernel_options {
	bool launcher;  /**< `Launcher UID`, `Launcher`, `Grid`, `Block` */
	bool no_cpu_op; /**< leave the columns of the operation above (`Parent cpu_op ...`) out */
	bool nn_module; /**< of the nearest nn.Module above `Parent nn.Module UID`, `Parent nn.Module`, the number of
			     GPU events below it, their time, and the kernel's share of that; needs Python frames */
} tl_kernel_options;

/** One row per kernel (no copies, no memsets), linked or not, by start. */
TL_API int tl_analyzer_kernels(tl_table **out, tl_analyzer *analyzer, const tl_kernel_options *options, tl_error *err);
/** Kernels by name and operation, heaviest first. */
TL_API int tl_analyzer_kernel_summary(tl_table **out, tl_analyzer *analyzer, tl_error *err);

/** The study of short kernels. */
typedef struct tl_short_kernel_options {
	double threshold_us; /**< a kernel is short below this; 0: 10 µs */
	int64_t bins;        /**< of the histogram; 0: 100 */
	int64_t top;         /**< rows of the summary; 0: all */
} tl_short_kernel_options;
/** Histogram of the durations of short kernels. TL_EINVAL (threshold or bins below 0, over a million bins), TL_ENOMEM.
 */
TL_API int tl_analyzer_short_kernel_histogram(tl_table **out, tl_analyzer *analyzer,
					      const tl_short_kernel_options *options, tl_error *err);
/** Short kernels by name and operation, heaviest first; a table without columns when no kernel is short. */
TL_API int tl_analyzer_short_kernels(tl_table **out, tl_analyzer *analyzer, const tl_short_kernel_options *options,
				     tl_error *err);
/** Collectives by name, group, type and sizes. */
TL_API int tl_analyzer_collectives(tl_table **out, tl_analyzer *analyzer, tl_error *err);

/**
 * What overlaps a GPU event: GPU events on another stream, below another operation, that share at least 1 µs with it,
 * of those that count in the timeline; by start. None for what is no GPU event, or does not count itself.
 * @param[out] out UIDs, valid until the next call. TL_EINVAL (a UID out of range), TL_ENOMEM.
 */
TL_API int tl_analyzer_overlapping(const tl_row **out, size_t *n, tl_analyzer *analyzer, tl_row event, tl_error *err);

/* ---- nn.Modules ---- */

/** An nn.Module in a module tree. */
typedef struct tl_module {
	tl_row event;      /**< its Python frame */
	size_t parent;     /**< index of the module around it; SIZE_MAX for those without one in this tree */
	size_t depth;      /**< 0 for those */
	size_t children;   /**< modules directly below it, whether shown or not */
	tl_time gpu_time;  /**< union of the GPU events below it, ps; 0 without any */
	tl_time remainder; /**< union of those below it and below none of its children, ps; 0 without children */
} tl_module;

/** Modules in pre-order, children in order of start. */
typedef struct tl_modules tl_modules;

/**
 * The modules at and below some roots with their GPU time. Needs a tree with Python frames. The result does not need
 * the analyser any more, but the tree.
 * @param roots UIDs of nn.Modules; NULL: all outermost modules of the trace
 * @param depth levels below the roots to go into; SIZE_MAX: all
 * @param[out] out freed with tl_modules_free
 * @return 0, TL_EINVAL (no Python frames in the tree, a root is no nn.Module), TL_ENOMEM
 */
TL_API int tl_modules_new(tl_modules **out, tl_analyzer *analyzer, const tl_row *roots, size_t n_roots, size_t depth,
			  tl_error *err);
TL_API void tl_modules_free(tl_modules *modules);
TL_API size_t tl_modules_count(const tl_modules *modules);
/** A module by its index, or NULL. Belongs to `modules`. */
TL_API const tl_module *tl_modules_get(const tl_modules *modules, size_t index);

/**
 * Prints the modules as a tree: names, dotted leaders, GPU time in µs in parentheses, and `Non-nn.Module GPU Ops` for
 * work that belongs to no child. TL_ECALLBACK, TL_ENOMEM.
 */
TL_API int tl_modules_print(const tl_modules *modules, tl_write_fn write, void *user, tl_error *err);
/**
 * The modules as JSON: a list of {"UID", "name", "gpu_time_us", "remainder_us", "children"}, nested; `remainder_us` is
 * null for a module without modules below it. TL_ECALLBACK, TL_ENOMEM.
 */
TL_API int tl_modules_json(const tl_modules *modules, tl_write_fn write, void *user, tl_error *err);
/** The modules as a table: `UID`, `name`, `depth`, `parent UID`, `GPU Time (µs)`, `Non-nn.Module GPU Time (µs)`. */
TL_API int tl_modules_table(tl_table **out, const tl_modules *modules, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
