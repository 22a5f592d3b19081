/* SPDX-License-Identifier: MIT */
/* Models that a program registers on an analyser (model.h). */
#include <math.h>

#include "trace/trace_testing.h"
#include "tracelens/tracelens.h"

/* Two calls of my::op with equal arguments and one with others, 10 µs of kernel each; one aten::mm. */
static const char trace_text[] = "{\"traceEvents\":["
#define OP(name, at, dims, correlation)                                                                        \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" #at               \
	",\"dur\":30,\"args\":{"                                                                               \
	"\"Input Dims\":" dims ",\"Input type\":[\"c10::Half\",\"float\",\"Scalar\"],"                         \
	"\"Input Strides\":[[2,1],[1],[]],\"Concrete Inputs\":[\"\",\"\",\"0.25\"]}},"                         \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":" #at \
	".5,\"dur\":3,\"args\":{\"correlation\":" #correlation "}},"                                           \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k" #correlation "\",\"pid\":0,\"tid\":7,\"ts\":" #at      \
	".8,\"dur\":10,\"args\":{\"correlation\":" #correlation ",\"stream\":7}}"
	OP("my::op", 1000, "[[4,2],[3],[]]", 1) "," OP("my::op", 1100, "[[4,2],[3],[]]", 2) "," OP(
		"my::op", 1200, "[[8,2],[3],[]]", 3) "," OP("aten::mm", 1300, "[[4,2],[2,3],[]]", 4) "]}";

typedef struct fixture {
	tl_trace *trace;
	tl_tree *tree;
	tl_analyzer *a;
} fixture;

static fixture begin(void)
{
	fixture f;
	f.trace = load(trace_text);
	assert_int_equal(tl_tree_build(&f.tree, f.trace, NULL, NULL), 0);
	assert_int_equal(tl_analyzer_new(&f.a, f.tree, NULL, NULL), 0);
	return f;
}

static void end(fixture f)
{
	tl_analyzer_free(f.a);
	tl_tree_free(f.tree);
	tl_trace_free(f.trace);
}

static void cell(char out[256], const tl_table *table, size_t row, const char *column)
{
	ptrdiff_t c = tl_table_find_column(table, column);
	if (c < 0)
		fail_msg("no column '%s'", column);
	assert_true(row < tl_table_rows(table));
	tl_table_text(table, (size_t)c, row, out, 256);
}

static void expect(const tl_table *table, size_t row, const char *column, const char *expected)
{
	char text[256];
	cell(text, table, row, column);
	assert_string_equal(text, expected);
}

/* ---- what a model sees and says ---- */

static int full_model(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	int64_t dims[4], strides[4];
	double number;
	(void)err;
	++*(int *)user;
	assert_string_equal(tl_model_name(in), "my::op");
	assert_int_equal(tl_model_arg_count(in, TL_ARG_INPUT_DIMS), 3);
	assert_int_equal(tl_model_arg_count(in, TL_ARG_GRID), 0);
	assert_int_equal(tl_model_dims(in, 0, dims, 4), 2);
	assert_int_equal(tl_model_dims(in, 2, NULL, 0), 0);
	assert_int_equal(tl_model_dims(in, 3, NULL, 0), -1);
	assert_int_equal(tl_model_strides(in, 0, strides, 4), 2);
	assert_int_equal(strides[0], 2);
	assert_string_equal(tl_model_type(in, 1), "float");
	assert_null(tl_model_type(in, 9));
	assert_string_equal(tl_model_concrete(in, 2), "0.25");
	assert_null(tl_model_concrete(in, 3));
	assert_true(tl_model_number(in, 2, &number) && number == 0.25);
	assert_false(tl_model_number(in, 0, &number));
	assert_string_equal(tl_model_arg_json(in, TL_ARG_INPUT_TYPE), "[\"c10::Half\", \"float\", \"Scalar\"]");
	/* not declared: looks empty */
	assert_null(tl_model_kernel(in, 0));
	assert_null(tl_model_annotation(in));
	assert_null(tl_model_forward(in));
	assert_null(tl_model_extra_json(in, "x"));

	tl_model_param_ints(out, "shape", dims, 2);
	tl_model_param_int(out, "n", 1);
	tl_model_param_double(out, "half", 0.5);
	tl_model_param_bool(out, "yes", true);
	tl_model_param_text(out, "text", "a b");
	tl_model_param_text(out, "none", NULL);
	assert_int_equal(tl_model_param_json(out, "types", "[\"float\", null, [1, 2.5, true]]"), 0);
	tl_model_param_int(out, "n", dims[0] * dims[1]); /* again: replaces */
	assert_true(isnan(tl_model_cost_get(out, TL_COST_FLOPS)));
	tl_model_cost_set(out, TL_COST_FLOPS, 1e9 * (double)dims[0]);
	assert_true(tl_model_cost_get(out, TL_COST_FLOPS) == 1e9 * (double)dims[0]);
	tl_model_cost_set(out, TL_COST_BYTES, 1 << 20);
	tl_model_spec(out, "vector", tl_model_type_precision(tl_model_type(in, 0)));
	assert_int_equal(tl_model_type_bytes("c10::Half"), 2);
	assert_int_equal(tl_model_type_bytes(NULL), 0);
	assert_true(tl_model_ok(out));
	return 0;
}

