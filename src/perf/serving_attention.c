/* SPDX-License-Identifier: MIT */
/* Attention of batched serving: what a step computes is told by its iteration annotation. */
#include "perf/annotation.h"
#include "perf/args.h"
#include "perf/families.h"

typedef struct serving {
	tl_chunks chunks;
	int64_t n_q, h_q, n_kv, h_kv, d_qk, d_v;
	int64_t window;               /* keys that a query sees at most; 0: all */
	const char *type_q, *type_kv; /* type_kv NULL: not listed, as the query's */
} serving;

static const char no_annotation[] = "no iteration annotation with sums encloses the operation";
static const char no_shapes[] = "shapes of queries and keys are needed";

/* A sum over keys, cut to the window of each query token (fault 14 of the extensions: an upper bound). */
static double capped(const serving *s, int64_t sum)
{
	double most = (double)s->chunks.generation.sq * (double)s->window;
	return s->window > 0 && s->chunks.generation.sq > 0 && most < (double)sum ? most : (double)sum;
}

/*
 * FLOPs = H_Q (d_qk + d_v) (2 c_sqsk - c_sqsq + 2 g_sqsk); the chunk's own keys form a causal triangle.
 * bytes = (c_sq + g_sq) (H_Q + H_KV) (d_qk + d_v) q + ((c_sk - c_sq) + (g_sk - g_sq)) H_KV (d_qk + d_v) kv.
 */
static void costs(const serving *s, tl_perf_result *out)
{
	const tl_chunk *c = &s->chunks.context, *g = &s->chunks.generation;
	double d = (double)s->d_qk + (double)s->d_v, tokens = (double)c->sq + (double)g->sq;
	int size_q = tl__dtype_bytes(s->type_q), size_kv = tl__dtype_bytes(s->type_kv);
	size_q = size_q ? size_q : 2;
	size_kv = size_kv ? size_kv : size_q;
	double cached = ((double)c->sk - (double)c->sq) + (capped(s, g->sk) - (double)g->sq);
	if (c->sq || g->sq)
		out->flops = tl__cost_int((double)s->h_q * d *
					  (2 * (double)c->sqsk - (double)c->sqsq + 2 * capped(s, g->sqsk)));
	else
		out->flops = tl__cost_failed(); /* a step without queries */
	out->bytes =
		tl__cost_int(tokens * (double)(s->h_q + s->h_kv) * d * size_q + cached * (double)s->h_kv * d * size_kv);
	out->maf = "matrix";
	out->precision = tl__dtype_precision(s->type_q);
}

static int finish(const serving *s, tl_arena *arena, tl_perf_result *out)
{
	const tl_chunk *c = &s->chunks.context, *g = &s->chunks.generation;
	tl__perf_begin(out);
	tl__param_int(out, "B", 1);
	tl__param_int(out, "N_Q", s->n_q);
	tl__param_int(out, "H_Q", s->h_q);
	tl__param_int(out, "H_V", s->h_kv);
	tl__param_int(out, "H_K", s->h_kv);
	tl__param_int(out, "N_KV", s->n_kv);
	tl__param_int(out, "H_KV", s->h_kv);
	tl__param_int(out, "d_h_qk", s->d_qk);
	tl__param_int(out, "d_h_v", s->d_v);
	tl__param(out, "dropout", TL_VALUE_DOUBLE(0));
	tl__param_bool(out, "causal", false);
	tl__param_bool(out, "flash_impl", true);
	tl__param_int(out, "c_sq", c->sq);
	tl__param_int(out, "c_sk", c->sk);
	tl__param_int(out, "c_sqsq", c->sqsq);
	tl__param_int(out, "c_sqsk", c->sqsk);
	tl__param_int(out, "g_sq", g->sq);
	tl__param_int(out, "g_sk", g->sk);
	tl__param_int(out, "g_sqsq", g->sqsq);
	tl__param_int(out, "g_sqsk", g->sqsk);
	TL_TRY(tl__param_text(out, arena, "dtype_Q", s->type_q));
	if (s->type_kv)
		TL_TRY(tl__param_text(out, arena, "dtype_KV", s->type_kv));
	if (s->window > 0)
		tl__param_int(out, "sliding_window", s->window);
	costs(s, out);
	return 0;
}

