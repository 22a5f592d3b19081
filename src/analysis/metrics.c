/* SPDX-License-Identifier: MIT */
/** @file metrics.c Performance metrics of events: one event, and the columns that tables show of many. */
#include "analysis/metrics.h"

#include <math.h>
#include <string.h>

#include "tree/recompute.h"

/* ---- one event ---- */

static double over_time(double amount, double scale, tl_time time)
{
	return time > 0 ? (amount / scale) / ((double)time / 1e12) : (double)NAN;
}

static void add_roofline(const tl_analyzer *a, tl_metrics *m, double flops, double bytes)
{
	tl_roofline bound;
	if (!a->options.arch || m->entry->spec == TL_STR_NONE)
		return;
	if (!tl__roofline(&bound, a->options.arch, tl__str(a->strings, m->entry->spec), flops,
			  isnan(bytes) ? NULL : &bytes))
		return;
	m->has_roofline = true;
	m->compute_bound = bound.compute_bound;
	m->roofline_us = bound.time_us;
	m->roofline_pct = m->time > 0 ? bound.time_us / tl__us(m->time) * 100 : (double)NAN;
}

static uint8_t worse(uint8_t one, uint8_t other)
{
	return one != TL_PERF_OK ? one : other;
}

static void derive(const tl_analyzer *a, tl_metrics *m, const tl_perf_cost *flops, const tl_perf_cost *bytes)
{
	m->status = worse(flops->status, bytes->status);
	if (m->status != TL_PERF_OK)
		return;
	double f = flops->known ? flops->value : (double)NAN, b = bytes->known ? bytes->value : (double)NAN;
	m->gflops = f / 1e9;
	m->tflops = over_time(f, 1e12, m->time);
	m->megabytes = b / TL_BYTES_PER_MB;
	m->intensity = b > 0 ? f / b : (double)NAN;
	m->terabytes = over_time(b, 1e12, m->time);
	add_roofline(a, m, f, b);
}

int tl__metrics_of(tl_analyzer *a, tl_row event, bool backward, tl_metrics *out, const tl_row **kernels, size_t *n)
{
	const tl_row *forward, *measured;
	size_t n_forward, n_measured;

	*out = (tl_metrics){.status = TL_PERF_NOT_MODELLED};
	TL_TRY(tl__perf_gpu_events(a, event, false, &forward, &n_forward));
	measured = forward;
	n_measured = n_forward;
	if (backward)
		TL_TRY(tl__perf_gpu_events(a, event, true, &measured, &n_measured));
	TL_TRY(tl__analyzer_busy(a, measured, n_measured, &out->time));
	/* Parameters come from the forward call, kernels that tell about them, too. */
	TL_TRY(tl__perf_entry_of(a, event, forward, n_forward, &out->entry));
	if (out->entry) {
		const tl_perf_result *r = &out->entry->result;
		out->status = r->status;
		if (r->status == TL_PERF_OK)
			derive(a, out, backward ? &r->flops_bwd : &r->flops, backward ? &r->bytes_bwd : &r->bytes);
	}
	if (kernels) {
		*kernels = measured;
		*n = n_measured;
	}
	return 0;
}

void tl__note_failure(tl_model_failures *failures, tl_row event, const tl_metrics *metrics)
{
	if (metrics->status != TL_PERF_FAILED)
		return;
	if (failures->count++)
		return;
	const char *why = metrics->entry->result.why;
	failures->first = event;
	failures->why = why ? why : "its FLOPs or bytes cannot be told from its arguments";
}

/* ---- columns of metrics ---- */

static const tl_metrics *at(const tl_metrics *first, size_t stride, size_t row)
{
	return (const tl_metrics *)(const void *)((const char *)first + stride * row);
}

typedef struct number_column {
	const char *name, *unit;
	size_t member;
	bool roofline;
} number_column;

static int add_numbers(tl_table *table, const number_column *what, const tl_metrics *first, size_t stride,
		       tl_error *err)
{
	tl_column *column = tl__table_add(table, what->name, what->unit, TL_COL_DOUBLE);
	if (!column)
		return tl__nomem(err);
	for (size_t row = 0; row < table->rows; row++) {
		const tl_metrics *m = at(first, stride, row);
		if (m->status == TL_PERF_OK && (m->has_roofline || !what->roofline))
			memcpy(&column->f64[row], (const char *)m + what->member, sizeof(double));
	}
	return 0;
}

