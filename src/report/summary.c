/* SPDX-License-Identifier: MIT */
/* The report in a screenful: where GPU time goes, the heaviest operations, what to doubt. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "util/buf.h"
#include "util/utf8.h"

enum { LEAST_WIDTH = 40, DEFAULT_WIDTH = 80, DEFAULT_TOP = 10 };

typedef struct summary {
	tl_buf out;
	const tl_report *report;
	int width, top;
	bool colour;
} summary;

/* ---- text ---- */

#define BOLD "1"
#define DIM "2"
#define YELLOW "33"

static void style(summary *s, const char *code)
{
	if (s->colour)
		tl__buf_printf(&s->out, "\033[%sm", code);
}

static void plain(summary *s)
{
	if (s->colour)
		tl__buf_puts(&s->out, "\033[0m");
}

static void blanks(summary *s, size_t n)
{
	while (n--)
		tl__buf_putc(&s->out, ' ');
}

/* One character for a terminal: no control characters, which could move its cursor or worse. */
static size_t terminal_character(const char *text, size_t n, char utf8[4], size_t *bytes)
{
	uint32_t code;
	size_t taken = tl__utf8_decode(text, n, &code);
	if (!taken || code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
	    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
		code = 0xfffd;
	*bytes = tl__utf8_encode(utf8, code);
	return taken ? taken : 1;
}

/* Text in at most `room` columns, cut with an ellipsis; returns the columns used. */
static size_t put_cut(summary *s, const char *text, size_t room)
{
	size_t n = strlen(text), columns = tl__utf8_count(text, n);
	size_t keep = columns <= room ? columns : room ? room - 1 : 0;
	size_t i = 0;
	for (size_t k = 0; k < keep; k++) {
		char utf8[4];
		size_t bytes;
		i += terminal_character(text + i, n - i, utf8, &bytes);
		tl__buf_put(&s->out, utf8, bytes);
	}
	if (columns <= room)
		return columns;
	tl__buf_puts(&s->out, "\xe2\x80\xa6");
	return keep + 1;
}

/* Words in lines of the terminal's width, all behind `indent` blanks; the first line has `column` columns already. */
static void put_wrapped(summary *s, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, " "), columns = tl__utf8_count(text, n);
		if (column > indent && column + 1 + columns > (size_t)s->width) {
			tl__buf_putc(&s->out, '\n');
			blanks(s, indent);
			column = indent;
		} else if (column > indent) {
			tl__buf_putc(&s->out, ' ');
			column++;
		}
		for (size_t i = 0; i < n;) {
			char utf8[4];
			size_t bytes;
			i += terminal_character(text + i, n - i, utf8, &bytes);
			tl__buf_put(&s->out, utf8, bytes);
		}
		column += columns;
		text += n;
		text += strspn(text, " ");
	}
	tl__buf_putc(&s->out, '\n');
}

/* "12,345.678"; a missing value is "-" */
static void format_number(char out[48], const tl_table *table, ptrdiff_t column, size_t row, int decimals)
{
	if (column < 0 || tl_table_is_null(table, (size_t)column, row)) {
		snprintf(out, 48, "-");
		return;
	}
	char digits[40];
	double value = tl_table_double(table, (size_t)column, row);
	if (!(value < 1e15 && value > -1e15)) {
		snprintf(out, 48, "%g", value);
		return;
	}
	snprintf(digits, sizeof digits, "%.*f", decimals, value);
	size_t whole = strcspn(digits, "."), n = 0;
	for (size_t i = 0; digits[i]; i++) {
		out[n++] = digits[i];
		size_t left = whole - i - 1;
		if (i + 1 < whole && left % 3 == 0 && digits[i] != '-')
			out[n++] = ',';
	}
	out[n] = '\0';
}

/* ---- tables: a text column that takes the room that is left, and number columns ---- */

typedef struct number_column {
	const char *head;   /* what it is called here */
	const char *column; /* in the table */
	int decimals;
} number_column;

enum { MOST_COLUMNS = 3 };

