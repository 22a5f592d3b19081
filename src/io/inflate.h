/* SPDX-License-Identifier: MIT */
/**
 * @file inflate.h
 * Raw deflate data through ISA-L when the build found it, else through zlib. Wrappers (gzip) are the
 * caller's work, so that both behave the same.
 */
#ifndef TL_IO_INFLATE_H
#define TL_IO_INFLATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct tl_inflate tl_inflate;

typedef enum tl_inflate_status {
	TL_INFLATE_MORE,    /* input used up or output full */
	TL_INFLATE_END,     /* the last block is complete */
	TL_INFLATE_DAMAGED, /* what was decoded before is in the output */
	TL_INFLATE_NOMEM
} tl_inflate_status;

/** NULL when out of memory. Ready for a first stream. */
tl_inflate *tl__inflate_new(void);
/** Ready for the next stream. 0 or TL_ENOMEM. */
int tl__inflate_reset(tl_inflate *inflater);
/**
 * Decodes from `*in` (n_in bytes) to `out`; advances and counts down both. At TL_INFLATE_END bytes behind the data
 * that had been looked at already are handed back in `back` (at most 8) and counted as used.
 */
tl_inflate_status tl__inflate_run(tl_inflate *inflater, const uint8_t **in, size_t *n_in, uint8_t **out, size_t *n_out,
				  uint8_t back[8], size_t *n_back);
void tl__inflate_free(tl_inflate *inflater); /* NULL is fine */

/** CRC-32 of gzip and zip; start with 0. */
uint32_t tl__crc32(uint32_t crc, const uint8_t *data, size_t n);

#endif
