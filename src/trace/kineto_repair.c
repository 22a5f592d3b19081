/* SPDX-License-Identifier: MIT */
/* Rewrites an event that breaks the rules of JSON as one that keeps them, and counts each repair. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "trace/kineto.h"
#include "util/value.h"

/* Deepest nesting inside an event that is worth repairing. */
enum { MAX_DEPTH = 512 };
/* How often the text may be gone through in vain, on the whole, so that any text is repaired in linear time. */
enum { TIMES_IN_VAIN = 16, ALWAYS_IN_VAIN = 1 << 20 };

typedef struct repair {
	const char *p, *end;
	bool eof;
	uint64_t in_vain, may_be_in_vain; /* bytes that searches for a balanced end went through and found none */
	tl_buf *out;
	bool object[MAX_DEPTH]; /* kind of each open bracket */
	int depth;
	uint32_t count[TL_HEALTH_KINDS]; /* repairs so far; only counted when the whole event came out */
	const char *first[TL_HEALTH_KINDS];
} repair;

/* ---- looking ahead ---- */

static const char *blank(const char *p, const char *end)
{
	while (p < end && tl__json_is_blank(*p))
		p++;
	return p;
}

static bool is_one_of(const char *const *names, const char *key, size_t n)
{
	for (; *names; names++)
		if (strlen(*names) == n && !memcmp(*names, key, n))
			return true;
	return false;
}

bool tl__kineto_is_event_key(const char *key, size_t n)
{
	char room[TL_JSON_KEY];
	static const char *const names[] = {"ph",   "cat",     "name",  "pid",     "tid",      "ts",    "dur",    "tts",
					    "tdur", "id",      "id2",   "args",    "s",        "bp",    "cname",  "sf",
					    "esf",  "bind_id", "scope", "flow_in", "flow_out", "stack", "estack", NULL};
	key = tl__json_key(room, key, &n);
	return is_one_of(names, key, n);
}

static bool is_document_key(const char *key, size_t n)
{
	char room[TL_JSON_KEY];
	static const char *const names[] = {"schemaVersion",
					    "deviceProperties",
					    "traceName",
					    "displayTimeUnit",
					    "baseTimeNanoseconds",
					    "distributedInfo",
					    "metadata",
					    "trace_id",
					    "with_stack",
					    "with_flops",
					    "with_modules",
					    "record_shapes",
					    "profile_memory",
					    "cupti_version",
					    "roctracer_version",
					    "cuda_runtime_version",
					    "cuda_driver_version",
					    "hip_runtime_version",
					    "hip_driver_version",
					    "traceEvents",
					    "stackFrames",
					    "samples",
					    "systemTraceEvents",
					    "otherData",
					    "controllerTraceDataKey",
					    NULL};
	key = tl__json_key(room, key, &n);
	return is_one_of(names, key, n);
}

/* Whether `p` begins `"key" :`; then *key and *n are set. TL_BOUNDARY_NO, _EVENT (yes) or _MORE. */
static tl_kineto_boundary key_at(const char *p, const char *end, bool eof, const char **key, size_t *n)
{
	enum { LONGEST = 128 };
	tl_kineto_boundary out_of_text = eof ? TL_BOUNDARY_NO : TL_BOUNDARY_MORE;
	if (p >= end)
		return out_of_text;
	if (*p++ != '"')
		return TL_BOUNDARY_NO;
	*key = p;
	while (p < end && *p != '"') {
		/* an escaped letter is a letter; \" and \\ are more likely to be part of a broken text */
		bool letter = *p == '\\' && p + 1 < end && p[1] == 'u';
		if ((*p == '\\' && p + 1 < end && !letter) || (uint8_t)*p < 0x20 || p - *key > LONGEST)
			return TL_BOUNDARY_NO;
		p += 1 + letter;
	}
	if (p >= end)
		return out_of_text;
	*n = (size_t)(p - *key);
	p = blank(p + 1, end);
	if (p >= end)
		return out_of_text;
	return *p == ':' ? TL_BOUNDARY_EVENT : TL_BOUNDARY_NO;
}

