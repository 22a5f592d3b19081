/* SPDX-License-Identifier: MIT */
/*
 * Kernels from Inductor's files (spec 03 section 13.3): what is read, and what comes of it by the formulas there;
 * damaged files, and directories in the way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/model.h"
#include "perf/triton_cache.h"
#include "util/no_memory.h"

/* ---- a directory of files ---- */

typedef struct place {
	char dir[64], command[96];
	tl_triton_cache *cache;
} place;

static int setup(void **state)
{
	static place p;
	p = (place){.dir = "/tmp/tl-triton-XXXXXX"};
	*state = &p;
	return mkdtemp(p.dir) ? 0 : -1;
}

static int teardown(void **state)
{
	place *p = *state;
	tl__triton_cache_free(p->cache);
	snprintf(p->command, sizeof p->command, "rm -rf '%s'", p->dir);
	return system(p->command);
}

static void write_bytes(const place *p, const char *name, const char *text, size_t n)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", p->dir, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void write_text(const place *p, const char *name, const char *text)
{
	write_bytes(p, name, text, strlen(text));
}

static void make_dir(const place *p, const char *name)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", p->dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* A kernel as Inductor writes it. */
static const char *kernel_text(const char *name, const char *ops, const char *sizes, const char *signature)
{
	static char text[2048];
	snprintf(text, sizeof text,
		 "# Topologically Sorted Source Nodes: [a, b], Original ATen: [%s]\n"
		 "# Source node to ATen node mapping:\n"
		 "%s = async_compile.triton('%s', '''\n"
		 "import triton\n"
		 "@triton_heuristics.pointwise(\n"
		 "    size_hints=%s, \n"
		 "    triton_meta={'signature': {%s}, 'device': None},\n"
		 ")\n"
		 "''', device_str='cuda')\n\n",
		 ops, name, name, sizes, signature);
	return text;
}

static const tl_triton_kernel *find(place *p, const char *name)
{
	const tl_triton_kernel *kernel;
	if (!p->cache)
		assert_int_equal(tl__triton_cache_new(&p->cache, p->dir, NULL), 0);
	assert_int_equal(tl__triton_cache_find(p->cache, name, &kernel), 0);
	return kernel;
}

/* ---- what is read ---- */

static void a_pointwise_kernel(void **state)
{
	place *p = *state;
	write_text(p, "w.py",
		   kernel_text("triton_poi_fused_add_0", "aten.add, aten.mul", "{'x': 64}",
			       "'in_ptr0': '*fp32', 'in_out_ptr0': '*bf16', 'out_ptr0': '*fp16', 'xnumel': 'i32'"));
	const tl_triton_kernel *k = find(p, "triton_poi_fused_add_0");
	assert_non_null(k);
	assert_string_equal(k->ops, "aten.add, aten.mul");
	assert_true(k->cost == 2);
	assert_int_equal(k->xnumel, 64);
	assert_int_equal(k->rnumel, 1);
	assert_int_equal(k->pointers, 3);
	assert_true(k->bytes == 8 && k->last_bytes == 2 && k->in_out_bytes == 2);
	assert_string_equal(k->precision, "fp32");
	assert_null(find(p, "triton_poi_fused_add_1"));
	assert_null(find(p, "aten::add"));
}

static void sizes_in_both_spellings(void **state)
{
	static const struct {
		const char *sizes;
		int64_t x, r;
	} cases[] = {
		{"{'x': 64, 'r0_': 128}", 64, 128},
		{"[64, 128]", 64, 128},
		{"[64]", 64, 1},
		{"{'y': 16, 'x': 64}", 64, 1},
		{"{'y': 16, 'x': 64, 'r0_': 4, 'r1_': 8}", 64, 8},
		{"{'x':64,\n 'r0_' : 128}", 64, 128},
		{"None", 0, 1},
		{"[]", 0, 1},
		{"{}", 0, 1},
		{"[64, 128", 0, 1},
		{"{'x': 99999999999999999999}", 0, 1},
		{"{'x': n, 'r': }", 0, 1},
		{"{'x'", 0, 1},
	};
	place *p = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char name[64], file[64];
		snprintf(name, sizeof name, "triton_red_fused_add_%zu", i);
		snprintf(file, sizeof file, "%zu.py", i);
		write_text(p, file, kernel_text(name, "aten.add", cases[i].sizes, "'a': '*fp32'"));
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char name[64];
		snprintf(name, sizeof name, "triton_red_fused_add_%zu", i);
		const tl_triton_kernel *k = find(p, name);
		assert_non_null(k);
		assert_int_equal(k->xnumel, cases[i].x);
		assert_int_equal(k->rnumel, cases[i].r);
	}
}

