/* SPDX-License-Identifier: MIT */
/* One evaluation of a registered model: what its callback sees, and what it may write. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perf/args.h"
#include "perf/user_model.h"

/* ---- evaluating ---- */

/* Nothing said about FLOPs or bytes means that nobody knows; about a backward pass, that there is none. */
static void finish(tl_perf_result *r)
{
	bool backward = r->flops_bwd.status != TL_PERF_NOT_MODELLED || r->bytes_bwd.status != TL_PERF_NOT_MODELLED;
	tl_perf_cost *costs[] = {&r->flops, &r->bytes, &r->flops_bwd, &r->bytes_bwd};
	for (size_t i = 0; i < (backward ? 4 : 2); i++)
		if (costs[i]->status == TL_PERF_NOT_MODELLED)
			*costs[i] = tl__cost_unknown();
}

static int call(const tl_user_model *model, const tl_perf_input *in, tl_arena *arena, tl_perf_result *result,
		tl_error *err)
{
	tl_error own = TL_ERROR_INIT;
	tl_model_input forward = {.in = in->forward, .arena = arena, .reads = model->model.reads};
	tl_model_input input = {.in = in, .arena = arena, .reads = model->model.reads};
	tl_model_result out = {.r = result, .arena = arena};

	if (in->forward)
		input.forward = &forward;
	tl__perf_begin(result);
	int code = model->eval(model->user, &input, &out, &own);
	if (code == 0)
		code = out.code;
	/* -1 alone is what many callbacks return for any failure */
	if (code == TL_ENOMEM && (out.code == TL_ENOMEM || own.code == TL_ENOMEM))
		return tl__nomem(err);
	if (code != 0) {
		if (!own.message[0])
			(void)tl__fail(&own, TL_ECALLBACK, "the model of '%.200s' failed%s", model->model.name,
				       out.code == TL_ELIMIT    ? ": too many parameters"
				       : out.code == TL_EFORMAT ? ": a parameter that is no JSON"
				       : out.code               ? ": a parameter without a name"
								: "");
		own.code = TL_ECALLBACK;
		if (err)
			*err = own;
		return TL_ECALLBACK;
	}
	if (result->status == TL_PERF_OK && !out.builtin)
		finish(result);
	return 0;
}

int tl__model_eval(const tl_perf_model *model, const tl_perf_input *in, tl_arena *arena, tl_perf_result *out,
		   tl_error *err)
{
	if (!model->eval)
		return call((const tl_user_model *)(const void *)model, in, arena, out, err);
	if (model->eval(in, arena, out) < 0)
		return tl__nomem(err);
	const tl_perf_cost *costs[] = {&out->flops, &out->bytes, &out->flops_bwd, &out->bytes_bwd};
	for (size_t i = 0; i < 4 && out->status == TL_PERF_OK; i++)
		if (costs[i]->status == TL_PERF_OK && costs[i]->known &&
		    (!isfinite(costs[i]->value) || costs[i]->value < 0))
			return tl__perf_fail(out, "arguments that make no sense: FLOPs or bytes below 0");
	return 0;
}

/* ---- reading ---- */

static const tl_value *list_of(const tl_model_input *in, tl_event_arg list)
{
	switch (list) {
	case TL_ARG_INPUT_DIMS:
		return in->in->dims;
	case TL_ARG_INPUT_TYPE:
		return in->in->types;
	case TL_ARG_INPUT_STRIDES:
		return in->in->strides;
	case TL_ARG_CONCRETE_INPUTS:
		return in->in->concrete;
	default:
		return NULL;
	}
}

tl_row tl_model_event(const tl_model_input *in)
{
	return in->reads & TL_MODEL_READS_EVENT ? in->in->event : TL_ROW_NONE;
}

const char *tl_model_name(const tl_model_input *in)
{
	return in->in->name;
}

size_t tl_model_arg_count(const tl_model_input *in, tl_event_arg list)
{
	return tl__value_count(list_of(in, list));
}

static ptrdiff_t shape_of(const tl_value *list, size_t index, int64_t *out, size_t room)
{
	tl_shape shape;
	if (!tl__arg_shape(&shape, list, index))
		return -1;
	for (size_t i = 0; i < shape.rank && i < room; i++)
		out[i] = shape.dim[i];
	return (ptrdiff_t)shape.rank;
}

