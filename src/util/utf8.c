/* SPDX-License-Identifier: MIT */
#include "util/utf8.h"

size_t tl__utf8_decode(const char *text, size_t n, uint32_t *code)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t length;
	uint32_t value, least;

	if (!n)
		return 0;
	if (p[0] < 0x80)
		return *code = p[0], 1;
	if (p[0] >= 0xc2 && p[0] < 0xe0)
		length = 2, value = p[0] & 0x1fu, least = 0x80;
	else if (p[0] >= 0xe0 && p[0] < 0xf0)
		length = 3, value = p[0] & 0x0fu, least = 0x800;
	else if (p[0] >= 0xf0 && p[0] < 0xf5)
		length = 4, value = p[0] & 0x07u, least = 0x10000;
	else
		return 0;
	if (n < length)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (p[i] & 0x3fu);
	}
	if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	*code = value;
	return length;
}

size_t tl__utf8_encode(char *out, uint32_t code)
{
	unsigned char *o = (unsigned char *)out;

	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	if (code < 0x80)
		return o[0] = (unsigned char)code, 1;
	if (code < 0x800) {
		o[0] = (unsigned char)(0xc0 | code >> 6);
		o[1] = (unsigned char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		o[0] = (unsigned char)(0xe0 | code >> 12);
		o[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
		o[2] = (unsigned char)(0x80 | (code & 0x3f));
		return 3;
	}
	o[0] = (unsigned char)(0xf0 | code >> 18);
	o[1] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
	o[2] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
	o[3] = (unsigned char)(0x80 | (code & 0x3f));
	return 4;
}

size_t tl__utf8_prefix(const char *text, size_t n, size_t count)
{
	size_t at = 0;
	uint32_t code;
	while (count-- && at < n) {
		size_t length = tl__utf8_decode(text + at, n - at, &code);
		at += length ? length : 1;
	}
	return at;
}

size_t tl__utf8_count(const char *text, size_t n)
{
	size_t count = 0;
	uint32_t code;
	for (size_t at = 0; at < n; count++) {
		size_t length = tl__utf8_decode(text + at, n - at, &code);
		at += length ? length : 1;
	}
	return count;
}
