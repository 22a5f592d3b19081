/* SPDX-License-Identifier: MIT */
/** @file gemm.h What the name of a matrix multiplication kernel tells. */
#ifndef TL_PERF_GEMM_H
#define TL_PERF_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "perf/model.h"

/** Transposes are BLAS (column-major) flags: 1, 0, or -1 when the name does not tell. */
typedef struct tl_gemm_kernel {
	int trans_a, trans_b;
	int64_t mt_m, mt_n, depth_u; /* macro tile; 0 when the name has none */
} tl_gemm_kernel;

/** Reads a kernel name (ROCm Tensile/hipBLASLt, NVIDIA nvjet); false when it is neither. */
bool tl__gemm_kernel(tl_gemm_kernel *out, const char *name);

/** Lists "transpose" from the first kernel whose name is understood; nothing when there is none. TL_ENOMEM. */
int tl__gemm_transpose(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out);

#endif
