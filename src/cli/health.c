/* SPDX-License-Identifier: MIT */
/* tracelens health: the trace_health table, without a report. */
#include <string.h>

#include "cli.h"

static const cli_option options[] = {
	{.name = "output_csv_path", .kind = CLI_TEXT, .value = "FILE", .help = "write the table as CSV instead"},
	{.name = "single-thread", .kind = CLI_FLAG, .help = "use one thread only"},
	{.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "no progress"},
	{.name = "help", .letter = 'h', .kind = CLI_FLAG, .help = "print this help"},
	{0},
};

void cli_health_help(void)
{
	printf("usage: tracelens health [OPTION ...] TRACE\n\n"
	       "Lists what was repaired in a trace or is doubtful about it: number, kind, meaning, first place.\n");
	cli_print_options(stdout, options, cli_width());
}

/* text of a cell with control characters taken out, as names come from the trace */
static void print_cell(const tl_table *table, const char *column, size_t row)
{
	char text[1024];
	ptrdiff_t c = tl_table_find_column(table, column);
	if (c < 0)
		return;
	tl_table_text(table, (size_t)c, row, text, sizeof text);
	for (char *p = text; *p; p++)
		putchar((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
}

static int print_findings(const tl_table *table)
{
	size_t rows = tl_table_rows(table);
	if (!rows)
		printf("Nothing to report: the trace needed no repair.\n");
	for (size_t r = 0; r < rows; r++) {
		print_cell(table, "count", r);
		printf(" x ");
		print_cell(table, "kind", r);
		printf(": ");
		print_cell(table, "meaning", r);
		ptrdiff_t byte = tl_table_find_column(table, "first byte"),
			  uid = tl_table_find_column(table, "first UID");
		if (byte >= 0 && !tl_table_is_null(table, (size_t)byte, r))
			printf(" [first at byte %lld]", (long long)tl_table_int(table, (size_t)byte, r));
		else if (uid >= 0 && !tl_table_is_null(table, (size_t)uid, r))
			printf(" [first UID %lld]", (long long)tl_table_int(table, (size_t)uid, r));
		putchar('\n');
	}
	return cli_finish_output();
}

static int check(const cli_args *args)
{
	const char *path = args->rest[0];
	cli_progress progress;
	cli_progress_begin(&progress, path, !cli_has(args, "quiet"));
	tl_trace_options to = {
		.single_thread = cli_has(args, "single-thread"), .progress = cli_progress_loading, .user = &progress};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	tl_table *table = NULL;
	int code = tl_trace_open(&trace, path, &to, &err);
	int status = code < 0 ? cli_read_status(code) : CLI_OK;
	if (code == 0) {
		/* links and nesting are looked at when the tree is built; frames are nodes, so that theirs is, too */
		code = tl_tree_build(&tree, trace, &(tl_tree_options){.with_python = true}, &err);
		if (code == 0)
			code = tl_tree_health(&table, tree, &err);
		if (code < 0)
			status = CLI_FAILED;
	}
	cli_progress_end(&progress);
	const char *csv = cli_text(args, "output_csv_path", NULL);
	if (code == 0 && csv) {
		code = tl_table_write_csv(table, csv, &err);
		status = code < 0 ? CLI_FAILED : CLI_OK;
	} else if (code == 0) {
		status = print_findings(table);
	}
	if (code < 0)
		cli_complain(&err, status);
	else if (status == CLI_OK && tl_trace_is_truncated(trace))
		status = CLI_TRUNCATED;
	tl_table_free(table);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return status;
}

int cli_health(int argc, char **argv)
{
	char error[512];
	cli_args args;
	if (cli_parse(&args, options, argc, argv, error, sizeof error) < 0)
		return cli_wrong_usage("health", error);
	int status;
	if (cli_has(&args, "help")) {
		cli_health_help();
		status = cli_finish_output();
	} else if (args.n_rest != 1) {
		status = cli_wrong_usage("health", args.n_rest ? "one trace at a time" : "which trace?");
	} else if (!*cli_text(&args, "output_csv_path", "-")) {
		status = cli_wrong_usage("health", "the name of an output is empty");
	} else {
		cli_catch_interrupt();
		status = check(&args);
	}
	cli_args_free(&args);
	return status;
}
