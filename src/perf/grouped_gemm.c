/* SPDX-License-Identifier: MIT */
/* Grouped matrix multiplications: G matrices share the rows of one tall X. */
#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"
#include "util/alloc.h"

/* FLOPs = 2 M K N: every row meets one matrix. */
double tl__grouped_gemm_flops(double m, double k, double n)
{
	return 2 * m * k * n;
}

/* bytes = (M K + G K N) in + M N out. */
double tl__grouped_gemm_bytes(double m, double k, double n, double g, double in, double out)
{
	return (m * k + g * k * n) * in + m * n * out;
}

/* Gradients of X and W, each as the forward. */
double tl__grouped_gemm_flops_bwd(double m, double k, double n)
{
	return 4 * m * k * n;
}

/* dY read twice, X and dX, W and dW. */
double tl__grouped_gemm_bytes_bwd(double m, double k, double n, double g, double in, double out)
{
	return 2 * m * n * out + 2 * m * k * in + 2 * g * k * n * in;
}

typedef struct pair {
	int64_t rows, cols;
} pair;

typedef TL_VEC(pair) pairs;

static bool is_pair(const tl_value *v)
{
	return v->n == 2 && v->items[0].kind == TL_V_INT && v->items[1].kind == TL_V_INT && v->items[0].i > 0 &&
	       v->items[1].i > 0 && v->items[0].i <= TL_MAX_DIM && v->items[1].i <= TL_MAX_DIM;
}

/* Every list of exactly two positive sizes, at any depth (values are at most TL_VALUE_MAX_DEPTH deep). */
static int collect(pairs *out, const tl_value *v)
{
	if (!tl__value_is_list(v))
		return 0;
	if (is_pair(v))
		return TL_VEC_PUSH(out, ((pair){v->items[0].i, v->items[1].i}));
	for (uint32_t i = 0; i < v->n; i++)
		TL_TRY(collect(out, &v->items[i]));
	return 0;
}

static bool positive(const tl_shape *s)
{
	for (size_t i = 0; i < s->rank; i++)
		if (s->dim[i] <= 0)
			return false;
	return true;
}

static const char groups[] = "the shapes do not form groups of matrices";

typedef struct grouped {
	int64_t m, k, n, g;
	int bytes_in, bytes_out;
} grouped;

/* The output dtype is the second argument's: reference value [03-G12]. */
static void sizes(grouped *out, const tl_perf_input *in)
{
	out->bytes_in = tl__arg_bytes(in->types, 0);
	out->bytes_out = tl__value_count(in->types) > 1 ? tl__arg_bytes(in->types, 1) : out->bytes_in;
}

static void list(const grouped *g, const tl_perf_input *in, tl_perf_result *out)
{
	tl__perf_begin(out);
	tl__param_int(out, "M", g->m);
	tl__param_int(out, "K", g->k);
	tl__param_int(out, "N", g->n);
	tl__param_int(out, "G", g->g);
	tl__param(out, "bpe_in", g->bytes_in ? TL_VALUE_INT(g->bytes_in) : TL_VALUE_NONE);
	tl__param(out, "bpe_out", g->bytes_out ? TL_VALUE_INT(g->bytes_out) : TL_VALUE_NONE);
	out->maf = "matrix";
	out->precision = tl__arg_precision(in->types, 0);
}

/* X[M,K] and W[G,K,N] (or W[G,N,K] when only that fits). */
static bool compact(grouped *g, const tl_value *dims)
{
	tl_shape x, w;
	if (!tl__arg_shape(&x, dims, 0) || !tl__arg_shape(&w, dims, 1) || x.rank < 2 || w.rank != 3 || !positive(&x) ||
	    !positive(&w))
		return false;
	g->m = x.dim[0];
	g->k = x.dim[1];
	g->g = w.dim[0];
	if (w.dim[1] != g->k && w.dim[2] != g->k)
		return false;
	g->n = w.dim[1] == g->k ? w.dim[2] : w.dim[1];
	return true;
}

/* One pair of matrices a group; with `uniform` all groups share K and N. M is the sum of rows. */
static bool zipped(grouped *g, const pairs *a, const pairs *b, bool uniform)
{
	if (!a->n || a->n != b->n)
		return false;
	*g = (grouped){.k = a->v[0].cols, .n = b->v[0].cols, .g = (int64_t)a->n};
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].cols != b->v[i].rows || __builtin_add_overflow(g->m, a->v[i].rows, &g->m))
			return false;
		if (uniform && (a->v[i].cols != g->k || b->v[i].cols != g->n))
			return false;
	}
	return true;
}

