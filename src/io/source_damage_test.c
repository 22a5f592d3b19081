/* SPDX-License-Identifier: MIT */
/* Sources whose container is cut off, damaged, followed by junk or of a kind that cannot be read. */
#include "io/source_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(cut_off_at_every_byte, reset),
		cmocka_unit_test_teardown(zstd_damage_and_junk, reset),
		cmocka_unit_test_teardown(zips_that_cannot_be_read, reset),
		cmocka_unit_test_teardown(damaged_zip_member, reset),
		cmocka_unit_test_teardown(cut_off_zip, reset),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
