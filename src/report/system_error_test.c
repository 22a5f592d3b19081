/* SPDX-License-Identifier: MIT */
/* The errno in the error of whatever opens, reads or writes a file, and none in other errors. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <tracelens/tracelens.h>

static const char trace_text[] =
	"{\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::relu\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1,"
	"\"args\":{\"correlation\":7}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":1,\"ts\":20,\"dur\":5,"
	"\"args\":{\"correlation\":7,\"stream\":1}}]}";

static char root[64];

static const char *in_root(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", root, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(in_root(name), "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof root, "/tmp/tracelens-errors-XXXXXX");
	assert_non_null(mkdtemp(root));
	put("file", "words");
	put("secret", trace_text);
	assert_int_equal(chmod(in_root("secret"), 0), 0);
	assert_int_equal(mkdir(in_root("folder"), 0777), 0);
	assert_int_equal(mkdir(in_root("folder/gpu_timeline.csv"), 0777), 0);
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

/* The error must say why in numbers and in words. */
#define FAILS(number, call)                                                             \
	do {                                                                            \
		memset(&err, 0xff, sizeof err);                                         \
		assert_int_equal(call, TL_EIO);                                         \
		assert_int_equal(err.code, TL_EIO);                                     \
		assert_int_equal(err.system_errno, number);                             \
		assert_true(strstr(err.message, strerror(number)) || number == ENOENT); \
	} while (0)

static void test_reading(void **state)
{
	(void)state;
	tl_error err;
	tl_trace *trace;
	tl_arch *arch;
	tl_extension *extension;
	tl_report *report;
	tl_format format;
	FAILS(ENOENT, tl_trace_open(&trace, in_root("none"), NULL, &err));
	FAILS(ENOENT, tl_trace_open(&trace, "", NULL, &err));
	FAILS(EISDIR, tl_trace_open(&trace, in_root("folder"), NULL, &err));
	FAILS(ENOTDIR, tl_trace_open(&trace, in_root("file/x"), NULL, &err));
	FAILS(ENOENT, tl_format_detect(&format, in_root("none"), &err));
	FAILS(ENOENT, tl_arch_load(&arch, in_root("none"), &err));
	FAILS(EISDIR, tl_arch_load(&arch, in_root("folder"), &err));
	FAILS(ENOENT, tl_extension_open(&extension, in_root("none"), NULL, &err));
	FAILS(EISDIR, tl_extension_open(&extension, in_root("folder"), NULL, &err));
	FAILS(ENOENT, tl_report_read(&report, in_root("none"), &err));
	FAILS(ENOTDIR, tl_report_read(&report, in_root("file/x"), &err));
	if (geteuid() != 0) { /* whom nothing is forbidden */
		FAILS(EACCES, tl_trace_open(&trace, in_root("secret"), NULL, &err));
		FAILS(EACCES, tl_format_detect(&format, in_root("secret"), &err));
		FAILS(EACCES, tl_arch_load(&arch, in_root("secret"), &err));
		FAILS(EACCES, tl_extension_open(&extension, in_root("secret"), NULL, &err));
		FAILS(EACCES, tl_report_read(&report, in_root("secret"), &err));
	}
	/* what can be read and is something else is no failure of the system */
	memset(&err, 0xff, sizeof err);
	assert_int_equal(tl_trace_open(&trace, in_root("file"), NULL, &err), TL_EFORMAT);
	assert_int_equal(err.system_errno, 0);
	memset(&err, 0xff, sizeof err);
	assert_int_equal(tl_report_read(&report, in_root("file"), &err), TL_EFORMAT);
	assert_int_equal(err.system_errno, 0);
}

