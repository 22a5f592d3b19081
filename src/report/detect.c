/* SPDX-License-Identifier: MIT */
/* Which kind of trace a file is, from its first bytes: names lie. */
#include <string.h>

#include "io/source.h"
#include "tracelens/report.h"
#include "util/alloc.h"
#include "util/text.h"

enum { LOOK_AT = 256 * 1024 };

static bool has(const char *text, size_t n, const char *word)
{
	return memmem(text, n, word, strlen(word)) != NULL;
}

/* a bracket and what may follow it; the length byte of a protobuf message can be a bracket, too */
static bool begins_json(const char *text, size_t n)
{
	if (!n || (text[0] != '{' && text[0] != '['))
		return false;
	size_t i = 1;
	while (i < n && text[i] && strchr(" \t\r\n", text[i]))
		i++;
	return i == n || (text[i] && strchr("\"{}[]", text[i]));
}

static tl_format classify(const char *text, size_t n, const char *path)
{
	if (n >= 16 && !memcmp(text, "SQLite format 3", 16))
		return TL_FORMAT_ROCPD;
	size_t i = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	while (i < n && text[i] && strchr(" \t\r\n,", text[i]))
		i++;
	if (begins_json(text + i, n - i)) {
		/* the top-level key comes first in these files */
		size_t head = n - i < 4096 ? n - i : 4096;
		return has(text + i, head, "\"rocprofiler-sdk-tool\"") ? TL_FORMAT_ROCPROF : TL_FORMAT_PYTORCH;
	}
	/* both protobuf formats begin with field 1; an XSpace names its planes, a Perfetto trace has no such words */
	if (n && text[0] == '\n') {
		if (has(text, n, "/host:") || has(text, n, "/device:") || has(text, n, "Task Environment") ||
		    tl__ends_with(path, ".xplane.pb"))
			return TL_FORMAT_XPLANE;
		return TL_FORMAT_PERFETTO;
	}
	return TL_FORMAT_UNKNOWN;
}

int tl_format_detect(tl_format *out, const char *path, tl_error *err)
{
	*out = TL_FORMAT_UNKNOWN;
	char *text = tl__malloc(LOOK_AT);
	if (!text)
		return tl__nomem(err);
	tl_source *source = NULL;
	int code = tl__source_open(&source, path, false, err);
	size_t n = 0;
	while (code == 0 && n < LOOK_AT) {
		int64_t got = tl__source_read(source, text + n, LOOK_AT - n, err);
		if (got <= 0) {
			code = (int)got;
			break;
		}
		n += (size_t)got;
	}
	if (code == 0)
		*out = classify(text, n, path);
	tl__source_close(source);
	tl__free(text);
	return code;
}