static void a_model_is_asked_once_per_distinct_input(void **state)
{
	(void)state;
	fixture f = begin();
	int asked = 0;
	tl_table *table, *unified;
	tl_error err = TL_ERROR_INIT;
	const tl_model_desc model = {
		.name = "my::op", .category = "MY", .sheet = "My family", .eval = full_model, .user = &asked};
	assert_int_equal(tl_analyzer_register_model(f.a, &model, &err), 0);
	assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "My family", NULL, &err), 0);
	assert_int_equal(tl_table_rows(table), 3);
	expect(table, 0, "param: shape", "(4, 2)");
	expect(table, 2, "param: shape", "(8, 2)");
	expect(table, 0, "param: n", "8");
	expect(table, 0, "param: half", "0.5");
	expect(table, 0, "param: yes", "True");
	expect(table, 0, "param: text", "a b");
	expect(table, 0, "param: none", "");
	expect(table, 0, "param: types", "('float', None, (1, 2.5, True))");
	expect(table, 0, "GFLOPS", "4.0");
	expect(table, 2, "TFLOPS/s", "800.0"); /* 8e9 in 10 µs */
	expect(table, 0, "Data Moved (MB)", "1.0");
	tl_table_free(table);
	assert_int_equal(tl_analyzer_unified(&unified, f.a, NULL, &err), 0);
	expect(unified, 0, "op category", "MY");
	tl_table_free(unified);
	assert_int_equal(asked, 2);
	assert_string_equal(tl_analyzer_family_of(f.a, "my::op"), "My family");
	end(f);
}

static int nothing(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)user, (void)in, (void)out, (void)err;
	return 0;
}

static int model_with_broken_json(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)user, (void)in, (void)err;
	assert_int_equal(tl_model_param_json(out, "none", NULL), TL_EFORMAT);
	assert_int_equal(tl_model_param_json(out, "half", "[1, "), TL_EFORMAT);
	return 0;
}

static void a_parameter_that_is_no_json_is_an_error(void **state)
{
	(void)state;
	fixture f = begin();
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	const tl_model_desc model = {.name = "my::op", .sheet = "X", .eval = model_with_broken_json};
	assert_int_equal(tl_analyzer_register_model(f.a, &model, NULL), 0);
	assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "X", NULL, &err), TL_ECALLBACK);
	assert_non_null(strstr(err.message, "a parameter that is no JSON"));
	end(f);
}

static void what_is_left_open_comes_from_the_built_in_model(void **state)
{
	(void)state;
	fixture f = begin();
	const tl_model_desc mm = {.name = "aten::mm", .eval = nothing};
	assert_int_equal(tl_analyzer_register_model(f.a, &mm, NULL), 0);
	assert_string_equal(tl_analyzer_family_of(f.a, "aten::mm"), "GEMM");
	assert_string_equal(tl_analyzer_category_of(f.a, "aten::mm", NULL), "GEMM");
	tl_table *table;
	assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "GEMM", NULL, NULL), 0);
	assert_int_equal(tl_table_rows(table), 1);
	expect(table, 0, "GFLOPS", ""); /* it knows nothing, but it is a model */
	tl_table_free(table);
	end(f);
}

static int twice_the_built_in(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)user;
	if (tl_model_builtin(out, in, "aten::mm", err) < 0)
		return -1;
	tl_model_cost_set(out, TL_COST_FLOPS, 2 * tl_model_cost_get(out, TL_COST_FLOPS));
	return 0;
}

