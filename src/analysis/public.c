/* SPDX-License-Identifier: MIT */
/*
 * The analyses as the SDK offers them: checks what callers pass, shows the columns that they ask for, and hands out
 * tables that stand alone.
 */
#include <string.h>

#include "analysis/aggregate.h"
#include "analysis/analyzer.h"
#include "analysis/launcher_columns.h"
#include "analysis/overlap.h"
#include "analysis/statistics.h"

static const tl_stat_options no_options;

/* ---- tables on their way out ---- */

/* Ends the making of `*out`: a failure frees it, else its values become its own. */
static int hand_out(tl_table **out, int code, tl_error *err)
{
	if (code == 0 && *out)
		code = tl__table_own_values(*out, err);
	if (code < 0) {
		tl_table_free(*out);
		*out = NULL;
	}
	return code;
}

static void drop(tl_table *table, const char *name)
{
	ptrdiff_t column = tl_table_find_column(table, name);
	if (column >= 0)
		tl__table_remove_column(table, (size_t)column);
}

static const char *const argument_columns[] = {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"};

static void drop_arguments(tl_table *table)
{
	for (size_t i = 0; i < 4; i++)
		drop(table, argument_columns[i]);
}

static void drop_kernel_details(tl_table *table)
{
	drop(table, "kernel_details");
	drop(table, "num_kernels");
}

/* Whether a table is one of those that a summary is made of. */
static int check_columns(const tl_table *table, const char *const *names, size_t n, const char *what, tl_error *err)
{
	if (!table)
		return tl__fail(err, TL_EINVAL, "a table of %s is needed", what);
	for (size_t i = 0; i < n; i++)
		if (!tl__table_column(table, names[i]))
			return tl__fail(err, TL_EINVAL, "this is no table of %s: it has no column '%s'", what,
					names[i]);
	return 0;
}

/* The rows of one operation, or of all; *out is the table itself or one to be freed. */
static int select_rows(tl_table **out, const tl_table *table, const char *name, tl_error *err)
{
	tl_column *names = tl__table_column(table, "name");
	uint32_t *rows = tl__malloc((table->rows + 1) * sizeof *rows);
	size_t n = 0;
	*out = NULL;
	if (!rows)
		return tl__nomem(err);
	tl_str id = tl__strings_find(table->strings, name, strlen(name));
	for (size_t i = 0; i < table->rows; i++)
		if (id != TL_STR_NONE && names->str[i] == id)
			rows[n++] = (uint32_t)i;
	int code = tl__table_take(out, table, rows, n, err);
	tl__free(rows);
	return code;
}

/* ---- the analyser ---- */

int tl_analyzer_new(tl_analyzer **out, const tl_tree *tree, const tl_analyzer_options *options, tl_error *err)
{
	*out = NULL;
	if (!tree)
		return tl__fail(err, TL_EINVAL, "an analyser needs a tree");
	return tl__analyzer_new(out, tree, options, err);
}

void tl_analyzer_free(tl_analyzer *a)
{
	tl__analyzer_free(a);
}

const tl_tree *tl_analyzer_tree(const tl_analyzer *a)
{
	return a->tree;
}

bool tl_analyzer_is_gpu_only(const tl_analyzer *a)
{
	return tl__analyzer_gpu_only(a);
}

const char *tl_analyzer_family(const tl_analyzer *a, size_t index)
{
	size_t n;
	const char *const *families = tl__analyzer_sheets(a, &n);
	return index < n ? families[index] : NULL;
}

const char *tl_analyzer_operation(const tl_analyzer *a, size_t index)
{
	size_t n;
	const tl_perf_model *builtin = tl__perf_models(&n);
	if (index < n)
		return builtin[index].name;
	index -= n;
	for (size_t i = 0; i < a->models.models.n; i++) {
		const char *name = a->models.models.v[i].model.name;
		if (!tl__perf_model_exact(name, strlen(name)) && index-- == 0)
			return name;
	}
	return NULL;
}

const char *tl_analyzer_family_of(tl_analyzer *a, const char *name)
{
	tl_str id = name ? tl__interns(a->strings, name) : TL_STR_FAIL;
	const tl_perf_model *model = id == TL_STR_FAIL ? NULL : tl__analyzer_model(a, id);
	return model ? model->sheet : NULL;
}

const char *tl_analyzer_category_of(tl_analyzer *a, const char *name, const char *first_kernel)
{
	tl_str id = name ? tl__interns(a->strings, name) : TL_STR_NONE;
	tl_str kernel = first_kernel ? tl__interns(a->strings, first_kernel) : TL_STR_NONE;
	if (id == TL_STR_FAIL || kernel == TL_STR_FAIL)
		return NULL;
	return tl__analyzer_category(a, id, kernel);
}

/* ---- GPU timeline ---- */

int tl_analyzer_breakdown(tl_breakdown *out, tl_analyzer *a, const double *micro_idle_us, tl_error *err)
{
	*out = (tl_breakdown){0};
	TL_TRY(tl__check_micro_idle(micro_idle_us, err));
	return tl__analyzer_breakdown(out, a, TL_TIMELINE_ALL, micro_idle_us, err);
}

int tl_analyzer_gpu_timeline(tl_table **out, tl_analyzer *a, const double *micro_idle_us, tl_error *err)
{
	*out = NULL;
	TL_TRY(tl__check_micro_idle(micro_idle_us, err));
	return hand_out(out, tl__gpu_timeline(out, a, micro_idle_us, err), err);
}

/* ---- launchers ---- */

/* With launchers of communication, too, for one table: all else goes on with those that the analyser has. */
static int launchers_of_all(tl_table **out, tl_analyzer *a, tl_error *err)
{
	tl_launcher_list *list = a->launchers;
	struct tl_overlap_cache *overlap = a->overlap; /* which has those of each launcher */
	a->launchers = NULL;
	a->overlap = NULL;
	a->books_communication = true;
	int code = tl__launchers(out, a, err);
	a->books_communication = false;
	tl__launcher_list_free(a->launchers);
	tl__overlap_cache_free(a->overlap);
	a->launchers = list;
	a->overlap = overlap;
	return code;
}

/* The table with what the options add; the analyser's own options come back as they were. */
static int make_launchers(tl_table **out, tl_analyzer *a, const tl_launcher_options *o, tl_error *err)
{
	tl_analyzer_options before = a->options;
	a->options.overlap |= o->overlap;
	a->options.first_occurrence |= o->start;
	int code = o->communication ? launchers_of_all(out, a, err) : tl__launchers(out, a, err);
	a->options = before;
	return code;
}

int tl_analyzer_launchers(tl_table **out, tl_analyzer *a, const tl_launcher_options *options, tl_error *err)
{
	static const tl_launcher_options defaults;
	const tl_launcher_options *o = options ? options : &defaults;
	*out = NULL;
	if (o->call_stack && !(a->tree->with_python && o->kernel_details))
		return tl__fail(err, TL_EINVAL, "call stacks need kernel_details and a tree with Python frames");
	int code = make_launchers(out, a, o, err);
	if (code == 0 && o->id_columns)
		code = tl__launcher_ids(a, *out, err);
	if (code == 0 && o->call_stack)
		code = tl__launcher_call_stacks(a, *out, err);
	if (code == 0 && !o->kernel_details)
		drop_kernel_details(*out);
	if (code == 0 && o->no_arguments)
		drop_arguments(*out);
	return hand_out(out, code, err);
}

static const char *const launcher_keys[] = {"name", "op category", "UID", "total_direct_kernel_time",
					    "total_subtree_kernel_time"};

int tl_launchers_by_name(tl_table **out, const tl_table *launchers, tl_error *err)
{
	*out = NULL;
	TL_TRY(check_columns(launchers, launcher_keys, 5, "kernel launchers", err));
	return hand_out(out, tl__ops_summary(out, launchers, err), err);
}

int tl_launchers_by_category(tl_table **out, const tl_table *launchers, tl_error *err)
{
	*out = NULL;
	TL_TRY(check_columns(launchers, launcher_keys, 5, "kernel launchers", err));
	return hand_out(out, tl__ops_summary_by_category(out, launchers, err), err);
}

static tl_summary_options grouping(const tl_stat_options *o)
{
	return (tl_summary_options){
		.overlap = o->overlap,
		.group_by_num_kernels = o->group_by_num_kernels,
		.first_occurrence = o->first_occurrence,
		.call_stack = o->call_stack,
		.top = o->top,
	};
}

/* Sums a table up by an internal summary, of the rows of one name where that is asked for. */
static int summarize(tl_table **out, const tl_table *table, const tl_stat_options *o,
		     int (*summary)(tl_table **, const tl_table *, const tl_summary_options *, tl_error *),
		     tl_error *err)
{
	tl_summary_options how = grouping(o);
	tl_table *selected = NULL;
	if (o->name)
		TL_TRY(select_rows(&selected, table, o->name, err));
	int code = summary(out, selected ? selected : table, &how, err);
	/* cells may point into the selection */
	if (code == 0)
		code = tl__table_own_values(*out, err);
	tl_table_free(selected);
	return code;
}

int tl_launchers_by_args(tl_table **out, const tl_table *launchers, const tl_stat_options *options, tl_error *err)
{
	static const tl_statistic defaults[] = {TL_STAT_MEAN};
	const tl_stat_options *o = options ? options : &no_options;
	*out = NULL;
	TL_TRY(check_columns(launchers, launcher_keys, 5, "kernel launchers", err));
	int code = summarize(out, launchers, o, tl__ops_unique_args, err);
	if (code == 0)
		code = tl__choose_statistics(*out, o, defaults, 1, false, err);
	return hand_out(out, code, err);
}

/* ---- metrics ---- */

static const tl_model_failures no_failures = {0, TL_ROW_NONE, ""};

static int check_events(const tl_analyzer *a, const tl_row *events, size_t n, tl_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (events[i] >= a->store->n)
			return tl__fail(err, TL_EINVAL, "there is no event with UID %u", (unsigned)events[i]);
	return 0;
}

static int finish_metrics(tl_table **out, int code, const tl_metrics_options *o, tl_error *err)
{
	if (code == 0 && !o->kernel_details)
		drop_kernel_details(*out);
	if (code == 0 && !o->arguments)
		drop_arguments(*out);
	return hand_out(out, code, err);
}

tl_model_failures tl_analyzer_failures(const tl_analyzer *a)
{
	return a->last_failures.count ? a->last_failures : no_failures;
}

static const tl_metrics_options no_metrics_options;

int tl_analyzer_metrics(tl_table **out, tl_analyzer *a, const tl_row *events, size_t n,
			const tl_metrics_options *options, tl_error *err)
{
	const tl_metrics_options *o = options ? options : &no_metrics_options;
	bool overlap = a->options.overlap;
	*out = NULL;
	if (n && !events)
		return tl__fail(err, TL_EINVAL, "a list of events is needed");
	TL_TRY(check_events(a, events, n, err));
	a->options.overlap |= o->overlap;
	a->sheet_failures = no_failures;
	int code = tl__perf_metrics_of_events(out, a, events, n, o->backward, o->typed_parameters, err);
	a->options.overlap = overlap;
	a->last_failures = a->sheet_failures;
	return finish_metrics(out, code, o, err);
}

int tl_analyzer_family_metrics(tl_table **out, tl_analyzer *a, const char *family, const tl_metrics_options *options,
			       tl_error *err)
{
	const tl_metrics_options *o = options ? options : &no_metrics_options;
	bool overlap = a->options.overlap;
	*out = NULL;
	if (!family)
		return tl__fail(err, TL_EINVAL, "the name of a family is needed");
	a->options.overlap |= o->overlap;
	a->sheet_failures = no_failures;
	int code = tl__perf_metrics(out, a, family, o->backward, err);
	a->options.overlap = overlap;
	a->last_failures = a->sheet_failures;
	if (code == TL_ENOTFOUND)
		return tl__fail(err, code, "there is no family of operations '%s'", family);
	return finish_metrics(out, code, o, err);
}

int tl_metrics_summary(tl_table **out, const tl_table *metrics, const tl_stat_options *options, tl_error *err)
{
	static const tl_statistic defaults[] = {TL_STAT_MEAN, TL_STAT_STD};
	static const char *const keys[] = {"name", "UID", "Kernel Time (µs)"};
	const tl_stat_options *o = options ? options : &no_options;
	*out = NULL;
	TL_TRY(check_columns(metrics, keys, 3, "metrics", err));
	int code = summarize(out, metrics, o, tl__perf_metrics_summary, err);
	if (code == 0)
		code = tl__choose_statistics(*out, o, defaults, 2, true, err);
	return hand_out(out, code, err);
}

/* ---- unified table ---- */

int tl_analyzer_unified(tl_table **out, tl_analyzer *a, const tl_unified_options *options, tl_error *err)
{
	*out = NULL;
	if (options && options->n_events && !options->events)
		return tl__fail(err, TL_EINVAL, "a list of events is needed");
	if (options && options->events)
		TL_TRY(check_events(a, options->events, options->n_events, err));
	bool overlap = a->options.overlap;
	a->options.overlap |= options && options->overlap;
	a->unified_failures = no_failures;
	int code = tl__unified_table_of(out, a, options, err);
	a->options.overlap = overlap;
	a->last_failures = a->unified_failures;
	return hand_out(out, code, err);
}

int tl_unified_summary(tl_table **out, const tl_table *unified, const tl_stat_options *options, tl_error *err)
{
	static const char *const keys[] = {"name", "op category", "Kernel Time (µs)"};
	static const tl_stat_options all = {.percent = true, .truncated = true};
	static const tl_statistic defaults[] = {TL_STAT_MEAN, TL_STAT_MEDIAN, TL_STAT_STD, TL_STAT_MIN, TL_STAT_MAX};
	const tl_stat_options *o = options ? options : &all;
	*out = NULL;
	TL_TRY(check_columns(unified, keys, 3, "the unified kind", err));
	int code = summarize(out, unified, o, tl__unified_perf_summary, err);
	if (code == 0)
		code = tl__choose_statistics(*out, o, defaults, 5, true, err);
	return hand_out(out, code, err);
}

/* ---- kernels and collectives ---- */

int tl_analyzer_kernels(tl_table **out, tl_analyzer *a, const tl_kernel_options *options, tl_error *err)
{
	static const tl_kernel_options defaults;
	static const char *const launcher[] = {"Launcher UID", "Launcher", "Grid", "Block"};
	static const char *const operation[] = {
		"Parent cpu_op UID",
		"Parent cpu_op",
		"Input dims",
		"Input types",
		"Input strides",
		"Concrete Inputs",
		"kernel_file",
		"Parent cpu_op busy time (µs)",
		"Parent cpu_op kernel count",
		"Percent of Parent cpu_op busy time (%)",
		"Parent op category",
	};
	const tl_kernel_options *o = options ? options : &defaults;
	*out = NULL;
	if (o->nn_module && !a->tree->with_python)
		return tl__fail(err, TL_EINVAL, "nn.Modules are Python frames: build the tree with them");
	int code = tl__kernels(out, a, err);
	if (code == 0 && o->nn_module)
		code = tl__kernel_modules(a, *out, err);
	for (size_t i = 0; code == 0 && !o->launcher && i < sizeof launcher / sizeof *launcher; i++)
		drop(*out, launcher[i]);
	for (size_t i = 0; code == 0 && o->no_cpu_op && i < sizeof operation / sizeof *operation; i++)
		drop(*out, operation[i]);
	return hand_out(out, code, err);
}

int tl_analyzer_kernel_summary(tl_table **out, tl_analyzer *a, tl_error *err)
{
	*out = NULL;
	return hand_out(out, tl__kernel_summary(out, a, err), err);
}

static int short_kernel_options(tl_short_kernel_options *out, const tl_short_kernel_options *given, tl_error *err)
{
	*out = given ? *given : (tl_short_kernel_options){0};
	out->bins = out->bins ? out->bins : 100;
	TL_TRY(tl__check_short_kernels(out->threshold_us, out->bins, err));
	out->threshold_us = out->threshold_us > 0 ? out->threshold_us : 10;
	out->top = out->top > 0 ? out->top : -1;
	return 0;
}

int tl_analyzer_short_kernel_histogram(tl_table **out, tl_analyzer *a, const tl_short_kernel_options *options,
				       tl_error *err)
{
	tl_short_kernel_options o;
	tl_table *kernels;
	*out = NULL;
	TL_TRY(short_kernel_options(&o, options, err));
	TL_TRY(tl__short_kernels(&kernels, a, o.threshold_us, err));
	int code = hand_out(out, tl__short_kernel_histogram(out, kernels, o.bins, err), err);
	tl_table_free(kernels);
	return code;
}

int tl_analyzer_short_kernels(tl_table **out, tl_analyzer *a, const tl_short_kernel_options *options, tl_error *err)
{
	tl_short_kernel_options o;
	tl_table *kernels;
	*out = NULL;
	TL_TRY(short_kernel_options(&o, options, err));
	TL_TRY(tl__short_kernels(&kernels, a, o.threshold_us, err));
	int code = hand_out(out, tl__short_kernels_summary(out, a, kernels, o.top, err), err);
	tl_table_free(kernels);
	return code;
}

int tl_analyzer_collectives(tl_table **out, tl_analyzer *a, tl_error *err)
{
	*out = NULL;
	return hand_out(out, tl__coll_analysis(out, a, err), err);
}

int tl_analyzer_overlapping(const tl_row **out, size_t *n, tl_analyzer *a, tl_row event, tl_error *err)
{
	*out = NULL;
	*n = 0;
	TL_TRY(check_events(a, &event, 1, err));
	return tl__analyzer_overlapping(a, event, out, n) < 0 ? tl__nomem(err) : 0;
}
