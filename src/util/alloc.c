/* SPDX-License-Identifier: MIT */
#include "util/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tracelens/common.h"

/* Process wide, like the injections of io/input.c and io/output.c: nothing but tests writes them. */
static _Atomic int64_t fail_after = -1;

void tl__alloc_fail_after(int64_t n)
{
	atomic_store(&fail_after, n);
}

static int injected_failure(void)
{
	int64_t left = atomic_load_explicit(&fail_after, memory_order_relaxed);
	if (left < 0)
		return 0;
	if (left == 0)
		return 1;
	/* two threads may both count; the exact victim does not matter */
	atomic_compare_exchange_strong(&fail_after, &left, left - 1);
	return 0;
}

void *tl__malloc(size_t size)
{
	return injected_failure() ? NULL : malloc(size ? size : 1);
}

void *tl__calloc(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	return injected_failure() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *tl__realloc(void *p, size_t size)
{
	return injected_failure() ? NULL : realloc(p, size ? size : 1);
}

void tl__free(void *p)
{
	free(p);
}

char *tl__strndup(const char *text, size_t n)
{
	char *copy = tl__malloc(n + 1);
	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

char *tl__strdup(const char *text)
{
	return tl__strndup(text, strlen(text));
}

int tl__grow(void *data, size_t *cap, size_t need, size_t size)
{
	void **p = data, *grown;
	size_t wanted = *cap ? *cap : 16;

	while (wanted < need) {
		if (wanted > SIZE_MAX / 2 / size)
			return TL_ENOMEM;
		wanted *= 2;
	}
	grown = tl__realloc(*p, wanted * size);
	if (!grown)
		return TL_ENOMEM;
	*p = grown;
	*cap = wanted;
	return 0;
}
