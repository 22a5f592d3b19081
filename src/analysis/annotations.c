/* SPDX-License-Identifier: MIT */
#include "analysis/annotations.h"

#include <stdlib.h>

#include "util/error.h"

typedef struct tl_annotation_span {
	uint32_t track;
	tl_time start, end;
	tl_time furthest; /* largest end on this track up to here: rises, so that it can be searched */
	tl_row row;
} span;

static int compare(const void *x, const void *y)
{
	const span *p = x, *q = y;
	if (p->track != q->track)
		return p->track < q->track ? -1 : 1;
	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	if (p->end != q->end)
		return p->end > q->end ? -1 : 1;
	return (p->row > q->row) - (p->row < q->row);
}

/* Names are few and annotations may be many, so each name is asked about once. */
static int takes_part(bool *out, tl_map *known, const tl_store *s, tl_row row, tl_annotation_filter filter)
{
	*out = false;
	if (s->kind[row] != TL_KIND_ANNOTATION || tl__end(s, row) == TL_TIME_NONE)
		return 0;
	*out = true;
	if (!filter)
		return 0;
	uint32_t answer = tl__map_get(known, s->name[row]);
	if (answer == TL_MAP_NONE) {
		answer = filter(tl__name(s, row)) ? 1 : 0;
		TL_TRY(tl__map_set(known, s->name[row], answer));
	}
	*out = answer != 0;
	return 0;
}

int tl__annotations_make(tl_annotations *list, const tl_store *s, tl_annotation_filter filter)
{
	TL_VEC(span) spans = {0};
	tl_map known = {0};
	bool wanted;
	int code = 0;
	if (list->made)
		return 0;
	for (tl_row row = 0; row < s->n && !code; row++) {
		code = takes_part(&wanted, &known, s, row, filter);
		if (!code && wanted)
			code = TL_VEC_PUSH(&spans, ((span){s->track[row], s->start[row], tl__end(s, row), 0, row}));
	}
	tl__map_free(&known);
	if (code < 0) {
		TL_VEC_FREE(&spans);
		return code;
	}
	if (spans.n)
		qsort(spans.v, spans.n, sizeof *spans.v, compare);
	for (size_t i = 0; i < spans.n; i++) {
		span *x = &spans.v[i];
		x->furthest = i && x[-1].track == x->track && x[-1].furthest > x->end ? x[-1].furthest : x->end;
	}
	*list = (tl_annotations){spans.v, spans.n, true};
	return 0;
}

void tl__annotations_free(tl_annotations *list)
{
	tl__free(list->v);
	*list = (tl_annotations){0};
}

/* The first annotation whose end reaches the event's is where `furthest` first does: found by halving. */
tl_row tl__annotations_enclosing(const tl_annotations *list, const tl_store *s, tl_row event)
{
	tl_time end = tl__end(s, event);
	uint32_t track = s->track[event];
	size_t low = 0, high = list->n;
	if (end == TL_TIME_NONE)
		return TL_ROW_NONE;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const span *x = &list->v[middle];
		if (x->track < track || (x->track == track && x->furthest < end))
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < list->n && list->v[low].track == track && list->v[low].start <= s->start[event];
	return found ? list->v[low].row : TL_ROW_NONE;
}
