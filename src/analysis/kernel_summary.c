/* SPDX-License-Identifier: MIT */
/**
 * @file kernel_summary.c
 * The sheet kernel_summary (spec 02 section 9.2). Kernels may be most of a trace, so they are summed up one by one as
 * they are met, not gathered in a table first.
 */
#include <string.h>
#include <strings.h>

#include "analysis/aggregate.h"
#include "analysis/analyzer.h"
#include "analysis/columns.h"
#include "analysis/perf_cache.h"

__extension__ typedef __int128 wide;

/* What kernels of one row share. */
typedef struct key {
	tl_str category, op, name, stream_text;
	int64_t stream; /* INT64_MIN: none */
} key;

typedef struct group {
	key key;
	int64_t count; /* kernels; not all of them may have a usable time */
	int64_t timed; /* those that have one */
	wide sum;      /* ps */
	tl_time min, max;
} group;

typedef struct summary {
	tl_analyzer *a;
	tl_strings *strings; /* of the table */
	tl_str graph, runtime;
	bool any_op;          /* above any kernel: else there is no column for it */
	bool text_streams;    /* some stream is no number */
	tl_map categories;    /* position of an operation -> its category */
	tl_map index;         /* hash of a key -> index of its group */
	TL_VEC(group) groups; /* in order of their first kernels */
	size_t last;          /* group of the kernel before: mostly that of the next */
} summary;

/* ---- keys ---- */

static int category_of(summary *s, tl_pos pos, tl_str *out)
{
	tl_row event = s->a->tree->row[pos];
	tl_str first_kernel;
	uint32_t known = tl__map_get(&s->categories, pos);
	if (known != TL_MAP_NONE) {
		*out = known;
		return 0;
	}
	TL_TRY(tl__analyzer_direct_kernel(s->a, event, &first_kernel));
	TL_TRY(tl__perf_category_at(s->a, event, s->a->store->name[event], first_kernel, out));
	return tl__map_set(&s->categories, pos, *out);
}

static bool contains_ignoring_case(const char *text, const char *part)
{
	size_t n = strlen(part);
	for (; *text; text++)
		if (strncasecmp(text, part, n) == 0)
			return true;
	return false;
}

/*
 * Gives kernels without an operation a category after the name of their launch. Everything that is not a graph
 * launch by these two names becomes "runtime" ([02-21], kept as in the reference).
 */
static tl_str category_of_launch(const summary *s, tl_str launch)
{
	const char *text = tl__str(s->strings, launch);
	if (!*text)
		return TL_STR_NONE;
	return contains_ignoring_case(text, "cudagraph") || contains_ignoring_case(text, "graphlaunch") ? s->graph
													: s->runtime;
}

static int key_of(summary *s, tl_row row, key *out)
{
	const tl_tree *tree = s->a->tree;
	tl_kernel kernel = tl__analyzer_kernel(s->a, row);
	*out = (key){.category = TL_STR_NONE,
		     .op = TL_STR_NONE,
		     .name = kernel.name,
		     .stream_text = kernel.stream_text,
		     .stream = kernel.stream};
	tl_pos pos = tree->pos_of_row[row];
	if (pos == TL_POS_NONE)
		return 0;
	tl_pos op = tl__tree_cpu_op_above(tree, pos);
	if (op != TL_POS_NONE) {
		out->op = s->a->store->name[tree->row[op]];
		return category_of(s, op, &out->category);
	}
	tl_str launch = tree->parent[pos] == TL_POS_NONE ? TL_STR_NONE
							 : s->a->store->name[tree->row[tree->parent[pos]]];
	out->op = s->any_op ? launch : TL_STR_NONE;
	out->category = launch == TL_STR_NONE ? TL_STR_NONE : category_of_launch(s, launch);
	return 0;
}

static bool same_key(const key *a, const key *b)
{
	return a->category == b->category && a->op == b->op && a->name == b->name && a->stream == b->stream &&
	       a->stream_text == b->stream_text;
}

/* ---- groups ---- */

static int group_of(summary *s, const key *wanted, size_t *out)
{
	if (s->groups.n && same_key(wanted, &s->groups.v[s->last].key)) {
		*out = s->last;
		return 0;
	}
	uint64_t hash = tl__mix(tl__mix((uint64_t)wanted->category << 32 | wanted->op, wanted->name),
				tl__mix((uint64_t)wanted->stream, wanted->stream_text));
	/* the map compares 64 bits only, so on a collision the next hash is tried */
	for (;; hash = tl__mix(hash, 1)) {
		uint32_t found = tl__map_get(&s->index, hash);
		if (found != TL_MAP_NONE && !same_key(wanted, &s->groups.v[found].key))
			continue;
		*out = found;
		if (found != TL_MAP_NONE)
			return 0;
		*out = s->groups.n;
		TL_TRY(TL_VEC_PUSH(&s->groups, ((group){.key = *wanted, .min = INT64_MAX, .max = INT64_MIN})));
		return tl__map_set(&s->index, hash, (uint32_t)*out);
	}
}

static int add_kernel(summary *s, tl_row row)
{
	key wanted;
	TL_TRY(key_of(s, row, &wanted));
	TL_TRY(group_of(s, &wanted, &s->last));
	group *g = &s->groups.v[s->last];
	tl_time dur = s->a->store->dur[row];
	g->count++;
	if (dur == TL_TIME_NONE)
		return 0;
	g->timed++;
	g->sum += dur;
	g->min = dur < g->min ? dur : g->min;
	g->max = dur > g->max ? dur : g->max;
	return 0;
}

