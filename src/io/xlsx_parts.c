/* SPDX-License-Identifier: MIT */
#include "io/xlsx_parts.h"

#include <expat.h>
#include <inttypes.h>
#include <string.h>

#include "util/alloc.h"

/* A part that unpacks to this much may be at most so many times as large as it is packed. Sheets of reports, however
 * repetitive, stay below 50 times; bombs reach 1000. */
#define HARMLESS ((uint64_t)64 << 20)
#define MOST_TIMES 200
#define MOST ((uint64_t)16 << 30)
enum { BLOCK = 65536 };

typedef struct reading {
	XML_Parser parser;
	const tl_xlsx_events *events;
	void *user;
	tl_error *err;
	int code;
} reading;

static const char *local_name(const char *name)
{
	const char *colon = strchr(name, ':');
	return colon ? colon + 1 : name;
}

const char *tl__xlsx_attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(local_name(*attributes), name))
			return attributes[1];
	return NULL;
}

static void stop(reading *r, int code)
{
	if (code < 0 && r->code == 0) {
		r->code = code;
		XML_StopParser(r->parser, XML_FALSE);
	}
}

/* Expat may deliver what it had at hand after a stop. */
static void on_start(void *user, const char *element, const char **attributes)
{
	reading *r = user;
	if (r->code == 0 && r->events->start)
		stop(r, r->events->start(r->user, local_name(element), attributes, r->err));
}

static void on_end(void *user, const char *element)
{
	reading *r = user;
	if (r->code == 0 && r->events->end)
		stop(r, r->events->end(r->user, local_name(element), r->err));
}

static void on_text(void *user, const char *text, int n)
{
	reading *r = user;
	if (r->code == 0 && r->events->text)
		stop(r, r->events->text(r->user, text, (size_t)n, r->err));
}

static void on_doctype(void *user, const char *name, const char *system, const char *public, int internal)
{
	reading *r = user;
	(void)name, (void)system, (void)public, (void)internal;
	if (r->code == 0)
		stop(r, tl__fail(r->err, TL_EFORMAT, "it has a document type, which workbooks do not have"));
}

static int check_size(uint64_t unpacked, uint64_t packed, tl_error *err)
{
	if (unpacked > HARMLESS && (unpacked / MOST_TIMES > packed || unpacked > MOST))
		return tl__fail(err, TL_EFORMAT,
				"it unpacks to over %" PRIu64 " times its size, which no report does (a zip bomb?)",
				packed ? unpacked / packed : unpacked);
	return 0;
}

static int read_member(reading *r, zip_file_t *file, uint64_t packed)
{
	uint64_t total = 0;
	for (;;) {
		void *block = XML_GetBuffer(r->parser, BLOCK);
		if (!block)
			return tl__nomem(r->err);
		zip_int64_t n = zip_fread(file, block, BLOCK);
		if (n < 0)
			return tl__fail(r->err, TL_EFORMAT, "it cannot be unpacked: %s", zip_file_strerror(file));
		total += (uint64_t)n;
		TL_TRY(check_size(total, packed, r->err));
		enum XML_Status status = XML_ParseBuffer(r->parser, (int)n, n == 0);
		if (r->code < 0)
			return r->code;
		if (status != XML_STATUS_OK && XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY)
			return tl__nomem(r->err);
		if (status != XML_STATUS_OK)
			return tl__fail(r->err, TL_EFORMAT, "line %" PRIu64 " is no XML: %s",
					(uint64_t)XML_GetCurrentLineNumber(r->parser),
					XML_ErrorString(XML_GetErrorCode(r->parser)));
		if (n == 0)
			return 0;
	}
}

/* Says which part an error is about. */
static int name_part(int code, const char *part, tl_error *err)
{
	if (!err || code == TL_ENOMEM)
		return code;
	tl_error inner = *err;
	return tl__fail(err, code, "part %.100s: %.300s", part, inner.message);
}

int tl__xlsx_read_part(zip_t *archive, const char *part, const tl_xlsx_events *events, void *user, tl_error *err)
{
	zip_stat_t stat;
	zip_int64_t index = zip_name_locate(archive, part, ZIP_FL_NOCASE);
	if (index < 0)
		return tl__fail(err, TL_ENOTFOUND, "part %.100s is missing", part);
	if (zip_stat_index(archive, (zip_uint64_t)index, 0, &stat) < 0 || !(stat.valid & ZIP_STAT_COMP_SIZE))
		return tl__fail(err, TL_EFORMAT, "part %.100s has no size", part);
	zip_file_t *file = zip_fopen_index(archive, (zip_uint64_t)index, 0);
	if (!file)
		return tl__fail(err, TL_EFORMAT, "part %.100s cannot be unpacked: %s", part, zip_strerror(archive));
	static const XML_Memory_Handling_Suite memory = {tl__malloc, tl__realloc, tl__free};
	reading r = {.events = events, .user = user, .err = err};
	r.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
	int code = r.parser ? 0 : tl__nomem(err);
	if (code == 0) {
		XML_SetUserData(r.parser, &r);
		XML_SetElementHandler(r.parser, on_start, on_end);
		XML_SetCharacterDataHandler(r.parser, on_text);
		XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
		code = read_member(&r, file, stat.comp_size);
		if (code < 0 && r.code == 0)
			code = name_part(code, part, err);
		XML_ParserFree(r.parser);
	}
	zip_fclose(file);
	return code;
}
