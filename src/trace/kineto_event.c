/* SPDX-License-Identifier: MIT */
/* Puts an event that was read into the columns and side tables of the store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "trace/kinds.h"
#include "trace/kineto.h"
#include "util/utf8.h"
#include "util/value.h"

#define HAS(event, field) ((event)->have & TL_F_BIT(field))

static const tl_json_token *field_of(const tl_kineto_event *event, tl_kineto_field field)
{
	static const tl_json_token absent = {.type = TL_JSON_ABSENT};
	return HAS(event, field) ? tl__kineto_token(event, field) : &absent;
}

static void note(tl_kineto *k, tl_health_kind kind, int64_t offset)
{
	tl__health_add(&k->store->health, kind, offset, (tl_row)k->store->n, 0, NULL);
}

static bool is_utf8(const char *text, size_t n)
{
	uint32_t code;
	for (size_t i = 0, step; i < n; i += step) {
		step = (uint8_t)text[i] < 0x80 ? 1 : tl__utf8_decode(text + i, n - i, &code);
		if (!step)
			return false;
	}
	return true;
}

static void check_utf8(tl_kineto *k, const tl_json_token *token, int64_t offset)
{
	if ((token->flags & TL_JSON_HIGH) && !is_utf8(token->p, token->n))
		note(k, TL_HEALTH_BAD_UTF8, offset);
}

/* ---- texts ---- */

/*
 * Longer argument texts (bytes in canonical spelling) are shortened. Those of real traces take a few hundred bytes, and
 * every report compares, groups and prints them as a whole, some several times.
 */
#define TL_LONGEST_ARGUMENT ((size_t)64 << 10)

const char *tl__kineto_plain(tl_kineto *k, const tl_json_token *token, size_t *n)
{
	*n = token->n;
	if (token->type != TL_JSON_STRING || !(token->flags & TL_JSON_ESCAPES))
		return token->p;
	tl__buf_clear(&k->text);
	tl__buf_put(&k->text, token->p, token->n);
	if (k->text.failed)
		return NULL;
	*n = tl__json_unescape(k->text.v, k->text.v, token->n);
	return k->text.v;
}

/* The string of a text that the scanner knows (trace/kineto_known.h). */
static int known_text(tl_kineto *k, tl_str *out, const tl_json_token *token)
{
	tl_str *string = &k->scratch.known->string[token->known];
	if (*string == TL_STR_NONE) {
		tl_str new = tl__intern(k->store->strings, token->p, token->n);
		if (new == TL_STR_FAIL)
			return TL_ENOMEM;
		*string = new;
	}
	*out = *string;
	return 0;
}

