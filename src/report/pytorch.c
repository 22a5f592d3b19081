/* SPDX-License-Identifier: MIT */
/* Which tables make the PyTorch report, and in what order (spec 02 sections 6 and 7). */
#include <string.h>
#include <strings.h>

#include "analysis/analyzer.h"
#include "report/compared.h"
#include "report/model_findings.h"
#include "report/report.h"
#include "trace/store.h"
#include "tracelens/tree.h"

tl_report_options tl_report_options_default(void)
{
	return (tl_report_options){
		.short_kernel_threshold_us = 10,
		.short_kernel_bins = 100,
		.topk_short_kernels = -1,
		.topk_ops = -1,
		.topk_roofline_ops = -1,
	};
}

/* what the steps below pass on to each other */
typedef struct report_build {
	tl_report *report;
	const tl_report_options *options;
	tl_tree *tree;
	tl_analyzer *analyzer;
	tl_summary_options summary; /* what all sheets of sums share; `top` and `overlap` are set sheet by sheet */
	tl_trace *other;            /* to compare with; gone when `compared` is made */
	tl_compared compared;       /* see report->compared */
	tl_error *err;
} report_build;

/* Families of extensions bring names of their own. As files and in workbooks, case makes no difference. */
static int check_name(const report_build *b, const char *name)
{
	for (size_t i = 0; i < b->report->sheets.n; i++)
		if (!strcasecmp(tl_table_name(b->report->sheets.v[i]), name))
			return tl__fail(
				b->err, TL_EINVAL,
				"%stwo sheets are named '%.100s'; the family of a registered model needs another name",
				tl__models_sheet_origin(&b->analyzer->models, name), name);
	return 0;
}

/* Takes a table over as a sheet. Sheets without rows are left out unless `always`. */
static int add_sheet(report_build *b, tl_table *sheet, bool always)
{
	if (!always && tl_table_rows(sheet) == 0) {
		tl_table_free(sheet);
		return 0;
	}
	/* cells still point into the analyser, which goes before the report does */
	int code = tl__table_own_values(sheet, b->err);
	if (code == 0)
		code = check_name(b, tl_table_name(sheet));
	if (code < 0) {
		tl_table_free(sheet);
		return code;
	}
	return tl__report_add(b->report, sheet, b->err);
}

static int add_timeline(report_build *b)
{
	const double *threshold = b->options->has_micro_idle_threshold ? &b->options->micro_idle_threshold_us : NULL;
	tl_table *sheet;
	TL_TRY(tl__gpu_timeline(&sheet, b->analyzer, threshold, b->err));
	return add_sheet(b, sheet, true);
}

static int add_unique_args(report_build *b, const tl_table *launchers, bool overlap)
{
	tl_summary_options o = b->summary;
	tl_table *sheet;
	o.overlap = overlap;
	o.top = b->options->topk_ops;
	TL_TRY(tl__ops_unique_args(&sheet, launchers, &o, b->err));
	return add_sheet(b, sheet, false);
}

static int add_launcher_sheets(report_build *b)
{
	static int (*const summaries[])(tl_table **, const tl_table *, tl_error *) = {
		tl__ops_summary_by_category,
		tl__ops_summary,
	};
	tl_table *launchers;
	TL_TRY(tl__launchers(&launchers, b->analyzer, b->err));
	/* all GPU work may be communication: then nothing launches and there is nothing to sum up */
	bool any = tl_table_rows(launchers) > 0;
	int code = 0;
	for (size_t i = 0; code == 0 && any && i < sizeof summaries / sizeof *summaries; i++) {
		tl_table *sheet;
		code = summaries[i](&sheet, launchers, b->err);
		if (code == 0)
			code = add_sheet(b, sheet, false);
	}
	if (code == 0 && any)
		code = add_unique_args(b, launchers, false);
	if (code == 0 && any && b->options->include_overlap_info)
		code = add_unique_args(b, launchers, true);
	tl_table_free(launchers);
	return code;
}

static int add_unified_summary(report_build *b, const tl_table *unified, bool overlap)
{
	tl_summary_options o = b->summary;
	tl_table *sheet;
	o.overlap = overlap;
	o.call_stack = o.call_stack && !overlap; /* as in the reference: one sheet tells of calls */
	TL_TRY(tl__unified_perf_summary(&sheet, unified, &o, b->err));
	return add_sheet(b, sheet, false);
}

