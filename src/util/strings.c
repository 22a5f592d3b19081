/* SPDX-License-Identifier: MIT */
#include "util/strings.h"

#include <stdatomic.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/alloc.h"
#include "util/arena.h"

/* An extension of so many strings or fewer is copied and not built upon. */
enum { FEW = 1024 };

typedef struct entry {
	const char *text;
	uint32_t length;
	uint32_t hash;
} entry;

struct tl_strings {
	_Atomic int references;
	tl_strings *base;
	uint32_t first; /* id of entries.v[0] */
	TL_VEC(entry) entries;
	uint32_t *slots; /* open addressing: index into entries + 1, 0 = free */
	uint32_t mask;
	tl_arena arena;
};

static uint32_t hash_of(const char *text, size_t n)
{
	return (uint32_t)XXH3_64bits(text, n);
}

tl_strings *tl__strings_ref(tl_strings *pool)
{
	atomic_fetch_add(&pool->references, 1);
	return pool;
}

void tl__strings_unref(tl_strings *pool)
{
	while (pool && atomic_fetch_sub(&pool->references, 1) == 1) {
		tl_strings *base = pool->base;
		TL_VEC_FREE(&pool->entries);
		tl__free(pool->slots);
		tl__arena_free(&pool->arena);
		tl__free(pool);
		pool = base;
	}
}

/* The slot that holds these bytes, or the free slot where they belong. */
static uint32_t *slot_of(const tl_strings *pool, const char *text, size_t n, uint32_t hash)
{
	for (uint32_t at = hash & pool->mask;; at = (at + 1) & pool->mask) {
		uint32_t *slot = &pool->slots[at];
		if (!*slot)
			return slot;
		const entry *e = &pool->entries.v[*slot - 1];
		if (e->hash == hash && e->length == n && !memcmp(e->text, text, n))
			return slot;
	}
}

static tl_str find(const tl_strings *pool, const char *text, size_t n, uint32_t hash)
{
	for (; pool; pool = pool->base) {
		uint32_t *slot = slot_of(pool, text, n, hash);
		if (*slot)
			return pool->first + *slot - 1;
	}
	return TL_STR_NONE;
}

tl_str tl__strings_find(const tl_strings *pool, const char *text, size_t n)
{
	return find(pool, text, n, hash_of(text, n));
}

static int enlarge(tl_strings *pool)
{
	uint32_t mask = pool->mask * 2 + 1;
	uint32_t *slots = tl__calloc((size_t)mask + 1, sizeof *slots);
	if (!slots)
		return -1;
	for (size_t i = 0; i < pool->entries.n; i++) {
		uint32_t at = pool->entries.v[i].hash & mask;
		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = (uint32_t)i + 1;
	}
	tl__free(pool->slots);
	pool->slots = slots;
	pool->mask = mask;
	return 0;
}

tl_str tl__intern(tl_strings *pool, const char *text, size_t n)
{
	uint32_t hash = hash_of(text, n);
	uint32_t *slot = slot_of(pool, text, n, hash);
	if (*slot)
		return pool->first + *slot - 1;
	if (pool->base) {
		tl_str id = find(pool->base, text, n, hash);
		if (id)
			return id;
	}

	if (n > UINT32_MAX - 1 || pool->first + pool->entries.n >= UINT32_MAX / 2)
		return TL_STR_FAIL;
	if ((pool->entries.n + 1) * 2 > pool->mask) {
		if (enlarge(pool) < 0)
			return TL_STR_FAIL;
		slot = slot_of(pool, text, n, hash);
	}
	entry e = {tl__arena_strndup(&pool->arena, text, n), (uint32_t)n, hash};
	if (!e.text || TL_VEC_PUSH(&pool->entries, e) < 0)
		return TL_STR_FAIL;
	*slot = (uint32_t)pool->entries.n;
	return pool->first + *slot - 1;
}

/* The strings of `from`, which are the next ones of `pool`. */
static int absorb(tl_strings *pool, const tl_strings *from)
{
	for (size_t i = 0; i < from->entries.n; i++)
		if (tl__intern(pool, from->entries.v[i].text, from->entries.v[i].length) == TL_STR_FAIL)
			return -1;
	return 0;
}

/* A tree that is edited again and again has an extension of an extension, and so on: few strings are copied instead, so
 * that neither memory nor the way to a string grows with the number of edits. */
tl_strings *tl__strings_new(tl_strings *base)
{
	tl_strings *pool = tl__calloc(1, sizeof *pool), *few = NULL;
	if (!pool)
		return NULL;
	atomic_init(&pool->references, 1);
	pool->mask = 255;
	pool->slots = tl__calloc(pool->mask + 1u, sizeof *pool->slots);
	if (!pool->slots) {
		tl__free(pool);
		return NULL;
	}
	if (base && base->base && base->entries.n <= FEW) {
		few = base;
		base = base->base;
	}
	pool->base = base ? tl__strings_ref(base) : NULL;
	pool->first = base ? (uint32_t)tl__strings_count(base) : 1;
	if (few && absorb(pool, few) < 0) {
		tl__strings_unref(pool);
		return NULL;
	}
	return pool;
}

tl_str tl__interns(tl_strings *pool, const char *text)
{
	return tl__intern(pool, text, strlen(text));
}

static const entry *entry_of(const tl_strings *pool, tl_str id)
{
	static const entry none = {"", 0, 0};
	while (pool && id < pool->first)
		pool = pool->base;
	return pool && id - pool->first < pool->entries.n ? &pool->entries.v[id - pool->first] : &none;
}

const char *tl__str(const tl_strings *pool, tl_str id)
{
	return entry_of(pool, id)->text;
}

size_t tl__str_len(const tl_strings *pool, tl_str id)
{
	return entry_of(pool, id)->length;
}

size_t tl__strings_count(const tl_strings *pool)
{
	return pool->first + pool->entries.n;
}

uint64_t tl__strings_memory(const tl_strings *pool)
{
	return sizeof *pool + pool->entries.cap * sizeof *pool->entries.v +
	       ((uint64_t)pool->mask + 1) * sizeof *pool->slots + pool->arena.total;
}
