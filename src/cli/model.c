/* SPDX-License-Identifier: MIT */
/* tracelens model: what an operation costs, from its sizes alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MOST_ARCHS 32
#define MOST_PARAMETERS 32 /* no family has so many */

static const char *const format_choices[] = {"text", "json", "csv", NULL};

/* ---- options, made from the parameters of a family ---- */

#define PARAMETERS "parameters (default)"
#define PLACE "platform and output"

static const cli_option common[] = {
	{.name = "arch",
	 .kind = CLI_TEXT,
	 .value = "NAME[,NAME ...]",
	 .group = PLACE,
	 .help = "GPU for times and bound: MI300X, MI325X, MI355X, MI250X, H100_SXM, H200, B200 or A100"},
	{.name = "arch_json",
	 .kind = CLI_TEXTS,
	 .value = "FILE",
	 .group = PLACE,
	 .help = "the same of a GPU that a JSON file describes"},
	{.name = "format",
	 .kind = CLI_CHOICE,
	 .choices = format_choices,
	 .group = PLACE,
	 .help = "how to print (text)"},
	{.name = "help", .letter = 'h', .kind = CLI_FLAG, .group = PLACE, .help = "print this help"},
};
enum { N_COMMON = sizeof common / sizeof *common };

/* All options of a family; texts that are made for it are in `texts`. */
typedef struct option_list {
	cli_option *options;
	char **texts;
	size_t n, n_texts;
} option_list;

static void free_options(option_list *list)
{
	for (size_t i = 0; i < list->n_texts; i++)
		free(list->texts[i]);
	free(list->texts);
	free(list->options);
}

/* "a b c" put together; NULL when out of memory. */
static const char *join(option_list *list, const char *a, const char *b, const char *c)
{
	size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
	char *text = malloc(size);
	if (!text)
		return NULL;
	snprintf(text, size, "%s%s%s", a, b, c);
	list->texts[list->n_texts++] = text;
	return text;
}

static const char *value_word(const tl_estimate_param_info *info)
{
	switch (info->kind) {
	case TL_ESTIMATE_INT:
		return "N";
	case TL_ESTIMATE_SHAPE:
		return "AxB...";
	case TL_ESTIMATE_DTYPE:
		return "DTYPE";
	default:
		return "WORD";
	}
}

static bool add_parameter(option_list *list, const tl_estimate_param_info *info)
{
	bool is_flag = info->kind == TL_ESTIMATE_BOOL, is_on = is_flag && !strcmp(info->fallback, "true");
	const char *about = !info->fallback   ? join(list, info->meaning, "; needed", "")
			    : is_on           ? join(list, info->meaning, " (yes)", "")
			    : is_flag         ? info->meaning
			    : *info->fallback ? join(list, info->meaning, " (", info->fallback)
					      : info->meaning;
	if (about && info->fallback && *info->fallback && !is_flag)
		about = join(list, about, ")", "");
	list->options[list->n++] = (cli_option){.name = info->name,
						.kind = is_flag ? CLI_FLAG : CLI_TEXT,
						.value = value_word(info),
						.group = PARAMETERS,
						.help = about};
	if (!is_on)
		return about;
	const char *name = join(list, "no-", info->name, ""), *help = join(list, "switches --", info->name, " off");
	list->options[list->n++] = (cli_option){.name = name, .kind = CLI_FLAG, .group = PARAMETERS, .help = help};
	return about && name && help;
}

static bool make_options(option_list *list, const tl_estimate_family *family)
{
	*list = (option_list){.options = calloc(2 * family->n_params + N_COMMON + 2, sizeof *list->options),
			      .texts = calloc(4 * family->n_params + 1, sizeof *list->texts)};
	bool ok = list->options && list->texts;
	for (size_t i = 0; i < family->n_params && ok; i++)
		ok = add_parameter(list, &family->params[i]);
	if (ok && family->flops_bwd)
		list->options[list->n++] = (cli_option){.name = "backward",
							.kind = CLI_FLAG,
							.group = PARAMETERS,
							.help = "the backward instead of the forward"};
	if (ok)
		memcpy(list->options + list->n, common, sizeof common);
	list->n += N_COMMON;
	return ok;
}

