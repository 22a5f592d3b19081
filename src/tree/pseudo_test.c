/* SPDX-License-Identifier: MIT */
/* Each pseudo-operation before and after, and when it must not be made. */
#include "tree/edit_fixture.h"
#include "tree/pseudo.h"

#define assert_shape(f, text) assert_string_equal(tl_fixture_shape((f)->tree), text)

/* ---- traces by hand: thread 1 of process 1, GPU events on stream 7 ---- */

static tl_row op(tl_fixture *f, const char *name, double start, double dur)
{
	return tl_fixture_op(f->store, name, 1, 1, start, dur);
}

static tl_row frame(tl_fixture *f, const char *name, double start, double dur)
{
	return tl_fixture_python(f->store, name, 1, 1, start, dur, TL_ID_NONE, TL_ID_NONE);
}

/* A launch at `start` and its kernel; returns the launch, the kernel is the next row. */
static tl_row work(tl_fixture *f, const char *kernel, double start)
{
	tl_id id = (tl_id)f->store->n + 1000;
	tl_row launch = tl_fixture_launch(f->store, "hipLaunchKernel", 1, 1, start, 1, id);
	tl_fixture_gpu(f->store, TL_KIND_KERNEL, kernel, 0, 7, 1000 + start, 1, id);
	return launch;
}

static void set_args(tl_fixture *f, tl_row row, const char *dims, const char *types, const char *concrete)
{
	tl_op_args *args = tl_fixture_op_args(f->store, row);
	args->dims = tl__interns(f->store->strings, dims);
	args->types = tl__interns(f->store->strings, types);
	args->concrete = tl__interns(f->store->strings, concrete);
}

static size_t apply_with(tl_fixture *f, bool with_python, const tl_pseudo_options *options)
{
	size_t made = 99;
	tl_fixture_build(f, with_python);
	assert_int_equal(tl_tree_apply_pseudo_ops(f->tree, options, &made, NULL), 0);
	tl_fixture_check_edited(f->tree);
	return made;
}

static size_t apply(tl_fixture *f)
{
	return apply_with(f, true, NULL);
}

static uint64_t skipped(const tl_fixture *f)
{
	return tl_fixture_findings(f, TL_HEALTH_PSEUDO_OP_SKIPPED);
}

static const char *why(const tl_fixture *f)
{
	return f->tree->health.entry[TL_HEALTH_PSEUDO_OP_SKIPPED].detail;
}

static const char *name(const tl_fixture *f, tl_row row)
{
	return tl__name(f->tree->store, row);
}

/* An extra argument as JSON text, "" when there is none. */
static const char *extra(const tl_fixture *f, tl_row row, const char *key)
{
	const tl_store *s = f->tree->store;
	size_t n;
	const tl_extra *e = tl__store_extras(s, row, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(tl__str(s->strings, e[i].key), key))
			return tl__str(s->strings, e[i].value);
	return "";
}

/* The arguments of a made operation are those of its donor. */
static void assert_dressed(const tl_fixture *f, tl_row made, tl_row donor, uint64_t sequence)
{
	const tl_store *s = f->tree->store;
	const tl_op_args none = {0}, *a = tl__op_args(s, made), *b = tl__op_args(s, donor);
	assert_non_null(a);
	b = b ? b : &none;
	assert_int_equal(a->dims, b->dims);
	assert_int_equal(a->types, b->types);
	assert_int_equal(a->strides, b->strides);
	assert_int_equal(a->concrete, b->concrete);
	assert_int_equal(a->sequence, sequence);
	assert_int_equal(s->kind[made], TL_KIND_CPU_OP);
	assert_string_equal(extra(f, made, "Pseudo op"), "true");
}

/* ---- names ---- */

