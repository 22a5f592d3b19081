/* SPDX-License-Identifier: MIT */
/* tracelens report: from a trace to tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"

/* ---- options ---- */

static const char *const colour_choices[] = {"auto", "always", "never", NULL};
static const char *const formats[] = {"pytorch", "jax", "rocprof", "pftrace", NULL};

#define INPUT "input and output"
#define ANALYSIS "analysis"
#define DISPLAY "display and behaviour"

static const cli_option options[] = {
	{.name = "profile_json_path",
	 .kind = CLI_TEXT,
	 .value = "TRACE",
	 .group = INPUT,
	 .help = "the trace: JSON, plain, gzip, zstd or zip; '-' reads standard input. May be given without the "
		 "option"},
	{.name = "output_xlsx_path",
	 .kind = CLI_TEXT,
	 .value = "FILE",
	 .group = INPUT,
	 .help = "write a workbook; without any output option TRACE_perf_report.xlsx beside the trace"},
	{.name = "output_csvs_dir",
	 .kind = CLI_TEXT,
	 .value = "DIR",
	 .group = INPUT,
	 .help = "write one CSV file per sheet into this directory, made when missing"},
	{.name = "output_json_path",
	 .kind = CLI_TEXT,
	 .value = "FILE",
	 .group = INPUT,
	 .help = "write all tables as one JSON object"},

	{.name = "enable_kernel_summary", .kind = CLI_FLAG, .group = ANALYSIS, .help = "add kernel_summary"},
	{.name = "short_kernel_study",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "add short_kernel_histogram and short_kernels_summary"},
	{.name = "short_kernel_threshold_us",
	 .kind = CLI_NUMBER,
	 .value = "N",
	 .group = ANALYSIS,
	 .help = "a kernel is short below N \xc2\xb5s (10)"},
	{.name = "short_kernel_histogram_bins",
	 .kind = CLI_INT,
	 .value = "N",
	 .min = 1,
	 .group = ANALYSIS,
	 .help = "bins of the histogram (100)"},
	{.name = "topk_short_kernels",
	 .kind = CLI_INT,
	 .value = "N",
	 .group = ANALYSIS,
	 .help = "keep the N heaviest rows of short_kernels_summary (all)"},
	{.name = "gpu_arch_platform",
	 .kind = CLI_TEXT,
	 .value = "NAME",
	 .group = ANALYSIS,
	 .help = "add rooflines for this GPU: MI300X, MI325X, MI355X, MI250X, H100_SXM, H200, B200 or A100"},
	{.name = "gpu_arch_json_path",
	 .kind = CLI_TEXT,
	 .value = "FILE",
	 .group = ANALYSIS,
	 .help = "add rooflines for the GPU that this JSON file describes"},
	{.name = "include_unlinked_kernels",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "count GPU events whose launch is not in the trace in the timeline"},
	{.name = "clip_stream_overruns",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "end GPU events that overrun the next one on their stream by 1 ms or more where that one starts"},
	{.name = "micro_idle_thresh_us",
	 .kind = CLI_NUMBER,
	 .value = "N",
	 .group = ANALYSIS,
	 .help = "split idle time into gaps shorter than N \xc2\xb5s and the rest"},
	{.name = "topk_ops",
	 .kind = CLI_INT,
	 .value = "N",
	 .min = 1,
	 .group = ANALYSIS,
	 .help = "keep the N heaviest rows of ops_unique_args (all); percentages stay those of all rows"},
	{.name = "topk_roofline_ops",
	 .kind = CLI_INT,
	 .value = "N",
	 .min = 1,
	 .group = ANALYSIS,
	 .help = "keep the N heaviest rows of each sheet of a model family, such as GEMM (all)"},
	{.name = "group_by_num_kernels",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "in ops_unique_args and the sheets of model families: separate rows for operations that launch "
		 "different "
		 "numbers of kernels"},
	{.name = "include_overlap_info",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "add ..._kl_overlap sheets: separate rows by which kernels run at the same time on other streams"},
	{.name = "include_first_occurrence_time",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "add to ops_unique_args the time at which each row first occurs"},
	{.name = "include_call_stack",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "add to unified_perf_summary the Python frame that calls each operation, and its call stack"},
	{.name = "detect_recompute",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "tell apart what activation checkpointing computes a second time (column is_recompute)"},
	{.name = "enable_pseudo_ops",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "add operations that serving frameworks do not record: MoE GEMMs, MLA, paged decode "
		 "(environment: TL_MODEL, TL_TP)"},
	{.name = "inductor_cache_dir",
	 .kind = CLI_TEXT,
	 .value = "DIR",
	 .group = ANALYSIS,
	 .help = "directory of the code that Inductor generated: completes sizes and types of compiled Triton kernels "
		 "that "
		 "the trace lacks (environment: TORCHINDUCTOR_CACHE_DIR)"},
	{.name = "enable-origami",
	 .kind = CLI_FLAG,
	 .group = ANALYSIS,
	 .help = "accepted for scripts made for the Python tool; has no effect, as there is no simulator here"},
	{.name = "python_path",
	 .kind = CLI_TEXT,
	 .value = "FILE",
	 .group = ANALYSIS,
	 .help = "accepted likewise: interpreter of another simulator"},
	{.name = "extension_file",
	 .kind = CLI_TEXT,
	 .value = "FILE",
	 .group = ANALYSIS,
	 .help = "a Lua file with operation models, categories and changes of the call tree; may be given again"},
	{.name = "comparison_json_path",
	 .kind = CLI_TEXT,
	 .value = "TRACE",
	 .group = ANALYSIS,
	 .help = "compare with this trace: speedup, delta and common ancestors in unified_perf_summary, diff_stats"},
	{.name = "disable_coll_analysis", .kind = CLI_FLAG, .group = ANALYSIS, .help = "leave coll_analysis out"},

	{.name = "strict",
	 .kind = CLI_FLAG,
	 .group = DISPLAY,
	 .help = "refuse a trace that needs a repair (status 6) instead of repairing it"},
	{.name = "no-summary", .kind = CLI_FLAG, .group = DISPLAY, .help = "no summary on standard output"},
	{.name = "quiet",
	 .letter = 'q',
	 .kind = CLI_FLAG,
	 .group = DISPLAY,
	 .help = "print nothing but errors: no summary, no progress"},
	{.name = "color",
	 .kind = CLI_CHOICE,
	 .choices = colour_choices,
	 .group = DISPLAY,
	 .help = "colours in the summary (auto: on a terminal, unless NO_COLOR is set)"},
	{.name = "single-thread", .kind = CLI_FLAG, .group = DISPLAY, .help = "use one thread only"},
	{.name = "help", .letter = 'h', .kind = CLI_FLAG, .group = DISPLAY, .help = "print this help"},
	{0},
};

