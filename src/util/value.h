/* SPDX-License-Identifier: MIT */
/**
 * @file value.h
 * Small immutable values: what JSON holds, with Python's distinction of list and
 * tuple, because reports print both. Used for argument texts, model parameters and
 * the list and record cells of tables.
 */
#ifndef TL_UTIL_VALUE_H
#define TL_UTIL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/buf.h"

typedef enum tl_value_kind {
	TL_V_NONE,
	TL_V_BOOL,
	TL_V_INT,
	TL_V_DOUBLE,
	TL_V_NUMBER, /* an integer beyond 64 bits, kept as text */
	TL_V_STRING,
	TL_V_LIST,
	TL_V_TUPLE,
	TL_V_DICT
} tl_value_kind;

typedef struct tl_value {
	uint8_t kind; /* tl_value_kind */
	uint32_t n;   /* bytes of a string or number, items of a list or tuple, pairs of a dict */
	union {
		bool b;
		int64_t i;
		double d;
		const char *s;                /* NUL terminated */
		const struct tl_value *items; /* a dict has 2n: key, value, key, value, ... */
	};
} tl_value;

#define TL_VALUE_NONE ((tl_value){.kind = TL_V_NONE})
#define TL_VALUE_BOOL(x) ((tl_value){.kind = TL_V_BOOL, .b = (x)})
#define TL_VALUE_INT(x) ((tl_value){.kind = TL_V_INT, .i = (x)})
#define TL_VALUE_DOUBLE(x) ((tl_value){.kind = TL_V_DOUBLE, .d = (x)})
/** A string value over bytes that outlive it. */
#define TL_VALUE_STRING(text, length) ((tl_value){.kind = TL_V_STRING, .n = (uint32_t)(length), .s = (text)})

/** Deepest nesting that tl__value_parse accepts; deeper text is an error, not a crash. */
#define TL_VALUE_MAX_DEPTH 200

/**
 * Parses JSON text (as the importer keeps it) into values that live in `arena`; strings
 * are unescaped copies. With `tuples` arrays become tuples, at every level. Tolerates
 * NaN and Infinity. 0, TL_EFORMAT (not one JSON value) or TL_ENOMEM.
 */
int tl__value_parse(tl_arena *arena, const char *text, size_t n, bool tuples, const tl_value **out);

/** As Python's repr: strings quoted, "[1, 2]", "(1,)", "{'k': v}". */
void tl__value_repr(tl_buf *out, const tl_value *value);
/** As Python's str: like repr, but a string at top level is printed as it is. */
void tl__value_str(tl_buf *out, const tl_value *value);
/** As JSON; tuples become arrays, NaN and infinities null. Strings are written valid (U+FFFD). */
void tl__value_json(tl_buf *out, const tl_value *value);
/** A JSON string with quotes and escapes; invalid UTF-8 becomes U+FFFD. */
void tl__json_string(tl_buf *out, const char *text, size_t n);

/**
 * Undoes JSON escapes in the bytes between the quotes; `out` needs room for n bytes and may
 * be `text` itself. An escape that JSON does not know keeps its backslash (Windows paths in
 * names), a lone surrogate becomes U+FFFD. Returns the length.
 */
size_t tl__json_unescape(char *out, const char *text, size_t n);

/** Deep equality; an int and a double are never equal, a list and a tuple neither. */
bool tl__value_equal(const tl_value *a, const tl_value *b);

/* Reading: all accept NULL, and a value of another kind is "no". */

/** Item of a list or tuple, or NULL. */
const tl_value *tl__value_at(const tl_value *value, size_t index);
/** Value of a string key of a dict, or NULL. */
const tl_value *tl__value_get(const tl_value *value, const char *key);
/** Number of items of a list or tuple, else 0. */
size_t tl__value_count(const tl_value *value);
static inline bool tl__value_is_list(const tl_value *value)
{
	return value && (value->kind == TL_V_LIST || value->kind == TL_V_TUPLE);
}
/** The text of a string value, or NULL. */
const char *tl__value_text(const tl_value *value);
/** An integer value (a double only when it is integral). */
bool tl__value_int(const tl_value *value, int64_t *out);

#endif
