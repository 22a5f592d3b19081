/* SPDX-License-Identifier: MIT */
/* Small traces compared with others: who gets what of the other one's time, worked out by hand. */
#include "analysis/analysis_fixture.h"
#include "compare/diff_fixture.h"
#include "compare/inline_diff.h"
#include "util/random_testing.h"

typedef struct compared {
	diff_fixture f;
	tl_analyzer *a;
	tl_inline_diff diff;
	tl_table *summary, *largest;
	tl_inline_totals totals;
} compared;

static int keep(tl_inline_diff *out, const tl_diff *diff)
{
	tl_diff_rows rows;
	TL_TRY(tl__diff_rows_new(&rows, diff, NULL));
	int code = tl__inline_diff_new(out, &rows, NULL);
	tl__diff_rows_free(&rows);
	return code;
}

static int add_columns(compared *c, bool unlinked)
{
	tl_table *unified;
	uint32_t *row_of;
	TL_TRY(tl__unified_table(&unified, c->a, NULL));
	int code = tl__unified_perf_summary_rows(&c->summary, &row_of, unified, NULL, NULL);
	if (code == 0)
		code = tl__inline_diff_columns(&c->summary, &c->largest, &c->diff, c->a, unified, row_of, unlinked,
					       NULL);
	c->totals = tl__inline_diff_totals(&c->diff, c->a->store, unlinked);
	tl__free(row_of);
	tl_table_free(unified);
	return code;
}

/* A sum over the rows, in whole ps: cells hold whole ps, divided by a million. */
static tl_time sum(const tl_table *table, const char *column)
{
	tl_time all = 0;
	for (size_t i = 0; i < table->rows; i++)
		all += llround(tl_table_double(table, column_index(table, column), i) * 1e6);
	return all;
}

/* Of any comparison: rows add up to the totals; difference and quotient are those of the two times, and agree. */
static void check(const compared *c)
{
	const tl_table *tables[] = {c->summary, c->largest};
	for (size_t t = 0; t < 2; t++) {
		assert_int_equal(sum(tables[t], TL_INLINE_TIME1), c->totals.time[0]);
		assert_int_equal(sum(tables[t], TL_INLINE_TIME2), c->totals.time[1]);
		assert_int_equal(sum(tables[t], TL_INLINE_DELTA), c->totals.time[1] - c->totals.time[0]);
	}
	for (size_t i = 0; i < c->summary->rows; i++) {
		double delta = tl_table_double(c->summary, column_index(c->summary, TL_INLINE_DELTA), i);
		double speedup = tl_table_double(c->summary, column_index(c->summary, TL_INLINE_SPEEDUP), i);
		double time1 = tl_table_double(c->summary, column_index(c->summary, TL_INLINE_TIME1), i);
		if (isnan(speedup))
			assert_true(time1 == 0 && delta > 0);
		else
			assert_true((speedup > 1) == (delta > 0) && (speedup < 1) == (delta < 0));
	}
}

static void open_both(compared *c, const char *trace1, const char *trace2)
{
	*c = (compared){0};
	diff_fixture_open(&c->f, trace1, trace2, NULL);
	assert_int_equal(tl__analyzer_new(&c->a, c->f.side[0].tree, NULL, NULL), 0);
}

static void compare(compared *c, const char *trace1, const char *trace2, bool unlinked)
{
	open_both(c, trace1, trace2);
	assert_int_equal(keep(&c->diff, c->f.diff), 0);
	/* from here on neither the comparison nor the other trace may be needed */
	tl_diff_free(c->f.diff);
	c->f.diff = NULL;
	tl_fixture_free(&c->f.side[1]);
	c->f.side[1] = (tl_fixture){0};
	assert_int_equal(add_columns(c, unlinked), 0);
	check(c);
}

static void clear(compared *c)
{
	tl_table_free(c->summary);
	tl_table_free(c->largest);
	c->summary = c->largest = NULL;
}

