/* SPDX-License-Identifier: MIT */
/* Small trees with the alignment that a reader finds by hand, and its tables. */
#include "compare/diff_fixture.h"

#include "tracelens/compare.h"

static void expect_tree(const char *baseline, const char *variant, const char *expected)
{
	diff_fixture f;
	diff_fixture_open(&f, baseline, variant, NULL);
	diff_fixture_expect_tree(f.diff, false, expected);
	diff_fixture_close(&f);
}

static const char miopen[] =
	"aten::convolution[aten::_convolution[aten::miopen_convolution[hipLaunchKernel[~igemm:30]] "
	"aten::add_[hipLaunchKernel[~addk:5]]]]";
static const char cudnn[] = "aten::convolution[aten::_convolution[aten::cudnn_convolution[cudaMemsetAsync[~Memset "
			    "(Device):1] cudaLaunchKernel[~sm90_conv:20]] aten::add_[cudaLaunchKernel[~addk:6]]]]";

/* Spec 04 B.6: what is one operation on two backends meets; so do its launches; the memset is alone. */
static void test_backends(void **state)
{
	(void)state;
	expect_tree(miopen, cudnn,
		    "└── aten::convolution\n"
		    "    └── aten::_convolution\n"
		    "        ├── combined: aten::miopen_convolution | aten::cudnn_convolution\n"
		    "        │   ├── combined: hipLaunchKernel | cudaLaunchKernel\n"
		    "        │   │   ├── >> trace1: igemm\n"
		    "        │   │   └── << trace2: sm90_conv\n"
		    "        │   └── << trace2: cudaMemsetAsync\n"
		    "        │       └── << trace2: Memset (Device)\n"
		    "        └── aten::add_\n"
		    "            └── combined: hipLaunchKernel | cudaLaunchKernel\n"
		    "                └── addk\n");
}

static void expect_cell(const tl_table *table, size_t row, const char *column, const char *expected)
{
	char text[256];
	ptrdiff_t c = tl_table_find_column(table, column);
	assert_true(c >= 0);
	tl_table_text(table, (size_t)c, row, text, sizeof text);
	assert_string_equal(text, expected);
}

static void expect_row(const tl_table *stats, size_t row, const char *const expected[8])
{
	static const char *const columns[] = {"name",
					      "cpu_op_name",
					      "cpu_op_uid",
					      "source",
					      "kernel_time",
					      "busy_time",
					      "lowest_common_ancestor_name",
					      "lowest_common_ancestor_id"};
	for (size_t i = 0; i < 8; i++)
		expect_cell(stats, row, columns[i], expected[i]);
}

/* Nodes of the merged tree: 0 convolution, 1 _convolution, 2 the two backends, 3 to 7 theirs, 8 add_. */
static void test_stats(void **state)
{
	(void)state;
	diff_fixture f;
	tl_table *t;
	diff_fixture_open(&f, miopen, cudnn, NULL);
	assert_int_equal(tl_diff_stats(&t, f.diff, NULL), 0);
	assert_int_equal(tl_table_rows(t), 5);
	const char *both = "aten::miopen_convolution | aten::cudnn_convolution";
	expect_row(t, 0,
		   (const char *[]){"igemm", "aten::miopen_convolution", "2", "trace1", "30.0", "30.0", both, "2"});
	/* which of the launches comes first is the tree's business; both have the busy time of their side */
	expect_cell(t, 1, "busy_time", "21.0");
	expect_cell(t, 2, "busy_time", "21.0");
	expect_cell(t, 1, "lowest_common_ancestor_name", both);
	expect_cell(t, 2, "source", "trace2");
	expect_row(t, 3, (const char *[]){"addk", "aten::add_", "5", "trace1", "5.0", "5.0", "aten::add_", "8"});
	expect_row(t, 4, (const char *[]){"addk", "aten::add_", "7", "trace2", "6.0", "6.0", "aten::add_", "8"});
	expect_cell(t, 4, "nn_module_stack", "root");
	expect_cell(t, 4, "Input Dims", "");
	tl_table_free(t);
	diff_fixture_close(&f);
}

