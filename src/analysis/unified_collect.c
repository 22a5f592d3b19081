/* SPDX-License-Identifier: MIT */
#include "analysis/unified_collect.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/metrics.h"
#include "tree/navigate.h"

/* What is known of a node before the walk; computed for all nodes in one pass from the last to the first. */
enum node_flags {
	NODE_MODELLED = 1, /* has a usable model */
	NODE_MODELLED_BELOW =
		2,         /* an operation with model and GPU work is below, through operations and Python frames */
	NODE_LAUNCHES = 4, /* of an operation: launches GPU work itself */
	NODE_COVERED = 8,  /* of a GPU event: some collected operation stands for it */
	NODE_FORWARD_LINKED = 16, /* is an autograd node with a known forward operation */
};

/* Launches count as direct through at most so many levels of runtime calls and Python frames. */
enum { MAX_LAUNCH_LEVELS = 10 };
/* The autograd node is looked for so many levels up. */
enum { MAX_AUTOGRAD_LEVELS = 5 };

/* An operation with GPU work, where its name can be found. */
typedef struct named {
	tl_str name;
	tl_pos chain; /* topmost operation that reaches it through operations alone */
	tl_pos pos;
} named;

typedef struct collector {
	tl_analyzer *a;
	const tl_tree *tree;
	const tl_store *store;
	tl_unified_events *out;
	bool include_communication;
	size_t driver;           /* category of calls of the driver; SIZE_MAX: there are none */
	uint8_t *flags;          /* of each node */
	uint8_t *levels;         /* of each runtime call or frame: levels down to its nearest GPU event, 0: too far */
	uint32_t *communication; /* number of communication kernels among the first i of tree->gpu */
	TL_VEC(named) named;     /* sorted; made when the first backward operation asks */
	tl_pos *chain;
} collector;

static uint8_t kind_of(const collector *c, tl_pos pos)
{
	return c->store->kind[c->tree->row[pos]];
}

/* ---- one pass bottom up ---- */

static size_t find_driver(const tl_store *s)
{
	for (size_t i = 0; i < s->categories.n; i++)
		if (s->categories.v[i] != TL_STR_NONE &&
		    !strcmp(tl__str(s->strings, s->categories.v[i]), "cuda_driver"))
			return i;
	return SIZE_MAX;
}

/*
 * Whether what is launched below a node counts as launched by the one above: through operations it does not, and
 * through calls of the driver (cuLaunchKernel) neither, as in the reference: their kernels get rows of their own when
 * no model stands for them.
 */
static bool passes_launches_up(const collector *c, tl_pos pos)
{
	return kind_of(c, pos) != TL_KIND_CPU_OP && c->store->category[c->tree->row[pos]] != c->driver;
}

/* A name pattern is usable when the arguments say what it needs; an exact name always is (spec 02 section 3). */
static int has_usable_model(const collector *c, tl_row event, bool *out)
{
	const tl_perf_model *model;
	bool pattern;

	*out = false;
	TL_TRY(tl__perf_model_at(c->a, event, &model, &pattern));
	if (model && pattern) {
		tl_metrics metrics;
		TL_TRY(tl__metrics_of(c->a, event, false, &metrics, NULL, NULL));
		*out = metrics.status != TL_PERF_NOT_MODELLED;
	} else {
		*out = model != NULL;
	}
	return 0;
}

/* Tells the parent what lies below; children come before their parents, because positions grow downwards. */
static int flag_node(collector *c, tl_pos pos)
{
	const tl_tree *t = c->tree;
	uint8_t kind = kind_of(c, pos);
	tl_pos parent = t->parent[pos];
	bool modelled = false;

	if (tl__kind_is_gpu(kind)) {
		if (parent != TL_POS_NONE)
			c->levels[parent] = 1;
		return 0;
	}
	bool host = kind == TL_KIND_CPU_OP || kind == TL_KIND_PYTHON;
	bool works = tl__tree_gpu_count(t, pos) > 0;
	if (works)
		TL_TRY(has_usable_model(c, t->row[pos], &modelled));
	if (modelled)
		c->flags[pos] |= NODE_MODELLED;
	if (c->levels[pos])
		c->flags[pos] |= NODE_LAUNCHES;
	if (parent == TL_POS_NONE)
		return 0;
	if (host && ((modelled && kind == TL_KIND_CPU_OP) || (c->flags[pos] & NODE_MODELLED_BELOW)))
		c->flags[parent] |= NODE_MODELLED_BELOW;
	if (c->levels[pos] && c->levels[pos] <= MAX_LAUNCH_LEVELS && passes_launches_up(c, pos)) {
		uint8_t up = (uint8_t)(c->levels[pos] + 1);
		if (!c->levels[parent] || up < c->levels[parent])
			c->levels[parent] = up;
	}
	return 0;
}

