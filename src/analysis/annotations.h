/* SPDX-License-Identifier: MIT */
/** @file annotations.h Which annotation of its thread encloses an event. */
#ifndef TL_ANALYSIS_ANNOTATIONS_H
#define TL_ANALYSIS_ANNOTATIONS_H

#include "trace/store.h"

/** Annotations by track, start, longest first. Zero-initialise; free with tl__annotations_free. */
typedef struct tl_annotations {
	struct tl_annotation_span *v;
	size_t n;
	bool made;
} tl_annotations;

/** Whether an annotation of this name takes part. */
typedef bool (*tl_annotation_filter)(const char *name);

/** Gathers the annotations of a store (`filter` NULL: all); done once. 0 or TL_ENOMEM. */
int tl__annotations_make(tl_annotations *list, const tl_store *store, tl_annotation_filter filter);
void tl__annotations_free(tl_annotations *list);
/** The first annotation on the event's thread that contains it, or TL_ROW_NONE. */
tl_row tl__annotations_enclosing(const tl_annotations *list, const tl_store *store, tl_row event);

#endif
