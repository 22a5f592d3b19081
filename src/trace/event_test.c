/* SPDX-License-Identifier: MIT */
/* Events by UID as the SDK sees them, and whole events as they stand in the file. */
#include <pthread.h>

#include "trace/corpus_fixture.h"
#include "trace/raw.h"
#include "trace/trace_testing.h"
#include "tracelens/event.h"
#include "util/value.h"

static tl_trace *load_raw(const char *text, size_t n)
{
	tl_trace_options options = {.single_thread = true, .keep_raw = true};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	if (tl_trace_open_memory(&trace, text, n, &options, &err) < 0)
		fail_msg("%s: %s", tl_code_name(err.code), err.message);
	return trace;
}

static void expect_raw(const tl_trace *trace, tl_row row, const char *expected)
{
	char *text;
	size_t n;
	assert_int_equal(tl_event_raw(&text, &n, tl_trace_events(trace), row, NULL), 0);
	assert_string_equal(text, expected);
	assert_int_equal(n, strlen(expected));
	free(text);
}

static const char events_text[] =
	"{\"schemaVersion\": 1, \"traceEvents\": [\n"
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 7, \"args\": {\"name\": \"python3\"}},\n"
	"{\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": 7, \"args\": {\"labels\": \"CPU\"}},\n"
	"{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 7, \"tid\": 8, \"args\": {\"name\": \"main\"}},\n"
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 8, \"ts\": "
	"1700000000123456.250,"
	" \"dur\": 3, \"args\": {\"External id\": 5, \"Sequence number\": 9, \"Fwd thread id\": 2,"
	" \"Input Dims\": [[2, 3], [3, 4]], \"Concrete Inputs\": [\"\", \"a b\"]}},\n"
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": \"stream 7\", \"ts\": "
	"1700000000123460,"
	" \"dur\": 3.0, \"args\": {\"correlation\": 11, \"stream\": 7, \"device\": 0, \"grid\": [1, 2, 3]}},\n"
	"{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"f\", \"pid\": 7, \"tid\": 8, \"ts\": "
	"1700000000123450.5,"
	" \"dur\": 0.25, \"args\": {\"Python id\": 3, \"Python parent id\": 2, \"Python module id\": 1}},\n"
	"{\"ph\": \"s\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": 11, \"pid\": 7, \"tid\": 8, \"ts\": "
	"1700000000123456},\n"
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"back\", \"pid\": 7, \"tid\": 8, \"ts\": 1700000000123470, "
	"\"dur\": -5},\n"
	"{}, 17, {\"ph\": \"i\", \"ts\": 1700000000123400.000001}\n"
	"], \"displayTimeUnit\": \"ms\"}";
enum { OP = 3, KERNEL, PYTHON, FLOW, NEGATIVE, NOTHING, NUMBER, INSTANT, COUNT };

static void names_kinds_and_categories(void **state)
{
	(void)state;
	static const tl_event_kind kinds[COUNT] = {
		TL_EVENT_METADATA, TL_EVENT_METADATA, TL_EVENT_METADATA, TL_EVENT_OPERATION,
		TL_EVENT_KERNEL,   TL_EVENT_PYTHON,   TL_EVENT_FLOW,     TL_EVENT_OPERATION,
		TL_EVENT_EMPTY,    TL_EVENT_EMPTY,    TL_EVENT_OTHER,
	};
	tl_trace *trace = load(events_text);
	const tl_events *e = tl_trace_events(trace);
	size_t n;
	assert_int_equal(tl_events_count(e), COUNT);
	for (tl_row row = 0; row < COUNT; row++) {
		assert_int_equal(tl_event_kind_of(e, row), kinds[row]);
		assert_int_equal(tl_event_is_gpu(e, row), row == KERNEL);
	}
	assert_string_equal(tl_event_name(e, OP, &n), "aten::mm");
	assert_int_equal(n, 8);
	assert_string_equal(tl_event_category(e, KERNEL, NULL), "kernel");
	assert_true(tl_event_has_category(e, OP));
	assert_false(tl_event_has_category(e, INSTANT));
	assert_string_equal(tl_event_category(e, INSTANT, &n), "");
	assert_string_equal(tl_event_name(e, NOTHING, &n), "");
	assert_string_equal(tl_event_process_name(e, OP), "python3");
	assert_string_equal(tl_event_process_labels(e, OP), "CPU");
	assert_string_equal(tl_event_thread_name(e, OP), "main");
	assert_string_equal(tl_event_thread_name(e, KERNEL), "");
	tl_trace_free(trace);
}

