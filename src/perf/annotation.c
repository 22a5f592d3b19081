/* SPDX-License-Identifier: MIT */
/* Formats of iteration annotations. */
#include "perf/annotation.h"

#include <string.h>

typedef struct span {
	const char *p, *end;
} span;

/* ---- words ---- */

/* Decimal digits before `end` (NULL: NUL); NULL when there are none or the number is absurd. */
static const char *number(const char *p, const char *end, int64_t *out)
{
	const char *start = p;
	for (*out = 0; p != end && *p >= '0' && *p <= '9'; p++)
		if (*out > (INT64_C(1) << 53))
			return NULL;
		else
			*out = *out * 10 + (*p - '0');
	return p > start ? p : NULL;
}

static const char *word(const char *p, const char *text)
{
	size_t n = strlen(text);
	return p && !strncmp(p, text, n) ? p + n : NULL;
}

/* A word and the number behind it. */
static const char *field(const char *p, const char *text, int64_t *out)
{
	p = word(p, text);
	return p ? number(p, NULL, out) : NULL;
}

/* Where the value of "key=value key=[a, b] ..." ends. */
static const char *value_end(const char *p, const char *end)
{
	if (p < end && *p == '[') {
		const char *close = memchr(p, ']', (size_t)(end - p));
		p = close ? close : p;
	}
	while (p < end && *p != ' ')
		p++;
	return p;
}

/* Value of a key among the words of `body`; false when it is not there. */
static bool keyed(span *out, span body, const char *key)
{
	size_t n = strlen(key);
	for (const char *p = body.p; p < body.end; p++) {
		const char *equals = memchr(p, '=', (size_t)(body.end - p)),
			   *blank = memchr(p, ' ', (size_t)(body.end - p));
		if (!equals)
			return false;
		if (blank && blank < equals) { /* a word without a value */
			p = blank;
			continue;
		}
		const char *end = value_end(equals + 1, body.end);
		if ((size_t)(equals - p) == n && !memcmp(p, key, n)) {
			*out = (span){equals + 1, end};
			return true;
		}
		p = end;
	}
	return false;
}

/* The number at the beginning of a key's value; otherwise `absent`, and false. */
static bool keyed_number(int64_t *out, span body, const char *key, int64_t absent)
{
	span value;
	if (keyed(&value, body, key)) {
		if (value.p < value.end && *value.p == '[') /* the first of a list */
			value.p++;
		if (number(value.p, value.end, out))
			return true;
	}
	*out = absent;
	return false;
}

/* ---- vLLM ---- */

/* "<name><n>(sq<n>sk<n>sqsq<n>sqsk<n>)" */
static const char *vllm_sums(const char *p, const char *name, int64_t *requests, tl_chunk *out)
{
	p = field(p, name, requests);
	p = field(p, "(sq", &out->sq);
	p = field(p, "sk", &out->sk);
	p = field(p, "sqsq", &out->sqsq);
	p = field(p, "sqsk", &out->sqsk);
	return word(p, ")");
}

/* All tokens count, and make the batch. */
static void sum_tokens(tl_annotation *a)
{
	a->context_sum = a->chunks.context.sq;
	a->generation_sum = a->chunks.generation.sq;
	a->batch_size = a->context_sum + a->generation_sum;
}

static bool vllm_detailed(tl_annotation *a, const char *text)
{
	int64_t tokens;
	const char *p = field(text, "execute_", &tokens);
	p = vllm_sums(p, "_context_", &a->context_requests, &a->chunks.context);
	p = vllm_sums(p, "_generation_", &a->generation_requests, &a->chunks.generation);
	sum_tokens(a);
	a->has_sums = true;
	return p != NULL;
}

static bool vllm_native(tl_annotation *a, const char *text)
{
	const char *p = field(text, "execute_context_", &a->context_requests);
	p = field(p, "(", &a->chunks.context.sq);
	p = field(p, ")_generation_", &a->generation_requests);
	p = field(p, "(", &a->chunks.generation.sq);
	sum_tokens(a);
	return word(p, ")") != NULL;
}

/* ---- SGLang ---- */

typedef enum step { EXTEND, DECODE, MIXED } step;

/* "step[EXTEND": what follows it. */
static const char *sglang_step(const char *text, step *out)
{
	static const char *const names[] = {[EXTEND] = "EXTEND", [DECODE] = "DECODE", [MIXED] = "MIXED"};
	const char *p = word(text, "step["), *rest = NULL;
	for (unsigned i = 0; p && !rest && i < 3; i++) {
		rest = word(p, names[i]);
		*out = (step)i;
	}
	return rest;
}

