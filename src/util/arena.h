/* SPDX-License-Identifier: MIT */
/** @file arena.h Memory that is freed all at once. */
#ifndef TL_UTIL_ARENA_H
#define TL_UTIL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tl_arena_block tl_arena_block;

/** Zero-initialise; no cleanup needed before the first allocation. */
typedef struct tl_arena {
	tl_arena_block *block; /* newest block, linked to the older ones */
	char *next, *end;      /* free part of the newest block */
	size_t total;          /* bytes taken from the system */
} tl_arena;

/** `size` bytes aligned for any type, or NULL. */
void *tl__arena_alloc(tl_arena *arena, size_t size);
/** As tl__arena_alloc, zeroed. */
void *tl__arena_zalloc(tl_arena *arena, size_t size);
/** Copy of `n` bytes with a NUL behind them; not aligned. NULL when out of memory. */
char *tl__arena_strndup(tl_arena *arena, const char *text, size_t n);
/** printf into the arena; NULL when out of memory. */
char *tl__arena_printf(tl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Where the memory of an arena lies, to tell quickly whether a pointer is into it. */
typedef struct tl_arena_map {
	size_t n;
	struct tl_arena_range *v; /* by address */
} tl_arena_map;
/** Of the arena as it is now: what is allocated later is not in it. 0 or TL_ENOMEM; freed with tl__arena_map_free. */
int tl__arena_map_new(tl_arena_map *out, const tl_arena *arena);
/** Whether `p` points into a block of the arena. */
bool tl__arena_owns(const tl_arena_map *map, const void *p);
void tl__arena_map_free(tl_arena_map *map);
/** Frees everything; the arena can be used again. */
void tl__arena_free(tl_arena *arena);

#endif
