/* SPDX-License-Identifier: MIT */
#include "io/json.h"

#include <string.h>

#include "util/value.h"

#define B TL_JSON_IS_BLANK
#define N (TL_JSON_IS_NUMBER | TL_JSON_IS_WORD)
#define W TL_JSON_IS_WORD
const uint8_t tl__json_class[256] = {
	[' '] = B, ['\t'] = B, ['\n'] = B, ['\r'] = B, ['0'] = N, ['1'] = N, ['2'] = N, ['3'] = N, ['4'] = N,
	['5'] = N, ['6'] = N,  ['7'] = N,  ['8'] = N,  ['9'] = N, ['-'] = N, ['+'] = N, ['.'] = N, ['e'] = N,
	['E'] = N, ['a'] = W,  ['f'] = W,  ['l'] = W,  ['n'] = W, ['r'] = W, ['s'] = W, ['t'] = W, ['u'] = W,
};
#undef B
#undef N
#undef W

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

bool tl__json_is_escape(const char *p)
{
	switch (*p) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return true;
	case 'u':
		return is_hex(p[1]) && is_hex(p[2]) && is_hex(p[3]) && is_hex(p[4]);
	default:
		return false;
	}
}

const char *tl__json_string_special(tl_json_scan *scan, const char *p)
{
	if (*p == '\\' && tl__json_is_escape(p + 1))
		return p + 2; /* the digits behind \u are like any other bytes */
	/* an escape at the end of the text may merely be cut off */
	scan->stop = *p == '\\' && scan->end - p < 6 ? scan->end : p;
	return NULL;
}

/* Whether these digits (optional sign) exceed what 64 bits hold, signed or unsigned. */
static bool is_big_integer(const char *p, size_t n)
{
	bool negative = n && *p == '-';
	if (negative || (n && *p == '+')) {
		p++;
		n--;
	}
	for (size_t i = 0; i < n; i++)
		if (p[i] < '0' || p[i] > '9')
			return false;
	while (n && *p == '0') {
		p++;
		n--;
	}
	const char *limit = negative ? "9223372036854775808" : "18446744073709551615";
	size_t digits = strlen(limit);
	return n != digits ? n > digits : memcmp(p, limit, n) > 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

tl_json_spelling tl__json_spelling(const char *p, size_t n)
{
	const char *end = p + n, *start;
	bool odd = false;
	if (p < end && (*p == '-' || *p == '+'))
		odd = *p++ == '+';
	start = p;
	p = digits(p, end);
	size_t whole = (size_t)(p - start), part = 0;
	odd |= whole == 0 || (whole > 1 && *start == '0');
	if (p < end && *p == '.') {
		start = ++p;
		p = digits(p, end);
		part = (size_t)(p - start);
		odd |= part == 0;
	}
	if (!whole && !part)
		return TL_JSON_NUMBER_NONE;
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		start = p;
		p = digits(p, end);
		if (p == start)
			return TL_JSON_NUMBER_NONE;
	}
	return p < end ? TL_JSON_NUMBER_NONE : odd ? TL_JSON_NUMBER_ODD : TL_JSON_NUMBER_PLAIN;
}

uint8_t tl__json_number_flags(const char *p, size_t n)
{
	tl_json_spelling spelling = tl__json_spelling(p, n);
	unsigned flags = n > 19 && is_big_integer(p, n) ? TL_JSON_BIG_INTEGER : 0;
	flags |= spelling == TL_JSON_NUMBER_ODD    ? TL_JSON_ODD_NUMBER
		 : spelling == TL_JSON_NUMBER_NONE ? TL_JSON_NO_NUMBER
						   : 0;
	return (uint8_t)flags;
}

char *tl__json_put_odd_number(char *to, const char *p, size_t n)
{
	const char *end = p + n;
	if (*p == '-' || *p == '+') {
		if (*p == '-')
			*to++ = '-';
		p++;
	}
	while (p + 1 < end && *p == '0' && is_digit(p[1]))
		p++;
	if (*p == '.')
		*to++ = '0';
	while (p < end) {
		*to++ = *p++;
		if (p[-1] == '.' && (p == end || !is_digit(*p)))
			*to++ = '0';
	}
	return to;
}

/* What may follow a string inside an array or object. */
static bool may_follow_string(char c)
{
	return c == ',' || c == ':' || c == ']' || c == '}';
}

enum { UNSURE = -1 };

