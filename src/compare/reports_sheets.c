/* SPDX-License-Identifier: MIT */
/* Which sheets of reports are compared, by which columns, and the three parts that the long ones are split into. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/reports.h"
#include "util/text.h"

#define MICRO "\xc2\xb5s"

typedef struct work {
	tl_cmp_result *out;
	const tl_cmp_report *reports;
	size_t n;
	bool all_there;
	const tl_table **tables; /* of the sheet at hand, one a report */
	tl_error *err;
} work;

/* ---- results ---- */

static void sheet_free(tl_cmp_sheet *sheet)
{
	tl_table_free(sheet->table);
	tl_table_free(sheet->full);
	tl__free(sheet->columns);
	tl__free(sheet->what);
}

void tl__cmp_result_free(tl_cmp_result *result)
{
	for (size_t i = 0; i < result->sheets.n; i++)
		sheet_free(&result->sheets.v[i]);
	for (size_t i = 0; i < result->notes.n; i++)
		tl__free(result->notes.v[i]);
	TL_VEC_FREE(&result->sheets);
	TL_VEC_FREE(&result->notes);
	tl_table_free(result->largest);
	result->largest = NULL;
}

static char *format_text(const char *format, va_list args)
{
	char text[1024];
	vsnprintf(text, sizeof text, format, args);
	return tl__strdup(text);
}

int tl__cmp_note(tl_cmp_result *result, tl_error *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *note = format_text(format, args);
	va_end(args);
	if (note && TL_VEC_PUSH(&result->notes, note) == 0)
		return 0;
	tl__free(note);
	return tl__nomem(err);
}

const tl_table *tl__cmp_find(const tl_cmp_report *report, const char *sheet)
{
	for (size_t i = 0; i < report->n_sheets; i++)
		if (!strcmp(tl_table_name(report->sheets[i]), sheet))
			return report->sheets[i];
	return NULL;
}

static int rename_table(tl_table *table, const char *name, tl_error *err)
{
	table->name = tl__arena_strndup(&table->arena, name, strlen(name));
	return table->name ? 0 : tl__nomem(err);
}

