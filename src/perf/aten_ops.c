/* SPDX-License-Identifier: MIT */
/* Which names of operations Inductor may fuse into a kernel; they only serve to take kernel names apart. */
#include <string.h>

#include "perf/triton.h"

static const char *const names[] = {
#include "perf/aten_ops.def"
};

static bool listed(const char *name, size_t n)
{
	size_t low = 0, high = sizeof names / sizeof *names;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(names[middle], name, n);
		if (order == 0 && names[middle][n])
			order = 1; /* a longer name */
		if (order == 0)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool tl__aten_op_known(const char *name, size_t n)
{
	return n && (listed(name, n) || (n > 1 && name[n - 1] == '_' && listed(name, n - 1)));
}
