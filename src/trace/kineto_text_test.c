/* SPDX-License-Identifier: MIT */
/* Broken and unusual text: each kind of damage is repaired where it is, counted once, and costs no other event. */
#include "trace/trace_testing.h"
#include "util/buf.h"

/* A clean event to stand beside broken ones. */
#define CLEAN(name) "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1}"
/* An event with this name, written as it stands between the quotes. */
#define NAMED(name)                                         \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name \
	"\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,\"args\":{\"External id\":3}}"
#define TRACE(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "],\"traceName\":\"t\"}"

static void assert_names(const tl_trace *trace, const char *const *names, size_t n)
{
	assert_int_equal(tl_trace_count(trace), n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(name_of(trace, (tl_row)i), names[i]);
}

/* One event with a broken name between clean ones: the name is kept, one finding, the rest is untouched. */
static void check_name(const char *written, tl_health_kind kind, const char *expected)
{
	char text[2048];
	int n = snprintf(text, sizeof text,
			 TRACE(CLEAN("a") ", {\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":1,"
					  "\"ts\":5,\"dur\":1,\"args\":{\"External id\":3}} ," CLEAN("b")),
			 written);
	tl_trace *trace = load_bytes(text, (size_t)n);
	const char *names[] = {"a", expected, "b"};
	assert_names(trace, names, 3);
	assert_only(trace, kind, 1);
	assert_int_equal(trace->store->kind[1], TL_KIND_CPU_OP);
	assert_int_equal(trace->store->dur[1], US(1));
	assert_int_equal(tl__op_args(trace->store, 1)->external, 3);
	assert_false(tl_trace_is_truncated(trace));
	assert_string_equal(text_of(trace, trace->store->metadata_keys.v[1]), "traceName");
	/* the first place is inside the broken event */
	int64_t offset = trace->store->health.entry[kind].first_offset;
	int64_t event = strstr(text, ", {\"ph") + 2 - text;
	assert_in_range(offset, event, event + 40 + (int64_t)strlen(written));
	assert_int_equal(trace->store->health.entry[kind].first_row, 1);
	tl_trace_free(trace);
	/* strict mode names it */
	tl_error err = load_error(text, (size_t)n, true);
	assert_int_equal(err.code, TL_ESTRICT);
	assert_int_equal(err.offset, offset);
	assert_non_null(strstr(err.message, tl__health_name(kind)));
}

static void unescaped_quotes(void **state)
{
	(void)state;
	check_name("{\"k\": \"v\", \"n\": \"w\"}(3): go", TL_HEALTH_UNESCAPED_QUOTE,
		   "{\"k\": \"v\", \"n\": \"w\"}(3): go");
	check_name("na\"me", TL_HEALTH_UNESCAPED_QUOTE, "na\"me");
	check_name("\"", TL_HEALTH_UNESCAPED_QUOTE, "\"");
	check_name("\"quoted\"", TL_HEALTH_UNESCAPED_QUOTE, "\"quoted\"");
	check_name("f(\"a\", \"b\")", TL_HEALTH_UNESCAPED_QUOTE, "f(\"a\", \"b\")");
	check_name("t = make(\"a\", \"b\")\n(1): <module>", TL_HEALTH_UNESCAPED_QUOTE,
		   "t = make(\"a\", \"b\")\n(1): <module>");
	check_name("[\"x\", {\"y\": [1]}]", TL_HEALTH_UNESCAPED_QUOTE, "[\"x\", {\"y\": [1]}]");
	check_name("a {\"unbalanced", TL_HEALTH_UNESCAPED_QUOTE, "a {\"unbalanced");
	check_name("x[\"k\"] = 1", TL_HEALTH_UNESCAPED_QUOTE, "x[\"k\"] = 1");
}

static void bad_escapes(void **state)
{
	(void)state;
	check_name("pkg\\core\\__main__.py(4): boot", TL_HEALTH_BAD_ESCAPE, "pkg\\core\\__main__.py(4): boot");
	check_name("\\u12g4", TL_HEALTH_BAD_ESCAPE, "\\u12g4");
	check_name("\\x41 and \\\\ and \\t", TL_HEALTH_BAD_ESCAPE, "\\x41 and \\ and \t");
	check_name("C:\\dir\\", TL_HEALTH_BAD_ESCAPE, "C:\\dir\\");
}

static void control_bytes(void **state)
{
	(void)state;
	check_name("q\x01z(8): f", TL_HEALTH_CONTROL_BYTE, "q\x01z(8): f");
	check_name("tab\there", TL_HEALTH_CONTROL_BYTE, "tab\there");
	check_name("line\nbreak", TL_HEALTH_CONTROL_BYTE, "line\nbreak");
	check_name("\r\n", TL_HEALTH_CONTROL_BYTE, "\r\n");
}

static void bytes_that_are_not_utf8(void **state)
{
	(void)state;
	check_name("\xF4\x80u(0): \xC0", TL_HEALTH_BAD_UTF8, "\xF4\x80u(0): \xC0");
	check_name("\xff", TL_HEALTH_BAD_UTF8, "\xff");
	check_name("cut \xe2\x82", TL_HEALTH_BAD_UTF8, "cut \xe2\x82");
}

static void zero_byte_in_a_name(void **state)
{
	(void)state;
	static const char text[] = TRACE(NAMED("a\0b") "," CLEAN("c"));
	tl_trace *trace = load_bytes(text, sizeof text - 1);
	assert_int_equal(tl_trace_count(trace), 2);
	assert_int_equal(tl__str_len(trace->store->strings, trace->store->name[0]), 3);
	assert_memory_equal(name_of(trace, 0), "a\0b", 4);
	assert_only(trace, TL_HEALTH_CONTROL_BYTE, 1);
	tl_trace_free(trace);
}

/* Case 30 of the page on odd traces. */
static void five_kinds_of_names(void **state)
{
	(void)state;
	tl_trace *trace = load(TRACE(NAMED("{\"k\": \"v\", \"n\": \"w\"}(3): go") "," CLEAN("1") "," NAMED(
		"t = "
		"make(\"a\","
		" \"b\")\n("
		"1): "
		"<module>") "," CLEAN("2") "," NAMED("pkg\\core\\__main__.py(4): "
						     "boot") "," CLEAN("3") "," NAMED("q\x01z(8): f") "," CLEAN("4") "," NAMED("\xF4\x80u(0):"
															       " \xC0") "," CLEAN("5")));
	const char *names[] = {"{\"k\": \"v\", \"n\": \"w\"}(3): go",
			       "1",
			       "t = make(\"a\", \"b\")\n(1): <module>",
			       "2",
			       "pkg\\core\\__main__.py(4): boot",
			       "3",
			       "q\x01z(8): f",
			       "4",
			       "\xF4\x80u(0): \xC0",
			       "5"};
	assert_names(trace, names, 10);
	assert_int_equal(repairs(trace), 5);
	tl_trace_free(trace);
}

/* Case 27. */
static void three_repairs(void **state)
{
	(void)state;
	tl_trace *trace = load(TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1,\"args\":{"
				     "\"Comms Id\": 18446744073709551616}}," NAMED("a\xffz") "," NAMED("na\"me")));
	assert_int_equal(tl_trace_count(trace), 3);
	assert_int_equal(repairs(trace), 3);
	assert_int_equal(found(trace, TL_HEALTH_BIG_INTEGER), 1);
	assert_int_equal(found(trace, TL_HEALTH_BAD_UTF8), 1);
	assert_int_equal(found(trace, TL_HEALTH_UNESCAPED_QUOTE), 1);
	assert_string_equal(name_of(trace, 2), "na\"me");
	tl_trace_free(trace);
	/* the largest that 64 bits hold is nothing special */
	trace = load(TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1,\"args\":{"
			   "\"Comms Id\": 18446744073709551615, \"x\": -9223372036854775808}}"));
	assert_healthy(trace);
	tl_trace_free(trace);
}

