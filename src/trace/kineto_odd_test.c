/* SPDX-License-Identifier: MIT */
/* Unusual ways to write what is usual (escapes, numbers), texts too long to carry along, and damaged containers. */
#include "io/inflate.h"
#include "trace/trace_testing.h"

#define TRACE(events) "{\"traceEvents\":[" events "]}"

/* ---- escapes ---- */

/* Every field of every kind of event, as any writer puts it. */
static const char plain[] =
	"{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":\"77\",\"traceEvents\":["
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"python\"}},"
	"{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"tid\":0,\"args\":{\"labels\":\"GPU 0\"}},"
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":7,\"args\":{\"name\":\"stream 7\"}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"args\":{"
	"\"External id\":3,\"Input Dims\":[[2,3],[3,4]],\"Input type\":[\"float\",\"\"],\"Input "
	"Strides\":[[3,1],[4,1]],"
	"\"Concrete Inputs\":[\"a\\\"b\"],\"Sequence number\":9,\"Fwd thread id\":1,\"kernel_file\":\"f.py\","
	"\"perf_meta\":{\"key\":\"v\"}}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":2,\"ts\":11,\"dur\":2,"
	"\"args\":{\"correlation\":4,\"External id\":3}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":6,\"args\":{"
	"\"correlation\":4,\"stream\":7,\"device\":0,\"grid\":[1,2,3],\"block\":[4,5,6],\"Collective "
	"name\":\"allreduce\","
	"\"dtype\":\"Float\",\"Group size\":8}},"
	"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"pid\":1,\"tid\":2,\"ts\":9,\"dur\":20,\"args\":{"
	"\"Python id\":1,\"Python parent id\":0,\"Python module id\":2}},"
	"{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":4,\"pid\":1,\"tid\":2,\"ts\":11},"
	"{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id2\":{\"global\":4},\"pid\":0,\"tid\":7,\"ts\":20,\"bp\":"
	"\"e\"}]}";

