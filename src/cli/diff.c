/* SPDX-License-Identifier: MIT */
/* tracelens diff: two traces, aligned by their call trees. */
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

static const cli_option options[] = {
	{.name = "output",
	 .letter = 'o',
	 .kind = CLI_TEXT,
	 .value = "DIR",
	 .help = "write the merged tree and the tables into this directory"},
	{.name = "prune_non_gpu",
	 .kind = CLI_FLAG,
	 .help = "leave trees without GPU work out of merged_tree_output.txt"},
	{.name = "python", .kind = CLI_FLAG, .help = "align Python frames, too"},
	{.name = "twins",
	 .kind = CLI_TEXT,
	 .value = "FILE",
	 .help = "names to treat as equal, a line NAME = NAME each; a * at the end of both matches any equal rest"},
	{.name = "top", .kind = CLI_INT, .value = "N", .min = 1, .help = "show the N largest differences (10)"},
	CLI_SESSION_OPTIONS,
};

void cli_diff_help(void)
{
	printf("usage: tracelens diff [OPTION ...] BASELINE VARIANT\n\n"
	       "Aligns the call trees of two traces and shows where GPU time differs, by the lowest operation that\n"
	       "both have. With -o DIR it writes merged_tree_output.txt, diff_stats.csv,\n"
	       "diff_stats_unique_args_summary.csv, cpu_op_map.json, cpu_op_map_trace1.json and\n"
	       "cpu_op_map_trace2.json.\n");
	cli_print_options(stdout, options, cli_width());
}

/* ---- reading ---- */

/* A whole text file; *out is freed with free(). Returns a cli_status. */
static int read_text(char **out, const char *path)
{
	enum { MOST = 16 << 20 };
	size_t n = 0, room = 0;
	FILE *file = fopen(path, "rb");
	*out = NULL;
	while (file && !ferror(file) && !feof(file) && n < MOST) {
		char *more = n + 2 > room ? realloc(*out, room = room ? 2 * room : 4096) : *out;
		if (!more) {
			fclose(file);
			free(*out);
			*out = NULL;
			cli_say("no memory left");
			return CLI_FAILED;
		}
		*out = more;
		n += fread(*out + n, 1, room - n - 1, file);
		(*out)[n] = '\0';
	}
	bool whole = file && feof(file) && (!n || !memchr(*out, '\0', n));
	const char *why = !file || ferror(file) ? strerror(errno) : "this is no list of names";
	if (file)
		fclose(file);
	if (whole)
		return CLI_OK;
	cli_say("%s: %s", path, why);
	free(*out);
	*out = NULL;
	return CLI_USAGE;
}

/* Whether a side can be a trace at all: before the other one is read, too. */
static int check_sides(const cli_session side[2])
{
	int status = cli_check_format(side[0].path);
	return status == CLI_OK ? cli_check_format(side[1].path) : status;
}

/* Reading one side; the threads of both share nothing but `stop`. */
typedef struct reading {
	cli_session *session;
	bool single_thread;
	_Atomic bool *stop;
	int code;
	tl_error err;
} reading;

static int on_progress(void *user, uint64_t done, uint64_t total)
{
	reading *r = user;
	return atomic_load(r->stop) ? 1 : cli_progress_loading(&r->session->progress, done, total);
}

static void *read_side(void *user)
{
	reading *r = user;
	cli_session *s = r->session;
	tl_trace_options to = {.strict = cli_has(s->args, "strict"),
			       .single_thread = r->single_thread,
			       .progress = on_progress,
			       .user = r};
	tl_tree_options o = {.with_python = cli_has(s->args, "python"),
			     .clip_stream_overruns = cli_has(s->args, "clip_stream_overruns")};
	r->code = tl_trace_open(&s->trace, s->path, &to, &r->err);
	if (r->code == 0)
		r->code = tl_tree_build(&s->tree, s->trace, &o, &r->err);
	return NULL;
}

static int complain_about(const reading *r)
{
	if (r->code == TL_ECANCELLED) {
		cli_say("interrupted");
		return CLI_INTERRUPTED;
	}
	if (r->code < 0)
		return cli_complain(&r->err, r->session->trace ? CLI_FAILED : cli_read_status(r->code));
	return cli_refuse_repairs(r->session);
}

/*
 * Reads both sides at the same time: each is read by a thread of its own, and unpacked there, too, where there are few
 * processors. What is wrong is told as if one had been read after the other. Both are closed by the caller in any case.
 */
