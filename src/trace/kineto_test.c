/* SPDX-License-Identifier: MIT */
/* What events mean: kinds, identities, arguments, pairs, processes; and real traces as a whole. */
#include <time.h>

#include "trace/corpus_fixture.h"
#include "trace/kinds.h"
#include "trace/trace_testing.h"
#include "util/buf.h"

static void kinds_of_categories(void **state)
{
	static const struct {
		const char *category;
		tl_kind kind;
		bool known;
	} cases[] = {
		{"cpu_op", TL_KIND_CPU_OP, true},
		{"Operator", TL_KIND_CPU_OP, true},
		{"cuda_runtime", TL_KIND_RUNTIME, true},
		{"cuda_driver", TL_KIND_RUNTIME, true},
		{"xpu_runtime", TL_KIND_RUNTIME, true},
		{"xpu_driver", TL_KIND_RUNTIME, true},
		{"mtia_runtime", TL_KIND_RUNTIME, true},
		{"privateuse1_runtime", TL_KIND_RUNTIME, true},
		{"glow_runtime", TL_KIND_RUNTIME, true},
		{"Runtime", TL_KIND_RUNTIME, true},
		{"python_function", TL_KIND_PYTHON, true},
		{"kernel", TL_KIND_KERNEL, true},
		{"Kernel", TL_KIND_KERNEL, true},
		{"gpu_memcpy", TL_KIND_MEMCPY, true},
		{"Memcpy", TL_KIND_MEMCPY, true},
		{"gpu_memset", TL_KIND_MEMSET, true},
		{"Memset", TL_KIND_MEMSET, true},
		{"user_annotation", TL_KIND_ANNOTATION, true},
		{"gpu_user_annotation", TL_KIND_GPU_ANNOTATION, true},
		{"ac2g", TL_KIND_FLOW, true},
		{"async_cpu_to_gpu", TL_KIND_FLOW, true},
		{"fwdbwd", TL_KIND_FWDBWD, true},
		{"cuda_sync", TL_KIND_OTHER, true},
		{"cuda_profiler_range", TL_KIND_OTHER, true},
		{"overhead", TL_KIND_OTHER, true},
		{"Trace", TL_KIND_OTHER, true},
		{"cpu_instant_event", TL_KIND_OTHER, true},
		{"mtia_ccp_events", TL_KIND_OTHER, true},
		{"", TL_KIND_OTHER, true},
		{"kernels", TL_KIND_OTHER, false},
		{"runtimes", TL_KIND_OTHER, false},
		{"something else", TL_KIND_OTHER, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool known;
		tl_kind kind = tl__kind_of_category(cases[i].category, strlen(cases[i].category), &known);
		if (kind != cases[i].kind || known != cases[i].known)
			fail_msg("%s: %d %d", cases[i].category, kind, known);
	}
}

static void phases(void **state)
{
	(void)state;
	tl_trace *trace = load("[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1},"
			       "{\"ph\":\"i\",\"cat\":\"cpu_op\",\"ts\":1},"
			       "{\"ph\":\"s\",\"cat\":\"kernel\",\"ts\":1},"
			       "{\"ph\":\"C\",\"cat\":\"cpu_op\",\"ts\":1},"
			       "{\"ph\":\"f\",\"cat\":\"ac2g\",\"id\":4,\"ts\":1},"
			       "{\"ph\":\"X\",\"cat\":\"ac2g\",\"id\":4,\"ts\":1,\"dur\":1},"
			       "{\"cat\":\"cpu_op\",\"ts\":1,\"dur\":2},"
			       "{\"ph\":\"Y\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":2},"
			       "{\"ph\":\"X\",\"cat\":\"strange\",\"ts\":1,\"dur\":2},"
			       "{\"ph\":\"X\",\"ts\":1,\"dur\":2},"
			       "{\"ph\":\"X\",\"cat\":null,\"name\":null,\"args\":null,\"ts\":1,\"dur\":2}]");
	static const tl_kind kinds[] = {TL_KIND_KERNEL, TL_KIND_CPU_OP, TL_KIND_OTHER,  TL_KIND_OTHER,
					TL_KIND_FLOW,   TL_KIND_OTHER,  TL_KIND_CPU_OP, TL_KIND_OTHER,
					TL_KIND_OTHER,  TL_KIND_OTHER,  TL_KIND_OTHER};
	const tl_store *store = trace->store;
	assert_int_equal(store->n, 11);
	for (tl_row row = 0; row < 11; row++)
		assert_int_equal(store->kind[row], kinds[row]);
	assert_true(store->flags[1] & TL_EVENT_NO_DUR);
	assert_int_equal(store->dur[1], 0);
	assert_int_equal(store->dur[6], US(2));
	assert_int_equal(found(trace, TL_HEALTH_UNKNOWN_PHASE), 1);
	assert_int_equal(found(trace, TL_HEALTH_UNKNOWN_CATEGORY), 1);
	assert_string_equal(store->health.entry[TL_HEALTH_UNKNOWN_CATEGORY].detail, "strange");
	assert_int_equal(store->category[9], 0);
	assert_int_equal(store->category[10], 0);
	assert_string_equal(name_of(trace, 10), "");
	/* X: 6 written, and one that has no letter but lasts */
	uint64_t complete = 0, all = 0;
	for (size_t i = 0; i < store->phases.n; i++) {
		all += store->phases.v[i].count;
		if (!strcmp(text_of(trace, store->phases.v[i].name), "X"))
			complete = store->phases.v[i].count;
	}
	assert_int_equal(all, 11);
	assert_int_equal(complete, 6);
	tl_trace_free(trace);
}

