/* SPDX-License-Identifier: MIT */
/*
 * Walks a file of worked examples of operation models (one JSON object a line: arguments, and the parameters, FLOPs,
 * bytes and compute spec of the reference). Where we deliberately differ, `deviations` says so, with the fault of
 * the reference and the right value. The file lies outside the project; without it the test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/args.h"
#include "perf/gemm.h"
#include "perf/triton.h"
#include "trace/corpus_fixture.h"
#include "util/buf.h"

typedef struct deviation {
	int id;
	const char *field, *right, *fault;
} deviation;

#include "perf/examples_deviations.h"

enum { N_DEVIATIONS = sizeof deviations / sizeof *deviations };

static bool used[N_DEVIATIONS];
static int failures, checked;

/* Compares one field of an example with what we say, after the deviations. */
static void check(int id, const char *op, const char *field, const char *expected, const char *actual)
{
	const char *fault = NULL;
	for (size_t i = 0; i < N_DEVIATIONS; i++) {
		if (deviations[i].id != id || strcmp(deviations[i].field, field))
			continue;
		used[i] = true;
		fault = deviations[i].fault;
		if (!strcmp(expected, deviations[i].right)) {
			print_error("#%d %s %s: listed as a deviation but equal\n", id, op, field);
			failures++;
		}
		expected = deviations[i].right;
	}
	checked++;
	if (strcmp(expected, actual)) {
		print_error("#%d %s %s: expected %s%s%s, got %s\n", id, op, field, expected, fault ? ", fault " : "",
			    fault ? fault : "", actual);
		failures++;
	}
}

static const char *text_of(tl_buf *buf, const tl_value *value)
{
	tl__buf_clear(buf);
	tl__value_str(buf, value);
	return tl__buf_text(buf);
}

static const char *cost_text(tl_buf *buf, const tl_perf_cost *cost)
{
	static const char *const names[] = {[TL_PERF_NOT_MODELLED] = "not modelled", [TL_PERF_FAILED] = "failed"};
	if (cost->status != TL_PERF_OK)
		return names[cost->status];
	if (!cost->known)
		return "unknown";
	tl_value v = cost->integral ? TL_VALUE_INT((int64_t)cost->value) : TL_VALUE_DOUBLE(cost->value);
	return text_of(buf, &v);
}

/* "NotImplementedError" and a missing method mean "not modelled", every other exception "failed". */
static const char *raised(const char *error)
{
	return !strcmp(error, "NotImplementedError") || !strcmp(error, "absent") ? "not modelled" : "failed";
}

static void check_cost(int id, const tl_value *line, const char *op, const char *field, const tl_perf_cost *cost)
{
	tl_buf expected = {0}, actual = {0};
	const char *error = tl__value_text(tl__value_get(tl__value_get(line, "raises"), field));
	const tl_value *value = tl__value_get(line, field);
	const char *text = error                                ? raised(error)
			   : !value || value->kind == TL_V_NONE ? "unknown"
								: text_of(&expected, value);
	check(id, op, field, text, cost_text(&actual, cost));
	tl__buf_free(&expected);
	tl__buf_free(&actual);
}

static void check_params(int id, const tl_value *line, const char *op, const tl_perf_result *result)
{
	const tl_value *params = tl__value_get(line, "params_str");
	tl_buf names = {0}, expected = {0}, actual = {0};
	for (uint32_t i = 0; params && i < params->n; i++)
		tl__buf_printf(&names, "%s ", params->items[2 * i].s);
	for (size_t i = 0; i < result->n_params; i++)
		tl__buf_printf(&actual, "%s ", result->params[i].name);
	check(id, op, "parameters", tl__buf_text(&names), tl__buf_text(&actual));
	for (size_t i = 0; i < result->n_params; i++) {
		const char *name = result->params[i].name;
		const tl_value *value = tl__value_get(params, name);
		if (value)
			check(id, op, name, text_of(&expected, value), text_of(&actual, &result->params[i].value));
	}
	tl__buf_free(&names);
	tl__buf_free(&expected);
	tl__buf_free(&actual);
}

static const char *status_name(int status)
{
	return status == TL_PERF_OK ? "ok" : status == TL_PERF_NOT_MODELLED ? "not modelled" : "failed";
}

