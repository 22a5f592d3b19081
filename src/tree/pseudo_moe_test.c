/* SPDX-License-Identifier: MIT */
/* Mixtures of experts before and after, and when their pseudo-operations must not be made. */
#include "tree/pseudo_fixture.h"

/* ---- AITER fused MoE ---- */

static void test_aiter_fused_moe(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 100);
	tl_row layer = op(&f, "vllm::rocm_aiter_fused_moe", 5, 80); /* 1 */
	set_args(&f, layer, "[[32,7168],[256,512,7168],[256,7168,256],[32,8]]", "[\"c10::BFloat16\"]", "[\"\"]");
	work(&f, "void aiter::fmoe::MoeSortingKernel", 10);                    /* 2, 3 */
	work(&f, "aiter::fmoe_dynamic_QUANT", 20);                             /* 4, 5 */
	work(&f, FMOE, 30);                                                    /* 6, 7 */
	tl_fixture_gpu(f.store, TL_KIND_MEMCPY, FMOE, 0, 7, 0, 1, TL_ID_NONE); /* no kernel, no launch */
	assert_int_equal(apply(&f), 1);
	assert_shape(&f, "0(1(2(*3) 4(*5) 9(6(*7))))");
	assert_string_equal(name(&f, 9), "pseudo_op::moe_aiter_fused_1stage");
	assert_dressed(&f, 9, layer, layer); /* no sequence number: the operation's UID */
	assert_int_equal(tl__op_args(f.tree->store, 9)->external, 1006);
	assert_int_equal(f.tree->store->start[9], 30 * TL_PS_PER_US);
	assert_int_equal(f.tree->store->dur[9], TL_PS_PER_US);
	assert_int_equal(skipped(&f), 0);
	tl_fixture_free(&f);
}

static void test_aiter_fused_moe_that_is_left(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 1000);
	op(&f, "vllm::rocm_aiter_fused_moe", 10, 20); /* two candidates */
	work(&f, FMOE, 12);
	work(&f, FMOE, 14);
	op(&f, "vllm::rocm_aiter_fused_moe", 40, 20); /* none, but GPU work */
	work(&f, "other", 42);
	op(&f, "vllm::rocm_aiter_fused_moe", 70, 20);  /* no GPU work */
	op(&f, "vllm::rocm_aiter_fused_moe", 100, 20); /* an operation below: silently */
	op(&f, "aiter::fmoe_g1u1", 102, 10);
	work(&f, FMOE, 104);
	op(&f, "vllm::rocm_aiter_fused_moe", 140, 20); /* an operation without GPU work counts, too */
	op(&f, "aten::empty", 142, 2);
	work(&f, FMOE, 146);
	op(&f, "vllm::rocm_aiter_fused_moe", 170, 20); /* one that is below a frame without GPU work does not */
	frame(&f, "a.py(1): f", 172, 4);
	op(&f, "aten::empty", 173, 2);
	work(&f, FMOE, 180);
	tl_row first_new = (tl_row)f.store->n;
	assert_int_equal(apply(&f), 1);
	assert_int_equal(skipped(&f), 3);
	assert_non_null(strstr(why(&f), "2 kernels"));
	assert_int_equal(tl_tree_parent(f.tree, first_new), first_new - 5);
	tl_fixture_free(&f);
}

/* ---- Triton unfused MoE ---- */

