/* SPDX-License-Identifier: MIT */
/* Beginning and dropping an edit, and the changes of places. */
#include "tree/edit.h"

#include <string.h>

#include "tree/build.h"

/* Place of the forest, and of an event; 0 is "none" for all fields but `parent`. */
enum { FOREST };

static uint32_t place_of(tl_row row)
{
	return row == TL_ROW_NONE ? FOREST : row + 1;
}

static tl_row row_of(uint32_t place)
{
	return place == FOREST ? TL_ROW_NONE : place - 1;
}

static bool is_gpu(const tl_edit *e, tl_row row)
{
	return tl__kind_is_gpu(e->store->kind[row]);
}

/* ---- beginning and end ---- */

/* Children come before their parent's next sibling in pre-order, so appending each node keeps all orders. */
static int take_tree(tl_edit *e)
{
	const tl_tree *t = e->tree;
	size_t n = e->store->n + 1;
	TL_TRY(TL_VEC_RESERVE(&e->places, n));
	memset(e->places.v, 0, n * sizeof *e->places.v);
	e->places.n = n;
	for (size_t i = 1; i < n; i++)
		e->places.v[i].parent = TL_OUTSIDE;
	for (tl_pos pos = 0; pos < t->n; pos++) {
		tl_row row = t->row[pos];
		uint32_t at = place_of(row),
			 up = t->parent[pos] == TL_POS_NONE ? FOREST : place_of(t->row[t->parent[pos]]);
		tl_place *place = &e->places.v[at], *parent = &e->places.v[up];
		place->parent = up;
		place->previous = parent->last;
		if (parent->last)
			e->places.v[parent->last].next = at;
		else
			parent->first = at;
		parent->last = at;
		if (is_gpu(e, row) && !parent->first_gpu)
			parent->first_gpu = at;
	}
	return 0;
}

static int index_extras(tl_edit *e)
{
	for (size_t i = 0; i < e->store->extras.n; i++) {
		const tl_extra *extra = &e->store->extras.v[i];
		TL_TRY(tl__map_set(&e->extra_of, (uint64_t)extra->row << 32 | extra->key, (uint32_t)i));
	}
	return 0;
}

int tl_edit_begin(tl_edit **out, tl_tree *tree, tl_error *err)
{
	*out = NULL;
	if (!tree)
		return tl__fail(err, TL_EINVAL, "an edit needs a tree");
	if (tree->editing)
		return tl__fail(err, TL_EINVAL, "the tree is being edited; commit or abort that edit first");
	tl_edit *e = tl__calloc(1, sizeof *e);
	if (!e)
		return tl__nomem(err);
	e->tree = tree;
	e->store = tl__store_copy(tree->store);
	tree->editing = true;
	if (!e->store || take_tree(e) < 0 || index_extras(e) < 0) {
		tl_edit_abort(e);
		return tl__nomem(err);
	}
	*out = e;
	return 0;
}

void tl_edit_abort(tl_edit *e)
{
	if (!e)
		return;
	e->tree->editing = false;
	tl__store_free(e->store);
	TL_VEC_FREE(&e->places);
	TL_VEC_FREE(&e->links);
	tl__map_free(&e->extra_of);
	tl__map_free(&e->linked);
	tl__free(e);
}

/* ---- reading ---- */

int tl__edit_check(const tl_edit *e, tl_row row, tl_error *err)
{
	if (row < e->store->n)
		return 0;
	return tl__fail(err, TL_EINVAL, "there is no event %u, only %zu", row, e->store->n);
}

bool tl_edit_in_tree(const tl_edit *e, tl_row row)
{
	return row < e->store->n && e->places.v[row + 1].parent != TL_OUTSIDE;
}

bool tl_edit_is_gpu(const tl_edit *e, tl_row row)
{
	return row < e->store->n && is_gpu(e, row);
}

tl_row tl_edit_parent(const tl_edit *e, tl_row row)
{
	return tl_edit_in_tree(e, row) ? row_of(e->places.v[row + 1].parent) : TL_ROW_NONE;
}

tl_row tl_edit_first_child(const tl_edit *e, tl_row row)
{
	return row == TL_ROW_NONE || row < e->store->n ? row_of(e->places.v[place_of(row)].first) : TL_ROW_NONE;
}

tl_row tl_edit_next_sibling(const tl_edit *e, tl_row row)
{
	return row < e->store->n ? row_of(e->places.v[row + 1].next) : TL_ROW_NONE;
}