/* Whether a list or object may begin at `p` inside another: behind a colon in an object, else a comma or bracket. */
static bool is_value_place(const char *p, int in_object)
{
	do
		p--;
	while (tl__json_is_blank(*p));
	return in_object == UNSURE || (in_object ? *p == ':' : *p == ',' || *p == '[');
}

const char *tl__json_skip_nested(tl_json_scan *scan, const char *p, uint8_t *flags)
{
	/* One bit a level: object or not. Below the last level only the depth is kept. */
	enum { LEVELS = 8192 };
	uint64_t object[LEVELS / 64];
	uint64_t depth = 0;
	int in_object = UNSURE;
	tl_json_token token;

	*flags = 0;
	for (;;) {
		uint32_t found;
		while (!(found = tl__json_mask_brackets(p)))
			p += TL_JSON_BLOCK;
		p += __builtin_ctz(found);

		switch (*p) {
		case '"':
			p = tl__json_scan_string(scan, p + 1, &token);
			if (!p)
				return NULL;
			*flags |= token.flags;
			p = tl__json_blank(p);
			if (!may_follow_string(*p))
				goto bad;
			break;
		case '{':
		case '[':
			/* inside, a value follows something: a lost bracket is noticed here, not at the end of the file
			 */
			if (depth && !is_value_place(p, in_object))
				goto bad;
			in_object = *p == '{';
			if (depth < LEVELS) {
				uint64_t bit = UINT64_C(1) << (depth & 63);
				if (*p == '{')
					object[depth / 64] |= bit;
				else
					object[depth / 64] &= ~bit;
			}
			depth++;
			p++;
			break;
		case '}':
		case ']':
			depth--;
			if (depth < LEVELS && ((object[depth / 64] >> (depth & 63)) & 1) != (*p == '}'))
				goto bad;
			p++;
			if (!depth)
				return p;
			/* below the last level any kind will do */
			in_object = depth <= LEVELS ? (int)(object[(depth - 1) / 64] >> ((depth - 1) & 63) & 1)
						    : UNSURE;
			break;
		case '\0':
			goto bad;
		default: /* 0x5b | 0x20 folds only brackets, but keep going if that ever changes */
			p++;
			break;
		}
	}
bad:
	scan->stop = p;
	return NULL;
}

static const char *scan_word(tl_json_scan *scan, const char *p, const char *word, tl_json_type type,
			     tl_json_token *token)
{
	size_t n = strlen(word);
	for (size_t i = 0; i < n; i++)
		if (p[i] != word[i]) {
			scan->stop = p + i;
			return NULL;
		}
	*token = (tl_json_token){.p = p, .n = (uint32_t)n, .type = (uint8_t)type};
	return p + n;
}

const char *tl__json_scan_value(tl_json_scan *scan, const char *p, tl_json_token *token)
{
	switch (*p) {
	case '"':
		return tl__json_scan_string(scan, p + 1, token);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return tl__json_scan_number(p, token);
	case 't':
		return scan_word(scan, p, "true", TL_JSON_BOOL, token);
	case 'f':
		return scan_word(scan, p, "false", TL_JSON_BOOL, token);
	case 'n':
		return scan_word(scan, p, "null", TL_JSON_NULL, token);
	case '{':
	case '[': {
		uint8_t flags, type = *p == '{' ? TL_JSON_OBJECT : TL_JSON_ARRAY;
		const char *end = tl__json_skip_nested(scan, p, &flags);
		if (end)
			*token = (tl_json_token){.p = p, .n = (uint32_t)(end - p), .type = type, .flags = flags};
		return end;
	}
	default:
		scan->stop = p;
		return NULL;
	}
}

static bool may_follow_value(char c)
{
	return c == ',' || c == ']' || c == '}';
}

/* Copies a string from behind its opening quote on, that quote included. The place behind it, or NULL. */
static inline const char *copy_string(const char *p, const char *end, char **to, uint8_t *flags)
{
	char *out = *to;
	uint32_t high, special;
	*out++ = '"';
	for (;;) {
		special = tl__json_mask_string(p, &high);
		tl__json_copy_block(out, p);
		if (!special) {
			*flags |= high ? TL_JSON_HIGH : 0;
			p += TL_JSON_BLOCK;
			out += TL_JSON_BLOCK;
			continue;
		}
		*flags |= high & (special ^ (special - 1)) ? TL_JSON_HIGH : 0;
		unsigned n = (unsigned)__builtin_ctz(special);
		p += n;
		out += n;
		if (*p == '"')
			break;
		if (*p != '\\' || end - p < 6 || !tl__json_is_escape(p + 1))
			return NULL;
		*flags |= TL_JSON_ESCAPES;
		*out++ = *p++;
		*out++ = *p++;
	}
	*out++ = '"';
	*to = out;
	return p + 1;
}

