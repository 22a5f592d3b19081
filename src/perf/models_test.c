/* SPDX-License-Identifier: MIT */
/* Every family on worked numbers; what must fail; and that nothing crashes on nonsense or without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "perf/args.h"
#include "perf/model_testing.h"
#include "util/buf.h"

#define BF "\"c10::BFloat16\""
#define HALF "\"c10::Half\""
#define FP8 "\"c10::Float8_e4m3fnuz\""
#define FP4 "\"c10::Float4_e2m1fn_x2\""
#define E8 "\"c10::Float8_e8m0fnu\""
#define F32 "\"float\""
#define BF2 "[" BF "," BF "]"
#define BF3 "[" BF "," BF "," BF "]"

typedef struct example {
	const char *op, *dims, *types, *concrete; /* JSON; NULL: the event has no such key */
	double flops, bytes;                      /* -1: unknown, -2: not modelled, -3: failed */
	double flops_bwd, bytes_bwd;
	const char *spec;
} example;

enum { UNKNOWN = -1, ABSENT = -2, FAILED = -3 };

static const example examples[] = {
	/* 2 * 512 * 256 * 128 FLOPs; (512*256 + 256*128 + 512*128) * 2 bytes */
	{"aten::mm", "[[512,256],[256,128]]", BF2, NULL, 33554432, 458752, ABSENT, ABSENT, "matrix_bf16"},
	{"aten::addmm", "[[1024],[64,512],[512,1024]]", BF3, NULL, 67174400, 1247232, ABSENT, ABSENT, "matrix_bf16"},
	{"aten::_scaled_mm", "[[16384,8192],[8192,1024],[1],[1],[],[],[],[]]", "[" FP8 "," FP8 ",\"float\",\"float\"]",
	 NULL, 274877906944, 176160768, ABSENT, ABSENT, "matrix_fp8"},
	{"aten::bmm", "[[24,128,64],[24,64,256]]", BF2, NULL, 100663296, 2752512, ABSENT, ABSENT, "matrix_bf16"},
	{"aten::baddbmm", "[[24,128,256],[24,128,64],[24,64,256]]", BF3, NULL, 101449728, 2764800, ABSENT, ABSENT,
	 "matrix_bf16"},
	{"vllm::gemm_with_dynamic_quant", "[[32,4096],[11008,4096]]", "[" BF ",\"unsigned char\"]", NULL, 2885681152,
	 91144192, 5771362304, 182288384, "matrix_bf16"},
	{"_LayerNormLinear_yfwd_mm", "[[4096,4096],[4096,512]]", "[" FP8 "," FP8 "]", NULL, 17179869184, 23068672,
	 ABSENT, ABSENT, "matrix_fp8"},
	{"primus_turbo::hipblaslt_gemm_fp8", "[[20480,3072],[],[12288,3072]]", "[" FP8 ",\"float\"," FP8 "]",
	 "[\"\",\"\",\"\",\"\",\"8\",\"False\",\"True\",\"False\"]", 1546188226560, 603979776, ABSENT, ABSENT,
	 "matrix_fp8"},
	{"primus_turbo::hipblaslt_gemm_fp4", "[[16384,1536],[16384,96],[12288,1536],[12288,96]]",
	 "[" FP4 "," E8 "," FP4 "," E8 "]", "[\"\",\"\",\"\",\"\",\"15\",\"False\",\"True\",\"False\"]", 1236950581248,
	 449445888, ABSENT, ABSENT, "matrix_fp4"},
	{"aiter::gemm_a4w4", "[[16384,1536],[12288,1536],[16384,96],[12288,96]]", "[" FP4 "," FP4 "," E8 "," E8 "]",
	 NULL, 1236950581248, 449445888, 2473901162496, UNKNOWN, "matrix_fp4"},
	{"primus_turbo::grouped_gemm", "[[24576,2048],[8,2048,2816]]", BF2, NULL, 283467841536, 331350016, ABSENT,
	 ABSENT, "matrix_bf16"},
	{"primus_turbo::grouped_gemm_variable_k", "[[[4,8],[5,6]],[[8,16],[6,12]]]", BF2, NULL, 1744, 772, ABSENT,
	 ABSENT, "matrix_bf16"},

	{"FlashAttnFunc", "[[2,512,16,64],[2,512,16,64],[2,512,16,64]]", BF3,
	 "[\"\",\"\",\"\",\"0.\",\"0.1\",\"True\"]", 1073741824, 8388608, 2684354560, 14680064, "matrix_bf16"},
	{"flash_attn::_flash_attn_varlen_forward", "[[1000,16,64],[1000,16,64],[1000,16,64],[4],[4]]", BF3,
	 "[\"\",\"\",\"\",\"\",\"\",\"501\",\"501\",\"0.\",\"0.1\",\"True\"]", 768006144, 8192000, 5120000000, 14336000,
	 "matrix_bf16"},
	{"aten::_scaled_dot_product_flash_attention", "[[1,32,4096,128],[1,32,4096,128],[1,32,4096,128]]", BF3,
	 "[\"\",\"\",\"\",\"0.\",\"True\",\"False\"]", 137438953472, 134217728, 343597383680, 234881024, "matrix_bf16"},
	{"aten::_scaled_dot_product_efficient_attention", "[[8,16,1024,64],[8,16,1024,64],[8,16,1024,64]]", BF3,
	 "[\"\",\"\",\"\",\"\",\"False\",\"0.\",\"True\"]", 17179869184, 67108864, 34359738368, 117440512,
	 "matrix_bf16"},
	/* causal, 128 queries on 256 keys: 128*256 - 128*127/2 = 24640 pairs, times 8*2*(64+64) */
	{"aiter::mha_fwd", "[[1,128,8,64],[1,256,8,64],[1,256,8,64]]", BF3, "[\"\",\"\",\"\",\"0.\",\"0.1\",\"True\"]",
	 50462720, 786432, 126156800, 1441792, "matrix_bf16"},
	{"EvoformerAttention", "[[1,129,256,4,16]]", "[" HALF "]", NULL, 2164260864, 16908288, 4328521728, 29589504,
	 "matrix_fp16"},

	{"aten::convolution", "[[8,64,56,56],[64,64,3,3],[64],[],[],[],[],[],[]]", BF3,
	 "[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"]", 1849688064, 6496256,
	 3699376128, 12992512, "matrix_bf16"},
	/* transposed: every input element meets each weight of its channel */
	{"aten::convolution", "[[2,32,16,16],[32,16,4,4],[],[],[],[],[],[],[]]", BF2,
	 "[\"\",\"\",\"\",\"[2]\",\"[1]\",\"\",\"True\",\"[0]\",\"1\"]", 8388608, 114688, 16777216, 229376,
	 "matrix_bf16"},
	{"aten::convolution_backward", "[[10,512,7,7],[10,512,7,7],[512,512,3,3]]", BF3,
	 "[\"\",\"\",\"\",\"[0]\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"]", 4624220160, 11444224,
	 4624220160, 11444224, "matrix_bf16"},
	{"ConvBias_", "[[1,1,4,4],[1,1,3,3],[1,1,1,1]]", BF3, "[\"\",\"\",\"\",\"1\",\"0\"]", 76, 60, 148, 121,
	 "matrix_bf16"},
	/* stride 0 cannot be: the published order, padding first */
	{"ConvBias_", "[[1,1,4,4],[1,1,3,3],[1,1,1,1]]", BF3, "[\"\",\"\",\"\",\"0\",\"1\"]", 76, 60, 148, 121,
	 "matrix_bf16"},

	{"aten::silu", "[[4096,1024]]", "[" BF "]", NULL, 4194304, 16777216, ABSENT, ABSENT, "vector_bf16"},
	{"aten::replication_pad1d", "[[2,16,64]]", "[" BF "]", "[\"\",\"[1, 2]\"]", 2144, 8384, ABSENT, ABSENT,
	 "vector_bf16"},
	{"aten::upsample_nearest2d", "[[1,3,32,48]]", "[" F32 "]", "[\"\",\"[96, 144]\"]", 41472, 184320, ABSENT,
	 ABSENT, "vector_fp32"},
	{"aten::upsample_nearest2d", "[[1,3,32,48]]", "[" F32 "]", "[\"\",\"\",\"[3., 3.]\"]", 41472, 184320, ABSENT,
	 ABSENT, "vector_fp32"},
	{"aten::upsample_nearest1d", "[[2,16,65]]", "[" BF "]", "[\"\",\"\",\"1.5\"]", 3104, 10368, ABSENT, ABSENT,
	 "vector_bf16"},
	{"primus_turbo::quantize_fp8_tensorwise", "[[128,33]]", "[" F32 "]", NULL, 4224, 21120, ABSENT, ABSENT,
	 "vector_fp32"},
	{"primus::quantize_mxfp4_dual", "[[16384,12288]]", "[" BF "]", NULL, 201326592, 616562688, ABSENT, ABSENT,
	 "vector_bf16"},
	{"aten::add_", "[[16,559,1024],[1024]]", "[" BF "," F32 "]", NULL, 9158656, 54956032, ABSENT, ABSENT,
	 "vector_bf16"},
	{"aten::mul", "[[8],[8]]", "[\"bool\",\"bool\"]", NULL, 8, UNKNOWN, ABSENT, ABSENT, NULL},
	{"LigerSiLUMulFunction", "[[1,2911,256],[1,2911,256]]", BF2, NULL, 745216, 4471296, ABSENT, ABSENT,
	 "vector_bf16"},
	{"aten::mean", "[[8,16,32,32]]", "[" F32 "]", "[\"\",\"[]\",\"False\"]", 131072, 524292, 131072, 524292,
	 "vector_fp32"},
	{"aten::cumsum", "[[15]]", "[\"long int\"]", NULL, 15, 240, 15, 240, NULL},

	{"aten::batch_norm", "[[32,64,56,56],[64],[64],[64],[64]]", BF2, "[\"\",\"\",\"\",\"\",\"\",\"True\"]",
	 32113024, 25690880, ABSENT, ABSENT, "vector_bf16"},
	{"aten::native_batch_norm_backward", "[[10,512,7,7],[10,512,7,7],[512]]", BF3,
	 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"]", 2257920, 1509376, 2257920, 1509376, "vector_bf16"},
	{"aten::layer_norm", "[[4,2048,4096],[],[4096],[4096]]", BF2, "[\"\",\"[4096]\"]", 167796736, 134266880, ABSENT,
	 ABSENT, "vector_bf16"},
	{"aten::native_layer_norm_backward", "[[8,16,32,32],[8,16,32,32]]", "[" F32 "," F32 "]",
	 "[\"\",\"\",\"[16, 32, 32]\",\"\",\"\",\"\",\"\",\"[True, False, False]\"]", 1179648, 1638400, 1179648,
	 1638400, "vector_fp32"},
	{"aten::group_norm", "[[2,320,64,64],[],[320],[320]]", "[" HALF "]", NULL, 13109120, 10489600, ABSENT, ABSENT,
	 "vector_fp16"},
	{"aten::native_group_norm_backward", "[[8,16,32,32],[8,16,32,32],[8,4],[8,4],[],[]]", "[" F32 "," F32 "]",
	 "[\"\",\"\",\"\",\"\",\"\",\"8\",\"16\",\"1024\",\"4\",\"[True, False, False]\"]", 1179648, 1572928, 1179648,
	 1572928, "vector_fp32"},
	{"aten::instance_norm", "[[4,32,128,128],[32],[32]]", "[" F32 "]", "[\"\",\"\",\"\",\"\",\"\",\"True\"]",
	 10485952, 16777984, ABSENT, ABSENT, "vector_fp32"},
	{"aten::_fused_rms_norm", "[[4,2048,4096],[],[4096]]", "[" BF "]", "[\"\",\"[4096]\"]", 134234112, 134225920,
	 ABSENT, ABSENT, "vector_bf16"},
	{"aten::rms_norm_backward", "[[4,2048,4096],[4,2048,4096],[],[4,2048,1],[4096]]", BF2,
	 "[\"\",\"\",\"[4096]\",\"\",\"\",\"[True, True]\"]", 335544320, 201342976, 335544320, 201342976,
	 "vector_bf16"},
	{"primus::fused_ln_modulate", "[[256,40,3072]]", "[" BF "]", NULL, 377487360, 126402560, ABSENT, ABSENT,
	 "vector_bf16"},
	{"primus::fused_ln_modulate_backward", "[[256,40,3072]]", "[" BF "]", NULL, 471859200, 189562880, ABSENT,
	 ABSENT, "vector_bf16"},

	{"MoEDispatch", "[[4096,7168]]", "[" BF "]", NULL, 0, 58720256, 0, 58720256, NULL},
	{"MoECombine", "[]", "[]", NULL, 0, UNKNOWN, 0, UNKNOWN, NULL},
	{"DaoAILab::_causal_conv1d_fwd_cpp", "[[8,3072,8192],[3072,4],[3072]]", BF3, NULL, 1610612736, 805337088,
	 ABSENT, ABSENT, "matrix_bf16"},
	{"FusedRoPEFunc", "[[4096,4,32,128]]", "[" BF "]", NULL, 201326592, 268435456, ABSENT, ABSENT, "vector_bf16"},
	{"CrossEntropyFunction", "[[4096,1,163840]]", "[" BF "]", NULL, 3355443200, 1342226432, ABSENT, ABSENT,
	 "vector_bf16"},
	{"MambaSplitConv1dScanCombinedFn", "[[4,2048,4384],[2304,4],[2304],[32],[32],[32]]",
	 "[" BF "," BF "," BF "," F32 "," F32 "," BF "]",
	 "[\"\",\"\",\"\",\"\",\"\",\"\",\"128\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"64\",\"8\"]", 5788139520,
	 105405248, 5788139520, 105405248, "matrix_bf16"},

	{"triton_red_fused_add_mean_mul_pow_rsqrt_0", "[[8,4096,2048],[2048],[8,4096,2048],[],[]]",
	 "[" BF "," BF "," BF ",\"Scalar\",\"Scalar\"]", "[\"\",\"\",\"\",\"32768\",\"2048\"]", 469762048, 268439552,
	 ABSENT, ABSENT, "vector_bfloat16"},
	{"triton_poi_fused__unsafe_view_mul_silu_2", "[[8,4096,8192],[32768,8192],[]]", "[" BF "," BF ",\"Scalar\"]",
	 "[\"\",\"\",\"268435456\"]", 1342177280, 1610612736, ABSENT, ABSENT, "vector_bfloat16"},
	{"triton_per_fused_sum_0", "[[64,32],[64],[],[]]", "[" HALF "," HALF ",\"Scalar\",\"Scalar\"]",
	 "[\"\",\"\",\"64\",\"32\"]", 2048, 4224, ABSENT, ABSENT, "vector_half"},
};

