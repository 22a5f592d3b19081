/* SPDX-License-Identifier: MIT */
/*
 * Families of models without a trace that matrix units compute.
 * Costs come from perf/formulas.h, the same functions that operations of a trace are counted with; here parameters get
 * names, meanings and defaults.
 */
#include "perf/estimate_family.h"

/* ---- gemm ---- */

static const tl_estimate_param_info gemm_params[] = {
	INT("M", NULL, "rows of A and of the result"),
	INT("N", NULL, "columns of B and of the result"),
	INT("K", NULL, "columns of A, rows of B"),
	INT("B", "1", "products in a batch"),
	FLAG("bias", "false", "a vector of N elements is added"),
	DTYPE("dtype", "bf16", "of A, and of what has no dtype of its own"),
	DTYPE("dtype_A", "", "of A"),
	DTYPE("dtype_B", "", "of B"),
	DTYPE("dtype_out", "", "of the result; without it that of A, but 2 bytes for fp8, fp6 and fp4, 4 for int8"),
	DTYPE("dtype_bias", "", "of the bias; without it that of the result"),
	DTYPE_COMPUTE,
	COUNT("scale_block", "0", "values along K that share a scale of one byte (32 for MXFP4); 0: no scales"),
};

static const char *gemm(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double m = num(a, "M"), n = num(a, "N"), k = num(a, "K"), batch = num(a, "B"), block = num(a, "scale_block");
	bool bias = flag(a, "bias");
	tl_number_type ta = operand(a, "dtype_A", dtype(a)), tb = operand(a, "dtype_B", dtype(a));
	tl_number_type to = operand(a, "dtype_out", gemm_output(ta)), tbias = operand(a, "dtype_bias", to);
	double bytes = a->backward ? tl__gemm_bytes_bwd(m, n, k, ta.size, tb.size, to.size, bias)
				   : tl__gemm_bytes(m, n, k, ta.size, tb.size, to.size, bias ? tbias.size : 0);
	if (block > 0)
		bytes += tl__gemm_scale_bytes(m, n, k, block, 1, 1);
	out->flops = batch * (a->backward ? tl__gemm_flops_bwd(m, n, k, bias) : tl__gemm_flops(m, n, k, bias));
	out->bytes = batch * known(bytes, ta.size, tb.size) + known(0, to.size, bias ? tbias.size : 1);
	rate(out, "matrix", computing(a, ta, tb));
	return NULL;
}

/* ---- grouped_gemm ---- */

static const tl_estimate_param_info grouped_gemm_params[] = {
	INT("M", NULL, "rows of X, of all groups together"),
	INT("K", NULL, "columns of X"),
	INT("N", NULL, "columns of the result"),
	INT("G", NULL, "groups, each with a matrix K x N of its own"),
	DTYPE("dtype", "bf16", "of X and the matrices"),
	DTYPE("dtype_out", "", "of the result; without it dtype, but 2 bytes for fp8, fp6 and fp4, 4 for int8"),
};

static const char *grouped_gemm(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double m = num(a, "M"), k = num(a, "K"), n = num(a, "N"), g = num(a, "G");
	tl_number_type in = dtype(a), to = operand(a, "dtype_out", gemm_output(in));
	out->flops = a->backward ? tl__grouped_gemm_flops_bwd(m, k, n) : tl__grouped_gemm_flops(m, k, n);
	out->bytes = known(a->backward ? tl__grouped_gemm_bytes_bwd(m, k, n, g, in.size, to.size)
				       : tl__grouped_gemm_bytes(m, k, n, g, in.size, to.size),
			   in.size, to.size);
	rate(out, "matrix", in);
	return NULL;
}

/* ---- sdpa ---- */

#define HEADS                                                                                              \
	INT("H_Q", NULL, "heads of queries"), INT("H_KV", "", "heads of keys and values; without it H_Q"), \
		INT("d_h_qk", NULL, "size of a head of queries and keys"),                                 \
		INT("d_h_v", "", "size of a head of values; without it d_h_qk")