void cli_report_help(void)
{
	printf("usage: tracelens report [FORMAT] [OPTION ...] TRACE\n\n"
	       "Makes the performance report of a trace: a workbook, CSV files or JSON, and a summary here.\n"
	       "FORMAT is pytorch; without it the content of the file decides. Options can be shortened as long as\n"
	       "they stay unique, and take values as '--name value' or '--name=value'.\n");
	cli_print_options(stdout, options, cli_width());
	printf("\nexit status: 0 fine, 1 failed, 2 wrong usage, 3 unreadable input, 4 input cut off (report made),\n"
	       "5 nothing to analyse, 6 refused by --strict\n");
}

/* ---- what is asked for ---- */

typedef struct job {
	const cli_args *args;
	const char *trace; /* path */
	const char *other; /* of the trace to compare with, or NULL */
	bool format_given;
	tl_report_outputs outputs;
	char *default_path; /* of the workbook, or NULL */
	char *option_text;  /* the options of the analysis, for the workbook's first sheet */
	tl_arch *arch;      /* of the rooflines, or NULL */
	cli_extensions extensions;
	bool quiet, summary, colour;
} job;

static bool drop_ending(char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);
	if (n < m || strcasecmp(path + n - m, ending) != 0)
		return false;
	path[n - m] = '\0';
	return true;
}

