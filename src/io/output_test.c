/* SPDX-License-Identifier: MIT */
/* Output files: whole or not there at all, whatever stands at their name, on a full disk and without memory. */
#include "io/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/alloc.h"

static char folder[] = "/tmp/tl-output-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[2][512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
	return path[turn];
}

/* Names in the folder, "." and ".." aside. */
static int count_files(void)
{
	DIR *dir = opendir(folder);
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_file(const char *path, const char *text, size_t n)
{
	char *bytes = malloc(n + 2);
	FILE *f = fopen(path, "r");

	assert_non_null(bytes);
	assert_non_null(f);
	assert_int_equal(fread(bytes, 1, n + 2, f), n);
	assert_memory_equal(bytes, text, n);
	fclose(f);
	free(bytes);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	tl__output_inject(0, -1);
	return rmdir(folder);
}

static void appears_only_when_complete(void **state)
{
	const char *path = in_folder("a.csv");
	tl_error err = TL_ERROR_INIT;
	tl_output *o;

	(void)state;
	assert_int_equal(tl__output_open(&o, path, &err), 0);
	tl__output_write(o, "a,b\n", 4);
	tl__output_write(o, "", 0);
	tl__output_write(o, "1,2\n", 4);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(tl__output_commit(o, &err), 0);
	assert_file(path, "a,b\n1,2\n", 8);
	assert_int_equal(count_files(), 1);
	unlink(path);
}

static void writes_of_every_size(void **state)
{
	enum { SIZE = 300000 };
	const char *path = in_folder("b");
	char *bytes = malloc(SIZE);
	static const size_t limits[] = {0, 7, 4096};

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
		tl_output *o;
		size_t at = 0, piece = 1;
		tl__output_inject(limits[k], -1);
		assert_int_equal(tl__output_open(&o, path, NULL), 0);
		while (at < SIZE) {
			size_t n = piece < SIZE - at ? piece : SIZE - at;
			tl__output_write(o, bytes + at, n);
			at += n;
			piece = piece * 3 + 1;
		}
		assert_int_equal(tl__output_commit(o, NULL), 0);
		tl__output_inject(0, -1);
		assert_file(path, bytes, SIZE);
	}
	unlink(path);
	free(bytes);
}

static void permissions_follow_umask_or_old_file(void **state)
{
	const char *path = in_folder("c");
	mode_t old = umask(027);
	struct stat st;
	tl_output *o;

	(void)state;
	assert_int_equal(tl__output_open(&o, path, NULL), 0);
	assert_int_equal(tl__output_commit(o, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(chmod(path, 0604), 0);
	assert_int_equal(tl__output_open(&o, path, NULL), 0);
	assert_int_equal(tl__output_commit(o, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0604);
	umask(old);
	unlink(path);
}

/* Room for `after` bytes on the disk: the old file stays, nothing else is left, the message says why. */
static void disk_full_after(int64_t after)
{
	const char *path = in_folder("d.json");
	tl_error err = TL_ERROR_INIT;
	char line[1000];
	tl_output *o;

	memset(line, 'x', sizeof line);
	put_file(path, "old");
	assert_int_equal(tl__output_open(&o, path, &err), 0);
	tl__output_inject(0, after);
	for (int i = 0; i < 200; i++)
		tl__output_write(o, line, sizeof line);
	assert_int_equal(tl__output_failed(o), after < 196000);
	assert_int_equal(tl__output_commit(o, &err), TL_EIO);
	tl__output_inject(0, -1);
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, "No space left"));
	assert_string_equal(err.file, path);
	assert_file(path, "old", 3);
	assert_int_equal(count_files(), 1);
	unlink(path);
}

static void disk_full(void **state)
{
	(void)state;
	disk_full_after(0);
	disk_full_after(1);
	disk_full_after(65536);
	disk_full_after(199999);
}

static void abort_leaves_nothing(void **state)
{
	tl_output *o;

	(void)state;
	assert_int_equal(tl__output_open(&o, in_folder("e"), NULL), 0);
	tl__output_write(o, "x", 1);
	tl__output_abort(o);
	tl__output_abort(NULL);
	assert_int_equal(count_files(), 0);
}

static void assert_refused(const char *path, const char *reason)
{
	tl_error err = TL_ERROR_INIT;
	tl_output *o = (tl_output *)&err;

	assert_int_equal(tl__output_open(&o, path, &err), TL_EIO);
	assert_null(o);
	if (path[0])
		assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, reason));
	assert_int_equal(err.code, TL_EIO);
}

