/* SPDX-License-Identifier: MIT */
#include "trace/decimal.h"

#include <stdint.h>

#include "tracelens/common.h"

#define HUGE_PS ((tl_int128)1 << 125)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The form that nearly all timestamps have: up to 18 digits, up to 6 behind the point. */
static bool parse_common(tl_int128 *ps, bool *fraction, const char *p, const char *end)
{
	static const uint32_t scale[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
	uint64_t whole = 0, part = 0;
	const char *start = p;

	while (p < end && is_digit(*p))
		whole = whole * 10 + (uint64_t)(*p++ - '0');
	if (p == start || p - start > 18)
		return false;
	*fraction = p < end;
	if (p < end) {
		if (*p != '.')
			return false;
		start = ++p;
		while (p < end && is_digit(*p))
			part = part * 10 + (uint64_t)(*p++ - '0');
		if (p == start || p - start > 6 || p < end)
			return false;
		part *= scale[p - start];
	}
	*ps = (tl_int128)whole * TL_PS_PER_US + (tl_int128)part;
	return true;
}

/* mantissa * 10^exponent, rounded half to even; `sticky`: nonzero digits were cut off behind the mantissa. */
static bool scale_decimal(tl_uint128 *value, tl_uint128 mantissa, int exponent, bool sticky)
{
	if (!mantissa) {
		*value = 0;
		return true;
	}
	for (; exponent > 0; exponent--) {
		if (mantissa > (tl_uint128)HUGE_PS / 10)
			return false;
		mantissa *= 10;
	}
	unsigned last = 0; /* the digit cut off last; all before it are in sticky */
	for (; exponent < 0; exponent++) {
		sticky |= last != 0;
		last = (unsigned)(mantissa % 10);
		mantissa /= 10;
		if (!mantissa && exponent < -1) {
			last = 0; /* below half of the last place whatever follows */
			break;
		}
	}
	if (last > 5 || (last == 5 && (sticky || (mantissa & 1))))
		mantissa++;
	*value = mantissa;
	return mantissa < (tl_uint128)HUGE_PS;
}

tl_decimal_code tl__decimal_ps(tl_int128 *ps, bool *fraction, const char *text, size_t n)
{
	const char *p = text, *end = text + n;
	if (parse_common(ps, fraction, p, end))
		return TL_DECIMAL_OK;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	bool negative = p < end && *p == '-';
	if (p < end && (*p == '-' || *p == '+'))
		p++;

	/* 37 digits fit in 128 bits; further ones only count and matter for rounding */
	tl_uint128 mantissa = 0;
	int exponent = 0, digits = 0;
	bool sticky = false, seen = false, point = false;
	for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		seen = true;
		if (digits < 37) {
			mantissa = mantissa * 10 + (unsigned)(*p - '0');
			digits += mantissa != 0;
			exponent -= point;
		} else {
			sticky |= *p != '0';
			exponent += !point && exponent < 100000;
		}
	}
	*fraction = point;
	if (!seen)
		return TL_DECIMAL_BAD;
	if (p < end && (*p == 'e' || *p == 'E')) {
		int written = 0;
		*fraction = true;
		p++;
		bool minus = p < end && *p == '-';
		if (p < end && (*p == '-' || *p == '+'))
			p++;
		if (p == end)
			return TL_DECIMAL_BAD;
		for (; p < end && is_digit(*p); p++)
			if (written < 100000)
				written = written * 10 + (*p - '0');
		exponent += minus ? -written : written;
	}
	if (p < end)
		return TL_DECIMAL_BAD;

	tl_uint128 value;
	bool fits = scale_decimal(&value, mantissa, exponent + 6, sticky);
	tl_int128 magnitude = fits ? (tl_int128)value : HUGE_PS;
	*ps = negative ? -magnitude : magnitude;
	return fits ? TL_DECIMAL_OK : TL_DECIMAL_HUGE;
}
