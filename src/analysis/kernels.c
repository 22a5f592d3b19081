/* SPDX-License-Identifier: MIT */
/** @file kernels.c The kernel table (spec 02 section 9.1). */
#include <string.h>

#include "analysis/aggregate.h"
#include "analysis/analyzer.h"
#include "analysis/columns.h"
#include "analysis/perf_cache.h"

/* ---- the kernel table ---- */

enum {
	K_UID,
	K_NAME,
	K_START,
	K_DUR,
	K_STREAM,
	K_LAUNCHER_UID,
	K_LAUNCHER,
	K_GRID,
	K_BLOCK,
	K_OP_UID,
	K_OP,
	K_DIMS,
	K_TYPES,
	K_STRIDES,
	K_CONCRETE,
	K_FILE,
	K_OP_BUSY,
	K_OP_COUNT,
	K_OP_PERCENT,
	K_OP_CATEGORY,
	K_COLUMNS
};

static const tl_column_spec columns[K_COLUMNS] = {
	[K_UID] = {"UID", "", TL_COL_INT64},
	[K_NAME] = {"Kernel name", "", TL_COL_STRING},
	[K_START] = {"Kernel t start", "µs", TL_COL_DOUBLE},
	[K_DUR] = {"Kernel duration (µs)", "µs", TL_COL_DOUBLE},
	[K_STREAM] = {"Kernel stream", "", TL_COL_INT64},
	[K_LAUNCHER_UID] = {"Launcher UID", "", TL_COL_INT64},
	[K_LAUNCHER] = {"Launcher", "", TL_COL_STRING},
	[K_GRID] = {"Grid", "", TL_COL_VALUE},
	[K_BLOCK] = {"Block", "", TL_COL_VALUE},
	[K_OP_UID] = {"Parent cpu_op UID", "", TL_COL_INT64},
	[K_OP] = {"Parent cpu_op", "", TL_COL_STRING},
	[K_DIMS] = {"Input dims", "", TL_COL_VALUE},
	[K_TYPES] = {"Input types", "", TL_COL_VALUE},
	[K_STRIDES] = {"Input strides", "", TL_COL_VALUE},
	[K_CONCRETE] = {"Concrete Inputs", "", TL_COL_VALUE},
	[K_FILE] = {"kernel_file", "", TL_COL_VALUE},
	[K_OP_BUSY] = {"Parent cpu_op busy time (µs)", "µs", TL_COL_DOUBLE},
	[K_OP_COUNT] = {"Parent cpu_op kernel count", "", TL_COL_INT64},
	[K_OP_PERCENT] = {"Percent of Parent cpu_op busy time (%)", "%", TL_COL_DOUBLE},
	[K_OP_CATEGORY] = {"Parent op category", "", TL_COL_STRING},
};

/* What all kernels below one operation share. */
typedef struct op_info {
	tl_time busy;
	tl_str category;
	const tl_value *dims, *types, *strides, *concrete, *file;
} op_info;

typedef struct builder {
	tl_analyzer *a;
	tl_table *table;
	bool text_streams; /* some stream is no number: the column holds texts */
	bool any_launch, any_op;
	tl_map known; /* position of an operation -> its info */
	TL_VEC(op_info) ops;
} builder;

static int read_op(builder *b, tl_pos pos, op_info *out)
{
	tl_analyzer *a = b->a;
	tl_row event = a->tree->row[pos];
	tl_str first_kernel;
	*out = (op_info){0};
	TL_TRY(tl__analyzer_busy(a, tl__tree_gpu_rows(a->tree, pos), tl__tree_gpu_count(a->tree, pos), &out->busy));
	TL_TRY(tl__analyzer_direct_kernel(a, event, &first_kernel));
	TL_TRY(tl__perf_category_at(a, event, a->store->name[event], first_kernel, &out->category));
	const tl_op_args *args = tl__op_args(a->store, event);
	if (!args)
		return 0;
	TL_TRY(tl__analyzer_value(a, args->dims, true, &out->dims));
	TL_TRY(tl__analyzer_value(a, args->types, true, &out->types));
	TL_TRY(tl__analyzer_value(a, args->strides, true, &out->strides));
	TL_TRY(tl__analyzer_value(a, args->concrete, true, &out->concrete));
	return tl__analyzer_value(a, args->kernel_file, true, &out->file);
}

static int find_op(builder *b, tl_pos pos, op_info *out)
{
	uint32_t index = tl__map_get(&b->known, pos);
	if (index == TL_MAP_NONE) {
		index = (uint32_t)b->ops.n;
		TL_TRY(read_op(b, pos, out));
		TL_TRY(TL_VEC_PUSH(&b->ops, *out));
		TL_TRY(tl__map_set(&b->known, pos, index));
	}
	*out = b->ops.v[index];
	return 0;
}

static int set_null(builder *b, int column, size_t i)
{
	return tl__column_set_null(b->table, &b->table->columns.v[column], i);
}

