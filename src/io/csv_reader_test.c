/* SPDX-License-Identifier: MIT */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/csv_reader.h"
#include "util/buf.h"

static char path[] = "/tmp/tl_csv_reader_XXXXXX";

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void put(const char *text, size_t n)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Cells as "row,column=text|" */
static int collect(void *user, size_t row, size_t column, const char *text, size_t n, tl_error *err)
{
	(void)err;
	assert_int_equal(text[n], '\0');
	tl__buf_printf(user, "%zu,%zu=", row, column);
	tl__buf_put(user, text, n);
	tl__buf_putc(user, '|');
	return 0;
}

static void expect(const char *text, const char *cells)
{
	tl_buf got = {0};
	tl_error err = TL_ERROR_INIT;
	put(text, strlen(text));
	assert_int_equal(tl__csv_read(path, collect, &got, &err), 0);
	assert_string_equal(tl__buf_text(&got), cells);
	tl__buf_free(&got);
}

static void fields_and_lines(void **state)
{
	(void)state;
	expect("", "");
	expect("\n\n", "");
	expect("a,b\n1,2\n", "0,0=a|0,1=b|1,0=1|1,1=2|");
	expect("a,b\r\n1,2", "0,0=a|0,1=b|1,0=1|1,1=2|");
	expect("a\r1\r", "0,0=a|1,0=1|");
	expect("a,\n,\n", "0,0=a|0,1=|1,0=|1,1=|");
	expect("a\n\n1\n", "0,0=a|1,0=1|");
	expect("a\n\"\"\n", "0,0=a|1,0=|");
	expect("\xef\xbb\xbf"
	       "a\n1\n",
	       "0,0=a|1,0=1|");
	expect("\xef\xbb"
	       "a\n",
	       "0,0=\xef\xbb"
	       "a|");
}

static void quotes(void **state)
{
	(void)state;
	expect("\"a,b\",\"c\"\"d\"\n", "0,0=a,b|0,1=c\"d|");
	expect("\"a\nb\r\nc\",d\n", "0,0=a\nb\r\nc|0,1=d|");
	expect("a\"b\",c\n", "0,0=a\"b\"|0,1=c|");
	expect("\"a\"b,c\n", "0,0=ab|0,1=c|");
	expect("\"\"\"\"\n", "0,0=\"|");
}

static void what_does_not_end(void **state)
{
	(void)state;
	tl_buf got = {0};
	tl_error err = TL_ERROR_INIT;
	put("a\nb,\"c\nd\n", 9);
	assert_int_equal(tl__csv_read(path, collect, &got, &err), TL_EFORMAT);
	assert_string_equal(err.message, "the quotes that open in line 2 do not close");
	assert_string_equal(err.file, path);
	tl__buf_free(&got);
	assert_int_equal(tl__csv_read("/nonexistent/x.csv", collect, &got, &err), TL_EIO);
}

static int refuse(void *user, size_t row, size_t column, const char *text, size_t n, tl_error *err)
{
	(void)user, (void)column, (void)text, (void)n;
	return row == 1 ? tl__fail(err, TL_ELIMIT, "enough") : 0;
}

static void a_refusal_ends_it(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	put("a\nb\nc\n", 6);
	assert_int_equal(tl__csv_read(path, refuse, NULL, &err), TL_ELIMIT);
	assert_string_equal(err.message, "enough");
}

/* A field longer than the block that is read at a time. */
static void long_fields(void **state)
{
	(void)state;
	tl_buf text = {0}, got = {0};
	tl_error err = TL_ERROR_INIT;
	tl__buf_puts(&text, "a,\"");
	for (int i = 0; i < 200000; i++)
		tl__buf_puts(&text, i % 2 ? "\"\"" : "x");
	tl__buf_puts(&text, "\"\n");
	put(text.v, text.n);
	assert_int_equal(tl__csv_read(path, collect, &got, &err), 0);
	assert_int_equal(got.n, strlen("0,0=a|0,1=|") + 200000);
	tl__buf_free(&text);
	tl__buf_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_and_lines),  cmocka_unit_test(quotes),      cmocka_unit_test(what_does_not_end),
		cmocka_unit_test(a_refusal_ends_it), cmocka_unit_test(long_fields),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
