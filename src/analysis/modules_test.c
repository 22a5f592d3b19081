/* SPDX-License-Identifier: MIT */
/* GPU time by nn.Module: unions, remainders, the form of the printed tree. */
#include <math.h>

#include "analysis/analysis_fixture.h"
#include "util/buf.h"

static int collect(void *user, const char *text, size_t n)
{
	tl__buf_put(user, text, n);
	return 0;
}

static int stop(void *user, const char *text, size_t n)
{
	(void)user, (void)text, (void)n;
	return 1;
}

/* A launch at `at` on the thread of the modules, and its kernel. */
static void launch(tl_store *s, double at, double start, double dur, tl_id id)
{
	tl_fixture_launch(s, "launch", 1, 1, at, 0.5, id);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "k", 0, 7 + id % 2, start, dur, id);
}

enum { OUTER, ATTENTION, LINEAR, DROPOUT, MLP, SECOND };

/*
 * Outer [0, 100] { Attention [10, 40] { Linear [12, 20] }, Dropout [45, 50], MLP [60, 80] }, Second [200, 210].
 * Kernels: Linear 100-110; Attention itself 105-125 (overlaps by 5); MLP 200-230.25; Outer itself 400-403; none below
 * Dropout; Second 500-501.
 */
static tl_store *model(void)
{
	static const struct {
		const char *name;
		double start, dur;
	} modules[] = {{"nn.Module: Outer_0", 0, 100},  {"nn.Module: Attention_0", 10, 30},
		       {"nn.Module: Linear_12", 12, 8}, {"nn.Module: Dropout_0", 45, 5},
		       {"nn.Module: MLP_0", 60, 20},    {"nn.Module: Second_0", 200, 10}};
	tl_store *s = tl__store_new();
	for (size_t i = 0; i < 6; i++)
		tl_fixture_python(s, modules[i].name, 1, 1, modules[i].start, modules[i].dur, TL_ID_NONE, TL_ID_NONE);
	launch(s, 13, 100, 10, 1);
	launch(s, 30, 105, 20, 2);
	launch(s, 61, 200, 30.25, 3);
	launch(s, 90, 400, 3, 4);
	launch(s, 201, 500, 1, 5);
	return s;
}

static void expect_module(const tl_modules *m, size_t i, tl_row event, size_t parent, size_t children, double us,
			  double remainder_us)
{
	const tl_module *module = tl_modules_get(m, i);
	assert_non_null(module);
	assert_int_equal(module->event, event);
	assert_int_equal(module->parent, parent);
	assert_int_equal(module->children, children);
	assert_int_equal(module->gpu_time, tl_fixture_time(us));
	assert_int_equal(module->remainder, tl_fixture_time(remainder_us));
}

static void times_are_unions(void **state)
{
	(void)state;
	fixture f;
	tl_modules *m;
	fixture_open_frames(&f, model(), true, NULL);
	assert_int_equal(tl_modules_new(&m, f.a, NULL, 0, SIZE_MAX, NULL), 0);
	assert_int_equal(tl_modules_count(m), 6);
	expect_module(m, 0, OUTER, SIZE_MAX, 3, 25 + 30.25 + 3, 3);
	expect_module(m, 1, ATTENTION, 0, 1, 25, 20); /* 100-125; its own kernel 105-125 */
	expect_module(m, 2, LINEAR, 1, 0, 10, 0);
	expect_module(m, 3, DROPOUT, 0, 0, 0, 0); /* [01-M1]: no GPU work is no failure */
	expect_module(m, 4, MLP, 0, 0, 30.25, 0);
	expect_module(m, 5, SECOND, SIZE_MAX, 0, 1, 0);
	assert_null(tl_modules_get(m, 6));
	tl_modules_free(m);
	fixture_close(&f);
}

static void expect_print(const fixture *f, const tl_row *roots, size_t n, size_t depth, const char *expected)
{
	tl_modules *m;
	tl_buf text = {0};
	assert_int_equal(tl_modules_new(&m, f->a, roots, n, depth, NULL), 0);
	assert_int_equal(tl_modules_print(m, collect, &text, NULL), 0);
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
	tl_modules_free(m);
}

