/* SPDX-License-Identifier: MIT */
/* The final arrays of the tree: pre-order over all tracks, GPU events below their launches. */
#include <string.h>

#include "tree/build.h"
#include "util/sort.h"

static bool root_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_build *build = ctx;
	return tl__starts_before(build->store, build->order[a], build->order[b]);
}

typedef TL_VEC(uint32_t) local_vec;

static int find_roots(const tl_build *b, local_vec *out)
{
	for (uint32_t i = 0; i < b->n_host; i = b->end[i])
		TL_TRY(TL_VEC_PUSH(out, i));
	return tl__sort(out->v, out->n, root_less, b);
}

static int allocate(tl_tree *t, size_t n)
{
	t->row = tl__malloc((n + 1) * sizeof *t->row);
	t->end = tl__malloc((n + 1) * sizeof *t->end);
	t->parent = tl__malloc((n + 1) * sizeof *t->parent);
	t->gpu_before = tl__malloc((n + 1) * sizeof *t->gpu_before);
	return t->row && t->end && t->parent && t->gpu_before ? 0 : TL_ENOMEM;
}

typedef struct {
	tl_build *b;
	tl_row *gpu;       /* the new tree->gpu */
	uint32_t *launch;  /* local position of the host parent of each tree->gpu entry */
	local_vec waiting; /* hosts whose GPU events come when their host descendants are out; indexes into gpu */
	size_t n_gpu;      /* out so far */
	size_t next;       /* in tree->gpu, behind the events of the subtree before */
} tl_numberer;

static void emit(tl_numberer *m, tl_row row, tl_pos parent)
{
	tl_tree *t = m->b->tree;
	t->row[t->n] = row;
	t->parent[t->n] = parent;
	t->gpu_before[t->n] = (uint32_t)m->n_gpu;
	t->pos_of_row[row] = (tl_pos)t->n++;
}

/* GPU events of the waiting hosts that have no descendants from local position `next` on. */
static void emit_gpu(tl_numberer *m, uint32_t next)
{
	tl_build *b = m->b;
	while (m->waiting.n) {
		uint32_t at = m->waiting.v[m->waiting.n - 1], host = m->launch[at];
		if (b->end[host] > next)
			return;
		m->waiting.n--;
		tl_pos parent = b->tree->pos_of_row[b->order[host]];
		for (; at < b->tree->n_gpu && m->launch[at] == host; at++) {
			emit(m, b->tree->gpu[at], parent);
			m->gpu[m->n_gpu++] = b->tree->gpu[at];
		}
	}
}

/* First GPU event at or below local position `root`; mostly the one behind those of the root before. */
static size_t first_gpu(const tl_numberer *m, uint32_t root)
{
	size_t lo = 0, hi = m->b->tree->n_gpu, next = m->next;
	if ((next == 0 || m->launch[next - 1] < root) && (next == hi || m->launch[next] >= root))
		return next;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (m->launch[mid] < root)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int emit_subtree(tl_numberer *m, uint32_t root)
{
	tl_build *b = m->b;
	tl_tree *t = b->tree;
	size_t lo = first_gpu(m, root);
	for (uint32_t i = root; i < b->end[root]; i++) {
		emit_gpu(m, i);
		uint32_t parent = b->parent[i];
		emit(m, b->order[i], parent == TL_LOCAL_NONE ? TL_POS_NONE : t->pos_of_row[b->order[parent]]);
		if (lo < t->n_gpu && m->launch[lo] == i) {
			TL_TRY(TL_VEC_PUSH(&m->waiting, (uint32_t)lo));
			while (lo < t->n_gpu && m->launch[lo] == i)
				lo++;
		}
	}
	emit_gpu(m, b->end[root]);
	m->next = lo;
	return 0;
}

/* One past the last descendant of each node: positions grow along the tree, so one backward pass. */
static void find_ends(tl_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->end[i] = (tl_pos)i + 1;
	for (size_t i = t->n; i-- > 0;) {
		tl_pos parent = t->parent[i];
		if (parent != TL_POS_NONE && t->end[parent] < t->end[i])
			t->end[parent] = t->end[i];
	}
}

int tl__build_number(tl_build *b)
{
	tl_tree *t = b->tree;
	TL_TRY(allocate(t, b->n_host + t->n_gpu));
	tl_numberer m = {.b = b};
	local_vec roots = {0};
	int code = find_roots(b, &roots);
	m.gpu = tl__malloc((t->n_gpu + 1) * sizeof *m.gpu);
	m.launch = tl__malloc((t->n_gpu + 1) * sizeof *m.launch);
	if (!m.gpu || !m.launch)
		code = TL_ENOMEM;
	for (size_t i = 0; i < t->n_gpu && !code; i++)
		m.launch[i] = t->pos_of_row[t->gpu[i]];
	for (size_t i = 0; i < roots.n && !code; i++)
		code = emit_subtree(&m, roots.v[i]);
	if (!code) {
		t->gpu_before[t->n] = (uint32_t)m.n_gpu;
		find_ends(t);
		tl__free(t->gpu);
		t->gpu = m.gpu;
		m.gpu = NULL;
	}
	tl__free(m.gpu);
	tl__free(m.launch);
	TL_VEC_FREE(&m.waiting);
	TL_VEC_FREE(&roots);
	return code;
}
