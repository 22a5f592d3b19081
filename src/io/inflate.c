/* SPDX-License-Identifier: MIT */
#include "io/inflate.h"

#include "tracelens/common.h"
#include "util/alloc.h"

#ifdef TL_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <string.h>

struct tl_inflate {
	struct inflate_state state;
};

tl_inflate *tl__inflate_new(void)
{
	tl_inflate *inflater = tl__malloc(sizeof *inflater);

	if (inflater) {
		isal_inflate_init(&inflater->state);
		inflater->state.crc_flag = ISAL_DEFLATE;
	}
	return inflater;
}

int tl__inflate_reset(tl_inflate *inflater)
{
	isal_inflate_reset(&inflater->state);
	return 0;
}

/* After an error ISA-L may still hold decoded bytes that did not fit into the output when it began. */
static void drain(struct inflate_state *state, uint8_t **out, size_t *n_out)
{
	int32_t held = state->tmp_out_valid - state->tmp_out_processed;
	size_t n = held > 0 ? (size_t)held : 0;

	if (n > *n_out)
		n = *n_out;
	memcpy(*out, state->tmp_out_buffer + state->tmp_out_processed, n);
	state->tmp_out_processed += (int32_t)n;
	*out += n;
	*n_out -= n;
}

tl_inflate_status tl__inflate_run(tl_inflate *inflater, const uint8_t **in, size_t *n_in, uint8_t **out, size_t *n_out,
				  uint8_t back[8], size_t *n_back)
{
	struct inflate_state *state = &inflater->state;
	uint32_t give = *n_in > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)*n_in;
	uint32_t room = *n_out > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)*n_out;
	int code;

	*n_back = 0;
	state->next_in = (uint8_t *)*in; /* ISA-L does not write there */
	state->avail_in = give;
	state->next_out = *out;
	state->avail_out = room;
	code = isal_inflate(state);
	*in += give - state->avail_in;
	*n_in -= give - state->avail_in;
	*out += room - state->avail_out;
	*n_out -= room - state->avail_out;
	if (code < 0) {
		drain(state, out, n_out);
		return TL_INFLATE_DAMAGED;
	}
	if (state->block_state != ISAL_BLOCK_FINISH)
		return TL_INFLATE_MORE;
	/* ISA-L reads ahead into a bit buffer; the bits up to the next byte border are padding */
	uint64_t bits = state->read_in >> (state->read_in_length & 7);
	*n_back = state->read_in_length > 0 ? (size_t)state->read_in_length / 8 : 0;
	for (size_t i = 0; i < *n_back; i++, bits >>= 8)
		back[i] = (uint8_t)bits;
	return TL_INFLATE_END;
}

void tl__inflate_free(tl_inflate *inflater)
{
	tl__free(inflater);
}

uint32_t tl__crc32(uint32_t crc, const uint8_t *data, size_t n)
{
	return crc32_gzip_refl(crc, data, n);
}

#else
#include <zlib.h>

struct tl_inflate {
	z_stream z;
};

static void *z_alloc(void *user, unsigned count, unsigned size)
{
	(void)user;
	return tl__calloc(count, size);
}

static void z_free(void *user, void *p)
{
	(void)user;
	tl__free(p);
}

tl_inflate *tl__inflate_new(void)
{
	tl_inflate *inflater = tl__calloc(1, sizeof *inflater);

	if (!inflater)
		return NULL;
	inflater->z.zalloc = z_alloc;
	inflater->z.zfree = z_free;
	if (inflateInit2(&inflater->z, -MAX_WBITS) != Z_OK) {
		tl__free(inflater);
		return NULL;
	}
	return inflater;
}

int tl__inflate_reset(tl_inflate *inflater)
{
	return inflateReset(&inflater->z) == Z_OK ? 0 : TL_ENOMEM;
}

tl_inflate_status tl__inflate_run(tl_inflate *inflater, const uint8_t **in, size_t *n_in, uint8_t **out, size_t *n_out,
				  uint8_t back[8], size_t *n_back)
{
	z_stream *z = &inflater->z;
	uInt give = *n_in > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)*n_in;
	uInt room = *n_out > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)*n_out;
	int code;

	(void)back;
	*n_back = 0;
	z->next_in = (Bytef *)*in;
	z->avail_in = give;
	z->next_out = *out;
	z->avail_out = room;
	code = inflate(z, Z_NO_FLUSH);
	*in += give - z->avail_in;
	*n_in -= give - z->avail_in;
	*out += room - z->avail_out;
	*n_out -= room - z->avail_out;
	switch (code) {
	case Z_STREAM_END:
		return TL_INFLATE_END;
	case Z_OK:
	case Z_BUF_ERROR: /* no progress possible: wants input or room */
		return TL_INFLATE_MORE;
	case Z_MEM_ERROR:
		return TL_INFLATE_NOMEM;
	default:
		return TL_INFLATE_DAMAGED;
	}
}

void tl__inflate_free(tl_inflate *inflater)
{
	if (!inflater)
		return;
	inflateEnd(&inflater->z);
	tl__free(inflater);
}

uint32_t tl__crc32(uint32_t crc, const uint8_t *data, size_t n)
{
	return (uint32_t)crc32_z(crc, data, n);
}
#endif
