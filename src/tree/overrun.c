/* SPDX-License-Identifier: MIT */
/* GPU events that run far into the next ones of their stream: their ends are wrong, and shown so or clipped. */
#include <stdio.h>
#include <string.h>

#include "tree/build.h"
#include "util/sort.h"

/* A GPU event that runs this much into the next of its stream has a wrong end; less is real, or jitter. */
#define OVERRUN (1000 * TL_PS_PER_US)

static tl_id stream_of(const tl_store *s, tl_row row)
{
	const tl_link_args *args = tl__link_args(s, row);
	return args ? args->stream : TL_ID_NONE;
}

static bool stream_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	tl_id sa = stream_of(s, a), sb = stream_of(s, b);
	return sa != sb ? sa < sb : tl__starts_before(s, a, b);
}

static bool start_less(const void *ctx, uint32_t a, uint32_t b)
{
	return tl__starts_before(ctx, a, b);
}

/* Durations are changed in a copy: the trace's events are everybody's. */
static int clip(tl_tree *t, tl_row row, tl_time dur)
{
	if (!t->own_store)
		t->own_store = tl__store_copy(t->store);
	if (!t->own_store)
		return TL_ENOMEM;
	t->own_store->dur[row] = dur;
	return 0;
}

static int check_event(tl_tree *t, tl_row row, tl_time next, bool clips)
{
	const tl_store *s = t->store;
	tl_time overrun = tl__span_end(s, row) - next;
	if (overrun < OVERRUN)
		return 0;
	char detail[128];
	snprintf(detail, sizeof detail, "overruns the next start on its stream by %.0f µs: %.60s",
		 (double)overrun / (double)TL_PS_PER_US, tl__name(s, row));
	tl__health_add(&t->health, clips ? TL_HEALTH_CLIPPED_OVERRUN : TL_HEALTH_STREAM_OVERRUN, -1, row, overrun,
		       detail);
	return clips ? clip(t, row, next - s->start[row]) : 0;
}

/* GPU events v[0, n) of one track, which usually is one stream. What starts at once has one next start: the one after.
 */
static int check_track(tl_tree *t, tl_row *v, size_t n, bool clips)
{
	const tl_store *s = t->store;
	bool one_stream = true;
	for (size_t i = 1; i < n && one_stream; i++)
		one_stream = stream_of(s, v[i]) == stream_of(s, v[0]);
	TL_TRY(one_stream ? tl__sort(v, n, start_less, s) : tl__sort(v, n, stream_less, s));
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && s->start[v[to]] == s->start[v[from]] &&
				    (one_stream || stream_of(s, v[to]) == stream_of(s, v[from]));)
			to++;
		bool last = to == n || (!one_stream && stream_of(s, v[to]) != stream_of(s, v[from]));
		for (size_t i = from; i < to && !last; i++)
			TL_TRY(check_event(t, v[i], s->start[v[to]], clips));
	}
	return 0;
}

static bool has_time(const tl_store *s, tl_row row)
{
	return s->start[row] != TL_TIME_NONE && s->dur[row] != TL_TIME_NONE;
}

/* Deals GPU events out to their tracks and checks each. `next` has a zero for each track and one more. */
static int check_tracks(const tl_build *b, size_t *next, size_t n_tracks, bool clips)
{
	tl_tree *t = b->tree;
	const tl_store *s = t->store;
	const tl_parts *parts = &b->parts;
	tl_row *gpu = tl__malloc((parts->n_gpu + 1) * sizeof *gpu);
	if (!gpu)
		return TL_ENOMEM;
	for (size_t i = 0; i < parts->n_gpu; i++) {
		tl_row row = parts->gpu[i];
		if (has_time(s, row))
			next[(s->track[row] == UINT32_MAX ? n_tracks - 1 : s->track[row]) + 1]++;
	}
	for (size_t i = 1; i <= n_tracks; i++)
		next[i] += next[i - 1];
	for (size_t i = 0; i < parts->n_gpu; i++) {
		tl_row row = parts->gpu[i];
		if (has_time(s, row))
			gpu[next[s->track[row] == UINT32_MAX ? n_tracks - 1 : s->track[row]]++] = row;
	}
	int code = 0;
	for (size_t i = 0, from = 0; i < n_tracks && !code; from = next[i++])
		if (from < next[i])
			code = check_track(t, gpu + from, next[i] - from, clips);
	tl__free(gpu);
	return code;
}

int tl__build_overruns(tl_build *b, bool clips)
{
	tl_tree *t = b->tree;
	size_t n_tracks = t->store->tracks.n + 1; /* the last for events without track */
	if (!b->parts.n_gpu)
		return 0;
	size_t *next = tl__calloc(n_tracks + 1, sizeof *next);
	if (!next)
		return TL_ENOMEM;
	int code = check_tracks(b, next, n_tracks, clips);
	tl__free(next);
	if (t->own_store)
		t->store = t->own_store;
	return code;
}