static int open_sides(cli_session side[2])
{
	bool single = cli_has(side[0].args, "single-thread"), threaded = false;
	_Atomic bool stop = false;
	reading r[2];
	pthread_t other;
	int status = check_sides(side);
	if (status != CLI_OK)
		return status;
	for (int i = 0; i < 2; i++)
		r[i] = (reading){.session = &side[i],
				 .single_thread = single || sysconf(_SC_NPROCESSORS_ONLN) < 4,
				 .stop = &stop,
				 .err = TL_ERROR_INIT};
	/* of the two, one line tells how far it is */
	cli_progress_begin(&side[0].progress, side[0].path, !side[0].quiet);
	if (!single)
		threaded = pthread_create(&other, NULL, read_side, &r[1]) == 0;
	read_side(&r[0]);
	if (r[0].code < 0)
		atomic_store(&stop, true);
	if (threaded)
		pthread_join(other, NULL);
	cli_progress_end(&side[0].progress);
	status = complain_about(&r[0]);
	if (status != CLI_OK)
		return status;
	if (!threaded) {
		cli_progress_begin(&side[1].progress, side[1].path, !side[1].quiet);
		read_side(&r[1]);
		cli_progress_end(&side[1].progress);
	}
#ifdef __GLIBC__
	malloc_trim(0); /* threads leave what they freed in heaps of their own, where nobody else finds it */
#endif
	return complain_about(&r[1]);
}

/* ---- telling ---- */

/* What is doubtful about a trace: figures may be off where it is. Events without a launch, and that it is cut off, are
 * told elsewhere. */
