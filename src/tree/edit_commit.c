/* SPDX-License-Identifier: MIT */
/* Sealing an edited tree: pre-order numbers, GPU ranges, links, extra arguments. */
#include <string.h>

#include "tree/build.h"
#include "tree/edit.h"
#include "util/sort.h"

/* Frees what a half-made `next` holds of its own. */
static void drop(tl_tree *next)
{
	tl__free(next->row);
	tl__free(next->end);
	tl__free(next->parent);
	tl__free(next->gpu_before);
	tl__free(next->pos_of_row);
	tl__free(next->gpu);
	tl__free(next->unlinked);
	tl__free(next->ambiguous);
	tl__free(next->links);
	tl__free(next->links_by_backward);
	tl__free(next->recompute);
}

/* ---- nodes ---- */

static void count_nodes(const tl_edit *e, tl_tree *next)
{
	const tl_store *s = e->store;
	next->n = next->n_gpu = next->n_unlinked = 0;
	for (size_t row = 0; row < s->n; row++) {
		bool inside = e->places.v[row + 1].parent != TL_OUTSIDE, gpu = tl__kind_is_gpu(s->kind[row]);
		next->n += inside;
		next->n_gpu += inside && gpu;
		next->n_unlinked += !inside && gpu;
	}
}

static int allocate(const tl_edit *e, tl_tree *next)
{
	next->row = tl__malloc((next->n + 1) * sizeof *next->row);
	next->end = tl__malloc((next->n + 1) * sizeof *next->end);
	next->parent = tl__malloc((next->n + 1) * sizeof *next->parent);
	next->gpu_before = tl__malloc((next->n + 1) * sizeof *next->gpu_before);
	next->pos_of_row = tl__malloc((e->store->n + 1) * sizeof *next->pos_of_row);
	next->gpu = tl__malloc((next->n_gpu + 1) * sizeof *next->gpu);
	next->unlinked = tl__malloc((next->n_unlinked + 1) * sizeof *next->unlinked);
	next->ambiguous = tl__malloc((e->tree->n_ambiguous + 1) * sizeof *next->ambiguous);
	bool all = next->row && next->end && next->parent && next->gpu_before && next->pos_of_row && next->gpu &&
		   next->unlinked && next->ambiguous;
	return all ? 0 : TL_ENOMEM;
}

/* Children are in order, host events before GPU events, so that one walk gives all numbers. */
static void number(const tl_edit *e, tl_tree *next)
{
	const tl_place *places = e->places.v;
	tl_pos pos = 0, up = TL_POS_NONE;
	uint32_t gpu = 0;
	for (uint32_t at = places[0].first; at;) {
		tl_row row = at - 1;
		next->row[pos] = row;
		next->parent[pos] = up;
		next->gpu_before[pos] = gpu;
		next->pos_of_row[row] = pos;
		if (tl__kind_is_gpu(e->store->kind[row]))
			next->gpu[gpu++] = row;
		if (places[at].first) {
			up = pos++;
			at = places[at].first;
			continue;
		}
		next->end[pos] = pos + 1;
		pos++;
		while (at && !places[at].next) { /* out of the subtrees that end here */
			at = places[at].parent;
			if (at) {
				next->end[up] = pos;
				up = next->parent[up];
			}
		}
		at = places[at].next; /* of the forest: none */
	}
	next->gpu_before[pos] = gpu;
}

static void find_unlinked(const tl_edit *e, tl_tree *next)
{
	const tl_store *s = e->store;
	size_t n = 0;
	next->unlinked_time = 0;
	for (tl_row row = 0; row < s->n; row++) {
		if (!tl__kind_is_gpu(s->kind[row]) || e->places.v[row + 1].parent != TL_OUTSIDE)
			continue;
		next->unlinked[n++] = row;
		next->unlinked_time += tl__known_dur(s, row);
	}
}

/* What was ambiguous stays so unless it was given a place. */
static void find_ambiguous(const tl_edit *e, tl_tree *next)
{
	const tl_tree *old = e->tree;
	next->n_ambiguous = 0;
	next->ambiguous_time = 0;
	for (size_t i = 0; i < old->n_ambiguous; i++) {
		tl_row row = old->ambiguous[i];
		if (next->pos_of_row[row] != TL_POS_NONE)
			continue;
		next->ambiguous[next->n_ambiguous++] = row;
		next->ambiguous_time += tl__known_dur(e->store, row);
	}
}

