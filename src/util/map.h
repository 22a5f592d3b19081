/* SPDX-License-Identifier: MIT */
/** @file map.h A hash map from 64-bit keys to 32-bit values. */
#ifndef TL_UTIL_MAP_H
#define TL_UTIL_MAP_H

#include <stddef.h>
#include <stdint.h>

#define TL_MAP_NONE UINT32_MAX

/** Zero-initialise. Any key is allowed; values must not be TL_MAP_NONE. */
typedef struct tl_map {
	uint64_t *keys;   /* by slot; NULL before the first key */
	uint32_t *values; /* by slot; TL_MAP_NONE: the slot is free */
	size_t n;         /* keys in it */
	size_t mask;      /* number of slots, a power of two, less 1 */
} tl_map;

/** Where a key is, or would be put: a slot of keys and values. Only of a map that has slots. */
static inline size_t tl__map_slot(const tl_map *map, uint64_t key)
{
	uint64_t spread = key * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(spread ^ spread >> 32) & map->mask;
	while (map->values[at] != TL_MAP_NONE && map->keys[at] != key)
		at = (at + 1) & map->mask;
	return at;
}

/** Value of `key`, or TL_MAP_NONE. Here, because tables ask a few times for each row. */
static inline uint32_t tl__map_get(const tl_map *map, uint64_t key)
{
	return map->keys ? map->values[tl__map_slot(map, key)] : TL_MAP_NONE;
}

/** Sets it; 0 or TL_ENOMEM. */
int tl__map_set(tl_map *map, uint64_t key, uint32_t value);
/**
 * Value of `key`; when it has none yet, `value` is stored and returned.
 * TL_MAP_NONE when out of memory.
 */
uint32_t tl__map_get_or_set(tl_map *map, uint64_t key, uint32_t value);
void tl__map_free(tl_map *map);

/** Mixes two numbers into one well-spread key (for hashing, not collision free). */
static inline uint64_t tl__mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) * UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 32;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 29);
}

#endif
