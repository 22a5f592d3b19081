/* SPDX-License-Identifier: MIT */
/*
 * Levels that one trace has and the other has not: what stands alone in a gap between matched siblings is replaced by
 * what is below it, when that is what the other side has there.
 */
#include "compare/tracediff.h"

bool tl__diff_is_wrapper(const tl_diff_nodes *d, tl_pos pos)
{
	uint8_t kind = d->tree->store->kind[d->tree->row[pos]];
	return kind == TL_KIND_CPU_OP || kind == TL_KIND_PYTHON;
}

static bool is_free(const tl_diff_entry *e)
{
	return e->gpu && e->mate == TL_POS_NONE;
}

/* Names of nodes, as a set. */
static int add_name(tl_map *set, uint64_t name)
{
	return tl__map_get_or_set(set, name, 1) == TL_MAP_NONE ? TL_ENOMEM : 0;
}

/* Number of children with GPU work that are wrappers, those with a name in the set, and the last of them. */
static size_t count_children(const tl_diff_nodes *d, tl_pos pos, const tl_map *names, size_t *hits, tl_pos *last,
			     size_t *others)
{
	size_t n = 0;
	*hits = *others = 0;
	for (tl_pos c = tl__tree_first_child(d->tree, pos); c != TL_POS_NONE; c = tl__tree_next_sibling(d->tree, c)) {
		if (!tl__tree_gpu_count(d->tree, c))
			continue;
		if (!tl__diff_is_wrapper(d, c)) {
			++*others;
			continue;
		}
		n++;
		*last = c;
		*hits += names && tl__map_get(names, tl__diff_name(d, c)) != TL_MAP_NONE;
	}
	return n;
}

/* Only children that a look goes down at most: frames stand some hundred deep. Where both sides are chains of other
 * names, each of their levels would look down to the end. */
enum { MOST_LEVELS = 512 };

/*
 * The node at or below `pos`, reached by only children, at least half of whose children have a name in the set; or
 * TL_POS_NONE.
 */
static tl_pos find_level(const tl_diff_nodes *d, tl_pos pos, const tl_map *names)
{
	for (int level = 0; level < MOST_LEVELS; level++) {
		size_t hits, others;
		tl_pos last;
		size_t n = count_children(d, pos, names, &hits, &last, &others);
		if (hits && 2 * hits >= n)
			return pos;
		if (n != 1 || others)
			break;
		pos = last;
	}
	return TL_POS_NONE;
}

/* ---- one side only ---- */

/* levels[i]: whose children replace entry i of a list, or TL_POS_NONE. */
typedef TL_VEC(tl_pos) level_list;

static int names_of(const tl_diff_lists *l, const tl_diff_gap *gap, int side, tl_map *out, size_t *n, uint64_t *sum)
{
	*n = 0;
	*sum = 0;
	for (size_t i = gap->from[side]; i < gap->to[side]; i++) {
		const tl_diff_entry *e = &l->list[side].v[i];
		if (!is_free(e) || !tl__diff_is_wrapper(l->nodes[side], e->pos))
			continue;
		uint64_t name = tl__diff_name(l->nodes[side], e->pos);
		*sum += name;
		++*n;
		TL_TRY(add_name(out, name));
	}
	return 0;
}

static bool find_one_sided(const tl_diff_lists *l, const tl_diff_gap *gap, int side, const tl_map *other,
			   tl_pos *levels)
{
	bool found = false;
	for (size_t i = gap->from[side]; i < gap->to[side]; i++) {
		const tl_diff_entry *e = &l->list[side].v[i];
		if (!is_free(e) || !tl__diff_is_wrapper(l->nodes[side], e->pos))
			continue;
		levels[i] = find_level(l->nodes[side], e->pos, other);
		found |= levels[i] != TL_POS_NONE;
	}
	return found;
}

/* ---- both sides ---- */

static tl_pos only_free(const tl_diff_lists *l, const tl_diff_gap *gap, int side, size_t *index)
{
	for (size_t i = gap->from[side]; i < gap->to[side]; i++)
		if (is_free(&l->list[side].v[i]) && tl__diff_is_wrapper(l->nodes[side], l->list[side].v[i].pos)) {
			*index = i;
			return l->list[side].v[i].pos;
		}
	return TL_POS_NONE;
}

/* The only child with GPU work when it is a wrapper, else TL_POS_NONE. */
static tl_pos only_child(const tl_diff_nodes *d, tl_pos pos)
{
	size_t hits, others;
	tl_pos last;
	return count_children(d, pos, NULL, &hits, &last, &others) == 1 && !others ? last : TL_POS_NONE;
}