static void arguments_of_operations(void **state)
{
	(void)state;
	tl_trace *trace =
		load("{\"traceEvents\":[{\"args\":{\"External id\":42,\"Sequence number\": 7,\n"
		     "\"Fwd thread id\": 3, \"Input Dims\": [ [ 2,  3 ],\n\t[], \"\" ],\n"
		     "\"Input type\": [\"float\", \"\", \"Scalar List\"], \"Input Strides\": [[3,1],[],[]],\n"
		     "\"Concrete Inputs\": [\"\", \"[1, 2]\", \"a \\\" b\"], \"kernel_file\": \"/tmp/k v.py\"},\n"
		     "\"ph\": \"X\", \"name\": \"aten::\\u00e4\\n\", \"cat\": \"cpu_op\", \"pid\": 1, \"tid\": 2,\n"
		     "\"ts\": 10, \"dur\": 1},\n"
		     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"ts\":10,\"dur\":1,\"args\":{\"external "
		     "id\":\"43\",\"Input Dims\":\"[[1, 2]]\",\"Input type\":null}},\n"
		     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"ts\":10,\"dur\":1,\"args\":{\"Ev Idx\":1}},\n"
		     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"d\",\"ts\":10,\"dur\":1}]}");
	const tl_op_args *args = tl__op_args(trace->store, 0);
	assert_healthy(trace);
	assert_string_equal(name_of(trace, 0), "aten::\xc3\xa4\n");
	assert_int_equal(args->external, 42);
	assert_int_equal(args->sequence, 7);
	assert_int_equal(args->fwd_thread, 3);
	assert_string_equal(text_of(trace, args->dims), "[[2,3],[],\"\"]");
	assert_string_equal(text_of(trace, args->types), "[\"float\",\"\",\"Scalar List\"]");
	assert_string_equal(text_of(trace, args->strides), "[[3,1],[],[]]");
	assert_string_equal(text_of(trace, args->concrete), "[\"\",\"[1, 2]\",\"a \\\" b\"]");
	assert_string_equal(text_of(trace, args->kernel_file), "\"/tmp/k v.py\"");
	args = tl__op_args(trace->store, 1);
	assert_int_equal(args->external, 43);
	assert_string_equal(text_of(trace, args->dims), "\"[[1, 2]]\"");
	assert_int_equal(args->types, TL_STR_NONE);
	assert_int_equal(args->sequence, TL_ID_NONE);
	assert_null(tl__op_args(trace->store, 2));
	assert_null(tl__op_args(trace->store, 3));
	assert_int_equal(track_of(trace, 0)->pid, 1);
	assert_int_equal(track_of(trace, 0)->tid, 2);
	assert_int_equal(trace->store->track[1], UINT32_MAX);
	tl_trace_free(trace);
}

