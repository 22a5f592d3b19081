/* SPDX-License-Identifier: MIT */
/* Extension files: reading one, its hook, its end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "extension/extension.h"

/* Limits of a caller who sets none. */
enum { DEFAULT_INSTRUCTIONS = 10000000, DEFAULT_MEMORY = 128 << 20 };

/* ---- reading ---- */

typedef struct source {
	const char *text;
	size_t n;
	const char *chunk; /* "@path": what Lua puts before line numbers */
} source;

static int read_body(lua_State *L)
{
	const source *s = lua_touserdata(L, 1);
	/* text only: Lua does not check the bytes of a compiled file */
	if (luaL_loadbufferx(L, s->text, s->n, s->chunk, "t") != LUA_OK)
		return lua_error(L);
	lua_call(L, 0, 0);
	return 0;
}

static void skip_first_line(source *s)
{
	/* "#!..." as in scripts; the newline stays, so that lines keep their numbers */
	if (s->n && *s->text == '#') {
		const char *end = memchr(s->text, '\n', s->n);
		size_t length = end ? (size_t)(end - s->text) : s->n;
		s->text += length;
		s->n -= length;
	}
}

static int load(tl_extension *x, const char *text, size_t n, tl_error *err)
{
	source s = {text, n, NULL};
	tl_buf chunk = {0};
	tl__buf_printf(&chunk, "@%s", x->label);
	s.chunk = tl__buf_text(&chunk);
	if (!s.chunk)
		return tl__nomem(err);
	skip_first_line(&s);
	x->reading = true;
	int code = tl__sandbox_run(x, read_body, &s, x->options.max_instructions, err);
	x->reading = false;
	tl__buf_free(&chunk);
	return code;
}

static bool ends_with(const char *text, const char *ending)
{
	size_t n = strlen(text), m = strlen(ending);
	return n >= m && !strcasecmp(text + n - m, ending);
}

int tl_extension_open_memory(tl_extension **out, const char *text, size_t size, const char *label,
			     const tl_extension_options *options, tl_error *err)
{
	*out = NULL;
	if (!text || !label)
		return tl__fail(err, TL_EINVAL, "an extension needs a text and a label");
	if (ends_with(label, ".py"))
		return tl__fail(err, TL_EUNSUPPORTED,
				"%.240s: Python extension files work with the Python package; this command takes Lua "
				"(docs/extending.md)",
				label);
	tl_extension *x = tl__calloc(1, sizeof *x);
	if (!x)
		return tl__nomem(err);
	if (options)
		x->options = *options;
	if (!x->options.max_instructions)
		x->options.max_instructions = DEFAULT_INSTRUCTIONS;
	if (!x->options.max_memory)
		x->options.max_memory = DEFAULT_MEMORY;
	x->hook = (tl_hook){.tree = tl__extension_tree, .analyzer = tl__extension_analyzer, .user = x};
	x->nodes = LUA_NOREF;
	x->label = tl__strdup(label);
	int code = x->label ? tl__sandbox_open(x, err) : tl__nomem(err);
	if (code == 0)
		code = load(x, text, size, err);
	if (code < 0)
		tl_extension_free(x);
	else
		*out = x;
	return code;
}

/* A file of any kind of line ends up in memory: extension files are small. */
static int read_file(tl_buf *out, const char *path, tl_error *err)
{
	enum { MAX_FILE = 16 << 20 };
	FILE *file = fopen(path, "rb");
	if (!file)
		return tl__fail_system(err, errno, "%.240s: cannot open the extension file", path);
	int code = tl__buf_read(out, file, MAX_FILE);
	if (code == TL_ENOMEM)
		code = tl__nomem(err);
	else if (code == TL_EIO)
		code = tl__fail_system(err, errno, "%.240s: cannot read the extension file", path);
	else if (code == TL_ELIMIT)
		code = tl__fail(err, code, "%.240s: an extension file has at most %d MB", path, MAX_FILE >> 20);
	(void)fclose(file);
	return code;
}

int tl_extension_open(tl_extension **out, const char *path, const tl_extension_options *options, tl_error *err)
{
	tl_buf text = {0};
	*out = NULL;
	if (!path)
		return tl__fail(err, TL_EINVAL, "an extension file needs a path");
	int code = ends_with(path, ".py") ? 0 : read_file(&text, path, err);
	if (code == 0)
		code = tl_extension_open_memory(out, text.v ? text.v : "", text.n, path, options, err);
	tl__buf_free(&text);
	return code;
}

/* ---- end ---- */

void tl_extension_free(tl_extension *x)
{
	if (!x)
		return;
	if (x->L)
		lua_close(x->L);
	for (tl_lua_model *model = x->models, *next; model; model = next) {
		next = model->next;
		tl__lua_model_free(model);
	}
	for (size_t i = 0; i < x->categories.n; i++) {
		tl__free(x->categories.v[i].name);
		tl__free(x->categories.v[i].category);
	}
	TL_VEC_FREE(&x->categories);
	TL_VEC_FREE(&x->tree_functions);
	TL_VEC_FREE(&x->next_link);
	TL_VEC_FREE(&x->link_backward);
	TL_VEC_FREE(&x->rows);
	tl__map_free(&x->link_of);
	tl__map_free(&x->forward_of);
	tl__arena_free(&x->arena);
	tl__buf_free(&x->text);
	tl__free(x->label);
	tl__free(x);
}

/* ---- what it offers ---- */

const tl_hook *tl_extension_hook(tl_extension *x)
{
	return x ? &x->hook : NULL;
}

size_t tl_extension_notes(tl_extension *x)
{
	size_t failed = 0;
	for (tl_lua_model *model = x ? x->models : NULL; model; model = model->next) {
		if (!model->failures)
			continue;
		failed++;
		char text[1024];
		(void)snprintf(
			text, sizeof text,
			"the model of '%.200s' failed on %zu distinct input%s, which %s no metrics; the first: %.500s",
			model->name, model->failures, model->failures == 1 ? "" : "s",
			model->failures == 1 ? "has" : "have",
			model->first_failure ? model->first_failure : "out of memory");
		if (x->options.note)
			x->options.note(x->options.user, text);
		model->failures = 0;
		tl__free(model->first_failure);
		model->first_failure = NULL;
	}
	return failed;
}
