/* SPDX-License-Identifier: MIT */
/* tracelens tree: what calls what, from Python frames to GPU work. */
#include <stdlib.h>
#include <string.h>

#include "session.h"

static const cli_option options[] = {
	{.name = "uid", .kind = CLI_INT, .value = "UID", .help = "the event to show, with what is below it"},
	{.name = "op",
	 .kind = CLI_TEXT,
	 .value = "NAME",
	 .help = "the first event of this name (an operation, a kernel, a frame)"},
	{.name = "every", .kind = CLI_FLAG, .help = "with --op: every event of the name"},
	{.name = "parents", .kind = CLI_FLAG, .help = "the chain of parents up to the root instead"},
	{.name = "fields",
	 .kind = CLI_TEXT,
	 .value = "LIST",
	 .help = "arguments of operations to show, with commas between: 'Input Dims,Input type'"},
	{.name = "python", .kind = CLI_FLAG, .help = "with Python frames"},
	{.name = "all", .kind = CLI_FLAG, .help = "also events without GPU work below them"},
	{.name = "backward", .kind = CLI_FLAG, .help = "also the backward operations of forward ones"},
	{.name = "forward",
	 .kind = CLI_FLAG,
	 .help = "with --parents: from the root of a backward operation on to its forward operation"},
	CLI_SESSION_OPTIONS,
};

void cli_tree_help(void)
{
	printf("usage: tracelens tree [OPTION ...] TRACE\n\n"
	       "Prints the call tree: of the whole trace, below one event, or the parents of one event.\n");
	cli_print_options(stdout, options, cli_width());
}

/* Names between commas; the texts point into `copy`, which is freed with the list. */
typedef struct fields {
	char *copy;
	const char **names;
	size_t n;
} fields;

static int split_fields(fields *out, const char *list)
{
	*out = (fields){0};
	if (!list)
		return CLI_OK;
	out->copy = strdup(list);
	out->names = calloc(strlen(list) + 1, sizeof *out->names);
	if (!out->copy || !out->names) {
		cli_say("out of memory");
		return CLI_FAILED;
	}
	for (char *rest = out->copy, *name; (name = strsep(&rest, ",")) != NULL;) {
		while (*name == ' ')
			name++;
		size_t n = strlen(name);
		while (n && name[n - 1] == ' ')
			name[--n] = '\0';
		if (n)
			out->names[out->n++] = name;
	}
	return CLI_OK;
}

/* Whether the store holds a field anyway, without whole events. */
static bool is_kept(const char *name)
{
	static const char *const kept[] = {"Input Dims",  "Input type",      "Input Strides", "Concrete Inputs",
					   "kernel_file", "Sequence number", "Fwd thread id", "External id"};
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (!strcmp(kept[i], name))
			return true;
	return false;
}

static int prepare(const cli_args *args, cli_need *need)
{
	fields f;
	if (cli_has(args, "uid") && cli_has(args, "op"))
		return cli_wrong_usage("tree", "--uid and --op exclude each other");
	if (cli_has(args, "parents") && !cli_has(args, "uid") && !cli_has(args, "op"))
		return cli_wrong_usage("tree", "--parents of which event? give --uid or --op");
	if (cli_has(args, "every") && !cli_has(args, "op"))
		return cli_wrong_usage("tree", "--every goes with --op");
	int status = split_fields(&f, cli_text(args, "fields", NULL));
	for (size_t i = 0; i < f.n; i++)
		need->raw |= !is_kept(f.names[i]);
	free(f.copy);
	free(f.names);
	need->python = cli_has(args, "python");
	return status;
}

/* ---- which events ---- */

typedef struct chosen {
	tl_row *events; /* starting points; freed by work */
	size_t n;
} chosen;

static int no_memory(void)
{
	cli_say("out of memory");
	return CLI_FAILED;
}

static int choose_uid(const cli_session *s, chosen *out)
{
	tl_row uid;
	int status = cli_read_uid(&uid, s);
	if (status != CLI_OK)
		return status;
	out->events = malloc(sizeof *out->events);
	if (!out->events)
		return no_memory();
	out->events[0] = uid;
	out->n = 1;
	return CLI_OK;
}

