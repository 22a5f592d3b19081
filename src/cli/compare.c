/* SPDX-License-Identifier: MIT */
/* tracelens compare: finished reports side by side. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *const colour_choices[] = {"auto", "always", "never", NULL};

static const cli_option options[] = {
	{.name = "names",
	 .kind = CLI_TEXTS,
	 .may_be_empty = true, /* as the Python tool has it, for scripts whose list may be empty */
	 .value = "NAME",
	 .help = "names of the reports in the result, one per report (default: names of the files)"},
	{.name = "sheets",
	 .kind = CLI_TEXTS,
	 .value = "SHEETS",
	 .help = "any of gpu_timeline, ops_summary, kernel_summary, ops_all, roofline; all (default): what the reports "
		 "have"},
	{.name = "output",
	 .letter = 'o',
	 .kind = CLI_TEXT,
	 .value = "FILE",
	 .help = "the workbook to write (default: comparison.xlsx)"},
	{.name = "output_csvs_dir",
	 .kind = CLI_TEXT,
	 .value = "DIR",
	 .help = "also write one CSV file per sheet into this directory, made when missing"},
	{.name = "top", .kind = CLI_INT, .value = "N", .min = 1, .help = "show the N largest differences (all listed)"},
	{.name = "color",
	 .kind = CLI_CHOICE,
	 .choices = colour_choices,
	 .help = "colours (auto: on a terminal, unless NO_COLOR is set)"},
	{.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print nothing but errors"},
	{.name = "help", .letter = 'h', .kind = CLI_FLAG, .help = "print this help"},
	{0},
};

void cli_compare_help(void)
{
	printf("usage: tracelens compare [OPTION ...] REPORT REPORT ...\n\n"
	       "Puts two or more reports side by side, sheet by sheet, with differences to the first one, the "
	       "baseline.\n"
	       "REPORT is a workbook (.xlsx), a directory of CSV sheets, or a trace, whose report is made on the fly.\n"
	       "Rows meet by name and arguments; where names differ between the runs, use 'tracelens diff'.\n");
	cli_print_options(stdout, options, cli_width());
	printf("\nexit status: 0 fine, 1 failed, 2 wrong usage, 3 unreadable input, 4 a trace was cut off,\n           "
	       "  5 nothing to compare\n");
}

/* The reports must survive their comparison. `made` may be NULL; `what` and `where` are for people. */
static int check_output(const cli_args *args, const char *made, const char *what, const char *where)
{
	char empty[64];
	if (!made)
		return CLI_OK;
	snprintf(empty, sizeof empty, "the name of the %s is empty", what);
	if (!*made)
		return cli_wrong_usage("compare", empty);
	for (size_t i = 0; i < args->n_rest; i++)
		if (cli_same_file(args->rest[i], made)) {
			cli_say("%s: this is one of the reports, the %s", made, where);
			return CLI_USAGE;
		}
	return CLI_OK;
}

static int status_of(int code)
{
	switch (code) {
	case TL_EINVAL:
	case TL_ENOTFOUND:
	case TL_EUNSUPPORTED:
		return CLI_USAGE;
	case TL_EEMPTY:
		return CLI_EMPTY;
	default:
		return cli_read_status(code);
	}
}

