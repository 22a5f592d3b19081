/* SPDX-License-Identifier: MIT */
#include "util/map.h"

#include "tracelens/common.h"
#include "util/alloc.h"

static int reserve_one(tl_map *map)
{
	if (map->keys && (map->n + 1) * 2 <= map->mask + 1)
		return 0;
	size_t size = map->keys ? (map->mask + 1) * 2 : 64;
	tl_map bigger = {tl__malloc(size * sizeof *bigger.keys), tl__malloc(size * sizeof *bigger.values), map->n,
			 size - 1};
	if (!bigger.keys || !bigger.values) {
		tl__map_free(&bigger);
		return TL_ENOMEM;
	}
	for (size_t i = 0; i < size; i++)
		bigger.values[i] = TL_MAP_NONE;
	for (size_t i = 0; map->keys && i <= map->mask; i++) {
		if (map->values[i] == TL_MAP_NONE)
			continue;
		size_t at = tl__map_slot(&bigger, map->keys[i]);
		bigger.keys[at] = map->keys[i];
		bigger.values[at] = map->values[i];
	}
	tl__map_free(map);
	*map = bigger;
	return 0;
}

/* The slot of a key, which has a value from then on: `value` when it had none. SIZE_MAX: out of memory. */
static size_t take_slot(tl_map *map, uint64_t key, uint32_t value)
{
	if (reserve_one(map) < 0)
		return SIZE_MAX;
	size_t at = tl__map_slot(map, key);
	if (map->values[at] == TL_MAP_NONE) {
		map->keys[at] = key;
		map->values[at] = value;
		map->n++;
	}
	return at;
}

uint32_t tl__map_get_or_set(tl_map *map, uint64_t key, uint32_t value)
{
	size_t at = take_slot(map, key, value);
	return at == SIZE_MAX ? TL_MAP_NONE : map->values[at];
}

int tl__map_set(tl_map *map, uint64_t key, uint32_t value)
{
	size_t at = take_slot(map, key, value);
	if (at == SIZE_MAX)
		return TL_ENOMEM;
	map->values[at] = value;
	return 0;
}

void tl__map_free(tl_map *map)
{
	tl__free(map->keys);
	tl__free(map->values);
	*map = (tl_map){0};
}
