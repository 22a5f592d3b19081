/* SPDX-License-Identifier: MIT */
/** @file error.h Filling a tl_error, and passing failures up. */
#ifndef TL_UTIL_ERROR_H
#define TL_UTIL_ERROR_H

#include "tracelens/common.h"

/**
 * Sets `err` (may be NULL) and returns `code`, so that a failing function ends in
 * `return tl__fail(err, TL_EINVAL, "no column '%s'", name);`.
 */
int tl__fail(tl_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/**
 * As tl__fail, with TL_EIO, for a system call that failed with errno `number`: its words for that come behind the
 * message, after a colon, also when the message is cut:
 * `return tl__fail_system(err, errno, "cannot open '%s'", path);`.
 */
int tl__fail_system(tl_error *err, int number, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Adds the errno to an error with TL_EIO whose message says in its own words what the system said. */
void tl__error_system(tl_error *err, int number);

/** As tl__fail for TL_ENOMEM; needs no memory itself. */
int tl__nomem(tl_error *err);

/** Names the file (and byte offset, or -1) that the error in `err` is about. */
void tl__error_where(tl_error *err, const char *file, int64_t offset);

/** Leaves the calling function with the code of `expression` when it failed. */
#define TL_TRY(expression)                       \
	do {                                     \
		int tl_try_code_ = (expression); \
		if (tl_try_code_ < 0)            \
			return tl_try_code_;     \
	} while (0)

#endif
