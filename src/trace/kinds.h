/* SPDX-License-Identifier: MIT */
/** @file kinds.h Which category makes an event what. */
#ifndef TL_TRACE_KINDS_H
#define TL_TRACE_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/store.h"

/**
 * Kind of the events of a category, letter case ignored. `*known`: the category is one that
 * profilers are known to write (also when nothing uses it).
 */
tl_kind tl__kind_of_category(const char *text, size_t n, bool *known);

/** Whether an event of this kind is placed in time: host and GPU work, Python frames, annotations. */
static inline bool tl__kind_has_time(uint8_t kind)
{
	return kind >= TL_KIND_CPU_OP && kind <= TL_KIND_GPU_ANNOTATION;
}

#endif
