/* SPDX-License-Identifier: MIT */
/** @file estimate_family.h What the lists of families are written with. */
#ifndef TL_PERF_ESTIMATE_FAMILY_H
#define TL_PERF_ESTIMATE_FAMILY_H

#include <math.h>
#include <string.h>

#include "perf/estimate.h"
#include "perf/formulas.h"

#define INT(name, fallback, meaning)                              \
	{                                                         \
		name, TL_ESTIMATE_INT, fallback, meaning, 1, NULL \
	}
#define COUNT(name, fallback, meaning)                            \
	{                                                         \
		name, TL_ESTIMATE_INT, fallback, meaning, 0, NULL \
	}
#define FLAG(name, fallback, meaning)                              \
	{                                                          \
		name, TL_ESTIMATE_BOOL, fallback, meaning, 0, NULL \
	}
#define SHAPE(name, fallback, meaning)                              \
	{                                                           \
		name, TL_ESTIMATE_SHAPE, fallback, meaning, 1, NULL \
	}
/* the same of what may be 0 */
#define AMOUNTS(name, fallback, meaning)                            \
	{                                                           \
		name, TL_ESTIMATE_SHAPE, fallback, meaning, 0, NULL \
	}
#define DTYPE(name, fallback, meaning)                              \
	{                                                           \
		name, TL_ESTIMATE_DTYPE, fallback, meaning, 0, NULL \
	}
#define CHOICE(name, fallback, words, meaning)                        \
	{                                                             \
		name, TL_ESTIMATE_CHOICE, fallback, meaning, 0, words \
	}

/* An entry of a list: name, title, formulas; parameters and function are called after it. */
#define ENTRY(name, title, ...)                                                                                \
	{                                                                                                      \
		{#name, title, __VA_ARGS__, name##_params, sizeof name##_params / sizeof *name##_params}, name \
	}
#define NO_BACKWARD NULL, NULL

#define DTYPE_COMPUTE                                                                                                 \
	DTYPE("dtype_compute", "",                                                                                    \
	      "that the unit computes in, for the compute spec; without it fp4 when the second operand is fp4, else " \
	      "that "                                                                                                 \
	      "of the first")

#define TL_UNKNOWN_TYPE ((tl_number_type){0, NULL})

static inline double num(const tl_estimate_in *a, const char *name)
{
	return tl__estimate_number(a, name);
}

static inline double num_or(const tl_estimate_in *a, const char *name, double otherwise)
{
	return tl__estimate_number_or(a, name, otherwise);
}

static inline bool flag(const tl_estimate_in *a, const char *name)
{
	return tl__estimate_flag(a, name);
}

static inline const tl_shape *shape(const tl_estimate_in *a, const char *name)
{
	return tl__estimate_shape(a, name);
}

static inline bool given(const tl_estimate_in *a, const char *name)
{
	return tl__estimate_value(a, name)->given;
}

/* The family's main dtype, and one of its own for an operand. */
static inline tl_number_type dtype(const tl_estimate_in *a)
{
	return tl__estimate_dtype(a, "dtype", TL_UNKNOWN_TYPE);
}

static inline tl_number_type operand(const tl_estimate_in *a, const char *name, tl_number_type otherwise)
{
	return tl__estimate_dtype(a, name, otherwise);
}

static inline void rate(tl_estimate_cost *out, const char *unit, tl_number_type type)
{
	out->unit = unit;
	out->precision = type.precision;
}

/* Of operands that differ: fp4 weights are multiplied as fp4, as operations of a trace are counted. */
static inline tl_number_type computing(const tl_estimate_in *a, tl_number_type first, tl_number_type second)
{
	bool fp4 = second.precision && !strcmp(second.precision, "fp4");
	return operand(a, "dtype_compute", fp4 ? second : first);
}

/* Bytes unless a size that they depend on is unknown. */
static inline double known(double bytes, double size1, double size2)
{
	return size1 > 0 && size2 > 0 ? bytes : NAN;
}

/* What a GEMM writes: narrow operands are accumulated and written wider. */
static inline tl_number_type gemm_output(tl_number_type a)
{
	if (a.precision && !strcmp(a.precision, "int8"))
		return (tl_number_type){4, NULL};
	return a.size > 0 && a.size <= 1 ? (tl_number_type){2, "bf16"} : a;
}

#endif
