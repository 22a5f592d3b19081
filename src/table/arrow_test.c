/* SPDX-License-Identifier: MIT */
/*
 * Tables as Arrow streams, read as any consumer of the C data interface reads them: by the specification
 * (arrow.apache.org, "The Arrow C data interface", "... C stream interface"), not by what the exporter knows.
 */
#include "table/testing.h"

#include <errno.h>

#include "tracelens/arrow.h"

enum { ROWS = 10 }; /* more than one byte of bits */

/* A column of each kind; the odd rows of those that can be are empty. */
static tl_table *every_kind(void)
{
	static const int64_t ints[ROWS] = {0, EMPTY, INT64_MAX, EMPTY, -5, EMPTY, 6, EMPTY, 8, EMPTY};
	static const double reals[ROWS] = {0.5, NAN, -2, NAN, 4, NAN, 6, NAN, 8, NAN};
	static const char *const texts[ROWS] = {"", NULL, "µs", NULL, "a\"b", NULL, "x", NULL, "y", NULL};
	static const char *const values[ROWS] = {"[1,[2]]", NULL, "{\"k\":\"v\"}", NULL, "[]", NULL, NULL, NULL,
						 NULL,      NULL};
	tl_table *t = tl__table_new("all", NULL, ROWS);
	assert_non_null(t);
	put_ints(t, "int", ints);
	put_doubles(t, "real", reals);
	tl_column *c = tl__table_add(t, "flag", "", TL_COL_BOOL);
	assert_non_null(c);
	for (size_t row = 0; row < ROWS; row++)
		c->b[row] = row % 3 == 0;
	put_strings(t, "text", texts);
	put_values(t, "value", values);
	c = tl__table_add(t, "kernels", "", TL_COL_KERNELS);
	assert_non_null(c);
	put_kernel(t, c, 0, a_kernel(t, "gemm", 1500000, 7, 3));
	for (size_t row = 1; row < ROWS; row++)
		assert_int_equal(tl__column_set_null(t, c, row), 0);
	return t;
}

/* ---- a consumer ---- */

static bool is_valid(const struct ArrowArray *array, size_t row)
{
	const uint8_t *bits = array->buffers[0];
	return !bits || (bits[row / 8] >> row % 8 & 1);
}

static void expect_cell(const struct ArrowArray *array, size_t row, const char *expected)
{
	assert_int_equal(is_valid(array, row), expected != NULL);
	if (!expected)
		return;
	const int64_t *ends = array->buffers[1];
	const char *text = array->buffers[2];
	size_t n = (size_t)(ends[row + 1] - ends[row]);
	assert_int_equal(n, strlen(expected));
	assert_memory_equal(text + ends[row], expected, n);
}

/* The same of JSON, in which blanks do not matter; texts in it have none. */
static void expect_json(const struct ArrowArray *array, size_t row, const char *expected)
{
	assert_true(is_valid(array, row));
	const int64_t *ends = array->buffers[1];
	const char *at = (const char *)array->buffers[2] + ends[row],
		   *end = (const char *)array->buffers[2] + ends[row + 1];
	for (; at < end; at++)
		if (*at != ' ')
			assert_int_equal(*at, *expected++);
	assert_int_equal(*expected, '\0');
}

static void expect_metadata(const struct ArrowSchema *schema, const char *unit)
{
	int32_t pairs, n_key, n_value;
	const char *at = schema->metadata;
	if (!unit) {
		assert_null(at);
		return;
	}
	assert_non_null(at);
	memcpy(&pairs, at, sizeof pairs);
	memcpy(&n_key, at + 4, sizeof n_key);
	assert_int_equal(pairs, 1);
	assert_int_equal(n_key, 4);
	assert_memory_equal(at + 8, "unit", 4);
	memcpy(&n_value, at + 12, sizeof n_value);
	assert_int_equal(n_value, strlen(unit));
	assert_memory_equal(at + 16, unit, (size_t)n_value);
}

static void export(struct ArrowArrayStream *out, const tl_table *table)
{
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_table_export_arrow(out, table, &err), 0);
	assert_non_null(out->release);
}

