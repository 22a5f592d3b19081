/* SPDX-License-Identifier: MIT */
/*
 * Manifold-constrained hyper-connections: M tokens with n residual streams of width C. The mixing weights (n a token to
 * read and write, n^2 to mix) and the partial sums of the s splits of K are floats; all else has the tokens' dtype (b).
 */
#include "perf/args.h"
#include "perf/families.h"

static const char no_tensors[] = "shapes of tokens and streams are needed";

typedef struct mhc {
	int64_t m, n, c;
	int64_t mixes, k; /* rows h and width K of the mixing weights' matrix; -1: not told */
	int64_t splits;   /* s; -1: none */
	const char *type;
} mhc;

/* Size `at` of the tensor in a slot; -1 when there is none. */
static int64_t dim(const tl_perf_input *in, size_t slot, size_t at)
{
	tl_shape shape;
	return tl__arg_shape(&shape, in->dims, slot) && shape.rank > at ? shape.dim[at] : -1;
}

static const char *type_of(const tl_perf_input *in, size_t slot)
{
	return slot < tl__value_count(in->types) ? tl__arg_text(in->types, slot) : "c10::BFloat16";
}

static int begin(const mhc *h, const char *maf, tl_arena *arena, tl_perf_result *out)
{
	tl__perf_begin(out);
	tl__param_int(out, "M", h->m);
	tl__param_int(out, "n", h->n);
	tl__param_int(out, "C", h->c);
	tl__param(out, "hc3", h->mixes >= 0 ? TL_VALUE_INT(h->mixes) : TL_VALUE_NONE);
	if (h->k >= 0)
		tl__param_int(out, "K", h->k);
	if (h->splits >= 0)
		tl__param_int(out, "split_k", h->splits);
	TL_TRY(tl__param_text(out, arena, "dtype_in", h->type));
	out->maf = maf;
	out->precision = tl__dtype_precision(h->type);
	return 0;
}

/* `elements` of the tokens' dtype and `floats` are moved. */
static void costs(const mhc *h, double flops, double elements, double floats, tl_perf_result *out)
{
	int size = tl__dtype_bytes(h->type);
	out->flops = tl__cost_int(flops);
	out->bytes = tl__cost_if(size, elements * size + 4 * floats);
}

/*
 * aiter::mhc_post: streams out, block's output [M, C]. FLOPs 2 M n C (n + 1): each stream takes its part of the output
 * and of all streams. Bytes (M C + 2 M n C) b + 4 (M n + M n^2).
 */
int tl__model_mhc_post(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	mhc h = {.m = dim(in, 1, 0), .n = dim(in, 0, 1), .c = dim(in, 1, 1), .mixes = -1, .k = -1, .splits = -1};
	if (h.m < 0 || h.n < 0 || h.c < 0)
		return tl__perf_fail(out, no_tensors);
	h.type = type_of(in, 1);
	double m = (double)h.m, n = (double)h.n, c = (double)h.c;
	TL_TRY(begin(&h, "vector", arena, out));
	costs(&h, 2 * m * n * c * (n + 1), m * c + 2 * m * n * c, m * n + m * n * n, out);
	return 0;
}

/*
 * aiter::mhc_pre_gemm_sqrsum: the streams [M, n, C] times weights [h, K] in s splits, and sums of squares. FLOPs
 * 2 M h K. Bytes M n C b + 4 (h K + s M h + s M).
 */
int tl__model_mhc_pre_gemm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	mhc h = {.m = dim(in, 2, 0),
		 .n = dim(in, 2, 1),
		 .c = dim(in, 2, 2),
		 .mixes = dim(in, 3, 0),
		 .k = dim(in, 3, 1),
		 .splits = dim(in, 0, 0)};
	if (h.c < 0 || h.k < 0 || h.splits < 0)
		return tl__perf_fail(out, no_tensors);
	h.type = type_of(in, 2);
	double m = (double)h.m, n = (double)h.n, c = (double)h.c, mixes = (double)h.mixes, k = (double)h.k;
	double s = (double)h.splits;
	TL_TRY(begin(&h, "matrix", arena, out));
	costs(&h, 2 * m * mixes * k, m * n * c, mixes * k + s * m * mixes + s * m, out);
	return 0;
}

/*
 * aiter::mhc_pre_big_fuse_rmsnorm: mixes the streams into the block's input [M, C] and normalises it. FLOPs
 * 2 M C n + 5 M C. Bytes (M n C + C + M C) b + 4 (s M h + M n + M n^2).
 */
int tl__model_mhc_pre_fuse(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	mhc h = {.m = dim(in, 2, 0),
		 .n = dim(in, 0, 1),
		 .c = dim(in, 2, 1),
		 .mixes = dim(in, 6, 0),
		 .k = -1,
		 .splits = dim(in, 3, 0)};
	if (h.c < 0 || h.n < 0 || h.mixes < 0 || h.splits < 0)
		return tl__perf_fail(out, no_tensors);
	h.type = type_of(in, 7);
	double m = (double)h.m, n = (double)h.n, c = (double)h.c, mixes = (double)h.mixes, s = (double)h.splits;
	TL_TRY(begin(&h, "vector", arena, out));
	costs(&h, 2 * m * c * n + 5 * m * c, m * n * c + c + m * c, s * m * mixes + m * n + m * n * n, out);
	return 0;
}

/*
 * aiter::mhc_fused_post_pre_gemm_sqrsum: mhc_post of one block and mhc_pre_gemm_sqrsum of the next, which reads the
 * streams once more.
 */
int tl__model_mhc_post_pre(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	mhc h = {.m = dim(in, 3, 0),
		 .n = dim(in, 2, 1),
		 .c = dim(in, 3, 1),
		 .mixes = dim(in, 7, 0),
		 .k = dim(in, 7, 1),
		 .splits = dim(in, 0, 0)};
	if (h.c < 0 || h.n < 0 || h.k < 0 || h.splits < 0)
		return tl__perf_fail(out, no_tensors);
	h.type = type_of(in, 3);
	double m = (double)h.m, n = (double)h.n, c = (double)h.c, mixes = (double)h.mixes, k = (double)h.k;
	double s = (double)h.splits;
	TL_TRY(begin(&h, "matrix", arena, out));
	costs(&h, 2 * m * n * c * (n + 1) + 2 * m * mixes * k, m * c + 3 * m * n * c,
	      m * n + m * n * n + mixes * k + s * m * mixes + s * m, out);
	return 0;
}
