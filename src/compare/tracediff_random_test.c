/* SPDX-License-Identifier: MIT */
/* What must hold of comparisons of any trees, and what one change of a tree makes. */
#include "compare/diff_fixture.h"
#include "util/random_testing.h"

enum { MOST = 120 };

/*
 * A tree of operations as a program: node i is below parent[i] < i (-1: a root), siblings in order of `place`. A root
 * with `thread` and what follows it is on a thread of its own.
 */
typedef struct plan {
	int n, parent[MOST + 1], name[MOST + 1], kernel[MOST + 1]; /* kernel 0: it launches nothing */
	double place[MOST + 1];
	bool left_out[MOST + 1], thread[MOST + 1];
} plan;

static plan random_plan(void)
{
	plan p = {.n = 10 + (int)random_below(MOST - 20)};
	for (int i = 0; i < p.n; i++) {
		p.parent[i] = i < 2 ? -1 : (int)random_below((uint32_t)i + 1) - 1;
		p.name[i] = (int)random_below(12);
		p.kernel[i] = random_below(3) ? 1 + (int)random_below(6) : 0;
		p.place[i] = i;
	}
	return p;
}

/* Recursion in a test is fine: plans are small. */
static void put_node(tl_buf *out, const plan *p, int node)
{
	if (node >= 0) {
		tl__buf_printf(out, "op%d[", p->name[node]);
		if (p->kernel[node])
			tl__buf_printf(out, "cudaLaunchKernel[~k%d:%d] ", p->kernel[node], p->kernel[node]);
	}
	double done = -2 * MOST;
	for (;;) {
		int next = -1;
		for (int i = 0; i < p->n; i++)
			if (p->parent[i] == node && !p->left_out[i] && p->place[i] > done &&
			    (next < 0 || p->place[i] < p->place[next]))
				next = i;
		if (next < 0)
			break;
		if (node < 0 && p->thread[next])
			tl__buf_puts(out, "| ");
		put_node(out, p, next);
		done = p->place[next];
	}
	if (node >= 0)
		tl__buf_puts(out, "] ");
}

static const char *text_of(tl_buf *out, const plan *p)
{
	tl__buf_clear(out);
	put_node(out, p, -1);
	return tl__buf_text(out);
}

typedef struct texts {
	tl_buf a, b;
} texts;

static void open_plans(diff_fixture *f, texts *t, const plan *a, const plan *b)
{
	diff_fixture_open(f, text_of(&t->a, a), text_of(&t->b, b), NULL);
}

static void free_texts(texts *t)
{
	tl__buf_free(&t->a);
	tl__buf_free(&t->b);
}

enum { ROUNDS = 400 };

static void test_itself(void **state)
{
	(void)state;
	texts t = {0};
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		diff_fixture f;
		random_state = seed;
		plan p = random_plan();
		open_plans(&f, &t, &p, &p);
		assert_true(f.totals.identical);
		for (tl_row row = 0; row < f.side[0].store->n; row++)
			assert_int_equal(tl_diff_corresponding(f.diff, TL_DIFF_BASELINE, row), row);
		diff_fixture_close(&f);
	}
	free_texts(&t);
}

/* What one way finds, the other way finds, too. */
static void expect_mirror(texts *t, const plan *p, const plan *q)
{
	diff_fixture f, m;
	open_plans(&f, t, p, q);
	open_plans(&m, t, q, p);
	for (int s = 0; s < 2; s++) {
		assert_int_equal(f.totals.side[s].unmatched_nodes, m.totals.side[!s].unmatched_nodes);
		assert_int_equal(f.totals.side[s].looked_through, m.totals.side[!s].looked_through);
		for (tl_row row = 0; row < f.side[s].store->n; row++)
			assert_int_equal(tl_diff_corresponding(f.diff, s ? TL_DIFF_VARIANT : TL_DIFF_BASELINE, row),
					 tl_diff_corresponding(m.diff, s ? TL_DIFF_BASELINE : TL_DIFF_VARIANT, row));
	}
	assert_int_equal(f.totals.moved, m.totals.moved);
	assert_int_equal(f.totals.matched_operations, m.totals.matched_operations);
	diff_fixture_close(&f);
	diff_fixture_close(&m);
}

/* Unlike trees. */
static void test_mirror(void **state)
{
	(void)state;
	texts t = {0};
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		random_state = 1000 + seed;
		plan p = random_plan(), q = random_plan();
		if (seed % 2) { /* rather alike */
			q = p;
			for (int k = 0; k < 8; k++) {
				q.name[random_below((uint32_t)q.n)] = (int)random_below(12);
				q.left_out[random_below((uint32_t)q.n)] = true;
				q.place[random_below((uint32_t)q.n)] = (double)random_below((uint32_t)q.n) + 0.5;
			}
		}
		expect_mirror(&t, &p, &q);
	}
	free_texts(&t);
}

