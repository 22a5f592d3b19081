/* SPDX-License-Identifier: MIT */
/**
 * @file arrow.h
 * Tables for other programs without a copy through text: the Arrow C stream interface, which polars, DuckDB, pyarrow
 * and others read. The two structures are those of its specification (arrow.apache.org, "The Arrow C data interface").
 */
#ifndef TRACELENS_ARROW_H
#define TRACELENS_ARROW_H

#include <tracelens/common.h>
#include <tracelens/table.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

/**
 * The table as a stream of one batch: int64 as "l", double as "g", bool as "b", and as "U" (UTF-8 with 64-bit
 * offsets) strings, and lists and records as JSON text. Empty cells are null. The unit of a column is in its metadata
 * under "unit". The stream is a copy: it outlives the table, and is freed by its `release`.
 * @param[out] out a structure of the caller, to be released
 * @return 0, TL_EINVAL (no table), TL_ENOMEM; then `out->release` is NULL
 */
TL_API int tl_table_export_arrow(struct ArrowArrayStream *out, const tl_table *table, tl_error *err);

#ifdef __cplusplus
}
#endif

#endif
