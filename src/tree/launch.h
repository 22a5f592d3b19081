/* SPDX-License-Identifier: MIT */
/**
 * @file launch.h
 * Finding the launch of a GPU event among events that carry the same id. Shared by the two ways
 * of linking: by correlation (launch.c) and without it (launch_fallback.c).
 */
#ifndef TL_TREE_LAUNCH_H
#define TL_TREE_LAUNCH_H

#include "tree/build.h"

/** What became of a GPU event; also counts. */
typedef enum { TL_LINK_DONE, TL_LINK_NONE, TL_LINK_AMBIGUOUS } tl_link_result;

typedef struct tl_linker {
	tl_build *b;
	/*
	 * Merged rank files write the rank into the pid: "[TP00-DP01] 83". One number per
	 * process: equal for processes of one rank, so that ids of different ranks never meet.
	 */
	uint32_t *rank;   /* per process; without any tag in the file NULL: every process is a rank */
	tl_strings *tags; /* for rank */
	size_t n_processes;

	tl_row *flows; /* flow halves by (source, id, row) */
	size_t n_flows;
	size_t next_flow; /* that of the launch that was asked for last */
	tl_graph_names graph_names;
	TL_VEC(tl_row) unmatched; /* GPU events that no correlation links */
	TL_VEC(tl_row) ambiguous;
} tl_linker;

/** Set in a rank number that comes from a tag; without it the number is a process. */
#define TL_RANK_TAGGED UINT32_C(0x80000000)
uint32_t tl__rank_of(const tl_linker *l, tl_row row);

/**
 * Picks the launch of a GPU event from candidates v[0, n) that carry its id, sorted by
 * (rank, start, row): of its own rank the latest that starts at or before it, else the nearest.
 * Sets *out on TL_LINK_DONE.
 */
tl_link_result tl__pick_launch(const tl_linker *l, const tl_row *v, size_t n, tl_row gpu, tl_row *out);

/** Makes a GPU event the child of a host event. */
void tl__link(tl_linker *l, tl_row gpu, tl_row launch);

/** Tries flow arrows, then External ids, for the unmatched GPU events. 0 or TL_ENOMEM. */
int tl__link_without_correlation(tl_linker *l);

#endif
