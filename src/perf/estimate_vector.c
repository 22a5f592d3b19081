/* SPDX-License-Identifier: MIT */
/*
 * Families of models without a trace that vector units compute, or that only move data.
 * Costs come from perf/formulas.h, the same functions that operations of a trace are counted with; here parameters get
 * names, meanings and defaults.
 */
#include "perf/estimate_family.h"

/* Costs of what the vector unit does with operands of one dtype. */
static const char *in_one_dtype(const tl_estimate_in *a, tl_estimate_cost *out, double flops, double bytes)
{
	out->flops = flops;
	out->bytes = known(bytes, dtype(a).size, 1);
	rate(out, "vector", dtype(a));
	return NULL;
}

/* ---- elementwise and reduce ---- */

static const tl_estimate_param_info unary_params[] = {
	SHAPE("shape", NULL, "of the input"),
	SHAPE("output", "", "of the result, when it differs (padding, upsampling)"),
	DTYPE("dtype", "bf16", "of the input"),
	DTYPE("dtype_out", "", "of the result; without it dtype"),
};

static const char *unary(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double n = tl__shape_volume(shape(a, "shape"), 0);
	double n_out = given(a, "output") ? tl__shape_volume(shape(a, "output"), 0) : n;
	tl_number_type in = dtype(a), to = operand(a, "dtype_out", in);
	out->flops = n_out;
	out->bytes = known(tl__stream_bytes(n, in.size, n_out, to.size), in.size, to.size);
	rate(out, "vector", in);
	return NULL;
}

static const tl_estimate_param_info binary_params[] = {
	SHAPE("shape1", NULL, "of the first operand"),
	SHAPE("shape2", "", "of the second operand; without it shape1"),
	DTYPE("dtype", "bf16", "of the first operand"),
	DTYPE("dtype2", "", "of the second operand; without it dtype"),
	DTYPE("dtype_out", "", "of the result; without it the wider of both"),
};

static const char *binary(const tl_estimate_in *a, tl_estimate_cost *out)
{
	const tl_shape *x = shape(a, "shape1"), *y = given(a, "shape2") ? shape(a, "shape2") : x;
	tl_number_type tx = dtype(a), ty = operand(a, "dtype2", tx);
	tl_number_type to = operand(a, "dtype_out", x->rank && y->rank && ty.size > tx.size ? ty : tx);
	if (!tl__broadcast(&out->output, x, y))
		return "the operands cannot be broadcast";
	double n = tl__shape_volume(&out->output, 0);
	double bytes = tl__binary_bytes(tl__shape_volume(x, 0), tx.size, tl__shape_volume(y, 0), ty.size, n, to.size);
	out->flops = n;
	out->bytes = known(known(bytes, tx.size, ty.size), to.size, 1);
	rate(out, "vector", tx);
	return NULL;
}

static const tl_estimate_param_info gated_params[] = {
	SHAPE("shape", NULL, "of the result; the input is twice as wide"),
	CHOICE("activation", "silu", "silu gelu gelu_tanh", "silu (5 FLOPs an element), gelu (8) or gelu_tanh (10)"),
	DTYPE("dtype", "bf16", "of the input"),
	DTYPE("dtype_out", "", "of the result; without it dtype"),
};

static const char *gated(const tl_estimate_in *a, tl_estimate_cost *out)
{
	const char *word = tl__estimate_value(a, "activation")->choice;
	double n = tl__shape_volume(shape(a, "shape"), 0);
	double per_element = !strncmp(word, "silu", 4) ? 5 : !strncmp(word, "gelu_tanh", 9) ? 10 : 8;
	tl_number_type in = dtype(a), to = operand(a, "dtype_out", in);
	out->flops = tl__gated_flops(n, per_element);
	out->bytes = known(tl__gated_bytes(n, in.size, to.size), in.size, to.size);
	rate(out, "vector", in);
	return NULL;
}

