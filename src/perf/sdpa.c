/* SPDX-License-Identifier: MIT */
/* Scaled dot-product attention; softmax, masks, dropout, bias and windows count nothing. */
#include <math.h>
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

/* ---- formulas; lengths are doubles because those of packed sequences are averages ---- */

/*
 * Pairs of query and key that a causal mask leaves, of unequal lengths: aligned at the bottom right, so that
 * the last query sees every key. The reference refuses these [03-A4]; for equal lengths it takes half of
 * all pairs.
 */
static double causal_pairs(double n_q, double n_kv)
{
	return n_kv >= n_q ? n_q * n_kv - n_q * (n_q - 1) / 2 : n_kv * (n_kv + 1) / 2;
}

/* FLOPs = 2 B H_Q N_Q N_KV (d_qk + d_v), half of it when causal. */
double tl__sdpa_flops(const tl_sdpa *a, double batch, double n_q, double n_kv)
{
	double per_pair = batch * (double)a->h_q * 2 * (double)(a->d_qk + a->d_v);
	if (!a->causal)
		return per_pair * n_q * n_kv;
	return n_q == n_kv ? per_pair * n_q * n_kv / 2 : per_pair * causal_pairs(n_q, n_kv);
}

/*
 * FLOPs of the backward: with P = 2 B H_Q N_Q N_KV and r = H_Q / H_KV - 1:
 * [P d_qk when flash] + (P d_v + B N_KV d_v r) + P d_v + P d_qk + (P d_qk + B N_KV d_qk r), half of it when
 * causal. That the r terms are halved, too, is the reference's value [03-A5].
 */
double tl__sdpa_flops_bwd(const tl_sdpa *a, double batch, double n_q, double n_kv)
{
	double d_qk = (double)a->d_qk, d_v = (double)a->d_v, pairs = n_q * n_kv;
	double ratio = a->h_kv > 0 ? (double)(a->h_q / a->h_kv - 1) : 0;
	double reduce = batch * n_kv * (d_qk + d_v) * ratio;
	bool exact = a->causal && n_q != n_kv;
	if (exact)
		pairs = causal_pairs(n_q, n_kv);
	double p = batch * (double)a->h_q * 2 * pairs;
	double sum = p * d_qk * (a->flash ? 3 : 2) + p * d_v * 2 + reduce;
	return a->causal && !exact ? sum / 2 : sum;
}

/* bytes = size (B N_Q H_Q d_qk + B N_KV H_KV (d_qk + d_v) + B N_Q H_Q d_v); size is 2 by default [03-A3]. */
double tl__sdpa_bytes(const tl_sdpa *a, double size)
{
	double b = (double)a->batch, q = b * (double)a->n_q * (double)a->h_q,
	       kv = b * (double)a->n_kv * (double)a->h_kv;
	return (q * (double)a->d_qk + kv * (double)(a->d_qk + a->d_v) + q * (double)a->d_v) * size;
}

/* Reads q, k, v, dO, writes dQ, dK, dV; O and the log-sum-exp are not counted [03-A9]. */
double tl__sdpa_bytes_bwd(const tl_sdpa *a, double size)
{
	double b = (double)a->batch, q = b * (double)a->n_q * (double)a->h_q,
	       kv = b * (double)a->n_kv * (double)a->h_kv;
	return (2 * q * (double)a->d_qk + 2 * kv * (double)(a->d_qk + a->d_v) + q * (double)a->d_v) * size;
}

/* ---- shapes ---- */

enum layout { BNHD, BHND, THD };

/* Sizes of a slot in the order batch, length, heads, head size. */
static bool arrange(int64_t out[4], const tl_value *dims, size_t slot, enum layout layout)
{
	static const uint8_t order[][4] = {[BNHD] = {0, 1, 2, 3}, [BHND] = {0, 2, 1, 3}};
	tl_shape s;
	if (!tl__arg_shape(&s, dims, slot) || s.rank < (layout == THD ? 3u : 4u))
		return false;
	for (size_t i = 0; i < 4; i++)
		out[i] = layout != THD ? s.dim[order[layout][i]] : i ? s.dim[i - 1] : 1;
	return true;
}

