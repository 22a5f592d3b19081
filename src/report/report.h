/* SPDX-License-Identifier: MIT */
/** @file report.h Inside of tl_report, and how its files come into being together or not at all. */
#ifndef TL_REPORT_REPORT_H
#define TL_REPORT_REPORT_H

#include "io/staging.h"
#include "io/xlsx_writer.h"
#include "table/table.h"
#include "tracelens/report.h"
#include "util/alloc.h"
#include "util/error.h"

/** A rate that rooflines count with. */
typedef struct tl_rate_used {
	char spec[48]; /* "matrix_bf16" */
	double rate;   /* FLOP/s; 0: none is known */
	bool is_peak;
	int64_t operations; /* how many have this compute spec */
} tl_rate_used;

struct tl_report {
	TL_VEC(tl_table *) sheets; /* in workbook order */
	bool empty;
	size_t excluded; /* GPU events left out of the timeline */
	tl_time excluded_time;
	size_t ambiguous; /* of them those that launches of several processes could own */
	tl_time ambiguous_time;
	/* the architecture of the rooflines; NULL and empty without one */
	char *arch_name, *roofline; /* `roofline`: see tl_report_roofline */
	double bandwidth;           /* bytes per second; 0 when unknown */
	TL_VEC(tl_rate_used) rates; /* in order of first appearance */
	/* the trace that it was compared with; see tl_report_comparison. `largest` is owned */
	bool compared;
	char *compared_with;
	tl_report_comparison comparison;
	tl_table *largest;
};

/** A report without sheets; NULL when out of memory. */
tl_report *tl__report_new(void);
/** Appends a sheet, which then belongs to the report (and is freed on failure, too). 0 or TL_ENOMEM. */
int tl__report_add(tl_report *report, tl_table *sheet, tl_error *err);

/* ---- rooflines, report/roofline.c ---- */

/** Notes which rates of `arch` the sheets that are there count with. */
int tl__report_add_roofline(tl_report *report, const tl_arch *arch, tl_error *err);
/** Adds to the health table which rooflines count with a peak rate, and which are missing; replaces it then. */
int tl__report_roofline_findings(tl_table **health, const tl_report *report, tl_error *err);
/** `,"roofline":{...}`, or nothing without an architecture. */
void tl__report_roofline_json(tl_buf *out, const tl_report *report);

/* ---- writing, report/write.c: to temporary names; nothing is visible before tl__staging_commit ---- */

/** One table as NAME.csv in the directory of tl__staging_dir. TL_EIO, TL_ENOMEM. */
int tl__stage_csv(tl_staging *staging, const tl_table *table, tl_error *err);
/** A workbook as the file `path`. As tl__xlsx_write, which makes it. */
int tl__stage_workbook(tl_staging *staging, const tl_xlsx_book *book, const char *path, tl_error *err);
#endif
