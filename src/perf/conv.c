/* SPDX-License-Identifier: MIT */
/* Convolutions, shapes (N, C, spatial ...). Groups need no factor: the weight's second size is channels per group. */
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

typedef struct conv {
	tl_conv s; /* what the formulas need */
	int64_t groups;
	const char *types[2];
	const tl_value *stride_x, *stride_w;
	tl_value bias_param; /* as it is listed */
} conv;

/* Output sizes: (in + 2p - d (k - 1) - 1) / s + 1, or when transposed (in - 1) s - 2p + d (k - 1) + op + 1. */
const char *tl__conv_output(tl_conv *c)
{
	c->y.rank = c->x.rank;
	c->y.dim[0] = c->x.dim[0];
	c->y.dim[1] = c->w.dim[c->transposed]; /* transposed with groups: reference value [03-C5] */
	for (size_t i = 2; i < c->x.rank; i++) {
		double n = (double)c->x.dim[i], k = (double)c->w.dim[i], s = (double)c->stride.dim[i - 2];
		double p = (double)c->padding.dim[i - 2], d = (double)c->dilation.dim[i - 2], out;
		if (s <= 0)
			return "a stride is not positive";
		if (c->transposed)
			out = (n - 1) * s - 2 * p + d * (k - 1) + (double)c->output_padding.dim[i - 2] + 1;
		else
			out = (n + 2 * p - d * (k - 1) - 1) / s + 1;
		if (!(out >= 0) || out > (double)TL_MAX_DIM)
			return "the output's size is negative or absurd";
		c->y.dim[i] = (int64_t)out;
	}
	return NULL;
}

/* FLOPs = 2 out w[1:], or 2 x w[1:] when transposed; plus out when there is a bias. */
double tl__conv_flops(const tl_conv *c)
{
	double w = tl__shape_volume(&c->w, 1), y = tl__shape_volume(&c->y, 0);
	return (c->transposed ? tl__shape_volume(&c->x, 0) : y) * 2 * w + (c->bias ? y : 0);
}

/* Gradients of input and weight (each as the forward), and of the bias. */
double tl__conv_flops_bwd(const tl_conv *c)
{
	const tl_shape *rows = c->transposed ? &c->x : &c->y;
	double y = tl__shape_volume(&c->y, 0), n = (double)rows->dim[0];
	double input = tl__shape_volume(rows, 0) * 2 * tl__shape_volume(&c->w, 1);
	double weight = 2 * tl__shape_volume(&c->w, 0) * n * tl__shape_volume(rows, 2);
	return input + weight + (c->bias ? y : 0);
}

/* bytes = (x + out + C_out when biased) x_size + w w_size. */
double tl__conv_bytes(const tl_conv *c, double size_x, double size_w)
{
	double x = tl__shape_volume(&c->x, 0), w = tl__shape_volume(&c->w, 0), y = tl__shape_volume(&c->y, 0);
	return (x + y + (c->bias ? (double)c->y.dim[1] : 0)) * size_x + w * size_w;
}

/* Both gradients: twice (x + out) and w; the bias part, out + C_out, is in elements: reference value [03-C4]. */
double tl__conv_bytes_bwd(const tl_conv *c, double size_x, double size_w)
{
	double x = tl__shape_volume(&c->x, 0), w = tl__shape_volume(&c->w, 0), y = tl__shape_volume(&c->y, 0);
	return ((y + x) * size_x + w * size_w) * 2 + (c->bias ? y + (double)c->y.dim[1] : 0);
}

/* Operands of two dtypes, which the reference refuses, count each with its own size [03-C8]. */
static tl_perf_cost bytes(const conv *c, bool backward)
{
	int sx = tl__dtype_bytes(c->types[0]), sw = tl__dtype_bytes(c->types[1]);
	return tl__cost_if(sx && sw, backward ? tl__conv_bytes_bwd(&c->s, sx, sw) : tl__conv_bytes(&c->s, sx, sw));
}

