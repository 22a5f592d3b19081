/* SPDX-License-Identifier: MIT */
/** @file overlap.c Overlaps of operations: found once, summed by the name of what overlaps. */
#include "analysis/overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/aggregate.h"
#include "analysis/order.h"
#include "timeline/overlap.h"
#include "tree/navigate.h"
#include "util/format.h"
#include "util/sort.h"

__extension__ typedef __int128 wide;

/* What overlaps the kernels of one operation under one name. */
typedef struct by_name {
	tl_str name;
	tl_row first;
	size_t pairs;
	wide shared, duration; /* sums over the pairs, in ps */
} by_name;

/* A set of names in the order in which it was first met. */
typedef struct name_set {
	const tl_value *list; /* NULL: not met */
	const tl_str *ids;    /* the same */
} name_set;

struct tl_overlap_cache {
	tl_overlap_index *index;
	tl_pos *operation;      /* of each node of the tree: nearest operation above */
	tl_overlap *launchers;  /* of each launcher */
	tl_strings *sets;       /* sorted name ids, as bytes; */
	TL_VEC(name_set) lists; /* ... and the list of names that stands for each, by id of the set */

	/* of the operation at hand */
	tl_overlap_rows found;
	tl_interval_buf intervals;
	TL_VEC(by_name) names, ordered;
	tl_map name_index; /* name -> index in names, valid when it is below names.n and of that name */
	TL_VEC(tl_str) set;
};

void tl__overlap_cache_free(struct tl_overlap_cache *c)
{
	if (!c)
		return;
	tl__overlap_index_free(c->index);
	tl__free(c->operation);
	tl__free(c->launchers);
	tl__strings_unref(c->sets);
	TL_VEC_FREE(&c->lists);
	TL_VEC_FREE(&c->found);
	TL_VEC_FREE(&c->intervals);
	TL_VEC_FREE(&c->names);
	TL_VEC_FREE(&c->ordered);
	tl__map_free(&c->name_index);
	TL_VEC_FREE(&c->set);
	tl__free(c);
}

/* ---- the whole trace ---- */

static uint32_t owner_of(const tl_analyzer *a, const struct tl_overlap_cache *c, tl_row gpu_event)
{
	tl_pos pos = a->tree->pos_of_row[gpu_event];
	tl_pos operation = pos == TL_POS_NONE ? TL_POS_NONE : c->operation[pos];
	return operation == TL_POS_NONE ? TL_OVERLAP_NO_OWNER : operation;
}

static int index_events(const tl_analyzer *a, struct tl_overlap_cache *c)
{
	tl_row *rows;
	size_t n;
	c->operation = tl__nearest_above(a->tree, tl__is_operation);
	if (!c->operation)
		return TL_ENOMEM;
	TL_TRY(tl__analyzer_timeline_rows(a, TL_TIMELINE_ALL, &rows, &n));
	int code = tl__sort(rows, n, tl__gpu_event_before, a->tree);
	uint32_t *owners = tl__malloc((n + 1) * sizeof *owners);
	if (code == 0 && !owners)
		code = TL_ENOMEM;
	for (size_t i = 0; i < n && code == 0; i++)
		owners[i] = owner_of(a, c, rows[i]);
	if (code == 0)
		code = tl__overlap_index_new(&c->index, a->store, rows, owners, n);
	tl__free(owners);
	tl__free(rows);
	return code;
}

/* ---- one operation ---- */

static int by_name_of(struct tl_overlap_cache *c, tl_str name, tl_row first, by_name **out)
{
	uint32_t at = tl__map_get(&c->name_index, name);
	if (at >= c->names.n || c->names.v[at].name != name) { /* also when it is from another operation */
		at = (uint32_t)c->names.n;
		TL_TRY(tl__map_set(&c->name_index, name, at));
		TL_TRY(TL_VEC_PUSH(&c->names, ((by_name){.name = name, .first = first})));
	}
	*out = &c->names.v[at];
	return 0;
}

