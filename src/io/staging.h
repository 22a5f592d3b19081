/* SPDX-License-Identifier: MIT */
/** @file staging.h Several files that appear together or not at all. */
#ifndef TL_IO_STAGING_H
#define TL_IO_STAGING_H

#include "io/output.h"
#include "util/alloc.h"

/**
 * Files that belong together, as those of one report: they get their names together when all of them are complete.
 * Zero-initialise; ends with tl__staging_end.
 */
typedef struct tl_staging {
	TL_VEC(tl_output *) outputs;
	char *dir, *work;     /* directory of the files, and one inside it that holds them until all are there */
	char *made;           /* the outermost directory that had to be made for `dir`, or NULL */
	TL_VEC(char *) names; /* files in `work` */
} tl_staging;

/** Starts a file (see tl__output_open); `*out` belongs to the staging. */
int tl__staging_output(tl_output **out, tl_staging *staging, const char *path, tl_error *err);
/** Makes `dir`, with what is missing above it, and the work directory in it. Once for a staging. */
int tl__staging_dir(tl_staging *staging, const char *dir, tl_error *err);
/**
 * Path to write a file that becomes `dir`/`name`, which is `*shown`, for messages. Both are allocated for the caller,
 * who frees them with tl__free, also after a failure.
 */
int tl__staging_file(char **out, char **shown, tl_staging *staging, const char *name, tl_error *err);
/** Gives the files their names. The failure of one leaves those renamed before it: complete files. */
int tl__staging_commit(tl_staging *staging, tl_error *err);
/** Removes all that was not committed, directories made for it included, and frees. */
void tl__staging_end(tl_staging *staging);

#endif
