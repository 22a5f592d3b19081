/* SPDX-License-Identifier: MIT */
#include "io/xlsx_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/xlsx_parts.h"
#include "util/alloc.h"
#include "util/buf.h"
#include "util/format.h"
#include "util/text.h"
#include "util/utf8.h"

/* Excel holds 32767 characters in a cell; other programs write more. */
#define MAX_CELL_BYTES ((size_t)16 << 20)
#define MAX_ROWS 1048576
#define MAX_COLUMNS 16384
#define MAX_SHEETS 10000

typedef struct sheet {
	char *name, *id;
	char *part; /* path in the zip file; NULL as long as unknown */
} sheet;

struct tl_xlsx_file {
	zip_t *archive;
	char *workbook;       /* path of that part */
	TL_VEC(sheet) sheets; /* worksheets, in the order of their tabs */
	tl_buf texts;         /* shared texts, one behind the other */
	TL_VEC(size_t) ends;  /* of each */
};

static int copy_text(char **out, const char *text, tl_error *err)
{
	*out = tl__strdup(text);
	return *out ? 0 : tl__nomem(err);
}

/* ---- which sheets there are ---- */

static int on_sheet(void *user, const char *element, const char **attributes, tl_error *err)
{
	tl_xlsx_file *file = user;
	if (strcmp(element, "sheet") != 0)
		return 0;
	const char *name = tl__xlsx_attribute(attributes, "name"), *id = tl__xlsx_attribute(attributes, "id");
	if (!name || !id)
		return tl__fail(err, TL_EFORMAT, "a sheet of the workbook has no name");
	if (file->sheets.n == MAX_SHEETS)
		return tl__fail(err, TL_ELIMIT, "it has over %d sheets", MAX_SHEETS);
	if (TL_VEC_PUSH(&file->sheets, (sheet){0}) < 0)
		return tl__nomem(err);
	sheet *s = &file->sheets.v[file->sheets.n - 1];
	TL_TRY(copy_text(&s->name, name, err));
	return copy_text(&s->id, id, err);
}

/* Where a part is that another one names: from the root, or beside that one. */
static int resolve(char **out, const char *beside, const char *target, tl_error *err)
{
	tl_buf path = {0};
	const char *slash = strrchr(beside, '/');
	size_t n = slash ? (size_t)(slash - beside) + 1 : 0;
	if (*target == '/') {
		target++;
		n = 0;
	}
	for (; !strncmp(target, "./", 2) || !strncmp(target, "../", 3); target = strchr(target, '/') + 1) {
		if (target[1] == '/' || n == 0)
			continue;
		for (n--; n > 0 && beside[n - 1] != '/'; n--)
			;
	}
	tl__buf_put(&path, beside, n);
	tl__buf_puts(&path, target);
	const char *text = tl__buf_text(&path);
	int code = text ? copy_text(out, text, err) : tl__nomem(err);
	tl__buf_free(&path);
	return code;
}

/* _rels/.rels: where the workbook is */
static int on_root_relation(void *user, const char *element, const char **attributes, tl_error *err)
{
	tl_xlsx_file *file = user;
	const char *target = tl__xlsx_attribute(attributes, "Target");
	if (file->workbook || !target || strcmp(element, "Relationship") != 0 ||
	    !tl__ends_with(tl__xlsx_attribute(attributes, "Type"), "/officeDocument"))
		return 0;
	return resolve(&file->workbook, "", target, err);
}

static int on_relation(void *user, const char *element, const char **attributes, tl_error *err)
{
	tl_xlsx_file *file = user;
	const char *id = tl__xlsx_attribute(attributes, "Id"), *target = tl__xlsx_attribute(attributes, "Target");
	if (!id || !target || strcmp(element, "Relationship") != 0 ||
	    !tl__ends_with(tl__xlsx_attribute(attributes, "Type"), "/worksheet"))
		return 0;
	for (size_t i = 0; i < file->sheets.n; i++) {
		sheet *s = &file->sheets.v[i];
		if (!s->part && !strcmp(s->id, id))
			return resolve(&s->part, file->workbook, target, err);
	}
	return 0;
}