static void built_in_models_can_be_asked(void **state)
{
	(void)state;
	fixture f = begin();
	tl_table *table;
	const tl_model_desc mm = {.name = "aten::mm", .eval = twice_the_built_in};
	assert_int_equal(tl_analyzer_register_model(f.a, &mm, NULL), 0);
	assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "GEMM", NULL, NULL), 0);
	expect(table, 0, "GFLOPS", "9.6e-08"); /* 2 * 2 * 4 * 2 * 3 = 96 */
	expect(table, 0, "param: M", "4");
	tl_table_free(table);
	end(f);
}

static int no_such_built_in(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	return tl_model_builtin(out, in, user, err);
}

static void built_in_models_need_what_they_read(void **state)
{
	(void)state;
	static const struct {
		const char *name, *message;
	} wrong[] = {{"no::such", "there is no built-in model of 'no::such'"},
		     {"aten::mm", "does not declare: kernels"}};
	for (size_t i = 0; i < 2; i++) {
		fixture f = begin();
		tl_table *table;
		tl_error err = TL_ERROR_INIT;
		const tl_model_desc model = {
			.name = "my::op", .sheet = "X", .eval = no_such_built_in, .user = (void *)wrong[i].name};
		assert_int_equal(tl_analyzer_register_model(f.a, &model, NULL), 0);
		assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "X", NULL, &err), TL_ECALLBACK);
		assert_non_null(strstr(err.message, wrong[i].message));
		end(f);
	}
}

/* ---- failures ---- */

/* -1 is TL_ENOMEM, and what a callback returns whose author did not look that up. */
static int minus_one(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)in, (void)out;
	if (user)
		err->code = TL_ENOMEM;
	return -1;
}

static void minus_one_is_no_lack_of_memory(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		fixture f = begin();
		tl_table *table;
		tl_error err = TL_ERROR_INIT;
		const tl_model_desc model = {
			.name = "my::op", .sheet = "X", .eval = minus_one, .user = i ? (void *)&f : NULL};
		assert_int_equal(tl_analyzer_register_model(f.a, &model, NULL), 0);
		assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "X", NULL, &err),
				 i ? TL_ENOMEM : TL_ECALLBACK);
		assert_string_equal(err.message, i ? "out of memory" : "the model of 'my::op' failed");
		end(f);
	}
}

static int fails(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)in, (void)out;
	if (user) {
		snprintf(err->message, sizeof err->message, "%s", (const char *)user);
		err->code = TL_EIO;
	}
	return TL_EIO;
}

static void a_failing_model_ends_the_table_with_its_own_error(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		fixture f = begin();
		tl_table *table;
		tl_error err = TL_ERROR_INIT;
		const tl_model_desc model = {
			.name = "my::op", .sheet = "X", .eval = fails, .user = i ? (void *)"no data base" : NULL};
		assert_int_equal(tl_analyzer_register_model(f.a, &model, NULL), 0);
		assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "X", NULL, &err), TL_ECALLBACK);
		assert_null(table);
		assert_int_equal(err.code, TL_ECALLBACK);
		assert_string_equal(err.message, i ? "no data base" : "the model of 'my::op' failed");
		/* again, and in another table */
		assert_int_equal(tl_analyzer_unified(&table, f.a, NULL, &err), TL_ECALLBACK);
		assert_null(table);
		end(f);
	}
}

static int answers(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)in, (void)err;
	tl_model_param_int(out, "n", 1);
	tl_model_cost_set(out, TL_COST_FLOPS, 1e9);
	switch (*(const char *)user) {
	case 'd':
		return tl_model_decline(out);
	case 'f':
		return tl_model_fail(out, "makes no sense");
	case 'n':
		assert_int_equal(tl_model_cost_set(out, TL_COST_BYTES, -1), TL_EINVAL);
		assert_false(tl_model_ok(out));
		assert_int_equal(tl_model_cost_set(out, TL_COST_FLOPS, 1), 0); /* makes it no better */
		assert_false(tl_model_ok(out));
		return 0;
	case 'i':
		assert_int_equal(tl_model_cost_set(out, TL_COST_BYTES, (double)INFINITY), TL_EINVAL);
		return 0;
	default:
		return 0;
	}
}