static void evaluate(tl_perf_result *out, tl_arena *arena, const example *e)
{
	const tl_perf_model *model = tl__perf_model(e->op, strlen(e->op));
	assert_non_null(model);
	tl_perf_input in = {.name = e->op,
			    .dims = parse(arena, e->dims),
			    .types = parse(arena, e->types),
			    .concrete = parse(arena, e->concrete)};
	assert_int_equal(model->eval(&in, arena, out), 0);
}

static double shown(const tl_perf_cost *cost)
{
	return cost->status == TL_PERF_NOT_MODELLED ? ABSENT
	       : cost->status == TL_PERF_FAILED     ? FAILED
	       : !cost->known                       ? UNKNOWN
						    : cost->value;
}

static void test_worked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const example *e = &examples[i];
		tl_arena arena = {0};
		tl_perf_result r;
		evaluate(&r, &arena, e);
		if (r.status != TL_PERF_OK || shown(&r.flops) != e->flops || shown(&r.bytes) != e->bytes)
			fail_msg("%s (%zu): status %d (%s), flops %.17g, bytes %.17g", e->op, i, r.status,
				 r.why ? r.why : "", shown(&r.flops), shown(&r.bytes));
		assert_true(shown(&r.flops_bwd) == e->flops_bwd);
		assert_true(shown(&r.bytes_bwd) == e->bytes_bwd);
		assert_spec(&r, e->spec ? e->spec : "");
		tl__arena_free(&arena);
	}
}

