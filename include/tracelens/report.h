/* SPDX-License-Identifier: MIT */
/** @file report.h The PyTorch performance report: which tables, in what order, and where they go. */
#ifndef TRACELENS_REPORT_H
#define TRACELENS_REPORT_H

#include <tracelens/common.h>
#include <tracelens/extension.h>
#include <tracelens/perf.h>
#include <tracelens/table.h>
#include <tracelens/trace.h>
#include <tracelens/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_report tl_report;

/** Options of the PyTorch report. Start from tl_report_options_default(). */
typedef struct tl_report_options {
	const tl_arch *arch; /**< GPU whose rooflines are added, or NULL; needed during tl_report_pytorch only */
	bool include_unlinked_kernels; /**< GPU events without a launch in the trace count in the timeline */
	bool clip_stream_overruns;     /**< see tl_tree_options; in all sheets */
	bool has_micro_idle_threshold; /**< split idle time at micro_idle_threshold_us */
	double micro_idle_threshold_us;
	bool disable_coll_analysis;
	bool enable_kernel_summary;
	bool short_kernel_study;
	double short_kernel_threshold_us; /**< default 10 */
	int64_t short_kernel_bins;        /**< default 100 */
	int64_t topk_short_kernels;       /**< -1: all */
	const tl_hook *const *hooks;      /**< called in this order (extension.h); NULL: none */
	size_t n_hooks;
	int64_t topk_ops;          /**< rows of ops_unique_args; -1: all. Percentages are those of all rows */
	int64_t topk_roofline_ops; /**< rows of each sheet of a model family; -1: all */
	bool group_by_num_kernels; /**< operations that launch unequally many kernels are rows of their own */
	bool include_overlap_info; /**< adds `..._kl_overlap` sheets: also grouped by what ran at the same time */
	bool include_first_occurrence_time; /**< ops_unique_args says when each row occurs first */
	bool detect_recompute;   /**< split sheets by whether activation checkpointing computes it a second time */
	bool include_call_stack; /**< unified_perf_summary says where operations are called; reads Python frames */
	const char *inductor_cache_dir; /**< Inductor's code: completes what the trace lacks about compiled kernels;
					   NULL: not read */
	bool enable_origami;     /**< an option of the Python tool; noted in trace_health: there is no simulator here */
	const char *python_path; /**< the same: interpreter of a simulator; NULL: none asked for */
	bool enable_pseudo_ops;  /**< operations that the trace lacks are made (tl_tree_apply_pseudo_ops) */
	tl_pseudo_options pseudo_ops; /**< read with enable_pseudo_ops */
	bool call_stack_debug;        /**< with include_call_stack: also how the entry point was found */
	/**
	 * Another trace to compare with, a PyTorch trace file ("-": standard input); NULL: none. It is opened with
	 * `comparison_trace` (NULL: the defaults), gets the same pseudo-operations, clipping, Python frames and tree
	 * hooks as the trace of the report, is compared as by tl_diff_new, and is freed before any table is made. Adds
	 * columns and rows to unified_perf_summary and the sheets diff_stats and comparison_health
	 * (docs/comparing.md). In tables trace1 is the trace of the report, trace2 the other one.
	 */
	const char *comparison_path;
	const tl_trace_options *comparison_trace;
	/**
	 * A tree that was built already is compared with, as it is; comparison_path, when given, is then only what it
	 * is called. Python frames should be in both trees or in none. Needed during the call only.
	 */
	const tl_tree *comparison_tree;
} tl_report_options;

/** The defaults. */
TL_API tl_report_options tl_report_options_default(void);

/**
 * Makes the PyTorch report of an open trace. The report owns its tables and does not need the
 * trace afterwards. A trace without GPU events yields a report of what there is (at least
 * gpu_timeline and trace_health); tl_report_is_empty says so.
 * @param[out] out freed with tl_report_free
 * @return 0, TL_EINVAL (no trace, options that make no sense), TL_EIO (no such inductor_cache_dir), TL_ECALLBACK (a
 * hook), TL_ENOMEM; of the trace to compare with,
 * and naming its file, the codes of tl_trace_open, TL_EFORMAT also when it is cut off, TL_EEMPTY (no GPU work)
 */
TL_API int tl_report_pytorch(tl_report **out, const tl_trace *trace, const tl_report_options *options, tl_error *err);
/**
 * The same of a tree that was built already, with what was edited and marked in it: for programs that change trees
 * themselves. Tree hooks are not called, and what options say about building (pseudo-operations, clipping) has no
 * effect on it, only on the tree of comparison_path. Options that need Python frames need a tree that has them. Codes
 * as tl_report_pytorch.
 */
TL_API int tl_report_pytorch_tree(tl_report **out, tl_tree *tree, const tl_report_options *options, tl_error *err);
TL_API void tl_report_free(tl_report *report);
/**
 * Adds a table of the caller's as a sheet at the end, or in the place of the sheet of its name (case ignored). The
 * report owns it from now on, also on failure. TL_EINVAL (no table, no name), TL_ENOMEM.
 */
TL_API int tl_report_add_table(tl_report *report, tl_table *table, tl_error *err);

