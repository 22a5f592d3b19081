/* SPDX-License-Identifier: MIT */
/** @file no_memory.h For unit tests: work without memory. Include after cmocka.h. */
#ifndef TL_UTIL_NO_MEMORY_H
#define TL_UTIL_NO_MEMORY_H

#include "util/alloc.h"

/**
 * Does some work again and again: first all its allocations fail, then all but one, and so on until it succeeds. Each
 * time before it must return TL_ENOMEM. Returns how often it failed.
 */
static inline int64_t fail_each_allocation(int (*work)(void *of), void *of)
{
	for (int64_t n = 0; n < 100000; n++) {
		tl__alloc_fail_after(n);
		int code = work(of);
		tl__alloc_fail_after(-1);
		if (code == 0)
			return n;
		assert_int_equal(code, TL_ENOMEM);
	}
	fail_msg("it does not get by with 100000 allocations");
	return 0;
}

#endif
