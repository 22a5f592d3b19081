/* SPDX-License-Identifier: MIT */
/**
 * @file decode.h
 * What every container format gives to tl_source: a pull decoder over a tl_input.
 */
#ifndef TL_IO_DECODE_H
#define TL_IO_DECODE_H

#include "io/input.h"
#include "io/source.h"

typedef struct tl_decoder tl_decoder;

struct tl_decoder {
	/**
	 * At least one byte (at most `size`) into `out` unless the stream ended (0) or failed (TL_EIO, TL_ENOMEM,
	 * TL_ECANCELLED). Bytes that could be unpacked before an end or a failure are delivered first.
	 */
	int64_t (*read)(tl_decoder *self, uint8_t *out, size_t size, tl_error *err);
	void (*free)(tl_decoder *self);
	tl_input *input; /* owned from the moment the decoder was made */
	bool ended;
	tl_source_state state; /* flags and note only; written by the thread that reads */
};

/** Each takes `input` over when it succeeds. 0, TL_ENOMEM, TL_EIO, TL_EFORMAT. */
int tl__decode_plain(tl_decoder **out, tl_input *input, tl_error *err);
int tl__decode_gzip(tl_decoder **out, tl_input *input, tl_error *err);
int tl__decode_zstd(tl_decoder **out, tl_input *input, tl_error *err);
/** Opens the only regular file of a zip as an input, which takes `zip` over when it succeeds. */
int tl__zip_member(tl_input **out, tl_input *zip, tl_error *err);
/** The same for a zip whose end, and with it the directory, is missing: its first regular file as far as it goes.
 * TL_EFORMAT, with the message untouched, when there is none. */
int tl__zip_cut_off(tl_input **out, tl_input *zip, tl_error *err);
/** Whether a member's name is that of data: no folder, nothing that macOS adds for its own use. */
bool tl__zip_is_data(const char *name);

/** Marks the early end of a container: `cut_off` or else damaged. Returns 0, what the decoder's read returns then.
 * Damage that loses nothing (a wrong checksum) is tl__decode_mismatch: the decoder may go on behind it. */
int64_t tl__decode_cut_off(tl_decoder *decoder, const char *what);
int64_t tl__decode_damaged(tl_decoder *decoder, const char *what, const char *why);
void tl__decode_mismatch(tl_decoder *decoder, const char *what, const char *why);
/**
 * Behind the last member: skips NUL bytes (padding of tapes and block devices). 1: other bytes follow (at least `n`
 * peeked unless the file ends before), 0: end of the file, or a failure.
 */
int tl__decode_skip_padding(tl_decoder *decoder, size_t n, tl_error *err);
/** The bytes at hand are none of ours: ends the stream with a note. Returns 0. */
int64_t tl__decode_junk(tl_decoder *decoder, const char *what);
void tl__decoder_free(tl_decoder *decoder);

#endif
