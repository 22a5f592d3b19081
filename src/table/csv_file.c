/* SPDX-License-Identifier: MIT */
/* Apart from csv.c, so that rendering needs nothing of the layers that write files. */
#include <string.h>

#include "io/output.h"
#include "table/csv.h"

enum { BLOCK = 64 << 10 };

/* Gives the output what there is, when it is worth it. */
static int pass_on(tl_output *output, tl_buf *text, size_t least, tl_error *err)
{
	if (text->failed)
		return tl__nomem(err);
	if (text->n < least)
		return 0;
	tl__output_write(output, text->v, text->n);
	tl__buf_clear(text);
	return 0;
}

int tl__table_write_csv(const tl_table *table, const char *path, const char *shown, tl_error *err)
{
	tl_buf text = {0};
	tl_output *output;

	TL_TRY(tl__output_open_as(&output, path, shown, err));
	tl__table_csv_head(table, &text);
	int code = pass_on(output, &text, 1, err);
	for (size_t row = 0; table->columns.n && row < table->rows && code == 0 && !tl__output_failed(output); row++) {
		tl__table_csv_row(table, row, &text);
		code = pass_on(output, &text, BLOCK, err);
	}
	if (code == 0)
		code = pass_on(output, &text, 1, err);
	tl__buf_free(&text);
	if (code == 0)
		return tl__output_commit(output, err);
	tl__output_abort(output);
	return code;
}

int tl_table_write_csv(const tl_table *table, const char *path, tl_error *err)
{
	return tl__table_write_csv(table, path, strcmp(path, "-") == 0 ? "standard output" : path, err);
}
