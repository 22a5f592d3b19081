/* SPDX-License-Identifier: MIT */
/* Tables that a caller fills through the public functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracelens/table.h"
#include "util/no_memory.h"

static const int64_t integers[] = {1, -2, INT64_MAX};
static const double reals[] = {0.5, NAN, 3};
static const bool bools[] = {true, false, true};
static const char *const texts[] = {"a", NULL, "\xc2\xb5"};
static const char *const lists[] = {"[1, \"x\"]", NULL, "[]"};
static const bool second[] = {false, true, false};

static int fill(tl_table **out, tl_error *err)
{
	int code = tl_table_new(out, "mine", 3, err);
	if (code == 0)
		code = tl_table_add(*out, "i", "ms", TL_TYPE_INT64, integers, second, err);
	if (code == 0)
		code = tl_table_add(*out, "d", NULL, TL_TYPE_DOUBLE, reals, NULL, err);
	if (code == 0)
		code = tl_table_add(*out, "b", "", TL_TYPE_BOOL, bools, NULL, err);
	if (code == 0)
		code = tl_table_add(*out, "t", "", TL_TYPE_STRING, texts, NULL, err);
	if (code == 0)
		code = tl_table_add(*out, "l", "", TL_TYPE_LIST, lists, NULL, err);
	return code;
}

static void test_cells(void **state)
{
	tl_table *t;
	char *json;
	size_t n;
	(void)state;
	assert_int_equal(fill(&t, NULL), 0);
	assert_string_equal(tl_table_name(t), "mine");
	assert_string_equal(tl_table_column_unit(t, 0), "ms");
	assert_int_equal(tl_table_column_type(t, 4), TL_TYPE_LIST);
	assert_int_equal(tl_table_json(t, &json, &n, NULL), 0);
	assert_non_null(strstr(json, "[1, 0.5, true, \"a\", [1, \"x\"]]"));
	assert_non_null(strstr(json, "[null, null, false, null, null]"));
	assert_non_null(strstr(json, "[9223372036854775807, 3.0, true, \"\xc2\xb5\", []]"));
	free(json);
	tl_table_free(t);
}

static void test_refusals(void **state)
{
	static const char *const broken[] = {"[1", NULL, NULL};
	tl_table *t;
	tl_error err = TL_ERROR_INIT;
	(void)state;
	assert_int_equal(fill(&t, NULL), 0);
	assert_int_equal(tl_table_add(t, "i", "", TL_TYPE_INT64, integers, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_table_add(t, "", "", TL_TYPE_INT64, integers, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_table_add(t, NULL, "", TL_TYPE_INT64, integers, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_table_add(t, "bad", "", TL_TYPE_RECORD, broken, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_table_add(t, "bad", "", (tl_type)(TL_TYPE_RECORD + 1), integers, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_table_add(t, "bad", "", (tl_type)-1, integers, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_table_add(t, "bad", "", TL_TYPE_DOUBLE, NULL, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_table_columns(t), 5);
	assert_int_equal(tl_table_find_column(t, "bad"), -1);
	tl_table_free(t);
	assert_int_equal(tl_table_new(&t, "huge", SIZE_MAX, &err), TL_ELIMIT);
	assert_null(t);
}

static int fill_and_free(void *unused)
{
	tl_table *t = NULL;
	(void)unused;
	int code = fill(&t, NULL);
	tl_table_free(t);
	return code;
}

static void test_no_memory(void **state)
{
	(void)state;
	assert_true(fail_each_allocation(fill_and_free, NULL) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
