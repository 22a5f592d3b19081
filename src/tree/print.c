/* SPDX-License-Identifier: MIT */
/*
 * Trees as text, in the form that users of the reference know (spec 01 sections 5.2 to 5.4), with [01-T18]
 * and [01-T19] corrected. Nothing recurses: what stands before a line follows from the path to it, which is kept in one
 * buffer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelens/event.h"
#include "tree/tree.h"
#include "util/error.h"
#include "util/utf8.h"
#include "util/value.h"

enum { NAME_LIMIT = 64, STACK_NAME_LIMIT = 256, ENOUGH = 16 << 10 };

#define LAST "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 "   /* └── */
#define BRANCH "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 " /* ├── */
#define BAR "\xe2\x94\x82   "                          /* │   */

typedef struct printer {
	const tl_tree *tree;
	const tl_print_options *options;
	tl_write_fn write;
	void *user;
	tl_buf out;  /* text that was not written yet */
	tl_buf path; /* what stands before the lines below the current node */
} printer;

static int flush(printer *p)
{
	return p->path.failed ? TL_ENOMEM : tl__buf_send(&p->out, p->write, p->user);
}

/* Ends a line. */
static int end_line(printer *p)
{
	tl__buf_putc(&p->out, '\n');
	return p->out.n >= ENOUGH || p->out.failed ? flush(p) : 0;
}

/* Writes what is left and frees; `code` is that of the work before. */
static int finish(printer *p, int code, tl_error *err)
{
	if (code == 0)
		code = flush(p);
	tl__buf_free(&p->out);
	tl__buf_free(&p->path);
	return tl__buf_sent(code, err);
}

/* ---- parts of lines ---- */

/* A text of at most `limit` characters and two dots for what is cut off. */
static void put_cut(tl_buf *out, const char *text, size_t n, size_t limit)
{
	size_t keep = n <= limit ? n : tl__utf8_prefix(text, n, limit);
	tl__buf_put(out, text, keep);
	if (keep < n)
		tl__buf_puts(out, "..");
}

static void put_name(printer *p, tl_row row)
{
	const tl_store *s = p->tree->store;
	bool named = s->name[row] != TL_STR_NONE;
	put_cut(&p->out, named ? tl__name(s, row) : "Unknown", named ? tl__str_len(s->strings, s->name[row]) : 7,
		NAME_LIMIT);
}

/* "UID: 5, Category: cpu_op, Name: aten::mm" */
static void put_event(printer *p, tl_row row)
{
	const tl_store *s = p->tree->store;
	const char *category = tl_event_has_category(s, row) ? tl_event_category(s, row, NULL) : "None";
	tl__buf_printf(&p->out, "UID: %" PRIu32 ", Category: %s, Name: ", row, category);
	put_name(p, row);
}

static void put_duration(printer *p, tl_row row, const char *absent)
{
	char text[TL_EVENT_TEXT];
	if (!tl__kind_is_gpu(p->tree->store->kind[row]))
		return;
	if (!tl_event_duration_text(p->tree->store, row, text) && !absent)
		return;
	tl__buf_printf(&p->out, ", Duration: %s", *text ? text : absent);
}

/* ---- fields ---- */

/* JSON text of an argument that the store holds; NULL when it does not. `buffer` is for numbers. */
static const char *stored_field(const tl_store *s, tl_row row, const char *field, size_t *n, char buffer[TL_EVENT_TEXT])
{
	static const struct {
		const char *name;
		tl_event_arg arg;
	} args[] = {{"Input Dims", TL_ARG_INPUT_DIMS},
		    {"Input type", TL_ARG_INPUT_TYPE},
		    {"Input Strides", TL_ARG_INPUT_STRIDES},
		    {"Concrete Inputs", TL_ARG_CONCRETE_INPUTS},
		    {"kernel_file", TL_ARG_KERNEL_FILE}};
	static const struct {
		const char *name;
		tl_identifier which;
	} ids[] = {{"External id", TL_IDENT_EXTERNAL},
		   {"Sequence number", TL_IDENT_SEQUENCE},
		   {"Fwd thread id", TL_IDENT_FORWARD_THREAD}};

	size_t n_extras;
	const tl_extra *extras = tl__store_extras(s, row, &n_extras);
	for (size_t i = 0; i < n_extras; i++)
		if (!strcmp(tl__str(s->strings, extras[i].key), field)) {
			*n = tl__str_len(s->strings, extras[i].value);
			return tl__str(s->strings, extras[i].value);
		}
	for (size_t i = 0; i < sizeof args / sizeof *args; i++)
		if (!strcmp(args[i].name, field))
			return tl_event_arg_json(s, row, args[i].arg, n);
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		bool number;
		if (strcmp(ids[i].name, field) != 0)
			continue;
		*n = tl_event_identifier_text(s, row, ids[i].which, buffer, &number);
		return number ? buffer : NULL;
	}
	return NULL;
}

