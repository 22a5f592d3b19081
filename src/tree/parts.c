/* SPDX-License-Identifier: MIT */
/* The events that the steps of building look at, by what they are. */
#include "tree/build.h"

enum part { NO_PART, HOST, OTHER };

/* Part of each kind. */
typedef struct tl_parting {
	uint8_t of_kind[TL_KIND_EMPTY + 1];
} tl_parting;

static tl_parting parting(bool with_python)
{
	return (tl_parting){{
		[TL_KIND_CPU_OP] = HOST,
		[TL_KIND_RUNTIME] = HOST,
		[TL_KIND_PYTHON] = with_python ? HOST : NO_PART,
		[TL_KIND_KERNEL] = OTHER,
		[TL_KIND_MEMCPY] = OTHER,
		[TL_KIND_MEMSET] = OTHER,
		[TL_KIND_FLOW] = OTHER,
		[TL_KIND_FWDBWD] = OTHER,
	}};
}

/*
 * Host events to the front of `rows`, others to its end, the last first. `rows` has room for two more than there are
 * events. Kinds follow each other in no order, so there is no branch here to guess wrong: what is not wanted is
 * overwritten.
 */
static void deal(tl_row *rows, const uint8_t *kind, size_t n, tl_parting p, size_t *n_host, size_t *n_others)
{
	tl_row *host = rows, *other = rows + n + 1;
	for (size_t row = 0; row < n; row++) {
		uint8_t part = p.of_kind[kind[row]];
		*host = *other = (tl_row)row;
		host += part == HOST;
		other -= part == OTHER;
	}
	*n_host = (size_t)(host - rows);
	*n_others = (size_t)(rows + n + 1 - other);
}

/* GPU events and arrows out of the others, of which `end` is the end; the last comes first. */
static int split(tl_parts *out, const uint8_t *kind, const tl_row *end, size_t n)
{
	for (size_t i = 1; i <= n; i++)
		out->n_gpu += tl__kind_is_gpu(kind[end[-(ptrdiff_t)i]]);
	out->n_arrows = n - out->n_gpu;
	out->gpu = tl__malloc((n + 1) * sizeof *out->gpu);
	if (!out->gpu)
		return TL_ENOMEM;
	out->arrows = out->gpu + out->n_gpu;
	tl_row *gpu = out->gpu, *arrow = out->arrows;
	for (size_t i = 1; i <= n; i++) {
		tl_row row = end[-(ptrdiff_t)i];
		*(tl__kind_is_gpu(kind[row]) ? gpu++ : arrow++) = row;
	}
	return 0;
}

int tl__build_parts(tl_build *b)
{
	tl_parts *out = &b->parts;
	size_t n = b->store->n, n_others;
	const uint8_t *kind = b->store->kind;
	out->host = tl__malloc((n + 2) * sizeof *out->host);
	if (!out->host)
		return TL_ENOMEM;
	deal(out->host, kind, n, parting(b->tree->with_python), &out->n_host, &n_others);
	return split(out, kind, out->host + n + 2, n_others);
}
