/* SPDX-License-Identifier: MIT */
/** @file columns.h Adding many columns at once. */
#ifndef TL_ANALYSIS_COLUMNS_H
#define TL_ANALYSIS_COLUMNS_H

#include "table/table.h"

typedef struct tl_column_spec {
	const char *name, *unit;
	tl_storage storage;
} tl_column_spec;

/** Adds the columns in order; in an empty table column i is then table->columns.v[i]. TL_ENOMEM. */
int tl__add_columns(tl_table *table, const tl_column_spec *specs, size_t n);

/** Removes the columns [first, end). */
void tl__remove_columns(tl_table *table, size_t first, size_t end);

#endif
