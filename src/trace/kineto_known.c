/* SPDX-License-Identifier: MIT */
#include "trace/kineto_known.h"

#include <xxhash.h>

void tl__known_clear(tl_known *known)
{
	known->n = 1;
	known->used = 0;
	known->full = false;
	memset(known->name, 0, sizeof known->name);
	memset(known->list, 0, sizeof known->list);
	memset(known->guess, 0, sizeof known->guess);
	memset(known->slots, 0, sizeof known->slots);
	memset(known->string, 0, sizeof known->string);
}

/* The slot of the text, or the free one where it belongs. */
static uint16_t *slot_of(tl_known *known, const char *p, size_t n, uint32_t hash)
{
	for (uint32_t at = hash;; at++) {
		uint16_t *slot = &known->slots[at % (2 * TL_KNOWN_TEXTS)];
		const tl_known_text *text = &known->text[*slot];
		if (!*slot || (text->hash == hash && text->n == n && !memcmp(known->room + text->at, p, n)))
			return slot;
	}
}

uint16_t tl__known_add(tl_known *known, const char *p, size_t n, const char *value, size_t value_n)
{
	if (n > TL_KNOWN_LONGEST)
		return 0;
	uint32_t hash = (uint32_t)XXH3_64bits(p, n);
	uint16_t *slot = slot_of(known, p, n, hash);
	if (*slot)
		return *slot;
	size_t size = n + (value ? value_n : 0);
	if (known->n == TL_KNOWN_TEXTS || size > TL_KNOWN_ROOM - known->used) {
		known->full = true;
		return 0;
	}
	tl_known_text *text = &known->text[known->n];
	*text = (tl_known_text){known->used, (uint16_t)n, (uint16_t)(value ? value_n : n - 1), hash};
	memcpy(known->room + known->used, p, n);
	if (value)
		memcpy(known->room + known->used + n, value, value_n);
	known->used += (uint32_t)size;
	*slot = (uint16_t)known->n;
	return (uint16_t)known->n++;
}
