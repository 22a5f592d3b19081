/* SPDX-License-Identifier: MIT */
/* Nodes of a tree as JSON. */
#include <inttypes.h>

#include "tracelens/event.h"
#include "tree/tree.h"
#include "util/error.h"
#include "util/value.h"

enum { ENOUGH = 16 << 10 };

typedef struct writer {
	const tl_tree *tree;
	tl_write_fn write;
	void *user;
	tl_buf out;
	bool any; /* an event was written */
} writer;

static int flush(writer *w)
{
	return tl__buf_send(&w->out, w->write, w->user);
}

static void put_children(tl_buf *out, const tl_tree *t, tl_pos pos)
{
	bool first = true;
	for (tl_pos c = tl__tree_first_child(t, pos); c != TL_POS_NONE; c = tl__tree_next_sibling(t, c)) {
		if (!first)
			tl__buf_putc(out, ',');
		first = false;
		tl__buf_int(out, t->row[c]);
	}
}

static int put_event(writer *w, tl_row row)
{
	const tl_tree *t = w->tree;
	size_t n;
	tl_pos pos = t->pos_of_row[row];
	tl_row parent = tl_tree_parent(t, row);
	const char *name = tl_event_name(t->store, row, &n);
	tl__buf_printf(&w->out, "%s\n{\"UID\":%" PRIu32 ",\"name\":", w->any ? "," : "", row);
	w->any = true;
	tl__json_string(&w->out, name, n);
	tl__buf_puts(&w->out, ",\"cat\":");
	if (tl_event_has_category(t->store, row)) {
		const char *category = tl_event_category(t->store, row, &n);
		tl__json_string(&w->out, category, n);
	} else {
		tl__buf_puts(&w->out, "null");
	}
	tl__buf_puts(&w->out, ",\"parent\":");
	if (parent == TL_ROW_NONE)
		tl__buf_puts(&w->out, "null");
	else
		tl__buf_int(&w->out, parent);
	tl__buf_puts(&w->out, ",\"children\":[");
	if (pos != TL_POS_NONE)
		put_children(&w->out, t, pos);
	tl__buf_puts(&w->out, "],\"gpu_events\":[");
	const tl_row *gpu = tl_tree_gpu_events(t, row, &n);
	for (size_t i = 0; i < n; i++) {
		if (i)
			tl__buf_putc(&w->out, ',');
		tl__buf_int(&w->out, gpu[i]);
	}
	tl__buf_puts(&w->out, "]}");
	return w->out.n >= ENOUGH || w->out.failed ? flush(w) : 0;
}

static int put_events(writer *w, const tl_row *events, size_t n)
{
	tl__buf_putc(&w->out, '[');
	for (size_t i = 0; events && i < n; i++)
		TL_TRY(put_event(w, events[i]));
	for (tl_row row = 0; !events && row < w->tree->store->n; row++)
		if (tl__tree_is_linked(w->tree, row))
			TL_TRY(put_event(w, row));
	tl__buf_puts(&w->out, "\n]\n");
	return flush(w);
}

int tl_tree_json(const tl_tree *tree, const tl_row *events, size_t n, tl_write_fn write, void *user, tl_error *err)
{
	writer w = {.tree = tree, .write = write, .user = user};
	for (size_t i = 0; events && i < n; i++)
		if (events[i] >= tree->store->n)
			return tl__fail(err, TL_ENOTFOUND, "there is no event with UID %" PRIu32, events[i]);
	int code = put_events(&w, events, n);
	tl__buf_free(&w.out);
	return tl__buf_sent(code, err);
}
