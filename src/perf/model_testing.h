/* SPDX-License-Identifier: MIT */
/** @file model_testing.h What tests of operation models share; include after cmocka.h. */
#ifndef TL_PERF_MODEL_TESTING_H
#define TL_PERF_MODEL_TESTING_H

#include <stdio.h>
#include <string.h>

#include "perf/args.h"
#include "util/buf.h"
#include "util/no_memory.h"

/** JSON text as a value; NULL stays NULL: the event has no such key. */
static inline const tl_value *parse(tl_arena *arena, const char *text)
{
	const tl_value *value = NULL;
	if (text)
		assert_int_equal(tl__value_parse(arena, text, strlen(text), false, &value), 0);
	return value;
}

/** Parameters as reports list them. */
static inline void assert_listed(const tl_perf_result *r, const char *expected)
{
	tl_buf text = {0};
	for (size_t i = 0; i < r->n_params; i++) {
		tl__buf_printf(&text, i ? ", %s: " : "%s: ", r->params[i].name);
		tl__value_repr(&text, &r->params[i].value);
	}
	assert_string_equal(tl__buf_text(&text), expected);
	tl__buf_free(&text);
}

/** Unit and precision as reports show them, "" where one is unknown. */
static inline void assert_spec(const tl_perf_result *r, const char *expected)
{
	char spec[64] = "";
	if (r->maf && r->precision)
		snprintf(spec, sizeof spec, "%s_%s", r->maf, r->precision);
	assert_string_equal(spec, expected);
}

typedef struct model_evaluation {
	const tl_perf_model *model;
	const tl_perf_input *in;
} model_evaluation;

static inline int evaluate_model(void *evaluation)
{
	const model_evaluation *e = evaluation;
	tl_arena arena = {0};
	tl_perf_result r;
	int code = e->model->eval(e->in, &arena, &r);
	tl__arena_free(&arena);
	return code;
}

/** Lets every allocation of an evaluation fail in turn: the model says so; it neither crashes nor leaks. */
static inline void assert_survives_no_memory(const tl_perf_model *model, const tl_perf_input *in)
{
	model_evaluation e = {model, in};
	(void)fail_each_allocation(evaluate_model, &e);
}

#endif