/* [04-11]: one more at the front shifts nothing. */
static void test_inserted_root(void **state)
{
	(void)state;
	expect_tree("A[hipLaunchKernel[~a:1]] B[hipLaunchKernel[~b:1]] C[hipLaunchKernel[~c:1]]",
		    "Z[hipLaunchKernel[~z:1]] A[hipLaunchKernel[~a:1]] B[hipLaunchKernel[~b:1]] "
		    "C[hipLaunchKernel[~c:1]]",
		    "├── << trace2: Z\n"
		    "│   └── << trace2: hipLaunchKernel\n"
		    "│       └── << trace2: z\n"
		    "├── A\n│   └── hipLaunchKernel\n│       └── a\n"
		    "├── B\n│   └── hipLaunchKernel\n│       └── b\n"
		    "└── C\n    └── hipLaunchKernel\n        └── c\n");
}

/* [04-12]: names, not places. One of the two is in another place. */
static void test_exchanged(void **state)
{
	(void)state;
	diff_fixture f;
	diff_fixture_open(&f, "p[A[hipLaunchKernel[~a:1]] B[hipLaunchKernel[~b:1]]]",
			  "p[B[hipLaunchKernel[~b:1]] A[hipLaunchKernel[~a:1]]]", NULL);
	for (int s = 0; s < 2; s++)
		assert_int_equal(f.totals.side[s].unmatched_nodes, 0);
	assert_int_equal(f.totals.moved, 1);
	assert_int_equal(f.totals.matched_operations, 3);
	assert_false(f.totals.identical);
	diff_fixture_close(&f);
}

/*
 * Operations without GPU work tell siblings apart that are alike in all that has: pairs of root number `a` and `b`,
 * both ways. Roots are told by their own order; every root is `L`.
 */
static void expect_roots(const char *baseline, const char *variant, size_t n, const size_t pairs[][2])
{
	for (int swapped = 0; swapped < 2; swapped++) {
		diff_fixture f;
		diff_fixture_open(&f, swapped ? variant : baseline, swapped ? baseline : variant, NULL);
		tl_row root[2][8];
		for (int s = 0; s < 2; s++) {
			const tl_tree *t = f.side[s].tree;
			size_t k = 0;
			for (tl_pos pos = 0; pos < t->n; pos = t->end[pos])
				root[s][k++] = t->row[pos];
		}
		size_t matched = 0;
		for (size_t k = 0; k < n; k++) {
			tl_row a = root[0][pairs[k][swapped]], b = root[1][pairs[k][!swapped]];
			assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, a), b);
		}
		for (tl_pos pos = 0; pos < f.side[0].tree->n; pos = f.side[0].tree->end[pos])
			matched += tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, f.side[0].tree->row[pos]) !=
				   TL_ROW_NONE;
		assert_int_equal(matched, n);
		diff_fixture_close(&f);
	}
}
#define L(more, call) "L[" more "aten::addmm[" call "[~k:1]]] "
#define HIP(more) L(more, "hipLaunchKernel")
#define CUDA(more) L(more, "cudaLaunchKernel")
#define M(more) "M[" more "hipLaunchKernel[~m:1]] "
#define EXPECT_ROOTS(baseline, variant, ...)                                                          \
	expect_roots(baseline, variant, sizeof((const size_t[][2]){__VA_ARGS__}) / sizeof(size_t[2]), \
		     (const size_t[][2]){__VA_ARGS__})

