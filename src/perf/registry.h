/* SPDX-License-Identifier: MIT */
/** @file registry.h Names that have a category. */
#ifndef TL_PERF_REGISTRY_H
#define TL_PERF_REGISTRY_H

#include <stddef.h>

/** Name number `index` of those with a category but no model, or NULL past the last. */
const char *tl__perf_category_name(size_t index);

#endif