static bool sglang_detailed(tl_annotation *a, const char *text)
{
	step kind;
	tl_chunk *c = &a->chunks.context, *g = &a->chunks.generation;
	const char *p = sglang_step(text, &kind), *end = p ? strchr(p, ']') : NULL;
	int64_t requests, tokens;

	if (!end || *p != ' ')
		return false;
	span body = {p + 1, end};
	bool context = keyed_number(&c->sqsq, body, "c_sqsq", 0), decode = keyed_number(&g->sqsq, body, "g_sqsq", 0);
	if (!context && !decode)
		return false;
	keyed_number(&c->sq, body, "c_sq", 0);
	keyed_number(&c->sk, body, "c_sk", 0);
	keyed_number(&c->sqsk, body, "c_sqsk", 0);
	keyed_number(&g->sq, body, "g_sq", 0);
	keyed_number(&g->sk, body, "g_sk", 0);
	keyed_number(&g->sqsk, body, "g_sqsk", 0);
	keyed_number(&requests, body, "bs", 0);
	keyed_number(&tokens, body, "toks", 0);
	if (kind == MIXED) {
		keyed_number(&a->context_requests, body, "c", 0);
		keyed_number(&a->generation_requests, body, "g", 0);
	} else if (kind == EXTEND) {
		a->context_requests = requests;
	} else {
		a->generation_requests = requests;
	}
	sum_tokens(a);
	if (kind == EXTEND)
		a->generation_sum = 0;
	if (kind == DECODE)
		a->context_sum = 0;
	if (!a->batch_size)
		a->batch_size = tokens ? tokens : requests;
	a->has_sums = true;
	return true;
}

/* Exactly "step[EXTEND bs=1]" or "step[EXTEND bs=1 toks=5]". */
static bool sglang_native(tl_annotation *a, const char *text)
{
	step kind;
	int64_t requests, tokens = 0;
	const char *p = field(sglang_step(text, &kind), " bs=", &requests), *more = field(p, " toks=", &tokens);
	if (!word(more ? more : p, "]"))
		return false;
	if (kind == DECODE) {
		a->generation_requests = a->chunks.generation.sq = requests;
	} else {
		a->context_requests = requests;
		a->chunks.context.sq = tokens;
	}
	sum_tokens(a);
	if (!a->batch_size)
		a->batch_size = requests;
	return true;
}

/* ---- ATOM ---- */

static bool atom(tl_annotation *a, const char *text)
{
	const char *prefill = word(text, "prefill["), *p = prefill ? prefill : word(text, "decode[");
	const char *end = p ? strrchr(p, ']') : NULL;
	tl_chunk *chunk = prefill ? &a->chunks.context : &a->chunks.generation;
	span value;
	if (!end)
		return false;
	span body = {p, end};
	keyed_number(prefill ? &a->context_requests : &a->generation_requests, body, "bs", 0);
	keyed_number(&chunk->sq, body, "tok", 0);
	keyed_number(&chunk->sk, body, "sk", 0);
	bool squares = keyed_number(&chunk->sqsq, body, "sqsq", 0);
	bool products = keyed_number(&chunk->sqsk, body, "sqsk", 0);
	sum_tokens(a);
	a->has_sums = squares && products;
	a->kind = squares ? TL_ANNOTATION_ATOM_DETAILED : TL_ANNOTATION_ATOM_NATIVE;
	if (prefill && keyed(&value, body, "ctx")) {
		a->ctx = value.p;
		a->n_ctx = (size_t)(value.end - value.p);
	}
	if (!prefill) {
		keyed_number(&a->p, body, "p", -1);
		keyed_number(&a->d, body, "d", -1);
		keyed_number(&a->spec, body, "spec", -1);
	}
	a->tbo = keyed(&value, body, "tbo");
	return true;
}

/* ---- diffusion ---- */

static bool diffusion(tl_annotation *a, const char *text)
{
	int64_t side;
	const char *p = field(text, "execute_diffusion_", &a->batch_size), *start = word(p, "_");
	p = start ? number(start, NULL, &side) : NULL;
	p = field(p, "x", &side);
	if (!p)
		return false;
	a->resolution = start;
	a->n_resolution = (size_t)(p - start);
	return true;
}

/* ---- all ---- */

static const tl_annotation nothing = {.batch_size = 1, .p = -1, .d = -1, .spec = -1};

bool tl__annotation_read(tl_annotation *out, const char *text)
{
	static const struct {
		tl_annotation_kind kind;
		bool (*read)(tl_annotation *, const char *);
	} formats[] = {
		{TL_ANNOTATION_VLLM_DETAILED, vllm_detailed},
		{TL_ANNOTATION_VLLM_NATIVE, vllm_native},
		{TL_ANNOTATION_SGLANG_DETAILED, sglang_detailed},
		{TL_ANNOTATION_SGLANG_NATIVE, sglang_native},
		{TL_ANNOTATION_ATOM_NATIVE, atom}, /* or detailed, as it finds */
		{TL_ANNOTATION_DIFFUSION, diffusion},
	};
	for (size_t i = 0; text && i < sizeof formats / sizeof *formats; i++) {
		*out = nothing;
		out->kind = (uint8_t)formats[i].kind;
		if (formats[i].read(out, text))
			return true;
	}
	*out = nothing;
	return false;
}