static void done(compared *c)
{
	clear(c);
	tl__inline_diff_free(&c->diff);
	tl__analyzer_free(c->a);
	tl_diff_free(c->f.diff);
	tl_fixture_free(&c->f.side[0]);
	if (c->f.side[1].store)
		tl_fixture_free(&c->f.side[1]);
}

static size_t row_named(const tl_table *table, const char *name)
{
	for (size_t i = 0; i < table->rows; i++) {
		char text[256];
		tl_table_text(table, column_index(table, "name"), i, text, sizeof text);
		if (!strcmp(text, name))
			return i;
	}
	fail_msg("no row '%s'", name);
	return 0;
}

static void expect_times(const compared *c, const char *name, double time1, double time2)
{
	size_t row = row_named(c->summary, name);
	expect_number(c->summary, row, TL_INLINE_TIME1, time1);
	expect_number(c->summary, row, TL_INLINE_TIME2, time2);
	expect_number(c->summary, row, TL_INLINE_DELTA, time2 - time1);
	if (time1 != 0)
		expect_number(c->summary, row, TL_INLINE_SPEEDUP, time2 / time1);
}

/* ---- by hand ---- */

/* Nothing to share: each operation has its own partner. Nodes: 0 A, 1 launch, 2 kernel, 3 B. */
static void one_to_one(void **state)
{
	(void)state;
	compared c;
	compare(&c, "A[hipLaunchKernel[~a:30]] B[hipLaunchKernel[~b:5]]",
		"A[cudaLaunchKernel[~x:20]] B[cudaLaunchKernel[~y:6]]", false);
	assert_int_equal(c.summary->rows, 2);
	expect_times(&c, "A", 30, 20);
	expect_times(&c, "B", 5, 6);
	size_t row = row_named(c.summary, "A");
	expect_text(c.summary, row, "lca_name", "A");
	expect_text(c.summary, row, "lca_id", "0");
	expect_text(c.summary, row, "lca_count_trace2", "1");
	assert_int_equal(c.totals.time[0], 35 * TL_PS_PER_US);
	assert_int_equal(c.totals.time[1], 26 * TL_PS_PER_US);
	assert_int_equal(c.totals.events[0], 2);
	/* the columns stand where the Python tool has them */
	size_t at = column_index(c.summary, "Kernel Time (µs)_sum");
	static const char *const order[] = {TL_INLINE_SPEEDUP, TL_INLINE_DELTA, "lca_count_trace2", "lca_id",
					    "lca_name",        TL_INLINE_TIME1, TL_INLINE_TIME2};
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(tl_table_column_name(c.summary, at + 1 + i), order[i]);
	/* largest difference first: A by 10, B by 1 */
	expect_text(c.largest, 0, "name", "A");
	expect_number(c.largest, 0, TL_INLINE_DELTA, -10);
	expect_text(c.largest, 1, "name", "B");
	done(&c);
}

/* The operations have no partner, only what is above them: its time goes to them as 30 to 10 [04-27]. */
static void shared_by_parts(void **state)
{
	(void)state;
	compared c;
	compare(&c, "p[a[hipLaunchKernel[~k:30]] b[hipLaunchKernel[~k:10]]]", "p[c[hipLaunchKernel[~k:20]]]", false);
	assert_int_equal(c.summary->rows, 2);
	expect_times(&c, "a", 30, 15);
	expect_times(&c, "b", 10, 5);
	expect_text(c.summary, row_named(c.summary, "b"), "lca_name", "p");
	done(&c);
}

