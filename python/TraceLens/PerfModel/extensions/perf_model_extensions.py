# SPDX-License-Identifier: MIT
"""Matrix products, quantisation, rotary embedding, activations and all else of serving frameworks. The library
reads their arguments and has their formulas (docs/models.md)."""
from . import attention_perf_model_extensions, custom_collectives_perf_model_extensions  # noqa: F401
from . import moe_perf_model_extensions, rmsnorm_perf_model_extensions  # noqa: F401
from ..families.elementwise import BinaryElementwise, UnaryElementwise  # noqa: F401
from ..families.gemm import GEMM  # noqa: F401
from ._bases import GroupQuant  # noqa: F401
from ._generate import classes
from .attention_perf_model_extensions import sglang_store_cache  # noqa: F401
from .moe_perf_model_extensions import aiter_fused_dynamic_mxfp4_quant_moe_sort_hip, topk_softplus  # noqa: F401

# after all others: what has no class by now gets one here
globals().update(classes(__name__, {
    "batched_gemm_a16wfp4": "aiter::batched_gemm_a16wfp4_",
    "per_group_quant": ("aiter::dynamic_per_token_scaled_quant", "aiter::dynamic_per_group_scaled_quant",
                        "aiter::dynamic_per_tensor_quant"),
    "gemm_a8w8_blockscale": ("sglang_profiler::fp8_utils_gemm_a8w8_blockscale",
                             "sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale",
                             "vllm::rocm_aiter_triton_gemm_a8w8_blockscale", "aiter::gemm_a8w8_blockscale_ck",
                             "aiter::gemm_a8w8_blockscale_cktile", "aiter::gemm_a8w8_blockscale_bpreshuffle_ck",
                             "aiter::gemm_a8w8_blockscale_bpreshuffle_cktile", "aiter::flatmm_a8w8_blockscale_asm",
                             "aiter::gfx950_a8w8_blockscale_asm", "aiter::gemm_a8w8_ck",
                             "aiter::gemm_a8w8_bpreshuffle_ck", "aiter::gemm_a8w8_bpreshuffle",
                             "vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm",
                             "aiter::_gemm_a8w8_blockscale_bpreshuffle_asm"),
    "vllm_rocm_unquantized_gemm": "vllm::rocm_unquantized_gemm",
    "gemm_a16w16_atomic_": ("aiter::gemm_a16w16_atomic_", "sglang_profiler::gemm_kernels_flydsl_hgemm"),
    "gemm_afp4wfp4": "aiter::gemm_afp4wfp4_",
    "batched_gemm_a8w8": "sglang_profiler::batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant"
                         "_batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant",
    "vllm_triton_per_token_group_quant_fp8": "vllm::triton_per_token_group_quant_fp8",
    "fused_flatten_mxfp4_quant": "sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant",
    "aiter_rope_cached_positions_2c_fwd_impl": "aiter::rope_cached_positions_2c_fwd_impl",
    "sgl_kernel_rotary_embedding": "sgl_kernel::rotary_embedding",
    "aiter_silu_and_mul": ("aiter::silu_and_mul", "_C::silu_and_mul"),
    "sgl_kernel_silu_and_mul": "sgl_kernel::silu_and_mul",
    "aiter_gelu_and_mul": "aiter::gelu_and_mul",
    "aiter_gelu_tanh_and_mul": "aiter::gelu_tanh_and_mul",
    "aiter_fused_qk_rope_cat_and_cache_mla": "aiter::fused_qk_rope_cat_and_cache_mla",
    "sglang_quant_dynamic_mxfp4_quant": "sglang_profiler::quant_dynamic_mxfp4_quant",
    "aiter_dynamic_per_group_scaled_quant_fp4": "aiter::dynamic_per_group_scaled_quant_fp4",
}))