static void refuses_bad_targets(void **state)
{
	char locked[512];

	(void)state;
	strcpy(locked, in_folder("locked"));
	assert_refused(folder, "Is a directory");
	assert_refused("", "No such file");
	assert_refused(in_folder("none/x.csv"), "directory does not exist");
	assert_refused(in_folder("x/"), "Is a directory");
	put_file(locked, "");
	assert_refused(in_folder("locked/x"), "Not a directory");
	if (geteuid() != 0) {
		chmod(locked, 0444);
		assert_refused(locked, "Permission denied");
	}
	unlink(locked);
	assert_int_equal(count_files(), 0);
}

/* The folder vanishes, or a directory takes the name, before the rename. */
static void rename_fails(void **state)
{
	const char *path = in_folder("f");
	tl_error err = TL_ERROR_INIT;
	tl_output *o;

	(void)state;
	assert_int_equal(tl__output_open(&o, path, &err), 0);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(tl__output_commit(o, &err), TL_EIO);
	assert_non_null(strstr(err.message, "Is a directory"));
	assert_int_equal(count_files(), 1);
	rmdir(path);
}

static void links_are_followed(void **state)
{
	char target[512], name[512];
	struct stat st;
	tl_output *o;

	(void)state;
	strcpy(target, in_folder("target"));
	strcpy(name, in_folder("link"));
	put_file(target, "old");
	assert_int_equal(symlink("target", name), 0);
	assert_int_equal(tl__output_open(&o, name, NULL), 0);
	tl__output_write(o, "new", 3);
	assert_int_equal(tl__output_commit(o, NULL), 0);
	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_file(target, "new", 3);
	unlink(name);
	unlink(target);
}

static void devices_are_written_in_place(void **state)
{
	struct stat st;
	tl_error err = TL_ERROR_INIT;
	tl_output *o;

	(void)state;
	assert_int_equal(tl__output_open(&o, "/dev/null", NULL), 0);
	tl__output_write(o, "x", 1);
	assert_int_equal(tl__output_commit(o, NULL), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	if (access("/dev/full", W_OK) == 0) {
		assert_int_equal(tl__output_open(&o, "/dev/full", NULL), 0);
		tl__output_write(o, "x", 1);
		assert_int_equal(tl__output_commit(o, &err), TL_EIO);
		assert_non_null(strstr(err.message, "/dev/full"));
	}
}

static void standard_output(void **state)
{
	const char *path = in_folder("stdout");
	int saved = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT, 0666);
	tl_output *o;
	int code;

	(void)state;
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	code = tl__output_open(&o, "-", NULL);
	if (code == 0) {
		tl__output_write(o, "text", 4);
		code = tl__output_commit(o, NULL);
	}
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	assert_int_equal(code, 0);
	assert_file(path, "text", 4);
	unlink(path);
}

static void no_memory(void **state)
{
	int code = TL_ENOMEM;

	(void)state;
	for (int n = 0; code == TL_ENOMEM; n++) {
		tl_output *o;
		tl__alloc_fail_after(n);
		code = tl__output_open(&o, in_folder("h"), NULL);
		tl__alloc_fail_after(-1);
		assert_in_range(n, 0, 20);
		if (code == 0)
			tl__output_abort(o);
		else
			assert_null(o);
		assert_int_equal(count_files(), 0);
	}
	assert_int_equal(code, 0);
}

static void folders(void **state)
{
	tl_error err = TL_ERROR_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(tl__make_folder(in_folder("x/y//z/"), NULL), 0);
	assert_int_equal(stat(in_folder("x/y/z"), &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(tl__make_folder(in_folder("x/y/z"), NULL), 0);
	assert_int_equal(tl__make_folder(folder, NULL), 0);
	assert_int_equal(tl__make_folder("/", NULL), 0);
	rmdir(in_folder("x/y/z"));
	rmdir(in_folder("x/y"));
	rmdir(in_folder("x"));
	put_file(in_folder("file"), "");
	assert_int_equal(tl__make_folder(in_folder("file"), &err), TL_EIO);
	assert_non_null(strstr(err.message, "Not a directory"));
	assert_int_equal(tl__make_folder(in_folder("file/sub"), &err), TL_EIO);
	unlink(in_folder("file"));
	tl__alloc_fail_after(0);
	assert_int_equal(tl__make_folder(folder, NULL), TL_ENOMEM);
	tl__alloc_fail_after(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appears_only_when_complete),
		cmocka_unit_test(writes_of_every_size),
		cmocka_unit_test(permissions_follow_umask_or_old_file),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(abort_leaves_nothing),
		cmocka_unit_test(refuses_bad_targets),
		cmocka_unit_test(rename_fails),
		cmocka_unit_test(links_are_followed),
		cmocka_unit_test(devices_are_written_in_place),
		cmocka_unit_test(standard_output),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(folders),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