static void expect_texts(const tl_events *e, tl_row row, const char *start, const char *duration)
{
	char text[TL_EVENT_TEXT];
	assert_int_equal(tl_event_start_text(e, row, text), strlen(start));
	assert_string_equal(text, start);
	assert_int_equal(tl_event_duration_text(e, row, text), strlen(duration));
	assert_string_equal(text, duration);
}

/* Decimal digits of the file, whole numbers and fractions told apart; only zeros at the end of a fraction go. */
static void times_as_the_file_states_them(void **state)
{
	(void)state;
	tl_trace *trace = load(events_text);
	const tl_events *e = tl_trace_events(trace);
	expect_texts(e, OP, "1700000000123456.25", "3");
	expect_texts(e, KERNEL, "1700000000123460", "3.0");
	expect_texts(e, PYTHON, "1700000000123450.5", "0.25");
	expect_texts(e, NEGATIVE, "1700000000123470", "");
	expect_texts(e, INSTANT, "1700000000123400.000001", "");
	expect_texts(e, NOTHING, "", "");
	assert_int_equal(tl_events_base_us(e), 1700000000123456);
	assert_int_equal(tl_event_start(e, OP), 250000);
	assert_int_equal(tl_event_start(e, INSTANT), -US(56) + 1);
	assert_int_equal(tl_event_duration(e, OP), US(3));
	assert_int_equal(tl_event_duration(e, NEGATIVE), TL_TIME_NONE);
	assert_true(tl_event_has_duration(e, NEGATIVE));
	assert_false(tl_event_has_duration(e, INSTANT));
	tl_trace_free(trace);
}

/* Times on both sides of zero, where the whole microseconds and the rest have different signs. */
static void times_around_zero(void **state)
{
	(void)state;
	static const char *const starts[] = {"3", "0.75", "-0.5", "-1.25", "-3", "0.000001"};
	char text[1024] = "[";
	for (size_t i = 0; i < 6; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"x\",\"ts\":%s,\"dur\":1}", i ? "," : "",
			 starts[i]);
	strcat(text, "]");
	tl_trace *trace = load(text);
	for (tl_row row = 0; row < 6; row++)
		expect_texts(tl_trace_events(trace), row, starts[row], "1");
	tl_trace_free(trace);
}

static void expect_identifier(const tl_events *e, tl_row row, tl_identifier which, const char *expected, int64_t value)
{
	char text[TL_EVENT_TEXT];
	bool number;
	tl_event_identifier_text(e, row, which, text, &number);
	assert_string_equal(text, expected);
	assert_int_equal(number, value >= 0);
	assert_int_equal(tl_event_identifier(e, row, which), value);
}

static void identifiers(void **state)
{
	(void)state;
	tl_trace *trace = load(events_text);
	const tl_events *e = tl_trace_events(trace);
	expect_identifier(e, OP, TL_IDENT_PID, "7", 7);
	expect_identifier(e, OP, TL_IDENT_TID, "8", 8);
	expect_identifier(e, OP, TL_IDENT_EXTERNAL, "5", 5);
	expect_identifier(e, OP, TL_IDENT_SEQUENCE, "9", 9);
	expect_identifier(e, OP, TL_IDENT_FORWARD_THREAD, "2", 2);
	expect_identifier(e, OP, TL_IDENT_CORRELATION, "", -1);
	expect_identifier(e, KERNEL, TL_IDENT_CORRELATION, "11", 11);
	expect_identifier(e, KERNEL, TL_IDENT_STREAM, "7", 7);
	expect_identifier(e, KERNEL, TL_IDENT_DEVICE, "0", 0);
	expect_identifier(e, KERNEL, TL_IDENT_TID, "stream 7", -1);
	expect_identifier(e, PYTHON, TL_IDENT_PYTHON, "3", 3);
	expect_identifier(e, PYTHON, TL_IDENT_PYTHON_PARENT, "2", 2);
	expect_identifier(e, PYTHON, TL_IDENT_PYTHON_MODULE, "1", 1);
	expect_identifier(e, FLOW, TL_IDENT_FLOW, "11", 11);
	expect_identifier(e, NOTHING, TL_IDENT_PID, "", -1);
	tl_trace_free(trace);
}

static void arguments(void **state)
{
	(void)state;
	tl_trace *trace = load(events_text);
	const tl_events *e = tl_trace_events(trace);
	size_t n;
	assert_string_equal(tl_event_arg_json(e, OP, TL_ARG_INPUT_DIMS, &n), "[[2,3],[3,4]]");
	assert_int_equal(n, 13);
	assert_string_equal(tl_event_arg_json(e, OP, TL_ARG_CONCRETE_INPUTS, NULL), "[\"\",\"a b\"]");
	assert_null(tl_event_arg_json(e, OP, TL_ARG_INPUT_STRIDES, &n));
	assert_int_equal(n, 0);
	assert_string_equal(tl_event_arg_json(e, KERNEL, TL_ARG_GRID, NULL), "[1,2,3]");
	assert_null(tl_event_arg_json(e, KERNEL, TL_ARG_INPUT_DIMS, NULL));
	tl_trace_free(trace);
}