/* Reads q, k and v from three slots in a row; a reason when they do not fit together, else NULL. */
static const char *read_shapes(tl_sdpa *a, const tl_value *dims, size_t slot, enum layout layout)
{
	int64_t q[4] = {0}, k[4] = {0}, v[4] = {0};
	if (!arrange(q, dims, slot, layout) || !arrange(k, dims, slot + 1, layout) ||
	    !arrange(v, dims, slot + 2, layout))
		return "shapes of q, k and v are needed";
	if (q[0] != k[0] || k[0] != v[0])
		return "batch sizes of q, k and v differ";
	if (k[1] != v[1] || k[2] != v[2])
		return "k and v differ in length or heads";
	if (q[3] != k[3])
		return "head sizes of q and k differ";
	*a = (tl_sdpa){q[0], q[1], q[2], k[1], k[2], q[3], v[3], false, true};
	return NULL;
}

/* ---- parameters ---- */

static void list_sizes(const tl_sdpa *a, tl_perf_result *out)
{
	tl__perf_begin(out);
	tl__param_int(out, "B", a->batch);
	tl__param_int(out, "N_Q", a->n_q);
	tl__param_int(out, "H_Q", a->h_q);
	tl__param_int(out, "N_KV", a->n_kv);
	tl__param_int(out, "H_KV", a->h_kv);
	tl__param_int(out, "d_h_qk", a->d_qk);
	tl__param_int(out, "d_h_v", a->d_v);
	out->maf = "matrix";
}

static int list_strides(const tl_perf_input *in, size_t slot, tl_arena *arena, tl_perf_result *out)
{
	/* strides may be missing: nothing depends on them [03-A12, 03-E10] */
	TL_TRY(tl__param_tuple(out, arena, "q_stride", tl__value_at(in->strides, slot)));
	TL_TRY(tl__param_tuple(out, arena, "k_stride", tl__value_at(in->strides, slot + 1)));
	return tl__param_tuple(out, arena, "v_stride", tl__value_at(in->strides, slot + 2));
}

static int list_types(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	const char *types[2] = {tl__arg_text(in->types, 0), tl__arg_text(in->types, 1)};
	size_t n = tl__value_count(in->types);
	out->precision = tl__dtype_precision(types[0]);
	return tl__param_texts(out, arena, "dtype_A_B", types, n < 2 ? n : 2);
}

static tl_perf_cost cost(const tl_sdpa *a, double value)
{
	return a->causal ? tl__cost_float(value) : tl__cost_int(value);
}

static void plain_costs(const tl_sdpa *a, bool backward, tl_perf_result *out)
{
	double batch = (double)a->batch, n_q = (double)a->n_q, n_kv = (double)a->n_kv;
	out->flops_bwd = a->h_kv > 0 ? cost(a, tl__sdpa_flops_bwd(a, batch, n_q, n_kv)) : tl__cost_failed();
	out->bytes_bwd = tl__cost_int(tl__sdpa_bytes_bwd(a, 2));
	out->flops = backward ? out->flops_bwd : cost(a, tl__sdpa_flops(a, batch, n_q, n_kv));
	out->bytes = backward ? out->bytes_bwd : tl__cost_int(tl__sdpa_bytes(a, 2));
}

/* ---- attention of dense batches, as ATen, aiter and flash_attn_3 pass it ---- */

typedef struct dense {
	size_t q; /* slot of q; k and v follow */
	enum layout layout;
	int dropout; /* slot, or -1: none */
	size_t causal;
	bool flash, backward;
	bool types; /* dtype_A_B is listed */
} dense;

static int eval_dense(const dense *d, const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_sdpa a;
	const char *why = read_shapes(&a, in->dims, d->q, d->layout);
	if (why)
		return tl__perf_fail(out, why);
	if (tl__value_count(in->concrete) <= d->causal)
		return tl__perf_fail(out, "Concrete Inputs do not tell whether the attention is causal");
	double dropout = 0;
	if (d->dropout >= 0 && !tl__to_double(tl__value_at(in->concrete, (size_t)d->dropout), &dropout))
		dropout = 0;
	a.causal = tl__arg_is_true(in->concrete, d->causal);
	a.flash = d->flash;
	list_sizes(&a, out);
	tl__param(out, "dropout", TL_VALUE_DOUBLE(dropout));
	tl__param_bool(out, "causal", a.causal);
	tl__param_bool(out, "flash_impl", a.flash);
	if (d->types)
		TL_TRY(list_types(in, arena, out));
	else
		out->precision = tl__arg_precision(in->types, d->q); /* empty in the reference: [03-A6] */
	plain_costs(&a, d->backward, out);
	return 0;
}

/* aten::_scaled_dot_product_{cudnn,efficient}_attention: (B, H, N, d). */
int tl__model_sdpa_efficient(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 0, .layout = BHND, .dropout = 5, .causal = 6, .types = true};
	return eval_dense(&d, in, arena, out);
}