static int list(const conv *c, bool backward, tl_arena *arena, tl_perf_result *out)
{
	static const char *const names[] = {"conv1d", "conv2d", "conv3d"};
	tl__perf_begin(out);
	TL_TRY(tl__param_text(out, arena, "convNd", names[c->s.x.rank - 3]));
	TL_TRY(tl__param_shape(out, arena, "input_shape", &c->s.x));
	TL_TRY(tl__param_shape(out, arena, "filter_shape", &c->s.w));
	TL_TRY(tl__param_texts(out, arena, "dtype_input_weight", c->types, 2));
	TL_TRY(tl__param_tuple(out, arena, "input_stride", c->stride_x));
	TL_TRY(tl__param_tuple(out, arena, "weight_stride", c->stride_w));
	tl__param(out, "bias", c->bias_param);
	TL_TRY(tl__param_shape(out, arena, "stride", &c->s.stride));
	TL_TRY(tl__param_shape(out, arena, "padding", &c->s.padding));
	TL_TRY(tl__param_shape(out, arena, "dilation", &c->s.dilation));
	tl__param_bool(out, "transposed_conv", c->s.transposed);
	TL_TRY(tl__param_shape(out, arena, "output_padding", &c->s.output_padding));
	tl__param_int(out, "groups", c->groups);

	out->flops_bwd = tl__cost_int(tl__conv_flops_bwd(&c->s));
	out->bytes_bwd = bytes(c, true);
	out->flops = backward ? out->flops_bwd : tl__cost_int(tl__conv_flops(&c->s));
	out->bytes = backward ? out->bytes_bwd : bytes(c, false);
	out->maf = "matrix";
	out->precision = tl__dtype_precision(c->types[0]);
	return 0;
}

/* Input and weight from two slots in a row. */
static const char *read_operands(conv *c, const tl_perf_input *in, size_t slot)
{
	memset(c, 0, sizeof *c);
	if (!tl__arg_shape(&c->s.x, in->dims, slot) || !tl__arg_shape(&c->s.w, in->dims, slot + 1))
		return "shapes of input and weight are needed";
	if (c->s.x.rank < 3 || c->s.x.rank > 5)
		return "the input is not of three to five dimensions";
	if (c->s.w.rank != c->s.x.rank)
		return "input and weight differ in rank";
	c->types[0] = tl__arg_text(in->types, slot);
	c->types[1] = tl__arg_text(in->types, slot + 1);
	if (!c->types[0] || !c->types[1])
		return "dtypes of input and weight are needed";
	c->stride_x = tl__value_at(in->strides, slot);
	c->stride_w = tl__value_at(in->strides, slot + 1);
	return NULL;
}

static void repeat(tl_shape *out, int64_t value, size_t rank)
{
	out->rank = rank;
	for (size_t i = 0; i < rank; i++)
		out->dim[i] = value;
}

/* A list of one or `rank` integers, or one integer; `fallback` when empty. False when it is something else. */
static bool spatial(tl_shape *out, const tl_value *literal, size_t rank, int64_t fallback)
{
	if (literal->kind == TL_V_NONE || (tl__value_is_list(literal) && !literal->n))
		return repeat(out, fallback, rank), true;
	if (!tl__literal_ints(out, literal))
		return false;
	if (out->rank == 1)
		repeat(out, out->dim[0], rank);
	return out->rank == rank;
}

