/* SPDX-License-Identifier: MIT */
/*
 * Doubtful ends of Python frames, looked for where the frames themselves are no nodes. Nesting all frames for that
 * would take as long as the rest of the tree; few traces have such frames, and a look at long ones tells which.
 */
#include <string.h>

#include "tree/build.h"
#include "util/sort.h"

/* Grid cells for each long frame, so that few events lie in the cell of one by chance. */
enum { LEAST_CELLS = 1 << 16, CELLS_PER_FRAME = 32, WORD = 64 };

/* How the host events of a track end. */
typedef struct {
	tl_time end;    /* the last end */
	tl_row builtin; /* the first built-in by start that ends there, or TL_ROW_NONE */
} tl_track_end;

/* What is known of the frames of a trace. */
typedef struct {
	const tl_store *store;
	TL_VEC(tl_row) frames; /* as long as a lost end makes them; by track and start */
	tl_time *latest;       /* end of a stretch of frames: a tree, frame i is at leaf frames.n + i */
	uint64_t *cells;       /* a bit each: a frame starts in this stretch of time */
	size_t n_cells;
	unsigned shift;      /* 2^shift ps a cell */
	tl_time first, last; /* start of any frame in `frames` */
	tl_track_end *track; /* of each track slot */
} tl_frames;

static bool is_host(const tl_store *s, tl_row row)
{
	uint8_t kind = s->kind[row];
	return (kind == TL_KIND_CPU_OP || kind == TL_KIND_RUNTIME || kind == TL_KIND_PYTHON) &&
	       s->start[row] != TL_TIME_NONE;
}

static size_t slot_of(const tl_store *s, tl_row row)
{
	return s->track[row] == UINT32_MAX ? s->tracks.n : s->track[row];
}

static void note_end(const tl_store *s, tl_row row, tl_time end, tl_track_end *track)
{
	if (end > track->end)
		*track = (tl_track_end){end, TL_ROW_NONE};
	bool first = track->builtin == TL_ROW_NONE || s->start[row] < s->start[track->builtin];
	if (first && s->kind[row] == TL_KIND_PYTHON && tl__is_builtin(s, row))
		track->builtin = row;
}

static int gather(tl_frames *f)
{
	const tl_store *s = f->store;
	size_t slots = s->tracks.n + 1;
	f->track = tl__malloc(slots * sizeof *f->track);
	if (!f->track)
		return TL_ENOMEM;
	for (size_t i = 0; i < slots; i++)
		f->track[i] = (tl_track_end){INT64_MIN, TL_ROW_NONE};
	for (tl_row row = 0; row < s->n; row++) {
		if (!is_host(s, row))
			continue;
		tl_time end = tl__span_end(s, row);
		tl_track_end *track = &f->track[slot_of(s, row)];
		if (end >= track->end)
			note_end(s, row, end, track);
		if (s->kind[row] == TL_KIND_PYTHON && s->dur[row] >= TL_OVERLONG)
			TL_TRY(TL_VEC_PUSH(&f->frames, row));
	}
	return 0;
}

/* ---- unfinished built-ins ---- */

/* The earliest start of a built-in that ends with its track; INT64_MAX: there is none. */
static tl_time first_open(const tl_frames *f)
{
	const tl_store *s = f->store;
	tl_time first = INT64_MAX;
	for (size_t i = 0; i <= s->tracks.n; i++) {
		tl_row builtin = f->track[i].builtin;
		if (builtin != TL_ROW_NONE && s->start[builtin] < first)
			first = s->start[builtin];
	}
	return first;
}

/* Whether a built-in of its track that ends with it is open when this one starts. */
static bool follows_open(const tl_frames *f, tl_row row)
{
	const tl_store *s = f->store;
	tl_row open = f->track[slot_of(s, row)].builtin;
	return s->kind[row] == TL_KIND_PYTHON && open != TL_ROW_NONE && open != row &&
	       s->start[row] >= s->start[open] && tl__is_builtin(s, row);
}

/* ---- overlong frames ---- */

static bool frame_less(const void *ctx, uint32_t x, uint32_t y)
{
	const tl_store *s = ctx;
	if (slot_of(s, x) != slot_of(s, y))
		return slot_of(s, x) < slot_of(s, y);
	return s->start[x] != s->start[y] ? s->start[x] < s->start[y] : x < y;
}

static size_t cell_of(const tl_frames *f, tl_time time)
{
	return (size_t)((uint64_t)time - (uint64_t)f->first) >> f->shift;
}