/* step7.json.gz -> step7_perf_report.xlsx */
static char *default_workbook(const char *trace)
{
	static const char suffix[] = "_perf_report.xlsx";
	const char *base = strcmp(trace, "-") ? trace : "stdin";
	char *path = malloc(strlen(base) + sizeof suffix);
	if (!path)
		return NULL;
	strcpy(path, base);
	if (!drop_ending(path, ".gz") && !drop_ending(path, ".zst"))
		drop_ending(path, ".zip");
	drop_ending(path, ".json");
	return strcat(path, suffix);
}

/* The options that change the tables, as one line. */
static char *option_line(const cli_args *args)
{
	size_t size = 1;
	for (size_t i = 0; options[i].name; i++)
		if (args->given[i].given) {
			size += strlen(options[i].name) + 4;
			for (size_t k = 0; k < args->given[i].n; k++)
				size += strlen(options[i].name) + 5 + strlen(args->given[i].values[k]);
		}
	char *text = calloc(1, size);
	for (size_t i = 0; text && options[i].name; i++) {
		const cli_given *given = &args->given[i];
		if (!given->given || strcmp(options[i].group, ANALYSIS) != 0)
			continue;
		/* extension files add up; of anything else the last one counts */
		size_t k = given->n && strcmp(options[i].name, "extension_file") != 0 ? given->n - 1 : 0;
		do {
			size_t n = strlen(text);
			snprintf(text + n, size - n, "%s--%s%s%s", n ? " " : "", options[i].name, given->n ? " " : "",
				 given->n ? given->values[k] : "");
		} while (++k < given->n);
	}
	return text;
}

/* The format word and the trace among the positional arguments. */
static int read_positionals(job *j, bool pytorch_given)
{
	const cli_args *args = j->args;
	size_t at = 0;
	j->format_given = pytorch_given;
	if (!pytorch_given && args->n_rest) {
		for (size_t i = 0; formats[i]; i++) {
			if (strcmp(args->rest[0], formats[i]) != 0)
				continue;
			if (i) {
				cli_say("reports of %s traces are not available yet", formats[i]);
				return CLI_USAGE;
			}
			j->format_given = true;
			at = 1;
		}
	}
	j->trace = cli_text(args, "profile_json_path", NULL);
	if (j->trace && at < args->n_rest)
		return cli_wrong_usage("report", "a trace by --profile_json_path and another one: one at a time");
	if (!j->trace && at == args->n_rest)
		return cli_wrong_usage("report", "which trace? give its path");
	if (args->n_rest - at > 1) {
		char text[256];
		snprintf(text, sizeof text, "one trace at a time; what is '%.100s'?", args->rest[at + 1]);
		return cli_wrong_usage("report", text);
	}
	if (!j->trace)
		j->trace = args->rest[at];
	return CLI_OK;
}

/* The trace to compare with. */
static int read_other(job *j)
{
	j->other = cli_text(j->args, "comparison_json_path", NULL);
	if (!j->other)
		return CLI_OK;
	if (!*j->other)
		return cli_wrong_usage("report", "the name of the trace to compare with is empty");
	if (!strcmp(j->other, "-") && !strcmp(j->trace, "-"))
		return cli_wrong_usage("report", "only one of the traces can be standard input");
	return CLI_OK;
}

/* What is read must survive. */
static int check_inputs(const job *j, const char *path)
{
	if (!path || !(cli_same_file(path, j->trace) || (j->other && cli_same_file(path, j->other))))
		return CLI_OK;
	cli_say("%s: this is the trace, the report must go to another file", path);
	return CLI_USAGE;
}

/* Refuses at once what would fail after minutes of work. */
static int check_output(const job *j, const char *path)
{
	struct stat out;
	if (!path || !strcmp(path, "-"))
		return CLI_OK;
	if (stat(path, &out) == 0) {
		if (S_ISDIR(out.st_mode)) {
			cli_say("%s: this is a directory, the report needs a file name", path);
			return CLI_FAILED;
		}
		return check_inputs(j, path);
	}
	const char *slash = strrchr(path, '/');
	char *folder = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
	int status = CLI_OK;
	if (folder && access(folder, W_OK) != 0) {
		cli_say("%s: cannot write there: %s", path, strerror(errno));
		status = CLI_FAILED;
	}
	free(folder);
	return status;
}