static inline const char *copy_known_word(const char *p, char **to)
{
	const char *word = *p == 't' ? "true" : *p == 'f' ? "false" : "null";
	size_t n = *p == 'f' ? 5 : 4;
	if (memcmp(p, word, n) != 0)
		return NULL;
	memcpy(*to, word, n);
	*to += n;
	return p + n;
}

const char *tl__json_scan_compact(const char *p, const char *end, char **to, uint8_t *flags)
{
	enum { LEVELS = 64 };
	uint64_t object = 0; /* one bit a level */
	unsigned depth = 0;
	char *out = *to;
	*flags = 0;
	for (;;) {
		char c = *p;
		switch (c) {
		case ' ':
		case '\t':
		case '\n':
		case '\r':
			p = tl__json_blank(p);
			continue;
		case '[':
		case '{':
			if (depth == LEVELS)
				return NULL;
			object = object << 1 | (c == '{');
			depth++;
			break;
		case ']':
		case '}':
			if ((object & 1) != (c == '}') || out[-1] == ',')
				return NULL;
			object >>= 1;
			if (!--depth) {
				*out++ = c;
				*to = out;
				return p + 1;
			}
			if (!may_follow_value(*tl__json_blank(p + 1)))
				return NULL;
			break;
		case ',':
			if (out[-1] == ',' || out[-1] == '[' || out[-1] == '{')
				return NULL;
			break;
		case ':':
			break;
		case '"':
			p = copy_string(p + 1, end, &out, flags);
			if (!p || !may_follow_string(*tl__json_blank(p)))
				return NULL;
			continue;
		case 't':
		case 'f':
		case 'n':
			p = copy_known_word(p, &out);
			if (!p || !may_follow_value(*tl__json_blank(p)))
				return NULL;
			continue;
		case '-':
		case '0':
		case '1':
		case '2':
		case '3':
		case '4':
		case '5':
		case '6':
		case '7':
		case '8':
		case '9': {
			tl_json_token number;
			const char *number_end = tl__json_scan_number(p, &number);
			if (number.flags & (TL_JSON_ODD_NUMBER | TL_JSON_NO_NUMBER))
				return NULL;
			for (; number_end - p >= TL_JSON_BLOCK; p += TL_JSON_BLOCK, out += TL_JSON_BLOCK)
				tl__json_copy_block(out, p);
			tl__json_copy_block(out, p);
			out += number_end - p;
			p = number_end;
			if (!may_follow_value(*tl__json_blank(p)))
				return NULL;
			continue;
		}
		default:
			return NULL;
		}
		*out++ = c;
		p++;
	}
}

