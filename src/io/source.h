/* SPDX-License-Identifier: MIT */
/**
 * @file source.h
 * A stream of unpacked bytes from a file or from memory: plain, gzip (any number of members),
 * zstd or the only member of a zip, told apart by content. With `threaded` a second
 * thread reads and unpacks into a small ring of blocks.
 */
#ifndef TL_IO_SOURCE_H
#define TL_IO_SOURCE_H

#include "tracelens/common.h"
#include "util/error.h"

typedef struct tl_source tl_source;
typedef struct tl_ring_block tl_source_block;

/** How a stream ended, and what was wrong with its container. */
typedef struct tl_source_state {
	uint64_t packed_done, packed_total; /* bytes of the file; total 0 when unknown (a pipe) */
	bool truncated;                     /* the packed data ends in the middle; all bytes before were delivered */
	bool damaged;       /* the packed data is wrong from some place on; all bytes before were delivered */
	bool incomplete;    /* with damaged: what follows the damage is lost. Not after a wrong checksum */
	bool trailing_junk; /* something other than NUL bytes behind the last member */
	char note[160];     /* for people, "" when all is well */
} tl_source_state;

/** "-" is standard input. 0, TL_EIO (message names the file and the reason), TL_EFORMAT (zip with several members ...),
 * TL_ENOMEM. */
int tl__source_open(tl_source **out, const char *path, bool threaded, tl_error *err);
/** Bytes in memory; they must live as long as the source. */
int tl__source_open_memory(tl_source **out, const void *data, size_t size, bool threaded, tl_error *err);
/**
 * Up to `size` bytes (> 0) into `out`. Returns the number read, 0 at the end, or TL_EIO, TL_ENOMEM;
 * a cut-off or damaged container is no failure but an early end (see tl__source_state).
 */
int64_t tl__source_read(tl_source *source, void *out, size_t size, tl_error *err);
/**
 * The same without copying, for a reader that parses in place; use either this or tl__source_read on one source.
 * Moves on to the next window: the last `keep` bytes of the window before (at most its size; 0 the first time), then
 * new bytes. `*out` points at the kept bytes. The window may be written to and is valid until the next call;
 * TL_SOURCE_PAD bytes behind it can be read (and written), their value means nothing. A `keep` up to 64 KiB is copied
 * in front of the next block; any size works, in linear time in the long run.
 * Returns the number of new bytes, 0 at the end, TL_EIO, TL_ENOMEM; when it is not positive, `*out` still has the kept
 * bytes.
 * `before` is for readers with threads of their own that are still at work in the window before; NULL for others. It
 * receives the block in which that window lies, which is not used again before tl__source_give, or NULL: the window did
 * not move (at the end), there was none, or it lay in memory that the next window may use (tl__source_in_block).
 */
int64_t tl__source_next(tl_source *source, size_t keep, char **out, tl_source_block **before, tl_error *err);
/** Gives a block of tl__source_next back; from any thread if the source is threaded. */
void tl__source_give(tl_source *source, tl_source_block *block);
/** Whether the window lies in a block of its own, so that it stays as it is when the source moves on. */
bool tl__source_in_block(const tl_source *source);
/** Whether a second thread unpacks. */
bool tl__source_is_threaded(const tl_source *source);

/** Work for the source's thread, or for a reader who would have to wait; embed it in what it is about and set `run`. */
typedef struct tl_source_task {
	void (*run)(struct tl_source_task *task);
	struct tl_source_task *next; /* the source's */
	bool done;                   /* the source's */
} tl_source_task;
/**
 * Hands a task to the thread of a threaded source; tasks are run one at a time, in order. Each must be waited for
 * before the source is closed; what it has written can be read then.
 */
void tl__source_post(tl_source *source, tl_source_task *task);
void tl__source_wait(tl_source *source, tl_source_task *task);

/** Readable bytes behind a window of tl__source_next, for wide loads. */
#define TL_SOURCE_PAD ((size_t)64)
/** Valid at any time; final once tl__source_read returned 0. */
void tl__source_state(const tl_source *source, tl_source_state *out);
/** Stops the thread if there is one and frees everything; NULL is fine. */
void tl__source_close(tl_source *source);

/** Tests only: reads of the file from now on return at most `limit` bytes at a time (0: no limit), and fail with EIO
 * after `fail_after` bytes (negative: never). */
void tl__source_inject(size_t limit, int64_t fail_after);

#endif
