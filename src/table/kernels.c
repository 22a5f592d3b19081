/* SPDX-License-Identifier: MIT */
/*
 * "summarise-kernels" and its short form (spec 02 section 1.5). Durations stay integer picoseconds
 * until a record is written, so sums are exact.
 */
#include <math.h>
#include <string.h>

#include "table/internal.h"
#include "util/format.h"
#include "util/sort.h"
#include "util/utf8.h"

__extension__ typedef __int128 wide;

/* ---- reading a list, be it kernels or records made elsewhere ---- */

static size_t list_length(const tl_column *column, size_t row)
{
	if (tl__column_is_null(column, row))
		return 0;
	return column->storage == TL_COL_KERNELS ? column->ker[row].count : tl__value_count(column->val[row]);
}

static const tl_kernel *kernel_at(const tl_table *table, const tl_column *column, size_t row, size_t i)
{
	return &table->kernels.v[column->ker[row].first + i];
}

/* Duration of item `i` in ps, TL_TIME_NONE when it has none. */
static int64_t duration_at(const tl_table *table, const tl_column *column, size_t row, size_t i)
{
	const tl_value *dur;
	if (column->storage == TL_COL_KERNELS)
		return kernel_at(table, column, row, i)->dur;
	dur = tl__value_get(tl__value_at(column->val[row], i), "dur");
	if (dur && dur->kind == TL_V_INT && dur->i > -INT64_MAX / TL_PS_PER_US && dur->i < INT64_MAX / TL_PS_PER_US)
		return dur->i * TL_PS_PER_US;
	if (dur && dur->kind == TL_V_DOUBLE && fabs(dur->d) < 9e12)
		return (int64_t)llround(dur->d * (double)TL_PS_PER_US);
	return TL_TIME_NONE;
}

/* ---- statistics of one position ---- */

typedef struct statistics {
	size_t count;
	double total, mean, median, deviation, min, max; /* microseconds */
} statistics;

static double us(int64_t ps)
{
	return (double)ps / (double)TL_PS_PER_US;
}

static statistics measure(int64_t *ps, int64_t *scratch, size_t n)
{
	statistics s = {.count = n};
	wide sum = 0;
	double plain = 0, squares = 0;

	if (!n)
		return s;
	for (size_t i = 0; i < n; i++) {
		sum += ps[i];
		plain += us(ps[i]);
	}
	tl__sort_i64(ps, scratch, n);
	double mean = (double)sum / (double)n;
	/* [02-10]: population deviation here, sample deviation in columns */
	for (size_t i = 0; i < n && ps[0] != ps[n - 1]; i++)
		squares += ((double)ps[i] - mean) * ((double)ps[i] - mean);
	s.total = (double)sum / (double)TL_PS_PER_US;
	/* as in the reference: the short form rounds this mean, and its last bit decides ties as in 4.115 */
	s.mean = plain / (double)n;
	s.median = n % 2 ? us(ps[n / 2]) : (double)((wide)ps[n / 2 - 1] + ps[n / 2]) / (2.0 * (double)TL_PS_PER_US);
	s.deviation = sqrt(squares / (double)n) / (double)TL_PS_PER_US;
	s.min = us(ps[0]);
	s.max = us(ps[n - 1]);
	return s;
}

/* ---- records ---- */

#define KEY(text) TL_VALUE_STRING(text, sizeof(text) - 1)