static void arguments_of_launches_and_kernels(void **state)
{
	(void)state;
	tl_trace *trace = load(
		"[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"ts\":1,\"dur\":1,\"pid\":1,"
		"\"tid\":1,"
		"\"args\":{\"correlation\":5,\"External id\":9,\"grid\":[1, 2, 3],\"dtype\":\"x\"}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"ts\":1,\"dur\":1,\"pid\":0,\"tid\":\"stream 7\","
		"\"args\":{\"correlation\":0,\"stream\":0,\"device\":0,\"block\":[64,1,1],\"Collective "
		"name\":\"allreduce\","
		"\"In msg nelems\": 16, \"Out msg nelems\":16,\"Group size\":8,\"dtype\":\"BFloat16\",\"In split "
		"size\":\"[]\",\"Out split size\":\"[]\",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, "
		"1]\"}},"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"ts\":1,\"dur\":1,\"args\":{\"Python id\":2,"
		"\"Python parent id\":null,\"Python module id\":0}}]");
	const tl_store *store = trace->store;
	const tl_link_args *launch = tl__link_args(store, 0), *kernel = tl__link_args(store, 1);
	assert_healthy(trace);
	assert_int_equal(launch->correlation, 5);
	assert_int_equal(launch->external, 9);
	assert_int_equal(launch->stream, TL_ID_NONE);
	assert_string_equal(text_of(trace, launch->grid), "[1,2,3]");
	assert_int_equal(launch->collective, UINT32_MAX);
	/* 0 means "no correlation"; stream 0 is a stream */
	assert_int_equal(kernel->correlation, TL_ID_NONE);
	assert_int_equal(kernel->stream, 0);
	assert_int_equal(kernel->device, 0);
	assert_string_equal(text_of(trace, kernel->block), "[64,1,1]");
	static const char *const fields[] = {"\"0\"", "\"[0, 1]\"", "\"allreduce\"", "8",     "\"BFloat16\"",
					     "16",    "16",         "\"[]\"",        "\"[]\""};
	for (int i = 0; i < TL_COLL_FIELDS; i++)
		assert_string_equal(text_of(trace, store->collectives.v[kernel->collective].field[i]), fields[i]);
	assert_string_equal(id_of(trace, track_of(trace, 1)->tid), "stream 7");
	const tl_python_args *python = tl__python_args(store, 2);
	assert_int_equal(python->id, 2);
	assert_int_equal(python->parent, TL_ID_NONE);
	assert_int_equal(python->module, 0);
	tl_trace_free(trace);
}

/* The id of a correlation written this way. */
static tl_id id_written(tl_trace **trace, const char *written)
{
	char text[256];
	snprintf(text, sizeof text,
		 "[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"args\":{\"External id\":%s}}]", written);
	*trace = load(text);
	return tl__link_args((*trace)->store, 0)->external;
}

static void identifiers(void **state)
{
	static const struct {
		const char *written;
		tl_id id;
	} numbers[] = {{"7", 7},
		       {"\"7\"", 7},
		       {"7.0", 7},
		       {"\"7.0\"", 7},
		       {"7e0", 7},
		       {"0.7e1", 7},
		       {"0", 0},
		       {"\"0x1f\"", 31},
		       {"\"0X1F\"", 31},
		       {"139900000000128", UINT64_C(139900000000128)},
		       {"9007199254740993", UINT64_C(9007199254740993)},
		       {"9223372036854775807", UINT64_C(9223372036854775807)},
		       {"\"0x7fffffffffffffff\"", UINT64_C(9223372036854775807)},
		       {"null", TL_ID_NONE}};
	static const struct {
		const char *written, *text;
	} texts[] = {{"-1", "-1"},
		     {"7.5", "7.5"},
		     {"\"id42\"", "id42"},
		     {"\"007\"", "007"},
		     {"\"\"", ""},
		     {"18446744073709551615", "18446744073709551615"},
		     {"9223372036854775808", "9223372036854775808"},
		     {"\"0x\"", "0x"},
		     {"true", "true"}};
	tl_trace *trace;
	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		tl_id id = id_written(&trace, numbers[i].written);
		if (id != numbers[i].id)
			fail_msg("%s", numbers[i].written);
		tl_trace_free(trace);
	}
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		tl_id id = id_written(&trace, texts[i].written);
		assert_true(id & TL_ID_TEXT);
		assert_string_equal(id_of(trace, id), texts[i].text);
		tl_trace_free(trace);
	}
}

