/* SPDX-License-Identifier: MIT */
/* Whole sources: every container from a file, from memory and from a pipe, with and without the second thread. */
#include "io/source_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

static void every_kind_from_file_and_memory(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		char path[512];
		strcpy(path, put_file("packed", packed.v, packed.n));
		for (int i = 0; i < 4 * WAYS; i++) {
			tl_source *s;
			tl_source_state st;
			if (i & 1)
				assert_int_equal(tl__source_open(&s, path, i & 2, NULL), 0);
			else
				assert_int_equal(tl__source_open_memory(&s, packed.v, packed.n, i & 2, NULL), 0);
			assert_whole(s, i / 4, &text);
			tl__source_state(s, &st);
			assert_int_equal(st.packed_total, packed.n);
			assert_int_equal(st.packed_done, packed.n);
			tl__source_close(s);
		}
		unlink(path);
		free(packed.v);
	}
}

static void short_files_are_plain(void **state)
{
	static const char *const starts[] = {"", "{", "\x28", "P", "\x1e\x8b", "\x28\xb6", "PL", "PK1", "[]\n{}"};

	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		for (int way = 0; way < WAYS; way++) {
			bytes b = {(uint8_t *)(uintptr_t)starts[i], strlen(starts[i])};
			tl_source *s;
			assert_int_equal(tl__source_open_memory(&s, b.v, b.n, way == 1, NULL), 0);
			assert_whole(s, way, &b);
			tl__source_close(s);
		}
	}
}

/* Less than the mark of a container: the rest of it is missing. */
static void short_files_that_are_cut_off(void **state)
{
	static const char *const starts[] = {"\x1f", "\x28\xb5", "\x28\xb5\x2f", "PK", "PK\x03"};

	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		tl_error err = TL_ERROR_INIT;
		tl_source_state st;
		tl_source *s;
		bytes out;
		int code = tl__source_open_memory(&s, starts[i], strlen(starts[i]), false, &err);
		if (i > 2) { /* a zip is looked into at once */
			assert_int_equal(code, TL_EFORMAT);
			assert_non_null(strstr(err.message, "cut off"));
			continue;
		}
		assert_int_equal(code, 0);
		assert_int_equal(drain(s, 0, &out, NULL), 0);
		assert_int_equal(out.n, 0);
		tl__source_state(s, &st);
		assert_true(st.truncated);
		assert_non_null(strstr(st.note, "cut off"));
		tl__source_close(s);
		free(out.v);
	}
}

typedef struct feeder {
	int fd;
	const bytes *b;
	pthread_t thread;
} feeder;

static void *feed(void *user)
{
	feeder *f = user;
	size_t at = 0;
	uint32_t seed = 3;

	while (at < f->b->n) {
		size_t n = 1 + test_random(&seed) % 5000;
		ssize_t done = write(f->fd, f->b->v + at, n < f->b->n - at ? n : f->b->n - at);
		if (done <= 0)
			break;
		at += (size_t)done;
	}
	close(f->fd);
	return NULL;
}

static void pipes_and_standard_input(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		for (int threaded = 0; threaded < 2; threaded++) {
			int ends[2], saved = dup(STDIN_FILENO);
			feeder f = {.b = &packed};
			tl_error err = TL_ERROR_INIT;
			tl_source *s;
			assert_int_equal(pipe(ends), 0);
			f.fd = ends[1];
			dup2(ends[0], STDIN_FILENO);
			close(ends[0]);
			assert_int_equal(pthread_create(&f.thread, NULL, feed, &f), 0);
			if (kinds[k].zip) {
				assert_int_equal(tl__source_open(&s, "-", threaded, &err), TL_EFORMAT);
				assert_non_null(strstr(err.message, "standard input"));
			} else {
				tl_source_state st;
				assert_int_equal(tl__source_open(&s, "-", threaded, &err), 0);
				assert_whole(s, threaded, &text);
				tl__source_state(s, &st);
				assert_int_equal(st.packed_total, 0);
				assert_int_equal(st.packed_done, packed.n);
				tl__source_close(s);
			}
			dup2(saved, STDIN_FILENO); /* closes the pipe: the feeder gets EPIPE, or is done */
			close(saved);
			pthread_join(f.thread, NULL);
		}
		free(packed.v);
	}
}

