/* SPDX-License-Identifier: MIT */
/**
 * @file input.h
 * The packed bytes below a tl_source: an open file, bytes in memory, or whatever a function
 * delivers (the member of a zip). Decoders take them in chunks from here.
 */
#ifndef TL_IO_INPUT_H
#define TL_IO_INPUT_H

#include <stdatomic.h>

#include "tracelens/common.h"
#include "util/error.h"

typedef struct tl_input tl_input;

struct tl_input {
	/* the unread part of the chunk at hand; consumers advance it with tl__input_skip */
	const uint8_t *next;
	size_t avail;

	uint64_t total; /* bytes of the file, 0 when unknown */
	bool seekable;  /* tl__input_read_at works */
	const char *name;
	char early[96];     /* when the container of the bytes is not whole: why, for people; else "" */
	bool early_cut_off; /* its end is missing; otherwise it is damaged */
	bool early_all;     /* damaged, but all bytes came out (a wrong checksum) */

	/* internal */
	int fd; /* -1: memory or function */
	bool close_fd;
	const uint8_t *memory;
	int64_t (*pull)(tl_input *self, uint8_t *out, size_t size, tl_error *err);
	void (*pull_free)(tl_input *self);
	void *user;      /* for pull */
	tl_input *below; /* the file that pull reads; owned */
	uint8_t *chunk;
	char *name_copy;
	int wake[2];            /* a pipe that ends a read of a slow file; -1 when not needed */
	_Atomic bool cancelled; /* set by tl__input_cancel on another thread */
	_Atomic uint64_t taken; /* bytes fetched from the file */
	uint64_t position;      /* of the next sequential fetch */
};

/** "-" is standard input. 0, TL_EIO, TL_ENOMEM. The input is freed with tl__input_free. */
int tl__input_open(tl_input **out, const char *path, tl_error *err);
int tl__input_open_memory(tl_input **out, const void *data, size_t size, tl_error *err);
/** Over a function that returns as tl__input_read and reads `below`; takes that over, and calls `pull_free` when
 * freed, unless this fails. */
int tl__input_open_pull(tl_input **out, tl_input *below,
			int64_t (*pull)(tl_input *self, uint8_t *out, size_t size, tl_error *err),
			void (*pull_free)(tl_input *self), void *user, tl_error *err);
void tl__input_free(tl_input *input); /* NULL is fine */

/** Makes `avail` at least 1. Returns 1, 0 at the end of the file, TL_EIO, or TL_ECANCELLED after tl__input_cancel. */
int tl__input_fill(tl_input *input, tl_error *err);
/** Makes `avail` at least `n` (at most 64) unless the file is shorter; returns as tl__input_fill. */
int tl__input_peek(tl_input *input, size_t n, tl_error *err);
static inline void tl__input_skip(tl_input *input, size_t n)
{
	input->next += n;
	input->avail -= n;
}
/** Up to `size` bytes, past the chunk when that is empty. Number of bytes, 0 at the end, TL_EIO, TL_ECANCELLED. */
int64_t tl__input_read(tl_input *input, uint8_t *out, size_t size, tl_error *err);
/** Up to `size` bytes from a place of a seekable file; does not touch the sequential state. */
int64_t tl__input_read_at(tl_input *input, uint64_t offset, uint8_t *out, size_t size, tl_error *err);
/** Bytes of the file that were consumed so far. Any thread. */
uint64_t tl__input_done(const tl_input *input);

/** Prepares for tl__input_cancel: a read that would wait (pipe, terminal) can be ended from outside. 0 or TL_EIO. */
int tl__input_cancellable(tl_input *input, tl_error *err);
/** Any thread: reads of `input`, also one that waits, end with TL_ECANCELLED. */
void tl__input_cancel(tl_input *input);

#endif
