/* SPDX-License-Identifier: MIT */
/* Host events nested by time, track by track. */
#include <string.h>

#include "tree/build.h"
#include "util/sort.h"

/* A child may outlast its parent's last microsecond: then it is the next event, not a child. */
#define BLEED TL_PS_PER_US

enum open_flags {
	OPEN_PYTHON = 1,
	OPEN_OVERLONG = 2,   /* its end is not known: holds only frames that name it as their parent */
	OPEN_UNFINISHED = 4, /* a built-in in a row of built-ins that all end with the track */
};

/* An event on the stack. */
typedef struct {
	tl_time end; /* clipped to the parent's */
	uint32_t local;
	uint32_t flags;
	tl_id python_id;
} tl_open;

typedef struct {
	tl_build *b;
	tl_time last_end; /* of the track */
	TL_VEC(tl_open) stack;
} tl_nester;

/* Longer events first among equal starts: the container comes before what it contains. */
static bool nest_less(const void *ctx, uint32_t x, uint32_t y)
{
	const tl_store *s = ctx;
	if (s->start[x] != s->start[y])
		return s->start[x] < s->start[y];
	tl_time ex = tl__span_end(s, x), ey = tl__span_end(s, y);
	return ex != ey ? ex > ey : x < y;
}

static bool python_id_less(const void *ctx, uint32_t x, uint32_t y)
{
	tl_id ix = tl__python_args(ctx, x)->id, iy = tl__python_args(ctx, y)->id;
	return ix != iy ? ix < iy : x < y;
}

static bool has_python_id(const tl_store *s, tl_row row)
{
	const tl_python_args *args = tl__python_args(s, row);
	return args && args->id != TL_ID_NONE;
}

static size_t track_slot(const tl_build *b, tl_row row)
{
	uint32_t track = b->store->track[row];
	return track == UINT32_MAX ? b->n_tracks - 1 : track;
}

/* Host events that have a time by track, in row order (a counting sort). */
static int gather(tl_build *b)
{
	const tl_store *s = b->store;
	const tl_parts *parts = &b->parts;
	b->n_tracks = s->tracks.n + 1;
	b->first = tl__calloc(b->n_tracks + 2, sizeof *b->first);
	b->order = tl__malloc((parts->n_host + 1) * sizeof *b->order);
	b->parent = tl__malloc((parts->n_host + 1) * sizeof *b->parent);
	b->end = tl__malloc((parts->n_host + 1) * sizeof *b->end);
	if (!b->first || !b->order || !b->parent || !b->end)
		return TL_ENOMEM;
	size_t *next = b->first + 1; /* shifts to its final place while the events are dealt out */
	for (size_t i = 0; i < parts->n_host; i++)
		if (s->start[parts->host[i]] != TL_TIME_NONE) {
			next[track_slot(b, parts->host[i]) + 1]++;
			b->n_host++;
		}
	for (size_t t = 1; t <= b->n_tracks; t++)
		next[t] += next[t - 1];
	for (size_t i = 0; i < parts->n_host; i++)
		if (s->start[parts->host[i]] != TL_TIME_NONE)
			b->order[next[track_slot(b, parts->host[i])]++] = parts->host[i];
	return 0;
}

/*
 * Frames with equal start and end follow each other in the order of their Python ids, which count
 * calls; other events keep their places.
 */
static int order_equal_frames(const tl_store *s, tl_row *v, size_t n)
{
	tl_row *frames = NULL;
	size_t cap = 0;
	int code = 0;
	for (size_t i = 0, j; i < n && !code; i = j) {
		for (j = i + 1;
		     j < n && s->start[v[j]] == s->start[v[i]] && tl__span_end(s, v[j]) == tl__span_end(s, v[i]);)
			j++;
		if (j - i < 2)
			continue;
		size_t found = 0;
		code = tl__grow(&frames, &cap, j - i, sizeof *frames);
		for (size_t k = i; k < j && !code; k++)
			if (has_python_id(s, v[k]))
				frames[found++] = v[k];
		if (!code && found > 1)
			code = tl__sort(frames, found, python_id_less, s);
		for (size_t k = i, f = 0; f < found && found > 1 && !code; k++)
			if (has_python_id(s, v[k]))
				v[k] = frames[f++];
	}
	tl__free(frames);
	return code;
}

/* Whether the frame's recorded end says nothing: it is the end of profiling. */
static bool ends_with_track(const tl_nester *n, tl_row row)
{
	const tl_store *s = n->b->store;
	return s->kind[row] == TL_KIND_PYTHON && tl__span_end(s, row) == n->last_end && tl__is_builtin(s, row);
}

static void finding(const tl_nester *n, tl_health_kind kind, tl_row row)
{
	const tl_store *s = n->b->store;
	tl__health_add(&n->b->tree->health, kind, -1, row, s->dur[row], tl__name(s, row));
}

