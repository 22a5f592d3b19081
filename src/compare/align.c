/* SPDX-License-Identifier: MIT */
#include "compare/align.h"

#include <string.h>

#include "util/map.h"

void tl__aligner_free(tl_aligner *g)
{
	TL_VEC_FREE(&g->score);
	TL_VEC_FREE(&g->furthest);
	TL_VEC_FREE(&g->work);
	TL_VEC_FREE(&g->stack);
	TL_VEC_FREE(&g->todo);
}

typedef tl_align_piece piece;

typedef struct alignment {
	tl_aligner *g;
	const tl_align_item *a, *b;
	bool swapped;      /* a and b are exchanged, see canonical() */
	uint32_t *partner; /* of each item of a, NONE: not paired */
} alignment;

#define NONE UINT32_MAX
enum { BY_LIKENESS, BY_STRUCTURE, BY_NAME, LEVELS, BY_IDENTITY };

/* ---- what pairs are worth ---- */

/*
 * A name alone makes a pair; what else is alike makes it better. Two pairs that agree in the operations below, but not
 * in their arguments (2 x 16), are worth less than one of identical things (40) and more than one of alike ones (24):
 * so siblings of one name that changed places are seen as such, and a kernel that was chosen differently moves nothing.
 */
enum { SAME_NAME = 8, SAME_STRUCTURE = 8, SAME_ARGUMENTS = 8, SAME_KERNELS = 4, IDENTICAL = 12 };

static inline uint64_t worth(const tl_align_item *x, const tl_align_item *y)
{
	if (x->name != y->name)
		return 0;
	unsigned w = SAME_NAME;
	w += x->structure == y->structure ? SAME_STRUCTURE : 0;
	w += x->exact == y->exact ? SAME_ARGUMENTS : 0;
	w += x->kernels == y->kernels ? SAME_KERNELS : 0;
	w += tl__align_identical(x, y) ? IDENTICAL : 0;
	return w;
}

static bool same(const alignment *m, uint32_t level, uint32_t i, uint32_t j)
{
	const tl_align_item *x = &m->a[i], *y = &m->b[j];
	switch (level) {
	case BY_IDENTITY:
		return tl__align_identical(x, y);
	case BY_LIKENESS:
		return x->name == y->name && x->structure == y->structure && x->exact == y->exact;
	case BY_STRUCTURE:
		return x->name == y->name && x->structure == y->structure;
	default:
		return x->name == y->name;
	}
}

static void pair(alignment *m, uint32_t i, uint32_t j)
{
	m->partner[i] = j;
}

/* Identical items at the ends belong together in some best alignment: no pair can be worth more. */
static void trim(alignment *m, piece *p, uint32_t level)
{
	for (; p->a0 < p->a1 && p->b0 < p->b1 && same(m, level, p->a0, p->b0); p->a0++, p->b0++)
		pair(m, p->a0, p->b0);
	for (; p->a0 < p->a1 && p->b0 < p->b1 && same(m, level, p->a1 - 1, p->b1 - 1); p->a1--, p->b1--)
		pair(m, p->a1 - 1, p->b1 - 1);
}

/* ---- short pieces: the best alignment (Hirschberg 1975: linear space by halving) ---- */

/* row[j]: best worth of a[from..to) with the first j of b[b0..b1). */
static void score_forward(const alignment *m, uint64_t *row, uint32_t from, uint32_t to, uint32_t b0, uint32_t b1)
{
	memset(row, 0, (b1 - b0 + 1) * sizeof *row);
	for (uint32_t i = from; i < to; i++) {
		uint64_t diagonal = 0;
		for (uint32_t j = b0; j < b1; j++) {
			uint64_t up = row[j - b0 + 1], best = up > row[j - b0] ? up : row[j - b0];
			uint64_t w = worth(&m->a[i], &m->b[j]);
			if (w && diagonal + w > best)
				best = diagonal + w;
			row[j - b0 + 1] = best;
			diagonal = up;
		}
	}
}