static int say_findings(const cli_session *s)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *health;
	char text[512] = "", kind[64];
	size_t n = 0;
	if (tl_tree_health(&health, s->tree, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	ptrdiff_t kinds = tl_table_find_column(health, "kind"), count = tl_table_find_column(health, "count");
	for (size_t r = 0; kinds >= 0 && count >= 0 && r < tl_table_rows(health); r++) {
		tl_table_text(health, (size_t)kinds, r, kind, sizeof kind);
		if (!strcmp(kind, "no_launch") || !strcmp(kind, "truncated"))
			continue;
		if (n < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld x %s", n ? ", " : "",
					      (long long)tl_table_int(health, (size_t)count, r), kind);
	}
	tl_table_free(health);
	if (n)
		cli_say("%s: %s ('tracelens health' says what that is)", s->path, text);
	return CLI_OK;
}

static double ms(tl_time ps)
{
	return (double)ps / 1e9;
}

/* Of less than all at most 99.9: that something is missing must be seen. */
static double percent(tl_time part, tl_time whole)
{
	double share = whole ? 100 * (double)part / (double)whole : 0;
	return part < whole && share > 99.9 ? 99.9 : share;
}

static void print_part(const char *what, const size_t n[2], const tl_time time[2], const tl_time whole[2])
{
	printf("%-27s", what);
	for (int s = 0; s < 2; s++)
		printf(" %7zu %11.3f %5.1f", n[s], ms(time[s]), percent(time[s], whole[s]));
	printf("\n");
}

static void print_coverage(const tl_diff_totals *t)
{
	const tl_diff_side_totals *a = &t->side[0], *b = &t->side[1];
	tl_time whole[2] = {a->gpu_time, b->gpu_time};
	printf("%-27s %25s %25s\n", "GPU events, their time", "baseline", "variant");
	printf("%-27s %7s %11s %5s %7s %11s %5s\n", "", "count", "ms", "%", "count", "ms", "%");
	print_part("all", (size_t[]){a->gpu_events, b->gpu_events}, whole, whole);
	print_part("under an operation", (size_t[]){a->under_operation, b->under_operation},
		   (tl_time[]){a->under_operation_time, b->under_operation_time}, whole);
	print_part("  of both traces", (size_t[]){a->in_matched, b->in_matched},
		   (tl_time[]){a->in_matched_time, b->in_matched_time}, whole);
	print_part("under the launching call", (size_t[]){a->under_call, b->under_call},
		   (tl_time[]){a->under_call_time, b->under_call_time}, whole);
	print_part("no launch in the trace", (size_t[]){a->unlinked, b->unlinked},
		   (tl_time[]){a->unlinked_time, b->unlinked_time}, whole);
	printf("\nMatched operations: %zu of %zu and %zu.\n", t->matched_operations, a->operations, b->operations);
	printf("Only in one trace: %zu and %zu events, in %zu and %zu places.\n", a->unmatched_nodes,
	       b->unmatched_nodes, a->unmatched_subtrees, b->unmatched_subtrees);
	printf("In another place: %zu. Looked through: %zu and %zu.\n", t->moved, a->looked_through, b->looked_through);
	if (t->identical)
		printf("Both traces have the same operations in the same places.\n");
	printf("\n");
}

/* Rows with a difference: the table has all, the largest difference first. */
static size_t count_differences(const tl_table *largest)
{
	ptrdiff_t delta = tl_table_find_column(largest, "delta");
	size_t n = 0;
	while (delta >= 0 && n < tl_table_rows(largest) && tl_table_double(largest, (size_t)delta, n) != 0)
		n++;
	return n;
}

static int print_result(const cli_session *s, const tl_diff *diff, const tl_table *largest)
{
	static const tl_text_column columns[] = {{"lowest_common_ancestor_name", "Largest differences of GPU time", 0},
						 {"count", "count", 0},
						 {"kernel_time_trace1", "baseline \xc2\xb5s", 3},
						 {"kernel_time_trace2", "variant \xc2\xb5s", 3},
						 {"delta", "difference \xc2\xb5s", 3}};
	tl_diff_totals totals;
	tl_diff_get_totals(diff, &totals);
	size_t top = (size_t)cli_number(s->args, "top", 10), n = count_differences(largest);
	if (s->format == CLI_FORMAT_TEXT) {
		print_coverage(&totals);
		if (!n)
			return cli_print("No difference of GPU time.\n");
	}
	return cli_print_table(s, largest, columns, 5, n < top ? n : top);
}

/* Writes the files, when asked for, and finds the largest differences. */
static int write_and_find(tl_table **largest, const cli_session *s, const tl_diff *diff, const char *folder)
{
	tl_error err = TL_ERROR_INIT;
	int code = folder ? tl_diff_write_with_largest(largest, diff, folder, cli_has(s->args, "prune_non_gpu"), &err)
			  : tl_diff_largest(largest, diff, &err);
	return code < 0 ? cli_complain(&err, CLI_FAILED) : CLI_OK;
}

static int compare(const cli_session side[2], const char *twins)
{
	const cli_session *s = &side[0];
	tl_error err = TL_ERROR_INIT;
	tl_diff *diff;
	const char *folder = cli_text(s->args, "output", NULL);
	tl_diff_options o = {.twins = twins, .single_thread = cli_has(s->args, "single-thread")};
	int code = tl_diff_new(&diff, side[0].tree, side[1].tree, &o, &err);
	if (code == TL_EINVAL && twins) /* the library was given the text, not the file */
		snprintf(err.file, sizeof err.file, "%s", cli_text(s->args, "twins", ""));
	if (code < 0)
		return cli_complain(&err, code == TL_EINVAL ? CLI_USAGE : CLI_FAILED);
	int status = CLI_OK;
	if (cli_interrupted()) {
		cli_say("interrupted");
		status = CLI_INTERRUPTED;
	}
	tl_table *largest = NULL;
	if (status == CLI_OK)
		status = write_and_find(&largest, s, diff, folder);
	if (status == CLI_OK)
		status = print_result(s, diff, largest);
	tl_table_free(largest);
	for (int i = 0; i < 2 && status == CLI_OK && !s->quiet; i++)
		status = say_findings(&side[i]);
	if (status == CLI_OK && folder && !s->quiet)
		cli_say("wrote the merged tree and the tables into %s", folder);
	tl_diff_totals totals;
	tl_diff_get_totals(diff, &totals);
	if (status == CLI_OK && !totals.side[0].gpu_events && !totals.side[1].gpu_events) {
		cli_say("no GPU event in either trace");
		status = CLI_EMPTY;
	}
	tl_diff_free(diff);
	return status;
}

static int run(const cli_args *args)
{
	cli_session side[2] = {{0}, {0}};
	char *twins = NULL;
	const char *path = cli_text(args, "twins", NULL);
	if (args->n_rest != 2)
		return cli_wrong_usage("diff", "two traces are compared: the baseline, then the variant");
	if (!*cli_text(args, "output", "."))
		return cli_wrong_usage("diff", "the name of the directory is empty");
	if (!strcmp(args->rest[0], "-") && !strcmp(args->rest[1], "-"))
		return cli_wrong_usage("diff", "only one of the traces can be standard input");
	int status = path ? read_text(&twins, path) : CLI_OK;
	cli_catch_interrupt();
	for (int i = 0; i < 2; i++)
		side[i] = (cli_session){.args = args,
					.path = args->rest[i],
					.format = cli_format_of(args),
					.quiet = cli_has(args, "quiet")};
	if (status == CLI_OK)
		status = open_sides(side);
	if (status == CLI_OK)
		status = compare(side, twins);
	if ((status == CLI_OK || status == CLI_EMPTY) && cli_interrupted()) {
		cli_say("interrupted");
		status = CLI_INTERRUPTED;
	}
	for (int i = 0; i < 2; i++) {
		if (status == CLI_OK && tl_trace_is_truncated(side[i].trace)) {
			cli_say("%s: the file is cut off; this covers what is there", side[i].path);
			status = CLI_TRUNCATED;
		}
		tl_tree_free(side[i].tree);
		tl_trace_free(side[i].trace);
	}
	free(twins);
	return status;
}

int cli_diff(int argc, char **argv)
{
	char error[512];
	cli_args args;
	if (cli_parse(&args, options, argc, argv, error, sizeof error) < 0)
		return cli_wrong_usage("diff", error);
	int status;
	if (cli_has(&args, "help")) {
		cli_diff_help();
		status = cli_finish_output();
	} else {
		status = run(&args);
	}
	cli_args_free(&args);
	return status;
}
