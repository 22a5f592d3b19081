/* SPDX-License-Identifier: MIT */
/* Cells told piece by piece: a listener writes down what it hears, and what it hears is what the cell was made of. */
#include "table/testing.h"

/* What was told, as text: values apart by blanks, and in front of a list, tuple or record its kind and size. */
typedef struct listener {
	tl_buf heard;
	size_t patience; /* pieces to take before saying no; SIZE_MAX: all */
} listener;

static int hear(void *user, const tl_item *item)
{
	listener *l = user;
	if (!l->patience--)
		return 42;
	if (l->heard.n)
		tl__buf_putc(&l->heard, ' ');
	switch (item->kind) {
	case TL_ITEM_NONE:
		tl__buf_puts(&l->heard, "none");
		break;
	case TL_ITEM_BOOL:
		tl__buf_puts(&l->heard, item->integer == 1 ? "true" : item->integer ? "?" : "false");
		break;
	case TL_ITEM_INT:
		tl__buf_printf(&l->heard, "%lld", (long long)item->integer);
		break;
	case TL_ITEM_DOUBLE:
		tl__buf_printf(&l->heard, "%g", item->real);
		break;
	case TL_ITEM_NUMBER:
		tl__buf_printf(&l->heard, "number %.*s", (int)item->n, item->text);
		break;
	case TL_ITEM_STRING:
		tl__buf_printf(&l->heard, "'%.*s'", (int)item->n, item->text);
		break;
	case TL_ITEM_LIST:
		tl__buf_printf(&l->heard, "list %zu:", item->n);
		break;
	case TL_ITEM_TUPLE:
		tl__buf_printf(&l->heard, "tuple %zu:", item->n);
		break;
	case TL_ITEM_RECORD:
		tl__buf_printf(&l->heard, "record %zu:", item->n);
		break;
	}
	return l->heard.failed ? -1 : 0;
}

static void expect_told(const tl_table *table, size_t column, size_t row, const char *expected)
{
	listener l = {.patience = SIZE_MAX};
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_table_cell(table, column, row, hear, &l, &err), 0);
	assert_string_equal(tl__buf_text(&l.heard), expected);
	tl__buf_free(&l.heard);
}

/* ---- kinds ---- */

static void cells_of_one_piece(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 2);
	assert_non_null(t);
	put_ints(t, "int", (int64_t[]){-7, EMPTY});
	put_doubles(t, "real", (double[]){2.5, NAN});
	tl_column *c = tl__table_add(t, "flag", "", TL_COL_BOOL);
	assert_non_null(c);
	c->b[0] = 1;
	c = put_strings(t, "text", (const char *const[]){"a b", NULL});
	c = tl__table_add(t, "empty text", "", TL_COL_STRING);
	assert_non_null(c);
	c->str[0] = tl__table_str(t, "");
	expect_told(t, 0, 0, "-7");
	expect_told(t, 0, 1, "none");
	expect_told(t, 1, 0, "2.5");
	expect_told(t, 1, 1, "none");
	expect_told(t, 2, 0, "true");
	expect_told(t, 2, 1, "false");
	expect_told(t, 3, 0, "'a b'");
	expect_told(t, 3, 1, "none");
	expect_told(t, 4, 0, "''");
	tl_table_free(t);
}

static void nested_values(void **state)
{
	(void)state;
	static const struct {
		const char *json, *told;
	} cases[] = {
		{"[]", "tuple 0:"},
		{"{}", "record 0:"},
		{"[1,[2,3],[],4]", "tuple 4: 1 tuple 2: 2 3 tuple 0: 4"},
		{"[[[1]]]", "tuple 1: tuple 1: tuple 1: 1"},
		{"{\"a\":1,\"b\":{\"c\":[true,null]}}", "record 2: 'a' 1 'b' record 1: 'c' tuple 2: true none"},
		{"[{\"a\":[]},\"x\"]", "tuple 2: record 1: 'a' tuple 0: 'x'"},
		{"[0.5,123456789012345678901234567890]", "tuple 2: 0.5 number 123456789012345678901234567890"},
		{"\"alone\"", "'alone'"},
		{"false", "false"},
	};
	enum { N = sizeof cases / sizeof cases[0] };
	const char *texts[N];
	for (size_t i = 0; i < N; i++)
		texts[i] = cases[i].json;
	tl_table *t = tl__table_new("t", NULL, N);
	assert_non_null(t);
	put_values(t, "v", texts);
	for (size_t i = 0; i < N; i++)
		expect_told(t, 0, i, cases[i].told);
	tl_table_free(t);
}

