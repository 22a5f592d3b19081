/* SPDX-License-Identifier: MIT */
/* Attention of DeepSeek V4 and linear attention: queries that see few keys, or only a state. */
#include <math.h>
#include <string.h>

#include "perf/families.h"
#include "perf/serving_attention.h"

/* ---- paged decode of DeepSeek V4, a pseudo-operation ---- */

typedef struct variant {
	const char *name;
	int64_t topk, window, heads, d;
} variant;

/* The last one is taken for models of another name. */
static const variant variants[] = {
	{"DeepSeek-V4-Pro", 1024, 128, 128, 512},
	{"DeepSeek-V4-Flash", 512, 128, 64, 512},
};

static const variant *find_variant(const char *name)
{
	size_t last = sizeof variants / sizeof *variants - 1, i = 0;
	while (i < last && !(name && strcasestr(name, variants[i].name)))
		i++;
	return &variants[i];
}

/* A number that is attached to the pseudo-operation, if it makes sense, else `otherwise`. */
static int64_t attached(const tl_perf_input *in, const char *key, int64_t otherwise)
{
	int64_t value;
	return tl__to_int(tl__value_get(in->extras, key), &value) && value > 0 && value <= TL_MAX_DIM ? value
												      : otherwise;
}

typedef enum mode { SLIDING, COMPRESSED, HEAVILY_COMPRESSED } mode;

/*
 * Keys that a query sees: a window of recent ones, and of the older, of which several are compressed to one, all
 * (128 to one) or the best `topk` (4 to one). `mean` is the mean number of keys; without queries it is unknown.
 */
static double visible(mode m, double window, double topk, double mean)
{
	switch (m) {
	case COMPRESSED:
		return window + (mean >= 0 ? fmin(ceil(mean / 4), topk) : topk);
	case HEAVILY_COMPRESSED:
		return mean >= 0 ? window + ceil(mean / 128) : 0;
	default:
		return window;
	}
}

static int v4_decode(const tl_perf_input *in, mode m, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s = {.h_kv = 1, .windowed = true, .type_q = "c10::bfloat16", .type_kv = "c10::bfloat16"};
	tl_shape q;
	if (!tl__serving_step(&s, in))
		return tl__perf_fail(out, tl__serving_no_annotation);
	const variant *v = find_variant(tl__value_text(tl__value_get(in->extras, "v4_model_name")));
	const tl_chunk *g = &s.chunks.generation;
	int64_t shared = v->heads / attached(in, "v4_tp", 1);

	s.chunks.context = (tl_chunk){0};
	s.n_q = tl__arg_shape(&q, in->dims, 0) && q.rank && q.dim[0] ? q.dim[0] : g->sq;
	s.n_kv = g->sk;
	s.h_q = attached(in, "v4_H_Q", shared > 1 ? shared : 1);
	s.d_qk = s.d_v = attached(in, "v4_d_h", v->d);
	s.window = (int64_t)visible(m, (double)attached(in, "v4_window", v->window),
				    (double)attached(in, "v4_index_topk", v->topk),
				    g->sq > 0 ? (double)g->sk / (double)g->sq : -1);
	return tl__serving_finish(&s, arena, out);
}

int tl__model_v4_decode_swa(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return v4_decode(in, SLIDING, arena, out);
}

int tl__model_v4_decode_csa(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return v4_decode(in, COMPRESSED, arena, out);
}

int tl__model_v4_decode_hca(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return v4_decode(in, HEAVILY_COMPRESSED, arena, out);
}

/* ---- sparse prefill ---- */

/*
 * aiter::pa_sparse_prefill_opus_fwd: queries [N_Q, H_Q, d] in slot 0; slots 2 and 5 list the keys of all queries, those
 * of the cache and those of the chunk. FLOPs 4 pairs H_Q d; bytes 2 N_Q H_Q d q + pairs d kv.
 */
