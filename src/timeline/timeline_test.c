/* SPDX-License-Identifier: MIT */
/* Interval arithmetic and the GPU time breakdown: spec 01 sections 7.2 to 7.5, spec 09 section 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/timeline.h"
#include "trace/store_fixture.h"
#include "util/no_memory.h"

#define US(x) ((x)*TL_PS_PER_US)
#define COUNT(v) (sizeof(v) / sizeof *(v))

static void assert_intervals(const tl_interval *v, size_t n, const tl_interval *expected, size_t m)
{
	assert_int_equal(n, m);
	for (size_t i = 0; i < n && i < m; i++) {
		assert_int_equal(v[i].start, expected[i].start);
		assert_int_equal(v[i].end, expected[i].end);
	}
}

static void merge(void **state)
{
	(void)state;
	tl_interval v[] = {{20, 30}, {0, 5}, {5, 7}, {3, 4}, {40, 40}, {25, 26}},
		    expected[] = {{0, 7}, {20, 30}, {40, 40}};
	assert_intervals(v, tl__intervals_merge(v, COUNT(v)), expected, COUNT(expected));
	assert_int_equal(tl__intervals_length(v, 3), 17);
	assert_int_equal(tl__intervals_merge(v, 0), 0);
	assert_int_equal(tl__intervals_length(v, 0), 0);
}

/* The examples of spec 01 section 7.3. */
static void subtract(void **state)
{
	(void)state;
	tl_interval out[8] = {{0}};
	tl_interval b1[] = {{10, 20}}, b2[] = {{10, 20}, {30, 40}};
	tl_interval a1[] = {{15, 16}, {17, 18}}, r1[] = {{10, 15}, {16, 17}, {18, 20}};
	tl_interval a2[] = {{15, 17}, {16, 18}}, r2[] = {{10, 15}, {18, 20}};
	tl_interval a3[] = {{15, 35}}, r3[] = {{10, 15}, {35, 40}};
	tl_interval a4[] = {{0, 30}}, a5[] = {{0, 10}, {20, 30}, {40, 50}};
	assert_intervals(out, tl__intervals_subtract(out, a1, 2, b1, 1), r1, 3);
	assert_intervals(out, tl__intervals_subtract(out, a2, 2, b1, 1), r2, 2);
	assert_intervals(out, tl__intervals_subtract(out, a3, 1, b2, 2), r3, 2);
	assert_intervals(out, tl__intervals_subtract(out, a4, 1, b1, 1), NULL, 0);
	assert_intervals(out, tl__intervals_subtract(out, a5, 3, b2, 2), b2, 2);
	assert_intervals(out, tl__intervals_subtract(out, NULL, 0, b2, 2), b2, 2);
	assert_intervals(out, tl__intervals_subtract(out, a1, 2, NULL, 0), NULL, 0);
}

/* Against a bitmap of unit steps. */
static void random_sets(void **state)
{
	(void)state;
	enum { SPAN = 300, N = 20 };
	srand(1);
	for (int round = 0; round < 500; round++) {
		tl_interval set[2][N], out[2 * N];
		bool covered[2][SPAN] = {{false}};
		size_t n[2];
		for (int k = 0; k < 2; k++) {
			for (size_t i = 0; i < N; i++) {
				set[k][i].start = rand() % (SPAN - 20);
				set[k][i].end = set[k][i].start + rand() % 20;
				for (tl_time t = set[k][i].start; t < set[k][i].end; t++)
					covered[k][t] = true;
			}
			n[k] = tl__intervals_merge(set[k], N);
		}
		tl_time unions[2] = {0, 0}, rest = 0;
		for (int t = 0; t < SPAN; t++) {
			unions[0] += covered[0][t];
			unions[1] += covered[1][t];
			rest += covered[1][t] && !covered[0][t];
		}
		assert_int_equal(tl__intervals_length(set[0], n[0]), unions[0]);
		assert_int_equal(tl__intervals_length(set[1], n[1]), unions[1]);
		size_t pieces = tl__intervals_subtract(out, set[0], n[0], set[1], n[1]);
		assert_true(pieces <= n[0] + n[1]);
		assert_int_equal(tl__intervals_length(out, pieces), rest);
		for (size_t i = 0; i < pieces; i++)
			for (tl_time t = out[i].start; t < out[i].end; t++)
				assert_true(covered[1][t] && !covered[0][t]);
	}
}

