/* SPDX-License-Identifier: MIT */
#include "util/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/format.h"
#include "util/utf8.h"

/* ---- parsing: an explicit stack, because argument texts come from files ---- */

typedef struct parser {
	tl_arena *arena;
	const char *p, *end;
	TL_VEC(tl_value) items; /* finished values of all open containers */
	struct {
		size_t first; /* where the container's items begin */
		char close;
	} open[TL_VALUE_MAX_DEPTH];
	size_t depth;
	bool tuples;
} parser;

static void blanks(parser *in)
{
	while (in->p < in->end && (*in->p == ' ' || *in->p == '\t' || *in->p == '\n' || *in->p == '\r'))
		in->p++;
}

static int hex4(const char *p, const char *end, uint32_t *out)
{
	uint32_t value = 0;
	if (end - p < 4)
		return TL_EFORMAT;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
				 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
							: 16;
		if (digit == 16)
			return TL_EFORMAT;
		value = value * 16 + digit;
	}
	*out = value;
	return 0;
}

size_t tl__json_unescape(char *out, const char *text, size_t n)
{
	const char *end = text + n;
	char *o = out;

	while (text < end) {
		if (*text != '\\' || text + 1 == end) {
			*o++ = *text++;
			continue;
		}
		char c = text[1];
		const char *plain = strchr("\"\\/bfnrt", c);
		uint32_t code, low;
		if (plain && *plain) {
			*o++ = "\"\\/\b\f\n\r\t"[plain - "\"\\/bfnrt"];
			text += 2;
		} else if (c == 'u' && hex4(text + 2, end, &code) == 0) {
			text += 6;
			if (code >= 0xd800 && code < 0xdc00 && end - text >= 6 && text[0] == '\\' && text[1] == 'u' &&
			    hex4(text + 2, end, &low) == 0 && low >= 0xdc00 && low < 0xe000) {
				code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
				text += 6;
			}
			o += tl__utf8_encode(o, code);
		} else {
			*o++ = *text++; /* an escape that JSON does not know: the backslash itself was meant */
		}
	}
	return (size_t)(o - out);
}

static int parse_string(parser *in, tl_value *out)
{
	const char *start = ++in->p;
	while (in->p < in->end && *in->p != '"')
		in->p += *in->p == '\\' && in->p + 1 < in->end ? 2 : 1;
	if (in->p >= in->end)
		return TL_EFORMAT;
	size_t n = (size_t)(in->p++ - start);
	char *text = tl__arena_strndup(in->arena, start, n);
	if (!text)
		return TL_ENOMEM;
	if (memchr(start, '\\', n)) {
		n = tl__json_unescape(text, start, n);
		text[n] = '\0';
	}
	*out = TL_VALUE_STRING(text, n);
	return 0;
}

static bool word(parser *in, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(in->end - in->p) < n || memcmp(in->p, text, n))
		return false;
	in->p += n;
	return true;
}

/* A sign, perhaps, and at least one digit. */
static bool only_digits(const char *text, size_t n)
{
	size_t i = n && (*text == '-' || *text == '+');
	if (i == n)
		return false;
	while (i < n && text[i] >= '0' && text[i] <= '9')
		i++;
	return i == n;
}

static int parse_number(parser *in, tl_value *out)
{
	const char *start = in->p;
	bool fraction = false;
	for (; in->p < in->end && strchr("+-.0123456789eE", *in->p) && *in->p; in->p++)
		fraction |= *in->p == '.' || *in->p == 'e' || *in->p == 'E';
	size_t n = (size_t)(in->p - start);
	int64_t integer;
	double number;
	if (!fraction && tl__parse_int(start, n, &integer)) {
		*out = TL_VALUE_INT(integer);
	} else if (fraction && tl__parse_double(start, n, &number)) {
		*out = TL_VALUE_DOUBLE(number);
	} else if (!fraction && only_digits(start, n)) {
		const char *text = tl__arena_strndup(in->arena, start, n);
		if (!text)
			return TL_ENOMEM;
		*out = (tl_value){.kind = TL_V_NUMBER, .n = (uint32_t)n, .s = text};
	} else {
		return TL_EFORMAT;
	}
	return 0;
}

