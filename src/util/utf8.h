/* SPDX-License-Identifier: MIT */
/** @file utf8.h Just enough UTF-8: names in traces are bytes that mostly are UTF-8. */
#ifndef TL_UTIL_UTF8_H
#define TL_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Code point at `text`; returns its length in bytes, or 0 when it is not valid UTF-8. */
size_t tl__utf8_decode(const char *text, size_t n, uint32_t *code);
/** Writes a code point (1 to 4 bytes; a surrogate or a number past U+10FFFF as U+FFFD). */
size_t tl__utf8_encode(char *out, uint32_t code);
/** Number of code points; each byte that is not UTF-8 counts as one. */
size_t tl__utf8_count(const char *text, size_t n);
/** Bytes that the first `count` code points take. */
size_t tl__utf8_prefix(const char *text, size_t n, size_t count);

#endif
