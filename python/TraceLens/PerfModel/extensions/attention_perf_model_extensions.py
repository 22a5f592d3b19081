# SPDX-License-Identifier: MIT
"""Attention of serving frameworks. The library reads their arguments and has their formulas (docs/models.md)."""
from ..perf_model import define
from ._bases import InferenceAttention

pseudo_v4_paged_decode_swa = define(__name__, "pseudo_v4_paged_decode_swa", InferenceAttention,
                                    "pseudo_v4_paged_decode_swa")
pseudo_v4_paged_decode_csa = define(__name__, "pseudo_v4_paged_decode_csa", InferenceAttention,
                                    "pseudo_v4_paged_decode_csa")
pseudo_v4_paged_decode_hca = define(__name__, "pseudo_v4_paged_decode_hca", InferenceAttention,
                                    "pseudo_v4_paged_decode_hca")
pa_sparse_prefill_opus_fwd = define(__name__, "pa_sparse_prefill_opus_fwd", InferenceAttention,
                                    "aiter::pa_sparse_prefill_opus_fwd")
vllm_unified_attention_with_output = define(__name__, "vllm_unified_attention_with_output", InferenceAttention,
                                            "vllm::unified_attention_with_output")
mha_varlen_fwd = define(__name__, "mha_varlen_fwd", InferenceAttention, "aiter::mha_varlen_fwd")
aiter_fmha_v3_varlen_fwd = define(__name__, "aiter_fmha_v3_varlen_fwd", InferenceAttention,
                                  "aiter::fmha_v3_varlen_fwd")
aiter_paged_attention_ragged = define(__name__, "aiter_paged_attention_ragged", InferenceAttention,
                                      "sglang_profiler::attention_paged_attention_ragged")
aiter_mha_batch_prefill = define(__name__, "aiter_mha_batch_prefill", InferenceAttention, "aiter::mha_batch_prefill")
mla_decode_fwd = define(__name__, "mla_decode_fwd", InferenceAttention, "pseudo_mla_decode_fwd")
pseudo_mla_prefill_fwd = define(__name__, "pseudo_mla_prefill_fwd", InferenceAttention, "pseudo_mla_prefill_fwd")
mla_tilelang_sparse_fwd = define(__name__, "mla_tilelang_sparse_fwd", InferenceAttention,
                                 "sglang_profiler::tilelang_kernel_tilelang_sparse_fwd")
pa_decode_gluon = define(__name__, "pa_decode_gluon", InferenceAttention, "aiter::pa_decode_gluon")
gdn_attention_core = define(__name__, "gdn_attention_core", InferenceAttention,
                            "vllm::gdn_attention_core", "aiter::linear_attention_with_output_base")
