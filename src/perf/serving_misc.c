/* SPDX-License-Identifier: MIT */
/* Other kernels of serving frameworks: gated activations, rotary embedding, cache writes, quantisation, collectives. */
#include <math.h>

#include "perf/args.h"
#include "perf/families.h"

static const char no_tensors[] = "shapes and dtypes of the tensors are needed";

/* ---- gated activations: output [.., n] in slot 0, input [.., 2n] in slot 1 ---- */

/* `cost` FLOPs an output element; 2 n in + n out bytes. */
static int gated(const tl_perf_input *in, double cost, tl_arena *arena, tl_perf_result *out)
{
	tl_shape y;
	if (!tl__arg_shape(&y, in->dims, 0) || tl__value_count(in->types) < 2)
		return tl__perf_fail(out, no_tensors);
	const char *types[2] = {tl__arg_text(in->types, 1), tl__arg_text(in->types, 0)};
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &y));
	TL_TRY(tl__param_texts(out, arena, "dtype_in_out", types, 2));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", tl__value_at(in->strides, 1)));
	TL_TRY(tl__param_tuple(out, arena, "stride_output", tl__value_at(in->strides, 0)));
	double n = tl__shape_volume(&y, 0);
	int size_in = tl__dtype_bytes(types[0]), size_out = tl__dtype_bytes(types[1]);
	out->flops = tl__cost_int(cost * n);
	out->bytes = tl__cost_if(size_in && size_out, 2 * n * size_in + n * size_out);
	out->maf = "vector";
	out->precision = tl__dtype_precision(types[0]);
	return 0;
}

int tl__model_silu_and_mul(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return gated(in, 5, arena, out);
}

int tl__model_gelu_and_mul(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return gated(in, 8, arena, out);
}

int tl__model_gelu_tanh_and_mul(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return gated(in, 10, arena, out);
}

/* ---- rotary embedding: 3 FLOPs an element, read and written ---- */

static int rotary(double n, const char *type, tl_perf_result *out)
{
	int size = tl__dtype_bytes(type);
	if (!(n >= 0 && n <= (double)TL_MAX_DIM))
		return tl__perf_fail(out, "the tensors are too large");
	tl__perf_begin(out);
	tl__param_int(out, "num_elements", (int64_t)n);
	out->flops = tl__cost_int(3 * n);
	out->bytes = tl__cost_int(2 * n * (size ? size : 2));
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}

/* aiter::rope_cached_positions_2c_fwd_impl: q and k in slots 2 and 3. */
int tl__model_rope_2c(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape q, k;
	(void)arena;
	if (!tl__arg_shape(&q, in->dims, 2) || !tl__arg_shape(&k, in->dims, 3))
		return tl__perf_fail(out, no_tensors);
	return rotary(tl__shape_volume(&q, 0) + tl__shape_volume(&k, 0), tl__arg_text(in->types, 0), out);
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
	double heads = (double)(q.dim[1] / head) + (double)(k.dim[1] / head);
	return rotary((double)q.dim[0] * heads * (double)rotated, tl__arg_text(in->types, 1), out);
}

/* ---- cache writes ---- */

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
	out->bytes = tl__cost_int(4 * (double)n * (size ? size : 2));
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}

/* ---- collectives over peer memory: local traffic only, neither rate nor precision ---- */

/* All-reduce of `n` elements in a slot: read and written. */
int tl__model_custom_all_reduce(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x;
	if (!tl__arg_shape(&x, in->dims, 1))
		return tl__perf_fail(out, no_tensors);
	int size = tl__arg_bytes(in->types, 1);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &x));
	TL_TRY(tl__param_text(out, arena, "dtype", tl__arg_text(in->types, 1)));
	out->flops = tl__cost_int(0);
	out->bytes = tl__cost_if(size, 2 * tl__shape_volume(&x, 0) * size);
	return 0;
}

/* Input read and output written, of unequal sizes. */
static int exchange(const tl_perf_input *in, size_t from, size_t to, size_t type, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x, y;
	if (!tl__arg_shape(&x, in->dims, from) || !tl__arg_shape(&y, in->dims, to))
		return tl__perf_fail(out, no_tensors);
	int size = tl__arg_bytes(in->types, type);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "input_shape", &x));
	TL_TRY(tl__param_shape(out, arena, "output_shape", &y));
	TL_TRY(tl__param_text(out, arena, "dtype", tl__arg_text(in->types, type)));
	out->flops = tl__cost_int(0);
	out->bytes = tl__cost_if(size, (tl__shape_volume(&x, 0) + tl__shape_volume(&y, 0)) * size);
	return 0;
}

/* aiter::reduce_scatter, aiter::all_gather_reg. */
int tl__model_aiter_exchange(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return exchange(in, 1, 2, 1, arena, out);
}

/* sglang::reg_all_gather_into_tensor: output first. */
int tl__model_sglang_all_gather(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return exchange(in, 1, 0, 0, arena, out);
}
