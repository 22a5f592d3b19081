/* SPDX-License-Identifier: MIT */
/* Tables as aligned lines. */
#include "table/text.h"

#include "table/testing.h"

static tl_table *sample(void)
{
	tl_table *table = tl__table_new("sample", NULL, 3);
	assert_non_null(table);
	put_strings(table, "name", (const char *[]){"aten::mm", "aten::convolution_backward", NULL});
	put_strings(table, "shape", (const char *[]){"(2, 3)", "(1, 768, 24, 24)", "()"});
	put_ints(table, "count", (int64_t[]){1234567, 5, EMPTY});
	put_doubles(table, "time", (double[]){0.5, 1234.5678, (double)NAN});
	return table;
}

static void expect(const tl_table *table, const tl_text_column *columns, size_t n, const tl_text_style *style,
		   const char *expected)
{
	char *text;
	assert_int_equal(tl_table_text_view(&text, table, columns, n, style, NULL), 0);
	assert_string_equal(text, expected);
	free(text);
}

static const tl_text_column all[] = {{"name", "Operations", 0},
				     {"shape", NULL, 0},
				     {"count", NULL, 0},
				     {"time", "ms", 3}};

static void columns_are_aligned(void **state)
{
	(void)state;
	tl_table *table = sample();
	expect(table, all, 4, NULL,
	       "Operations                    shape                 count         ms\n"
	       "  aten::mm                    (2, 3)            1,234,567      0.500\n"
	       "  aten::convolution_backward  (1, 768, 24, 24)          5  1,234.568\n"
	       "                              ()                        -          -\n");
	tl_table_free(table);
}

/* Two columns each for characters of East Asia, none for a mark on the one before. */
static void columns_are_aligned_in_any_script(void **state)
{
	(void)state;
	tl_table *table = tl__table_new("sample", NULL, 4);
	assert_non_null(table);
	put_strings(table, "name", (const char *[]){"abcdef", "\xe6\xb3\xa8\xe6\x84\x8f", "e\xcc\x81", "\xc3\xb6"});
	put_ints(table, "count", (int64_t[]){1, 2, 3, 4});
	expect(table, (const tl_text_column[]){{"name", "n", 0}, {"count", "c", 0}}, 2, NULL,
	       "n         c\n"
	       "  abcdef  1\n"
	       "  \xe6\xb3\xa8\xe6\x84\x8f    2\n"
	       "  e\xcc\x81       3\n"
	       "  \xc3\xb6       4\n");
	tl_table_free(table);
}

/* Numbers stay whole; of the texts the first gives way last. */
static void texts_are_cut_to_the_width(void **state)
{
	(void)state;
	tl_table *table = sample();
	/* 62 - 2 indent - 2 * (2 + 9) numbers - 2 between texts = 36: 24 for the first, 12 for the second */
	expect(table, all, 4, &(tl_text_style){.width = 62, .rows = 2},
	       "Operations                  shape             count         ms\n"
	       "  aten::mm                  (2, 3)        1,234,567      0.500\n"
	       "  aten::convolution_backw…  (1, 768, 24…          5  1,234.568\n");
	tl_table_free(table);
}

static void the_head_may_be_bold(void **state)
{
	(void)state;
	tl_table *table = sample();
	expect(table, all + 2, 1, &(tl_text_style){.colour = true, .rows = 1},
	       "\033[1m      count\033[0m\n  1,234,567\n");
	tl_table_free(table);
}

static void control_characters_do_not_pass(void **state)
{
	(void)state;
	tl_table *table = tl__table_new("", NULL, 1);
	put_strings(table, "name", (const char *[]){"a\033[2Jb\n\xe2\x80\xae"});
	expect(table, (tl_text_column[]){{"name", "n", 0}}, 1, NULL,
	       "n\n  a\xef\xbf\xbd[2Jb\xef\xbf\xbd\xef\xbf\xbd\n");
	tl_table_free(table);
}

static void bad_use_is_answered(void **state)
{
	(void)state;
	tl_table *table = sample();
	tl_error err = TL_ERROR_INIT;
	char *text;
	tl_text_column missing = {"no such", NULL, 0};
	assert_int_equal(tl_table_text_view(&text, table, &missing, 1, NULL, &err), TL_ENOTFOUND);
	assert_null(text);
	assert_non_null(strstr(err.message, "no such"));
	expect(table, NULL, 0, &(tl_text_style){.rows = 1}, "\n\n");
	tl_table_free(table);
}

static int view(void *table)
{
	char *text;
	int code = tl_table_text_view(&text, table, all, 4, NULL, NULL);
	free(text);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	tl_table *table = sample();
	assert_true(fail_each_allocation(view, table) > 0);
	tl_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned),
		cmocka_unit_test(columns_are_aligned_in_any_script),
		cmocka_unit_test(texts_are_cut_to_the_width),
		cmocka_unit_test(the_head_may_be_bold),
		cmocka_unit_test(control_characters_do_not_pass),
		cmocka_unit_test(bad_use_is_answered),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
