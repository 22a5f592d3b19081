/* SPDX-License-Identifier: MIT */
/* Matrix multiplications: Y[M,N] = A[M,K] B[K,N] (+ bias), B of them when batched. */
#include "perf/gemm.h"

#include <math.h>
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

/* What differs from operation to operation; everything else is common to the family. */
typedef struct gemm {
	int64_t m, n, k, batch;
	bool batched; /* batch is a dimension of the operands and is listed first */
	bool bias;
	size_t stride_a, stride_b; /* slots */
	const char *types[4];
	size_t n_types;
	bool scaled; /* scale tensors are listed */
	const char *scale_a, *scale_b;
	int bytes_a, bytes_b, bytes_bias, bytes_out;
} gemm;

/* FLOPs = 2 M N K, plus M N when there is a bias. */
double tl__gemm_flops(double m, double n, double k, bool bias)
{
	return 2 * m * n * k + (bias ? m * n : 0);
}

/* bytes = M K a + K N b + M N out, plus N bias (the bias as a vector: reference value [03-G8]). */
double tl__gemm_bytes(double m, double n, double k, double a, double b, double out, double bias)
{
	return m * k * a + k * n * b + m * n * out + n * bias;
}

/* bytes = (M a + N b) ceil(K / block). */
double tl__gemm_scale_bytes(double m, double n, double k, double block, double scale_a, double scale_b)
{
	double blocks = ceil(k / block);
	return m * blocks * scale_a + n * blocks * scale_b;
}

/* dA = dY B', dB = A' dY, and the bias' gradient as a sum over rows of dY: 4 M N K, plus M N. */
double tl__gemm_flops_bwd(double m, double n, double k, bool bias)
{
	return tl__gemm_flops(m, k, n, false) + tl__gemm_flops(n, k, m, false) + (bias ? m * n : 0);
}

/* Both products read and write their operands; the bias' gradient reads dY and writes N elements [03-G9]. */
double tl__gemm_bytes_bwd(double m, double n, double k, double a, double b, double out, bool bias)
{
	return 2 * (m * k * a + k * n * b + m * n * out) + (bias ? (m * n + n) * out : 0);
}

static tl_perf_cost bytes(const gemm *g, double m, double n, double k, double batch)
{
	bool known = g->bytes_a && g->bytes_b && g->bytes_out && (!g->bias || g->bytes_bias);
	return tl__cost_if(known, batch * tl__gemm_bytes(m, n, k, g->bytes_a, g->bytes_b, g->bytes_out,
							 g->bias ? g->bytes_bias : 0));
}

static tl_value flag(int f)
{
	return f < 0 ? TL_VALUE_NONE : TL_VALUE_BOOL(f != 0);
}

/* Operand orders as the first kernel says whose name is understood. */
int tl__gemm_transpose(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	for (size_t i = 0; i < in->n_kernels; i++) {
		tl_gemm_kernel kernel;
		if (!tl__gemm_kernel(&kernel, in->kernels[i]))
			continue;
		tl_value *pair = tl__arena_alloc(arena, 2 * sizeof *pair);
		if (!pair)
			return TL_ENOMEM;
		pair[0] = flag(kernel.trans_a);
		pair[1] = flag(kernel.trans_b);
		tl__param(out, "transpose", (tl_value){.kind = TL_V_TUPLE, .n = 2, .items = pair});
		break;
	}
	return 0;
}

/* Lists the parameters and computes the costs. Strides may be missing: nothing depends on them. */
static int finish(const gemm *g, const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl__perf_begin(out);
	if (g->batched)
		tl__param_int(out, "B", g->batch);
	tl__param_int(out, "M", g->m);
	tl__param_int(out, "N", g->n);
	tl__param_int(out, "K", g->k);
	tl__param_bool(out, "bias", g->bias);
	TL_TRY(tl__param_tuple(out, arena, "stride_A", tl__value_at(in->strides, g->stride_a)));
	TL_TRY(tl__param_tuple(out, arena, "stride_B", tl__value_at(in->strides, g->stride_b)));
	TL_TRY(tl__param_texts(out, arena, "dtype_A_B", g->types, g->n_types));
	if (g->scaled) {
		TL_TRY(tl__param_text(out, arena, "dtype_scaleA", g->scale_a));
		TL_TRY(tl__param_text(out, arena, "dtype_scaleB", g->scale_b));
	}
	if (!g->batched)
		tl__param_int(out, "B", 1);
	TL_TRY(tl__gemm_transpose(in, arena, out));

	double m = (double)g->m, n = (double)g->n, k = (double)g->k, batch = g->batched ? (double)g->batch : 1;
	out->flops = tl__cost_int(batch * tl__gemm_flops(m, n, k, g->bias));
	out->bytes = bytes(g, m, n, k, batch);
	out->maf = "matrix";
	out->precision = tl__dtype_precision(g->types[0]);
	return 0;
}

