/* SPDX-License-Identifier: MIT */
/*
 * The nodes of the merged tree, in pre-order: what is still to be put there waits on a stack, the next one on top. Two
 * matched nodes whose subtrees differ put their aligned children there. What hangs below different roots has nothing
 * to do with each other, so the roots are done in two halves, each by a thread of its own where there are many nodes.
 * Nothing recurses, and neither tree is changed.
 */
#include "compare/tracediff.h"
#include "util/aside.h"

#define NONE TL_DIFF_NONE

/* Two matched nodes, or one that one side has alone, and all that is below. */
typedef struct item {
	tl_pos pos[2];   /* TL_POS_NONE: that side has none */
	uint32_t parent; /* where it hangs, or NONE: it is a root, or nothing of it is a node of the merged tree */
	bool root, moved;
} item;

typedef struct merger {
	tl_diff *d;
	const tl_diff_nodes *nodes; /* of both sides */
	tl_diff_lists lists;
	TL_VEC(item) todo;
	tl_diff_node_list out;
	bool in_order; /* no pair changed its place */
	int code;
	char apart[128]; /* what two threads write lies in no cache line of both */
} merger;

/* ---- nodes ---- */

/* A node of the merged tree (TL_POS_NONE: that side has none). */
static int put_node(merger *m, uint32_t parent, tl_pos a, tl_pos b, bool moved)
{
	uint32_t id = (uint32_t)m->out.n;
	if (id >= NONE - 1)
		return TL_ELIMIT;
	TL_TRY(TL_VEC_PUSH(&m->out, ((tl_diff_node){
					    .baseline = a == TL_POS_NONE ? TL_ROW_NONE : m->d->tree[0]->row[a],
					    .variant = b == TL_POS_NONE ? TL_ROW_NONE : m->d->tree[1]->row[b],
					    .parent = parent,
					    .moved = moved,
				    })));
	if (a != TL_POS_NONE)
		m->d->node_of[0][a] = id;
	if (b != TL_POS_NONE)
		m->d->node_of[1][b] = id;
	return 0;
}

static bool has_gpu(const merger *m, int side, tl_pos pos)
{
	return tl__tree_gpu_count(m->d->tree[side], pos) > 0;
}

/* What one side has alone: itself and what is below it with GPU work. */
static int put_single(merger *m, uint32_t parent, int side, tl_pos pos)
{
	const tl_tree *t = m->d->tree[side];
	bool gpu = has_gpu(m, side, pos);
	tl_pos end = gpu ? t->end[pos] : pos + 1;
	if (!gpu && parent != NONE)
		return 0;
	for (tl_pos p = pos; p < end; p++) {
		uint32_t above = p == pos ? parent : m->d->node_of[side][t->parent[p]];
		if (p == pos || has_gpu(m, side, p))
			TL_TRY(put_node(m, above, side ? TL_POS_NONE : p, side ? p : TL_POS_NONE, false));
	}
	return 0;
}

static void join(merger *m, tl_pos a, tl_pos b)
{
	m->d->partner[0][a] = b;
	m->d->partner[1][b] = a;
}

/* Whether two subtrees are the same node by node; the hashes say so, and this makes sure. */
static bool subtrees_equal(const merger *m, tl_pos a, tl_pos b)
{
	const tl_tree *s = m->d->tree[0], *t = m->d->tree[1];
	tl_pos n = s->end[a] - a;
	if (m->nodes[0].whole[a] != m->nodes[1].whole[b] || t->end[b] - b != n)
		return false;
	for (tl_pos i = 0; i < n; i++)
		if (s->end[a + i] - a != t->end[b + i] - b || has_gpu(m, 0, a + i) != has_gpu(m, 1, b + i) ||
		    tl__diff_plain_name(&m->nodes[0], a + i) != tl__diff_plain_name(&m->nodes[1], b + i))
			return false;
	return true;
}

static int put_equal(merger *m, const item *it)
{
	const tl_tree *t = m->d->tree[0];
	tl_pos a = it->pos[0], b = it->pos[1], n = t->end[a] - a;
	for (tl_pos i = 0; i < n; i++) {
		uint32_t above = i ? m->d->node_of[0][t->parent[a + i]] : it->parent;
		join(m, a + i, b + i);
		if (has_gpu(m, 0, a + i) || (!i && it->root))
			TL_TRY(put_node(m, above, a + i, b + i, !i && it->moved));
	}
	return 0;
}

/* ---- what waits ---- */

/* The aligned lists as what hangs below a node: what is matched in order, and between, what the baseline has, then
 * what the variant has. */
static int push_lists(merger *m, uint32_t parent, bool root)
{
	const tl_diff_list *a = &m->lists.list[0], *b = &m->lists.list[1];
	bool shown = root || parent != NONE;
	size_t first = m->todo.n;
	for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
		const tl_diff_entry *x = i < a->n ? &a->v[i] : NULL, *y = j < b->n ? &b->v[j] : NULL;
		item next = {{TL_POS_NONE, TL_POS_NONE}, parent, root, false};
		if (x && x->anchored && y && y->anchored) {
			next.pos[0] = x->pos;
			next.pos[1] = y->pos;
			i++;
			j++;
		} else if (x && !x->anchored) {
			next.pos[0] = x->pos;
			next.pos[1] = x->mate;
			next.moved = x->mate != TL_POS_NONE;
			i++;
		} else {
			j++;
			if (y->mate != TL_POS_NONE)
				continue;
			next.pos[1] = y->pos;
		}
		if (shown || (next.pos[0] != TL_POS_NONE && next.pos[1] != TL_POS_NONE))
			TL_TRY(TL_VEC_PUSH(&m->todo, next));
	}
	for (size_t i = first, j = m->todo.n; i + 1 < j; i++) { /* the first one is to be on top */
		item last = m->todo.v[--j];
		m->todo.v[j] = m->todo.v[i];
		m->todo.v[i] = last;
	}
	return 0;
}

