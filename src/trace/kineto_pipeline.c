/* SPDX-License-Identifier: MIT */
#include "trace/kineto_pipeline.h"

#include "util/error.h"

enum {
	BATCHES = 3,           /* one being filled, one being stored, one between */
	BATCH_BYTES = 1 << 18, /* of events; those of a usual block of text take less */
	/* with fewer events for each time that the pipeline is drained, waiting costs more than two threads bring */
	DRAINS_WORTH_IT = 64,
	DRAINS_AT_LEAST = 64
};

typedef struct batch {
	tl_source_task task; /* first: the task is the batch */
	tl_kineto *k;
	char *events; /* one behind the other, with room for a largest one at the end */
	size_t used;
	char *scratch; /* of compact texts */
	size_t scratch_size;
	tl_source_block *block; /* to be given back, or NULL */
	bool posted;
	int code; /* what came of it */
	TL_APART;
} batch;

struct tl_kineto_pipeline {
	batch batches[BATCHES];
	unsigned current; /* being filled; the others follow in a circle, the one that was posted first is next */
	bool threaded;    /* events are added by the source's thread, not at once */
	uint64_t puts, drains;
	int code; /* of the first batch taken back that could not be added; it stays */
	TL_APART;
	bool failed; /* the adder's: a batch could not be added, nothing may follow */
};

static void add_events(tl_source_task *task)
{
	batch *b = (batch *)task;
	tl_kineto_pipeline *p = b->k->pipeline;
	for (size_t at = 0; at < b->used && !p->failed;) {
		const tl_kineto_event *event = (const tl_kineto_event *)(const void *)(b->events + at);
		b->code = tl__kineto_add(b->k, event);
		p->failed = b->code < 0;
		at += tl__kineto_event_size(event);
	}
	if (b->block)
		tl__source_give(b->k->source, b->block);
}

/* Waits for a batch; it is empty then. Returns what came of this one and those before. */
static int take_back(tl_kineto_pipeline *p, batch *b)
{
	if (b->posted)
		tl__source_wait(b->k->source, &b->task);
	b->posted = false;
	b->used = 0;
	b->block = NULL;
	p->code = p->code < 0 ? p->code : b->code;
	return p->code;
}

int tl__kineto_open_pipeline(tl_kineto *k)
{
	tl_kineto_pipeline *p = tl__calloc(1, sizeof *p);
	if (!p)
		return TL_ENOMEM;
	k->pipeline = p;
	k->scratch.known = tl__malloc(sizeof *k->scratch.known);
	if (!k->scratch.known)
		return TL_ENOMEM;
	tl__known_clear(k->scratch.known);
	p->threaded = tl__source_is_threaded(k->source);
	for (int i = 0; i < (p->threaded ? BATCHES : 1); i++) {
		batch *b = &p->batches[i];
		b->k = k;
		b->task.run = add_events;
		b->events = tl__malloc(p->threaded ? BATCH_BYTES : TL_EVENT_ROOM);
		if (!b->events)
			return TL_ENOMEM;
	}
	k->event = (tl_kineto_event *)(void *)p->batches->events;
	return 0;
}

void tl__kineto_close_pipeline(tl_kineto *k)
{
	tl_kineto_pipeline *p = k->pipeline;
	for (int i = 0; i < BATCHES && p; i++) {
		take_back(p, &p->batches[i]);
		tl__free(p->batches[i].events);
		tl__free(p->batches[i].scratch);
	}
	tl__free(p);
	tl__free(k->scratch.known);
	k->pipeline = NULL;
	k->scratch.known = NULL;
}

int tl__kineto_make_scratch(tl_kineto *k)
{
	batch *b = &k->pipeline->batches[k->pipeline->current];
	size_t size = (size_t)(k->scan.end - k->p);
	if (b->scratch_size < size + TL_JSON_PAD) {
		char *scratch = tl__realloc(b->scratch, size + size / 2 + TL_JSON_PAD);
		if (!scratch)
			return TL_ENOMEM;
		b->scratch = scratch;
		b->scratch_size = size + size / 2 + TL_JSON_PAD;
	}
	k->scratch.next = b->scratch;
	k->scratch.end = b->scratch + b->scratch_size - TL_JSON_PAD;
	return 0;
}

static bool is_under_way(const tl_kineto_pipeline *p)
{
	bool any = p->batches[p->current].used > 0;
	for (int i = 0; i < BATCHES; i++)
		any |= p->batches[i].posted;
	return any;
}

int tl__kineto_pass(tl_kineto *k, tl_source_block *block)
{
	tl_kineto_pipeline *p = k->pipeline;
	if (!is_under_way(p)) { /* nothing points into the block */
		if (block)
			tl__source_give(k->source, block);
		return 0;
	}
	batch *b = &p->batches[p->current];
	b->block = block;
	b->posted = true;
	tl__source_post(k->source, &b->task);
	p->current = (p->current + 1) % BATCHES;
	b = &p->batches[p->current];
	k->event = (tl_kineto_event *)(void *)b->events;
	return take_back(p, b);
}

int tl__kineto_drain(tl_kineto *k)
{
	tl_kineto_pipeline *p = k->pipeline;
	if (!p->threaded || !is_under_way(p))
		return p->code;
	TL_TRY(tl__kineto_pass(k, NULL));
	for (int i = 0; i < BATCHES; i++)
		take_back(p, &p->batches[i]);
	p->drains++;
	if (p->drains > DRAINS_AT_LEAST && p->puts / p->drains < DRAINS_WORTH_IT)
		p->threaded = false;
	return p->code < 0 ? p->code : tl__kineto_make_scratch(k);
}

int tl__kineto_put(tl_kineto *k)
{
	tl_kineto_pipeline *p = k->pipeline;
	batch *b = &p->batches[p->current];
	if (!p->threaded) {
		TL_TRY(tl__kineto_add(k, k->event));
		k->scratch.next = b->scratch;
		return 0;
	}
	p->puts++;
	b->used += tl__kineto_event_size(k->event);
	k->event = (tl_kineto_event *)(void *)(b->events + b->used);
	if (BATCH_BYTES - b->used >= TL_EVENT_ROOM)
		return 0;
	TL_TRY(tl__kineto_pass(k, NULL));
	return tl__kineto_make_scratch(k);
}
