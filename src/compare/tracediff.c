/* SPDX-License-Identifier: MIT */
/*
 * Making the merged tree: pairs of nodes wait in a list until their children are aligned; new nodes hang below the one
 * that they come from, and are numbered at the end. Nothing recurses, and neither tree is changed.
 */
#include <stdlib.h>
#include <string.h>

#include "compare/tracediff.h"

/* A node of the merged tree before it is numbered. */
typedef struct record {
	tl_row row[2];
	uint32_t parent, first, last, next;
	bool moved, unlinked;
} record;

#define NONE TL_DIFF_NONE

/* Two matched nodes whose children are to be aligned. */
typedef struct pair {
	tl_pos pos[2];
	uint32_t record; /* where their children hang, or NONE: they are no nodes of the merged tree */
} pair;

typedef struct maker {
	tl_diff *d;
	tl_diff_nodes nodes[2];
	tl_diff_lists lists;
	TL_VEC(record) records;
	uint32_t first, last; /* roots */
	TL_VEC(pair) todo;
	bool in_order; /* no pair changed its place */
} maker;

/* ---- records ---- */

static int add_record(maker *m, uint32_t parent, tl_row baseline, tl_row variant, uint32_t *out)
{
	record r = {.row = {baseline, variant}, .parent = parent, .first = NONE, .last = NONE, .next = NONE};
	uint32_t id = (uint32_t)m->records.n;
	if (id >= NONE - 1)
		return TL_ELIMIT;
	TL_TRY(TL_VEC_PUSH(&m->records, r));
	uint32_t *first = parent == NONE ? &m->first : &m->records.v[parent].first;
	uint32_t *last = parent == NONE ? &m->last : &m->records.v[parent].last;
	if (*last == NONE)
		*first = id;
	else
		m->records.v[*last].next = id;
	*last = id;
	*out = id;
	return 0;
}

/* A record of nodes of the trees (TL_POS_NONE: that side has none). */
static int add_nodes(maker *m, uint32_t parent, tl_pos a, tl_pos b, uint32_t *out)
{
	const tl_tree *t[2] = {m->d->tree[0], m->d->tree[1]};
	TL_TRY(add_record(m, parent, a == TL_POS_NONE ? TL_ROW_NONE : t[0]->row[a],
			  b == TL_POS_NONE ? TL_ROW_NONE : t[1]->row[b], out));
	if (a != TL_POS_NONE)
		m->d->node_of[0][a] = *out;
	if (b != TL_POS_NONE)
		m->d->node_of[1][b] = *out;
	return 0;
}

static bool has_gpu(const maker *m, int side, tl_pos pos)
{
	return tl__tree_gpu_count(m->d->tree[side], pos) > 0;
}

/* ---- subtrees ---- */

/* What one side has alone: itself and what is below it with GPU work. */
static int add_single(maker *m, uint32_t parent, int side, tl_pos pos)
{
	const tl_tree *t = m->d->tree[side];
	tl_pos end = has_gpu(m, side, pos) ? t->end[pos] : pos + 1;
	if (end == pos + 1 && parent != NONE && !has_gpu(m, side, pos))
		return 0;
	for (tl_pos p = pos; p < end; p++) {
		uint32_t id, above = p == pos ? parent : m->d->node_of[side][t->parent[p]];
		if (p == pos || has_gpu(m, side, p))
			TL_TRY(add_nodes(m, above, side ? TL_POS_NONE : p, side ? p : TL_POS_NONE, &id));
	}
	return 0;
}

static void join(maker *m, tl_pos a, tl_pos b)
{
	m->d->partner[0][a] = b;
	m->d->partner[1][b] = a;
}

/* Whether two subtrees are the same node by node; the hashes say so, and this makes sure. */
static bool subtrees_equal(const maker *m, tl_pos a, tl_pos b)
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

static int add_equal(maker *m, uint32_t parent, bool root, tl_pos a, tl_pos b)
{
	const tl_tree *t = m->d->tree[0];
	tl_pos n = t->end[a] - a;
	for (tl_pos i = 0; i < n; i++) {
		uint32_t id, above = i ? m->d->node_of[0][t->parent[a + i]] : parent;
		join(m, a + i, b + i);
		if (has_gpu(m, 0, a + i) || (!i && root))
			TL_TRY(add_nodes(m, above, a + i, b + i, &id));
	}
	return 0;
}

