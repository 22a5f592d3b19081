/* SPDX-License-Identifier: MIT */
/**
 * @file json.h
 * A pull reader for JSON that lies in contiguous memory. It finds the extent of a value and
 * nothing more: tokens point into the text, nothing is copied, no tree is made, nothing recurses.
 *
 * The text must be followed by TL_JSON_PAD zero bytes, so that the reader needs no test for
 * the end: it stops at a zero byte, and `stop >= end` then says that the text ran out, any other
 * `stop` that the text is not JSON there.
 */
#ifndef TL_IO_JSON_H
#define TL_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "util/buf.h"

/** Zero bytes that must follow the text. */
#define TL_JSON_PAD 64

typedef enum tl_json_type {
	TL_JSON_ABSENT,
	TL_JSON_STRING, /* p and n are what lies between the quotes */
	TL_JSON_NUMBER,
	TL_JSON_BOOL,
	TL_JSON_NULL,
	TL_JSON_ARRAY,
	TL_JSON_OBJECT
} tl_json_type;

enum tl_json_flags {
	TL_JSON_ESCAPES = 1,     /* the string, or a string inside, holds a backslash */
	TL_JSON_HIGH = 2,        /* ... bytes above 127 */
	TL_JSON_BIG_INTEGER = 4, /* the number is an integer beyond 64 bits */
	TL_JSON_COMPACT = 8,     /* the text is in its canonical spelling (tl__json_scan_compact) */
	TL_JSON_ODD_NUMBER = 16, /* the number is not written as JSON writes them, but can be read: 007, 1., -.5 */
	TL_JSON_NO_NUMBER = 32,  /* what began like a number is none: 1e, 1-2 */
	TL_JSON_VALUE = 64       /* `value` is there, not `p` */
};

typedef struct tl_json_token {
	union {
		const char *p;
		uint64_t value; /* of a number, without its point */
	};
	uint32_t n;
	uint8_t type;   /* tl_json_type */
	uint8_t flags;  /* tl_json_flags */
	uint16_t known; /* number of what came before and is known, 0: none (trace/kineto.h) */
} tl_json_token;

typedef struct tl_json_scan {
	const char *end;  /* end of the text, where the padding begins */
	const char *stop; /* where reading failed */
} tl_json_scan;

/** Properties of bytes outside strings; see tl__json_class. */
enum { TL_JSON_IS_BLANK = 1, TL_JSON_IS_NUMBER = 2, TL_JSON_IS_WORD = 4 };
extern const uint8_t tl__json_class[256];

static inline bool tl__json_is_blank(char c)
{
	return tl__json_class[(uint8_t)c] & TL_JSON_IS_BLANK;
}

#if defined(__SSE2__)
#define TL_JSON_BLOCK 16
static inline void tl__json_copy_block(char *to, const char *p)
{
	_mm_storeu_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)p));
}
/* One bit a byte: space or newline. */
static inline uint32_t tl__json_mask_blank(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	return (uint32_t)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\n'))));
}
/* One bit a byte: quote, backslash or control byte; *high: bytes above 127. */
static inline uint32_t tl__json_mask_string(const char *p, uint32_t *high)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i special = _mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))),
		_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v));
	*high = (uint32_t)_mm_movemask_epi8(v);
	return (uint32_t)_mm_movemask_epi8(special);
}
/* One bit a byte: quote, any bracket, or zero. */
static inline uint32_t tl__json_mask_brackets(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20)); /* [ ] become { } */
	__m128i found = _mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')), _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))),
		_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_setzero_si128())));
	return (uint32_t)_mm_movemask_epi8(found);
}
/* One bit a byte: anything but digits, signs, point and exponent; *other: anything but digits. */
static inline uint32_t tl__json_mask_number_end(const char *p, uint32_t *other)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i within =
		_mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8('+' - 1)), _mm_cmplt_epi8(v, _mm_set1_epi8('9' + 1)));
	__m128i among = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(',')), _mm_cmpeq_epi8(v, _mm_set1_epi8('/')));
	__m128i e = _mm_cmpeq_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('e'));
	__m128i number = _mm_or_si128(_mm_andnot_si128(among, within), e);
	__m128i digit =
		_mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8('0' - 1)), _mm_cmplt_epi8(v, _mm_set1_epi8('9' + 1)));
	*other = (uint32_t)_mm_movemask_epi8(digit) ^ 0xffff;
	return (uint32_t)_mm_movemask_epi8(number) ^ 0xffff;
}
/* One bit a byte, of 32: anything but digits. */
static inline uint32_t tl__json_mask_no_digit(const char *p)
{
	const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
	__m128i low = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), zero);
	__m128i high = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16)), zero);
	uint32_t digits = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(low, nine), low)) |
			  (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(high, nine), high)) << 16;
	return ~digits;
}
/* Whether the first n bytes of both are equal; both are readable that far and 16 bytes more. Stops at the first
 * difference. */
