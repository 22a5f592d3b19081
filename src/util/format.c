/* SPDX-License-Identifier: MIT */
#include "util/format.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

size_t tl__format_int(char *out, int64_t value)
{
	char digits[24];
	size_t n = 0, length = 0;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do
		digits[n++] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		out[length++] = '-';
	while (n)
		out[length++] = digits[--n];
	out[length] = '\0';
	return length;
}

/* ---- shortest digits of a double ---- */

__extension__ typedef unsigned __int128 wide;

/*
 * A positive double and the two ends of the interval of decimals that read back to it, times
 * 10^q, with at least 17 digits before the point: exact, as quotient and remainder over one divisor.
 */
typedef struct scaled {
	uint64_t low, value, high; /* first integer of the interval, integer part of the value, last integer */
	wide rest, divisor;        /* the value's fraction */
	int q;
} scaled;

static wide power_of_five(int n)
{
	wide power = 1;
	for (; n >= 8; n -= 8)
		power *= 390625;
	for (; n > 0; n--)
		power *= 5;
	return power;
}

/* False when the numbers need more than 128 bits: below about 1e-15 and above 1e34. */
static bool scale(double value, scaled *out)
{
	int exponent;
	uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);
	bool even = mantissa % 2 == 0, power_of_two = mantissa == UINT64_C(1) << 52;

	/* the value is mantissa * 2^(exponent - 53); in quarters, so that half way to each neighbour is whole */
	uint64_t quarters[3] = {4 * mantissa - (power_of_two ? 1 : 2), 4 * mantissa, 4 * mantissa + 2};
	uint64_t whole[3];
	wide rest[3];
	int binary = exponent - 55, decimal = (int)floor((exponent - 1) * 0.30102999566398114);
	int q = 16 - decimal;

	if (q >= 0) { /* times 5^q, then a shift */
		int shift = binary + q;
		if (q > 31 || shift <= -128 || shift > 8)
			return false;
		wide factor = power_of_five(q);
		out->divisor = shift < 0 ? (wide)1 << -shift : 1;
		for (int i = 0; i < 3; i++) {
			wide product = quarters[i] * factor;
			whole[i] = (uint64_t)(shift < 0 ? product >> -shift : product << shift);
			rest[i] = product & (out->divisor - 1);
		}
	} else { /* divided by 5^-q */
		int shift = binary + q;
		if (shift < 0 || shift > 72)
			return false;
		out->divisor = power_of_five(-q);
		for (int i = 0; i < 3; i++) {
			wide product = (wide)quarters[i] << shift;
			whole[i] = (uint64_t)(product / out->divisor);
			rest[i] = product % out->divisor;
		}
	}
	/* reading rounds half to even, so the ends themselves belong to an even mantissa */
	out->low = whole[0] + (rest[0] || !even);
	out->value = whole[1];
	out->rest = rest[1];
	out->high = whole[2] - (!rest[2] && !even);
	out->q = q;
	return true;
}

