/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "trace/kineto.h"

#define IS(text) (!memcmp(key, text, sizeof text - 1))

static tl_kineto_field event_field(const char *key, uint32_t n)
{
	switch (n) {
	case 2:
		return IS("ph") ? TL_F_PH : IS("ts") ? TL_F_TS : IS("id") ? TL_F_ID : TL_F_NONE;
	case 3:
		return IS("cat")   ? TL_F_CAT
		       : IS("pid") ? TL_F_PID
		       : IS("tid") ? TL_F_TID
		       : IS("dur") ? TL_F_DUR
		       : IS("id2") ? TL_F_ID2
				   : TL_F_NONE;
	case 4:
		return IS("name") ? TL_F_NAME : IS("args") ? TL_F_ARGS : TL_F_NONE;
	default:
		return TL_F_NONE;
	}
}

#undef IS

typedef struct arg_name {
	const char *text;
	uint8_t field;
} arg_name;

/* Names of arguments by length; writers differ in letter case ("external id"). */
static const arg_name args_4[] = {{"grid", TL_F_GRID}, {"name", TL_F_ARG_NAME}, {0}};
static const arg_name args_5[] = {{"block", TL_F_BLOCK}, {"dtype", TL_F_COLLECTIVE + TL_COLL_DTYPE}, {0}};
static const arg_name args_6[] = {{"stream", TL_F_STREAM}, {"device", TL_F_DEVICE}, {"labels", TL_F_ARG_LABELS}, {0}};
static const arg_name args_9[] = {{"python id", TL_F_PYTHON_ID}, {"perf_meta", TL_F_PERF_META}, {0}};
static const arg_name args_10[] = {{"input dims", TL_F_DIMS},
				   {"input type", TL_F_TYPES},
				   {"group size", TL_F_COLLECTIVE + TL_COLL_GROUP_SIZE},
				   {0}};
static const arg_name args_11[] = {{"external id", TL_F_EXTERNAL},
				   {"correlation", TL_F_CORRELATION},
				   {"kernel_file", TL_F_KERNEL_FILE},
				   {0}};
static const arg_name args_13[] = {{"input strides", TL_F_STRIDES},
				   {"fwd thread id", TL_F_FWD_THREAD},
				   {"in msg nelems", TL_F_COLLECTIVE + TL_COLL_IN_ELEMS},
				   {"in split size", TL_F_COLLECTIVE + TL_COLL_IN_SPLIT},
				   {0}};
static const arg_name args_14[] = {{"out msg nelems", TL_F_COLLECTIVE + TL_COLL_OUT_ELEMS},
				   {"out split size", TL_F_COLLECTIVE + TL_COLL_OUT_SPLIT},
				   {0}};
static const arg_name args_15[] = {{"concrete inputs", TL_F_CONCRETE},
				   {"sequence number", TL_F_SEQUENCE},
				   {"collective name", TL_F_COLLECTIVE + TL_COLL_NAME},
				   {0}};
static const arg_name args_16[] = {{"python parent id", TL_F_PYTHON_PARENT},
				   {"python module id", TL_F_PYTHON_MODULE},
				   {0}};
static const arg_name args_18[] = {{"process group name", TL_F_COLLECTIVE + TL_COLL_GROUP_NAME}, {0}};
static const arg_name args_19[] = {{"process group ranks", TL_F_COLLECTIVE + TL_COLL_GROUP_RANKS}, {0}};
static const arg_name *const args_by_length[] = {
	[4] = args_4,   [5] = args_5,   [6] = args_6,   [9] = args_9,   [10] = args_10, [11] = args_11,
	[13] = args_13, [14] = args_14, [15] = args_15, [16] = args_16, [18] = args_18, [19] = args_19,
};

static tl_kineto_field arg_field(const char *key, uint32_t n)
{
	if (n >= sizeof args_by_length / sizeof *args_by_length || !args_by_length[n])
		return TL_F_NONE;
	for (const arg_name *arg = args_by_length[n]; arg->text; arg++) {
		uint32_t i = 0;
		/* the bit that tells letter cases apart is set in blanks and underscores of the names anyway */
		while (i < n && (key[i] | 0x20) == (arg->text[i] | 0x20))
			i++;
		if (i == n)
			return (tl_kineto_field)arg->field;
	}
	return TL_F_NONE;
}

/* What a key means, however it is written: "n\u0061me" is "name". */
static tl_kineto_field find_field(const tl_json_token *key, bool args)
{
	char room[TL_JSON_KEY];
	size_t n = key->n;
	const char *text = key->flags & TL_JSON_ESCAPES ? tl__json_key(room, key->p, &n) : key->p;
	return args ? arg_field(text, (uint32_t)n) : event_field(text, (uint32_t)n);
}

static const char *fail(tl_json_scan *scan, const char *p)
{
	scan->stop = p;
	return NULL;
}

/* Fields whose lists are kept as text: they are made compact in the same pass that finds their end. */
#define TEXT_FIELDS                                                                                      \
	(TL_F_BIT(TL_F_DIMS) | TL_F_BIT(TL_F_TYPES) | TL_F_BIT(TL_F_STRIDES) | TL_F_BIT(TL_F_CONCRETE) | \
	 TL_F_BIT(TL_F_GRID) | TL_F_BIT(TL_F_BLOCK))

/* A list of such a field, into the event's scratch memory. NULL: read it the usual way. */
static const char *scan_text(tl_kineto_event *event, const tl_json_scan *scan, const char *p, tl_json_token *token)
{
	char *to = event->scratch_next;
	uint8_t flags;
	if ((size_t)(event->scratch_end - to) < (size_t)(scan->end - p))
		return NULL;
	const char *after = tl__json_scan_compact(p, scan->end, &event->scratch_next, &flags);
	if (after)
		*token = (tl_json_token){to, (uint32_t)(event->scratch_next - to), TL_JSON_ARRAY,
					 (uint8_t)(flags | TL_JSON_COMPACT)};
	return after;
}