/* ---- help and lists ---- */

void cli_model_help(void)
{
	printf("usage: tracelens model FAMILY [--PARAMETER VALUE ...] [--arch NAME]\n"
	       "       tracelens model --list [--format json]\n\n"
	       "Tells FLOPs and bytes of an operation from its sizes, without a trace, and on a GPU the least time "
	       "that\n"
	       "it needs and whether computing or memory bounds it. 'tracelens model FAMILY --help' explains a "
	       "family's\n"
	       "parameters and formulas, --list all of them. Ranges print a table: --M 1024:65536:*2 doubles,\n"
	       "--K 512:4096:+512 steps, --dtype bf16,fp8 lists; several ranges are combined.\n\nfamilies:\n");
	const tl_estimate_family *family;
	for (size_t i = 0; (family = tl_estimate_family_at(i)); i++)
		printf("  %-20s %s\n", family->name, family->title);
	printf("\nExample:  tracelens model gemm --M 4096 --N 4096 --K 8192 --dtype bf16 --arch MI300X\n");
}

static void print_formulas(const tl_estimate_family *family)
{
	printf("\nformulas (in brackets: 1 when it is so, else 0):\n  FLOPs           %s\n  bytes           %s\n",
	       family->flops, family->bytes);
	if (family->flops_bwd)
		printf("  FLOPs backward  %s\n  bytes backward  %s\n", family->flops_bwd, family->bytes_bwd);
}

static int print_family_help(const tl_estimate_family *family, const option_list *list)
{
	printf("usage: tracelens model %s [--PARAMETER VALUE ...] [--arch NAME]\n\n%s\n", family->name, family->title);
	cli_print_options(stdout, list->options, cli_width());
	print_formulas(family);
	return cli_finish_output();
}

static void list_family(const tl_estimate_family *family)
{
	printf("%s: %s\n", family->name, family->title);
	for (size_t i = 0; i < family->n_params; i++) {
		const tl_estimate_param_info *p = &family->params[i];
		char value[64];
		if (!p->fallback)
			snprintf(value, sizeof value, "needed");
		else
			snprintf(value, sizeof value, "%s", *p->fallback ? p->fallback : "-");
		printf("  %-15s %-7s %s\n", p->name, value, p->meaning);
	}
	if (family->flops_bwd)
		printf("  %-15s %-7s the backward instead of the forward\n", "backward", "false");
	print_formulas(family);
	putchar('\n');
}

static int print_list(void)
{
	const tl_estimate_family *family;
	const char *name;
	for (size_t i = 0; (family = tl_estimate_family_at(i)); i++)
		list_family(family);
	printf("dtypes:");
	for (size_t i = 0; (name = tl_estimate_dtype(i)); i++)
		printf(" %s", name);
	printf("\n\nplatforms (--arch):\n");
	for (size_t i = 0; (name = tl_arch_bundled(i)); i++) {
		tl_arch *arch;
		tl_error err = TL_ERROR_INIT;
		if (tl_arch_find(&arch, name, &err) < 0)
			return cli_complain(&err, CLI_FAILED);
		printf("  %-10s %6g GB/s  %s\n", name, tl_arch_bandwidth(arch) / 1e9, tl_arch_note(arch));
		tl_arch_free(arch);
	}
	return cli_finish_output();
}

/* ---- the list for programs ---- */

static void put_json(const char *key, const char *text)
{
	printf("\"%s\":", key);
	if (!text) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < ' ')
			printf("\\u%04x", c);
		else
			printf(c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	putchar('"');
}

