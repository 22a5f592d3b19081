/* SPDX-License-Identifier: MIT */
/** @file entry_point.h The line of a Python program that an operation is called from (spec 02 section 5.5). */
#ifndef TL_ANALYSIS_ENTRY_POINT_H
#define TL_ANALYSIS_ENTRY_POINT_H

#include "util/value.h"

typedef enum tl_traversal {
	TL_ENTRY_NOT_FOUND,
	TL_ENTRY_INWARD, /* a frame below the operation that bears its name */
	TL_ENTRY_OUTWARD /* the nearest frame above it that is no wrapper */
} tl_traversal;

typedef struct tl_entry_point {
	tl_traversal traversal;
	size_t operation, frame; /* where they are in the stack */
} tl_entry_point;

/**
 * Looks for the frame in a call stack, outermost first: the operation is the last name that is equal to `operation` or,
 * since stacks leave numbers out, to it without its `_<digits>`.
 */
tl_entry_point tl__entry_point(const tl_value *stack, size_t n, const char *operation);

/** Whether a frame belongs to the machinery between program and operation, such as `torch/_ops.py`. */
bool tl__is_wrapper_frame(const char *frame);

#endif
