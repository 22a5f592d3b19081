/* SPDX-License-Identifier: MIT */
/* Errors: what is filled, what an error after another one keeps, long messages and paths, names of codes. */
#include "util/error.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_plain(void **state)
{
	(void)state;
	tl_error err;
	memset(&err, 0xff, sizeof err); /* not initialised by the caller */
	assert_int_equal(tl__fail(&err, TL_EINVAL, "no column '%s'", "x"), TL_EINVAL);
	assert_int_equal(err.code, TL_EINVAL);
	assert_int_equal(err.system_errno, 0);
	assert_int_equal(err.offset, -1);
	assert_string_equal(err.file, "");
	assert_string_equal(err.message, "no column 'x'");
	assert_int_equal(tl__fail(NULL, TL_EINVAL, "nobody asks"), TL_EINVAL);
}

static void test_system(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	char wanted[64];
	snprintf(wanted, sizeof wanted, "cannot open 'x': %s", strerror(EACCES));
	errno = EPERM;
	assert_int_equal(tl__fail_system(&err, EACCES, "cannot open '%s'", "x"), TL_EIO);
	assert_int_equal(errno, EPERM);
	assert_int_equal(err.code, TL_EIO);
	assert_int_equal(err.system_errno, EACCES);
	assert_string_equal(err.message, wanted);
	tl__error_where(&err, "x", 5);
	assert_int_equal(err.system_errno, EACCES);
	/* the next error is another one */
	tl__fail(&err, TL_EFORMAT, "not JSON");
	assert_int_equal(err.system_errno, 0);
	tl__error_system(&err, ENOSPC);
	assert_int_equal(err.system_errno, ENOSPC);
	tl__nomem(&err);
	assert_int_equal(err.system_errno, 0);
	assert_int_equal(tl__fail_system(NULL, ENOENT, "nobody asks"), TL_EIO);
	tl__error_system(NULL, ENOENT);
}

/* The reason is what one needs most, so it is not the part that is cut. */
static void test_long_message(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	char path[4 * sizeof err.message], end[64];
	int n = snprintf(end, sizeof end, ": %s", strerror(ENOENT));
	memset(path, 'p', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	tl__fail_system(&err, ENOENT, "cannot open '%s'", path);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	assert_string_equal(err.message + strlen(err.message) - (size_t)n, end);
}

/* The end of a long path says more than its beginning. */
static void test_place(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	char path[1000];
	memset(path, 'p', sizeof path - 1);
	memcpy(path + sizeof path - 5, "end", 4);
	tl__error_where(&err, path, 77);
	assert_int_equal(err.offset, 77);
	assert_int_equal(strlen(err.file), sizeof err.file - 1);
	assert_string_equal(err.file + strlen(err.file) - 3, "end");
	tl__error_where(NULL, path, 0);
	assert_int_equal(tl__fail(&err, TL_EINVAL, "%s%s", path, path), TL_EINVAL); /* too long is cut */
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	assert_int_equal(tl__nomem(&err), TL_ENOMEM);
	assert_string_equal(err.message, "out of memory");
	assert_int_equal(tl__nomem(NULL), TL_ENOMEM);
}

static void test_names(void **state)
{
	(void)state;
	static const int unknown[] = {1, TL_ELIMIT - 1, INT_MAX, INT_MIN};
	assert_string_equal(tl_code_name(0), "TL_OK");
	assert_string_equal(tl_code_name(TL_EIO), "TL_EIO");
	assert_string_equal(tl_code_name(TL_ELIMIT), "TL_ELIMIT");
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		assert_string_equal(tl_code_name(unknown[i]), "TL_?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain), cmocka_unit_test(test_system), cmocka_unit_test(test_long_message),
		cmocka_unit_test(test_place), cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
