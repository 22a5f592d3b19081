/* SPDX-License-Identifier: MIT */
/* The command `tracelens`: finds the subcommand and leaves the rest to it. */
#include <signal.h>
#include <string.h>

#include "cli.h"

static const cli_command commands[] = {
	{"report", "make the performance report of a trace", cli_report, cli_report_help},
	{"timeline", "show what the GPU did, and how long it waited", cli_timeline, cli_timeline_help},
	{"ops", "show GPU time by operation", cli_ops, cli_ops_help},
	{"roofline", "show FLOPs, bytes and rates of operations", cli_roofline, cli_roofline_help},
	{"tree", "print the call tree, or the parents of an event", cli_tree, cli_tree_help},
	{"modules", "show GPU time by nn.Module", cli_modules, cli_modules_help},
	{"compare", "put two or more reports side by side", cli_compare, cli_compare_help},
	{"diff", "compare two traces by their call trees", cli_diff, cli_diff_help},
	{"health", "list what is broken or doubtful in a trace", cli_health, cli_health_help},
	{"model", "compute FLOPs, bytes and bound of an operation from its sizes, without a trace", cli_model,
	 cli_model_help},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const cli_command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[N_COMMANDS + 3] = {"help", "version"};
	for (size_t i = 0; i < N_COMMANDS; i++)
		names[2 + i] = commands[i].name;
	const char *near = cli_nearest(name, names);
	if (near)
		cli_say("unknown command '%s'; did you mean '%s'?", name, near);
	else
		cli_say("unknown command '%s' ('tracelens help' lists the commands)", name);
	return CLI_USAGE;
}

static int print_version(void)
{
	printf("tracelens %s\n", tl_version());
	return cli_finish_output();
}

static int print_help(void)
{
	printf("tracelens reads GPU profiler traces and turns them into tables of where the time goes.\n\n"
	       "usage: tracelens COMMAND [OPTION ...]\n\ncommands:\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	printf("  %-10s %s\n  %-10s %s\n", "help", "say more about a command: tracelens help COMMAND", "version",
	       "print the version");
	printf("\nA first report:  tracelens report trace.json.gz\n");
	return cli_finish_output();
}

static int help(int argc, char **argv)
{
	if (argc == 0)
		return print_help();
	const cli_command *command = find_command(argv[0]);
	if (!command)
		return unknown_command(argv[0]);
	command->help();
	return cli_finish_output();
}

int main(int argc, char **argv)
{
	/* a file that may not grow further is an error as a full disk is: told, and nothing half-written stays */
	signal(SIGXFSZ, SIG_IGN);

	/* installed under the name of the reference's script, it is that script */
	const char *name = argc > 0 ? argv[0] : "";
	const char *slash = strrchr(name, '/');
	name = slash ? slash + 1 : name;
	if (!strcmp(name, "TraceLens_generate_perf_report_pytorch"))
		return cli_report_pytorch(argc - 1, argv + 1);
	if (!strcmp(name, "TraceLens_compare_perf_reports_pytorch"))
		return cli_compare(argc - 1, argv + 1);

	if (argc < 2) {
		print_help();
		return CLI_USAGE;
	}
	const char *word = argv[1];
	if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version"))
		return print_version();
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_help();
	if (!strcmp(word, "help"))
		return help(argc - 2, argv + 2);
	if (word[0] == '-') {
		cli_say("unknown option %s in front of the command ('tracelens help' lists the commands)", word);
		return CLI_USAGE;
	}
	const cli_command *command = find_command(word);
	return command ? command->run(argc - 2, argv + 2) : unknown_command(word);
}