/* Adds what overlaps one kernel to c->names; *covered grows by the part of the kernel that is overlapped. */
static int add_kernel(const tl_analyzer *a, struct tl_overlap_cache *c, tl_row kernel, wide *covered)
{
	const tl_store *s = a->store;
	TL_TRY(tl__overlap_find(&c->found, c->index, s, kernel, owner_of(a, c, kernel)));
	c->intervals.n = 0;
	TL_TRY(TL_VEC_RESERVE(&c->intervals, c->found.n));
	for (size_t i = 0; i < c->found.n; i++) {
		tl_row other = c->found.v[i];
		tl_time start = s->start[other] > s->start[kernel] ? s->start[other] : s->start[kernel];
		tl_time end = tl__end(s, other) < tl__end(s, kernel) ? tl__end(s, other) : tl__end(s, kernel);
		by_name *sum;
		TL_TRY(by_name_of(c, s->name[other], other, &sum));
		sum->pairs++;
		sum->shared += end - start;
		sum->duration += s->dur[other];
		c->intervals.v[c->intervals.n++] = (tl_interval){start, end};
	}
	size_t n = tl__intervals_merge(c->intervals.v, c->intervals.n);
	*covered += tl__intervals_length(c->intervals.v, n);
	return 0;
}

#define KEY(text) TL_VALUE_STRING(text, sizeof(text) - 1)

static tl_value name_value(const tl_analyzer *a, tl_str name)
{
	return TL_VALUE_STRING(tl__str(a->strings, name), tl__str_len(a->strings, name));
}

static tl_value stream_value(const tl_analyzer *a, tl_row gpu_event)
{
	tl_kernel kernel = tl__analyzer_kernel(a, gpu_event);
	if (kernel.stream_text != TL_STR_NONE)
		return name_value(a, kernel.stream_text);
	return kernel.stream == INT64_MIN ? TL_VALUE_NONE : TL_VALUE_INT(kernel.stream);
}

static const tl_value *list_of(tl_analyzer *a, tl_value *items, size_t n)
{
	tl_value *list = tl__arena_alloc(&a->arena, sizeof *list);
	if (list)
		*list = (tl_value){.kind = TL_V_LIST, .n = (uint32_t)n, .items = items};
	return list;
}

static const tl_value *detail_list(tl_analyzer *a, const struct tl_overlap_cache *c, tl_time busy)
{
	enum { PAIRS = 4 };
	size_t n = c->names.n;
	tl_value *records = tl__arena_alloc(&a->arena, n * sizeof *records);
	tl_value *items = tl__arena_alloc(&a->arena, n * 2 * PAIRS * sizeof *items);
	if (!records || !items)
		return NULL;
	for (size_t i = 0; i < n; i++, items += 2 * PAIRS) {
		const by_name *sum = &c->names.v[i];
		double pairs = (double)sum->pairs;
		double share = busy > 0 ? (double)sum->shared / (double)busy / pairs : 0;
		items[0] = KEY("name");
		items[1] = name_value(a, sum->name);
		items[2] = KEY("dur");
		items[3] = TL_VALUE_DOUBLE((double)sum->duration / 1e6 / pairs);
		items[4] = KEY("stream");
		items[5] = stream_value(a, sum->first);
		items[6] = KEY("overlap_pct");
		items[7] = TL_VALUE_DOUBLE(tl__round(share, 2));
		records[i] = (tl_value){.kind = TL_V_DICT, .n = PAIRS, .items = items};
	}
	return list_of(a, records, n);
}

static int compare_strings(const void *left, const void *right)
{
	const tl_str *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

static int new_set(tl_analyzer *a, const struct tl_overlap_cache *c, name_set *out)
{
	size_t n = c->names.n;
	tl_value *items = tl__arena_alloc(&a->arena, n * sizeof *items);
	tl_str *ids = tl__arena_alloc(&a->arena, n * sizeof *ids);
	if (!items || !ids)
		return TL_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ids[i] = c->names.v[i].name;
		items[i] = name_value(a, ids[i]);
	}
	*out = (name_set){list_of(a, items, n), ids};
	return out->list ? 0 : TL_ENOMEM;
}

/*
 * The names that were met. The same names in another order are the same key of a summary [02-8]: the
 * order that came first stands for all of one set.
 */
static int set_of_names(tl_analyzer *a, struct tl_overlap_cache *c, const name_set **out)
{
	size_t n = c->names.n;
	c->set.n = 0;
	TL_TRY(TL_VEC_RESERVE(&c->set, n));
	for (size_t i = 0; i < n; i++)
		c->set.v[c->set.n++] = c->names.v[i].name;
	qsort(c->set.v, n, sizeof *c->set.v, compare_strings);
	tl_str set = tl__intern(c->sets, (const char *)c->set.v, n * sizeof *c->set.v);
	if (set == TL_STR_FAIL)
		return TL_ENOMEM;
	while (c->lists.n <= set)
		TL_TRY(TL_VEC_PUSH(&c->lists, ((name_set){NULL, NULL})));
	if (!c->lists.v[set].list)
		TL_TRY(new_set(a, c, &c->lists.v[set]));
	*out = &c->lists.v[set];
	return 0;
}