static tl_gpu_class class_of(tl_kind kind, const char *name)
{
	return tl__gpu_class_of((uint8_t)kind, name, strlen(name));
}

static void classes(void **state)
{
	(void)state;
	static const char *const copies[] = {"MEMORY_COPY_HOST_TO_DEVICE",        "MEMORY_COPY_DEVICE_TO_HOST.kd",
					     "MEMORY_COPY_DEVICE_TO_DEVICE",      "__amd_rocclr_copyBuffer",
					     "__amd_rocclr_copyBufferRect",       "__amd_rocclr_copyBufferAligned.kd",
					     "__amd_rocclr_copyBufferRectAligned"};
	for (size_t i = 0; i < COUNT(copies); i++)
		assert_int_equal(class_of(TL_KIND_KERNEL, copies[i]), TL_GPU_MEMCPY);
	static const char *const computation[] = {"memcpy_my_thing",
						  "triton_per_fused__to_copy_sum_2.kd",
						  "__amd_rocclr_fillBufferAligned",
						  "__amd_rocclr_copyBufferAlignedRect",
						  "__amd_rocclr_copyBuffer.kd2",
						  "x__amd_rocclr_copyBuffer",
						  "memory_copy_host_to_device",
						  "cross_device_reduc",
						  "ccl",
						  ""};
	for (size_t i = 0; i < COUNT(computation); i++)
		assert_int_equal(class_of(TL_KIND_KERNEL, computation[i]), TL_GPU_COMPUTATION);
	static const char *const communication[] = {"ncclDevKernel_AllReduce", "void RCCL", "my_Nccl", "rccl",
						    "void vllm::Cross_Device_Reduce_1stage<x>"};
	for (size_t i = 0; i < COUNT(communication); i++) {
		assert_int_equal(class_of(TL_KIND_KERNEL, communication[i]), TL_GPU_COMMUNICATION);
		assert_int_equal(class_of(TL_KIND_MEMSET, communication[i]), TL_GPU_COMMUNICATION);
		assert_int_equal(class_of(TL_KIND_MEMCPY, communication[i]), TL_GPU_MEMCPY);
	}
	assert_int_equal(class_of(TL_KIND_MEMSET, "__amd_rocclr_copyBuffer"), TL_GPU_COMPUTATION);
}

static tl_breakdown breakdown(const tl_store *s, const double *threshold)
{
	tl_row rows[64];
	assert_true(s->n <= 64);
	for (tl_row i = 0; i < s->n; i++)
		rows[i] = i;
	tl_breakdown out;
	assert_int_equal(tl__breakdown(&out, s, rows, s->n, threshold, NULL), 0);
	assert_int_equal(out.computation + out.exposed_comm + out.exposed_memcpy, out.busy);
	assert_int_equal(out.busy + out.idle, out.total);
	return out;
}

static tl_store *store_of(void)
{
	tl_store *s = tl__store_new();
	assert_non_null(s);
	return s;
}

