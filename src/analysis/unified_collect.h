/* SPDX-License-Identifier: MIT */
/**
 * @file unified_collect.h
 * Which events stand for the GPU work of a trace (spec 02 section 5.1): each GPU event counts once, with
 * the outermost operation that has a model, or else with the operation that launched it.
 */
#ifndef TL_ANALYSIS_UNIFIED_COLLECT_H
#define TL_ANALYSIS_UNIFIED_COLLECT_H

#include "analysis/analyzer.h"

typedef struct tl_unified_event {
	tl_row event;   /* operation; of a synthetic row the one it copies, the GPU event itself when there is none */
	tl_row gpu;     /* of a synthetic row its one GPU event, else TL_ROW_NONE */
	tl_row forward; /* of a sole backward operation the forward event, else TL_ROW_NONE */
	bool modelled;  /* has a usable model of its own */
} tl_unified_event;

typedef TL_VEC(tl_unified_event) tl_unified_events;

/**
 * Appends the operations in pre-order (roots by start), then the GPU events that no operation
 * covers; communication is left out unless asked for. The caller frees the array, also after a failure. TL_ENOMEM.
 */
int tl__unified_collect(tl_unified_events *out, tl_analyzer *a, bool communication);
/** Appends events of the caller's choice in their order instead; a GPU event becomes a synthetic row. TL_ENOMEM. */
int tl__unified_choose(tl_unified_events *out, tl_analyzer *a, const tl_row *events, size_t n);

#endif