/* A microsecond among three: nothing of it may be lost in rounding. */
static void shares_are_exact(void **state)
{
	(void)state;
	compared c;
	compare(&c,
		"p[a[hipLaunchKernel[~k:10]] b[hipLaunchKernel[~k:10]] c[hipLaunchKernel[~k:10]]] "
		"q[a[hipLaunchKernel[~k:7]] b[hipLaunchKernel[~k:7]]]",
		"p[z[hipLaunchKernel[~k:1]]] q[z[hipLaunchKernel[~k:7]]]", false);
	assert_int_equal(c.totals.time[1], 8 * TL_PS_PER_US);
	assert_int_equal(sum(c.summary, TL_INLINE_TIME2), 8 * TL_PS_PER_US);
	/* 333333 or 333334 ps of p, and half of q */
	for (size_t i = 0; i < 3; i++) {
		size_t row = row_named(c.summary, &"a\0b\0c"[2 * i]);
		double expected = 1.0 / 3 + (i < 2 ? 3.5 : 0);
		assert_true(fabs(tl_table_double(c.summary, column_index(c.summary, TL_INLINE_TIME2), row) - expected) <
			    1e-6);
	}
	expect_text(c.summary, row_named(c.summary, "a"), "lca_name", "p; q");
	expect_text(c.summary, row_named(c.summary, "a"), "lca_count_trace2", "2");
	done(&c);
}

/* Where nothing of trace1 took any time, its events count instead: two to one. */
static void no_time_at_all(void **state)
{
	(void)state;
	compared c;
	compare(&c, "p[a[hipLaunchKernel[~k:0] hipLaunchKernel[~k:0]] b[hipLaunchKernel[~k:0]]]",
		"p[z[hipLaunchKernel[~k:9]]]", false);
	expect_times(&c, "a", 0, 6);
	expect_times(&c, "b", 0, 3);
	expect_empty(c.summary, row_named(c.summary, "a"), TL_INLINE_SPEEDUP);
	done(&c);
}

/* What only one of them has: a row without time of trace2, and a row below for what trace1 lacks [04-28]. */
static void only_in_one(void **state)
{
	(void)state;
	compared c;
	compare(&c, "A[hipLaunchKernel[~a:3]] old[hipLaunchKernel[~o:4]]",
		"A[hipLaunchKernel[~a:3]] new{[[2,3]]}[hipLaunchKernel[~n:5] hipLaunchKernel[~m:2]] "
		"small[hipLaunchKernel[~s:1]]",
		false);
	assert_int_equal(c.summary->rows, 4);
	expect_times(&c, "A", 3, 3);
	expect_times(&c, "old", 4, 0);
	expect_text(c.summary, row_named(c.summary, "old"), "lca_name", "old (only trace1)");
	expect_empty(c.summary, row_named(c.summary, "old"), "lca_id");
	expect_text(c.summary, row_named(c.summary, "old"), "lca_count_trace2", "0");
	/* below, the heavier one first */
	expect_text(c.summary, 2, "name", "new");
	expect_text(c.summary, 3, "name", "small");
	expect_times(&c, "new", 0, 7);
	expect_text(c.summary, 2, "lca_name", "new (only trace2)");
	expect_text(c.summary, 2, "lca_count_trace2", "1");
	expect_text(c.summary, 2, "Input Dims", "((2, 3),)");
	expect_text(c.summary, 2, "operation_count", "0");
	expect_empty(c.summary, 2, "ex_UID");
	expect_empty(c.summary, 2, "Kernel Time (µs)_sum");
	expect_empty(c.summary, 2, "Percentage (%)");
	expect_empty(c.summary, 2, TL_INLINE_SPEEDUP);
	expect_text(c.summary, 2, "has_perf_model", "False");
	/* what the sheet says of trace1 stays as it is */
	expect_number(c.summary, 0, "Percentage (%)", 100.0 * 4 / 7);
	done(&c);
}

/*
 * Under a frame that both have, operations that differ are not one another's: the memset has nothing to do with what
 * only the other trace does. An operation under the frame that both have is a common ancestor as ever.
 */
static void under_a_frame(void **state)
{
	(void)state;
	compared c;
	compare(&c, "@main[A[hipLaunchKernel[~a:3]] old[hipLaunchKernel[~o:1]]]",
		"@main[A[hipLaunchKernel[~b:4]] new[hipLaunchKernel[~n:100]] new[hipLaunchKernel[~n:100]]]", false);
	assert_int_equal(c.summary->rows, 3);
	expect_times(&c, "A", 3, 4);
	expect_times(&c, "old", 1, 0);
	expect_times(&c, "new", 0, 200);
	expect_text(c.summary, row_named(c.summary, "old"), "lca_name", "main");
	expect_text(c.summary, row_named(c.summary, "new"), "lca_name", "main");
	done(&c);
}

