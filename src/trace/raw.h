/* SPDX-License-Identifier: MIT */
/**
 * @file raw.h
 * The text of every event, packed: what the SDK's view of whole events reads. Texts are put together in blocks of some
 * tens of kilobytes and packed with zstd; a few unpacked blocks are kept for readers, behind a lock, so that any
 * number of threads may read.
 */
#ifndef TL_TRACE_RAW_H
#define TL_TRACE_RAW_H

#include <stdint.h>

#include "tracelens/common.h"
#include "util/buf.h"

typedef struct tl_raw tl_raw;

tl_raw *tl__raw_new(void); /* NULL when out of memory */
void tl__raw_free(tl_raw *raw);
/** Keeps the text of the next row. 0, TL_ENOMEM, TL_ELIMIT (a text of 4 GB). */
int tl__raw_add(tl_raw *raw, const char *text, size_t n);
/** Packs what is left; nothing may be added afterwards. */
int tl__raw_seal(tl_raw *raw);
/** Number of texts. */
size_t tl__raw_count(const tl_raw *raw);
/** Appends the text of a row, which must be below the count. 0, TL_ENOMEM, TL_EFORMAT (the block does not unpack). */
int tl__raw_get(tl_buf *out, tl_raw *raw, tl_row row);
/** Bytes of memory, unpacked blocks included. */
uint64_t tl__raw_memory(const tl_raw *raw);

/**
 * Appends the text of an array element of `traceEvents` as valid JSON without blanks: words that are no JSON become
 * null, bytes that are no UTF-8 become U+FFFD, a value that cannot be read becomes a string of its text. An empty text
 * becomes {}. TL_ENOMEM.
 */
int tl__raw_to_json(tl_buf *out, const char *text, size_t n);

#endif
