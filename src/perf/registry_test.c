/* SPDX-License-Identifier: MIT */
/* The tables of the registry, categories, dtypes, platforms, kernel names and the roofline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "perf/args.h"
#include "perf/gemm.h"
#include "perf/registry.h"
#include "perf/triton.h"

static const tl_perf_model *find(const char *name)
{
	return tl__perf_model(name, strlen(name));
}

static const char *category(const char *name, const char *kernel)
{
	return tl__perf_category(name, strlen(name), kernel);
}

/* Look-up takes sorted tables for granted. */
static void test_sorted(void **state)
{
	static const char *const aten[] = {
#include "perf/aten_ops.def"
	};
	(void)state;
	for (size_t i = 0; i < sizeof aten / sizeof *aten; i++) {
		assert_true(i == 0 || strcmp(aten[i - 1], aten[i]) < 0);
		assert_true(tl__aten_op_known(aten[i], strlen(aten[i])));
	}
	for (size_t i = 1; tl__perf_category_name(i); i++)
		assert_true(strcmp(tl__perf_category_name(i - 1), tl__perf_category_name(i)) < 0);
}

static bool is_sheet(const char *name)
{
	size_t n;
	const char *const *sheets = tl__perf_sheets(&n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(sheets[i], name))
			return true;
	return false;
}

/* Every model is complete, is found by its own name, and its family has a sheet. */
static void test_complete(void **state)
{
	size_t n;
	const tl_perf_model *models = tl__perf_models(&n);
	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(tl__perf_model_exact(models[i].name, strlen(models[i].name)), &models[i]);
		assert_non_null(models[i].eval);
		assert_true(is_sheet(models[i].sheet));
		assert_true(models[i].reads != 0);
		assert_string_not_equal(category(models[i].name, NULL), "other");
	}
	for (size_t i = 0; tl__perf_category_name(i); i++)
		assert_string_not_equal(category(tl__perf_category_name(i), NULL), "other");
}

static void test_lookup(void **state)
{
	size_t n;
	(void)state;
	assert_string_equal(find("aten::mm")->category, "GEMM");
	assert_null(find("aten::m"));
	assert_null(find("aten::mmm"));
	assert_null(find(""));
	assert_null(tl__perf_model("aten::mm\0x", 10));
	assert_non_null(tl__perf_model("aten::mm and more", 8));
	assert_string_equal(find("aten::layer_norm")->bwd_category, "NORM_bwd");
	assert_null(find("aten::add")->bwd_category);
	assert_string_equal(find("triton_poi_fused_add_0")->category, "triton");
	assert_null(tl__perf_model_exact("triton_poi_fused_add_0", 22));
	assert_null(find("triton_tem_fused_mm_1"));
	assert_null(find("triton_po"));
	assert_string_equal(tl__perf_models(&n)[0].name, "aten::mm");
	const char *const *sheets = tl__perf_sheets(&n);
	assert_int_equal(n, 22);
	assert_string_equal(sheets[0], "GEMM");
	assert_string_equal(sheets[21], "Reduce");
}

static void test_category(void **state)
{
	(void)state;
	assert_string_equal(category("aten::mm", NULL), "GEMM");
	assert_string_equal(category("aten::miopen_convolution", NULL), "CONV_fwd");
	assert_string_equal(category("aiter::fused_dynamic_mxfp4_quant_moe_sort_hip", NULL), "MoE_aux");
	assert_string_equal(category("pseudo_mla_decode_fwd", NULL), "InferenceAttention");
	assert_string_equal(category("tritonx", NULL), "triton");
	assert_string_equal(category("my_triton_kernel", NULL), "other");
	assert_string_equal(category("record_param_comms_alltoall_base", NULL), "record_param_comms");
	assert_string_equal(category("x", "void at::native::(anonymous namespace)::elementwise_reduce(x)"),
			    "elementwise");
	assert_string_equal(category("x", "void at::native::reduce_kernel<512, 4>(x)"), "reduce");
	assert_string_equal(category("x", "void at::native::multi_tensor_apply_kernel<x>(x)"), "multi_tensor_apply");
	assert_string_equal(category("x", "some_elementwise_kernel(x)"), "other");
	assert_string_equal(category("", ""), "other");
}

