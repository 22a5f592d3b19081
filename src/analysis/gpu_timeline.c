/* SPDX-License-Identifier: MIT */
/** @file gpu_timeline.c Sheet gpu_timeline: what the GPU did, in time and percent of its span (spec 02 section 7.1). */
#include "analysis/analyzer.h"
#include "analysis/columns.h"

typedef struct timeline_row {
	const char *type;
	tl_time time;
} timeline_row;

static size_t timeline_rows(timeline_row *out, const tl_breakdown *b, bool with_threshold)
{
	size_t n = 0;
	out[n++] = (timeline_row){"computation_time", b->computation};
	out[n++] = (timeline_row){"exposed_comm_time", b->exposed_comm};
	out[n++] = (timeline_row){"exposed_memcpy_time", b->exposed_memcpy};
	out[n++] = (timeline_row){"busy_time", b->busy};
	if (with_threshold) {
		out[n++] = (timeline_row){"micro_idle_time", b->micro_idle};
		out[n++] = (timeline_row){"macro_idle_time", b->macro_idle};
	} else {
		out[n++] = (timeline_row){"idle_time", b->idle};
	}
	out[n++] = (timeline_row){"total_time", b->total};
	out[n++] = (timeline_row){"total_comm_time", b->total_comm};
	out[n++] = (timeline_row){"total_memcpy_time", b->total_memcpy};
	return n;
}

/* One part of the timeline, to be shown alone. */
typedef struct block {
	timeline_row rows[9];
	size_t n;
	tl_time total;
	bool recompute;
} block;

static int measure(block *out, const tl_analyzer *a, tl_timeline_part part, const double *micro_idle_us, bool *empty,
		   tl_error *err)
{
	tl_breakdown breakdown = a->breakdown;
	if (micro_idle_us || part != TL_TIMELINE_ALL)
		TL_TRY(tl__analyzer_breakdown(&breakdown, a, part, micro_idle_us, err));
	out->n = timeline_rows(out->rows, &breakdown, micro_idle_us != NULL);
	out->total = breakdown.total;
	out->recompute = part == TL_TIMELINE_RECOMPUTE;
	*empty = breakdown.events == 0;
	return 0;
}

/*
 * With recompute detection two blocks, each over its own span ([01-G5], kept as in the reference): the
 * numbers of both do not add up to those of one timeline.
 */
static int measure_parts(block out[2], size_t *n, const tl_analyzer *a, const double *micro_idle_us, tl_error *err)
{
	bool empty;
	*n = 1;
	if (!a->options.detect_recompute)
		return measure(&out[0], a, TL_TIMELINE_ALL, micro_idle_us, &empty, err);
	TL_TRY(measure(&out[0], a, TL_TIMELINE_RECOMPUTE, micro_idle_us, &empty, err));
	if (!empty)
		out[1] = out[0];
	bool recompute = !empty;
	TL_TRY(measure(&out[0], a, TL_TIMELINE_FIRST_RUN, micro_idle_us, &empty, err));
	if (recompute && empty)
		out[0] = out[1];
	*n = recompute && !empty ? 2 : 1;
	return 0;
}

static int fill_block(tl_table *table, const block *b, size_t first)
{
	tl_column *c = table->columns.v;
	for (size_t i = 0; i < b->n; i++) {
		size_t row = first + i;
		c[0].str[row] = tl__table_str(table, b->rows[i].type);
		if (c[0].str[row] == TL_STR_FAIL)
			return TL_ENOMEM;
		c[1].f64[row] = (double)b->rows[i].time / 1e9;
		/* No time at all: 0, not NaN [01-G7]. */
		c[2].f64[row] = b->total > 0 ? (double)b->rows[i].time / (double)b->total * 100 : 0;
		if (table->columns.n > 3)
			c[3].b[row] = b->recompute;
	}
	return 0;
}

static int fill(tl_table *table, const block *blocks, size_t n, bool recompute)
{
	static const tl_column_spec columns[] = {
		{"type", "", TL_COL_STRING},
		{"time ms", "ms", TL_COL_DOUBLE},
		{"percent", "%", TL_COL_DOUBLE},
		{"is_recompute", "", TL_COL_BOOL},
	};
	TL_TRY(tl__add_columns(table, columns, recompute ? 4 : 3));
	TL_TRY(fill_block(table, &blocks[0], 0));
	return n > 1 ? fill_block(table, &blocks[1], blocks[0].n) : 0;
}

int tl__gpu_timeline(tl_table **out, tl_analyzer *a, const double *micro_idle_us, tl_error *err)
{
	block blocks[2];
	size_t n;
	*out = NULL;
	TL_TRY(measure_parts(blocks, &n, a, micro_idle_us, err));
	tl_table *table = tl__table_new("gpu_timeline", a->strings, n * blocks[0].n);
	if (!table || fill(table, blocks, n, a->options.detect_recompute) < 0) {
		tl_table_free(table);
		return tl__nomem(err);
	}
	*out = table;
	return 0;
}

int tl_breakdown_table(tl_table **out, const tl_breakdown *breakdown, bool with_threshold, tl_error *err)
{
	*out = NULL;
	if (!breakdown)
		return tl__fail(err, TL_EINVAL, "a breakdown is needed");
	block b = {.total = breakdown->total};
	b.n = timeline_rows(b.rows, breakdown, with_threshold);
	tl_table *table = tl__table_new("gpu_timeline", NULL, b.n);
	if (!table || fill(table, &b, 1, false) < 0) {
		tl_table_free(table);
		return tl__nomem(err);
	}
	*out = table;
	return 0;
}