static size_t widest_number(const tl_table *table, const number_column *c, size_t rows)
{
	size_t width = tl__utf8_count(c->head, strlen(c->head));
	ptrdiff_t column = tl_table_find_column(table, c->column);
	for (size_t r = 0; r < rows; r++) {
		char text[48];
		format_number(text, table, column, r, c->decimals);
		width = strlen(text) > width ? strlen(text) : width;
	}
	return width;
}

static void put_table(summary *s, const char *title, const tl_table *table, const char *text_column,
		      const number_column *numbers, size_t n_numbers, size_t rows)
{
	ptrdiff_t column = tl_table_find_column(table, text_column);
	if (column < 0)
		return;
	size_t widths[MOST_COLUMNS], taken = 2;
	for (size_t i = 0; i < n_numbers; i++) {
		widths[i] = widest_number(table, &numbers[i], rows);
		taken += widths[i] + 2;
	}
	size_t room = (size_t)s->width > taken + 12 ? (size_t)s->width - taken : 12,
	       used = tl__utf8_count(title, strlen(title));
	/* no wider than the longest name needs: numbers far from their names are hard to read */
	size_t longest = used > 2 ? used - 2 : 0;
	for (size_t r = 0; r < rows; r++) {
		char name[1024];
		tl_table_text(table, (size_t)column, r, name, sizeof name);
		size_t n = tl__utf8_count(name, strlen(name));
		longest = n > longest ? n : longest;
	}
	room = longest < room ? longest : room;

	tl__buf_putc(&s->out, '\n');
	style(s, BOLD);
	used = put_cut(s, title, room + 2);
	blanks(s, room + 2 - used);
	for (size_t i = 0; i < n_numbers; i++) {
		blanks(s, 2 + widths[i] - tl__utf8_count(numbers[i].head, strlen(numbers[i].head)));
		tl__buf_puts(&s->out, numbers[i].head);
	}
	plain(s);
	tl__buf_putc(&s->out, '\n');
	for (size_t r = 0; r < rows; r++) {
		char name[1024];
		tl_table_text(table, (size_t)column, r, name, sizeof name);
		blanks(s, 2);
		blanks(s, room - put_cut(s, name, room));
		for (size_t i = 0; i < n_numbers; i++) {
			char text[48];
			format_number(text, table, tl_table_find_column(table, numbers[i].column), r,
				      numbers[i].decimals);
			blanks(s, 2 + widths[i] - strlen(text));
			tl__buf_puts(&s->out, text);
		}
		tl__buf_putc(&s->out, '\n');
	}
}

static size_t at_most(size_t n, int most)
{
	return n < (size_t)most ? n : (size_t)most;
}

/* ---- the parts ---- */

static void put_heading(summary *s, const tl_report_heading *heading)
{
	if (!heading || !heading->trace || !*heading->trace)
		return;
	style(s, BOLD);
	put_cut(s, heading->trace, (size_t)s->width);
	plain(s);
	tl__buf_putc(&s->out, '\n');
}

static void put_timeline(summary *s)
{
	static const number_column numbers[] = {{"ms", "time ms", 3}, {"%", "percent", 2}};
	const tl_table *table = tl_report_find(s->report, "gpu_timeline");
	if (s->report->empty) {
		style(s, YELLOW);
		put_wrapped(s, "No GPU event with a usable time is in this trace: there is no GPU time to report.", 0,
			    0);
		plain(s);
		return;
	}
	if (table)
		put_table(s, "GPU timeline", table, "type", numbers, 2, tl_table_rows(table));
}

static void put_excluded(summary *s)
{
	if (!s->report->excluded)
		return;
	char text[320];
	bool one = s->report->excluded == 1;
	snprintf(text, sizeof text,
		 "Left out of the timeline: %zu GPU event%s (%.3f ms) whose launch is not in the trace; "
		 "--include_unlinked_kernels counts %s.",
		 s->report->excluded, one ? "" : "s", (double)s->report->excluded_time / 1e9, one ? "it" : "them");
	style(s, YELLOW);
	put_wrapped(s, text, 0, 0);
	plain(s);
}

