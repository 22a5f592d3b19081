/* SPDX-License-Identifier: MIT */
#include "table/testing.h"

/* A table of every storage whose pool and values are its own. */
static tl_table *everything(void)
{
	tl_table *t = tl__table_new("all", NULL, 3);
	put_ints(t, "i", (int64_t[]){1, EMPTY, 3});
	put_doubles(t, "d", (double[]){0.5, 1.5, (double)NAN});
	tl__table_add(t, "b", "", TL_COL_BOOL)->b[2] = 1;
	put_strings(t, "s", (const char *[]){"x", NULL, "z"});
	put_values(t, "v", (const char *[]){"[1]", "{\"k\": 2}", NULL});
	tl_column *c = tl__table_add(t, "k", "", TL_COL_KERNELS);
	c->with_uid = 1;
	put_kernel(t, c, 0, a_kernel(t, "one", 1000000, 0, 10));
	put_kernel(t, c, 2, a_kernel(t, "two", 2000000, 1, 20));
	put_kernel(t, c, 2, a_kernel(t, "three", 3000000, 1, 30));
	return t;
}

#define ROW0 "1,0.5,False,x,\"(1,)\",\"[{'name': 'one', 'dur': 1.0, 'stream': 0, 'gpu_op_uid': 10}]\"\n"
#define ROW1 ",1.5,False,,{'k': 2},[]\n"
#define ROW2                                                                         \
	"3,,True,z,,\"[{'name': 'two', 'dur': 2.0, 'stream': 1, 'gpu_op_uid': 20}, " \
	"{'name': 'three', 'dur': 3.0, 'stream': 1, 'gpu_op_uid': 30}]\"\n"

static void take_selects_and_repeats(void **state)
{
	(void)state;
	tl_table *t = everything(), *taken, *nothing;
	assert_int_equal(tl__table_take(&taken, t, (uint32_t[]){2, 0, 0, 1}, 4, NULL), 0);
	assert_int_equal(tl__table_take(&nothing, t, NULL, 0, NULL), 0);
	expect_csv(t, "i,d,b,s,v,k\n" ROW0 ROW1 ROW2);
	assert_int_equal(tl__table_own_values(taken, NULL), 0);
	tl_table_free(t); /* what was taken stands alone */
	expect_csv(taken, "i,d,b,s,v,k\n" ROW2 ROW0 ROW0 ROW1);
	expect_csv(nothing, "i,d,b,s,v,k\n");
	assert_string_equal(tl_table_name(taken), "all");
	assert_string_equal(tl_table_column_unit(taken, 1), "µs");
	tl_table_free(taken);
	tl_table_free(nothing);
}

static void concat_joins_columns_of_other_pools(void **state)
{
	(void)state;
	tl_table *t = everything(), *more = tl__table_new("more", NULL, 1), *joint;
	put_strings(more, "other", (const char *[]){"w"});
	put_strings(more, "s", (const char *[]){"z"});
	tl_kernel k = a_kernel(more, "four", 4000000, INT64_MIN, 40);
	k.stream_text = tl__table_str(more, "main");
	put_kernel(more, tl__table_add(more, "k", "", TL_COL_KERNELS), 0, k);
	assert_int_equal(tl__table_concat(&joint, t, more, NULL), 0);
	assert_int_equal(tl__table_own_values(joint, NULL), 0);
	tl_table_free(t);
	tl_table_free(more);
	tl__table_move_column(joint, 6, 5);
	expect_csv(joint, "i,d,b,s,v,other,k\n"
			  "1,0.5,False,x,\"(1,)\",,\"[{'name': 'one', 'dur': 1.0, 'stream': 0, 'gpu_op_uid': 10}]\"\n"
			  ",1.5,False,,{'k': 2},,[]\n"
			  "3,,True,z,,,\"[{'name': 'two', 'dur': 2.0, 'stream': 1, 'gpu_op_uid': 20}, "
			  "{'name': 'three', 'dur': 3.0, 'stream': 1, 'gpu_op_uid': 30}]\"\n"
			  ",,,z,,w,\"[{'name': 'four', 'dur': 4.0, 'stream': 'main', 'gpu_op_uid': 40}]\"\n");
	/* equal texts are one id in the joint pool */
	const tl_column *s = tl__table_column(joint, "s");
	assert_int_equal(s->str[2], s->str[3]);
	tl_table_free(joint);
}

