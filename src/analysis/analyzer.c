/* SPDX-License-Identifier: MIT */
/** @file analyzer.c The analyser: what the analyses share, computed once per distinct name or text. */
#include "analysis/analyzer.h"

#include <string.h>

#include "analysis/order.h"
#include "perf/triton_cache.h"
#include "tree/recompute.h"
#include "util/sort.h"

/* ---- caches ---- */

/* Parsed argument texts: (text, as tuples?) -> index of the value. */
struct tl_value_cache {
	tl_map index;
	TL_VEC(const tl_value *) values;
};

typedef struct name_entry {
	const tl_perf_model *model; /* exact name */
	bool communication;
} name_entry;

typedef struct category_entry {
	const char *text;
	tl_str id;
} category_entry;

struct tl_name_cache {
	tl_map index; /* name -> entry */
	TL_VEC(name_entry) entries;
	tl_map category_index; /* (name, first kernel) -> category */
	TL_VEC(category_entry) categories;
};

/* ---- GPU time ---- */

/* Whether event `i` of tree->gpu starts at or after the end of the one before. */
static bool follows(const tl_store *store, const tl_row *gpu, size_t i)
{
	tl_time end = tl__end(store, gpu[i - 1]);
	return end != TL_TIME_NONE && tl__end(store, gpu[i]) != TL_TIME_NONE && store->start[gpu[i]] >= end;
}

static int index_gpu_time(tl_analyzer *a)
{
	const tl_tree *tree = a->tree;
	a->gpu_sum = tl__malloc((tree->n_gpu + 1) * sizeof *a->gpu_sum);
	a->gpu_jumps = tl__malloc((tree->n_gpu + 1) * sizeof *a->gpu_jumps);
	if (!a->gpu_sum || !a->gpu_jumps)
		return TL_ENOMEM;
	a->gpu_sum[0] = 0;
	a->gpu_jumps[0] = 0;
	for (size_t i = 0; i < tree->n_gpu; i++) {
		tl_time dur = a->store->dur[tree->gpu[i]];
		bool jump = i > 0 && !follows(a->store, tree->gpu, i);
		a->gpu_sum[i + 1] = a->gpu_sum[i] + (dur == TL_TIME_NONE ? 0 : (uint64_t)dur);
		a->gpu_jumps[i + 1] = a->gpu_jumps[i] + (jump ? 1 : 0);
	}
	return 0;
}

static bool starts_before(const void *ctx, uint32_t x, uint32_t y)
{
	const tl_analyzer *a = ctx;
	const tl_row *gpu = a->tree->gpu;
	tl_time s = a->store->start[gpu[x]], t = a->store->start[gpu[y]];
	return s != t ? s < t : x < y;
}

/* Marks which events of tree->gpu share time with another one of them, whatever the order; `order` by start. */
static void mark_crowded(const tl_analyzer *a, const uint32_t *order, uint8_t *crowded)
{
	const tl_row *gpu = a->tree->gpu;
	tl_time end = TL_TIME_NONE; /* latest end so far, of event `last` */
	size_t last = 0;
	for (size_t i = 0; i < a->tree->n_gpu; i++) {
		tl_time to = tl__end(a->store, gpu[order[i]]);
		if (to == TL_TIME_NONE)
			continue;
		if (end != TL_TIME_NONE && a->store->start[gpu[order[i]]] < end)
			crowded[order[i]] = crowded[last] = 1;
		if (end == TL_TIME_NONE || to > end) {
			end = to;
			last = order[i];
		}
	}
}

