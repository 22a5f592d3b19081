/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the text of a trace, cut into blocks at any place and read by one thread and by two: what comes out must
 * be the same, down to ids and byte offsets. The first three bytes choose how and where.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ring.h"
#include "trace/raw.h"
#include "trace/store_same.h"
#include "trace/trace.h"
#include "util/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct loaded {
	tl_trace *trace;
	int code;
	tl_error err;
} loaded;

static loaded load(const tl_buf *text, bool single_thread, bool strict)
{
	tl_trace_options options = {.single_thread = single_thread, .strict = strict, .keep_raw = true};
	loaded out = {.err = TL_ERROR_INIT};
	out.code = tl_trace_open_memory(&out.trace, text->v, text->n, &options, &out.err);
	if (out.code < 0 && (out.trace || out.err.code != out.code || !out.err.message[0]))
		abort();
	return out;
}

static void unload(loaded *l)
{
	tl_trace_free(l->trace);
}

static void compare_raw(const loaded *a, const loaded *b)
{
	size_t n = a->trace->store->n, step = n / 64 + 1;
	for (size_t row = 0; row < n; row += step) {
		tl_buf x = {0}, y = {0};
		if (tl__raw_get(&x, a->trace->raw, (tl_row)row) < 0 || tl__raw_get(&y, b->trace->raw, (tl_row)row) < 0)
			abort();
		if (x.n != y.n || (x.n && memcmp(x.v, y.v, x.n) != 0))
			abort();
		tl__buf_free(&x);
		tl__buf_free(&y);
	}
}

/* Places in the text of `b` are `shift` bytes further on. */
static void compare(const loaded *a, const loaded *b, size_t shift)
{
	if (a->code != b->code)
		abort();
	if (a->code == 0) {
		const char *what = tl__store_differs(a->trace->store, b->trace->store, (int64_t)shift);
		if (what) {
			fprintf(stderr, "%s differ\n", what);
			abort();
		}
		compare_raw(a, b);
	} else if (!shift && strcmp(a->err.message, b->err.message) != 0) {
		abort();
	}
}

static void put_blanks(tl_buf *text, size_t n)
{
	char *to = tl__buf_reserve(text, n + 1);
	if (!to)
		abort();
	memset(to, ' ', n);
	text->n += n;
}

/* A window ends at byte `cut` of the text; by one thread, by two, and with no cut at all. */
static void one_cut(const uint8_t *data, size_t size, size_t cut, bool strict)
{
	tl_buf plain = {0}, moved = {0};
	put_blanks(&plain, 1); /* so that neither is taken for a container, nor has a byte order mark */
	tl__buf_put(&plain, (const char *)data, size);
	put_blanks(&moved, TL_RING_BLOCK - cut);
	tl__buf_put(&moved, (const char *)data, size);
	if (plain.failed || moved.failed)
		abort();
	loaded whole = load(&plain, true, strict), one = load(&moved, true, strict), two = load(&moved, false, strict);
	compare(&one, &two, 0);
	if (size < TL_RING_BLOCK)
		compare(&whole, &one, moved.n - plain.n);
	unload(&whole);
	unload(&one);
	unload(&two);
	tl__buf_free(&plain);
	tl__buf_free(&moved);
}

/* The text as the inner part of a list, many times, so that windows end at many places of it. */
static void repeated(const uint8_t *data, size_t size, bool strict)
{
	enum { WINDOWS_END = 4096 }; /* bytes behind the end of a window */
	static const char before[] = "{\"traceEvents\": [", between[] = ",\n  ";
	tl_buf text = {0};
	tl__buf_put(&text, before, sizeof before - 1);
	while (text.n < TL_RING_BLOCK + WINDOWS_END && !text.failed) {
		tl__buf_put(&text, (const char *)data, size);
		tl__buf_put(&text, between, sizeof between - 1);
	}
	tl__buf_puts(&text, "{}]}");
	if (text.failed)
		abort();
	loaded one = load(&text, true, strict), two = load(&text, false, strict);
	compare(&one, &two, 0);
	unload(&one);
	unload(&two);
	tl__buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	bool strict = data[0] & 1, repeat = data[0] & 2;
	size_t place = (size_t)data[1] << 8 | data[2];
	data += 3;
	size -= 3;
	if (repeat)
		repeated(data, size, strict);
	else
		one_cut(data, size, place % (size + 1), strict);
	return 0;
}