/* The same with the columns of the comparison, and rows of what only the other trace has. */
static int add_compared_summary(report_build *b, const tl_table *unified)
{
	uint32_t *row_of;
	tl_table *sheet;
	TL_TRY(tl__unified_perf_summary_rows(&sheet, &row_of, unified, &b->summary, b->err));
	int code = tl__inline_diff_columns(&sheet, &b->report->largest, &b->compared.diff, b->analyzer, unified, row_of,
					   b->options->include_unlinked_kernels, b->err);
	tl__free(row_of);
	if (code < 0) {
		tl_table_free(sheet);
		return code;
	}
	return add_sheet(b, sheet, false);
}

static int add_diff_stats(report_build *b)
{
	tl_table *sheet = b->compared.stats;
	b->compared.stats = NULL;
	return sheet ? add_sheet(b, sheet, true) : 0;
}

static int add_unified_sheets(report_build *b)
{
	tl_table *unified;
	TL_TRY(tl__unified_table(&unified, b->analyzer, b->err));
	bool any = tl_table_rows(unified) > 0;
	int code = b->report->compared ? add_compared_summary(b, unified)
		   : any               ? add_unified_summary(b, unified, false)
				       : 0;
	if (code == 0)
		code = add_diff_stats(b);
	if (code == 0 && any && b->options->include_overlap_info)
		code = add_unified_summary(b, unified, true);
	tl_table_free(unified);
	return code;
}

static int add_category_sheets(report_build *b)
{
	size_t n_families;
	const char *const *families = tl__analyzer_sheets(b->analyzer, &n_families);
	tl_summary_options o = b->summary;
	o.overlap = b->options->include_overlap_info;
	o.top = b->options->topk_roofline_ops;
	for (size_t i = 0; i < n_families; i++) {
		tl_table *sheets[4] = {NULL, NULL, NULL, NULL};
		size_t n = 0;
		TL_TRY(tl__category_sheets(sheets, &n, b->analyzer, families[i], &o, b->err));
		int code = 0;
		for (size_t k = 0; k < n; k++) {
			if (code == 0)
				code = add_sheet(b, sheets[k], false);
			else
				tl_table_free(sheets[k]);
		}
		TL_TRY(code);
	}
	return 0;
}

static int add_short_kernel_sheets(report_build *b, const tl_table *kernels)
{
	const tl_report_options *o = b->options;
	tl_table *sheet;
	TL_TRY(tl__short_kernel_histogram(&sheet, kernels, o->short_kernel_bins, b->err));
	TL_TRY(add_sheet(b, sheet, true));
	TL_TRY(tl__short_kernels_summary(&sheet, b->analyzer, kernels, o->topk_short_kernels, b->err));
	return add_sheet(b, sheet, true);
}

static int add_kernel_sheets(report_build *b)
{
	tl_table *kernels, *sheet;
	if (b->options->enable_kernel_summary) {
		TL_TRY(tl__kernel_summary(&sheet, b->analyzer, b->err));
		TL_TRY(add_sheet(b, sheet, false));
	}
	if (!b->options->short_kernel_study)
		return 0;
	TL_TRY(tl__short_kernels(&kernels, b->analyzer, b->options->short_kernel_threshold_us, b->err));
	int code = add_short_kernel_sheets(b, kernels);
	tl_table_free(kernels);
	return code;
}

static int add_collectives(report_build *b)
{
	tl_table *sheet;
	TL_TRY(tl__coll_analysis(&sheet, b->analyzer, b->err));
	return add_sheet(b, sheet, false);
}

/* What became of GPU events of this kind of finding, or NULL for other kinds. */
static const char *unlinked_text(const char *kind, bool included, bool of_comparison)
{
	if (of_comparison && !strcmp(kind, tl__health_name(TL_HEALTH_NO_LAUNCH)))
		return included ? "GPU events whose launch is not in the trace; compared in a row of their own, as "
				  "--include_unlinked_kernels asks."
				: "GPU events whose launch is not in the trace; compared in diff_stats only, "
				  "--include_unlinked_kernels gives them a row in unified_perf_summary, too.";
	if (of_comparison)
		return NULL;
	if (!strcmp(kind, tl__health_name(TL_HEALTH_NO_LAUNCH)))
		return included ? "GPU events whose launch is not in the trace; counted in the timeline, as "
				  "--include_unlinked_kernels asks."
				: "GPU events whose launch is not in the trace; left out of the timeline, "
				  "--include_unlinked_kernels counts them.";
	if (!strcmp(kind, tl__health_name(TL_HEALTH_AMBIGUOUS_RANKS)) && included)
		return "GPU events that belong to no operation because several processes use the same correlation ids "
		       "(several ranks merged into one file?); counted in the timeline, as --include_unlinked_kernels "
		       "asks. Report each rank's file by itself.";
	return NULL;
}

