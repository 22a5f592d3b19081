/* SPDX-License-Identifier: MIT */
/*
 * Nodes by name. Made when first asked for, which most work never does; whoever is first among several threads puts
 * it in place. An edit drops it.
 */
#include <string.h>

#include "tree/build.h"
#include "tree/navigate.h"
#include "util/sort.h"

typedef struct tl_name_index {
	size_t n;      /* names */
	tl_str *name;  /* in order of their first node */
	size_t *first; /* n + 1: range of each name in rows */
	tl_row *rows;
	tl_map of_name; /* name -> its number */
} tl_name_index;

static void free_index(tl_name_index *index)
{
	if (!index)
		return;
	tl__free(index->name);
	tl__free(index->first);
	tl__free(index->rows);
	tl__map_free(&index->of_name);
	tl__free(index);
}

void tl__tree_free_names(tl_tree *t)
{
	free_index(t->names);
}

static bool starts_before(const void *store, uint32_t a, uint32_t b)
{
	return tl__starts_before(store, a, b);
}

/* All nodes in the order of the index: host events by start, then GPU events in launch order. */
static int list_nodes(const tl_tree *t, tl_row *out)
{
	size_t n = 0;
	for (tl_pos pos = 0; pos < t->n; pos++)
		if (!tl__kind_is_gpu(t->store->kind[t->row[pos]]))
			out[n++] = t->row[pos];
	TL_TRY(tl__sort(out, n, starts_before, t->store));
	if (t->n_gpu)
		memcpy(out + n, t->gpu, t->n_gpu * sizeof *out);
	return 0;
}

/* Numbers the names and counts their nodes; `first` is two places ahead, for `distribute`. */
static int number_names(const tl_tree *t, tl_name_index *index, const tl_row *nodes)
{
	for (size_t i = 0; i < t->n; i++) {
		tl_str name = t->store->name[nodes[i]];
		uint32_t at = tl__map_get_or_set(&index->of_name, name, (uint32_t)index->n);
		if (at == TL_MAP_NONE)
			return TL_ENOMEM;
		if (at == index->n)
			index->name[index->n++] = name;
		index->first[at + 2]++;
	}
	return 0;
}

static void distribute(const tl_tree *t, tl_name_index *index, const tl_row *nodes)
{
	for (size_t i = 2; i <= index->n; i++)
		index->first[i] += index->first[i - 1];
	for (size_t i = 0; i < t->n; i++) {
		uint32_t at = tl__map_get(&index->of_name, t->store->name[nodes[i]]);
		index->rows[index->first[at + 1]++] = nodes[i];
	}
}

static tl_name_index *make_index(const tl_tree *t)
{
	tl_name_index *index = tl__calloc(1, sizeof *index);
	tl_row *nodes = tl__malloc((t->n + 1) * sizeof *nodes);
	bool ready = index && nodes;
	if (ready) {
		index->name = tl__malloc((t->n + 1) * sizeof *index->name);
		index->first = tl__calloc(t->n + 3, sizeof *index->first);
		index->rows = tl__malloc((t->n + 1) * sizeof *index->rows);
		ready = index->name && index->first && index->rows && list_nodes(t, nodes) == 0 &&
			number_names(t, index, nodes) == 0;
	}
	if (ready)
		distribute(t, index, nodes);
	tl__free(nodes);
	if (!ready) {
		free_index(index);
		return NULL;
	}
	return index;
}

/* The index, made at the first call; NULL when out of memory. */
static const tl_name_index *index_of(const tl_tree *tree)
{
	tl_tree *t = (tl_tree *)(uintptr_t)tree; /* the index is no part of what makes two trees differ */
	tl_name_index *there = __atomic_load_n(&t->names, __ATOMIC_ACQUIRE);
	if (there)
		return there;
	tl_name_index *index = make_index(t);
	if (!index || __atomic_compare_exchange_n(&t->names, &there, index, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return index;
	free_index(index); /* another thread was faster */
	return there;
}

int tl_tree_named(const tl_row **out, size_t *n, const tl_tree *t, const char *name, tl_error *err)
{
	*out = NULL;
	*n = 0;
	const tl_name_index *index = index_of(t);
	if (!index)
		return tl__nomem(err);
	tl_str id = name ? tl__strings_find(t->store->strings, name, strlen(name)) : TL_STR_NONE;
	uint32_t at = id == TL_STR_NONE ? TL_MAP_NONE : tl__map_get(&index->of_name, id);
	if (at == TL_MAP_NONE)
		return 0;
	*out = index->rows + index->first[at];
	*n = index->first[at + 1] - index->first[at];
	return 0;
}

int tl_tree_name_count(size_t *out, const tl_tree *t, tl_error *err)
{
	const tl_name_index *index = index_of(t);
	*out = index ? index->n : 0;
	return index ? 0 : tl__nomem(err);
}

int tl_tree_name_get(const char **name, const tl_row **out, size_t *n, const tl_tree *t, size_t at, tl_error *err)
{
	*name = NULL;
	*out = NULL;
	*n = 0;
	const tl_name_index *index = index_of(t);
	if (!index)
		return tl__nomem(err);
	if (at >= index->n)
		return tl__fail(err, TL_ENOTFOUND, "the tree has only %zu names", index->n);
	*name = tl__str(t->store->strings, index->name[at]);
	*out = index->rows + index->first[at];
	*n = index->first[at + 1] - index->first[at];
	return 0;
}
