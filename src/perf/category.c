/* SPDX-License-Identifier: MIT */
/* Category of an operation: by its name, else by the name of its first kernel. */
#include <string.h>

#include "perf/model.h"
#include "perf/registry.h"

typedef struct entry {
	const char *name, *category;
} entry;

static const entry entries[] = {
#define CATEGORY(name, category) {name, category},
#define CATEGORY_LIKE(prefix, category)
#include "perf/categories.def"
#undef CATEGORY
#undef CATEGORY_LIKE
};

static const uint16_t by_name[] = {
#include "perf/categories_sorted.inc"
};

static const entry patterns[] = {
#define CATEGORY(name, category)
#define CATEGORY_LIKE(prefix, category) {prefix, category},
#include "perf/categories.def"
#undef CATEGORY
#undef CATEGORY_LIKE
};

enum { N_ENTRIES = sizeof entries / sizeof *entries, N_PATTERNS = sizeof patterns / sizeof *patterns };

_Static_assert(sizeof by_name / sizeof *by_name == N_ENTRIES, "each name stands in a line of its own");

const char *tl__perf_category_name(size_t index)
{
	return index < N_ENTRIES ? entries[by_name[index]].name : NULL;
}

static bool begins(const char *name, size_t n, const char *prefix)
{
	size_t length = strlen(prefix);
	return n >= length && !memcmp(name, prefix, length);
}

static const char *listed(const char *name, size_t n)
{
	size_t low = 0, high = N_ENTRIES;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const entry *e = &entries[by_name[middle]];
		size_t length = strlen(e->name);
		int order = memcmp(e->name, name, length < n ? length : n);
		if (order == 0)
			order = length < n ? -1 : length > n;
		if (order == 0)
			return e->category;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < N_PATTERNS; i++)
		if (begins(name, n, patterns[i].name))
			return patterns[i].category;
	return NULL;
}

/* Only kernels of PyTorch itself are told apart. */
static const char *by_kernel(const char *kernel)
{
	static const char *const kinds[] = {"elementwise", "reduce", "multi_tensor_apply"};
	if (!kernel || strncmp(kernel, "void at::native", 15) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strstr(kernel, kinds[i]))
			return kinds[i];
	return NULL;
}

const char *tl__perf_category(const char *name, size_t n, const char *first_kernel)
{
	const char *category = listed(name, n);
	if (category)
		return category;
	const tl_perf_model *model = tl__perf_model_exact(name, n);
	if (model)
		return model->category;
	if (begins(name, n, "triton"))
		return "triton";
	if (begins(name, n, "record_param_comms"))
		return "record_param_comms";
	category = by_kernel(first_kernel);
	return category ? category : "other";
}
