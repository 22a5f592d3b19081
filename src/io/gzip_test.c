/* SPDX-License-Identifier: MIT */
/* The gzip decoder over memory. Also compiled with zlib in place of ISA-L: see gzip_zlib_test.c. */
#include "io/io_testing.h"

#include "io/decode.h"
#include "util/alloc.h"

#define TAIL 16 /* bytes behind the room, to notice writes past it */

/* Unpacks everything, `step` bytes at a time at most. */
static tl_source_state unpack(const bytes *packed, bytes *out, size_t room, size_t step)
{
	tl_input *input;
	tl_decoder *d;
	tl_source_state state;
	int64_t got;

	out->v = malloc(room + TAIL);
	out->n = 0;
	assert_non_null(out->v);
	memset(out->v + room, 0xa5, TAIL);
	assert_int_equal(tl__input_open_memory(&input, packed->v, packed->n, NULL), 0);
	assert_int_equal(tl__decode_gzip(&d, input, NULL), 0);
	while (out->n < room) {
		size_t size = room - out->n < step ? room - out->n : step;
		got = d->read(d, out->v + out->n, size, NULL);
		assert_in_range(got, 0, size);
		if (!got)
			break;
		out->n += (size_t)got;
	}
	if (out->n == room) {
		uint8_t more;
		assert_int_equal(d->read(d, &more, 1, NULL), 0);
	}
	for (size_t i = 0; i < TAIL; i++)
		assert_int_equal(out->v[room + i], 0xa5);
	state = d->state;
	tl__decoder_free(d);
	return state;
}

static void assert_unpacks(const bytes *packed, const bytes *text, size_t step, bool truncated, bool damaged, bool junk)
{
	bytes out;
	tl_source_state state = unpack(packed, &out, text->n, step);

	assert_int_equal(out.n, text->n);
	assert_memory_equal(out.v, text->v, text->n);
	assert_int_equal(state.truncated, truncated);
	assert_int_equal(state.damaged, damaged);
	assert_int_equal(state.trailing_junk, junk);
	assert_int_equal(state.note[0] != 0, truncated || damaged || junk);
	assert_true(damaged || !state.incomplete);
	free(out.v);
}

static void levels_and_strategies(void **state)
{
	static const int kinds[][2] = {{0, 0}, {1, 0}, {6, 0}, {9, 0}, {6, Z_HUFFMAN_ONLY}, {6, Z_RLE}, {6, Z_FIXED}};
	static const size_t sizes[] = {0, 1, 2, 100, 32768, 65536, 65537, 300001};

	(void)state;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			bytes text = test_text(sizes[i], (uint32_t)i), packed = {0};
			test_gzip(&packed, text.v, text.n, kinds[k][0], kinds[k][1], 0);
			assert_unpacks(&packed, &text, SIZE_MAX, false, false, false);
			assert_unpacks(&packed, &text, 1000, false, false, false);
			if (sizes[i] < 70000)
				assert_unpacks(&packed, &text, 1, false, false, false);
			free(text.v);
			free(packed.v);
		}
	}
}

/* Members of random sizes with all kinds of headers. */
static bytes many_members(const bytes *text, uint32_t seed)
{
	bytes packed = {0};
	size_t at = 0;

	while (at < text->n) {
		size_t n = test_random(&seed) % 3000;
		if (n > text->n - at)
			n = text->n - at;
		test_gzip(&packed, text->v + at, n, (int)(test_random(&seed) % 10), 0, (int)(test_random(&seed) % 16));
		at += n;
	}
	return packed;
}

static void members_split_anywhere(void **state)
{
	static const size_t limits[] = {0, 1, 2, 3, 7, 8, 9, 64, 4093};

	(void)state;
	for (uint32_t seed = 0; seed < 5; seed++) {
		bytes text = test_text(50000, seed), packed = many_members(&text, seed);
		for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
			tl__source_inject(limits[i], -1);
			assert_unpacks(&packed, &text, SIZE_MAX, false, false, false);
			assert_unpacks(&packed, &text, 777, false, false, false);
		}
		tl__source_inject(0, -1);
		free(text.v);
		free(packed.v);
	}
}