static void put_family(const tl_estimate_family *family)
{
	static const char *const kinds[] = {[TL_ESTIMATE_INT] = "integer",
					    [TL_ESTIMATE_BOOL] = "boolean",
					    [TL_ESTIMATE_SHAPE] = "shape",
					    [TL_ESTIMATE_DTYPE] = "dtype",
					    [TL_ESTIMATE_CHOICE] = "choice"};
	putchar('{');
	put_json("name", family->name);
	putchar(',');
	put_json("title", family->title);
	fputs(",\"parameters\":[", stdout);
	for (size_t i = 0; i < family->n_params; i++) {
		const tl_estimate_param_info *p = &family->params[i];
		printf(i ? ",{" : "{");
		put_json("name", p->name);
		putchar(',');
		put_json("kind", kinds[p->kind]);
		printf(",\"needed\":%s,", p->fallback ? "false" : "true");
		put_json("default", p->fallback && *p->fallback ? p->fallback : NULL);
		putchar(',');
		put_json("choices", p->choices);
		putchar(',');
		put_json("meaning", p->meaning);
		putchar('}');
	}
	printf("],\"backward\":%s,", family->flops_bwd ? "true" : "false");
	put_json("flops", family->flops);
	putchar(',');
	put_json("bytes", family->bytes);
	putchar(',');
	put_json("flops_bwd", family->flops_bwd);
	putchar(',');
	put_json("bytes_bwd", family->bytes_bwd);
	putchar('}');
}

static int print_list_json(void)
{
	const tl_estimate_family *family;
	const char *name;
	fputs("{\"families\":[", stdout);
	for (size_t i = 0; (family = tl_estimate_family_at(i)); i++) {
		fputs(i ? ",\n" : "\n", stdout);
		put_family(family);
	}
	fputs("],\n\"dtypes\":[", stdout);
	for (size_t i = 0; (name = tl_estimate_dtype(i)); i++)
		printf("%s\"%s\"", i ? "," : "", name);
	fputs("],\n\"platforms\":[", stdout);
	for (size_t i = 0; (name = tl_arch_bundled(i)); i++) {
		tl_arch *arch;
		tl_error err = TL_ERROR_INIT;
		if (tl_arch_find(&arch, name, &err) < 0)
			return cli_complain(&err, CLI_FAILED);
		fputs(i ? ",{" : "{", stdout);
		put_json("name", name);
		printf(",\"mem_bw_gbps\":%.17g,", tl_arch_bandwidth(arch) / 1e9);
		put_json("note", tl_arch_note(arch));
		putchar('}');
		tl_arch_free(arch);
	}
	puts("]}");
	return cli_finish_output();
}

/* --list [--format text|json] */
static int run_list(int argc, char **argv)
{
	static const char *const formats[] = {"text", "json", NULL};
	static const cli_option options[] = {{.name = "list", .kind = CLI_FLAG},
					     {.name = "format", .kind = CLI_CHOICE, .choices = formats},
					     {.name = NULL}};
	cli_args args = {0};
	char error[512];
	if (cli_parse(&args, options, argc, argv, error, sizeof error) < 0)
		return cli_wrong_usage("model", error);
	bool json = !strcmp(cli_text(&args, "format", "text"), "json");
	int status = args.n_rest ? cli_wrong_usage("model", "--list takes no family")
		     : json      ? print_list_json()
				 : print_list();
	cli_args_free(&args);
	return status;
}

/* ---- what is asked for ---- */

typedef struct job {
	const tl_estimate_family *family;
	const cli_args *args;
	tl_estimate_param params[MOST_PARAMETERS];
	size_t n_params;
	tl_arch *archs[MOST_ARCHS];
	size_t n_archs;
} job;

static void add_value(job *j, const char *name, const char *text)
{
	if (j->n_params < MOST_PARAMETERS)
		j->params[j->n_params++] = (tl_estimate_param){.name = name, .text = text};
}

/* Flags and values of the command line as parameters, in the order of the family. */
static void read_parameters(job *j)
{
	for (size_t i = 0; i < j->family->n_params; i++) {
		const tl_estimate_param_info *info = &j->family->params[i];
		if (info->kind != TL_ESTIMATE_BOOL) {
			const char *text = cli_text(j->args, info->name, NULL);
			if (text)
				add_value(j, info->name, text);
			continue;
		}
		char off[64];
		snprintf(off, sizeof off, "no-%s", info->name);
		if (cli_has(j->args, off))
			add_value(j, info->name, "false");
		else if (cli_has(j->args, info->name))
			add_value(j, info->name, "true");
	}
	if (j->family->flops_bwd && cli_has(j->args, "backward"))
		add_value(j, "backward", "true");
}

