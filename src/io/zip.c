/* SPDX-License-Identifier: MIT */
/* The only regular file of a zip archive, through libzip. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zip.h>

#include "io/decode.h"
#include "util/alloc.h"
#include "util/buf.h"

/* Names of members that a message lists. */
#define LISTED 8

/* libzip reads the archive through this, so that files and memory, and injected faults, go one way. */
typedef struct feed {
	tl_input *zip;
	uint64_t at;
	int failed;     /* TL_EIO or TL_ECANCELLED of the last read */
	tl_error error; /* its message, which libzip's own codes cannot carry */
	zip_error_t zip_error;
} feed;

typedef struct member {
	feed feed;
	zip_t *archive;
	zip_file_t *file;
	zip_uint64_t index;
} member;

static zip_int64_t feed_call(void *user, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
	feed *f = user;

	switch (command) {
	case ZIP_SOURCE_OPEN:
		f->at = 0;
		return 0;
	case ZIP_SOURCE_READ: {
		/* libzip takes a short read for the end of the file */
		uint8_t *to = data;
		zip_uint64_t n = 0;
		while (n < size) {
			int64_t got = tl__input_read_at(f->zip, f->at, to + n, (size_t)(size - n), &f->error);
			if (got < 0) {
				f->failed = (int)got;
				zip_error_set(&f->zip_error, ZIP_ER_READ, EIO);
				return -1;
			}
			if (!got)
				break;
			n += (zip_uint64_t)got;
			f->at += (uint64_t)got;
		}
		return (zip_int64_t)n;
	}
	case ZIP_SOURCE_SEEK: {
		zip_int64_t to = zip_source_seek_compute_offset(f->at, f->zip->total, data, size, &f->zip_error);
		if (to < 0)
			return -1;
		f->at = (uint64_t)to;
		return 0;
	}
	case ZIP_SOURCE_TELL:
		return (zip_int64_t)f->at;
	case ZIP_SOURCE_STAT: {
		zip_stat_t *st = data;
		zip_stat_init(st);
		st->valid = ZIP_STAT_SIZE;
		st->size = f->zip->total;
		return sizeof *st;
	}
	case ZIP_SOURCE_ERROR:
		return zip_error_to_data(&f->zip_error, data, size);
	case ZIP_SOURCE_CLOSE:
	case ZIP_SOURCE_FREE:
		return 0;
	case ZIP_SOURCE_SUPPORTS:
		return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
						      ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
						      ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
	default:
		zip_error_set(&f->zip_error, ZIP_ER_OPNOTSUPP, 0);
		return -1;
	}
}

static int64_t member_pull(tl_input *self, uint8_t *out, size_t size, tl_error *err)
{
	member *m = self->user;
	zip_int64_t n = zip_fread(m->file, out, size);

	if (n >= 0)
		return n;
	if (m->feed.failed) {
		if (err)
			*err = m->feed.error;
		return m->feed.failed;
	}
	zip_error_t *why = zip_file_get_error(m->file);
	if (zip_error_code_zip(why) == ZIP_ER_MEMORY)
		return tl__nomem(err);
	snprintf(self->early, sizeof self->early, "%s", zip_error_strerror(why));
	self->early_all = zip_error_code_zip(why) == ZIP_ER_CRC; /* compared at the end of the data */
	return 0;
}

static void member_free_parts(member *m)
{
	if (m->file)
		zip_fclose(m->file);
	if (m->archive)
		zip_discard(m->archive);
	zip_error_fini(&m->feed.zip_error);
	tl__free(m);
}

static void member_free(tl_input *self)
{
	member_free_parts(self->user);
}

static int format_error(const tl_input *zip, const char *why, tl_error *err)
{
	tl__fail(err, TL_EFORMAT, "cannot read the zip file '%s': %s", zip->name, why);
	tl__error_where(err, zip->name, -1);
	return TL_EFORMAT;
}

static int zip_error(member *m, zip_error_t *why, tl_error *err)
{
	if (m->feed.failed) {
		if (err)
			*err = m->feed.error;
		return m->feed.failed;
	}
	if (zip_error_code_zip(why) == ZIP_ER_MEMORY)
		return tl__nomem(err);
	return format_error(m->feed.zip, zip_error_strerror(why), err);
}

