/* SPDX-License-Identifier: MIT */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/source.h"
#include "util/alloc.h"

/* Packed bytes are fetched in chunks of this size: large enough that system calls do not count, small enough to stay in
 * the second-level cache beside the unpacked block. */
#define CHUNK ((size_t)64 << 10)
#define PEEK_MAX ((size_t)64)

/* Fault injection, process wide as in util/alloc.c; nothing but tests writes it. */
static _Atomic size_t inject_limit = 0;
static _Atomic int64_t inject_left = -1;

void tl__source_inject(size_t limit, int64_t fail_after)
{
	atomic_store(&inject_limit, limit);
	atomic_store(&inject_left, fail_after);
}

/* Cuts `size` down as a test asked for; 0 means "fail now". */
static size_t injected_size(size_t size)
{
	size_t limit = atomic_load_explicit(&inject_limit, memory_order_relaxed);
	int64_t left = atomic_load_explicit(&inject_left, memory_order_relaxed);

	if (limit && size > limit)
		size = limit;
	if (left >= 0 && size > (uint64_t)left)
		size = (size_t)left;
	return size;
}

static void injected_taken(size_t n)
{
	if (atomic_load_explicit(&inject_left, memory_order_relaxed) >= 0)
		atomic_fetch_sub(&inject_left, (int64_t)n);
}

static int read_error(const tl_input *input, int reason, tl_error *err)
{
	tl__fail_system(err, reason, "cannot read '%s'", input->name);
	tl__error_where(err, input->name, -1);
	return TL_EIO;
}

static tl_input *new_input(const char *name)
{
	tl_input *input = tl__calloc(1, sizeof *input);

	if (!input)
		return NULL;
	input->fd = -1;
	input->wake[0] = input->wake[1] = -1;
	input->name = input->name_copy = tl__strdup(name);
	if (input->name_copy)
		return input;
	tl__free(input);
	return NULL;
}

