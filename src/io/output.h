/* SPDX-License-Identifier: MIT */
/**
 * @file output.h
 * Writing a file so that it appears complete or not at all: bytes go to a temporary file in the
 * same folder, which is renamed when everything was written. Permissions follow the umask, a
 * file that is replaced keeps its own.
 *
 *	TL_TRY(tl__output_open(&o, path, err));
 *	tl__output_write(o, text, n);           // any number of times, no checks needed
 *	return tl__output_commit(o, err);       // or tl__output_abort(o)
 */
#ifndef TL_IO_OUTPUT_H
#define TL_IO_OUTPUT_H

#include "tracelens/common.h"
#include "util/error.h"

typedef struct tl_output tl_output;

/**
 * Starts a file. "-" is standard output: nothing is renamed, and what was written before a failure stays
 * written. A symbolic link that leads somewhere is followed: its target is replaced, not the link. A target that is
 * neither a regular file nor missing (/dev/stdout, a named pipe) is written in place.
 * @param[out] out ends with tl__output_commit or tl__output_abort; NULL on failure
 * @return 0, TL_EIO (missing folder, no permission, target is a directory; the message names the
 *         file and the reason), TL_ENOMEM
 */
int tl__output_open(tl_output **out, const char *path, tl_error *err);

/** The same of a file that is on its way to another name: messages speak of `shown`. */
int tl__output_open_as(tl_output **out, const char *path, const char *shown, tl_error *err);

/** Appends bytes (buffered). After a failure it does nothing; tl__output_commit reports the first one. */
void tl__output_write(tl_output *output, const void *data, size_t n);

/** Whether a write failed, so that long work can stop early. */
bool tl__output_failed(const tl_output *output);

/**
 * Writes what is buffered and closes the file; tl__output_commit then only renames. For several files that shall
 * appear together: finish all, then commit all. Nothing may be written afterwards.
 * @return 0 or the first failure, which tl__output_commit repeats
 */
int tl__output_finish(tl_output *output, tl_error *err);

/**
 * Writes what is buffered, renames, and frees `output` in any case. On failure the temporary file is
 * removed and an older file of that name is as it was.
 * @return 0, or the first failure: TL_EIO (message names the file and the reason)
 */
int tl__output_commit(tl_output *output, tl_error *err);

/** Removes the temporary file and frees `output`; NULL is fine. */
void tl__output_abort(tl_output *output);

/** Makes a folder and the missing ones above it. 0 (also when it exists), TL_EIO, TL_ENOMEM. */
int tl__make_folder(const char *path, tl_error *err);

/**
 * Whether two names mean one output, so that what is written last would be all that is left: equal names, or after
 * links and `.` and `..` one file, which need not be there yet. False, too, when that cannot be found out.
 */
bool tl__output_is_same(const char *a, const char *b);

/** Tests only: writes from now on put at most `limit` bytes at a time to the system (0: no limit), and fail with
 * ENOSPC after `fail_after` bytes (negative: never). */
void tl__output_inject(size_t limit, int64_t fail_after);

#endif
