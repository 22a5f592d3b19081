/* SPDX-License-Identifier: MIT */
/* Finished reports, back from a directory of CSV files or a workbook. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/xlsx_reader.h"
#include "report/report.h"
#include "report/typed_sheet.h"
#include "tracelens/compare.h"
#include "util/buf.h"
#include "util/text.h"

/* Adds what was read; takes `sheet`. */
static int finish_sheet(tl_report *report, tl_typed_sheet *sheet, int code, tl_error *err)
{
	tl_table *table = NULL;
	if (code == 0)
		code = tl__typed_sheet_table(&table, sheet, err);
	tl__typed_sheet_free(sheet);
	return code < 0 ? code : tl__report_add(report, table, err);
}

/* ---- folders ---- */

typedef TL_VEC(char *) name_list;

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_folder(name_list *out, const char *path, tl_error *err)
{
	DIR *folder = opendir(path);
	int code = 0;
	if (!folder)
		return tl__fail_system(err, errno, "cannot open the directory");
	for (struct dirent *entry; code == 0 && (entry = readdir(folder)) != NULL;) {
		if (entry->d_name[0] == '.' || !tl__ends_with(entry->d_name, ".csv"))
			continue;
		char *name = tl__strdup(entry->d_name);
		code = name ? TL_VEC_PUSH(out, name) : TL_ENOMEM;
		if (code < 0)
			tl__free(name);
	}
	closedir(folder);
	if (code < 0)
		return tl__nomem(err);
	if (!out->n)
		return tl__fail(err, TL_EFORMAT, "the directory has no .csv file");
	qsort((void *)out->v, out->n, sizeof *out->v, compare_names);
	return 0;
}

/* A named pipe would keep us waiting for somebody to write into it. */
static int refuse_pipe(const char *path, tl_error *err)
{
	struct stat info;
	if (stat(path, &info) != 0 || !S_ISFIFO(info.st_mode))
		return 0;
	return tl__fail(err, TL_EIO, "cannot open '%s': it is a named pipe", path);
}

static int read_csv(tl_report *report, const char *folder, const char *file, tl_error *err)
{
	tl_buf path = {0}, name = {0};
	tl_typed_sheet *sheet = NULL;
	tl__buf_printf(&path, "%s%s%s", folder, tl__ends_with(folder, "/") ? "" : "/", file);
	tl__buf_put(&name, file, strlen(file) - strlen(".csv"));
	int code = tl__buf_text(&path) && tl__buf_text(&name) ? refuse_pipe(path.v, err) : tl__nomem(err);
	if (code == 0)
		code = tl__typed_sheet_new(&sheet, name.v, err);
	if (code == 0) {
		code = tl__csv_read(path.v, tl__typed_sheet_cell, sheet, err);
		code = finish_sheet(report, sheet, code, err);
	}
	tl__buf_free(&path);
	tl__buf_free(&name);
	return code;
}

static int read_folder(tl_report *report, const char *path, tl_error *err)
{
	name_list files = {0};
	int code = list_folder(&files, path, err);
	if (code < 0 && code != TL_ENOMEM)
		tl__error_where(err, path, -1);
	for (size_t i = 0; i < files.n && code == 0; i++)
		code = read_csv(report, path, files.v[i], err);
	for (size_t i = 0; i < files.n; i++)
		tl__free(files.v[i]);
	TL_VEC_FREE(&files);
	return code;
}

/* ---- workbooks ---- */

static int read_workbook(tl_report *report, const char *path, tl_error *err)
{
	tl_xlsx_file *file;
	TL_TRY(tl__xlsx_open(&file, path, err));
	int code = 0;
	for (size_t i = 0; i < tl__xlsx_count(file) && code == 0; i++) {
		const char *name = tl__xlsx_name(file, i);
		tl_typed_sheet *sheet;
		if (!strcmp(name, "overview"))
			continue; /* our first sheet is no table */
		code = tl__typed_sheet_new(&sheet, name, err);
		if (code == 0) {
			code = tl__xlsx_read(file, i, tl__typed_sheet_cell, sheet, err);
			code = finish_sheet(report, sheet, code, err);
		}
	}
	tl__xlsx_close(file);
	if (code < 0 && code != TL_ENOMEM)
		tl__error_where(err, path, -1);
	return code;
}

int tl_report_read(tl_report **out, const char *path, tl_error *err)
{
	struct stat info;
	*out = NULL;
	if (!path)
		return tl__fail(err, TL_EINVAL, "no report is named");
	if (stat(path, &info) < 0) {
		int code = tl__fail_system(err, errno, "cannot open");
		tl__error_where(err, path, -1);
		return code;
	}
	tl_report *report = tl__report_new();
	if (!report)
		return tl__nomem(err);
	int code = S_ISDIR(info.st_mode) ? read_folder(report, path, err) : read_workbook(report, path, err);
	if (code < 0)
		tl_report_free(report);
	else
		*out = report;
	return code;
}
