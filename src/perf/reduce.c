/* SPDX-License-Identifier: MIT */
/* Reductions: one FLOP an input element; input read, output written. */
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

/* The kind of reduction is told by the name; std, var, logsumexp and the cumulative ones are sums. */
static const char *kind(const char *name)
{
	static const char *const kinds[] = {"mean", "max", "min", "norm"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strstr(name, kinds[i]))
			return kinds[i];
	return "sum";
}

static bool all_ints(const tl_value *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->items[i].kind != TL_V_INT)
			return false;
	return true;
}

/*
 * Elements of the output. Dimensions are taken from real numbers and lists only; those of traces are texts, so
 * that in practice everything is reduced to one element: reference value [03-E1].
 */
static bool output_count(int64_t *out, const tl_shape *shape, const tl_value *concrete)
{
	const tl_value *dims = NULL;
	bool keep[TL_MAX_RANK];
	for (size_t i = tl__value_count(concrete); i-- > 1 && !dims;) {
		const tl_value *v = &concrete->items[i];
		if (v->kind == TL_V_INT || (tl__value_is_list(v) && all_ints(v)))
			dims = v;
	}
	*out = 1;
	if (!dims)
		return true;
	for (size_t i = 0; i < shape->rank; i++)
		keep[i] = true;
	size_t n = dims->kind == TL_V_INT ? 1 : dims->n;
	for (size_t i = 0; i < n; i++) {
		int64_t d = dims->kind == TL_V_INT ? dims->i : dims->items[i].i, rank = (int64_t)shape->rank;
		if (d < 0 && d >= -rank)
			d += rank;
		if (d >= 0 && d < rank)
			keep[d] = false;
	}
	tl_shape left = {0};
	for (size_t i = 0; i < shape->rank; i++)
		if (keep[i])
			left.dim[left.rank++] = shape->dim[i];
	return tl__shape_count(out, &left);
}

static tl_perf_cost bytes(int64_t n_in, int64_t n_out, const char *type_in, const char *type_out)
{
	int size_in = tl__dtype_bytes(type_in), size_out = type_out ? tl__dtype_bytes(type_out) : size_in;
	return tl__cost_if(size_in && size_out, tl__stream_bytes((double)n_in, size_in, (double)n_out, size_out));
}

/* in FLOPs, in b_in + out b_out bytes, the same for the backward. */
int tl__model_reduce(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape shape;
	int64_t n_in = 0, n_out = 0;
	const char *types[2] = {NULL, NULL};
	bool given = tl__arg_not_null(in->dims, 0);
	const char *name = in->name ? in->name : "";

	if (given) {
		types[0] = tl__arg_text(in->types, 0);
		types[1] = tl__arg_text(in->output_types, 0);
		if (!tl__arg_shape(&shape, in->dims, 0))
			return tl__perf_fail(out, "the shape of the input is needed");
		bool same = strstr(name, "cumsum") || strstr(name, "cumprod");
		if (!tl__shape_count(&n_in, &shape) || !output_count(&n_out, &shape, in->concrete))
			return tl__perf_fail(out, "the input is too large");
		if (same)
			n_out = n_in;
	}
	tl__perf_begin(out);
	tl__param_int(out, "num_input_elems", n_in);
	tl__param_int(out, "num_output_elems", n_out);
	TL_TRY(tl__param_texts(out, arena, "dtype_in_out", types, 2));
	if (given)
		TL_TRY(tl__param_text(out, arena, "reduce_type", kind(name)));
	out->flops = out->flops_bwd = tl__cost_int((double)n_in);
	out->bytes = out->bytes_bwd = bytes(n_in, n_out, types[0], types[1]);
	out->maf = "vector";
	out->precision = tl__dtype_precision(types[0]);
	return 0;
}