static const tl_value *list_or_null(const tl_value *args, const char *key)
{
	const tl_value *v = tl__value_get(args, key);
	return v && v->kind != TL_V_NONE ? v : NULL;
}

#define MAX_KERNELS 64

typedef struct event {
	tl_perf_input in;
	const char *kernels[MAX_KERNELS];
	int64_t sequence; /* -1: none */
} event;

static void read_event(event *out, const tl_value *line)
{
	const tl_value *args = tl__value_get(line, "args"), *kernels = tl__value_get(line, "kernel_names");
	*out = (event){.sequence = -1};
	out->in.name = tl__value_text(tl__value_get(line, "op"));
	out->in.dims = list_or_null(args, "Input Dims");
	out->in.types = list_or_null(args, "Input type");
	out->in.strides = list_or_null(args, "Input Strides");
	out->in.concrete = list_or_null(args, "Concrete Inputs");
	out->in.output_types = list_or_null(args, "Output type");
	out->in.annotation = tl__value_text(tl__value_get(tl__value_get(line, "event"), "annotation"));
	tl__value_int(tl__value_get(args, "Sequence number"), &out->sequence);
	for (size_t i = 0; i < tl__value_count(kernels) && i < MAX_KERNELS; i++)
		out->kernels[out->in.n_kernels++] = tl__arg_text(kernels, i);
}

static void check_op(int id, const tl_value *line, const tl_value *before, tl_arena *arena)
{
	const char *op = tl__value_text(tl__value_get(line, "op"));
	const tl_perf_model *model = tl__perf_model(op, strlen(op));
	event e, forward;
	tl_perf_result result;

	if (!strncmp(op, "jax_", 4))
		return; /* models of XLA events are another module's */
	if (!strcmp(op, "vllm::unified_attention_with_output"))
		return; /* examples of a class that the reference itself never uses */
	assert_non_null(model);
	read_event(&e, line);
	e.in.kernels = e.kernels;
	if (before && (model->reads & TL_READS_FORWARD)) {
		read_event(&forward, before);
		if (forward.sequence >= 0 && forward.sequence == e.sequence)
			e.in.forward = &forward.in;
	}
	assert_int_equal(model->eval(&e.in, arena, &result), 0);

	const char *error = tl__value_text(tl__value_get(line, "error"));
	const char *flops = tl__value_text(tl__value_get(tl__value_get(line, "raises"), "flops"));
	const tl_value *params = tl__value_get(line, "params_str");
	if (!error && flops && !strcmp(flops, "NotImplementedError") && params && !params->n)
		error = flops; /* nothing modelled: the same for us as a refusal when constructed */
	check(id, op, "status", error ? raised(error) : "ok", status_name(result.status));
	if (result.status == TL_PERF_FAILED)
		assert_non_null(result.why);
	if (result.status != TL_PERF_OK)
		return;

	tl_buf spec = {0};
	if (result.maf && result.precision)
		tl__buf_printf(&spec, "%s_%s", result.maf, result.precision);
	const char *expected = tl__value_text(tl__value_get(line, "compute_spec"));
	check(id, op, "compute_spec", expected ? expected : "", tl__buf_text(&spec));
	tl__buf_free(&spec);
	check_params(id, line, op, &result);
	check_cost(id, line, op, "flops", &result.flops);
	check_cost(id, line, op, "bytes", &result.bytes);
	check_cost(id, line, op, "flops_bwd", &result.flops_bwd);
	check_cost(id, line, op, "bytes_bwd", &result.bytes_bwd);
}

static const char *or_none(const char *text)
{
	return text ? text : "None";
}

static void check_map(int id, const tl_value *line)
{
	const char *op = tl__value_text(tl__value_get(line, "op"));
	const char *module = tl__value_text(tl__value_get(line, "module"));
	if (!strcmp(module, "jax"))
		return;
	check(id, op, "registry_category", tl__value_text(tl__value_get(line, "registry_category")),
	      tl__perf_category(op, strlen(op), NULL));
	const tl_perf_model *model = tl__perf_model_exact(op, strlen(op));
	if (!strcmp(module, "category_only"))
		return; /* [07-21]: one of them has a model all the same */
	assert_non_null(model);
	check(id, op, "category", tl__value_text(tl__value_get(line, "category")), model->category);
	check(id, op, "bwd_category", or_none(tl__value_text(tl__value_get(line, "bwd_category"))),
	      or_none(model->bwd_category));
	check(id, op, "sheet", tl__value_text(tl__value_get(line, "sheet")), model->sheet);
}

