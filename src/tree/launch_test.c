/* SPDX-License-Identifier: MIT */
/* GPU events and their launches: spec 01 sections 4.8 and 13.1, spec 09 section 1c. */
#include <stdio.h>
#include <stdlib.h>

#include "tree/tree_fixture.h"

#define NONE TL_ID_NONE
#define LAUNCH(start, dur, correlation) tl_fixture_launch(f.store, "cudaLaunchKernel", 1, 1, start, dur, correlation)
#define KERNEL(stream, start, dur, correlation) \
	tl_fixture_gpu(f.store, TL_KIND_KERNEL, "kernel", 0, stream, start, dur, correlation)

static void assert_unlinked(const tl_fixture *f, tl_row row)
{
	assert_false(tl__tree_is_linked(f->tree, row));
	assert_int_equal(tl_tree_parent(f->tree, row), TL_ROW_NONE);
}

/* The example of spec 01 section 4.12. */
static void worked_example(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row linear = tl_fixture_op(f.store, "aten::linear", 1, 1, 100, 50);
	tl_fixture_op_args(f.store, linear)->sequence = 7;
	tl_row addmm = tl_fixture_op(f.store, "aten::addmm", 1, 1, 105, 40);
	tl_row l1 = LAUNCH(110, 5, 1), l2 = LAUNCH(144.5, 3, 2);
	tl_row gemm = KERNEL(7, 200, 30, 1), reduce = KERNEL(8, 220, 25, 2);
	for (int i = 1; i <= 2; i++) {
		tl_fixture_flow(f.store, TL_KIND_FLOW, 's', (tl_id)i, 1, 1, i == 1 ? 110 : 144.5);
		tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', (tl_id)i, 0, i == 1 ? 7 : 8, i == 1 ? 200 : 220);
	}
	tl_row copy = tl_fixture_gpu(f.store, TL_KIND_MEMCPY, "Memcpy HtoD", 0, 7, 260, 5, 3);
	tl_row backward = tl_fixture_op(f.store, "autograd::engine::evaluate_function: AddmmBackward0", 1, 2, 300, 50);
	tl_fixture_op_args(f.store, backward)->sequence = 7;
	tl_fixture_build(&f, false);
	tl_fixture_check(&f);

	tl_row children[4];
	assert_int_equal(tl_tree_children(f.tree, linear, children, 4), 2);
	assert_int_equal(children[0], addmm);
	assert_int_equal(children[1], l2);
	assert_parent(&f, l1, addmm);
	assert_parent(&f, gemm, l1);
	assert_parent(&f, reduce, l2);
	size_t n;
	const tl_row *gpu = tl_tree_gpu_events(f.tree, linear, &n);
	assert_int_equal(n, 2);
	assert_int_equal(gpu[0], gemm);
	assert_int_equal(gpu[1], reduce);
	assert_int_equal(*tl_tree_gpu_events(f.tree, addmm, &n), gemm);
	assert_int_equal(n, 1);
	tl_tree_gpu_events(f.tree, backward, &n);
	assert_int_equal(n, 0);
	tl_tree_gpu_events(f.tree, gemm, &n);
	assert_int_equal(n, 0);
	tl_tree_gpu_events(f.tree, 1000, &n);
	assert_int_equal(n, 0);

	assert_unlinked(&f, copy);
	tl_time time;
	assert_int_equal(tl_tree_unlinked(f.tree, &time), 1);
	assert_int_equal(time, 5 * TL_PS_PER_US);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_NO_LAUNCH), 1);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_NO_LAUNCH].time, 5 * TL_PS_PER_US);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_LINKED_WITHOUT_FLOW), 0);

	assert_int_equal(tl__tree_forward_of(f.tree, backward), linear);
	assert_int_equal(tl__tree_cpu_op_above(f.tree, f.tree->pos_of_row[gemm]), f.tree->pos_of_row[addmm]);
	assert_int_equal(tl__tree_cpu_op_above(f.tree, f.tree->pos_of_row[linear]), TL_POS_NONE);
	tl_fixture_free(&f);
}