/* An empty name is nearly always a variable of a script that was not set. */
static int check_names(const tl_report_outputs *outputs)
{
	bool empty = (outputs->csv_dir && !*outputs->csv_dir) || (outputs->xlsx_path && !*outputs->xlsx_path) ||
		     (outputs->json_path && !*outputs->json_path);
	return empty ? cli_wrong_usage("report", "the name of an output is empty") : CLI_OK;
}

static bool is_standard_output(const char *path)
{
	return path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"));
}

static int read_job(job *j, const cli_args *args, bool pytorch_given)
{
	*j = (job){.args = args};
	int status = read_positionals(j, pytorch_given);
	if (status == CLI_OK)
		status = read_other(j);
	if (status == CLI_OK)
		status = cli_read_arch(&j->arch, args, "report");
	if (status != CLI_OK)
		return status;
	j->outputs = (tl_report_outputs){
		.csv_dir = cli_text(args, "output_csvs_dir", NULL),
		.xlsx_path = cli_text(args, "output_xlsx_path", NULL),
		.json_path = cli_text(args, "output_json_path", NULL),
		.single_thread = cli_has(args, "single-thread"),
	};
	status = check_names(&j->outputs);
	if (status != CLI_OK)
		return status;
	j->option_text = option_line(args);
	if (!j->outputs.csv_dir && !j->outputs.xlsx_path && !j->outputs.json_path)
		j->outputs.xlsx_path = j->default_path = default_workbook(j->trace);
	if (!j->option_text || (!j->outputs.csv_dir && !j->outputs.xlsx_path && !j->outputs.json_path)) {
		cli_say("out of memory");
		return CLI_FAILED;
	}
	bool pipe = is_standard_output(j->outputs.xlsx_path) || is_standard_output(j->outputs.json_path);
	if (is_standard_output(j->outputs.xlsx_path) && is_standard_output(j->outputs.json_path))
		return cli_wrong_usage("report", "only one output can go to standard output");
	if (j->outputs.xlsx_path && j->outputs.json_path && !strcmp(j->outputs.xlsx_path, j->outputs.json_path))
		return cli_wrong_usage("report", "the workbook and the JSON file need different names");
	j->quiet = cli_has(args, "quiet") || pipe;
	j->summary = !j->quiet && !cli_has(args, "no-summary");
	j->colour = cli_colour(cli_text(args, "color", "auto"));
	status = check_inputs(j, j->outputs.csv_dir);
	if (status == CLI_OK)
		status = check_output(j, j->outputs.xlsx_path);
	return status == CLI_OK ? check_output(j, j->outputs.json_path) : status;
}

/* Set for all programs, it may name a directory that is not there (yet): that is no mistake of this command. */
static const char *cache_from_environment(void)
{
	const char *dir = getenv("TORCHINDUCTOR_CACHE_DIR");
	struct stat info;
	return dir && stat(dir, &info) == 0 && S_ISDIR(info.st_mode) && access(dir, R_OK | X_OK) == 0 ? dir : NULL;
}

/* As the Python tool reads them: what is no whole number counts as 1. */
static tl_pseudo_options pseudo_from_environment(void)
{
	const char *gpus = getenv("TL_TP");
	char *end = NULL;
	errno = 0;
	long long n = gpus ? strtoll(gpus, &end, 10) : 1;
	bool valid = !gpus || (end != gpus && !*end && !errno && n > 0);
	return (tl_pseudo_options){.model = getenv("TL_MODEL"), .tensor_parallel = valid ? n : 1};
}

