/* SPDX-License-Identifier: MIT */
/** @file model_testing.h What tests of operation models share; include after cmocka.h. */
#ifndef TL_PERF_MODEL_TESTING_H
#define TL_PERF_MODEL_TESTING_H

#include <string.h>

#include "perf/args.h"
#include "util/alloc.h"

/** JSON text as a value; NULL stays NULL: the event has no such key. */
static inline const tl_value *parse(tl_arena *arena, const char *text)
{
	const tl_value *value = NULL;
	if (text)
		assert_int_equal(tl__value_parse(arena, text, strlen(text), false, &value), 0);
	return value;
}

/** Lets every allocation of an evaluation fail in turn: the model says so; it neither crashes nor leaks. */
static inline void assert_survives_no_memory(const tl_perf_model *model, const tl_perf_input *in)
{
	int code = TL_ENOMEM;
	for (int64_t k = 0; code && k < 100; k++) {
		tl_arena arena = {0};
		tl_perf_result r;
		tl__alloc_fail_after(k);
		code = model->eval(in, &arena, &r);
		tl__alloc_fail_after(-1);
		assert_true(code == 0 || code == TL_ENOMEM);
		tl__arena_free(&arena);
	}
	assert_int_equal(code, 0);
}

#endif
