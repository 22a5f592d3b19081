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

static int measure(tl_breakdown *out, const tl_analyzer *a, const double *micro_idle_us, tl_error *err)
{
	if (!micro_idle_us) {
		*out = a->breakdown;
		return 0;
	}
	tl_row *rows;
	size_t n;
	if (tl__analyzer_timeline_rows(a, &rows, &n) < 0)
		return tl__nomem(err);
	int code = tl__breakdown(out, a->store, rows, n, micro_idle_us, err);
	tl__free(rows);
	return code;
}

static int fill(tl_table *table, const timeline_row *rows, size_t n, tl_time total)
{
	static const tl_column_spec columns[] = {
		{"type", "", TL_COL_STRING},
		{"time ms", "ms", TL_COL_DOUBLE},
		{"percent", "%", TL_COL_DOUBLE},
	};
	TL_TRY(tl__add_columns(table, columns, 3));
	tl_column *c = table->columns.v;
	for (size_t i = 0; i < n; i++) {
		c[0].str[i] = tl__table_str(table, rows[i].type);
		if (c[0].str[i] == TL_STR_FAIL)
			return TL_ENOMEM;
		c[1].f64[i] = (double)rows[i].time / 1e9;
		/* No time at all: 0, not NaN (fault G7). */
		c[2].f64[i] = total > 0 ? (double)rows[i].time / (double)total * 100 : 0;
	}
	return 0;
}

int tl__gpu_timeline(tl_table **out, tl_analyzer *a, const double *micro_idle_us, tl_error *err)
{
	tl_breakdown breakdown;
	timeline_row rows[9];
	*out = NULL;
	TL_TRY(measure(&breakdown, a, micro_idle_us, err));
	size_t n = timeline_rows(rows, &breakdown, micro_idle_us != NULL);
	tl_table *table = tl__table_new("gpu_timeline", a->strings, n);
	if (!table || fill(table, rows, n, breakdown.total) < 0) {
		tl_table_free(table);
		return tl__nomem(err);
	}
	*out = table;
	return 0;
}