static int fill_lone(tl_analyzer *a, uint32_t *order, uint8_t *crowded)
{
	const tl_tree *tree = a->tree;
	for (size_t i = 0; i < tree->n_gpu; i++)
		order[i] = (uint32_t)i;
	TL_TRY(tl__sort(order, tree->n_gpu, starts_before, a));
	mark_crowded(a, order, crowded);
	a->gpu_lone_sum[0] = 0;
	a->gpu_crowded_before[0] = 0;
	for (size_t i = 0; i < tree->n_gpu; i++) {
		tl_time dur = tl__end(a->store, tree->gpu[i]) == TL_TIME_NONE ? 0 : a->store->dur[tree->gpu[i]];
		a->gpu_lone_sum[i + 1] = a->gpu_lone_sum[i] + (crowded[i] ? 0 : (uint64_t)dur);
		a->gpu_crowded_before[i + 1] = a->gpu_crowded_before[i] + crowded[i];
		if (crowded[i])
			a->gpu_crowded[a->gpu_crowded_before[i]] = tree->gpu[i];
	}
	return 0;
}

/* Splits tree->gpu into events that are alone in their time, whose lengths simply add up, and the others. */
static int index_lone(tl_analyzer *a)
{
	size_t n = a->tree->n_gpu;
	uint32_t *order = tl__malloc(n * sizeof *order);
	uint8_t *crowded = tl__calloc(n, sizeof *crowded);
	a->gpu_lone_sum = tl__malloc((n + 1) * sizeof *a->gpu_lone_sum);
	a->gpu_crowded_before = tl__malloc((n + 1) * sizeof *a->gpu_crowded_before);
	a->gpu_crowded = tl__malloc(n * sizeof *a->gpu_crowded);
	bool room = order && crowded && a->gpu_lone_sum && a->gpu_crowded_before && a->gpu_crowded;
	int code = room ? fill_lone(a, order, crowded) : TL_ENOMEM;
	tl__free(order);
	tl__free(crowded);
	if (code < 0) {
		tl__free(a->gpu_lone_sum);
		tl__free(a->gpu_crowded_before);
		tl__free(a->gpu_crowded);
		a->gpu_lone_sum = NULL;
		a->gpu_crowded_before = NULL;
		a->gpu_crowded = NULL;
	}
	return code;
}

int tl__analyzer_busy(tl_analyzer *a, const tl_row *rows, size_t n, tl_time *out)
{
	if (n == 1) { /* by far the most common case */
		bool usable = tl__end(a->store, rows[0]) != TL_TIME_NONE;
		*out = usable ? a->store->dur[rows[0]] : 0;
		return 0;
	}
	const tl_row *gpu = a->tree->gpu;
	bool in_tree = n > 0 && (uintptr_t)rows >= (uintptr_t)gpu &&
		       (uintptr_t)rows < (uintptr_t)(gpu + a->tree->n_gpu);
	if (in_tree) {
		size_t first = (size_t)(rows - gpu);
		if (a->gpu_jumps[first + n] == a->gpu_jumps[first + 1]) {
			*out = (tl_time)(a->gpu_sum[first + n] - a->gpu_sum[first]);
			return 0;
		}
		if (!a->gpu_lone_sum)
			TL_TRY(index_lone(a));
		uint32_t before = a->gpu_crowded_before[first], after = a->gpu_crowded_before[first + n];
		TL_TRY(tl__busy_time(out, a->store, a->gpu_crowded + before, after - before, &a->scratch));
		*out += (tl_time)(a->gpu_lone_sum[first + n] - a->gpu_lone_sum[first]);
		return 0;
	}
	return tl__busy_time(out, a->store, rows, n, &a->scratch);
}

/* ---- the analyser ---- */

static bool has_kind(const tl_store *store, tl_kind kind)
{
	return store->n > 0 && memchr(store->kind, (int)kind, store->n) != NULL;
}

