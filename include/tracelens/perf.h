/* SPDX-License-Identifier: MIT */
/**
 * @file perf.h
 * GPU architectures, for rooflines.
 */
#ifndef TRACELENS_PERF_H
#define TRACELENS_PERF_H

#include <tracelens/common.h>

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

#ifdef __cplusplus
}
#endif

#endif