static int index_frames(tl_frames *f)
{
	const tl_store *s = f->store;
	size_t n = f->frames.n;
	TL_TRY(tl__sort(f->frames.v, n, frame_less, s));
	f->latest = tl__malloc(2 * n * sizeof *f->latest);
	for (f->n_cells = LEAST_CELLS; f->n_cells < CELLS_PER_FRAME * n;)
		f->n_cells *= 2;
	f->cells = tl__calloc(f->n_cells / WORD, sizeof *f->cells);
	if (!f->latest || !f->cells)
		return TL_ENOMEM;
	f->first = f->last = s->start[f->frames.v[0]];
	for (size_t i = 0; i < n; i++) {
		tl_time start = s->start[f->frames.v[i]];
		f->first = start < f->first ? start : f->first;
		f->last = start > f->last ? start : f->last;
		f->latest[n + i] = tl__span_end(s, f->frames.v[i]);
	}
	for (size_t i = n - 1; i > 0; i--)
		f->latest[i] = f->latest[2 * i] > f->latest[2 * i + 1] ? f->latest[2 * i] : f->latest[2 * i + 1];
	while (cell_of(f, f->last) >= f->n_cells)
		f->shift++;
	for (size_t i = 0; i < n; i++) {
		size_t cell = cell_of(f, s->start[f->frames.v[i]]);
		f->cells[cell / WORD] |= UINT64_C(1) << cell % WORD;
	}
	return 0;
}

/* Whether a frame may start in the stretch of time [from, to]; wrong on the side of caution. */
static bool may_start_in(const tl_frames *f, tl_time from, tl_time to)
{
	if (to < f->first || from > f->last)
		return false;
	size_t a = cell_of(f, from < f->first ? f->first : from), b = cell_of(f, to > f->last ? f->last : to);
	if (b / WORD > a / WORD)
		return true;
	uint64_t mask = UINT64_MAX << a % WORD & UINT64_MAX >> (WORD - 1 - b % WORD);
	return f->cells[a / WORD] & mask;
}

/* First of the frames that start after `time` on a track (from `time` on, when `at` is set). */
static size_t find(const tl_frames *f, size_t slot, tl_time time, bool at)
{
	size_t low = 0, high = f->frames.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		tl_row row = f->frames.v[middle];
		size_t other = slot_of(f->store, row);
		tl_time start = f->store->start[row];
		if (other < slot || (other == slot && (at ? start < time : start <= time)))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Last end of the frames [from, to). */
static tl_time latest(const tl_frames *f, size_t from, size_t to)
{
	tl_time last = INT64_MIN;
	for (from += f->frames.n, to += f->frames.n; from < to; from /= 2, to /= 2) {
		if (from & 1) {
			last = f->latest[from] > last ? f->latest[from] : last;
			from++;
		}
		if (to & 1) {
			to--;
			last = f->latest[to] > last ? f->latest[to] : last;
		}
	}
	return last;
}

/* Whether a frame starts in this event of its track and ends so much later that it may be overlong. */
static bool holds_overlong(const tl_frames *f, tl_row row)
{
	const tl_store *s = f->store;
	tl_time start = s->start[row], end = tl__span_end(s, row), limit;
	if (s->dur[row] <= 0 || !may_start_in(f, start, end) || __builtin_add_overflow(end, TL_OVERLONG, &limit))
		return false;
	size_t slot = slot_of(s, row);
	return latest(f, find(f, slot, start, false), find(f, slot, end, true)) >= limit;
}

/* ---- all of it ---- */

/* Whether there is any frame whose end is to be looked into. */
static int look(tl_frames *f, bool *out)
{
	const tl_store *s = f->store;
	tl_time open = first_open(f);
	bool any = f->frames.n > 0;
	if (any)
		TL_TRY(index_frames(f));
	for (tl_row row = 0; row < s->n && !*out; row++)
		*out = is_host(s, row) &&
		       ((s->start[row] >= open && follows_open(f, row)) || (any && holds_overlong(f, row)));
	return 0;
}

static void take(tl_health *to, const tl_health *from, tl_health_kind kind)
{
	if (from->entry[kind].count)
		to->entry[kind] = from->entry[kind];
}

/* Nests all frames, for what is found on the way. */
static int nest_frames(tl_tree *t)
{
	const tl_store *s = t->store;
	tl_tree frames = {.trace = t->trace, .store = s, .with_python = true};
	tl_build b = {.tree = &frames, .store = s};
	tl__health_clear(&frames.health);
	frames.pos_of_row = tl__malloc((s->n + 1) * sizeof *frames.pos_of_row);
	int code = frames.pos_of_row ? tl__build_parts(&b) : TL_ENOMEM;
	if (!code)
		code = tl__build_nest(&b);
	tl__build_free(&b);
	tl__free(frames.pos_of_row);
	if (!code) {
		take(&t->health, &frames.health, TL_HEALTH_OVERLONG_PYTHON);
		take(&t->health, &frames.health, TL_HEALTH_UNFINISHED_SPAN);
	}
	return code;
}

int tl__build_check_python(tl_tree *t)
{
	const tl_store *s = t->store;
	if (t->with_python || !s->n || !memchr(s->kind, TL_KIND_PYTHON, s->n))
		return 0;
	tl_frames f = {.store = s};
	bool doubtful = false;
	int code = gather(&f);
	if (!code)
		code = look(&f, &doubtful);
	TL_VEC_FREE(&f.frames);
	tl__free(f.latest);
	tl__free(f.cells);
	tl__free(f.track);
	return !code && doubtful ? nest_frames(t) : code;
}
