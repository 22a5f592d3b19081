/* SPDX-License-Identifier: MIT */
/* Normalisations: E elements, Ch channels that each have a weight (and bias). */
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"

typedef struct norm {
	tl_shape shape;
	const char *type;
	const tl_value *stride;
	double elements, channels;
	bool whole; /* channels are counted as an integer */
	bool bias, affine, training;
	tl_value mask; /* list of bool; TL_V_NONE for forward */
	bool grad_input;
} norm;

/* ---- the reference's formulas (values: faults N3 to N8, N11) ---- */

/* FLOPs = 3 Ch + (3 E when training) + 3 Ch + 2 E. */
static double flops_fwd(const norm *n)
{
	return 6 * n->channels + (n->training ? 3 * n->elements : 0) + 2 * n->elements;
}

/* bytes = E in + E out + k Ch in, k = 2 (+ 1 affine, + 1 with bias, + 2 training). */
static double bytes_fwd(const norm *n, double size)
{
	double k = 2 + (n->affine ? 1 : 0) + (n->affine && n->bias ? 1 : 0) + (n->training ? 2 : 0);
	return n->elements * size * 2 + k * n->channels * size;
}

/* For each channel of e elements: (3 in evaluation) + 4 e + (5 e when training with input gradient, 2 e without it). */
static double flops_bwd(const norm *n)
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
static double bytes_bwd(const norm *n, double size)
{
	double sum = n->elements * size + n->elements * size * (n->grad_input && n->training ? 2 : 1);
	sum += n->training ? n->channels * size : 0;
	if (n->affine)
		sum += n->channels * size + (n->training ? n->channels * size * (n->bias ? 2 : 1) : 0);
	return sum;
}

/* ---- common ---- */

static const char no_input[] = "shape and dtype of the input are needed";

/* Reads shape, dtype and strides of a slot; a reason when they are not there. */
static const char *read_input(norm *n, const tl_perf_input *in, size_t slot)
{
	*n = (norm){.whole = true, .grad_input = true};
	n->type = tl__arg_text(in->types, slot);
	if (!tl__arg_shape(&n->shape, in->dims, slot) || !n->type)
		return no_input;
	n->stride = tl__value_at(in->strides, slot); /* may be missing: fault E10 */
	n->elements = tl__shape_volume(&n->shape, 0);
	return NULL;
}

static const char *second_size(norm *n)
{
	if (n->shape.rank < 2)
		return "the input has no channel dimension";
	n->channels = (double)n->shape.dim[1];
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
	n->channels = tl__shape_volume(&shape, 0);
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
		n->grad_input = n->mask.items[0].b;
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
	n->grad_input = value;
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
	bool integer = n->whole && n->channels <= (double)TL_MAX_DIM && n->channels >= -(double)TL_MAX_DIM;
	tl__param(out, "num_channels", integer ? TL_VALUE_INT((int64_t)n->channels) : TL_VALUE_DOUBLE(n->channels));
	tl__param_bool(out, "has_bias", n->bias);
	tl__param_bool(out, "is_affine", n->affine);
	tl__param_bool(out, "is_training", n->training);
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
	out->flops = cost(n, flops_fwd(n));
	/* an unknown dtype makes the reference fail: fault N10 */
	out->bytes = size ? cost(n, bytes_fwd(n, size)) : tl__cost_unknown();
	return 0;
}

static int backward(const norm *n, const char *why, tl_arena *arena, tl_perf_result *out)
{
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(list(n, arena, out));
	int size = tl__dtype_bytes(n->type);
	out->flops = out->flops_bwd = n->channels != 0 ? tl__cost_float(flops_bwd(n)) : tl__cost_failed();
	out->bytes = out->bytes_bwd = size ? cost(n, bytes_bwd(n, size)) : tl__cost_unknown();
	return 0;
}

/* Training flag: the text is not empty, so that "False" counts as true (reference value, fault N1). */
static const char *training_flag(norm *n, const tl_perf_input *in, size_t slot)
{
	const tl_value *v = tl__value_at(in->concrete, slot);
	if (!v)
		return "Concrete Inputs do not tell whether this is training";
	n->training = v->kind != TL_V_STRING || v->n;
	return NULL;
}

/* ---- models ---- */

/* Batch and instance norm: weight looked for in slot 2 (N2, N11), always a bias. */
int tl__model_batch_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	why = why ? why : second_size(&n);
	why = why ? why : training_flag(&n, in, 5);
	n.affine = tl__arg_not_null(in->dims, 2);
	n.bias = true;
	return forward(&n, why, arena, out);
}

/* Layer norm: channels are the normalised shape of slot 1; training always counts. */
int tl__model_layer_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	if (!why)
		TL_TRY(normalised_shape(&n, &why, in, 1, arena));
	n.affine = tl__arg_not_null(in->dims, 2);
	n.bias = tl__arg_not_null(in->dims, 3);
	n.training = true;
	return forward(&n, why, arena, out);
}