static void sheet_free(sheet *s)
{
	tl__free(s->name);
	tl__free(s->id);
	tl__free(s->part);
}

/* Sheets that are no worksheets (charts, macros) have no part. */
static void forget_others(tl_xlsx_file *file)
{
	size_t kept = 0;
	for (size_t i = 0; i < file->sheets.n; i++) {
		if (file->sheets.v[i].part)
			file->sheets.v[kept++] = file->sheets.v[i];
		else
			sheet_free(&file->sheets.v[i]);
	}
	file->sheets.n = kept;
}

/* A part that must be there. */
static int need(int code, tl_error *err)
{
	if (code == TL_ENOTFOUND && err)
		err->code = TL_EFORMAT;
	return code == TL_ENOTFOUND ? TL_EFORMAT : code;
}

static int read_sheet_list(tl_xlsx_file *file, tl_error *err)
{
	static const tl_xlsx_events root = {.start = on_root_relation}, workbook = {.start = on_sheet},
				    relations = {.start = on_relation};
	TL_TRY(need(tl__xlsx_read_part(file->archive, "_rels/.rels", &root, file, err), err));
	if (!file->workbook)
		return tl__fail(err, TL_EFORMAT, "it has no workbook part");
	TL_TRY(need(tl__xlsx_read_part(file->archive, file->workbook, &workbook, file, err), err));
	tl_buf path = {0};
	const char *slash = strrchr(file->workbook, '/');
	int folder = slash ? (int)(slash - file->workbook) + 1 : 0;
	tl__buf_printf(&path, "%.*s_rels/%s.rels", folder, file->workbook, file->workbook + folder);
	const char *text = tl__buf_text(&path);
	int code = text ? need(tl__xlsx_read_part(file->archive, text, &relations, file, err), err) : tl__nomem(err);
	tl__buf_free(&path);
	TL_TRY(code);
	forget_others(file);
	return file->sheets.n ? 0 : tl__fail(err, TL_EFORMAT, "it has no worksheet");
}

/* ---- texts ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

/* Undoes `_x000D_`, as workbooks write what XML cannot hold, in place. */
static void unescape(tl_buf *text, size_t start)
{
	if (text->failed || text->n - start < 7 || !memmem(text->v + start, text->n - start, "_x", 2))
		return;
	size_t to = start;
	for (size_t i = start; i < text->n; i++) {
		const char *p = text->v + i;
		uint32_t code = 0;
		int digits = 0;
		if (text->n - i >= 7 && p[0] == '_' && p[1] == 'x' && p[6] == '_')
			for (; digits < 4 && hex_digit(p[2 + digits]) >= 0; digits++)
				code = code * 16 + (uint32_t)hex_digit(p[2 + digits]);
		if (digits == 4 && code && (code < 0xd800 || code > 0xdfff)) {
			char utf8[4];
			size_t n = tl__utf8_encode(utf8, code);
			memcpy(text->v + to, utf8, n); /* shorter than what it stands for */
			to += n;
			i += 6;
		} else {
			text->v[to++] = *p;
		}
	}
	text->n = to;
}

typedef struct text_state {
	tl_xlsx_file *file;
	int in_text, in_phonetic; /* inside <t>; inside <rPh>, which is how a text is pronounced */
	size_t start;
} text_state;

static int on_text_start(void *user, const char *element, const char **attributes, tl_error *err)
{
	text_state *s = user;
	(void)attributes, (void)err;
	s->in_text += !strcmp(element, "t");
	s->in_phonetic += !strcmp(element, "rPh");
	if (!strcmp(element, "si"))
		s->start = s->file->texts.n;
	return 0;
}

