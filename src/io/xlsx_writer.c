/* SPDX-License-Identifier: MIT */
#include "io/xlsx_writer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xlsxwriter.h>

#include "io/xlsx_rows.h"
#include "util/alloc.h"
#include "util/utf8.h"

#ifndef TL_VERSION
#define TL_VERSION "0.0.0"
#endif

/* ---- texts ---- */

static bool is_plain(const char *text, size_t n)
{
	if (n > TL_XLSX_MAX_TEXT)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] >= 0x7f)
			return false;
	return true;
}

/* the character that stands for `code` in a cell; XML 1.0 has no way to write most control characters */
static uint32_t printable(uint32_t code)
{
	if (code == '\n' || code == '\t')
		return code;
	if (code < ' ')
		return 0x2400 + code;
	if (code == 0x7f)
		return 0x2421;
	return code == 0xfffe || code == 0xffff ? 0xfffd : code;
}

/* One character of `text`, made printable; returns the bytes it takes there. */
static size_t next_character(const char *text, size_t n, uint32_t *code)
{
	size_t taken = tl__utf8_decode(text, n, code);
	if (!taken) {
		*code = 0xfffd;
		return 1;
	}
	*code = printable(*code);
	return taken;
}

static size_t utf16_units(uint32_t code)
{
	return code > 0xffff ? 2 : 1;
}

const char *tl__xlsx_text(tl_buf *buf, const char *text, size_t n)
{
	if (is_plain(text, n))
		return text;
	size_t units = 0, characters = 0;
	uint32_t code;
	for (size_t i = 0; i < n; characters++) {
		i += next_character(text + i, n - i, &code);
		units += utf16_units(code);
	}
	char mark[64] = "";
	size_t room = TL_XLSX_MAX_TEXT;
	if (units > room) {
		snprintf(mark, sizeof mark, "\xe2\x80\xa6(cut, %zu characters)", characters);
		room -= tl__utf8_count(mark, strlen(mark));
	}
	tl__buf_clear(buf);
	units = 0;
	for (size_t i = 0; i < n;) {
		char utf8[4];
		i += next_character(text + i, n - i, &code);
		units += utf16_units(code);
		if (units > room)
			break;
		tl__buf_put(buf, utf8, tl__utf8_encode(utf8, code));
	}
	tl__buf_puts(buf, mark);
	return tl__buf_text(buf);
}

void tl__xlsx_sheet_name(char out[4 * TL_XLSX_MAX_NAME + 1], const char *name,
			 const char (*taken)[4 * TL_XLSX_MAX_NAME + 1], size_t n_taken)
{
	/* the name as characters first, so that a cut does not split one */
	uint32_t codes[TL_XLSX_MAX_NAME];
	size_t n = 0, units = 0;
	for (size_t i = 0, length = strlen(name); i < length;) {
		uint32_t code;
		i += next_character(name + i, length - i, &code);
		if (code < 0x80 && strchr("[]:*?/\\\n\t", (int)code))
			code = '_';
		units += utf16_units(code);
		if (units > TL_XLSX_MAX_NAME)
			break;
		codes[n++] = code;
	}
	if (n == 0)
		codes[n++] = '_';
	if (codes[0] == '\'')
		codes[0] = '_';

	for (size_t attempt = 1;; attempt++) {
		char suffix[24] = "";
		if (attempt > 1)
			snprintf(suffix, sizeof suffix, "~%zu", attempt);
		size_t room = TL_XLSX_MAX_NAME - strlen(suffix), bytes = 0;
		units = 0;
		for (size_t i = 0; i < n; i++) {
			units += utf16_units(codes[i]);
			if (units > room)
				break;
			bytes += tl__utf8_encode(out + bytes, codes[i]);
		}
		if (out[bytes - 1] == '\'')
			out[bytes - 1] = '_';
		memcpy(out + bytes, suffix, strlen(suffix) + 1);
		/* Excel keeps this name for itself */
		bool free_name = strcasecmp(out, "history") != 0;
		for (size_t i = 0; i < n_taken && free_name; i++)
			free_name = strcasecmp(out, taken[i]) != 0;
		if (free_name)
			return;
	}
}

