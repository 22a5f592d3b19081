/* SPDX-License-Identifier: MIT */
/**
 * @file launchers.c
 * Which host event each GPU event is booked on (spec 02 sections 2.1 to 2.3): the nearest operation above
 * its launch, or the launch itself when no operation is there.
 */

#include "analysis/analyzer.h"
#include "analysis/columns.h"
#include "analysis/metrics.h"
#include "analysis/order.h"
#include "analysis/overlap.h"
#include "util/sort.h"

/* ---- finding launchers ---- */

typedef struct finder {
	const tl_tree *tree;
	tl_str execute; /* name of the frame of a compiled graph, which is no operation; TL_STR_NONE: there is none */
	tl_map known;   /* transparent node -> operation above it, or `nothing` */
	TL_VEC(tl_pos) passed;
} finder;

/* What the search for a launcher goes through on its way up. */
static bool is_transparent(const finder *f, tl_row row)
{
	const tl_store *store = f->tree->store;
	if (store->kind[row] == TL_KIND_PYTHON)
		return true;
	return store->kind[row] == TL_KIND_CPU_OP && f->execute != TL_STR_NONE && store->name[row] == f->execute;
}

/*
 * The operation at or above `pos`, or TL_POS_NONE when something else than a transparent node comes first.
 * Remembers the nodes it passed, so that all searches together visit each node once however deep the stacks are.
 */
static int operation_above(finder *f, tl_pos pos, tl_pos *out)
{
	const tl_tree *tree = f->tree;
	const uint32_t nothing = (uint32_t)tree->n; /* no position, and not TL_MAP_NONE either */
	uint32_t answer = TL_MAP_NONE;
	f->passed.n = 0;
	while (pos != TL_POS_NONE && is_transparent(f, tree->row[pos])) {
		answer = tl__map_get(&f->known, pos);
		if (answer != TL_MAP_NONE)
			break;
		TL_TRY(TL_VEC_PUSH(&f->passed, pos));
		pos = tree->parent[pos];
	}
	if (answer == TL_MAP_NONE) {
		bool found = pos != TL_POS_NONE && tree->store->kind[tree->row[pos]] == TL_KIND_CPU_OP;
		answer = found ? pos : nothing;
	}
	for (size_t i = 0; i < f->passed.n; i++)
		TL_TRY(tl__map_set(&f->known, f->passed.v[i], answer));
	*out = answer == nothing ? TL_POS_NONE : answer;
	return 0;
}

/* The launcher of the GPU event at `pos`, or TL_POS_NONE. */
static int launcher_of(finder *f, tl_pos pos, tl_pos *out)
{
	const tl_tree *tree = f->tree;
	tl_pos launch = tree->parent[pos];
	*out = launch;
	if (launch == TL_POS_NONE)
		return 0;
	/* Linked by External id alone, an event hangs below its operation without a launch between. */
	bool direct = tree->store->kind[tree->row[launch]] == TL_KIND_CPU_OP;
	tl_pos operation;
	TL_TRY(operation_above(f, direct ? launch : tree->parent[launch], &operation));
	if (operation != TL_POS_NONE)
		*out = operation;
	return 0;
}

/* Launcher index of every linked GPU event in tree order; UINT32_MAX: none. */
static int assign(tl_analyzer *a, tl_launcher_list *list, uint32_t *of_gpu)
{
	const tl_tree *tree = a->tree;
	finder f = {.tree = tree, .execute = tl__strings_find(tree->store->strings, "execute", 7)};
	TL_VEC(tl_pos) found = {0};
	tl_pos last_launch = TL_POS_NONE, launcher = TL_POS_NONE;
	int code = 0;
	for (size_t i = 0; i < tree->n_gpu && code == 0; i++) {
		tl_pos pos = tree->pos_of_row[tree->gpu[i]];
		of_gpu[i] = UINT32_MAX;
		if (!a->books_communication && tl__analyzer_is_communication(a, tree->gpu[i]))
			continue;
		if (tree->parent[pos] == TL_POS_NONE)
			continue;
		if (tree->parent[pos] != last_launch) { /* events of one launch are neighbours */
			code = launcher_of(&f, pos, &launcher);
			last_launch = tree->parent[pos];
		}
		if (code < 0)
			break;
		uint32_t index = tl__map_get_or_set(&list->index, launcher, (uint32_t)found.n);
		if (index == TL_MAP_NONE)
			code = TL_ENOMEM;
		else if (index == found.n)
			code = TL_VEC_PUSH(&found, launcher);
		of_gpu[i] = index;
	}
	tl__map_free(&f.known);
	TL_VEC_FREE(&f.passed);
	list->pos = found.v;
	list->n = found.n;
	return code;
}

