/* SPDX-License-Identifier: MIT */
#include "analysis/launcher_columns.h"

#include <string.h>

#include "analysis/metrics.h"
#include "util/utf8.h"

/* The events of the rows, by the column of their UIDs; free with tl__free. NULL when out of memory. */
static tl_row *events_of(const tl_table *launchers)
{
	const tl_column *uids = tl__table_column(launchers, "UID");
	tl_row *events = tl__malloc((launchers->rows + 1) * sizeof *events);
	for (size_t i = 0; events && i < launchers->rows; i++)
		events[i] = (tl_row)uids->i64[i];
	return events;
}

/* Moves the columns from `first` on in front of (or behind) the named one; they keep their order. */
static void move_columns(tl_table *table, size_t first, const char *name, size_t offset)
{
	ptrdiff_t to = tl_table_find_column(table, name);
	for (size_t i = first; to >= 0 && i < table->columns.n; i++)
		tl__table_move_column(table, i, (size_t)to + offset + (i - first));
}

int tl__launcher_ids(tl_analyzer *a, tl_table *launchers, tl_error *err)
{
	size_t first = launchers->columns.n;
	tl_row *events = events_of(launchers);
	if (!events)
		return tl__nomem(err);
	int code = tl__event_id_column(a, launchers, "pid", TL_EVENT_PID, events, err);
	if (code == 0)
		code = tl__event_id_column(a, launchers, "tid", TL_EVENT_TID, events, err);
	if (code == 0)
		code = tl__event_id_column(a, launchers, "external_id", TL_EVENT_EXTERNAL, events, err);
	tl__free(events);
	if (code == 0)
		move_columns(launchers, first, "kernel_details", 0);
	return code;
}

/* ---- call stacks ---- */

enum { NAME_LIMIT = 256 };

typedef TL_VEC(tl_value) values;

/* A name of the stack; long ones are cut. */
static int push_name(tl_table *table, values *stack, const char *name, size_t n)
{
	size_t keep = n <= NAME_LIMIT ? n : tl__utf8_prefix(name, n, NAME_LIMIT);
	if (keep < n) {
		name = tl__arena_printf(&table->arena, "%.*s..", (int)keep, name);
		n = keep + 2;
	}
	return name ? TL_VEC_PUSH(stack, TL_VALUE_STRING(name, n)) : TL_ENOMEM;
}

static int collect_stack(tl_analyzer *a, tl_table *table, tl_row event, values *stack)
{
	const tl_store *s = a->store;
	stack->n = 0;
	TL_TRY(push_name(table, stack, tl__name(s, event), tl__str_len(s->strings, s->name[event])));
	while ((event = tl_tree_parent(a->tree, event)) != TL_ROW_NONE)
		if (strstr(tl__name(s, event), "nn.Module"))
			TL_TRY(push_name(table, stack, tl__name(s, event), tl__str_len(s->strings, s->name[event])));
	return 0;
}

/* A name without each `_<digits>` in it. */
static tl_str without_numbers(tl_table *table, const tl_value *name)
{
	tl_buf text = {0};
	for (size_t i = 0; i < name->n;) {
		size_t end = i + 1;
		while (name->s[i] == '_' && end < name->n && name->s[end] >= '0' && name->s[end] <= '9')
			end++;
		if (name->s[i] == '_' && end > i + 1)
			i = end;
		else
			tl__buf_putc(&text, name->s[i++]);
	}
	tl_str id = text.failed ? TL_STR_FAIL : tl__intern(table->strings, text.v ? text.v : "", text.n);
	tl__buf_free(&text);
	return id;
}

/* Equal stacks of neighbouring launchers share their value. */
static bool same_stack(const tl_value *list, const values *stack)
{
	if (!list || list->n != stack->n)
		return false;
	for (size_t i = 0; i < stack->n; i++)
		if (!tl__value_equal(&list->items[i], &stack->v[i]))
			return false;
	return true;
}

static int fill(tl_analyzer *a, tl_table *table, const tl_row *events, tl_column *stacks, tl_column *modules)
{
	values stack = {0};
	const tl_value *last = NULL;
	tl_str last_module = TL_STR_NONE, none = tl__table_str(table, "NA");
	int code = none == TL_STR_FAIL ? TL_ENOMEM : 0;
	for (size_t i = 0; i < table->rows && code == 0; i++) {
		code = collect_stack(a, table, events[i], &stack);
		if (code == 0 && !same_stack(last, &stack)) {
			last = tl__table_list(table, stack.v, stack.n, false);
			last_module = stack.n > 1 ? without_numbers(table, &stack.v[1]) : none;
			code = last && last_module != TL_STR_FAIL ? 0 : TL_ENOMEM;
		}
		stacks->val[i] = last;
		modules->str[i] = last_module;
	}
	TL_VEC_FREE(&stack);
	return code;
}

int tl__launcher_call_stacks(tl_analyzer *a, tl_table *launchers, tl_error *err)
{
	size_t first = launchers->columns.n;
	tl_row *events = events_of(launchers);
	bool made = tl__table_add(launchers, "call_stack", "", TL_COL_VALUE) &&
		    tl__table_add(launchers, "parent_module", "", TL_COL_STRING);
	int code = events && made ? 0 : TL_ENOMEM;
	if (code == 0) {
		tl_column *columns = launchers->columns.v + first;
		code = fill(a, launchers, events, &columns[0], &columns[1]);
	}
	tl__free(events);
	if (code < 0)
		return tl__nomem(err);
	move_columns(launchers, first, "num_kernels", 1);
	return 0;
}
