/* SPDX-License-Identifier: MIT */
#include "trace/raw.h"

#include <pthread.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "util/alloc.h"
#include "util/error.h"

/* Small enough that one event costs little to unpack, large enough to pack well. */
enum { BLOCK_TEXT = 64 << 10, CACHED_BLOCKS = 4, LEVEL = 1 };

typedef struct block {
	tl_row first; /* row of its first text */
	uint32_t packed, size;
	char *data;
} block;

typedef struct cached {
	size_t block; /* SIZE_MAX: nothing */
	uint64_t used;
	char *text;
} cached;

struct tl_raw {
	TL_VEC(uint32_t) offset; /* of each row in its block */
	TL_VEC(block) blocks;
	tl_buf text;  /* of the block that is being filled ... */
	tl_row first; /* ... and its first row */
	ZSTD_CCtx *packer;
	pthread_mutex_t lock; /* for what follows */
	ZSTD_DCtx *unpacker;
	cached cache[CACHED_BLOCKS];
	uint64_t clock;
};

tl_raw *tl__raw_new(void)
{
	tl_raw *raw = tl__calloc(1, sizeof *raw);
	if (!raw)
		return NULL;
	if (pthread_mutex_init(&raw->lock, NULL) != 0) {
		tl__free(raw);
		return NULL;
	}
	for (int i = 0; i < CACHED_BLOCKS; i++)
		raw->cache[i].block = SIZE_MAX;
	raw->packer = ZSTD_createCCtx();
	raw->unpacker = ZSTD_createDCtx();
	if (!raw->packer || !raw->unpacker) {
		tl__raw_free(raw);
		return NULL;
	}
	return raw;
}

void tl__raw_free(tl_raw *raw)
{
	if (!raw)
		return;
	for (size_t i = 0; i < raw->blocks.n; i++)
		tl__free(raw->blocks.v[i].data);
	for (int i = 0; i < CACHED_BLOCKS; i++)
		tl__free(raw->cache[i].text);
	TL_VEC_FREE(&raw->blocks);
	TL_VEC_FREE(&raw->offset);
	tl__buf_free(&raw->text);
	ZSTD_freeCCtx(raw->packer);
	ZSTD_freeDCtx(raw->unpacker);
	pthread_mutex_destroy(&raw->lock);
	tl__free(raw);
}

/* Packs the block that is being filled. */
static int pack(tl_raw *raw)
{
	size_t bound = ZSTD_compressBound(raw->text.n);
	char *packed = tl__malloc(bound);
	if (!packed)
		return TL_ENOMEM;
	size_t n = ZSTD_compressCCtx(raw->packer, packed, bound, raw->text.v, raw->text.n, LEVEL);
	if (ZSTD_isError(n)) { /* with room enough only for want of memory */
		tl__free(packed);
		return TL_ENOMEM;
	}
	char *fitting = tl__realloc(packed, n);
	block b = {raw->first, (uint32_t)n, (uint32_t)raw->text.n, fitting ? fitting : packed};
	if (TL_VEC_PUSH(&raw->blocks, b) < 0) {
		tl__free(b.data);
		return TL_ENOMEM;
	}
	tl__buf_clear(&raw->text);
	raw->first = (tl_row)raw->offset.n;
	return 0;
}

int tl__raw_add(tl_raw *raw, const char *text, size_t n)
{
	if (raw->text.n && raw->text.n + n > BLOCK_TEXT)
		TL_TRY(pack(raw));
	if (n > UINT32_MAX)
		return TL_ELIMIT;
	uint32_t offset = (uint32_t)raw->text.n;
	tl__buf_put(&raw->text, text, n);
	return raw->text.failed ? TL_ENOMEM : TL_VEC_PUSH(&raw->offset, offset);
}

int tl__raw_seal(tl_raw *raw)
{
	if (raw->text.n)
		TL_TRY(pack(raw));
	tl__buf_free(&raw->text);
	ZSTD_freeCCtx(raw->packer);
	raw->packer = NULL;
	return 0;
}

size_t tl__raw_count(const tl_raw *raw)
{
	return raw->offset.n;
}

/* ---- reading ---- */

/* The block that holds a row; SIZE_MAX for empty texts behind the last block. */
static size_t find_block(const tl_raw *raw, tl_row row)
{
	size_t lo = 0, hi = raw->blocks.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (raw->blocks.v[mid].first <= row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

/* The unpacked text of a block, from the cache; the lock is held. */
static int unpack(tl_raw *raw, size_t index, const char **out)
{
	const block *b = &raw->blocks.v[index];
	cached *oldest = &raw->cache[0];
	for (int i = 0; i < CACHED_BLOCKS; i++) {
		cached *c = &raw->cache[i];
		if (c->block == index) {
			c->used = ++raw->clock;
			*out = c->text;
			return 0;
		}
		if (c->used < oldest->used)
			oldest = c;
	}
	oldest->block = SIZE_MAX;
	char *text = tl__realloc(oldest->text, b->size);
	if (!text)
		return TL_ENOMEM;
	oldest->text = text;
	size_t n = ZSTD_decompressDCtx(raw->unpacker, text, b->size, b->data, b->packed);
	if (ZSTD_isError(n) || n != b->size)
		return ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ? TL_ENOMEM : TL_EFORMAT;
	oldest->block = index;
	oldest->used = ++raw->clock;
	*out = text;
	return 0;
}

int tl__raw_get(tl_buf *out, tl_raw *raw, tl_row row)
{
	size_t index = find_block(raw, row);
	if (index == SIZE_MAX)
		return 0;
	const block *b = &raw->blocks.v[index];
	tl_row behind = index + 1 < raw->blocks.n ? raw->blocks.v[index + 1].first : (tl_row)raw->offset.n;
	uint32_t from = raw->offset.v[row], to = row + 1 < behind ? raw->offset.v[row + 1] : b->size;
	if (to <= from) /* an empty text, perhaps behind the last block */
		return 0;
	const char *text;
	pthread_mutex_lock(&raw->lock);
	int code = unpack(raw, index, &text);
	if (code == 0)
		tl__buf_put(out, text + from, to - from);
	pthread_mutex_unlock(&raw->lock);
	return out->failed ? TL_ENOMEM : code;
}

uint64_t tl__raw_memory(const tl_raw *raw)
{
	uint64_t size = sizeof *raw + raw->offset.cap * sizeof *raw->offset.v + raw->blocks.cap * sizeof *raw->blocks.v;
	for (size_t i = 0; i < raw->blocks.n; i++)
		size += raw->blocks.v[i].packed;
	return size + CACHED_BLOCKS * (uint64_t)BLOCK_TEXT;
}
