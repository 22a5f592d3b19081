/* SPDX-License-Identifier: MIT */
/* GPU events below the calls that launched them, by correlation id. */
#include <stdio.h>
#include <string.h>

#include "tree/launch.h"
#include "tree/sort.h"

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

static bool gpu_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	int key = key_compare(s, a, b);
	return key ? key < 0 : tl__starts_before(s, a, b);
}

bool tl__flow_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	uint32_t sa = tl__source_of(s, a), sb = tl__source_of(s, b);
	if (sa != sb)
		return sa < sb;
	tl_id ia = s->flows.v[s->side[a]].id, ib = s->flows.v[s->side[b]].id;
	return ia != ib ? ia < ib : a < b;
}

static bool is_graph_launch(const tl_store *s, tl_row launch)
{
	return strstr(tl__name(s, launch), "GraphLaunch") != NULL;
}

static tl_time known(tl_time dur)
{
	return dur == TL_TIME_NONE ? 0 : dur;
}

/*
 * Exactly one half of the arrow of this correlation is there. Kernels of a graph never have whole
 * arrows, and a file without any arrows was written so: neither is worth a word.
 */
static bool has_half_flow(const tl_linker *l, size_t *at, tl_row gpu)
{
	const tl_store *s = l->b->store;
	uint32_t source = tl__source_of(s, gpu);
	tl_id id = correlation_of(s, gpu);
	size_t i = *at;
	while (i < l->n_flows) {
		uint32_t flow_source = tl__source_of(s, l->flows[i]);
		if (flow_source > source || (flow_source == source && s->flows.v[s->side[l->flows[i]]].id >= id))
			break;
		i++;
	}
	*at = i;
	bool begin = false, finish = false;
	for (; i < l->n_flows && !(begin && finish); i++) {
		const tl_flow_args *flow = &s->flows.v[s->side[l->flows[i]]];
		if (tl__source_of(s, l->flows[i]) != source || flow->id != id)
			break;
		begin |= flow->phase == 's';
		finish |= flow->phase == 'f';
	}
	return begin != finish;
}

/* All GPU events v[0, n) and launches u[0, m) of one correlation id. */
static int link_group(tl_linker *l, const tl_row *u, size_t m, const tl_row *v, size_t n, size_t *flow)
{
	const tl_store *s = l->b->store;
	tl_health *health = &l->b->tree->health;
	bool duplicate = false, half = n && m && !is_graph_launch(s, u[0]) && has_half_flow(l, flow, v[0]);
	for (size_t i = 1; i < m; i++)
		duplicate |= tl__rank_of(l, u[i]) == tl__rank_of(l, u[i - 1]);
	if (duplicate)
		tl__health_add(health, TL_HEALTH_DUPLICATE_LAUNCH, -1, u[0], 0, tl__name(s, u[0]));
	for (size_t i = 0; i < n; i++) {
		tl_row launch;
		switch (tl__pick_launch(l, u, m, v[i], &launch)) {
		case TL_LINK_DONE:
			tl__link(l, v[i], launch);
			if (half)
				tl__health_add(health, TL_HEALTH_LINKED_WITHOUT_FLOW, -1, v[i], known(s->dur[v[i]]),
					       tl__name(s, v[i]));
			break;
		case TL_LINK_AMBIGUOUS:
			TL_TRY(TL_VEC_PUSH(&l->ambiguous, v[i]));
			break;
		case TL_LINK_NONE:
			TL_TRY(TL_VEC_PUSH(&l->unmatched, v[i]));
			break;
		}
	}
	return 0;
}

static int join(tl_linker *l, const tl_row *launches, size_t n_launches, const tl_row *gpu, size_t n_gpu)
{
	const tl_store *s = l->b->store;
	size_t flow = 0;
	for (size_t i = 0, j = 0; i < n_gpu;) {
		size_t i_end = i + 1, j_end;
		while (i_end < n_gpu && key_compare(s, gpu[i_end], gpu[i]) == 0)
			i_end++;
		while (j < n_launches && key_compare(s, launches[j], gpu[i]) < 0)
			j++;
		for (j_end = j; j_end < n_launches && key_compare(s, launches[j_end], gpu[i]) == 0;)
			j_end++;
		TL_TRY(link_group(l, launches + j, j_end - j, gpu + i, i_end - i, &flow));
		i = i_end;
		j = j_end;
	}
	return 0;
}

