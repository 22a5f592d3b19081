/* SPDX-License-Identifier: MIT */
/*
 * With which rates the rooflines of a report count. The tables cannot say it in a column of their own, because their
 * columns are those of the reference; so it stands on the first sheet, in the summary, in the JSON, and where a
 * rate is not the achievable one among the findings.
 */
#include <math.h>
#include <string.h>

#include "report/report.h"
#include "util/buf.h"
#include "util/value.h"

static tl_rate_used *find_rate(tl_report *report, const char *spec)
{
	for (size_t i = 0; i < report->rates.n; i++)
		if (!strcmp(report->rates.v[i].spec, spec))
			return &report->rates.v[i];
	return NULL;
}

/* Adds the specs of a table; operations are counted in the table that has each of them once. */
static int collect(tl_report *report, const tl_table *table, const tl_arch *arch)
{
	ptrdiff_t spec = tl_table_find_column(table, "Compute Spec");
	bool once = !strcmp(tl_table_name(table), "unified_perf_summary");
	ptrdiff_t count = once ? tl_table_find_column(table, "operation_count") : -1;
	if (spec < 0)
		spec = tl_table_find_column(table, "Compute Spec_first");
	for (size_t r = 0; spec >= 0 && r < tl_table_rows(table); r++) {
		tl_rate_used used = {0};
		size_t n = tl_table_text(table, (size_t)spec, r, used.spec, sizeof used.spec);
		if (!n || n >= sizeof used.spec)
			continue;
		tl_rate_used *seen = find_rate(report, used.spec);
		if (!seen) {
			used.rate = tl_arch_rate(arch, used.spec, &used.is_peak);
			if (TL_VEC_PUSH(&report->rates, used) < 0)
				return TL_ENOMEM;
			seen = &report->rates.v[report->rates.n - 1];
		}
		seen->operations += count >= 0 ? tl_table_int(table, (size_t)count, r) : 0;
	}
	return 0;
}

/* "MI300X, 5300 GB/s; matrix_bf16 708 TFLOPS (achievable), vector_fp8 no rate" */
static int describe(tl_report *report)
{
	tl_buf text = {0};
	tl__buf_puts(&text, report->arch_name);
	if (report->bandwidth > 0)
		tl__buf_printf(&text, ", %.6g GB/s", report->bandwidth / 1e9);
	else
		tl__buf_puts(&text, ", no bandwidth");
	for (size_t i = 0; i < report->rates.n; i++) {
		const tl_rate_used *r = &report->rates.v[i];
		tl__buf_printf(&text, "%s %s ", i ? "," : ";", r->spec);
		if (r->rate > 0)
			tl__buf_printf(&text, "%.6g TFLOPS (%s)", r->rate / 1e12, r->is_peak ? "peak" : "achievable");
		else
			tl__buf_puts(&text, "no rate");
	}
	const char *all = tl__buf_text(&text);
	report->roofline = all ? tl__strdup(all) : NULL;
	tl__buf_free(&text);
	return report->roofline ? 0 : TL_ENOMEM;
}

/* The same as a sheet: the columns of the others are the reference's and cannot say it. */
static int add_sheet(tl_report *report, const tl_arch *arch, tl_error *err)
{
	tl_table *sheet = tl__table_new("roofline_rates", NULL, report->rates.n);
	bool ready = sheet && tl__table_add(sheet, "Compute Spec", "", TL_COL_STRING) &&
		     tl__table_add(sheet, "Rate (TFLOPS)", "TFLOPS", TL_COL_DOUBLE) &&
		     tl__table_add(sheet, "Rate Kind", "", TL_COL_STRING) &&
		     tl__table_add(sheet, "Bandwidth (GB/s)", "GB/s", TL_COL_DOUBLE) &&
		     tl__table_add(sheet, "Source", "", TL_COL_STRING);
	for (size_t i = 0; ready && i < report->rates.n; i++) {
		const tl_rate_used *r = &report->rates.v[i];
		const char *source = tl_arch_source(arch, r->spec);
		tl_column *c = sheet->columns.v;
		c[0].str[i] = tl__table_str(sheet, r->spec);
		c[1].f64[i] = r->rate > 0 ? r->rate / 1e12 : (double)NAN;
		c[2].str[i] = tl__table_str(sheet, !(r->rate > 0) ? "none" : r->is_peak ? "peak" : "achievable");
		c[3].f64[i] = report->bandwidth > 0 ? report->bandwidth / 1e9 : (double)NAN;
		c[4].str[i] = *source ? tl__table_str(sheet, source) : TL_STR_NONE;
		ready = c[0].str[i] != TL_STR_FAIL && c[2].str[i] != TL_STR_FAIL && c[4].str[i] != TL_STR_FAIL;
	}
	if (ready && report->rates.n)
		return tl__report_add(report, sheet, err); /* takes it over, also when it fails */
	tl_table_free(sheet);
	return ready ? 0 : tl__nomem(err);
}

