/* SPDX-License-Identifier: MIT */
/* Apart from csv.c, so that rendering needs nothing of the layers that write files. */
#include <string.h>

#include "io/output.h"
#include "table/csv.h"

int tl__table_write_csv(const tl_table *table, const char *path, const char *shown, tl_error *err)
{
	tl_buf text = {0};
	tl_output *output;
	int code = tl__table_csv(table, &text) < 0 ? tl__nomem(err) : tl__output_open_as(&output, path, shown, err);

	if (code == 0) {
		tl__output_write(output, text.v, text.n);
		code = tl__output_commit(output, err);
	}
	tl__buf_free(&text);
	return code;
}

int tl_table_write_csv(const tl_table *table, const char *path, tl_error *err)
{
	return tl__table_write_csv(table, path, strcmp(path, "-") == 0 ? "standard output" : path, err);
}
