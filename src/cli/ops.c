/* SPDX-License-Identifier: MIT */
/* tracelens ops: GPU time by operation. */
#include <stdlib.h>
#include <string.h>

#include "session.h"

static const char *const groupings[] = {"name", "args", "category", NULL};

static const cli_option options[] = {
	{.name = "by",
	 .kind = CLI_CHOICE,
	 .choices = groupings,
	 .help = "one row per operation name (default), per name and distinct arguments, or per category"},
	{.name = "op", .kind = CLI_TEXT, .value = "NAME", .help = "only this operation, by its arguments"},
	{.name = "top", .kind = CLI_INT, .value = "N", .min = 1, .help = "only the N heaviest rows"},
	CLI_SESSION_OPTIONS,
};

void cli_ops_help(void)
{
	printf("usage: tracelens ops [OPTION ...] TRACE\n\n"
	       "Shows GPU time by the operation that launched it: the lowest one on the call stack. Communication\n"
	       "kernels are left out.\n");
	cli_print_options(stdout, options, cli_width());
}

static int prepare(const cli_args *args, cli_need *need)
{
	(void)need;
	if (cli_has(args, "op") && strcmp(cli_text(args, "by", "args"), "args") != 0)
		return cli_wrong_usage("ops", "--op shows one operation by its arguments: leave --by out");
	return CLI_OK;
}

/* The first rows only; percentages stay those of all. */
static size_t top(const cli_session *s)
{
	return (size_t)cli_number(s->args, "top", 0);
}

static int by_name(const tl_table *launchers, bool category, tl_table **out, tl_error *err)
{
	return category ? tl_launchers_by_category(out, launchers, err) : tl_launchers_by_name(out, launchers, err);
}

static int by_args(const cli_session *s, const tl_table *launchers, tl_table **out, tl_error *err)
{
	static const tl_statistic all[] = {TL_STAT_MEAN, TL_STAT_MEDIAN, TL_STAT_STD, TL_STAT_MIN, TL_STAT_MAX};
	tl_stat_options o = {.statistics = all,
			     .n_statistics = 5,
			     .name = cli_text(s->args, "op", NULL),
			     .percent = true,
			     .truncated = true,
			     .top = (int64_t)top(s)};
	return tl_launchers_by_args(out, launchers, &o, err);
}

static int print(const cli_session *s, const tl_table *table, const char *by)
{
	static const tl_text_column args[] = {{"name", "Operations by kernel time", 0},
					      {"Input Dims", "input shapes", 0},
					      {"operation_count", "count", 0},
					      {"total_direct_kernel_time_mean", "mean \xc2\xb5s", 3},
					      {"total_direct_kernel_time_sum", "\xc2\xb5s", 3},
					      {"Percentage (%)", "%", 2}};
	static const tl_text_column categories[] = {{"op category", "Categories by kernel time", 0},
						    {"Count", "count", 0},
						    {"total_direct_kernel_time_ms", "ms", 3},
						    {"Percentage (%)", "%", 2}};
	static const tl_text_column names[] = {{"name", "Operations by kernel time", 0},
					       {"Count", "count", 0},
					       {"total_direct_kernel_time_ms", "ms", 3},
					       {"Percentage (%)", "%", 2}};
	if (cli_has(s->args, "op")) { /* all of one name, which then is the title */
		tl_text_column one[5];
		memcpy(one, args + 1, sizeof one);
		one[0].head = cli_text(s->args, "op", "");
		return cli_print_table(s, table, one, 5, top(s));
	}
	if (!strcmp(by, "args"))
		return cli_print_table(s, table, args, 6, top(s));
	return cli_print_table(s, table, !strcmp(by, "category") ? categories : names, 4, top(s));
}

static void say_no_such(const cli_session *s, const tl_table *launchers, const char *op)
{
	size_t n = tl_table_rows(launchers);
	ptrdiff_t uid = tl_table_find_column(launchers, "UID");
	const char **names = calloc(n + 1, sizeof *names);
	char near[CLI_SENTENCE] = "";
	for (size_t i = 0; names && uid >= 0 && i < n; i++)
		names[i] =
			tl_event_name(tl_tree_events(s->tree), (tl_row)tl_table_int(launchers, (size_t)uid, i), NULL);
	if (names)
		cli_did_you_mean(near, op, names, n);
	free((void *)names);
	cli_say("%s: no operation of the name '%s' launches GPU work%s", s->path, op, near);
}

static int work(cli_session *s)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *launchers = NULL, *table = NULL;
	tl_launcher_options lo = {.kernel_details = true};
	const char *op = cli_text(s->args, "op", NULL), *by = cli_text(s->args, "by", op ? "args" : "name");
	int code = tl_analyzer_launchers(&launchers, s->analyzer, &lo, &err);
	if (code == 0 && !strcmp(by, "args"))
		code = by_args(s, launchers, &table, &err);
	else if (code == 0)
		code = by_name(launchers, !strcmp(by, "category"), &table, &err);
	int status = code < 0 ? cli_complain(&err, CLI_FAILED) : CLI_OK;
	/* of no rows only programs want to see the head */
	if (status == CLI_OK && (tl_table_rows(table) || s->format != CLI_FORMAT_TEXT))
		status = print(s, table, by);
	if (status == CLI_OK && !tl_table_rows(launchers)) {
		status = cli_nothing(s, "no operation launches GPU work");
	} else if (status == CLI_OK && !tl_table_rows(table)) {
		say_no_such(s, launchers, op);
		status = CLI_EMPTY;
	}
	tl_table_free(launchers);
	tl_table_free(table);
	return status;
}

int cli_ops(int argc, char **argv)
{
	static const cli_work command = {"ops", options, cli_ops_help, prepare, work};
	return cli_run_session(&command, argc, argv);
}
