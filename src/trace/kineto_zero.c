/* SPDX-License-Identifier: MIT */
/*
 * A timestamp of 0 is a time in a trace that starts at 0, and "none" to writers that have no record of one. Which it is
 * can be told only when all is read.
 */
#include <stdlib.h>

#include "trace/kinds.h"
#include "trace/kineto.h"

#define PS_PER_SECOND (INT64_C(1000000) * TL_PS_PER_US)
#define PS_PER_DAY (86400 * PS_PER_SECOND)

/* An event whose timestamp is 0 and that could be held against its launch. */
typedef struct launched {
	tl_id correlation;
	uint32_t source;
	bool known, after; /* its launch has a time; every such launch comes after 0 */
} launched;

typedef struct zeros {
	tl_kineto *k;
	const tl_store *store;
	bool placed;      /* events that are placed in time have other timestamps */
	tl_int128 gap;    /* from 0 to the first of those */
	tl_int128 span;   /* from there to their end */
	size_t n, n_gpu;  /* timestamps of 0 that matter */
	size_t host_void; /* of them host events that take no time */
	bool host, gpu;   /* there are host events; GPU events with other timestamps */
	bool starts_at_0; /* something that takes time happens at 0 or before */
	TL_VEC(launched) launched;
} zeros;

/* ts 0 and dur 0: what is written when nothing was recorded. */
static bool is_void(const tl_store *store, tl_row row)
{
	return store->dur[row] <= 0 && !(store->flags[row] & TL_EVENT_NO_DUR);
}

static tl_int128 absolute(const tl_store *store, tl_row row)
{
	return (tl_int128)store->base_us * TL_PS_PER_US + store->start[row];
}

/* What the other events say about when the trace starts. */
static void look_around(zeros *z)
{
	const tl_kineto *k = z->k;
	const tl_store *store = z->store;
	tl_time first, last;
	z->placed = tl__kineto_extent(store, &first, &last);
	if (z->placed) {
		z->gap = (tl_int128)store->base_us * TL_PS_PER_US + first;
		z->span = (tl_int128)last - first;
	}
	for (size_t i = 0; i < k->spans.n; i++) /* an end is no event of its own, but it has a time */
		z->placed |= store->start[k->spans.v[i].row] != TL_TIME_NONE;

	bool host_at_0 = false, gpu_at_0 = false;
	z->n = 0;
	for (size_t row = 0; row < store->n; row++) {
		if (!tl__kind_has_time(store->kind[row]))
			continue;
		bool gpu = tl__kind_is_gpu(store->kind[row]), timed = store->start[row] != TL_TIME_NONE;
		z->host |= !gpu;
		z->gpu |= gpu && timed;
		if (timed && absolute(store, (tl_row)row) <= 0)
			*(gpu ? &gpu_at_0 : &host_at_0) = true;
	}
	for (size_t i = 0; i < k->zero.n; i++) {
		tl_row row = k->zero.v[i].row;
		if (!tl__kind_has_time(store->kind[row]))
			continue;
		bool gpu = tl__kind_is_gpu(store->kind[row]), nothing = is_void(store, row);
		z->n++;
		z->n_gpu += gpu;
		z->host_void += !gpu && nothing;
		if (!nothing)
			*(gpu ? &gpu_at_0 : &host_at_0) = true;
	}
	/* a GPU event without a time of its own must not speak for the trace when host events can */
	z->starts_at_0 = z->host ? host_at_0 : gpu_at_0;
}

