/* SPDX-License-Identifier: MIT */
/**
 * @file order.h
 * Orders of events by what the trace says about them and not by where they stand in the file, so that a report is
 * the same whatever order a writer chose. Only events that agree in everything compared fall back on their row.
 */
#ifndef TL_ANALYSIS_ORDER_H
#define TL_ANALYSIS_ORDER_H

#include "tree/tree.h"

/** By start, then thread; on one thread by position in the tree. For tl__sort over positions, context tl_tree. */
bool tl__position_before(const void *tree, uint32_t a, uint32_t b);

/**
 * By start, then launch (by tl__position_before; unlinked ones last), then stream, name and duration. For tl__sort
 * over rows of GPU events, context tl_tree.
 */
bool tl__gpu_event_before(const void *tree, uint32_t a, uint32_t b);

#endif
