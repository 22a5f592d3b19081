/* SPDX-License-Identifier: MIT */
/*
 * Mixture of experts: M tokens of width K, each sent to k of E experts, whose two layers have N neurons. Weights are
 * read once an expert that is met at all: E (1 - (1 - k/E)^M) of them are expected to be.
 */
#include <math.h>
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/formulas.h"

/* ---- formulas ---- */

static double experts_met(const tl_moe *m)
{
	return m->experts * (1 - pow((m->experts - m->topk) / m->experts, m->tokens));
}

static double up_halves(const tl_moe *m)
{
	return m->gated ? 2 : 1;
}

/* First layer: 2 M K N k g FLOPs, g = 2 when gated, else 1. */
double tl__moe_up_flops(const tl_moe *m)
{
	return 2 * m->tokens * m->hidden * m->inter * m->topk * up_halves(m);
}

double tl__moe_up_bytes(const tl_moe *m)
{
	return m->tokens * m->hidden * m->size_in + experts_met(m) * up_halves(m) * m->hidden * m->inter * m->size_w +
	       m->tokens * m->inter * m->topk * m->size_out;
}

/* Second layer: 2 M N K k FLOPs. */
double tl__moe_down_flops(const tl_moe *m)
{
	return 2 * m->tokens * m->inter * m->hidden * m->topk;
}

double tl__moe_down_bytes(const tl_moe *m)
{
	return m->tokens * m->inter * m->topk * m->size_in + experts_met(m) * m->inter * m->hidden * m->size_w +
	       m->tokens * m->hidden * m->size_out;
}

/* Both layers and the sum over experts: 2 M K N k (g + 1) + M K (2 k - 1) FLOPs. */
double tl__moe_fused_flops(const tl_moe *m)
{
	return 2 * m->tokens * m->hidden * m->inter * m->topk * (up_halves(m) + 1) +
	       m->tokens * m->hidden * (2 * m->topk - 1);
}

double tl__moe_fused_bytes(const tl_moe *m)
{
	return m->tokens * m->hidden * m->size_in +
	       experts_met(m) * m->inter * m->hidden * m->size_w * (up_halves(m) + 1) +
	       m->tokens * m->hidden * m->size_out;
}

/* ---- what events tell ---- */

typedef struct moe {
	int64_t tokens, hidden, inter, experts, topk;
	bool gated;               /* the first layer has two halves, one gates the other */
	int64_t pack;             /* weight values in an element, as shapes tell */
	const char *in, *w, *out; /* dtypes; NULL: not told */
	double size_in, size_w, size_out;
	const char *precision;
} moe;

static const char no_shapes[] = "shapes of tokens, expert weights and choices are needed";
static const char no_topk[] = "the number of experts a token is not told";
static const char absurd[] = "sizes of tokens, experts and choices do not fit together";

/* ---- reading ---- */

/* a b, unless it is absurd. */
static bool times(int64_t *out, int64_t a, int64_t b)
{
	return !__builtin_mul_overflow(a, b, out) && *out >= 0 && *out <= TL_MAX_DIM;
}

static bool read_rank(tl_shape *out, const tl_perf_input *in, size_t index, size_t rank)
{
	return tl__arg_shape(out, in->dims, index) && out->rank >= rank;
}

/*
 * First layer [E, N or 2N, K/pack] and second [E, K, N/pack] in two slots. Packed weights (4-bit values) show in the
 * shapes only: the second layer's rows are as many as tokens are wide.
 */
static bool read_weights(moe *m, const tl_perf_input *in, size_t first, size_t second)
{
	tl_shape up, down;
	if (!read_rank(&up, in, first, 3) || !read_rank(&down, in, second, 3) || up.dim[2] <= 0)
		return false;
	m->experts = up.dim[0];
	m->hidden = down.dim[1];
	m->pack = m->hidden / up.dim[2];
	if (!times(&m->inter, down.dim[2], m->pack))
		return false;
	m->gated = up.dim[1] == 2 * m->inter;
	return true;
}

