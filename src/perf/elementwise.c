/* SPDX-License-Identifier: MIT */
/* Elementwise operations: one FLOP an output element, every tensor read or written once. */
#include <math.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

double tl__stream_bytes(double n1, double size1, double n2, double size2)
{
	return n1 * size1 + n2 * size2;
}

double tl__binary_bytes(double n1, double size1, double n2, double size2, double n_out, double size_out)
{
	return n1 * size1 + n2 * size2 + n_out * size_out;
}

static const char no_input[] = "shape and dtype of the input are needed";

/* Lists op_shape, dtype_in_out and the strides (which may be missing: [03-E10]). */
static int list_unary(const tl_shape *shape, const char *type_in, const char *type_out, const tl_value *stride_in,
		      const tl_value *stride_out, tl_arena *arena, tl_perf_result *out)
{
	const char *types[2] = {type_in, type_out};
	TL_TRY(tl__param_shape(out, arena, "op_shape", shape));
	TL_TRY(tl__param_texts(out, arena, "dtype_in_out", types, 2));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", stride_in));
	TL_TRY(tl__param_tuple(out, arena, "stride_output", stride_out));
	out->maf = "vector";
	out->precision = tl__dtype_precision(type_in);
	return 0;
}

/*
 * Unary: n FLOPs, n in + n out bytes. copy_ names its destination "in" and is counted at the destination's
 * size, and a tensor exponent of pow passes for the output: reference values [03-E5 and 03-E4].
 */
int tl__model_unary(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape shape;
	if (!tl__arg_shape(&shape, in->dims, 0) || !tl__arg_text(in->types, 0))
		return tl__perf_fail(out, no_input);
	bool has_output = tl__arg_given(in->dims, 1);
	const char *type_in = tl__arg_text(in->types, 0), *type_out = has_output ? tl__arg_text(in->types, 1) : NULL;
	tl__perf_begin(out);
	TL_TRY(list_unary(&shape, type_in, type_out, tl__value_at(in->strides, 0),
			  has_output ? tl__value_at(in->strides, 1) : NULL, arena, out));
	double n = tl__shape_volume(&shape, 0);
	int size_in = tl__dtype_bytes(type_in), size_out = type_out ? tl__dtype_bytes(type_out) : size_in;
	out->flops = tl__cost_int(n);
	out->bytes = tl__cost_if(size_in && size_out, tl__stream_bytes(n, size_in, n, size_out));
	return 0;
}

/* What pads and upsampling list and cost: out FLOPs, in + out bytes of the input's dtype. */
static int resized(const tl_shape *from, const tl_shape *to, const tl_value *padding, const tl_perf_input *in,
		   tl_arena *arena, tl_perf_result *out)
{
	const char *type = tl__arg_text(in->types, 0);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "input_shape", from));
	TL_TRY(tl__param_shape(out, arena, "output_shape", to));
	if (padding)
		tl__param(out, "padding", *padding);
	TL_TRY(list_unary(to, type, type, tl__value_at(in->strides, 0), NULL, arena, out));
	double n_in = tl__shape_volume(from, 0), n_out = tl__shape_volume(to, 0);
	int size = tl__dtype_bytes(type);
	out->flops = tl__cost_int(n_out);
	out->bytes = tl__cost_if(size, tl__stream_bytes(n_in, size, n_out, size));
	return 0;
}

static bool dim_ok(double size)
{
	return size >= 0 && size <= (double)TL_MAX_DIM;
}

