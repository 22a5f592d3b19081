/* SPDX-License-Identifier: MIT */
#include "perf/args.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "util/format.h"

/* ---- reading ---- */

/* Shape of a list of sizes; false when it is none (not a list, not integers, negative, absurd). */
static bool read_shape(tl_shape *out, const tl_value *list)
{
	if (!tl__value_is_list(list) || list->n > TL_MAX_RANK)
		return false;
	out->rank = list->n;
	for (size_t i = 0; i < list->n; i++) {
		const tl_value *v = &list->items[i];
		if (v->kind != TL_V_INT || v->i < 0 || v->i > TL_MAX_DIM)
			return false;
		out->dim[i] = v->i;
	}
	return true;
}

bool tl__arg_shape(tl_shape *out, const tl_value *dims, size_t index)
{
	return read_shape(out, tl__value_at(dims, index));
}

bool tl__shape_count(int64_t *out, const tl_shape *shape)
{
	int64_t n = 1;
	for (size_t i = 0; i < shape->rank; i++)
		if (__builtin_mul_overflow(n, shape->dim[i], &n))
			return false;
	*out = n;
	return true;
}

double tl__shape_volume(const tl_shape *shape, size_t first)
{
	double n = 1;
	for (size_t i = first; i < shape->rank; i++)
		n *= (double)shape->dim[i];
	return n;
}

const char *tl__arg_text(const tl_value *list, size_t index)
{
	return tl__value_text(tl__value_at(list, index));
}

bool tl__arg_given(const tl_value *dims, size_t index)
{
	return tl__value_count(tl__value_at(dims, index)) > 0;
}

bool tl__arg_not_null(const tl_value *dims, size_t index)
{
	const tl_value *v = tl__value_at(dims, index);
	return v && v->kind != TL_V_NONE;
}

int tl__arg_bytes(const tl_value *types, size_t index)
{
	return tl__dtype_bytes(tl__arg_text(types, index));
}

const char *tl__arg_precision(const tl_value *types, size_t index)
{
	return tl__dtype_precision(tl__arg_text(types, index));
}

/* ---- Python literals ---- */

typedef struct span {
	const char *p, *end;
} span;