/* What a summary record keeps of the template: all pairs but dur, gpu_op_uid and call_stack [02-6]. */
static uint32_t put_template(const tl_table *table, const tl_column *column, size_t row, size_t i, tl_value *items)
{
	uint32_t n = 0;
	if (column->storage == TL_COL_KERNELS) {
		const tl_kernel *kernel = kernel_at(table, column, row, i);
		items[n++] = KEY("name");
		items[n++] = TL_VALUE_STRING(tl__str(table->strings, kernel->name),
					     tl__str_len(table->strings, kernel->name));
		items[n++] = KEY("stream");
		items[n++] = tl__kernel_stream(table, kernel);
		return n;
	}
	const tl_value *record = tl__value_at(column->val[row], i);
	for (uint32_t pair = 0; record->kind == TL_V_DICT && pair < record->n; pair++) {
		const char *key = tl__value_text(&record->items[2 * pair]);
		if (key && (!strcmp(key, "dur") || !strcmp(key, "gpu_op_uid") || !strcmp(key, "call_stack")))
			continue;
		items[n++] = record->items[2 * pair];
		items[n++] = record->items[2 * pair + 1];
	}
	return n;
}

static size_t template_room(const tl_column *column, size_t row, size_t i)
{
	const tl_value *record = column->storage == TL_COL_VALUE ? tl__value_at(column->val[row], i) : NULL;
	return record && record->kind == TL_V_DICT ? 2 * (size_t)record->n : 4;
}

/* `events` counts all kernels; the statistics are those of kernels with a usable time. */
static uint32_t put_statistics(tl_value *items, const statistics *s, size_t events)
{
	const tl_value none = TL_VALUE_NONE;
	uint32_t n = 0;
	items[n++] = KEY("count");
	items[n++] = TL_VALUE_INT((int64_t)events);
	items[n++] = KEY("total_duration_us");
	items[n++] = TL_VALUE_DOUBLE(s->total);
	items[n++] = KEY("mean_duration_us");
	items[n++] = s->count ? TL_VALUE_DOUBLE(s->mean) : none;
	items[n++] = KEY("median_duration_us");
	items[n++] = s->count ? TL_VALUE_DOUBLE(s->median) : none;
	items[n++] = KEY("std_dev_duration_us");
	items[n++] = s->count ? TL_VALUE_DOUBLE(s->deviation) : none;
	items[n++] = KEY("min_duration_us");
	items[n++] = s->count ? TL_VALUE_DOUBLE(s->min) : none;
	items[n++] = KEY("max_duration_us");
	items[n++] = s->count ? TL_VALUE_DOUBLE(s->max) : none;
	return n;
}

enum { STATISTICS_ITEMS = 14 };

/* ---- summarising ---- */

typedef struct summary {
	const tl_table *table;
	const tl_column *column;
	const uint32_t *rows; /* of the group, lists of the template's length only */
	size_t n;
	int64_t *durations, *scratch; /* room for n */
} summary;