static void distinct_bad_names_stay_distinct(void **state)
{
	(void)state;
	tl_trace *trace = load(TRACE(CLEAN("\xff") "," CLEAN("\xfe") "," CLEAN("\xff")));
	assert_int_not_equal(trace->store->name[0], trace->store->name[1]);
	assert_int_equal(trace->store->name[0], trace->store->name[2]);
	assert_only(trace, TL_HEALTH_BAD_UTF8, 3);
	tl_trace_free(trace);
}

/* An event with one odd argument before a good one. */
static void check_argument(const char *written, tl_health_kind kind, uint64_t count)
{
	char text[1024];
	int n = snprintf(text, sizeof text,
			 TRACE("{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"m\",\"pid\":0,\"tid\":7,\"ts\":1,"
			       "\"dur\":2,\"args\":{\"stream\":7,\"odd\": %s, \"correlation\": 9}}," CLEAN("b")),
			 written);
	tl_trace *trace = load_bytes(text, (size_t)n);
	assert_int_equal(tl_trace_count(trace), 2);
	assert_only(trace, kind, count);
	assert_int_equal(tl__link_args(trace->store, 0)->correlation, 9);
	assert_int_equal(tl__link_args(trace->store, 0)->stream, 7);
	assert_string_equal(name_of(trace, 1), "b");
	tl_trace_free(trace);
}