int tl__model_sparse_prefill(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s = {.h_kv = 1};
	tl_shape q, cached, chunk;
	if (!tl__arg_shape(&q, in->dims, 0) || !tl__arg_shape(&cached, in->dims, 2) ||
	    !tl__arg_shape(&chunk, in->dims, 5) || q.rank < 3 || !cached.rank || !chunk.rank)
		return tl__perf_fail(out, "shapes of queries and lists of keys are needed");
	s.n_q = q.dim[0];
	s.h_q = q.dim[1];
	s.d_qk = s.d_v = q.dim[2];
	s.n_kv = cached.dim[0] + chunk.dim[0];
	s.type_q = tl__arg_text(in->types, 0);
	s.type_kv = tl__arg_text(in->types, 1);
	if (!s.type_kv || !*s.type_kv)
		s.type_kv = s.type_q;
	double pairs = (double)s.n_kv, h = (double)s.h_q, d = (double)s.d_qk;
	int size_q = tl__dtype_bytes(s.type_q), size_kv = tl__dtype_bytes(s.type_kv);
	size_q = size_q ? size_q : 2;
	size_kv = size_kv ? size_kv : size_q;

	tl__serving_begin(&s, out);
	tl__param_int(out, "prefill_pairs", s.n_kv);
	TL_TRY(tl__param_text(out, arena, "dtype_Q", s.type_q));
	TL_TRY(tl__param_text(out, arena, "dtype_KV", s.type_kv));
	out->flops = tl__cost_int(4 * pairs * h * d);
	out->bytes = tl__cost_int(2 * (double)s.n_q * h * d * size_q + pairs * d * size_kv);
	out->maf = "matrix";
	out->precision = s.type_q && *s.type_q ? tl__dtype_precision(s.type_q) : "bf16";
	return 0;
}

/* ---- gated delta network ---- */

/*
 * vllm::gdn_attention_core: queries, keys and values in one row of D [T, D], gates [T, H_V], state [.., H_V, d_v].
 * Two value heads share a key head [07-17], so d_k follows from D. FLOPs 7 T H_V d_v d_k; bytes
 * T H_V (d_k + 2 d_v + 2) elements.
 */
int tl__model_gated_delta(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s = {0};
	tl_shape row, gates, state;
	if (!tl__serving_step(&s, in))
		return tl__perf_fail(out, tl__serving_no_annotation);
	if (!tl__arg_shape(&row, in->dims, 0) || !tl__arg_shape(&gates, in->dims, 1) ||
	    !tl__arg_shape(&state, in->dims, 3) || row.rank < 2 || gates.rank < 2 || state.rank < 3)
		return tl__perf_fail(out, "shapes of queries, gates and output are needed");
	int64_t d = row.dim[1], h_v = gates.dim[1], d_v = state.dim[2], h_k = h_v / 2, values;
	int64_t tokens = s.chunks.context.sq + s.chunks.generation.sq;
	if (!h_k || __builtin_mul_overflow(h_v, d_v, &values) || values > d)
		return tl__perf_fail(out, "heads of keys and values do not fit into a row");
	if (!tokens)
		return tl__perf_fail(out, "a step without queries");
	int64_t d_k = (d - values) / 2 / h_k;

	/* each token reads and writes one state, whatever came before */
	tl_chunks chunks = {.context = {.sq = s.chunks.context.sq, .sk = s.chunks.context.sq},
			    .generation = {.sq = s.chunks.generation.sq, .sk = s.chunks.generation.sq}};
	const char *type = tl__arg_text(in->types, 0);
	double t = (double)tokens, h = (double)h_v, dk = (double)d_k, dv = (double)d_v;
	int size = tl__dtype_bytes(type);
	tl__perf_begin(out);
	tl__param_int(out, "B", 1);
	tl__param_int(out, "N_Q", tokens);
	tl__param_int(out, "H_Q", h_k);
	tl__param_int(out, "N_KV", 0);
	tl__param_int(out, "H_KV", h_k);
	tl__param_int(out, "H_V", h_v);
	tl__param_int(out, "H_K", h_k);
	tl__param_int(out, "d_h_qk", d_k);
	tl__param_int(out, "d_h_v", d_v);
	tl__serving_sums(&chunks, out);
	TL_TRY(tl__param_text(out, arena, "dtype_Q", type));
	out->flops = tl__cost_int(7 * t * h * dv * dk);
	out->bytes = tl__cost_int(t * h * (dk + 2 * dv + 2) * (size ? size : 2));
	out->maf = "matrix";
	out->precision = tl__dtype_precision(type);
	return 0;
}
