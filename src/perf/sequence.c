/* SPDX-License-Identifier: MIT */
/* Further parts of language models: expert communication, state space models, rotary embedding, cross entropy. */
#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

static int size_or(const tl_value *types, size_t index, int fallback)
{
	int size = tl__arg_bytes(types, index);
	return size ? size : fallback;
}

static bool tensor(tl_shape *out, const tl_perf_input *in, size_t slot, size_t rank)
{
	return tl__arg_shape(out, in->dims, slot) && out->rank >= rank;
}

/* Tokens times hidden size, one direction (reference value [03-O5]). */
double tl__moe_comm_bytes(double tokens, double hidden, double size)
{
	return tokens * hidden * size;
}

/* MoEDispatch, MoECombine: no FLOPs. */
int tl__model_moe_comm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape s = {0};
	(void)arena;
	if (!tl__arg_shape(&s, in->dims, 0))
		s.rank = 0;
	int size = tl__arg_bytes(in->types, 0);
	tl__perf_begin(out);
	tl__param(out, "num_tokens", s.rank > 0 ? TL_VALUE_INT(s.dim[0]) : TL_VALUE_NONE);
	tl__param(out, "hidden_dim", s.rank > 1 ? TL_VALUE_INT(s.dim[1]) : TL_VALUE_NONE);
	tl__param(out, "bpe", size ? TL_VALUE_INT(size) : TL_VALUE_NONE);
	out->flops = out->flops_bwd = tl__cost_int(0);
	out->bytes = out->bytes_bwd =
		s.rank > 1 && size ? tl__cost_int(tl__moe_comm_bytes((double)s.dim[0], (double)s.dim[1], size))
				   : tl__cost_unknown();
	return 0;
}

double tl__causal_conv1d_flops(double batch, double channels, double length, double kernel)
{
	return 2 * batch * channels * length * kernel;
}

double tl__causal_conv1d_bytes(double batch, double channels, double length, double kernel, bool bias, double size)
{
	return (2 * batch * channels * length + channels * kernel + (bias ? channels : 0)) * size;
}

/* Causal depthwise convolution: 2 B C L k FLOPs; (2 B C L + C k + C when biased) elements. */
int tl__model_causal_conv1d(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x, w;
	(void)arena;
	if (!tensor(&x, in, 0, 3) || !tensor(&w, in, 1, 2))
		return tl__perf_fail(out, "shapes of input and weight are needed");
	bool bias = tl__arg_given(in->dims, 2);
	tl__perf_begin(out);
	tl__param_int(out, "batch", x.dim[0]);
	tl__param_int(out, "channels", x.dim[1]);
	tl__param_int(out, "seq_len", x.dim[2]);
	tl__param_int(out, "kernel_size", w.dim[1]);
	tl__param_bool(out, "has_bias", bias);
	double b = (double)x.dim[0], c = (double)x.dim[1], length = (double)x.dim[2], k = (double)w.dim[1];
	out->flops = tl__cost_int(tl__causal_conv1d_flops(b, c, length, k));
	out->bytes = tl__cost_int(tl__causal_conv1d_bytes(b, c, length, k, bias, size_or(in->types, 0, 2)));
	out->maf = "matrix"; /* reference value [03-O3] */
	out->precision = tl__arg_precision(in->types, 0);
	return 0;
}

double tl__rope_flops(double n)
{
	return 3 * n;
}

/* The table is not counted (reference value [03-O2]). */
double tl__rope_bytes(double n, double size)
{
	return 2 * n * size;
}

/*
 * FusedRoPEFunc: 3 n FLOPs, 2 n elements. Packed input of fewer dimensions,
 * on which the reference fails [03-O2], has batch 1: (tokens, heads, d) or (tokens, d).
 */
int tl__model_rope(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x;
	int64_t n;
	(void)arena;
	if (!tensor(&x, in, 0, 2) || x.rank > 4)
		return tl__perf_fail(out, "an input of two to four dimensions is needed");
	if (!tl__shape_count(&n, &x))
		return tl__perf_fail(out, "the input is too large");
	tl__perf_begin(out);
	tl__param_int(out, "seq_len", x.dim[0]);
	tl__param_int(out, "batch", x.rank > 3 ? x.dim[1] : 1);
	tl__param_int(out, "heads", x.rank > 2 ? x.dim[x.rank - 2] : 1);
	tl__param_int(out, "head_dim", x.dim[x.rank - 1]);
	tl__param_int(out, "num_elements", n);
	out->flops = tl__cost_int(tl__rope_flops((double)n));
	out->bytes = tl__cost_int(tl__rope_bytes((double)n, size_or(in->types, 0, 2)));
	out->maf = "vector";
	out->precision = tl__arg_precision(in->types, 0);
	return 0;
}

double tl__cross_entropy_flops(double rows, double vocabulary)
{
	return 5 * rows * vocabulary;
}

double tl__cross_entropy_bytes(double logits, double rows, double size)
{
	return logits * size + rows * 8 + rows * 4;
}

