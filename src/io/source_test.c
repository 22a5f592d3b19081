/* SPDX-License-Identifier: MIT */
/* Whole sources: every container from a file, from memory and from a pipe, with and without the second thread. */
#include "io/io_testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zip.h>
#include <zstd.h>

#include "io/source.h"
#include "util/alloc.h"

static char folder[] = "/tmp/tl-source-XXXXXX";
static bytes text; /* 1.5 MB: some blocks */

static const char *in_folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static const char *put_file(const char *name, const void *v, size_t n)
{
	const char *path = in_folder(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(v, 1, n, f), n);
	fclose(f);
	return path;
}

static bytes get_file(const char *path)
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

static bytes pack_plain(const bytes *b)
{
	bytes packed = {0};

	test_append(&packed, b->v, b->n);
	return packed;
}

static bytes pack_gzip(const bytes *b)
{
	bytes packed = {0};
	size_t half = b->n / 2;

	test_gzip(&packed, b->v, half, 6, 0, TEST_NAME);
	test_gzip(&packed, b->v + half, b->n - half, 1, 0, 0);
	return packed;
}

static void zstd_frame(bytes *to, const uint8_t *v, size_t n)
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

static bytes pack_zstd(const bytes *b)
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

static bytes make_zip(const zip_entry *entries, size_t n)
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

static bytes pack_zip(const bytes *b)
{
	zip_entry entries[] = {{.name = "folder"},
			       {.name = "folder/trace.json", .v = b->v, .n = b->n},
			       {.name = "__MACOSX/._trace.json", .v = "x", .n = 1}};

	return make_zip(entries, 3);
}

static bytes pack_zip_of_gzip(const bytes *b)
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

static int setup(void **state)
{
	(void)state;
	text = test_text(1500000, 1);
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	tl__source_inject(0, -1);
	free(text.v);
	return rmdir(folder);
}

static int reset(void **state)
{
	(void)state;
	tl__source_inject(0, -1);
	tl__alloc_fail_after(-1);
	return 0;
}

/* ---- readers ---- */

/* Reads to the end in pieces of changing size; returns what ended it. */
static int64_t drain_read(tl_source *s, bytes *out, tl_error *err)
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
static int64_t drain_next(tl_source *s, bytes *out, size_t most, tl_error *err)
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

static int64_t drain(tl_source *s, int way, bytes *out, tl_error *err)
{
	return way == 0 ? drain_read(s, out, err) : drain_next(s, out, way == 1 ? 60000 : 600000, err);
}
enum { WAYS = 3 };

static int64_t once_more(tl_source *s, int way)
{
	return way ? tl__source_next(s, 0, &(char *){NULL}, NULL, NULL) : tl__source_read(s, &(char){0}, 1, NULL);
}

static void assert_whole(tl_source *s, int way, const bytes *want)
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
	assert_int_equal(
		way ? tl__source_next(s, 0, &(char *){NULL}, NULL, NULL) : tl__source_read(s, &(char){0}, 1, NULL), 0);
	free(out.v);
}

/* ---- tests ---- */

static void every_kind_from_file_and_memory(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		char path[512];
		strcpy(path, put_file("packed", packed.v, packed.n));
		for (int i = 0; i < 4 * WAYS; i++) {
			tl_source *s;
			tl_source_state st;
			if (i & 1)
				assert_int_equal(tl__source_open(&s, path, i & 2, NULL), 0);
			else
				assert_int_equal(tl__source_open_memory(&s, packed.v, packed.n, i & 2, NULL), 0);
			assert_whole(s, i / 4, &text);
			tl__source_state(s, &st);
			assert_int_equal(st.packed_total, packed.n);
			assert_int_equal(st.packed_done, packed.n);
			tl__source_close(s);
		}
		unlink(path);
		free(packed.v);
	}
}

static void short_files_are_plain(void **state)
{
	static const char *const starts[] = {"", "{", "\x28", "P", "\x1e\x8b", "\x28\xb6", "PL", "PK1", "[]\n{}"};

	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		for (int way = 0; way < WAYS; way++) {
			bytes b = {(uint8_t *)(uintptr_t)starts[i], strlen(starts[i])};
			tl_source *s;
			assert_int_equal(tl__source_open_memory(&s, b.v, b.n, way == 1, NULL), 0);
			assert_whole(s, way, &b);
			tl__source_close(s);
		}
	}
}

