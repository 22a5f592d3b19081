/* SPDX-License-Identifier: MIT */
/* Which names of two backends mean the same: one operation has other names on another vendor's library. */
#include <string.h>

#include "compare/names.h"
#include "util/error.h"

#define TWIN(a, b)                                      \
	{                                               \
		a, b, sizeof a - 1, sizeof b - 1, false \
	}
#define TWIN_PREFIX(a, b)                              \
	{                                              \
		a, b, sizeof a - 1, sizeof b - 1, true \
	}

/* Read from top to bottom, the first that fits counts, and its result is read again. The right side is only a name. */
static const tl_twin built_in[] = {
	/* launching a kernel; which of the calls it is is up to the library that launches */
	TWIN("cudaLaunchKernelExC", "cudaLaunchKernel"),
	TWIN("cudaLaunchKernelExC_v11060", "cudaLaunchKernel"),
	TWIN("cudaLaunchCooperativeKernel", "cudaLaunchKernel"),
	TWIN("cuLaunchKernel", "cudaLaunchKernel"),
	TWIN("cuLaunchKernelEx", "cudaLaunchKernel"),
	TWIN("cuLaunchCooperativeKernel", "cudaLaunchKernel"),
	TWIN("hipLaunchKernel", "cudaLaunchKernel"),
	TWIN("hipExtLaunchKernel", "cudaLaunchKernel"),
	TWIN("hipLaunchKernelExC", "cudaLaunchKernel"),
	TWIN("hipLaunchCooperativeKernel", "cudaLaunchKernel"),
	TWIN("hipModuleLaunchKernel", "cudaLaunchKernel"),
	TWIN("hipExtModuleLaunchKernel", "cudaLaunchKernel"),
	TWIN("hipHccModuleLaunchKernel", "cudaLaunchKernel"),
	TWIN("hipModuleLaunchCooperativeKernel", "cudaLaunchKernel"),
	/* copies: PyTorch calls another function for the same copy */
	TWIN("hipMemcpyWithStream", "cudaMemcpyAsync"),
	TWIN("cudaMemcpy", "cudaMemcpyAsync"),
	TWIN("hipMemcpy", "cudaMemcpyAsync"),
	TWIN("cudaMemset", "cudaMemsetAsync"),
	TWIN("hipMemset", "cudaMemsetAsync"),
	TWIN("hipGetDevicePropertiesR0600", "cudaGetDeviceProperties"),
	/* operations that are written for one library */
	TWIN_PREFIX("aten::miopen_", "aten::cudnn_"),
	TWIN("aten::_cudnn_rnn", "aten::_rnn"),
	TWIN("aten::cudnn_rnn", "aten::_rnn"),
	TWIN("aten::cudnn_rnn_backward", "aten::_rnn_backward"),
	TWIN("aten::_cudnn_rnn_backward", "aten::_rnn_backward"),
	TWIN("aten::cudnn_batch_norm", "aten::native_batch_norm"),
	TWIN("aten::cudnn_batch_norm_backward", "aten::native_batch_norm_backward"),
	/* attention: one mathematical operation, several kernels to choose from */
	TWIN("aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_flash_attention"),
	TWIN("aten::_scaled_dot_product_cudnn_attention", "aten::_scaled_dot_product_flash_attention"),
	TWIN("aten::_scaled_dot_product_efficient_attention_backward",
	     "aten::_scaled_dot_product_flash_attention_backward"),
	TWIN("aten::_scaled_dot_product_cudnn_attention_backward",
	     "aten::_scaled_dot_product_flash_attention_backward"),
	TWIN("aten::_efficient_attention_forward", "aten::_flash_attention_forward"),
	TWIN("aten::_cudnn_attention_forward", "aten::_flash_attention_forward"),
	TWIN("aten::_efficient_attention_backward", "aten::_flash_attention_backward"),
	TWIN("aten::_cudnn_attention_backward", "aten::_flash_attention_backward"),
};

static bool fits(const tl_twin *twin, const char *name, size_t n)
{
	return (twin->prefix ? n > twin->n_name : n == twin->n_name) && !memcmp(name, twin->name, twin->n_name);
}

