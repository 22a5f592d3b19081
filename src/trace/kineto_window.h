/* SPDX-License-Identifier: MIT */
/**
 * @file kineto_window.h
 * The window through which the importer sees the text: contiguous bytes in the source's own
 * blocks, followed by zeros. Pointers into it do not survive a refill; k->p does.
 */
#ifndef TL_TRACE_KINETO_WINDOW_H
#define TL_TRACE_KINETO_WINDOW_H

#include "trace/kineto.h"

/** An empty window, to be filled by tl__kineto_refill. */
void tl__kineto_open_window(tl_kineto *k);
/**
 * Reads more text behind what is left from k->p on, at least as much again. Sets k->eof at the end of
 * the text. Reports progress. 0 or a TL_E code; after a failure the window must not be used.
 */
int tl__kineto_refill(tl_kineto *k);
/** Moves k->p to the next byte that is no white space, or to the end of the text. */
int tl__kineto_skip_blank(tl_kineto *k);
/** Whether k->p is at the end of the file. Only valid behind tl__kineto_skip_blank. */
static inline bool tl__kineto_at_end(const tl_kineto *k)
{
	return k->p >= k->scan.end;
}

#endif
