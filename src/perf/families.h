/* SPDX-License-Identifier: MIT */
/** @file families.h The evaluation functions of all models; formulas stand at their definitions. */
#ifndef TL_PERF_FAMILIES_H
#define TL_PERF_FAMILIES_H

#include "perf/model.h"

#define TL_PERF_MODEL(name) int name(const tl_perf_input *in, tl_arena *arena, tl_perf_result *out)

/* gemm.c */
TL_PERF_MODEL(tl__model_mm);
TL_PERF_MODEL(tl__model_addmm);
TL_PERF_MODEL(tl__model_scaled_mm);
TL_PERF_MODEL(tl__model_bmm);
TL_PERF_MODEL(tl__model_baddbmm);
TL_PERF_MODEL(tl__model_vllm_dynamic_quant);
TL_PERF_MODEL(tl__model_te_gemm);
TL_PERF_MODEL(tl__model_te_pseudo);
TL_PERF_MODEL(tl__model_hipblaslt_fp8);
TL_PERF_MODEL(tl__model_hipblaslt_fp4);
TL_PERF_MODEL(tl__model_gemm_a4w4);
/* grouped_gemm.c */
TL_PERF_MODEL(tl__model_grouped_gemm);
TL_PERF_MODEL(tl__model_grouped_gemm_variable_k);
/* sdpa.c */
TL_PERF_MODEL(tl__model_flash_fwd);
TL_PERF_MODEL(tl__model_flash_bwd);
TL_PERF_MODEL(tl__model_flash_varlen_fwd);
TL_PERF_MODEL(tl__model_flash_varlen_bwd);
TL_PERF_MODEL(tl__model_sdpa_efficient);
TL_PERF_MODEL(tl__model_sdpa_flash);
TL_PERF_MODEL(tl__model_aiter_fwd);
TL_PERF_MODEL(tl__model_aiter_bwd);
TL_PERF_MODEL(tl__model_aiter_wrapper_fwd);
TL_PERF_MODEL(tl__model_aiter_wrapper_bwd);
TL_PERF_MODEL(tl__model_aiter_mha_bwd);
TL_PERF_MODEL(tl__model_flash_v3);
TL_PERF_MODEL(tl__model_evoformer);
/* conv.c */
TL_PERF_MODEL(tl__model_conv);
TL_PERF_MODEL(tl__model_conv_bwd);
TL_PERF_MODEL(tl__model_conv_fused);
TL_PERF_MODEL(tl__model_conv_fused_bwd);
/* elementwise.c */
TL_PERF_MODEL(tl__model_unary);
TL_PERF_MODEL(tl__model_replication_pad);
TL_PERF_MODEL(tl__model_upsample);
TL_PERF_MODEL(tl__model_quantize_fp8);
TL_PERF_MODEL(tl__model_quantize_mxfp4);
TL_PERF_MODEL(tl__model_binary);
TL_PERF_MODEL(tl__model_silu_mul);
/* reduce.c */
TL_PERF_MODEL(tl__model_reduce);
/* norm.c */
TL_PERF_MODEL(tl__model_batch_norm);
TL_PERF_MODEL(tl__model_layer_norm);
TL_PERF_MODEL(tl__model_group_norm);
TL_PERF_MODEL(tl__model_rms_norm);
TL_PERF_MODEL(tl__model_batch_norm_bwd);
TL_PERF_MODEL(tl__model_batch_norm_bwd_vendor);
TL_PERF_MODEL(tl__model_layer_norm_bwd);
TL_PERF_MODEL(tl__model_group_norm_bwd);
TL_PERF_MODEL(tl__model_instance_norm_bwd);
TL_PERF_MODEL(tl__model_rms_norm_bwd);
TL_PERF_MODEL(tl__model_ln_modulate);
TL_PERF_MODEL(tl__model_ln_modulate_bwd);
/* sequence.c */
TL_PERF_MODEL(tl__model_moe_comm);
TL_PERF_MODEL(tl__model_causal_conv1d);
TL_PERF_MODEL(tl__model_rope);
TL_PERF_MODEL(tl__model_cross_entropy);
TL_PERF_MODEL(tl__model_mamba);
/* serving_gemm.c */
TL_PERF_MODEL(tl__model_gemm_a16w16);
TL_PERF_MODEL(tl__model_gemm_a16w16_atomic);
TL_PERF_MODEL(tl__model_gemm_a16w16_asm);
TL_PERF_MODEL(tl__model_unquantized_gemm);
TL_PERF_MODEL(tl__model_gemm_a8w8);
TL_PERF_MODEL(tl__model_gemm_afp4wfp4);
TL_PERF_MODEL(tl__model_batched_a16wfp4);
TL_PERF_MODEL(tl__model_batched_a8w8);
/* serving_norm.c */
TL_PERF_MODEL(tl__model_aiter_rms_norm);
TL_PERF_MODEL(tl__model_aiter_rmsnorm);
TL_PERF_MODEL(tl__model_rmsnorm_add);
TL_PERF_MODEL(tl__model_rmsnorm_dynamicquant);
TL_PERF_MODEL(tl__model_rmsnorm_quant);
TL_PERF_MODEL(tl__model_rmsnorm_group_quant);
TL_PERF_MODEL(tl__model_rmsnorm_add_group_quant);
TL_PERF_MODEL(tl__model_rmsnorm_pad);
TL_PERF_MODEL(tl__model_rmsnorm_mxfp4);
/* serving_elementwise.c */
TL_PERF_MODEL(tl__model_silu_and_mul);
TL_PERF_MODEL(tl__model_gelu_and_mul);
TL_PERF_MODEL(tl__model_gelu_tanh_and_mul);
TL_PERF_MODEL(tl__model_sample_exponential);
/* serving_rope.c */
TL_PERF_MODEL(tl__model_rope_2c);
TL_PERF_MODEL(tl__model_sgl_rotary);
TL_PERF_MODEL(tl__model_rope_cat_mla);
TL_PERF_MODEL(tl__model_rope_concat_mla);
TL_PERF_MODEL(tl__model_store_cache);
/* custom_collective.c */
TL_PERF_MODEL(tl__model_custom_all_reduce);
TL_PERF_MODEL(tl__model_all_reduce_norm);
TL_PERF_MODEL(tl__model_all_reduce_norm_inplace);
TL_PERF_MODEL(tl__model_aiter_exchange);
TL_PERF_MODEL(tl__model_sglang_all_gather);
/* serving_attention.c */
TL_PERF_MODEL(tl__model_serving_attention);
TL_PERF_MODEL(tl__model_serving_attention_v);
TL_PERF_MODEL(tl__model_tilelang_sparse);
TL_PERF_MODEL(tl__model_paged_ragged);
TL_PERF_MODEL(tl__model_pa_decode_gluon);
/* serving_sparse.c */
TL_PERF_MODEL(tl__model_v4_decode_swa);
TL_PERF_MODEL(tl__model_v4_decode_csa);
TL_PERF_MODEL(tl__model_v4_decode_hca);
TL_PERF_MODEL(tl__model_sparse_prefill);
TL_PERF_MODEL(tl__model_gated_delta);
/* moe.c */
TL_PERF_MODEL(tl__model_moe_fused);
TL_PERF_MODEL(tl__model_moe_fmoe);
TL_PERF_MODEL(tl__model_moe_flydsl_up);
TL_PERF_MODEL(tl__model_moe_flydsl_down);
TL_PERF_MODEL(tl__model_moe_cktile_up);
TL_PERF_MODEL(tl__model_moe_cktile_down);
TL_PERF_MODEL(tl__model_moe_ck_up);
TL_PERF_MODEL(tl__model_moe_ck_down);
TL_PERF_MODEL(tl__model_moe_triton_up);
TL_PERF_MODEL(tl__model_moe_triton_down);
TL_PERF_MODEL(tl__model_moe_4bit_up);
TL_PERF_MODEL(tl__model_moe_4bit_down);
TL_PERF_MODEL(tl__model_moe_grouped);
/* moe_aux.c */
TL_PERF_MODEL(tl__model_moe_operands);
TL_PERF_MODEL(tl__model_moe_append_shared);
TL_PERF_MODEL(tl__model_topk_softplus);
/* quant.c */
TL_PERF_MODEL(tl__model_group_quant);
TL_PERF_MODEL(tl__model_token_group_quant);
TL_PERF_MODEL(tl__model_mxfp4_flatten);
TL_PERF_MODEL(tl__model_mxfp4_dynamic);
TL_PERF_MODEL(tl__model_mxfp4_group);
TL_PERF_MODEL(tl__model_mx_moe_sort);
TL_PERF_MODEL(tl__model_mxfp4_moe_sort);
/* mhc.c */
TL_PERF_MODEL(tl__model_mhc_post);
TL_PERF_MODEL(tl__model_mhc_pre_gemm);
TL_PERF_MODEL(tl__model_mhc_pre_fuse);
TL_PERF_MODEL(tl__model_mhc_post_pre);
/* triton.c */
TL_PERF_MODEL(tl__model_triton);

#endif