/* Whether at least half of the children of both are the same by name. */
static int forks_alike(const tl_diff_lists *l, const tl_pos fork[2], bool *out)
{
	*out = true;
	for (int s = 0; s < 2; s++) {
		const tl_diff_nodes *d = l->nodes[!s];
		tl_map names = {0};
		size_t hits, others, n = 0;
		tl_pos last;
		int code = 0;
		for (tl_pos c = tl__tree_first_child(d->tree, fork[!s]); c != TL_POS_NONE && code == 0;
		     c = tl__tree_next_sibling(d->tree, c))
			if (tl__tree_gpu_count(d->tree, c) && tl__diff_is_wrapper(d, c))
				code = add_name(&names, tl__diff_name(d, c));
		n = count_children(l->nodes[s], fork[s], &names, &hits, &last, &others);
		*out &= hits && 2 * hits >= n;
		tl__map_free(&names);
		TL_TRY(code);
	}
	return 0;
}

/* What stands alone on each side and the only children below, as far down as they were looked at. */
typedef struct chains {
	tl_map depth_of[2]; /* the first depth of each name */
	TL_VEC(tl_pos) at_depth[2];
	tl_pos last[2];
	bool ended[2]; /* `last` has no only child */
} chains;

/* Takes the last node of each chain that goes on as that of `depth`. */
static int note_last(const tl_diff_lists *l, chains *c, uint32_t depth)
{
	for (int s = 0; s < 2; s++) {
		if (c->ended[s])
			continue;
		TL_TRY(TL_VEC_PUSH(&c->at_depth[s], c->last[s]));
		if (tl__map_get_or_set(&c->depth_of[s], tl__diff_name(l->nodes[s], c->last[s]), depth) == TL_MAP_NONE)
			return TL_ENOMEM;
	}
	return 0;
}

/*
 * Whether a node of `depth` has a name that the other chain has, too: the depth on each side. Of two such names the one
 * that stands higher on its other side, then the smaller, so that it does not matter which side is which.
 */
static bool find_common(const tl_diff_lists *l, const chains *c, uint32_t depth, uint32_t found[2])
{
	uint32_t best = UINT32_MAX;
	uint64_t best_name = 0;
	for (int s = 0; s < 2; s++) {
		if (c->ended[s])
			continue;
		uint64_t name = tl__diff_name(l->nodes[s], c->last[s]);
		uint32_t other = tl__map_get(&c->depth_of[!s], name);
		if (other == TL_MAP_NONE || other > best || (other == best && name >= best_name))
			continue;
		best = other;
		best_name = name;
		found[s] = depth;
		found[!s] = other;
	}
	return best != UINT32_MAX;
}

static void descend(const tl_diff_lists *l, chains *c)
{
	for (int s = 0; s < 2; s++) {
		tl_pos next = c->ended[s] ? TL_POS_NONE : only_child(l->nodes[s], c->last[s]);
		if (next == TL_POS_NONE)
			c->ended[s] = true;
		else
			c->last[s] = next;
	}
}

static int search_chains(const tl_diff_lists *l, chains *c, tl_pos level[2])
{
	bool alike;
	for (uint32_t depth = 0; !(c->ended[0] && c->ended[1]); depth++) {
		uint32_t found[2];
		TL_TRY(note_last(l, c, depth));
		if (find_common(l, c, depth, found)) {
			for (int s = 0; s < 2; s++)
				level[s] = found[s] ? c->at_depth[s].v[found[s] - 1] : TL_POS_NONE;
			return 0;
		}
		descend(l, c);
	}
	TL_TRY(forks_alike(l, c->last, &alike));
	for (int s = 0; s < 2 && alike; s++)
		level[s] = c->last[s];
	return 0;
}

/*
 * Both stand alone and hold chains of only children: looks for the first name that both chains have, level by level, so
 * that the search is as long as what it skips. Where both chains end in forks with like children, those.
 */
static int find_two_sided(const tl_diff_lists *l, const tl_pos top[2], tl_pos level[2])
{
	chains c = {.last = {top[0], top[1]}};
	level[0] = level[1] = TL_POS_NONE;
	int code = search_chains(l, &c, level);
	for (int s = 0; s < 2; s++) {
		tl__map_free(&c.depth_of[s]);
		TL_VEC_FREE(&c.at_depth[s]);
	}
	return code;
}

/* ---- replacing ---- */

