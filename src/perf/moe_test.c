/* SPDX-License-Identifier: MIT */
/* Models of mixtures of experts on worked numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perf/args.h"
#include "perf/model_testing.h"

#define BF "\"c10::BFloat16\""
#define FP8 "\"c10::Float8_e4m3fn\""
#define FP4 "\"c10::Float4_e2m1fn_x2\""
#define NO8 "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\""

typedef struct example {
	const char *op, *dims, *types, *concrete, *extras, *kernel;
	double flops, bytes;
	const char *spec;
} example;

static const char up[] = "pseudo_op::moe_triton_unfused_up", down[] = "pseudo_op::moe_triton_unfused_down";
static const char tokens_scores[] = "[[32,2880],[32,128],[],[]]", bf16s[] = "[" BF "," BF ",\"\",\"\"]";
static const char gated4[] = "{\"MoE topk\":4,\"MoE GEMM gated\":true}";
static const char top8[] = "{\"MoE topk\":8}";

static const example examples[] = {
	{"pseudo_op::moe_aiter_fused_1stage", "[[32,7168],[256,512,7168],[256,7168,256],[32,8]]",
	 "[" BF "," FP8 "," FP8 ",\"int\"]", NULL, NULL, NULL, 2822012928, 899964145.489161, "matrix_bf16"},
	{"aiter::fmoe_fp8_blockscale_g1u1", "[[32,7168],[32,7168],[256,512,7168],[256,7168,256]]",
	 "[" BF "," FP8 "," FP8 "," FP8 "]", "[" NO8 ",\"8\"]", NULL, NULL, 2822012928, 899734769.489161, "matrix_fp8"},
	/* not gated: 4 M K N k + M K (2 k - 1) */
	{"aiter::fmoe_g1u1", "[[32,7168],[32,7168],[256,256,7168],[256,7168,256]]", "[" BF "," FP8 "," FP8 "," FP8 "]",
	 "[" NO8 ",\"8\"]", NULL, NULL, 1882488832, 600052555.659441, "matrix_fp8"},
	{up, tokens_scores, bf16s, NULL, gated4, "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", 4246732800,
	 678216781.925428, "matrix_fp4"},
	{down, tokens_scores, bf16s, NULL, "{\"MoE topk\":4,\"MoE GEMM gated\":false}",
	 "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", 2123366400, 339569190.962714, "matrix_fp4"},
	/* rows of a real trace: 284.922826933 and 142.930163467 MB */
	{up, "[[32,3072],[32,32],[],[]]", bf16s, NULL, gated4, "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu",
	 4831838208, 284.9228269331473 * 1048576, "matrix_fp4"},
	{down, "[[32,3072],[32,32],[],[]]", bf16s, NULL, "{\"MoE topk\":4}", "_matmul_ogs_x_mxfp4", 2415919104,
	 142.93016346657365 * 1048576, "matrix_fp4"},
	{up, "[[8192,3072],[8192,32],[],[]]", bf16s, NULL, gated4, "_matmul_ogs_x_mxfp4", 1236950581248,
	 528.0 * 1048576, "matrix_fp4"},
	/* [07-20]: weights of a dtype that nobody tells are as wide as tokens */
	{up, "[[8192,3072],[8192,32],[],[]]", bf16s, NULL, gated4, "_matmul_ogs_NNT_bf16xbf16xbf16", 1236950581248,
	 8192. * 3072 * 2 + 32. * 2 * 3072 * 3072 * 2 + 8192. * 3072 * 4 * 2, "matrix_bf16"},
	{"aiter::moe_cktile2stages_gemm1_ck", "[[32,4096],[128,3072,2048],[32,8,1536]]", "[" BF "," FP4 "," BF "]",
	 NULL, NULL, NULL, 6442450944, 704251126.93961, "matrix_bf16"},
	{"aiter::moe_cktile2stages_gemm2_ck", "[[32,8,1536],[128,4096,768],[32,4096]]", "[" BF "," FP4 "," BF "]", NULL,
	 NULL, NULL, 3221225472, 352649851.469805, "matrix_bf16"},
	{"aiter::ck_moe_stage1", "[[32,4096],[128,3072,4096],[128,4096,1536],[],[],[],[32,8,1536]]",
	 "[" FP8 "," FP8 "," FP8 "]", NULL, NULL, NULL, 6442450944, 1406929389.87922, "matrix_fp8"},
	/* [07-18]: two 4-bit values in a byte, as the shapes tell, whatever the dtype is called */
	{"aiter::ck_moe_stage1", "[[32,4096],[128,3072,2048],[128,4096,768],[],[],[],[32,8,1536]]",
	 "[" BF ",\"unsigned char\",\"unsigned char\"]", NULL, NULL, NULL, 6442450944, 704251126.93961, "matrix_bf16"},
	{"aiter::ck_moe_stage2", "[[32,8,768],[128,3072,2048],[128,4096,768],[]]", "[" FP8 "," FP8 "," FP4 ",\"\"]",
	 NULL, NULL, NULL, 3221225472, 352125563.469805, "matrix_fp8"},
	{"pseudo_op::moe_flydsl_stage1", "[[32,7168],[256,512,7168],[256,7168,256],[32,8]]",
	 "[" BF "," FP8 "," FP8 ",\"int\"]", NULL, NULL, NULL, 1879048192, 599954251.659441, "matrix_fp8"},
	{"pseudo_op::moe_flydsl_stage2", "[[32,7168],[256,512,7168],[256,7168,256],[32,8]]",
	 "[" BF "," FP8 "," FP8 ",\"int\"]", NULL, NULL, NULL, 939524096, 300272037.82972, "matrix_fp8"},
	{"sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel",
	 "[[64,2048],[128,1536,2048],[],[64,8,1536],[],[],[],[],[64,8]]",
	 "[" BF "," FP8 ",\"\"," BF ",\"\",\"\",\"\",\"\",\"int\"]", NULL, NULL, NULL, 3221225472, 399850390.475227,
	 "matrix_fp8"},
	{"pseudo_op::moe_gptq_awq_up", "[[16,2048],[128,1536,1024],[128,2048,384]]", "[" BF ",\"int\",\"int\"]", NULL,
	 "{\"MoE topk\":8,\"MoE GEMM gated\":true}", NULL, 805306368, 129901544.816777, "matrix_bf16"},
	{"pseudo_op::moe_gptq_awq_up", "[[16,2048],[128,1536,1024],[128,2048,384]]", "[" BF "]", NULL, top8, NULL,
	 805306368, 129901544.816777, "matrix_bf16"},
	{"pseudo_op::moe_gptq_awq_down", "[[16,2048],[128,1536,1024],[128,2048,384]]", "[" BF "]", NULL, top8, NULL,
	 402653184, 65081844.4083886, "matrix_bf16"},
	{"aiter::biased_grouped_topk_hip", "[[64,256],[256],[64,8],[64,8],[],[]]",
	 "[" BF "," BF ",\"float\",\"int\",\"Scalar\",\"Scalar\"]", NULL, NULL, NULL, 16384, 37376, "vector_bf16"},
	{"aiter::moe_sorting_fwd", "[[64,8],[64,8],[576],[576],[]]", "[\"int\",\"float\",\"int\",\"float\",\"Scalar\"]",
	 NULL, NULL, NULL, 576, 8704, ""},
	{"sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts", "[[64,8],[64,8],[],[]]",
	 "[\"int\",\"float\",\"Scalar\",\"Scalar\"]", NULL, NULL, NULL, 512, 8192, "vector_fp32"},
	{"sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts", "[[64,8]]", "[\"int\"]", NULL, NULL,
	 NULL, 512, 8192, "vector_fp32"},
	{"aiter::topk_softplus", "[[64,8],[64,8],[64,256],[256]]", "[\"float\",\"int\"," BF ",\"float\"]", NULL, NULL,
	 NULL, 98304, 37888, "vector_bf16"},
};

