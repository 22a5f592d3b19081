/* SPDX-License-Identifier: MIT */
/*
 * GPU time by operation: the table of kernel launchers, summed up by name, and one operation by its arguments.
 *
 * usage: launchers TRACE [OPERATION]
 */
#include <stdio.h>
#include <stdlib.h>
#include <tracelens/tracelens.h>

/* Any table prints like this: choose columns, and what stands above them. */
static int show(const tl_table *table, const tl_text_column *columns, size_t n, size_t rows, tl_error *err)
{
	char *text;
	int code = tl_table_text_view(&text, table, columns, n, &(tl_text_style){.width = 100, .rows = rows}, err);
	if (code < 0)
		return code;
	printf("%s\n", text);
	free(text);
	return 0;
}

static int analyse(tl_analyzer *analyzer, const char *operation, tl_error *err)
{
	static const tl_text_column by_name[] = {{"name", "Operations", 0},
						 {"Count", "count", 0},
						 {"total_direct_kernel_time_ms", "ms", 3},
						 {"Percentage (%)", "%", 2}};
	static const tl_text_column by_args[] = {{"Input Dims", "Shapes", 0},
						 {"operation_count", "count", 0},
						 {"total_direct_kernel_time_mean", "mean us", 3},
						 {"total_direct_kernel_time_sum", "us", 3}};
	tl_table *launchers, *table;
	int code = tl_analyzer_launchers(&launchers, analyzer, &(tl_launcher_options){.kernel_details = true}, err);
	if (code < 0)
		return code;
	printf("%zu operations launched GPU work\n\n", tl_table_rows(launchers));

	code = tl_launchers_by_name(&table, launchers, err);
	if (code == 0) {
		code = show(table, by_name, 4, 5, err);
		tl_table_free(table);
	}
	if (code == 0)
		code = tl_launchers_by_args(&table, launchers, &(tl_stat_options){.name = operation, .percent = true},
					    err);
	if (code == 0) {
		printf("%s by its arguments\n", operation);
		code = show(table, by_args, 4, 0, err);
		tl_table_free(table);
	}
	tl_table_free(launchers);
	return code;
}

int main(int argc, char **argv)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	tl_analyzer *analyzer = NULL;
	if (argc < 2) {
		fprintf(stderr, "usage: launchers TRACE [OPERATION]\n");
		return 2;
	}
	int code = tl_trace_open(&trace, argv[1], NULL, &err);
	if (code == 0)
		code = tl_tree_build(&tree, trace, NULL, &err);
	if (code == 0)
		code = tl_analyzer_new(&analyzer, tree, NULL, &err);
	if (code == 0)
		code = analyse(analyzer, argc > 2 ? argv[2] : "aten::mm", &err);
	if (code < 0)
		fprintf(stderr, "launchers: %s\n", err.message);
	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return code < 0;
}