static void test_numbers_are_taken_off_names(void **state)
{
	(void)state;
	const struct {
		const char *before, *after;
	} cases[] = {
		{"sglang_profiler::gemm_12", "sglang_profiler::gemm"},
		{"sglang_profiler::gemm_12_3", "sglang_profiler::gemm_12"},
		{"sglang_profiler::gemm_a8", "sglang_profiler::gemm_a8"},
		{"sglang_profiler::gemm_", "sglang_profiler::gemm_"},
		{"sglang_profiler::gemm12", "sglang_profiler::gemm12"},
		{"sglang_profiler::_12", "sglang_profiler::_12"}, /* nothing would be left */
		{"sglang_profiler::__12", "sglang_profiler::_"},
		{"sglang_profiler_12", "sglang_profiler_12"},
		{"my::sglang_profiler::gemm_12", "my::sglang_profiler::gemm_12"},
		{"aten::conv_2", "aten::conv_2"},
	};
	enum { CASES = sizeof cases / sizeof *cases };
	tl_fixture f;
	tl_fixture_new(&f);
	for (int i = 0; i < CASES; i++)
		op(&f, cases[i].before, i * 10, 5);
	assert_int_equal(apply(&f), 0);
	for (tl_row i = 0; i < CASES; i++)
		assert_string_equal(name(&f, i), cases[i].after);
	assert_string_equal(tl__name(f.trace.store, 0), "sglang_profiler::gemm_12"); /* the trace keeps them */
	tl_fixture_free(&f);
}

/* The first event of a name decides for all of that name. */
static void test_the_first_of_a_name_decides(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	frame(&f, "sglang_profiler::a_1", 0, 5);
	op(&f, "sglang_profiler::a_1", 10, 5);
	op(&f, "sglang_profiler::b_1", 20, 5);
	frame(&f, "sglang_profiler::b_1", 30, 5);
	apply(&f);
	assert_string_equal(name(&f, 0), "sglang_profiler::a_1");
	assert_string_equal(name(&f, 1), "sglang_profiler::a_1");
	assert_string_equal(name(&f, 2), "sglang_profiler::b");
	assert_string_equal(name(&f, 3), "sglang_profiler::b");
	tl_fixture_free(&f);
}

static void test_other_traces_are_left_alone(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	op(&f, "vllm::moe_forward", 0, 100); /* alone it says nothing about how it is made */
	work(&f, "gemm", 10);
	assert_int_equal(apply(&f), 0);
	assert_shape(&f, "0(1(*2))");
	assert_int_equal(f.tree->generation, 0);
	assert_int_equal(skipped(&f), 0);
	tl_fixture_free(&f);
}

/* ---- AITER fused MoE ---- */

#define FMOE "void aiter::fmoe_kernel<1>"

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

/* Kernels of one launch: one operation for those that are GEMMs; the launch keeps the others (fault 5). */
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

/* ---- multi-head latent attention ---- */

static void test_mla_decode(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	frame(&f, "/opt/aiter/mla.py(160): mla_decode_fwd", 0, 100);       /* 0 */
	op(&f, "aten::empty", 5, 2);                                       /* 1 */
	tl_row donor = op(&f, "aiter::mla_decode_stage1_asm_fwd", 10, 10); /* 2 */
	set_args(&f, donor, "[[4,16,576],[100,1,1,576]]", "[\"c10::BFloat16\"]", "[]");
	work(&f, "mla_stage1", 12);                              /* 3, 4 */
	op(&f, "aiter::mla_decode_stage1_asm_fwd", 30, 10);      /* 5: the second does not matter */
	work(&f, "mla_stage2", 50);                              /* 6, 7 */
	frame(&f, "aiter/mla.py(160): mla_decode_fwd", 200, 10); /* 8: nothing below */
	frame(&f, "aiter/mla.py(160): mla_decode_fwd", 300, 50); /* 9: no GPU events */
	op(&f, "aiter::mla_decode_stage1_asm_fwd", 310, 10);     /* 10 */
	assert_int_equal(apply(&f), 1);
	assert_shape(&f, "0(11(1 2(3(*4)) 5 6(*7))) 8 9(10)");
	assert_string_equal(name(&f, 11), "pseudo_mla_decode_fwd");
	assert_dressed(&f, 11, donor, 0); /* the frame's UID */
	assert_int_equal(f.tree->store->dur[11], 100 * TL_PS_PER_US);
	assert_int_equal(skipped(&f), 2);
	tl_fixture_free(&f);
}

static void test_mla_prefill(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	frame(&f, "x.py(1): mla_fp8_prefill_attn", 0, 100);             /* 0 */
	tl_row donor = op(&f, "aiter::mla_prefill_ps_asm_fwd", 10, 10); /* 1 */
	tl_fixture_op_args(f.store, donor)->sequence = 3;
	work(&f, "prefill", 12); /* 2, 3 */
	assert_int_equal(apply(&f), 1);
	assert_shape(&f, "0(4(1(2(*3))))");
	assert_string_equal(name(&f, 4), "pseudo_mla_prefill_fwd");
	assert_dressed(&f, 4, donor, 3);
	tl_fixture_free(&f);
}