static void test_siblings_alike_but_for_the_host(void **state)
{
	(void)state;
	EXPECT_ROOTS(HIP("aten::t ") HIP(""), HIP(""), {1, 0});
	EXPECT_ROOTS(HIP("") HIP("aten::t "), HIP(""), {0, 0});
	EXPECT_ROOTS(HIP("aten::t ") HIP(""), CUDA(""), {1, 0}); /* on another backend, too */
	/* an extra one at the front moves all of them */
	EXPECT_ROOTS(HIP("aten::t ") HIP("") HIP(""), HIP("") HIP(""), {1, 0}, {2, 1});
	EXPECT_ROOTS(HIP("aten::t ") HIP("aten::view ") HIP("") HIP("aten::t "), HIP("aten::view ") HIP("aten::t "),
		     {1, 0}, {3, 1});
	/* deeper, and what is below those without GPU work */
	EXPECT_ROOTS(HIP("aten::t[aten::transpose] ") HIP("aten::t "), HIP("aten::t "), {1, 0});
	/* all operations first, arguments and calls then */
	EXPECT_ROOTS(HIP("aten::t{(1)} ") HIP("aten::t{(2)} "), HIP("aten::t{(2)} "), {1, 0});
	EXPECT_ROOTS(HIP("cudaGetDevice aten::t ") HIP("aten::t "), HIP("aten::t "), {1, 0});
	/* in order and none less: what agrees must not cross, nor be paired at the cost of another pair */
	EXPECT_ROOTS(HIP("aten::t ") HIP(""), HIP("") HIP("aten::t "), {0, 0}, {1, 1});
	EXPECT_ROOTS(HIP("a ") HIP("b ") HIP("c "), HIP("c ") HIP("d "), {0, 0}, {1, 1});
	/* of equally good ones the first */
	EXPECT_ROOTS(HIP("a ") HIP("b ") HIP("b "), HIP("b "), {1, 0});
	EXPECT_ROOTS(HIP("a ") HIP("b "), HIP("c "), {0, 0});
	/* a pattern of two */
	EXPECT_ROOTS(HIP("a ") M("a ") HIP("b ") M("b "), HIP("b ") M("b "), {2, 0}, {3, 1});
	/* the others stay where they are */
	EXPECT_ROOTS("M[hipLaunchKernel[~m:1]] " HIP("a ") HIP("b ") "N[hipLaunchKernel[~n:1]]",
		     "M[hipLaunchKernel[~m:1]] " HIP("b ") "N[hipLaunchKernel[~n:1]]", {0, 0}, {2, 1}, {3, 2});
}

enum { MOST_ROOTS = 7 };

/* The most that can agree when all of s[0..n) are paired in order with some of l[0..m). */
static size_t most_agreeing(const int *s, size_t n, const int *l, size_t m)
{
	size_t best = 0;
	for (unsigned set = 0; set < 1U << m; set++) {
		size_t k = 0, agree = 0;
		for (size_t j = 0; j < m; j++)
			if (set >> j & 1) {
				agree += k < n && s[k] == l[j];
				k++;
			}
		best = k == n && agree > best ? agree : best;
	}
	return best;
}

/* Any siblings that differ only in an operation without GPU work: no pair less, and no choice is better. */
static void test_siblings_at_random(void **state)
{
	(void)state;
	uint64_t random = 7;
	for (int round = 0; round < 300; round++) {
		int mark[2][MOST_ROOTS];
		size_t n[2], paired = 0, agree = 0;
		tl_buf text[2] = {{0}, {0}};
		for (int s = 0; s < 2; s++) {
			random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			n[s] = 1 + (size_t)(random >> 33) % MOST_ROOTS;
			for (size_t i = 0; i < n[s]; i++) {
				random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
				mark[s][i] = (int)((random >> 33) % 3);
				tl__buf_printf(&text[s], "L[%c aten::mm[cudaLaunchKernel[~k:1]]] ", 'a' + mark[s][i]);
			}
		}
		diff_fixture f;
		diff_fixture_open(&f, tl__buf_text(&text[0]), tl__buf_text(&text[1]), NULL);
		tl_row b_rows = (tl_row)f.side[1].tree->n / (tl_row)n[1],
		       a_rows = (tl_row)f.side[0].tree->n / (tl_row)n[0];
		for (size_t i = 0; i < n[0]; i++) {
			tl_row mate = tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, (tl_row)i * a_rows);
			paired += mate != TL_ROW_NONE;
			agree += mate != TL_ROW_NONE && mark[0][i] == mark[1][mate / b_rows];
		}
		int shorter = n[0] > n[1];
		assert_int_equal(paired, n[shorter]);
		assert_int_equal(agree, most_agreeing(mark[shorter], n[shorter], mark[!shorter], n[!shorter]));
		diff_fixture_close(&f);
		tl__buf_free(&text[0]);
		tl__buf_free(&text[1]);
	}
}

