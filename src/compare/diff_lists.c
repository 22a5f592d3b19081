/* SPDX-License-Identifier: MIT */
/*
 * Aligning two sibling lists: first what has GPU work below, then the rest between those, then what is only in
 * another place.
 */
#include "compare/tracediff.h"

int tl__diff_push(tl_diff_lists *l, int side, tl_diff_list *list, tl_pos pos)
{
	tl_diff_entry e = {.pos = pos, .mate = TL_POS_NONE, .gpu = tl__tree_gpu_count(l->nodes[side]->tree, pos) > 0};
	return TL_VEC_PUSH(list, e);
}

void tl__diff_lists_free(tl_diff_lists *l)
{
	for (int s = 0; s < 2; s++) {
		TL_VEC_FREE(&l->list[s]);
		TL_VEC_FREE(&l->item[s]);
		TL_VEC_FREE(&l->index[s]);
	}
	TL_VEC_FREE(&l->rebuilt);
	TL_VEC_FREE(&l->pairs);
	tl__aligner_free(&l->aligner);
}

/* ---- in order ---- */

bool tl__diff_next_gap(const tl_diff_lists *l, tl_diff_gap *gap, bool first)
{
	for (int s = 0; s < 2; s++) {
		const tl_diff_list *list = &l->list[s];
		size_t at = first ? 0 : gap->to[s] + 1; /* behind the anchor */
		if (at > list->n)
			return false;
		gap->from[s] = at;
		while (at < list->n && !list->v[at].anchored)
			at++;
		gap->to[s] = at;
	}
	return true;
}

static int collect(tl_diff_lists *l, const tl_diff_gap *gap, bool only_gpu)
{
	for (int s = 0; s < 2; s++) {
		l->item[s].n = l->index[s].n = 0;
		for (size_t i = gap->from[s]; i < gap->to[s]; i++) {
			const tl_diff_entry *e = &l->list[s].v[i];
			if (e->mate != TL_POS_NONE || (only_gpu && !e->gpu))
				continue;
			TL_TRY(TL_VEC_PUSH(&l->item[s], tl__diff_item(l->nodes[s], e->pos)));
			TL_TRY(TL_VEC_PUSH(&l->index[s], (uint32_t)i));
		}
	}
	return 0;
}

static void join(tl_diff_lists *l, uint32_t i, uint32_t j, bool anchored)
{
	tl_diff_entry *a = &l->list[0].v[i], *b = &l->list[1].v[j];
	a->mate = b->pos;
	b->mate = a->pos;
	a->anchored = b->anchored = anchored;
}

/* Anchors are set behind the gaps that were already seen, so they do not disturb the walk. */
static int align_gaps(tl_diff_lists *l, bool only_gpu)
{
	tl_diff_gap gap;
	for (bool more = tl__diff_next_gap(l, &gap, true); more; more = tl__diff_next_gap(l, &gap, false)) {
		TL_TRY(collect(l, &gap, only_gpu));
		l->pairs.n = 0;
		TL_TRY(tl__align(&l->pairs, &l->aligner, l->item[0].v, l->item[0].n, l->item[1].v, l->item[1].n));
		for (size_t k = 0; k < l->pairs.n; k++)
			join(l, l->index[0].v[l->pairs.v[k].a], l->index[1].v[l->pairs.v[k].b], true);
	}
	return 0;
}

/* ---- out of order ---- */

enum { MOVED_WHOLE, MOVED_STRUCTURE, MOVED_NAME, MOVED_LEVELS };

static uint64_t moved_key(const tl_align_item *x, int level)
{
	uint64_t key = tl__mix(x->name, (uint64_t)level);
	if (level <= MOVED_STRUCTURE)
		key = tl__mix(key, x->structure);
	if (level == MOVED_WHOLE)
		key = tl__mix(tl__mix(key, x->kernels), x->exact);
	return key;
}

/*
 * Joins the k-th of a key on one side with the k-th on the other; of a name alone only when it is there once on each
 * side, as a name that occurs often says little. `index` and `item` hold what is free on each side.
 */
static int join_moved(tl_diff_lists *l, int level, tl_map *first, uint32_t *next, uint32_t *last)
{
	size_t n = l->index[1].n;
	for (size_t j = 0; j < n; j++) {
		next[j] = TL_MAP_NONE;
		if (l->list[1].v[l->index[1].v[j]].mate != TL_POS_NONE)
			continue;
		uint64_t key = moved_key(&l->item[1].v[j], level);
		uint32_t head = tl__map_get_or_set(first, key, (uint32_t)j);
		if (head == TL_MAP_NONE)
			return TL_ENOMEM;
		if (head != j)
			next[last[head]] = (uint32_t)j;
		last[head] = (uint32_t)j;
	}
	/* from here on last[head] is the next of that key to be joined */
	for (size_t j = 0; j < n; j++)
		last[j] = level == MOVED_NAME && next[j] != TL_MAP_NONE ? TL_MAP_NONE : (uint32_t)j;
	tl_map count = {0};
	int code = 0;
	for (size_t i = 0; i < l->index[0].n && code == 0 && level == MOVED_NAME; i++) {
		uint64_t key = moved_key(&l->item[0].v[i], level);
		if (l->list[0].v[l->index[0].v[i]].mate != TL_POS_NONE)
			continue;
		uint32_t c = tl__map_get(&count, key);
		code = tl__map_set(&count, key, c == TL_MAP_NONE ? 1 : 2);
	}
	for (size_t i = 0; i < l->index[0].n && code == 0; i++) {
		const tl_diff_entry *e = &l->list[0].v[l->index[0].v[i]];
		uint64_t key = moved_key(&l->item[0].v[i], level);
		uint32_t head = tl__map_get(first, key);
		if (e->mate != TL_POS_NONE || head == TL_MAP_NONE || last[head] == TL_MAP_NONE)
			continue;
		if (level == MOVED_NAME && tl__map_get(&count, key) != 1)
			continue;
		uint32_t j = last[head];
		last[head] = next[j];
		/* without GPU work a name and nothing below it are too little to go by */
		if (level == MOVED_WHOLE || (e->gpu && l->list[1].v[l->index[1].v[j]].gpu))
			join(l, l->index[0].v[i], l->index[1].v[j], false);
	}
	tl__map_free(&count);
	return code;
}

static int find_moved(tl_diff_lists *l)
{
	tl_diff_gap whole = {.to = {l->list[0].n, l->list[1].n}};
	TL_TRY(collect(l, &whole, false));
	size_t n = l->index[1].n;
	if (!n || !l->index[0].n)
		return 0;
	uint32_t *chains = tl__malloc(2 * n * sizeof *chains);
	int code = chains ? 0 : TL_ENOMEM;
	for (int level = 0; level < MOVED_LEVELS && code == 0; level++) {
		tl_map first = {0};
		code = join_moved(l, level, &first, chains, chains + n);
		tl__map_free(&first);
	}
	tl__free(chains);
	return code;
}

/* Wrappers within wrappers within ... : each round looks through one level more of all of them. */
enum { MOST_ROUNDS = 64 };

int tl__diff_align_lists(tl_diff_lists *l)
{
	bool found = true;
	TL_TRY(align_gaps(l, true));
	for (int round = 0; found && round < MOST_ROUNDS; round++) {
		TL_TRY(tl__diff_look_through(l, &found));
		if (found)
			TL_TRY(align_gaps(l, true));
	}
	TL_TRY(align_gaps(l, false));
	return find_moved(l);
}