/* Names of generated kernels carry their shapes: what counts is how they begin. */
static void test_category_patterns(void **state)
{
	(void)state;
#define V4 "aiter::v4_attention_with_output->"
#define SYNTHETIC " (Synthetic Op)"
	assert_string_equal(category(V4 "qk_norm_rope_H32_D512_RD64_flydsl" SYNTHETIC, NULL), "FusedRoPE");
	assert_string_equal(category(V4 "qk_norm_rope_H16_D256_RD32_flydsl" SYNTHETIC, NULL), "FusedRoPE");
	assert_string_equal(category(V4 "hca_norm_rope_scatter_D512_RD64_R128_KB1_rmsbf16_flydsl" SYNTHETIC, NULL),
			    "FusedRoPE");
	assert_string_equal(category(V4 "_inverse_rope_gptj_kernel" SYNTHETIC, NULL), "FusedRoPE");
	assert_string_equal(
		category("aiter::unified_attention_with_output_base->_fused_qk_rope_reshape_and_cache_kernel" SYNTHETIC,
			 NULL),
		"FusedRoPE");
	assert_string_equal(
		category(V4 "fused_compress_attn_D512_RD64_R4_OVL_SS8_KB32_rmsbf16_pf_flydsl" SYNTHETIC, NULL),
		"InferenceAttention");
	assert_string_equal(category(V4 "hca_compress_forward_D512_R128_NW2_SL64_S64_flydsl" SYNTHETIC, NULL),
			    "InferenceAttention");
	assert_string_equal(category(V4 "_swa_write_kernel" SYNTHETIC, NULL), "InferenceAttention");
	assert_string_equal(category(V4 "_update_compressor_states_kernel" SYNTHETIC, NULL), "InferenceAttention");
	assert_string_equal(category("aiter::allgather_lastdim<std::bfloat16_t, 8>(aiter::RankData*)" SYNTHETIC, NULL),
			    "CustomCollective");
	assert_string_equal(category(V4 "something_else" SYNTHETIC, NULL), "other");
	assert_string_equal(category(V4 "qk_norm", NULL), "other");
#undef V4
#undef SYNTHETIC
}

static void test_dtypes(void **state)
{
	(void)state;
	assert_int_equal(tl__dtype_bytes("double"), 8);
	assert_int_equal(tl__dtype_bytes("C10::BFLOAT16"), 2);
	assert_int_equal(tl__dtype_bytes("Scalar"), 4);
	assert_int_equal(tl__dtype_bytes("c10::Float4_e2m1fn_x2"), 1);
	assert_int_equal(tl__dtype_bytes("short int"), 2);
	assert_int_equal(tl__dtype_bytes("c10::complex<double>"), 16);
	assert_int_equal(tl__dtype_bytes("mxfp4"), 0);
	assert_int_equal(tl__dtype_bytes(""), 0);
	assert_int_equal(tl__dtype_bytes(NULL), 0);
	assert_string_equal(tl__dtype_precision("unsigned char"), "fp8");
	assert_string_equal(tl__dtype_precision("signed char"), "int8");
	assert_string_equal(tl__dtype_precision("mxfp4"), "fp4");
	assert_null(tl__dtype_precision("int"));
	assert_null(tl__dtype_precision(NULL));
}

static void test_roofline(void **state)
{
	bool peak = true;
	tl_roofline r;
	double bytes = 3.43505859375 * 1048576;
	tl_arch *arch;

	(void)state;
	assert_int_equal(tl_arch_find(&arch, "mi300x", NULL), 0);
	assert_true(tl_arch_bandwidth(arch) == 5300e9);
	assert_true(tl_arch_memory(arch) == 192e9);
	assert_true(tl_arch_rate(arch, "matrix_bf16", &peak) == 708e12);
	assert_false(peak);
	assert_true(tl_arch_rate(arch, "matrix_fp3", NULL) == 0);
	assert_true(tl_arch_rate(arch, NULL, NULL) == 0);
	assert_true(tl_arch_bandwidth(NULL) == 0);

	/* addmm of 788 x 768 x 768: compute 1.3138 us, memory 0.6796 us */
	assert_true(tl__roofline(&r, arch, "matrix_bf16", 930167808, &bytes));
	assert_true(r.compute_bound);
	assert_true(fabs(r.time_us - 1.313796338983051) < 1e-12);
	bytes = 5300e9;
	assert_true(tl__roofline(&r, arch, "vector_fp32", 81e12 / 2, &bytes));
	assert_false(r.compute_bound);
	assert_true(fabs(r.time_us - 1e6) < 1e-6);
	assert_false(tl__roofline(&r, arch, "vector_fp32", 0, &bytes));
	assert_false(tl__roofline(&r, arch, "vector_fp32", 1, NULL));
	assert_false(tl__roofline(&r, arch, "", 1, &bytes));
	assert_false(tl__roofline(&r, NULL, "vector_fp32", 1, &bytes));
	tl_arch_free(arch);
}

