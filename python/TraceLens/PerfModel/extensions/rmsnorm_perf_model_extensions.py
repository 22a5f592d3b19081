# SPDX-License-Identifier: MIT
"""RMS norms of serving frameworks, also with quantisation. The library reads their arguments and has their formulas
(docs/models.md)."""
from ._bases import RMSNorm  # noqa: F401
from ._generate import classes

globals().update(classes(__name__, {
    "aiter_rms_norm": ("aiter::rms_norm", "aiter::rmsnorm2d_fwd_ck"),
    "aiter_rmsnorm": "aiter::rmsnorm",
    "aiter_rmsnorm2d_fwd_with_dynamicquant_ck": "aiter::rmsnorm2d_fwd_with_dynamicquant_ck",
    "aiter_rmsnorm_quant": "aiter::rmsnorm_quant",
    "fused_rms_mxfp4_quant": ("sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant",
                              "aiter::_fuse_rmsnorm_fp4_quant"),
    "vllm_rocm_aiter_rmsnorm_fp8_group_quant": "vllm::rocm_aiter_rmsnorm_fp8_group_quant",
    "aiter_rmsnorm2d_fwd_with_add_ck": ("aiter::rmsnorm2d_fwd_with_add_ck", "aiter::add_rmsnorm"),
    "vllm_rocm_aiter_rmsnorm_with_add_fp8_group_quant": "vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant",
    "vllm_rocm_aiter_triton_add_rmsnorm_pad": ("aiter::fused_add_rmsnorm_pad_",
                                               "vllm::rocm_aiter_triton_add_rmsnorm_pad"),
}, "RMSNorm"))
aiter_add_rmsnorm = globals()["aiter_rmsnorm2d_fwd_with_add_ck"]
