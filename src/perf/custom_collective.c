/* SPDX-License-Identifier: MIT */
/*
 * Collectives that serving frameworks write themselves, over memory that their peers can see. Bytes are those of this
 * GPU's own memory; the link is not modelled. They count as vector work in the tensor's dtype ([07-22]: the reference
 * gives no compute spec).
 */
#include <math.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

static const char no_tensors[] = "shapes and dtypes of the tensors are needed";

static void rate(tl_perf_result *out, const char *type)
{
	out->maf = "vector";
	out->precision = tl__dtype_precision(type);
}

/* ---- all-reduce ---- */

/* What is handed in is read once, the result written once; what moves between GPUs is not counted. */
double tl__collective_bytes(double n_in, double n_out, double size)
{
	return (n_in + n_out) * size;
}

/* Tensor in slot 1, read and written. */
int tl__model_custom_all_reduce(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x;
	if (!tl__arg_shape(&x, in->dims, 1))
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, 1);
	int size = tl__dtype_bytes(type);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &x));
	TL_TRY(tl__param_text(out, arena, "dtype_in", type));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", tl__value_at(in->strides, 1)));
	out->flops = tl__cost_int(0);
	out->bytes = tl__cost_if(size, tl__collective_bytes(tl__shape_volume(&x, 0), tl__shape_volume(&x, 0), size));
	rate(out, type);
	return 0;
}

/*
 * Fused with adding a residual and RMS norm over rows of N, in one slot each. FLOPs n + rows (2 N + 2) + 2 n; bytes
 * 4 n + N elements: tensor and residual are read and written, the weight is read.
 */
static int all_reduce_norm(const tl_perf_input *in, size_t slot, size_t weight, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x, w;
	int64_t n;
	if (!tl__arg_shape(&x, in->dims, slot) || !tl__arg_shape(&w, in->dims, weight) || !tl__shape_count(&n, &x) ||
	    !w.rank || w.dim[0] <= 0)
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, slot);
	int size = tl__dtype_bytes(type);
	double elements = (double)n, width = (double)w.dim[0], rows = floor(elements / width);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &x));
	TL_TRY(tl__param_text(out, arena, "dtype_in", type));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", tl__value_at(in->strides, slot)));
	tl__param_int(out, "num_channels", w.dim[0]);
	out->flops = tl__cost_int(elements + rows * (2 * width + 2) + 2 * elements);
	out->bytes = tl__cost_if(size, 4 * elements * size + width * size);
	rate(out, type);
	return 0;
}

/* aiter::fused_allreduce_rmsnorm. */
int tl__model_all_reduce_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return all_reduce_norm(in, 2, 6, arena, out);
}

/* aiter::fused_allreduce_rmsnorm_. */
int tl__model_all_reduce_norm_inplace(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return all_reduce_norm(in, 0, 2, arena, out);
}

/* ---- input read and output written, of unequal sizes ---- */

/* Bytes (n_in + n_out) elements. */
static void exchange(const tl_shape *x, const tl_shape *y, const char *type, tl_perf_result *out)
{
	int size = tl__dtype_bytes(type);
	out->flops = tl__cost_int(0);
	out->bytes = tl__cost_if(size, tl__collective_bytes(tl__shape_volume(x, 0), tl__shape_volume(y, 0), size));
	rate(out, type);
}

/* aiter::reduce_scatter, aiter::all_gather_reg: input in slot 1, output in slot 2. */
int tl__model_aiter_exchange(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x, y;
	if (!tl__arg_shape(&x, in->dims, 1) || !tl__arg_shape(&y, in->dims, 2))
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, 1);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &x));
	TL_TRY(tl__param_shape(out, arena, "out_shape", &y));
	TL_TRY(tl__param_text(out, arena, "dtype_in", type));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", tl__value_at(in->strides, 1)));
	exchange(&x, &y, type, out);
	return 0;
}

/* sglang::reg_all_gather_into_tensor: output first. */
int tl__model_sglang_all_gather(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x, y;
	if (!tl__arg_shape(&y, in->dims, 0) || !tl__arg_shape(&x, in->dims, 1))
		return tl__perf_fail(out, no_tensors);
	const char *type = tl__arg_text(in->types, 0);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "out_shape", &y));
	TL_TRY(tl__param_shape(out, arena, "op_shape", &x));
	TL_TRY(tl__param_text(out, arena, "dtype_in", type));
	exchange(&x, &y, type, out);
	return 0;
}
