/* SPDX-License-Identifier: MIT */
/**
 * @file alloc.h
 * Every allocation of the library goes through here, so that a test can make the
 * n-th one fail (see tl__alloc_fail_after).
 *
 * Growable arrays are flat and doubled with realloc: above the allocator's mmap
 * threshold that is mremap on Linux, so nothing is copied and untouched pages cost
 * nothing. Columns of the event store rely on it.
 */
#ifndef TL_UTIL_ALLOC_H
#define TL_UTIL_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "tracelens/common.h"

void *tl__malloc(size_t size);
void *tl__calloc(size_t count, size_t size); /* checks the product */
void *tl__realloc(void *p, size_t size);
void tl__free(void *p);
char *tl__strdup(const char *text);
char *tl__strndup(const char *text, size_t n); /* always NUL terminated */

/**
 * Tests only: the n-th allocation from now on (0 = the next) fails, and all after it;
 * negative switches that off. Process wide, compiled in everywhere, costs one
 * predictable branch.
 */
void tl__alloc_fail_after(int64_t n);

/**
 * Makes room for `need` elements in a growable array: `*data`, `*cap`, element size
 * `size`. Doubles. Returns 0 or TL_ENOMEM, and then leaves the array as it was.
 */
int tl__grow(void *data, size_t *cap, size_t need, size_t size);

/** A growable array of `type`: declare `TL_VEC(int) v = {0};`, free with TL_VEC_FREE. */
#define TL_VEC(type)           \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}
/** Room for `more` further elements; 0 or TL_ENOMEM. */
#define TL_VEC_RESERVE(a, more)              \
	((a)->n + (size_t)(more) <= (a)->cap \
		 ? 0                         \
		 : tl__grow((void *)&(a)->v, &(a)->cap, (a)->n + (size_t)(more), sizeof *(a)->v))
/** Appends one element; 0 or TL_ENOMEM. */
#define TL_VEC_PUSH(a, x) (TL_VEC_RESERVE(a, 1) < 0 ? TL_ENOMEM : ((a)->v[(a)->n++] = (x), 0))
#define TL_VEC_FREE(a) (tl__free((a)->v), (a)->v = NULL, (a)->n = (a)->cap = 0)

#endif
