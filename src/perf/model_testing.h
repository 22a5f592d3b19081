/* SPDX-License-Identifier: MIT */
/** @file model_testing.h What tests of operation models share; include after cmocka.h. */
#ifndef TL_PERF_MODEL_TESTING_H
#define TL_PERF_MODEL_TESTING_H

#include <string.h>

#include "perf/args.h"
#include "util/no_memory.h"

/** JSON text as a value; NULL stays NULL: the event has no such key. */
static inline const tl_value *parse(tl_arena *arena, const char *text)
{
	const tl_value *value = NULL;
	if (text)
		assert_int_equal(tl__value_parse(arena, text, strlen(text), false, &value), 0);
	return value;
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
