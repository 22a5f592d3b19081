/* SPDX-License-Identifier: MIT */
/* A comparison as a workbook and as CSV files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/comparison.h"

/* ---- what is special about columns ---- */

/* Rates are better when they are larger, times when they are smaller, and numbers of operations are neither. */
static uint8_t colour_of(const char *column)
{
	if (strstr(column, "ount"))
		return TL_XLSX_NEUTRAL;
	return strstr(column, "LOPS/s") || strstr(column, "TB/s") ? TL_XLSX_MORE_IS_BETTER : TL_XLSX_LESS_IS_BETTER;
}

static uint8_t *marks_of(const tl_cmp_sheet *sheet, const tl_table *table)
{
	uint8_t *marks = tl__calloc(table->columns.n + 1, 1);
	for (size_t c = 0; marks && c < table->columns.n; c++) {
		const tl_cmp_column *column = &sheet->columns[c];
		if (column->role == TL_CMP_DIFF || column->role == TL_CMP_PCT)
			marks[c] = colour_of(table->columns.v[c].name);
		else if (column->noise)
			marks[c] = TL_XLSX_HIDDEN;
	}
	return marks;
}

/* ---- the first sheet ---- */

typedef struct book {
	tl_arena arena; /* texts */
	TL_VEC(tl_xlsx_line) lines;
	TL_VEC(tl_xlsx_finding) findings;
	TL_VEC(tl_xlsx_sheet) sheets;
	TL_VEC(uint8_t *) marks;
} book;

static int add_line(book *b, const char *label, const char *text)
{
	return text ? TL_VEC_PUSH(&b->lines, ((tl_xlsx_line){label, text})) : TL_ENOMEM;
}

static int fill_lines(book *b, const tl_comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *text = tl__arena_printf(&b->arena, "%s: %s", c->tags[i], c->paths[i]);
		TL_TRY(add_line(b, i == 0 ? "Baseline" : "Compared with it", text));
	}
	TL_TRY(add_line(b, "Reading",
			"TAG::column is what a report has; column__TAG_diff is that report minus the "
			"baseline, column__TAG_pct the same in % of the baseline. Statistics and kernel "
			"lists are there in hidden columns"));
	for (size_t i = 0; i < c->result.notes.n; i++)
		TL_TRY(add_line(b, "Note", c->result.notes.v[i]));
	return 0;
}

static int fill_findings(book *b, const tl_comparison *c)
{
	const tl_table *t = c->result.largest;
	for (size_t row = 0; t && row < t->rows; row++) {
		char name[512], tag[256];
		tl_table_text(t, 1, row, name, sizeof name);
		tl_table_text(t, 0, row, tag, sizeof tag);
		double base = t->columns.v[2].f64[row], other = t->columns.v[3].f64[row],
		       pct = t->columns.v[5].f64[row];
		char share[48] = "not in the baseline";
		if (!isnan(pct))
			snprintf(share, sizeof share, "%+.1f %%", pct);
		const char *text = tl__arena_printf(&b->arena, "%s in %s: %.3f -> %.3f ms (%s)",
						    other > base ? "slower" : "faster", tag, base, other, share);
		const char *label = tl__arena_strndup(&b->arena, name, strlen(name));
		if (!text || !label)
			return TL_ENOMEM;
		TL_TRY(TL_VEC_PUSH(&b->findings, ((tl_xlsx_finding){label, other - base, text})));
	}
	return 0;
}

static int fill_sheets(book *b, const tl_comparison *c)
{
	for (size_t i = 0; i < c->result.sheets.n; i++) {
		const tl_cmp_sheet *from = &c->result.sheets.v[i];
		const tl_table *table = from->full ? from->full : from->table;
		uint8_t *marks = marks_of(from, table);
		if (!marks || TL_VEC_PUSH(&b->marks, marks) < 0) {
			tl__free(marks);
			return TL_ENOMEM;
		}
		TL_TRY(TL_VEC_PUSH(&b->sheets,
				   ((tl_xlsx_sheet){.table = table, .description = from->what, .marks = marks})));
	}
	return 0;
}

static void book_free(book *b)
{
	for (size_t i = 0; i < b->marks.n; i++)
		tl__free(b->marks.v[i]);
	TL_VEC_FREE(&b->marks);
	TL_VEC_FREE(&b->lines);
	TL_VEC_FREE(&b->findings);
	TL_VEC_FREE(&b->sheets);
	tl__arena_free(&b->arena);
}

static int stage_book(tl_staging *staging, const tl_comparison *c, const char *path, tl_error *err)
{
	book b = {0};
	int code = fill_lines(&b, c) < 0 || fill_findings(&b, c) < 0 || fill_sheets(&b, c) < 0 ? tl__nomem(err) : 0;
	if (code == 0) {
		const tl_xlsx_book out = {
			.lines = b.lines.v,
			.n_lines = b.lines.n,
			.finding_heads = {"Largest differences of kernel time", "diff ms", "In which report"},
			.findings = b.findings.v,
			.n_findings = b.findings.n,
			.sheets = b.sheets.v,
			.n_sheets = b.sheets.n,
		};
		code = tl__stage_workbook(staging, &out, path, err);
	}
	book_free(&b);
	return code;
}

static int stage_csvs(tl_staging *staging, const tl_comparison *c, const char *dir, tl_error *err)
{
	TL_TRY(tl__staging_dir(staging, dir, err));
	for (size_t i = 0; i < c->result.sheets.n; i++)
		TL_TRY(tl__stage_csv(staging, c->result.sheets.v[i].table, err));
	return 0;
}

int tl_comparison_write(const tl_comparison *comparison, const char *xlsx_path, const char *csv_dir, tl_error *err)
{
	tl_staging staging = {0};
	int code = csv_dir ? stage_csvs(&staging, comparison, csv_dir, err) : 0;
	if (code == 0 && xlsx_path)
		code = stage_book(&staging, comparison, xlsx_path, err);
	if (code == 0)
		code = tl__staging_commit(&staging, err);
	tl__staging_end(&staging);
	return code;
}
