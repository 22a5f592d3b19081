/* SPDX-License-Identifier: MIT */
/** @file order.c Orders of events that do not depend on the file. */
#include "analysis/order.h"

#include <string.h>

/* Below: negative, 0 or positive as a stands before b, is like b, or stands behind it. */

static int compare_times(tl_time a, tl_time b)
{
	return a < b ? -1 : a > b;
}

/* Numbers, then texts, then "none". Ids of texts depend on the file, the texts do not. */
static int compare_ids(const tl_store *store, tl_id a, tl_id b)
{
	if (a == b)
		return 0;
	if (a == TL_ID_NONE || b == TL_ID_NONE || !(a & TL_ID_TEXT) || !(b & TL_ID_TEXT))
		return a < b ? -1 : 1;
	return strcmp(tl__str(store->strings, (tl_str)(a & ~TL_ID_TEXT)),
		      tl__str(store->strings, (tl_str)(b & ~TL_ID_TEXT)));
}

static int compare_tracks(const tl_store *store, tl_row a, tl_row b)
{
	uint32_t i = store->track[a], k = store->track[b];
	if (i == k || i == UINT32_MAX || k == UINT32_MAX)
		return i == k ? 0 : i == UINT32_MAX ? 1 : -1;
	const tl_track *x = &store->tracks.v[i], *y = &store->tracks.v[k];
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	int pids = compare_ids(store, x->pid, y->pid);
	return pids ? pids : compare_ids(store, x->tid, y->tid);
}

static int compare_positions(const tl_tree *tree, tl_pos a, tl_pos b)
{
	const tl_store *store = tree->store;
	if (a == b || a == TL_POS_NONE || b == TL_POS_NONE)
		return a == b ? 0 : a == TL_POS_NONE ? 1 : -1;
	tl_row x = tree->row[a], y = tree->row[b];
	int order = compare_times(store->start[x], store->start[y]);
	if (!order)
		order = compare_tracks(store, x, y);
	return order ? order : a < b ? -1 : 1;
}

bool tl__position_before(const void *tree, uint32_t a, uint32_t b)
{
	return compare_positions(tree, a, b) < 0;
}

static tl_pos launch_of(const tl_tree *tree, tl_row gpu_event)
{
	tl_pos pos = tree->pos_of_row[gpu_event];
	return pos == TL_POS_NONE ? TL_POS_NONE : tree->parent[pos];
}

bool tl__gpu_event_before(const void *context, uint32_t a, uint32_t b)
{
	const tl_tree *tree = context;
	const tl_store *store = tree->store;
	int order = compare_times(store->start[a], store->start[b]);
	if (!order)
		order = compare_positions(tree, launch_of(tree, a), launch_of(tree, b));
	if (!order)
		order = compare_tracks(store, a, b);
	if (!order)
		order = strcmp(tl__name(store, a), tl__name(store, b));
	if (!order)
		order = compare_times(store->dur[a], store->dur[b]);
	return order ? order < 0 : a < b;
}