/* The same with one letter of each string written as an escape: the first, or every one. */
static char *escaped(bool every)
{
	char *out = malloc(6 * sizeof plain), *to = out;
	bool inside = false, first = false;
	assert_non_null(out);
	for (const char *p = plain; *p; p++) {
		if (*p == '"') {
			inside = !inside;
			first = true;
			*to++ = *p;
		} else if (*p == '\\') {
			*to++ = *p++;
			*to++ = *p;
		} else if (inside && (every || first)) {
			to += sprintf(to, "\\u%04x", (unsigned)*p);
			first = false;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

static void assert_same_text(const tl_trace *a, tl_str x, const tl_trace *b, tl_str y)
{
	assert_string_equal(text_of(a, x), text_of(b, y));
	assert_int_equal(x == TL_STR_NONE, y == TL_STR_NONE);
}

static void escapes_change_nothing(void **state)
{
	(void)state;
	for (int every = 0; every < 2; every++) {
		char *text = escaped(every);
		tl_trace *a = load(plain), *b = load(text);
		const tl_store *s = a->store, *t = b->store;
		assert_healthy(a);
		assert_healthy(b);
		assert_int_equal(s->n, 9);
		assert_int_equal(t->n, s->n);
		assert_int_equal(t->base_ns, 77);
		for (tl_row row = 0; row < s->n; row++) {
			assert_int_equal(t->kind[row], s->kind[row]);
			assert_int_equal(t->start[row], s->start[row]);
			assert_int_equal(t->dur[row], s->dur[row]);
			assert_string_equal(name_of(b, row), name_of(a, row));
			assert_int_equal(track_of(b, row)->pid, track_of(a, row)->pid);
			assert_int_equal(track_of(b, row)->tid, track_of(a, row)->tid);
		}
		assert_int_equal(t->kind[5], TL_KIND_KERNEL);
		assert_int_equal(t->dur[5], US(6));
		assert_string_equal(text_of(b, track_of(b, 5)->thread_name), "");
		assert_same_text(b, t->processes.v[0].name, a, s->processes.v[0].name);
		assert_string_equal(text_of(b, t->processes.v[0].labels), "GPU 0");

		const tl_op_args *op = tl__op_args(t, 3);
		assert_string_equal(text_of(b, op->dims), "[[2,3],[3,4]]");
		assert_string_equal(text_of(b, op->types), "[\"float\",\"\"]");
		assert_string_equal(text_of(b, op->strides), "[[3,1],[4,1]]");
		assert_string_equal(text_of(b, op->concrete), "[\"a\\\"b\"]");
		assert_string_equal(text_of(b, op->kernel_file), "\"f.py\"");
		assert_int_equal(op->external, 3);
		assert_int_equal(op->sequence, 9);
		assert_int_equal(op->fwd_thread, 1);
		assert_int_equal(t->extras.n, 1);
		assert_string_equal(text_of(b, t->extras.v[0].value), "{\"key\":\"v\"}");

		const tl_link_args *link = tl__link_args(t, 5);
		assert_int_equal(link->correlation, 4);
		assert_int_equal(link->stream, 7);
		assert_int_equal(link->device, 0);
		assert_string_equal(text_of(b, link->grid), "[1,2,3]");
		assert_string_equal(text_of(b, link->block), "[4,5,6]");
		const tl_coll_args *coll = &t->collectives.v[link->collective];
		assert_string_equal(text_of(b, coll->field[TL_COLL_NAME]), "\"allreduce\"");
		assert_string_equal(text_of(b, coll->field[TL_COLL_DTYPE]), "\"Float\"");
		assert_string_equal(text_of(b, coll->field[TL_COLL_GROUP_SIZE]), "8");
		assert_int_equal(tl__python_args(t, 6)->id, 1);
		assert_int_equal(tl__python_args(t, 6)->parent, 0);
		assert_int_equal(tl__python_args(t, 6)->module, 2);
		for (tl_row row = 7; row < 9; row++) {
			assert_int_equal(t->flows.v[t->side[row]].id, 4);
			assert_int_equal(t->flows.v[t->side[row]].phase, row == 7 ? 's' : 'f');
		}
		tl_trace_free(a);
		tl_trace_free(b);
		free(text);
	}
}

/* Numbers in texts may be escaped as well; and two spellings of one text meet. */
static void escaped_values(void **state)
{
	(void)state;
	tl_trace *trace = load(
		TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":\"\\u0031\",\"tid\":1,\"ts\":"
		      "\"\\u0035\",\"dur\":\"\\u0031.5\",\"args\":{\"Concrete Inputs\":[\"\\u00e9\\/\\n\\u000A\"]}},"
		      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":1,"
		      "\"args\":{\"Concrete Inputs\" : [\"\xc3\xa9/\\u000a\\n\"]}},"
		      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":1,"
		      "\"args\":{\"Concrete Inputs\":[\"\\ud83d\\ude00\",\"\\uD800x\",\"\\u0001\\b\"]}}"));
	const tl_store *store = trace->store;
	assert_healthy(trace);
	assert_int_equal(store->track[0], store->track[1]);
	assert_int_equal(store->start[1] - store->start[0], US(2));
	assert_int_equal(store->dur[0], 1500000);
	assert_int_equal(tl__op_args(store, 0)->concrete, tl__op_args(store, 1)->concrete);
	assert_string_equal(text_of(trace, tl__op_args(store, 0)->concrete), "[\"\xc3\xa9/\\n\\n\"]");
	assert_string_equal(text_of(trace, tl__op_args(store, 2)->concrete),
			    "[\"\xf0\x9f\x98\x80\",\"\\ud800x\",\"\\u0001\\b\"]");
	tl_trace_free(trace);
}

/* Escaped keys are keys where a broken event is repaired or left behind, too. */
static void escaped_keys_beside_broken_events(void **state)
{
	(void)state;
	tl_trace *trace =
		load(TRACE("{\"p\\u0068\":\"X\",\"name\":\"na\"me\",\"\\u0064ur\":3,\"t\\u0073\":4,\"cat\":\"cpu_op\"},"
			   "{\"ph\":\"X\",tid\": 0},{\"\\u0070h\":\"X\",\"cat\":\"kernel\",\"\\u006eame\":\"k\","
			   "\"ts\":5,\"dur\":2}"));
	assert_int_equal(tl_trace_count(trace), 3);
	assert_string_equal(name_of(trace, 0), "na\"me");
	assert_int_equal(trace->store->dur[0], US(3));
	assert_int_equal(trace->store->kind[1], TL_KIND_EMPTY);
	assert_string_equal(name_of(trace, 2), "k");
	assert_int_equal(trace->store->kind[2], TL_KIND_KERNEL);
	assert_int_equal(found(trace, TL_HEALTH_UNESCAPED_QUOTE), 1);
	assert_int_equal(found(trace, TL_HEALTH_UNREADABLE_EVENT), 1);
	tl_trace_free(trace);
	/* events without a list around them */
	trace = load("{\"\\u0070h\":\"\\u0058\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":5,\"dur\":2}\n");
	assert_int_equal(tl_trace_count(trace), 1);
	assert_int_equal(trace->store->kind[0], TL_KIND_KERNEL);
	assert_healthy(trace);
	tl_trace_free(trace);
}

/* ---- numbers ---- */

/* A kernel with this duration; `dur` TL_TIME_NONE: it counts as missing. */
static void check_duration(const char *written, tl_health_kind kind, tl_time dur)
{
	char text[512];
	int n = snprintf(
		text, sizeof text,
		TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":5,\"dur\": %s,\"args\":{\"stream\":7}}"),
		written);
	tl_trace *trace = load_bytes(text, (size_t)n);
	assert_int_equal(tl_trace_count(trace), 1);
	if (dur != TL_TIME_NONE) {
		assert_only(trace, kind, kind == TL_HEALTH_KINDS ? 0 : 1);
		assert_int_equal(trace->store->dur[0], dur);
	} else {
		assert_int_equal(found(trace, kind), 1);
		assert_int_equal(found(trace, TL_HEALTH_MISSING_DURATION), 1);
		assert_true(trace->store->flags[0] & TL_EVENT_NO_DUR);
	}
	assert_int_equal(tl__link_args(trace->store, 0)->stream, 7);
	tl_trace_free(trace);

	/* nobody reads this one, but it is not JSON all the same */
	n = snprintf(text, sizeof text,
		     TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":5,\"dur\":1,\"args\":{\"bw\":%s,"
			   "\"stream\":7}}"),
		     written);
	trace = load_bytes(text, (size_t)n);
	assert_only(trace, kind, kind == TL_HEALTH_KINDS ? 0 : 1);
	assert_int_equal(tl__link_args(trace->store, 0)->stream, 7);
	tl_trace_free(trace);
}

