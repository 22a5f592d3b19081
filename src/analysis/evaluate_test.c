/* SPDX-License-Identifier: MIT */
/* Built-in models asked without a trace: the answer as it is told, and bad questions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tracelens/model.h"
#include "util/no_memory.h"

typedef struct text {
	char s[2048];
	size_t n;
	int fail_at; /* piece at which to give up; -1: none */
} text;

/* The pieces, one after the other: "{9 status ok why - ...". */
static int collect(void *user, const tl_item *item)
{
	text *t = user;
	char *to = t->s + t->n;
	size_t room = sizeof t->s - t->n;
	if (t->fail_at >= 0 && t->fail_at-- == 0)
		return 1;
	switch (item->kind) {
	case TL_ITEM_NONE:
		t->n += (size_t)snprintf(to, room, "- ");
		break;
	case TL_ITEM_BOOL:
		t->n += (size_t)snprintf(to, room, item->integer ? "true " : "false ");
		break;
	case TL_ITEM_INT:
		t->n += (size_t)snprintf(to, room, "%lld ", (long long)item->integer);
		break;
	case TL_ITEM_DOUBLE:
		t->n += (size_t)snprintf(to, room, "%.1f ", item->real);
		break;
	case TL_ITEM_STRING:
		t->n += (size_t)snprintf(to, room, "%.*s ", (int)item->n, item->text);
		break;
	default:
		t->n += (size_t)snprintf(to, room, "%s%zu ", item->kind == TL_ITEM_RECORD ? "{" : "(", item->n);
	}
	return 0;
}

static const char mm[] = "{\"Input Dims\": [[3, 5], [5, 7]], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], "
			 "\"Input Strides\": [[5, 1], [7, 1]], \"Concrete Inputs\": [\"\", \"\"]}";

/* M N K = 3 7 5: 2*105 FLOPs; (15 + 35 + 21) * 2 bytes. */
static void test_answer(void **state)
{
	const char *kernels[] = {"Cijk_Ailk_Bljk_MT64x32x16"};
	const tl_model_question q = {.name = "aten::mm", .args = mm, .kernels = kernels, .n_kernels = 1};
	text t = {.fail_at = -1};
	(void)state;
	assert_int_equal(tl_model_evaluate(&q, collect, &t, NULL), 0);
	assert_non_null(strstr(t.s, "{9 status ok why - params {"));
	assert_non_null(strstr(t.s, "M 3 N 7 K 5 bias false "));
	assert_non_null(strstr(t.s, " flops 210 bytes 142 "));
	assert_non_null(strstr(t.s, " unit matrix precision bf16 "));
}

static void test_no_answer(void **state)
{
	text t = {.fail_at = -1};
	tl_error err = TL_ERROR_INIT;
	(void)state;
	assert_int_equal(tl_model_evaluate(&(tl_model_question){.name = "aten::mm"}, collect, &t, NULL), 0);
	assert_memory_equal(t.s, "{2 status failed why ", 21);
	assert_int_equal(tl_model_evaluate(&(tl_model_question){.name = "aten::nosuch"}, collect, &t, &err),
			 TL_ENOTFOUND);
	assert_int_equal(tl_model_evaluate(&(tl_model_question){0}, collect, &t, &err), TL_EINVAL);
	const char *const bad[] = {"", "[]", "{", "1"};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(
			tl_model_evaluate(&(tl_model_question){.name = "aten::mm", .args = bad[i]}, collect, &t, &err),
			TL_EINVAL);
		assert_int_equal(tl_model_evaluate(&(tl_model_question){.name = "aten::mm", .forward = bad[i]}, collect,
						   &t, &err),
				 TL_EINVAL);
	}
	t.fail_at = 4;
	const tl_model_question q = {.name = "aten::mm", .args = mm};
	assert_int_equal(tl_model_evaluate(&q, collect, &t, &err), TL_ECALLBACK);
}

static int evaluate(void *question)
{
	text t = {.fail_at = -1};
	return tl_model_evaluate(question, collect, &t, NULL);
}

static void test_no_memory(void **state)
{
	tl_model_question q = {.name = "aten::mm", .args = mm, .forward = mm};
	(void)state;
	assert_true(fail_each_allocation(evaluate, &q) > 0);
}

static void test_names(void **state)
{
	const char *category = NULL;
	tl_gemm_name name;
	(void)state;
	assert_string_equal(tl_model_category("aten::mm", NULL), "GEMM");
	assert_string_equal(tl_model_category("x", "void at::native::vectorized_elementwise_kernel"), "elementwise");
	assert_string_equal(tl_model_category(NULL, NULL), "other");
	size_t n = 0;
	while (tl_model_category_only_at(n, &category)) {
		assert_string_not_equal(category, "other");
		n++;
	}
	assert_true(n > 0);
	assert_true(tl_model_gemm_kernel(&name, "Cijk_Alik_Bljk_BBS_MT256x144x32_MI16"));
	assert_int_equal(name.transpose_a, 1);
	assert_int_equal(name.transpose_b, 0);
	assert_int_equal(name.tile_m, 256);
	assert_int_equal(name.tile_n, 144);
	assert_int_equal(name.tile_k, 32);
	assert_false(tl_model_gemm_kernel(&name, "elementwise_kernel"));
	assert_false(tl_model_gemm_kernel(&name, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
