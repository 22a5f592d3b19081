/* SPDX-License-Identifier: MIT */
/** @file alike.h Texts that are too long for their column, cut so that different ones look different. */
#ifndef TL_TABLE_ALIKE_H
#define TL_TABLE_ALIKE_H

#include "tracelens/table.h"

/** How a text is cut: what is shown behind its head (tl__terminal_put_parts) begins at so many characters, or: */
#define TL_CUT_END UINT32_MAX          /* nothing, it is cut at its end */
#define TL_CUT_MIDDLE (UINT32_MAX - 1) /* its end */

/**
 * How the first `rows` cells of a column of texts are cut to `width`: at the end; where different ones would look
 * alike, in the middle; and where they would even so, before what differs in them. `*out` has a number for each row,
 * freed with tl__free, or is NULL when all are cut at the end. Time is that of sorting what is longer than `width`. 0
 * or TL_ENOMEM.
 */
int tl__alike_cuts(uint32_t **out, const tl_table *table, size_t column, size_t rows, size_t width);

#endif