/* The next place in pre-order below `top`, or FOREST. */
static uint32_t next_place(const tl_edit *e, uint32_t at, uint32_t top)
{
	const tl_place *places = e->places.v;
	if (places[at].first)
		return places[at].first;
	while (at != top && at != FOREST && places[at].parent != TL_OUTSIDE) {
		if (places[at].next)
			return places[at].next;
		at = places[at].parent;
	}
	return FOREST;
}

tl_row tl_edit_next(const tl_edit *e, tl_row row, tl_row top)
{
	bool known = (row == TL_ROW_NONE || row < e->store->n) && (top == TL_ROW_NONE || top < e->store->n);
	return known ? row_of(next_place(e, place_of(row), place_of(top))) : TL_ROW_NONE;
}

size_t tl_edit_gpu_events(const tl_edit *e, tl_row row, tl_row *out, size_t room)
{
	size_t n = 0;
	if (row >= e->store->n)
		return 0;
	for (uint32_t at = next_place(e, row + 1, row + 1); at != FOREST; at = next_place(e, at, row + 1)) {
		if (!is_gpu(e, row_of(at)))
			continue;
		if (n < room)
			out[n] = row_of(at);
		n++;
	}
	return n;
}

/* ---- the lists of children ---- */

static void unlink_place(tl_edit *e, uint32_t at)
{
	tl_place *places = e->places.v, *place = &places[at], *parent = &places[place->parent];
	if (place->previous)
		places[place->previous].next = place->next;
	else
		parent->first = place->next;
	if (place->next)
		places[place->next].previous = place->previous;
	else
		parent->last = place->previous;
	if (parent->first_gpu == at)
		parent->first_gpu = place->next; /* only GPU events come behind */
	place->parent = TL_OUTSIDE;
	place->previous = place->next = 0;
}

/* `before` 0: behind the last. Host events stay before GPU events whatever is asked for. */
static void link_place(tl_edit *e, uint32_t at, uint32_t up, uint32_t before)
{
	tl_place *places = e->places.v, *place = &places[at], *parent = &places[up];
	if (is_gpu(e, row_of(at))) {
		if (before && !is_gpu(e, row_of(before)))
			before = parent->first_gpu;
		if (before == parent->first_gpu)
			parent->first_gpu = at;
	} else if (!before || is_gpu(e, row_of(before))) {
		before = parent->first_gpu;
	}
	place->parent = up;
	place->next = before;
	place->previous = before ? places[before].previous : parent->last;
	if (place->previous)
		places[place->previous].next = at;
	else
		parent->first = at;
	if (before)
		places[before].previous = at;
	else
		parent->last = at;
}

/* Puts `at` (outside, without children) into the place of `old`, which goes outside. */
static void take_place(tl_edit *e, uint32_t at, uint32_t old)
{
	uint32_t up = e->places.v[old].parent, before = e->places.v[old].next;
	unlink_place(e, old);
	link_place(e, at, up, before);
}

/* ---- checks ---- */

static int check_in_tree(const tl_edit *e, tl_row row, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	if (tl_edit_in_tree(e, row))
		return 0;
	return tl__fail(err, TL_EINVAL, "event %u ('%s') is not in the tree", row, tl__name(e->store, row));
}

/* Whether something can be put under `parent`, before its child `before`. */
static int check_target(const tl_edit *e, tl_row parent, tl_row before, tl_error *err)
{
	if (parent != TL_ROW_NONE) {
		TL_TRY(check_in_tree(e, parent, err));
		if (is_gpu(e, parent))
			return tl__fail(err, TL_EINVAL, "event %u ('%s') is GPU work and has no children", parent,
					tl__name(e->store, parent));
	}
	if (before == TL_ROW_NONE)
		return 0;
	TL_TRY(check_in_tree(e, before, err));
	if (tl_edit_parent(e, before) == parent)
		return 0;
	return tl__fail(err, TL_EINVAL, "event %u is no child of the new parent, so nothing can go before it", before);
}

/*
 * Whether `at` lies below or is `top`. A walk up from `at` and one through the subtree of `top` go side by side: if
 * `at` is in there, no fewer steps lead through the subtree than up to its top, so whichever walk ends first decides.
 * Moving a leaf in a deep tree is as cheap as moving a large subtree near the root.
 */
static bool lies_below(const tl_edit *e, uint32_t at, uint32_t top)
{
	for (uint32_t below = top; at != FOREST && below != FOREST; below = next_place(e, below, top)) {
		if (at == top)
			return true;
		at = e->places.v[at].parent;
	}
	return false;
}

