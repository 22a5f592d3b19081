/* SPDX-License-Identifier: MIT */
/** @file call_stack_columns.c What a summary says about where its operations are called. */
#include <string.h>

#include "analysis/call_stack.h"
#include "analysis/entry_point.h"

typedef TL_VEC(tl_value) value_list;

/* The call stacks of one row: `chains` one after another, chain i begins at starts[i] and ends with a kernel. */
typedef struct row_stacks {
	tl_arena arena;
	value_list chains, flat, shown;
	TL_VEC(size_t) starts;
	tl_buf text;
} row_stacks;

static void clear_stacks(row_stacks *r)
{
	tl__arena_free(&r->arena);
	r->chains.n = r->flat.n = r->shown.n = r->starts.n = 0;
}

static void free_stacks(row_stacks *r)
{
	clear_stacks(r);
	TL_VEC_FREE(&r->chains);
	TL_VEC_FREE(&r->flat);
	TL_VEC_FREE(&r->shown);
	TL_VEC_FREE(&r->starts);
	tl__buf_free(&r->text);
}

static int add_chain(row_stacks *r, const tl_table *table, tl_str id, const tl_value *kernel)
{
	const tl_value *name = tl__value_get(kernel, "name");
	tl_value stack;
	TL_TRY(tl__stack_value(&stack, table->strings, id, &r->arena));
	TL_TRY(TL_VEC_PUSH(&r->starts, r->chains.n));
	for (size_t i = 0; i < stack.n; i++)
		TL_TRY(TL_VEC_PUSH(&r->chains, stack.items[i]));
	return TL_VEC_PUSH(&r->chains, name ? *name : TL_VALUE_STRING("", 0));
}

static size_t chain_length(const row_stacks *r, size_t chain)
{
	return r->starts.v[chain + 1] - r->starts.v[chain];
}

static size_t common_length(const row_stacks *r, size_t chains)
{
	const tl_value *first = r->chains.v;
	size_t common = chain_length(r, 0);
	for (size_t i = 1; i < chains; i++) {
		const tl_value *chain = r->chains.v + r->starts.v[i];
		size_t n = chain_length(r, i), same = 0;
		while (same < n && same < common && tl__value_equal(&first[same], &chain[same]))
			same++;
		common = same;
	}
	return common;
}

/* What is behind the common part, each distinct rest once: added to what is shown as a list, and flat. */
static int add_rests(row_stacks *r, size_t chains, size_t common)
{
	tl_strings *seen = tl__strings_new(NULL);
	int code = seen ? 0 : TL_ENOMEM;
	for (size_t i = 0; i < chains && code == 0; i++) {
		const tl_value *rest = r->chains.v + r->starts.v[i] + common;
		size_t n = chain_length(r, i) - common, before = tl__strings_count(seen);
		tl_value list = {.kind = TL_V_LIST, .n = (uint32_t)n, .items = rest};
		tl__buf_clear(&r->text);
		tl__value_repr(&r->text, &list);
		tl_str id = r->text.failed ? TL_STR_FAIL : tl__intern(seen, r->text.v, r->text.n);
		if (id == TL_STR_FAIL)
			code = TL_ENOMEM;
		if (code < 0 || tl__strings_count(seen) == before)
			continue;
		code = TL_VEC_PUSH(&r->shown, list);
		for (size_t k = 0; k < n && code == 0; k++)
			code = TL_VEC_PUSH(&r->flat, rest[k]);
	}
	tl__strings_unref(seen);
	return code;
}

/* Fills `shown` (what is printed) and `flat` (the names in it, in order); both empty when there is no kernel. */
static int join_stacks(row_stacks *r, const tl_table *table, const tl_value *stacks, const tl_value *kernels)
{
	size_t chains = tl__value_count(kernels);
	for (size_t i = 0; i < chains; i++) {
		int64_t id = TL_STR_NONE;
		(void)tl__value_int(tl__value_at(stacks, i), &id);
		TL_TRY(add_chain(r, table, (tl_str)id, &kernels->items[i]));
	}
	TL_TRY(TL_VEC_PUSH(&r->starts, r->chains.n));
	if (!chains)
		return 0;
	size_t common = common_length(r, chains);
	for (size_t i = 0; i < common; i++) {
		TL_TRY(TL_VEC_PUSH(&r->shown, r->chains.v[i]));
		TL_TRY(TL_VEC_PUSH(&r->flat, r->chains.v[i]));
	}
	return chains > 1 ? add_rests(r, chains, common) : 0;
}

