/* SPDX-License-Identifier: MIT */
/* Built-in models of single operations that are given as text, without a trace. */
#include <math.h>
#include <string.h>

#include "perf/args.h"
#include "table/table.h"
#include "tracelens/model.h"

enum { FIELDS = 9 };

static int parse_object(const tl_value **out, tl_arena *arena, const char *text, const char *what, tl_error *err)
{
	*out = NULL;
	if (!text)
		return 0;
	int code = tl__value_parse(arena, text, strlen(text), false, out);
	if (code == TL_ENOMEM)
		return tl__nomem(err);
	if (code < 0 || (*out)->kind != TL_V_DICT)
		return tl__fail(err, TL_EINVAL, "the %s of an operation must be one JSON object", what);
	return 0;
}

/* Only lists are arguments; anything else counts as missing, as the importer has it. */
static const tl_value *list_of(const tl_value *args, const char *key)
{
	const tl_value *value = tl__value_get(args, key);
	return tl__value_is_list(value) ? value : NULL;
}

static void read_args(tl_perf_input *in, const tl_value *args)
{
	in->dims = list_of(args, "Input Dims");
	in->types = list_of(args, "Input type");
	in->strides = list_of(args, "Input Strides");
	in->concrete = list_of(args, "Concrete Inputs");
	in->output_types = list_of(args, "Output type");
	in->extras = args;
}

static tl_value text(const char *s)
{
	return s ? TL_VALUE_STRING(s, strlen(s)) : TL_VALUE_NONE;
}

static tl_value cost_value(const tl_perf_cost *cost)
{
	if (cost->status == TL_PERF_NOT_MODELLED)
		return text("not modelled");
	if (cost->status != TL_PERF_OK || (cost->known && !isfinite(cost->value)))
		return text("failed");
	if (!cost->known)
		return TL_VALUE_NONE;
	/* above 2^63 a double is integral anyway, and an integer would not hold it */
	return cost->integral && fabs(cost->value) < 0x1p63 ? TL_VALUE_INT((int64_t)cost->value)
							    : TL_VALUE_DOUBLE(cost->value);
}

static tl_value record(const tl_value *pairs, size_t n)
{
	return (tl_value){.kind = TL_V_DICT, .n = (uint32_t)n, .items = pairs};
}

static int tell(const tl_perf_result *r, tl_item_fn each, void *user, tl_error *err)
{
	static const char *const statuses[] = {
		[TL_PERF_OK] = "ok", [TL_PERF_NOT_MODELLED] = "not modelled", [TL_PERF_FAILED] = "failed"};
	tl_value params[2 * TL_PERF_MAX_PARAMS];
	bool good = r->status == TL_PERF_OK;
	for (size_t i = 0; good && i < r->n_params; i++) {
		params[2 * i] = text(r->params[i].name);
		params[2 * i + 1] = r->params[i].value;
	}
	const tl_value fields[2 * FIELDS] = {
		text("status"),    text(statuses[r->status]),
		text("why"),       text(r->status == TL_PERF_FAILED ? r->why : NULL),
		text("params"),    record(params, good ? r->n_params : 0),
		text("flops"),     cost_value(&r->flops),
		text("bytes"),     cost_value(&r->bytes),
		text("flops_bwd"), cost_value(&r->flops_bwd),
		text("bytes_bwd"), cost_value(&r->bytes_bwd),
		text("unit"),      text(good ? r->maf : NULL),
		text("precision"), text(good ? r->precision : NULL),
	};
	const tl_value all = record(fields, good ? FIELDS : 2);
	return tl__tell_value(&all, each, user, err);
}

static int evaluate(const tl_model_question *q, tl_arena *arena, tl_item_fn each, void *user, tl_error *err)
{
	const tl_perf_model *model = q->name ? tl__perf_model(q->name, strlen(q->name)) : NULL;
	const tl_value *args, *forward_args;
	tl_perf_input forward = {.event = TL_ROW_NONE};
	tl_perf_input in = {.name = q->name,
			    .event = TL_ROW_NONE,
			    .kernels = q->kernels,
			    .n_kernels = q->n_kernels,
			    .annotation = q->annotation};
	tl_perf_result result;

	if (!model)
		return tl__fail(err, TL_ENOTFOUND, "there is no built-in model of '%.200s'", q->name ? q->name : "");
	TL_TRY(parse_object(&args, arena, q->args, "args", err));
	TL_TRY(parse_object(&forward_args, arena, q->forward, "forward args", err));
	read_args(&in, args);
	if (forward_args) {
		read_args(&forward, forward_args);
		forward.name = "";
		in.forward = &forward;
	}
	tl__perf_begin(&result);
	if (model->eval(&in, arena, &result) < 0)
		return tl__nomem(err);
	return tell(&result, each, user, err);
}

int tl_model_evaluate(const tl_model_question *question, tl_item_fn each, void *user, tl_error *err)
{
	if (!question || !question->name || !each || (question->n_kernels && !question->kernels))
		return tl__fail(err, TL_EINVAL, "an operation's name and someone to tell the answer are needed");
	tl_arena arena = {0};
	int code = evaluate(question, &arena, each, user, err);
	tl__arena_free(&arena);
	return code;
}
