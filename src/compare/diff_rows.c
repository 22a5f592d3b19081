/* SPDX-License-Identifier: MIT */
#include "compare/diff_rows.h"

#include <string.h>

#include "timeline/timeline.h"
#include "tree/navigate.h"

#define NONE TL_DIFF_NONE

/* ---- names ---- */

/* A name without "(123)", which in names of Python frames is a line. */
static void put_plain(tl_buf *out, const char *name, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t end = i + 1;
		while (name[i] == '(' && end < n && name[end] >= '0' && name[end] <= '9')
			end++;
		if (name[i] == '(' && end > i + 1 && end < n && name[end] == ')') {
			i = end + 1;
			continue;
		}
		tl__buf_putc(out, name[i++]);
	}
}

void tl__diff_put_name(tl_buf *out, const tl_diff *d, uint32_t node)
{
	const tl_diff_node *x = &d->node[node];
	tl_buf name[2] = {{0}, {0}};
	if (x->unlinked) {
		tl__buf_puts(out, TL_DIFF_NO_LAUNCH);
		return;
	}
	for (int s = 0; s < 2; s++) {
		tl_row row = tl__diff_row(x, s);
		const tl_store *store = d->tree[s]->store;
		if (row != TL_ROW_NONE)
			put_plain(&name[s], tl__name(store, row), tl__str_len(store->strings, store->name[row]));
	}
	bool both = x->baseline != TL_ROW_NONE && x->variant != TL_ROW_NONE;
	if (x->baseline != TL_ROW_NONE)
		tl__buf_put(out, name[0].v ? name[0].v : "", name[0].n);
	if (both && (name[0].n != name[1].n || (name[0].n && memcmp(name[0].v, name[1].v, name[0].n) != 0)))
		tl__buf_puts(out, " | ");
	else if (both)
		name[1].n = 0;
	if (x->variant != TL_ROW_NONE)
		tl__buf_put(out, name[1].v ? name[1].v : "", name[1].n);
	out->failed |= name[0].failed | name[1].failed;
	tl__buf_free(&name[0]);
	tl__buf_free(&name[1]);
}

