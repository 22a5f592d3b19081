/* SPDX-License-Identifier: MIT */
#include "util/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/format.h"

char *tl__buf_reserve(tl_buf *buf, size_t more)
{
	if (buf->failed)
		return NULL;
	if (buf->n + more + 1 > buf->cap && tl__grow((void *)&buf->v, &buf->cap, buf->n + more + 1, 1) < 0) {
		buf->failed = 1;
		return NULL;
	}
	return buf->v + buf->n;
}

void tl__buf_put(tl_buf *buf, const char *text, size_t n)
{
	char *at = tl__buf_reserve(buf, n);
	if (at && n) {
		memcpy(at, text, n);
		buf->n += n;
	}
}

void tl__buf_puts(tl_buf *buf, const char *text)
{
	tl__buf_put(buf, text, strlen(text));
}

void tl__buf_putc(tl_buf *buf, char c)
{
	tl__buf_put(buf, &c, 1);
}

void tl__buf_printf(tl_buf *buf, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	char *at = n < 0 ? NULL : tl__buf_reserve(buf, (size_t)n);
	if (at) {
		vsnprintf(at, (size_t)n + 1, format, again);
		buf->n += (size_t)n;
	} else {
		buf->failed = 1;
	}
	va_end(again);
	va_end(args);
}

void tl__buf_int(tl_buf *buf, int64_t value)
{
	char text[TL_FORMAT_MAX];
	tl__buf_put(buf, text, tl__format_int(text, value));
}

void tl__buf_double(tl_buf *buf, double value)
{
	char text[TL_FORMAT_MAX];
	tl__buf_put(buf, text, tl__format_double(text, value));
}

const char *tl__buf_text(tl_buf *buf)
{
	if (!tl__buf_reserve(buf, 0))
		return NULL;
	buf->v[buf->n] = '\0';
	return buf->v;
}

void tl__buf_clear(tl_buf *buf)
{
	buf->n = 0;
	buf->failed = 0;
}

int tl__buf_send(tl_buf *buf, tl_write_fn write, void *user)
{
	if (buf->failed)
		return TL_ENOMEM;
	if (buf->n && write(user, buf->v, buf->n) != 0)
		return TL_ECALLBACK;
	tl__buf_clear(buf);
	return 0;
}

int tl__buf_sent(int code, tl_error *err)
{
	if (code == TL_ECALLBACK)
		return tl__fail(err, code, "the receiver of the text stopped");
	return code < 0 ? tl__nomem(err) : 0;
}

void tl__buf_free(tl_buf *buf)
{
	tl__free(buf->v);
	*buf = (tl_buf){0};
}

int tl__buf_read(tl_buf *buf, FILE *file, size_t most)
{
	enum { PIECE = 64 << 10 };
	for (size_t got = 1; got;) {
		char *to = tl__buf_reserve(buf, PIECE);
		if (!to)
			return TL_ENOMEM;
		got = fread(to, 1, PIECE, file);
		buf->n += got;
		if (ferror(file))
			return TL_EIO;
		if (buf->n > most)
			return TL_ELIMIT;
	}
	return 0;
}