/* Queries (N_Q, H_Q, d) in slot 0, keys (.., N_KV, H_KV, d) in slot 1; a reason when something is missing. */
static const char *read_plain(serving *s, const tl_perf_input *in)
{
	tl_shape q, k;
	*s = (serving){0};
	if (!tl__annotation_chunks(&s->chunks, in->annotation))
		return no_annotation;
	if (!tl__arg_shape(&q, in->dims, 0) || !tl__arg_shape(&k, in->dims, 1) || q.rank < 3 || k.rank < 3)
		return no_shapes;
	s->n_q = q.dim[0];
	s->h_q = q.dim[1];
	s->d_qk = q.dim[2];
	s->n_kv = k.dim[k.rank - 3];
	s->h_kv = k.dim[k.rank - 2];
	s->d_v = k.dim[k.rank - 1];
	s->type_q = tl__arg_text(in->types, 0);
	s->type_kv = tl__arg_text(in->types, 1);
	if (!s->type_kv || !*s->type_kv)
		s->type_kv = s->type_q;
	return NULL;
}

/* vllm::unified_attention_with_output, aiter::mha_varlen_fwd, pseudo_mla_decode_fwd: values as wide as keys. */
int tl__model_serving_attention(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving s;
	const char *why = read_plain(&s, in);
	return why ? tl__perf_fail(out, why) : finish(&s, arena, out);
}

/* aiter::fmha_v3_varlen_fwd, aiter::mha_batch_prefill, pseudo_mla_prefill_fwd: values in slot 2. */
int tl__model_serving_attention_v(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving s;
	tl_shape v;
	const char *why = read_plain(&s, in);
	if (why)
		return tl__perf_fail(out, why);
	if (tl__arg_shape(&v, in->dims, 2) && v.rank)
		s.d_v = v.dim[v.rank - 1];
	return finish(&s, arena, out);
}

/* SGLang's sparse MLA: values of 512 (fault 16 of the extensions: the size that the event states is not found). */
int tl__model_tilelang_sparse(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving s;
	const char *why = read_plain(&s, in);
	if (why)
		return tl__perf_fail(out, why);
	s.d_v = 512;
	return finish(&s, arena, out);
}

/* SGLang's paged attention: queries in slot 2, caches of keys and values in 3 and 4. */
int tl__model_paged_ragged(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving s = {0};
	tl_shape q, k, v;
	if (!tl__annotation_chunks(&s.chunks, in->annotation))
		return tl__perf_fail(out, no_annotation);
	if (!tl__arg_shape(&q, in->dims, 2) || !tl__arg_shape(&k, in->dims, 3) || !tl__arg_shape(&v, in->dims, 4) ||
	    q.rank < 3 || k.rank < 2 || !v.rank)
		return tl__perf_fail(out, no_shapes);
	s.n_q = q.dim[0];
	s.h_q = q.dim[1];
	s.d_qk = q.dim[2];
	s.h_kv = k.dim[k.rank - 2];
	s.d_v = v.dim[v.rank - 1];
	s.n_kv = s.chunks.context.sk + s.chunks.generation.sk;
	s.type_q = tl__arg_text(in->types, 2);
	return finish(&s, arena, out);
}

/* aiter::pa_decode_gluon: decode only; cache in slot 2, sliding window in Concrete Inputs 19. */
int tl__model_pa_decode_gluon(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	serving s = {0};
	tl_shape q, cache;
	if (!tl__annotation_chunks(&s.chunks, in->annotation))
		return tl__perf_fail(out, no_annotation);
	if (!tl__arg_shape(&q, in->dims, 0) || !tl__arg_shape(&cache, in->dims, 2) || q.rank < 3 || cache.rank < 2)
		return tl__perf_fail(out, no_shapes);
	s.chunks.context = (tl_chunk){0};
	s.n_q = q.dim[0];
	s.h_q = q.dim[1];
	s.d_qk = s.d_v = q.dim[2];
	s.h_kv = cache.dim[1];
	s.n_kv = s.chunks.generation.sk;
	s.type_q = tl__arg_text(in->types, 0);
	s.type_kv = tl__arg_text(in->types, 2);
	if (!s.type_kv || !*s.type_kv)
		s.type_kv = s.type_q;
	if (!tl__to_int(tl__value_at(in->concrete, 19), &s.window) || s.window < 0)
		s.window = 0;
	return finish(&s, arena, out);
}
