/* SPDX-License-Identifier: MIT */
#include "io/xlsx_rows.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "io/xlsx_writer.h"
#include "util/format.h"
#include "util/utf8.h"

enum { BLOCK = 64 << 10 };

/* ---- the spool ---- */

static int no_room(tl_error *err, int reason)
{
	int code = tl__fail(err, TL_EIO,
			    "there was no room for the temporary files of the workbook: %s (set TMPDIR to a directory "
			    "with more room)",
			    strerror(reason));
	tl__error_system(err, reason);
	return code;
}

static int open_temporary(void)
{
	const char *folder = getenv("TMPDIR");
	char path[PATH_MAX];
	folder = folder && *folder ? folder : "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* not every file system can do that */
	if (snprintf(path, sizeof path, "%s/tracelens-XXXXXX", folder) >= (int)sizeof path)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int tl__xlsx_spool_open(tl_xlsx_spool *spool, tl_error *err)
{
	*spool = (tl_xlsx_spool){.file = NULL};
	int fd = open_temporary();
	spool->file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
	if (!spool->file) {
		int code = tl__fail_system(err, errno, "cannot make a temporary file");
		if (fd >= 0)
			close(fd);
		return code;
	}
	spool->packer = tl__packer_new(spool->file);
	return spool->packer ? 0 : tl__nomem(err);
}

void tl__xlsx_spool_close(tl_xlsx_spool *spool)
{
	tl__packer_free(spool->packer);
	if (spool->file)
		fclose(spool->file);
	tl__buf_free(&spool->xml);
	tl__buf_free(&spool->text);
	tl__buf_free(&spool->clean);
}

/* ---- cells ---- */

/* "AB" of a column. */
static void put_letters(char out[4], size_t column)
{
	char letters[4];
	size_t n = sizeof letters;
	letters[--n] = '\0';
	for (size_t c = column + 1; c && n; c = (c - 1) / 26)
		letters[--n] = (char)('A' + (c - 1) % 26);
	memcpy(out, letters + n, sizeof letters - n);
}

static void put_escaped(tl_buf *out, const char *text, size_t n)
{
	size_t from = 0;
	for (size_t i = 0; i < n; i++) {
		const char *entity = text[i] == '&'   ? "&amp;"
				     : text[i] == '<' ? "&lt;"
				     : text[i] == '>' ? "&gt;"
						      : NULL;
		if (!entity)
			continue;
		tl__buf_put(out, text + from, i - from);
		tl__buf_puts(out, entity);
		from = i + 1;
	}
	tl__buf_put(out, text + from, n - from);
}

/* columns that a number takes with its format, about */
static size_t number_width(double value, bool integral)
{
	size_t digits = 1;
	for (double least = 10; digits < 16 && fabs(value) >= least; least *= 10)
		digits++;
	return digits + digits / 3 + (value < 0) + (integral ? 0 : 4);
}

/* The text of a cell as CSV has it, in spool->text. */
static int cell_text(tl_xlsx_spool *s, const tl_table *table, size_t column, size_t row)
{
	tl_buf *buf = &s->text;
	if (buf->cap < 4096 && tl__grow((void *)&buf->v, &buf->cap, 4096, 1) < 0)
		return TL_ENOMEM;
	buf->n = tl_table_text(table, column, row, buf->v, buf->cap);
	if (buf->n >= buf->cap) {
		if (tl__grow((void *)&buf->v, &buf->cap, buf->n + 1, 1) < 0)
			return TL_ENOMEM;
		buf->n = tl_table_text(table, column, row, buf->v, buf->cap);
	}
	return 0;
}

/* A sheet whose rows are being told. */
typedef struct writer {
	tl_xlsx_spool *spool;
	const tl_table *table;
	size_t *widths;
	struct column {
		char letters[4], style[32]; /* style: what follows the place of a number, up to the number */
		size_t n_letters, n_style;
		tl_type type;
	} * columns;
	char number[24]; /* of the row */
	size_t n_number;
} writer;

/* Text of known length: a workbook has millions of cells. */
#define PUT(out, literal) tl__buf_put(out, literal, sizeof(literal) - 1)

static void begin_cell(writer *w, size_t column)
{
	tl_buf *out = &w->spool->xml;
	const struct column *c = &w->columns[column];
	PUT(out, "<c r=\"");
	tl__buf_put(out, c->letters, c->n_letters);
	tl__buf_put(out, w->number, w->n_number);
}

static void widen(writer *w, size_t column, size_t width)
{
	w->widths[column] = width > w->widths[column] ? width : w->widths[column];
}

/* Whole numbers have no ".0". */
static void put_number(writer *w, size_t column, double value, bool integral)
{
	tl_buf *out = &w->spool->xml;
	begin_cell(w, column);
	tl__buf_put(out, w->columns[column].style, w->columns[column].n_style);
	if (integral)
		tl__buf_int(out, (int64_t)value);
	else
		tl__buf_double(out, value);
	if (!integral && !out->failed && out->n > 2 && !memcmp(out->v + out->n - 2, ".0", 2))
		out->n -= 2;
	PUT(out, "</v></c>");
	if (w->widths[column] < TL_XLSX_MAX_WIDTH)
		widen(w, column, number_width(value, integral) + 1);
}

static int put_text(writer *w, size_t column, size_t row)
{
	tl_xlsx_spool *s = w->spool;
	tl_buf *out = &s->xml;
	if (cell_text(s, w->table, column, row) < 0)
		return TL_ENOMEM;
	const char *text = tl__xlsx_text(&s->clean, s->text.v, s->text.n);
	if (!text)
		return TL_ENOMEM;
	size_t n = text == s->text.v ? s->text.n : s->clean.n;
	if (!n)
		return 0;
	bool blank = isspace((unsigned char)text[0]) || isspace((unsigned char)text[n - 1]);
	begin_cell(w, column);
	PUT(out, "\" t=\"inlineStr\"><is><t");
	if (blank)
		PUT(out, " xml:space=\"preserve\"");
	tl__buf_putc(out, '>');
	put_escaped(out, text, n);
	PUT(out, "</t></is></c>");
	if (w->widths[column] < TL_XLSX_MAX_WIDTH) /* what is shown is the first line */
		widen(w, column, tl__utf8_count(text, strcspn(text, "\n")) + 1);
	return 0;
}

static int put_cell(writer *w, size_t column, size_t row)
{
	/* integers up to here are exact in the doubles of a workbook */
	static const int64_t exact = INT64_C(1) << 53;
	const tl_table *table = w->table;
	if (tl_table_is_null(table, column, row))
		return 0;
	tl_type type = w->columns[column].type;
	if (type == TL_TYPE_BOOL) {
		begin_cell(w, column);
		PUT(&w->spool->xml, "\" t=\"b\"><v>");
		tl__buf_putc(&w->spool->xml, tl_table_int(table, column, row) ? '1' : '0');
		PUT(&w->spool->xml, "</v></c>");
		widen(w, column, 7);
		return 0;
	}
	if (type == TL_TYPE_INT64) {
		int64_t value = tl_table_int(table, column, row);
		if (value >= -exact && value <= exact) {
			put_number(w, column, (double)value, true);
			return 0;
		}
	}
	if (type == TL_TYPE_DOUBLE) {
		double value = tl_table_double(table, column, row);
		if (isnan(value))
			return 0;
		if (!isinf(value)) {
			put_number(w, column, value, false);
			return 0;
		}
	}
	return put_text(w, column, row);
}

static int put_row(writer *w, size_t row)
{
	tl_buf *out = &w->spool->xml;
	size_t start = out->n;
	w->n_number = tl__format_int(w->number, (int64_t)row + 2); /* they count from 1, and row 1 is the head */
	PUT(out, "<row r=\"");
	tl__buf_put(out, w->number, w->n_number);
	PUT(out, "\">");
	size_t empty = out->n;
	for (size_t c = 0; c < tl_table_columns(w->table); c++)
		TL_TRY(put_cell(w, c, row));
	if (out->n == empty)
		out->n = start;
	else
		PUT(out, "</row>");
	return out->failed ? TL_ENOMEM : 0;
}

int tl__xlsx_spool_table(tl_xlsx_rows *out, tl_xlsx_spool *s, const tl_table *table, const int32_t *formats,
			 size_t *widths, tl_error *err)
{
	size_t rows = tl_table_rows(table), columns = tl_table_columns(table);
	writer w = {.spool = s, .table = table, .widths = widths};
	*out = (tl_xlsx_rows){.at = s->at, .rows = rows, .columns = columns};
	if (!rows || !columns) {
		out->rows = 0;
		return 0;
	}
	w.columns = tl__calloc(columns, sizeof *w.columns);
	if (!w.columns)
		return tl__nomem(err);
	for (size_t c = 0; c < columns; c++) {
		struct column *column = &w.columns[c];
		put_letters(column->letters, c);
		column->n_letters = strlen(column->letters);
		column->n_style = (size_t)(formats[c] ? snprintf(column->style, sizeof column->style, "\" s=\"%d\"><v>",
								 (int)formats[c])
						      : snprintf(column->style, sizeof column->style, "\"><v>"));
		column->type = tl_table_column_type(table, c); /* which may search for a cell that tells */
	}
	int code = 0;
	tl__buf_clear(&s->xml);
	for (size_t row = 0; row < rows && code == 0; row++) {
		code = put_row(&w, row);
		if (code == 0 && (s->xml.n >= BLOCK || row + 1 == rows)) {
			tl__pack(s->packer, s->xml.v, s->xml.n);
			tl__buf_clear(&s->xml);
		}
	}
	tl__free(w.columns);
	if (code < 0)
		return tl__nomem(err);
	out->piece = tl__pack_end(s->packer, false);
	s->at += out->piece.packed;
	return ferror(s->file) ? no_room(err, errno) : 0;
}

/* ---- joining ---- */

static int read_whole(tl_buf *out, const char *path, tl_error *err)
{
	FILE *file = fopen(path, "rb");
	int code = file ? tl__buf_read(out, file, SIZE_MAX) : TL_EIO, reason = errno;
	if (file)
		fclose(file);
	if (code == TL_EIO)
		return tl__fail_system(err, reason, "cannot read the workbook back");
	return code < 0 ? tl__nomem(err) : 0;
}

static int read_part(tl_buf *out, zip_t *archive, zip_uint64_t index, tl_error *err)
{
	zip_file_t *part = zip_fopen_index(archive, index, 0);
	zip_int64_t got = part ? 1 : -1;
	tl__buf_clear(out);
	while (got > 0) {
		char *room = tl__buf_reserve(out, BLOCK);
		if (!room)
			break;
		got = zip_fread(part, room, BLOCK);
		out->n += got > 0 ? (size_t)got : 0;
	}
	if (part)
		zip_fclose(part);
	if (out->failed)
		return tl__nomem(err);
	return got < 0 ? tl__fail(err, TL_EIO, "cannot read a part of the workbook back") : 0;
}

/* Pieces of the workbook as they are packed anew. */
typedef struct joiner {
	tl_xlsx_spool *spool;
	tl_zip_out zip;
	FILE *scratch; /* packs into memory */
	char *memory;  /* what it holds, `packed` bytes */
	size_t packed;
	tl_packer *packer;
	tl_buf part, head;
	tl_error *err;
} joiner;

/* Which sheet a part is, SIZE_MAX: none. libxlsxwriter numbers them from 1 in the order of their tabs. */
static size_t sheet_of(const char *name)
{
	unsigned number;
	int n = 0;
	return sscanf(name, "xl/worksheets/sheet%u.xml%n", &number, &n) == 1 && n && !name[n] && number ? number - 1
													: SIZE_MAX;
}

static int copy_rows(joiner *j, const tl_xlsx_rows *rows)
{
	char block[BLOCK];
	uint64_t left = rows->piece.packed;
	if (fseeko(j->spool->file, (off_t)rows->at, SEEK_SET) != 0)
		return no_room(j->err, errno);
	while (left) {
		size_t n = fread(block, 1, left < sizeof block ? (size_t)left : sizeof block, j->spool->file);
		if (!n)
			return no_room(j->err, ferror(j->spool->file) ? errno : ENOSPC);
		tl__zip_data(&j->zip, block, n);
		left -= n;
	}
	return 0;
}

/* Replaces what the head of a sheet says of its size, which was that of its first row. Returns where the rest is. */
static const char *put_dimension(tl_buf *out, const tl_buf *part, const tl_xlsx_rows *rows)
{
	static const char tag[] = "<dimension ref=\"";
	char letters[4];
	const char *at = memmem(part->v, part->n, tag, sizeof tag - 1), *end = part->v + part->n;
	const char *quote = at ? memchr(at + sizeof tag - 1, '"', (size_t)(end - at) - (sizeof tag - 1)) : NULL;
	tl__buf_clear(out);
	if (!quote)
		return part->v;
	put_letters(letters, rows->columns - 1);
	tl__buf_put(out, part->v, (size_t)(at - part->v));
	tl__buf_printf(out, "%sA1:%s%zu", tag, letters, rows->rows + 1);
	return quote;
}

/* Packs a piece into memory. */
static tl_packed pack(joiner *j, const char *text, size_t n, bool last)
{
	tl__pack(j->packer, text, n);
	return tl__pack_end(j->packer, last);
}

static int put_sheet(joiner *j, const char *name, const tl_xlsx_rows *rows)
{
	static const char mark[] = "</sheetData>";
	const char *end = j->part.v + j->part.n, *rest = put_dimension(&j->head, &j->part, rows);
	const char *cut = memmem(rest, (size_t)(end - rest), mark, sizeof mark - 1);
	if (!cut)
		return tl__fail(j->err, TL_EIO, "a sheet of the workbook has no rows");
	tl__buf_put(&j->head, rest, (size_t)(cut - rest));
	if (j->head.failed)
		return tl__nomem(j->err);
	tl_packed head = pack(j, j->head.v, j->head.n, false);
	tl_packed tail = pack(j, cut, (size_t)(end - cut), true);
	if (fflush(j->scratch) != 0 || ferror(j->scratch) ||
	    tl__zip_begin(&j->zip, name, tl__packed_join(tl__packed_join(head, rows->piece), tail)) < 0)
		return tl__nomem(j->err);
	tl__zip_data(&j->zip, j->memory, head.packed);
	TL_TRY(copy_rows(j, rows));
	tl__zip_data(&j->zip, j->memory + head.packed, tail.packed);
	return 0;
}

static int put_other(joiner *j, const char *name)
{
	tl_packed whole = pack(j, j->part.v, j->part.n, true);
	if (fflush(j->scratch) != 0 || ferror(j->scratch) || tl__zip_begin(&j->zip, name, whole) < 0)
		return tl__nomem(j->err);
	tl__zip_data(&j->zip, j->memory, whole.packed);
	return 0;
}

static int put_parts(joiner *j, zip_t *archive, const tl_xlsx_rows *rows, size_t n)
{
	zip_int64_t parts = zip_get_num_entries(archive, 0);
	for (zip_int64_t i = 0; i < parts; i++) {
		const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
		size_t sheet = name ? sheet_of(name) : SIZE_MAX;
		if (!name)
			return tl__nomem(j->err);
		TL_TRY(read_part(&j->part, archive, (zip_uint64_t)i, j->err));
		rewind(j->scratch);
		if (sheet < n && rows[sheet].rows)
			TL_TRY(put_sheet(j, name, &rows[sheet]));
		else
			TL_TRY(put_other(j, name));
	}
	tl__zip_end(&j->zip);
	return 0;
}

/* Opens the workbook that is at hand as `data`, and the same file for writing. */
static int join_parts(joiner *j, const char *path, const tl_buf *data, const tl_xlsx_rows *rows, size_t n)
{
	zip_source_t *source = zip_source_buffer_create(data->v, data->n, 0, NULL);
	zip_t *archive = source ? zip_open_from_source(source, ZIP_RDONLY, NULL) : NULL;
	if (!archive) {
		zip_source_free(source);
		return tl__fail(j->err, TL_EIO, "cannot read the workbook back");
	}
	int code = 0;
	j->zip.out = fopen(path, "wb");
	if (!j->zip.out)
		code = tl__fail_system(j->err, errno, "cannot write the workbook");
	else
		code = put_parts(j, archive, rows, n);
	if (j->zip.out) {
		bool failed = ferror(j->zip.out) != 0;
		failed |= fclose(j->zip.out) != 0;
		if (failed && code == 0)
			code = tl__fail_system(j->err, errno, "cannot write the workbook");
	}
	zip_discard(archive);
	return code;
}

int tl__xlsx_put_rows(const char *path, tl_xlsx_spool *spool, const tl_xlsx_rows *rows, size_t n, tl_error *err)
{
	joiner j = {.spool = spool, .err = err};
	tl_buf data = {0};
	if (fflush(spool->file) != 0)
		return no_room(err, errno);
	int code = read_whole(&data, path, err);
	if (code < 0) {
		tl__buf_free(&data);
		return code;
	}
	j.scratch = open_memstream(&j.memory, &j.packed);
	j.packer = j.scratch ? tl__packer_new(j.scratch) : NULL;
	code = j.packer ? join_parts(&j, path, &data, rows, n) : tl__nomem(err);
	tl__packer_free(j.packer);
	if (j.scratch)
		fclose(j.scratch);
	free(j.memory);
	tl__zip_free(&j.zip);
	tl__buf_free(&j.part);
	tl__buf_free(&j.head);
	tl__buf_free(&data);
	return code;
}