static int parse_scalar(parser *in, tl_value *out)
{
	if (in->p == in->end)
		return TL_EFORMAT;
	if (*in->p == '"')
		return parse_string(in, out);
	if (word(in, "null"))
		return *out = TL_VALUE_NONE, 0;
	if (word(in, "true"))
		return *out = TL_VALUE_BOOL(true), 0;
	if (word(in, "false"))
		return *out = TL_VALUE_BOOL(false), 0;
	if (word(in, "NaN") || word(in, "nan"))
		return *out = TL_VALUE_DOUBLE(NAN), 0;
	if (word(in, "Infinity") || word(in, "inf"))
		return *out = TL_VALUE_DOUBLE(INFINITY), 0;
	if (word(in, "-Infinity") || word(in, "-inf"))
		return *out = TL_VALUE_DOUBLE(-INFINITY), 0;
	return parse_number(in, out);
}

/* Replaces the items of the innermost container by the container. */
static int close_container(parser *in)
{
	size_t first = in->open[--in->depth].first, n = in->items.n - first;
	tl_value container = {.kind = in->open[in->depth].close == '}' ? TL_V_DICT
				      : in->tuples                     ? TL_V_TUPLE
								       : TL_V_LIST};
	container.n = (uint32_t)(container.kind == TL_V_DICT ? n / 2 : n);
	if (n) {
		tl_value *items = tl__arena_alloc(in->arena, n * sizeof *items);
		if (!items)
			return TL_ENOMEM;
		memcpy(items, in->items.v + first, n * sizeof *items);
		container.items = items;
	}
	in->items.n = first;
	in->p++;
	return TL_VEC_PUSH(&in->items, container);
}

static int parse_key(parser *in)
{
	tl_value key;
	blanks(in);
	if (in->p == in->end || *in->p != '"')
		return TL_EFORMAT;
	TL_TRY(parse_string(in, &key));
	blanks(in);
	if (in->p == in->end || *in->p++ != ':')
		return TL_EFORMAT;
	return TL_VEC_PUSH(&in->items, key);
}

/* Begins the container at hand, up to its first value, or ends it again: it is empty. */
static int open_container(parser *in, bool *empty)
{
	char close = *in->p++ == '[' ? ']' : '}';
	if (in->depth == TL_VALUE_MAX_DEPTH)
		return TL_EFORMAT;
	in->open[in->depth].first = in->items.n;
	in->open[in->depth++].close = close;
	blanks(in);
	*empty = in->p < in->end && *in->p == close;
	if (*empty)
		return close_container(in);
	return close == '}' ? parse_key(in) : 0;
}

/* Behind a value: ends the containers that end there, then goes on to the next value. `done`: the text is complete. */
static int after_value(parser *in, bool *done)
{
	*done = false;
	for (blanks(in); in->depth; blanks(in)) {
		char close = in->open[in->depth - 1].close;
		if (in->p == in->end)
			return TL_EFORMAT;
		if (*in->p != close) {
			if (*in->p++ != ',')
				return TL_EFORMAT;
			return close == '}' ? parse_key(in) : 0;
		}
		TL_TRY(close_container(in));
	}
	*done = true;
	return in->p == in->end ? 0 : TL_EFORMAT;
}

static int parse(parser *in)
{
	for (bool done = false; !done;) {
		blanks(in);
		if (in->p < in->end && (*in->p == '[' || *in->p == '{')) {
			bool empty;
			TL_TRY(open_container(in, &empty));
			if (!empty)
				continue;
		} else {
			tl_value scalar;
			TL_TRY(parse_scalar(in, &scalar));
			TL_TRY(TL_VEC_PUSH(&in->items, scalar));
		}
		TL_TRY(after_value(in, &done));
	}
	return 0;
}

int tl__value_parse(tl_arena *arena, const char *text, size_t n, bool tuples, const tl_value **out)
{
	parser in = {.arena = arena, .p = text, .end = text + n, .tuples = tuples};
	int code = parse(&in);
	if (code == 0) {
		tl_value *value = tl__arena_alloc(arena, sizeof *value);
		if (value)
			*value = in.items.v[0];
		else
			code = TL_ENOMEM;
		*out = value;
	}
	TL_VEC_FREE(&in.items);
	return code;
}

