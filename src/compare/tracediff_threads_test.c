/* SPDX-License-Identifier: MIT */
/* Trees that are large enough for two threads: the result is that of one thread, and so is what can go wrong. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "compare/diff_fixture.h"
#include "tracelens/compare.h"
#include "tracelens/table.h"

enum { ROOTS = 16000 };

/* Roots on two threads of the trace; the variant lacks some, has others' children in another order, or behind a
 * wrapper, and other calls everywhere. */
static void put_roots(tl_buf *out, bool variant)
{
	const char *call = variant ? "cudaLaunchKernel" : "hipLaunchKernel";
	for (int i = 0; i < ROOTS; i++) {
		char add[64], mul[64];
		snprintf(add, sizeof add, "add{[[%d]]}[%s[~addk:%d]]", i % 9, call, 1 + i % 3);
		snprintf(mul, sizeof mul, "mul[%s[~mulk%d:2]]", call, i % 4);
		if (i == ROOTS / 2)
			tl__buf_puts(out, "| ");
		if (variant && i % 101 == 100)
			continue;
		bool exchanged = variant && i % 7 == 3, wrapped = variant && i % 11 == 5;
		tl__buf_printf(out, "op%d[%s%s %s%s] ", i % 13, wrapped ? "wrap[" : "", exchanged ? mul : add,
			       exchanged ? add : mul, wrapped ? "]" : "");
	}
	tl__buf_puts(out, variant ? "~lost:3 ~other:1" : "~lost:2");
}

typedef struct fixture {
	diff_fixture one, two; /* made by one thread and by two; they share the trees */
	char folder[32];
} fixture;

static int open_fixture(void **state)
{
	static fixture f;
	for (int s = 0; s < 2; s++) {
		tl_buf text = {0};
		put_roots(&text, s);
		diff_fixture_parse(&f.one.side[s], tl__buf_text(&text));
		tl__buf_free(&text);
		f.two.side[s] = f.one.side[s];
	}
	snprintf(f.folder, sizeof f.folder, "diff_test_XXXXXX");
	*state = &f;
	return mkdtemp(f.folder) ? 0 : -1;
}

static void new_diff(diff_fixture *f, bool single_thread)
{
	tl_diff_options o = {.single_thread = single_thread};
	assert_int_equal(tl_diff_new(&f->diff, f->side[0].tree, f->side[1].tree, &o, NULL), 0);
	tl_diff_get_totals(f->diff, &f->totals);
	diff_fixture_check(f);
}

static int close_fixture(void **state)
{
	fixture *f = *state;
	tl_diff_free(f->two.diff);
	diff_fixture_close(&f->one);
	return rmdir(f->folder);
}

static void expect_equal_sides(const fixture *f, int s)
{
	const tl_diff *a = f->one.diff, *b = f->two.diff;
	const tl_diff_side_totals *x = &f->one.totals.side[s], *y = &f->two.totals.side[s];
	size_t n = a->tree[s]->n;
	assert_memory_equal(a->partner[s], b->partner[s], n * sizeof *a->partner[s]);
	assert_memory_equal(a->node_of[s], b->node_of[s], n * sizeof *a->node_of[s]);
	assert_memory_equal(a->through[s], b->through[s], n);
	assert_int_equal(x->in_matched_time, y->in_matched_time);
	assert_int_equal(x->operations, y->operations);
	assert_int_equal(x->unmatched_nodes, y->unmatched_nodes);
	assert_int_equal(x->unmatched_subtrees, y->unmatched_subtrees);
	assert_int_equal(x->looked_through, y->looked_through);
}

static void two_threads_find_what_one_finds(void **state)
{
	fixture *f = *state;
	new_diff(&f->one, true);
	new_diff(&f->two, false);
	const tl_diff *a = f->one.diff, *b = f->two.diff;
	assert_true(a->tree[0]->n + a->tree[1]->n > 200000); /* far more than threads begin at */
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		const tl_diff_node *x = &a->node[i], *y = &b->node[i];
		assert_true(x->baseline == y->baseline && x->variant == y->variant && x->parent == y->parent &&
			    x->end == y->end && x->moved == y->moved && x->unlinked == y->unlinked);
	}
	expect_equal_sides(f, 0);
	expect_equal_sides(f, 1);
}

/* How many i below ROOTS leave the remainder r divided by m. */
static size_t with_remainder(size_t m, size_t r)
{
	return (ROOTS - r + m - 1) / m;
}

