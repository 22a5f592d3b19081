/* SPDX-License-Identifier: MIT */
/* GPU platforms that ship with the program: memory bandwidth and rates by compute spec. */
#include <string.h>
#include <strings.h>

#include "perf/model.h"

typedef struct rate {
	const char *spec;  /* "matrix_bf16"; NULL ends the list */
	double achievable; /* TFLOP/s measured with the vendor's libraries, or 0 */
	double peak;       /* TFLOP/s of the data sheet, or 0 */
} rate;

struct tl_arch {
	const char *name;
	double bandwidth_gbps; /* 10^9 bytes per second */
	double memory_gb;
	const rate *rates;
};

static const rate mi300x[] = {
	{"matrix_fp16", 654, 0},
	{"matrix_bf16", 708, 0},
	{"matrix_fp32", 163, 0},
	{"matrix_fp64", 81, 0},
	{"matrix_fp8", 1273, 0},
	{"matrix_int8", 2600, 0},
	{"vector_fp16", 163, 0},
	{"vector_bf16", 163, 0},
	{"vector_fp32", 81, 0},
	{"vector_fp64", 40, 0},
	{NULL, 0, 0},
};

static const rate mi325x[] = {
	{"matrix_fp16", 794, 0},
	{"matrix_bf16", 843, 0},
	{"matrix_fp32", 194, 0},
	{"matrix_fp64", 97, 0},
	{"matrix_fp8", 1519, 0},
	{"matrix_int8", 3094, 0},
	{"vector_fp16", 194, 0},
	{"vector_bf16", 194, 0},
	{"vector_fp32", 97, 0},
	{"vector_fp64", 48, 0},
	{NULL, 0, 0},
};

static const tl_arch archs[] = {
	{"MI300X", 5300, 192, mi300x},
	{"MI325X", 6000, 256, mi325x},
};

const tl_arch *tl__arch_find(const char *name)
{
	for (size_t i = 0; name && i < sizeof archs / sizeof *archs; i++)
		if (!strcasecmp(archs[i].name, name))
			return &archs[i];
	return NULL;
}

const char *tl__arch_name(size_t index)
{
	return index < sizeof archs / sizeof *archs ? archs[index].name : NULL;
}

double tl__arch_bandwidth(const tl_arch *arch)
{
	return arch ? arch->bandwidth_gbps * 1e9 : 0;
}

double tl__arch_memory(const tl_arch *arch)
{
	return arch ? arch->memory_gb * 1e9 : 0;
}

double tl__arch_rate(const tl_arch *arch, const char *spec, bool *is_peak)
{
	if (is_peak)
		*is_peak = false;
	for (const rate *r = arch && spec ? arch->rates : NULL; r && r->spec; r++) {
		if (strcmp(r->spec, spec))
			continue;
		if (is_peak)
			*is_peak = r->achievable <= 0 && r->peak > 0;
		return (r->achievable > 0 ? r->achievable : r->peak) * 1e12;
	}
	return 0;
}
