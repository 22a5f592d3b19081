/* SPDX-License-Identifier: MIT */
/**
 * @file perf.h
 * GPU architectures, and models of operations without a trace: FLOPs, bytes and roofline from sizes alone.
 */
#ifndef TRACELENS_PERF_H
#define TRACELENS_PERF_H

#include <tracelens/common.h>
#include <tracelens/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- GPU architectures ---- */

/**
 * What a roofline needs to know of a GPU: memory bandwidth, and rates by compute spec, which is a unit and a
 * precision: `matrix_bf16`, `vector_fp32`. A rate is achievable (measured with the vendor's libraries) or the
 * data sheet's peak.
 */
typedef struct tl_arch tl_arch;

/**
 * A platform that ships with the library, by name: `MI300X`, `h100-sxm`; case, blanks, '-' and '_' do not matter.
 * @param[out] out freed with tl_arch_free
 * @return 0, TL_ENOTFOUND (the message lists the names), TL_ENOMEM
 */
TL_API int tl_arch_find(tl_arch **out, const char *name, tl_error *err);
/** Name of bundled platform number `index`, or NULL past the last. A constant. */
TL_API const char *tl_arch_bundled(size_t index);

/**
 * A platform from a JSON file: an object with `name`, `mem_bw_gbps` (GB/s), `memory_gb`, and the maps
 * `max_achievable_tflops` and `peak_tflops` from compute spec to TFLOPS. All are optional, other keys are
 * ignored; without a bandwidth or a rate there is no roofline.
 * @param[out] out freed with tl_arch_free
 * @return 0, TL_EIO (cannot be read), TL_EFORMAT (not JSON, a value of the wrong type, a number not above 0), TL_ENOMEM
 */
TL_API int tl_arch_load(tl_arch **out, const char *path, tl_error *err);
/** As tl_arch_load, from `size` bytes of JSON; `label` stands for the file in messages and names a nameless platform.
 */
TL_API int tl_arch_parse(tl_arch **out, const char *json, size_t size, const char *label, tl_error *err);
TL_API void tl_arch_free(tl_arch *arch);

/** Name of the platform. Belongs to it, as all texts below. */
TL_API const char *tl_arch_name(const tl_arch *arch);
/** What the file says about the platform as a whole, "" when nothing. */
TL_API const char *tl_arch_note(const tl_arch *arch);
/** Memory bandwidth in bytes per second; 0 when unknown, also of NULL. */
TL_API double tl_arch_bandwidth(const tl_arch *arch);
/** Memory in bytes; 0 when unknown, also of NULL. */
TL_API double tl_arch_memory(const tl_arch *arch);
/** Any number at the top of the file, by its key ("num_cus", "freq_mhz"); 0 when there is none. */
TL_API double tl_arch_number(const tl_arch *arch, const char *key);
/** Compute spec number `index` that has a rate, or NULL past the last. */
TL_API const char *tl_arch_spec(const tl_arch *arch, size_t index);
/**
 * Rate of a compute spec in FLOP/s: the achievable one when it is known, else the peak (`*is_peak` is set, when not
 * NULL); 0 when neither is.
 */
TL_API double tl_arch_rate(const tl_arch *arch, const char *spec, bool *is_peak);
/**
 * Where that rate comes from, as the file's `sources` say; "" when they do not, or there is no rate. Lives as long as
 * the architecture.
 */
TL_API const char *tl_arch_source(const tl_arch *arch, const char *spec);

/* ---- models without a trace ---- */

/** What a parameter of a model is. */
typedef enum tl_estimate_kind {
	TL_ESTIMATE_INT,   /**< a whole number */
	TL_ESTIMATE_BOOL,  /**< true or false */
	TL_ESTIMATE_SHAPE, /**< sizes of a tensor: "8x64x56x56" */
	TL_ESTIMATE_DTYPE, /**< "bf16", PyTorch's "c10::BFloat16", or bytes per element */
	TL_ESTIMATE_CHOICE /**< one of a few words */
} tl_estimate_kind;

/** A parameter of a family; a constant. */
typedef struct tl_estimate_param_info {
	const char *name;
	tl_estimate_kind kind;
	const char *fallback; /**< what counts when it is not given; "": see `meaning`; NULL: it must be given */
	const char *meaning;
	int64_t min;         /**< least value of a TL_ESTIMATE_INT */
	const char *choices; /**< of a TL_ESTIMATE_CHOICE, separated by blanks */
} tl_estimate_param_info;

/** A family of operations; a constant. Formulas are texts for people, in terms of the parameters. */
typedef struct tl_estimate_family {
	const char *name, *title;
	const char *flops, *bytes;
	const char *flops_bwd, *bytes_bwd; /**< of the backward; NULL when it has no model */
	const tl_estimate_param_info *params;
	size_t n_params;
} tl_estimate_family;

/** Family number `index`, or NULL past the last. */
TL_API const tl_estimate_family *tl_estimate_family_at(size_t index);
/** Family by name ("gemm"), or NULL. */
TL_API const tl_estimate_family *tl_estimate_family_find(const char *name);
/** Short name of dtype number `index` ("fp64" first), or NULL past the last. */
TL_API const char *tl_estimate_dtype(size_t index);

