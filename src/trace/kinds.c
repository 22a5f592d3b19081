/* SPDX-License-Identifier: MIT */
#include "trace/kinds.h"

#include <string.h>
#include <strings.h>

/* How a table entry is compared with a category. */
enum { WHOLE, SUFFIX, PREFIX, INSIDE };

/* The first entry that matches decides. Old Kineto wrote "Operator", "Runtime", "Kernel", "Memcpy", "Memset". */
static const struct {
	const char *text;
	uint8_t how, kind;
} categories[] = {
	{"cpu_op", WHOLE, TL_KIND_CPU_OP},
	{"operator", WHOLE, TL_KIND_CPU_OP},
	{"python_function", WHOLE, TL_KIND_PYTHON},
	{"kernel", WHOLE, TL_KIND_KERNEL},
	{"gpu_memcpy", WHOLE, TL_KIND_MEMCPY},
	{"memcpy", WHOLE, TL_KIND_MEMCPY},
	{"gpu_memset", WHOLE, TL_KIND_MEMSET},
	{"memset", WHOLE, TL_KIND_MEMSET},
	{"runtime", WHOLE, TL_KIND_RUNTIME},
	{"driver", WHOLE, TL_KIND_RUNTIME},
	{"_runtime", SUFFIX, TL_KIND_RUNTIME}, /* cuda_runtime, xpu_runtime, privateuse1_runtime ... */
	{"_driver", SUFFIX, TL_KIND_RUNTIME},
	{"ac2g", WHOLE, TL_KIND_FLOW},
	{"async_cpu_to_gpu", WHOLE, TL_KIND_FLOW},
	{"fwdbwd", WHOLE, TL_KIND_FWDBWD},
	{"gpu_user_annotation", INSIDE, TL_KIND_GPU_ANNOTATION},
	{"user_annotation", INSIDE, TL_KIND_ANNOTATION},
	/* known and used by nothing */
	{"cpu_instant_event", WHOLE, TL_KIND_OTHER},
	{"trace", WHOLE, TL_KIND_OTHER},
	{"overhead", WHOLE, TL_KIND_OTHER},
	{"cuda_sync", WHOLE, TL_KIND_OTHER},
	{"cuda_event", WHOLE, TL_KIND_OTHER},
	{"cuda_profiler_range", WHOLE, TL_KIND_OTHER},
	{"external_correlation", WHOLE, TL_KIND_OTHER},
	{"collective_comm", WHOLE, TL_KIND_OTHER},
	{"python_func", WHOLE, TL_KIND_OTHER},
	{"hpu_op", WHOLE, TL_KIND_OTHER},
	{"__metadata", WHOLE, TL_KIND_OTHER},
	{"mtia_", PREFIX, TL_KIND_OTHER},
	{"xpu_", PREFIX, TL_KIND_OTHER},
	{"privateuse1_", PREFIX, TL_KIND_OTHER},
};

static bool same(const char *a, const char *b, size_t n)
{
	return !strncasecmp(a, b, n);
}

static bool matches(const char *text, size_t n, const char *wanted, int how)
{
	size_t m = strlen(wanted);
	if (n < m)
		return false;
	switch (how) {
	case WHOLE:
		return n == m && same(text, wanted, m);
	case PREFIX:
		return same(text, wanted, m);
	case SUFFIX:
		return same(text + n - m, wanted, m);
	default:
		for (size_t i = 0; i + m <= n; i++)
			if (same(text + i, wanted, m))
				return true;
		return false;
	}
}

tl_kind tl__kind_of_category(const char *text, size_t n, bool *known)
{
	*known = true;
	for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
		if (matches(text, n, categories[i].text, categories[i].how))
			return (tl_kind)categories[i].kind;
	*known = n == 0;
	return TL_KIND_OTHER;
}