static int on_text_end(void *user, const char *element, tl_error *err)
{
	text_state *s = user;
	s->in_text -= !strcmp(element, "t");
	s->in_phonetic -= !strcmp(element, "rPh");
	if (strcmp(element, "si") != 0)
		return 0;
	unescape(&s->file->texts, s->start);
	return TL_VEC_PUSH(&s->file->ends, s->file->texts.n) < 0 ? tl__nomem(err) : 0;
}

static int on_text(void *user, const char *text, size_t n, tl_error *err)
{
	text_state *s = user;
	if (!s->in_text || s->in_phonetic)
		return 0;
	tl__buf_put(&s->file->texts, text, n);
	return s->file->texts.failed ? tl__nomem(err) : 0;
}

static int read_texts(tl_xlsx_file *file, tl_error *err)
{
	static const tl_xlsx_events events = {on_text_start, on_text_end, on_text};
	text_state s = {.file = file};
	tl_buf path = {0};
	const char *slash = strrchr(file->workbook, '/');
	int folder = slash ? (int)(slash - file->workbook) + 1 : 0;
	tl__buf_printf(&path, "%.*ssharedStrings.xml", folder, file->workbook);
	const char *text = tl__buf_text(&path);
	int code = text ? tl__xlsx_read_part(file->archive, text, &events, &s, err) : tl__nomem(err);
	tl__buf_free(&path);
	return code == TL_ENOTFOUND ? 0 : code; /* texts may stand in the cells */
}

/* ---- cells ---- */

typedef struct cell_state {
	const tl_xlsx_file *file;
	const char *name; /* of the sheet */
	tl_cell_fn each;
	void *user;
	size_t row, column; /* of the present cell */
	size_t rows;        /* rows begun */
	size_t next_column;
	char type[12];
	bool in_cell, in_phonetic, formula, has_value;
	int in_value; /* inside <v>, or <t> of a text in the cell */
	tl_buf text;
} cell_state;

/* "AB12": column and row from 0; the row is left alone when there are no digits. */
static bool read_place(const char *text, size_t *column, size_t *row)
{
	size_t c = 0, r = 0;
	for (; *text >= 'A' && *text <= 'Z' && c <= MAX_COLUMNS; text++)
		c = c * 26 + (size_t)(*text - 'A') + 1;
	for (; *text >= '0' && *text <= '9' && r <= MAX_ROWS; text++)
		r = r * 10 + (size_t)(*text - '0');
	if (*text || !c || c > MAX_COLUMNS || !r || r > MAX_ROWS)
		return false;
	*column = c - 1;
	*row = r - 1;
	return true;
}

/* "AB12" of a place. */
static const char *place_name(char out[16], size_t column, size_t row)
{
	char letters[8];
	size_t n = sizeof letters;
	letters[--n] = '\0';
	for (size_t c = column + 1; c && n; c = (c - 1) / 26)
		letters[--n] = (char)('A' + (c - 1) % 26);
	snprintf(out, 16, "%s%u", letters + n, (unsigned)(row + 1));
	return out;
}

static int fail_cell(const cell_state *s, tl_error *err, const char *what)
{
	char place[16];
	return tl__fail(err, TL_EFORMAT, "sheet '%.100s', cell %s: %s", s->name, place_name(place, s->column, s->row),
			what);
}

static int begin_row(cell_state *s, const char **attributes, tl_error *err)
{
	const char *r = tl__xlsx_attribute(attributes, "r");
	int64_t number = (int64_t)s->rows + 1;
	if ((r && !tl__parse_int(r, strlen(r), &number)) || number < 1 || number > MAX_ROWS)
		return tl__fail(err, TL_EFORMAT, "sheet '%.100s' has a row '%.20s'", s->name, r ? r : "");
	if ((size_t)number <= s->rows)
		return tl__fail(err, TL_EFORMAT, "sheet '%.100s': row %" PRId64 " comes after row %zu", s->name, number,
				s->rows);
	s->rows = (size_t)number;
	s->next_column = 0;
	return 0;
}