static const tl_twin *find(const tl_twins *twins, const char *name, size_t n)
{
	for (size_t i = 0; twins && i < twins->v.n; i++)
		if (fits(&twins->v.v[i], name, n))
			return &twins->v.v[i];
	for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++)
		if (fits(&built_in[i], name, n))
			return &built_in[i];
	return NULL;
}

/* Other runtime calls have the same name but for the vendor's: hipStreamSynchronize, cudaStreamSynchronize. */
static bool is_hip_call(const char *name, size_t n)
{
	return n > 3 && !memcmp(name, "hip", 3) && name[3] >= 'A' && name[3] <= 'Z';
}

/* "Memcpy HtoD (Pageable -> Device)": the memory of the host is described differently by each vendor. */
static size_t without_places(const char *name, size_t n)
{
	const char *end = n > 6 && (!memcmp(name, "Memcpy", 6) || !memcmp(name, "Memset", 6)) ? memmem(name, n, " (", 2)
											      : NULL;
	return end ? (size_t)(end - name) : n;
}

void tl__twins_apply(const tl_twins *twins, tl_buf *out, const char *name, size_t n)
{
	tl_buf next = {0};
	tl__buf_put(out, name, n);
	for (int round = 0; round < 8 && !out->failed && !next.failed; round++) {
		const tl_twin *twin = find(twins, out->v, out->n);
		size_t skip = twin ? twin->n_name : 3;
		if (!twin && !is_hip_call(out->v, out->n))
			break;
		tl__buf_clear(&next);
		tl__buf_put(&next, twin ? twin->common : "cuda", twin ? twin->n_common : 4);
		tl__buf_put(&next, out->v + skip, out->n - skip);
		tl__buf_clear(out);
		tl__buf_put(out, next.v, next.n);
	}
	if (next.failed)
		out->failed = 1;
	if (!out->failed)
		out->n = without_places(out->v, out->n);
	tl__buf_free(&next);
}

/* ---- tables of users ---- */

static void strip(const char **from, const char **to)
{
	while (*from < *to && (**from == ' ' || **from == '\t'))
		++*from;
	while (*from < *to && ((*to)[-1] == ' ' || (*to)[-1] == '\t' || (*to)[-1] == '\r'))
		--*to;
}

static int read_line(tl_twins *out, const char *line, const char *end, size_t number, tl_error *err)
{
	const char *comment = memchr(line, '#', (size_t)(end - line));
	if (comment)
		end = comment;
	strip(&line, &end);
	if (line == end)
		return 0;
	/* names may hold a '=' themselves, but not between blanks */
	const char *equal = memmem(line, (size_t)(end - line), " = ", 3);
	if (!equal)
		return tl__fail(err, TL_EINVAL, "line %zu of the names that mean the same is not 'NAME = NAME'",
				number);
	const char *a_end = equal, *b = equal + 3;
	strip(&line, &a_end);
	strip(&b, &end);
	if (a_end == line || b == end)
		return tl__fail(err, TL_EINVAL, "line %zu of the names that mean the same lacks a name", number);
	bool star = a_end[-1] == '*', other = end[-1] == '*';
	if (star != other)
		return tl__fail(err, TL_EINVAL, "line %zu of the names that mean the same: '*' must end both or none",
				number);
	tl_twin twin = {.prefix = star, .n_name = (size_t)(a_end - line) - star, .n_common = (size_t)(end - b) - star};
	if (!twin.n_name)
		return tl__fail(err, TL_EINVAL, "line %zu of the names that mean the same would change every name",
				number);
	twin.name = tl__arena_strndup(&out->arena, line, twin.n_name);
	twin.common = tl__arena_strndup(&out->arena, b, twin.n_common);
	if (!twin.name || !twin.common || TL_VEC_PUSH(&out->v, twin) < 0)
		return tl__nomem(err);
	return 0;
}

int tl__twins_read(tl_twins *out, const char *text, tl_error *err)
{
	*out = (tl_twins){0};
	for (size_t number = 1; text && *text; number++) {
		size_t n = strcspn(text, "\n");
		TL_TRY(read_line(out, text, text + n, number, err));
		text += n + (text[n] == '\n');
	}
	return 0;
}

void tl__twins_free(tl_twins *twins)
{
	TL_VEC_FREE(&twins->v);
	tl__arena_free(&twins->arena);
}