/* Stride, padding, dilation, transposed, output padding and groups from six slots in a row. */
static int read_scalars(conv *c, const char **why, const tl_perf_input *in, size_t slot, tl_arena *arena)
{
	size_t rank = c->s.x.rank - 2;
	struct {
		tl_shape *out;
		size_t slot;
		int64_t fallback;
	} lists[] = {{&c->s.stride, slot, 1},
		     {&c->s.padding, slot + 1, 0},
		     {&c->s.dilation, slot + 2, 1},
		     {&c->s.output_padding, slot + 4, 0}};
	tl_value v;
	bool ok;

	*why = "Concrete Inputs of the convolution are not all there or not understood";
	if (tl__value_count(in->concrete) < slot + 6)
		return 0;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		TL_TRY(tl__arg_literal(&v, &ok, in->concrete, lists[i].slot, arena));
		if (!ok || !spatial(lists[i].out, &v, rank, lists[i].fallback))
			return 0;
	}
	TL_TRY(tl__arg_literal(&v, &ok, in->concrete, slot + 3, arena));
	if (!ok || !tl__to_int(tl__value_at(in->concrete, slot + 5), &c->groups))
		return 0;
	c->s.transposed = tl__truth(&v);
	*why = NULL;
	return 0;
}

static int eval(conv *c, const char *why, bool backward, tl_arena *arena, tl_perf_result *out)
{
	if (!why)
		why = tl__conv_output(&c->s);
	return why ? tl__perf_fail(out, why) : list(c, backward, arena, out);
}

/* aten::convolution. Bias only with exactly three slots: reference value [03-C1]. */
int tl__model_conv(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	conv c;
	const char *why = read_operands(&c, in, 0);
	if (!why)
		TL_TRY(read_scalars(&c, &why, in, 3, arena));
	c.s.bias = tl__value_count(in->dims) == 3;
	c.bias_param = TL_VALUE_BOOL(c.s.bias);
	return eval(&c, why, false, arena, out);
}

/*
 * aten::convolution_backward. Bias from the shape of slot 3, where real events have none, and listed as [] then:
 * reference values [03-C2]; the output mask is ignored [03-C3].
 */
int tl__model_conv_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	conv c;
	const char *why = read_operands(&c, in, 1);
	if (!why)
		TL_TRY(read_scalars(&c, &why, in, 4, arena));
	c.s.bias = tl__arg_given(in->dims, 3);
	c.bias_param = c.s.bias ? TL_VALUE_BOOL(true) : (tl_value){.kind = TL_V_LIST};
	return eval(&c, why, true, arena, out);
}

/*
 * ConvBias_, ConvBiasReLU_: stride read at slot 3 and padding at 4 (reference values). The published functions have
 * them the other way round; where that makes the stride 0, their order counts [03-C6].
 */
static int read_fused(conv *c, const char **why, const tl_perf_input *in, tl_arena *arena)
{
	tl_value first, second;
	bool ok, ok2;

	*why = read_operands(c, in, 0);
	if (*why)
		return 0;
	size_t rank = c->s.x.rank - 2;
	c->s.bias = true;
	c->bias_param = TL_VALUE_BOOL(true);
	c->groups = 1;
	repeat(&c->s.dilation, 1, rank);
	repeat(&c->s.output_padding, 0, rank);
	TL_TRY(tl__arg_literal(&first, &ok, in->concrete, 3, arena));
	TL_TRY(tl__arg_literal(&second, &ok2, in->concrete, 4, arena));
	if (ok && ok2 && first.kind == TL_V_INT && first.i == 0) {
		tl_value padding = first;
		first = second;
		second = padding;
	}
	if (!ok || !ok2 || !spatial(&c->s.stride, &first, rank, 1) || !spatial(&c->s.padding, &second, rank, 0))
		*why = "stride or padding is no integer";
	return 0;
}

int tl__model_conv_fused(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	conv c;
	const char *why;
	TL_TRY(read_fused(&c, &why, in, arena));
	return eval(&c, why, false, arena, out);
}

/* ConvBias_Backward, ConvBiasReLU_Backward: everything from the linked forward event [03-C7]. */
int tl__model_conv_fused_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	conv c;
	const char *why;
	if (!in->forward)
		return tl__perf_fail(out, "the forward event is not in the trace");
	TL_TRY(read_fused(&c, &why, in->forward, arena));
	return eval(&c, why, true, arena, out);
}
