/* SPDX-License-Identifier: MIT */
/**
 * @file align.h
 * Aligning two sequences: which items of one are which of the other, in order.
 *
 * Pairs have equal names. The best alignment is the one whose pairs are worth most (weights in align.c: every pair
 * counts, alike ones more); among equals, the one with the earliest pairs. Time is that of the product of the lengths
 * (what is identical at the ends costs nothing) up to ALIGN_EXACT_CELLS. Longer sequences are first cut at what they
 * have in common (longest common subsequence of Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, linear
 * space): by structure and arguments where most items agree in those, else by structure, else by name. Memory is linear
 * always.
 */
#ifndef TL_COMPARE_ALIGN_H
#define TL_COMPARE_ALIGN_H

#include "util/alloc.h"
#include "util/error.h"

enum { ALIGN_EXACT_CELLS = 16 << 20, ALIGN_SMALL_CELLS = 1 << 18 };

/** What is compared of an item: hashes, which are equal for equal things. */
typedef struct tl_align_item {
	uint64_t name;      /* what it is: only items of one name are paired */
	uint64_t structure; /* and the operations below */
	uint64_t kernels;   /* and all GPU work below, by exact names */
	uint64_t exact;     /* its own exact name and arguments */
} tl_align_item;

typedef struct tl_align_pair {
	uint32_t a, b;
} tl_align_pair;
typedef TL_VEC(tl_align_pair) tl_align_pairs;

/** A piece of both sequences that is still to be aligned: a[a0..a1) with b[b0..b1). */
typedef struct tl_align_piece {
	uint32_t a0, a1, b0, b1;
	uint32_t level; /* which of the keys in align.c cuts it when it is long */
} tl_align_piece;

/** Memory that alignments of one comparison share, and how much exact work they have done. Zero-initialise. */
typedef struct tl_aligner {
	TL_VEC(uint64_t) score;
	TL_VEC(int64_t) furthest;
	TL_VEC(uint32_t) work;
	TL_VEC(tl_align_piece) stack, todo;
	uint64_t cells;
} tl_aligner;
void tl__aligner_free(tl_aligner *aligner);

/**
 * Appends the pairs of the alignment of a[0..n_a) and b[0..n_b) to `out`, ascending. Exchanging a and b exchanges the
 * halves of the pairs. 0 or TL_ENOMEM.
 */
int tl__align(tl_align_pairs *out, tl_aligner *aligner, const tl_align_item *a, size_t n_a, const tl_align_item *b,
	      size_t n_b);

static inline bool tl__align_identical(const tl_align_item *a, const tl_align_item *b)
{
	return a->name == b->name && a->structure == b->structure && a->kernels == b->kernels && a->exact == b->exact;
}

#endif