static void check_categorize(int id, const tl_value *line)
{
	const char *op = tl__value_text(tl__value_get(line, "op"));
	const char *kernel = tl__arg_text(tl__value_get(line, "kernel_names"), 0);
	check(id, op, "result", tl__value_text(tl__value_get(line, "result")),
	      tl__perf_category(op, strlen(op), kernel));
}

static double number(const tl_value *record, const char *key)
{
	double out = NAN;
	tl__to_double(tl__value_get(record, key), &out);
	return out;
}

static void check_close(int id, const char *op, const char *field, double expected, double actual)
{
	char a[64], b[64];
	bool same = fabs(expected - actual) <= 1e-9 * fabs(expected);
	snprintf(a, sizeof a, "%.17g", expected);
	snprintf(b, sizeof b, "%.17g", actual);
	check(id, op, field, a, same ? a : b);
}

static void check_roofline(int id, const tl_value *line, tl_arena *arena)
{
	const char *op = tl__value_text(tl__value_get(line, "op"));
	const tl_value *metrics = tl__value_get(line, "metrics");
	tl_arch *arch;
	const tl_perf_model *model = tl__perf_model(op, strlen(op));
	event e;
	tl_perf_result result;

	assert_int_equal(tl_arch_find(&arch, tl__value_text(tl__value_get(line, "arch")), NULL), 0);
	assert_non_null(model);
	read_event(&e, line);
	e.in.kernels = e.kernels;
	assert_int_equal(model->eval(&e.in, arena, &result), 0);
	assert_int_equal(result.status, TL_PERF_OK);
	check_close(id, op, "GFLOPS", number(metrics, "GFLOPS"), result.flops.value / 1e9);
	if (result.bytes.known)
		check_close(id, op, "Data Moved (MB)", number(metrics, "Data Moved (MB)"),
			    result.bytes.value / 1048576);

	char spec[64] = "";
	tl_roofline roofline;
	if (result.maf && result.precision)
		snprintf(spec, sizeof spec, "%s_%s", result.maf, result.precision);
	check(id, op, "Compute Spec", tl__value_text(tl__value_get(metrics, "Compute Spec")), spec);
	bool told = tl__roofline(&roofline, arch, spec, result.flops.value,
				 result.bytes.known ? &result.bytes.value : NULL);
	const char *bound = tl__value_text(tl__value_get(metrics, "Roofline Bound"));
	check(id, op, "Roofline Bound", bound ? bound : "",
	      !told                    ? ""
	      : roofline.compute_bound ? "COMPUTE_BOUND"
				       : "MEMORY_BOUND");
	if (told)
		check_close(id, op, "Roofline Time", number(metrics, "Roofline Time (\xc2\xb5s)"), roofline.time_us);
	tl_arch_free(arch);
}

static const char *flag(int value)
{
	return value < 0 ? "None" : value ? "True" : "False";
}

static void check_gemm_name(int id, const char *name, const tl_value *result)
{
	tl_gemm_kernel kernel;
	tl_buf expected = {0}, actual = {0};
	if (!tl__gemm_kernel(&kernel, name)) {
		check(id, name, "result", text_of(&expected, result), "None");
	} else {
		bool tile = tl__value_get(result, "mt_m") && tl__value_get(result, "mt_m")->kind == TL_V_INT;
		tl__buf_printf(&actual, "[%s, %s]", flag(kernel.trans_a), flag(kernel.trans_b));
		check(id, name, "transpose", text_of(&expected, tl__value_get(result, "transpose")),
		      tl__buf_text(&actual));
		if (tile) {
			check_close(id, name, "mt_m", number(result, "mt_m"), (double)kernel.mt_m);
			check_close(id, name, "mt_n", number(result, "mt_n"), (double)kernel.mt_n);
			check_close(id, name, "depth_u", number(result, "depth_u"), (double)kernel.depth_u);
		} else {
			assert_int_equal(kernel.mt_m, 0);
		}
	}
	tl__buf_free(&expected);
	tl__buf_free(&actual);
}

