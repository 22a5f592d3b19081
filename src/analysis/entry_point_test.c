/* SPDX-License-Identifier: MIT */
/* Entry points of call stacks: the rules of spec 02 section 5.5 one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "analysis/entry_point.h"

/* Finds in a stack of up to ten names, NULL behind the last. */
static tl_entry_point find(const char *operation, const char *const names[10])
{
	tl_value stack[10];
	size_t n = 0;
	for (; n < 10 && names[n]; n++)
		stack[n] = TL_VALUE_STRING(names[n], strlen(names[n]));
	return tl__entry_point(stack, n, operation);
}

#define EXPECT(way, at_op, at_frame, name, ...)                                       \
	do {                                                                          \
		tl_entry_point e_ = find(name, (const char *const[10]){__VA_ARGS__}); \
		assert_int_equal(e_.traversal, way);                                  \
		assert_int_equal(e_.operation, at_op);                                \
		assert_int_equal(e_.frame, at_frame);                                 \
	} while (0)
#define EXPECT_NOTHING(name, ...) EXPECT(TL_ENTRY_NOT_FOUND, 0, 0, name, __VA_ARGS__)

static void the_nearest_frame_above_that_is_no_wrapper(void **state)
{
	(void)state;
	EXPECT(TL_ENTRY_OUTWARD, 2, 1, "aten::add", "a.py(1): f", "b.py(2): g", "aten::add", "kernel");
	EXPECT(TL_ENTRY_OUTWARD, 3, 0, "aten::add", "a.py(1): f", "torch/_ops.py(3): __call__", "x.py(3): _call_impl",
	       "aten::add");
	/* only Python files are frames */
	EXPECT(TL_ENTRY_OUTWARD, 3, 0, "aten::add", "q.py", "aten::outer", "lib/c++", "aten::add");
	EXPECT_NOTHING("aten::add", "x.py(3): wrapper", "aten::add", "kernel");
	EXPECT_NOTHING("aten::add", "aten::add");
	EXPECT_NOTHING("aten::add", NULL);
}

static void a_frame_below_that_bears_the_name(void **state)
{
	(void)state;
	EXPECT(TL_ENTRY_INWARD, 1, 3, "aten::add", "a.py(1): x", "aten::add", "aten::add_", "m.py(3): my_Add");
	/* the function counts, not the path; the last function of several */
	EXPECT(TL_ENTRY_OUTWARD, 1, 0, "aten::add", "a.py(1): x", "aten::add", "add.py(3): other");
	EXPECT(TL_ENTRY_INWARD, 1, 2, "foo", "x/b.py(1): q", "foo", "k.py(1): m): foo");
	/* also a wrapper when it bears the name; but not what is above */
	EXPECT(TL_ENTRY_INWARD, 1, 2, "aten::add", "p.py(1): f", "aten::add", "torch/_ops.py(3): Add");
	EXPECT(TL_ENTRY_OUTWARD, 1, 0, "aten::add", "q.py(3): addfoo", "aten::add", "z.py(1): b");
}

static void the_last_of_several_operations(void **state)
{
	(void)state;
	EXPECT(TL_ENTRY_OUTWARD, 3, 2, "aten::add", "a.py(1): f", "aten::add", "b.py(1): g", "aten::add");
}

static void numbers_of_names_are_not_in_stacks(void **state)
{
	(void)state;
	EXPECT(TL_ENTRY_OUTWARD, 1, 0, "triton_poi_fused_add_3", "a.py(1): f", "triton_poi_fused_add");
	EXPECT(TL_ENTRY_OUTWARD, 1, 0, "op_1_22_x", "a.py(1): f", "op_x");
	/* the name itself goes first */
	EXPECT(TL_ENTRY_OUTWARD, 1, 0, "op_1", "a.py(1): f", "op_1", "b.py(1): g", "op");
	EXPECT_NOTHING("op_1", "a.py(1): f", "op_", "opx", "o", "op1");
	EXPECT_NOTHING("", "a.py(1): f");
}

static void wrappers(void **state)
{
	static const char *const yes[] = {
		"<built-in method x>",        "pybind11_builtins.y",         "nn.Module: Net.py",
		"a/torch/overrides.py(1): f", "torch/_inductor/x.py(1): f",  "x.py(3): wrapper",
		"x.py(3): m): wrapper",       "x.py(3): _call_impl",         "triton/backends/a.py(1): f",
		"torch/functional.py(3): f",  "x.py(1): __torch_function__",
	};
	static const char *const no[] = {
		"x.py(1): <built-in",           "x.py(3): wrapper2", "wrapper", "my nn.Module: a.py",
		"torch/nn/functional.py(3): f", "x.py(3): f",        ""};
	(void)state;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		assert_true(tl__is_wrapper_frame(yes[i]));
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		assert_false(tl__is_wrapper_frame(no[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_frame_above_that_is_no_wrapper),
		cmocka_unit_test(a_frame_below_that_bears_the_name),
		cmocka_unit_test(the_last_of_several_operations),
		cmocka_unit_test(numbers_of_names_are_not_in_stacks),
		cmocka_unit_test(wrappers),
	};
	return cmocka_run_group_tests_name("entry_point", tests, NULL, NULL);
}
