/* SPDX-License-Identifier: MIT */
#include "analysis/perf_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/annotations.h"
#include "analysis/order.h"
#include "perf/annotation.h"
#include "perf/triton_cache.h"
#include "util/sort.h"

typedef TL_VEC(tl_row) rows;

enum { READS_ANY_ANNOTATION = TL_READS_ANNOTATION | TL_READS_STEP };

/* Index into `models` plus 2; small numbers mean something else. */
enum { NOT_LOOKED_UP, NO_MODEL, FIRST_MODEL };

typedef struct link_at {
	tl_pos forward;
	tl_row backward;
} link_at;

struct tl_perf_cache {
	/* results: open addressing, power of two */
	tl_perf_entry **slots;
	size_t mask, n;
	TL_VEC(uint32_t) key; /* of the input at hand */
	uint32_t tables;

	/* models */
	uint16_t *model_of; /* by name id */
	size_t n_names;
	TL_VEC(const tl_perf_model *) models; /* exact names first */
	size_t n_exact;

	/* events of each sheet family */
	const char *const *sheets;
	size_t n_sheets;
	uint32_t *family_start; /* n_sheets + 1; NULL: not made yet */
	tl_row *family_rows;

	link_at *links; /* sorted by position of the forward event */
	size_t n_links;
	bool has_links;

	tl_annotations annotations, steps; /* all, and those of iterations of a serving framework */

	rows forward, backward; /* what tl__perf_gpu_events returned last */
};

/* ---- models by name ---- */

static int fill_models(tl_analyzer *a, struct tl_perf_cache *c)
{
	size_t n;
	const tl_perf_model *models = tl__perf_models(&n);
	const tl_models *more = &a->models;

	c->n_names = tl__strings_count(a->strings);
	c->model_of = tl__calloc(c->n_names + 1, sizeof *c->model_of);
	c->mask = 255;
	c->slots = tl__calloc(c->mask + 1, sizeof(*c->slots));
	if (!c->model_of || !c->slots)
		return TL_ENOMEM;
	/* registered models last, so that they replace built-in ones of their name */
	for (size_t i = 0; i < n + more->models.n; i++) {
		const tl_perf_model *model = i < n ? &models[i] : &more->models.v[i - n].model;
		tl_str id = tl__strings_find(a->strings, model->name, strlen(model->name));
		TL_TRY(TL_VEC_PUSH(&c->models, model));
		if (id != TL_STR_NONE && id < c->n_names)
			c->model_of[id] = (uint16_t)(i + FIRST_MODEL);
	}
	c->n_exact = n + more->models.n;
	c->sheets = tl__models_sheets(more, &c->n_sheets);
	return 0;
}

static int cache_of(tl_analyzer *a, struct tl_perf_cache **out)
{
	if (!a->perf) {
		struct tl_perf_cache *c = tl__calloc(1, sizeof *c);
		if (!c)
			return TL_ENOMEM;
		if (fill_models(a, c) < 0) {
			tl__perf_cache_free(c);
			return TL_ENOMEM;
		}
		a->perf = c;
	}
	*out = a->perf;
	return 0;
}

void tl__perf_cache_free(struct tl_perf_cache *c)
{
	if (!c)
		return;
	TL_VEC_FREE(&c->key);
	TL_VEC_FREE(&c->models);
	TL_VEC_FREE(&c->forward);
	TL_VEC_FREE(&c->backward);
	tl__free(c->slots);
	tl__free(c->model_of);
	tl__free(c->family_start);
	tl__free(c->family_rows);
	tl__free(c->links);
	tl__annotations_free(&c->annotations);
	tl__annotations_free(&c->steps);
	tl__free(c);
}

