/* SPDX-License-Identifier: MIT */
/*
 * An operation model of one's own. The library has a model of aten::copy_ among the elementwise operations; here it
 * gets another one, that counts what is read and what is written by their types, and a sheet of its own. Two more
 * operations get a category. docs/extending.md explains; custom_op.lua does the same for the command.
 *
 * usage: custom_op TRACE
 */
#include <stdio.h>
#include <string.h>
#include <tracelens/tracelens.h>

/* aten::copy_(to, from, non_blocking) */
static int copy_model(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	int64_t dims[8], n = 1;
	size_t *evaluations = user;
	(void)err; /* for failures that end everything; none can happen here */
	++*evaluations;

	ptrdiff_t rank = tl_model_dims(in, 0, dims, 8);
	if (rank < 0 || rank > 8)
		return tl_model_fail(out, "the first argument is no tensor");
	for (ptrdiff_t i = 0; i < rank; i++)
		n *= dims[i];
	int to = tl_model_type_bytes(tl_model_type(in, 0)), from = tl_model_type_bytes(tl_model_type(in, 1));
	if (!to || !from)
		return tl_model_decline(out); /* a type that nobody knows: no metrics, no complaint */

	tl_model_param_ints(out, "shape", dims, (size_t)rank);
	tl_model_param_text(out, "from", tl_model_type(in, 1));
	tl_model_param_text(out, "to", tl_model_type(in, 0));
	tl_model_cost_set(out, TL_COST_FLOPS, 0);
	tl_model_cost_set(out, TL_COST_BYTES, (double)n * (to + from));
	tl_model_spec(out, "vector", tl_model_type_precision(tl_model_type(in, 0)));
	return 0;
}

static int register_all(tl_analyzer *analyzer, size_t *evaluations, tl_error *err)
{
	const tl_model_desc copy = {
		.name = "aten::copy_", .category = "copy", .sheet = "Copies", .eval = copy_model, .user = evaluations};
	int code = tl_analyzer_register_model(analyzer, &copy, err);
	if (code == 0)
		code = tl_analyzer_set_category(analyzer, "aten::_foreach_mul_", "optimizer", err);
	if (code == 0)
		code = tl_analyzer_set_category(analyzer, "aten::_foreach_addcdiv_", "optimizer", err);
	return code;
}

static double number(const tl_table *table, size_t row, const char *column)
{
	ptrdiff_t c = tl_table_find_column(table, column);
	return c < 0 ? 0 : tl_table_double(table, (size_t)c, row);
}

static const char *text(const tl_table *table, size_t row, const char *column, char out[256])
{
	ptrdiff_t c = tl_table_find_column(table, column);
	out[0] = '\0';
	if (c >= 0)
		tl_table_text(table, (size_t)c, row, out, 256);
	return out;
}

/* The family that the model made, as any other one. */
static int print_copies(tl_analyzer *analyzer, tl_error *err)
{
	char a[256], b[256], c[256];
	tl_table *copies;
	int code = tl_analyzer_family_metrics(&copies, analyzer, "Copies", NULL, err);
	if (code < 0)
		return code;
	for (size_t row = 0; row < tl_table_rows(copies); row++)
		printf("copy of %s, %s to %s: %.6f MB in %.3f us, %.6f TB/s\n", text(copies, row, "param: shape", a),
		       text(copies, row, "param: from", b), text(copies, row, "param: to", c),
		       number(copies, row, "Data Moved (MB)"), number(copies, row, "Kernel Time (\xc2\xb5s)"),
		       number(copies, row, "TB/s"));
	tl_table_free(copies);
	return 0;
}

static int print_categories(tl_analyzer *analyzer, tl_error *err)
{
	char name[256];
	tl_table *launchers = NULL, *categories = NULL;
	int code = tl_analyzer_launchers(&launchers, analyzer, NULL, err);
	if (code == 0)
		code = tl_launchers_by_category(&categories, launchers, err);
	for (size_t row = 0; code == 0 && row < tl_table_rows(categories); row++)
		printf("category %-20s %8.3f ms\n", text(categories, row, "op category", name),
		       number(categories, row, "total_direct_kernel_time_ms"));
	tl_table_free(categories);
	tl_table_free(launchers);
	return code;
}

int main(int argc, char **argv)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = NULL;
	tl_tree *tree = NULL;
	tl_analyzer *analyzer = NULL;
	size_t evaluations = 0;
	if (argc != 2) {
		fprintf(stderr, "usage: custom_op TRACE\n");
		return 2;
	}
	int code = tl_trace_open(&trace, argv[1], NULL, &err);
	if (code == 0)
		code = tl_tree_build(&tree, trace, NULL, &err);
	if (code == 0)
		code = tl_analyzer_new(&analyzer, tree, NULL, &err);
	if (code == 0)
		code = register_all(analyzer, &evaluations, &err);
	if (code == 0)
		code = print_copies(analyzer, &err);
	if (code == 0)
		code = print_categories(analyzer, &err);
	if (code == 0)
		printf("the model was asked about %zu distinct inputs\n", evaluations);
	else
		fprintf(stderr, "custom_op: %s\n", err.message);
	tl_analyzer_free(analyzer);
	tl_tree_free(tree);
	tl_trace_free(trace);
	return code < 0;
}
