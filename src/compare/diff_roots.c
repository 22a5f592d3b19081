/* SPDX-License-Identifier: MIT */
/*
 * Root events of both trees as two lists, one thread after another. Threads have other numbers in every run: they are
 * brought together by the names of their roots.
 */
#include <stdlib.h>

#include "compare/tracediff.h"
#include "util/aside.h"

/* Beyond this many threads they are paired in order of their first event. */
enum { MOST_THREADS = 64 };

typedef struct thread {
	uint32_t track;
	uint32_t mate; /* index of the thread of the other side, or NONE */
	TL_VEC(tl_pos) roots;
	tl_map names; /* how often each name of a root occurs */
} thread;
typedef TL_VEC(thread) threads;

#define NONE UINT32_MAX

static void free_threads(threads *v)
{
	for (size_t i = 0; i < v->n; i++) {
		TL_VEC_FREE(&v->v[i].roots);
		tl__map_free(&v->v[i].names);
	}
	TL_VEC_FREE(v);
}

/* The thread of a track. Roots of one thread follow each other: it mostly is the last one that was asked for. */
static int find_thread(threads *out, tl_map *index, uint32_t track, uint32_t *last)
{
	if (*last < out->n && out->v[*last].track == track)
		return 0;
	*last = tl__map_get_or_set(index, track, (uint32_t)out->n);
	if (*last == TL_MAP_NONE)
		return TL_ENOMEM;
	return *last == out->n ? TL_VEC_PUSH(out, ((thread){.track = track, .mate = NONE})) : 0;
}

static int add_root(thread *t, tl_pos pos, uint64_t name)
{
	uint32_t had = tl__map_get(&t->names, name);
	TL_TRY(TL_VEC_PUSH(&t->roots, pos));
	return tl__map_set(&t->names, name, had == TL_MAP_NONE ? 1 : had + 1);
}

/* The threads of one side; they are found by a thread of their own. */
typedef struct search {
	const tl_diff_nodes *nodes;
	threads found;
	int code;
} search;

static void find_threads(void *user)
{
	search *s = user;
	const tl_tree *t = s->nodes->tree;
	threads found = {0};
	tl_map index = {0};
	uint32_t i = NONE;
	for (tl_pos pos = 0; pos < t->n && s->code == 0; pos = t->end[pos]) {
		s->code = find_thread(&found, &index, t->store->track[t->row[pos]], &i);
		if (s->code == 0)
			s->code = add_root(&found.v[i], pos, tl__diff_name(s->nodes, pos));
	}
	tl__map_free(&index);
	s->found = found;
}

/* Number of names that both have, each as often as in both. */
static size_t common_names(const thread *a, const thread *b)
{
	size_t n = 0;
	for (size_t i = 0; i <= a->names.mask; i++) {
		uint32_t of_a = a->names.values[i], of_b;
		if (of_a == TL_MAP_NONE)
			continue;
		of_b = tl__map_get(&b->names, a->names.keys[i]);
		n += of_b == TL_MAP_NONE ? 0 : of_a < of_b ? of_a : of_b;
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
	for (size_t i = 0; i <= t->names.mask; i++)
		if (t->names.values[i] != TL_MAP_NONE)
			sum += t->names.keys[i] * t->names.values[i];
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

int tl__diff_roots(tl_diff_lists *l, bool threaded)
{
	search side[2] = {{.nodes = l->nodes[0]}, {.nodes = l->nodes[1]}};
	threads *a = &side[0].found, *b = &side[1].found;
	tl_aside aside;
	tl__aside_start(&aside, find_threads, &side[1], threaded);
	find_threads(&side[0]);
	tl__aside_finish(&aside);
	int code = side[0].code < 0 ? side[0].code : side[1].code;
	if (code == 0)
		code = pair_threads(a, b);
	if (code == 0)
		code = fill(l, a, b);
	free_threads(a);
	free_threads(b);
	return code;
}