/* Less than the mark of a container: the rest of it is missing. */
static void short_files_that_are_cut_off(void **state)
{
	static const char *const starts[] = {"\x1f", "\x28\xb5", "\x28\xb5\x2f", "PK", "PK\x03"};

	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		tl_error err = TL_ERROR_INIT;
		tl_source_state st;
		tl_source *s;
		bytes out;
		int code = tl__source_open_memory(&s, starts[i], strlen(starts[i]), false, &err);
		if (i > 2) { /* a zip is looked into at once */
			assert_int_equal(code, TL_EFORMAT);
			assert_non_null(strstr(err.message, "cut off"));
			continue;
		}
		assert_int_equal(code, 0);
		assert_int_equal(drain(s, 0, &out, NULL), 0);
		assert_int_equal(out.n, 0);
		tl__source_state(s, &st);
		assert_true(st.truncated);
		assert_non_null(strstr(st.note, "cut off"));
		tl__source_close(s);
		free(out.v);
	}
}

typedef struct feeder {
	int fd;
	const bytes *b;
	pthread_t thread;
} feeder;

static void *feed(void *user)
{
	feeder *f = user;
	size_t at = 0;
	uint32_t seed = 3;

	while (at < f->b->n) {
		size_t n = 1 + test_random(&seed) % 5000;
		ssize_t done = write(f->fd, f->b->v + at, n < f->b->n - at ? n : f->b->n - at);
		if (done <= 0)
			break;
		at += (size_t)done;
	}
	close(f->fd);
	return NULL;
}

static void pipes_and_standard_input(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		for (int threaded = 0; threaded < 2; threaded++) {
			int ends[2], saved = dup(STDIN_FILENO);
			feeder f = {.b = &packed};
			tl_error err = TL_ERROR_INIT;
			tl_source *s;
			assert_int_equal(pipe(ends), 0);
			f.fd = ends[1];
			dup2(ends[0], STDIN_FILENO);
			close(ends[0]);
			assert_int_equal(pthread_create(&f.thread, NULL, feed, &f), 0);
			if (kinds[k].zip) {
				assert_int_equal(tl__source_open(&s, "-", threaded, &err), TL_EFORMAT);
				assert_non_null(strstr(err.message, "standard input"));
			} else {
				tl_source_state st;
				assert_int_equal(tl__source_open(&s, "-", threaded, &err), 0);
				assert_whole(s, threaded, &text);
				tl__source_state(s, &st);
				assert_int_equal(st.packed_total, 0);
				assert_int_equal(st.packed_done, packed.n);
				tl__source_close(s);
			}
			dup2(saved, STDIN_FILENO); /* closes the pipe: the feeder gets EPIPE, or is done */
			close(saved);
			pthread_join(f.thread, NULL);
		}
		free(packed.v);
	}
}

static void short_reads(void **state)
{
	static const size_t limits[] = {1, 3, 1000};
	bytes few = {text.v, 20000};

	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&few);
		char path[512];
		strcpy(path, put_file("packed", packed.v, packed.n));
		for (int i = 0; i < 2 * 3 * WAYS; i++) {
			tl_source *s;
			tl__source_inject(limits[i / 2 % 3], -1);
			assert_int_equal(i & 1 ? tl__source_open(&s, path, i & 1, NULL)
					       : tl__source_open_memory(&s, packed.v, packed.n, i & 1, NULL),
					 0);
			assert_whole(s, i / 6, &few);
			tl__source_close(s);
			tl__source_inject(0, -1);
		}
		unlink(path);
		free(packed.v);
	}
}

/* A disk that fails after some bytes: what was read before is delivered, then the error, again and again. */
static void read_failures(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text), out;
		char path[512];
		strcpy(path, put_file("broken", packed.v, packed.n));
		for (int i = 0; i < 2 * WAYS * 5; i++) {
			int64_t after = (int64_t)packed.n * (i % 5) / 5;
			tl_error err = TL_ERROR_INIT;
			tl_source *s;
			int code;
			tl__source_inject(0, after);
			code = tl__source_open(&s, path, i & 1, &err);
			if (code == 0) {
				assert_int_equal(drain(s, i / 10, &out, &err), TL_EIO);
				assert_in_range(out.n, 0, text.n);
				if (out.n)
					assert_memory_equal(out.v, text.v, out.n);
				if (k == 0)
					assert_int_equal(out.n, after);
				assert_int_equal(once_more(s, i / 10), TL_EIO);
				tl__source_close(s);
				free(out.v);
			} else {
				assert_int_equal(code, TL_EIO);
				assert_null(s);
			}
			assert_int_equal(err.code, TL_EIO);
			assert_non_null(strstr(err.message, path));
			assert_non_null(strstr(err.message, "Input/output error"));
			assert_string_equal(err.file, path);
			tl__source_inject(0, -1);
		}
		unlink(path);
		free(packed.v);
	}
}

