# SPDX-License-Identifier: MIT
"""Convolution."""
from collections.abc import Mapping

from ... import _core
from .._evaluate import arguments, estimate, parameters, size
from .model import Model
from .registry import define, public


class CONV(Model):
    """Convolution of one to three spatial dimensions, also transposed. Shapes: (N, C, sizes).

    Parameters: ``input_shape``, ``filter_shape``, ``stride``, ``padding``, ``dilation``, ``transposed_conv``,
    ``output_padding``, ``bias``, and ``dtype_input_weight`` for ``bytes`` and the precision.
    """

    category = "CONV_fwd"
    bwd_category = "CONV_bwd"
    _unit = "matrix"
    _dtypes = "dtype_input_weight"
    _is_backward = False

    def _set_up(self):
        super()._set_up()
        self.x_shape = self._value("input_shape")
        self.w_shape = self._value("filter_shape")
        self.out_shape = self._value("output_shape") or self.get_output_shape(
            self.x_shape, self.w_shape, *(self._value(name) for name in ("stride", "padding", "dilation")),
            self._value("transposed_conv", False), self._value("output_padding"))

    def _state(self):
        return super()._state() + [self.x_shape, self.w_shape, self.out_shape, self.bias]

    @staticmethod
    def get_output_shape(input_shape, filter_shape, stride, padding, dilation, transposed_conv, output_padding):
        """Shape of the result, a tuple."""
        return _core.estimate("conv", input=list(input_shape), filter=list(filter_shape), stride=_list(stride),
                              padding=_list(padding), dilation=_list(dilation), transposed=bool(transposed_conv),
                              output_padding=_list(output_padding) if transposed_conv else None,
                              groups=_groups(input_shape, filter_shape, transposed_conv))["output"]

    @staticmethod
    def t(shape):
        """A shape with its first two sizes exchanged."""
        first, second, *rest = shape
        return (second, first, *rest)

    @staticmethod
    def get_conv_out_dim(input_dim, kernel_size, stride, padding, dilation, output_padding=None):
        """One size of the result of a convolution."""
        return CONV.get_output_shape((1, 1, input_dim), (1, 1, kernel_size), (stride,), (padding,), (dilation,), False,
                                     None)[2]

    @staticmethod
    def get_transposed_conv_out_dim(input_dim, kernel_size, stride, padding, dilation, output_padding):
        """One size of the result of a transposed convolution."""
        return CONV.get_output_shape((1, 1, input_dim), (1, 1, kernel_size), (stride,), (padding,), (dilation,), True,
                                     (output_padding,))[2]

    @staticmethod
    def flops_func(x_shape, w_shape, out_shape, bias, transposed_conv=False):
        """FLOPs, with those of a bias."""
        return _conv("flops", x_shape, w_shape, out_shape, bias, transposed_conv)

    @staticmethod
    def bytes_func(x_shape, w_shape, out_shape, bias, bytes_per_element):
        """Bytes of input, filter, bias and result; None when the size of an element is unknown."""
        return _conv("bytes", x_shape, w_shape, out_shape, bias, False, bytes_per_element)

    @staticmethod
    def flops_bwd_func(out_shape, x_shape, w_shape, bias, transposed_conv=False):
        """FLOPs of the gradients of input, filter and bias. The result's shape comes first here."""
        return _conv("flops", x_shape, w_shape, out_shape, bias, transposed_conv, backward=True)

    @staticmethod
    def bytes_bwd_func(x_shape, w_shape, out_shape, bias, bytes_per_element):
        """Bytes of the same."""
        return _conv("bytes", x_shape, w_shape, out_shape, bias, False, bytes_per_element, backward=True)

    def flops(self):
        """FLOPs of the operation; of a backward one those of the gradients."""
        return self._cost("flops", "flops_bwd_func" if self._is_backward else "flops_func")

    def bytes(self, bytes_per_element=None):
        """Bytes of the operation. All elements have the size of the input's unless one is given."""
        if bytes_per_element is None:
            return self._cost("bytes", "bytes_bwd_func" if self._is_backward else "bytes_func")
        return self._bytes(bytes_per_element)

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd", "flops_bwd_func")

    def bytes_bwd(self, bytes_per_element=None):
        """Bytes of the backward pass."""
        if bytes_per_element is None:
            return self._cost("bytes_bwd", "bytes_bwd_func")
        return self._bytes_bwd(bytes_per_element)

    def _flops(self):
        if self._is_backward:
            return self._flops_bwd()
        return self.flops_func(self.x_shape, self.w_shape, self.out_shape, self._value("bias"),
                               self._value("transposed_conv", False))

    def _bytes(self, bytes_per_element=None):
        if self._is_backward:
            return self._bytes_bwd(bytes_per_element)
        return self.bytes_func(self.x_shape, self.w_shape, self.out_shape, self._value("bias"),
                               self._bpe() if bytes_per_element is None else bytes_per_element)

    def _flops_bwd(self):
        return self.flops_bwd_func(self.out_shape, self.x_shape, self.w_shape, self._value("bias"),
                                   self._value("transposed_conv", False))

    def _bytes_bwd(self, bytes_per_element=None):
        return self.bytes_bwd_func(self.x_shape, self.w_shape, self.out_shape, self._value("bias"),
                                   self._bpe() if bytes_per_element is None else bytes_per_element)