static bool in_order(const tl_tree *tree, const tl_launcher_list *list)
{
	for (size_t i = 1; i < list->n; i++)
		if (tl__position_before(tree, list->pos[i], list->pos[i - 1]))
			return false;
	return true;
}

/* Puts launchers into order of start and renumbers of_gpu. */
static int sort_launchers(const tl_tree *tree, tl_launcher_list *list, uint32_t *of_gpu)
{
	if (in_order(tree, list)) /* as those of one thread are */
		return 0;
	uint32_t *rank = tl__malloc((list->n + 1) * sizeof *rank);
	if (!rank)
		return TL_ENOMEM;
	int code = tl__sort(list->pos, list->n, tl__position_before, tree);
	for (size_t i = 0; i < list->n && code == 0; i++) {
		rank[tl__map_get(&list->index, list->pos[i])] = (uint32_t)i;
		code = tl__map_set(&list->index, list->pos[i], (uint32_t)i);
	}
	for (size_t i = 0; i < tree->n_gpu && code == 0; i++)
		if (of_gpu[i] != UINT32_MAX)
			of_gpu[i] = rank[of_gpu[i]];
	tl__free(rank);
	return code;
}

/* Distributes the GPU events over their launchers. */
static int collect_kernels(const tl_tree *tree, tl_launcher_list *list, const uint32_t *of_gpu)
{
	list->first = tl__calloc(list->n + 2, sizeof *list->first);
	list->kernels = tl__malloc((tree->n_gpu + 1) * sizeof *list->kernels);
	if (!list->first || !list->kernels)
		return TL_ENOMEM;
	/* Counts stand two places ahead, so that filling moves each start to where the next launcher's belongs. */
	for (size_t i = 0; i < tree->n_gpu; i++)
		if (of_gpu[i] != UINT32_MAX)
			list->first[of_gpu[i] + 2]++;
	for (size_t i = 2; i <= list->n; i++)
		list->first[i] += list->first[i - 1];
	for (size_t i = 0; i < tree->n_gpu; i++)
		if (of_gpu[i] != UINT32_MAX)
			list->kernels[list->first[of_gpu[i] + 1]++] = tree->gpu[i];
	for (size_t i = 0; i < list->n; i++)
		TL_TRY(tl__sort(list->kernels + list->first[i], list->first[i + 1] - list->first[i],
				tl__gpu_event_before, tree));
	return 0;
}

void tl__launcher_list_free(tl_launcher_list *list)
{
	if (!list)
		return;
	tl__free(list->pos);
	tl__free(list->first);
	tl__free(list->kernels);
	tl__map_free(&list->index);
	tl__free(list);
}

int tl__analyzer_launchers(tl_analyzer *a, const tl_launcher_list **out)
{
	*out = a->launchers;
	if (a->launchers)
		return 0;
	tl_launcher_list *list = tl__calloc(1, sizeof *list);
	uint32_t *of_gpu = tl__malloc((a->tree->n_gpu + 1) * sizeof *of_gpu);
	int code = list && of_gpu ? 0 : TL_ENOMEM;
	if (code == 0)
		code = assign(a, list, of_gpu);
	if (code == 0)
		code = sort_launchers(a->tree, list, of_gpu);
	if (code == 0)
		code = collect_kernels(a->tree, list, of_gpu);
	tl__free(of_gpu);
	if (code < 0) {
		tl__launcher_list_free(list);
		return code;
	}
	*out = a->launchers = list;
	return 0;
}

