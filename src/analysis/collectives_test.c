/* SPDX-License-Identifier: MIT */
/* Sheet coll_analysis; expected values from spec 02 section 9.4 or counted by hand. */
#include "analysis/analysis_fixture.h"

static tl_row comm_kernel(tl_store *s, const char *name, double start, double dur, tl_id correlation)
{
	return tl_fixture_gpu(s, TL_KIND_KERNEL, name, 0, 4, start, dur, correlation);
}

static void set_fields(tl_store *s, tl_row row, const char *const text[TL_COLL_FIELDS])
{
	tl_coll_args args = {0};
	for (size_t i = 0; i < TL_COLL_FIELDS; i++)
		args.field[i] = text[i] ? tl__interns(s->strings, text[i]) : TL_STR_NONE;
	tl_fixture_link_args(s, row)->collective = (uint32_t)s->collectives.n;
	assert_int_equal(TL_VEC_PUSH(&s->collectives, args), 0);
}

static tl_table *sheet_of(fixture *f)
{
	tl_error err = TL_ERROR_INIT;
	tl_table *t;
	assert_int_equal(tl__coll_analysis(&t, f->a, &err), 0);
	return t;
}

static const char *const allreduce[TL_COLL_FIELDS] = {
	"\"0\"", "\"[0, 1, 2, 3]\"", "\"allreduce\"", "4", "\"BFloat16\"", "1048576", "524288", "\"[]\"", "[]",
};
static const char *const broadcast[TL_COLL_FIELDS] = {
	"\"0\"", "\"[0, 1, 2, 3]\"", "\"broadcast\"", "4", "\"Float\"", "16", "16", "\"[]\"", "[]",
};

static void kernels_of_equal_fields_form_one_row(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 100, 10, 1), allreduce);
	set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 200, 90, 2), broadcast);
	set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 300, 30, 3), allreduce);
	comm_kernel(s, "gemm", 400, 1000, 4);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = sheet_of(&f);
	assert_int_equal(tl_table_rows(t), 2);
	expect_text(t, 0, "Collective name", "broadcast");
	expect_number(t, 0, "In msg size (MB)_first", 64.0 / 1048576);
	expect_empty(t, 0, "dur_std");
	expect_text(t, 1, "rank", "0");
	expect_text(t, 1, "Process Group Name", "0");
	expect_text(t, 1, "Process Group Ranks", "[0, 1, 2, 3]");
	expect_text(t, 1, "Group size", "4");
	expect_text(t, 1, "In msg nelems", "1048576");
	expect_text(t, 1, "In split size", "[]");
	expect_text(t, 1, "Out split size", "()"); /* a list becomes a tuple, a string stays as it is */
	expect_text(t, 1, "stream", "4");
	expect_number(t, 1, "In msg size (MB)_first", 2);
	expect_number(t, 1, "Out msg size (MB)_first", 1);
	expect_number(t, 1, "dur_sum", 40);
	expect_number(t, 1, "dur_mean", 20);
	expect_number(t, 1, "dur_std", sqrt(200));
	expect_number(t, 1, "dur_min", 10);
	expect_number(t, 1, "dur_max", 30);
	expect_text(t, 1, "operation_count", "2");
	tl_table_free(t);
	fixture_close(&f);
}

static void what_lacks_a_field_is_dropped(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	const char *partial[TL_COLL_FIELDS];
	memcpy(partial, allreduce, sizeof partial);
	partial[TL_COLL_GROUP_SIZE] = NULL;
	set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 100, 10, 1), partial);
	comm_kernel(s, "rcclKernel", 200, 10, 2);
	set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 300, 10, TL_ID_NONE), allreduce); /* no identifier */
	fixture f;
	fixture_open(&f, s);
	tl_table *t = sheet_of(&f);
	assert_int_equal(tl_table_rows(t), 0);
	assert_int_equal(tl_table_columns(t), 19);
	tl_table_free(t);
	fixture_close(&f);
}

/* Spec 05 section 2.3: a group without a name is one of its own, and the only one there is on a single stream. */
static void groups_without_a_name_are_kept(void **state)
{
	(void)state;
	const char *nameless[TL_COLL_FIELDS], *called_unknown[TL_COLL_FIELDS];
	memcpy(nameless, allreduce, sizeof nameless);
	nameless[TL_COLL_GROUP_NAME] = NULL;
	memcpy(called_unknown, allreduce, sizeof called_unknown);
	called_unknown[TL_COLL_GROUP_NAME] = "\"Unknown_Group\"";
	for (int named = 0; named < 3; named++) {
		tl_store *s = tl__store_new();
		set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 100, 10, 1), nameless);
		set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 200, 30, 2), named ? nameless : called_unknown);
		if (named == 1)
			set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 300, 70, 3), allreduce);
		if (named == 2) /* no name at all, but another stream */
			tl_fixture_link_args(s, comm_kernel(s, "rcclKernel", 300, 70, 3))->stream = 5;
		fixture f;
		fixture_open(&f, s);
		tl_table *t = sheet_of(&f);
		assert_int_equal(tl_table_rows(t), named == 1 ? 2 : 1);
		if (named == 1)
			expect_text(t, 0, "Process Group Name", "0");
		expect_text(t, named == 1, "Process Group Name", named ? "Unknown_Group" : "all");
		expect_number(t, named == 1, "dur_sum", 40);
		expect_text(t, named == 1, "operation_count", "2");
		tl_table_free(t);
		fixture_close(&f);
	}
}

static void cross_device_reduce_is_an_allreduce(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	const char *nameless[TL_COLL_FIELDS];
	memcpy(nameless, allreduce, sizeof nameless);
	nameless[TL_COLL_NAME] = NULL;
	nameless[TL_COLL_DTYPE] = "\"Complex\"";
	set_fields(s, comm_kernel(s, "void vllm::cross_device_reduce_1stage<bf16>", 100, 10, 1), nameless);
	fixture f;
	fixture_open(&f, s);
	tl_table *t = sheet_of(&f);
	assert_int_equal(tl_table_rows(t), 1);
	expect_text(t, 0, "Collective name", "allreduce");
	expect_empty(t, 0, "In msg size (MB)_first");
	tl_table_free(t);
	fixture_close(&f);
}

static int timeline_and_collectives(const tl_tree *tree)
{
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a;
	tl_table *timeline = NULL, *collectives = NULL;
	double threshold = 5;
	int code = tl__analyzer_new(&a, tree, &(tl_analyzer_options){.include_unlinked = true}, &err);
	if (code < 0)
		return code;
	code = tl__gpu_timeline(&timeline, a, &threshold, &err);
	if (code == 0)
		code = tl__coll_analysis(&collectives, a, &err);
	tl_table_free(timeline);
	tl_table_free(collectives);
	tl__analyzer_free(a);
	return code;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	tl_store *s = tl__store_new();
	set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 100, 10, 1), allreduce);
	set_fields(s, comm_kernel(s, "ncclDevKernel_Generic", 200, 90, 2), broadcast);
	expect_failed_allocations_reported(s, timeline_and_collectives, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_equal_fields_form_one_row),
		cmocka_unit_test(what_lacks_a_field_is_dropped),
		cmocka_unit_test(groups_without_a_name_are_kept),
		cmocka_unit_test(cross_device_reduce_is_an_allreduce),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
