/* SPDX-License-Identifier: MIT */
/** @file xlsx_parts.h The parts of a workbook: XML files in a zip file. */
#ifndef TL_IO_XLSX_PARTS_H
#define TL_IO_XLSX_PARTS_H

#include <stdbool.h>
#include <zip.h>

#include "tracelens/common.h"
#include "util/error.h"

/** What happens while a part is read. Names are without prefix; a negative code ends the reading. Each may be NULL. */
typedef struct tl_xlsx_events {
	/** `attributes`: name, value, ..., NULL. */
	int (*start)(void *user, const char *element, const char **attributes, tl_error *err);
	int (*end)(void *user, const char *element, tl_error *err);
	int (*text)(void *user, const char *text, size_t n, tl_error *err);
} tl_xlsx_events;

/**
 * Reads a part. Document types (and with them entities) are refused, and so is a part that unpacks to absurdly much.
 * TL_ENOTFOUND (no such part), TL_EFORMAT, TL_EIO, TL_ENOMEM, or what an event returned.
 */
int tl__xlsx_read_part(zip_t *archive, const char *part, const tl_xlsx_events *events, void *user, tl_error *err);
/** Value of an attribute (name without prefix), or NULL. */
const char *tl__xlsx_attribute(const char **attributes, const char *name);

#endif