static void values_that_are_no_numbers(void **state)
{
	static const char *const names[] = {"inf",      "-inf",      "nan",  "-nan", "NaN",
					    "Infinity", "-Infinity", "+inf", "INF",  NULL};
	(void)state;
	for (const char *const *name = names; *name; name++)
		check_argument(*name, TL_HEALTH_NOT_A_NUMBER, 1);
	check_argument("N/A", TL_HEALTH_BARE_WORD, 1);
	check_argument("", TL_HEALTH_BARE_WORD, 1);
	check_argument("True", TL_HEALTH_BARE_WORD, 1);
	check_argument("[\"a\" , \"b\"c\"]", TL_HEALTH_UNESCAPED_QUOTE, 1);
	check_argument("\"say \"hello\", now\"", TL_HEALTH_UNESCAPED_QUOTE, 1);
	/* whatever is valid stays unread and unnoticed */
	check_argument("[[1, [2, {\"x\": [null, true, 1.5e3]}]], \"}\", \"]\", \"\\\"\"]", TL_HEALTH_TRUNCATED, 0);
	check_argument("\"[0, 1, 2, ..., 15]\"", TL_HEALTH_TRUNCATED, 0);
	check_argument("{}", TL_HEALTH_TRUNCATED, 0);
	check_argument("[]", TL_HEALTH_TRUNCATED, 0);
	check_argument("\"\"", TL_HEALTH_TRUNCATED, 0);
}

static void odd_words_inside_kept_texts(void **state)
{
	(void)state;
	tl_trace *trace = load(TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"m\",\"ts\":1,\"dur\":2,\"args\":{"
				     "\"Concrete Inputs\": [ 1, nan, -inf, true, null, -2.5e-3, {\"x\" : Inf } ],"
				     "\"Input Dims\": [ [ 1 , 2 ], [ ], \"a \\\" b\", false ]}}"));
	const tl_op_args *args = tl__op_args(trace->store, 0);
	assert_string_equal(text_of(trace, args->concrete), "[1,null,null,true,null,-2.5e-3,{\"x\":null}]");
	assert_string_equal(text_of(trace, args->dims), "[[1,2],[],\"a \\\" b\",false]");
	assert_only(trace, TL_HEALTH_NOT_A_NUMBER, 1);
	tl_trace_free(trace);
	trace = load(TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"m\",\"ts\":1,\"dur\":2,\"args\":{"
			   "\"Input Dims\": [[1, 2 , ], ,[,3,,4], {\"a\":1,},]}}"));
	assert_string_equal(text_of(trace, tl__op_args(trace->store, 0)->dims), "[[1,2],[3,4],{\"a\":1}]");
	assert_only(trace, TL_HEALTH_TRAILING_COMMA, 1);
	tl_trace_free(trace);
}

