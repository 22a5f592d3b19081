/* SPDX-License-Identifier: MIT */
/*
 * The element type of KV caches: caches are passed as bytes, and only the paged-attention operation notes what
 * they hold. Its note goes to the operations around it, which have the attention models.
 */
#include <string.h>

#include "tree/pseudo.h"
#include "util/buf.h"
#include "util/value.h"

/* The note of the operation as a dict; frameworks write an object or its text. NULL: none. */
static int read_note(tl_pseudo *p, tl_arena *arena, tl_row row, const tl_value **out)
{
	const char *text;
	*out = NULL;
	TL_TRY(tl_edit_arg(&text, p->edit, row, "perf_meta"));
	if (!text)
		return 0;
	int code = tl__value_parse(arena, text, strlen(text), false, out);
	const char *inner = code == 0 ? tl__value_text(*out) : NULL;
	if (inner)
		code = tl__value_parse(arena, inner, strlen(inner), false, out);
	if (code < 0 || (*out)->kind != TL_V_DICT)
		*out = NULL;
	return code == TL_ENOMEM ? code : 0;
}

static void put_field(tl_buf *out, const char *key, const char *value)
{
	if (!value)
		return;
	tl__buf_putc(out, out->n ? ',' : '{');
	tl__json_string(out, key, strlen(key));
	tl__buf_putc(out, ':');
	tl__json_string(out, value, strlen(value));
}

/* The first note counts: an operation with one of its own has all above it done. */
static int give_to_operations_above(tl_pseudo *p, tl_pos pos, const char *json)
{
	const tl_tree *t = p->tree;
	for (pos = tl__tree_cpu_op_above(t, pos); pos != TL_POS_NONE; pos = tl__tree_cpu_op_above(t, pos)) {
		const char *known;
		TL_TRY(tl_edit_arg(&known, p->edit, t->row[pos], "attention_perf_meta"));
		if (known)
			return 0;
		TL_TRY(tl_edit_set_arg(p->edit, t->row[pos], "attention_perf_meta", json, NULL));
	}
	return 0;
}

static int spread(tl_pseudo *p, tl_pos pos, tl_arena *arena, tl_buf *json)
{
	tl_row row = p->tree->row[pos];
	bool rocm = tl__pseudo_is(p, row, TL_PN_ROCM_PAGED);
	const tl_value *note;
	TL_TRY(read_note(p, arena, row, &note));
	put_field(json, "k_cache_dtype", tl__value_text(tl__value_get(note, rocm ? "KCache_dtype" : "k_cache_dtype")));
	put_field(json, "v_cache_dtype", tl__value_text(tl__value_get(note, rocm ? "VCache_dtype" : "v_cache_dtype")));
	if (!json->n)
		return json->failed ? TL_ENOMEM : 0;
	tl__buf_putc(json, '}');
	return json->failed ? TL_ENOMEM : give_to_operations_above(p, pos, tl__buf_text(json));
}

int tl__pseudo_cache_types(tl_pseudo *p)
{
	tl_numbers found = {0};
	int code = tl__pseudo_find(&found, p, TL_KIND_CPU_OP, TL_PN_ROCM_PAGED | TL_PN_AITER_PAGED);
	for (size_t i = 0; i < found.n && code == 0; i++) {
		tl_arena arena = {0};
		tl_buf json = {0};
		code = spread(p, found.v[i], &arena, &json);
		tl__buf_free(&json);
		tl__arena_free(&arena);
	}
	TL_VEC_FREE(&found);
	return code;
}
