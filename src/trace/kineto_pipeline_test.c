/* SPDX-License-Identifier: MIT */
/* Reading with two threads gives what reading with one gives, to the last id, whatever stands in the file. */

#include <unistd.h>

#include "trace/raw.h"
#include "trace/store_same.h"
#include "trace/trace_testing.h"
#include "util/buf.h"

enum { BLOCK = 256 << 10 }; /* about what the source hands over at a time */

static tl_trace *open_text(const tl_buf *text, bool single_thread)
{
	tl_trace_options options = {.single_thread = single_thread, .keep_raw = true};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	if (tl_trace_open_memory(&trace, text->v, text->n, &options, &err) < 0)
		fail_msg("%s: %s", tl_code_name(err.code), err.message);
	return trace;
}

static void assert_same_store(const tl_store *a, const tl_store *b)
{
	const char *what = tl__store_differs(a, b, 0);
	if (what)
		fail_msg("%s differ", what);
}

static void assert_same_either_way(const tl_buf *text, size_t events)
{
	tl_trace *one = open_text(text, true), *two = open_text(text, false);
	if (events)
		assert_int_equal(one->store->n, events);
	assert_same_store(one->store, two->store);
	for (tl_row row = 0; row < one->store->n; row += 97) {
		tl_buf a = {0}, b = {0};
		assert_int_equal(tl__raw_get(&a, one->raw, row), 0);
		assert_int_equal(tl__raw_get(&b, two->raw, row), 0);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.v, b.v, a.n);
		tl__buf_free(&a);
		tl__buf_free(&b);
	}
	tl_trace_free(one);
	tl_trace_free(two);
}

static void put_op(tl_buf *text, int i)
{
	tl__buf_printf(
		text,
		"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op %d\", \"pid\": 7, \"tid\": %d, \"ts\": %d.%03d, "
		"\"dur\": %d, \"args\": {\"External id\": %d, \"Input Dims\": [[%d, 2], [ ]]}}",
		i % 100, i % 3, 1000 + i, i % 1000, i % 50, i, i % 17);
}

static void put_kernel(tl_buf *text, int i)
{
	tl__buf_printf(
		text,
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":1,\"args\":{"
		"\"correlation\":%d,\"stream\":7,\"Collective name\":\"x\",\"grid\":[%d,1,1]}}",
		i % 30, 2000 + i, i, i % 5);
}

static void plain_events(void **state)
{
	enum { EVENTS = 20000 };
	tl_buf text = {0};
	(void)state;
	tl__buf_puts(&text, "{\"traceEvents\": [");
	for (int i = 0; i < EVENTS; i++) {
		tl__buf_puts(&text, i ? ",\n" : "");
		if (i % 4)
			put_op(&text, i);
		else
			put_kernel(&text, i);
	}
	tl__buf_puts(&text, "], \"traceName\": \"t\"}");
	assert_true(text.n > 8 * BLOCK);
	assert_same_either_way(&text, EVENTS);
	tl__buf_free(&text);
}

/* So short that a block of text fills several batches. */
static void tiny_events(void **state)
{
	enum { EVENTS = 300000 };
	tl_buf text = {0};
	(void)state;
	tl__buf_puts(&text, "[{\"ph\":\"X\",\"ts\":5,\"dur\":1}");
	for (int i = 1; i < EVENTS; i++)
		tl__buf_puts(&text, i % 1000 ? ",{\"ts\":1}" : ",{}");
	tl__buf_puts(&text, "]");
	assert_same_either_way(&text, EVENTS);
	tl__buf_free(&text);
}

/* Values that fill no block, one block, several blocks; the events before and behind are not disturbed. */
static void huge_events(void **state)
{
	static const int sizes[] = {1000, 70000, BLOCK, 3 * BLOCK, 60000, 100, 9 * BLOCK};
	enum { SIZES = sizeof sizes / sizeof *sizes, BETWEEN = 50 };
	tl_buf text = {0};
	(void)state;
	tl__buf_puts(&text, "{\"traceEvents\": [");
	for (int round = 0; round < 3; round++)
		for (int s = 0; s < SIZES; s++) {
			for (int i = 0; i < BETWEEN; i++) {
				put_op(&text, i + s);
				tl__buf_puts(&text, ",");
			}
			tl__buf_printf(&text,
				       "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"huge\",\"ts\":%d,\"dur\":1,"
				       "\"args\":{\"Concrete Inputs\":[\"",
				       5000 + s);
			for (int i = 0; i < sizes[s]; i++)
				tl__buf_put(&text, &"abcdefghij"[i % 10], 1);
			tl__buf_puts(&text, "\"]}},\n");
		}
	put_kernel(&text, 1);
	tl__buf_puts(&text, "]}");
	assert_same_either_way(&text, 3 * SIZES * (BETWEEN + 1) + 1);
	tl__buf_free(&text);
}

