/* SPDX-License-Identifier: MIT */
#include "trace/kineto_window.h"

#include <string.h>
#include <time.h>

#include "trace/kineto_pipeline.h"
#include "util/error.h"

/* An event or value beyond that is not worth the memory. */
#define LARGEST_WINDOW ((size_t)1 << 30)

void tl__kineto_open_window(tl_kineto *k)
{
	static const char nothing[TL_JSON_PAD];
	k->window = nothing;
	k->p = k->scan.end = nothing;
}

static int report_progress(tl_kineto *k)
{
	enum { NS_BETWEEN = 100000000 };
	struct timespec now;
	if (!k->options || !k->options->progress)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (ns < k->next_progress)
		return 0;
	k->next_progress = ns + NS_BETWEEN;
	tl_source_state state;
	tl__source_state(k->source, &state);
	if (k->options->progress(k->options->user, state.packed_done, state.packed_total))
		return tl__fail(k->err, TL_ECANCELLED, "cancelled");
	return 0;
}

int tl__kineto_refill(tl_kineto *k)
{
	size_t left = (size_t)(k->scan.end - k->p), size = left;
	char *window = NULL;
	TL_TRY(report_progress(k));
	k->window_offset += (uint64_t)(k->p - k->window);
	if (left > LARGEST_WINDOW)
		return tl__fail(k->err, TL_EFORMAT, "an event or value of more than 1 GB at byte %llu",
				(unsigned long long)k->window_offset);
	if (!tl__source_in_block(k->source)) /* the events of such a window do not survive it */
		TL_TRY(tl__kineto_drain(k));
	if (k->scratch.known->full) {
		TL_TRY(tl__kineto_drain(k));
		tl__known_clear(k->scratch.known);
	}
	/* whoever asks reads what is left once more, so at least as much must come: linear time for any size */
	do {
		tl_source_block *before;
		int64_t n = tl__source_next(k->source, size, &window, &before, k->err);
		int code = tl__kineto_pass(k, before);
		if (n < 0 || code < 0)
			return n < 0 ? (int)n : code;
		k->eof = n == 0;
		size += (size_t)n;
	} while (!k->eof && size < 2 * left);
	if (!window) { /* an empty file has no block at all */
		tl__kineto_open_window(k);
		return 0;
	}
	if (size > left) /* else the zeros are there, and the other thread may be reading them */
		memset(window + size, 0, TL_JSON_PAD);
	k->window = k->p = window;
	k->scan.end = window + size;
	return tl__kineto_make_scratch(k);
}

int tl__kineto_skip_blank(tl_kineto *k)
{
	for (;;) {
		k->p = tl__json_blank(k->p);
		if (k->p < k->scan.end || k->eof)
			return 0;
		k->p = k->scan.end;
		TL_TRY(tl__kineto_refill(k));
	}
}