static void test_frame_names(void **state)
{
	(void)state;
	const struct {
		const char *name, *donor;
		size_t made;
	} cases[] = {
		{"aiter/mla.py(1): mla_decode_fwd", "aiter::mla_decode_stage1_asm_fwd", 1},
		{"aiter/mla.py(1): mla_decode_fwd_grouped", "aiter::mla_decode_stage1_asm_fwd",
		 1}, /* no word end asked */
		{"aiter/mla.py(x): mla_decode_fwd", "aiter::mla_decode_stage1_asm_fwd", 0},
		{"aiter/mla.py(): mla_decode_fwd", "aiter::mla_decode_stage1_asm_fwd", 0},
		{"aiter/mla.py(12) mla_decode_fwd", "aiter::mla_decode_stage1_asm_fwd", 0},
		{"mla.py(1): mla_decode_fwd", "aiter::mla_decode_stage1_asm_fwd", 0},
		{"x.py(1):mla_fp8_prefill_attn", "aiter::mla_prefill_ps_asm_fwd", 1},
		{"x: y:  mla_fp8_prefill_attn<int>", "aiter::mla_prefill_ps_asm_fwd", 1},
		{"x.py(1): mla_fp8_prefill_attn2", "aiter::mla_prefill_ps_asm_fwd", 0},
		{"x.py(1): mla_fp8_prefill_attn_x", "aiter::mla_prefill_ps_asm_fwd", 0},
		{"mla_fp8_prefill_attn", "aiter::mla_prefill_ps_asm_fwd", 0},
		{"x.py(1):", "aiter::mla_prefill_ps_asm_fwd", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_fixture f;
		tl_fixture_new(&f);
		frame(&f, cases[i].name, 0, 100);
		op(&f, cases[i].donor, 10, 50);
		work(&f, "kernel", 20);
		assert_int_equal(apply(&f), cases[i].made);
		bool needs = true;
		assert_int_equal(tl_pseudo_ops_need_python(&needs, &f.trace, NULL), 0);
		assert_int_equal(needs, cases[i].made);
		tl_fixture_free(&f);
	}
}

/* Without Python frames in the tree there is no place for it; that is said. */
static void test_frames_are_needed(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	frame(&f, "aiter/mla.py(1): mla_decode_fwd", 0, 100);
	op(&f, "aiter::mla_decode_stage1_asm_fwd", 10, 50);
	work(&f, "kernel", 20);
	op(&f, "sglang_profiler::x_4", 200, 5);
	assert_int_equal(apply_with(&f, false, NULL), 0);
	assert_string_equal(name(&f, 4), "sglang_profiler::x"); /* the rest goes on */
	assert_int_equal(skipped(&f), 1);
	tl_fixture_free(&f);

	tl_fixture_new(&f);
	op(&f, "sglang_profiler::x_4", 200, 5);
	bool needs = true;
	tl_fixture_build(&f, false);
	assert_int_equal(tl_pseudo_ops_need_python(&needs, &f.trace, NULL), 0);
	assert_false(needs);
	tl_fixture_free(&f);
}

/* ---- DeepSeek V4 ---- */

#define V4_FRAME "atom/paged_decode.py(77): sparse_attn_v4_paged_decode"

static void v4_layer(tl_fixture *f, double at, const char *kernel, const char *shape)
{
	op(f, "aiter::v4_attention_with_output", at, 90);
	if (shape)
		work(f, shape, at + 2);
	if (kernel)
		work(f, kernel, at + 4);
	frame(f, V4_FRAME, at + 10, 50);
	work(f, "decode_split", at + 20);
}

static void test_v4_decode(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	v4_layer(&f, 0, NULL, NULL);                                                          /* 0..3 */
	v4_layer(&f, 100, "fused_compress_attn_D512", "x_qk_norm_rope_H64_D512_RD64_flydsl"); /* 4..11 */
	v4_layer(&f, 200, "hca_compress_forward_D512", "qk_norm_rope_H_D_RD");                /* 12..19 */
	v4_layer(&f, 300, "_update_compressor_states_kernel", NULL);                          /* 20..25 */
	v4_layer(&f, 400, "not_hca_at_the_start", NULL);                                      /* 26..31 */
	frame(&f, V4_FRAME, 500, 50);                       /* 32: no attention above */
	work(&f, "decode_split", 510);                      /* 33, 34 */
	op(&f, "aiter::v4_attention_with_output", 600, 90); /* 35 */
	frame(&f, V4_FRAME, 610, 50);                       /* 36: no GPU events */
	set_args(&f, 4, "[[64,64,512]]", "[]", "[]");
	const tl_pseudo_options options = {.model = "deepseek/\"V4\"-Pro", .tensor_parallel = 8};
	assert_int_equal(apply_with(&f, true, &options), 5);
	assert_shape(&f, "0(1(37(2(*3)))) 4(5(*6) 7(*8) 9(38(10(*11)))) 12(13(*14) 15(*16) 17(39(18(*19)))) "
			 "20(21(*22) 23(40(24(*25)))) 26(27(*28) 29(41(30(*31)))) 32(33(*34)) 35(36)");
	const char *modes[] = {"swa", "csa", "hca", "csa", "swa"};
	for (tl_row i = 0; i < 5; i++) {
		char expected[64];
		snprintf(expected, sizeof expected, "pseudo_v4_paged_decode_%s", modes[i]);
		assert_string_equal(name(&f, 37 + i), expected);
		snprintf(expected, sizeof expected, "\"%s\"", modes[i]);
		assert_string_equal(extra(&f, 37 + i, "v4_mode"), expected);
		snprintf(expected, sizeof expected, "%u", i);
		assert_string_equal(extra(&f, 37 + i, "v4_call_index"), expected);
		assert_string_equal(extra(&f, 37 + i, "v4_model_name"), "\"deepseek/\\\"V4\\\"-Pro\"");
		assert_string_equal(extra(&f, 37 + i, "v4_tp"), "8");
		assert_string_equal(extra(&f, 37 + i, "v4_H_Q"), i == 1 ? "64" : "");
		assert_string_equal(extra(&f, 37 + i, "v4_d_h"), i == 1 ? "512" : "");
	}
	assert_dressed(&f, 38, 4, 9);
	assert_int_equal(skipped(&f), 2);
	tl_fixture_free(&f);
}

/* Calls are numbered by process, thread and start, whatever the order in the file. */
static void test_v4_calls_in_order(void **state)
{
	(void)state;
	const struct {
		tl_id pid, tid;
		double start;
		const char *index;
	} calls[] = {{2, 1, 0, "3"}, {1, 9, 50, "2"}, {1, 4, 300, "1"}, {1, 4, 100, "0"}};
	tl_fixture f;
	tl_fixture_new(&f);
	for (size_t i = 0; i < 4; i++) {
		tl_fixture_op(f.store, "aiter::v4_attention_with_output", calls[i].pid, calls[i].tid, calls[i].start,
			      90);
		tl_fixture_python(f.store, V4_FRAME, calls[i].pid, calls[i].tid, calls[i].start + 5, 80, TL_ID_NONE,
				  TL_ID_NONE);
		tl_fixture_launch(f.store, "hipLaunchKernel", calls[i].pid, calls[i].tid, calls[i].start + 10, 1,
				  i + 1);
		tl_fixture_gpu(f.store, TL_KIND_KERNEL, "decode", 0, 7, 1000 + calls[i].start, 1, i + 1);
	}
	assert_int_equal(apply(&f), 4);
	for (tl_row i = 0; i < 4; i++) {
		tl_row made = tl_tree_parent(f.tree, 4 * i + 2);
		assert_int_equal(tl_tree_parent(f.tree, made), 4 * i + 1);
		assert_string_equal(extra(&f, made, "v4_call_index"), calls[i].index);
		assert_string_equal(extra(&f, made, "v4_tp"), "1");
		assert_string_equal(extra(&f, made, "v4_model_name"), "");
	}
	tl_fixture_free(&f);
}

/* ---- KV-cache types ---- */

static void note(tl_fixture *f, tl_row row, const char *json)
{
	tl_extra e = {row, tl__interns(f->store->strings, "perf_meta"), tl__interns(f->store->strings, json)};
	assert_int_equal(TL_VEC_PUSH(&f->store->extras, e), 0);
}

static void test_cache_types(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	op(&f, "outer", 0, 500);                              /* 0 */
	op(&f, "vllm::unified_attention_with_output", 5, 90); /* 1 */
	frame(&f, "a.py(1): f", 8, 80);                       /* 2 */
	note(&f, op(&f, "_rocm_C::paged_attention", 10, 50),  /* 3 */
	     "{\"KCache_dtype\":\"fp8\",\"VCache_dtype\":\"fp16\",\"k_cache_dtype\":\"no\"}");
	op(&f, "vllm::unified_attention_with_output", 100, 90); /* 4 */
	note(&f, op(&f, "aiter::paged_attention_v1", 110, 50),  /* 5: the text of an object */
	     "\"{\\\"k_cache_dtype\\\": \\\"c10::Float8_e4m3fn\\\"}\"");
	op(&f, "vllm::unified_attention_with_output", 200, 90);          /* 6 */
	op(&f, "aiter::paged_attention_v1", 210, 50);                    /* 7: no note */
	op(&f, "vllm::unified_attention_with_output", 300, 90);          /* 8 */
	note(&f, op(&f, "aiter::paged_attention_v1", 310, 50), "[1]");   /* 9: nonsense */
	op(&f, "vllm::unified_attention_with_output", 400, 90);          /* 10 */
	note(&f, op(&f, "aiter::paged_attention_v1", 410, 50), "\"{\""); /* 11: nonsense in a text */
	assert_int_equal(apply(&f), 0);
	const char *fp8 = "{\"k_cache_dtype\":\"fp8\",\"v_cache_dtype\":\"fp16\"}";
	assert_string_equal(extra(&f, 1, "attention_perf_meta"), fp8);
	assert_string_equal(extra(&f, 0, "attention_perf_meta"), fp8); /* the first one below counts */
	assert_string_equal(extra(&f, 2, "attention_perf_meta"), "");
	assert_string_equal(extra(&f, 3, "attention_perf_meta"), "");
	assert_string_equal(extra(&f, 4, "attention_perf_meta"), "{\"k_cache_dtype\":\"c10::Float8_e4m3fn\"}");
	assert_string_equal(extra(&f, 6, "attention_perf_meta"), "");
	assert_string_equal(extra(&f, 8, "attention_perf_meta"), "");
	assert_string_equal(extra(&f, 10, "attention_perf_meta"), "");
	tl_fixture_free(&f);
}

/* From the file: the importer keeps the note of operations, as an object or as text, and of nothing else. */
static void test_cache_types_of_a_file(void **state)
{
	(void)state;
	static const char text[] =
		"{\"traceEvents\": ["
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"attention\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":90},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"_rocm_C::paged_attention\",\"pid\":1,\"tid\":1,\"ts\":2,"
		"\"dur\":9,\"args\":{\"perf_meta\": {\"KCache_dtype\": \"fp8 e4m3\"}}},"
		"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":1,"
		"\"args\":{\"perf_meta\": 1}}]}";
	tl_fixture f = {0};
	tl_trace *trace;
	assert_int_equal(tl_trace_open_memory(&trace, text, sizeof text - 1, NULL, NULL), 0);
	assert_int_equal(trace->store->extras.n, 1);
	assert_int_equal(tl_tree_build(&f.tree, trace, NULL, NULL), 0);
	assert_int_equal(tl_tree_apply_pseudo_ops(f.tree, NULL, NULL, NULL), 0);
	assert_string_equal(extra(&f, 1, "perf_meta"), "{\"KCache_dtype\":\"fp8 e4m3\"}");
	assert_string_equal(extra(&f, 0, "attention_perf_meta"), "{\"k_cache_dtype\":\"fp8 e4m3\"}");
	tl_tree_free(f.tree);
	tl_trace_free(trace);
}

