# SPDX-License-Identifier: MIT
"""Reductions."""
from .._evaluate import estimate, size
from .model import Model
from .registry import define, matching, public


class Reduce(Model):
    """Sum, mean, maximum and the like.

    Parameters: ``num_input_elems``, ``num_output_elems``, ``dtype_in_out`` (a pair), ``reduce_type``.
    """

    category = "reduce"
    sheet_category = "Reduce"
    _dtypes = "dtype_in_out"

    def _set_up(self):
        super()._set_up()
        self.bpe_in = self._bpe(0)
        self.bpe_out = self._bpe(1) or self.bpe_in

    def _state(self):
        return super()._state() + [self.bpe_in, self.bpe_out]

    @staticmethod
    def flops_func(num_input_elems, num_output_elems, reduce_type="sum"):
        """FLOPs: one an element of the input."""
        return estimate("reduce", "flops", shape=[num_input_elems], output=[num_output_elems])

    @staticmethod
    def bytes_func(num_input_elems, num_output_elems, bpe_in, bpe_out):
        """Bytes read and written; None when the size of an element is unknown."""
        return _reduce_bytes(num_input_elems, num_output_elems, bpe_in, bpe_out, False)

    @staticmethod
    def flops_bwd_func(num_input_elems, num_output_elems, reduce_type="sum"):
        """FLOPs of the backward pass."""
        return estimate("reduce", "flops", shape=[num_input_elems], output=[num_output_elems], backward=True)

    @staticmethod
    def bytes_bwd_func(num_input_elems, num_output_elems, bpe_in, bpe_out):
        """Bytes of the backward pass."""
        return _reduce_bytes(num_input_elems, num_output_elems, bpe_in, bpe_out, True)

    def flops(self):
        """FLOPs of the operation."""
        return self._cost("flops", "flops_func")

    def bytes(self):
        """Bytes of the operation."""
        return self._cost("bytes", "bytes_func")

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd", "flops_bwd_func")

    def bytes_bwd(self, bytes_per_element=None):
        """Bytes of the backward pass."""
        if bytes_per_element is None:
            return self._cost("bytes_bwd", "bytes_bwd_func")
        return self.bytes_bwd_func(*self._sizes(), bytes_per_element, bytes_per_element)

    def _sizes(self):
        return self._value("num_input_elems"), self._value("num_output_elems")

    def _flops(self):
        return self.flops_func(*self._sizes(), self._value("reduce_type", "sum"))

    def _bytes(self):
        return self.bytes_func(*self._sizes(), self.bpe_in, self.bpe_out)

    def _flops_bwd(self):
        return self.flops_bwd_func(*self._sizes(), self._value("reduce_type", "sum"))

    def _bytes_bwd(self):
        return self.bytes_bwd_func(*self._sizes(), self.bpe_in, self.bpe_out)


def _reduce_bytes(num_input_elems, num_output_elems, bpe_in, bpe_out, backward):
    if None in (bpe_in, bpe_out):
        return None
    return estimate("reduce", "bytes", shape=[num_input_elems], output=[num_output_elems], dtype=size(bpe_in),
                    dtype_out=size(bpe_out), backward=backward)


aten_reduce = define(__name__, "aten_reduce", Reduce, *matching(r"aten::\w+", "Reduce"))

__all__ = public(__name__, globals())
