/* SPDX-License-Identifier: MIT */
/* Values of parameters of models without a trace, as people and programs give them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perf/estimate.h"
#include "perf/model.h"
#include "util/error.h"
#include "util/format.h"

/* Short names, as compute specs have them. Sizes are those of one value: two fp4 values share a byte. */
static const struct {
	const char *name;
	double size;
	const char *precision; /* NULL: none */
} dtypes[] = {
	{"fp64", 8, "fp64"}, {"fp32", 4, "fp32"},  {"tf32", 4, "tf32"}, {"fp16", 2, "fp16"}, {"bf16", 2, "bf16"},
	{"fp8", 1, "fp8"},   {"fp6", 0.75, "fp6"}, {"fp4", 0.5, "fp4"}, {"int8", 1, "int8"}, {"uint8", 1, NULL},
	{"int16", 2, NULL},  {"int32", 4, NULL},   {"int64", 8, NULL},  {"bool", 1, NULL},
};

const char *tl_estimate_dtype(size_t index)
{
	return index < sizeof dtypes / sizeof *dtypes ? dtypes[index].name : NULL;
}

/* Other names of these, as frameworks and papers write them. */
static const struct {
	const char *name, *meant;
} aliases[] = {
	{"float64", "fp64"}, {"double", "fp64"},   {"float32", "fp32"}, {"float", "fp32"}, {"float16", "fp16"},
	{"half", "fp16"},    {"bfloat16", "bf16"}, {"float8", "fp8"},   {"e4m3", "fp8"},   {"e5m2", "fp8"},
	{"e4m3fn", "fp8"},   {"e4m3fnuz", "fp8"},  {"e5m2fnuz", "fp8"}, {"mxfp8", "fp8"},  {"mxfp6", "fp6"},
	{"e2m3", "fp6"},     {"e3m2", "fp6"},      {"mxfp4", "fp4"},    {"nvfp4", "fp4"},  {"e2m1", "fp4"},
	{"float4", "fp4"},   {"long", "int64"},    {"short", "int16"},
};

/* A dtype by short name, trace name or bytes per element; false when unknown. */
static bool parse_dtype(tl_number_type *out, const char *text)
{
	if (!strncasecmp(text, "torch.", 6))
		text += 6;
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (!strcasecmp(aliases[i].name, text))
			text = aliases[i].meant;
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (!strcasecmp(dtypes[i].name, text)) {
			*out = (tl_number_type){dtypes[i].size, dtypes[i].precision};
			return true;
		}
	*out = (tl_number_type){tl__dtype_value_bytes(text), tl__dtype_precision(text)};
	if (out->size > 0)
		return true;
	double size;
	if (!tl__parse_double(text, strlen(text), &size) || !(size > 0 && size <= 64))
		return false;
	out->size = size;
	return true;
}

ptrdiff_t tl__estimate_find(const tl_estimate_family *family, const char *name)
{
	for (size_t i = 0; i < family->n_params; i++)
		if (!strcmp(family->params[i].name, name))
			return (ptrdiff_t)i;
	return -1;
}

bool tl__estimate_is_backward(const tl_estimate_family *family, const char *name)
{
	return family->flops_bwd && !strcmp(name, "backward");
}

/* ---- each kind ---- */

static int wrong_kind(const char *name, const char *needed, tl_error *err)
{
	return tl__fail(err, TL_EINVAL, "%s: %s is needed", name, needed);
}

static int read_int(int64_t *out, const tl_estimate_param_info *info, const tl_estimate_param *p, tl_error *err)
{
	if (p->kind == TL_ESTIMATE_TEXT) {
		if (!tl__parse_int(p->text, strlen(p->text), out))
			return tl__fail(err, TL_EINVAL, "%s: '%s' is no whole number", info->name, p->text);
	} else if (p->kind == TL_ESTIMATE_NUMBER) {
		*out = p->number;
	} else {
		return wrong_kind(info->name, "a whole number", err);
	}
	if (*out < info->min || *out > TL_MAX_DIM)
		return tl__fail(err, TL_EINVAL, "%s: %lld is out of range, which is from %lld to 2^53", info->name,
				(long long)*out, (long long)info->min);
	return 0;
}

int tl__estimate_read_flag(bool *out, const tl_estimate_param *p, tl_error *err)
{
	static const char *const words[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
	if (p->kind == TL_ESTIMATE_NUMBER) {
		*out = p->number != 0;
		return 0;
	}
	if (p->kind != TL_ESTIMATE_TEXT)
		return wrong_kind(p->name, "true or false", err);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcasecmp(words[i], p->text)) {
			*out = i % 2;
			return 0;
		}
	return tl__fail(err, TL_EINVAL, "%s: '%s' is neither true nor false", p->name, p->text);
}

/* "8x64x56x56", "8,64,56,56", "[8, 64, 56, 56]", "4096" */
static bool parse_shape(tl_shape *out, const char *text)
{
	const char *p = text + strspn(text, "[( ");
	out->rank = 0;
	for (;;) {
		char *end;
		if (*p < '0' || *p > '9')
			return false;
		long long size = strtoll(p, &end, 10);
		if (size < 0 || size > TL_MAX_DIM || out->rank >= TL_ESTIMATE_MAX_RANK)
			return false;
		out->dim[out->rank++] = size;
		p = end + strspn(end, " ");
		if (!*p || *p == ']' || *p == ')')
			return !p[strspn(p, "]) ")];
		if (!strchr("xX,", *p))
			return false;
		p++;
		p += strspn(p, " ");
	}
}

