/* SPDX-License-Identifier: MIT */
/**
 * @file args.h
 * What every operation model needs: reading arguments of an event without trusting them, and writing
 * parameters and costs into the result.
 */
#ifndef TL_PERF_ARGS_H
#define TL_PERF_ARGS_H

#include "perf/model.h"
#include "util/error.h"

/** Highest rank of a tensor that models look at (PyTorch's own limit is 64, kernels stop at 25). */
#define TL_MAX_RANK 25
/** Sizes of tensors beyond this are nonsense: they could not be told apart in a double. */
#define TL_MAX_DIM (INT64_C(1) << 53)

typedef struct tl_shape {
	size_t rank;
	int64_t dim[TL_MAX_RANK];
} tl_shape;

/* ---- reading ---- */

/** Shape of the list of sizes that is item `index`; false when it is none: no integers, negative, absurd. */
bool tl__arg_shape(tl_shape *out, const tl_value *dims, size_t index);
/** Number of elements; false on overflow. A 0-d tensor has one. */
bool tl__shape_count(int64_t *out, const tl_shape *shape);
/** Product of the sizes from `first` on, as a double. */
double tl__shape_volume(const tl_shape *shape, size_t first);

/** Text of item `index`, or NULL when there is none or it is no text. */
const char *tl__arg_text(const tl_value *list, size_t index);
/** Whether item `index` is a list with something in it: a tensor of one or more dimensions. */
bool tl__arg_given(const tl_value *dims, size_t index);
/** Whether item `index` is there and not null ([] is not null: how traces write an absent tensor). */
bool tl__arg_not_null(const tl_value *dims, size_t index);
/** Bytes per element of the dtype in item `index`; 0 when unknown or missing. */
int tl__arg_bytes(const tl_value *types, size_t index);
/** Precision of the dtype in item `index`; NULL when unknown or missing. */
const char *tl__arg_precision(const tl_value *types, size_t index);

/**
 * Value of a Concrete Inputs item: traces print scalars and lists as Python literals ("True", "0.5",
 * "[1, 2.]", "None"), some exporters keep them as JSON. Items of lists may be scalars only. An empty
 * or missing item is TL_V_NONE. Sets `*ok` to false when it is no literal. TL_ENOMEM.
 */
int tl__arg_literal(tl_value *out, bool *ok, const tl_value *concrete, size_t index, tl_arena *arena);
/** Integers of a literal list (a single number counts as a list of one); false when it is something else. */
bool tl__literal_ints(tl_shape *out, const tl_value *literal);
/** Whether the value is true in Python's sense. */
bool tl__truth(const tl_value *value);
/** Python's int(): an integer, a double (cut), a bool or their text; false when it is none. */
bool tl__to_int(const tl_value *value, int64_t *out);
/** Python's float(): a number or its text; false when it is none. */
bool tl__to_double(const tl_value *value, double *out);
/** "true"/"1" (any case, blanks around) is true; "false"/"0"/"" and none false; other texts true. */
bool tl__to_bool(const tl_value *value);
/** Whether the item's text is "true", case ignored; empty, "None" and missing are false. */
bool tl__arg_is_true(const tl_value *concrete, size_t index);

/* ---- writing ---- */

/** Starts a result: OK, no parameters, all costs not modelled. */
void tl__perf_begin(tl_perf_result *out);
/** Ends an evaluation: the input does not make sense. Always 0, to be returned. */
int tl__perf_fail(tl_perf_result *out, const char *why);
/** Ends an evaluation: the model does not cover this. Always 0. */
int tl__perf_not_modelled(tl_perf_result *out);

tl_perf_cost tl__cost_int(double value);   /* a whole number that prints as one */
tl_perf_cost tl__cost_float(double value); /* prints with a decimal point */
tl_perf_cost tl__cost_unknown(void);       /* cannot be told: unknown dtype */
tl_perf_cost tl__cost_failed(void);
/** tl__cost_int, or unknown unless `known`. */
tl_perf_cost tl__cost_if(bool known, double value);

/** Adds a parameter; `name` is a constant. What goes beyond TL_PERF_MAX_PARAMS is left out. */
void tl__param(tl_perf_result *out, const char *name, tl_value value);
void tl__param_int(tl_perf_result *out, const char *name, int64_t value);
void tl__param_bool(tl_perf_result *out, const char *name, bool value);
/** A list or tuple as a tuple, copied into the arena; None when it is neither. TL_ENOMEM. */
int tl__param_tuple(tl_perf_result *out, tl_arena *arena, const char *name, const tl_value *list);
/** A shape as a tuple. TL_ENOMEM. */
int tl__param_shape(tl_perf_result *out, tl_arena *arena, const char *name, const tl_shape *shape);
/** Texts as a tuple of strings; NULL is None. TL_ENOMEM. */
int tl__param_texts(tl_perf_result *out, tl_arena *arena, const char *name, const char *const *texts, size_t n);
/** A text, or None for NULL. TL_ENOMEM. */
int tl__param_text(tl_perf_result *out, tl_arena *arena, const char *name, const char *text);

/** A tuple or list of integers in the arena. TL_ENOMEM. */
int tl__value_ints(tl_value *out, tl_arena *arena, tl_value_kind kind, const int64_t *v, size_t n);
/** Deep copy into the arena. TL_ENOMEM. */
int tl__value_copy(tl_value *out, tl_arena *arena, const tl_value *value);

#endif