int tl__input_open(tl_input **out, const char *path, tl_error *err)
{
	*out = NULL;
	if (!path)
		return tl__fail(err, TL_EINVAL, "no file is named");
	bool standard = strcmp(path, "-") == 0;
	tl_input *input = new_input(standard ? "standard input" : path);
	struct stat st = {0};
	int reason = 0;

	if (!input)
		return tl__nomem(err);
	if (standard) {
		input->fd = STDIN_FILENO;
	} else {
		do
			input->fd = open(path, O_RDONLY | O_CLOEXEC);
		while (input->fd < 0 && errno == EINTR);
		input->close_fd = true;
	}
	if (input->fd < 0 || fstat(input->fd, &st) < 0)
		reason = errno;
	else if (S_ISDIR(st.st_mode))
		reason = EISDIR;
	if (reason) {
		tl__fail_system(err, reason, "cannot open '%s'", input->name);
		tl__error_where(err, input->name, -1);
		tl__input_free(input);
		return TL_EIO;
	}
	if (S_ISREG(st.st_mode)) {
		off_t at = lseek(input->fd, 0, SEEK_CUR);
		/* a file in /proc says 0 bytes and has some; standard input may have been read from already */
		input->seekable = at == 0 && st.st_size > 0;
		input->total = at == 0 ? (uint64_t)st.st_size : 0;
		posix_fadvise(input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	input->chunk = tl__malloc(CHUNK);
	if (!input->chunk) {
		tl__input_free(input);
		return tl__nomem(err);
	}
	*out = input;
	return 0;
}

int tl__input_open_memory(tl_input **out, const void *data, size_t size, tl_error *err)
{
	tl_input *input = new_input("memory");

	*out = input;
	if (!input)
		return tl__nomem(err);
	input->memory = input->next = size ? data : (const void *)"";
	input->total = size;
	input->seekable = true;
	return 0;
}

int tl__input_open_pull(tl_input **out, tl_input *below,
			int64_t (*pull)(tl_input *self, uint8_t *out, size_t size, tl_error *err),
			void (*pull_free)(tl_input *self), void *user, tl_error *err)
{
	tl_input *input = new_input(below->name);

	*out = NULL;
	if (!input)
		return tl__nomem(err);
	input->chunk = tl__malloc(CHUNK);
	if (!input->chunk) {
		tl__input_free(input);
		return tl__nomem(err);
	}
	input->below = below;
	input->total = below->total;
	input->pull = pull;
	input->pull_free = pull_free;
	input->user = user;
	*out = input;
	return 0;
}

void tl__input_free(tl_input *input)
{
	if (!input)
		return;
	if (input->pull_free)
		input->pull_free(input);
	tl__input_free(input->below);
	if (input->close_fd && input->fd >= 0)
		close(input->fd);
	if (input->wake[0] >= 0) {
		close(input->wake[0]);
		close(input->wake[1]);
	}
	tl__free(input->chunk);
	tl__free(input->name_copy);
	tl__free(input);
}

static int cancelled(tl_error *err)
{
	return tl__fail(err, TL_ECANCELLED, "reading was stopped");
}

/* Waits for a pipe or terminal to have bytes, or for tl__input_cancel. */
static int wait_readable(tl_input *input, tl_error *err)
{
	struct pollfd fds[2] = {{.fd = input->fd, .events = POLLIN}, {.fd = input->wake[0], .events = POLLIN}};

	while (poll(fds, 2, -1) < 0)
		if (errno != EINTR)
			return read_error(input, errno, err);
	return fds[1].revents ? cancelled(err) : 0;
}

/* One fetch from below into `out`. */
static int64_t fetch(tl_input *input, uint8_t *out, size_t size, tl_error *err)
{
	ssize_t n;

	if (atomic_load_explicit(&input->cancelled, memory_order_relaxed))
		return cancelled(err);
	if (input->pull) { /* the file below takes the injected faults */
		n = (ssize_t)input->pull(input, out, size, err);
		input->position += n > 0 ? (uint64_t)n : 0;
		return n;
	}
	size = injected_size(size);
	if (!size)
		return read_error(input, EIO, err);
	if (input->memory) {
		uint64_t left = input->total - input->position;
		n = (ssize_t)(size < left ? size : left);
		memcpy(out, input->memory + input->position, (size_t)n);
	} else {
		if (input->wake[0] >= 0)
			TL_TRY(wait_readable(input, err));
		do
			n = read(input->fd, out, size);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return read_error(input, errno, err);
	}
	injected_taken((size_t)n);
	input->position += (uint64_t)n;
	atomic_fetch_add_explicit(&input->taken, (uint64_t)n, memory_order_relaxed);
	return n;
}

int tl__input_fill(tl_input *input, tl_error *err)
{
	return tl__input_peek(input, 1, err);
}

/* Bytes in memory are handed out where they lie. */
static int peek_memory(tl_input *input, size_t n, tl_error *err)
{
	while (input->avail < n && input->position < input->total) {
		uint64_t left = input->total - input->position;
		size_t more = injected_size(left < CHUNK ? (size_t)left : CHUNK);
		if (atomic_load_explicit(&input->cancelled, memory_order_relaxed))
			return cancelled(err);
		if (!more)
			return read_error(input, EIO, err);
		injected_taken(more);
		input->avail += more;
		input->position += more;
		atomic_fetch_add_explicit(&input->taken, more, memory_order_relaxed);
	}
	return input->avail > 0;
}

int tl__input_peek(tl_input *input, size_t n, tl_error *err)
{
	if (n > PEEK_MAX)
		n = PEEK_MAX;
	if (input->avail >= n)
		return 1;
	if (input->memory)
		return peek_memory(input, n, err);
	/* what is left moves to the front of the chunk: fewer than 64 bytes */
	if (input->avail)
		memmove(input->chunk, input->next, input->avail);
	input->next = input->chunk;
	while (input->avail < n) {
		int64_t got = fetch(input, input->chunk + input->avail, CHUNK - input->avail, err);
		if (got < 0)
			return (int)got;
		if (!got)
			break;
		input->avail += (size_t)got;
	}
	return input->avail > 0;
}

int64_t tl__input_read(tl_input *input, uint8_t *out, size_t size, tl_error *err)
{
	if (!input->avail && !input->memory)
		return fetch(input, out, size, err);
	if (!input->avail) {
		int more = tl__input_fill(input, err);
		if (more <= 0)
			return more;
	}
	if (size > input->avail)
		size = input->avail;
	memcpy(out, input->next, size);
	tl__input_skip(input, size);
	return (int64_t)size;
}

int64_t tl__input_read_at(tl_input *input, uint64_t offset, uint8_t *out, size_t size, tl_error *err)
{
	ssize_t n;

	if (atomic_load_explicit(&input->cancelled, memory_order_relaxed))
		return cancelled(err);
	size = injected_size(size);
	if (!size)
		return read_error(input, EIO, err);
	if (input->memory) {
		uint64_t left = offset < input->total ? input->total - offset : 0;
		n = (ssize_t)(size < left ? size : left);
		if (n)
			memcpy(out, input->memory + offset, (size_t)n);
	} else {
		do
			n = pread(input->fd, out, size, (off_t)offset);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return read_error(input, errno, err);
	}
	injected_taken((size_t)n);
	atomic_fetch_add_explicit(&input->taken, (uint64_t)n, memory_order_relaxed);
	return n;
}

uint64_t tl__input_done(const tl_input *input)
{
	if (input->below)
		input = input->below;
	uint64_t taken = atomic_load_explicit(&input->taken, memory_order_relaxed);
	/* a zip is read at its end before its member is: never more than there is */
	return input->total && taken > input->total ? input->total : taken;
}

int tl__input_cancellable(tl_input *input, tl_error *err)
{
	if (input->fd < 0 || input->seekable)
		return 0; /* a regular file does not keep a reader waiting */
	if (pipe2(input->wake, O_CLOEXEC) < 0) {
		input->wake[0] = input->wake[1] = -1;
		return read_error(input, errno, err);
	}
	return 0;
}

void tl__input_cancel(tl_input *input)
{
	atomic_store(&input->cancelled, true);
	if (input->wake[1] >= 0) {
		ssize_t n = write(input->wake[1], "", 1);
		(void)n; /* the pipe is empty, so there is room */
	}
}