/* ---- formats ---- */

typedef struct xlsx_formats {
	lxw_format *header, *title, *link;
	lxw_format *id, *count, *percent, *amount, *general;
} xlsx_formats;

typedef struct xlsx_job {
	lxw_workbook *workbook;
	xlsx_formats formats;
	char (*names)[4 * TL_XLSX_MAX_NAME + 1]; /* tab names; 0 is the overview */
	tl_xlsx_spool spool;
	tl_xlsx_rows *rows; /* of each sheet; 0 is the overview */
	tl_buf clean;
	tl_error *err;
} xlsx_job;

static lxw_format *number_format(lxw_workbook *workbook, const char *pattern, bool *ok)
{
	lxw_format *format = workbook_add_format(workbook);
	if (format && pattern)
		format_set_num_format(format, pattern);
	*ok = *ok && format;
	return format;
}

static int make_formats(xlsx_job *job)
{
	xlsx_formats *f = &job->formats;
	bool ok = true;
	f->header = number_format(job->workbook, NULL, &ok);
	f->title = number_format(job->workbook, NULL, &ok);
	f->id = number_format(job->workbook, "0", &ok);
	f->count = number_format(job->workbook, "#,##0", &ok);
	/* three decimals are what people compare; a value that would show as 0.000 is shown in full instead */
	f->percent = number_format(job->workbook, "[>=0.01]0.00;[<=-0.01]-0.00;General", &ok);
	f->amount = number_format(job->workbook, "[>=0.001]#,##0.000;[<=-0.001]-#,##0.000;General", &ok);
	f->general = number_format(job->workbook, NULL, &ok);
	f->link = workbook_get_default_url_format(job->workbook);
	if (!ok || !f->link)
		return tl__nomem(job->err);
	format_set_bold(f->header);
	format_set_bottom(f->header, LXW_BORDER_THIN);
	format_set_bold(f->title);
	return 0;
}

/* format of a number column */
static lxw_format *column_format(const xlsx_job *job, const tl_table *table, size_t column)
{
	const char *unit = tl_table_column_unit(table, column), *name = tl_table_column_name(table, column);
	if (tl_table_column_type(table, column) == TL_TYPE_INT64) {
		/* "1,234" is right for a number of events and wrong for a name made of digits */
		bool amount = *unit || strstr(name, "ount") || strstr(name, "size");
		return amount ? job->formats.count : job->formats.id;
	}
	if (!strcmp(unit, "%"))
		return job->formats.percent;
	return *unit ? job->formats.amount : job->formats.general;
}

/* ---- cells ---- */

static int check_cell(const xlsx_job *job, lxw_error code)
{
	if (code == LXW_NO_ERROR)
		return 0;
	if (code == LXW_ERROR_MEMORY_MALLOC_FAILED)
		return tl__nomem(job->err);
	return tl__fail(job->err, TL_EIO, "cannot write the workbook: %s", lxw_strerror(code));
}

/* width of a text when shown on one line */
static size_t text_width(const char *text)
{
	size_t n = strcspn(text, "\n");
	return tl__utf8_count(text, n);
}

static int put_text(xlsx_job *job, lxw_worksheet *sheet, size_t row, size_t column, const char *text, size_t n,
		    lxw_format *format, size_t *width)
{
	const char *clean = tl__xlsx_text(&job->clean, text, n);
	if (!clean)
		return tl__nomem(job->err);
	if (width)
		*width = text_width(clean);
	return check_cell(job, worksheet_write_string(sheet, (lxw_row_t)row, (lxw_col_t)column, clean, format));
}

/* ---- marked columns ---- */

/* The largest value of a column of differences, either way. Percentages beyond 100 must not make the others pale. */
static double farthest(const tl_table *table, size_t column)
{
	double most = 0;
	for (size_t row = 0; row < tl_table_rows(table); row++) {
		double size = fabs(tl_table_double(table, column, row));
		if (isfinite(size) && size > most)
			most = size;
	}
	return !strcmp(tl_table_column_unit(table, column), "%") && most > 100 ? 100 : most;
}