/* Behind "traceEvents": a colon and an opening bracket. */
static tl_kineto_boundary list_at(const char *p, const char *end, bool eof, const char **next)
{
	const char *key;
	char room[TL_JSON_KEY];
	size_t n, n_name;
	tl_kineto_boundary is = key_at(p, end, eof, &key, &n);
	if (is != TL_BOUNDARY_EVENT)
		return is == TL_BOUNDARY_MORE ? is : TL_BOUNDARY_NO;
	n_name = n;
	const char *name = tl__json_key(room, key, &n_name);
	if (n_name != 11 || memcmp(name, "traceEvents", 11) != 0)
		return TL_BOUNDARY_NO;
	p = blank(blank(key + n + 1, end) + 1, end);
	if (p >= end)
		return eof ? TL_BOUNDARY_NO : TL_BOUNDARY_MORE;
	*next = p + 1;
	return *p == '[' ? TL_BOUNDARY_LIST : TL_BOUNDARY_NO;
}

tl_kineto_boundary tl__kineto_boundary_at(const char *p, const char *end, bool eof, const char **next)
{
	tl_kineto_boundary out_of_text = eof ? TL_BOUNDARY_END : TL_BOUNDARY_MORE, is;
	const char *key;
	size_t n;
	if (*p == '"')
		return list_at(p, end, eof, next);

	p = blank(p + 1, end);
	*next = p;
	if (p >= end)
		return out_of_text;
	if (*p == ',') {
		p = blank(p + 1, end);
		*next = p;
		if (p >= end)
			return out_of_text;
		if (*p != '{')
			return TL_BOUNDARY_NO;
		p = blank(p + 1, end);
		is = key_at(p, end, eof, &key, &n);
		if (is != TL_BOUNDARY_EVENT)
			return is;
		return tl__kineto_is_event_key(key, n) ? TL_BOUNDARY_EVENT : TL_BOUNDARY_NO;
	}
	if (*p != ']')
		return TL_BOUNDARY_NO;
	p = blank(p + 1, end);
	if (p >= end)
		return out_of_text;
	if (*p == '}') {
		p = blank(p + 1, end);
		return p >= end ? out_of_text : TL_BOUNDARY_NO;
	}
	if (*p != ',')
		return TL_BOUNDARY_NO;
	is = key_at(blank(p + 1, end), end, eof, &key, &n);
	if (is != TL_BOUNDARY_EVENT)
		return is;
	return is_document_key(key, n) ? TL_BOUNDARY_END : TL_BOUNDARY_NO;
}

/* ---- rewriting ---- */

static void count(repair *r, tl_health_kind kind, const char *where)
{
	if (!r->count[kind]++)
		r->first[kind] = where;
}

/* What a place could mean for a string that may end before it. */
enum { NO, YES, UNSURE };

static int sure(tl_kineto_boundary is)
{
	return is == TL_BOUNDARY_MORE ? UNSURE : is != TL_BOUNDARY_NO ? YES : NO;
}

/* `p` is a closing brace of the event itself: does an event end here? */
static int ends_event(const repair *r, const char *p)
{
	const char *q = blank(p + 1, r->end);
	if (q >= r->end)
		return r->eof ? YES : UNSURE;
	if (*q == ']')
		return YES;
	if (*q != ',')
		return *q == '{' ? YES : NO; /* the comma between two events may be missing */
	q = blank(q + 1, r->end);
	if (q >= r->end)
		return r->eof ? YES : UNSURE;
	return *q == '{' || *q == ']' ? YES : NO;
}

/* A key of events that lacks its opening quote: `tid": 0`. */
static bool is_half_key(const char *p, const char *end)
{
	const char *start = p;
	while (p < end && p - start < 16 && *p >= 'a' && *p <= 'z')
		p++;
	return p < end && *p == '"' && tl__kineto_is_event_key(start, (size_t)(p - start));
}

static bool begins_value(char c)
{
	return c && strchr("\"[{-0123456789tfnNiI", c) != NULL;
}

/*
 * Whether the quote before `p` ends a string: only if the text goes on as JSON does. An object goes on with
 * a comma and a key, at the top level of an event one of the keys that events have (any key, if this is
 * the `first` quote in the string); or it ends.
 */