/* Group norm. */
int tl__model_group_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	why = why ? why : second_size(&n);
	n.affine = tl__arg_not_null(in->dims, 2);
	n.bias = n.training = true;
	return forward(&n, why, arena, out);
}

/* RMS norm: (E/Ch) (2 Ch + 2) + E (2 E when affine) FLOPs; E in + E out + (Ch when affine) bytes. */
int tl__model_rms_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	if (!why)
		TL_TRY(normalised_shape(&n, &why, in, 1, arena));
	if (why)
		return tl__perf_fail(out, why);
	n.affine = tl__arg_not_null(in->dims, 2);
	TL_TRY(list(&n, arena, out));
	double e = n.elements, ch = n.channels;
	int size = tl__dtype_bytes(n.type);
	out->flops = ch != 0 ? tl__cost_float(e / ch * (2 * ch + 2) + e * (n.affine ? 2 : 1)) : tl__cost_failed();
	out->bytes = tl__cost_if(size, e * size * 2 + (n.affine ? ch * size : 0));
	return 0;
}

/* aten::{,native_}batch_norm_backward: mask from the shape of grad_out (reference value, fault N9). */
int tl__model_batch_norm_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 1);
	why = why ? why : second_size(&n);
	why = why ? why : training_flag(&n, in, 7);
	n.affine = tl__arg_not_null(in->dims, 2);
	n.bias = true;
	TL_TRY(make_mask(&n, tl__arg_not_null(in->dims, 0), 1, arena));
	return backward(&n, why, arena, out);
}

/* aten::{miopen,cudnn}_batch_norm_backward: counted as evaluation (reference value, fault N6). */
int tl__model_batch_norm_bwd_vendor(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_input(&n, in, 0);
	why = why ? why : second_size(&n);
	n.affine = tl__arg_not_null(in->dims, 2);
	n.bias = true;
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
		n.affine = n.mask.items[1].b;
		n.bias = n.mask.items[2].b;
	}
	n.training = true;
	return backward(&n, why, arena, out);
}

/* Group norm backward: channels are divided by the groups of slot 8 (reference value, fault N3). */
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
		n.channels /= (double)groups;
		n.whole = false;
	}
	n.affine = tl__arg_not_null(in->dims, 5);
	n.bias = n.training = true;
	return backward(&n, why, arena, out);
}

/* Instance norm backward has no model. */
int tl__model_instance_norm_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	(void)in;
	(void)arena;
	return tl__perf_not_modelled(out);
}

/*
 * RMS norm backward: (E when affine) + E, + 6 E with input gradient, + E with weight gradient (2 E when there is more
 * than one row) FLOPs; E out + 2 E in + (2 Ch when affine) bytes (reference value, fault N8).
 */
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
	n.affine = tl__arg_not_null(in->dims, 4);
	TL_TRY(list(&n, arena, out));
	double e = n.elements, flops = (n.affine ? e : 0) + e + (n.grad_input ? 6 * e : 0);
	if (n.mask.items[1].b && n.affine)
		flops += e > n.channels ? 2 * e : e;
	int size = tl__dtype_bytes(n.type);
	out->flops = out->flops_bwd = tl__cost_int(flops);
	out->bytes = out->bytes_bwd = tl__cost_if(size, e * size * 3 + (n.affine ? 2 * n.channels * size : 0));
	return 0;
}

/* Shared by the fused layer norm with modulation: input (T, B, H). */
static const char *read_modulate(norm *n, const tl_perf_input *in)
{
	const char *why = read_input(n, in, 0);
	if (!why && n->shape.rank != 3)
		why = "an input of three dimensions is needed";
	if (!why)
		n->channels = (double)n->shape.dim[2];
	n->bias = n->affine = n->training = true;
	return why;
}

/* primus::fused_ln_modulate: 12 E FLOPs; 2 E + 2 B H elements and 2 T B statistics of 4 bytes. */
int tl__model_ln_modulate(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_modulate(&n, in);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(list(&n, arena, out));
	double e = n.elements, t = (double)n.shape.dim[0], b = (double)n.shape.dim[1], h = n.channels;
	int size = tl__dtype_bytes(n.type);
	out->flops = tl__cost_int(12 * e);
	out->bytes = tl__cost_if(size, 2 * e * size + 2 * b * h * size + 2 * t * b * 4);
	return 0;
}

/* primus::fused_ln_modulate_backward: 15 E FLOPs; 3 E + 3 B H elements and 2 T B statistics of 4 bytes. */
int tl__model_ln_modulate_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	norm n;
	const char *why = read_modulate(&n, in);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(make_mask(&n, true, 3, arena));
	TL_TRY(list(&n, arena, out));
	double e = n.elements, t = (double)n.shape.dim[0], b = (double)n.shape.dim[1], h = n.channels;
	int size = tl__dtype_bytes(n.type);
	out->flops = tl__cost_int(15 * e);
	out->bytes = tl__cost_if(size, 3 * e * size + 2 * b * t * 4 + 3 * b * h * size);
	return 0;
}
