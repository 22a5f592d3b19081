# SPDX-License-Identifier: MIT
"""Normalization."""
from math import prod

from .._evaluate import estimate, size
from .model import Model
from .registry import define, matching, public

#: Beginning of the names of norms, with or without the library that computes them.
_ATEN = r"aten::(native_|miopen_|cudnn_)?"


def _norm(which, bias, affine, training, elements, channels, **more):
    if channels != int(channels):
        raise ValueError("the number of channels must be whole")
    return estimate("normalization", which, shape=[elements], channels=int(channels), bias=bool(bias),
                    affine=bool(affine), training=bool(training), **more)


class Normalization(Model):
    """Batch, layer, group and instance norm.

    Parameters: ``op_shape``, ``dtype_in_out`` (a pair), ``num_channels`` (elements of the weight), ``has_bias``,
    ``is_affine``, ``is_training``; of backward operations ``output_mask`` (which gradients are wanted).
    """

    category = "NORM_fwd"
    bwd_category = "NORM_bwd"
    sheet_category = "Normalization"
    _dtypes = "dtype_in_out"
    _family = "normalization"
    _is_backward = False

    def _set_up(self):
        super()._set_up()
        self.num_elems = prod(self._value("op_shape"))
        self.output_mask = self._mask()
        self.bpe_in = self._bpe(0)
        self.bpe_out = self._bpe(1) or self.bpe_in

    def _state(self):
        return super()._state() + [self.num_elems, self.output_mask, self.bpe_in, self.bpe_out]

    @staticmethod
    def flops_func(has_bias, is_affine, is_training, num_elems, num_channels):
        """FLOPs of a norm of ``num_elems`` elements."""
        return _norm("flops", has_bias, is_affine, is_training, num_elems, num_channels)

    @staticmethod
    def bytes_func(has_bias, is_affine, is_training, num_elems, num_channels, bpe_in, bpe_out):
        """Bytes of input, result, weight, bias and statistics; None when the size of an element is unknown."""
        if None in (bpe_in, bpe_out):
            return None
        return _norm("bytes", has_bias, is_affine, is_training, num_elems, num_channels, dtype=size(bpe_in),
                     dtype_out=size(bpe_out))

    @staticmethod
    def flops_func_bwd(has_bias, is_affine, is_training, num_elems, num_channels, output_mask):
        """FLOPs of the backward pass; ``output_mask[0]``: the gradient of the input is wanted."""
        return _norm("flops", has_bias, is_affine, is_training, num_elems, num_channels, backward=True,
                     grad_input=bool(output_mask[0]))

    @staticmethod
    def bytes_func_bwd(has_bias, is_affine, is_training, num_elems, num_channels, bpe_in, bpe_out, output_mask):
        """Bytes of the backward pass."""
        if None in (bpe_in, bpe_out):
            return None
        return _norm("bytes", has_bias, is_affine, is_training, num_elems, num_channels, dtype=size(bpe_in),
                     dtype_out=size(bpe_out), backward=True, grad_input=bool(output_mask[0]))

    def flops(self):
        """FLOPs of the operation; of a backward one those of the gradients."""
        return self._cost("flops", "flops_func_bwd" if self._is_backward else "flops_func")

    def bytes(self):
        """Bytes of the operation."""
        return self._cost("bytes", "bytes_func_bwd" if self._is_backward else "bytes_func")

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd", "flops_func_bwd")

    def bytes_bwd(self):
        """Bytes of the backward pass."""
        return self._cost("bytes_bwd", "bytes_func_bwd")

    def _flags(self):
        v = self._value
        return v("has_bias", False), v("is_affine", False), v("is_training", True), self.num_elems, v("num_channels")

    def _mask(self):
        return self._value("output_mask") or [True, True, True]

    def _flops(self):
        return self._flops_bwd() if self._is_backward else self.flops_func(*self._flags())

    def _bytes(self):
        return self._bytes_bwd() if self._is_backward else self.bytes_func(*self._flags(), self.bpe_in, self.bpe_out)

    def _flops_bwd(self):
        return self.flops_func_bwd(*self._flags(), self._mask())

    def _bytes_bwd(self):
        return self.bytes_func_bwd(*self._flags(), self.bpe_in, self.bpe_out, self._mask())


class _RMSNorm(Normalization):
    def _estimate(self, which, backward):
        if which == "bytes" and None in (self.bpe_in, self.bpe_out):
            return None
        mask = [bool(wanted) for wanted in self._mask()] + [True]
        more = {"backward": True, "grad_input": mask[0], "grad_weight": mask[1]} if backward else {}
        return estimate("rmsnorm", which, shape=[self.num_elems], channels=self._value("num_channels"),
                        affine=bool(self._value("is_affine")), dtype=size(self.bpe_in or 1),
                        dtype_out=size(self.bpe_out or 1), **more)

    def _flops(self):
        return self._estimate("flops", self._is_backward)

    def _bytes(self):
        return self._estimate("bytes", self._is_backward)

    def _flops_bwd(self):
        return self._estimate("flops", True)

    def _bytes_bwd(self):
        return self._estimate("bytes", True)


class _LnModulate(_RMSNorm):
    def _estimate(self, which, backward):
        if which == "bytes" and self.bpe_in is None:
            return None
        tokens, batch, hidden = self._value("op_shape")
        return estimate("layernorm_modulate", which, T=tokens, B=batch, H=hidden, dtype=size(self.bpe_in or 1),
                        backward=backward)


BatchNorm = define(__name__, "BatchNorm", Normalization, *matching(_ATEN + "batch_norm"))
BatchNormBwd = define(__name__, "BatchNormBwd", Normalization, *matching(_ATEN + "batch_norm_backward"),
                      _is_backward=True)
LayerNorm = define(__name__, "LayerNorm", Normalization, *matching(_ATEN + "layer_norm"))
LayerNormBwd = define(__name__, "LayerNormBwd", Normalization, *matching(_ATEN + "layer_norm_backward"),
                      _is_backward=True)
GroupNorm = define(__name__, "GroupNorm", Normalization, *matching(_ATEN + "group_norm"), "aiter::_groupnorm_run")
GroupNormBwd = define(__name__, "GroupNormBwd", Normalization, *matching(_ATEN + "group_norm_backward"),
                      _is_backward=True)
InstanceNorm = define(__name__, "InstanceNorm", Normalization, *matching(_ATEN + "instance_norm"))
InstanceNormBwd = define(__name__, "InstanceNormBwd", Normalization, *matching(_ATEN + "instance_norm_backward"),
                         _is_backward=True)
RMSNorm = define(__name__, "RMSNorm", _RMSNorm, "aten::_fused_rms_norm")
RMSNormBwd = define(__name__, "RMSNormBwd", _RMSNorm, "aten::_fused_rms_norm_backward",
                    *matching(_ATEN + "rms_norm_backward"), _is_backward=True)
FusedLnModulate = define(__name__, "FusedLnModulate", _LnModulate, "primus::fused_ln_modulate")
FusedLnModulateBackward = define(__name__, "FusedLnModulateBackward", _LnModulate, "primus::fused_ln_modulate_backward",
                                 _is_backward=True)

__all__ = public(__name__, globals())