static void a_key_without_its_quote_costs_one_event(void **state)
{
	static const char *const broken[] = {
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\", \"pid\":0, tid\": 0, \"ts\":1,\"dur\":2}",
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\", tid\": 0, "
		"\"pid\":0,\"ts\":1,\"dur\":2,\"args\":{\"a\":[{}]}}",
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"args\":{\"x\":1]}", NULL};
	(void)state;
	for (const char *const *event = broken; *event; event++) {
		char text[1024];
		int n = snprintf(text, sizeof text, TRACE(CLEAN("a") ",%s," CLEAN("b")), *event);
		tl_trace *trace = load_bytes(text, (size_t)n);
		const char *names[] = {"a", "", "b"};
		assert_names(trace, names, 3);
		assert_int_equal(trace->store->kind[1], TL_KIND_EMPTY);
		assert_only(trace, TL_HEALTH_UNREADABLE_EVENT, 1);
		tl_trace_free(trace);
		/* as the last event */
		n = snprintf(text, sizeof text, TRACE(CLEAN("a") ",%s"), *event);
		trace = load_bytes(text, (size_t)n);
		assert_names(trace, names, 2);
		assert_only(trace, TL_HEALTH_UNREADABLE_EVENT, 1);
		assert_int_equal(trace->store->metadata_keys.n, 2);
		tl_trace_free(trace);
	}
}

/* A bracket that is lost must be noticed at the next event, not swallow the file. */
static void lost_brackets(void **state)
{
	static const char *const broken[] = {"{\"ph\":\"X\",\"name\":\"k\",\"args\":{\"x\":{\"a\":{\"b\":1}}}",
					     "{\"ph\":\"X\",\"name\":\"k\",\"args\":{\"x\":{\"a\":1}",
					     "{\"ph\":\"X\",\"name\":\"k\",\"args\":{\"x\":[[1,2],[3]}}",
					     "{\"ph\":\"X\",\"name\":\"k\",\"args\":{\"x\":[1,2", NULL};
	(void)state;
	for (const char *const *event = broken; *event; event++) {
		char text[4096];
		int n = snprintf(text, sizeof text, "{\"traceEvents\":[" CLEAN("a") ",%s", *event);
		for (int i = 0; i < 20; i++)
			n += snprintf(text + n, sizeof text - (size_t)n, "," CLEAN("b"));
		n += snprintf(text + n, sizeof text - (size_t)n, "]}");
		tl_trace *trace = load_bytes(text, (size_t)n);
		/* what follows the broken event may be lost with it, the rest is there */
		assert_in_range(tl_trace_count(trace), 21, 22);
		assert_int_equal(found(trace, TL_HEALTH_UNREADABLE_EVENT), 1);
		assert_false(tl_trace_is_truncated(trace));
		assert_string_equal(name_of(trace, (tl_row)tl_trace_count(trace) - 1), "b");
		tl_trace_free(trace);
	}
}

static void commas_too_many_or_missing(void **state)
{
	const char *names[] = {"a", "b"};
	static const struct {
		const char *text;
		uint64_t count;
	} cases[] = {
		{"[" CLEAN("a") "," CLEAN("b") ",]", 1},
		{"[" CLEAN("a") ",," CLEAN("b") "]", 1},
		{"[" CLEAN("a") " " CLEAN("b") "]", 1},
		{"[," CLEAN("a") "," CLEAN("b") "]", 1},
		{"[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":1,}," CLEAN("b") "]", 1},
		{"[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,,\"dur\":1}," CLEAN("b") "]", 1},
		{"[{\"name\":\"a\" \"ph\":\"X\",\"ts\":1,\"dur\":1}," CLEAN("b") "]", 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_trace *trace = load(cases[i].text);
		assert_names(trace, names, 2);
		assert_only(trace, TL_HEALTH_TRAILING_COMMA, cases[i].count);
		assert_int_equal(trace->store->start[1], US(4) * (trace->store->base_us == 1));
		tl_trace_free(trace);
	}
}

