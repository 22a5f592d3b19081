/* SPDX-License-Identifier: MIT */
/** @file embedded.h Files that the library carries with it (see scripts/embed.py). */
#ifndef TL_PERF_EMBEDDED_H
#define TL_PERF_EMBEDDED_H

#include <stddef.h>

typedef struct tl_embedded {
	const char *name; /* of the file, without extension */
	const char *text;
	size_t size;
} tl_embedded;

/** The files of data/arch; ends with a NULL name. */
extern const tl_embedded tl__embedded[];

#endif
