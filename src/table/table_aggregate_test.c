/* SPDX-License-Identifier: MIT */
/* Aggregates of groups against figures of a golden table and of arithmetic. */
#include "table/testing.h"

static tl_groups group_by(const tl_table *t, const char *key)
{
	tl_groups g;
	assert_int_equal(tl__table_group(&g, t, &key, 1, true, NULL), 0);
	return g;
}

static void expect_close(const tl_table *t, const char *column, size_t row, double expected)
{
	double value = tl_table_double(t, (size_t)tl_table_find_column(t, column), row);
	if (isnan(expected))
		assert_true(isnan(value));
	else
		assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
}

static const struct {
	tl_aggregate agg;
	const char *name;
} all[] = {
	{TL_AGG_SUM, "sum"},     {TL_AGG_MEAN, "mean"}, {TL_AGG_MEDIAN, "median"},
	{TL_AGG_STD, "std"},     {TL_AGG_MIN, "min"},   {TL_AGG_MAX, "max"},
	{TL_AGG_COUNT, "count"}, {TL_AGG_SIZE, "size"}, {TL_AGG_FIRST, "first"},
};

static tl_table *all_aggregates(const tl_table *t, const char *key, const char *source)
{
	tl_groups g = group_by(t, key);
	tl_table *out = tl__table_new("out", t->strings, g.n);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_int_equal(tl__table_aggregate(out, all[i].name, &g, t, source, all[i].agg, NULL), 0);
	tl__groups_free(&g);
	return out;
}

/* The kernel times of the four aten::_flash_attention_forward calls of mi300_bert_small and what the
 * golden ops_unique_args.csv says of them; then a single value, and nothing but empty cells. */
static void doubles_as_in_the_golden_table(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 8);
	put_ints(t, "key", (int64_t[]){0, 0, 1, 0, 2, 0, 2, 0});
	put_doubles(t, "us", (double[]){(double)NAN, 32.032, 5.5, 26.981, (double)NAN, 27.341, (double)NAN, 27.302});
	tl_table *out = all_aggregates(t, "key", "us");
	const double nan = (double)NAN;
	const double expected[3][9] = {
		{113.656, 28.414, 27.3215, 2.417387432746356, 26.981, 32.032, 4, 5, 32.032},
		{5.5, 5.5, 5.5, nan, 5.5, 5.5, 1, 1, 5.5},
		{0, nan, nan, nan, nan, nan, 0, 2, nan},
	};
	for (size_t row = 0; row < 3; row++)
		for (size_t i = 0; i < 9; i++)
			expect_close(out, all[i].name, row, expected[row][i]);
	assert_string_equal(tl_table_column_unit(out, 0), "µs");
	assert_int_equal(tl_table_column_type(out, (size_t)tl_table_find_column(out, "count")), TL_TYPE_INT64);
	tl_table_free(out);
	tl_table_free(t);
}

static void integers_stay_integers(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 6);
	put_ints(t, "key", (int64_t[]){0, 0, 0, 1, 0, 1});
	put_ints(t, "n", (int64_t[]){EMPTY, 10, -2, EMPTY, 4, EMPTY});
	tl_table *out = all_aggregates(t, "key", "n");
	/* deviations from the mean 4: 6, -6, 0; sample variance 72 / 2 */
	expect_csv(out, "sum,mean,median,std,min,max,count,size,first\n"
			"12,4.0,4.0,6.0,-2,10,3,4,10\n"
			"0,,,,,,0,2,\n");
	tl_table_free(out);
	tl_table_free(t);
}