static tl_report_options analysis_options(const cli_args *args)
{
	tl_report_options o = tl_report_options_default();
	o.include_unlinked_kernels = cli_has(args, "include_unlinked_kernels");
	o.clip_stream_overruns = cli_has(args, "clip_stream_overruns");
	o.has_micro_idle_threshold = cli_has(args, "micro_idle_thresh_us");
	o.micro_idle_threshold_us = cli_number(args, "micro_idle_thresh_us", 0);
	o.disable_coll_analysis = cli_has(args, "disable_coll_analysis");
	o.enable_kernel_summary = cli_has(args, "enable_kernel_summary");
	o.short_kernel_study = cli_has(args, "short_kernel_study");
	o.short_kernel_threshold_us = cli_number(args, "short_kernel_threshold_us", o.short_kernel_threshold_us);
	o.short_kernel_bins = (int64_t)cli_number(args, "short_kernel_histogram_bins", (double)o.short_kernel_bins);
	o.topk_short_kernels = (int64_t)cli_number(args, "topk_short_kernels", (double)o.topk_short_kernels);
	o.topk_ops = (int64_t)cli_number(args, "topk_ops", (double)o.topk_ops);
	o.topk_roofline_ops = (int64_t)cli_number(args, "topk_roofline_ops", (double)o.topk_roofline_ops);
	o.group_by_num_kernels = cli_has(args, "group_by_num_kernels");
	o.include_overlap_info = cli_has(args, "include_overlap_info");
	o.include_first_occurrence_time = cli_has(args, "include_first_occurrence_time");
	o.include_call_stack = cli_has(args, "include_call_stack");
	o.inductor_cache_dir = cli_text(args, "inductor_cache_dir", cache_from_environment());
	o.enable_origami = cli_has(args, "enable-origami");
	o.python_path = cli_text(args, "python_path", NULL);
	const char *debug = getenv("TRACELENS_DEBUG");
	o.call_stack_debug = debug && *debug;
	o.detect_recompute = cli_has(args, "detect_recompute");
	o.enable_pseudo_ops = cli_has(args, "enable_pseudo_ops");
	o.pseudo_ops = pseudo_from_environment();
	return o;
}

/* ---- the work ---- */

static int print_summary(const job *j, const tl_report *report, const tl_report_heading *heading)
{
	tl_error err = TL_ERROR_INIT;
	tl_report_style style = {.width = cli_width(), .colour = j->colour};
	char *text;
	int code = tl_report_summary(report, heading, &style, &text, &err);
	if (code < 0)
		return cli_complain(&err, CLI_FAILED);
	int status = cli_print(text);
	free(text);
	return status;
}

static int say_where(const job *j, size_t sheets)
{
	if (j->summary)
		putchar('\n');
	if (j->outputs.xlsx_path)
		cli_print_made("Workbook", j->outputs.xlsx_path, sheets + 1, "sheets");
	if (j->outputs.csv_dir)
		cli_print_made("CSV files", j->outputs.csv_dir, sheets, "files");
	if (j->outputs.json_path)
		cli_print_made("JSON", j->outputs.json_path, 0, "");
	return cli_finish_output();
}

/* Writes and shows a finished report. */
static int deliver(const job *j, const tl_report *report, cli_progress *progress)
{
	tl_error err = TL_ERROR_INIT;
	tl_report_heading heading = {.trace = j->trace, .command = j->option_text};
	bool strict = cli_has(j->args, "strict");
	int status = strict ? cli_check_strict(tl_report_find(report, "trace_health"), j->trace) : CLI_OK;
	if (status == CLI_OK && strict && j->other)
		status = cli_check_strict(tl_report_find(report, "comparison_health"), j->other);
	if (status != CLI_OK)
		return status;
	cli_progress_step(progress, "writing the report");
	int code = tl_report_write(report, &j->outputs, &heading, &err);
	cli_progress_end(progress);
	if (code < 0)
		return cli_complain(&err, CLI_FAILED);
	if (j->summary)
		status = print_summary(j, report, &heading);
	if (status == CLI_OK && !j->quiet)
		status = say_where(j, tl_report_count(report));
	return status;
}

static void tell_of_simulators(const job *j)
{
	static const char *const names[] = {"enable-origami", "python_path"};
	for (size_t i = 0; i < 2 && !j->quiet; i++)
		if (cli_has(j->args, names[i]))
			cli_say("note: --%s: the simulator is no part of this program; the report is made without it",
				names[i]);
}