/* Rows below are by operation and arguments; which of several places they are in makes no difference. */
static void rows_below_by_arguments(void **state)
{
	(void)state;
	compared c;
	compare(&c, "A[hipLaunchKernel[~a:3]]",
		"A[hipLaunchKernel[~a:3]] new{[[2,3]]}[hipLaunchKernel[~n:5]] new{[[7]]}[hipLaunchKernel[~n:4]] "
		"new{[[2,3]]}[hipLaunchKernel[~n:1]]",
		false);
	assert_int_equal(c.summary->rows, 3);
	expect_text(c.summary, 1, "Input Dims", "((2, 3),)");
	expect_number(c.summary, 1, TL_INLINE_TIME2, 6);
	expect_text(c.summary, 1, "lca_count_trace2", "2");
	expect_text(c.summary, 2, "Input Dims", "((7,),)");
	expect_number(c.summary, 2, TL_INLINE_TIME2, 4);
	/* by name they are one */
	assert_int_equal(c.largest->rows, 2);
	expect_number(c.largest, 0, TL_INLINE_TIME2, 10);
	done(&c);
}

/* Communication is no row of the summary, but part of both traces. */
static void communication(void **state)
{
	(void)state;
	compared c;
	compare(&c,
		"all[hipLaunchKernel[~ncclDevKernel_A:8] hipLaunchKernel[~ncclDevKernel_A:2]] A[hipLaunchKernel[~a:3]]",
		"all[hipLaunchKernel[~ncclDevKernel_B:5]] A[hipLaunchKernel[~a:3]]", false);
	assert_int_equal(c.summary->rows, 2);
	expect_text(c.summary, 1, "name", "all");
	expect_times(&c, "all", 10, 5);
	expect_text(c.summary, 1, "operation_count", "1");
	expect_text(c.summary, 1, "ex_UID", "0");
	expect_text(c.summary, 1, "lca_name", "all");
	expect_empty(c.summary, 1, "Kernel Time (µs)_sum");
	done(&c);
}

/* GPU events without a launch: in a row of their own, when they are wanted. */
static void without_a_launch(void **state)
{
	(void)state;
	compared c;
	const char *one = "A[hipLaunchKernel[~a:3]] ~lost:4 ~other:1", *two = "A[hipLaunchKernel[~a:2]] ~lost:6";
	compare(&c, one, two, false);
	assert_int_equal(c.summary->rows, 1);
	assert_int_equal(c.totals.time[1], 2 * TL_PS_PER_US);
	assert_int_equal(c.totals.left_out[0], 2);
	assert_int_equal(c.totals.left_out[1], 1);
	assert_int_equal(c.totals.time_left_out[0], 5 * TL_PS_PER_US);
	assert_int_equal(c.totals.time_left_out[1], 6 * TL_PS_PER_US);
	done(&c);
	compare(&c, one, two, true);
	assert_int_equal(c.summary->rows, 2);
	expect_times(&c, "(no launch in trace)", 5, 6);
	assert_int_equal(c.totals.left_out[0] + c.totals.left_out[1], 0);
	done(&c);
	/* and when only the other trace has some */
	compare(&c, "A[hipLaunchKernel[~a:3]]", two, true);
	expect_times(&c, "(no launch in trace)", 0, 6);
	done(&c);
}

/* A launch without an operation around it, on both sides and on one. */
static void without_an_operation(void **state)
{
	(void)state;
	compared c;
	compare(&c, "hipLaunchKernel[~a:3] A[hipLaunchKernel[~a:1]]",
		"hipLaunchKernel[~a:2] A[hipLaunchKernel[~a:1]] hipMemsetAsync[~Memset (Device):4]", false);
	assert_int_equal(c.totals.time[1], 7 * TL_PS_PER_US);
	expect_times(&c, "hipLaunchKernel->a (Synthetic Op)", 3, 2);
	expect_times(&c, "hipMemsetAsync", 0, 4);
	done(&c);
}

