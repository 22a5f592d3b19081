/* SPDX-License-Identifier: MIT */
/** @file text.h Small questions about texts. */
#ifndef TL_UTIL_TEXT_H
#define TL_UTIL_TEXT_H

#include <stdbool.h>
#include <string.h>

/** Whether a text (NULL: none) ends in `ending`, which is in the same case. */
static inline bool tl__ends_with(const char *text, const char *ending)
{
	size_t n = text ? strlen(text) : 0, m = strlen(ending);
	return n >= m && !memcmp(text + n - m, ending, m);
}

#endif
