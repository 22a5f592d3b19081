/* SPDX-License-Identifier: MIT */
/* A second store with the same events, which an edit of the tree can change. */
#include <string.h>

#include "trace/store.h"
#include "util/error.h"

/* Rows that an edit usually adds, so that the first one does not double every column. */
enum { SPARE_ROWS = 1024 };

static int copy_column(void *out, const void *from, size_t rows, size_t cap, size_t size)
{
	void **to = out;
	*to = tl__malloc(cap * size);
	if (!*to)
		return TL_ENOMEM;
	if (rows)
		memcpy(*to, from, rows * size);
	return 0;
}

#define COPY_COLUMN(field) TL_TRY(copy_column(&to->field, from->field, from->n, to->cap, sizeof *from->field))

static int copy_columns(tl_store *to, const tl_store *from)
{
	to->cap = from->n + SPARE_ROWS < TL_ROW_NONE ? from->n + SPARE_ROWS : TL_ROW_NONE;
	COPY_COLUMN(name);
	COPY_COLUMN(category);
	COPY_COLUMN(kind);
	COPY_COLUMN(flags);
	COPY_COLUMN(track);
	COPY_COLUMN(start);
	COPY_COLUMN(dur);
	COPY_COLUMN(side);
	to->n = from->n;
	return 0;
}

#define COPY_VEC(field)                                                                            \
	do {                                                                                       \
		to->field.n = 0;                                                                   \
		if (from->field.n) {                                                               \
			TL_TRY(TL_VEC_RESERVE(&to->field, from->field.n));                         \
			memcpy(to->field.v, from->field.v, from->field.n * sizeof *from->field.v); \
			to->field.n = from->field.n;                                               \
		}                                                                                  \
	} while (0)

static int copy_tables(tl_store *to, const tl_store *from)
{
	COPY_VEC(ops);
	COPY_VEC(links);
	COPY_VEC(collectives);
	COPY_VEC(python);
	COPY_VEC(flows);
	COPY_VEC(extras);
	COPY_VEC(tracks);
	COPY_VEC(processes);
	COPY_VEC(categories);
	COPY_VEC(phases);
	COPY_VEC(metadata_keys);
	COPY_VEC(metadata_values);
	if (from->path) {
		to->path = tl__strdup(from->path);
		if (!to->path)
			return TL_ENOMEM;
	}
	to->raw = from->raw;
	to->base_us = from->base_us;
	to->base_ns = from->base_ns;
	to->sources = from->sources;
	to->truncated = from->truncated;
	to->text_bytes = from->text_bytes;
	to->health = from->health;
	return 0;
}

tl_store *tl__store_copy(const tl_store *from)
{
	tl_store *to = tl__calloc(1, sizeof *to);
	if (!to)
		return NULL;
	to->strings = tl__strings_new(from->strings);
	if (!to->strings || copy_columns(to, from) < 0 || copy_tables(to, from) < 0) {
		tl__store_free(to);
		return NULL;
	}
	return to;
}
