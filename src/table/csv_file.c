/* SPDX-License-Identifier: MIT */
/* Apart from csv.c, so that rendering needs nothing of the layers that write files. */
#include <string.h>

#include "io/output.h"
#include "table/csv.h"
#include "util/aside.h"

/* Rows that are rendered at a time; the ones before them are written meanwhile. */
enum { CHUNK = 4096 };

/* Some rows of a table as text. */
typedef struct chunk {
	const tl_table *table;
	size_t first, rows;
	tl_csv_memo *memo;
	tl_buf text;
	char apart[128]; /* what two threads use lies in no cache line of both */
} chunk;

/* The next rows from `first` on. */
static void take_rows(chunk *c, size_t first)
{
	const tl_table *table = c->table;
	size_t left = table->columns.n && first < table->rows ? table->rows - first : 0;
	c->first = first;
	c->rows = left < CHUNK ? left : CHUNK;
}

static void render(void *user)
{
	chunk *c = user;
	tl__buf_clear(&c->text);
	for (size_t i = 0; i < c->rows; i++)
		tl__table_csv_row(c->table, c->first + i, c->memo, &c->text);
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
	chunk *now = &chunks[0], *next = &chunks[1];
	take_rows(now, 0);
	render(now);
	while (now->rows && !tl__output_failed(output)) {
		tl_aside aside;
		take_rows(next, now->first + now->rows);
		tl__aside_start(&aside, render, next, threaded && next->rows);
		int code = pass_on(output, &now->text, err);
		tl__aside_finish(&aside);
		TL_TRY(code);
		chunk *done = now;
		now = next;
		next = done;
	}
	return 0;
}

int tl__table_write_csv(const tl_table *table, const char *path, const char *shown, bool threaded, tl_error *err)
{
	tl_csv_memo memo = {0};
	chunk chunks[2] = {{.table = table, .memo = &memo}, {.table = table, .memo = &memo}};
	tl_output *output;

	TL_TRY(tl__output_open_as(&output, path, shown, err));
	tl__table_csv_head(table, &chunks[0].text);
	int code = pass_on(output, &chunks[0].text, err);
	if (code == 0)
		code = write_rows(output, chunks, threaded, err);
	tl__csv_memo_free(&memo);
	for (int i = 0; i < 2; i++)
		tl__buf_free(&chunks[i].text);
	if (code == 0)
		return tl__output_commit(output, err);
	tl__output_abort(output);
	return code;
}

int tl_table_write_csv(const tl_table *table, const char *path, tl_error *err)
{
	return tl__table_write_csv(table, path, path && strcmp(path, "-") == 0 ? "standard output" : path, false, err);
}