/* aten::_scaled_dot_product_flash_attention: (B, H, N, d). */
int tl__model_sdpa_flash(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 0, .layout = BHND, .dropout = 3, .causal = 4, .flash = true, .types = true};
	return eval_dense(&d, in, arena, out);
}

/* aiter::_flash_attn_forward, aiter::mha_fwd, aiter::fmha_v3_fwd: (B, N, H, d). */
int tl__model_aiter_fwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 0, .layout = BNHD, .dropout = 3, .causal = 5, .flash = true};
	return eval_dense(&d, in, arena, out);
}

/*
 * aiter::_flash_attn_backward: dout, q, k, v. The reference takes dout, q, k for q, k, v, which gives the same
 * values wherever it does not fail [03-A2].
 */
int tl__model_aiter_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 1, .layout = BNHD, .dropout = 10, .causal = 12, .flash = true, .backward = true};
	return eval_dense(&d, in, arena, out);
}

/* aiter::wrapper_fmha_v3_fwd. */
int tl__model_aiter_wrapper_fwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 1, .layout = BNHD, .dropout = 4, .causal = 6, .flash = true};
	return eval_dense(&d, in, arena, out);
}

/* aiter::wrapper_fmha_v3_bwd. */
int tl__model_aiter_wrapper_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 1, .layout = BNHD, .dropout = 7, .causal = 9, .flash = true, .backward = true};
	return eval_dense(&d, in, arena, out);
}

/* aiter::mha_bwd. */
int tl__model_aiter_mha_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 1, .layout = BNHD, .dropout = 6, .causal = 8, .flash = true, .backward = true};
	return eval_dense(&d, in, arena, out);
}

/* flash_attn_3::fwd. */
int tl__model_flash_v3(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	static const dense d = {.q = 0, .layout = BNHD, .dropout = -1, .causal = 24, .flash = true};
	return eval_dense(&d, in, arena, out);
}

/* EvoformerAttention: q of (batch, sequences, residues, heads, d); k and v are alike; bias and mask count nothing. */
int tl__model_evoformer(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape q;
	int64_t batch;
	if (!tl__arg_shape(&q, in->dims, 0) || q.rank != 5)
		return tl__perf_fail(out, "a query of five dimensions is needed");
	if (__builtin_mul_overflow(q.dim[0], q.dim[1], &batch))
		return tl__perf_fail(out, "the batch is too large");
	tl_sdpa a = {batch, q.dim[2], q.dim[3], q.dim[2], q.dim[3], q.dim[4], q.dim[4], false, false};
	list_sizes(&a, out);
	tl__param_bool(out, "causal", false);
	tl__param_bool(out, "flash_impl", false);
	tl_value *type = tl__arena_zalloc(arena, sizeof *type);
	if (!type)
		return TL_ENOMEM;
	if (tl__arg_text(in->types, 0))
		TL_TRY(tl__value_copy(type, arena, tl__value_at(in->types, 0)));
	tl__param(out, "dtype_A_B", (tl_value){.kind = TL_V_LIST, .n = 1, .items = type});
	out->precision = tl__arg_precision(in->types, 0);
	plain_costs(&a, false, out);
	return 0;
}

/* ---- flash_attn: dropout and causal are literals, strides are listed ---- */

/* Dropout of an operation: 0 where it is empty [03-A12]; false when it is no number. */
static bool read_dropout(double *out, const tl_value *concrete, size_t slot)
{
	const tl_value *v = tl__value_at(concrete, slot);
	*out = 0;
	if (!v || v->kind == TL_V_NONE || (v->kind == TL_V_STRING && !v->n))
		return true;
	return tl__to_double(v, out);
}

static int list_flash(const tl_sdpa *a, const tl_perf_input *in, size_t slot, double dropout, tl_value causal,
		      tl_arena *arena, tl_perf_result *out)
{
	list_sizes(a, out);
	TL_TRY(list_strides(in, slot, arena, out));
	tl__param(out, "dropout", TL_VALUE_DOUBLE(dropout));
	tl__param(out, "causal", causal);
	tl__param_bool(out, "flash_impl", true);
	return list_types(in, arena, out);
}

static const char bad_scalars[] = "dropout or causal is no literal";

