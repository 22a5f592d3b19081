/* SPDX-License-Identifier: MIT */
/* GPU time by nn.Module (spec 01 section 6.4, with [01-M1] corrected): a module without GPU work takes 0. */
#include "analysis/modules.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/columns.h"
#include "tree/navigate.h"

/* ---- which modules ---- */

/*
 * Appends the modules at positions [from, to) with their depth and parent. A module that is `depth` levels down ends
 * the way: those below it are not shown.
 */
static int collect(tl_modules *m, tl_pos from, tl_pos to, size_t depth)
{
	const tl_tree *t = m->tree;
	TL_VEC(size_t) open = {0}; /* modules around the current position */
	int code = 0;
	for (tl_pos pos = tl__next_module(t, from, to); pos != TL_POS_NONE && code == 0;) {
		while (open.n && t->end[t->pos_of_row[m->modules.v[open.v[open.n - 1]].event]] <= pos)
			open.n--;
		tl_module module = {.event = t->row[pos], .depth = open.n};
		module.parent = open.n ? open.v[open.n - 1] : SIZE_MAX;
		code = TL_VEC_PUSH(&open, m->modules.n);
		if (code == 0)
			code = TL_VEC_PUSH(&m->modules, module);
		pos = tl__next_module(t, open.n > depth ? t->end[pos] : pos + 1, to);
	}
	TL_VEC_FREE(&open);
	return code;
}

/* ---- their time ---- */

typedef TL_VEC(tl_row) tl_rows;

static int append(tl_rows *out, const tl_row *rows, size_t n)
{
	TL_TRY(TL_VEC_RESERVE(out, n));
	if (n)
		memcpy(out->v + out->n, rows, n * sizeof *rows);
	out->n += n;
	return 0;
}

/* Each position lies below one innermost module, so all modules together are one walk over the tree. */
static int measure(tl_analyzer *a, tl_module *module, tl_rows *rest)
{
	const tl_tree *t = a->tree;
	tl_pos pos = t->pos_of_row[module->event], end = t->end[pos];
	size_t done = t->gpu_before[pos], all = tl__tree_gpu_count(t, pos);
	rest->n = 0;
	TL_TRY(tl__analyzer_busy(a, tl__tree_gpu_rows(t, pos), all, &module->gpu_time));
	for (tl_pos c = tl__next_module(t, pos + 1, end); c != TL_POS_NONE; c = tl__next_module(t, t->end[c], end)) {
		TL_TRY(append(rest, t->gpu + done, t->gpu_before[c] - done));
		done = t->gpu_before[t->end[c]];
		module->children++;
	}
	if (!module->children)
		return 0;
	TL_TRY(append(rest, t->gpu + done, t->gpu_before[end] - done));
	return tl__analyzer_busy(a, rest->v, rest->n, &module->remainder);
}

static int measure_all(tl_analyzer *a, tl_modules *m)
{
	tl_rows rest = {0};
	int code = 0;
	for (size_t i = 0; i < m->modules.n && code == 0; i++)
		code = measure(a, &m->modules.v[i], &rest);
	TL_VEC_FREE(&rest);
	return code;
}

static int check_roots(const tl_tree *t, const tl_row *roots, size_t n, tl_error *err)
{
	if (!t->with_python)
		return tl__fail(err, TL_EINVAL, "nn.Modules are Python frames: build the tree with them");
	for (size_t i = 0; roots && i < n; i++)
		if (!tl_tree_is_module(t, roots[i]) || !tl_tree_is_linked(t, roots[i]))
			return tl__fail(err, TL_EINVAL, "event %" PRIu32 " is not an nn.Module", roots[i]);
	return 0;
}

int tl_modules_new(tl_modules **out, tl_analyzer *a, const tl_row *roots, size_t n_roots, size_t depth, tl_error *err)
{
	const tl_tree *t = a->tree;
	*out = NULL;
	TL_TRY(check_roots(t, roots, n_roots, err));
	tl_modules *m = tl__calloc(1, sizeof *m);
	if (!m)
		return tl__nomem(err);
	m->tree = t;
	m->depth = depth;
	int code = roots ? 0 : collect(m, 0, (tl_pos)t->n, depth);
	for (size_t i = 0; roots && i < n_roots && code == 0; i++) {
		tl_pos pos = t->pos_of_row[roots[i]];
		code = collect(m, pos, t->end[pos], depth);
	}
	if (code == 0)
		code = measure_all(a, m);
	if (code < 0) {
		tl_modules_free(m);
		return tl__nomem(err);
	}
	*out = m;
	return 0;
}

void tl_modules_free(tl_modules *m)
{
	if (!m)
		return;
	TL_VEC_FREE(&m->modules);
	tl__free(m);
}

size_t tl_modules_count(const tl_modules *m)
{
	return m->modules.n;
}

const tl_module *tl_modules_get(const tl_modules *m, size_t index)
{
	return index < m->modules.n ? &m->modules.v[index] : NULL;
}

/* ---- as a table ---- */

static int fill(tl_table *table, const tl_modules *m)
{
	static const tl_column_spec columns[] = {
		{"UID", "", TL_COL_INT64},
		{"name", "", TL_COL_STRING},
		{"depth", "", TL_COL_INT64},
		{"parent UID", "", TL_COL_INT64},
		{"GPU Time (µs)", "µs", TL_COL_DOUBLE},
		{"Non-nn.Module GPU Time (µs)", "µs", TL_COL_DOUBLE},
	};
	TL_TRY(tl__add_columns(table, columns, sizeof columns / sizeof *columns));
	tl_column *c = table->columns.v;
	for (size_t i = 0; i < m->modules.n; i++) {
		const tl_module *module = &m->modules.v[i];
		c[0].i64[i] = module->event;
		c[1].str[i] = m->tree->store->name[module->event];
		c[2].i64[i] = (int64_t)module->depth;
		if (module->parent == SIZE_MAX)
			TL_TRY(tl__column_set_null(table, &c[3], i));
		else
			c[3].i64[i] = m->modules.v[module->parent].event;
		c[4].f64[i] = tl__us(module->gpu_time);
		if (module->children) /* else it stays empty */
			c[5].f64[i] = tl__us(module->remainder);
	}
	return 0;
}

int tl_modules_table(tl_table **out, const tl_modules *m, tl_error *err)
{
	*out = NULL;
	tl_strings *strings = tl__strings_new(m->tree->store->strings);
	tl_table *table = strings ? tl__table_new("modules", strings, m->modules.n) : NULL;
	tl__strings_unref(strings);
	if (!table || fill(table, m) < 0) {
		tl_table_free(table);
		return tl__nomem(err);
	}
	*out = table;
	return 0;
}