/* [04-13]: B is in both. */
static void test_common_item(void **state)
{
	(void)state;
	expect_tree("p[A[cudaX[~a:1]] A[cudaX[~a:1]] B[cudaX[~b:1]]]", "p[B[cudaX[~b:1]] C[cudaX[~c:1]]]",
		    "└── p\n"
		    "    ├── B\n    │   └── cudaX\n    │       └── b\n"
		    "    ├── >> trace1: A\n    │   └── >> trace1: cudaX\n    │       └── >> trace1: a\n"
		    "    ├── >> trace1: A\n    │   └── >> trace1: cudaX\n    │       └── >> trace1: a\n"
		    "    └── << trace2: C\n        └── << trace2: cudaX\n            └── << trace2: c\n");
}

/* Spec 04 B.6: the second X is the one that is left. */
static void test_same_names(void **state)
{
	(void)state;
	expect_tree("p[X[cudaX[~k1:1]] X[cudaX[~k2:1]]]", "p[X[cudaX[~k2:1]]]",
		    "└── p\n"
		    "    ├── X\n    │   └── cudaX\n    │       └── k2\n"
		    "    └── >> trace1: X\n        └── >> trace1: cudaX\n            └── >> trace1: k1\n");
	/* the arguments tell which one */
	expect_tree("p[X{[[1]]}[hipX[~k:1]] X{[[2]]}[hipX[~k:1]]]", "p[X{[[2]]}[cudaX[~other:1]]]",
		    "└── p\n"
		    "    ├── X\n    │   └── combined: hipX | cudaX\n"
		    "    │       ├── >> trace1: k\n    │       └── << trace2: other\n"
		    "    └── >> trace1: X\n        └── >> trace1: hipX\n            └── >> trace1: k\n");
}

#define OP(name) name "[cudaX[~" name ":1]]"
#define LEAF(path, name) path "├── " name "\n" path "│   └── cudaX\n" path "│       └── " name "\n"

/* Spec 04 B.6: wrappers on one side, one level or two, are looked through. */
static void test_wrappers(void **state)
{
	(void)state;
	expect_tree("blk[" OP("T") " " OP("U") " " OP("V") "]", "blk[W[" OP("T") "] " OP("V") "]",
		    "└── blk\n" LEAF("    ", "T")
			    LEAF("    ", "V") "    └── >> trace1: U\n"
					      "        └── >> trace1: cudaX\n            └── >> trace1: U\n");
	expect_tree("blk[W[W2[" OP("X") " " OP("Y") "]]]", "blk[" OP("X") " " OP("Y") "]",
		    "└── blk\n" LEAF("    ", "X") "    └── Y\n        └── cudaX\n            └── Y\n");
	/* other wrappers on each side */
	expect_tree("blk[V[" OP("X") " " OP("Y") "]]", "blk[W[" OP("X") " " OP("Y") "]]",
		    "└── blk\n" LEAF("    ", "X") "    └── Y\n        └── cudaX\n            └── Y\n");
	/* around a root */
	expect_tree("W[" OP("X") "]", OP("X"), "└── X\n    └── cudaX\n        └── X\n");
}

/* A wrapper corresponds to what it stands for; where it stands for several, to nothing. */
static void test_corresponding(void **state)
{
	(void)state;
	diff_fixture f;
	diff_fixture_open(&f, "blk[W[" OP("X") "] other]", "blk[" OP("X") "]", NULL);
	assert_ptr_equal(tl_diff_tree(f.diff, TL_DIFF_BASELINE), f.side[0].tree);
	assert_ptr_equal(tl_diff_tree(f.diff, TL_DIFF_VARIANT), f.side[1].tree);
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 0), 0);
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 1), 1); /* W, by way of X */
	assert_int_equal(tl_diff_node_of(f.diff, TL_DIFF_BASELINE, 1), TL_DIFF_NONE);
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 2), 1);
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_VARIANT, 1), 2);
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 5), TL_ROW_NONE); /* other */
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 999), TL_ROW_NONE);
	assert_int_equal(f.totals.side[0].looked_through, 1);
	diff_fixture_close(&f);
	diff_fixture_open(&f, "blk[W[" OP("X") " " OP("Y") "]]", "blk[" OP("X") " " OP("Y") "]", NULL);
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 1), TL_ROW_NONE);
	diff_fixture_close(&f);
}

