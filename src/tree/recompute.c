/* SPDX-License-Identifier: MIT */
#include "tree/recompute.h"

#include <string.h>

/* Names are few and events many, so each distinct name is looked at once. */
enum { NOT_LOOKED_AT, NO_REGION, REGION };

static bool is_region(const tl_store *s, tl_row row, uint8_t *names)
{
	if (s->kind[row] != TL_KIND_PYTHON)
		return false;
	uint8_t *known = &names[s->name[row]];
	if (*known == NOT_LOOKED_AT) {
		const char *name = tl__name(s, row);
		bool both = strstr(name, "torch/utils/checkpoint.py") && strstr(name, "recompute_fn");
		*known = both ? REGION : NO_REGION;
	}
	return *known == REGION;
}

int tl_tree_mark_recompute(tl_tree *t, size_t *regions, size_t *events, tl_error *err)
{
	size_t found = 0, marked = 0;
	uint8_t *names = tl__calloc(tl__strings_count(t->store->strings) + 1, sizeof *names);
	uint64_t *bits = tl__calloc(t->n / 64 + 1, sizeof *bits);
	if (!names || !bits) {
		tl__free(names);
		tl__free(bits);
		return tl__nomem(err);
	}
	tl_pos end = 0; /* of the outermost region so far: a region within one marks nothing new */
	for (tl_pos pos = 0; pos < t->n; pos++) {
		if (is_region(t->store, t->row[pos], names)) {
			found++;
			if (t->end[pos] > end)
				end = t->end[pos];
		}
		if (pos < end) {
			bits[pos / 64] |= UINT64_C(1) << (pos % 64);
			marked++;
		}
	}
	tl__free(names);
	tl__free(t->recompute);
	t->recompute = bits;
	if (regions)
		*regions = found;
	if (events)
		*events = marked;
	return 0;
}
