/* SPDX-License-Identifier: MIT */
/* Attention over packed sequences outside of serving: worked by hand from the formulas of sdpa.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/model_testing.h"

#define BF "\"c10::BFloat16\""
#define BF3 "[" BF "," BF "," BF "]"
#define PACKED "[[2048,16,128],[2048,16,128],[2048,16,128],[5],[5]]"

typedef struct example {
	const char *dims, *concrete;
	double flops, bytes;
	bool causal;
	int64_t sequences;
	double longest;
} example;

static const example examples[] = {
	/* four causal sequences of 512: 4 * 2 * 16 * 512 * 512 * (128 + 128) / 2 */
	{PACKED,
	 "[\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"0\",\"0.1\",\"0.088\",\"0.\",\"False\",\"True\",\"-1\",\"-1\","
	 "\"True\",\"False\"]",
	 4294967296., 33554432., true, 4, 512},
	/* the same as older versions pass it: no least length, no soft cap */
	{PACKED,
	 "[\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"0.1\",\"0.088\",\"False\",\"True\",\"-1\",\"-1\",\"True\","
	 "\"False\"]",
	 4294967296., 33554432., true, 4, 512},
	/* not causal: zero_tensors is not the mask, and neither is what follows */
	{PACKED,
	 "[\"\",\"\",\"\",\"\",\"\",\"512\",\"512\",\"0\",\"0.1\",\"0.088\",\"0.\",\"True\",\"False\",\"-1\",\"-1\","
	 "\"True\",\"True\"]",
	 8589934592., 33554432., false, 4, 512},
	/* one of 1280 and three of 256, each against itself: 2 * 16 * 256 * (1280^2 + 3 * 256^2) */
	{PACKED, "[\"\",\"\",\"\",\"\",\"\",\"1280\",\"1280\"]", 15032385536., 33554432., false, 4, 1280},
	/* no scalars: four equal sequences; a longest one that holds more than all tokens tells nothing */
	{PACKED, NULL, 8589934592., 33554432., false, 4, 512},
	{PACKED, "[\"\",\"\",\"\",\"\",\"\",\"4096\",\"0\"]", 8589934592., 33554432., false, 4, 512},
	/* no lengths: one sequence, 2 * 16 * 6147^2 * (192 + 128) */
	{"[[6147,16,192],[6147,16,192],[6147,16,128]]", NULL, 386924636160., 125890560., false, 1, 6147},
	/* keys without lengths of their own: two times 50 queries on 150 keys, 2 * 2 * 8 * 50 * 150 * 128 */
	{"[[100,8,64],[300,8,64],[300,8,64],[3],[]]", NULL, 30720000., 819200., false, 2, 50},
};

static const tl_perf_model *model_of(const char *name)
{
	const tl_perf_model *model = tl__perf_model(name, strlen(name));
	assert_non_null(model);
	return tl__perf_model_outside_steps(model);
}

static const char *const names[] = {"aiter::fmha_v3_varlen_fwd", "aiter::mha_varlen_fwd"};

static const tl_value *param(const tl_perf_result *r, const char *name)
{
	for (size_t i = 0; i < r->n_params; i++)
		if (!strcmp(r->params[i].name, name))
			return &r->params[i].value;
	fail_msg("no parameter %s", name);
	return NULL;
}

static void worked_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * (sizeof examples / sizeof *examples); i++) {
		const example *e = &examples[i / 2];
		const tl_perf_model *model = model_of(names[i % 2]);
		tl_arena arena = {0};
		tl_perf_result r;
		assert_non_null(model);
		assert_string_equal(model->category, "SDPA_fwd");
		assert_string_equal(model->sheet, "SDPA");
		assert_int_equal(model->reads, TL_READS_ARGS);
		tl_perf_input in = {.name = names[i % 2],
				    .dims = parse(&arena, e->dims),
				    .types = parse(&arena, BF3),
				    .concrete = parse(&arena, e->concrete)};
		assert_survives_no_memory(model, &in);
		assert_int_equal(model->eval(&in, &arena, &r), 0);
		if (r.status != TL_PERF_OK || r.flops.value != e->flops || r.bytes.value != e->bytes)
			fail_msg("%zu: status %d, flops %.17g, bytes %.17g", i / 2, r.status, r.flops.value,
				 r.bytes.value);
		assert_int_equal(param(&r, "causal")->kind, TL_V_BOOL);
		assert_int_equal(tl__truth(param(&r, "causal")), e->causal);
		int64_t sequences;
		double longest;
		assert_true(tl__to_int(param(&r, "num_seqs_q"), &sequences) && sequences == e->sequences);
		assert_true(tl__to_double(param(&r, "max_seqlen_q"), &longest) && longest == e->longest);
		assert_string_equal(r.precision, "bf16");
		assert_true(r.flops_bwd.known && r.flops_bwd.value > r.flops.value);
		tl__arena_free(&arena);
	}
}

static void dropout_is_found_in_both_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		tl_arena arena = {0};
		tl_perf_result r;
		double dropout;
		tl_perf_input in = {.dims = parse(&arena, examples[i].dims),
				    .types = parse(&arena, BF3),
				    .concrete = parse(&arena, examples[i].concrete)};
		assert_int_equal(model_of(names[0])->eval(&in, &arena, &r), 0);
		assert_true(tl__to_double(param(&r, "dropout"), &dropout) && dropout == 0.1);
		tl__arena_free(&arena);
	}
}

static void shapes_are_needed(void **state)
{
	static const char *const dims[] = {NULL, "[]", "[[1,2],[1,2],[1,2]]", "[[4,2,8],[4,2,16],[4,2,8]]",
					   "[[4,2,8],[4,2,8],[5,2,8]]"};
	(void)state;
	for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
		tl_arena arena = {0};
		tl_perf_result r;
		tl_perf_input in = {.dims = parse(&arena, dims[i])};
		assert_int_equal(model_of(names[0])->eval(&in, &arena, &r), 0);
		assert_int_equal(r.status, TL_PERF_FAILED);
		tl__arena_free(&arena);
	}
}

/* Operations that only serving frameworks have, and those that read no annotation, are the same everywhere. */
static void others_stay(void **state)
{
	static const char *const same[] = {"vllm::unified_attention_with_output", "aiter::mha_batch_prefill",
					   "flash_attn::_flash_attn_varlen_forward", "aten::mm"};
	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		assert_null(model_of(same[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_numbers),
		cmocka_unit_test(dropout_is_found_in_both_versions),
		cmocka_unit_test(shapes_are_needed),
		cmocka_unit_test(others_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