/* Which columns there will be: as in the reference's records, an operation that no kernel has is no column. */
static void look_at_kernels(summary *s, const tl_row *rows, size_t n)
{
	const tl_tree *tree = s->a->tree;
	for (size_t i = 0; i < n; i++) {
		tl_pos pos = tree->pos_of_row[rows[i]];
		if (pos != TL_POS_NONE && !s->any_op)
			s->any_op = tl__tree_cpu_op_above(tree, pos) != TL_POS_NONE;
		s->text_streams |= tl__analyzer_kernel(s->a, rows[i]).stream_text != TL_STR_NONE;
	}
}

static int gather(summary *s)
{
	tl_row *rows;
	size_t n;
	s->graph = tl__interns(s->strings, "graph");
	s->runtime = tl__interns(s->strings, "runtime");
	if (s->graph == TL_STR_FAIL || s->runtime == TL_STR_FAIL)
		return TL_ENOMEM;
	/* Copies and memsets are left out ([02-17], kept as in the reference). */
	TL_TRY(tl__analyzer_all_kernels(s->a, &rows, &n));
	look_at_kernels(s, rows, n);
	int code = 0;
	for (size_t i = 0; i < n && code == 0; i++)
		code = add_kernel(s, rows[i]);
	tl__free(rows);
	return code;
}

/* ---- the table ---- */

enum { CATEGORY, OP, NAME, STREAM, SUM, COUNT, MEAN, MIN, MAX, COLUMNS };

static int fill_stream(const summary *s, tl_table *table, size_t i)
{
	tl_column *column = &table->columns.v[STREAM];
	const key *k = &s->groups.v[i].key;
	char text[64];
	if (!s->text_streams) {
		column->i64[i] = k->stream;
		return k->stream == INT64_MIN ? tl__column_set_null(table, column, i) : 0;
	}
	if (k->stream_text != TL_STR_NONE) {
		column->str[i] = k->stream_text;
	} else if (k->stream != INT64_MIN) {
		tl__id_text(s->a->store, (tl_id)k->stream, text);
		column->str[i] = tl__table_str(table, text);
	}
	return column->str[i] == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int fill(const summary *s, tl_table *table)
{
	tl_column *c = table->columns.v;
	for (size_t i = 0; i < table->rows; i++) {
		const group *g = &s->groups.v[i];
		c[CATEGORY].str[i] = g->key.category;
		c[OP].str[i] = g->key.op;
		c[NAME].str[i] = g->key.name;
		TL_TRY(fill_stream(s, table, i));
		c[SUM].f64[i] = (double)g->sum / 1e6;
		c[COUNT].i64[i] = g->count;
		if (!g->timed)
			continue;
		c[MEAN].f64[i] = c[SUM].f64[i] / (double)g->timed;
		c[MIN].f64[i] = tl__us(g->min);
		c[MAX].f64[i] = tl__us(g->max);
	}
	return 0;
}

static int build(const summary *s, tl_table *table, tl_error *err)
{
	static const tl_column_spec columns[COLUMNS] = {
		[CATEGORY] = {"Parent op category", "", TL_COL_STRING},
		[OP] = {"Parent cpu_op", "", TL_COL_STRING},
		[NAME] = {"Kernel name", "", TL_COL_STRING},
		[STREAM] = {"Kernel stream", "", TL_COL_INT64},
		[SUM] = {"Kernel duration (µs)_sum", "µs", TL_COL_DOUBLE},
		[COUNT] = {"Kernel duration (µs)_count", "", TL_COL_INT64},
		[MEAN] = {"Kernel duration (µs)_mean", "µs", TL_COL_DOUBLE},
		[MIN] = {"Kernel duration (µs)_min", "µs", TL_COL_DOUBLE},
		[MAX] = {"Kernel duration (µs)_max", "µs", TL_COL_DOUBLE},
	};
	tl_column_spec specs[COLUMNS];
	wide total = 0;
	memcpy(specs, columns, sizeof specs);
	if (s->text_streams)
		specs[STREAM].storage = TL_COL_STRING;
	if (tl__add_columns(table, specs, COLUMNS) < 0 || fill(s, table) < 0)
		return tl__nomem(err);
	for (size_t i = 0; i < s->groups.n; i++)
		total += s->groups.v[i].sum;
	if (!s->any_op)
		tl__table_remove_column(table, OP);
	const char *sum = columns[SUM].name;
	TL_TRY(tl__add_percent_of(table, "Percent of kernels time (%)", sum, (double)total / 1e6, err));
	TL_TRY(tl__add_percent_of(table, "Percent of total time (%)", sum, tl__us(s->a->total_time), err));
	return tl__table_sort(table, &(tl_sort_key){sum, true}, 1, err);
}

int tl__kernel_summary(tl_table **out, tl_analyzer *a, tl_error *err)
{
	summary s = {.a = a, .strings = a->strings};
	tl_table *table = NULL;
	*out = NULL;
	int code = gather(&s) < 0 ? tl__nomem(err) : 0;
	if (code == 0) {
		table = tl__table_new("kernel_summary", a->strings, s.groups.n);
		code = table ? build(&s, table, err) : tl__nomem(err);
	}
	tl__map_free(&s.categories);
	tl__map_free(&s.index);
	TL_VEC_FREE(&s.groups);
	if (code < 0)
		tl_table_free(table);
	else
		*out = table;
	return code;
}