static int ends_string(const repair *r, const char *p, bool first)
{
	const char *key, *end = r->end;
	size_t n;
	p = blank(p, end);
	if (p >= end)
		return r->eof ? YES : UNSURE;
	if (!r->object[r->depth - 1]) {
		if (*p == ']')
			return YES;
		if (*p != ',')
			return NO;
		p = blank(p + 1, end);
		return p >= end ? (r->eof ? YES : UNSURE) : begins_value(*p) || *p == ']' ? YES : NO;
	}
	if (*p == ',') {
		p = blank(p + 1, end);
		if (p < end && *p == '}')
			return YES; /* a comma too many */
		if (r->depth == 1 && is_half_key(p, end))
			return YES; /* so that the event is given up there, not read wrongly */
		int is = sure(key_at(p, end, r->eof, &key, &n));
		if (is != YES)
			return is;
		if (r->depth == 1 && !first)
			return tl__kineto_is_event_key(key, n) ? YES : NO;
		p = blank(blank(key + n + 1, end) + 1, end);
		return p >= end ? (r->eof ? YES : UNSURE) : begins_value(*p) ? YES : NO;
	}
	if (*p == '"' && r->depth == 1) { /* the comma between two members may be missing */
		int is = sure(key_at(p, end, r->eof, &key, &n));
		return is == YES && !tl__kineto_is_event_key(key, n) ? NO : is;
	}
	if (*p != '}')
		return NO;
	if (r->depth == 1)
		return ends_event(r, p);
	p = blank(p + 1, end);
	if (p >= end)
		return r->eof ? YES : UNSURE;
	if (r->depth == 2 && *p == '}')
		return ends_event(r, p);
	return *p == ',' || *p == '}' || *p == ']' ? YES : NO;
}

/*
 * Where the string that begins at `p` ends (the quote), or NULL: *more tells whether the text ran out.
 * With `balanced` a quote inside open brackets of the text does not end it, so that a name which
 * holds JSON is kept whole. `*inner`: quotes that are part of the text, `*stop`: how far it looked.
 */
static const char *find_end(const repair *r, const char *p, bool balanced, uint32_t *inner, bool *more,
			    const char **stop)
{
	int open = 0;
	*inner = 0;
	*more = false;
	for (; p < r->end; p++) {
		const char *next;
		switch (*p) {
		case '\\':
			if (p + 1 < r->end && p[1] == '"') {
				/* a Windows path may end in a backslash: "C:\", "pid": 1 */
				int is = r->depth == 1 && p + 2 < r->end ? ends_string(r, p + 2, false) : NO;
				const char *q = blank(p + 2, r->end);
				if (is == YES && q < r->end && *q == ',')
					return p + 1;
				p++;
			} else if (p + 1 < r->end && p[1] == '\\') {
				p++;
			}
			break;
		case '{':
		case '[':
			open++;
			break;
		case '}':
		case ']':
			if (*p == '}') {
				/* never run into the next event */
				int is = sure(tl__kineto_boundary_at(p, r->end, false, &next));
				*more = is == UNSURE && !r->eof;
				if (is == YES || *more)
					goto none;
			}
			open -= open > 0;
			break;
		case '"':
			/* nor into a document that another rank began here */
			if (p + 1 < r->end && (p[1] == 't' || p[1] == '\\') &&
			    list_at(p, r->end, false, &next) == TL_BOUNDARY_LIST)
				goto none;
			if (!balanced || !open) {
				int is = ends_string(r, p + 1, !*inner);
				if (is == YES)
					return p;
				if (is == UNSURE) {
					*more = true;
					goto none;
				}
			}
			++*inner;
			break;
		default:
			break;
		}
	}
	*more = !r->eof;
none:
	*stop = p;
	return NULL;
}

/* Writes text [p, end) so that JSON accepts it. */
static void put_escaped(repair *r, const char *p, const char *end, uint32_t *controls, uint32_t *backslashes)
{
	tl_buf *out = r->out;
	for (; p < end; p++) {
		uint8_t c = (uint8_t)*p;
		if (c == '"') {
			tl__buf_puts(out, "\\\"");
		} else if (c < 0x20) {
			++*controls;
			tl__buf_printf(out, "\\u%04x", c);
		} else if (c == '\\' && p + 1 < end && tl__json_is_escape(p + 1)) {
			tl__buf_put(out, p++, 2);
		} else if (c == '\\') {
			++*backslashes;
			tl__buf_puts(out, "\\\\");
		} else {
			tl__buf_putc(out, (char)c);
		}
	}
}

/* A string value or key, from its opening quote on. One repair a string, the gravest. */
static tl_kineto_repaired put_string(repair *r)
{
	uint32_t inner, controls = 0, backslashes = 0;
	bool more = false;
	const char *start = r->p + 1, *end = NULL, *stop;
	if (r->in_vain <= r->may_be_in_vain) {
		end = find_end(r, start, true, &inner, &more, &stop);
		r->in_vain += end ? 0 : (uint64_t)(stop - start);
	}
	if (!end && !more)
		end = find_end(r, start, false, &inner, &more, &stop);
	if (!end)
		return more ? TL_REPAIR_MORE : TL_REPAIR_LOST;
	tl__buf_putc(r->out, '"');
	put_escaped(r, start, end, &controls, &backslashes);
	tl__buf_putc(r->out, '"');
	if (inner)
		count(r, TL_HEALTH_UNESCAPED_QUOTE, start);
	else if (controls)
		count(r, TL_HEALTH_CONTROL_BYTE, start);
	else if (backslashes)
		count(r, TL_HEALTH_BAD_ESCAPE, start);
	r->p = end + 1;
	return TL_REPAIR_DONE;
}

