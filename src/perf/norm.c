/* SPDX-License-Identifier: MIT */
/* Normalisations: E elements, Ch channels that each have a weight (and bias). */
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

typedef struct norm {
	tl_shape shape;
	const char *type;
	const tl_value *stride;
	tl_norm s;     /* what the formulas need */
	bool whole;    /* channels are counted as an integer */
	tl_value mask; /* list of bool; TL_V_NONE for forward */
} norm;

/* ---- the reference's formulas (values: [03-N3 to 03-N8, 03-N11]) ---- */

/* FLOPs = 3 Ch + (3 E when training) + 3 Ch + 2 E. */
double tl__norm_flops(const tl_norm *n)
{
	return 6 * n->channels + (n->training ? 3 * n->elements : 0) + 2 * n->elements;
}

/* bytes = E in + E out + k Ch in, k = 2 (+ 1 affine, + 1 with bias, + 2 training). */
double tl__norm_bytes(const tl_norm *n, double in, double out)
{
	double k = 2 + (n->affine ? 1 : 0) + (n->affine && n->bias ? 1 : 0) + (n->training ? 2 : 0);
	return n->elements * in + n->elements * out + k * n->channels * in;
}

/* For each channel of e elements: (3 in evaluation) + 4 e + (5 e when training with input gradient, 2 e without it). */
double tl__norm_flops_bwd(const tl_norm *n)
{
	double e = n->elements / n->channels, sum = (n->training ? 0 : 3) + 4 * e;
	if (n->grad_input)
		sum += n->training ? 5 * e : 0;
	else
		sum += 2 * e;
	return sum * n->channels;
}

/* E out + E in (twice when training with input gradient), + Ch when training, + Ch affine, + Ch (or 2) affine training.
 */
double tl__norm_bytes_bwd(const tl_norm *n, double in, double out)
{
	double sum = n->elements * out + n->elements * in * (n->grad_input && n->training ? 2 : 1);
	sum += n->training ? n->channels * in : 0;
	if (n->affine)
		sum += n->channels * in + (n->training ? n->channels * in * (n->bias ? 2 : 1) : 0);
	return sum;
}

/* RMS norm: (E/Ch) (2 Ch + 2) + E FLOPs, 2 E when affine. */
double tl__rms_flops(const tl_norm *n)
{
	return n->elements / n->channels * (2 * n->channels + 2) + n->elements * (n->affine ? 2 : 1);
}

/* E in + E out + (Ch when affine) bytes. */
double tl__rms_bytes(const tl_norm *n, double in, double out)
{
	return n->elements * in + n->elements * out + (n->affine ? n->channels * in : 0);
}

/*
 * RMS norm backward: (E when affine) + E, + 6 E with input gradient, + E with weight gradient (2 E when there is more
 * than one row) FLOPs.
 */
double tl__rms_flops_bwd(const tl_norm *n)
{
	double e = n->elements, flops = (n->affine ? e : 0) + e + (n->grad_input ? 6 * e : 0);
	if (n->grad_weight && n->affine)
		flops += e > n->channels ? 2 * e : e;
	return flops;
}

/* E out + 2 E in + (2 Ch when affine) bytes (reference value [03-N8]). */
double tl__rms_bytes_bwd(const tl_norm *n, double in, double out)
{
	return n->elements * out + 2 * n->elements * in + (n->affine ? 2 * n->channels * in : 0);
}

/* Layer norm with modulation of input (T, B, H), E elements: 12 E FLOPs. */
double tl__modulate_flops(double e)
{
	return 12 * e;
}

/* 2 E + 2 B H elements and 2 T B statistics of 4 bytes. */
double tl__modulate_bytes(double t, double b, double h, double size)
{
	return 2 * t * b * h * size + 2 * b * h * size + 2 * t * b * 4;
}

double tl__modulate_flops_bwd(double e)
{
	return 15 * e;
}

