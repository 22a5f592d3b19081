/* SPDX-License-Identifier: MIT */
#include "trace/kineto.h"

#include <string.h>

#include "trace/kineto_pipeline.h"
#include "trace/kineto_window.h"
#include "trace/raw.h"
#include "util/error.h"
#include "util/value.h"

enum {
	LARGEST_METADATA = 1 << 20, /* metadata values up to this size are kept */
	LARGEST_EVENT = 1 << 28,    /* what does not end within that is not an event */
};

/* What the file turned out to hold, for the message when it is no trace. */
typedef struct contents {
	bool list;       /* a list of events was there */
	bool nodes;      /* PyTorch execution trace */
	bool rocprof;    /* rocprofv3 JSON */
	bool other_list; /* a list of something else */
	bool object;
	char head[512]; /* the first bytes */
	size_t head_size;
} contents;

static int64_t here(const tl_kineto *k)
{
	return tl__kineto_offset(k, k->p);
}

/* Whether the store could be had shows at the end of the list (see read_events). */
static void note(tl_kineto *k, tl_health_kind kind, const char *detail)
{
	if (tl__kineto_drain(k) == 0)
		tl__health_add(&k->store->health, kind, here(k), TL_ROW_NONE, 0, detail);
}

/* The file ends in the middle; counted once. The store must be had already. */
static void note_truncated(tl_kineto *k)
{
	if (!k->store->truncated)
		note(k, TL_HEALTH_TRUNCATED, NULL);
	k->store->truncated = true;
}

/* ---- events ---- */

/* Keeps the text of the row that was just added, where that is wanted. */
static int keep_text(tl_kineto *k, const char *text, size_t n)
{
	return k->raw ? tl__raw_add(k->raw, text, n) : 0;
}

/*
 * Goes on at the next place where an event begins, the list ends or another list begins; nothing
 * between is kept. Returns the boundary, TL_BOUNDARY_NO at the end of the file, or a TL_E code.
 */
static int resynchronise(tl_kineto *k)
{
	const char *q = k->p + 1, *next = NULL;
	for (;;) {
		while (q < k->scan.end && *q != '}' && *q != '"')
			q++;
		tl_kineto_boundary is = TL_BOUNDARY_MORE;
		if (q < k->scan.end)
			is = tl__kineto_boundary_at(q, k->scan.end, k->eof, &next);
		else if (k->eof)
			is = TL_BOUNDARY_END, next = k->scan.end;
		switch (is) {
		case TL_BOUNDARY_NO:
			q++;
			break;
		case TL_BOUNDARY_MORE:
			k->p = q;
			TL_TRY(tl__kineto_refill(k));
			q = k->p;
			break;
		default:
			k->p = next;
			return next >= k->scan.end && k->eof ? TL_BOUNDARY_NO : (int)is;
		}
	}
}

/*
 * A place where no event can be read although one should be there. 1: goes on at the next event (behind
 * its comma), 0: at the end of the list or file.
 */
static int skip_unreadable(tl_kineto *k, const char *detail)
{
	TL_TRY(tl__kineto_drain(k));
	TL_TRY(tl__kineto_add_empty(k, TL_HEALTH_UNREADABLE_EVENT, here(k), detail));
	TL_TRY(keep_text(k, "", 0));
	int is = resynchronise(k);
	if (is == TL_BOUNDARY_LIST)
		note(k, TL_HEALTH_SEVERAL_WRITERS, NULL);
	return is < 0 ? is : is == TL_BOUNDARY_EVENT || is == TL_BOUNDARY_LIST;
}

/* The file ends inside an event, unless what follows is only broken. */
static int end_in_event(tl_kineto *k)
{
	const char *next;
	for (const char *q = k->p + 1; q < k->scan.end; q++)
		if (*q == '}' || *q == '"') {
			tl_kineto_boundary is = tl__kineto_boundary_at(q, k->scan.end, false, &next);
			if (is == TL_BOUNDARY_EVENT || is == TL_BOUNDARY_LIST)
				return skip_unreadable(k, NULL);
		}
	note(k, TL_HEALTH_TRUNCATED, NULL);
	k->store->truncated = true;
	k->p = k->scan.end;
	return 0;
}

/* An event was read from the text [p, after); `after` of the window is where to go on. */
static int keep_event(tl_kineto *k, const char *p, const char *after)
{
	k->event->offset = here(k);
	TL_TRY(tl__kineto_put(k));
	return keep_text(k, p, (size_t)(after - p));
}