static int add_pair(maker *m, uint32_t parent, bool root, tl_pos a, tl_pos b, bool moved)
{
	bool shown = root || has_gpu(m, 0, a) || has_gpu(m, 1, b);
	size_t before = m->records.n;
	if (subtrees_equal(m, a, b)) {
		TL_TRY(add_equal(m, parent, root, a, b));
	} else {
		uint32_t id = NONE;
		join(m, a, b);
		if (shown)
			TL_TRY(add_nodes(m, parent, a, b, &id));
		TL_TRY(TL_VEC_PUSH(&m->todo, ((pair){{a, b}, id})));
	}
	m->in_order &= !moved;
	if (moved && m->records.n > before)
		m->records.v[before].moved = true;
	return 0;
}

/* ---- lists ---- */

/* The aligned lists as children of a record: what is matched in order, and between, what the baseline has, then what
 * the variant has. */
static int add_children(maker *m, uint32_t parent, bool root)
{
	const tl_diff_list *a = &m->lists.list[0], *b = &m->lists.list[1];
	bool shown = root || parent != NONE;
	for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
		const tl_diff_entry *x = i < a->n ? &a->v[i] : NULL, *y = j < b->n ? &b->v[j] : NULL;
		if (x && x->anchored && y && y->anchored) {
			TL_TRY(add_pair(m, parent, root, x->pos, y->pos, false));
			i++;
			j++;
		} else if (x && !x->anchored) {
			if (x->mate != TL_POS_NONE)
				TL_TRY(add_pair(m, parent, root, x->pos, x->mate, true));
			else if (shown)
				TL_TRY(add_single(m, parent, 0, x->pos));
			i++;
		} else {
			if (shown && y->mate == TL_POS_NONE)
				TL_TRY(add_single(m, parent, 1, y->pos));
			j++;
		}
	}
	return 0;
}

static int add_trees(maker *m)
{
	tl_diff_lists *l = &m->lists;
	TL_TRY(tl__diff_roots(l));
	TL_TRY(tl__diff_align_lists(l));
	TL_TRY(add_children(m, NONE, true));
	while (m->todo.n) {
		pair p = m->todo.v[--m->todo.n];
		for (int s = 0; s < 2; s++) {
			const tl_tree *t = m->d->tree[s];
			l->list[s].n = 0;
			for (tl_pos c = tl__tree_first_child(t, p.pos[s]); c != TL_POS_NONE;
			     c = tl__tree_next_sibling(t, c))
				TL_TRY(tl__diff_push(l, s, &l->list[s], c));
		}
		TL_TRY(tl__diff_align_lists(l));
		TL_TRY(add_children(m, p.record, false));
	}
	return 0;
}

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

static int add_unlinked_records(maker *m, start *const v[2], uint32_t *const mate[2])
{
	uint32_t root, id;
	TL_TRY(add_record(m, NONE, TL_ROW_NONE, TL_ROW_NONE, &root));
	m->records.v[root].unlinked = true;
	for (size_t i = 0; i < m->d->tree[0]->n_unlinked; i++) {
		uint32_t j = mate[0][i];
		TL_TRY(add_record(m, root, v[0][i].row, j == NONE ? TL_ROW_NONE : v[1][j].row, &id));
		m->d->unlinked_of[0][v[0][i].index] = id;
		if (j != NONE)
			m->d->unlinked_of[1][v[1][j].index] = id;
	}
	for (size_t j = 0; j < m->d->tree[1]->n_unlinked; j++) {
		if (mate[1][j] != NONE)
			continue;
		TL_TRY(add_record(m, root, TL_ROW_NONE, v[1][j].row, &id));
		m->d->unlinked_of[1][v[1][j].index] = id;
	}
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
		code = add_unlinked_records(m, v, mate);
	for (int i = 0; i < 2; i++) {
		tl__free(v[i]);
		tl__free(mate[i]);
	}
	return code;
}

/* ---- numbering ---- */

static void renumber(uint32_t *ids, size_t n, const uint32_t *number)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] != NONE)
			ids[i] = number[ids[i]];
}

