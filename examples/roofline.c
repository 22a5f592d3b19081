/* SPDX-License-Identifier: MIT */
/*
 * FLOPs, bytes and rates of a family of operations against what a GPU can do.
 *
 * usage: roofline TRACE [FAMILY [GPU]]
 */
#include <stdio.h>
#include <tracelens/tracelens.h>

static double cell(const tl_table *table, const char *column, size_t row)
{
	ptrdiff_t c = tl_table_find_column(table, column);
	return c < 0 ? 0 : tl_table_double(table, (size_t)c, row);
}

/* One line per distinct shape, read cell by cell as a program would that goes on with the figures. */
static void print_rows(const tl_table *summary)
{
	ptrdiff_t name = tl_table_find_column(summary, "name");
	for (size_t row = 0; name >= 0 && row < tl_table_rows(summary); row++) {
		char text[64];
		tl_table_text(summary, (size_t)name, row, text, sizeof text);
		printf("  %-14s %3.0f calls  %9.3f us  %8.3f GFLOP  %7.2f TFLOP/s  %6.3f TB/s  %5.1f %% of the "
		       "roofline\n",
		       text, cell(summary, "name_count", row), cell(summary, "Kernel Time (\xc2\xb5s)_sum", row),
		       cell(summary, "GFLOPS_first", row), cell(summary, "TFLOPS/s_mean", row),
		       cell(summary, "TB/s_mean", row), cell(summary, "Pct Roofline_mean", row));
	}
}

static int analyse(tl_analyzer *analyzer, const char *family, tl_error *err)
{
	static const tl_statistic mean[] = {TL_STAT_MEAN};
	tl_table *metrics, *summary;
	int code = tl_analyzer_family_metrics(&metrics, analyzer, family, NULL, err);
	if (code < 0)
		return code;
	printf("%zu calls of the family %s\n", tl_table_rows(metrics), family);
	code = tl_metrics_summary(&summary, metrics, &(tl_stat_options){.statistics = mean, .n_statistics = 1}, err);
	if (code == 0) {
		print_rows(summary);
		tl_table_free(summary);
	}
	tl_table_free(metrics);
	return code;
}

int main(int argc, char **argv)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	tl_analyzer *analyzer = NULL;
	tl_arch *arch = NULL;
	if (argc < 2) {
		fprintf(stderr, "usage: roofline TRACE [FAMILY [GPU]]\n");
		return 2;
	}
	int code = tl_arch_find(&arch, argc > 3 ? argv[3] : "H100_SXM", &err);
	if (code == 0)
		code = tl_trace_open(&trace, argv[1], NULL, &err);
	if (code == 0)
		code = tl_tree_build(&tree, trace, NULL, &err);
	if (code == 0)
		code = tl_analyzer_new(&analyzer, tree, &(tl_analyzer_options){.arch = arch}, &err);
	if (code == 0)
		code = analyse(analyzer, argc > 2 ? argv[2] : "GEMM", &err);
	if (code < 0)
		fprintf(stderr, "roofline: %s\n", err.message);
	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	tl_arch_free(arch);
	return code < 0;
}
