/* SPDX-License-Identifier: MIT */
/* Names, categories, times and arguments of the events of an edit. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "trace/kinds.h"
#include "tree/build.h"
#include "tree/edit.h"
#include "util/value.h"

/* ---- reading ---- */

size_t tl_edit_count(const tl_edit *e)
{
	return e->store->n;
}

const char *tl_edit_name(const tl_edit *e, tl_row row)
{
	return row < e->store->n ? tl__name(e->store, row) : "";
}

const char *tl_edit_category(const tl_edit *e, tl_row row)
{
	const tl_store *s = e->store;
	return row < s->n ? tl__str(s->strings, s->categories.v[s->category[row]]) : "";
}

tl_time tl_edit_start(const tl_edit *e, tl_row row)
{
	return row < e->store->n ? e->store->start[row] : TL_TIME_NONE;
}

tl_time tl_edit_duration(const tl_edit *e, tl_row row)
{
	return row < e->store->n ? e->store->dur[row] : TL_TIME_NONE;
}

/* ---- names, categories, times ---- */

int tl_edit_rename(tl_edit *e, tl_row row, const char *name, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	if (!name)
		return tl__fail(err, TL_EINVAL, "an event needs a name");
	tl_str text = tl__interns(e->store->strings, name);
	if (text == TL_STR_FAIL)
		return tl__nomem(err);
	e->store->name[row] = text;
	return 0;
}

int tl__edit_category_index(tl_edit *e, const char *category, uint16_t *out, tl_error *err)
{
	tl_store *s = e->store;
	tl_str text = tl__interns(s->strings, category);
	if (text == TL_STR_FAIL)
		return tl__nomem(err);
	/* a trace has a dozen categories */
	for (size_t i = 1; i < s->categories.n; i++) {
		if (s->categories.v[i] == text) {
			*out = (uint16_t)i;
			return 0;
		}
	}
	if (s->categories.n > UINT16_MAX)
		return tl__fail(err, TL_ELIMIT, "more than %u categories", UINT16_MAX);
	*out = (uint16_t)s->categories.n;
	return TL_VEC_PUSH(&s->categories, text) < 0 ? tl__nomem(err) : 0;
}

static bool is_host(uint8_t kind, bool with_python)
{
	return kind == TL_KIND_CPU_OP || kind == TL_KIND_RUNTIME || (kind == TL_KIND_PYTHON && with_python);
}

/* Kinds with the same number keep their arguments in the same table. */
static int table_of(uint8_t kind)
{
	if (kind == TL_KIND_CPU_OP || kind == TL_KIND_ANNOTATION || kind == TL_KIND_GPU_ANNOTATION)
		return 1;
	if (kind == TL_KIND_RUNTIME || tl__kind_is_gpu(kind))
		return 2;
	if (kind == TL_KIND_PYTHON)
		return 3;
	return kind == TL_KIND_FLOW || kind == TL_KIND_FWDBWD ? 4 : 0;
}

int tl_edit_set_category(tl_edit *e, tl_row row, const char *category, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	if (!category)
		return tl__fail(err, TL_EINVAL, "an event needs a category");
	tl_store *s = e->store;
	bool known;
	uint8_t old = s->kind[row], kind = (uint8_t)tl__kind_of_category(category, strlen(category), &known);
	bool gpu = tl__kind_is_gpu(old);
	if (gpu != tl__kind_is_gpu(kind))
		return tl__fail(err, TL_EINVAL, "event %u ('%s') is%s GPU work, which category '%s' would change", row,
				tl__name(s, row), gpu ? "" : " no", category);
	if (!gpu && tl_edit_in_tree(e, row) && !is_host(kind, e->tree->with_python))
		return tl__fail(err, TL_EINVAL, "event %u ('%s') is in the tree, where category '%s' has no place", row,
				tl__name(s, row), category);
	uint16_t index = 0;
	TL_TRY(tl__edit_category_index(e, category, &index, err));
	if (table_of(old) != table_of(kind))
		s->side[row] = UINT32_MAX;
	s->kind[row] = kind;
	s->category[row] = index;
	return 0;
}

