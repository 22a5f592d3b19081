/* SPDX-License-Identifier: MIT */
/** @file category_sheets.c The metrics table of a sheet family and the per-category sheets (spec 02 sections 4.2, 4.3,
 * 8). */
#include <stdio.h>
#include <string.h>

#include "analysis/aggregate.h"
#include "analysis/metrics.h"
#include "analysis/overlap.h"
#include "util/sort.h"

/* ---- which events ---- */

typedef enum part {
	PART_ALL,
	PART_FORWARD, /* models of a forward operation */
	PART_BACKWARD /* models whose own category is a backward one */
} part;

/* Whether the family has a `_fwd` and a `_bwd` sheet; the others have one, named as the family. */
static bool has_two_sheets(const tl_analyzer *a, const char *sheet)
{
	static const char *const single[] = {"GEMM", "UnaryElementwise", "BinaryElementwise", "Normalization"};
	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
		if (!strcmp(sheet, single[i]))
			return false;
	return !tl__models_sheet_is_single(&a->models, sheet);
}

static bool is_backward_model(const tl_perf_model *model)
{
	size_t n = strlen(model->category);
	return n > 4 && !strcmp(model->category + n - 4, "_bwd");
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Forward calls whose backward pass is an operation with a model of its own: it would count twice. */
static bool has_own_backward(const char *name)
{
	static const char *const names[] = {"aten::convolution", "aten::miopen_convolution", "aten::cudnn_convolution",
					    "ConvBias_", "ConvBiasReLU_"};
	return is_one_of(name, names, sizeof names / sizeof names[0]);
}

typedef struct metric_row {
	tl_metrics metrics;
	tl_overlap overlap;
	tl_row event;
	tl_kernel_range kernels;
} metric_row;

typedef struct builder {
	tl_analyzer *a;
	tl_table *table;
	bool backward;
	bool typed;      /* parameters are values, not their texts */
	bool counted;    /* the same events are in another sheet, which counts those that failed */
	uint32_t number; /* of the table, for tl_perf_entry.columns */
	TL_VEC(tl_row) events;
	TL_VEC(metric_row) rows;
	TL_VEC(tl_str) params; /* names of parameter columns, first seen first */
} builder;

static bool is_wanted(const builder *b, const tl_perf_model *model, part which, bool for_sheet, tl_row event)
{
	size_t first;
	if (!model)
		return false;
	if (which != PART_ALL && (which == PART_BACKWARD) != is_backward_model(model))
		return false;
	if (!b->backward)
		return true;
	return tl__tree_backward_of(b->a->tree, event, &first) > 0 &&
	       strcmp(model->name, "vllm::unified_attention_with_output") != 0 &&
	       !(for_sheet && has_own_backward(model->name));
}

/*
 * The order of a profiler's own file, found again from the content, so that shuffling the file does not change what
 * is "first" in a group: threads with the larger id first (the younger ones: autograd's stand before the main
 * thread), on each thread by time. It decides between the copies of one operation on two threads.
 */
typedef struct file_order {
	const tl_tree *tree;
	uint32_t *rank; /* of each track */
} file_order;

/* Larger first, numbers before texts; "none" last. */
static int compare_ids(const tl_store *s, tl_id a, tl_id b)
{
	if (a == b)
		return 0;
	bool text_a = (a & TL_ID_TEXT) != 0, text_b = (b & TL_ID_TEXT) != 0;
	if (a == TL_ID_NONE || b == TL_ID_NONE)
		return a == TL_ID_NONE ? 1 : -1;
	if (text_a != text_b)
		return text_a ? 1 : -1;
	if (!text_a)
		return a > b ? -1 : 1;
	return strcmp(tl__str(s->strings, (tl_str)(b & ~TL_ID_TEXT)), tl__str(s->strings, (tl_str)(a & ~TL_ID_TEXT)));
}

static bool track_before(const void *store, uint32_t a, uint32_t b)
{
	const tl_store *s = store;
	const tl_track *x = &s->tracks.v[a], *y = &s->tracks.v[b];
	if (x->source != y->source)
		return x->source < y->source;
	int order = -compare_ids(s, x->pid, y->pid);
	order = order ? order : compare_ids(s, x->tid, y->tid);
	return order ? order < 0 : a < b;
}

static bool event_before(const void *context, uint32_t a, uint32_t b)
{
	const file_order *order = context;
	const tl_store *s = order->tree->store;
	uint32_t x = s->track[a] < s->tracks.n ? order->rank[s->track[a]] : UINT32_MAX;
	uint32_t y = s->track[b] < s->tracks.n ? order->rank[s->track[b]] : UINT32_MAX;
	tl_pos p = order->tree->pos_of_row[a], q = order->tree->pos_of_row[b];
	if (x != y)
		return x < y;
	if (s->start[a] != s->start[b])
		return s->start[a] < s->start[b];
	return p != q ? p < q : a < b;
}

static int sort_events(builder *b)
{
	const tl_store *s = b->a->store;
	size_t n = s->tracks.n;
	uint32_t *tracks = tl__malloc((n + 1) * sizeof *tracks);
	file_order order = {b->a->tree, tl__malloc((n + 1) * sizeof *order.rank)};
	int code = tracks && order.rank ? 0 : TL_ENOMEM;

	for (uint32_t i = 0; i < n && code == 0; i++)
		tracks[i] = i;
	if (code == 0)
		code = tl__sort(tracks, n, track_before, s);
	for (uint32_t i = 0; i < n && code == 0; i++)
		order.rank[tracks[i]] = i;
	if (code == 0)
		code = tl__sort(b->events.v, b->events.n, event_before, &order);
	tl__free(tracks);
	tl__free(order.rank);
	return code;
}

static int choose_events(builder *b, const char *sheet, part which, bool for_sheet)
{
	const tl_row *rows;
	size_t n;
	TL_TRY(tl__perf_family(b->a, sheet, &rows, &n));
	for (size_t i = 0; i < n; i++) {
		const tl_perf_model *model;
		TL_TRY(tl__perf_model_at(b->a, rows[i], &model, NULL));
		if (is_wanted(b, model, which, for_sheet, rows[i]))
			TL_TRY(TL_VEC_PUSH(&b->events, rows[i]));
	}
	return for_sheet ? sort_events(b) : 0;
}

/* ---- rows ---- */

static int place_params(builder *b, tl_perf_entry *entry)
{
	if (entry->table == b->number)
		return 0;
	TL_TRY(tl__perf_entry_texts(b->a, entry));
	for (size_t i = 0; i < entry->result.n_params; i++) {
		size_t at = 0;
		while (at < b->params.n && b->params.v[at] != entry->names[i])
			at++;
		if (at == b->params.n)
			TL_TRY(TL_VEC_PUSH(&b->params, entry->names[i]));
		entry->columns[i] = (uint32_t)at;
	}
	entry->table = b->number;
	return 0;
}

/* An event that its model declines or cannot read has no row here (spec 02 section 4.2). */
static int measure(builder *b)
{
	for (size_t i = 0; i < b->events.n; i++) {
		metric_row row = {.event = b->events.v[i]};
		const tl_row *kernels;
		size_t n;
		TL_TRY(tl__metrics_of(b->a, row.event, b->backward, &row.metrics, &kernels, &n));
		if (!b->counted)
			tl__note_failure(&b->a->sheet_failures, row.event, &row.metrics);
		if (row.metrics.status != TL_PERF_OK)
			continue;
		TL_TRY(tl__kernel_list_add(b->a, b->table, kernels, n, &row.kernels));
		TL_TRY(place_params(b, row.metrics.entry));
		/* only launchers have overlaps here: those of the kernels that they launch, also in a backward row */
		if (b->a->options.overlap)
			TL_TRY(tl__analyzer_overlap(b->a, row.event, NULL, 0, &row.overlap));
		TL_TRY(TL_VEC_PUSH(&b->rows, row));
	}
	return 0;
}

/* ---- columns ---- */

static int add_category(builder *b, tl_error *err)
{
	const tl_store *s = b->a->store;
	tl_column *column = tl__table_add(b->table, "cat", "", TL_COL_STRING);
	if (!column)
		return tl__nomem(err);
	for (size_t row = 0; row < b->table->rows; row++)
		column->str[row] = s->categories.n ? s->categories.v[s->category[b->events.v[row]]] : TL_STR_NONE;
	return 0;
}

static int add_names(builder *b, tl_error *err)
{
	tl_column *names = tl__table_add(b->table, "name", "", TL_COL_STRING);
	for (size_t row = 0; names && row < b->table->rows; row++)
		names->str[row] = b->a->store->name[b->events.v[row]];
	tl_column *uids = tl__table_add(b->table, "UID", "", TL_COL_INT64);
	for (size_t row = 0; uids && row < b->table->rows; row++)
		uids->i64[row] = b->events.v[row];
	return uids && tl__table_column(b->table, "name") ? 0 : tl__nomem(err);
}

static int add_params(builder *b, tl_error *err)
{
	size_t first = b->table->columns.n;
	tl_storage storage = b->typed ? TL_COL_VALUE : TL_COL_STRING;
	for (size_t i = 0; i < b->params.n; i++)
		if (!tl__table_add(b->table, tl__str(b->a->strings, b->params.v[i]), "", storage))
			return tl__nomem(err);
	tl_column *columns = b->table->columns.v + first;
	for (size_t row = 0; row < b->rows.n; row++) {
		const tl_perf_entry *entry = b->rows.v[row].metrics.entry;
		for (size_t i = 0; i < entry->result.n_params; i++) {
			tl_column *column = &columns[entry->columns[i]];
			if (b->typed)
				column->val[row] = &entry->params->items[2 * i + 1];
			else
				column->str[row] = entry->texts[i];
		}
	}
	return 0;
}

static int add_kernels(builder *b, tl_error *err)
{
	tl_column *lists = tl__table_add(b->table, "kernel_details", "", TL_COL_KERNELS);
	if (!lists)
		return tl__nomem(err);
	lists->with_uid = 1;
	for (size_t row = 0; row < b->rows.n; row++)
		lists->ker[row] = b->rows.v[row].kernels;
	tl_column *counts = tl__table_add(b->table, "num_kernels", "", TL_COL_INT64);
	if (!counts)
		return tl__nomem(err);
	for (size_t row = 0; row < b->rows.n; row++)
		counts->i64[row] = b->rows.v[row].kernels.count;
	return 0;
}

static int add_columns(builder *b, tl_error *err)
{
	const tl_row *events = b->events.v;
	TL_TRY(add_category(b, err));
	TL_TRY(add_names(b, err));
	TL_TRY(tl__event_id_column(b->a, b->table, "pid", TL_EVENT_PID, events, err));
	TL_TRY(tl__event_id_column(b->a, b->table, "tid", TL_EVENT_TID, events, err));
	TL_TRY(tl__event_thread_columns(b->a, b->table, events, err));
	TL_TRY(tl__event_id_column(b->a, b->table, "external_id", TL_EVENT_EXTERNAL, events, err));
	if (b->a->options.overlap)
		TL_TRY(tl__overlap_columns(b->table, &b->rows.v->overlap, sizeof *b->rows.v, err));
	TL_TRY(tl__event_args_columns(b->a, b->table, events, false, err));
	TL_TRY(tl__metrics_columns(b->table, &b->rows.v->metrics, sizeof *b->rows.v, err));
	TL_TRY(add_params(b, err));
	TL_TRY(add_kernels(b, err));
	return b->a->options.detect_recompute ? tl__event_recompute_column(b->a, b->table, events, err) : 0;
}

static int fill(builder *b, const char *sheet, part which, bool for_sheet, tl_error *err)
{
	int code = sheet ? choose_events(b, sheet, which, for_sheet) : 0;
	if (code == TL_ENOTFOUND)
		return tl__fail(err, code, "there is no sheet '%s'", sheet);
	if (code == 0) {
		b->number = tl__perf_next_table(b->a);
		code = TL_VEC_RESERVE(&b->rows, 1); /* so that there is a first row to point to */
	}
	if (code == 0)
		code = measure(b);
	if (code == TL_ELIMIT)
		return tl__fail(err, code, "too many kernels in sheet '%s'", tl_table_name(b->table));
	if (code < 0)
		return tl__analyzer_fail(b->a, code, err);
	b->events.n = b->rows.n;
	for (size_t i = 0; i < b->rows.n; i++)
		b->events.v[i] = b->rows.v[i].event;
	b->table->rows = b->rows.n;
	return add_columns(b, err);
}

static void builder_free(builder *b)
{
	TL_VEC_FREE(&b->events);
	TL_VEC_FREE(&b->rows);
	TL_VEC_FREE(&b->params);
}

static int metrics_table(tl_table **out, tl_analyzer *a, const char *name, const char *sheet, bool backward, part which,
			 bool for_sheet, tl_error *err)
{
	builder b = {.a = a, .backward = backward, .counted = backward && for_sheet};

	*out = NULL;
	b.table = tl__table_new(name, a->strings, 0);
	int code = b.table ? fill(&b, sheet, which, for_sheet, err) : tl__nomem(err);
	builder_free(&b);
	if (code < 0)
		tl_table_free(b.table);
	else
		*out = b.table;
	return code;
}

int tl__perf_metrics(tl_table **out, tl_analyzer *a, const char *sheet, bool backward, tl_error *err)
{
	return metrics_table(out, a, sheet, sheet, backward, PART_ALL, false, err);
}

int tl__perf_metrics_of_events(tl_table **out, tl_analyzer *a, const tl_row *events, size_t n, bool backward,
			       bool typed, tl_error *err)
{
	builder b = {.a = a, .backward = backward, .typed = typed};
	size_t first;
	*out = NULL;
	b.table = tl__table_new("perf_metrics", a->strings, 0);
	int code = b.table && TL_VEC_RESERVE(&b.events, n) == 0 ? 0 : tl__nomem(err);
	for (size_t i = 0; i < n && code == 0; i++)
		if (!backward || tl__tree_backward_of(a->tree, events[i], &first) > 0)
			b.events.v[b.events.n++] = events[i];
	if (code == 0)
		code = fill(&b, NULL, PART_ALL, false, err);
	builder_free(&b);
	if (code < 0)
		tl_table_free(b.table);
	else
		*out = b.table;
	return code;
}

/* ---- summary ---- */

static const char param_prefix[] = "param: ";

/* Mean and the rest of a column of numbers, in the order of the report; means of times are exact. */
static int add_aggregates(tl_table *out, const tl_groups *groups, const tl_table *metrics, const char *source,
			  bool is_time, tl_error *err)
{
	static const struct {
		const char *suffix;
		tl_aggregate how;
	} list[] = {{"median", TL_AGG_MEDIAN}, {"std", TL_AGG_STD}, {"min", TL_AGG_MIN}, {"max", TL_AGG_MAX}};
	const tl_column *column = tl__table_column(metrics, source);
	char name[80];

	if (!column)
		return 0;
	(void)snprintf(name, sizeof name, "%s_mean", source);
	TL_TRY(is_time ? tl__aggregate_mean_us(out, name, groups, column, err)
		       : tl__table_aggregate(out, name, groups, metrics, source, TL_AGG_MEAN, err));
	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
		(void)snprintf(name, sizeof name, "%s_%s", source, list[i].suffix);
		TL_TRY(tl__table_aggregate(out, name, groups, metrics, source, list[i].how, err));
	}
	return 0;
}

