/* SPDX-License-Identifier: MIT */
/*
 * libxlsxwriter collects every part of a workbook in a temporary file and does not look at what fwrite answers:
 * on a full disk the workbook that comes out is cut off, and nobody is told. So the finished file is
 * read once: each part must end with the end tag of its root element.
 */
#include <string.h>
#include <zip.h>

#include "io/xlsx_writer.h"

/* "</name>" of the first element of a part; "" when there is none */
static void find_end_tag(char out[64], const char *text, size_t n)
{
	out[0] = '\0';
	for (size_t i = 0; i + 1 < n; i++) {
		if (text[i] != '<' || text[i + 1] == '?')
			continue;
		size_t length = 0;
		while (i + 1 + length < n && length < 60 && !strchr(" />\r\n", text[i + 1 + length]))
			length++;
		memcpy(out, "</", 2);
		memcpy(out + 2, text + i + 1, length);
		memcpy(out + 2 + length, ">", 2);
		return;
	}
}

static bool is_whole(zip_file_t *part)
{
	char block[32768 + 64], end_tag[64] = "";
	size_t kept = 0; /* end of the last block, in front of the next one */
	bool first = true;
	for (;;) {
		zip_int64_t got = zip_fread(part, block + kept, sizeof block - kept);
		if (got < 0)
			return false;
		if (got == 0)
			break;
		size_t n = kept + (size_t)got;
		if (first)
			find_end_tag(end_tag, block, n);
		first = false;
		kept = n < 64 ? n : 64;
		memmove(block, block + n - kept, kept);
	}
	while (kept && strchr("\r\n", block[kept - 1]))
		kept--;
	size_t length = strlen(end_tag);
	return length && kept >= length && !memcmp(block + kept - length, end_tag, length);
}

int tl__xlsx_verify(const char *path, tl_error *err)
{
	int why;
	zip_t *archive = zip_open(path, ZIP_RDONLY, &why);
	bool whole = archive != NULL && zip_get_num_entries(archive, 0) > 0;
	for (zip_int64_t i = 0; whole && i < zip_get_num_entries(archive, 0); i++) {
		zip_file_t *part = zip_fopen_index(archive, (zip_uint64_t)i, 0);
		whole = part && is_whole(part);
		if (part)
			zip_fclose(part);
	}
	if (archive)
		zip_discard(archive);
	if (whole)
		return 0;
	return tl__fail(err, TL_EIO,
			"the workbook came out cut off: there was no room for its temporary files (set TMPDIR to a "
			"directory with more room)");
}