/*
 * Dtypes from slots; weights stored packed in a wider dtype (bytes, words) take their part of it. Sizes of unknown
 * dtypes are the usual ones of the kernel.
 */
static void set_types(moe *m, const char *in, const char *w, const char *out, double usual_in, double usual_w)
{
	double size = tl__dtype_bytes(w), value = tl__dtype_value_bytes(w);
	m->in = in;
	m->w = w;
	m->out = out;
	m->size_in = tl__dtype_value_bytes(in) > 0 ? tl__dtype_value_bytes(in) : usual_in;
	m->size_out = tl__dtype_value_bytes(out) > 0 ? tl__dtype_value_bytes(out) : 2;
	m->size_w = value <= 0 ? usual_w : value < size || m->pack <= 1 ? value : size / (double)m->pack;
}

/* ---- writing ---- */

static bool sensible(const moe *m)
{
	return m->experts > 0 && m->topk >= 0 && m->topk <= m->experts;
}

/* What the formulas need. */
static tl_moe sizes_of(const moe *m)
{
	return (tl_moe){(double)m->tokens, (double)m->hidden, (double)m->inter, (double)m->experts, (double)m->topk,
			m->gated,          m->size_in,        m->size_w,        m->size_out};
}

/* Parameters of the family: all but the grouped GEMM. `weight`: its dtype is listed. */
static int begin(const moe *m, bool gated, bool weight, bool output, tl_arena *arena, tl_perf_result *out)
{
	tl__perf_begin(out);
	tl__param_int(out, "num_tokens", m->tokens);
	tl__param_int(out, "hidden_dim", m->hidden);
	tl__param_int(out, "inter_dim", m->inter);
	tl__param_int(out, "num_experts", m->experts);
	tl__param_int(out, "topk", m->topk);
	if (gated)
		tl__param_bool(out, "gated", m->gated);
	TL_TRY(tl__param_text(out, arena, "input_dtype", m->in));
	if (weight)
		TL_TRY(tl__param_text(out, arena, "weight_dtype", m->w));
	if (output)
		TL_TRY(tl__param_text(out, arena, "output_dtype", m->out));
	out->maf = "matrix";
	out->precision = m->precision;
	return 0;
}

static void costs(const moe *m, double flops, double bytes, tl_perf_result *out)
{
	bool known = m->size_in > 0 && m->size_w > 0 && m->size_out > 0;
	out->flops = tl__cost_int(flops);
	out->bytes = known ? tl__cost_float(bytes) : tl__cost_unknown();
}

static void fused_costs(const moe *m, tl_perf_result *out)
{
	tl_moe s = sizes_of(m);
	costs(m, tl__moe_fused_flops(&s), tl__moe_fused_bytes(&s), out);
}

static void up_costs(const moe *m, tl_perf_result *out)
{
	tl_moe s = sizes_of(m);
	costs(m, tl__moe_up_flops(&s), tl__moe_up_bytes(&s), out);
}

static void down_costs(const moe *m, tl_perf_result *out)
{
	tl_moe s = sizes_of(m);
	costs(m, tl__moe_down_flops(&s), tl__moe_down_bytes(&s), out);
}

/* ---- both layers in one kernel ---- */

/* AITER's one-stage pseudo-operation and FlyDSL's two: tokens, both weights, choices [M, k]. */
static const char *read_aiter(moe *m, const tl_perf_input *in)
{
	tl_shape x, choices;
	*m = (moe){0};
	if (!read_rank(&x, in, 0, 1) || !read_weights(m, in, 1, 2) || !read_rank(&choices, in, 3, 2))
		return no_shapes;
	m->tokens = x.dim[0];
	m->topk = choices.dim[1];
	const char *type = tl__arg_text(in->types, 0);
	set_types(m, type, tl__arg_text(in->types, 1), type, 2, 1);
	return sensible(m) ? NULL : absurd;
}