static void lists_are_no_tuples(void **state)
{
	(void)state;
	static const char json[] = "[1,[2]]";
	tl_table *t = tl__table_new("t", NULL, 1);
	assert_non_null(t);
	tl_column *c = tl__table_add(t, "v", "", TL_COL_VALUE);
	assert_non_null(c);
	assert_int_equal(tl__value_parse(&t->arena, json, sizeof json - 1, false, &c->val[0]), 0);
	expect_told(t, 0, 0, "list 2: 1 list 1: 2");
	tl_table_free(t);
}

static void kernels_are_lists_of_records(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 3);
	assert_non_null(t);
	tl_column *c = tl__table_add(t, "k", "", TL_COL_KERNELS);
	assert_non_null(c);
	put_kernel(t, c, 0, a_kernel(t, "gemm", 1500000, 7, 3));
	put_kernel(t, c, 0, a_kernel(t, "copy", TL_TIME_NONE, INT64_MIN, 4));
	assert_int_equal(tl__column_set_null(t, c, 2), 0);
	expect_told(t, 0, 0,
		    "list 2: record 3: 'name' 'gemm' 'dur' 1.5 'stream' 7 record 3: 'name' 'copy' 'dur' none 'stream' "
		    "none");
	expect_told(t, 0, 1, "list 0:");
	expect_told(t, 0, 2, "none");
	c->with_uid = 1;
	listener l = {.patience = SIZE_MAX};
	assert_int_equal(tl_table_cell(t, 0, 0, hear, &l, NULL), 0);
	assert_non_null(strstr(tl__buf_text(&l.heard), "record 4: 'name' 'gemm' 'dur' 1.5 'stream' 7 'gpu_op_uid' 3"));
	tl__buf_free(&l.heard);
	tl_table_free(t);
}

/* As deep as values go: 200 levels. */
static void the_deepest_value(void **state)
{
	(void)state;
	enum { DEEP = TL_VALUE_MAX_DEPTH };
	char json[2 * DEEP + 1];
	memset(json, '[', DEEP);
	memset(json + DEEP, ']', DEEP);
	json[2 * DEEP] = '\0';
	tl_table *t = tl__table_new("t", NULL, 1);
	assert_non_null(t);
	put_values(t, "v", (const char *const[]){json});
	listener l = {.patience = SIZE_MAX};
	assert_int_equal(tl_table_cell(t, 0, 0, hear, &l, NULL), 0);
	size_t levels = 0;
	for (const char *at = tl__buf_text(&l.heard); (at = strstr(at, "tuple")) != NULL; at++)
		levels++;
	assert_int_equal(levels, DEEP);
	tl__buf_free(&l.heard);
	tl_table_free(t);
}

/* ---- listeners that say no, no memory ---- */

static void a_listener_may_end_it_anywhere(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 1);
	assert_non_null(t);
	put_values(t, "v", (const char *const[]){"[1,{\"a\":[2]}]"});
	put_ints(t, "int", (int64_t[]){EMPTY});
	for (size_t pieces = 0; pieces <= 6; pieces++) { /* it is told in six */
		listener l = {.patience = pieces};
		tl_error err = TL_ERROR_INIT;
		int code = tl_table_cell(t, 0, 0, hear, &l, &err);
		assert_int_equal(code, pieces < 6 ? TL_ECALLBACK : 0);
		assert_int_equal(err.code, code);
		tl__buf_free(&l.heard);
	}
	listener l = {.patience = 0};
	assert_int_equal(tl_table_cell(t, 1, 0, hear, &l, NULL), TL_ECALLBACK);
	assert_int_equal(tl__tell_value(tl__table_column(t, "v")->val[0], hear, &l, NULL), 0);
	tl__buf_free(&l.heard);
	tl_table_free(t);
}

static int count(void *user, const tl_item *item)
{
	(void)item;
	++*(size_t *)user;
	return 0;
}

static int tell_kernels(void *of)
{
	size_t pieces = 0;
	tl_error err = TL_ERROR_INIT;
	int code = tl_table_cell(of, 0, 0, count, &pieces, &err);
	assert_int_equal(err.code, code);
	if (code == 0)
		assert_int_equal(pieces, 12); /* list, record, four names, three values, and a list of two */
	return code;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 1);
	assert_non_null(t);
	tl_column *c = tl__table_add(t, "k", "", TL_COL_KERNELS);
	assert_non_null(c);
	tl_kernel kernel = a_kernel(t, "gemm", 1500000, 7, 3);
	kernel.call_stack = tl__stack_push(t->strings, TL_STR_NONE, tl__table_str(t, "outer"));
	kernel.call_stack = tl__stack_push(t->strings, kernel.call_stack, tl__table_str(t, "inner"));
	put_kernel(t, c, 0, kernel);
	assert_true(fail_each_allocation(tell_kernels, t) > 0);
	expect_told(t, 0, 0,
		    "list 1: record 4: 'name' 'gemm' 'dur' 1.5 'stream' 7 'call_stack' list 2: 'outer' 'inner'");
	tl_table_free(t);
}