/* Names that are no exact model are looked up once; patterns share few models. */
static int look_up(tl_analyzer *a, struct tl_perf_cache *c, tl_str name)
{
	const tl_perf_model *model =
		tl__models_find(&a->models, tl__str(a->strings, name), tl__str_len(a->strings, name));
	size_t at = c->n_exact;

	if (!model) {
		c->model_of[name] = NO_MODEL;
		return 0;
	}
	while (at < c->models.n && c->models.v[at] != model)
		at++;
	if (at == c->models.n)
		TL_TRY(TL_VEC_PUSH(&c->models, model));
	c->model_of[name] = (uint16_t)(at + FIRST_MODEL);
	return 0;
}

/*
 * The model of an operation: exact name or name pattern. Sets *pattern (may be NULL) for the latter. *out
 * is NULL when there is none. TL_ENOMEM.
 */
static int model_of(tl_analyzer *a, tl_str name, const tl_perf_model **out, bool *pattern)
{
	struct tl_perf_cache *c;
	TL_TRY(cache_of(a, &c));
	bool is_pattern = false;

	*out = NULL;
	if (name == TL_STR_NONE) {
		;
	} else if (name >= c->n_names) { /* a name made after the trace was read: too rare to remember */
		const char *text = tl__str(a->strings, name);
		*out = tl__models_find(&a->models, text, tl__str_len(a->strings, name));
		is_pattern = *out && !tl__models_exact(&a->models, text, tl__str_len(a->strings, name));
	} else {
		if (c->model_of[name] == NOT_LOOKED_UP)
			TL_TRY(look_up(a, c, name));
		if (c->model_of[name] >= FIRST_MODEL) {
			size_t at = (size_t)c->model_of[name] - FIRST_MODEL;
			*out = c->models.v[at];
			is_pattern = at >= c->n_exact;
		}
	}
	if (pattern)
		*pattern = is_pattern;
	return 0;
}

static bool is_step(const char *name)
{
	tl_annotation step;
	return tl__annotation_read(&step, name);
}

int tl__perf_model_at(tl_analyzer *a, tl_row event, const tl_perf_model **out, bool *pattern)
{
	struct tl_perf_cache *c;
	TL_TRY(cache_of(a, &c));
	TL_TRY(model_of(a, a->store->name[event], out, pattern));
	const tl_perf_model *other = *out ? tl__perf_model_outside_steps(*out) : NULL;
	if (!other)
		return 0;
	TL_TRY(tl__annotations_make(&c->steps, a->store, is_step));
	if (tl__annotations_enclosing(&c->steps, a->store, event) == TL_ROW_NONE)
		*out = other;
	return 0;
}

int tl__perf_category_at(tl_analyzer *a, tl_row event, tl_str name, tl_str first_kernel, tl_str *out)
{
	const tl_perf_model *of_name, *at_event;
	*out = tl__analyzer_category_id(a, name, first_kernel);
	if (*out == TL_STR_FAIL)
		return TL_ENOMEM;
	if (name != a->store->name[event]) /* a synthetic row: named otherwise */
		return 0;
	TL_TRY(model_of(a, name, &of_name, NULL));
	if (!of_name || !tl__perf_model_outside_steps(of_name))
		return 0;
	TL_TRY(tl__perf_model_at(a, event, &at_event, NULL));
	/* a category that was set for the name stays */
	if (of_name == at_event || strcmp(tl__str(a->strings, *out), of_name->category) != 0)
		return 0;
	*out = tl__interns(a->strings, at_event->category);
	return *out == TL_STR_FAIL ? TL_ENOMEM : 0;
}

/* ---- families ---- */

/* Families of names, plus 1: 0 is none. */
typedef struct families {
	uint8_t *of_name;
	uint8_t *outside_steps; /* the same as of_name for all but a few */
	uint32_t *start;
} families;

static uint8_t family_of_sheet(const struct tl_perf_cache *c, const char *sheet)
{
	uint8_t family = 0;
	for (size_t f = 0; sheet && f < c->n_sheets; f++)
		if (!strcmp(sheet, c->sheets[f]))
			family = (uint8_t)(f + 1);
	return family;
}