static inline bool tl__json_same(const char *a, const char *b, unsigned n)
{
	for (;; a += 16, b += 16, n -= 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
		__m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);
		uint32_t differ = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) ^ 0xffff;
		if (n <= 16)
			return !(differ & ((UINT32_C(1) << n) - 1));
		if (differ)
			return false;
	}
}
#else
/* Plain C: eight bytes at a time in one integer, the same masks. */
#define TL_JSON_BLOCK 8
#define TL_JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))
static inline void tl__json_copy_block(char *to, const char *p)
{
	memcpy(to, p, TL_JSON_BLOCK);
}
static inline uint64_t tl__json_load(const char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}
/* The highest bit of each byte that is zero; exact, no carry reaches the next byte. */
static inline uint64_t tl__json_zeros(uint64_t v)
{
	return ~(((v & TL_JSON_EACH(0x7f)) + TL_JSON_EACH(0x7f)) | v | TL_JSON_EACH(0x7f));
}
static inline uint64_t tl__json_equal(uint64_t v, char c)
{
	return tl__json_zeros(v ^ TL_JSON_EACH(c));
}
/* The highest bits of the bytes, as the lowest eight bits. */
static inline uint32_t tl__json_gather(uint64_t v)
{
	return (uint32_t)(((v & TL_JSON_EACH(0x80)) * UINT64_C(0x0002040810204081)) >> 56);
}
static inline uint32_t tl__json_mask_blank(const char *p)
{
	uint64_t v = tl__json_load(p);
	return tl__json_gather(tl__json_equal(v, ' ') | tl__json_equal(v, '\n'));
}
static inline uint32_t tl__json_mask_string(const char *p, uint32_t *high)
{
	uint64_t v = tl__json_load(p);
	*high = tl__json_gather(v);
	return tl__json_gather(tl__json_equal(v, '"') | tl__json_equal(v, '\\') |
			       tl__json_zeros(v & TL_JSON_EACH(0xe0)));
}
static inline uint32_t tl__json_mask_brackets(const char *p)
{
	uint64_t v = tl__json_load(p), folded = v | TL_JSON_EACH(0x20);
	return tl__json_gather(tl__json_equal(folded, '{') | tl__json_equal(folded, '}') | tl__json_equal(v, '"') |
			       tl__json_zeros(v));
}
static inline uint32_t tl__json_mask_number_end(const char *p, uint32_t *other)
{
	uint64_t v = tl__json_load(p), ten = v ^ TL_JSON_EACH('0');
	/* 0 to 9 plus 0x76 leaves the highest bit alone */
	uint64_t digit = ~(((ten & TL_JSON_EACH(0x7f)) + TL_JSON_EACH(0x76)) | ten);
	*other = tl__json_gather(digit) ^ 0xff;
	return tl__json_gather(digit | tl__json_equal(v | TL_JSON_EACH(0x20), 'e') | tl__json_equal(v, '+') |
			       tl__json_equal(v, '-') | tl__json_equal(v, '.')) ^
	       0xff;
}
static inline bool tl__json_same(const char *a, const char *b, unsigned n)
{
	return !memcmp(a, b, n);
}
#endif

