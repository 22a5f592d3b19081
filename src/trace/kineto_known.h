/* SPDX-License-Identifier: MIT */
/**
 * @file kineto_known.h
 * Names and lists of arguments that came before. A trace has few different ones, and they come in the same order
 * layer after layer, step after step: which comes next is guessed from those that came last, and to compare is faster
 * than to read. Each has a number, by which whoever stores it finds its string without looking at the text.
 *
 * The scanner owns all but `string`, which is the adder's (trace/kineto_pipeline.h). Tokens may point to texts until
 * tl__known_clear, when both must be done with them.
 */
#ifndef TL_TRACE_KINETO_KNOWN_H
#define TL_TRACE_KINETO_KNOWN_H

#include "io/json.h"
#include "util/strings.h"

enum {
	TL_KNOWN_TEXTS = 8192,
	TL_KNOWN_LONGEST = 4096, /* bytes of a text as it stands in the file */
	TL_KNOWN_ROOM = 1 << 20,
	TL_KNOWN_GUESS_BITS = 13
};

typedef struct tl_known_text {
	uint32_t at;      /* in the room: the text, then the value of a list */
	uint16_t n;       /* bytes of the text: `name"` with the quote that ends it, or `[1, 2]` */
	uint16_t value_n; /* bytes of the value: `name`, or `[1,2]` */
	uint32_t hash;
} tl_known_text;

typedef struct tl_known {
	uint32_t n;       /* texts; number 0 is none */
	uint32_t used;    /* bytes of the room */
	bool full;        /* a text found no room: time for tl__known_clear */
	uint16_t name[2]; /* the last names, the last one first */
	uint16_t list[2]; /* the last lists */
	tl_known_text text[TL_KNOWN_TEXTS];
	uint16_t guess[1 << TL_KNOWN_GUESS_BITS][2]; /* what came there before, the last one first */
	uint16_t slots[2 * TL_KNOWN_TEXTS];          /* numbers by the hash of the text, 0: free */
	tl_str string[TL_KNOWN_TEXTS];               /* TL_STR_NONE: not stored yet */
	char room[TL_KNOWN_ROOM + TL_JSON_PAD];
} tl_known;

/** Forgets all texts. Also to be called before the first use. */
void tl__known_clear(tl_known *known);
/**
 * The number of the text [p, p + n), made when it is new; 0: it is too long, or the room is full. `value` is that of a
 * list, NULL when the value is the text without its last byte.
 */
uint16_t tl__known_add(tl_known *known, const char *p, size_t n, const char *value, size_t value_n);

/*
 * Guesses about names have the even places and those about lists the odd ones: a list may be how a name begins (`[]`),
 * and only the other way to tell where it ends would tell them apart.
 */

/** Where guesses about the next name are. */
static inline uint16_t *tl__known_next_name(tl_known *known)
{
	uint32_t hash = (known->name[0] * 0x9e3779b1u + known->name[1]) * 0x85ebca6bu;
	return known->guess[hash >> (32 - TL_KNOWN_GUESS_BITS) & ~1u];
}

/** Where guesses about the list of a field are. */
static inline uint16_t *tl__known_next_list(tl_known *known, uint32_t field)
{
	uint32_t hash = (known->list[0] * 0x9e3779b1u + known->name[0]) * 0xc2b2ae35u;
	hash = (hash + known->list[1] * 0x27d4eb2fu + field) * 0x85ebca6bu;
	return known->guess[hash >> (32 - TL_KNOWN_GUESS_BITS) | 1];
}

/** Notes what came where `guess` is. */
static inline void tl__known_learn(uint16_t *guess, uint16_t number)
{
	if (guess[0] != number) {
		guess[1] = guess[0];
		guess[0] = number;
	}
}

static inline void tl__known_came(uint16_t last[2], uint16_t number)
{
	last[1] = last[0];
	last[0] = number;
}

/** The number of the text at `p` if it is one of those guessed; 0 otherwise. `left` bytes are there, and the padding.
 */
static inline uint16_t tl__known_at(const tl_known *known, uint16_t *guess, const char *p, size_t left)
{
	for (int i = 0; i < 2; i++) {
		uint16_t number = guess[i];
		const tl_known_text *text = &known->text[number];
		if (!number || text->n > left || !tl__json_same(p, known->room + text->at, text->n))
			continue;
		guess[i] = guess[0];
		guess[0] = number;
		return number;
	}
	return 0;
}

#endif
