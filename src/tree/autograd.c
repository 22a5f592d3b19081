/* SPDX-License-Identifier: MIT */
/*
 * Forward and backward halves of autograd. A forward operation and the backward node made from it
 * carry one sequence number; numbers are counted per forward thread, whose autograd id the
 * backward carries as `Fwd thread id`.
 */
#include <stdlib.h>
#include <string.h>

#include "tree/build.h"
#include "util/sort.h"

#define EVALUATE "autograd::engine::evaluate_function:"
/* Forward threads that may share one sequence number: more than any program has, so more is damage. */
#define MAX_THREADS 256

typedef TL_VEC(tl_row) row_vec;

typedef struct {
	const tl_build *b;
	tl_tree *tree;
	const tl_store *s;
	row_vec ops;      /* operations with a sequence number by (source, process, number, start, row) */
	tl_map thread_of; /* track of each (process, Fwd thread id) that is known for sure */
	size_t links_cap;
} tl_pairing;

static const tl_op_args *op(const tl_store *s, tl_row row)
{
	return &s->ops.v[s->side[row]];
}

static bool is_backward(const tl_store *s, tl_row row)
{
	return strncmp(tl__name(s, row), EVALUATE, sizeof EVALUATE - 1) == 0;
}

/* Forward operations carry no thread id, or 0. */
static bool has_thread_id(const tl_store *s, tl_row row)
{
	tl_id id = op(s, row)->fwd_thread;
	return id != TL_ID_NONE && id != 0;
}

static uint64_t thread_key(const tl_store *s, tl_row backward)
{
	return tl__mix(tl__process_of(s, backward), op(s, backward)->fwd_thread);
}

/* Processes of different documents are different, so the process stands for both. */
static bool same_number(const tl_store *s, tl_row a, tl_row b)
{
	return tl__process_of(s, a) == tl__process_of(s, b) && op(s, a)->sequence == op(s, b)->sequence;
}

static bool number_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	uint32_t pa = tl__process_of(s, a), pb = tl__process_of(s, b);
	if (pa != pb)
		return pa < pb;
	tl_id na = op(s, a)->sequence, nb = op(s, b)->sequence;
	return na != nb ? na < nb : tl__starts_before(s, a, b);
}

static int gather(tl_pairing *p)
{
	const tl_store *s = p->s;
	for (size_t i = 0; i < p->b->parts.n_host; i++) {
		tl_row row = p->b->parts.host[i];
		if (s->kind[row] != TL_KIND_CPU_OP || s->start[row] == TL_TIME_NONE)
			continue;
		const tl_op_args *args = tl__op_args(s, row);
		/* A text is what is no count: -1 means "none". */
		if (args && args->sequence != TL_ID_NONE && !(args->sequence & TL_ID_TEXT))
			TL_TRY(TL_VEC_PUSH(&p->ops, row));
	}
	return tl__sort(p->ops.v, p->ops.n, number_less, s);
}

static size_t group_end(const tl_pairing *p, size_t from)
{
	size_t to = from + 1;
	while (to < p->ops.n && same_number(p->s, p->ops.v[from], p->ops.v[to]))
		to++;
	return to;
}

/*
 * The latest operation before the backward one on another thread, on `track` alone if that is
 * known, else on the backward's own thread; TL_ROW_NONE if there is none. *alone: no other
 * thread competes.
 */
static tl_row forward_of(const tl_store *s, const tl_row *v, size_t n, tl_row backward, uint32_t track, bool *alone)
{
	tl_row best = TL_ROW_NONE, own = TL_ROW_NONE;
	*alone = true;
	for (size_t i = n; i-- > 0;) {
		tl_row row = v[i];
		if (is_backward(s, row) || s->start[row] >= s->start[backward])
			continue;
		if (track != UINT32_MAX ? s->track[row] == track : s->track[row] != s->track[backward]) {
			if (best == TL_ROW_NONE)
				best = row;
			else if (s->track[row] != s->track[best])
				*alone = false;
		} else if (own == TL_ROW_NONE && s->track[row] == s->track[backward] && !has_thread_id(s, row)) {
			own = row;
		}
	}
	return best != TL_ROW_NONE ? best : own;
}

