/* SPDX-License-Identifier: MIT */
#include "io/ring.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"

/* One block with the reader, one about to be taken, two whose events are being stored, the others being filled. */
#define BLOCKS_THREADED 6
/* The reader may hold one while it asks for the next. */
#define BLOCKS_SINGLE 2

struct tl_ring {
	tl_decoder *decoder;
	int64_t end; /* why nothing comes behind the filled blocks: 0 end, negative failure; 1: more comes */
	tl_error error;
	tl_source_state state; /* of the decoder after the newest block */

	tl_ring_block blocks[BLOCKS_THREADED];
	tl_ring_block *unused[BLOCKS_THREADED]; /* a stack: the block that was used last is warm */
	tl_ring_block *filled[BLOCKS_THREADED]; /* a queue */
	unsigned n_unused, n_filled, first_filled;

	tl_source_task *first_task, *last_task; /* posted, none of them begun */
	bool running;                           /* a task is */

	bool threaded;
	bool stop;
	bool reader_waits, filler_waits;
	pthread_t thread;
	pthread_mutex_t lock; /* guards everything above but the decoder and the bytes of blocks */
	pthread_cond_t can_read, can_fill;
};

/* Fills a block from the decoder; returns 1, or why nothing more will come (see tl_ring.end). */
static int64_t fill(tl_decoder *decoder, tl_ring_block *block, tl_error *error)
{
	int64_t got = 1;

	block->n = 0;
	while (block->n < TL_RING_BLOCK) {
		got = decoder->read(decoder, block->bytes + block->n, TL_RING_BLOCK - block->n, error);
		if (got <= 0)
			return got;
		block->n += (size_t)got;
	}
	return 1;
}

static void note_state(tl_ring *ring)
{
	const tl_input *input = ring->decoder->input;
	tl_source_state *state = &ring->state;

	*state = ring->decoder->state;
	state->packed_done = tl__input_done(input);
	state->packed_total = input->total;
	if (input->early[0]) {
		state->truncated |= input->early_cut_off;
		state->damaged |= !input->early_cut_off;
		state->incomplete |= !input->early_cut_off && !input->early_all;
		snprintf(state->note, sizeof state->note, "the zip file is %s: %s",
			 input->early_cut_off ? "cut off" : "damaged", input->early);
	}
}

/* The lock is held before and after, not meanwhile. */
static void fill_next(tl_ring *ring)
{
	tl_ring_block *block = ring->unused[--ring->n_unused];
	pthread_mutex_unlock(&ring->lock);

	tl_error error = TL_ERROR_INIT;
	int64_t end = fill(ring->decoder, block, &error);

	pthread_mutex_lock(&ring->lock);
	note_state(ring);
	ring->end = end;
	if (end < 0)
		ring->error = error;
	if (block->n)
		ring->filled[(ring->first_filled + ring->n_filled++) % BLOCKS_THREADED] = block;
}

/* One task at a time, so that they keep their order whichever thread runs them. */
static bool can_run(const tl_ring *ring)
{
	return ring->first_task && !ring->running;
}

static void run_task(tl_ring *ring)
{
	tl_source_task *task = ring->first_task;
	ring->first_task = task->next;
	ring->running = true;
	pthread_mutex_unlock(&ring->lock);

	task->run(task);

	pthread_mutex_lock(&ring->lock);
	task->done = true;
	ring->running = false;
}

/* The reader cannot go on: it does what there is to do meanwhile, or waits for the other thread. */
static void help_or_wait(tl_ring *ring)
{
	if (can_run(ring)) {
		run_task(ring);
		if (ring->first_task && ring->filler_waits)
			pthread_cond_signal(&ring->can_fill);
		return;
	}
	ring->reader_waits = true;
	pthread_cond_wait(&ring->can_read, &ring->lock);
	ring->reader_waits = false;
}

static void *filler(void *user)
{
	tl_ring *ring = user;

	pthread_mutex_lock(&ring->lock);
	while (!ring->stop) {
		bool can_fill = ring->n_unused && ring->end > 0;
		/* a reader without text comes first */
		if (can_run(ring) && (ring->n_filled || !can_fill)) {
			run_task(ring);
		} else if (can_fill) {
			fill_next(ring);
		} else {
			ring->filler_waits = true;
			pthread_cond_wait(&ring->can_fill, &ring->lock);
			ring->filler_waits = false;
			continue;
		}
		if (ring->reader_waits)
			pthread_cond_signal(&ring->can_read);
	}
	pthread_mutex_unlock(&ring->lock);
	return NULL;
}

static void free_memory(tl_ring *ring)
{
	for (size_t i = 0; i < BLOCKS_THREADED; i++)
		if (ring->blocks[i].bytes)
			tl__free(ring->blocks[i].bytes - TL_RING_HEAD);
	tl__decoder_free(ring->decoder);
	tl__free(ring);
}