/* The event at `p`, which is `{`; the strict way, else repaired, else left out. Returns as skip_unreadable. */
static int read_event(tl_kineto *k)
{
	for (;;) {
		const char *after = tl__kineto_scan(k->event, &k->steps, &k->scratch, &k->scan, k->p);
		if (after) {
			TL_TRY(keep_event(k, k->p, after));
			k->p = after;
			return 0;
		}
		bool more = k->scan.stop >= k->scan.end, endless = k->scan.end - k->p > LARGEST_EVENT;
		if (more && !k->eof && !endless) {
			TL_TRY(tl__kineto_refill(k));
			continue;
		}
		TL_TRY(tl__kineto_drain(k));
		int repaired = tl__kineto_repair(k, k->p, &after);
		if (repaired < 0)
			return repaired;
		if (repaired == TL_REPAIR_MORE && !endless) {
			TL_TRY(tl__kineto_refill(k));
			continue;
		}
		if (repaired == TL_REPAIR_DONE) {
			const char *text = k->repaired.v, *end = text + k->repaired.n;
			tl_kineto_scratch none = {0};
			tl_json_scan scan = {.end = end};
			if (tl__kineto_scan(k->event, &k->steps, &none, &scan, text)) {
				TL_TRY(keep_event(k, text, end));
				TL_TRY(tl__kineto_drain(k)); /* the text does not last */
				k->p = after;
				return 0;
			}
		}
		return more && k->eof ? end_in_event(k) : skip_unreadable(k, NULL);
	}
}

/* An element that is a number, a text, a list ...: it takes a UID and nothing else. */
static int read_non_event(tl_kineto *k)
{
	for (;;) {
		tl_json_token token;
		const char *after = tl__json_scan_value(&k->scan, k->p, &token);
		if (after && after < k->scan.end) {
			TL_TRY(tl__kineto_drain(k));
			TL_TRY(tl__kineto_add_empty(k, TL_HEALTH_NOT_AN_EVENT, here(k), NULL));
			TL_TRY(keep_text(k, k->p, (size_t)(after - k->p)));
			k->p = after;
			return 0;
		}
		bool more = after || k->scan.stop >= k->scan.end;
		if (more && !k->eof && k->scan.end - k->p <= LARGEST_EVENT) {
			TL_TRY(tl__kineto_refill(k));
			continue;
		}
		return more && k->eof ? end_in_event(k) : skip_unreadable(k, NULL);
	}
}

static int read_elements(tl_kineto *k, bool may_end)
{
	bool comma = true; /* an event may begin here */
	bool any = false;
	for (;;) {
		TL_TRY(tl__kineto_skip_blank(k));
		char c = *k->p;
		if (tl__kineto_at_end(k)) {
			if (!may_end) {
				TL_TRY(tl__kineto_drain(k));
				note_truncated(k);
			}
			return 0;
		}
		if (c == ',') {
			if (comma)
				note(k, TL_HEALTH_TRAILING_COMMA, NULL);
			comma = true;
			k->p++;
			continue;
		}
		if (c == ']') {
			if (comma && any)
				note(k, TL_HEALTH_TRAILING_COMMA, "before the closing bracket");
			k->p++;
			return 0;
		}
		if (c == '}' && !may_end) {
			note(k, TL_HEALTH_TRAILING_JUNK, "'}' where ']' should be");
			return 0;
		}
		if (c == '\0' && may_end)
			return 0; /* padding of an unclosed list */
		if (!comma)
			note(k, TL_HEALTH_TRAILING_COMMA, "missing between two events");
		int next = c == '{' ? read_event(k) : read_non_event(k);
		if (next < 0)
			return next;
		any = true;
		comma = next > 0;
	}
}

/*
 * The events of a list, behind its opening bracket, to behind its closing one. `may_end`: the format lets the
 * bracket be missing at the end of the file (list without a document around it).
 */
static int read_events(tl_kineto *k, bool may_end)
{
	TL_TRY(read_elements(k, may_end));
	return tl__kineto_drain(k);
}

/* ---- documents ---- */

