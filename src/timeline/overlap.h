/* SPDX-License-Identifier: MIT */
/**
 * @file overlap.h
 * Which GPU events run at the same time as a given one (spec 01 section 8.1): on another stream, below another
 * operation, for at least 1 µs in common. Pairs are found when asked for and never stored.
 */
#ifndef TL_TIMELINE_OVERLAP_H
#define TL_TIMELINE_OVERLAP_H

#include "trace/store.h"

/** Events that share less time than this do not overlap. */
#define TL_OVERLAP_MIN TL_PS_PER_US

/** An event has no operation above it. */
#define TL_OVERLAP_NO_OWNER UINT32_MAX

typedef struct tl_overlap_index tl_overlap_index;
typedef TL_VEC(tl_row) tl_overlap_rows;

/**
 * Makes the index of `n` GPU events, sorted by start. Events without usable time and those shorter than
 * TL_OVERLAP_MIN overlap nothing. `owners[i]` stands for the operation above rows[i]: two events with the same one do
 * not overlap. O(n). @param[out] out freed with tl__overlap_index_free. TL_ENOMEM.
 */
int tl__overlap_index_new(tl_overlap_index **out, const tl_store *store, const tl_row *rows, const uint32_t *owners,
			  size_t n);
void tl__overlap_index_free(tl_overlap_index *index);

/**
 * Sets `out` to the events of the index that overlap `row`, whose operation is `owner`, in the order of the index.
 * Takes O(log n) for each that is found, whatever else runs on the stream of `row`. A stream that the trace does not
 * name is another one than all others. TL_ENOMEM.
 */
int tl__overlap_find(tl_overlap_rows *out, const tl_overlap_index *index, const tl_store *store, tl_row row,
		     uint32_t owner);

#endif
