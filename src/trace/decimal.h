/* SPDX-License-Identifier: MIT */
/** @file decimal.h Decimal microseconds to picoseconds, exactly: never through a double. */
#ifndef TL_TRACE_DECIMAL_H
#define TL_TRACE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/**
 * The value of n digits, 1 to 16, eight at a time. They must be digits, and 16 bytes at `p` readable.
 */
static inline uint64_t tl__digits(const char *p, unsigned n)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t part[2] = {0}, value = 0;
	unsigned first = n > 8 ? n - 8 : n;
	memcpy(&part[0], p, 8);
	part[0] <<= 64 - 8 * first; /* zeros in front */
	if (n > 8)
		memcpy(&part[1], p + first, 8);
	for (unsigned i = 0; i < (n > 8 ? 2u : 1u); i++) {
		uint64_t v = part[i] & UINT64_C(0x0f0f0f0f0f0f0f0f);
		v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
		v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
		v = (v * 10000 + (v >> 32)) & UINT64_C(0x00000000ffffffff);
		value = value * 100000000 + v;
	}
	return value;
#else
	uint64_t value = 0;
	for (unsigned i = 0; i < n; i++)
		value = value * 10 + (uint64_t)(p[i] - '0');
	return value;
#endif
}

#endif
