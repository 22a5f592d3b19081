/* SPDX-License-Identifier: MIT */
/** @file registry.h What tests look at to check that the tables are sorted. */
#ifndef TL_PERF_REGISTRY_H
#define TL_PERF_REGISTRY_H

#include <stddef.h>

#include "perf/model.h"

/** Model number `index` in the order of names, or NULL past the last. */
const tl_perf_model *tl__perf_model_sorted(size_t index);
/** Name number `index` of those with a category but no model, or NULL past the last. */
const char *tl__perf_category_name(size_t index);

#endif
