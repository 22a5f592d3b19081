/* SPDX-License-Identifier: MIT */
/** @file format.h Numbers to text and back, exactly. */
#ifndef TL_UTIL_FORMAT_H
#define TL_UTIL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Room that every tl__format function needs, the NUL included. */
#define TL_FORMAT_MAX 40

/** Decimal digits; returns the length, writes a NUL. */
size_t tl__format_int(char *out, int64_t value);

/**
 * The shortest digits that read back to the same double, as Python's repr: "10.0",
 * "1e-07", "1e+16", "nan", "inf", "-inf". Exponent form below 1e-4 and from 1e16 on.
 */
size_t tl__format_double(char *out, double value);

/**
 * Picoseconds as microseconds, exactly, without trailing zeros: "51.776", "3".
 * With `keep_fraction` an integral value ends in ".0".
 */
size_t tl__format_us(char *out, int64_t ps, bool keep_fraction);

/** Python's round(value, digits): half to even on the exact binary value. */
double tl__round(double value, int digits);

/** Two decimals as NumPy's round: scaled in double, half to even. Differs from tl__round on ties such as 4.285. */
double tl__round_as_numpy(double value);

/** Reads a whole text as a decimal integer (optional sign, blanks around it allowed). */
bool tl__parse_int(const char *text, size_t n, int64_t *out);

/** Reads a whole text as a number, independent of the locale; accepts inf and nan. */
bool tl__parse_double(const char *text, size_t n, double *out);

#endif