static const tl_estimate_param_info reduce_params[] = {
	SHAPE("shape", NULL, "of the input"),
	SHAPE("output", "1", "of the result"),
	DTYPE("dtype", "bf16", "of the input"),
	DTYPE("dtype_out", "", "of the result; without it dtype"),
};

static const char *reduce(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double n = tl__shape_volume(shape(a, "shape"), 0), n_out = tl__shape_volume(shape(a, "output"), 0);
	tl_number_type in = dtype(a), to = operand(a, "dtype_out", in);
	out->flops = n;
	out->bytes = known(tl__stream_bytes(n, in.size, n_out, to.size), in.size, to.size);
	rate(out, "vector", in);
	return NULL;
}

static const tl_estimate_param_info softmax_params[] = {
	INT("M", NULL, "rows"),
	INT("N", NULL, "columns, over which the sum is 1"),
	INT("B", "1", "matrices in a batch"),
	DTYPE("dtype", "bf16", "of input and result"),
};

static const char *softmax(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double m = num(a, "M"), n = num(a, "N"), batch = num(a, "B"), times = a->backward ? 2 : 1, size = dtype(a).size;
	return in_one_dtype(a, out, times * tl__softmax_flops(m, n, batch),
			    times * tl__softmax_bytes(m, n, batch, size));
}

/* ---- quantisation ---- */

static const tl_estimate_param_info group_quant_params[] = {
	INT("M", NULL, "rows"),
	INT("N", NULL, "columns"),
	INT("group", "128", "values along a row that share a scale of 4 bytes"),
	DTYPE("dtype", "bf16", "of the input; the result has one byte a value"),
};

static const char *group_quant(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double m = num(a, "M"), n = num(a, "N"), size = dtype(a).size;
	return in_one_dtype(a, out, tl__group_quant_flops(m * n), tl__group_quant_bytes(m, n, num(a, "group"), size));
}

static const tl_estimate_param_info quant_mxfp4_params[] = {
	INT("M", NULL, "rows"),
	INT("N", NULL, "columns"),
	DTYPE("dtype", "bf16", "of the input"),
};

static const char *quant_mxfp4(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double m = num(a, "M"), n = num(a, "N"), size = dtype(a).size;
	return in_one_dtype(a, out, m * n, tl__mxfp4_dual_bytes(m, n, size));
}

/* ---- normalisation ---- */

static const tl_estimate_param_info normalization_params[] = {
	SHAPE("shape", NULL, "of the input"),
	INT("channels", "", "elements of the weight; without it the last size of the shape"),
	FLAG("affine", "true", "there is a weight"),
	FLAG("bias", "true", "there is a bias beside the weight"),
	FLAG("training", "true", "mean and variance are computed, not given"),
	FLAG("grad_input", "true", "backward: the gradient of the input is wanted"),
	DTYPE("dtype", "bf16", "of the input"),
	DTYPE("dtype_out", "", "of the result; without it dtype"),
};

static const tl_estimate_param_info rmsnorm_params[] = {
	SHAPE("shape", NULL, "of the input"),
	INT("channels", "", "elements of the weight, a row; without it the last size of the shape"),
	FLAG("affine", "true", "there is a weight"),
	FLAG("grad_input", "true", "backward: the gradient of the input is wanted"),
	FLAG("grad_weight", "true", "backward: the gradient of the weight is wanted"),
	DTYPE("dtype", "bf16", "of the input"),
	DTYPE("dtype_out", "", "of the result; without it dtype"),
};

static tl_norm read_norm(const tl_estimate_in *a)
{
	const tl_shape *s = shape(a, "shape");
	return (tl_norm){.elements = tl__shape_volume(s, 0),
			 .channels = num_or(a, "channels", s->rank ? (double)s->dim[s->rank - 1] : 1),
			 .affine = flag(a, "affine"),
			 .bias = flag(a, "bias"),
			 .training = flag(a, "training"),
			 .grad_input = flag(a, "grad_input"),
			 .grad_weight = flag(a, "grad_weight")};
}

