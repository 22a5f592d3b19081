/* SPDX-License-Identifier: MIT */
/*
 * A zip file keeps its directory at the end, so that libzip opens nothing that was cut off. The data is there all the
 * same: every member has a header of its own (PKWARE APPNOTE, 4.3.7), and is read here from the front.
 */
#include <stdio.h>
#include <string.h>

#include "io/decode.h"
#include "io/inflate.h"
#include "util/alloc.h"

enum { HEADER = 30, STORED = 0, DEFLATED = 8, FLAG_ENCRYPTED = 1, FLAG_SIZE_LATER = 8 };
#define NAME_MAX_BYTES ((size_t)511)

typedef struct local_header {
	uint32_t flags, method, name_size, extra_size;
	uint64_t packed_size;
	char name[NAME_MAX_BYTES + 1];
} local_header;

typedef struct cut_off {
	tl_inflate *inflater; /* NULL for a stored member */
	uint64_t left;        /* bytes of a stored member still to come */
	bool pending;         /* the inflater filled the output and may hold more */
	bool ended;
} cut_off;

static uint32_t number(const uint8_t *p, int n)
{
	uint32_t value = 0;

	for (int i = n - 1; i >= 0; i--)
		value = value << 8 | p[i];
	return value;
}

/* Skips `n` bytes, into `out` if that is not NULL. 1, 0 when the file ends before, or a failure. */
static int skip(tl_input *zip, uint64_t n, char *out, tl_error *err)
{
	while (n) {
		int more = tl__input_fill(zip, err);
		size_t part = n < zip->avail ? (size_t)n : zip->avail;
		if (more <= 0)
			return more;
		if (out) {
			memcpy(out, zip->next, part);
			out += part;
		}
		tl__input_skip(zip, part);
		n -= part;
	}
	return 1;
}

/* 1, 0 when there is no further header, or a failure. */
static int read_header(tl_input *zip, local_header *h, tl_error *err)
{
	int more = tl__input_peek(zip, HEADER, err);
	const uint8_t *p = zip->next;
	size_t kept;

	if (more <= 0 || zip->avail < HEADER || memcmp(p, "PK\x03\x04", 4) != 0)
		return more < 0 ? more : 0;
	h->flags = number(p + 6, 2);
	h->method = number(p + 8, 2);
	h->packed_size = number(p + 18, 4);
	h->name_size = number(p + 26, 2);
	h->extra_size = number(p + 28, 2);
	kept = h->name_size < NAME_MAX_BYTES ? h->name_size : NAME_MAX_BYTES;
	tl__input_skip(zip, HEADER);
	more = skip(zip, kept, h->name, err);
	h->name[kept] = '\0';
	if (more > 0)
		more = skip(zip, h->name_size - kept + h->extra_size, NULL, err);
	return more;
}

static int64_t ends(tl_input *self, bool complete)
{
	cut_off *c = self->user;

	c->ended = true;
	self->early_cut_off = true;
	snprintf(self->early, sizeof self->early, "%s",
		 complete ? "its directory is missing; its first file was read"
			  : "it ends in the middle of its first file");
	return 0;
}

static int64_t pull_stored(tl_input *self, uint8_t *out, size_t size, tl_error *err)
{
	cut_off *c = self->user;
	int64_t got;

	if (!c->left)
		return ends(self, true);
	got = tl__input_read(self->below, out, size < c->left ? size : (size_t)c->left, err);
	if (got > 0)
		c->left -= (uint64_t)got;
	return got ? got : ends(self, false);
}

static int64_t pull_deflated(tl_input *self, uint8_t *out, size_t size, tl_error *err)
{
	cut_off *c = self->user;
	tl_input *zip = self->below;

	for (;;) {
		uint8_t *to = out, back[8];
		size_t room = size, n_back, had;
		tl_inflate_status status;

		if (!zip->avail && !c->pending) {
			int more = tl__input_fill(zip, err);
			if (more <= 0)
				return more < 0 ? more : ends(self, false);
		}
		had = zip->avail;
		status = tl__inflate_run(c->inflater, &zip->next, &zip->avail, &to, &room, back, &n_back);
		c->pending = !room;
		if (status == TL_INFLATE_NOMEM)
			return tl__nomem(err);
		if (status == TL_INFLATE_END) {
			ends(self, true);
		} else if (status == TL_INFLATE_DAMAGED || (room == size && had && zip->avail == had)) {
			ends(self, false);
			self->early_cut_off = false;
			snprintf(self->early, sizeof self->early,
				 "no valid deflate data, and its directory is missing");
		}
		if (room != size || c->ended)
			return (int64_t)(size - room);
	}
}

static int64_t pull(tl_input *self, uint8_t *out, size_t size, tl_error *err)
{
	cut_off *c = self->user;

	if (c->ended)
		return 0;
	return c->inflater ? pull_deflated(self, out, size, err) : pull_stored(self, out, size, err);
}

static void pull_free(tl_input *self)
{
	cut_off *c = self->user;

	tl__inflate_free(c->inflater);
	tl__free(c);
}

/* Goes to the data of the first regular file. 1, 0 when there is none that can be read, or a failure. */
static int find_member(tl_input *zip, local_header *h, tl_error *err)
{
	for (;;) {
		int more = read_header(zip, h, err);
		if (more <= 0)
			return more;
		if (tl__zip_is_data(h->name))
			break;
		if (h->flags & FLAG_SIZE_LATER) /* only a directory could tell how long it is */
			return 0;
		more = skip(zip, h->packed_size, NULL, err);
		if (more <= 0)
			return more;
	}
	if (h->flags & FLAG_ENCRYPTED)
		return 0;
	return h->method == DEFLATED || (h->method == STORED && !(h->flags & FLAG_SIZE_LATER));
}

int tl__zip_cut_off(tl_input **out, tl_input *zip, tl_error *err)
{
	local_header h;
	cut_off *c;
	int code = find_member(zip, &h, err);

	*out = NULL;
	if (code < 0)
		return code;
	if (!code && zip->avail < HEADER) { /* the file ended there */
		tl__fail(err, TL_EFORMAT, "nothing could be unpacked: the zip file is cut off before its first data");
		tl__error_where(err, zip->name, -1);
	}
	if (!code)
		return TL_EFORMAT;
	c = tl__calloc(1, sizeof *c);
	if (!c)
		return tl__nomem(err);
	if (h.method == DEFLATED)
		c->inflater = tl__inflate_new();
	/* all ones: a member of 4 GiB or more, whose size is elsewhere; the file ends before it does */
	c->left = h.packed_size == UINT32_MAX ? UINT64_MAX : h.packed_size;
	code = h.method == DEFLATED && !c->inflater ? tl__nomem(err)
						    : tl__input_open_pull(out, zip, pull, pull_free, c, err);
	if (code < 0) {
		tl__inflate_free(c->inflater);
		tl__free(c);
	}
	return code;
}
