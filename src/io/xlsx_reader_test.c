/* SPDX-License-Identifier: MIT */
/* Workbooks made part by part: good ones in all spellings, and broken ones, each with the line that people get. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "io/xlsx_reader.h"
#include "util/alloc.h"
#include "util/buf.h"

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define RELATIONS "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
#define TYPE "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
#define MAIN "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\""

typedef struct part {
	const char *name, *text;
} part;

static const part good[] = {
	{"[Content_Types].xml", HEAD "<Types/>"},
	{"_rels/.rels", HEAD RELATIONS "<Relationship Id=\"rId1\" Type=\"" TYPE "officeDocument\" "
				       "Target=\"xl/workbook.xml\"/></Relationships>"},
	{"xl/workbook.xml", HEAD "<workbook " MAIN " xmlns:r=\"x\"><sheets><sheet name=\"a &amp; b\" sheetId=\"1\" "
				 "r:id=\"rId1\"/></sheets></workbook>"},
	{"xl/_rels/workbook.xml.rels", HEAD RELATIONS "<Relationship Id=\"rId1\" Type=\"" TYPE "worksheet\" "
						      "Target=\"worksheets/sheet1.xml\"/></Relationships>"},
	{"xl/sharedStrings.xml",
	 HEAD "<sst " MAIN "><si><t>name</t></si><si><r><t>two </t></r><r><t>runs</t></r><rPh><t>no</t></rPh></si>"
	      "<si><t>_x0041_ _x005F_x</t></si></sst>"},
};
enum { N_GOOD = sizeof good / sizeof *good };

/* A zip file of the good parts and the sheet; `changed` (may be NULL) replaces one, without text it leaves it out. */
typedef struct book {
	void *data;
	size_t size;
} book;

static book make_book(const char *sheet, const part *changed)
{
	zip_error_t error;
	zip_source_t *buffer = zip_source_buffer_create(NULL, 0, 0, &error);
	zip_source_keep(buffer);
	zip_t *archive = zip_open_from_source(buffer, ZIP_TRUNCATE, &error);
	assert_non_null(archive);
	for (size_t i = 0; i <= N_GOOD; i++) {
		part p = i < N_GOOD ? good[i] : (part){"xl/worksheets/sheet1.xml", sheet};
		if (changed && !strcmp(changed->name, p.name))
			p = *changed;
		if (p.text)
			assert_true(zip_file_add(archive, p.name, zip_source_buffer(archive, p.text, strlen(p.text), 0),
						 0) >= 0);
	}
	assert_int_equal(zip_close(archive), 0);
	zip_stat_t stat;
	assert_int_equal(zip_source_open(buffer), 0);
	assert_int_equal(zip_source_stat(buffer, &stat), 0);
	book b = {malloc(stat.size), stat.size};
	assert_int_equal(zip_source_read(buffer, b.data, b.size), (zip_int64_t)b.size);
	zip_source_close(buffer);
	zip_source_free(buffer);
	return b;
}

static int collect(void *user, size_t row, size_t column, const char *text, size_t n, tl_error *err)
{
	tl_buf *out = user;
	assert_int_equal(text[n], '\0');
	tl__buf_printf(out, "%zu,%zu=%s|", row, column, text);
	return out->failed ? tl__nomem(err) : 0;
}

static int read_book(const book *b, tl_buf *cells, tl_error *err)
{
	tl_xlsx_file *file;
	int code = tl__xlsx_open_memory(&file, b->data, b->size, err);
	for (size_t i = 0; code == 0 && i < tl__xlsx_count(file); i++)
		code = tl__xlsx_read(file, i, collect, cells, err);
	tl__xlsx_close(file);
	return code;
}

#define SHEET(rows) HEAD "<worksheet " MAIN "><sheetData>" rows "</sheetData></worksheet>"

static void expect_cells(const char *sheet, const char *cells)
{
	tl_error err = TL_ERROR_INIT;
	tl_buf got = {0};
	book b = make_book(sheet, NULL);
	assert_int_equal(read_book(&b, &got, &err), 0);
	assert_string_equal(tl__buf_text(&got), cells);
	tl__buf_free(&got);
	free(b.data);
}