/* How many bytes zlib gets out of a cut-off member. */
static size_t decodable(const uint8_t *packed, size_t n, size_t room)
{
	z_stream z = {0};
	uint8_t *out = malloc(room + 1);
	size_t got;

	assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)packed;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)room + 1;
	inflate(&z, Z_SYNC_FLUSH);
	got = z.total_out;
	inflateEnd(&z);
	free(out);
	return got;
}

static void cut_off_at_every_byte(void **state)
{
	bytes text = test_text(3000, 1), packed = {0};
	size_t first;

	(void)state;
	test_gzip(&packed, text.v, 1800, 6, 0, TEST_EXTRA | TEST_NAME | TEST_COMMENT | TEST_HCRC);
	first = packed.n;
	test_gzip(&packed, text.v + 1800, 1200, 9, Z_FIXED, TEST_NAME);
	for (size_t n = 2; n <= packed.n; n++) {
		bytes out, *copy = &(bytes){malloc(n), n};
		memcpy(copy->v, packed.v, n); /* of its own, so that a sanitizer sees reads past the end */
		tl_source_state s = unpack(copy, &out, text.n, n % 3 ? SIZE_MAX : 50);
		size_t want = n < first ? decodable(packed.v, n, text.n)
					: 1800 + decodable(packed.v + first, n - first, text.n);
		assert_int_equal(s.truncated, n != first && n != packed.n);
		assert_false(s.damaged);
		assert_false(s.trailing_junk);
		assert_int_equal(out.n, want);
		assert_memory_equal(out.v, text.v, out.n);
		free(copy->v);
		free(out.v);
	}
	free(text.v);
	free(packed.v);
}

static void padding_and_junk(void **state)
{
	static const uint8_t zeros[100000] = {0};
	bytes text = test_text(5000, 3), packed = {0}, copy = {0};

	(void)state;
	test_gzip(&packed, text.v, 4000, 6, 0, 0);
	test_append(&packed, zeros, 511);
	test_gzip(&packed, text.v + 4000, 1000, 6, 0, 0);
	test_append(&packed, zeros, sizeof zeros);
	assert_unpacks(&packed, &text, SIZE_MAX, false, false, false);
	test_append(&copy, packed.v, packed.n);
	test_append(&packed, "x", 1);
	assert_unpacks(&packed, &text, SIZE_MAX, false, false, true);
	test_append(&copy, "\x1f", 1);
	assert_unpacks(&copy, &text, SIZE_MAX, true, false, false);
	copy.n--;
	test_append(&copy, "\x1f\x8c and so on", 12);
	assert_unpacks(&copy, &text, SIZE_MAX, false, false, true);
	copy.n -= 12;
	test_append(&copy, "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00", 10); /* method 7 */
	assert_unpacks(&copy, &text, SIZE_MAX, false, true, false);
	free(text.v);
	free(packed.v);
	free(copy.v);
}

static void wrong_checksum_keeps_bytes_and_next_member(void **state)
{
	bytes text = test_text(5000, 4), packed = {0};
	size_t first;

	(void)state;
	test_gzip(&packed, text.v, 4000, 6, 0, 0);
	first = packed.n;
	test_gzip(&packed, text.v + 4000, 1000, 6, 0, 0);
	for (size_t i = first - 8; i < first; i++) {
		packed.v[i] ^= 0x10;
		assert_unpacks(&packed, &text, SIZE_MAX, false, true, false);
		packed.v[i] ^= 0x10;
	}
	for (size_t i = packed.n - 8; i < packed.n; i++) {
		packed.v[i] ^= 1;
		bytes out;
		assert_false(unpack(&packed, &out, text.n, SIZE_MAX).incomplete);
		free(out.v);
		assert_unpacks(&packed, &text, SIZE_MAX, false, true, false);
		packed.v[i] ^= 1;
	}
	free(text.v);
	free(packed.v);
}