static void test_writing(void **state)
{
	(void)state;
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace;
	tl_tree *tree;
	tl_report *report;
	tl_table *table;
	tl_diff *diff;
	tl_analyzer *analyzer;
	tl_report_options options = tl_report_options_default();
	assert_int_equal(tl_trace_open_memory(&trace, trace_text, sizeof trace_text - 1, NULL, &err), 0);
	assert_int_equal(tl_tree_build(&tree, trace, NULL, &err), 0);
	assert_int_equal(tl_diff_new(&diff, tree, tree, NULL, &err), 0);
	assert_int_equal(tl_report_pytorch(&report, trace, &options, &err), 0);
	assert_int_equal(tl_trace_health(&table, trace, &err), 0);

	FAILS(ENOENT, tl_table_write_csv(table, in_root("none/x.csv"), &err));
	FAILS(EISDIR, tl_table_write_csv(table, in_root("folder"), &err));
	FAILS(ENOTDIR, tl_table_write_csv(table, in_root("file/x"), &err));
	FAILS(ENOTDIR, tl_report_write_csv(report, in_root("file"), &err));
	FAILS(EISDIR, tl_report_write_csv(report, in_root("folder"), &err)); /* a folder of a sheet's name is in it */
	FAILS(EISDIR, tl_report_write_xlsx(report, in_root("folder"), NULL, &err));
	FAILS(ENOENT, tl_report_write_xlsx(report, in_root("none/x.xlsx"), NULL, &err));
	FAILS(ENOENT, tl_report_write_json(report, in_root("none/x.json"), NULL, &err));
	FAILS(ENOTDIR, tl_diff_write(diff, in_root("file"), false, &err));
	assert_int_equal(tl_diff_write(diff, NULL, false, &err), TL_EINVAL);
	assert_int_equal(tl_diff_write(diff, "", false, &err), TL_EINVAL);
	if (access("/dev/full", W_OK) == 0) {
		FAILS(ENOSPC, tl_table_write_csv(table, "/dev/full", &err));
		FAILS(ENOSPC, tl_report_write_xlsx(report, "/dev/full", NULL, &err));
		FAILS(ENOSPC, tl_report_write_json(report, "/dev/full", NULL, &err));
	}
	char *temporary = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	setenv("TMPDIR", in_root("none"), 1);
	FAILS(ENOENT, tl_report_write_xlsx(report, in_root("x.xlsx"), NULL, &err));
	if (temporary)
		setenv("TMPDIR", temporary, 1);
	else
		unsetenv("TMPDIR");
	free(temporary);

	tl_analyzer_options no_cache = {.inductor_cache_dir = in_root("none")};
	FAILS(ENOENT, tl_analyzer_new(&analyzer, tree, &no_cache, &err));
	/* of the trace to compare with; the error names that file */
	options.comparison_path = in_root("none");
	tl_report *compared;
	FAILS(ENOENT, tl_report_pytorch(&compared, trace, &options, &err));
	assert_string_equal(err.file, options.comparison_path);

	tl_table_free(table);
	tl_report_free(report);
	tl_diff_free(diff);
	tl_tree_free(tree);
	tl_trace_free(trace);
}

/* What failed before leaves NULL behind, and a variable of the environment may be unset: answered, not followed. */
static void test_nothing(void **state)
{
	(void)state;
	tl_error err;
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	tl_analyzer *analyzer = NULL;
	tl_diff *diff = NULL;
	tl_report *report = NULL;
	tl_comparison *comparison = NULL;
	tl_extension *extension = NULL;
	tl_arch *arch = NULL;
	tl_table *table = NULL;
	tl_format format;
	bool needed;
	const char *const paths[] = {root, NULL};
#define REFUSES(call)                                    \
	do {                                             \
		memset(&err, 0xff, sizeof err);          \
		assert_int_equal(call, TL_EINVAL);       \
		assert_int_equal(err.code, TL_EINVAL);   \
		assert_int_equal(err.system_errno, 0);   \
		assert_true(*err.message && !*err.file); \
	} while (0)
	REFUSES(tl_trace_open(&trace, NULL, NULL, &err));
	REFUSES(tl_tree_build(&tree, trace, NULL, &err));
	REFUSES(tl_pseudo_ops_need_python(&needed, trace, &err));
	REFUSES(tl_analyzer_new(&analyzer, tree, NULL, &err));
	REFUSES(tl_diff_new(&diff, tree, tree, NULL, &err));
	REFUSES(tl_report_pytorch(&report, trace, NULL, &err));
	REFUSES(tl_report_pytorch_tree(&report, tree, NULL, &err));
	REFUSES(tl_report_read(&report, NULL, &err));
	REFUSES(tl_compare_reports(&comparison, paths, 2, NULL, &err));
	REFUSES(tl_format_detect(&format, NULL, &err));
	REFUSES(tl_extension_open(&extension, NULL, NULL, &err));
	REFUSES(tl_arch_load(&arch, NULL, &err));
	assert_int_equal(tl_table_new(&table, "t", 0, &err), 0);
	REFUSES(tl_table_write_csv(table, NULL, &err));
	assert_int_equal(tl_table_find_column(table, NULL), -1);
	assert_string_equal(tl_report_describe(NULL), "");
	tl_table_free(table);
	tl_comparison_free(comparison);
	tl_report_free(report);
	tl_diff_free(diff);
	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	tl_extension_free(extension);
	tl_arch_free(arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_writing),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