/* Spec 01 sections 4.12 and 7.5, with the copy whose launch is missing. */
static void worked_example(void **state)
{
	(void)state;
	tl_store *s = store_of();
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 200, 30, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "ncclDevKernel_AllReduce", 0, 8, 220, 25, 2);
	tl_breakdown b = breakdown(s, NULL);
	assert_int_equal(b.computation, US(30));
	assert_int_equal(b.exposed_comm, US(15));
	assert_int_equal(b.exposed_memcpy, 0);
	assert_int_equal(b.busy, US(45));
	assert_int_equal(b.idle, 0);
	assert_int_equal(b.total, US(45));
	assert_int_equal(b.total_comm, US(25));
	assert_int_equal(b.total_memcpy, 0);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "Memcpy HtoD (Host -> Device)", 0, 7, 260, 5, 3);
	double threshold = 15;
	b = breakdown(s, &threshold);
	assert_int_equal(b.exposed_memcpy, US(5));
	assert_int_equal(b.busy, US(50));
	assert_int_equal(b.total, US(65));
	assert_int_equal(b.idle, US(15));
	assert_int_equal(b.micro_idle, 0); /* a gap as long as the threshold is macro */
	assert_int_equal(b.macro_idle, US(15));
	threshold = 15.001;
	b = breakdown(s, &threshold);
	assert_int_equal(b.micro_idle, US(15));
	assert_int_equal(b.macro_idle, 0);
	tl__store_free(s);
}

/* What is hidden behind computation or communication is not exposed. */
static void exposure(void **state)
{
	(void)state;
	tl_store *s = store_of();
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 0, 10, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "nccl", 0, 8, 5, 10, 2);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "copy", 0, 9, 8, 12, 3);
	tl_breakdown b = breakdown(s, NULL);
	assert_int_equal(b.computation, US(10));
	assert_int_equal(b.exposed_comm, US(5));
	assert_int_equal(b.exposed_memcpy, US(5));
	assert_int_equal(b.total_comm, US(10));
	assert_int_equal(b.total_memcpy, US(12));
	tl__store_free(s);
}

/* Spec 09 case 1: a kernel of no length counts one and adds nothing. */
static void case_1_zero_length(void **state)
{
	(void)state;
	tl_store *s = store_of();
	tl_fixture_gpu(s, TL_KIND_KERNEL, "A", 0, 7, 100, 10, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "Z", 0, 8, 105, 0, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "B", 0, 7, 120, 5, 3);
	tl_breakdown b = breakdown(s, NULL);
	assert_int_equal(b.events, 3);
	assert_int_equal(b.total, US(25));
	assert_int_equal(b.busy, US(15));
	assert_int_equal(b.idle, US(10));
	tl__store_free(s);
}

/* Spec 09 case 2, as recorded. */
static void case_2_raw(void **state)
{
	(void)state;
	tl_store *s = store_of();
	tl_fixture_gpu(s, TL_KIND_KERNEL, "K1", 0, 7, 0, 10, 1);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "K2", 0, 7, 10, 5000, 2);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "K3", 0, 7, 20, 10, 3);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "K4", 0, 7, 30, 10, 4);
	tl_breakdown b = breakdown(s, NULL);
	assert_int_equal(b.total, US(5010));
	assert_int_equal(b.busy, US(5010));
	tl__store_free(s);
}

/* Spec 09 case 23: invalid durations (unusable in the store) count nothing. */
static void case_23_invalid_durations(void **state)
{
	(void)state;
	tl_store *s = store_of();
	for (int i = 0; i < 10; i++)
		tl_fixture_gpu(s, TL_KIND_KERNEL, "k", 0, 7, 200 * i, 100, TL_ID_NONE);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "k", 0, 7, 5000, TL_NO_TIME, TL_ID_NONE);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "k", 0, 7, TL_NO_TIME, 50, TL_ID_NONE);
	tl_breakdown b = breakdown(s, NULL);
	assert_int_equal(b.events, 10);
	assert_int_equal(b.busy, US(1000));
	assert_int_equal(b.total, US(1900));
	tl__store_free(s);
}

/* Spec 09 case 33: touching kernels of a fractional length. */
static void case_33_back_to_back(void **state)
{
	(void)state;
	tl_store *s = store_of();
	for (int i = 0; i < 5; i++)
		tl_fixture_gpu(s, TL_KIND_KERNEL, "k", 0, 7, 0.9 * i, 0.9, TL_ID_NONE);
	tl_breakdown b = breakdown(s, NULL);
	assert_int_equal(b.busy, US(45) / 10);
	assert_int_equal(b.idle, 0);
	tl__store_free(s);
}