static int add_arch(job *j, int code, tl_arch *arch, const tl_error *err)
{
	if (code < 0)
		return cli_complain(err, code == TL_ENOMEM ? CLI_FAILED : CLI_USAGE);
	if (j->n_archs == MOST_ARCHS) {
		tl_arch_free(arch);
		cli_say("at most %d platforms at once", MOST_ARCHS);
		return CLI_USAGE;
	}
	j->archs[j->n_archs++] = arch;
	return CLI_OK;
}

static int read_archs(job *j)
{
	const cli_given *files = cli_get(j->args, "arch_json");
	const char *names = cli_text(j->args, "arch", "");
	int status = CLI_OK;
	while (*names && status == CLI_OK) {
		char name[128];
		size_t n = strcspn(names, ",");
		tl_arch *arch = NULL;
		tl_error err = TL_ERROR_INIT;
		snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), names);
		int code = tl_arch_find(&arch, name, &err);
		status = add_arch(j, code, arch, &err);
		names += n;
		names += *names == ',';
	}
	for (size_t i = 0; i < files->n && status == CLI_OK; i++) {
		tl_arch *arch = NULL;
		tl_error err = TL_ERROR_INIT;
		int code = tl_arch_load(&arch, files->values[i], &err);
		status = add_arch(j, code, arch, &err);
	}
	return status;
}

/* ---- printing ---- */

/* "274,877,906,944"; doubles that are no counts with six digits */
static void grouped(char out[64], double value)
{
	char digits[40];
	if (!(fabs(value) < 1e15) || value != floor(value)) {
		snprintf(out, 64, "%.6g", value);
		return;
	}
	snprintf(digits, sizeof digits, "%.0f", value);
	size_t n = strlen(digits), k = 0;
	for (size_t i = 0; i < n; i++) {
		out[k++] = digits[i];
		if (i + 1 < n && (n - i - 1) % 3 == 0 && digits[i] != '-')
			out[k++] = ',';
	}
	out[k] = '\0';
}

static double cell(const tl_table *t, const char *column, size_t row)
{
	ptrdiff_t c = tl_table_find_column(t, column);
	return c < 0 ? NAN : tl_table_double(t, (size_t)c, row);
}

static const char *text_cell(char *out, size_t size, const tl_table *t, const char *column, size_t row)
{
	ptrdiff_t c = tl_table_find_column(t, column);
	*out = '\0';
	if (c >= 0)
		tl_table_text(t, (size_t)c, row, out, size);
	return out;
}

static void print_line(const char *name, double value, const char *unit, const char *unknown)
{
	char number[64];
	if (isnan(value)) {
		printf("  %-15s %s\n", name, unknown);
		return;
	}
	grouped(number, value);
	printf("  %-15s %s%s\n", name, number, unit);
}

/* Times of one row on its platform. */
static void print_place(const tl_table *t, size_t row)
{
	char name[128], spec[64], kind[32], bound[32];
	double rate = cell(t, "Rate (TFLOPS)", row), knee = cell(t, "Knee (FLOPS/Byte)", row);
	text_cell(spec, sizeof spec, t, "Compute Spec", row);
	text_cell(kind, sizeof kind, t, "Rate Kind", row);
	text_cell(bound, sizeof bound, t, "Roofline Bound", row);
	printf("\non %s", text_cell(name, sizeof name, t, "platform", row));
	if (!isnan(rate))
		printf(", %s at %.6g TFLOPS (%s)", spec, rate, kind);
	else if (*spec)
		printf(", which has no rate for %s", spec);
	putchar('\n');
	print_line("knee", knee, " FLOP/byte", "not known");
	print_line("compute time", cell(t, "Compute Time (\xc2\xb5s)", row), " \xc2\xb5s", "not known");
	print_line("memory time", cell(t, "Memory Time (\xc2\xb5s)", row), " \xc2\xb5s", "not known");
	print_line("roofline time", cell(t, "Roofline Time (\xc2\xb5s)", row), " \xc2\xb5s", "not known");
	printf("  %-15s %s\n", "bound",
	       !strcmp(bound, "COMPUTE_BOUND")  ? "compute"
	       : !strcmp(bound, "MEMORY_BOUND") ? "memory"
						: "not known");
}