/* Case 32. */
static void threads_are_not_cut_to_32_bits(void **state)
{
	static const char *const tids[][2] = {{"139900000000128", "139900400000128"}, {"4294967301", "5"}};
	(void)state;
	for (int i = 0; i < 2; i++) {
		char text[512];
		snprintf(text, sizeof text,
			 "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":9000000000,\"tid\":%s,\"ts\":0,"
			 "\"dur\":10},"
			 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":9000000000,\"tid\":%s,\"ts\":5,"
			 "\"dur\":10},"
			 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":\"9000000000\",\"tid\":\"%s\",\"ts\":"
			 "20,\"dur\":1}]",
			 tids[i][0], tids[i][1], tids[i][0]);
		tl_trace *trace = load(text);
		assert_int_equal(trace->store->tracks.n, 2);
		assert_int_not_equal(trace->store->track[0], trace->store->track[1]);
		assert_int_equal(trace->store->track[0], trace->store->track[2]);
		assert_int_equal(track_of(trace, 0)->pid, UINT64_C(9000000000));
		assert_int_equal(trace->store->processes.n, 1);
		tl_trace_free(trace);
	}
}

static void flow_ids(void **state)
{
	static const char *const same[][2] = {{"\"id\":31", "\"id\":\"0x1f\""},
					      {"\"id\":\"31\"", "\"id2\":{\"global\":31}"},
					      {"\"id2\":{\"local\":\"7\"}", "\"id2\":{ \"local\" : 7 }"}};
	static const char *const other[][2] = {
		{"\"id\":7", "\"id2\":{\"local\":7}"}, {"\"id\":\"a\"", "\"id\":\"b\""}, {"\"id\":7", "\"bp\":\"e\""}};
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		const char *const *ids = i < 3 ? same[i] : other[i - 3];
		char text[512];
		snprintf(text, sizeof text,
			 "[{\"ph\":\"s\",\"cat\":\"ac2g\",\"pid\":1,\"tid\":2,\"ts\":1,%s},"
			 "{\"ph\":\"f\",\"cat\":\"ac2g\",\"pid\":1,\"tid\":3,\"ts\":2,%s},"
			 "{\"ph\":\"t\",\"cat\":\"fwdbwd\",\"pid\":2,\"tid\":3,\"ts\":2,%s}]",
			 ids[0], ids[1], ids[0]);
		tl_trace *trace = load(text);
		const tl_store *store = trace->store;
		assert_int_equal(store->kind[0], TL_KIND_FLOW);
		assert_int_equal(store->kind[2], TL_KIND_FWDBWD);
		const tl_flow_args *a = &store->flows.v[store->side[0]], *b = &store->flows.v[store->side[1]],
				   *c = &store->flows.v[store->side[2]];
		assert_int_equal(a->phase, 's');
		assert_int_equal(b->phase, 'f');
		assert_int_equal(c->phase, 't');
		assert_int_equal(a->id == b->id, i < 3);
		/* what is local to a process is another id in another one */
		assert_int_equal(a->id == c->id, strstr(ids[0], "local") == NULL);
		tl_trace_free(trace);
	}
}

static void processes_and_threads(void **state)
{
	(void)state;
	tl_trace *trace = load(
		"[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"ts\":0,\"args\":{\"name\":\"first\"}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":1},"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"1\",\"args\":{\"name\":\"later\"}},"
		"{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":\"GPU 0\"}},"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":7,\"args\":{\"name\":\"stream 7\"}},"
		"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":7,\"args\":{\"sort_index\":1}},"
		"{\"ph\":\"M\",\"name\":\"num_cpus\",\"pid\":1,\"args\":{\"number\":8}},"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":\"nobody\"}},"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":8,\"args\":null},"
		"{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1}]");
	const tl_store *store = trace->store;
	assert_int_equal(store->n, 10);
	assert_int_equal(store->kind[0], TL_KIND_METADATA);
	const tl_process *process = &store->processes.v[track_of(trace, 1)->process];
	assert_string_equal(text_of(trace, process->name), "later");
	assert_string_equal(text_of(trace, process->labels), "GPU 0");
	assert_string_equal(text_of(trace, track_of(trace, 1)->thread_name), "stream 7");
	assert_only(trace, TL_HEALTH_METADATA, 3);
	tl_trace_free(trace);
}