static void files_that_cannot_be_opened(void **state)
{
	tl_error err = TL_ERROR_INIT;
	tl_source *s = (tl_source *)&err;

	(void)state;
	assert_int_equal(tl__source_open(&s, folder, true, &err), TL_EIO);
	assert_null(s);
	assert_non_null(strstr(err.message, folder));
	assert_non_null(strstr(err.message, "Is a directory"));
	assert_int_equal(tl__source_open(&s, in_folder("none"), true, &err), TL_EIO);
	assert_non_null(strstr(err.message, in_folder("none")));
	assert_non_null(strstr(err.message, "No such file"));
	assert_int_equal(tl__source_open(&s, "", true, &err), TL_EIO);
	if (geteuid() != 0) {
		chmod(put_file("secret", "{}", 2), 0);
		assert_int_equal(tl__source_open(&s, in_folder("secret"), true, &err), TL_EIO);
		assert_non_null(strstr(err.message, "Permission denied"));
		unlink(in_folder("secret"));
	}
}

/* Every cut of a small file: bytes are a prefix, and the state says that they are not all. */
static void cut_off_at_every_byte(void **state)
{
	bytes few = {text.v, 2000};

	(void)state;
	for (int k = 1; k < 3; k++) {
		bytes packed = kinds[k].pack(&few);
		size_t before = 0;
		for (size_t n = 4; n < packed.n; n++) {
			bytes out, copy = {malloc(n), n};
			tl_source_state st;
			tl_source *s;
			memcpy(copy.v, packed.v, n);
			assert_int_equal(tl__source_open_memory(&s, copy.v, n, false, NULL), 0);
			assert_int_equal(drain(s, (int)(n % WAYS), &out, NULL), 0);
			tl__source_state(s, &st);
			assert_false(st.damaged);
			/* between two members or frames nobody can tell */
			assert_true(st.truncated || out.n == 1000 || out.n == 666 || (k == 2 && n == 11));
			assert_int_equal(st.truncated, st.note[0] != 0);
			assert_in_range(out.n, before, few.n);
			if (out.n)
				assert_memory_equal(out.v, few.v, out.n);
			before = out.n;
			tl__source_close(s);
			free(out.v);
			free(copy.v);
		}
		free(packed.v);
	}
}

static void zstd_damage_and_junk(void **state)
{
	bytes packed = {0}, out;
	tl_source_state st;
	tl_source *s;

	(void)state;
	zstd_frame(&packed, text.v, 1000000);
	for (int i = 0; i < 4; i++) {
		uint8_t *at = packed.v + packed.n * 3 / 4, saved[64];
		bytes b = {0};
		memcpy(saved, at, sizeof saved);
		if (i == 0) /* in the middle */
			memset(at, 0xff, sizeof saved);
		if (i == 1) /* the checksum */
			packed.v[packed.n - 1] ^= 1;
		test_append(&b, packed.v, packed.n);
		if (i == 2)
			test_append(&b, "\0\0\0junk", 7);
		if (i == 3)
			test_append(&b, "\0\0\0\0", 4);
		assert_int_equal(tl__source_open_memory(&s, b.v, b.n, false, NULL), 0);
		assert_int_equal(drain(s, i % WAYS, &out, NULL), 0);
		tl__source_state(s, &st);
		assert_int_equal(st.damaged, i < 2);
		assert_int_equal(st.incomplete, i == 0); /* a checksum loses nothing */
		assert_int_equal(st.trailing_junk, i == 2);
		assert_false(st.truncated);
		assert_int_equal(st.note[0] != 0, i < 3);
		/* blocks are of 128 KiB: those before the damage are all there */
		assert_in_range(out.n, i == 0 ? 512 << 10 : 1000000, 1000000);
		assert_memory_equal(out.v, text.v, i == 0 ? 512 << 10 : out.n);
		if (i == 0)
			memcpy(at, saved, sizeof saved);
		if (i == 1)
			packed.v[packed.n - 1] ^= 1;
		tl__source_close(s);
		free(out.v);
		free(b.v);
	}
	free(packed.v);
}