static int intern(tl_str *out, tl_strings *pool, const char *text, size_t n)
{
	*out = tl__intern(pool, text ? text : "", n);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* ---- groups ---- */

typedef struct filler {
	tl_diff_rows *out;
	uint32_t *group;      /* of the GPU work directly below each merged node */
	bool *common;         /* whether such a group is a common ancestor */
	tl_map ancestors;     /* of the names of both sides: that of such an ancestor */
	tl_str *known[2];     /* of each text of a side's pool: its id here */
	tl_pos *operation[2]; /* operation nearest above each node of a tree */
	tl_pos *module[2];    /* nn.Module nearest above, of trees with Python frames */
	tl_map stacks[2];     /* of a module: its stack */
	tl_buf buf;
} filler;

static bool is_common(const tl_diff *d, const tl_diff_node *x)
{
	if (x->unlinked)
		return d->tree[0]->n_unlinked && d->tree[1]->n_unlinked;
	return x->baseline != TL_ROW_NONE && x->variant != TL_ROW_NONE;
}

/*
 * Of what hangs below each node: the nearest matched operation at or above it; where there is none, the nearest matched
 * node; where there is none, the root.
 */
static int find_groups(filler *f, const tl_diff *d)
{
	f->group = tl__malloc((d->n + 1) * sizeof *f->group);
	f->common = tl__calloc(d->n + 1, sizeof *f->common);
	bool *operation = tl__calloc(d->n + 1, sizeof *operation);
	int code = f->group && f->common && operation ? 0 : TL_ENOMEM;
	for (uint32_t i = 0; i < d->n && code == 0; i++) {
		const tl_diff_node *x = &d->node[i];
		bool matched = is_common(d, x), op = matched && tl__diff_is_operation(d, x);
		if (op || (matched && (x->parent == NONE || !operation[x->parent]))) {
			f->group[i] = i;
			f->common[i] = true;
			operation[i] = op;
		} else if (x->parent == NONE) {
			f->group[i] = i;
		} else {
			f->group[i] = f->group[x->parent];
			operation[i] = operation[x->parent];
		}
	}
	tl__free(operation);
	return code;
}

/* ---- what is above an event ---- */

static int find_above(filler *f, const tl_diff *d, int side)
{
	const tl_tree *t = d->tree[side];
	tl_pos *op = f->operation[side] = tl__malloc((t->n + 1) * sizeof *op);
	tl_pos *module = f->module[side] = t->with_python ? tl__malloc((t->n + 1) * sizeof *module) : NULL;
	if (!op || (t->with_python && !module))
		return TL_ENOMEM;
	for (tl_pos p = 0; p < t->n; p++) {
		tl_pos up = t->parent[p];
		op[p] = up == TL_POS_NONE ? TL_POS_NONE : t->store->kind[t->row[up]] == TL_KIND_CPU_OP ? up : op[up];
		if (module)
			module[p] = up == TL_POS_NONE                     ? TL_POS_NONE
				    : tl__is_module(t->store, t->row[up]) ? up
									  : module[up];
	}
	return 0;
}

static int text_of(tl_str *out, filler *f, int side, tl_str id)
{
	const tl_strings *pool = f->out->diff->tree[side]->store->strings;
	tl_str *known = &f->known[side][id];
	if (*known == TL_STR_NONE)
		TL_TRY(intern(known, f->out->strings, tl__str(pool, id), tl__str_len(pool, id)));
	*out = *known;
	return 0;
}

/* "nn.Module: Linear_3" is any Linear. */
static size_t label_length(const char *name, size_t n)
{
	size_t end = n;
	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end < n && end && name[end - 1] == '_' ? end - 1 : n;
}

static void put_label(tl_buf *out, const tl_store *s, tl_row row)
{
	tl__buf_put(out, tl__name(s, row), label_length(tl__name(s, row), tl__str_len(s->strings, s->name[row])));
}

/* Beyond this a stack is not written any longer: modules that nest thousands deep would fill the memory. */
enum { LONGEST_STACK = 64 << 10 };

/* Labels from the outermost module to this one, joined by ";". */
static int stack_of(tl_str *out, filler *f, int side, tl_pos module)
{
	const tl_tree *t = f->out->diff->tree[side];
	TL_VEC(tl_pos) chain = {0};
	uint32_t id = TL_MAP_NONE;
	int code = 0;
	for (tl_pos p = module; p != TL_POS_NONE && code == 0; p = f->module[side][p]) {
		id = tl__map_get(&f->stacks[side], p);
		if (id != TL_MAP_NONE)
			break;
		code = TL_VEC_PUSH(&chain, p);
	}
	tl__buf_clear(&f->buf);
	if (id != TL_MAP_NONE)
		tl__buf_put(&f->buf, tl__str(f->out->strings, id), tl__str_len(f->out->strings, id));
	while (chain.n && code == 0) {
		tl_pos p = chain.v[--chain.n];
		if (f->buf.n <= LONGEST_STACK) {
			if (f->buf.n)
				tl__buf_putc(&f->buf, ';');
			put_label(&f->buf, t->store, t->row[p]);
			code = f->buf.failed ? TL_ENOMEM : intern(&id, f->out->strings, f->buf.v, f->buf.n);
		}
		if (code == 0)
			code = tl__map_set(&f->stacks[side], p, id);
	}
	TL_VEC_FREE(&chain);
	*out = id;
	return code;
}

static int fill_module(filler *f, tl_diff_gpu *g, tl_pos pos)
{
	const tl_tree *t = f->out->diff->tree[g->side];
	tl_pos module = f->module[g->side] && pos != TL_POS_NONE ? f->module[g->side][pos] : TL_POS_NONE;
	if (module == TL_POS_NONE) {
		TL_TRY(intern(&g->stack, f->out->strings, "root", 4));
		g->module = g->stack;
		return 0;
	}
	TL_TRY(stack_of(&g->stack, f, g->side, module));
	tl__buf_clear(&f->buf);
	put_label(&f->buf, t->store, t->row[module]);
	return f->buf.failed ? TL_ENOMEM : intern(&g->module, f->out->strings, f->buf.v, f->buf.n);
}

/* The name of an ancestor is made of those of its sides. */
static uint64_t ancestor_key(const tl_diff *d, const tl_diff_node *x)
{
	if (x->unlinked)
		return UINT64_MAX; /* no id is that large */
	return (uint64_t)d->tree[0]->store->name[x->baseline] << 32 | d->tree[1]->store->name[x->variant];
}

static int fill_ancestor(filler *f, tl_diff_gpu *g)
{
	const tl_diff *d = f->out->diff;
	g->ancestor = TL_STR_NONE;
	if (!f->common[g->group])
		return 0;
	uint64_t key = ancestor_key(d, &d->node[g->group]);
	uint32_t known = tl__map_get(&f->ancestors, key);
	if (known != TL_MAP_NONE) {
		g->ancestor = known;
		return 0;
	}
	tl__buf_clear(&f->buf);
	tl__diff_put_name(&f->buf, d, g->group);
	if (f->buf.failed)
		return TL_ENOMEM;
	TL_TRY(intern(&g->ancestor, f->out->strings, f->buf.v, f->buf.n));
	return tl__map_set(&f->ancestors, key, g->ancestor);
}

static int fill_event(filler *f, tl_diff_gpu *g)
{
	const tl_tree *t = f->out->diff->tree[g->side];
	tl_pos pos = t->pos_of_row[g->row], op = TL_POS_NONE;
	TL_TRY(text_of(&g->name, f, g->side, t->store->name[g->row]));
	if (pos != TL_POS_NONE) {
		op = f->operation[g->side][pos];
		if (op == TL_POS_NONE)
			op = t->parent[pos];
	}
	g->op_row = op == TL_POS_NONE ? TL_ROW_NONE : t->row[op];
	if (op == TL_POS_NONE)
		TL_TRY(intern(&g->op, f->out->strings, TL_DIFF_NO_LAUNCH, sizeof TL_DIFF_NO_LAUNCH - 1));
	else
		TL_TRY(text_of(&g->op, f, g->side, t->store->name[g->op_row]));
	const tl_op_args *args = op == TL_POS_NONE ? NULL : tl__op_args(t->store, g->op_row);
	if (args) {
		g->args[0] = args->dims;
		g->args[1] = args->strides;
		g->args[2] = args->types;
		g->args[3] = args->concrete;
	}
	TL_TRY(fill_module(f, g, op));
	return fill_ancestor(f, g);
}

/* ---- order ---- */

static bool is_gpu(const tl_diff *d, uint32_t node, int side)
{
	tl_row row = tl__diff_row(&d->node[node], side);
	return row != TL_ROW_NONE && tl__kind_is_gpu(d->tree[side]->store->kind[row]);
}

/* Places all GPU events: by group, within it by side, within that as the merged tree has them. */
static int place(filler *f, const tl_diff *d)
{
	size_t *start = tl__calloc(2 * d->n + 2, sizeof *start);
	if (!start)
		return TL_ENOMEM;
	for (uint32_t i = 0; i < d->n; i++)
		for (int s = 0; s < 2; s++)
			if (is_gpu(d, i, s))
				start[2 * (size_t)f->group[d->node[i].parent] + (size_t)s + 1]++;
	for (size_t k = 0; k <= 2 * d->n; k++)
		start[k + 1] += start[k];
	f->out->n = start[2 * d->n];
	f->out->v = tl__calloc(f->out->n + 1, sizeof *f->out->v);
	for (uint32_t i = 0; i < d->n && f->out->v; i++)
		for (int s = 0; s < 2; s++)
			if (is_gpu(d, i, s)) {
				uint32_t group = f->group[d->node[i].parent];
				f->out->v[start[2 * (size_t)group + (size_t)s]++] = (tl_diff_gpu){
					.row = tl__diff_row(&d->node[i], s), .group = group, .side = (uint8_t)s};
			}
	tl__free(start);
	return f->out->v ? 0 : TL_ENOMEM;
}

static int measure(tl_diff_rows *out)
{
	tl_interval_buf scratch = {0};
	TL_VEC(tl_row) rows = {0};
	int code = 0;
	for (size_t i = 0; i < out->n && code == 0;) {
		const tl_diff_gpu *g = &out->v[i];
		rows.n = 0;
		for (; i < out->n && out->v[i].group == g->group && out->v[i].side == g->side && code == 0; i++)
			code = TL_VEC_PUSH(&rows, out->v[i].row);
		if (code == 0)
			code = tl__busy_time(&out->busy[g->side][g->group], out->diff->tree[g->side]->store, rows.v,
					     rows.n, &scratch);
	}
	TL_VEC_FREE(&rows);
	TL_VEC_FREE(&scratch);
	return code;
}

static int fill(filler *f, const tl_diff *d)
{
	tl_diff_rows *out = f->out;
	out->strings = tl__strings_new(NULL);
	if (!out->strings)
		return TL_ENOMEM;
	TL_TRY(intern(&out->source[0], out->strings, "trace1", 6));
	TL_TRY(intern(&out->source[1], out->strings, "trace2", 6));
	TL_TRY(find_groups(f, d));
	for (int s = 0; s < 2; s++) {
		f->known[s] = tl__calloc(tl__strings_count(d->tree[s]->store->strings) + 1, sizeof *f->known[s]);
		out->busy[s] = tl__calloc(d->n + 1, sizeof *out->busy[s]);
		if (!f->known[s] || !out->busy[s])
			return TL_ENOMEM;
		TL_TRY(find_above(f, d, s));
	}
	TL_TRY(place(f, d));
	for (size_t i = 0; i < out->n; i++)
		TL_TRY(fill_event(f, &out->v[i]));
	return measure(out);
}

int tl__diff_rows_new(tl_diff_rows *out, const tl_diff *diff, tl_error *err)
{
	*out = (tl_diff_rows){.diff = diff};
	filler f = {.out = out};
	int code = fill(&f, diff);
	for (int s = 0; s < 2; s++) {
		tl__free(f.known[s]);
		tl__free(f.operation[s]);
		tl__free(f.module[s]);
		tl__map_free(&f.stacks[s]);
	}
	tl__free(f.group);
	tl__free(f.common);
	tl__map_free(&f.ancestors);
	tl__buf_free(&f.buf);
	if (code < 0) {
		tl__diff_rows_free(out);
		return tl__nomem(err);
	}
	return 0;
}

void tl__diff_rows_free(tl_diff_rows *rows)
{
	tl__strings_unref(rows->strings);
	tl__free(rows->v);
	tl__free(rows->busy[0]);
	tl__free(rows->busy[1]);
	*rows = (tl_diff_rows){0};
}