static struct ArrowArray only_batch(struct ArrowArrayStream *stream)
{
	struct ArrowArray batch, end;
	assert_int_equal(stream->get_next(stream, &batch), 0);
	assert_non_null(batch.release);
	assert_int_equal(stream->get_next(stream, &end), 0);
	assert_null(end.release); /* the end of the stream */
	assert_int_equal(stream->get_next(stream, &end), 0);
	assert_null(end.release);
	return batch;
}

/* ---- what it reads ---- */

static void a_schema_tells_names_types_and_units(void **state)
{
	(void)state;
	static const char *const names[] = {"int", "real", "flag", "text", "value", "kernels"};
	static const char *const formats[] = {"l", "g", "b", "U", "U", "U"};
	tl_table *table = every_kind();
	struct ArrowArrayStream stream;
	struct ArrowSchema schemas[2];
	export(&stream, table);
	tl_table_free(table); /* the stream is a copy */
	for (int i = 0; i < 2; i++)
		assert_int_equal(stream.get_schema(&stream, &schemas[i]), 0);
	assert_null(stream.get_last_error(&stream) ? NULL : "no text");
	stream.release(&stream);
	assert_null(stream.release);
	for (int i = 0; i < 2; i++) { /* and each schema stands alone */
		struct ArrowSchema *s = &schemas[i];
		assert_string_equal(s->format, "+s");
		assert_int_equal(s->flags & ARROW_FLAG_NULLABLE, 0);
		assert_int_equal(s->n_children, 6);
		assert_null(s->dictionary);
		expect_metadata(s, NULL);
		for (size_t c = 0; c < 6; c++) {
			const struct ArrowSchema *child = s->children[c];
			assert_string_equal(child->name, names[c]);
			assert_string_equal(child->format, formats[c]);
			assert_int_equal(child->flags, ARROW_FLAG_NULLABLE);
			assert_int_equal(child->n_children, 0);
			expect_metadata(child, c == 1 ? "µs" : NULL);
		}
		s->release(s);
		assert_null(s->release);
	}
}

static void a_batch_holds_the_cells(void **state)
{
	(void)state;
	tl_table *table = every_kind();
	struct ArrowArrayStream stream;
	export(&stream, table);
	tl_table_free(table);
	struct ArrowArray batch = only_batch(&stream);
	stream.release(&stream); /* the batch outlives it */
	assert_int_equal(batch.length, ROWS);
	assert_int_equal(batch.null_count, 0);
	assert_int_equal(batch.offset, 0);
	assert_int_equal(batch.n_buffers, 1);
	assert_int_equal(batch.n_children, 6);
	static const int64_t nulls[] = {5, 5, 0, 5, 7, 9};
	static const int64_t buffers[] = {2, 2, 2, 3, 3, 3};
	for (size_t c = 0; c < 6; c++) {
		assert_int_equal(batch.children[c]->length, ROWS);
		assert_int_equal(batch.children[c]->null_count, nulls[c]);
		assert_int_equal(batch.children[c]->n_buffers, buffers[c]);
		assert_int_equal(batch.children[c]->n_children, 0);
		assert_int_equal(batch.children[c]->offset, 0);
	}
	const struct ArrowArray *ints = batch.children[0], *reals = batch.children[1], *flags = batch.children[2];
	for (size_t row = 0; row < ROWS; row++) {
		assert_int_equal(is_valid(ints, row), row % 2 == 0);
		assert_int_equal(is_valid(reals, row), row % 2 == 0);
		assert_true(is_valid(flags, row));
		assert_int_equal(((const uint8_t *)flags->buffers[1])[row / 8] >> row % 8 & 1, row % 3 == 0);
	}
	assert_true(((const int64_t *)ints->buffers[1])[2] == INT64_MAX);
	assert_int_equal(((const int64_t *)ints->buffers[1])[4], -5);
	assert_true(((const double *)reals->buffers[1])[0] == 0.5);
	assert_true(((const double *)reals->buffers[1])[2] == -2);
	static const char *const texts[ROWS] = {"", NULL, "µs", NULL, "a\"b", NULL, "x", NULL, "y", NULL};
	for (size_t row = 0; row < ROWS; row++)
		expect_cell(batch.children[3], row, texts[row]);
	expect_json(batch.children[4], 0, "[1,[2]]");
	expect_cell(batch.children[4], 1, NULL);
	expect_json(batch.children[4], 2, "{\"k\":\"v\"}");
	expect_json(batch.children[4], 4, "[]");
	expect_json(batch.children[5], 0, "[{\"name\":\"gemm\",\"dur\":1.5,\"stream\":7}]");
	expect_cell(batch.children[5], 9, NULL);
	batch.release(&batch);
	assert_null(batch.release);
}

