/* SPDX-License-Identifier: MIT */
/**
 * @file table.h
 * Building and transforming tables. A table owns its columns, an arena for values and a
 * reference to its string pool. Functions that make a new table leave the source as it is.
 */
#ifndef TL_TABLE_TABLE_H
#define TL_TABLE_TABLE_H

#include "tracelens/table.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/strings.h"
#include "util/value.h"

/** One GPU event in a cell of a kernel-list column: what reports print of it. */
typedef struct tl_kernel {
	tl_str name;
	uint32_t uid;
	int64_t dur;        /* ps; TL_TIME_NONE when unusable */
	int64_t stream;     /* stream number; INT64_MIN when absent */
	tl_str stream_text; /* when the stream is not a number, else TL_STR_NONE */
	tl_str call_stack;  /* see tl__stack_push; TL_STR_NONE: none known */
} tl_kernel;

/** A cell of a kernel-list column: a range of the table's kernel array. */
typedef struct tl_kernel_range {
	uint32_t first, count;
} tl_kernel_range;

/** How the cells of a column are stored. */
typedef enum tl_storage {
	TL_COL_INT64,  /* int64_t */
	TL_COL_DOUBLE, /* double; NaN counts as empty */
	TL_COL_BOOL,   /* uint8_t */
	TL_COL_STRING, /* tl_str in the table's pool; TL_STR_NONE is empty */
	TL_COL_VALUE,  /* const tl_value *; NULL or TL_V_NONE is empty */
	TL_COL_KERNELS /* tl_kernel_range: list of records name, dur, stream [, gpu_op_uid] */
} tl_storage;

typedef struct tl_column {
	char *name, *unit; /* in the table's arena */
	uint8_t storage;   /* tl_storage */
	uint8_t type;      /* tl_type; for TL_COL_VALUE LIST or RECORD (the getter looks at the first cell) */
	uint8_t with_uid;  /* TL_COL_KERNELS: records have gpu_op_uid, too */
	uint8_t *null;     /* 1 = empty; NULL when no cell is (DOUBLE, STRING, VALUE need none) */
	union {
		void *data;
		int64_t *i64;
		double *f64;
		uint8_t *b;
		tl_str *str;
		const tl_value **val;
		tl_kernel_range *ker;
	};
} tl_column;

struct tl_table {
	char *name;
	tl_strings *strings;
	tl_arena arena; /* names, and values made for this table */
	size_t rows;
	TL_VEC(tl_column) columns;
	TL_VEC(tl_kernel) kernels;
};

/** An empty table of `rows` rows; takes a reference to `strings` (may be NULL: a pool of its own). NULL: out of memory.
 */
tl_table *tl__table_new(const char *name, tl_strings *strings, size_t rows);
/** Adds a column of `rows` zeroed cells (DOUBLE: NaN); the pointer holds until the next column is added. NULL: out of
 * memory. */
tl_column *tl__table_add(tl_table *table, const char *name, const char *unit, tl_storage storage);
tl_column *tl__table_column(const tl_table *table, const char *name); /* or NULL */
/** Makes a cell empty, whatever the storage. 0 or TL_ENOMEM. */
int tl__column_set_null(const tl_table *table, tl_column *column, size_t row);
/** Whether a cell is empty: see tl_storage and `null`; a NaN in a VALUE cell is empty, too. */
bool tl__column_is_null(const tl_column *column, size_t row);
/**
 * Appends the text of a cell as Python's str prints it: nothing for an empty one, lists of kernels as
 * "[{'name': ...}]". Always valid UTF-8: other bytes become U+FFFD.
 */
void tl__cell_text(const tl_table *table, const tl_column *column, size_t row, tl_buf *out);
/** Tells a value piece by piece, as tl_table_cell does. TL_ECALLBACK, TL_ELIMIT. */
int tl__tell_value(const tl_value *value, tl_item_fn each, void *user, tl_error *err);
/** Appends a cell as JSON; empty cells, NaN and infinities as null. */
void tl__cell_json(const tl_table *table, const tl_column *column, size_t row, tl_buf *out);

/**
 * Deep-copies every value of VALUE columns that does not lie in the table's own arena into it (equal
 * pointers once), so that the table stands alone. Every function here that copies cells between
 * tables shares the pointers only; whoever hands a table out of the analysis calls this last.
 */
int tl__table_own_values(tl_table *table, tl_error *err);

/** A permutation or selection of rows: new table with rows[0..n), each below table->rows; rows may repeat. */
int tl__table_take(tl_table **out, const tl_table *table, const uint32_t *rows, size_t n, tl_error *err);
/** Moves a column to position `to` / removes it. */
void tl__table_move_column(tl_table *table, size_t from, size_t to);
void tl__table_remove_column(tl_table *table, size_t column);
/**
 * Appends rows of `more` below `table`: union of columns, first-seen order, missing cells empty. Columns of one
 * name that are stored differently become DOUBLE (INT64 and DOUBLE) or VALUE.
 */
int tl__table_concat(tl_table **out, const tl_table *table, const tl_table *more, tl_error *err);

/* ---- sorting ---- */