static void with_itself(void **state)
{
	(void)state;
	compared c;
	const char *text = "p[a[hipLaunchKernel[~k:30]] b[hipLaunchKernel[~k:10] hipLaunchKernel[~k:0]]] "
			   "all[hipLaunchKernel[~ncclDevKernel:7]] ~lost:4 zero[hipLaunchKernel[~z:0]]";
	compare(&c, text, text, true);
	assert_true(c.summary->rows >= 5);
	for (size_t i = 0; i < c.summary->rows; i++) {
		assert_true(tl_table_double(c.summary, column_index(c.summary, TL_INLINE_SPEEDUP), i) == 1.0);
		assert_true(tl_table_double(c.summary, column_index(c.summary, TL_INLINE_DELTA), i) == 0.0);
	}
	done(&c);
}

/* Times of years differ by less than a double can tell: the quotient still agrees with the difference. */
static void speedups_agree_with_differences(void **state)
{
	(void)state;
	const tl_time long_time = INT64_MAX - 1;
	assert_true(tl__inline_speedup(long_time, long_time + 1) > 1);
	assert_true(tl__inline_speedup(long_time + 1, long_time) < 1);
	assert_true(tl__inline_speedup(long_time, long_time) == 1);
	assert_true(tl__inline_speedup(0, 0) == 1);
	assert_true(tl__inline_speedup(4, 0) == 0);
	assert_true(isnan(tl__inline_speedup(0, 1)));
	assert_true(tl__inline_speedup(2, 3) == 1.5);
}

/* A row with more ancestors than fit into a cell says that there are more. */
static void many_ancestors(void **state)
{
	(void)state;
	compared c;
	tl_buf text = {0};
	for (int i = 0; i < 1100; i++)
		tl__buf_printf(&text, "aten::quite_a_long_name_%04d[a[hipLaunchKernel[~k:1]]] ", i);
	tl__buf_puts(&text, "z[a[hipLaunchKernel[~k:1]]]");
	/* in the other trace only the outer ones are there */
	tl_buf other = {0};
	for (int i = 0; i < 1100; i++)
		tl__buf_printf(&other, "aten::quite_a_long_name_%04d[b[hipLaunchKernel[~k:2]]] ", i);
	compare(&c, tl__buf_text(&text), tl__buf_text(&other), false);
	size_t row = row_named(c.summary, "a"), room = 40000;
	expect_text(c.summary, row, "lca_count_trace2", "1100");
	char *cell = malloc(room);
	size_t n = tl_table_text(c.summary, column_index(c.summary, "lca_id"), row, cell, room), ids = 1;
	assert_true(n < 32767);
	assert_string_equal(cell + n - 5, "; ...");
	for (char *at = cell; (at = strstr(at, "; ")); at += 2)
		ids++;
	assert_int_equal(ids, 1001);
	n = tl_table_text(c.summary, column_index(c.summary, "lca_name"), row, cell, room);
	assert_true(n < 32767);
	assert_string_equal(cell + n - 5, "; ...");
	free(cell);
	tl__buf_free(&text);
	tl__buf_free(&other);
	done(&c);
}

/* ---- any two traces ---- */

/* Operations of few names in and beside each other, with kernels, communication, and what has no launch. */
static const char *random_trace(tl_buf *out, bool frames)
{
	tl__buf_clear(out);
	int open = 0;
	if (frames) {
		tl__buf_puts(out, "@main[");
		open = 1;
	}
	for (uint32_t i = 5 + random_below(60); i-- > 0;) {
		uint32_t kind = random_below(10);
		if (kind < 5) {
			tl__buf_printf(out, "%s%u[", frames && !random_below(3) ? "@f" : "op", random_below(7));
			open++;
		} else if (kind < 8) {
			tl__buf_printf(out, "hipLaunchKernel[~%s%u:%u.%06u] ", random_below(5) ? "k" : "ncclDevKernel_",
				       random_below(4), random_below(4), random_below(1000000));
		} else if (open) {
			tl__buf_puts(out, "] ");
			open--;
		} else {
			tl__buf_printf(out, "~lost%u:%u.5 ", random_below(2), random_below(9));
		}
	}
	while (open-- > 0)
		tl__buf_putc(out, ']');
	return tl__buf_text(out);
}