/* What became of GPU events without a launch depends on an option, which the health table does not know. */
static int explain_unlinked(report_build *b, tl_table *health, bool of_comparison)
{
	const tl_column *kind = tl__table_column(health, "kind");
	tl_column *meaning = tl__table_column(health, "meaning");
	for (size_t r = 0; kind && meaning && r < health->rows; r++) {
		const char *says = unlinked_text(tl__str(health->strings, kind->str[r]),
						 b->options->include_unlinked_kernels, of_comparison);
		if (!says)
			continue;
		tl_str text = tl__table_str(health, says);
		if (text == TL_STR_FAIL)
			return tl__nomem(b->err);
		meaning->str[r] = text;
	}
	return 0;
}

static int set_text(tl_table *table, const char *column, const char *text)
{
	tl_column *c = tl__table_column(table, column);
	if (!c)
		return 0;
	c->str[0] = tl__table_str(table, text);
	return c->str[0] == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* Adds a note about the report itself below the findings. */
static int add_note(tl_table **health, const char *kind, const char *meaning, tl_error *err)
{
	static const char *const texts[] = {"kind", "meaning", "example"};
	tl_table *note = tl__table_new("", NULL, 1), *both = NULL;
	bool made = note != NULL;
	for (size_t i = 0; made && i < 3; i++)
		made = tl__table_add(note, texts[i], "", TL_COL_STRING) != NULL;
	tl_column *count = made ? tl__table_add(note, "count", "", TL_COL_INT64) : NULL;
	if (count)
		count->i64[0] = 1;
	bool filled = count && tl__table_add(note, "repair", "", TL_COL_BOOL) && set_text(note, "kind", kind) == 0 &&
		      set_text(note, "meaning", meaning) == 0;
	int code = filled ? tl__table_concat(&both, *health, note, err) : tl__nomem(err);
	tl_table_free(note);
	if (code < 0)
		return code;
	tl_table_free(*health);
	*health = both;
	return 0;
}

static int note_simulator(report_build *b, tl_table **health)
{
	if (!b->options->enable_origami && !b->options->python_path)
		return 0;
	return add_note(
		health, "no_simulator",
		"A simulator of matrix multiplications was asked for (--enable-origami, --python_path). It is no "
		"part of this program: there are no Origami columns, all else is complete.",
		b->err);
}

static int add_health(report_build *b)
{
	tl_table *sheet;
	TL_TRY(tl_tree_health(&sheet, b->tree, b->err));
	int code = explain_unlinked(b, sheet, false);
	if (code == 0)
		code = note_simulator(b, &sheet);
	if (code == 0)
		code = tl__report_model_findings(&sheet, b->analyzer, b->err);
	if (code == 0)
		code = tl__report_roofline_findings(&sheet, b->report, b->err);
	if (code < 0) {
		tl_table_free(sheet);
		return code;
	}
	TL_TRY(add_sheet(b, sheet, true));
	if (!b->report->compared)
		return 0;
	TL_TRY(explain_unlinked(b, b->compared.health, true));
	sheet = b->compared.health;
	b->compared.health = NULL;
	return add_sheet(b, sheet, true);
}

static int add_sheets(report_build *b)
{
	TL_TRY(add_timeline(b));
	bool host = !tl__analyzer_gpu_only(b->analyzer);
	if (host) {
		TL_TRY(add_launcher_sheets(b));
		TL_TRY(add_unified_sheets(b));
		TL_TRY(add_category_sheets(b));
	} else {
		TL_TRY(add_diff_stats(b));
	}
	TL_TRY(add_kernel_sheets(b));
	if (host && !b->options->disable_coll_analysis)
		TL_TRY(add_collectives(b));
	if (b->options->arch)
		TL_TRY(tl__report_add_roofline(b->report, b->options->arch, b->err));
	return add_health(b);
}

/* Whether there is nothing on the GPU, and what of it the timeline leaves out. */
static void look_at_gpu_events(report_build *b)
{
	const tl_store *store = b->tree->store;
	b->report->empty = true;
	for (size_t row = 0; row < store->n && b->report->empty; row++)
		if (tl__kind_is_gpu(store->kind[row]) && tl__end(store, (tl_row)row) != TL_TIME_NONE)
			b->report->empty = false;
	if (b->options->include_unlinked_kernels)
		return;
	b->report->excluded = tl_tree_unlinked(b->tree, &b->report->excluded_time);
	b->report->ambiguous = tl_tree_ambiguous(b->tree, &b->report->ambiguous_time);
	/* nothing can be said about any of them */
	if (b->report->ambiguous && b->report->ambiguous == b->report->excluded && !b->tree->n_gpu)
		b->report->empty = true;
}

static int check_options(const tl_report_options *o, tl_error *err)
{
	TL_TRY(tl__check_micro_idle(o->has_micro_idle_threshold ? &o->micro_idle_threshold_us : NULL, err));
	if (o->short_kernel_study)
		TL_TRY(tl__check_short_kernels(o->short_kernel_threshold_us, o->short_kernel_bins, err));
	if (o->topk_ops == 0 || o->topk_roofline_ops == 0)
		return tl__fail(err, TL_EINVAL, "a sheet cannot be cut to 0 rows");
	return 0;
}

static int make_analyzer(report_build *b)
{
	const tl_report_options *o = b->options;
	tl_analyzer_options ao = {
		.arch = o->arch,
		.include_unlinked = o->include_unlinked_kernels,
		.detect_recompute = o->detect_recompute,
		.overlap = o->include_overlap_info,
		.call_stack = o->include_call_stack,
		.first_occurrence = o->include_first_occurrence_time,
		.inductor_cache_dir = o->inductor_cache_dir,
	};
	b->summary = (tl_summary_options){
		.group_by_num_kernels = o->group_by_num_kernels,
		.first_occurrence = o->include_first_occurrence_time,
		.call_stack = o->include_call_stack,
		.call_stack_debug = o->call_stack_debug,
	};
	return tl__analyzer_new(&b->analyzer, b->tree, &ao, b->err);
}

/* A hook that fails ends the report; its error stays as it is, but for the code. */
static int failed_hook(report_build *b, int code)
{
	/* -1 alone is what many callbacks return for any failure */
	if (code == TL_ENOMEM && b->err->code == TL_ENOMEM)
		return tl__nomem(b->err);
	if (!b->err->message[0])
		return tl__fail(b->err, TL_ECALLBACK, "a hook of the report failed");
	b->err->code = TL_ECALLBACK;
	return TL_ECALLBACK;
}

static int call_tree_hooks(report_build *b, tl_tree *tree)
{
	*b->err = (tl_error)TL_ERROR_INIT; /* so that what a hook writes can be told from what was there */
	for (size_t i = 0; i < b->options->n_hooks; i++) {
		const tl_hook *hook = b->options->hooks[i];
		int code = hook->tree ? hook->tree(hook->user, tree, b->err) : 0;
		if (code != 0)
			return failed_hook(b, code);
	}
	return 0;
}

static int call_analyzer_hooks(report_build *b)
{
	*b->err = (tl_error)TL_ERROR_INIT;
	for (size_t i = 0; i < b->options->n_hooks; i++) {
		const tl_hook *hook = b->options->hooks[i];
		int code = hook->analyzer ? hook->analyzer(hook->user, b->analyzer, b->err) : 0;
		if (code != 0)
			return failed_hook(b, code);
	}
	return 0;
}

/* Python frames come into the tree where something needs them: they take time, and memory. Both trees have them then.
 */
static int needs_python(bool *out, const report_build *b, const tl_trace *trace)
{
	const tl_report_options *o = b->options;
	*out = o->detect_recompute || o->include_call_stack;
	if (o->enable_pseudo_ops && !*out)
		TL_TRY(tl_pseudo_ops_need_python(out, trace, b->err));
	if (o->enable_pseudo_ops && !*out && b->other)
		TL_TRY(tl_pseudo_ops_need_python(out, b->other, b->err));
	return 0;
}

static int build_tree(tl_tree **out, const report_build *b, const tl_trace *trace, bool with_python)
{
	const tl_report_options *o = b->options;
	tl_tree_options to = {.with_python = with_python, .clip_stream_overruns = o->clip_stream_overruns};
	TL_TRY(tl_tree_build(out, trace, &to, b->err));
	return o->enable_pseudo_ops ? tl_tree_apply_pseudo_ops(*out, &o->pseudo_ops, NULL, b->err) : 0;
}

static int make_tree(report_build *b, const tl_trace *trace)
{
	bool with_python;
	TL_TRY(needs_python(&with_python, b, trace));
	TL_TRY(build_tree(&b->tree, b, trace, with_python));
	if (b->options->detect_recompute)
		TL_TRY(tl_tree_mark_recompute(b->tree, NULL, NULL, b->err));
	return call_tree_hooks(b, b->tree);
}

/* ---- the other trace ---- */

static int compare_with_tree(report_build *b)
{
	TL_TRY(tl__compared_check(b->options, b->err));
	return tl__compared_new(&b->compared, b->tree, b->options->comparison_tree, b->err);
}

static int compare_with_file(report_build *b, bool hooks)
{
	tl_tree *tree = NULL;
	int code = build_tree(&tree, b, b->other, b->tree->with_python);
	if (code == 0 && hooks)
		code = call_tree_hooks(b, tree);
	if (code == 0)
		code = tl__compared_new(&b->compared, b->tree, tree, b->err);
	tl_tree_free(tree);
	tl_trace_free(b->other); /* the tables need the memory */
	b->other = NULL;
	return code;
}

static void keep_totals(report_build *b)
{
	tl_inline_totals totals =
		tl__inline_diff_totals(&b->compared.diff, b->tree->store, b->options->include_unlinked_kernels);
	tl_report_comparison *c = &b->report->comparison;
	c->identical = b->compared.identical;
	for (int s = 0; s < 2; s++) {
		c->gpu_events[s] = totals.events[s];
		c->gpu_time[s] = totals.time[s];
		c->left_out[s] = totals.left_out[s];
		c->left_out_time[s] = totals.time_left_out[s];
	}
}

static int compare(report_build *b, bool hooks)
{
	tl_report *r = b->report;
	if (!b->other && !b->options->comparison_tree)
		return 0;
	TL_TRY(b->other ? compare_with_file(b, hooks) : compare_with_tree(b));
	r->compared = true;
	keep_totals(b);
	r->compared_with = b->options->comparison_path ? tl__strdup(b->options->comparison_path) : NULL;
	return b->options->comparison_path && !r->compared_with ? tl__nomem(b->err) : 0;
}

/* All that follows the tree. */
static int make_sheets(report_build *b)
{
	look_at_gpu_events(b);
	int code = make_analyzer(b);
	if (code == 0)
		code = call_analyzer_hooks(b);
	if (code == 0)
		code = add_sheets(b);
	tl__analyzer_free(b->analyzer);
	return code;
}

/* Makes the report of b->tree, or of a tree of its own when there is a trace. */
static int make_report(tl_report **out, report_build *b, const tl_trace *trace, tl_error *err)
{
	tl_report_options defaults = tl_report_options_default();
	tl_error unwanted = TL_ERROR_INIT;
	*out = NULL;
	b->err = err ? err : &unwanted; /* hooks write into one */
	if (!b->options)
		b->options = &defaults;
	TL_TRY(check_options(b->options, b->err));
	b->report = tl__report_new();
	if (!b->report)
		return tl__nomem(b->err);
	/* the other trace first: where it is no good, nothing else needs to be done */
	bool file = b->options->comparison_path && !b->options->comparison_tree;
	int code = file ? tl__compared_open(&b->other, b->options, b->err) : 0;
	if (code == 0 && trace)
		code = make_tree(b, trace);
	if (code == 0)
		code = compare(b, trace != NULL);
	if (code == 0)
		code = make_sheets(b);
	tl__compared_free(&b->compared);
	tl_trace_free(b->other);
	if (code < 0) {
		tl_report_free(b->report);
		return code;
	}
	*out = b->report;
	return 0;
}

int tl_report_pytorch(tl_report **out, const tl_trace *trace, const tl_report_options *options, tl_error *err)
{
	report_build b = {.options = options};
	*out = NULL;
	if (!trace)
		return tl__fail(err, TL_EINVAL, "a report needs a trace");
	int code = make_report(out, &b, trace, err);
	tl_tree_free(b.tree);
	return code;
}

int tl_report_pytorch_tree(tl_report **out, tl_tree *tree, const tl_report_options *options, tl_error *err)
{
	report_build b = {.options = options, .tree = tree};
	*out = NULL;
	if (!tree)
		return tl__fail(err, TL_EINVAL, "a report needs a tree");
	return make_report(out, &b, NULL, err);
}
