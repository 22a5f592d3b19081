/* SPDX-License-Identifier: MIT */
/* GPU events below the calls that launched them, by correlation id. */
#include <stdio.h>
#include <string.h>

#include "tree/launch.h"
#include "util/sort.h"

/* ---- ranks ---- */

static size_t tag_length(const char *text)
{
	const char *close = text[0] == '[' ? strchr(text, ']') : NULL;
	return close ? (size_t)(close - text) + 1 : 0;
}

static int find_ranks(tl_linker *l)
{
	const tl_store *s = l->b->store;
	l->n_processes = s->processes.n;
	for (size_t p = 0; p < l->n_processes; p++) {
		tl_id pid = s->processes.v[p].pid;
		if (pid == TL_ID_NONE || !(pid & TL_ID_TEXT))
			continue;
		const char *text = tl__str(s->strings, (tl_str)(pid & ~TL_ID_TEXT));
		size_t length = tag_length(text);
		if (!length)
			continue;
		if (!l->rank) {
			l->rank = tl__malloc(l->n_processes * sizeof *l->rank);
			l->tags = tl__strings_new(NULL);
			if (!l->rank || !l->tags)
				return TL_ENOMEM;
			for (uint32_t q = 0; q < l->n_processes; q++)
				l->rank[q] = q;
		}
		tl_str tag = tl__intern(l->tags, text, length);
		if (tag == TL_STR_FAIL)
			return TL_ENOMEM;
		l->rank[p] = TL_RANK_TAGGED | tag;
	}
	return 0;
}

uint32_t tl__rank_of(const tl_linker *l, tl_row row)
{
	uint32_t process = tl__process_of(l->b->store, row);
	if (process == UINT32_MAX)
		return UINT32_MAX & ~TL_RANK_TAGGED;
	return l->rank ? l->rank[process] : process;
}

/* ---- choosing among launches ---- */

/* First of v[0, n), sorted by rank, whose rank is at least `rank`. */
static size_t rank_lower_bound(const tl_linker *l, const tl_row *v, size_t n, uint32_t rank)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (tl__rank_of(l, v[mid]) < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

tl_link_result tl__pick_launch(const tl_linker *l, const tl_row *v, size_t n, tl_row gpu, tl_row *out)
{
	const tl_store *s = l->b->store;
	if (!n)
		return TL_LINK_NONE;
	uint32_t rank = tl__rank_of(l, gpu), first = tl__rank_of(l, v[0]), last = tl__rank_of(l, v[n - 1]);
	bool tagged = rank & TL_RANK_TAGGED, one_rank = first == last;
	/* A tag on both sides must agree; a single rank of launches owns what has no tag. */
	if (!one_rank || (tagged && first & TL_RANK_TAGGED)) {
		size_t lo = rank_lower_bound(l, v, n, rank), hi = rank_lower_bound(l, v, n, rank + 1);
		if (lo == hi)
			return tagged && last & TL_RANK_TAGGED ? TL_LINK_NONE : TL_LINK_AMBIGUOUS;
		v += lo;
		n = hi - lo;
	}
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->start[v[mid]] <= tl__start_key(s, gpu))
			lo = mid + 1;
		else
			hi = mid;
	}
	*out = v[lo ? lo - 1 : 0];
	return TL_LINK_DONE;
}

void tl__link(tl_linker *l, tl_row gpu, tl_row launch)
{
	tl_tree *tree = l->b->tree;
	tree->pos_of_row[gpu] = tree->pos_of_row[launch];
	tree->gpu[tree->n_gpu++] = gpu;
}

/* ---- by correlation ---- */

/* How many of the next are tried before searching. */
enum { NEAR = 8 };

static tl_id correlation_of(const tl_store *s, tl_row row)
{
	const tl_link_args *args = tl__link_args(s, row);
	return args ? args->correlation : TL_ID_NONE;
}

/* -1, 0, 1 by (source, correlation). */
static int key_compare(const tl_store *s, tl_row a, tl_row b)
{
	uint32_t sa = tl__source_of(s, a), sb = tl__source_of(s, b);
	if (sa != sb)
		return sa < sb ? -1 : 1;
	tl_id ca = correlation_of(s, a), cb = correlation_of(s, b);
	return ca == cb ? 0 : ca < cb ? -1 : 1;
}