static int begin_cell(cell_state *s, const char **attributes, tl_error *err)
{
	const char *place = tl__xlsx_attribute(attributes, "r"), *type = tl__xlsx_attribute(attributes, "t");
	size_t row = s->rows - 1;
	s->row = row;
	s->column = s->next_column;
	if (place && (!read_place(place, &s->column, &row) || row != s->row))
		return tl__fail(err, TL_EFORMAT, "sheet '%.100s', row %zu has a cell '%.20s'", s->name, s->row + 1,
				place);
	if (s->column < s->next_column || s->column >= MAX_COLUMNS)
		return fail_cell(s, err, "the cells of its row are out of order");
	s->next_column = s->column + 1;
	snprintf(s->type, sizeof s->type, "%s", type ? type : "n");
	s->in_cell = true;
	s->formula = s->has_value = s->in_phonetic = false;
	s->in_value = 0;
	tl__buf_clear(&s->text);
	return 0;
}

static int on_cell_start(void *user, const char *element, const char **attributes, tl_error *err)
{
	cell_state *s = user;
	if (!strcmp(element, "row"))
		return begin_row(s, attributes, err);
	if (!strcmp(element, "c"))
		return s->rows ? begin_cell(s, attributes, err) : 0;
	if (!s->in_cell)
		return 0;
	if (!strcmp(element, "v") || !strcmp(element, "t")) {
		s->in_value++;
		s->has_value = true;
	} else if (!strcmp(element, "f")) {
		s->formula = true;
	} else if (!strcmp(element, "rPh")) {
		s->in_phonetic = true;
	}
	return 0;
}

static int on_cell_text(void *user, const char *text, size_t n, tl_error *err)
{
	cell_state *s = user;
	if (!s->in_value || s->in_phonetic)
		return 0;
	tl__buf_put(&s->text, text, n);
	if (s->text.n > MAX_CELL_BYTES)
		return fail_cell(s, err, "its text is too long");
	return s->text.failed ? tl__nomem(err) : 0;
}

static int give(cell_state *s, const char *text, size_t n, tl_error *err)
{
	return s->each(s->user, s->row, s->column, text, n, err);
}

static int give_shared(cell_state *s, const char *number, tl_error *err)
{
	const tl_xlsx_file *file = s->file;
	int64_t index;
	if (!tl__parse_int(number, s->text.n, &index) || index < 0 || (size_t)index >= file->ends.n)
		return fail_cell(s, err, "the text that it refers to is missing");
	size_t start = index ? file->ends.v[index - 1] : 0, n = file->ends.v[index] - start;
	tl__buf_clear(&s->text); /* a copy, for the NUL behind it */
	tl__buf_put(&s->text, file->texts.v + start, n);
	const char *text = tl__buf_text(&s->text);
	return text ? give(s, text, n, err) : tl__nomem(err);
}

static int end_cell(cell_state *s, tl_error *err)
{
	bool text_result = !strcmp(s->type, "str"); /* which may be empty */
	s->in_cell = false;
	if (!s->has_value || (s->formula && !s->text.n && !text_result))
		return s->formula ? fail_cell(s, err,
					      "a formula whose value is not stored (save the file in a "
					      "spreadsheet program first)")
				  : 0;
	const char *text = tl__buf_text(&s->text);
	double number;
	if (!text)
		return tl__nomem(err);
	if (!strcmp(s->type, "s"))
		return give_shared(s, text, err);
	if (!strcmp(s->type, "b"))
		return *text == '1' || !strcmp(text, "true") ? give(s, "True", 4, err) : give(s, "False", 5, err);
	if (!strcmp(s->type, "e"))
		return 0;
	if (!strcmp(s->type, "n")) {
		if (s->text.n && !tl__parse_double(text, s->text.n, &number))
			return fail_cell(s, err, "what should be a number is none");
		return give(s, text, s->text.n, err);
	}
	unescape(&s->text, 0);
	text = tl__buf_text(&s->text);
	return text ? give(s, text, s->text.n, err) : tl__nomem(err);
}

