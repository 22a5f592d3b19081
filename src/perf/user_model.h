/* SPDX-License-Identifier: MIT */
/**
 * @file user_model.h
 * Models and categories that a caller registers, in front of the built-in registry. One set an analyser, no globals.
 */
#ifndef TL_PERF_USER_MODEL_H
#define TL_PERF_USER_MODEL_H

#include "perf/model.h"
#include "tracelens/model.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/strings.h"

/** A registered model. Its `model.eval` is NULL, which tells it from a built-in one. */
typedef struct tl_user_model {
	tl_perf_model model; /* first, so that a pointer to it is one to all */
	tl_model_fn eval;
	void *user;
	bool has_category;  /* given, not merely filled in */
	const char *origin; /* "ops.lua:3: ", for messages; NULL: not told */
} tl_user_model;

/** All models: built-in ones and what was registered. Zero-initialise; without registrations it costs nothing. */
typedef struct tl_models {
	tl_arena arena;
	tl_strings *names;               /* of registered operations; NULL: none yet */
	tl_map by_name;                  /* name -> index into models */
	tl_map by_category;              /* name -> index into categories */
	TL_VEC(tl_user_model) models;    /* in order of registration; they move while more are registered */
	TL_VEC(const char *) categories; /* set for a name */
	TL_VEC(const char *) sheets;     /* built-in families, then new ones; empty: only built-in ones */
} tl_models;

void tl__models_free(tl_models *models);
/** See tl_analyzer_register_model and tl_analyzer_set_category. */
int tl__models_add(tl_models *models, const tl_model_desc *desc, tl_error *err);
int tl__models_set_category(tl_models *models, const char *name, const char *category, tl_error *err);

/** As tl__perf_model_exact, tl__perf_model, tl__perf_category and tl__perf_sheets, with what was registered. */
const tl_perf_model *tl__models_exact(const tl_models *models, const char *name, size_t n);
const tl_perf_model *tl__models_find(const tl_models *models, const char *name, size_t n);
const char *tl__models_category(const tl_models *models, const char *name, size_t n, const char *first_kernel);
const char *const *tl__models_sheets(const tl_models *models, size_t *n);
/** Whether a family is a registered one without anything backward: its one sheet is named as the family. */
bool tl__models_sheet_is_single(const tl_models *models, const char *sheet);

/**
 * Evaluates any model. 0, TL_ENOMEM, or TL_ECALLBACK with the callback's error in `err`.
 */
int tl__model_eval(const tl_perf_model *model, const tl_perf_input *in, tl_arena *arena, tl_perf_result *out,
		   tl_error *err);

/* ---- inside of the callback's arguments, for callbacks of our own ---- */

struct tl_model_input {
	const tl_perf_input *in;
	tl_arena *arena;
	const struct tl_model_input *forward;
	uint32_t reads; /* declared; of built-in models that are called, too */
};

struct tl_model_result {
	tl_perf_result *r;
	tl_arena *arena;
	int code;     /* first failure of a setter */
	bool builtin; /* holds the answer of a built-in model, which says itself what is unknown and what is not there
		       */
};

/** Adds or replaces a parameter; `value` lives in the arena. 0, TL_ENOMEM, TL_ELIMIT, TL_EINVAL. */
int tl__model_param(tl_model_result *out, const char *name, tl_value value);
/** Says where the model of an operation was declared. TL_ENOMEM. */
int tl__models_set_origin(tl_models *models, const char *name, const char *origin, tl_error *err);
/** Where a registered family that makes a sheet of this name was declared; "" when nobody knows. */
const char *tl__models_sheet_origin(const tl_models *models, const char *sheet);
/** What a built-in model reads beyond `reads`; an annotation serves as that of an iteration. */
uint32_t tl__model_missing_reads(const tl_perf_model *model, uint32_t reads);
/** Names of what `reads` holds, for messages: "args, kernels". */
void tl__model_reads_text(uint32_t reads, char *out, size_t size);

#endif