/* The decimal with the fewest digits in the interval; of several the nearest, of two the even one. */
static int shortest_exact(const scaled *s, char digits[20], int *exponent)
{
	uint64_t low = s->low, high = s->high, unit = 1;
	int dropped = 0;

	while (high / 10 >= (low + 9) / 10) {
		high /= 10;
		low = (low + 9) / 10;
		unit *= 10;
		dropped++;
	}
	uint64_t best = s->value / unit, twice = 2 * (s->value % unit);
	bool more = twice > unit, half = twice == unit && !s->rest;
	if (unit == 1) {
		more = 2 * s->rest > s->divisor;
		half = 2 * s->rest == s->divisor;
	} else if (twice == unit && s->rest) {
		more = true;
	}
	if (more || (half && best % 2))
		best++;
	if (best < low)
		best = low;
	if (best > high)
		best = high;

	int n = (int)tl__format_int(digits, (int64_t)best);
	*exponent = n - 1 + dropped - s->q;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

/* Adds one to the last digit. */
static void count_up(char *digits, int n, int *exponent)
{
	int i = n - 1;
	while (i >= 0 && digits[i] == '9')
		digits[i--] = '0';
	if (i >= 0) {
		digits[i]++;
	} else {
		digits[0] = '1'; /* 999 became 1000 */
		++*exponent;
	}
}

static bool reads_back(const char *digits, int n, int exponent, double value)
{
	char text[48];
	snprintf(text, sizeof text, "%se%d", digits, exponent - (n - 1));
	return strtod(text, NULL) == value;
}

/* For very small and very large numbers: tries more and more digits. */
static int shortest_by_trying(double value, char digits[20], int *exponent)
{
	int n = 1;
	for (;; n++) {
		char text[40];
		snprintf(text, sizeof text, "%.*e", n - 1, value);
		digits[0] = text[0];
		if (n > 1) /* text[1] is the locale's point */
			memcpy(digits + 1, strchr(text, 'e') - (n - 1), (size_t)n - 1);
		digits[n] = '\0';
		*exponent = atoi(strchr(text, 'e') + 1);
		if (n == 17 || reads_back(digits, n, *exponent, value))
			break;
		/* above a power of two the interval is wider than below it, so the farther decimal may be inside */
		count_up(digits, n, exponent);
		if (reads_back(digits, n, *exponent, value))
			break;
	}
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

/* Fills digits (no point) and the exponent of the first one. */
static int shortest(double value, char digits[20], int *exponent)
{
	scaled s;
	return scale(value, &s) ? shortest_exact(&s, digits, exponent) : shortest_by_trying(value, digits, exponent);
}

/*
 * Times in microseconds are whole nanoseconds, mostly. A decimal of up to 15 digits is the only one of so few that
 * reads back to its double, so it is the shortest. 0: this is no such number.
 */
static size_t format_thousandths(char *out, double value)
{
	double magnitude = fabs(value), rounded = magnitude * 1000 + 0.5;
	uint64_t whole = rounded < 1e15 ? (uint64_t)rounded : 0;
	if (!whole || (double)whole / 1000 != magnitude)
		return 0;
	unsigned rest = (unsigned)(whole % 1000);
	size_t n = 0;
	if (value < 0)
		out[n++] = '-';
	n += tl__format_int(out + n, (int64_t)(whole / 1000));
	out[n++] = '.';
	out[n++] = (char)('0' + rest / 100);
	out[n++] = (char)('0' + rest / 10 % 10);
	out[n++] = (char)('0' + rest % 10);
	while (out[n - 1] == '0' && out[n - 2] != '.')
		n--;
	out[n] = '\0';
	return n;
}

size_t tl__format_double(char *out, double value)
{
	char digits[24];
	char *o = out;
	int exponent, n;

	if (isnan(value))
		return (size_t)sprintf(out, "nan");
	if (isinf(value))
		return (size_t)sprintf(out, value < 0 ? "-inf" : "inf");
	if (fabs(value) < 1e15 && value == (double)(int64_t)value) {
		size_t length = 0;
		if (value == 0 && signbit(value))
			out[length++] = '-';
		length += tl__format_int(out + length, (int64_t)value);
		memcpy(out + length, ".0", 3);
		return length + 2;
	}
	size_t done = format_thousandths(out, value);
	if (done)
		return done;

	if (value < 0)
		*o++ = '-';
	n = shortest(fabs(value), digits, &exponent);
	if (exponent < -4 || exponent >= 16) {
		*o++ = digits[0];
		if (n > 1) {
			*o++ = '.';
			memcpy(o, digits + 1, (size_t)n - 1);
			o += n - 1;
		}
		o += sprintf(o, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
	} else if (exponent < 0) {
		*o++ = '0';
		*o++ = '.';
		for (int i = -1; i > exponent; i--)
			*o++ = '0';
		memcpy(o, digits, (size_t)n);
		o += n;
	} else {
		for (int i = 0; i <= exponent || i < n; i++) {
			if (i == exponent + 1)
				*o++ = '.';
			*o++ = i < n ? digits[i] : '0';
		}
		if (n <= exponent + 1) {
			*o++ = '.';
			*o++ = '0';
		}
	}
	*o = '\0';
	return (size_t)(o - out);
}

size_t tl__format_us(char *out, int64_t ps, bool keep_fraction)
{
	size_t n = 0;
	uint64_t magnitude = ps < 0 ? 0 - (uint64_t)ps : (uint64_t)ps;
	uint64_t fraction = magnitude % 1000000;

	if (ps < 0)
		out[n++] = '-';
	n += tl__format_int(out + n, (int64_t)(magnitude / 1000000));
	if (fraction) {
		n += (size_t)sprintf(out + n, ".%06u", (unsigned)fraction);
		while (out[n - 1] == '0')
			n--;
		out[n] = '\0';
	} else if (keep_fraction) {
		memcpy(out + n, ".0", 3);
		n += 2;
	}
	return n;
}

double tl__round(double value, int digits)
{
	char text[400];
	if (!isfinite(value) || digits < 0 || digits > 20)
		return value;
	snprintf(text, sizeof text, "%.*f", digits, value);
	return strtod(text, NULL);
}

double tl__round_as_numpy(double value)
{
	double hundreds = value * 100;
	return isfinite(hundreds) ? rint(hundreds) / 100 : value;
}

bool tl__parse_int(const char *text, size_t n, int64_t *out)
{
	size_t i = 0;
	bool negative = false;
	uint64_t value = 0, limit;

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	while (i < n && isspace((unsigned char)text[i]))
		i++;
	if (i < n && (text[i] == '-' || text[i] == '+'))
		negative = text[i++] == '-';
	if (i == n)
		return false;
	limit = (uint64_t)INT64_MAX + negative;
	for (; i < n; i++) {
		unsigned digit = (unsigned)((unsigned char)text[i] - '0');
		if (digit > 9 || value > (limit - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

bool tl__parse_double(const char *text, size_t n, double *out)
{
	char small[64], *copy = small, *end;
	size_t i = 0;

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	while (i < n && isspace((unsigned char)text[i]))
		i++;
	text += i;
	n -= i;
	if (!n || memchr(text, 'x', n) || memchr(text, 'X', n)) /* strtod reads hexadecimal, too */
		return false;
	if (n >= sizeof small)
		copy = tl__malloc(n + 1);
	if (!copy)
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	/* a program that never calls setlocale has the C locale; others may write a comma for the point */
	char *point = strchr(copy, '.');
	*out = strtod(copy, &end);
	if (*end == '.' && point == end) {
		char probe[8];
		snprintf(probe, sizeof probe, "%.1f", 0.5);
		*point = probe[1];
		*out = strtod(copy, &end);
	}
	bool complete = end == copy + n;
	if (copy != small)
		tl__free(copy);
	return complete;
}
