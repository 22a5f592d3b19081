/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a workbook, up to the typed table. The first byte chooses what the others are: the whole file, or one
 * part of an otherwise good one (whose checksum no fuzzer would guess).
 */
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "io/xlsx_reader.h"
#include "report/typed_sheet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct part {
	const char *name, *text;
} part;

static const part parts[] = {
	{"xl/worksheets/sheet1.xml",
	 "<worksheet><row><c t=\"s\"><v>0</v></c></row><row><c><v>1</v></c></row></worksheet>"},
	{"xl/sharedStrings.xml", "<sst><si><t>name</t></si><si><t>time ms</t></si></sst>"},
	{"xl/workbook.xml", "<workbook><sheet name=\"s\" id=\"a\"/></workbook>"},
	{"xl/_rels/workbook.xml.rels",
	 "<R><Relationship Id=\"a\" Type=\"/worksheet\" Target=\"worksheets/sheet1.xml\"/></R>"},
	{"_rels/.rels", "<R><Relationship Id=\"a\" Type=\"/officeDocument\" Target=\"xl/workbook.xml\"/></R>"},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

/* The parts as a zip file, one of them replaced; NULL when libzip has no memory. Freed with free. */
static void *make_book(size_t *size, size_t replaced, const uint8_t *text, size_t n)
{
	void *out = NULL;
	zip_source_t *buffer = zip_source_buffer_create(NULL, 0, 0, NULL);
	if (!buffer)
		return NULL;
	zip_source_keep(buffer);
	zip_t *archive = zip_open_from_source(buffer, ZIP_TRUNCATE, NULL);
	for (size_t i = 0; archive && i < N_PARTS; i++) {
		zip_source_t *content = i == replaced
						? zip_source_buffer(archive, text, n, 0)
						: zip_source_buffer(archive, parts[i].text, strlen(parts[i].text), 0);
		zip_int64_t at = zip_file_add(archive, parts[i].name, content, 0);
		if (at >= 0)
			zip_set_file_compression(archive, (zip_uint64_t)at, ZIP_CM_STORE, 0);
	}
	zip_stat_t stat;
	if (archive && zip_close(archive) == 0 && zip_source_open(buffer) == 0) {
		if (zip_source_stat(buffer, &stat) == 0 && (out = malloc(stat.size + 1)) != NULL) {
			*size = stat.size;
			zip_source_read(buffer, out, stat.size);
		}
		zip_source_close(buffer);
	}
	zip_source_free(buffer);
	return out;
}

static void check_failure(int code, const tl_error *err)
{
	if (code < 0 && (err->code != code || !err->message[0] || strchr(err->message, '\n')))
		abort(); /* a failure that says nothing */
}

static void read_sheet(tl_xlsx_file *file, size_t index)
{
	tl_error err = TL_ERROR_INIT;
	tl_typed_sheet *sheet;
	tl_table *table = NULL;
	if (tl__typed_sheet_new(&sheet, tl__xlsx_name(file, index), &err) < 0)
		return;
	int code = tl__xlsx_read(file, index, tl__typed_sheet_cell, sheet, &err);
	if (code == 0)
		code = tl__typed_sheet_table(&table, sheet, &err);
	check_failure(code, &err);
	tl_table_free(table);
	tl__typed_sheet_free(sheet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tl_error err = TL_ERROR_INIT;
	tl_xlsx_file *file;
	if (!size)
		return 0;
	size_t how = *data % (N_PARTS + 1), n = size - 1;
	void *made = how < N_PARTS ? make_book(&n, how, data + 1, size - 1) : NULL;
	if (how < N_PARTS && !made)
		return 0;
	int code = tl__xlsx_open_memory(&file, made ? made : (const void *)(data + 1), n, &err);
	check_failure(code, &err);
	for (size_t i = 0; code == 0 && i < tl__xlsx_count(file); i++)
		read_sheet(file, i);
	if (code == 0)
		tl__xlsx_close(file);
	free(made);
	return 0;
}