static int list_text(row_stacks *r, tl_table *table, const tl_value *items, size_t n, tl_str *out)
{
	tl_value list = {.kind = TL_V_LIST, .n = (uint32_t)n, .items = items};
	tl__buf_clear(&r->text);
	tl__value_repr(&r->text, &list);
	*out = r->text.failed ? TL_STR_FAIL : tl__intern(table->strings, r->text.v, r->text.n);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

enum { ENTRY, WRAPPERS_BETWEEN, TRAVERSAL, WRAPPERS, FULL, COLUMNS };

/* Name of the operation in the stack: a synthetic row is named "operation->kernel (Synthetic Op)". */
static int operation_name(row_stacks *r, const tl_table *table, tl_str name, const char **out)
{
	static const char mark[] = " (Synthetic Op)";
	size_t n = tl__str_len(table->strings, name);
	*out = tl__str(table->strings, name);
	const char *arrow = strstr(*out, "->");
	if (!arrow || n < sizeof mark || strcmp(*out + n - (sizeof mark - 1), mark) != 0)
		return 0;
	*out = tl__arena_strndup(&r->arena, *out, (size_t)(arrow - *out));
	return *out ? 0 : TL_ENOMEM;
}

/* Operation, wrappers and frame as they follow each other in the stack, the operation under its full name. */
static int wrapper_text(row_stacks *r, tl_table *table, const tl_entry_point *entry, const char *operation, tl_str *out)
{
	bool inward = entry->traversal == TL_ENTRY_INWARD;
	size_t first = inward ? entry->operation : entry->frame, last = inward ? entry->frame : entry->operation;
	r->flat.v[entry->operation] = TL_VALUE_STRING(operation, strlen(operation));
	return list_text(r, table, r->flat.v + first, last - first + 1, out);
}

static int fill_row(row_stacks *r, tl_table *table, tl_column *columns[COLUMNS], size_t row, const tl_value *stacks,
		    const tl_value *kernels, tl_str name)
{
	const char *operation;
	tl_str not_found = tl__table_str(table, "Not found");
	if (not_found == TL_STR_FAIL)
		return TL_ENOMEM;
	columns[ENTRY]->str[row] = columns[FULL]->str[row] = not_found;
	if (columns[TRAVERSAL])
		columns[WRAPPERS_BETWEEN]->i64[row] = -1;
	TL_TRY(join_stacks(r, table, stacks, kernels));
	if (!r->shown.n)
		return 0;
	TL_TRY(list_text(r, table, r->shown.v, r->shown.n, &columns[FULL]->str[row]));
	TL_TRY(operation_name(r, table, name, &operation));
	tl_entry_point entry = tl__entry_point(r->flat.v, r->flat.n, operation);
	if (entry.traversal == TL_ENTRY_NOT_FOUND)
		return 0;
	bool inward = entry.traversal == TL_ENTRY_INWARD;
	const tl_value *found = &r->flat.v[entry.frame];
	tl_str text = tl__intern(table->strings, found->s, found->n);
	columns[ENTRY]->str[row] = text;
	if (text == TL_STR_FAIL)
		return TL_ENOMEM;
	if (!columns[TRAVERSAL])
		return 0;
	size_t apart = inward ? entry.frame - entry.operation : entry.operation - entry.frame;
	columns[WRAPPERS_BETWEEN]->i64[row] = (int64_t)apart - 1;
	columns[TRAVERSAL]->str[row] = tl__table_str(table, inward ? "inward" : "outward");
	if (columns[TRAVERSAL]->str[row] == TL_STR_FAIL)
		return TL_ENOMEM;
	return wrapper_text(r, table, &entry, operation, &columns[WRAPPERS]->str[row]);
}

int tl__call_stack_columns(tl_table *table, const char *stacks, const char *kernels, bool debug, tl_error *err)
{
	static const struct {
		const char *name;
		tl_storage storage;
		bool debug;
	} specs[COLUMNS] = {
		[ENTRY] = {"entry_point", TL_COL_STRING, false},
		[WRAPPERS_BETWEEN] = {"num_wrappers", TL_COL_INT64, true},
		[TRAVERSAL] = {"traversal", TL_COL_STRING, true},
		[WRAPPERS] = {"wrappers", TL_COL_STRING, true},
		[FULL] = {"call_stack_full", TL_COL_STRING, false},
	};
	ptrdiff_t place = tl_table_find_column(table, stacks);
	size_t base = table->columns.n, n = 0;
	tl_column *columns[COLUMNS] = {NULL};
	row_stacks r = {0};

	if (place < 0 || !tl__table_column(table, kernels) || !tl__table_column(table, "name"))
		return 0;
	for (size_t i = 0; i < COLUMNS; i++)
		if ((debug || !specs[i].debug) && !tl__table_add(table, specs[i].name, "", specs[i].storage))
			return tl__nomem(err);
	for (size_t i = 0; i < COLUMNS; i++)
		if (debug || !specs[i].debug)
			columns[i] = &table->columns.v[base + n++];
	const tl_column *names = tl__table_column(table, "name"), *lists = tl__table_column(table, kernels);
	int code = 0;
	for (size_t row = 0; row < table->rows && code == 0; row++) {
		code = fill_row(&r, table, columns, row, table->columns.v[place].val[row], lists->val[row],
				names->str[row]);
		clear_stacks(&r);
	}
	free_stacks(&r);
	if (code < 0)
		return tl__nomem(err);
	tl__table_remove_column(table, (size_t)place);
	for (size_t i = 0; i < n; i++)
		tl__table_move_column(table, base - 1 + i, (size_t)place + i);
	return 0;
}
