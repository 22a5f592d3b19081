/* SPDX-License-Identifier: MIT */
/* Attention before and after, when its pseudo-operations must not be made, and the types of its cache. */
#include "tree/pseudo_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mla_decode),  cmocka_unit_test(test_mla_prefill),
		cmocka_unit_test(test_frame_names), cmocka_unit_test(test_frames_are_needed),
		cmocka_unit_test(test_v4_decode),   cmocka_unit_test(test_v4_calls_in_order),
		cmocka_unit_test(test_cache_types), cmocka_unit_test(test_cache_types_of_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
