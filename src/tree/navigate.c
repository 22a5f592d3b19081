/* SPDX-License-Identifier: MIT */
/* Finding one's way in a tree: by UID, up, down, across to the other half of autograd. */
#include "tree/navigate.h"
#include "tree/recompute.h"
#include "util/alloc.h"

#include <string.h>

#include "tracelens/event.h"

const tl_trace *tl_tree_trace(const tl_tree *t)
{
	return t->trace;
}

const tl_events *tl_tree_events(const tl_tree *t)
{
	return t ? t->store : NULL;
}

bool tl_tree_has_python(const tl_tree *t)
{
	return t->with_python;
}

bool tl_tree_is_linked(const tl_tree *t, tl_row event)
{
	return tl__pos_of(t, event) != TL_POS_NONE;
}

const tl_row *tl_tree_nodes(const tl_tree *t, size_t *n)
{
	*n = t->n;
	return t->row;
}

const tl_row *tl_tree_subtree(const tl_tree *t, tl_row event, size_t *n)
{
	tl_pos pos = tl__pos_of(t, event);
	*n = pos == TL_POS_NONE ? 0 : t->end[pos] - pos;
	return pos == TL_POS_NONE ? t->row : t->row + pos;
}

size_t tl_tree_subtree_size(const tl_tree *t, tl_row event)
{
	size_t n;
	tl_tree_subtree(t, event, &n);
	return n;
}

size_t tl_tree_roots(const tl_tree *t, tl_row *out, size_t room)
{
	size_t n = 0;
	for (tl_pos pos = 0; pos < t->n; pos = t->end[pos], n++)
		if (n < room)
			out[n] = t->row[pos];
	return n;
}

size_t tl_tree_operation_roots(const tl_tree *t, tl_row *out, size_t room)
{
	size_t n = 0;
	for (tl_pos pos = 0; pos < t->n;) {
		if (t->store->kind[t->row[pos]] != TL_KIND_CPU_OP) {
			pos++;
			continue;
		}
		if (n < room)
			out[n] = t->row[pos];
		n++;
		pos = t->end[pos];
	}
	return n;
}

const tl_row *tl_tree_unlinked_events(const tl_tree *t, size_t *n)
{
	*n = t->n_unlinked;
	return t->unlinked;
}

tl_row tl_tree_forward(const tl_tree *t, tl_row backward)
{
	return backward < t->store->n ? tl__tree_forward_of(t, backward) : TL_ROW_NONE;
}

size_t tl_tree_backward(const tl_tree *t, tl_row forward, tl_row *out, size_t room)
{
	size_t first = 0, n = forward < t->store->n ? tl__tree_backward_of(t, forward, &first) : 0;
	for (size_t i = 0; i < n && i < room; i++)
		out[i] = t->links[first + i].backward;
	return n;
}

bool tl_tree_is_recompute(const tl_tree *t, tl_row event)
{
	return event < t->store->n && tl__tree_is_recompute(t, event);
}

/* ---- nn.Modules ---- */

bool tl_tree_is_module(const tl_tree *t, tl_row event)
{
	return event < t->store->n && tl__is_module(t->store, event);
}

tl_row tl_tree_module_parent(const tl_tree *t, tl_row event)
{
	tl_pos pos = tl__pos_of(t, event);
	while (pos != TL_POS_NONE) {
		pos = t->parent[pos];
		if (pos != TL_POS_NONE && tl__is_module(t->store, t->row[pos]))
			return t->row[pos];
	}
	return TL_ROW_NONE;
}

size_t tl_tree_module_children(const tl_tree *t, tl_row event, tl_row *out, size_t room)
{
	tl_pos pos = tl__pos_of(t, event);
	size_t n = 0;
	if (pos == TL_POS_NONE)
		return 0;
	for (tl_pos c = tl__next_module(t, pos + 1, t->end[pos]); c != TL_POS_NONE;
	     c = tl__next_module(t, t->end[c], t->end[pos]), n++)
		if (n < room)
			out[n] = t->row[c];
	return n;
}

tl_pos tl__next_module(const tl_tree *t, tl_pos from, tl_pos to)
{
	for (; from < to; from++)
		if (tl__is_module(t->store, t->row[from]))
			return from;
	return TL_POS_NONE;
}

bool tl__is_operation(const tl_store *store, tl_row row)
{
	return store->kind[row] == TL_KIND_CPU_OP;
}

tl_pos *tl__nearest_above(const tl_tree *t, bool (*is_wanted)(const tl_store *store, tl_row row))
{
	tl_pos *above = tl__malloc((t->n + 1) * sizeof *above);
	for (tl_pos pos = 0; above && pos < t->n; pos++) {
		tl_pos parent = t->parent[pos];
		if (parent == TL_POS_NONE)
			above[pos] = TL_POS_NONE;
		else
			above[pos] = is_wanted(t->store, t->row[parent]) ? parent : above[parent];
	}
	return above;
}

bool tl__is_module(const tl_store *s, tl_row row)
{
	static const char prefix[] = "nn.Module:";
	return s->kind[row] == TL_KIND_PYTHON && strncmp(tl__name(s, row), prefix, sizeof prefix - 1) == 0;
}
