/* SPDX-License-Identifier: MIT */
/* Zstandard (RFC 8878): any number of frames, skippable ones among them. */
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "io/decode.h"
#include "util/alloc.h"

/* Largest window that is accepted, 1 GiB: the memory is taken when a frame asks for it (zstd --long=30). */
#define WINDOW_LOG_MAX 30

typedef struct zstd {
	tl_decoder base;
	ZSTD_DStream *stream;
	size_t hint;   /* packed bytes that the decoder wants next */
	bool in_frame; /* between the first byte of a frame and its end */
	bool started;
	bool pending; /* the output was filled: the decoder may hold more */
} zstd;

/* Whether up to four bytes are (the beginning of) the mark of a data frame or a skippable one. */
static bool is_mark(const uint8_t *p, size_t n)
{
	if (n > 4)
		n = 4;
	return memcmp(p, "\x28\xb5\x2f\xfd", n) == 0 ||
	       ((p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", n - 1) == 0);
}

/* Goes to the next frame. 0 (at the end of the stream base.ended is set), or a failure. */
static int64_t next_frame(zstd *z, tl_error *err)
{
	tl_decoder *d = &z->base;
	tl_input *input = d->input;
	int more = tl__input_peek(input, 4, err);

	if (more > 0 && z->started && !input->next[0])
		more = tl__decode_skip_padding(d, 4, err);
	if (more < 0)
		return more;
	if (more == 0) {
		d->ended = true;
		return 0;
	}
	if (!is_mark(input->next, input->avail))
		return tl__decode_junk(d, "zstd");
	if (input->avail < 4)
		return tl__decode_cut_off(d, "zstd");
	z->started = z->in_frame = true;
	z->pending = false;
	z->hint = ZSTD_initDStream(z->stream);
	return 0;
}

static int64_t zstd_read(tl_decoder *self, uint8_t *out, size_t size, tl_error *err)
{
	zstd *z = (zstd *)self;
	tl_input *input = self->input;

	while (!self->ended) {
		if (!z->in_frame) {
			int64_t code = next_frame(z, err);
			if (code < 0)
				return code;
			continue;
		}
		if (!input->avail && !z->pending) {
			int more = tl__input_fill(input, err);
			if (more < 0)
				return more;
			if (!more)
				return tl__decode_cut_off(self, "zstd");
		}
		/* When a call fails, libzstd does not say what it wrote before. So what it holds is taken out first,
		 * and then it gets no more than one block. */
		size_t give = z->pending ? 0 : z->hint < input->avail ? z->hint : input->avail;
		ZSTD_inBuffer in = {input->next, give, 0};
		ZSTD_outBuffer to = {out, size, 0};
		size_t code = ZSTD_decompressStream(z->stream, &to, &in);
		if (ZSTD_isError(code)) {
			if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
				return tl__nomem(err);
			if (ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong) {
				/* it stands behind the frame, all of which came out: as for gzip */
				tl__decode_mismatch(self, "zstd", "wrong checksum");
				tl__input_skip(input, give);
				z->in_frame = false;
				continue;
			}
			return tl__decode_damaged(self, "zstd", ZSTD_getErrorName(code));
		}
		if (!z->pending && !in.pos && !to.pos && give)
			return tl__decode_damaged(self, "zstd", "no progress");
		tl__input_skip(input, in.pos);
		z->pending = to.pos == size;
		z->hint = code ? code : 1;
		if (!code)
			z->in_frame = z->pending = false;
		if (to.pos)
			return (int64_t)to.pos;
	}
	return 0;
}

static void zstd_free(tl_decoder *self)
{
	ZSTD_freeDStream(((zstd *)self)->stream);
	tl__input_free(self->input);
	tl__free(self);
}

int tl__decode_zstd(tl_decoder **out, tl_input *input, tl_error *err)
{
	zstd *z = tl__calloc(1, sizeof *z);

	*out = NULL;
	if (!z)
		return tl__nomem(err);
	z->stream = ZSTD_createDStream();
	if (!z->stream) {
		tl__free(z);
		return tl__nomem(err);
	}
	ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	z->base.read = zstd_read;
	z->base.free = zstd_free;
	z->base.input = input;
	*out = &z->base;
	return 0;
}