int tl__analyzer_timeline_rows(const tl_analyzer *a, tl_timeline_part part, tl_row **out, size_t *n)
{
	const tl_tree *tree = a->tree;
	size_t more = a->options.include_unlinked ? tree->n_unlinked : 0, kept = 0;
	*out = NULL;
	*n = 0;
	tl_row *rows = tl__malloc((tree->n_gpu + more + 1) * sizeof *rows);
	if (!rows)
		return TL_ENOMEM;
	for (size_t i = 0; i < tree->n_gpu + more; i++) {
		tl_row row = i < tree->n_gpu ? tree->gpu[i] : tree->unlinked[i - tree->n_gpu];
		bool wanted = part == TL_TIMELINE_ALL ||
			      tl__tree_is_recompute(tree, row) == (part == TL_TIMELINE_RECOMPUTE);
		if (wanted)
			rows[kept++] = row;
	}
	*out = rows;
	*n = kept;
	return 0;
}

int tl__analyzer_breakdown(tl_breakdown *out, const tl_analyzer *a, tl_timeline_part part, const double *micro_idle_us,
			   tl_error *err)
{
	tl_row *rows;
	size_t n;
	if (tl__analyzer_timeline_rows(a, part, &rows, &n) < 0)
		return tl__nomem(err);
	int code = tl__breakdown(out, a->store, rows, n, micro_idle_us, err);
	tl__free(rows);
	return code;
}

/* Breakdown of the default timeline: what a percentage of "total time" refers to. */
static int measure(tl_analyzer *a, tl_error *err)
{
	tl_breakdown first_run;
	const tl_tree *tree = a->tree;
	if (!a->options.include_unlinked || tree->n_unlinked == 0)
		TL_TRY(tl__breakdown(&a->breakdown, a->store, tree->gpu, tree->n_gpu, NULL, err));
	else
		TL_TRY(tl__analyzer_breakdown(&a->breakdown, a, TL_TIMELINE_ALL, NULL, err));
	a->total_time = a->breakdown.total;
	if (!a->options.detect_recompute)
		return 0;
	/* as in the reference [02-7]: the base is the first part of the timeline that has events */
	TL_TRY(tl__analyzer_breakdown(&first_run, a, TL_TIMELINE_FIRST_RUN, NULL, err));
	if (first_run.events > 0)
		a->total_time = first_run.total;
	return 0;
}

int tl__analyzer_new(tl_analyzer **out, const tl_tree *tree, const tl_analyzer_options *options, tl_error *err)
{
	*out = NULL;
	tl_analyzer *a = tl__calloc(1, sizeof *a);
	if (!a)
		return tl__nomem(err);
	a->tree = tree;
	a->store = tree->store;
	if (options)
		a->options = *options;
	a->strings = tl__strings_new(tree->store->strings);
	a->values = tl__calloc(1, sizeof *a->values);
	a->names = tl__calloc(1, sizeof *a->names);
	a->unknown = a->strings ? tl__interns(a->strings, "Unknown") : TL_STR_FAIL;
	bool ready = a->unknown != TL_STR_FAIL && a->values && a->names;
	int code = ready && index_gpu_time(a) == 0 ? measure(a, err) : tl__nomem(err);
	if (code == 0 && a->options.inductor_cache_dir)
		code = tl__triton_cache_new(&a->triton, a->options.inductor_cache_dir, err);
	if (code < 0) {
		tl__analyzer_free(a);
		return code;
	}
	/* Python frames are host operations, too ([02-20]: right by default). */
	a->gpu_only = !has_kind(a->store, TL_KIND_CPU_OP) && !has_kind(a->store, TL_KIND_PYTHON);
	*out = a;
	return 0;
}

void tl__analyzer_free(tl_analyzer *a)
{
	if (!a)
		return;
	if (a->values) {
		tl__map_free(&a->values->index);
		TL_VEC_FREE(&a->values->values);
		tl__free(a->values);
	}
	if (a->names) {
		tl__map_free(&a->names->index);
		TL_VEC_FREE(&a->names->entries);
		tl__map_free(&a->names->category_index);
		TL_VEC_FREE(&a->names->categories);
		tl__free(a->names);
	}
	tl__models_free(&a->models);
	tl__perf_cache_free(a->perf);
	tl__launcher_list_free(a->launchers);
	tl__overlap_cache_free(a->overlap);
	tl__stack_cache_free(a->stacks);
	tl__triton_cache_free(a->triton);
	TL_VEC_FREE(&a->scratch);
	tl__free(a->gpu_sum);
	tl__free(a->gpu_jumps);
	tl__free(a->gpu_lone_sum);
	tl__free(a->gpu_crowded_before);
	tl__free(a->gpu_crowded);
	tl__strings_unref(a->strings);
	tl__arena_free(&a->arena);
	tl__free(a);
}