/* The example of spec 07 section 11.4: 13 events, 16 afterwards. */
static void test_triton_unfused_moe(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row layer = op(&f, "vllm::moe_forward", 0, 100); /* 0 */
	set_args(&f, layer, "[[32,2880],[32,128]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]", "[\"\",\"\"]");
	tl_fixture_op_args(f.store, layer)->sequence = 55;
	const char *kernels[] = {"_matmul_ogs_mxfp4_swiglu", "_matmul_ogs_mxfp4", "_finalize_matmul_scatter"};
	for (tl_id i = 0; i < 3; i++) { /* 1 to 12 */
		double at = 10.0 + 10.0 * (double)i;
		tl_fixture_launch(f.store, "hipModuleLaunchKernel", 1, 1, at, 2, i + 1);
		tl_fixture_gpu(f.store, TL_KIND_KERNEL, kernels[i], 0, 7, 200 + at, 5, i + 1);
		tl_fixture_flow(f.store, TL_KIND_FLOW, 's', i + 1, 1, 1, at);
		tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', i + 1, 0, 7, 200 + at);
	}
	assert_int_equal(f.store->n, 13);
	assert_int_equal(apply_with(&f, false, NULL), 3);
	assert_int_equal(f.tree->store->n, 16);
	assert_shape(&f, "0(13(1(*2)) 14(5(*6)) 15(9(*10)))");
	const char *names[] = {"pseudo_op::moe_triton_unfused_up", "pseudo_op::moe_triton_unfused_down",
			       "pseudo_op::moe_triton_unfused_finalize_matmul_scatter"};
	for (tl_row i = 0; i < 3; i++) {
		assert_string_equal(name(&f, 13 + i), names[i]);
		assert_dressed(&f, 13 + i, layer, 55);
		assert_int_equal(tl__op_args(f.tree->store, 13 + i)->external, i + 1);
	}
	assert_string_equal(extra(&f, 13, "MoE GEMM type"), "\"up\"");
	assert_string_equal(extra(&f, 13, "MoE GEMM index"), "0");
	assert_string_equal(extra(&f, 13, "MoE GEMM gated"), "true");
	assert_string_equal(extra(&f, 13, "MoE topk"), "4");
	assert_string_equal(extra(&f, 13, "estimated"), "[\"topk\",\"inter_dim\"]");
	assert_string_equal(extra(&f, 14, "MoE GEMM type"), "\"down\"");
	assert_string_equal(extra(&f, 14, "MoE GEMM index"), "1");
	assert_string_equal(extra(&f, 14, "MoE GEMM gated"), "false");
	assert_string_equal(extra(&f, 15, "MoE GEMM type"), "\"finalize_matmul_scatter\"");
	assert_string_equal(extra(&f, 15, "MoE topk"), "");
	assert_int_equal(skipped(&f), 0);
	tl_fixture_free(&f);
}

/* The first to start leads up, whatever the order of launches; all others lead down. */
static void test_triton_gemms_by_start(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 100);
	work(&f, "_p_MATMUL_OGS_a", 10);     /* 1, 2 */
	work(&f, "_p_matmul_ogs_b", 20);     /* 3, 4 */
	work(&f, "_p_matmul_ogs_c_GLU", 30); /* 5, 6 */
	f.store->start[4] = 5 * TL_PS_PER_US;
	assert_int_equal(apply(&f), 3);
	assert_shape(&f, "0(8(1(*2)) 7(3(*4)) 9(5(*6)))");
	assert_string_equal(name(&f, 7), "pseudo_op::moe_triton_unfused_up");
	assert_string_equal(name(&f, 8), "pseudo_op::moe_triton_unfused_down");
	assert_string_equal(name(&f, 9), "pseudo_op::moe_triton_unfused_down");
	assert_string_equal(extra(&f, 9, "MoE GEMM index"), "2");
	assert_string_equal(extra(&f, 7, "MoE GEMM gated"), "false");
	assert_string_equal(extra(&f, 9, "MoE GEMM gated"), "true");
	tl_fixture_free(&f);
}

/* Kernels of one launch: one operation for those that are GEMMs; the launch keeps the others [07-5]. */
static void test_triton_gemms_of_one_launch(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 100);
	work(&f, "_matmul_ogs_a_swiglu", 10);         /* 1, 2 */
	tl_row graph = work(&f, "_matmul_ogs_b", 20); /* 3, 4 */
	tl_id id = tl_fixture_link_args(f.store, graph)->correlation;
	tl_fixture_gpu(f.store, TL_KIND_KERNEL, "_matmul_ogs_c", 0, 7, 1030, 1, id);           /* 5 */
	tl_fixture_gpu(f.store, TL_KIND_KERNEL, "finalize_Matmul_Scatter", 0, 7, 1040, 1, id); /* 6 */
	tl_fixture_gpu(f.store, TL_KIND_MEMSET, "Memset", 0, 7, 1050, 1, id);                  /* 7 */
	assert_int_equal(apply(&f), 3);
	assert_shape(&f, "0(8(1(*2)) 9(*4*5) 10(*6) 3(*7))");
	assert_string_equal(name(&f, 9), "pseudo_op::moe_triton_unfused_down");
	assert_string_equal(name(&f, 10), "pseudo_op::moe_triton_unfused_finalize_matmul_scatter");
	tl_fixture_free(&f);
}

