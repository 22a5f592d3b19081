/* SPDX-License-Identifier: MIT */
/*
 * GPU events whose launch no correlation id names: flow arrows first, because they lead to one
 * call; then External ids, which several calls and operations may share.
 */
#include <string.h>
#include <strings.h>

#include "tree/launch.h"
#include "util/sort.h"

typedef TL_VEC(tl_row) row_vec;

static tl_id flow_id(const tl_store *s, tl_row row)
{
	return s->flows.v[s->side[row]].id;
}

/* ---- flow arrows ---- */

static bool arrowhead_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_store *s = ctx;
	return s->track[a] != s->track[b] ? s->track[a] < s->track[b] : tl__starts_before(s, a, b);
}

/* Index of the first of heads v[0, n) on `track` at or after `at`. */
static size_t head_lower_bound(const tl_store *s, const tl_row *v, size_t n, uint32_t track, tl_time at)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		tl_row row = v[mid];
		if (s->track[row] < track || (s->track[row] == track && tl__start_key(s, row) < at))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The arrowhead that points at a GPU event: at its start, or anywhere inside it. */
static tl_row head_at(const tl_store *s, const row_vec *heads, tl_row gpu)
{
	if (s->start[gpu] == TL_TIME_NONE)
		return TL_ROW_NONE;
	size_t i = head_lower_bound(s, heads->v, heads->n, s->track[gpu], s->start[gpu]);
	if (i >= heads->n || s->track[heads->v[i]] != s->track[gpu])
		return TL_ROW_NONE;
	tl_time at = tl__start_key(s, heads->v[i]);
	return at == s->start[gpu] || at < tl__span_end(s, gpu) ? heads->v[i] : TL_ROW_NONE;
}

/* The innermost runtime call on the track of an arrow's tail that is running, or starts, there. */
static tl_row call_at(const tl_build *b, tl_row tail)
{
	const tl_store *s = b->store;
	tl_time at = s->start[tail];
	if (s->track[tail] == UINT32_MAX || at == TL_TIME_NONE)
		return TL_ROW_NONE;
	size_t from = b->first[s->track[tail]], lo = from, hi = b->first[s->track[tail] + 1];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->start[b->order[mid]] <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == from)
		return TL_ROW_NONE;
	/* From the last event that began before the arrow; calls nest two or three deep at most. */
	uint32_t local = (uint32_t)lo - 1;
	for (int up = 0; local != TL_LOCAL_NONE && up < 64; up++, local = b->parent[local]) {
		tl_row row = b->order[local];
		if (s->kind[row] == TL_KIND_RUNTIME && (s->start[row] == at || at < tl__span_end(s, row)))
			return row;
	}
	return TL_ROW_NONE;
}

/*
 * The tail of an arrow, given its head: the half 's' of the same id. Ids are used again: then the
 * latest tail at or before the head is meant, of the head's rank.
 */
static tl_link_result tail_of(const tl_linker *l, const row_vec *tails, tl_row head, tl_row *out)
{
	const tl_store *s = l->b->store;
	uint32_t source = tl__source_of(s, head);
	size_t bound[2];
	for (int side = 0; side < 2; side++) {
		size_t lo = 0, hi = tails->n;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;
			tl_row row = tails->v[mid];
			uint32_t other = tl__source_of(s, row);
			tl_id id = flow_id(s, row), want = flow_id(s, head);
			if (other < source || (other == source && (id < want || (side && id == want))))
				lo = mid + 1;
			else
				hi = mid;
		}
		bound[side] = lo;
	}
	return bound[0] == bound[1] ? TL_LINK_NONE
				    : tl__pick_launch(l, tails->v + bound[0], bound[1] - bound[0], head, out);
}

static bool tail_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_linker *l = ctx;
	const tl_store *s = l->b->store;
	uint32_t sa = tl__source_of(s, a), sb = tl__source_of(s, b);
	if (sa != sb)
		return sa < sb;
	if (flow_id(s, a) != flow_id(s, b))
		return flow_id(s, a) < flow_id(s, b);
	uint32_t ra = tl__rank_of(l, a), rb = tl__rank_of(l, b);
	return ra != rb ? ra < rb : tl__starts_before(s, a, b);
}

static void note(const tl_linker *l, tl_health_kind kind, tl_row gpu)
{
	const tl_store *s = l->b->store;
	tl__health_add(&l->b->tree->health, kind, -1, gpu, s->dur[gpu], tl__name(s, gpu));
}