ptrdiff_t tl_model_dims(const tl_model_input *in, size_t index, int64_t *out, size_t room)
{
	return shape_of(in->in->dims, index, out, room);
}

ptrdiff_t tl_model_strides(const tl_model_input *in, size_t index, int64_t *out, size_t room)
{
	return shape_of(in->in->strides, index, out, room);
}

const char *tl_model_type(const tl_model_input *in, size_t index)
{
	return tl__arg_text(in->in->types, index);
}

static const char *json_of(const tl_model_input *in, const tl_value *value)
{
	tl_buf text = {0};
	if (!value)
		return NULL;
	tl__value_json(&text, value);
	const char *json = tl__buf_text(&text);
	char *copy = json ? tl__arena_strndup(in->arena, json, text.n) : NULL;
	tl__buf_free(&text);
	return copy;
}

const char *tl_model_concrete(const tl_model_input *in, size_t index)
{
	const tl_value *value = tl__value_at(in->in->concrete, index);
	const char *text = tl__value_text(value);
	/* some exporters keep the values as JSON */
	return text || !value || value->kind == TL_V_NONE ? text : json_of(in, value);
}

bool tl_model_number(const tl_model_input *in, size_t index, double *out)
{
	tl_value value;
	bool ok;
	return tl__arg_literal(&value, &ok, in->in->concrete, index, in->arena) == 0 && ok &&
	       tl__to_double(&value, out);
}

const char *tl_model_arg_json(const tl_model_input *in, tl_event_arg list)
{
	return json_of(in, list_of(in, list));
}

const char *tl_model_extra_json(const tl_model_input *in, const char *key)
{
	return json_of(in, tl__value_get(in->in->extras, key));
}

const char *tl_model_kernel(const tl_model_input *in, size_t index)
{
	return index < in->in->n_kernels ? in->in->kernels[index] : NULL;
}

const char *tl_model_annotation(const tl_model_input *in)
{
	return in->in->annotation;
}

const tl_model_input *tl_model_forward(const tl_model_input *in)
{
	return in->forward;
}

int tl_model_type_bytes(const char *type)
{
	return type ? tl__dtype_bytes(type) : 0;
}

const char *tl_model_type_precision(const char *type)
{
	return type ? tl__dtype_precision(type) : NULL;
}

/* ---- writing ---- */

static int remember(tl_model_result *out, int code)
{
	if (code < 0 && out->code == 0)
		out->code = code;
	return code;
}

int tl__model_param(tl_model_result *out, const char *name, tl_value value)
{
	tl_perf_result *r = out->r;
	if (!name || !*name)
		return remember(out, TL_EINVAL);
	for (size_t i = 0; i < r->n_params; i++) {
		if (!strcmp(r->params[i].name, name)) {
			r->params[i].value = value;
			return 0;
		}
	}
	if (r->n_params >= TL_PERF_MAX_PARAMS)
		return remember(out, TL_ELIMIT);
	const char *copy = tl__arena_strndup(out->arena, name, strlen(name));
	if (!copy)
		return remember(out, TL_ENOMEM);
	r->params[r->n_params++] = (tl_perf_param){copy, value};
	return 0;
}

int tl_model_param_int(tl_model_result *out, const char *name, int64_t value)
{
	return tl__model_param(out, name, TL_VALUE_INT(value));
}

int tl_model_param_double(tl_model_result *out, const char *name, double value)
{
	return tl__model_param(out, name, TL_VALUE_DOUBLE(value));
}

int tl_model_param_bool(tl_model_result *out, const char *name, bool value)
{
	return tl__model_param(out, name, TL_VALUE_BOOL(value));
}

int tl_model_param_text(tl_model_result *out, const char *name, const char *value)
{
	if (!value)
		return tl__model_param(out, name, TL_VALUE_NONE);
	size_t n = strlen(value);
	const char *copy = tl__arena_strndup(out->arena, value, n);
	return copy ? tl__model_param(out, name, TL_VALUE_STRING(copy, n)) : remember(out, TL_ENOMEM);
}

int tl_model_param_ints(tl_model_result *out, const char *name, const int64_t *values, size_t n)
{
	tl_value tuple;
	if (tl__value_ints(&tuple, out->arena, TL_V_TUPLE, values, n) < 0)
		return remember(out, TL_ENOMEM);
	return tl__model_param(out, name, tuple);
}