static int print_largest(const tl_comparison *c, const cli_args *args)
{
	static const tl_text_column columns[] = {{"name", NULL, 0},      {"report", NULL, 0},  {"baseline ms", NULL, 3},
						 {"report ms", NULL, 3}, {"diff ms", NULL, 3}, {"pct", "%", 1}};
	const tl_table *largest = tl_comparison_largest(c);
	tl_text_style style = {.width = cli_width(),
			       .colour = cli_colour(cli_text(args, "color", "auto")),
			       .rows = (size_t)cli_number(args, "top", 0)};
	tl_error err = TL_ERROR_INIT;
	char *text;
	if (!largest)
		return cli_print("No sheet that all reports have tells kernel times.\n\n");
	if (!tl_table_rows(largest))
		return cli_print("No difference of kernel time.\n\n");
	if (tl_table_text_view(&text, largest, columns, sizeof columns / sizeof *columns, &style, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	printf("Largest differences of kernel time, the baseline is ");
	cli_print_clean(stdout, tl_comparison_tag(c, 0));
	printf(":\n\n");
	int status = cli_print(text);
	free(text);
	putchar('\n');
	return status;
}

static int deliver(const tl_comparison *c, const cli_args *args, const char *workbook, const char *folder)
{
	tl_error err = TL_ERROR_INIT;
	bool quiet = cli_has(args, "quiet") || !strcmp(workbook, "-");
	int code = tl_comparison_write(c, workbook, folder, &err);
	if (code < 0)
		return cli_complain(&err, CLI_FAILED);
	if (quiet)
		return CLI_OK;
	int status = print_largest(c, args);
	if (status != CLI_OK)
		return status;
	cli_print_made("Workbook", workbook, tl_comparison_count(c) + 1, "sheets");
	if (folder)
		cli_print_made("CSV files", folder, tl_comparison_count(c), "files");
	return cli_finish_output();
}

static int compare(const cli_args *args)
{
	const cli_given *names = cli_get(args, "names"), *sheets = cli_get(args, "sheets");
	const char *workbook = cli_text(args, "output", "comparison.xlsx");
	const char *folder = cli_text(args, "output_csvs_dir", NULL);
	if (args->n_rest < 2)
		return cli_wrong_usage("compare", "at least two reports are needed");
	size_t from_stdin = 0;
	for (size_t i = 0; i < args->n_rest; i++)
		from_stdin += !strcmp(args->rest[i], "-");
	if (from_stdin > 1)
		return cli_wrong_usage("compare", "only one of the reports can be standard input");
	if (names->n && names->n != args->n_rest)
		return cli_wrong_usage("compare", "--names needs as many names as there are reports");
	int status = check_output(args, workbook, "workbook", "comparison must go to another file");
	if (status == CLI_OK)
		status = check_output(args, folder, "directory", "CSV files must go to another directory");
	if (status != CLI_OK)
		return status;

	cli_catch_interrupt();
	cli_progress progress;
	cli_progress_begin(&progress, "reports", !cli_has(args, "quiet"));
	tl_trace_options to = {.progress = cli_progress_loading, .user = &progress};
	tl_compare_options o = {
		.names = names->n ? names->values : NULL,
		.n_names = names->n,
		.sheets = sheets->values,
		.n_sheets = sheets->given ? sheets->n : 0,
		.trace = &to,
	};
	tl_error err = TL_ERROR_INIT;
	tl_comparison *c;
	int code = tl_compare_reports(&c, args->rest, args->n_rest, &o, &err);
	cli_progress_end(&progress);
	if (code == TL_ECANCELLED) {
		cli_say("interrupted, nothing was written");
		return CLI_INTERRUPTED;
	}
	if (code < 0)
		return cli_complain(&err, status_of(code));
	for (size_t i = 0; !cli_has(args, "quiet") && tl_comparison_note(c, i); i++)
		cli_say("note: %s", tl_comparison_note(c, i));
	if (cli_interrupted()) {
		cli_say("interrupted, nothing was written");
		status = CLI_INTERRUPTED;
	} else {
		status = deliver(c, args, workbook, folder);
	}
	if (status == CLI_OK && tl_comparison_is_truncated(c)) /* a note has said which one */
		status = CLI_TRUNCATED;
	tl_comparison_free(c);
	return status;
}

int cli_compare(int argc, char **argv)
{
	char error[512];
	cli_args args;
	if (cli_parse(&args, options, argc, argv, error, sizeof error) < 0)
		return cli_wrong_usage("compare", error);
	int status;
	if (cli_has(&args, "help")) {
		cli_compare_help();
		status = cli_finish_output();
	} else {
		status = compare(&args);
	}
	cli_args_free(&args);
	return status;
}
