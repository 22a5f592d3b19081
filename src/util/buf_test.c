/* SPDX-License-Identifier: MIT */
/* Text buffers: what is appended, and that the first failure sticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "util/alloc.h"
#include "util/buf.h"

static void builds_text(void **state)
{
	(void)state;
	tl_buf buf = {0};
	assert_string_equal(tl__buf_text(&buf), "");
	tl__buf_puts(&buf, "a");
	tl__buf_putc(&buf, 'b');
	tl__buf_put(&buf, "cde", 2);
	tl__buf_put(&buf, NULL, 0);
	tl__buf_int(&buf, -12);
	tl__buf_double(&buf, 2.5);
	tl__buf_printf(&buf, "<%s>", "x");
	assert_string_equal(tl__buf_text(&buf), "abcd-122.5<x>");
	assert_int_equal(buf.n, 13);
	tl__buf_clear(&buf);
	assert_string_equal(tl__buf_text(&buf), "");
	for (int i = 0; i < 1000; i++)
		tl__buf_printf(&buf, "%d,", i % 10);
	assert_int_equal(buf.n, 2000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(buf.v[2 * i], '0' + (int)(i % 10));
	tl__buf_free(&buf);
	assert_null(buf.v);
}

static void the_first_failure_sticks(void **state)
{
	(void)state;
	tl_buf buf = {0};
	tl__buf_puts(&buf, "kept");
	tl__alloc_fail_after(0);
	tl__buf_printf(&buf, "%0100d", 1);
	tl__alloc_fail_after(-1);
	assert_true(buf.failed);
	tl__buf_puts(&buf, "not");
	tl__buf_int(&buf, 1);
	assert_null(tl__buf_text(&buf));
	assert_int_equal(buf.n, 4);
	tl__buf_clear(&buf);
	tl__buf_puts(&buf, "new");
	assert_string_equal(tl__buf_text(&buf), "new");
	tl__buf_free(&buf);
}

static void text_that_cannot_be_printed_is_a_failure(void **state)
{
	(void)state;
	tl_buf buf = {0};
	tl__buf_printf(&buf, "%ls", L"\xd800"); /* no locale has bytes for half a surrogate pair */
	assert_true(buf.failed);
	assert_null(tl__buf_text(&buf));
	tl__buf_free(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds_text),
		cmocka_unit_test(the_first_failure_sticks),
		cmocka_unit_test(text_that_cannot_be_printed_is_a_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