/** Number of sheets and the tables themselves, in workbook order; owned by the report. */
TL_API size_t tl_report_count(const tl_report *report);
TL_API const tl_table *tl_report_table(const tl_report *report, size_t index);
/** Sheet by name, or NULL. */
TL_API const tl_table *tl_report_find(const tl_report *report, const char *name);
/** One line that says what a sheet shows; "" for an unknown name. A constant. */
TL_API const char *tl_report_describe(const char *sheet);
/** No GPU event with a usable time was there, or all of them are ambiguous (tl_report_ambiguous) and left out. */
TL_API bool tl_report_is_empty(const tl_report *report);
/** GPU events left out of the timeline: number, and their summed time in ps. */
TL_API size_t tl_report_excluded(const tl_report *report, tl_time *time);
/** Of those, the ones left out because several processes use their correlation ids (tl_tree_ambiguous). */
TL_API size_t tl_report_ambiguous(const tl_report *report, tl_time *time);

/**
 * With which figures the rooflines count, as one line: "MI300X, 5300 GB/s; matrix_bf16 708 TFLOPS (achievable)". ""
 * without an architecture. Belongs to the report.
 */
TL_API const char *tl_report_roofline(const tl_report *report);

/** What a report was compared with, and the sums of what its columns say. [0] is trace1, of the report, [1] trace2. */
typedef struct tl_report_comparison {
	const char *path;         /**< of trace2; "" for a tree without a name. Belongs to the report */
	size_t gpu_events[2];     /**< with a launch in their trace, or all when those without are included */
	tl_time gpu_time[2];      /**< sum of their durations in ps = sum over the rows of unified_perf_summary */
	size_t left_out[2];       /**< GPU events without a launch in their trace, when they are not included */
	tl_time left_out_time[2]; /**< sum of their durations in ps */
	bool identical;           /**< both have the same operations in the same places */
	/**
	 * unified_perf_summary by `name`, the largest difference first: `name`, `lca_total_kernel_time_trace1_us`,
	 * `lca_total_kernel_time_trace2_us`, `delta_us (trace2 - trace1)`, `speedup (trace2/trace1)`. NULL when
	 * there is no such sheet. Belongs to the report.
	 */
	const tl_table *largest;
} tl_report_comparison;
/** Whether the report was compared with another trace; then fills `out`. */
TL_API bool tl_report_get_comparison(tl_report_comparison *out, const tl_report *report);

/** Text for the first sheet and the terminal: what was read and with which options. */
typedef struct tl_report_heading {
	const char *trace;   /**< name of the trace file */
	const char *command; /**< command line or options as one line, "" for none */
} tl_report_heading;

/** Where a report goes; NULL for "not wanted". */
typedef struct tl_report_outputs {
	const char *csv_dir;   /**< one `<sheet>.csv` a table, in this directory, made when missing; other files stay */
	const char *xlsx_path; /**< one workbook: `overview`, then a sheet per table */
	const char *json_path; /**< one object {"trace":..., "options":..., "roofline":..., "comparison":...,
				  "tables":[...]} (see tl_table_json) */
	bool single_thread;    /**< write on the calling thread alone */
} tl_report_outputs;

/**
 * Writes the report. Everything is written under temporary names and renamed when all of it is
 * complete: on failure nothing is left behind and older files stay as they were. `heading` may be NULL.
 * @return 0, TL_EIO (names the file and the reason), TL_EINVAL (two outputs of one name), TL_ELIMIT (more rows
 *         than a workbook sheet holds), TL_ENOMEM
 */
TL_API int tl_report_write(const tl_report *report, const tl_report_outputs *outputs, const tl_report_heading *heading,
			   tl_error *err);
/** tl_report_write of one output each. */
TL_API int tl_report_write_csv(const tl_report *report, const char *dir, tl_error *err);
TL_API int tl_report_write_xlsx(const tl_report *report, const char *path, const tl_report_heading *heading,
				tl_error *err);
TL_API int tl_report_write_json(const tl_report *report, const char *path, const tl_report_heading *heading,
				tl_error *err);

/** Formats of trace files, told by their content. */
typedef enum tl_format {
	TL_FORMAT_UNKNOWN,
	TL_FORMAT_PYTORCH,  /**< Kineto JSON, and any other JSON that nothing below claims */
	TL_FORMAT_ROCPROF,  /**< rocprofv3 JSON */
	TL_FORMAT_XPLANE,   /**< JAX and TensorFlow, xplane.pb */
	TL_FORMAT_PERFETTO, /**< Perfetto protobuf, pftrace */
	TL_FORMAT_ROCPD     /**< rocprofv3 SQLite database */
} tl_format;
/**
 * What a file is, by the beginning of its (unpacked) content; not for "-", which can be read only once. TL_EIO,
 * TL_EFORMAT (a zip that does not hold one file), TL_EINVAL (no path), TL_ENOMEM.
 */
TL_API int tl_format_detect(tl_format *out, const char *path, tl_error *err);

/** How the terminal summary looks. */
typedef struct tl_report_style {
	int width;   /**< columns of the terminal; 0: 80 */
	bool colour; /**< ANSI colours */
	int top;     /**< operations to list; 0: 10 */
} tl_report_style;
/**
 * A short summary for people: timeline, top categories, top operations, health. `*out` is allocated
 * with malloc; the caller frees it with free(). TL_ENOMEM.
 */
TL_API int tl_report_summary(const tl_report *report, const tl_report_heading *heading, const tl_report_style *style,
			     char **out, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
