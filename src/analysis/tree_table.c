/* SPDX-License-Identifier: MIT */
/* Nodes of a tree as a table. */
#include <inttypes.h>

#include "analysis/columns.h"
#include "tracelens/event.h"
#include "tree/tree.h"

static int fill_row(tl_table *table, const tl_tree *t, size_t i, tl_row row)
{
	tl_column *c = table->columns.v;
	const tl_store *s = t->store;
	tl_row parent = tl_tree_parent(t, row);
	size_t n_gpu;
	c[0].i64[i] = row;
	c[1].str[i] = s->name[row];
	c[2].str[i] = s->categories.v[s->category[row]];
	if (s->start[row] != TL_TIME_NONE)
		c[3].f64[i] = (double)s->start[row] / 1e6;
	if (s->dur[row] != TL_TIME_NONE && !(s->flags[row] & TL_EVENT_NO_DUR))
		c[4].f64[i] = (double)s->dur[row] / 1e6;
	if (parent == TL_ROW_NONE)
		TL_TRY(tl__column_set_null(table, &c[5], i));
	else
		c[5].i64[i] = parent;
	c[6].i64[i] = (int64_t)tl_tree_children(t, row, NULL, 0);
	tl_tree_gpu_events(t, row, &n_gpu);
	c[7].i64[i] = (int64_t)n_gpu;
	return 0;
}

static int fill(tl_table *table, const tl_tree *t, const tl_row *events, size_t n)
{
	static const tl_column_spec columns[] = {
		{"UID", "", TL_COL_INT64},      {"name", "", TL_COL_STRING},      {"cat", "", TL_COL_STRING},
		{"ts", "µs", TL_COL_DOUBLE},    {"dur", "µs", TL_COL_DOUBLE},     {"parent", "", TL_COL_INT64},
		{"children", "", TL_COL_INT64}, {"gpu_events", "", TL_COL_INT64},
	};
	TL_TRY(tl__add_columns(table, columns, sizeof columns / sizeof *columns));
	for (size_t i = 0; events && i < n; i++)
		TL_TRY(fill_row(table, t, i, events[i]));
	size_t at = 0;
	for (tl_row row = 0; !events && row < t->store->n; row++)
		if (tl__tree_is_linked(t, row))
			TL_TRY(fill_row(table, t, at++, row));
	return 0;
}

int tl_tree_table(tl_table **out, const tl_tree *t, const tl_row *events, size_t n, tl_error *err)
{
	*out = NULL;
	for (size_t i = 0; events && i < n; i++)
		if (events[i] >= t->store->n)
			return tl__fail(err, TL_ENOTFOUND, "there is no event with UID %" PRIu32, events[i]);
	tl_strings *strings = tl__strings_new(t->store->strings);
	tl_table *table = strings ? tl__table_new("tree", strings, events ? n : t->n) : NULL;
	tl__strings_unref(strings);
	if (!table || fill(table, t, events, n) < 0) {
		tl_table_free(table);
		return tl__nomem(err);
	}
	*out = table;
	return 0;
}