/* 3 E + 3 B H elements and 2 T B statistics of 4 bytes. */
double tl__modulate_bytes_bwd(double t, double b, double h, double size)
{
	return 3 * t * b * h * size + 2 * b * t * 4 + 3 * b * h * size;
}

/* ---- common ---- */

static const char no_input[] = "shape and dtype of the input are needed";

/* Reads shape, dtype and strides of a slot; a reason when they are not there. */
static const char *read_input(norm *n, const tl_perf_input *in, size_t slot)
{
	*n = (norm){.whole = true, .s = {.grad_input = true}};
	n->type = tl__arg_text(in->types, slot);
	if (!tl__arg_shape(&n->shape, in->dims, slot) || !n->type)
		return no_input;
	n->stride = tl__value_at(in->strides, slot); /* may be missing: [03-E10] */
	n->s.elements = tl__shape_volume(&n->shape, 0);
	return NULL;
}

static const char *second_size(norm *n)
{
	if (n->shape.rank < 2)
		return "the input has no channel dimension";
	n->s.channels = (double)n->shape.dim[1];
	return NULL;
}

/* Channels as the product of the normalised shape in a Concrete Inputs slot. */
static int normalised_shape(norm *n, const char **why, const tl_perf_input *in, size_t slot, tl_arena *arena)
{
	tl_value literal;
	tl_shape shape;
	bool ok;
	TL_TRY(tl__arg_literal(&literal, &ok, in->concrete, slot, arena));
	if (!ok || !tl__value_is_list(&literal) || !tl__literal_ints(&shape, &literal)) {
		*why = "the normalised shape is not understood";
		return 0;
	}
	n->s.channels = tl__shape_volume(&shape, 0);
	return 0;
}

/* The output mask, `least` flags long. */
static int read_mask(norm *n, const char **why, const tl_perf_input *in, size_t slot, uint32_t least, tl_arena *arena)
{
	bool ok;
	TL_TRY(tl__arg_literal(&n->mask, &ok, in->concrete, slot, arena));
	ok = ok && tl__value_is_list(&n->mask) && n->mask.n >= least;
	for (uint32_t i = 0; ok && i < n->mask.n; i++)
		ok = n->mask.items[i].kind == TL_V_BOOL;
	if (!ok)
		*why = "the output mask is not understood";
	else
		n->s.grad_input = n->mask.items[0].b;
	return 0;
}

/* A mask of our own, of `length` equal flags. */
static int make_mask(norm *n, bool value, uint32_t length, tl_arena *arena)
{
	tl_value *items = tl__arena_alloc(arena, length * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	for (uint32_t i = 0; i < length; i++)
		items[i] = TL_VALUE_BOOL(value);
	n->mask = (tl_value){.kind = TL_V_LIST, .n = length, .items = items};
	n->s.grad_input = value;
	return 0;
}

static int list(const norm *n, tl_arena *arena, tl_perf_result *out)
{
	const char *types[2] = {n->type, NULL};
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &n->shape));
	TL_TRY(tl__param_texts(out, arena, "dtype_in_out", types, 2));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", n->stride));
	tl__param(out, "stride_output", TL_VALUE_NONE);
	bool integer = n->whole && n->s.channels <= (double)TL_MAX_DIM && n->s.channels >= -(double)TL_MAX_DIM;
	tl__param(out, "num_channels", integer ? TL_VALUE_INT((int64_t)n->s.channels) : TL_VALUE_DOUBLE(n->s.channels));
	tl__param_bool(out, "has_bias", n->s.bias);
	tl__param_bool(out, "is_affine", n->s.affine);
	tl__param_bool(out, "is_training", n->s.training);
	if (n->mask.kind == TL_V_LIST)
		tl__param(out, "output_mask", n->mask);
	out->maf = "vector";
	out->precision = tl__dtype_precision(n->type);
	return 0;
}

