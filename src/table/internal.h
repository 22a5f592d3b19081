/* SPDX-License-Identifier: MIT */
/** @file internal.h What the files of this folder share and nobody else needs. */
#ifndef TL_TABLE_INTERNAL_H
#define TL_TABLE_INTERNAL_H

#include <string.h>

#include "table/table.h"

/** Bytes of one cell in a column's data. */
size_t tl__storage_size(uint8_t storage);

/** out[i] = cells[rows[i]], cells of `size` bytes (1, 4 or 8). */
void tl__gather(void *out, const void *cells, const uint32_t *rows, size_t n, size_t size);

/** `name` as a new column with storage, unit and flags of `like`; cells zeroed. NULL: out of memory. */
tl_column *tl__table_add_like(tl_table *table, const char *name, const tl_column *like);

/** A call stack of pool `from` as one of pool `into`; TL_STR_FAIL. */
tl_str tl__stack_copy(tl_strings *into, const tl_strings *from, tl_str stack);

/**
 * Copies one cell between columns of equal storage, of the same or of different tables. Values are
 * shared, strings and kernels moved into `into`. 0, TL_ENOMEM, TL_ELIMIT.
 */
int tl__copy_cell(tl_table *into, tl_column *to, size_t to_row, const tl_table *from, const tl_column *column,
		  size_t row);

/** A cell as a value in `into`'s arena (VALUE cells: shared pointer); TL_ENOMEM. An empty cell gives NULL. */
int tl__cell_value(tl_table *into, const tl_table *table, const tl_column *column, size_t row, const tl_value **out);

/** A number or bool cell as a double; NaN when empty or of another type. */
double tl__cell_double(const tl_column *column, size_t row);

enum { TL_KERNEL_ITEMS = 10 }; /* five pairs: name, dur, stream, gpu_op_uid, call_stack */
/** A kernel as a dict over `items`; texts stay in the pool, the list of a call stack is made in `arena`. TL_ENOMEM. */
int tl__kernel_record(tl_arena *arena, const tl_table *table, const tl_column *column, const tl_kernel *kernel,
		      tl_value items[TL_KERNEL_ITEMS], tl_value *out);

/** The stream of a kernel as a value: integer, text (in the pool) or none. */
tl_value tl__kernel_stream(const tl_table *table, const tl_kernel *kernel);

/**
 * Numbers the texts of a STRING, VALUE or KERNELS column: equal text, equal id; 0 for an empty cell. Ids of
 * a STRING column are those of the table's pool, of the others those of `texts`. TL_ENOMEM.
 */
int tl__column_text_ids(const tl_table *table, const tl_column *column, tl_strings *texts, uint32_t *ids);

/** Ascending sort of integers; `scratch` has room for n. */
void tl__sort_i64(int64_t *v, int64_t *scratch, size_t n);

/** An integer that orders as the double does (-0 equals 0); NaN is not allowed. */
static inline int64_t tl__order_of_double(double value)
{
	int64_t bits;
	value += 0.0; /* -0 becomes 0 */
	memcpy(&bits, &value, sizeof bits);
	return bits < 0 ? (int64_t)(~(uint64_t)bits ^ UINT64_C(0x8000000000000000)) : bits;
}

/** Inverse of tl__order_of_double. */
static inline double tl__double_of_order(int64_t order)
{
	double value;
	if (order < 0)
		order = (int64_t)(~((uint64_t)order ^ UINT64_C(0x8000000000000000)));
	memcpy(&value, &order, sizeof value);
	return value;
}

#endif