static int on_cell_end(void *user, const char *element, tl_error *err)
{
	cell_state *s = user;
	if (!s->in_cell)
		return 0;
	if (!strcmp(element, "c"))
		return end_cell(s, err);
	if (!strcmp(element, "v") || !strcmp(element, "t"))
		s->in_value--;
	else if (!strcmp(element, "rPh"))
		s->in_phonetic = false;
	return 0;
}

int tl__xlsx_read(tl_xlsx_file *file, size_t index, tl_cell_fn each, void *user, tl_error *err)
{
	static const tl_xlsx_events events = {on_cell_start, on_cell_end, on_cell_text};
	const sheet *from = &file->sheets.v[index];
	cell_state s = {.file = file, .name = from->name, .each = each, .user = user};
	int code = need(tl__xlsx_read_part(file->archive, from->part, &events, &s, err), err);
	tl__buf_free(&s.text);
	return code;
}

/* ---- opening ---- */

static int open_source(tl_xlsx_file **out, zip_source_t *source, tl_error *err)
{
	zip_error_t why;
	zip_error_init(&why);
	*out = NULL;
	tl_xlsx_file *file = tl__calloc(1, sizeof *file);
	zip_t *archive = file && source ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
	int code = 0;
	if (!file || !source)
		code = tl__nomem(err);
	else if (!archive)
		code = zip_error_system_type(&why) == ZIP_ET_SYS
			       ? tl__fail_system(err, zip_error_code_system(&why), "cannot be read")
			       : tl__fail(err, TL_EFORMAT, "is no workbook, or a damaged one: %s",
					  zip_error_strerror(&why));
	if (!archive && source)
		zip_source_free(source);
	zip_error_fini(&why);
	if (code == 0) {
		file->archive = archive;
		code = read_sheet_list(file, err);
	}
	if (code == 0)
		code = read_texts(file, err);
	if (code < 0) {
		tl__xlsx_close(file);
		return code;
	}
	*out = file;
	return 0;
}

int tl__xlsx_open_memory(tl_xlsx_file **out, const void *data, size_t size, tl_error *err)
{
	return open_source(out, zip_source_buffer_create(data, size, 0, NULL), err);
}

static bool is_ole(const char *path)
{
	static const unsigned char magic[] = {0xd0, 0xcf, 0x11, 0xe0};
	unsigned char head[sizeof magic];
	FILE *f = fopen(path, "rb");
	bool ole = f && fread(head, 1, sizeof head, f) == sizeof head && !memcmp(head, magic, sizeof magic);
	if (f)
		fclose(f);
	return ole;
}

int tl__xlsx_open(tl_xlsx_file **out, const char *path, tl_error *err)
{
	*out = NULL;
	int code;
	if (access(path, R_OK) != 0)
		code = tl__fail_system(err, errno, "cannot open");
	else if (is_ole(path))
		code = tl__fail(err, TL_EFORMAT, "is an old .xls file or one with a password; save it as plain .xlsx");
	else
		code = open_source(out, zip_source_file_create(path, 0, -1, NULL), err);
	if (code < 0 && code != TL_ENOMEM)
		tl__error_where(err, path, -1);
	return code;
}

bool tl__xlsx_detect(const char *path)
{
	zip_t *archive = zip_open(path, ZIP_RDONLY, NULL);
	bool found = archive && zip_name_locate(archive, "[Content_Types].xml", 0) >= 0;
	if (archive)
		zip_discard(archive);
	return found;
}

size_t tl__xlsx_count(const tl_xlsx_file *file)
{
	return file->sheets.n;
}

const char *tl__xlsx_name(const tl_xlsx_file *file, size_t index)
{
	return file->sheets.v[index].name;
}

void tl__xlsx_close(tl_xlsx_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->sheets.n; i++)
		sheet_free(&file->sheets.v[i]);
	TL_VEC_FREE(&file->sheets);
	TL_VEC_FREE(&file->ends);
	tl__buf_free(&file->texts);
	tl__free(file->workbook);
	if (file->archive)
		zip_discard(file->archive);
	tl__free(file);
}
