/* SPDX-License-Identifier: MIT */
/** @file model_findings.c What operation models could not read, as a row of trace_health. */
#include "report/model_findings.h"

#include <string.h>

#include "util/buf.h"

enum { KIND, COUNT, UID, REPAIR, MEANING, EXAMPLE, COLUMNS };

static int text_cell(tl_table *row, tl_column *column, const char *text)
{
	column->str[0] = tl__table_str(row, text);
	return column->str[0] == TL_STR_FAIL ? TL_ENOMEM : 0;
}

static int fill(tl_table *row, const tl_model_failures *failures, const char *name, const char *meaning)
{
	static const struct {
		const char *name;
		tl_storage storage;
	} columns[COLUMNS] = {
		[KIND] = {"kind", TL_COL_STRING},       [COUNT] = {"count", TL_COL_INT64},
		[UID] = {"first UID", TL_COL_INT64},    [REPAIR] = {"repair", TL_COL_BOOL},
		[MEANING] = {"meaning", TL_COL_STRING}, [EXAMPLE] = {"example", TL_COL_STRING},
	};
	for (int i = 0; i < COLUMNS; i++)
		if (!tl__table_add(row, columns[i].name, "", columns[i].storage))
			return TL_ENOMEM;
	tl_column *c = row->columns.v;
	c[COUNT].i64[0] = (int64_t)failures->count;
	c[UID].i64[0] = failures->first;
	TL_TRY(text_cell(row, &c[KIND], "model_failed"));
	TL_TRY(text_cell(row, &c[MEANING], meaning));
	return text_cell(row, &c[EXAMPLE], name);
}

int tl__report_model_findings(tl_table **health, const tl_analyzer *a, tl_error *err)
{
	const tl_model_failures *failures = &a->sheet_failures;
	tl_table *both = NULL;
	tl_buf meaning = {0};
	if (!failures->count)
		return 0;
	const char *name = tl__name(a->store, failures->first);
	tl__buf_printf(&meaning,
		       "Operations whose model could not read their arguments: they have no metrics. The first one is "
		       "%s, UID %lu: %s.",
		       name, (unsigned long)failures->first, failures->why);
	tl_table *row = tl__table_new("", NULL, 1);
	int code = row && tl__buf_text(&meaning) ? fill(row, failures, name, meaning.v) : TL_ENOMEM;
	if (code == 0)
		code = tl__table_concat(&both, *health, row, NULL);
	tl__buf_free(&meaning);
	tl_table_free(row);
	if (code < 0)
		return tl__nomem(err);
	tl_table_free(*health);
	*health = both;
	return 0;
}
