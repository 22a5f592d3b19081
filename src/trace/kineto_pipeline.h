/* SPDX-License-Identifier: MIT */
/**
 * @file kineto_pipeline.h
 * Scanning and storing on two threads. The importer's own thread finds the events in the text, and the source's thread
 * puts them into the store (tl__kineto_add) in the same order, between two blocks that it unpacks. Events travel in
 * batches; their tokens point into the window, whose block goes along and returns to the source when the batch is done.
 *
 * Whatever else touches the store (findings, metadata, repaired events) drains the pipeline first, so that the store
 * has one owner at any time and the result does not depend on threads. With a source that has no thread, events are
 * added at once.
 */
#ifndef TL_TRACE_KINETO_PIPELINE_H
#define TL_TRACE_KINETO_PIPELINE_H

#include "trace/kineto.h"

/** Sets k->event. 0 or TL_ENOMEM. */
int tl__kineto_open_pipeline(tl_kineto *k);
/** Waits for what is under way and frees memory. NULL pipeline is fine. */
void tl__kineto_close_pipeline(tl_kineto *k);
/** Adds *k->event, now or later, and sets k->event to where the next one goes. 0 or TL_E code, perhaps that of an event
 * before. */
int tl__kineto_put(tl_kineto *k);
/** Waits until all events are in the store, which may then be used until the next one is put. 0 or TL_E code. */
int tl__kineto_drain(tl_kineto *k);
/**
 * The window has moved on: `block` (may be NULL), which holds the text of the events so far, goes back to the source
 * when they are stored. 0 or TL_E code. Scratch memory must be made for the new window.
 */
int tl__kineto_pass(tl_kineto *k, tl_source_block *block);
/** Makes room for the compact texts of the window. 0 or TL_ENOMEM. */
int tl__kineto_make_scratch(tl_kineto *k);

#endif