/* Whatever bit is wrong: either the bytes are right all the same, or the state says that something is wrong. */
static void flipped_bits_are_noticed(void **state)
{
	bytes text = test_text(3000, 5), packed = {0};

	(void)state;
	test_gzip(&packed, text.v, 2000, 6, 0, TEST_NAME);
	test_gzip(&packed, text.v + 2000, 1000, 1, 0, 0);
	for (size_t bit = 16; bit < packed.n * 8; bit++) {
		bytes out;
		packed.v[bit / 8] ^= (uint8_t)(1 << bit % 8);
		/* a wrong length can unpack to much more: ask for a little and stop */
		tl_input *input;
		tl_decoder *d;
		int64_t got = 1;
		out = (bytes){malloc(20000), 0};
		assert_int_equal(tl__input_open_memory(&input, packed.v, packed.n, NULL), 0);
		assert_int_equal(tl__decode_gzip(&d, input, NULL), 0);
		while (out.n < 20000 && (got = d->read(d, out.v + out.n, 20000 - out.n, NULL)) > 0)
			out.n += (size_t)got;
		if (out.n != text.n || memcmp(out.v, text.v, text.n) != 0)
			assert_true(out.n == 20000 || d->state.damaged || d->state.truncated || d->state.trailing_junk);
		tl__decoder_free(d);
		free(out.v);
		packed.v[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(text.v);
	free(packed.v);
}

/* Damage in the middle of a large member: what was decoded before it is delivered, to the last block at least. */
static void bytes_before_damage_are_delivered(void **state)
{
	bytes text = test_text(1000000, 6), packed = {0}, out;
	size_t place, good, same = 0;
	tl_source_state s;

	(void)state;
	test_gzip(&packed, text.v, text.n, 6, 0, 0);
	place = packed.n / 2;
	good = decodable(packed.v, place, text.n);
	assert_in_range(good, 300000, 700000);
	memset(packed.v + place, 0xff, 200);
	s = unpack(&packed, &out, 64 * text.n, SIZE_MAX); /* damaged data can unpack to more */
	assert_true(s.damaged);
	while (same < out.n && same < text.n && out.v[same] == text.v[same])
		same++;
	assert_in_range(same, good, text.n);
	free(text.v);
	free(packed.v);
	free(out.v);
}

static void no_memory(void **state)
{
	bytes text = test_text(100, 7), packed = {0};
	int code = TL_ENOMEM;

	(void)state;
	test_gzip(&packed, text.v, text.n, 6, 0, 0);
	for (int n = 0; code == TL_ENOMEM; n++) {
		tl_input *input;
		tl_decoder *d = NULL;
		uint8_t out[100];
		assert_in_range(n, 0, 20);
		assert_int_equal(tl__input_open_memory(&input, packed.v, packed.n, NULL), 0);
		tl__alloc_fail_after(n);
		code = tl__decode_gzip(&d, input, NULL);
		if (code == 0) {
			int64_t got = d->read(d, out, sizeof out, NULL);
			code = got < 0 ? (int)got : 0;
		}
		tl__alloc_fail_after(-1);
		if (d)
			tl__decoder_free(d);
		else
			tl__input_free(input);
	}
	assert_int_equal(code, 0);
	free(text.v);
	free(packed.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_and_strategies),
		cmocka_unit_test(members_split_anywhere),
		cmocka_unit_test(cut_off_at_every_byte),
		cmocka_unit_test(padding_and_junk),
		cmocka_unit_test(wrong_checksum_keeps_bytes_and_next_member),
		cmocka_unit_test(flipped_bits_are_noticed),
		cmocka_unit_test(bytes_before_damage_are_delivered),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