/* Names, dotted leaders up to one column, five dots at least; the heading two columns to the left. */
static void the_printed_tree(void **state)
{
	(void)state;
	static const tl_row outer[] = {OUTER}, attention[] = {ATTENTION}, leaf[] = {DROPOUT};
	fixture f;
	fixture_open_frames(&f, model(), true, NULL);
	/* the longest line has five dots: the one of what belongs to no child of Attention_0 */
	expect_print(&f, outer, 1, SIZE_MAX,
		     "                                      (GPU Time μs)\n"
		     "└── nn.Module: Outer_0 ................ (58.25)\n"
		     "    ├── nn.Module: Attention_0 ........ (25.00)\n"
		     "    │   ├── nn.Module: Linear_12 ...... (10.00)\n"
		     "    │   └── Non-nn.Module GPU Ops ..... (20.00)\n"
		     "    ├── nn.Module: Dropout_0 .......... (0.00)\n"
		     "    ├── nn.Module: MLP_0 .............. (30.25)\n"
		     "    └── Non-nn.Module GPU Ops ......... (3.00)\n");
	expect_print(&f, attention, 1, 0,
		     "                               (GPU Time μs)\n"
		     "└── nn.Module: Attention_0 ..... (25.00)\n" +
			     0);
	expect_print(&f, leaf, 1, SIZE_MAX,
		     "                             (GPU Time μs)\n"
		     "└── nn.Module: Dropout_0 ..... (0.00)\n" +
			     0);
	/* no children shown: then no remainder of them either */
	expect_print(&f, NULL, 0, 0,
		     "                            (GPU Time μs)\n"
		     "├── nn.Module: Outer_0 ...... (58.25)\n"
		     "└── nn.Module: Second_0 ..... (1.00)\n" +
			     0);
	fixture_close(&f);
}

static void the_json(void **state)
{
	(void)state;
	fixture f;
	tl_modules *m;
	tl_buf text = {0};
	fixture_open_frames(&f, model(), true, NULL);
	assert_int_equal(tl_modules_new(&m, f.a, NULL, 0, SIZE_MAX, NULL), 0);
	assert_int_equal(tl_modules_json(m, collect, &text, NULL), 0);
	assert_string_equal(
		tl__buf_text(&text),
		"[\n{\"UID\":0,\"name\":\"nn.Module: Outer_0\",\"gpu_time_us\":58.25,\"remainder_us\":3,\"children\":["
		"\n{\"UID\":1,\"name\":\"nn.Module: Attention_0\",\"gpu_time_us\":25,\"remainder_us\":20,\"children\":["
		"\n{\"UID\":2,\"name\":\"nn.Module: "
		"Linear_12\",\"gpu_time_us\":10,\"remainder_us\":null,\"children\":[]}]},"
		"\n{\"UID\":3,\"name\":\"nn.Module: "
		"Dropout_0\",\"gpu_time_us\":0,\"remainder_us\":null,\"children\":[]},"
		"\n{\"UID\":4,\"name\":\"nn.Module: "
		"MLP_0\",\"gpu_time_us\":30.25,\"remainder_us\":null,\"children\":[]}]},"
		"\n{\"UID\":5,\"name\":\"nn.Module: "
		"Second_0\",\"gpu_time_us\":1,\"remainder_us\":null,\"children\":[]}]\n");
	tl_modules_free(m);
	tl__buf_clear(&text);
	assert_int_equal(tl_modules_new(&m, f.a, (tl_row[]){0}, 0, SIZE_MAX, NULL), 0); /* no roots: nothing */
	assert_int_equal(tl_modules_json(m, collect, &text, NULL), 0);
	assert_string_equal(tl__buf_text(&text), "[]\n");
	tl_modules_free(m);
	tl__buf_free(&text);
	fixture_close(&f);
}

static void the_table(void **state)
{
	(void)state;
	fixture f;
	tl_modules *m;
	tl_table *table;
	fixture_open_frames(&f, model(), true, NULL);
	assert_int_equal(tl_modules_new(&m, f.a, NULL, 0, 1, NULL), 0);
	assert_int_equal(tl_modules_table(&table, m, NULL), 0);
	tl_modules_free(m);
	fixture_close(&f); /* the table stands alone */
	assert_int_equal(tl_table_rows(table), 5);
	expect_text(table, 1, "name", "nn.Module: Attention_0");
	expect_number(table, 1, "depth", 1);
	expect_number(table, 1, "parent UID", OUTER);
	expect_number(table, 1, "GPU Time (µs)", 25);
	expect_number(table, 1, "Non-nn.Module GPU Time (µs)", 20); /* its child is there, though not shown */
	expect_empty(table, 0, "parent UID");
	expect_empty(table, 2, "Non-nn.Module GPU Time (µs)");
	tl_table_free(table);
}