/* With which rates percentages of roofline count: nobody should have to look for it. */
static void put_roofline(summary *s)
{
	const char *text = tl_report_roofline(s->report);
	if (!*text)
		return;
	tl__buf_putc(&s->out, '\n');
	style(s, BOLD);
	tl__buf_puts(&s->out, "Roofline");
	plain(s);
	tl__buf_puts(&s->out, "  ");
	put_wrapped(s, text, 10, 10);
}

static void put_operations(summary *s)
{
	static const number_column numbers[] = {
		{"count", "Count", 0}, {"ms", "total_direct_kernel_time_ms", 3}, {"%", "Percentage (%)", 2}};
	const tl_table *table = tl_report_find(s->report, "ops_summary_by_category");
	if (table)
		put_table(s, "Categories by kernel time", table, "op category", numbers, 3,
			  at_most(tl_table_rows(table), s->top));
	table = tl_report_find(s->report, "ops_summary");
	if (table)
		put_table(s, "Operations by kernel time", table, "name", numbers, 3,
			  at_most(tl_table_rows(table), s->top));
}

/* a trace without host operations has kernels only */
static void put_kernels(summary *s)
{
	static const number_column numbers[] = {{"count", "Kernel duration (\xc2\xb5s)_count", 0},
						{"\xc2\xb5s", "Kernel duration (\xc2\xb5s)_sum", 3},
						{"%", "Percent of kernels time (%)", 2}};
	const tl_table *table = tl_report_find(s->report, "kernel_summary");
	if (table && !tl_report_find(s->report, "ops_summary"))
		put_table(s, "Kernels by time", table, "Kernel name", numbers, 3,
			  at_most(tl_table_rows(table), s->top));
}

/* GPU events without a launch have been told below the timeline already */
static bool is_told(const summary *s, const tl_table *health, size_t row)
{
	char kind[64] = "";
	ptrdiff_t column = tl_table_find_column(health, "kind");
	if (column >= 0)
		tl_table_text(health, (size_t)column, row, kind, sizeof kind);
	return s->report->excluded && !strcmp(kind, "no_launch");
}

static void put_health(summary *s)
{
	const tl_table *table = tl_report_find(s->report, "trace_health");
	size_t rows = table ? tl_table_rows(table) : 0, told = 0;
	ptrdiff_t count = table ? tl_table_find_column(table, "count") : -1;
	ptrdiff_t meaning = table ? tl_table_find_column(table, "meaning") : -1;
	for (size_t r = 0; r < rows; r++)
		told += is_told(s, table, r);
	if (told == rows || meaning < 0)
		return;
	number_column numbers = {"", "count", 0};
	size_t width = widest_number(table, &numbers, rows);
	tl__buf_putc(&s->out, '\n');
	style(s, BOLD);
	tl__buf_puts(&s->out, "Trace health\n");
	plain(s);
	for (size_t r = 0; r < rows; r++) {
		char text[1024], number[48];
		if (is_told(s, table, r))
			continue;
		format_number(number, table, count, r, 0);
		blanks(s, 2 + width - strlen(number));
		style(s, YELLOW);
		tl__buf_puts(&s->out, number);
		plain(s);
		blanks(s, 2);
		tl_table_text(table, (size_t)meaning, r, text, sizeof text);
		put_wrapped(s, text, width + 4, width + 4);
	}
}

int tl_report_summary(const tl_report *report, const tl_report_heading *heading, const tl_report_style *look,
		      char **out, tl_error *err)
{
	static const tl_report_style defaults = {0};
	if (!look)
		look = &defaults;
	summary s = {.report = report, .colour = look->colour};
	s.width = look->width <= 0 ? DEFAULT_WIDTH : look->width < LEAST_WIDTH ? LEAST_WIDTH : look->width;
	s.top = look->top > 0 ? look->top : DEFAULT_TOP;
	put_heading(&s, heading);
	put_timeline(&s);
	put_excluded(&s);
	put_roofline(&s);
	put_operations(&s);
	put_kernels(&s);
	put_health(&s);
	/* handed over as it is: tl_buf memory comes from malloc */
	*out = tl__buf_text(&s.out) ? s.out.v : NULL;
	if (!*out) {
		tl__buf_free(&s.out);
		return tl__nomem(err);
	}
	return 0;
}