static void odd_numbers(void **state)
{
	static const struct {
		const char *text;
		tl_time value;
	} odd[] = {{"00012", US(12)},
		   {"007.5", 7500000},
		   {"1.", US(1)},
		   {"+5", US(5)},
		   {".5", 500000},
		   {"+.25", 250000},
		   {"1.e2", US(100)},
		   {"0x1f", US(31)},
		   {"+0", 0},
		   {"00", 0},
		   {"000000000000000000003", US(3)}},
	  good[] = {{"0", 0},         {"12", US(12)},          {"0.5", 500000}, {"1e2", US(100)}, {"1.5E+1", US(15)},
		    {"1e-1", 100000}, {"100.000000", US(100)}, {"0e5", 0},      {"0.0", 0}};
	static const char *const none[] = {"1e", "1-2", "--1", "1e5e5", "1.2.3", "-", "1e+", NULL};
	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		check_duration(odd[i].text, TL_HEALTH_ODD_NUMBER, odd[i].value);
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		check_duration(good[i].text, TL_HEALTH_KINDS, good[i].value);
	for (const char *const *text = none; *text; text++)
		check_duration(*text, TL_HEALTH_NOT_A_NUMBER, TL_TIME_NONE);

	/* in a time, an id, and a list; strict mode says so */
	static const char all[] =
		TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":007,\"tid\":+3,\"ts\":08,"
		      "\"dur\":1,\"args\":{\"Input Dims\":[[02,+3],[-.5,1.,1.e3,007.250]]}}");
	tl_trace *trace = load(all);
	/* where the event has to be rewritten, each number is looked at */
	assert_only(trace, TL_HEALTH_ODD_NUMBER, 9);
	assert_int_equal(track_of(trace, 0)->pid, 7);
	assert_int_equal(track_of(trace, 0)->tid, 3);
	assert_int_equal(trace->store->base_us, 8);
	assert_string_equal(text_of(trace, tl__op_args(trace->store, 0)->dims), "[[2,3],[-0.5,1.0,1.0e3,7.250]]");
	tl_trace_free(trace);
	trace = load(TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":007,\"tid\":3,\"ts\":08,\"dur\":1,"
			   "\"args\":{\"Input Dims\":[[02,+3],[-.5,1.,1.e3,007.250]]}}"));
	assert_only(trace, TL_HEALTH_ODD_NUMBER, 3); /* one a value of the event */
	assert_int_equal(track_of(trace, 0)->pid, 7);
	assert_string_equal(text_of(trace, tl__op_args(trace->store, 0)->dims), "[[2,3],[-0.5,1.0,1.0e3,7.250]]");
	tl_trace_free(trace);
	tl_error err = load_error(all, sizeof all - 1, true);
	assert_int_equal(err.code, TL_ESTRICT);
	assert_non_null(strstr(err.message, "odd_number"));
}