/* Takes what `sheet` owns, also on failure. */
static int push_sheet(work *w, tl_cmp_sheet sheet, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int push_sheet(work *w, tl_cmp_sheet sheet, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	sheet.what = format_text(format, args);
	va_end(args);
	if (sheet.what && TL_VEC_PUSH(&w->out->sheets, sheet) == 0)
		return 0;
	sheet_free(&sheet);
	return tl__nomem(w->err);
}

/* ---- what the reports have ---- */

/* The sheet of each report into w->tables; how many have it. *lacking: the first that does not. */
static size_t find_tables(work *w, const char *sheet, size_t *lacking)
{
	size_t found = 0;
	*lacking = w->n;
	for (size_t r = 0; r < w->n; r++) {
		w->tables[r] = tl__cmp_find(&w->reports[r], sheet);
		found += w->tables[r] != NULL;
		if (!w->tables[r] && *lacking == w->n)
			*lacking = r;
	}
	return found;
}

static bool all_have(work *w, const char *sheet)
{
	size_t lacking;
	return find_tables(w, sheet, &lacking) == w->n;
}

/* How reports come to have a sheet. */
static const char *how_to_make(const char *sheet)
{
	if (!strcmp(sheet, "kernel_summary"))
		return "make the report with --enable_kernel_summary";
	if (!strcmp(sheet, "roofline"))
		return "reports have such sheets when operations of the trace have a performance model";
	return "reports of PyTorch traces have it without any option: is this one complete?";
}

/* A sheet that a report lacks: a note where all sheets were asked for, otherwise the end. */
static int missing(work *w, const char *sheet, size_t lacking)
{
	const char *path = w->reports[lacking].path;
	if (w->all_there)
		return tl__cmp_note(w->out, w->err, "%s is left out: %.200s has none (%s)", sheet, path,
				    how_to_make(sheet));
	int code = tl__fail(w->err, TL_ENOTFOUND, "there is no sheet '%s' (%s)", sheet, how_to_make(sheet));
	tl__error_where(w->err, path, -1);
	return code;
}

/* Tables without columns are as none; others need the keys. */
static int check_keys(work *w, const char *sheet, const tl_cmp_plan *plan)
{
	for (size_t r = 0; r < w->n; r++) {
		if (w->tables[r] && !w->tables[r]->columns.n)
			w->tables[r] = NULL;
		for (size_t k = 0; w->tables[r] && k < plan->n_keys; k++) {
			if (tl__table_column(w->tables[r], plan->keys[k]))
				continue;
			int code = tl__fail(w->err, TL_EFORMAT, "sheet '%s' has no column '%s'", sheet, plan->keys[k]);
			tl__error_where(w->err, w->reports[r].path, -1);
			return code;
		}
	}
	for (size_t m = 0; m < plan->n_metrics; m++)
		for (size_t r = 0; r < w->n; r++)
			if (w->tables[r] && !tl__table_column(w->tables[r], plan->metrics[m]))
				TL_TRY(tl__cmp_note(w->out, w->err,
						    "%s: %.200s has no column '%s', so that its differences are empty",
						    sheet, w->reports[r].path, plan->metrics[m]));
	return 0;
}

/* ---- sheets that stay in one piece ---- */

static void drop_places(tl_table *table, size_t n)
{
	while (n--)
		tl__table_remove_column(table, table->columns.n - 1);
}

static int compare_whole(work *w, const tl_cmp_plan *plan, const char *what)
{
	tl_cmp_sheet sheet = {0};
	size_t n;
	TL_TRY(check_keys(w, plan->name, plan));
	TL_TRY(tl__cmp_join(&sheet.table, &sheet.columns, &n, plan, w->reports, w->tables, w->n, w->err));
	drop_places(sheet.table, w->n);
	int code = w->out->borrows ? 0 : tl__table_own_values(sheet.table, w->err);
	if (code < 0) {
		sheet_free(&sheet);
		return code;
	}
	return push_sheet(w, sheet, "%s", what);
}

static int compare_timeline(work *w)
{
	static const char *const keys[] = {"type"}, *const metrics[] = {"time ms"};
	static const tl_cmp_plan plan = {
		.name = "gpu_timeline", .keys = keys, .n_keys = 1, .metrics = metrics, .n_metrics = 1};
	size_t lacking;
	if (find_tables(w, plan.name, &lacking) < w->n)
		return missing(w, plan.name, lacking);
	return compare_whole(w, &plan, "What the GPU did and how long it waited, side by side");
}

static const char *const no_cumulative[] = {"Cumulative Percentage (%)", NULL};

static int compare_ops_summary(work *w)
{
	static const char *const keys[] = {"name"}, *const metrics[] = {"total_direct_kernel_time_ms", "Count"},
				 *const drop[] = {"total_direct_kernel_time_sum", NULL};
	static const tl_cmp_plan plan = {
		.name = "ops_summary",
		.keys = keys,
		.n_keys = 1,
		.metrics = metrics,
		.n_metrics = 2,
		.drop = drop,
		.drop_variant = no_cumulative,
		.sort = "total_direct_kernel_time_ms",
	};
	size_t lacking;
	find_tables(w, plan.name, &lacking);
	return compare_whole(w, &plan, "Kernel time by operation, side by side; the baseline's heaviest first");
}

static int compare_kernel_summary(work *w)
{
	static const char *const keys[] = {"Kernel name"},
				 *const metrics[] = {"Kernel duration (" MICRO ")_sum",
						     "Kernel duration (" MICRO ")_mean",
						     "Kernel duration (" MICRO ")_count"},
				 *const drop[] = {"Kernel duration (" MICRO ")_min", "Kernel duration (" MICRO ")_max",
						  "Parent op category", NULL};
	static const char *const rocprof_keys[] = {"name"},
				 *const rocprof_metrics[] = {"Total Kernel Time (ms)", "Mean Kernel Time (" MICRO ")",
							     "Count"},
				 *const rocprof_drop[] = {"Total Kernel Time (" MICRO ")",
							  "Median Kernel Time (" MICRO ")",
							  "Std Kernel Time (" MICRO ")",
							  "Min Kernel Time (" MICRO ")",
							  "Max Kernel Time (" MICRO ")",
							  "Category",
							  NULL};
	tl_cmp_plan plan = {
		.name = "kernel_summary",
		.keys = keys,
		.n_keys = 1,
		.metrics = metrics,
		.n_metrics = 3,
		.drop = drop,
		.drop_variant = no_cumulative,
		.sort = metrics[0],
	};
	size_t lacking;
	if (find_tables(w, plan.name, &lacking) < w->n)
		return missing(w, plan.name, lacking);
	bool rocprof = w->tables[0]->columns.n && !tl__table_column(w->tables[0], keys[0]);
	if (rocprof) {
		plan.keys = rocprof_keys;
		plan.metrics = rocprof_metrics;
		plan.drop = rocprof_drop;
		plan.sort = rocprof_metrics[0];
	}
	return compare_whole(w, &plan, "Kernel time by kernel name, side by side; the baseline's heaviest first");
}

/* ---- sheets in three pieces ---- */

typedef enum part { IN_BOTH, ONLY_BASELINE, ONLY_VARIANT } part;

static bool in_part(const tl_table *joined, size_t columns, size_t variant, size_t row, part which)
{
	bool base = !tl__column_is_null(&joined->columns.v[columns], row);
	bool other = !tl__column_is_null(&joined->columns.v[columns + variant], row);
	return which == IN_BOTH ? base && other : which == ONLY_BASELINE ? base && !other : other && !base;
}

static bool keeps_column(const tl_cmp_column *column, size_t variant, part which)
{
	switch (column->role) {
	case TL_CMP_KEY:
		return true;
	case TL_CMP_VALUE:
		return (column->report == 0 && which != ONLY_VARIANT) ||
		       (column->report == variant && which != ONLY_BASELINE);
	default:
		return column->report == variant && which == IN_BOTH;
	}
}

static bool is_empty_column(const tl_table *table, const tl_column *column)
{
	for (size_t row = 0; row < table->rows; row++)
		if (!tl__column_is_null(column, row))
			return false;
	return true;
}

/* The rows and columns of one part, in sheet->full; all that holds nothing left out, in sheet->table. `borrows`: values
 * stay where they are. */
static int take_part(tl_cmp_sheet *sheet, const tl_table *joined, const tl_cmp_column *columns, size_t n_columns,
		     size_t variant, part which, const char *sort, bool borrows, tl_error *err)
{
	uint32_t *rows = tl__calloc(joined->rows + 1, sizeof *rows);
	sheet->columns = tl__calloc(n_columns + 1, sizeof *sheet->columns);
	int code = rows && sheet->columns ? 0 : tl__nomem(err);
	size_t n = 0, kept = 0;
	for (size_t row = 0; row < joined->rows && code == 0; row++)
		if (in_part(joined, n_columns, variant, row, which))
			rows[n++] = (uint32_t)row;
	if (code == 0)
		code = tl__table_take(&sheet->full, joined, rows, n, err);
	if (code == 0)
		drop_places(sheet->full, joined->columns.n - n_columns);
	for (size_t c = 0; c < n_columns && code == 0; c++) {
		if (keeps_column(&columns[c], variant, which))
			sheet->columns[kept++] = columns[c];
		else
			tl__table_remove_column(sheet->full, kept);
	}
	if (code == 0 && tl__table_column(sheet->full, sort))
		code = tl__table_sort(sheet->full, &(tl_sort_key){sort, true}, 1, err);
	if (code == 0 && !borrows)
		code = tl__table_own_values(sheet->full, err);
	for (uint32_t row = 0; row < n; row++)
		rows[row] = row;
	if (code == 0)
		code = tl__table_take(&sheet->table, sheet->full, rows, n, err);
	for (size_t c = code == 0 ? sheet->table->columns.n : 0; c-- > 0;)
		if (is_empty_column(sheet->table, &sheet->table->columns.v[c]))
			tl__table_remove_column(sheet->table, c);
	tl__free(rows);
	return code;
}

static int push_part(work *w, const tl_table *joined, const tl_cmp_column *columns, size_t n_columns,
		     const tl_cmp_plan *plan, size_t variant, part which)
{
	static const char *const middle[] = {"intersect", "only_baseline", "only_variant"};
	const char *base = w->reports[0].tag, *tag = w->reports[variant].tag;
	tl_buf name = {0}, sort = {0};
	tl_cmp_sheet sheet = {0};
	tl__buf_printf(&name, "%s_%s_%s", plan->name, middle[which], tag);
	tl__buf_printf(&sort, "%s::%s", which == ONLY_VARIANT ? tag : base, plan->sort);
	int code = tl__buf_text(&name) && tl__buf_text(&sort) ? 0 : tl__nomem(w->err);
	if (code == 0)
		code = take_part(&sheet, joined, columns, n_columns, variant, which, sort.v, w->out->borrows, w->err);
	if (code == 0)
		code = rename_table(sheet.full, name.v, w->err);
	if (code == 0)
		code = rename_table(sheet.table, name.v, w->err);
	if (code < 0)
		sheet_free(&sheet);
	else if (which == IN_BOTH)
		code = push_sheet(w, sheet, "%s: rows that %.100s and %.100s both have", name.v, base, tag);
	else
		code = push_sheet(w, sheet, "%s: rows that only %.100s has, not %.100s", name.v,
				  which == ONLY_BASELINE ? base : tag, which == ONLY_BASELINE ? tag : base);
	tl__buf_free(&name);
	tl__buf_free(&sort);
	return code;
}

static int compare_split(work *w, const char *sheet, const tl_cmp_plan *plan)
{
	TL_TRY(check_keys(w, sheet, plan));
	tl_cmp_plan by_key = *plan;
	by_key.sort = NULL; /* each part has an order of its own; rows that tie there stay in that of the keys */
	tl_table *joined;
	tl_cmp_column *columns;
	size_t n;
	TL_TRY(tl__cmp_join(&joined, &columns, &n, &by_key, w->reports, w->tables, w->n, w->err));
	int code = 0;
	for (size_t variant = 1; variant < w->n && code == 0; variant++)
		for (part which = IN_BOTH; which <= ONLY_VARIANT && code == 0; which++)
			code = push_part(w, joined, columns, n, plan, variant, which);
	tl_table_free(joined);
	tl__free(columns);
	return code;
}

/* ---- ops_all ---- */

static const char *const op_sheets[] = {"ops_all", "ops_unique_args", "unified_perf_summary"};
enum { N_OP_SHEETS = 3 };

static int compare_ops_all(work *w)
{
	static const char *const keys[] = {"name", "Input type", "Input Dims", "Input Strides", "Concrete Inputs"},
				 *const direct[] = {"total_direct_kernel_time_sum", "total_direct_kernel_time_mean",
						    "operation_count"},
				 *const unified[] = {"Kernel Time (" MICRO ")_sum", "Kernel Time (" MICRO ")_mean",
						     "operation_count"},
				 *const noise[] = {"kernel_names", "ex_UID", "kernel_details_summary", NULL};
	size_t done = 0, noted = 0, lacking, first_lacking = 0;
	for (size_t i = 0; i < N_OP_SHEETS; i++) {
		size_t found = find_tables(w, op_sheets[i], &lacking);
		if (found < w->n) {
			first_lacking = lacking;
			noted += found > 0;
			if (found)
				TL_TRY(tl__cmp_note(w->out, w->err, "%s is left out: %.200s has none", op_sheets[i],
						    w->reports[lacking].path));
			continue;
		}
		bool is_unified = i == N_OP_SHEETS - 1;
		const tl_cmp_plan plan = {
			.name = op_sheets[i],
			.keys = keys,
			.n_keys = 5,
			.metrics = is_unified ? unified : direct,
			.n_metrics = 3,
			.sort = is_unified ? unified[0] : direct[0],
			.noise = noise,
		};
		TL_TRY(compare_split(w, op_sheets[i], &plan));
		done++;
	}
	return done || (noted && w->all_there) ? 0 : missing(w, "ops_unique_args", first_lacking);
}

/* ---- roofline ---- */

static bool is_family(const tl_table *table)
{
	const char *name = tl_table_name(table);
	if (!tl__table_column(table, "name") || !tl__table_column(table, "Kernel Time (" MICRO ")_sum"))
		return false;
	for (size_t i = 0; i < N_OP_SHEETS; i++)
		if (!strcmp(name, op_sheets[i]))
			return false;
	/* the rows of another sheet once more, by what ran at the same time */
	return !tl__ends_with(name, "_kl_overlap");
}

typedef TL_VEC(const char *) name_list;

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* `name` and the parameters that all reports with this sheet have. */
static int family_keys(const work *w, name_list *keys)
{
	if (TL_VEC_PUSH(keys, "name") < 0)
		return tl__nomem(w->err);
	size_t first = 0;
	while (!w->tables[first])
		first++;
	for (size_t c = 0; c < w->tables[first]->columns.n; c++) {
		const char *name = w->tables[first]->columns.v[c].name;
		bool common = !strncmp(name, "param:", 6);
		for (size_t r = first + 1; r < w->n; r++)
			common = common && (!w->tables[r] || tl__table_column(w->tables[r], name));
		if (common && TL_VEC_PUSH(keys, name) < 0)
			return tl__nomem(w->err);
	}
	qsort((void *)(keys->v + 1), keys->n - 1, sizeof *keys->v, compare_names);
	return 0;
}

static int compare_family(work *w, const char *sheet)
{
	static const char *const metrics[] = {"Kernel Time (" MICRO ")_sum", "Kernel Time (" MICRO ")_mean",
					      "name_count", "TFLOPS/s_mean", "TB/s_mean"};
	/* what the key says already */
	static const char *const drop[] = {
		"GFLOPS_first",     "Data Moved (MB)_first", "FLOPS/Byte_first",      "Input type_first",
		"Input Dims_first", "Input Strides_first",   "Concrete Inputs_first", NULL};
	static const char *const noise[] = {"kernel_names_first",
					    "UID",
					    "UID_first",
					    "kernel_details__summarize_kernel_stats",
					    "Input type_first",
					    "Input Dims_first",
					    "Input Strides_first",
					    "Concrete Inputs_first",
					    NULL};
	name_list keys = {0};
	size_t lacking;
	find_tables(w, sheet, &lacking);
	for (size_t r = 0; r < w->n; r++)
		if (w->tables[r] && !is_family(w->tables[r]))
			w->tables[r] = NULL;
	int code = family_keys(w, &keys);
	const tl_cmp_plan plan = {
		.name = !strcmp(sheet, "UnaryElementwise")    ? "un_eltwise"
			: !strcmp(sheet, "BinaryElementwise") ? "bin_eltwise"
							      : sheet,
		.keys = keys.v,
		.n_keys = keys.n,
		.metrics = metrics,
		.n_metrics = 5,
		.drop_variant = drop,
		.sort = metrics[0],
		.noise = noise,
	};
	if (code == 0)
		code = compare_split(w, sheet, &plan);
	TL_VEC_FREE(&keys);
	return code;
}

/* The well-known families in their order, then others as the reports have them. */
static int list_families(const work *w, name_list *out)
{
	static const char *const known[] = {"GEMM",     "SDPA_fwd",         "SDPA_bwd",         "CONV_fwd",
					    "CONV_bwd", "UnaryElementwise", "BinaryElementwise"};
	enum { N_KNOWN = sizeof known / sizeof *known };
	for (size_t i = 0; i < N_KNOWN; i++)
		for (size_t r = 0; r < w->n; r++) {
			const tl_table *table = tl__cmp_find(&w->reports[r], known[i]);
			if (!table || !is_family(table))
				continue;
			if (TL_VEC_PUSH(out, known[i]) < 0)
				return tl__nomem(w->err);
			break;
		}
	for (size_t r = 0; r < w->n; r++)
		for (size_t i = 0; i < w->reports[r].n_sheets; i++) {
			const tl_table *table = w->reports[r].sheets[i];
			bool listed = !is_family(table);
			for (size_t k = 0; k < out->n && !listed; k++)
				listed = !strcmp(out->v[k], tl_table_name(table));
			if (!listed && TL_VEC_PUSH(out, tl_table_name(table)) < 0)
				return tl__nomem(w->err);
		}
	return 0;
}

static int compare_roofline(work *w)
{
	name_list families = {0};
	int code = list_families(w, &families);
	for (size_t i = 0; i < families.n && code == 0; i++)
		code = compare_family(w, families.v[i]);
	if (code == 0 && !families.n)
		code = missing(w, "roofline", 0);
	TL_VEC_FREE(&families);
	return code;
}

/* ---- all of it ---- */

/* Reports without operations, such as those of rocprof, are compared by kernels. */
static int choose_summary(work *w, unsigned *groups)
{
	size_t lacking;
	if (!(*groups & TL_CMP_OPS_SUMMARY) || find_tables(w, "ops_summary", &lacking) == w->n)
		return 0;
	*groups &= ~(unsigned)TL_CMP_OPS_SUMMARY;
	if (!all_have(w, "kernel_summary"))
		return missing(w, "ops_summary", lacking);
	*groups |= TL_CMP_KERNEL_SUMMARY;
	return tl__cmp_note(w->out, w->err, "kernel_summary stands in for ops_summary: %.200s has none",
			    w->reports[lacking].path);
}

static bool has_sheet_of_report(const tl_cmp_report *report)
{
	if (tl__cmp_find(report, "gpu_timeline") || tl__cmp_find(report, "ops_summary") ||
	    tl__cmp_find(report, "kernel_summary"))
		return true;
	for (size_t i = 0; i < N_OP_SHEETS; i++)
		if (tl__cmp_find(report, op_sheets[i]))
			return true;
	for (size_t i = 0; i < report->n_sheets; i++)
		if (is_family(report->sheets[i]))
			return true;
	return false;
}

/* Compared with tables of something else, all of a report would be new or gone. */
static int check_reports(const work *w)
{
	for (size_t r = 0; r < w->n; r++)
		if (!has_sheet_of_report(&w->reports[r]))
			return tl__fail(w->err, TL_EFORMAT,
					"%.200s: this is no report: it has no gpu_timeline, no ops_summary, and no "
					"other sheet that could be compared",
					w->reports[r].path);
	return 0;
}

int tl__cmp_reports(tl_cmp_result *out, const tl_cmp_report *reports, size_t n, unsigned groups, bool all_there,
		    tl_error *err)
{
	static const struct {
		tl_cmp_group group;
		int (*compare)(work *w);
	} steps[] = {
		{TL_CMP_GPU_TIMELINE, compare_timeline},
		{TL_CMP_OPS_SUMMARY, compare_ops_summary},
		{TL_CMP_KERNEL_SUMMARY, compare_kernel_summary},
		{TL_CMP_OPS_ALL, compare_ops_all},
		{TL_CMP_ROOFLINE, compare_roofline},
	};
	work w = {.out = out, .reports = reports, .n = n, .all_there = all_there, .err = err};
	w.tables = tl__calloc(n, sizeof *w.tables);
	int code = w.tables ? choose_summary(&w, &groups) : tl__nomem(err);
	for (size_t i = 0; i < sizeof steps / sizeof *steps && code == 0; i++)
		if (groups & steps[i].group)
			code = steps[i].compare(&w);
	if (code == 0 && !out->sheets.n)
		code = tl__fail(err, TL_EEMPTY, "the reports have no sheet that could be compared");
	if (code == 0)
		code = check_reports(&w);
	tl__free((void *)w.tables);
	return code;
}
