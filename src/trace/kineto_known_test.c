/* SPDX-License-Identifier: MIT */
/* Texts that came before: the table of them, and loading where names and lists repeat, change, and are too many. */
#include "trace/kineto_known.h"

#include "trace/trace_testing.h"
#include "util/buf.h"

static tl_known *new_known(void)
{
	tl_known *known = malloc(sizeof *known);
	assert_non_null(known);
	tl__known_clear(known);
	return known;
}

static uint16_t add_name(tl_known *known, const char *text)
{
	return tl__known_add(known, text, strlen(text), NULL, 0);
}

/* The text is padded, as the scanner's is. */
static uint16_t at(tl_known *known, uint16_t guess[2], const char *text, size_t left)
{
	char padded[128] = {0};
	snprintf(padded, sizeof padded, "%s", text);
	return tl__known_at(known, guess, padded, left);
}

static void texts_have_numbers(void **state)
{
	tl_known *known = new_known();
	(void)state;
	uint16_t a = add_name(known, "aten::mm\""), b = add_name(known, "aten::mul\"");
	uint16_t list = tl__known_add(known, "[[1, 2], [ ]]", 13, "[[1,2],[]]", 10);
	assert_int_not_equal(a, 0);
	assert_int_not_equal(b, 0);
	assert_int_not_equal(a, b);
	assert_int_not_equal(list, 0);
	assert_int_equal(add_name(known, "aten::mm\""), a);
	assert_int_equal(add_name(known, "aten::mul\""), b);
	assert_int_equal(tl__known_add(known, "[[1, 2], [ ]]", 13, "[[1,2],[]]", 10), list);
	assert_int_equal(known->text[a].value_n, 8);
	assert_memory_equal(known->room + known->text[a].at, "aten::mm\"", 9);
	assert_int_equal(known->text[list].n, 13);
	assert_int_equal(known->text[list].value_n, 10);
	assert_memory_equal(known->room + known->text[list].at + 13, "[[1,2],[]]", 10);
	free(known);
}

static void guesses(void **state)
{
	tl_known *known = new_known();
	uint16_t guess[2] = {0, 0};
	(void)state;
	uint16_t a = add_name(known, "a\""), ab = add_name(known, "ab\"");
	assert_int_equal(at(known, guess, "a\",", 3), 0); /* nothing came here before */
	tl__known_learn(guess, a);
	assert_int_equal(at(known, guess, "a\",", 3), a);
	assert_int_equal(at(known, guess, "ab\",", 4), 0); /* not one that merely begins alike */
	tl__known_learn(guess, ab);
	assert_int_equal(at(known, guess, "ab\",", 4), ab);
	assert_int_equal(at(known, guess, "a\",", 3), a); /* the one before it, which comes first now */
	assert_int_equal(guess[0], a);
	assert_int_equal(guess[1], ab);
	assert_int_equal(at(known, guess, "a\"", 2), a);
	assert_int_equal(at(known, guess, "a", 1), 0); /* cut off */
	tl__known_learn(guess, a);
	assert_int_equal(guess[1], ab);
	free(known);
}

/* A name may begin as a list does, `[7]x`: where names are guessed, no list is, and the other way round. */
static void names_are_not_lists(void **state)
{
	enum { PLACES = 1 << TL_KNOWN_GUESS_BITS };
	tl_known *known = new_known();
	uint8_t of[PLACES] = {0};
	(void)state;
	for (int i = 0; i < TL_KNOWN_TEXTS; i++) {
		known->name[0] = (uint16_t)(i * 7 % TL_KNOWN_TEXTS);
		known->name[1] = (uint16_t)(i * 13 % TL_KNOWN_TEXTS);
		known->list[0] = (uint16_t)i;
		known->list[1] = (uint16_t)(i * 5 % TL_KNOWN_TEXTS);
		of[(uint16_t(*)[2])tl__known_next_name(known) - known->guess] |= 1;
		of[(uint16_t(*)[2])tl__known_next_list(known, (uint32_t)i % 40) - known->guess] |= 2;
	}
	int names = 0, lists = 0;
	for (int i = 0; i < PLACES; i++) {
		assert_int_not_equal(of[i], 3);
		names += of[i] == 1;
		lists += of[i] == 2;
	}
	assert_true(names > PLACES / 4); /* half of the places, less what comes together by chance */
	assert_true(lists > PLACES / 4);
	free(known);
}