static int add_link(tl_pairing *p, tl_row forward, tl_row backward)
{
	tl_tree *t = p->tree;
	TL_TRY(tl__grow((void *)&t->links, &p->links_cap, t->n_links + 1, sizeof *t->links));
	t->links[t->n_links].forward = forward;
	t->links[t->n_links++].backward = backward;
	return 0;
}

/* Whether the backward events of a group come from several forward threads. */
static bool several_threads(const tl_store *s, const tl_row *v, size_t n)
{
	tl_row first = TL_ROW_NONE;
	for (size_t i = 0; i < n; i++) {
		if (!is_backward(s, v[i]))
			continue;
		if (first == TL_ROW_NONE)
			first = v[i];
		else if (op(s, v[i])->fwd_thread != op(s, first)->fwd_thread)
			return true;
	}
	return false;
}

/* Groups with one forward thread: its first backward event, and what that teaches about threads. */
static int link_simple(tl_pairing *p, bool *left)
{
	const tl_store *s = p->s;
	for (size_t from = 0, to; from < p->ops.n; from = to) {
		const tl_row *v = p->ops.v + from;
		to = group_end(p, from);
		if (several_threads(s, v, to - from)) {
			*left = true;
			continue;
		}
		size_t i = 0;
		while (i < to - from && !is_backward(s, v[i]))
			i++;
		if (i == to - from)
			continue;
		bool alone;
		tl_row forward = forward_of(s, v, to - from, v[i], UINT32_MAX, &alone);
		if (forward == TL_ROW_NONE)
			continue;
		TL_TRY(add_link(p, forward, v[i]));
		if (alone && has_thread_id(s, v[i]) &&
		    tl__map_get_or_set(&p->thread_of, thread_key(s, v[i]), s->track[forward]) == TL_MAP_NONE)
			return TL_ENOMEM;
	}
	return 0;
}

/* ---- threads from fwdbwd arrows ---- */

static bool place_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	return s->track[a] != s->track[b] ? s->track[a] < s->track[b] : tl__starts_before(s, a, b);
}

static bool arrow_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	uint32_t pa = tl__process_of(s, a), pb = tl__process_of(s, b);
	if (pa != pb)
		return pa < pb;
	tl_id ia = s->flows.v[s->side[a]].id, ib = s->flows.v[s->side[b]].id;
	return ia != ib ? ia < ib : a < b;
}

/* An operation with a Fwd thread id that starts where an arrow ends, or TL_ROW_NONE. */
static tl_row op_at(const tl_store *s, const row_vec *places, tl_row head)
{
	size_t lo = 0, hi = places->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		tl_row row = places->v[mid];
		if (s->track[row] < s->track[head] ||
		    (s->track[row] == s->track[head] && s->start[row] < s->start[head]))
			lo = mid + 1;
		else
			hi = mid;
	}
	bool hit = lo < places->n && s->track[places->v[lo]] == s->track[head] &&
		   s->start[places->v[lo]] == s->start[head];
	return hit ? places->v[lo] : TL_ROW_NONE;
}

/* Where the rows of the arrow that begins at `from` end. Its halves; TL_ROW_NONE unless there is one of each. */
static size_t read_arrow(const tl_store *s, const row_vec *arrows, size_t from, tl_row *tail, tl_row *head)
{
	const tl_row *v = arrows->v;
	size_t to = from;
	*tail = *head = TL_ROW_NONE;
	for (; to < arrows->n && tl__process_of(s, v[to]) == tl__process_of(s, v[from]) &&
	       s->flows.v[s->side[v[to]]].id == s->flows.v[s->side[v[from]]].id;
	     to++)
		*(s->flows.v[s->side[v[to]]].phase == 's' ? tail : head) = v[to];
	if (to - from != 2)
		*tail = *head = TL_ROW_NONE;
	return to;
}

