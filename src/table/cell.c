/* SPDX-License-Identifier: MIT */
/* One cell: its text, its JSON, its value, and numbering equal texts. */
#include <math.h>
#include <string.h>

#include "table/internal.h"
#include "util/map.h"
#include "util/utf8.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Names in traces are bytes that mostly are UTF-8; what leaves a table always is. */
static void put_utf8(tl_buf *out, const char *text, size_t n)
{
	size_t at = 0, run = 0;
	uint32_t code;
	while (at < n) {
		if ((unsigned char)text[at] < 0x80) {
			at++;
			continue;
		}
		size_t length = tl__utf8_decode(text + at, n - at, &code);
		if (length) {
			at += length;
			continue;
		}
		tl__buf_put(out, text + run, at - run);
		tl__buf_puts(out, replacement);
		run = ++at;
	}
	tl__buf_put(out, text + run, n - run);
}

/* ---- kernel lists ---- */

tl_value tl__kernel_stream(const tl_table *table, const tl_kernel *kernel)
{
	if (kernel->stream_text != TL_STR_NONE)
		return TL_VALUE_STRING(tl__str(table->strings, kernel->stream_text),
				       tl__str_len(table->strings, kernel->stream_text));
	return kernel->stream == INT64_MIN ? TL_VALUE_NONE : TL_VALUE_INT(kernel->stream);
}

int tl__kernel_record(tl_arena *arena, const tl_table *table, const tl_column *column, const tl_kernel *kernel,
		      tl_value items[TL_KERNEL_ITEMS], tl_value *out)
{
	uint32_t n = 0;

	items[n++] = TL_VALUE_STRING("name", 4);
	items[n++] = TL_VALUE_STRING(tl__str(table->strings, kernel->name), tl__str_len(table->strings, kernel->name));
	items[n++] = TL_VALUE_STRING("dur", 3);
	items[n++] = kernel->dur == TL_TIME_NONE ? TL_VALUE_NONE
						 : TL_VALUE_DOUBLE((double)kernel->dur / (double)TL_PS_PER_US);
	items[n++] = TL_VALUE_STRING("stream", 6);
	items[n++] = tl__kernel_stream(table, kernel);
	if (column->with_uid) {
		items[n++] = TL_VALUE_STRING("gpu_op_uid", 10);
		items[n++] = TL_VALUE_INT(kernel->uid);
	}
	if (kernel->call_stack != TL_STR_NONE) {
		items[n++] = TL_VALUE_STRING("call_stack", 10);
		TL_TRY(tl__stack_value(&items[n++], table->strings, kernel->call_stack, arena));
	}
	*out = (tl_value){.kind = TL_V_DICT, .n = n / 2, .items = items};
	return 0;
}

/* Prints record by record, so a list of forty thousand kernels needs no values of its own. */
static void put_kernels(tl_buf *out, const tl_table *table, const tl_column *column, tl_kernel_range range, bool json)
{
	tl_arena arena = {0};
	tl__buf_putc(out, '[');
	for (uint32_t i = 0; i < range.count && !out->failed; i++) {
		tl_value items[TL_KERNEL_ITEMS], record;
		if (tl__kernel_record(&arena, table, column, &table->kernels.v[range.first + i], items, &record) < 0) {
			out->failed = 1;
			break;
		}
		if (i)
			tl__buf_put(out, ", ", 2);
		if (json)
			tl__value_json(out, &record);
		else
			tl__value_repr(out, &record);
		if (arena.block)
			tl__arena_free(&arena);
	}
	tl__buf_putc(out, ']');
	tl__arena_free(&arena);
}

/* ---- text and JSON ---- */

void tl__cell_text(const tl_table *table, const tl_column *column, size_t row, tl_buf *out)
{
	const tl_value *value;

	if (tl__column_is_null(column, row))
		return;
	switch (column->storage) {
	case TL_COL_INT64:
		tl__buf_int(out, column->i64[row]);
		break;
	case TL_COL_DOUBLE:
		tl__buf_double(out, column->f64[row]);
		break;
	case TL_COL_BOOL:
		tl__buf_puts(out, column->b[row] ? "True" : "False");
		break;
	case TL_COL_STRING:
		put_utf8(out, tl__str(table->strings, column->str[row]), tl__str_len(table->strings, column->str[row]));
		break;
	case TL_COL_VALUE:
		value = column->val[row];
		if (value->kind == TL_V_STRING)
			put_utf8(out, value->s, value->n);
		else
			tl__value_str(out, value);
		break;
	default:
		put_kernels(out, table, column, column->ker[row], false);
	}
}

