/* SPDX-License-Identifier: MIT */
/**
 * @file common.h
 * Basic types that every module shares: error codes, the error record,
 * time and identifiers.
 */
#ifndef TRACELENS_COMMON_H
#define TRACELENS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the shared library exports; everything else is hidden. */
#if defined(__GNUC__)
#define TL_API __attribute__((visibility("default")))
#else
#define TL_API
#endif

/**
 * Result of a function that can fail: 0, or one of these negative codes.
 * Details are in the tl_error that the caller passed.
 */
typedef enum tl_code {
	TL_OK = 0,
	TL_ENOMEM = -1,       /**< no memory left */
	TL_EIO = -2,          /**< the system refused a read, a write or an open */
	TL_EFORMAT = -3,      /**< the file is not what it should be; nothing could be read */
	TL_EINVAL = -4,       /**< the caller passed something that makes no sense */
	TL_ENOTFOUND = -5,    /**< no such event, column, sheet, ... (a file that is not there: TL_EIO) */
	TL_ESTRICT = -6,      /**< strict mode: the file needed a repair */
	TL_EEMPTY = -7,       /**< readable, but there is nothing to analyse */
	TL_EUNSUPPORTED = -8, /**< understood, but this program cannot do it */
	TL_ECALLBACK = -9,    /**< a callback of the caller failed */
	TL_ECANCELLED = -10,  /**< the caller asked to stop */
	TL_ELIMIT = -11       /**< more than a fixed limit, for example 2^32 events */
} tl_code;

/**
 * What went wrong. Owned by the caller, who sets it to `TL_ERROR_INIT`; filled
 * by the function that fails. Passing NULL instead is allowed everywhere.
 */
typedef struct tl_error {
	int code; /**< one of tl_code */
	/** errno of the system call that failed (ENOENT, ENOSPC ...); 0 when none did, or it is not known. Only with
	 * TL_EIO */
	int system_errno;
	int64_t offset;    /**< byte offset in `file` (of the unpacked text), or -1 */
	char file[256];    /**< the file concerned, or "" ; long paths keep their end */
	char message[512]; /**< one line for people: what is wrong and what to do */
} tl_error;

#define TL_ERROR_INIT            \
	{                        \
		0, 0, -1, "", "" \
	}

/** Row of an event in its trace: position in `traceEvents`, the UID that reports print. */
typedef uint32_t tl_row;
#define TL_ROW_NONE UINT32_MAX

/** Time in picoseconds, relative to the base of the trace. */
typedef int64_t tl_time;
/** "No usable time": missing, unreadable or outside 106 days of the base. */
#define TL_TIME_NONE INT64_MIN

/** Picoseconds in a microsecond, the unit of the tables. */
#define TL_PS_PER_US INT64_C(1000000)

/**
 * Receives text piece by piece, `n` bytes that are not NUL terminated and gone after the call. Returns 0 to go on;
 * anything else ends the function that writes with TL_ECALLBACK.
 */
typedef int (*tl_write_fn)(void *user, const char *text, size_t n);

/** The library's version, for example "0.1.0". */
TL_API const char *tl_version(void);

/** Short name of a code, for example "TL_EIO"; "TL_?" for an unknown one. */
TL_API const char *tl_code_name(int code);

#ifdef __cplusplus
}
#endif

#endif