static void one_size(gemm *g, int size)
{
	g->bytes_a = g->bytes_b = g->bytes_bias = g->bytes_out = size;
}

/* A[M,K] and B[K,N] in slots `first` and `first` + 1; false when the shapes are not there. */
static bool two_operands(gemm *g, const tl_perf_input *in, size_t first)
{
	tl_shape a, b;
	if (!tl__arg_shape(&a, in->dims, first) || !tl__arg_shape(&b, in->dims, first + 1) || a.rank < 2 ||
	    b.rank < 2 || tl__value_count(in->types) < first + 2)
		return false;
	*g = (gemm){.m = a.dim[0], .n = b.dim[1], .k = a.dim[1], .batch = 1, .n_types = 2};
	g->stride_a = first;
	g->stride_b = first + 1;
	g->types[0] = tl__arg_text(in->types, first);
	g->types[1] = tl__arg_text(in->types, first + 1);
	/* the first dtype for everything: reference value [03-G10] */
	one_size(g, tl__dtype_bytes(g->types[0]));
	return true;
}

static const char operands[] = "two matrix operands with dtypes are needed";

/* aten::mm: 2 M N K. */
int tl__model_mm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	gemm g;
	return two_operands(&g, in, 0) ? finish(&g, in, arena, out) : tl__perf_fail(out, operands);
}

/* aten::addmm: 2 M N K + M N. */
int tl__model_addmm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	gemm g;
	if (!two_operands(&g, in, 1))
		return tl__perf_fail(out, operands);
	g.bias = true;
	return finish(&g, in, arena, out);
}

/*
 * aten::_scaled_mm and relatives: 2 M N K. Bias only with exactly three slots (reference value [03-G1]);
 * output of 2 bytes for 1-byte inputs [03-G2]; B of int8_linear_matmul read as [K,N] [03-G3].
 */
int tl__model_scaled_mm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	gemm g;
	if (!two_operands(&g, in, 0))
		return tl__perf_fail(out, operands);
	g.bias = tl__value_count(in->dims) == 3;
	int size = g.bytes_a;
	g.bytes_out = size == 1 || size == 2 ? 2 : size == 4 ? 4 : 0;
	if (!tl__dtype_bytes(g.types[1]))
		g.bytes_b = 0;
	return finish(&g, in, arena, out);
}

static int batched(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out, size_t first, bool bias)
{
	tl_shape a, b;
	if (!tl__arg_shape(&a, in->dims, first) || !tl__arg_shape(&b, in->dims, first + 1) || a.rank != 3 ||
	    b.rank != 3 || tl__value_count(in->types) < first + 2)
		return tl__perf_fail(out, "two operands of three dimensions with dtypes are needed");
	gemm g = {.m = a.dim[1], .n = b.dim[2], .k = a.dim[2], .batch = a.dim[0], .batched = true, .bias = bias};
	g.stride_a = first;
	g.stride_b = first + 1;
	g.types[0] = tl__arg_text(in->types, first);
	g.types[1] = tl__arg_text(in->types, first + 1);
	g.n_types = 2;
	one_size(&g, tl__dtype_bytes(g.types[0]));
	return finish(&g, in, arena, out);
}

/* aten::bmm: B 2 M N K. */
int tl__model_bmm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return batched(in, arena, out, 0, false);
}

/* aten::baddbmm: B (2 M N K + M N). */
int tl__model_baddbmm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return batched(in, arena, out, 1, true);
}