static int summary_record(tl_table *out, const summary *s, size_t i, tl_value *record)
{
	size_t found = 0;
	for (size_t r = 0; r < s->n; r++) {
		int64_t duration = duration_at(s->table, s->column, s->rows[r], i);
		if (duration != TL_TIME_NONE)
			s->durations[found++] = duration;
	}
	statistics measured = measure(s->durations, s->scratch, found);
	size_t room = template_room(s->column, s->rows[0], i) + STATISTICS_ITEMS;
	tl_value *items = tl__arena_alloc(&out->arena, room * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	uint32_t n = put_template(s->table, s->column, s->rows[0], i, items);
	n += put_statistics(items + n, &measured, s->n);
	*record = (tl_value){.kind = TL_V_DICT, .n = n / 2, .items = items};
	return 0;
}

static bool record_less(const void *context, uint32_t a, uint32_t b)
{
	const tl_value *records = context;
	double x = tl__value_get(&records[a], "total_duration_us")->d;
	double y = tl__value_get(&records[b], "total_duration_us")->d;
	if (x < y || x > y)
		return x < y;
	const tl_value *p = tl__value_get(&records[a], "name"), *q = tl__value_get(&records[b], "name");
	if (!tl__value_text(p) || !tl__value_text(q))
		return !tl__value_text(p) && tl__value_text(q);
	int order = memcmp(p->s, q->s, p->n < q->n ? p->n : q->n);
	return order ? order < 0 : p->n < q->n;
}

/* The call stack of item `i` of the template: its id in the pool of the table. */
static tl_value stack_id(const summary *s, size_t i)
{
	if (s->column->storage != TL_COL_KERNELS)
		return TL_VALUE_INT(TL_STR_NONE);
	return TL_VALUE_INT(kernel_at(s->table, s->column, s->rows[0], i)->call_stack);
}

/*
 * Ascending by (total, name); [02-11]: launch order is lost. `stacks` (may be NULL): the call
 * stacks in the same order.
 */
static int sort_records(tl_table *out, const summary *s, const tl_value *records, size_t n, const tl_value **cell,
			const tl_value **stacks)
{
	uint32_t *order = tl__malloc(n * sizeof *order);
	tl_value *sorted = tl__arena_alloc(&out->arena, n * sizeof *sorted);
	tl_value *ids = stacks ? tl__arena_alloc(&out->arena, n * sizeof *ids) : NULL;
	bool ready = order && sorted && (ids || !stacks);
	for (uint32_t i = 0; ready && i < n; i++)
		order[i] = i;
	if (ready && tl__sort(order, n, record_less, records) == 0) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = records[order[i]];
		for (size_t i = 0; stacks && i < n; i++)
			ids[i] = stack_id(s, order[i]);
		*cell = tl__table_value(out, (tl_value){.kind = TL_V_LIST, .n = (uint32_t)n, .items = sorted});
		if (stacks)
			*stacks = tl__table_value(out, (tl_value){.kind = TL_V_LIST, .n = (uint32_t)n, .items = ids});
	} else {
		ready = false;
	}
	tl__free(order);
	return ready && *cell && (!stacks || *stacks) ? 0 : TL_ENOMEM;
}

static int summarize(tl_table *out, const summary *s, const tl_value **cell, const tl_value **stacks)
{
	size_t n = s->n ? list_length(s->column, s->rows[0]) : 0;
	if (!n) {
		*cell = tl__table_list(out, NULL, 0, false);
		if (stacks)
			*stacks = *cell;
		return *cell ? 0 : TL_ENOMEM;
	}
	tl_value *records = tl__malloc(n * sizeof *records);
	int code = records ? 0 : TL_ENOMEM;
	for (size_t i = 0; i < n && code == 0; i++)
		code = summary_record(out, s, i, &records[i]);
	if (code == 0)
		code = sort_records(out, s, records, n, cell, stacks);
	tl__free(records);
	return code;
}

int tl__table_summarize_kernels(tl_table *out, const char *name, const tl_groups *groups, const tl_table *table,
				const char *source, tl_error *err)
{
	return tl__table_summarize_kernels_and_stacks(out, name, NULL, groups, table, source, err);
}

int tl__table_summarize_kernels_and_stacks(tl_table *out, const char *name, const char *stacks_name,
					   const tl_groups *groups, const tl_table *table, const char *source,
					   tl_error *err)
{
	const tl_column *found = tl__table_column(table, source);
	if (!found)
		return 0;
	const tl_column copy = *found, *column = &copy; /* adding a column to the same table moves it */
	if (column->storage != TL_COL_KERNELS && column->storage != TL_COL_VALUE)
		return tl__fail(err, TL_EINVAL, "column '%s' holds no kernel lists", column->name);
	if (out->rows != groups->n)
		return tl__fail(err, TL_EINVAL, "table '%s' has %zu rows for %zu groups", out->name, out->rows,
				groups->n);

	size_t n_rows = groups->start[groups->n];
	bool added = tl__table_add(out, name, "", TL_COL_VALUE) &&
		     (!stacks_name || tl__table_add(out, stacks_name, "", TL_COL_VALUE));
	tl_column *to = added ? tl__table_column(out, name) : NULL;
	tl_column *stacks = added && stacks_name ? tl__table_column(out, stacks_name) : NULL;
	uint32_t *kept = tl__malloc(n_rows * sizeof *kept);
	int64_t *durations = tl__malloc(n_rows * sizeof *durations), *scratch = tl__malloc(n_rows * sizeof *scratch);
	int code = to && kept && durations && scratch ? 0 : TL_ENOMEM;
	for (size_t g = 0; g < groups->n && code == 0; g++) {
		summary s = {table, column, kept, 0, durations, scratch};
		size_t length = 0;
		for (uint32_t i = groups->start[g]; i < groups->start[g + 1]; i++) {
			size_t own = list_length(column, groups->rows[i]);
			if (!length)
				length = own; /* the first list that is not empty is the template */
			/* [02-9]: lists of another length are left out */
			if (own && own == length)
				kept[s.n++] = groups->rows[i];
		}
		code = summarize(out, &s, &to->val[g], stacks ? &stacks->val[g] : NULL);
	}
	tl__free(kept);
	tl__free(durations);
	tl__free(scratch);
	return code < 0 ? tl__nomem(err) : 0;
}

