/* SPDX-License-Identifier: MIT */
#include "tree/pseudo.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/trace.h"
#include "util/buf.h"

/* ---- what names mean ---- */

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static bool has_in_any_case(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, size_t n, const char *with)
{
	size_t m = strlen(with);
	return n >= m && !memcmp(text + n - m, with, m);
}

/* Behind "(123):" at p, or NULL. */
static const char *line_number(const char *p)
{
	if (*p != '(' || !isdigit((unsigned char)p[1]))
		return NULL;
	for (p++; isdigit((unsigned char)*p); p++)
		;
	return p[0] == ')' && p[1] == ':' ? p + 2 : NULL;
}

/* A Python frame: "<file>(<line>):", then blanks when they are allowed, then `function` (as a whole word: `word`). */
static bool is_frame(const char *name, const char *file, const char *function, bool word)
{
	for (const char *p = name; (p = strstr(p, file)) != NULL; p++) {
		const char *q = line_number(p + strlen(file));
		while (q && isspace((unsigned char)*q))
			q++;
		if (!q || !starts(q, function))
			continue;
		char next = q[strlen(function)];
		if (!word || !(isalnum((unsigned char)next) || next == '_'))
			return true;
	}
	return false;
}

/* ": mla_fp8_prefill_attn", any file. */
static bool is_prefill_frame(const char *name)
{
	static const char function[] = "mla_fp8_prefill_attn";
	for (const char *p = name; (p = strchr(p, ':')) != NULL;) {
		for (p++; isspace((unsigned char)*p); p++)
			;
		char next = starts(p, function) ? p[sizeof function - 1] : '_';
		if (!(isalnum((unsigned char)next) || next == '_'))
			return true;
	}
	return false;
}

/* "sglang_profiler::<text>_<digits>": the profiler numbers the operations it wraps. Length without the number, or 0. */
static size_t length_without_number(const char *name, size_t n)
{
	static const char prefix[] = "sglang_profiler::";
	size_t end = n, first = sizeof prefix - 1;
	if (!starts(name, prefix))
		return 0;
	while (end > first && isdigit((unsigned char)name[end - 1]))
		end--;
	return end < n && end > first + 1 && name[end - 1] == '_' ? end - 1 : 0;
}

static const struct {
	const char *name;
	uint32_t meaning;
} operations[] = {
	{"vllm::moe_forward", TL_PN_MOE_FORWARD},
	{"vllm::rocm_aiter_fused_moe", TL_PN_AITER_FUSED_MOE},
	{"vllm::outplace_fused_experts", TL_PN_FUSED_EXPERTS},
	{"aiter::fused_moe_", TL_PN_AITER_MOE},
	{"aiter::mla_decode_stage1_asm_fwd", TL_PN_MLA_DECODE_DONOR},
	{"aiter::mla_prefill_ps_asm_fwd", TL_PN_MLA_PREFILL_DONOR},
	{"aiter::v4_attention_with_output", TL_PN_V4_ATTENTION},
	{"_rocm_C::paged_attention", TL_PN_ROCM_PAGED},
	{"aiter::paged_attention_v1", TL_PN_AITER_PAGED},
};

static uint32_t meaning_of_host(const char *name, size_t n)
{
	uint32_t meaning = length_without_number(name, n) ? TL_PN_RENAMED : 0;
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (!strcmp(name, operations[i].name))
			meaning |= operations[i].meaning;
	meaning |= has(name, "TopK") ? TL_PN_TOPK : 0;
	meaning |= ends(name, n, ": flydsl_moe_stage1") ? TL_PN_FLYDSL_STAGE1 : 0;
	meaning |= ends(name, n, ": flydsl_moe_stage2") ? TL_PN_FLYDSL_STAGE2 : 0;
	meaning |= is_frame(name, "aiter/mla.py", "mla_decode_fwd", false) ? TL_PN_MLA_DECODE : 0;
	meaning |= is_prefill_frame(name) ? TL_PN_MLA_PREFILL : 0;
	meaning |= is_frame(name, "paged_decode.py", "sparse_attn_v4_paged_decode", true) ? TL_PN_V4_DECODE : 0;
	return meaning;
}

