/* SPDX-License-Identifier: MIT */
/* Any bytes as JSON: the pull reader stays inside them, and what it takes for a value stays one when compacted. */
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "util/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same text with padding behind it, on the heap, so that a sanitizer sees every byte read past it. */
static char *padded(const char *text, size_t n)
{
	char *copy = malloc(n + TL_JSON_PAD);
	if (!copy)
		abort();
	memcpy(copy, text, n);
	memset(copy + n, 0, TL_JSON_PAD);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = padded((const char *)data, size);
	tl_json_scan scan = {.end = text + size};
	tl_json_token token;
	const char *start = tl__json_blank(text), *after = tl__json_scan_value(&scan, start, &token);

	if (after) {
		if (after > text + size || token.p < text || token.p + token.n > after)
			abort();
		size_t n;
		const char *value = tl__json_token_text(&token, &n);
		tl_arena arena = {0};
		tl_buf compact = {0};
		const tl_value *before, *behind;
		unsigned odd = tl__json_compact(&compact, value, n);
		if (compact.failed)
			abort();
		/* a value that is valid stays the same value */
		if (!tl__value_parse(&arena, value, n, false, &before) && !odd &&
		    (tl__value_parse(&arena, compact.v, compact.n, false, &behind) < 0 ||
		     !tl__value_equal(before, behind)))
			abort();
		/* and both ways to compact agree, where the fast one does not give up */
		if (token.type == TL_JSON_ARRAY || token.type == TL_JSON_OBJECT) {
			char *fast = malloc(size + 2 * TL_JSON_PAD), *to = fast;
			uint8_t fast_flags;
			if (!fast)
				abort();
			const char *end = tl__json_scan_compact(value, text + size, &to, &fast_flags);
			if (end && (end != value + n || odd || (size_t)(to - fast) != compact.n ||
				    memcmp(fast, compact.v, compact.n) != 0 || fast_flags != token.flags))
				abort();
			free(fast);
		}
		tl__arena_free(&arena);
		/* what was a list or object still is one, of the same extent */
		if (token.type == TL_JSON_ARRAY || token.type == TL_JSON_OBJECT) {
			char *again = padded(compact.v, compact.n);
			uint8_t flags;
			tl_json_scan other = {.end = again + compact.n};
			if (tl__json_skip_nested(&other, again, &flags) != again + compact.n)
				abort();
			free(again);
		}
		tl__buf_free(&compact);
	} else if (scan.stop < text || scan.stop > text + size + TL_JSON_PAD) {
		abort();
	}
	free(text);
	return 0;
}