int tl_edit_set_time(tl_edit *e, tl_row row, tl_time start, tl_time duration, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	if (start == TL_TIME_NONE || duration < 0)
		return tl__fail(err, TL_EINVAL, "event %u needs a start and a duration from 0 up", row);
	const tl_time limit = INT64_MAX / 4; /* so that ends, and spans between any two events, are times, too */
	if (start > limit || start < -limit || duration > limit)
		return tl__fail(err, TL_EINVAL, "event %u: 26 days from the base of the trace are the most", row);
	tl_store *s = e->store;
	if (start % TL_PS_PER_US)
		s->flags[row] |= TL_EVENT_TS_FRACTION;
	if (duration % TL_PS_PER_US)
		s->flags[row] |= TL_EVENT_DUR_FRACTION;
	s->flags[row] &= (uint8_t) ~(TL_EVENT_NO_DUR | TL_EVENT_BAD_DUR);
	s->start[row] = start;
	s->dur[row] = duration;
	return 0;
}

int tl_edit_set_thread(tl_edit *e, tl_row row, tl_row like, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	TL_TRY(tl__edit_check(e, like, err));
	e->store->track[row] = e->store->track[like];
	return 0;
}

/* ---- arguments ---- */

/* Where the arguments that the file states are kept. */
static const struct {
	const char *key;
	bool is_id;            /* a number, or the text of one */
	int operation, launch; /* offset in tl_op_args and tl_link_args, -1: not there */
} keys[] = {
	{"Input Dims", false, offsetof(tl_op_args, dims), -1},
	{"Input type", false, offsetof(tl_op_args, types), -1},
	{"Input Strides", false, offsetof(tl_op_args, strides), -1},
	{"Concrete Inputs", false, offsetof(tl_op_args, concrete), -1},
	{"kernel_file", false, offsetof(tl_op_args, kernel_file), -1},
	{"Sequence number", true, offsetof(tl_op_args, sequence), -1},
	{"Fwd thread id", true, offsetof(tl_op_args, fwd_thread), -1},
	{"External id", true, offsetof(tl_op_args, external), offsetof(tl_link_args, external)},
	{"correlation", true, -1, offsetof(tl_link_args, correlation)},
	{"stream", true, -1, offsetof(tl_link_args, stream)},
	{"device", true, -1, offsetof(tl_link_args, device)},
	{"grid", false, -1, offsetof(tl_link_args, grid)},
	{"block", false, -1, offsetof(tl_link_args, block)},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* Index into keys of one that events of this kind have, or KEYS. */
static size_t find_key(uint8_t kind, const char *key)
{
	int table = table_of(kind);
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].key, key) && (table == 1   ? keys[i].operation
						  : table == 2 ? keys[i].launch
							       : -1) >= 0)
			return i;
	return KEYS;
}

tl_op_args *tl__edit_op_args(tl_edit *e, tl_row row)
{
	tl_store *s = e->store;
	if (s->side[row] == UINT32_MAX) {
		tl_op_args none = {.external = TL_ID_NONE, .sequence = TL_ID_NONE, .fwd_thread = TL_ID_NONE};
		if (TL_VEC_PUSH(&s->ops, none) < 0)
			return NULL;
		s->side[row] = (uint32_t)(s->ops.n - 1);
	}
	return &s->ops.v[s->side[row]];
}

/* An id as JSON text: TL_STR_NONE when there is none, TL_STR_FAIL when out of memory. */
static tl_str id_json(tl_strings *strings, tl_id id)
{
	if (id == TL_ID_NONE)
		return TL_STR_NONE;
	tl_buf text = {0};
	if (id & TL_ID_TEXT) {
		tl_str name = (tl_str)(id & ~TL_ID_TEXT);
		tl__json_string(&text, tl__str(strings, name), tl__str_len(strings, name));
	} else {
		tl__buf_printf(&text, "%" PRIu64, id);
	}
	tl_str out = text.failed ? TL_STR_FAIL : tl__intern(strings, text.v, text.n);
	tl__buf_free(&text);
	return out;
}

