/* SPDX-License-Identifier: MIT */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"

#define BUFFER ((size_t)64 << 10)
/* Names tried for the temporary file. The first is nearly always free: only a process of the same number on another
 * machine, or one that was killed, can have taken it. */
#define TRIES 100

struct tl_output {
	char *path;  /* where the file goes, symbolic links followed */
	char *shown; /* as the caller gave it, for messages */
	char *temp;  /* NULL: written in place */
	int fd;      /* -1 after it was closed */
	bool close;  /* false for standard output */
	int failure; /* errno of the first failed write, 0 */
	mode_t mode; /* permissions of the file that is replaced, 0 when there is none */
	size_t n;    /* bytes in buffer */
	char *buffer;
};

/* Fault injection, process wide as in util/alloc.c; nothing but tests writes it. */
static _Atomic size_t inject_limit = 0;
static _Atomic int64_t inject_left = -1;

void tl__output_inject(size_t limit, int64_t fail_after)
{
	atomic_store(&inject_limit, limit);
	atomic_store(&inject_left, fail_after);
}

/* write(), with the faults that a test asked for. */
static ssize_t put(int fd, const char *data, size_t n)
{
	size_t limit = atomic_load_explicit(&inject_limit, memory_order_relaxed);
	int64_t left = atomic_load_explicit(&inject_left, memory_order_relaxed);

	if (limit && n > limit)
		n = limit;
	while (left >= 0) { /* several threads may write */
		size_t some = n > (uint64_t)left ? (size_t)left : n;
		if (!some) {
			errno = ENOSPC;
			return -1;
		}
		if (atomic_compare_exchange_weak(&inject_left, &left, left - (int64_t)some)) {
			n = some;
			break;
		}
	}
	return write(fd, data, n);
}

static void put_all(tl_output *output, const char *data, size_t n)
{
	while (n && !output->failure) {
		ssize_t done = put(output->fd, data, n);
		if (done < 0) {
			if (errno == EAGAIN) /* standard output can be a pipe that somebody made non-blocking */
				poll(&(struct pollfd){.fd = output->fd, .events = POLLOUT}, 1, -1);
			else if (errno != EINTR)
				output->failure = errno;
			continue;
		}
		data += done;
		n -= (size_t)done;
	}
}

static int failed(const char *path, int reason, tl_error *err)
{
	tl__fail_system(err, reason, "cannot write '%s'", path);
	tl__error_where(err, path, -1);
	return TL_EIO;
}

static void free_output(tl_output *output)
{
	if (output->fd >= 0 && output->close)
		close(output->fd);
	tl__free(output->path);
	tl__free(output->shown);
	tl__free(output->temp);
	tl__free(output->buffer);
	tl__free(output);
}