/* What does not make sense is a failure with a reason, not a number. */
static void test_nonsense(void **state)
{
	static const example bad[] = {
		{.op = "aten::mm", .dims = NULL, .types = NULL},
		{.op = "triton_poi_fused_add_0",
		 .dims = "[[64],[]]",
		 .types = "[" BF ",\"Scalar\"]",
		 .concrete = "[\"\",\"-64\"]"},
		{.op = "triton_red_fused_sum_0",
		 .dims = "[[64],[],[]]",
		 .types = "[" BF ",\"Scalar\",\"Scalar\"]",
		 .concrete = "[\"\",\"-64\",\"-2\"]"},
		{.op = "aten::mm", .dims = "[[512],[512,128]]", .types = BF2},
		{.op = "aten::mm", .dims = "[[-1,2],[2,3]]", .types = BF2},
		{.op = "aten::mm", .dims = "[[9007199254740993,2],[2,3]]", .types = BF2},
		{.op = "aten::mm", .dims = "[[99999999999999999999,2],[2,3]]", .types = BF2},
		{.op = "aten::mm", .dims = "[[1.5,2],[2,3]]", .types = BF2},
		{.op = "aten::mm", .dims = "[\"a\",{\"b\":1}]", .types = BF2},
		{.op = "aten::bmm", .dims = "[[128,64],[64,256]]", .types = BF2},
		{.op = "primus_turbo::grouped_gemm", .dims = "[[64,32],[4,16,48]]", .types = BF2},
		{.op = "primus_turbo::grouped_gemm", .dims = "[[[4,8],[5,6]],[[8,16],[6,16]]]", .types = BF2},
		{.op = "FlashAttnFunc",
		 .dims = "[[1,128,8,64],[2,128,8,64],[2,128,8,64]]",
		 .types = BF3,
		 .concrete = "[\"\",\"\",\"\",\"0.\",\"\",\"True\"]"},
		{.op = "FlashAttnFunc",
		 .dims = "[[1,128,8,64],[1,128,8,64],[1,128,8,64]]",
		 .types = BF3,
		 .concrete = "[\"\",\"\",\"\",\"0.\",\"\",\"import os\"]"},
		{.op = "aten::convolution", .dims = "[[64,56],[64,64],[]]", .types = BF2},
		{.op = "aten::convolution", .dims = "[[8,64,56,56],[64,64,3,3],[]]", .types = BF2},
		{.op = "aten::convolution",
		 .dims = "[[8,64,56,56],[64,64,3,3],[]]",
		 .types = BF2,
		 .concrete = "[\"\",\"\",\"\",\"[0, 0]\",\"[0]\",\"[1]\",\"False\",\"[0]\",\"1\"]"},
		{.op = "ConvBias_Backward", .dims = "[[1,1,2,2]]", .types = "[" BF "]"},
		{.op = "aten::add", .dims = "[[8,3],[8,4]]", .types = BF2},
		{.op = "aten::upsample_nearest2d", .dims = "[[1,3,8,8]]", .types = BF2, .concrete = "[\"\",\"\",\"\"]"},
		{.op = "aten::sum", .dims = "[[9007199254740992,9007199254740992]]", .types = BF2},
		{.op = "aten::layer_norm", .dims = "[[4,8]]", .types = BF2, .concrete = "[\"\",\"\"]"},
		{.op = "aten::native_group_norm_backward",
		 .dims = "[[1,4,4],[1,4,4]]",
		 .types = BF2,
		 .concrete = "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"0\",\"[True]\"]"},
		{.op = "MambaSplitConv1dScanCombinedFn",
		 .dims = "[[4,2048,4385],[2304,4],[2304],[32]]",
		 .types = BF2,
		 .concrete = "[\"\",\"\",\"\",\"\",\"\",\"\",\"128\"]"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tl_arena arena = {0};
		tl_perf_result r;
		evaluate(&r, &arena, &bad[i]);
		if (r.status != TL_PERF_FAILED || !r.why || r.n_params)
			fail_msg("%s (%zu): status %d", bad[i].op, i, r.status);
		tl__arena_free(&arena);
	}
	tl_arena arena = {0};
	tl_perf_result r;
	example refused = {.op = "aten::instance_norm_backward", .dims = "[[4,32,8,8],[4,32,8,8]]", .types = BF2};
	evaluate(&r, &arena, &refused);
	assert_int_equal(r.status, TL_PERF_NOT_MODELLED);
	refused =
		(example){.op = "triton_poi_fused_add_0", .dims = "[[64]]", .types = "[" BF "]", .concrete = "[\"\"]"};
	evaluate(&r, &arena, &refused);
	assert_int_equal(r.status, TL_PERF_NOT_MODELLED);
	tl__arena_free(&arena);
}

static const tl_value *param(const tl_perf_result *r, const char *name)
{
	for (size_t i = 0; i < r->n_params; i++)
		if (!strcmp(r->params[i].name, name))
			return &r->params[i].value;
	return NULL;
}

static void assert_param(const tl_perf_result *r, const char *name, const char *text)
{
	tl_buf buf = {0};
	assert_non_null(param(r, name));
	tl__value_str(&buf, param(r, name));
	assert_string_equal(tl__buf_text(&buf), text);
	tl__buf_free(&buf);
}

/* Parameters come in the model's order, shapes as tuples, what is absent as None. */
static void test_params(void **state)
{
	tl_arena arena = {0};
	tl_perf_result r;
	const char *kernels[] = {"memset", "Cijk_Alik_Bljk_BBS_MT64x32x16_x", "nvjet_x_NT"};
	const char *name = "aten::addmm";
	static const char *const order[] = {"M",        "N",         "K", "bias",     "stride_A",
					    "stride_B", "dtype_A_B", "B", "transpose"};

	(void)state;
	tl_perf_input in = {.name = name,
			    .dims = parse(&arena, "[[4],[2,3],[3,4]]"),
			    .types = parse(&arena, "[\"float\",\"float\",\"double\"]"),
			    .strides = parse(&arena, "[[1],[3,1]]"),
			    .kernels = kernels,
			    .n_kernels = 3};
	assert_int_equal(tl__perf_model(name, strlen(name))->eval(&in, &arena, &r), 0);
	assert_int_equal(r.n_params, sizeof order / sizeof *order);
	for (size_t i = 0; i < r.n_params; i++)
		assert_string_equal(r.params[i].name, order[i]);
	assert_param(&r, "M", "2");
	assert_param(&r, "bias", "True");
	assert_param(&r, "stride_A", "(3, 1)");
	assert_param(&r, "stride_B", "None");
	assert_param(&r, "dtype_A_B", "('float', 'double')");
	assert_param(&r, "transpose", "(True, False)");
	tl__arena_free(&arena);
}

/* A reduction reports the dtype and needs it for bytes only (spec 03 section 9): FLOPs are the input's elements. */
static void test_reduction_without_dtype(void **state)
{
	(void)state;
	tl_arena arena = {0};
	tl_perf_result r;
	example e = {.op = "aten::mean", .dims = "[[8,16,32,32],[]]", .concrete = "[\"\",\"[1]\"]"};
	evaluate(&r, &arena, &e);
	assert_int_equal(r.status, TL_PERF_OK);
	assert_true(r.flops.known && r.flops.value == 131072);
	assert_false(r.bytes.known);
	assert_null(r.precision);
	assert_param(&r, "num_input_elems", "131072");
	assert_param(&r, "dtype_in_out", "(None, None)");
	assert_param(&r, "reduce_type", "mean");
	tl__arena_free(&arena);
}

/* The backward of a fused convolution takes everything from its forward. */
static void test_forward(void **state)
{
	tl_arena arena = {0};
	tl_perf_result r;
	(void)state;
	tl_perf_input forward = {.name = "ConvBiasReLU_",
				 .dims = parse(&arena, "[[8,64,56,56],[256,64,1,1],[1,256,1,1]]"),
				 .types = parse(&arena, "[" HALF "," HALF "," HALF "]"),
				 .concrete = parse(&arena, "[\"\",\"\",\"\",\"1\",\"0\"]")};
	tl_perf_input in = {.name = "ConvBiasReLU_Backward", .forward = &forward};
	const tl_perf_model *model = tl__perf_model(in.name, strlen(in.name));
	assert_int_equal(model->reads, TL_READS_FORWARD);
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_int_equal(r.status, TL_PERF_OK);
	assert_true(r.flops.value == 1650589696);
	assert_true(r.bytes.value == 38600960);
	tl__arena_free(&arena);
}

/* Results must not point into the arguments: those may go away earlier. */
static void test_ownership(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const example *e = &examples[i];
		tl_arena arguments = {0}, arena = {0};
		tl_perf_result r;
		tl_buf before = {0}, after = {0};
		tl_perf_input in = {.name = e->op,
				    .dims = parse(&arguments, e->dims),
				    .types = parse(&arguments, e->types),
				    .strides = parse(&arguments, e->dims),
				    .concrete = parse(&arguments, e->concrete)};
		assert_int_equal(tl__perf_model(e->op, strlen(e->op))->eval(&in, &arena, &r), 0);
		for (size_t k = 0; k < r.n_params; k++)
			tl__value_repr(&before, &r.params[k].value);
		tl__arena_free(&arguments);
		for (size_t k = 0; k < r.n_params; k++)
			tl__value_repr(&after, &r.params[k].value);
		assert_string_equal(tl__buf_text(&before), tl__buf_text(&after));
		tl__buf_free(&before);
		tl__buf_free(&after);
		tl__arena_free(&arena);
	}
}

