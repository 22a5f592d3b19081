/* SPDX-License-Identifier: MIT */
/* Models of serving frameworks' kernels on worked numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "perf/args.h"
#include "perf/model_testing.h"

#define BF "\"c10::BFloat16\""
#define FP8 "\"c10::Float8_e4m3fn\""
#define FP4 "\"c10::Float4_e2m1fn_x2\""

typedef struct example {
	const char *op, *dims, *types, *concrete;
	double flops, bytes;
	const char *spec;
} example;

static const example examples[] = {
	{"aiter::gemm_a16w16", "[[15360,4096],[24576,4096],[]]", "[" BF "," BF "]", NULL, 3092376453120, 1082130432,
	 "matrix_bf16"},
	{"aiter::gemm_a16w16_atomic_", "[[64,7168],[256,7168],[],[64,256]]", "[" BF "," BF ",\"\",\"float\"]", NULL,
	 234881024, 4653056, "matrix_bf16"},
	{"aiter::_gemm_a16w16_asm", "[[64,7168],[256,7168],[64,256]]", "[" BF "," BF ",\"float\"]", NULL, 234881024,
	 4653056, "matrix_bf16"},
	{"vllm::rocm_unquantized_gemm", "[[32,2880],[128,2880],[128]]", "[" BF "," BF "," BF "]", NULL, 23597056,
	 930048, "matrix_bf16"},
	{"aiter::gemm_a8w8_blockscale_ck", "[[64,7168],[2112,7168],[64,56],[17,56]]", "[" FP8 "," FP8 ",\"float\"]",
	 NULL, 1937768448, 15867904, "matrix_fp8"},
	{"aiter::gemm_afp4wfp4_", "[[64,3584],[2112,3584]]", "[" FP4 "," FP4 "]", NULL, 1937768448, 8069120,
	 "matrix_fp4"},
	{"aiter::batched_gemm_a16wfp4_", "[[16,32,512],[16,128,256]]", "[" BF ",\"unsigned char\"]", NULL, 67108864,
	 1179648, "matrix_fp4"},

	{"aiter::rms_norm", "[[32,2880],[2880]]", "[" BF "," BF "]", NULL, 368704, 374400, "vector_bf16"},
	{"aiter::rmsnorm", "[[32,2880],[32,2880],[2880]]", "[" BF "," BF "," BF "]", NULL, 368704, 374400,
	 "vector_bf16"},
	{"aiter::add_rmsnorm", "[[32,7168],[32,7168],[32,7168],[32,7168],[7168]]",
	 "[" BF "," BF "," BF "," BF "," BF "]", NULL, 1146944, 1849344, "vector_bf16"},
	{"aiter::rmsnorm2d_fwd_with_dynamicquant_ck", "[[32,7168],[32,7168],[32,1],[7168]]", "[" FP8 "," BF "]", NULL,
	 1376320, 702592, "vector_bf16"},
	{"aiter::rmsnorm_quant", "[[32,7168],[32,7168],[32,56],[7168]]", "[" FP8 "," BF "]",
	 "[\"\",\"\",\"\",\"\",\"\",\"128\"]", 1376320, 709632, "vector_bf16"},
	{"vllm::rocm_aiter_rmsnorm_fp8_group_quant", "[[4,1536],[1536]]", "[" BF "," BF "]", "[\"\",\"\",\"\",\"128\"]",
	 36872, 21696, "vector_bf16"},
	{"vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant", "[[4,7168],[4,7168],[7168]]", "[" BF "," BF "," BF "]",
	 "[\"\",\"\",\"\",\"\",\"128\"]", 200712, 215936, "vector_bf16"},
	{"aiter::fused_add_rmsnorm_pad_", "[[64,2880],[2880]]", "[" BF "," BF "]", "[\"\",\"\",\"\",\"\",\"256\"]",
	 921728, 1504896, "vector_bf16"},
	{"aiter::_fuse_rmsnorm_fp4_quant", "[[64,1536],[1536],[],[64,512],[512],[],[64,1536]]", "[" BF "," BF "]", NULL,
	 819370, 777216, "vector_bf16"},

	{"sgl_kernel::silu_and_mul", "[[64,2304],[64,4608]]", "[" BF "," BF "]", NULL, 737280, 884736, "vector_bf16"},
	{"aiter::gelu_and_mul", "[[64,2304],[64,4608]]", "[" BF "," BF "]", NULL, 1179648, 884736, "vector_bf16"},
	{"aiter::gelu_tanh_and_mul", "[[64,2304],[64,4608]]", "[" BF "," BF "]", NULL, 1474560, 884736, "vector_bf16"},
	{"sgl_kernel::rotary_embedding", "[[64],[64,4096],[64,1024],[],[41216,128]]", "[\"long int\"," BF "," BF "]",
	 "[\"\",\"\",\"\",\"128\"]", 983040, 1310720, "vector_bf16"},
	{"aiter::rope_cached_positions_2c_fwd_impl", "[[],[],[64,32,128],[64,8,128]]", "[" BF "]", NULL, 983040,
	 1310720, "vector_bf16"},
	{"sglang::store_cache", "[[64,1024],[64,1024]]", "[" BF "," BF "]", NULL, 0, 524288, "vector_bf16"},
	{"_C_custom_ar::all_reduce", "[[],[4,7168]]", "[\"\"," BF "]", NULL, 0, 114688, "vector_bf16"},
	{"aiter::fused_allreduce_rmsnorm", "[[],[],[4,7168],[4,7168],[],[],[7168]]",
	 "[\"\",\"\"," BF "," BF ",\"\",\"\"," BF "]", NULL, 143368, 243712, "vector_bf16"},
	{"aiter::fused_allreduce_rmsnorm_", "[[4,7168],[4,7168],[7168]]", "[" BF "," BF "," BF "]", NULL, 143368,
	 243712, "vector_bf16"},
	{"aiter::reduce_scatter", "[[],[8,7168],[4,7168]]", "[\"\"," BF "]", NULL, 0, 172032, "vector_bf16"},
	{"sglang::reg_all_gather_into_tensor", "[[256,16160],[32,16160]]", "[" BF "," BF "]", NULL, 0, 9308160,
	 "vector_bf16"},

	{"aiter::dynamic_per_token_scaled_quant", "[[64,7168],[64,7168],[64,1]]", "[" FP8 "," BF ",\"float\"]", NULL,
	 1189888, 1376512, "vector_bf16"},
	{"vllm::triton_per_token_group_quant_fp8", "[[64,7168],[]]", "[" BF ",\"Scalar\"]", "[\"\",\"128\"]", 2752512,
	 1390592, "vector_bf16"},
	/* leading dimensions are rows */
	{"vllm::triton_per_token_group_quant_fp8", "[[4,16,7168],[]]", "[" BF ",\"Scalar\"]", "[\"\",\"\"]", 2752512,
	 1390592, "vector_bf16"},
	{"vllm::triton_per_token_group_quant_fp8", "[[7168],[]]", "[" BF ",\"Scalar\"]", NULL, 43008, 21728,
	 "vector_bf16"},
	{"sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant", "[[64,16,128]]", "[" BF "]", NULL, 262144,
	 331776, "vector_bf16"},
	{"sglang_profiler::quant_dynamic_mxfp4_quant", "[[64,2048]]", "[" BF "]", NULL, 262144, 331776, "vector_bf16"},
	{"aiter::dynamic_per_group_scaled_quant_fp4", "[[64,1024],[64,2048]]", "[\"unsigned char\"," BF "]", NULL,
	 262144, 331776, "vector_bf16"},
	{"aiter::fused_dynamic_mx_quant_moe_sort_hip", "[[64,1024],[64,64],[64,2048]]",
	 "[\"unsigned char\",\"unsigned char\"," BF "]", NULL, 262144, 331776, "vector_bf16"},
	{"aiter::fused_dynamic_mxfp4_quant_moe_sort_hip", "[[64,1024],[64,64],[64,2048]]",
	 "[\"unsigned char\",\"unsigned char\"," BF "]", NULL, 262144, 331776, "vector_bf16"},

	{"aiter::fused_qk_rope_cat_and_cache_mla", "[[64,16,512],[64,16,64],[64,1,512],[64,1,64],[1000,1,576]]",
	 "[" BF "," BF "," BF "," BF "," FP8 "]", NULL, 208896, 2469888, "vector_bf16"},
	{"aiter::fused_qk_rope_concat_and_cache_mla",
	 "[[64,16,512],[64,16,64],[64,512],[64,64],[1000,1,576],[64,16,576]]",
	 "[" BF "," BF "," BF "," BF "," FP8 "," FP8 "]", NULL, 208896, 1880064, "vector_bf16"},
	{"aiter::mixed_sample_outer_exponential", "[[64],[64,32000],[64,32000]]", "[\"int\"," BF ",\"float\"]", NULL,
	 4096000, 12288256, "vector_bf16"},

	{"aiter::mhc_post", "[[64,4,4096],[64,4096]]", "[" BF "," BF "]", NULL, 10485760, 4723712, "vector_bf16"},
	{"aiter::mhc_pre_gemm_sqrsum", "[[4,64,24],[4,64],[64,4,4096],[24,16384]]",
	 "[\"float\",\"float\"," BF ",\"float\"]", NULL, 50331648, 3695616, "matrix_bf16"},
	{"aiter::mhc_pre_big_fuse_rmsnorm", "[[64,4],[64,4,4],[64,4096],[4,64,24],[4,64],[3],[24],[64,4,4096]]",
	 "[\"float\",\"float\"," BF ",\"float\",\"float\",\"float\",\"float\"," BF "]", NULL, 3407872, 2659328,
	 "vector_bf16"},
	{"aiter::mhc_fused_post_pre_gemm_sqrsum",
	 "[[4,64,24],[4,64],[64,4,4096],[64,4096],[64,4,4096],[64,4],[64,4,4],[24,16384]]",
	 "[\"float\",\"float\"," BF "," BF "]", NULL, 60817408, 8419328, "matrix_bf16"},
	/* no dtypes: bf16 */
	{"aiter::mhc_post", "[[64,4,4096],[64,4096]]", "[]", NULL, 10485760, 4723712, "vector_bf16"},
};