int tl_model_param_json(tl_model_result *out, const char *name, const char *json)
{
	const tl_value *value;
	int code = json ? tl__value_parse(out->arena, json, strlen(json), true, &value) : TL_EFORMAT;
	return code < 0 ? remember(out, code) : tl__model_param(out, name, *value);
}

static tl_perf_cost *cost_of(tl_perf_result *r, tl_model_cost which)
{
	tl_perf_cost *costs[] = {&r->flops, &r->bytes, &r->flops_bwd, &r->bytes_bwd};
	return (size_t)which < 4 ? costs[which] : NULL;
}

int tl_model_cost_set(tl_model_result *out, tl_model_cost which, double value)
{
	static const char *const wrong[] = {"the FLOPs are no number from 0 up", "the bytes are no number from 0 up",
					    "the backward FLOPs are no number from 0 up",
					    "the backward bytes are no number from 0 up"};
	tl_perf_cost *cost = cost_of(out->r, which);
	if (!cost)
		return TL_EINVAL;
	if (!isfinite(value) || value < 0) {
		(void)tl__perf_fail(out->r, wrong[which]);
		return TL_EINVAL;
	}
	if (out->r->status == TL_PERF_OK)
		*cost = value == floor(value) ? tl__cost_int(value) : tl__cost_float(value);
	return 0;
}

double tl_model_cost_get(const tl_model_result *out, tl_model_cost which)
{
	const tl_perf_cost *cost = cost_of(out->r, which);
	return cost && cost->status == TL_PERF_OK && cost->known ? cost->value : (double)NAN;
}

int tl_model_spec(tl_model_result *out, const char *unit, const char *precision)
{
	const char *copies[2] = {unit, precision};
	for (size_t i = 0; i < 2; i++) {
		if (!copies[i])
			continue;
		copies[i] = tl__arena_strndup(out->arena, copies[i], strlen(copies[i]));
		if (!copies[i])
			return remember(out, TL_ENOMEM);
	}
	out->r->maf = copies[0];
	out->r->precision = copies[1];
	return 0;
}

void tl__model_reads_text(uint32_t reads, char *out, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {{TL_READS_ARGS, "args"},
		     {TL_READS_KERNELS, "kernels"},
		     {TL_READS_FORWARD, "forward"},
		     {TL_READS_ANNOTATION | TL_READS_STEP, "annotation"},
		     {TL_READS_EXTRAS, "extras"}};
	size_t n = 0;
	out[0] = '\0';
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((reads & names[i].bit) && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", names[i].name);
}

uint32_t tl__model_missing_reads(const tl_perf_model *model, uint32_t reads)
{
	if (reads & TL_READS_ANNOTATION)
		reads |= TL_READS_STEP;
	return model->reads & ~reads;
}

int tl_model_builtin(tl_model_result *out, const tl_model_input *in, const char *name, tl_error *err)
{
	if (!out || !in)
		return tl__fail(err, TL_EINVAL, "an input and a result are needed");
	const tl_perf_model *model = name ? tl__perf_model(name, strlen(name)) : NULL;
	if (!model)
		return tl__fail(err, TL_ENOTFOUND, "there is no built-in model of '%.200s'", name ? name : "");
	uint32_t missing = tl__model_missing_reads(model, in->reads);
	if (missing) {
		char text[128];
		tl__model_reads_text(missing, text, sizeof text);
		return tl__fail(err, TL_EINVAL,
				"the built-in model of '%.200s' reads what this model does not declare: %s", name,
				text);
	}
	tl_perf_input input = *in->in;
	input.name = name;
	if (model->eval(&input, out->arena, out->r) < 0)
		return remember(out, tl__nomem(err));
	out->builtin = true;
	return 0;
}

int tl_model_decline(tl_model_result *out)
{
	return tl__perf_not_modelled(out->r);
}

int tl_model_fail(tl_model_result *out, const char *why)
{
	const char *copy = why && *why ? tl__arena_strndup(out->arena, why, strlen(why)) : NULL;
	return tl__perf_fail(out->r, copy ? copy : "the model cannot read this input");
}

bool tl_model_ok(const tl_model_result *out)
{
	return out->r->status == TL_PERF_OK;
}
