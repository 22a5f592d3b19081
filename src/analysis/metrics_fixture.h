/* SPDX-License-Identifier: MIT */
/** @file metrics_fixture.h Operations with arguments and kernels, for tests of metrics only. */
#ifndef TL_ANALYSIS_METRICS_FIXTURE_H
#define TL_ANALYSIS_METRICS_FIXTURE_H

#include "analysis/analysis_fixture.h"

enum { HOST = 1, GPU = 0, FORWARD_THREAD = 1, BACKWARD_THREAD = 2 };

/** Arguments in canonical spelling; NULL: the event lacks the key. */
static inline void set_args(tl_store *s, tl_row op, const char *dims, const char *types, const char *concrete)
{
	tl_op_args *args = tl_fixture_op_args(s, op);
	if (dims)
		args->dims = tl__interns(s->strings, dims);
	if (types)
		args->types = tl__interns(s->strings, types);
	if (concrete)
		args->concrete = tl__interns(s->strings, concrete);
}

/** A launch at `at` and its kernel, which starts 1000 µs later so that no two overlap. */
static inline tl_row launch_kernel(tl_store *s, tl_id thread, const char *kernel, double at, double dur,
				   tl_id correlation)
{
	tl_fixture_launch(s, "hipLaunchKernel", HOST, thread, at, 1, correlation);
	return tl_fixture_gpu(s, TL_KIND_KERNEL, kernel, GPU, 7, at + 1000, dur, correlation);
}

/** aten::mm of (64, 32) x (32, 16), 10 µs long, with one kernel: 2 * 64 * 16 * 32 = 65536 FLOPs, 7168 bytes in bf16. */
static inline tl_row add_mm(tl_store *s, double at, double kernel_dur, tl_id correlation)
{
	tl_row mm = tl_fixture_op(s, "aten::mm", HOST, FORWARD_THREAD, at, 10);
	set_args(s, mm, "[[64,32],[32,16]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]", "[\"\",\"\"]");
	launch_kernel(s, FORWARD_THREAD, "gemm_kernel", at + 2, kernel_dur, correlation);
	return mm;
}

static const char attention_name[] = "aten::_scaled_dot_product_flash_attention";

/** Attention with B 1, H 1, N 64, d 64, not causal: 1048576 FLOPs and 32768 bytes forward, 2621440 and 57344 backward.
 */
static inline tl_row add_attention(tl_store *s, double at, tl_id correlation, tl_id sequence)
{
	tl_row op = tl_fixture_op(s, attention_name, HOST, FORWARD_THREAD, at, 10);
	set_args(s, op, "[[1,1,64,64],[1,1,64,64],[1,1,64,64],[],[],[],[]]",
		 "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\",\"Scalar\",\"Scalar\",\"Scalar\"]",
		 "[\"\",\"\",\"\",\"0.\",\"False\",\"False\",\"0.125\"]");
	tl_fixture_op_args(s, op)->sequence = sequence;
	launch_kernel(s, FORWARD_THREAD, "attn_fwd", at + 2, 4, correlation);
	return op;
}

/** The autograd node of the attention and, in it, `inner` with `kernels` kernels of 5 µs each. */
static inline tl_row add_backward(tl_store *s, double at, const char *inner, int kernels, tl_id correlation,
				  tl_id sequence)
{
	tl_row node = tl_fixture_op(s, "autograd::engine::evaluate_function: ScaledDotProductFlashAttentionBackward0",
				    HOST, BACKWARD_THREAD, at, 40);
	tl_fixture_op_args(s, node)->sequence = sequence;
	tl_row main = tl_fixture_op(s, "ScaledDotProductFlashAttentionBackward0", HOST, BACKWARD_THREAD, at + 1, 38);
	tl_fixture_op(s, inner, HOST, BACKWARD_THREAD, at + 2, 30);
	for (int i = 0; i < kernels; i++)
		launch_kernel(s, BACKWARD_THREAD, "attn_bwd", at + 3 + 10 * i, 5, correlation + (tl_id)i);
	return main;
}

#endif