int tl__report_add_roofline(tl_report *report, const tl_arch *arch, tl_error *err)
{
	int code = 0;
	report->arch_name = tl__strdup(tl_arch_name(arch));
	report->bandwidth = tl_arch_bandwidth(arch);
	if (!report->arch_name)
		return tl__nomem(err);
	for (size_t i = 0; i < report->sheets.n && code == 0; i++)
		code = collect(report, report->sheets.v[i], arch);
	if (code == 0)
		code = describe(report);
	return code < 0 ? tl__nomem(err) : add_sheet(report, arch, err);
}

/* ---- findings ---- */

static bool is_peak(const tl_rate_used *r)
{
	return r->is_peak;
}

static bool is_missing(const tl_rate_used *r)
{
	return !(r->rate > 0);
}

static bool is_any(const tl_rate_used *r)
{
	(void)r;
	return true;
}

/* A row of trace_health about the specs that are `concerned`; none when there are none. */
static int add_finding(tl_table **health, const tl_report *report, bool (*concerned)(const tl_rate_used *),
		       const char *kind, const char *meaning, tl_error *err)
{
	tl_buf text = {0};
	int64_t operations = 0;
	size_t n = 0;
	for (size_t i = 0; i < report->rates.n; i++) {
		const tl_rate_used *r = &report->rates.v[i];
		if (!concerned(r))
			continue;
		tl__buf_printf(&text, "%s%s", n++ ? ", " : "", r->spec);
		operations += r->operations;
	}
	if (!n) {
		tl__buf_free(&text);
		return 0;
	}
	tl__buf_printf(&text, " on %s: %s", report->arch_name, meaning);

	tl_table *row = tl__table_new(tl_table_name(*health), (*health)->strings, 1), *both = NULL;
	int code = row && tl__buf_text(&text) ? 0 : TL_ENOMEM;
	for (size_t i = 0; code == 0 && i < (*health)->columns.n; i++) {
		const tl_column *like = &(*health)->columns.v[i];
		tl_column *c = tl__table_add(row, like->name, like->unit, (tl_storage)like->storage);
		if (!c) {
			code = TL_ENOMEM;
		} else if (!strcmp(like->name, "kind")) {
			c->str[0] = tl__table_str(row, kind);
			code = c->str[0] == TL_STR_FAIL ? TL_ENOMEM : 0;
		} else if (!strcmp(like->name, "meaning")) {
			c->str[0] = tl__table_str(row, text.v);
			code = c->str[0] == TL_STR_FAIL ? TL_ENOMEM : 0;
		} else if (!strcmp(like->name, "count")) {
			c->i64[0] = operations;
		} else if (strcmp(like->name, "repair") != 0) {
			code = tl__column_set_null(row, c, 0);
		}
	}
	if (code == 0)
		code = tl__table_concat(&both, *health, row, NULL);
	tl__buf_free(&text);
	tl_table_free(row);
	if (code < 0)
		return tl__nomem(err);
	tl_table_free(*health);
	*health = both;
	return 0;
}

int tl__report_roofline_findings(tl_table **health, const tl_report *report, tl_error *err)
{
	if (!report->arch_name)
		return 0;
	if (!(report->bandwidth > 0))
		return add_finding(health, report, is_any, "no_bandwidth",
				   "the description of the GPU has no memory bandwidth, so these operations have no "
				   "roofline.",
				   err);
	TL_TRY(add_finding(
		health, report, is_peak, "peak_rate",
		"only the data sheet's peak rate is known, so compute-bound rooflines of these operations are "
		"shorter than any kernel can run, and their percentages low.",
		err));
	return add_finding(health, report, is_missing, "no_rate",
			   "no rate is known, so these operations have no roofline.", err);
}

/* ---- for the JSON ---- */

void tl__report_roofline_json(tl_buf *out, const tl_report *report)
{
	if (!report->arch_name)
		return;
	tl__buf_puts(out, ",\"roofline\":{\"platform\":");
	tl__json_string(out, report->arch_name, strlen(report->arch_name));
	tl__buf_puts(out, ",\"mem_bw_gbps\":");
	if (report->bandwidth > 0)
		tl__buf_double(out, report->bandwidth / 1e9);
	else
		tl__buf_puts(out, "null");
	tl__buf_puts(out, ",\"rates\":[");
	for (size_t i = 0; i < report->rates.n; i++) {
		const tl_rate_used *r = &report->rates.v[i];
		tl__buf_puts(out, i ? ",{\"spec\":" : "{\"spec\":");
		tl__json_string(out, r->spec, strlen(r->spec));
		tl__buf_puts(out, ",\"tflops\":");
		if (r->rate > 0)
			tl__buf_double(out, r->rate / 1e12);
		else
			tl__buf_puts(out, "null");
		tl__buf_printf(out, ",\"rate\":%s}",
			       !(r->rate > 0) ? "null"
			       : r->is_peak   ? "\"peak\""
					      : "\"achievable\"");
	}
	tl__buf_puts(out, "]}");
}

const char *tl_report_roofline(const tl_report *report)
{
	return report->roofline ? report->roofline : "";
}