int tl__analyzer_direct_kernel(tl_analyzer *a, tl_row event, tl_str *out)
{
	const tl_launcher_list *list;
	*out = TL_STR_NONE;
	tl_pos pos = event < a->store->n ? a->tree->pos_of_row[event] : TL_POS_NONE;
	if (pos == TL_POS_NONE)
		return 0;
	TL_TRY(tl__analyzer_launchers(a, &list));
	uint32_t index = tl__map_get(&list->index, pos);
	if (index != TL_MAP_NONE)
		*out = a->store->name[list->kernels[list->first[index]]];
	return 0;
}

/* ---- the table ---- */

enum {
	L_NAME,
	L_CATEGORY,
	L_UID,
	L_DIRECT,
	L_SUBTREE,
	L_COUNT,
	L_DIMS,
	L_TYPES,
	L_STRIDES,
	L_CONCRETE,
	L_KERNELS,
	L_NUM_KERNELS,
	L_PROCESS,
	L_LABEL,
	L_THREAD,
	L_COLUMNS
};

static const tl_column_spec columns[L_COLUMNS] = {
	[L_NAME] = {"name", "", TL_COL_STRING},
	[L_CATEGORY] = {"op category", "", TL_COL_STRING},
	[L_UID] = {"UID", "", TL_COL_INT64},
	[L_DIRECT] = {"total_direct_kernel_time", "µs", TL_COL_DOUBLE},
	[L_SUBTREE] = {"total_subtree_kernel_time", "µs", TL_COL_DOUBLE},
	[L_COUNT] = {"direct_kernel_count", "", TL_COL_INT64},
	[L_DIMS] = {"Input Dims", "", TL_COL_VALUE},
	[L_TYPES] = {"Input type", "", TL_COL_VALUE},
	[L_STRIDES] = {"Input Strides", "", TL_COL_VALUE},
	[L_CONCRETE] = {"Concrete Inputs", "", TL_COL_VALUE},
	[L_KERNELS] = {"kernel_details", "", TL_COL_KERNELS},
	[L_NUM_KERNELS] = {"num_kernels", "", TL_COL_INT64},
	[L_PROCESS] = {"process_name", "", TL_COL_STRING},
	[L_LABEL] = {"process_label", "", TL_COL_STRING},
	[L_THREAD] = {"thread_name", "", TL_COL_STRING},
};

static int fill_kernels(tl_analyzer *a, tl_table *table, tl_kernel_range *out, const tl_row *rows, size_t n)
{
	out->first = (uint32_t)table->kernels.n;
	out->count = (uint32_t)n;
	TL_TRY(TL_VEC_RESERVE(&table->kernels, n));
	for (size_t i = 0; i < n; i++)
		table->kernels.v[table->kernels.n++] = tl__analyzer_kernel(a, rows[i]);
	return 0;
}

static int fill_arguments(tl_analyzer *a, tl_column *c, size_t i, const tl_op_args *args)
{
	if (!args)
		return 0;
	TL_TRY(tl__analyzer_value(a, args->dims, true, &c[L_DIMS].val[i]));
	TL_TRY(tl__analyzer_value(a, args->types, true, &c[L_TYPES].val[i]));
	TL_TRY(tl__analyzer_value(a, args->strides, true, &c[L_STRIDES].val[i]));
	return tl__analyzer_value(a, args->concrete, true, &c[L_CONCRETE].val[i]);
}