/* row[j]: best worth of a[from..to) with what follows the first j of b[b0..b1). */
static void score_backward(const alignment *m, uint64_t *row, uint32_t from, uint32_t to, uint32_t b0, uint32_t b1)
{
	memset(row, 0, (b1 - b0 + 1) * sizeof *row);
	for (uint32_t i = to; i-- > from;) {
		uint64_t diagonal = 0;
		for (uint32_t j = b1; j-- > b0;) {
			uint64_t down = row[j - b0], best = down > row[j - b0 + 1] ? down : row[j - b0 + 1];
			uint64_t w = worth(&m->a[i], &m->b[j]);
			if (w && diagonal + w > best)
				best = diagonal + w;
			row[j - b0] = best;
			diagonal = down;
		}
	}
}

/* One item of a: its best partner, the earliest of equals. */
static void align_one(alignment *m, const piece *p)
{
	uint64_t best = 0;
	for (uint32_t j = p->b0; j < p->b1; j++) {
		uint64_t w = worth(&m->a[p->a0], &m->b[j]);
		if (w > best) {
			best = w;
			pair(m, p->a0, j);
		}
	}
}

static int align_exactly(alignment *m, piece whole)
{
	tl_aligner *g = m->g;
	g->stack.n = 0;
	TL_TRY(TL_VEC_PUSH(&g->stack, whole));
	while (g->stack.n) {
		piece p = g->stack.v[--g->stack.n];
		trim(m, &p, BY_IDENTITY);
		if (p.a0 == p.a1 || p.b0 == p.b1)
			continue;
		if (p.a1 - p.a0 == 1) {
			align_one(m, &p);
			continue;
		}
		size_t n = p.b1 - p.b0 + 1;
		g->score.n = 0;
		TL_TRY(TL_VEC_RESERVE(&g->score, 2 * n));
		g->cells += (uint64_t)(p.a1 - p.a0) * n;
		uint64_t *head = g->score.v, *tail = head + n, best = 0;
		uint32_t middle = p.a0 + (p.a1 - p.a0) / 2, cut = p.b0;
		score_forward(m, head, p.a0, middle, p.b0, p.b1);
		score_backward(m, tail, middle, p.a1, p.b0, p.b1);
		for (uint32_t j = 0; j < n; j++)
			if (head[j] + tail[j] > best) {
				best = head[j] + tail[j];
				cut = p.b0 + j;
			}
		if (!best)
			continue; /* nothing in common */
		TL_TRY(TL_VEC_PUSH(&g->stack, ((piece){middle, p.a1, cut, p.b1, p.level})));
		TL_TRY(TL_VEC_PUSH(&g->stack, ((piece){p.a0, middle, p.b0, cut, p.level})));
	}
	return 0;
}

/* ---- long pieces: cut at a longest common subsequence (Myers 1986) ---- */

/* Beyond this many edits the search goes on from the furthest point: near linear time for the price of some pairs. */
enum { MOST_EDITS = 1024 };

typedef struct point {
	uint32_t x, y; /* items of a and b before the cut, relative to the piece */
} point;

/* The furthest points of all paths of d edits from one end, by diagonal (x - y); `low` to `high` are reached. */
typedef struct front {
	int64_t *x, low, high;
} front;

/*
 * One edit more: two diagonals join, unless they lie outside the piece, and their neighbours get a value that no path
 * comes from.
 */
static void widen(front *f, int64_t lowest, int64_t highest, int64_t never)
{
	if (f->low > lowest)
		f->x[--f->low - 1] = never;
	else
		f->low++;
	if (f->high < highest)
		f->x[++f->high + 1] = never;
	else
		f->high--;
}

/*
 * A point on a shortest path of edits, near its middle; a corner when there is none to be found. `v` has room for
 * 2 (n + m + 3) numbers.
 */
