# SPDX-License-Identifier: MIT
"""Sequences and losses: causal convolution, rotary embedding, state spaces, cross entropy."""
from .._evaluate import estimate
from .model import NoBackward, Sized
from .registry import define, public


class CausalConv1d(Sized):
    """Causal depthwise convolution. Parameters: ``batch``, ``channels``, ``seq_len``, ``kernel_size``, ``has_bias``."""

    category = "SSM_fwd"
    _unit = "matrix"

    def _estimate(self, which):
        v = self._value
        return estimate("causal_conv1d", which, B=v("batch"), channels=v("channels"), length=v("seq_len"),
                        kernel=v("kernel_size"), bias=bool(v("has_bias")), dtype=self._element())

    def _flops(self):
        return self._estimate("flops")

    def _bytes(self):
        return self._estimate("bytes")


class FusedRoPE(Sized):
    """Rotary embedding. Parameters: ``seq_len``, ``batch``, ``heads``, ``head_dim``, ``num_elements``."""

    category = "RoPE_fwd"

    def _flops(self):
        return estimate("rope", "flops", shape=[self._value("num_elements")])

    def _bytes(self):
        return estimate("rope", "bytes", shape=[self._value("num_elements")], dtype=self._element())


class CrossEntropy(Sized):
    """Cross entropy. Parameters: ``batch``, ``vocab_size``, ``logits_shape``."""

    category = "CrossEntropy_fwd"

    def _estimate(self, which):
        return estimate("cross_entropy", which, rows=self._value("batch"), vocabulary=self._value("vocab_size"),
                        dtype=self._element())

    def _flops(self):
        return self._estimate("flops")

    def _bytes(self):
        return self._estimate("bytes")


class MambaSSD(NoBackward, Sized):
    """Mamba-2 block. Parameters: ``B``, ``T``, ``H``, ``P``, ``G``, ``N``, ``C`` (tokens of a chunk), ``d_conv``."""

    category = "SSM_fwd"
    bwd_category = "SSM_bwd"
    _unit = "matrix"

    def _estimate(self, which):
        v = self._value
        return estimate("mamba", which, B=v("B"), T=v("T"), H=v("H"), P=v("P"), G=v("G"), N=v("N"), chunk=v("C"),
                        d_conv=v("d_conv"), dtype=self._element())

    def _flops(self):
        return self._estimate("flops")

    def _bytes(self):
        return self._estimate("bytes")

    _flops_bwd = _flops
    _bytes_bwd = _bytes


causal_conv1d_fwd = define(__name__, "causal_conv1d_fwd", CausalConv1d, "DaoAILab::_causal_conv1d_fwd_cpp")
fused_rope_fwd = define(__name__, "fused_rope_fwd", FusedRoPE, "FusedRoPEFunc")
cross_entropy_fwd = define(__name__, "cross_entropy_fwd", CrossEntropy, "CrossEntropyFunction")
mamba_ssd_fwd = define(__name__, "mamba_ssd_fwd", MambaSSD, "MambaSplitConv1dScanCombinedFn")

__all__ = public(__name__, globals())
