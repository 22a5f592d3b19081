/* SPDX-License-Identifier: MIT */
/* The report in a screenful: where GPU time goes, the heaviest operations, what to doubt. */
#include <stdio.h>
#include <string.h>

#include "compare/inline_diff.h"
#include "report/report.h"
#include "table/text.h"
#include "util/buf.h"
#include "util/terminal.h"

enum { LEAST_WIDTH = 40, DEFAULT_WIDTH = 80, DEFAULT_TOP = 10 };

typedef struct summary {
	tl_buf out;
	const tl_report *report;
	int width, top;
	bool colour;
} summary;

/* ---- text ---- */

/* SGR parameters of ECMA-48 */
#define BOLD "1"
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
	tl__terminal_blanks(&s->out, n);
}

/* Words in lines of the terminal's width, all behind `indent` blanks; the first line has `column` columns already. */
static void put_wrapped(summary *s, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, " "), columns = tl__terminal_columns(text, n);
		if (column > indent && column + 1 + columns > (size_t)s->width) {
			tl__buf_putc(&s->out, '\n');
			blanks(s, indent);
			column = indent;
		} else if (column > indent) {
			tl__buf_putc(&s->out, ' ');
			column++;
		}
		tl__terminal_put(&s->out, text, n);
		column += columns;
		text += n;
		text += strspn(text, " ");
	}
	tl__buf_putc(&s->out, '\n');
}

/* A table with a title above its first column, the one of texts. */
static void put_table(summary *s, const tl_table *table, const tl_text_column *columns, size_t n, size_t rows)
{
	if (tl_table_find_column(table, columns[0].column) < 0)
		return;
	tl__buf_putc(&s->out, '\n');
	tl__table_put_text(&s->out, table, columns, n,
			   &(tl_text_style){.width = s->width, .colour = s->colour, .rows = rows});
}

/* ---- the parts ---- */

static void put_heading(summary *s, const tl_report_heading *heading)
{
	if (!heading || !heading->trace || !*heading->trace)
		return;
	style(s, BOLD);
	tl__terminal_put_parts(&s->out, heading->trace, strlen(heading->trace), (size_t)s->width, SIZE_MAX);
	plain(s);
	tl__buf_putc(&s->out, '\n');
}

static void put_timeline(summary *s)
{
	static const tl_text_column columns[] = {
		{"type", "GPU timeline", 0}, {"time ms", "ms", 3}, {"percent", "%", 2}};
	const tl_table *table = tl_report_find(s->report, "gpu_timeline");
	if (s->report->empty && s->report->ambiguous)
		return; /* put_excluded says why */
	if (s->report->empty) {
		style(s, YELLOW);
		put_wrapped(s, "No GPU event with a usable time is in this trace: there is no GPU time to report.", 0,
			    0);
		plain(s);
		return;
	}
	if (table)
		put_table(s, table, columns, 3, 0);
}

static void put_excluded(summary *s)
{
	const tl_report *r = s->report;
	size_t ambiguous = r->ambiguous, lost = r->excluded - ambiguous;
	char text[400];
	style(s, YELLOW);
	if (lost) {
		snprintf(text, sizeof text,
			 "Left out of the timeline: %zu GPU event%s (%.3f ms) whose launch is not in the trace; "
			 "--include_unlinked_kernels counts %s.",
			 lost, lost == 1 ? "" : "s", (double)(r->excluded_time - r->ambiguous_time) / 1e9,
			 lost == 1 ? "it" : "them");
		put_wrapped(s, text, 0, 0);
	}
	if (ambiguous) {
		snprintf(text, sizeof text,
			 "%zu GPU event%s (%.3f ms) left out because several processes use the same correlation ids "
			 "(several ranks merged into one file?); report each rank's file by itself.",
			 ambiguous, ambiguous == 1 ? "" : "s", (double)r->ambiguous_time / 1e9);
		put_wrapped(s, text, 0, 0);
	}
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
	static const tl_text_column categories[] = {{"op category", "Categories by kernel time", 0},
						    {"Count", "count", 0},
						    {"total_direct_kernel_time_ms", "ms", 3},
						    {"Percentage (%)", "%", 2}};
	static const tl_text_column operations[] = {{"name", "Operations by kernel time", 0},
						    {"Count", "count", 0},
						    {"total_direct_kernel_time_ms", "ms", 3},
						    {"Percentage (%)", "%", 2}};
	const tl_table *table = tl_report_find(s->report, "ops_summary_by_category");
	if (table)
		put_table(s, table, categories, 4, (size_t)s->top);
	table = tl_report_find(s->report, "ops_summary");
	if (table)
		put_table(s, table, operations, 4, (size_t)s->top);
}

/* a trace without host operations has kernels only */
static void put_kernels(summary *s)
{
	static const tl_text_column columns[] = {{"Kernel name", "Kernels by time", 0},
						 {"Kernel duration (\xc2\xb5s)_count", "count", 0},
						 {"Kernel duration (\xc2\xb5s)_sum", "\xc2\xb5s", 3},
						 {"Percent of kernels time (%)", "%", 2}};
	const tl_table *table = tl_report_find(s->report, "kernel_summary");
	if (table && !tl_report_find(s->report, "ops_summary"))
		put_table(s, table, columns, 4, (size_t)s->top);
}

/* ---- compared with another trace ---- */