/* GPU events come after what the launch called, by start. */
static void gpu_events_come_last(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row outer = LAUNCH(0, 10, 1), inner = LAUNCH(1, 5, 2), innermost = LAUNCH(2, 1, 3), next = LAUNCH(7, 1, 4);
	tl_row k[6] = {KERNEL(7, 60, 1, 1), KERNEL(7, 50, 1, 1), KERNEL(7, 30, 1, 2),
		       KERNEL(7, 20, 1, 3), KERNEL(7, 40, 1, 4), KERNEL(7, 10, TL_NO_TIME, 2)};
	tl_fixture_build(&f, false);
	tl_fixture_check(&f);
	tl_row children[4];
	assert_int_equal(tl_tree_children(f.tree, outer, children, 4), 4);
	assert_int_equal(children[0], inner);
	assert_int_equal(children[1], next);
	assert_int_equal(children[2], k[1]);
	assert_int_equal(children[3], k[0]);
	assert_int_equal(tl_tree_children(f.tree, inner, children, 4), 3);
	assert_int_equal(children[0], innermost);
	assert_int_equal(children[1], k[5]);
	assert_int_equal(children[2], k[2]);
	size_t n;
	const tl_row *gpu = tl_tree_gpu_events(f.tree, outer, &n), expected[] = {k[3], k[5], k[2], k[4], k[1], k[0]};
	assert_int_equal(n, 6);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(gpu[i], expected[i]);
	tl_fixture_free(&f);
}

/* [01-T10]: any call may launch several GPU events, whatever its name (and on several devices). */
static void one_launch_owns_all_its_events(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row launch = tl_fixture_launch(f.store, "hipGraphLaunch_spt", 1, 1, 0, 5, 9);
	tl_row a = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "a", 0, 7, 10, 1, 9);
	tl_row b = tl_fixture_gpu(f.store, TL_KIND_MEMSET, "b", 1, 7, 12, 1, 9);
	tl_row c = tl_fixture_gpu(f.store, TL_KIND_MEMCPY, "c", 0, 8, 11, 1, 9);
	tl_fixture_build(&f, false);
	size_t n;
	const tl_row *gpu = tl_tree_gpu_events(f.tree, launch, &n);
	assert_int_equal(n, 3);
	assert_int_equal(gpu[0], a);
	assert_int_equal(gpu[1], c);
	assert_int_equal(gpu[2], b);
	assert_int_equal(tl_tree_unlinked(f.tree, NULL), 0);
	tl_fixture_free(&f);
}

/* [01-T9]: ROCm writes memsets without the flow's start. */
static void half_a_flow_still_links(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row launch = LAUNCH(0, 5, 3), set = tl_fixture_gpu(f.store, TL_KIND_MEMSET, "Memset", 0, 7, 10, 2, 3);
	tl_row whole = LAUNCH(20, 5, 4), kernel = KERNEL(7, 30, 1, 4);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', 3, 0, 7, 10);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 's', 4, 1, 1, 20);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', 4, 0, 7, 30);
	/* No arrow at all, and the lone heads of a graph's kernels, are ordinary. */
	tl_row plain = LAUNCH(40, 5, 5), kernel2 = KERNEL(7, 50, 1, 5);
	tl_row graph = tl_fixture_launch(f.store, "hipGraphLaunch", 1, 1, 60, 5, 6), kernel3 = KERNEL(7, 70, 1, 6);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', 6, 0, 7, 70);
	tl_fixture_build(&f, false);
	assert_parent(&f, kernel2, plain);
	assert_parent(&f, kernel3, graph);
	assert_parent(&f, set, launch);
	assert_parent(&f, kernel, whole);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_LINKED_WITHOUT_FLOW), 1);
	assert_int_equal(f.tree->health.entry[TL_HEALTH_LINKED_WITHOUT_FLOW].first_row, set);
	tl_fixture_free(&f);
}