/* Takes the top off; `at` is the local position that follows its subtree. */
static void pop(tl_nester *n, uint32_t at)
{
	const tl_open *top = &n->stack.v[--n->stack.n];
	n->b->end[top->local] = at;
	if (top->flags & OPEN_UNFINISHED)
		finding(n, TL_HEALTH_UNFINISHED_SPAN, n->b->order[top->local]);
}

/*
 * Whether the open frame `top`, whose end is doubtful, had in truth ended before `row` began.
 *
 * Python ids are asked only here. Where frames nest cleanly by time they are no better guide:
 * the profiler names too distant a parent for frames that C++ code calls (hooks, dispatch).
 */
static bool had_ended(const tl_nester *n, const tl_open *top, tl_row row)
{
	if (!(top->flags & OPEN_PYTHON))
		return false;
	const tl_python_args *args = tl__python_args(n->b->store, row);
	bool named = args && args->parent != TL_ID_NONE && args->parent == top->python_id;
	if (named)
		return false;
	if (top->flags & OPEN_OVERLONG)
		return true;
	/* One built-in never is the direct caller of another: the interpreter stands between them. */
	return n->b->store->kind[row] == TL_KIND_PYTHON && ends_with_track(n, n->b->order[top->local]) &&
	       tl__is_builtin(n->b->store, row);
}

/* One excess of up to a microsecond is rounding where the file has whole microseconds only. */
static bool is_rounding(const tl_store *s, tl_row row, tl_row parent, tl_time excess)
{
	uint8_t fractions = TL_EVENT_TS_FRACTION | TL_EVENT_DUR_FRACTION;
	return excess <= TL_PS_PER_US && !((s->flags[row] | s->flags[parent]) & fractions);
}

static int nest_event(tl_nester *n, uint32_t local)
{
	tl_build *b = n->b;
	const tl_store *s = b->store;
	tl_row row = b->order[local];
	tl_time start = s->start[row];
	const tl_python_args *args = tl__python_args(s, row);
	tl_open open = {.end = tl__span_end(s, row), .local = local, .python_id = TL_ID_NONE};
	if (s->kind[row] == TL_KIND_PYTHON) {
		open.flags = OPEN_PYTHON;
		open.python_id = args ? args->id : TL_ID_NONE;
	}

	while (n->stack.n && start >= n->stack.v[n->stack.n - 1].end)
		pop(n, local);
	while (n->stack.n) {
		tl_open *top = &n->stack.v[n->stack.n - 1];
		if (had_ended(n, top, row)) {
			if (!(top->flags & OPEN_OVERLONG)) {
				top->flags |= OPEN_UNFINISHED;
				if (ends_with_track(n, row))
					open.flags |= OPEN_UNFINISHED;
			}
			pop(n, local);
			continue;
		}
		if (open.end <= top->end)
			break;
		bool named = args && args->parent != TL_ID_NONE && args->parent == top->python_id;
		if (top->end - start < BLEED && !named) {
			pop(n, local);
			continue;
		}
		tl_time excess = open.end - top->end;
		if (open.flags & OPEN_PYTHON && excess >= TL_OVERLONG) {
			open.flags |= OPEN_OVERLONG;
			finding(n, TL_HEALTH_OVERLONG_PYTHON, row);
		} else if (!is_rounding(s, row, b->order[top->local], excess)) {
			finding(n, TL_HEALTH_CLIPPED_SPAN, row);
		}
		open.end = top->end;
		break;
	}
	b->parent[local] = n->stack.n ? n->stack.v[n->stack.n - 1].local : TL_LOCAL_NONE;
	return TL_VEC_PUSH(&n->stack, open);
}

static int nest_track(tl_nester *n, size_t track)
{
	tl_build *b = n->b;
	size_t from = b->first[track], to = b->first[track + 1];
	TL_TRY(tl__sort(b->order + from, to - from, nest_less, b->store));
	if (b->tree->with_python)
		TL_TRY(order_equal_frames(b->store, b->order + from, to - from));
	n->last_end = INT64_MIN;
	for (size_t i = from; i < to; i++) {
		tl_time end = tl__span_end(b->store, b->order[i]);
		n->last_end = end > n->last_end ? end : n->last_end;
	}
	for (size_t i = from; i < to; i++) {
		TL_TRY(nest_event(n, (uint32_t)i));
		b->tree->pos_of_row[b->order[i]] = (tl_pos)i;
	}
	while (n->stack.n)
		pop(n, (uint32_t)to);
	return 0;
}

int tl__build_nest(tl_build *b)
{
	TL_TRY(gather(b));
	tl_nester n = {.b = b};
	int code = 0;
	for (size_t track = 0; track < b->n_tracks && !code; track++)
		if (b->first[track] < b->first[track + 1])
			code = nest_track(&n, track);
	TL_VEC_FREE(&n.stack);
	return code;
}