static void test_gemm_names(void **state)
{
	tl_gemm_kernel k;
	(void)state;
	assert_true(tl__gemm_kernel(&k, "Custom_Cijk_Alik_Bljk_BBS_MT256x144x32_MI16x16x1"));
	assert_int_equal(k.trans_a, 1);
	assert_int_equal(k.trans_b, 0);
	assert_int_equal(k.mt_m, 256);
	assert_int_equal(k.mt_n, 144);
	assert_int_equal(k.depth_u, 32);
	assert_true(tl__gemm_kernel(&k, "Cijk_Axyz_Bxyz_MTx_MT12x"));
	assert_int_equal(k.trans_a, -1);
	assert_int_equal(k.mt_m, 0);
	assert_true(tl__gemm_kernel(&k, "nvjet_tst_192x192_64x4_1x2_h_bz_coopB_TNT"));
	assert_int_equal(k.trans_a, 1);
	assert_int_equal(k.trans_b, 0);
	/* a single letter is no pair of flags; an earlier pair counts */
	assert_false(tl__gemm_kernel(&k, "nvjet_tst_32x64x32_v"));
	assert_false(tl__gemm_kernel(&k, "nvjet_"));
	assert_true(tl__gemm_kernel(&k, "nvjet_tst_NT_v"));
	assert_int_equal(k.trans_a, 0);
	assert_int_equal(k.trans_b, 1);
	assert_false(tl__gemm_kernel(&k, "gemm"));
	assert_false(tl__gemm_kernel(&k, "Cij"));
	assert_false(tl__gemm_kernel(&k, "Cijk_Ail"));
	assert_false(tl__gemm_kernel(&k, ""));
	assert_false(tl__gemm_kernel(&k, NULL));
}

static void assert_ops(const char *kernel, const char *expected)
{
	tl_triton_op ops[32];
	char text[512] = "", *p = text;
	size_t n = tl__triton_ops(ops, 32, kernel);
	for (size_t i = 0; i < n && i < 32; i++) {
		if (i)
			*p++ = ' ';
		memcpy(p, ops[i].name, ops[i].n);
		p += ops[i].n;
		*p = '\0';
	}
	assert_string_equal(text, expected);
}

static void test_triton_names(void **state)
{
	tl_triton_op two[2];
	char many[8192] = "triton_poi_fused";
	(void)state;
	assert_ops("triton_red_fused_add_mean_mul_pow_rsqrt_0", "add mean mul pow rsqrt");
	assert_ops("triton_poi_fused__unsafe_view_mul_silu_2", "_unsafe_view mul silu");
	assert_ops("triton_poi_fused_all_to_all_single_add_3", "all_to_all_single add");
	assert_ops("triton_poi_fused_relu_threshold_backward_2", "relu threshold_backward");
	assert_ops("triton_per_fused_native_layer_norm_5", "native_layer_norm");
	assert_ops("triton_poi_fused_add__to_copy_1", "add _to_copy");
	assert_ops("triton_poi_fused_copy__0", "copy_");
	assert_ops("triton_poi_fused_foo_1", "");
	assert_ops("triton_poi_fused_add_foo_1", "");
	assert_ops("triton_poi_fused_0", "");
	assert_ops("triton_poi_fused__0", "");
	assert_ops("triton_poi_fused_add_", "");
	assert_ops("triton_tem_fused_mm_1", "");
	assert_ops("triton", "");
	assert_int_equal(tl__triton_ops(two, 2, "triton_poi_fused_add_mul_sub_1"), 3);
	assert_memory_equal(two[1].name, "mul", 3);
	for (size_t i = 0; i < 2000; i++)
		strcat(many, "_mm");
	strcat(many, "_1");
	assert_int_equal(tl__triton_ops(NULL, 0, many), 0);
}

static void test_values(void **state)
{
	tl_arena arena = {0};
	tl_value v;
	bool ok;
	const tl_value *list;
	static const char json[] = "[\"True\",\" [1, 2.5 ,None] \",\"\",\"[1, [2]]\",\"os\",[1,2],\"7\",\"()\"]";
	(void)state;
	assert_int_equal(tl__value_parse(&arena, json, sizeof json - 1, false, &list), 0);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 0, &arena), 0);
	assert_true(ok && v.kind == TL_V_BOOL && v.b);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 1, &arena), 0);
	assert_true(ok && v.kind == TL_V_LIST && v.n == 3 && v.items[0].i == 1 && v.items[1].d == 2.5);
	assert_int_equal(v.items[2].kind, TL_V_NONE);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 2, &arena), 0);
	assert_true(ok && v.kind == TL_V_NONE);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 3, &arena), 0);
	assert_false(ok);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 4, &arena), 0);
	assert_false(ok);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 5, &arena), 0);
	assert_true(ok && v.kind == TL_V_LIST && v.n == 2);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 6, &arena), 0);
	assert_true(ok && v.kind == TL_V_INT && v.i == 7);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 7, &arena), 0);
	assert_true(ok && v.kind == TL_V_LIST && v.n == 0);
	assert_int_equal(tl__arg_literal(&v, &ok, list, 99, &arena), 0);
	assert_true(ok && v.kind == TL_V_NONE);
	tl__arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_category),
		cmocka_unit_test(test_category_patterns),
		cmocka_unit_test(test_dtypes),
		cmocka_unit_test(test_roofline),
		cmocka_unit_test(test_gemm_names),
		cmocka_unit_test(test_triton_names),
		cmocka_unit_test(test_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