/* Spec 09 C13: clocks differ, ids do not. */
static void kernel_before_its_launch(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row launch = LAUNCH(100, 5, 1), kernel = KERNEL(7, 99.4, 3, 1);
	tl_fixture_build(&f, false);
	assert_parent(&f, kernel, launch);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_KERNEL_BEFORE_LAUNCH), 1);
	assert_string_equal(f.tree->health.entry[TL_HEALTH_KERNEL_BEFORE_LAUNCH].detail, "at most 0.600 µs early");
	tl_fixture_free(&f);
}

/* [01-T13]: the latest launch that precedes the kernel, else the nearest; counted once an id. */
static void several_launches_of_one_id(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row late = LAUNCH(200, 5, 1), early = LAUNCH(100, 5, 1), middle = LAUNCH(150, 5, 1);
	tl_row k1 = KERNEL(7, 160, 1, 1), k2 = KERNEL(7, 50, 1, 1), k3 = KERNEL(7, 200, 1, 1),
	       k4 = KERNEL(7, 110, 1, 1);
	tl_fixture_build(&f, false);
	assert_parent(&f, k1, middle);
	assert_parent(&f, k2, early);
	assert_parent(&f, k3, late);
	assert_parent(&f, k4, early);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_DUPLICATE_LAUNCH), 1);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* Spec 09 I7: merged rank files with the rank in the pid. */
static void tagged_ranks(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row launch[2], kernel[2], lone;
	for (int r = 0; r < 2; r++) {
		char host[32], device[32];
		snprintf(host, sizeof host, "[TP0%d-DP01] 83", r);
		snprintf(device, sizeof device, "[TP0%d-DP01] 0", r);
		launch[r] = tl_fixture_launch(f.store, "hipGraphLaunch", tl_fixture_id(f.store, host), 1, 10, 5, 42);
		kernel[r] = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", tl_fixture_id(f.store, device), 7, 20, 1, 42);
	}
	/* Launched by the other rank only: an id that is equal by accident. */
	tl_fixture_launch(f.store, "hipGraphLaunch", tl_fixture_id(f.store, "[TP00-DP01] 83"), 1, 30, 5, 43);
	lone = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", tl_fixture_id(f.store, "[TP01-DP01] 0"), 7, 40, 1, 43);
	tl_fixture_build(&f, false);
	assert_parent(&f, kernel[0], launch[0]);
	assert_parent(&f, kernel[1], launch[1]);
	assert_unlinked(&f, lone);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_AMBIGUOUS_RANKS), 0);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_DUPLICATE_LAUNCH), 0);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_NO_LAUNCH), 1);
	tl_fixture_free(&f);
}

/* Nothing tells the ranks apart: no guess. */
static void untagged_ranks(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_fixture_launch(f.store, "cudaGraphLaunch", 83, 1, 10, 5, 42);
	tl_fixture_launch(f.store, "cudaGraphLaunch", 84, 1, 10, 5, 42);
	tl_row a = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, 7, 20, 1, 42);
	tl_row b = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 1, 7, 20, 2, 42);
	tl_row only = tl_fixture_launch(f.store, "cudaLaunchKernel", 83, 1, 30, 5, 43);
	tl_row c = tl_fixture_gpu(f.store, TL_KIND_KERNEL, "k", 0, 7, 40, 1, 43);
	tl_fixture_build(&f, false);
	assert_unlinked(&f, a);
	assert_unlinked(&f, b);
	assert_parent(&f, c, only);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_AMBIGUOUS_RANKS), 2);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_NO_LAUNCH), 0);
	tl_time time;
	assert_int_equal(tl_tree_unlinked(f.tree, &time), 2);
	assert_int_equal(time, 3 * TL_PS_PER_US);
	assert_int_equal(tl_tree_ambiguous(f.tree, &time), 2);
	assert_int_equal(time, 3 * TL_PS_PER_US);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* Two documents in one file use the same ids. */