/* The value of an argument, or NULL when the event has none. It lives in `arena`. */
static int read_field(printer *p, tl_row row, const char *field, tl_arena *arena, const tl_value **out)
{
	const tl_store *s = p->tree->store;
	char buffer[TL_EVENT_TEXT], *raw;
	size_t n = 0;
	int code;
	*out = NULL;
	const char *json = stored_field(s, row, field, &n, buffer);
	if (json) {
		code = tl__value_parse(arena, json, n, false, out);
		return code == TL_ENOMEM ? code : 0;
	}
	if (!tl_events_have_raw(s))
		return 0;
	code = tl_event_raw(&raw, &n, s, row, NULL);
	if (code < 0)
		return code == TL_ENOMEM ? code : 0;
	const tl_value *event;
	code = tl__value_parse(arena, raw, n, false, &event);
	free(raw);
	if (code == 0)
		*out = tl__value_get(tl__value_get(event, "args"), field);
	return code == TL_ENOMEM ? code : 0;
}

/* Lines of the fields of an operation, each behind path and `before`; *count of them. */
static int put_fields(printer *p, tl_row row, const char *before, size_t *count)
{
	*count = 0;
	if (p->tree->store->kind[row] != TL_KIND_CPU_OP)
		return 0;
	for (size_t i = 0; i < p->options->n_fields; i++) {
		tl_arena arena = {0};
		const tl_value *value;
		int code = read_field(p, row, p->options->fields[i], &arena, &value);
		if (code == 0 && value) {
			tl__buf_put(&p->out, p->path.v ? p->path.v : "", p->path.n);
			tl__buf_printf(&p->out, "%s%s: ", before, p->options->fields[i]);
			tl__value_str(&p->out, value);
			code = end_line(p);
			++*count;
		}
		tl__arena_free(&arena);
		TL_TRY(code);
	}
	return 0;
}

/* ---- subtrees ---- */

/* A node whose own lines are out. */
typedef struct frame {
	tl_pos child;          /* to print next, or TL_POS_NONE */
	size_t link, link_end; /* backward events to print behind the children: range of tree->links */
	size_t path;           /* length of the path before its children */
	bool backward;         /* whether nodes below print theirs, too */
} frame;

typedef TL_VEC(frame) frames;

/* The first of `pos` and its next siblings that is to be printed. */
static tl_pos visible(const printer *p, tl_pos pos)
{
	while (pos != TL_POS_NONE && !p->options->all && !tl__tree_gpu_count(p->tree, pos))
		pos = tl__tree_next_sibling(p->tree, pos);
	return pos;
}

static void put_path(printer *p, bool last)
{
	tl__buf_put(&p->out, p->path.v ? p->path.v : "", p->path.n);
	tl__buf_puts(&p->out, last ? LAST : BRANCH);
	tl__buf_puts(&p->path, last ? "    " : BAR);
}

/* Prints the lines of one event, which may lie outside the tree, and makes its children the next to print. */
static int put_node(printer *p, frames *stack, tl_row row, bool last, bool backward)
{
	const tl_tree *t = p->tree;
	tl_pos pos = t->pos_of_row[row];
	size_t fields;
	put_path(p, last);
	put_event(p, row);
	put_duration(p, row, "None");
	TL_TRY(end_line(p));
	TL_TRY(put_fields(p, row, "|   ", &fields));
	if (fields) {
		tl__buf_put(&p->out, p->path.v ? p->path.v : "", p->path.n);
		tl__buf_puts(&p->out, "|   ");
		TL_TRY(end_line(p));
	}
	frame f = {.child = TL_POS_NONE, .path = p->path.n, .backward = backward};
	if (pos != TL_POS_NONE)
		f.child = visible(p, tl__tree_first_child(t, pos));
	if (backward) {
		size_t n = tl__tree_backward_of(t, row, &f.link);
		f.link_end = f.link + n;
	}
	return TL_VEC_PUSH(stack, f);
}

/* A backward event of the node above; those below it are printed without theirs. */
static int put_backward(printer *p, frames *stack, tl_row row, bool last)
{
	tl_pos pos = p->tree->pos_of_row[row];
	put_path(p, last);
	tl__buf_puts(&p->out, "[BWD] ");
	put_name(p, row);
	tl__buf_printf(&p->out, " (UID: %" PRIu32 ")", row);
	TL_TRY(end_line(p));
	frame f = {.child = TL_POS_NONE, .path = p->path.n};
	if (pos != TL_POS_NONE)
		f.child = visible(p, tl__tree_first_child(p->tree, pos));
	return TL_VEC_PUSH(stack, f);
}

