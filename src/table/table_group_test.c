/* SPDX-License-Identifier: MIT */
/* Grouping rows by columns of every storage, and many rows whose groups arithmetic tells. */
#include "table/testing.h"

static void expect_groups(const tl_table *t, const char *const *keys, size_t n_keys, bool keep_empty, size_t n,
			  const uint32_t *of_row)
{
	tl_groups g;
	assert_int_equal(tl__table_group(&g, t, keys, n_keys, keep_empty, NULL), 0);
	assert_int_equal(g.n, n);
	assert_memory_equal(g.of_row, of_row, t->rows * sizeof *of_row);
	size_t seen = 0;
	for (size_t group = 0; group < n; group++) {
		assert_int_equal(g.rows[g.start[group]], g.first[group]);
		for (uint32_t i = g.start[group]; i < g.start[group + 1]; i++, seen++) {
			assert_int_equal(of_row[g.rows[i]], group);
			assert_true(i == g.start[group] || g.rows[i - 1] < g.rows[i]);
		}
	}
	assert_int_equal(seen, g.start[n]);
	tl__groups_free(&g);
}

#define DROPPED UINT32_MAX

static void groups_by_each_storage(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 6);
	put_ints(t, "i", (int64_t[]){7, 0, EMPTY, 7, EMPTY, 0});
	put_doubles(t, "d", (double[]){0.0, (double)NAN, -0.0, 1, -(double)NAN, 1});
	memcpy(tl__table_add(t, "b", "", TL_COL_BOOL)->b, (uint8_t[]){1, 0, 0, 1, 1, 0}, 6);
	put_strings(t, "s", (const char *[]){"a", "", NULL, "a", "", NULL});
	/* equal texts meet though the pointers differ; 1 and 1.0 differ, "1" and 1 print alike */
	put_values(t, "v", (const char *[]){"[1, 2]", "1", "1.0", "[1, 2]", "\"1\"", "null"});
	tl_column *k = tl__table_add(t, "k", "", TL_COL_KERNELS);
	put_kernel(t, k, 1, a_kernel(t, "x", 5, 0, 1));
	put_kernel(t, k, 4, a_kernel(t, "x", 5, 0, 2));

	expect_groups(t, (const char *[]){"i"}, 1, true, 3, (uint32_t[]){0, 1, 2, 0, 2, 1});
	expect_groups(t, (const char *[]){"i"}, 1, false, 2, (uint32_t[]){0, 1, DROPPED, 0, DROPPED, 1});
	expect_groups(t, (const char *[]){"d"}, 1, true, 3, (uint32_t[]){0, 1, 0, 2, 1, 2});
	expect_groups(t, (const char *[]){"d"}, 1, false, 2, (uint32_t[]){0, DROPPED, 0, 1, DROPPED, 1});
	expect_groups(t, (const char *[]){"b"}, 1, false, 2, (uint32_t[]){0, 1, 1, 0, 0, 1});
	expect_groups(t, (const char *[]){"s"}, 1, true, 3, (uint32_t[]){0, 1, 2, 0, 1, 2});
	expect_groups(t, (const char *[]){"s"}, 1, false, 2, (uint32_t[]){0, 1, DROPPED, 0, 1, DROPPED});
	expect_groups(t, (const char *[]){"v"}, 1, true, 4, (uint32_t[]){0, 1, 2, 0, 1, 3});
	expect_groups(t, (const char *[]){"v"}, 1, false, 3, (uint32_t[]){0, 1, 2, 0, 1, DROPPED});
	expect_groups(t, (const char *[]){"k"}, 1, true, 2, (uint32_t[]){0, 1, 0, 0, 1, 0});
	expect_groups(t, (const char *[]){"b", "i"}, 2, true, 4, (uint32_t[]){0, 1, 2, 0, 3, 1});
	tl_table_free(t);
}

static void skips_missing_columns_and_takes_no_rows(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 3), *empty = tl__table_new("e", NULL, 0);
	put_ints(t, "i", (int64_t[]){1, 2, 1});
	put_ints(empty, "i", NULL);
	expect_groups(t, (const char *[]){"no", "i", "none"}, 3, false, 2, (uint32_t[]){0, 1, 0});
	expect_groups(t, (const char *[]){"no"}, 1, false, 1, (uint32_t[]){0, 0, 0});
	expect_groups(t, NULL, 0, false, 1, (uint32_t[]){0, 0, 0});
	expect_groups(empty, (const char *[]){"i"}, 1, false, 0, NULL);
	tl_table_free(t);
	tl_table_free(empty);
}

/* Two keys of 300 and 7 values over many rows: the hash table grows, and every pair is its own group. */
static void groups_many_rows_exactly(void **state)
{
	(void)state;
	enum { ROWS = 30000, A = 300, B = 7 };
	tl_table *t = tl__table_new("t", NULL, ROWS);
	tl_column *a = tl__table_add(t, "a", "", TL_COL_INT64);
	tl_column *b = tl__table_add(t, "b", "", TL_COL_DOUBLE);
	a = b - 1;
	for (size_t row = 0; row < ROWS; row++) {
		a->i64[row] = (int64_t)(row % A);
		b->f64[row] = (double)(row % B);
	}
	tl_groups g;
	assert_int_equal(tl__table_group(&g, t, (const char *[]){"a", "b"}, 2, false, NULL), 0);
	assert_int_equal(g.n, A * B); /* 300 and 7 have no common divisor */
	for (size_t row = 0; row < ROWS; row++)
		assert_int_equal(g.of_row[row], row % (A * B));
	tl__groups_free(&g);
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_by_each_storage),
		cmocka_unit_test(skips_missing_columns_and_takes_no_rows),
		cmocka_unit_test(groups_many_rows_exactly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
