# SPDX-License-Identifier: MIT
"""Attention of serving frameworks. The library reads their arguments and has their formulas (docs/models.md)."""
from ..families.registry import define
from ._bases import InferenceAttention, ServingModel  # noqa: F401
from ._generate import classes

# writes what attention reads, computes nothing
sglang_store_cache = define(__name__, "sglang_store_cache", ServingModel, "sglang::store_cache")
globals().update(classes(__name__, {
    "vllm_unified_attention_with_output": "vllm::unified_attention_with_output",
    "aiter_fmha_v3_varlen_fwd": "aiter::fmha_v3_varlen_fwd",
    "aiter_paged_attention_ragged": "sglang_profiler::attention_paged_attention_ragged",
    "aiter_mha_batch_prefill": "aiter::mha_batch_prefill",
    "mla_decode_fwd": "pseudo_mla_decode_fwd",
    "mla_tilelang_sparse_fwd": "sglang_profiler::tilelang_kernel_tilelang_sparse_fwd",
    "gdn_attention_core": ("vllm::gdn_attention_core", "aiter::linear_attention_with_output_base"),
}, "InferenceAttention"))