/* ---- long texts ---- */

enum { LONGEST = 64 << 10, MILLION = 1000000 };

/* An operation whose Input Dims are `n` bytes in canonical spelling: [1,1,...,1,x]. */
static size_t put_long(char *text, size_t n, char last)
{
	size_t at = (size_t)sprintf(text,
				    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":5,\"dur\":1,\"args\":{"
				    "\"Input Dims\": [");
	for (size_t i = 0; i + 4 < n; i += 2) {
		text[at++] = '1';
		text[at++] = ',';
	}
	if (n % 2 == 0)
		text[at++] = '1';
	return at + (size_t)sprintf(text + at, "%c]}}", last);
}

static void long_arguments(void **state)
{
	char *text = malloc(8 * MILLION);
	size_t n = 1;
	(void)state;
	assert_non_null(text);
	text[0] = '[';
	static const struct {
		size_t size;
		char last;
	} cases[] = {{LONGEST, '2'}, {LONGEST + 1, '2'}, {MILLION + 1, '3'}, {MILLION + 1, '4'}, {MILLION + 1, '3'}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		n += put_long(text + n, cases[i].size, cases[i].last);
		text[n++] = i + 1 < sizeof cases / sizeof *cases ? ',' : ']';
	}
	tl_trace *trace = load_bytes(text, n);
	const tl_store *store = trace->store;
	assert_only(trace, TL_HEALTH_LONG_ARGUMENT, 4);
	assert_false(tl__health_is_repair(TL_HEALTH_LONG_ARGUMENT));
	assert_int_equal(tl__str_len(store->strings, tl__op_args(store, 0)->dims), LONGEST);
	for (tl_row row = 1; row < 5; row++) {
		const char *dims = text_of(trace, tl__op_args(store, row)->dims);
		assert_in_range(strlen(dims), 60, 200);
		assert_int_equal(strncmp(dims, "\"[1,1,1,1,", 10), 0);
		assert_non_null(strstr(dims, row == 1 ? "(65537 characters, hash " : "(1000001 characters, hash "));
	}
	/* equal texts stay equal, different ones different, though they begin alike and are as long */
	assert_int_equal(tl__op_args(store, 2)->dims, tl__op_args(store, 4)->dims);
	assert_int_not_equal(tl__op_args(store, 2)->dims, tl__op_args(store, 3)->dims);
	tl_trace_free(trace);
	free(text);
}

/* Characters are counted, not bytes, and none is cut in two. */
static void long_text_of_wide_characters(void **state)
{
	enum { COUNT = 40000 };
	char *text = malloc(3 * COUNT + 512);
	(void)state;
	assert_non_null(text);
	size_t n = (size_t)sprintf(text,
				   "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":5,\"dur\":1,\"args\":{"
				   "\"kernel_file\":\"");
	for (int i = 0; i < COUNT; i++)
		n += (size_t)sprintf(text + n, "\xe2\x82\xac");
	n += (size_t)sprintf(text + n, "\"}}]");
	tl_trace *trace = load_bytes(text, n);
	const char *file = text_of(trace, tl__op_args(trace->store, 0)->kernel_file);
	assert_only(trace, TL_HEALTH_LONG_ARGUMENT, 1);
	assert_non_null(strstr(file, "(40002 characters, hash "));
	assert_null(strstr(file, "\xef\xbf\xbd"));
	tl_trace_free(trace);
	free(text);
}

/* ---- containers ---- */