/* FlashAttnFunc, flash_attn::_flash_attn_forward: (B, N, H, d). */
int tl__model_flash_fwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_sdpa a;
	tl_value causal;
	bool ok;
	double dropout;
	const char *why = read_shapes(&a, in->dims, 0, BNHD);
	if (why)
		return tl__perf_fail(out, why);
	if (tl__value_count(in->concrete) < 6)
		return tl__perf_fail(out, "Concrete Inputs do not tell whether the attention is causal");
	TL_TRY(tl__arg_literal(&causal, &ok, in->concrete, 5, arena));
	if (!ok || !read_dropout(&dropout, in->concrete, 3))
		return tl__perf_fail(out, bad_scalars);
	if (causal.kind == TL_V_NONE)
		causal = TL_VALUE_BOOL(false);
	a.causal = tl__truth(&causal);
	TL_TRY(list_flash(&a, in, 0, dropout, causal, arena, out));
	plain_costs(&a, false, out);
	return 0;
}

/*
 * flash_attn::_flash_attn_backward: q, k, v in slots 1 to 3. Dropout is read at 8 and causal at 10, where the published
 * operation has them at 9 and 11 and the softmax scale at 10: reference values [03-A1]. With unequal lengths that
 * scale makes the reference fail; then the published places count.
 */
int tl__model_flash_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_sdpa a;
	tl_value causal;
	bool ok;
	double dropout;
	size_t slot = 8;
	const char *why = read_shapes(&a, in->dims, 1, BNHD);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(tl__arg_literal(&causal, &ok, in->concrete, 10, arena));
	if (ok && causal.kind == TL_V_DOUBLE && a.n_q != a.n_kv) {
		TL_TRY(tl__arg_literal(&causal, &ok, in->concrete, 11, arena));
		slot = 9;
	}
	if (!ok || !read_dropout(&dropout, in->concrete, slot))
		return tl__perf_fail(out, bad_scalars);
	if (causal.kind == TL_V_NONE)
		causal = TL_VALUE_BOOL(true); /* the reference's default */
	a.causal = tl__truth(&causal);
	TL_TRY(list_flash(&a, in, 1, dropout, causal, arena, out));
	plain_costs(&a, true, out);
	int size = tl__arg_bytes(in->types, 0);
	out->bytes = tl__cost_if(size, tl__sdpa_bytes_bwd(&a, size));
	return 0;
}

/* ---- packed sequences: (tokens, H, d) with the longest sequence and the number of them ---- */

/*
 * Lower bound: one sequence of the greatest length, the rest of the tokens spread evenly over the others.
 * With a single key sequence nothing is left for the others (the reference divides by zero: [03-A7]).
 */
double tl__sdpa_packed_flops(const tl_sdpa_packed *p, tl_sdpa_flops f)
{
	double sum = f(&p->a, 1, p->max_q, p->max_kv);
	if (p->seqs_q > 1) {
		double others = (double)(p->seqs_q - 1), others_kv = (double)(p->seqs_kv - 1);
		double n_q = floor(((double)p->a.n_q - p->max_q) / others);
		double n_kv = p->seqs_kv > 1 ? floor(((double)p->a.n_kv - p->max_kv) / others_kv) : 0;
		sum += others * f(&p->a, 1, n_q, n_kv);
	}
	return sum;
}

static void list_packed(const tl_sdpa_packed *p, tl_perf_result *out)
{
	tl__param_int(out, "num_seqs_q", p->seqs_q);
	tl__param_int(out, "num_seqs_kv", p->seqs_kv);
	tl__param(out, "max_seqlen_q", TL_VALUE_DOUBLE(p->max_q));
	tl__param(out, "max_seqlen_kv", TL_VALUE_DOUBLE(p->max_kv));
}

