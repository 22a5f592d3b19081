/* SPDX-License-Identifier: MIT */
#include "report/compared.h"

#include "trace/trace.h"

static bool has_gpu_work(const tl_store *store)
{
	for (size_t row = 0; row < store->n; row++)
		if (tl__kind_is_gpu(store->kind[row]) && tl__end(store, (tl_row)row) != TL_TIME_NONE)
			return true;
	return false;
}

static int check(const tl_trace *trace, const tl_store *store, const char *path, tl_error *err)
{
	int code = 0;
	if (tl_trace_is_truncated(trace))
		code = tl__fail(err, TL_EFORMAT, "the file is cut off; a comparison needs all of the trace");
	else if (!has_gpu_work(store))
		code = tl__fail(err, TL_EEMPTY,
				"no GPU event with a usable time, nothing to compare with (was GPU activity switched "
				"on in the profiler?)");
	if (code < 0 && path)
		tl__error_where(err, path, -1);
	return code;
}

int tl__compared_open(tl_trace **out, const tl_report_options *options, tl_error *err)
{
	const char *path = options->comparison_path;
	TL_TRY(tl_trace_open(out, path, options->comparison_trace, err));
	int code = check(*out, (*out)->store, path, err);
	if (code < 0) {
		tl_trace_free(*out);
		*out = NULL;
	}
	return code;
}

int tl__compared_check(const tl_report_options *options, tl_error *err)
{
	const tl_tree *tree = options->comparison_tree;
	return check(tl_tree_trace(tree), tree->store, options->comparison_path, err);
}

/* ---- comparing ---- */

static int keep_rows(tl_compared *out, const tl_diff *diff, tl_error *err)
{
	tl_diff_rows rows;
	TL_TRY(tl__diff_rows_new(&rows, diff, err));
	int code = tl__diff_stats(&out->stats, &rows, err);
	if (code == 0)
		code = tl__table_own_values(out->stats, err);
	if (code == 0)
		code = tl__inline_diff_new(&out->diff, &rows, err);
	tl__diff_rows_free(&rows);
	return code;
}

static int name_health(tl_compared *out, const tl_tree *other, tl_error *err)
{
	static const char name[] = "comparison_health";
	TL_TRY(tl_tree_health(&out->health, other, err));
	out->health->name = tl__arena_strndup(&out->health->arena, name, sizeof name - 1);
	return out->health->name ? 0 : tl__nomem(err);
}

int tl__compared_new(tl_compared *out, const tl_tree *tree, const tl_tree *other, tl_error *err)
{
	tl_diff_totals totals;
	tl_diff *diff;
	*out = (tl_compared){0};
	bool single = tl_tree_trace(tree)->single_thread || tl_tree_trace(other)->single_thread;
	TL_TRY(tl_diff_new(&diff, tree, other, &(tl_diff_options){.single_thread = single}, err));
	tl_diff_get_totals(diff, &totals);
	out->identical = totals.identical;
	int code = keep_rows(out, diff, err);
	tl_diff_free(diff);
	if (code == 0)
		code = name_health(out, other, err);
	if (code < 0)
		tl__compared_free(out);
	return code;
}

void tl__compared_free(tl_compared *compared)
{
	tl__inline_diff_free(&compared->diff);
	tl_table_free(compared->stats);
	tl_table_free(compared->health);
	*compared = (tl_compared){0};
}
