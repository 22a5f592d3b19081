/* SPDX-License-Identifier: MIT */
/* Mixture-of-experts layers: each GEMM among the kernels of a layer becomes an operation with the layer's arguments. */
#include <stdio.h>
#include <string.h>

#include "tree/build.h"
#include "tree/pseudo.h"
#include "util/sort.h"
#include "util/value.h"

/* What is taken when a layer does not say how many experts a token goes to ([07-6]: marked as an estimate). */
enum { DEFAULT_TOPK_TRITON = 4, DEFAULT_TOPK_GPTQ = 8 };
/* The operation that chooses the experts is looked for so many levels below a layer. */
enum { TOPK_LEVELS = 4 };

/* An operation around GPU events of one launch of a layer. */
static int isolate(tl_pseudo *p, tl_row *out, tl_pos layer, const char *name, const tl_row *gpu, size_t n, bool *made)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = p->tree->row[layer];
	TL_TRY(tl__pseudo_done(p, layer, tl_edit_isolate(p->edit, out, name, gpu, n, &err), &err, made));
	return *made ? tl__pseudo_dress(p, *out, row, row) : 0;
}

/* ---- AITER, one kernel for the whole layer ---- */

/* Below the layer, not counting what is below nodes without GPU work. */
static bool has_operation_below(const tl_pseudo *p, tl_pos layer)
{
	const tl_tree *t = p->tree;
	for (tl_pos pos = layer + 1; pos < t->end[layer];) {
		if (p->store->kind[t->row[pos]] == TL_KIND_CPU_OP)
			return true;
		pos = tl__tree_gpu_count(t, pos) ? pos + 1 : t->end[pos];
	}
	return false;
}

int tl__pseudo_moe_aiter(tl_pseudo *p)
{
	const tl_tree *t = p->tree;
	tl_numbers layers = {0}, kernels = {0};
	int code = tl__pseudo_find(&layers, p, TL_KIND_CPU_OP, TL_PN_AITER_FUSED_MOE);
	if (code == 0)
		code = tl__pseudo_find_gpu(&kernels, p, true, TL_PN_AITER_KERNEL);
	for (size_t i = 0; i < layers.n && code == 0; i++) {
		tl_pos layer = layers.v[i];
		if (has_operation_below(p, layer)) /* which has a model of its own */
			continue;
		size_t first = tl__pseudo_from(&kernels, t->gpu_before[layer]);
		size_t n = tl__pseudo_from(&kernels, t->gpu_before[t->end[layer]]) - first;
		tl_row made;
		bool done;
		if (!tl__tree_gpu_count(t, layer))
			tl__pseudo_skip(p, layer, "no GPU events");
		else if (n != 1)
			tl__pseudo_skip(p, layer, "%zu kernels look like the fused one, not 1", n);
		else
			code = isolate(p, &made, layer, "pseudo_op::moe_aiter_fused_1stage", &t->gpu[kernels.v[first]],
				       1, &done);
	}
	TL_VEC_FREE(&layers);
	TL_VEC_FREE(&kernels);
	return code;
}

/* ---- layers of several GEMMs ---- */

/* A layer whose first GEMM leads up into the experts and whose others lead down. */
typedef struct layer {
	tl_pos pos;
	const char *up, *down; /* names */
	int64_t topk;
	bool topk_guessed;
	bool up_gated, down_gated; /* when it does not depend on the kernel */
	bool gated_by_kernel;
	const char *estimated_more; /* further estimates, `, "x"`, or "" */
} layer;

static bool starts_first(const void *store, uint32_t a, uint32_t b)
{
	return tl__starts_before(store, a, b);
}

