/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace file, from the container to the tree. The first byte chooses how. What the file
 * holds must not depend on how it is cut into blocks, and no time may leave its range.
 */
#include <stdlib.h>

#include "trace/trace.h"
#include "tracelens/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_store(const tl_store *s)
{
	for (size_t row = 0; row < s->n; row++) {
		if (s->dur[row] != TL_TIME_NONE && s->dur[row] < 0)
			abort();
		if (s->track[row] != UINT32_MAX && s->track[row] >= s->tracks.n)
			abort();
		if (s->category[row] >= s->categories.n || s->kind[row] > TL_KIND_EMPTY)
			abort();
		if (s->name[row] >= tl__strings_count(s->strings))
			abort();
		if (s->track[row] != UINT32_MAX && s->tracks.v[s->track[row]].process >= s->processes.n)
			abort();
		size_t sides = s->kind[row] == TL_KIND_PYTHON                                     ? s->python.n
			       : s->kind[row] == TL_KIND_FLOW || s->kind[row] == TL_KIND_FWDBWD   ? s->flows.n
			       : s->kind[row] == TL_KIND_RUNTIME || tl__kind_is_gpu(s->kind[row]) ? s->links.n
												  : s->ops.n;
		if (s->side[row] != UINT32_MAX && s->side[row] >= sides)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace;
	if (!size)
		return 0;
	tl_trace_options options = {.single_thread = true, .strict = *data & 1};
	int code = tl_trace_open_memory(&trace, data + 1, size - 1, &options, &err);
	if (code < 0) {
		if (trace || err.code != code || !err.message[0])
			abort(); /* a failure that says nothing */
		return 0;
	}
	check_store(trace->store);
	for (int kind = 0; options.strict && kind < TL_HEALTH_KINDS; kind++)
		if (tl__health_is_repair((tl_health_kind)kind) && trace->store->health.entry[kind].count)
			abort();

	tl_tree_options tree_options = {.with_python = *data & 2};
	tl_tree *tree;
	tl_table *health;
	if (tl_tree_build(&tree, trace, &tree_options, &err) < 0)
		abort();
	if (tl_tree_health(&health, tree, &err) < 0)
		abort();
	tl_table_free(health);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return 0;
}
