/* SPDX-License-Identifier: MIT */
/**
 * @file compare.h
 * Comparing runs.
 */
#ifndef TRACELENS_COMPARE_H
#define TRACELENS_COMPARE_H

#include <tracelens/common.h>
#include <tracelens/report.h>
#include <tracelens/table.h>
#include <tracelens/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- TraceDiff: two call trees, aligned ---- */

/**
 * Two call trees laid over each other. Siblings (root events, thread by thread, included) are aligned in order, by
 * name: as many as possible, the more alike in arguments and in what is below the better, of equally good ways the
 * earliest. Then operations that exist on one side only, but hold what the other side has, are looked through, and what
 * only changed its place among its siblings finds its partner again. docs/comparing.md says more.
 */
typedef struct tl_diff tl_diff;

/** The two traces. Numbers are part of the interface: reports name them trace1 and trace2. */
typedef enum tl_diff_side { TL_DIFF_BASELINE = 1, TL_DIFF_VARIANT = 2 } tl_diff_side;

/** Options of tl_diff_new; zero-initialise for the defaults. */
typedef struct tl_diff_options {
	/**
	 * Names that mean the same, in addition to the built-in ones: text of lines `NAME = NAME`, `#` begins a
	 * comment. A `*` at the end of both stands for an equal rest. NULL: none.
	 */
	const char *twins;
	bool single_thread; /**< on the calling thread alone, tl_diff_write, too */
} tl_diff_options;

/**
 * Compares two trees; neither is changed. Near linear in the number of nodes as long as sibling lists are short or
 * much alike.
 * @param baseline, variant must outlive the comparison, and not be edited while it lives
 * @param options NULL for the defaults
 * @param[out] out freed with tl_diff_free
 * @return 0, TL_ENOMEM, TL_EINVAL (a line of `twins` that is none; a tree is missing), TL_ELIMIT
 */
TL_API int tl_diff_new(tl_diff **out, const tl_tree *baseline, const tl_tree *variant, const tl_diff_options *options,
		       tl_error *err);
TL_API void tl_diff_free(tl_diff *diff);

/** The trees that were compared. */
TL_API const tl_tree *tl_diff_tree(const tl_diff *diff, tl_diff_side side);

/** A node of the merged tree. */
typedef struct tl_diff_node {
	/** The event on each side; TL_ROW_NONE: that side has none. Both: the two were matched. */
	tl_row baseline, variant;
	uint32_t parent; /**< number of the node above, or TL_DIFF_NONE */
	uint32_t end;    /**< one past the last node below: the subtree of node i is [i, end) */
	bool moved;      /**< matched, but in another place among its siblings */
	bool unlinked;   /**< the root of GPU events whose launch is in neither tree; it has no event of its own */
} tl_diff_node;
#define TL_DIFF_NONE UINT32_MAX

/**
 * Nodes of the merged tree, numbered parents first. It holds all root events and, below them, what launches GPU work on
 * either side; every GPU event of both traces exactly once.
 */
TL_API size_t tl_diff_count(const tl_diff *diff);
/** Node `index`; all TL_ROW_NONE beyond the last. */
TL_API tl_diff_node tl_diff_get(const tl_diff *diff, size_t index);
/** The node of an event, or TL_DIFF_NONE: events without GPU work below a root, wrappers that were looked through. */
TL_API uint32_t tl_diff_node_of(const tl_diff *diff, tl_diff_side side, tl_row event);
/**
 * The event of the other side that an event was matched with, or TL_ROW_NONE. Also of events that are not in the merged
 * tree. A wrapper that was looked through has the partner of the only GPU path below it, if there is just one.
 */
TL_API tl_row tl_diff_corresponding(const tl_diff *diff, tl_diff_side side, tl_row event);