/* Skips a value of any size: brackets and strings are followed, nothing is kept. */
static int skip_value(tl_kineto *k)
{
	uint64_t depth = 0;
	bool in_string = false, started = false;
	for (;;) {
		const char *p = k->p;
		for (; p < k->scan.end; p++) {
			char c = *p;
			if (in_string) {
				if (c == '\\' && p + 1 < k->scan.end)
					p++;
				else if (c == '\\' && !k->eof)
					break; /* the escaped byte comes with the next text */
				else if (c == '"')
					in_string = false;
			} else if (c == '"') {
				in_string = started = true;
			} else if (c == '{' || c == '[') {
				depth++;
				started = true;
			} else if (c == '}' || c == ']') {
				if (!depth)
					goto done;
				depth--;
			} else if (c == ',' && !depth) {
				goto done;
			} else if (!tl__json_is_blank(c)) {
				started = true;
				continue;
			} else {
				continue;
			}
			if (started && !depth && !in_string) {
				p++;
				goto done;
			}
		}
		k->p = p;
		if (k->eof)
			return 0;
		TL_TRY(tl__kineto_refill(k));
		continue;
	done:
		k->p = p;
		return 0;
	}
}

static int keep_metadata(tl_kineto *k, tl_str key, const tl_json_token *token)
{
	tl_store *store = k->store;
	size_t n;
	const char *text = tl__json_token_text(token, &n);
	tl__buf_clear(&k->text);
	unsigned odd = tl__json_compact(&k->text, text, n);
	if (odd & TL_JSON_ODD_WORD)
		note(k, TL_HEALTH_NOT_A_NUMBER, NULL);
	if (odd & TL_JSON_ODD_COMMA)
		note(k, TL_HEALTH_TRAILING_COMMA, NULL);
	if (odd & TL_JSON_ODD_SPELLING)
		note(k, TL_HEALTH_ODD_NUMBER, NULL);
	tl_buf plain = {0};
	tl__json_plain_strings(&plain, k->text.v, k->text.n);
	tl_str value = plain.failed || k->text.failed ? TL_STR_FAIL : tl__intern(store->strings, plain.v, plain.n);
	tl__buf_free(&plain);
	if (value == TL_STR_FAIL)
		return TL_ENOMEM;
	if (!strcmp(tl__str(store->strings, key), "baseTimeNanoseconds") && k->document == 0) {
		tl_int128 ps;
		bool fraction;
		const char *number = tl__kineto_plain(k, token, &n);
		if (!number)
			return TL_ENOMEM;
		if ((token->type == TL_JSON_NUMBER || token->type == TL_JSON_STRING) &&
		    tl__decimal_ps(&ps, &fraction, number, n) == TL_DECIMAL_OK && ps / TL_PS_PER_US <= INT64_MAX &&
		    ps / TL_PS_PER_US >= INT64_MIN)
			store->base_ns = (int64_t)(ps / TL_PS_PER_US);
	}
	TL_TRY(TL_VEC_PUSH(&store->metadata_keys, key));
	if (TL_VEC_PUSH(&store->metadata_values, value) < 0) {
		store->metadata_keys.n--;
		return TL_ENOMEM;
	}
	return 0;
}

/* The value of a top-level key other than traceEvents. */
static int read_metadata(tl_kineto *k, tl_str key)
{
	for (;;) {
		tl_json_token token;
		const char *after = tl__json_scan_value(&k->scan, k->p, &token);
		/* a number or word at the end of the text may go on */
		if (after && (after < k->scan.end || k->eof)) {
			if (token.n <= LARGEST_METADATA)
				TL_TRY(keep_metadata(k, key, &token));
			k->p = after;
			return 0;
		}
		bool more = after || k->scan.stop >= k->scan.end;
		if (!more || k->eof || k->scan.end - k->p > LARGEST_METADATA)
			return skip_value(k);
		TL_TRY(tl__kineto_refill(k));
	}
}

/* A string at `p`, a key: interned. 1: read, 0: there is none, or a TL_E code. */
static int read_key(tl_kineto *k, tl_str *key)
{
	tl_json_token token;
	for (;;) {
		if (*k->p != '"')
			return 0;
		const char *after = tl__json_scan_string(&k->scan, k->p + 1, &token);
		if (after) {
			tl__buf_clear(&k->text);
			tl__buf_put(&k->text, token.p, token.n);
			if (!tl__buf_text(&k->text))
				return TL_ENOMEM;
			size_t n = tl__json_unescape(k->text.v, k->text.v, token.n);
			*key = tl__intern(k->store->strings, k->text.v, n);
			k->p = after;
			return *key == TL_STR_FAIL ? TL_ENOMEM : 1;
		}
		if (k->scan.stop < k->scan.end)
			return 0;
		if (k->eof) {
			k->p = k->scan.end;
			return 0;
		}
		TL_TRY(tl__kineto_refill(k));
	}
}

