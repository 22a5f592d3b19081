/* SPDX-License-Identifier: MIT */
/* What of a comparison the columns of a report need. */
#include "compare/inline_diff.h"

#include <string.h>

typedef struct maker {
	tl_inline_diff *out;
	const tl_diff_rows *rows;
	tl_map known; /* of argument texts of trace2: their ids */
	tl_buf buf;
} maker;

/* The pool of trace2 goes with it. */
static int keep_argument(tl_str *out, maker *m, tl_str id)
{
	const tl_strings *pool = m->rows->diff->tree[1]->store->strings;
	*out = TL_STR_NONE;
	if (id == TL_STR_NONE)
		return 0;
	*out = tl__map_get(&m->known, id);
	if (*out != TL_MAP_NONE)
		return 0;
	*out = tl__intern(m->out->strings, tl__str(pool, id), tl__str_len(pool, id));
	return *out == TL_STR_FAIL ? TL_ENOMEM : tl__map_set(&m->known, id, *out);
}

static int keep_other(maker *m, tl_inline_group *group, const tl_diff_gpu *g)
{
	tl_inline_other other = {.op = g->op, .kernel = g->name, .time = tl__diff_gpu_time(m->rows, g)};
	for (size_t i = 0; i < 4; i++)
		TL_TRY(keep_argument(&other.args[i], m, g->args[i]));
	/* an ancestor mostly has one operation below it; where there are several, their events come in turns */
	tl_inline_other *last = group->n_others ? &m->out->others.v[m->out->others.n - 1] : NULL;
	if (last && last->op == other.op && !memcmp(last->args, other.args, sizeof other.args)) {
		last->time += other.time;
		return 0;
	}
	group->n_others++;
	return TL_VEC_PUSH(&m->out->others, other);
}

static int add_event(maker *m, tl_inline_group *group, const tl_diff_gpu *g)
{
	if (g->side == 0) {
		group->n++;
		return TL_VEC_PUSH(&m->out->events, ((tl_inline_event){g->row, g->op_row, g->op}));
	}
	group->n2++;
	group->time2 += tl__diff_gpu_time(m->rows, g);
	return group->n && !group->apart ? 0 : keep_other(m, group, g);
}

static bool is_frame(const tl_diff *d, const tl_diff_node *node)
{
	return node->baseline != TL_ROW_NONE && node->variant != TL_ROW_NONE &&
	       d->tree[0]->store->kind[node->baseline] == TL_KIND_PYTHON;
}

static int new_group(maker *m, const tl_diff_gpu *g)
{
	tl_inline_group group = {.node = g->group,
				 .common = g->ancestor != TL_STR_NONE,
				 .unlinked = m->rows->diff->node[g->group].unlinked,
				 .apart = is_frame(m->rows->diff, &m->rows->diff->node[g->group]),
				 .first = m->out->events.n,
				 .first_other = m->out->others.n};
	TL_TRY(tl__diff_group_name(&group.name, m->rows, g, &m->buf));
	return TL_VEC_PUSH(&m->out->groups, group);
}

/* Events come by group, within it those of trace1 first. */
static int add_groups(maker *m)
{
	const tl_diff_rows *r = m->rows;
	for (size_t i = 0; i < r->n; i++) {
		if (i == 0 || r->v[i].group != r->v[i - 1].group)
			TL_TRY(new_group(m, &r->v[i]));
		TL_TRY(add_event(m, &m->out->groups.v[m->out->groups.n - 1], &r->v[i]));
	}
	return 0;
}

int tl__inline_diff_new(tl_inline_diff *out, const tl_diff_rows *rows, tl_error *err)
{
	*out = (tl_inline_diff){.strings = tl__strings_ref(rows->strings)};
	maker m = {.out = out, .rows = rows};
	int code = add_groups(&m);
	tl__map_free(&m.known);
	tl__buf_free(&m.buf);
	if (code < 0) {
		tl__inline_diff_free(out);
		return tl__nomem(err);
	}
	return 0;
}

tl_inline_totals tl__inline_diff_totals(const tl_inline_diff *diff, const tl_store *store, bool include_unlinked)
{
	tl_inline_totals out = {0};
	for (size_t i = 0; i < diff->groups.n; i++) {
		const tl_inline_group *group = &diff->groups.v[i];
		bool left_out = group->unlinked && !include_unlinked;
		size_t *events = left_out ? out.left_out : out.events;
		tl_time *time = left_out ? out.time_left_out : out.time;
		for (size_t k = 0; k < group->n; k++)
			time[0] += tl__known_dur(store, diff->events.v[group->first + k].row);
		events[0] += group->n;
		events[1] += group->n2;
		time[1] += group->time2;
	}
	return out;
}

void tl__inline_diff_free(tl_inline_diff *diff)
{
	tl__strings_unref(diff->strings);
	TL_VEC_FREE(&diff->groups);
	TL_VEC_FREE(&diff->events);
	TL_VEC_FREE(&diff->others);
	*diff = (tl_inline_diff){0};
}