static int name_families(const tl_analyzer *a, struct tl_perf_cache *c, families *f)
{
	for (size_t id = 0; id < c->n_names; id++) {
		if (c->model_of[id] < FIRST_MODEL || c->model_of[id] - FIRST_MODEL >= (int)c->n_exact)
			continue;
		const tl_perf_model *model = c->models.v[c->model_of[id] - FIRST_MODEL];
		const tl_perf_model *other = tl__perf_model_outside_steps(model);
		f->of_name[id] = f->outside_steps[id] = family_of_sheet(c, model->sheet);
		if (!other)
			continue;
		f->outside_steps[id] = family_of_sheet(c, other->sheet);
		TL_TRY(tl__annotations_make(&c->steps, a->store, is_step));
	}
	return 0;
}

static uint8_t family_of_row(const tl_store *s, const struct tl_perf_cache *c, const families *f, tl_row row)
{
	tl_str name = s->name[row];
	if (name >= c->n_names)
		return 0;
	if (f->of_name[name] == f->outside_steps[name])
		return f->of_name[name];
	bool in_step = tl__annotations_enclosing(&c->steps, s, row) != TL_ROW_NONE;
	return in_step ? f->of_name[name] : f->outside_steps[name];
}

/* Counting sort: start[f + 1] counts family f, then becomes where it begins, then where it ends. */
static int sort_families(const tl_analyzer *a, struct tl_perf_cache *c, families *f)
{
	const tl_store *s = a->store;
	size_t total = 0;
	TL_TRY(name_families(a, c, f));
	for (size_t row = 0; row < s->n; row++) {
		uint8_t family = family_of_row(s, c, f, (tl_row)row);
		if (family)
			f->start[family + 1]++, total++;
	}
	for (size_t i = 1; i <= c->n_sheets; i++)
		f->start[i + 1] += f->start[i];
	c->family_rows = tl__malloc((total + 1) * sizeof *c->family_rows);
	if (!c->family_rows)
		return TL_ENOMEM;
	for (size_t row = 0; row < s->n; row++) {
		uint8_t family = family_of_row(s, c, f, (tl_row)row);
		if (family)
			c->family_rows[f->start[family]++] = (tl_row)row;
	}
	return 0;
}

static int find_families(const tl_analyzer *a, struct tl_perf_cache *c)
{
	families f = {tl__calloc(c->n_names + 1, 1), tl__calloc(c->n_names + 1, 1),
		      tl__calloc(c->n_sheets + 2, sizeof *f.start)};
	int code = f.of_name && f.outside_steps && f.start ? sort_families(a, c, &f) : TL_ENOMEM;

	tl__free(f.of_name);
	tl__free(f.outside_steps);
	if (code < 0)
		tl__free(f.start);
	else
		c->family_start = f.start;
	return code;
}

int tl__perf_family(tl_analyzer *a, const char *sheet, const tl_row **out, size_t *n)
{
	struct tl_perf_cache *c;
	TL_TRY(cache_of(a, &c));
	if (!c->family_start)
		TL_TRY(find_families(a, c));
	for (size_t f = 0; f < c->n_sheets; f++) {
		if (!strcmp(sheet, c->sheets[f])) {
			*out = c->family_rows + c->family_start[f];
			*n = c->family_start[f + 1] - c->family_start[f];
			return 0;
		}
	}
	return TL_ENOTFOUND;
}

/* ---- GPU events of an event ---- */

static int compare_links(const void *x, const void *y)
{
	const link_at *p = x, *q = y;
	if (p->forward != q->forward)
		return p->forward < q->forward ? -1 : 1;
	return (p->backward > q->backward) - (p->backward < q->backward);
}

static int sort_links(const tl_analyzer *a, struct tl_perf_cache *c)
{
	const tl_tree *t = a->tree;
	c->links = tl__malloc((t->n_links + 1) * sizeof *c->links);
	if (!c->links)
		return TL_ENOMEM;
	for (size_t i = 0; i < t->n_links; i++) {
		tl_pos pos = t->pos_of_row[t->links[i].forward];
		if (pos != TL_POS_NONE)
			c->links[c->n_links++] = (link_at){pos, t->links[i].backward};
	}
	qsort(c->links, c->n_links, sizeof *c->links, compare_links);
	c->has_links = true;
	return 0;
}

