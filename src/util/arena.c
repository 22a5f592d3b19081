/* SPDX-License-Identifier: MIT */
#include "util/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"

struct tl_arena_block {
	tl_arena_block *older;
	size_t size;
	_Alignas(max_align_t) char data[];
};

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, ALIGNMENT = _Alignof(max_align_t) };

static char *take(tl_arena *arena, size_t size, size_t alignment)
{
	uintptr_t at = ((uintptr_t)arena->next + alignment - 1) & ~(uintptr_t)(alignment - 1);
	if (arena->next && size <= (size_t)((uintptr_t)arena->end - at) && at <= (uintptr_t)arena->end) {
		arena->next = (char *)at + size;
		return (char *)at;
	}

	/* blocks double up to a limit, so small arenas stay small; a large request gets its own */
	size_t room = arena->block ? arena->block->size * 2 : FIRST_BLOCK;
	if (room > LARGEST_BLOCK)
		room = LARGEST_BLOCK;
	if (room < size)
		room = size;
	if (room > SIZE_MAX - sizeof(tl_arena_block))
		return NULL;
	tl_arena_block *block = tl__malloc(sizeof *block + room);
	if (!block)
		return NULL;
	block->older = arena->block;
	block->size = room;
	arena->block = block;
	arena->next = block->data + size;
	arena->end = block->data + room;
	arena->total += room;
	return block->data;
}

void *tl__arena_alloc(tl_arena *arena, size_t size)
{
	return take(arena, size, ALIGNMENT);
}

void *tl__arena_zalloc(tl_arena *arena, size_t size)
{
	void *p = take(arena, size, ALIGNMENT);
	return p ? memset(p, 0, size) : NULL;
}

char *tl__arena_strndup(tl_arena *arena, const char *text, size_t n)
{
	char *copy = take(arena, n + 1, 1);
	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

char *tl__arena_printf(tl_arena *arena, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	char *text = n < 0 ? NULL : take(arena, (size_t)n + 1, 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

struct tl_arena_range {
	uintptr_t begin, end;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct tl_arena_range *x = a, *y = b;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

int tl__arena_map_new(tl_arena_map *out, const tl_arena *arena)
{
	size_t n = 0;
	for (const tl_arena_block *block = arena->block; block; block = block->older)
		n++;
	*out = (tl_arena_map){.n = n, .v = tl__malloc((n + 1) * sizeof *out->v)};
	if (!out->v)
		return TL_ENOMEM;
	for (const tl_arena_block *block = arena->block; block; block = block->older)
		out->v[--n] = (struct tl_arena_range){(uintptr_t)block->data, (uintptr_t)block->data + block->size};
	qsort(out->v, out->n, sizeof *out->v, compare_ranges);
	return 0;
}

bool tl__arena_owns(const tl_arena_map *map, const void *p)
{
	size_t low = 0, high = map->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (map->v[middle].end <= (uintptr_t)p)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->n && map->v[low].begin <= (uintptr_t)p;
}

void tl__arena_map_free(tl_arena_map *map)
{
	tl__free(map->v);
	*map = (tl_arena_map){0};
}

void tl__arena_free(tl_arena *arena)
{
	for (tl_arena_block *block = arena->block, *older; block; block = older) {
		older = block->older;
		tl__free(block);
	}
	*arena = (tl_arena){0};
}