int tl__model_moe_fused(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m;
	const char *why = read_aiter(&m, in);
	if (why)
		return tl__perf_fail(out, why);
	m.precision = tl__dtype_precision(m.in);
	TL_TRY(begin(&m, true, true, false, arena, out));
	fused_costs(&m, out);
	return 0;
}

/* aiter::fmoe_g1u1 and its block-scaled form: output, tokens, both weights; the choices' number in Concrete Inputs. */
int tl__model_moe_fmoe(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m = {0};
	tl_shape y;
	if (!read_rank(&y, in, 0, 1) || !read_weights(&m, in, 2, 3))
		return tl__perf_fail(out, no_shapes);
	if (!tl__to_int(tl__value_at(in->concrete, 8), &m.topk))
		return tl__perf_fail(out, no_topk);
	m.tokens = y.dim[0];
	set_types(&m, tl__arg_text(in->types, 1), tl__arg_text(in->types, 2), tl__arg_text(in->types, 0), 1, 1);
	if (!sensible(&m))
		return tl__perf_fail(out, absurd);
	m.precision = tl__dtype_precision(m.in);
	TL_TRY(begin(&m, true, true, true, arena, out));
	fused_costs(&m, out);
	return 0;
}

/* ---- one kernel a layer ---- */

static int flydsl(const tl_perf_input *in, bool up, tl_arena *arena, tl_perf_result *out)
{
	moe m;
	const char *why = read_aiter(&m, in);
	if (why)
		return tl__perf_fail(out, why);
	m.precision = tl__dtype_precision(m.w);
	TL_TRY(begin(&m, true, true, false, arena, out));
	if (up)
		up_costs(&m, out);
	else
		down_costs(&m, out);
	return 0;
}

int tl__model_moe_flydsl_up(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return flydsl(in, true, arena, out);
}

int tl__model_moe_flydsl_down(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	return flydsl(in, false, arena, out);
}

/* aiter::moe_cktile2stages_gemm1_ck: tokens [M, K], weights [E, N or 2N, K/pack], output [M, k, N]. */
int tl__model_moe_cktile_up(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m = {0};
	tl_shape x, w, y;
	if (!read_rank(&x, in, 0, 2) || !read_rank(&w, in, 1, 3) || !read_rank(&y, in, 2, 3))
		return tl__perf_fail(out, no_shapes);
	m.tokens = x.dim[0];
	m.hidden = x.dim[1];
	m.experts = w.dim[0];
	m.topk = y.dim[1];
	m.inter = y.dim[2];
	m.gated = w.dim[1] == 2 * m.inter;
	m.pack = w.dim[2] > 0 ? m.hidden / w.dim[2] : 1;
	set_types(&m, tl__arg_text(in->types, 0), tl__arg_text(in->types, 1), tl__arg_text(in->types, 2), 2, 1);
	if (!sensible(&m))
		return tl__perf_fail(out, absurd);
	m.precision = tl__dtype_precision(m.in);
	TL_TRY(begin(&m, true, true, true, arena, out));
	up_costs(&m, out);
	return 0;
}

/* aiter::moe_cktile2stages_gemm2_ck: [M, k, N], weights [E, K, N/pack]. */
int tl__model_moe_cktile_down(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m = {0};
	tl_shape x, w;
	if (!read_rank(&x, in, 0, 3) || !read_rank(&w, in, 1, 3))
		return tl__perf_fail(out, no_shapes);
	m.tokens = x.dim[0];
	m.topk = x.dim[1];
	m.inter = x.dim[2];
	m.experts = w.dim[0];
	m.hidden = w.dim[1];
	m.pack = w.dim[2] > 0 ? m.inter / w.dim[2] : 1;
	set_types(&m, tl__arg_text(in->types, 0), tl__arg_text(in->types, 1), tl__arg_text(in->types, 2), 2, 1);
	if (!sensible(&m))
		return tl__perf_fail(out, absurd);
	m.precision = tl__dtype_precision(m.in);
	TL_TRY(begin(&m, false, true, true, arena, out));
	down_costs(&m, out);
	return 0;
}

