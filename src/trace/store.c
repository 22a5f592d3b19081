/* SPDX-License-Identifier: MIT */
#include "trace/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

enum { FIRST_ROWS = 4096, MANY_ROWS = 1 << 20 };

tl_store *tl__store_new(void)
{
	tl_store *store = tl__calloc(1, sizeof *store);
	if (!store)
		return NULL;
	store->strings = tl__strings_new(NULL);
	/* category 0 is "no category" */
	if (!store->strings || TL_VEC_PUSH(&store->categories, TL_STR_NONE) < 0) {
		tl__store_free(store);
		return NULL;
	}
	tl__health_clear(&store->health);
	return store;
}

void tl__store_free(tl_store *store)
{
	if (!store)
		return;
	tl__free(store->path);
	tl__free(store->name);
	tl__free(store->category);
	tl__free(store->kind);
	tl__free(store->flags);
	tl__free(store->track);
	tl__free(store->start);
	tl__free(store->dur);
	tl__free(store->side);
	TL_VEC_FREE(&store->ops);
	TL_VEC_FREE(&store->links);
	TL_VEC_FREE(&store->collectives);
	TL_VEC_FREE(&store->python);
	TL_VEC_FREE(&store->flows);
	TL_VEC_FREE(&store->extras);
	TL_VEC_FREE(&store->tracks);
	TL_VEC_FREE(&store->processes);
	TL_VEC_FREE(&store->categories);
	TL_VEC_FREE(&store->phases);
	TL_VEC_FREE(&store->metadata_keys);
	TL_VEC_FREE(&store->metadata_values);
	tl__map_free(&store->track_index);
	tl__map_free(&store->process_index);
	tl__strings_unref(store->strings);
	tl__free(store);
}

static int grow_column(void *column, size_t rows, size_t size)
{
	void **p = column, *grown = tl__realloc(*p, rows * size);
	if (!grown)
		return TL_ENOMEM;
	*p = grown;
	return 0;
}

static int grow_rows(tl_store *store)
{
	if (store->cap >= TL_ROW_NONE)
		return TL_ELIMIT;
	/* what is not used costs nothing, and to move a column in a program with two threads costs a little each time
	 */
	size_t rows = store->cap ? store->cap * (store->cap < MANY_ROWS ? 4 : 2) : FIRST_ROWS;
	if (rows > TL_ROW_NONE)
		rows = TL_ROW_NONE;
	/* a column that grew before another failed is merely too long */
	TL_TRY(grow_column(&store->name, rows, sizeof *store->name));
	TL_TRY(grow_column(&store->category, rows, sizeof *store->category));
	TL_TRY(grow_column(&store->kind, rows, sizeof *store->kind));
	TL_TRY(grow_column(&store->flags, rows, sizeof *store->flags));
	TL_TRY(grow_column(&store->track, rows, sizeof *store->track));
	TL_TRY(grow_column(&store->start, rows, sizeof *store->start));
	TL_TRY(grow_column(&store->dur, rows, sizeof *store->dur));
	TL_TRY(grow_column(&store->side, rows, sizeof *store->side));
	store->cap = rows;
	return 0;
}

int tl__store_reserve(tl_store *store)
{
	size_t row = store->n;
	if (row >= store->cap)
		TL_TRY(grow_rows(store));
	store->name[row] = TL_STR_NONE;
	store->category[row] = 0;
	store->kind[row] = TL_KIND_OTHER;
	store->flags[row] = 0;
	store->track[row] = 0;
	store->start[row] = 0;
	store->dur[row] = 0;
	store->side[row] = 0;
	return 0;
}

/* Index of (source, pid) in the processes, or where the next one will be. */
static uint32_t find_process(const tl_store *store, uint64_t *key, uint32_t source, tl_id pid)
{
	/* the map compares 64 bits only, so on a collision the next key is tried */
	for (*key = tl__mix(pid, source);; *key = tl__mix(*key, 1)) {
		uint32_t i = tl__map_get(&store->process_index, *key);
		if (i == TL_MAP_NONE || (store->processes.v[i].pid == pid && store->processes.v[i].source == source))
			return i;
	}
}

uint32_t tl__store_process(tl_store *store, uint32_t source, tl_id pid)
{
	uint64_t key;
	uint32_t i = find_process(store, &key, source, pid);
	if (i != TL_MAP_NONE)
		return i;
	tl_process process = {.source = source, .pid = pid, .name = TL_STR_NONE, .labels = TL_STR_NONE};
	i = (uint32_t)store->processes.n;
	if (TL_VEC_PUSH(&store->processes, process) < 0)
		return UINT32_MAX;
	if (tl__map_set(&store->process_index, key, i) < 0) {
		store->processes.n--;
		return UINT32_MAX;
	}
	return i;
}

uint32_t tl__store_track(tl_store *store, uint32_t source, tl_id pid, tl_id tid)
{
	uint64_t key = tl__mix(tl__mix(pid, source), tid);
	uint32_t i;
	for (;; key = tl__mix(key, 1)) {
		i = tl__map_get(&store->track_index, key);
		if (i == TL_MAP_NONE)
			break;
		const tl_track *track = &store->tracks.v[i];
		if (track->pid == pid && track->tid == tid && track->source == source)
			return i;
	}
	uint32_t process = tl__store_process(store, source, pid);
	tl_track track = {.source = source, .process = process, .pid = pid, .tid = tid, .thread_name = TL_STR_NONE};
	i = (uint32_t)store->tracks.n;
	if (process == UINT32_MAX || TL_VEC_PUSH(&store->tracks, track) < 0)
		return UINT32_MAX;
	if (tl__map_set(&store->track_index, key, i) < 0) {
		store->tracks.n--;
		return UINT32_MAX;
	}
	return i;
}

const tl_extra *tl__store_extras(const tl_store *store, tl_row row, size_t *n)
{
	size_t low = 0, high = store->extras.n, end;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (store->extras.v[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < store->extras.n && store->extras.v[end].row == row;)
		end++;
	*n = end - low;
	return store->extras.v ? store->extras.v + low : NULL;
}

const char *tl__id_text(const tl_store *store, tl_id id, char out[64])
{
	if (id == TL_ID_NONE)
		out[0] = '\0';
	else if (id & TL_ID_TEXT)
		snprintf(out, 64, "%s", tl__str(store->strings, (tl_str)(id & UINT32_MAX)));
	else
		snprintf(out, 64, "%" PRIu64, id);
	return out;
}

uint64_t tl__store_memory(const tl_store *store)
{
	size_t row = sizeof *store->name + sizeof *store->category + sizeof *store->kind + sizeof *store->flags +
		     sizeof *store->track + sizeof *store->start + sizeof *store->dur + sizeof *store->side;
	return sizeof *store + store->n * row + store->ops.n * sizeof *store->ops.v +
	       store->links.n * sizeof *store->links.v + store->collectives.n * sizeof *store->collectives.v +
	       store->python.n * sizeof *store->python.v + store->flows.n * sizeof *store->flows.v +
	       store->extras.n * sizeof *store->extras.v + store->tracks.n * sizeof *store->tracks.v +
	       store->processes.n * sizeof *store->processes.v + tl__strings_memory(store->strings);
}