bool tl__analyzer_gpu_only(const tl_analyzer *a)
{
	return a->gpu_only;
}

/* ---- registered models ---- */

/* What was looked up stays as it was found, so that no table contradicts another one. */
static int check_unused(const tl_analyzer *a, tl_error *err)
{
	if (a->perf || a->names->entries.n || a->names->categories.n)
		return tl__fail(err, TL_EINVAL,
				"models and categories must be registered before the first table is made");
	return 0;
}

int tl_analyzer_register_model(tl_analyzer *a, const tl_model_desc *model, tl_error *err)
{
	if (!a || !model)
		return tl__fail(err, TL_EINVAL, "an analyser and a model are needed");
	TL_TRY(check_unused(a, err));
	return tl__models_add(&a->models, model, err);
}

int tl_analyzer_set_category(tl_analyzer *a, const char *name, const char *category_name, tl_error *err)
{
	if (!a)
		return tl__fail(err, TL_EINVAL, "an analyser is needed");
	TL_TRY(check_unused(a, err));
	return tl__models_set_category(&a->models, name, category_name, err);
}

const char *const *tl__analyzer_sheets(const tl_analyzer *a, size_t *n)
{
	return tl__models_sheets(&a->models, n);
}

int tl__analyzer_fail(const tl_analyzer *a, int code, tl_error *err)
{
	if (code != TL_ECALLBACK)
		return tl__nomem(err);
	if (err)
		*err = a->callback_error;
	return code;
}

/* ---- argument values ---- */

int tl__analyzer_value(tl_analyzer *a, tl_str text, bool tuples, const tl_value **out)
{
	*out = NULL;
	if (text == TL_STR_NONE)
		return 0;
	struct tl_value_cache *cache = a->values;
	uint64_t key = (uint64_t)text << 1 | (tuples ? 1U : 0U);
	uint32_t found = tl__map_get(&cache->index, key);
	if (found != TL_MAP_NONE) {
		*out = cache->values.v[found];
		return 0;
	}
	const tl_value *value = NULL;
	int code = tl__value_parse(&a->arena, tl__str(a->strings, text), tl__str_len(a->strings, text), tuples, &value);
	if (code == TL_ENOMEM)
		return code;
	if (code < 0 || (value && value->kind == TL_V_NONE))
		value = NULL;
	uint32_t index = (uint32_t)cache->values.n;
	TL_TRY(TL_VEC_PUSH(&cache->values, value));
	TL_TRY(tl__map_set(&cache->index, key, index));
	*out = value;
	return 0;
}

/* ---- names ---- */

static name_entry classify(const tl_analyzer *a, tl_str name)
{
	const char *text = tl__str(a->strings, name);
	size_t n = tl__str_len(a->strings, name);
	return (name_entry){tl__models_exact(&a->models, text, n), tl__is_communication_name(text, n)};
}

/* What a name says; without memory for the cache it is worked out anew each time. */
static name_entry lookup(tl_analyzer *a, tl_str name)
{
	struct tl_name_cache *cache = a->names;
	uint32_t found = tl__map_get(&cache->index, name);
	if (found != TL_MAP_NONE)
		return cache->entries.v[found];
	name_entry entry = classify(a, name);
	uint32_t index = (uint32_t)cache->entries.n;
	if (TL_VEC_PUSH(&cache->entries, entry) == 0)
		(void)tl__map_set(&cache->index, name, index);
	return entry;
}

const tl_perf_model *tl__analyzer_model(tl_analyzer *a, tl_str name)
{
	return lookup(a, name).model;
}