static void test_triton_topk(void **state)
{
	(void)state;
	const struct {
		int levels; /* operations between the layer and the one that chooses */
		const char *concrete, *topk;
	} cases[] = {
		{0, "[\"\",\"8\",\"True\"]", "8"},
		{3, "[\"\",\"8\"]", "8"},
		{4, "[\"\",\"8\"]", "4"},
		{0, "[\"\",\"x\"]", "4"},
		{0, "[\"\"]", "4"},
		{0, "[\"\",\"\"]", "4"},
		{0, "[\"\",6]", "6"},
		{0, "[\"\",\"7 \"]", "4"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_fixture f;
		tl_fixture_new(&f);
		op(&f, "vllm::moe_forward", 0, 100);
		for (int level = 0; level < cases[i].levels; level++)
			op(&f, "wrapper", 5 + level, 30 - 2 * level);
		tl_row topk = op(&f, "aten::TopK_op", 15, 5);
		set_args(&f, topk, "[]", "[]", cases[i].concrete);
		work(&f, "_matmul_ogs", 50);
		assert_int_equal(apply(&f), 1);
		tl_row made = (tl_row)f.tree->store->n - 1;
		assert_string_equal(extra(&f, made, "MoE topk"), cases[i].topk);
		bool guessed = strstr(extra(&f, made, "estimated"), "topk") != NULL;
		assert_int_equal(guessed, !strcmp(cases[i].topk, "4"));
		tl_fixture_free(&f);
	}
}

static void test_triton_layers_that_do_not_fit(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 100);  /* 0 */
	op(&f, "vllm::moe_forward", 5, 80);   /* 1: recorded twice, one in the other; silently */
	work(&f, "_matmul_ogs", 10);          /* 2, 3 */
	work(&f, "_x_matmul_scatter", 20);    /* 4, 5 */
	work(&f, "_y_matmul_scatter", 30);    /* 6, 7: which one finalizes? */
	op(&f, "vllm::moe_forward", 200, 10); /* 8: no GEMM */
	assert_int_equal(apply(&f), 1);
	assert_shape(&f, "0(1(9(2(*3)) 4(*5) 6(*7))) 8");
	assert_int_equal(skipped(&f), 2);
	assert_non_null(strstr(why(&f), "2 GPU events"));
	tl_fixture_free(&f);

	/* a layer of AITER in the trace: the other way is not taken */
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 100);
	work(&f, "_matmul_ogs", 10);
	op(&f, "vllm::rocm_aiter_fused_moe", 200, 10);
	assert_int_equal(apply(&f), 0);
	assert_shape(&f, "0(1(*2)) 3");
	tl_fixture_free(&f);

	/* kernels that are no kernels do not make the family */
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 100);
	f.store->kind[work(&f, "_matmul_ogs", 10) + 1] = TL_KIND_MEMCPY;
	assert_int_equal(apply(&f), 0);
	assert_int_equal(skipped(&f), 0);
	tl_fixture_free(&f);
}

/* ---- GPTQ and AWQ ---- */