static void bad_use_is_answered(void **state)
{
	(void)state;
	fixture f;
	tl_modules *m;
	tl_error err = TL_ERROR_INIT;
	fixture_open_frames(&f, model(), true, NULL);
	static const tl_row wrong[] = {6, 999, TL_ROW_NONE};
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(tl_modules_new(&m, f.a, &wrong[i], 1, SIZE_MAX, &err), TL_EINVAL);
		assert_null(m);
		assert_non_null(strstr(err.message, "not an nn.Module"));
	}
	assert_int_equal(tl_modules_new(&m, f.a, NULL, 0, SIZE_MAX, NULL), 0);
	assert_int_equal(tl_modules_print(m, stop, NULL, &err), TL_ECALLBACK);
	assert_int_equal(tl_modules_json(m, stop, NULL, &err), TL_ECALLBACK);
	tl_modules_free(m);
	tl_modules_free(NULL);
	fixture_close(&f);
	fixture_open_frames(&f, model(), false, NULL);
	assert_int_equal(tl_modules_new(&m, f.a, NULL, 0, SIZE_MAX, &err), TL_EINVAL);
	assert_non_null(strstr(err.message, "Python frames"));
	fixture_close(&f);
}

/* As many levels as there are modules, each with a kernel of its own. */
static void deep_modules(void **state)
{
	(void)state;
	enum { DEPTH = 30000 };
	fixture f;
	tl_modules *m;
	tl_store *s = tl__store_new();
	for (int i = 0; i < DEPTH; i++)
		tl_fixture_python(s, "nn.Module: M", 1, 1, i, 3.0 * DEPTH - 2 * i, TL_ID_NONE, TL_ID_NONE);
	for (int i = 0; i < DEPTH; i++) {
		tl_fixture_launch(s, "launch", 1, 1, 2.0 * DEPTH - i - 1 + 0.25, 0.5, (tl_id)(DEPTH - i));
		tl_fixture_gpu(s, TL_KIND_KERNEL, "k", 0, 7, 4.0 * DEPTH + i, 1, (tl_id)(DEPTH - i));
	}
	fixture_open_frames(&f, s, true, NULL);
	assert_int_equal(tl_modules_new(&m, f.a, NULL, 0, SIZE_MAX, NULL), 0);
	assert_int_equal(tl_modules_count(m), DEPTH);
	expect_module(m, 0, 0, SIZE_MAX, 1, DEPTH, tl_modules_get(m, 0)->remainder == 0 ? 0 : 1);
	tl_time sum = tl_modules_get(m, DEPTH - 1)->gpu_time;
	for (size_t i = 0; i + 1 < DEPTH; i++)
		sum += tl_modules_get(m, i)->remainder;
	assert_int_equal(sum, tl_fixture_time(DEPTH));
	tl_buf text = {0};
	assert_int_equal(tl_modules_json(m, collect, &text, NULL), 0);
	assert_true(text.n > 70 * (size_t)DEPTH);
	tl__buf_free(&text);
	tl_modules_free(m);
	fixture_close(&f);
}

static int everything(void *analyzer)
{
	tl_modules *m;
	tl_table *table = NULL;
	tl_buf text = {0};
	int code = tl_modules_new(&m, analyzer, NULL, 0, SIZE_MAX, NULL);
	if (code < 0)
		return code;
	code = tl_modules_print(m, collect, &text, NULL);
	if (code == 0)
		code = tl_modules_json(m, collect, &text, NULL);
	if (code == 0)
		code = tl_modules_table(&table, m, NULL);
	tl_table_free(table);
	tl_modules_free(m);
	if (code == 0 && text.failed) /* the receiver's memory, not the library's */
		code = TL_ENOMEM;
	tl__buf_free(&text);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	fixture f;
	fixture_open_frames(&f, model(), true, NULL);
	assert_true(fail_each_allocation(everything, f.a) > 10);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_unions),
		cmocka_unit_test(the_printed_tree),
		cmocka_unit_test(the_json),
		cmocka_unit_test(the_table),
		cmocka_unit_test(bad_use_is_answered),
		cmocka_unit_test(deep_modules),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
