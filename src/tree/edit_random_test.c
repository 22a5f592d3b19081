/* SPDX-License-Identifier: MIT */
/* Random changes against a tree of plain arrays that are changed the obvious way. */
#include "tree/edit_fixture.h"

enum { ROWS = 4096, NOBODY = -1, OUTSIDE = -2 };

/* A tree as lists; the forest is the child list of place ROWS. */
typedef struct plain {
	int parent[ROWS]; /* row, NOBODY for roots, OUTSIDE */
	bool gpu[ROWS];
	size_t n;
	TL_VEC(int) children[ROWS + 1];
} plain;

static uint64_t seed;

static size_t random_below(size_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return n ? (size_t)(seed >> 33) % n : 0;
}

static size_t list_of(int parent)
{
	return parent == NOBODY ? ROWS : (size_t)parent;
}

static void plain_insert(plain *p, int parent, size_t at, int row)
{
	size_t list = list_of(parent);
	assert_int_equal(TL_VEC_RESERVE(&p->children[list], 1), 0);
	int *v = p->children[list].v;
	memmove(v + at + 1, v + at, (p->children[list].n++ - at) * sizeof *v);
	v[at] = row;
	p->parent[row] = parent;
}

static size_t plain_index(const plain *p, int row)
{
	size_t list = list_of(p->parent[row]), i = 0;
	while (p->children[list].v[i] != row)
		i++;
	return i;
}

static void plain_remove(plain *p, int row)
{
	size_t list = list_of(p->parent[row]), at = plain_index(p, row);
	int *v = p->children[list].v;
	memmove(v + at, v + at + 1, (--p->children[list].n - at) * sizeof *v);
	p->parent[row] = OUTSIDE;
}

/* Index of the first GPU event in a list of children. */
static size_t plain_first_gpu(const plain *p, int parent)
{
	size_t list = list_of(parent), i = 0;
	while (i < p->children[list].n && !p->gpu[p->children[list].v[i]])
		i++;
	return i;
}

/* Before `before`, or at the end of its kind. */
static void plain_place(plain *p, int row, int parent, int before)
{
	size_t at, host_end = plain_first_gpu(p, parent);
	if (p->gpu[row])
		at = before == NOBODY ? p->children[list_of(parent)].n
		     : p->gpu[before] ? plain_index(p, before)
				      : host_end;
	else
		at = before == NOBODY || p->gpu[before] ? host_end : plain_index(p, before);
	plain_insert(p, parent, at, row);
}

static bool plain_is_below(const plain *p, int row, int top)
{
	while (row >= 0 && row != top)
		row = p->parent[row];
	return row == top;
}

static int plain_new(plain *p)
{
	int row = (int)p->n++;
	p->parent[row] = OUTSIDE;
	p->gpu[row] = false;
	return row;
}

static void take_over(plain *p, const tl_tree *t)
{
	memset(p, 0, sizeof *p);
	p->n = t->store->n;
	for (size_t row = 0; row < p->n; row++) {
		p->parent[row] = OUTSIDE;
		p->gpu[row] = tl__kind_is_gpu(t->store->kind[row]);
	}
	for (tl_pos pos = 0; pos < t->n; pos++) {
		int parent = t->parent[pos] == TL_POS_NONE ? NOBODY : (int)t->row[t->parent[pos]];
		plain_insert(p, parent, p->children[list_of(parent)].n, (int)t->row[pos]);
	}
}

static void forget(plain *p)
{
	for (size_t i = 0; i <= ROWS; i++)
		TL_VEC_FREE(&p->children[i]);
}

static tl_pos compare_below(const plain *p, const tl_tree *t, int parent, tl_pos pos)
{
	size_t list = list_of(parent);
	for (size_t i = 0; i < p->children[list].n; i++) {
		int row = p->children[list].v[i];
		assert_true(pos < t->n);
		assert_int_equal(t->row[pos], row);
		assert_int_equal(t->parent[pos], parent == NOBODY ? TL_POS_NONE : t->pos_of_row[parent]);
		tl_pos end = compare_below(p, t, row, pos + 1);
		assert_int_equal(t->end[pos], end);
		pos = end;
	}
	return pos;
}

static int some_row(const plain *p)
{
	return (int)random_below(p->n);
}

static int some_parent(const plain *p)
{
	return random_below(6) ? some_row(p) : NOBODY;
}

static int some_child(const plain *p, int parent)
{
	size_t n = parent == NOBODY || p->parent[parent] != OUTSIDE ? p->children[list_of(parent)].n : 0;
	return n && random_below(2) ? p->children[list_of(parent)].v[random_below(n)] : NOBODY;
}

