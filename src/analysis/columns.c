/* SPDX-License-Identifier: MIT */
/** @file columns.c Adding many columns at once. */
#include "analysis/columns.h"

int tl__add_columns(tl_table *table, const tl_column_spec *specs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!tl__table_add(table, specs[i].name, specs[i].unit, specs[i].storage))
			return TL_ENOMEM;
	return 0;
}

void tl__remove_columns(tl_table *table, size_t first, size_t end)
{
	while (end > first)
		tl__table_remove_column(table, --end);
}
