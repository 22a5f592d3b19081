# SPDX-License-Identifier: MIT
"""Operations element by element."""
from math import prod

from ... import _core
from .._evaluate import estimate, size
from .model import Model
from .registry import define, matching, public


class UnaryElementwise(Model):
    """One operand.

    Parameters: ``op_shape``, ``dtype_in_out`` (a pair, the second may be None), ``stride_input``, ``stride_output``.
    """

    category = "elementwise"
    sheet_category = "UnaryElementwise"
    _dtypes = "dtype_in_out"

    def _set_up(self):
        super()._set_up()
        self.nelems = prod(self._value("op_shape"))
        self.bpe_in = self._bpe(0)
        self.bpe_out = self._bpe(1) or self.bpe_in

    def _state(self):
        return super()._state() + [self.nelems, self.bpe_in, self.bpe_out]

    @staticmethod
    def flops_func(nelems):
        """FLOPs: one an element."""
        return estimate("unary", "flops", shape=[nelems])

    @staticmethod
    def bytes_func(nelems, bpe_in, bpe_out):
        """Bytes read and written; None when the size of an element is unknown."""
        if None in (bpe_in, bpe_out):
            return None
        return estimate("unary", "bytes", shape=[nelems], dtype=size(bpe_in), dtype_out=size(bpe_out))

    def flops(self):
        """FLOPs of the operation."""
        return self._cost("flops", "flops_func")

    def bytes(self):
        """Bytes of the operation."""
        return self._cost("bytes", "bytes_func")

    def _flops(self):
        return self.flops_func(self.nelems)

    def _bytes(self):
        return self.bytes_func(self.nelems, self.bpe_in, self.bpe_out)


class _Resized(UnaryElementwise):
    """The result has another shape than the operand."""

    def _bytes(self):
        if self.bpe_in is None:
            return None
        return estimate("unary", "bytes", shape=list(self._value("input_shape")),
                        output=list(self._value("output_shape")), dtype=size(self.bpe_in))


class _Mxfp4Dual(UnaryElementwise):
    MXFP4_BLOCK_SIZE = 32

    def _bytes(self):
        *rows, columns = self._value("op_shape")
        if self.bpe_in is None:
            return None
        return estimate("quant_mxfp4", "bytes", M=prod(rows), N=columns, dtype=size(self.bpe_in))


class BinaryElementwise(Model):
    """Two operands, broadcast.

    Parameters: ``shape_in1``, ``shape_in2``, ``dtype_in1_in2_out`` (the third may be None), and strides.
    """

    category = "elementwise"
    sheet_category = "BinaryElementwise"
    _dtypes = "dtype_in1_in2_out"

    def _set_up(self):
        super()._set_up()
        first, second = self._value("shape_in1"), self._value("shape_in2")
        self.nelems_in1, self.nelems_in2 = prod(first), prod(second)
        self.nelems_out = prod(self.get_broadcast_shape(first, second))
        self.bpe_in1, self.bpe_in2 = self._bpe(0), self._bpe(1)
        out = self._bpe(2)
        if out is None and self.bpe_in1 and self.bpe_in2:
            out = max(self.bpe_in1, self.bpe_in2) if first and second else self.bpe_in1
        self.bpe_out = out

    def _state(self):
        names = ("nelems_in1", "nelems_in2", "nelems_out", "bpe_in1", "bpe_in2", "bpe_out")
        return super()._state() + [vars(self)[name] for name in names]

    @staticmethod
    def flops_func(nelems_out):
        """FLOPs: one an element of the result."""
        return estimate("unary", "flops", shape=[nelems_out])

    @staticmethod
    def bytes_func(nelems_in1, nelems_in2, nelems_out, bpe_in1, bpe_in2, bpe_out):
        """Bytes of both operands and the result; None when the size of an element is unknown."""
        if None in (bpe_in1, bpe_in2, bpe_out):
            return None
        first = estimate("unary", "bytes", shape=[nelems_in1], output=[nelems_out], dtype=size(bpe_in1),
                         dtype_out=size(bpe_out))
        # reading and writing as many elements is twice the reading; half bytes stay
        twice = estimate("unary", "bytes", shape=[nelems_in2], dtype=size(bpe_in2))
        return first + (twice // 2 if twice % 2 == 0 else twice / 2)

    @staticmethod
    def get_broadcast_shape(shape1, shape2):
        """Shape of the result of two operands, a tuple. ValueError when they do not go together."""
        if not shape1 or not shape2:
            return tuple(shape1 or shape2)
        return _core.estimate("binary", shape1=list(shape1), shape2=list(shape2))["output"]

    def flops(self):
        """FLOPs of the operation."""
        return self._cost("flops", "flops_func")

    def bytes(self):
        """Bytes of the operation."""
        return self._cost("bytes", "bytes_func")

    def _flops(self):
        return self.flops_func(self.nelems_out)

    def _bytes(self):
        return self.bytes_func(self.nelems_in1, self.nelems_in2, self.nelems_out, self.bpe_in1, self.bpe_in2,
                               self.bpe_out)


aten_unary_elementwise = define(__name__, "aten_unary_elementwise", UnaryElementwise,
                                *matching(r"aten::(?!replication_pad|upsample_)\w+", "UnaryElementwise"))
aten_binary_elementwise = define(__name__, "aten_binary_elementwise", BinaryElementwise, *matching(r"aten::\w+",
                                 "BinaryElementwise"))
aten_replication_pad = define(__name__, "aten_replication_pad", _Resized, *matching(r"aten::replication_pad\dd"))
aten_upsample_nearest = define(__name__, "aten_upsample_nearest", _Resized, *matching(r"aten::upsample_nearest\dd"))
primus_turbo_quantize_fp8 = define(__name__, "primus_turbo_quantize_fp8", UnaryElementwise,
                                   *matching(r"primus_turbo\w*::quantize_fp8_tensorwise"))
primus_turbo_quantize_mxfp4_dual = define(__name__, "primus_turbo_quantize_mxfp4_dual", _Mxfp4Dual,
                                          *matching(r"primus\w*::quantize_mxfp4_dual"))
liger_silu_mul_function = define(__name__, "liger_silu_mul_function", BinaryElementwise, "LigerSiLUMulFunction")

__all__ = public(__name__, globals())