static int learn_from(tl_pairing *p, row_vec *arrows, row_vec *places)
{
	const tl_store *s = p->s;
	for (size_t i = 0; i < p->b->parts.n_arrows; i++) {
		tl_row row = p->b->parts.arrows[i];
		if (s->kind[row] == TL_KIND_FWDBWD && s->side[row] != UINT32_MAX && s->track[row] != UINT32_MAX)
			TL_TRY(TL_VEC_PUSH(arrows, row));
	}
	for (size_t i = 0; i < p->ops.n; i++)
		if (has_thread_id(s, p->ops.v[i]))
			TL_TRY(TL_VEC_PUSH(places, p->ops.v[i]));
	TL_TRY(tl__sort(arrows->v, arrows->n, arrow_less, s));
	TL_TRY(tl__sort(places->v, places->n, place_less, s));
	for (size_t from = 0; from < arrows->n;) {
		tl_row tail, head;
		from = read_arrow(s, arrows, from, &tail, &head);
		if (tail == TL_ROW_NONE || head == TL_ROW_NONE)
			continue;
		tl_row backward = op_at(s, places, head);
		if (backward != TL_ROW_NONE &&
		    tl__map_get_or_set(&p->thread_of, thread_key(s, backward), s->track[tail]) == TL_MAP_NONE)
			return TL_ENOMEM;
	}
	return 0;
}

static int learn_threads(tl_pairing *p)
{
	row_vec arrows = {0}, places = {0};
	int code = learn_from(p, &arrows, &places);
	TL_VEC_FREE(&arrows);
	TL_VEC_FREE(&places);
	return code;
}

/* Groups that several forward threads share: one pair for each of them. */
static int link_shared(tl_pairing *p, tl_map *seen)
{
	const tl_store *s = p->s;
	for (size_t from = 0, to; from < p->ops.n; from = to) {
		const tl_row *v = p->ops.v + from;
		to = group_end(p, from);
		if (!several_threads(s, v, to - from))
			continue;
		for (size_t i = 0, threads = 0; i < to - from && threads < MAX_THREADS; i++) {
			if (!is_backward(s, v[i]))
				continue;
			uint64_t key = tl__mix(from, op(s, v[i])->fwd_thread);
			if (tl__map_get(seen, key) != TL_MAP_NONE)
				continue;
			TL_TRY(tl__map_set(seen, key, 1));
			threads++;
			uint32_t track = has_thread_id(s, v[i]) ? tl__map_get(&p->thread_of, thread_key(s, v[i]))
								: TL_MAP_NONE;
			bool alone;
			tl_row forward = forward_of(s, v, to - from, v[i], track, &alone);
			/* Guessing among threads would cross the links of two models. */
			if (forward != TL_ROW_NONE && alone)
				TL_TRY(add_link(p, forward, v[i]));
		}
	}
	return 0;
}

static int compare_links(const void *a, const void *b)
{
	const tl_row *x = a, *y = b; /* forward, backward */
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] == y[1] ? 0 : x[1] < y[1] ? -1 : 1;
}

static bool backward_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_tree *t = ctx;
	return t->links[a].backward < t->links[b].backward;
}

int tl__build_index_links(tl_tree *t)
{
	if (t->n_links)
		qsort(t->links, t->n_links, sizeof *t->links, compare_links);
	t->links_by_backward = tl__malloc((t->n_links + 1) * sizeof *t->links_by_backward);
	if (!t->links_by_backward)
		return TL_ENOMEM;
	for (size_t i = 0; i < t->n_links; i++)
		t->links_by_backward[i] = (tl_row)i;
	return tl__sort(t->links_by_backward, t->n_links, backward_less, t);
}

int tl__build_autograd(const tl_build *b)
{
	tl_tree *tree = b->tree;
	tl_pairing p = {.b = b, .tree = tree, .s = tree->store};
	tl_map seen = {0};
	bool left = false;
	int code = gather(&p);
	if (!code)
		code = link_simple(&p, &left);
	if (!code && left)
		code = learn_threads(&p);
	if (!code && left)
		code = link_shared(&p, &seen);
	if (!code)
		code = tl__build_index_links(tree);
	TL_VEC_FREE(&p.ops);
	tl__map_free(&p.thread_of);
	tl__map_free(&seen);
	return code;
}

tl_row tl__tree_forward_of(const tl_tree *t, tl_row backward)
{
	size_t lo = 0, hi = t->n_links;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t->links[t->links_by_backward[mid]].backward < backward)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == t->n_links || t->links[t->links_by_backward[lo]].backward != backward)
		return TL_ROW_NONE;
	return t->links[t->links_by_backward[lo]].forward;
}

size_t tl__tree_backward_of(const tl_tree *t, tl_row forward, size_t *first)
{
	size_t lo = 0, hi = t->n_links;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t->links[mid].forward < forward)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	size_t n = 0;
	while (lo + n < t->n_links && t->links[lo + n].forward == forward)
		n++;
	return n;
}