static point middle_point(const alignment *m, const piece *p, uint32_t level, int64_t *v)
{
	int64_t n_a = p->a1 - p->a0, n_b = p->b1 - p->b0, room = n_a + n_b + 3;
	front f = {v + n_b + 1, 0, 0}, r = {v + room + n_b + 1, n_a - n_b, n_a - n_b};
	bool odd = (n_a - n_b) & 1;
	f.x[0] = 0;
	r.x[n_a - n_b] = n_a;
	for (int64_t edits = 1; edits <= n_a + n_b; edits++) {
		point furthest = {0, 0};
		widen(&f, -n_b, n_a, -1);
		for (int64_t k = f.high; k >= f.low; k -= 2) {
			int64_t x = f.x[k - 1] >= f.x[k + 1] ? f.x[k - 1] + 1 : f.x[k + 1], y = x - k;
			while (x < n_a && y < n_b && same(m, level, p->a0 + (uint32_t)x, p->b0 + (uint32_t)y))
				x++, y++;
			f.x[k] = x;
			if (x > n_a || y > n_b)
				continue;
			if (odd && k >= r.low && k <= r.high && x >= r.x[k])
				return (point){(uint32_t)x, (uint32_t)y};
			if (x + y > (int64_t)furthest.x + furthest.y)
				furthest = (point){(uint32_t)x, (uint32_t)y};
		}
		widen(&r, -n_b, n_a, INT64_MAX / 2);
		for (int64_t k = r.high; k >= r.low; k -= 2) {
			int64_t x = r.x[k - 1] < r.x[k + 1] ? r.x[k - 1] : r.x[k + 1] - 1, y = x - k;
			while (x > 0 && y > 0 && same(m, level, p->a0 + (uint32_t)x - 1, p->b0 + (uint32_t)y - 1))
				x--, y--;
			r.x[k] = x;
			if (x < 0 || y < 0)
				continue;
			if (!odd && k >= f.low && k <= f.high && f.x[k] <= n_a && f.x[k] - k <= n_b && x <= f.x[k])
				return (point){(uint32_t)x, (uint32_t)y};
		}
		if (edits >= MOST_EDITS)
			return furthest;
	}
	return (point){0, 0};
}

/* Adds what lies between the pairs of a piece to `todo`, for the next level. */
static int queue_gaps(alignment *m, piece whole, uint32_t level)
{
	piece gap = {whole.a0, whole.a0, whole.b0, whole.b0, level};
	for (uint32_t i = whole.a0; i <= whole.a1; i++) {
		bool end = i == whole.a1;
		if (!end && m->partner[i] == NONE)
			continue;
		gap.a1 = i;
		gap.b1 = end ? whole.b1 : m->partner[i];
		if (gap.a1 > gap.a0 && gap.b1 > gap.b0)
			TL_TRY(TL_VEC_PUSH(&m->g->todo, gap));
		gap.a0 = i + 1;
		gap.b0 = gap.b1 + 1;
	}
	return 0;
}

/* Pairs what is the same by `level` in the piece; what lies between is for the next level. */
static int cut_piece(alignment *m, piece whole, uint32_t level)
{
	size_t max = (size_t)(whole.a1 - whole.a0) + (whole.b1 - whole.b0) + 2;
	tl_aligner *g = m->g;
	g->furthest.n = g->stack.n = 0;
	TL_TRY(TL_VEC_RESERVE(&g->furthest, 2 * (max + 1)));
	TL_TRY(TL_VEC_PUSH(&g->stack, whole));
	while (g->stack.n) {
		piece p = g->stack.v[--g->stack.n];
		trim(m, &p, level);
		if (p.a0 == p.a1 || p.b0 == p.b1)
			continue;
		point cut = middle_point(m, &p, level, g->furthest.v);
		piece left = {p.a0, p.a0 + cut.x, p.b0, p.b0 + cut.y, 0};
		piece right = {p.a0 + cut.x, p.a1, p.b0 + cut.y, p.b1, 0};
		bool whole_left = left.a1 == p.a1 && left.b1 == p.b1, whole_right = !cut.x && !cut.y;
		if (whole_left || whole_right)
			continue; /* nothing in common */
		TL_TRY(TL_VEC_PUSH(&g->stack, right));
		TL_TRY(TL_VEC_PUSH(&g->stack, left));
	}
	return level + 1 < LEVELS ? queue_gaps(m, whole, level + 1) : 0;
}

static uint64_t key_of(const tl_align_item *x, uint32_t level)
{
	uint64_t key = x->name;
	if (level <= BY_STRUCTURE)
		key = tl__mix(key, x->structure);
	return level == BY_LIKENESS ? tl__mix(key, x->exact) : key;
}