static int prepare(collector *c)
{
	const tl_tree *t = c->tree;

	c->flags = tl__calloc(t->n + 1, 1);
	c->levels = tl__calloc(t->n + 1, 1);
	c->communication = tl__malloc((t->n_gpu + 1) * sizeof *c->communication);
	if (!c->flags || !c->levels || !c->communication)
		return TL_ENOMEM;
	c->driver = find_driver(c->store);
	for (size_t pos = t->n; pos-- > 0;)
		TL_TRY(flag_node(c, (tl_pos)pos));
	for (size_t i = 0; i < t->n_links; i++) {
		tl_pos pos = t->pos_of_row[t->links[i].backward];
		if (pos != TL_POS_NONE)
			c->flags[pos] |= NODE_FORWARD_LINKED;
	}
	c->communication[0] = 0;
	for (size_t i = 0; i < t->n_gpu; i++)
		c->communication[i + 1] = c->communication[i] + tl__analyzer_is_communication(c->a, t->gpu[i]);
	return 0;
}

/* ---- sole backward operations (spec 02 section 5.2) ---- */

static int compare_named(const void *x, const void *y)
{
	const named *p = x, *q = y;
	if (p->name != q->name)
		return p->name < q->name ? -1 : 1;
	if (p->chain != q->chain)
		return p->chain < q->chain ? -1 : 1;
	return (p->pos > q->pos) - (p->pos < q->pos);
}

static int index_names(collector *c)
{
	const tl_tree *t = c->tree;
	c->chain = tl__malloc((t->n + 1) * sizeof *c->chain);
	if (!c->chain)
		return TL_ENOMEM;
	for (tl_pos pos = 0; pos < t->n; pos++) {
		tl_pos parent = t->parent[pos];
		bool joined = parent != TL_POS_NONE && kind_of(c, parent) == TL_KIND_CPU_OP;
		c->chain[pos] = joined ? c->chain[parent] : pos;
		if (kind_of(c, pos) == TL_KIND_CPU_OP && tl__tree_gpu_count(t, pos))
			TL_TRY(TL_VEC_PUSH(&c->named, ((named){c->store->name[t->row[pos]], c->chain[pos], pos})));
	}
	qsort(c->named.v, c->named.n, sizeof *c->named.v, compare_named);
	return 0;
}