/* Known from how the trees were made. */
static void all_that_was_changed_is_found(void **state)
{
	const tl_diff_totals *t = &((fixture *)*state)->two.totals;
	size_t lacking = with_remainder(101, 100), exchanged = with_remainder(7, 3), wrapped = with_remainder(11, 5);
	/* the roots that the variant lacks are some of those with other children */
	exchanged -= (ROOTS - 605 + 706) / 707; /* i = 100 (mod 101) and 3 (mod 7): 605 + 707 k */
	wrapped -= (ROOTS - 302 + 1110) /
		   1111; /* i = 100 (mod 101) and 5 (mod 11): 302 + 1111 k; 302 = 2 * 101 + 100 */
	assert_int_equal(t->side[0].looked_through, 0);
	assert_int_equal(t->side[1].looked_through, wrapped);
	assert_int_equal(t->moved, exchanged);
	assert_int_equal(t->side[0].unmatched_subtrees, lacking);
	assert_int_equal(t->matched_operations, 3 * (ROOTS - lacking));
	assert_int_equal(t->side[1].unmatched_nodes, 1); /* the kernel without a launch that only the variant has */
}

static char *content(const char *folder, const char *name, size_t *n)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "rb");
	tl_buf text = {0};
	assert_non_null(file);
	assert_int_equal(tl__buf_read(&text, file, SIZE_MAX), 0);
	fclose(file);
	unlink(path);
	assert_non_null(tl__buf_text(&text));
	*n = text.n;
	return text.v;
}

static const char *const files[] = {
	"merged_tree_output.txt", "diff_stats.csv",         "diff_stats_unique_args_summary.csv",
	"cpu_op_map.json",        "cpu_op_map_trace1.json", "cpu_op_map_trace2.json"};
enum { FILES = sizeof files / sizeof *files };

static void expect_same_table(tl_table *a, tl_table *b)
{
	char *x, *y;
	size_t n, m;
	assert_int_equal(tl_table_json(a, &x, &n, NULL), 0);
	assert_int_equal(tl_table_json(b, &y, &m, NULL), 0);
	assert_int_equal(n, m);
	assert_memory_equal(x, y, n);
	free(x);
	free(y);
	tl_table_free(a);
	tl_table_free(b);
}

static void files_are_the_same(void **state)
{
	fixture *f = *state;
	char *text[FILES];
	size_t n[FILES];
	tl_table *largest, *alone;
	assert_int_equal(tl_diff_write(f->one.diff, f->folder, false, NULL), 0);
	for (int i = 0; i < FILES; i++)
		text[i] = content(f->folder, files[i], &n[i]);
	assert_int_equal(tl_diff_write_with_largest(&largest, f->two.diff, f->folder, false, NULL), 0);
	for (int i = 0; i < FILES; i++) {
		size_t m;
		char *other = content(f->folder, files[i], &m);
		assert_int_equal(n[i], m);
		assert_memory_equal(text[i], other, m);
		tl__free(other);
		tl__free(text[i]);
	}
	assert_int_equal(tl_diff_largest(&alone, f->one.diff, NULL), 0);
	expect_same_table(largest, alone);
}

static bool folder_is_empty(const char *folder)
{
	size_t n = 0;
	DIR *dir = opendir(folder);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n == 2; /* itself and the one above */
}

/* Each of the first allocations, then ever fewer of them. */
static int64_t next(int64_t n)
{
	return n < 100 ? n + 1 : n + n / 5;
}

static void no_memory_for_aligning(void **state)
{
	fixture *f = *state;
	int code = TL_ENOMEM;
	for (int64_t n = 0; code < 0; n = next(n)) {
		tl_diff *diff;
		tl__alloc_fail_after(n);
		code = tl_diff_new(&diff, f->one.side[0].tree, f->one.side[1].tree, NULL, NULL);
		tl__alloc_fail_after(-1);
		assert_true(code == 0 || (code == TL_ENOMEM && !diff));
		tl_diff_free(diff);
	}
}

static void no_memory_for_writing(void **state)
{
	fixture *f = *state;
	int code = TL_ENOMEM;
	for (int64_t n = 0; code < 0; n = next(n)) {
		tl_table *largest;
		tl__alloc_fail_after(n);
		code = tl_diff_write_with_largest(&largest, f->two.diff, f->folder, false, NULL);
		tl__alloc_fail_after(-1);
		assert_true(code == 0 || (code == TL_ENOMEM && !largest && folder_is_empty(f->folder)));
		tl_table_free(largest);
	}
	for (int i = 0; i < FILES; i++) {
		size_t n;
		tl__free(content(f->folder, files[i], &n));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads_find_what_one_finds),
		cmocka_unit_test(all_that_was_changed_is_found),
		cmocka_unit_test(files_are_the_same),
		cmocka_unit_test(no_memory_for_aligning),
		cmocka_unit_test(no_memory_for_writing),
	};
	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
