/* SPDX-License-Identifier: MIT */
#include "io/pack.h"

#include <string.h>
#include <zlib.h>
#ifdef TL_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

enum { BLOCK = 64 << 10 };

/* ---- deflate ---- */

struct tl_packer {
	FILE *out;
	tl_packed piece;
#ifdef TL_HAVE_ISAL
	struct isal_zstream stream;
	uint8_t level[ISAL_DEF_LVL2_DEFAULT];
#else
	z_stream stream;
#endif
	uint8_t block[BLOCK];
};

static void write_out(tl_packer *p, size_t n)
{
	fwrite(p->block, 1, n, p->out);
	p->piece.packed += n;
}

#ifdef TL_HAVE_ISAL

static void begin(tl_packer *p)
{
	isal_deflate_init(&p->stream);
	p->stream.level = 2; /* packs XML as well as level 3, and in half the time */
	p->stream.level_buf = p->level;
	p->stream.level_buf_size = sizeof p->level;
}

static uint32_t checksum(uint32_t crc, const uint8_t *data, size_t n)
{
	return crc32_gzip_refl(crc, data, n);
}

/* Memory is the packer's own, so this cannot fail. */
static void run(tl_packer *p, const uint8_t *data, uint32_t n, bool end, bool last)
{
	p->stream.next_in = (uint8_t *)data;
	p->stream.avail_in = n;
	p->stream.flush = end && !last ? FULL_FLUSH : NO_FLUSH;
	p->stream.end_of_stream = last;
	do {
		p->stream.next_out = p->block;
		p->stream.avail_out = BLOCK;
		isal_deflate(&p->stream);
		write_out(p, BLOCK - p->stream.avail_out);
	} while (p->stream.avail_out == 0);
}

static void end_stream(tl_packer *p)
{
	(void)p;
}

static bool start(tl_packer *p)
{
	begin(p);
	return true;
}

#else

static void begin(tl_packer *p)
{
	deflateReset(&p->stream);
}

static uint32_t checksum(uint32_t crc, const uint8_t *data, size_t n)
{
	return (uint32_t)crc32_z(crc, data, n);
}

/* All memory was taken at the start, so this cannot fail. */
static void run(tl_packer *p, const uint8_t *data, uint32_t n, bool end, bool last)
{
	p->stream.next_in = (uint8_t *)data;
	p->stream.avail_in = n;
	do {
		p->stream.next_out = p->block;
		p->stream.avail_out = BLOCK;
		deflate(&p->stream, last ? Z_FINISH : end ? Z_FULL_FLUSH : Z_NO_FLUSH);
		write_out(p, BLOCK - p->stream.avail_out);
	} while (p->stream.avail_out == 0);
}

static void end_stream(tl_packer *p)
{
	deflateEnd(&p->stream);
}

