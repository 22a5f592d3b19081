/* SPDX-License-Identifier: MIT */
/* Several files that appear together or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/staging.h"

#include "util/alloc.h"
#include "util/buf.h"

static int join(char **out, const char *dir, const char *name, tl_error *err)
{
	tl_buf buf = {0};
	tl__buf_printf(&buf, "%s/%s", dir, name);
	const char *text = tl__buf_text(&buf);
	*out = text ? tl__strdup(text) : NULL;
	tl__buf_free(&buf);
	return *out ? 0 : tl__nomem(err);
}

int tl__staging_output(tl_output **out, tl_staging *staging, const char *path, tl_error *err)
{
	*out = NULL;
	if (TL_VEC_RESERVE(&staging->outputs, 1) < 0)
		return tl__nomem(err);
	TL_TRY(tl__output_open(out, path, err));
	return TL_VEC_PUSH(&staging->outputs, *out);
}

/* The outermost component of `dir` that does not exist yet, for removal after a failure. */
static int find_missing(char **out, const char *dir, tl_error *err)
{
	*out = NULL;
	for (size_t n = 1; n <= strlen(dir); n++) {
		if (dir[n] && dir[n] != '/')
			continue;
		char *part = tl__strndup(dir, n);
		if (!part)
			return tl__nomem(err);
		if (access(part, F_OK) != 0) {
			*out = part;
			return 0;
		}
		tl__free(part);
	}
	return 0;
}

int tl__staging_dir(tl_staging *staging, const char *dir, tl_error *err)
{
	if (!dir || !*dir)
		return tl__fail(err, TL_EINVAL, "the name of the output directory is empty");
	staging->dir = tl__strdup(dir);
	if (!staging->dir)
		return tl__nomem(err);
	TL_TRY(find_missing(&staging->made, dir, err));
	TL_TRY(tl__make_folder(dir, err));
	char *work;
	TL_TRY(join(&work, dir, ".tracelens-XXXXXX", err));
	if (!mkdtemp(work)) {
		int code = tl__fail_system(err, errno, "cannot write into the directory");
		tl__error_where(err, dir, -1);
		tl__free(work);
		return code;
	}
	staging->work = work;
	return 0;
}

int tl__staging_file(char **out, char **shown, tl_staging *staging, const char *name, tl_error *err)
{
	*out = *shown = NULL;
	char *copy = tl__strdup(name);
	if (!copy || TL_VEC_PUSH(&staging->names, copy) < 0) {
		tl__free(copy);
		return tl__nomem(err);
	}
	/* what is a path to the system must not become one by a table's name */
	for (char *c = copy; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	TL_TRY(join(shown, staging->dir, copy, err));
	struct stat there; /* found out now, before anything was written, and not by the rename */
	if (stat(*shown, &there) == 0 && S_ISDIR(there.st_mode))
		return tl__fail_system(err, EISDIR, "cannot write '%s'", *shown);
	return join(out, staging->work, copy, err);
}

/* `shown`: what the directory is called in a message. */
static int open_dir(int *out, const char *dir, const char *shown, tl_error *err)
{
	*out = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*out >= 0)
		return 0;
	int code = tl__fail_system(err, errno, "cannot open the directory");
	tl__error_where(err, shown, -1);
	return code;
}

/* Moves the CSV files from the work directory to where they belong. */
static int rename_files(tl_staging *staging, int work, int dir, tl_error *err)
{
	for (; staging->names.n; staging->names.n--) {
		char *name = staging->names.v[staging->names.n - 1];
		if (renameat(work, name, dir, name) != 0) {
			int code = tl__fail_system(err, errno, "cannot replace %s", name);
			tl__error_where(err, staging->dir, -1);
			return code;
		}
		tl__free(name);
	}
	return 0;
}

/* All that can fail for want of room, memory or descriptors comes before the first rename. */
int tl__staging_commit(tl_staging *staging, tl_error *err)
{
	int work = -1, dir = -1, code = 0;
	if (staging->work)
		code = open_dir(&work, staging->work, staging->dir, err);
	if (staging->work && code == 0)
		code = open_dir(&dir, staging->dir, staging->dir, err);
	for (size_t i = 0; i < staging->outputs.n && code == 0; i++)
		code = tl__output_finish(staging->outputs.v[i], err);
	while (staging->outputs.n && code == 0)
		code = tl__output_commit(staging->outputs.v[--staging->outputs.n], err);
	if (code == 0)
		code = rename_files(staging, work, dir, err);
	if (work >= 0)
		close(work);
	if (dir >= 0)
		close(dir);
	if (code == 0) { /* the directory stays */
		tl__free(staging->made);
		staging->made = NULL;
	}
	return code;
}

/* Removes `dir` and its parents up to and including `last`, as far as they are empty. */
static void remove_made(char *dir, const char *last)
{
	size_t least = strlen(last);
	for (;;) {
		size_t n = strlen(dir);
		while (n > 1 && dir[n - 1] == '/')
			dir[--n] = '\0';
		if (n < least || rmdir(dir) != 0)
			return;
		char *slash = strrchr(dir, '/');
		if (!slash || slash == dir)
			return;
		*slash = '\0';
	}
}

void tl__staging_end(tl_staging *staging)
{
	for (size_t i = 0; i < staging->outputs.n; i++)
		tl__output_abort(staging->outputs.v[i]);
	/* by descriptor, as building paths would need memory that may just have run out */
	int work = staging->work ? open(staging->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	for (size_t i = 0; i < staging->names.n; i++) {
		if (work >= 0)
			unlinkat(work, staging->names.v[i], 0);
		tl__free(staging->names.v[i]);
	}
	if (work >= 0)
		close(work);
	if (staging->work)
		rmdir(staging->work);
	if (staging->made)
		remove_made(staging->dir, staging->made);
	tl__free(staging->dir);
	tl__free(staging->work);
	tl__free(staging->made);
	TL_VEC_FREE(&staging->outputs);
	TL_VEC_FREE(&staging->names);
}