/** First byte at or behind `p` that is not white space. */
static inline const char *tl__json_blank(const char *p)
{
	while (tl__json_is_blank(*p)) {
		uint32_t other = tl__json_mask_blank(p + 1) ^ ((UINT32_C(1) << TL_JSON_BLOCK) - 1);
		p += 1 + (other ? __builtin_ctz(other) : TL_JSON_BLOCK);
	}
	return p;
}

/** How many digits stand at `p`, up to 32. */
static inline unsigned tl__json_count_digits(const char *p)
{
#if defined(__SSE2__)
	uint32_t other = tl__json_mask_no_digit(p);
	return other ? (unsigned)__builtin_ctz(other) : 32;
#else
	unsigned n = 0;
	while (n < 32 && p[n] >= '0' && p[n] <= '9')
		n++;
	return n;
#endif
}

/** Whether `p`, behind a backslash, is an escape that JSON knows. Reads up to 5 bytes. */
bool tl__json_is_escape(const char *p);
/** Rare part of tl__json_scan_string: a backslash or a control byte at `p`. Where to go on, or NULL. */
const char *tl__json_string_special(tl_json_scan *scan, const char *p);

/**
 * Reads a string; `p` is behind the opening quote. Returns the place behind the closing quote, or
 * NULL, also for raw control bytes and for escapes that JSON does not know.
 */
static inline const char *tl__json_scan_string(tl_json_scan *scan, const char *p, tl_json_token *token)
{
	const char *start = p;
	uint32_t any_high = 0;
	uint8_t flags = 0;
	for (;;) {
		uint32_t high, special = tl__json_mask_string(p, &high);
		if (!special) {
			any_high |= high;
			p += TL_JSON_BLOCK;
			continue;
		}
		any_high |= high & (special ^ (special - 1));
		p += __builtin_ctz(special);
		if (*p == '"')
			break;
		flags = TL_JSON_ESCAPES;
		p = tl__json_string_special(scan, p);
		if (!p)
			return NULL;
	}
	token->p = start;
	token->n = (uint32_t)(p - start);
	token->type = TL_JSON_STRING;
	token->flags = (uint8_t)(flags | (any_high ? TL_JSON_HIGH : 0));
	token->known = 0;
	return p + 1;
}

/** How a run of digits, signs, points and exponents is written. */
typedef enum tl_json_spelling {
	TL_JSON_NUMBER_PLAIN, /* as JSON wants it */
	TL_JSON_NUMBER_ODD,   /* +5, .5, 1., 007: not JSON, but there is only one way to read it */
	TL_JSON_NUMBER_NONE   /* -, 1e, 1-2 */
} tl_json_spelling;
tl_json_spelling tl__json_spelling(const char *p, size_t n);
/** Flags of a number token, rare part: what is no row of digits, perhaps with one point inside. */
uint8_t tl__json_number_flags(const char *p, size_t n);
/** Appends an odd number as JSON writes it; `to` needs room for n + 2 bytes. The place behind it. */
char *tl__json_put_odd_number(char *to, const char *p, size_t n);

/**
 * The usual number: digits, perhaps with one point inside, up to 19 bytes, as JSON writes it; *whole: digits before the
 * point. The place behind it; NULL for all others, which tl__json_scan_number reads.
 */
static inline const char *tl__json_scan_plain_number(const char *p, tl_json_token *token, unsigned *whole_n)
{
#if defined(__SSE2__)
	uint32_t other = tl__json_mask_no_digit(p);
	if (!other)
		return NULL;
	unsigned whole = (unsigned)__builtin_ctz(other), n = whole;
	*whole_n = whole;
	if (p[whole] == '.') {
		other &= other - 1;
		n = other ? (unsigned)__builtin_ctz(other) : 0;
		if (n <= whole + 1)
			return NULL;
	}
	if (!whole || n > 19 || (*p == '0' && whole > 1) || (tl__json_class[(uint8_t)p[n]] & TL_JSON_IS_NUMBER))
		return NULL;
	*token = (tl_json_token){.p = p, .n = n, .type = TL_JSON_NUMBER};
	return p + n;
#else
	(void)p, (void)token, (void)whole_n;
	return NULL;
#endif
}

