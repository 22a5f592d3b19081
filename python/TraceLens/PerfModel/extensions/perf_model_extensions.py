# SPDX-License-Identifier: MIT
"""Matrix products, quantisation, rotary embedding and activations of serving frameworks. The library reads their arguments and has their formulas (docs/models.md)."""
from ..perf_model import GEMM, define
from ._bases import ServingModel

batched_gemm_a16wfp4 = define(__name__, "batched_gemm_a16wfp4", GEMM, "aiter::batched_gemm_a16wfp4_")
per_group_quant = define(__name__, "per_group_quant", ServingModel,
                         "aiter::dynamic_per_token_scaled_quant", "aiter::dynamic_per_group_scaled_quant",
                         "aiter::dynamic_per_tensor_quant")
mixed_sample_outer_exponential = define(__name__, "mixed_sample_outer_exponential", ServingModel,
                                        "aiter::mixed_sample_outer_exponential")
gemm_a8w8_blockscale = define(__name__, "gemm_a8w8_blockscale", GEMM,
                              "sglang_profiler::fp8_utils_gemm_a8w8_blockscale",
                              "sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale",
                              "vllm::rocm_aiter_triton_gemm_a8w8_blockscale", "aiter::gemm_a8w8_blockscale_ck",
                              "aiter::gemm_a8w8_blockscale_cktile", "aiter::gemm_a8w8_blockscale_bpreshuffle_ck",
                              "aiter::gemm_a8w8_blockscale_bpreshuffle_cktile", "aiter::flatmm_a8w8_blockscale_asm",
                              "aiter::gfx950_a8w8_blockscale_asm", "aiter::gemm_a8w8_ck",
                              "aiter::gemm_a8w8_bpreshuffle_ck", "aiter::gemm_a8w8_bpreshuffle",
                              "vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm",
                              "aiter::_gemm_a8w8_blockscale_bpreshuffle_asm")
vllm_rocm_unquantized_gemm = define(__name__, "vllm_rocm_unquantized_gemm", GEMM, "vllm::rocm_unquantized_gemm")
gemm_a16w16 = define(__name__, "gemm_a16w16", GEMM, "aiter::gemm_a16w16")
fused_dynamic_mx_quant_moe_sort_hip = define(__name__, "fused_dynamic_mx_quant_moe_sort_hip", ServingModel,
                                             "aiter::fused_dynamic_mx_quant_moe_sort_hip")
fused_qk_rope_concat_and_cache_mla = define(__name__, "fused_qk_rope_concat_and_cache_mla", ServingModel,
                                            "aiter::fused_qk_rope_concat_and_cache_mla")
gemm_a16w16_atomic_ = define(__name__, "gemm_a16w16_atomic_", GEMM,
                             "aiter::gemm_a16w16_atomic_", "sglang_profiler::gemm_kernels_flydsl_hgemm")
gemm_a16w16_asm = define(__name__, "gemm_a16w16_asm", GEMM, "aiter::_gemm_a16w16_asm")
gemm_afp4wfp4 = define(__name__, "gemm_afp4wfp4", GEMM, "aiter::gemm_afp4wfp4_")
batched_gemm_a8w8 = define(__name__, "batched_gemm_a8w8", GEMM,

                           "sglang_profiler::batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant")
vllm_triton_per_token_group_quant_fp8 = define(__name__, "vllm_triton_per_token_group_quant_fp8", ServingModel,
                                               "vllm::triton_per_token_group_quant_fp8")
fused_flatten_mxfp4_quant = define(__name__, "fused_flatten_mxfp4_quant", ServingModel,
                                   "sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant")
aiter_rope_cached_positions_2c_fwd_impl = define(__name__, "aiter_rope_cached_positions_2c_fwd_impl", ServingModel,
                                                 "aiter::rope_cached_positions_2c_fwd_impl")
sgl_kernel_rotary_embedding = define(__name__, "sgl_kernel_rotary_embedding", ServingModel,
                                     "sgl_kernel::rotary_embedding")
aiter_silu_and_mul = define(__name__, "aiter_silu_and_mul", ServingModel, "aiter::silu_and_mul", "_C::silu_and_mul")
sgl_kernel_silu_and_mul = define(__name__, "sgl_kernel_silu_and_mul", ServingModel, "sgl_kernel::silu_and_mul")
aiter_gelu_and_mul = define(__name__, "aiter_gelu_and_mul", ServingModel, "aiter::gelu_and_mul")
aiter_gelu_tanh_and_mul = define(__name__, "aiter_gelu_tanh_and_mul", ServingModel, "aiter::gelu_tanh_and_mul")
sglang_store_cache = define(__name__, "sglang_store_cache", ServingModel, "sglang::store_cache")
aiter_fused_qk_rope_cat_and_cache_mla = define(__name__, "aiter_fused_qk_rope_cat_and_cache_mla", ServingModel,
                                               "aiter::fused_qk_rope_cat_and_cache_mla")
sglang_quant_dynamic_mxfp4_quant = define(__name__, "sglang_quant_dynamic_mxfp4_quant", ServingModel,
                                          "sglang_profiler::quant_dynamic_mxfp4_quant")
aiter_fused_dynamic_mxfp4_quant_moe_sort_hip = define(__name__, "aiter_fused_dynamic_mxfp4_quant_moe_sort_hip", ServingModel,
                                                      "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip")
aiter_dynamic_per_group_scaled_quant_fp4 = define(__name__, "aiter_dynamic_per_group_scaled_quant_fp4", ServingModel,
                                                  "aiter::dynamic_per_group_scaled_quant_fp4")
mhc_post = define(__name__, "mhc_post", ServingModel, "aiter::mhc_post")
mhc_pre_gemm_sqrsum = define(__name__, "mhc_pre_gemm_sqrsum", ServingModel, "aiter::mhc_pre_gemm_sqrsum")
mhc_pre_big_fuse_rmsnorm = define(__name__, "mhc_pre_big_fuse_rmsnorm", ServingModel,
                                  "aiter::mhc_pre_big_fuse_rmsnorm")
mhc_fused_post_pre_gemm_sqrsum = define(__name__, "mhc_fused_post_pre_gemm_sqrsum", ServingModel,
                                        "aiter::mhc_fused_post_pre_gemm_sqrsum")
topk_softplus = define(__name__, "topk_softplus", ServingModel, "aiter::topk_softplus")
