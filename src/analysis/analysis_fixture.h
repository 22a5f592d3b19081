/* SPDX-License-Identifier: MIT */
/** @file analysis_fixture.h From a store made in memory to an analyser, and looking at cells; for unit tests only. */
#ifndef TL_ANALYSIS_ANALYSIS_FIXTURE_H
#define TL_ANALYSIS_ANALYSIS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "analysis/analyzer.h"
#include "analysis/perf_cache.h"
#include "trace/store_fixture.h"
#include "util/no_memory.h"

typedef struct fixture {
	tl_trace trace;
	tl_tree *tree;
	tl_analyzer *a;
} fixture;

/** Takes over the store. `frames`: with Python frames in the tree. */
static inline void fixture_open_frames(fixture *f, tl_store *store, bool frames, const tl_analyzer_options *options)
{
	*f = (fixture){.trace.store = store};
	assert_int_equal(tl_tree_build(&f->tree, &f->trace, &(tl_tree_options){.with_python = frames}, NULL), 0);
	assert_int_equal(tl__analyzer_new(&f->a, f->tree, options, NULL), 0);
}

static inline void fixture_open_with(fixture *f, tl_store *store, const tl_analyzer_options *options)
{
	fixture_open_frames(f, store, false, options);
}

static inline void fixture_open(fixture *f, tl_store *store)
{
	fixture_open_with(f, store, NULL);
}

static inline void fixture_close(fixture *f)
{
	tl__analyzer_free(f->a);
	tl_tree_free(f->tree);
	tl__store_free(f->trace.store);
}

/** The launcher table, freed by the caller. */
static inline tl_table *launchers_of(fixture *f)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	assert_int_equal(tl__launchers(&table, f->a, &err), 0);
	return table;
}

/** What the model of an event says, NULL when it has none. `kernels`: GPU events below it, by start. */
static inline const tl_perf_result *perf_of(fixture *f, tl_row event, const tl_row *kernels, size_t n_kernels)
{
	tl_perf_entry *entry;
	assert_int_equal(tl__perf_entry_of(f->a, event, kernels, n_kernels, &entry), 0);
	return entry ? &entry->result : NULL;
}

typedef struct tree_work {
	int (*work)(const tl_tree *tree);
	const tl_tree *tree;
} tree_work;

static inline int do_tree_work(void *of)
{
	const tree_work *w = of;
	return w->work(w->tree);
}

/** `work` on a tree says so when any of its allocations fails, of which there are more than `least`. */
static inline void expect_tree_failures_reported(const tl_tree *tree, int (*work)(const tl_tree *tree), int64_t least)
{
	tree_work w = {work, tree};
	assert_true(fail_each_allocation(do_tree_work, &w) > least);
}

/** The same for the tree of a store, which is taken over. */
static inline void expect_failed_allocations_reported(tl_store *store, int (*work)(const tl_tree *tree), int64_t least)
{
	fixture f;
	fixture_open(&f, store);
	expect_tree_failures_reported(f.tree, work, least);
	fixture_close(&f);
}

static inline size_t column_index(const tl_table *table, const char *name)
{
	ptrdiff_t index = tl_table_find_column(table, name);
	if (index < 0)
		fail_msg("no column '%s'", name);
	return (size_t)index;
}

static inline void expect_text(const tl_table *table, size_t row, const char *column, const char *expected)
{
	char text[1024];
	assert_true(row < tl_table_rows(table));
	tl_table_text(table, column_index(table, column), row, text, sizeof text);
	assert_string_equal(text, expected);
}

static inline void expect_number(const tl_table *table, size_t row, const char *column, double expected)
{
	assert_true(row < tl_table_rows(table));
	double value = tl_table_double(table, column_index(table, column), row);
	if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("'%s' of row %zu: %.17g, expected %.17g", column, row, value, expected);
}

static inline void expect_empty(const tl_table *table, size_t row, const char *column)
{
	assert_true(tl_table_is_null(table, column_index(table, column), row));
}

#endif
