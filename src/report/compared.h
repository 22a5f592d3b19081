/* SPDX-License-Identifier: MIT */
/** @file compared.h The comparison inside a report: the other trace comes, is compared, and goes. */
#ifndef TL_REPORT_COMPARED_H
#define TL_REPORT_COMPARED_H

#include "compare/inline_diff.h"
#include "tracelens/report.h"

/** What is left when the other trace is gone. Zero-initialised or made, it is freed with tl__compared_free. */
typedef struct tl_compared {
	tl_inline_diff diff;
	tl_table *stats;  /* sheet diff_stats */
	tl_table *health; /* sheet comparison_health */
	bool identical;
} tl_compared;

/**
 * Opens the other trace of options->comparison_path. TL_EEMPTY (no GPU event with a usable time), TL_EFORMAT (cut off,
 * among others), and what tl_trace_open gives; errors name the file.
 */
int tl__compared_open(tl_trace **out, const tl_report_options *options, tl_error *err);
/** The same checks of options->comparison_tree. */
int tl__compared_check(const tl_report_options *options, tl_error *err);
/** Compares `tree` with `other`; neither is needed afterwards. */
int tl__compared_new(tl_compared *out, const tl_tree *tree, const tl_tree *other, tl_error *err);
void tl__compared_free(tl_compared *compared);

#endif
