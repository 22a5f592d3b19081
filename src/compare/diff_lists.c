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
		TL_TRY(tl__diff_break_ties(l));
		for (size_t k = 0; k < l->pairs.n; k++)
			join(l, l->index[0].v[l->pairs.v[k].a], l->index[1].v[l->pairs.v[k].b], true);
	}
	return 0;
}

/* ---- out of order ---- */

enum { MOVED_WHOLE, MOVED_ALIKE, MOVED_NAME, MOVED_LEVELS };

static uint64_t moved_key(const tl_align_item *x, int level)
{
	uint64_t key = tl__mix(x->name, (uint64_t)level);
	if (level <= MOVED_ALIKE)
		key = tl__mix(tl__mix(key, x->structure), x->exact);
	return level == MOVED_WHOLE ? tl__mix(key, x->kernels) : key;
}

/* How often each name occurs in each list, up to twice: the count of list 0, and 4 times that of list 1. */
static int count_names(tl_map *out, const tl_diff_lists *l)
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < l->list[s].n; i++) {
			uint64_t name = tl__diff_name(l->nodes[s], l->list[s].v[i].pos);
			uint32_t had = tl__map_get(out, name), one = s ? 4 : 1;
			had = had == TL_MAP_NONE ? 0 : had;
			if ((had & (3 * one)) < 2 * one)
				had += one;
			TL_TRY(tl__map_set(out, name, had));
		}
	return 0;
}

/* What is left of a list, as chains of equal keys. */
typedef struct chains {
	tl_map first;          /* of each key: index of the first in the chain, or USED_UP */
	uint32_t *next, *last; /* of each item; NONE ends a chain. `last` only of the first of a chain */
} chains;
#define NONE UINT32_MAX
#define USED_UP (UINT32_MAX - 1)

/* Without GPU work a name and nothing below it are too little to go by, unless all is the same. */
static bool can_move(const tl_diff_entry *e, int level)
{
	return e->mate == TL_POS_NONE && (level == MOVED_WHOLE || e->gpu);
}

static int make_chains(chains *c, const tl_diff_lists *l, int level)
{
	for (size_t j = 0; j < l->index[1].n; j++) {
		c->next[j] = NONE;
		if (!can_move(&l->list[1].v[l->index[1].v[j]], level))
			continue;
		uint32_t head = tl__map_get_or_set(&c->first, moved_key(&l->item[1].v[j], level), (uint32_t)j);
		if (head == TL_MAP_NONE)
			return TL_ENOMEM;
		if (head != j)
			c->next[c->last[head]] = (uint32_t)j;
		c->last[head] = (uint32_t)j;
	}
	return 0;
}

/*
 * Joins the k-th of a key on one side with the k-th on the other; of a name alone only where each list has it once, as
 * a name that occurs often says little.
 */
static int join_moved(tl_diff_lists *l, int level, chains *c, const tl_map *names)
{
	TL_TRY(make_chains(c, l, level));
	for (size_t i = 0; i < l->index[0].n; i++) {
		const tl_diff_entry *e = &l->list[0].v[l->index[0].v[i]];
		const tl_align_item *x = &l->item[0].v[i];
		if (!can_move(e, level) || (level == MOVED_NAME && tl__map_get(names, x->name) != 1 + 4))
			continue;
		uint64_t key = moved_key(x, level);
		uint32_t j = tl__map_get(&c->first, key);
		if (j == TL_MAP_NONE || j == USED_UP)
			continue;
		join(l, l->index[0].v[i], l->index[1].v[j], false);
		TL_TRY(tl__map_set(&c->first, key, c->next[j] == NONE ? USED_UP : c->next[j]));
	}
	return 0;
}

static bool any_left(const tl_diff_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].mate == TL_POS_NONE)
			return true;
	return false;
}

static int find_moved(tl_diff_lists *l)
{
	if (!any_left(&l->list[0]) || !any_left(&l->list[1]))
		return 0;
	tl_diff_gap whole = {.to = {l->list[0].n, l->list[1].n}};
	TL_TRY(collect(l, &whole, false));
	size_t n = l->index[1].n;
	tl_map names = {0};
	uint32_t *room = tl__malloc(2 * n * sizeof *room);
	int code = room ? count_names(&names, l) : TL_ENOMEM;
	for (int level = 0; level < MOVED_LEVELS && code == 0; level++) {
		chains c = {.next = room, .last = room + n};
		code = join_moved(l, level, &c, &names);
		tl__map_free(&c.first);
	}
	tl__map_free(&names);
	tl__free(room);
	return code;
}

/* Wrappers within wrappers within ... : each round looks through one level more of all of them. */
enum { MOST_ROUNDS = 64 };

int tl__diff_align_lists(tl_diff_lists *l)
{
	bool found = true;
	TL_TRY(tl__diff_open_wrappers(l));
	TL_TRY(align_gaps(l, true));
	for (int round = 0; found && round < MOST_ROUNDS; round++) {
		TL_TRY(tl__diff_look_through(l, &found));
		if (found)
			TL_TRY(align_gaps(l, true));
	}
	TL_TRY(align_gaps(l, false));
	return find_moved(l);
}