static void begin_and_end(void **state)
{
	(void)state;
	tl_trace *trace =
		load("[{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":10},"
		     "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"inner\",\"pid\":1,\"tid\":1,\"ts\":12.5},"
		     "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"elsewhere\",\"pid\":1,\"tid\":2,\"ts\":13},"
		     "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":15},"
		     "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":20,\"name\":\"outer\"},"
		     "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":21},"
		     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"last\",\"pid\":1,\"tid\":1,\"ts\":30,\"dur\":4}]");
	const tl_store *store = trace->store;
	assert_int_equal(store->n, 7);
	assert_int_equal(store->dur[0], US(10));
	assert_int_equal(store->dur[1], US(2.5));
	/* never ended: ends with the trace */
	assert_int_equal(tl__end(store, 2), tl__end(store, 6));
	assert_int_equal(store->dur[2], US(21));
	assert_int_equal(store->kind[2], TL_KIND_CPU_OP);
	for (tl_row row = 3; row < 6; row++)
		assert_int_equal(store->kind[row], TL_KIND_OTHER);
	assert_string_equal(name_of(trace, 6), "last");
	assert_int_equal(found(trace, TL_HEALTH_UNMATCHED_BEGIN), 1);
	assert_int_equal(found(trace, TL_HEALTH_UNMATCHED_END), 1);
	assert_int_equal(store->health.entry[TL_HEALTH_UNMATCHED_END].first_row, 5);
	assert_int_equal(found(trace, TL_HEALTH_MISSING_DURATION), 0);
	tl_trace_free(trace);
}

static void more_categories_than_any_cache_holds(void **state)
{
	enum { MANY = 70000 };
	char *text = malloc((size_t)MANY * 64);
	size_t n = 0;
	(void)state;
	assert_non_null(text);
	for (int i = 0; i < MANY; i++)
		n += (size_t)sprintf(text + n, "%c{\"ph\":\"X\",\"cat\":\"c%d\",\"ts\":1,\"dur\":1}", i ? ',' : '[', i);
	n += (size_t)sprintf(text + n, ",{\"ph\":\"X\",\"cat\":\"c1\",\"ts\":1,\"dur\":1},"
				       "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1}]");
	tl_trace *trace = load_bytes(text, n);
	const tl_store *store = trace->store;
	assert_int_equal(store->categories.n, UINT16_MAX + 1);
	assert_string_equal(text_of(trace, store->categories.v[store->category[12345]]), "c12345");
	assert_int_equal(store->category[MANY], store->category[1]);
	assert_int_equal(store->kind[MANY + 1], TL_KIND_KERNEL);
	tl_trace_free(trace);
	free(text);
}

/* What an operation of the same name had before is compared first; it must not show. */
static void lists_that_come_again(void **state)
{
	static const char *const dims[][2] = {
		{"[[1, 2], [ ]]", "[[1,2],[]]"},      {"[[1, 2], [ ]]", "[[1,2],[]]"}, {"[[1,2],[]]", "[[1,2],[]]"},
		{"[[1, 2], [ ], 3]", "[[1,2],[],3]"}, {"[[1, 2]]", "[[1,2]]"},         {"[[1, 2], [ ]]", "[[1,2],[]]"},
		{"[ \"\xff\" ]", "[\"\xff\"]"},       {"[ \"\xff\" ]", "[\"\xff\"]"},  {"[ \"\\u0061\" ]", "[\"a\"]"},
		{"[ \"\\u0061\" ]", "[\"a\"]"},
	};
	enum { EVENTS = sizeof dims / sizeof *dims };
	tl_buf text = {0};
	(void)state;
	for (int i = 0; i < EVENTS; i++)
		tl__buf_printf(&text,
			       "%c{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"ts\":1,\"dur\":1,\"args\":{"
			       "\"Input Strides\":%s,\"Input Dims\":%s}}",
			       i ? ',' : '[', dims[EVENTS - 1 - i][0], dims[i][0]);
	tl__buf_puts(&text, "]");
	tl_trace *trace = load_bytes(text.v, text.n);
	assert_int_equal(trace->store->n, EVENTS);
	for (tl_row row = 0; row < EVENTS; row++) {
		const tl_op_args *args = tl__op_args(trace->store, row);
		assert_string_equal(text_of(trace, args->dims), dims[row][1]);
		assert_string_equal(text_of(trace, args->strides), dims[EVENTS - 1 - row][1]);
	}
	assert_only(trace, TL_HEALTH_BAD_UTF8, 4);
	tl_trace_free(trace);
	tl__buf_free(&text);
}

