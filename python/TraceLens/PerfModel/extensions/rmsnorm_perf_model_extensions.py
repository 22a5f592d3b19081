# SPDX-License-Identifier: MIT
"""RMS norms of serving frameworks, also with quantisation. The library reads their arguments and has their formulas (docs/models.md)."""
from ..perf_model import define
from ._bases import ServingModel

aiter_rms_norm = define(__name__, "aiter_rms_norm", ServingModel, "aiter::rms_norm", "aiter::rmsnorm2d_fwd_ck")
aiter_rmsnorm = define(__name__, "aiter_rmsnorm", ServingModel, "aiter::rmsnorm")
aiter_rmsnorm2d_fwd_with_dynamicquant_ck = define(__name__, "aiter_rmsnorm2d_fwd_with_dynamicquant_ck", ServingModel,
                                                  "aiter::rmsnorm2d_fwd_with_dynamicquant_ck")
aiter_rmsnorm_quant = define(__name__, "aiter_rmsnorm_quant", ServingModel, "aiter::rmsnorm_quant")
fused_rms_mxfp4_quant = define(__name__, "fused_rms_mxfp4_quant", ServingModel,
                               "sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant",
                               "aiter::_fuse_rmsnorm_fp4_quant")
vllm_rocm_aiter_rmsnorm_fp8_group_quant = define(__name__, "vllm_rocm_aiter_rmsnorm_fp8_group_quant", ServingModel,
                                                 "vllm::rocm_aiter_rmsnorm_fp8_group_quant")
aiter_rmsnorm2d_fwd_with_add_ck = define(__name__, "aiter_rmsnorm2d_fwd_with_add_ck", ServingModel,
                                         "aiter::rmsnorm2d_fwd_with_add_ck", "aiter::add_rmsnorm")
vllm_rocm_aiter_rmsnorm_with_add_fp8_group_quant = define(__name__, "vllm_rocm_aiter_rmsnorm_with_add_fp8_group_quant", ServingModel,
                                                          "vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant")
vllm_rocm_aiter_triton_add_rmsnorm_pad = define(__name__, "vllm_rocm_aiter_triton_add_rmsnorm_pad", ServingModel,
                                                "aiter::fused_add_rmsnorm_pad_",
                                                "vllm::rocm_aiter_triton_add_rmsnorm_pad")