/* ---- numbers of cells ---- */

static void equal_numbers_mean_equal_cells(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 4);
	assert_non_null(t);
	put_strings(t, "text", (const char *const[]){"a", "b", "a", NULL});
	tl_column *c = put_values(t, "value", (const char *const[]){"[1]", "[2]", NULL, NULL});
	c->val[2] = c->val[0]; /* shared, as cached values are */
	put_ints(t, "int", (int64_t[]){1, 1, 2, EMPTY});
	uint64_t a = tl_table_cell_id(t, 0, 0), b = tl_table_cell_id(t, 0, 1);
	assert_true(a && b && a != b);
	assert_true(tl_table_cell_id(t, 0, 2) == a);
	assert_true(tl_table_cell_id(t, 0, 3) == 0);
	assert_true(tl_table_cell_id(t, 1, 0) && tl_table_cell_id(t, 1, 0) == tl_table_cell_id(t, 1, 2));
	assert_true(tl_table_cell_id(t, 1, 0) != tl_table_cell_id(t, 1, 1));
	assert_true(tl_table_cell_id(t, 1, 3) == 0);
	for (size_t row = 0; row < 4; row++) /* numbers have none */
		assert_true(tl_table_cell_id(t, 2, row) == 0);
	tl_table_free(t);
}

static void whole_columns(void **state)
{
	(void)state;
	enum { ROWS = 3 };
	tl_table *t = tl__table_new("t", NULL, ROWS);
	assert_non_null(t);
	put_ints(t, "full", (int64_t[]){-7, INT64_MAX, 0});
	put_ints(t, "gaps", (int64_t[]){1, EMPTY, 3});
	put_doubles(t, "real", (double[]){2.5, NAN, -1});
	put_strings(t, "text", (const char *const[]){"a", NULL, "a"});
	put_values(t, "value", (const char *const[]){"[1]", NULL, "[2]"});
	tl_column *c = tl__table_add(t, "flag", "", TL_COL_BOOL);
	assert_non_null(c);
	c->b[1] = 1;
	assert_non_null(tl__table_add(t, "kernels", "", TL_COL_KERNELS));
	static const bool full[] = {true, false, false, false, false, true, true, false};
	static const bool has_ids[] = {false, false, false, true, true, false, false, false};
	for (size_t column = 0; column <= t->columns.n; column++) { /* the last is not there */
		double reals[ROWS];
		int64_t ints[ROWS];
		uint64_t ids[ROWS];
		tl_table_doubles(t, column, reals);
		assert_int_equal(tl_table_ints(t, column, ints), full[column]);
		assert_int_equal(tl_table_cell_ids(t, column, ids), has_ids[column]);
		for (size_t row = 0; row < ROWS; row++) {
			double real = tl_table_double(t, column, row);
			assert_true(isnan(real) ? isnan(reals[row]) : reals[row] == real);
			assert_int_equal(ints[row], tl_table_int(t, column, row));
			assert_int_equal(ids[row], tl_table_cell_id(t, column, row));
		}
	}
	assert_true(tl_table_cell_id(t, 3, 0) && tl_table_cell_id(t, 3, 0) == tl_table_cell_id(t, 3, 2));
	assert_int_equal(tl_table_cell_id(t, 3, 1), 0);
	assert_true(tl_table_cell_id(t, 4, 0) != tl_table_cell_id(t, 4, 2));
	assert_true(tl_table_double(t, 2, 2) == -1 && tl_table_int(t, 0, 1) == INT64_MAX);
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_columns),
		cmocka_unit_test(cells_of_one_piece),
		cmocka_unit_test(nested_values),
		cmocka_unit_test(lists_are_no_tuples),
		cmocka_unit_test(kernels_are_lists_of_records),
		cmocka_unit_test(the_deepest_value),
		cmocka_unit_test(a_listener_may_end_it_anywhere),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(equal_numbers_mean_equal_cells),
	};
	return cmocka_run_group_tests_name("items", tests, NULL, NULL);
}