static int put_pair(merger *m, const item *it)
{
	tl_pos a = it->pos[0], b = it->pos[1];
	uint32_t id = NONE;
	m->in_order &= !it->moved;
	if (subtrees_equal(m, a, b))
		return put_equal(m, it);
	join(m, a, b);
	if (it->root || has_gpu(m, 0, a) || has_gpu(m, 1, b)) {
		id = (uint32_t)m->out.n;
		TL_TRY(put_node(m, it->parent, a, b, it->moved));
	}
	for (int s = 0; s < 2; s++) {
		const tl_tree *t = m->d->tree[s];
		tl_diff_list *list = &m->lists.list[s];
		tl_pos end = t->end[it->pos[s]];
		list->n = 0;
		for (tl_pos c = it->pos[s] + 1; c < end; c = t->end[c])
			TL_TRY(tl__diff_push(&m->lists, s, list, c));
	}
	TL_TRY(tl__diff_align_lists(&m->lists));
	return push_lists(m, id, false);
}

static int put_item(merger *m, const item *it)
{
	if (it->pos[0] == TL_POS_NONE || it->pos[1] == TL_POS_NONE) {
		int side = it->pos[0] == TL_POS_NONE;
		return put_single(m, it->parent, side, it->pos[side]);
	}
	return put_pair(m, it);
}

/* Backwards: the first one that comes by below a node is the last one there. */
static void set_ends(tl_diff_node_list *nodes)
{
	for (size_t i = nodes->n; i-- > 0;) {
		tl_diff_node *x = &nodes->v[i];
		x->end = x->end ? x->end : (uint32_t)i + 1;
		if (x->parent != NONE && !nodes->v[x->parent].end)
			nodes->v[x->parent].end = x->end;
	}
}

static void merge(void *user)
{
	merger *m = user;
	while (m->todo.n && m->code == 0) {
		item next = m->todo.v[--m->todo.n];
		m->code = put_item(m, &next);
	}
	set_ends(&m->out);
}

/* ---- both halves ---- */

static size_t weight(const merger *m, const item *it)
{
	size_t sum = 0;
	for (int s = 0; s < 2; s++)
		sum += it->pos[s] == TL_POS_NONE ? 0 : m->d->tree[s]->end[it->pos[s]] - it->pos[s];
	return sum;
}

/*
 * Gives the second half of the roots away. Where they are cut depends on the trees alone, and so does, with or without
 * threads, how much exact work each half spends on long lists.
 */
static int share(merger *m, merger *other)
{
	size_t whole = m->d->tree[0]->n + m->d->tree[1]->n, later = 0, n = 0;
	while (n < m->todo.n && later + weight(m, &m->todo.v[n]) <= whole / 2)
		later += weight(m, &m->todo.v[n++]);
	TL_TRY(TL_VEC_RESERVE(&other->todo, n));
	for (size_t i = 0; i < m->todo.n; i++)
		if (i < n)
			other->todo.v[other->todo.n++] = m->todo.v[i];
		else
			m->todo.v[i - n] = m->todo.v[i];
	m->todo.n -= n;
	other->lists.aligner.cells = m->lists.aligner.cells;
	return 0;
}

/* Puts the nodes of the second half behind those of the first one. */
static int append(merger *m, const merger *other)
{
	uint32_t base = (uint32_t)m->out.n;
	if (m->out.n + other->out.n >= NONE - 1)
		return TL_ELIMIT;
	TL_TRY(TL_VEC_RESERVE(&m->out, other->out.n));
	for (size_t i = 0; i < other->out.n; i++) {
		tl_diff_node *x = &m->out.v[m->out.n];
		*x = other->out.v[i];
		x->end += base;
		x->parent += x->parent == NONE ? 0 : base;
		for (int s = 0; s < 2; s++)
			if (tl__diff_row(x, s) != TL_ROW_NONE)
				m->d->node_of[s][m->d->tree[s]->pos_of_row[tl__diff_row(x, s)]] = (uint32_t)m->out.n;
		m->out.n++;
	}
	return 0;
}

static int merge_halves(merger m[2], bool threaded)
{
	TL_TRY(tl__diff_roots(&m[0].lists, threaded));
	TL_TRY(tl__diff_align_lists(&m[0].lists));
	TL_TRY(push_lists(&m[0], NONE, true));
	tl__diff_lists_free(&m[0].lists); /* roots are many, what is below one of them is little */
	TL_TRY(share(&m[0], &m[1]));
	tl_aside aside;
	tl__aside_start(&aside, merge, &m[1], threaded);
	merge(&m[0]);
	tl__aside_finish(&aside);
	TL_TRY(m[0].code);
	TL_TRY(m[1].code);
	return append(&m[0], &m[1]);
}

int tl__diff_merge(tl_diff_node_list *out, bool *in_order, tl_diff *d, tl_diff_nodes nodes[2], bool threaded)
{
	merger m[2];
	for (int i = 0; i < 2; i++) {
		m[i] = (merger){.d = d, .nodes = nodes, .in_order = true};
		for (int s = 0; s < 2; s++) {
			m[i].lists.nodes[s] = &nodes[s];
			m[i].lists.through[s] = d->through[s];
		}
	}
	int code = merge_halves(m, threaded);
	*out = m[0].out; /* the caller's in any case */
	*in_order = m[0].in_order && m[1].in_order;
	TL_VEC_FREE(&m[1].out);
	for (int i = 0; i < 2; i++) {
		tl__diff_lists_free(&m[i].lists);
		TL_VEC_FREE(&m[i].todo);
	}
	return code;
}