static void there_is_an_end(void **state)
{
	tl_known *known = new_known();
	char text[TL_KNOWN_LONGEST + 2];
	(void)state;
	memset(text, 'x', sizeof text);
	assert_int_equal(tl__known_add(known, text, TL_KNOWN_LONGEST + 1, NULL, 0), 0);
	assert_false(known->full); /* too long is no reason to begin anew */
	uint16_t longest = tl__known_add(known, text, TL_KNOWN_LONGEST, NULL, 0);
	assert_int_not_equal(longest, 0);

	unsigned n = 2;
	for (;; n++) {
		snprintf(text, sizeof text, "%u\"", n);
		if (!add_name(known, text))
			break;
	}
	assert_int_equal(n, TL_KNOWN_TEXTS);
	assert_true(known->full);
	assert_int_not_equal(add_name(known, "17\""), 0); /* those that are there stay */
	tl__known_clear(known);
	assert_false(known->full);
	assert_int_equal(add_name(known, "17\""), 1);

	/* the room may end first, between a text and its value too */
	tl__known_clear(known);
	for (n = 0; !known->full; n++) {
		snprintf(text, sizeof text, "%01000u", n);
		tl__known_add(known, text, 1000, text, 1000);
	}
	assert_int_equal(n, TL_KNOWN_ROOM / 2000 + 1);
	assert_true(known->used <= TL_KNOWN_ROOM);
	assert_int_equal(known->n, TL_KNOWN_ROOM / 2000 + 1);
	free(known);
}

/* ---- loading ---- */

static tl_trace *open_buf(const tl_buf *text, bool single_thread)
{
	tl_trace_options options = {.single_thread = single_thread};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	if (tl_trace_open_memory(&trace, text->v, text->n, &options, &err) < 0)
		fail_msg("%s: %s", tl_code_name(err.code), err.message);
	return trace;
}

enum { ROUNDS = 3 };
static const struct {
	int events, names, lists;
} mixes[] = {
	{400, 7, 5},                                                   /* all are known */
	{3 * TL_KNOWN_TEXTS, 2 * TL_KNOWN_TEXTS, 3},                   /* too many names */
	{2 * TL_KNOWN_TEXTS, 11, TL_KNOWN_TEXTS + TL_KNOWN_TEXTS / 2}, /* too many lists */
};

/* Each event has the name and list that were written, whatever came before. */
static void each_has_its_own(void **state)
{
	(void)state;
	for (size_t mix = 0; mix < sizeof mixes / sizeof *mixes; mix++) {
		int n = mixes[mix].events;
		tl_buf text = {0};
		tl__buf_puts(&text, "[");
		for (int i = 0; i < ROUNDS * n; i++)
			tl__buf_printf(&text,
				       "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n%d\",\"ts\":%d,\"dur\":1,"
				       "\"args\":{\"Input Dims\":[[%d, 2], [ ]],\"Input type\":[\"t%d\"]}}",
				       i ? ",\n" : "", i % mixes[mix].names, i, i % mixes[mix].lists,
				       i % mixes[mix].lists % 3);
		tl__buf_puts(&text, "]");
		for (int single = 0; single < 2; single++) {
			tl_trace *trace = open_buf(&text, single);
			const tl_store *s = trace->store;
			assert_healthy(trace);
			assert_int_equal(s->n, ROUNDS * n);
			for (int i = 0; i < ROUNDS * n; i++) {
				char name[32], dims[32], types[32];
				snprintf(name, sizeof name, "n%d", i % mixes[mix].names);
				snprintf(dims, sizeof dims, "[[%d,2],[]]", i % mixes[mix].lists);
				snprintf(types, sizeof types, "[\"t%d\"]", i % mixes[mix].lists % 3);
				const tl_op_args *args = tl__op_args(s, (tl_row)i);
				assert_string_equal(tl__name(s, (tl_row)i), name);
				assert_string_equal(tl__str(s->strings, args->dims), dims);
				assert_string_equal(tl__str(s->strings, args->types), types);
			}
			tl_trace_free(trace);
		}
		tl__buf_free(&text);
	}
}

