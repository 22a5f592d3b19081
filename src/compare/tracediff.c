/* SPDX-License-Identifier: MIT */
/*
 * The comparison of two trees: what is known of either, the merged tree, GPU events without a launch, totals.
 */
#include <stdlib.h>
#include <string.h>

#include "compare/tracediff.h"
#include "util/aside.h"

#define NONE TL_DIFF_NONE

typedef struct maker {
	tl_diff *d;
	tl_diff_nodes nodes[2];
	tl_diff_node_list merged;
	bool in_order; /* no pair changed its place */
	bool threaded; /* there is enough for two threads */
} maker;

/* ---- GPU events without a launch ---- */

typedef struct start {
	tl_time at;
	tl_row row;
	uint32_t index; /* in tree->unlinked */
} start;

static int compare_starts(const void *a, const void *b)
{
	const start *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static start *sorted_unlinked(const tl_tree *t)
{
	start *out = tl__malloc((t->n_unlinked + 1) * sizeof *out);
	if (!out)
		return NULL;
	for (size_t i = 0; i < t->n_unlinked; i++)
		out[i] = (start){t->store->start[t->unlinked[i]], t->unlinked[i], (uint32_t)i};
	qsort(out, t->n_unlinked, sizeof *out, compare_starts);
	return out;
}

static uint64_t unlinked_name(const maker *m, int side, tl_row row)
{
	const tl_store *s = m->d->tree[side]->store;
	return tl__mix(m->nodes[side].hashes.common[s->name[row]], s->kind[row]);
}

/* mate[0][i]: index in v[1] of the k-th event of the same name, where v[0][i] is the k-th; UINT32_MAX: none. */
static int match_unlinked(const maker *m, start *const v[2], uint32_t *const mate[2])
{
	size_t n[2] = {m->d->tree[0]->n_unlinked, m->d->tree[1]->n_unlinked};
	uint32_t *next = tl__malloc((n[1] + 1) * sizeof *next);
	tl_map first = {0};
	int code = next ? 0 : TL_ENOMEM;
	for (size_t j = n[1]; j-- > 0 && code == 0;) {
		uint64_t name = unlinked_name(m, 1, v[1][j].row);
		next[j] = tl__map_get(&first, name);
		code = tl__map_set(&first, name, (uint32_t)j);
		mate[1][j] = NONE;
	}
	for (size_t i = 0; i < n[0] && code == 0; i++) {
		uint64_t name = unlinked_name(m, 0, v[0][i].row);
		uint32_t j = tl__map_get(&first, name);
		mate[0][i] = NONE;
		if (j == TL_MAP_NONE || j == NONE - 1)
			continue;
		mate[0][i] = j;
		mate[1][j] = (uint32_t)i;
		/* a map holds no "none", so that stands for an empty chain */
		code = tl__map_set(&first, name, next[j] == TL_MAP_NONE ? NONE - 1 : next[j]);
	}
	tl__map_free(&first);
	tl__free(next);
	return code;
}

static int add_node(maker *m, tl_diff_node node)
{
	if (m->merged.n >= NONE - 1)
		return TL_ELIMIT;
	node.end = (uint32_t)m->merged.n + 1;
	return TL_VEC_PUSH(&m->merged, node);
}

static int add_unlinked_nodes(maker *m, start *const v[2], uint32_t *const mate[2])
{
	uint32_t root = (uint32_t)m->merged.n;
	TL_TRY(add_node(m, (tl_diff_node){TL_ROW_NONE, TL_ROW_NONE, .parent = NONE, .unlinked = true}));
	for (size_t i = 0; i < m->d->tree[0]->n_unlinked; i++) {
		uint32_t j = mate[0][i], id = (uint32_t)m->merged.n;
		tl_row other = j == NONE ? TL_ROW_NONE : v[1][j].row;
		TL_TRY(add_node(m, (tl_diff_node){v[0][i].row, other, .parent = root}));
		m->d->unlinked_of[0][v[0][i].index] = id;
		if (j != NONE)
			m->d->unlinked_of[1][v[1][j].index] = id;
	}
	for (size_t j = 0; j < m->d->tree[1]->n_unlinked; j++) {
		if (mate[1][j] != NONE)
			continue;
		m->d->unlinked_of[1][v[1][j].index] = (uint32_t)m->merged.n;
		TL_TRY(add_node(m, (tl_diff_node){TL_ROW_NONE, v[1][j].row, .parent = root}));
	}
	m->merged.v[root].end = (uint32_t)m->merged.n;
	return 0;
}

static int add_unlinked(maker *m)
{
	const tl_tree *s = m->d->tree[0], *t = m->d->tree[1];
	if (!s->n_unlinked && !t->n_unlinked)
		return 0;
	start *v[2] = {sorted_unlinked(s), sorted_unlinked(t)};
	uint32_t *mate[2] = {tl__malloc((s->n_unlinked + 1) * sizeof **mate),
			     tl__malloc((t->n_unlinked + 1) * sizeof **mate)};
	int code = v[0] && v[1] && mate[0] && mate[1] ? 0 : TL_ENOMEM;
	if (code == 0)
		code = match_unlinked(m, v, mate);
	if (code == 0)
		code = add_unlinked_nodes(m, v, mate);
	for (int i = 0; i < 2; i++) {
		tl__free(v[i]);
		tl__free(mate[i]);
	}
	return code;
}

/* ---- totals ---- */

static void count_gpu(tl_diff *d, int side, tl_diff_side_totals *out)
{
	const tl_tree *t = d->tree[side];
	for (size_t i = 0; i < t->n_gpu; i++) {
		tl_pos pos = t->pos_of_row[t->gpu[i]], op = tl__tree_cpu_op_above(t, pos);
		tl_time dur = tl__known_dur(t->store, t->gpu[i]);
		bool matched = op != TL_POS_NONE && d->partner[side][op] != TL_POS_NONE;
		out->under_operation += op != TL_POS_NONE;
		out->under_operation_time += op != TL_POS_NONE ? dur : 0;
		out->under_call += op == TL_POS_NONE;
		out->under_call_time += op == TL_POS_NONE ? dur : 0;
		out->in_matched += matched;
		out->in_matched_time += matched ? dur : 0;
	}
	for (size_t i = 0; i < t->n_unlinked; i++)
		out->unlinked_time += tl__known_dur(t->store, t->unlinked[i]);
	out->unlinked = t->n_unlinked;
	out->gpu_events = t->n_gpu + t->n_unlinked;
	out->gpu_time = out->under_operation_time + out->under_call_time + out->unlinked_time;
}

static void count_nodes(tl_diff *d, int side, tl_diff_side_totals *out)
{
	const tl_tree *t = d->tree[side];
	for (tl_pos p = 0; p < t->n; p++) {
		tl_pos up = t->parent[p];
		bool single = d->partner[side][p] == TL_POS_NONE && !d->through[side][p];
		bool below = up != TL_POS_NONE && d->partner[side][up] == TL_POS_NONE && !d->through[side][up];
		out->looked_through += d->through[side][p];
		out->unmatched_nodes += single;
		out->unmatched_subtrees += single && !below;
	}
	for (size_t i = 0; i < t->n_unlinked; i++) {
		bool single = tl__diff_row(&d->node[d->unlinked_of[side][i]], !side) == TL_ROW_NONE;
		out->unmatched_nodes += single;
		out->unmatched_subtrees += single;
	}
}

bool tl__diff_is_operation(const tl_diff *d, const tl_diff_node *node)
{
	for (int s = 0; s < 2; s++) {
		tl_row row = tl__diff_row(node, s);
		if (row != TL_ROW_NONE && d->tree[s]->store->kind[row] != TL_KIND_CPU_OP)
			return false;
	}
	return !node->unlinked;
}

/* A wrapper stands for the only way to GPU work below it; bottom-up, as that may be a wrapper, too. */
static void pass_partners_up(tl_diff *d, int side)
{
	const tl_tree *t = d->tree[side];
	for (tl_pos p = (tl_pos)t->n; p-- > 0;) {
		if (!d->through[side][p])
			continue;
		tl_pos only = TL_POS_NONE;
		size_t n = 0;
		for (tl_pos c = tl__tree_first_child(t, p); c != TL_POS_NONE; c = tl__tree_next_sibling(t, c))
			if (tl__tree_gpu_count(t, c)) {
				only = c;
				n++;
			}
		if (n == 1)
			d->partner[side][p] = d->partner[side][only];
	}
}

static void finish_side(tl_diff *d, int side)
{
	tl_diff_side_totals *out = &d->totals.side[side], totals = {0};
	count_gpu(d, side, &totals);
	count_nodes(d, side, &totals);
	if (totals.looked_through)
		pass_partners_up(d, side);
	*out = totals;
}

static void finish_variant(void *diff)
{
	finish_side(diff, 1);
}

static void count_operations(tl_diff *d)
{
	tl_diff_totals *out = &d->totals;
	for (size_t i = 0; i < d->n; i++) {
		const tl_diff_node *x = &d->node[i];
		bool operation = tl__diff_is_operation(d, x);
		out->side[0].operations += operation && x->baseline != TL_ROW_NONE;
		out->side[1].operations += operation && x->variant != TL_ROW_NONE;
		out->moved += x->moved;
		out->matched_operations += operation && x->baseline != TL_ROW_NONE && x->variant != TL_ROW_NONE;
	}
}

static void finish(maker *m)
{
	tl_diff *d = m->d;
	tl_aside aside;
	tl__aside_start(&aside, finish_variant, d, m->threaded);
	finish_side(d, 0);
	tl__aside_finish(&aside);
	count_operations(d);
	d->totals.identical = m->in_order;
	for (int s = 0; s < 2; s++)
		d->totals.identical &= !d->totals.side[s].unmatched_nodes && !d->totals.side[s].looked_through;
	for (tl_pos p = 0; p < d->tree[0]->n && d->totals.identical; p++)
		d->totals.identical = tl__diff_plain_name(&m->nodes[0], p) ==
				      tl__diff_plain_name(&m->nodes[1], d->partner[0][p]);
}

/* ---- all of it ---- */

static uint32_t *new_ids(size_t n)
{
	uint32_t *out = tl__malloc((n + 1) * sizeof *out);
	if (out)
		memset(out, 0xff, (n + 1) * sizeof *out);
	return out;
}

static int allocate(tl_diff *d)
{
	for (int s = 0; s < 2; s++) {
		size_t n = d->tree[s]->n;
		d->partner[s] = new_ids(n);
		d->node_of[s] = new_ids(n);
		d->unlinked_of[s] = new_ids(d->tree[s]->n_unlinked);
		d->through[s] = tl__calloc(n + 1, 1);
		if (!d->partner[s] || !d->node_of[s] || !d->unlinked_of[s] || !d->through[s])
			return TL_ENOMEM;
	}
	return 0;
}

/* What is known of one tree, found by a thread of its own. */
typedef struct knowledge {
	tl_diff_nodes *out;
	const tl_tree *tree;
	const tl_twins *twins;
	int code;
} knowledge;

static void know(void *user)
{
	knowledge *k = user;
	k->code = tl__diff_nodes_new(k->out, k->tree, k->twins);
}

static int know_both(maker *m, const tl_twins *twins)
{
	knowledge side[2];
	tl_aside aside;
	for (int s = 0; s < 2; s++)
		side[s] = (knowledge){.out = &m->nodes[s], .tree = m->d->tree[s], .twins = twins};
	tl__aside_start(&aside, know, &side[1], m->threaded);
	know(&side[0]);
	tl__aside_finish(&aside);
	return side[0].code < 0 ? side[0].code : side[1].code;
}

static int make(maker *m, const tl_twins *twins)
{
	TL_TRY(allocate(m->d));
	TL_TRY(know_both(m, twins));
	TL_TRY(tl__diff_merge(&m->merged, &m->in_order, m->d, m->nodes, m->threaded));
	/* names are needed to the end */
	for (int s = 0; s < 2; s++)
		tl__diff_signatures_free(&m->nodes[s]);
	TL_TRY(add_unlinked(m));
	m->d->node = m->merged.v;
	m->d->n = m->merged.n;
	m->merged.v = NULL;
	finish(m);
	return 0;
}

/* Nodes of both trees from which on it is worth a thread. */
enum { MANY = 100000 };

int tl_diff_new(tl_diff **out, const tl_tree *baseline, const tl_tree *variant, const tl_diff_options *options,
		tl_error *err)
{
	tl_twins twins = {0};
	*out = NULL;
	if (!baseline || !variant)
		return tl__fail(err, TL_EINVAL, "a comparison needs two trees");
	int code = tl__twins_read(&twins, options ? options->twins : NULL, err);
	if (code < 0) {
		tl__twins_free(&twins);
		return code;
	}
	maker m = {.d = tl__calloc(1, sizeof *m.d)};
	code = m.d ? 0 : TL_ENOMEM;
	if (code == 0) {
		m.d->tree[0] = baseline;
		m.d->tree[1] = variant;
		m.d->single_thread = options && options->single_thread;
		m.threaded = !m.d->single_thread && baseline->n + variant->n >= MANY;
		code = make(&m, &twins);
	}
	for (int s = 0; s < 2; s++)
		tl__diff_nodes_free(&m.nodes[s]);
	TL_VEC_FREE(&m.merged);
	tl__twins_free(&twins);
	if (code < 0) {
		tl_diff_free(m.d);
		return code == TL_ELIMIT ? tl__fail(err, code, "the merged tree has too many nodes") : tl__nomem(err);
	}
	*out = m.d;
	return 0;
}

void tl_diff_free(tl_diff *d)
{
	if (!d)
		return;
	for (int s = 0; s < 2; s++) {
		tl__free(d->partner[s]);
		tl__free(d->through[s]);
		tl__free(d->node_of[s]);
		tl__free(d->unlinked_of[s]);
	}
	tl__free(d->node);
	tl__free(d);
}

/* ---- looking at it ---- */

const tl_tree *tl_diff_tree(const tl_diff *d, tl_diff_side side)
{
	return d->tree[side == TL_DIFF_VARIANT];
}

size_t tl_diff_count(const tl_diff *d)
{
	return d->n;
}

tl_diff_node tl_diff_get(const tl_diff *d, size_t index)
{
	return index < d->n ? d->node[index] : (tl_diff_node){TL_ROW_NONE, TL_ROW_NONE, NONE, NONE, false, false};
}

uint32_t tl_diff_node_of(const tl_diff *d, tl_diff_side side, tl_row event)
{
	int s = side == TL_DIFF_VARIANT;
	const tl_tree *t = d->tree[s];
	if (event >= t->store->n)
		return NONE;
	if (t->pos_of_row[event] != TL_POS_NONE)
		return d->node_of[s][t->pos_of_row[event]];
	size_t low = 0, high = t->n_unlinked;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->unlinked[middle] < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n_unlinked && t->unlinked[low] == event ? d->unlinked_of[s][low] : NONE;
}

tl_row tl_diff_corresponding(const tl_diff *d, tl_diff_side side, tl_row event)
{
	int s = side == TL_DIFF_VARIANT;
	tl_pos pos = event < d->tree[s]->store->n ? d->tree[s]->pos_of_row[event] : TL_POS_NONE;
	if (pos == TL_POS_NONE) {
		uint32_t node = tl_diff_node_of(d, side, event);
		return node == NONE ? TL_ROW_NONE : tl__diff_row(&d->node[node], !s);
	}
	tl_pos mate = d->partner[s][pos];
	return mate == TL_POS_NONE ? TL_ROW_NONE : d->tree[!s]->row[mate];
}

void tl_diff_get_totals(const tl_diff *d, tl_diff_totals *out)
{
	*out = d->totals;
}
