/* SPDX-License-Identifier: MIT */
/**
 * @file model.h
 * Operation models of your own: FLOPs, bytes and parameters of operations that the library does not know, or knows
 * differently. They are registered on an analyser and then count like the built-in ones: in categories, in the unified
 * table, in per-category sheets. docs/extending.md has worked examples, examples/custom_op.c a program.
 */
#ifndef TRACELENS_MODEL_H
#define TRACELENS_MODEL_H

#include <tracelens/analysis.h>
#include <tracelens/common.h>
#include <tracelens/event.h>
#include <tracelens/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The operation that a model is asked about. Read-only; texts and the input itself are gone after the call. */
typedef struct tl_model_input tl_model_input;
/** What the model answers. Begins empty: no parameters, FLOPs and bytes unknown, no backward pass. */
typedef struct tl_model_result tl_model_result;

/**
 * A model: reads `in`, fills `out` with the functions below, returns 0. An input that it does not cover or that makes
 * no sense is told by tl_model_decline or tl_model_fail, not by a failure. Any other return value ends the call at hand
 * (a table, a report) with TL_ECALLBACK and what the model wrote into `err`, which is never NULL.
 *
 * A model is asked once per distinct input, so its answer may depend on nothing but what it declares to read.
 */
typedef int (*tl_model_fn)(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err);

/** What a model looks at, besides the name of the operation. Anything else looks empty to it. */
enum tl_model_reads {
	TL_MODEL_READS_ARGS = 1,       /**< Input Dims, Input type, Input Strides, Concrete Inputs */
	TL_MODEL_READS_KERNELS = 2,    /**< names of the GPU kernels below */
	TL_MODEL_READS_FORWARD = 4,    /**< arguments of the forward operation of a backward one */
	TL_MODEL_READS_ANNOTATION = 8, /**< the annotation around */
	TL_MODEL_READS_EXTRAS = 32,    /**< what edits of the tree attached (tl_edit_set_arg) */
	TL_MODEL_READS_EVENT = 64      /**< the event itself (tl_model_event): asked once for each event */
};

/** A model and where its operation belongs. Zero-initialise; texts are copied. */
typedef struct tl_model_desc {
	const char *name; /**< operation, exactly as in the trace */
	/** Category of the operation ("GEMM", "SDPA_fwd"). NULL: as without this model. */
	const char *category;
	/** Category of its backward pass; NULL: that of the built-in model of this name, else its backward pass has
	 * none. */
	const char *bwd_category;
	/**
	 * Family whose sheet shows it; NULL: that of the built-in model of this name, else none. A name that no
	 * built-in family has makes a new one behind them, in order of registration: a sheet `X`, or `X_fwd` and
	 * `X_bwd` when one of its models has a backward category or a category that ends in `_bwd`. Letters, digits and
	 * "_-. ".
	 */
	const char *sheet;
	/** tl_model_reads, added up; 0: arguments, extras, and what the built-in model of this name reads. */
	uint32_t reads;
	tl_model_fn eval;
	void *user; /**< handed to eval; must outlive the analyser */
} tl_model_desc;

/**
 * Registers a model on an analyser, in place of the built-in one or an earlier one of this name. Before the first
 * table is made.
 * @return 0, TL_EINVAL (no name, no eval, a sheet name that is none, too late), TL_ELIMIT (over 200 families),
 * TL_ENOMEM
 */
TL_API int tl_analyzer_register_model(tl_analyzer *analyzer, const tl_model_desc *model, tl_error *err);
/**
 * Sets the category of an operation, with a model or without; goes before all other rules. Before the first table is
 * made. TL_EINVAL (name or category missing, too late), TL_ENOMEM.
 */
TL_API int tl_analyzer_set_category(tl_analyzer *analyzer, const char *name, const char *category, tl_error *err);

/** A built-in model. Constants. */
typedef struct tl_builtin_model {
	const char *name;         /**< operation, exactly as in traces */
	const char *category;     /**< "GEMM", "SDPA_fwd" */
	const char *bwd_category; /**< of its backward pass; NULL: it has none */
	const char *sheet;        /**< family */
} tl_builtin_model;
/** Built-in model number `index` in the order of the registry, into `out`; false past the last. */
TL_API bool tl_model_builtin_at(size_t index, tl_builtin_model *out);