static tl_perf_input input(tl_arena *arena, const example *e)
{
	return (tl_perf_input){.name = e->op,
			       .dims = parse(arena, e->dims),
			       .types = parse(arena, e->types),
			       .concrete = parse(arena, e->concrete),
			       .extras = parse(arena, e->extras),
			       .kernels = &e->kernel,
			       .n_kernels = e->kernel != NULL};
}

static void evaluate(tl_perf_result *out, tl_arena *arena, const example *e)
{
	const tl_perf_model *model = tl__perf_model(e->op, strlen(e->op));
	tl_perf_input in = input(arena, e);
	assert_non_null(model);
	if (e->extras)
		assert_true(model->reads & TL_READS_EXTRAS);
	if (e->kernel)
		assert_true(model->reads & TL_READS_KERNELS);
	assert_int_equal(model->eval(&in, arena, out), 0);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_worked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const example *e = &examples[i];
		tl_arena arena = {0};
		tl_perf_result r;
		evaluate(&r, &arena, e);
		if (r.status != TL_PERF_OK || !r.bytes.known || r.flops.value != e->flops ||
		    !near(r.bytes.value, e->bytes))
			fail_msg("%s (%zu): status %d, flops %.17g, bytes %.17g", e->op, i, r.status, r.flops.value,
				 r.bytes.value);
		assert_int_equal(r.flops_bwd.status, TL_PERF_NOT_MODELLED);
		assert_spec(&r, e->spec);
		tl__arena_free(&arena);
	}
}

