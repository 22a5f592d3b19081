/* SPDX-License-Identifier: MIT */
/* Trees of real traces against the fixture table of spec 01 section 12.2 and the golden nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/timeline.h"
#include "trace/corpus_fixture.h"
#include "tree/tree.h"
#include "util/value.h"

typedef struct {
	tl_trace *trace;
	tl_tree *tree;
} tl_opened;

static tl_opened open_tree(const char *path, bool with_python)
{
	tl_opened o = {0};
	tl_tree_options options = {.with_python = with_python};
	assert_int_equal(tl_trace_open(&o.trace, path, NULL, NULL), 0);
	assert_int_equal(tl_tree_build(&o.tree, o.trace, &options, NULL), 0);
	return o;
}

static void close_tree(tl_opened o)
{
	tl_tree_free(o.tree);
	tl_trace_free(o.trace);
}

/*
 * Columns of the table; `linked` with the GPU events that have a launch but half a flow ([01-T9]:
 * 81 memsets of resnet, 5 of normalization). `parents` counts those, too. The events that the
 * reference skipped with Python frames only lost their place by rounding: they have parents here.
 */
static const struct {
	const char *file;
	size_t events, gpu, linked, roots, parents, parents_python, without_flow;
} fixtures[] = {
	{"pytorch/h100_qwen1.5_0.5b.json.gz", 18221, 1707, 1198, 1378, 5926, 11558 + 8, 0},
	{"pytorch/h100_timesformer.json.gz", 50125, 534, 534, 964, 4037, 47317 + 14, 0},
	{"pytorch/mi210_gpu_only.json.gz", 2443, 562, 562, 0, 562, 562, 0},
	{"pytorch/mi300_bert_small.json.gz", 2653, 61, 61, 104, 635, 2115 + 13, 0},
	{"pytorch/mi300_owlv2.json.gz", 130780, 4340, 4340, 7472, 30516, 103227 + 9, 0},
	{"pytorch/mi300_qwen1.5_0.5b.json.gz", 18090, 1517, 1054, 1378, 6000, 11634 + 10, 0},
	{"pytorch/mi300_resnet_checkpointing.json.gz", 56451, 3653, 2604 + 81, 1278, 12405 + 81, 47335 + 81, 81},
	{"pytorch/mi300_timesformer.json.gz", 49950, 449, 449, 964, 3925, 47216 + 7, 0},
	{"pytorch/normalization_layers.json.gz", 8500, 173, 168 + 5, 126, 1255 + 5, 7304 + 3 + 5, 5},
	{"pytorch/torch_compile_triton.json.gz", 246, 12, 12, 2, 108, 108, 0},
	{"inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz", 2058, 558, 558, 26, 609, 1464, 0},
	{"inference/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz", 60315, 534, 534, 950, 4430, 58704 + 1,
	 0},
	{"inference/vllm_decode_full/graph_execution.json.gz", 1993, 434, 434, 52, 498, 1534, 0},
	{"inference/vllm_prefilldecode_piecewise/graph_execution.json.gz", 19289, 423, 423, 108, 1262, 18479 + 1, 0},
};

/* Operations without an operation above them. */
static size_t operation_roots(const tl_tree *t)
{
	size_t n = 0;
	tl_pos inside = 0; /* end of the operation that holds this node */
	for (tl_pos p = 0; p < t->n; p++)
		if (t->store->kind[t->row[p]] == TL_KIND_CPU_OP && p >= inside) {
			n++;
			inside = t->end[p];
		}
	return n;
}

static size_t parents(const tl_tree *t)
{
	size_t n = 0;
	for (tl_row row = 0; row < t->store->n; row++)
		n += tl_tree_parent(t, row) != TL_ROW_NONE;
	return n;
}

static void fixture_table(void **state)
{
	(void)state;
	char path[4096], name[512];
	size_t found = 0;
	for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
		snprintf(name, sizeof name, "corpus/%s", fixtures[i].file);
		if (!tl_corpus_path(path, name))
			continue;
		found++;
		for (int python = 0; python < 2; python++) {
			tl_opened o = open_tree(path, python);
			const tl_tree *t = o.tree;
			print_message("%s, %s Python frames\n", fixtures[i].file, python ? "with" : "without");
			assert_int_equal(tl_trace_count(o.trace), fixtures[i].events);
			assert_int_equal(t->n_gpu + t->n_unlinked, fixtures[i].gpu);
			assert_int_equal(t->n_gpu, fixtures[i].linked);
			assert_int_equal(operation_roots(t), fixtures[i].roots);
			assert_int_equal(parents(t), python ? fixtures[i].parents_python : fixtures[i].parents);
			assert_int_equal(t->health.entry[TL_HEALTH_LINKED_WITHOUT_FLOW].count,
					 fixtures[i].without_flow);
			assert_int_equal(t->health.entry[TL_HEALTH_NO_LAUNCH].count,
					 fixtures[i].gpu - fixtures[i].linked);
			close_tree(o);
		}
	}
	if (!found)
		tl_no_corpus();
}

/* ---- golden nodes ---- */

static char *read_file(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	long size = ftell(file);
	assert_true(size > 0);
	char *text = malloc((size_t)size);
	assert_non_null(text);
	rewind(file);
	*n = fread(text, 1, (size_t)size, file);
	assert_int_equal(*n, size);
	fclose(file);
	return text;
}