static int fill_kernel(builder *b, size_t i, tl_row row)
{
	const tl_store *store = b->a->store;
	tl_column *c = b->table->columns.v;
	tl_kernel kernel = tl__analyzer_kernel(b->a, row);
	c[K_UID].i64[i] = row;
	c[K_NAME].str[i] = kernel.name;
	if (store->start[row] != TL_TIME_NONE)
		c[K_START].f64[i] = (double)store->base_us + tl__us(store->start[row]);
	if (kernel.dur != TL_TIME_NONE)
		c[K_DUR].f64[i] = tl__us(kernel.dur);
	if (b->text_streams) {
		char text[64];
		const tl_link_args *link = tl__link_args(store, row);
		if (link && link->stream != TL_ID_NONE)
			c[K_STREAM].str[i] = tl__table_str(b->table, tl__id_text(store, link->stream, text));
		return c[K_STREAM].str[i] == TL_STR_FAIL ? TL_ENOMEM : 0;
	}
	if (kernel.stream == INT64_MIN)
		return set_null(b, K_STREAM, i);
	c[K_STREAM].i64[i] = kernel.stream;
	return 0;
}

static int fill_launch(builder *b, size_t i, tl_pos launch)
{
	tl_analyzer *a = b->a;
	tl_column *c = b->table->columns.v;
	if (launch == TL_POS_NONE)
		return set_null(b, K_LAUNCHER_UID, i);
	b->any_launch = true;
	tl_row row = a->tree->row[launch];
	c[K_LAUNCHER_UID].i64[i] = row;
	c[K_LAUNCHER].str[i] = a->store->name[row];
	const tl_link_args *link = tl__link_args(a->store, row);
	if (!link)
		return 0;
	TL_TRY(tl__analyzer_value(a, link->grid, false, &c[K_GRID].val[i]));
	return tl__analyzer_value(a, link->block, false, &c[K_BLOCK].val[i]);
}

static double percent_of_op(const op_info *op, size_t count, double us)
{
	if (count == 1)
		return 100;
	return op->busy > 0 ? us / tl__us(op->busy) * 100 : 0;
}

static int fill_op(builder *b, size_t i, tl_pos pos)
{
	tl_column *c = b->table->columns.v;
	op_info op;
	if (pos == TL_POS_NONE) {
		TL_TRY(set_null(b, K_OP_UID, i));
		return set_null(b, K_OP_COUNT, i);
	}
	b->any_op = true;
	TL_TRY(find_op(b, pos, &op));
	const tl_tree *tree = b->a->tree;
	size_t count = tl__tree_gpu_count(tree, pos);
	c[K_OP_UID].i64[i] = tree->row[pos];
	c[K_OP].str[i] = tree->store->name[tree->row[pos]];
	c[K_DIMS].val[i] = op.dims;
	c[K_TYPES].val[i] = op.types;
	c[K_STRIDES].val[i] = op.strides;
	c[K_CONCRETE].val[i] = op.concrete;
	c[K_FILE].val[i] = op.file;
	c[K_OP_BUSY].f64[i] = tl__us(op.busy);
	c[K_OP_COUNT].i64[i] = (int64_t)count;
	c[K_OP_PERCENT].f64[i] = percent_of_op(&op, count, c[K_DUR].f64[i]);
	c[K_OP_CATEGORY].str[i] = op.category;
	return 0;
}

static int fill_rows(builder *b, const tl_row *rows, size_t n)
{
	const tl_tree *tree = b->a->tree;
	for (size_t i = 0; i < n; i++) {
		tl_pos pos = tree->pos_of_row[rows[i]];
		bool linked = pos != TL_POS_NONE;
		TL_TRY(fill_kernel(b, i, rows[i]));
		TL_TRY(fill_launch(b, i, linked ? tree->parent[pos] : TL_POS_NONE));
		TL_TRY(fill_op(b, i, linked ? tl__tree_cpu_op_above(tree, pos) : TL_POS_NONE));
	}
	/* As the reference's records: what no kernel has is no column. */
	if (!b->any_op)
		tl__remove_columns(b->table, K_OP_UID, K_COLUMNS);
	if (!b->any_launch)
		tl__remove_columns(b->table, K_LAUNCHER_UID, K_OP_UID);
	return 0;
}

static bool has_text_stream(const tl_analyzer *a, const tl_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tl__analyzer_kernel(a, rows[i]).stream_text != TL_STR_NONE)
			return true;
	return false;
}

static int build(builder *b, const tl_row *rows, size_t n)
{
	tl_column_spec specs[K_COLUMNS];
	b->text_streams = has_text_stream(b->a, rows, n);
	for (int i = 0; i < K_COLUMNS; i++)
		specs[i] = columns[i];
	if (b->text_streams)
		specs[K_STREAM].storage = TL_COL_STRING;
	b->table = tl__table_new("kernels", b->a->strings, n);
	if (!b->table)
		return TL_ENOMEM;
	TL_TRY(tl__add_columns(b->table, specs, K_COLUMNS));
	return fill_rows(b, rows, n);
}

int tl__kernels(tl_table **out, tl_analyzer *a, tl_error *err)
{
	builder b = {.a = a};
	tl_row *rows;
	size_t n;
	*out = NULL;
	/* Copies and memsets are left out ([02-17], kept as in the reference). */
	int code = tl__analyzer_all_kernels(a, &rows, &n);
	if (code == 0)
		code = build(&b, rows, n);
	tl__free(rows);
	tl__map_free(&b.known);
	TL_VEC_FREE(&b.ops);
	if (code < 0) {
		tl_table_free(b.table);
		return tl__nomem(err);
	}
	*out = b.table;
	return 0;
}
