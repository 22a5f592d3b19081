/* SPDX-License-Identifier: MIT */
/* tracelens timeline: what the GPU did, computing, communicating, copying and waiting. */
#include "session.h"

static const cli_option options[] = {
	{.name = "micro_idle_thresh_us",
	 .kind = CLI_NUMBER,
	 .value = "N",
	 .help = "split idle time into gaps shorter than N \xc2\xb5s and the rest"},
	{.name = "include_unlinked_kernels",
	 .kind = CLI_FLAG,
	 .help = "count GPU events whose launch is not in the trace"},
	CLI_SESSION_OPTIONS,
};

void cli_timeline_help(void)
{
	printf("usage: tracelens timeline [OPTION ...] TRACE\n\n"
	       "Shows where the time between the first and the last GPU event goes: computation, communication and "
	       "copies\n"
	       "that nothing hides, idle time. Each time is a union: work that overlaps counts once.\n");
	cli_print_options(stdout, options, cli_width());
}

static int prepare(const cli_args *args, cli_need *need)
{
	need->unlinked = cli_has(args, "include_unlinked_kernels");
	return CLI_OK;
}

/* What the figures leave out belongs to them. */
static void say_excluded(const cli_session *s, bool any)
{
	char text[CLI_SENTENCE];
	tl_time time, ambiguous_time;
	size_t n = tl_tree_unlinked(s->tree, &time), ambiguous = tl_tree_ambiguous(s->tree, &ambiguous_time);
	if (s->quiet || cli_has(s->args, "include_unlinked_kernels"))
		return;
	n -= ambiguous;
	time -= ambiguous_time;
	if (ambiguous && any) /* else that is why there is nothing, and cli_nothing says so */
		cli_say("%s", cli_ambiguous(text, ambiguous, ambiguous_time));
	if (n)
		cli_say("left out: %zu GPU event%s (%.3f ms) whose launch is not in the trace; "
			"--include_unlinked_kernels counts %s",
			n, n == 1 ? "" : "s", (double)time / 1e9, n == 1 ? "it" : "them");
}

static int work(cli_session *s)
{
	static const tl_text_column columns[] = {
		{"type", "GPU timeline", 0}, {"time ms", "ms", 3}, {"percent", "%", 2}};
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	tl_breakdown breakdown;
	double limit = cli_number(s->args, "micro_idle_thresh_us", 0);
	const double *threshold = cli_has(s->args, "micro_idle_thresh_us") ? &limit : NULL;
	int code = tl_analyzer_breakdown(&breakdown, s->analyzer, threshold, &err);
	if (code == 0)
		code = tl_breakdown_table(&table, &breakdown, threshold != NULL, &err);
	if (code < 0)
		return cli_complain(&err, code == TL_EINVAL ? CLI_USAGE : CLI_FAILED);
	int status = cli_print_table(s, table, columns, 3, 0);
	tl_table_free(table);
	say_excluded(s, breakdown.events > 0);
	if (status == CLI_OK && !breakdown.events)
		status = cli_nothing(s,
				     "no GPU event with a usable time (was GPU activity switched on in the profiler?)");
	return status;
}

int cli_timeline(int argc, char **argv)
{
	static const cli_work command = {"timeline", options, cli_timeline_help, prepare, work};
	return cli_run_session(&command, argc, argv);
}