static void print_one(const job *j, const tl_table *t)
{
	char spec[64], value[256];
	printf("%s: %s\n", j->family->name, j->family->title);
	for (size_t i = 0; i < j->n_params; i++)
		printf("  %-15s %s\n", j->params[i].name, text_cell(value, sizeof value, t, j->params[i].name, 0));
	putchar('\n');
	print_line("FLOPs", cell(t, "FLOPs", 0), "", "not known");
	print_line("bytes", cell(t, "Bytes", 0), "", "not known: a dtype is unknown");
	print_line("intensity", cell(t, "FLOPS/Byte", 0), " FLOP/byte", "not known");
	text_cell(spec, sizeof spec, t, "Compute Spec", 0);
	printf("  %-15s %s\n", "compute spec", *spec ? spec : "none");
	for (size_t row = 0; row < j->n_archs; row++)
		print_place(t, row);
}

static bool is_constant(const tl_table *t, size_t column)
{
	char first[256], other[256];
	tl_table_text(t, column, 0, first, sizeof first);
	for (size_t r = 1; r < tl_table_rows(t); r++) {
		tl_table_text(t, column, r, other, sizeof other);
		if (strcmp(first, other) != 0)
			return false;
	}
	return true;
}

/* Column heads for a terminal; the full names stand in CSV and JSON. */
static const char *short_name(const char *name)
{
	static const struct {
		const char *name, *shorter;
	} names[] = {{"Bytes", "bytes"},
		     {"FLOPS/Byte", "FLOP/B"},
		     {"Compute Spec", "spec"},
		     {"Rate (TFLOPS)", "TFLOPS"},
		     {"Rate Kind", "rate"},
		     {"Knee (FLOPS/Byte)", "knee"},
		     {"Compute Time (\xc2\xb5s)", "compute \xc2\xb5s"},
		     {"Memory Time (\xc2\xb5s)", "memory \xc2\xb5s"},
		     {"Roofline Time (\xc2\xb5s)", "roofline \xc2\xb5s"},
		     {"Roofline Bound", "bound"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, name))
			return names[i].shorter;
	return name;
}

static void cell_for_table(char *out, size_t size, const tl_table *t, size_t column, size_t row)
{
	if (tl_table_is_null(t, column, row))
		snprintf(out, size, "-");
	else if (tl_table_column_type(t, column) == TL_TYPE_DOUBLE)
		snprintf(out, size, "%.5g", tl_table_double(t, column, row));
	else
		tl_table_text(t, column, row, out, size);
}

/* What is the same in all rows stands above, what differs in columns as wide as needed. */
static void print_table(const job *j, const tl_table *t)
{
	enum { MOST = 64 };
	size_t shown[MOST], width[MOST], n = 0;
	char text[256];
	printf("%s: %s\n", j->family->name, j->family->title);
	for (size_t c = 0; c < tl_table_columns(t) && n < MOST; c++) {
		const char *name = tl_table_column_name(t, c);
		bool result = !strcmp(name, "FLOPs") || !strcmp(name, "Bytes");
		if (!result && is_constant(t, c)) {
			cell_for_table(text, sizeof text, t, c, 0);
			printf("  %-15s %s\n", short_name(name), text);
			continue;
		}
		shown[n] = c;
		name = short_name(name);
		width[n] = strlen(name) - (strstr(name, "\xc2\xb5") != NULL);
		for (size_t r = 0; r < tl_table_rows(t); r++) {
			cell_for_table(text, sizeof text, t, c, r);
			width[n] = strlen(text) > width[n] ? strlen(text) : width[n];
		}
		n++;
	}
	putchar('\n');
	for (size_t i = 0; i < n; i++) {
		const char *name = short_name(tl_table_column_name(t, shown[i]));
		int extra = strstr(name, "\xc2\xb5") != NULL; /* two bytes in one column */
		printf("%s%*s", i ? "  " : "", (int)width[i] + extra, name);
	}
	putchar('\n');
	for (size_t r = 0; r < tl_table_rows(t); r++) {
		for (size_t i = 0; i < n; i++) {
			cell_for_table(text, sizeof text, t, shown[i], r);
			printf("%s%*s", i ? "  " : "", (int)width[i], text);
		}
		putchar('\n');
	}
}

