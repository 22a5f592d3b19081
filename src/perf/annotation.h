/* SPDX-License-Identifier: MIT */
/** @file annotation.h Iteration annotations of serving frameworks: what a step of the engine works on. */
#ifndef TL_PERF_ANNOTATION_H
#define TL_PERF_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sums over the requests of one kind, with q tokens of query and k of keys each. */
typedef struct tl_chunk {
	int64_t sq, sk, sqsq, sqsk; /* sums of q, k, q q, q k */
} tl_chunk;

/** Context (prefill) and generation (decode) requests of a step. */
typedef struct tl_chunks {
	tl_chunk context, generation;
} tl_chunks;

/** Formats, in the order in which they are tried. */
typedef enum tl_annotation_kind {
	TL_ANNOTATION_NONE,
	TL_ANNOTATION_VLLM_DETAILED,   /* execute_5_context_1(sq5sk8sqsq25sqsk40)_generation_0(sq0sk0sqsq0sqsk0) */
	TL_ANNOTATION_VLLM_NATIVE,     /* execute_context_1(5)_generation_0(0) */
	TL_ANNOTATION_SGLANG_DETAILED, /* step[MIXED bs=2 c=1 g=1 c_sq=5 ... g_sqsk=12] */
	TL_ANNOTATION_SGLANG_NATIVE,   /* step[EXTEND bs=1 toks=5] */
	TL_ANNOTATION_ATOM_DETAILED,   /* decode[bs=128 tok=384 sqsq=132612 sqsk=1114112 sk=258048] */
	TL_ANNOTATION_ATOM_NATIVE,     /* prefill[bs=1 tok=5 ctx=[5]] */
	TL_ANNOTATION_DIFFUSION        /* execute_diffusion_1_1024x1024 */
} tl_annotation_kind;

/** What an annotation says of a step. Texts point into the annotation. */
typedef struct tl_annotation {
	uint8_t kind;  /* tl_annotation_kind */
	bool has_sums; /* `chunks` is complete, not just tokens */
	int64_t context_requests, generation_requests;
	int64_t context_sum, generation_sum; /* their tokens */
	int64_t batch_size;                  /* tokens (requests where there are none told) of the step */
	tl_chunks chunks;
	const char *resolution; /* of DIFFUSION, else NULL */
	size_t n_resolution;
	const char *ctx; /* ATOM: text of `ctx`, or NULL */
	size_t n_ctx;
	int64_t p, d, spec; /* ATOM: as written; -1: not there */
	bool tbo;           /* ATOM: two batches overlap */
} tl_annotation;

/**
 * Reads an annotation; what follows a complete one is ignored, what precedes it is not. False (and kind NONE, a batch
 * of one, all else zero) for NULL and for texts of no format.
 */
bool tl__annotation_read(tl_annotation *out, const char *text);

#endif
