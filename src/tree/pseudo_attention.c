/* SPDX-License-Identifier: MIT */
/* Attention that is a Python function around several kernels: all that the function does becomes one operation. */
#include <stdio.h>
#include <string.h>

#include "tree/build.h"
#include "tree/pseudo.h"
#include "util/buf.h"
#include "util/sort.h"
#include "util/value.h"

/* An operation between a frame and all below it, with the arguments of `donor`. */
static int wrap(tl_pseudo *p, tl_row *made, tl_pos frame, const char *name, tl_row donor, bool *done)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = p->tree->row[frame];
	TL_TRY(tl__pseudo_done(p, frame, tl_edit_wrap(p->edit, made, name, row, &err), &err, done));
	return *done ? tl__pseudo_dress(p, *made, donor, row) : 0;
}

/* ---- multi-head latent attention ---- */

/* The donor is the first operation below the frame that has the shapes. */
static int mla_frames(tl_pseudo *p, const tl_numbers *frames, const tl_numbers *donors, const char *name)
{
	const tl_tree *t = p->tree;
	for (size_t i = 0; i < frames->n; i++) {
		tl_pos frame = frames->v[i];
		size_t donor = tl__pseudo_from(donors, frame + 1);
		tl_row made;
		bool done;
		if (donor == donors->n || donors->v[donor] >= t->end[frame])
			tl__pseudo_skip(p, frame, "no operation with the shapes below it");
		else if (!tl__tree_gpu_count(t, frame))
			tl__pseudo_skip(p, frame, "no GPU events");
		else
			TL_TRY(wrap(p, &made, frame, name, t->row[donors->v[donor]], &done));
	}
	return 0;
}

static int mla(tl_pseudo *p, uint32_t frame_names, uint32_t donor_names, const char *name)
{
	tl_numbers frames = {0}, donors = {0};
	int code = tl__pseudo_find_outermost(&frames, p, TL_KIND_PYTHON, frame_names);
	if (code == 0)
		code = tl__pseudo_find(&donors, p, TL_KIND_CPU_OP, donor_names);
	if (code == 0)
		code = mla_frames(p, &frames, &donors, name);
	TL_VEC_FREE(&frames);
	TL_VEC_FREE(&donors);
	return code;
}

int tl__pseudo_mla_decode(tl_pseudo *p)
{
	return mla(p, TL_PN_MLA_DECODE, TL_PN_MLA_DECODE_DONOR, "pseudo_mla_decode_fwd");
}

int tl__pseudo_mla_prefill(tl_pseudo *p)
{
	return mla(p, TL_PN_MLA_PREFILL, TL_PN_MLA_PREFILL_DONOR, "pseudo_mla_prefill_fwd");
}

/* ---- DeepSeek V4 paged decode ---- */

static int compare_ids(const tl_store *s, tl_id a, tl_id b)
{
	if (a == b)
		return 0;
	if (a == TL_ID_NONE || b == TL_ID_NONE || !(a & b & TL_ID_TEXT))
		return a < b ? -1 : 1;
	return strcmp(tl__str(s->strings, (tl_str)(a & ~TL_ID_TEXT)), tl__str(s->strings, (tl_str)(b & ~TL_ID_TEXT)));
}

/* Order of the calls of a model: by process, thread, start. */
static bool called_before(const void *context, uint32_t a, uint32_t b)
{
	const tl_tree *t = context;
	const tl_store *s = t->store;
	tl_row x = t->row[a], y = t->row[b];
	uint32_t i = s->track[x], k = s->track[y];
	if (i != k && i != UINT32_MAX && k != UINT32_MAX) {
		int order = compare_ids(s, s->tracks.v[i].pid, s->tracks.v[k].pid);
		if (!order)
			order = compare_ids(s, s->tracks.v[i].tid, s->tracks.v[k].tid);
		if (order)
			return order < 0;
	}
	return tl__starts_before(s, x, y);
}

typedef struct v4 {
	tl_numbers frames;
	tl_numbers hca, csa, shapes; /* GPU events, indexes into tree->gpu */
	tl_pos *attention;           /* nearest attention operation above each node */
} v4;