/* ---- printing: values are at most TL_VALUE_MAX_DEPTH deep, so recursion is bounded ---- */

/* Code points that Python's repr escapes: control and format characters, spaces other than ' ', private use. */
static bool unprintable(uint32_t code)
{
	static const uint32_t ranges[][2] = {
		{0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
		{0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x1680, 0x1680},
		{0x180e, 0x180e},   {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},
		{0xe000, 0xf8ff},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
		{0x13430, 0x13438}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe007f}, {0xf0000, 0x10ffff},
	};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges && code >= ranges[i][0]; i++)
		if (code <= ranges[i][1])
			return true;
	return false;
}

/* A string as Python's repr prints it. */
static void repr_string(tl_buf *out, const char *text, size_t n)
{
	const char *end = text + n;
	char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';

	tl__buf_putc(out, quote);
	while (text < end) {
		unsigned char c = (unsigned char)*text;
		uint32_t code;
		size_t length;
		if (c >= 0x20 && c < 0x7f) {
			const char *run = text;
			while (text < end && (unsigned char)*text >= 0x20 && (unsigned char)*text < 0x7f &&
			       *text != quote && *text != '\\')
				text++;
			tl__buf_put(out, run, (size_t)(text - run));
			if (text < end && (*text == quote || *text == '\\')) {
				tl__buf_putc(out, '\\');
				tl__buf_putc(out, *text++);
			}
			continue;
		}
		length = tl__utf8_decode(text, (size_t)(end - text), &code);
		if (c == '\n')
			tl__buf_puts(out, "\\n");
		else if (c == '\t')
			tl__buf_puts(out, "\\t");
		else if (c == '\r')
			tl__buf_puts(out, "\\r");
		else if (!length)
			tl__buf_puts(out, "\xef\xbf\xbd"); /* not UTF-8 */
		else if (unprintable(code))
			tl__buf_printf(out,
				       code < 0x100     ? "\\x%02x"
				       : code < 0x10000 ? "\\u%04x"
							: "\\U%08x",
				       (unsigned)code);
		else
			tl__buf_put(out, text, length);
		text += length ? length : 1;
	}
	tl__buf_putc(out, quote);
}

static void print(tl_buf *out, const tl_value *value, bool json);

/* JSON knows only string keys: others become their text. */
static void print_key(tl_buf *out, const tl_value *key, bool json)
{
	tl_buf text = {0};
	if (!json || key->kind == TL_V_STRING) {
		print(out, key, json);
		return;
	}
	print(&text, key, false);
	if (tl__buf_text(&text))
		tl__json_string(out, text.v, text.n);
	else
		out->failed = 1;
	tl__buf_free(&text);
}

static void print_items(tl_buf *out, const tl_value *value, bool json)
{
	for (uint32_t i = 0; i < value->n; i++) {
		if (i)
			tl__buf_puts(out, ", ");
		if (value->kind == TL_V_DICT) {
			print_key(out, &value->items[2 * i], json);
			tl__buf_puts(out, ": ");
			print(out, &value->items[2 * i + 1], json);
		} else {
			print(out, &value->items[i], json);
		}
	}
}

static void print(tl_buf *out, const tl_value *value, bool json)
{
	switch (value ? value->kind : TL_V_NONE) {
	case TL_V_BOOL:
		tl__buf_puts(out, json ? (value->b ? "true" : "false") : (value->b ? "True" : "False"));
		break;
	case TL_V_INT:
		tl__buf_int(out, value->i);
		break;
	case TL_V_DOUBLE:
		if (json && !isfinite(value->d))
			tl__buf_puts(out, "null");
		else
			tl__buf_double(out, value->d);
		break;
	case TL_V_NUMBER:
		tl__buf_put(out, value->s, value->n);
		break;
	case TL_V_STRING:
		if (json)
			tl__json_string(out, value->s, value->n);
		else
			repr_string(out, value->s, value->n);
		break;
	case TL_V_LIST:
	case TL_V_TUPLE: {
		bool round = value->kind == TL_V_TUPLE && !json;
		tl__buf_putc(out, round ? '(' : '[');
		print_items(out, value, json);
		if (round && value->n == 1)
			tl__buf_putc(out, ',');
		tl__buf_putc(out, round ? ')' : ']');
		break;
	}
	case TL_V_DICT:
		tl__buf_putc(out, '{');
		print_items(out, value, json);
		tl__buf_putc(out, '}');
		break;
	default:
		tl__buf_puts(out, json ? "null" : "None");
	}
}