static const char whole[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":5,\"dur\":2}]}";

/* gzip (RFC 1952) of one stored block (RFC 1951, 3.2.4). Returns its size. */
static size_t pack(uint8_t *out, const char *text, size_t n)
{
	static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1};
	uint32_t crc = tl__crc32(0, (const uint8_t *)text, n);
	size_t at = sizeof header;
	memcpy(out, header, at);
	out[at++] = (uint8_t)n;
	out[at++] = (uint8_t)(n >> 8);
	out[at++] = (uint8_t)~n;
	out[at++] = (uint8_t)(~n >> 8);
	memcpy(out + at, text, n);
	at += n;
	for (int i = 0; i < 4; i++)
		out[at++] = (uint8_t)(crc >> 8 * i);
	for (int i = 0; i < 4; i++)
		out[at++] = (uint8_t)(n >> 8 * i);
	return at;
}

static void wrong_checksum_is_no_cut(void **state)
{
	uint8_t packed[512];
	size_t n = pack(packed, whole, sizeof whole - 1);
	(void)state;
	tl_trace *trace = load_bytes((const char *)packed, n);
	assert_healthy(trace);
	tl_trace_free(trace);
	for (size_t at = n - 8; at < n; at += 7) { /* checksum, length */
		packed[at] ^= 1;
		trace = load_bytes((const char *)packed, n);
		assert_only(trace, TL_HEALTH_BAD_CONTAINER, 1);
		assert_false(tl_trace_is_truncated(trace));
		assert_int_equal(tl_trace_count(trace), 1);
		tl_trace_free(trace);
		tl_error err = load_error((const char *)packed, n, true);
		assert_int_equal(err.code, TL_ESTRICT);
		assert_non_null(strstr(err.message, "bad_container"));
		packed[at] ^= 1;
	}
	/* data that ends in the middle, and an end without its trailer, are cut off */
	for (size_t end = n - 1; end > n - 16; end--) {
		trace = load_bytes((const char *)packed, end);
		assert_only(trace, TL_HEALTH_TRUNCATED, 1);
		assert_true(tl_trace_is_truncated(trace));
		tl_trace_free(trace);
	}
	/* damage that loses what follows is both: here the next member has no readable header */
	n = pack(packed, whole, sizeof whole - 3);
	memcpy(packed + n, "\x1f\x8b\x07\0\0\0\0\0\0\0", 10);
	trace = load_bytes((const char *)packed, n + 10);
	assert_int_equal(found(trace, TL_HEALTH_BAD_CONTAINER), 1);
	assert_int_equal(found(trace, TL_HEALTH_TRUNCATED), 1);
	tl_trace_free(trace);
}

/* Nothing came out: the message says why, it is not "0 bytes". */
static void containers_without_content(void **state)
{
	uint8_t packed[512];
	size_t n = pack(packed, whole, sizeof whole - 1);
	(void)state;
	for (size_t end = 1; end <= 15; end++) {
		tl_error err = load_error((const char *)packed, end, false);
		assert_int_equal(err.code, TL_EFORMAT);
		assert_non_null(strstr(err.message, "nothing could be unpacked"));
		assert_non_null(strstr(err.message, "cut off"));
		assert_null(strstr(err.message, "empty"));
	}
	(void)n;
	static const struct {
		const char *text;
		size_t n;
	} cut[] = {{"\x28\xb5", 2}, {"\x28\xb5\x2f\xfd", 4}, {"\x28\xb5\x2f\xfd\x04", 5},
		   {"PK", 2},       {"PK\x03\x04", 4},       {"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0", 14}};
	for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
		tl_error err = load_error(cut[i].text, cut[i].n, false);
		assert_int_equal(err.code, TL_EFORMAT);
		assert_non_null(strstr(err.message, "cut off"));
	}
	/* a whole container of nothing */
	n = pack(packed, "", 0);
	tl_error err = load_error((const char *)packed, n, false);
	assert_non_null(strstr(err.message, "0 bytes"));
	assert_non_null(strstr(err.message, "packed"));
	err = load_error("", 0, false);
	assert_non_null(strstr(err.message, "the file is empty (0 bytes)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_change_nothing),
		cmocka_unit_test(escaped_values),
		cmocka_unit_test(escaped_keys_beside_broken_events),
		cmocka_unit_test(odd_numbers),
		cmocka_unit_test(long_arguments),
		cmocka_unit_test(long_text_of_wide_characters),
		cmocka_unit_test(wrong_checksum_is_no_cut),
		cmocka_unit_test(containers_without_content),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
