/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int fail(char *error, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(char *error, size_t size, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(error, size, format, args);
	va_end(args);
	return -1;
}

/* ---- names ---- */

/* the reference writes most names with '_' and one with '-'; nobody should have to remember which */
static char same_letter(char c)
{
	return c == '_' ? '-' : c;
}

/* whether `text` of `n` bytes begins `name`; sets *exact when it is all of it */
static bool begins(const char *text, size_t n, const char *name, bool *exact)
{
	for (size_t i = 0; i < n; i++)
		if (!name[i] || same_letter(text[i]) != same_letter(name[i]))
			return false;
	*exact = !name[n];
	return true;
}

static size_t count(const cli_option *options)
{
	size_t n = 0;
	while (options[n].name)
		n++;
	return n;
}

enum { LONGEST_WORD = 64 };

/* The edit distance of two words; more than any there is when one of them is longer than LONGEST_WORD. */
static size_t distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), row[LONGEST_WORD + 1];
	if (na > LONGEST_WORD || nb > LONGEST_WORD)
		return LONGEST_WORD + 1;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = same_letter(a[i - 1]) == same_letter(b[j - 1]);
			size_t best = diagonal + (same ? 0 : 1);
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[nb];
}

/* how many letters may differ before a suggestion would rather confuse */
static size_t near_enough(const char *word)
{
	return 1 + strlen(word) / 4;
}

const char *cli_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	size_t least = near_enough(word) + 1;
	for (size_t i = 0; words[i]; i++) {
		size_t d = distance(word, words[i]);
		if (d < least) {
			least = d;
			best = words[i];
		}
	}
	return best;
}

static int unknown(const cli_option *options, const char *name, char *error, size_t size)
{
	const char *best = NULL;
	size_t least = near_enough(name) + 1;
	for (size_t i = 0; options[i].name; i++) {
		size_t d = distance(name, options[i].name);
		/* a word out of the middle ("--kernel_summary") is far away by letters and yet what was meant */
		if (d >= least && strlen(name) >= 5 && strstr(options[i].name, name))
			d = least - 1;
		if (d < least) {
			least = d;
			best = options[i].name;
		}
	}
	if (best)
		return fail(error, size, "unknown option --%s; did you mean --%s?", name, best);
	return fail(error, size, "unknown option --%s", name);
}

/* index of the option that `name` of `n` bytes means, or -1 */
static ptrdiff_t find_long(const cli_option *options, const char *name, size_t n, char *error, size_t size)
{
	ptrdiff_t found = -1;
	char matches[256] = "";
	size_t n_matches = 0;
	for (size_t i = 0; n && options[i].name; i++) {
		bool exact;
		if (!begins(name, n, options[i].name, &exact))
			continue;
		if (exact)
			return (ptrdiff_t)i;
		found = (ptrdiff_t)i;
		size_t used = strlen(matches);
		snprintf(matches + used, sizeof matches - used, "%s--%s", n_matches++ ? ", " : "", options[i].name);
	}
	if (n_matches > 1)
		return fail(error, size, "--%.*s could be any of %s", (int)n, name, matches);
	if (n_matches == 1)
		return found;
	char word[128];
	snprintf(word, sizeof word, "%.*s", (int)n, name);
	return unknown(options, word, error, size);
}

/* ---- values ---- */