/* aten::replication_pad{1,2,3}d: pairs of padding, innermost dimension first. */
int tl__model_replication_pad(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape from, to, pads;
	tl_value literal;
	bool ok;
	if (!tl__arg_shape(&from, in->dims, 0) || !tl__arg_text(in->types, 0))
		return tl__perf_fail(out, no_input);
	TL_TRY(tl__arg_literal(&literal, &ok, in->concrete, 1, arena));
	if (!ok || !tl__value_is_list(&literal) || !tl__literal_ints(&pads, &literal) || pads.rank % 2 ||
	    pads.rank / 2 > from.rank)
		return tl__perf_fail(out, "the padding is no list of pairs");
	to = from;
	for (size_t i = 0; i < pads.rank / 2; i++) {
		int64_t *size = &to.dim[to.rank - 1 - i];
		double padded = (double)*size + (double)pads.dim[2 * i] + (double)pads.dim[2 * i + 1];
		if (!dim_ok(padded))
			return tl__perf_fail(out, "the output's size is negative or absurd");
		*size = (int64_t)padded;
	}
	literal.kind = TL_V_LIST;
	return resized(&from, &to, &literal, in, arena, out);
}

/* Sizes from scale factors, which the reference cannot read [03-E8]: floor(in * scale), as PyTorch rounds. */
static int scaled_sizes(tl_shape *to, bool *found, const tl_perf_input *in, tl_arena *arena)
{
	tl_value scales;
	bool ok;
	*found = false;
	TL_TRY(tl__arg_literal(&scales, &ok, in->concrete, 2, arena));
	if (!ok)
		return 0;
	bool one_list = tl__value_is_list(&scales);
	if (one_list && scales.n != to->rank - 2)
		return 0;
	for (size_t i = 2; i < to->rank; i++) {
		double scale, size;
		const tl_value *item = one_list ? &scales.items[i - 2] : tl__value_at(in->concrete, i);
		if (!tl__to_double(item, &scale))
			return 0;
		size = floor((double)to->dim[i] * scale);
		if (!dim_ok(size))
			return 0;
		to->dim[i] = (int64_t)size;
	}
	*found = true;
	return 0;
}

/* aten::upsample_nearest{1,2,3}d: output sizes in slot 1, else scale factors from slot 2 on. */
int tl__model_upsample(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape from, to, sizes;
	tl_value literal;
	bool ok;
	if (!tl__arg_shape(&from, in->dims, 0) || from.rank < 2 || !tl__arg_text(in->types, 0))
		return tl__perf_fail(out, no_input);
	to = from;
	TL_TRY(tl__arg_literal(&literal, &ok, in->concrete, 1, arena));
	if (ok && literal.kind == TL_V_NONE) {
		TL_TRY(scaled_sizes(&to, &ok, in, arena));
	} else if (ok) {
		ok = tl__literal_ints(&sizes, &literal) && sizes.rank + 2 <= TL_MAX_RANK;
		to.rank = ok ? sizes.rank + 2 : 2;
		for (size_t i = 2; ok && i < to.rank; i++) {
			to.dim[i] = sizes.dim[i - 2];
			ok = to.dim[i] >= 0;
		}
	}
	return ok ? resized(&from, &to, NULL, in, arena, out)
		  : tl__perf_fail(out, "neither output size nor scale factors are understood");
}

/* quantize_fp8_tensorwise: n FLOPs, n in + n bytes. */
int tl__model_quantize_fp8(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape shape;
	const char *type = tl__arg_text(in->types, 0);
	if (!tl__arg_shape(&shape, in->dims, 0) || !type)
		return tl__perf_fail(out, no_input);
	tl__perf_begin(out);
	TL_TRY(list_unary(&shape, type, "c10::Float8_e4m3fnuz", tl__value_at(in->strides, 0), NULL, arena, out));
	double n = tl__shape_volume(&shape, 0);
	int size = tl__dtype_bytes(type);
	out->flops = tl__cost_int(n);
	out->bytes = tl__cost_if(size, tl__stream_bytes(n, size, n, 1));
	return 0;
}

/* A scale of one byte for each 32 values: M N in + 2 ceil(M N / 2) + M ceil(N/32) + N ceil(M/32) bytes. */
double tl__mxfp4_dual_bytes(double m, double n, double size)
{
	return m * n * size + 2 * ceil(m * n / 2) + m * ceil(n / 32) + n * ceil(m / 32);
}

