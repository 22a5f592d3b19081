/* SPDX-License-Identifier: MIT */
/**
 * @file formulas.h
 * FLOPs and bytes as functions of sizes: one place each, for operations of a trace and for models without one. A
 * formula stands at its definition, in the file of its family. Sizes and counts are doubles: they are exact up to 2^53
 * and cannot overflow. `size` is bytes per element, 0.5 for two values a byte.
 */
#ifndef TL_PERF_FORMULAS_H
#define TL_PERF_FORMULAS_H

#include <stdbool.h>

#include "perf/args.h"

/* ---- gemm.c: Y[M,N] = A[M,K] B[K,N] ---- */
double tl__gemm_flops(double m, double n, double k, bool bias);
/** `bias` is the size of an element of the bias, 0 when there is none. */
double tl__gemm_bytes(double m, double n, double k, double a, double b, double out, double bias);
/** Scales of blocks of `block` values along K, for both operands. */
double tl__gemm_scale_bytes(double m, double n, double k, double block, double scale_a, double scale_b);
double tl__gemm_flops_bwd(double m, double n, double k, bool bias);
double tl__gemm_bytes_bwd(double m, double n, double k, double a, double b, double out, bool bias);

/* ---- grouped_gemm.c: G matrices W[K,N], and rows X[M,K] divided among them ---- */
double tl__grouped_gemm_flops(double m, double k, double n);
double tl__grouped_gemm_bytes(double m, double k, double n, double g, double in, double out);
double tl__grouped_gemm_flops_bwd(double m, double k, double n);
double tl__grouped_gemm_bytes_bwd(double m, double k, double n, double g, double in, double out);

/* ---- sdpa.c ---- */
typedef struct tl_sdpa {
	int64_t batch, n_q, h_q, n_kv, h_kv, d_qk, d_v;
	bool causal, flash; /* flash: the backward computes Q K' again */
} tl_sdpa;
typedef double (*tl_sdpa_flops)(const tl_sdpa *a, double batch, double n_q, double n_kv);
double tl__sdpa_flops(const tl_sdpa *a, double batch, double n_q, double n_kv);
double tl__sdpa_flops_bwd(const tl_sdpa *a, double batch, double n_q, double n_kv);
double tl__sdpa_bytes(const tl_sdpa *a, double size);
double tl__sdpa_bytes_bwd(const tl_sdpa *a, double size);

/** Sequences of several lengths packed into one: n_q and n_kv of `a` are all tokens. */
typedef struct tl_sdpa_packed {
	tl_sdpa a;
	int64_t seqs_q, seqs_kv;
	double max_q, max_kv;
} tl_sdpa_packed;
double tl__sdpa_packed_flops(const tl_sdpa_packed *p, tl_sdpa_flops f);

/* ---- serving_attention.c: a step of batched serving ---- */
typedef struct tl_serving_sums {
	double c_sq, c_sk, c_sqsq, c_sqsk; /* over prefill chunks: new tokens, keys, and their products */
	double g_sq, g_sk, g_sqsk;         /* over decoding requests */
	double window;                     /* keys that a query sees at most; 0: all */
	double requests;                   /* that decode; 0: as many as their tokens */
} tl_serving_sums;
double tl__serving_flops(const tl_serving_sums *s, double h_q, double d_qk, double d_v);
double tl__serving_bytes(const tl_serving_sums *s, double h_q, double h_kv, double d_qk, double d_v, double size_q,
			 double size_kv);

/* ---- conv.c: shapes (N, C, spatial ...) ---- */
typedef struct tl_conv {
	tl_shape x, w, y; /* input, filter, output */
	tl_shape stride, padding, dilation, output_padding;
	bool bias, transposed;
} tl_conv;
/** Shape of the output from the others; a reason when they do not fit together, else NULL. */
const char *tl__conv_output(tl_conv *c);
double tl__conv_flops(const tl_conv *c);
double tl__conv_bytes(const tl_conv *c, double size_x, double size_w);
double tl__conv_flops_bwd(const tl_conv *c);
double tl__conv_bytes_bwd(const tl_conv *c, double size_x, double size_w);

