/* SPDX-License-Identifier: MIT */
/** @file ops_summary.c The three summaries of the launcher table (spec 02 sections 7.2 to 7.4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/aggregate.h"
#include "analysis/analyzer.h"
#include "analysis/overlap.h"

#define DIRECT "total_direct_kernel_time"
#define SUBTREE "total_subtree_kernel_time"
#define RECOMPUTE "is_recompute" /* a key wherever it exists, that is with recompute detection */

/* Builds a summary from groups of launchers: adds all columns, sorted or not. */
typedef int (*build_fn)(tl_table *out, const tl_groups *groups, const tl_table *launchers, tl_error *err);

static int summarize(tl_table **out, const char *name, const tl_table *launchers, const char *const *keys,
		     size_t n_keys, build_fn build, tl_error *err)
{
	tl_groups groups = {0};
	*out = NULL;
	TL_TRY(tl__table_group(&groups, launchers, keys, n_keys, true, err));
	tl_table *table = tl__table_new(name, launchers->strings, groups.n);
	int code = table ? build(table, &groups, launchers, err) : tl__nomem(err);
	tl__groups_free(&groups);
	if (code < 0) {
		tl_table_free(table);
		return code;
	}
	*out = table;
	return 0;
}

/* Launchers stand by start, so ties keep the order of first occurrence, which no order of the file can change. */
static int sort_and_rate(tl_table *table, const char *column, tl_error *err)
{
	TL_TRY(tl__table_sort(table, &(tl_sort_key){column, true}, 1, err));
	return tl__table_add_percentages(table, column, err);
}

/* ---- by category ---- */

static int build_by_category(tl_table *out, const tl_groups *groups, const tl_table *launchers, tl_error *err)
{
	TL_TRY(tl__table_aggregate(out, "op category", groups, launchers, "op category", TL_AGG_FIRST, err));
	TL_TRY(tl__table_aggregate(out, RECOMPUTE, groups, launchers, RECOMPUTE, TL_AGG_FIRST, err));
	TL_TRY(tl__table_aggregate(out, "Count", groups, launchers, "op category", TL_AGG_SIZE, err));
	TL_TRY(tl__aggregate_ms(out, DIRECT "_ms", groups, tl__table_column(launchers, DIRECT), err));
	return sort_and_rate(out, DIRECT "_ms", err);
}

int tl__ops_summary_by_category(tl_table **out, const tl_table *launchers, tl_error *err)
{
	return summarize(out, "ops_summary_by_category", launchers, (const char *[]){"op category", RECOMPUTE}, 2,
			 build_by_category, err);
}

/* ---- by name ---- */

typedef struct text {
	tl_str id;
	const char *text;
} text;

static int compare_texts(const void *left, const void *right)
{
	return strcmp(((const text *)left)->text, ((const text *)right)->text);
}

/* The distinct categories of one group, sorted; mostly it is one. */
static const tl_value *category_list(tl_table *out, const tl_groups *groups, size_t group, const tl_column *category)
{
	TL_VEC(text) found = {0};
	TL_VEC(tl_value) items = {0};
	const tl_value *list = NULL;
	for (size_t i = groups->start[group]; i < groups->start[group + 1]; i++) {
		tl_str id = category->str[groups->rows[i]];
		size_t k = 0;
		while (k < found.n && found.v[k].id != id)
			k++;
		if (k == found.n && TL_VEC_PUSH(&found, ((text){id, tl__str(out->strings, id)})) < 0)
			goto done;
	}
	qsort(found.v, found.n, sizeof *found.v, compare_texts);
	for (size_t i = 0; i < found.n; i++) {
		tl_value item = TL_VALUE_STRING(found.v[i].text, tl__str_len(out->strings, found.v[i].id));
		if (TL_VEC_PUSH(&items, item) < 0)
			goto done;
	}
	list = tl__table_list(out, items.v, items.n, false);
done:
	TL_VEC_FREE(&found);
	TL_VEC_FREE(&items);
	return list;
}

static int add_categories(tl_table *out, const tl_groups *groups, const tl_table *launchers, tl_error *err)
{
	tl_column *lists = tl__table_add(out, "Categories", "", TL_COL_VALUE);
	if (!lists)
		return tl__nomem(err);
	for (size_t g = 0; g < groups->n; g++) {
		lists->val[g] = category_list(out, groups, g, tl__table_column(launchers, "op category"));
		if (!lists->val[g])
			return tl__nomem(err);
	}
	return 0;
}

static int build_by_name(tl_table *out, const tl_groups *groups, const tl_table *launchers, tl_error *err)
{
	const tl_column *direct = tl__table_column(launchers, DIRECT);
	const tl_column *subtree = tl__table_column(launchers, SUBTREE);
	TL_TRY(tl__table_aggregate(out, "name", groups, launchers, "name", TL_AGG_FIRST, err));
	TL_TRY(tl__table_aggregate(out, RECOMPUTE, groups, launchers, RECOMPUTE, TL_AGG_FIRST, err));
	TL_TRY(tl__aggregate_us(out, DIRECT "_sum", groups, direct, err));
	TL_TRY(tl__aggregate_us(out, SUBTREE "_sum", groups, subtree, err));
	TL_TRY(tl__aggregate_ms(out, DIRECT "_ms", groups, direct, err));
	TL_TRY(tl__aggregate_ms(out, SUBTREE "_ms", groups, subtree, err));
	TL_TRY(tl__table_aggregate(out, "Count", groups, launchers, "name", TL_AGG_SIZE, err));
	TL_TRY(add_categories(out, groups, launchers, err));
	return sort_and_rate(out, DIRECT "_ms", err);
}

