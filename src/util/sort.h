/* SPDX-License-Identifier: MIT */
/**
 * @file sort.h
 * Sorting numbers of things (events, rows of a table) by keys that lie elsewhere. A trace is a handful of ascending
 * stretches (operations, Python frames, launches, kernels of each stream), so a merge sort over
 * natural runs is linear on real input and n log n at worst. Included where the order is known, so
 * that the comparison is inlined.
 */
#ifndef TL_UTIL_SORT_H
#define TL_UTIL_SORT_H

#include <stdbool.h>
#include <string.h>

#include "util/alloc.h"

/** Strict order of two numbers. */
typedef bool (*tl_less)(const void *ctx, uint32_t a, uint32_t b);

/** Runs shorter than this are grown by insertion. */
#define TL_SORT_MIN_RUN 24
/** Enough for 2^32 elements: from top to bottom of the stack of runs lengths at least double. */
#define TL_SORT_MAX_RUNS 64

/** Merges v[0, m) and v[m, n); tmp has room for m. */
static inline void tl__sort_merge(uint32_t *v, size_t m, size_t n, uint32_t *tmp, tl_less less, const void *ctx)
{
	/* Runs often hardly overlap: what already is in place at the front needs no copy. */
	size_t lo = 0, hi = m;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (less(ctx, v[m], v[mid]))
			hi = mid;
		else
			lo = mid + 1;
	}
	if (lo == m)
		return;
	size_t left = m - lo, i = 0, j = m, k = lo;
	memcpy(tmp, v + lo, left * sizeof *v);
	while (i < left && j < n)
		v[k++] = less(ctx, v[j], tmp[i]) ? v[j++] : tmp[i++];
	memcpy(v + k, tmp + i, (left - i) * sizeof *v);
}

/** End of the run that begins at `from`, made ascending. */
static inline size_t tl__sort_run(uint32_t *v, size_t from, size_t n, tl_less less, const void *ctx)
{
	size_t to = from + 1;
	if (to < n && less(ctx, v[to], v[from])) {
		while (to < n && less(ctx, v[to], v[to - 1]))
			to++;
		for (size_t a = from, b = to - 1; a < b; a++, b--) {
			uint32_t x = v[a];
			v[a] = v[b];
			v[b] = x;
		}
	} else {
		while (to < n && !less(ctx, v[to], v[to - 1]))
			to++;
	}
	for (; to < n && to - from < TL_SORT_MIN_RUN; to++) {
		uint32_t x = v[to];
		size_t at = to;
		for (; at > from && less(ctx, x, v[at - 1]); at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
	return to;
}

/** Sorts v; what compares equal stays in its order. 0 or TL_ENOMEM (room for a copy is needed unless v is in order). */
static inline int tl__sort(uint32_t *v, size_t n, tl_less less, const void *ctx)
{
	if (n < 2)
		return 0;
	size_t at = tl__sort_run(v, 0, n, less, ctx);
	if (at == n)
		return 0;
	uint32_t *tmp = tl__malloc(n * sizeof *tmp);
	if (!tmp)
		return TL_ENOMEM;
	size_t first[TL_SORT_MAX_RUNS + 1] = {0, at}; /* first[i]..first[i + 1] is run i */
	size_t runs = 1;
	while (runs > 1 || at < n) {
		if (at < n) {
			at = tl__sort_run(v, at, n, less, ctx);
			first[++runs] = at;
		}
		/* Merge until every run is at least twice as long as the one above it, in the end all. */
		while (runs > 1) {
			size_t from = first[runs - 2], middle = first[runs - 1], to = first[runs];
			if (at < n && middle - from >= 2 * (to - middle))
				break;
			tl__sort_merge(v + from, middle - from, to - from, tmp, less, ctx);
			first[--runs] = to;
		}
	}
	tl__free(tmp);
	return 0;
}

#endif
