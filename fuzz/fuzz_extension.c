/* SPDX-License-Identifier: MIT */
/* Any text as an extension file: read, then run over a small trace: tree functions, models, categories. */
#include <stdlib.h>
#include <string.h>

#include "tracelens/tracelens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An operation with arguments, a module of Megatron, its backward, a graph of two kernels. */
static const char trace_text[] =
	"{\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1000,\"dur\":30,\"args\":{"
	"\"Input Dims\":[[4,8],[8,2]],\"Input type\":[\"c10::BFloat16\",\"float\"],\"Input Strides\":[[8,1],[2,1]],"
	"\"Concrete Inputs\":[\"\",\"\"]}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":1,\"ts\":1002,\"dur\":3,"
	"\"args\":{\"correlation\":1}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nvjet_1\",\"pid\":0,\"tid\":7,\"ts\":1050,\"dur\":10,"
	"\"args\":{\"correlation\":1,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"_Linear\",\"pid\":1,\"tid\":1,\"ts\":1100,\"dur\":60,\"args\":{"
	"\"Input Dims\":[[256,128],[4,8,128],[],[],[]],\"Input type\":[\"half\",\"half\",\"\",\"\",\"\"],"
	"\"Concrete Inputs\":[\"\",\"\",\"\",\"\",\"True\"],\"Sequence number\":5}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":1,\"ts\":1102,\"dur\":3,"
	"\"args\":{\"correlation\":2}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nvjet_2\",\"pid\":0,\"tid\":7,\"ts\":1150,\"dur\":10,"
	"\"args\":{\"correlation\":2,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"autograd::engine::evaluate_function: _LinearBackward\",\"pid\":1,"
	"\"tid\":2,\"ts\":1200,\"dur\":90,\"args\":{\"Sequence number\":5,\"Fwd thread id\":1}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"_LinearBackward\",\"pid\":1,\"tid\":2,\"ts\":1210,\"dur\":70,"
	"\"args\":{\"Sequence number\":5}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"graph\",\"pid\":1,\"tid\":2,\"ts\":1220,\"dur\":3,"
	"\"args\":{\"correlation\":3}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nvjet_3\",\"pid\":0,\"tid\":7,\"ts\":1250,\"dur\":10,"
	"\"args\":{\"correlation\":3,\"stream\":7}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nvjet_4\",\"pid\":0,\"tid\":7,\"ts\":1270,\"dur\":10,"
	"\"args\":{\"correlation\":3,\"stream\":7}}"
	"]}";

static void note(void *user, const char *text)
{
	*(size_t *)user += strlen(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t noted = 0;
	const tl_extension_options limits = {
		.max_instructions = 200000, .max_memory = 8 << 20, .note = note, .user = &noted};
	tl_error err = TL_ERROR_INIT;
	tl_extension *x;
	if (tl_extension_open_memory(&x, (const char *)data, size, "fuzz.lua", &limits, &err) < 0) {
		if (!err.message[0] || x)
			abort();
		return 0;
	}
	tl_trace *trace;
	tl_report *report;
	if (tl_trace_open_memory(&trace, trace_text, sizeof trace_text - 1, &(tl_trace_options){.single_thread = true},
				 NULL) < 0)
		abort();
	tl_report_options options = tl_report_options_default();
	const tl_hook *hook = tl_extension_hook(x);
	options.hooks = &hook;
	options.n_hooks = 1;
	err = (tl_error)TL_ERROR_INIT;
	int code = tl_report_pytorch(&report, trace, &options, &err);
	/* a failure says why, and is the extension's or that of its sheets */
	if (code < 0 && (!err.message[0] || (code != TL_ECALLBACK && code != TL_EINVAL)))
		abort();
	tl_report_free(report);
	tl_trace_free(trace);
	tl_extension_notes(x);
	tl_extension_free(x);
	return 0;
}