static int add_time(tl_table *table, const tl_metrics *first, size_t stride, tl_error *err)
{
	tl_column *column = tl__table_add(table, "Kernel Time (µs)", "µs", TL_COL_DOUBLE);
	if (!column)
		return tl__nomem(err);
	for (size_t row = 0; row < table->rows; row++) {
		tl_time time = at(first, stride, row)->time;
		if (time != TL_TIME_NONE)
			column->f64[row] = tl__us(time);
	}
	return 0;
}

static int add_spec(tl_table *table, const tl_metrics *first, size_t stride, tl_error *err)
{
	tl_column *column = tl__table_add(table, "Compute Spec", "", TL_COL_STRING);
	if (!column)
		return tl__nomem(err);
	for (size_t row = 0; row < table->rows; row++) {
		const tl_metrics *m = at(first, stride, row);
		column->str[row] = m->status == TL_PERF_OK ? m->entry->spec : TL_STR_NONE;
	}
	return 0;
}

static int add_bound(tl_table *table, const tl_metrics *first, size_t stride, tl_error *err)
{
	tl_column *column = tl__table_add(table, "Roofline Bound", "", TL_COL_STRING);
	tl_str compute = tl__table_str(table, "COMPUTE_BOUND"), memory = tl__table_str(table, "MEMORY_BOUND");
	if (!column || compute == TL_STR_FAIL || memory == TL_STR_FAIL)
		return tl__nomem(err);
	for (size_t row = 0; row < table->rows; row++) {
		const tl_metrics *m = at(first, stride, row);
		if (m->status == TL_PERF_OK && m->has_roofline)
			column->str[row] = m->compute_bound ? compute : memory;
	}
	return 0;
}

int tl__metrics_columns(tl_table *table, const tl_metrics *first, size_t stride, tl_error *err)
{
	static const number_column gflops = {"GFLOPS", "GFLOP", offsetof(tl_metrics, gflops), false};
	static const number_column rates[] = {
		{"TFLOPS/s", "TFLOP/s", offsetof(tl_metrics, tflops), false},
		{"Data Moved (MB)", "MB", offsetof(tl_metrics, megabytes), false},
		{"FLOPS/Byte", "FLOP/B", offsetof(tl_metrics, intensity), false},
		{"TB/s", "TB/s", offsetof(tl_metrics, terabytes), false},
	};
	static const number_column roofline_time = {"Roofline Time (µs)", "µs", offsetof(tl_metrics, roofline_us),
						    true};
	static const number_column roofline_pct = {"Pct Roofline", "%", offsetof(tl_metrics, roofline_pct), true};
	bool any = false, any_roofline = false;

	for (size_t row = 0; row < table->rows; row++) {
		const tl_metrics *m = at(first, stride, row);
		any |= m->status == TL_PERF_OK;
		any_roofline |= m->status == TL_PERF_OK && m->has_roofline;
	}
	if (any)
		TL_TRY(add_numbers(table, &gflops, first, stride, err));
	TL_TRY(add_time(table, first, stride, err));
	for (size_t i = 0; any && i < sizeof rates / sizeof rates[0]; i++)
		TL_TRY(add_numbers(table, &rates[i], first, stride, err));
	if (any)
		TL_TRY(add_spec(table, first, stride, err));
	if (any_roofline) {
		TL_TRY(add_numbers(table, &roofline_time, first, stride, err));
		TL_TRY(add_bound(table, first, stride, err));
		TL_TRY(add_numbers(table, &roofline_pct, first, stride, err));
	}
	return 0;
}

/* ---- columns of events ---- */

static tl_id id_of(const tl_store *s, tl_row event, tl_event_id which)
{
	if (which == TL_EVENT_EXTERNAL) {
		const tl_op_args *op = tl__op_args(s, event);
		const tl_link_args *link = tl__link_args(s, event);
		return op ? op->external : link ? link->external : TL_ID_NONE;
	}
	if (s->track[event] >= s->tracks.n)
		return TL_ID_NONE;
	const tl_track *track = &s->tracks.v[s->track[event]];
	return which == TL_EVENT_PID ? track->pid : track->tid;
}