/* "43.512 ms here, 34.401 ms there: 9.111 ms less there, speedup (trace2/trace1) 0.791" */
static void put_sums(summary *s, const tl_report_comparison *c)
{
	char text[400];
	double ms[2] = {(double)c->gpu_time[0] / 1e9, (double)c->gpu_time[1] / 1e9};
	tl_time delta = c->gpu_time[1] - c->gpu_time[0];
	int n = snprintf(text, sizeof text, "GPU time: %.3f ms in this trace (trace1), %.3f ms in that one (trace2)",
			 ms[0], ms[1]);
	if (!delta)
		snprintf(text + n, sizeof text - (size_t)n, ", the same.");
	else if (!c->gpu_time[0])
		snprintf(text + n, sizeof text - (size_t)n, ".");
	else
		snprintf(text + n, sizeof text - (size_t)n,
			 "; delta %+.3f ms, speedup (trace2/trace1) %.4f: this one is %s.", (double)delta / 1e9,
			 tl__inline_speedup(c->gpu_time[0], c->gpu_time[1]),
			 delta > 0 ? "the faster one" : "the slower one");
	put_wrapped(s, text, 0, 0);
	if (c->identical)
		put_wrapped(s, "Both traces have the same operations in the same places.", 0, 0);
}

static void put_left_out(summary *s, const tl_report_comparison *c)
{
	char text[300];
	if (!c->left_out[0] && !c->left_out[1])
		return;
	snprintf(text, sizeof text,
		 "Left out of the comparison: GPU events whose launch is not in their trace, %zu here (%.3f ms), %zu "
		 "there (%.3f ms); --include_unlinked_kernels counts them.",
		 c->left_out[0], (double)c->left_out_time[0] / 1e9, c->left_out[1], (double)c->left_out_time[1] / 1e9);
	style(s, YELLOW);
	put_wrapped(s, text, 0, 0);
	plain(s);
}

/* Rows come by difference: those without one are at the end. */
static size_t count_changes(const tl_table *largest)
{
	ptrdiff_t delta = tl_table_find_column(largest, TL_INLINE_DELTA);
	size_t n = 0;
	while (n < tl_table_rows(largest) && tl_table_double(largest, (size_t)delta, n) != 0)
		n++;
	return n;
}

static void put_comparison(summary *s)
{
	static const tl_text_column columns[] = {{"name", "Largest differences", 0},
						 {TL_INLINE_TIME1, "trace1 \xc2\xb5s", 3},
						 {TL_INLINE_TIME2, "trace2 \xc2\xb5s", 3},
						 {TL_INLINE_DELTA, "delta \xc2\xb5s", 3},
						 {TL_INLINE_SPEEDUP, "speedup", 4}};
	const tl_text_column narrow[] = {columns[0], columns[3], columns[4]};
	tl_report_comparison c;
	if (!tl_report_get_comparison(&c, s->report))
		return;
	tl__buf_putc(&s->out, '\n');
	style(s, BOLD);
	tl__buf_puts(&s->out, "Compared with");
	plain(s);
	tl__buf_puts(&s->out, "  ");
	const char *path = *c.path ? c.path : "another tree";
	tl__terminal_put_parts(&s->out, path, strlen(path), (size_t)s->width - 15, SIZE_MAX);
	tl__buf_putc(&s->out, '\n');
	put_sums(s, &c);
	put_left_out(s, &c);
	if (!c.largest) {
		put_wrapped(
			s, "There are no operations to compare in this trace; diff_stats lists the GPU events of both.",
			0, 0);
		return;
	}
	size_t n = count_changes(c.largest), most = (size_t)s->top;
	if (n)
		put_table(s, c.largest, s->width < 60 ? narrow : columns, s->width < 60 ? 3 : 5, n < most ? n : most);
}

/* ---- health ---- */

/* GPU events without a launch have been told below the timeline already */
static bool is_told(const summary *s, const tl_table *health, size_t row)
{
	char kind[64] = "";
	ptrdiff_t column = tl_table_find_column(health, "kind");
	tl_report_comparison c = {0};
	bool of_comparison = !strcmp(tl_table_name(health), "comparison_health");
	if (column >= 0)
		tl_table_text(health, (size_t)column, row, kind, sizeof kind);
	bool told = of_comparison ? tl_report_get_comparison(&c, s->report) && c.left_out[1] : s->report->excluded;
	return told && !strcmp(kind, "no_launch");
}

static void put_health(summary *s, const char *sheet, const char *title)
{
	const tl_table *table = tl_report_find(s->report, sheet);
	size_t rows = table ? tl_table_rows(table) : 0, told = 0;
	ptrdiff_t count = table ? tl_table_find_column(table, "count") : -1;
	ptrdiff_t meaning = table ? tl_table_find_column(table, "meaning") : -1;
	for (size_t r = 0; r < rows; r++)
		told += is_told(s, table, r);
	if (told == rows || meaning < 0)
		return;
	size_t width = 0;
	for (size_t r = 0; r < rows; r++) {
		char number[48];
		tl__table_number_text(number, table, count, r, 0);
		width = strlen(number) > width ? strlen(number) : width;
	}
	tl__buf_putc(&s->out, '\n');
	style(s, BOLD);
	tl__buf_puts(&s->out, title);
	tl__buf_putc(&s->out, '\n');
	plain(s);
	for (size_t r = 0; r < rows; r++) {
		char text[1024], number[48];
		if (is_told(s, table, r))
			continue;
		tl__table_number_text(number, table, count, r, 0);
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
	put_comparison(&s);
	put_health(&s, "trace_health", "Trace health");
	put_health(&s, "comparison_health", "Health of the trace compared with (trace2)");
	/* handed over as it is: tl_buf memory comes from malloc */
	*out = tl__buf_text(&s.out) ? s.out.v : NULL;
	if (!*out) {
		tl__buf_free(&s.out);
		return tl__nomem(err);
	}
	return 0;
}