static span trim(span s)
{
	while (s.p < s.end && (*s.p == ' ' || *s.p == '\t' || *s.p == '\n' || *s.p == '\r'))
		s.p++;
	while (s.end > s.p && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\n' || s.end[-1] == '\r'))
		s.end--;
	return s;
}

static bool is_word(span s, const char *word)
{
	return (size_t)(s.end - s.p) == strlen(word) && !memcmp(s.p, word, strlen(word));
}

static bool literal_scalar(tl_value *out, span s)
{
	int64_t integer;
	double number;
	s = trim(s);
	size_t n = (size_t)(s.end - s.p);
	if (is_word(s, "True"))
		*out = TL_VALUE_BOOL(true);
	else if (is_word(s, "False"))
		*out = TL_VALUE_BOOL(false);
	else if (is_word(s, "None"))
		*out = TL_VALUE_NONE;
	else if (tl__parse_int(s.p, n, &integer))
		*out = TL_VALUE_INT(integer);
	else if (tl__parse_double(s.p, n, &number))
		*out = TL_VALUE_DOUBLE(number);
	else
		return false;
	return true;
}

static int literal_list(tl_value *out, bool *ok, span s, tl_arena *arena)
{
	size_t n = 1;
	*out = (tl_value){.kind = TL_V_LIST};
	s = trim(s);
	if (s.p == s.end)
		return 0;
	for (const char *p = s.p; p < s.end; p++)
		n += *p == ',';
	tl_value *items = tl__arena_alloc(arena, n * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const char *comma = memchr(s.p, ',', (size_t)(s.end - s.p));
		if (!literal_scalar(&items[i], (span){s.p, comma ? comma : s.end}))
			return *ok = false, 0;
		s.p = comma ? comma + 1 : s.end;
	}
	out->n = (uint32_t)n;
	out->items = items;
	return 0;
}

int tl__arg_literal(tl_value *out, bool *ok, const tl_value *concrete, size_t index, tl_arena *arena)
{
	const tl_value *v = tl__value_at(concrete, index);
	*ok = true;
	*out = TL_VALUE_NONE;
	if (!v)
		return 0;
	if (v->kind != TL_V_STRING)
		return tl__value_copy(out, arena, v);
	span s = trim((span){v->s, v->s + v->n});
	if (s.p == s.end)
		return 0;
	if (s.end - s.p >= 2 && ((*s.p == '[' && s.end[-1] == ']') || (*s.p == '(' && s.end[-1] == ')')))
		return literal_list(out, ok, (span){s.p + 1, s.end - 1}, arena);
	*ok = literal_scalar(out, s);
	return 0;
}

bool tl__literal_ints(tl_shape *out, const tl_value *literal)
{
	out->rank = 0;
	if (literal->kind == TL_V_INT) {
		out->dim[out->rank++] = literal->i;
	} else {
		if (!tl__value_is_list(literal) || literal->n > TL_MAX_RANK)
			return false;
		for (size_t i = 0; i < literal->n; i++) {
			if (literal->items[i].kind != TL_V_INT)
				return false;
			out->dim[out->rank++] = literal->items[i].i;
		}
	}
	for (size_t i = 0; i < out->rank; i++)
		if (out->dim[i] > TL_MAX_DIM || out->dim[i] < -TL_MAX_DIM)
			return false;
	return true;
}

bool tl__truth(const tl_value *value)
{
	switch (value ? value->kind : TL_V_NONE) {
	case TL_V_BOOL:
		return value->b;
	case TL_V_INT:
		return value->i != 0;
	case TL_V_DOUBLE:
		return value->d != 0; /* NaN is true, as in Python */
	case TL_V_NONE:
		return false;
	default:
		return value->n > 0;
	}
}

bool tl__to_int(const tl_value *value, int64_t *out)
{
	switch (value ? value->kind : TL_V_NONE) {
	case TL_V_BOOL:
		return *out = value->b, true;
	case TL_V_INT:
		return *out = value->i, true;
	case TL_V_DOUBLE:
		return fabs(value->d) < 9e15 ? (*out = (int64_t)value->d, true) : false;
	case TL_V_STRING:
		return tl__parse_int(value->s, value->n, out);
	default:
		return false;
	}
}

bool tl__to_double(const tl_value *value, double *out)
{
	switch (value ? value->kind : TL_V_NONE) {
	case TL_V_BOOL:
		return *out = value->b, true;
	case TL_V_INT:
		return *out = (double)value->i, true;
	case TL_V_DOUBLE:
		return *out = value->d, true;
	case TL_V_STRING: {
		span s = trim((span){value->s, value->s + value->n});
		return tl__parse_double(s.p, (size_t)(s.end - s.p), out);
	}
	default:
		return false;
	}
}

bool tl__to_bool(const tl_value *value)
{
	if (!value || value->kind != TL_V_STRING)
		return tl__truth(value);
	span s = trim((span){value->s, value->s + value->n});
	size_t n = (size_t)(s.end - s.p);
	return n && !(n == 5 && !strncasecmp(s.p, "false", 5)) && !(n == 1 && *s.p == '0');
}

bool tl__arg_is_true(const tl_value *concrete, size_t index)
{
	const tl_value *v = tl__value_at(concrete, index);
	if (v && v->kind != TL_V_STRING)
		return tl__truth(v);
	return v && !strcasecmp(v->s, "true");
}

/* ---- writing ---- */

void tl__perf_begin(tl_perf_result *out)
{
	out->status = TL_PERF_OK;
	out->why = NULL;
	out->maf = out->precision = NULL;
	out->flops = out->bytes = out->flops_bwd = out->bytes_bwd = (tl_perf_cost){.status = TL_PERF_NOT_MODELLED};
	out->n_params = 0;
}

int tl__perf_fail(tl_perf_result *out, const char *why)
{
	tl__perf_begin(out);
	out->status = TL_PERF_FAILED;
	out->why = why;
	return 0;
}

int tl__perf_not_modelled(tl_perf_result *out)
{
	tl__perf_begin(out);
	out->status = TL_PERF_NOT_MODELLED;
	return 0;
}

tl_perf_cost tl__cost_int(double value)
{
	return (tl_perf_cost){.status = TL_PERF_OK, .known = true, .integral = true, .value = value};
}

tl_perf_cost tl__cost_float(double value)
{
	return (tl_perf_cost){.status = TL_PERF_OK, .known = true, .value = value};
}

tl_perf_cost tl__cost_unknown(void)
{
	return (tl_perf_cost){.status = TL_PERF_OK};
}

tl_perf_cost tl__cost_failed(void)
{
	return (tl_perf_cost){.status = TL_PERF_FAILED};
}

tl_perf_cost tl__cost_if(bool known, double value)
{
	return known ? tl__cost_int(value) : tl__cost_unknown();
}

void tl__param(tl_perf_result *out, const char *name, tl_value value)
{
	if (out->n_params < TL_PERF_MAX_PARAMS)
		out->params[out->n_params++] = (tl_perf_param){name, value};
}

void tl__param_int(tl_perf_result *out, const char *name, int64_t value)
{
	tl__param(out, name, TL_VALUE_INT(value));
}

void tl__param_bool(tl_perf_result *out, const char *name, bool value)
{
	tl__param(out, name, TL_VALUE_BOOL(value));
}

int tl__param_tuple(tl_perf_result *out, tl_arena *arena, const char *name, const tl_value *list)
{
	tl_value copy = TL_VALUE_NONE;
	if (tl__value_is_list(list)) {
		TL_TRY(tl__value_copy(&copy, arena, list));
		copy.kind = TL_V_TUPLE;
	}
	tl__param(out, name, copy);
	return 0;
}

int tl__param_shape(tl_perf_result *out, tl_arena *arena, const char *name, const tl_shape *shape)
{
	tl_value value;
	TL_TRY(tl__value_ints(&value, arena, TL_V_TUPLE, shape->dim, shape->rank));
	tl__param(out, name, value);
	return 0;
}

static int text_value(tl_value *out, tl_arena *arena, const char *text)
{
	*out = TL_VALUE_NONE;
	if (text) {
		size_t n = strlen(text);
		const char *copy = tl__arena_strndup(arena, text, n);
		if (!copy)
			return TL_ENOMEM;
		*out = TL_VALUE_STRING(copy, n);
	}
	return 0;
}

int tl__param_texts(tl_perf_result *out, tl_arena *arena, const char *name, const char *const *texts, size_t n)
{
	tl_value *items = tl__arena_alloc(arena, n * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	for (size_t i = 0; i < n; i++)
		TL_TRY(text_value(&items[i], arena, texts[i]));
	tl__param(out, name, (tl_value){.kind = TL_V_TUPLE, .n = (uint32_t)n, .items = items});
	return 0;
}

int tl__param_text(tl_perf_result *out, tl_arena *arena, const char *name, const char *text)
{
	tl_value value;
	TL_TRY(text_value(&value, arena, text));
	tl__param(out, name, value);
	return 0;
}

int tl__value_ints(tl_value *out, tl_arena *arena, tl_value_kind kind, const int64_t *v, size_t n)
{
	tl_value *items = tl__arena_alloc(arena, n * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	for (size_t i = 0; i < n; i++)
		items[i] = TL_VALUE_INT(v[i]);
	*out = (tl_value){.kind = (uint8_t)kind, .n = (uint32_t)n, .items = items};
	return 0;
}

/* Depth is bounded by TL_VALUE_MAX_DEPTH: values come from tl__value_parse. */
int tl__value_copy(tl_value *out, tl_arena *arena, const tl_value *value)
{
	*out = *value;
	if (value->kind == TL_V_STRING || value->kind == TL_V_NUMBER) {
		out->s = tl__arena_strndup(arena, value->s, value->n);
		return out->s ? 0 : TL_ENOMEM;
	}
	if (value->kind < TL_V_LIST || !value->n)
		return 0;
	size_t n = value->kind == TL_V_DICT ? 2 * (size_t)value->n : value->n;
	tl_value *items = tl__arena_alloc(arena, n * sizeof *items);
	if (!items)
		return TL_ENOMEM;
	for (size_t i = 0; i < n; i++)
		TL_TRY(tl__value_copy(&items[i], arena, &value->items[i]));
	out->items = items;
	return 0;
}
