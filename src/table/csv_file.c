/* SPDX-License-Identifier: MIT */
/* Apart from csv.c, so that rendering needs nothing of the layers that write files. */
#include <string.h>

#include "io/output.h"
#include "table/csv.h"
#include "util/aside.h"

/* Rows that are rendered at a time; with twice as many, two threads do it. */
enum { CHUNK = 4096 };

/* Some rows of a table as text. */
typedef struct chunk {
	const tl_table *table;
	size_t first, rows;
	tl_buf text;
	tl_csv_memo memo;
	char apart[128]; /* what two threads write lies in no cache line of both */
} chunk;

static void render(void *user)
{
	chunk *c = user;
	tl__buf_clear(&c->text);
	for (size_t i = 0; i < c->rows; i++)
		tl__table_csv_row(c->table, c->first + i, &c->memo, &c->text);
}

/* The next rows from `first` on. */
static void take_rows(chunk *c, size_t first)
{
	const tl_table *table = c->table;
	size_t left = table->columns.n && first < table->rows ? table->rows - first : 0;
	c->first = first;
	c->rows = left < CHUNK ? left : CHUNK;
}

/* Gives the output what there is. */
static int pass_on(tl_output *output, const tl_buf *text, tl_error *err)
{
	if (text->failed)
		return tl__nomem(err);
	tl__output_write(output, text->v, text->n);
	return 0;
}

static int write_rows(tl_output *output, chunk chunks[2], bool threaded, tl_error *err)
{
	for (size_t row = 0, rows = chunks[0].table->rows; row < rows && !tl__output_failed(output); row += 2 * CHUNK) {
		tl_aside aside;
		take_rows(&chunks[0], row);
		take_rows(&chunks[1], row + CHUNK);
		tl__aside_start(&aside, render, &chunks[1], threaded && chunks[1].rows == CHUNK);
		render(&chunks[0]);
		tl__aside_finish(&aside);
		for (int i = 0; i < 2; i++)
			TL_TRY(pass_on(output, &chunks[i].text, err));
	}
	return 0;
}

int tl__table_write_csv(const tl_table *table, const char *path, const char *shown, bool threaded, tl_error *err)
{
	chunk chunks[2] = {{.table = table}, {.table = table}};
	tl_output *output;

	TL_TRY(tl__output_open_as(&output, path, shown, err));
	tl__table_csv_head(table, &chunks[0].text);
	int code = pass_on(output, &chunks[0].text, err);
	if (code == 0)
		code = write_rows(output, chunks, threaded, err);
	for (int i = 0; i < 2; i++) {
		tl__csv_memo_free(&chunks[i].memo);
		tl__buf_free(&chunks[i].text);
	}
	if (code == 0)
		return tl__output_commit(output, err);
	tl__output_abort(output);
	return code;
}

int tl_table_write_csv(const tl_table *table, const char *path, tl_error *err)
{
	return tl__table_write_csv(table, path, strcmp(path, "-") == 0 ? "standard output" : path, false, err);
}
