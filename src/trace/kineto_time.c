/* SPDX-License-Identifier: MIT */
/* Times of events: from their texts, relative to the base, and what only the end of the file settles. */
#include <string.h>

#include "trace/kinds.h"
#include "trace/kineto.h"

#define PS_PER_DAY (INT64_C(86400) * 1000000 * TL_PS_PER_US)

static bool has_value(const tl_kineto_event *event, tl_kineto_field field)
{
	return (event->have & TL_F_BIT(field)) && tl__kineto_token(event, field)->type != TL_JSON_NULL;
}

/* Digits, perhaps with a point and up to six more: what nearly all times are. A text is one that was scanned, padded.
 */
static bool read_usual(tl_int128 *ps, bool *fraction, const tl_json_token *token)
{
	static const uint32_t scale[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
	enum { MOST = 16 };
	if (token->flags & TL_JSON_VALUE) {
		*fraction = token->known > 0;
		*ps = (tl_int128)token->value * scale[token->known];
		return true;
	}
	const char *p = token->p;
	unsigned whole = tl__json_count_digits(p);
	if (token->type != TL_JSON_NUMBER || !whole || whole > MOST)
		return false;
	*fraction = whole < token->n;
	uint64_t part = 0;
	if (*fraction) {
		unsigned n = token->n - whole - 1;
		if (p[whole] != '.' || !n || n > 6 || tl__json_count_digits(p + whole + 1) < n)
			return false;
		part = tl__digits(p + whole + 1, n) * scale[n];
	}
	*ps = (tl_int128)tl__digits(p, whole) * TL_PS_PER_US + (tl_int128)part;
	return true;
}

/* Numbers, and strings that hold one. 0 or TL_ENOMEM. */
static int read_decimal(tl_kineto *k, tl_decimal_code *code, tl_int128 *ps, bool *fraction, const tl_json_token *token)
{
	*code = TL_DECIMAL_OK;
	if (read_usual(ps, fraction, token))
		return 0;
	*code = TL_DECIMAL_BAD;
	if (token->type != TL_JSON_NUMBER && token->type != TL_JSON_STRING)
		return 0;
	size_t n;
	const char *text = tl__kineto_plain(k, token, &n);
	if (!text)
		return TL_ENOMEM;
	*code = tl__decimal_ps(ps, fraction, text, n);
	return 0;
}

static int64_t floor_us(tl_int128 ps)
{
	tl_int128 us = ps / TL_PS_PER_US - (ps % TL_PS_PER_US < 0);
	return us > INT64_MAX ? INT64_MAX : us < INT64_MIN ? INT64_MIN : (int64_t)us;
}

tl_time tl__kineto_relative(const tl_store *store, tl_int128 ps)
{
	tl_int128 time = ps - (tl_int128)store->base_us * TL_PS_PER_US;
	return time > INT64_MAX || time <= INT64_MIN ? TL_TIME_NONE : (tl_time)time;
}

static int set_duration(tl_kineto *k, const tl_kineto_event *event, tl_row row, char phase, int64_t offset)
{
	tl_store *store = k->store;
	bool in_time = tl__kind_has_time(store->kind[row]);
	tl_int128 ps;
	bool fraction = false;

	if (!has_value(event, TL_F_DUR)) {
		store->dur[row] = 0;
		store->flags[row] |= TL_EVENT_NO_DUR;
		if (phase == 'X' && in_time)
			tl__health_add(&store->health, TL_HEALTH_MISSING_DURATION, offset, row, 0, NULL);
		return 0;
	}
	tl_decimal_code code;
	TL_TRY(read_decimal(k, &code, &ps, &fraction, tl__kineto_token(event, TL_F_DUR)));
	if (fraction)
		store->flags[row] |= TL_EVENT_DUR_FRACTION;
	if (code == TL_DECIMAL_OK && ps >= 0 && ps <= 7 * PS_PER_DAY) {
		store->dur[row] = (tl_time)ps;
		return 0;
	}
	store->dur[row] = TL_TIME_NONE;
	store->flags[row] |= TL_EVENT_BAD_DUR;
	if (in_time)
		tl__health_add(&store->health,
			       code == TL_DECIMAL_BAD ? TL_HEALTH_NOT_A_NUMBER
			       : ps < 0               ? TL_HEALTH_NEGATIVE_DURATION
						      : TL_HEALTH_ABSURD_DURATION,
			       offset, row, 0, NULL);
	return 0;
}

static int set_start(tl_kineto *k, const tl_kineto_event *event, tl_row row, char phase, int64_t offset)
{
	tl_store *store = k->store;
	tl_int128 ps = 0;
	bool fraction = false;
	tl_decimal_code code = TL_DECIMAL_BAD;

	store->start[row] = TL_TIME_NONE;
	if (event->have & TL_F_BIT(TL_F_TS))
		TL_TRY(read_decimal(k, &code, &ps, &fraction, tl__kineto_token(event, TL_F_TS)));
	if (fraction)
		store->flags[row] |= TL_EVENT_TS_FRACTION;
	if (code == TL_DECIMAL_BAD) {
		if (tl__kind_has_time(store->kind[row]))
			tl__health_add(&store->health, TL_HEALTH_NO_TIMESTAMP, offset, row, store->dur[row], NULL);
		return 0;
	}
	/* metadata carries no time of its own and must not decide the base */
	if (!k->has_base && ps > 0 && phase != 'M' && floor_us(ps) < INT64_MAX) {
		k->has_base = true;
		store->base_us = floor_us(ps);
	}
	if (!ps) {
		/* 0 means "no timestamp" to some writers: decided when all is read */
		tl_kineto_zero zero = {.offset = offset, .row = row};
		return TL_VEC_PUSH(&k->zero, zero);
	}
	tl_time time = k->has_base ? tl__kineto_relative(store, ps) : TL_TIME_NONE;
	if (time == TL_TIME_NONE) {
		tl_kineto_far far = {.ps = ps, .offset = offset, .row = row};
		return TL_VEC_PUSH(&k->far, far);
	}
	store->start[row] = time;
	k->in_range++;
	return 0;
}

int tl__kineto_set_time(tl_kineto *k, const tl_kineto_event *event, tl_row row, char phase, int64_t offset)
{
	TL_TRY(set_duration(k, event, row, phase, offset));
	TL_TRY(set_start(k, event, row, phase, offset));
	if (phase == 'B' || phase == 'E') {
		tl_kineto_span span = {.row = row, .begin = phase == 'B'};
		return TL_VEC_PUSH(&k->spans, span);
	}
	return 0;
}

/*
 * Times that did not fit when they were read. The base is one event's time; when most others lie
 * far from it, that one event was wrong and the base moves to where most are.
 */
static void settle_far(tl_kineto *k)
{
	tl_store *store = k->store;
	if (k->has_base && k->far.n > k->in_range) {
		tl_int128 shift = store->base_us;
		store->base_us = floor_us(k->far.v[0].ps);
		shift = (shift - store->base_us) * TL_PS_PER_US;
		for (size_t row = 0; row < store->n; row++) {
			if (store->start[row] == TL_TIME_NONE)
				continue;
			tl_int128 time = store->start[row] + shift;
			bool fits = time <= INT64_MAX && time > INT64_MIN;
			store->start[row] = fits ? (tl_time)time : TL_TIME_NONE;
			if (!fits && tl__kind_has_time(store->kind[row]))
				tl__health_add(&store->health, TL_HEALTH_TIME_OUT_OF_RANGE, -1, (tl_row)row,
					       store->dur[row], NULL);
		}
	}
	for (size_t i = 0; i < k->far.n; i++) {
		const tl_kineto_far *far = &k->far.v[i];
		store->start[far->row] = tl__kineto_relative(store, far->ps);
		if (store->start[far->row] == TL_TIME_NONE && tl__kind_has_time(store->kind[far->row]))
			tl__health_add(&store->health, TL_HEALTH_TIME_OUT_OF_RANGE, far->offset, far->row,
				       store->dur[far->row], NULL);
	}
}

bool tl__kineto_extent(const tl_store *store, tl_time *first, tl_time *last)
{
	*first = INT64_MAX;
	*last = INT64_MIN;
	for (size_t row = 0; row < store->n; row++) {
		tl_time start = store->start[row], end;
		if (start == TL_TIME_NONE || !tl__kind_has_time(store->kind[row]))
			continue;
		if (start < *first)
			*first = start;
		/* an event near the limit may end beyond it */
		if (store->dur[row] == TL_TIME_NONE || __builtin_add_overflow(start, store->dur[row], &end))
			end = start;
		if (end > *last)
			*last = end;
	}
	return *first <= *last;
}

static void end_span(tl_store *store, tl_row row, tl_time end)
{
	tl_time dur = TL_TIME_NONE;
	bool known = store->start[row] != TL_TIME_NONE && end != TL_TIME_NONE &&
		     !__builtin_sub_overflow(end, store->start[row], &dur);
	store->flags[row] &= (uint8_t)~TL_EVENT_NO_DUR;
	if (known && dur >= 0 && dur <= 7 * PS_PER_DAY) {
		store->dur[row] = dur;
		if (store->flags[row] & TL_EVENT_TS_FRACTION)
			store->flags[row] |= TL_EVENT_DUR_FRACTION;
		return;
	}
	store->dur[row] = TL_TIME_NONE;
	store->flags[row] |= TL_EVENT_BAD_DUR;
	if (tl__kind_has_time(store->kind[row]))
		tl__health_add(&store->health,
			       known && dur > 0 ? TL_HEALTH_ABSURD_DURATION
			       : known          ? TL_HEALTH_NEGATIVE_DURATION
						: TL_HEALTH_NO_TIMESTAMP,
			       -1, row, 0, NULL);
}

/* Pairs of B and E nest per track: an E ends the B that began last. What stays open ends with the trace. */
static int settle_spans(tl_kineto *k)
{
	tl_store *store = k->store;
	if (!k->spans.n)
		return 0;
	/* open spans of a track are a list: `open` holds the last one, `before` the one below it */
	size_t tracks = store->tracks.n + 1;
	uint32_t *open = tl__malloc(tracks * sizeof *open), *before = tl__malloc(k->spans.n * sizeof *before);
	if (!open || !before) {
		tl__free(open);
		tl__free(before);
		return TL_ENOMEM;
	}
	memset(open, 0xff, tracks * sizeof *open);
	for (size_t i = 0; i < k->spans.n; i++) {
		tl_row row = k->spans.v[i].row;
		size_t track = store->track[row] == UINT32_MAX ? tracks - 1 : store->track[row];
		if (k->spans.v[i].begin) {
			before[i] = open[track];
			open[track] = (uint32_t)i;
		} else if (open[track] == UINT32_MAX) {
			tl__health_add(&store->health, TL_HEALTH_UNMATCHED_END, -1, row, 0, NULL);
		} else {
			uint32_t begin = open[track];
			open[track] = before[begin];
			end_span(store, k->spans.v[begin].row, store->start[row]);
		}
	}

	tl_time first, last;
	bool any = tl__kineto_extent(store, &first, &last);
	for (size_t track = 0; track < tracks; track++)
		for (uint32_t i = open[track]; i != UINT32_MAX; i = before[i]) {
			tl_row row = k->spans.v[i].row;
			tl__health_add(&store->health, TL_HEALTH_UNMATCHED_BEGIN, -1, row, 0, NULL);
			end_span(store, row, any && last > store->start[row] ? last : store->start[row]);
		}
	tl__free(open);
	tl__free(before);
	return 0;
}

/* displayTimeUnit is a display hint, but some files scaled their times by it. */
static void doubt_unit(tl_kineto *k)
{
	tl_store *store = k->store;
	tl_time first, last;
	bool ns = false;
	for (size_t i = 0; i < store->metadata_keys.n; i++)
		ns |= !strcmp(tl__str(store->strings, store->metadata_keys.v[i]), "displayTimeUnit") &&
		      !strcmp(tl__str(store->strings, store->metadata_values.v[i]), "\"ns\"");
	if (!ns)
		return;
	for (size_t row = 0; row < store->n; row++)
		if (store->flags[row] & (TL_EVENT_TS_FRACTION | TL_EVENT_DUR_FRACTION))
			return;
	if (tl__kineto_extent(store, &first, &last) && (tl_int128)last - first > 7 * PS_PER_DAY)
		tl__health_add(&store->health, TL_HEALTH_UNIT_DOUBT, -1, TL_ROW_NONE, 0, NULL);
}

int tl__kineto_settle_times(tl_kineto *k)
{
	settle_far(k);
	TL_TRY(tl__kineto_settle_zero(k));
	TL_TRY(settle_spans(k));
	doubt_unit(k);
	return 0;
}
