/* SPDX-License-Identifier: MIT */
#include "analysis/statistics.h"

#include <string.h>

enum { N_STATISTICS = TL_STAT_MAX + 1, NOT_WANTED = N_STATISTICS };

typedef struct choice {
	size_t rank[N_STATISTICS]; /* place of each statistic in the order wanted, NOT_WANTED */
} choice;

static int choose(choice *out, const tl_statistic *wanted, size_t n, tl_error *err)
{
	size_t next = 0;
	for (size_t i = 0; i < N_STATISTICS; i++)
		out->rank[i] = NOT_WANTED;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned)wanted[i] >= N_STATISTICS)
			return tl__fail(err, TL_EINVAL, "there is no statistic %d", (int)wanted[i]);
		if (out->rank[wanted[i]] == NOT_WANTED)
			out->rank[wanted[i]] = next++;
	}
	return 0;
}

/* Statistic of a column by the end of its name, or -1; *base is the length of the rest. */
static int statistic_of(const char *name, size_t *base)
{
	static const char *const endings[N_STATISTICS] = {
		[TL_STAT_MEAN] = "_mean", [TL_STAT_MEDIAN] = "_median", [TL_STAT_STD] = "_std",
		[TL_STAT_MIN] = "_min",   [TL_STAT_MAX] = "_max",
	};
	size_t n = strlen(name);
	if (!strncmp(name, "param: ", 7)) /* a parameter may have any name */
		return -1;
	for (int i = 0; i < N_STATISTICS; i++) {
		size_t m = strlen(endings[i]);
		if (n > m && !strcmp(name + n - m, endings[i])) {
			*base = n - m;
			return i;
		}
	}
	return -1;
}

/* ---- columns ---- */

static void drop_columns(tl_table *table, const choice *c)
{
	for (size_t i = table->columns.n; i-- > 0;) {
		size_t base;
		int statistic = statistic_of(table->columns.v[i].name, &base);
		if (statistic >= 0 && c->rank[statistic] == NOT_WANTED)
			tl__table_remove_column(table, i);
	}
}

/* Whether columns i and k are statistics that are to be sorted among each other. */
static bool same_block(const tl_table *table, size_t i, size_t k, bool by_source)
{
	const char *a = table->columns.v[i].name, *b = table->columns.v[k].name;
	size_t base_a, base_b;
	if (statistic_of(a, &base_a) < 0 || statistic_of(b, &base_b) < 0)
		return false;
	return !by_source || (base_a == base_b && !memcmp(a, b, base_a));
}

static size_t rank_of(const tl_table *table, size_t i, const choice *c)
{
	size_t base;
	return c->rank[statistic_of(table->columns.v[i].name, &base)];
}

/* Stable insertion sort of each block; they are a dozen columns at most. */
static void order_columns(tl_table *table, const choice *c, bool by_source)
{
	for (size_t i = 1; i < table->columns.n; i++) {
		size_t to = i;
		while (to > 0 && same_block(table, i, to - 1, by_source) &&
		       rank_of(table, to - 1, c) > rank_of(table, i, c))
			to--;
		if (to < i)
			tl__table_move_column(table, i, to);
	}
}

/* ---- records of kernel summaries ---- */

static int record_statistic(const tl_value *key)
{
	static const char *const keys[N_STATISTICS] = {
		[TL_STAT_MEAN] = "mean_duration_us",   [TL_STAT_MEDIAN] = "median_duration_us",
		[TL_STAT_STD] = "std_dev_duration_us", [TL_STAT_MIN] = "min_duration_us",
		[TL_STAT_MAX] = "max_duration_us",
	};
	const char *text = tl__value_text(key);
	for (int i = 0; text && i < N_STATISTICS; i++)
		if (!strcmp(text, keys[i]))
			return i;
	return -1;
}

/* A record with the wanted statistics, in order, where the first statistic stood. */
static int filter_record(tl_arena *arena, const tl_value *record, const choice *c, tl_value *out)
{
	const tl_value *of[N_STATISTICS] = {NULL};
	size_t n = 0;
	bool placed = false;
	tl_value *items = tl__arena_alloc(arena, (2 * (size_t)record->n + 1) * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	for (size_t i = 0; i < record->n; i++) {
		int statistic = record_statistic(&record->items[2 * i]);
		if (statistic >= 0 && c->rank[statistic] != NOT_WANTED)
			of[c->rank[statistic]] = &record->items[2 * i];
	}
	for (size_t i = 0; i < record->n; i++) {
		bool plain = record_statistic(&record->items[2 * i]) < 0;
		for (size_t k = 0; !plain && !placed && k < N_STATISTICS; k++)
			if (of[k]) {
				memcpy(items + n, of[k], 2 * sizeof *items);
				n += 2;
			}
		placed |= !plain;
		if (plain) {
			memcpy(items + n, &record->items[2 * i], 2 * sizeof *items);
			n += 2;
		}
	}
	*out = (tl_value){.kind = TL_V_DICT, .n = (uint32_t)(n / 2), .items = items};
	return 0;
}

static int filter_cell(tl_arena *arena, const tl_value **cell, const choice *c)
{
	const tl_value *list = *cell;
	if (!tl__value_is_list(list) || !list->n)
		return 0;
	tl_value *items = tl__arena_alloc(arena, list->n * sizeof *items), *copy = tl__arena_alloc(arena, sizeof *copy);
	if (!items || !copy)
		return TL_ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		items[i] = list->items[i];
		if (items[i].kind == TL_V_DICT)
			TL_TRY(filter_record(arena, &list->items[i], c, &items[i]));
	}
	*copy = *list;
	copy->items = items;
	*cell = copy;
	return 0;
}

/* All five are there: then nothing has to be taken out, only perhaps moved. */
static bool is_as_made(const choice *c)
{
	for (size_t i = 0; i < N_STATISTICS; i++)
		if (c->rank[i] != i)
			return false;
	return true;
}

static int filter_records(tl_table *table, const choice *c)
{
	for (size_t i = 0; i < table->columns.n && !is_as_made(c); i++) {
		tl_column *column = &table->columns.v[i];
		if (column->storage != TL_COL_VALUE || !strstr(column->name, "_details"))
			continue;
		for (size_t row = 0; row < table->rows; row++)
			TL_TRY(filter_cell(&table->arena, &column->val[row], c));
	}
	return 0;
}

/* ---- the rest ---- */

static void drop_extras(tl_table *table, const tl_stat_options *options)
{
	for (size_t i = table->columns.n; i-- > 0;) {
		const char *name = table->columns.v[i].name;
		bool percent = !strcmp(name, "Percentage (%)") || !strcmp(name, "Cumulative Percentage (%)");
		if ((percent && !options->percent) || (!strncmp(name, "trunc_", 6) && !options->truncated))
			tl__table_remove_column(table, i);
	}
}

int tl__choose_statistics(tl_table *table, const tl_stat_options *options, const tl_statistic *defaults,
			  size_t n_defaults, bool by_source, tl_error *err)
{
	choice c;
	bool given = options->statistics != NULL;
	TL_TRY(choose(&c, given ? options->statistics : defaults, given ? options->n_statistics : n_defaults, err));
	drop_columns(table, &c);
	order_columns(table, &c, by_source);
	drop_extras(table, options);
	return filter_records(table, &c) < 0 ? tl__nomem(err) : 0;
}