static int dress_gemm(tl_pseudo *p, const layer *l, tl_row made, uint32_t index, tl_row kernel)
{
	bool gated = index ? l->down_gated : l->up_gated;
	char text[96];
	if (l->gated_by_kernel)
		gated = tl__pseudo_is(p, kernel, TL_PN_GLU);
	TL_TRY(tl_edit_set_arg(p->edit, made, "MoE GEMM type", index ? "\"down\"" : "\"up\"", NULL));
	TL_TRY(tl__pseudo_set_number(p, made, "MoE GEMM index", index));
	TL_TRY(tl_edit_set_arg(p->edit, made, "MoE GEMM gated", gated ? "true" : "false", NULL));
	TL_TRY(tl__pseudo_set_number(p, made, "MoE topk", l->topk));
	snprintf(text, sizeof text, "[%s%s]", l->topk_guessed ? "\"topk\"" : "",
		 l->topk_guessed || !*l->estimated_more ? l->estimated_more : l->estimated_more + 1);
	return strcmp(text, "[]") != 0 ? tl_edit_set_arg(p->edit, made, "estimated", text, NULL) : 0;
}

/* Kernels of a layer by launch: group g is members[first[g], first[g + 1]), in the order of their first kernels. */
typedef struct groups {
	uint32_t n;
	uint32_t *of;    /* of each kernel */
	uint32_t *first; /* n + 1 */
	tl_row *members;
} groups;

static int group_by_launch(const tl_pseudo *p, groups *g, const tl_row *rows, size_t n)
{
	const tl_tree *t = p->tree;
	tl_map known = {0};
	int code = 0;
	g->of = tl__malloc((n + 1) * sizeof *g->of);
	g->first = tl__calloc(n + 2, sizeof *g->first);
	g->members = tl__malloc((n + 1) * sizeof *g->members);
	if (!g->of || !g->first || !g->members)
		return TL_ENOMEM;
	for (size_t i = 0; i < n && code == 0; i++) {
		g->of[i] = tl__map_get_or_set(&known, t->parent[t->pos_of_row[rows[i]]], g->n);
		if (g->of[i] == TL_MAP_NONE)
			code = TL_ENOMEM;
		else
			g->first[g->of[i] + 2]++;
		g->n += g->of[i] == g->n;
	}
	tl__map_free(&known);
	/* Counts stand two places ahead, so that filling moves each start to where the next group's belongs. */
	for (size_t i = 2; i < n + 2 && code == 0; i++)
		g->first[i] += g->first[i - 1];
	for (size_t i = 0; i < n && code == 0; i++)
		g->members[g->first[g->of[i] + 1]++] = rows[i];
	return code;
}

/* One operation a launch, however many of its kernels are GEMMs [07-5]. `rows`: the layer's GEMM kernels, by start.
 */
static int make_gemms(tl_pseudo *p, const layer *l, const tl_row *rows, size_t n)
{
	groups g = {0};
	int code = group_by_launch(p, &g, rows, n);
	for (uint32_t i = 0; i < g.n && code == 0; i++) {
		const tl_row *members = g.members + g.first[i];
		tl_row made;
		bool done;
		code = isolate(p, &made, l->pos, i ? l->down : l->up, members, g.first[i + 1] - g.first[i], &done);
		if (code == 0 && done)
			code = dress_gemm(p, l, made, i, members[0]);
	}
	tl__free(g.of);
	tl__free(g.first);
	tl__free(g.members);
	return code;
}

/* The kernels of `found` below a layer, by start, are given to make_gemms. Sets *n to their number. */
static int make_layer(tl_pseudo *p, const layer *l, const tl_numbers *found, size_t *n)
{
	const tl_tree *t = p->tree;
	size_t first = tl__pseudo_from(found, t->gpu_before[l->pos]);
	*n = tl__pseudo_from(found, t->gpu_before[t->end[l->pos]]) - first;
	tl_row *rows = tl__malloc((*n + 1) * sizeof *rows);
	if (!rows)
		return TL_ENOMEM;
	for (size_t i = 0; i < *n; i++)
		rows[i] = t->gpu[found->v[first + i]];
	int code = tl__sort(rows, *n, starts_first, p->store);
	if (code == 0 && *n)
		code = make_gemms(p, l, rows, *n);
	tl__free(rows);
	return code;
}

/* ---- Triton (matmul_ogs) ---- */

/* An integer as JSON has it, or as the text of one: arguments of operations are texts. */
static bool whole_number(const tl_value *value, int64_t *out)
{
	const char *text = tl__value_text(value);
	int used = 0;
	long long number;
	if (!text)
		return tl__value_int(value, out);
	if (sscanf(text, "%lld%n", &number, &used) != 1 || text[used])
		return false;
	*out = number;
	return true;
}