/* White at zero, and as strong a colour for as much in either direction. */
static int put_scale(xlsx_job *job, lxw_worksheet *sheet, const tl_table *table, size_t column, uint8_t marks)
{
	static const lxw_color_t good = 0x63BE7B, bad = 0xF8696B, blue = 0x5A8AC6, orange = 0xF4B183;
	double most = farthest(table, column);
	if (!(most > 0))
		return 0;
	lxw_conditional_format scale = {
		.type = LXW_CONDITIONAL_3_COLOR_SCALE,
		.min_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.mid_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.max_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.min_value = -most,
		.max_value = most,
		.min_color = marks & TL_XLSX_NEUTRAL          ? blue
			     : marks & TL_XLSX_LESS_IS_BETTER ? good
							      : bad,
		.mid_color = LXW_COLOR_WHITE,
		.max_color = marks & TL_XLSX_NEUTRAL          ? orange
			     : marks & TL_XLSX_LESS_IS_BETTER ? bad
							      : good,
	};
	return check_cell(job, worksheet_conditional_format_range(sheet, 1, (lxw_col_t)column,
								  (lxw_row_t)tl_table_rows(table), (lxw_col_t)column,
								  &scale));
}

static int put_marks(xlsx_job *job, lxw_worksheet *sheet, const tl_xlsx_sheet *from)
{
	enum { DIFFERENCE = TL_XLSX_LESS_IS_BETTER | TL_XLSX_MORE_IS_BETTER | TL_XLSX_NEUTRAL };
	for (size_t c = 0; from->marks && c < tl_table_columns(from->table); c++) {
		lxw_row_col_options hidden = {.hidden = LXW_TRUE};
		if (from->marks[c] & TL_XLSX_HIDDEN)
			TL_TRY(check_cell(
				job, worksheet_set_column_opt(sheet, (lxw_col_t)c, (lxw_col_t)c, 12, NULL, &hidden)));
		if (from->marks[c] & DIFFERENCE && tl_table_rows(from->table))
			TL_TRY(put_scale(job, sheet, from->table, c, from->marks[c]));
	}
	return 0;
}

/* ---- sheets ---- */

enum { MIN_WIDTH = 8, MAX_WIDTH = TL_XLSX_MAX_WIDTH, FILTER_BUTTON = 3 };

/* The head goes into the workbook, the rows below it into the spool. */
static int put_table(xlsx_job *job, lxw_worksheet *sheet, const tl_table *table, tl_xlsx_rows *below)
{
	size_t columns = tl_table_columns(table), rows = tl_table_rows(table);
	size_t *widths = tl__calloc(columns + 1, sizeof *widths);
	int32_t *formats = tl__calloc(columns + 1, sizeof *formats);
	int code = widths && formats ? 0 : tl__nomem(job->err);
	for (size_t c = 0; c < columns && code == 0; c++) {
		const char *name = tl_table_column_name(table, c);
		formats[c] = lxw_format_get_xf_index(column_format(job, table, c));
		code = put_text(job, sheet, 0, c, name, strlen(name), job->formats.header, &widths[c]);
		widths[c] += FILTER_BUTTON;
	}
	if (code == 0)
		code = tl__xlsx_spool_table(below, &job->spool, table, formats, widths, job->err);
	for (size_t c = 0; c < columns && code == 0; c++) {
		size_t width = widths[c] < MIN_WIDTH ? MIN_WIDTH : widths[c] > MAX_WIDTH ? MAX_WIDTH : widths[c];
		code = check_cell(job, worksheet_set_column(sheet, (lxw_col_t)c, (lxw_col_t)c, (double)width, NULL));
	}
	if (columns && code == 0) {
		worksheet_freeze_panes(sheet, 1, 0);
		code = check_cell(job, worksheet_autofilter(sheet, 0, 0, (lxw_row_t)rows, (lxw_col_t)(columns - 1)));
	}
	tl__free(widths);
	tl__free(formats);
	return code;
}