static void check_triton_name(int id, const char *name, const tl_value *result)
{
	tl_triton_op ops[64];
	size_t n = tl__triton_ops(ops, 64, name);
	tl_buf expected = {0}, actual = {0};
	for (size_t i = 0; i < n; i++)
		tl__buf_printf(&actual, "%s'aten.%.*s'", i ? ", " : "[", (int)ops[i].n, ops[i].name);
	tl__buf_puts(&actual, n ? "]" : "[]");
	check(id, name, "result", text_of(&expected, result), tl__buf_text(&actual));
	tl__buf_free(&expected);
	tl__buf_free(&actual);
}

static void check_api(int id, const tl_value *line)
{
	const char *api = tl__value_text(tl__value_get(line, "api"));
	const tl_value *args = tl__value_get(line, "args_pos"), *result = tl__value_get(line, "result");
	const tl_value *first = tl__value_at(args, 0);
	const char *text = tl__value_text(first);
	tl_buf expected = {0}, actual = {0};
	tl_value v = TL_VALUE_NONE;
	bool known = true;

	if (!strcmp(api, "name2bpe")) {
		int size = tl__dtype_bytes(text);
		v = size ? TL_VALUE_INT(size) : TL_VALUE_NONE;
	} else if (!strcmp(api, "torch_dtype_map")) {
		const char *precision = tl__dtype_precision(text);
		v = precision ? TL_VALUE_STRING(precision, strlen(precision)) : TL_VALUE_NONE;
	} else if (!strcmp(api, "parse_bool")) {
		v = TL_VALUE_BOOL(tl__to_bool(first));
	} else if (!strcmp(api, "optional_int")) {
		int64_t n;
		v = tl__to_int(first, &n) ? TL_VALUE_INT(n) : TL_VALUE_NONE;
	} else if (!strcmp(api, "optional_float")) {
		double d;
		v = TL_VALUE_DOUBLE(tl__to_double(first, &d) ? d : 0);
	} else {
		known = false;
	}
	if (known)
		check(id, api, "result", text_of(&expected, result), text_of(&actual, &v));
	else if (!strcmp(api, "gemm_name_parser"))
		check_gemm_name(id, text, result);
	else if (!strcmp(api, "parse_kernel_name"))
		check_triton_name(id, text, result);
	tl__buf_free(&expected);
	tl__buf_free(&actual);
}

static void check_line(const tl_value *line, const tl_value *before, tl_arena *arena)
{
	const char *kind = tl__value_text(tl__value_get(line, "kind"));
	int64_t id = 0;
	assert_true(tl__value_int(tl__value_get(line, "id"), &id));
	if (!strcmp(kind, "op"))
		check_op((int)id, line, before, arena);
	else if (!strcmp(kind, "map"))
		check_map((int)id, line);
	else if (!strcmp(kind, "categorize"))
		check_categorize((int)id, line);
	else if (!strcmp(kind, "roofline"))
		check_roofline((int)id, line, arena);
	else if (!strcmp(kind, "api"))
		check_api((int)id, line);
}

static void test_examples(void **state)
{
	tl_arena arena[2] = {{0}, {0}};
	const tl_value *line = NULL, *before = NULL;
	char *text = NULL;
	size_t room = 0;
	ssize_t n;
	int lines = 0;
	char path[4096];
	FILE *f = fopen(tl_corpus_needed(path, "spec/03-perf-models-examples.jsonl"), "r");

	(void)state;
	assert_non_null(f);
	while ((n = getline(&text, &room, f)) > 0) {
		while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
			n--;
		tl_arena *own = &arena[lines++ % 2];
		tl__arena_free(own);
		assert_int_equal(tl__value_parse(own, text, (size_t)n, false, &line), 0);
		check_line(line, before, own);
		before = line;
	}
	free(text);
	fclose(f);
	tl__arena_free(&arena[0]);
	tl__arena_free(&arena[1]);
	for (size_t i = 0; i < N_DEVIATIONS; i++)
		if (!used[i])
			print_error("deviation #%d %s never met\n", deviations[i].id, deviations[i].field), failures++;
	print_message("%d lines, %d fields compared, %d listed deviations\n", lines, checked, (int)N_DEVIATIONS);
	assert_true(lines > 1000);
	assert_int_equal(failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
