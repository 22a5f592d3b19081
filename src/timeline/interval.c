/* SPDX-License-Identifier: MIT */
/* Sets of time as sorted, disjoint intervals. */
#include <stdlib.h>

#include "timeline/timeline.h"

static int compare_starts(const void *a, const void *b)
{
	const tl_interval *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end == y->end ? 0 : x->end < y->end ? -1 : 1;
}

size_t tl__intervals_merge(tl_interval *v, size_t n)
{
	if (!n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (v[i].start < v[i - 1].start) {
			qsort(v, n, sizeof *v, compare_starts);
			break;
		}
	size_t out = 0;
	for (size_t i = 1; i < n; i++) {
		if (v[i].start > v[out].end)
			v[++out] = v[i];
		else if (v[i].end > v[out].end)
			v[out].end = v[i].end;
	}
	return out + 1;
}

tl_time tl__intervals_length(const tl_interval *v, size_t n)
{
	tl_time sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i].end - v[i].start;
	return sum;
}

size_t tl__intervals_subtract(tl_interval *out, const tl_interval *a, size_t na, const tl_interval *b, size_t nb)
{
	size_t n = 0, next = 0; /* a[next] is the first that reaches beyond what was done */
	for (size_t i = 0; i < nb; i++) {
		tl_time at = b[i].start, end = b[i].end;
		while (next < na && a[next].end <= at)
			next++;
		for (size_t j = next; j < na && a[j].start < end; j++) {
			if (a[j].start > at)
				out[n++] = (tl_interval){at, a[j].start};
			at = a[j].end > at ? a[j].end : at;
			next = j;
		}
		if (at < end)
			out[n++] = (tl_interval){at, end};
	}
	return n;
}
