/* SPDX-License-Identifier: MIT */
#include "util/format.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Shortest "%.{n}e" form that reads back; fills digits (no point) and the decimal exponent. */
static int shortest(double value, char digits[20], int *exponent)
{
	char text[40];
	int precision;

	/* most values that a trace yields need 15..17 digits or very few; try the common few first */
	for (precision = 0; precision < 17; precision++) {
		if (precision == 6)
			precision = 14; /* 7..14 digits are found by trimming the zeros of 15 */
		snprintf(text, sizeof text, "%.*e", precision, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (precision == 17)
		snprintf(text, sizeof text, "%.16e", value);

	int n = 0;
	const char *p = text;
	for (; *p && *p != 'e'; p++)
		if (isdigit((unsigned char)*p))
			digits[n++] = *p;
	*exponent = atoi(p + 1);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
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
	if (i == n || n - i >= sizeof small)
		return false;
	memcpy(copy, text + i, n - i);
	copy[n - i] = '\0';
	/* a program that never calls setlocale has the C locale; others may write a comma for the point */
	char *point = strchr(copy, '.');
	*out = strtod(copy, &end);
	if (*end == '.' && point == end) {
		char probe[8];
		snprintf(probe, sizeof probe, "%.1f", 0.5);
		*point = probe[1];
		*out = strtod(copy, &end);
	}
	return *end == '\0';
}
