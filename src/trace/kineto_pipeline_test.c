/* SPDX-License-Identifier: MIT */
/* Reading with two threads gives what reading with one gives, to the last id, whatever stands in the file. */
#include "trace/kineto_pipeline.h"

#include <unistd.h>

#include "trace/raw.h"
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

static void assert_same_ops(const tl_store *a, const tl_store *b)
{
	assert_int_equal(a->ops.n, b->ops.n);
	for (size_t i = 0; i < a->ops.n; i++) {
		const tl_op_args *x = &a->ops.v[i], *y = &b->ops.v[i];
		if (x->dims != y->dims || x->types != y->types || x->strides != y->strides ||
		    x->concrete != y->concrete || x->kernel_file != y->kernel_file || x->external != y->external ||
		    x->sequence != y->sequence || x->fwd_thread != y->fwd_thread)
			fail_msg("arguments %zu of operations differ", i);
	}
}

static void assert_same_links(const tl_store *a, const tl_store *b)
{
	assert_int_equal(a->links.n, b->links.n);
	for (size_t i = 0; i < a->links.n; i++) {
		const tl_link_args *x = &a->links.v[i], *y = &b->links.v[i];
		if (x->correlation != y->correlation || x->external != y->external || x->stream != y->stream ||
		    x->device != y->device || x->grid != y->grid || x->block != y->block ||
		    x->collective != y->collective)
			fail_msg("arguments %zu of launches differ", i);
	}
	assert_int_equal(a->collectives.n, b->collectives.n);
	if (a->collectives.n)
		assert_memory_equal(a->collectives.v, b->collectives.v, a->collectives.n * sizeof *a->collectives.v);
}

static void assert_same_health(const tl_health *a, const tl_health *b)
{
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++) {
		const tl_health_entry *x = &a->entry[kind], *y = &b->entry[kind];
		if (x->count != y->count || x->first_offset != y->first_offset || x->first_row != y->first_row ||
		    x->time != y->time || strcmp(x->detail, y->detail) != 0)
			fail_msg("%s: %llu at %lld and %llu at %lld", tl__health_name((tl_health_kind)kind),
				 (unsigned long long)x->count, (long long)x->first_offset, (unsigned long long)y->count,
				 (long long)y->first_offset);
	}
}

static void assert_same_store(const tl_store *a, const tl_store *b)
{
	size_t n = a->n;
	assert_int_equal(b->n, n);
	assert_memory_equal(a->name, b->name, n * sizeof *a->name);
	assert_memory_equal(a->category, b->category, n * sizeof *a->category);
	assert_memory_equal(a->kind, b->kind, n);
	assert_memory_equal(a->flags, b->flags, n);
	assert_memory_equal(a->track, b->track, n * sizeof *a->track);
	assert_memory_equal(a->start, b->start, n * sizeof *a->start);
	assert_memory_equal(a->dur, b->dur, n * sizeof *a->dur);
	assert_memory_equal(a->side, b->side, n * sizeof *a->side);
	assert_same_ops(a, b);
	assert_same_links(a, b);
	assert_int_equal(a->categories.n, b->categories.n);
	assert_memory_equal(a->categories.v, b->categories.v, a->categories.n * sizeof *a->categories.v);
	assert_int_equal(a->metadata_keys.n, b->metadata_keys.n);
	assert_int_equal(a->tracks.n, b->tracks.n);
	assert_int_equal(a->base_us, b->base_us);
	assert_int_equal(a->truncated, b->truncated);
	assert_int_equal(a->text_bytes, b->text_bytes);
	size_t strings = tl__strings_count(a->strings);
	assert_int_equal(tl__strings_count(b->strings), strings);
	for (tl_str id = 0; id < strings; id++)
		assert_string_equal(tl__str(a->strings, id), tl__str(b->strings, id));
	assert_same_health(&a->health, &b->health);
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
				tl__buf_put(&text, "abcdefghij" + i % 10, 1);
			tl__buf_puts(&text, "\"]}},\n");
		}
	put_kernel(&text, 1);
	tl__buf_puts(&text, "]}");
	assert_same_either_way(&text, 3 * SIZES * (BETWEEN + 1) + 1);
	tl__buf_free(&text);
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
		cmocka_unit_test(plain_events),       cmocka_unit_test(tiny_events),
		cmocka_unit_test(huge_events),        cmocka_unit_test(broken_events),
		cmocka_unit_test(memory_may_run_out), cmocka_unit_test(cancelled_in_the_middle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