def _list(sizes):
    return None if sizes is None else [sizes] if isinstance(sizes, int) else list(sizes)


def _groups(x, w, transposed):
    """Groups of channels: as many as the filter's channels fit into the input's."""
    return 1 if transposed or not w[1] or x[1] % w[1] else x[1] // w[1]


def _conv(which, x, w, out, bias, transposed, bytes_per_element=1, backward=False):
    if bytes_per_element is None:
        return None
    return estimate("conv", which, input=list(x), filter=list(w), output=list(out), bias=bool(bias),
                    transposed=bool(transposed), dtype=size(bytes_per_element), backward=backward,
                    groups=_groups(x, w, transposed))


class _ConvBias(CONV):
    """A convolution with a bias, fused; its backward operation knows its sizes from here, by the sequence number."""

    #: Sequence number -> arguments, as JSON text.
    fwd_pass_cache = {}

    def __init__(self, event, arch=None, python_path=None, **kwargs):
        super().__init__(event, arch, python_path, **kwargs)
        number = (event.get("args") or {}).get("Sequence number")
        if number is not None:
            type(self).fwd_pass_cache[number] = arguments(event)


class _ConvBiasBackward(CONV):
    _is_backward = True
    _forward = None

    @classmethod
    def get_param_details(cls, event):
        """Parameters of the forward operation with the same sequence number, which must have been looked at before.
        ValueError when it was not."""
        number = (event.get("args") or {}).get("Sequence number")
        forward = cls._forward.fwd_pass_cache.get(number)
        if isinstance(forward, Mapping):  # a script put the parameters there
            return dict(forward)
        return parameters(cls._operation_of(event), event, forward)


def _str_to_tuple(s):
    """``"[1, 2]"`` as a tuple of integers."""
    return tuple(int(part) for part in s[1:-1].split(","))


aten_conv = define(__name__, "aten_conv", CONV, "aten::convolution", str_to_tuple=staticmethod(_str_to_tuple))
aten_conv_bwd = define(__name__, "aten_conv_bwd", CONV, "aten::convolution_backward", _is_backward=True)
ConvBias_ = define(__name__, "ConvBias_", _ConvBias, "ConvBias_", fwd_pass_cache={})
ConvBias_Backward = define(__name__, "ConvBias_Backward", _ConvBiasBackward, "ConvBias_Backward", _forward=ConvBias_)
ConvBiasReLU_ = define(__name__, "ConvBiasReLU_", _ConvBias, "ConvBiasReLU_", fwd_pass_cache={})
ConvBiasReLU_Backward = define(__name__, "ConvBiasReLU_Backward", _ConvBiasBackward, "ConvBiasReLU_Backward",
                               _forward=ConvBiasReLU_)

__all__ = public(__name__, globals())