/* ---- reading the input; indexes of arguments count from 0 ---- */

/** UID of the operation's event, for a model that reads it; TL_ROW_NONE for the forward operation and for others. */
TL_API tl_row tl_model_event(const tl_model_input *in);
/** Name of the operation. */
TL_API const char *tl_model_name(const tl_model_input *in);
/** Number of arguments that a list says something about; 0 when the event lacks the list. */
TL_API size_t tl_model_arg_count(const tl_model_input *in, tl_event_arg list);
/**
 * Sizes of a tensor argument: writes up to `room` to `out` and returns the rank; -1 for an argument that is missing, no
 * tensor, or has a size that is no whole number from 0 up. A 0-d tensor and an absent one look alike: rank 0.
 */
TL_API ptrdiff_t tl_model_dims(const tl_model_input *in, size_t index, int64_t *out, size_t room);
/** The same of its strides. */
TL_API ptrdiff_t tl_model_strides(const tl_model_input *in, size_t index, int64_t *out, size_t room);
/** Type of an argument ("c10::BFloat16"), NULL when missing. */
TL_API const char *tl_model_type(const tl_model_input *in, size_t index);
/** Value of an argument as the trace prints it ("True", "0.5", "[1, 2]"), NULL when missing. */
TL_API const char *tl_model_concrete(const tl_model_input *in, size_t index);
/** The value as a number; true is 1. False when it is none. */
TL_API bool tl_model_number(const tl_model_input *in, size_t index, double *out);
/** A whole list as JSON text, NULL when the event lacks it or there is no memory. */
TL_API const char *tl_model_arg_json(const tl_model_input *in, tl_event_arg list);
/** An extra argument as JSON text, NULL as above. */
TL_API const char *tl_model_extra_json(const tl_model_input *in, const char *key);
/** Name of GPU kernel number `index` below the operation, by start; NULL past the last. */
TL_API const char *tl_model_kernel(const tl_model_input *in, size_t index);
/** The annotation around, NULL when there is none. */
TL_API const char *tl_model_annotation(const tl_model_input *in);
/** The linked forward operation, NULL when there is none. */
TL_API const tl_model_input *tl_model_forward(const tl_model_input *in);

/** Bytes an element of a type as traces name it ("c10::BFloat16", "float"), 0 when unknown. NULL is unknown. */
TL_API int tl_model_type_bytes(const char *type);
/** Precision of such a type ("bf16", "fp32"), NULL when unknown. */
TL_API const char *tl_model_type_precision(const char *type);

/* ---- writing the result ---- */

/** Most parameters of a model. */
#define TL_MODEL_MAX_PARAMS 32

/**
 * Adds a parameter, shown as `param: name` in this order; a name once more replaces the value. The failure of one is
 * remembered and ends the evaluation, so they need no checking. TL_ELIMIT (too many), TL_EINVAL (no name), TL_ENOMEM.
 */
TL_API int tl_model_param_int(tl_model_result *out, const char *name, int64_t value);
TL_API int tl_model_param_double(tl_model_result *out, const char *name, double value);
TL_API int tl_model_param_bool(tl_model_result *out, const char *name, bool value);
/** A copy of the text; NULL: no value, the cell is blank. */
TL_API int tl_model_param_text(tl_model_result *out, const char *name, const char *value);
/** A tuple, "(2, 3)". */
TL_API int tl_model_param_ints(tl_model_result *out, const char *name, const int64_t *values, size_t n);
/** A JSON value; arrays become tuples: ["float", null] is "('float', None)". TL_EFORMAT: `json` is not one value. */
TL_API int tl_model_param_json(tl_model_result *out, const char *name, const char *json);

/** Work that a model knows. */
typedef enum tl_model_cost {
	TL_COST_FLOPS,     /**< floating point operations of the forward pass */
	TL_COST_BYTES,     /**< bytes that it moves at least */
	TL_COST_FLOPS_BWD, /**< the same of the backward pass, for a model with a backward category */
	TL_COST_BYTES_BWD
} tl_model_cost;
/**
 * Sets a cost. A negative or infinite one, and NaN, is TL_EINVAL, and the answer is that the input makes no sense, as
 * with tl_model_fail. A `which` that is none is TL_EINVAL and changes nothing.
 */