static void list_forms(void **state)
{
	static const char *const forms[] = {
		"[" CLEAN("a") "," CLEAN("b") "]",       "[\n" CLEAN("a") ",\n" CLEAN("b") ",\n",
		"[\n" CLEAN("a") ",\n" CLEAN("b"),       "\xef\xbb\xbf[" CLEAN("a") "," CLEAN("b") "]",
		"  \n[" CLEAN("a") "," CLEAN("b") "]\n", NULL};
	const char *names[] = {"a", "b"};
	(void)state;
	for (const char *const *form = forms; *form; form++) {
		tl_trace *trace = load(*form);
		assert_names(trace, names, 2);
		assert_healthy(trace);
		assert_false(tl_trace_is_truncated(trace));
		tl_trace_free(trace);
	}
	/* one event a line, without a list */
	tl_trace *trace = load(CLEAN("a") "\n" CLEAN("b") "\n");
	assert_names(trace, names, 2);
	assert_int_equal(trace->store->sources, 1);
	tl_trace_free(trace);
}

static void empty_lists(void **state)
{
	(void)state;
	tl_trace *trace = load("[]");
	assert_int_equal(tl_trace_count(trace), 0);
	assert_healthy(trace);
	tl_trace_free(trace);
	trace = load("{\"traceEvents\": [ ]}");
	assert_int_equal(tl_trace_count(trace), 0);
	assert_healthy(trace);
	tl_trace_free(trace);
}

static void cut_off(void **state)
{
	static const char whole[] = TRACE(CLEAN("a") "," CLEAN("b") "," CLEAN("c"));
	size_t first = strcspn(whole, "[") + 1;
	size_t size = strlen(CLEAN("a"));
	(void)state;
	/* cut anywhere: all whole events are there, no more; and it is said */
	for (size_t n = first; n < sizeof whole - 1; n++) {
		tl_trace *trace = load_bytes(whole, n);
		size_t events = (n - first + 1) / (size + 1);
		assert_int_equal(tl_trace_count(trace), events > 3 ? 3 : events);
		assert_true(tl_trace_is_truncated(trace));
		assert_only(trace, TL_HEALTH_TRUNCATED, 1);
		tl_trace_free(trace);
	}
}

static void leading_and_trailing_bytes(void **state)
{
	static const char padded[] = TRACE(CLEAN("a")) "\0\0\0\0";
	(void)state;
	tl_trace *trace = load_bytes(padded, sizeof padded - 1);
	assert_int_equal(tl_trace_count(trace), 1);
	assert_healthy(trace);
	tl_trace_free(trace);

	trace = load(TRACE(CLEAN("a")) "\n--- end of log\n");
	assert_int_equal(tl_trace_count(trace), 1);
	assert_only(trace, TL_HEALTH_TRAILING_JUNK, 1);
	tl_trace_free(trace);

	trace = load(",{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"app\"}}\n");
	assert_int_equal(tl_trace_count(trace), 1);
	assert_int_equal(trace->store->kind[0], TL_KIND_METADATA);
	assert_only(trace, TL_HEALTH_LEADING_JUNK, 1);
	tl_trace_free(trace);
}

