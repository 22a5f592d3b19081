/* SPDX-License-Identifier: MIT */
/* Iteration annotations, and the attention models that live on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "perf/annotation.h"
#include "perf/args.h"

#define BF "\"c10::BFloat16\""
#define FP8 "\"c10::Float8_e4m3fnuz\""

static const char decode32[] = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)";
static const char mixed[] =
	"execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk"
	"6144)";
static const char decode64[] = "step[DECODE bs=64 g_sq=64 g_sqsq=64 g_sqsk=131072 g_sk=131072]";

static void assert_chunk(const tl_chunk *c, int64_t sq, int64_t sk, int64_t sqsq, int64_t sqsk)
{
	assert_int_equal(c->sq, sq);
	assert_int_equal(c->sk, sk);
	assert_int_equal(c->sqsq, sqsq);
	assert_int_equal(c->sqsk, sqsk);
}

static void test_annotations(void **state)
{
	tl_chunks c;
	(void)state;
	assert_true(tl__annotation_chunks(&c, mixed));
	assert_chunk(&c.context, 6144, 7144, 20971520, 23019520);
	assert_chunk(&c.generation, 3, 6144, 3, 6144);
	assert_true(tl__annotation_chunks(&c, "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 "
					      "g_sk=12 g_sqsq=1 g_sqsk=12] and more"));
	assert_chunk(&c.context, 5, 8, 25, 40);
	assert_chunk(&c.generation, 1, 12, 1, 12);
	assert_true(tl__annotation_chunks(&c, "decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 "
					      "tbo=1]"));
	assert_chunk(&c.context, 0, 0, 0, 0);
	assert_chunk(&c.generation, 384, 258048, 132612, 1114112);

	static const char *const without[] = {"",
					      "NA",
					      "foo",
					      "xx execute_context_1(2)_generation_0(0)",
					      "execute_context_2(14721)_generation_0(0)",
					      "step[DECODE bs=64]",
					      "step[DECODED bs=64 g_sqsq=1]",
					      "step[DECODE g_sqsq=1",
					      "decode[bs=117/128 tok=117 d=117]",
					      "decode[bs=1 tok=1 sqsq=1]",
					      "execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_1(sq1sk1sqsq1sqsk1",
					      "step[DECODE g_sqsq=99999999999999999999999]"};
	for (size_t i = 0; i < sizeof without / sizeof *without; i++)
		assert_false(tl__annotation_chunks(&c, without[i]));
	assert_false(tl__annotation_chunks(&c, NULL));
}

typedef struct example {
	const char *op, *dims, *types, *concrete, *annotation;
	double flops, bytes;
} example;

static const example examples[] = {
	{"vllm::unified_attention_with_output", "[[32,64,64],[32,8,64]]", "[" BF "," BF "]", NULL, decode32, 902529024,
	 113340416},
	{"vllm::unified_attention_with_output", "[[32,64,64],[32,8,64]]", "[" BF "," FP8 "]", NULL, decode32, 902529024,
	 56965120},
	{"vllm::unified_attention_with_output", "[[6147,64,64],[6147,8,64]]", "[" BF "," BF "]", NULL, mixed,
	 205453787136, 127926272},
	{"aiter::fmha_v3_varlen_fwd", "[[6147,16,192],[6147,16,192],[6147,16,128]]", "[" BF "," BF "," BF "]", NULL,
	 mixed, 128408616960, 199014400},
	{"sglang_profiler::attention_paged_attention_ragged",
	 "[[32,32,128],[1],[32,32,128],[1000,16,8,128],[1000,16,8,128]]", "[" BF ",\"unsigned char\"," BF "]", NULL,
	 decode64, 2147483648, 537919488},
	{"aiter::pa_decode_gluon", "[[64,64,64],[64,64,64],[1000,8,8,16,8]]", "[" BF "," BF "," FP8 "]",
	 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"128\"]",
	 decode64, 134217728, 9502720},
};

static const tl_value *parse(tl_arena *arena, const char *text)
{
	const tl_value *value = NULL;
	if (text)
		assert_int_equal(tl__value_parse(arena, text, strlen(text), false, &value), 0);
	return value;
}

static void test_worked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const example *e = &examples[i];
		const tl_perf_model *model = tl__perf_model(e->op, strlen(e->op));
		tl_arena arena = {0};
		tl_perf_result r;
		assert_non_null(model);
		assert_true(model->reads & TL_READS_STEP);
		tl_perf_input in = {.name = e->op,
				    .dims = parse(&arena, e->dims),
				    .types = parse(&arena, e->types),
				    .concrete = parse(&arena, e->concrete),
				    .annotation = e->annotation};
		assert_int_equal(model->eval(&in, &arena, &r), 0);
		if (r.status != TL_PERF_OK || r.flops.value != e->flops || r.bytes.value != e->bytes)
			fail_msg("%s (%zu): status %d, flops %.17g, bytes %.17g", e->op, i, r.status, r.flops.value,
				 r.bytes.value);
		assert_string_equal(r.precision, "bf16");
		assert_int_equal(r.flops_bwd.status, TL_PERF_NOT_MODELLED);

		/* without sums there is nothing to tell */
		in.annotation = "execute_context_2(14721)_generation_0(0)";
		assert_int_equal(model->eval(&in, &arena, &r), 0);
		assert_int_equal(r.status, TL_PERF_FAILED);
		in.annotation = NULL;
		assert_int_equal(model->eval(&in, &arena, &r), 0);
		assert_int_equal(r.status, TL_PERF_FAILED);
		assert_non_null(r.why);
		tl__arena_free(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_annotations), cmocka_unit_test(test_worked)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
