/* SPDX-License-Identifier: MIT */
/** @file corpus_fixture.h The shared data, when it is there; for unit tests only. Needs cmocka. */
#ifndef TL_TRACE_CORPUS_FIXTURE_H
#define TL_TRACE_CORPUS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Path of a file of the shared data ("corpus/pytorch/x.json.gz"), NULL where it is missing. */
static inline const char *tl_corpus_path(char out[4096], const char *name)
{
	const char *shared = getenv("TRACELENS_CORPUS"), *root = getenv("TL_SOURCE_ROOT");
	if (shared)
		snprintf(out, 4096, "%s/%s", shared, name);
	else
		snprintf(out, 4096, "%s/../shared/%s", root ? root : ".", name);
	return access(out, R_OK) == 0 ? out : NULL;
}

/** Ends a test that cannot do without the shared data. */
static inline void tl_no_corpus(void)
{
	print_message("skipped: no corpus\n");
	skip();
}

/** The same path; ends the test where the file is missing. */
static inline const char *tl_corpus_needed(char out[4096], const char *name)
{
	if (!tl_corpus_path(out, name))
		tl_no_corpus();
	return out;
}

typedef void (*tl_corpus_check)(const char *path);

/** Calls `check` with each packed trace in the folder and those below it; returns how many there were. */
static inline int tl_corpus_folder(const char *folder, tl_corpus_check check)
{
	int checked = 0;
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char path[4096];
		int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (n < 0 || (size_t)n >= sizeof path)
			continue;
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
			checked += tl_corpus_folder(path, check);
		} else if (strstr(entry->d_name, ".json.gz")) {
			check(path);
			checked++;
		}
	}
	if (dir)
		closedir(dir);
	return checked;
}

/** All PyTorch and serving traces of the corpus; ends the test where there is none. */
static inline void tl_corpus_traces(tl_corpus_check check)
{
	static const char *const parts[] = {"corpus/pytorch", "corpus/inference"};
	char folder[4096];
	int checked = 0;
	for (size_t i = 0; i < 2; i++)
		if (tl_corpus_path(folder, parts[i]))
			checked += tl_corpus_folder(folder, check);
	if (!checked)
		tl_no_corpus();
}

#endif
