/* SPDX-License-Identifier: MIT */
/* Notes about graph launches: they change no number, they say which numbers to doubt. */
#include <stdio.h>

#include "tree/build.h"
#include "util/sort.h"

/* Fewer replays of a graph than this say nothing about what is usual. */
#define MIN_REPLAYS 4

typedef TL_VEC(tl_row) row_vec;

static uint32_t kernels_of(const tl_tree *t, tl_row launch)
{
	return tl__tree_gpu_count(t, t->pos_of_row[launch]);
}

/* Replays of one graph begin with the same kernel; TL_STR_NONE when none was recorded. */
static tl_str first_kernel(const tl_tree *t, tl_row launch)
{
	return kernels_of(t, launch) ? t->store->name[*tl__tree_gpu_rows(t, t->pos_of_row[launch])] : TL_STR_NONE;
}

static bool same_call(const tl_store *s, tl_row a, tl_row b)
{
	return s->name[a] == s->name[b] && tl__process_of(s, a) == tl__process_of(s, b);
}

/* By launch name and process, then graph (empty replays first), then number of kernels. */
static bool replay_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_tree *t = ctx;
	const tl_store *s = t->store;
	if (s->name[a] != s->name[b])
		return s->name[a] < s->name[b];
	uint32_t pa = tl__process_of(s, a), pb = tl__process_of(s, b);
	if (pa != pb)
		return pa < pb;
	tl_str fa = first_kernel(t, a), fb = first_kernel(t, b);
	if (fa != fb)
		return fa < fb;
	uint32_t ka = kernels_of(t, a), kb = kernels_of(t, b);
	return ka != kb ? ka < kb : a < b;
}

static void under_recorded(tl_tree *t, tl_row launch, uint32_t usual)
{
	char detail[128];
	snprintf(detail, sizeof detail, "%u kernels where %u are usual: %.60s", kernels_of(t, launch), usual,
		 tl__name(t->store, launch));
	tl__health_add(&t->health, TL_HEALTH_GRAPH_UNDER_RECORDED, -1, launch, 0, detail);
}

/* Replays v[0, n) of one call: empty ones beside full ones, and those below half of their graph's median. */
static void check_replays(tl_tree *t, const tl_row *v, size_t n)
{
	size_t empty = 0;
	while (empty < n && kernels_of(t, v[empty]) == 0)
		empty++;
	if (n < MIN_REPLAYS || empty == n)
		return;
	for (size_t i = 0; i < empty; i++)
		under_recorded(t, v[i], kernels_of(t, v[empty + (n - empty) / 2]));
	for (size_t from = empty, to; from < n; from = to) {
		tl_str graph = first_kernel(t, v[from]);
		for (to = from + 1; to < n && first_kernel(t, v[to]) == graph;)
			to++;
		uint32_t median = kernels_of(t, v[from + (to - from) / 2]);
		if (to - from >= MIN_REPLAYS)
			for (size_t i = from; i < to && 2 * (uint64_t)kernels_of(t, v[i]) < median; i++)
				under_recorded(t, v[i], median);
	}
}

static int check_graphs(tl_tree *t, row_vec *replays)
{
	const tl_store *s = t->store;
	tl_graph_names names = {0};
	for (size_t i = 0; i < t->n; i++) {
		tl_row row = t->row[i];
		if (s->kind[row] == TL_KIND_RUNTIME && tl__is_graph_launch(&names, s, row))
			TL_TRY(TL_VEC_PUSH(replays, row));
	}
	TL_TRY(tl__sort(replays->v, replays->n, replay_less, t));
	for (size_t from = 0, to; from < replays->n; from = to) {
		for (to = from + 1; to < replays->n && same_call(s, replays->v[from], replays->v[to]);)
			to++;
		check_replays(t, replays->v + from, to - from);
	}
	return 0;
}

int tl__build_checks(tl_tree *t)
{
	row_vec rows = {0};
	int code = check_graphs(t, &rows);
	TL_VEC_FREE(&rows);
	return code;
}
