/* SPDX-License-Identifier: MIT */
/* Wrappers that one trace has, at any depth and beside plain operations, and names that were counted up. */
#include "tree/tree_fixture.h"

#include "compare/diff_fixture.h"

#define OP(name) name "[cudaX[~" name ":1]]"

/* Both ways round, all operations but those looked through have a partner. */
static void expect_all_matched(const char *wrapped, const char *plain, size_t looked_through)
{
	for (int turned = 0; turned < 2; turned++) {
		diff_fixture f;
		diff_fixture_open(&f, turned ? plain : wrapped, turned ? wrapped : plain, NULL);
		for (int s = 0; s < 2; s++) {
			assert_int_equal(f.totals.side[s].unmatched_nodes, 0);
			assert_int_equal(f.totals.side[s].looked_through, s == turned ? looked_through : 0);
		}
		diff_fixture_close(&f);
	}
}

static void expect_pair(const diff_fixture *f, tl_row baseline, tl_row variant)
{
	assert_int_equal(tl_diff_corresponding(f->diff, TL_DIFF_BASELINE, baseline), variant);
}

/* Compiled regions between plain operations: the last Norm must not take the place of the first one. */
static void test_between_plain_operations(void **state)
{
	(void)state;
	const char *wrapped = OP("E") " R0[" OP("Norm") " " OP("Lin") "] R1[" OP("Norm") " " OP("Lin") "] " OP("Norm");
	const char *plain = OP("E") " " OP("Norm") " " OP("Lin") " " OP("Norm") " " OP("Lin") " " OP("Norm");
	diff_fixture f;
	expect_all_matched(wrapped, plain, 2);
	/* an operation, its call and its kernel are three rows, in the order of the text; R0 is row 3, R1 row 10 */
	diff_fixture_open(&f, wrapped, plain, NULL);
	expect_pair(&f, 0, 0);
	expect_pair(&f, 4, 3);
	expect_pair(&f, 7, 6);
	expect_pair(&f, 11, 9);
	expect_pair(&f, 14, 12);
	expect_pair(&f, 17, 15);
	diff_fixture_close(&f);
}

/* Frames of modules within modules on one side only. */
static void test_nested(void **state)
{
	(void)state;
	const char *plain = OP("a") " " OP("b") " " OP("a") " " OP("b") " " OP("c");
	expect_all_matched("@M[@F[@L0[" OP("a") " " OP("b") "] @L1[@N[" OP("a") "] " OP("b") "] " OP("c") "]]", plain,
			   5);
	expect_all_matched("M[L0[" OP("a") " " OP("b") "] L1[" OP("a") " " OP("b") "]] " OP("c"), plain, 3);
	/* one operation each, and several */
	expect_all_matched("@L0[" OP("a") "] " OP("b") " @L1[" OP("a") " " OP("c") "] @L2[" OP("b") "] " OP("a"),
			   OP("a") " " OP("b") " " OP("a") " " OP("c") " " OP("b") " " OP("a"), 3);
	/* below a node that both have */
	expect_all_matched("p[W[V[" OP("a") " " OP("b") "] V[" OP("a") " " OP("b") "]] " OP("c") "]",
			   "p[" OP("a") " " OP("b") " " OP("a") " " OP("b") " " OP("c") "]", 3);
}

/* What the other trace has no place for stays as it is. */
static void test_not_opened(void **state)
{
	(void)state;
	diff_fixture f;
	/* X was inserted: both have the plain a and b already */
	diff_fixture_open(&f, "p[X[" OP("a") " " OP("b") "] " OP("a") " " OP("b") "]", "p[" OP("a") " " OP("b") "]",
			  NULL);
	assert_int_equal(f.totals.side[0].looked_through, 0);
	assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, 1), TL_ROW_NONE); /* X */
	expect_pair(&f, 8, 1);
	expect_pair(&f, 11, 4);
	diff_fixture_close(&f);
	/* two of its five operations are too few */
	diff_fixture_open(&f, "X[" OP("a") " " OP("b") " " OP("u") " " OP("v") " " OP("w") "] " OP("c"),
			  OP("c") " " OP("a") " " OP("b"), NULL);
	assert_int_equal(f.totals.side[0].looked_through, 0);
	diff_fixture_close(&f);
	/* what it launches itself counts, too: two of five */
	diff_fixture_open(&f, "X[" OP("a") " " OP("b") " cudaX[~k:1] cudaX[~l:1] cudaX[~m:1]] " OP("c"),
			  OP("c") " " OP("a") " " OP("b"), NULL);
	assert_int_equal(f.totals.side[0].looked_through, 0);
	diff_fixture_close(&f);
	/* of three a the other list has one more */
	diff_fixture_open(&f, "X[" OP("a") " " OP("a") " " OP("a") "] " OP("c"), OP("c") " " OP("a"), NULL);
	assert_int_equal(f.totals.side[0].looked_through, 0);
	diff_fixture_close(&f);
}

/* Numbers of compiled regions, graphs, profiler steps, generated kernels and modules do not count; others do. */
static void test_numbered_names(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		bool equal;
	} names[] = {
		{"Torch-Compiled Region: 0/0", "Torch-Compiled Region: 3/1", true},
		{"## Call CompiledFxGraph fal4 ##", "## Call CompiledFxGraph fx2q ##", true},
		{"ProfilerStep#3", "ProfilerStep#12", true},
		{"triton_poi_fused_add_0", "triton_poi_fused_add_12", true},
		{"triton_poi_fused_add_0", "triton_poi_fused_mul_0", false},
		{"nn.Module: Linear_0", "nn.Module: Linear_7", true},
		{"nn.Module: Linear_0", "nn.Module: LayerNorm_0", false},
		{"train.py(12): forward", "train.py(13): forward", true},
		{"Torch-Compiled Region: 0/0", "CompiledFunction", false},
		{"kernel_1", "kernel_2", false},
		{"ProfilerStep", "ProfilerStep#1", false},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		tl_fixture f;
		tl_name_hashes h;
		uint64_t plain[2], common[2];
		tl_fixture_new(&f);
		tl_str id[2] = {tl__intern(f.store->strings, names[i].a, strlen(names[i].a)),
				tl__intern(f.store->strings, names[i].b, strlen(names[i].b))};
		assert_int_equal(tl__name_hashes_new(&h, f.store->strings, NULL), 0);
		for (int s = 0; s < 2; s++)
			assert_int_equal(tl__hash_name(&h, id[s], &plain[s], &common[s]), 0);
		assert_int_equal(plain[0] == plain[1], names[i].equal);
		assert_int_equal(common[0] == common[1], names[i].equal);
		tl__name_hashes_free(&h);
		tl_fixture_free(&f);
	}
}

/* Every allocation may fail: no crash, no leak (the sanitizer looks), no half result. */
static void test_no_memory(void **state)
{
	(void)state;
	diff_fixture f;
	tl_diff *diff;
	diff_fixture_open(&f, OP("c") " W[V[" OP("a") " " OP("b") "] " OP("d") "]",
			  OP("c") " " OP("a") " " OP("b") " " OP("d"), NULL);
	assert_int_equal(f.totals.side[0].looked_through, 2);
	for (int64_t n = 0;; n++) {
		tl__alloc_fail_after(n);
		int code = tl_diff_new(&diff, f.side[0].tree, f.side[1].tree, NULL, NULL);
		tl__alloc_fail_after(-1);
		if (code == 0)
			break;
		assert_int_equal(code, TL_ENOMEM);
		assert_null(diff);
	}
	tl_diff_free(diff);
	diff_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between_plain_operations),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_not_opened),
		cmocka_unit_test(test_numbered_names),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