/* Behind something unreadable in a document: goes on at the next list of events, if there is one. */
static int find_list(tl_kineto *k)
{
	for (;;) {
		int is = resynchronise(k);
		if (is < 0)
			return is;
		if (is == TL_BOUNDARY_NO)
			return 0;
		if (is == TL_BOUNDARY_LIST)
			return 1;
	}
}

static int end_in_document(tl_kineto *k)
{
	note_truncated(k);
	return 0;
}

/* Where a key should be and is none: goes on with the next list of events. 1, or 0: there is no more text. */
static int read_next_list(tl_kineto *k, contents *found)
{
	if (tl__kineto_at_end(k))
		return 0;
	note(k, TL_HEALTH_UNREADABLE_EVENT, "between the top-level keys");
	int is = find_list(k);
	if (is <= 0)
		return is;
	found->list = true;
	TL_TRY(read_events(k, false));
	return 1;
}

/* "key": value of a document; `lists`: it had a list of events. 1, or 0: there is no more text. */
static int read_member(tl_kineto *k, contents *found, bool *lists)
{
	tl_str key = TL_STR_NONE;
	int is = read_key(k, &key);
	if (is > 0) {
		TL_TRY(tl__kineto_skip_blank(k));
		is = *k->p == ':';
	}
	if (is < 0)
		return is;
	if (!is) {
		is = read_next_list(k, found);
		*lists |= is > 0;
		return is;
	}
	k->p++;
	TL_TRY(tl__kineto_skip_blank(k));
	const char *name = tl__str(k->store->strings, key);
	found->nodes |= !strcmp(name, "nodes");
	found->rocprof |= !strcmp(name, "rocprofiler-sdk-tool");
	if (!strcmp(name, "traceEvents") && *k->p == '[') {
		if (*lists)
			note(k, TL_HEALTH_SEVERAL_WRITERS, "traceEvents comes twice");
		*lists = found->list = true;
		k->p++;
		TL_TRY(read_events(k, false));
	} else {
		TL_TRY(read_metadata(k, key));
	}
	return 1;
}

/* {"traceEvents": [...], ...}, from its brace on. */
static int read_document(tl_kineto *k, contents *found)
{
	bool lists = false;
	enum { BRACE, MEMBER, COMMA } before = BRACE;
	k->p++;
	found->object = true;
	for (;;) {
		TL_TRY(tl__kineto_skip_blank(k));
		if (tl__kineto_at_end(k))
			return end_in_document(k);
		/* one comma stands between two members, and none elsewhere */
		if (*k->p == ',' ? before != MEMBER : (*k->p == '}') == (before == COMMA) && before != BRACE)
			note(k, TL_HEALTH_TRAILING_COMMA, NULL);
		if (*k->p == '}') {
			k->p++;
			return 0;
		}
		if (*k->p == ',') {
			k->p++;
			before = COMMA;
			continue;
		}
		before = MEMBER;
		int is = read_member(k, found, &lists);
		if (is <= 0)
			return is < 0 ? is : end_in_document(k);
	}
}

/* Whether the object at `p` is an event that stands alone (lines of events, no list around them). */
static int is_lone_event(tl_kineto *k)
{
	tl_json_token key;
	for (;;) { /* a document is known by its first key, without reading on */
		const char *first = tl__json_blank(k->p + 1);
		if (*first == '"' && tl__json_scan_string(&k->scan, first + 1, &key))
			break;
		bool more = first >= k->scan.end || (*first == '"' && k->scan.stop >= k->scan.end);
		if (!more || k->eof || k->scan.end - k->p > LARGEST_METADATA)
			return 0;
		TL_TRY(tl__kineto_refill(k));
	}
	if (!tl__kineto_is_event_key(key.p, key.n))
		return 0;
	while (!tl__kineto_scan(k->event, &k->steps, &k->scratch, &k->scan, k->p)) {
		if (k->scan.stop < k->scan.end || k->eof || k->scan.end - k->p > LARGEST_METADATA)
			return 0;
		TL_TRY(tl__kineto_refill(k));
	}
	char phase = tl__kineto_phase(k->event);
	return phase && phase != '?';
}

