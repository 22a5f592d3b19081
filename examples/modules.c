/* SPDX-License-Identifier: MIT */
/*
 * GPU time by nn.Module: the tree of modules as the library prints it, and a walk over it of one's own.
 *
 * usage: modules TRACE [LEVELS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <tracelens/tracelens.h>

static int print(void *user, const char *text, size_t n)
{
	return fwrite(text, 1, n, user) == n ? 0 : 1;
}

/* The module that spends most time in kernels of its own: in none of its children. */
static void print_heaviest(const tl_modules *modules, const tl_events *events)
{
	const tl_module *heaviest = NULL;
	tl_time most = -1;
	for (size_t i = 0; i < tl_modules_count(modules); i++) {
		const tl_module *m = tl_modules_get(modules, i);
		tl_time own = m->children ? m->remainder : m->gpu_time;
		if (own > most) {
			most = own;
			heaviest = m;
		}
	}
	if (heaviest)
		printf("\nMost GPU time of its own: %s, %.3f us\n", tl_event_name(events, heaviest->event, NULL),
		       (double)most / (double)TL_PS_PER_US);
}

static int analyse(tl_analyzer *analyzer, size_t levels, tl_error *err)
{
	const tl_events *events = tl_tree_events(tl_analyzer_tree(analyzer));
	tl_modules *shown, *all;
	int code = tl_modules_new(&shown, analyzer, NULL, 0, levels, err);
	if (code < 0)
		return code;
	code = tl_modules_print(shown, print, stdout, err);
	tl_modules_free(shown);
	if (code == 0)
		code = tl_modules_new(&all, analyzer, NULL, 0, SIZE_MAX, err);
	if (code == 0) {
		print_heaviest(all, events);
		tl_modules_free(all);
	}
	return code;
}

int main(int argc, char **argv)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	tl_analyzer *analyzer = NULL;
	if (argc < 2) {
		fprintf(stderr, "usage: modules TRACE [LEVELS]\n");
		return 2;
	}
	int code = tl_trace_open(&trace, argv[1], NULL, &err);
	if (code == 0) /* modules are Python frames */
		code = tl_tree_build(&tree, trace, &(tl_tree_options){.with_python = true}, &err);
	if (code == 0)
		code = tl_analyzer_new(&analyzer, tree, NULL, &err);
	if (code == 0)
		code = analyse(analyzer, argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 2, &err);
	if (code < 0)
		fprintf(stderr, "modules: %s\n", err.message);
	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return code < 0;
}