/* ---- elementwise.c, reduce.c ---- */
/** n1 elements of one size and n2 of another. */
double tl__stream_bytes(double n1, double size1, double n2, double size2);
double tl__binary_bytes(double n1, double size1, double n2, double size2, double n_out, double size_out);
/** Shape of the broadcast, right aligned; false when the operands do not fit. */
bool tl__broadcast(tl_shape *out, const tl_shape *a, const tl_shape *b);
/** A matrix quantised to mxfp4 along rows and along columns. */
double tl__mxfp4_dual_bytes(double m, double n, double size);

/* ---- norm.c: E elements, Ch channels that each have a weight (and bias) ---- */
typedef struct tl_norm {
	double elements, channels;
	bool bias, affine, training;
	bool grad_input;  /* backward: the gradient of the input is wanted */
	bool grad_weight; /* backward of RMS norm */
} tl_norm;
double tl__norm_flops(const tl_norm *n);
double tl__norm_bytes(const tl_norm *n, double in, double out);
double tl__norm_flops_bwd(const tl_norm *n);
double tl__norm_bytes_bwd(const tl_norm *n, double in, double out);
double tl__rms_flops(const tl_norm *n);
double tl__rms_bytes(const tl_norm *n, double in, double out);
double tl__rms_flops_bwd(const tl_norm *n);
double tl__rms_bytes_bwd(const tl_norm *n, double in, double out);
double tl__modulate_flops(double e);
double tl__modulate_bytes(double t, double b, double h, double size);
double tl__modulate_flops_bwd(double e);
double tl__modulate_bytes_bwd(double t, double b, double h, double size);

/* ---- sequence.c ---- */
double tl__causal_conv1d_flops(double batch, double channels, double length, double kernel);
double tl__causal_conv1d_bytes(double batch, double channels, double length, double kernel, bool bias, double size);
double tl__rope_flops(double n);
double tl__rope_bytes(double n, double size);
double tl__cross_entropy_flops(double rows, double vocabulary);
double tl__cross_entropy_bytes(double logits, double rows, double size);
double tl__moe_comm_bytes(double tokens, double hidden, double size);

typedef struct tl_mamba {
	int64_t batch, length, heads, head_dim, groups, state, chunk, inner, d_conv, conv_channels, combined;
} tl_mamba;
double tl__mamba_flops(const tl_mamba *m);
/** `heads`: bytes of the three vectors that have an element a head. */
double tl__mamba_bytes(const tl_mamba *m, double size, double heads);

/* ---- moe.c: M tokens of width K, each sent to k of E experts with N neurons ---- */
typedef struct tl_moe {
	double tokens, hidden, inter, experts, topk;
	bool gated; /* the first layer has two halves, one gates the other */
	double size_in, size_w, size_out;
} tl_moe;
double tl__moe_up_flops(const tl_moe *m);
double tl__moe_up_bytes(const tl_moe *m);
double tl__moe_down_flops(const tl_moe *m);
double tl__moe_down_bytes(const tl_moe *m);
double tl__moe_fused_flops(const tl_moe *m);
double tl__moe_fused_bytes(const tl_moe *m);

/* ---- serving_elementwise.c, serving_rope.c, quant.c, custom_collective.c ---- */
double tl__gated_flops(double n, double per_element);
double tl__gated_bytes(double n, double in, double out);
double tl__cache_write_bytes(double n, double size);
double tl__group_quant_flops(double n);
double tl__group_quant_bytes(double rows, double n, double group, double size);
/** Local traffic of a collective over peer memory. */
double tl__collective_bytes(double n_in, double n_out, double size);

/* ---- softmax.c ---- */
double tl__softmax_flops(double m, double n, double batch);
double tl__softmax_bytes(double m, double n, double batch, double size);

#endif