/* What stands before a value is expected to come again; the value itself may be of another type than the one before. */
static void args_that_are_no_objects(void **state)
{
	static const char *const other[] = {"null", "[1]", "\"External id\"", "7", "{}", "false"};
	static const char *const before[] = {"\"args\":", "\"args\": ", "\"args\":\n    "};
	enum { OTHERS = sizeof other / sizeof *other, BEFORE = sizeof before / sizeof *before };
	tl_buf text = {0};
	(void)state;
	for (int i = 0; i < OTHERS * BEFORE; i++)
		tl__buf_printf(
			&text,
			"%c{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"ts\":1,\"dur\":1,%s%s},"
			"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"ts\":1,\"dur\":1,%s{\"External id\":%d}}",
			i ? ',' : '[', before[i % BEFORE], other[i / BEFORE], before[i % BEFORE], i);
	tl__buf_puts(&text, "]");
	tl_trace *trace = load_bytes(text.v, text.n);
	assert_int_equal(trace->store->n, 2 * OTHERS * BEFORE);
	for (tl_row row = 0; row < OTHERS * BEFORE; row++) {
		assert_null(tl__op_args(trace->store, 2 * row));
		const tl_op_args *args = tl__op_args(trace->store, 2 * row + 1);
		assert_non_null(args);
		assert_int_equal(args->external, row);
	}
	assert_healthy(trace);
	tl_trace_free(trace);
	tl__buf_free(&text);
}

/* ---- calls ---- */

static int stop(void *user, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	++*(int *)user;
	return 1;
}

static void cancelling(void **state)
{
	int calls = 0;
	tl_trace_options options = {.single_thread = true, .progress = stop, .user = &calls};
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace = (void *)&calls;
	(void)state;
	assert_int_equal(tl_trace_open_memory(&trace, "[]", 2, &options, &err), TL_ECANCELLED);
	assert_null(trace);
	assert_int_equal(calls, 1);
	assert_int_equal(err.code, TL_ECANCELLED);
}

static void missing_file(void **state)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace;
	(void)state;
	assert_int_equal(tl_trace_open(&trace, "/nonexistent/trace.json", NULL, &err), TL_EIO);
	assert_null(trace);
	assert_string_equal(err.file, "/nonexistent/trace.json");
	assert_int_equal(tl_trace_open(&trace, "/nonexistent/trace.json", NULL, NULL), TL_EIO);
}