static const tl_estimate_param_info sdpa_params[] = {
	INT("B", "1", "batch"),
	INT("N_Q", NULL, "queries"),
	INT("N_KV", "", "keys and values; without it N_Q"),
	HEADS,
	FLAG("causal", "false", "a query sees the keys up to its own place, aligned at the end"),
	FLAG("flash", "true", "backward: the product of queries and keys is computed again"),
	DTYPE("dtype", "bf16", "of all tensors"),
};

static const char uneven_heads[] = "H_Q must be a multiple of H_KV: each head of keys serves as many heads of queries";

static tl_sdpa read_sdpa(const tl_estimate_in *a)
{
	tl_sdpa s = {.batch = 1, .causal = flag(a, "causal"), .flash = flag(a, "flash")};
	s.n_q = (int64_t)num(a, "N_Q");
	s.h_q = (int64_t)num(a, "H_Q");
	s.n_kv = (int64_t)num_or(a, "N_KV", (double)s.n_q);
	s.h_kv = (int64_t)num_or(a, "H_KV", (double)s.h_q);
	s.d_qk = (int64_t)num(a, "d_h_qk");
	s.d_v = (int64_t)num_or(a, "d_h_v", (double)s.d_qk);
	return s;
}

static void sdpa_bytes(const tl_estimate_in *a, const tl_sdpa *s, tl_estimate_cost *out)
{
	double size = dtype(a).size;
	out->bytes = known(a->backward ? tl__sdpa_bytes_bwd(s, size) : tl__sdpa_bytes(s, size), size, 1);
	rate(out, "matrix", dtype(a));
}

static const char *sdpa(const tl_estimate_in *a, tl_estimate_cost *out)
{
	tl_sdpa s = read_sdpa(a);
	if (s.h_q % s.h_kv)
		return uneven_heads;
	s.batch = (int64_t)num(a, "B");
	double batch = (double)s.batch, n_q = (double)s.n_q, n_kv = (double)s.n_kv;
	out->flops = a->backward ? tl__sdpa_flops_bwd(&s, batch, n_q, n_kv) : tl__sdpa_flops(&s, batch, n_q, n_kv);
	sdpa_bytes(a, &s, out);
	return NULL;
}

static const tl_estimate_param_info sdpa_varlen_params[] = {
	INT("N_Q", NULL, "queries of all sequences together"),
	INT("N_KV", "", "keys and values of all sequences together; without it N_Q"),
	INT("num_seqs", NULL, "sequences"),
	INT("max_seqlen_q", NULL, "queries of the longest sequence"),
	INT("max_seqlen_kv", "", "keys of the longest sequence; without it max_seqlen_q"),
	HEADS,
	FLAG("causal", "false", "a query sees the keys up to its own place, aligned at the end"),
	FLAG("flash", "true", "backward: the product of queries and keys is computed again"),
	DTYPE("dtype", "bf16", "of all tensors"),
};

static const char *sdpa_varlen(const tl_estimate_in *a, tl_estimate_cost *out)
{
	tl_sdpa_packed p = {.a = read_sdpa(a)};
	p.seqs_q = p.seqs_kv = (int64_t)num(a, "num_seqs");
	p.max_q = num(a, "max_seqlen_q");
	p.max_kv = num_or(a, "max_seqlen_kv", p.max_q);
	double seqs = (double)p.seqs_q;
	if (p.a.h_q % p.a.h_kv)
		return uneven_heads;
	if (p.max_q > (double)p.a.n_q || p.max_kv > (double)p.a.n_kv)
		return "the longest sequence is longer than all together";
	if (p.max_q * seqs < (double)p.a.n_q || p.max_kv * seqs < (double)p.a.n_kv)
		return "sequences of at most this length do not make up so many tokens";
	out->flops = tl__sdpa_packed_flops(&p, a->backward ? tl__sdpa_flops_bwd : tl__sdpa_flops);
	sdpa_bytes(a, &p.a, out);
	return NULL;
}

