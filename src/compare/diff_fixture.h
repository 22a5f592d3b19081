/* SPDX-License-Identifier: MIT */
/**
 * @file diff_fixture.h
 * Trees from a short notation, for unit tests only:
 *   name[...]   an operation with what is below it; names that begin with hip or cuda are runtime calls,
 *               those with "@" Python frames
 *   ~name:30    a kernel of 30 µs below the call around it; at top level it has no launch
 *   name{...}   arguments: the text is the operation's Input Dims
 *   |           what follows is on another thread
 * Blanks separate siblings. Every event takes 1 µs on the host; kernels run one after another.
 */
#ifndef TL_COMPARE_DIFF_FIXTURE_H
#define TL_COMPARE_DIFF_FIXTURE_H

#include <string.h>

#include "compare/tracediff.h"
#include "tree/tree_fixture.h"

static inline tl_row diff_fixture_event(tl_store *s, const char *name, size_t n, const char *dims, size_t n_dims,
					tl_id tid, double at, tl_id correlation)
{
	char text[256];
	assert_true(n < sizeof text);
	memcpy(text, name, n);
	text[n] = '\0';
	if (!strncmp(text, "hip", 3) || !strncmp(text, "cu", 2))
		return tl_fixture_launch(s, text, 1, tid, at, 1, correlation);
	if (*text == '@')
		return tl_fixture_python(s, text + 1, 1, tid, at, 1, TL_ID_NONE, TL_ID_NONE);
	tl_row row = tl_fixture_op(s, text, 1, tid, at, 1);
	if (dims)
		tl_fixture_op_args(s, row)->dims = tl__intern(s->strings, dims, n_dims);
	return row;
}

/** Fills the store and builds the tree. */
static inline void diff_fixture_parse(tl_fixture *f, const char *text)
{
	TL_VEC(tl_row) open = {0};
	tl_id tid = 1, correlation = 0;
	double at = 1, gpu = 1e7;
	bool python = false;
	tl_fixture_new(f);
	tl_store *s = f->store;
	while (*text) {
		if (*text == ' ' || *text == '\n') {
			text++;
		} else if (*text == '|') {
			tid++;
			text++;
		} else if (*text == ']') {
			assert_true(open.n > 0);
			tl_row row = open.v[--open.n];
			s->dur[row] = tl_fixture_time(at) - s->start[row];
			at += 1;
			text++;
		} else if (*text == '~') {
			size_t n = strcspn(++text, ":");
			char name[256], *end;
			assert_true(n < sizeof name);
			memcpy(name, text, n);
			name[n] = '\0';
			double dur = strtod(text + n + 1, &end);
			tl_kind kind = !strncmp(name, "Memset", 6)   ? TL_KIND_MEMSET
				       : !strncmp(name, "Memcpy", 6) ? TL_KIND_MEMCPY
								     : TL_KIND_KERNEL;
			tl_fixture_gpu(s, kind, name, 2, 7, gpu, dur, open.n ? correlation : TL_ID_NONE);
			gpu += dur;
			text = end;
		} else {
			size_t n = strcspn(text, " []{~|\n"), n_dims = 0;
			const char *dims = NULL;
			python |= *text == '@';
			if (text[n] == '{') {
				dims = text + n + 1;
				n_dims = strcspn(dims, "}");
			}
			tl_row row = diff_fixture_event(s, text, n, dims, n_dims, tid, at, correlation + 1);
			if (s->kind[row] == TL_KIND_RUNTIME)
				correlation++;
			text = dims ? dims + n_dims + 1 : text + n;
			at += 1;
			if (*text == '[') {
				assert_int_equal(TL_VEC_PUSH(&open, row), 0);
				text++;
			}
		}
	}
	assert_int_equal(open.n, 0);
	TL_VEC_FREE(&open);
	tl_fixture_build(f, python);
}

/** Two trees and their comparison. */
typedef struct diff_fixture {
	tl_fixture side[2];
	tl_diff *diff;
	tl_diff_totals totals;
} diff_fixture;

/** Everything that must hold of any comparison. */
static inline void diff_fixture_check(const diff_fixture *f)
{
	const tl_diff *d = f->diff;
	for (int s = 0; s < 2; s++) {
		const tl_tree *t = d->tree[s];
		tl_diff_side side = s ? TL_DIFF_VARIANT : TL_DIFF_BASELINE;
		size_t *seen = calloc(t->store->n + 1, sizeof *seen), gpu = 0, matched = 0;
		assert_non_null(seen);
		for (size_t i = 0; i < d->n; i++) {
			tl_row row = tl__diff_row(&d->node[i], s);
			if (row == TL_ROW_NONE)
				continue;
			assert_int_equal(seen[row]++, 0);
			assert_int_equal(tl_diff_node_of(d, side, row), i);
		}
		for (tl_row row = 0; row < t->store->n; row++) {
			bool is_gpu = tl__kind_is_gpu(t->store->kind[row]);
			gpu += is_gpu;
			if (is_gpu)
				assert_int_equal(seen[row], 1);
			tl_row mate = tl_diff_corresponding(d, side, row);
			bool through = t->pos_of_row[row] != TL_POS_NONE && d->through[s][t->pos_of_row[row]];
			if (mate != TL_ROW_NONE && !through) {
				matched++;
				assert_int_equal(tl_diff_corresponding(d, s ? TL_DIFF_BASELINE : TL_DIFF_VARIANT, mate),
						 row);
			}
		}
		assert_int_equal(f->totals.side[s].gpu_events, gpu);
		assert_int_equal(matched + f->totals.side[s].unmatched_nodes + f->totals.side[s].looked_through,
				 t->n + t->n_unlinked);
		free(seen);
	}
	for (size_t i = 0; i < d->n; i++) {
		assert_true(d->node[i].end > i && d->node[i].end <= d->n);
		if (d->node[i].parent != TL_DIFF_NONE)
			assert_true(d->node[i].parent < i && d->node[i].end <= d->node[d->node[i].parent].end);
	}
}

static inline void diff_fixture_open(diff_fixture *f, const char *baseline, const char *variant,
				     const tl_diff_options *options)
{
	diff_fixture_parse(&f->side[0], baseline);
	diff_fixture_parse(&f->side[1], variant);
	assert_int_equal(tl_diff_new(&f->diff, f->side[0].tree, f->side[1].tree, options, NULL), 0);
	tl_diff_get_totals(f->diff, &f->totals);
	diff_fixture_check(f);
}

static inline void diff_fixture_close(diff_fixture *f)
{
	tl_diff_free(f->diff);
	tl_fixture_free(&f->side[0]);
	tl_fixture_free(&f->side[1]);
}

static inline int diff_fixture_write(void *buf, const char *text, size_t n)
{
	tl__buf_put(buf, text, n);
	return ((tl_buf *)buf)->failed;
}

static inline void diff_fixture_expect_tree(const tl_diff *diff, bool prune, const char *expected)
{
	tl_buf text = {0};
	tl_diff_print_options o = {.prune_non_gpu = prune};
	assert_int_equal(tl_diff_print(diff, &o, diff_fixture_write, &text, NULL), 0);
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
}

#endif