void tl__value_repr(tl_buf *out, const tl_value *value)
{
	print(out, value, false);
}

void tl__value_str(tl_buf *out, const tl_value *value)
{
	if (value && value->kind == TL_V_STRING)
		tl__buf_put(out, value->s, value->n);
	else
		print(out, value, false);
}

void tl__value_json(tl_buf *out, const tl_value *value)
{
	print(out, value, true);
}

void tl__json_string(tl_buf *out, const char *text, size_t n)
{
	const char *end = text + n;
	tl__buf_putc(out, '"');
	while (text < end) {
		const char *run = text;
		uint32_t code;
		while (text < end && (unsigned char)*text >= 0x20 && (unsigned char)*text < 0x80 && *text != '"' &&
		       *text != '\\')
			text++;
		tl__buf_put(out, run, (size_t)(text - run));
		if (text == end)
			break;
		unsigned char c = (unsigned char)*text;
		size_t length = tl__utf8_decode(text, (size_t)(end - text), &code);
		if (c == '"' || c == '\\')
			tl__buf_printf(out, "\\%c", c);
		else if (c == '\n')
			tl__buf_puts(out, "\\n");
		else if (c == '\t')
			tl__buf_puts(out, "\\t");
		else if (c == '\r')
			tl__buf_puts(out, "\\r");
		else if (c < 0x20)
			tl__buf_printf(out, "\\u%04x", c);
		else if (!length)
			tl__buf_puts(out, "\xef\xbf\xbd");
		else
			tl__buf_put(out, text, length);
		text += length ? length : 1;
	}
	tl__buf_putc(out, '"');
}

/* ---- comparing and reading ---- */

bool tl__value_equal(const tl_value *a, const tl_value *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->kind != b->kind)
		return false;
	switch (a->kind) {
	case TL_V_BOOL:
		return a->b == b->b;
	case TL_V_INT:
		return a->i == b->i;
	case TL_V_DOUBLE:
		return a->d == b->d || (isnan(a->d) && isnan(b->d));
	case TL_V_NUMBER:
	case TL_V_STRING:
		return a->n == b->n && !memcmp(a->s, b->s, a->n);
	case TL_V_LIST:
	case TL_V_TUPLE:
	case TL_V_DICT: {
		if (a->n != b->n)
			return false;
		uint32_t n = a->kind == TL_V_DICT ? 2 * a->n : a->n;
		for (uint32_t i = 0; i < n; i++)
			if (!tl__value_equal(&a->items[i], &b->items[i]))
				return false;
		return true;
	}
	default:
		return true;
	}
}

const tl_value *tl__value_at(const tl_value *value, size_t index)
{
	return tl__value_is_list(value) && index < value->n ? &value->items[index] : NULL;
}

const tl_value *tl__value_get(const tl_value *value, const char *key)
{
	size_t n = strlen(key);
	if (!value || value->kind != TL_V_DICT)
		return NULL;
	for (uint32_t i = value->n; i--;) { /* of equal keys the last one counts */
		const tl_value *name = &value->items[2 * i];
		if (name->kind == TL_V_STRING && name->n == n && !memcmp(name->s, key, n))
			return &value->items[2 * i + 1];
	}
	return NULL;
}

size_t tl__value_count(const tl_value *value)
{
	return tl__value_is_list(value) ? value->n : 0;
}

const char *tl__value_text(const tl_value *value)
{
	return value && value->kind == TL_V_STRING ? value->s : NULL;
}

bool tl__value_int(const tl_value *value, int64_t *out)
{
	if (!value)
		return false;
	if (value->kind == TL_V_INT)
		return *out = value->i, true;
	if (value->kind == TL_V_DOUBLE && fabs(value->d) < 9e15 && value->d == (double)(int64_t)value->d)
		return *out = (int64_t)value->d, true;
	return false;
}
