/* SPDX-License-Identifier: MIT */
/*
 * Call stacks as texts in a string pool: the text of a stack is the pair (stack above, name) as bytes. So stacks that
 * begin alike share what they have in common, and a stack is as easy to compare and to hand on as a name.
 */
#include "table/internal.h"

typedef struct link {
	tl_str above, name;
} link;

static link link_of(const tl_strings *pool, tl_str stack)
{
	link found = {TL_STR_NONE, TL_STR_NONE};
	if (tl__str_len(pool, stack) == sizeof found)
		memcpy(&found, tl__str(pool, stack), sizeof found);
	return found;
}

tl_str tl__stack_push(tl_strings *pool, tl_str above, tl_str name)
{
	const link pair = {above, name};
	return tl__intern(pool, (const char *)&pair, sizeof pair);
}

tl_str tl__stack_empty(tl_strings *pool)
{
	return tl__stack_push(pool, TL_STR_NONE, TL_STR_NONE);
}

static size_t depth_of(const tl_strings *pool, tl_str stack)
{
	size_t depth = 0;
	for (link at = link_of(pool, stack); at.name != TL_STR_NONE; at = link_of(pool, at.above))
		depth++;
	return depth;
}

int tl__stack_value(tl_value *out, const tl_strings *pool, tl_str stack, tl_arena *arena)
{
	size_t n = depth_of(pool, stack);
	tl_value *names = tl__arena_alloc(arena, (n + 1) * sizeof *names);
	if (!names)
		return TL_ENOMEM;
	link at = link_of(pool, stack);
	for (size_t i = n; i-- > 0; at = link_of(pool, at.above))
		names[i] = TL_VALUE_STRING(tl__str(pool, at.name), tl__str_len(pool, at.name));
	*out = (tl_value){.kind = TL_V_LIST, .n = (uint32_t)n, .items = names};
	return 0;
}

tl_str tl__stack_copy(tl_strings *into, const tl_strings *from, tl_str stack)
{
	TL_VEC(tl_str) names = {0};
	if (into == from || stack == TL_STR_NONE)
		return stack;
	for (link at = link_of(from, stack); at.name != TL_STR_NONE; at = link_of(from, at.above))
		if (TL_VEC_PUSH(&names, at.name) < 0) {
			TL_VEC_FREE(&names);
			return TL_STR_FAIL;
		}
	tl_str copy = names.n ? TL_STR_NONE : tl__stack_empty(into);
	for (size_t i = names.n; i-- > 0 && copy != TL_STR_FAIL;) {
		tl_str name = tl__intern(into, tl__str(from, names.v[i]), tl__str_len(from, names.v[i]));
		copy = name == TL_STR_FAIL ? name : tl__stack_push(into, copy, name);
	}
	TL_VEC_FREE(&names);
	return copy;
}
