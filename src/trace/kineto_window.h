/* SPDX-License-Identifier: MIT */
/**
 * @file kineto_window.h
 * The window through which the importer sees the text: contiguous, followed by zeros, moved
 * forward when the text in it is used up. Pointers into it do not survive a refill; k->p does.
 */
#ifndef TL_TRACE_KINETO_WINDOW_H
#define TL_TRACE_KINETO_WINDOW_H

#include "trace/kineto.h"

/** Makes the window, still empty. 0 or TL_ENOMEM. */
int tl__kineto_open_window(tl_kineto *k);
/**
 * Moves what is left from k->p on to the front and reads more behind it; the window doubles when
 * what is left fills most of it. Sets k->eof at the end of the text. Reports progress. 0 or a TL_E code.
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
