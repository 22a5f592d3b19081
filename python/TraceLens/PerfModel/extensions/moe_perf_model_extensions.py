# SPDX-License-Identifier: MIT
"""Mixtures of experts. The library reads their arguments and has their formulas (docs/models.md)."""
from ..perf_model import define
from ._bases import FusedMoE, ServingModel, UnfusedMoE_Down, UnfusedMoE_Up

moe_aiter_fused_1stage = define(__name__, "moe_aiter_fused_1stage", FusedMoE, "pseudo_op::moe_aiter_fused_1stage")
moe_aiter_fused_blockscale = define(__name__, "moe_aiter_fused_blockscale", FusedMoE,
                                    "aiter::fmoe_fp8_blockscale_g1u1", "aiter::fmoe_g1u1")
moe_triton_unfused_up = define(__name__, "moe_triton_unfused_up", UnfusedMoE_Up, "pseudo_op::moe_triton_unfused_up")
moe_triton_unfused_down = define(__name__, "moe_triton_unfused_down", UnfusedMoE_Down,
                                 "pseudo_op::moe_triton_unfused_down")
moe_aiter_unfused_up = define(__name__, "moe_aiter_unfused_up", UnfusedMoE_Up, "aiter::moe_cktile2stages_gemm1_ck")
moe_aiter_unfused_down = define(__name__, "moe_aiter_unfused_down", UnfusedMoE_Down,
                                "aiter::moe_cktile2stages_gemm2_ck")
moe_aiter_ck_stage1 = define(__name__, "moe_aiter_ck_stage1", UnfusedMoE_Up, "aiter::ck_moe_stage1")
moe_aiter_ck_stage2 = define(__name__, "moe_aiter_ck_stage2", UnfusedMoE_Down, "aiter::ck_moe_stage2")
moe_flydsl_stage1 = define(__name__, "moe_flydsl_stage1", UnfusedMoE_Up, "pseudo_op::moe_flydsl_stage1")
moe_flydsl_stage2 = define(__name__, "moe_flydsl_stage2", UnfusedMoE_Down, "pseudo_op::moe_flydsl_stage2")
moe_triton_invoke_grouped_gemm = define(__name__, "moe_triton_invoke_grouped_gemm", ServingModel,
                                        "sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel")
moe_gptq_awq_up = define(__name__, "moe_gptq_awq_up", UnfusedMoE_Up, "pseudo_op::moe_gptq_awq_up")
moe_gptq_awq_down = define(__name__, "moe_gptq_awq_down", UnfusedMoE_Down, "pseudo_op::moe_gptq_awq_down")
sglang_fused_append_shared_experts = define(__name__, "sglang_fused_append_shared_experts", ServingModel,
                                            "sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts")
BiasedGroupedTopk = define(__name__, "BiasedGroupedTopk", ServingModel, "aiter::biased_grouped_topk_hip")
MoeSortScatterGather = define(__name__, "MoeSortScatterGather", ServingModel,
                              "aiter::moe_sorting_fwd", "aiter::mxfp4_moe_sort_hip")
