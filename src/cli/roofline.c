/* SPDX-License-Identifier: MIT */
/* tracelens roofline: FLOPs, bytes and rates of operations that have a model. */
#include <string.h>

#include "session.h"

static const cli_option options[] = {
	{.name = "category",
	 .kind = CLI_TEXT,
	 .value = "FAMILY",
	 .help = "only this family of operations: GEMM, SDPA, CONV, ...; without it all that have events"},
	{.name = "backward", .kind = CLI_FLAG, .help = "backward passes of forward operations"},
	{.name = "calls", .kind = CLI_FLAG, .help = "one row per call instead of a summary by parameters"},
	{.name = "top", .kind = CLI_INT, .value = "N", .min = 1, .help = "show the N first rows of each family"},
	CLI_ARCH_OPTIONS,
	CLI_SESSION_OPTIONS,
};

void cli_roofline_help(void)
{
	printf("usage: tracelens roofline [OPTION ...] TRACE\n\n"
	       "Computes FLOPs and bytes of operations from their arguments and sets them against the time that their\n"
	       "kernels took. CSV holds one table: choose its family with --category.\n");
	cli_print_options(stdout, options, cli_width());
}

static int prepare(const cli_args *args, cli_need *need)
{
	(void)need;
	if (!cli_has(args, "category") && !strcmp(cli_text(args, "format", "text"), "csv"))
		return cli_wrong_usage("roofline", "CSV holds one table: choose its family with --category");
	return CLI_OK;
}

/* Parameters of a family as columns of text, in front of the figures; some have thirty. */
enum { MOST_COLUMNS = 16, MOST_PARAMETERS = 4 };

static size_t text_columns(const tl_table *table, const char *family, bool calls, tl_text_column *out)
{
	static const tl_text_column sums[] = {
		{"name_count", "count", 0},         {"Kernel Time (\xc2\xb5s)_sum", "\xc2\xb5s", 3},
		{"TFLOPS/s_mean", "TFLOPS/s", 2},   {"TB/s_mean", "TB/s", 3},
		{"FLOPS/Byte_first", "FLOPS/B", 2}, {"Pct Roofline_mean", "% roof", 1}};
	static const tl_text_column single[] = {{"UID", "UID", 0},
						{"Kernel Time (\xc2\xb5s)", "\xc2\xb5s", 3},
						{"TFLOPS/s", "TFLOPS/s", 2},
						{"TB/s", "TB/s", 3},
						{"FLOPS/Byte", "FLOPS/B", 2},
						{"Pct Roofline", "% roof", 1}};
	static const char prefix[] = "param: ";
	size_t n = 0, parameters = 0;
	out[n++] = (tl_text_column){"name", family, 0};
	for (size_t c = 0; c < tl_table_columns(table) && parameters < MOST_PARAMETERS; c++) {
		const char *name = tl_table_column_name(table, c);
		if (strncmp(name, prefix, sizeof prefix - 1) != 0)
			continue;
		out[n++] = (tl_text_column){name, name + sizeof prefix - 1, 0};
		parameters++;
	}
	for (size_t i = 0; i < 6; i++) {
		const tl_text_column *column = calls ? &single[i] : &sums[i];
		if (tl_table_find_column(table, column->column) >= 0)
			out[n++] = *column;
	}
	return n;
}

/* The table of one family; *out is NULL when it has no events. */
static int make_table(cli_session *s, const char *family, tl_table **out, tl_error *err)
{
	static const tl_statistic all[] = {TL_STAT_MEAN, TL_STAT_MEDIAN, TL_STAT_STD, TL_STAT_MIN, TL_STAT_MAX};
	static const tl_stat_options so = {.statistics = all, .n_statistics = 5, .truncated = true};
	tl_metrics_options mo = {.backward = cli_has(s->args, "backward"), .kernel_details = true, .arguments = true};
	tl_table *metrics;
	*out = NULL;
	int code = tl_analyzer_family_metrics(&metrics, s->analyzer, family, &mo, err);
	if (code < 0)
		return code;
	if (cli_has(s->args, "calls") || !tl_table_rows(metrics)) {
		*out = metrics;
		return 0;
	}
	code = tl_metrics_summary(out, metrics, &so, err);
	tl_table_free(metrics);
	return code;
}

static int no_such_family(const cli_session *s, const char *family)
{
	enum { MOST = 256 };
	const char *names[MOST], *name;
	char near[CLI_SENTENCE];
	size_t n = 0;
	for (; n < MOST && (name = tl_analyzer_family(s->analyzer, n)) != NULL; n++)
		names[n] = name;
	if (*cli_did_you_mean(near, family, names, n)) {
		cli_say("there is no family of operations '%s'%s", family, near);
		return CLI_USAGE;
	}
	char list[1024];
	size_t at = 0;
	for (size_t i = 0; i < n && at < sizeof list; i++)
		at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", names[i]);
	cli_say("there is no family of operations '%s'; there are %s", family, list);
	return CLI_USAGE;
}

static int print_family(cli_session *s, const char *family, bool always, size_t *shown)
{
	tl_text_column columns[MOST_COLUMNS];
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	int code = make_table(s, family, &table, &err);
	if (code < 0)
		return code == TL_ENOTFOUND ? no_such_family(s, family) : cli_complain(&err, CLI_FAILED);
	int status = CLI_OK;
	bool rows = tl_table_rows(table) > 0;
	if (rows || (always && s->format != CLI_FORMAT_TEXT)) {
		if (*shown && s->format == CLI_FORMAT_TEXT)
			status = cli_print("\n");
		else if (*shown)
			status = cli_print(",");
		size_t n = text_columns(table, family, cli_has(s->args, "calls"), columns);
		if (status == CLI_OK)
			status = cli_print_table(s, table, columns, n, (size_t)cli_number(s->args, "top", 0));
	}
	*shown += rows;
	tl_table_free(table);
	return status;
}

static int work(cli_session *s)
{
	const char *family = cli_text(s->args, "category", NULL);
	size_t shown = 0;
	int status = CLI_OK;
	if (family) {
		status = print_family(s, family, true, &shown);
	} else {
		bool list = s->format == CLI_FORMAT_JSON;
		if (list)
			status = cli_print("[");
		for (size_t i = 0; status == CLI_OK && (family = tl_analyzer_family(s->analyzer, i)) != NULL; i++)
			status = print_family(s, family, false, &shown);
		if (list && status == CLI_OK)
			status = cli_print("]\n");
	}
	if (status == CLI_OK)
		status = cli_finish_output();
	if (status == CLI_OK && !shown)
		status = cli_nothing(s, "no operation with a model here");
	return status;
}

int cli_roofline(int argc, char **argv)
{
	static const cli_work command = {"roofline", options, cli_roofline_help, prepare, work};
	return cli_run_session(&command, argc, argv);
}
