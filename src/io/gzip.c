/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952): any number of members, one behind the other. */
#include "io/decode.h"
#include "io/inflate.h"
#include "util/alloc.h"

enum { FLAG_HCRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_RESERVED = 0xe0 };

typedef enum phase { HEADER, BODY, TRAILER } phase;

typedef struct gzip {
	tl_decoder base;
	tl_inflate *inflater;
	phase phase;
	bool started;    /* the first member's header was read */
	bool pending;    /* the inflater filled the output and may hold more */
	uint32_t crc;    /* of the bytes of this member so far */
	uint32_t length; /* the same, modulo 2^32 */
	uint8_t back[8]; /* first bytes of the trailer that the inflater had looked at */
	size_t n_back;
} gzip;

enum { END_OF_FILE = -100 };

/* The next packed byte, END_OF_FILE, or a failure. */
static int next_byte(gzip *g, tl_error *err)
{
	tl_input *input = g->base.input;
	int byte;

	if (!input->avail) {
		int more = tl__input_fill(input, err);
		if (more <= 0)
			return more ? more : END_OF_FILE;
	}
	byte = input->next[0];
	tl__input_skip(input, 1);
	return byte;
}

/* Little-endian number of `n` bytes, END_OF_FILE, or a failure. */
static int64_t next_number(gzip *g, int n, tl_error *err)
{
	int64_t value = 0;

	for (int i = 0; i < n; i++) {
		int byte = next_byte(g, err);
		if (byte < 0)
			return byte;
		value |= (int64_t)byte << (8 * i);
	}
	return value;
}

static int skip_text(gzip *g, tl_error *err)
{
	int byte;

	do
		byte = next_byte(g, err);
	while (byte > 0);
	return byte;
}

static int skip_bytes(gzip *g, int64_t n, tl_error *err)
{
	int byte = 0;

	while (n-- > 0 && byte >= 0)
		byte = next_byte(g, err);
	return byte < 0 ? byte : 0;
}

/* Everything of a member's header behind the two magic bytes. 0, 1 for "not readable", END_OF_FILE, or a failure. */
static int header_fields(gzip *g, tl_error *err)
{
	int method, flags;
	int64_t extra;

	if ((method = next_byte(g, err)) < 0)
		return method;
	if ((flags = next_byte(g, err)) < 0)
		return flags;
	if (method != 8 || (flags & FLAGS_RESERVED))
		return 1;
	TL_TRY(skip_bytes(g, 6, err)); /* time, extra flags, system */
	if (flags & FLAG_EXTRA) {
		if ((extra = next_number(g, 2, err)) < 0)
			return (int)extra;
		TL_TRY(skip_bytes(g, extra, err));
	}
	if (flags & FLAG_NAME)
		TL_TRY(skip_text(g, err));
	if (flags & FLAG_COMMENT)
		TL_TRY(skip_text(g, err));
	/* the header's own checksum covers nothing that is used here */
	return flags & FLAG_HCRC ? skip_bytes(g, 2, err) : 0;
}

/* Goes to the body of the next member. 0 (also at the end of the stream: then base.ended), or a failure. */
static int next_member(gzip *g, tl_error *err)
{
	tl_decoder *d = &g->base;
	tl_input *input = d->input;
	int code = tl__input_peek(input, 2, err);

	if (code > 0 && g->started && !input->next[0])
		code = tl__decode_skip_padding(d, 2, err);
	if (code < 0)
		return code;
	if (code == 0) {
		d->ended = true;
		return 0;
	}
	if (input->next[0] != 0x1f || (input->avail > 1 && input->next[1] != 0x8b)) {
		if (!d->state.damaged) /* else that is why: the note says it already */
			return (int)tl__decode_junk(d, "gzip");
		d->ended = true;
		return 0;
	}
	if (input->avail < 2)
		return (int)tl__decode_cut_off(d, "gzip");
	tl__input_skip(input, 2);
	code = header_fields(g, err);
	if (code == END_OF_FILE)
		return (int)tl__decode_cut_off(d, "gzip");
	if (code < 0)
		return code;
	if (code > 0)
		return (int)tl__decode_damaged(d, "gzip", "unknown compression method");
	if (g->started && tl__inflate_reset(g->inflater) < 0)
		return tl__nomem(err);
	g->started = true;
	g->phase = BODY;
	g->crc = g->length = 0;
	g->pending = false;
	return 0;
}

/* Unpacks some bytes. Number of bytes (0: nothing yet, or the end was reached), or a failure. */
static int64_t body(gzip *g, uint8_t *out, size_t size, tl_error *err)
{
	tl_decoder *d = &g->base;
	tl_input *input = d->input;
	uint8_t *to = out;
	size_t room = size, had, n;
	tl_inflate_status status;

	if (!input->avail && !g->pending) {
		int more = tl__input_fill(input, err);
		if (more < 0)
			return more;
		if (!more)
			return tl__decode_cut_off(d, "gzip");
	}
	had = input->avail;
	status = tl__inflate_run(g->inflater, &input->next, &input->avail, &to, &room, g->back, &g->n_back);
	n = size - room;
	g->crc = tl__crc32(g->crc, out, n);
	g->length += (uint32_t)n;
	g->pending = !room;
	if (status == TL_INFLATE_END)
		g->phase = TRAILER;
	else if (status == TL_INFLATE_NOMEM)
		return tl__nomem(err);
	else if (status == TL_INFLATE_DAMAGED || (!n && had && input->avail == had))
		tl__decode_damaged(d, "gzip", "no valid deflate data");
	return (int64_t)n;
}

static int trailer(gzip *g, tl_error *err)
{
	tl_decoder *d = &g->base;
	uint8_t bytes[8];
	uint32_t crc, length;

	for (size_t i = 0; i < sizeof bytes; i++) {
		int byte = i < g->n_back ? g->back[i] : next_byte(g, err);
		if (byte == END_OF_FILE)
			return (int)tl__decode_cut_off(d, "gzip");
		if (byte < 0)
			return byte;
		bytes[i] = (uint8_t)byte;
	}
	crc = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	length = bytes[4] | (uint32_t)bytes[5] << 8 | (uint32_t)bytes[6] << 16 | (uint32_t)bytes[7] << 24;
	g->phase = HEADER;
	/* the deflate data was well formed, so all of it came out, and a next member can be found; it is read, too */
	if (crc != g->crc || length != g->length)
		tl__decode_mismatch(d, "gzip", "wrong checksum");
	return 0;
}

static int64_t gzip_read(tl_decoder *self, uint8_t *out, size_t size, tl_error *err)
{
	gzip *g = (gzip *)self;

	while (!self->ended) {
		int64_t n = g->phase == HEADER    ? next_member(g, err)
			    : g->phase == TRAILER ? trailer(g, err)
						  : body(g, out, size, err);
		if (n)
			return n;
	}
	return 0;
}

static void gzip_free(tl_decoder *self)
{
	tl__inflate_free(((gzip *)self)->inflater);
	tl__input_free(self->input);
	tl__free(self);
}

int tl__decode_gzip(tl_decoder **out, tl_input *input, tl_error *err)
{
	gzip *g = tl__calloc(1, sizeof *g);

	*out = NULL;
	if (!g)
		return tl__nomem(err);
	g->inflater = tl__inflate_new();
	if (!g->inflater) {
		tl__free(g);
		return tl__nomem(err);
	}
	g->base.read = gzip_read;
	g->base.free = gzip_free;
	g->base.input = input;
	*out = &g->base;
	return 0;
}
