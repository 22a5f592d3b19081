/* SPDX-License-Identifier: MIT */
#include "analysis/entry_point.h"

#include <string.h>
#include <strings.h>

/* The function in "torch/nn/functional.py(2811): batch_norm"; the whole text when it is written otherwise. */
static const char *function_of(const char *frame)
{
	const char *found = frame;
	for (const char *p = frame; (p = strstr(p, "): ")); p += 3)
		found = p + 3;
	return found;
}

bool tl__is_wrapper_frame(const char *frame)
{
	static const char *const beginnings[] = {"<built-in", "pybind11_builtins", "nn.Module:"};
	static const char *const parts[] = {
		"torch/_ops.py",
		"torch/nn/modules/module.py",
		"torch/utils/_contextlib.py",
		"torch/utils/_device.py",
		"torch/_tensor.py",
		"torch/functional.py",
		"torch/overrides.py",
		"torch/_inductor/",
		"torch/_functorch/",
		"triton/backends/",
		"torch/distributed/c10d_logger.py",
	};
	static const char *const functions[] = {
		"__torch_function__",    "_call_impl", "_wrapped_call_impl", "decorate_context", "dispatch_wrapper",
		"handle_torch_function", "wrapper",    "custom_wrapper",     "wrapper_custom",   "outer_wrapper",
	};
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (!strncmp(frame, beginnings[i], strlen(beginnings[i])))
			return true;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(frame, parts[i]))
			return true;
	const char *function = function_of(frame);
	for (size_t i = 0; function != frame && i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(function, functions[i]))
			return true;
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether `name` is `operation` without any `_<digits>`. */
static bool is_without_numbers(const char *name, const char *operation)
{
	for (;;) {
		while (operation[0] == '_' && is_digit(operation[1]))
			for (operation++; is_digit(*operation); operation++)
				;
		if (*name != *operation)
			return false;
		if (!*name)
			return true;
		name++;
		operation++;
	}
}

static size_t find_operation(const tl_value *stack, size_t n, const char *operation)
{
	for (size_t i = n; i-- > 0;)
		if (!strcmp(stack[i].s, operation))
			return i;
	for (size_t i = n; i-- > 0;)
		if (is_without_numbers(stack[i].s, operation))
			return i;
	return n;
}

static bool contains_ignoring_case(const char *text, const char *part)
{
	size_t n = strlen(part);
	for (; *text; text++)
		if (!strncasecmp(text, part, n))
			return true;
	return n == 0;
}

tl_entry_point tl__entry_point(const tl_value *stack, size_t n, const char *operation)
{
	size_t at = find_operation(stack, n, operation);
	const char *local = operation;
	for (const char *p = operation; (p = strstr(p, "::")); p += 2)
		local = p + 2;
	for (size_t i = at + 1; i < n; i++)
		if (strstr(stack[i].s, ".py") && contains_ignoring_case(function_of(stack[i].s), local))
			return (tl_entry_point){TL_ENTRY_INWARD, at, i};
	for (size_t i = at < n ? at : 0; i-- > 0;)
		if (strstr(stack[i].s, ".py") && !tl__is_wrapper_frame(stack[i].s))
			return (tl_entry_point){TL_ENTRY_OUTWARD, at, i};
	return (tl_entry_point){TL_ENTRY_NOT_FOUND, 0, 0};
}
