/* SPDX-License-Identifier: MIT */
/* What the command says: messages, standard output, progress, the end by Ctrl-C. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* ---- messages ---- */

void cli_print_clean(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}

void cli_say(const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fputs("tracelens: ", stderr);
	cli_print_clean(stderr, text);
	fputc('\n', stderr);
}

int cli_complain(const tl_error *err, int status)
{
	/* some messages name the file themselves */
	bool named = !*err->file || strstr(err->message, err->file);
	if (named)
		cli_say("%s", err->message);
	else if (err->offset >= 0)
		cli_say("%s: byte %lld: %s", err->file, (long long)err->offset, err->message);
	else
		cli_say("%s: %s", err->file, err->message);
	return status;
}

const char *cli_ambiguous(char out[CLI_SENTENCE], size_t events, tl_time time)
{
	snprintf(out, CLI_SENTENCE,
		 "%zu GPU event%s (%.3f ms) left out because several processes use the same correlation ids "
		 "(several ranks merged into one file?); report each rank's file by itself",
		 events, events == 1 ? "" : "s", (double)time / 1e9);
	return out;
}

int cli_wrong_usage(const char *command, const char *message)
{
	cli_say("%s (see 'tracelens %s --help')", message, command);
	return CLI_USAGE;
}

int cli_read_status(int code)
{
	switch (code) {
	case TL_EIO:
	case TL_EFORMAT:
	case TL_ENOTFOUND:
	case TL_EUNSUPPORTED:
	case TL_ELIMIT:
		return CLI_UNREADABLE;
	case TL_ESTRICT:
		return CLI_STRICT;
	case TL_EEMPTY:
		return CLI_EMPTY;
	case TL_EINVAL:
		return CLI_USAGE;
	case TL_ECANCELLED:
		return CLI_INTERRUPTED;
	default:
		return CLI_FAILED;
	}
}

/* ---- standard output ---- */

int cli_width(void)
{
	const char *columns = getenv("COLUMNS");
	int width = columns ? atoi(columns) : 0;
	struct winsize size;
	if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	return width > 0 ? width : 80;
}

bool cli_colour(const char *choice)
{
	if (!strcmp(choice, "always"))
		return true;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (!strcmp(choice, "never") || (no_color && *no_color))
		return false;
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

int cli_finish_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return CLI_OK;
	if (errno != EPIPE) /* a reader that has seen enough is no error worth a line */
		cli_say("cannot write to standard output: %s", strerror(errno));
	return CLI_FAILED;
}

void cli_print_made(const char *what, const char *path, size_t n, const char *unit)
{
	printf("%s: ", what);
	cli_print_clean(stdout, path);
	if (n)
		printf(" (%zu %s)", n, unit);
	putchar('\n');
}

int cli_print(const char *text)
{
	fputs(text, stdout);
	return cli_finish_output();
}

/* ---- progress ---- */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void cli_progress_begin(cli_progress *p, const char *name, bool enabled)
{
	const char *slash = strrchr(name, '/');
	*p = (cli_progress){.enabled = enabled && isatty(STDERR_FILENO), .began = now()};
	p->name = slash ? slash + 1 : name;
}

static bool slow(const cli_progress *p)
{
	return p->enabled && now() - p->began > 1;
}

static void show(cli_progress *p, const char *text)
{
	fputs("\r\033[K", stderr);
	cli_print_clean(stderr, text);
	fflush(stderr);
	p->shown = true;
}

int cli_progress_loading(void *progress, uint64_t done, uint64_t total)
{
	cli_progress *p = progress;
	if (cli_interrupted())
		return 1;
	if (!slow(p))
		return 0;
	char text[160];
	double mb = (double)done / 1e6, seconds = now() - p->began;
	if (total)
		snprintf(text, sizeof text, "reading %.60s  %3.0f %%  %.0f MB, %.0f MB/s", p->name,
			 100 * (double)done / (double)total, mb, mb / seconds);
	else
		snprintf(text, sizeof text, "reading %.60s  %.0f MB, %.0f MB/s", p->name, mb, mb / seconds);
	show(p, text);
	return 0;
}

void cli_progress_step(cli_progress *p, const char *what)
{
	if (slow(p) || p->shown)
		show(p, what);
}

void cli_progress_end(cli_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

/* ---- interrupt ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

void cli_catch_interrupt(void)
{
	struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
	sigaction(SIGINT, &action, NULL);
}

bool cli_interrupted(void)
{
	return interrupted != 0;
}

bool cli_same_file(const char *a, const char *b)
{
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
