/* SPDX-License-Identifier: MIT */
/* A report as CSV files, a workbook and JSON; all print the same tables. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compare/inline_diff.h"
#include "report/report.h"
#include "table/csv.h"
#include "util/aside.h"
#include "util/buf.h"
#include "util/value.h"

static const tl_report_heading no_heading = {"", ""};

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* ---- CSV ---- */

/* Fewer rows are written about as fast as a thread starts. */
#define ROWS_FOR_TWO 1000

/* See tl__staging_file; of the file for a table. */
static int stage_name(char **path, char **shown, tl_staging *staging, const tl_table *table, tl_error *err)
{
	tl_buf name = {0};
	tl__buf_printf(&name, "%s.csv", tl_table_name(table));
	const char *text = tl__buf_text(&name);
	int code = text ? tl__staging_file(path, shown, staging, text, err) : tl__nomem(err);
	tl__buf_free(&name);
	return code;
}

int tl__stage_csv(tl_staging *staging, const tl_table *table, tl_error *err)
{
	char *path = NULL, *shown = NULL;
	int code = stage_name(&path, &shown, staging, table, err);
	if (code == 0)
		code = tl__table_write_csv(table, path, shown, false, err);
	tl__free(path);
	tl__free(shown);
	return code;
}

/* The sheets of a report, which two threads write. */
typedef struct csv_files {
	const tl_report *report;
	char **path, **shown;
	_Atomic size_t next; /* not begun yet */
} csv_files;

typedef struct csv_writer {
	csv_files *files;
	size_t failed; /* the sheet that could not be written; SIZE_MAX: none */
	tl_error err;
} csv_writer;

static void write_sheets(void *user)
{
	csv_writer *w = user;
	csv_files *f = w->files;
	w->failed = SIZE_MAX;
	for (size_t i; (i = f->next++) < f->report->sheets.n;)
		if (tl__table_write_csv(f->report->sheets.v[i], f->path[i], f->shown[i], false, &w->err) < 0) {
			w->failed = i;
			f->next = f->report->sheets.n;
		}
}

static int write_files(csv_files *files, bool threaded, tl_error *err)
{
	csv_writer writers[2] = {{.files = files, .err = TL_ERROR_INIT}, {.files = files, .err = TL_ERROR_INIT}};
	tl_aside aside;
	tl__aside_start(&aside, write_sheets, &writers[1], threaded);
	write_sheets(&writers[0]);
	tl__aside_finish(&aside);
	const csv_writer *first = writers[1].failed < writers[0].failed ? &writers[1] : &writers[0];
	if (first->failed == SIZE_MAX)
		return 0;
	if (err)
		*err = first->err;
	return first->err.code;
}

static int stage_csvs(tl_staging *staging, const tl_report *report, const char *dir, bool threaded, tl_error *err)
{
	size_t n = report->sheets.n, rows = 0;
	TL_TRY(tl__staging_dir(staging, dir, err));
	char **paths = tl__calloc(2 * n + 1, sizeof *paths); /* then those to be shown */
	int code = paths ? 0 : tl__nomem(err);
	for (size_t i = 0; i < n && code == 0; i++) {
		code = stage_name(&paths[i], &paths[n + i], staging, report->sheets.v[i], err);
		rows += tl_table_rows(report->sheets.v[i]);
	}
	if (code == 0) {
		csv_files files = {.report = report, .path = paths, .shown = paths + n};
		code = write_files(&files, threaded && rows >= ROWS_FOR_TWO, err);
	}
	for (size_t i = 0; i < 2 * n && paths; i++)
		tl__free(paths[i]);
	tl__free(paths);
	return code;
}

/* ---- XLSX ---- */

/*
 * libxlsxwriter opens and writes a file by its name and, when that fails, prints a line on standard error. So it
 * gets a file in memory, where a full disk cannot meet it, and the finished workbook goes through tl_output
 * like everything else. Without memfd it is a file among the temporary ones.
 */