/** What each side consists of. Times in ps. */
typedef struct tl_diff_side_totals {
	size_t gpu_events;      /**< all of the trace */
	tl_time gpu_time;       /**< sum of their durations */
	size_t under_operation; /**< GPU events below an operation (cpu_op), and their time */
	tl_time under_operation_time;
	size_t under_call; /**< not so, but below the call that launched them */
	tl_time under_call_time;
	size_t unlinked; /**< without a launch in the trace */
	tl_time unlinked_time;
	size_t in_matched; /**< GPU events whose operation (the nearest above) was matched, and their time */
	tl_time in_matched_time;
	size_t operations;      /**< nodes of the merged tree that are operations (cpu_op) */
	size_t unmatched_nodes; /**< events of the tree without a partner; wrappers that were looked through not counted
				 */
	size_t unmatched_subtrees; /**< such events whose parent is none */
	size_t looked_through;     /**< wrappers */
} tl_diff_side_totals;
typedef struct tl_diff_totals {
	tl_diff_side_totals side[2]; /**< baseline, variant */
	size_t matched_operations;   /**< nodes that are operations on both sides */
	size_t moved;   /**< nodes of the merged tree that are matched, but in another place among their siblings */
	bool identical; /**< the trees have the same names in the same places */
} tl_diff_totals;
/** What the two sides consist of, and how much of them was matched; into `out`. */
TL_API void tl_diff_get_totals(const tl_diff *diff, tl_diff_totals *out);

/**
 * One row per GPU event of either trace (`diff_stats`), grouped by their lowest common ancestor: the nearest matched
 * operation above, else the nearest matched event. Times in µs. @param[out] out freed with tl_table_free
 */
TL_API int tl_diff_stats(tl_table **out, const tl_diff *diff, tl_error *err);
/** The same by kernel, operation, side, arguments, ancestor and module (`diff_stats_unique_args_summary`). */
TL_API int tl_diff_stats_unique_args(tl_table **out, const tl_diff *diff, tl_error *err);
/** Operations, the side, their kernels and the nn.Modules around them (`cpu_op_map`). */
TL_API int tl_diff_op_map(tl_table **out, const tl_diff *diff, tl_error *err);
/**
 * Lowest common ancestors by the difference of their GPU times, largest first: `lowest_common_ancestor_name`,
 * `lowest_common_ancestor_id`, `count` (ancestors of this name), `kernel_time_trace1`, `kernel_time_trace2`, `delta`
 * (variant - baseline), µs. Ancestors of one name are one row, whose id is that of the first.
 */
TL_API int tl_diff_largest(tl_table **out, const tl_diff *diff, tl_error *err);

/** What of the merged tree is printed; zero-initialise for the defaults. */
typedef struct tl_diff_print_options {
	bool prune_non_gpu; /**< leave roots out that have no GPU work on either side */
	bool one;           /**< only the subtree of `node` */
	uint32_t node;
} tl_diff_print_options;
/** The merged tree as text (`merged_tree_output.txt`). TL_ECALLBACK, TL_ENOTFOUND (no such node), TL_ENOMEM. */
TL_API int tl_diff_print(const tl_diff *diff, const tl_diff_print_options *options, tl_write_fn write, void *user,
			 tl_error *err);
/**
 * Writes merged_tree_output.txt, diff_stats.csv, diff_stats_unique_args_summary.csv, cpu_op_map.json,
 * cpu_op_map_trace1.json and cpu_op_map_trace2.json into a folder, which is made when missing. They appear
 * together when all are complete, or not at all. TL_EINVAL (no name), TL_EIO, TL_ENOMEM.
 */
TL_API int tl_diff_write(const tl_diff *diff, const char *folder, bool prune_non_gpu, tl_error *err);
/** The same and the table of tl_diff_largest, in less time than one after the other. @param[out] largest freed with
 * tl_table_free; NULL on failure */
TL_API int tl_diff_write_with_largest(tl_table **largest, const tl_diff *diff, const char *folder, bool prune_non_gpu,
				      tl_error *err);

/* ---- report comparison: finished reports, sheet by sheet ---- */

/**
 * Two or more reports side by side. Rows of a sheet meet where their keys are equal (name and arguments, by their
 * texts); each report is brought to one row per key first, so that nothing multiplies. The first report is the
 * baseline: differences are variant - baseline, percentages 100 * difference / baseline (empty where the baseline is 0
 * or either has no value). docs/comparing.md says what each sheet shows.
 */
typedef struct tl_comparison tl_comparison;

