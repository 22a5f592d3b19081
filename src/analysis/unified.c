/* SPDX-License-Identifier: MIT */
/** @file unified.c The unified table and its summary (spec 02 sections 5.3 and 5.4). */
#include <string.h>

#include "analysis/aggregate.h"
#include "analysis/call_stack.h"
#include "analysis/metrics.h"
#include "analysis/overlap.h"
#include "analysis/unified_collect.h"

typedef struct unified_row {
	tl_metrics metrics;
	tl_overlap overlap;
	tl_kernel_range kernels;
	tl_str name, category;
} unified_row;

typedef struct builder {
	tl_analyzer *a;
	const tl_unified_options *options;
	tl_table *table;
	tl_unified_events events;
	tl_row *sources; /* event of each row: for a synthetic one the event that it copies */
	unified_row *rows;
	tl_buf text;
} builder;

/* ---- rows ---- */

/* "aten::mse_loss->elementwise_kernel (Synthetic Op)"; without anything above it the kernel alone. */
static int synthetic_name(builder *b, const tl_unified_event *e, tl_str *out)
{
	tl__buf_clear(&b->text);
	if (e->event != e->gpu) {
		tl__buf_puts(&b->text, tl__name(b->a->store, e->event));
		tl__buf_puts(&b->text, "->");
	}
	tl__buf_puts(&b->text, tl__name(b->a->store, e->gpu));
	tl__buf_puts(&b->text, " (Synthetic Op)");
	*out = b->text.failed ? TL_STR_FAIL : tl__intern(b->a->strings, b->text.v, b->text.n);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int name_row(builder *b, const tl_unified_event *e, unified_row *row)
{
	tl_str kernel;

	row->name = b->a->store->name[e->event];
	if (e->gpu != TL_ROW_NONE)
		TL_TRY(synthetic_name(b, e, &row->name));
	if (e->forward != TL_ROW_NONE) {
		const tl_perf_model *model;
		TL_TRY(tl__perf_model_at(b->a, e->forward, &model, NULL));
		row->category = tl__interns(b->a->strings, model->bwd_category);
	} else {
		/* [02-3]: an event that launched nothing itself skips the kernel rule (kept as in the reference) */
		TL_TRY(tl__analyzer_direct_kernel(b->a, e->event, &kernel));
		TL_TRY(tl__perf_category_at(b->a, e->event, row->name, kernel, &row->category));
	}
	return row->category == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* Stacks are only there on request: without one they would show in the kernel lists [02-6]. */
static int add_stacks(builder *b, const tl_row *gpu, const tl_kernel_range *kernels)
{
	for (size_t i = 0; i < kernels->count; i++) {
		tl_kernel *kernel = &b->table->kernels.v[kernels->first + i];
		TL_TRY(tl__analyzer_call_stack(b->a, gpu[i], &kernel->call_stack));
	}
	return 0;
}

/* An operation that its model declines or cannot read keeps its row and its kernel time [02-14]. */
static int measure_row(builder *b, const tl_unified_event *e, unified_row *row)
{
	const tl_tree *t = b->a->tree;
	const tl_row *gpu = &e->gpu;
	size_t n = 1;

	if (e->gpu == TL_ROW_NONE) {
		tl_pos pos = t->pos_of_row[e->event];
		gpu = pos == TL_POS_NONE ? NULL : tl__tree_gpu_rows(t, pos);
		n = pos == TL_POS_NONE ? 0 : tl__tree_gpu_count(t, pos);
	}
	if (e->forward != TL_ROW_NONE) {
		TL_TRY(tl__metrics_of(b->a, e->forward, true, &row->metrics, NULL, NULL));
	} else if (e->modelled) {
		TL_TRY(tl__metrics_of(b->a, e->event, false, &row->metrics, NULL, NULL));
	} else {
		row->metrics = (tl_metrics){.status = TL_PERF_NOT_MODELLED};
		TL_TRY(tl__analyzer_busy(b->a, gpu, n, &row->metrics.time));
		if (!n) /* an event of the caller's choice without GPU work, which no model explains either */
			row->metrics.time = TL_TIME_NONE;
	}
	if (row->metrics.status == TL_PERF_OK)
		TL_TRY(tl__perf_entry_texts(b->a, row->metrics.entry));
	/* a synthetic row has the overlaps of all kernels of its operation ([02-19], kept as in the reference) */
	if (b->a->options.overlap)
		TL_TRY(tl__analyzer_overlap(b->a, e->event, gpu, n, &row->overlap));
	TL_TRY(tl__kernel_list_add(b->a, b->table, gpu, n, &row->kernels));
	return b->a->options.call_stack ? add_stacks(b, gpu, &row->kernels) : 0;
}

static int make_rows(builder *b)
{
	const tl_unified_options *o = b->options;
	TL_TRY(o->events ? tl__unified_choose(&b->events, b->a, o->events, o->n_events)
			 : tl__unified_collect(&b->events, b->a, o->communication));
	b->rows = tl__calloc(b->events.n + 1, sizeof *b->rows);
	b->sources = tl__malloc((b->events.n + 1) * sizeof *b->sources);
	if (!b->rows || !b->sources)
		return TL_ENOMEM;
	for (size_t i = 0; i < b->events.n; i++) {
		b->sources[i] = b->events.v[i].event;
		TL_TRY(name_row(b, &b->events.v[i], &b->rows[i]));
		TL_TRY(measure_row(b, &b->events.v[i], &b->rows[i]));
		tl__note_failure(&b->a->unified_failures, b->sources[i], &b->rows[i].metrics);
	}
	return 0;
}

/* ---- columns ---- */

static int add_names(builder *b, tl_error *err)
{
	tl_column *column = tl__table_add(b->table, "name", "", TL_COL_STRING);
	if (!column)
		return tl__nomem(err);
	for (size_t i = 0; i < b->table->rows; i++)
		column->str[i] = b->rows[i].name;
	column = tl__table_add(b->table, "op category", "", TL_COL_STRING);
	if (!column)
		return tl__nomem(err);
	for (size_t i = 0; i < b->table->rows; i++)
		column->str[i] = b->rows[i].category;
	return 0;
}

/*
 * Synthetic rows are numbered on behind the trace. The goldens were made from files in which each missing half of a
 * flow arrow had been supplied as an event of its own, so one number is left free for each that the tree did without.
 */
static int add_uids(builder *b, tl_error *err)
{
	tl_column *column = tl__table_add(b->table, "UID", "", TL_COL_INT64);
	int64_t next = (int64_t)(b->a->store->n + b->a->tree->health.entry[TL_HEALTH_LINKED_WITHOUT_FLOW].count);
	if (!column)
		return tl__nomem(err);
	for (size_t i = 0; i < b->table->rows; i++)
		column->i64[i] = b->events.v[i].gpu != TL_ROW_NONE ? next++ : (int64_t)b->events.v[i].event;
	return 0;
}

static int add_durations(builder *b, tl_error *err)
{
	tl_column *column = tl__table_add(b->table, "duration_us", "µs", TL_COL_DOUBLE);
	if (!column)
		return tl__nomem(err);
	for (size_t i = 0; i < b->table->rows; i++) {
		tl_time dur = b->a->store->dur[b->sources[i]];
		if (dur != TL_TIME_NONE)
			column->f64[i] = tl__us(dur);
	}
	return 0;
}

static int add_modelled(builder *b, tl_error *err)
{
	tl_column *column = tl__table_add(b->table, "has_perf_model", "", TL_COL_BOOL);
	if (!column)
		return tl__nomem(err);
	for (size_t i = 0; i < b->table->rows; i++)
		column->b[i] = b->events.v[i].modelled || b->events.v[i].forward != TL_ROW_NONE;
	return 0;
}

/* Unlike figures, the column is there when no operation has a model, too, and blank: scripts look for it. */
static int add_params(builder *b, tl_error *err)
{
	tl_column *column = tl__table_add(b->table, "perf_params", "", TL_COL_VALUE);
	if (!column)
		return tl__nomem(err);
	column->type = TL_TYPE_RECORD;
	for (size_t i = 0; i < b->table->rows; i++)
		if (b->rows[i].metrics.status == TL_PERF_OK)
			column->val[i] = b->rows[i].metrics.entry->params;
	return 0;
}

static int add_kernels(builder *b, tl_error *err)
{
	tl_column *column = tl__table_add(b->table, "kernel_details", "", TL_COL_KERNELS);
	if (!column)
		return tl__nomem(err);
	column->with_uid = 1;
	for (size_t i = 0; i < b->table->rows; i++) {
		column->ker[i] = b->rows[i].kernels;
		if (!b->rows[i].kernels.count && tl__column_set_null(b->table, column, i) < 0)
			return tl__nomem(err);
	}
	return 0;
}

static int fill(builder *b, tl_error *err)
{
	int code = make_rows(b);
	if (code == TL_ELIMIT)
		return tl__fail(err, code, "more than 2^32 kernels in one table");
	if (code < 0)
		return tl__analyzer_fail(b->a, code, err);
	b->table->rows = b->events.n;
	TL_TRY(add_names(b, err));
	TL_TRY(add_uids(b, err));
	TL_TRY(tl__event_id_column(b->a, b->table, "pid", TL_EVENT_PID, b->sources, err));
	TL_TRY(tl__event_id_column(b->a, b->table, "tid", TL_EVENT_TID, b->sources, err));
	TL_TRY(tl__event_thread_columns(b->a, b->table, b->sources, err));
	TL_TRY(tl__event_id_column(b->a, b->table, "External id", TL_EVENT_EXTERNAL, b->sources, err));
	if (b->a->options.overlap)
		TL_TRY(tl__overlap_columns(b->table, &b->rows->overlap, sizeof *b->rows, err));
	TL_TRY(tl__event_args_columns(b->a, b->table, b->sources, true, err));
	TL_TRY(add_durations(b, err));
	TL_TRY(add_modelled(b, err));
	if (b->a->options.detect_recompute)
		TL_TRY(tl__event_recompute_column(b->a, b->table, b->sources, err));
	TL_TRY(tl__metrics_columns(b->table, &b->rows->metrics, sizeof *b->rows, err));
	TL_TRY(add_params(b, err));
	return add_kernels(b, err);
}

int tl__unified_table(tl_table **out, tl_analyzer *a, tl_error *err)
{
	return tl__unified_table_of(out, a, NULL, err);
}

int tl__unified_table_of(tl_table **out, tl_analyzer *a, const tl_unified_options *options, tl_error *err)
{
	static const tl_unified_options defaults;
	builder b = {.a = a, .options = options ? options : &defaults};

	*out = NULL;
	b.table = tl__table_new("unified_perf_table", a->strings, 0);
	int code = b.table ? fill(&b, err) : tl__nomem(err);
	TL_VEC_FREE(&b.events);
	tl__free(b.sources);
	tl__free(b.rows);
	tl__buf_free(&b.text);
	if (code < 0)
		tl_table_free(b.table);
	else
		*out = b.table;
	return code;
}

/* ---- summary ---- */

/* The columns behind the keys, in the order of the sheet; those whose source does not exist are left out. */
typedef enum column_kind { PLAIN, TIME_SUM, TIME_MEAN, KERNELS } column_kind;
typedef struct column_plan {
	const char *name, *source;
	tl_aggregate how;
	column_kind kind;
} column_plan;

static const column_plan plan[] = {
	{"ex_UID", "UID", TL_AGG_FIRST, PLAIN},
	{"operation_count", "name", TL_AGG_SIZE, PLAIN},
	{"total_duration_us", "duration_us", TL_AGG_SUM, TIME_SUM},
	{"mean_duration_us", "duration_us", TL_AGG_MEAN, TIME_MEAN},
	{"std_duration_us", "duration_us", TL_AGG_STD, PLAIN},
	{"GFLOPS", "GFLOPS", TL_AGG_FIRST, PLAIN},
	{"Data Moved (MB)", "Data Moved (MB)", TL_AGG_FIRST, PLAIN},
	{"FLOPS/Byte", "FLOPS/Byte", TL_AGG_FIRST, PLAIN},
	{"Compute Spec", "Compute Spec", TL_AGG_FIRST, PLAIN},
	{"Roofline Bound", "Roofline Bound", TL_AGG_FIRST, PLAIN},
	{"TB/s_mean", "TB/s", TL_AGG_MEAN, PLAIN},
	{"TB/s_std", "TB/s", TL_AGG_STD, PLAIN},
	{"TFLOPS/s_mean", "TFLOPS/s", TL_AGG_MEAN, PLAIN},
	{"TFLOPS/s_std", "TFLOPS/s", TL_AGG_STD, PLAIN},
	{"Kernel Time (µs)_mean", "Kernel Time (µs)", TL_AGG_MEAN, TIME_MEAN},
	{"Kernel Time (µs)_std", "Kernel Time (µs)", TL_AGG_STD, PLAIN},
	{"Kernel Time (µs)_sum", "Kernel Time (µs)", TL_AGG_SUM, TIME_SUM},
	{"duration_us_median", "duration_us", TL_AGG_MEDIAN, PLAIN},
	{"duration_us_min", "duration_us", TL_AGG_MIN, PLAIN},
	{"duration_us_max", "duration_us", TL_AGG_MAX, PLAIN},
	{"TB/s_median", "TB/s", TL_AGG_MEDIAN, PLAIN},
	{"TB/s_min", "TB/s", TL_AGG_MIN, PLAIN},
	{"TB/s_max", "TB/s", TL_AGG_MAX, PLAIN},
	{"TFLOPS/s_median", "TFLOPS/s", TL_AGG_MEDIAN, PLAIN},
	{"TFLOPS/s_min", "TFLOPS/s", TL_AGG_MIN, PLAIN},
	{"TFLOPS/s_max", "TFLOPS/s", TL_AGG_MAX, PLAIN},
	{"Roofline Time (µs)_first", "Roofline Time (µs)", TL_AGG_FIRST, PLAIN},
	{"Pct Roofline_mean", "Pct Roofline", TL_AGG_MEAN, PLAIN},
	{"Pct Roofline_median", "Pct Roofline", TL_AGG_MEDIAN, PLAIN},
	{"Pct Roofline_std", "Pct Roofline", TL_AGG_STD, PLAIN},
	{"Pct Roofline_min", "Pct Roofline", TL_AGG_MIN, PLAIN},
	{"Pct Roofline_max", "Pct Roofline", TL_AGG_MAX, PLAIN},
	{"Kernel Time (µs)_median", "Kernel Time (µs)", TL_AGG_MEDIAN, PLAIN},
	{"Kernel Time (µs)_min", "Kernel Time (µs)", TL_AGG_MIN, PLAIN},
	{"Kernel Time (µs)_max", "Kernel Time (µs)", TL_AGG_MAX, PLAIN},
	{"kernel_details_summary", "kernel_details", TL_AGG_FIRST, KERNELS},
	{"perf_params", "perf_params", TL_AGG_FIRST, PLAIN},
	{"has_perf_model", "has_perf_model", TL_AGG_FIRST, PLAIN},
};

/* A column that call_stack_full is made of, which then takes its place. */
#define STACKS "call stacks"
/* The group of each row, which tells after sorting where it went. */
#define GROUPS "groups"

/* "is_recompute" is passed over where it does not exist, that is without recompute detection. */
static const char *const keys[] = {"name",       "op category", "process_name",  "process_label",   "thread_name",
				   "Input Dims", "Input type",  "Input Strides", "Concrete Inputs", "is_recompute"};
enum { N_KEYS = sizeof keys / sizeof keys[0] };

static int add_planned(tl_table *out, const tl_groups *groups, const tl_table *unified, const column_plan *p,
		       const tl_summary_options *options, tl_error *err)
{
	const tl_column *source = tl__table_column(unified, p->source);
	if (!source)
		return 0;
	switch (p->kind) {
	case TIME_SUM:
		return tl__aggregate_us(out, p->name, groups, source, err);
	case TIME_MEAN:
		return tl__aggregate_mean_us(out, p->name, groups, source, err);
	case KERNELS:
		TL_TRY(tl__table_summarize_kernels_and_stacks(out, p->name, options->call_stack ? STACKS : NULL, groups,
							      unified, p->source, err));
		TL_TRY(tl__table_add_truncated(out, p->name, "trunc_kernel_details", err));
		return !options->overlap
			       ? 0
			       : tl__overlap_summary(out, "overlapping_kernels_details_summary", groups, unified, err);
	default:
		return tl__table_aggregate(out, p->name, groups, unified, p->source, p->how, err);
	}
}

/* The columns stand behind all that were planned. */
static int replace_stacks(tl_table *out, bool debug, tl_error *err)
{
	ptrdiff_t at = tl_table_find_column(out, STACKS);
	if (at < 0)
		return 0;
	tl__table_move_column(out, (size_t)at, out->columns.n - 1);
	return tl__call_stack_columns(out, STACKS, "kernel_details_summary", debug, err);
}

static int number_groups(tl_table *out, tl_error *err)
{
	tl_column *column = tl__table_add(out, GROUPS, "", TL_COL_INT64);
	if (!column)
		return tl__nomem(err);
	for (size_t i = 0; i < out->rows; i++)
		column->i64[i] = (int64_t)i;
	return 0;
}

/* The row of the sorted summary that each row of the unified table went into. */
static int find_rows(uint32_t **row_of, tl_table *out, const tl_groups *groups, size_t n, tl_error *err)
{
	const tl_column *numbers = tl__table_column(out, GROUPS);
	uint32_t *place = tl__malloc((groups->n + 1) * sizeof *place);
	*row_of = tl__malloc((n + 1) * sizeof **row_of);
	for (size_t i = 0; place && i < out->rows; i++)
		place[numbers->i64[i]] = (uint32_t)i;
	for (size_t i = 0; place && *row_of && i < n; i++)
		(*row_of)[i] = place[groups->of_row[i]];
	int code = place && *row_of ? 0 : tl__nomem(err);
	tl__free(place);
	tl__table_remove_column(out, (size_t)tl_table_find_column(out, GROUPS));
	return code;
}

static int summarize(tl_table *out, uint32_t **row_of, const tl_groups *groups, const tl_table *unified,
		     const tl_summary_options *options, const char *const *group_keys, size_t n_keys, tl_error *err)
{
	static const tl_sort_key order[] = {{"Kernel Time (µs)_sum", true}};

	TL_TRY(tl__aggregate_keys(out, groups, unified, group_keys, n_keys, err));
	if (row_of)
		TL_TRY(number_groups(out, err));
	for (size_t i = 0; i < sizeof plan / sizeof plan[0]; i++)
		TL_TRY(add_planned(out, groups, unified, &plan[i], options, err));
	if (options->call_stack)
		TL_TRY(replace_stacks(out, options->call_stack_debug, err));
	/* Stable: rows of equal time stay in order of their first event. */
	if (options->overlap)
		TL_TRY(tl__overlap_sort(out, keys, N_KEYS, order[0].column, err));
	else
		TL_TRY(tl__table_sort(out, order, 1, err));
	if (row_of)
		TL_TRY(find_rows(row_of, out, groups, unified->rows, err));
	return tl__table_add_percentages(out, order[0].column, err);
}

int tl__unified_perf_summary(tl_table **out, const tl_table *unified, const tl_summary_options *options, tl_error *err)
{
	return tl__unified_perf_summary_rows(out, NULL, unified, options, err);
}

int tl__unified_perf_summary_rows(tl_table **out, uint32_t **row_of, const tl_table *unified,
				  const tl_summary_options *options, tl_error *err)
{
	static const tl_summary_options defaults;
	const tl_summary_options *o = options ? options : &defaults;
	const char *group_keys[N_KEYS + 1];
	size_t n_keys = 0;
	tl_groups groups;

	*out = NULL;
	if (row_of)
		*row_of = NULL;
	group_keys[n_keys++] = keys[0];
	if (o->overlap)
		group_keys[n_keys++] = TL_OVERLAP_NAMES;
	for (size_t i = 1; i < N_KEYS; i++)
		group_keys[n_keys++] = keys[i];
	TL_TRY(tl__table_group(&groups, unified, group_keys, n_keys, true, err));
	tl_table *table = tl__table_new(o->overlap ? "unified_perf_summary_kl_overlap" : "unified_perf_summary",
					unified->strings, groups.n);
	int code = table ? summarize(table, row_of, &groups, unified, o, group_keys, n_keys, err) : tl__nomem(err);
	tl__groups_free(&groups);
	if (code == 0)
		tl__table_cut(table, o->top);
	if (code == 0) {
		*out = table;
		return 0;
	}
	tl_table_free(table);
	if (row_of) {
		tl__free(*row_of);
		*row_of = NULL;
	}
	return code;
}
