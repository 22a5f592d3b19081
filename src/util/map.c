/* SPDX-License-Identifier: MIT */
#include "util/map.h"

#include "tracelens/common.h"
#include "util/alloc.h"

static size_t slot_of(const tl_map *map, uint64_t key)
{
	size_t at = (size_t)tl__mix(key, 0) & map->mask;
	while (map->values[at] != TL_MAP_NONE && map->keys[at] != key)
		at = (at + 1) & map->mask;
	return at;
}

uint32_t tl__map_get(const tl_map *map, uint64_t key)
{
	return map->keys ? map->values[slot_of(map, key)] : TL_MAP_NONE;
}

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
		size_t at = slot_of(&bigger, map->keys[i]);
		bigger.keys[at] = map->keys[i];
		bigger.values[at] = map->values[i];
	}
	tl__map_free(map);
	*map = bigger;
	return 0;
}

uint32_t tl__map_get_or_set(tl_map *map, uint64_t key, uint32_t value)
{
	if (reserve_one(map) < 0)
		return TL_MAP_NONE;
	size_t at = slot_of(map, key);
	if (map->values[at] == TL_MAP_NONE) {
		map->keys[at] = key;
		map->values[at] = value;
		map->n++;
	}
	return map->values[at];
}

int tl__map_set(tl_map *map, uint64_t key, uint32_t value)
{
	if (tl__map_get_or_set(map, key, value) == TL_MAP_NONE)
		return TL_ENOMEM;
	map->values[slot_of(map, key)] = value;
	return 0;
}

void tl__map_free(tl_map *map)
{
	tl__free(map->keys);
	tl__free(map->values);
	*map = (tl_map){0};
}