/** Options of tl_compare_reports; zero-initialise for the defaults. */
typedef struct tl_compare_options {
	/** Tags, one per report, all different. NULL: names of the files and folders without their ending. */
	const char *const *names;
	size_t n_names;
	/** Any of gpu_timeline, ops_summary, kernel_summary, ops_all, roofline, all. None: all. */
	const char *const *sheets;
	size_t n_sheets;
	const tl_trace_options *trace;   /**< for trace files; may be NULL */
	const tl_report_options *report; /**< for their reports; NULL: the defaults, with kernel_summary where wanted */
} tl_compare_options;

/**
 * Compares reports. Each path is a workbook (.xlsx), a directory of CSV sheets, or a trace, whose report is made in
 * memory; found by content, in any mixture.
 * @param[out] out freed with tl_comparison_free
 * @return 0; TL_EINVAL (fewer than two reports, tags that are not one per report or not unique, an unknown group);
 *         TL_ENOTFOUND (a group was asked for that a report does not have; the message says how it comes to have it);
 *         TL_EEMPTY (nothing to compare, or a trace without GPU work); TL_EUNSUPPORTED (a trace that is not PyTorch's);
 * TL_EFORMAT (a file is broken, or a metric is no number); TL_EIO, TL_ELIMIT, TL_ENOMEM, TL_ECANCELLED
 */
TL_API int tl_compare_reports(tl_comparison **out, const char *const *paths, size_t n,
			      const tl_compare_options *options, tl_error *err);
/** The same of reports in memory, which are needed during the call only. `options->names` must be given. */
TL_API int tl_compare_reports_made(tl_comparison **out, const tl_report *const *reports, size_t n,
				   const tl_compare_options *options, tl_error *err);
TL_API void tl_comparison_free(tl_comparison *comparison);

/**
 * Sheets of the result, in the order of the workbook; they belong to the comparison. Of the sheets in three parts
 * (`..._intersect_TAG`, `..._only_baseline_TAG`, `..._only_variant_TAG`) these are the form that CSV files have:
 * columns that hold nothing are left out, and an empty part has no column at all. The workbook keeps all of them.
 */
TL_API size_t tl_comparison_count(const tl_comparison *comparison);
TL_API const tl_table *tl_comparison_table(const tl_comparison *comparison, size_t index);
TL_API const tl_table *tl_comparison_find(const tl_comparison *comparison, const char *name);
/** Tag of a report, the baseline first; NULL beyond the last. */
TL_API const char *tl_comparison_tag(const tl_comparison *comparison, size_t report);
/** What was left out, or stands in for something else: one line each; NULL beyond the last. */
TL_API const char *tl_comparison_note(const tl_comparison *comparison, size_t index);
/** Whether a trace among the reports was cut off: what is there was compared. */
TL_API bool tl_comparison_is_truncated(const tl_comparison *comparison);
/**
 * The largest differences of kernel time (of a picosecond at least), at most ten regressions and ten improvements a
 * variant, in this order, the largest first: `report` (the variant's tag), `name` (of the operation; where reports have
 * none, of the kernel), `baseline ms`, `report ms` (0 where it has no such operation), `diff ms`, `pct`. NULL when no
 * sheet that all reports have tells kernel times.
 */
TL_API const tl_table *tl_comparison_largest(const tl_comparison *comparison);

/**
 * Writes the comparison: a workbook whose first sheet names the reports and lists the largest differences, and one CSV
 * file a sheet; NULL for what is not wanted. All of it appears complete or not at all. TL_EIO, TL_ELIMIT, TL_ENOMEM.
 */
TL_API int tl_comparison_write(const tl_comparison *comparison, const char *xlsx_path, const char *csv_dir,
			       tl_error *err);

/**
 * Reads a finished report: a workbook or a directory of CSV sheets, of this program or the Python tool. Columns have
 * the types that their cells show (docs/comparing.md).
 * @param[out] out freed with tl_report_free
 * @return 0, TL_EIO, TL_EFORMAT (no report, or a damaged one), TL_EINVAL (no path), TL_ELIMIT, TL_ENOMEM
 */
TL_API int tl_report_read(tl_report **out, const char *path, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