int tl__event_id_column(tl_analyzer *a, tl_table *table, const char *name, tl_event_id which, const tl_row *events,
			tl_error *err)
{
	bool text = false;
	for (size_t row = 0; row < table->rows && !text; row++) {
		tl_id id = id_of(a->store, events[row], which);
		text = id != TL_ID_NONE && (id & TL_ID_TEXT);
	}
	tl_column *column = tl__table_add(table, name, "", text ? TL_COL_STRING : TL_COL_INT64);
	if (!column)
		return tl__nomem(err);
	for (size_t row = 0; row < table->rows; row++) {
		tl_id id = id_of(a->store, events[row], which);
		char buffer[64];
		if (id == TL_ID_NONE) {
			if (!text && tl__column_set_null(table, column, row) < 0)
				return tl__nomem(err);
		} else if (!text) {
			column->i64[row] = (int64_t)id;
		} else {
			column->str[row] = tl__table_str(table, tl__id_text(a->store, id, buffer));
			if (column->str[row] == TL_STR_FAIL)
				return tl__nomem(err);
		}
	}
	return 0;
}

int tl__event_thread_columns(tl_analyzer *a, tl_table *table, const tl_row *events, tl_error *err)
{
	static const char *const names[] = {"process_name", "process_label", "thread_name"};
	size_t first = table->columns.n;

	for (size_t i = 0; i < 3; i++)
		if (!tl__table_add(table, names[i], "", TL_COL_STRING))
			return tl__nomem(err);
	tl_column *columns = table->columns.v + first;
	for (size_t row = 0; row < table->rows; row++)
		tl__analyzer_thread(a, events[row], &columns[0].str[row], &columns[1].str[row], &columns[2].str[row]);
	return 0;
}

int tl__event_args_columns(tl_analyzer *a, tl_table *table, const tl_row *events, bool tuples, tl_error *err)
{
	static const struct {
		const char *name;
		size_t member;
	} fields[] = {
		{"Input Dims", offsetof(tl_op_args, dims)},
		{"Input type", offsetof(tl_op_args, types)},
		{"Input Strides", offsetof(tl_op_args, strides)},
		{"Concrete Inputs", offsetof(tl_op_args, concrete)},
	};
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		tl_column *column = tl__table_add(table, fields[i].name, "", TL_COL_VALUE);
		if (!column)
			return tl__nomem(err);
		column->type = TL_TYPE_LIST;
		for (size_t row = 0; row < table->rows; row++) {
			const tl_op_args *args = tl__op_args(a->store, events[row]);
			tl_str text = TL_STR_NONE;
			if (args)
				memcpy(&text, (const char *)args + fields[i].member, sizeof text);
			if (tl__analyzer_value(a, text, tuples, &column->val[row]) < 0)
				return tl__nomem(err);
		}
	}
	return 0;
}

int tl__event_recompute_column(const tl_analyzer *a, tl_table *table, const tl_row *events, tl_error *err)
{
	tl_column *column = tl__table_add(table, "is_recompute", "", TL_COL_BOOL);
	if (!column)
		return tl__nomem(err);
	for (size_t row = 0; row < table->rows; row++)
		column->b[row] = tl__tree_is_recompute(a->tree, events[row]);
	return 0;
}

/* ---- columns of kernels ---- */

int tl__kernel_list_add(tl_analyzer *a, tl_table *table, const tl_row *kernels, size_t n, tl_kernel_range *out)
{
	if (n > UINT32_MAX - table->kernels.n)
		return TL_ELIMIT;
	TL_TRY(TL_VEC_RESERVE(&table->kernels, n));
	*out = (tl_kernel_range){(uint32_t)table->kernels.n, (uint32_t)n};
	for (size_t i = 0; i < n; i++)
		table->kernels.v[table->kernels.n++] = tl__analyzer_kernel(a, kernels[i]);
	return 0;
}
