/* SPDX-License-Identifier: MIT */
/** @file kernel_modules.c The nn.Module above each kernel, in the kernel table (spec 01 section 9.4). */
#include "analysis/analyzer.h"
#include "analysis/columns.h"
#include "tree/navigate.h"

enum { M_UID, M_NAME, M_COUNT, M_BUSY, M_PERCENT, M_COLUMNS };

static const tl_column_spec columns[M_COLUMNS] = {
	[M_UID] = {"Parent nn.Module UID", "", TL_COL_INT64},
	[M_NAME] = {"Parent nn.Module", "", TL_COL_STRING},
	[M_COUNT] = {"Parent nn.Module kernel count", "", TL_COL_INT64},
	[M_BUSY] = {"Parent nn.Module GPU busy time (µs)", "µs", TL_COL_DOUBLE},
	[M_PERCENT] = {"Percent of Parent nn.Module busy time (%)", "%", TL_COL_DOUBLE},
};

/* The busy time of a module in µs, computed for the first of its kernels, whose row `known` holds from then on. */
static int busy_of(tl_analyzer *a, tl_map *known, tl_pos module, const tl_column *busy, size_t row, double *out)
{
	const tl_tree *t = a->tree;
	tl_time time;
	uint32_t first = tl__map_get(known, module);

	if (first != TL_MAP_NONE) {
		*out = busy->f64[first];
		return 0;
	}
	TL_TRY(tl__analyzer_busy(a, tl__tree_gpu_rows(t, module), tl__tree_gpu_count(t, module), &time));
	*out = tl__us(time);
	return tl__map_set(known, module, (uint32_t)row);
}

static int fill_row(tl_analyzer *a, tl_table *table, size_t first, tl_map *known, tl_pos module, size_t row)
{
	const tl_tree *t = a->tree;
	tl_column *c = table->columns.v + first;
	double duration = tl__table_column(table, "Kernel duration (µs)")->f64[row];
	size_t count = tl__tree_gpu_count(t, module);

	c[M_UID].i64[row] = t->row[module];
	c[M_NAME].str[row] = t->store->name[t->row[module]];
	c[M_COUNT].i64[row] = (int64_t)count;
	TL_TRY(busy_of(a, known, module, &c[M_BUSY], row, &c[M_BUSY].f64[row]));
	if (count == 1)
		c[M_PERCENT].f64[row] = 100;
	else
		c[M_PERCENT].f64[row] = c[M_BUSY].f64[row] > 0 ? duration / c[M_BUSY].f64[row] * 100 : 0;
	return 0;
}

static int fill(tl_analyzer *a, tl_table *table, const tl_pos *above, tl_map *known)
{
	const int64_t *uids = tl__table_column(table, "UID")->i64;
	size_t first = table->columns.n;
	bool any = false;

	TL_TRY(tl__add_columns(table, columns, M_COLUMNS));
	for (size_t row = 0; row < table->rows; row++) {
		tl_pos pos = a->tree->pos_of_row[uids[row]];
		tl_pos module = pos == TL_POS_NONE ? TL_POS_NONE : above[pos];
		if (module != TL_POS_NONE) {
			any = true;
			TL_TRY(fill_row(a, table, first, known, module, row));
			continue;
		}
		TL_TRY(tl__column_set_null(table, &table->columns.v[first + M_UID], row));
		TL_TRY(tl__column_set_null(table, &table->columns.v[first + M_COUNT], row));
	}
	/* As the other details: what no kernel has is no column. */
	if (!any)
		tl__remove_columns(table, first, first + M_COLUMNS);
	return 0;
}

int tl__kernel_modules(tl_analyzer *a, tl_table *kernels, tl_error *err)
{
	tl_map known = {0};
	tl_pos *above = tl__nearest_above(a->tree, tl__is_module);
	int code = above ? fill(a, kernels, above, &known) : TL_ENOMEM;

	tl__free(above);
	tl__map_free(&known);
	return code < 0 ? tl__nomem(err) : 0;
}
