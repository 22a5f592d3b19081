/* SPDX-License-Identifier: MIT */
/** @file comparison.h Inside of tl_comparison. */
#ifndef TL_REPORT_COMPARISON_H
#define TL_REPORT_COMPARISON_H

#include "compare/reports.h"
#include "report/report.h"
#include "tracelens/compare.h"

struct tl_comparison {
	size_t n;
	char **tags, **paths; /* of the reports */
	tl_report **reports;  /* those made here, n of them: values of the result lie there; or NULL */
	bool truncated;       /* a trace was cut off */
	tl_cmp_result result;
};

#endif
