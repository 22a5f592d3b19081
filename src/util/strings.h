/* SPDX-License-Identifier: MIT */
/**
 * @file strings.h
 * A pool of distinct strings. Equal strings have equal ids, so that comparing and
 * grouping texts is comparing integers.
 */
#ifndef TL_UTIL_STRINGS_H
#define TL_UTIL_STRINGS_H

#include <stddef.h>
#include <stdint.h>

/** Id of a string in a pool. 0 means "absent"; the empty string has an id of its own. */
typedef uint32_t tl_str;
#define TL_STR_NONE ((tl_str)0)
/** What tl__intern returns when out of memory (or past 2^31 distinct strings). */
#define TL_STR_FAIL UINT32_MAX

typedef struct tl_strings tl_strings;

/**
 * A new pool, reference count 1; NULL when out of memory. With `base` the pool is an
 * extension: ids of `base` are valid in it and are found again, new strings get ids
 * behind them. `base` must not grow as long as an extension of it lives (a sealed
 * trace does not); what is needed of it is kept alive. So tables can add texts of
 * their own while other threads read the trace.
 */
tl_strings *tl__strings_new(tl_strings *base);
tl_strings *tl__strings_ref(tl_strings *pool);
void tl__strings_unref(tl_strings *pool); /* NULL is fine */

/** Id of these bytes (any bytes, also NUL), added if new. */
tl_str tl__intern(tl_strings *pool, const char *text, size_t n);
tl_str tl__interns(tl_strings *pool, const char *text); /* NUL terminated */
/** Id if present, else TL_STR_NONE; never adds. */
tl_str tl__strings_find(const tl_strings *pool, const char *text, size_t n);

/** The text, NUL terminated; "" for TL_STR_NONE. Stays where it is as long as the pool lives. */
const char *tl__str(const tl_strings *pool, tl_str id);
size_t tl__str_len(const tl_strings *pool, tl_str id);
/** Number of ids handed out, TL_STR_NONE and those of `base` included: ids are below it. */
size_t tl__strings_count(const tl_strings *pool);
/** Bytes of memory that the pool takes, without its base. */
uint64_t tl__strings_memory(const tl_strings *pool);

#endif
