/* SPDX-License-Identifier: MIT */
/** @file store_same.h Whether two stores hold the same, to the last id; for tests and fuzz targets. */
#ifndef TL_TRACE_STORE_SAME_H
#define TL_TRACE_STORE_SAME_H

#include <string.h>

#include "trace/store.h"

static inline bool tl__same_ops(const tl_store *a, const tl_store *b)
{
	bool same = a->ops.n == b->ops.n;
	for (size_t i = 0; i < a->ops.n && same; i++) {
		const tl_op_args *x = &a->ops.v[i], *y = &b->ops.v[i];
		same = x->dims == y->dims && x->types == y->types && x->strides == y->strides &&
		       x->concrete == y->concrete && x->kernel_file == y->kernel_file && x->external == y->external &&
		       x->sequence == y->sequence && x->fwd_thread == y->fwd_thread;
	}
	return same;
}

static inline bool tl__same_links(const tl_store *a, const tl_store *b)
{
	bool same = a->links.n == b->links.n;
	for (size_t i = 0; i < a->links.n && same; i++) {
		const tl_link_args *x = &a->links.v[i], *y = &b->links.v[i];
		same = x->correlation == y->correlation && x->external == y->external && x->stream == y->stream &&
		       x->device == y->device && x->grid == y->grid && x->block == y->block &&
		       x->collective == y->collective;
	}
	return same;
}

static inline bool tl__same_flows(const tl_store *a, const tl_store *b)
{
	bool same = a->flows.n == b->flows.n;
	for (size_t i = 0; i < a->flows.n && same; i++)
		same = a->flows.v[i].id == b->flows.v[i].id && a->flows.v[i].phase == b->flows.v[i].phase;
	return same;
}

static inline bool tl__same_tracks(const tl_store *a, const tl_store *b)
{
	bool same = a->tracks.n == b->tracks.n && a->processes.n == b->processes.n;
	for (size_t i = 0; i < a->tracks.n && same; i++) {
		const tl_track *x = &a->tracks.v[i], *y = &b->tracks.v[i];
		same = x->source == y->source && x->process == y->process && x->pid == y->pid && x->tid == y->tid &&
		       x->thread_name == y->thread_name;
	}
	for (size_t i = 0; i < a->processes.n && same; i++) {
		const tl_process *x = &a->processes.v[i], *y = &b->processes.v[i];
		same = x->source == y->source && x->pid == y->pid && x->name == y->name && x->labels == y->labels;
	}
	return same;
}

static inline bool tl__same_strings(const tl_store *a, const tl_store *b)
{
	size_t n = tl__strings_count(a->strings);
	bool same = tl__strings_count(b->strings) == n;
	for (tl_str id = 0; id < n && same; id++) {
		size_t length = tl__str_len(a->strings, id);
		same = tl__str_len(b->strings, id) == length &&
		       !memcmp(tl__str(a->strings, id), tl__str(b->strings, id), length);
	}
	return same;
}

/* Places in the text of `b` are `shift` bytes further on. */
static inline const char *tl__health_differs(const tl_health *a, const tl_health *b, int64_t shift)
{
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++) {
		const tl_health_entry *x = &a->entry[kind], *y = &b->entry[kind];
		int64_t moved = x->first_offset < 0 ? 0 : shift;
		if (x->count != y->count || x->first_offset + moved != y->first_offset ||
		    x->first_row != y->first_row || x->time != y->time || strcmp(x->detail, y->detail) != 0)
			return tl__health_name((tl_health_kind)kind);
	}
	return NULL;
}

/**
 * What two stores differ in, for people; NULL when they hold the same. The text of `b` may begin with `shift` bytes
 * that mean nothing.
 */
static inline const char *tl__store_differs(const tl_store *a, const tl_store *b, int64_t shift)
{
#define SAME(array, n) (!(n) || !memcmp(a->array, b->array, (n) * sizeof *a->array))
#define SAME_VEC(vec) (a->vec.n == b->vec.n && SAME(vec.v, a->vec.n)) /* of what has no padding */
	bool phases = a->phases.n == b->phases.n;
	for (size_t i = 0; i < a->phases.n && phases; i++)
		phases = a->phases.v[i].name == b->phases.v[i].name && a->phases.v[i].count == b->phases.v[i].count;
	return a->n != b->n                                             ? "number of events"
	       : !tl__same_strings(a, b)                                ? "texts"
	       : !SAME(name, a->n)                                      ? "names"
	       : !SAME(category, a->n) || !SAME_VEC(categories)         ? "categories"
	       : !SAME(kind, a->n)                                      ? "kinds"
	       : !SAME(flags, a->n)                                     ? "flags"
	       : !SAME(track, a->n) || !tl__same_tracks(a, b)           ? "tracks"
	       : !SAME(start, a->n) || !SAME(dur, a->n)                 ? "times"
	       : !SAME(side, a->n)                                      ? "places of arguments"
	       : !tl__same_ops(a, b)                                    ? "arguments of operations"
	       : !tl__same_links(a, b) || !SAME_VEC(collectives)        ? "arguments of launches"
	       : !SAME_VEC(python)                                      ? "arguments of Python frames"
	       : !tl__same_flows(a, b)                                  ? "arrows"
	       : !SAME_VEC(extras)                                      ? "further arguments"
	       : !SAME_VEC(metadata_keys) || !SAME_VEC(metadata_values) ? "metadata"
	       : !phases                                                ? "phases"
	       : a->base_us != b->base_us || a->base_ns != b->base_ns   ? "base"
	       : a->sources != b->sources                               ? "number of documents"
	       : a->truncated != b->truncated                           ? "end"
	       : a->text_bytes + (uint64_t)shift != b->text_bytes       ? "bytes"
								  : tl__health_differs(&a->health, &b->health, shift);
#undef SAME
#undef SAME_VEC
}

#endif
