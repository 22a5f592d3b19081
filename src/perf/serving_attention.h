/* SPDX-License-Identifier: MIT */
/** @file serving_attention.h What attention models of batched serving share. */
#ifndef TL_PERF_SERVING_ATTENTION_H
#define TL_PERF_SERVING_ATTENTION_H

#include "perf/annotation.h"
#include "perf/args.h"

typedef struct tl_serving {
	tl_chunks chunks;
	int64_t n_q, h_q, n_kv, h_kv, d_qk, d_v;
	int64_t window;               /* keys that a query sees at most; 0: all */
	bool windowed;                /* `window` is listed */
	int64_t requests;             /* generation requests; 0: not told, as many as their tokens */
	const char *type_q, *type_kv; /* type_kv NULL: not listed, as the query's */
} tl_serving;

/** Reason of a failure. */
extern const char tl__serving_no_annotation[];

/** The sums and generation requests of the enclosing annotation; false when it has none. */
bool tl__serving_step(tl_serving *out, const tl_perf_input *in);
/** Parameters up to `flash_impl`, which all have. */
void tl__serving_begin(const tl_serving *s, tl_perf_result *out);
/** The eight sums. */
void tl__serving_sums(const tl_chunks *chunks, tl_perf_result *out);
/** Parameters, FLOPs and bytes (formulas at its definition). TL_ENOMEM. */
int tl__serving_finish(const tl_serving *s, tl_arena *arena, tl_perf_result *out);

#endif
