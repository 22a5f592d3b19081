/* SPDX-License-Identifier: MIT */
/* Matrix multiplications of serving frameworks: A[M,K], W[N,K], so that Y = A W'. */
#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"
#include "perf/gemm.h"

static const char operands[] = "shapes and dtypes of two operands are needed";
static const char bf16[] = "c10::bfloat16"; /* what outputs are when nothing tells; spelt as reports do */

typedef struct serving_gemm {
	int64_t batch, m, n, k;
	bool bias, batch_first;
	const char *types[3];                       /* A, W, output */
	double size_a, size_w, size_out, size_bias; /* bytes per element; 0: unknown */
	const char *precision;
} serving_gemm;

/* FLOPs = B (2 M N K + M N with bias); bytes = B (M K a + K N w + M N out + N bias). */
static int begin(const serving_gemm *g, tl_arena *arena, tl_perf_result *out)
{
	tl__perf_begin(out);
	if (g->batch_first)
		tl__param_int(out, "B", g->batch);
	tl__param_int(out, "M", g->m);
	tl__param_int(out, "N", g->n);
	tl__param_int(out, "K", g->k);
	tl__param_bool(out, "bias", g->bias);
	TL_TRY(tl__param_texts(out, arena, "dtype_A_B", g->types, 3));
	if (!g->batch_first)
		tl__param_int(out, "B", g->batch);
	double b = (double)g->batch, m = (double)g->m, n = (double)g->n, k = (double)g->k;
	bool known = g->size_a > 0 && g->size_w > 0 && g->size_out > 0 && (!g->bias || g->size_bias > 0);
	out->flops = tl__cost_int(b * tl__gemm_flops(m, n, k, g->bias));
	out->bytes = tl__cost_if(
		known, b * tl__gemm_bytes(m, n, k, g->size_a, g->size_w, g->size_out, g->bias ? g->size_bias : 0));
	out->maf = "matrix";
	out->precision = g->precision;
	return 0;
}

/* The transposes, from kernels' names, are the last parameter. */
static int finish(const serving_gemm *g, const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	TL_TRY(begin(g, arena, out));
	return tl__gemm_transpose(in, arena, out);
}

/* With 4-bit operands: bytes need not be whole. */
static int finish_fp4(const serving_gemm *g, const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	TL_TRY(finish(g, in, arena, out));
	out->bytes.integral = false;
	return 0;
}

/* A[M,K] in slot 0 and W[N,K] in slot 1; the output's dtype is still A's. */
static bool read_operands(serving_gemm *g, const tl_perf_input *in)
{
	tl_shape a, w;
	if (!tl__arg_shape(&a, in->dims, 0) || !tl__arg_shape(&w, in->dims, 1) || a.rank < 2 || w.rank < 1 ||
	    tl__value_count(in->types) < 2)
		return false;
	*g = (serving_gemm){.batch = 1, .m = a.dim[0], .n = w.dim[0], .k = a.dim[1]};
	g->types[0] = tl__arg_text(in->types, 0);
	g->types[1] = tl__arg_text(in->types, 1);
	g->types[2] = g->types[0];
	g->size_a = tl__dtype_bytes(g->types[0]);
	g->size_w = tl__dtype_bytes(g->types[1]);
	g->size_out = g->size_a;
	g->precision = tl__dtype_precision(g->types[0]);
	return true;
}

static void set_output(serving_gemm *g, const char *type)
{
	g->types[2] = type;
	g->size_out = tl__dtype_bytes(type);
}

/* aiter::gemm_a16w16: bias in slot 2. */
int tl__model_gemm_a16w16(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	if (!read_operands(&g, in))
		return tl__perf_fail(out, operands);
	g.batch_first = true;
	g.bias = tl__arg_given(in->dims, 2);
	g.size_bias = g.size_out;
	return finish(&g, in, arena, out);
}

/* aiter::gemm_a16w16_atomic_ and FlyDSL's: output dtype in slot 3, else bf16. */
int tl__model_gemm_a16w16_atomic(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	if (!read_operands(&g, in))
		return tl__perf_fail(out, operands);
	g.batch_first = true;
	set_output(&g, tl__value_count(in->types) > 3 ? tl__arg_text(in->types, 3) : bf16);
	return finish(&g, in, arena, out);
}

/* aiter::_gemm_a16w16_asm: output dtype of slot 2 when it is known. */
int tl__model_gemm_a16w16_asm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	if (!read_operands(&g, in))
		return tl__perf_fail(out, operands);
	g.batch_first = true;
	if (tl__arg_bytes(in->types, 2))
		set_output(&g, tl__arg_text(in->types, 2));
	return finish(&g, in, arena, out);
}

