/* SPDX-License-Identifier: MIT */
/* A report: its tables in order, and what is said about them as a whole. */
#include "report/report.h"

#include <string.h>
#include <strings.h>

tl_report *tl__report_new(void)
{
	return tl__calloc(1, sizeof(tl_report));
}

void tl_report_free(tl_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->sheets.n; i++)
		tl_table_free(report->sheets.v[i]);
	TL_VEC_FREE(&report->sheets);
	TL_VEC_FREE(&report->rates);
	tl__free(report->arch_name);
	tl__free(report->roofline);
	tl__free(report->compared_with);
	tl_table_free(report->largest);
	tl__free(report);
}

int tl__report_add(tl_report *report, tl_table *sheet, tl_error *err)
{
	if (TL_VEC_PUSH(&report->sheets, sheet) < 0) {
		tl_table_free(sheet);
		return tl__nomem(err);
	}
	return 0;
}

int tl_report_add_table(tl_report *report, tl_table *table, tl_error *err)
{
	const char *name = table ? tl_table_name(table) : "";
	if (!*name) {
		tl_table_free(table);
		return tl__fail(err, TL_EINVAL, "a sheet needs a name");
	}
	for (size_t i = 0; i < report->sheets.n; i++) {
		if (strcasecmp(tl_table_name(report->sheets.v[i]), name) != 0)
			continue;
		tl_table_free(report->sheets.v[i]);
		report->sheets.v[i] = table;
		return 0;
	}
	return tl__report_add(report, table, err);
}

size_t tl_report_count(const tl_report *report)
{
	return report->sheets.n;
}

const tl_table *tl_report_table(const tl_report *report, size_t index)
{
	return index < report->sheets.n ? report->sheets.v[index] : NULL;
}

const tl_table *tl_report_find(const tl_report *report, const char *name)
{
	for (size_t i = 0; name && i < report->sheets.n; i++)
		if (!strcmp(tl_table_name(report->sheets.v[i]), name))
			return report->sheets.v[i];
	return NULL;
}

bool tl_report_is_empty(const tl_report *report)
{
	return report->empty;
}

size_t tl_report_ambiguous(const tl_report *report, tl_time *time)
{
	if (time)
		*time = report->ambiguous_time;
	return report->ambiguous;
}

size_t tl_report_excluded(const tl_report *report, tl_time *time)
{
	if (time)
		*time = report->excluded_time;
	return report->excluded;
}

bool tl_report_get_comparison(tl_report_comparison *out, const tl_report *report)
{
	if (!report->compared)
		return false;
	*out = report->comparison;
	out->path = report->compared_with ? report->compared_with : "";
	out->largest = report->largest;
	return true;
}