static void documents_do_not_mix(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row launch[2], kernel[2];
	for (uint32_t d = 0; d < 2; d++) {
		launch[d] = tl_fixture_event_of(f.store, d, TL_KIND_RUNTIME, "cudaLaunchKernel", 1, 1, 0, 5);
		tl_fixture_link_args(f.store, launch[d])->correlation = 5;
		kernel[d] = tl_fixture_event_of(f.store, d, TL_KIND_KERNEL, "k", 0, 7, 10, 1);
		tl_fixture_link_args(f.store, kernel[d])->correlation = 5;
	}
	tl_fixture_build(&f, false);
	assert_parent(&f, kernel[0], launch[0]);
	assert_parent(&f, kernel[1], launch[1]);
	tl_fixture_free(&f);
}

/* ---- without a correlation ---- */

static void linked_by_flow(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row op = tl_fixture_op(f.store, "op", 1, 1, 0, 50), launch = LAUNCH(10, 5, NONE),
	       inside = LAUNCH(20, 5, NONE);
	tl_row kernel = KERNEL(7, 100, 5, NONE), kernel2 = KERNEL(7, 110, 5, NONE), headless = KERNEL(7, 120, 5, NONE);
	tl_row nowhere = KERNEL(7, 130, 5, NONE);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 's', 1, 1, 1, 10);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', 1, 0, 7, 100);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 's', 2, 1, 1, 22);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', 2, 0, 7, 111);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', 3, 0, 7, 120);
	tl_fixture_flow(f.store, TL_KIND_FLOW, 's', 4, 1, 1, 40); /* in the operation, in no call */
	tl_fixture_flow(f.store, TL_KIND_FLOW, 'f', 4, 0, 7, 130);
	tl_fixture_build(&f, false);
	assert_parent(&f, launch, op);
	assert_parent(&f, kernel, launch);
	assert_parent(&f, kernel2, inside);
	assert_unlinked(&f, headless);
	assert_unlinked(&f, nowhere);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_LINKED_BY_FLOW), 2);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_NO_LAUNCH), 2);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

static tl_row with_external(tl_store *s, tl_row row, tl_id external)
{
	if (s->kind[row] == TL_KIND_CPU_OP)
		tl_fixture_op_args(s, row)->external = external;
	else
		tl_fixture_link_args(s, row)->external = external;
	return row;
}

