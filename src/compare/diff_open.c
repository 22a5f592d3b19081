/* SPDX-License-Identifier: MIT */
/*
 * Wrappers that one list has around operations of the other list, on one level or many: a compiled region between
 * plain operations, the frames of a model. They are opened before the lists are aligned. Later, what stands
 * beside them would already be paired with what belongs to their inside.
 */
#include <string.h>

#include "compare/tracediff.h"

/* What a look into a wrapper meets: on each way down the first name that the other list has, else the lowest. */
typedef struct tl_diff_inside {
	uint32_t met;
	uint32_t found; /* of those, what the other list has and this one does not have itself */
	uint32_t calls; /* that launch GPU work themselves */
	bool ends;      /* the other list has this name: the look goes no further */
} inside;
typedef TL_VEC(inside) inside_list;

static bool can_open(const inside *x)
{
	return !x->ends && x->found && 2 * (uint64_t)x->found >= x->met;
}

static bool same_names(const tl_diff_lists *l)
{
	const tl_diff_list *a = &l->list[0], *b = &l->list[1];
	bool same = a->n == b->n;
	for (size_t i = 0; i < a->n && same; i++)
		same = tl__diff_name(l->nodes[0], a->v[i].pos) == tl__diff_name(l->nodes[1], b->v[i].pos);
	return same;
}

/* For each name of the other list: how many of it are left when each of this list has taken one. */
static int count_spare(tl_map *out, const tl_diff_lists *l, int side)
{
	for (int own = 0; own < 2; own++) {
		int s = own ? side : !side;
		for (size_t i = 0; i < l->list[s].n; i++) {
			const tl_diff_entry *e = &l->list[s].v[i];
			if (!e->gpu || !tl__diff_is_wrapper(l->nodes[s], e->pos))
				continue;
			uint64_t name = tl__diff_name(l->nodes[s], e->pos);
			uint32_t had = tl__map_get(out, name);
			if (own && (had == TL_MAP_NONE || !had))
				continue;
			had = had == TL_MAP_NONE ? 0 : had;
			TL_TRY(tl__map_set(out, name, own ? had - 1 : had + 1));
		}
	}
	return 0;
}

/* Looks into a wrapper: out->v[i] is of the node `pos + i`. Backwards, so that what is below comes first. */
static int look_inside(inside_list *out, const tl_diff_nodes *d, tl_pos pos, const tl_map *spare)
{
	const tl_tree *t = d->tree;
	out->n = 0;
	TL_TRY(TL_VEC_RESERVE(out, t->end[pos] - pos));
	out->n = t->end[pos] - pos;
	memset(out->v, 0, out->n * sizeof *out->v);
	for (size_t i = out->n; i-- > 0;) {
		tl_pos p = pos + (tl_pos)i;
		inside *x = &out->v[i], *above = i ? &out->v[t->parent[p] - pos] : NULL;
		if (!tl__tree_gpu_count(t, p))
			continue;
		if (!tl__diff_is_wrapper(d, p)) {
			if (above)
				above->calls++;
			continue;
		}
		uint32_t left = i ? tl__map_get(spare, tl__diff_name(d, p)) : TL_MAP_NONE;
		if (left != TL_MAP_NONE)
			*x = (inside){.met = 1, .found = left > 0, .ends = true};
		else
			x->met = x->met ? x->met + x->calls : 1;
		if (above) {
			above->met += x->met;
			above->found += x->found;
		}
	}
	return 0;
}

/* Whether the other list has enough of what was found: of a name that it has once more, one counts. */
static int has_enough(bool *out, const inside_list *in, const tl_diff_nodes *d, tl_pos pos, const tl_map *spare)
{
	tl_map used = {0};
	uint64_t n = 0;
	int code = 0;
	for (size_t i = 1; i < in->n && code == 0; i++) {
		if (!in->v[i].ends || !in->v[i].found)
			continue;
		uint64_t name = tl__diff_name(d, pos + (tl_pos)i);
		uint32_t had = tl__map_get(&used, name);
		had = had == TL_MAP_NONE ? 0 : had;
		if (had < tl__map_get(spare, name)) {
			n++;
			code = tl__map_set(&used, name, had + 1);
		}
		i = d->tree->end[pos + i] - pos - 1;
	}
	tl__map_free(&used);
	*out = n && 2 * n >= in->v[0].met;
	return code;
}

static void mark(uint8_t *through, const inside_list *in, const tl_tree *t, tl_pos pos)
{
	through[pos] = 1;
	for (size_t i = 1; i < in->n;) {
		bool open = can_open(&in->v[i]);
		if (open)
			through[pos + i] = 1;
		i = open ? i + 1 : t->end[pos + i] - pos;
	}
}

/* Marks what is to be opened in a list. */
static int choose(bool *found, tl_diff_lists *l, int side, const tl_map *spare)
{
	const tl_diff_nodes *d = l->nodes[side];
	inside_list in = {0};
	int code = 0;
	for (size_t i = 0; i < l->list[side].n && code == 0; i++) {
		const tl_diff_entry *e = &l->list[side].v[i];
		bool enough = false;
		if (!e->gpu || !tl__diff_is_wrapper(d, e->pos) ||
		    tl__map_get(spare, tl__diff_name(d, e->pos)) != TL_MAP_NONE)
			continue;
		code = look_inside(&in, d, e->pos, spare);
		if (code == 0 && can_open(&in.v[0]))
			code = has_enough(&enough, &in, d, e->pos, spare);
		if (code == 0 && enough) {
			mark(l->through[side], &in, d->tree, e->pos);
			*found = true;
		}
	}
	TL_VEC_FREE(&in);
	return code;
}

/* Puts what is below marked entries in their place. */
static int rebuild(tl_diff_lists *l, int side)
{
	const tl_tree *t = l->nodes[side]->tree;
	tl_diff_list *list = &l->list[side], old = *list;
	l->rebuilt.n = 0;
	for (size_t i = 0; i < list->n; i++) {
		tl_pos pos = list->v[i].pos, end = t->end[pos];
		if (!l->through[side][pos]) {
			TL_TRY(TL_VEC_PUSH(&l->rebuilt, list->v[i]));
			continue;
		}
		for (tl_pos p = pos + 1; p < end;) {
			bool open = l->through[side][p];
			if (!open)
				TL_TRY(tl__diff_push(l, side, &l->rebuilt, p));
			p = open ? p + 1 : t->end[p];
		}
	}
	*list = l->rebuilt;
	l->rebuilt = old;
	return 0;
}

int tl__diff_open_wrappers(tl_diff_lists *l)
{
	if (same_names(l))
		return 0;
	tl_map spare[2] = {{0}, {0}};
	bool found[2] = {false, false};
	int code = 0;
	for (int s = 0; s < 2 && code == 0; s++)
		code = count_spare(&spare[s], l, s);
	for (int s = 0; s < 2 && code == 0; s++) /* both by the lists as they are, whichever is the baseline */
		code = choose(&found[s], l, s, &spare[s]);
	for (int s = 0; s < 2 && code == 0; s++)
		if (found[s])
			code = rebuild(l, s);
	for (int s = 0; s < 2; s++)
		tl__map_free(&spare[s]);
	return code;
}
