/* SPDX-License-Identifier: MIT */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "io/pack.h"

/* Text that packs well and text that does not. */
static char *make_text(size_t n, bool random)
{
	char *text = malloc(n + 1);
	uint32_t state = 12345;
	assert_non_null(text);
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		text[i] = random ? (char)(state >> 24) : "<c r=\"A1\"><v>12.5</v></c>"[i % 25];
	}
	return text;
}

static char path[] = "/tmp/tl-pack-XXXXXX";

static FILE *new_file(void)
{
	strcpy(path + sizeof path - 7, "XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	FILE *file = fdopen(fd, "w+b");
	assert_non_null(file);
	return file;
}

/* The member is `expected` to its end; libzip checks sum and sizes itself. */
static void expect_member(zip_t *archive, const char *name, const char *expected, size_t n)
{
	zip_stat_t stat;
	assert_int_equal(zip_stat(archive, name, ZIP_FL_UNCHANGED, &stat), 0);
	assert_int_equal(stat.size, n);
	zip_file_t *member = zip_fopen(archive, name, 0);
	assert_non_null(member);
	char *got = malloc(n + 1);
	size_t at = 0;
	for (zip_int64_t more; at <= n && (more = zip_fread(member, got + at, n + 1 - at)) != 0; at += (size_t)more)
		assert_true(more > 0);
	assert_int_equal(at, n);
	assert_memory_equal(got, expected, n);
	assert_int_equal(zip_fclose(member), 0);
	free(got);
}

static void copy(tl_zip_out *zip, FILE *spool, uint64_t at, uint64_t n)
{
	fseek(spool, (long)at, SEEK_SET);
	for (uint64_t i = 0; i < n; i++) {
		int c = fgetc(spool);
		assert_true(c >= 0);
		char byte = (char)c;
		tl__zip_data(zip, &byte, 1);
	}
}

/* A member of three pieces that are made in another order: middle, beginning, end. */
static void expect_pieces(size_t a, size_t b, size_t c, bool random)
{
	char *text = make_text(a + b + c, random);
	FILE *spool = tmpfile();
	tl_packer *packer = tl__packer_new(spool);
	tl_zip_out zip = {.out = new_file()};
	assert_non_null(packer);
	size_t half = b / 2;
	tl__pack(packer, text + a, half);
	tl__pack(packer, text + a + half, b - half);
	tl_packed middle = tl__pack_end(packer, false);
	tl__pack(packer, text, a);
	tl_packed first = tl__pack_end(packer, false);
	tl__pack(packer, text + a + b, c);
	tl_packed last = tl__pack_end(packer, true);
	assert_int_equal(middle.size, b);
	tl__packer_free(packer);
	fflush(spool);
	assert_int_equal(ftell(spool), first.packed + middle.packed + last.packed);

	tl_packed whole = tl__packed_join(tl__packed_join(first, middle), last);
	assert_int_equal(tl__zip_begin(&zip, "folder/member.xml", whole), 0);
	copy(&zip, spool, middle.packed, first.packed);
	copy(&zip, spool, 0, middle.packed);
	copy(&zip, spool, middle.packed + first.packed, last.packed);
	tl__zip_end(&zip);
	tl__zip_free(&zip);
	fclose(spool);
	fclose(zip.out);
	zip_t *archive = zip_open(path, ZIP_RDONLY | ZIP_CHECKCONS, NULL);
	assert_non_null(archive);
	assert_int_equal(zip_get_num_entries(archive, 0), 1);
	expect_member(archive, "folder/member.xml", text, a + b + c);
	zip_discard(archive);
	unlink(path);
	free(text);
}

static void pieces_join(void **state)
{
	(void)state;
	for (int random = 0; random < 2; random++) {
		expect_pieces(0, 0, 0, random);
		expect_pieces(1, 0, 0, random);
		expect_pieces(0, 1, 0, random);
		expect_pieces(0, 0, 1, random);
		expect_pieces(5, 7, 11, random);
		expect_pieces(300, 65536, 20, random);
		expect_pieces(100000, 3000000, 70000, random);
	}
}

static void several_members(void **state)
{
	(void)state;
	char name[16];
	tl_zip_out zip = {.out = new_file()};
	for (int i = 0; i < 100; i++) {
		char memory[64];
		FILE *spool = fmemopen(memory, sizeof memory, "w");
		tl_packer *packer = tl__packer_new(spool);
		snprintf(name, sizeof name, "m%d", i);
		tl__pack(packer, name, strlen(name));
		tl_packed whole = tl__pack_end(packer, true);
		tl__packer_free(packer);
		fclose(spool);
		assert_int_equal(tl__zip_begin(&zip, name, whole), 0);
		tl__zip_data(&zip, memory, whole.packed);
	}
	tl__zip_end(&zip);
	tl__zip_free(&zip);
	fclose(zip.out);
	zip_t *archive = zip_open(path, ZIP_RDONLY | ZIP_CHECKCONS, NULL);
	assert_non_null(archive);
	assert_int_equal(zip_get_num_entries(archive, 0), 100);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "m%d", i);
		expect_member(archive, name, name, strlen(name));
	}
	zip_discard(archive);
	unlink(path);
}

/* ZIP64 without writing gigabytes: a gap in the file in front of a member, and sizes that are only said. */
static void what_32_bits_do_not_hold(void **state)
{
	(void)state;
	static const uint64_t far = UINT64_C(5) << 30;
	tl_zip_out zip = {.out = new_file()};
	char memory[64];
	FILE *spool = fmemopen(memory, sizeof memory, "w");
	tl_packer *packer = tl__packer_new(spool);
	tl__pack(packer, "text", 4);
	tl_packed whole = tl__pack_end(packer, true);
	tl__packer_free(packer);
	fclose(spool);

	assert_int_equal(tl__zip_begin(&zip, "huge", (tl_packed){0, far, whole.packed}), 0);
	tl__zip_data(&zip, memory, whole.packed);
	assert_int_equal(fseeko(zip.out, (off_t)far, SEEK_SET), 0);
	zip.at = far;
	assert_int_equal(tl__zip_begin(&zip, "far", whole), 0);
	tl__zip_data(&zip, memory, whole.packed);
	tl__zip_end(&zip);
	tl__zip_free(&zip);
	fclose(zip.out);

	zip_stat_t stat;
	zip_t *archive = zip_open(path, ZIP_RDONLY, NULL);
	assert_non_null(archive);
	assert_int_equal(zip_stat(archive, "huge", 0, &stat), 0);
	assert_true(stat.size == far && stat.comp_size == whole.packed);
	expect_member(archive, "far", "text", 4);
	zip_discard(archive);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_join),
		cmocka_unit_test(several_members),
		cmocka_unit_test(what_32_bits_do_not_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
