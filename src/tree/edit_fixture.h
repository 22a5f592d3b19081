/* SPDX-License-Identifier: MIT */
/** @file edit_fixture.h What tests of edited trees share. Needs cmocka. */
#ifndef TL_TREE_EDIT_FIXTURE_H
#define TL_TREE_EDIT_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "tree/edit.h"
#include "tree/tree_fixture.h"

static inline tl_edit *tl_fixture_edit(tl_fixture *f)
{
	tl_edit *e;
	assert_int_equal(tl_edit_begin(&e, f->tree, NULL), 0);
	return e;
}

static inline void tl_fixture_commit(tl_edit *e)
{
	assert_int_equal(tl_edit_commit(e, NULL), 0);
}

/** The sealed tree as text: "0(1(2*3) 4) 5", GPU events with a star in front. Valid until the next call. */
static inline const char *tl_fixture_shape(const tl_tree *t)
{
	static char text[4096];
	size_t n = 0;
	tl_pos open[64];
	size_t depth = 0;
	for (tl_pos pos = 0; pos < t->n; pos++) {
		while (depth && t->end[open[depth - 1]] <= pos) {
			text[n++] = ')';
			depth--;
		}
		bool gpu = tl__kind_is_gpu(t->store->kind[t->row[pos]]);
		if (n && text[n - 1] != '(' && !gpu)
			text[n++] = ' ';
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", gpu ? "*" : "", t->row[pos]);
		if (t->end[pos] > pos + 1) {
			text[n++] = '(';
			open[depth++] = pos;
		}
	}
	while (depth--)
		text[n++] = ')';
	text[n] = '\0';
	return text;
}

/** All that must hold of a sealed tree, whatever was edited; parents and GPU ranges checked by walking up and down. */
static inline void tl_fixture_check_edited(const tl_tree *t)
{
	const tl_store *s = t->store;
	uint8_t *seen = calloc(s->n + 1, 1);
	size_t nodes = 0, gpu = 0, unlinked = 0;
	tl_time unlinked_time = 0;
	assert_non_null(seen);
	for (tl_pos p = 0; p < t->n; p++) {
		tl_row row = t->row[p];
		tl_pos parent = t->parent[p];
		bool is_gpu = tl__kind_is_gpu(s->kind[row]);
		assert_true(row < s->n && !seen[row]);
		seen[row] = 1;
		assert_int_equal(t->pos_of_row[row], p);
		assert_true(t->end[p] > p && t->end[p] <= t->n);
		assert_int_equal(t->gpu_before[p], gpu);
		if (parent != TL_POS_NONE) {
			assert_true(parent < p && t->end[p] <= t->end[parent]);
			assert_false(tl__kind_is_gpu(s->kind[t->row[parent]]));
		}
		/* between a node and its parent there are only siblings and what is below them */
		for (tl_pos q = p; q-- > 0 && q != parent && parent != TL_POS_NONE && p - q < 50;)
			assert_true(t->end[q] <= p);
		if (is_gpu) {
			assert_int_equal(t->end[p], p + 1);
			assert_true(parent != TL_POS_NONE);
			assert_int_equal(t->gpu[gpu++], row);
			assert_true(p + 1 == t->n || t->parent[p + 1] != parent ||
				    tl__kind_is_gpu(s->kind[t->row[p + 1]]));
		}
	}
	assert_int_equal(t->gpu_before[t->n], gpu);
	assert_int_equal(t->n_gpu, gpu);
	for (size_t i = 0; i < t->n_unlinked; i++) {
		tl_row row = t->unlinked[i];
		assert_true(!seen[row] && tl__kind_is_gpu(s->kind[row]) && (i == 0 || t->unlinked[i - 1] < row));
		seen[row] = 1;
	}
	for (tl_row row = 0; row < s->n; row++) {
		bool node = t->pos_of_row[row] != TL_POS_NONE;
		nodes += node;
		if (tl__kind_is_gpu(s->kind[row])) {
			assert_true(seen[row]);
			unlinked += !node;
			unlinked_time += node ? 0 : s->dur[row];
		}
	}
	assert_int_equal(nodes, t->n);
	assert_int_equal(unlinked, t->n_unlinked);
	assert_int_equal(unlinked_time, t->unlinked_time);
	free(seen);
}

#endif