static int number_nodes(maker *m)
{
	tl_diff *d = m->d;
	size_t n = m->records.n;
	uint32_t *number = tl__malloc((n + 1) * sizeof *number), r = m->first;
	d->node = tl__calloc(n + 1, sizeof *d->node);
	if (!number || !d->node) {
		tl__free(number);
		return TL_ENOMEM;
	}
	while (r != NONE) {
		const record *x = &m->records.v[r];
		number[r] = (uint32_t)d->n;
		d->node[d->n++] = (tl_diff_node){.baseline = x->row[0],
						 .variant = x->row[1],
						 .parent = x->parent == NONE ? NONE : number[x->parent],
						 .moved = x->moved,
						 .unlinked = x->unlinked};
		uint32_t next = x->first;
		while (next == NONE && r != NONE) { /* up until there is a sibling */
			d->node[number[r]].end = (uint32_t)d->n;
			next = m->records.v[r].next;
			r = m->records.v[r].parent;
		}
		r = next;
	}
	for (int s = 0; s < 2; s++) {
		renumber(d->node_of[s], d->tree[s]->n, number);
		renumber(d->unlinked_of[s], d->tree[s]->n_unlinked, number);
	}
	tl__free(number);
	return 0;
}

/* ---- totals ---- */

static tl_time duration(const tl_store *s, tl_row row)
{
	return s->dur[row] == TL_TIME_NONE ? 0 : s->dur[row];
}

static void count_gpu(tl_diff *d, int side, tl_diff_side_totals *out)
{
	const tl_tree *t = d->tree[side];
	for (size_t i = 0; i < t->n_gpu; i++) {
		tl_pos pos = t->pos_of_row[t->gpu[i]], op = tl__tree_cpu_op_above(t, pos);
		tl_time dur = duration(t->store, t->gpu[i]);
		bool matched = op != TL_POS_NONE && d->partner[side][op] != TL_POS_NONE;
		out->under_operation += op != TL_POS_NONE;
		out->under_operation_time += op != TL_POS_NONE ? dur : 0;
		out->under_call += op == TL_POS_NONE;
		out->under_call_time += op == TL_POS_NONE ? dur : 0;
		out->in_matched += matched;
		out->in_matched_time += matched ? dur : 0;
	}
	for (size_t i = 0; i < t->n_unlinked; i++)
		out->unlinked_time += duration(t->store, t->unlinked[i]);
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

static void count_all(maker *m)
{
	tl_diff *d = m->d;
	tl_diff_totals *out = &d->totals;
	for (int s = 0; s < 2; s++) {
		count_gpu(d, s, &out->side[s]);
		count_nodes(d, s, &out->side[s]);
	}
	for (size_t i = 0; i < d->n; i++) {
		const tl_diff_node *x = &d->node[i];
		bool operation = tl__diff_is_operation(d, x);
		out->side[0].operations += operation && x->baseline != TL_ROW_NONE;
		out->side[1].operations += operation && x->variant != TL_ROW_NONE;
		out->moved += x->moved;
		out->matched_operations += operation && x->baseline != TL_ROW_NONE && x->variant != TL_ROW_NONE;
	}
	out->identical = m->in_order;
	for (int s = 0; s < 2; s++)
		out->identical &= !out->side[s].unmatched_nodes && !out->side[s].looked_through;
	for (tl_pos p = 0; p < d->tree[0]->n && out->identical; p++)
		out->identical = tl__diff_plain_name(&m->nodes[0], p) ==
				 tl__diff_plain_name(&m->nodes[1], d->partner[0][p]);
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

static int make(maker *m, const tl_twins *twins)
{
	TL_TRY(allocate(m->d));
	for (int s = 0; s < 2; s++) {
		TL_TRY(tl__diff_nodes_new(&m->nodes[s], m->d->tree[s], twins));
		m->lists.nodes[s] = &m->nodes[s];
		m->lists.through[s] = m->d->through[s];
	}
	TL_TRY(add_trees(m));
	TL_TRY(add_unlinked(m));
	/* names are needed to the end; the rest makes room for the numbered nodes */
	tl__diff_lists_free(&m->lists);
	for (int s = 0; s < 2; s++)
		tl__diff_signatures_free(&m->nodes[s]);
	TL_TRY(number_nodes(m));
	count_all(m);
	pass_partners_up(m->d, 0);
	pass_partners_up(m->d, 1);
	return 0;
}

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
	maker m = {.d = tl__calloc(1, sizeof *m.d), .first = NONE, .last = NONE, .in_order = true};
	code = m.d ? 0 : TL_ENOMEM;
	if (code == 0) {
		m.d->tree[0] = baseline;
		m.d->tree[1] = variant;
		m.d->single_thread = options && options->single_thread;
		code = make(&m, &twins);
	}
	for (int s = 0; s < 2; s++)
		tl__diff_nodes_free(&m.nodes[s]);
	tl__diff_lists_free(&m.lists);
	TL_VEC_FREE(&m.records);
	TL_VEC_FREE(&m.todo);
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