static bool read_number(const char *text, double *out)
{
	char *end;
	if (!*text || isspace((unsigned char)*text))
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

/* "-" is a file name and "-5" a number; all else that begins with a dash is an option */
static bool looks_like_option(const char *text)
{
	double number;
	return text[0] == '-' && text[1] && !read_number(text, &number);
}

static int check_value(const cli_option *o, const char *text, cli_given *given, char *error, size_t size)
{
	if (o->kind == CLI_CHOICE) {
		for (size_t i = 0; o->choices[i]; i++)
			if (!strcmp(o->choices[i], text))
				return 0;
		char list[128] = "";
		for (size_t i = 0; o->choices[i]; i++) {
			size_t used = strlen(list);
			snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", o->choices[i]);
		}
		return fail(error, size, "--%s: '%s' is not one of %s", o->name, text, list);
	}
	if (o->kind != CLI_INT && o->kind != CLI_NUMBER)
		return 0;
	double number;
	bool whole = o->kind == CLI_INT;
	if (!read_number(text, &number) || (whole && number != floor(number)))
		return fail(error, size, "--%s: '%s' is not a %s", o->name, text, whole ? "whole number" : "number");
	if (whole && fabs(number) > 9e15)
		return fail(error, size, "--%s: '%s' is out of range", o->name, text);
	if (number < o->min)
		return fail(error, size, "--%s: %s is too small, the least is %g", o->name, text, o->min);
	given->number = number;
	return 0;
}

static int add_value(const cli_option *o, cli_given *given, const char *text, char *error, size_t size)
{
	if (check_value(o, text, given, error, size) < 0)
		return -1;
	const char **values = realloc(given->values, (given->n + 1) * sizeof *values);
	if (!values)
		return fail(error, size, "out of memory");
	given->values = values;
	values[given->n++] = text;
	return 0;
}

/* takes the values of an option from argv[*i ...]; `attached` is what follows '=' or NULL */
static int take_values(const cli_option *o, cli_given *given, const char *attached, int argc, char **argv, int *i,
		       char *error, size_t size)
{
	given->given = true;
	if (o->kind == CLI_FLAG)
		return attached ? fail(error, size, "--%s takes no value", o->name) : 0;
	if (o->kind == CLI_TEXTS)
		given->n = 0; /* given again: the new list replaces the old one */
	if (attached)
		return add_value(o, given, attached, error, size);
	if (*i >= argc || looks_like_option(argv[*i])) {
		if (o->may_be_empty)
			return 0;
		return fail(error, size, "--%s needs a value (%s)", o->name, o->value ? o->value : "VALUE");
	}
	do {
		if (add_value(o, given, argv[(*i)++], error, size) < 0)
			return -1;
	} while (o->kind == CLI_TEXTS && *i < argc && !looks_like_option(argv[*i]));
	return 0;
}

static int parse_long(cli_args *args, const char *text, int argc, char **argv, int *i, char *error, size_t size)
{
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : strlen(text);
	ptrdiff_t at = find_long(args->options, text, n, error, size);
	if (at < 0)
		return -1;
	return take_values(&args->options[at], &args->given[at], equals ? equals + 1 : NULL, argc, argv, i, error,
			   size);
}

/* "-q", "-qh" and "-oFILE" */
static int parse_short(cli_args *args, const char *text, int argc, char **argv, int *i, char *error, size_t size)
{
	for (; *text; text++) {
		size_t at = 0;
		while (args->options[at].name && args->options[at].letter != *text)
			at++;
		const cli_option *o = &args->options[at];
		if (!o->name)
			return fail(error, size, "unknown option -%c", *text);
		bool rest_is_value = o->kind != CLI_FLAG && text[1];
		if (take_values(o, &args->given[at], rest_is_value ? text + 1 : NULL, argc, argv, i, error, size) < 0)
			return -1;
		if (rest_is_value)
			return 0;
	}
	return 0;
}

int cli_parse(cli_args *out, const cli_option *options, int argc, char **argv, char *error, size_t size)
{
	*out = (cli_args){.options = options};
	out->given = calloc(count(options) + 1, sizeof *out->given);
	out->rest = calloc((size_t)argc + 1, sizeof *out->rest);
	if (!out->given || !out->rest) {
		cli_args_free(out);
		return fail(error, size, "out of memory");
	}
	bool only_rest = false;
	int code = 0;
	for (int i = 0; i < argc && code == 0;) {
		const char *word = argv[i++];
		if (only_rest || !looks_like_option(word))
			out->rest[out->n_rest++] = word;
		else if (!strcmp(word, "--"))
			only_rest = true;
		else if (word[1] == '-')
			code = parse_long(out, word + 2, argc, argv, &i, error, size);
		else
			code = parse_short(out, word + 1, argc, argv, &i, error, size);
	}
	if (code < 0)
		cli_args_free(out);
	return code;
}

void cli_args_free(cli_args *args)
{
	if (args->given)
		for (size_t i = 0; args->options[i].name; i++)
			free(args->given[i].values);
	free(args->given);
	free(args->rest);
	*args = (cli_args){.options = args->options};
}

/* ---- reading ---- */

const cli_given *cli_get(const cli_args *args, const char *name)
{
	size_t i = 0;
	while (args->options[i].name && strcmp(args->options[i].name, name))
		i++;
	return &args->given[i]; /* the entry behind the last one is never given */
}

bool cli_has(const cli_args *args, const char *name)
{
	return cli_get(args, name)->given;
}

const char *cli_text(const cli_args *args, const char *name, const char *otherwise)
{
	const cli_given *given = cli_get(args, name);
	return given->n ? given->values[given->n - 1] : otherwise;
}

double cli_number(const cli_args *args, const char *name, double otherwise)
{
	const cli_given *given = cli_get(args, name);
	return given->n ? given->number : otherwise;
}

/* ---- help ---- */

/* prints words, broken so that no line passes `width`, every line after the first behind `indent` blanks */
static void print_wrapped(FILE *out, const char *text, int column, int indent, int width)
{
	while (*text) {
		size_t n = strcspn(text, " ");
		if (column > indent && column + 1 + (int)n > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)n, text);
		column += (int)n;
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const cli_option *o, int width)
{
	enum { INDENT = 36 };
	int indent = width < 70 ? 10 : INDENT;
	char left[128];
	int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
			  : snprintf(left, sizeof left, "  --%s", o->name);
	if (o->kind == CLI_CHOICE) {
		for (size_t i = 0; o->choices[i] && n < (int)sizeof left; i++)
			n += snprintf(left + n, sizeof left - (size_t)n, "%s%s", i ? "|" : " ", o->choices[i]);
	} else if (o->kind != CLI_FLAG && n < (int)sizeof left) {
		const char *value = o->value ? o->value : "VALUE";
		n += snprintf(left + n, sizeof left - (size_t)n, o->kind == CLI_TEXTS ? " %s ..." : " %s", value);
	}
	fputs(left, out);
	if (!o->help || !*o->help) {
		fputc('\n', out);
		return;
	}
	if (n + 2 > indent) {
		fprintf(out, "\n%*s", indent, "");
	} else {
		fprintf(out, "%*s", indent - n, "");
	}
	print_wrapped(out, o->help, indent, indent, width);
}

void cli_print_options(FILE *out, const cli_option *options, int width)
{
	const char *group = NULL;
	for (size_t i = 0; options[i].name; i++) {
		const char *mine = options[i].group ? options[i].group : "options";
		if (!group || strcmp(group, mine))
			fprintf(out, "\n%s:\n", mine);
		group = mine;
		print_option(out, &options[i], width);
	}
}
