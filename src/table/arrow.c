/* SPDX-License-Identifier: MIT */
/* Tables as Arrow streams of one batch. */
#include "tracelens/arrow.h"

#include <errno.h>
#include <string.h>

#include "table/internal.h"
#include "util/error.h"

/* ---- schema ---- */

static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		struct ArrowSchema *child = schema->children[i];
		if (child && child->release)
			child->release(child);
		tl__free(child);
	}
	tl__free(schema->children);
	tl__free(schema->private_data); /* name and metadata, one behind the other */
	schema->release = NULL;
}

/* Metadata: the number of pairs, then each text behind its length; all in the machine's order of bytes. */
static size_t put_text(char *out, const char *text)
{
	int32_t n = (int32_t)strlen(text);
	if (out) {
		memcpy(out, &n, sizeof n);
		memcpy(out + sizeof n, text, (size_t)n);
	}
	return sizeof n + (size_t)n;
}

static int fill_schema(struct ArrowSchema *out, const char *format, const char *name, const char *unit)
{
	size_t n_name = strlen(name) + 1;
	int32_t pairs = 1;
	size_t n_metadata = *unit ? sizeof pairs + put_text(NULL, "unit") + put_text(NULL, unit) : 0;
	char *texts = tl__malloc(n_name + n_metadata);
	*out = (struct ArrowSchema){.format = format, .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
	if (!texts) {
		out->release = NULL;
		return TL_ENOMEM;
	}
	memcpy(texts, name, n_name);
	out->private_data = texts;
	out->name = texts;
	if (n_metadata) {
		char *at = texts + n_name;
		out->metadata = at;
		memcpy(at, &pairs, sizeof pairs);
		at += sizeof pairs;
		at += put_text(at, "unit");
		put_text(at, unit);
	}
	return 0;
}

static const char *format_of(const tl_column *column)
{
	switch (column->storage) {
	case TL_COL_INT64:
		return "l";
	case TL_COL_DOUBLE:
		return "g";
	case TL_COL_BOOL:
		return "b";
	default:
		return "U";
	}
}

static int make_schema(struct ArrowSchema *out, const tl_table *table)
{
	TL_TRY(fill_schema(out, "+s", "", ""));
	out->flags = 0;
	out->children = tl__calloc(table->columns.n + 1, sizeof(*out->children));
	if (!out->children)
		return TL_ENOMEM;
	for (size_t i = 0; i < table->columns.n; i++) {
		const tl_column *column = &table->columns.v[i];
		struct ArrowSchema *child = tl__calloc(1, sizeof *child);
		if (!child)
			return TL_ENOMEM;
		out->children[out->n_children++] = child;
		TL_TRY(fill_schema(child, format_of(column), column->name, column->unit));
	}
	return 0;
}

/* ---- batch ---- */

enum { VALID, DATA, TEXT, BUFFERS };

/* What an array owns; `buffers` is what Arrow sees. */
typedef struct array_data {
	void *owned[BUFFERS];
	const void *buffers[BUFFERS];
} array_data;

static void release_array(struct ArrowArray *array)
{
	array_data *data = array->private_data;
	for (int64_t i = 0; i < array->n_children; i++) {
		struct ArrowArray *child = array->children[i];
		if (child && child->release)
			child->release(child);
		tl__free(child);
	}
	for (int i = 0; data && i < BUFFERS; i++)
		tl__free(data->owned[i]);
	tl__free(array->children);
	tl__free(data);
	array->release = NULL;
}

static int begin_array(struct ArrowArray *out, size_t rows, int buffers)
{
	array_data *data = tl__calloc(1, sizeof *data);
	*out = (struct ArrowArray){.length = (int64_t)rows, .n_buffers = buffers, .release = release_array};
	if (!data) {
		out->release = NULL;
		return TL_ENOMEM;
	}
	out->private_data = data;
	out->buffers = data->buffers;
	return 0;
}

/* A buffer of the array, zeroed; NULL when out of memory. An empty one is one byte long, so that none is NULL. */
static void *add_buffer(struct ArrowArray *array, int which, size_t size)
{
	array_data *data = array->private_data;
	data->owned[which] = tl__calloc(size + 1, 1);
	data->buffers[which] = data->owned[which];
	return data->owned[which];
}

static int fill_validity(struct ArrowArray *out, const tl_column *column, size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		out->null_count += tl__column_is_null(column, row);
	if (!out->null_count)
		return 0;
	uint8_t *bits = add_buffer(out, VALID, (rows + 7) / 8);
	for (size_t row = 0; bits && row < rows; row++)
		if (!tl__column_is_null(column, row))
			bits[row / 8] |= (uint8_t)(1U << row % 8);
	return bits ? 0 : TL_ENOMEM;
}

static int fill_numbers(struct ArrowArray *out, const tl_column *column, size_t rows)
{
	void *data = add_buffer(out, DATA, rows * 8);
	if (data && rows)
		memcpy(data, column->data, rows * 8);
	return data ? 0 : TL_ENOMEM;
}

static int fill_bools(struct ArrowArray *out, const tl_column *column, size_t rows)
{
	uint8_t *bits = add_buffer(out, DATA, (rows + 7) / 8);
	for (size_t row = 0; bits && row < rows; row++)
		if (column->b[row])
			bits[row / 8] |= (uint8_t)(1U << row % 8);
	return bits ? 0 : TL_ENOMEM;
}

static int fill_texts(struct ArrowArray *out, const tl_table *table, const tl_column *column)
{
	tl_buf text = {0};
	int64_t *ends = add_buffer(out, DATA, (table->rows + 1) * sizeof *ends);
	for (size_t row = 0; ends && row < table->rows; row++) {
		if (!tl__column_is_null(column, row)) {
			if (column->storage == TL_COL_STRING)
				tl__cell_text(table, column, row, &text);
			else
				tl__cell_json(table, column, row, &text);
		}
		ends[row + 1] = (int64_t)text.n;
	}
	char *copy = ends && !text.failed ? add_buffer(out, TEXT, text.n) : NULL;
	if (copy && text.n)
		memcpy(copy, text.v, text.n);
	tl__buf_free(&text);
	return copy ? 0 : TL_ENOMEM;
}

static int fill_column(struct ArrowArray *out, const tl_table *table, const tl_column *column)
{
	bool number = column->storage == TL_COL_INT64 || column->storage == TL_COL_DOUBLE;
	bool fixed = number || column->storage == TL_COL_BOOL;
	TL_TRY(begin_array(out, table->rows, fixed ? 2 : 3));
	TL_TRY(fill_validity(out, column, table->rows));
	if (number)
		return fill_numbers(out, column, table->rows);
	return fixed ? fill_bools(out, column, table->rows) : fill_texts(out, table, column);
}

static int make_batch(struct ArrowArray *out, const tl_table *table)
{
	TL_TRY(begin_array(out, table->rows, 1));
	out->children = tl__calloc(table->columns.n + 1, sizeof(*out->children));
	if (!out->children)
		return TL_ENOMEM;
	for (size_t i = 0; i < table->columns.n; i++) {
		struct ArrowArray *child = tl__calloc(1, sizeof *child);
		if (!child)
			return TL_ENOMEM;
		out->children[out->n_children++] = child;
		TL_TRY(fill_column(child, table, &table->columns.v[i]));
	}
	return 0;
}

/* ---- stream ---- */

/* Schema and batch are made at once and copied, or moved, out when asked for. */
typedef struct stream_data {
	struct ArrowSchema schema;
	struct ArrowArray batch; /* released: given away */
} stream_data;

/* A schema may be asked for several times. */
static int copy_schema(struct ArrowSchema *out, const struct ArrowSchema *from)
{
	TL_TRY(fill_schema(out, from->format, from->name, ""));
	out->flags = from->flags;
	if (from->metadata) { /* one pair: "unit" and its value */
		const char *at = from->metadata + sizeof(int32_t) + put_text(NULL, "unit");
		int32_t n;
		char unit[64] = "";
		memcpy(&n, at, sizeof n);
		memcpy(unit, at + sizeof n, n < (int32_t)sizeof unit ? (size_t)n : sizeof unit - 1);
		out->release(out);
		TL_TRY(fill_schema(out, from->format, from->name, unit));
	}
	if (!from->n_children)
		return 0;
	out->children = tl__calloc((size_t)from->n_children, sizeof(*out->children));
	if (!out->children)
		return TL_ENOMEM;
	for (int64_t i = 0; i < from->n_children; i++) {
		struct ArrowSchema *child = tl__calloc(1, sizeof *child);
		if (!child)
			return TL_ENOMEM;
		out->children[out->n_children++] = child;
		TL_TRY(copy_schema(child, from->children[i]));
	}
	return 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	const stream_data *data = stream->private_data;
	int code = copy_schema(out, &data->schema);
	if (code < 0 && out->release)
		out->release(out);
	return code < 0 ? ENOMEM : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	stream_data *data = stream->private_data;
	*out = data->batch; /* a released one ends the stream */
	data->batch.release = NULL;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream)
{
	stream_data *data = stream->private_data;
	if (data->schema.release)
		data->schema.release(&data->schema);
	if (data->batch.release)
		data->batch.release(&data->batch);
	tl__free(data);
	stream->release = NULL;
}

int tl_table_export_arrow(struct ArrowArrayStream *out, const tl_table *table, tl_error *err)
{
	*out = (struct ArrowArrayStream){.get_schema = get_schema,
					 .get_next = get_next,
					 .get_last_error = get_last_error,
					 .release = release_stream};
	if (!table) {
		out->release = NULL;
		return tl__fail(err, TL_EINVAL, "a table is needed");
	}
	stream_data *data = tl__calloc(1, sizeof *data);
	out->private_data = data;
	if (!data) {
		out->release = NULL;
		return tl__nomem(err);
	}
	if (make_schema(&data->schema, table) < 0 || make_batch(&data->batch, table) < 0) {
		release_stream(out);
		return tl__nomem(err);
	}
	return 0;
}
