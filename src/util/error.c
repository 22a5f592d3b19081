/* SPDX-License-Identifier: MIT */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef TL_VERSION
#define TL_VERSION "0.0.0"
#endif

static void fill(tl_error *err, int code, const char *format, va_list args)
{
	err->code = code;
	err->system_errno = 0;
	err->offset = -1;
	err->file[0] = '\0';
	vsnprintf(err->message, sizeof err->message, format, args);
}

int tl__fail(tl_error *err, int code, const char *format, ...)
{
	if (err) {
		va_list args;
		va_start(args, format);
		fill(err, code, format, args);
		va_end(args);
	}
	return code;
}

int tl__fail_system(tl_error *err, int number, const char *format, ...)
{
	int kept = errno;
	if (err) {
		va_list args;
		va_start(args, format);
		fill(err, TL_EIO, format, args);
		va_end(args);
		err->system_errno = number;
		const char *why = strerror(number);
		size_t tail = strlen(": ") + strlen(why), most = sizeof err->message - 1;
		size_t n = strlen(err->message);
		if (tail < most) {
			if (n > most - tail)
				n = most - tail;
			snprintf(err->message + n, sizeof err->message - n, ": %s", why);
		}
	}
	errno = kept;
	return TL_EIO;
}

void tl__error_system(tl_error *err, int number)
{
	if (err)
		err->system_errno = number;
}

int tl__nomem(tl_error *err)
{
	return tl__fail(err, TL_ENOMEM, "out of memory");
}

void tl__error_where(tl_error *err, const char *file, int64_t offset)
{
	if (!err)
		return;
	size_t n = strlen(file), room = sizeof err->file - 1;
	/* the end of a long path says more than its beginning */
	const char *from = n > room ? file + (n - room) : file;
	memcpy(err->file, from, strlen(from) + 1);
	err->offset = offset;
}

const char *tl_version(void)
{
	return TL_VERSION;
}

const char *tl_code_name(int code)
{
	static const char *const names[] = {
		"TL_OK",      "TL_ENOMEM", "TL_EIO",          "TL_EFORMAT",   "TL_EINVAL",     "TL_ENOTFOUND",
		"TL_ESTRICT", "TL_EEMPTY", "TL_EUNSUPPORTED", "TL_ECALLBACK", "TL_ECANCELLED", "TL_ELIMIT",
	};
	int least = -(int)(sizeof names / sizeof *names);
	return code <= 0 && code > least ? names[-code] : "TL_?";
}
