/* SPDX-License-Identifier: MIT */
/* Numbers to text and back: Python's spelling, shortest digits, rounding, other locales. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/format.h"

static uint64_t random_bits(uint64_t *seed)
{
	*seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
	return *seed;
}

static void integers(void **state)
{
	(void)state;
	const struct {
		int64_t value;
		const char *text;
	} cases[] = {{0, "0"},
		     {-1, "-1"},
		     {10, "10"},
		     {INT64_MAX, "9223372036854775807"},
		     {INT64_MIN, "-9223372036854775808"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TL_FORMAT_MAX];
		assert_int_equal(tl__format_int(text, cases[i].value), strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
}

/* What repr() of CPython prints. */
static void doubles_as_python_prints_them(void **state)
{
	(void)state;
	const struct {
		double value;
		const char *text;
	} cases[] = {
		{0.0, "0.0"},
		{-0.0, "-0.0"},
		{10, "10.0"},
		{-2.5, "-2.5"},
		{0.1, "0.1"},
		{0.1 + 0.2, "0.30000000000000004"},
		{1.0 / 3, "0.3333333333333333"},
		{85.736328125, "85.736328125"},
		{1e-4, "0.0001"},
		{1e-5, "1e-05"},
		{1e-7, "1e-07"},
		{1.5e-7, "1.5e-07"},
		{123456789012345680.0, "1.2345678901234568e+17"},
		{1e15, "1000000000000000.0"},
		{9999999999999998.0, "9999999999999998.0"},
		{1e16, "1e+16"},
		{1e22, "1e+22"},
		{1e23, "1e+23"},
		{9007199254740993.0, "9007199254740992.0"},
		{5e-324, "5e-324"},
		{DBL_MIN, "2.2250738585072014e-308"},
		{DBL_MAX, "1.7976931348623157e+308"},
		/* above a power of two the interval is wider: one digit less than the nearest decimals need */
		{0x1p-44, "5.684341886080802e-14"},
		{0x1p-1074 * 3, "1.5e-323"},
		{(double)INFINITY, "inf"},
		{-(double)INFINITY, "-inf"},
		{(double)NAN, "nan"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TL_FORMAT_MAX];
		assert_int_equal(tl__format_double(text, cases[i].value), strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
}

/* Significant digits of a text, without zeros at either end. */
static int significant(const char *text, char *digits)
{
	int n = 0;
	for (; *text && *text != 'e'; text++)
		if (*text >= '0' && *text <= '9' && (n || *text != '0'))
			digits[n++] = *text;
	while (n && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

/* Reads back; no decimal with a digit less does; of those with as many digits it is the nearest that does. */
static void expect_shortest(double value)
{
	char text[TL_FORMAT_MAX], digits[40], other[40], try[64];
	tl__format_double(text, value);
	assert_true(strtod(text, NULL) == value);
	int n = significant(text, digits);

	snprintf(try, sizeof try, "%.*e", n - 1, value);
	if (strtod(try, NULL) == value) {
		significant(try, other);
		assert_string_equal(digits, other);
	}
	if (n < 2)
		return;
	/* the two decimals of n - 1 digits around the value are the only ones that could */
	snprintf(try, sizeof try, "%.*e", n - 2, value);
	assert_true(strtod(try, NULL) != value);
	char *e = strchr(try, 'e');
	int exponent = atoi(e + 1);
	for (int step = -1; step <= 1; step += 2) {
		int64_t near = 0;
		for (const char *p = try; p < e; p++)
			if (*p >= '0' && *p <= '9')
				near = near * 10 + (*p - '0');
		snprintf(other, sizeof other, "%s%llde%d", value < 0 ? "-" : "", (long long)(near + step),
			 exponent - (n - 2));
		assert_true(strtod(other, NULL) != value);
	}
}

/* Nanoseconds in microseconds, and their neighbours, which are no such numbers. */
static void thousandths_are_shortest_and_read_back(void **state)
{
	(void)state;
	uint64_t seed = 0x2545f4914f6cdd1d;
	for (int i = 0; i < 20000; i++) {
		double value = (double)(random_bits(&seed) >> (14 + i % 50)) / 1000;
		if (value == 0)
			continue;
		expect_shortest(i % 2 ? value : -value);
		expect_shortest(nextafter(value, 0));
		expect_shortest(nextafter(value, (double)INFINITY));
	}
	char text[TL_FORMAT_MAX];
	assert_int_equal(tl__format_double(text, -0.001), 6);
	assert_string_equal(text, "-0.001");
	tl__format_double(text, 999999999999.999);
	assert_string_equal(text, "999999999999.999");
	tl__format_double(text, 1234.5);
	assert_string_equal(text, "1234.5");
	tl__format_double(text, 0.0004999);
	assert_string_equal(text, "0.0004999");
}

static void doubles_are_shortest_and_read_back(void **state)
{
	(void)state;
	uint64_t seed = 0x9e3779b97f4a7c15;
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = random_bits(&seed);
		double value;
		if (i % 4 == 0) /* any double */
			memcpy(&value, &bits, sizeof value);
		else if (i % 4 == 1) /* what a table holds: quotients of whole numbers */
			value = (double)(bits >> 32) / (double)((bits & 0xffff) + 1);
		else if (i % 4 == 2) /* picoseconds in microseconds */
			value = (double)(bits >> (16 + bits % 40)) / 1e6;
		else
			value = ldexp((double)(bits >> 11), (int)(bits % 180) - 140);
		if (isfinite(value) && value != 0)
			expect_shortest(value);
	}
	for (int e = -1074; e < 1024; e++) {
		double power = ldexp(1, e);
		expect_shortest(power);
		expect_shortest(nextafter(power, 0) > 0 ? nextafter(power, 0) : power);
		expect_shortest(nextafter(power, (double)INFINITY));
	}
}

static void microseconds(void **state)
{
	(void)state;
	const struct {
		int64_t ps;
		bool keep;
		const char *text;
	} cases[] = {
		{51776000, false, "51.776"},
		{3000000, false, "3"},
		{3000000, true, "3.0"},
		{-1, false, "-0.000001"},
		{0, true, "0.0"},
		{0, false, "0"},
		{-2500000, true, "-2.5"},
		{INT64_MAX, false, "9223372036854.775807"},
		{INT64_MIN, true, "-9223372036854.775808"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TL_FORMAT_MAX];
		assert_int_equal(tl__format_us(text, cases[i].ps, cases[i].keep), strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
}

static void rounding_is_half_even_on_the_binary_value(void **state)
{
	(void)state;
	assert_true(tl__round(2.675, 2) == 2.67); /* the double lies below */
	assert_true(tl__round(0.125, 2) == 0.12);
	assert_true(tl__round(0.375, 2) == 0.38);
	assert_true(tl__round(2.5, 0) == 2);
	assert_true(tl__round(-1.005, 2) == -1);
	assert_true(tl__round(1e300, 2) == 1e300);
	assert_true(isnan(tl__round((double)NAN, 2)));
	assert_true(isinf(tl__round((double)INFINITY, 2)));
}

/* Expected: NumPy's round, which differs from Python's where scaling by 100 meets a half. */
static void rounding_as_numpy_is_half_even_on_the_scaled_value(void **state)
{
	(void)state;
	assert_true(tl__round_as_numpy(2.675) == 2.68);
	assert_true(tl__round_as_numpy(-2.675) == -2.68);
	assert_true(tl__round_as_numpy(4.285) == 4.28 && tl__round(4.285, 2) == 4.29);
	assert_true(tl__round_as_numpy(0.125) == 0.12);
	assert_true(tl__round_as_numpy(1e307) == 1e307); /* scaled it would be infinite */
	assert_true(isnan(tl__round_as_numpy((double)NAN)));
}

static bool reads_int(const char *text, int64_t *out)
{
	return tl__parse_int(text, strlen(text), out);
}

static void reading_integers(void **state)
{
	(void)state;
	int64_t value = 0;
	assert_true(reads_int(" -42 \n", &value) && value == -42);
	assert_true(reads_int("+7", &value) && value == 7);
	assert_true(reads_int("9223372036854775807", &value) && value == INT64_MAX);
	assert_true(reads_int("-9223372036854775808", &value) && value == INT64_MIN);
	const char *const bad[] = {"",
				   " ",
				   "-",
				   "1.0",
				   "1 2",
				   "9223372036854775808",
				   "-9223372036854775809",
				   "0x10",
				   "99999999999999999999999"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(reads_int(bad[i], &value));
	assert_true(tl__parse_int("123", 2, &value) && value == 12);
}

static bool reads_double(const char *text, double *out)
{
	return tl__parse_double(text, strlen(text), out);
}

static void reading_doubles(void **state)
{
	(void)state;
	double value = 0;
	assert_true(reads_double(" 1.5e3 ", &value) && value == 1500);
	assert_true(reads_double("-.5", &value) && value == -0.5);
	assert_true(reads_double("inf", &value) && isinf(value));
	assert_true(reads_double("-Infinity", &value) && value == -(double)INFINITY);
	assert_true(reads_double("NaN", &value) && isnan(value));
	const char *const bad[] = {"", " ", "-", "1.5x", "1,5", "1.2.3", "0x10", "e5"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(reads_double(bad[i], &value));
	assert_false(tl__parse_double("1\0002", 3, &value));
	assert_true(tl__parse_double("123", 2, &value) && value == 12);
	/* more digits than anyone needs */
	char many[200] = "0.";
	memset(many + 2, '3', sizeof many - 3);
	many[sizeof many - 1] = '\0';
	assert_true(reads_double(many, &value) && value == 1.0 / 3);
}

/* A program around the library may have set a locale that writes a comma for the point. */
static void locale_does_not_matter(void **state)
{
	(void)state;
	const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
	size_t i = 0;
	while (i < sizeof names / sizeof *names && !setlocale(LC_NUMERIC, names[i]))
		i++;
	if (i == sizeof names / sizeof *names)
		skip();
	char text[TL_FORMAT_MAX];
	double value = 0;
	tl__format_double(text, 1e-300 / 3);
	bool read = reads_double("2.5", &value);
	double rounded = tl__round(0.375, 2);
	setlocale(LC_NUMERIC, "C");
	assert_string_equal(text, "3.333333333333333e-301");
	assert_true(read && value == 2.5);
	assert_true(rounded == 0.38);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(doubles_as_python_prints_them),
		cmocka_unit_test(thousandths_are_shortest_and_read_back),
		cmocka_unit_test(doubles_are_shortest_and_read_back),
		cmocka_unit_test(microseconds),
		cmocka_unit_test(rounding_is_half_even_on_the_binary_value),
		cmocka_unit_test(rounding_as_numpy_is_half_even_on_the_scaled_value),
		cmocka_unit_test(reading_integers),
		cmocka_unit_test(reading_doubles),
		cmocka_unit_test(locale_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