static tl_row row_or_none(int row)
{
	return row == NOBODY ? TL_ROW_NONE : (tl_row)row;
}

static bool can_hold(const plain *p, int parent)
{
	return parent == NOBODY || (!p->gpu[parent] && p->parent[parent] != OUTSIDE);
}

static void random_append(plain *p, tl_edit *e)
{
	int parent = some_parent(p), before = some_child(p, parent), like = some_row(p);
	tl_row row = 0;
	int code = tl_edit_append(e, &row, "new", (tl_row)like, row_or_none(parent), row_or_none(before), NULL);
	assert_int_equal(code, can_hold(p, parent) ? 0 : TL_EINVAL);
	if (code == 0) {
		assert_int_equal(row, p->n);
		plain_place(p, plain_new(p), parent, before);
	}
}

static void random_reparent(plain *p, tl_edit *e)
{
	int row = some_row(p), parent = some_parent(p), before = some_child(p, parent);
	int code = tl_edit_reparent(e, (tl_row)row, row_or_none(parent), row_or_none(before), NULL);
	bool allowed = can_hold(p, parent) && !(parent == NOBODY && p->gpu[row]);
	if (allowed && parent != NOBODY)
		allowed = !plain_is_below(p, parent, row);
	assert_int_equal(code, allowed ? 0 : TL_EINVAL);
	if (!allowed || before == row)
		return;
	if (p->parent[row] != OUTSIDE)
		plain_remove(p, row);
	plain_place(p, row, parent, before);
}

static void random_detach(plain *p, tl_edit *e)
{
	int row = some_row(p), parent = p->parent[row];
	assert_int_equal(tl_edit_detach(e, (tl_row)row, NULL), parent == OUTSIDE ? TL_EINVAL : 0);
	if (parent == OUTSIDE)
		return;
	while (p->children[row].n) {
		int child = p->children[row].v[0];
		plain_remove(p, child);
		if (!p->gpu[child])
			plain_insert(p, parent, plain_index(p, row), child);
		else if (parent != NOBODY)
			plain_insert(p, parent, p->children[list_of(parent)].n, child);
	}
	plain_remove(p, row);
}

static void random_wrap(plain *p, tl_edit *e)
{
	int row = some_row(p);
	bool allowed = p->parent[row] != OUTSIDE && p->children[row].n > 0;
	assert_int_equal(tl_edit_wrap(e, NULL, "wrap", (tl_row)row, NULL), allowed ? 0 : TL_EINVAL);
	if (!allowed)
		return;
	int wrap = plain_new(p);
	while (p->children[row].n) {
		int child = p->children[row].v[0];
		plain_remove(p, child);
		plain_insert(p, wrap, p->children[wrap].n, child);
	}
	plain_insert(p, row, 0, wrap);
}

static void random_insert_above(plain *p, tl_edit *e)
{
	int row = some_row(p), parent = p->parent[row];
	assert_int_equal(tl_edit_insert_above(e, NULL, "above", (tl_row)row, NULL), parent == OUTSIDE ? TL_EINVAL : 0);
	if (parent == OUTSIDE)
		return;
	int above = plain_new(p);
	size_t at = p->gpu[row] ? plain_first_gpu(p, parent) : plain_index(p, row);
	plain_remove(p, row);
	plain_insert(p, parent, at, above);
	plain_insert(p, above, 0, row);
}

static void random_isolate(plain *p, tl_edit *e, const tl_store *s)
{
	int row = some_row(p), launch = p->parent[row];
	tl_row kernel = (tl_row)row;
	bool allowed = launch != OUTSIDE && p->gpu[row];
	assert_int_equal(tl_edit_isolate(e, NULL, "isolated", &kernel, 1, NULL), allowed ? 0 : TL_EINVAL);
	if (!allowed)
		return;
	/* new events are operations */
	bool launched = (size_t)launch < s->n && s->kind[launch] == TL_KIND_RUNTIME;
	int node = plain_new(p), above = p->parent[launch];
	if (!launched) {
		plain_place(p, node, launch, NOBODY);
	} else {
		plain_insert(p, above, plain_index(p, launch), node);
		if (p->children[launch].n == 1) {
			plain_remove(p, launch);
			plain_insert(p, node, 0, launch);
			return;
		}
	}
	plain_remove(p, row);
	plain_insert(p, node, 0, row);
}

static void random_change(plain *p, tl_edit *e, const tl_store *s)
{
	switch (random_below(12)) {
	case 0:
	case 1:
		random_append(p, e);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		random_reparent(p, e);
		break;
	case 6:
		random_detach(p, e);
		break;
	case 7:
	case 8:
		random_wrap(p, e);
		break;
	case 9:
		random_insert_above(p, e);
		break;
	default:
		random_isolate(p, e, s);
		break;
	}
}

