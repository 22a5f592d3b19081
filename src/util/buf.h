/* SPDX-License-Identifier: MIT */
/** @file buf.h A growable byte buffer for building text. */
#ifndef TL_UTIL_BUF_H
#define TL_UTIL_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tracelens/common.h"

/**
 * Zero-initialise. Appends never need checking one by one: the first failure sets
 * `failed` and later appends do nothing; test it once at the end.
 */
typedef struct tl_buf {
	char *v;
	size_t n, cap;
	int failed;
} tl_buf;

void tl__buf_put(tl_buf *buf, const char *text, size_t n);
/** Room for `more` bytes behind the text, to be filled by the caller (who then advances n); NULL after a failure. */
char *tl__buf_reserve(tl_buf *buf, size_t more);
void tl__buf_puts(tl_buf *buf, const char *text);
void tl__buf_putc(tl_buf *buf, char c);
void tl__buf_printf(tl_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Decimal digits of an integer; faster than printf. */
void tl__buf_int(tl_buf *buf, int64_t value);
/** A double as Python's repr writes it (see tl__format_double). */
void tl__buf_double(tl_buf *buf, double value);
/** The text with a NUL behind it ("" when empty), or NULL after a failure. Owned by buf. */
const char *tl__buf_text(tl_buf *buf);
void tl__buf_clear(tl_buf *buf); /* keeps the memory */
/** Hands the text to its receiver and clears the buffer. TL_ENOMEM after a failure, TL_ECALLBACK when it does not take
 * it. */
int tl__buf_send(tl_buf *buf, tl_write_fn write, void *user);
/** Ends a function that sends text, whose work had this code: returns it, with the error of TL_ECALLBACK or TL_ENOMEM.
 */
int tl__buf_sent(int code, tl_error *err);
void tl__buf_free(tl_buf *buf);
/** Appends the rest of a file. 0, TL_EIO (see errno), TL_ENOMEM, TL_ELIMIT (more than `most` bytes in the buffer). */
int tl__buf_read(tl_buf *buf, FILE *file, size_t most);

#endif
