/* SPDX-License-Identifier: MIT */
/* GPU platforms: the bundled ones, files of users, and everything that can be wrong with a file. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracelens/perf.h"
#include "util/no_memory.h"

static tl_arch *find(const char *name)
{
	tl_arch *arch;
	tl_error err = TL_ERROR_INIT;
	if (tl_arch_find(&arch, name, &err) < 0)
		fail_msg("%s: %s", name, err.message);
	return arch;
}

static void names_are_matched_as_people_write_them(void **state)
{
	static const struct {
		const char *written, *meant;
	} names[] = {
		{"MI300X", "MI300X"}, {"mi300x", "MI300X"},     {"MI-325X", "MI325X"},    {"mi 355x", "MI355X"},
		{"h100", "H100_SXM"}, {"H100-SXM", "H100_SXM"}, {"h100 sxm", "H100_SXM"}, {"H100SXM5", "H100_SXM"},
		{"H200", "H200"},     {"b200", "B200"},         {"a100-sxm", "A100"},     {"A100 80GB", "A100"},
		{"MI250X", "MI250X"}, {"H100_SXM", "H100_SXM"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		tl_arch *arch = find(names[i].written);
		assert_string_equal(tl_arch_name(arch), names[i].meant);
		tl_arch_free(arch);
	}
}

static void an_unknown_name_is_answered_with_the_list(void **state)
{
	(void)state;
	static const char *const wrong[] = {"MI9000", "", "H100 PCIe", "MI300", NULL};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		tl_arch *arch = (tl_arch *)&arch;
		tl_error err = TL_ERROR_INIT;
		assert_int_equal(tl_arch_find(&arch, wrong[i], &err), TL_ENOTFOUND);
		assert_null(arch);
		for (size_t k = 0; tl_arch_bundled(k); k++)
			assert_non_null(strstr(err.message, tl_arch_bundled(k)));
	}
}

/* Figures of spec 02 section 4.1 and of the vendors' data sheets. */
static void figures_are_those_of_their_sources(void **state)
{
	static const struct {
		const char *name, *spec;
		double tflops;
		bool peak;
	} rates[] = {
		{"MI300X", "matrix_bf16", 708, false},    {"MI300X", "matrix_fp16", 654, false},
		{"MI300X", "matrix_fp8", 1273, false},    {"MI300X", "vector_fp32", 81, false},
		{"MI300X", "matrix_tf32", 653.7, true},   {"MI325X", "matrix_bf16", 843, false},
		{"MI325X", "matrix_fp8", 1519, false},    {"MI325X", "vector_fp64", 48, false},
		{"MI355X", "matrix_bf16", 2516.6, true},  {"MI355X", "matrix_fp4", 10066.3, true},
		{"H100_SXM", "matrix_bf16", 989.4, true}, {"H200", "matrix_fp8", 1978.9, true},
		{"B200", "matrix_fp4", 9000, true},       {"A100", "matrix_bf16", 312, true},
		{"A100", "vector_bf16", 39, true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		tl_arch *arch = find(rates[i].name);
		bool peak = !rates[i].peak;
		double rate = tl_arch_rate(arch, rates[i].spec, &peak);
		assert_true(rate > rates[i].tflops * 0.999999e12 && rate < rates[i].tflops * 1.000001e12);
		assert_int_equal(peak, rates[i].peak);
		tl_arch_free(arch);
	}
	tl_arch *arch = find("MI300X");
	assert_true(tl_arch_bandwidth(arch) == 5300e9);
	assert_true(tl_arch_memory(arch) == 192e9);
	assert_true(tl_arch_number(arch, "num_cus") == 304);
	assert_true(tl_arch_number(arch, "name") == 0);
	assert_true(tl_arch_number(arch, "nothing") == 0);
	tl_arch_free(arch);
	/* what a trace calls a device is half of the module */
	arch = find("MI250X");
	assert_true(tl_arch_bandwidth(arch) == 1638.4e9);
	assert_true(tl_arch_memory(arch) == 64e9);
	assert_non_null(strstr(tl_arch_note(arch), "GCD"));
	tl_arch_free(arch);
}

static void every_bundled_platform_is_complete(void **state)
{
	static const char *const specs[] = {"matrix_fp32", "matrix_fp16", "matrix_bf16",
					    "vector_fp32", "vector_fp16", "vector_bf16"};
	size_t n = 0;
	(void)state;
	for (; tl_arch_bundled(n); n++) {
		tl_arch *arch = find(tl_arch_bundled(n));
		assert_string_equal(tl_arch_name(arch), tl_arch_bundled(n));
		assert_true(tl_arch_bandwidth(arch) > 1e12 && tl_arch_bandwidth(arch) < 2e13);
		assert_true(tl_arch_memory(arch) >= 64e9);
		for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
			assert_true(tl_arch_rate(arch, specs[i], NULL) > 1e13);
		for (size_t i = 0; tl_arch_spec(arch, i); i++)
			assert_true(tl_arch_rate(arch, tl_arch_spec(arch, i), NULL) > 0);
		tl_arch_free(arch);
	}
	assert_true(n >= 8);
}

static int parse(tl_arch **out, const char *json, tl_error *err)
{
	return tl_arch_parse(out, json, strlen(json), "some/where/mine.json", err);
}

static void a_file_of_a_user_needs_little(void **state)
{
	tl_arch *arch;
	bool peak;
	(void)state;
	assert_int_equal(parse(&arch, "{}", NULL), 0);
	assert_string_equal(tl_arch_name(arch), "mine");
	assert_string_equal(tl_arch_note(arch), "");
	assert_true(tl_arch_bandwidth(arch) == 0);
	assert_true(tl_arch_memory(arch) == 0);
	assert_null(tl_arch_spec(arch, 0));
	assert_true(tl_arch_rate(arch, "matrix_bf16", &peak) == 0);
	assert_false(peak);
	tl_arch_free(arch);

	assert_int_equal(parse(&arch,
			       "{\"name\":\"X1\",\"mem_bw_gbps\":1.5e3,\"_reference\":[1,{}],\"freq_mhz\":2100,"
			       "\"memory_gb\":null,\"max_achievable_tflops\":{\"matrix_bf16\":10,\"matrix_fp8\":null},"
			       "\"peak_tflops\":{\"matrix_bf16\":20,\"matrix_fp8\":40.5}}",
			       NULL),
			 0);
	assert_string_equal(tl_arch_name(arch), "X1");
	assert_true(tl_arch_bandwidth(arch) == 1.5e12);
	assert_true(tl_arch_number(arch, "freq_mhz") == 2100);
	assert_true(tl_arch_rate(arch, "matrix_bf16", &peak) == 10e12);
	assert_false(peak);
	assert_true(tl_arch_rate(arch, "matrix_fp8", &peak) == 40.5e12);
	assert_true(peak);
	assert_string_equal(tl_arch_spec(arch, 0), "matrix_bf16");
	assert_string_equal(tl_arch_spec(arch, 1), "matrix_fp8");
	assert_null(tl_arch_spec(arch, 2));
	tl_arch_free(arch);
}

static void wrong_files_say_what_is_wrong(void **state)
{
	static const struct {
		const char *json, *message;
	} wrong[] = {
		{"", "not JSON"},
		{"{", "not JSON"},
		{"{}x", "not JSON"},
		{"[1]", "not a list"},
		{"\"MI300X\"", "not a text"},
		{"null", "not null"},
		{"{\"name\":3}", "name: a text is needed, not a number"},
		{"{\"mem_bw_gbps\":\"5300\"}", "mem_bw_gbps: a number is needed, not a text"},
		{"{\"mem_bw_gbps\":-1}", "mem_bw_gbps: -1"},
		{"{\"mem_bw_gbps\":0}", "above 0"},
		{"{\"mem_bw_gbps\":true}", "not true or false"},
		{"{\"mem_bw_gbps\":NaN}", "above 0"},
		{"{\"mem_bw_gbps\":Infinity}", "above 0"},
		{"{\"mem_bw_gbps\":123456789012345678901234567890}", "above 0"},
		{"{\"memory_gb\":{}}", "memory_gb: a number is needed, not an object"},
		{"{\"max_achievable_tflops\":[1]}", "max_achievable_tflops: an object is needed, not a list"},
		{"{\"max_achievable_tflops\":{\"matrix_bf16\":\"fast\"}}", "max_achievable_tflops: matrix_bf16"},
		{"{\"peak_tflops\":{\"matrix_bf16\":-2}}", "peak_tflops: matrix_bf16: -2"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		tl_arch *arch = (tl_arch *)&arch;
		tl_error err = TL_ERROR_INIT;
		assert_int_equal(parse(&arch, wrong[i].json, &err), TL_EFORMAT);
		assert_null(arch);
		assert_string_equal(err.file, "some/where/mine.json");
		if (!strstr(err.message, wrong[i].message))
			fail_msg("%s: %s", wrong[i].json, err.message);
	}
}

static void files_are_read(void **state)
{
	char path[] = "/tmp/tl-arch-XXXXXX";
	tl_arch *arch;
	tl_error err = TL_ERROR_INIT;
	(void)state;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	/* longer than one read */
	static char text[20000];
	int n = snprintf(text, sizeof text, "{\"mem_bw_gbps\": 7,%15000s\"name\": \"long\"}", "");
	assert_int_equal(write(fd, text, (size_t)n), n);
	close(fd);
	assert_int_equal(tl_arch_load(&arch, path, &err), 0);
	assert_string_equal(tl_arch_name(arch), "long");
	assert_true(tl_arch_bandwidth(arch) == 7e9);
	tl_arch_free(arch);
	unlink(path);

	assert_int_equal(tl_arch_load(&arch, path, &err), TL_EIO);
	assert_null(arch);
	assert_string_equal(err.file, path);
	assert_non_null(strstr(err.message, "No such file"));
	assert_int_equal(tl_arch_load(&arch, "/", &err), TL_EIO);
	assert_non_null(strstr(err.message, "directory"));
}

static int find_and_free(void *name)
{
	tl_arch *arch;
	int code = tl_arch_find(&arch, name, NULL);
	assert_int_equal(arch == NULL, code != 0);
	tl_arch_free(arch);
	return code;
}

static void no_memory_is_an_error_and_no_leak(void **state)
{
	char name[] = "A100";
	(void)state;
	assert_true(fail_each_allocation(find_and_free, name) > 8);
}

static void what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *json, *message;
	} wrong[] = {
		{"{\"freq_mhz\": \"x\"}", "freq_mhz: a number is needed, not a text"},
		{"{\"num_cus\": -3}", "num_cus: -3"},
		{"{\"gemm_units_per_cu\": []}", "gemm_units_per_cu: a number is needed, not a list"},
		{"{\"mem_bw_gbps\": -1}", "mem_bw_gbps: -1"},
		{"{\"aliases\": \"x\"}", "aliases: a list of texts is needed, not a text"},
		{"{\"aliases\": [1]}", "aliases: a text is needed, not a number"},
		{"{\"peak_tflops\": {\"Matrix_BF16\": 1}}", "peak_tflops: Matrix_BF16: this is no compute spec"},
		{"{\"max_achievable_tflops\": {\"matrix_bf61\": 1}}", "max_achievable_tflops: matrix_bf61: this is no"},
		{"{\"peak_tflops\": {\"matrix_bf16\": -2}}", "peak_tflops: matrix_bf16: -2"},
		{"{\"peak_tflops\": {\"bf16\": 2}}", "peak_tflops: bf16: this is no compute spec"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		tl_arch *arch;
		tl_error err = TL_ERROR_INIT;
		assert_int_equal(tl_arch_parse(&arch, wrong[i].json, strlen(wrong[i].json), "my.json", &err),
				 TL_EFORMAT);
		if (!strstr(err.message, wrong[i].message))
			fail_msg("'%s' does not say '%s'", err.message, wrong[i].message);
	}
	tl_arch *arch;
	static const char fine[] = "{\"Freq_MHz\": \"x\", \"peak_tflops\": {\"vector_bfloat16\": 2}}";
	assert_int_equal(tl_arch_parse(&arch, fine, strlen(fine), "my.json", NULL), 0);
	tl_arch_free(arch);
}

static void rates_name_their_sources(void **state)
{
	static const struct {
		const char *gpu, *spec, *source;
	} cases[] = {{"MI300X", "matrix_bf16", "Measuring Max-Achievable"},
		     {"MI300X", "vector_fp32", "TraceLens"},
		     {"MI300X", "matrix_tf32", "MI300X Accelerator Data Sheet"},
		     {"MI250X", "vector_bf16", "derived"},
		     {"MI250X", "matrix_bf16", "MI200 Series"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tl_arch *arch = find(cases[i].gpu);
		if (!strstr(tl_arch_source(arch, cases[i].spec), cases[i].source))
			fail_msg("%s %s: '%s'", cases[i].gpu, cases[i].spec, tl_arch_source(arch, cases[i].spec));
		assert_string_equal(tl_arch_source(arch, "vector_fp4"), "");
		tl_arch_free(arch);
	}
	/* each rate of a bundled file has one */
	for (size_t i = 0; tl_arch_bundled(i); i++) {
		tl_arch *arch = find(tl_arch_bundled(i));
		for (size_t k = 0; tl_arch_spec(arch, k); k++)
			if (!*tl_arch_source(arch, tl_arch_spec(arch, k)))
				fail_msg("%s: %s", tl_arch_bundled(i), tl_arch_spec(arch, k));
		tl_arch_free(arch);
	}
}

static void nothing_is_no_platform(void **state)
{
	(void)state;
	tl_arch *arch;
	assert_int_equal(tl_arch_parse(&arch, NULL, 0, "x", NULL), TL_EINVAL);
	assert_int_equal(tl_arch_parse(&arch, "{}", 2, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_arch_load(&arch, NULL, NULL), TL_EINVAL);
	assert_string_equal(tl_arch_name(NULL), "");
	assert_string_equal(tl_arch_note(NULL), "");
	assert_string_equal(tl_arch_source(NULL, "x"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_matched_as_people_write_them),
		cmocka_unit_test(an_unknown_name_is_answered_with_the_list),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(rates_name_their_sources),
		cmocka_unit_test(nothing_is_no_platform),
		cmocka_unit_test(figures_are_those_of_their_sources),
		cmocka_unit_test(every_bundled_platform_is_complete),
		cmocka_unit_test(a_file_of_a_user_needs_little),
		cmocka_unit_test(wrong_files_say_what_is_wrong),
		cmocka_unit_test(files_are_read),
		cmocka_unit_test(no_memory_is_an_error_and_no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
