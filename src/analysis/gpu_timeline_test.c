/* SPDX-License-Identifier: MIT */
/* The timeline table; expected values from spec 01 section 7.5. */
#include "analysis/analysis_fixture.h"

static tl_store *worked_example(void)
{
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "aten::linear", 1, 1, 100, 50);
	tl_fixture_op(s, "aten::addmm", 1, 1, 105, 40);
	tl_fixture_launch(s, "cudaLaunchKernel", 1, 1, 110, 5, 1);
	tl_fixture_launch(s, "cudaLaunchKernel", 1, 1, 144.5, 3, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 200, 30, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "ncclDevKernel_AllReduce", 0, 8, 220, 25, 2);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "Memcpy HtoD (Host -> Device)", 0, 7, 260, 5, 3);
	return s;
}

typedef struct expected_row {
	const char *type;
	double ms, percent;
} expected_row;

static void expect_timeline(fixture *f, const double *micro_idle_us, const expected_row *rows, size_t n)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	assert_int_equal(tl__gpu_timeline(&t, f->a, micro_idle_us, &err), 0);
	assert_int_equal(tl_table_rows(t), n);
	assert_int_equal(tl_table_columns(t), 3);
	for (size_t i = 0; i < n; i++) {
		expect_text(t, i, "type", rows[i].type);
		expect_number(t, i, "time ms", rows[i].ms);
		expect_number(t, i, "percent", rows[i].percent);
	}
	tl_table_free(t);
}

static void default_timeline_is_of_linked_events(void **state)
{
	(void)state;
	static const expected_row rows[] = {
		{"computation_time", 0.03, 66.66666666666666},
		{"exposed_comm_time", 0.015, 33.33333333333333},
		{"exposed_memcpy_time", 0, 0},
		{"busy_time", 0.045, 100},
		{"idle_time", 0, 0},
		{"total_time", 0.045, 100},
		{"total_comm_time", 0.025, 55.55555555555556},
		{"total_memcpy_time", 0, 0},
	};
	fixture f;
	fixture_open(&f, worked_example());
	expect_timeline(&f, NULL, rows, 8);
	assert_false(tl__analyzer_gpu_only(f.a));
	fixture_close(&f);
}

static void unlinked_events_count_on_request(void **state)
{
	(void)state;
	static const expected_row rows[] = {
		{"computation_time", 0.03, 46.15384615384615},
		{"exposed_comm_time", 0.015, 23.076923076923077},
		{"exposed_memcpy_time", 0.005, 7.6923076923076925},
		{"busy_time", 0.05, 76.92307692307693},
		{"micro_idle_time", 0, 0},
		{"macro_idle_time", 0.015, 23.076923076923077},
		{"total_time", 0.065, 100},
		{"total_comm_time", 0.025, 38.46153846153847},
		{"total_memcpy_time", 0.005, 7.6923076923076925},
	};
	fixture f;
	fixture_open_with(&f, worked_example(), &(tl_analyzer_options){.include_unlinked = true});
	double threshold = 15; /* the one gap is exactly as long: macro */
	expect_timeline(&f, &threshold, rows, 9);
	fixture_close(&f);
}

static void a_trace_without_gpu_events_gives_zeros(void **state)
{
	(void)state;
	static const expected_row rows[] = {
		{"computation_time", 0, 0}, {"exposed_comm_time", 0, 0}, {"exposed_memcpy_time", 0, 0},
		{"busy_time", 0, 0},        {"idle_time", 0, 0},         {"total_time", 0, 0},
		{"total_comm_time", 0, 0},  {"total_memcpy_time", 0, 0},
	};
	tl_store *s = tl__store_new();
	tl_fixture_op(s, "aten::linear", 1, 1, 100, 50);
	fixture f;
	fixture_open(&f, s);
	expect_timeline(&f, NULL, rows, 8);
	fixture_close(&f);
	fixture_open(&f, tl__store_new());
	expect_timeline(&f, NULL, rows, 8);
	assert_true(tl__analyzer_gpu_only(f.a));
	fixture_close(&f);
}

static void only_python_frames_are_host_operations_too(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	tl_fixture_python(s, "train.py(1): step", 1, 1, 0, 10, TL_ID_NONE, TL_ID_NONE);
	fixture f;
	fixture_open(&f, s);
	assert_false(tl__analyzer_gpu_only(f.a));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_timeline_is_of_linked_events),
		cmocka_unit_test(unlinked_events_count_on_request),
		cmocka_unit_test(a_trace_without_gpu_events_gives_zeros),
		cmocka_unit_test(only_python_frames_are_host_operations_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
