/* SPDX-License-Identifier: MIT */
/* The timeline of a caller's list of events: spec 01 sections 7.2 to 7.5, and its worked example 4.12. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "timeline/timeline.h"
#include "util/no_memory.h"

#define US(x) ((tl_time)(x)*TL_PS_PER_US)
enum { N = 4 };

static const char *const categories[N] = {"kernel", "kernel", "gpu_memcpy", "cpu_op"};
static const char *const names[N] = {"gemm", "ncclDevKernel_AllReduce", "Memcpy HtoD (Host -> Device)", "aten::mm"};
static const tl_time starts[N] = {US(200), US(220), US(260), US(0)};
static const tl_time durations[N] = {US(30), US(25), US(5), US(900)};

static tl_gpu_event_list worked(void)
{
	return (tl_gpu_event_list){.n = N, .start = starts, .dur = durations, .category = categories, .name = names};
}

static void the_worked_example(void **state)
{
	(void)state;
	tl_gpu_event_list list = worked();
	tl_breakdown b;
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, NULL, NULL), 0);
	assert_int_equal(b.events, 3); /* the operation is none of the GPU's */
	assert_int_equal(b.computation, US(30));
	assert_int_equal(b.exposed_comm, US(15));
	assert_int_equal(b.exposed_memcpy, US(5));
	assert_int_equal(b.busy, US(50));
	assert_int_equal(b.idle, US(15));
	assert_int_equal(b.total, US(65));
	assert_int_equal(b.total_comm, US(25));
	assert_int_equal(b.total_memcpy, US(5));
	/* the single gap takes exactly as long as the threshold */
	const double equal = 15, above = 15.5, none = 0;
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, &equal, NULL), 0);
	assert_int_equal(b.macro_idle, US(15));
	assert_int_equal(b.micro_idle, 0);
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, &above, NULL), 0);
	assert_int_equal(b.micro_idle, US(15));
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, &none, NULL), 0);
	assert_int_equal(b.macro_idle, US(15));
}

/* Classes that the caller gives stand above names: get_gpu_event_lists of the reference overridden. */
static void classes_of_the_caller(void **state)
{
	(void)state;
	static const tl_gpu_class classes[N] = {TL_GPU_MEMCPY, TL_GPU_NONE, TL_GPU_COMPUTATION, (tl_gpu_class)17};
	tl_gpu_event_list list = worked();
	list.classes = classes;
	tl_breakdown b;
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, NULL, NULL), 0);
	assert_int_equal(b.events, 2);
	assert_int_equal(b.computation, US(5));
	assert_int_equal(b.exposed_memcpy, US(30));
	assert_int_equal(b.total_comm, 0);
	/* neither categories nor names: kernels that compute */
	list = (tl_gpu_event_list){.n = N, .start = starts, .dur = durations};
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, NULL, NULL), 0);
	assert_int_equal(b.computation, b.total);
	assert_int_equal(b.total, US(900));
}

static void classify(void **state)
{
	(void)state;
	assert_int_equal(tl_gpu_classify("kernel", "void gemm"), TL_GPU_COMPUTATION);
	assert_int_equal(tl_gpu_classify("kernel", NULL), TL_GPU_COMPUTATION);
	assert_int_equal(tl_gpu_classify("kernel", "MyRCCLKernel"), TL_GPU_COMMUNICATION);
	assert_int_equal(tl_gpu_classify("gpu_memset", "ncclMemset"), TL_GPU_COMMUNICATION);
	assert_int_equal(tl_gpu_classify("gpu_memset", "Memset (Device)"), TL_GPU_COMPUTATION);
	assert_int_equal(tl_gpu_classify("gpu_memcpy", "nccl"), TL_GPU_MEMCPY);
	assert_int_equal(tl_gpu_classify("kernel", "MEMORY_COPY_DEVICE_TO_HOST.kd"), TL_GPU_MEMCPY);
	assert_int_equal(tl_gpu_classify("kernel", "__amd_rocclr_fillBufferAligned"), TL_GPU_COMPUTATION);
	assert_int_equal(tl_gpu_classify("cpu_op", "nccl"), TL_GPU_NONE);
	assert_int_equal(tl_gpu_classify("gpu_user_annotation", "x"), TL_GPU_NONE);
	assert_int_equal(tl_gpu_classify(NULL, "x"), TL_GPU_NONE);
}

/* Durations on which the reference fails [01-G3], and times near the limits of 64 bits. */
static void nonsense_counts_nothing(void **state)
{
	(void)state;
	static const tl_time at[] = {US(100), US(100), TL_TIME_NONE, INT64_MAX, INT64_MIN + 1, US(120), INT64_MAX / 2};
	static const tl_time takes[] = {-US(5), US(50), US(1), US(1), US(1), TL_TIME_NONE, INT64_MAX};
	tl_gpu_event_list list = {.n = 7, .start = at, .dur = takes};
	tl_breakdown b;
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, NULL, NULL), 0);
	assert_int_equal(b.events, 1);
	assert_int_equal(b.computation, US(50));
	assert_int_equal(b.idle, 0);
	assert_int_equal(b.total, US(50));
}

static void widest_span(void **state)
{
	(void)state;
	const tl_time half = INT64_MAX / 2, at[] = {half - 1, -half}, takes[] = {1, 1};
	tl_gpu_event_list list = {.n = 2, .start = at, .dur = takes};
	tl_breakdown b;
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, NULL, NULL), 0);
	assert_int_equal(b.events, 2);
	assert_int_equal(b.total, 2 * half);
	assert_int_equal(b.idle, 2 * half - 2);
}

static void bad_use_is_answered(void **state)
{
	(void)state;
	tl_gpu_event_list list = worked(), empty = {0}, broken = {.n = 2, .start = starts};
	tl_breakdown b = {.busy = 1};
	tl_error err = TL_ERROR_INIT;
	const double wrong[] = {-1, (double)NAN};
	assert_int_equal(tl_gpu_timeline_of_events(&b, NULL, NULL, &err), TL_EINVAL);
	assert_int_equal(b.busy, 0);
	assert_int_equal(tl_gpu_timeline_of_events(&b, &broken, NULL, &err), TL_EINVAL);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(tl_gpu_timeline_of_events(&b, &list, &wrong[i], &err), TL_EINVAL);
	assert_int_equal(tl_gpu_timeline_of_events(&b, &empty, NULL, &err), TL_EEMPTY);
	assert_string_equal(err.message, "no GPU events found in the trace");
	list.n = 4;
	list.category = (const char *const[]){"cpu_op", NULL, "Trace", ""};
	assert_int_equal(tl_gpu_timeline_of_events(&b, &list, NULL, &err), TL_EEMPTY);
}

static int break_down(void *list)
{
	tl_breakdown b;
	return tl_gpu_timeline_of_events(&b, list, NULL, NULL);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	tl_gpu_event_list list = worked();
	assert_true(fail_each_allocation(break_down, &list) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example),
		cmocka_unit_test(classes_of_the_caller),
		cmocka_unit_test(classify),
		cmocka_unit_test(nonsense_counts_nothing),
		cmocka_unit_test(widest_span),
		cmocka_unit_test(bad_use_is_answered),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