static bool launch_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_linker *l = ctx;
	int key = key_compare(l->b->store, a, b);
	if (key)
		return key < 0;
	uint32_t ra = tl__rank_of(l, a), rb = tl__rank_of(l, b);
	return ra != rb ? ra < rb : tl__starts_before(l->b->store, a, b);
}

/* Order of flow halves: (source, id, row). */
static bool flow_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	uint32_t sa = tl__source_of(s, a), sb = tl__source_of(s, b);
	if (sa != sb)
		return sa < sb;
	tl_id ia = s->flows.v[s->side[a]].id, ib = s->flows.v[s->side[b]].id;
	return ia != ib ? ia < ib : a < b;
}

/* -1, 0, 1: whether flow half `i` comes before, at or behind (source, id). */
static int flow_compare(const tl_linker *l, size_t i, uint32_t source, tl_id id)
{
	const tl_store *s = l->b->store;
	uint32_t other = tl__source_of(s, l->flows[i]);
	if (other != source)
		return other < source ? -1 : 1;
	tl_id found = s->flows.v[s->side[l->flows[i]]].id;
	return found == id ? 0 : found < id ? -1 : 1;
}

/* First flow half at or behind (source, id); mostly one of the next few behind that of the launch before. */
static size_t find_flow(tl_linker *l, uint32_t source, tl_id id)
{
	size_t lo = l->next_flow, hi = l->n_flows;
	if (lo && flow_compare(l, lo - 1, source, id) >= 0) {
		hi = lo;
		lo = 0;
	}
	for (int i = 0; i < NEAR && lo < hi && lo >= l->next_flow; i++, lo++)
		if (flow_compare(l, lo, source, id) >= 0)
			return lo;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (flow_compare(l, mid, source, id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Exactly one half of the arrow of this correlation is there. Kernels of a graph never have whole
 * arrows, and a file without any arrows was written so: neither is worth a word.
 */
static bool has_half_flow(tl_linker *l, tl_row launch)
{
	const tl_store *s = l->b->store;
	uint32_t source = tl__source_of(s, launch);
	tl_id id = correlation_of(s, launch);
	bool begin = false, finish = false;
	if (tl__is_graph_launch(&l->graph_names, s, launch))
		return false;
	size_t at = find_flow(l, source, id);
	l->next_flow = at;
	for (; at < l->n_flows && !(begin && finish) && flow_compare(l, at, source, id) == 0; at++) {
		char phase = s->flows.v[s->side[l->flows[at]]].phase;
		begin |= phase == 's';
		finish |= phase == 'f';
	}
	return begin != finish;
}

/* The launches v[from, to) of one correlation id. */
typedef struct {
	const tl_row *v;
	size_t n; /* all launches */
	size_t from, to;
	uint8_t *seen; /* by `from`: 0, or what first_use found */
} tl_group;

static void set_group(tl_group *g, const tl_store *s, size_t from)
{
	g->from = from;
	for (g->to = from; g->to < g->n && key_compare(s, g->v[g->to], g->v[from]) == 0;)
		g->to++;
}

/*
 * Moves to the group of a GPU event's id; false when there is none. GPU events follow their
 * launches' order more or less, so the same and the next few groups are tried before searching: of
 * calls between them without GPU work there are some.
 */
static bool find_group(tl_group *g, const tl_store *s, tl_row gpu)
{
	if (g->from < g->to && key_compare(s, gpu, g->v[g->from]) == 0)
		return true;
	for (int i = 0; i < NEAR && g->to < g->n; i++) {
		int key = key_compare(s, g->v[g->to], gpu);
		if (key > 0)
			break;
		set_group(g, s, g->to);
		if (key == 0)
			return true;
	}
	size_t lo = 0, hi = g->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (key_compare(s, g->v[mid], gpu) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == g->n || key_compare(s, gpu, g->v[lo]) != 0)
		return false;
	set_group(g, s, lo);
	return true;
}

enum { SEEN = 1, SEEN_HALF_FLOW = 2 };

/* What is said once about a group. */
static void first_use(tl_linker *l, tl_group *g)
{
	const tl_store *s = l->b->store;
	tl_row first = g->v[g->from];
	bool duplicate = false;
	for (size_t i = g->from + 1; i < g->to; i++)
		duplicate |= tl__rank_of(l, g->v[i]) == tl__rank_of(l, g->v[i - 1]);
	if (duplicate)
		tl__health_add(&l->b->tree->health, TL_HEALTH_DUPLICATE_LAUNCH, -1, first, 0, tl__name(s, first));
	g->seen[g->from] = has_half_flow(l, first) ? SEEN_HALF_FLOW : SEEN;
}

static int link_gpu(tl_linker *l, tl_group *g, tl_row gpu)
{
	const tl_store *s = l->b->store;
	if (correlation_of(s, gpu) == TL_ID_NONE || !find_group(g, s, gpu))
		return TL_VEC_PUSH(&l->unmatched, gpu);
	if (!g->seen[g->from])
		first_use(l, g);
	tl_row launch;
	switch (tl__pick_launch(l, g->v + g->from, g->to - g->from, gpu, &launch)) {
	case TL_LINK_DONE:
		tl__link(l, gpu, launch);
		if (g->seen[g->from] == SEEN_HALF_FLOW)
			tl__health_add(&l->b->tree->health, TL_HEALTH_LINKED_WITHOUT_FLOW, -1, gpu, s->dur[gpu],
				       tl__name(s, gpu));
		return 0;
	case TL_LINK_AMBIGUOUS:
		return TL_VEC_PUSH(&l->ambiguous, gpu);
	case TL_LINK_NONE:
		break;
	}
	return TL_VEC_PUSH(&l->unmatched, gpu);
}

typedef TL_VEC(tl_row) row_vec;

static int link_by_correlation(tl_linker *l, row_vec *launches, row_vec *flows, tl_group *g)
{
	const tl_store *s = l->b->store;
	tl_tree *tree = l->b->tree;
	const tl_parts *parts = &l->b->parts;
	for (size_t i = 0; i < parts->n_host; i++) {
		tl_row row = parts->host[i];
		if (s->kind[row] == TL_KIND_RUNTIME && tree->pos_of_row[row] != TL_POS_NONE &&
		    correlation_of(s, row) != TL_ID_NONE)
			TL_TRY(TL_VEC_PUSH(launches, row));
	}
	for (size_t i = 0; i < parts->n_arrows; i++) {
		tl_row row = parts->arrows[i];
		if (s->kind[row] == TL_KIND_FLOW && s->side[row] != UINT32_MAX &&
		    s->flows.v[s->side[row]].id != TL_ID_NONE)
			TL_TRY(TL_VEC_PUSH(flows, row));
	}
	tree->gpu = tl__malloc((parts->n_gpu + 1) * sizeof *tree->gpu);
	g->seen = tl__calloc(launches->n + 1, 1);
	if (!tree->gpu || !g->seen)
		return TL_ENOMEM;
	TL_TRY(tl__sort(launches->v, launches->n, launch_less, l));
	TL_TRY(tl__sort(flows->v, flows->n, flow_less, s));
	l->flows = flows->v;
	l->n_flows = flows->n;
	g->v = launches->v;
	g->n = launches->n;
	for (size_t i = 0; i < parts->n_gpu; i++)
		TL_TRY(link_gpu(l, g, parts->gpu[i]));
	return 0;
}

/* ---- the rest ---- */

static bool row_less(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return a < b;
}

static bool start_less(const void *ctx, uint32_t a, uint32_t b)
{
	return tl__starts_before(ctx, a, b);
}

/* Orders tree->gpu by (launch, start, row): dealt out by launch, because one may own thousands. */
static int order_linked(tl_build *b)
{
	tl_tree *t = b->tree;
	uint32_t *next = tl__calloc(b->n_host + 2, sizeof *next);
	tl_row *dealt = tl__malloc((t->n_gpu + 1) * sizeof *dealt);
	int code = next && dealt ? 0 : TL_ENOMEM;
	if (!code) {
		for (size_t i = 0; i < t->n_gpu; i++)
			next[t->pos_of_row[t->gpu[i]] + 1]++;
		for (size_t i = 1; i <= b->n_host; i++)
			next[i] += next[i - 1];
		for (size_t i = 0; i < t->n_gpu; i++)
			dealt[next[t->pos_of_row[t->gpu[i]]]++] = t->gpu[i];
		memcpy(t->gpu, dealt, t->n_gpu * sizeof *dealt);
	}
	/* next[i] now is the end of launch i. */
	for (size_t i = 0, from = 0; i < b->n_host && !code; from = next[i++])
		code = tl__sort(t->gpu + from, next[i] - from, start_less, b->store);
	tl__free(next);
	tl__free(dealt);
	return code;
}

static int keep_unlinked(tl_linker *l)
{
	tl_tree *tree = l->b->tree;
	const tl_store *s = l->b->store;
	for (size_t i = 0; i < l->unmatched.n; i++) {
		tl_row row = l->unmatched.v[i];
		tl__health_add(&tree->health, TL_HEALTH_NO_LAUNCH, -1, row, s->dur[row], tl__name(s, row));
	}
	for (size_t i = 0; i < l->ambiguous.n; i++) {
		tl_row row = l->ambiguous.v[i];
		tl__health_add(&tree->health, TL_HEALTH_AMBIGUOUS_RANKS, -1, row, s->dur[row], tl__name(s, row));
	}
	size_t n = l->unmatched.n + l->ambiguous.n;
	tree->unlinked = tl__malloc((n + 1) * sizeof *tree->unlinked);
	tree->ambiguous = tl__malloc((l->ambiguous.n + 1) * sizeof *tree->ambiguous);
	if (!tree->unlinked || !tree->ambiguous)
		return TL_ENOMEM;
	if (l->unmatched.n)
		memcpy(tree->unlinked, l->unmatched.v, l->unmatched.n * sizeof(tl_row));
	if (l->ambiguous.n)
		memcpy(tree->unlinked + l->unmatched.n, l->ambiguous.v, l->ambiguous.n * sizeof(tl_row));
	if (l->ambiguous.n)
		memcpy(tree->ambiguous, l->ambiguous.v, l->ambiguous.n * sizeof(tl_row));
	tree->n_unlinked = n;
	tree->n_ambiguous = l->ambiguous.n;
	for (size_t i = 0; i < tree->n_ambiguous; i++)
		tree->ambiguous_time += tl__known_dur(s, tree->ambiguous[i]);
	for (size_t i = 0; i < n; i++)
		tree->unlinked_time += tl__known_dur(s, tree->unlinked[i]);
	TL_TRY(tl__sort(tree->ambiguous, tree->n_ambiguous, row_less, NULL));
	return tl__sort(tree->unlinked, n, row_less, NULL);
}

/* Clocks of host and GPU differ a little: such kernels are linked all the same, and counted. */
static void count_early_kernels(const tl_build *b)
{
	const tl_store *s = b->store;
	tl_health *health = &b->tree->health;
	tl_time worst = 0;
	for (size_t i = 0; i < b->tree->n_gpu; i++) {
		tl_row row = b->tree->gpu[i], launch = b->order[b->tree->pos_of_row[row]];
		tl_time early = s->start[row] == TL_TIME_NONE ? 0 : s->start[launch] - s->start[row];
		if (early <= 0)
			continue;
		tl__health_add(health, TL_HEALTH_KERNEL_BEFORE_LAUNCH, -1, row, s->dur[row], NULL);
		worst = early > worst ? early : worst;
	}
	if (worst) {
		tl_health_entry *entry = &health->entry[TL_HEALTH_KERNEL_BEFORE_LAUNCH];
		snprintf(entry->detail, sizeof entry->detail, "at most %.3f µs early",
			 (double)worst / (double)TL_PS_PER_US);
	}
}

int tl__build_launches(tl_build *b)
{
	tl_linker l = {.b = b};
	row_vec launches = {0}, flows = {0};
	tl_group group = {0};
	int code = find_ranks(&l);
	if (!code)
		code = link_by_correlation(&l, &launches, &flows, &group);
	TL_VEC_FREE(&launches);
	tl__free(group.seen);
	if (!code)
		code = order_linked(b);
	size_t n_linked = b->tree->n_gpu;
	if (!code && l.unmatched.n)
		code = tl__link_without_correlation(&l);
	if (!code && b->tree->n_gpu > n_linked)
		code = order_linked(b);
	if (!code)
		code = keep_unlinked(&l);
	if (!code)
		count_early_kernels(b);
	TL_VEC_FREE(&flows);
	TL_VEC_FREE(&l.unmatched);
	TL_VEC_FREE(&l.ambiguous);
	tl__free(l.rank);
	tl__strings_unref(l.tags);
	return code;
}