static void zips_that_cannot_be_read(void **state)
{
	static const struct {
		zip_entry entries[3];
		size_t n;
		const char *says[3];
	} cases[] = {
		{{{.name = "a.json", .v = "{}", .n = 2}, {.name = "b.json", .v = "{}", .n = 2}},
		 2,
		 {"a.json", "b.json", "2 files"}},
		{{{.name = "empty/"}}, 1, {"no file", "zip", "zip"}},
		{{{.name = "a.json", .v = "{}", .n = 2, .encrypted = true}}, 1, {"encrypted", "unpack", "zip"}},
	};
	tl_error err = TL_ERROR_INIT;
	tl_source *s;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bytes b = make_zip(cases[i].entries, cases[i].n);
		assert_int_equal(tl__source_open_memory(&s, b.v, b.n, true, &err), TL_EFORMAT);
		assert_null(s);
		for (int k = 0; k < 3; k++)
			assert_non_null(strstr(err.message, cases[i].says[k]));
		free(b.v);
	}
}

/* A zip whose directory is right and whose member is not. */
static void damaged_zip_member(void **state)
{
	bytes b = pack_zip(&text), out;
	tl_source_state st;
	tl_source *s;
	size_t good = 0;

	(void)state;
	memset(b.v + b.n / 2, 0xff, 100);
	assert_int_equal(tl__source_open_memory(&s, b.v, b.n, true, NULL), 0);
	assert_int_equal(drain(s, 0, &out, NULL), 0);
	tl__source_state(s, &st);
	assert_true(st.damaged && st.incomplete);
	assert_string_not_equal(st.note, "");
	while (good < out.n && out.v[good] == text.v[good])
		good++;
	assert_in_range(good, text.n / 4, text.n);
	tl__source_close(s);
	free(out.v);
	free(b.v);
}

/* Without its end a zip has no directory; its first file is there all the same. */
static void cut_off_zip(void **state)
{
	bytes few = {text.v, 20000};

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		bytes inner = pack_gzip(&few), packed;
		zip_entry entries[] = {{.name = "folder"},
				       {.name = "folder/a", .v = kind == 2 ? inner.v : few.v, .stored = kind > 0}};
		size_t local = 0, last = 0;
		entries[1].n = kind == 2 ? inner.n : few.n;
		packed = make_zip(entries, 2);
		while (memcmp(packed.v + local, "PK\x01\x02", 4) != 0)
			local++; /* where the directory begins */
		for (size_t n = 90; n < packed.n; n += n % 7 ? 1 : 37) {
			bytes out, copy = {malloc(n), n};
			tl_source_state st;
			tl_source *s;
			memcpy(copy.v, packed.v, n);
			if (tl__source_open_memory(&s, copy.v, n, false, NULL) == 0) {
				assert_int_equal(drain(s, 0, &out, NULL), 0);
				tl__source_state(s, &st);
				assert_true(st.truncated);
				assert_string_not_equal(st.note, "");
				assert_in_range(out.n, last, few.n);
				if (out.n)
					assert_memory_equal(out.v, few.v, out.n);
				if (n >= local)
					assert_int_equal(out.n, few.n);
				last = out.n;
				tl__source_close(s);
				free(out.v);
			} else {
				assert_int_equal(last, 0); /* cut off before the data */
				assert_true(n < 120);
			}
			free(copy.v);
		}
		assert_int_equal(last, few.n);
		free(inner.v);
		free(packed.v);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Closing must not wait for the rest of the file, nor for a pipe that stays silent. */
static void close_in_mid_stream(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		for (int read = 0; read < 4; read++) {
			tl_source *s;
			char *window;
			assert_int_equal(tl__source_open_memory(&s, packed.v, packed.n, true, NULL), 0);
			for (int i = 0; i < read; i++)
				assert_true(tl__source_next(s, 0, &window, NULL, NULL) > 0);
			tl__source_close(s);
		}
		free(packed.v);
	}
	tl__source_close(NULL);
}

static void close_while_a_pipe_is_silent(void **state)
{
	const char *path = in_folder("fifo");
	tl_source *s;
	double start;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR); /* keeps the other end open */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "{\"a\": 1}", 8), 8);
	assert_int_equal(tl__source_open(&s, path, true, NULL), 0);
	start = seconds();
	tl__source_close(s);
	assert_true(seconds() - start < 5);
	close(fd);
	unlink(path);
}

/* Remainders of every size, up to all that was read so far: 40 MB, in linear time. */
static void windows_grow_as_needed(void **state)
{
	bytes large = test_text(40000000, 2);

	(void)state;
	for (int threaded = 0; threaded < 2; threaded++) {
		size_t size = 0;
		char *window;
		int64_t got;
		tl_source *s;
		assert_int_equal(tl__source_open_memory(&s, large.v, large.n, threaded, NULL), 0);
		while ((got = tl__source_next(s, size, &window, NULL, NULL)) > 0)
			size += (size_t)got;
		assert_int_equal(got, 0);
		assert_int_equal(size, large.n);
		assert_memory_equal(window, large.v, large.n);
		tl__source_close(s);
	}
	free(large.v);
}

