/* SPDX-License-Identifier: MIT */
/* Compiled Triton kernels, from their names and the arguments of the launching event. */
#include "perf/triton.h"

#include <ctype.h>
#include <string.h>

#include "perf/args.h"
#include "perf/families.h"
#include "perf/triton_cache.h"

/* ---- names ---- */

/* The "<ops>" of "triton_(poi|red|per)_fused_<ops>_<number>"; false when the name is something else. */
static bool fused_part(const char **start, const char **end, const char *kernel)
{
	static const char *const kinds[] = {"triton_poi_fused_", "triton_red_fused_", "triton_per_fused_"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i]);
		if (strncmp(kernel, kinds[i], n))
			continue;
		const char *last = strrchr(kernel + n, '_');
		if (!last || last == kernel + n || !last[1] || last[1 + strspn(last + 1, "0123456789")])
			return false;
		*start = kernel + n;
		*end = last;
		return true;
	}
	return false;
}

/*
 * Segments the tokens between underscores into known names. Walking back from the end, the longest last name is
 * taken whose rest can be segmented, too. A name may begin or end with an underscore: an empty token.
 */
size_t tl__triton_ops(tl_triton_op *out, size_t room, const char *kernel)
{
	const char *start, *end, *token[TL_TRITON_MAX_TOKENS + 1];
	uint16_t first[TL_TRITON_MAX_TOKENS + 1]; /* first token of the last name, for each reachable end */
	bool reachable[TL_TRITON_MAX_TOKENS + 1] = {true};
	enum { LONGEST = 12 }; /* tokens of a name */
	size_t n = 0, count = 0;

	if (!kernel || !fused_part(&start, &end, kernel))
		return 0;
	token[n++] = start;
	for (const char *p = start; p < end; p++) {
		if (*p != '_')
			continue;
		if (n == TL_TRITON_MAX_TOKENS)
			return 0;
		token[n++] = p + 1;
	}
	token[n] = end + 1; /* where a further token would begin */
	for (size_t i = 1; i <= n; i++)
		for (size_t j = i > LONGEST ? i - LONGEST : 0; j < i && !reachable[i]; j++)
			if (reachable[j] && tl__aten_op_known(token[j], (size_t)(token[i] - 1 - token[j]))) {
				reachable[i] = true;
				first[i] = (uint16_t)j;
			}
	if (!reachable[n])
		return 0;
	for (size_t i = n; i; i = first[i])
		count++;
	size_t at = count;
	for (size_t i = n; i; i = first[i])
		if (--at < room)
			out[at] = (tl_triton_op){token[first[i]], (size_t)(token[i] - 1 - token[first[i]])};
	return count;
}

/* FLOPs an element; operations that are not listed cost nothing (reference value [03-T4]). */
int tl__triton_op_cost(const char *name, size_t n)
{
	static const struct {
		const char *name;
		int cost;
	} costs[] = {
		{"add", 1}, {"sub", 1}, {"mul", 1},     {"div", 1},   {"relu", 1}, {"mean", 1},
		{"sum", 1}, {"abs", 1}, {"neg", 1},     {"ne", 1},    {"eq", 1},   {"lt", 1},
		{"gt", 1},  {"pow", 2}, {"sqrt", 2},    {"rsqrt", 2}, {"var", 2},  {"reciprocal", 2},
		{"exp", 4}, {"log", 4}, {"sigmoid", 4}, {"tanh", 4},  {"silu", 4}, {"gelu", 8},
	};
	for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
		if (strlen(costs[i].name) == n && !memcmp(costs[i].name, name, n))
			return costs[i].cost;
	return 0;
}

/* ---- the model ---- */

/* Sizes as the reference looks them up: by names that traces use only in part (reference value [03-T1]). */
static int pointer_bytes(const char *type)
{
	static const struct {
		const char *name;
		int bytes;
	} sizes[] = {
		{"c10::BFloat16", 2}, {"c10::Half", 2}, {"c10::Float", 4}, {"c10::Double", 8},
		{"c10::Byte", 1},     {"c10::Char", 1}, {"c10::Int", 4},   {"c10::Long", 8},
	};
	for (size_t i = 0; type && i < sizeof sizes / sizeof *sizes; i++)
		if (!strcmp(sizes[i].name, type))
			return sizes[i].bytes;
	return 0;
}

/* Words after "::" in lower case, of the first tensor of known size: "bfloat16" (reference value [03-T3]). */
static int precision_word(const char **out, const char *type, tl_arena *arena)
{
	const char *word = strstr(type, "::");
	word = word ? word + 2 : type;
	char *copy = tl__arena_strndup(arena, word, strlen(word));
	if (!copy)
		return TL_ENOMEM;
	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	*out = copy;
	return 0;
}