static uint32_t meaning_of_gpu(const char *name)
{
	bool aiter = has(name, "aiter::") && has(name, "fmoe") && !has(name, "MoeSorting") &&
		     !has_in_any_case(name, "quant");
	uint32_t meaning = aiter ? TL_PN_AITER_KERNEL : 0;
	meaning |= has_in_any_case(name, "matmul_ogs") ? TL_PN_MATMUL_OGS : 0;
	meaning |= has_in_any_case(name, "matmul_scatter") ? TL_PN_MATMUL_SCATTER : 0;
	meaning |= has_in_any_case(name, "_swiglu") || has_in_any_case(name, "_glu") ? TL_PN_GLU : 0;
	meaning |= has(name, "fused_moe_kernel_gptq_awq") ? TL_PN_GPTQ_AWQ : 0;
	meaning |= starts(name, "hca_") ? TL_PN_HCA : 0;
	meaning |= starts(name, "fused_compress_attn") || starts(name, "_update_compressor_states_kernel") ? TL_PN_CSA
													   : 0;
	meaning |= has(name, "qk_norm_rope_H") ? TL_PN_HEAD_SHAPE : 0;
	return meaning;
}

/* Looks at each distinct name once. A name that both host and GPU events have means what both mean. */
static int read_names(tl_pseudo *p)
{
	enum { HOST = 1, KERNEL = 2, OTHER_GPU = 4 };
	const tl_store *s = p->store;
	size_t n = tl__strings_count(s->strings);
	p->names = tl__calloc(n + 1, sizeof *p->names);
	uint8_t *seen = tl__calloc(n + 1, 1);
	if (!p->names || !seen) {
		tl__free(seen);
		return TL_ENOMEM;
	}
	for (tl_row row = 0; row < s->n; row++) {
		uint8_t kind = s->kind[row];
		bool gpu = tl__kind_is_gpu(kind);
		tl_str name = s->name[row];
		if (!gpu && kind != TL_KIND_CPU_OP && kind != TL_KIND_PYTHON)
			continue;
		uint8_t side = !gpu ? HOST : kind == TL_KIND_KERNEL ? KERNEL : OTHER_GPU;
		if (seen[name] & side)
			continue;
		seen[name] |= side;
		const char *text = tl__str(s->strings, name);
		uint32_t meaning = gpu ? meaning_of_gpu(text) : meaning_of_host(text, tl__str_len(s->strings, name));
		p->names[name] |= meaning;
		if (side != OTHER_GPU) /* kernels tell which family a trace belongs to, copies do not */
			p->present |= meaning;
	}
	tl__free(seen);
	return 0;
}

/* ---- finding events ---- */

int tl__pseudo_find(tl_numbers *out, const tl_pseudo *p, tl_kind kind, uint32_t names)
{
	const tl_tree *t = p->tree;
	for (tl_pos pos = 0; pos < t->n; pos++)
		if (p->store->kind[t->row[pos]] == kind && tl__pseudo_is(p, t->row[pos], names))
			TL_TRY(TL_VEC_PUSH(out, pos));
	return 0;
}

int tl__pseudo_find_outermost(tl_numbers *out, const tl_pseudo *p, tl_kind kind, uint32_t names)
{
	TL_TRY(tl__pseudo_find(out, p, kind, names));
	size_t kept = 0;
	tl_pos end = 0;
	for (size_t i = 0; i < out->n; i++) {
		if (out->v[i] < end)
			continue;
		end = p->tree->end[out->v[i]];
		out->v[kept++] = out->v[i];
	}
	out->n = kept;
	return 0;
}

int tl__pseudo_find_gpu(tl_numbers *out, const tl_pseudo *p, bool kernels, uint32_t names)
{
	const tl_tree *t = p->tree;
	for (uint32_t i = 0; i < t->n_gpu; i++)
		if (tl__pseudo_is(p, t->gpu[i], names) && (!kernels || p->store->kind[t->gpu[i]] == TL_KIND_KERNEL))
			TL_TRY(TL_VEC_PUSH(out, i));
	return 0;
}