static void test_gptq_moe(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row layer = op(&f, "vllm::outplace_fused_experts", 0, 100); /* 0 */
	set_args(&f, layer, "[[16,2048],[128,1536,1024],[128,2048,384],[16,8],[16,6]]", "[]", "[]");
	work(&f, "moe_align", 5);                                        /* 1, 2 */
	work(&f, "fused_moe_kernel_gptq_awq", 10);                       /* 3, 4 */
	work(&f, "fused_moe_kernel_gptq_awq", 20);                       /* 5, 6 */
	tl_row other = op(&f, "vllm::outplace_fused_experts", 200, 100); /* 7: no shapes, three GEMMs */
	work(&f, "fused_moe_kernel_gptq_awq", 210);
	work(&f, "fused_moe_kernel_gptq_awq", 220);
	work(&f, "fused_moe_kernel_gptq_awq", 230);
	op(&f, "vllm::outplace_fused_experts", 400, 100); /* 14: none */
	assert_int_equal(apply(&f), 5);
	assert_shape(&f, "0(1(*2) 15(3(*4)) 16(5(*6))) 7(17(8(*9)) 18(10(*11)) 19(12(*13))) 14");
	assert_string_equal(name(&f, 15), "pseudo_op::moe_gptq_awq_up");
	assert_string_equal(name(&f, 16), "pseudo_op::moe_gptq_awq_down");
	assert_string_equal(name(&f, 19), "pseudo_op::moe_gptq_awq_down");
	assert_dressed(&f, 15, layer, layer);
	assert_dressed(&f, 18, other, other);
	assert_string_equal(extra(&f, 15, "MoE topk"), "6");
	assert_string_equal(extra(&f, 15, "MoE GEMM gated"), "true");
	assert_string_equal(extra(&f, 15, "estimated"), "");
	assert_string_equal(extra(&f, 16, "MoE GEMM gated"), "false");
	assert_string_equal(extra(&f, 17, "MoE topk"), "8");
	assert_string_equal(extra(&f, 17, "estimated"), "[\"topk\"]");
	assert_int_equal(skipped(&f), 2);
	tl_fixture_free(&f);
}

/* ---- flydsl ---- */

static void test_flydsl_moe(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row outer = op(&f, "aiter::fused_moe_", 0, 200); /* 0 */
	tl_row layer = op(&f, "aiter::fused_moe_", 5, 190); /* 1: the nearest counts */
	set_args(&f, layer, "[[1]]", "[]", "[]");
	set_args(&f, outer, "[[2]]", "[]", "[]");
	tl_fixture_op_args(f.store, layer)->sequence = 9;
	frame(&f, "moe.py(3): run", 8, 150);                       /* 2 */
	frame(&f, "moe.py(10): flydsl_moe_stage1", 10, 20);        /* 3 */
	work(&f, "stage1", 12);                                    /* 4, 5 */
	frame(&f, "moe.py(20): flydsl_moe_stage2", 40, 20);        /* 6 */
	work(&f, "stage2", 42);                                    /* 7, 8 */
	frame(&f, "moe.py(30): flydsl_moe_stage1_wrapper", 70, 5); /* 9: ends otherwise */
	op(&f, "x: flydsl_moe_stage1", 80, 5);                     /* 10: no frame */
	frame(&f, "moe.py(10): flydsl_moe_stage1", 300, 20);       /* 11: outside such an operation */
	assert_int_equal(apply(&f), 2);
	assert_shape(&f, "0(1(2(12(3(4(*5))) 13(6(7(*8))) 9 10))) 11");
	assert_string_equal(name(&f, 12), "pseudo_op::moe_flydsl_stage1");
	assert_string_equal(name(&f, 13), "pseudo_op::moe_flydsl_stage2");
	assert_dressed(&f, 12, layer, 9);
	assert_string_equal(extra(&f, 12, "MoE flydsl stage"), "\"flydsl_moe_stage1\"");
	assert_string_equal(extra(&f, 13, "MoE flydsl stage"), "\"flydsl_moe_stage2\"");
	assert_int_equal(f.tree->store->start[12], 10 * TL_PS_PER_US);
	assert_int_equal(f.tree->store->dur[12], 20 * TL_PS_PER_US);
	assert_int_equal(skipped(&f), 0);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aiter_fused_moe),
		cmocka_unit_test(test_aiter_fused_moe_that_is_left),
		cmocka_unit_test(test_triton_unfused_moe),
		cmocka_unit_test(test_triton_gemms_by_start),
		cmocka_unit_test(test_triton_gemms_of_one_launch),
		cmocka_unit_test(test_triton_topk),
		cmocka_unit_test(test_triton_layers_that_do_not_fit),
		cmocka_unit_test(test_gptq_moe),
		cmocka_unit_test(test_flydsl_moe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