static void several_documents(void **state)
{
	(void)state;
	tl_trace *trace = load(TRACE(CLEAN("a")) TRACE(CLEAN("b") "," CLEAN("c")) "\n[" CLEAN("d") "]");
	const char *names[] = {"a", "b", "c", "d"};
	assert_names(trace, names, 4);
	assert_int_equal(trace->store->sources, 3);
	assert_only(trace, TL_HEALTH_SEVERAL_DOCUMENTS, 2);
	/* the same pid and tid, but not the same thread */
	assert_int_equal(track_of(trace, 0)->source, 0);
	assert_int_equal(track_of(trace, 1)->source, 1);
	assert_int_equal(track_of(trace, 3)->source, 2);
	assert_int_equal(trace->store->track[1], trace->store->track[2]);
	assert_int_not_equal(trace->store->track[0], trace->store->track[1]);
	tl_trace_free(trace);
}

static void several_writers(void **state)
{
	(void)state;
	/* a second rank begins in the middle of a name of the first */
	tl_trace *trace = load(
		"{\"schemaVersion\":1,\"traceEvents\":[" CLEAN("a") ",{\"ph\":\"X\",\"name\":\"ate{\"schemaVersion\":1,"
								    "\"traceEvents\":[" CLEAN("b") "," CLEAN("c") "]}");
	assert_int_equal(found(trace, TL_HEALTH_SEVERAL_WRITERS), 1);
	const char *names[] = {"a", "", "b", "c"};
	assert_names(trace, names, 4);
	tl_trace_free(trace);
}

static void elements_that_are_no_events(void **state)
{
	(void)state;
	tl_trace *trace = load(TRACE(CLEAN("a") ",{},7,\"text\",null,[1,{\"x\":2}]," CLEAN("b")));
	assert_int_equal(tl_trace_count(trace), 7);
	assert_int_equal(found(trace, TL_HEALTH_EMPTY_EVENT), 1);
	assert_int_equal(found(trace, TL_HEALTH_NOT_AN_EVENT), 4);
	for (tl_row row = 1; row < 6; row++) {
		assert_int_equal(trace->store->kind[row], TL_KIND_EMPTY);
		assert_int_equal(trace->store->start[row] == TL_TIME_NONE, row > 0);
	}
	/* UID is the position in the list */
	assert_string_equal(name_of(trace, 6), "b");
	tl_trace_free(trace);
}

static void duplicate_keys(void **state)
{
	(void)state;
	tl_trace *trace =
		load(TRACE("{\"name\":\"x\",\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":1,\"name\":\"y\","
			   "\"args\":{\"External id\":1,\"External id\":2}}"));
	assert_string_equal(name_of(trace, 0), "y");
	assert_int_equal(tl__op_args(trace->store, 0)->external, 2);
	assert_only(trace, TL_HEALTH_DUPLICATE_KEY, 1);
	assert_int_equal(repairs(trace), 0);
	tl_trace_free(trace);
}

static void metadata_in_any_order(void **state)
{
	static const char *const forms[] = {
		"{\"schemaVersion\":1,\"traceEvents\":[" CLEAN("a") "],\"baseTimeNanoseconds\": 1760000000000000001 , "
								    "\"x\": [1 , {\"y\" : \"a b\"}]}",
		"{\"x\": [1 , {\"y\" : \"a b\"}] ,\"baseTimeNanoseconds\":1760000000000000001,\"schemaVersion\":1 , "
		"\"traceEvents\":[" CLEAN("a") "]}",
		NULL};
	(void)state;
	for (const char *const *form = forms; *form; form++) {
		tl_trace *trace = load(*form);
		const tl_store *store = trace->store;
		assert_int_equal(tl_trace_count(trace), 1);
		assert_healthy(trace);
		assert_int_equal(store->base_ns, INT64_C(1760000000000000001));
		assert_int_equal(store->metadata_keys.n, 3);
		bool seen = false;
		for (size_t i = 0; i < 3; i++)
			if (!strcmp(text_of(trace, store->metadata_keys.v[i]), "x")) {
				assert_string_equal(text_of(trace, store->metadata_values.v[i]), "[1,{\"y\":\"a b\"}]");
				seen = true;
			}
		assert_true(seen);
		tl_trace_free(trace);
	}
}