void tl__cell_json(const tl_table *table, const tl_column *column, size_t row, tl_buf *out)
{
	if (tl__column_is_null(column, row)) {
		tl__buf_put(out, "null", 4);
		return;
	}
	switch (column->storage) {
	case TL_COL_INT64:
		tl__buf_int(out, column->i64[row]);
		break;
	case TL_COL_DOUBLE:
		if (isfinite(column->f64[row]))
			tl__buf_double(out, column->f64[row]);
		else
			tl__buf_put(out, "null", 4);
		break;
	case TL_COL_BOOL:
		tl__buf_puts(out, column->b[row] ? "true" : "false");
		break;
	case TL_COL_STRING:
		tl__json_string(out, tl__str(table->strings, column->str[row]),
				tl__str_len(table->strings, column->str[row]));
		break;
	case TL_COL_VALUE:
		tl__value_json(out, column->val[row]);
		break;
	default:
		put_kernels(out, table, column, column->ker[row], true);
	}
}

/* ---- value ---- */

static int string_value(tl_table *into, const tl_table *table, tl_str id, tl_value *out)
{
	size_t n = tl__str_len(table->strings, id);
	const char *text = tl__arena_strndup(&into->arena, tl__str(table->strings, id), n);
	if (!text)
		return TL_ENOMEM;
	*out = TL_VALUE_STRING(text, n);
	return 0;
}

static int kernels_value(tl_table *into, const tl_table *table, const tl_column *column, tl_kernel_range range,
			 tl_value *out)
{
	tl_value *list = tl__arena_alloc(&into->arena, range.count * sizeof *list);
	if (!list)
		return TL_ENOMEM;
	for (uint32_t i = 0; i < range.count; i++) {
		const tl_kernel *kernel = &table->kernels.v[range.first + i];
		tl_value *items = tl__arena_alloc(&into->arena, TL_KERNEL_ITEMS * sizeof *items);
		if (!items)
			return TL_ENOMEM;
		TL_TRY(tl__kernel_record(&into->arena, table, column, kernel, items, &list[i]));
		if (into->strings == table->strings)
			continue;
		/* the other table's pool may go away before this one */
		TL_TRY(string_value(into, table, kernel->name, &items[1]));
		if (kernel->stream_text != TL_STR_NONE)
			TL_TRY(string_value(into, table, kernel->stream_text, &items[5]));
	}
	*out = (tl_value){.kind = TL_V_LIST, .n = range.count, .items = list};
	return 0;
}

int tl__cell_value(tl_table *into, const tl_table *table, const tl_column *column, size_t row, const tl_value **out)
{
	tl_value value = TL_VALUE_NONE;

	*out = NULL;
	if (tl__column_is_null(column, row))
		return 0;
	switch (column->storage) {
	case TL_COL_INT64:
		value = TL_VALUE_INT(column->i64[row]);
		break;
	case TL_COL_DOUBLE:
		value = TL_VALUE_DOUBLE(column->f64[row]);
		break;
	case TL_COL_BOOL:
		value = TL_VALUE_BOOL(column->b[row] != 0);
		break;
	case TL_COL_STRING:
		TL_TRY(string_value(into, table, column->str[row], &value));
		break;
	case TL_COL_VALUE:
		*out = column->val[row];
		return 0;
	default:
		TL_TRY(kernels_value(into, table, column, column->ker[row], &value));
	}
	*out = tl__table_value(into, value);
	return *out ? 0 : TL_ENOMEM;
}

/* ---- numbering texts ---- */

int tl__column_text_ids(const tl_table *table, const tl_column *column, tl_strings *texts, uint32_t *ids)
{
	tl_map known = {0}; /* analyses share values, so most cells repeat a pointer */
	tl_buf text = {0};
	int code = 0;

	if (column->storage == TL_COL_STRING) {
		memcpy(ids, column->str, table->rows * sizeof *ids);
		return 0;
	}
	for (size_t row = 0; row < table->rows && code == 0; row++) {
		uint64_t pointer = column->storage == TL_COL_VALUE ? (uint64_t)(uintptr_t)column->val[row] : 0;
		ids[row] = 0;
		if (tl__column_is_null(column, row))
			continue;
		if (pointer && (ids[row] = tl__map_get(&known, pointer)) != TL_MAP_NONE)
			continue;
		tl__buf_clear(&text);
		tl__cell_text(table, column, row, &text);
		ids[row] = text.failed ? TL_STR_FAIL : tl__intern(texts, text.n ? text.v : "", text.n);
		if (ids[row] == TL_STR_FAIL || (pointer && tl__map_set(&known, pointer, ids[row]) < 0))
			code = TL_ENOMEM;
	}
	tl__map_free(&known);
	tl__buf_free(&text);
	return code;
}
