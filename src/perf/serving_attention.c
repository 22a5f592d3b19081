/* SPDX-License-Identifier: MIT */
/* Attention of batched serving: what a step computes is told by its iteration annotation. */
#include "perf/serving_attention.h"

#include "perf/families.h"
#include "perf/formulas.h"

const char tl__serving_no_annotation[] = "no iteration annotation with sums encloses the operation";
static const char no_shapes[] = "shapes of queries and keys are needed";

/* ---- formulas ---- */

/* A sum over keys, cut to the window of each of `queries`: an upper bound [07-14]. */
static double capped(const tl_serving_sums *s, double sum, double queries)
{
	double most = queries * s->window;
	return s->window > 0 && queries > 0 && most < sum ? most : sum;
}

/* FLOPs = H_Q (d_qk + d_v) (2 c_sqsk - c_sqsq + 2 g_sqsk); the chunk's own keys form a causal triangle. */
double tl__serving_flops(const tl_serving_sums *s, double h_q, double d_qk, double d_v)
{
	return h_q * (d_qk + d_v) * (2 * s->c_sqsk - s->c_sqsq + 2 * capped(s, s->g_sqsk, s->g_sq));
}

/*
 * bytes = (c_sq + g_sq) (H_Q + H_KV) (d_qk + d_v) q + ((c_sk - c_sq) + (g_sk - g_sq)) H_KV (d_qk + d_v) kv.
 * A window cuts what a token of a generation request multiplies with and what a request reads: tokens that are guessed
 * ahead share the keys of their request ([07-14]: the reference charges them anew).
 */
double tl__serving_bytes(const tl_serving_sums *s, double h_q, double h_kv, double d_qk, double d_v, double size_q,
			 double size_kv)
{
	double requests = s->requests > 0 && s->requests < s->g_sq ? s->requests : s->g_sq;
	double d = d_qk + d_v, cached = (s->c_sk - s->c_sq) + (capped(s, s->g_sk, requests) - s->g_sq);
	return (s->c_sq + s->g_sq) * (h_q + h_kv) * d * size_q + cached * h_kv * d * size_kv;
}

static void costs(const tl_serving *s, tl_perf_result *out)
{
	const tl_chunk *c = &s->chunks.context, *g = &s->chunks.generation;
	tl_serving_sums sums = {.c_sq = (double)c->sq,
				.c_sk = (double)c->sk,
				.c_sqsq = (double)c->sqsq,
				.c_sqsk = (double)c->sqsk,
				.g_sq = (double)g->sq,
				.g_sk = (double)g->sk,
				.g_sqsk = (double)g->sqsk,
				.window = (double)s->window,
				.requests = (double)s->requests};
	double h_q = (double)s->h_q, h_kv = (double)s->h_kv, d_qk = (double)s->d_qk, d_v = (double)s->d_v;
	int size_q = tl__dtype_bytes(s->type_q), size_kv = tl__dtype_bytes(s->type_kv);
	size_q = size_q ? size_q : 2;
	size_kv = size_kv ? size_kv : size_q;
	if (c->sq || g->sq)
		out->flops = tl__cost_int(tl__serving_flops(&sums, h_q, d_qk, d_v));
	else
		out->flops = tl__cost_failed(); /* a step without queries */
	out->bytes = tl__cost_int(tl__serving_bytes(&sums, h_q, h_kv, d_qk, d_v, size_q, size_kv));
	out->maf = "matrix";
	out->precision = tl__dtype_precision(s->type_q);
}

/* ---- shared parts ---- */

bool tl__serving_step(tl_serving *out, const tl_perf_input *in)
{
	tl_annotation step;
	if (!tl__annotation_read(&step, in->annotation) || !step.has_sums)
		return false;
	out->chunks = step.chunks;
	out->requests = step.generation_requests;
	return true;
}

void tl__serving_begin(const tl_serving *s, tl_perf_result *out)
{
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
}

void tl__serving_sums(const tl_chunks *chunks, tl_perf_result *out)
{
	const tl_chunk *c = &chunks->context, *g = &chunks->generation;
	tl__param_int(out, "c_sq", c->sq);
	tl__param_int(out, "c_sk", c->sk);
	tl__param_int(out, "c_sqsq", c->sqsq);
	tl__param_int(out, "c_sqsk", c->sqsk);
	tl__param_int(out, "g_sq", g->sq);
	tl__param_int(out, "g_sk", g->sk);
	tl__param_int(out, "g_sqsq", g->sqsq);
	tl__param_int(out, "g_sqsk", g->sqsk);
}

int tl__serving_finish(const tl_serving *s, tl_arena *arena, tl_perf_result *out)
{
	tl__serving_begin(s, out);
	tl__serving_sums(&s->chunks, out);
	TL_TRY(tl__param_text(out, arena, "dtype_Q", s->type_q));
	if (s->type_kv)
		TL_TRY(tl__param_text(out, arena, "dtype_KV", s->type_kv));
	if (s->windowed)
		tl__param_int(out, "sliding_window", s->window);
	costs(s, out);
	return 0;
}

