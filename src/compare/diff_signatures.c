/* SPDX-License-Identifier: MIT */
/*
 * What nodes and their subtrees are, as numbers, bottom-up in one pass over the pre-order:
 *   structure  the operations with GPU work below, by common names: alike on all backends
 *   operations all operations below, by common names (32 bits)
 *   kernels    calls and GPU events too, by exact names
 *   whole      everything, arguments included: equal subtrees are equal node by node (32 bits: tracediff.c makes sure)
 */
#include "compare/tracediff.h"

enum { GROUP_OPERATION = 1, GROUP_CALL, GROUP_PYTHON, GROUP_GPU };

static uint64_t group_of(uint8_t kind)
{
	return kind == TL_KIND_CPU_OP    ? GROUP_OPERATION
	       : kind == TL_KIND_RUNTIME ? GROUP_CALL
	       : tl__kind_is_gpu(kind)   ? GROUP_GPU
					 : GROUP_PYTHON;
}

uint64_t tl__diff_name(const tl_diff_nodes *d, tl_pos pos)
{
	tl_row row = d->tree->row[pos];
	return tl__mix(d->hashes.common[d->tree->store->name[row]], group_of(d->tree->store->kind[row]));
}

uint64_t tl__diff_plain_name(const tl_diff_nodes *d, tl_pos pos)
{
	tl_row row = d->tree->row[pos];
	return tl__mix(d->hashes.plain[d->tree->store->name[row]], group_of(d->tree->store->kind[row]));
}

static uint64_t exact(tl_diff_nodes *d, tl_pos pos)
{
	const tl_op_args *args = tl__op_args(d->tree->store, d->tree->row[pos]);
	uint64_t h = tl__diff_plain_name(d, pos);
	if (!args)
		return h;
	h = tl__mix(h, tl__hash_of_text(&d->hashes, args->dims));
	return tl__mix(h, tl__hash_of_text(&d->hashes, args->types));
}

static void sign(tl_diff_nodes *d, tl_pos pos)
{
	const tl_tree *t = d->tree;
	uint64_t structure = tl__diff_name(d, pos), kernels = tl__diff_plain_name(d, pos),
		 whole = d->exact[pos] = exact(d, pos), operations = structure;
	for (tl_pos c = tl__tree_first_child(t, pos); c != TL_POS_NONE; c = tl__tree_next_sibling(t, c)) {
		uint8_t kind = t->store->kind[t->row[c]];
		whole = tl__mix(whole, d->whole[c]);
		if (kind != TL_KIND_RUNTIME && !tl__kind_is_gpu(kind))
			operations = tl__mix(operations, d->operations[c]);
		if (!tl__tree_gpu_count(t, c))
			continue;
		kernels = tl__mix(kernels, d->kernels[c]);
		if (kind != TL_KIND_RUNTIME && !tl__kind_is_gpu(kind))
			structure = tl__mix(structure, d->structure[c]);
	}
	d->structure[pos] = structure;
	d->kernels[pos] = kernels;
	d->operations[pos] = (uint32_t)(operations >> 32);
	d->whole[pos] = (uint32_t)(tl__mix(whole, t->end[pos] - pos) >> 32);
}

int tl__diff_nodes_new(tl_diff_nodes *out, const tl_tree *tree, const tl_twins *twins)
{
	uint64_t plain, common;
	*out = (tl_diff_nodes){.tree = tree};
	TL_TRY(tl__name_hashes_new(&out->hashes, tree->store->strings, twins));
	out->exact = tl__malloc((tree->n + 1) * sizeof *out->exact);
	out->structure = tl__malloc((tree->n + 1) * sizeof *out->structure);
	out->kernels = tl__malloc((tree->n + 1) * sizeof *out->kernels);
	out->operations = tl__malloc((tree->n + 1) * sizeof *out->operations);
	out->whole = tl__malloc((tree->n + 1) * sizeof *out->whole);
	if (!out->exact || !out->structure || !out->kernels || !out->operations || !out->whole)
		return TL_ENOMEM;
	for (tl_pos pos = 0; pos < tree->n; pos++)
		TL_TRY(tl__hash_name(&out->hashes, tree->store->name[tree->row[pos]], &plain, &common));
	for (size_t i = 0; i < tree->n_unlinked; i++)
		TL_TRY(tl__hash_name(&out->hashes, tree->store->name[tree->unlinked[i]], &plain, &common));
	for (tl_pos pos = (tl_pos)tree->n; pos-- > 0;)
		sign(out, pos);
	return 0;
}

void tl__diff_signatures_free(tl_diff_nodes *d)
{
	tl__free(d->exact);
	tl__free(d->structure);
	tl__free(d->kernels);
	tl__free(d->operations);
	tl__free(d->whole);
	d->exact = d->structure = d->kernels = NULL;
	d->operations = d->whole = NULL;
}

void tl__diff_nodes_free(tl_diff_nodes *d)
{
	tl__diff_signatures_free(d);
	tl__name_hashes_free(&d->hashes);
}

tl_align_item tl__diff_item(const tl_diff_nodes *d, tl_pos pos)
{
	return (tl_align_item){tl__diff_name(d, pos), d->structure[pos], d->kernels[pos], d->exact[pos]};
}