/* Spec 09 I9, I10: External id is the last resort. */
static void linked_by_external_id(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_store *s = f.store;
	tl_row outer = with_external(s, tl_fixture_op(s, "outer", 1, 1, 0, 100), 45);
	tl_row inner = with_external(s, tl_fixture_op(s, "inner", 1, 1, 10, 50), 45);
	tl_row query = with_external(s, tl_fixture_launch(s, "hipStreamIsCapturing", 1, 1, 12, 1, NONE), 45);
	tl_row launch = with_external(s, tl_fixture_launch(s, "hipLaunchKernel", 1, 1, 15, 5, NONE), 45);
	tl_row busy = with_external(s, tl_fixture_launch(s, "hipLaunchKernel", 1, 1, 25, 5, 77), 45);
	tl_row own = KERNEL(7, 40, 1, 77), kernel = with_external(s, KERNEL(7, 50, 1, NONE), 45);
	tl_row set = with_external(s, tl_fixture_gpu(s, TL_KIND_MEMSET, "Memset", 0, 7, 55, 1, NONE), 45);
	/* An id that only operations carry; the innermost has it. */
	tl_row a = with_external(s, tl_fixture_op(s, "a", 1, 1, 200, 50), 46);
	tl_row b = with_external(s, tl_fixture_op(s, "b", 1, 1, 210, 20), 46);
	tl_row late = with_external(s, KERNEL(7, 300, 1, 88), 46);
	/* The correlation id in the place of the External id names no operation; 0 names nothing. */
	tl_row wrong = with_external(s, KERNEL(7, 310, 1, 46), 46), zero = with_external(s, KERNEL(7, 320, 1, NONE), 0);
	with_external(s, tl_fixture_op(s, "zero", 1, 1, 260, 2), 0);
	tl_fixture_build(&f, false);
	assert_parent(&f, inner, outer);
	assert_parent(&f, own, busy);
	assert_parent(&f, kernel, launch);
	assert_parent(&f, set, query); /* no memset call: the call that carries the id */
	assert_parent(&f, b, a);
	assert_parent(&f, late, b);
	assert_unlinked(&f, wrong);
	assert_unlinked(&f, zero);
	assert_int_equal(tl_fixture_findings(&f, TL_HEALTH_LINKED_BY_EXTERNAL_ID), 3);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* A launch without time is not in the tree and owns nothing. */
static void launch_without_time(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	LAUNCH(TL_NO_TIME, 5, 1);
	tl_row kernel = KERNEL(7, 10, 1, 1);
	tl_fixture_build(&f, false);
	assert_unlinked(&f, kernel);
	assert_int_equal(tl_tree_count(f.tree), 0);
	tl_fixture_free(&f);
}

static void empty_and_gpu_only(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_fixture_build(&f, true);
	assert_int_equal(tl_tree_count(f.tree), 0);
	assert_int_equal(tl_tree_unlinked(f.tree, NULL), 0);
	tl_fixture_free(&f);

	tl_fixture_new(&f);
	KERNEL(7, 10, 1, 1);
	KERNEL(7, TL_NO_TIME, 1, NONE);
	tl_fixture_build(&f, true);
	assert_int_equal(tl_tree_count(f.tree), 0);
	assert_int_equal(tl_tree_unlinked(f.tree, NULL), 2);
	assert_int_equal(tl_tree_ambiguous(f.tree, NULL), 0);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* ---- properties ---- */

/* Spec 09 case 8: time grows with the events, not with launches times kernels. */
static void case_8_graph_launches(void **state)
{
	(void)state;
	enum { LAUNCHES = 2000, KERNELS = 1000 };
	tl_fixture f;
	tl_fixture_new(&f);
	tl_row first = LAUNCH(0, 5, 1);
	for (int i = 1; i < LAUNCHES; i++)
		LAUNCH(10 * i, 5, (tl_id)i + 1);
	tl_time sum = 0;
	for (int k = 0; k < KERNELS; k++)
		for (int i = 0; i < LAUNCHES; i++) {
			tl_row row = KERNEL(7, 10.0 * i + k / 1000.0, 0.001, (tl_id)i + 1);
			sum += f.store->dur[row];
		}
	tl_fixture_build(&f, false);
	tl_time linked = 0;
	for (int i = 0; i < LAUNCHES; i++) {
		size_t n;
		const tl_row *gpu = tl_tree_gpu_events(f.tree, first + (tl_row)i, &n);
		assert_int_equal(n, KERNELS);
		for (size_t k = 0; k < n; k++)
			linked += f.store->dur[gpu[k]];
	}
	assert_int_equal(linked, sum);
	assert_int_equal(sum, (tl_time)LAUNCHES * KERNELS * 1000);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

/* The same events in any file order give the same tree. */
static void order_in_the_file_does_not_matter(void **state)
{
	(void)state;
	enum { N = 600 };
	tl_row first_parent[N];
	for (unsigned seed = 0; seed < 6; seed++) {
		int at[N];
		for (int i = 0; i < N; i++)
			at[i] = i;
		srand(seed);
		for (int i = N; seed && i > 1; i--) {
			int j = rand() % i, x = at[i - 1];
			at[i - 1] = at[j];
			at[j] = x;
		}
		tl_fixture f;
		tl_fixture_new(&f);
		tl_row row_of[N];
		for (int k = 0; k < N; k++) {
			int i = at[k], group = i / 6;
			double start = 100 * group;
			switch (i % 6) {
			case 0:
				row_of[i] = tl_fixture_op(f.store, "op", 1, (tl_id)(group % 3), start, 90);
				break;
			case 1:
				row_of[i] = tl_fixture_op(f.store, "sub", 1, (tl_id)(group % 3), start + 1, 80);
				tl_fixture_op_args(f.store, row_of[i])->external = (tl_id)group + 1;
				break;
			case 2: /* two launches of one id */
			case 3:
				row_of[i] = tl_fixture_launch(f.store, "launch", 1, (tl_id)(group % 3),
							      start + 5 * (i % 6), 4, (tl_id)group + 1);
				break;
			case 4:
				row_of[i] = KERNEL(7, start + 12 + group % 9, 1, (tl_id)group + 1);
				break;
			default:
				row_of[i] = KERNEL(8, start + 50, 1, group % 2 ? NONE : 9999);
				tl_fixture_link_args(f.store, row_of[i])->external = (tl_id)group + 1;
			}
		}
		tl_fixture_build(&f, false);
		tl_fixture_check(&f);
		int index_of[N];
		for (int i = 0; i < N; i++)
			index_of[row_of[i]] = i;
		for (int i = 0; i < N; i++) {
			tl_row parent = tl_tree_parent(f.tree, row_of[i]);
			tl_row named = parent == TL_ROW_NONE ? TL_ROW_NONE : (tl_row)index_of[parent];
			if (!seed)
				first_parent[i] = named;
			assert_int_equal(named, first_parent[i]);
		}
		tl_fixture_free(&f);
	}
}

/* Running out of memory anywhere is an error, not a crash or a leak. */
static void out_of_memory(void **state)
{
	(void)state;
	tl_fixture f;
	tl_fixture_new(&f);
	tl_store *s = f.store;
	for (int i = 0; i < 100; i++) {
		tl_row op = with_external(s, tl_fixture_op(s, "op", 1, (tl_id)(i % 2), 100 - i, 5), (tl_id)i + 1);
		tl_fixture_op_args(s, op)->sequence = (tl_id)i;
		op = tl_fixture_op(s, "autograd::engine::evaluate_function: X", 1, 5, 1000 + 10 * i, 5);
		tl_fixture_op_args(s, op)->sequence = (tl_id)i;
		tl_fixture_op_args(s, op)->fwd_thread = 1;
		op = tl_fixture_op(s, "autograd::engine::evaluate_function: X", 1, 6, 1000 + 10 * i, 5);
		tl_fixture_op_args(s, op)->sequence = (tl_id)(i / 2);
		tl_fixture_op_args(s, op)->fwd_thread = 2;
		tl_fixture_launch(s, "hipGraphLaunch", tl_fixture_id(s, "[TP00] 1"), 1, 100 - i, 1, (tl_id)i);
		KERNEL(7, 200 - i, 1, (tl_id)i);
		with_external(s, KERNEL(8, 200 - i, 1, NONE), (tl_id)i + 1);
		tl_fixture_flow(s, TL_KIND_FLOW, 's', (tl_id)i, 1, 1, 5);
		tl_fixture_flow(s, TL_KIND_FWDBWD, 'f', (tl_id)i, 1, 1, 5);
		tl_fixture_python(s, "f", 1, 1, 0, 500, (tl_id)(200 - i), NONE);
	}
	tl_fixture_fail_to_build(&f, (tl_tree_options){.with_python = true}, 30);
	tl_fixture_check(&f);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_example),
		cmocka_unit_test(gpu_events_come_last),
		cmocka_unit_test(one_launch_owns_all_its_events),
		cmocka_unit_test(half_a_flow_still_links),
		cmocka_unit_test(kernel_before_its_launch),
		cmocka_unit_test(several_launches_of_one_id),
		cmocka_unit_test(tagged_ranks),
		cmocka_unit_test(untagged_ranks),
		cmocka_unit_test(documents_do_not_mix),
		cmocka_unit_test(linked_by_flow),
		cmocka_unit_test(linked_by_external_id),
		cmocka_unit_test(launch_without_time),
		cmocka_unit_test(empty_and_gpu_only),
		cmocka_unit_test(case_8_graph_launches),
		cmocka_unit_test(order_in_the_file_does_not_matter),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
