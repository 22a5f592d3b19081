/* SPDX-License-Identifier: MIT */
/** @file modules.h Inside of tl_modules. */
#ifndef TL_ANALYSIS_MODULES_H
#define TL_ANALYSIS_MODULES_H

#include "analysis/analyzer.h"

struct tl_modules {
	const tl_tree *tree;
	size_t depth; /* levels shown; modules that deep may have children that are not shown */
	TL_VEC(tl_module) modules;
};

#endif