/* White space, byte order mark, stray commas and zero bytes between documents. True: something else than blanks. */
static int skip_between(tl_kineto *k, bool *junk)
{
	*junk = false;
	for (;;) {
		TL_TRY(tl__kineto_skip_blank(k));
		if (tl__kineto_at_end(k))
			return 0;
		if (k->scan.end - k->p < 3 && !k->eof)
			TL_TRY(tl__kineto_refill(k));
		if (here(k) == 0 && !memcmp(k->p, "\xef\xbb\xbf", 3)) {
			k->p += 3;
		} else if (*k->p == ',' || *k->p == '\0') {
			*junk |= *k->p == ',';
			k->p++;
		} else {
			return 0;
		}
	}
}

/* Goes on behind a document: another one, or bytes that mean nothing. False: the file is done. */
static int next_document(tl_kineto *k, bool *more)
{
	bool junk;
	*more = false;
	TL_TRY(skip_between(k, &junk));
	if (tl__kineto_at_end(k))
		return 0;
	if (*k->p == '{' || *k->p == '[') {
		k->document++;
		tl__kineto_forget_tracks(k);
		*more = true;
		return 0;
	}
	note(k, TL_HEALTH_TRAILING_JUNK, NULL);
	k->p = k->scan.end;
	while (!k->eof) {
		TL_TRY(tl__kineto_refill(k));
		k->p = k->scan.end;
	}
	return 0;
}

static bool contains(const contents *found, const char *text)
{
	return memmem(found->head, found->head_size, text, strlen(text)) != NULL;
}

/* One line that says what the file is instead of a trace. */
static int not_a_trace(tl_kineto *k, const contents *found)
{
	size_t skip = 0;
	while (skip < found->head_size && tl__json_is_blank(found->head[skip]))
		skip++;
	char c = skip < found->head_size ? found->head[skip] : '\0';
	const char *message = "this is not JSON; a PyTorch profiler trace (export_chrome_trace) is expected";
	tl_source_state state;
	tl__source_state(k->source, &state);
	if (!found->head_size && (state.truncated || state.damaged))
		return tl__fail(k->err, TL_EFORMAT, "nothing could be unpacked: %s", state.note);
	if (!found->head_size && state.packed_done)
		message = "the packed file holds 0 bytes; the profiler did not finish writing it";
	else if (!found->head_size)
		message = "the file is empty (0 bytes); the profiler did not finish writing it";
	else if (skip == found->head_size)
		message = "the file holds nothing but white space";
	else if (found->nodes)
		message = "this is a PyTorch execution trace (ExecutionTraceObserver), not a profiler trace; "
			  "use the file that export_chrome_trace wrote";
	else if (found->rocprof)
		message = "this is a rocprofv3 JSON file, not a PyTorch profiler trace; "
			  "use the rocprof report for it";
	else if (found->other_list)
		message = "this JSON list holds no trace events";
	else if (found->object && (k->store->truncated || state.truncated || state.incomplete))
		message = "no 'traceEvents' in this JSON file as far as it goes: it is cut off or broken";
	else if (found->object)
		message = "this JSON file has no 'traceEvents'; it is not a PyTorch profiler trace";
	else if (c == '<')
		message = "this is an HTML or XML page, not a trace; the download probably failed";
	else if (contains(found, "/host:") || contains(found, "/device:"))
		message = "this is an XPlane protobuf (JAX, TensorFlow), not a PyTorch profiler trace; "
			  "use the JAX report for it";
	else if (found->head[0] == '\n' && found->head_size > 1)
		message = "this looks like a protobuf file (Perfetto or XPlane), not a JSON trace; "
			  "export the trace as JSON";
	else if (c == '{' || c == '[')
		message = "this file starts like JSON but cannot be read";
	return tl__fail(k->err, TL_EFORMAT, "%s", message);
}