/* Whether an event of this kind and time can be a node. */
static int check_node(const tl_edit *e, tl_row row, tl_error *err)
{
	const tl_store *s = e->store;
	uint8_t kind = s->kind[row];
	if (tl__kind_is_gpu(kind))
		return 0;
	if (kind == TL_KIND_PYTHON && !e->tree->with_python)
		return tl__fail(err, TL_EINVAL, "event %u is a Python frame, and the tree was built without them", row);
	if (kind != TL_KIND_CPU_OP && kind != TL_KIND_RUNTIME && kind != TL_KIND_PYTHON)
		return tl__fail(err, TL_EINVAL, "event %u ('%s') is neither host nor GPU work", row, tl__name(s, row));
	if (s->start[row] == TL_TIME_NONE)
		return tl__fail(err, TL_EINVAL, "event %u ('%s') has no usable start", row, tl__name(s, row));
	return 0;
}

/* ---- new events ---- */

/* A new operation outside the tree. Nothing has changed when this fails. */
static int new_event(tl_edit *e, tl_row *out, const char *name, tl_row like, tl_error *err)
{
	tl_store *s = e->store;
	uint16_t category;
	if (!name)
		return tl__fail(err, TL_EINVAL, "an event needs a name");
	if (s->start[like] == TL_TIME_NONE)
		return tl__fail(err, TL_EINVAL, "event %u ('%s') has no usable start to give to another", like,
				tl__name(s, like));
	if (s->n >= TL_ROW_NONE - 2)
		return tl__fail(err, TL_ELIMIT, "more than %u events", TL_ROW_NONE - 2);
	tl_str text = tl__interns(s->strings, name);
	TL_TRY(tl__edit_category_index(e, "cpu_op", &category, err));
	if (text == TL_STR_FAIL || TL_VEC_RESERVE(&e->places, 1) < 0 || tl__store_reserve(s) < 0)
		return tl__nomem(err);
	tl_row row = (tl_row)s->n++;
	s->name[row] = text;
	s->category[row] = category;
	s->kind[row] = TL_KIND_CPU_OP;
	s->flags[row] = s->flags[like] & (TL_EVENT_TS_FRACTION | TL_EVENT_DUR_FRACTION);
	s->track[row] = s->track[like];
	s->start[row] = s->start[like];
	s->dur[row] = tl__known_dur(s, like);
	s->side[row] = UINT32_MAX;
	e->places.v[e->places.n++] = (tl_place){.parent = TL_OUTSIDE};
	*out = row;
	return 0;
}

static void hand_out(tl_row *out, tl_row row)
{
	if (out)
		*out = row;
}

int tl_edit_append(tl_edit *e, tl_row *out, const char *name, tl_row like, tl_row parent, tl_row before, tl_error *err)
{
	tl_row row;
	TL_TRY(tl__edit_check(e, like, err));
	TL_TRY(check_target(e, parent, before, err));
	TL_TRY(new_event(e, &row, name, like, err));
	link_place(e, row + 1, place_of(parent), place_of(before));
	hand_out(out, row);
	return 0;
}

/* ---- moving ---- */

int tl_edit_reparent(tl_edit *e, tl_row row, tl_row parent, tl_row before, tl_error *err)
{
	TL_TRY(tl__edit_check(e, row, err));
	TL_TRY(check_target(e, parent, before, err));
	TL_TRY(check_node(e, row, err));
	if (parent == TL_ROW_NONE && is_gpu(e, row))
		return tl__fail(err, TL_EINVAL, "event %u ('%s') is GPU work and needs a parent; detach takes it out",
				row, tl__name(e->store, row));
	bool inside = tl_edit_in_tree(e, row);
	if (inside && parent != TL_ROW_NONE && lies_below(e, parent + 1, row + 1))
		return tl__fail(err, TL_EINVAL, "event %u cannot go below event %u, which is %s", row, parent,
				row == parent ? "itself" : "below it");
	if (before == row)
		return 0; /* it is there */
	if (inside)
		unlink_place(e, row + 1);
	link_place(e, row + 1, place_of(parent), place_of(before));
	return 0;
}

int tl_edit_detach(tl_edit *e, tl_row row, tl_error *err)
{
	TL_TRY(check_in_tree(e, row, err));
	tl_place *places = e->places.v;
	uint32_t at = row + 1, up = places[at].parent;
	for (uint32_t child = places[at].first, next; child; child = next) {
		next = places[child].next;
		unlink_place(e, child);
		/* GPU events come behind all their new siblings, host events where the event was */
		if (up != FOREST || !is_gpu(e, row_of(child)))
			link_place(e, child, up, is_gpu(e, row_of(child)) ? 0 : at);
	}
	unlink_place(e, at);
	return 0;
}

