/* SPDX-License-Identifier: MIT */
/* Summaries of kernel lists: a golden cell, order, cutting of names, rounding. */
#include "table/testing.h"

static tl_table *summarize(const tl_table *t, const char *source)
{
	tl_groups g;
	assert_int_equal(tl__table_group(&g, t, (const char *[]){"key"}, 1, true, NULL), 0);
	tl_table *out = tl__table_new("out", t->strings, g.n);
	assert_int_equal(tl__table_summarize_kernels(out, "summary", &g, t, source, NULL), 0);
	assert_int_equal(tl__table_add_truncated(out, "summary", "short", NULL), 0);
	tl__groups_free(&g);
	return out;
}

static const tl_value *number(const tl_table *t, size_t row, size_t record, const char *key)
{
	const tl_value *list = tl__table_column(t, "summary")->val[row];
	const tl_value *value = tl__value_get(tl__value_at(list, record), key);
	assert_non_null(value);
	return value;
}

/* attn_fwd of mi300_bert_small against the golden kernel_details_summary. */
static void summary_as_in_the_golden_table(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 4);
	put_ints(t, "key", (int64_t[]){0, 0, 0, 0});
	tl_column *c = tl__table_add(t, "kernel_details", "", TL_COL_KERNELS);
	const int64_t ps[] = {32032000, 26981000, 27341000, 27302000};
	for (uint32_t row = 0; row < 4; row++)
		put_kernel(t, c, row, a_kernel(t, "attn_fwd", ps[row], 0, row));
	tl_table *out = summarize(t, "kernel_details");
	assert_int_equal(tl__value_count(tl__table_column(out, "summary")->val[0]), 1);
	assert_true(fabs(number(out, 0, 0, "std_dev_duration_us")->d - 2.0935189275475854) < 1e-9);
	((tl_value *)(uintptr_t)number(out, 0, 0, "std_dev_duration_us"))->d = 2;
	expect_text(out, "summary", 0,
		    "[{'name': 'attn_fwd', 'stream': 0, 'count': 4, 'total_duration_us': 113.656, "
		    "'mean_duration_us': 28.414, 'median_duration_us': 27.3215, 'std_dev_duration_us': 2.0, "
		    "'min_duration_us': 26.981, 'max_duration_us': 32.032}]");
	expect_text(out, "short", 0, "[{'name': 'attn_fwd', 'stream': 0, 'mean_duration_us': 28.41}]");
	assert_string_equal(tl_table_column_name(out, 1), "short");
	tl_table_free(out);
	tl_table_free(t);
}

/*
 * Group 0: two lists of two kernels, one of another length (left out), an empty one. The template is the
 * first list that is not empty; records go by total, then name. Group 1: no kernels at all.
 */
static void template_length_and_order(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 6);
	put_ints(t, "key", (int64_t[]){0, 0, 1, 0, 0, 1});
	tl_column *c = tl__table_add(t, "kernel_details", "", TL_COL_KERNELS);
	put_kernel(t, c, 1, a_kernel(t, "b", 3000000, 0, 1));
	put_kernel(t, c, 1, a_kernel(t, "c", 1000000, 1, 2));
	put_kernel(t, c, 1, a_kernel(t, "a", 1000000, INT64_MIN, 3));
	put_kernel(t, c, 3, a_kernel(t, "b", 9000000, 0, 4));
	put_kernel(t, c, 4, a_kernel(t, "other name", 5000000, 0, 5));
	put_kernel(t, c, 4, a_kernel(t, "c", 1000000, 1, 6));
	put_kernel(t, c, 4, a_kernel(t, "a", TL_TIME_NONE, 1, 7));
	assert_int_equal(tl__column_set_null(t, c, 5), 0);
	tl_table *out = summarize(t, "kernel_details");
	expect_text(out, "summary", 0,
		    "[{'name': 'a', 'stream': None, 'count': 2, 'total_duration_us': 1.0, 'mean_duration_us': 1.0, "
		    "'median_duration_us': 1.0, 'std_dev_duration_us': 0.0, 'min_duration_us': 1.0, "
		    "'max_duration_us': 1.0}, "
		    "{'name': 'c', 'stream': 1, 'count': 2, 'total_duration_us': 2.0, 'mean_duration_us': 1.0, "
		    "'median_duration_us': 1.0, 'std_dev_duration_us': 0.0, 'min_duration_us': 1.0, "
		    "'max_duration_us': 1.0}, "
		    "{'name': 'b', 'stream': 0, 'count': 2, 'total_duration_us': 8.0, 'mean_duration_us': 4.0, "
		    "'median_duration_us': 4.0, 'std_dev_duration_us': 1.0, 'min_duration_us': 3.0, "
		    "'max_duration_us': 5.0}]");
	expect_text(out, "summary", 1, "[]");
	expect_text(out, "short", 1, "");
	tl_table_free(out);
	tl_table_free(t);
}

/* Ties of total go by name. */
static void equal_totals_go_by_name(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 1);
	put_ints(t, "key", (int64_t[]){0});
	tl_column *c = tl__table_add(t, "k", "", TL_COL_KERNELS);
	const char *names[] = {"b", "ab", "a", "b"};
	for (uint32_t i = 0; i < 4; i++)
		put_kernel(t, c, 0, a_kernel(t, names[i], 1, i, i));
	tl_table *out = summarize(t, "k");
	const char *sorted[] = {"a", "ab", "b", "b"};
	const int64_t streams[] = {2, 1, 0, 3};
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(number(out, 0, i, "name")->s, sorted[i]);
		assert_int_equal(number(out, 0, i, "stream")->i, streams[i]);
	}
	tl_table_free(out);
	tl_table_free(t);
}

