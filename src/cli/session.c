/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *const cli_formats[] = {"text", "csv", "json", NULL};
const char *const cli_colours[] = {"auto", "always", "never", NULL};

/* ---- what reports check, too ---- */

int cli_check_format(const char *path)
{
	static const char *const others[] = {
		[TL_FORMAT_ROCPROF] = "a rocprofv3 trace",
		[TL_FORMAT_XPLANE] = "a JAX (xplane) trace",
		[TL_FORMAT_PERFETTO] = "a protobuf file, maybe a Perfetto trace",
		[TL_FORMAT_ROCPD] = "an SQLite database, maybe of rocprofv3",
	};
	tl_format format;
	tl_error err = TL_ERROR_INIT;
	if (!strcmp(path, "-"))
		return CLI_OK;
	int code = tl_format_detect(&format, path, &err);
	if (code < 0)
		return cli_complain(&err, cli_read_status(code));
	if (format == TL_FORMAT_PYTORCH || format == TL_FORMAT_UNKNOWN)
		return CLI_OK; /* the importer says best why it cannot read something */
	cli_say("%s: this is %s; reports of that format are not available yet", path, others[format]);
	return CLI_UNREADABLE;
}

int cli_check_strict(const tl_table *health, const char *path)
{
	ptrdiff_t repair = health ? tl_table_find_column(health, "repair") : -1;
	ptrdiff_t kind = health ? tl_table_find_column(health, "kind") : -1;
	ptrdiff_t count = health ? tl_table_find_column(health, "count") : -1;
	if (repair < 0 || kind < 0 || count < 0)
		return CLI_OK;
	for (size_t r = 0; r < tl_table_rows(health); r++) {
		if (!tl_table_int(health, (size_t)repair, r))
			continue;
		char text[64];
		tl_table_text(health, (size_t)kind, r, text, sizeof text);
		cli_say("%s: refused by --strict: %lld x %s ('tracelens health' lists all findings)", path,
			(long long)tl_table_int(health, (size_t)count, r), text);
		return CLI_STRICT;
	}
	return CLI_OK;
}

int cli_read_arch(tl_arch **out, const cli_args *args, const char *command)
{
	const char *platform = cli_text(args, "gpu_arch_platform", NULL);
	const char *path = cli_text(args, "gpu_arch_json_path", NULL);
	tl_error err = TL_ERROR_INIT;
	*out = NULL;
	if (platform && path)
		return cli_wrong_usage(command, "--gpu_arch_platform and --gpu_arch_json_path exclude each other");
	int code = platform ? tl_arch_find(out, platform, &err) : path ? tl_arch_load(out, path, &err) : 0;
	return code < 0 ? cli_complain(&err, code == TL_ENOMEM ? CLI_FAILED : CLI_USAGE) : CLI_OK;
}

/* ---- opening ---- */

static bool has_option(const cli_option *options, const char *name)
{
	for (; options->name; options++)
		if (!strcmp(options->name, name))
			return true;
	return false;
}