int tl__ops_summary(tl_table **out, const tl_table *launchers, tl_error *err)
{
	return summarize(out, "ops_summary", launchers, (const char *[]){"name", RECOMPUTE}, 2, build_by_name, err);
}

/* ---- by arguments ---- */

/* Those that do not exist or are not asked for are passed over. */
static size_t argument_keys(const char *keys[12], const tl_summary_options *options)
{
	static const char *const arguments[] = {
		"op category", "process_name", "process_label", "thread_name",
		"Input Dims",  "Input type",   "Input Strides", "Concrete Inputs",
	};
	size_t n = 0;
	keys[n++] = "name";
	if (options->overlap)
		keys[n++] = TL_OVERLAP_NAMES;
	for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
		keys[n++] = arguments[i];
	if (options->group_by_num_kernels)
		keys[n++] = "num_kernels";
	keys[n++] = RECOMPUTE;
	return n;
}

static int add_time_aggregates(tl_table *out, const tl_groups *groups, const tl_table *launchers, tl_error *err)
{
	static const char *const sources[] = {DIRECT, SUBTREE};
	static const struct {
		const char *names[2];
		tl_aggregate how;
	} aggregates[] = {
		{{DIRECT "_mean", SUBTREE "_mean"}, TL_AGG_MEAN},
		{{DIRECT "_median", SUBTREE "_median"}, TL_AGG_MEDIAN},
		{{DIRECT "_std", SUBTREE "_std"}, TL_AGG_STD},
		{{DIRECT "_min", SUBTREE "_min"}, TL_AGG_MIN},
		{{DIRECT "_max", SUBTREE "_max"}, TL_AGG_MAX},
		{{DIRECT "_sum", SUBTREE "_sum"}, TL_AGG_SUM},
	};
	for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
		for (size_t k = 0; k < 2; k++) {
			const char *name = aggregates[i].names[k];
			const tl_column *source = tl__table_column(launchers, sources[k]);
			if (aggregates[i].how == TL_AGG_SUM)
				TL_TRY(tl__aggregate_us(out, name, groups, source, err));
			else if (aggregates[i].how == TL_AGG_MEAN)
				TL_TRY(tl__aggregate_mean_us(out, name, groups, source, err));
			else
				TL_TRY(tl__table_aggregate(out, name, groups, launchers, sources[k], aggregates[i].how,
							   err));
		}
	return 0;
}

/* The earliest start of each group, from that of the earliest of all; launchers without a time have none. */
static int add_first_occurrence(tl_table *out, const tl_groups *groups, const tl_table *launchers, tl_error *err)
{
	const tl_column *starts = tl__table_column(launchers, "ts");
	double earliest = (double)INFINITY;
	if (!starts)
		return 0;
	TL_TRY(tl__table_aggregate(out, "first_occurrence_time", groups, launchers, "ts", TL_AGG_MIN, err));
	tl_column *column = tl__table_column(out, "first_occurrence_time");
	for (size_t g = 0; g < groups->n; g++)
		earliest = fmin(earliest, column->f64[g]); /* passes over NaN */
	for (size_t g = 0; g < groups->n; g++)             /* in whole ps: the difference of the doubles is none */
		if (!isnan(column->f64[g]))
			column->f64[g] = (double)(llround(column->f64[g] * 1e6) - llround(earliest * 1e6)) / 1e6;
	return 0;
}

static int build_unique_args(tl_table *out, const tl_groups *groups, const tl_table *launchers,
			     const tl_summary_options *options, const char *const *keys, size_t n_keys, tl_error *err)
{
	TL_TRY(tl__aggregate_keys(out, groups, launchers, keys, n_keys, err));
	TL_TRY(tl__table_aggregate(out, "operation_count", groups, launchers, "name", TL_AGG_SIZE, err));
	if (options->first_occurrence)
		TL_TRY(add_first_occurrence(out, groups, launchers, err));
	TL_TRY(add_time_aggregates(out, groups, launchers, err));
	/* Launchers stand by start: the first row of a group is its first launcher. */
	TL_TRY(tl__table_aggregate(out, "ex_UID", groups, launchers, "UID", TL_AGG_FIRST, err));
	TL_TRY(tl__table_summarize_kernels(out, "kernel_details_summary", groups, launchers, "kernel_details", err));
	TL_TRY(tl__table_add_truncated(out, "kernel_details_summary", "trunc_kernel_details", err));
	if (options->overlap)
		TL_TRY(tl__overlap_summary(out, "overlapping_kernels_details_summary", groups, launchers, err));
	return sort_and_rate(out, DIRECT "_sum", err);
}

int tl__ops_unique_args(tl_table **out, const tl_table *launchers, const tl_summary_options *options, tl_error *err)
{
	static const tl_summary_options defaults;
	const tl_summary_options *o = options ? options : &defaults;
	const char *keys[12];
	size_t n_keys = argument_keys(keys, o);
	tl_groups groups = {0};
	*out = NULL;
	TL_TRY(tl__table_group(&groups, launchers, keys, n_keys, true, err));
	tl_table *table = tl__table_new(o->overlap ? "ops_unique_args_kl_overlap" : "ops_unique_args",
					launchers->strings, groups.n);
	int code = table ? build_unique_args(table, &groups, launchers, o, keys, n_keys, err) : tl__nomem(err);
	tl__groups_free(&groups);
	if (code == 0)
		tl__table_cut(table, o->top);
	if (code < 0)
		tl_table_free(table);
	else
		*out = table;
	return code;
}