/* aiter::ck_moe_stage1: tokens, both weights, output [M, k, N] in slot 6. */
int tl__model_moe_ck_up(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m = {0};
	tl_shape x, y;
	if (!read_rank(&x, in, 0, 1) || !read_weights(&m, in, 1, 2) || !read_rank(&y, in, 6, 2))
		return tl__perf_fail(out, no_shapes);
	m.tokens = x.dim[0];
	m.topk = y.dim[1];
	const char *type = tl__arg_text(in->types, 0);
	set_types(&m, type, tl__arg_text(in->types, 1), type, 2, 1);
	if (!sensible(&m))
		return tl__perf_fail(out, absurd);
	m.precision = tl__dtype_precision(m.in);
	TL_TRY(begin(&m, true, true, false, arena, out));
	up_costs(&m, out);
	return 0;
}

/* aiter::ck_moe_stage2: [M, k, N/pack], both weights. */
int tl__model_moe_ck_down(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m = {0};
	tl_shape x, up, down;
	if (!read_rank(&x, in, 0, 3) || !read_rank(&up, in, 1, 3) || !read_rank(&down, in, 2, 2) || up.dim[2] <= 0)
		return tl__perf_fail(out, no_shapes);
	m.tokens = x.dim[0];
	m.topk = x.dim[1];
	m.experts = down.dim[0];
	m.hidden = down.dim[1];
	m.pack = m.hidden / up.dim[2];
	const char *type = tl__arg_text(in->types, 0);
	set_types(&m, type, tl__arg_text(in->types, 2), type, 2, 1);
	if (!times(&m.inter, x.dim[2], m.pack) || !sensible(&m))
		return tl__perf_fail(out, absurd);
	m.precision = tl__dtype_precision(m.in);
	TL_TRY(begin(&m, false, true, false, arena, out));
	down_costs(&m, out);
	return 0;
}

/* ---- pseudo-operations: what shapes do not tell is attached to them ---- */

static bool read_topk(moe *m, const tl_perf_input *in)
{
	return tl__to_int(tl__value_get(in->extras, "MoE topk"), &m->topk);
}

static bool read_gated(const tl_perf_input *in, bool otherwise)
{
	const tl_value *gated = tl__value_get(in->extras, "MoE GEMM gated");
	return gated ? tl__to_bool(gated) : otherwise;
}

/* Whether a kernel's name has the word, case ignored. */
static bool has_word(const char *name, const char *word)
{
	return name && strcasestr(name, word);
}

/*
 * Triton's matmul_ogs: tokens [M, K], router's scores [M, E]. Nothing tells the inner size: it is taken to be that of
 * the tokens [07-6]. The weights' dtype is in the kernel's name, else it is the tokens' [07-20].
 */
static const char *read_triton(moe *m, const tl_perf_input *in)
{
	tl_shape x, scores;
	*m = (moe){.pack = 1};
	if (!read_rank(&x, in, 0, 2) || !read_rank(&scores, in, 1, 2) || tl__value_count(in->types) < 2)
		return no_shapes;
	if (!read_topk(m, in))
		return no_topk;
	m->tokens = x.dim[0];
	m->hidden = m->inter = x.dim[1];
	m->experts = scores.dim[1];
	m->gated = read_gated(in, false);
	const char *kernel = in->n_kernels ? in->kernels[0] : NULL, *type = tl__arg_text(in->types, 0);
	const char *w = has_word(kernel, "fp4")                               ? "FP4"
			: has_word(kernel, "fp8") || has_word(kernel, "e4m3") ? "FP8"
									      : type;
	set_types(m, type, w, type, 0, 0);
	if (m->size_in <= 0)
		m->size_out = 0; /* as wide as the unknown input */
	m->precision = tl__dtype_precision(w);
	return sensible(m) ? NULL : absurd;
}

