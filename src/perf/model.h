/* SPDX-License-Identifier: MIT */
/**
 * @file model.h
 * Operation models: FLOPs, bytes and parameters of an operation from its arguments.
 * One file per family (perf/gemm.c, perf/sdpa.c ...), one registry table (perf/registry.c). A
 * model is a pure function of what it declares to read, so the analysis evaluates it once
 * per distinct input.
 */
#ifndef TL_PERF_MODEL_H
#define TL_PERF_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracelens/perf.h"
#include "util/arena.h"
#include "util/value.h"

/** What a model looks at; a cache key holds the operation name and exactly this. */
enum tl_perf_reads {
	TL_READS_ARGS = 1,       /* dims, types, strides, concrete */
	TL_READS_KERNELS = 2,    /* names of the kernels below the operation */
	TL_READS_FORWARD = 4,    /* arguments of the linked forward event */
	TL_READS_ANNOTATION = 8, /* enclosing annotation */
	TL_READS_STEP =
		16, /* iteration annotation, as `annotation`, where the analyser attaches it (options.annotated) */
	TL_READS_EXTRAS = 32, /* what edits of the tree attached ("MoE topk", "v4_mode") */
	TL_READS_EVENT = 64   /* the event itself, whatever it holds: asked for each one */
};

/** Input of a model. Argument values are lists (not tuples); NULL when the event lacks the key. */
typedef struct tl_perf_input {
	const char *name; /* operation name */
	tl_row event;     /* UID, TL_ROW_NONE unless it is read */
	const tl_value *dims, *types, *strides, *concrete;
	const tl_value *output_types; /* Output type; usually NULL */
	const char *const *kernels;   /* names of GPU kernels below, launch order */
	size_t n_kernels;
	const char *annotation;                  /* or NULL */
	const struct tl_triton_kernel *compiled; /* of a compiled kernel, what the Inductor cache says of it, or NULL */
	const tl_value *extras;                  /* dict of extra args by key, or NULL when there are none */
	const struct tl_perf_input *forward;     /* linked forward event, or NULL */
} tl_perf_input;

typedef enum tl_perf_status {
	TL_PERF_OK,
	TL_PERF_NOT_MODELLED, /* the model says it does not cover this: no row, silently */
	TL_PERF_FAILED        /* the input does not make sense: row without metrics, counted, warned about */
} tl_perf_status;

/** A FLOP or byte count. `known` false with status OK: cannot be told (unknown dtype). */
typedef struct tl_perf_cost {
	uint8_t status; /* tl_perf_status */
	bool known;
	bool integral; /* prints as an integer */
	double value;
} tl_perf_cost;

typedef struct tl_perf_param {
	const char *name; /* without "param: " */
	tl_value value;   /* tuples are TL_V_TUPLE; absent is TL_V_NONE */
} tl_perf_param;

#define TL_PERF_MAX_PARAMS 32

/** Output of a model; texts and values live in the arena that was passed, or for ever. */
typedef struct tl_perf_result {
	uint8_t status;  /* tl_perf_status of the parameters; not OK: all else is unset */
	const char *why; /* one line for people when FAILED */
	tl_perf_cost flops, bytes, flops_bwd, bytes_bwd;
	const char *maf;       /* "matrix", "vector" or NULL */
	const char *precision; /* "bf16" ... or NULL */
	size_t n_params;
	tl_perf_param params[TL_PERF_MAX_PARAMS];
} tl_perf_result;

/** Evaluates a model; 0 or TL_ENOMEM. Everything else is told through the result's status. */
typedef int (*tl_perf_eval)(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out);

/** One operation name. */
typedef struct tl_perf_model {
	const char *name;         /* exact operation name */
	const char *category;     /* final category, "SDPA_fwd" */
	const char *bwd_category; /* category of the linked backward operation, or NULL */
	const char *sheet;        /* sheet family, "SDPA" */
	uint32_t reads;           /* tl_perf_reads */
	tl_perf_eval eval;
} tl_perf_model;

/**
 * The model of an operation: exact name first, then name patterns (triton_poi_, triton_red_,
 * triton_per_). NULL when there is none. Hash lookup in a table made at compile time or sorted search.
 */
const tl_perf_model *tl__perf_model(const char *name, size_t n);
/** Exact names only (what forms per-category sheets and has a category). */
const tl_perf_model *tl__perf_model_exact(const char *name, size_t n);
/**
 * What an operation is outside of the iterations of a serving framework: attention over packed sequences, which serving
 * explains by its annotations, is that of training, explained by its arguments. NULL: the same.
 */
const tl_perf_model *tl__perf_model_outside_steps(const tl_perf_model *model);
/** All models in registry order. */
const tl_perf_model *tl__perf_models(size_t *n);
/** Sheet families in the order of their sheets ("GEMM", "SDPA", ...). */
const char *const *tl__perf_sheets(size_t *n);

/**
 * Category of an operation (spec 02 section 3): registry, "triton" and "record_param_comms" prefixes,
 * then the name of its first kernel (by start time; NULL when it has none), else "other".
 * Returns a constant.
 */
const char *tl__perf_category(const char *name, size_t n, const char *first_kernel);

/* ---- dtypes (perf/dtype.c) ---- */
/** Bytes per element of a dtype as traces name it (case ignored), or 0 when unknown. */
int tl__dtype_bytes(const char *name);
/** Bytes per value: as tl__dtype_bytes, but half of it when an element packs two values (4-bit floats). */
double tl__dtype_value_bytes(const char *name);
/** "bf16", "fp32" ... of a dtype as traces name it, or NULL. */
const char *tl__dtype_precision(const char *name);

/* ---- roofline (perf/roofline.c); architectures are in tracelens/perf.h ---- */
/** Least time for some work on a platform. */
typedef struct tl_roofline {
	double time_us;     /* microseconds */
	bool compute_bound; /* else memory bound */
	bool is_peak;       /* the rate is the data sheet's, none is known to be achievable */
} tl_roofline;
/**
 * Roofline of `flops` FLOPs and `*bytes` bytes (NULL: unknown) at the rate of a compute spec
 * ("matrix_bf16"). False when it cannot be told: arch NULL, no rate or bandwidth, bytes
 * unknown, no FLOPs.
 */
bool tl__roofline(tl_roofline *out, const tl_arch *arch, const char *spec, double flops, const double *bytes);

#endif
