/* SPDX-License-Identifier: MIT */
/* Loads a trace and says how long that took: the load stage alone, as bench.py measures it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tracelens/trace.h>

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace_options options = {0};
	tl_trace *trace;
	double start = seconds();

	if (argc > 2 && strcmp(argv[1], "--single-thread") == 0) {
		options.single_thread = true;
		argc--;
		argv++;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: bench_load [--single-thread] TRACE\n");
		return 2;
	}
	if (tl_trace_open(&trace, argv[1], &options, &err) < 0) {
		fprintf(stderr, "bench_load: %s\n", err.message);
		return 1;
	}
	printf("events %zu bytes %" PRIu64 " memory %" PRIu64 " seconds %.6f\n", tl_trace_count(trace),
	       tl_trace_text_bytes(trace), tl_trace_memory(trace), seconds() - start);
	tl_trace_free(trace);
	return 0;
}