/* ---- all together, without memory ---- */

static void fill_all(tl_fixture *f)
{
	op(f, "sglang_profiler::x_1", 0, 5);
	op(f, "vllm::moe_forward", 100, 90);
	op(f, "vllm::rocm_aiter_fused_moe", 105, 20);
	work(f, FMOE, 110);
	op(f, "vllm::outplace_fused_experts", 200, 90);
	work(f, "fused_moe_kernel_gptq_awq", 210);
	op(f, "aiter::fused_moe_", 300, 90);
	frame(f, "moe.py(10): flydsl_moe_stage1", 310, 20);
	work(f, "stage1", 312);
	frame(f, "aiter/mla.py(1): mla_decode_fwd", 400, 90);
	op(f, "aiter::mla_decode_stage1_asm_fwd", 410, 50);
	work(f, "kernel", 420);
	v4_layer(f, 500, "hca_x", "qk_norm_rope_H64_D512_RD64");
	op(f, "attention", 600, 90);
	note(f, op(f, "aiter::paged_attention_v1", 610, 10), "{\"k_cache_dtype\":\"fp8\"}");
}

static void test_families_side_by_side(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	fill_all(&f);
	tl_row first = (tl_row)f.store->n, attention = first - 2;
	assert_int_equal(apply(&f), 5);
	const char *names[] = {"pseudo_op::moe_aiter_fused_1stage", "pseudo_op::moe_gptq_awq_up",
			       "pseudo_op::moe_flydsl_stage1", "pseudo_mla_decode_fwd", "pseudo_v4_paged_decode_hca"};
	for (tl_row i = 0; i < 5; i++) {
		size_t n;
		assert_string_equal(name(&f, first + i), names[i]);
		tl_tree_gpu_events(f.tree, first + i, &n);
		assert_int_equal(n, 1);
	}
	assert_string_equal(extra(&f, attention, "attention_perf_meta"), "{\"k_cache_dtype\":\"fp8\"}");
	/* once for a tree */
	size_t made;
	assert_int_equal(tl_tree_apply_pseudo_ops(f.tree, NULL, &made, NULL), 0);
	assert_int_equal(made, 0);
	assert_int_equal(f.tree->generation, 1);
	tl_fixture_free(&f);
}

