/* SPDX-License-Identifier: MIT */
/**
 * @file names.h
 * What names of events mean for a comparison of runs: addresses, line numbers, folders, running numbers (of generated
 * kernels, modules, compiled regions, steps) and the backend do not count.
 */
#ifndef TL_COMPARE_NAMES_H
#define TL_COMPARE_NAMES_H

#include "trace/store.h"
#include "util/buf.h"

/** Names that mean the same. */
typedef struct tl_twin {
	const char *name, *common; /* in the arena of tl_twins, or static */
	size_t n_name, n_common;
	bool prefix; /* both stand for all names that begin so */
} tl_twin;
typedef struct tl_twins {
	tl_arena arena;
	TL_VEC(tl_twin) v; /* of the user; they go before the built-in ones */
} tl_twins;

/** Reads lines `NAME = NAME`; NULL: none. TL_EINVAL (with the number of the line), TL_ENOMEM. */
int tl__twins_read(tl_twins *out, const char *text, tl_error *err);
void tl__twins_free(tl_twins *twins);
/** Appends the common name of a name. Applied until nothing changes, at most 8 times. */
void tl__twins_apply(const tl_twins *twins, tl_buf *out, const char *name, size_t n);

/** Hashes of the texts of a pool, made when first asked for. */
typedef struct tl_name_hashes {
	const tl_strings *strings;
	const tl_twins *twins;
	size_t n;
	uint64_t *text;   /* of the text as it is */
	uint64_t *plain;  /* of the plain name */
	uint64_t *common; /* of the common name */
	tl_buf buf, scratch;
} tl_name_hashes;
/** For the strings that the pool has now. TL_ENOMEM; `*out` is freed with tl__name_hashes_free in any case. */
int tl__name_hashes_new(tl_name_hashes *out, const tl_strings *strings, const tl_twins *twins);
void tl__name_hashes_free(tl_name_hashes *hashes);
/** 0 for TL_STR_NONE. */
uint64_t tl__hash_of_text(tl_name_hashes *hashes, tl_str id);
/** Of the name of an event; 0 for TL_STR_NONE. TL_ENOMEM leaves them unset. */
int tl__hash_name(tl_name_hashes *hashes, tl_str id, uint64_t *plain, uint64_t *common);

#endif
