/* SPDX-License-Identifier: MIT */
/** @file decimal.h Decimal microseconds to picoseconds, exactly: never through a double. */
#ifndef TL_TRACE_DECIMAL_H
#define TL_TRACE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

__extension__ typedef __int128 tl_int128;
__extension__ typedef unsigned __int128 tl_uint128;

typedef enum tl_decimal_code {
	TL_DECIMAL_OK,
	TL_DECIMAL_HUGE, /* a number, but beyond 1e31; *ps is the largest value of its sign */
	TL_DECIMAL_BAD   /* not a number */
} tl_decimal_code;

/**
 * Reads a decimal number of microseconds (sign, fraction, exponent; blanks around it allowed) as
 * picoseconds; digits beyond are rounded half to even. `*fraction`: it was written with a
 * fraction or an exponent, so Python reads a float.
 */
tl_decimal_code tl__decimal_ps(tl_int128 *ps, bool *fraction, const char *text, size_t n);

#endif