static tl_perf_cost cost(const norm *n, double value)
{
	return n->whole ? tl__cost_int(value) : tl__cost_float(value);
}

static int forward(const norm *n, const char *why, tl_arena *arena, tl_perf_result *out)
{
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(list(n, arena, out));
	int size = tl__dtype_bytes(n->type);
	out->flops = cost(n, tl__norm_flops(&n->s));
	/* an unknown dtype makes the reference fail: [03-N10] */
	out->bytes = size ? cost(n, tl__norm_bytes(&n->s, size, size)) : tl__cost_unknown();
	return 0;
}

static int backward(const norm *n, const char *why, tl_arena *arena, tl_perf_result *out)
{
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(list(n, arena, out));
	int size = tl__dtype_bytes(n->type);
	out->flops = out->flops_bwd = n->s.channels != 0 ? tl__cost_float(tl__norm_flops_bwd(&n->s))
							 : tl__cost_failed();
	out->bytes = out->bytes_bwd = size ? cost(n, tl__norm_bytes_bwd(&n->s, size, size)) : tl__cost_unknown();
	return 0;
}

/* Training flag: the text is not empty, so that "False" counts as true (reference value [03-N1]). */
static const char *training_flag(norm *n, const tl_perf_input *in, size_t slot)
{
	const tl_value *v = tl__value_at(in->concrete, slot);
	if (!v)
		return "Concrete Inputs do not tell whether this is training";
	n->s.training = v->kind != TL_V_STRING || v->n;
	return NULL;
}

/* ---- models ---- */

/* Batch and instance norm: weight looked for in slot 2 [03-N2, 03-N11], always a bias. */
int tl__model_batch_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	why = why ? why : second_size(&n);
	why = why ? why : training_flag(&n, in, 5);
	n.s.affine = tl__arg_not_null(in->dims, 2);
	n.s.bias = true;
	return forward(&n, why, arena, out);
}

/* Layer norm: channels are the normalised shape of slot 1; training always counts. */
int tl__model_layer_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	if (!why)
		TL_TRY(normalised_shape(&n, &why, in, 1, arena));
	n.s.affine = tl__arg_not_null(in->dims, 2);
	n.s.bias = tl__arg_not_null(in->dims, 3);
	n.s.training = true;
	return forward(&n, why, arena, out);
}

/* Group norm. */
int tl__model_group_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	why = why ? why : second_size(&n);
	n.s.affine = tl__arg_not_null(in->dims, 2);
	n.s.bias = n.s.training = true;
	return forward(&n, why, arena, out);
}

/* RMS norm. */
int tl__model_rms_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	if (!why)
		TL_TRY(normalised_shape(&n, &why, in, 1, arena));
	if (why)
		return tl__perf_fail(out, why);
	n.s.affine = tl__arg_not_null(in->dims, 2);
	TL_TRY(list(&n, arena, out));
	int size = tl__dtype_bytes(n.type);
	out->flops = n.s.channels != 0 ? tl__cost_float(tl__rms_flops(&n.s)) : tl__cost_failed();
	out->bytes = tl__cost_if(size, tl__rms_bytes(&n.s, size, size));
	return 0;
}

/* aten::{,native_}batch_norm_backward: mask from the shape of grad_out (reference value [03-N9]). */
int tl__model_batch_norm_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 1);
	why = why ? why : second_size(&n);
	why = why ? why : training_flag(&n, in, 7);
	n.s.affine = tl__arg_not_null(in->dims, 2);
	n.s.bias = true;
	TL_TRY(make_mask(&n, tl__arg_not_null(in->dims, 0), 1, arena));
	return backward(&n, why, arena, out);
}

/* aten::{miopen,cudnn}_batch_norm_backward: counted as evaluation (reference value [03-N6]). */
int tl__model_batch_norm_bwd_vendor(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	why = why ? why : second_size(&n);
	n.s.affine = tl__arg_not_null(in->dims, 2);
	n.s.bias = true;
	TL_TRY(make_mask(&n, true, 1, arena));
	return backward(&n, why, arena, out);
}

