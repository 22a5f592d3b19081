/* SPDX-License-Identifier: MIT */
/*
 * Opens a trace, finds the first matrix multiplication and looks around: what is below it, which Python frames called
 * it, which GPU events it led to.
 *
 * usage: navigate TRACE [OPERATION]
 */
#include <stdio.h>
#include <tracelens/tracelens.h>

/* The library prints nothing itself: text goes where this function puts it. */
static int print(void *user, const char *text, size_t n)
{
	return fwrite(text, 1, n, user) == n ? 0 : 1;
}

static int print_name(void *user, const char *name, size_t n)
{
	return fprintf(user, "  %.*s\n", (int)n, name) < 0;
}

static int look_around(const tl_tree *tree, const char *name, tl_error *err)
{
	const tl_events *events = tl_tree_events(tree);
	const tl_row *found, *gpu;
	size_t n, n_gpu;
	int code = tl_tree_named(&found, &n, tree, name, err);
	if (code < 0)
		return code;
	printf("%zu events are named %s\n", n, name);
	if (n == 0)
		return 0;

	tl_row event = found[0];
	static const char *const fields[] = {"Input Dims", "Input type"};
	tl_print_options options = {.fields = fields, .n_fields = 2};
	printf("\nThe first one and what is below it:\n");
	code = tl_tree_print(tree, event, &options, print, stdout, err);
	if (code < 0)
		return code;

	printf("\nIts parents:\n");
	code = tl_tree_print_parents(tree, event, &options, print, stdout, NULL, err);
	if (code < 0)
		return code;

	static const char *const filters[] = {"nn.Module"};
	printf("\nThe modules that it works for:\n");
	code = tl_tree_call_stack(tree, event, filters, 1, true, print_name, stdout, err);
	if (code < 0)
		return code;

	gpu = tl_tree_gpu_events(tree, event, &n_gpu);
	printf("\nGPU events below it:\n");
	for (size_t i = 0; i < n_gpu; i++) {
		char duration[TL_EVENT_TEXT];
		tl_event_duration_text(events, gpu[i], duration);
		printf("  UID %u: %s, %s us\n", (unsigned)gpu[i], tl_event_name(events, gpu[i], NULL), duration);
	}
	return 0;
}

int main(int argc, char **argv)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	if (argc < 2) {
		fprintf(stderr, "usage: navigate TRACE [OPERATION]\n");
		return 2;
	}
	int code = tl_trace_open(&trace, argv[1], NULL, &err);
	if (code == 0) /* with Python frames, so that the way leads up to the program */
		code = tl_tree_build(&tree, trace, &(tl_tree_options){.with_python = true}, &err);
	if (code == 0)
		code = look_around(tree, argc > 2 ? argv[2] : "aten::addmm", &err);
	if (code < 0)
		fprintf(stderr, "navigate: %s\n", err.message);
	tl_tree_free(tree); /* before the trace that it was built from */
	tl_trace_free(trace);
	return code < 0;
}