int cli_refuse_repairs(const cli_session *s)
{
	tl_table *health;
	tl_error err = TL_ERROR_INIT;
	if (!cli_has(s->args, "strict"))
		return CLI_OK;
	if (tl_tree_health(&health, s->tree, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	int status = cli_check_strict(health, s->path);
	tl_table_free(health);
	return status;
}

static int open_trace(cli_session *s, const cli_need *need)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace_options to = {.strict = cli_has(s->args, "strict"),
			       .single_thread = cli_has(s->args, "single-thread"),
			       .keep_raw = need->raw,
			       .progress = cli_progress_loading,
			       .user = &s->progress};
	int status = cli_check_format(s->path);
	if (status != CLI_OK)
		return status;
	int code = tl_trace_open(&s->trace, s->path, &to, &err);
	if (code < 0) {
		cli_progress_end(&s->progress);
		if (code == TL_ECANCELLED)
			cli_say("interrupted");
		else
			cli_complain(&err, cli_read_status(code));
		return cli_read_status(code);
	}
	cli_progress_step(&s->progress, "analysing");
	code = tl_tree_build(&s->tree, s->trace,
			     &(tl_tree_options){.with_python = need->python,
						.clip_stream_overruns = cli_has(s->args, "clip_stream_overruns")},
			     &err);
	tl_analyzer_options ao = {.include_unlinked = need->unlinked, .arch = s->arch};
	if (code == 0)
		code = tl_analyzer_new(&s->analyzer, s->tree, &ao, &err);
	if (code < 0)
		return cli_complain(&err, CLI_FAILED);
	return cli_refuse_repairs(s);
}

static void close_session(cli_session *s)
{
	cli_progress_end(&s->progress);
	tl_analyzer_free(s->analyzer);
	tl_tree_free(s->tree);
	tl_trace_free(s->trace);
	tl_arch_free(s->arch);
}

cli_format cli_format_of(const cli_args *args)
{
	const char *text = cli_text(args, "format", "text");
	return !strcmp(text, "csv") ? CLI_FORMAT_CSV : !strcmp(text, "json") ? CLI_FORMAT_JSON : CLI_FORMAT_TEXT;
}

static int run(const cli_work *work, const cli_args *args)
{
	cli_need need = {0};
	if (args->n_rest != 1)
		return cli_wrong_usage(work->command,
				       args->n_rest ? "one trace at a time" : "which trace? give its path");
	cli_session s = {
		.args = args, .path = args->rest[0], .format = cli_format_of(args), .quiet = cli_has(args, "quiet")};
	int status = work->prepare ? work->prepare(args, &need) : CLI_OK;
	if (status == CLI_OK && has_option(work->options, "gpu_arch_platform"))
		status = cli_read_arch(&s.arch, args, work->command);
	if (status != CLI_OK)
		return status;
	cli_catch_interrupt();
	cli_progress_begin(&s.progress, s.path, !s.quiet);
	status = open_trace(&s, &need);
	cli_progress_end(&s.progress);
	if (status == CLI_OK)
		status = work->work(&s);
	if ((status == CLI_OK || status == CLI_EMPTY) && cli_interrupted()) {
		cli_say("interrupted");
		status = CLI_INTERRUPTED;
	}
	if (status == CLI_OK && tl_trace_is_truncated(s.trace)) {
		cli_say("%s: the file is cut off; this covers what is there", s.path);
		status = CLI_TRUNCATED;
	}
	close_session(&s);
	return status;
}

int cli_run_session(const cli_work *work, int argc, char **argv)
{
	char error[512];
	cli_args args;
	if (cli_parse(&args, work->options, argc, argv, error, sizeof error) < 0)
		return cli_wrong_usage(work->command, error);
	int status;
	if (cli_has(&args, "help")) {
		work->help();
		status = cli_finish_output();
	} else {
		status = run(work, &args);
	}
	cli_args_free(&args);
	return status;
}

/* ---- printing ---- */

/* Names come from the trace: on a terminal none of them may steer it. In files and pipes they stay as they are. */
int cli_write(void *unused, const char *text, size_t n)
{
	(void)unused;
	if (!isatty(STDOUT_FILENO))
		return fwrite(text, 1, n, stdout) == n ? 0 : 1;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		if (putchar((c < ' ' && c != '\n') || c == 0x7f ? '?' : c) == EOF)
			return 1;
	}
	return 0;
}

int cli_nothing(const cli_session *s, const char *what)
{
	char text[CLI_SENTENCE];
	tl_time time;
	size_t ambiguous = tl_tree_ambiguous(s->tree, &time);
	bool cut_off = tl_trace_is_truncated(s->trace);
	cli_say("%s: %s%s", s->path, cut_off ? "the file is cut off; in what is there: " : "",
		ambiguous ? cli_ambiguous(text, ambiguous, time) : what);
	return cut_off ? CLI_TRUNCATED : CLI_EMPTY;
}