bool tl__analyzer_is_communication(tl_analyzer *a, tl_row gpu_event)
{
	return lookup(a, a->store->name[gpu_event]).communication;
}

static category_entry category(tl_analyzer *a, tl_str name, tl_str first_kernel)
{
	struct tl_name_cache *cache = a->names;
	uint64_t key = (uint64_t)name << 32 | first_kernel;
	uint32_t found = tl__map_get(&cache->category_index, key);
	if (found != TL_MAP_NONE)
		return cache->categories.v[found];
	const char *kernel = first_kernel == TL_STR_NONE ? NULL : tl__str(a->strings, first_kernel);
	category_entry entry;
	entry.text = tl__models_category(&a->models, tl__str(a->strings, name), tl__str_len(a->strings, name), kernel);
	entry.id = tl__interns(a->strings, entry.text);
	uint32_t index = (uint32_t)cache->categories.n;
	if (entry.id != TL_STR_FAIL && TL_VEC_PUSH(&cache->categories, entry) == 0)
		(void)tl__map_set(&cache->category_index, key, index);
	return entry;
}

const char *tl__analyzer_category(tl_analyzer *a, tl_str name, tl_str first_kernel)
{
	return category(a, name, first_kernel).text;
}

tl_str tl__analyzer_category_id(tl_analyzer *a, tl_str name, tl_str first_kernel)
{
	return category(a, name, first_kernel).id;
}

/* ---- GPU events ---- */

tl_kernel tl__analyzer_kernel(const tl_analyzer *a, tl_row gpu_event)
{
	const tl_link_args *link = tl__link_args(a->store, gpu_event);
	tl_kernel kernel = {
		.name = a->store->name[gpu_event],
		.uid = gpu_event,
		.dur = a->store->dur[gpu_event],
		.stream = INT64_MIN,
	};
	if (link && link->stream != TL_ID_NONE) {
		if (link->stream & TL_ID_TEXT)
			kernel.stream_text = (tl_str)(link->stream & ~TL_ID_TEXT);
		else
			kernel.stream = (int64_t)link->stream;
	}
	return kernel;
}

static size_t gather_kernels(const tl_store *store, tl_row *out, const tl_row *rows, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		if (store->kind[rows[i]] == TL_KIND_KERNEL)
			out[count++] = rows[i];
	return count;
}

int tl__analyzer_all_kernels(tl_analyzer *a, tl_row **out, size_t *n)
{
	const tl_tree *tree = a->tree;
	*out = NULL;
	*n = 0;
	tl_row *rows = tl__malloc((tree->n_gpu + tree->n_unlinked + 1) * sizeof *rows);
	if (!rows)
		return TL_ENOMEM;
	size_t count = gather_kernels(a->store, rows, tree->gpu, tree->n_gpu);
	count += gather_kernels(a->store, rows + count, tree->unlinked, tree->n_unlinked);
	if (tl__sort(rows, count, tl__gpu_event_before, tree) < 0) {
		tl__free(rows);
		return TL_ENOMEM;
	}
	*out = rows;
	*n = count;
	return 0;
}

/* ---- process and thread ---- */

void tl__analyzer_thread(tl_analyzer *a, tl_row event, tl_str *process_name, tl_str *process_label, tl_str *thread_name)
{
	const tl_store *store = a->store;
	uint32_t track = store->track[event];
	*process_name = *process_label = *thread_name = TL_STR_NONE;
	if (track < store->tracks.n) {
		const tl_track *t = &store->tracks.v[track];
		*thread_name = t->thread_name;
		if (t->process < store->processes.n) {
			*process_name = store->processes.v[t->process].name;
			*process_label = store->processes.v[t->process].labels;
		}
	}
	tl_str *fields[] = {process_name, process_label, thread_name};
	for (size_t i = 0; i < 3; i++)
		if (*fields[i] == TL_STR_NONE)
			*fields[i] = a->unknown;
}
