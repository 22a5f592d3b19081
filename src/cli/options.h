/* SPDX-License-Identifier: MIT */
/**
 * @file options.h
 * Command lines from tables. getopt cannot do what the flags of this program need: several values
 * of one option (`--names a b`), `--flag=value`, any unique prefix of a name (`--enable_k`), '_' and
 * '-' as the same letter, negative numbers as values.
 */
#ifndef TL_CLI_OPTIONS_H
#define TL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** What follows an option. */
typedef enum cli_kind {
	CLI_FLAG,   /* nothing */
	CLI_TEXT,   /* one value */
	CLI_INT,    /* a whole number of at least `min` */
	CLI_NUMBER, /* a number of at least `min` */
	CLI_CHOICE, /* one of `choices` */
	CLI_TEXTS   /* one or more values */
} cli_kind;

/** One option. Tables end with a zeroed entry. */
typedef struct cli_option {
	const char *name; /* without the dashes */
	char letter;      /* short form, or 0 */
	cli_kind kind;
	const char *value; /* what the value is called in the help */
	const char *help;
	const char *group;          /* headline in the help; options of one group stand together */
	const char *const *choices; /* CLI_CHOICE: NULL-terminated */
	double min;
	bool may_be_empty; /* CLI_TEXTS: without a value it is as if it had not been given */
} cli_option;

/** What was given for one option. */
typedef struct cli_given {
	bool given;
	size_t n; /* values; the last one counts where only one is wanted */
	const char **values;
	double number; /* CLI_INT, CLI_NUMBER: the last value */
} cli_given;

/** A parsed command line; texts belong to argv. Free with cli_args_free. */
typedef struct cli_args {
	const cli_option *options;
	cli_given *given; /* as many as options */
	size_t n_rest;    /* positional arguments */
	const char **rest;
} cli_args;

/**
 * Parses argv[0..argc) (without the program's name). Returns 0, or -1 with a line for people in `error`.
 */
int cli_parse(cli_args *out, const cli_option *options, int argc, char **argv, char *error, size_t size);
void cli_args_free(cli_args *args);

/** What was given for the option of this name, which must be in the table. */
const cli_given *cli_get(const cli_args *args, const char *name);
bool cli_has(const cli_args *args, const char *name);
/** The value, or `otherwise` when the option was not given. */
const char *cli_text(const cli_args *args, const char *name, const char *otherwise);
double cli_number(const cli_args *args, const char *name, double otherwise);

/** Prints the options, group by group, in lines of at most `width` columns. */
void cli_print_options(FILE *out, const cli_option *options, int width);

/** The word of the NULL-terminated list that is nearest to `word` when it is near enough to be meant, or NULL. */
const char *cli_nearest(const char *word, const char *const *words);

#endif
