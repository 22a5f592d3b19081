/* SPDX-License-Identifier: MIT */
/** @file call_stack.h Where in the program GPU work comes from (spec 02 section 5.5). */
#ifndef TL_ANALYSIS_CALL_STACK_H
#define TL_ANALYSIS_CALL_STACK_H

#include "analysis/analyzer.h"

/**
 * The call stack of a GPU event: names of the operations above it, of its nn.Modules and of frames with a
 * `::` or `/` in their name, outermost first, each without its `_<digits>`. *out is an id
 * in the strings of the analyser (see tl__stack_push). All stacks together are made in one pass over the tree.
 * TL_ENOMEM.
 */
int tl__analyzer_call_stack(tl_analyzer *a, tl_row gpu_event, tl_str *out);

/**
 * Turns the column `stacks` of a summary of the unified table (see tl__table_summarize_kernels_and_stacks) into
 * `call_stack_full`, and puts `entry_point` and with `debug` `num_wrappers`, `traversal` and `wrappers` before it.
 * `kernels` is the column of the summarised kernels. The new columns stand where `stacks` stood.
 */
int tl__call_stack_columns(tl_table *table, const char *stacks, const char *kernels, bool debug, tl_error *err);

#endif
