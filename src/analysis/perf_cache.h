/* SPDX-License-Identifier: MIT */
/**
 * @file perf_cache.h
 * What metrics.c and unified.c share: models by name id, results per distinct input together with
 * their texts, the events of each sheet family, and the GPU events that an event stands for.
 */
#ifndef TL_ANALYSIS_PERF_CACHE_H
#define TL_ANALYSIS_PERF_CACHE_H

#include "analysis/analyzer.h"

/** Result of a model for one distinct input, with what tables print of it. */
typedef struct tl_perf_entry {
	tl_perf_result result; /* first, so that a pointer to it is one to the entry */
	const tl_perf_model *model;
	uint64_t hash;
	uint32_t *key;
	size_t n_key;
	tl_str spec;            /* "matrix_bf16", TL_STR_NONE when type or precision is missing */
	tl_str *names, *texts;  /* of each parameter: "param: M", "512" (TL_STR_NONE when absent) */
	const tl_value *params; /* dict of all parameters */
	uint32_t *columns;      /* of each parameter in the table that is being made ... */
	uint32_t table;         /* ... whose number this is */
} tl_perf_entry;

/** The model of an event, which is not that of its name where tl__perf_model_outside_steps says so. */
int tl__perf_model_at(tl_analyzer *a, tl_row event, const tl_perf_model **out, bool *pattern);
/** The category of an event with this name (its own, or that of a row made from it) and first kernel. TL_ENOMEM. */
int tl__perf_category_at(tl_analyzer *a, tl_row event, tl_str name, tl_str first_kernel, tl_str *out);

/**
 * What the model of `event` (exact name or pattern) says, evaluated once per distinct input; it lives as long as the
 * analyser. *out is NULL when the operation has no model. `kernels` are the GPU events below it in order of start
 * (only read by models that declare TL_READS_KERNELS).
 */
int tl__perf_entry_of(tl_analyzer *a, tl_row event, const tl_row *kernels, size_t n_kernels, tl_perf_entry **out);
/** Fills names, texts and params of an entry whose status is OK; done once. */
int tl__perf_entry_texts(tl_analyzer *a, tl_perf_entry *entry);

/** Events with an exact model of this sheet family, in row order. TL_ENOTFOUND: no such family. */
int tl__perf_family(tl_analyzer *a, const char *sheet, const tl_row **rows, size_t *n);

/**
 * The GPU events of an event in order of start: those below it, or (`backward`) those below the
 * backward events of its subtree. Valid until the next call with the same `backward`.
 */
int tl__perf_gpu_events(tl_analyzer *a, tl_row event, bool backward, const tl_row **rows, size_t *n);

/** Numbers the tables, for tl_perf_entry.columns. */
uint32_t tl__perf_next_table(tl_analyzer *a);

#endif