static void short_reads(void **state)
{
	static const size_t limits[] = {1, 3, 1000};
	bytes few = {text.v, 20000};

	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&few);
		char path[512];
		strcpy(path, put_file("packed", packed.v, packed.n));
		for (int i = 0; i < 2 * 3 * WAYS; i++) {
			tl_source *s;
			tl__source_inject(limits[i / 2 % 3], -1);
			assert_int_equal(i & 1 ? tl__source_open(&s, path, i & 1, NULL)
					       : tl__source_open_memory(&s, packed.v, packed.n, i & 1, NULL),
					 0);
			assert_whole(s, i / 6, &few);
			tl__source_close(s);
			tl__source_inject(0, -1);
		}
		unlink(path);
		free(packed.v);
	}
}

/* A disk that fails after some bytes: what was read before is delivered, then the error, again and again. */
static void read_failures(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text), out;
		char path[512];
		strcpy(path, put_file("broken", packed.v, packed.n));
		for (int i = 0; i < 2 * WAYS * 5; i++) {
			int64_t after = (int64_t)packed.n * (i % 5) / 5;
			tl_error err = TL_ERROR_INIT;
			tl_source *s;
			int code;
			tl__source_inject(0, after);
			code = tl__source_open(&s, path, i & 1, &err);
			if (code == 0) {
				assert_int_equal(drain(s, i / 10, &out, &err), TL_EIO);
				assert_in_range(out.n, 0, text.n);
				if (out.n)
					assert_memory_equal(out.v, text.v, out.n);
				if (k == 0)
					assert_int_equal(out.n, after);
				assert_int_equal(once_more(s, i / 10), TL_EIO);
				tl__source_close(s);
				free(out.v);
			} else {
				assert_int_equal(code, TL_EIO);
				assert_null(s);
			}
			assert_int_equal(err.code, TL_EIO);
			assert_non_null(strstr(err.message, path));
			assert_non_null(strstr(err.message, "Input/output error"));
			assert_string_equal(err.file, path);
			tl__source_inject(0, -1);
		}
		unlink(path);
		free(packed.v);
	}
}

static void files_that_cannot_be_opened(void **state)
{
	tl_error err = TL_ERROR_INIT;
	tl_source *s = (tl_source *)&err;

	(void)state;
	assert_int_equal(tl__source_open(&s, folder, true, &err), TL_EIO);
	assert_null(s);
	assert_non_null(strstr(err.message, folder));
	assert_non_null(strstr(err.message, "Is a directory"));
	assert_int_equal(tl__source_open(&s, in_folder("none"), true, &err), TL_EIO);
	assert_non_null(strstr(err.message, in_folder("none")));
	assert_non_null(strstr(err.message, "No such file"));
	assert_int_equal(tl__source_open(&s, "", true, &err), TL_EIO);
	if (geteuid() != 0) {
		chmod(put_file("secret", "{}", 2), 0);
		assert_int_equal(tl__source_open(&s, in_folder("secret"), true, &err), TL_EIO);
		assert_non_null(strstr(err.message, "Permission denied"));
		unlink(in_folder("secret"));
	}
}
/* Closing must not wait for the rest of the file, nor for a pipe that stays silent. */
static void close_in_mid_stream(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		for (int read = 0; read < 4; read++) {
			tl_source *s;
			char *window;
			assert_int_equal(tl__source_open_memory(&s, packed.v, packed.n, true, NULL), 0);
			for (int i = 0; i < read; i++)
				assert_true(tl__source_next(s, 0, &window, NULL, NULL) > 0);
			tl__source_close(s);
		}
		free(packed.v);
	}
	tl__source_close(NULL);
}

static void close_while_a_pipe_is_silent(void **state)
{
	const char *path = in_folder("fifo");
	tl_source *s;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR); /* keeps the other end open */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "{\"a\": 1}", 8), 8);
	assert_int_equal(tl__source_open(&s, path, true, NULL), 0);
	alarm(60); /* it would wait forever, not long: a slow machine has time enough */
	tl__source_close(s);
	alarm(0);
	close(fd);
	unlink(path);
}

/* Remainders of every size, up to all that was read so far: 40 MB, in linear time. */
static void windows_grow_as_needed(void **state)
{
	bytes large = test_text(40000000, 2);

	(void)state;
	for (int threaded = 0; threaded < 2; threaded++) {
		size_t size = 0;
		char *window;
		int64_t got;
		tl_source *s;
		assert_int_equal(tl__source_open_memory(&s, large.v, large.n, threaded, NULL), 0);
		while ((got = tl__source_next(s, size, &window, NULL, NULL)) > 0)
			size += (size_t)got;
		assert_int_equal(got, 0);
		assert_int_equal(size, large.n);
		assert_memory_equal(window, large.v, large.n);
		tl__source_close(s);
	}
	free(large.v);
}