/* The text of a value as people read it: strings without quotes and escapes. */
static int plain_text(tl_kineto *k, tl_str *out, const tl_json_token *token, int64_t offset)
{
	*out = TL_STR_NONE;
	if (token->type == TL_JSON_ABSENT || token->type == TL_JSON_NULL)
		return 0;
	if (token->known)
		return known_text(k, out, token);
	check_utf8(k, token, offset);
	size_t n;
	const char *text = tl__kineto_plain(k, token, &n);
	if (!text)
		return TL_ENOMEM;
	*out = tl__intern(k->store->strings, text, n);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/*
 * What stands for an argument text that is too long to be compared, grouped and printed: its beginning, its
 * length and a hash, so that different texts stay different. A JSON string: no model takes it for a list.
 */
static int long_text(tl_kineto *k, tl_str *out, const char *text, size_t n, int64_t offset)
{
	enum { HEAD = 60 };
	size_t head = HEAD, characters = 0;
	while (head && ((uint8_t)text[head] & 0xc0) == 0x80) /* not in the middle of a character */
		head--;
	for (size_t i = 0; i < n; i++)
		characters += ((uint8_t)text[i] & 0xc0) != 0x80;
	char mark[HEAD + 96];
	memcpy(mark, text, head);
	int more = snprintf(mark + head, sizeof mark - head, "\xe2\x80\xa6(%zu characters, hash %016" PRIx64 ")",
			    characters, (uint64_t)XXH3_64bits(text, n));
	tl_buf json = {0};
	tl__json_string(&json, mark, head + (size_t)more);
	*out = json.failed ? TL_STR_FAIL : tl__intern(k->store->strings, json.v, json.n);
	tl__buf_free(&json);
	note(k, TL_HEALTH_LONG_ARGUMENT, offset);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* The one spelling of a list or object: no blanks, no odd words; it may be in k->text then. */
static int compact_text(tl_kineto *k, const char **text, size_t *n, int64_t offset)
{
	tl__buf_clear(&k->text);
	unsigned odd = tl__json_compact(&k->text, *text, *n);
	if (k->text.failed)
		return TL_ENOMEM;
	if (odd & TL_JSON_ODD_WORD)
		note(k, TL_HEALTH_NOT_A_NUMBER, offset);
	if (odd & TL_JSON_ODD_COMMA)
		note(k, TL_HEALTH_TRAILING_COMMA, offset);
	if (odd & TL_JSON_ODD_SPELLING)
		note(k, TL_HEALTH_ODD_NUMBER, offset);
	*text = k->text.v;
	*n = k->text.n;
	return 0;
}

/* The value as JSON in its canonical spelling. */
static int json_text(tl_kineto *k, tl_str *out, const tl_kineto_event *event, tl_kineto_field field, int64_t offset)
{
	const tl_json_token *token = field_of(event, field);
	*out = TL_STR_NONE;
	if (token->type == TL_JSON_ABSENT || token->type == TL_JSON_NULL)
		return 0;
	if (token->known)
		return known_text(k, out, token);
	check_utf8(k, token, offset);
	size_t n;
	const char *text = tl__json_token_text(token, &n);
	bool nested = token->type == TL_JSON_ARRAY || token->type == TL_JSON_OBJECT;
	if (nested && !(token->flags & TL_JSON_COMPACT))
		TL_TRY(compact_text(k, &text, &n, offset));
	if (n > TL_LONGEST_ARGUMENT)
		return long_text(k, out, text, n, offset);
	tl_buf plain = {0};
	if (token->flags & TL_JSON_ESCAPES) {
		tl__json_plain_strings(&plain, text, n);
		text = plain.failed ? NULL : plain.v;
		n = plain.n;
	} else if (token->flags & TL_JSON_ODD_NUMBER && token->type == TL_JSON_NUMBER) {
		char *to = tl__buf_reserve(&plain, n + 2);
		text = to;
		n = to ? (size_t)(tl__json_put_odd_number(to, token->p, n) - to) : 0;
	}
	*out = text ? tl__intern(k->store->strings, text, n) : TL_STR_FAIL;
	tl__buf_free(&plain);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* ---- identifiers ---- */

static bool parse_digits(tl_id *out, const char *p, size_t n)
{
	uint64_t value = 0;
	if (!n || n > 18)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(p[i] - '0');
	}
	*out = value;
	return true;
}

static bool parse_hex(tl_id *out, const char *p, size_t n)
{
	uint64_t value = 0;
	if (n < 3 || n > 18 || p[0] != '0' || (p[1] | 0x20) != 'x')
		return false;
	for (size_t i = 2; i < n; i++) {
		char c = (char)(p[i] | 0x20);
		bool digit = c >= '0' && c <= '9';
		if (!digit && (c < 'a' || c > 'f'))
			return false;
		value = value << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
	}
	*out = value;
	return value < TL_ID_TEXT;
}

/* A non-negative integer below 2^63 in any spelling of a number: 7, 7.0, 7e0, 0x7. */
static bool parse_id_number(tl_id *out, const char *p, size_t n)
{
	if (parse_digits(out, p, n))
		return n == 1 || *p != '0'; /* "007" is a name, not a number */
	if (parse_hex(out, p, n))
		return true;
	tl_int128 ps;
	bool fraction, starts = n && ((p[0] >= '0' && p[0] <= '9') || p[0] == '-');
	if (!starts || (n > 1 && p[0] == '0' && p[1] >= '0' && p[1] <= '9') ||
	    tl__decimal_ps(&ps, &fraction, p, n) != TL_DECIMAL_OK || ps < 0 || ps % TL_PS_PER_US)
		return false;
	ps /= TL_PS_PER_US;
	*out = (tl_id)ps;
	return ps < (tl_int128)TL_ID_TEXT;
}

static int identifier(tl_kineto *k, tl_id *out, const tl_json_token *token)
{
	if (token->flags & TL_JSON_VALUE) {
		*out = token->value;
		return 0;
	}
	if (token->type == TL_JSON_NUMBER && token->n <= 16 && tl__json_count_digits(token->p) >= token->n) {
		*out = tl__digits(token->p, token->n);
		return 0;
	}
	if (token->type == TL_JSON_NUMBER && parse_digits(out, token->p, token->n))
		return 0;
	*out = TL_ID_NONE;
	if (token->type == TL_JSON_ABSENT || token->type == TL_JSON_NULL)
		return 0;
	size_t n;
	const char *plain = tl__kineto_plain(k, token, &n);
	if (!plain)
		return TL_ENOMEM;
	if ((token->type == TL_JSON_NUMBER || token->type == TL_JSON_STRING) && parse_id_number(out, plain, n))
		return 0;
	tl_str text;
	if (plain_text(k, &text, token, -1) < 0)
		return TL_ENOMEM;
	*out = TL_ID_TEXT | text;
	return 0;
}

static int arg_id(tl_kineto *k, tl_id *out, const tl_kineto_event *event, tl_kineto_field field)
{
	return identifier(k, out, field_of(event, field));
}

/* id2 is {"local": x}, meant within the process, or {"global": x}. */
static int id_of_id2(tl_kineto *k, tl_id *out, const tl_json_token *object, tl_id pid)
{
	tl_json_scan scan = {.end = object->p + object->n};
	tl_json_token key, value;
	const char *p = tl__json_blank(object->p + 1);
	*out = TL_ID_NONE;
	while (*p == '"') {
		p = tl__json_scan_string(&scan, p + 1, &key);
		p = p ? tl__json_blank(p) : NULL;
		if (!p || *p != ':')
			return 0;
		p = tl__json_scan_value(&scan, tl__json_blank(p + 1), &value);
		if (!p)
			return 0;
		char room[TL_JSON_KEY];
		size_t n_name = key.n;
		const char *name = tl__json_key(room, key.p, &n_name);
		bool local = n_name == 5 && !memcmp(name, "local", 5);
		if (local || (n_name == 6 && !memcmp(name, "global", 6))) {
			if (identifier(k, out, &value) < 0)
				return TL_ENOMEM;
			if (local && *out != TL_ID_NONE) {
				char text[64];
				int n = snprintf(text, sizeof text, "local %" PRIx64 " of %" PRIx64, *out, pid);
				tl_str id = tl__intern(k->store->strings, text, (size_t)n);
				if (id == TL_STR_FAIL)
					return TL_ENOMEM;
				*out = TL_ID_TEXT | id;
			}
		}
		p = tl__json_blank(p);
		if (*p != ',')
			return 0;
		p = tl__json_blank(p + 1);
	}
	return 0;
}

/* ---- what the event is ---- */

/* Fills `slot` for a category that was not met before under this slot. */
static int resolve_category(tl_kineto *k, tl_kineto_category *slot, const tl_json_token *token, int64_t offset)
{
	tl_store *store = k->store;
	tl_str text;
	if (plain_text(k, &text, token, offset) < 0)
		return TL_ENOMEM;
	const char *name = tl__str(store->strings, text);
	size_t n = tl__str_len(store->strings, text);

	/* past 65 535 categories the rest shares "no category" */
	size_t next = store->categories.n;
	uint32_t index = n ? tl__map_get(&k->categories, text) : 0;
	if (index == TL_MAP_NONE && next > UINT16_MAX) {
		index = 0;
	} else if (index == TL_MAP_NONE) {
		index = (uint32_t)next;
		if (TL_VEC_PUSH(&store->categories, text) < 0 || tl__map_set(&k->categories, text, index) < 0)
			return TL_ENOMEM;
	}
	slot->index = (uint16_t)index;
	slot->kind = (uint8_t)tl__kind_of_category(name, n, &slot->known);
	/* a text with escapes reads differently in the file; such a slot is never found again */
	slot->text = name;
	slot->n = token->flags & TL_JSON_ESCAPES ? UINT32_MAX : (uint32_t)n;
	return 0;
}

static int category_of(tl_kineto *k, const tl_kineto_category **out, const tl_json_token *token, int64_t offset)
{
	static const tl_kineto_category none = {.text = "", .kind = TL_KIND_OTHER, .known = true};
	*out = &none;
	if (token->type == TL_JSON_ABSENT || token->type == TL_JSON_NULL || !token->n)
		return 0;
	uint32_t n = token->n;
	uint32_t hash = n * 7 + (uint8_t)token->p[0] + (uint8_t)token->p[n / 2] * 5u;
	tl_kineto_category *slot = &k->category[hash % (sizeof k->category / sizeof *k->category)];
	if (!slot->text || slot->n != n || memcmp(slot->text, token->p, n) != 0)
		if (resolve_category(k, slot, token, offset) < 0)
			return TL_ENOMEM;
	*out = slot;
	return 0;
}

char tl__kineto_phase(const tl_kineto_event *event)
{
	const tl_json_token *token = field_of(event, TL_F_PH);
	char room[TL_JSON_KEY];
	size_t n = token->n;
	if (token->type != TL_JSON_STRING || !n)
		return '\0';
	const char *text = token->flags & TL_JSON_ESCAPES ? tl__json_key(room, token->p, &n) : token->p;
	return n == 1 ? *text : '?';
}

/* An event without a phase that lasts is taken as a complete event. */
static char phase_of(const tl_kineto_event *event)
{
	char phase = tl__kineto_phase(event);
	return !phase && !HAS(event, TL_F_PH) && HAS(event, TL_F_DUR) ? 'X' : phase;
}

static bool is_known_phase(char phase)
{
	return phase && strchr("XBEMCiIstfbenTSpFNODPRcvV()a", phase);
}

/* Kind by category and phase: an arrow is no kernel, a counter no operation. */
static tl_kind kind_of(const tl_kineto_event *event, uint8_t of_category, char phase)
{
	if (event->empty)
		return TL_KIND_EMPTY;
	if (phase == 'M')
		return TL_KIND_METADATA;
	if (of_category == TL_KIND_FLOW || of_category == TL_KIND_FWDBWD)
		return phase == 's' || phase == 't' || phase == 'f' ? (tl_kind)of_category : TL_KIND_OTHER;
	return phase == 'X' || phase == 'B' || phase == 'i' || phase == 'I' ? (tl_kind)of_category : TL_KIND_OTHER;
}

void tl__kineto_forget_tracks(tl_kineto *k)
{
	k->last_track = UINT32_MAX;
	memset(k->track_of_run, 0xff, sizeof k->track_of_run);
}

static int set_track(tl_kineto *k, const tl_kineto_event *event, tl_row row)
{
	tl_id pid, tid;
	k->store->track[row] = UINT32_MAX;
	if (!(event->have & (TL_F_BIT(TL_F_PID) | TL_F_BIT(TL_F_TID))))
		return 0;
	uint16_t run = field_of(event, TL_F_PID)->known;
	run = run == field_of(event, TL_F_TID)->known ? run : 0;
	if (run && k->track_of_run[run] != UINT32_MAX) {
		k->store->track[row] = k->track_of_run[run];
		return 0;
	}
	if (arg_id(k, &pid, event, TL_F_PID) < 0 || arg_id(k, &tid, event, TL_F_TID) < 0)
		return TL_ENOMEM;
	if (pid == TL_ID_NONE && tid == TL_ID_NONE)
		return 0;
	if (k->last_track == UINT32_MAX || pid != k->last_pid || tid != k->last_tid) {
		uint32_t track = tl__store_track(k->store, k->document, pid, tid);
		if (track == UINT32_MAX)
			return TL_ENOMEM;
		k->last_track = track;
		k->last_pid = pid;
		k->last_tid = tid;
	}
	k->store->track[row] = k->last_track;
	if (run)
		k->track_of_run[run] = k->last_track;
	return 0;
}

/* ---- arguments ---- */

#define OP_FIELDS                                                                                        \
	(TL_F_BIT(TL_F_DIMS) | TL_F_BIT(TL_F_TYPES) | TL_F_BIT(TL_F_STRIDES) | TL_F_BIT(TL_F_CONCRETE) | \
	 TL_F_BIT(TL_F_KERNEL_FILE) | TL_F_BIT(TL_F_EXTERNAL) | TL_F_BIT(TL_F_SEQUENCE) | TL_F_BIT(TL_F_FWD_THREAD))
#define LINK_FIELDS                                                                                             \
	(TL_F_BIT(TL_F_CORRELATION) | TL_F_BIT(TL_F_EXTERNAL) | TL_F_BIT(TL_F_STREAM) | TL_F_BIT(TL_F_DEVICE) | \
	 TL_F_BIT(TL_F_GRID) | TL_F_BIT(TL_F_BLOCK) | COLLECTIVE_FIELDS)
#define COLLECTIVE_FIELDS (((TL_F_BIT(TL_COLL_FIELDS) - 1)) << TL_F_COLLECTIVE)
#define PYTHON_FIELDS (TL_F_BIT(TL_F_PYTHON_ID) | TL_F_BIT(TL_F_PYTHON_PARENT) | TL_F_BIT(TL_F_PYTHON_MODULE))

/* Kept for the edits that give it to the operations around (tree/pseudo_cache.c); rows come in order. */
static int add_perf_meta(tl_kineto *k, const tl_kineto_event *event, tl_row row, int64_t offset)
{
	tl_extra extra = {.row = row};
	TL_TRY(json_text(k, &extra.value, event, TL_F_PERF_META, offset));
	extra.key = tl__interns(k->store->strings, "perf_meta");
	if (extra.key == TL_STR_FAIL)
		return TL_ENOMEM;
	return extra.value == TL_STR_NONE ? 0 : TL_VEC_PUSH(&k->store->extras, extra);
}

static int add_op(tl_kineto *k, const tl_kineto_event *event, tl_row row, int64_t offset)
{
	tl_store *store = k->store;
	tl_op_args args;
	if (HAS(event, TL_F_PERF_META))
		TL_TRY(add_perf_meta(k, event, row, offset));
	if (!(event->have & OP_FIELDS))
		return 0;
	TL_TRY(json_text(k, &args.dims, event, TL_F_DIMS, offset));
	TL_TRY(json_text(k, &args.types, event, TL_F_TYPES, offset));
	TL_TRY(json_text(k, &args.strides, event, TL_F_STRIDES, offset));
	TL_TRY(json_text(k, &args.concrete, event, TL_F_CONCRETE, offset));
	TL_TRY(json_text(k, &args.kernel_file, event, TL_F_KERNEL_FILE, offset));
	TL_TRY(arg_id(k, &args.external, event, TL_F_EXTERNAL));
	TL_TRY(arg_id(k, &args.sequence, event, TL_F_SEQUENCE));
	TL_TRY(arg_id(k, &args.fwd_thread, event, TL_F_FWD_THREAD));
	store->side[row] = (uint32_t)store->ops.n;
	return TL_VEC_PUSH(&store->ops, args);
}

static int add_link(tl_kineto *k, const tl_kineto_event *event, tl_row row, int64_t offset)
{
	tl_store *store = k->store;
	tl_link_args args = {.collective = UINT32_MAX};
	if (!(event->have & LINK_FIELDS))
		return 0;
	TL_TRY(arg_id(k, &args.correlation, event, TL_F_CORRELATION));
	if (args.correlation == 0)
		args.correlation = TL_ID_NONE;
	TL_TRY(arg_id(k, &args.external, event, TL_F_EXTERNAL));
	TL_TRY(arg_id(k, &args.stream, event, TL_F_STREAM));
	TL_TRY(arg_id(k, &args.device, event, TL_F_DEVICE));
	TL_TRY(json_text(k, &args.grid, event, TL_F_GRID, offset));
	TL_TRY(json_text(k, &args.block, event, TL_F_BLOCK, offset));
	if (tl__kind_is_gpu(store->kind[row]) && (event->have & COLLECTIVE_FIELDS)) {
		tl_coll_args collective;
		for (int i = 0; i < TL_COLL_FIELDS; i++)
			TL_TRY(json_text(k, &collective.field[i], event, (tl_kineto_field)(TL_F_COLLECTIVE + i),
					 offset));
		args.collective = (uint32_t)store->collectives.n;
		TL_TRY(TL_VEC_PUSH(&store->collectives, collective));
	}
	store->side[row] = (uint32_t)store->links.n;
	return TL_VEC_PUSH(&store->links, args);
}

static int add_python(tl_kineto *k, const tl_kineto_event *event, tl_row row)
{
	tl_store *store = k->store;
	tl_python_args args;
	if (!(event->have & PYTHON_FIELDS))
		return 0;
	TL_TRY(arg_id(k, &args.id, event, TL_F_PYTHON_ID));
	TL_TRY(arg_id(k, &args.parent, event, TL_F_PYTHON_PARENT));
	TL_TRY(arg_id(k, &args.module, event, TL_F_PYTHON_MODULE));
	store->side[row] = (uint32_t)store->python.n;
	return TL_VEC_PUSH(&store->python, args);
}

static int add_flow(tl_kineto *k, const tl_kineto_event *event, tl_row row, char phase)
{
	tl_store *store = k->store;
	tl_flow_args args = {.id = TL_ID_NONE, .phase = phase};
	const tl_json_token *id2 = field_of(event, TL_F_ID2);
	TL_TRY(arg_id(k, &args.id, event, TL_F_ID));
	if (args.id == TL_ID_NONE && id2->type == TL_JSON_OBJECT) {
		tl_id pid;
		TL_TRY(arg_id(k, &pid, event, TL_F_PID));
		TL_TRY(id_of_id2(k, &args.id, id2, pid));
	}
	store->side[row] = (uint32_t)store->flows.n;
	return TL_VEC_PUSH(&store->flows, args);
}

/* Names of processes and threads; other metadata is of no use here. */
static int add_metadata(tl_kineto *k, const tl_kineto_event *event, tl_row row, int64_t offset)
{
	tl_store *store = k->store;
	const char *name = tl__name(store, row);
	bool process = !strcmp(name, "process_name"), labels = !strcmp(name, "process_labels");
	if (!process && !labels && strcmp(name, "thread_name") != 0)
		return 0;

	const tl_json_token *value = field_of(event, labels ? TL_F_ARG_LABELS : TL_F_ARG_NAME);
	tl_id pid, tid;
	tl_str text;
	TL_TRY(arg_id(k, &pid, event, TL_F_PID));
	TL_TRY(arg_id(k, &tid, event, TL_F_TID));
	TL_TRY(plain_text(k, &text, value, offset));
	if (pid == TL_ID_NONE || text == TL_STR_NONE) {
		note(k, TL_HEALTH_METADATA, offset);
		return 0;
	}
	if (process || labels) {
		uint32_t i = tl__store_process(store, k->document, pid);
		if (i == UINT32_MAX)
			return TL_ENOMEM;
		*(process ? &store->processes.v[i].name : &store->processes.v[i].labels) = text;
	} else {
		uint32_t i = tl__store_track(store, k->document, pid, tid);
		if (i == UINT32_MAX)
			return TL_ENOMEM;
		store->tracks.v[i].thread_name = text;
	}
	return 0;
}

static int add_side(tl_kineto *k, const tl_kineto_event *event, tl_row row, char phase, int64_t offset)
{
	switch (k->store->kind[row]) {
	case TL_KIND_CPU_OP:
	case TL_KIND_ANNOTATION:
	case TL_KIND_GPU_ANNOTATION:
		return add_op(k, event, row, offset);
	case TL_KIND_RUNTIME:
	case TL_KIND_KERNEL:
	case TL_KIND_MEMCPY:
	case TL_KIND_MEMSET:
		return add_link(k, event, row, offset);
	case TL_KIND_PYTHON:
		return add_python(k, event, row);
	case TL_KIND_FLOW:
	case TL_KIND_FWDBWD:
		return add_flow(k, event, row, phase);
	case TL_KIND_METADATA:
		return add_metadata(k, event, row, offset);
	default:
		return 0;
	}
}

static void note_doubts(tl_kineto *k, const tl_kineto_event *event, const tl_kineto_category *category, char phase,
			int64_t offset)
{
	tl_health *health = &k->store->health;
	tl_row row = (tl_row)k->store->n;
	if (event->duplicates)
		note(k, TL_HEALTH_DUPLICATE_KEY, offset);
	for (uint32_t i = 0; i < event->big_integers; i++)
		note(k, TL_HEALTH_BIG_INTEGER, offset);
	for (uint32_t i = 0; i < event->odd_numbers; i++)
		note(k, TL_HEALTH_ODD_NUMBER, offset);
	for (uint32_t i = 0; i < event->no_numbers; i++)
		note(k, TL_HEALTH_NOT_A_NUMBER, offset);
	if (event->empty) {
		note(k, TL_HEALTH_EMPTY_EVENT, offset);
		return;
	}
	if (!is_known_phase(phase)) {
		char detail[32];
		snprintf(detail, sizeof detail, phase && phase != '?' ? "ph \"%c\"" : "ph missing or no letter", phase);
		tl__health_add(health, TL_HEALTH_UNKNOWN_PHASE, offset, row, 0, detail);
	}
	if (!category->known && phase != 'M')
		tl__health_add(health, TL_HEALTH_UNKNOWN_CATEGORY, offset, row, 0, category->text);
}

int tl__kineto_add(tl_kineto *k, const tl_kineto_event *event)
{
	int64_t offset = event->offset;
	tl_store *store = k->store;
	const tl_kineto_category *category;
	TL_TRY(tl__store_reserve(store));
	tl_row row = (tl_row)store->n;
	char phase = phase_of(event);

	TL_TRY(category_of(k, &category, field_of(event, TL_F_CAT), offset));
	store->category[row] = category->index;
	store->kind[row] = (uint8_t)kind_of(event, category->kind, phase);
	store->side[row] = UINT32_MAX;
	k->phases[(uint8_t)phase]++;
	if (event->duplicates || event->big_integers || event->odd_numbers || event->no_numbers || event->empty ||
	    !category->known || !is_known_phase(phase))
		note_doubts(k, event, category, phase, offset);

	TL_TRY(plain_text(k, &store->name[row], field_of(event, TL_F_NAME), offset));
	TL_TRY(set_track(k, event, row));
	TL_TRY(tl__kineto_set_time(k, event, row, phase, offset));
	TL_TRY(add_side(k, event, row, phase, offset));
	store->n++;
	k->events++;
	return 0;
}

int tl__kineto_add_empty(tl_kineto *k, tl_health_kind why, int64_t offset, const char *detail)
{
	tl_store *store = k->store;
	TL_TRY(tl__store_reserve(store));
	size_t row = store->n;
	tl__health_add(&store->health, why, offset, (tl_row)row, 0, detail);
	store->kind[row] = TL_KIND_EMPTY;
	store->flags[row] = TL_EVENT_NO_DUR;
	store->track[row] = UINT32_MAX;
	store->start[row] = TL_TIME_NONE;
	store->side[row] = UINT32_MAX;
	store->n++;
	return 0;
}
