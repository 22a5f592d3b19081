/* SPDX-License-Identifier: MIT */
/**
 * @file pack.h
 * Deflating in pieces, and zip files (PKWARE APPNOTE 6.3, with ZIP64) whose members are such pieces, one behind the
 * other. A piece ends at a byte, so the pieces of a member may be made in any order, and long before it is known what
 * stands in front of them.
 */
#ifndef TL_IO_PACK_H
#define TL_IO_PACK_H

#include <stdint.h>
#include <stdio.h>

#include "util/alloc.h"
#include "util/error.h"

/** What a piece, or a whole member, amounts to. */
typedef struct tl_packed {
	uint32_t crc;          /* CRC-32 of what was packed */
	uint64_t size, packed; /* bytes before and after */
} tl_packed;

typedef struct tl_packer tl_packer;

/** A packer that writes to `out`, which stays the caller's; failed writes show in ferror(out). NULL: out of memory. */
tl_packer *tl__packer_new(FILE *out);
void tl__packer_free(tl_packer *packer);
void tl__pack(tl_packer *packer, const void *data, size_t n);
/** Ends the piece; the next one does not refer to it. `last`: nothing follows it in its member. */
tl_packed tl__pack_end(tl_packer *packer, bool last);
/** Two pieces behind each other. */
tl_packed tl__packed_join(tl_packed a, tl_packed b);

struct tl_zip_entry;
/** A zip file in the making. Zero-initialise with `out`; failed writes show in ferror(out). */
typedef struct tl_zip_out {
	FILE *out;
	uint64_t at; /* bytes so far */
	TL_VEC(struct tl_zip_entry) entries;
} tl_zip_out;
/** Begins a member: all its packed bytes must follow, by tl__zip_data. TL_ENOMEM. */
int tl__zip_begin(tl_zip_out *zip, const char *name, tl_packed whole);
void tl__zip_data(tl_zip_out *zip, const void *data, size_t n);
/** Writes the directory. */
void tl__zip_end(tl_zip_out *zip);
void tl__zip_free(tl_zip_out *zip);

#endif
