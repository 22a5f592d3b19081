/* SPDX-License-Identifier: MIT */
/** @file tree_fixture.h Trees of stores made in memory, for unit tests only. Needs cmocka. */
#ifndef TL_TREE_TREE_FIXTURE_H
#define TL_TREE_TREE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "trace/store_fixture.h"
#include "tree/tree.h"
#include "util/no_memory.h"

/** A store and its tree; zero-initialise, fill `store`, build, free. */
typedef struct tl_fixture {
	tl_store *store;
	tl_trace trace;
	tl_tree *tree;
} tl_fixture;

static inline void tl_fixture_new(tl_fixture *f)
{
	*f = (tl_fixture){.store = tl__store_new()};
	assert_non_null(f->store);
}

static inline void tl_fixture_build(tl_fixture *f, bool with_python)
{
	tl_tree_options options = {.with_python = with_python};
	f->trace.store = f->store;
	assert_int_equal(tl_tree_build(&f->tree, &f->trace, &options, NULL), 0);
	if (!f->tree) /* tells the compiler what the line above has checked */
		abort();
}

typedef struct tl_fixture_build_work {
	tl_fixture *f;
	tl_tree_options options;
} tl_fixture_build_work;

static inline int tl_fixture_try_to_build(void *of)
{
	tl_fixture_build_work *w = of;
	tl_error err = TL_ERROR_INIT;
	int code = tl_tree_build(&w->f->tree, &w->f->trace, &w->options, &err);
	assert_int_equal(err.code, code);
	assert_int_equal(w->f->tree == NULL, code != 0);
	return code;
}

/** Builds as above, after more than `least` failures for want of memory. */
static inline void tl_fixture_fail_to_build(tl_fixture *f, tl_tree_options options, int64_t least)
{
	tl_fixture_build_work w = {f, options};
	f->trace.store = f->store;
	assert_true(fail_each_allocation(tl_fixture_try_to_build, &w) > least);
}

static inline void tl_fixture_free(tl_fixture *f)
{
	tl_tree_free(f->tree);
	tl__store_free(f->store);
}

static inline uint64_t tl_fixture_findings(const tl_fixture *f, tl_health_kind kind)
{
	return f->tree->health.entry[kind].count;
}

#define assert_parent(f, event, expected) assert_int_equal(tl_tree_parent((f)->tree, event), expected)

/** Everything that must hold of any tree. */
static inline void tl_fixture_check(const tl_fixture *f)
{
	const tl_tree *t = f->tree;
	const tl_store *s = f->store;
	size_t hosts = 0, gpu = 0, seen = 0;
	for (tl_row row = 0; row < s->n; row++) {
		uint8_t kind = s->kind[row];
		gpu += tl__kind_is_gpu(kind);
		bool host = kind == TL_KIND_CPU_OP || kind == TL_KIND_RUNTIME ||
			    (kind == TL_KIND_PYTHON && t->with_python);
		hosts += host && s->start[row] != TL_TIME_NONE;
		if (host)
			assert_int_equal(t->pos_of_row[row] != TL_POS_NONE, s->start[row] != TL_TIME_NONE);
		else if (!tl__kind_is_gpu(kind))
			assert_int_equal(t->pos_of_row[row], TL_POS_NONE);
	}
	assert_int_equal(t->n_gpu + t->n_unlinked, gpu);
	assert_int_equal(t->n, hosts + t->n_gpu);
	assert_int_equal(tl_tree_count(t), t->n);
	for (size_t i = 0; i < t->n_unlinked; i++) {
		assert_int_equal(t->pos_of_row[t->unlinked[i]], TL_POS_NONE);
		assert_true(i == 0 || t->unlinked[i] > t->unlinked[i - 1]);
	}
	for (tl_pos p = 0; p < t->n; p++) {
		tl_row row = t->row[p];
		tl_pos parent = t->parent[p];
		assert_int_equal(t->pos_of_row[row], p);
		assert_true(t->end[p] > p && t->end[p] <= t->n);
		assert_int_equal(t->gpu_before[p], seen);
		if (parent != TL_POS_NONE)
			assert_true(parent < p && t->end[p] <= t->end[parent]);
		if (!tl__kind_is_gpu(s->kind[row]))
			continue;
		assert_int_equal(t->end[p], p + 1);
		assert_true(parent != TL_POS_NONE && !tl__kind_is_gpu(s->kind[t->row[parent]]));
		assert_int_equal(t->gpu[seen++], row);
	}
	assert_int_equal(t->gpu_before[t->n], seen);
	assert_int_equal(t->n_gpu, seen);
}

#endif