static tl_str kept_arg(tl_edit *e, tl_row row, size_t key)
{
	const tl_store *s = e->store;
	if (s->side[row] == UINT32_MAX)
		return TL_STR_NONE;
	bool operation = table_of(s->kind[row]) == 1;
	const char *args = operation ? (const char *)&s->ops.v[s->side[row]] : (const char *)&s->links.v[s->side[row]];
	args += operation ? keys[key].operation : keys[key].launch;
	if (!keys[key].is_id)
		return *(const tl_str *)(const void *)args;
	return id_json(s->strings, *(const tl_id *)(const void *)args);
}

/* Index into the store's extras, or TL_MAP_NONE; what was removed is still found. */
static uint32_t find_extra(const tl_edit *e, tl_row row, const char *key)
{
	tl_str text = tl__strings_find(e->store->strings, key, strlen(key));
	return text == TL_STR_NONE ? TL_MAP_NONE : tl__map_get(&e->extra_of, (uint64_t)row << 32 | text);
}

int tl_edit_arg(const char **out, tl_edit *e, tl_row row, const char *key)
{
	*out = NULL;
	if (!key || row >= e->store->n)
		return 0;
	tl_str text = TL_STR_NONE;
	size_t kept = find_key(e->store->kind[row], key);
	if (kept < KEYS) {
		text = kept_arg(e, row, kept);
	} else {
		uint32_t extra = find_extra(e, row, key);
		if (extra != TL_MAP_NONE)
			text = e->store->extras.v[extra].value;
	}
	if (text == TL_STR_FAIL)
		return TL_ENOMEM;
	if (text != TL_STR_NONE)
		*out = tl__str(e->store->strings, text);
	return 0;
}

/* Leaves out the blanks outside strings; the text is valid. */
static void put_compact(tl_buf *out, const char *json)
{
	bool inside = false;
	for (const char *p = json; *p; p++) {
		if (!inside && strchr(" \t\n\r", *p))
			continue;
		tl__buf_putc(out, *p);
		if (inside && *p == '\\' && p[1])
			tl__buf_putc(out, *++p);
		else if (*p == '"')
			inside = !inside;
	}
}

/* The value in canonical spelling; TL_STR_NONE for none and null. */
static int canonical(tl_edit *e, tl_str *out, const char *key, const char *json, tl_error *err)
{
	*out = TL_STR_NONE;
	if (!json)
		return 0;
	tl_arena arena = {0};
	tl_buf text = {0};
	const tl_value *value;
	int code = tl__value_parse(&arena, json, strlen(json), false, &value);
	if (code == 0 && value->kind != TL_V_NONE) {
		put_compact(&text, json);
		*out = text.failed ? TL_STR_FAIL : tl__intern(e->store->strings, text.v, text.n);
		code = *out == TL_STR_FAIL ? TL_ENOMEM : 0;
	}
	tl__buf_free(&text);
	tl__arena_free(&arena);
	if (code == TL_EFORMAT)
		return tl__fail(err, TL_EINVAL, "the value of '%s' is not one JSON value: %.100s", key, json);
	return code < 0 ? tl__nomem(err) : 0;
}

static int parse_id(tl_edit *e, tl_id *out, const char *key, const char *json, tl_error *err)
{
	tl_str text;
	*out = TL_ID_NONE;
	TL_TRY(canonical(e, &text, key, json, err));
	if (text == TL_STR_NONE)
		return 0;
	uint64_t value = 0;
	const char *p = tl__str(e->store->strings, text);
	bool fits = *p != '\0';
	for (; *p >= '0' && *p <= '9' && fits; p++)
		fits = !__builtin_mul_overflow(value, 10, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value) && value < TL_ID_TEXT;
	if (*p || !fits)
		return tl__fail(err, TL_EINVAL, "'%s' must be a whole number from 0 up, not %.100s", key, json);
	*out = value;
	return 0;
}