/* Layer norm backward: weight and bias gradients as the mask of slot 7 says. */
int tl__model_layer_norm_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 1);
	if (!why)
		TL_TRY(normalised_shape(&n, &why, in, 2, arena));
	if (!why)
		TL_TRY(read_mask(&n, &why, in, 7, 3, arena));
	if (!why) {
		n.s.affine = n.mask.items[1].b;
		n.s.bias = n.mask.items[2].b;
	}
	n.s.training = true;
	return backward(&n, why, arena, out);
}

/* Group norm backward: channels are divided by the groups of slot 8 (reference value [03-N3]). */
int tl__model_group_norm_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	int64_t groups;
	const char *why = read_input(&n, in, 1);
	why = why ? why : second_size(&n);
	if (!why && (!tl__to_int(tl__value_at(in->concrete, 8), &groups) || groups <= 0))
		why = "the number of groups is not understood";
	if (!why)
		TL_TRY(read_mask(&n, &why, in, 9, 1, arena));
	if (!why) {
		n.s.channels /= (double)groups;
		n.whole = false;
	}
	n.s.affine = tl__arg_not_null(in->dims, 5);
	n.s.bias = n.s.training = true;
	return backward(&n, why, arena, out);
}

/* Instance norm backward has no model. */
int tl__model_instance_norm_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	(void)in;
	(void)arena;
	return tl__perf_not_modelled(out);
}

/* RMS norm backward: gradients of input and weight as the mask of slot 5 says. */
int tl__model_rms_norm_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 1);
	if (!why)
		TL_TRY(normalised_shape(&n, &why, in, 2, arena));
	if (!why)
		TL_TRY(read_mask(&n, &why, in, 5, 2, arena));
	if (why)
		return tl__perf_fail(out, why);
	n.s.affine = tl__arg_not_null(in->dims, 4);
	TL_TRY(list(&n, arena, out));
	n.s.grad_weight = n.mask.items[1].b;
	int size = tl__dtype_bytes(n.type);
	out->flops = out->flops_bwd = tl__cost_int(tl__rms_flops_bwd(&n.s));
	out->bytes = out->bytes_bwd = tl__cost_if(size, tl__rms_bytes_bwd(&n.s, size, size));
	return 0;
}

/* Shared by the fused layer norm with modulation: input (T, B, H). */
static const char *read_modulate(norm *n, const tl_perf_input *in)
{
	const char *why = read_input(n, in, 0);
	if (!why && n->shape.rank != 3)
		why = "an input of three dimensions is needed";
	if (!why)
		n->s.channels = (double)n->shape.dim[2];
	n->s.bias = n->s.affine = n->s.training = true;
	return why;
}

/* primus::fused_ln_modulate. */
int tl__model_ln_modulate(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_modulate(&n, in);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(list(&n, arena, out));
	double t = (double)n.shape.dim[0], b = (double)n.shape.dim[1], h = n.s.channels;
	int size = tl__dtype_bytes(n.type);
	out->flops = tl__cost_int(tl__modulate_flops(n.s.elements));
	out->bytes = tl__cost_if(size, tl__modulate_bytes(t, b, h, size));
	return 0;
}

/* primus::fused_ln_modulate_backward. */
int tl__model_ln_modulate_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_modulate(&n, in);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(make_mask(&n, true, 3, arena));
	TL_TRY(list(&n, arena, out));
	double t = (double)n.shape.dim[0], b = (double)n.shape.dim[1], h = n.s.channels;
	int size = tl__dtype_bytes(n.type);
	out->flops = tl__cost_int(tl__modulate_flops_bwd(n.s.elements));
	out->bytes = tl__cost_if(size, tl__modulate_bytes_bwd(t, b, h, size));
	return 0;
}
