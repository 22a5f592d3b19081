/* SPDX-License-Identifier: MIT */
/*
 * The GPU timeline, twice: of a trace, and of a bare list of GPU events as any program may have measured them.
 *
 * usage: timeline TRACE
 */
#include <stdio.h>
#include <tracelens/tracelens.h>

/* Times in the library are whole picoseconds. */
static void print(const char *title, const tl_breakdown *b)
{
	const struct {
		const char *name;
		tl_time time;
	} rows[] = {{"computation", b->computation},
		    {"exposed communication", b->exposed_comm},
		    {"exposed copies", b->exposed_memcpy},
		    {"busy", b->busy},
		    {"idle", b->idle},
		    {"total", b->total}};
	printf("%s (%zu GPU events)\n", title, b->events);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		printf("  %-22s %10.3f us %6.2f %%\n", rows[i].name, (double)rows[i].time / (double)TL_PS_PER_US,
		       b->total ? 100 * (double)rows[i].time / (double)b->total : 0);
}

static int of_trace(const char *path, tl_error *err)
{
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	tl_analyzer *analyzer = NULL;
	tl_breakdown breakdown;
	int code = tl_trace_open(&trace, path, NULL, err);
	if (code == 0)
		code = tl_tree_build(&tree, trace, NULL, err);
	if (code == 0)
		code = tl_analyzer_new(&analyzer, tree, NULL, err);
	if (code == 0)
		code = tl_analyzer_breakdown(&breakdown, analyzer, NULL, err);
	if (code == 0)
		print("The trace", &breakdown);
	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return code;
}

/* A kernel of 50 us, a collective that it hides for 30 us, and a copy later on. */
static int of_list(tl_error *err)
{
	enum { N = 3 };
	static const char *const categories[N] = {"kernel", "kernel", "gpu_memcpy"};
	static const char *const names[N] = {"gemm", "ncclDevKernel_AllReduce", "Memcpy HtoD"};
	static const tl_time starts[N] = {0, 20 * TL_PS_PER_US, 80 * TL_PS_PER_US};
	static const tl_time durations[N] = {50 * TL_PS_PER_US, 40 * TL_PS_PER_US, 10 * TL_PS_PER_US};
	tl_gpu_event_list list = {.n = N, .start = starts, .dur = durations, .category = categories, .name = names};
	tl_breakdown breakdown;
	int code = tl_gpu_timeline_of_events(&breakdown, &list, NULL, err);
	if (code == 0)
		print("A list of three events", &breakdown);
	return code;
}

int main(int argc, char **argv)
{
	tl_error err = TL_ERROR_INIT;
	if (argc != 2) {
		fprintf(stderr, "usage: timeline TRACE\n");
		return 2;
	}
	int code = of_trace(argv[1], &err);
	if (code == 0)
		code = of_list(&err);
	if (code < 0)
		fprintf(stderr, "timeline: %s\n", err.message);
	return code < 0;
}
