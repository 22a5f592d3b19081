/* SPDX-License-Identifier: MIT */
/**
 * @file session.h
 * What the commands that look into one trace share: their common options, opening the trace and building the tree,
 * and printing one table in the form that was asked for.
 */
#ifndef TL_CLI_SESSION_H
#define TL_CLI_SESSION_H

#include "cli.h"

/** Options of every such command; to be listed at the end of their tables. */
#define CLI_SESSION_OPTIONS                                                                                         \
	{.name = "clip_stream_overruns",                                                                            \
	 .kind = CLI_FLAG,                                                                                          \
	 .help = "end GPU events that overrun the next one on their stream by 1 ms or more where that one starts"}, \
		{.name = "format",                                                                                  \
		 .kind = CLI_CHOICE,                                                                                \
		 .choices = cli_formats,                                                                            \
		 .group = "output and behaviour",                                                                   \
		 .help = "text for people (default), csv or json"},                                                 \
		{.name = "strict",                                                                                  \
		 .kind = CLI_FLAG,                                                                                  \
		 .group = "output and behaviour",                                                                   \
		 .help = "refuse a trace that needs a repair (status 6)"},                                          \
		{.name = "color",                                                                                   \
		 .kind = CLI_CHOICE,                                                                                \
		 .choices = cli_colours,                                                                            \
		 .group = "output and behaviour",                                                                   \
		 .help = "colours in text (auto: on a terminal, unless NO_COLOR is set)"},                          \
		{.name = "single-thread",                                                                           \
		 .kind = CLI_FLAG,                                                                                  \
		 .group = "output and behaviour",                                                                   \
		 .help = "use one thread only"},                                                                    \
		{.name = "quiet",                                                                                   \
		 .letter = 'q',                                                                                     \
		 .kind = CLI_FLAG,                                                                                  \
		 .group = "output and behaviour",                                                                   \
		 .help = "no progress, no remarks on standard error"},                                              \
		{.name = "help",                                                                                    \
		 .letter = 'h',                                                                                     \
		 .kind = CLI_FLAG,                                                                                  \
		 .group = "output and behaviour",                                                                   \
		 .help = "print this help"},                                                                        \
	{                                                                                                           \
		0                                                                                                   \
	}
/** For cli_read_arch. */
#define CLI_ARCH_OPTIONS                                                                                      \
	{.name = "gpu_arch_platform",                                                                         \
	 .kind = CLI_TEXT,                                                                                    \
	 .value = "NAME",                                                                                     \
	 .help = "add rooflines for this GPU: MI300X, MI325X, MI355X, MI250X, H100_SXM, H200, B200 or A100"}, \
	{                                                                                                     \
		.name = "gpu_arch_json_path", .kind = CLI_TEXT, .value = "FILE",                              \
		.help = "add rooflines for the GPU that this JSON file describes"                             \
	}

extern const char *const cli_formats[], *const cli_colours[];

typedef enum cli_format { CLI_FORMAT_TEXT, CLI_FORMAT_CSV, CLI_FORMAT_JSON } cli_format;
/** What --format asks for; text when it was not given. */
cli_format cli_format_of(const cli_args *args);

/** What a command needs of the trace. Zero-initialise. */
typedef struct cli_need {
	bool python;   /* Python frames in the tree */
	bool raw;      /* whole events */
	bool unlinked; /* GPU events without a launch count in the timeline */
} cli_need;

typedef struct cli_session {
	const cli_args *args;
	const char *path;
	cli_format format;
	bool quiet;
	tl_trace *trace;
	tl_tree *tree;
	tl_analyzer *analyzer;
	tl_arch *arch;
	cli_progress progress;
} cli_session;

/** What is particular to a command. */
typedef struct cli_work {
	const char *command;
	const cli_option *options;
	void (*help)(void);
	/** What is needed; a cli_status, as some options make no sense together. May be NULL: nothing. */
	int (*prepare)(const cli_args *args, cli_need *need);
	int (*work)(cli_session *session);
} cli_work;
/**
 * Runs a command: parses its options, answers --help, opens the trace and calls `work`, which returns a cli_status.
 * Says what is wrong with the trace and returns the status for it.
 */
int cli_run_session(const cli_work *work, int argc, char **argv);

/** Prints a table: with `columns` as text, or as CSV or JSON with all of its columns. Returns a cli_status. */
int cli_print_table(const cli_session *session, const tl_table *table, const tl_text_column *columns, size_t n,
		    size_t rows);
/** A tl_write_fn to standard output. */
int cli_write(void *unused, const char *text, size_t n);
/** Nothing was there to analyse: says why, on one line. Returns CLI_EMPTY, or CLI_TRUNCATED for a cut-off file. */
int cli_nothing(const cli_session *session, const char *what);

/** The event of --uid; a cli_status: CLI_USAGE and a line for a UID that the trace does not have. */
int cli_read_uid(tl_row *out, const cli_session *session);
/**
 * "; did you mean 'aten::mm'?" when one of `n` names is like `wrong` ("aten::mn", "mm"), else "". Names may be NULL.
 * Written into `out`.
 */
const char *cli_did_you_mean(char out[CLI_SENTENCE], const char *wrong, const char *const *names, size_t n);
/** The same of the names of a tree's nodes; `modules`: of its nn.Modules. */
const char *cli_did_you_mean_node(char out[CLI_SENTENCE], const char *wrong, const tl_tree *tree, bool modules);

/** Without a format word: says what a file is that cannot be read yet. Returns a cli_status. */
int cli_check_format(const char *path);
/** Under --strict: whether building the tree had to repair something, which loading could not see. */
int cli_check_strict(const tl_table *health, const char *path);
/** The same of a session's trace, when --strict was given. */
int cli_refuse_repairs(const cli_session *session);
/** The GPU of the rooflines, when one was asked for; `*out` is freed with tl_arch_free. Returns a cli_status. */
int cli_read_arch(tl_arch **out, const cli_args *args, const char *command);

#endif