static int choose_name(const cli_session *s, chosen *out)
{
	const char *name = cli_text(s->args, "op", "");
	const tl_row *found;
	size_t n;
	tl_error err = TL_ERROR_INIT;
	if (tl_tree_named(&found, &n, s->tree, name, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	if (!n) {
		char near[CLI_SENTENCE];
		cli_did_you_mean_node(near, name, s->tree, false);
		cli_say("%s: no event of the tree is named '%s'%s", s->path, name,
			*near || tl_tree_has_python(s->tree) ? near : " (Python frames need --python)");
		return CLI_EMPTY;
	}
	if (!cli_has(s->args, "every")) {
		if (n > 1 && !s->quiet)
			cli_say("%zu events are named '%s'; this is the first, --every shows all", n, name);
		n = 1;
	}
	out->events = malloc(n * sizeof *out->events);
	if (!out->events)
		return no_memory();
	memcpy(out->events, found, n * sizeof *found);
	out->n = n;
	return CLI_OK;
}

static int choose_roots(const cli_session *s, chosen *out)
{
	size_t n = tl_tree_roots(s->tree, NULL, 0);
	out->events = malloc((n + 1) * sizeof *out->events);
	if (!out->events)
		return no_memory();
	for (size_t i = 0, found = tl_tree_roots(s->tree, out->events, n); i < found; i++) {
		size_t gpu;
		tl_tree_gpu_events(s->tree, out->events[i], &gpu);
		if (gpu || cli_has(s->args, "all"))
			out->events[out->n++] = out->events[i];
	}
	return CLI_OK;
}

/* ---- as text ---- */

static int print_text(const cli_session *s, const chosen *c)
{
	fields f;
	tl_error err = TL_ERROR_INIT;
	int status = split_fields(&f, cli_text(s->args, "fields", NULL)), code = 0;
	tl_print_options po = {.fields = f.names,
			       .n_fields = f.n,
			       .all = cli_has(s->args, "all"),
			       .backward = cli_has(s->args, "backward"),
			       .follow_forward = cli_has(s->args, "forward")};
	for (size_t i = 0; i < c->n && status == CLI_OK && code == 0; i++)
		code = cli_has(s->args, "parents")
			       ? tl_tree_print_parents(s->tree, c->events[i], &po, cli_write, NULL, NULL, &err)
			       : tl_tree_print(s->tree, c->events[i], &po, cli_write, NULL, &err);
	free(f.copy);
	free(f.names);
	if (code == TL_ECALLBACK) /* standard output is closed or full, which is told here */
		return cli_finish_output();
	if (code < 0)
		return cli_complain(&err, CLI_FAILED);
	return status == CLI_OK ? cli_finish_output() : status;
}

/* ---- as data ---- */

static int compare(const void *a, const void *b)
{
	tl_row x = *(const tl_row *)a, y = *(const tl_row *)b;
	return x < y ? -1 : x > y;
}

/* The events of all subtrees by UID, or the chain of parents upwards; each once. */
static int expand(const cli_session *s, const chosen *c, tl_row **out, size_t *n)
{
	size_t room = 0;
	bool parents = cli_has(s->args, "parents");
	*n = 0;
	for (size_t i = 0; i < c->n; i++) {
		size_t up = 0;
		for (tl_row e = c->events[i]; parents && e != TL_ROW_NONE; e = tl_tree_parent(s->tree, e))
			up++;
		size_t size = tl_tree_subtree_size(s->tree, c->events[i]);
		room += parents ? up : size ? size : 1;
	}
	tl_row *v = malloc((room + 1) * sizeof *v);
	if (!v)
		return no_memory();
	for (size_t i = 0; i < c->n; i++) {
		size_t size;
		const tl_row *below = tl_tree_subtree(s->tree, c->events[i], &size);
		for (tl_row e = c->events[i]; parents && e != TL_ROW_NONE; e = tl_tree_parent(s->tree, e))
			v[(*n)++] = e;
		if (!parents && size)
			memcpy(v + *n, below, size * sizeof *v);
		else if (!parents)
			v[*n] = c->events[i], size = 1; /* outside the tree */
		*n += parents ? 0 : size;
	}
	if (!parents) {
		qsort(v, *n, sizeof *v, compare);
		size_t kept = 0;
		for (size_t i = 0; i < *n; i++)
			if (!i || v[i] != v[i - 1])
				v[kept++] = v[i];
		*n = kept;
	}
	*out = v;
	return CLI_OK;
}

/* `events` NULL: all nodes. */
static int print_data(const cli_session *s, const tl_row *events, size_t n)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *table;
	if (s->format == CLI_FORMAT_JSON) {
		int code = tl_tree_json(s->tree, events, n, cli_write, NULL, &err);
		return code < 0 && code != TL_ECALLBACK ? cli_complain(&err, CLI_FAILED) : cli_finish_output();
	}
	if (tl_tree_table(&table, s->tree, events, n, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	int status = cli_print_table(s, table, NULL, 0, 0);
	tl_table_free(table);
	return status;
}

static int work(cli_session *s)
{
	chosen c = {0};
	bool one = cli_has(s->args, "uid"), named = cli_has(s->args, "op");
	if (!one && !named && s->format != CLI_FORMAT_TEXT)
		return print_data(s, NULL, 0);
	int status = one ? choose_uid(s, &c) : named ? choose_name(s, &c) : choose_roots(s, &c);
	if (!one && !named && status == CLI_OK && !c.n && !s->quiet)
		cli_say("%s: %s", s->path,
			tl_tree_roots(s->tree, NULL, 0) ? "no event leads to GPU work (--all shows the others, too)"
							: "there is no event that could be in a call tree");
	if (status == CLI_OK && s->format == CLI_FORMAT_TEXT) {
		status = print_text(s, &c);
	} else if (status == CLI_OK) {
		tl_row *events;
		size_t n;
		status = expand(s, &c, &events, &n);
		if (status == CLI_OK) {
			status = print_data(s, events, n);
			free(events);
		}
	}
	free(c.events);
	return status;
}

int cli_tree(int argc, char **argv)
{
	static const cli_work command = {"tree", options, cli_tree_help, prepare, work};
	return cli_run_session(&command, argc, argv);
}