static void declining_and_failing_leave_a_row_without_metrics(void **state)
{
	(void)state;
	static const char *const kinds[] = {"decline", "fail", "negative", "infinite"};
	for (size_t i = 0; i < 4; i++) {
		fixture f = begin();
		tl_table *table;
		const tl_model_desc model = {.name = "my::op", .sheet = "X", .eval = answers, .user = (void *)kinds[i]};
		assert_int_equal(tl_analyzer_register_model(f.a, &model, NULL), 0);
		assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "X", NULL, NULL), 0);
		assert_int_equal(tl_table_rows(table), 0);
		tl_table_free(table);
		assert_int_equal(tl_analyzer_unified(&table, f.a, NULL, NULL), 0);
		assert_int_equal(tl_table_rows(table), 4);
		expect(table, 0, "GFLOPS", "");
		expect(table, 0, "Kernel Time (µs)", "10.0");
		tl_table_free(table);
		end(f);
	}
}

static int ignore(void *user, const tl_item *item)
{
	(void)user, (void)item;
	return 0;
}

/* NULL where something is needed is an error, not a crash. */
static void nothing_is_no_argument(void **state)
{
	(void)state;
	fixture f = begin();
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_analyzer_register_model(f.a, NULL, &err), TL_EINVAL);
	assert_int_equal(tl_analyzer_register_model(f.a, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_analyzer_register_model(NULL, &(tl_model_desc){0}, NULL), TL_EINVAL);
	assert_int_equal(tl_analyzer_set_category(NULL, "a", "b", NULL), TL_EINVAL);
	assert_int_equal(tl_analyzer_set_category(f.a, NULL, "b", NULL), TL_EINVAL);
	assert_int_equal(tl_analyzer_set_category(f.a, "a", NULL, NULL), TL_EINVAL);
	assert_false(tl_model_builtin_at(0, NULL));
	assert_int_equal(tl_model_builtin(NULL, NULL, "aten::mm", NULL), TL_EINVAL);
	assert_int_equal(tl_model_evaluate(NULL, ignore, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_model_evaluate(&(tl_model_question){0}, ignore, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_model_evaluate(&(tl_model_question){.name = "aten::mm"}, NULL, NULL, NULL), TL_EINVAL);
	assert_false(tl_model_gemm_kernel(NULL, "x"));
	assert_false(tl_model_gemm_kernel(&(tl_gemm_name){0}, NULL));
	end(f);
}

static int too_many(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	(void)in, (void)err;
	char name[16];
	for (int i = 0; i < TL_MODEL_MAX_PARAMS; i++) {
		snprintf(name, sizeof name, "p%d", i);
		assert_int_equal(tl_model_param_int(out, name, i), 0);
	}
	if (*(const char *)user == 'm')
		assert_int_equal(tl_model_param_int(out, "one more", 1), TL_ELIMIT);
	else
		assert_int_equal(tl_model_param_int(out, "", 1), TL_EINVAL);
	return 0;
}

static void failing_setters_are_not_forgotten(void **state)
{
	(void)state;
	static const char *const kinds[] = {"many", "nameless"};
	static const char *const messages[] = {"too many parameters", "a parameter without a name"};
	for (size_t i = 0; i < 2; i++) {
		fixture f = begin();
		tl_table *table;
		tl_error err = TL_ERROR_INIT;
		const tl_model_desc model = {
			.name = "my::op", .sheet = "X", .eval = too_many, .user = (void *)kinds[i]};
		assert_int_equal(tl_analyzer_register_model(f.a, &model, NULL), 0);
		assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "X", NULL, &err), TL_ECALLBACK);
		assert_non_null(strstr(err.message, messages[i]));
		end(f);
	}
}

