/* SPDX-License-Identifier: MIT */
/** @file families.h The evaluation functions of all models; formulas stand at their definitions. */
#ifndef TL_PERF_FAMILIES_H
#define TL_PERF_FAMILIES_H

#include "perf/model.h"

/* Every function that the table names, once for each of its operations. */
#define MODEL(name, category, bwd_category, sheet, reads, eval) \
	int eval(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out);
#define MODEL_OUTSIDE_STEPS MODEL
#include "perf/models.def"
#undef MODEL_OUTSIDE_STEPS
#undef MODEL

/* The models of name patterns, in registry.c. */
int tl__model_triton(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out);

#endif