static bool may_precede_value(char c)
{
	return c == ',' || c == ':' || c == '[' || c == '{';
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Copies a word outside strings, sign included, to `to`; null instead of one that JSON does not know. */
static const char *copy_word(char **to, const char *p, const char *end, unsigned *odd)
{
	const char *start = p++;
	/* with what hangs on it, so that "N/A" and "x-1" are one word each */
	while (p < end && (is_letter(*p) || is_digit(*p) || *p == '-' || *p == '+' || *p == '.' || *p == '/'))
		p++;
	size_t n = (size_t)(p - start);
	if (!(n == 4 && (!memcmp(start, "true", n) || !memcmp(start, "null", n))) &&
	    !(n == 5 && !memcmp(start, "false", n))) {
		*odd |= TL_JSON_ODD_WORD;
		start = "null";
		n = 4;
	}
	memcpy(*to, start, n);
	*to += n;
	return p;
}

unsigned tl__json_compact(tl_buf *out, const char *text, size_t n)
{
	const char *p = text, *end = text + n;
	unsigned odd = 0;
	/* "x[" may become "null,[": never more than three times as long */
	char *start = tl__buf_reserve(out, 3 * n + 4), *to = start;
	if (!start)
		return 0;
	while (p < end) {
		char c = *p;
		uint8_t class = tl__json_class[(uint8_t)c];
		if (class & TL_JSON_IS_BLANK) {
			p++; /* the text needs no padding here */
			continue;
		}
		/* bytes outside strings only: a string ends in a quote */
		char last = to > start ? to[-1] : ',';
		bool word = is_letter(c), number = is_digit(c) || c == '-' || c == '+' || c == '.';
		const char *after = p;
		tl_json_spelling spelling = TL_JSON_NUMBER_NONE;
		if (number) {
			while (after < end && (tl__json_class[(uint8_t)*after] & TL_JSON_IS_NUMBER))
				after++;
			spelling = tl__json_spelling(p, (size_t)(after - p));
			number = spelling != TL_JSON_NUMBER_NONE;
			word = !number; /* -inf, 1-2 */
		}
		if ((number || word || c == '"' || c == '[' || c == '{') && !may_precede_value(last)) {
			odd |= TL_JSON_ODD_COMMA;
			*to++ = ',';
		}
		if (number && spelling == TL_JSON_NUMBER_ODD) {
			to = tl__json_put_odd_number(to, p, (size_t)(after - p));
			odd |= TL_JSON_ODD_SPELLING;
			p = after;
			continue;
		}
		if (number) {
			while (p < after)
				*to++ = *p++;
			continue;
		}
		if (word) {
			p = copy_word(&to, p, end, &odd);
			continue;
		}
		if (c == ',' && to > start && (last == ',' || last == '[' || last == '{')) {
			odd |= TL_JSON_ODD_COMMA;
			p++;
			continue;
		}
		if ((c == ']' || c == '}') && last == ',') {
			odd |= TL_JSON_ODD_COMMA;
			to--;
		}
		*to++ = c;
		p++;
		if (c != '"')
			continue;
		while (p < end) {
			c = *to++ = *p++;
			if (c == '\\' && p < end)
				*to++ = *p++;
			else if (c == '"')
				break;
		}
	}
	out->n += (size_t)(to - start);
	return odd;
}

/* The one spelling of an escape that cannot be undone. */
static void put_needed_escape(tl_buf *out, const char *p, size_t n, uint8_t c, bool lone)
{
	const char *letters = "\"\"\\\\\bb\ff\nn\rr\tt", *letter = letters;
	if (lone) {
		for (size_t i = 0; i < n; i++)
			tl__buf_putc(out, p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] | 0x20) : p[i]);
		return;
	}
	while (*letter && (uint8_t)*letter != c)
		letter += 2;
	if (*letter)
		tl__buf_printf(out, "\\%c", letter[1]);
	else
		tl__buf_printf(out, "\\u%04x", c);
}

/* A string from behind its opening quote on, with its quotes. The place behind it. */
static const char *put_plain_string(tl_buf *out, const char *p, const char *end)
{
	char room[12];
	tl__buf_putc(out, '"');
	while (p < end && *p != '"') {
		const char *start = p;
		while (p < end && *p != '"' && *p != '\\')
			p++;
		tl__buf_put(out, start, (size_t)(p - start));
		if (p == end || *p == '"')
			break;
		/* one escape; both halves of a surrogate pair are one */
		size_t n = p + 1 < end && p[1] == 'u' ? 6 : 2;
		if (n == 6 && end - p >= 12 && (p[2] | 0x20) == 'd' && memchr("89abAB", p[3], 6) && p[6] == '\\' &&
		    p[7] == 'u' && (p[8] | 0x20) == 'd' && memchr("cdefCDEF", p[9], 8))
			n = 12;
		if (n > (size_t)(end - p))
			n = (size_t)(end - p);
		bool lone = n == 6 && (p[2] | 0x20) == 'd' && memchr("89abcdefABCDEF", p[3], 14);
		size_t plain = tl__json_unescape(room, p, n);
		uint8_t c = (uint8_t)room[0];
		if (lone || (plain == 1 && (c < 0x20 || c == '"' || c == '\\')))
			put_needed_escape(out, p, n, c, lone);
		else
			tl__buf_put(out, room, plain);
		p += n;
	}
	tl__buf_putc(out, '"');
	return p < end ? p + 1 : end;
}

void tl__json_plain_strings(tl_buf *out, const char *text, size_t n)
{
	const char *p = text, *end = text + n;
	while (p < end) {
		const char *start = p;
		while (p < end && *p != '"')
			p++;
		tl__buf_put(out, start, (size_t)(p - start));
		if (p < end)
			p = put_plain_string(out, p + 1, end);
	}
}

const char *tl__json_key(char room[TL_JSON_KEY], const char *key, size_t *n)
{
	if (*n > TL_JSON_KEY || !memchr(key, '\\', *n))
		return key;
	*n = tl__json_unescape(room, key, *n);
	return room;
}
