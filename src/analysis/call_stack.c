/* SPDX-License-Identifier: MIT */
/** @file call_stack.c The call stacks of GPU events: which names are in them, and how they are stored. */
#include "analysis/call_stack.h"

#include <string.h>

struct tl_stack_cache {
	tl_str *of_pos; /* stack of each node of the tree, itself included; TL_STR_NONE: no frame */
	tl_str empty;
	tl_map cleaned; /* name -> name without numbers */
	tl_buf text;
};

void tl__stack_cache_free(struct tl_stack_cache *c)
{
	if (!c)
		return;
	tl__free(c->of_pos);
	tl__map_free(&c->cleaned);
	tl__buf_free(&c->text);
	tl__free(c);
}

/* ---- names ---- */

static bool is_shown(const tl_store *store, tl_row row)
{
	if (store->kind[row] == TL_KIND_CPU_OP)
		return true;
	const char *name = tl__name(store, row);
	return strstr(name, "nn.Module") || strstr(name, "::") || strchr(name, '/');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "nn.Module: Linear_12" -> "nn.Module: Linear": instances of one module and runs of one kernel have one stack. */
static int clean(tl_analyzer *a, struct tl_stack_cache *c, tl_str name, tl_str *out)
{
	const char *text = tl__str(a->strings, name);
	size_t n = tl__str_len(a->strings, name);
	*out = tl__map_get(&c->cleaned, name);
	if (*out != TL_MAP_NONE)
		return 0;
	tl__buf_clear(&c->text);
	for (size_t i = 0; i < n;) {
		if (text[i] == '_' && i + 1 < n && is_digit(text[i + 1])) {
			for (i++; i < n && is_digit(text[i]); i++)
				;
			continue;
		}
		tl__buf_putc(&c->text, text[i++]);
	}
	if (c->text.failed)
		return TL_ENOMEM;
	*out = tl__intern(a->strings, c->text.n ? c->text.v : "", c->text.n);
	return *out == TL_STR_FAIL ? TL_ENOMEM : tl__map_set(&c->cleaned, name, *out);
}

/* ---- stacks of all nodes ---- */

static int push(tl_analyzer *a, struct tl_stack_cache *c, tl_str above, tl_row row, tl_str *out)
{
	tl_str name;
	TL_TRY(clean(a, c, a->store->name[row], &name));
	*out = tl__stack_push(a->strings, above, name);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* In one pass, since parents come first; nodes without GPU work below need none. */
static int find_stacks(tl_analyzer *a, struct tl_stack_cache *c)
{
	const tl_tree *t = a->tree;
	c->of_pos = tl__malloc((t->n + 1) * sizeof *c->of_pos);
	c->empty = tl__stack_empty(a->strings);
	if (!c->of_pos || c->empty == TL_STR_FAIL)
		return TL_ENOMEM;
	for (tl_pos pos = 0; pos < t->n; pos++) {
		tl_row row = t->row[pos];
		tl_str above = t->parent[pos] == TL_POS_NONE ? TL_STR_NONE : c->of_pos[t->parent[pos]];
		c->of_pos[pos] = above;
		if (tl__tree_gpu_count(t, pos) && !tl__kind_is_gpu(a->store->kind[row]) && is_shown(a->store, row))
			TL_TRY(push(a, c, above, row, &c->of_pos[pos]));
	}
	return 0;
}

int tl__analyzer_call_stack(tl_analyzer *a, tl_row gpu_event, tl_str *out)
{
	if (!a->stacks) {
		struct tl_stack_cache *c = tl__calloc(1, sizeof *c);
		int code = c ? find_stacks(a, c) : TL_ENOMEM;
		if (code < 0) {
			tl__stack_cache_free(c);
			return code;
		}
		a->stacks = c;
	}
	tl_pos pos = a->tree->pos_of_row[gpu_event];
	tl_str stack = pos == TL_POS_NONE ? TL_STR_NONE : a->stacks->of_pos[pos];
	*out = stack == TL_STR_NONE ? a->stacks->empty : stack;
	return 0;
}