static int open_scratch(int *out, char path[PATH_MAX], bool *named, tl_error *err)
{
	*named = false;
	*out = memfd_create("workbook", MFD_CLOEXEC);
	if (*out >= 0) {
		snprintf(path, PATH_MAX, "/proc/self/fd/%d", *out);
		if (access(path, W_OK) == 0)
			return 0;
		close(*out);
	}
	const char *folder = getenv("TMPDIR");
	int n = snprintf(path, PATH_MAX, "%s/tracelens-XXXXXX", folder && *folder ? folder : "/tmp");
	*out = n < PATH_MAX ? mkostemp(path, O_CLOEXEC) : -1;
	*named = *out >= 0;
	return *named ? 0 : tl__fail_system(err, errno, "cannot make a temporary file");
}

static int copy_scratch(tl_output *out, int fd, tl_error *err)
{
	char block[65536];
	ssize_t n;
	for (off_t at = 0; (n = pread(fd, block, sizeof block, at)) > 0; at += n)
		tl__output_write(out, block, (size_t)n);
	return n < 0 ? tl__fail_system(err, errno, "cannot read the workbook back") : 0;
}

int tl__stage_workbook(tl_staging *staging, const tl_xlsx_book *book, const char *path, tl_error *err)
{
	tl_output *out;
	char scratch[PATH_MAX];
	int fd;
	bool named;
	TL_TRY(tl__staging_output(&out, staging, path, err));
	int code = open_scratch(&fd, scratch, &named, err);
	if (code == 0) {
		code = tl__xlsx_write(scratch, book, err);
		if (code == 0)
			code = copy_scratch(out, fd, err);
		close(fd);
		if (named)
			unlink(scratch);
	}
	if (code < 0)
		tl__error_where(err, path, -1); /* the name of the scratch file would tell nobody anything */
	return code;
}

/*
 * Differences to the trace compared with are coloured as in a comparison of reports: green where the trace of the
 * report is the faster one. *out is NULL for sheets without such a column.
 */
static int mark_deltas(uint8_t **out, const tl_table *table, tl_error *err)
{
	ptrdiff_t column = tl_table_find_column(table, TL_INLINE_DELTA);
	*out = column < 0 ? NULL : tl__calloc(tl_table_columns(table), 1);
	if (column >= 0 && !*out)
		return tl__nomem(err);
	if (column >= 0)
		(*out)[column] = TL_XLSX_MORE_IS_BETTER;
	return 0;
}

static int fill_sheets(tl_xlsx_sheet *out, uint8_t **marks, const tl_report *report, tl_error *err)
{
	for (size_t i = 0; i < report->sheets.n; i++) {
		const tl_table *table = report->sheets.v[i];
		TL_TRY(mark_deltas(&marks[i], table, err));
		const char *description = tl_report_describe(tl_table_name(table));
		out[i] = (tl_xlsx_sheet){
			.table = table,
			.description = *description ? description
						    : "A sheet of an extension, or of the program that made the report",
			.marks = marks[i],
		};
	}
	return 0;
}

static int stage_xlsx(tl_staging *staging, const tl_report *report, const char *path, const tl_report_heading *heading,
		      tl_error *err)
{
	tl_report_comparison compared;
	size_t n = report->sheets.n;
	tl_xlsx_line lines[4] = {
		{"Trace", text_or_empty(heading->trace)},
		{"Options", *text_or_empty(heading->command) ? heading->command : "defaults"},
	};
	size_t n_lines = 2;
	if (report->roofline)
		lines[n_lines++] = (tl_xlsx_line){"Roofline", report->roofline};
	if (tl_report_get_comparison(&compared, report))
		lines[n_lines++] = (tl_xlsx_line){"Compared with (trace2)", compared.path};
	tl_xlsx_sheet *sheets = tl__calloc(n + 1, sizeof *sheets);
	uint8_t **marks = tl__calloc(n + 1, sizeof *marks);
	int code = sheets && marks ? fill_sheets(sheets, marks, report, err) : tl__nomem(err);
	if (code == 0) {
		tl_xlsx_book book = {.lines = lines, .n_lines = n_lines, .sheets = sheets, .n_sheets = n};
		code = tl__stage_workbook(staging, &book, path, err);
	}
	for (size_t i = 0; i < n && marks; i++)
		tl__free(marks[i]);
	tl__free(marks);
	tl__free(sheets);
	return code;
}