static void types_of_tensors(void **state)
{
	place *p = *state;
	write_text(p, "w.py",
		   kernel_text("triton_per_fused_sum_0", "aten.sum", "[8, 2]",
			       "'a': '*i64', 'b': '*i8', 'c': '*u8', 'd': '*i32', 'e': '*strange', 0: '*fp32', "
			       "'f': 'fp32', 'g':'*f16'"));
	const tl_triton_kernel *k = find(p, "triton_per_fused_sum_0");
	/* 8 + 1 + 1 + 4 + 2: unknown types, keys that are no names and scalars are not counted */
	assert_int_equal(k->pointers, 5);
	assert_true(k->bytes == 16 && k->last_bytes == 2);
	assert_string_equal(k->precision, "i64");
}

static void several_kernels_and_files(void **state)
{
	place *p = *state;
	char text[8192] = "import x\n";
	strcat(text, kernel_text("triton_poi_fused_add_0", "aten.add", "[1]", "'a': '*fp32'"));
	strcat(text, kernel_text("triton_poi_fused_exp_1", "aten.exp", "[2]", "'a': '*fp32'"));
	/* no operations of its own: those of the kernel before are not taken */
	strcat(text, "triton_poi_fused_mul_2 = async_compile.triton('x', '''size_hints=[3]''', device_str='cuda')\n");
	/* no end, in the middle and at the end */
	strcat(text, "triton_poi_fused_cut_3 = async_compile.triton('x', '''size_hints=[4]\n");
	strcat(text, kernel_text("triton_poi_fused_neg_4", "aten.neg", "[5]", "'a': '*fp32'"));
	strcat(text, "  triton_poi_fused_in_5 = async_compile.triton('x', '''size_hints=[6]''', device_str='cuda')\n");
	strcat(text, "triton_poi_fused_cut_6 = async_compile.triton('x', '''size_hints=[7]");
	make_dir(p, "ab");
	make_dir(p, "ab/cd");
	write_text(p, "ab/cd/w.py", text);
	/* the first in the order of paths counts */
	write_text(p, "ab/cd/x.py", kernel_text("triton_poi_fused_add_0", "aten.add", "[9]", "'a': '*fp32'"));
	write_text(p, "ab/other.txt", kernel_text("triton_poi_fused_text_7", "aten.add", "[9]", "'a': '*fp32'"));
	assert_int_equal(find(p, "triton_poi_fused_add_0")->xnumel, 1);
	assert_true(find(p, "triton_poi_fused_exp_1")->cost == 4);
	assert_int_equal(find(p, "triton_poi_fused_mul_2")->xnumel, 3);
	assert_string_equal(find(p, "triton_poi_fused_mul_2")->ops, "");
	assert_int_equal(find(p, "triton_poi_fused_neg_4")->xnumel, 5);
	assert_null(find(p, "triton_poi_fused_cut_3"));
	assert_null(find(p, "triton_poi_fused_in_5")); /* not at the start of a line */
	assert_null(find(p, "triton_poi_fused_cut_6"));
	assert_null(find(p, "triton_poi_fused_text_7"));
}

/* Every beginning of a file, and every byte of it replaced: nothing but an answer comes of it. */
static void damaged_files_do_no_harm(void **state)
{
	place *p = *state;
	char text[2048];
	strcpy(text, kernel_text("triton_poi_fused_add_0", "aten.add, , aten.mul", "{'x': 64, 'r0_': 2}",
				 "'a': '*fp32', 'b': '*bf16'"));
	size_t n = strlen(text), whole = 0;
	for (size_t cut = 0; cut <= 2 * n; cut++) {
		char saved = 0;
		if (cut > n) {
			saved = text[cut - n - 1];
			text[cut - n - 1] = cut % 3 ? '\0' : '\'';
		}
		write_bytes(p, "w.py", text, cut < n ? cut : n);
		if (cut > n)
			text[cut - n - 1] = saved;
		whole += find(p, "triton_poi_fused_add_0") != NULL;
		tl__triton_cache_free(p->cache);
		p->cache = NULL;
	}
	assert_true(whole > n / 2 && whole < 2 * n);
}

static void directories_that_lead_nowhere(void **state)
{
	place *p = *state;
	char path[256];
	tl_error err = TL_ERROR_INIT;
	tl_triton_cache *cache;
	snprintf(path, sizeof path, "%s/none", p->dir);
	assert_int_equal(tl__triton_cache_new(&cache, path, &err), TL_EIO);
	assert_null(cache);
	assert_non_null(strstr(err.message, path));
	write_text(p, "file", "x");
	snprintf(path, sizeof path, "%s/file", p->dir);
	assert_int_equal(tl__triton_cache_new(&cache, path, &err), TL_EIO);
	/* a way round and round, and a directory with the name of a file */
	snprintf(path, sizeof path, "%s/loop", p->dir);
	assert_int_equal(symlink(p->dir, path), 0);
	make_dir(p, "d.py");
	write_text(p, "empty.py", "");
	write_text(p, "d.py/w.py", kernel_text("triton_poi_fused_add_0", "aten.add", "[1]", "'a': '*fp32'"));
	assert_non_null(find(p, "triton_poi_fused_add_0"));
}

