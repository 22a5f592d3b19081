/* SPDX-License-Identifier: MIT */
/* A stream of unpacked bytes, cut into blocks; see ring.c for the second thread. */
#include "io/source.h"

#include <string.h>

#include "io/decode.h"
#include "io/ring.h"
#include "util/alloc.h"

/* Smaller files are unpacked about as fast as a thread starts. 0 bytes: of unknown size. */
#define THREAD_FROM ((uint64_t)128 << 10)

struct tl_source {
	tl_ring *ring;
	tl_ring_block *block; /* the one that the reader is in, or NULL */
	size_t used;          /* bytes of it that tl__source_read has handed out */
	uint8_t *window;      /* what tl__source_next gave last */
	size_t window_size;
	uint8_t *wide; /* memory of windows whose kept part does not fit before a block */
	size_t wide_cap;
};

/* Whether `n` bytes, all that a file has, are the beginning of a container's mark: it is cut off. */
static bool is_part(const uint8_t *p, size_t n, const char *mark, size_t n_mark)
{
	return n > 1 && n < n_mark && memcmp(p, mark, n) == 0;
}

static int kind_of(tl_decoder **out, tl_input **input, bool may_unpack, tl_error *err)
{
	const uint8_t *p;
	int more = tl__input_peek(*input, 4, err);
	size_t n = (*input)->avail;

	if (more < 0)
		return more;
	p = (*input)->next;
	if (n && p[0] == 0x1f && (n < 2 || p[1] == 0x8b))
		return tl__decode_gzip(out, *input, err);
	if ((n >= 4 && (memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0 ||
			((p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0))) ||
	    is_part(p, n, "\x28\xb5\x2f\xfd", 4))
		return tl__decode_zstd(out, *input, err);
	if (may_unpack && ((n >= 4 && p[0] == 'P' && p[1] == 'K' && (p[2] == 3 || p[2] == 5) && p[3] == p[2] + 1) ||
			   is_part(p, n, "PK\x03\x04", 4))) {
		tl_input *member;
		TL_TRY(tl__zip_member(&member, *input, err));
		*input = member;
		/* a zip of a .json.gz is common: looked into once */
		return kind_of(out, input, false, err);
	}
	return tl__decode_plain(out, *input, err);
}

static int open_input(tl_source **out, tl_input *input, bool threaded, tl_error *err)
{
	tl_source *source = tl__calloc(1, sizeof *source);
	tl_decoder *decoder = NULL;
	int code = source ? 0 : tl__nomem(err);

	if (code == 0 && threaded)
		code = tl__input_cancellable(input, err);
	if (code == 0)
		code = kind_of(&decoder, &input, true, err);
	if (code < 0)
		tl__input_free(input);
	else
		code = tl__ring_open(&source->ring, decoder, threaded && (!input->total || input->total > THREAD_FROM),
				     err);
	if (code < 0) {
		tl__source_close(source);
		return code;
	}
	*out = source;
	return 0;
}

int tl__source_open(tl_source **out, const char *path, bool threaded, tl_error *err)
{
	tl_input *input;

	*out = NULL;
	TL_TRY(tl__input_open(&input, path, err));
	return open_input(out, input, threaded, err);
}

int tl__source_open_memory(tl_source **out, const void *data, size_t size, bool threaded, tl_error *err)
{
	tl_input *input;

	*out = NULL;
	TL_TRY(tl__input_open_memory(&input, data, size, err));
	return open_input(out, input, threaded, err);
}

int64_t tl__source_read(tl_source *source, void *out, size_t size, tl_error *err)
{
	size_t left;

	if (source->block && source->used == source->block->n) {
		tl__ring_give(source->ring, source->block);
		source->block = NULL;
	}
	if (!source->block) {
		int more = tl__ring_take(source->ring, &source->block, err);
		if (more <= 0)
			return more;
		source->used = 0;
	}
	left = source->block->n - source->used;
	if (size > left)
		size = left;
	memcpy(out, source->block->bytes + source->used, size);
	source->used += size;
	return (int64_t)size;
}

/* Makes the window of `wide`: `keep` bytes at `kept` (which may lie in `wide`) and the bytes of a block. Linear in the
 * long run: the kept bytes move to the front only when as many have become free there. */
static int widen(tl_source *source, const uint8_t *kept, size_t keep, const tl_ring_block *block, tl_error *err)
{
	bool inside = kept && !source->block; /* a window is in a block or here */
	size_t start = inside ? (size_t)(kept - source->wide) : 0;
	size_t more = keep + block->n + TL_SOURCE_PAD;

	if (inside && start >= keep && start + more > source->wide_cap) {
		memmove(source->wide, kept, keep);
		source->window = source->wide;
		start = 0;
	}
	if (start + more > source->wide_cap)
		tl__grow(&source->wide, &source->wide_cap, start + more, 1);
	if (!source->wide || start + more > source->wide_cap)
		return tl__nomem(err);
	if (!inside && kept)
		memcpy(source->wide, kept, keep);
	memcpy(source->wide + start + keep, block->bytes, block->n);
	memset(source->wide + start + keep + block->n, 0, TL_SOURCE_PAD);
	source->window = source->wide + start;
	return 0;
}

int64_t tl__source_next(tl_source *source, size_t keep, char **out, tl_source_block **before, tl_error *err)
{
	tl_ring_block *block, *left = NULL; /* left: where the window was */
	uint8_t *kept = source->window ? source->window + (source->window_size - keep) : NULL;
	int more = tl__ring_take(source->ring, &block, err);
	size_t n = more > 0 ? block->n : 0;

	source->window = kept;
	if (more > 0 && keep <= TL_RING_HEAD) {
		source->window = block->bytes - keep;
		if (kept)
			memcpy(source->window, kept, keep);
		left = source->block;
		source->block = block;
	} else if (more > 0) {
		int code = widen(source, kept, keep, block, err);
		tl__ring_give(source->ring, block);
		if (code < 0) { /* the bytes of the block are lost: the caller gives up */
			more = code, n = 0;
		} else {
			left = source->block;
			source->block = NULL;
		}
	}
	if (before)
		*before = left;
	else if (left)
		tl__ring_give(source->ring, left);
	source->window_size = keep + n;
	*out = (char *)source->window;
	return more > 0 ? (int64_t)n : more;
}

void tl__source_give(tl_source *source, tl_source_block *block)
{
	tl__ring_give(source->ring, block);
}

bool tl__source_in_block(const tl_source *source)
{
	return source->block != NULL;
}

bool tl__source_is_threaded(const tl_source *source)
{
	return tl__ring_is_threaded(source->ring);
}

void tl__source_post(tl_source *source, tl_source_task *task)
{
	tl__ring_post(source->ring, task);
}

void tl__source_wait(tl_source *source, tl_source_task *task)
{
	tl__ring_wait(source->ring, task);
}

void tl__source_state(const tl_source *source, tl_source_state *out)
{
	tl__ring_state(source->ring, out);
}

void tl__source_close(tl_source *source)
{
	if (!source)
		return;
	tl__ring_close(source->ring);
	tl__free(source->wide);
	tl__free(source);
}