/* Values, events and lists larger than any buffer, and events cut by every buffer edge. */
static void large_values(void **state)
{
	enum { MANY = 300000 };
	size_t room = (size_t)MANY * 16 + 4096, n = 0;
	char *text = malloc(room);
	(void)state;
	assert_non_null(text);
	n += (size_t)sprintf(text + n, "{\"stackFrames\":[");
	for (int i = 0; i < MANY; i++)
		n += (size_t)sprintf(text + n, "%s\"]}\\\"\"", i ? "," : "");
	n += (size_t)sprintf(text + n, "],\"traceEvents\":[" CLEAN("a") ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,"
									"\"dur\":1,\"args\":{\"Input Dims\":[");
	for (int i = 0; i < MANY; i++)
		n += (size_t)sprintf(text + n, "%s%d", i ? "," : "", i % 10);
	n += (size_t)sprintf(text + n, "]},\"name\":\"big\"}," CLEAN("b") "],\"traceName\":\"t\"}");
	assert_true(n < room);

	tl_trace *trace = load_bytes(text, n);
	const char *names[] = {"a", "big", "b"};
	assert_names(trace, names, 3);
	assert_only(trace, TL_HEALTH_LONG_ARGUMENT, 1);
	assert_int_equal(tl_trace_text_bytes(trace), n);
	assert_non_null(strstr(text_of(trace, tl__op_args(trace->store, 1)->dims), "(600001 characters"));
	/* too large to keep, but everything behind it is there */
	assert_int_equal(trace->store->metadata_keys.n, 1);
	assert_string_equal(text_of(trace, trace->store->metadata_values.v[0]), "\"t\"");
	tl_trace_free(trace);
	free(text);
}

static void depth_has_no_limit(void **state)
{
	enum { DEEP = 200000 };
	size_t n = 0;
	char *text = malloc(2 * DEEP + 1024);
	(void)state;
	assert_non_null(text);
	n += (size_t)sprintf(text,
			     "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"deep\",\"ts\":1,\"dur\":1,\"args\":{\"x\":");
	memset(text + n, '[', DEEP);
	memset(text + n + DEEP, ']', DEEP);
	n += 2 * DEEP;
	n += (size_t)sprintf(text + n, "}}," CLEAN("b") "]}");
	tl_trace *trace = load_bytes(text, n);
	const char *names[] = {"deep", "b"};
	assert_names(trace, names, 2);
	assert_healthy(trace);
	tl_trace_free(trace);
	/* and a broken one of that depth is given up, not recursed into */
	text[200] = '}';
	trace = load_bytes(text, n);
	assert_int_equal(tl_trace_count(trace), 2);
	assert_int_equal(found(trace, TL_HEALTH_UNREADABLE_EVENT), 1);
	tl_trace_free(trace);
	free(text);
}

static void many_broken_events(void **state)
{
	enum { EVENTS = 20000 };
	size_t n = 0;
	char *text = malloc((size_t)EVENTS * 128);
	(void)state;
	assert_non_null(text);
	n += (size_t)sprintf(text, "{\"traceEvents\":[");
	for (int i = 0; i < EVENTS; i++)
		n += (size_t)sprintf(text + n,
				     "%s{\"ph\":\"X\",\"name\":\"a\"%d\",\"cat\":\"cpu_op\",\"ts\":%d,\"dur\":1}",
				     i ? ",\n" : "", i, i + 1);
	n += (size_t)sprintf(text + n, "]}");
	tl_trace *trace = load_bytes(text, n);
	assert_int_equal(tl_trace_count(trace), EVENTS);
	assert_only(trace, TL_HEALTH_UNESCAPED_QUOTE, EVENTS);
	for (tl_row i = 0; i < EVENTS; i += 777) {
		char name[32];
		snprintf(name, sizeof name, "a\"%u", i);
		assert_string_equal(name_of(trace, i), name);
		assert_int_equal(trace->store->start[i], US((tl_time)i));
	}
	tl_trace_free(trace);
	free(text);
}

