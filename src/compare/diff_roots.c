/* SPDX-License-Identifier: MIT */
/*
 * Root events of both trees as two lists, one thread after another. Threads have other numbers in every run: they are
 * brought together by the names of their roots.
 */
#include <stdlib.h>

#include "compare/tracediff.h"

/* Beyond this many threads they are paired in order of their first event. */
enum { MOST_THREADS = 64 };

typedef struct thread {
	uint32_t track;
	uint32_t mate; /* index of the thread of the other side, or NONE */
	TL_VEC(tl_pos) roots;
	TL_VEC(uint64_t) names; /* of the roots, sorted */
} thread;
typedef TL_VEC(thread) threads;

#define NONE UINT32_MAX

static void free_threads(threads *v)
{
	for (size_t i = 0; i < v->n; i++) {
		TL_VEC_FREE(&v->v[i].roots);
		TL_VEC_FREE(&v->v[i].names);
	}
	TL_VEC_FREE(v);
}

static int compare_names(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int find_threads(threads *out, const tl_diff_nodes *d)
{
	const tl_tree *t = d->tree;
	tl_map index = {0};
	int code = 0;
	for (tl_pos pos = 0; pos < t->n && code == 0; pos = t->end[pos]) {
		uint32_t track = t->store->track[t->row[pos]];
		uint32_t i = tl__map_get_or_set(&index, track, (uint32_t)out->n);
		if (i == TL_MAP_NONE)
			code = TL_ENOMEM;
		if (code == 0 && i == out->n)
			code = TL_VEC_PUSH(out, ((thread){.track = track, .mate = NONE}));
		if (code == 0)
			code = TL_VEC_PUSH(&out->v[i].roots, pos);
		if (code == 0)
			code = TL_VEC_PUSH(&out->v[i].names, tl__diff_name(d, pos));
	}
	tl__map_free(&index);
	for (size_t i = 0; i < out->n && code == 0; i++)
		qsort(out->v[i].names.v, out->v[i].names.n, sizeof *out->v[i].names.v, compare_names);
	return code;
}

/* Number of names that both have, each as often as in both. */
static size_t common_names(const thread *a, const thread *b)
{
	size_t n = 0;
	for (size_t i = 0, j = 0; i < a->names.n && j < b->names.n;) {
		uint64_t x = a->names.v[i], y = b->names.v[j];
		n += x == y;
		i += x <= y;
		j += y <= x;
	}
	return n;
}

/* The two that have most in common first; of equals those that began first. */
static int pair_threads(threads *a, threads *b)
{
	if (a->n > MOST_THREADS || b->n > MOST_THREADS) {
		for (uint32_t i = 0; i < a->n && i < b->n; i++) {
			a->v[i].mate = i;
			b->v[i].mate = i;
		}
		return 0;
	}
	size_t *common = tl__calloc(a->n * b->n + 1, sizeof *common);
	if (!common)
		return TL_ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < b->n; j++)
			common[i * b->n + j] = common_names(&a->v[i], &b->v[j]);
	for (;;) {
		size_t best = 0, x = 0, y = 0;
		for (size_t i = 0; i < a->n; i++)
			for (size_t j = 0; j < b->n; j++) {
				size_t n = common[i * b->n + j];
				bool free = a->v[i].mate == NONE && b->v[j].mate == NONE;
				if (free && (n > best || (n == best && best && i + j < x + y))) {
					best = n;
					x = i;
					y = j;
				}
			}
		if (!best)
			break;
		a->v[x].mate = (uint32_t)y;
		b->v[y].mate = (uint32_t)x;
	}
	tl__free(common);
	return 0;
}

static int add_roots(tl_diff_lists *l, int side, const thread *t)
{
	for (size_t i = 0; i < t->roots.n; i++)
		TL_TRY(tl__diff_push(l, side, &l->list[side], t->roots.v[i]));
	return 0;
}

/* Two threads that belong together. */
typedef struct couple {
	const thread *thread[2];
	size_t place; /* in both traces */
	uint64_t names;
} couple;

static uint64_t sum_of_names(const thread *t)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < t->names.n; i++)
		sum += t->names.v[i];
	return sum;
}

/* In an order that does not depend on which trace is the baseline, as the lists are aligned beyond threads, too. */
static int compare_couples(const void *x, const void *y)
{
	const couple *a = x, *b = y;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return (a->names > b->names) - (a->names < b->names);
}

static int fill(tl_diff_lists *l, const threads *a, const threads *b)
{
	TL_VEC(couple) couples = {0};
	int code = 0;
	for (size_t i = 0; i < a->n && code == 0; i++) {
		if (a->v[i].mate == NONE)
			continue;
		const thread *x = &a->v[i], *y = &b->v[x->mate];
		couple c = {{x, y}, i + x->mate, sum_of_names(x) + sum_of_names(y)};
		code = TL_VEC_PUSH(&couples, c);
	}
	if (couples.n)
		qsort(couples.v, couples.n, sizeof *couples.v, compare_couples);
	for (int s = 0; s < 2; s++) {
		const threads *v = s ? b : a;
		for (size_t i = 0; i < couples.n && code == 0; i++)
			code = add_roots(l, s, couples.v[i].thread[s]);
		for (size_t i = 0; i < v->n && code == 0; i++)
			if (v->v[i].mate == NONE)
				code = add_roots(l, s, &v->v[i]);
	}
	TL_VEC_FREE(&couples);
	return code;
}

int tl__diff_roots(tl_diff_lists *l)
{
	threads a = {0}, b = {0};
	int code = find_threads(&a, l->nodes[0]);
	if (code == 0)
		code = find_threads(&b, l->nodes[1]);
	if (code == 0)
		code = pair_threads(&a, &b);
	if (code == 0)
		code = fill(l, &a, &b);
	free_threads(&a);
	free_threads(&b);
	return code;
}
