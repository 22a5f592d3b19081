/* SPDX-License-Identifier: MIT */
/* Element by element, in serving frameworks: gated activations, and drawing tokens. */
#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

static const char no_tensors[] = "shapes and dtypes of the tensors are needed";

double tl__gated_flops(double n, double per_element)
{
	return per_element * n;
}

double tl__gated_bytes(double n, double in, double out)
{
	return 2 * n * in + n * out;
}

/*
 * Gated activations: output [.., n] in slot 0, input [.., 2n] in slot 1. `cost` FLOPs an output element; 2 n in + n out
 * bytes.
 */
static int gated(const tl_perf_input *in, double cost, tl_arena *arena, tl_perf_result *out)
{
	tl_shape y;
	if (!tl__arg_shape(&y, in->dims, 0) || tl__value_count(in->types) < 2)
		return tl__perf_fail(out, no_tensors);
	const char *types[2] = {tl__arg_text(in->types, 1), tl__arg_text(in->types, 0)};
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &y));
	TL_TRY(tl__param_texts(out, arena, "dtype_in_out", types, 2));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", tl__value_at(in->strides, 1)));
	TL_TRY(tl__param_tuple(out, arena, "stride_output", tl__value_at(in->strides, 0)));
	double n = tl__shape_volume(&y, 0);
	int size_in = tl__dtype_bytes(types[0]), size_out = tl__dtype_bytes(types[1]);
	out->flops = tl__cost_int(tl__gated_flops(n, cost));
	out->bytes = tl__cost_if(size_in && size_out, tl__gated_bytes(n, size_in, size_out));
	out->maf = "vector";
	out->precision = tl__dtype_precision(types[0]);
	return 0;
}

int tl__model_silu_and_mul(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return gated(in, 5, arena, out);
}

int tl__model_gelu_and_mul(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return gated(in, 8, arena, out);
}

int tl__model_gelu_tanh_and_mul(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return gated(in, 10, arena, out);
}

/*
 * aiter::mixed_sample_outer_exponential: logits [T, V] and noise of the same shape, one token of 4 bytes drawn a row.
 * FLOPs 2 T V; bytes T V (logits + noise) + 4 T.
 */
int tl__model_sample_exponential(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape logits;
	if (!tl__arg_shape(&logits, in->dims, 1) || logits.rank < 2 || tl__value_count(in->types) < 3)
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, 1), *noise = tl__arg_text(in->types, 2);
	double t = (double)logits.dim[0], v = (double)logits.dim[1];
	int size = tl__dtype_bytes(type), size_noise = tl__dtype_bytes(noise);
	tl__perf_begin(out);
	tl__param_int(out, "T", logits.dim[0]);
	tl__param_int(out, "V", logits.dim[1]);
	TL_TRY(tl__param_text(out, arena, "dtype_logits", type));
	TL_TRY(tl__param_text(out, arena, "dtype_noise", noise));
	out->flops = tl__cost_int(2 * t * v);
	out->bytes = tl__cost_if(size && size_noise, t * v * size + t * v * size_noise + 4 * t);
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}