/* ---- JSON ---- */

/* `,"comparison":{...}`, or nothing; times in µs as in the tables. */
static void comparison_json(tl_buf *out, const tl_report *report)
{
	tl_report_comparison c;
	if (!tl_report_get_comparison(&c, report))
		return;
	tl__buf_puts(out, ",\"comparison\":{\"trace\":");
	tl__json_string(out, c.path, strlen(c.path));
	for (int s = 0; s < 2; s++) {
		tl__buf_printf(out, ",\"gpu_events_trace%d\":%zu,\"gpu_time_trace%d_us\":", s + 1, c.gpu_events[s],
			       s + 1);
		tl__buf_double(out, (double)c.gpu_time[s] / 1e6);
	}
	tl__buf_printf(out, ",\"identical\":%s}", c.identical ? "true" : "false");
}

static int stage_json(tl_staging *staging, const tl_report *report, const char *path, const tl_report_heading *heading,
		      tl_error *err)
{
	tl_output *out;
	TL_TRY(tl__staging_output(&out, staging, path, err));
	tl_buf head = {0};
	tl__buf_puts(&head, "{\"trace\":");
	tl__json_string(&head, text_or_empty(heading->trace), strlen(text_or_empty(heading->trace)));
	tl__buf_puts(&head, ",\"options\":");
	tl__json_string(&head, text_or_empty(heading->command), strlen(text_or_empty(heading->command)));
	tl__report_roofline_json(&head, report);
	comparison_json(&head, report);
	tl__buf_puts(&head, ",\"tables\":[\n");
	int code = tl__buf_text(&head) ? 0 : tl__nomem(err);
	tl__output_write(out, text_or_empty(head.v), code ? 0 : head.n);
	tl__buf_free(&head);
	for (size_t i = 0; i < report->sheets.n && code == 0; i++) {
		char *text;
		size_t n;
		code = tl_table_json(report->sheets.v[i], &text, &n, err);
		if (code < 0)
			break;
		if (i)
			tl__output_write(out, ",\n", 2);
		tl__output_write(out, text, n);
		free(text);
	}
	tl__output_write(out, "\n]}\n", 4);
	return code;
}

/* ---- all of them ---- */

int tl_report_write(const tl_report *report, const tl_report_outputs *outputs, const tl_report_heading *heading,
		    tl_error *err)
{
	if (!heading)
		heading = &no_heading;
	if (outputs->xlsx_path && outputs->json_path && tl__output_is_same(outputs->xlsx_path, outputs->json_path))
		return tl__fail(err, TL_EINVAL, "the workbook and the JSON file cannot both be '%s'",
				outputs->xlsx_path);
	tl_staging staging = {0};
	int code = 0;
	if (outputs->csv_dir)
		code = stage_csvs(&staging, report, outputs->csv_dir, !outputs->single_thread, err);
	if (code == 0 && outputs->xlsx_path)
		code = stage_xlsx(&staging, report, outputs->xlsx_path, heading, err);
	if (code == 0 && outputs->json_path)
		code = stage_json(&staging, report, outputs->json_path, heading, err);
	if (code == 0)
		code = tl__staging_commit(&staging, err);
	tl__staging_end(&staging);
	return code;
}

int tl_report_write_csv(const tl_report *report, const char *dir, tl_error *err)
{
	return tl_report_write(report, &(tl_report_outputs){.csv_dir = dir}, NULL, err);
}

int tl_report_write_xlsx(const tl_report *report, const char *path, const tl_report_heading *heading, tl_error *err)
{
	return tl_report_write(report, &(tl_report_outputs){.xlsx_path = path}, heading, err);
}

int tl_report_write_json(const tl_report *report, const char *path, const tl_report_heading *heading, tl_error *err)
{
	return tl_report_write(report, &(tl_report_outputs){.json_path = path}, heading, err);
}