static void evaluate(tl_perf_result *out, tl_arena *arena, const example *e, const char *strides)
{
	const tl_perf_model *model = tl__perf_model(e->op, strlen(e->op));
	assert_non_null(model);
	tl_perf_input in = {.name = e->op,
			    .dims = parse(arena, e->dims),
			    .types = parse(arena, e->types),
			    .strides = parse(arena, strides),
			    .concrete = parse(arena, e->concrete)};
	assert_int_equal(model->eval(&in, arena, out), 0);
	assert_survives_no_memory(model, &in);
}

static void test_worked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const example *e = &examples[i];
		tl_arena arena = {0};
		tl_perf_result r;
		evaluate(&r, &arena, e, NULL);
		if (r.status != TL_PERF_OK || !r.bytes.known || r.flops.value != e->flops || r.bytes.value != e->bytes)
			fail_msg("%s: status %d, flops %.17g, bytes %.17g", e->op, r.status, r.flops.value,
				 r.bytes.value);
		assert_int_equal(r.flops_bwd.status, TL_PERF_NOT_MODELLED);
		assert_int_equal(r.bytes_bwd.status, TL_PERF_NOT_MODELLED);
		assert_spec(&r, e->spec);
		tl__arena_free(&arena);
	}
}

static void assert_params(const example *e, const char *strides, const char *expected)
{
	tl_arena arena = {0};
	tl_perf_result r;
	evaluate(&r, &arena, e, strides);
	assert_listed(&r, expected);
	tl__arena_free(&arena);
}

