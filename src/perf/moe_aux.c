/* SPDX-License-Identifier: MIT */
/* Around mixtures of experts: choosing experts, and sorting tokens by them. */
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"

static const char no_tensors[] = "shapes of the tensors are needed";

/* One operand of a kernel about whose arguments no more is known than shapes and dtypes. */
typedef struct operand {
	tl_shape shape;
	const char *type;
	double count;
} operand;

/* A tensor of one or more dimensions; scalars and lists of tensors are no operands. */
static bool read_operand(operand *out, const tl_perf_input *in, size_t index)
{
	out->type = tl__arg_text(in->types, index);
	if (!tl__arg_shape(&out->shape, in->dims, index) || !out->shape.rank)
		return false;
	out->count = tl__shape_volume(&out->shape, 0);
	return true;
}

/* "((64, 256), 'float')" */
static int describe(tl_value *out, const operand *o, tl_arena *arena)
{
	tl_value *pair = tl__arena_alloc(arena, 2 * sizeof *pair);
	if (!pair)
		return TL_ENOMEM;
	TL_TRY(tl__value_ints(&pair[0], arena, TL_V_TUPLE, o->shape.dim, o->shape.rank));
	tl_value type = o->type ? TL_VALUE_STRING(o->type, strlen(o->type)) : TL_VALUE_NONE;
	TL_TRY(tl__value_copy(&pair[1], arena, &type));
	*out = (tl_value){.kind = TL_V_TUPLE, .n = 2, .items = pair};
	return 0;
}

/*
 * Expert choice and sorting of AITER: as many FLOPs as the largest operand has elements; every operand of a known dtype
 * is moved once.
 */
int tl__model_moe_operands(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	size_t count = tl__value_count(in->dims), n = 0;
	double largest = 0, bytes = 0;
	const char *type = NULL;
	tl_value *items = tl__arena_alloc(arena, (count + 1) * sizeof *items);
	operand o;

	if (!items)
		return TL_ENOMEM;
	if (!count)
		return tl__perf_fail(out, no_tensors);
	for (size_t i = 0; i < count; i++) {
		if (!read_operand(&o, in, i))
			continue;
		TL_TRY(describe(&items[n++], &o, arena));
		bytes += o.count * tl__dtype_bytes(o.type);
		if (o.count > largest || n == 1) {
			largest = o.count;
			type = o.type;
		}
	}
	tl__perf_begin(out);
	tl__param(out, "operands", (tl_value){.kind = TL_V_LIST, .n = (uint32_t)n, .items = items});
	out->flops = tl__cost_int(largest);
	out->bytes = tl__cost_if(bytes > 0, bytes);
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}

/* SGLang's shared experts, appended to ids and weights of the chosen: both read and written. */
int tl__model_moe_append_shared(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape ids, weights;
	if (!tl__arg_shape(&ids, in->dims, 0))
		return tl__perf_fail(out, no_tensors);
	if (!tl__arg_given(in->dims, 1) || !tl__arg_shape(&weights, in->dims, 1))
		weights = ids;
	const char *types[3] = {tl__arg_text(in->types, 0), tl__arg_text(in->types, 1)};
	types[1] = types[2] = types[1] && *types[1] ? types[1] : "float";
	int size_ids = tl__dtype_bytes(types[0]), size_weights = tl__dtype_bytes(types[1]);
	double n_ids = tl__shape_volume(&ids, 0), n_weights = tl__shape_volume(&weights, 0);

	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "shape_in1", &ids));
	TL_TRY(tl__param_shape(out, arena, "shape_in2", &weights));
	TL_TRY(tl__param_texts(out, arena, "dtype_in1_in2_out", types, 3));
	tl__param(out, "stride_input1", TL_VALUE_NONE);
	tl__param(out, "stride_input2", TL_VALUE_NONE);
	tl__param(out, "stride_output", TL_VALUE_NONE);
	out->flops = tl__cost_int(n_ids);
	out->bytes =
		tl__cost_int(2 * (n_ids * (size_ids ? size_ids : 4) + n_weights * (size_weights ? size_weights : 4)));
	out->maf = "vector";
	out->precision = tl__dtype_precision(types[1]);
	return 0;
}

/*
 * aiter::topk_softplus: weights and ids of the k chosen [M, k], scores [M, E], bias [E] in float. FLOPs 6 M E; bytes
 * M E scores + 4 E bias + 8 M k chosen.
 */
int tl__model_topk_softplus(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape chosen, scores;
	if (!tl__arg_shape(&chosen, in->dims, 0) || !tl__arg_shape(&scores, in->dims, 2) || chosen.rank < 2 ||
	    scores.rank < 2)
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, 2);
	double m = (double)scores.dim[0], e = (double)scores.dim[1], k = (double)chosen.dim[1];
	int size = tl__dtype_bytes(type);
	tl__perf_begin(out);
	tl__param_int(out, "M", scores.dim[0]);
	tl__param_int(out, "n", 1);
	tl__param_int(out, "C", scores.dim[1]);
	tl__param_int(out, "E", scores.dim[1]);
	tl__param_int(out, "topk", chosen.dim[1]);
	TL_TRY(tl__param_text(out, arena, "dtype_in", type));
	out->flops = tl__cost_int(6 * m * e);
	out->bytes = tl__cost_if(size, m * e * size + 4 * e + 8 * m * k);
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
	return 0;
}
