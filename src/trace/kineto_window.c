/* SPDX-License-Identifier: MIT */
#include "trace/kineto_window.h"

#include <string.h>
#include <time.h>

#include "util/error.h"

enum {
	FIRST_WINDOW = 256 << 10, /* small enough for the second-level cache */
	SMALLEST_READ = 64 << 10,
	LARGEST_WINDOW = 1 << 30, /* an event beyond that is no event */
};

int tl__kineto_open_window(tl_kineto *k)
{
	k->size = FIRST_WINDOW;
	k->window = tl__malloc(k->size + TL_JSON_PAD);
	if (!k->window)
		return TL_ENOMEM;
	memset(k->window, 0, TL_JSON_PAD);
	k->p = k->scan.end = k->window;
	return 0;
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
	size_t left = (size_t)(k->scan.end - k->p);
	TL_TRY(report_progress(k));
	k->window_offset += (uint64_t)(k->p - k->window);
	memmove(k->window, k->p, left);
	k->p = k->scan.end = k->window;

	if (k->size - left < SMALLEST_READ) {
		if (k->size >= LARGEST_WINDOW)
			return tl__fail(k->err, TL_EFORMAT, "an event or value of more than 1 GB at byte %llu",
					(unsigned long long)k->window_offset);
		char *bigger = tl__realloc(k->window, k->size * 2 + TL_JSON_PAD);
		if (!bigger)
			return TL_ENOMEM;
		k->window = bigger;
		k->size *= 2;
	}
	size_t wanted = left + SMALLEST_READ;
	while (left < wanted && !k->eof) {
		int64_t n = tl__source_read(k->source, k->window + left, k->size - left, k->err);
		if (n < 0)
			return (int)n;
		k->eof = n == 0;
		left += (size_t)n;
	}
	k->p = k->window;
	k->scan.end = k->window + left;
	memset(k->window + left, 0, TL_JSON_PAD);
	return 0;
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