static int set_extra(tl_edit *e, tl_row row, const char *key, const char *json, tl_error *err)
{
	tl_store *s = e->store;
	tl_extra extra = {.row = row};
	TL_TRY(canonical(e, &extra.value, key, json, err));
	extra.key = tl__interns(s->strings, key);
	if (extra.key == TL_STR_FAIL)
		return tl__nomem(err);
	uint64_t at = (uint64_t)row << 32 | extra.key;
	uint32_t known = tl__map_get(&e->extra_of, at);
	if (known != TL_MAP_NONE) {
		s->extras.v[known].value = extra.value;
		return 0;
	}
	if (extra.value == TL_STR_NONE)
		return 0;
	if (TL_VEC_RESERVE(&s->extras, 1) < 0 || tl__map_set(&e->extra_of, at, (uint32_t)s->extras.n) < 0)
		return tl__nomem(err);
	s->extras.v[s->extras.n++] = extra;
	return 0;
}

int tl_edit_set_arg(tl_edit *e, tl_row row, const char *key, const char *json, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	if (!key)
		return tl__fail(err, TL_EINVAL, "an argument needs a key");
	size_t kept = find_key(e->store->kind[row], key);
	if (kept == KEYS)
		return set_extra(e, row, key, json, err);
	if (table_of(e->store->kind[row]) != 1)
		return tl__fail(err, TL_EINVAL, "'%s' of event %u comes from its launch and cannot be changed", key,
				row);
	tl_id id = TL_ID_NONE;
	tl_str text = TL_STR_NONE;
	if (keys[kept].is_id)
		TL_TRY(parse_id(e, &id, key, json, err));
	else
		TL_TRY(canonical(e, &text, key, json, err));
	char *args = (char *)tl__edit_op_args(e, row);
	if (!args)
		return tl__nomem(err);
	if (keys[kept].is_id)
		*(tl_id *)(void *)(args + keys[kept].operation) = id;
	else
		*(tl_str *)(void *)(args + keys[kept].operation) = text;
	return 0;
}

int tl_edit_copy_args(tl_edit *e, tl_row row, tl_row from, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	TL_TRY(tl__edit_check(e, from, err));
	if (table_of(e->store->kind[row]) != 1)
		return tl__fail(err, TL_EINVAL, "event %u ('%s') is no operation and takes no arguments", row,
				tl__name(e->store, row));
	tl_op_args *to = tl__edit_op_args(e, row);
	if (!to)
		return tl__nomem(err);
	const tl_op_args none = {.sequence = TL_ID_NONE}, *args = tl__op_args(e->store, from);
	if (!args)
		args = &none;
	to->dims = args->dims;
	to->types = args->types;
	to->strides = args->strides;
	to->concrete = args->concrete;
	to->sequence = args->sequence;
	return 0;
}

/* ---- forward and backward ---- */

static bool is_linked(const tl_edit *e, tl_row forward, tl_row backward)
{
	size_t first, n = tl__tree_backward_of(e->tree, forward, &first);
	size_t low = first, high = first + n; /* by backward event */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (e->tree->links[middle].backward < backward)
			low = middle + 1;
		else
			high = middle;
	}
	return low < first + n && e->tree->links[low].backward == backward;
}

int tl_edit_link(tl_edit *e, tl_row forward, tl_row backward, tl_error *err)
{
	TL_TRY(tl__edit_check(e, forward, err));
	TL_TRY(tl__edit_check(e, backward, err));
	if (forward == backward)
		return tl__fail(err, TL_EINVAL, "event %u cannot be its own backward event", forward);
	uint64_t key = (uint64_t)forward << 32 | backward;
	if (is_linked(e, forward, backward) || tl__map_get(&e->linked, key) != TL_MAP_NONE)
		return 0;
	tl_link link = {forward, backward};
	if (TL_VEC_RESERVE(&e->links, 1) < 0 || tl__map_set(&e->linked, key, 1) < 0)
		return tl__nomem(err);
	e->links.v[e->links.n++] = link;
	return 0;
}
