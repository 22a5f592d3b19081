/* SPDX-License-Identifier: MIT */
/* Names that are cut and still told apart. */
#include "table/alike.h"

#include "table/testing.h"
#include "table/text.h"

static tl_table *names(const char *const *cells, size_t n)
{
	tl_table *table = tl__table_new("names", NULL, n);
	assert_non_null(table);
	put_strings(table, "name", cells);
	return table;
}

/* `expected` NULL: all are cut at the end. */
static void expect_cuts(const char *const *cells, size_t n, size_t width, const uint32_t *expected)
{
	tl_table *table = names(cells, n);
	uint32_t *cuts;
	assert_int_equal(tl__alike_cuts(&cuts, table, 0, n, width), 0);
	assert_true(!cuts == !expected);
	for (size_t i = 0; cuts && i < n; i++)
		assert_int_equal(cuts[i], expected[i]);
	tl__free(cuts);
	tl_table_free(table);
}
#define EXPECT_CUTS(width, expected, ...)                                                                            \
	expect_cuts((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), \
		    (width), (expected))

/* Of width 20 the head has 10 columns, the ellipsis one, the second part 9. */
static void what_looks_alike(void **state)
{
	(void)state;
	const uint32_t middle[] = {TL_CUT_MIDDLE, TL_CUT_END, TL_CUT_MIDDLE, TL_CUT_END};
	EXPECT_CUTS(20, NULL, "aten::convolution_backward_first", "aten::add");
	EXPECT_CUTS(20, NULL, "aten::convolution_backward", "aten::convolution_backward", "aten::conv");
	EXPECT_CUTS(20, NULL, "", "", NULL);
	EXPECT_CUTS(0, NULL, "aten::convolution_backward_first", "aten::convolution_backward_second");
	EXPECT_CUTS(20, middle, "aten::convolution_backward_first", "aten::add", "aten::convolution_backward_second",
		    "aten::a_name_like_no_other");
	EXPECT_CUTS(40, NULL, "aten::convolution_backward_first", "aten::convolution_backward_second");
	/* 21 characters in common, of which 3 are shown */
	const uint32_t before[] = {18, 18, 18};
	EXPECT_CUTS(20, before, "vectorized_kernel<4, add_functor<float>, array>(int)",
		    "vectorized_kernel<4, mul_functor<float>, array>(int)",
		    "vectorized_kernel<4, mul_functor<float>, array>(int)");
	/* two of three end alike */
	EXPECT_CUTS(20, before, "vectorized_kernel<4, add_functor<float>, array>(int)",
		    "vectorized_kernel<4, mul_functor<float>, array>(int)",
		    "vectorized_kernel<4, sub_functor<float>, array>(long)");
}

/* Characters, not bytes: 18 x ä, then a difference in the last byte of a character. */
static void characters_are_counted(void **state)
{
	(void)state;
#define TEN "ääääääääää"
	const uint32_t before[] = {17, 17};
	EXPECT_CUTS(20, before, TEN TEN "ö" TEN, TEN TEN "ü" TEN);
	const uint32_t middle[] = {TL_CUT_MIDDLE, TL_CUT_MIDDLE};
	EXPECT_CUTS(20, middle, TEN TEN "ö", TEN TEN "ü");
#undef TEN
}

static void expect_table(const char *const *cells, size_t n, int width, const char *expected)
{
	static const tl_text_column columns[] = {{"name", "n", 0}};
	tl_table *table = names(cells, n);
	char *text;
	assert_int_equal(tl_table_text_view(&text, table, columns, 1, &(tl_text_style){.width = width}, NULL), 0);
	assert_string_equal(text, expected);
	free(text);
	tl_table_free(table);
}

/* The least width of a table is 40; 38 are left for names: 19, the ellipsis, 18. */
static void tables_show_them(void **state)
{
	(void)state;
	const char *const ends[] = {"aten::scaled_dot_product_flash_attention_forward", "aten::mm",
				    "aten::scaled_dot_product_flash_attention_backward",
				    "autograd::engine::evaluate_function: AddmmBackward0"};
	expect_table(ends, 4, 40,
		     "n\n"
		     "  aten::scaled_dot_pr\xe2\x80\xa6"
		     "_attention_forward\n"
		     "  aten::mm\n"
		     "  aten::scaled_dot_pr\xe2\x80\xa6"
		     "attention_backward\n"
		     "  autograd::engine::evaluate_function: \xe2\x80\xa6\n");
	const char *const inside[] = {
		"void at::native::vectorized_elementwise_kernel<4, add, std::array<char*, 3ul> >(int, add)",
		"void at::native::vectorized_elementwise_kernel<4, mul, std::array<char*, 3ul> >(int, add)"};
	expect_table(inside, 2, 40,
		     "n\n"
		     "  void at::native::ve\xe2\x80\xa6"
		     "4, add, std::arra\xe2\x80\xa6\n"
		     "  void at::native::ve\xe2\x80\xa6"
		     "4, mul, std::arra\xe2\x80\xa6\n");
}

/* Longer than any buffer of fixed size: the end that is shown is the end of the name. */
static void ends_of_very_long_names(void **state)
{
	(void)state;
	char a[5000], b[5000];
	memset(a, 'x', sizeof a);
	memset(b, 'x', sizeof b);
	memcpy(a + sizeof a - 6, "first", 6);
	memcpy(b + sizeof b - 6, "other", 6);
	expect_table((const char *const[]){a, b}, 2, 40,
		     "n\n"
		     "  xxxxxxxxxxxxxxxxxxx\xe2\x80\xa6xxxxxxxxxxxxxfirst\n"
		     "  xxxxxxxxxxxxxxxxxxx\xe2\x80\xa6xxxxxxxxxxxxxother\n");
}

static int cut(void *table)
{
	uint32_t *cuts;
	int code = tl__alike_cuts(&cuts, table, 0, 2, 20);
	tl__free(cuts);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	tl_table *table = names(
		(const char *const[]){"aten::convolution_backward_first", "aten::convolution_backward_second"}, 2);
	assert_true(fail_each_allocation(cut, table) > 0);
	tl_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_looks_alike),
		cmocka_unit_test(characters_are_counted),
		cmocka_unit_test(tables_show_them),
		cmocka_unit_test(ends_of_very_long_names),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