/* A key: ends at the first quote that a colon follows. */
static tl_kineto_repaired put_key(repair *r)
{
	enum { LONGEST = 4096 };
	const char *start = r->p + 1, *p = start;
	uint32_t controls = 0, backslashes = 0;
	for (;; p++) {
		if (p >= r->end)
			return r->eof ? TL_REPAIR_LOST : TL_REPAIR_MORE;
		if (p - start > LONGEST)
			return TL_REPAIR_LOST;
		if (*p == '\\' && p + 1 < r->end) {
			p++;
			continue;
		}
		if (*p == '"')
			break;
	}
	tl__buf_putc(r->out, '"');
	put_escaped(r, start, p, &controls, &backslashes);
	tl__buf_putc(r->out, '"');
	if (controls)
		count(r, TL_HEALTH_CONTROL_BYTE, start);
	else if (backslashes)
		count(r, TL_HEALTH_BAD_ESCAPE, start);
	r->p = p + 1;
	return TL_REPAIR_DONE;
}

static bool is_not_a_number(const char *p, size_t n)
{
	static const char *const names[] = {"nan", "inf", "infinity", NULL};
	if (n && (*p == '-' || *p == '+')) {
		p++;
		n--;
	}
	for (const char *const *name = names; *name; name++)
		if (strlen(*name) == n && !strncasecmp(*name, p, n))
			return true;
	return false;
}