/* Three threads with nested operations, launches among them, and their GPU events. */
static void random_store(tl_store *s)
{
	uint64_t correlation = 1;
	for (int thread = 0; thread < 3; thread++) {
		for (int i = 0; i < 12; i++) {
			double start = (double)random_below(200), dur = (double)(1 + random_below(80));
			tl_fixture_op(s, "op", 1, (tl_id)thread, start, dur);
			tl_fixture_launch(s, "launch", 1, (tl_id)thread, start + 0.5, 0.25, correlation);
			for (size_t k = random_below(4); k > 0; k--)
				tl_fixture_gpu(s, k % 2 ? TL_KIND_KERNEL : TL_KIND_MEMCPY, "work", 0, 7,
					       (double)random_below(1000), 3, correlation);
			correlation++;
		}
	}
	tl_fixture_gpu(s, TL_KIND_KERNEL, "lost", 0, 7, 5, 3, TL_ID_NONE);
}

static void test_random_changes(void **state)
{
	(void)state;
	plain *p = malloc(sizeof *p);
	assert_non_null(p);
	for (uint64_t round = 0; round < 200; round++) {
		seed = round * 977 + 13;
		tl_fixture f;
		tl_fixture_new(&f);
		random_store(f.store);
		tl_fixture_build(&f, false);
		take_over(p, f.tree);
		for (int edit = 0; edit < 3; edit++) {
			tl_edit *e = tl_fixture_edit(&f);
			size_t changes = random_below(60);
			for (size_t i = 0; i < changes; i++)
				random_change(p, e, f.tree->store);
			tl_fixture_commit(e);
			assert_int_equal(compare_below(p, f.tree, NOBODY, 0), f.tree->n);
			tl_fixture_check_edited(f.tree);
			/* changes that are dropped leave no trace */
			e = tl_fixture_edit(&f);
			assert_int_equal(tl_edit_append(e, NULL, "dropped", 0, TL_ROW_NONE, TL_ROW_NONE, NULL), 0);
			tl_edit_abort(e);
			assert_int_equal(f.tree->store->n, p->n);
		}
		forget(p);
		tl_fixture_free(&f);
	}
	free(p);
}

/* Every kind of change a hundred thousand times, in a tree as deep as it is wide: must not take quadratic time. */
static void test_many_changes(void **state)
{
	(void)state;
	enum { DEEP = 100000, WIDE = 100000 };
	tl_fixture f;
	tl_fixture_new(&f);
	for (tl_row i = 0; i < DEEP; i++)
		tl_fixture_op(f.store, "deep", 1, 1, i, 2.0 * DEEP - 2.0 * i);
	tl_fixture_launch(f.store, "graph", 1, 2, 0, 10, 1);
	for (tl_row i = 0; i < WIDE; i++)
		tl_fixture_gpu(f.store, TL_KIND_KERNEL, "kernel", 0, 7, 10.0 + i, 1, 1);
	tl_fixture_build(&f, false);
	assert_int_equal(f.tree->n, DEEP + 1 + WIDE);
	tl_edit *e = tl_fixture_edit(&f);
	for (tl_row i = 0; i < WIDE; i++) {
		tl_row kernel = DEEP + 1 + i, row;
		if (i % 4 == 0)
			assert_int_equal(tl_edit_isolate(e, &row, "isolated", &kernel, 1, NULL), 0);
		else if (i % 4 == 1)
			assert_int_equal(tl_edit_reparent(e, kernel, DEEP - 1, TL_ROW_NONE, NULL), 0);
		else if (i % 4 == 2)
			assert_int_equal(tl_edit_append(e, &row, "in between", 0, DEEP, TL_ROW_NONE, NULL), 0);
		else
			assert_int_equal(tl_edit_detach(e, kernel, NULL), 0);
		assert_int_equal(tl_edit_wrap(e, NULL, "wrapped", 0, NULL), 0);
		assert_int_equal(tl_edit_insert_above(e, NULL, "above", 0, NULL), 0);
		assert_int_equal(tl_edit_set_arg(e, i, "key", "1", NULL), 0);
	}
	tl_fixture_commit(e);
	assert_int_equal(f.tree->n_gpu + f.tree->n_unlinked, WIDE);
	assert_int_equal(f.tree->n_unlinked, WIDE / 4);
	assert_int_equal(f.tree->n, DEEP + 1 + WIDE + 2 * WIDE + WIDE / 2 - WIDE / 4);
	tl_fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_many_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