static void assert_params(const example *e, const char *expected)
{
	tl_arena arena = {0};
	tl_perf_result r;
	evaluate(&r, &arena, e);
	assert_listed(&r, expected);
	tl__arena_free(&arena);
}

static void test_params(void **state)
{
	(void)state;
	assert_params(&examples[0], "num_tokens: 32, hidden_dim: 7168, inter_dim: 256, num_experts: 256, topk: 8, "
				    "gated: True, input_dtype: 'c10::BFloat16', weight_dtype: 'c10::Float8_e4m3fn'");
	assert_params(&examples[1], "num_tokens: 32, hidden_dim: 7168, inter_dim: 256, num_experts: 256, topk: 8, "
				    "gated: True, input_dtype: 'c10::Float8_e4m3fn', weight_dtype: "
				    "'c10::Float8_e4m3fn', output_dtype: 'c10::BFloat16'");
	/* as in the sheet of a real trace */
	assert_params(&examples[5], "num_tokens: 32, hidden_dim: 3072, inter_dim: 3072, num_experts: 32, topk: 4, "
				    "gated: True, input_dtype: 'c10::BFloat16', weight_dtype: 'FP4'");
	assert_params(&(example){"aiter::biased_grouped_topk_hip", "[[64,256],[256],[],[[1],[2]]]",
				 "[" BF ",\"\",\"Scalar\",\"TensorList\"]", NULL, NULL, NULL, 0, 0, NULL},
		      "operands: [((64, 256), 'c10::BFloat16'), ((256,), '')]");
}

/* What makes no sense fails with a reason; what cannot be told is unknown. */
static void test_refused(void **state)
{
	static const example bad[] = {
		{up, tokens_scores, bf16s, NULL, NULL, NULL, 0, 0, NULL},
		{up, tokens_scores, bf16s, NULL, "{\"MoE topk\":129}", NULL, 0, 0, NULL},
		{up, tokens_scores, bf16s, NULL, "{\"MoE topk\":-1}", NULL, 0, 0, NULL},
		{up, "[[32,2880],[32,0]]", bf16s, NULL, "{\"MoE topk\":0}", NULL, 0, 0, NULL},
		{"aiter::fmoe_g1u1", "[[32,7168],[32,7168],[256,512,7168],[256,7168,256]]", bf16s, NULL, NULL, NULL, 0,
		 0, NULL},
		{"aiter::fmoe_g1u1", "[[32,7168],[32,7168],[256,512,0],[256,7168,256]]", bf16s, "[" NO8 ",\"8\"]", NULL,
		 NULL, 0, 0, NULL},
		{"aiter::ck_moe_stage2", "[[32,8,9007199254740992],[128,3072,1],[128,9007199254740992,768]]", bf16s,
		 NULL, NULL, NULL, 0, 0, NULL},
		{"sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel", "[[64,2048],[128,1536,2048]]",
		 bf16s, NULL, NULL, NULL, 0, 0, NULL},
		{"aiter::topk_softplus", "[[64],[64],[64]]", bf16s, NULL, NULL, NULL, 0, 0, NULL},
	};
	tl_arena arena = {0};
	tl_perf_result r;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		evaluate(&r, &arena, &bad[i]);
		if (r.status != TL_PERF_FAILED)
			fail_msg("%s (%zu): not refused", bad[i].op, i);
		assert_non_null(r.why);
	}
	evaluate(&r, &arena, &(example){up, tokens_scores, "[\"bool\",\"bool\"]", NULL, gated4, "_mxfp4", 0, 0, NULL});
	assert_int_equal(r.status, TL_PERF_OK);
	assert_true(r.flops.known && r.flops.value == 4246732800);
	assert_false(r.bytes.known);
	evaluate(&r, &arena,
		 &(example){"aiter::moe_sorting_fwd", "[[4],[2,2]]", "[\"bool\",\"\"]", NULL, NULL, NULL, 0, 0, NULL});
	assert_true(r.status == TL_PERF_OK && r.flops.value == 4 && !r.bytes.known);
	tl__arena_free(&arena);
}

static void test_no_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		tl_arena arguments = {0};
		tl_perf_input in = input(&arguments, &examples[i]);
		assert_survives_no_memory(tl__perf_model(in.name, strlen(in.name)), &in);
		tl__arena_free(&arguments);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