/* Spec 09 case 39: utilisation is union over span. */
static void case_39_utilisation(void **state)
{
	(void)state;
	tl_store *s = store_of();
	tl_fixture_gpu(s, TL_KIND_KERNEL, "gemm", 0, 7, 0, 1626, TL_ID_NONE);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "ncclDevKernel", 0, 8, 400, 627, TL_ID_NONE);
	tl_fixture_gpu(s, TL_KIND_MEMCPY, "copy", 0, 9, 2100, 250, TL_ID_NONE);
	tl_breakdown b = breakdown(s, NULL);
	assert_int_equal(b.busy, US(1876));
	assert_int_equal(b.total, US(2350));
	assert_int_equal(b.exposed_memcpy, US(250));
	assert_int_equal(b.exposed_comm, 0);
	tl__store_free(s);
}

static void nothing(void **state)
{
	(void)state;
	tl_store *s = store_of();
	double threshold = 0;
	tl_breakdown b = breakdown(s, &threshold), zero = {0};
	assert_memory_equal(&b, &zero, sizeof b);
	tl_fixture_gpu(s, TL_KIND_KERNEL, "k", 0, 7, TL_NO_TIME, 1, TL_ID_NONE);
	b = breakdown(s, NULL);
	assert_memory_equal(&b, &zero, sizeof b);
	tl__store_free(s);
}

static void busy_time(void **state)
{
	(void)state;
	tl_store *s = store_of();
	tl_row rows[] = {tl_fixture_gpu(s, TL_KIND_KERNEL, "b", 0, 7, 20, 10, 1),
			 tl_fixture_gpu(s, TL_KIND_KERNEL, "a", 0, 8, 5, 20, 1),
			 tl_fixture_gpu(s, TL_KIND_KERNEL, "c", 0, 8, 50, 1, 1),
			 tl_fixture_gpu(s, TL_KIND_KERNEL, "d", 0, 8, TL_NO_TIME, 1, 1)};
	tl_interval_buf scratch = {0};
	tl_time time;
	assert_int_equal(tl__busy_time(&time, s, rows, 4, &scratch), 0);
	assert_int_equal(time, US(26));
	assert_int_equal(tl__busy_time(&time, s, rows, 0, &scratch), 0);
	assert_int_equal(time, 0);
	TL_VEC_FREE(&scratch);
	tl__store_free(s);
}

typedef struct some_rows {
	tl_store *s;
	tl_row v[40];
	tl_breakdown b;
} some_rows;

static int break_down(void *of)
{
	some_rows *rows = of;
	return tl__breakdown(&rows->b, rows->s, rows->v, 40, NULL, NULL);
}

static void out_of_memory(void **state)
{
	(void)state;
	tl_store *s = store_of();
	some_rows rows = {.s = s};
	for (int i = 0; i < 40; i++)
		rows.v[i] = tl_fixture_gpu(s, i % 3 ? TL_KIND_KERNEL : TL_KIND_MEMCPY, i % 2 ? "nccl" : "k", 0, 7,
					   10 * i, 5, 1);
	assert_true(fail_each_allocation(break_down, &rows) > 3);
	assert_int_equal(rows.b.busy, US(200));
	tl__store_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merge),
		cmocka_unit_test(subtract),
		cmocka_unit_test(random_sets),
		cmocka_unit_test(classes),
		cmocka_unit_test(worked_example),
		cmocka_unit_test(exposure),
		cmocka_unit_test(case_1_zero_length),
		cmocka_unit_test(case_2_raw),
		cmocka_unit_test(case_23_invalid_durations),
		cmocka_unit_test(case_33_back_to_back),
		cmocka_unit_test(case_39_utilisation),
		cmocka_unit_test(nothing),
		cmocka_unit_test(busy_time),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
