/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as events, each read by a scanner that remembers what came before and by one that remembers nothing: what
 * comes out must be the same. What is guessed and known by number is only a faster way to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/kineto.h"
#include "util/alloc.h"

enum { LONGEST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct scanner {
	tl_kineto_steps steps;
	tl_known *known;
	tl_kineto_event *event;
	tl_json_scan scan;
	const char *after; /* the event; NULL: it cannot be read */
	char compact[LONGEST + TL_JSON_PAD];
} scanner;

static void *get(size_t size)
{
	void *memory = tl__malloc(size);
	if (!memory)
		abort();
	return memory;
}

static scanner *new_scanner(const char *end, bool remembers)
{
	scanner *s = get(sizeof *s);
	memset(&s->steps, 0, sizeof s->steps);
	s->scan = (tl_json_scan){.end = end};
	s->event = get(TL_EVENT_ROOM);
	s->known = NULL;
	if (remembers) {
		s->known = get(sizeof *s->known);
		tl__known_clear(s->known);
	}
	return s;
}

static void free_scanner(scanner *s)
{
	tl__free(s->known);
	tl__free(s->event);
	tl__free(s);
}

static void scan(scanner *s, const char *p)
{
	tl_kineto_scratch scratch = {.next = s->compact, .end = s->compact + LONGEST, .known = s->known};
	memset(s->event, 0xa5, TL_EVENT_ROOM); /* whatever was there before */
	s->after = tl__kineto_scan(s->event, &s->steps, &scratch, &s->scan, p);
}

/* Whether a known text or run is what the token says. */
static bool number_is_right(const scanner *s, tl_kineto_field field, const tl_json_token *token)
{
	if (field == TL_F_PID || field == TL_F_TID) {
		const tl_kineto_run *run = &s->steps.run[token->known];
		for (int i = 0; i < run->values; i++)
			if (run->value[i].field == field && run->value[i].n == token->n &&
			    !memcmp(run->text + run->value[i].at, token->p, token->n))
				return true;
		return false;
	}
	const tl_known_text *text = &s->known->text[token->known];
	const char *value = s->known->room + text->at + (token->type == TL_JSON_ARRAY ? text->n : 0);
	return (token->type == TL_JSON_ARRAY || token->type == TL_JSON_STRING) && text->value_n == token->n &&
	       !memcmp(value, token->p, token->n);
}

static bool same_token(const scanner *s, tl_kineto_field field, const tl_json_token *a, const tl_json_token *b)
{
	if (a->type != b->type || a->n != b->n || a->flags != b->flags)
		return false;
	if (a->flags & TL_JSON_VALUE)
		return a->value == b->value && a->known == b->known;
	if (a->type != TL_JSON_NULL && a->n && memcmp(a->p, b->p, a->n) != 0)
		return false;
	return !a->known || number_is_right(s, field, a);
}

static void compare(const scanner *a, const scanner *b)
{
	const tl_kineto_event *x = a->event, *y = b->event;
	if (a->after != b->after)
		abort();
	if (!a->after)
		return;
	if (x->have != y->have || x->duplicates != y->duplicates || x->big_integers != y->big_integers ||
	    x->odd_numbers != y->odd_numbers || x->no_numbers != y->no_numbers || x->empty != y->empty)
		abort();
	for (int i = 0; i < TL_F_COUNT; i++) {
		tl_kineto_field field = (tl_kineto_field)i;
		if ((x->have & TL_F_BIT(field)) &&
		    !same_token(a, field, tl__kineto_token(x, field), tl__kineto_token(y, field))) {
			fprintf(stderr, "field %d differs\n", i);
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > LONGEST)
		return 0;
	char *text = get(size + TL_JSON_PAD);
	if (size)
		memcpy(text, data, size);
	memset(text + size, 0, TL_JSON_PAD);
	scanner *old = new_scanner(text + size, true);
	for (const char *p = text; p < text + size;) {
		if (*p != '{') {
			p++;
			continue;
		}
		scanner *fresh = new_scanner(text + size, false);
		scan(old, p);
		scan(fresh, p);
		compare(old, fresh);
		p = old->after ? old->after : p + 1;
		free_scanner(fresh);
	}
	free_scanner(old);
	tl__free(text);
	return 0;
}