static void check_message(const char *text, size_t n, const char *words)
{
	tl_error err = load_error(text, n, false);
	assert_int_equal(err.code, TL_EFORMAT);
	assert_null(strchr(err.message, '\n'));
	if (!strstr(err.message, words))
		fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}
#define CHECK_MESSAGE(text, words) check_message(text, sizeof(text) - 1, words)

/* Every string opens a bracket that nothing closes; to look for the end of each through the whole text takes minutes.
 */
static void strings_that_open_brackets(void **state)
{
	enum { MEMBERS = 100000 };
	tl_buf text = {0};
	(void)state;
	tl__buf_puts(&text, "[{\"ph\":\"X\",\"ts\":5,\"dur\":1");
	for (int i = 0; i < MEMBERS; i++)
		tl__buf_puts(&text, ",\"name\":\"a{\x01\", \"cat\":\"kernel\"");
	tl__buf_puts(&text, "}]");
	tl_trace *trace = load_bytes(text.v, text.n);
	assert_int_equal(tl_trace_count(trace), 1);
	assert_string_equal(name_of(trace, 0), "a{\x01");
	assert_int_equal(trace->store->kind[0], TL_KIND_KERNEL);
	assert_int_equal(found(trace, TL_HEALTH_CONTROL_BYTE), MEMBERS);
	tl_trace_free(trace);
	tl__buf_free(&text);
}

static void files_that_are_something_else(void **state)
{
	(void)state;
	CHECK_MESSAGE("", "empty");
	CHECK_MESSAGE(" \n ", "white space");
	CHECK_MESSAGE("hello", "not JSON");
	CHECK_MESSAGE("<!DOCTYPE html><html>", "HTML");
	CHECK_MESSAGE("{\"schema\":\"1.0\",\"nodes\":[{\"id\":1}]}", "execution trace");
	CHECK_MESSAGE("{\"rocprofiler-sdk-tool\":[{\"a\":1}]}", "rocprofv3");
	CHECK_MESSAGE("{\"a\":1}", "traceEvents");
	CHECK_MESSAGE("{}", "traceEvents");
	CHECK_MESSAGE("{\"traceEvents\":5}", "traceEvents");
	CHECK_MESSAGE("[1,2,3]", "no trace events");
	CHECK_MESSAGE("\n\x80\x08\x12\x0b/host:CPU\x00", "XPlane");
	CHECK_MESSAGE("\n\x23\x0a\x05\x08\x01\x10\x02\x50\x01", "protobuf");
	CHECK_MESSAGE("\"text\"", "not JSON");
	CHECK_MESSAGE("12", "not JSON");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unescaped_quotes),
		cmocka_unit_test(bad_escapes),
		cmocka_unit_test(control_bytes),
		cmocka_unit_test(bytes_that_are_not_utf8),
		cmocka_unit_test(zero_byte_in_a_name),
		cmocka_unit_test(five_kinds_of_names),
		cmocka_unit_test(three_repairs),
		cmocka_unit_test(distinct_bad_names_stay_distinct),
		cmocka_unit_test(values_that_are_no_numbers),
		cmocka_unit_test(odd_words_inside_kept_texts),
		cmocka_unit_test(a_key_without_its_quote_costs_one_event),
		cmocka_unit_test(lost_brackets),
		cmocka_unit_test(commas_too_many_or_missing),
		cmocka_unit_test(list_forms),
		cmocka_unit_test(empty_lists),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(leading_and_trailing_bytes),
		cmocka_unit_test(several_documents),
		cmocka_unit_test(several_writers),
		cmocka_unit_test(elements_that_are_no_events),
		cmocka_unit_test(duplicate_keys),
		cmocka_unit_test(metadata_in_any_order),
		cmocka_unit_test(large_values),
		cmocka_unit_test(depth_has_no_limit),
		cmocka_unit_test(many_broken_events),
		cmocka_unit_test(strings_that_open_brackets),
		cmocka_unit_test(files_that_are_something_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
