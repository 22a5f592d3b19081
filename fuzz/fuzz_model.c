/* SPDX-License-Identifier: MIT */
/* Operation models over any argument texts: five JSON values a line each (dims, types, strides, concrete, extras). */
#include <stdlib.h>
#include <string.h>

#include "perf/gemm.h"
#include "perf/model.h"
#include "perf/triton.h"
#include "util/arena.h"
#include "util/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const tl_perf_model *model, const tl_perf_input *in, tl_arena *arena)
{
	tl_perf_result result;
	tl_buf text = {0};
	if (model->eval(in, arena, &result) < 0)
		abort();
	if (result.n_params > TL_PERF_MAX_PARAMS || (result.status == TL_PERF_FAILED && !result.why))
		abort();
	for (size_t i = 0; i < result.n_params; i++)
		tl__value_str(&text, &result.params[i].value);
	tl__buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	const tl_value *args[5] = {NULL};
	tl_arena arguments = {0};
	tl_gemm_kernel kernel_name;
	size_t n;
	const tl_perf_model *models = tl__perf_models(&n);

	for (size_t i = 0; i < 5 && p < end; i++) {
		const char *line = memchr(p, '\n', (size_t)(end - p));
		const tl_value *value;
		if (!line)
			line = end;
		if (tl__value_parse(&arguments, p, (size_t)(line - p), false, &value) == 0)
			args[i] = value;
		p = line < end ? line + 1 : end;
	}
	/* the rest is a kernel's name */
	char *kernel = tl__arena_strndup(&arguments, p, (size_t)(end - p));
	const char *kernels[1] = {kernel};
	if (!kernel)
		return 0;
	tl__gemm_kernel(&kernel_name, kernel);
	tl__triton_ops(NULL, 0, kernel);
	tl__perf_category(kernel, strlen(kernel), kernel);

	tl_perf_input forward = {.dims = args[0], .types = args[1], .strides = args[2], .concrete = args[3]};
	tl_perf_input in = forward;
	in.extras = args[4];
	in.kernels = kernels;
	in.n_kernels = 1;
	in.annotation = kernel;
	in.forward = &forward;
	for (size_t i = 0; i <= n; i++) {
		const tl_perf_model *model = i < n ? &models[i] : tl__perf_model(kernel, strlen(kernel));
		tl_arena arena = {0};
		in.name = i < n ? models[i].name : kernel;
		if (model)
			evaluate(model, &in, &arena);
		tl__arena_free(&arena);
	}
	tl__arena_free(&arguments);
	return 0;
}
