/* SPDX-License-Identifier: MIT */
/* Pseudo-operations as a whole: which traces have any, several kinds in one, failures, much of them. */
#include "tree/pseudo_fixture.h"

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

/* Whether any would be made or not. */
static void test_a_tree_that_is_being_edited_is_refused(void **state)
{
	(void)state;
	for (int with = 0; with < 2; with++) {
		tl_fixture f;
		tl_edit *e;
		tl_error err = TL_ERROR_INIT;
		tl_fixture_new(&f);
		op(&f, with ? "sglang_profiler::gemm_12" : "aten::mm", 0, 5);
		tl_fixture_build(&f, false);
		assert_int_equal(tl_edit_begin(&e, f.tree, NULL), 0);
		assert_int_equal(tl_tree_apply_pseudo_ops(f.tree, NULL, NULL, &err), TL_EINVAL);
		assert_non_null(strstr(err.message, "being edited"));
		tl_edit_abort(e);
		assert_int_equal(tl_tree_apply_pseudo_ops(f.tree, NULL, NULL, &err), 0);
		tl_fixture_free(&f);
	}
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
	char *before = strdup(tl_fixture_shape(f.tree));
	assert_non_null(before);
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
	free(before);
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
		cmocka_unit_test(test_a_tree_that_is_being_edited_is_refused),
		cmocka_unit_test(test_other_traces_are_left_alone),
		cmocka_unit_test(test_families_side_by_side),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