static int split_flows(const tl_linker *l, row_vec *heads, row_vec *tails)
{
	const tl_store *s = l->b->store;
	for (size_t i = 0; i < l->n_flows; i++) {
		char phase = s->flows.v[s->side[l->flows[i]]].phase;
		if (phase == 'f' || phase == 't')
			TL_TRY(TL_VEC_PUSH(heads, l->flows[i]));
		else if (phase == 's' && s->start[l->flows[i]] != TL_TIME_NONE)
			TL_TRY(TL_VEC_PUSH(tails, l->flows[i]));
	}
	TL_TRY(tl__sort(heads->v, heads->n, arrowhead_less, s));
	return tl__sort(tails->v, tails->n, tail_less, l);
}

/* Links what arrows lead to a call; the others stay in l->unmatched. */
static int link_by_flow(tl_linker *l, row_vec *heads, row_vec *tails)
{
	TL_TRY(split_flows(l, heads, tails));
	size_t kept = 0;
	for (size_t i = 0; i < l->unmatched.n; i++) {
		tl_row gpu = l->unmatched.v[i], head = head_at(l->b->store, heads, gpu), tail, launch = TL_ROW_NONE;
		tl_link_result result = head == TL_ROW_NONE ? TL_LINK_NONE : tail_of(l, tails, head, &tail);
		if (result == TL_LINK_DONE)
			launch = call_at(l->b, tail);
		if (result == TL_LINK_AMBIGUOUS) {
			TL_TRY(TL_VEC_PUSH(&l->ambiguous, gpu));
		} else if (launch == TL_ROW_NONE) {
			l->unmatched.v[kept++] = gpu;
		} else {
			tl__link(l, gpu, launch);
			note(l, TL_HEALTH_LINKED_BY_FLOW, gpu);
		}
	}
	l->unmatched.n = kept;
	return 0;
}

/* ---- External ids ---- */

/* What a host event with an External id can be to a GPU event, best first. */
typedef enum { ROLE_KERNEL_LAUNCH, ROLE_COPY, ROLE_SET, ROLE_OTHER_CALL, ROLE_OPERATION } tl_role;

static tl_role role_of(const tl_store *s, tl_row row)
{
	if (s->kind[row] != TL_KIND_RUNTIME)
		return ROLE_OPERATION;
	const char *name = tl__name(s, row);
	return strcasestr(name, "launch")   ? ROLE_KERNEL_LAUNCH
	       : strcasestr(name, "memcpy") ? ROLE_COPY
	       : strcasestr(name, "memset") ? ROLE_SET
					    : ROLE_OTHER_CALL;
}

static tl_id external_of(const tl_store *s, tl_row row)
{
	if (s->kind[row] == TL_KIND_CPU_OP) {
		const tl_op_args *op = tl__op_args(s, row);
		return op ? op->external : TL_ID_NONE;
	}
	const tl_link_args *link = tl__link_args(s, row);
	return link ? link->external : TL_ID_NONE;
}

/* 0 is what writers put where there is no operation. */
static bool is_external(tl_id id)
{
	return id != TL_ID_NONE && id != 0;
}

typedef struct {
	uint32_t source;
	tl_id external;
	tl_role role;
} tl_external_key;

static tl_external_key external_key(const tl_store *s, tl_row row)
{
	return (tl_external_key){tl__source_of(s, row), external_of(s, row), role_of(s, row)};
}

static int external_compare(tl_external_key a, tl_external_key b)
{
	if (a.source != b.source)
		return a.source < b.source ? -1 : 1;
	if (a.external != b.external)
		return a.external < b.external ? -1 : 1;
	return a.role == b.role ? 0 : a.role < b.role ? -1 : 1;
}

static bool external_less(const void *ctx, uint32_t a, uint32_t b)
{
	const tl_linker *l = ctx;
	const tl_store *s = l->b->store;
	int key = external_compare(external_key(s, a), external_key(s, b));
	if (key)
		return key < 0;
	uint32_t ra = tl__rank_of(l, a), rb = tl__rank_of(l, b);
	return ra != rb ? ra < rb : tl__starts_before(s, a, b);
}

