/* SPDX-License-Identifier: MIT */
/* Sorting by columns of every storage: empty cells last, stable, any number of rows. */
#include "table/testing.h"

static void sorts_every_storage_with_empty_cells_last(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 5);
	put_ints(t, "id", (int64_t[]){0, 1, 2, 3, 4});
	put_ints(t, "i", (int64_t[]){5, EMPTY, -3, INT64_MAX, INT64_MIN + 1});
	put_doubles(t, "d", (double[]){-0.0, -(double)INFINITY, (double)NAN, 2.5, -2.5});
	memcpy(tl__table_add(t, "b", "", TL_COL_BOOL)->b, (uint8_t[]){1, 0, 1, 0, 1}, 5);
	put_strings(t, "s", (const char *[]){"b", "", "ab", NULL, "a"});
	/* by text: "(1, 10)" < "(1, 9)" < "2" < "x" */
	put_values(t, "v", (const char *[]){"[1, 9]", "\"x\"", NULL, "[1, 10]", "2"});
	tl_column *k = tl__table_add(t, "k", "", TL_COL_KERNELS);
	put_kernel(t, k, 1, a_kernel(t, "z", 1, 0, 0));
	put_kernel(t, k, 3, a_kernel(t, "y", 1, 0, 0));
	for (size_t row = 0; row < 5; row++)
		if (row != 1 && row != 3)
			assert_int_equal(tl__column_set_null(t, k, row), 0);

	const struct {
		const char *column;
		int64_t up[5], down[5];
	} cases[] = {
		{"i", {4, 2, 0, 3, 1}, {3, 0, 2, 4, 1}}, {"d", {1, 4, 0, 3, 2}, {3, 0, 4, 1, 2}},
		{"b", {1, 3, 0, 2, 4}, {0, 2, 4, 1, 3}}, {"s", {1, 4, 2, 0, 3}, {0, 2, 4, 1, 3}},
		{"v", {3, 0, 4, 1, 2}, {1, 4, 0, 3, 2}}, {"k", {3, 1, 0, 2, 4}, {1, 3, 0, 2, 4}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (int descending = 0; descending < 2; descending++) {
			tl_sort_key by[] = {{cases[i].column, descending}};
			assert_int_equal(tl__table_sort(t, (tl_sort_key[]){{"id", false}}, 1, NULL), 0);
			assert_int_equal(tl__table_sort(t, by, 1, NULL), 0);
			const int64_t *expected = descending ? cases[i].down : cases[i].up;
			for (size_t row = 0; row < 5; row++)
				assert_int_equal(tl_table_int(t, 0, row), expected[row]);
		}
	}
	/* the cells of a row stayed together */
	assert_int_equal(tl__table_sort(t, (tl_sort_key[]){{"id", true}}, 1, NULL), 0);
	expect_csv(t, "id,i,d,b,s,v,k\n"
		      "4,-9223372036854775807,-2.5,True,a,2,\n"
		      "3,9223372036854775807,2.5,False,,\"(1, 10)\",\"[{'name': 'y', 'dur': 1e-06, 'stream': 0}]\"\n"
		      "2,-3,,True,ab,,\n"
		      "1,,-inf,False,,x,\"[{'name': 'z', 'dur': 1e-06, 'stream': 0}]\"\n"
		      "0,5,-0.0,True,b,\"(1, 9)\",\n");
	tl_table_free(t);
}

static void sorts_by_several_keys(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 4);
	put_strings(t, "name", (const char *[]){"b", "a", "b", "a"});
	put_doubles(t, "time", (double[]){1, 2, 3, 2});
	put_ints(t, "uid", (int64_t[]){4, 3, 2, 1});
	tl_sort_key keys[] = {{"name", false}, {"time", true}, {"uid", false}};
	assert_int_equal(tl__table_sort(t, keys, 3, NULL), 0);
	expect_csv(t, "name,time,uid\na,2.0,1\na,2.0,3\nb,3.0,2\nb,1.0,4\n");
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl__table_sort(t, (tl_sort_key[]){{"nothing", false}}, 1, &err), TL_ENOTFOUND);
	assert_non_null(strstr(err.message, "nothing"));
	assert_int_equal(tl__table_sort(t, NULL, 0, NULL), 0);
	tl_table_free(t);
}

/* Random tables of many sizes: ordered, stable, nothing lost. */
static void is_stable_at_every_size(void **state)
{
	(void)state;
	uint64_t seed = 88172645463325252u;
	for (size_t n = 0; n < 400; n += n < 60 ? 1 : 37) {
		tl_table *t = tl__table_new("t", NULL, n);
		tl_column *key = tl__table_add(t, "key", "", TL_COL_INT64);
		tl_column *id = tl__table_add(t, "id", "", TL_COL_INT64);
		key = id - 1;
		for (size_t row = 0; row < n; row++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			key->i64[row] = (int64_t)(seed % 7);
			id->i64[row] = (int64_t)row;
		}
		bool descending = n % 2;
		assert_int_equal(tl__table_sort(t, (tl_sort_key[]){{"key", descending}}, 1, NULL), 0);
		int64_t ids = 0;
		for (size_t row = 0; row < n; row++) {
			ids += id->i64[row];
			if (!row)
				continue;
			int64_t a = key->i64[row - 1], b = key->i64[row];
			assert_true(descending ? a >= b : a <= b);
			assert_true(a != b || id->i64[row - 1] < id->i64[row]);
		}
		assert_int_equal(ids, (int64_t)(n * (n ? n - 1 : 0) / 2));
		tl_table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_every_storage_with_empty_cells_last),
		cmocka_unit_test(sorts_by_several_keys),
		cmocka_unit_test(is_stable_at_every_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