/* The status of a report that was made. One line at most: that the file is cut off goes first. */
static int judge(const job *j, const tl_report *report, bool truncated)
{
	char text[CLI_SENTENCE];
	tl_time time;
	size_t ambiguous = tl_report_ambiguous(report, &time);
	const char *why = !tl_report_is_empty(report) ? ""
			  : ambiguous                 ? cli_ambiguous(text, ambiguous, time)
						      : "no GPU event with a usable time, nothing to analyse "
							"(was GPU activity switched on in the profiler?)";
	if (truncated)
		cli_say("%s: the file is cut off; the report covers what is there%s%s", j->trace, *why ? ": " : "",
			why);
	else if (*why)
		cli_say("%s: %s", j->trace, why);
	return truncated ? CLI_TRUNCATED : *why ? CLI_EMPTY : CLI_OK;
}

/* Status of a report that was not made. Where another trace is read meanwhile, it may be that one's fault. */
static int failed_status(const job *j, const tl_error *err)
{
	int status = cli_read_status(err->code);
	if (j->other && err->file[0] && strstr(j->other, err->file))
		return status;
	return status == CLI_USAGE || status == CLI_INTERRUPTED ? status : CLI_FAILED;
}

static int make_report(job *j)
{
	int status = j->format_given ? CLI_OK : cli_check_format(j->trace);
	/* of the other one always: what it is says its content, and it is looked at before minutes of work */
	if (status == CLI_OK && j->other)
		status = cli_check_format(j->other);
	if (status != CLI_OK)
		return status;
	tell_of_simulators(j);
	cli_progress progress;
	cli_progress_begin(&progress, j->trace, !j->quiet);
	tl_trace_options to = {.strict = cli_has(j->args, "strict"),
			       .single_thread = cli_has(j->args, "single-thread"),
			       .progress = cli_progress_loading,
			       .user = &progress};
	tl_report_options ro = analysis_options(j->args);
	ro.arch = j->arch;
	ro.hooks = j->extensions.hooks;
	ro.n_hooks = j->extensions.n;
	ro.comparison_path = j->other;
	ro.comparison_trace = &to;
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	tl_report *report = NULL;
	bool truncated = false;
	int code = tl_trace_open(&trace, j->trace, &to, &err);
	if (code < 0) {
		status = cli_read_status(code);
	} else {
		truncated = tl_trace_is_truncated(trace);
		cli_progress_step(&progress, "analysing");
		if (j->other) { /* is read next */
			cli_progress_end(&progress);
			cli_progress_begin(&progress, j->other, !j->quiet);
		}
		code = tl_report_pytorch(&report, trace, &ro, &err);
		status = code < 0 ? failed_status(j, &err) : CLI_OK;
	}
	tl_trace_free(trace); /* the report stands alone; writing need not hold both */
	cli_progress_end(&progress);
	cli_extensions_notes(&j->extensions);
	if (code == 0 && cli_interrupted())
		status = CLI_INTERRUPTED;
	if (status == CLI_OK)
		status = deliver(j, report, &progress);
	cli_progress_end(&progress);
	if (status == CLI_INTERRUPTED)
		cli_say("interrupted, nothing was written");
	else if (code < 0)
		cli_complain(&err, status);
	if (status == CLI_OK)
		status = judge(j, report, truncated);
	tl_report_free(report);
	return status;
}

static int run(int argc, char **argv, bool pytorch_given)
{
	char error[512];
	cli_args args;
	if (cli_parse(&args, options, argc, argv, error, sizeof error) < 0)
		return cli_wrong_usage("report", error);
	int status;
	if (cli_has(&args, "help")) {
		cli_report_help();
		status = cli_finish_output();
	} else {
		job j;
		status = read_job(&j, &args, pytorch_given);
		if (status == CLI_OK) {
			cli_catch_interrupt();
			status = cli_extensions_open(&j.extensions, &args, j.quiet);
			if (status == CLI_OK)
				status = make_report(&j);
		}
		cli_extensions_free(&j.extensions);
		tl_arch_free(j.arch);
		free(j.default_path);
		free(j.option_text);
	}
	cli_args_free(&args);
	return status;
}

int cli_report(int argc, char **argv)
{
	return run(argc, argv, false);
}

int cli_report_pytorch(int argc, char **argv)
{
	return run(argc, argv, true);
}