/* Spellings of a name and a list that mean the same or nearly so, each twice in any order. */
static void spellings(void **state)
{
	static const struct {
		const char *name, *is, *dims, *compact;
	} as[] = {
		{"a", "a", "[1,2]", "[1,2]"},
		{"\\u0061", "a", "[1, 2]", "[1,2]"},
		{"ab", "ab", "[ 1,2 ]", "[1,2]"},
		{"a\\\"", "a\"", "[1,23]", "[1,23]"},
		{"[1,2]", "[1,2]", "[\"[1,2]\"]", "[\"[1,2]\"]"},
		{"\xc3\xa4", "\xc3\xa4", "[\"\xc3\xa4\"]", "[\"\xc3\xa4\"]"},
		{"", "", "[]", "[]"},
	};
	enum { KINDS = sizeof as / sizeof *as };
	(void)state;
	for (int step = 1; step < KINDS; step++) {
		tl_buf text = {0};
		tl__buf_puts(&text, "[");
		for (int i = 0; i < 4 * KINDS; i++)
			tl__buf_printf(&text,
				       "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":%d,\"dur\":1,"
				       "\"args\":{\"Input Dims\":%s}}",
				       i ? "," : "", as[i * step % KINDS].name, i, as[i / 2 * step % KINDS].dims);
		tl__buf_puts(&text, "]");
		tl_trace *trace = open_buf(&text, false);
		const tl_store *s = trace->store;
		for (int i = 0; i < 4 * KINDS; i++) {
			assert_string_equal(tl__name(s, (tl_row)i), as[i * step % KINDS].is);
			assert_string_equal(tl__str(s->strings, tl__op_args(s, (tl_row)i)->dims),
					    as[i / 2 * step % KINDS].compact);
		}
		tl_trace_free(trace);
		tl__buf_free(&text);
	}
}

/* A category that is a number is that number, whichever names and threads came before. */
static void categories_that_are_numbers(void **state)
{
	/* the two share a place among the categories that were met last */
	static const char *const written[] = {"5", "\"U\""}, *const is[] = {"5", "U"};
	enum { EVENTS = 300 };
	tl_buf text = {0};
	(void)state;
	tl__buf_puts(&text, "[");
	for (int i = 0; i < EVENTS; i++)
		tl__buf_printf(&text,
			       "%s{\"ph\":\"X\",\"cat\":%s,\"name\":\"n%d\",\"pid\":7,\"tid\":7,\"ts\":%d,\"dur\":1}",
			       i ? "," : "", written[i / 3 % 2], i % 50, i);
	tl__buf_puts(&text, "]");
	tl_trace *trace = open_buf(&text, false);
	const tl_store *s = trace->store;
	assert_int_equal(s->n, EVENTS);
	for (int i = 0; i < EVENTS; i++) {
		char name[32];
		snprintf(name, sizeof name, "n%d", i % 50);
		assert_string_equal(tl__name(s, (tl_row)i), name);
		assert_string_equal(tl__str(s->strings, s->categories.v[s->category[i]]), is[i / 3 % 2]);
		assert_int_equal(s->track[i], 0);
	}
	tl_trace_free(trace);
	tl__buf_free(&text);
}