static int collect_both(pairs *a, pairs *b, const tl_value *dims)
{
	TL_TRY(collect(a, tl__value_at(dims, 0)));
	return collect(b, tl__value_at(dims, 1));
}

/* Grouped GEMM: 2 M K N FLOPs, (M K + G K N) in + M N out bytes. */
int tl__model_grouped_gemm(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	grouped g = {0};
	(void)arena;
	if (!compact(&g, in->dims)) {
		pairs a = {0}, b = {0};
		int code = collect_both(&a, &b, in->dims);
		bool found = code == 0 && zipped(&g, &a, &b, true);
		TL_VEC_FREE(&a);
		TL_VEC_FREE(&b);
		TL_TRY(code);
		if (!found)
			return tl__perf_fail(out, groups);
	}
	sizes(&g, in);
	list(&g, in, out);
	double m = (double)g.m, k = (double)g.k, n = (double)g.n, count = (double)g.g;
	out->flops = tl__cost_int(tl__grouped_gemm_flops(m, k, n));
	out->bytes =
		tl__cost_if(g.bytes_in && g.bytes_out, tl__grouped_gemm_bytes(m, k, n, count, g.bytes_in, g.bytes_out));
	return 0;
}

static int pair_value(tl_value *out, tl_arena *arena, pair a, pair b)
{
	tl_value *both = tl__arena_alloc(arena, 2 * sizeof *both);
	if (!both)
		return TL_ENOMEM;
	TL_TRY(tl__value_ints(&both[0], arena, TL_V_TUPLE, (int64_t[]){a.rows, a.cols}, 2));
	TL_TRY(tl__value_ints(&both[1], arena, TL_V_TUPLE, (int64_t[]){b.rows, b.cols}, 2));
	*out = (tl_value){.kind = TL_V_TUPLE, .n = 2, .items = both};
	return 0;
}

/* Sum over groups of 2 M K N FLOPs and (M K + K N) in + M N out bytes. */
static int variable_k(const pairs *a, const pairs *b, const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	grouped g = {0};
	if (!zipped(&g, a, b, false))
		return tl__perf_fail(out, groups);
	sizes(&g, in);
	list(&g, in, out);
	double flops = 0, bytes = 0;
	tl_value *items = tl__arena_alloc(arena, a->n * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	for (size_t i = 0; i < a->n; i++) {
		double m = (double)a->v[i].rows, k = (double)a->v[i].cols, n = (double)b->v[i].cols;
		flops += tl__grouped_gemm_flops(m, k, n);
		bytes += tl__grouped_gemm_bytes(m, k, n, 1, g.bytes_in, g.bytes_out);
		TL_TRY(pair_value(&items[i], arena, a->v[i], b->v[i]));
	}
	tl__param(out, "group_pairs", (tl_value){.kind = TL_V_LIST, .n = (uint32_t)a->n, .items = items});
	out->flops = tl__cost_int(flops);
	out->bytes = tl__cost_if(g.bytes_in && g.bytes_out, bytes);
	return 0;
}

/*
 * Grouped GEMM with its own K in each group. [M,K] with [M,N] is charged as one product M K N: reference value [03-G11]
 * (it is a weight gradient).
 */
int tl__model_grouped_gemm_variable_k(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	tl_shape x, y;
	pairs a = {0}, b = {0};
	int code = 0;
	if (tl__arg_shape(&x, in->dims, 0) && tl__arg_shape(&y, in->dims, 1) && x.rank == 2 && y.rank == 2 &&
	    positive(&x) && positive(&y) && x.dim[0] == y.dim[0]) {
		code = TL_VEC_PUSH(&a, ((pair){x.dim[0], x.dim[1]}));
		if (code == 0)
			code = TL_VEC_PUSH(&b, ((pair){x.dim[1], y.dim[1]}));
	} else {
		code = collect_both(&a, &b, in->dims);
	}
	if (code == 0)
		code = variable_k(&a, &b, in, arena, out);
	TL_VEC_FREE(&a);
	TL_VEC_FREE(&b);
	return code;
}
