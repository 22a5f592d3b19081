/* SPDX-License-Identifier: MIT */
/**
 * @file reports.h
 * Joining the sheets of several reports. Inputs are tables; where they come from, and where the result goes, is the
 * business of the report layer.
 */
#ifndef TL_COMPARE_REPORTS_H
#define TL_COMPARE_REPORTS_H

#include "table/table.h"
#include "util/buf.h"

/** A report to compare: its tag, what it is called in messages, its sheets. The first of a list is the baseline. */
typedef struct tl_cmp_report {
	const char *tag, *path;
	const tl_table *const *sheets;
	size_t n_sheets;
} tl_cmp_report;

/** Sheet of a report by name, or NULL. */
const tl_table *tl__cmp_find(const tl_cmp_report *report, const char *sheet);

/** What a number tells about the rows that it was made of: decides what becomes of it when rows are put together. */
typedef enum tl_cmp_statistic {
	TL_CMP_OTHER, /* the first one stands for all */
	TL_CMP_SUM,
	TL_CMP_COUNT, /* a sum, too */
	TL_CMP_MEAN,
	TL_CMP_STD,
	TL_CMP_MEDIAN,
	TL_CMP_MIN,
	TL_CMP_MAX,
	TL_CMP_CUMULATIVE
} tl_cmp_statistic;
/** What the name of a column says by its beginning or end. */
tl_cmp_statistic tl__cmp_statistic(const char *column);

/**
 * The rows of a table by key: keys are compared by their texts, numbers by value (3, 3.0 and "3" are equal), nothing
 * equals nothing. Ids come from `texts`, which all tables that are to be joined share. TL_ENOMEM.
 */
int tl__cmp_key_ids(tl_str *out, const tl_table *table, const char *const *keys, size_t n_keys, tl_strings *texts);

/**
 * A table with one row per key, in order of first appearance, and the keys of its rows. Sums and counts add up, means
 * are weighted by the count, deviations are pooled, extremes kept; medians cannot be told and become empty;
 * cumulative percentages are counted anew. Of everything else the first row's stands. `*out` is NULL when each key
 * has one row already. `ids` (in: of each row, out: of each row of the result) is changed.
 */
int tl__cmp_one_row_a_key(tl_table **out, tl_str *ids, const tl_table *table, tl_error *err);

/** What a column of a result is. */
typedef struct tl_cmp_column {
	enum { TL_CMP_KEY, TL_CMP_DIFF, TL_CMP_PCT, TL_CMP_VALUE } role;
	uint32_t report; /* DIFF, PCT: the variant; VALUE: whose column it is */
	bool noise;      /* hidden in a workbook */
} tl_cmp_column;

/** How a group of sheets is joined. */
typedef struct tl_cmp_plan {
	const char *name; /* of the result */
	const char *const *keys;
	size_t n_keys;
	const char *const *metrics;
	size_t n_metrics;
	const char *const *drop;         /* columns left out of every report, NULL-terminated; or NULL */
	const char *const *drop_variant; /* and of all but the baseline */
	const char *sort; /* column by whose baseline value rows are sorted, largest first; NULL: none. Then by the
	       keys, when they are several; rows of one key keep the order in which they are met, report by report */
	const char *const *noise; /* further columns that a workbook hides, NULL-terminated; or NULL: hides nothing */
} tl_cmp_plan;

/**
 * The outer join of one table a report (NULL: the report has none, as if it had no rows): keys, differences, the
 * reports' columns. `*columns` has an entry a column; behind the columns of the result stand as many INT64 columns as
 * reports, without entry: the row's place in that report, empty where it has none.
 * Metrics that a report lacks leave their differences empty. Values stay those of the reports (tl__table_own_values).
 * TL_EFORMAT (a metric that is no number), TL_ENOMEM.
 */
int tl__cmp_join(tl_table **out, tl_cmp_column **columns, size_t *n_columns, const tl_cmp_plan *plan,
		 const tl_cmp_report *reports, const tl_table *const *tables, size_t n, tl_error *err);

/** A sheet of the result. */
typedef struct tl_cmp_sheet {
	tl_table *table;        /* as CSV and the API have it; its values are those of `full` when there is one */
	tl_table *full;         /* as a workbook has it: with columns and keys that hold nothing. NULL: the same */
	tl_cmp_column *columns; /* of `full` */
	char *what;             /* one line about it */
} tl_cmp_sheet;

/** Groups of sheets. */
typedef enum tl_cmp_group {
	TL_CMP_GPU_TIMELINE = 1,
	TL_CMP_OPS_SUMMARY = 2,
	TL_CMP_KERNEL_SUMMARY = 4,
	TL_CMP_OPS_ALL = 8,
	TL_CMP_ROOFLINE = 16,
	TL_CMP_ALL = 31
} tl_cmp_group;

typedef struct tl_cmp_result {
	bool borrows; /* values of its tables may be those of the reports, which live as long */
	TL_VEC(tl_cmp_sheet) sheets;
	TL_VEC(char *) notes; /* what was left out or taken instead, a line each */
	tl_table *largest;    /* the largest differences; NULL before tl__cmp_largest */
} tl_cmp_result;
void tl__cmp_result_free(tl_cmp_result *result);
/** Adds a line to the notes. 0 or TL_ENOMEM. */
int tl__cmp_note(tl_cmp_result *result, tl_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/**
 * Compares two or more reports, the first one is the baseline. `groups`: which; with `all_there` what the reports lack
 * is left out with a note, otherwise it is an error.
 * TL_ENOTFOUND (a group that the reports do not have; the message names the option that makes it), TL_EEMPTY (nothing
 * to compare), TL_EFORMAT, TL_ENOMEM.
 */
int tl__cmp_reports(tl_cmp_result *out, const tl_cmp_report *reports, size_t n, unsigned groups, bool all_there,
		    tl_error *err);

/** result->largest: see tl_comparison_largest; stays NULL where no sheet tells kernel times. */
int tl__cmp_largest(tl_cmp_result *result, const tl_cmp_report *reports, size_t n, tl_error *err);

#endif
