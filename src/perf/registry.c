/* SPDX-License-Identifier: MIT */
/* The registry: which operation name has which model, category and sheet. */
#include <string.h>

#include "perf/families.h"
#include "perf/model.h"

/* Kernel names tell the transposes of matrix multiplications. */
enum {
	ARGS = TL_READS_ARGS,
	GEMM = TL_READS_ARGS | TL_READS_KERNELS,
	FORWARD = TL_READS_FORWARD,
	STEP = TL_READS_ARGS | TL_READS_STEP | TL_READS_EXTRAS,
	PSEUDO = TL_READS_ARGS | TL_READS_EXTRAS,
	PSEUDO_GEMM = TL_READS_ARGS | TL_READS_EXTRAS | TL_READS_KERNELS,
};

static const tl_perf_model models[] = {
#define MODEL(...) {__VA_ARGS__},
#define MODEL_OUTSIDE_STEPS(...)
#include "perf/models.def"
#undef MODEL
#undef MODEL_OUTSIDE_STEPS
};

static const tl_perf_model outside_steps[] = {
#define MODEL(...)
#define MODEL_OUTSIDE_STEPS(...) {__VA_ARGS__},
#include "perf/models.def"
#undef MODEL
#undef MODEL_OUTSIDE_STEPS
};

enum { N_MODELS = sizeof models / sizeof *models };

static const uint16_t by_name[] = {
#include "perf/models_sorted.inc"
};

_Static_assert(sizeof by_name / sizeof *by_name == N_MODELS, "each model stands in a line of its own");

/* Models of names that only begin alike; they belong to no sheet. */
static const tl_perf_model patterns[] = {
	{"triton_poi_", "triton", NULL, NULL, ARGS, tl__model_triton},
	{"triton_red_", "triton", NULL, NULL, ARGS, tl__model_triton},
	{"triton_per_", "triton", NULL, NULL, ARGS, tl__model_triton},
};

static const char *const sheets[] = {
	"GEMM",
	"SDPA",
	"CONV",
	"InferenceAttention",
	"BinaryElementwise",
	"GroupedGEMM",
	"MoE_comm",
	"SSM",
	"RoPE",
	"CrossEntropy",
	"UnaryElementwise",
	"MoE_fused",
	"MoE_unfused",
	"MoE_aux",
	"RMSNorm",
	"elementwise",
	"GroupQuant",
	"FusedRoPE",
	"CustomCollective",
	"mHC",
	"Normalization",
	"Reduce",
};

/* Order of a terminated and a counted name; the counted one may hold any bytes. */
static int compare(const char *entry, const char *name, size_t n)
{
	size_t length = strlen(entry);
	int order = memcmp(entry, name, length < n ? length : n);
	return order ? order : length < n ? -1 : length > n;
}

const tl_perf_model *tl__perf_model_exact(const char *name, size_t n)
{
	size_t low = 0, high = N_MODELS;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const tl_perf_model *model = &models[by_name[middle]];
		int order = compare(model->name, name, n);
		if (order == 0)
			return model;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const tl_perf_model *tl__perf_model(const char *name, size_t n)
{
	const tl_perf_model *model = tl__perf_model_exact(name, n);
	for (size_t i = 0; !model && i < sizeof patterns / sizeof *patterns; i++) {
		size_t length = strlen(patterns[i].name);
		if (n >= length && !memcmp(patterns[i].name, name, length))
			model = &patterns[i];
	}
	return model;
}

const tl_perf_model *tl__perf_model_outside_steps(const tl_perf_model *model)
{
	/* a registered model of the same name stands for all events */
	if (model < models || model >= models + N_MODELS || !(model->reads & TL_READS_STEP))
		return NULL;
	for (size_t i = 0; i < sizeof outside_steps / sizeof *outside_steps; i++)
		if (!strcmp(outside_steps[i].name, model->name))
			return &outside_steps[i];
	return NULL;
}

const tl_perf_model *tl__perf_models(size_t *n)
{
	*n = N_MODELS;
	return models;
}

const char *const *tl__perf_sheets(size_t *n)
{
	*n = sizeof sheets / sizeof *sheets;
	return sheets;
}
