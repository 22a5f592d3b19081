/* SPDX-License-Identifier: MIT */
/** @file corpus_fixture.h Walks the real traces of the corpus, when it is there; for unit tests only. */
#ifndef TL_TRACE_CORPUS_FIXTURE_H
#define TL_TRACE_CORPUS_FIXTURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/** All PyTorch and serving traces of the corpus; 0 where there is none. */
static inline int tl_corpus_traces(tl_corpus_check check)
{
	static const char *const parts[] = {"pytorch", "inference"};
	const char *shared = getenv("TRACELENS_CORPUS"), *root = getenv("TL_SOURCE_ROOT");
	int checked = 0;
	for (size_t i = 0; i < 2; i++) {
		char folder[4096];
		if (shared)
			snprintf(folder, sizeof folder, "%s/corpus/%s", shared, parts[i]);
		else
			snprintf(folder, sizeof folder, "%s/../shared/corpus/%s", root ? root : ".", parts[i]);
		checked += tl_corpus_folder(folder, check);
	}
	return checked;
}

#endif
