/* SPDX-License-Identifier: MIT */
/* nn.Modules as text and as JSON: one pass over the pre-order, closing what ends before the next module. */
#include <inttypes.h>

#include "analysis/modules.h"
#include "util/format.h"
#include "util/terminal.h"

enum { ENOUGH = 16 << 10, LEAST_DOTS = 5 };

#define LAST "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 "   /* └── */
#define BRANCH "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 " /* ├── */
#define BAR "\xe2\x94\x82   "                          /* │   */
#define REST "Non-nn.Module GPU Ops"

typedef struct writer {
	const tl_modules *m;
	size_t *last;          /* for text: last child shown of each module; at [n] the last root */
	size_t width;          /* for text: columns before the times */
	TL_VEC(size_t) open;   /* modules around the next line */
	TL_VEC(size_t) indent; /* length of `path` at each depth */
	tl_buf out, path;
	tl_write_fn write;
	void *user;
} writer;

static int flush(writer *w)
{
	return w->path.failed ? TL_ENOMEM : tl__buf_send(&w->out, w->write, w->user);
}

static int flush_enough(writer *w)
{
	return w->out.n >= ENOUGH || w->out.failed || w->path.failed ? flush(w) : 0;
}

static int finish(writer *w, int code, tl_error *err)
{
	if (code == 0)
		code = flush(w);
	tl__free(w->last);
	TL_VEC_FREE(&w->open);
	TL_VEC_FREE(&w->indent);
	tl__buf_free(&w->out);
	tl__buf_free(&w->path);
	return tl__buf_sent(code, err);
}

/* ---- text ---- */

/* Whether the line of what belongs to no child comes below a module: not where children are not shown. */
static bool has_rest(const tl_modules *m, const tl_module *module)
{
	return module->children && module->remainder > 0 && module->depth < m->depth;
}

static size_t label_width(size_t depth, const char *name, size_t n)
{
	return 4 * (depth + 1) + tl__terminal_columns(name, n);
}

/* Looks at all lines: where the times stand, and which lines are the last below theirs. */
static int lay_out(writer *w)
{
	const tl_modules *m = w->m;
	const tl_store *s = m->tree->store;
	size_t longest = 0;
	w->last = tl__malloc((m->modules.n + 1) * sizeof *w->last);
	if (!w->last)
		return TL_ENOMEM;
	for (size_t i = 0; i < m->modules.n; i++) {
		const tl_module *module = &m->modules.v[i];
		size_t width = label_width(module->depth, tl__name(s, module->event),
					   tl__str_len(s->strings, s->name[module->event]));
		size_t rest = has_rest(m, module) ? label_width(module->depth + 1, REST, sizeof REST - 1) : 0;
		longest = width > longest ? width : longest;
		longest = rest > longest ? rest : longest;
		w->last[module->parent == SIZE_MAX ? m->modules.n : module->parent] = i;
	}
	w->width = longest + 2 + LEAST_DOTS;
	return 0;
}

/* One line: `name` at `depth`, behind the path, and its time. */
static int put_line(writer *w, size_t depth, bool last, const char *name, size_t n, tl_time time)
{
	tl__buf_put(&w->out, w->path.v ? w->path.v : "", w->path.n);
	tl__buf_puts(&w->out, last ? LAST : BRANCH);
	tl__buf_put(&w->out, name, n);
	tl__buf_putc(&w->out, ' ');
	for (size_t dots = w->width - 2 - label_width(depth, name, n); dots; dots--)
		tl__buf_putc(&w->out, '.');
	tl__buf_printf(&w->out, " (%.2f)\n", tl__us(time));
	return flush_enough(w);
}

/* Ends the modules that are `depth` or more levels down. */
static int close_modules(writer *w, size_t depth)
{
	for (; w->open.n > depth; w->open.n--) {
		const tl_module *module = &w->m->modules.v[w->open.v[w->open.n - 1]];
		w->path.n = w->indent.v[w->open.n - 1];
		if (has_rest(w->m, module))
			TL_TRY(put_line(w, w->open.n, true, REST, sizeof REST - 1, module->remainder));
	}
	w->indent.n = depth;
	w->path.n = depth ? w->indent.v[depth - 1] : 0;
	return 0;
}

static int put_module(writer *w, size_t i)
{
	const tl_modules *m = w->m;
	const tl_module *module = &m->modules.v[i];
	const tl_store *s = m->tree->store;
	TL_TRY(close_modules(w, module->depth));
	bool below_rest = module->parent != SIZE_MAX && has_rest(m, &m->modules.v[module->parent]);
	bool last = !below_rest && w->last[module->parent == SIZE_MAX ? m->modules.n : module->parent] == i;
	TL_TRY(put_line(w, module->depth, last, tl__name(s, module->event),
			tl__str_len(s->strings, s->name[module->event]), module->gpu_time));
	tl__buf_puts(&w->path, last ? "    " : BAR);
	TL_TRY(TL_VEC_PUSH(&w->indent, w->path.n));
	return TL_VEC_PUSH(&w->open, i);
}

static int put_all(writer *w)
{
	TL_TRY(lay_out(w));
	if (!w->m->modules.n)
		return 0;
	for (size_t i = 2; i < w->width; i++) /* the heading stands out to the left by two */
		tl__buf_putc(&w->out, ' ');
	tl__buf_puts(&w->out, "(GPU Time \xce\xbcs)\n");
	for (size_t i = 0; i < w->m->modules.n; i++)
		TL_TRY(put_module(w, i));
	return close_modules(w, 0);
}

int tl_modules_print(const tl_modules *modules, tl_write_fn write, void *user, tl_error *err)
{
	writer w = {.m = modules, .write = write, .user = user};
	return finish(&w, put_all(&w), err);
}

/* ---- JSON ---- */

static void put_us(tl_buf *out, tl_time time)
{
	char text[TL_FORMAT_MAX];
	tl__buf_put(out, text, tl__format_us(text, time, false));
}

static int json_all(writer *w)
{
	const tl_modules *m = w->m;
	const tl_store *s = m->tree->store;
	tl__buf_putc(&w->out, '[');
	for (size_t i = 0; i < m->modules.n; i++) {
		const tl_module *module = &m->modules.v[i];
		bool first = i == 0 || m->modules.v[i - 1].depth < module->depth;
		for (; w->open.n > module->depth; w->open.n--)
			tl__buf_puts(&w->out, "]}");
		tl__buf_printf(&w->out, "%s\n{\"UID\":%" PRIu32 ",\"name\":", first ? "" : ",", module->event);
		tl__json_string(&w->out, tl__name(s, module->event), tl__str_len(s->strings, s->name[module->event]));
		tl__buf_puts(&w->out, ",\"gpu_time_us\":");
		put_us(&w->out, module->gpu_time);
		tl__buf_puts(&w->out, ",\"remainder_us\":");
		if (module->children)
			put_us(&w->out, module->remainder);
		else
			tl__buf_puts(&w->out, "null");
		tl__buf_puts(&w->out, ",\"children\":[");
		TL_TRY(TL_VEC_PUSH(&w->open, i));
		TL_TRY(flush_enough(w));
	}
	for (; w->open.n; w->open.n--)
		tl__buf_puts(&w->out, "]}");
	tl__buf_puts(&w->out, "]\n");
	return 0;
}

int tl_modules_json(const tl_modules *modules, tl_write_fn write, void *user, tl_error *err)
{
	writer w = {.m = modules, .write = write, .user = user};
	return finish(&w, json_all(&w), err);
}