size_t tl__pseudo_from(const tl_numbers *sorted, uint32_t least)
{
	size_t low = 0, high = sorted->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sorted->v[middle] < least)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

tl_pos *tl__pseudo_nearest_above(const tl_pseudo *p, uint32_t names)
{
	const tl_tree *t = p->tree;
	tl_pos *above = tl__malloc((t->n + 1) * sizeof *above);
	for (tl_pos pos = 0; above && pos < t->n; pos++) {
		tl_pos up = t->parent[pos];
		bool found = up != TL_POS_NONE && tl__pseudo_is(p, t->row[up], names);
		above[pos] = up == TL_POS_NONE || found ? up : above[up];
	}
	return above;
}

/* ---- what became of it ---- */

void tl__pseudo_skip(tl_pseudo *p, tl_pos pos, const char *format, ...)
{
	char detail[sizeof p->health.entry[0].detail];
	tl_row row = p->tree->row[pos];
	int n = snprintf(detail, sizeof detail, "%.60s: ", tl__name(p->store, row));
	va_list args;
	va_start(args, format);
	vsnprintf(detail + n, sizeof detail - (size_t)n, format, args);
	va_end(args);
	tl__health_add(&p->health, TL_HEALTH_PSEUDO_OP_SKIPPED, -1, row, 0, detail);
}

int tl__pseudo_done(tl_pseudo *p, tl_pos pos, int code, const tl_error *err, bool *made)
{
	*made = code == 0;
	if (code == TL_ENOMEM)
		return code;
	if (code < 0)
		tl__pseudo_skip(p, pos, "%.100s", err->message);
	else
		p->made++;
	return 0;
}

int tl__pseudo_dress(tl_pseudo *p, tl_row made, tl_row donor, tl_row sequence)
{
	TL_TRY(tl_edit_copy_args(p->edit, made, donor, NULL));
	tl_op_args *args = tl__edit_op_args(p->edit, made);
	if (!args)
		return TL_ENOMEM;
	if (args->sequence == TL_ID_NONE)
		args->sequence = sequence;
	return tl_edit_set_arg(p->edit, made, "Pseudo op", "true", NULL);
}

int tl__pseudo_set_number(tl_pseudo *p, tl_row made, const char *key, int64_t value)
{
	char text[32];
	snprintf(text, sizeof text, "%lld", (long long)value);
	return tl_edit_set_arg(p->edit, made, key, text, NULL);
}

/* ---- names of numbered operations ---- */

/* The category of the first event of a name decides for all of that name. */
static int number_names(tl_pseudo *p)
{
	const tl_store *s = p->store;
	size_t n = tl__strings_count(s->strings);
	uint8_t *decided = tl__calloc(n + 1, 1); /* 1: keep, 2: rename */
	int code = decided ? 0 : TL_ENOMEM;
	for (tl_row row = 0; row < s->n && code == 0; row++) {
		tl_str name = s->name[row];
		if (!(p->names[name] & TL_PN_RENAMED))
			continue;
		if (!decided[name])
			decided[name] = s->kind[row] == TL_KIND_CPU_OP ? 2 : 1;
		if (decided[name] != 2)
			continue;
		const char *text = tl__str(s->strings, name);
		size_t length = length_without_number(text, tl__str_len(s->strings, name));
		tl_str plain = tl__intern(p->edit->store->strings, text, length);
		if (plain == TL_STR_FAIL)
			code = TL_ENOMEM;
		else
			p->edit->store->name[row] = plain;
	}
	tl__free(decided);
	return code;
}

/* ---- families ---- */