/*
 * CrossEntropyFunction: 5 FLOPs a logit of `batch` rows; logits, targets of 8 bytes and losses of 4. The batch is the
 * first dimension alone: reference value [03-O1].
 */
int tl__model_cross_entropy(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x;
	tl_value shape;
	if (!tensor(&x, in, 0, 1))
		return tl__perf_fail(out, "the shape of the logits is needed");
	TL_TRY(tl__value_ints(&shape, arena, TL_V_LIST, x.dim, x.rank));
	tl__perf_begin(out);
	tl__param_int(out, "batch", x.dim[0]);
	tl__param_int(out, "vocab_size", x.dim[x.rank - 1]);
	tl__param(out, "logits_shape", shape);
	double batch = (double)x.dim[0], vocabulary = (double)x.dim[x.rank - 1];
	out->flops = tl__cost_int(tl__cross_entropy_flops(batch, vocabulary));
	out->bytes = tl__cost_int(tl__cross_entropy_bytes(tl__shape_volume(&x, 0), batch, size_or(in->types, 0, 2)));
	out->maf = "vector";
	out->precision = tl__arg_precision(in->types, 0);
	return 0;
}

static int64_t number_or(const tl_value *concrete, size_t index, int64_t fallback)
{
	int64_t n;
	return tl__to_int(tl__value_at(concrete, index), &n) ? n : fallback;
}

/*
 * Convolution and the four matrix products of the chunked scan:
 * 2 B Cc T k + 2 B G T C N + 2 B H T C P + 4 B H T N P.
 */
double tl__mamba_flops(const tl_mamba *m)
{
	double bt = (double)m->batch * (double)m->length, h = (double)m->heads, p = (double)m->head_dim;
	double g = (double)m->groups, n = (double)m->state, c = (double)m->chunk, k = (double)m->d_conv;
	return bt * (2 * (double)m->conv_channels * k + 2 * g * c * n + 2 * h * c * p + 4 * h * n * p);
}

/* Input, convolution weight and bias, three vectors of H elements, output. */
double tl__mamba_bytes(const tl_mamba *m, double size, double heads)
{
	double bt = (double)m->batch * (double)m->length, channels = (double)m->conv_channels;
	return (bt * (double)m->combined + channels * (double)m->d_conv + channels) * size + heads +
	       bt * (double)m->inner * size;
}

static const char *read_mamba(tl_mamba *m, const tl_perf_input *in)
{
	tl_shape x, w, h;
	if (!tensor(&x, in, 0, 3) || !tensor(&w, in, 1, 2) || !tensor(&h, in, 3, 1))
		return "shapes of input, convolution weight and heads are needed";
	*m = (tl_mamba){.batch = x.dim[0], .length = x.dim[1], .combined = x.dim[2], .conv_channels = w.dim[0]};
	m->d_conv = w.dim[1];
	m->heads = h.dim[0];
	m->chunk = number_or(in->concrete, 6, 128);
	m->head_dim = number_or(in->concrete, 15, 64);
	m->groups = number_or(in->concrete, 16, 1);
	int64_t twice, rest;
	if (m->groups <= 0 || m->groups > TL_MAX_DIM || m->head_dim <= 0 || m->chunk <= 0 ||
	    __builtin_mul_overflow(m->heads, m->head_dim, &m->inner) || __builtin_mul_overflow(m->inner, 2, &twice) ||
	    __builtin_sub_overflow(m->combined, twice, &rest))
		return "sizes of the state space model make no sense";
	rest -= m->heads;
	if (rest <= 0 || rest % (2 * m->groups))
		return "the combined dimension does not fit heads and groups";
	m->state = rest / (2 * m->groups);
	return NULL;
}

/* MambaSplitConv1dScanCombinedFn. The backward counts the same: reference value [03-O4]. */
int tl__model_mamba(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_mamba m;
	(void)arena;
	const char *why = read_mamba(&m, in);
	if (why)
		return tl__perf_fail(out, why);
	tl__perf_begin(out);
	tl__param_int(out, "B", m.batch);
	tl__param_int(out, "T", m.length);
	tl__param_int(out, "H", m.heads);
	tl__param_int(out, "P", m.head_dim);
	tl__param_int(out, "G", m.groups);
	tl__param_int(out, "N", m.state);
	tl__param_int(out, "C", m.chunk);
	tl__param_int(out, "d_inner", m.inner);
	tl__param_int(out, "d_conv", m.d_conv);
	tl__param_int(out, "conv_channels", m.conv_channels);
	tl__param_int(out, "combined_dim", m.combined);

	int size = size_or(in->types, 0, 2);
	double heads = (double)m.heads *
		       (size_or(in->types, 3, 4) + size_or(in->types, 4, 4) + size_or(in->types, 5, size));
	out->flops = out->flops_bwd = tl__cost_int(tl__mamba_flops(&m));
	out->bytes = out->bytes_bwd = tl__cost_int(tl__mamba_bytes(&m, size, heads));
	out->maf = "matrix";
	out->precision = tl__arg_precision(in->types, 0);
	return 0;
}