static int fill_row(tl_analyzer *a, tl_table *table, const tl_launcher_list *list, size_t i)
{
	const tl_tree *tree = a->tree;
	tl_column *c = table->columns.v;
	tl_pos pos = list->pos[i];
	tl_row event = tree->row[pos];
	const tl_row *rows = list->kernels + list->first[i];
	size_t n = list->first[i + 1] - list->first[i], below = tl__tree_gpu_count(tree, pos);
	tl_time direct, subtree;
	TL_TRY(tl__analyzer_busy(a, rows, n, &direct));
	subtree = direct;
	if (below != n) /* otherwise they are the same events */
		TL_TRY(tl__analyzer_busy(a, tl__tree_gpu_rows(tree, pos), below, &subtree));
	c[L_NAME].str[i] = a->store->name[event];
	TL_TRY(tl__perf_category_at(a, event, a->store->name[event], a->store->name[rows[0]], &c[L_CATEGORY].str[i]));
	c[L_UID].i64[i] = event;
	c[L_DIRECT].f64[i] = tl__us(direct);
	c[L_SUBTREE].f64[i] = tl__us(subtree);
	c[L_COUNT].i64[i] = c[L_NUM_KERNELS].i64[i] = (int64_t)n;
	TL_TRY(fill_arguments(a, c, i, tl__op_args(a->store, event)));
	tl__analyzer_thread(a, event, &c[L_PROCESS].str[i], &c[L_LABEL].str[i], &c[L_THREAD].str[i]);
	return fill_kernels(a, table, &c[L_KERNELS].ker[i], rows, n);
}

/* ---- columns on request ---- */

static int add_overlaps(tl_analyzer *a, tl_table *table, const tl_launcher_list *list, tl_error *err)
{
	tl_overlap *cells = tl__malloc((list->n + 1) * sizeof *cells);
	int code = cells ? 0 : TL_ENOMEM;
	if (code == 0)
		code = tl__analyzer_launcher_overlaps(a, cells);
	code = code < 0 ? tl__nomem(err) : tl__overlap_columns(table, cells, sizeof *cells, err);
	tl__free(cells);
	return code;
}

static int add_starts(const tl_analyzer *a, tl_table *table, const tl_launcher_list *list, tl_error *err)
{
	tl_column *column = tl__table_add(table, "ts", "µs", TL_COL_DOUBLE);
	if (!column)
		return tl__nomem(err);
	for (size_t i = 0; i < list->n; i++) {
		tl_time start = a->store->start[a->tree->row[list->pos[i]]];
		if (start != TL_TIME_NONE)
			column->f64[i] = tl__us(start);
	}
	return 0;
}

static int add_recompute(const tl_analyzer *a, tl_table *table, const tl_launcher_list *list, tl_error *err)
{
	tl_row *events = tl__malloc((list->n + 1) * sizeof *events);
	if (!events)
		return tl__nomem(err);
	for (size_t i = 0; i < list->n; i++)
		events[i] = a->tree->row[list->pos[i]];
	int code = tl__event_recompute_column(a, table, events, err);
	tl__free(events);
	return code;
}

/* Overlaps and start go before the arguments, as the reference has them. */
static int add_more_columns(tl_analyzer *a, tl_table *table, const tl_launcher_list *list, tl_error *err)
{
	size_t base = table->columns.n;
	if (a->options.overlap)
		TL_TRY(add_overlaps(a, table, list, err));
	if (a->options.first_occurrence)
		TL_TRY(add_starts(a, table, list, err));
	for (size_t i = base; i < table->columns.n; i++)
		tl__table_move_column(table, i, L_COUNT + 1 + (i - base));
	return a->options.detect_recompute ? add_recompute(a, table, list, err) : 0;
}

int tl__launchers(tl_table **out, tl_analyzer *a, tl_error *err)
{
	const tl_launcher_list *list;
	*out = NULL;
	if (tl__analyzer_launchers(a, &list) < 0)
		return tl__nomem(err);
	tl_table *table = tl__table_new("kernel_launchers", a->strings, list->n);
	if (!table)
		return tl__nomem(err);
	int code = tl__add_columns(table, columns, L_COLUMNS);
	for (size_t i = 0; i < list->n && code == 0; i++)
		code = fill_row(a, table, list, i);
	code = code < 0 ? tl__nomem(err) : add_more_columns(a, table, list, err);
	if (code < 0) {
		tl_table_free(table);
		return code;
	}
	*out = table;
	return 0;
}