/* Number of GPU events, with those that have no launch or without, and the sum of their durations. */
static size_t gpu_events(const tl_tree *tree, bool unlinked, tl_time *time)
{
	size_t n = 0;
	*time = 0;
	for (tl_row row = 0; row < tree->store->n; row++) {
		if (!tl__kind_is_gpu(tree->store->kind[row]) || (!unlinked && !tl_tree_is_linked(tree, row)))
			continue;
		n++;
		*time += tree->store->dur[row];
	}
	return n;
}

static void rows_add_up_to_the_traces(void **state)
{
	(void)state;
	tl_buf a = {0}, b = {0};
	for (uint64_t seed = 0; seed < 400; seed++) {
		compared c;
		bool unlinked = seed % 2;
		random_state = seed;
		const char *one = random_trace(&a, seed % 3 == 0),
			   *two = seed % 10 ? random_trace(&b, seed % 3 == 0) : one;
		open_both(&c, one, two);
		assert_int_equal(keep(&c.diff, c.f.diff), 0);
		assert_int_equal(add_columns(&c, unlinked), 0);
		check(&c);
		for (int s = 0; s < 2; s++) {
			tl_time time, all;
			size_t n = gpu_events(c.f.side[s].tree, unlinked, &time);
			assert_int_equal(c.totals.events[s], n);
			assert_int_equal(c.totals.time[s], time);
			assert_int_equal(gpu_events(c.f.side[s].tree, true, &all) - n, c.totals.left_out[s]);
			assert_int_equal(all - time, c.totals.time_left_out[s]);
		}
		for (size_t i = 0; two == one && i < c.summary->rows; i++)
			assert_true(tl_table_double(c.summary, column_index(c.summary, TL_INLINE_SPEEDUP), i) == 1.0);
		done(&c);
	}
	tl__buf_free(&a);
	tl__buf_free(&b);
}

static void no_memory(void **state)
{
	(void)state;
	compared c;
	open_both(&c,
		  "p[a{[[1]]}[hipLaunchKernel[~k:30]] b[hipLaunchKernel[~k:10]]] all[hipLaunchKernel[~nccl:7]] ~l:1",
		  "p[c[hipLaunchKernel[~k:20]]] new{[[2]]}[hipLaunchKernel[~n:5]] ~l:2");
	int code = TL_ENOMEM;
	int64_t n = 0;
	for (; code != 0 && n < 100000; n++) {
		tl__alloc_fail_after(n);
		code = keep(&c.diff, c.f.diff);
		if (code == 0)
			code = add_columns(&c, true);
		tl__alloc_fail_after(-1);
		assert_true(code == 0 || code == TL_ENOMEM);
		if (code < 0) {
			clear(&c);
			tl__inline_diff_free(&c.diff);
		}
	}
	assert_int_equal(code, 0);
	assert_true(n > 20);
	check(&c);
	done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_to_one),
		cmocka_unit_test(under_a_frame),
		cmocka_unit_test(shared_by_parts),
		cmocka_unit_test(shares_are_exact),
		cmocka_unit_test(no_time_at_all),
		cmocka_unit_test(only_in_one),
		cmocka_unit_test(rows_below_by_arguments),
		cmocka_unit_test(communication),
		cmocka_unit_test(without_a_launch),
		cmocka_unit_test(without_an_operation),
		cmocka_unit_test(with_itself),
		cmocka_unit_test(speedups_agree_with_differences),
		cmocka_unit_test(many_ancestors),
		cmocka_unit_test(rows_add_up_to_the_traces),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