static const char sample[] =
	"{\"schemaVersion\":1,\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\\n\",\"pid\":1,\"tid\":\"t\",\"ts\":1.5,\"dur\":2,\"args\":{"
	"\"Input Dims\": [[1, 2]],\"External id\":-4}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"na\"me\",\"pid\":0,\"tid\":7,\"ts\":2,\"dur\":2,\"args\":{"
	"\"correlation\":5,\"Collective name\":\"x\"}},"
	"{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":0},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9},"
	"{\"ph\":\"s\",\"cat\":\"ac2g\",\"id2\":{\"local\":1},\"pid\":1,\"tid\":1,\"ts\":1e30},"
	"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"p\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{"
	"\"Python id\":1}},"
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"n\"}},{},{bad,{\"ph\":\"X\"}"
	"],\"traceName\":\"t\"}";

static void every_allocation_may_fail(void **state)
{
	tl_trace_options options = {.single_thread = true};
	(void)state;
	for (int64_t n = 0;; n++) {
		tl_error err = TL_ERROR_INIT;
		tl_trace *trace = NULL;
		tl__alloc_fail_after(n);
		int code = tl_trace_open_memory(&trace, sample, sizeof sample - 1, &options, &err);
		if (!code) {
			tl_table *table = NULL;
			code = tl_trace_health(&table, trace, &err);
			tl_table_free(table);
		}
		tl__alloc_fail_after(-1);
		if (!code)
			assert_int_equal(tl_trace_count(trace), 9);
		tl_trace_free(trace);
		if (!code) {
			assert_true(n > 30);
			break;
		}
		assert_int_equal(code, TL_ENOMEM);
		assert_int_equal(err.code, TL_ENOMEM);
	}
}

static void health_table(void **state)
{
	tl_table *table;
	(void)state;
	tl_trace *trace = load(sample);
	assert_int_equal(tl_trace_health(&table, trace, NULL), 0);
	tl_trace_free(trace); /* the table stands alone */
	static const char *const columns[] = {"kind",      "count",  "time ms", "first byte",
					      "first UID", "repair", "meaning", "example"};
	assert_int_equal(tl_table_columns(table), 8);
	for (size_t c = 0; c < 8; c++)
		assert_string_equal(tl_table_column_name(table, c), columns[c]);
	bool seen = false;
	for (size_t row = 0; row < tl_table_rows(table); row++) {
		char kind[64];
		tl_table_text(table, 0, row, kind, sizeof kind);
		if (strcmp(kind, "unescaped_quote") != 0)
			continue;
		seen = true;
		assert_int_equal(tl_table_int(table, 1, row), 1);
		assert_true(tl_table_is_null(table, 2, row));
		assert_int_equal(tl_table_int(table, 3, row), strstr(sample, "na\"me") - sample);
		assert_int_equal(tl_table_int(table, 4, row), 1);
		assert_int_equal(tl_table_int(table, 5, row), 1);
	}
	assert_true(seen);
	tl_table_free(table);
}

/* ---- real traces ---- */

/* Numbers of events and of GPU events as the reference counts them. */
static void real_traces(void **state)
{
	static const struct {
		const char *name;
		size_t events, gpu;
	} traces[] = {
		{"corpus/pytorch/h100_qwen1.5_0.5b.json.gz", 18221, 1707},
		{"corpus/pytorch/h100_timesformer.json.gz", 50125, 534},
		{"corpus/pytorch/mi210_gpu_only.json.gz", 2443, 562},
		{"corpus/pytorch/mi300_bert_small.json.gz", 2653, 61},
		{"corpus/pytorch/mi300_owlv2.json.gz", 130780, 4340},
		{"corpus/pytorch/mi300_qwen1.5_0.5b.json.gz", 18090, 1517},
		{"corpus/pytorch/mi300_resnet_checkpointing.json.gz", 56451, 3653},
		{"corpus/pytorch/mi300_timesformer.json.gz", 49950, 449},
		{"corpus/pytorch/normalization_layers.json.gz", 8500, 173},
		{"corpus/pytorch/torch_compile_triton.json.gz", 246, 12},
		{"corpus/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz", 2058, 558},
		{"corpus/inference/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz", 60315, 534},
		{"corpus/inference/vllm_decode_full/graph_execution.json.gz", 1993, 434},
		{"corpus/inference/vllm_prefilldecode_piecewise/graph_execution.json.gz", 19289, 423},
	};
	char path[4096];
	(void)state;
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
		tl_error err = TL_ERROR_INIT;
		tl_trace *trace;
		if (tl_trace_open(&trace, tl_corpus_needed(path, traces[i].name), NULL, &err) < 0)
			fail_msg("%s: %s", traces[i].name, err.message);
		size_t gpu = 0;
		for (size_t row = 0; row < trace->store->n; row++)
			gpu += tl__kind_is_gpu(trace->store->kind[row]);
		assert_int_equal(tl_trace_count(trace), traces[i].events);
		assert_int_equal(gpu, traces[i].gpu);
		assert_healthy(trace);
		assert_int_equal(trace->store->sources, 1);
		assert_in_range(tl_trace_memory(trace) / traces[i].events, 32, 200);
		tl_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_categories),
		cmocka_unit_test(phases),
		cmocka_unit_test(arguments_of_operations),
		cmocka_unit_test(arguments_of_launches_and_kernels),
		cmocka_unit_test(identifiers),
		cmocka_unit_test(threads_are_not_cut_to_32_bits),
		cmocka_unit_test(flow_ids),
		cmocka_unit_test(processes_and_threads),
		cmocka_unit_test(begin_and_end),
		cmocka_unit_test(more_categories_than_any_cache_holds),
		cmocka_unit_test(lists_that_come_again),
		cmocka_unit_test(args_that_are_no_objects),
		cmocka_unit_test(cancelling),
		cmocka_unit_test(missing_file),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(health_table),
		cmocka_unit_test(real_traces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