static void registrations_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	fixture f = begin();
	const tl_model_desc wrong[] = {
		{.name = NULL, .eval = nothing},
		{.name = "", .eval = nothing},
		{.name = "x"},
		{.name = "x", .eval = nothing, .category = ""},
		{.name = "x", .eval = nothing, .bwd_category = ""},
		{.name = "x", .eval = nothing, .sheet = ""},
		{.name = "x", .eval = nothing, .sheet = "a/b"},
		{.name = "x", .eval = nothing, .sheet = ".."},
		{.name = "x", .eval = nothing, .sheet = "[x]"},
		{.name = "x", .eval = nothing, .reads = 1U << 20},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		tl_error err = TL_ERROR_INIT;
		assert_int_equal(tl_analyzer_register_model(f.a, &wrong[i], &err), TL_EINVAL);
		assert_true(err.message[0]);
	}
	assert_int_equal(tl_analyzer_set_category(f.a, NULL, "x", NULL), TL_EINVAL);
	assert_int_equal(tl_analyzer_set_category(f.a, "x", "", NULL), TL_EINVAL);
	tl_table *table;
	assert_int_equal(tl_analyzer_unified(&table, f.a, NULL, NULL), 0);
	tl_table_free(table);
	tl_error err = TL_ERROR_INIT;
	const tl_model_desc late = {.name = "x", .eval = nothing};
	assert_int_equal(tl_analyzer_register_model(f.a, &late, &err), TL_EINVAL);
	assert_non_null(strstr(err.message, "before the first table"));
	assert_int_equal(tl_analyzer_set_category(f.a, "x", "y", &err), TL_EINVAL);
	end(f);
}

static void families_have_a_limit(void **state)
{
	(void)state;
	fixture f = begin();
	char name[32];
	int code = 0, n = 0;
	for (; code == 0 && n < 1000; n++) {
		snprintf(name, sizeof name, "family %d", n);
		const tl_model_desc model = {.name = "my::op", .sheet = name, .eval = nothing};
		code = tl_analyzer_register_model(f.a, &model, NULL);
	}
	assert_int_equal(code, TL_ELIMIT);
	tl_table *table;
	snprintf(name, sizeof name, "family %d", n - 2);
	assert_int_equal(tl_analyzer_family_metrics(&table, f.a, name, NULL, NULL), 0);
	assert_int_equal(tl_table_rows(table), 3); /* the last registration of a name counts */
	tl_table_free(table);
	end(f);
}

/* ---- hooks of a report ---- */

static int hook_that_registers(void *user, tl_analyzer *a, tl_error *err)
{
	const tl_model_desc model = {
		.name = "my::op", .category = "MY", .sheet = "Mine", .eval = full_model, .user = user};
	return tl_analyzer_register_model(a, &model, err);
}

static int hook_that_edits(void *user, tl_tree *tree, tl_error *err)
{
	tl_edit *edit;
	(void)user;
	if (tl_edit_begin(&edit, tree, err) < 0)
		return -1;
	if (tl_edit_rename(edit, 9, "my::mm", err) < 0 || tl_edit_commit(edit, err) < 0) {
		tl_edit_abort(edit);
		return -1;
	}
	return 0;
}

static int hook_that_fails(void *user, tl_tree *tree, tl_error *err)
{
	(void)tree;
	if (user)
		snprintf(err->message, sizeof err->message, "%s", (const char *)user);
	return user ? 7 : -1; /* the latter, without a word, is a failure as any other */
}

static void a_report_calls_hooks(void **state)
{
	(void)state;
	int asked = 0;
	const tl_hook first = {.tree = hook_that_edits}, second = {.analyzer = hook_that_registers, .user = &asked};
	const tl_hook *hooks[] = {&first, &second};
	tl_report_options options = tl_report_options_default();
	options.hooks = hooks;
	options.n_hooks = 2;
	tl_trace *trace = load(trace_text);
	tl_report *report;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_report_pytorch(&report, trace, &options, &err), 0);
	assert_non_null(tl_report_find(report, "Mine"));
	assert_null(tl_report_find(report, "GEMM")); /* there is no aten::mm any more */
	assert_int_equal(asked, 2);
	tl_report_free(report);
	tl_hook failing = {.tree = hook_that_fails};
	hooks[1] = &failing;
	for (int i = 0; i < 2; i++) {
		failing.user = i ? (void *)"as I said" : NULL;
		err = (tl_error)TL_ERROR_INIT;
		assert_int_equal(tl_report_pytorch(&report, trace, &options, &err), TL_ECALLBACK);
		assert_null(report);
		assert_string_equal(err.message, i ? "as I said" : "a hook of the report failed");
		assert_int_equal(err.code, TL_ECALLBACK);
	}
	assert_int_equal(tl_report_pytorch(&report, trace, &options, NULL), TL_ECALLBACK);
	tl_trace_free(trace);
}