typedef TL_VEC(tl_row) row_vec;

static int link_by_correlation(tl_linker *l, row_vec *launches, row_vec *gpu, row_vec *flows)
{
	const tl_store *s = l->b->store;
	const tl_tree *tree = l->b->tree;
	for (tl_row row = 0; row < s->n; row++) {
		uint8_t kind = s->kind[row];
		if (tl__kind_is_gpu(kind))
			TL_TRY(correlation_of(s, row) == TL_ID_NONE ? TL_VEC_PUSH(&l->unmatched, row)
								    : TL_VEC_PUSH(gpu, row));
		else if (kind == TL_KIND_RUNTIME && tree->pos_of_row[row] != TL_POS_NONE &&
			 correlation_of(s, row) != TL_ID_NONE)
			TL_TRY(TL_VEC_PUSH(launches, row));
		else if (kind == TL_KIND_FLOW && s->side[row] != UINT32_MAX &&
			 s->flows.v[s->side[row]].id != TL_ID_NONE)
			TL_TRY(TL_VEC_PUSH(flows, row));
	}
	l->b->tree->gpu = tl__malloc((gpu->n + l->unmatched.n + 1) * sizeof(tl_row));
	if (!l->b->tree->gpu)
		return TL_ENOMEM;
	TL_TRY(tl__sort(launches->v, launches->n, launch_less, l));
	TL_TRY(tl__sort(gpu->v, gpu->n, gpu_less, s));
	TL_TRY(tl__sort(flows->v, flows->n, tl__flow_less, s));
	l->flows = flows->v;
	l->n_flows = flows->n;
	return join(l, launches->v, launches->n, gpu->v, gpu->n);
}

/* ---- the rest ---- */

static bool row_less(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return a < b;
}

static bool linked_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_tree *t = ctx;
	tl_pos pa = t->pos_of_row[a], pb = t->pos_of_row[b];
	return pa != pb ? pa < pb : tl__starts_before(t->store, a, b);
}

static int keep_unlinked(tl_linker *l)
{
	tl_tree *tree = l->b->tree;
	const tl_store *s = l->b->store;
	for (size_t i = 0; i < l->unmatched.n; i++) {
		tl_row row = l->unmatched.v[i];
		tl__health_add(&tree->health, TL_HEALTH_NO_LAUNCH, -1, row, known(s->dur[row]), tl__name(s, row));
	}
	for (size_t i = 0; i < l->ambiguous.n; i++) {
		tl_row row = l->ambiguous.v[i];
		tl__health_add(&tree->health, TL_HEALTH_AMBIGUOUS_RANKS, -1, row, known(s->dur[row]), tl__name(s, row));
	}
	size_t n = l->unmatched.n + l->ambiguous.n;
	tree->unlinked = tl__malloc((n + 1) * sizeof *tree->unlinked);
	if (!tree->unlinked)
		return TL_ENOMEM;
	if (l->unmatched.n)
		memcpy(tree->unlinked, l->unmatched.v, l->unmatched.n * sizeof(tl_row));
	if (l->ambiguous.n)
		memcpy(tree->unlinked + l->unmatched.n, l->ambiguous.v, l->ambiguous.n * sizeof(tl_row));
	tree->n_unlinked = n;
	for (size_t i = 0; i < n; i++)
		tree->unlinked_time += known(s->dur[tree->unlinked[i]]);
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
		tl__health_add(health, TL_HEALTH_KERNEL_BEFORE_LAUNCH, -1, row, known(s->dur[row]), NULL);
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
	row_vec launches = {0}, gpu = {0}, flows = {0};
	int code = find_ranks(&l);
	if (!code)
		code = link_by_correlation(&l, &launches, &gpu, &flows);
	TL_VEC_FREE(&launches);
	TL_VEC_FREE(&gpu);
	if (!code)
		code = tl__sort(b->tree->gpu, b->tree->n_gpu, linked_less, b->tree);
	if (!code && l.unmatched.n) {
		code = tl__link_without_correlation(&l);
		if (!code)
			code = tl__sort(b->tree->gpu, b->tree->n_gpu, linked_less, b->tree);
	}
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
