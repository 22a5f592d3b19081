/* SPDX-License-Identifier: MIT */
/* Exact sums of times; expected values by arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "analysis/aggregate.h"

/* Groups a: 0.1, 0.2, 0.3; b: one empty cell; c: sixteen weeks, whose picoseconds exceed 63 bits. */
static const double week = 604800e6;

static tl_table *sample(tl_groups *groups)
{
	const double times[] = {0.1, (double)NAN, 0.2, 0.3};
	enum { ROWS = 4 + 16 };
	tl_error err = TL_ERROR_INIT;
	tl_table *t = tl__table_new("", NULL, ROWS);
	tl_column *name = tl__table_add(t, "name", "", TL_COL_STRING);
	for (size_t i = 0; i < ROWS; i++)
		name->str[i] = tl__table_str(t, i == 1 ? "b" : i < 4 ? "a" : "c");
	tl_column *time = tl__table_add(t, "time", "µs", TL_COL_DOUBLE);
	for (size_t i = 0; i < ROWS; i++)
		time->f64[i] = i < 4 ? times[i] : week;
	assert_int_equal(tl__table_group(groups, t, (const char *[]){"name"}, 1, true, &err), 0);
	assert_int_equal(groups->n, 3);
	return t;
}

static void sums_are_taken_in_picoseconds(void **state)
{
	(void)state;
	tl_groups groups;
	tl_error err = TL_ERROR_INIT;
	tl_table *t = sample(&groups), *out = tl__table_new("", t->strings, groups.n);
	const tl_column *time = tl__table_column(t, "time");
	assert_int_equal(tl__aggregate_us(out, "us", &groups, time, &err), 0);
	assert_int_equal(tl__aggregate_ms(out, "ms", &groups, time, &err), 0);
	assert_int_equal(tl__aggregate_mean_us(out, "mean", &groups, time, &err), 0);
	const tl_column *c = out->columns.v;
	assert_true(c[0].f64[0] == 0.6); /* in doubles 0.1 + 0.2 + 0.3 is 0.6000000000000001 */
	assert_true(c[0].f64[1] == 0);
	assert_true(c[0].f64[2] == 16 * week);
	assert_true(c[1].f64[0] == 0.0006);
	assert_true(c[1].f64[2] == 16 * week / 1000);
	assert_true(fabs(c[2].f64[0] - 0.2) < 1e-15);
	assert_true(isnan(c[2].f64[1]));
	tl__groups_free(&groups);
	tl_table_free(out);
	tl_table_free(t);
}

static void percent_of_nothing_is_zero(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_table *t = tl__table_new("", NULL, 2);
	tl_column *v = tl__table_add(t, "v", "", TL_COL_DOUBLE);
	v->f64[0] = 3;
	v->f64[1] = 0;
	assert_int_equal(tl__add_percent_of(t, "p", "v", 12, &err), 0);
	assert_int_equal(tl__add_percent_of(t, "q", "v", 0, &err), 0);
	assert_true(t->columns.v[1].f64[0] == 25);
	assert_true(t->columns.v[1].f64[1] == 0);
	assert_true(t->columns.v[2].f64[0] == 0);
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_taken_in_picoseconds),
		cmocka_unit_test(percent_of_nothing_is_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
