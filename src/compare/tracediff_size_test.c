/* SPDX-License-Identifier: MIT */
/*
 * Large trees: near linear time, and memory in proportion. Nobody measures here: the limits are twenty times what
 * the work takes, and processor time, so that a slow or busy machine does not reach them; a quadratic way takes
 * minutes.
 */
#include <sys/resource.h>
#include <time.h>

#include "compare/diff_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { MOST_SECONDS = SANITIZED ? 200 : 10, MOST_MB = 200 };

/* Processor time of all threads. */
static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(const char *what, double began)
{
	struct rusage usage;
	double took = seconds() - began;
	getrusage(RUSAGE_SELF, &usage);
	print_message("%s: %.3f s, %ld MB so far\n", what, took, usage.ru_maxrss / 1024);
	assert_true(took < MOST_SECONDS);
	if (!SANITIZED)
		assert_true(usage.ru_maxrss / 1024 < MOST_MB);
}

/* n siblings of one name below one operation; no two have the same kernel, and each side has its own. */
static void put_siblings(tl_buf *out, int n, const char *side, int first)
{
	tl__buf_puts(out, "p[");
	for (int i = 0; i < n; i++)
		tl__buf_printf(out, "X{%d}[cudaLaunchKernel[~%s%d:1]] ", first + i, side, i);
	tl__buf_puts(out, "]");
}

static void test_siblings(void **state)
{
	(void)state;
	tl_buf a = {0}, b = {0};
	diff_fixture f;
	put_siblings(&a, 2000, "a", 0);
	put_siblings(&b, 2000, "b", 1); /* shifted by one: the arguments tell */
	diff_fixture_parse(&f.side[0], tl__buf_text(&a));
	diff_fixture_parse(&f.side[1], tl__buf_text(&b));
	double began = seconds();
	assert_int_equal(tl_diff_new(&f.diff, f.side[0].tree, f.side[1].tree, NULL, NULL), 0);
	check("2000 siblings", began);
	tl_diff_get_totals(f.diff, &f.totals);
	assert_int_equal(f.totals.matched_operations, 2000); /* p and 1999 X */
	/* the second X of the baseline is the first of the variant: rows 0 p, 1 X, 2 its launch, 3 its kernel, 4 X */
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 4), 1);
	diff_fixture_close(&f);
	tl__buf_free(&a);
	tl__buf_free(&b);
}

/* A chain without end; each side has a level in its middle that the other has not. */
static void put_chain(tl_buf *out, int n, const char *extra)
{
	for (int i = 0; i < n; i++)
		tl__buf_printf(out, "%s%d[", i == n / 2 ? extra : "op", i == n / 2 ? 0 : i % 7);
	tl__buf_puts(out, "cudaLaunchKernel[~k:1]");
	for (int i = 0; i < n; i++)
		tl__buf_putc(out, ']');
}

static int count_bytes(void *sum, const char *text, size_t n)
{
	(void)text;
	*(size_t *)sum += n;
	return 0;
}

static void test_chain(void **state)
{
	(void)state;
	tl_buf a = {0}, b = {0};
	diff_fixture f;
	tl_table *t;
	put_chain(&a, 200000, "left");
	put_chain(&b, 200000, "right");
	diff_fixture_parse(&f.side[0], tl__buf_text(&a));
	diff_fixture_parse(&f.side[1], tl__buf_text(&b));
	tl__buf_free(&a);
	tl__buf_free(&b);
	double began = seconds();
	assert_int_equal(tl_diff_new(&f.diff, f.side[0].tree, f.side[1].tree, NULL, NULL), 0);
	assert_int_equal(tl_diff_stats(&t, f.diff, NULL), 0);
	size_t bytes = 0;
	assert_int_equal(tl_diff_print(f.diff, NULL, count_bytes, &bytes, NULL), 0);
	check("a chain of 200000", began);
	tl_diff_get_totals(f.diff, &f.totals);
	assert_int_equal(f.totals.matched_operations, 199999);
	assert_int_equal(f.totals.side[0].looked_through, 1);
	assert_int_equal(f.totals.side[1].looked_through, 1);
	assert_true(bytes < 2000 * (size_t)200000); /* indentation ends somewhere */
	tl_table_free(t);
	diff_fixture_close(&f);
}

/* Levels that the other side has not, all the way down: on one side only, and other ones on each side. */
static void put_levels(tl_buf *out, int n, const char *level)
{
	for (int i = 0; i < n; i++)
		*level ? tl__buf_printf(out, "%s%d[op%d[", level, i, i % 7) : tl__buf_printf(out, "op%d[", i % 7);
	tl__buf_puts(out, "cudaLaunchKernel[~k:1]");
	for (int i = *level ? -n : 0; i < n; i++)
		tl__buf_putc(out, ']');
}

static void test_levels(void **state)
{
	(void)state;
	for (int both = 0; both < 2; both++) {
		tl_buf a = {0}, b = {0};
		diff_fixture f;
		put_levels(&a, 20000, "left");
		put_levels(&b, 20000, both ? "right" : "");
		diff_fixture_parse(&f.side[0], tl__buf_text(&a));
		diff_fixture_parse(&f.side[1], tl__buf_text(&b));
		tl__buf_free(&a);
		tl__buf_free(&b);
		double began = seconds();
		assert_int_equal(tl_diff_new(&f.diff, f.side[0].tree, f.side[1].tree, NULL, NULL), 0);
		check("20000 levels", began);
		tl_diff_get_totals(f.diff, &f.totals);
		assert_int_equal(f.totals.matched_operations, 20000);
		assert_int_equal(f.totals.side[0].looked_through, 20000);
		assert_int_equal(f.totals.side[1].looked_through, both ? 20000 : 0);
		diff_fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