/* In the order in which they are applied; a family applies when all of `needs` are present and none of `without`. */
static const struct family {
	uint32_t needs, without;
	bool python; /* works on Python frames */
	int (*apply)(tl_pseudo *p);
} families[] = {
	{TL_PN_RENAMED, 0, false, number_names},
	{TL_PN_MOE_FORWARD | TL_PN_AITER_FUSED_MOE, 0, false, tl__pseudo_moe_aiter},
	{TL_PN_MOE_FORWARD | TL_PN_MATMUL_OGS, TL_PN_AITER_FUSED_MOE, false, tl__pseudo_moe_triton},
	{TL_PN_FUSED_EXPERTS | TL_PN_GPTQ_AWQ, 0, false, tl__pseudo_moe_gptq},
	{TL_PN_AITER_MOE, 0, true, tl__pseudo_moe_flydsl},
	{TL_PN_MLA_DECODE_DONOR | TL_PN_MLA_DECODE, 0, true, tl__pseudo_mla_decode},
	{TL_PN_MLA_PREFILL_DONOR | TL_PN_MLA_PREFILL, 0, true, tl__pseudo_mla_prefill},
	{TL_PN_V4_DECODE, 0, true, tl__pseudo_v4_decode},
	{TL_PN_ROCM_PAGED, 0, false, tl__pseudo_cache_types},
	{TL_PN_AITER_PAGED, TL_PN_ROCM_PAGED, false, tl__pseudo_cache_types},
};
enum { FAMILIES = sizeof families / sizeof *families };

static bool applies(const tl_pseudo *p, const struct family *f)
{
	if ((p->present & f->needs) != f->needs || (p->present & f->without))
		return false;
	/* the operation alone says nothing about how it is made */
	return f->apply != tl__pseudo_moe_flydsl || (p->present & (TL_PN_FLYDSL_STAGE1 | TL_PN_FLYDSL_STAGE2));
}

static int apply_all(tl_pseudo *p)
{
	for (size_t i = 0; i < FAMILIES; i++) {
		if (!applies(p, &families[i]))
			continue;
		if (families[i].python && !p->tree->with_python)
			tl__health_add(&p->health, TL_HEALTH_PSEUDO_OP_SKIPPED, -1, TL_ROW_NONE, 0,
				       "the tree was built without the Python frames that show where to put them");
		else
			TL_TRY(families[i].apply(p));
	}
	return 0;
}

static bool anything_applies(const tl_pseudo *p)
{
	bool any = false;
	for (size_t i = 0; i < FAMILIES && !any; i++)
		any = applies(p, &families[i]);
	return any;
}

static void take_findings(tl_tree *tree, const tl_health *found)
{
	const tl_health_entry *more = &found->entry[TL_HEALTH_PSEUDO_OP_SKIPPED];
	tl_health_entry *entry = &tree->health.entry[TL_HEALTH_PSEUDO_OP_SKIPPED];
	uint64_t before = entry->count;
	if (!more->count)
		return;
	if (!before)
		*entry = *more;
	entry->count = before + more->count;
}

static int edit_tree(tl_pseudo *p, tl_error *err)
{
	if (!anything_applies(p))
		return 0;
	TL_TRY(tl_edit_begin(&p->edit, p->tree, err));
	int code = apply_all(p) < 0 ? tl__nomem(err) : tl_edit_commit(p->edit, err);
	if (code < 0)
		tl_edit_abort(p->edit);
	else
		take_findings(p->tree, &p->health);
	return code;
}

int tl_tree_apply_pseudo_ops(tl_tree *tree, const tl_pseudo_options *options, size_t *made, tl_error *err)
{
	static const tl_pseudo_options defaults = {0};
	tl_pseudo p = {.tree = tree, .store = tree->store, .options = options ? options : &defaults};
	if (made)
		*made = 0;
	if (tree->has_pseudo_ops)
		return 0;
	if (tree->editing)
		return tl__fail(err, TL_EINVAL, "the tree is being edited; commit or abort that edit first");
	int code = read_names(&p) < 0 ? tl__nomem(err) : edit_tree(&p, err);
	tl__free(p.names);
	if (code == 0)
		tree->has_pseudo_ops = true;
	if (code == 0 && made)
		*made = p.made;
	return code;
}

int tl_pseudo_ops_need_python(bool *out, const tl_trace *trace, tl_error *err)
{
	*out = false;
	if (!trace)
		return tl__fail(err, TL_EINVAL, "a trace is needed");
	tl_pseudo p = {.store = trace->store};
	int code = read_names(&p) < 0 ? tl__nomem(err) : 0;
	for (size_t i = 0; i < FAMILIES && code == 0; i++)
		*out |= families[i].python && applies(&p, &families[i]);
	tl__free(p.names);
	return code;
}