/* Item `second` of item `first` of an argument (`second` < 0: item `first` itself) as an integer; false: there is none.
 */
static int number_in(tl_pseudo *p, tl_row row, const char *key, size_t first, int second, int64_t *out, bool *found)
{
	const char *text;
	tl_arena arena = {0};
	const tl_value *value = NULL;
	*found = false;
	TL_TRY(tl_edit_arg(&text, p->edit, row, key));
	int code = text ? tl__value_parse(&arena, text, strlen(text), false, &value) : TL_EFORMAT;
	if (code == 0) {
		const tl_value *item = tl__value_at(value, first);
		if (second >= 0)
			item = tl__value_at(item, (size_t)second);
		*found = whole_number(item, out);
	}
	tl__arena_free(&arena);
	return code == TL_ENOMEM ? code : 0;
}

/* Number of experts a token goes to: argument 1 of the first TopK operation at most TOPK_LEVELS below the layer. */
static int find_topk(tl_pseudo *p, const tl_numbers *topks, layer *l)
{
	const tl_tree *t = p->tree;
	for (size_t i = tl__pseudo_from(topks, l->pos + 1); i < topks->n && topks->v[i] < t->end[l->pos]; i++) {
		tl_pos up = topks->v[i];
		int levels = 0;
		bool found;
		while (up != l->pos && levels <= TOPK_LEVELS) {
			up = t->parent[up];
			levels++;
		}
		if (levels > TOPK_LEVELS)
			continue;
		TL_TRY(number_in(p, t->row[topks->v[i]], "Concrete Inputs", 1, -1, &l->topk, &found));
		if (found) {
			l->topk_guessed = false;
			return 0;
		}
	}
	l->topk = DEFAULT_TOPK_TRITON;
	l->topk_guessed = true;
	return 0;
}

/* The kernel that brings the results of the experts together again, when there is exactly one. */
static int make_finalize(tl_pseudo *p, tl_pos pos, const tl_numbers *scatters)
{
	const tl_tree *t = p->tree;
	size_t first = tl__pseudo_from(scatters, t->gpu_before[pos]);
	size_t n = tl__pseudo_from(scatters, t->gpu_before[t->end[pos]]) - first;
	tl_row made;
	bool done;
	if (n > 1)
		tl__pseudo_skip(p, pos, "%zu GPU events look like matmul_scatter, not 1", n);
	if (n != 1)
		return 0;
	TL_TRY(isolate(p, &made, pos, "pseudo_op::moe_triton_unfused_finalize_matmul_scatter",
		       &t->gpu[scatters->v[first]], 1, &done));
	return done ? tl_edit_set_arg(p->edit, made, "MoE GEMM type", "\"finalize_matmul_scatter\"", NULL) : 0;
}

static int triton_layers(tl_pseudo *p, const tl_numbers *layers, const tl_numbers *topks, const tl_numbers *gemms,
			 const tl_numbers *scatters)
{
	for (size_t i = 0; i < layers->n; i++) {
		layer l = {.pos = layers->v[i],
			   .up = "pseudo_op::moe_triton_unfused_up",
			   .down = "pseudo_op::moe_triton_unfused_down",
			   .gated_by_kernel = true,
			   .estimated_more = ",\"inter_dim\""}; /* taken as wide as the hidden state */
		size_t n;
		TL_TRY(find_topk(p, topks, &l));
		TL_TRY(make_layer(p, &l, gemms, &n));
		if (!n)
			tl__pseudo_skip(p, l.pos, "no matmul_ogs kernels");
		else
			TL_TRY(make_finalize(p, l.pos, scatters));
	}
	return 0;
}