/* What is wrong with a norm, or NULL. */
static const char *check_norm(const tl_norm *n)
{
	if (!(n->channels > 0))
		return "there are no channels";
	return fmod(n->elements, n->channels) > 0 ? "the elements of the shape are no multiple of the channels" : NULL;
}

static const char *normalization(const tl_estimate_in *a, tl_estimate_cost *out)
{
	tl_norm n = read_norm(a);
	tl_number_type in = dtype(a), to = operand(a, "dtype_out", in);
	const char *wrong = check_norm(&n);
	if (wrong)
		return wrong;
	out->flops = a->backward ? tl__norm_flops_bwd(&n) : tl__norm_flops(&n);
	out->bytes =
		known(a->backward ? tl__norm_bytes_bwd(&n, in.size, to.size) : tl__norm_bytes(&n, in.size, to.size),
		      in.size, to.size);
	rate(out, "vector", in);
	return NULL;
}

static const char *rmsnorm(const tl_estimate_in *a, tl_estimate_cost *out)
{
	tl_norm n = read_norm(a);
	tl_number_type in = dtype(a), to = operand(a, "dtype_out", in);
	const char *wrong = check_norm(&n);
	if (wrong)
		return wrong;
	out->flops = a->backward ? tl__rms_flops_bwd(&n) : tl__rms_flops(&n);
	out->bytes = known(a->backward ? tl__rms_bytes_bwd(&n, in.size, to.size) : tl__rms_bytes(&n, in.size, to.size),
			   in.size, to.size);
	rate(out, "vector", in);
	return NULL;
}

static const tl_estimate_param_info layernorm_modulate_params[] = {
	INT("T", NULL, "tokens"),
	INT("B", NULL, "batch"),
	INT("H", NULL, "size of a token"),
	DTYPE("dtype", "bf16", "of input and result"),
};

static const char *layernorm_modulate(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double t = num(a, "T"), b = num(a, "B"), h = num(a, "H"), e = t * b * h, size = dtype(a).size;
	return in_one_dtype(a, out, a->backward ? tl__modulate_flops_bwd(e) : tl__modulate_flops(e),
			    a->backward ? tl__modulate_bytes_bwd(t, b, h, size) : tl__modulate_bytes(t, b, h, size));
}

/* ---- parts of language models ---- */

static const tl_estimate_param_info rope_params[] = {
	SHAPE("shape", NULL, "of what is rotated: queries, or queries and keys together"),
	DTYPE("dtype", "bf16", "of input and result"),
};

static const char *rope(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double n = tl__shape_volume(shape(a, "shape"), 0), size = dtype(a).size;
	return in_one_dtype(a, out, tl__rope_flops(n), tl__rope_bytes(n, size));
}

static const tl_estimate_param_info cross_entropy_params[] = {
	INT("rows", NULL, "tokens"),
	INT("vocabulary", NULL, "logits of a token"),
	DTYPE("dtype", "bf16", "of the logits; targets have 8 bytes, losses 4"),
};

static const char *cross_entropy(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double rows = num(a, "rows"), vocabulary = num(a, "vocabulary"), size = dtype(a).size;
	return in_one_dtype(a, out, tl__cross_entropy_flops(rows, vocabulary),
			    tl__cross_entropy_bytes(rows * vocabulary, rows, size));
}

/* ---- traffic without arithmetic ---- */

static const tl_estimate_param_info moe_comm_params[] = {
	INT("tokens", NULL, "tokens sent to experts, or back"),
	INT("hidden", NULL, "size of a token"),
	DTYPE("dtype", "bf16", "of a token"),
};

static const char *moe_comm(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double size = dtype(a).size;
	out->flops = 0;
	out->bytes = known(tl__moe_comm_bytes(num(a, "tokens"), num(a, "hidden"), size), size, 1);
	return NULL;
}

static const tl_estimate_param_info collective_params[] = {
	SHAPE("shape", NULL, "of what a GPU hands in"),
	SHAPE("output", "", "of what it gets; without it shape (all-reduce)"),
	DTYPE("dtype", "bf16", "of both"),
};

