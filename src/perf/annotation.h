/* SPDX-License-Identifier: MIT */
/** @file annotation.h Iteration annotations of serving frameworks: how much attention a step has to do. */
#ifndef TL_PERF_ANNOTATION_H
#define TL_PERF_ANNOTATION_H

#include <stdbool.h>
#include <stdint.h>

/** Sums over the requests of one kind, with q tokens of query and k of keys each. */
typedef struct tl_chunk {
	int64_t sq, sk, sqsq, sqsk; /* sums of q, k, q q, q k */
} tl_chunk;

/** Context (prefill) and generation (decode) requests of a step. */
typedef struct tl_chunks {
	tl_chunk context, generation;
} tl_chunks;

/**
 * Reads the sums from an annotation that has them (at its beginning):
 * "execute_6_context_1(sq5sk8sqsq25sqsk40)_generation_1(sq1sk12sqsq1sqsk12)" of vLLM,
 * "step[MIXED bs=2 c_sq=5 ... g_sqsk=12]" of SGLang, "decode[bs=128 tok=384 sk=.. sqsq=.. sqsk=..]" of ATOM.
 * False for NULL, other texts and annotations without sums.
 */
bool tl__annotation_chunks(tl_chunks *out, const char *text);

#endif
