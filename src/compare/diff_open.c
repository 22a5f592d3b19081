/* SPDX-License-Identifier: MIT */
/*
 * Wrappers that one list has around operations of the other list, on one level or many: a compiled region between
 * plain operations, the frames of a model. They are opened before the lists are aligned. Later, what stands
 * beside them would already be paired with what belongs to their inside.
 */
#include "compare/tracediff.h"

/* A node that a look into a wrapper passes. The look ends at the first name of the other list on each way down. */
typedef struct tl_diff_inside {
	tl_pos pos;
	uint32_t above; /* its parent among what is passed */
	uint32_t met;   /* names of the other list at or below it, and lowest nodes without one */
	uint32_t found; /* of those, what the other list has and this one does not have itself */
	uint32_t calls; /* that launch GPU work themselves */
	bool ends;      /* the other list has this name */
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

/*
 * How many nodes a look passes at most, by how many operations it may find: frames stand some hundred deep. Without a
 * limit, chains that differ on both sides would be passed to their end from each of their levels.
 */
static size_t most_passed(const tl_map *spare)
{
	size_t n = 0;
	for (size_t i = 0; spare->keys && i <= spare->mask; i++)
		n += spare->values[i] == TL_MAP_NONE ? 0 : spare->values[i];
	return n ? 512 + 256 * n : 0;
}

/* Passes the wrapper and what is below it down to names of the other list, in pre-order. What is below those is left to
 * the lists there, or a chain of wrappers would be passed again from each of them. */
static int pass(inside_list *out, const tl_diff_nodes *d, tl_pos pos, const tl_map *spare, size_t most)
{
	const tl_tree *t = d->tree;
	uint32_t above = 0;
	out->n = 0;
	TL_TRY(TL_VEC_PUSH(out, ((inside){.pos = pos})));
	for (tl_pos p = pos + 1; p < t->end[pos] && out->n <= most;) {
		while (t->end[out->v[above].pos] <= p)
			above = out->v[above].above;
		if (!tl__tree_gpu_count(t, p) || !tl__diff_is_wrapper(d, p)) {
			out->v[above].calls += tl__tree_gpu_count(t, p) > 0;
			p = t->end[p];
			continue;
		}
		uint32_t left = tl__map_get(spare, tl__diff_name(d, p));
		inside x = {.pos = p, .above = above};
		if (left != TL_MAP_NONE) {
			x.ends = true;
			x.met = 1;
			x.found = left > 0;
		}
		TL_TRY(TL_VEC_PUSH(out, x));
		if (!x.ends)
			above = (uint32_t)out->n - 1;
		p = x.ends ? t->end[p] : p + 1;
	}
	return 0;
}

/* `out` stays empty where that is too much. */
static int look_inside(inside_list *out, const tl_diff_nodes *d, tl_pos pos, const tl_map *spare, size_t most)
{
	TL_TRY(pass(out, d, pos, spare, most));
	if (out->n > most)
		out->n = 0;
	for (size_t i = out->n; i-- > 0;) {
		inside *x = &out->v[i];
		if (!x->ends)
			x->met = x->met ? x->met + x->calls : 1;
		if (i) {
			out->v[x->above].met += x->met;
			out->v[x->above].found += x->found;
		}
	}
	return 0;
}

/* Whether the other list has enough of what was found: of a name that it has once more, one counts. */
static int has_enough(bool *out, const inside_list *in, const tl_diff_nodes *d, const tl_map *spare)
{
	tl_map used = {0};
	uint64_t n = 0;
	int code = 0;
	for (size_t i = 1; i < in->n && code == 0; i++) {
		if (!in->v[i].ends || !in->v[i].found)
			continue;
		uint64_t name = tl__diff_name(d, in->v[i].pos);
		uint32_t had = tl__map_get(&used, name);
		had = had == TL_MAP_NONE ? 0 : had;
		if (had < tl__map_get(spare, name)) {
			n++;
			code = tl__map_set(&used, name, had + 1);
		}
	}
	tl__map_free(&used);
	*out = n && 2 * n >= in->v[0].met;
	return code;
}

static void mark(uint8_t *through, const inside_list *in, const tl_tree *t)
{
	tl_pos closed = 0; /* what is before it lies in something that stays closed */
	for (size_t i = 0; i < in->n; i++) {
		tl_pos pos = in->v[i].pos;
		if (pos < closed)
			continue;
		if (can_open(&in->v[i]))
			through[pos] = 1;
		else
			closed = t->end[pos];
	}
}

/* Marks what is to be opened in a list. */
static int choose(bool *found, tl_diff_lists *l, int side, const tl_map *spare)
{
	const tl_diff_nodes *d = l->nodes[side];
	inside_list in = {0};
	size_t most = most_passed(spare);
	int code = 0;
	for (size_t i = 0; i < l->list[side].n && most && code == 0; i++) {
		const tl_diff_entry *e = &l->list[side].v[i];
		bool enough = false;
		if (!e->gpu || !tl__diff_is_wrapper(d, e->pos) ||
		    tl__map_get(spare, tl__diff_name(d, e->pos)) != TL_MAP_NONE)
			continue;
		code = look_inside(&in, d, e->pos, spare, most);
		if (code == 0 && in.n && can_open(&in.v[0]))
			code = has_enough(&enough, &in, d, spare);
		if (code == 0 && enough) {
			mark(l->through[side], &in, d->tree);
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