static void expect_line(const char *sheet, const part *changed, const char *line)
{
	tl_error err = TL_ERROR_INIT;
	tl_buf got = {0};
	book b = make_book(sheet, changed);
	assert_int_equal(read_book(&b, &got, &err), TL_EFORMAT);
	if (!strstr(err.message, line))
		fail_msg("'%s' is not in '%s'", line, err.message);
	assert_null(strchr(err.message, '\n'));
	tl__buf_free(&got);
	free(b.data);
}

static const char one_cell[] = SHEET("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>");

static void names_of_sheets(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_xlsx_file *file;
	book b = make_book(one_cell, NULL);
	assert_int_equal(tl__xlsx_open_memory(&file, b.data, b.size, &err), 0);
	assert_int_equal(tl__xlsx_count(file), 1);
	assert_string_equal(tl__xlsx_name(file, 0), "a & b");
	tl__xlsx_close(file);
	free(b.data);
}

static void kinds_of_cells(void **state)
{
	(void)state;
	expect_cells(SHEET("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\" t=\"s\"><v>1</v></c></row>"
			   "<row r=\"3\"><c r=\"A3\" t=\"s\"><v>2</v></c><c r=\"B3\"><v>1.5E-3</v></c>"
			   "<c r=\"C3\" t=\"b\"><v>1</v></c><c r=\"D3\" t=\"b\"><v>0</v></c></row>"),
		     "0,0=name|0,2=two runs|2,0=A _x|2,1=1.5E-3|2,2=True|2,3=False|");
	expect_cells(SHEET("<row><c t=\"inlineStr\"><is><t>in</t></is></c><c t=\"str\"><f>A1</f><v>made</v></c>"
			   "<c t=\"e\"><v>#N/A</v></c><c "
			   "s=\"3\"/><c><f>1+1</f><v>2</v></c></row><row><c><v>7</v></c></row>"),
		     "0,0=in|0,1=made|0,4=2|1,0=7|");
	/* prefixes are names for the same thing */
	expect_cells(HEAD
		     "<x:worksheet xmlns:x=\"m\"><x:sheetData><x:row r=\"2\"><x:c r=\"XFD2\"><x:v>1</x:v></x:c></x:row>"
		     "</x:sheetData></x:worksheet>",
		     "1,16383=1|");
	expect_cells(SHEET(""), "");
}

static void broken_cells(void **state)
{
	(void)state;
	expect_line(SHEET("<row r=\"2\"><c r=\"B2\"><f>A1+1</f></c></row>"), NULL,
		    "sheet 'a & b', cell B2: a formula whose value is not stored");
	expect_line(SHEET("<row r=\"2\"><c r=\"B2\"><f>A1+1</f><v/></c></row>"), NULL, /* as openpyxl writes it */
		    "sheet 'a & b', cell B2: a formula whose value is not stored");
	expect_line(SHEET("<row r=\"1\"><c r=\"AA1\" t=\"s\"><v>3</v></c></row>"), NULL,
		    "cell AA1: the text that it refers to is missing");
	expect_line(SHEET("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>-1</v></c></row>"), NULL, "is missing");
	expect_line(SHEET("<row r=\"1\"><c r=\"A1\"><v>abc</v></c></row>"), NULL,
		    "cell A1: what should be a number is none");
	expect_line(SHEET("<row r=\"2\"/><row r=\"1\"/>"), NULL, "row 1 comes after row 2");
	expect_line(SHEET("<row r=\"0\"/>"), NULL, "has a row '0'");
	expect_line(SHEET("<row r=\"1\"><c r=\"B1\"/><c r=\"A1\"/></row>"), NULL, "out of order");
	expect_line(SHEET("<row r=\"1\"><c r=\"A2\"/></row>"), NULL, "row 1 has a cell 'A2'");
	expect_line(SHEET("<row r=\"1\"><c r=\"XFE1\"/></row>"), NULL, "has a cell 'XFE1'");
	expect_line(SHEET("<row r=\"1\"><c r=\"1\"/></row>"), NULL, "has a cell '1'");
}

