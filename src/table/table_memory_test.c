/* SPDX-License-Identifier: MIT */
/* Every allocation of a whole scenario fails once: a clean TL_ENOMEM each time, and (under a sanitizer) no leak. */
#include "table/testing.h"

static int fill(tl_table *t)
{
	static const char *const names[] = {"a", "b", "a", "c"};
	static const char dims[] = "[[1, \"text\"], {\"k\": 2}]";
	tl_column *c = tl__table_add(t, "name", "", TL_COL_STRING);
	if (!c)
		return TL_ENOMEM;
	for (size_t row = 0; row < t->rows; row++) {
		c->str[row] = tl__table_str(t, names[row]);
		if (c->str[row] == TL_STR_FAIL)
			return TL_ENOMEM;
	}
	c = tl__table_add(t, "n", "", TL_COL_INT64);
	if (!c || tl__column_set_null(t, c, 1) < 0)
		return TL_ENOMEM;
	c = tl__table_add(t, "time", "", TL_COL_DOUBLE);
	if (!c)
		return TL_ENOMEM;
	for (size_t row = 0; row < t->rows; row++)
		c->f64[row] = (double)row;
	c = tl__table_add(t, "dims", "", TL_COL_VALUE);
	if (!c)
		return TL_ENOMEM;
	for (size_t row = 0; row < t->rows; row++)
		TL_TRY(tl__value_parse(&t->arena, dims, sizeof dims - 1, row % 2, &c->val[row]));
	c = tl__table_add(t, "kernels", "", TL_COL_KERNELS);
	if (!c)
		return TL_ENOMEM;
	for (uint32_t row = 0; row < t->rows; row++) {
		tl_kernel kernel = {.name = c[-4].str[row], .uid = row, .dur = 1000 * row};
		tl_str name = tl__table_str(t, "frame");
		if (name == TL_STR_FAIL)
			return TL_ENOMEM;
		kernel.call_stack = tl__stack_push(t->strings, TL_STR_NONE, name);
		if (kernel.call_stack == TL_STR_FAIL)
			return TL_ENOMEM;
		c->ker[row] = (tl_kernel_range){row, 1};
		TL_TRY(TL_VEC_PUSH(&t->kernels, kernel));
	}
	return 0;
}

static int summarize(tl_table *out, const tl_groups *g, const tl_table *t, tl_error *err)
{
	for (int agg = TL_AGG_SUM; agg <= TL_AGG_FIRST; agg++)
		TL_TRY(tl__table_aggregate(out, "time", g, t, "time", (tl_aggregate)agg, err));
	TL_TRY(tl__table_aggregate(out, "n", g, t, "n", TL_AGG_SUM, err));
	TL_TRY(tl__table_aggregate(out, "name", g, t, "name", TL_AGG_FIRST, err));
	TL_TRY(tl__table_aggregate(out, "kernels", g, t, "kernels", TL_AGG_FIRST, err));
	TL_TRY(tl__table_aggregate(out, "dims", g, t, "dims", TL_AGG_FIRST, err));
	TL_TRY(tl__table_summarize_kernels(out, "summary", g, t, "kernels", err));
	TL_TRY(tl__table_add_truncated(out, "summary", "short", err));
	return tl__table_add_percentages(out, "time", err);
}

static int print(const tl_table *t, tl_error *err)
{
	tl_buf csv = {0};
	char *json = NULL;
	print_csv(t, &csv);
	int code = csv.failed ? TL_ENOMEM : 0;
	if (code == 0)
		code = tl_table_json(t, &json, NULL, err);
	tl__buf_free(&csv);
	free(json);
	return code;
}

typedef struct tables {
	tl_table *source, *taken, *joint, *out;
	tl_groups groups;
} tables;

static int make_all(tables *w, tl_error *err)
{
	static const char *const keys[] = {"name", "n", "dims", "kernels"};
	static const tl_sort_key by[] = {{"dims", false}, {"name", true}, {"n", false}, {"time", false}};

	if (!(w->source = tl__table_new("source", NULL, 4)))
		return TL_ENOMEM;
	TL_TRY(fill(w->source));
	TL_TRY(tl__table_take(&w->taken, w->source, (uint32_t[]){3, 1, 1, 0}, 4, err));
	if (!(w->joint = tl__table_new("more", NULL, 4)))
		return TL_ENOMEM;
	TL_TRY(fill(w->joint));
	tl_table *more = w->joint;
	w->joint = NULL;
	int code = tl__table_concat(&w->joint, w->taken, more, err);
	if (code == 0)
		code = tl__table_own_values(w->joint, err);
	tl_table_free(more);
	TL_TRY(code);
	TL_TRY(tl__table_sort(w->joint, by, 4, err));
	TL_TRY(tl__table_group(&w->groups, w->joint, keys, 4, true, err));
	if (!(w->out = tl__table_new("out", NULL, w->groups.n)))
		return TL_ENOMEM;
	TL_TRY(summarize(w->out, &w->groups, w->joint, err));
	TL_TRY(tl__table_own_values(w->out, err));
	return print(w->out, err);
}

static int work(void *unused)
{
	tables w = {0};
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	int code = make_all(&w, &err);
	tl__groups_free(&w.groups);
	tl_table_free(w.source);
	tl_table_free(w.taken);
	tl_table_free(w.joint);
	tl_table_free(w.out);
	return code;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	assert_true(fail_each_allocation(work, NULL) > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