static int add_first(tl_table *out, const tl_groups *groups, const tl_table *metrics, const char *source, tl_error *err)
{
	char name[80];
	(void)snprintf(name, sizeof name, "%s_first", source);
	return tl__table_aggregate(out, name, groups, metrics, source, TL_AGG_FIRST, err);
}

static int add_times(tl_table *out, const tl_groups *groups, const tl_table *metrics, tl_error *err)
{
	const tl_column *time = tl__table_column(metrics, "Kernel Time (µs)");
	if (!time)
		return 0;
	TL_TRY(add_aggregates(out, groups, metrics, "Kernel Time (µs)", true, err));
	return tl__aggregate_us(out, "Kernel Time (µs)_sum", groups, time, err);
}

static int add_sizes(tl_table *out, const tl_groups *groups, tl_error *err)
{
	tl_column *column = tl__table_add(out, "name_count", "", TL_COL_INT64);
	if (!column)
		return tl__nomem(err);
	for (size_t g = 0; g < groups->n; g++)
		column->i64[g] = groups->start[g + 1] - groups->start[g];
	return 0;
}

/* Keys of the rows; where they are shown among the columns is another matter. */
typedef struct summary_keys {
	const char **shown; /* name, params, num_kernels, is_recompute, as far as there are */
	size_t n_shown;
	const char **all; /* and the overlapping kernels, in the `_kl_overlap` form */
	size_t n_all;
} summary_keys;

