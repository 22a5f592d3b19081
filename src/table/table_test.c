/* SPDX-License-Identifier: MIT */
/* Tables as CSV and JSON, in memory and in files, and reading their cells. */
#include <stdio.h>
#include <unistd.h>

#include "table/csv.h"
#include "table/testing.h"

static tl_table *sample(void)
{
	tl_table *t = tl__table_new("sample", NULL, 3);
	put_ints(t, "n", (int64_t[]){4, EMPTY, -7});
	put_doubles(t, "time", (double[]){10, 1e-7, (double)NAN});
	tl__table_add(t, "flag", NULL, TL_COL_BOOL)->b[1] = 1;
	put_strings(t, "name", (const char *[]){"a,b", "say \"hi\"", "line\nbreak"});
	put_values(t, "dims", (const char *[]){"[[512], \"it's\"]", "null", NULL});
	return t;
}

static void csv_prints_cells_as_the_specification_says(void **state)
{
	(void)state;
	tl_table *t = sample();
	expect_csv(t, "n,time,flag,name,dims\n"
		      "4,10.0,False,\"a,b\",\"((512,), \"\"it's\"\")\"\n"
		      ",1e-07,True,\"say \"\"hi\"\"\",\n"
		      "-7,,False,\"line\nbreak\",\n");
	tl_table_free(t);
}

static void csv_of_little(void **state)
{
	(void)state;
	tl_table *none = tl__table_new("none", NULL, 2);
	expect_csv(none, "\n");
	tl_table_free(none);

	tl_table *no_rows = tl__table_new("no rows", NULL, 0);
	put_ints(no_rows, "a", NULL);
	put_ints(no_rows, "b,c", NULL);
	expect_csv(no_rows, "a,\"b,c\"\n");
	tl_table_free(no_rows);

	/* a line without anything would be no row to those who read it */
	tl_table *one = tl__table_new("one", NULL, 2);
	put_strings(one, "a", (const char *[]){NULL, "\"\""});
	expect_csv(one, "a\n\"\"\n\"\"\"\"\"\"\n");
	tl_table_free(one);
}

static void csv_of_odd_numbers_and_texts(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("odd", NULL, 3);
	put_doubles(t, "d", (double[]){(double)INFINITY, -(double)INFINITY, 1e16});
	put_ints(t, "i", (int64_t[]){INT64_MAX, INT64_MIN + 1, 0});
	put_strings(t, "s", (const char *[]){"bad \xff\xc3", "µ\r", "\xe2\x82"});
	put_values(t, "v", (const char *[]){"\"plain ' text\"", "[\"a'b\\\"c\\\\\", true, null, 1.0]", "NaN"});
	expect_csv(t, "d,i,s,v\n"
		      "inf,9223372036854775807,bad \xef\xbf\xbd\xef\xbf\xbd,plain ' text\n"
		      "-inf,-9223372036854775807,\"µ\r\",\"('a\\'b\"\"c\\\\', True, None, 1.0)\"\n"
		      "1e+16,0,\xef\xbf\xbd\xef\xbf\xbd,\n");
	tl_table_free(t);
}

/* Texts that come again within a few rows, or only after thousands of others; in either way of writing. */
static void csv_of_many_rows(void **state)
{
	(void)state;
	enum { ROWS = 30000 };
	char path[] = "table_test_XXXXXX";
	int handle = mkstemp(path);
	assert_true(handle >= 0);
	close(handle);
	tl_table *t = tl__table_new("t", NULL, ROWS);
	tl_str *name = tl__table_add(t, "name", NULL, TL_COL_STRING)->str;
	const tl_value **dims = tl__table_add(t, "dims", NULL, TL_COL_VALUE)->val;
	char text[64];
	for (unsigned i = 0; i < ROWS; i++) {
		int n = snprintf(text, sizeof text, i % 2 ? "k,%u" : "k%u", i % 2 ? i % 14 : i);
		name[i] = i % 5 ? tl__intern(t->strings, text, (size_t)n) : TL_STR_NONE;
		snprintf(text, sizeof text, "[%u]", i);
		/* the 7 rows before this one have values of their own */
		dims[i] = i % 8 == 7 ? dims[i - 7] : NULL;
		if (!dims[i])
			assert_int_equal(tl__value_parse(&t->arena, text, strlen(text), true, &dims[i]), 0);
	}
	for (int threaded = 0; threaded < 2; threaded++) {
		assert_int_equal(tl__table_write_csv(t, path, path, threaded, NULL), 0);
		FILE *file = fopen(path, "rb");
		assert_non_null(file);
		char line[128], expected[128];
		assert_non_null(fgets(line, sizeof line, file));
		assert_string_equal(line, "name,dims\n");
		for (unsigned i = 0; i < ROWS; i++) {
			unsigned of_dims = i % 8 == 7 ? i - 7 : i;
			int n = 0;
			if (i % 5)
				n = snprintf(expected, sizeof expected, i % 2 ? "\"k,%u\"" : "k%u", i % 2 ? i % 14 : i);
			snprintf(expected + n, sizeof expected - (size_t)n, ",\"(%u,)\"\n", of_dims);
			assert_non_null(fgets(line, sizeof line, file));
			assert_string_equal(line, expected);
		}
		assert_null(fgets(line, sizeof line, file));
		fclose(file);
	}
	unlink(path);
	tl_table_free(t);
}

