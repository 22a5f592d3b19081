/* SPDX-License-Identifier: MIT */
/** @file pseudo_fixture.h What tests of pseudo-operations share: thread 1 of process 1, GPU events on stream 7. */
#ifndef TL_TREE_PSEUDO_FIXTURE_H
#define TL_TREE_PSEUDO_FIXTURE_H

#include "tree/edit_fixture.h"
#include "tree/pseudo.h"

#define FMOE "void aiter::fmoe_kernel<1>"
#define V4_FRAME "atom/paged_decode.py(77): sparse_attn_v4_paged_decode"

#define assert_shape(f, text) assert_string_equal(tl_fixture_shape((f)->tree), text)

static inline tl_row op(tl_fixture *f, const char *name, double start, double dur)
{
	return tl_fixture_op(f->store, name, 1, 1, start, dur);
}

static inline tl_row frame(tl_fixture *f, const char *name, double start, double dur)
{
	return tl_fixture_python(f->store, name, 1, 1, start, dur, TL_ID_NONE, TL_ID_NONE);
}

/** A launch at `start` and its kernel; returns the launch, the kernel is the next row. */
static inline tl_row work(tl_fixture *f, const char *kernel, double start)
{
	tl_id id = (tl_id)f->store->n + 1000;
	tl_row launch = tl_fixture_launch(f->store, "hipLaunchKernel", 1, 1, start, 1, id);
	tl_fixture_gpu(f->store, TL_KIND_KERNEL, kernel, 0, 7, 1000 + start, 1, id);
	return launch;
}

static inline void set_args(tl_fixture *f, tl_row row, const char *dims, const char *types, const char *concrete)
{
	tl_op_args *args = tl_fixture_op_args(f->store, row);
	args->dims = tl__interns(f->store->strings, dims);
	args->types = tl__interns(f->store->strings, types);
	args->concrete = tl__interns(f->store->strings, concrete);
}

static inline size_t apply_with(tl_fixture *f, bool with_python, const tl_pseudo_options *options)
{
	size_t made = 99;
	tl_fixture_build(f, with_python);
	assert_int_equal(tl_tree_apply_pseudo_ops(f->tree, options, &made, NULL), 0);
	tl_fixture_check_edited(f->tree);
	return made;
}

static inline size_t apply(tl_fixture *f)
{
	return apply_with(f, true, NULL);
}

static inline uint64_t skipped(const tl_fixture *f)
{
	return tl_fixture_findings(f, TL_HEALTH_PSEUDO_OP_SKIPPED);
}

static inline const char *why(const tl_fixture *f)
{
	return f->tree->health.entry[TL_HEALTH_PSEUDO_OP_SKIPPED].detail;
}

static inline const char *name(const tl_fixture *f, tl_row row)
{
	return tl__name(f->tree->store, row);
}

/** An extra argument as JSON text, "" when there is none. */
static inline const char *extra(const tl_fixture *f, tl_row row, const char *key)
{
	const tl_store *s = f->tree->store;
	size_t n;
	const tl_extra *e = tl__store_extras(s, row, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(tl__str(s->strings, e[i].key), key))
			return tl__str(s->strings, e[i].value);
	return "";
}

/** The arguments of a made operation are those of its donor. */
static inline void assert_dressed(const tl_fixture *f, tl_row made, tl_row donor, uint64_t sequence)
{
	const tl_store *s = f->tree->store;
	const tl_op_args none = {0}, *a = tl__op_args(s, made), *b = tl__op_args(s, donor);
	assert_non_null(a);
	b = b ? b : &none;
	assert_int_equal(a->dims, b->dims);
	assert_int_equal(a->types, b->types);
	assert_int_equal(a->strides, b->strides);
	assert_int_equal(a->concrete, b->concrete);
	assert_int_equal(a->sequence, sequence);
	assert_int_equal(s->kind[made], TL_KIND_CPU_OP);
	assert_string_equal(extra(f, made, "Pseudo op"), "true");
}

/** Attention of DeepSeek V4 with a decoding frame, after kernels that tell mode and shape (NULL: none). */
static inline void v4_layer(tl_fixture *f, double at, const char *kernel, const char *shape)
{
	op(f, "aiter::v4_attention_with_output", at, 90);
	if (shape)
		work(f, shape, at + 2);
	if (kernel)
		work(f, kernel, at + 4);
	frame(f, V4_FRAME, at + 10, 50);
	work(f, "decode_split", at + 20);
}

/** Puts a note for attention on an operation, as JSON text. */
static inline void note(tl_fixture *f, tl_row row, const char *json)
{
	tl_extra e = {row, tl__interns(f->store->strings, "perf_meta"), tl__interns(f->store->strings, json)};
	assert_int_equal(TL_VEC_PUSH(&f->store->extras, e), 0);
}

#endif