/* Spec 09, case 17: all roots are compared; nothing of a chain is lost. */
static void test_roots_and_chains(void **state)
{
	(void)state;
	expect_tree(OP("A") " " OP("B") " " OP("C"), OP("A") " " OP("B") " " OP("C"),
		    LEAF("", "A") LEAF("", "B") "└── C\n    └── cudaX\n        └── C\n");
	expect_tree("a[b[op[cudaX[~k:1]]]]", "a[b[op[cudaX[~k:1]]]]",
		    "└── a\n    └── b\n        └── op\n            └── cudaX\n                └── k\n");
}

/* Spec 09, case 18: a wrapper with a second child without GPU work; each operation has its own ancestor. */
static void test_wrapper_with_host_child(void **state)
{
	(void)state;
	diff_fixture f;
	tl_table *t;
	diff_fixture_open(&f, "m[X[hipX[~x1:3]] Y[hipX[~y1:4]]]", "m[W[X[cudaX[~x2:5]] hostonly] Y[cudaX[~y2:6]]]",
			  NULL);
	assert_int_equal(tl_diff_stats(&t, f.diff, NULL), 0);
	assert_int_equal(tl_table_rows(t), 4);
	for (size_t i = 0; i < 4; i++)
		expect_cell(t, i, "lowest_common_ancestor_name", i < 2 ? "X" : "Y");
	tl_table_free(t);
	diff_fixture_close(&f);
}

/* [04-19 to 04-21]: no GPU event is lost, whatever it hangs on. */
static void test_coverage(void **state)
{
	(void)state;
	diff_fixture f;
	tl_table *t;
	diff_fixture_open(&f, "p[cudaX[~k:1]] cudaGraphLaunch[~g:2 ~g:3] ~lost:4 ~lost:5 ~only1:6",
			  "p[cudaX] cudaGraphLaunch[~g:20] ~lost:40 ~only2:60", NULL);
	const tl_diff_side_totals *a = &f.totals.side[0], *b = &f.totals.side[1];
	assert_int_equal(a->gpu_time, 21 * TL_PS_PER_US);
	assert_int_equal(a->under_operation_time, 1 * TL_PS_PER_US);
	assert_int_equal(a->under_call_time, 5 * TL_PS_PER_US);
	assert_int_equal(a->unlinked_time, 15 * TL_PS_PER_US);
	assert_int_equal(b->gpu_time, 120 * TL_PS_PER_US);
	diff_fixture_expect_tree(f.diff, false,
				 "├── p\n│   └── cudaX\n│       └── >> trace1: k\n"
				 "├── cudaGraphLaunch\n│   ├── g\n│   └── >> trace1: g\n"
				 "└── (no launch in trace)\n    ├── lost\n    ├── >> trace1: lost\n"
				 "    ├── >> trace1: only1\n    └── << trace2: only2\n");
	assert_int_equal(tl_diff_stats(&t, f.diff, NULL), 0);
	assert_int_equal(tl_table_rows(t), 9);
	expect_cell(t, 1, "cpu_op_name", "cudaGraphLaunch");
	expect_cell(t, 1, "lowest_common_ancestor_name", "cudaGraphLaunch");
	expect_cell(t, 8, "cpu_op_name", "(no launch in trace)");
	expect_cell(t, 8, "cpu_op_uid", "");
	tl_table_free(t);
	diff_fixture_close(&f);
}

