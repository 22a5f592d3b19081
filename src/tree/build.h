/* SPDX-License-Identifier: MIT */
/**
 * @file build.h
 * What the steps of tl_tree_build hand on to each other: parts (which events they look at) ->
 * nest (host events by time) -> launches (GPU events to launches) -> number (pre-order) -> checks.
 * Overruns, autograd and the check of Python frames need the parts only and run beside these.
 */
#ifndef TL_TREE_BUILD_H
#define TL_TREE_BUILD_H

#include <string.h>

#include "tree/tree.h"

/** A Python frame that leaves its parent by this much has lost its end. */
#define TL_OVERLONG (1000 * TL_PS_PER_US)

/** No host position: a root's parent, an event outside the tree. */
#define TL_LOCAL_NONE UINT32_MAX

/**
 * Rows of the events that make the tree, ascending. Most events of a trace are none of these, and going through all of
 * them takes longer than many a step.
 */
typedef struct tl_parts {
	tl_row *host;   /* nodes of the host; Python frames where the tree has them */
	tl_row *gpu;    /* GPU events */
	tl_row *arrows; /* halves of flows, forward-backward ones, too; part of the same memory */
	size_t n_host, n_gpu, n_arrows;
} tl_parts;

/**
 * Host events are numbered per track: a local position counts them track by track, pre-order
 * within each. Until `number` runs, tree->pos_of_row holds local positions: of a host event its
 * own, of a linked GPU event that of its launch.
 */
typedef struct tl_build {
	tl_tree *tree;
	const tl_store *store;
	tl_parts parts;

	size_t n_host;
	tl_row *order;    /* row of each local position */
	uint32_t *parent; /* local position of the parent, TL_LOCAL_NONE for roots */
	uint32_t *end;    /* one past the last host descendant */
	size_t n_tracks;  /* tracks of the store and one more for events without track */
	size_t *first;    /* n_tracks + 1: range of each track in `order` */
} tl_build;

/** End of an event; an event without usable duration is an instant. Never overflows. */
static inline tl_time tl__span_end(const tl_store *s, tl_row row)
{
	tl_time end;
	return __builtin_add_overflow(s->start[row], tl__known_dur(s, row), &end) ? INT64_MAX : end;
}

/** Start as a sort key: events without a usable one come last. */
static inline tl_time tl__start_key(const tl_store *s, tl_row row)
{
	return s->start[row] == TL_TIME_NONE ? INT64_MAX : s->start[row];
}

static inline bool tl__starts_before(const tl_store *s, tl_row a, tl_row b)
{
	tl_time sa = tl__start_key(s, a), sb = tl__start_key(s, b);
	return sa != sb ? sa < sb : a < b;
}

static inline uint32_t tl__process_of(const tl_store *s, tl_row row)
{
	return s->track[row] == UINT32_MAX ? UINT32_MAX : s->tracks.v[s->track[row]].process;
}

static inline bool tl__is_builtin(const tl_store *s, tl_row row)
{
	return strncmp(tl__name(s, row), "<built-in", 9) == 0;
}

/** What is known of names of launches, by id; zero-initialise. There are few, and every launch is asked about. */
typedef struct tl_graph_names {
	struct {
		tl_str name;
		bool is;
	} known[16];
} tl_graph_names;

/** Whether a launch is one of a graph. */
static inline bool tl__is_graph_launch(tl_graph_names *names, const tl_store *s, tl_row launch)
{
	tl_str name = s->name[launch];
	size_t at = name % (sizeof names->known / sizeof *names->known);
	if (names->known[at].name != name) {
		names->known[at].name = name;
		names->known[at].is = strstr(tl__str(s->strings, name), "GraphLaunch") != NULL;
	}
	return names->known[at].is;
}

/* Every step returns 0 or TL_ENOMEM. */
/** First of all. */
int tl__build_parts(tl_build *b);
/** Notes streams that overrun; with `clip` gives the tree events of its own, without the overruns, before the rest. */
int tl__build_overruns(tl_build *b, bool clip);
int tl__build_nest(tl_build *b);
/** Frees what the steps handed on. */
void tl__build_free(tl_build *b);
/** Fills tree->gpu (in order of local launch, start, row) and tree->unlinked. */
int tl__build_launches(tl_build *b);
/** Turns local positions into the final arrays of the tree. */
int tl__build_number(tl_build *b);
/** Needs the parts only. */
int tl__build_autograd(const tl_build *b);
/** Sorts tree->links and makes links_by_backward anew. */
int tl__build_index_links(tl_tree *tree);
/** Notes about launches that change nothing: graphs with too few kernels. */
int tl__build_checks(tl_tree *tree);
/** Notes about Python frames with doubtful ends, in a tree that leaves the frames out. */
int tl__build_check_python(tl_tree *tree);

#endif
