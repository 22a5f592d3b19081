/* SPDX-License-Identifier: MIT */
/** @file statistics.h Which statistics a summary shows: the analyses make all, the SDK's callers choose. */
#ifndef TL_ANALYSIS_STATISTICS_H
#define TL_ANALYSIS_STATISTICS_H

#include "table/table.h"
#include "tracelens/analysis.h"

/**
 * Keeps the columns of the statistics in `options` (NULL: of `defaults`, n_defaults long) and puts them in that order:
 * those of one source one behind the other when `by_source`, else of one statistic. Does the same with the records of
 * kernel summaries, and takes out the `trunc_...` and percentage columns that were not asked for. TL_EINVAL (unknown
 * statistic), TL_ENOMEM.
 */
int tl__choose_statistics(tl_table *table, const tl_stat_options *options, const tl_statistic *defaults,
			  size_t n_defaults, bool by_source, tl_error *err);

#endif