static int by_correlation(const void *a, const void *b)
{
	const launched *x = a, *y = b;
	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

/* First entry that is not before (correlation, source). */
static size_t find(const zeros *z, tl_id correlation, uint32_t source)
{
	launched wanted = {.correlation = correlation, .source = source};
	size_t from = 0, to = z->launched.n;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (by_correlation(&z->launched.v[middle], &wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The entry of an event's correlation id, or NULL. */
static launched *entry_of(zeros *z, const tl_link_args *link, tl_row row)
{
	if (!link || link->correlation == TL_ID_NONE)
		return NULL;
	uint32_t source = tl__source_of(z->store, row);
	size_t at = find(z, link->correlation, source);
	launched *entry = at < z->launched.n ? &z->launched.v[at] : NULL;
	return entry && entry->correlation == link->correlation && entry->source == source ? entry : NULL;
}

static void note_launch(zeros *z, tl_row row, bool after)
{
	if (z->store->kind[row] != TL_KIND_RUNTIME)
		return;
	launched *entry = entry_of(z, tl__link_args(z->store, row), row);
	if (!entry)
		return;
	entry->after = after && (!entry->known || entry->after);
	entry->known = true;
}

/* One launch may own many events: what is known is kept with the first of those that share an id. */
static int find_launches(zeros *z)
{
	const tl_store *store = z->store;
	for (size_t i = 0; i < z->k->zero.n; i++) {
		tl_row row = z->k->zero.v[i].row;
		const tl_link_args *link = tl__kind_is_gpu(store->kind[row]) ? tl__link_args(store, row) : NULL;
		if (!link || link->correlation == TL_ID_NONE)
			continue;
		launched entry = {.correlation = link->correlation, .source = tl__source_of(store, row)};
		TL_TRY(TL_VEC_PUSH(&z->launched, entry));
	}
	if (!z->launched.n)
		return 0;
	qsort(z->launched.v, z->launched.n, sizeof *z->launched.v, by_correlation);
	for (size_t i = 0; i < store->n; i++)
		if (store->start[i] != TL_TIME_NONE)
			note_launch(z, (tl_row)i, absolute(store, (tl_row)i) > 0);
	/* a launch at 0 that takes time is in order; one that takes none says nothing */
	for (size_t i = 0; i < z->k->zero.n; i++)
		if (!is_void(store, z->k->zero.v[i].row))
			note_launch(z, z->k->zero.v[i].row, false);
	return 0;
}

/* Whether a GPU event at 0 contradicts its launch, or, without one, all that the host did. */
static bool is_before_launch(zeros *z, tl_row row)
{
	const launched *entry = entry_of(z, tl__link_args(z->store, row), row);
	return entry && entry->known ? entry->after : !z->starts_at_0;
}

/* Whether the 0 of this event means "none". */
static bool means_none(zeros *z, tl_row row)
{
	enum { SEVERAL = 2 };
	const tl_store *store = z->store;
	bool nothing = is_void(store, row), gpu = tl__kind_is_gpu(store->kind[row]);
	/* nothing has another timestamp: a single event that takes time may be all that there is */
	if (!z->placed)
		return z->n >= SEVERAL || nothing;
	/* all else begins long after: at least a second, and longer than it takes (events that last: a day, since then
	 * they were measured) */
	if (z->gap > z->span && z->gap >= (store->dur[row] > 0 ? PS_PER_DAY : PS_PER_SECOND))
		return true;
	if (gpu && (nothing || (!z->gpu && z->n_gpu >= SEVERAL)))
		return is_before_launch(z, row);
	return !gpu && nothing && z->host_void >= SEVERAL && !z->starts_at_0;
}

int tl__kineto_settle_zero(tl_kineto *k)
{
	tl_store *store = k->store;
	zeros z = {.k = k, .store = store};
	size_t later = 0; /* those that are placed are moved to the front */
	int code = 0;
	for (size_t i = 0; i < k->zero.n && !z.n; i++) /* metadata often has ts 0, and it means nothing there */
		z.n += tl__kind_has_time(store->kind[k->zero.v[i].row]);
	if (z.n) {
		look_around(&z);
		code = find_launches(&z);
	}
	/* none is placed before all are judged */
	for (size_t i = 0; i < k->zero.n && code == 0; i++) {
		tl_kineto_zero zero = k->zero.v[i];
		if (tl__kind_has_time(store->kind[zero.row]) && means_none(&z, zero.row))
			tl__health_add(&store->health, TL_HEALTH_NO_TIMESTAMP, zero.offset, zero.row,
				       store->dur[zero.row], NULL);
		else
			k->zero.v[later++] = zero;
	}
	for (size_t i = 0; i < later && code == 0; i++) {
		tl_kineto_zero zero = k->zero.v[i];
		store->start[zero.row] = tl__kineto_relative(store, 0);
		if (store->start[zero.row] == TL_TIME_NONE && tl__kind_has_time(store->kind[zero.row]))
			tl__health_add(&store->health, TL_HEALTH_TIME_OUT_OF_RANGE, zero.offset, zero.row,
				       store->dur[zero.row], NULL);
	}
	TL_VEC_FREE(&z.launched);
	return code;
}