/* Puts c->names into the order of its set: summaries take the details of several rows together place by place. */
static int order_names(struct tl_overlap_cache *c, const name_set *set)
{
	c->ordered.n = 0;
	TL_TRY(TL_VEC_RESERVE(&c->ordered, c->names.n));
	for (size_t i = 0; i < c->names.n; i++)
		c->ordered.v[c->ordered.n++] = c->names.v[tl__map_get(&c->name_index, set->ids[i])];
	memcpy(c->names.v, c->ordered.v, c->names.n * sizeof *c->names.v);
	return 0;
}

static int overlap_of(tl_analyzer *a, struct tl_overlap_cache *c, const tl_row *gpu, size_t n, tl_overlap *out)
{
	wide covered = 0;
	tl_time busy;
	*out = TL_OVERLAP_NONE;
	c->names.n = 0;
	for (size_t i = 0; i < n; i++)
		TL_TRY(add_kernel(a, c, gpu[i], &covered));
	if (!c->names.n)
		return 0;
	TL_TRY(tl__analyzer_busy(a, gpu, n, &busy));
	out->pct = busy > 0 ? (double)covered / (double)busy : 0;
	const name_set *set;
	TL_TRY(set_of_names(a, c, &set));
	TL_TRY(order_names(c, set));
	out->names = set->list;
	out->details = detail_list(a, c, busy);
	return out->details ? 0 : TL_ENOMEM;
}

/* Launchers come first, by start, whoever asks: so the order of names in a set does not depend on who does. */
static int prepare(tl_analyzer *a, struct tl_overlap_cache *c)
{
	const tl_launcher_list *list;
	TL_TRY(index_events(a, c));
	TL_TRY(tl__analyzer_launchers(a, &list));
	c->sets = tl__strings_new(NULL);
	c->launchers = tl__malloc((list->n + 1) * sizeof *c->launchers);
	if (!c->sets || !c->launchers)
		return TL_ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		TL_TRY(overlap_of(a, c, list->kernels + list->first[i], list->first[i + 1] - list->first[i],
				  &c->launchers[i]));
	return 0;
}

static int make_cache(tl_analyzer *a)
{
	if (a->overlap)
		return 0;
	struct tl_overlap_cache *c = tl__calloc(1, sizeof *c);
	int code = c ? prepare(a, c) : TL_ENOMEM;
	if (code < 0)
		tl__overlap_cache_free(c);
	else
		a->overlap = c;
	return code;
}

int tl__analyzer_overlapping(tl_analyzer *a, tl_row gpu_event, const tl_row **out, size_t *n)
{
	bool linked = a->tree->pos_of_row[gpu_event] != TL_POS_NONE;
	*out = NULL;
	*n = 0;
	if (!tl__kind_is_gpu(a->store->kind[gpu_event]) || (!linked && !a->options.include_unlinked))
		return 0;
	TL_TRY(make_cache(a));
	struct tl_overlap_cache *c = a->overlap;
	TL_TRY(tl__overlap_find(&c->found, c->index, a->store, gpu_event, owner_of(a, c, gpu_event)));
	*out = c->found.v;
	*n = c->found.n;
	return 0;
}

int tl__analyzer_overlap(tl_analyzer *a, tl_row event, const tl_row *gpu, size_t n, tl_overlap *out)
{
	const tl_launcher_list *list;
	*out = TL_OVERLAP_NONE;
	TL_TRY(make_cache(a));
	TL_TRY(tl__analyzer_launchers(a, &list));
	tl_pos pos = event < a->store->n ? a->tree->pos_of_row[event] : TL_POS_NONE;
	uint32_t launcher = pos == TL_POS_NONE ? TL_MAP_NONE : tl__map_get(&list->index, pos);
	if (launcher == TL_MAP_NONE)
		return overlap_of(a, a->overlap, gpu, n, out);
	*out = a->overlap->launchers[launcher];
	return 0;
}

int tl__analyzer_launcher_overlaps(tl_analyzer *a, tl_overlap *out)
{
	const tl_launcher_list *list;
	TL_TRY(make_cache(a));
	TL_TRY(tl__analyzer_launchers(a, &list));
	if (list->n)
		memcpy(out, a->overlap->launchers, list->n * sizeof *out);
	return 0;
}