/*
 * vllm::gemm_with_dynamic_quant: A[M,K], B[N,K], the first two arguments of two dimensions. The packed weight
 * counts as N K elements of the activation's dtype (reference value [03-G4]).
 */
int tl__model_vllm_dynamic_quant(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	size_t slot[2] = {0, 1}, found = 0, n = tl__value_count(in->dims);
	tl_shape a, b;
	for (size_t i = 0; i < n && found < 2; i++)
		if (tl__value_count(tl__value_at(in->dims, i)) == 2)
			slot[found++] = i;
	if (!tl__arg_shape(&a, in->dims, slot[0]) || !tl__arg_shape(&b, in->dims, slot[1]) || a.rank < 2 ||
	    b.rank < 1 || tl__value_count(in->types) < 2)
		return tl__perf_fail(out, operands);
	gemm g = {.m = a.dim[0], .n = b.dim[0], .k = a.dim[1], .batch = 1, .stride_a = 0, .stride_b = 1};
	g.types[0] = tl__arg_text(in->types, 0);
	g.types[1] = tl__arg_text(in->types, 1);
	g.n_types = 2;
	one_size(&g, tl__dtype_bytes(g.types[0]));
	TL_TRY(finish(&g, in, arena, out));
	double m = (double)g.m, nn = (double)g.n, k = (double)g.k;
	out->flops_bwd = tl__cost_int(tl__gemm_flops_bwd(m, nn, k, false));
	out->bytes_bwd = tl__cost_if(g.bytes_a, tl__gemm_bytes_bwd(m, nn, k, g.bytes_a, g.bytes_a, g.bytes_a, false));
	return 0;
}

/*
 * tex_ts::te_gemm_ts: A in slot 0, B in slot 5, their transposes in 4 and 9, D in 10, bias in 14. The bias is taken
 * from the (always empty) text of its slot and its dtype from the workspace's slot 18: reference value [03-G5];
 * where that dtype is unknown the bias tensor's own is used.
 */
int tl__model_te_gemm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape a, b;
	if (!tl__arg_shape(&a, in->dims, 0) || !tl__arg_shape(&b, in->dims, 5) || a.rank < 2 || b.rank < 2 ||
	    tl__value_count(in->types) < 19 || tl__value_count(in->concrete) < 15)
		return tl__perf_fail(out, "the arguments of te_gemm_ts are not all there");
	const char *trans_a = tl__arg_text(in->concrete, 4), *trans_b = tl__arg_text(in->concrete, 9);
	const tl_value *bias = tl__value_at(in->concrete, 14);
	bool ta = trans_a && !strcmp(trans_a, "1"), tb = trans_b && !strcmp(trans_b, "1");
	gemm g = {.m = a.dim[!ta], .n = b.dim[tb], .k = a.dim[ta], .batch = 1, .stride_a = 0, .stride_b = 5};
	g.bias = bias && !(bias->kind == TL_V_STRING && !bias->n);
	static const size_t slots[4] = {0, 5, 10, 18};
	for (size_t i = 0; i < 4; i++)
		g.types[i] = tl__arg_text(in->types, slots[i]);
	g.n_types = 4;
	g.bytes_a = tl__dtype_bytes(g.types[0]);
	g.bytes_b = tl__dtype_bytes(g.types[1]);
	g.bytes_out = tl__dtype_bytes(g.types[2]);
	g.bytes_bias = tl__dtype_bytes(g.types[3]);
	if (!g.bytes_bias)
		g.bytes_bias = tl__arg_bytes(in->types, 14);
	return finish(&g, in, arena, out);
}

/*
 * GEMMs of Transformer Engine modules: 2 M N K; output of 2 bytes whatever the module's dtype (reference value
 * [03-G6]). Operands of two dtypes, which the reference refuses, count each with its own size.
 */
int tl__model_te_pseudo(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	gemm g;
	if (!two_operands(&g, in, 0))
		return tl__perf_fail(out, operands);
	g.bytes_b = tl__dtype_bytes(g.types[1]);
	g.bytes_out = 2;
	return finish(&g, in, arena, out);
}