static const char *collective(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double n = tl__shape_volume(shape(a, "shape"), 0), size = dtype(a).size;
	double n_out = given(a, "output") ? tl__shape_volume(shape(a, "output"), 0) : n;
	return in_one_dtype(a, out, 0, tl__collective_bytes(n, n_out, size));
}

static const tl_estimate_param_info cache_write_params[] = {
	SHAPE("shape", NULL, "of the keys; the values have as many elements"),
	DTYPE("dtype", "bf16", "of both"),
};

static const char *cache_write(const tl_estimate_in *a, tl_estimate_cost *out)
{
	return in_one_dtype(a, out, 0, tl__cache_write_bytes(tl__shape_volume(shape(a, "shape"), 0), dtype(a).size));
}

/* ---- the list ---- */

const tl_estimate_entry tl__estimate_vector[] = {
	ENTRY(unary, "elementwise operation of one operand; also padding, upsampling, casts", "|out|",
	      "|input| size + |out| size_out", NO_BACKWARD),
	ENTRY(binary, "elementwise operation of two operands, broadcast", "|out|",
	      "|1| size1 + |2| size2 + |out| size_out", NO_BACKWARD),
	ENTRY(gated, "gated activation: activation of one half of a row times the other half",
	      "5 n (silu), 8 n (gelu), 10 n (gelu_tanh); n elements of the result", "2 n size + n size_out",
	      NO_BACKWARD),
	ENTRY(reduce, "reduction: sum, mean, max, norm ...", "|input|", "|input| size + |out| size_out", "|input|",
	      "|input| size + |out| size_out"),
	ENTRY(softmax, "softmax over the rows of matrices", "3 B M N", "2 B M N size", "6 B M N", "4 B M N size"),
	ENTRY(normalization, "batch, layer, group and instance norm of E elements and Ch channels",
	      "6 Ch + 2 E + [training] 3 E",
	      "E size + E size_out + (2 + [affine] 1 + [affine and bias] 1 + [training] 2) Ch size",
	      "4 E + [grad_input and training] 5 E + [no grad_input] 2 E + [no training] 3 Ch",
	      "E size_out + (1 + [grad_input and training] 1) E size + [training] Ch size + [affine] (1 + [training] "
	      "(1 + [bias] 1)) Ch size"),
	ENTRY(rmsnorm, "RMS norm of E elements in rows of Ch", "2 E + 2 E / Ch + E + [affine] E",
	      "E size + E size_out + [affine] Ch size",
	      "E + [affine] E + [grad_input] 6 E + [grad_weight and affine] 2 E (E for a single row)",
	      "E size_out + 2 E size + [affine] 2 Ch size"),
	ENTRY(layernorm_modulate, "layer norm with shift and scale of tokens, E = T B H elements", "12 E",
	      "2 E size + 2 B H size + 8 T B", "15 E", "3 E size + 3 B H size + 8 T B"),
	ENTRY(group_quant, "quantisation to one byte with a scale for each group of a row", "6 M N",
	      "M N size + M N + 4 M ceil(N / group)", NO_BACKWARD),
	ENTRY(quant_mxfp4, "quantisation to MXFP4 along rows and along columns", "M N",
	      "M N size + 2 ceil(M N / 2) + M ceil(N / 32) + N ceil(M / 32)", NO_BACKWARD),
	ENTRY(rope, "rotary embedding of n elements", "3 n", "2 n size", NO_BACKWARD),
	ENTRY(cross_entropy, "cross entropy of logits", "5 rows vocabulary", "rows vocabulary size + 12 rows",
	      NO_BACKWARD),
	ENTRY(moe_comm, "dispatch of tokens to experts, or collecting them", "0", "tokens hidden size", "0",
	      "tokens hidden size"),
	ENTRY(collective, "collective over peer memory: local traffic", "0", "(|shape| + |output|) size", NO_BACKWARD),
	ENTRY(cache_write, "writing keys and values to a cache", "0", "4 |shape| size", NO_BACKWARD),
	{.eval = NULL},
};
