/* SPDX-License-Identifier: MIT */
/*
 * Writes as CSV what the calls of the SDK return for a trace; run_sdk.py compares it with the right answers.
 *
 * usage: sdk_tables TRACE DIRECTORY FAMILY ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracelens/tracelens.h>

static tl_error err = TL_ERROR_INIT;

static void check(int code)
{
	if (code == 0)
		return;
	fprintf(stderr, "%s: %s\n", tl_code_name(code), err.message);
	exit(1);
}

/* Writes the table, and hands it back to be used further. */
static tl_table *save(tl_table *table, const char *directory, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.csv", directory, name);
	check(tl_table_write_csv(table, path, &err));
	return table;
}

/* Metrics of the events of a family, found as a user would: by name. */
static void save_family(tl_analyzer *analyzer, const char *directory, const char *family)
{
	static const tl_statistic mean[] = {TL_STAT_MEAN};
	const tl_events *events = tl_tree_events(tl_analyzer_tree(analyzer));
	size_t count = tl_events_count(events), n = 0;
	tl_row *chosen = malloc(count * sizeof *chosen);
	char name[128];
	tl_table *metrics, *all, *summary;
	if (!chosen)
		exit(1);
	for (tl_row e = 0; e < count; e++) {
		const char *of = tl_analyzer_family_of(analyzer, tl_event_name(events, e, NULL));
		if (of && !strcmp(of, family))
			chosen[n++] = e;
	}
	tl_metrics_options mo = {.kernel_details = true, .overlap = true};
	check(tl_analyzer_metrics(&metrics, analyzer, chosen, n, &mo, &err));
	snprintf(name, sizeof name, "perf_metrics_%s", family);
	save(metrics, directory, name);
	/* asked for by its name, the family has the same events */
	check(tl_analyzer_family_metrics(&all, analyzer, family, &mo, &err));
	if (tl_table_rows(all) != tl_table_rows(metrics))
		exit(1);
	tl_stat_options so = {.statistics = mean, .n_statistics = 1};
	check(tl_metrics_summary(&summary, metrics, &so, &err));
	snprintf(name, sizeof name, "perf_metrics_summary_%s", family);
	tl_table_free(save(summary, directory, name));
	tl_table_free(metrics);
	tl_table_free(all);
	free(chosen);
}

int main(int argc, char **argv)
{
	tl_trace *trace;
	tl_tree *tree;
	tl_analyzer *analyzer;
	tl_table *table, *launchers;
	if (argc < 3)
		return 2;
	check(tl_trace_open(&trace, argv[1], NULL, &err));
	check(tl_tree_build(&tree, trace, &(tl_tree_options){.with_python = true}, &err));
	check(tl_analyzer_new(&analyzer, tree, NULL, &err));

	check(tl_analyzer_gpu_timeline(&table, analyzer, NULL, &err));
	tl_table_free(save(table, argv[2], "gpu_timeline"));
	tl_launcher_options lo = {.kernel_details = true, .overlap = true};
	check(tl_analyzer_launchers(&launchers, analyzer, &lo, &err));
	save(launchers, argv[2], "kernel_launchers");
	check(tl_launchers_by_name(&table, launchers, &err));
	tl_table_free(save(table, argv[2], "kernel_launchers_summary"));
	check(tl_launchers_by_args(&table, launchers, &(tl_stat_options){.percent = true}, &err));
	tl_table_free(save(table, argv[2], "kernel_launchers_unique_args"));
	tl_table_free(launchers);
	for (int i = 3; i < argc; i++)
		save_family(analyzer, argv[2], argv[i]);

	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return 0;
}
