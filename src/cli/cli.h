/* SPDX-License-Identifier: MIT */
/** @file cli.h What the subcommands share: exit statuses, messages, progress. */
#ifndef TL_CLI_CLI_H
#define TL_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>
#include <tracelens/tracelens.h>

#include "options.h"

/** Exit statuses; the man page lists them, scripts rely on them. */
enum cli_status {
	CLI_OK = 0,
	CLI_FAILED = 1,     /* no memory, cannot write, an error of the program */
	CLI_USAGE = 2,      /* wrong command line, or something that is not available yet */
	CLI_UNREADABLE = 3, /* nothing could be read from the input */
	CLI_TRUNCATED = 4,  /* the input is cut off; what it holds was reported */
	CLI_EMPTY = 5,      /* nothing to analyse */
	CLI_STRICT = 6,     /* --strict, and the input needed a repair */
	CLI_INTERRUPTED = 130
};

/** A subcommand: argv[0..argc) behind its name. Returns a cli_status. */
typedef int (*cli_run)(int argc, char **argv);
typedef struct cli_command {
	const char *name, *summary; /* one line for the list */
	cli_run run;
	void (*help)(void); /* prints on standard output */
} cli_command;

int cli_report(int argc, char **argv);
int cli_report_pytorch(int argc, char **argv);
void cli_report_help(void);
int cli_timeline(int argc, char **argv);
void cli_timeline_help(void);
int cli_ops(int argc, char **argv);
void cli_ops_help(void);
int cli_roofline(int argc, char **argv);
void cli_roofline_help(void);
int cli_tree(int argc, char **argv);
void cli_tree_help(void);
int cli_modules(int argc, char **argv);
void cli_modules_help(void);
int cli_compare(int argc, char **argv);
void cli_compare_help(void);
int cli_diff(int argc, char **argv);
void cli_diff_help(void);
int cli_health(int argc, char **argv);
void cli_health_help(void);
int cli_model(int argc, char **argv);
void cli_model_help(void);

/* ---- terminal.c ---- */

/** "tracelens: " and the message as one line on standard error. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Prints a text from outside, such as the name of a file: what would move the cursor is replaced. */
void cli_print_clean(FILE *out, const char *text);
/** "Workbook: PATH (7 sheets)" on standard output; nothing in brackets when `n` is 0. */
void cli_print_made(const char *what, const char *path, size_t n, const char *unit);
/** As cli_say, of an error: "tracelens: file: what". Returns `status`. */
int cli_complain(const tl_error *err, int status);
/** Wrong usage: the message, and where help is. Returns CLI_USAGE. */
int cli_wrong_usage(const char *command, const char *message);
/** Whether both names are there and mean one file or directory: what is read must survive. */
bool cli_same_file(const char *a, const char *b);
/** Exit status for an error while reading. */
int cli_read_status(int code);
/** Columns of the terminal on standard output (COLUMNS, then the terminal, then 80). */
int cli_width(void);
/** Whether standard output shall be coloured; `choice` is auto, always or never. */
bool cli_colour(const char *choice);
/** Prints text on standard output, completely; CLI_OK or CLI_FAILED with a message. */
int cli_print(const char *text);
/** Bytes for cli_ambiguous. */
#define CLI_SENTENCE 256
/** "N GPU events left out because several processes use the same correlation ids ..." */
const char *cli_ambiguous(char out[CLI_SENTENCE], size_t events, tl_time time);
/** Flushes standard output; CLI_OK or CLI_FAILED with a message. */
int cli_finish_output(void);

/** Progress on standard error, shown when that is a terminal and the work takes over a second. */
typedef struct cli_progress {
	bool enabled, shown;
	double began;
	const char *name; /* of the file */
} cli_progress;
void cli_progress_begin(cli_progress *p, const char *name, bool enabled);
/** A tl_progress_fn; stops after an interrupt. */
int cli_progress_loading(void *progress, uint64_t done, uint64_t total);
/** Says what goes on now. */
void cli_progress_step(cli_progress *p, const char *what);
/** Takes the line away. */
void cli_progress_end(cli_progress *p);

/* ---- extensions.c ---- */

/** The files given by --extension_file. */
typedef struct cli_extensions {
	size_t n;
	tl_extension **items;
	const tl_hook **hooks; /* of each */
	bool *quiet;           /* what they print is not shown */
} cli_extensions;
/** Reads the files; CLI_OK, or complains. Zero-initialised or opened, `out` is freed by cli_extensions_free. */
int cli_extensions_open(cli_extensions *out, const cli_args *args, bool quiet);
/** Says what models could not evaluate. */
void cli_extensions_notes(cli_extensions *extensions);
void cli_extensions_free(cli_extensions *extensions);

/** Makes the first Ctrl-C end the work at the next safe place, the second at once. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

#endif