/* Every model on every other model's arguments and on pieces of nonsense. */
static void test_any_arguments(void **state)
{
	static const char *const odd[] = {
		"null",
		"[]",
		"[[],[],[],[],[]]",
		"[null,null,null]",
		"[[null],[true],[\"x\"],[{}],[[[]]]]",
		"[[0,0,0,0],[0,0,0,0],[0,0,0,0],[0],[0],[0]]",
		"[[1,1,1,1],[1,1,1,1],[1,1,1,1],[1],[1],[1]]",
		"[[9007199254740992,9007199254740992,9007199254740992,9007199254740992]]",
		("[\"9223372036854775807\",\"-9223372036854775808\",\"[9223372036854775807]\",\"nan\",\"inf\",\"-1\","
		 "\"-1\",\"-1\",\"-1\",\"-1\",\"-1\",\"-1\",\"-1\",\"-1\",\"-1\",\"-1\",\"-1\"]"),
		"[\"1e308\",\"1e308\",\"1e308\",\"1e308\",\"1e308\",\"1e308\",\"1e308\",\"1e308\",\"1e308\",\"1e308\"]",
		"[\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"[-5, -5]\",\"[-5, -5]\",\"[-5, -5]\",\"[-5]\",\"[-5]\",\"-5\"]",
		"\"text\"",
		"{\"a\":1}",
		"3"};
	static const char *const attached[] = {
		"null",
		"{\"MoE topk\":4,\"MoE GEMM gated\":true}",
		"{\"MoE topk\":\"1e9\",\"MoE GEMM gated\":[]}",
		"{\"v4_tp\":0,\"v4_H_Q\":-1,\"v4_d_h\":9007199254740993,\"v4_window\":9007199254740992}",
		"{\"attention_perf_meta\":{\"k_cache_dtype\":3},\"v4_model_name\":7,\"v4_index_topk\":\"x\"}",
	};
	static const char *const steps[] = {
		"execute_2_context_1(sq9007199254740992sk9007199254740992sqsq9007199254740992sqsk0)_generation_1"
		"(sq9007199254740992sk9007199254740992sqsq1sqsk9007199254740992)",
		"step[DECODE bs=64 g_sq=64 g_sqsq=64 g_sqsk=131072 g_sk=131072]",
		"prefill[bs=2 tok=0 sqsq=0 sqsk=0]",
		"decode[bs=117/128 tok=117 d=117]",
	};
	size_t n, n_odd = sizeof odd / sizeof *odd, n_all = sizeof examples / sizeof *examples + n_odd;
	const tl_perf_model *models = tl__perf_models(&n);
	const size_t plain = sizeof examples / sizeof *examples;

	(void)state;
	for (size_t m = 0; m < n; m++) {
		for (size_t i = 0; i < n_all; i++) {
			tl_arena arena = {0};
			const tl_value *a = parse(&arena, i < plain ? examples[i].dims : odd[i - plain]);
			const tl_value *b = parse(&arena, i < plain ? examples[i].types : odd[i - plain]);
			const tl_value *c = parse(&arena, i < plain ? examples[i].concrete : odd[i - plain]);
			tl_perf_input in = {.name = models[m].name, .dims = a, .types = b, .strides = a, .concrete = c};
			tl_perf_input fwd = in, mixed = in;
			tl_perf_result r;
			in.forward = &fwd;
			assert_int_equal(models[m].eval(&in, &arena, &r), 0);
			assert_true(r.n_params <= TL_PERF_MAX_PARAMS);
			const tl_perf_model *outside = tl__perf_model_outside_steps(&models[m]);
			for (size_t k = 0; k < n_odd; k++) {
				mixed.concrete = parse(&arena, odd[k]);
				mixed.extras = parse(&arena, attached[k % (sizeof attached / sizeof *attached)]);
				mixed.annotation = steps[k % (sizeof steps / sizeof *steps)];
				assert_int_equal(models[m].eval(&mixed, &arena, &r), 0);
				assert_true(r.status != TL_PERF_FAILED || r.why);
				assert_int_equal(outside ? outside->eval(&mixed, &arena, &r) : 0, 0);
				assert_true(r.status != TL_PERF_FAILED || r.why);
			}
			tl__arena_free(&arena);
		}
	}
}

/* Without memory a model says so; it neither crashes nor leaks. */
static void test_no_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const example *e = &examples[i];
		tl_arena arguments = {0};
		tl_perf_input in = {.name = e->op,
				    .dims = parse(&arguments, e->dims),
				    .types = parse(&arguments, e->types),
				    .strides = parse(&arguments, e->dims),
				    .concrete = parse(&arguments, e->concrete)};
		const tl_perf_model *model = tl__perf_model(e->op, strlen(e->op));
		assert_survives_no_memory(model, &in);
		tl__arena_free(&arguments);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),        cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_params),        cmocka_unit_test(test_reduction_without_dtype),
		cmocka_unit_test(test_forward),       cmocka_unit_test(test_ownership),
		cmocka_unit_test(test_any_arguments), cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