static const tl_estimate_param_info sdpa_serving_params[] = {
	HEADS,
	COUNT("c_sq", "0", "prefill: new tokens, summed over requests"),
	COUNT("c_sk", "0", "prefill: keys that they see, summed over requests"),
	COUNT("c_sqsq", "0", "prefill: squares of new tokens, summed"),
	COUNT("c_sqsk", "0", "prefill: products of new tokens and keys, summed"),
	COUNT("g_sq", "0", "decoding: new tokens, summed over requests"),
	COUNT("g_sk", "0", "decoding: keys, summed over requests"),
	COUNT("g_sqsk", "0", "decoding: products of new tokens and keys, summed"),
	COUNT("requests", "0", "requests that decode; 0: as many as their tokens"),
	COUNT("window", "0", "keys that a query sees at most; 0: all"),
	DTYPE("dtype", "bf16", "of queries and result"),
	DTYPE("dtype_kv", "", "of the cache; without it dtype"),
};

static const char *sdpa_serving(const tl_estimate_in *a, tl_estimate_cost *out)
{
	tl_serving_sums s = {.c_sq = num(a, "c_sq"),
			     .c_sk = num(a, "c_sk"),
			     .c_sqsq = num(a, "c_sqsq"),
			     .c_sqsk = num(a, "c_sqsk"),
			     .g_sq = num(a, "g_sq"),
			     .g_sk = num(a, "g_sk"),
			     .g_sqsk = num(a, "g_sqsk"),
			     .window = num(a, "window"),
			     .requests = num(a, "requests")};
	double h_q = num(a, "H_Q"), h_kv = num_or(a, "H_KV", h_q), d_qk = num(a, "d_h_qk"),
	       d_v = num_or(a, "d_h_v", d_qk);
	tl_number_type q = dtype(a), kv = operand(a, "dtype_kv", q);
	if (fmod(h_q, h_kv) > 0)
		return uneven_heads;
	if (!(s.c_sq > 0) && !(s.g_sq > 0))
		return "a step needs new tokens: c_sq or g_sq";
	if (s.c_sk < s.c_sq || s.g_sk < s.g_sq)
		return "there are fewer keys than new tokens, which are keys, too";
	out->flops = tl__serving_flops(&s, h_q, d_qk, d_v);
	out->bytes = known(tl__serving_bytes(&s, h_q, h_kv, d_qk, d_v, q.size, kv.size), q.size, kv.size);
	rate(out, "matrix", q);
	return NULL;
}

/* ---- conv ---- */

static const tl_estimate_param_info conv_params[] = {
	SHAPE("input", NULL, "N x C x spatial sizes"),
	SHAPE("filter", NULL, "C_out x C/groups x kernel sizes; transposed: C x C_out/groups x kernel sizes"),
	AMOUNTS("stride", "1", "one size, or one for each spatial dimension"),
	AMOUNTS("padding", "0", "likewise, on both sides"),
	AMOUNTS("dilation", "1", "likewise"),
	FLAG("transposed", "false", "the transposed convolution"),
	AMOUNTS("output_padding", "0", "likewise, of a transposed convolution"),
	INT("groups", "1", "groups of channels that do not see each other"),
	FLAG("bias", "false", "a vector of C_out elements is added"),
	SHAPE("output", "", "shape of the result; without it computed from the others"),
	DTYPE("dtype", "bf16", "of input and result"),
	DTYPE("dtype_filter", "", "of the filter; without it dtype"),
};

/* One size stands for all spatial dimensions. */
static bool spread(tl_shape *out, const tl_shape *in, size_t rank)
{
	*out = *in;
	if (in->rank == 1)
		for (size_t i = 0; i < rank; i++)
			out->dim[i] = in->dim[0];
	out->rank = rank;
	return in->rank == 1 || in->rank == rank;
}