/* A root that the other side has not: no ancestor, and an empty cell for its number. */
static void test_no_ancestor(void **state)
{
	(void)state;
	diff_fixture f;
	tl_table *t;
	diff_fixture_open(&f, "A[cudaX[~a:1]]", "B[cudaX[~b:1]]", NULL);
	assert_int_equal(tl_diff_stats(&t, f.diff, NULL), 0);
	expect_cell(t, 0, "lowest_common_ancestor_name", "");
	expect_cell(t, 0, "lowest_common_ancestor_id", "");
	tl_table_free(t);
	assert_int_equal(tl_diff_largest(&t, f.diff, NULL), 0);
	expect_cell(t, 0, "lowest_common_ancestor_name", "A (only trace1)");
	expect_cell(t, 1, "lowest_common_ancestor_name", "B (only trace2)");
	tl_table_free(t);
	diff_fixture_close(&f);
}

/* Equal calls are one row; the same kernel of another shape is another one. */
static void test_unique_args(void **state)
{
	(void)state;
	diff_fixture f;
	tl_table *t;
	const char *text = "mm{[[2,3]]}[cudaX[~k:1]] mm{[[2,3]]}[cudaX[~k:3]] mm{[[4,5]]}[cudaX[~k:10]]";
	diff_fixture_open(&f, text, text, NULL);
	assert_true(f.totals.identical);
	assert_int_equal(tl_diff_stats_unique_args(&t, f.diff, NULL), 0);
	assert_int_equal(tl_table_rows(t), 4);
	expect_cell(t, 0, "Input Dims", "((4, 5),)");
	expect_cell(t, 2, "Input Dims", "((2, 3),)");
	expect_cell(t, 2, "operation_count", "2");
	expect_cell(t, 2, "kernel_time_mean", "2.0");
	expect_cell(t, 2, "kernel_time_sum", "4.0");
	expect_cell(t, 2, "busy_time", "4.0");
	expect_cell(t, 2, "source", "trace1");
	expect_cell(t, 3, "source", "trace2");
	tl_table_free(t);
	assert_int_equal(tl_diff_op_map(&t, f.diff, NULL), 0);
	assert_int_equal(tl_table_rows(t), 2);
	expect_cell(t, 1, "kernels", "['k']");
	expect_cell(t, 1, "nn_module_parents", "['root']");
	tl_table_free(t);
	diff_fixture_close(&f);
}

static void test_pruned(void **state)
{
	(void)state;
	diff_fixture f;
	diff_fixture_open(&f, "host " OP("A") " host2", "host " OP("A") " host2", NULL);
	diff_fixture_expect_tree(f.diff, false, "├── host\n" LEAF("", "A") "└── host2\n");
	diff_fixture_expect_tree(f.diff, true, "└── A\n    └── cudaX\n        └── A\n");
	diff_fixture_close(&f);
}

/* Threads have no fixed order: they meet by what they do. */
static void test_threads(void **state)
{
	(void)state;
	diff_fixture f;
	diff_fixture_open(&f, OP("A") " " OP("B") " | " OP("C") " " OP("D"),
			  OP("C") " " OP("D") " | " OP("A") " " OP("B"), NULL);
	for (int s = 0; s < 2; s++)
		assert_int_equal(f.totals.side[s].unmatched_nodes, 0);
	assert_int_equal(f.totals.moved, 0);
	diff_fixture_close(&f);
}

static void test_python_frames(void **state)
{
	(void)state;
	diff_fixture f;
	tl_table *t;
	diff_fixture_open(&f, "@/old/site/m.py(12):_forward[@nn.Module:_Linear_0[" OP("mm") "]]",
			  "@/new/lib/m.py(15):_forward[@nn.Module:_Linear_0[" OP("mm") "]]", NULL);
	for (int s = 0; s < 2; s++)
		assert_int_equal(f.totals.side[s].unmatched_nodes, 0);
	assert_int_equal(tl_diff_stats(&t, f.diff, NULL), 0);
	expect_cell(t, 0, "nn_module_stack", "nn.Module:_Linear");
	expect_cell(t, 0, "nn_module_parent", "nn.Module:_Linear");
	expect_cell(t, 0, "lowest_common_ancestor_name", "mm");
	tl_table_free(t);
	diff_fixture_close(&f);
}