/*
 * quantize_mxfp4_dual: a matrix quantised along rows and along columns. Leading dimensions are flattened (the reference
 * takes matrices only: [03-E12]).
 */
int tl__model_quantize_mxfp4(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape shape;
	const char *type = tl__arg_text(in->types, 0);
	if (!tl__arg_shape(&shape, in->dims, 0) || !type)
		return tl__perf_fail(out, no_input);
	tl__perf_begin(out);
	TL_TRY(list_unary(&shape, type, "c10::Float4_e2m1fn_x2", tl__value_at(in->strides, 0), NULL, arena, out));
	double total = tl__shape_volume(&shape, 0), n = shape.rank ? (double)shape.dim[shape.rank - 1] : 1, m = 1;
	for (size_t i = 0; i + 1 < shape.rank; i++)
		m *= (double)shape.dim[i];
	int size = tl__dtype_bytes(type);
	out->flops = tl__cost_int(total);
	out->bytes = tl__cost_if(size, tl__mxfp4_dual_bytes(m, n, size));
	return 0;
}

bool tl__broadcast(tl_shape *out, const tl_shape *a, const tl_shape *b)
{
	out->rank = a->rank > b->rank ? a->rank : b->rank;
	for (size_t i = 0; i < out->rank; i++) {
		int64_t x = i < a->rank ? a->dim[a->rank - 1 - i] : 1, y = i < b->rank ? b->dim[b->rank - 1 - i] : 1;
		if (x != y && x != 1 && y != 1)
			return false;
		out->dim[out->rank - 1 - i] = x == 1 ? y : x;
	}
	return true;
}

/* n_out FLOPs; n1 b1 + n2 b2 + n_out out bytes. */
static int binary(const tl_perf_input *in, bool output, tl_arena *arena, tl_perf_result *out)
{
	tl_shape a, b, broadcast;
	if (!tl__arg_shape(&a, in->dims, 0) || !tl__arg_shape(&b, in->dims, 1) || tl__value_count(in->types) < 2)
		return tl__perf_fail(out, "shapes and dtypes of two operands are needed");
	if (!tl__broadcast(&broadcast, &a, &b))
		return tl__perf_fail(out, "the operands cannot be broadcast");
	const char *types[3] = {tl__arg_text(in->types, 0), tl__arg_text(in->types, 1),
				output ? tl__arg_text(in->types, 2) : NULL};
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "shape_in1", &a));
	TL_TRY(tl__param_shape(out, arena, "shape_in2", &b));
	TL_TRY(tl__param_texts(out, arena, "dtype_in1_in2_out", types, 3));
	TL_TRY(tl__param_tuple(out, arena, "stride_input1", tl__value_at(in->strides, 0)));
	TL_TRY(tl__param_tuple(out, arena, "stride_input2", tl__value_at(in->strides, 1)));
	TL_TRY(tl__param_tuple(out, arena, "stride_output", output ? tl__value_at(in->strides, 2) : NULL));
	out->maf = "vector";
	out->precision = tl__dtype_precision(types[0]);

	int size1 = tl__dtype_bytes(types[0]), size2 = tl__dtype_bytes(types[1]);
	/* a scalar tensor first gives the output its size: reference value [03-E6] */
	int size_out = types[2] ? tl__dtype_bytes(types[2]) : a.rank && b.rank && size2 > size1 ? size2 : size1;
	double n_out = tl__shape_volume(&broadcast, 0);
	out->flops = tl__cost_int(n_out);
	out->bytes = tl__cost_if(
		size1 && size2 && size_out,
		tl__binary_bytes(tl__shape_volume(&a, 0), size1, tl__shape_volume(&b, 0), size2, n_out, size_out));
	return 0;
}

/* Binary ATen operations: a third tensor is taken for the output. */
int tl__model_binary(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return binary(in, tl__arg_given(in->dims, 2), arena, out);
}

/* LigerSiLUMulFunction: silu(a) * b, one FLOP an element (reference value [03-E7]). */
int tl__model_silu_mul(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return binary(in, false, arena, out);
}