/* `slot` of q, first of the two slots of cumulative lengths, first of the scalars max_q, max_kv, dropout, -, causal. */
static int eval_packed(const tl_perf_input *in, size_t slot, size_t lengths, size_t scalars, bool backward,
		       tl_arena *arena, tl_perf_result *out)
{
	tl_sdpa_packed p;
	tl_shape cu_q, cu_kv;
	tl_value causal;
	bool ok;
	double dropout;
	const char *why = read_shapes(&p.a, in->dims, slot, THD);
	if (why)
		return tl__perf_fail(out, why);
	if (!tl__arg_shape(&cu_q, in->dims, lengths) || !tl__arg_shape(&cu_kv, in->dims, lengths + 1) || !cu_q.rank ||
	    !cu_kv.rank)
		return tl__perf_fail(out, "cumulative sequence lengths are needed");
	p.seqs_q = cu_q.dim[0] - 1;
	p.seqs_kv = cu_kv.dim[0] - 1;
	if (!tl__to_double(tl__value_at(in->concrete, scalars), &p.max_q) ||
	    !tl__to_double(tl__value_at(in->concrete, scalars + 1), &p.max_kv))
		return tl__perf_fail(out, "the greatest sequence lengths are needed");
	TL_TRY(tl__arg_literal(&causal, &ok, in->concrete, scalars + 4, arena));
	if (!ok || !read_dropout(&dropout, in->concrete, scalars + 2))
		return tl__perf_fail(out, bad_scalars);
	if (causal.kind == TL_V_NONE)
		causal = TL_VALUE_BOOL(false);
	p.a.causal = tl__truth(&causal);
	TL_TRY(list_flash(&p.a, in, slot, dropout, causal, arena, out));
	list_packed(&p, out);
	/* the forward's flops_bwd takes all tokens for one sequence: reference value [03-A7] */
	plain_costs(&p.a, backward, out);
	out->flops = tl__cost_float(tl__sdpa_packed_flops(&p, backward ? tl__sdpa_flops_bwd : tl__sdpa_flops));
	return 0;
}

/* Sequences that a list of cumulative lengths holds, or `otherwise` without the list. */
static int64_t count_sequences(const tl_value *dims, size_t slot, int64_t otherwise)
{
	tl_shape s;
	return tl__arg_shape(&s, dims, slot) && s.rank == 1 && s.dim[0] > 1 ? s.dim[0] - 1 : otherwise;
}

/* Length of the longest sequence, as told or, when that makes no sense, as if all were equal. */
static double longest(const tl_value *concrete, size_t slot, int64_t tokens, int64_t sequences)
{
	double told;
	if (tl__to_double(tl__value_at(concrete, slot), &told) && told > 0 && told <= (double)tokens)
		return told;
	return (double)tokens / (double)sequences;
}

/* The first True or False from a slot on; past the end when there is none. */
static size_t next_truth(const tl_value *concrete, size_t slot)
{
	for (; slot < tl__value_count(concrete); slot++) {
		const char *text = tl__arg_text(concrete, slot);
		const tl_value *v = tl__value_at(concrete, slot);
		if (v->kind == TL_V_BOOL || (text && (!strcmp(text, "True") || !strcmp(text, "False"))))
			break;
	}
	return slot;
}

/*
 * aiter::mha_varlen_fwd, aiter::fmha_v3_varlen_fwd: q, k, v, cumulative lengths of q and k, longest q and k, ...,
 * dropout, softmax scale, ..., zero_tensors, causal, ... What stands between differs by version: older ones have
 * neither a least length nor a soft cap. The lengths of k are optional, and no scalar is needed: unknown sequences are
 * as long as each other, and without their number all tokens are one sequence. Not causal unless told.
 */
int tl__model_aiter_varlen_fwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_sdpa_packed p;
	const char *why = read_shapes(&p.a, in->dims, 0, THD);
	if (why)
		return tl__perf_fail(out, why);
	p.seqs_q = count_sequences(in->dims, 3, 1);
	p.seqs_kv = count_sequences(in->dims, 4, p.seqs_q);
	p.max_q = longest(in->concrete, 5, p.a.n_q, p.seqs_q);
	p.max_kv = longest(in->concrete, 6, p.a.n_kv, p.seqs_kv);
	size_t zero_tensors = next_truth(in->concrete, 7), causal = next_truth(in->concrete, zero_tensors + 1);
	p.a.causal = tl__to_bool(tl__value_at(in->concrete, causal));
	double dropout = 0;
	size_t slot = zero_tensors == 11 ? 8 : 7;
	if (!tl__to_double(tl__value_at(in->concrete, slot), &dropout))
		dropout = 0;
	TL_TRY(list_flash(&p.a, in, 0, dropout, TL_VALUE_BOOL(p.a.causal), arena, out));
	list_packed(&p, out);
	plain_costs(&p.a, false, out);
	out->flops = tl__cost_float(tl__sdpa_packed_flops(&p, tl__sdpa_flops));
	if (p.a.h_kv > 0)
		out->flops_bwd = tl__cost_float(tl__sdpa_packed_flops(&p, tl__sdpa_flops_bwd));
	return 0;
}

/* flash_attn::_flash_attn_varlen_forward. */
int tl__model_flash_varlen_fwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return eval_packed(in, 0, 3, 5, false, arena, out);
}

/* flash_attn::_flash_attn_varlen_backward. */
int tl__model_flash_varlen_bwd(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return eval_packed(in, 1, 9, 11, true, arena, out);
}