/* A name beside `path` that nobody uses. Other processes may write the same file at the same time. */
static int make_temp(tl_output *output, tl_error *err)
{
	const char *slash = strrchr(output->path, '/');
	size_t folder = slash ? (size_t)(slash - output->path) + 1 : 0;
	/* a short name of its own: that of the file with a suffix could be longer than names may be */
	size_t size = folder + 48;
	unsigned number = 0;

	output->temp = tl__malloc(size);
	if (!output->temp)
		return tl__nomem(err);
	for (int i = 0; i < TRIES; i++, number++) {
		snprintf(output->temp, size, "%.*s.tracelens-%ld-%p-%u.tmp", (int)folder, output->path, (long)getpid(),
			 (void *)output, number);
		/* open() and not mkstemp(): the umask shall decide about permissions as for any other file */
		output->fd = open(output->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (output->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	if (errno != ENOENT)
		return failed(output->shown, errno, err);
	tl__fail(err, TL_EIO, "cannot write '%s': its directory does not exist", output->shown);
	tl__error_system(err, ENOENT);
	tl__error_where(err, output->shown, -1);
	return TL_EIO;
}

/* Opens the temporary file, or the target itself when renaming onto it would replace what it is. */
static int open_target(tl_output *output, tl_error *err)
{
	struct stat st;
	bool exists = stat(output->path, &st) == 0;
	size_t n = strlen(output->path);

	if (!exists && errno != ENOENT)
		return failed(output->shown, errno, err);
	if (!n)
		return failed(output->shown, ENOENT, err);
	if ((exists && S_ISDIR(st.st_mode)) || output->path[n - 1] == '/')
		return failed(output->shown, EISDIR, err);
	if (exists && !S_ISREG(st.st_mode)) {
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
		return output->fd >= 0 ? 0 : failed(output->shown, errno, err);
	}
	if (exists) {
		if (access(output->path, W_OK) < 0)
			return failed(output->shown, errno, err);
		output->mode = st.st_mode & 0777;
	}
	return make_temp(output, err);
}

/* The file that a path means: the target of a symbolic link that leads somewhere. */
static int follow(tl_output *output, const char *path, tl_error *err)
{
	char *real = realpath(path, NULL);

	output->path = tl__strdup(real ? real : path);
	free(real);
	return output->path ? 0 : tl__nomem(err);
}

int tl__output_open(tl_output **out, const char *path, tl_error *err)
{
	return tl__output_open_as(out, path, path && strcmp(path, "-") == 0 ? "standard output" : path, err);
}

int tl__output_open_as(tl_output **out, const char *path, const char *shown, tl_error *err)
{
	*out = NULL;
	if (!path)
		return tl__fail(err, TL_EINVAL, "no file is named");
	tl_output *output = tl__calloc(1, sizeof *output);
	bool standard = strcmp(path, "-") == 0;
	int code = 0;

	if (!output)
		return tl__nomem(err);
	output->fd = -1;
	output->shown = tl__strdup(shown);
	output->buffer = tl__malloc(BUFFER);
	if (!output->shown || !output->buffer) {
		code = tl__nomem(err);
	} else if (standard) {
		output->fd = STDOUT_FILENO;
	} else {
		output->close = true;
		code = follow(output, path, err);
		if (code == 0)
			code = open_target(output, err);
	}
	if (code < 0) {
		free_output(output);
		return code;
	}
	*out = output;
	return 0;
}

static void flush(tl_output *output)
{
	put_all(output, output->buffer, output->n);
	output->n = 0;
}

void tl__output_write(tl_output *output, const void *data, size_t n)
{
	if (n > BUFFER - output->n)
		flush(output);
	if (n >= BUFFER) {
		put_all(output, data, n);
		return;
	}
	if (n)
		memcpy(output->buffer + output->n, data, n);
	output->n += n;
}

bool tl__output_failed(const tl_output *output)
{
	return output->failure != 0;
}

int tl__output_finish(tl_output *output, tl_error *err)
{
	flush(output);
	/* some file systems tell only now that the disk is full */
	if (output->close && output->fd >= 0) {
		if (output->mode && output->temp)
			(void)!chmod(output->temp, output->mode);
		if (close(output->fd) < 0 && !output->failure)
			output->failure = errno;
		output->fd = -1;
	}
	return output->failure ? failed(output->shown, output->failure, err) : 0;
}

int tl__output_commit(tl_output *output, tl_error *err)
{
	int code = 0;

	tl__output_finish(output, NULL);
	if (output->temp && !output->failure && rename(output->temp, output->path) < 0)
		output->failure = errno;
	if (output->failure) {
		code = failed(output->shown, output->failure, err);
		if (output->temp)
			unlink(output->temp);
	}
	free_output(output);
	return code;
}

void tl__output_abort(tl_output *output)
{
	if (!output)
		return;
	if (output->temp)
		unlink(output->temp);
	free_output(output);
}

/* Where a name leads, to be freed; of a file that is not there yet, its folder's place and the last part of the name.
 */
static bool place_of(const char *path, char **folder, const char **name)
{
	*folder = realpath(path, NULL);
	*name = "";
	if (*folder)
		return true;
	const char *slash = strrchr(path, '/');
	char *above = slash ? tl__strndup(path, (size_t)(slash - path) + 1) : tl__strdup(".");
	*folder = above ? realpath(above, NULL) : NULL;
	*name = slash ? slash + 1 : path;
	tl__free(above);
	return *folder != NULL;
}

bool tl__output_is_same(const char *a, const char *b)
{
	char *folders[2] = {NULL, NULL};
	const char *names[2];
	bool same = place_of(a, &folders[0], &names[0]) && place_of(b, &folders[1], &names[1]) &&
		    !strcmp(folders[0], folders[1]) && !strcmp(names[0], names[1]);
	free(folders[0]);
	free(folders[1]);
	return same || !strcmp(a, b);
}

int tl__make_folder(const char *path, tl_error *err)
{
	char *part = tl__strdup(path);
	int reason = 0;
	struct stat st;

	if (!part)
		return tl__nomem(err);
	for (char *p = part + (*part == '/'); !reason; p++) {
		char c = *p;
		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST) {
			/* on the way down EROFS or EACCES may be said of a folder that exists */
			int why = errno;
			if (stat(part, &st) < 0 || !S_ISDIR(st.st_mode))
				reason = why;
		}
		*p = c;
		if (!c)
			break;
	}
	if (!reason && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		reason = ENOTDIR;
	tl__free(part);
	if (!reason)
		return 0;
	tl__fail_system(err, reason, "cannot make the directory '%s'", path);
	tl__error_where(err, path, -1);
	return TL_EIO;
}