/* Without a thread (the system may have none left) everything works, only slower. */
static void start_thread(tl_ring *ring)
{
	if (pthread_mutex_init(&ring->lock, NULL))
		return;
	if (!pthread_cond_init(&ring->can_read, NULL)) {
		if (!pthread_cond_init(&ring->can_fill, NULL)) {
			ring->threaded = true;
			if (!pthread_create(&ring->thread, NULL, filler, ring))
				return;
			ring->threaded = false;
			pthread_cond_destroy(&ring->can_fill);
		}
		pthread_cond_destroy(&ring->can_read);
	}
	pthread_mutex_destroy(&ring->lock);
}

int tl__ring_open(tl_ring **out, tl_decoder *decoder, bool threaded, tl_error *err)
{
	tl_ring *ring = tl__calloc(1, sizeof *ring);
	unsigned blocks = threaded ? BLOCKS_THREADED : BLOCKS_SINGLE;

	*out = NULL;
	if (!ring) {
		tl__decoder_free(decoder);
		return tl__nomem(err);
	}
	ring->decoder = decoder;
	ring->end = 1;
	for (unsigned i = 0; i < blocks; i++) {
		uint8_t *memory = tl__malloc(TL_RING_HEAD + TL_RING_BLOCK + TL_SOURCE_PAD);
		if (!memory) {
			free_memory(ring);
			return tl__nomem(err);
		}
		/* readers that look a little past the end see zeros, or bytes of an older block */
		memset(memory + TL_RING_HEAD + TL_RING_BLOCK, 0, TL_SOURCE_PAD);
		ring->blocks[i].bytes = memory + TL_RING_HEAD;
		ring->unused[ring->n_unused++] = &ring->blocks[i];
	}
	note_state(ring);
	if (threaded)
		start_thread(ring);
	*out = ring;
	return 0;
}

static int report_end(const tl_ring *ring, tl_error *err)
{
	if (ring->end < 0 && err)
		*err = ring->error;
	return (int)ring->end;
}

static int take_single(tl_ring *ring, tl_ring_block **out, tl_error *err)
{
	tl_ring_block *block;

	if (ring->end <= 0)
		return report_end(ring, err);
	block = ring->unused[ring->n_unused - 1];
	ring->end = fill(ring->decoder, block, &ring->error);
	note_state(ring);
	if (!block->n)
		return report_end(ring, err);
	ring->n_unused--;
	*out = block;
	return 1;
}

int tl__ring_take(tl_ring *ring, tl_ring_block **out, tl_error *err)
{
	int more = 1;

	*out = NULL;
	if (!ring->threaded)
		return take_single(ring, out, err);
	pthread_mutex_lock(&ring->lock);
	while (!ring->n_filled && ring->end > 0)
		help_or_wait(ring);
	if (ring->n_filled) {
		*out = ring->filled[ring->first_filled];
		ring->first_filled = (ring->first_filled + 1) % BLOCKS_THREADED;
		ring->n_filled--;
	} else {
		more = report_end(ring, err);
	}
	pthread_mutex_unlock(&ring->lock);
	return more;
}

void tl__ring_give(tl_ring *ring, tl_ring_block *block)
{
	if (!ring->threaded) {
		ring->unused[ring->n_unused++] = block;
		return;
	}
	pthread_mutex_lock(&ring->lock);
	ring->unused[ring->n_unused++] = block;
	if (ring->filler_waits)
		pthread_cond_signal(&ring->can_fill);
	pthread_mutex_unlock(&ring->lock);
}

bool tl__ring_is_threaded(const tl_ring *ring)
{
	return ring->threaded;
}

void tl__ring_post(tl_ring *ring, tl_source_task *task)
{
	task->done = false;
	task->next = NULL;
	pthread_mutex_lock(&ring->lock);
	if (ring->first_task)
		ring->last_task->next = task;
	else
		ring->first_task = task;
	ring->last_task = task;
	if (ring->filler_waits)
		pthread_cond_signal(&ring->can_fill);
	pthread_mutex_unlock(&ring->lock);
}

void tl__ring_wait(tl_ring *ring, tl_source_task *task)
{
	pthread_mutex_lock(&ring->lock);
	while (!task->done)
		help_or_wait(ring);
	pthread_mutex_unlock(&ring->lock);
}

void tl__ring_state(tl_ring *ring, tl_source_state *out)
{
	if (ring->threaded)
		pthread_mutex_lock(&ring->lock);
	*out = ring->state;
	if (ring->threaded)
		pthread_mutex_unlock(&ring->lock);
}

void tl__ring_close(tl_ring *ring)
{
	if (!ring)
		return;
	if (ring->threaded) {
		tl__input_cancel(ring->decoder->input);
		pthread_mutex_lock(&ring->lock);
		ring->stop = true;
		pthread_cond_signal(&ring->can_fill);
		pthread_mutex_unlock(&ring->lock);
		pthread_join(ring->thread, NULL);
		pthread_cond_destroy(&ring->can_fill);
		pthread_cond_destroy(&ring->can_read);
		pthread_mutex_destroy(&ring->lock);
	}
	free_memory(ring);
}