/* A consumer may take children out of a batch: it copies the structure and marks it as released. */
static void children_may_be_moved_out(void **state)
{
	(void)state;
	tl_table *table = every_kind();
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	export(&stream, table);
	tl_table_free(table);
	struct ArrowArray batch = only_batch(&stream), text = *batch.children[3];
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	struct ArrowSchema field = *schema.children[1];
	batch.children[3]->release = NULL;
	schema.children[1]->release = NULL;
	batch.release(&batch);
	schema.release(&schema);
	stream.release(&stream);
	expect_cell(&text, 4, "a\"b");
	assert_string_equal(field.name, "real");
	expect_metadata(&field, "µs");
	text.release(&text);
	field.release(&field);
}

static void empty_tables_are_streams_too(void **state)
{
	(void)state;
	for (int columns = 0; columns < 2; columns++) {
		tl_table *table = tl__table_new("nothing", NULL, 0);
		assert_non_null(table);
		if (columns)
			put_strings(table, "name", NULL);
		struct ArrowArrayStream stream;
		struct ArrowSchema schema;
		export(&stream, table);
		tl_table_free(table);
		assert_int_equal(stream.get_schema(&stream, &schema), 0);
		assert_int_equal(schema.n_children, columns);
		struct ArrowArray batch = only_batch(&stream);
		assert_int_equal(batch.length, 0);
		assert_int_equal(batch.n_children, columns);
		if (columns) {
			assert_non_null(batch.children[0]->buffers[1]); /* one offset even without rows */
			assert_int_equal(((const int64_t *)batch.children[0]->buffers[1])[0], 0);
		}
		batch.release(&batch);
		schema.release(&schema);
		stream.release(&stream);
	}
}

static void no_table_is_an_error(void **state)
{
	(void)state;
	struct ArrowArrayStream stream;
	tl_error err = TL_ERROR_INIT;
	memset(&stream, 0x5a, sizeof stream);
	assert_int_equal(tl_table_export_arrow(&stream, NULL, &err), TL_EINVAL);
	assert_null(stream.release);
	assert_non_null(strstr(err.message, "table"));
}

/* ---- without memory ---- */

static int export_and_forget(void *of)
{
	struct ArrowArrayStream stream;
	tl_error err = TL_ERROR_INIT;
	int code = tl_table_export_arrow(&stream, of, &err);
	if (code < 0) {
		assert_null(stream.release);
		assert_int_equal(err.code, TL_ENOMEM);
		return code;
	}
	stream.release(&stream); /* unread */
	return 0;
}

static int take_schema(void *of)
{
	struct ArrowArrayStream *stream = of;
	struct ArrowSchema schema;
	int code = stream->get_schema(stream, &schema);
	if (code) {
		assert_int_equal(code, ENOMEM);
		assert_null(schema.release);
		assert_string_equal(stream->get_last_error(stream), "out of memory");
		return TL_ENOMEM;
	}
	schema.release(&schema);
	return 0;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	tl_table *table = every_kind();
	struct ArrowArrayStream stream;
	assert_true(fail_each_allocation(export_and_forget, table) > 30);
	export(&stream, table);
	tl_table_free(table);
	assert_true(fail_each_allocation(take_schema, &stream) > 10);
	struct ArrowArray batch = only_batch(&stream); /* nothing was lost by it */
	expect_cell(batch.children[3], 2, "µs");
	batch.release(&batch);
	stream.release(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_schema_tells_names_types_and_units),
		cmocka_unit_test(a_batch_holds_the_cells),
		cmocka_unit_test(children_may_be_moved_out),
		cmocka_unit_test(empty_tables_are_streams_too),
		cmocka_unit_test(no_table_is_an_error),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("arrow", tests, NULL, NULL);
}