/* A in slot 0, B in slot 2, flags in 5, 6 and 7; with transposed output the operands change places. */
static bool hipblaslt(gemm *g, const tl_perf_input *in)
{
	tl_shape a, b;
	if (!tl__arg_shape(&a, in->dims, 0) || !tl__arg_shape(&b, in->dims, 2) || a.rank < 2 || b.rank < 2 ||
	    tl__value_count(in->types) < 3)
		return false;
	bool ta = tl__to_bool(tl__value_at(in->concrete, 5)), tb = tl__to_bool(tl__value_at(in->concrete, 6));
	if (tl__to_bool(tl__value_at(in->concrete, 7))) {
		tl_shape swap = a;
		bool old_ta = ta;
		a = b;
		b = swap;
		ta = !tb;
		tb = !old_ta;
	}
	*g = (gemm){.m = a.dim[ta], .n = b.dim[!tb], .k = a.dim[!ta], .batch = 1, .stride_a = 0, .stride_b = 2};
	g->types[0] = tl__arg_text(in->types, 0);
	g->types[1] = tl__arg_text(in->types, 2);
	g->n_types = 2;
	g->scaled = true;
	g->scale_a = tl__arg_text(in->types, 1);
	g->scale_b = tl__arg_text(in->types, 3);
	return true;
}

/* hipblaslt_gemm_fp8: 2 M N K; output of 2 bytes for operands of one. */
int tl__model_hipblaslt_fp8(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	gemm g;
	if (!hipblaslt(&g, in))
		return tl__perf_fail(out, operands);
	g.bytes_a = tl__dtype_bytes(g.types[0]);
	g.bytes_b = tl__dtype_bytes(g.types[1]);
	g.bytes_out = g.bytes_a == 1 ? 2 : g.bytes_a;
	return finish(&g, in, arena, out);
}

/*
 * Block-scaled fp4, two values a byte, one scale a block of 32 along K:
 * bytes = M K/2 a + N K/2 b + (M sA + N sB) ceil(K/32) + 2 M N.
 */
static tl_perf_cost fp4_bytes(const gemm *g)
{
	int a = tl__dtype_bytes(g->types[0]), b = tl__dtype_bytes(g->types[1]);
	int scale_a = tl__dtype_bytes(g->scale_a), scale_b = tl__dtype_bytes(g->scale_b);
	double m = (double)g->m, n = (double)g->n, k = (double)g->k;
	/* sizes are those of pairs of values: traces name two values a byte as one element */
	return tl__cost_if(a && b,
			   tl__gemm_bytes(m, n, k, a / 2.0, b / 2.0, 2, 0) +
				   tl__gemm_scale_bytes(m, n, k, 32, scale_a ? scale_a : 1, scale_b ? scale_b : 1));
}

/* hipblaslt_gemm_fp4: 2 M N K, K counted in values. */
int tl__model_hipblaslt_fp4(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	gemm g;
	if (!hipblaslt(&g, in))
		return tl__perf_fail(out, operands);
	g.k *= 2;
	TL_TRY(finish(&g, in, arena, out));
	out->bytes = fp4_bytes(&g);
	return 0;
}

/* aiter::gemm_a4w4: A[M,K/2], B[N,K/2], scales in slots 2 and 3; 2 M N K. */
int tl__model_gemm_a4w4(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape a, b;
	if (!tl__arg_shape(&a, in->dims, 0) || !tl__arg_shape(&b, in->dims, 1) || a.rank < 2 || b.rank < 1 ||
	    tl__value_count(in->types) < 2)
		return tl__perf_fail(out, operands);
	gemm g = {.m = a.dim[0], .n = b.dim[0], .k = 2 * a.dim[1], .batch = 1, .stride_a = 0, .stride_b = 1};
	g.types[0] = tl__arg_text(in->types, 0);
	g.types[1] = tl__arg_text(in->types, 1);
	g.n_types = 2;
	g.scaled = true;
	g.scale_a = tl__arg_text(in->types, 2);
	g.scale_b = tl__arg_text(in->types, 3);
	TL_TRY(finish(&g, in, arena, out));
	out->bytes = fp4_bytes(&g);
	out->flops_bwd = tl__cost_int(tl__gemm_flops_bwd((double)g.m, (double)g.n, (double)g.k, false));
	out->bytes_bwd = tl__cost_unknown(); /* the dtype of the gradients is not in the event */
	return 0;
}