/* From the first byte to the last. */
static int read_file(tl_kineto *k, contents *found)
{
	bool junk, more = true;
	TL_TRY(tl__kineto_refill(k));
	size_t n = (size_t)(k->scan.end - k->p);
	found->head_size = n < sizeof found->head ? n : sizeof found->head;
	memcpy(found->head, k->p, found->head_size);

	TL_TRY(skip_between(k, &junk));
	if (junk)
		note(k, TL_HEALTH_LEADING_JUNK, NULL);
	if (*k->p != '{' && *k->p != '[')
		return tl__kineto_at_end(k) ? 0 : not_a_trace(k, found);
	while (more) {
		int lone = 0;
		if (*k->p == '{')
			lone = is_lone_event(k);
		if (lone < 0)
			return lone;
		if (lone) {
			found->list = true;
			TL_TRY(read_events(k, true));
		} else if (*k->p == '{') {
			TL_TRY(read_document(k, found));
		} else {
			uint64_t before = k->events, rows = k->store->n;
			k->p++;
			TL_TRY(read_events(k, true));
			if (k->events == before && k->store->n > rows)
				found->other_list = true;
			else
				found->list = true;
		}
		TL_TRY(next_document(k, &more));
		if (more)
			tl__health_add(&k->store->health, TL_HEALTH_SEVERAL_DOCUMENTS, here(k), TL_ROW_NONE, 0, NULL);
	}
	return 0;
}

static int count_phases(tl_kineto *k)
{
	for (int c = 0; c < 256; c++) {
		char letter = (char)c;
		if (!k->phases[c])
			continue;
		tl_count phase = {.name = tl__intern(k->store->strings, &letter, c ? 1 : 0), .count = k->phases[c]};
		if (phase.name == TL_STR_FAIL)
			return TL_ENOMEM;
		TL_TRY(TL_VEC_PUSH(&k->store->phases, phase));
	}
	return 0;
}

/* What the container said about its end. */
static void note_container(tl_kineto *k)
{
	tl_source_state state;
	tl__source_state(k->source, &state);
	if (state.damaged)
		note(k, TL_HEALTH_BAD_CONTAINER, state.note);
	/* damage behind which everything came out (a wrong checksum) is no end in the middle */
	if ((state.truncated || state.incomplete) && !k->store->truncated) {
		k->store->truncated = true;
		note(k, TL_HEALTH_TRUNCATED, state.note);
	}
	if (state.trailing_junk)
		note(k, TL_HEALTH_TRAILING_JUNK, state.note);
}

/* Strict: the repair that comes first in the file is the error. */
static int refuse_repairs(tl_kineto *k)
{
	const tl_health *health = &k->store->health;
	int first = -1;
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++) {
		const tl_health_entry *entry = &health->entry[kind];
		if (entry->count && tl__health_is_repair((tl_health_kind)kind) &&
		    (first < 0 || (uint64_t)entry->first_offset < (uint64_t)health->entry[first].first_offset))
			first = kind;
	}
	if (first < 0)
		return 0;
	int64_t offset = health->entry[first].first_offset;
	tl__fail(k->err, TL_ESTRICT, "%s at byte %lld: %s", tl__health_name((tl_health_kind)first), (long long)offset,
		 tl__health_text((tl_health_kind)first));
	tl__error_where(k->err, k->store->path ? k->store->path : "", offset);
	return TL_ESTRICT;
}

static int import(tl_kineto *k)
{
	contents found = {0};
	TL_TRY(read_file(k, &found));
	k->store->text_bytes = (uint64_t)tl__kineto_offset(k, k->scan.end);
	if (!found.list)
		return not_a_trace(k, &found);
	k->store->sources = k->document + 1;
	note_container(k);
	TL_TRY(tl__kineto_settle_times(k));
	TL_TRY(count_phases(k));
	if (k->store->raw)
		TL_TRY(tl__raw_seal(k->store->raw));
	return k->options && k->options->strict ? refuse_repairs(k) : 0;
}

int tl__kineto_import(tl_store *store, tl_source *source, const tl_trace_options *options, tl_error *err)
{
	tl_kineto *k = tl__calloc(1, sizeof *k);
	if (!k)
		return tl__nomem(err);
	k->store = store;
	k->raw = store->raw;
	k->source = source;
	k->options = options;
	k->err = err;
	tl__kineto_forget_tracks(k);

	tl__kineto_open_window(k);
	int code = tl__kineto_open_pipeline(k);
	if (code == 0)
		code = import(k);
	tl__kineto_close_pipeline(k);
	if (code == TL_ENOMEM)
		tl__nomem(err);
	else if (code == TL_ELIMIT)
		tl__fail(err, code, "more than 4 294 967 294 events");

	tl__buf_free(&k->text);
	tl__buf_free(&k->repaired);
	tl__map_free(&k->categories);
	TL_VEC_FREE(&k->zero);
	TL_VEC_FREE(&k->far);
	TL_VEC_FREE(&k->spans);
	tl__free(k);
	return code;
}
