/* SPDX-License-Identifier: MIT */
/* Attention over packed sequences in training and in serving, event by event: spec 09 section 2, case 15. */
#include "analysis/analysis_fixture.h"
#include "analysis/perf_cache.h"
#include "trace/corpus_fixture.h"

#define TRACE "corpus/inference/vllm_prefilldecode_piecewise/graph_execution.json.gz"

/* Text of a cell, until the next call. */
static const char *table_text(const tl_table *table, size_t row, const char *column)
{
	static char text[4096];
	tl_table_text(table, column_index(table, column), row, text, sizeof text);
	return text;
}

static const char step[] = "execute_8_context_1(sq8sk8sqsq64sqsk64)_generation_0(sq0sk0sqsq0sqsk0)";

static tl_row attention(tl_store *s, const char *name, double at, tl_id id)
{
	tl_row op = tl_fixture_op(s, name, 1, 1, at, 10);
	tl_fixture_op_args(s, op)->dims = tl__interns(s->strings, "[[8,2,64],[8,2,64],[8,2,64]]");
	tl_fixture_op_args(s, op)->types =
		tl__interns(s->strings, "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]");
	tl_fixture_launch(s, "hipLaunchKernel", 1, 1, at + 1, 2, id);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "fmha", 0, 7, at + 5, 4, id);
	return op;
}

/* An event at 0 to 10, annotations around it or not. */
static tl_store *store_with(const char *name, const char *outer, const char *inner, tl_id tid)
{
	tl_store *s = tl__store_new();
	if (outer)
		tl_fixture_event(s, TL_KIND_ANNOTATION, outer, 1, tid, -10, 100);
	if (inner)
		tl_fixture_event(s, TL_KIND_ANNOTATION, inner, 1, tid, -5, 50);
	attention(s, name, 0, 1);
	return s;
}

static void check(tl_store *s, const char *category, const char *sheet, double gflops)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *launchers, *unified, *kernels;
	fixture f;
	fixture_open(&f, s);
	assert_int_equal(tl__launchers(&launchers, f.a, &err), 0);
	expect_text(launchers, 0, "op category", category);
	assert_int_equal(tl__unified_table(&unified, f.a, &err), 0);
	expect_text(unified, 0, "op category", category);
	if (gflops > 0)
		expect_number(unified, 0, "GFLOPS", gflops);
	else if (tl_table_find_column(unified, "GFLOPS") >= 0)
		expect_empty(unified, 0, "GFLOPS");
	assert_int_equal(tl__kernels(&kernels, f.a, &err), 0);
	expect_text(kernels, 0, "Parent op category", category);
	static const char *const sheets[] = {"SDPA", "InferenceAttention"};
	for (size_t i = 0; i < 2; i++) {
		const tl_row *rows;
		size_t n;
		assert_int_equal(tl__perf_family(f.a, sheets[i], &rows, &n), 0);
		assert_int_equal(n, !strcmp(sheets[i], sheet));
	}
	tl_table_free(launchers);
	tl_table_free(unified);
	tl_table_free(kernels);
	fixture_close(&f);
}

/* One sequence of 8 tokens: 2 * 2 * 8 * 8 * (64 + 64). */
#define GFLOPS (32768 / 1e9)

static void training(void **state)
{
	(void)state;
	check(store_with("aiter::fmha_v3_varlen_fwd", NULL, NULL, 1), "SDPA_fwd", "SDPA", GFLOPS);
	check(store_with("aiter::mha_varlen_fwd", "ProfilerStep#3", "forward", 1), "SDPA_fwd", "SDPA", GFLOPS);
	/* a step of another thread is none of its business */
	check(store_with("aiter::mha_varlen_fwd", step, NULL, 2), "SDPA_fwd", "SDPA", GFLOPS);
}

static void serving(void **state)
{
	(void)state;
	check(store_with("aiter::fmha_v3_varlen_fwd", step, NULL, 1), "InferenceAttention", "InferenceAttention", 0);
	/* other annotations neither hide a step nor stand for one */
	check(store_with("aiter::fmha_v3_varlen_fwd", "ProfilerStep#3", step, 1), "InferenceAttention",
	      "InferenceAttention", 0);
	check(store_with("aiter::mha_varlen_fwd", step, "attention", 1), "InferenceAttention", "InferenceAttention", 0);
	/* what only serving frameworks call is theirs */
	check(store_with("vllm::unified_attention_with_output", NULL, NULL, 1), "InferenceAttention",
	      "InferenceAttention", 0);
}

