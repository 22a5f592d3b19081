/* SPDX-License-Identifier: MIT */
/* Apart from csv.c, so that rendering needs nothing of the layers that write files. */
#include "io/output.h"
#include "table/csv.h"

int tl_table_write_csv(const tl_table *table, const char *path, tl_error *err)
{
	tl_buf text = {0};
	tl_output *output;
	int code = tl__table_csv(table, &text) < 0 ? tl__nomem(err) : tl__output_open(&output, path, err);

	if (code == 0) {
		tl__output_write(output, text.v, text.n);
		code = tl__output_commit(output, err);
	}
	tl__buf_free(&text);
	return code;
}
