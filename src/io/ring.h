/* SPDX-License-Identifier: MIT */
/**
 * @file ring.h
 * Blocks of unpacked bytes between the decoder and its reader. With a second thread that one unpacks ahead;
 * without, a block is filled when it is asked for.
 */
#ifndef TL_IO_RING_H
#define TL_IO_RING_H

#include "io/decode.h"

/* Small enough that the whole ring (with the reader's block) stays in the caches and costs little to touch for the
 * first time; large enough that handing over a block (some microseconds) does not count. */
#define TL_RING_BLOCK ((size_t)256 << 10)
/* Room before each block, where a reader can put what is left of the one before. */
#define TL_RING_HEAD ((size_t)64 << 10)

typedef struct tl_ring tl_ring;

typedef struct tl_ring_block {
	uint8_t *bytes; /* TL_RING_HEAD bytes before and TL_SOURCE_PAD behind them can be used, too */
	size_t n;
} tl_ring_block;

/** Takes `decoder` over, also on failure. */
int tl__ring_open(tl_ring **out, tl_decoder *decoder, bool threaded, tl_error *err);
/** The next block (n > 0), which is the caller's until tl__ring_give, which any thread may call. Without a thread at
 * most two at a time; with one, whoever takes waits until a block was given back. 1, 0 at the end, or a failure
 * (TL_EIO, TL_ENOMEM), again each time. */
int tl__ring_take(tl_ring *ring, tl_ring_block **out, tl_error *err);
void tl__ring_give(tl_ring *ring, tl_ring_block *block);
/** Whether a second thread fills the blocks. */
bool tl__ring_is_threaded(const tl_ring *ring);
/**
 * Work for the second thread, which does it between two blocks: with two threads neither waits long, and what the
 * second one has unpacked is still in its caches when it works on it. A reader who waits for text or for a task does it
 * himself. Tasks are run one at a time in the order of posting. A task stays the caller's, who must wait for it. Not
 * without a thread.
 */
void tl__ring_post(tl_ring *ring, tl_source_task *task);
/** Waits until a posted task is done; what it has written can be read then. */
void tl__ring_wait(tl_ring *ring, tl_source_task *task);
void tl__ring_state(tl_ring *ring, tl_source_state *out);
void tl__ring_close(tl_ring *ring); /* NULL is fine */

#endif