static int gather(tl_pseudo *p, v4 *v)
{
	TL_TRY(tl__pseudo_find_outermost(&v->frames, p, TL_KIND_PYTHON, TL_PN_V4_DECODE));
	TL_TRY(tl__sort(v->frames.v, v->frames.n, called_before, p->tree));
	TL_TRY(tl__pseudo_find_gpu(&v->hca, p, false, TL_PN_HCA));
	TL_TRY(tl__pseudo_find_gpu(&v->csa, p, false, TL_PN_CSA));
	TL_TRY(tl__pseudo_find_gpu(&v->shapes, p, false, TL_PN_HEAD_SHAPE));
	v->attention = tl__pseudo_nearest_above(p, TL_PN_V4_ATTENTION);
	return v->attention ? 0 : TL_ENOMEM;
}

static bool any_below(const tl_pseudo *p, const tl_numbers *gpu, tl_pos pos)
{
	size_t i = tl__pseudo_from(gpu, p->tree->gpu_before[pos]);
	return i < gpu->n && gpu->v[i] < p->tree->gpu_before[p->tree->end[pos]];
}

/* Heads and their size, from the first kernel below that has them in its name: qk_norm_rope_H64_D512_RD64. */
static bool head_shape(const tl_pseudo *p, const tl_numbers *shapes, tl_pos pos, unsigned *heads, unsigned *size)
{
	const tl_tree *t = p->tree;
	uint32_t end = t->gpu_before[t->end[pos]], rope;
	for (size_t i = tl__pseudo_from(shapes, t->gpu_before[pos]); i < shapes->n && shapes->v[i] < end; i++) {
		const char *at = tl__name(p->store, t->gpu[shapes->v[i]]);
		while ((at = strstr(at, "qk_norm_rope_H")) != NULL) {
			if (sscanf(at, "qk_norm_rope_H%9u_D%9u_RD%9u", heads, size, &rope) == 3)
				return true;
			at++;
		}
	}
	return false;
}

static int set_text(tl_pseudo *p, tl_row row, const char *key, const char *value)
{
	tl_buf json = {0};
	if (value)
		tl__json_string(&json, value, strlen(value));
	int code = json.failed ? TL_ENOMEM
			       : tl_edit_set_arg(p->edit, row, key, value ? tl__buf_text(&json) : NULL, NULL);
	tl__buf_free(&json);
	return code;
}

static int dress_call(tl_pseudo *p, const v4 *v, tl_row made, tl_pos attention, size_t call, const char *mode)
{
	unsigned heads, size;
	TL_TRY(set_text(p, made, "v4_mode", mode));
	TL_TRY(tl__pseudo_set_number(p, made, "v4_call_index", (int64_t)call));
	TL_TRY(set_text(p, made, "v4_model_name", p->options->model));
	TL_TRY(tl__pseudo_set_number(p, made, "v4_tp",
				     p->options->tensor_parallel > 0 ? p->options->tensor_parallel : 1));
	if (!head_shape(p, &v->shapes, attention, &heads, &size))
		return 0;
	TL_TRY(tl__pseudo_set_number(p, made, "v4_H_Q", heads));
	return tl__pseudo_set_number(p, made, "v4_d_h", size);
}

static int make_calls(tl_pseudo *p, const v4 *v)
{
	const tl_tree *t = p->tree;
	for (size_t i = 0; i < v->frames.n; i++) {
		tl_pos frame = v->frames.v[i], attention = v->attention[frame];
		if (attention == TL_POS_NONE) {
			tl__pseudo_skip(p, frame, "no aiter::v4_attention_with_output above it");
			continue;
		}
		if (!tl__tree_gpu_count(t, frame)) {
			tl__pseudo_skip(p, frame, "no GPU events");
			continue;
		}
		const char *mode = any_below(p, &v->hca, attention)   ? "hca"
				   : any_below(p, &v->csa, attention) ? "csa"
								      : "swa";
		char name[64];
		tl_row made;
		bool done;
		snprintf(name, sizeof name, "pseudo_v4_paged_decode_%s", mode);
		TL_TRY(wrap(p, &made, frame, name, t->row[attention], &done));
		if (done)
			TL_TRY(dress_call(p, v, made, attention, i, mode));
	}
	return 0;
}

int tl__pseudo_v4_decode(tl_pseudo *p)
{
	v4 v = {0};
	int code = gather(p, &v);
	if (code == 0)
		code = make_calls(p, &v);
	TL_VEC_FREE(&v.frames);
	TL_VEC_FREE(&v.hca);
	TL_VEC_FREE(&v.csa);
	TL_VEC_FREE(&v.shapes);
	tl__free(v.attention);
	return code;
}
