/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/csv.h"
#include "table/table.h"

static void expect_csv(const tl_table *table, const char *expected)
{
	tl_buf text = {0};
	assert_int_equal(tl__table_csv(table, &text), 0);
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
}

static tl_table *sample(void)
{
	tl_table *t = tl__table_new("sample", NULL, 3);
	tl_column *c = tl__table_add(t, "n", "", TL_COL_INT64);
	c->i64[0] = 4;
	c->i64[2] = -7;
	tl__column_set_null(t, c, 1);
	c = tl__table_add(t, "time", "µs", TL_COL_DOUBLE);
	c->f64[0] = 10;
	c->f64[1] = 1e-7;
	c = tl__table_add(t, "flag", NULL, TL_COL_BOOL);
	c->b[1] = 1;
	c = tl__table_add(t, "name", "", TL_COL_STRING);
	c->str[0] = tl__table_str(t, "a,b");
	c->str[1] = tl__table_str(t, "say \"hi\"");
	c->str[2] = tl__table_str(t, "line\nbreak");
	c = tl__table_add(t, "dims", "", TL_COL_VALUE);
	tl_value inner[2] = {TL_VALUE_INT(512), TL_VALUE_STRING("it's", 4)};
	const tl_value *tuple = tl__table_list(t, inner, 1, true);
	tl_value outer[2] = {*tuple, inner[1]};
	c->val[0] = tl__table_list(t, outer, 2, false);
	c->val[1] = tl__table_value(t, TL_VALUE_NONE);
	return t;
}

static void csv_prints_cells_as_the_specification_says(void **state)
{
	(void)state;
	tl_table *t = sample();
	expect_csv(t, "n,time,flag,name,dims\n"
		      "4,10.0,False,\"a,b\",\"[(512,), \"\"it's\"\"]\"\n"
		      ",1e-07,True,\"say \"\"hi\"\"\",\n"
		      "-7,,False,\"line\nbreak\",\n");
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(csv_prints_cells_as_the_specification_says)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
