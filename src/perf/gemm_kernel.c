/* SPDX-License-Identifier: MIT */
/* Names of matrix multiplication kernels. */
#include <string.h>

#include "perf/gemm.h"
#include "tracelens/model.h"

static bool lower3(const char *p)
{
	for (int i = 0; i < 3; i++)
		if (p[i] < 'a' || p[i] > 'z')
			return false;
	return true;
}

/* Tensile writes the index letters of C, A and B: "Cijk_Ailk_Bljk". */
static bool is_tensile(const char *name)
{
	for (const char *p = strchr(name, 'C'); p; p = strchr(p + 1, 'C'))
		if (lower3(p + 1) && !strncmp(p + 4, "_A", 2) && lower3(p + 6) && !strncmp(p + 9, "_B", 2) &&
		    lower3(p + 11))
			return true;
	return false;
}

static const char *digits(const char *p, int64_t *out)
{
	const char *start = p;
	for (*out = 0; *p >= '0' && *p <= '9'; p++)
		if (*out < INT64_MAX / 100)
			*out = *out * 10 + (*p - '0');
	return p > start ? p : NULL;
}

/* First "MT<m>x<n>x<k>". */
static void macro_tile(tl_gemm_kernel *out, const char *name)
{
	for (const char *p = strstr(name, "MT"); p; p = strstr(p + 1, "MT")) {
		int64_t tile[3];
		const char *q = digits(p + 2, &tile[0]);
		q = q && *q == 'x' ? digits(q + 1, &tile[1]) : NULL;
		q = q && *q == 'x' ? digits(q + 1, &tile[2]) : NULL;
		if (q) {
			out->mt_m = tile[0];
			out->mt_n = tile[1];
			out->depth_u = tile[2];
			return;
		}
	}
}

static bool nvjet_flags(tl_gemm_kernel *out, const char *token, size_t n)
{
	out->trans_a = token[0] == 'T';
	out->trans_b = n > 1 && token[1] == 'T';
	return true;
}

/*
 * "nvjet_tst_192x192_64x4_1x2_h_bz_coopB_TNT": flags in the last token. Where that is a single letter the
 * reference crashes [03-G7]: then the last token made of two or more N and T counts, if there is one.
 */
static bool nvjet(tl_gemm_kernel *out, const char *name)
{
	const char *last = strrchr(name, '_');
	last = last ? last + 1 : name;
	if (strlen(last) >= 2)
		return nvjet_flags(out, last, strlen(last));
	for (const char *end = last > name ? last - 1 : name; end > name;) {
		const char *start = end;
		while (start > name && start[-1] != '_')
			start--;
		if (end - start >= 2 && strspn(start, "NT") >= (size_t)(end - start))
			return nvjet_flags(out, start, (size_t)(end - start));
		end = start > name ? start - 1 : name;
	}
	return false;
}

bool tl__gemm_kernel(tl_gemm_kernel *out, const char *name)
{
	*out = (tl_gemm_kernel){.trans_a = -1, .trans_b = -1};
	if (!name)
		return false;
	if (is_tensile(name)) {
		out->trans_a = strstr(name, "_Ailk_") ? 0 : strstr(name, "_Alik_") ? 1 : -1;
		out->trans_b = strstr(name, "_Bljk_") ? 0 : strstr(name, "_Bjlk_") ? 1 : -1;
		macro_tile(out, name);
		return true;
	}
	return !strncmp(name, "nvjet", 5) && nvjet(out, name);
}

bool tl_model_gemm_kernel(tl_gemm_name *out, const char *kernel)
{
	tl_gemm_kernel name;
	if (!out || !kernel)
		return false;
	bool known = tl__gemm_kernel(&name, kernel);
	*out = (tl_gemm_name){name.trans_a, name.trans_b, name.mt_m, name.mt_n, name.depth_u};
	return known;
}