static bool start(tl_packer *p)
{
	return deflateInit2(&p->stream, 4, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

#endif

tl_packer *tl__packer_new(FILE *out)
{
	tl_packer *p = tl__calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->out = out;
	if (start(p))
		return p;
	tl__free(p);
	return NULL;
}

void tl__packer_free(tl_packer *p)
{
	if (p)
		end_stream(p);
	tl__free(p);
}

void tl__pack(tl_packer *p, const void *data, size_t n)
{
	const uint8_t *from = data;
	p->piece.crc = checksum(p->piece.crc, from, n);
	p->piece.size += n;
	while (n) {
		uint32_t part = n < INT32_MAX ? (uint32_t)n : INT32_MAX;
		run(p, from, part, false, false);
		from += part;
		n -= part;
	}
}

tl_packed tl__pack_end(tl_packer *p, bool last)
{
	run(p, p->block, 0, true, last);
	tl_packed done = p->piece;
	p->piece = (tl_packed){0};
	begin(p);
	return done;
}

tl_packed tl__packed_join(tl_packed a, tl_packed b)
{
	return (tl_packed){(uint32_t)crc32_combine(a.crc, b.crc, (z_off_t)b.size), a.size + b.size,
			   a.packed + b.packed};
}

/* ---- zip ---- */

struct tl_zip_entry {
	char *name;
	tl_packed whole;
	uint64_t at; /* of its local header */
};

enum { DEFLATED = 8, PLAIN_VERSION = 20, ZIP64_VERSION = 45, ZIP64_EXTRA = 1, NEW_YEAR_1980 = 0x21 };

/* Numbers of a record, least byte first. */
typedef struct record {
	uint8_t v[128];
	size_t n;
} record;

static void put(record *r, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		r->v[r->n++] = (uint8_t)(value >> (8 * i));
}

/* A field of 32 bits, which says by all ones that the ZIP64 field has the value. */
static void put_short(record *r, uint64_t value)
{
	put(r, value < UINT32_MAX ? value : UINT32_MAX, 4);
}

static void put_record(tl_zip_out *zip, const record *r)
{
	tl__zip_data(zip, r->v, r->n);
}

static bool is_large(const tl_packed *p)
{
	return p->size >= UINT32_MAX || p->packed >= UINT32_MAX;
}

/* What local header and directory have in common, up to the length of the name. */
static void put_common(record *r, const struct tl_zip_entry *e, bool zip64)
{
	put(r, zip64 ? ZIP64_VERSION : PLAIN_VERSION, 2);
	put(r, 0, 2); /* no flags */
	put(r, DEFLATED, 2);
	put(r, 0, 2);
	put(r, NEW_YEAR_1980, 2); /* the same input gives the same file */
	put(r, e->whole.crc, 4);
	if (is_large(&e->whole)) { /* both sizes are in the ZIP64 field then */
		put(r, UINT32_MAX, 4);
		put(r, UINT32_MAX, 4);
	} else {
		put(r, e->whole.packed, 4);
		put(r, e->whole.size, 4);
	}
	put(r, strlen(e->name), 2);
}

static void put_local(tl_zip_out *zip, const struct tl_zip_entry *e)
{
	record r = {.n = 0};
	bool large = is_large(&e->whole);
	put(&r, 0x04034b50, 4);
	put_common(&r, e, large);
	put(&r, large ? 20 : 0, 2);
	put_record(zip, &r);
	tl__zip_data(zip, e->name, strlen(e->name));
	if (!large)
		return;
	r.n = 0;
	put(&r, ZIP64_EXTRA, 2);
	put(&r, 16, 2);
	put(&r, e->whole.size, 8);
	put(&r, e->whole.packed, 8);
	put_record(zip, &r);
}

static void put_directory_entry(tl_zip_out *zip, const struct tl_zip_entry *e)
{
	record r = {.n = 0}, extra = {.n = 0};
	if (is_large(&e->whole)) {
		put(&extra, e->whole.size, 8);
		put(&extra, e->whole.packed, 8);
	}
	if (e->at >= UINT32_MAX)
		put(&extra, e->at, 8);
	put(&r, 0x02014b50, 4);
	put(&r, extra.n ? ZIP64_VERSION : PLAIN_VERSION, 2);
	put_common(&r, e, extra.n > 0);
	put(&r, extra.n ? extra.n + 4 : 0, 2);
	put(&r, 0, 2); /* no comment */
	put(&r, 0, 2); /* disk */
	put(&r, 0, 2); /* attributes */
	put(&r, 0, 4);
	put_short(&r, e->at);
	put_record(zip, &r);
	tl__zip_data(zip, e->name, strlen(e->name));
	if (!extra.n)
		return;
	r.n = 0;
	put(&r, ZIP64_EXTRA, 2);
	put(&r, extra.n, 2);
	put_record(zip, &r);
	put_record(zip, &extra);
}

int tl__zip_begin(tl_zip_out *zip, const char *name, tl_packed whole)
{
	struct tl_zip_entry e = {.name = tl__strdup(name), .whole = whole, .at = zip->at};
	if (!e.name || TL_VEC_PUSH(&zip->entries, e) < 0) {
		tl__free(e.name);
		return TL_ENOMEM;
	}
	put_local(zip, &e);
	return 0;
}

void tl__zip_data(tl_zip_out *zip, const void *data, size_t n)
{
	fwrite(data, 1, n, zip->out);
	zip->at += n;
}

void tl__zip_end(tl_zip_out *zip)
{
	uint64_t start = zip->at, n = zip->entries.n;
	for (size_t i = 0; i < n; i++)
		put_directory_entry(zip, &zip->entries.v[i]);
	uint64_t end = zip->at, size = end - start;
	record r = {.n = 0};
	if (start >= UINT32_MAX || size >= UINT32_MAX || n >= UINT16_MAX) {
		put(&r, 0x06064b50, 4);
		put(&r, 44, 8); /* bytes that follow */
		put(&r, ZIP64_VERSION, 2);
		put(&r, ZIP64_VERSION, 2);
		put(&r, 0, 8); /* disks */
		put(&r, n, 8);
		put(&r, n, 8);
		put(&r, size, 8);
		put(&r, start, 8);
		put(&r, 0x07064b50, 4);
		put(&r, 0, 4);
		put(&r, end, 8);
		put(&r, 1, 4);
	}
	put(&r, 0x06054b50, 4);
	put(&r, 0, 4); /* disks */
	put(&r, n < UINT16_MAX ? n : UINT16_MAX, 2);
	put(&r, n < UINT16_MAX ? n : UINT16_MAX, 2);
	put_short(&r, size);
	put_short(&r, start);
	put(&r, 0, 2); /* no comment */
	put_record(zip, &r);
}

void tl__zip_free(tl_zip_out *zip)
{
	for (size_t i = 0; i < zip->entries.n; i++)
		tl__free(zip->entries.v[i].name);
	TL_VEC_FREE(&zip->entries);
}