static void the_rest_of_the_file(void **state)
{
	(void)state;
	tl_trace *trace = load(events_text);
	size_t n;
	assert_int_equal(tl_trace_metadata_count(trace), 2);
	assert_string_equal(tl_trace_metadata_key(trace, 0), "schemaVersion");
	assert_string_equal(tl_trace_metadata_json(trace, 0, NULL), "1");
	assert_string_equal(tl_trace_metadata_key(trace, 1), "displayTimeUnit");
	assert_string_equal(tl_trace_metadata_json(trace, 1, &n), "\"ms\"");
	assert_int_equal(n, 4);
	assert_null(tl_trace_metadata_key(trace, 2));
	assert_null(tl_trace_metadata_json(trace, SIZE_MAX, NULL));
	tl_trace_free(trace);
}

/* Whatever UID is asked for, and even without events, there is an answer. */
static void bad_use_is_answered(void **state)
{
	(void)state;
	tl_trace *trace = load_raw(events_text, strlen(events_text));
	const tl_events *const all[] = {tl_trace_events(trace), NULL};
	const tl_row rows[] = {COUNT, COUNT + 1, TL_ROW_NONE};
	char text[TL_EVENT_TEXT], *raw;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 3; k++) {
			tl_error err = TL_ERROR_INIT;
			tl_row row = rows[k];
			assert_string_equal(tl_event_name(all[i], row, NULL), "");
			assert_string_equal(tl_event_category(all[i], row, NULL), "");
			assert_false(tl_event_has_category(all[i], row));
			assert_int_equal(tl_event_kind_of(all[i], row), TL_EVENT_EMPTY);
			assert_false(tl_event_is_gpu(all[i], row));
			assert_int_equal(tl_event_start(all[i], row), TL_TIME_NONE);
			assert_int_equal(tl_event_duration(all[i], row), TL_TIME_NONE);
			assert_int_equal(tl_event_start_text(all[i], row, text), 0);
			assert_int_equal(tl_event_duration_text(all[i], row, text), 0);
			assert_int_equal(tl_event_identifier(all[i], row, TL_IDENT_PID), -1);
			assert_string_equal(tl_event_process_name(all[i], row), "");
			assert_string_equal(tl_event_thread_name(all[i], row), "");
			assert_null(tl_event_arg_json(all[i], row, TL_ARG_INPUT_DIMS, NULL));
			assert_int_equal(tl_event_raw(&raw, NULL, all[i], row, &err), TL_ENOTFOUND);
			assert_null(raw);
			assert_true(err.message[0]);
		}
	assert_int_equal(tl_event_identifier(all[0], OP, (tl_identifier)99), -1);
	assert_null(tl_event_arg_json(all[0], OP, (tl_event_arg)99, NULL));
	assert_int_equal(tl_events_count(NULL), 0);
	tl_trace_free(trace);
}

/* ---- whole events ---- */

static void whole_events_are_kept_on_request(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	char *raw;
	tl_trace *without = load(events_text), *with = load_raw(events_text, strlen(events_text));
	assert_false(tl_events_have_raw(tl_trace_events(without)));
	assert_int_equal(tl_event_raw(&raw, NULL, tl_trace_events(without), OP, &err), TL_ENOTFOUND);
	assert_non_null(strstr(err.message, "keep_raw"));
	assert_true(tl_events_have_raw(tl_trace_events(with)));
	assert_true(tl_trace_memory(with) > tl_trace_memory(without));
	expect_raw(with, FLOW,
		   "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":11,\"pid\":7,\"tid\":8,\"ts\":"
		   "1700000000123456}");
	expect_raw(with, NEGATIVE,
		   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"back\",\"pid\":7,\"tid\":8,\"ts\":1700000000123470,"
		   "\"dur\":-5}");
	expect_raw(with, NOTHING, "{}");
	expect_raw(with, NUMBER, "17");
	tl_trace_free(without);
	tl_trace_free(with);
}