/** How the value of a parameter is given. */
typedef enum tl_estimate_value {
	TL_ESTIMATE_TEXT,   /**< `text`, whatever the parameter is */
	TL_ESTIMATE_NUMBER, /**< `number`: an integer, a bool, or bytes per element of a dtype (0: unknown) */
	TL_ESTIMATE_SIZES   /**< `sizes`, `n_sizes` long: a shape */
} tl_estimate_value;

/** A parameter with its value; all texts and sizes are the caller's. */
typedef struct tl_estimate_param {
	const char *name;
	tl_estimate_value kind;
	const char *text;
	int64_t number;
	const int64_t *sizes;
	size_t n_sizes;
} tl_estimate_param;

#define TL_ESTIMATE_MAX_RANK 8

/** What bounds the time of an operation. */
typedef enum tl_estimate_bound { TL_BOUND_UNKNOWN, TL_BOUND_COMPUTE, TL_BOUND_MEMORY } tl_estimate_bound;

/** Cost of an operation. What cannot be told is NaN, or "". */
typedef struct tl_estimate_result {
	double flops;
	double bytes;
	double intensity;      /**< FLOPs per byte */
	char compute_spec[32]; /**< "matrix_bf16" */
	/* with an architecture: */
	double rate;       /**< FLOP/s of the compute spec */
	bool rate_is_peak; /**< the data sheet's, no achievable one is known */
	double bandwidth;  /**< bytes per second */
	double knee;       /**< FLOPs per byte from which on an operation is compute bound */
	double compute_us, memory_us;
	double roofline_us; /**< the greater of the two */
	tl_estimate_bound bound;
	size_t output_rank; /**< of conv, binary: the result's shape; else 0 */
	int64_t output[TL_ESTIMATE_MAX_RANK];
} tl_estimate_result;

/**
 * Cost of one operation. Formulas are those that operations of a trace are counted with (docs/estimates.md lists them).
 * Every family whose `flops_bwd` is not NULL takes a further parameter `backward` (bool).
 * @param[out] out is complete on success only
 * @param params in any order; the last one of a name counts
 * @param arch NULL: FLOPs and bytes only
 * @return 0, TL_ENOTFOUND (no such family, or no such parameter of it), TL_EINVAL (a parameter that is missing or makes
 *         no sense; the message names it)
 */
TL_API int tl_estimate(tl_estimate_result *out, const char *family, const tl_estimate_param *params, size_t n,
		       const tl_arch *arch, tl_error *err);

/** Most rows of tl_estimate_sweep. */
#define TL_ESTIMATE_MAX_ROWS 100000

/**
 * A table of costs over ranges of parameters. Texts may name several values, all others one:
 * `1024:65536:*2` (from 1024, doubling, up to 65536), `0:100:+25`, `1:8` (step 1), `a,b,c`, and these in lists; in
 * shapes sizes can be ranges ("1:64:*2x3x224x224"; a comma separates sizes there). Rows are all combinations, the last
 * parameter running fastest, platforms fastest of all. Columns: the parameters given, `platform` when there are
 * several or one, then FLOPs, Bytes, FLOPS/Byte, Compute Spec, and with platforms Rate (TFLOPS), Rate Kind
 * (achievable or peak), Knee (FLOPS/Byte), Compute Time (µs), Memory Time (µs), Roofline Time (µs), Roofline Bound.
 * @param[out] out freed with tl_table_free
 * @param archs `n_archs` platforms; may be none
 * @return as tl_estimate, TL_ELIMIT for more than TL_ESTIMATE_MAX_ROWS rows, TL_ENOMEM
 */
TL_API int tl_estimate_sweep(tl_table **out, const char *family, const tl_estimate_param *params, size_t n,
			     const tl_arch *const *archs, size_t n_archs, tl_error *err);

/**
 * How well the result of a GEMM, M x N, divides into tiles of tile_m x tile_n on `num_cus` compute units: *tile is the
 * part of the tiles' area that is wanted, *wave the part of the last wave's units that have work, over all waves. Their
 * product bounds the share of the peak that is within reach. Kernel names give tiles in BLAS' order, where M is
 * PyTorch's N. TL_EINVAL when a size is not above 0.
 */
TL_API int tl_estimate_tiling(double *tile, double *wave, double m, double n, double tile_m, double tile_n,
			      double num_cus, tl_error *err);

/**
 * Time of a softmax over `batch` matrices of M rows and N columns, in microseconds, as attention simulations use it:
 * the greater of 3 B M N FLOPs at num_cus * gemm_units_per_cu * 256 a cycle, and the bytes read and written at memory
 * or L1 bandwidth; twice both backward. Needs `freq_mhz`, `gemm_units_per_cu`, and `num_cus` unless given, and
 * `mem_bw_gbps` or `l1_bw_gbps` in the file of the platform.
 * @param num_cus compute units that work; 0: all of the platform
 * @return 0, TL_EINVAL (the platform lacks a figure; the message names it)
 */
TL_API int tl_estimate_softmax_time(double *out, const tl_arch *arch, double m, double n, double bytes_per_element,
				    double batch, bool force_to_l1, bool backward, double num_cus, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