static int open_and_find(void *dir)
{
	tl_triton_cache *cache;
	const tl_triton_kernel *kernel = NULL;
	int code = tl__triton_cache_new(&cache, dir, NULL);
	if (code == 0)
		code = tl__triton_cache_find(cache, "triton_poi_fused_add_0", &kernel);
	assert_int_equal(kernel == NULL, code != 0);
	tl__triton_cache_free(cache);
	return code;
}

static void without_memory_it_fails_cleanly(void **state)
{
	place *p = *state;
	write_text(p, "w.py", kernel_text("triton_poi_fused_add_0", "aten.add", "[1]", "'a': '*fp32'"));
	assert_true(fail_each_allocation(open_and_find, p->dir) > 4);
}

/* ---- the model ---- */

static void expect_model(place *p, const char *name, double flops, double bytes, const char *precision)
{
	tl_arena arena = {0};
	tl_perf_result r;
	tl_perf_input in = {.name = name, .compiled = find(p, name)};
	const tl_perf_model *model = tl__perf_model(name, strlen(name));
	assert_non_null(model);
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_int_equal(r.status, TL_PERF_OK);
	assert_true(r.flops.known && r.flops.value == flops);
	assert_true(r.bytes.known && r.bytes.value == bytes);
	assert_string_equal(r.maf, "vector");
	if (precision)
		assert_string_equal(r.precision, precision);
	else
		assert_null(r.precision);
	assert_string_equal(r.params[0].name, "fused_ops");
	tl__arena_free(&arena);
}

static void flops_and_bytes(void **state)
{
	place *p = *state;
	write_text(p, "0.py",
		   kernel_text("triton_poi_fused_add_mul_0", "aten.add, aten.mul", "{'x': 64}",
			       "'a': '*fp32', 'in_out_ptr0': '*bf16', 'c': '*fp16'"));
	write_text(p, "1.py",
		   kernel_text("triton_red_fused_add_mul_1", "aten.add, aten.mul", "{'x': 64, 'r0_': 128}",
			       "'a': '*bf16', 'b': '*fp32'"));
	write_text(p, "2.py", kernel_text("triton_per_fused_add_2", "aten.add", "{'x': 64, 'r0_': 1}", "0: '*bf16'"));
	/* (4 + 2 + 2 + 2 once more) * 64 */
	expect_model(p, "triton_poi_fused_add_mul_0", 2 * 64, 640, "fp32");
	/* 2 * 64 * 128 read, 4 * 64 written */
	expect_model(p, "triton_red_fused_add_mul_1", 2 * 64 * 128, 16640, "bf16");
	expect_model(p, "triton_per_fused_add_2", 64, 0, NULL);
}

/* The arguments of the trace come first (spec 03 section 13.1); without them and without a file there is no model. */
static void arguments_come_first(void **state)
{
	place *p = *state;
	tl_arena arena = {0};
	tl_perf_result r;
	const char *name = "triton_poi_fused_add_0";
	const tl_value *dims, *types, *concrete;
	write_text(p, "w.py", kernel_text(name, "aten.add", "[1]", "'a': '*fp32'"));
	assert_int_equal(tl__value_parse(&arena, "[[64]]", 6, false, &dims), 0);
	assert_int_equal(tl__value_parse(&arena, "[\"c10::Half\"]", 13, false, &types), 0);
	assert_int_equal(tl__value_parse(&arena, "[\"\",\"64\"]", 9, false, &concrete), 0);
	tl_perf_input in = {
		.name = name, .dims = dims, .types = types, .concrete = concrete, .compiled = find(p, name)};
	const tl_perf_model *model = tl__perf_model(name, strlen(name));
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_int_equal(r.status, TL_PERF_OK);
	assert_true(r.flops.value == 64);
	in = (tl_perf_input){.name = name};
	assert_int_equal(model->eval(&in, &arena, &r), 0);
	assert_int_equal(r.status, TL_PERF_NOT_MODELLED);
	tl__arena_free(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pointwise_kernel),
		TEST(sizes_in_both_spellings),
		TEST(types_of_tensors),
		TEST(several_kernels_and_files),
		TEST(damaged_files_do_no_harm),
		TEST(directories_that_lead_nowhere),
		TEST(without_memory_it_fails_cleanly),
		TEST(flops_and_bytes),
		TEST(arguments_come_first),
	};
	return cmocka_run_group_tests_name("triton_cache", tests, NULL, NULL);
}