/* vllm::rocm_unquantized_gemm: bias in slot 2, whose dtype the output has; else the weight's. */
int tl__model_unquantized_gemm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	if (!read_operands(&g, in))
		return tl__perf_fail(out, operands);
	g.bias = tl__arg_given(in->dims, 2);
	set_output(&g, g.bias ? tl__arg_text(in->types, 2) : g.types[1]);
	g.types[2] = tl__value_count(in->types) > 2 ? tl__arg_text(in->types, 2) : ""; /* as it stands */
	g.size_bias = g.size_out;
	return finish(&g, in, arena, out);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
	return b > 0 ? a / b + (a % b != 0) : 0;
}

/* GEMMs with 8-bit operands, scaled by block, row or tensor: bf16 output; scales are listed, not counted. */
int tl__model_gemm_a8w8(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	tl_shape scale_a, scale_w;
	if (!read_operands(&g, in))
		return tl__perf_fail(out, operands);
	g.batch_first = true;
	set_output(&g, bf16);
	TL_TRY(begin(&g, arena, out));
	if (tl__value_count(in->dims) > 3 && tl__arg_shape(&scale_a, in->dims, 2) &&
	    tl__arg_shape(&scale_w, in->dims, 3) && scale_a.rank && scale_w.rank) {
		const char *type = tl__arg_text(in->types, 2);
		TL_TRY(tl__param_text(out, arena, "quant_scheme", "a8w8_blockscale"));
		TL_TRY(tl__param_text(out, arena, "quant_granularity", "per_block"));
		tl__param_int(out, "block_k", ceil_div(g.k, scale_a.dim[scale_a.rank - 1]));
		tl__param_int(out, "block_n", ceil_div(g.n, scale_w.dim[0]));
		TL_TRY(tl__param_text(out, arena, "scale_dtype", type ? type : "float32"));
	}
	tl_shape y = {.rank = 2, .dim = {g.m, g.n}};
	TL_TRY(tl__param_shape(out, arena, "output_shape", &y));
	TL_TRY(tl__param_text(out, arena, "output_dtype", bf16));
	return tl__gemm_transpose(in, arena, out);
}

/* aiter::gemm_afp4wfp4_: both operands packed along K, two values a byte; bf16 output. */
int tl__model_gemm_afp4wfp4(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	if (!read_operands(&g, in))
		return tl__perf_fail(out, operands);
	g.batch_first = true;
	set_output(&g, bf16);
	g.k *= 2;
	g.size_a = g.size_w = 0.5;
	g.precision = "fp4";
	return finish_fp4(&g, in, arena, out);
}

static bool read_batched(serving_gemm *g, tl_shape *a, tl_shape *w, const tl_perf_input *in)
{
	if (!tl__arg_shape(a, in->dims, 0) || !tl__arg_shape(w, in->dims, 1) || a->rank != 3 || w->rank < 2 ||
	    tl__value_count(in->types) < 2)
		return false;
	*g = (serving_gemm){.batch_first = true, .n = w->dim[1], .k = a->dim[2], .size_out = 2};
	g->types[0] = tl__arg_text(in->types, 0);
	g->types[1] = tl__arg_text(in->types, 1);
	g->types[2] = bf16;
	g->size_a = tl__dtype_bytes(g->types[0]);
	g->size_w = tl__dtype_bytes(g->types[1]);
	return true;
}

/* aiter::batched_gemm_a16wfp4_: A[B,M,K], W[B,N,K/2] packed. */
int tl__model_batched_a16wfp4(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	tl_shape a, w;
	if (!read_batched(&g, &a, &w, in))
		return tl__perf_fail(out, operands);
	g.batch = a.dim[0];
	g.m = a.dim[1];
	g.size_w = 0.5;
	g.precision = "fp4";
	return finish_fp4(&g, in, arena, out);
}

/* Batched GEMM with 8-bit weights: A is [B,M,K] or [M,B,K], W[B,N,K]. */
int tl__model_batched_a8w8(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving_gemm g;
	tl_shape a, w;
	if (!read_batched(&g, &a, &w, in))
		return tl__perf_fail(out, operands);
	g.batch = w.dim[0];
	g.m = a.dim[0] == g.batch ? a.dim[1] : a.dim[0];
	g.precision = tl__dtype_precision(g.types[1]);
	return finish(&g, in, arena, out);
}