/* Ids and times at the borders of what the scanner turns into numbers itself, each twice. */
static void numbers(void **state)
{
	static const struct {
		const char *written, *is;
	} ids[] = {
		{"0", "0"},
		{"7", "7"},
		{"7.0", "7"},
		{"7.5", "7.5"},
		{"\"7\"", "7"},
		{"\"stream 7\"", "stream 7"},
		{"9999999999999999", "9999999999999999"},       /* 16 digits */
		{"10000000000000000", "10000000000000000"},     /* 17 */
		{"9223372036854775807", "9223372036854775807"}, /* 2^63 - 1 */
		{"9223372036854775808", "9223372036854775808"}, /* 2^63, a text */
		{"-1", "-1"},
		{"null", ""},
	};
	static const struct {
		const char *ts;
		int64_t ps; /* behind 1 s */
	} times[] = {
		{"1000000", 0},
		{"1000000.000001", 1},
		{"1000000.5", 500000},
		{"1000000.12345678", 123457}, /* beyond a picosecond: rounded */
		{"0001000001.5", 1500000},    /* not as JSON writes it */
		{"1e6", 0},
		{"\"1000002.25\"", 2250000},
		{"9000000.999999", 8000000999999},
	};
	enum { IDS = sizeof ids / sizeof *ids, TIMES = sizeof times / sizeof *times };
	tl_buf text = {0};
	char out[64];
	(void)state;
	tl__buf_puts(&text, "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"base\",\"ts\":1000000,\"dur\":1}");
	for (int i = 0; i < 2 * IDS * TIMES; i++)
		tl__buf_printf(
			&text,
			",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":%s,\"tid\":%s,\"ts\":%s,\"dur\":%s,"
			"\"args\":{\"stream\":%s,\"device\":%s,\"External id\":%s}}",
			ids[i / 2 % IDS].written, ids[i / 2 % IDS].written, times[i % TIMES].ts, times[i % TIMES].ts,
			ids[i % IDS].written, ids[i % IDS].written, ids[i % IDS].written);
	tl__buf_puts(&text, "]");
	tl_trace *trace = open_buf(&text, false);
	const tl_store *s = trace->store;
	for (int i = 0; i < 2 * IDS * TIMES; i++) {
		tl_row row = (tl_row)i + 1;
		const tl_link_args *args = tl__link_args(s, row);
		const char *own = ids[i / 2 % IDS].is, *is = ids[i % IDS].is;
		assert_string_equal(tl__id_text(s, args->stream, out), is);
		assert_string_equal(tl__id_text(s, args->device, out), is);
		assert_string_equal(tl__id_text(s, args->external, out), is);
		assert_int_equal(s->start[row] - s->start[0], times[i % TIMES].ps);
		assert_int_equal(s->dur[row], times[i % TIMES].ps + INT64_C(1000000000000));
		if (*own) {
			const tl_track *track = &s->tracks.v[s->track[row]];
			assert_string_equal(tl__id_text(s, track->pid, out), own);
			assert_string_equal(tl__id_text(s, track->tid, out), own);
		} else {
			assert_int_equal(s->track[row], UINT32_MAX);
		}
	}
	tl_trace_free(trace);
	tl__buf_free(&text);
}

/* The same pid and tid in another document is another thread. */
static void tracks_of_documents(void **state)
{
	tl_buf text = {0};
	(void)state;
	for (int document = 0; document < 2; document++) {
		tl__buf_puts(&text, "[");
		for (int i = 0; i < 6; i++)
			tl__buf_printf(
				&text,
				"%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":7,\"tid\":%d,\"ts\":%d,"
				"\"dur\":1}",
				i ? "," : "", i % 2, i);
		tl__buf_puts(&text, "]\n");
	}
	tl_trace *trace = open_buf(&text, false);
	const tl_store *s = trace->store;
	assert_int_equal(s->n, 12);
	assert_int_equal(s->tracks.n, 4);
	for (tl_row row = 0; row < 12; row++) {
		assert_int_equal(s->tracks.v[s->track[row]].source, row / 6);
		assert_int_equal(s->tracks.v[s->track[row]].tid, row % 2);
	}
	tl_trace_free(trace);
	tl__buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_have_numbers),
		cmocka_unit_test(guesses),
		cmocka_unit_test(there_is_an_end),
		cmocka_unit_test(each_has_its_own),
		cmocka_unit_test(spellings),
		cmocka_unit_test(numbers),
		cmocka_unit_test(tracks_of_documents),
		cmocka_unit_test(names_are_not_lists),
		cmocka_unit_test(categories_that_are_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