/* Both in one trace: each event is what it is, with equal arguments, too. */
static void both(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_store *s = tl__store_new();
	tl_row outside = attention(s, "aiter::mha_varlen_fwd", 0, 1);
	tl_fixture_event(s, TL_KIND_ANNOTATION, step, 1, 1, 20, 50);
	tl_row inside = attention(s, "aiter::mha_varlen_fwd", 30, 2);
	fixture f;
	fixture_open(&f, s);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(perf_of(&f, inside, NULL, 0)->status, TL_PERF_FAILED);
		const tl_perf_result *r = perf_of(&f, outside, NULL, 0);
		assert_int_equal(r->status, TL_PERF_OK);
		assert_true(r->flops.value == 32768);
	}
	tl_table *launchers;
	assert_int_equal(tl__launchers(&launchers, f.a, &err), 0);
	expect_text(launchers, 0, "op category", "SDPA_fwd");
	expect_text(launchers, 1, "op category", "InferenceAttention");
	tl_table_free(launchers);
	fixture_close(&f);
}

static uint8_t status_of(const char *name, const char *outer, const char *inner, const tl_analyzer_options *options,
			 double *flops)
{
	fixture f;
	fixture_open_with(&f, store_with(name, outer, inner, 1), options);
	tl_row event = (tl_row)(f.tree->store->n - 3); /* operation, launch, kernel */
	const tl_perf_result *r = perf_of(&f, event, NULL, 0);
	*flops = r->status == TL_PERF_OK ? r->flops.value : -1;
	uint8_t status = r->status;
	fixture_close(&f);
	return status;
}

/*
 * The PyTorch report attaches iterations to vLLM's attention alone (spec 01 section 5.5): 2 heads of 64 + 64, one
 * causal chunk of 8: 2 (64 + 64) (2 * 64 - 64) = 16384 FLOPs.
 */
static void annotated_operations(void **state)
{
	(void)state;
	static const char vllm[] = "vllm::unified_attention_with_output", sglang[] = "aiter::mha_batch_prefill";
	static const char *const more[] = {"nothing::", "aiter::mha_batch"};
	const tl_analyzer_options own = {.annotated = more, .n_annotated = 2}, none = {.annotated = more};
	double flops;
	assert_int_equal(status_of(vllm, step, NULL, NULL, &flops), TL_PERF_OK);
	assert_true(flops == 16384);
	assert_int_equal(status_of(vllm, "ProfilerStep#3", step, NULL, &flops), TL_PERF_OK);
	assert_true(flops == 16384);
	assert_int_equal(status_of(vllm, "ProfilerStep#3", NULL, NULL, &flops), TL_PERF_FAILED);
	assert_int_equal(status_of(sglang, step, NULL, NULL, &flops), TL_PERF_FAILED);
	assert_int_equal(status_of(sglang, step, NULL, &own, &flops), TL_PERF_OK);
	assert_true(flops == 16384);
	assert_int_equal(status_of(vllm, step, NULL, &own, &flops), TL_PERF_FAILED);
	assert_int_equal(status_of(vllm, step, NULL, &none, &flops), TL_PERF_FAILED);
	check(store_with(vllm, step, NULL, 1), "InferenceAttention", "InferenceAttention", 16384 / 1e9);
}

/* vLLM, prefill and decode by pieces: what the reference says of its attention. */
static void a_real_trace(void **state)
{
	(void)state;
	char path[4096];
	tl_corpus_needed(path, TRACE);
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace;
	tl_tree *tree;
	tl_analyzer *a;
	tl_table *unified, *sheet;
	assert_int_equal(tl_trace_open(&trace, path, NULL, &err), 0);
	assert_int_equal(tl_tree_build(&tree, trace, NULL, &err), 0);
	assert_int_equal(tl__analyzer_new(&a, tree, NULL, &err), 0);
	assert_int_equal(tl__unified_table(&unified, a, &err), 0);
	assert_int_equal(tl__unified_perf_summary(&sheet, unified, NULL, &err), 0);
	size_t row = 0;
	while (row < tl_table_rows(sheet) &&
	       !strstr(table_text(sheet, row, "name"), "vllm::unified_attention_with_output"))
		row++;
	assert_true(row < tl_table_rows(sheet));
	expect_number(sheet, row, "GFLOPS", 65.010180096);
	expect_number(sheet, row, "Data Moved (MB)", 211.826171875);
	expect_text(sheet, row, "Compute Spec", "matrix_bf16");
	tl_table_free(sheet);
	tl_table_free(unified);
	tl__analyzer_free(a);
	tl_tree_free(tree);
	tl_trace_free(trace);
}

/* A registered category, and a registered model, stand for all events of their name. */
static void registrations_win(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_table *launchers;
	fixture f;
	fixture_open(&f, store_with("aiter::mha_varlen_fwd", NULL, NULL, 1));
	assert_int_equal(tl_analyzer_set_category(f.a, "aiter::mha_varlen_fwd", "mine", &err), 0);
	assert_int_equal(tl__launchers(&launchers, f.a, &err), 0);
	expect_text(launchers, 0, "op category", "mine");
	tl_table_free(launchers);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(training),     cmocka_unit_test(serving),
		cmocka_unit_test(both),         cmocka_unit_test(annotated_operations),
		cmocka_unit_test(a_real_trace), cmocka_unit_test(registrations_win),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
