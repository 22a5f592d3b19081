/* SPDX-License-Identifier: MIT */
/* Several files that appear together or not at all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"
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
	if (!*dir)
		return tl__fail(err, TL_EINVAL, "the name of the output directory is empty");
	staging->dir = tl__strdup(dir);
	if (!staging->dir)
		return tl__nomem(err);
	TL_TRY(find_missing(&staging->made, dir, err));
	TL_TRY(tl__make_folder(dir, err));
	char *work;
	TL_TRY(join(&work, dir, ".tracelens-XXXXXX", err));
	if (!mkdtemp(work)) {
		int code = tl__fail(err, TL_EIO, "cannot write into the directory: %s", strerror(errno));
		tl__error_where(err, dir, -1);
		tl__free(work);
		return code;
	}
	staging->work = work;
	return 0;
}

int tl__staging_file(char **out, tl_staging *staging, const char *name, tl_error *err)
{
	*out = NULL;
	char *copy = tl__strdup(name);
	if (!copy || TL_VEC_PUSH(&staging->names, copy) < 0) {
		tl__free(copy);
		return tl__nomem(err);
	}
	/* what is a path to the system must not become one by a table's name */
	for (char *c = copy; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	return join(out, staging->work, copy, err);
}

static int rename_file(const tl_staging *staging, const char *name, tl_error *err)
{
	char *from = NULL, *to = NULL;
	int code = join(&from, staging->work, name, err);
	if (code == 0)
		code = join(&to, staging->dir, name, err);
	if (code == 0 && rename(from, to) != 0) {
		code = tl__fail(err, TL_EIO, "cannot replace the file: %s", strerror(errno));
		tl__error_where(err, to, -1);
	}
	tl__free(from);
	tl__free(to);
	return code;
}

int tl__staging_commit(tl_staging *staging, tl_error *err)
{
	/* the newest first: its last bytes may still have to be written, which is what can fail; the others, and
	 * the renaming of CSV files, only change names */
	while (staging->outputs.n)
		TL_TRY(tl__output_commit(staging->outputs.v[--staging->outputs.n], err));
	while (staging->names.n) {
		TL_TRY(rename_file(staging, staging->names.v[staging->names.n - 1], err));
		tl__free(staging->names.v[--staging->names.n]);
	}
	tl__free(staging->made); /* the directory stays */
	staging->made = NULL;
	return 0;
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
	for (size_t i = 0; i < staging->names.n; i++) {
		char *path;
		if (join(&path, staging->work, staging->names.v[i], NULL) == 0)
			unlink(path);
		tl__free(path);
		tl__free(staging->names.v[i]);
	}
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
