/* SPDX-License-Identifier: MIT */
/*
 * Which of several siblings that are alike: an alignment counts what has GPU work below, so it takes the first of them.
 * Here operations without GPU work have their say. Within a run of pairs whose items are alike on each side, and of
 * which one side has more, those of the longer side are chosen that agree best: in all operations below, and then in
 * all that is below. Worth and number of pairs stay what they are; of equally good choices the earliest counts, seen
 * from the shorter side, so that exchanging the traces exchanges the result.
 */
#include <string.h>

#include "compare/tracediff.h"

/* A run that has more ways to be paired stays as it is. */
enum { MOST_CELLS = 1 << 18 };

/* Items of one side that can take each other's place in the run. */
typedef TL_VEC(uint32_t) choice;

typedef struct ties {
	tl_diff_lists *l;
	choice items[2];
	TL_VEC(uint32_t) score;
} ties;

static uint32_t *end_of(tl_align_pair *pair, int side)
{
	return side ? &pair->b : &pair->a;
}

static bool alike(const ties *t, size_t k, size_t m)
{
	const tl_align_pairs *p = &t->l->pairs;
	return tl__align_identical(&t->l->item[0].v[p->v[k].a], &t->l->item[0].v[p->v[m].a]) &&
	       tl__align_identical(&t->l->item[1].v[p->v[k].b], &t->l->item[1].v[p->v[m].b]);
}

/* What is like the items of pairs[from..to), from behind the pair before to the one behind it. */
static int collect(ties *t, int side, size_t from, size_t to)
{
	tl_align_pairs *p = &t->l->pairs;
	uint32_t first = from ? *end_of(&p->v[from - 1], side) + 1 : 0;
	uint32_t end = to < p->n ? *end_of(&p->v[to], side) : (uint32_t)t->l->item[side].n;
	const tl_align_item *like = &t->l->item[side].v[*end_of(&p->v[from], side)];
	t->items[side].n = 0;
	for (uint32_t i = first; i < end; i++)
		if (tl__align_identical(like, &t->l->item[side].v[i]))
			TL_TRY(TL_VEC_PUSH(&t->items[side], i));
	return 0;
}

/* Of item i of the shorter side with item i + o of the longer one. */
static uint32_t agreement(const ties *t, int shorter, size_t i, size_t o)
{
	const tl_diff_lists *l = t->l;
	tl_pos pos[2];
	for (int s = 0; s < 2; s++) {
		uint32_t item = t->items[s].v[s == shorter ? i : i + o];
		pos[s] = l->list[s].v[l->index[s].v[item]].pos;
	}
	const tl_diff_nodes *x = l->nodes[0], *y = l->nodes[1];
	return (x->operations[pos[0]] == y->operations[pos[1]] ? 2U : 0U) +
	       (x->whole[pos[0]] == y->whole[pos[1]] ? 1U : 0U);
}

/*
 * The shorter side keeps all of its items; o, how far behind the partner of item i is, never falls. score[i][o]: the
 * best agreement of the items from i on when theirs are at least o behind.
 */
static int choose(ties *t, size_t from)
{
	int shorter = t->items[0].n > t->items[1].n;
	size_t n = t->items[shorter].n, width = t->items[!shorter].n - n + 1;
	if (n > MOST_CELLS / width)
		return 0;
	t->score.n = 0;
	TL_TRY(TL_VEC_RESERVE(&t->score, (n + 1) * width));
	uint32_t *score = t->score.v;
	memset(score + n * width, 0, width * sizeof *score);
	for (size_t i = n; i-- > 0;)
		for (size_t o = width; o-- > 0;) {
			uint32_t here = agreement(t, shorter, i, o) + score[(i + 1) * width + o];
			uint32_t later = o + 1 < width ? score[i * width + o + 1] : 0;
			score[i * width + o] = here > later ? here : later;
		}
	for (size_t i = 0, o = 0; i < n; i++) {
		while (agreement(t, shorter, i, o) + score[(i + 1) * width + o] < score[i * width + o])
			o++;
		tl_align_pair *pair = &t->l->pairs.v[from + i];
		*end_of(pair, shorter) = t->items[shorter].v[i];
		*end_of(pair, !shorter) = t->items[!shorter].v[i + o];
	}
	return 0;
}

static int settle(ties *t, size_t from, size_t to)
{
	TL_TRY(collect(t, 0, from, to));
	TL_TRY(collect(t, 1, from, to));
	size_t n = t->items[0].n, m = t->items[1].n;
	return n != m && (n < m ? n : m) == to - from ? choose(t, from) : 0;
}

/* Forth and back, as what one run leaves is free for the runs beside it. */
static int break_ties(ties *t)
{
	size_t n = t->l->pairs.n;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && alike(t, from, to);)
			to++;
		TL_TRY(settle(t, from, to));
	}
	for (size_t to = n, from; to > 0; to = from) {
		for (from = to - 1; from > 0 && alike(t, from - 1, to - 1);)
			from--;
		TL_TRY(settle(t, from, to));
	}
	return 0;
}

int tl__diff_break_ties(tl_diff_lists *l)
{
	ties t = {.l = l};
	if (l->pairs.n == l->item[0].n && l->pairs.n == l->item[1].n)
		return 0; /* nothing is left over that could be taken instead */
	int code = break_ties(&t);
	TL_VEC_FREE(&t.items[0]);
	TL_VEC_FREE(&t.items[1]);
	TL_VEC_FREE(&t.score);
	return code;
}