typedef struct copy_task {
	tl_source_task task;
	tl_source *source;
	tl_source_block *block;
	const char *window;
	size_t n;
	bytes *out;
} copy_task;

static void copy_window(tl_source_task *task)
{
	copy_task *copy = (copy_task *)task;
	memcpy(copy->out->v + copy->out->n, copy->window, copy->n);
	copy->out->n += copy->n;
	tl__source_give(copy->source, copy->block);
}

/* The window before stays as it is until its block was given back; tasks are run in order. */
static void tasks_beside_the_reader(void **state)
{
	enum { UNDER_WAY = 2 };
	bytes large = test_text(10000000, 2), out = {.v = malloc(large.n)};
	copy_task tasks[UNDER_WAY] = {0};
	char *window = NULL, *before;
	size_t posted = 0, n_before;
	int64_t got = 0;
	tl_source_block *block;
	tl_source *s;

	(void)state;
	assert_int_equal(tl__source_open_memory(&s, large.v, large.n, true, NULL), 0);
	assert_true(tl__source_is_threaded(s));
	assert_false(tl__source_in_block(s));
	for (;;) {
		before = window, n_before = (size_t)got;
		got = tl__source_next(s, 0, &window, &block, NULL);
		if (got <= 0)
			break;
		assert_true(tl__source_in_block(s));
		assert_int_equal(block != NULL, before != NULL);
		if (!block)
			continue;
		copy_task *copy = &tasks[posted % UNDER_WAY];
		if (posted >= UNDER_WAY)
			tl__source_wait(s, &copy->task);
		*copy = (copy_task){{.run = copy_window}, s, block, before, n_before, &out};
		tl__source_post(s, &copy->task);
		posted++;
	}
	assert_int_equal(got, 0);
	assert_null(block); /* the last window stays where it is */
	for (size_t i = 0; i < UNDER_WAY; i++)
		tl__source_wait(s, &tasks[i].task);
	assert_int_equal(out.n + n_before, large.n);
	assert_memory_equal(out.v, large.v, out.n);
	tl__source_close(s);
	free(out.v);
	free(large.v);
}

static void no_memory(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		for (int way = 0; way < WAYS * 2; way++) {
			int64_t code = TL_ENOMEM;
			for (int n = 0; code == TL_ENOMEM; n++) {
				tl_error err = TL_ERROR_INIT;
				bytes out = {0};
				tl_source *s;
				assert_in_range(n, 0, 60);
				tl__alloc_fail_after(n);
				code = tl__source_open_memory(&s, packed.v, packed.n, way & 1, &err);
				if (code == 0) {
					code = drain(s, way / 2, &out, &err);
					tl__source_close(s);
				} else {
					assert_null(s);
				}
				tl__alloc_fail_after(-1);
				assert_int_equal(err.code, code);
				if (code == 0)
					assert_int_equal(out.n, text.n);
				free(out.v);
			}
			assert_int_equal(code, 0);
		}
		free(packed.v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_kind_from_file_and_memory, reset),
		cmocka_unit_test_teardown(short_files_are_plain, reset),
		cmocka_unit_test_teardown(short_files_that_are_cut_off, reset),
		cmocka_unit_test_teardown(pipes_and_standard_input, reset),
		cmocka_unit_test_teardown(short_reads, reset),
		cmocka_unit_test_teardown(read_failures, reset),
		cmocka_unit_test_teardown(files_that_cannot_be_opened, reset),
		cmocka_unit_test_teardown(cut_off_at_every_byte, reset),
		cmocka_unit_test_teardown(zstd_damage_and_junk, reset),
		cmocka_unit_test_teardown(zips_that_cannot_be_read, reset),
		cmocka_unit_test_teardown(damaged_zip_member, reset),
		cmocka_unit_test_teardown(cut_off_zip, reset),
		cmocka_unit_test_teardown(close_in_mid_stream, reset),
		cmocka_unit_test_teardown(close_while_a_pipe_is_silent, reset),
		cmocka_unit_test_teardown(windows_grow_as_needed, reset),
		cmocka_unit_test_teardown(tasks_beside_the_reader, reset),
		cmocka_unit_test_teardown(no_memory, reset),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, setup, teardown);
}
