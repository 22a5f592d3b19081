/* SPDX-License-Identifier: MIT */
/* The roofline: the least time that a platform needs for some work, and what bounds it. */
#include "perf/model.h"

/* time = max(FLOPs / rate, bytes / bandwidth); compute bound when the first is at least the second. */
bool tl__roofline(tl_roofline *out, const tl_arch *arch, const char *spec, double flops, const double *bytes)
{
	double rate = tl_arch_rate(arch, spec, &out->is_peak), bandwidth = tl_arch_bandwidth(arch);
	if (!(rate > 0) || !(bandwidth > 0) || !bytes || !(flops > 0))
		return false;
	double compute = flops / rate * 1e6, memory = *bytes / bandwidth * 1e6;
	out->compute_bound = compute >= memory;
	out->time_us = out->compute_bound ? compute : memory;
	return true;
}
