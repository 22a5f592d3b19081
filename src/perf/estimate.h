/* SPDX-License-Identifier: MIT */
/** @file estimate.h Inside of models without a trace: their families, and values of parameters. */
#ifndef TL_PERF_ESTIMATE_H
#define TL_PERF_ESTIMATE_H

#include "perf/args.h"
#include "tracelens/perf.h"

#define TL_ESTIMATE_MAX_PARAMS 24

typedef struct tl_number_type {
	double size;           /* bytes per value; 0: unknown */
	const char *precision; /* NULL: no rate is ever given for it */
} tl_number_type;

/** Value of one parameter, as its kind says. */
typedef struct tl_estimate_given {
	bool given; /* by the caller or as a fallback */
	int64_t number;
	tl_shape shape;
	tl_number_type dtype;
	const char *choice; /* a constant */
} tl_estimate_given;

/** Parameters of one evaluation, in the order of the family. */
typedef struct tl_estimate_in {
	const tl_estimate_family *family;
	tl_estimate_given value[TL_ESTIMATE_MAX_PARAMS];
	bool backward;
} tl_estimate_in;

typedef struct tl_estimate_cost {
	double flops, bytes;   /* NaN: unknown */
	const char *unit;      /* "matrix", "vector" or NULL */
	const char *precision; /* NULL: unknown */
	tl_shape output;       /* rank 0: not told */
} tl_estimate_cost;

/** Computes the cost; a reason when the parameters make no sense together, else NULL. */
typedef const char *(*tl_estimate_eval)(const tl_estimate_in *a, tl_estimate_cost *out);

/** A family and its function. Lists end with a NULL name. */
typedef struct tl_estimate_entry {
	tl_estimate_family family;
	tl_estimate_eval eval;
} tl_estimate_entry;
extern const tl_estimate_entry tl__estimate_matrix[], tl__estimate_vector[];

/* ---- reading, for the functions of families; the parameter must be in the family's list ---- */
const tl_estimate_given *tl__estimate_value(const tl_estimate_in *a, const char *name);
double tl__estimate_number(const tl_estimate_in *a, const char *name);
/** The number, or `otherwise` when the parameter is not given. */
double tl__estimate_number_or(const tl_estimate_in *a, const char *name, double otherwise);
bool tl__estimate_flag(const tl_estimate_in *a, const char *name);
const tl_shape *tl__estimate_shape(const tl_estimate_in *a, const char *name);
/** The dtype, or `otherwise` when the parameter is not given. */
tl_number_type tl__estimate_dtype(const tl_estimate_in *a, const char *name, tl_number_type otherwise);

/* ---- values from text (estimate_values.c) ---- */

/** Index of a parameter of a family, or -1. */
ptrdiff_t tl__estimate_find(const tl_estimate_family *family, const char *name);
/** Whether `name` is the further parameter of families with a backward. */
bool tl__estimate_is_backward(const tl_estimate_family *family, const char *name);
/** Reads a value of a parameter. TL_EINVAL with a message that names the parameter. */
int tl__estimate_read(tl_estimate_given *out, const tl_estimate_param_info *info, const tl_estimate_param *param,
		      tl_error *err);
/** Reads the value of a bool parameter. */
int tl__estimate_read_flag(bool *out, const tl_estimate_param *param, tl_error *err);

#endif