static int add_gpu_events(const tl_analyzer *a, rows *to, tl_pos pos)
{
	size_t n = tl__tree_gpu_count(a->tree, pos);
	TL_TRY(TL_VEC_RESERVE(to, n));
	if (n)
		memcpy(to->v + to->n, tl__tree_gpu_rows(a->tree, pos), n * sizeof *to->v);
	to->n += n;
	return 0;
}

static int add_backward(const tl_analyzer *a, const struct tl_perf_cache *c, rows *to, tl_pos pos, bool *several)
{
	const tl_tree *t = a->tree;
	size_t low = 0, high = c->n_links, events = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (c->links[middle].forward < pos)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->n_links && c->links[low].forward < t->end[pos]; low++) {
		tl_pos at = t->pos_of_row[c->links[low].backward];
		if (at != TL_POS_NONE) {
			TL_TRY(add_gpu_events(a, to, at));
			events++;
		}
	}
	*several = events > 1;
	return 0;
}

/* One backward event may lie below another. */
static void drop_repeated(rows *sorted)
{
	size_t kept = 0;
	for (size_t i = 0; i < sorted->n; i++)
		if (!i || sorted->v[i] != sorted->v[i - 1])
			sorted->v[kept++] = sorted->v[i];
	sorted->n = kept;
}

int tl__perf_gpu_events(tl_analyzer *a, tl_row event, bool backward, const tl_row **out, size_t *n)
{
	struct tl_perf_cache *c;
	TL_TRY(cache_of(a, &c));
	rows *to = backward ? &c->backward : &c->forward;
	tl_pos pos = a->tree->pos_of_row[event];
	bool several = false;

	if (backward && !c->has_links)
		TL_TRY(sort_links(a, c));
	to->n = 0;
	if (pos != TL_POS_NONE)
		TL_TRY(backward ? add_backward(a, c, to, pos, &several) : add_gpu_events(a, to, pos));
	TL_TRY(tl__sort(to->v, to->n, tl__gpu_event_before, a->tree));
	if (several)
		drop_repeated(to);
	*out = to->v;
	*n = to->n;
	return 0;
}

/* ---- annotations ---- */

/* Text of the enclosing annotation (spec 01 section 5.5): the first on its thread that contains it, or TL_STR_NONE. */
static int annotation_of(tl_analyzer *a, tl_row event, tl_str *out)
{
	struct tl_perf_cache *c;
	TL_TRY(cache_of(a, &c));
	TL_TRY(tl__annotations_make(&c->annotations, a->store, NULL));
	tl_row found = tl__annotations_enclosing(&c->annotations, a->store, event);
	*out = found == TL_ROW_NONE ? TL_STR_NONE : a->store->name[found];
	return 0;
}