static void broken_parts(void **state)
{
	(void)state;
	expect_line(one_cell, &(part){"xl/workbook.xml", NULL}, "part xl/workbook.xml is missing");
	expect_line(one_cell, &(part){"_rels/.rels", NULL}, "part _rels/.rels is missing");
	expect_line(one_cell, &(part){"_rels/.rels", RELATIONS "</Relationships>"}, "it has no workbook part");
	expect_line(one_cell, &(part){"xl/_rels/workbook.xml.rels", NULL},
		    "part xl/_rels/workbook.xml.rels is missing");
	expect_line(one_cell, &(part){"xl/_rels/workbook.xml.rels", RELATIONS "</Relationships>"},
		    "it has no worksheet");
	expect_line(NULL, NULL, "part xl/worksheets/sheet1.xml is missing");
	expect_line(SHEET("<row>"), NULL, "part xl/worksheets/sheet1.xml: line 2 is no XML");
	expect_line("", NULL, "is no XML");
	expect_line(SHEET("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c></row>"), &(part){"xl/sharedStrings.xml", NULL},
		    "the text that it refers to is missing");
	expect_line("<!DOCTYPE x [<!ENTITY a \"aa\">]><worksheet>&a;</worksheet>", NULL, "document type");
}

static void not_a_workbook(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_buf got = {0};
	char text[] = "name,time\n";
	assert_int_equal(read_book(&(book){text, sizeof text}, &got, &err), TL_EFORMAT);
	assert_non_null(strstr(err.message, "is no workbook, or a damaged one"));
	assert_int_equal(read_book(&(book){text, 0}, &got, &err), TL_EFORMAT);
	/* cut anywhere it is damaged, and nothing worse */
	book b = make_book(one_cell, NULL);
	for (size_t n = 0; n < b.size; n += 7)
		assert_int_equal(read_book(&(book){b.data, n}, &got, &err), TL_EFORMAT);
	free(b.data);
	tl__buf_free(&got);
}

/* 100 MB of blanks in 100 kB. */
static void a_bomb_does_not_go_off(void **state)
{
	(void)state;
	size_t n = (size_t)100 << 20;
	char *sheet = malloc(n + 1);
	memset(sheet, ' ', n);
	sheet[n] = '\0';
	memcpy(sheet, "<a>", 3);
	expect_line(sheet, NULL, "times its size");
	free(sheet);
}

static int count_cells(void *user, size_t row, size_t column, const char *text, size_t n, tl_error *err)
{
	(void)row, (void)column, (void)text, (void)n, (void)err;
	++*(size_t *)user;
	return 0;
}

static void a_hundred_thousand_rows(void **state)
{
	(void)state;
	tl_buf text = {0};
	tl__buf_puts(&text, HEAD "<worksheet><sheetData>");
	for (unsigned row = 1; row <= 100000; row++)
		tl__buf_printf(&text, "<row r=\"%u\"><c r=\"A%u\"><v>%u</v></c><c r=\"B%u\" t=\"s\"><v>1</v></c></row>",
			       row, row, row * 7919, row);
	tl__buf_puts(&text, "</sheetData></worksheet>");
	book b = make_book(tl__buf_text(&text), NULL);
	tl_xlsx_file *file;
	tl_error err = TL_ERROR_INIT;
	size_t cells = 0;
	assert_int_equal(tl__xlsx_open_memory(&file, b.data, b.size, &err), 0);
	assert_int_equal(tl__xlsx_read(file, 0, count_cells, &cells, &err), 0);
	assert_int_equal(cells, 200000);
	tl__xlsx_close(file);
	free(b.data);
	tl__buf_free(&text);
}

static void lack_of_memory(void **state)
{
	(void)state;
	book b = make_book(SHEET("<row><c t=\"s\"><v>1</v></c></row>"), NULL);
	int code = TL_ENOMEM;
	for (int64_t n = 0; code == TL_ENOMEM; n++) {
		tl_error err = TL_ERROR_INIT;
		tl_buf got = {0};
		assert_true(n < 2000);
		tl__alloc_fail_after(n);
		code = read_book(&b, &got, &err);
		tl__alloc_fail_after(-1);
		tl__buf_free(&got);
	}
	assert_int_equal(code, 0);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_sheets),
		cmocka_unit_test(kinds_of_cells),
		cmocka_unit_test(broken_cells),
		cmocka_unit_test(broken_parts),
		cmocka_unit_test(not_a_workbook),
		cmocka_unit_test(a_bomb_does_not_go_off),
		cmocka_unit_test(a_hundred_thousand_rows),
		cmocka_unit_test(lack_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
