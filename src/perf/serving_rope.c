/* SPDX-License-Identifier: MIT */
/* Rotary embedding in serving frameworks, alone or fused with what comes next: writing keys and values to the cache. */
#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

static const char no_tensors[] = "shapes and dtypes of the tensors are needed";
static const char too_large[] = "the tensors are too large";

/* ---- rotary embedding: 3 FLOPs an element, read and written ---- */

static void rotary(double n, const char *type, tl_perf_result *out)
{
	int size = tl__dtype_bytes(type);
	tl__param_int(out, "num_elements", (int64_t)n);
	out->flops = tl__cost_int(3 * n);
	out->bytes = tl__cost_int(2 * n * (size ? size : 2));
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
}

/* aiter::rope_cached_positions_2c_fwd_impl: q and k in slots 2 and 3. */
int tl__model_rope_2c(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape q, k;
	if (!tl__arg_shape(&q, in->dims, 2) || !tl__arg_shape(&k, in->dims, 3))
		return tl__perf_fail(out, no_tensors);
	double n = tl__shape_volume(&q, 0) + tl__shape_volume(&k, 0);
	if (!(n <= (double)TL_MAX_DIM))
		return tl__perf_fail(out, too_large);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "x_shape", &q));
	TL_TRY(tl__param_shape(out, arena, "y_shape", &k));
	rotary(n, tl__arg_text(in->types, 0), out);
	return 0;
}

/* sgl_kernel::rotary_embedding: positions, q, k, head size, table [positions, rotated part of a head]. */
int tl__model_sgl_rotary(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape q, k, table;
	int64_t head;
	(void)arena;
	if (!tl__arg_shape(&q, in->dims, 1) || !tl__arg_shape(&k, in->dims, 2) || q.rank < 2 || k.rank < 2)
		return tl__perf_fail(out, no_tensors);
	if (!tl__to_int(tl__value_at(in->concrete, 3), &head))
		head = q.dim[q.rank - 1];
	if (head <= 0)
		return tl__perf_fail(out, "the head size is not positive");
	int64_t rotated = tl__arg_shape(&table, in->dims, 4) && table.rank > 1 ? table.dim[1] : head;
	int64_t heads = q.dim[1] / head + k.dim[1] / head;
	double n = (double)q.dim[0] * (double)heads * (double)rotated;
	if (!(n <= (double)TL_MAX_DIM))
		return tl__perf_fail(out, too_large);
	tl__perf_begin(out);
	rotary(n, tl__arg_text(in->types, 1), out);
	return 0;
}

/* ---- fused with concatenation and the cache of latent attention (MLA) ---- */

typedef struct mla_rope {
	int64_t tokens, q_heads, k_heads, d_lora, d_pe;
	const char *type, *type_cache, *type_out; /* of inputs, cache and rotated queries; type_out NULL: not listed */
} mla_rope;

/*
 * Queries [T, QH, d_lora], their rotated part [T, QH, d_pe]; keys' parts likewise with KH heads. FLOPs
 * 3 T d_pe (QH + KH); inputs are read, queries written, keys written to the cache at its dtype.
 */
static int rotary_mla(const mla_rope *r, tl_arena *arena, tl_perf_result *out)
{
	double t = (double)r->tokens, qh = (double)r->q_heads, kh = (double)r->k_heads, pe = (double)r->d_pe;
	double d = (double)r->d_lora + pe;
	int size = tl__dtype_bytes(r->type), size_cache = tl__dtype_bytes(r->type_cache);
	int size_out = tl__dtype_bytes(r->type_out);
	size_cache = size_cache ? size_cache : size;
	size_out = size_out ? size_out : size;

	tl__perf_begin(out);
	tl__param_int(out, "T", r->tokens);
	tl__param_int(out, "QH", r->q_heads);
	tl__param_int(out, "KH", r->k_heads);
	tl__param_int(out, "D_lora", r->d_lora);
	tl__param_int(out, "D_pe", r->d_pe);
	TL_TRY(tl__param_text(out, arena, "dtype_in", r->type));
	TL_TRY(tl__param_text(out, arena, "dtype_kv", r->type_cache));
	if (r->type_out)
		TL_TRY(tl__param_text(out, arena, "dtype_out", r->type_out));
	out->flops = tl__cost_int(3 * t * pe * (qh + kh));
	out->bytes = tl__cost_if(size, t * (qh + kh) * d * size + t * qh * d * size_out + t * kh * d * size_cache);
	out->maf = "vector";
	out->precision = tl__dtype_precision(r->type);
	return 0;
}

static bool read_queries(mla_rope *r, const tl_perf_input *in)
{
	tl_shape q, pe;
	if (!tl__arg_shape(&q, in->dims, 0) || !tl__arg_shape(&pe, in->dims, 1) || q.rank < 3 || pe.rank < 3)
		return false;
	*r = (mla_rope){.tokens = q.dim[0], .q_heads = q.dim[1], .k_heads = 1, .d_lora = q.dim[2], .d_pe = pe.dim[2]};
	r->type = tl__arg_text(in->types, 0);
	r->type_cache = tl__arg_text(in->types, 4);
	if (!r->type_cache || !*r->type_cache)
		r->type_cache = r->type;
	return true;
}

/* aiter::fused_qk_rope_cat_and_cache_mla: keys [T, KH, d_lora] in slot 2, the cache in slot 4. */
int tl__model_rope_cat_mla(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	mla_rope r;
	tl_shape k;
	if (!read_queries(&r, in) || !tl__arg_shape(&k, in->dims, 2) || k.rank < 2)
		return tl__perf_fail(out, no_tensors);
	r.k_heads = k.dim[1];
	return rotary_mla(&r, arena, out);
}

/* aiter::fused_qk_rope_concat_and_cache_mla: one head of keys; rotated queries in slot 5. */
int tl__model_rope_concat_mla(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	mla_rope r;
	if (!read_queries(&r, in))
		return tl__perf_fail(out, no_tensors);
	r.type_out = tl__arg_text(in->types, 5);
	if (!r.type_out || !*r.type_out)
		r.type_out = r.type;
	return rotary_mla(&r, arena, out);
}

/* ---- cache writes ---- */

/* `n` elements of keys and as many of values, read and written. */
double tl__cache_write_bytes(double n, double size)
{
	return 4 * n * size;
}

/* sglang::store_cache: k and v read and written, no FLOPs. */
int tl__model_store_cache(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape k;
	int64_t n;
	if (!tl__arg_shape(&k, in->dims, 0) || !tl__shape_count(&n, &k))
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, 0);
	int size = tl__dtype_bytes(type);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &k));
	tl__param_int(out, "nelems", n);
	TL_TRY(tl__param_text(out, arena, "dtype", type));
	out->flops = tl__cost_int(0);
	out->bytes = tl__cost_int(tl__cache_write_bytes((double)n, size ? size : 2));
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}
