/* SPDX-License-Identifier: MIT */
/* Real pairs of traces: nothing is lost, nothing is paired that is something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/diff_rows.h"
#include "trace/corpus_fixture.h"

typedef struct opened {
	tl_trace *trace[2];
	tl_tree *tree[2];
	tl_diff *diff;
	tl_diff_totals totals;
} opened;

/* Opens and compares; skips the test without the corpus. */
static void open_pair(opened *o, const char *baseline, const char *variant, bool python)
{
	char path[4096], name[256];
	const char *const names[] = {baseline, variant};
	*o = (opened){0};
	for (int s = 0; s < 2; s++) {
		tl_tree_options options = {.with_python = python};
		snprintf(name, sizeof name, "corpus/pytorch/%s.json.gz", names[s]);
		if (!tl_corpus_path(path, name)) {
			tl_tree_free(o->tree[0]);
			tl_trace_free(o->trace[0]);
			tl_no_corpus();
		}
		assert_int_equal(tl_trace_open(&o->trace[s], path, NULL, NULL), 0);
		assert_int_equal(tl_tree_build(&o->tree[s], o->trace[s], &options, NULL), 0);
	}
	assert_int_equal(tl_diff_new(&o->diff, o->tree[0], o->tree[1], NULL, NULL), 0);
	tl_diff_get_totals(o->diff, &o->totals);
}

static void close_pair(opened *o)
{
	tl_diff_free(o->diff);
	for (int s = 0; s < 2; s++) {
		tl_tree_free(o->tree[s]);
		tl_trace_free(o->trace[s]);
	}
}

/* Every GPU event of the traces has one row, and the rows add up to their time. */
static void check_coverage(const opened *o)
{
	tl_diff_rows rows;
	assert_int_equal(tl__diff_rows_new(&rows, o->diff, NULL), 0);
	for (int s = 0; s < 2; s++) {
		const tl_store *store = o->tree[s]->store;
		size_t events = 0, *seen = calloc(store->n + 1, sizeof *seen);
		tl_time time = 0, booked = 0;
		assert_non_null(seen);
		for (size_t i = 0; i < rows.n; i++)
			if (rows.v[i].side == s) {
				assert_int_equal(seen[rows.v[i].row]++, 0);
				booked += store->dur[rows.v[i].row];
			}
		for (tl_row row = 0; row < store->n; row++) {
			if (!tl__kind_is_gpu(store->kind[row]))
				continue;
			assert_int_equal(seen[row], 1);
			events++;
			time += store->dur[row];
		}
		assert_int_equal(booked, time);
		assert_int_equal(o->totals.side[s].gpu_time, time);
		assert_int_equal(o->totals.side[s].gpu_events, events);
		free(seen);
	}
	tl__diff_rows_free(&rows);
}

/* Matched operations have one name, but for those that are one operation on two backends. */
static void check_meaning(const opened *o, size_t backends)
{
	size_t other = 0;
	for (size_t i = 0; i < tl_diff_count(o->diff); i++) {
		const tl_diff_node *x = &o->diff->node[i];
		if (x->baseline == TL_ROW_NONE || x->variant == TL_ROW_NONE || !tl__diff_is_operation(o->diff, x))
			continue;
		const char *a = tl__name(o->tree[0]->store, x->baseline), *b = tl__name(o->tree[1]->store, x->variant);
		if (!strcmp(a, b))
			continue;
		other++;
		assert_string_equal(a, "aten::miopen_convolution");
		assert_string_equal(b, "aten::cudnn_convolution");
	}
	assert_int_equal(other, backends);
}

/* At least what the Python tool matches: `operations` pairs, and the time of GPU work of matched operations in ns. */
static void check_pair(const char *baseline, const char *variant, size_t operations, tl_time ns_baseline,
		       tl_time ns_variant, size_t backends)
{
	opened o;
	open_pair(&o, baseline, variant, false);
	check_coverage(&o);
	check_meaning(&o, backends);
	assert_true(o.totals.matched_operations >= operations);
	assert_true(o.totals.side[0].in_matched_time >= ns_baseline * 1000);
	assert_true(o.totals.side[1].in_matched_time >= ns_variant * 1000);
	close_pair(&o);
}

static void test_qwen(void **state)
{
	(void)state;
	check_pair("mi300_qwen1.5_0.5b", "h100_qwen1.5_0.5b", 2089, 29636393, 31905473, 0);
}

static void test_timesformer(void **state)
{
	(void)state;
	check_pair("mi300_timesformer", "h100_timesformer", 1471, 119518841, 157200124, 1);
}

/* Two models: of the 117 pairs that the Python tool makes by position, 14 have one name. */
static void test_bert_and_qwen(void **state)
{
	(void)state;
	check_pair("mi300_bert_small", "mi300_qwen1.5_0.5b", 14, 118800, 786199, 0);
}

/* With Python frames, paths and lines differ; and a trace is always equal to itself. */
static void test_python_and_itself(void **state)
{
	(void)state;
	opened o;
	open_pair(&o, "mi300_qwen1.5_0.5b", "h100_qwen1.5_0.5b", true);
	check_coverage(&o);
	check_meaning(&o, 0);
	/* the variant has nothing of its own; root operations without GPU work are below frames here, and not shown */
	assert_int_equal(o.totals.matched_operations, o.totals.side[1].operations);
	assert_true(o.totals.side[1].in_matched_time >= 31905473 * (tl_time)1000);
	close_pair(&o);
	for (int python = 0; python < 2; python++) {
		open_pair(&o, "h100_timesformer", "h100_timesformer", python);
		check_coverage(&o);
		assert_true(o.totals.identical);
		close_pair(&o);
	}
}

/* Launches without operations around them: all GPU events are booked on those. */
static void test_gpu_only(void **state)
{
	(void)state;
	opened o;
	open_pair(&o, "mi210_gpu_only", "mi210_gpu_only", false);
	check_coverage(&o);
	assert_true(o.totals.side[0].gpu_events > 0);
	assert_int_equal(o.totals.side[0].under_call, o.totals.side[0].gpu_events);
	assert_true(o.totals.identical);
	close_pair(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qwen),          cmocka_unit_test(test_timesformer),
		cmocka_unit_test(test_bert_and_qwen), cmocka_unit_test(test_python_and_itself),
		cmocka_unit_test(test_gpu_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