static int model_with_all_costs(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	static const tl_model_cost costs[] = {TL_COST_FLOPS, TL_COST_BYTES, TL_COST_FLOPS_BWD, TL_COST_BYTES_BWD};
	(void)in, (void)err;
	for (size_t i = 0; i < 4; i++) {
		assert_true(isnan(tl_model_cost_get(out, costs[i])));
		assert_int_equal(tl_model_cost_set(out, costs[i], 1.5 + (double)i), 0);
	}
	for (size_t i = 0; i < 4; i++)
		assert_true(tl_model_cost_get(out, costs[i]) == 1.5 + (double)i);
	assert_int_equal(tl_model_cost_set(out, (tl_model_cost)4, 1), TL_EINVAL);
	assert_true(isnan(tl_model_cost_get(out, (tl_model_cost)4)));
	assert_true(tl_model_ok(out));
	++*(int *)user;
	return 0;
}

static void costs_of_both_passes_are_kept_apart(void **state)
{
	(void)state;
	fixture f = begin();
	tl_table *table;
	int asked = 0;
	const tl_model_desc model = {.name = "my::op", .sheet = "X", .eval = model_with_all_costs, .user = &asked};
	assert_int_equal(tl_analyzer_register_model(f.a, &model, NULL), 0);
	assert_int_equal(tl_analyzer_family_metrics(&table, f.a, "X", NULL, NULL), 0);
	assert_int_equal(asked, 2); /* distinct inputs */
	tl_table_free(table);
	end(f);
}

static int careless_model(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	int64_t dims[4] = {0};
	(void)user, (void)err;
	(void)tl_model_dims(in, 0, dims, 4);
	(void)tl_model_arg_json(in, TL_ARG_INPUT_TYPE);
	tl_model_param_ints(out, "shape", dims, 2);
	tl_model_param_text(out, "kernel", tl_model_kernel(in, 0));
	tl_model_param_json(out, "json", "[[\"a\"], null]");
	tl_model_cost_set(out, TL_COST_BYTES, (double)dims[0]);
	tl_model_spec(out, "vector", tl_model_type_precision(tl_model_type(in, 0)));
	return 0;
}

static int hook_of_a_careless_model(void *user, tl_analyzer *a, tl_error *err)
{
	const tl_model_desc model = {.name = "my::op",
				     .category = "MY",
				     .bwd_category = "MY_bwd",
				     .sheet = "Mine",
				     .reads = TL_MODEL_READS_ARGS | TL_MODEL_READS_KERNELS,
				     .eval = careless_model,
				     .user = user};
	int code = tl_analyzer_register_model(a, &model, err);
	return code < 0 ? code : tl_analyzer_set_category(a, "aten::mm", "MM", err);
}

static void running_out_of_memory_is_an_error(void **state)
{
	(void)state;
	tl_trace *trace = load(trace_text);
	int code = TL_ENOMEM;
	for (int64_t n = 0; code == TL_ENOMEM; n += 1 + n / 200) {
		const tl_hook hook = {.analyzer = hook_of_a_careless_model};
		const tl_hook *hooks[] = {&hook};
		tl_report_options options = tl_report_options_default();
		options.hooks = hooks;
		options.n_hooks = 1;
		tl_report *report = NULL;
		tl_error err = TL_ERROR_INIT;
		tl__alloc_fail_after(n);
		code = tl_report_pytorch(&report, trace, &options, &err);
		tl__alloc_fail_after(-1);
		if (code != 0)
			assert_int_equal(code, TL_ENOMEM);
		tl_report_free(report);
	}
	tl_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_asked_once_per_distinct_input),
		cmocka_unit_test(a_parameter_that_is_no_json_is_an_error),
		cmocka_unit_test(what_is_left_open_comes_from_the_built_in_model),
		cmocka_unit_test(built_in_models_can_be_asked),
		cmocka_unit_test(built_in_models_need_what_they_read),
		cmocka_unit_test(minus_one_is_no_lack_of_memory),
		cmocka_unit_test(a_failing_model_ends_the_table_with_its_own_error),
		cmocka_unit_test(nothing_is_no_argument),
		cmocka_unit_test(declining_and_failing_leave_a_row_without_metrics),
		cmocka_unit_test(costs_of_both_passes_are_kept_apart),
		cmocka_unit_test(failing_setters_are_not_forgotten),
		cmocka_unit_test(registrations_that_make_no_sense_are_refused),
		cmocka_unit_test(families_have_a_limit),
		cmocka_unit_test(a_report_calls_hooks),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