static void other_columns(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 3), *out = tl__table_new("out", NULL, 2);
	put_ints(t, "key", (int64_t[]){0, 1, 0});
	memcpy(tl__table_add(t, "b", "", TL_COL_BOOL)->b, (uint8_t[]){1, 0, 1}, 3);
	put_strings(t, "s", (const char *[]){NULL, "x", "y"});
	put_values(t, "v", (const char *[]){"2", "[1]", "3.5"});
	tl_column *k = tl__table_add(t, "k", "", TL_COL_KERNELS);
	assert_int_equal(tl__column_set_null(t, k, 0), 0);
	put_kernel(t, k, 2, a_kernel(t, "late", 1500000, 3, 8));
	put_ints(t, "far", (int64_t[]){INT64_MAX, 1, INT64_MAX});

	tl_groups g = group_by(t, "key");
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl__table_aggregate(out, "b_sum", &g, t, "b", TL_AGG_SUM, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "s_first", &g, t, "s", TL_AGG_FIRST, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "v_sum", &g, t, "v", TL_AGG_SUM, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "v_first", &g, t, "v", TL_AGG_FIRST, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "k_first", &g, t, "k", TL_AGG_FIRST, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "k_count", &g, t, "k", TL_AGG_COUNT, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "far", &g, t, "far", TL_AGG_SUM, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "none", &g, t, "none", TL_AGG_SUM, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "rows", &g, t, NULL, TL_AGG_SIZE, &err), 0);
	assert_int_equal(tl__table_aggregate(out, "s", &g, t, "s", TL_AGG_SUM, &err), TL_EINVAL);
	assert_int_equal(tl__table_aggregate(out, "k", &g, t, "k", TL_AGG_MEAN, &err), TL_EINVAL);
	assert_int_equal(tl__table_aggregate(t, "t", &g, t, "b", TL_AGG_MEAN, &err), TL_EINVAL);
	tl__groups_free(&g);
	assert_int_equal(tl__table_own_values(out, NULL), 0);
	tl_table_free(t);
	/* 2^64 - 2 does not fit: the nearest double */
	expect_csv(out, "b_sum,s_first,v_sum,v_first,k_first,k_count,far,rows\n"
			"2.0,y,5.5,2,\"[{'name': 'late', 'dur': 1.5, 'stream': 3}]\",1,1.8446744073709552e+19,2\n"
			"0.0,x,0.0,\"(1,)\",[],1,1.0,1\n");
	tl_table_free(out);
}

/* Naive addition would lose all the small ones: 1e16 + 1 is 1e16. */
static void sums_carry_what_rounding_loses(void **state)
{
	(void)state;
	enum { ROWS = 1001 };
	tl_table *t = tl__table_new("t", NULL, ROWS);
	tl__table_add(t, "key", "", TL_COL_INT64);
	tl_column *d = tl__table_add(t, "d", "", TL_COL_DOUBLE);
	for (size_t row = 0; row < ROWS; row++)
		d->f64[row] = row ? 1 : 1e16;
	tl_table *out = all_aggregates(t, "key", "d");
	assert_true(tl_table_double(out, 0, 0) == 1e16 + 1000);
	assert_true(tl_table_double(out, 2, 0) == 1);
	tl_table_free(out);
	d->f64[0] = (double)INFINITY;
	out = all_aggregates(t, "key", "d");
	assert_true(isinf(tl_table_double(out, 0, 0)));
	tl_table_free(out);
	tl_table_free(t);
}

static void median_of_many_with_signs(void **state)
{
	(void)state;
	for (int64_t n = 1; n < 60; n++) {
		tl_table *t = tl__table_new("t", NULL, (size_t)n);
		tl__table_add(t, "key", "", TL_COL_INT64);
		tl_column *d = tl__table_add(t, "d", "", TL_COL_DOUBLE);
		/* the numbers -n/2 .. in scrambled order: 61 is prime, so 7 * i runs through all */
		size_t row = 0;
		for (int64_t i = 0; i < 61; i++)
			if (i * 7 % 61 < n)
				d->f64[row++] = (double)(i * 7 % 61 - n / 2) * 0.5;
		tl_table *out = all_aggregates(t, "key", "d");
		double middle = (double)(n - 1) / 2 - (double)(n / 2);
		assert_true(tl_table_double(out, 2, 0) == middle * 0.5);
		assert_true(tl_table_double(out, 4, 0) == (double)(0 - n / 2) * 0.5);
		assert_true(tl_table_double(out, 5, 0) == (double)(n - 1 - n / 2) * 0.5);
		tl_table_free(out);
		tl_table_free(t);
	}
}

static void percentages(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 4);
	put_doubles(t, "time", (double[]){50, 25, (double)NAN, 5});
	put_doubles(t, "zero", (double[]){0, 0, 0, 0});
	assert_int_equal(tl__table_add_percentages(t, "time", NULL), 0);
	expect_csv(t, "time,zero,Percentage (%),Cumulative Percentage (%)\n"
		      "50.0,0.0,62.5,62.5\n25.0,0.0,31.25,93.75\n,0.0,,\n5.0,0.0,6.25,100.0\n");
	tl__table_remove_column(t, 3);
	tl__table_remove_column(t, 2);
	assert_int_equal(tl__table_add_percentages(t, "zero", NULL), 0);
	for (size_t row = 0; row < 4; row++) {
		assert_true(tl_table_double(t, 2, row) == 0);
		assert_true(tl_table_double(t, 3, row) == 0);
	}
	assert_int_equal(tl__table_add_percentages(t, "none", NULL), TL_ENOTFOUND);
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubles_as_in_the_golden_table),
		cmocka_unit_test(integers_stay_integers),
		cmocka_unit_test(other_columns),
		cmocka_unit_test(sums_carry_what_rounding_loses),
		cmocka_unit_test(median_of_many_with_signs),
		cmocka_unit_test(percentages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
