/* SPDX-License-Identifier: MIT */
/**
 * @file source_fixture.h What the tests of sources share: a text in every container, and ways to read a source to its
 * end.
 */
#ifndef TL_IO_SOURCE_FIXTURE_H
#define TL_IO_SOURCE_FIXTURE_H

#include "io/io_testing.h"

#include <unistd.h>
#include <zip.h>
#include <zstd.h>

#include "io/source.h"
#include "util/alloc.h"

static char folder[] = "/tmp/tl-source-XXXXXX";
static bytes text; /* 1.5 MB: some blocks */

static inline const char *in_folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static inline const char *put_file(const char *name, const void *v, size_t n)
{
	const char *path = in_folder(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(v, 1, n, f), n);
	fclose(f);
	return path;
}

static inline bytes get_file(const char *path)
{
	bytes b = {0};
	char part[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		test_append(&b, part, n);
	fclose(f);
	return b;
}

/* ---- containers ---- */

static inline bytes pack_plain(const bytes *b)
{
	bytes packed = {0};

	test_append(&packed, b->v, b->n);
	return packed;
}

static inline bytes pack_gzip(const bytes *b)
{
	bytes packed = {0};
	size_t half = b->n / 2;

	test_gzip(&packed, b->v, half, 6, 0, TEST_NAME);
	test_gzip(&packed, b->v + half, b->n - half, 1, 0, 0);
	return packed;
}

static inline void zstd_frame(bytes *to, const uint8_t *v, size_t n)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n), got;
	uint8_t *out = malloc(room);

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	got = ZSTD_compress2(c, out, room, v, n);
	assert_false(ZSTD_isError(got));
	test_append(to, out, got);
	free(out);
	ZSTD_freeCCtx(c);
}

static inline bytes pack_zstd(const bytes *b)
{
	bytes packed = {0};
	size_t third = b->n / 3;

	test_append(&packed, "\x51\x2a\x4d\x18\x03\x00\x00\x00xyz", 11); /* a skippable frame */
	zstd_frame(&packed, b->v, third);
	test_append(&packed, "\x50\x2a\x4d\x18\x00\x00\x00\x00", 8);
	zstd_frame(&packed, b->v + third, b->n - third);
	return packed;
}

typedef struct zip_entry {
	const char *name;
	const void *v; /* NULL: a folder */
	size_t n;
	bool stored, encrypted;
} zip_entry;

static inline bytes make_zip(const zip_entry *entries, size_t n)
{
	const char *path = in_folder("made.zip");
	int code;
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
	bytes b;

	assert_non_null(z);
	for (size_t i = 0; i < n; i++) {
		if (!entries[i].v) {
			assert_true(zip_dir_add(z, entries[i].name, 0) >= 0);
			continue;
		}
		zip_source_t *s = zip_source_buffer(z, entries[i].v, entries[i].n, 0);
		zip_int64_t at = zip_file_add(z, entries[i].name, s, 0);
		assert_true(at >= 0);
		if (entries[i].stored)
			assert_int_equal(zip_set_file_compression(z, (zip_uint64_t)at, ZIP_CM_STORE, 0), 0);
		if (entries[i].encrypted)
			assert_int_equal(zip_file_set_encryption(z, (zip_uint64_t)at, ZIP_EM_AES_256, "secret"), 0);
	}
	assert_int_equal(zip_close(z), 0);
	b = get_file(path);
	unlink(path);
	return b;
}

static inline bytes pack_zip(const bytes *b)
{
	zip_entry entries[] = {{.name = "folder"},
			       {.name = "folder/trace.json", .v = b->v, .n = b->n},
			       {.name = "__MACOSX/._trace.json", .v = "x", .n = 1}};

	return make_zip(entries, 3);
}

static inline bytes pack_zip_of_gzip(const bytes *b)
{
	bytes inner = pack_gzip(b), packed;

	packed = make_zip(&(zip_entry){.name = "trace.json.gz", .v = inner.v, .n = inner.n, .stored = true}, 1);
	free(inner.v);
	return packed;
}

static const struct kind {
	const char *name;
	bytes (*pack)(const bytes *);
	bool zip;
} kinds[] = {
	{"plain", pack_plain, false},
	{"gzip", pack_gzip, false},
	{"zstd", pack_zstd, false},
	{"zip", pack_zip, true},
	{"zip of gzip", pack_zip_of_gzip, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static inline int setup(void **state)
{
	(void)state;
	text = test_text(1500000, 1);
	return mkdtemp(folder) ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	tl__source_inject(0, -1);
	free(text.v);
	return rmdir(folder);
}

static inline int reset(void **state)
{
	(void)state;
	tl__source_inject(0, -1);
	tl__alloc_fail_after(-1);
	return 0;
}

/* ---- readers ---- */

/* Reads to the end in pieces of changing size; returns what ended it. */
static inline int64_t drain_read(tl_source *s, bytes *out, tl_error *err)
{
	static uint8_t piece[300000];
	uint32_t seed = 7;
	int64_t got;
	size_t size;

	*out = (bytes){0};
	do {
		size = test_random(&seed) % 3 ? sizeof piece : 1 + test_random(&seed) % 5000;
		got = tl__source_read(s, piece, size, err);
		if (got > 0) {
			assert_in_range(got, 1, size);
			test_append(out, piece, (size_t)got);
		}
	} while (got > 0);
	return got;
}

/* The same through windows of which a changing part is kept, up to `most` bytes. */
static inline int64_t drain_next(tl_source *s, bytes *out, size_t most, tl_error *err)
{
	size_t keep = 0, size = 0;
	uint32_t seed = 9;
	char *window;
	int64_t got;

	*out = (bytes){0};
	for (;;) {
		got = tl__source_next(s, keep, &window, NULL, err);
		/* what was kept is still there, also at the end */
		if (keep)
			assert_memory_equal(window, out->v + out->n - keep, keep);
		if (got <= 0)
			break;
		test_append(out, window + keep, (size_t)got);
		size = keep + (size_t)got;
		for (size_t i = 0; i < TL_SOURCE_PAD; i++)
			window[size + i] = 'p'; /* may be written to */
		keep = test_random(&seed) % (most + 1);
		if (keep > size)
			keep = size;
	}
	return got;
}

static inline int64_t drain(tl_source *s, int way, bytes *out, tl_error *err)
{
	return way == 0 ? drain_read(s, out, err) : drain_next(s, out, way == 1 ? 60000 : 600000, err);
}
enum { WAYS = 3 };

static inline int64_t once_more(tl_source *s, int way)
{
	return way ? tl__source_next(s, 0, &(char *){NULL}, NULL, NULL) : tl__source_read(s, &(char){0}, 1, NULL);
}

static inline void assert_whole(tl_source *s, int way, const bytes *want)
{
	tl_error err = TL_ERROR_INIT;
	tl_source_state state;
	bytes out;

	assert_int_equal(drain(s, way, &out, &err), 0);
	assert_int_equal(out.n, want->n);
	if (want->n)
		assert_memory_equal(out.v, want->v, want->n);
	tl__source_state(s, &state);
	assert_false(state.truncated || state.damaged || state.trailing_junk);
	assert_string_equal(state.note, "");
	/* the end stays the end */
	assert_int_equal(once_more(s, way), 0);
	free(out.v);
}

#endif