static int put_subtree(printer *p, frames *stack, tl_row root)
{
	TL_TRY(put_node(p, stack, root, true, p->options->backward));
	while (stack->n) {
		frame *f = &stack->v[stack->n - 1];
		bool backward = f->backward;
		p->path.n = f->path;
		if (f->child != TL_POS_NONE) {
			tl_row row = p->tree->row[f->child];
			f->child = visible(p, tl__tree_next_sibling(p->tree, f->child));
			TL_TRY(put_node(p, stack, row, f->child == TL_POS_NONE && f->link == f->link_end, backward));
		} else if (f->link < f->link_end) {
			tl_row row = p->tree->links[f->link++].backward;
			TL_TRY(put_backward(p, stack, row, f->link == f->link_end));
		} else {
			stack->n--;
		}
	}
	return 0;
}

static int check(const tl_tree *t, tl_row event, tl_error *err)
{
	return event < t->store->n ? 0 : tl__fail(err, TL_ENOTFOUND, "there is no event with UID %" PRIu32, event);
}

static const tl_print_options defaults = {0};

int tl_tree_print(const tl_tree *tree, tl_row event, const tl_print_options *options, tl_write_fn write, void *user,
		  tl_error *err)
{
	printer p = {.tree = tree, .options = options ? options : &defaults, .write = write, .user = user};
	frames stack = {0};
	TL_TRY(check(tree, event, err));
	int code = put_subtree(&p, &stack, event);
	TL_VEC_FREE(&stack);
	return finish(&p, code, err);
}

/* ---- parent chains ---- */

static int put_chain(printer *p, tl_row event, tl_row *root)
{
	size_t fields;
	for (size_t up = 0; event != TL_ROW_NONE; up++) {
		if (up)
			tl__buf_printf(&p->out, "%zu-up:\n  ", up);
		else
			tl__buf_puts(&p->out, "Node:\n  ");
		put_event(p, event);
		put_duration(p, event, NULL);
		TL_TRY(end_line(p));
		TL_TRY(put_fields(p, event, "    ", &fields));
		*root = event;
		event = tl_tree_parent(p->tree, event);
	}
	return 0;
}

static int put_parents(printer *p, tl_row event, tl_row *root)
{
	static const char line[] = "============================================================";
	TL_TRY(put_chain(p, event, root));
	tl_row forward = p->options->follow_forward ? tl_tree_forward(p->tree, *root) : TL_ROW_NONE;
	if (forward == TL_ROW_NONE)
		return 0;
	tl__buf_printf(&p->out, "\n%s\nFollowing fwd_event link to forward call stack (UID: %" PRIu32 ")\n%s\n", line,
		       forward, line);
	return put_chain(p, forward, root);
}

int tl_tree_print_parents(const tl_tree *tree, tl_row event, const tl_print_options *options, tl_write_fn write,
			  void *user, tl_row *root, tl_error *err)
{
	printer p = {.tree = tree, .options = options ? options : &defaults, .write = write, .user = user};
	tl_row last = TL_ROW_NONE;
	if (root)
		*root = TL_ROW_NONE;
	TL_TRY(check(tree, event, err));
	TL_TRY(finish(&p, put_parents(&p, event, &last), err));
	if (root)
		*root = last;
	return 0;
}

/* ---- call stacks ---- */

static bool passes(const char *name, const char *const *filters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(name, filters[i]))
			return true;
	return n == 0;
}

typedef struct stack_walk {
	const tl_tree *tree;
	const char *const *filters;
	size_t n_filters;
	tl_write_fn each;
	void *user;
	tl_buf text;
} stack_walk;

/* The names from `event` up; *root is the last event. */
static int walk_stack(stack_walk *w, tl_row event, tl_row *root)
{
	const tl_store *s = w->tree->store;
	if (w->each(w->user, tl__name(s, event), tl__str_len(s->strings, s->name[event])) != 0)
		return TL_ECALLBACK;
	*root = event;
	while ((event = tl_tree_parent(w->tree, event)) != TL_ROW_NONE) {
		*root = event;
		tl__buf_clear(&w->text);
		put_cut(&w->text, tl__name(s, event), tl__str_len(s->strings, s->name[event]), STACK_NAME_LIMIT);
		const char *name = tl__buf_text(&w->text);
		if (!name)
			return TL_ENOMEM;
		if (passes(name, w->filters, w->n_filters) && w->each(w->user, name, w->text.n) != 0)
			return TL_ECALLBACK;
	}
	return 0;
}

int tl_tree_call_stack(const tl_tree *tree, tl_row event, const char *const *filters, size_t n_filters,
		       bool follow_forward, tl_write_fn each, void *user, tl_error *err)
{
	stack_walk w = {tree, filters, n_filters, each, user, {0}};
	tl_row root = TL_ROW_NONE;
	TL_TRY(check(tree, event, err));
	int code = walk_stack(&w, event, &root);
	tl_row forward = code == 0 && follow_forward ? tl_tree_forward(tree, root) : TL_ROW_NONE;
	if (forward != TL_ROW_NONE) {
		code = each(user, "[FWD]", 5) != 0 ? TL_ECALLBACK : 0;
		if (code == 0)
			code = walk_stack(&w, forward, &root);
	}
	tl__buf_free(&w.text);
	return tl__buf_sent(code, err);
}