static void test_users_twins(void **state)
{
	(void)state;
	diff_fixture f;
	tl_error err = TL_ERROR_INIT;
	tl_diff *none;
	tl_diff_options o = {.twins = "# my library\nmine::mm = aten::mm\r\nfast_* = slow_*\n"};
	diff_fixture_open(&f, OP("mine::mm") " " OP("fast_norm"), OP("aten::mm") " " OP("slow_norm"), &o);
	assert_int_equal(f.totals.matched_operations, 2);
	const char *const wrong[] = {"a", "a = ", "ok = ok2\n = b", "a* = b", "* = b*"};
	for (size_t i = 0; i < 5; i++) {
		o.twins = wrong[i];
		assert_int_equal(tl_diff_new(&none, f.side[0].tree, f.side[1].tree, &o, &err), TL_EINVAL);
		assert_non_null(strstr(err.message, i == 2 ? "line 2" : "line 1"));
	}
	diff_fixture_close(&f);
}

/* No GPU work, and nothing at all: empty tables with all columns. */
static void test_empty(void **state)
{
	(void)state;
	const char *const texts[] = {"a[b] c", ""};
	for (size_t i = 0; i < 2; i++) {
		diff_fixture f;
		tl_table *t;
		diff_fixture_open(&f, texts[i], texts[i], NULL);
		assert_true(f.totals.identical);
		assert_int_equal(tl_diff_stats(&t, f.diff, NULL), 0);
		assert_int_equal(tl_table_rows(t), 0);
		assert_int_equal(tl_table_columns(t), 15);
		tl_table_free(t);
		assert_int_equal(tl_diff_stats_unique_args(&t, f.diff, NULL), 0);
		assert_int_equal(tl_table_columns(t), 15);
		tl_table_free(t);
		assert_int_equal(tl_diff_op_map(&t, f.diff, NULL), 0);
		tl_table_free(t);
		diff_fixture_close(&f);
	}
}

/* Every allocation may fail: no crash, no leak (the sanitizer looks), no half result. */
static void test_no_memory(void **state)
{
	(void)state;
	diff_fixture f;
	tl_diff *diff;
	tl_table *t;
	diff_fixture_open(&f, miopen, cudnn, NULL);
	for (int64_t n = 0;; n++) {
		tl__alloc_fail_after(n);
		int code =
			tl_diff_new(&diff, f.side[0].tree, f.side[1].tree, &(tl_diff_options){.twins = "a = b"}, NULL);
		tl__alloc_fail_after(-1);
		if (code == 0)
			break;
		assert_int_equal(code, TL_ENOMEM);
		assert_null(diff);
	}
	tl_diff_free(diff);
	int (*const tables[])(tl_table **, const tl_diff *, tl_error *) = {tl_diff_stats, tl_diff_stats_unique_args,
									   tl_diff_op_map, tl_diff_largest};
	for (size_t i = 0; i < 4; i++)
		for (int64_t n = 0;; n++) {
			tl__alloc_fail_after(n);
			int code = tables[i](&t, f.diff, NULL);
			tl__alloc_fail_after(-1);
			if (code == 0) {
				tl_table_free(t);
				break;
			}
			assert_int_equal(code, TL_ENOMEM);
			assert_null(t);
		}
	diff_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backends),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_inserted_root),
		cmocka_unit_test(test_exchanged),
		cmocka_unit_test(test_siblings_alike_but_for_the_host),
		cmocka_unit_test(test_siblings_at_random),
		cmocka_unit_test(test_common_item),
		cmocka_unit_test(test_same_names),
		cmocka_unit_test(test_wrappers),
		cmocka_unit_test(test_corresponding),
		cmocka_unit_test(test_roots_and_chains),
		cmocka_unit_test(test_wrapper_with_host_child),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_no_ancestor),
		cmocka_unit_test(test_unique_args),
		cmocka_unit_test(test_pruned),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_python_frames),
		cmocka_unit_test(test_users_twins),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
