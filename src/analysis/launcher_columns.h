/* SPDX-License-Identifier: MIT */
/** @file launcher_columns.h Columns of the launcher table that only the SDK shows (spec 02 section 2.3). */
#ifndef TL_ANALYSIS_LAUNCHER_COLUMNS_H
#define TL_ANALYSIS_LAUNCHER_COLUMNS_H

#include "analysis/analyzer.h"

/** Adds `pid`, `tid`, `external_id` in front of the kernel details. */
int tl__launcher_ids(tl_analyzer *a, tl_table *launchers, tl_error *err);

/**
 * Adds `call_stack`, the names of the launcher and of the nn.Modules above it, innermost first, and `parent_module`,
 * the first of these modules without its `_<digits>` ("NA" when there is none), behind the kernel details.
 */
int tl__launcher_call_stacks(tl_analyzer *a, tl_table *launchers, tl_error *err);

#endif