static int read_shape(tl_shape *out, const tl_estimate_param_info *info, const tl_estimate_param *p, tl_error *err)
{
	if (p->kind == TL_ESTIMATE_TEXT) {
		if (!parse_shape(out, p->text))
			return tl__fail(err, TL_EINVAL, "%s: '%s' is no shape such as 8x64x56x56", info->name, p->text);
	} else if (p->kind == TL_ESTIMATE_NUMBER) {
		out->rank = 1;
		out->dim[0] = p->number;
	} else {
		if (p->n_sizes > TL_ESTIMATE_MAX_RANK)
			return tl__fail(err, TL_EINVAL, "%s: more than %d dimensions", info->name,
					TL_ESTIMATE_MAX_RANK);
		out->rank = p->n_sizes;
		for (size_t i = 0; i < p->n_sizes; i++)
			out->dim[i] = p->sizes[i];
	}
	for (size_t i = 0; i < out->rank; i++)
		if (out->dim[i] < info->min || out->dim[i] > TL_MAX_DIM)
			return tl__fail(err, TL_EINVAL, "%s: %lld is no size of a dimension", info->name,
					(long long)out->dim[i]);
	return 0;
}

static int read_dtype(tl_number_type *out, const tl_estimate_param_info *info, const tl_estimate_param *p,
		      tl_error *err)
{
	if (p->kind == TL_ESTIMATE_NUMBER && p->number >= 0 && p->number <= 64) {
		*out = (tl_number_type){(double)p->number, NULL};
		return 0;
	}
	if (p->kind != TL_ESTIMATE_TEXT)
		return wrong_kind(info->name, "a dtype", err);
	if (parse_dtype(out, p->text))
		return 0;
	return tl__fail(err, TL_EINVAL,
			"%s: unknown dtype '%s'; there are fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8 and other "
			"integers, "
			"PyTorch's names (c10::BFloat16, torch.bfloat16, float8_e4m3fn), mxfp4, e4m3 and the like, and "
			"bytes per element",
			info->name, p->text);
}

static int read_choice(const char **out, const tl_estimate_param_info *info, const tl_estimate_param *p, tl_error *err)
{
	if (p->kind != TL_ESTIMATE_TEXT)
		return wrong_kind(info->name, "a word", err);
	size_t length = strlen(p->text);
	for (const char *word = info->choices; *word;) {
		size_t n = strcspn(word, " ");
		if (n == length && !strncmp(word, p->text, n)) {
			*out = word;
			return 0;
		}
		word += n;
		word += strspn(word, " ");
	}
	return tl__fail(err, TL_EINVAL, "%s: '%s' is none of: %s", info->name, p->text, info->choices);
}

int tl__estimate_read(tl_estimate_given *out, const tl_estimate_param_info *info, const tl_estimate_param *p,
		      tl_error *err)
{
	bool flag = false;
	*out = (tl_estimate_given){.given = true};
	if (p->kind == TL_ESTIMATE_TEXT && !p->text)
		return wrong_kind(info->name, "a value", err);
	switch (info->kind) {
	case TL_ESTIMATE_INT:
		return read_int(&out->number, info, p, err);
	case TL_ESTIMATE_BOOL:
		TL_TRY(tl__estimate_read_flag(&flag, p, err));
		out->number = flag;
		return 0;
	case TL_ESTIMATE_SHAPE:
		return read_shape(&out->shape, info, p, err);
	case TL_ESTIMATE_DTYPE:
		return read_dtype(&out->dtype, info, p, err);
	case TL_ESTIMATE_CHOICE:
		return read_choice(&out->choice, info, p, err);
	}
	return wrong_kind(info->name, "a known kind", err);
}

/* ---- reading by name ---- */

const tl_estimate_given *tl__estimate_value(const tl_estimate_in *a, const char *name)
{
	static const tl_estimate_given none = {0};
	ptrdiff_t i = tl__estimate_find(a->family, name);
	return i < 0 ? &none : &a->value[i];
}

double tl__estimate_number(const tl_estimate_in *a, const char *name)
{
	return (double)tl__estimate_value(a, name)->number;
}

double tl__estimate_number_or(const tl_estimate_in *a, const char *name, double otherwise)
{
	const tl_estimate_given *v = tl__estimate_value(a, name);
	return v->given ? (double)v->number : otherwise;
}

bool tl__estimate_flag(const tl_estimate_in *a, const char *name)
{
	return tl__estimate_value(a, name)->number != 0;
}

const tl_shape *tl__estimate_shape(const tl_estimate_in *a, const char *name)
{
	return &tl__estimate_value(a, name)->shape;
}

tl_number_type tl__estimate_dtype(const tl_estimate_in *a, const char *name, tl_number_type otherwise)
{
	const tl_estimate_given *v = tl__estimate_value(a, name);
	return v->given ? v->dtype : otherwise;
}