static const char *conv_output(const tl_estimate_in *a, tl_conv *c)
{
	int64_t groups = (int64_t)num(a, "groups");
	const char *why = tl__conv_output(c);
	if (!why && c->transposed && __builtin_mul_overflow(c->w.dim[1], groups, &c->y.dim[1]))
		why = "the filter is too large";
	if (why || !given(a, "output"))
		return why;
	if (shape(a, "output")->rank != c->x.rank)
		return "input and output differ in rank";
	c->y = *shape(a, "output");
	return NULL;
}

static const char *conv(const tl_estimate_in *a, tl_estimate_cost *out)
{
	tl_conv c = {.x = *shape(a, "input"), .w = *shape(a, "filter")};
	int64_t groups = (int64_t)num(a, "groups"), channels;
	c.transposed = flag(a, "transposed");
	c.bias = flag(a, "bias");
	if (c.x.rank < 3 || c.x.rank > 5)
		return "input: N, C and one to three spatial sizes are needed";
	if (c.w.rank != c.x.rank)
		return "input and filter differ in rank";
	size_t rank = c.x.rank - 2;
	if (!spread(&c.stride, shape(a, "stride"), rank) || !spread(&c.padding, shape(a, "padding"), rank) ||
	    !spread(&c.dilation, shape(a, "dilation"), rank) ||
	    !spread(&c.output_padding, shape(a, "output_padding"), rank))
		return "stride, padding, dilation and output_padding have one size or one for each spatial dimension";
	channels = c.w.dim[!c.transposed];
	if (!c.transposed && __builtin_mul_overflow(channels, groups, &channels))
		return "the filter is too large";
	if (channels != c.x.dim[1])
		return "channels of input and filter do not fit (mind groups and transposed)";
	const char *why = conv_output(a, &c);
	if (why)
		return why;
	tl_number_type x = dtype(a), w = operand(a, "dtype_filter", x);
	out->flops = a->backward ? tl__conv_flops_bwd(&c) : tl__conv_flops(&c);
	out->bytes = known(a->backward ? tl__conv_bytes_bwd(&c, x.size, w.size) : tl__conv_bytes(&c, x.size, w.size),
			   x.size, w.size);
	out->output = c.y;
	rate(out, "matrix", x);
	return NULL;
}

/* ---- convolution and scan of state space models ---- */

static const tl_estimate_param_info causal_conv1d_params[] = {
	INT("B", "1", "batch"),
	INT("channels", NULL, "channels, each with a kernel of its own"),
	INT("length", NULL, "sequence length"),
	INT("kernel", NULL, "length of the kernel"),
	FLAG("bias", "false", "a vector of channels elements is added"),
	DTYPE("dtype", "bf16", "of all tensors"),
};

static const char *causal_conv1d(const tl_estimate_in *a, tl_estimate_cost *out)
{
	double b = num(a, "B"), c = num(a, "channels"), l = num(a, "length"), k = num(a, "kernel"),
	       size = dtype(a).size;
	out->flops = tl__causal_conv1d_flops(b, c, l, k);
	out->bytes = known(tl__causal_conv1d_bytes(b, c, l, k, flag(a, "bias"), size), size, 1);
	rate(out, "matrix", dtype(a));
	return NULL;
}

static const tl_estimate_param_info mamba_params[] = {
	INT("B", "1", "batch"),
	INT("T", NULL, "sequence length"),
	INT("H", NULL, "heads"),
	INT("P", "64", "size of a head"),
	INT("G", "1", "groups that share B and C"),
	INT("N", "128", "size of the state"),
	INT("chunk", "128", "tokens of a chunk of the scan"),
	INT("d_conv", "4", "length of the convolution's kernel"),
	DTYPE("dtype", "bf16", "of all tensors but two vectors of heads, which have 4 bytes"),
};