static int open_archive(member *m, tl_error *err)
{
	zip_error_t why;
	zip_source_t *source;
	int code = 0;

	zip_error_init(&why);
	source = zip_source_function_create(feed_call, &m->feed, &why);
	if (source)
		m->archive = zip_open_from_source(source, ZIP_RDONLY, &why);
	if (!m->archive) {
		code = zip_error(m, &why, err);
		if (source)
			zip_source_free(source);
	}
	zip_error_fini(&why);
	return code;
}

bool tl__zip_is_data(const char *name)
{
	size_t n = strlen(name);

	return n && name[n - 1] != '/' && strncmp(name, "__MACOSX/", 9) != 0;
}

static int several(const member *m, size_t found, tl_error *err)
{
	zip_int64_t n = zip_get_num_entries(m->archive, 0);
	tl_buf list = {0};
	size_t listed = 0;
	int code;

	if (zip_name_locate(m->archive, "[Content_Types].xml", 0) >= 0) {
		code = tl__fail(
			err, TL_EFORMAT,
			"'%.160s' is a workbook, not a trace ('tracelens compare' puts finished reports side by side)",
			m->feed.zip->name);
		tl__error_where(err, m->feed.zip->name, -1);
		return code;
	}
	for (zip_int64_t i = 0; i < n && listed < LISTED; i++) {
		const char *name = zip_get_name(m->archive, (zip_uint64_t)i, 0);
		if (name && tl__zip_is_data(name))
			tl__buf_printf(&list, "%s%s", listed++ ? ", " : "", name);
	}
	if (found > listed)
		tl__buf_puts(&list, ", ...");
	const char *text = tl__buf_text(&list);
	if (text) {
		/* long names must not push the advice out of the message */
		code = tl__fail(err, TL_EFORMAT, "the zip file '%.160s' has %zu files, unpack it and name one: %.240s",
				m->feed.zip->name, found, text);
		tl__error_where(err, m->feed.zip->name, -1);
	} else {
		code = tl__nomem(err);
	}
	tl__buf_free(&list);
	return code;
}

static int open_member(member *m, tl_error *err)
{
	zip_int64_t n = zip_get_num_entries(m->archive, 0);
	size_t found = 0;
	zip_stat_t st;

	for (zip_int64_t i = 0; i < n; i++) {
		const char *name = zip_get_name(m->archive, (zip_uint64_t)i, 0);
		if (name && tl__zip_is_data(name) && !found++)
			m->index = (zip_uint64_t)i;
	}
	if (!found)
		return format_error(m->feed.zip, "there is no file in it", err);
	if (found > 1)
		return several(m, found, err);
	if (zip_stat_index(m->archive, m->index, 0, &st) == 0 && (st.valid & ZIP_STAT_ENCRYPTION_METHOD) &&
	    st.encryption_method != ZIP_EM_NONE)
		return format_error(m->feed.zip, "it is encrypted; unpack it first", err);
	m->file = zip_fopen_index(m->archive, m->index, 0);
	return m->file ? 0 : zip_error(m, zip_get_error(m->archive), err);
}

int tl__zip_member(tl_input **out, tl_input *zip, tl_error *err)
{
	member *m;
	int code;

	*out = NULL;
	if (!zip->seekable)
		return format_error(zip, "it does not come from a regular file; save it to one, or unpack it first",
				    err);
	m = tl__calloc(1, sizeof *m);
	if (!m)
		return tl__nomem(err);
	m->feed.zip = zip;
	zip_error_init(&m->feed.zip_error);
	code = open_archive(m, err);
	if (code == 0)
		code = open_member(m, err);
	if (code == 0)
		code = tl__input_open_pull(out, zip, member_pull, member_free, m, err);
	if (code < 0) {
		bool no_directory = code == TL_EFORMAT && !m->archive;
		member_free_parts(m);
		if (no_directory)
			code = tl__zip_cut_off(out, zip, err);
	}
	return code;
}