static int64_t int_of(const tl_value *v)
{
	int64_t x = -1;
	assert_true(tl__value_int(v, &x));
	return x;
}

static int compare_rows(const void *a, const void *b)
{
	tl_row x = *(const tl_row *)a, y = *(const tl_row *)b;
	return x < y ? -1 : x > y;
}

/* A node of the golden against the tree: parent, children in order, GPU events below as a set. */
static void check_node(const tl_tree *t, const tl_value *node)
{
	static tl_row list[1 << 16];
	tl_row row = (tl_row)int_of(tl__value_get(node, "UID"));
	const tl_value *parent = tl__value_get(node, "parent"), *children = tl__value_get(node, "children");
	const tl_value *gpu = tl__value_get(node, "gpu_events");
	assert_string_equal(tl__name(t->store, row), tl__value_text(tl__value_get(node, "name")));
	tl_row expected = parent && parent->kind == TL_V_INT ? (tl_row)int_of(parent) : TL_ROW_NONE;
	assert_int_equal(tl_tree_parent(t, row), expected);
	size_t n = tl_tree_children(t, row, list, 1 << 16);
	assert_int_equal(n, tl__value_count(children));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(list[i], int_of(tl__value_at(children, i)));
	const tl_row *events = tl_tree_gpu_events(t, row, &n);
	assert_int_equal(n, tl__value_count(gpu));
	assert_true(n <= 1 << 16);
	memcpy(list, events, n * sizeof *list);
	qsort(list, n, sizeof *list, compare_rows);
	for (size_t i = 0; i < n; i++) {
		tl_row key = (tl_row)int_of(tl__value_at(gpu, i));
		assert_non_null(bsearch(&key, list, n, sizeof *list, compare_rows));
	}
}

static void golden_nodes(void **state)
{
	(void)state;
	static const char *const names[] = {"mi300_bert_small", "normalization_layers", "torch_compile_triton"};
	char path[4096], name[512];
	size_t found = 0;
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "golden/tree_%s/nodes.json", names[i]);
		if (!tl_corpus_path(path, name))
			continue;
		size_t size;
		char *text = read_file(path, &size);
		tl_arena arena = {0};
		const tl_value *nodes;
		assert_int_equal(tl__value_parse(&arena, text, size, false, &nodes), 0);
		snprintf(name, sizeof name, "corpus/pytorch/%s.json.gz", names[i]);
		if (tl_corpus_path(path, name)) {
			found++;
			tl_opened o = open_tree(path, true);
			print_message("%s: %zu nodes\n", names[i], tl__value_count(nodes));
			assert_int_equal(tl__value_count(nodes), tl_tree_count(o.tree));
			for (size_t k = 0; k < tl__value_count(nodes); k++)
				check_node(o.tree, tl__value_at(nodes, k));
			close_tree(o);
		}
		tl__arena_free(&arena);
		free(text);
	}
	if (!found)
		tl_no_corpus();
}

/* Spec 01 sections 4.10 and 12: pairs of autograd halves that the reference finds. */
static void autograd_pairs(void **state)
{
	(void)state;
	char path[4096];
	if (!tl_corpus_path(path, "corpus/pytorch/mi300_resnet_checkpointing.json.gz")) {
		tl_no_corpus();
		return;
	}
	tl_opened o = open_tree(path, false);
	assert_int_equal(o.tree->n_links, 213);
	assert_int_equal(tl__tree_forward_of(o.tree, 0), 6404);
	close_tree(o);
	if (tl_corpus_path(path, "corpus/pytorch/normalization_layers.json.gz")) {
		o = open_tree(path, false);
		assert_int_equal(o.tree->n_links, 51);
		close_tree(o);
	}
}

/* golden/pytorch_*: gpu_timeline.csv of the linked GPU events, in ps. */
static void golden_timeline(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		tl_time computation, exposed_comm, exposed_memcpy, busy, total;
	} timelines[] = {
		{"mi300_resnet_checkpointing", 19561931000, 35088512000, 1583624000, 56234067000, 56517603000},
	};
	char path[4096], name[512];
	for (size_t i = 0; i < sizeof timelines / sizeof *timelines; i++) {
		snprintf(name, sizeof name, "corpus/pytorch/%s.json.gz", timelines[i].name);
		if (!tl_corpus_path(path, name)) {
			tl_no_corpus();
			return;
		}
		tl_opened o = open_tree(path, false);
		tl_breakdown b;
		assert_int_equal(tl__breakdown(&b, o.tree->store, o.tree->gpu, o.tree->n_gpu, NULL, NULL), 0);
		assert_int_equal(b.computation, timelines[i].computation);
		assert_int_equal(b.exposed_comm, timelines[i].exposed_comm);
		assert_int_equal(b.exposed_memcpy, timelines[i].exposed_memcpy);
		assert_int_equal(b.busy, timelines[i].busy);
		assert_int_equal(b.total, timelines[i].total);
		close_tree(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixture_table),
		cmocka_unit_test(golden_nodes),
		cmocka_unit_test(autograd_pairs),
		cmocka_unit_test(golden_timeline),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
