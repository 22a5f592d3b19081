/* SPDX-License-Identifier: MIT */
/* tracelens modules: GPU time by nn.Module. */
#include <stdlib.h>
#include <string.h>

#include "session.h"

static const cli_option options[] = {
	{.name = "root",
	 .kind = CLI_TEXT,
	 .value = "NAME",
	 .help = "the module to begin with, by name ('nn.Module: Linear_0' or 'Linear_0'); every call of it is shown"},
	{.name = "uid", .kind = CLI_INT, .value = "UID", .help = "the module to begin with, by UID"},
	{.name = "depth", .kind = CLI_INT, .value = "N", .help = "go N levels deep at most"},
	CLI_SESSION_OPTIONS,
};

void cli_modules_help(void)
{
	printf("usage: tracelens modules [OPTION ...] TRACE\n\n"
	       "Shows the nn.Modules of a model with the GPU time below each, and the time that belongs to none of a\n"
	       "module's children. The trace needs Python frames (with_stack=True in the profiler).\n");
	cli_print_options(stdout, options, cli_width());
}

static int prepare(const cli_args *args, cli_need *need)
{
	if (cli_has(args, "uid") && cli_has(args, "root"))
		return cli_wrong_usage("modules", "--uid and --root exclude each other");
	need->python = true;
	return CLI_OK;
}

/* The modules of a name, with or without what all their names begin with. */
static int find_root(const cli_session *s, const tl_row **out, size_t *n)
{
	const char *name = cli_text(s->args, "root", "");
	tl_error err = TL_ERROR_INIT;
	int code = tl_tree_named(out, n, s->tree, name, &err);
	if (code == 0 && !*n) {
		static const char prefix[] = "nn.Module: ";
		char *full = malloc(sizeof prefix + strlen(name));
		if (!full) {
			cli_say("out of memory");
			return CLI_FAILED;
		}
		strcat(strcpy(full, prefix), name);
		code = tl_tree_named(out, n, s->tree, full, &err);
		free(full);
	}
	if (code < 0)
		return cli_complain(&err, CLI_FAILED);
	if (*n && tl_tree_is_module(s->tree, (*out)[0]))
		return CLI_OK;
	char near[CLI_SENTENCE];
	cli_say("%s: no nn.Module is named '%s'%s", s->path, name, cli_did_you_mean_node(near, name, s->tree, true));
	return CLI_EMPTY;
}

static int print(const cli_session *s, const tl_modules *modules)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	if (s->format == CLI_FORMAT_CSV) {
		if (tl_modules_table(&table, modules, &err) < 0)
			return cli_complain(&err, CLI_FAILED);
		int status = cli_print_table(s, table, NULL, 0, 0);
		tl_table_free(table);
		return status;
	}
	int code = s->format == CLI_FORMAT_JSON ? tl_modules_json(modules, cli_write, NULL, &err)
						: tl_modules_print(modules, cli_write, NULL, &err);
	return code < 0 && code != TL_ECALLBACK ? cli_complain(&err, CLI_FAILED) : cli_finish_output();
}

static int work(cli_session *s)
{
	tl_error err = TL_ERROR_INIT;
	tl_modules *modules;
	const tl_row *roots = NULL;
	tl_row root;
	size_t n = 0, depth = cli_has(s->args, "depth") ? (size_t)cli_number(s->args, "depth", 0) : SIZE_MAX;
	if (cli_has(s->args, "root")) {
		int status = find_root(s, &roots, &n);
		if (status != CLI_OK)
			return status;
	} else if (cli_has(s->args, "uid")) {
		int status = cli_read_uid(&root, s);
		if (status != CLI_OK)
			return status;
		roots = &root;
		n = 1;
	}
	int code = tl_modules_new(&modules, s->analyzer, roots, n, depth, &err);
	if (code == TL_EINVAL) {
		cli_say("%s: %s", s->path, err.message);
		return CLI_USAGE;
	}
	if (code < 0)
		return cli_complain(&err, CLI_FAILED);
	int status = print(s, modules);
	if (status == CLI_OK && !tl_modules_count(modules) && !s->quiet)
		cli_say("%s: no nn.Module is in this trace (was it recorded with_stack and with_modules?)", s->path);
	tl_modules_free(modules);
	return status;
}

int cli_modules(int argc, char **argv)
{
	static const cli_work command = {"modules", options, cli_modules_help, prepare, work};
	return cli_run_session(&command, argc, argv);
}