/* Whether `pos` is the only operation of its name below `wrapper`, counted through operations alone. */
static int is_only_of_name(collector *c, tl_pos wrapper, tl_pos pos, bool *out)
{
	named key = {c->store->name[c->tree->row[pos]], 0, wrapper + 1};
	size_t low = 0, high;

	if (!c->chain)
		TL_TRY(index_names(c));
	key.chain = c->chain[wrapper];
	for (high = c->named.n; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (compare_named(&c->named.v[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	const named *found = c->named.v + low, *last = c->named.v + c->named.n;
	*out = found < last && found->pos == pos && found->name == key.name && found->chain == key.chain &&
	       (found + 1 == last || found[1].name != key.name || found[1].chain != key.chain ||
		found[1].pos >= c->tree->end[wrapper]);
	return 0;
}

/* Whether `pos` is the only operation with GPU work below `wrapper`, counted through operations alone. */
static bool is_only_one(const collector *c, tl_pos wrapper, tl_pos pos)
{
	size_t found = 0;
	for (tl_pos at = wrapper + 1; at < c->tree->end[wrapper];) {
		bool works = kind_of(c, at) == TL_KIND_CPU_OP && tl__tree_gpu_count(c->tree, at);
		if (works && (at != pos || ++found > 1))
			return false;
		at = works ? at + 1 : c->tree->end[at];
	}
	return found == 1;
}

/* "evaluate_function: ConvolutionBackward0" runs the operation named behind the colon. */
static int is_sole_below(collector *c, tl_pos wrapper, tl_pos pos, bool *out)
{
	const char *main_name = strstr(tl__name(c->store, c->tree->row[wrapper]), ": ");

	*out = false;
	if (kind_of(c, wrapper) != TL_KIND_CPU_OP)
		return 0;
	if (!main_name) {
		*out = is_only_one(c, wrapper, pos);
		return 0;
	}
	if (strcmp(main_name + 2, tl__name(c->store, c->tree->row[pos])) != 0)
		return 0;
	return is_only_of_name(c, wrapper, pos, out);
}

/* Sets *forward when the operation is all of the backward pass of an operation whose model knows that pass. */
static int sole_backward(collector *c, tl_pos pos, tl_row *forward)
{
	tl_pos wrapper = pos;
	tl_metrics metrics;
	bool sole;

	*forward = TL_ROW_NONE;
	for (int up = 0; up < MAX_AUTOGRAD_LEVELS; up++) {
		wrapper = c->tree->parent[wrapper];
		if (wrapper == TL_POS_NONE)
			return 0;
		if (c->flags[wrapper] & NODE_FORWARD_LINKED)
			break;
	}
	if (!(c->flags[wrapper] & NODE_FORWARD_LINKED))
		return 0;
	tl_row event = tl__tree_forward_of(c->tree, c->tree->row[wrapper]);
	const tl_perf_model *model = NULL;
	bool pattern = false;
	if (event != TL_ROW_NONE)
		TL_TRY(tl__perf_model_at(c->a, event, &model, &pattern));
	if (!model || pattern || !model->bwd_category)
		return 0;
	TL_TRY(is_sole_below(c, wrapper, pos, &sole));
	if (!sole)
		return 0;
	TL_TRY(tl__metrics_of(c->a, event, true, &metrics, NULL, NULL));
	if (metrics.status == TL_PERF_OK)
		*forward = event;
	return 0;
}

/* ---- the walk ---- */

static int collect(collector *c, tl_pos pos, tl_row forward)
{
	const tl_tree *t = c->tree;
	tl_unified_event event = {.event = t->row[pos],
				  .gpu = TL_ROW_NONE,
				  .forward = forward,
				  .modelled = (c->flags[pos] & NODE_MODELLED) != 0};
	const tl_row *gpu = tl__tree_gpu_rows(t, pos);
	for (size_t i = 0; i < tl__tree_gpu_count(t, pos); i++)
		c->flags[t->pos_of_row[gpu[i]]] |= NODE_COVERED;
	return TL_VEC_PUSH(c->out, event);
}

/* An operation with communication below it. */
static bool is_left_out(const collector *c, tl_pos pos)
{
	const uint32_t *before = c->tree->gpu_before;
	return !c->include_communication &&
	       c->communication[before[c->tree->end[pos]]] != c->communication[before[pos]];
}

/* Visits a node with GPU work; *deeper tells whether its children are visited. */
static int visit(collector *c, tl_pos pos, bool *deeper)
{
	uint8_t flags = c->flags[pos], kind = kind_of(c, pos);
	tl_row forward = TL_ROW_NONE;

	*deeper = false;
	if (flags & NODE_MODELLED)
		return collect(c, pos, TL_ROW_NONE);
	if (flags & NODE_MODELLED_BELOW) { /* takes precedence over being a sole backward operation, too */
		*deeper = true;
		return 0;
	}
	if (kind == TL_KIND_CPU_OP && c->tree->n_links)
		TL_TRY(sole_backward(c, pos, &forward));
	if (forward != TL_ROW_NONE)
		return collect(c, pos, forward);
	if (kind == TL_KIND_CPU_OP && (flags & NODE_LAUNCHES))
		return is_left_out(c, pos) ? 0 : collect(c, pos, TL_ROW_NONE);
	*deeper = true;
	return 0;
}

/* Roots are outermost operations (and frames, when they are in the tree); what is above them is passed through. */
static int walk(collector *c)
{
	const tl_tree *t = c->tree;
	tl_pos root_end = 0;

	for (tl_pos pos = 0; pos < t->n;) {
		uint8_t kind = kind_of(c, pos);
		bool host = kind == TL_KIND_CPU_OP || (t->with_python && kind == TL_KIND_PYTHON);
		bool deeper = false;
		if (pos >= root_end && !host) {
			pos++;
			continue;
		}
		if (pos >= root_end)
			root_end = t->end[pos];
		bool eligible = !tl__kind_is_gpu(kind) && (t->with_python || kind == TL_KIND_CPU_OP);
		if (eligible && tl__tree_gpu_count(t, pos))
			TL_TRY(visit(c, pos, &deeper));
		pos = deeper ? pos + 1 : t->end[pos];
	}
	return 0;
}

/* ---- what is left ---- */

/* The rows for GPU events that nothing covers: those without (`below_op` false) or with an operation above. */
static int add_synthetic(collector *c, const tl_pos *above, bool below_op)
{
	const tl_tree *t = c->tree;

	for (size_t i = 0; i < t->n_gpu; i++) {
		tl_pos pos = t->pos_of_row[t->gpu[i]], op = above[pos];
		bool communicates = c->communication[i + 1] != c->communication[i];
		bool left = !(c->flags[pos] & NODE_COVERED) && (c->include_communication || !communicates);
		if (!left || t->parent[pos] == TL_POS_NONE || below_op != (op != TL_POS_NONE))
			continue;
		tl_unified_event event = {
			.event = t->row[below_op ? op : t->parent[pos]], .gpu = t->gpu[i], .forward = TL_ROW_NONE};
		TL_TRY(TL_VEC_PUSH(c->out, event));
	}
	return 0;
}

/*
 * Each GPU event that is left becomes a row of its own, copied from the nearest operation above it or from its
 * launch when there is none. GPU events of one launch are neighbours in the tree, so those without an operation
 * come launch by launch.
 */
static int add_orphans(collector *c)
{
	tl_pos *above = tl__nearest_above(c->tree, tl__is_operation);
	int code = above ? add_synthetic(c, above, false) : TL_ENOMEM;
	if (code == 0)
		code = add_synthetic(c, above, true);
	tl__free(above);
	return code;
}

static void free_collector(collector *c)
{
	tl__free(c->flags);
	tl__free(c->levels);
	tl__free(c->communication);
	tl__free(c->chain);
	TL_VEC_FREE(&c->named);
}

int tl__unified_collect(tl_unified_events *out, tl_analyzer *a, bool communication)
{
	collector c = {.a = a, .tree = a->tree, .store = a->store, .out = out, .include_communication = communication};
	int code = prepare(&c);
	if (code == 0)
		code = walk(&c);
	if (code == 0)
		code = add_orphans(&c);
	free_collector(&c);
	return code;
}

/* ---- events of the caller's choice ---- */

/* The operation above a GPU event, else its launch, else the event itself. */
static tl_row copied_event(const collector *c, const tl_pos *above, tl_row gpu)
{
	tl_pos pos = c->tree->pos_of_row[gpu];
	if (pos == TL_POS_NONE)
		return gpu;
	if (above[pos] != TL_POS_NONE)
		return c->tree->row[above[pos]];
	return c->tree->parent[pos] == TL_POS_NONE ? gpu : c->tree->row[c->tree->parent[pos]];
}

static int choose(collector *c, const tl_pos *above, tl_row row)
{
	tl_unified_event event = {.event = row, .gpu = TL_ROW_NONE, .forward = TL_ROW_NONE};
	tl_pos pos = c->tree->pos_of_row[row];

	if (tl__kind_is_gpu(c->store->kind[row])) {
		event.event = copied_event(c, above, row);
		event.gpu = row;
		return TL_VEC_PUSH(c->out, event);
	}
	TL_TRY(has_usable_model(c, row, &event.modelled));
	if (!event.modelled && pos != TL_POS_NONE && c->store->kind[row] == TL_KIND_CPU_OP && c->tree->n_links)
		TL_TRY(sole_backward(c, pos, &event.forward));
	return TL_VEC_PUSH(c->out, event);
}

int tl__unified_choose(tl_unified_events *out, tl_analyzer *a, const tl_row *events, size_t n)
{
	collector c = {.a = a, .tree = a->tree, .store = a->store, .out = out};
	int code = prepare(&c);
	tl_pos *above = code == 0 ? tl__nearest_above(c.tree, tl__is_operation) : NULL;

	if (code == 0 && !above)
		code = TL_ENOMEM;
	for (size_t i = 0; i < n && code == 0; i++)
		code = choose(&c, above, events[i]);
	tl__free(above);
	free_collector(&c);
	return code;
}