/* Several threads with much in common, which begin in another order on each side. */
static void test_mirror_of_threads(void **state)
{
	(void)state;
	texts t = {0};
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		random_state = 9000 + seed;
		plan p = random_plan();
		for (int i = 0; i < p.n; i++)
			if (!random_below(2))
				p.parent[i] = -1;
		plan q = p;
		for (int k = 0; k < 6; k++) {
			p.thread[random_below((uint32_t)p.n)] = true;
			q.thread[random_below((uint32_t)q.n)] = true;
			q.name[random_below((uint32_t)q.n)] = (int)random_below(12);
			q.left_out[random_below((uint32_t)q.n)] = true;
		}
		/* what came last comes first */
		for (int i = q.n / 2; i < q.n; i++)
			q.place[i] = q.place[i] - q.n;
		expect_mirror(&t, &p, &q);
	}
	free_texts(&t);
}

static void expect_totals(const diff_fixture *f, size_t only_baseline, size_t only_variant, size_t moved)
{
	assert_int_equal(f->totals.side[0].unmatched_subtrees, only_baseline);
	assert_int_equal(f->totals.side[1].unmatched_subtrees, only_variant);
	assert_int_equal(f->totals.moved, moved);
	assert_int_equal(f->totals.side[0].looked_through, 0);
	assert_int_equal(f->totals.side[1].looked_through, 0);
}

/* One operation more, or one fewer with all below it. */
static void test_inserted_and_removed(void **state)
{
	(void)state;
	texts t = {0};
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		diff_fixture f;
		random_state = 2000 + seed;
		plan p = random_plan(), q = p;
		q.parent[q.n] = (int)random_below((uint32_t)q.n + 1) - 1;
		q.name[q.n] = 99;
		q.kernel[q.n] = (int)random_below(2);
		q.place[q.n] = (double)random_below((uint32_t)q.n) + 0.5;
		q.n++;
		open_plans(&f, &t, &p, &q);
		expect_totals(&f, 0, 1, 0);
		diff_fixture_close(&f);
		open_plans(&f, &t, &q, &p);
		expect_totals(&f, 1, 0, 0);
		diff_fixture_close(&f);
		q = p;
		q.left_out[random_below((uint32_t)q.n)] = true;
		open_plans(&f, &t, &p, &q);
		expect_totals(&f, 1, 0, 0);
		diff_fixture_close(&f);
	}
	free_texts(&t);
}

/*
 * One operation in another place among its siblings: of a name that they have not, so that it is that one that moved.
 * All have GPU work, which is aligned before the rest.
 */
static void test_moved(void **state)
{
	(void)state;
	texts t = {0};
	size_t moves = 0;
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		diff_fixture f;
		random_state = 3000 + seed;
		plan p = random_plan(), q;
		int node = (int)random_below((uint32_t)p.n), behind = 0;
		p.name[node] = 77;
		for (int i = 0; i < p.n; i++)
			if (p.parent[i] == p.parent[node] && !p.kernel[i])
				p.kernel[i] = 1;
		q = p;
		q.place[node] = MOST + 1;
		for (int i = node + 1; i < p.n; i++)
			behind += p.parent[i] == p.parent[node];
		open_plans(&f, &t, &p, &q);
		expect_totals(&f, 0, 0, behind > 0);
		moves += behind > 0;
		diff_fixture_close(&f);
	}
	assert_true(moves > ROUNDS / 4);
	free_texts(&t);
}

/* A wrapper around an operation: everything else still corresponds. */
static void test_wrapped(void **state)
{
	(void)state;
	texts t = {0};
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		diff_fixture f;
		random_state = 4000 + seed;
		plan p = random_plan(), q;
		int node = (int)random_below((uint32_t)p.n);
		p.name[node] = 77; /* not the name of what is below it, too */
		if (!p.kernel[node])
			p.kernel[node] = 1;
		q = p;
		q.parent[q.n] = q.parent[node];
		q.place[q.n] = q.place[node];
		q.name[q.n] = 99;
		q.kernel[q.n] = 0;
		q.parent[node] = q.n++;
		open_plans(&f, &t, &p, &q);
		assert_int_equal(f.totals.side[0].unmatched_nodes, 0);
		assert_int_equal(f.totals.side[1].unmatched_nodes, 0);
		assert_int_equal(f.totals.side[1].looked_through, 1);
		diff_fixture_close(&f);
	}
	free_texts(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_itself),
		cmocka_unit_test(test_mirror),
		cmocka_unit_test(test_mirror_of_threads),
		cmocka_unit_test(test_inserted_and_removed),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