static const char *mamba(const tl_estimate_in *a, tl_estimate_cost *out)
{
	tl_mamba m = {.batch = (int64_t)num(a, "B"),
		      .length = (int64_t)num(a, "T"),
		      .heads = (int64_t)num(a, "H"),
		      .head_dim = (int64_t)num(a, "P"),
		      .groups = (int64_t)num(a, "G"),
		      .state = (int64_t)num(a, "N"),
		      .chunk = (int64_t)num(a, "chunk"),
		      .d_conv = (int64_t)num(a, "d_conv")};
	double inner = (double)m.heads * (double)m.head_dim, states = 2 * (double)m.groups * (double)m.state;
	double size = dtype(a).size, heads = (double)m.heads;
	if (2 * inner + states + heads > (double)TL_MAX_DIM)
		return "heads and groups are too large";
	m.inner = (int64_t)inner;
	m.conv_channels = (int64_t)(inner + states);
	m.combined = (int64_t)(2 * inner + states + heads);
	out->flops = tl__mamba_flops(&m);
	out->bytes = known(tl__mamba_bytes(&m, size, heads * (4 + 4 + size)), size, 1);
	rate(out, "matrix", dtype(a));
	return NULL;
}

/* ---- mixture of experts ---- */

static const tl_estimate_param_info moe_params[] = {
	INT("tokens", NULL, "tokens"),
	INT("hidden", NULL, "size of a token"),
	INT("inter", NULL, "neurons of an expert's hidden layer"),
	INT("experts", NULL, "experts"),
	INT("topk", NULL, "experts that a token is sent to"),
	FLAG("gated", "true", "the first layer has two halves, one gates the other"),
	DTYPE("dtype", "bf16", "of tokens"),
	DTYPE("dtype_w", "", "of weights; without it dtype"),
	DTYPE_COMPUTE,
	DTYPE("dtype_out", "", "of the result; without it dtype, but 2 bytes for fp8, fp6 and fp4, 4 for int8"),
};

static const char *moe(const tl_estimate_in *a, tl_estimate_cost *out, double (*flops)(const tl_moe *),
		       double (*bytes)(const tl_moe *))
{
	tl_number_type in = dtype(a), w = operand(a, "dtype_w", in), to = operand(a, "dtype_out", gemm_output(in));
	tl_moe m = {.tokens = num(a, "tokens"),
		    .hidden = num(a, "hidden"),
		    .inter = num(a, "inter"),
		    .experts = num(a, "experts"),
		    .topk = num(a, "topk"),
		    .gated = flag(a, "gated"),
		    .size_in = in.size,
		    .size_w = w.size,
		    .size_out = to.size};
	if (m.topk > m.experts)
		return "a token cannot be sent to more experts than there are";
	out->flops = flops(&m);
	out->bytes = known(known(bytes(&m), in.size, w.size), to.size, 1);
	rate(out, "matrix", computing(a, in, w));
	return NULL;
}

static const char *moe_fused(const tl_estimate_in *a, tl_estimate_cost *out)
{
	return moe(a, out, tl__moe_fused_flops, tl__moe_fused_bytes);
}

static const char *moe_up(const tl_estimate_in *a, tl_estimate_cost *out)
{
	return moe(a, out, tl__moe_up_flops, tl__moe_up_bytes);
}

static const char *moe_down(const tl_estimate_in *a, tl_estimate_cost *out)
{
	return moe(a, out, tl__moe_down_flops, tl__moe_down_bytes);
}

/* ---- the list ---- */

#define moe_fused_params moe_params
#define moe_up_params moe_params
#define moe_down_params moe_params