static void csv_goes_to_a_file(void **state)
{
	(void)state;
	char path[] = "table_test_XXXXXX", read[64] = "";
	int handle = mkstemp(path);
	assert_true(handle >= 0);
	close(handle);
	tl_table *t = tl__table_new("t", NULL, 1);
	put_ints(t, "a", (int64_t[]){5});
	assert_int_equal(tl_table_write_csv(t, path, NULL), 0);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	size_t n = fread(read, 1, sizeof read - 1, file);
	fclose(file);
	unlink(path);
	assert_int_equal(n, 4);
	assert_string_equal(read, "a\n5\n");

	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_table_write_csv(t, "no such folder/t.csv", &err), TL_EIO);
	assert_int_equal(err.code, TL_EIO);
	tl_table_free(t);
}

static void json_has_columns_and_rows(void **state)
{
	(void)state;
	tl_table *t = sample();
	char *text;
	size_t size;
	assert_int_equal(tl_table_json(t, &text, &size, NULL), 0);
	assert_string_equal(text, "{\"name\": \"sample\", \"columns\": ["
				  "{\"name\": \"n\", \"type\": \"int64\", \"unit\": \"\"}, "
				  "{\"name\": \"time\", \"type\": \"double\", \"unit\": \"µs\"}, "
				  "{\"name\": \"flag\", \"type\": \"bool\", \"unit\": \"\"}, "
				  "{\"name\": \"name\", \"type\": \"string\", \"unit\": \"\"}, "
				  "{\"name\": \"dims\", \"type\": \"list\", \"unit\": \"\"}], \"rows\": [\n"
				  "[4, 10.0, false, \"a,b\", [[512], \"it's\"]],\n"
				  "[null, 1e-07, true, \"say \\\"hi\\\"\", null],\n"
				  "[-7, null, false, \"line\\nbreak\", null]\n]}");
	assert_int_equal(size, strlen(text));
	free(text);
	tl_table_free(t);

	t = tl__table_new("", NULL, 1);
	put_doubles(t, "d", (double[]){(double)INFINITY});
	put_values(t, "r", (const char *[]){"{\"k\": [NaN, 1]}"});
	put_strings(t, "s", (const char *[]){"\xff\x01"});
	assert_int_equal(tl_table_json(t, &text, NULL, NULL), 0);
	assert_non_null(strstr(text, "{\"name\": \"r\", \"type\": \"record\", \"unit\": \"\"}"));
	assert_non_null(strstr(text, "[null, {\"k\": [null, 1]}, \"\xef\xbf\xbd\\u0001\"]"));
	free(text);
	tl_table_free(t);

	t = tl__table_new("empty", NULL, 0);
	assert_int_equal(tl_table_json(t, &text, NULL, NULL), 0);
	assert_string_equal(text, "{\"name\": \"empty\", \"columns\": [], \"rows\": []}");
	free(text);
	tl_table_free(t);
}

static void kernel_lists_print_as_records(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("k", NULL, 3);
	tl_column *c = tl__table_add(t, "kernel_details", "", TL_COL_KERNELS);
	tl_kernel k = a_kernel(t, "gemm<'a'>", 5010000, 7, 99);
	put_kernel(t, c, 0, k);
	k.dur = TL_TIME_NONE;
	k.stream = INT64_MIN;
	put_kernel(t, c, 0, k);
	k.dur = 1;
	k.stream_text = tl__table_str(t, "stream one");
	k.call_stack = tl__stack_push(t->strings, TL_STR_NONE, tl__table_str(t, "main"));
	k.call_stack = tl__stack_push(t->strings, k.call_stack, tl__table_str(t, "step"));
	put_kernel(t, c, 2, k);
	expect_text(t, "kernel_details", 0,
		    "[{'name': \"gemm<'a'>\", 'dur': 5.01, 'stream': 7}, "
		    "{'name': \"gemm<'a'>\", 'dur': None, 'stream': None}]");
	expect_text(t, "kernel_details", 1, "[]");
	c->with_uid = 1;
	expect_text(t, "kernel_details", 2,
		    "[{'name': \"gemm<'a'>\", 'dur': 1e-06, 'stream': 'stream one', 'gpu_op_uid': 99, "
		    "'call_stack': ['main', 'step']}]");
	tl_buf json = {0};
	tl__cell_json(t, c, 2, &json);
	assert_string_equal(tl__buf_text(&json),
			    "[{\"name\": \"gemm<'a'>\", \"dur\": 1e-06, \"stream\": \"stream one\", "
			    "\"gpu_op_uid\": 99, \"call_stack\": [\"main\", \"step\"]}]");
	tl__buf_free(&json);
	assert_int_equal(tl__column_set_null(t, c, 1), 0);
	expect_text(t, "kernel_details", 1, "");
	assert_true(tl_table_is_null(t, 0, 1));
	assert_false(tl_table_is_null(t, 0, 0));
	tl_table_free(t);
}

