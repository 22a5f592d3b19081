/* SPDX-License-Identifier: MIT */
/* Softmax over rows: no operation of a trace has this model (spec 03 section 6.4), but models without one. */
#include "perf/formulas.h"

/* B matrices of M rows and N columns: 3 FLOPs an element. */
double tl__softmax_flops(double m, double n, double batch)
{
	return 3 * batch * m * n;
}

/* Read and written once. */
double tl__softmax_bytes(double m, double n, double batch, double size)
{
	return 2 * batch * m * n * size;
}