/* Whether a correlation id has led GPU events to this call; tree->gpu is sorted by launch. */
static bool is_taken(const tl_build *b, size_t n_linked, tl_row launch)
{
	const tl_tree *t = b->tree;
	size_t lo = 0, hi = n_linked;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t->pos_of_row[t->gpu[mid]] < t->pos_of_row[launch])
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n_linked && t->pos_of_row[t->gpu[lo]] == t->pos_of_row[launch];
}

/* Host events that carry an id which some unmatched GPU event asks for. */
static int find_candidates(tl_linker *l, size_t n_linked, row_vec *out)
{
	const tl_build *b = l->b;
	const tl_store *s = b->store;
	tl_map wanted = {0};
	int code = 0;
	for (size_t i = 0; i < l->unmatched.n && !code; i++) {
		tl_id id = external_of(s, l->unmatched.v[i]);
		if (is_external(id))
			code = tl__map_set(&wanted, id, 1);
	}
	for (size_t i = 0; i < b->n_host && !code && wanted.n; i++) {
		tl_row row = b->order[i];
		tl_id id = external_of(s, row);
		if (is_external(id) && tl__map_get(&wanted, id) != TL_MAP_NONE &&
		    !(s->kind[row] == TL_KIND_RUNTIME && is_taken(b, n_linked, row)))
			code = TL_VEC_PUSH(out, row);
	}
	tl__map_free(&wanted);
	return code < 0 ? code : tl__sort(out->v, out->n, external_less, l);
}

static tl_link_result pick_by_role(const tl_linker *l, const row_vec *candidates, tl_row gpu, tl_role role, tl_row *out)
{
	const tl_store *s = l->b->store;
	tl_external_key key = {tl__source_of(s, gpu), external_of(s, gpu), role};
	size_t bound[2];
	for (int side = 0; side < 2; side++) {
		size_t lo = 0, hi = candidates->n;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;
			if (external_compare(external_key(s, candidates->v[mid]), key) < side)
				lo = mid + 1;
			else
				hi = mid;
		}
		bound[side] = lo;
	}
	return bound[0] == bound[1] ? TL_LINK_NONE
				    : tl__pick_launch(l, candidates->v + bound[0], bound[1] - bound[0], gpu, out);
}

static tl_link_result pick_by_external(const tl_linker *l, const row_vec *candidates, tl_row gpu, tl_row *out)
{
	const tl_store *s = l->b->store;
	const tl_link_args *args = tl__link_args(s, gpu);
	if (!args || !is_external(args->external))
		return TL_LINK_NONE;
	tl_role first = s->kind[gpu] == TL_KIND_KERNEL   ? ROLE_KERNEL_LAUNCH
			: s->kind[gpu] == TL_KIND_MEMCPY ? ROLE_COPY
							 : ROLE_SET;
	/* Some writers put the correlation id in this place: then it does not name an operation. */
	tl_role roles[3] = {first, ROLE_OTHER_CALL, ROLE_OPERATION};
	int n = args->external == args->correlation ? 2 : 3;
	for (int i = 0; i < n; i++) {
		tl_link_result result = pick_by_role(l, candidates, gpu, roles[i], out);
		if (result != TL_LINK_NONE)
			return result;
	}
	return TL_LINK_NONE;
}

static int link_by_external(tl_linker *l, size_t n_linked, row_vec *candidates)
{
	TL_TRY(find_candidates(l, n_linked, candidates));
	size_t kept = 0;
	for (size_t i = 0; i < l->unmatched.n; i++) {
		tl_row gpu = l->unmatched.v[i], launch;
		switch (pick_by_external(l, candidates, gpu, &launch)) {
		case TL_LINK_DONE:
			tl__link(l, gpu, launch);
			note(l, TL_HEALTH_LINKED_BY_EXTERNAL_ID, gpu);
			break;
		case TL_LINK_AMBIGUOUS:
			TL_TRY(TL_VEC_PUSH(&l->ambiguous, gpu));
			break;
		case TL_LINK_NONE:
			l->unmatched.v[kept++] = gpu;
			break;
		}
	}
	l->unmatched.n = kept;
	return 0;
}

int tl__link_without_correlation(tl_linker *l)
{
	size_t n_linked = l->b->tree->n_gpu;
	row_vec heads = {0}, tails = {0}, candidates = {0};
	int code = link_by_flow(l, &heads, &tails);
	if (!code)
		code = link_by_external(l, n_linked, &candidates);
	TL_VEC_FREE(&heads);
	TL_VEC_FREE(&tails);
	TL_VEC_FREE(&candidates);
	return code;
}