/* Lists of records that are not kernels: what the template has besides stays, durations are in microseconds. */
static void records_made_elsewhere(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 3);
	put_ints(t, "key", (int64_t[]){0, 0, 0});
	put_values(t, "overlaps",
		   (const char *[]){"[{\"name\": \"nccl\", \"dur\": 1.5, \"stream\": \"s\", \"overlap_pct\": 0.25, "
				    "\"gpu_op_uid\": 3, \"call_stack\": []}]",
				    "[{\"name\": \"nccl\", \"dur\": 2, \"stream\": \"s\", \"overlap_pct\": 0.75}]",
				    "[{\"name\": \"nccl\", \"dur\": null}]"});
	tl_table *out = summarize(t, "overlaps");
	expect_text(out, "summary", 0,
		    "[{'name': 'nccl', 'stream': 's', 'overlap_pct': 0.25, 'count': 3, 'total_duration_us': 3.5, "
		    "'mean_duration_us': 1.75, 'median_duration_us': 1.75, 'std_dev_duration_us': 0.25, "
		    "'min_duration_us': 1.5, 'max_duration_us': 2.0}]");
	tl_table_free(out);
	tl_table_free(t);
}

static void long_names_are_cut_by_characters(void **state)
{
	(void)state;
	char exactly[64 * 2 + 1] = "", longer[65 * 2 + 1] = "", expected[512];
	for (int i = 0; i < 65; i++) {
		strcat(longer, "µ");
		if (i < 64)
			strcat(exactly, "µ");
	}
	tl_table *t = tl__table_new("t", NULL, 1);
	put_ints(t, "key", (int64_t[]){0});
	tl_column *c = tl__table_add(t, "k", "", TL_COL_KERNELS);
	put_kernel(t, c, 0, a_kernel(t, exactly, 5000, 0, 0));
	put_kernel(t, c, 0, a_kernel(t, longer, 2675000, 0, 0));
	tl_table *out = summarize(t, "k");
	/* 0.5 and 267.5 hundredths: half to even */
	strcpy(expected, "[{'name': '");
	strcat(expected, exactly);
	strcat(expected, "', 'stream': 0, 'mean_duration_us': 0.0}, {'name': '");
	strcat(expected, exactly);
	strcat(expected, "...', 'stream': 0, 'mean_duration_us': 2.68}]");
	expect_text(out, "short", 0, expected);
	tl_table_free(out);
	tl_table_free(t);
}

/* Ties as the golden ops_unique_args.csv of normalization_layers rounds them. */
static void short_means_round_half_to_even(void **state)
{
	(void)state;
	const struct {
		int64_t ps;
		double shown;
	} cases[] = {{4285000, 4.28}, {10655000, 10.66}, {3825000, 3.82},
		     {3725000, 3.72}, {2645000, 2.64},   {4286000, 4.29}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_table *t = tl__table_new("t", NULL, 1);
		put_ints(t, "key", (int64_t[]){0});
		put_kernel(t, tl__table_add(t, "k", "", TL_COL_KERNELS), 0, a_kernel(t, "k", cases[i].ps, 0, 0));
		tl_table *out = summarize(t, "k");
		const tl_value *list = tl__table_column(out, "short")->val[0];
		assert_true(tl__value_get(tl__value_at(list, 0), "mean_duration_us")->d == cases[i].shown);
		tl_table_free(out);
		tl_table_free(t);
	}
}

static void missing_or_unfit_sources(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 1), *out = tl__table_new("out", NULL, 1);
	put_ints(t, "key", (int64_t[]){0});
	put_values(out, "odd", (const char *[]){"[{\"name\": null}, 5]"});
	tl_groups g;
	assert_int_equal(tl__table_group(&g, t, (const char *[]){"key"}, 1, true, NULL), 0);
	assert_int_equal(tl__table_summarize_kernels(out, "summary", &g, t, "none", NULL), 0);
	assert_int_equal(tl__table_summarize_kernels(out, "summary", &g, t, "key", NULL), TL_EINVAL);
	assert_int_equal(tl__table_add_truncated(out, "summary", "short", NULL), 0);
	assert_int_equal(tl_table_columns(out), 1);
	assert_int_equal(tl__table_add_truncated(t, "key", "short", NULL), TL_EINVAL);
	assert_int_equal(tl__table_add_truncated(out, "odd", "short", NULL), 0);
	expect_text(out, "short", 0,
		    "[{'name': None, 'stream': None, 'mean_duration_us': 0}, "
		    "{'name': None, 'stream': None, 'mean_duration_us': 0}]");
	tl__groups_free(&g);
	tl_table_free(t);
	tl_table_free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_as_in_the_golden_table),   cmocka_unit_test(template_length_and_order),
		cmocka_unit_test(equal_totals_go_by_name),          cmocka_unit_test(records_made_elsewhere),
		cmocka_unit_test(long_names_are_cut_by_characters), cmocka_unit_test(short_means_round_half_to_even),
		cmocka_unit_test(missing_or_unfit_sources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