/* Whether the analyser explains this operation by its iteration: the one place that says so. */
static bool is_annotated(const tl_analyzer *a, const char *name)
{
	static const char *const of_pytorch_report[] = {"vllm::unified_attention_with_output"};
	const char *const *prefixes = a->options.annotated;
	size_t n = a->options.n_annotated;
	if (!prefixes) {
		prefixes = of_pytorch_report;
		n = sizeof of_pytorch_report / sizeof *of_pytorch_report;
	}
	for (size_t i = 0; i < n; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* The iteration around an annotated operation, on its own thread; other annotations do not hide it [01-L5]. */
static int step_annotation(tl_analyzer *a, struct tl_perf_cache *c, tl_row event, tl_str *out)
{
	*out = TL_STR_NONE;
	if (!is_annotated(a, tl__name(a->store, event)))
		return 0;
	TL_TRY(tl__annotations_make(&c->steps, a->store, is_step));
	tl_row found = tl__annotations_enclosing(&c->steps, a->store, event);
	if (found != TL_ROW_NONE)
		*out = a->store->name[found];
	return 0;
}

/* ---- results ---- */

/* How far above an operation the autograd node that runs it may be. */
enum { LEVELS_TO_NODE = 5 };

/* The forward event of a backward one: its own link, or that of the autograd node that runs it. */
static tl_row linked_forward(const tl_tree *t, tl_row event)
{
	tl_row forward = tl__tree_forward_of(t, event);
	tl_pos pos = t->pos_of_row[event];
	for (int up = 0; forward == TL_ROW_NONE && pos != TL_POS_NONE && up < LEVELS_TO_NODE; up++) {
		pos = t->parent[pos];
		if (pos != TL_POS_NONE)
			forward = tl__tree_forward_of(t, t->row[pos]);
	}
	return forward;
}

/* What the model of an event reads, before and after it is looked up. */
typedef struct reading {
	const tl_perf_model *model;
	tl_row event, forward;
	const tl_row *kernels;
	size_t n_kernels;
	tl_str annotation;
} reading;

static int add_args(struct tl_perf_cache *c, const tl_store *s, tl_row event)
{
	const tl_op_args *args = tl__op_args(s, event), none = {0};
	if (!args)
		args = &none;
	const uint32_t fields[] = {args->dims, args->types, args->strides, args->concrete};
	for (size_t i = 0; i < 4; i++)
		TL_TRY(TL_VEC_PUSH(&c->key, fields[i]));
	return 0;
}

static int add_extras(struct tl_perf_cache *c, const tl_store *s, tl_row event)
{
	size_t n;
	const tl_extra *extra = tl__store_extras(s, event, &n);
	TL_TRY(TL_VEC_PUSH(&c->key, (uint32_t)n));
	for (size_t i = 0; i < n; i++) {
		TL_TRY(TL_VEC_PUSH(&c->key, extra[i].key));
		TL_TRY(TL_VEC_PUSH(&c->key, extra[i].value));
	}
	return 0;
}

/* Each part has a fixed place or says how long it is, kernels last, so that two different inputs never make one key. */
static int make_key(const tl_analyzer *a, struct tl_perf_cache *c, const reading *in)
{
	uint32_t reads = in->model->reads;
	bool forward = (reads & TL_READS_FORWARD) && in->forward != TL_ROW_NONE;

	c->key.n = 0;
	TL_TRY(TL_VEC_PUSH(&c->key, a->store->name[in->event]));
	TL_TRY(TL_VEC_PUSH(&c->key, forward ? a->store->name[in->forward] : TL_STR_FAIL));
	if (reads & TL_READS_ARGS)
		TL_TRY(add_args(c, a->store, in->event));
	if (forward)
		TL_TRY(add_args(c, a->store, in->forward));
	if (reads & READS_ANY_ANNOTATION)
		TL_TRY(TL_VEC_PUSH(&c->key, in->annotation));
	if (reads & TL_READS_EXTRAS)
		TL_TRY(add_extras(c, a->store, in->event));
	if (reads & TL_READS_EVENT)
		TL_TRY(TL_VEC_PUSH(&c->key, in->event));
	for (size_t i = 0; (reads & TL_READS_KERNELS) && i < in->n_kernels; i++)
		TL_TRY(TL_VEC_PUSH(&c->key, a->store->name[in->kernels[i]]));
	return 0;
}

static int grow_slots(struct tl_perf_cache *c)
{
	if ((c->n + 1) * 2 <= c->mask + 1)
		return 0;
	size_t size = (c->mask + 1) * 2;
	tl_perf_entry **slots = tl__calloc(size, sizeof(*slots));
	if (!slots)
		return TL_ENOMEM;
	for (size_t i = 0; i <= c->mask; i++) {
		if (!c->slots[i])
			continue;
		size_t at = (size_t)c->slots[i]->hash & (size - 1);
		while (slots[at])
			at = (at + 1) & (size - 1);
		slots[at] = c->slots[i];
	}
	tl__free(c->slots);
	c->slots = slots;
	c->mask = size - 1;
	return 0;
}

static int fill_input(tl_analyzer *a, tl_row event, tl_perf_input *out)
{
	const tl_op_args *args = tl__op_args(a->store, event);
	*out = (tl_perf_input){.name = tl__name(a->store, event), .event = TL_ROW_NONE};
	if (args) {
		TL_TRY(tl__analyzer_value(a, args->dims, false, &out->dims));
		TL_TRY(tl__analyzer_value(a, args->types, false, &out->types));
		TL_TRY(tl__analyzer_value(a, args->strides, false, &out->strides));
		TL_TRY(tl__analyzer_value(a, args->concrete, false, &out->concrete));
	}
	return 0;
}

/* The extra args of an event as a dict. */
static int fill_extras(tl_analyzer *a, tl_row event, const tl_value **out)
{
	size_t n;
	const tl_extra *extra = tl__store_extras(a->store, event, &n);
	*out = NULL;
	if (!n)
		return 0;
	tl_value *pairs = tl__arena_alloc(&a->arena, (2 * n + 1) * sizeof *pairs);
	if (!pairs)
		return TL_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const tl_value *value;
		TL_TRY(tl__analyzer_value(a, extra[i].value, false, &value));
		pairs[2 * i] =
			TL_VALUE_STRING(tl__str(a->strings, extra[i].key), tl__str_len(a->strings, extra[i].key));
		pairs[2 * i + 1] = value ? *value : TL_VALUE_NONE;
	}
	pairs[2 * n] = (tl_value){.kind = TL_V_DICT, .n = (uint32_t)n, .items = pairs};
	*out = &pairs[2 * n];
	return 0;
}

static int evaluate(tl_analyzer *a, const reading *in, tl_perf_entry *entry)
{
	tl_perf_input input, forward;
	uint32_t reads = in->model->reads;

	TL_TRY(fill_input(a, in->event, &input));
	if (!(reads & TL_READS_ARGS)) /* what is not declared is not in the key, and so must not be seen */
		input = (tl_perf_input){.name = input.name, .event = TL_ROW_NONE};
	if (reads & TL_READS_EVENT)
		input.event = in->event;
	if (a->triton) /* depends on nothing but the name, which is in every key */
		TL_TRY(tl__triton_cache_find(a->triton, input.name, &input.compiled));
	if ((reads & TL_READS_FORWARD) && in->forward != TL_ROW_NONE) {
		TL_TRY(fill_input(a, in->forward, &forward));
		input.forward = &forward;
	}
	if ((reads & READS_ANY_ANNOTATION) && in->annotation != TL_STR_NONE)
		input.annotation = tl__str(a->strings, in->annotation);
	if (reads & TL_READS_EXTRAS)
		TL_TRY(fill_extras(a, in->event, &input.extras));
	if ((reads & TL_READS_KERNELS) && in->n_kernels) {
		const char **names = tl__arena_alloc(&a->arena, in->n_kernels * sizeof(*names));
		if (!names)
			return TL_ENOMEM;
		for (size_t i = 0; i < in->n_kernels; i++)
			names[i] = tl__name(a->store, in->kernels[i]);
		input.kernels = names;
		input.n_kernels = in->n_kernels;
	}
	TL_TRY(tl__model_eval(in->model, &input, &a->arena, &entry->result, &a->callback_error));
	const tl_perf_result *r = &entry->result;
	if (r->status == TL_PERF_OK && r->maf && r->precision) {
		char spec[128];
		int n = snprintf(spec, sizeof spec, "%s_%s", r->maf, r->precision);
		if (n > 0 && (size_t)n < sizeof spec)
			entry->spec = tl__intern(a->strings, spec, (size_t)n);
		if (entry->spec == TL_STR_FAIL)
			return TL_ENOMEM;
	}
	return 0;
}

int tl__perf_entry_of(tl_analyzer *a, tl_row event, const tl_row *kernels, size_t n_kernels, tl_perf_entry **out)
{
	reading in = {.event = event, .forward = TL_ROW_NONE, .kernels = kernels, .n_kernels = n_kernels};
	struct tl_perf_cache *c;

	*out = NULL;
	TL_TRY(cache_of(a, &c));
	TL_TRY(tl__perf_model_at(a, event, &in.model, NULL));
	if (!in.model)
		return 0;
	if (in.model->reads & TL_READS_FORWARD)
		in.forward = linked_forward(a->tree, event);
	if (in.model->reads & TL_READS_ANNOTATION)
		TL_TRY(annotation_of(a, event, &in.annotation));
	else if (in.model->reads & TL_READS_STEP)
		TL_TRY(step_annotation(a, c, event, &in.annotation));
	TL_TRY(make_key(a, c, &in));
	size_t n = c->key.n;
	uint64_t hash = n;
	for (size_t i = 0; i < n; i++)
		hash = tl__mix(hash, c->key.v[i]);
	size_t at = (size_t)hash & c->mask;
	for (tl_perf_entry *e; (e = c->slots[at]) != NULL; at = (at + 1) & c->mask) {
		if (e->hash == hash && e->model == in.model && e->n_key == n &&
		    !memcmp(e->key, c->key.v, n * sizeof *e->key)) {
			*out = e;
			return 0;
		}
	}
	TL_TRY(grow_slots(c));
	tl_perf_entry *entry = tl__arena_zalloc(&a->arena, sizeof *entry);
	uint32_t *key = tl__arena_alloc(&a->arena, n * sizeof *key);
	if (!entry || !key)
		return TL_ENOMEM;
	memcpy(key, c->key.v, n * sizeof *key);
	*entry = (tl_perf_entry){.model = in.model, .hash = hash, .key = key, .n_key = n};
	TL_TRY(evaluate(a, &in, entry));
	at = (size_t)hash & c->mask;
	while (c->slots[at])
		at = (at + 1) & c->mask;
	c->slots[at] = entry;
	c->n++;
	*out = entry;
	return 0;
}

int tl__perf_entry_texts(tl_analyzer *a, tl_perf_entry *entry)
{
	const tl_perf_result *r = &entry->result;
	size_t n = r->n_params;
	if (entry->names)
		return 0;
	tl_str *names = tl__arena_zalloc(&a->arena, (2 * n + 1) * sizeof *names);
	uint32_t *columns = tl__arena_zalloc(&a->arena, (n + 1) * sizeof *columns);
	tl_value *pairs = tl__arena_alloc(&a->arena, (2 * n + 1) * sizeof *pairs);
	tl_buf text = {0};
	bool ok = names && columns && pairs;

	for (size_t i = 0; ok && i < n; i++) {
		tl__buf_clear(&text);
		tl__buf_puts(&text, "param: ");
		tl__buf_puts(&text, r->params[i].name);
		names[i] = text.failed ? TL_STR_FAIL : tl__intern(a->strings, text.v, text.n);
		ok = names[i] != TL_STR_FAIL;
		/* Rendered from the typed value, blank when absent [02-15]. */
		if (ok && r->params[i].value.kind != TL_V_NONE) {
			tl__buf_clear(&text);
			tl__value_str(&text, &r->params[i].value);
			const char *rendered = tl__buf_text(&text);
			names[n + i] = rendered ? tl__intern(a->strings, rendered, text.n) : TL_STR_FAIL;
			ok = names[n + i] != TL_STR_FAIL;
		}
		pairs[2 * i] = TL_VALUE_STRING(r->params[i].name, strlen(r->params[i].name));
		pairs[2 * i + 1] = r->params[i].value;
	}
	tl__buf_free(&text);
	tl_value *dict = ok ? tl__arena_alloc(&a->arena, sizeof *dict) : NULL;
	if (!dict)
		return TL_ENOMEM;
	*dict = (tl_value){.kind = TL_V_DICT, .n = (uint32_t)n, .items = pairs};
	entry->params = dict;
	entry->texts = names + n;
	entry->columns = columns;
	entry->names = names;
	return 0;
}

uint32_t tl__perf_next_table(tl_analyzer *a)
{
	struct tl_perf_cache *c;
	return cache_of(a, &c) == 0 ? ++c->tables : 0;
}