/* Whether four fifths of the shorter part have an equal in the longer one, wherever it is. */
static int has_most(const alignment *m, const piece *p, uint32_t level, bool *out)
{
	uint32_t n = p->a1 - p->a0, k = p->b1 - p->b0, common = 0;
	tl_map count = {0};
	int code = 0;
	for (uint32_t i = p->a0; i < p->a1 && code == 0; i++) {
		uint64_t key = key_of(&m->a[i], level);
		uint32_t had = tl__map_get(&count, key);
		code = tl__map_set(&count, key, had == TL_MAP_NONE ? 1 : had + 1);
	}
	for (uint32_t j = p->b0; j < p->b1 && code == 0; j++) {
		uint64_t key = key_of(&m->b[j], level);
		uint32_t had = tl__map_get(&count, key);
		if (had == TL_MAP_NONE || !had)
			continue;
		common++;
		code = tl__map_set(&count, key, had - 1);
	}
	tl__map_free(&count);
	*out = common >= (n < k ? n : k) / 5 * 4;
	return code;
}

/*
 * By what a long piece is first cut: what most items have an equal in. With other shapes everywhere, arguments would
 * pair the few things that happen to agree, anywhere.
 */
static int choose_level(const alignment *m, piece *p)
{
	for (bool most = false; p->level < BY_NAME; p->level++) {
		TL_TRY(has_most(m, p, p->level, &most));
		if (most)
			break;
	}
	return 0;
}

static int align_pieces(alignment *m)
{
	tl_aligner *g = m->g;
	while (g->todo.n) {
		piece p = g->todo.v[--g->todo.n];
		trim(m, &p, BY_IDENTITY);
		if (p.a0 == p.a1 || p.b0 == p.b1)
			continue;
		uint64_t cells = (uint64_t)(p.a1 - p.a0) * (p.b1 - p.b0);
		/* many long lists: less of the best for each */
		uint64_t limit = g->cells < 64 * (uint64_t)ALIGN_EXACT_CELLS ? ALIGN_EXACT_CELLS : ALIGN_SMALL_CELLS;
		if (cells <= limit) {
			TL_TRY(align_exactly(m, p));
			continue;
		}
		TL_TRY(choose_level(m, &p));
		TL_TRY(cut_piece(m, p, p.level));
	}
	return 0;
}

/*
 * Where several alignments are equally good the choice must not depend on which sequence comes first: the
 * shorter, or else the one with the smaller first item that differs, plays the part of a.
 */
static bool in_order(const tl_align_item *a, size_t n_a, const tl_align_item *b, size_t n_b)
{
	if (n_a != n_b)
		return n_a < n_b;
	for (size_t i = 0; i < n_a; i++) {
		if (a[i].name != b[i].name)
			return a[i].name < b[i].name;
		if (a[i].structure != b[i].structure)
			return a[i].structure < b[i].structure;
		if (a[i].kernels != b[i].kernels)
			return a[i].kernels < b[i].kernels;
		if (a[i].exact != b[i].exact)
			return a[i].exact < b[i].exact;
	}
	return true;
}

int tl__align(tl_align_pairs *out, tl_aligner *g, const tl_align_item *a, size_t n_a, const tl_align_item *b,
	      size_t n_b)
{
	if (!n_a || !n_b)
		return 0;
	alignment m = {.g = g, .a = a, .b = b};
	if (!in_order(a, n_a, b, n_b)) {
		m.a = b;
		m.b = a;
		m.swapped = true;
	}
	uint32_t n = (uint32_t)(m.swapped ? n_b : n_a), k = (uint32_t)(m.swapped ? n_a : n_b);
	g->work.n = 0;
	TL_TRY(TL_VEC_RESERVE(&g->work, n));
	m.partner = g->work.v;
	memset(m.partner, 0xff, n * sizeof *m.partner);
	g->todo.n = 0;
	TL_TRY(TL_VEC_PUSH(&g->todo, ((piece){0, n, 0, k, 0})));
	TL_TRY(align_pieces(&m));
	for (uint32_t i = 0; i < n; i++)
		if (m.partner[i] != NONE)
			TL_TRY(TL_VEC_PUSH(out, (m.swapped ? (tl_align_pair){m.partner[i], i}
							   : (tl_align_pair){i, m.partner[i]})));
	return 0;
}