static int list_ops(tl_perf_result *out, double *per_element, const char *kernel, tl_arena *arena)
{
	size_t n = tl__triton_ops(NULL, 0, kernel);
	tl_triton_op *ops = tl__arena_alloc(arena, n * sizeof *ops);
	char *text = tl__arena_alloc(arena, strlen(kernel) + n * 8 + 1), *p = text;
	if (!ops || !text)
		return TL_ENOMEM;
	tl__triton_ops(ops, n, kernel);
	*per_element = 0;
	for (size_t i = 0; i < n; i++) {
		*per_element += tl__triton_op_cost(ops[i].name, ops[i].n);
		memcpy(p, i ? ", aten." : "aten.", i ? 7 : 5);
		p += i ? 7 : 5;
		memcpy(p, ops[i].name, ops[i].n);
		p += ops[i].n;
	}
	*p = '\0';
	tl__param(out, "fused_ops", TL_VALUE_STRING(text, p - text));
	return 0;
}

static const char negative_size[] = "a kernel's size is negative";

/* From what Inductor wrote about the kernel; reductions write their last tensor once a row. */
static int model_compiled(const tl_triton_kernel *kernel, tl_perf_result *out)
{
	double x = (double)kernel->xnumel, r = (double)kernel->rnumel;
	if (kernel->xnumel < 0 || kernel->rnumel < 0)
		return tl__perf_fail(out, negative_size);
	double all_but_last = kernel->bytes - kernel->last_bytes, bytes;
	if (kernel->rnumel > 1)
		bytes = all_but_last * x * r + kernel->last_bytes * x;
	else
		bytes = (kernel->bytes + kernel->in_out_bytes) * x;
	tl__perf_begin(out);
	tl__param(out, "fused_ops", TL_VALUE_STRING(kernel->ops, strlen(kernel->ops)));
	tl__param_int(out, "xnumel", kernel->xnumel);
	tl__param_int(out, "rnumel", kernel->rnumel);
	out->flops = tl__cost_float(kernel->cost * x * r);
	out->bytes = tl__cost_float(bytes);
	out->maf = "vector";
	out->precision = kernel->precision;
	return 0;
}

/* Without arguments in the trace, the files of the Inductor cache may know the kernel. */
static int model_without_args(const tl_perf_input *in, tl_perf_result *out)
{
	return in->compiled ? model_compiled(in->compiled, out) : tl__perf_not_modelled(out);
}

/*
 * FLOPs = sum of the operations' costs times xnumel times rnumel; bytes = all tensors once, and for pointwise kernels
 * the first one once more (reference value [03-T2]). The last scalars are the sizes [03-T5].
 */
int tl__model_triton(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)
{
	size_t scalars = 0, n = tl__value_count(in->concrete);
	int64_t last[2] = {0, 0}; /* last but one, last */
	const char *name = in->name ? in->name : "";

	if (!n || !tl__value_count(in->dims) || !tl__value_count(in->types))
		return model_without_args(in, out);
	for (size_t i = 0; i < n; i++) {
		const tl_value *v = &in->concrete->items[i];
		int64_t number;
		if (v->kind == TL_V_BOOL || v->kind == TL_V_DOUBLE || !tl__to_int(v, &number))
			continue;
		last[0] = last[1];
		last[1] = number;
		scalars++;
	}
	if (!scalars)
		return model_without_args(in, out);
	bool pointwise = !strncmp(name, "triton_poi_", 11), two = !pointwise && scalars >= 2;
	int64_t xnumel = two ? last[0] : last[1], rnumel = two ? last[1] : 1;
	if (xnumel < 0 || rnumel < 0)
		return tl__perf_fail(out, negative_size);

	double bytes = 0, per_element;
	int first_size = -1;
	size_t pairs = tl__value_count(in->dims), n_types = tl__value_count(in->types);
	tl__perf_begin(out);
	for (size_t i = 0; i < pairs && i < n_types; i++) {
		tl_shape shape;
		const char *type = tl__arg_text(in->types, i);
		if (!type || !strcmp(type, "Scalar") || !tl__arg_given(in->dims, i))
			continue;
		if (!tl__arg_shape(&shape, in->dims, i))
			return tl__perf_fail(out, "a tensor's shape makes no sense");
		int size = pointer_bytes(type);
		if (first_size < 0)
			first_size = size;
		bytes += tl__shape_volume(&shape, 0) * size;
		if (size && !out->precision)
			TL_TRY(precision_word(&out->precision, type, arena));
	}
	if (pointwise && first_size > 0)
		bytes += first_size * (double)xnumel;
	TL_TRY(list_ops(out, &per_element, name, arena));
	tl__param_int(out, "xnumel", xnumel);
	tl__param_int(out, "rnumel", rnumel);
	out->flops = tl__cost_float(per_element * (double)xnumel * (double)rnumel);
	out->bytes = tl__cost_float(bytes);
	out->maf = "vector";
	return 0;
}