/* ---- the short form ---- */

enum { SHOWN_CHARACTERS = 64 };

static int short_name(tl_table *table, const tl_value *name, tl_value *out)
{
	*out = name ? *name : TL_VALUE_NONE;
	if (!tl__value_text(name))
		return 0;
	size_t shown = tl__utf8_prefix(name->s, name->n, SHOWN_CHARACTERS);
	if (shown == name->n)
		return 0;
	char *text = tl__arena_alloc(&table->arena, shown + 4);
	if (!text)
		return TL_ENOMEM;
	memcpy(text, name->s, shown);
	memcpy(text + shown, "...", 4);
	*out = TL_VALUE_STRING(text, shown + 3);
	return 0;
}

static int short_record(tl_table *table, const tl_value *record, tl_value *out)
{
	const tl_value *stream = tl__value_get(record, "stream"), *mean = tl__value_get(record, "mean_duration_us");
	tl_value *items = tl__arena_alloc(&table->arena, 6 * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	items[0] = KEY("name");
	TL_TRY(short_name(table, tl__value_get(record, "name"), &items[1]));
	items[2] = KEY("stream");
	items[3] = stream ? *stream : TL_VALUE_NONE;
	items[4] = KEY("mean_duration_us");
	items[5] = !mean                       ? TL_VALUE_INT(0)
		   : mean->kind == TL_V_DOUBLE ? TL_VALUE_DOUBLE(tl__round_as_numpy(mean->d))
					       : *mean;
	*out = (tl_value){.kind = TL_V_DICT, .n = 3, .items = items};
	return 0;
}

static int short_list(tl_table *table, const tl_value *list, const tl_value **cell)
{
	size_t n = tl__value_count(list);
	if (!n)
		return 0;
	tl_value *records = tl__arena_alloc(&table->arena, n * sizeof *records);
	if (!records)
		return TL_ENOMEM;
	for (size_t i = 0; i < n; i++)
		TL_TRY(short_record(table, &list->items[i], &records[i]));
	*cell = tl__table_value(table, (tl_value){.kind = TL_V_LIST, .n = (uint32_t)n, .items = records});
	return *cell ? 0 : TL_ENOMEM;
}

int tl__table_add_truncated(tl_table *table, const char *source, const char *trunc_name, tl_error *err)
{
	ptrdiff_t at = tl_table_find_column(table, source);
	if (at < 0)
		return 0;
	if (table->columns.v[at].storage != TL_COL_VALUE)
		return tl__fail(err, TL_EINVAL, "column '%s' is no kernel summary", source);
	tl_column *to = tl__table_add(table, trunc_name, "", TL_COL_VALUE);
	if (!to)
		return tl__nomem(err);
	const tl_column *from = &table->columns.v[at];
	for (size_t row = 0; row < table->rows; row++)
		if (short_list(table, from->val[row], &to->val[row]) < 0)
			return tl__nomem(err);
	tl__table_move_column(table, table->columns.n - 1, (size_t)at + 1);
	return 0;
}