/* Of a broken event the repaired text, of a lost one {}; the events around keep theirs. */
static void repaired_events_are_valid(void **state)
{
	(void)state;
	static const char text[] =
		"{\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"first\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a \"quote\" in "
		"it\",\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"nan\",\"ts\":3,\"dur\":NaN,\"pid\":1,\"tid\":1,\"args\":{"
		"\"x\":[inf,1]}},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"lost\",\"args\":[1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"bytes \xff\",\"ts\":5,\"dur\":1,\"pid\":1,\"tid\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"last\",\"ts\":6,\"dur\":1,\"pid\":1,\"tid\":1}]}";
	tl_trace *trace = load_raw(text, sizeof text - 1);
	expect_raw(trace, 0,
		   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"first\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}");
	expect_raw(trace, 1,
		   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a \\\"quote\\\" in "
		   "it\",\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":1}");
	expect_raw(trace, 2,
		   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"nan\",\"ts\":3,\"dur\":null,\"pid\":1,\"tid\":1,"
		   "\"args\":{\"x\":[null,1]}}");
	expect_raw(trace, 3, "{}");
	expect_raw(trace, 4,
		   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"bytes "
		   "\xef\xbf\xbd\",\"ts\":5,\"dur\":1,\"pid\":1,\"tid\":1}");
	expect_raw(trace, 5,
		   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"last\",\"ts\":6,\"dur\":1,\"pid\":1,\"tid\":1}");
	tl_trace_free(trace);
}

static void any_text_becomes_json(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"", "{}"},
		{"{ }", "{}"},
		{"[1 , 2]", "[1,2]"},
		{"\"a\"", "\"a\""},
		{"{\"a\": 007, \"b\": 1.}", "{\"a\":7,\"b\":1.0}"},
		{"{\"a\": {\"b\": {\"x\":}}, \"c\": 2}", "{\"a\":{\"b\":\"{\\\"x\\\":}\"},\"c\":2}"},
		{"{\"a\": [1, nan, -Infinity], \"b\": true,}", "{\"a\":[1,null,null],\"b\":true}"},
		{"{\"a\": \"\\u00e4\\n\"}", "{\"a\":\"\\u00e4\\n\"}"},
		{"{\"a\": 1e5, \"b\": -0.5E-3, \"c\": 123456789012345678901234567890}",
		 "{\"a\":1e5,\"b\":-0.5E-3,\"c\":123456789012345678901234567890}"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_buf out = {0};
		assert_int_equal(tl__raw_to_json(&out, cases[i][0], strlen(cases[i][0])), 0);
		assert_string_equal(tl__buf_text(&out), cases[i][1]);
		tl__buf_free(&out);
	}
}

/* A bracket more than readers of JSON bear: the value becomes a string, the event stays. */
static void deep_nesting_does_not_break_an_event(void **state)
{
	(void)state;
	enum { DEPTH = 5000 };
	tl_buf text = {0}, out = {0};
	tl__buf_puts(&text, "{\"name\":\"deep\",\"args\":{\"x\":");
	for (int i = 0; i < DEPTH; i++)
		tl__buf_putc(&text, '[');
	for (int i = 0; i < DEPTH; i++)
		tl__buf_putc(&text, ']');
	tl__buf_puts(&text, ",\"y\":1}}");
	assert_int_equal(tl__raw_to_json(&out, text.v, text.n), 0);
	tl_arena arena = {0};
	const tl_value *value;
	assert_int_equal(tl__value_parse(&arena, out.v, out.n, false, &value), 0);
	const tl_value *args = tl__value_get(value, "args");
	assert_int_equal(strlen(tl__value_text(tl__value_get(args, "x"))), 2 * DEPTH);
	assert_int_equal(tl__value_get(args, "y")->i, 1);
	tl__arena_free(&arena);
	tl__buf_free(&text);
	tl__buf_free(&out);
}

/* ---- many events ---- */

enum { MANY = 20000 };