typedef struct tl_sort_key {
	const char *column;
	bool descending;
} tl_sort_key;
/**
 * Stable sort in place; empty cells last in either direction; strings bytewise, values and kernel lists by their
 * texts. TL_ENOTFOUND when a column is missing. On failure the order is as it was.
 */
int tl__table_sort(tl_table *table, const tl_sort_key *keys, size_t n, tl_error *err);

/* ---- grouping ---- */

typedef struct tl_groups {
	size_t n;         /* groups, in order of first appearance */
	uint32_t *of_row; /* group of each row (UINT32_MAX: dropped because a key was empty) */
	uint32_t *first;  /* first row of each group */
	uint32_t *start;  /* n + 1 offsets into rows */
	uint32_t *rows;   /* rows of each group, in row order */
} tl_groups;
/**
 * Groups rows by the texts of the key columns (numbers by value). `keep_empty`: empty keys form
 * groups of their own, else such rows are dropped. Key columns that do not exist are skipped.
 */
int tl__table_group(tl_groups *out, const tl_table *table, const char *const *keys, size_t n_keys, bool keep_empty,
		    tl_error *err);
void tl__groups_free(tl_groups *groups);

typedef enum tl_aggregate {
	TL_AGG_SUM,
	TL_AGG_MEAN,
	TL_AGG_MEDIAN,
	TL_AGG_STD, /* sample deviation (n - 1); empty for one value */
	TL_AGG_MIN,
	TL_AGG_MAX,
	TL_AGG_COUNT, /* non-empty cells */
	TL_AGG_SIZE,  /* rows */
	TL_AGG_FIRST  /* first non-empty cell in row order */
} tl_aggregate;
/**
 * Adds to `out` (rows = groups->n) the aggregate `agg` of column `source` of `table`, named `name`.
 * A missing source column adds nothing and returns 0; SIZE needs no source (NULL). FIRST keeps the type; strings and
 * kernel lists cannot be aggregated other than by FIRST, COUNT and SIZE (TL_EINVAL). COUNT and SIZE are INT64; SUM,
 * MIN, MAX of INT64 stay INT64 (a sum beyond 64 bits makes the column DOUBLE); the rest is DOUBLE. Empty cells are
 * skipped; of a group without values SUM is 0, COUNT 0, the rest empty.
 */
int tl__table_aggregate(tl_table *out, const char *name, const tl_groups *groups, const tl_table *table,
			const char *source, tl_aggregate agg, tl_error *err);
/**
 * Adds 'Percentage (%)' and 'Cumulative Percentage (%)' of a column in the present row order; a zero total gives 0.
 * TL_ENOTFOUND when the column is missing.
 */
int tl__table_add_percentages(tl_table *table, const char *column, tl_error *err);

/**
 * Adds to `out` the summary of the kernel lists of each group ("summarise-kernels", spec 02 section 1.5)
 * as a VALUE column of lists of records, named `name`. The source is a KERNELS column, or a VALUE column of lists
 * of records with "dur" in microseconds. A missing source adds nothing. Kernels whose duration is
 * TL_TIME_NONE are counted; sums and statistics are those of the others. Call stacks are not part of a summary. A group
 * without kernels gets an empty list. Names point into the pool of `table`, so `out` shares it or tl__table_own_values
 * is called before it goes.
 */
int tl__table_summarize_kernels(tl_table *out, const char *name, const tl_groups *groups, const tl_table *table,
				const char *source, tl_error *err);
/**
 * The same, and `stacks_name` (NULL: not wanted) right of it: for each record the call stack of its kernel, as a list
 * of the ids of tl_kernel.call_stack.
 */
int tl__table_summarize_kernels_and_stacks(tl_table *out, const char *name, const char *stacks_name,
					   const tl_groups *groups, const tl_table *table, const char *source,
					   tl_error *err);
/**
 * Adds `trunc_name`, the short form of a summary column, right of it (empty for an empty list): names cut to 64
 * characters, means rounded to two decimals. Missing source: nothing.
 */
int tl__table_add_truncated(tl_table *table, const char *source, const char *trunc_name, tl_error *err);

/* ---- values made for a table ---- */
/** Copies of a value, and of a list of values, in the arena; what those point to is shared. NULL: out of memory. */
const tl_value *tl__table_value(tl_table *table, tl_value value);
const tl_value *tl__table_list(tl_table *table, const tl_value *items, size_t n, bool tuple);
tl_str tl__table_str(tl_table *table, const char *text); /* interned; TL_STR_FAIL */

/* ---- call stacks of kernels ---- */
/** The stack `above` (TL_STR_NONE: no frame) and one more frame, innermost, as an id of the pool. TL_STR_FAIL. */
tl_str tl__stack_push(tl_strings *pool, tl_str above, tl_str name);
/** The stack without frames. TL_STR_FAIL. */
tl_str tl__stack_empty(tl_strings *pool);
/** A stack as a list of names, outermost first; texts stay in the pool. TL_ENOMEM. */
int tl__stack_value(tl_value *out, const tl_strings *pool, tl_str stack, tl_arena *arena);

#endif