/**
 * Reads a number at `p`; never fails: what is not written as JSON wants it carries a flag. (One that
 * is cut off by the end of the text may do so, too.)
 */
static inline const char *tl__json_scan_number(const char *p, tl_json_token *token)
{
	unsigned whole_n;
	const char *plain = tl__json_scan_plain_number(p, token, &whole_n);
	if (plain)
		return plain;
	const char *start = p, *mark = NULL; /* a byte that is no digit */
	uint32_t end, other, several = 0;
	for (;; p += TL_JSON_BLOCK) {
		end = tl__json_mask_number_end(p, &other);
		other &= (end & (0u - end)) - 1; /* those before the end */
		if (other) {
			several |= (mark != NULL) | (other & (other - 1));
			mark = p + __builtin_ctz(other);
		}
		if (end)
			break;
	}
	p += __builtin_ctz(end);
	token->p = start;
	token->n = (uint32_t)(p - start);
	token->type = TL_JSON_NUMBER;
	/* nearly all are digits, perhaps with a point among them */
	const char *whole = mark ? mark : p;
	bool usual = !mark || (*mark == '.' && !several && mark > start && mark + 1 < p);
	usual = usual && (*start != '0' || whole == start + 1) && p - start <= 19;
	token->flags = usual ? 0 : tl__json_number_flags(start, token->n);
	token->known = 0;
	return p;
}

/** Reads any value at `p` (no white space before it). The place behind it, or NULL. */
const char *tl__json_scan_value(tl_json_scan *scan, const char *p, tl_json_token *token);

/**
 * Skips an array or object at `p`: strings and kinds of brackets are checked, the rest only roughly.
 * Any depth. `*flags` receives those of all strings inside. The place behind it, or NULL.
 */
const char *tl__json_skip_nested(tl_json_scan *scan, const char *p, uint8_t *flags);

/**
 * Reads an array or object at `p` and writes it without blanks to `*to`, which moves behind it; there must be room
 * for the rest of the text and TL_JSON_PAD bytes. The place behind it, or NULL for whatever is not
 * plain JSON: then the value is to be read with tl__json_scan_value.
 */
const char *tl__json_scan_compact(const char *p, const char *end, char **to, uint8_t *flags);

/**
 * Appends JSON text without the blanks outside strings: the canonical spelling of argument texts. Words
 * other than true, false and null (nan, -inf) become null, commas too many are left out, odd numbers (007, +5) are
 * written as JSON does.
 * Returns the tl_json_oddities that it met.
 */
unsigned tl__json_compact(tl_buf *out, const char *text, size_t n);
enum tl_json_oddities { TL_JSON_ODD_WORD = 1, TL_JSON_ODD_COMMA = 2, TL_JSON_ODD_SPELLING = 4 };
/**
 * Appends JSON text with every string in one spelling: only what must be escaped is, so that "\u0061" and "a" meet.
 * A lone half of a surrogate pair stays an escape.
 */
void tl__json_plain_strings(tl_buf *out, const char *text, size_t n);

/**
 * A key of an object, its escapes undone: `key` itself when there are none, else `room`. Longer than
 * TL_JSON_KEY bytes it is left as it is: no key that anybody reads is that long.
 */
enum { TL_JSON_KEY = 160 };
const char *tl__json_key(char room[TL_JSON_KEY], const char *key, size_t *n);

/** Text of a token as JSON: a string with its quotes. */
static inline const char *tl__json_token_text(const tl_json_token *token, size_t *n)
{
	bool quoted = token->type == TL_JSON_STRING;
	*n = token->n + (quoted ? 2u : 0u);
	return quoted ? token->p - 1 : token->p;
}

#endif