/* Texts of very different lengths, so that blocks begin and end everywhere. */
static void many_text(tl_buf *out, size_t i)
{
	tl__buf_printf(out, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op %zu ", i);
	for (size_t k = 0; k < (i * 7919) % (i % 1000 ? 200 : 100000); k++)
		tl__buf_putc(out, (char)('a' + (i + k) % 26));
	tl__buf_printf(out, "\",\"ts\":%zu,\"dur\":1,\"pid\":1,\"tid\":1}", i + 1);
}

static tl_trace *load_many(void)
{
	tl_buf text = {0};
	tl__buf_putc(&text, '[');
	for (size_t i = 0; i < MANY; i++) {
		if (i)
			tl__buf_puts(&text, ",\n");
		many_text(&text, i);
	}
	tl__buf_putc(&text, ']');
	tl_trace *trace = load_raw(text.v, text.n);
	assert_int_equal(tl_trace_count(trace), MANY);
	tl__buf_free(&text);
	return trace;
}

static void expect_many(const tl_trace *trace, size_t i)
{
	tl_buf expected = {0};
	many_text(&expected, i);
	expect_raw(trace, (tl_row)i, tl__buf_text(&expected));
	tl__buf_free(&expected);
}

static void events_are_found_in_any_order(void **state)
{
	(void)state;
	tl_trace *trace = load_many();
	for (size_t i = 0; i < MANY; i++)
		expect_many(trace, i);
	for (size_t i = 0; i < 3000; i++)
		expect_many(trace, i * 6007 % MANY);
	tl_trace_free(trace);
}

static void *read_many(void *user)
{
	const tl_trace *trace = user;
	for (size_t i = 0; i < 1500; i++)
		expect_many(trace, i * 7907 % MANY);
	return NULL;
}

static void threads_may_read_at_once(void **state)
{
	(void)state;
	tl_trace *trace = load_many();
	pthread_t thread[3];
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, read_many, trace), 0);
	for (size_t i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	tl_trace_free(trace);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	int code = TL_ENOMEM;
	for (int64_t n = 0; code != 0 && n < 10000; n++) {
		tl_trace_options options = {.single_thread = true, .keep_raw = true};
		tl_trace *trace;
		char *raw = NULL;
		tl__alloc_fail_after(n);
		code = tl_trace_open_memory(&trace, events_text, strlen(events_text), &options, NULL);
		if (code == 0)
			code = tl_event_raw(&raw, NULL, tl_trace_events(trace), OP, NULL);
		tl__alloc_fail_after(-1);
		assert_true(code == 0 || code == TL_ENOMEM);
		free(raw);
		tl_trace_free(trace);
	}
	assert_int_equal(code, 0);
}

/* ---- real traces ---- */

/* Name, category and times of every event, once from the store and once from its whole text. */
static void check_file(const char *path)
{
	tl_trace_options options = {.keep_raw = true};
	tl_trace *trace;
	assert_int_equal(tl_trace_open(&trace, path, &options, NULL), 0);
	const tl_events *e = tl_trace_events(trace);
	for (tl_row row = 0; row < tl_events_count(e); row++) {
		char *text, duration[TL_EVENT_TEXT], *end;
		size_t n;
		tl_arena arena = {0};
		const tl_value *value;
		assert_int_equal(tl_event_raw(&text, &n, e, row, NULL), 0);
		assert_int_equal(tl__value_parse(&arena, text, n, false, &value), 0);
		const char *name = tl__value_text(tl__value_get(value, "name"));
		assert_string_equal(name ? name : "", tl_event_name(e, row, NULL));
		const char *category = tl__value_text(tl__value_get(value, "cat"));
		assert_string_equal(category ? category : "", tl_event_category(e, row, NULL));
		/* these files write no zeros at the end of a fraction but ".000", so the text is the same */
		const char *dur = strstr(text, "\"dur\":");
		tl_event_duration_text(e, row, duration);
		if (dur && tl_event_has_duration(e, row))
			assert_true(strtod(duration, NULL) == strtod(dur + 6, &end));
		free(text);
		tl__arena_free(&arena);
	}
	tl_trace_free(trace);
}

static void real_traces(void **state)
{
	(void)state;
	const char *root = getenv("TL_SOURCE_ROOT");
	static const char *const files[] = {"mi300_bert_small", "normalization_layers", "torch_compile_triton",
					    "h100_qwen1.5_0.5b"};
	char path[4096];
	snprintf(path, sizeof path, "%s/examples/traces/transformer_rank0.json.gz", root ? root : ".");
	check_file(path);
	for (size_t i = 0; i < 4; i++) {
		char name[256];
		snprintf(name, sizeof name, "corpus/pytorch/%s.json.gz", files[i]);
		check_file(tl_corpus_needed(path, name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_kinds_and_categories),
		cmocka_unit_test(times_as_the_file_states_them),
		cmocka_unit_test(times_around_zero),
		cmocka_unit_test(identifiers),
		cmocka_unit_test(arguments),
		cmocka_unit_test(the_rest_of_the_file),
		cmocka_unit_test(bad_use_is_answered),
		cmocka_unit_test(whole_events_are_kept_on_request),
		cmocka_unit_test(repaired_events_are_valid),
		cmocka_unit_test(any_text_becomes_json),
		cmocka_unit_test(deep_nesting_does_not_break_an_event),
		cmocka_unit_test(events_are_found_in_any_order),
		cmocka_unit_test(threads_may_read_at_once),
		cmocka_unit_test(every_failed_allocation_is_reported),
		cmocka_unit_test(real_traces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