static void getters_read_cells(void **state)
{
	(void)state;
	tl_table *t = sample();
	put_values(t, "mixed", (const char *[]){"3", "2.5", "true"});
	assert_int_equal(tl_table_rows(t), 3);
	assert_int_equal(tl_table_columns(t), 6);
	assert_string_equal(tl_table_name(t), "sample");
	assert_string_equal(tl_table_column_name(t, 1), "time");
	assert_string_equal(tl_table_column_unit(t, 1), "µs");
	assert_string_equal(tl_table_column_unit(t, 2), "");
	assert_null(tl_table_column_name(t, 6));
	assert_string_equal(tl_table_column_unit(t, 6), "");
	assert_int_equal(tl_table_find_column(t, "name"), 3);
	assert_int_equal(tl_table_find_column(t, "nam"), -1);
	assert_int_equal(tl_table_column_type(t, 0), TL_TYPE_INT64);
	assert_int_equal(tl_table_column_type(t, 4), TL_TYPE_LIST);

	assert_true(tl_table_double(t, 0, 0) == 4);
	assert_true(isnan(tl_table_double(t, 0, 1)));
	assert_true(tl_table_double(t, 2, 1) == 1);
	assert_true(isnan(tl_table_double(t, 3, 0)));
	assert_true(isnan(tl_table_double(t, 0, 3)));
	assert_true(isnan(tl_table_double(t, 9, 0)));
	assert_true(tl_table_double(t, 5, 1) == 2.5);
	assert_int_equal(tl_table_int(t, 0, 2), -7);
	assert_int_equal(tl_table_int(t, 0, 1), 0);
	assert_int_equal(tl_table_int(t, 1, 0), 0);
	assert_int_equal(tl_table_int(t, 2, 1), 1);
	assert_int_equal(tl_table_int(t, 5, 0), 3);
	assert_true(tl_table_is_null(t, 0, 1));
	assert_true(tl_table_is_null(t, 1, 2));
	assert_true(tl_table_is_null(t, 4, 1));
	assert_true(tl_table_is_null(t, 0, 3));
	assert_true(tl_table_is_null(t, 9, 0));
	assert_false(tl_table_is_null(t, 0, 0));

	char few[4] = "xyz";
	assert_int_equal(tl_table_text(t, 3, 1, few, sizeof few), 8);
	assert_string_equal(few, "say");
	assert_int_equal(tl_table_text(t, 3, 1, NULL, 0), 8);
	assert_int_equal(tl_table_text(t, 9, 0, few, sizeof few), 0);
	assert_string_equal(few, "");
	tl_table_free(t);
	tl_table_free(NULL);
}

static void columns_move_and_go(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 1);
	for (int64_t i = 0; i < 5; i++)
		put_ints(t, (char[]){(char)('a' + i), 0}, &i);
	tl__table_move_column(t, 4, 1);
	expect_csv(t, "a,e,b,c,d\n0,4,1,2,3\n");
	tl__table_move_column(t, 0, 3);
	expect_csv(t, "e,b,c,a,d\n4,1,2,0,3\n");
	tl__table_move_column(t, 0, 99);
	expect_csv(t, "b,c,a,d,e\n1,2,0,3,4\n");
	tl__table_move_column(t, 99, 0);
	tl__table_remove_column(t, 2);
	tl__table_remove_column(t, 99);
	expect_csv(t, "b,c,d,e\n1,2,3,4\n");
	tl_table_free(t);
}

static void every_storage_can_be_empty(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 2);
	for (int storage = TL_COL_INT64; storage <= TL_COL_KERNELS; storage++) {
		tl_column *c = tl__table_add(t, "c", "", (tl_storage)storage);
		assert_int_equal(tl__column_set_null(t, c, 1), 0);
		assert_true(tl__column_is_null(c, 1));
		/* of the others a new cell is 0, false or no kernels */
		bool starts_empty = storage == TL_COL_DOUBLE || storage == TL_COL_STRING || storage == TL_COL_VALUE;
		assert_int_equal(tl__column_is_null(c, 0), starts_empty);
	}
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_prints_cells_as_the_specification_says),
		cmocka_unit_test(csv_of_little),
		cmocka_unit_test(csv_of_odd_numbers_and_texts),
		cmocka_unit_test(csv_of_many_rows),
		cmocka_unit_test(csv_goes_to_a_file),
		cmocka_unit_test(json_has_columns_and_rows),
		cmocka_unit_test(kernel_lists_print_as_records),
		cmocka_unit_test(getters_read_cells),
		cmocka_unit_test(columns_move_and_go),
		cmocka_unit_test(every_storage_can_be_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
