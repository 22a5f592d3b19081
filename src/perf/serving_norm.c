/* SPDX-License-Identifier: MIT */
/* RMS norms of serving frameworks, alone or fused with a residual, padding or quantisation. */
#include <math.h>

#include "perf/args.h"
#include "perf/families.h"

/* n elements in rows of `width`; everything is a double, for rows may not come out even. */
typedef struct rms {
	double n, width, rows, size;
	tl_shape shape;
} rms;

static const char no_input[] = "shapes and dtype of input and weight are needed";

/* Input and weight from two slots, and the parameters, which all of the family share. */
static int start(rms *r, const char **why, const tl_perf_input *in, size_t input, size_t weight, tl_arena *arena,
		 tl_perf_result *out)
{
	tl_shape w;
	int64_t width;
	const char *types[2] = {tl__arg_text(in->types, input), NULL};

	*why = no_input;
	if (!tl__arg_shape(&r->shape, in->dims, input) || !tl__arg_shape(&w, in->dims, weight) || !types[0] ||
	    !tl__shape_count(&width, &w) || width <= 0)
		return 0;
	*why = NULL;
	r->n = tl__shape_volume(&r->shape, 0);
	r->width = (double)width;
	r->rows = r->n / r->width;
	r->size = tl__dtype_bytes(types[0]);
	tl__perf_begin(out);
	TL_TRY(tl__param_shape(out, arena, "op_shape", &r->shape));
	TL_TRY(tl__param_texts(out, arena, "dtype_in_out", types, 2));
	TL_TRY(tl__param_tuple(out, arena, "stride_input", tl__value_at(in->strides, input)));
	tl__param(out, "stride_output", TL_VALUE_NONE);
	tl__param_int(out, "num_channels", width);
	tl__param_bool(out, "has_bias", false);
	tl__param_bool(out, "is_affine", true);
	tl__param_bool(out, "is_training", false);
	out->maf = "vector";
	out->precision = tl__dtype_precision(types[0]);
	return 0;
}

/* Base: rows (2 width + 2) + 2 n FLOPs, and `more`; bytes unless the dtype is unknown. */
static void costs(const rms *r, double more, double bytes, tl_perf_result *out)
{
	out->flops = tl__cost_float(r->rows * (2 * r->width + 2) + 2 * r->n + more);
	out->bytes = tl__cost_if(r->size > 0, bytes);
}

/* 2 n + width elements. */
static int plain(const tl_perf_input *in, size_t input, size_t weight, tl_arena *arena, tl_perf_result *out)
{
	rms r;
	const char *why;
	TL_TRY(start(&r, &why, in, input, weight, arena, out));
	if (why)
		return tl__perf_fail(out, why);
	costs(&r, 0, (2 * r.n + r.width) * r.size, out);
	return 0;
}

/* aiter::rms_norm, aiter::rmsnorm2d_fwd_ck. */
int tl__model_aiter_rms_norm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return plain(in, 0, 1, arena, out);
}

/* aiter::rmsnorm: output first. */
int tl__model_aiter_rmsnorm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return plain(in, 1, 2, arena, out);
}

/* With residual: + n FLOPs; input and residual read, both written. */
int tl__model_rmsnorm_add(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	rms r;
	const char *why;
	TL_TRY(start(&r, &why, in, 1, 4, arena, out));
	if (why)
		return tl__perf_fail(out, why);
	costs(&r, r.n, (4 * r.n + r.width) * r.size, out);
	return 0;
}

/* With quantisation to one byte and a float scale for each row: + 2 n FLOPs. */
int tl__model_rmsnorm_dynamicquant(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	rms r;
	const char *why;
	TL_TRY(start(&r, &why, in, 1, 3, arena, out));
	if (why)
		return tl__perf_fail(out, why);
	costs(&r, 2 * r.n, (r.n + r.width) * r.size + r.n + 4 * r.rows, out);
	return 0;
}

/*
 * Quantisation by groups, the group's size in a Concrete Inputs slot; without one a row is a group ([07-22]: the
 * reference fails for some). `streams` of n elements are read or written at the input's size.
 */
static int grouped(const tl_perf_input *in, size_t input, size_t weight, size_t group, double streams, double more,
		   tl_arena *arena, tl_perf_result *out)
{
	rms r;
	const char *why;
	int64_t g = 0;
	TL_TRY(start(&r, &why, in, input, weight, arena, out));
	if (why)
		return tl__perf_fail(out, why);
	double groups = tl__to_int(tl__value_at(in->concrete, group), &g) && g > 0 ? ceil(r.width / (double)g) : 1;
	costs(&r, more * r.n, (streams * r.n + r.width) * r.size + r.n + 4 * r.rows * groups, out);
	return 0;
}

/* aiter::rmsnorm_quant. */
int tl__model_rmsnorm_quant(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return grouped(in, 1, 3, 5, 1, 2, arena, out);
}

/* vllm::rocm_aiter_rmsnorm_fp8_group_quant. */
int tl__model_rmsnorm_group_quant(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return grouped(in, 0, 1, 3, 1, 2, arena, out);
}

/* vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant. */
int tl__model_rmsnorm_add_group_quant(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return grouped(in, 0, 2, 4, 3, 3, arena, out);
}

/* With residual and rows padded to a multiple of slot 4: + n FLOPs. */
int tl__model_rmsnorm_pad(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	rms r;
	const char *why;
	int64_t pad = 0;
	TL_TRY(start(&r, &why, in, 0, 1, arena, out));
	if (why)
		return tl__perf_fail(out, why);
	double padded = r.width;
	if (tl__to_int(tl__value_at(in->concrete, 4), &pad) && pad > 0)
		padded = ceil(r.width / (double)pad) * (double)pad;
	costs(&r, r.n, (3 * r.n + r.width + r.rows * padded) * r.size, out);
	return 0;
}

/* With mxfp4 quantisation; a second norm when slot 3 is a matrix, a residual when slot 6 is one. */
int tl__model_rmsnorm_mxfp4(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	rms r;
	const char *why;
	tl_shape x2, residual;
	TL_TRY(start(&r, &why, in, 0, 1, arena, out));
	if (why)
		return tl__perf_fail(out, why);
	double more = 2 * r.n, bytes = (r.n + r.width) * r.size + r.n / 2 + floor(r.n / 32);
	if (tl__arg_shape(&residual, in->dims, 6) && residual.rank == 2) {
		more += r.n;
		bytes += 2 * r.n * r.size;
	}
	if (tl__arg_shape(&x2, in->dims, 3) && x2.rank == 2 && r.n > 0) {
		double base = r.rows * (2 * r.width + 2) + 2 * r.n, width2 = (double)x2.dim[1];
		more += trunc(base * r.rows * width2 / r.n);
		bytes += (2 * r.rows * width2 + width2) * r.size;
	}
	costs(&r, more, bytes, out);
	out->bytes.integral = false; /* half bytes */
	return 0;
}