static int put_link(xlsx_job *job, lxw_worksheet *sheet, size_t row, const char *name)
{
	char url[4 * TL_XLSX_MAX_NAME + 64] = "internal:'";
	size_t n = strlen(url);
	for (const char *c = name; *c && n + 8 < sizeof url; c++) {
		if (*c == '\'')
			url[n++] = '\''; /* doubled inside quotes */
		url[n++] = *c;
	}
	memcpy(url + n, "'!A1", 5);
	return check_cell(job, worksheet_write_url_opt(sheet, (lxw_row_t)row, 0, url, job->formats.link, name, NULL));
}

static int put_line(xlsx_job *job, lxw_worksheet *sheet, size_t row, size_t column, const char *line,
		    lxw_format *format)
{
	return put_text(job, sheet, row, column, line, strlen(line), format, NULL);
}

static int put_heads(xlsx_job *job, lxw_worksheet *sheet, size_t row, const char *const heads[3])
{
	for (size_t c = 0; c < 3; c++)
		TL_TRY(put_line(job, sheet, row, c, heads[c], job->formats.header));
	return 0;
}

/* From row `row` on. `widest` grows to what their labels take, unless that is absurd. */
static int put_findings(xlsx_job *job, lxw_worksheet *sheet, size_t row, const tl_xlsx_book *book, size_t *widest)
{
	for (size_t i = 0; i < book->n_findings; i++, row++) {
		const tl_xlsx_finding *f = &book->findings[i];
		size_t width = 0;
		TL_TRY(put_text(job, sheet, row, 0, f->label, strlen(f->label), NULL, &width));
		*widest = width > *widest && width <= MAX_WIDTH ? width : *widest;
		TL_TRY(check_cell(job,
				  worksheet_write_number(sheet, (lxw_row_t)row, 1, f->value, job->formats.amount)));
		TL_TRY(put_line(job, sheet, row, 2, f->text, NULL));
	}
	return 0;
}

/* What sheets there are, from row `row` on. `widest` grows to what their names take. */
static int put_contents(xlsx_job *job, lxw_worksheet *sheet, size_t row, const tl_xlsx_book *book, size_t *widest)
{
	for (size_t i = 0; i < book->n_sheets; i++, row++) {
		const tl_xlsx_sheet *s = &book->sheets[i];
		const char *name = job->names[i + 1];
		size_t width = tl__utf8_count(name, strlen(name)) + 2;
		*widest = width > *widest ? width : *widest;
		TL_TRY(put_link(job, sheet, row, name));
		TL_TRY(check_cell(job, worksheet_write_number(sheet, (lxw_row_t)row, 1, (double)tl_table_rows(s->table),
							      job->formats.count)));
		TL_TRY(put_line(job, sheet, row, 2, s->description, NULL));
	}
	return 0;
}

/* The first sheet: a title, the lines, the findings, what sheets there are. */
static int put_overview(xlsx_job *job, lxw_worksheet *sheet, const tl_xlsx_book *book)
{
	enum { LABELS = 20, NUMBERS = 10, TEXTS = 100 }; /* widths of the columns, in characters */
	static const char *const heads[3] = {"Sheet", "Rows", "What it shows"};
	size_t row = 0, widest = LABELS;
	TL_TRY(put_line(job, sheet, row++, 0, "TraceLens " TL_VERSION, job->formats.title));
	for (size_t i = 0; i < book->n_lines; i++, row++) {
		TL_TRY(put_line(job, sheet, row, 0, book->lines[i].label, NULL));
		TL_TRY(put_line(job, sheet, row, 1, book->lines[i].text, NULL));
	}
	row++; /* a blank row above each list */
	if (book->n_findings) {
		TL_TRY(put_heads(job, sheet, row++, book->finding_heads));
		TL_TRY(put_findings(job, sheet, row, book, &widest));
		row += book->n_findings + 1;
	}
	TL_TRY(put_heads(job, sheet, row++, heads));
	TL_TRY(put_contents(job, sheet, row, book, &widest));
	worksheet_set_column(sheet, 0, 0, (double)widest, NULL);
	worksheet_set_column(sheet, 1, 1, NUMBERS, NULL);
	worksheet_set_column(sheet, 2, 2, TEXTS, NULL);
	return 0;
}