TL_API int tl_model_cost_set(tl_model_result *out, tl_model_cost which, double value);
/** What was set, NaN otherwise. For changing what tl_model_builtin gave. */
TL_API double tl_model_cost_get(const tl_model_result *out, tl_model_cost which);
/**
 * The unit that computes ("matrix", "vector") and the precision ("bf16"): the compute spec that the roofline looks up.
 * NULL: unknown, no roofline. Copied. TL_ENOMEM, remembered as above.
 */
TL_API int tl_model_spec(tl_model_result *out, const char *unit, const char *precision);

/**
 * Evaluates the built-in model of an operation name on this input; `out` then holds its answer and nothing else.
 * @return 0, TL_ENOTFOUND (no built-in model of this name), TL_EINVAL (it reads what this model does not declare; the
 *         message names it), TL_ENOMEM
 */
TL_API int tl_model_builtin(tl_model_result *out, const tl_model_input *in, const char *name, tl_error *err);
/**
 * Answers "this is not covered", silently: no row in tables of metrics, one without metrics in the unified table.
 * Returns 0, to be returned.
 */
TL_API int tl_model_decline(tl_model_result *out);
/**
 * Answers "this input makes no sense": rows as with tl_model_decline, and tl_analyzer_failures counts it and tells the
 * first `why`, which is copied; NULL: a general one. Returns 0, to be returned.
 */
TL_API int tl_model_fail(tl_model_result *out, const char *why);
/** Whether the answer so far is one: neither declined nor failed. */
TL_API bool tl_model_ok(const tl_model_result *out);

/* ---- built-in models without a trace ---- */

/** An operation that a built-in model is asked about. Zero-initialise; texts are the caller's. */
typedef struct tl_model_question {
	const char *name; /**< operation whose model answers; names of compiled kernels (triton_poi_...) count, too */
	/** Its `args` as a JSON object: "Input Dims", "Input type", "Input Strides", "Concrete Inputs", and others that
	 * some models read. NULL: none. */
	const char *args;
	const char *forward;        /**< the same of its forward operation, NULL: none */
	const char *const *kernels; /**< names of the GPU kernels below, by start */
	size_t n_kernels;
	const char *annotation; /**< the annotation around, NULL: none */
} tl_model_question;
/**
 * Asks the built-in model of an operation. The answer is told piece by piece (see tl_table_cell), as a record:
 * `status` ("ok", "not modelled", "failed"), `why` (a line for people, or none), `params` (a record in the order of the
 * columns), `flops`, `bytes`, `flops_bwd`, `bytes_bwd` (a number; none: cannot be told; "not modelled" or "failed"),
 * `unit` ("matrix", "vector") and `precision` ("bf16"), each none when unknown. Unless `status` is "ok" only the first
 * two are there.
 * @return 0, TL_ENOTFOUND (no such model), TL_EINVAL (no name, no function, a text that is no JSON object),
 * TL_ECALLBACK, TL_ENOMEM
 */
TL_API int tl_model_evaluate(const tl_model_question *question, tl_item_fn each, void *user, tl_error *err);

/**
 * Category of an operation by its name and that of its first kernel (or NULL), as reports show it without anything
 * registered: "GEMM", "elementwise", "other". A constant.
 */
TL_API const char *tl_model_category(const char *name, const char *first_kernel);
/** Operation number `index` that has a category but no model, its category in `*category`; NULL past the last. */
TL_API const char *tl_model_category_only_at(size_t index, const char **category);

/** What the name of a matrix multiplication kernel tells. */
typedef struct tl_gemm_name {
	int transpose_a, transpose_b;   /**< as BLAS counts (column-major): 1, 0; -1 when it does not tell */
	int64_t tile_m, tile_n, tile_k; /**< macro tile; 0 when the name has none */
} tl_gemm_name;
/** Reads the name of a kernel of Tensile, hipBLASLt or nvjet; false when it is none of these. */
TL_API bool tl_model_gemm_kernel(tl_gemm_name *out, const char *kernel);

#ifdef __cplusplus
}
#endif

#endif
