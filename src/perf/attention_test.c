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
#include "perf/model_testing.h"

#define BF "\"c10::BFloat16\""
#define FP8 "\"c10::Float8_e4m3fnuz\""

static const char decode32[] = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)";
static const char mixed[] =
	"execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk"
	"6144)";
#define FLASH "{\"v4_mode\":\"swa\",\"v4_H_Q\":64,\"v4_d_h\":512,\"v4_tp\":1,\"v4_model_name\":\"DeepSeek-V4-Flash\"}"
#define WINDOW \
	"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"128\"]"

static const char decode64[] = "step[DECODE bs=64 g_sq=64 g_sqsq=64 g_sqsk=131072 g_sk=131072]";

static void assert_chunk(const tl_chunk *c, int64_t sq, int64_t sk, int64_t sqsq, int64_t sqsk)
{
	assert_int_equal(c->sq, sq);
	assert_int_equal(c->sk, sk);
	assert_int_equal(c->sqsq, sqsq);
	assert_int_equal(c->sqsk, sqsk);
}

/* The sums of an annotation that has them; false for all others. */
static bool sums_of(tl_chunks *out, const char *text)
{
	tl_annotation a;
	bool read = tl__annotation_read(&a, text);
	*out = a.chunks;
	return read && a.has_sums;
}