static int summarize(tl_table *out, const tl_groups *groups, const tl_table *metrics, const summary_keys *keys,
		     bool overlap, tl_error *err)
{
	static const char *const costs[] = {"GFLOPS", "Data Moved (MB)", "FLOPS/Byte"};
	static const char *const threads[] = {"process_name", "process_label", "thread_name"};
	static const char *const args[] = {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"};
	static const tl_sort_key order[] = {{"Kernel Time (µs)_sum", true}};

	TL_TRY(tl__aggregate_keys(out, groups, metrics, keys->shown, 1, err));
	if (overlap)
		TL_TRY(add_first(out, groups, metrics, TL_OVERLAP_NAMES, err));
	TL_TRY(tl__aggregate_keys(out, groups, metrics, keys->shown + 1, keys->n_shown - 1, err));
	for (size_t i = 0; i < 3; i++)
		TL_TRY(add_first(out, groups, metrics, costs[i], err));
	TL_TRY(add_aggregates(out, groups, metrics, "TB/s", false, err));
	TL_TRY(add_aggregates(out, groups, metrics, "TFLOPS/s", false, err));
	for (size_t i = 0; i < 3; i++)
		TL_TRY(add_first(out, groups, metrics, threads[i], err));
	TL_TRY(tl__table_aggregate(out, "Compute Spec", groups, metrics, "Compute Spec", TL_AGG_FIRST, err));
	TL_TRY(add_first(out, groups, metrics, "Roofline Time (µs)", err));
	TL_TRY(add_first(out, groups, metrics, "Roofline Bound", err));
	TL_TRY(add_aggregates(out, groups, metrics, "Pct Roofline", false, err));
	TL_TRY(tl__table_summarize_kernels(out, "kernel_details__summarize_kernel_stats", groups, metrics,
					   "kernel_details", err));
	TL_TRY(tl__table_add_truncated(out, "kernel_details__summarize_kernel_stats", "trunc_kernel_details", err));
	if (overlap)
		TL_TRY(tl__overlap_summary(out, "overlapping_kernels_details__summarize_kernel_stats", groups, metrics,
					   err));
	for (size_t i = 0; i < 4; i++)
		TL_TRY(add_first(out, groups, metrics, args[i], err));
	TL_TRY(add_times(out, groups, metrics, err));
	TL_TRY(add_sizes(out, groups, err));
	/* The first in the file, whatever the order of rows is. */
	TL_TRY(tl__table_aggregate(out, "UID_first", groups, metrics, "UID", TL_AGG_MIN, err));
	if (!tl__table_column(out, order[0].column))
		return 0;
	/* Stable: rows of equal time stay in order of their first event. */
	if (overlap)
		return tl__overlap_sort(out, keys->shown, keys->n_shown, order[0].column, err);
	return tl__table_sort(out, order, 1, err);
}

static void choose_keys(summary_keys *keys, const tl_table *metrics, const tl_summary_options *options)
{
	size_t n = 0;
	keys->shown[n++] = "name";
	for (size_t i = 0; i < metrics->columns.n; i++)
		if (!strncmp(metrics->columns.v[i].name, param_prefix, sizeof param_prefix - 1))
			keys->shown[n++] = metrics->columns.v[i].name;
	if (options->group_by_num_kernels)
		keys->shown[n++] = "num_kernels";
	keys->shown[n++] = "is_recompute"; /* passed over where it does not exist */
	keys->n_shown = n;
	memcpy(keys->all, keys->shown, n * sizeof *keys->all);
	if (options->overlap)
		keys->all[n++] = TL_OVERLAP_NAMES;
	keys->n_all = n;
}

int tl__perf_metrics_summary(tl_table **out, const tl_table *metrics, const tl_summary_options *options, tl_error *err)
{
	static const tl_summary_options defaults;
	const tl_summary_options *o = options ? options : &defaults;
	tl_groups groups;
	size_t room = metrics->columns.n + 4;
	const char **names = tl__malloc(2 * room * sizeof(*names));
	char name[96];

	*out = NULL;
	if (!names)
		return tl__nomem(err);
	summary_keys keys = {.shown = names, .all = names + room};
	choose_keys(&keys, metrics, o);
	(void)snprintf(name, sizeof name, "%s%s", tl_table_name(metrics), o->overlap ? "_kl_overlap" : "");
	int code = tl__table_group(&groups, metrics, keys.all, keys.n_all, true, err);
	if (code == 0) {
		tl_table *table = tl__table_new(name, metrics->strings, groups.n);
		code = table ? summarize(table, &groups, metrics, &keys, o->overlap, err) : tl__nomem(err);
		if (code == 0)
			tl__table_cut(table, o->top);
		if (code < 0)
			tl_table_free(table);
		else
			*out = table;
		tl__groups_free(&groups);
	}
	tl__free(names);
	return code;
}

/* ---- sheets ---- */

/* The metrics of one part of a family, as far as a sheet shows them; *out is NULL when no event is in it. */
static int part_metrics(tl_table **out, tl_analyzer *a, const char *name, const char *sheet, bool backward, part which,
			tl_error *err)
{
	TL_TRY(metrics_table(out, a, name, sheet, backward, which, true, err));
	if ((*out)->rows)
		return 0;
	tl_table_free(*out);
	*out = NULL;
	return 0;
}

/* Up to two tables of metrics that become one sheet, one below the other. */
typedef struct sheet_parts {
	tl_table *metrics[2];
	size_t n;
} sheet_parts;

static void free_parts(sheet_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		tl_table_free(parts->metrics[i]);
	parts->n = 0;
}

static int add_part(sheet_parts *parts, tl_analyzer *a, const char *name, const char *sheet, bool backward, part which,
		    tl_error *err)
{
	tl_table *metrics;
	TL_TRY(part_metrics(&metrics, a, name, sheet, backward, which, err));
	if (metrics)
		parts->metrics[parts->n++] = metrics;
	return 0;
}

/* Keeps the `top` heaviest rows of a table of two sorted halves, in the order in which they stand. */
static int cut_halves(tl_table *table, int64_t top, tl_error *err)
{
	static const tl_sort_key by_time[] = {{"Kernel Time (µs)_sum", true}}, by_place[] = {{"place", false}};
	size_t columns = table->columns.n;
	if (top <= 0 || (uint64_t)top >= table->rows)
		return 0;
	tl_column *place = tl__table_add(table, by_place[0].column, "", TL_COL_INT64);
	if (!place)
		return tl__nomem(err);
	for (size_t row = 0; row < table->rows; row++)
		place->i64[row] = (int64_t)row;
	TL_TRY(tl__table_sort(table, by_time, 1, err));
	tl__table_cut(table, top);
	TL_TRY(tl__table_sort(table, by_place, 1, err));
	tl__table_remove_column(table, columns);
	return 0;
}

/* One sheet from its parts: each is summed up alone, the second stands below the first. */
static int sheet_of(tl_table **out, const sheet_parts *parts, const tl_summary_options *options, tl_error *err)
{
	tl_table *summary[2] = {NULL, NULL};
	tl_summary_options each = *options;
	if (parts->n == 1)
		return tl__perf_metrics_summary(out, parts->metrics[0], options, err);
	*out = NULL;
	each.top = 0;
	int code = tl__perf_metrics_summary(&summary[0], parts->metrics[0], &each, err);
	if (code == 0)
		code = tl__perf_metrics_summary(&summary[1], parts->metrics[1], &each, err);
	if (code == 0)
		code = tl__table_concat(out, summary[0], summary[1], err);
	/* the cells of the joint table point into the two that go */
	if (code == 0)
		code = tl__table_own_values(*out, err);
	tl_table_free(summary[0]);
	tl_table_free(summary[1]);
	if (code == 0)
		code = cut_halves(*out, options->top, err);
	if (code < 0) {
		tl_table_free(*out);
		*out = NULL;
	}
	return code;
}

/*
 * What is in sheet `which` of a family (0: forward, or the only one; 1: backward). The backward sheet: backward passes
 * of forward operations, and below them operations whose model is a backward one by its category (the reference moves
 * four names only: [02-12]).
 */
static int collect_parts(sheet_parts *parts, tl_analyzer *a, const char *sheet, int which, tl_error *err)
{
	char name[80];
	if (!has_two_sheets(a, sheet))
		return which ? 0 : add_part(parts, a, sheet, sheet, false, PART_ALL, err);
	(void)snprintf(name, sizeof name, "%s_%s", sheet, which ? "bwd" : "fwd");
	if (!which)
		return add_part(parts, a, name, sheet, false, PART_FORWARD, err);
	TL_TRY(add_part(parts, a, name, sheet, true, PART_ALL, err));
	return add_part(parts, a, name, sheet, false, PART_BACKWARD, err);
}

/* One sheet in both forms, as far as they are wanted; NULL without events. */
static int make_sheet(tl_table **plain, tl_table **overlap, tl_analyzer *a, const char *sheet, int which,
		      const tl_summary_options *options, tl_error *err)
{
	sheet_parts parts = {{NULL, NULL}, 0};
	tl_summary_options form = *options;
	int code = collect_parts(&parts, a, sheet, which, err);
	form.overlap = false;
	if (code == 0 && parts.n)
		code = sheet_of(plain, &parts, &form, err);
	if (code == 0 && parts.n && options->overlap)
		code = sheet_of(overlap, &parts, options, err);
	free_parts(&parts);
	return code;
}

int tl__category_sheets(tl_table *out[4], size_t *n, tl_analyzer *a, const char *sheet,
			const tl_summary_options *options, tl_error *err)
{
	static const tl_summary_options defaults;
	tl_table *made[4] = {NULL, NULL, NULL, NULL}; /* forward and backward, plain and in the other form */
	int code = 0;

	*n = 0;
	out[0] = out[1] = out[2] = out[3] = NULL;
	for (int which = 0; which < 2 && code == 0; which++)
		code = make_sheet(&made[which], &made[2 + which], a, sheet, which, options ? options : &defaults, err);
	for (size_t i = 0; i < 4; i++) {
		if (code < 0)
			tl_table_free(made[i]);
		else if (made[i])
			out[(*n)++] = made[i];
	}
	return code;
}