/* The cache's dtype as noted by the kernel that reads it (it is passed as bytes to operations), or NULL. */
static const char *noted_cache_type(const tl_perf_input *in)
{
	return tl__value_text(tl__value_get(tl__value_get(in->extras, "attention_perf_meta"), "k_cache_dtype"));
}

/* Dtype of the cache: noted, else that of a slot, else the query's. */
static void set_cache_type(tl_serving *s, const tl_perf_input *in, size_t slot)
{
	s->type_kv = noted_cache_type(in);
	if (!s->type_kv || !*s->type_kv)
		s->type_kv = tl__arg_text(in->types, slot);
	if (!s->type_kv || !*s->type_kv)
		s->type_kv = s->type_q;
}

/* ---- models ---- */

/* Queries (N_Q, H_Q, d) in slot 0, keys (.., N_KV, H_KV, d) in slot 1; a reason when something is missing. */
static const char *read_plain(tl_serving *s, const tl_perf_input *in)
{
	tl_shape q, k;
	*s = (tl_serving){0};
	if (!tl__serving_step(s, in))
		return tl__serving_no_annotation;
	if (!tl__arg_shape(&q, in->dims, 0) || !tl__arg_shape(&k, in->dims, 1) || q.rank < 3 || k.rank < 3)
		return no_shapes;
	s->n_q = q.dim[0];
	s->h_q = q.dim[1];
	s->d_qk = q.dim[2];
	s->n_kv = k.dim[k.rank - 3];
	s->h_kv = k.dim[k.rank - 2];
	s->d_v = k.dim[k.rank - 1];
	s->type_q = tl__arg_text(in->types, 0);
	set_cache_type(s, in, 1);
	return NULL;
}

/*
 * vllm::unified_attention_with_output, aiter::mha_varlen_fwd, pseudo_mla_decode_fwd: values as wide as keys (of latent
 * attention too, where both are one: [07-15], the reference's value).
 */
int tl__model_serving_attention(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s;
	const char *why = read_plain(&s, in);
	return why ? tl__perf_fail(out, why) : tl__serving_finish(&s, arena, out);
}

/* aiter::fmha_v3_varlen_fwd, aiter::mha_batch_prefill, pseudo_mla_prefill_fwd: values in slot 2. */
int tl__model_serving_attention_v(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s;
	tl_shape v;
	const char *why = read_plain(&s, in);
	if (why)
		return tl__perf_fail(out, why);
	if (tl__arg_shape(&v, in->dims, 2) && v.rank)
		s.d_v = v.dim[v.rank - 1];
	return tl__serving_finish(&s, arena, out);
}

/* SGLang's sparse MLA: size of values in Concrete Inputs 4, else 512 ([07-16]: the reference looks elsewhere). */
int tl__model_tilelang_sparse(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s;
	const char *why = read_plain(&s, in);
	if (why)
		return tl__perf_fail(out, why);
	if (!tl__to_int(tl__value_at(in->concrete, 4), &s.d_v) || s.d_v <= 0 || s.d_v > TL_MAX_DIM)
		s.d_v = 512;
	return tl__serving_finish(&s, arena, out);
}

/*
 * SGLang's paged attention: queries in slot 2, caches of keys and values in 3 and 4. The cache's dtype is listed where
 * it is not the queries' ([07-15]: the reference charges it at theirs).
 */
int tl__model_paged_ragged(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s = {0};
	tl_shape q, k, v;
	if (!tl__serving_step(&s, in))
		return tl__perf_fail(out, tl__serving_no_annotation);
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
	set_cache_type(&s, in, 3);
	if (!tl__dtype_bytes(s.type_kv) || tl__dtype_bytes(s.type_kv) == tl__dtype_bytes(s.type_q))
		s.type_kv = NULL;
	return tl__serving_finish(&s, arena, out);
}

/* aiter::pa_decode_gluon: decode only; cache in slot 2, sliding window in Concrete Inputs 19. */
int tl__model_pa_decode_gluon(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_serving s = {0};
	tl_shape q, cache;
	if (!tl__serving_step(&s, in))
		return tl__perf_fail(out, tl__serving_no_annotation);
	if (!tl__arg_shape(&q, in->dims, 0) || !tl__arg_shape(&cache, in->dims, 2) || q.rank < 3 || cache.rank < 2)
		return tl__perf_fail(out, no_shapes);
	s.chunks.context = (tl_chunk){0};
	s.n_q = q.dim[0];
	s.h_q = q.dim[1];
	s.d_qk = s.d_v = q.dim[2];
	s.h_kv = cache.dim[1];
	s.n_kv = s.chunks.generation.sk;
	s.type_q = tl__arg_text(in->types, 0);
	set_cache_type(&s, in, 2);
	if (!tl__to_int(tl__value_at(in->concrete, 19), &s.window) || s.window < 0)
		s.window = 0;
	s.windowed = true;
	return tl__serving_finish(&s, arena, out);
}