static void test_without_memory(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	fill_all(&f);
	tl_fixture_build(&f, true);
	char before[1024];
	snprintf(before, sizeof before, "%s", tl_fixture_shape(f.tree));
	int code = TL_ENOMEM;
	for (int64_t n = 0; code < 0; n++) {
		tl_error err = TL_ERROR_INIT;
		size_t made = 99;
		bool needs;
		tl__alloc_fail_after(n);
		code = tl_tree_apply_pseudo_ops(f.tree, NULL, &made, &err);
		(void)tl_pseudo_ops_need_python(&needs, &f.trace, NULL);
		tl__alloc_fail_after(-1);
		assert_int_equal(err.code, code);
		assert_int_equal(made, code ? 0 : 5);
		if (code < 0) {
			assert_int_equal(code, TL_ENOMEM);
			assert_string_equal(tl_fixture_shape(f.tree), before);
			assert_int_equal(f.tree->generation, 0);
			assert_false(f.tree->editing);
		}
	}
	tl_fixture_check_edited(f.tree);
	tl_fixture_free(&f);
}

/* Deep nests of what is looked for, and layers with many kernels: must not take quadratic time. */
static void test_many(void **state)
{
	(void)state;
	enum { MANY = 50000 };
	tl_fixture f;
	tl_fixture_new(&f);
	for (int i = 0; i < MANY; i++) {
		op(&f, "vllm::moe_forward", i * 0.001, 1e6);
		frame(&f, V4_FRAME, i * 0.001, 1e6);
	}
	for (int i = 0; i < MANY; i++)
		work(&f, "_matmul_ogs", 1000 + i * 2);
	assert_int_equal(apply(&f), MANY);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_taken_off_names),
		cmocka_unit_test(test_the_first_of_a_name_decides),
		cmocka_unit_test(test_other_traces_are_left_alone),
		cmocka_unit_test(test_aiter_fused_moe),
		cmocka_unit_test(test_aiter_fused_moe_that_is_left),
		cmocka_unit_test(test_triton_unfused_moe),
		cmocka_unit_test(test_triton_gemms_by_start),
		cmocka_unit_test(test_triton_gemms_of_one_launch),
		cmocka_unit_test(test_triton_topk),
		cmocka_unit_test(test_triton_layers_that_do_not_fit),
		cmocka_unit_test(test_gptq_moe),
		cmocka_unit_test(test_flydsl_moe),
		cmocka_unit_test(test_mla_decode),
		cmocka_unit_test(test_mla_prefill),
		cmocka_unit_test(test_frame_names),
		cmocka_unit_test(test_frames_are_needed),
		cmocka_unit_test(test_v4_decode),
		cmocka_unit_test(test_v4_calls_in_order),
		cmocka_unit_test(test_cache_types),
		cmocka_unit_test(test_cache_types_of_a_file),
		cmocka_unit_test(test_families_side_by_side),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
