# SPDX-License-Identifier: MIT
"""Mixtures of experts. The library reads their arguments and has their formulas (docs/models.md)."""
from ._bases import FusedMoE, UnfusedMoE_Down, UnfusedMoE_Up  # noqa: F401
from ._generate import classes

globals().update(classes(__name__, {
    "moe_aiter_fused_blockscale": ("aiter::fmoe_fp8_blockscale_g1u1", "aiter::fmoe_g1u1"),
    "moe_aiter_unfused_up": "aiter::moe_cktile2stages_gemm1_ck",
    "moe_aiter_unfused_down": "aiter::moe_cktile2stages_gemm2_ck",
    "moe_aiter_ck_stage1": "aiter::ck_moe_stage1",
    "moe_aiter_ck_stage2": "aiter::ck_moe_stage2",
    "moe_triton_invoke_grouped_gemm": "sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel",
    "sglang_fused_append_shared_experts": "sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts",
    "BiasedGroupedTopk": "aiter::biased_grouped_topk_hip",
    "MoeSortScatterGather": ("aiter::moe_sorting_fwd", "aiter::mxfp4_moe_sort_hip"),
    "aiter_fused_dynamic_mxfp4_quant_moe_sort_hip": "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip",
}, "MoE_fused", "MoE_unfused", "MoE_aux"))