/* Reads the value of a key and keeps it when `field` is one that is read. */
static inline const char *scan_field(tl_kineto_event *event, tl_json_scan *scan, const char *p, tl_kineto_field field)
{
	tl_json_token ignored, *token = &ignored;
	if (field < TL_F_COUNT) {
		token = &event->field[field];
		event->duplicates += (event->have & TL_F_BIT(field)) != 0;
		event->have |= TL_F_BIT(field);
	}
	if (*p == '"')
		return tl__json_scan_string(scan, p + 1, token);
	if (*p == '[' && field < TL_F_COUNT && (TEXT_FIELDS & TL_F_BIT(field))) {
		const char *after = scan_text(event, scan, p, token);
		if (after)
			return after;
	}
	p = tl__json_scan_value(scan, p, token);
	if (p && token->type == TL_JSON_NUMBER && token->flags) {
		event->big_integers += token->flags & TL_JSON_BIG_INTEGER ? 1 : 0;
		event->odd_numbers += token->flags & TL_JSON_ODD_NUMBER ? 1 : 0;
		if (token->flags & TL_JSON_NO_NUMBER) {
			event->no_numbers++;
			token->type = TL_JSON_NULL;
		}
	}
	return p;
}

/* ---- keys ---- */

enum { START_OF_EVENT, START_OF_ARGS, UNKNOWN, FIRST_KEY };

/* The entry for a key that stands at [p, end), made when there is room; UNKNOWN otherwise. */
static uint8_t remember(tl_kineto_keys *keys, const char *p, const char *end, bool args, tl_kineto_field field)
{
	size_t n = (size_t)(end - p);
	if (n > TL_KEY_TEXT)
		return UNKNOWN;
	if (keys->n < FIRST_KEY)
		keys->n = FIRST_KEY;
	for (unsigned i = FIRST_KEY; i < keys->n; i++)
		if (keys->key[i].n == n && keys->key[i].args == args && !memcmp(keys->key[i].text, p, n))
			return (uint8_t)i;
	if (keys->n == TL_KEYS)
		return UNKNOWN;
	tl_kineto_key *key = &keys->key[keys->n];
	memcpy(key->text, p, n);
	key->n = (uint8_t)n;
	key->field = (uint8_t)field;
	key->args = args;
	key->next = UNKNOWN;
	return (uint8_t)keys->n++;
}

/*
 * Reads blanks, `"key"`, colon and blanks at `p`, behind a brace or comma. The place of the value, or NULL.
 * `*at` is the entry of the key before and becomes that of this key.
 */
static inline const char *scan_key(tl_kineto_keys *keys, tl_json_scan *scan, const char *p, bool args, uint8_t *at,
				   tl_kineto_field *field)
{
	tl_kineto_key *last = &keys->key[*at];
	const tl_kineto_key *expected = &keys->key[last->next];
	if (expected->n && tl__json_same(p, expected->text, expected->n)) {
		*at = last->next;
		*field = (tl_kineto_field)expected->field;
		return tl__json_blank(p + expected->n);
	}

	tl_json_token key;
	const char *start = p;
	p = tl__json_blank(p);
	if (*p != '"')
		return fail(scan, p);
	p = tl__json_scan_string(scan, p + 1, &key);
	if (!p)
		return NULL;
	p = tl__json_blank(p);
	if (*p != ':')
		return fail(scan, p);
	p = tl__json_blank(p + 1);
	*field = find_field(&key, args);
	*at = remember(keys, start, p, args, *field);
	if (last != &keys->key[UNKNOWN])
		last->next = *at;
	return p;
}

/* An empty object: `}` behind blanks. */
static inline const char *scan_empty(const char *p)
{
	p = tl__json_blank(p);
	return *p == '}' ? p + 1 : NULL;
}

static const char *scan_args(tl_kineto_event *event, tl_kineto_keys *keys, tl_json_scan *scan, const char *p)
{
	uint8_t at = START_OF_ARGS;
	event->have &= TL_F_BIT(TL_F_EXTERNAL) - 1; /* a second args replaces the first */
	const char *empty = scan_empty(++p);
	if (empty)
		return empty;
	for (;;) {
		tl_kineto_field field;
		p = scan_key(keys, scan, p, true, &at, &field);
		if (!p)
			return NULL;
		p = scan_field(event, scan, p, field);
		if (!p)
			return NULL;
		p = tl__json_blank(p);
		if (*p == '}')
			return p + 1;
		if (*p != ',')
			return fail(scan, p);
		p++;
	}
}

const char *tl__kineto_scan(tl_kineto_event *event, tl_kineto_keys *keys, tl_json_scan *scan, const char *p)
{
	uint8_t at = START_OF_EVENT;
	event->have = 0;
	event->keys = event->duplicates = event->big_integers = event->odd_numbers = event->no_numbers = 0;
	event->scratch_next = event->scratch;
	const char *empty = scan_empty(++p);
	if (empty)
		return empty;
	for (;;) {
		tl_kineto_field field;
		p = scan_key(keys, scan, p, false, &at, &field);
		if (!p)
			return NULL;
		event->keys++;
		if (field == TL_F_ARGS && *p == '{')
			p = scan_args(event, keys, scan, p);
		else
			p = scan_field(event, scan, p, field);
		if (!p)
			return NULL;
		p = tl__json_blank(p);
		if (*p == '}')
			return p + 1;
		if (*p != ',')
			return fail(scan, p);
		p++;
	}
}