static void concat_takes_call_stacks_along(void **state)
{
	(void)state;
	tl_table *t = tl__table_new("t", NULL, 1), *more = tl__table_new("more", NULL, 3), *both;
	tl_column *c = tl__table_add(t, "kernels", "", TL_COL_KERNELS);
	tl_kernel k = a_kernel(t, "k", 1000000, 7, 1);
	k.call_stack = tl__stack_push(t->strings, TL_STR_NONE, tl__table_str(t, "main"));
	put_kernel(t, c, 0, k);
	/* the same frames in another pool, one more frame, none at all, and nothing known */
	(void)tl__table_str(more, "so that ids differ");
	c = tl__table_add(more, "kernels", "", TL_COL_KERNELS);
	k = a_kernel(more, "k", 1000000, 7, 1);
	k.call_stack = tl__stack_push(more->strings, TL_STR_NONE, tl__table_str(more, "main"));
	tl_str main_frame = k.call_stack;
	put_kernel(more, c, 0, k);
	k.call_stack = tl__stack_push(more->strings, main_frame, tl__table_str(more, "step"));
	put_kernel(more, c, 1, k);
	k.call_stack = tl__stack_empty(more->strings);
	put_kernel(more, c, 2, k);
	k.call_stack = TL_STR_NONE;
	put_kernel(more, c, 2, k);
	assert_int_equal(tl__table_concat(&both, t, more, NULL), 0);
	tl_table_free(t);
	tl_table_free(more);
	expect_text(both, "kernels", 0, "[{'name': 'k', 'dur': 1.0, 'stream': 7, 'call_stack': ['main']}]");
	expect_text(both, "kernels", 1, "[{'name': 'k', 'dur': 1.0, 'stream': 7, 'call_stack': ['main']}]");
	expect_text(both, "kernels", 2, "[{'name': 'k', 'dur': 1.0, 'stream': 7, 'call_stack': ['main', 'step']}]");
	expect_text(both, "kernels", 3,
		    "[{'name': 'k', 'dur': 1.0, 'stream': 7, 'call_stack': []}, "
		    "{'name': 'k', 'dur': 1.0, 'stream': 7}]");
	/* equal stacks are one id in the joint pool */
	assert_int_equal(both->kernels.v[0].call_stack, both->kernels.v[1].call_stack);
	tl_table_free(both);
}

static void concat_finds_a_storage_for_unlike_columns(void **state)
{
	(void)state;
	tl_table *t = everything(), *more = tl__table_new("more", NULL, 1), *joint;
	put_doubles(more, "i", (double[]){2.5});
	put_strings(more, "d", (const char *[]){"text"});
	put_values(more, "k", (const char *[]){"[5]"});
	put_ints(more, "s", (int64_t[]){8});
	put_ints(more, "b", (int64_t[]){EMPTY});
	assert_int_equal(tl__table_concat(&joint, t, more, NULL), 0);
	assert_int_equal(tl__table_own_values(joint, NULL), 0);
	tl_table_free(t);
	tl_table_free(more);
	expect_csv(joint, "i,d,b,s,v,k\n"
			  "1.0,0.5,False,x,\"(1,)\",\"[{'name': 'one', 'dur': 1.0, 'stream': 0, 'gpu_op_uid': 10}]\"\n"
			  ",1.5,False,,{'k': 2},[]\n"
			  "3.0,,True,z,,\"[{'name': 'two', 'dur': 2.0, 'stream': 1, 'gpu_op_uid': 20}, "
			  "{'name': 'three', 'dur': 3.0, 'stream': 1, 'gpu_op_uid': 30}]\"\n"
			  "2.5,text,,8,,\"(5,)\"\n");
	assert_int_equal(tl__table_column(joint, "i")->storage, TL_COL_DOUBLE);
	tl_table_free(joint);
}

static void own_values_copies_shared_values_once(void **state)
{
	(void)state;
	tl_arena arena = {0};
	const tl_value *shared, *scalar;
	char name[] = "borrowed";
	assert_int_equal(tl__value_parse(&arena, "[[1, 2], {\"k\": \"v\"}, \"\", []]", 28, true, &shared), 0);
	assert_int_equal(tl__value_parse(&arena, "123456789012345678901", 21, true, &scalar), 0);

	tl_table *t = tl__table_new("t", NULL, 4);
	tl_column *c = tl__table_add(t, "v", "", TL_COL_VALUE);
	c->val[0] = c->val[1] = shared;
	c->val[2] = scalar;
	/* the list is this table's, what it holds is not */
	tl_value parts[2] = {*shared, TL_VALUE_STRING(name, 8)};
	c->val[3] = tl__table_list(t, parts, 2, false);
	assert_int_equal(tl__table_own_values(t, NULL), 0);
	assert_int_equal(tl__table_own_values(t, NULL), 0); /* nothing left to do */
	tl__arena_free(&arena);
	memset(name, 'x', 8);

	assert_ptr_equal(c->val[0], c->val[1]);
	assert_ptr_equal(c->val[0]->items, c->val[3]->items[0].items);
	expect_text(t, "v", 0, "((1, 2), {'k': 'v'}, '', ())");
	expect_text(t, "v", 2, "123456789012345678901");
	expect_text(t, "v", 3, "[((1, 2), {'k': 'v'}, '', ()), 'borrowed']");
	size_t before = t->arena.total;
	assert_int_equal(tl__table_own_values(t, NULL), 0);
	assert_int_equal(t->arena.total, before);
	tl_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(take_selects_and_repeats),
		cmocka_unit_test(concat_joins_columns_of_other_pools),
		cmocka_unit_test(concat_takes_call_stacks_along),
		cmocka_unit_test(concat_finds_a_storage_for_unlike_columns),
		cmocka_unit_test(own_values_copies_shared_values_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
