/* SPDX-License-Identifier: MIT */
/* Quantisation to 8 and 4 bits with a scale for each tensor, row or group. */
#include <math.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

static const char no_tensors[] = "shapes and dtypes of the tensors are needed";

/*
 * AITER's quantisation: output, input, scales in slots 0 to 2. FLOPs 2.59375 an element, the reference's estimate: 2,
 * and 19 for every 32. Bytes: every tensor once.
 */
int tl__model_group_quant(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape y, x, scales;
	if (!tl__arg_shape(&y, in->dims, 0) || !tl__arg_shape(&x, in->dims, 1) ||
	    !tl__arg_shape(&scales, in->dims, 2) || tl__value_count(in->types) < 3)
		return tl__perf_fail(out, no_tensors);
	const char *types[3] = {tl__arg_text(in->types, 1), tl__arg_text(in->types, 2), tl__arg_text(in->types, 0)};
	int size_x = tl__dtype_bytes(types[0]), size_scales = tl__dtype_bytes(types[1]);
	int size_y = tl__dtype_bytes(types[2]);

	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "shape_in1", &x));
	TL_TRY(tl__param_shape(out, arena, "shape_in2", &scales));
	TL_TRY(tl__param_shape(out, arena, "shape_out", &y));
	TL_TRY(tl__param_texts(out, arena, "dtype_in1_in2_out", types, 3));
	TL_TRY(tl__param_tuple(out, arena, "stride_input1", tl__value_at(in->strides, 1)));
	TL_TRY(tl__param_tuple(out, arena, "stride_input2", tl__value_at(in->strides, 2)));
	TL_TRY(tl__param_tuple(out, arena, "stride_output", tl__value_at(in->strides, 0)));
	out->flops = tl__cost_float(2.59375 * tl__shape_volume(&y, 0));
	out->bytes = tl__cost_if(size_x && size_scales && size_y, tl__shape_volume(&x, 0) * size_x +
									  tl__shape_volume(&scales, 0) * size_scales +
									  tl__shape_volume(&y, 0) * size_y);
	out->maf = "vector";
	out->precision = tl__dtype_precision(types[0]);
	return 0;
}

double tl__group_quant_flops(double n)
{
	return 6 * n;
}

/* Values read, and written as one byte each; a scale of 4 bytes for every group along rows. */
double tl__group_quant_bytes(double rows, double n, double group, double size)
{
	double groups = ceil(n / group);
	return rows * n * size + rows * n + 4 * rows * (groups > 0 ? groups : 1);
}

/*
 * vllm::triton_per_token_group_quant_fp8: rows [M, N] (leading dimensions flattened) and the group's size. FLOPs 6 M N;
 * bytes M N x + M N + 4 M ceil(N / group).
 */
int tl__model_token_group_quant(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x, none = {0};
	int64_t group, n, rows = 1;
	if (!tl__arg_shape(&x, in->dims, 0) || !x.rank)
		return tl__perf_fail(out, no_tensors);
	if (!tl__to_int(tl__value_at(in->concrete, 1), &group) || group <= 0)
		group = 128;
	n = x.dim[x.rank - 1];
	tl_shape leading = x;
	leading.rank--;
	if (!tl__shape_count(&rows, &leading))
		return tl__perf_fail(out, "the tensor is too large");
	int64_t groups = n / group + (n % group != 0);
	groups = groups > 0 ? groups : 1;
	const char *type = tl__arg_text(in->types, 0);
	const char *types[3] = {type, NULL, "c10::float8_e4m3fn"};
	double elements = (double)rows * (double)n;
	int size = tl__dtype_bytes(type);

	tl__perf_begin(out);
	tl__param_int(out, "M", rows);
	tl__param_int(out, "N", n);
	tl__param_int(out, "group_size", group);
	tl__param_int(out, "num_groups", groups);
	TL_TRY(tl__param_shape(out, arena, "shape_x", &x));
	TL_TRY(tl__param_text(out, arena, "dtype_x", type));
	TL_TRY(tl__param_shape(out, arena, "shape_in1", &x));
	TL_TRY(tl__param_shape(out, arena, "shape_in2", &none));
	TL_TRY(tl__param_shape(out, arena, "shape_out", &x));
	TL_TRY(tl__param_texts(out, arena, "dtype_in1_in2_out", types, 3));
	tl__param(out, "stride_input1", TL_VALUE_NONE);
	tl__param(out, "stride_input2", TL_VALUE_NONE);
	tl__param(out, "stride_output", TL_VALUE_NONE);
	out->flops = tl__cost_int(tl__group_quant_flops(elements));
	out->bytes = tl__cost_if(size, tl__group_quant_bytes((double)rows, (double)n, (double)group, size));
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}

/* To mxfp4 from the tensor in a slot: two FLOPs an element; half a byte each and a scale for 32 of them are written. */
static int mxfp4(const tl_perf_input *in, size_t slot, bool strides, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x;
	int64_t n;
	if (!tl__arg_shape(&x, in->dims, slot) || !tl__shape_count(&n, &x))
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, slot);
	const char *types[2] = {type, type};
	int size = tl__dtype_bytes(type);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &x));
	TL_TRY(tl__param_texts(out, arena, "dtype_in_out", types, 2));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", strides ? tl__value_at(in->strides, slot) : NULL));
	tl__param(out, "stride_output", TL_VALUE_NONE);
	out->flops = tl__cost_int(2 * (double)n);
	out->bytes = size ? tl__cost_float((double)n * size + (double)n / 2 + floor((double)n / 32))
			  : tl__cost_unknown();
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}

int tl__model_mxfp4_flatten(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return mxfp4(in, 0, true, arena, out);
}

int tl__model_mxfp4_dynamic(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return mxfp4(in, 0, false, arena, out);
}

/* aiter::dynamic_per_group_scaled_quant_fp4: output first. */
int tl__model_mxfp4_group(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return mxfp4(in, 1, false, arena, out);
}

/* aiter::fused_dynamic_mx_quant_moe_sort_hip: output and scales first. */
int tl__model_mx_moe_sort(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return mxfp4(in, 2, true, arena, out);
}

/* aiter::fused_dynamic_mxfp4_quant_moe_sort_hip, likewise. */
int tl__model_mxfp4_moe_sort(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return mxfp4(in, 2, false, arena, out);
}
