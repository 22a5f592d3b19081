/* SPDX-License-Identifier: MIT */
/* From paths to reports to their comparison. */
#include "report/comparison.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "io/xlsx_reader.h"

/* ---- what is asked for ---- */

static const struct {
	const char *word;
	unsigned groups;
} group_words[] = {
	{"gpu_timeline", TL_CMP_GPU_TIMELINE},
	{"ops_summary", TL_CMP_OPS_SUMMARY},
	{"kernel_summary", TL_CMP_KERNEL_SUMMARY},
	{"ops_all", TL_CMP_OPS_ALL},
	{"roofline", TL_CMP_ROOFLINE},
	{"all", TL_CMP_ALL},
};
enum { N_GROUP_WORDS = sizeof group_words / sizeof *group_words };

static int read_groups(unsigned *out, bool *all_there, const tl_compare_options *o, tl_error *err)
{
	*all_there = !o || !o->n_sheets;
	*out = *all_there ? TL_CMP_ALL : 0;
	for (size_t i = 0; o && i < o->n_sheets; i++) {
		size_t k = 0;
		while (k < N_GROUP_WORDS && strcmp(o->sheets[i], group_words[k].word) != 0)
			k++;
		if (k == N_GROUP_WORDS)
			return tl__fail(err, TL_EINVAL,
					"unknown sheets '%.50s' (gpu_timeline, ops_summary, kernel_summary, ops_all, "
					"roofline or all)",
					o->sheets[i]);
		*out |= group_words[k].groups;
		*all_there |= group_words[k].groups == TL_CMP_ALL;
	}
	return 0;
}

/* ---- tags ---- */

static bool drop_ending(char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);
	if (n <= m || strcasecmp(name + n - m, ending) != 0)
		return false;
	name[n - m] = '\0';
	return true;
}

/* The last part of the path, without its ending: runs/b.c.xlsx is b.c, runs/step7.json.gz is step7. */
static char *tag_of(const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	size_t start = n;
	while (start > 0 && path[start - 1] != '/')
		start--;
	char *tag = tl__strndup(path + start, n - start);
	if (!tag)
		return NULL;
	if (drop_ending(tag, ".gz") || drop_ending(tag, ".zst") || drop_ending(tag, ".zip")) {
		drop_ending(tag, ".json");
		return tag;
	}
	char *dot = strrchr(tag, '.');
	if (dot && dot > tag && strspn(tag, ".") < strlen(tag))
		*dot = '\0';
	return tag;
}

static int check_tags(const tl_comparison *c, tl_error *err)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!*c->tags[i])
			return tl__fail(err, TL_EINVAL, "the name of report %zu is empty", i + 1);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(c->tags[i], c->tags[k]))
				return tl__fail(err, TL_EINVAL,
						"two reports are called '%.100s'; tell them apart with --names",
						c->tags[i]);
	}
	return 0;
}

static int take_names(tl_comparison *c, const char *const *paths, const tl_compare_options *o, tl_error *err)
{
	if (o && o->names && o->n_names != c->n)
		return tl__fail(err, TL_EINVAL, "%zu names for %zu reports: --names needs one a report", o->n_names,
				c->n);
	for (size_t i = 0; i < c->n; i++) {
		const char *path = paths ? paths[i] : o->names[i];
		c->paths[i] = tl__strdup(path);
		c->tags[i] = o && o->names ? tl__strdup(o->names[i]) : tag_of(path);
		if (!c->paths[i] || !c->tags[i])
			return tl__nomem(err);
	}
	return check_tags(c, err);
}

static int new_comparison(tl_comparison **out, const char *const *paths, size_t n, const tl_compare_options *o,
			  tl_error *err)
{
	*out = NULL;
	if (n < 2)
		return tl__fail(err, TL_EINVAL, "at least two reports are needed to compare");
	if (!paths && (!o || !o->names))
		return tl__fail(err, TL_EINVAL, "reports in memory need names");
	for (size_t i = 0; paths && i < n; i++)
		if (!paths[i])
			return tl__fail(err, TL_EINVAL, "report %zu has no name", i + 1);
	tl_comparison *c = tl__calloc(1, sizeof *c);
	if (c) {
		c->tags = tl__calloc(n, sizeof *c->tags);
		c->paths = tl__calloc(n, sizeof *c->paths);
		c->n = c->tags && c->paths ? n : 0;
	}
	int code = c && c->n ? take_names(c, paths, o, err) : tl__nomem(err);
	if (code < 0) {
		tl_comparison_free(c);
		return code;
	}
	*out = c;
	return 0;
}

void tl_comparison_free(tl_comparison *comparison)
{
	if (!comparison)
		return;
	for (size_t i = 0; i < comparison->n; i++) {
		tl__free(comparison->tags[i]);
		tl__free(comparison->paths[i]);
	}
	tl__free(comparison->tags);
	tl__free(comparison->paths);
	tl__cmp_result_free(&comparison->result);
	for (size_t i = 0; comparison->reports && i < comparison->n; i++)
		tl_report_free(comparison->reports[i]);
	tl__free(comparison->reports);
	tl__free(comparison);
}

/* ---- reports ---- */

