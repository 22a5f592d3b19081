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

#include "io/xlsx_writer.h"
#include "util/utf8.h"

static void expect_text(const char *text, size_t n, const char *expected)
{
	tl_buf buf = {0};
	assert_string_equal(tl__xlsx_text(&buf, text, n), expected);
	tl__buf_free(&buf);
}

static void texts_become_what_a_cell_can_hold(void **state)
{
	(void)state;
	expect_text("plain =1+1", 10, "plain =1+1");
	expect_text("\xc2\xb5s \xe4\xb8\xad", 7, "\xc2\xb5s \xe4\xb8\xad");
	expect_text("a\nb\tc", 5, "a\nb\tc");
	expect_text("a\0b", 3,
		    "a\xe2\x90\x80"
		    "b");                                             /* U+2400 */
	expect_text("\x1b[2J\x7f", 5, "\xe2\x90\x9b[2J\xe2\x90\xa1"); /* U+241B, U+2421 */
	expect_text("\xff\xc3", 2, "\xef\xbf\xbd\xef\xbf\xbd");
	expect_text("\xef\xbf\xbf", 3, "\xef\xbf\xbd"); /* U+FFFF is no character of XML */
}

/* length as Excel counts */
static size_t units(const char *text)
{
	size_t n = 0;
	for (size_t i = 0, length = strlen(text); i < length;) {
		uint32_t code;
		size_t taken = tl__utf8_decode(text + i, length - i, &code);
		assert_true(taken);
		n += code > 0xffff ? 2 : 1;
		i += taken;
	}
	return n;
}

static void long_texts_are_cut_and_say_so(void **state)
{
	(void)state;
	static char text[200001];
	tl_buf buf = {0};
	memset(text, 'x', sizeof text);
	assert_ptr_equal(tl__xlsx_text(&buf, text, 32768 - 1 - 1), text); /* not NUL terminated, not looked at */
	text[32767] = '\0';
	assert_string_equal(tl__xlsx_text(&buf, text, 32767), text);
	text[32767] = 'x';
	const char *cut = tl__xlsx_text(&buf, text, 32768);
	assert_int_equal(units(cut), 32767);
	const char *mark = "\xe2\x80\xa6(cut, 32768 characters)";
	assert_string_equal(cut + strlen(cut) - strlen(mark), mark);
	assert_memory_equal(cut, text, 32767 - 24 - 1);

	/* characters of two units are not split, and the limit holds for units */
	for (size_t i = 0; i + 4 < sizeof text; i += 4)
		memcpy(text + i, "\xf0\x9f\x98\x80", 4);
	cut = tl__xlsx_text(&buf, text, 200000);
	assert_true(units(cut) <= 32767 && units(cut) >= 32766);
	assert_non_null(strstr(cut, "(cut, 50000 characters)"));
	tl__buf_free(&buf);
}

static void tab_names_are_short_legal_and_unique(void **state)
{
	(void)state;
	char taken[8][4 * TL_XLSX_MAX_NAME + 1];
	static const char *const wanted[] = {
		"overview",
		"GEMM",
		"gemm",
		"a/b:c*?[d]\\",
		"InferenceAttention_fwd_kl_overlap_of_all",
		"InferenceAttention_fwd_kl_overlap_of_some",
		"'quoted'",
		"History",
	};
	static const char *const expected[] = {
		"overview",
		"GEMM",
		"gemm~2",
		"a_b_c___d__",
		"InferenceAttention_fwd_kl_overl",
		"InferenceAttention_fwd_kl_ove~2",
		"_quoted_",
		"History~2",
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		tl__xlsx_sheet_name(taken[i], wanted[i], (const char(*)[4 * TL_XLSX_MAX_NAME + 1]) taken, i);
		assert_string_equal(taken[i], expected[i]);
	}
	char out[4 * TL_XLSX_MAX_NAME + 1];
	tl__xlsx_sheet_name(out, "", NULL, 0);
	assert_string_equal(out, "_");
	/* 16 characters of two units: 15 fit into 31 */
	char wide[65] = "";
	for (int i = 0; i < 16; i++)
		strcat(wide, "\xf0\x9f\x98\x80");
	tl__xlsx_sheet_name(out, wide, NULL, 0);
	assert_int_equal(strlen(out), 60);
}

/* a zip with one part, checked as a workbook */
static int verify(const char *part)
{
	char path[] = "/tmp/tl-verify-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	zip_source_t *source = zip_source_buffer(archive, part, strlen(part), 0);
	assert_true(zip_file_add(archive, "part.xml", source, 0) >= 0);
	assert_int_equal(zip_close(archive), 0);
	int code = tl__xlsx_verify(path, NULL);
	unlink(path);
	return code;
}

static void a_cut_off_part_is_noticed(void **state)
{
	(void)state;
	static char big[200000];
	assert_int_equal(verify("<?xml version=\"1.0\"?>\n<sheet a=\"1\"><c/></sheet>\n"), 0);
	assert_int_equal(verify("<?xml version=\"1.0\"?>\n<sheet a=\"1\"><c></c>"), TL_EIO);
	assert_int_equal(verify("<sheet></sheet"), TL_EIO);
	assert_int_equal(verify(""), TL_EIO);
	strcpy(big, "<sheet>");
	memset(big + 7, 'x', sizeof big - 7);
	strcpy(big + sizeof big - 9, "</sheet>");
	assert_int_equal(verify(big), 0);
	big[sizeof big - 2] = '\0';
	assert_int_equal(verify(big), TL_EIO);
	assert_int_equal(tl__xlsx_verify("/nonexistent/file", NULL), TL_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_what_a_cell_can_hold),
		cmocka_unit_test(long_texts_are_cut_and_say_so),
		cmocka_unit_test(a_cut_off_part_is_noticed),
		cmocka_unit_test(tab_names_are_short_legal_and_unique),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
