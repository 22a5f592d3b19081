/* SPDX-License-Identifier: MIT */
/** @file call_stack.c The call stacks of GPU events: which names are in them, and how they are stored. */
#include "analysis/call_stack.h"

#include <string.h>

/* A call stack: one more frame below another stack. Number 0 is the empty stack. */
typedef struct frame {
	uint32_t below;
	tl_str name;
	tl_str text; /* JSON, TL_STR_NONE: not asked for yet */
} frame;

struct tl_stack_cache {
	uint32_t *of_pos; /* stack of each node of the tree, itself included */
	TL_VEC(frame) frames;
	tl_map index;   /* (below, name) -> frame */
	tl_map cleaned; /* name -> name without numbers */
	TL_VEC(tl_str) names;
	tl_buf text;
};

void tl__stack_cache_free(struct tl_stack_cache *c)
{
	if (!c)
		return;
	tl__free(c->of_pos);
	TL_VEC_FREE(&c->frames);
	tl__map_free(&c->index);
	tl__map_free(&c->cleaned);
	TL_VEC_FREE(&c->names);
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

static int push(tl_analyzer *a, struct tl_stack_cache *c, uint32_t below, tl_row row, uint32_t *out)
{
	tl_str name;
	TL_TRY(clean(a, c, a->store->name[row], &name));
	uint32_t next = (uint32_t)c->frames.n;
	*out = tl__map_get_or_set(&c->index, (uint64_t)below << 32 | name, next);
	if (*out == TL_MAP_NONE)
		return TL_ENOMEM;
	return *out == next ? TL_VEC_PUSH(&c->frames, ((frame){below, name, TL_STR_NONE})) : 0;
}

/* In one pass, since parents come first; nodes without GPU work below need none. */
static int find_stacks(tl_analyzer *a, struct tl_stack_cache *c)
{
	const tl_tree *t = a->tree;
	c->of_pos = tl__calloc(t->n + 1, sizeof *c->of_pos);
	if (!c->of_pos)
		return TL_ENOMEM;
	TL_TRY(TL_VEC_PUSH(&c->frames, ((frame){0, TL_STR_NONE, TL_STR_NONE})));
	for (tl_pos pos = 0; pos < t->n; pos++) {
		tl_row row = t->row[pos];
		uint32_t below = t->parent[pos] == TL_POS_NONE ? 0 : c->of_pos[t->parent[pos]];
		c->of_pos[pos] = below;
		if (tl__tree_gpu_count(t, pos) && !tl__kind_is_gpu(a->store->kind[row]) && is_shown(a->store, row))
			TL_TRY(push(a, c, below, row, &c->of_pos[pos]));
	}
	return 0;
}

static int write_text(tl_analyzer *a, struct tl_stack_cache *c, uint32_t stack)
{
	c->names.n = 0;
	for (uint32_t at = stack; at; at = c->frames.v[at].below)
		TL_TRY(TL_VEC_PUSH(&c->names, c->frames.v[at].name));
	tl__buf_clear(&c->text);
	tl__buf_putc(&c->text, '[');
	for (size_t i = c->names.n; i-- > 0;) {
		tl_str name = c->names.v[i];
		tl__json_string(&c->text, tl__str(a->strings, name), tl__str_len(a->strings, name));
		if (i)
			tl__buf_putc(&c->text, ',');
	}
	tl__buf_putc(&c->text, ']');
	if (c->text.failed)
		return TL_ENOMEM;
	tl_str text = tl__intern(a->strings, c->text.v, c->text.n);
	if (text == TL_STR_FAIL)
		return TL_ENOMEM;
	c->frames.v[stack].text = text;
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
	struct tl_stack_cache *c = a->stacks;
	tl_pos pos = a->tree->pos_of_row[gpu_event];
	uint32_t stack = pos == TL_POS_NONE ? 0 : c->of_pos[pos];
	if (c->frames.v[stack].text == TL_STR_NONE)
		TL_TRY(write_text(a, c, stack));
	*out = c->frames.v[stack].text;
	return 0;
}
