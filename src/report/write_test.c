/* SPDX-License-Identifier: MIT */
/* What the writers put on the disk, and what they leave there when they fail: nothing. */
#include "report/testing.h"

#include <dirent.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/csv.h"

typedef struct fixture {
	char dir[64];
	tl_report *report;
	char csv[128], xlsx[128], json[128]; /* of `all` */
	tl_report_outputs all;
} fixture;

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
	(void)s, (void)type, (void)ftw;
	return remove(path);
}

static int set_up(void **state)
{
	fixture *f = calloc(1, sizeof *f);
	strcpy(f->dir, "/tmp/tl-write-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->report = tl__report_new();
	tl_table *t = add_sheet(f->report, "ops", 3);
	add_texts(t, "name", (const char *const[]){"aten::mm", "a, \"b\"", NULL});
	add_ints(t, "Count", (const int64_t[]){7, -1, 9007199254740993});
	add_doubles(t, "time", "ms", (const double[]){0.5, NAN, INFINITY});
	add_sheet(f->report, "trace_health", 0);
	snprintf(f->csv, sizeof f->csv, "%s/x/y", f->dir);
	snprintf(f->xlsx, sizeof f->xlsx, "%s/r.xlsx", f->dir);
	snprintf(f->json, sizeof f->json, "%s/r.json", f->dir);
	f->all = (tl_report_outputs){.csv_dir = f->csv, .xlsx_path = f->xlsx, .json_path = f->json};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	fixture *f = *state;
	tl_report_free(f->report);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static const char *path_in(const fixture *f, const char *name)
{
	static char path[4][256];
	static int turn;
	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof path[turn], "%s/%s", f->dir, name);
	return path[turn];
}

static char *content(const char *path)
{
	static char text[4096];
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* entries of a directory, "." and ".." aside */
static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;
	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void csv_files_are_made_with_their_directories(void **state)
{
	fixture *f = *state;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_report_write_csv(f->report, path_in(f, "a/b/c/"), &err), 0);
	assert_string_equal(content(path_in(f, "a/b/c/ops.csv")), "name,Count,time\n"
								  "aten::mm,7,0.5\n"
								  "\"a, \"\"b\"\"\",-1,\n"
								  ",9007199254740993,inf\n");
	assert_string_equal(content(path_in(f, "a/b/c/trace_health.csv")), "\n");
	assert_int_equal(entries(path_in(f, "a/b/c")), 2);
}

static void csv_leaves_other_files_and_replaces_its_own(void **state)
{
	fixture *f = *state;
	put(path_in(f, "notes.txt"), "mine");
	put(path_in(f, "ops.csv"), "old");
	assert_int_equal(tl_report_write_csv(f->report, f->dir, NULL), 0);
	assert_string_equal(content(path_in(f, "notes.txt")), "mine");
	assert_memory_equal(content(path_in(f, "ops.csv")), "name,", 5);
	assert_int_equal(entries(f->dir), 3);
}

static void json_holds_heading_and_tables(void **state)
{
	fixture *f = *state;
	tl_report_heading heading = {.trace = "a \"b\".json", .command = "--x 1"};
	assert_int_equal(tl_report_write_json(f->report, path_in(f, "r.json"), &heading, NULL), 0);
	const char *text = content(path_in(f, "r.json")),
		   *head = "{\"trace\":\"a \\\"b\\\".json\",\"options\":\"--x 1\",";
	assert_memory_equal(text, head, strlen(head));
	assert_non_null(strstr(text, "[\"aten::mm\""));
	assert_non_null(strstr(text, "9007199254740993"));
	assert_memory_equal(text + strlen(text) - 4, "\n]}\n", 4);
	assert_int_equal(entries(f->dir), 1);
}

static void xlsx_is_a_zip_under_its_own_name(void **state)
{
	fixture *f = *state;
	assert_int_equal(tl_report_write_xlsx(f->report, path_in(f, "r.xlsx"), NULL, NULL), 0);
	assert_memory_equal(content(path_in(f, "r.xlsx")), "PK\3\4", 4);
	assert_int_equal(entries(f->dir), 1);
}

static void xlsx_goes_into_a_pipe_too(void **state)
{
	fixture *f = *state;
	char command[300];
	const char *fifo = path_in(f, "fifo"), *copy = path_in(f, "copy");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	snprintf(command, sizeof command, "cat %s > %s", fifo, copy);
	FILE *reader = popen(command, "r");
	assert_non_null(reader);
	assert_int_equal(tl_report_write_xlsx(f->report, fifo, NULL, NULL), 0);
	assert_int_equal(pclose(reader), 0); /* waits until it has read to the end */
	assert_memory_equal(content(copy), "PK\3\4", 4);
	struct stat s;
	assert_int_equal(stat(fifo, &s), 0);
	assert_true(S_ISFIFO(s.st_mode)); /* written to, not replaced */
}

static void a_full_disk_leaves_nothing_and_old_files_as_they_were(void **state)
{
	fixture *f = *state;
	put(path_in(f, "r.json"), "old");
	int64_t room = 0;
	int failures = 0;
	for (;; room += 16 + room / 8) {
		tl_error err = TL_ERROR_INIT;
		tl__output_inject(0, room);
		int code = tl_report_write(f->report, &f->all, NULL, &err);
		tl__output_inject(0, -1);
		if (code == 0)
			break;
		failures++;
		assert_int_equal(code, TL_EIO);
		assert_int_equal(err.code, TL_EIO);
		/* of the file that was asked for, not of the one that was written instead */
		assert_non_null(strstr(err.message, "No space left"));
		assert_non_null(strstr(err.message, f->dir));
		assert_non_null(strstr(err.file, f->dir));
		assert_null(strstr(err.message, "tracelens-"));
		assert_null(strstr(err.file, "tracelens-"));
		assert_string_equal(content(path_in(f, "r.json")), "old");
		assert_int_equal(entries(f->dir), 1);
	}
	assert_true(failures > 30); /* in the CSV files, in the workbook and in the JSON */
	assert_int_equal(entries(f->dir), 3);
	assert_int_equal(entries(path_in(f, "x/y")), 2);
}

/* Sheets so large that two threads write them. */
static tl_report *large_report(void)
{
	enum { SHEETS = 7, ROWS = 400 };
	tl_report *report = tl__report_new();
	for (int sheet = 0; sheet < SHEETS; sheet++) {
		char name[16];
		snprintf(name, sizeof name, "sheet %d", sheet);
		tl_table *table = add_sheet(report, name, ROWS);
		int64_t values[ROWS];
		for (int row = 0; row < ROWS; row++)
			values[row] = (int64_t)sheet * ROWS + row;
		add_ints(table, "value", values);
	}
	return report;
}

static void two_threads_write_what_one_writes(void **state)
{
	fixture *f = *state;
	tl_report *report = large_report();
	tl_report_outputs one = {.csv_dir = f->csv, .single_thread = true}, two = {.csv_dir = path_in(f, "two")};
	assert_int_equal(tl_report_write(report, &one, NULL, NULL), 0);
	assert_int_equal(tl_report_write(report, &two, NULL, NULL), 0);
	assert_int_equal(entries(f->csv), 7);
	assert_int_equal(entries(two.csv_dir), 7);
	for (int sheet = 0; sheet < 7; sheet++) {
		char name[32], path[256], text[4096];
		snprintf(name, sizeof name, "sheet %d.csv", sheet);
		snprintf(path, sizeof path, "%s/%s", f->csv, name);
		snprintf(text, sizeof text, "%s", content(path));
		assert_memory_equal(text, "value\n", 6);
		assert_int_equal(strtol(text + 6, NULL, 10), sheet * 400);
		snprintf(path, sizeof path, "%s/%s", two.csv_dir, name);
		assert_string_equal(content(path), text);
	}
	tl_report_free(report);
}

/* A table of several pieces, the last of them not full: 0, 1, 2 ... in its rows. */
static void two_threads_write_a_large_table(void **state)
{
	enum { ROWS = 30001 };
	fixture *f = *state;
	tl_table *table = tl__table_new("large", NULL, ROWS);
	int64_t *values = malloc(ROWS * sizeof *values);
	assert_non_null(table);
	assert_non_null(values);
	for (int row = 0; row < ROWS; row++)
		values[row] = row;
	add_ints(table, "row", values);
	for (int threaded = 0; threaded < 2; threaded++) {
		const char *path = path_in(f, threaded ? "two.csv" : "one.csv");
		char line[64];
		int64_t row = 0;
		assert_int_equal(tl__table_write_csv(table, path, path, threaded, NULL), 0);
		FILE *file = fopen(path, "r");
		assert_non_null(file);
		assert_string_equal(fgets(line, sizeof line, file), "row\n");
		while (fgets(line, sizeof line, file))
			assert_int_equal(strtoll(line, NULL, 10), row++);
		assert_int_equal(row, ROWS);
		fclose(file);
	}
	free(values);
	tl_table_free(table);
}

static void a_full_disk_stops_two_threads(void **state)
{
	fixture *f = *state;
	tl_report *report = large_report();
	int failures = 0;
	for (int64_t room = 0;; room += 500) {
		tl_error err = TL_ERROR_INIT;
		tl__output_inject(0, room);
		int code = tl_report_write_csv(report, f->csv, &err);
		tl__output_inject(0, -1);
		if (code == 0)
			break;
		failures++;
		assert_int_equal(code, TL_EIO);
		assert_int_equal(err.code, TL_EIO);
		assert_non_null(strstr(err.message, "No space left"));
		assert_non_null(strstr(err.file, f->csv));
		assert_int_equal(entries(f->dir), 0);
	}
	assert_true(failures > 10);
	assert_int_equal(entries(f->csv), 7);
	tl_report_free(report);
}

static void no_memory_is_an_error_and_leaves_nothing(void **state)
{
	fixture *f = *state;
	int64_t n = 0;
	for (;; n++) {
		tl_error err = TL_ERROR_INIT;
		tl__alloc_fail_after(n);
		int code = tl_report_write(f->report, &f->all, NULL, &err);
		tl__alloc_fail_after(-1);
		if (code == 0)
			break;
		assert_int_equal(code, TL_ENOMEM);
		assert_int_equal(entries(f->dir), 0);
	}
	assert_true(n > 10);
	assert_int_equal(entries(f->dir), 3);
}

static void a_sheet_longer_than_excel_holds_is_refused(void **state)
{
	fixture *f = *state;
	tl_error err = TL_ERROR_INIT;
	add_sheet(f->report, "long", 1048576);
	assert_non_null(tl__table_add(f->report->sheets.v[2], "n", "", TL_COL_BOOL));
	assert_int_equal(tl_report_write_xlsx(f->report, path_in(f, "r.xlsx"), NULL, &err), TL_ELIMIT);
	assert_non_null(strstr(err.message, "long"));
	assert_non_null(strstr(err.message, "1048576"));
	assert_int_equal(entries(f->dir), 0);
}

static void wrong_places_are_named(void **state)
{
	fixture *f = *state;
	tl_error err = TL_ERROR_INIT;
	put(path_in(f, "file"), "");
	assert_int_equal(tl_report_write_csv(f->report, path_in(f, "file"), &err), TL_EIO);
	assert_int_equal(tl_report_write_csv(f->report, path_in(f, "file/below"), &err), TL_EIO);
	assert_int_equal(tl_report_write_csv(f->report, "", &err), TL_EINVAL);
	assert_int_equal(tl_report_write_xlsx(f->report, path_in(f, "no/r.xlsx"), NULL, &err), TL_EIO);
	assert_non_null(strstr(err.file[0] ? err.file : err.message, "no/r.xlsx"));
	assert_int_equal(tl_report_write_json(f->report, f->dir, NULL, &err), TL_EIO);
	const char *same = path_in(f, "same");
	assert_int_equal(
		tl_report_write(f->report, &(tl_report_outputs){.xlsx_path = same, .json_path = same}, NULL, &err),
		TL_EINVAL);
	assert_int_equal(entries(f->dir), 1);
}

static void a_table_name_is_no_path(void **state)
{
	fixture *f = *state;
	add_sheet(f->report, "../up/a\nb", 0);
	assert_int_equal(tl_report_write_csv(f->report, path_in(f, "d"), NULL), 0);
	assert_non_null(content(path_in(f, "d/.._up_a_b.csv")));
	assert_int_equal(entries(f->dir), 1);
}

static void every_sheet_is_described(void **state)
{
	(void)state;
	static const char *const sheets[] = {"gpu_timeline",
					     "ops_summary_by_category",
					     "ops_summary",
					     "ops_unique_args",
					     "unified_perf_summary",
					     "GEMM",
					     "MoE_fwd",
					     "SDPA_bwd",
					     "kernel_summary",
					     "coll_analysis",
					     "short_kernels_summary",
					     "ops_unique_args_kl_overlap",
					     "unified_perf_summary_kl_overlap",
					     "roofline_rates",
					     "trace_health"};
	for (size_t i = 0; i < sizeof sheets / sizeof *sheets; i++)
		assert_true(strlen(tl_report_describe(sheets[i])) > 20);
	assert_string_equal(tl_report_describe("nothing of ours"), "");
	assert_string_equal(tl_report_describe("_fwd"), "");
}

/* What is written last would be all that is left. */
static void two_outputs_of_one_file(void **state)
{
	fixture *f = *state;
	tl_error err = TL_ERROR_INIT;
	char one[512], other[512];
	snprintf(one, sizeof one, "%s/one", f->dir);
	static const char *const between[] = {"", "/", "/.", "/../"};
	for (size_t i = 0; i < 4; i++) {
		const char *last = i == 3 ? strrchr(f->dir, '/') + 1 : "";
		snprintf(other, sizeof other, "%s%s%s/one", f->dir, between[i], last);
		assert_int_equal(tl_report_write(f->report, &(tl_report_outputs){.xlsx_path = one, .json_path = other},
						 NULL, &err),
				 TL_EINVAL);
		assert_int_equal(entries(f->dir), 0);
	}
	snprintf(other, sizeof other, "%s/two", f->dir);
	assert_int_equal(symlink("one", other), 0);
	FILE *file = fopen(one, "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(
		tl_report_write(f->report, &(tl_report_outputs){.xlsx_path = one, .json_path = other}, NULL, &err),
		TL_EINVAL);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(
		tl_report_write(f->report, &(tl_report_outputs){.xlsx_path = one, .json_path = other}, NULL, &err), 0);
	assert_int_equal(entries(f->dir), 2);
}

static void a_table_that_is_none(void **state)
{
	fixture *f = *state;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_report_add_table(f->report, NULL, &err), TL_EINVAL);
	assert_string_equal(err.message, "a sheet needs a name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(csv_files_are_made_with_their_directories, set_up, tear_down),
		cmocka_unit_test_setup_teardown(csv_leaves_other_files_and_replaces_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(json_holds_heading_and_tables, set_up, tear_down),
		cmocka_unit_test_setup_teardown(xlsx_is_a_zip_under_its_own_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(xlsx_goes_into_a_pipe_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing_and_old_files_as_they_were, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(two_threads_write_what_one_writes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_threads_write_a_large_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk_stops_two_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_memory_is_an_error_and_leaves_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sheet_longer_than_excel_holds_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_places_are_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_table_name_is_no_path, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_outputs_of_one_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_table_that_is_none, set_up, tear_down),
		cmocka_unit_test(every_sheet_is_described),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
