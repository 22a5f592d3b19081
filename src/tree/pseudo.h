/* SPDX-License-Identifier: MIT */
/**
 * @file pseudo.h
 * Pseudo-operations (spec 07 section 11): operations that serving frameworks do not record, made around the kernels
 * they consist of. pseudo.c knows what the names in a trace mean and drives the rest; pseudo_moe.c and
 * pseudo_attention.c make the operations, pseudo_cache.c spreads the element type of KV caches.
 *
 * All is looked up in the sealed tree, whose GPU events and subtrees are ranges; the edit only takes the changes.
 */
#ifndef TL_TREE_PSEUDO_H
#define TL_TREE_PSEUDO_H

#include "tree/edit.h"

/** What a name in a trace means here. */
enum tl_pseudo_names {
	TL_PN_RENAMED = 1 << 0, /* sglang_profiler::..._7 */
	/* operations */
	TL_PN_MOE_FORWARD = 1 << 1,
	TL_PN_AITER_FUSED_MOE = 1 << 2,
	TL_PN_FUSED_EXPERTS = 1 << 3,
	TL_PN_AITER_MOE = 1 << 4,
	TL_PN_MLA_DECODE_DONOR = 1 << 5,
	TL_PN_MLA_PREFILL_DONOR = 1 << 6,
	TL_PN_V4_ATTENTION = 1 << 7,
	TL_PN_ROCM_PAGED = 1 << 8,
	TL_PN_AITER_PAGED = 1 << 9,
	TL_PN_TOPK = 1 << 10,
	/* Python frames */
	TL_PN_FLYDSL_STAGE1 = 1 << 11,
	TL_PN_FLYDSL_STAGE2 = 1 << 12,
	TL_PN_MLA_DECODE = 1 << 13,
	TL_PN_MLA_PREFILL = 1 << 14,
	TL_PN_V4_DECODE = 1 << 15,
	/* GPU work */
	TL_PN_AITER_KERNEL = 1 << 16,
	TL_PN_MATMUL_OGS = 1 << 17,
	TL_PN_MATMUL_SCATTER = 1 << 18,
	TL_PN_GLU = 1 << 19,
	TL_PN_GPTQ_AWQ = 1 << 20,
	TL_PN_HCA = 1 << 21,
	TL_PN_CSA = 1 << 22,
	TL_PN_HEAD_SHAPE = 1 << 23
};

typedef TL_VEC(uint32_t) tl_numbers;

typedef struct tl_pseudo {
	tl_tree *tree;
	const tl_store *store; /* of the sealed tree */
	const tl_pseudo_options *options;
	tl_edit *edit;
	uint32_t *names;  /* tl_pseudo_names by name id */
	uint32_t present; /* those of any host event or kernel */
	size_t made;      /* operations made */
	tl_health health; /* what could not be made; becomes the tree's when all is done */
} tl_pseudo;

static inline bool tl__pseudo_is(const tl_pseudo *p, tl_row row, uint32_t names)
{
	return (p->names[p->store->name[row]] & names) != 0;
}

/** Positions of events of a kind whose name means one of `names`, in pre-order. 0, TL_ENOMEM. */
int tl__pseudo_find(tl_numbers *out, const tl_pseudo *p, tl_kind kind, uint32_t names);
/** The same without those below another one: a framework may record an operation twice, one in the other. */
int tl__pseudo_find_outermost(tl_numbers *out, const tl_pseudo *p, tl_kind kind, uint32_t names);
/** Indexes into tree->gpu of events whose name means one of `names`; with `kernels` of kernels only. 0, TL_ENOMEM. */
int tl__pseudo_find_gpu(tl_numbers *out, const tl_pseudo *p, bool kernels, uint32_t names);
/** First index in `sorted` whose number is not below `least`. */
size_t tl__pseudo_from(const tl_numbers *sorted, uint32_t least);
/** Nearest event above each position whose name means one of `names`; freed by the caller. NULL: out of memory. */
tl_pos *tl__pseudo_nearest_above(const tl_pseudo *p, uint32_t names);

/** Counts an operation that was left as it is, with the reason. */
void tl__pseudo_skip(tl_pseudo *p, tl_pos pos, const char *format, ...) __attribute__((format(printf, 3, 4)));
/**
 * What becomes of an edit: 0 when it was made (and is counted) or refused (and is noted), TL_ENOMEM. `made` tells
 * which.
 */
int tl__pseudo_done(tl_pseudo *p, tl_pos pos, int code, const tl_error *err, bool *made);
/** Gives a new operation the arguments of `donor`, whose UID is its sequence number when it has none of its own. */
int tl__pseudo_dress(tl_pseudo *p, tl_row made, tl_row donor, tl_row sequence);
/** An integer among the arguments of a new operation. 0, TL_ENOMEM. */
int tl__pseudo_set_number(tl_pseudo *p, tl_row made, const char *key, int64_t value);

/* Each changes p->edit; 0 or TL_ENOMEM. */
int tl__pseudo_moe_aiter(tl_pseudo *p);
int tl__pseudo_moe_triton(tl_pseudo *p);
int tl__pseudo_moe_gptq(tl_pseudo *p);
int tl__pseudo_moe_flydsl(tl_pseudo *p);
int tl__pseudo_mla_decode(tl_pseudo *p);
int tl__pseudo_mla_prefill(tl_pseudo *p);
int tl__pseudo_v4_decode(tl_pseudo *p);
int tl__pseudo_cache_types(tl_pseudo *p);

#endif