const tl_estimate_entry tl__estimate_matrix[] = {
	ENTRY(gemm, "matrix multiplication Y[M,N] = A[M,K] B[K,N], with batch and bias", "B (2 M N K + [bias] M N)",
	      "B (M K a + K N b + M N out + [bias] N bias + (M + N) ceil(K / scale_block))", "B (4 M N K + [bias] M N)",
	      "B (2 (M K a + K N b + M N out) + [bias] (M N + N) out + (M + N) ceil(K / scale_block))"),
	ENTRY(grouped_gemm, "rows X[M,K] divided among G matrices K x N", "2 M K N", "(M K + G K N) in + M N out",
	      "4 M K N", "2 M N out + 2 M K in + 2 G K N in"),
	ENTRY(sdpa, "scaled dot-product attention",
	      "2 B H_Q P (d_qk + d_v); pairs P = N_Q N_KV, half of it when causal and N_Q = N_KV, "
	      "N_Q N_KV - N_Q (N_Q - 1) / 2 when causal and N_KV > N_Q",
	      "B (N_Q H_Q + N_KV H_KV) (d_qk + d_v) size",
	      "2 B H_Q P ((2 + [flash]) d_qk + 2 d_v) + B N_KV (d_qk + d_v) (H_Q / H_KV - 1), halved with P",
	      "B (N_Q H_Q (2 d_qk + d_v) + 2 N_KV H_KV (d_qk + d_v)) size"),
	ENTRY(sdpa_varlen, "attention over sequences of several lengths packed into one",
	      "sdpa of one sequence of the greatest length, and of num_seqs - 1 sequences that share the other tokens "
	      "evenly (a lower bound)",
	      "sdpa of all tokens", "likewise, of sdpa's backward", "sdpa's backward of all tokens"),
	ENTRY(sdpa_serving, "attention of a step of batched serving: prefill chunks and decoding requests",
	      "H_Q (d_qk + d_v) (2 c_sqsk - c_sqsq + 2 g_sqsk), g_sqsk at most g_sq window",
	      "(c_sq + g_sq) (H_Q + H_KV) (d_qk + d_v) q + (c_sk - c_sq + g_sk - g_sq) H_KV (d_qk + d_v) kv, "
	      "g_sk at most requests window",
	      NO_BACKWARD),
	ENTRY(conv, "convolution, also transposed, of one to three spatial dimensions",
	      "2 |out| |filter| / C_out + [bias] |out|; transposed: 2 |input| |filter| / C + [bias] |out|",
	      "(|input| + |out| + [bias] C_out) size + |filter| size_filter",
	      "gradients of input and filter, each as the forward without bias, + [bias] |out|",
	      "2 ((|input| + |out|) size + |filter| size_filter) + [bias] (|out| + C_out)"),
	ENTRY(causal_conv1d, "causal depthwise convolution", "2 B channels length kernel",
	      "(2 B channels length + channels kernel + [bias] channels) size", NO_BACKWARD),
	ENTRY(mamba, "Mamba-2 block: convolution and chunked scan; D = H P, Cc = D + 2 G N",
	      "2 B T (Cc d_conv + G chunk N + H chunk P + 2 H N P)",
	      "B T (2 D + 2 G N + H) size + Cc (d_conv + 1) size + H (8 + size) + B T D size", "as the forward",
	      "as the forward"),
	ENTRY(moe_fused, "mixture of experts, both layers in one kernel; g = 2 when gated, else 1",
	      "2 tokens hidden inter topk (g + 1) + tokens hidden (2 topk - 1)",
	      "tokens hidden in + met inter hidden w (g + 1) + tokens hidden out, with met = experts (1 - (1 - topk / "
	      "experts)^tokens) experts that are expected to be met",
	      NO_BACKWARD),
	ENTRY(moe_up, "mixture of experts, first layer; g = 2 when gated, else 1", "2 tokens hidden inter topk g",
	      "tokens hidden in + met g hidden inter w + tokens inter topk out, met as in moe_fused", NO_BACKWARD),
	ENTRY(moe_down, "mixture of experts, second layer", "2 tokens inter hidden topk",
	      "tokens inter topk in + met inter hidden w + tokens hidden out, met as in moe_fused", NO_BACKWARD),
	{.eval = NULL},
};