static int report_of_trace(tl_report **out, tl_comparison *c, const char *path, unsigned groups,
			   const tl_compare_options *o, tl_error *err)
{
	tl_format format = TL_FORMAT_PYTORCH;
	if (strcmp(path, "-") != 0)
		TL_TRY(tl_format_detect(&format, path, err));
	if (format != TL_FORMAT_PYTORCH && format != TL_FORMAT_UNKNOWN) {
		int code = tl__fail(err, TL_EUNSUPPORTED,
				    "it is neither a report nor a PyTorch trace; make its report first");
		tl__error_where(err, path, -1);
		return code;
	}
	tl_report_options ro = o && o->report ? *o->report : tl_report_options_default();
	if (!o || !o->report) {
		ro.enable_kernel_summary = (groups & TL_CMP_KERNEL_SUMMARY) != 0;
		ro.disable_coll_analysis = true;
	}
	tl_trace *trace;
	TL_TRY(tl_trace_open(&trace, path, o ? o->trace : NULL, err));
	int code = 0;
	if (tl_trace_is_truncated(trace)) {
		c->truncated = true;
		code = tl__cmp_note(&c->result, err, "%.200s is cut off; what is there is compared", path);
	}
	if (code == 0)
		code = tl_report_pytorch(out, trace, &ro, err);
	tl_trace_free(trace);
	/* against nothing all would be new: that is a mistake in profiling, not a difference */
	if (code == 0 && tl_report_is_empty(*out)) {
		code = tl__fail(err, TL_EEMPTY,
				"no GPU event with a usable time, nothing to compare (was GPU activity switched on in "
				"the profiler?)");
		tl__error_where(err, path, -1);
	}
	return code;
}

static bool is_finished_report(const char *path)
{
	struct stat info;
	const char *dot = strrchr(path, '.');
	return (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) || (dot && !strcasecmp(dot, ".xlsx")) ||
	       tl__xlsx_detect(path);
}

/* The sheets of all reports, compared. */
static int compare(tl_comparison *c, const tl_report *const *reports, unsigned groups, bool all_there, tl_error *err)
{
	tl_cmp_report *inputs = tl__calloc(c->n, sizeof *inputs);
	if (!inputs)
		return tl__nomem(err);
	for (size_t i = 0; i < c->n; i++)
		inputs[i] = (tl_cmp_report){
			.tag = c->tags[i],
			.path = c->paths[i],
			.sheets = (const tl_table *const *)reports[i]->sheets.v,
			.n_sheets = reports[i]->sheets.n,
		};
	int code = tl__cmp_reports(&c->result, inputs, c->n, groups, all_there, err);
	if (code == 0)
		code = tl__cmp_largest(&c->result, inputs, c->n, err);
	tl__free(inputs);
	return code;
}

int tl_compare_reports_made(tl_comparison **out, const tl_report *const *reports, size_t n,
			    const tl_compare_options *options, tl_error *err)
{
	unsigned groups;
	bool all_there;
	tl_comparison *c;
	*out = NULL;
	TL_TRY(read_groups(&groups, &all_there, options, err));
	TL_TRY(new_comparison(&c, NULL, n, options, err));
	int code = compare(c, reports, groups, all_there, err);
	if (code < 0)
		tl_comparison_free(c);
	else
		*out = c;
	return code;
}

int tl_compare_reports(tl_comparison **out, const char *const *paths, size_t n, const tl_compare_options *options,
		       tl_error *err)
{
	unsigned groups;
	bool all_there;
	tl_comparison *c;
	*out = NULL;
	TL_TRY(read_groups(&groups, &all_there, options, err));
	TL_TRY(new_comparison(&c, paths, n, options, err));
	/* kept, so that their values need not be copied */
	c->reports = tl__calloc(n, sizeof *c->reports);
	c->result.borrows = true;
	int code = c->reports ? 0 : tl__nomem(err);
	for (size_t i = 0; i < n && code == 0; i++)
		code = is_finished_report(paths[i])
			       ? tl_report_read(&c->reports[i], paths[i], err)
			       : report_of_trace(&c->reports[i], c, paths[i], groups, options, err);
	if (code == 0)
		code = compare(c, (const tl_report *const *)c->reports, groups, all_there, err);
	if (code < 0)
		tl_comparison_free(c);
	else
		*out = c;
	return code;
}

/* ---- the result ---- */

size_t tl_comparison_count(const tl_comparison *comparison)
{
	return comparison->result.sheets.n;
}

const tl_table *tl_comparison_table(const tl_comparison *comparison, size_t index)
{
	return index < comparison->result.sheets.n ? comparison->result.sheets.v[index].table : NULL;
}

const tl_table *tl_comparison_find(const tl_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->result.sheets.n; i++)
		if (!strcmp(tl_table_name(comparison->result.sheets.v[i].table), name))
			return comparison->result.sheets.v[i].table;
	return NULL;
}

const char *tl_comparison_tag(const tl_comparison *comparison, size_t report)
{
	return report < comparison->n ? comparison->tags[report] : NULL;
}

bool tl_comparison_is_truncated(const tl_comparison *comparison)
{
	return comparison->truncated;
}

const char *tl_comparison_note(const tl_comparison *comparison, size_t index)
{
	return index < comparison->result.notes.n ? comparison->result.notes.v[index] : NULL;
}

const tl_table *tl_comparison_largest(const tl_comparison *comparison)
{
	return comparison->result.largest;
}