/* 0x1f, perhaps with a sign. */
static bool is_hex_number(const char *p, size_t n, uint64_t *value)
{
	enum { DIGITS = 16 };
	if (n < 3 || n > 2 + DIGITS || p[0] != '0' || (p[1] | 0x20) != 'x')
		return false;
	*value = 0;
	for (size_t i = 2; i < n; i++) {
		char c = (char)(p[i] | 0x20);
		bool digit = c >= '0' && c <= '9';
		if (!digit && (c < 'a' || c > 'f'))
			return false;
		*value = *value << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* A number as JSON writes it, whatever its spelling was. False: it is none. */
static bool put_number(repair *r, const char *p, size_t n)
{
	uint64_t value;
	tl_json_spelling spelling = tl__json_spelling(p, n);
	if (spelling == TL_JSON_NUMBER_PLAIN) {
		tl__buf_put(r->out, p, n);
	} else if (spelling == TL_JSON_NUMBER_ODD) {
		char *to = tl__buf_reserve(r->out, n + 2);
		if (to)
			r->out->n += (size_t)(tl__json_put_odd_number(to, p, n) - to);
	} else if (is_hex_number(p, n, &value)) {
		tl__buf_printf(r->out, "%" PRIu64, value);
	} else {
		return false;
	}
	if (spelling != TL_JSON_NUMBER_PLAIN)
		count(r, TL_HEALTH_ODD_NUMBER, p);
	return true;
}

/* Something without quotes: number, word, or nothing at all. */
static tl_kineto_repaired put_word(repair *r)
{
	const char *start = r->p, *p = start;
	uint32_t ignored = 0;
	while (p < r->end && *p != ',' && *p != '}' && *p != ']' && *p != '"' && *p != '\n' && *p != '{' && *p != '[')
		p++;
	if (p >= r->end)
		return r->eof ? TL_REPAIR_LOST : TL_REPAIR_MORE;
	r->p = p;
	while (p > start && tl__json_is_blank(p[-1]))
		p--;
	size_t n = (size_t)(p - start);
	if ((n == 4 && (!memcmp(start, "true", n) || !memcmp(start, "null", n))) ||
	    (n == 5 && !memcmp(start, "false", n))) {
		tl__buf_put(r->out, start, n);
	} else if (is_not_a_number(start, n)) {
		count(r, TL_HEALTH_NOT_A_NUMBER, start);
		tl__buf_puts(r->out, "null");
	} else if (put_number(r, start, n)) {
		; /* done */
	} else if (!n) {
		count(r, TL_HEALTH_BARE_WORD, start);
		tl__buf_puts(r->out, "null");
	} else {
		count(r, TL_HEALTH_BARE_WORD, start);
		tl__buf_putc(r->out, '"');
		put_escaped(r, start, p, &ignored, &ignored);
		tl__buf_putc(r->out, '"');
	}
	return TL_REPAIR_DONE;
}

static tl_kineto_repaired out_of_text(const repair *r)
{
	return r->eof ? TL_REPAIR_LOST : TL_REPAIR_MORE;
}

static bool skip_blank(repair *r)
{
	r->p = blank(r->p, r->end);
	return r->p < r->end;
}

/* `key :` of an object. */
static tl_kineto_repaired put_member(repair *r)
{
	if (*r->p != '"')
		return TL_REPAIR_LOST; /* a key without its quote: what it says is not certain */
	tl_kineto_repaired is = put_key(r);
	if (is != TL_REPAIR_DONE)
		return is;
	if (!skip_blank(r))
		return out_of_text(r);
	if (*r->p != ':')
		return TL_REPAIR_LOST;
	tl__buf_putc(r->out, ':');
	r->p++;
	return skip_blank(r) ? TL_REPAIR_DONE : out_of_text(r);
}

/* The event from its brace on; iterative, with the open brackets in `object`. */
static tl_kineto_repaired rewrite(repair *r)
{
	bool expect_value = true, after_comma = false; /* at the start of an item */
	r->object[0] = true;
	r->depth = 1;
	tl__buf_putc(r->out, '{');
	r->p++;
	while (r->depth) {
		if (!skip_blank(r))
			return out_of_text(r);
		char c = *r->p;
		if (c == '}' || c == ']') {
			if (r->object[r->depth - 1] != (c == '}'))
				return TL_REPAIR_LOST;
			if (after_comma) {
				r->out->n--;
				count(r, TL_HEALTH_TRAILING_COMMA, r->p);
			}
			tl__buf_putc(r->out, c);
			r->p++;
			r->depth--;
			expect_value = after_comma = false;
			continue;
		}
		if (c == ',') {
			if (expect_value) {
				count(r, TL_HEALTH_TRAILING_COMMA, r->p);
			} else {
				tl__buf_putc(r->out, c);
				expect_value = after_comma = true;
			}
			r->p++;
			continue;
		}
		if (!expect_value) {
			if (c != '"' || !r->object[r->depth - 1])
				return TL_REPAIR_LOST;
			count(r, TL_HEALTH_TRAILING_COMMA, r->p);
			tl__buf_putc(r->out, ',');
			expect_value = true;
			continue;
		}

		tl_kineto_repaired is = TL_REPAIR_DONE;
		if (r->object[r->depth - 1])
			is = put_member(r);
		if (is != TL_REPAIR_DONE)
			return is;
		c = *r->p;
		if (c == '{' || c == '[') {
			if (r->depth == MAX_DEPTH)
				return TL_REPAIR_LOST;
			r->object[r->depth++] = c == '{';
			tl__buf_putc(r->out, c);
			r->p++;
			expect_value = true;
			after_comma = false;
			continue;
		}
		is = c == '"' ? put_string(r) : put_word(r);
		if (is != TL_REPAIR_DONE)
			return is;
		expect_value = after_comma = false;
	}
	return TL_REPAIR_DONE;
}

int tl__kineto_repair(tl_kineto *k, const char *p, const char **after)
{
	static const char padding[TL_JSON_PAD];
	repair r = {.p = p, .end = k->scan.end, .eof = k->eof, .out = &k->repaired};
	r.in_vain = k->in_vain;
	r.may_be_in_vain = ALWAYS_IN_VAIN + TIMES_IN_VAIN * k->repaired_bytes;
	tl__buf_clear(r.out);
	tl_kineto_repaired is = rewrite(&r);
	size_t n = r.out->n;
	tl__buf_put(r.out, padding, sizeof padding);
	if (r.out->failed) {
		tl__buf_free(r.out);
		return TL_ENOMEM;
	}
	r.out->n = n;
	if (is != TL_REPAIR_MORE) { /* else the same comes again with more text */
		k->in_vain = r.in_vain;
		k->repaired_bytes += (uint64_t)(r.p - p);
	}
	if (is != TL_REPAIR_DONE)
		return is;
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++)
		for (uint32_t i = 0; i < r.count[kind]; i++)
			tl__health_add(&k->store->health, (tl_health_kind)kind, tl__kineto_offset(k, r.first[kind]),
				       (tl_row)k->store->n, 0, NULL);
	*after = r.p;
	return is;
}