/* Keeps the findings about GPU events without a launch true. */
static void correct_health(const tl_tree *old, tl_tree *next)
{
	for (size_t i = 0, k = 0; i < old->n_unlinked; i++) {
		tl_row row = old->unlinked[i];
		while (k < old->n_ambiguous && old->ambiguous[k] < row)
			k++;
		bool ambiguous = k < old->n_ambiguous && old->ambiguous[k] == row;
		tl_health_entry *entry =
			&next->health.entry[ambiguous ? TL_HEALTH_AMBIGUOUS_RANKS : TL_HEALTH_NO_LAUNCH];
		if (next->pos_of_row[row] == TL_POS_NONE || !entry->count)
			continue;
		entry->count--;
		entry->time -= tl__known_dur(old->store, row);
		if (!entry->count)
			*entry = (tl_health_entry){.first_offset = -1, .first_row = TL_ROW_NONE};
	}
	for (size_t i = 0; i < next->n_unlinked; i++) {
		tl_row row = next->unlinked[i];
		if (row < old->store->n && old->pos_of_row[row] != TL_POS_NONE)
			tl__health_add(&next->health, TL_HEALTH_NO_LAUNCH, -1, row, next->store->dur[row],
				       tl__name(next->store, row));
	}
}

/* ---- links and extra arguments ---- */

static int copy_links(const tl_edit *e, tl_tree *next)
{
	size_t old = e->tree->n_links;
	next->n_links = old + e->links.n;
	next->links = tl__malloc((next->n_links + 1) * sizeof *next->links);
	if (!next->links)
		return TL_ENOMEM;
	if (old)
		memcpy(next->links, e->tree->links, old * sizeof *next->links);
	for (size_t i = 0; i < e->links.n; i++) {
		next->links[old + i].forward = e->links.v[i].forward;
		next->links[old + i].backward = e->links.v[i].backward;
	}
	return tl__build_index_links(next);
}

static bool extra_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_extra *extras = ctx;
	return extras[a].row != extras[b].row ? extras[a].row < extras[b].row : a < b;
}

/* Sorted by event, in the order in which an event got them; removed ones are left out. */
static int sort_extras(const tl_edit *e, tl_extra **out, size_t *n)
{
	const tl_extra *all = e->store->extras.v;
	uint32_t *order = tl__malloc((e->store->extras.n + 1) * sizeof *order);
	tl_extra *sorted = tl__malloc((e->store->extras.n + 1) * sizeof *sorted);
	int code = order && sorted ? 0 : TL_ENOMEM;
	*n = 0;
	for (size_t i = 0; i < e->store->extras.n && code == 0; i++)
		if (all[i].value != TL_STR_NONE)
			order[(*n)++] = (uint32_t)i;
	if (code == 0)
		code = tl__sort(order, *n, extra_less, all);
	for (size_t i = 0; i < *n && code == 0; i++)
		sorted[i] = all[order[i]];
	tl__free(order);
	if (code < 0) {
		tl__free(sorted);
		return code;
	}
	*out = sorted;
	return 0;
}

/* ---- the commit ---- */

static int seal(const tl_edit *e, tl_tree *next)
{
	count_nodes(e, next);
	TL_TRY(allocate(e, next));
	memset(next->pos_of_row, 0xff, e->store->n * sizeof *next->pos_of_row); /* TL_POS_NONE */
	number(e, next);
	find_unlinked(e, next);
	find_ambiguous(e, next);
	correct_health(e->tree, next);
	TL_TRY(copy_links(e, next));
	return e->tree->recompute ? tl_tree_mark_recompute(next, NULL, NULL, NULL) : 0;
}

int tl_edit_commit(tl_edit *e, tl_error *err)
{
	tl_tree *tree = e->tree, next = *tree, old = *tree;
	tl_extra *extras;
	size_t n_extras;
	next.store = e->store;
	next.row = next.gpu = next.unlinked = next.ambiguous = next.links_by_backward = NULL;
	next.end = next.parent = next.gpu_before = next.pos_of_row = NULL;
	next.links = NULL;
	next.recompute = NULL;
	next.names = NULL;
	if (seal(e, &next) < 0 || sort_extras(e, &extras, &n_extras) < 0) {
		drop(&next);
		return tl__nomem(err);
	}
	/* nothing fails from here on */
	tl__free(e->store->extras.v);
	e->store->extras.v = extras;
	e->store->extras.n = n_extras;
	e->store->extras.cap = n_extras + 1;
	next.own_store = e->store;
	next.generation++;
	*tree = next;
	drop(&old);
	tl__tree_free_names(&old);
	tl__store_free(old.own_store);
	e->store = NULL;
	tl_edit_abort(e);
	return 0;
}
