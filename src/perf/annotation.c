/* SPDX-License-Identifier: MIT */
/* The three detailed formats of iteration annotations. */
#include "perf/annotation.h"

#include <string.h>

/* Decimal digits; NULL when there are none or the number is absurd. */
static const char *number(const char *p, int64_t *out)
{
	const char *start = p;
	for (*out = 0; *p >= '0' && *p <= '9'; p++)
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
	return p ? number(p, out) : NULL;
}

/* "<n>(sq<n>sk<n>sqsq<n>sqsk<n>)" behind `name`. */
static const char *vllm_part(const char *p, const char *name, tl_chunk *out)
{
	int64_t requests;
	p = field(p, name, &requests);
	p = field(p, "(sq", &out->sq);
	p = field(p, "sk", &out->sk);
	p = field(p, "sqsq", &out->sqsq);
	p = field(p, "sqsk", &out->sqsk);
	return word(p, ")");
}

static bool vllm(tl_chunks *out, const char *text)
{
	int64_t tokens;
	const char *p = field(text, "execute_", &tokens);
	p = vllm_part(p, "_context_", &out->context);
	return vllm_part(p, "_generation_", &out->generation) != NULL;
}

/* Value of "key=<n>" among the words between `p` and `end`; false when it is not there. */
static bool keyed(const char *p, const char *end, const char *key, int64_t *out)
{
	size_t n = strlen(key);
	*out = 0;
	for (; p && (size_t)(end - p) > n; p = memchr(p, ' ', (size_t)(end - p)), p = p ? p + 1 : NULL)
		if (!strncmp(p, key, n) && p[n] == '=')
			return number(p + n + 1, out) != NULL;
	return false;
}

static bool sglang(tl_chunks *out, const char *text)
{
	static const char *const kinds[] = {"EXTEND", "DECODE", "MIXED"};
	static const char *const keys[] = {"c_sq", "c_sk", "c_sqsq", "c_sqsk", "g_sq", "g_sk", "g_sqsq", "g_sqsk"};
	int64_t values[8];
	bool any = false;
	const char *p = word(text, "step["), *end = p ? strchr(p, ']') : NULL, *body = NULL;

	for (size_t i = 0; end && !body && i < sizeof kinds / sizeof *kinds; i++)
		body = word(p, kinds[i]);
	if (!body || *body != ' ')
		return false;
	for (size_t i = 0; i < 8; i++) {
		bool found = keyed(body + 1, end, keys[i], &values[i]);
		any |= found && (i == 2 || i == 6);
	}
	out->context = (tl_chunk){values[0], values[1], values[2], values[3]};
	out->generation = (tl_chunk){values[4], values[5], values[6], values[7]};
	return any;
}

static bool atom(tl_chunks *out, const char *text)
{
	const char *prefill = word(text, "prefill["), *p = prefill ? prefill : word(text, "decode[");
	const char *end = p ? strrchr(p, ']') : NULL;
	tl_chunk *chunk = prefill ? &out->context : &out->generation;
	if (!end)
		return false;
	keyed(p, end, "tok", &chunk->sq);
	keyed(p, end, "sk", &chunk->sk);
	bool squares = keyed(p, end, "sqsq", &chunk->sqsq), products = keyed(p, end, "sqsk", &chunk->sqsk);
	return squares && products;
}

bool tl__annotation_chunks(tl_chunks *out, const char *text)
{
	bool (*const formats[])(tl_chunks *, const char *) = {vllm, sglang, atom};
	for (size_t i = 0; text && i < sizeof formats / sizeof *formats; i++) {
		*out = (tl_chunks){{0}, {0}};
		if (formats[i](out, text))
			return true;
	}
	return false;
}