int cli_read_uid(tl_row *out, const cli_session *s)
{
	double uid = cli_number(s->args, "uid", 0);
	size_t count = tl_trace_count(s->trace);
	*out = TL_ROW_NONE;
	if (uid >= (double)count) {
		cli_say("%s: there is no event with UID %.0f; the trace has %zu events", s->path, uid, count);
		return CLI_USAGE;
	}
	*out = (tl_row)uid;
	return CLI_OK;
}

/* ---- names that are like one that is not there ---- */

/* What comes in front of the part of a name that people remember: "aten::mm", "nn.Module: Linear_0". */
static const char *last_part(const char *name)
{
	static const char *const marks[] = {"::", "nn.Module: "};
	for (size_t i = 0; i < 2; i++) {
		const char *found = strstr(name, marks[i]);
		if (found)
			name = found + strlen(marks[i]);
	}
	return name;
}

/* The one of `n` words that is meant; `parts` has room for n + 1. */
static const char *meant(const char *wrong, const char **words, const char **parts, size_t n)
{
	const char *part = last_part(wrong);
	for (size_t i = 0; i < n; i++) {
		parts[i] = last_part(words[i]);
		if (*part && !strcasecmp(parts[i], part))
			return words[i];
	}
	const char *near = *wrong ? cli_nearest(wrong, words) : NULL;
	if (near || !*part)
		return near;
	near = cli_nearest(part, parts);
	for (size_t i = 0; near && i < n; i++)
		if (parts[i] == near)
			return words[i];
	return NULL;
}

const char *cli_did_you_mean(char out[CLI_SENTENCE], const char *wrong, const char *const *names, size_t n)
{
	const char **words = calloc(2 * (n + 1), sizeof *words);
	size_t known = 0;
	out[0] = '\0';
	for (size_t i = 0; words && i < n; i++)
		if (names[i])
			words[known++] = names[i];
	const char *best = words ? meant(wrong, words, words + n + 1, known) : NULL;
	if (best)
		snprintf(out, CLI_SENTENCE, "; did you mean '%.200s'?", best);
	free((void *)words);
	return out;
}

const char *cli_did_you_mean_node(char out[CLI_SENTENCE], const char *wrong, const tl_tree *tree, bool modules)
{
	size_t n = 0, count;
	const tl_row *nodes;
	out[0] = '\0';
	if (tl_tree_name_count(&n, tree, NULL) < 0)
		return out;
	const char **names = calloc(n + 1, sizeof *names);
	for (size_t i = 0; names && i < n; i++)
		if (tl_tree_name_get(&names[i], &nodes, &count, tree, i, NULL) == 0 && modules &&
		    !tl_tree_is_module(tree, nodes[0]))
			names[i] = NULL;
	if (names)
		cli_did_you_mean(out, wrong, names, n);
	free((void *)names);
	return out;
}

/* ---- tables ---- */

static int print_json(const tl_table *table)
{
	tl_error err = TL_ERROR_INIT;
	char *text;
	size_t n;
	if (tl_table_json(table, &text, &n, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	cli_write(NULL, text, n);
	free(text);
	return cli_print("\n");
}

int cli_print_table(const cli_session *s, const tl_table *table, const tl_text_column *columns, size_t n, size_t rows)
{
	tl_error err = TL_ERROR_INIT;
	char *text;
	if (s->format == CLI_FORMAT_JSON)
		return print_json(table);
	if (s->format == CLI_FORMAT_CSV) {
		int code = tl_table_write_csv(table, "-", &err);
		return code < 0 ? cli_complain(&err, CLI_FAILED) : cli_finish_output();
	}
	tl_text_style style = {
		.width = cli_width(), .colour = cli_colour(cli_text(s->args, "color", "auto")), .rows = rows};
	if (tl_table_text_view(&text, table, columns, n, &style, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	int status = cli_print(text);
	free(text);
	return status;
}