typedef struct copy_task {
	tl_source_task task;
	tl_source *source;
	tl_source_block *block;
	const char *window;
	size_t n;
	bytes *out;
} copy_task;

static void copy_window(tl_source_task *task)
{
	copy_task *copy = (copy_task *)task;
	memcpy(copy->out->v + copy->out->n, copy->window, copy->n);
	copy->out->n += copy->n;
	tl__source_give(copy->source, copy->block);
}

/* The window before stays as it is until its block was given back; tasks are run in order. */
static void tasks_beside_the_reader(void **state)
{
	enum { UNDER_WAY = 2 };
	bytes large = test_text(10000000, 2), out = {.v = malloc(large.n)};
	copy_task tasks[UNDER_WAY] = {0};
	char *window = NULL, *before;
	size_t posted = 0, n_before;
	int64_t got = 0;
	tl_source_block *block;
	tl_source *s;

	(void)state;
	assert_int_equal(tl__source_open_memory(&s, large.v, large.n, true, NULL), 0);
	assert_true(tl__source_is_threaded(s));
	assert_false(tl__source_in_block(s));
	for (;;) {
		before = window, n_before = (size_t)got;
		got = tl__source_next(s, 0, &window, &block, NULL);
		if (got <= 0)
			break;
		assert_true(tl__source_in_block(s));
		assert_int_equal(block != NULL, before != NULL);
		if (!block)
			continue;
		copy_task *copy = &tasks[posted % UNDER_WAY];
		if (posted >= UNDER_WAY)
			tl__source_wait(s, &copy->task);
		*copy = (copy_task){{.run = copy_window}, s, block, before, n_before, &out};
		tl__source_post(s, &copy->task);
		posted++;
	}
	assert_int_equal(got, 0);
	assert_null(block); /* the last window stays where it is */
	for (size_t i = 0; i < UNDER_WAY; i++)
		tl__source_wait(s, &tasks[i].task);
	assert_int_equal(out.n + n_before, large.n);
	assert_memory_equal(out.v, large.v, out.n);
	tl__source_close(s);
	free(out.v);
	free(large.v);
}

static void no_memory(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++) {
		bytes packed = kinds[k].pack(&text);
		for (int way = 0; way < WAYS * 2; way++) {
			int64_t code = TL_ENOMEM;
			for (int n = 0; code == TL_ENOMEM; n++) {
				tl_error err = TL_ERROR_INIT;
				bytes out = {0};
				tl_source *s;
				assert_in_range(n, 0, 60);
				tl__alloc_fail_after(n);
				code = tl__source_open_memory(&s, packed.v, packed.n, way & 1, &err);
				if (code == 0) {
					code = drain(s, way / 2, &out, &err);
					tl__source_close(s);
				} else {
					assert_null(s);
				}
				tl__alloc_fail_after(-1);
				assert_int_equal(err.code, code);
				if (code == 0)
					assert_int_equal(out.n, text.n);
				free(out.v);
			}
			assert_int_equal(code, 0);
		}
		free(packed.v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_kind_from_file_and_memory, reset),
		cmocka_unit_test_teardown(short_files_are_plain, reset),
		cmocka_unit_test_teardown(short_files_that_are_cut_off, reset),
		cmocka_unit_test_teardown(pipes_and_standard_input, reset),
		cmocka_unit_test_teardown(short_reads, reset),
		cmocka_unit_test_teardown(read_failures, reset),
		cmocka_unit_test_teardown(files_that_cannot_be_opened, reset),
		cmocka_unit_test_teardown(close_in_mid_stream, reset),
		cmocka_unit_test_teardown(close_while_a_pipe_is_silent, reset),
		cmocka_unit_test_teardown(windows_grow_as_needed, reset),
		cmocka_unit_test_teardown(tasks_beside_the_reader, reset),
		cmocka_unit_test_teardown(no_memory, reset),
	};

	signal(SIGPIPE, SIG_IGN); /* the feeder of a pipe that is closed early gets EPIPE */
	return cmocka_run_group_tests(tests, setup, teardown);
}
