# SPDX-License-Identifier: MIT
"""Base classes of models of serving frameworks."""
from .._evaluate import estimate, size
from ..families.elementwise import BinaryElementwise, UnaryElementwise
from ..families.model import Model, NoBackward
from ..families.norm import Normalization


class ServingModel(NoBackward, Model):
    """A model whose formulas are the library's only: a subclass that reads other parameters tells its figures, too."""


class InferenceAttention(ServingModel):
    """Attention of serving frameworks, over a step of prefill chunks (``c_``) and decoding requests (``g_``): sums over
    requests of new tokens (``sq``), keys (``sk``) and their products."""

    category = "InferenceAttention"
    _unit = "matrix"

    @staticmethod
    def flops_func(H_Q, d_h_qk, d_h_v, c_sqsk, c_sqsq, g_sqsk):
        """FLOPs of a step; chunks are causal."""
        if not (c_sqsk or g_sqsk):
            return 0
        # how many tokens there are makes no difference, only whether there are some
        chunks, requests = int(c_sqsk > 0), int(g_sqsk > 0)
        return estimate("sdpa_serving", "flops", H_Q=H_Q, d_h_qk=d_h_qk, d_h_v=d_h_v, c_sq=chunks, c_sk=chunks,
                        g_sq=requests, g_sk=requests, c_sqsk=c_sqsk, c_sqsq=c_sqsq, g_sqsk=g_sqsk)

    @staticmethod
    def bytes_func(B, H_Q, H_KV, d_h_qk, d_h_v, c_sq, c_sk, g_sq, g_sk, bytes_per_element, bytes_per_element_KV=None):
        """Bytes of ``B`` such steps; the cache may have elements of another size. None when a size is unknown."""
        if bytes_per_element is None:
            return None
        if not (c_sq or c_sk or g_sq or g_sk):
            return 0
        cached = bytes_per_element if bytes_per_element_KV is None else bytes_per_element_KV
        return B * estimate("sdpa_serving", "bytes", H_Q=H_Q, H_KV=H_KV, d_h_qk=d_h_qk, d_h_v=d_h_v, c_sq=c_sq,
                            c_sk=c_sk, g_sq=g_sq, g_sk=g_sk, dtype=size(bytes_per_element), dtype_kv=size(cached))


def _moe(family, which, num_tokens, hidden_dim, inter_dim, num_experts, topk, gated=True, sizes=()):
    if None in sizes:
        return None
    more = dict(zip(("dtype", "dtype_w", "dtype_out"), map(size, sizes)))
    return estimate(family, which, tokens=num_tokens, hidden=hidden_dim, inter=inter_dim, experts=num_experts,
                    topk=topk, gated=bool(gated), **more)


class FusedMoE(ServingModel):
    """Both layers of a mixture of experts in one operation."""

    category = "MoE_fused"
    _unit = "matrix"

    @staticmethod
    def flops_func(num_tokens, hidden_dim, inter_dim, topk, gated):
        """FLOPs of both layers and of adding up what the ``topk`` experts of a token give."""
        return _moe("moe_fused", "flops", num_tokens, hidden_dim, inter_dim, topk, topk, gated)

    @staticmethod
    def bytes_func(num_tokens, hidden_dim, inter_dim, num_experts, topk, gated, input_bpe, weight_bpe, output_bpe):
        """Bytes of tokens, result and the weights of the experts that are expected to be met."""
        return _moe("moe_fused", "bytes", num_tokens, hidden_dim, inter_dim, num_experts, topk, gated,
                    (input_bpe, weight_bpe, output_bpe))


class UnfusedMoE_Up(ServingModel):
    """First layer of a mixture of experts."""

    category = "MoE_unfused"
    _unit = "matrix"

    @staticmethod
    def flops_func(num_tokens, hidden_dim, inter_dim, topk, gated):
        """FLOPs of the layer; a gated one has two halves."""
        return _moe("moe_up", "flops", num_tokens, hidden_dim, inter_dim, topk, topk, gated)

    @staticmethod
    def bytes_func(num_tokens, hidden_dim, inter_dim, num_experts, topk, gated, input_bpe, weight_bpe, output_bpe):
        """Bytes of tokens, result and the weights of the experts that are expected to be met."""
        return _moe("moe_up", "bytes", num_tokens, hidden_dim, inter_dim, num_experts, topk, gated,
                    (input_bpe, weight_bpe, output_bpe))


class UnfusedMoE_Down(ServingModel):
    """Second layer of a mixture of experts."""

    category = "MoE_unfused"
    _unit = "matrix"

    @staticmethod
    def flops_func(num_tokens, hidden_dim, inter_dim, topk):
        """FLOPs of the layer."""
        return _moe("moe_down", "flops", num_tokens, hidden_dim, inter_dim, topk, topk)

    @staticmethod
    def bytes_func(num_tokens, hidden_dim, inter_dim, num_experts, topk, input_bpe, weight_bpe, output_bpe):
        """Bytes of what the first layer gave, the result and the weights of the experts that are expected to be met."""
        return _moe("moe_down", "bytes", num_tokens, hidden_dim, inter_dim, num_experts, topk,
                    sizes=(input_bpe, weight_bpe, output_bpe))


class RMSNorm(ServingModel):
    """RMS norm, also with an addition before it or a quantisation behind it; the functions are those of norms."""

    category = "RMSNorm"
    flops_func = staticmethod(Normalization.flops_func)
    bytes_func = staticmethod(Normalization.bytes_func)
    flops_func_bwd = staticmethod(Normalization.flops_func_bwd)
    bytes_func_bwd = staticmethod(Normalization.bytes_func_bwd)


class ServingUnary(ServingModel):
    """Activations, quantisations of one operand; the functions are those of elementwise operations."""

    flops_func = staticmethod(UnaryElementwise.flops_func)
    bytes_func = staticmethod(UnaryElementwise.bytes_func)


class GroupQuant(ServingModel):
    """Quantisation with a scale for each group; the functions are those of operations of two operands."""

    category = "GroupQuant"
    flops_func = staticmethod(BinaryElementwise.flops_func)
    bytes_func = staticmethod(BinaryElementwise.bytes_func)
    get_broadcast_shape = staticmethod(BinaryElementwise.get_broadcast_shape)


class CustomCollective(ServingModel):
    """A collective that is no operation of a communication library."""

    category = "CustomCollective"