/* ---- columns ---- */

#define DETAILS "overlapping_kernels_details"
#define PCT "overlap_pct"

static const tl_overlap *at(const tl_overlap *first, size_t stride, size_t row)
{
	return (const tl_overlap *)(const void *)((const char *)first + stride * row);
}

int tl__overlap_columns(tl_table *table, const tl_overlap *first, size_t stride, tl_error *err)
{
	size_t base = table->columns.n;
	if (!tl__table_add(table, TL_OVERLAP_NAMES, "", TL_COL_VALUE) ||
	    !tl__table_add(table, DETAILS, "", TL_COL_VALUE) || !tl__table_add(table, PCT, "", TL_COL_DOUBLE))
		return tl__nomem(err);
	tl_column *c = table->columns.v + base;
	c[0].type = c[1].type = TL_TYPE_LIST;
	for (size_t row = 0; row < table->rows; row++) {
		const tl_overlap *cells = at(first, stride, row);
		c[0].val[row] = cells->names;
		c[1].val[row] = cells->details;
		c[2].f64[row] = cells->pct;
	}
	return 0;
}

int tl__overlap_summary(tl_table *out, const char *details_name, const tl_groups *groups, const tl_table *table,
			tl_error *err)
{
	static const struct {
		const char *name;
		tl_aggregate how;
	} stats[] = {{PCT "_mean", TL_AGG_MEAN},
		     {PCT "_median", TL_AGG_MEDIAN},
		     {PCT "_std", TL_AGG_STD},
		     {PCT "_min", TL_AGG_MIN},
		     {PCT "_max", TL_AGG_MAX}};
	enum { MEAN, STD = 2 };

	TL_TRY(tl__table_summarize_kernels(out, details_name, groups, table, DETAILS, err));
	TL_TRY(tl__table_add_truncated(out, details_name, "trunc_" DETAILS, err));
	size_t base = out->columns.n;
	for (size_t i = 0; i < sizeof stats / sizeof *stats; i++)
		TL_TRY(tl__table_aggregate(out, stats[i].name, groups, table, PCT, stats[i].how, err));
	if (out->columns.n == base)
		return 0;
	for (size_t row = 0; row < out->rows; row++) {
		tl_column *c = out->columns.v + base;
		if (isnan(c[STD].f64[row]) && !isnan(c[MEAN].f64[row]))
			c[STD].f64[row] = 0;
		for (size_t i = 0; i < sizeof stats / sizeof *stats; i++)
			c[i].f64[row] = tl__round_as_numpy(c[i].f64[row]);
	}
	return 0;
}

/* Sum of `time` and first row of the group that each row is in, as two columns at the end of the table. */
static int add_group_columns(tl_table *table, const tl_groups *groups, const char *time, tl_error *err)
{
	const tl_column *source = tl__table_column(table, time);
	wide *sums = tl__calloc(groups->n + 1, sizeof *sums); /* in ps, so that the order of rows cannot matter */
	size_t base = table->columns.n;
	if (sums && source && tl__table_add(table, "group time", "", TL_COL_DOUBLE) &&
	    tl__table_add(table, "group first", "", TL_COL_INT64)) {
		source = tl__table_column(table, time);
		for (size_t row = 0; row < table->rows; row++)
			if (!isnan(source->f64[row]))
				sums[groups->of_row[row]] += llround(source->f64[row] * 1e6);
		for (size_t row = 0; row < table->rows; row++) {
			table->columns.v[base].f64[row] = (double)sums[groups->of_row[row]] / 1e6;
			table->columns.v[base + 1].i64[row] = groups->first[groups->of_row[row]];
		}
		tl__free(sums);
		return 0;
	}
	tl__free(sums);
	return tl__nomem(err);
}

int tl__overlap_sort(tl_table *table, const char *const *keys, size_t n_keys, const char *time, tl_error *err)
{
	tl_groups groups;
	size_t base = table->columns.n;
	TL_TRY(tl__table_group(&groups, table, keys, n_keys, true, err));
	int code = add_group_columns(table, &groups, time, err);
	tl__groups_free(&groups);
	TL_TRY(code);
	const tl_sort_key order[] = {{"group time", true}, {"group first", false}, {time, true}};
	TL_TRY(tl__table_sort(table, order, 3, err));
	tl__table_remove_column(table, base + 1);
	tl__table_remove_column(table, base);
	return 0;
}