/* The chain from an entry down to the level was looked through. */
static void mark_through(tl_diff_lists *l, int side, tl_pos entry, tl_pos level)
{
	const tl_tree *t = l->nodes[side]->tree;
	for (tl_pos p = level;; p = t->parent[p]) {
		l->through[side][p] = 1;
		if (p == entry)
			break;
	}
}

static int replace(tl_diff_lists *l, int side, const tl_pos *levels)
{
	const tl_tree *t = l->nodes[side]->tree;
	tl_diff_list *list = &l->list[side], old = *list;
	l->rebuilt.n = 0;
	for (size_t i = 0; i < list->n; i++) {
		if (levels[i] == TL_POS_NONE) {
			TL_TRY(TL_VEC_PUSH(&l->rebuilt, list->v[i]));
			continue;
		}
		mark_through(l, side, list->v[i].pos, levels[i]);
		for (tl_pos c = tl__tree_first_child(t, levels[i]); c != TL_POS_NONE; c = tl__tree_next_sibling(t, c))
			TL_TRY(tl__diff_push(l, side, &l->rebuilt, c));
	}
	*list = l->rebuilt;
	l->rebuilt = old;
	return 0;
}

/* Looks at one gap. `found[s]`: entries of side s are to be replaced. */
static int look_at_gap(const tl_diff_lists *l, const tl_diff_gap *gap, tl_pos *levels[2], bool found[2])
{
	tl_map names[2] = {{0}, {0}};
	size_t n[2], index[2];
	uint64_t sum[2];
	int code = names_of(l, gap, 0, &names[0], &n[0], &sum[0]);
	if (code == 0)
		code = names_of(l, gap, 1, &names[1], &n[1], &sum[1]);
	if (code == 0 && n[0] && n[1]) {
		/* One side at a time, or both would give up what the other looks for; which one goes first must not
		 * depend on which trace is the baseline. */
		int first = sum[0] <= sum[1] ? 0 : 1, second = !first;
		if (find_one_sided(l, gap, first, &names[second], levels[first])) {
			found[first] = true;
		} else if (find_one_sided(l, gap, second, &names[first], levels[second])) {
			found[second] = true;
		} else if (n[0] == 1 && n[1] == 1) {
			tl_pos level[2], top[2] = {only_free(l, gap, 0, &index[0]), only_free(l, gap, 1, &index[1])};
			code = find_two_sided(l, top, level);
			for (int s = 0; s < 2 && code == 0; s++) {
				levels[s][index[s]] = level[s];
				found[s] |= level[s] != TL_POS_NONE;
			}
		}
	}
	tl__map_free(&names[0]);
	tl__map_free(&names[1]);
	return code;
}

static bool worth_looking(const tl_diff_lists *l, const tl_diff_gap *gap)
{
	for (int s = 0; s < 2; s++) {
		bool any = false;
		for (size_t i = gap->from[s]; i < gap->to[s] && !any; i++)
			any = is_free(&l->list[s].v[i]);
		if (!any)
			return false;
	}
	return true;
}

static bool any_worth_looking(const tl_diff_lists *l)
{
	tl_diff_gap gap;
	for (bool more = tl__diff_next_gap(l, &gap, true); more; more = tl__diff_next_gap(l, &gap, false))
		if (worth_looking(l, &gap))
			return true;
	return false;
}

int tl__diff_look_through(tl_diff_lists *l, bool *found)
{
	*found = false;
	if (!any_worth_looking(l))
		return 0;
	level_list levels[2] = {{0}, {0}};
	bool replaced[2] = {false, false};
	tl_diff_gap gap;
	int code = 0;
	for (int s = 0; s < 2 && code == 0; s++) {
		code = TL_VEC_RESERVE(&levels[s], l->list[s].n + 1);
		for (size_t i = 0; i < l->list[s].n && code == 0; i++)
			levels[s].v[levels[s].n++] = TL_POS_NONE;
	}
	for (bool more = tl__diff_next_gap(l, &gap, true); more && code == 0; more = tl__diff_next_gap(l, &gap, false))
		if (worth_looking(l, &gap))
			code = look_at_gap(l, &gap, (tl_pos *[2]){levels[0].v, levels[1].v}, replaced);
	for (int s = 0; s < 2 && code == 0; s++)
		if (replaced[s])
			code = replace(l, s, levels[s].v);
	*found = replaced[0] || replaced[1];
	TL_VEC_FREE(&levels[0]);
	TL_VEC_FREE(&levels[1]);
	return code;
}
