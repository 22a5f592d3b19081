/* SPDX-License-Identifier: MIT */
/* The kept text of an event as JSON that any reader accepts, whatever the file held. */
#include <string.h>

#include "io/json.h"
#include "trace/raw.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/utf8.h"
#include "util/value.h"

/* ---- is it valid? ---- */

/* Deeper nesting counts as invalid: readers of JSON have limits, too. */
enum { MAX_DEPTH = TL_VALUE_MAX_DEPTH };

static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Behind a number by the grammar of JSON, or NULL. */
static const char *number(const char *p, const char *end)
{
	p += *p == '-';
	const char *start = p;
	p = digits(p, end);
	if (p == start || (*start == '0' && p > start + 1))
		return NULL;
	if (p < end && *p == '.') {
		start = ++p;
		p = digits(p, end);
		if (p == start)
			return NULL;
	}
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		start = p;
		p = digits(p, end);
		if (p == start)
			return NULL;
	}
	return p;
}

/* Behind a string from its opening quote on, or NULL. */
static const char *string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++) {
		if ((uint8_t)*p < 0x20)
			return NULL;
		if (*p != '\\')
			continue;
		p++;
		if (p < end && *p == 'u') {
			for (int i = 0; i < 4; i++)
				if (++p >= end || !memchr("0123456789abcdefABCDEF", *p, 22))
					return NULL;
		} else if (p >= end || !memchr("\"\\/bfnrt", *p, 8)) {
			return NULL;
		}
	}
	return p < end ? p + 1 : NULL;
}

static const char *word(const char *p, const char *end)
{
	static const char *const words[] = {"null", "true", "false"};
	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(end - p) >= n && !memcmp(p, words[i], n))
			return p + n;
	}
	return NULL;
}

static const char *scalar(const char *p, const char *end)
{
	if (p >= end)
		return NULL;
	if (*p == '"')
		return string(p, end);
	return *p == '-' || (*p >= '0' && *p <= '9') ? number(p, end) : word(p, end);
}

/* Behind `"key":`, or NULL. */
static const char *member(const char *p, const char *end)
{
	p = p < end && *p == '"' ? string(p, end) : NULL;
	return p && p < end && *p == ':' ? p + 1 : NULL;
}

/* Whether compact text is one JSON value. */
static bool is_valid(const char *p, const char *end)
{
	bool object[MAX_DEPTH];
	size_t depth = 0;
	for (;;) {
		/* at the beginning of a value */
		if (p < end && (*p == '{' || *p == '[')) {
			char close = *p == '{' ? '}' : ']';
			if (depth == MAX_DEPTH)
				return false;
			object[depth++] = close == '}';
			p++;
			if (p < end && *p != close) {
				if (object[depth - 1] && !(p = member(p, end)))
					return false;
				continue;
			}
		} else if (!(p = scalar(p, end))) {
			return false;
		}
		/* behind a value, or at the end of an empty container */
		while (depth && p < end && *p == (object[depth - 1] ? '}' : ']')) {
			p++;
			depth--;
		}
		if (!depth)
			return p == end;
		if (p >= end || *p++ != ',')
			return false;
		if (object[depth - 1] && !(p = member(p, end)))
			return false;
	}
}

/* ---- making it so ---- */

static bool is_utf8(const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t taken = (uint8_t)text[i] < 0x80 ? 1 : tl__utf8_decode(text + i, n - i, &code);
		if (!taken)
			return false;
		i += taken;
	}
	return true;
}

/* Bytes that are no UTF-8 become U+FFFD. */
static void put_utf8(tl_buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t taken = tl__utf8_decode(text + i, n - i, &code);
		if (taken)
			tl__buf_put(out, text + i, taken);
		else
			tl__buf_puts(out, "\xef\xbf\xbd");
		i += taken ? taken : 1;
	}
}

/* A value that is not valid: as it can be read, else as a string. */
static int put_doubtful(tl_buf *out, const char *text, size_t n)
{
	tl_arena arena = {0};
	const tl_value *value = NULL;
	int code = tl__value_parse(&arena, text, n, false, &value);
	if (code == 0)
		tl__value_json(out, value);
	else if (code != TL_ENOMEM)
		tl__json_string(out, text, n);
	tl__arena_free(&arena);
	return code == TL_ENOMEM ? code : 0;
}

/* The object at text, member by member, so that one bad value costs no other. `levels`: objects inside to go into. */
static int put_members(tl_buf *out, const char *text, size_t n, int levels)
{
	tl_json_scan scan = {.end = text + n};
	const char *p = text + 1;
	size_t members = 0;
	tl__buf_putc(out, '{');
	while (p && *p == '"') {
		tl_json_token key, token;
		p = tl__json_scan_string(&scan, p + 1, &key);
		if (!p || *p != ':')
			break;
		p = tl__json_scan_value(&scan, p + 1, &token);
		if (!p)
			break;
		size_t length;
		const char *value = tl__json_token_text(&token, &length);
		if (members++)
			tl__buf_putc(out, ',');
		if (string(key.p - 1, scan.end))
			tl__buf_put(out, key.p - 1, (size_t)key.n + 2);
		else
			tl__json_string(out, key.p, key.n);
		tl__buf_putc(out, ':');
		if (is_valid(value, value + length))
			tl__buf_put(out, value, length);
		else if (*value == '{' && levels)
			TL_TRY(put_members(out, value, length, levels - 1));
		else
			TL_TRY(put_doubtful(out, value, length));
		if (*p == ',')
			p++;
	}
	tl__buf_putc(out, '}');
	return 0;
}

/* Compact text that is not valid as it is. */
static int put_repaired(tl_buf *out, const char *text, size_t n)
{
	static const char padding[TL_JSON_PAD];
	tl_buf clean = {0};
	int code = 0;
	put_utf8(&clean, text, n);
	size_t size = clean.n;
	tl__buf_put(&clean, padding, sizeof padding);
	if (clean.failed)
		code = TL_ENOMEM;
	else if (is_valid(clean.v, clean.v + size))
		tl__buf_put(out, clean.v, size);
	else if (*clean.v == '{')
		code = put_members(out, clean.v, size, 1); /* the event, and its arguments */
	else
		code = put_doubtful(out, clean.v, size);
	tl__buf_free(&clean);
	return code;
}

int tl__raw_to_json(tl_buf *out, const char *text, size_t n)
{
	size_t start = out->n;
	if (!n)
		tl__buf_puts(out, "{}");
	else
		tl__json_compact(out, text, n);
	if (out->failed)
		return TL_ENOMEM;
	const char *made = out->v + start;
	size_t size = out->n - start;
	if (is_utf8(made, size) && is_valid(made, made + size))
		return 0;
	tl_buf broken = {0};
	tl__buf_put(&broken, made, size);
	out->n = start;
	int code = broken.failed ? TL_ENOMEM : put_repaired(out, broken.v ? broken.v : "", broken.n);
	tl__buf_free(&broken);
	return out->failed ? TL_ENOMEM : code;
}