/* Parameters as reports list them. */
static void test_params(void **state)
{
	(void)state;
	assert_params(&examples[0], NULL,
		      "B: 1, M: 15360, N: 24576, K: 4096, bias: False, "
		      "dtype_A_B: ('c10::BFloat16', 'c10::BFloat16', 'c10::BFloat16')");
	assert_params(&(example){"vllm::rocm_unquantized_gemm", "[[32,2880],[5120,2880],[5120]]",
				 "[" BF "," BF "," BF "]", NULL, 0, 0, NULL},
		      NULL,
		      "M: 32, N: 5120, K: 2880, bias: True, "
		      "dtype_A_B: ('c10::BFloat16', 'c10::BFloat16', 'c10::BFloat16'), B: 1");
	assert_params(&(example){"aiter::rmsnorm", "[[256,128],[256,128],[128],[]]", "[" BF "," BF "," BF "]", NULL, 0,
				 0, NULL},
		      "[[128,1],[128,1],[1],[]]",
		      "op_shape: (256, 128), dtype_in_out: ('c10::BFloat16', None), stride_input: (128, 1), "
		      "stride_output: None, num_channels: 128, has_bias: False, is_affine: True, is_training: False");
	assert_params(
		&(example){"sgl_kernel::silu_and_mul", "[[32,12288],[32,24576]]", "[" BF "," BF "]", NULL, 0, 0, NULL},
		"[[12288,1],[24576,1]]",
		"op_shape: (32, 12288), dtype_in_out: ('c10::BFloat16', 'c10::BFloat16'), "
		"stride_input: (24576, 1), stride_output: (12288, 1)");
	assert_params(&(example){"aiter::gemm_a8w8_ck", "[[64,7168],[2112,7168],[64,56],[17,56]]",
				 "[" FP8 "," FP8 ",\"float\",\"float\"]", NULL, 0, 0, NULL},
		      NULL,
		      "B: 1, M: 64, N: 2112, K: 7168, bias: False, dtype_A_B: ('c10::Float8_e4m3fn', "
		      "'c10::Float8_e4m3fn', 'c10::bfloat16'), quant_scheme: 'a8w8_blockscale', quant_granularity: "
		      "'per_block', block_k: 128, block_n: 125, scale_dtype: 'float', output_shape: (64, 2112), "
		      "output_dtype: 'c10::bfloat16'");
	/* without bias, as in the sheet of a real trace */
	assert_params(&(example){"vllm::rocm_unquantized_gemm", "[[32,2880],[201088,2880],[]]", "[" BF "," BF ",\"\"]",
				 NULL, 0, 0, NULL},
		      NULL,
		      "M: 32, N: 201088, K: 2880, bias: False, dtype_A_B: ('c10::BFloat16', 'c10::BFloat16', ''), B: "
		      "1");
	assert_params(&(example){"aiter::reduce_scatter", "[[],[8,7168],[4,7168]]", "[\"\"," BF "]", NULL, 0, 0, NULL},
		      "[[],[7168,1],[7168,1]]",
		      "op_shape: (8, 7168), out_shape: (4, 7168), dtype_in: 'c10::BFloat16', stride_input: (7168, 1)");
	assert_params(&(example){"aiter::mhc_pre_gemm_sqrsum", "[[4,64,24],[4,64],[64,4,4096],[24,16384]]",
				 "[\"float\",\"float\"," BF "]", NULL, 0, 0, NULL},
		      NULL, "M: 64, n: 4, C: 4096, hc3: 24, K: 16384, split_k: 4, dtype_in: 'c10::BFloat16'");
	assert_params(
		&(example){"aiter::dynamic_per_token_scaled_quant", "[[64,7168],[64,7168],[64,1]]",
			   "[" FP8 "," BF ",\"float\"]", NULL, 0, 0, NULL},
		"[[7168,1],[7168,1],[1,1]]",
		"shape_in1: (64, 7168), shape_in2: (64, 1), shape_out: (64, 7168), dtype_in1_in2_out: "
		"('c10::BFloat16', 'float', 'c10::Float8_e4m3fn'), stride_input1: (7168, 1), stride_input2: (1, 1), "
		"stride_output: (7168, 1)");
	assert_params(&(example){"sglang::store_cache", "[[32,1024]]", "[" BF "]", NULL, 0, 0, NULL}, NULL,
		      "op_shape: (32, 1024), nelems: 32768, dtype: 'c10::BFloat16'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_worked), cmocka_unit_test(test_params)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
