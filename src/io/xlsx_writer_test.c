/* SPDX-License-Identifier: MIT */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "io/xlsx_reader.h"
#include "io/xlsx_writer.h"
#include "table/table.h"
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

/* ---- a workbook read back ---- */

/* Appends "B3=text;" */
static int list_cell(void *user, size_t row, size_t column, const char *text, size_t n, tl_error *err)
{
	(void)err;
	tl__buf_printf(user, "%c%zu=", (int)('A' + column), row + 1);
	tl__buf_put(user, text, n);
	tl__buf_putc(user, ';');
	return 0;
}

static tl_table *make_table(size_t rows)
{
	tl_table *t = tl__table_new("cells", NULL, rows);
	assert_true(t && tl__table_add(t, "text", "", TL_COL_STRING) && tl__table_add(t, "whole", "", TL_COL_INT64) &&
		    tl__table_add(t, "real", "ms", TL_COL_DOUBLE) && tl__table_add(t, "flag", "", TL_COL_BOOL) &&
		    tl__table_add(t, "list", "", TL_COL_VALUE));
	return t;
}

static void write_book(char *path, const tl_table *table)
{
	tl_error err = TL_ERROR_INIT;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	const tl_xlsx_sheet sheet = {.table = table, .description = "what it is"};
	const tl_xlsx_book book = {.sheets = &sheet, .n_sheets = 1};
	assert_int_equal(tl__xlsx_write(path, &book, &err), 0);
}

static void cells_are_what_the_table_has(void **state)
{
	static const char *const texts[] = {"a<b&c>\"d'", " blank\n", "", "=1+1", "_x0041", "\xc2\xb5s"};
	static const double reals[] = {0.1 + 0.2, 3, -2.5e-7, 1e300, INFINITY, NAN};
	static const int64_t wholes[] = {0, -1, 9007199254740992, 9007199254740993, INT64_MIN, 7};
	(void)state;
	enum { ROWS = 6 };
	tl_table *t = make_table(ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		t->columns.v[0].str[i] = tl__table_str(t, texts[i]);
		t->columns.v[1].i64[i] = wholes[i];
		t->columns.v[2].f64[i] = reals[i];
		t->columns.v[3].b[i] = i % 2;
	}
	static const tl_value item = TL_VALUE_INT(5), list = {.kind = TL_V_LIST, .n = 1, .items = &item};
	t->columns.v[4].val[5] = &list; /* which tells the type of its column only here */
	char path[] = "/tmp/tl-book-XXXXXX";
	write_book(path, t);

	tl_xlsx_file *file;
	tl_buf cells = {0};
	assert_int_equal(tl__xlsx_open(&file, path, NULL), 0);
	assert_int_equal(tl__xlsx_count(file), 2);
	assert_string_equal(tl__xlsx_name(file, 1), "cells");
	assert_int_equal(tl__xlsx_read(file, 1, list_cell, &cells, NULL), 0);
	assert_string_equal(tl__buf_text(&cells), "A1=text;B1=whole;C1=real;D1=flag;E1=list;"
						  "A2=a<b&c>\"d';B2=0;C2=0.30000000000000004;D2=False;"
						  "A3= blank\n;B3=-1;C3=3;D3=True;"
						  "B4=9007199254740992;C4=-2.5e-07;D4=False;"
						  "A5==1+1;B5=9007199254740993;C5=1e+300;D5=True;"
						  "A6=_x0041;B6=-9223372036854775808;C6=inf;D6=False;"
						  "A7=\xc2\xb5s;B7=7;D7=True;E7=[5];");
	tl__buf_free(&cells);
	tl__xlsx_close(file);
	tl_table_free(t);
	unlink(path);
}

static int count_cell(void *user, size_t row, size_t column, const char *text, size_t n, tl_error *err)
{
	char expected[32];
	(void)err;
	if (row && column == 1) {
		snprintf(expected, sizeof expected, "%zu", row - 1);
		assert_string_equal(text, expected);
		assert_int_equal(n, strlen(expected));
		++*(size_t *)user;
	}
	return 0;
}

/* More than one block of everything, and a column whose type only its last cell tells. */
static void many_rows(void **state)
{
	(void)state;
	enum { ROWS = 100000 };
	tl_table *t = make_table(ROWS);
	static const tl_value list = {.kind = TL_V_LIST};
	for (size_t i = 0; i < ROWS; i++) {
		t->columns.v[0].str[i] = tl__table_str(t, "aten::mm");
		t->columns.v[1].i64[i] = (int64_t)i;
		t->columns.v[2].f64[i] = (double)i / 7;
	}
	t->columns.v[4].val[ROWS - 1] = &list;
	char path[] = "/tmp/tl-book-XXXXXX";
	write_book(path, t);
	tl_xlsx_file *file;
	size_t seen = 0;
	assert_int_equal(tl__xlsx_verify(path, NULL), 0);
	assert_int_equal(tl__xlsx_open(&file, path, NULL), 0);
	assert_int_equal(tl__xlsx_read(file, 1, count_cell, &seen, NULL), 0);
	assert_int_equal(seen, ROWS);
	tl__xlsx_close(file);
	tl_table_free(t);
	unlink(path);
}

static void no_temporary_file(void **state)
{
	(void)state;
	tl_table *t = make_table(1);
	const tl_xlsx_sheet sheet = {.table = t, .description = ""};
	const tl_xlsx_book book = {.sheets = &sheet, .n_sheets = 1};
	tl_error err = TL_ERROR_INIT;
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(tl__xlsx_write("/tmp/tl-never-written.xlsx", &book, &err), TL_EIO);
	assert_non_null(strstr(err.message, "cannot make a temporary file"));
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_what_a_cell_can_hold),
		cmocka_unit_test(long_texts_are_cut_and_say_so),
		cmocka_unit_test(a_cut_off_part_is_noticed),
		cmocka_unit_test(tab_names_are_short_legal_and_unique),
		cmocka_unit_test(cells_are_what_the_table_has),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(no_temporary_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
