/* SPDX-License-Identifier: MIT */
/** @file io_testing.h What the tests of this folder share: texts, and packed forms of them made with zlib. */
#ifndef TL_IO_IO_TESTING_H
#define TL_IO_IO_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

typedef struct bytes {
	uint8_t *v;
	size_t n;
} bytes;

static inline uint32_t test_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Text of about a trace's kind: repeating keys, changing numbers. Exactly `n` bytes. */
static inline bytes test_text(size_t n, uint32_t seed)
{
	bytes text = {malloc(n + 128), 0};

	assert_non_null(text.v);
	while (text.n < n) {
		uint32_t r = test_random(&seed);
		text.n += (size_t)sprintf((char *)text.v + text.n,
					  "{\"ph\": \"X\", \"name\": \"aten::op%u\", \"ts\": %u.%03u, \"dur\": %u},\n",
					  r % 37, r, r % 1000, r % 977);
	}
	text.n = n;
	return text;
}

static inline void test_append(bytes *to, const void *v, size_t n)
{
	to->v = realloc(to->v, to->n + n + 1);
	assert_non_null(to->v);
	if (n)
		memcpy(to->v + to->n, v, n);
	to->n += n;
}

enum { TEST_EXTRA = 1, TEST_NAME = 2, TEST_COMMENT = 4, TEST_HCRC = 8 };

/* Appends a gzip member. */
static inline void test_gzip(bytes *to, const void *v, size_t n, int level, int strategy, int fields)
{
	Bytef extra[700], name[] = "trace.json", comment[] = "made by a test";
	gz_header head = {0};
	z_stream z = {0};
	bytes packed = {malloc(n + n / 100 + 4096), 0};

	assert_non_null(packed.v);
	memset(extra, 0x1f, sizeof extra);
	head.time = 12345;
	head.extra = fields & TEST_EXTRA ? extra : NULL;
	head.extra_len = sizeof extra;
	head.name = fields & TEST_NAME ? name : NULL;
	head.comment = fields & TEST_COMMENT ? comment : NULL;
	head.hcrc = fields & TEST_HCRC ? 1 : 0;
	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 16 + MAX_WBITS, 8, strategy), Z_OK);
	assert_int_equal(deflateSetHeader(&z, &head), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)v;
	z.avail_in = (uInt)n;
	z.next_out = packed.v;
	z.avail_out = (uInt)(n + n / 100 + 4096);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	test_append(to, packed.v, z.total_out);
	deflateEnd(&z);
	free(packed.v);
}

#endif