static void test_annotations(void **state)
{
	tl_chunks c;
	(void)state;
	assert_true(sums_of(&c, mixed));
	assert_chunk(&c.context, 6144, 7144, 20971520, 23019520);
	assert_chunk(&c.generation, 3, 6144, 3, 6144);
	assert_true(sums_of(&c, "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 "
				"g_sk=12 g_sqsq=1 g_sqsk=12] and more"));
	assert_chunk(&c.context, 5, 8, 25, 40);
	assert_chunk(&c.generation, 1, 12, 1, 12);
	assert_true(sums_of(&c, "decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 "
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
		assert_false(sums_of(&c, without[i]));
	assert_false(sums_of(&c, NULL));
}

/* What is read of an annotation; what is not said is 0. */
typedef struct step {
	const char *text;
	tl_annotation_kind kind;
	int64_t context, generation, context_sum, generation_sum, batch;
	bool has_sums;
	tl_chunks chunks; /* sq, sk, sqsq, sqsk of both */
} step;

static const step steps[] = {
	{.text = mixed,
	 .kind = TL_ANNOTATION_VLLM_DETAILED,
	 .context = 2,
	 .generation = 3,
	 .context_sum = 6144,
	 .generation_sum = 3,
	 .batch = 6147,
	 .has_sums = true,
	 .chunks.context = {6144, 7144, 20971520, 23019520},
	 .chunks.generation = {3, 6144, 3, 6144}},
	{.text = "execute_context_2(14721)_generation_0(0)",
	 .kind = TL_ANNOTATION_VLLM_NATIVE,
	 .context = 2,
	 .context_sum = 14721,
	 .batch = 14721,
	 .chunks.context = {14721, 0, 0, 0}},
	{.text = "step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]",
	 .kind = TL_ANNOTATION_SGLANG_DETAILED,
	 .generation = 64,
	 .generation_sum = 128,
	 .batch = 128,
	 .has_sums = true,
	 .chunks.generation = {128, 131072, 256, 262144}},
	{.text = "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]",
	 .kind = TL_ANNOTATION_SGLANG_DETAILED,
	 .context = 1,
	 .generation = 1,
	 .context_sum = 5,
	 .generation_sum = 1,
	 .batch = 6,
	 .has_sums = true,
	 .chunks.context = {5, 8, 25, 40},
	 .chunks.generation = {1, 12, 1, 12}},
	{.text = "step[EXTEND bs=3 toks=7 c_sqsq=0]",
	 .kind = TL_ANNOTATION_SGLANG_DETAILED,
	 .context = 3,
	 .batch = 7,
	 .has_sums = true},
	{.text = "step[MIXED bs=2]", .kind = TL_ANNOTATION_SGLANG_NATIVE, .context = 2, .batch = 2},
	{.text = "step[DECODE bs=64]",
	 .kind = TL_ANNOTATION_SGLANG_NATIVE,
	 .generation = 64,
	 .generation_sum = 64,
	 .batch = 64,
	 .chunks.generation = {64, 0, 0, 0}},
	{.text = "step[EXTEND bs=1 toks=300]",
	 .kind = TL_ANNOTATION_SGLANG_NATIVE,
	 .context = 1,
	 .context_sum = 300,
	 .batch = 300,
	 .chunks.context = {300, 0, 0, 0}},
	{.text = "decode[bs=117/128 tok=117 d=117]",
	 .kind = TL_ANNOTATION_ATOM_NATIVE,
	 .generation = 117,
	 .generation_sum = 117,
	 .batch = 117,
	 .chunks.generation = {117, 0, 0, 0}},
	{.text = "decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]",
	 .kind = TL_ANNOTATION_ATOM_DETAILED,
	 .generation = 128,
	 .generation_sum = 384,
	 .batch = 384,
	 .has_sums = true,
	 .chunks.generation = {384, 258048, 132612, 1114112}},
	{.text = "prefill[bs=2 tok=300 ctx=[100, 200]...+3 sk=400 sqsq=50000 sqsk=70000]",
	 .kind = TL_ANNOTATION_ATOM_DETAILED,
	 .context = 2,
	 .context_sum = 300,
	 .batch = 300,
	 .has_sums = true,
	 .chunks.context = {300, 400, 50000, 70000}},
	{.text = "execute_diffusion_1_1024x1024 more", .kind = TL_ANNOTATION_DIFFUSION, .batch = 1},
	{.text = "step[DECODE bs=64 extra]", .batch = 1},
	{.text = "xx execute_context_1(2)_generation_0(0)", .batch = 1},
	{.text = "foo", .batch = 1},
	{.text = "prefill[", .batch = 1},
	{.text = NULL, .batch = 1},
};

static void test_formats(void **state)
{
	tl_annotation a;

	(void)state;
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const step *e = &steps[i];
		assert_int_equal(tl__annotation_read(&a, e->text), e->kind != TL_ANNOTATION_NONE);
		if (a.kind != e->kind || a.batch_size != e->batch)
			fail_msg("%s: kind %d, batch %lld", e->text ? e->text : "(null)", a.kind,
				 (long long)a.batch_size);
		assert_int_equal(a.context_requests, e->context);
		assert_int_equal(a.generation_requests, e->generation);
		assert_int_equal(a.context_sum, e->context_sum);
		assert_int_equal(a.generation_sum, e->generation_sum);
		assert_int_equal(a.has_sums, e->has_sums);
		assert_memory_equal(&a.chunks, &e->chunks, sizeof a.chunks);
	}
}

/* Fields that only annotations of ATOM and of diffusion have. */
static void test_fields_of_one_writer(void **state)
{
	tl_annotation a;
	(void)state;
	assert_true(tl__annotation_read(&a, "decode[bs=128 tok=384 p=2 d=126 spec=2 tbo=1]"));
	assert_true(a.p == 2 && a.d == 126 && a.spec == 2 && a.tbo && !a.ctx);
	assert_true(tl__annotation_read(&a, "prefill[bs=2 tok=300 ctx=[100, 200]...+3 d=7]"));
	assert_true(a.p == -1 && a.d == -1 && a.spec == -1 && !a.tbo);
	assert_int_equal(a.n_ctx, strlen("[100, 200]...+3"));
	assert_memory_equal(a.ctx, "[100, 200]...+3", a.n_ctx);
	assert_true(tl__annotation_read(&a, "execute_diffusion_2_512x256,x"));
	assert_int_equal(a.n_resolution, 7);
	assert_memory_equal(a.resolution, "512x256", 7);
	assert_int_equal(a.batch_size, 2);
}

typedef struct example {
	const char *op, *dims, *types, *concrete, *annotation;
	double flops, bytes;
	const char *extras;
} example;

static const example examples[] = {
	{"vllm::unified_attention_with_output", "[[32,64,64],[32,8,64]]", "[" BF "," BF "]", NULL, decode32, 902529024,
	 113340416, NULL},
	{"vllm::unified_attention_with_output", "[[32,64,64],[32,8,64]]", "[" BF "," FP8 "]", NULL, decode32, 902529024,
	 56965120, NULL},
	{"vllm::unified_attention_with_output", "[[6147,64,64],[6147,8,64]]", "[" BF "," BF "]", NULL, mixed,
	 205453787136, 127926272, NULL},
	{"aiter::fmha_v3_varlen_fwd", "[[6147,16,192],[6147,16,192],[6147,16,128]]", "[" BF "," BF "," BF "]", NULL,
	 mixed, 128408616960, 199014400, NULL},
	{"sglang_profiler::attention_paged_attention_ragged",
	 "[[32,32,128],[1],[32,32,128],[1000,16,8,128],[1000,16,8,128]]", "[" BF ",\"unsigned char\"," BF "]", NULL,
	 decode64, 2147483648, 537919488, NULL},
	{"aiter::pa_decode_gluon", "[[64,64,64],[64,64,64],[1000,8,8,16,8]]", "[" BF "," BF "," FP8 "]",
	 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"128\"]",
	 decode64, 134217728, 9502720, NULL},
	/* [07-14]: 64 requests of two tokens see the window twice but read it once */
	{"aiter::pa_decode_gluon", "[[128,64,64],[128,64,64],[1000,8,8,16,8]]", "[" BF "," BF "," FP8 "]", WINDOW,
	 "step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]", 64. * 128 * 2 * 128 * 128,
	 128. * (64 + 8) * 128 * 2 + (64. * 128 - 128) * 8 * 128, NULL},
	/* the cache's dtype as its kernel noted it */
	{"vllm::unified_attention_with_output", "[[32,64,64],[32,8,64]]", "[" BF "," BF "]", NULL, decode32, 902529024,
	 56965120, "{\"attention_perf_meta\":{\"k_cache_dtype\":" FP8 "}}"},
	/* [07-15]: and where it is read from slots */
	{"sglang_profiler::attention_paged_attention_ragged",
	 "[[32,32,128],[1],[32,32,128],[1000,16,8,128],[1000,16,8,128]]", "[" BF ",\"unsigned char\"," BF "," FP8 "]",
	 NULL, decode64, 2147483648, 269615104, NULL},
	/* [07-16]: values of 512 unless told otherwise */
	{"sglang_profiler::tilelang_kernel_tilelang_sparse_fwd", "[[64,16,576],[1000,1,576]]", "[" BF "," BF "]", NULL,
	 decode64, 4563402752, 287440896, NULL},
	{"sglang_profiler::tilelang_kernel_tilelang_sparse_fwd", "[[64,16,576],[1000,1,576]]", "[" BF "," BF "]",
	 "[\"\",\"\",\"\",\"\",\"576\"]", decode64, 16. * 1152 * 2 * 131072,
	 64. * 17 * 1152 * 2 + (131072. - 64) * 1152 * 2, NULL},
	{"pseudo_mla_decode_fwd", "[[64,16,576],[1000,1,1,576]]", "[" BF "," BF "]", NULL, decode64, 4831838208,
	 304349184, NULL},
	{"pseudo_v4_paged_decode_swa", "[[64,64,512]]", "[" BF "]", NULL, decode64, 1073741824, 25165824, FLASH},
	{"pseudo_v4_paged_decode_csa", "[[64,64,512]]", "[" BF "]", NULL, decode64, 5368709120, 92274688, FLASH},
	{"pseudo_v4_paged_decode_hca", "[[64,64,512]]", "[" BF "]", NULL, decode64, 1207959552, 27262976, FLASH},
	/* the variant gives what is not attached: 128 heads on 4 GPUs, the best 1024 of 2048/4 older keys */
	{"pseudo_v4_paged_decode_csa", "[]", "[]", NULL, decode64, 2684354560, 88080384,
	 "{\"v4_tp\":4,\"v4_model_name\":\"deepseek-v4-pro\"}"},
	{"pseudo_v4_paged_decode_swa", "[[]]", "[\"\"]", NULL, decode64, 1073741824, 25165824, NULL},
	{"vllm::gdn_attention_core", "[[64,2048],[64,8],[64,8],[64,8,128]]", "[" BF "]", NULL, decode32, 29360128,
	 197632, NULL},
	{"aiter::linear_attention_with_output_base", "[[64,2048],[64,8],[64,8],[64,8,128]]", "[" BF "]", NULL, mixed,
	 5639897088, 37963872, NULL},
};

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
		assert_true(!e->extras || model->reads & TL_READS_EXTRAS);
		tl_perf_input in = {.name = e->op,
				    .dims = parse(&arena, e->dims),
				    .types = parse(&arena, e->types),
				    .concrete = parse(&arena, e->concrete),
				    .extras = parse(&arena, e->extras),
				    .annotation = e->annotation};
		assert_survives_no_memory(model, &in);
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

/* Needs no annotation: the lists of keys tell how many there are. */
static void test_sparse_prefill(void **state)
{
	static const char op[] = "aiter::pa_sparse_prefill_opus_fwd";
	static const char dims[] = "[[100,64,512],[1000,1,512],[20000],[101],[8000,512],[8000]]";
	tl_arena arena = {0};
	tl_perf_result r;
	tl_perf_input in = {.name = op, .dims = parse(&arena, dims), .types = parse(&arena, "[" BF "," BF "]")};
	const tl_perf_model *model = tl__perf_model(op, strlen(op));
	(void)state;
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_int_equal(r.status, TL_PERF_OK);
	assert_true(r.flops.value == 3670016000 && r.bytes.value == 41779200);
	in.types = parse(&arena, "[" BF "," FP8 "]");
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_true(r.bytes.value == 100. * 64 * 512 * 2 * 2 + 28000. * 512);
	in.types = NULL;
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_string_equal(r.precision, "bf16");
	in.dims = parse(&arena, "[[100,64,512],[1000,1,512],[20000]]");
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_int_equal(r.status, TL_PERF_FAILED);
	tl__arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_annotations),          cmocka_unit_test(test_formats),
		cmocka_unit_test(test_fields_of_one_writer), cmocka_unit_test(test_worked),
		cmocka_unit_test(test_sparse_prefill),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