int tl__pseudo_moe_triton(tl_pseudo *p)
{
	tl_numbers layers = {0}, topks = {0}, gemms = {0}, scatters = {0};
	int code = tl__pseudo_find_outermost(&layers, p, TL_KIND_CPU_OP, TL_PN_MOE_FORWARD);
	if (code == 0)
		code = tl__pseudo_find(&topks, p, TL_KIND_CPU_OP, TL_PN_TOPK);
	if (code == 0)
		code = tl__pseudo_find_gpu(&gemms, p, true, TL_PN_MATMUL_OGS);
	if (code == 0)
		code = tl__pseudo_find_gpu(&scatters, p, false, TL_PN_MATMUL_SCATTER);
	if (code == 0)
		code = triton_layers(p, &layers, &topks, &gemms, &scatters);
	TL_VEC_FREE(&layers);
	TL_VEC_FREE(&topks);
	TL_VEC_FREE(&gemms);
	TL_VEC_FREE(&scatters);
	return code;
}

/* ---- GPTQ and AWQ ---- */

static int gptq_layers(tl_pseudo *p, const tl_numbers *layers, const tl_numbers *gemms)
{
	for (size_t i = 0; i < layers->n; i++) {
		layer l = {.pos = layers->v[i],
			   .up = "pseudo_op::moe_gptq_awq_up",
			   .down = "pseudo_op::moe_gptq_awq_down",
			   .up_gated = true,
			   .estimated_more = ""};
		size_t n;
		bool found;
		TL_TRY(number_in(p, p->tree->row[l.pos], "Input Dims", 4, 1, &l.topk, &found));
		if (!found) {
			l.topk = DEFAULT_TOPK_GPTQ;
			l.topk_guessed = true;
		}
		TL_TRY(make_layer(p, &l, gemms, &n));
		if (n != 2)
			tl__pseudo_skip(p, l.pos,
					n ? "%zu GEMM kernels instead of 2; all but the first count as down"
					  : "%zu GEMM kernels",
					n);
	}
	return 0;
}

int tl__pseudo_moe_gptq(tl_pseudo *p)
{
	tl_numbers layers = {0}, gemms = {0};
	int code = tl__pseudo_find_outermost(&layers, p, TL_KIND_CPU_OP, TL_PN_FUSED_EXPERTS);
	if (code == 0)
		code = tl__pseudo_find_gpu(&gemms, p, true, TL_PN_GPTQ_AWQ);
	if (code == 0)
		code = gptq_layers(p, &layers, &gemms);
	TL_VEC_FREE(&layers);
	TL_VEC_FREE(&gemms);
	return code;
}

/* ---- flydsl: two stages, each a Python function ---- */

static int flydsl_stage(tl_pseudo *p, const tl_pos *operation, uint32_t names, const char *name, const char *stage)
{
	const tl_tree *t = p->tree;
	tl_numbers frames = {0};
	int code = tl__pseudo_find_outermost(&frames, p, TL_KIND_PYTHON, names);
	for (size_t i = 0; i < frames.n && code == 0; i++) {
		tl_error err = TL_ERROR_INIT;
		tl_pos frame = frames.v[i], donor = operation[frame];
		tl_row made;
		bool done;
		if (donor == TL_POS_NONE) /* the same function serves other layers */
			continue;
		code = tl_edit_insert_above(p->edit, &made, name, t->row[frame], &err);
		code = tl__pseudo_done(p, frame, code, &err, &done);
		if (code == 0 && done)
			code = tl__pseudo_dress(p, made, t->row[donor], t->row[donor]);
		if (code == 0 && done)
			code = tl_edit_set_arg(p->edit, made, "MoE flydsl stage", stage, NULL);
	}
	TL_VEC_FREE(&frames);
	return code;
}

int tl__pseudo_moe_flydsl(tl_pseudo *p)
{
	tl_pos *operation = tl__pseudo_nearest_above(p, TL_PN_AITER_MOE);
	int code = operation ? 0 : TL_ENOMEM;
	if (code == 0)
		code = flydsl_stage(p, operation, TL_PN_FLYDSL_STAGE1, "pseudo_op::moe_flydsl_stage1",
				    "\"flydsl_moe_stage1\"");
	if (code == 0)
		code = flydsl_stage(p, operation, TL_PN_FLYDSL_STAGE2, "pseudo_op::moe_flydsl_stage2",
				    "\"flydsl_moe_stage2\"");
	tl__free(operation);
	return code;
}