int tl__model_moe_triton_up(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m;
	const char *why = read_triton(&m, in);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(begin(&m, true, true, false, arena, out));
	up_costs(&m, out);
	return 0;
}

int tl__model_moe_triton_down(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m;
	const char *why = read_triton(&m, in);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(begin(&m, true, true, false, arena, out));
	down_costs(&m, out);
	return 0;
}

/* 4-bit weights (GPTQ, AWQ): tokens [M, K], first layer [E, N or 2N, ...], second [E, K, N/2]. */
static const char *read_4bit(moe *m, const tl_perf_input *in, size_t weight)
{
	tl_shape x, w;
	*m = (moe){.pack = 1};
	if (!read_rank(&x, in, 0, 2) || !read_rank(&w, in, weight, weight == 1 ? 2 : 3))
		return no_shapes;
	if (!read_topk(m, in))
		return no_topk;
	m->tokens = x.dim[0];
	m->hidden = x.dim[1];
	m->experts = w.dim[0];
	m->gated = read_gated(in, true);
	m->inter = weight == 2 ? 2 * w.dim[2] : m->gated ? w.dim[1] / 2 : w.dim[1];
	const char *type = tl__arg_text(in->types, 0);
	set_types(m, type, NULL, type, 2, 0.5);
	m->precision = tl__dtype_precision(type);
	return sensible(m) ? NULL : absurd;
}

int tl__model_moe_4bit_up(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m;
	const char *why = read_4bit(&m, in, 1);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(begin(&m, true, false, false, arena, out));
	up_costs(&m, out);
	return 0;
}

int tl__model_moe_4bit_down(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m;
	const char *why = read_4bit(&m, in, 2);
	if (why)
		return tl__perf_fail(out, why);
	TL_TRY(begin(&m, false, false, false, arena, out));
	down_costs(&m, out);
	return 0;
}

/* ---- any layer: SGLang's grouped GEMM ---- */

/* Weights [E, N, K] in slot 1, choices [M, k] in slot 8: 2 M k N K FLOPs, rows of input and output once a choice. */
int tl__model_moe_grouped(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	moe m = {.pack = 1};
	tl_shape w, choices;
	int64_t rows;
	if (!tl__arg_shape(&w, in->dims, 1) || !tl__arg_shape(&choices, in->dims, 8) || w.rank != 3 ||
	    choices.rank != 2)
		return tl__perf_fail(out, no_shapes);
	m.tokens = choices.dim[0];
	m.topk = choices.dim[1];
	m.experts = w.dim[0];
	const char *type = tl__arg_text(in->types, 0), *output = tl__arg_text(in->types, 3);
	set_types(&m, type, tl__arg_text(in->types, 1), output && *output ? output : type, 2, 1);
	if (!times(&rows, m.tokens, m.topk) || !sensible(&m))
		return tl__perf_fail(out, absurd);
	tl__perf_begin(out);
	tl__param_int(out, "m_work", rows);
	tl__param_int(out, "num_tokens", m.tokens);
	tl__param_int(out, "topk", m.topk);
	tl__param_int(out, "N", w.dim[1]);
	tl__param_int(out, "K", w.dim[2]);
	tl__param_int(out, "num_experts", m.experts);
	TL_TRY(tl__param_text(out, arena, "input_dtype", m.in));
	TL_TRY(tl__param_text(out, arena, "weight_dtype", m.w));
	TL_TRY(tl__param_text(out, arena, "output_dtype", m.out));
	out->maf = "matrix";
	out->precision = tl__dtype_precision(m.w);
	tl_moe sizes = sizes_of(&m);
	double r = (double)rows, n = (double)w.dim[1], k = (double)w.dim[2];
	costs(&m, 2 * r * n * k, r * k * m.size_in + experts_met(&sizes) * n * k * m.size_w + r * n * m.size_out, out);
	return 0;
}