/* Behind so many blanks that the first window ends at each of its bytes in turn, a text says the same. */
static void assert_same_at_cuts(const tl_buf *plain, size_t from, size_t to)
{
	tl_trace *trace = load_bytes(plain->v, plain->n);
	assert_healthy(trace);
	for (size_t cut = from; cut < to; cut++) {
		tl_buf text = {0};
		while (text.n < BLOCK - cut)
			tl__buf_putc(&text, ' ');
		size_t shift = text.n;
		tl__buf_put(&text, plain->v, plain->n);
		for (int single = 0; single < 2; single++) {
			tl_trace *shifted = open_text(&text, single);
			const char *what = tl__store_differs(trace->store, shifted->store, (int64_t)shift);
			if (what)
				fail_msg("cut at byte %zu: %s differ", cut, what);
			tl_trace_free(shifted);
		}
		tl__buf_free(&text);
	}
	tl_trace_free(trace);
}

static void windows_that_end_anywhere(void **state)
{
	enum { EVENTS = 12, CUT = 3 };
	tl_buf list = {0}, lines = {0};
	size_t to = 0;
	(void)state;
	tl__buf_puts(&list, "{\"traceEvents\": [");
	for (int i = 0; i < EVENTS; i++) {
		tl__buf_puts(&list, i ? ",\n " : "");
		if (i % 3 == 1)
			put_kernel(&list, i);
		else
			put_op(&list, i);
		to = i == CUT ? list.n : to;
	}
	tl__buf_puts(&list, "]}");
	assert_same_at_cuts(&list, 0, to);
	tl__buf_free(&list);

	tl__buf_puts(&lines, "{ \"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"ts\":1,\"dur\":1}");
	assert_same_at_cuts(&lines, 0, lines.n);
	tl__buf_free(&lines);
}

/* Every kind of repair and finding, rarely or all the time: the pipeline is drained for each. */
static void broken_events(void **state)
{
	static const char *const odd[] = {
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"na\"me\",\"pid\":0,\"tid\":7,\"ts\":2,\"dur\":2}",
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\\xb\",\"ts\":3,\"dur\":nan}",
		"17",
		"{bad",
		"",
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"x\",\"ts\":4,\"dur\":1,\"ts\":007}",
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":1,\"args\":{\"name\":\"n\"}}",
	};
	enum { KINDS = sizeof odd / sizeof *odd };
	(void)state;
	for (int every = 1; every <= 700; every *= 9) {
		tl_buf text = {0};
		tl__buf_puts(&text, "{\"traceEvents\": [");
		put_op(&text, 0);
		for (int i = 1; i < 9000; i++) {
			tl__buf_puts(&text, ",");
			if (i % every)
				put_op(&text, i);
			else
				tl__buf_puts(&text, odd[i / every % KINDS]);
		}
		tl__buf_puts(&text, "], \"a\": 1}{\"traceEvents\": [");
		put_kernel(&text, 1); /* and the file is cut off */
		assert_same_either_way(&text, 0);
		tl__buf_free(&text);
	}
}

static void memory_may_run_out(void **state)
{
	enum { EVENTS = 3000 };
	tl_buf text = {0};
	(void)state;
	tl__buf_puts(&text, "{\"traceEvents\": [");
	for (int i = 0; i < EVENTS; i++) {
		tl__buf_puts(&text, i ? "," : "");
		put_op(&text, i);
	}
	tl__buf_puts(&text, "]}");
	assert_true(text.n > BLOCK);
	for (int64_t n = 0;; n++) {
		tl_error err = TL_ERROR_INIT;
		tl_trace *trace = NULL;
		tl__alloc_fail_after(n);
		int code = tl_trace_open_memory(&trace, text.v, text.n, NULL, &err);
		tl__alloc_fail_after(-1);
		if (!code) {
			assert_int_equal(tl_trace_count(trace), EVENTS);
			assert_true(n > 30);
			tl_trace_free(trace);
			break;
		}
		assert_null(trace);
		assert_int_equal(code, TL_ENOMEM);
		assert_int_equal(err.code, TL_ENOMEM);
	}
	tl__buf_free(&text);
}

/* The importer asks every tenth of a second, so that the next block is the next time. */
static int stop_at_third(void *user, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	usleep(110000);
	return ++*(int *)user == 3;
}

/* Events are under way when the caller has had enough. */
static void cancelled_in_the_middle(void **state)
{
	tl_buf text = {0};
	int calls = 0;
	tl_trace_options options = {.progress = stop_at_third, .user = &calls};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	(void)state;
	tl__buf_puts(&text, "[");
	for (int i = 0; text.n < 8 * BLOCK; i++) {
		put_op(&text, i);
		tl__buf_puts(&text, ",");
	}
	tl__buf_puts(&text, "{}]");
	assert_int_equal(tl_trace_open_memory(&trace, text.v, text.n, &options, &err), TL_ECANCELLED);
	assert_null(trace);
	assert_int_equal(calls, 3);
	tl__buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_events),
		cmocka_unit_test(tiny_events),
		cmocka_unit_test(huge_events),
		cmocka_unit_test(windows_that_end_anywhere),
		cmocka_unit_test(broken_events),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(cancelled_in_the_middle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