static int check_size(const tl_table *table, tl_error *err)
{
	if (tl_table_rows(table) >= TL_XLSX_MAX_ROWS)
		return tl__fail(err, TL_ELIMIT,
				"sheet %s has %zu rows and a workbook holds %d (write CSV or JSON instead)",
				tl_table_name(table), tl_table_rows(table), TL_XLSX_MAX_ROWS - 1);
	if (tl_table_columns(table) > TL_XLSX_MAX_COLUMNS)
		return tl__fail(err, TL_ELIMIT,
				"sheet %s has %zu columns and a workbook holds %d (write CSV or JSON instead)",
				tl_table_name(table), tl_table_columns(table), TL_XLSX_MAX_COLUMNS);
	return 0;
}

static int fill(xlsx_job *job, const tl_xlsx_book *book)
{
	TL_TRY(make_formats(job));
	/* all tabs first: the first sheet has links to the others */
	for (size_t i = 0; i <= book->n_sheets; i++) {
		const char *wanted = i ? tl_table_name(book->sheets[i - 1].table) : "overview";
		tl__xlsx_sheet_name(job->names[i], wanted, (const char(*)[4 * TL_XLSX_MAX_NAME + 1]) job->names, i);
		errno = 0;
		if (!workbook_add_worksheet(job->workbook, job->names[i])) {
			/* a name is never refused: what failed is the sheet's temporary file, or there is no memory */
			if (errno == ENOMEM)
				return tl__nomem(job->err);
			return tl__fail_system(job->err, errno ? errno : EIO,
					       "cannot make a temporary file for the sheet %s of the workbook",
					       job->names[i]);
		}
	}
	TL_TRY(put_overview(job, workbook_get_worksheet_by_name(job->workbook, job->names[0]), book));
	for (size_t i = 0; i < book->n_sheets; i++) {
		lxw_worksheet *sheet = workbook_get_worksheet_by_name(job->workbook, job->names[i + 1]);
		TL_TRY(put_table(job, sheet, book->sheets[i].table, &job->rows[i + 1]));
		TL_TRY(put_marks(job, sheet, &book->sheets[i]));
	}
	return 0;
}

/* The workbook with all but the rows of tables. */
static int make_book(xlsx_job *job, const char *path, const tl_xlsx_book *book)
{
	/* row by row to temporary files: the other mode keeps 150 bytes a cell until the end, and is no faster */
	lxw_workbook_options options = {.use_zip64 = LXW_TRUE, .constant_memory = LXW_TRUE, .tmpdir = getenv("TMPDIR")};
	job->workbook = workbook_new_opt(path, &options);
	int code = job->workbook ? fill(job, book) : tl__nomem(job->err);
	if (code < 0) {
		if (job->workbook)
			lxw_workbook_free(job->workbook);
		return code;
	}
	errno = 0;
	lxw_error closed = workbook_close(job->workbook);
	/* of which the library only says what it was about */
	if (errno && (closed == LXW_ERROR_ZIP_FILE_OPERATION || closed == LXW_ERROR_CREATING_XLSX_FILE ||
		      closed == LXW_ERROR_CREATING_TMPFILE))
		return tl__fail_system(job->err, errno, "cannot write the workbook");
	TL_TRY(check_cell(job, closed));
	return tl__xlsx_verify(path, job->err);
}

int tl__xlsx_write(const char *path, const tl_xlsx_book *book, tl_error *err)
{
	for (size_t i = 0; i < book->n_sheets; i++)
		TL_TRY(check_size(book->sheets[i].table, err));
	xlsx_job job = {.err = err};
	job.names = tl__calloc(book->n_sheets + 1, sizeof *job.names);
	job.rows = tl__calloc(book->n_sheets + 1, sizeof *job.rows);
	int code = job.names && job.rows ? tl__xlsx_spool_open(&job.spool, err) : tl__nomem(err);
	if (code == 0)
		code = make_book(&job, path, book);
	if (code == 0)
		code = tl__xlsx_put_rows(path, &job.spool, job.rows, book->n_sheets + 1, err);
	tl__error_where(code ? err : NULL, path, -1);
	tl__xlsx_spool_close(&job.spool);
	tl__buf_free(&job.clean);
	tl__free(job.names);
	tl__free(job.rows);
	return code;
}