static void print_csv_cell(const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

static void print_csv(const tl_table *t)
{
	char text[512];
	size_t columns = tl_table_columns(t);
	for (size_t c = 0; c < columns; c++) {
		print_csv_cell(tl_table_column_name(t, c));
		putchar(c + 1 < columns ? ',' : '\n');
	}
	for (size_t r = 0; r < tl_table_rows(t); r++)
		for (size_t c = 0; c < columns; c++) {
			tl_table_text(t, c, r, text, sizeof text);
			print_csv_cell(text);
			putchar(c + 1 < columns ? ',' : '\n');
		}
}

static int print_json(const tl_table *t)
{
	char *text;
	size_t size;
	tl_error err = TL_ERROR_INIT;
	if (tl_table_json(t, &text, &size, &err) < 0)
		return cli_complain(&err, CLI_FAILED);
	fwrite(text, 1, size, stdout);
	free(text);
	putchar('\n');
	return CLI_OK;
}

static int print_result(const job *j, const tl_table *t)
{
	const char *format = cli_text(j->args, "format", "text");
	size_t rows = tl_table_rows(t);
	int status = CLI_OK;
	if (!strcmp(format, "json"))
		status = print_json(t);
	else if (!strcmp(format, "csv"))
		print_csv(t);
	else if (rows == 1 || rows == j->n_archs)
		print_one(j, t);
	else
		print_table(j, t);
	return status == CLI_OK ? cli_finish_output() : status;
}

/* ---- the work ---- */

static int evaluate(job *j)
{
	tl_table *table;
	tl_error err = TL_ERROR_INIT;
	int code = tl_estimate_sweep(&table, j->family->name, j->params, j->n_params, (const tl_arch *const *)j->archs,
				     j->n_archs, &err);
	if (code < 0)
		return cli_complain(&err, code == TL_ENOMEM ? CLI_FAILED : CLI_USAGE);
	int status = print_result(j, table);
	tl_table_free(table);
	return status;
}

static int run_family(const tl_estimate_family *family, const option_list *list, const cli_args *args)
{
	job j = {.family = family, .args = args};
	if (cli_has(args, "help"))
		return print_family_help(family, list);
	if (args->n_rest) {
		cli_say("'%s' is one word too many; parameters are given as --NAME VALUE", args->rest[0]);
		return CLI_USAGE;
	}
	read_parameters(&j);
	int status = read_archs(&j);
	if (status == CLI_OK)
		status = evaluate(&j);
	for (size_t i = 0; i < j.n_archs; i++)
		tl_arch_free(j.archs[i]);
	return status;
}

static int unknown_family(const char *name)
{
	const char *names[128] = {NULL};
	const tl_estimate_family *family;
	for (size_t i = 0; i < 127 && (family = tl_estimate_family_at(i)); i++)
		names[i] = family->name;
	const char *near = cli_nearest(name, names);
	if (near)
		cli_say("unknown model family '%s'; did you mean '%s'?", name, near);
	else
		cli_say("unknown model family '%s' ('tracelens model --help' lists them)", name);
	return CLI_USAGE;
}

int cli_model(int argc, char **argv)
{
	if (argc == 0)
		return cli_wrong_usage("model", "which family? For example: tracelens model gemm --M 1 --N 1 --K 1");
	if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")) {
		cli_model_help();
		return cli_finish_output();
	}
	if (!strcmp(argv[0], "--list"))
		return run_list(argc, argv);
	if (argv[0][0] == '-')
		return cli_wrong_usage("model", "the family comes first, then its parameters");
	const tl_estimate_family *family = tl_estimate_family_find(argv[0]);
	if (!family)
		return unknown_family(argv[0]);

	option_list list;
	cli_args args = {0};
	char error[512];
	int status;
	if (!make_options(&list, family)) {
		cli_say("out of memory");
		status = CLI_FAILED;
	} else if (cli_parse(&args, list.options, argc - 1, argv + 1, error, sizeof error) < 0) {
		char command[64];
		snprintf(command, sizeof command, "model %s", family->name);
		status = cli_wrong_usage(command, error);
	} else {
		status = run_family(family, &list, &args);
		cli_args_free(&args);
	}
	free_options(&list);
	return status;
}