int tl_edit_wrap(tl_edit *e, tl_row *out, const char *name, tl_row row, tl_error *err)
{
	tl_row new_row;
	TL_TRY(check_in_tree(e, row, err));
	if (!e->places.v[row + 1].first)
		return tl__fail(err, TL_EINVAL, "event %u ('%s') has no children to wrap", row,
				tl__name(e->store, row));
	TL_TRY(new_event(e, &new_row, name, row, err));
	tl_place *old = tl__place(e, row), *new_place = tl__place(e, new_row);
	new_place->first = old->first;
	new_place->last = old->last;
	new_place->first_gpu = old->first_gpu;
	for (uint32_t child = old->first; child; child = e->places.v[child].next)
		e->places.v[child].parent = new_row + 1;
	old->first = old->last = old->first_gpu = 0;
	link_place(e, new_row + 1, row + 1, 0);
	hand_out(out, new_row);
	return 0;
}

int tl_edit_insert_above(tl_edit *e, tl_row *out, const char *name, tl_row row, tl_error *err)
{
	tl_row new_row;
	TL_TRY(check_in_tree(e, row, err));
	TL_TRY(new_event(e, &new_row, name, row, err));
	take_place(e, new_row + 1, row + 1);
	link_place(e, row + 1, new_row + 1, 0);
	hand_out(out, new_row);
	return 0;
}

/* ---- isolating GPU events ---- */

/* Number of children up to `limit` + 1. */
static size_t count_children(const tl_edit *e, tl_row row, size_t limit)
{
	size_t n = 0;
	for (uint32_t at = e->places.v[row + 1].first; at && n <= limit; at = e->places.v[at].next)
		n++;
	return n;
}

static int check_isolated(const tl_edit *e, const tl_row *gpu, size_t n, tl_error *err)
{
	if (!n)
		return tl__fail(err, TL_EINVAL, "there is no GPU event to isolate");
	for (size_t i = 0; i < n; i++) {
		TL_TRY(check_in_tree(e, gpu[i], err));
		if (!is_gpu(e, gpu[i]))
			return tl__fail(err, TL_EINVAL, "event %u ('%s') is no GPU work and cannot be isolated", gpu[i],
					tl__name(e->store, gpu[i]));
		if (tl_edit_parent(e, gpu[i]) != tl_edit_parent(e, gpu[0]))
			return tl__fail(err, TL_EINVAL, "events %u and %u are of different launches", gpu[0], gpu[i]);
	}
	return 0;
}

/* Whether an event is named twice; sets *twice. TL_ENOMEM. */
static int find_repeated(const tl_row *gpu, size_t n, bool *twice)
{
	tl_map seen = {0};
	*twice = false;
	int code = 0;
	for (size_t i = 0; n > 1 && i < n && !*twice && code == 0; i++) {
		*twice = tl__map_get(&seen, gpu[i]) != TL_MAP_NONE;
		code = tl__map_set(&seen, gpu[i], 1);
	}
	tl__map_free(&seen);
	return code;
}

int tl_edit_isolate(tl_edit *e, tl_row *out, const char *name, const tl_row *gpu, size_t n, tl_error *err)
{
	bool twice;
	tl_row row = TL_ROW_NONE;
	if (!name || (n && !gpu))
		return tl__fail(err, TL_EINVAL, "a name and GPU events are needed");
	TL_TRY(check_isolated(e, gpu, n, err));
	if (find_repeated(gpu, n, &twice) < 0)
		return tl__nomem(err);
	if (twice)
		return tl__fail(err, TL_EINVAL, "a GPU event is named twice");
	tl_row launch = tl_edit_parent(e, gpu[0]);
	/* linked without a launch, GPU events hang below their operation itself */
	bool launched = e->store->kind[launch] == TL_KIND_RUNTIME;
	tl_row above = launched ? tl_edit_parent(e, launch) : launch;
	TL_TRY(new_event(e, &row, name, launch, err));
	tl_op_args *args = tl__edit_op_args(e, row);
	if (!args) { /* nobody has seen the new event yet */
		e->store->n--;
		e->places.n--;
		return tl__nomem(err);
	}
	const tl_link_args *link = tl__link_args(e->store, gpu[0]);
	args->external = link ? link->correlation : TL_ID_NONE;
	if (above != TL_ROW_NONE)
		e->store->track[row] = e->store->track[above];
	if (launched && count_children(e, launch, n) == n) {
		take_place(e, row + 1, launch + 1);
		link_place(e, launch + 1, row + 1, 0);
	} else {
		link_place(e, row + 1, place_of(above), launched ? launch + 1 : 0);
		for (size_t i = 0; i < n; i++) {
			unlink_place(e, gpu[i] + 1);
			link_place(e, gpu[i] + 1, row + 1, 0);
		}
	}
	hand_out(out, row);
	return 0;
}
