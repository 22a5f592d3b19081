# SPDX-License-Identifier: MIT
"""Operation models: FLOPs and bytes of operations, from their arguments in a trace or from sizes alone.

A model is made with an event (``aten_mm(event)``) and then tells its parameters (``param_details``), ``flops()`` and
``bytes()`` of the operation, and ``flops_bwd()`` and ``bytes_bwd()`` of its backward pass, where it has one. The base
classes (:class:`GEMM`, :class:`SDPA`, :class:`CONV` ...) also answer without an event through static functions such as
``GEMM.flops_func(M, N, K, bias)``. All figures come from the library's own models (docs/estimates.md, docs/models.md).

A model of one's own is a subclass that overrides ``get_param_details(event)``, and what else is different::

    class my_linear(GEMM):
        @staticmethod
        def get_param_details(event):
            (m, k), (n, _) = event["args"]["Input Dims"][:2]
            return {"M": m, "N": n, "K": k, "bias": False, "dtype_A_B": tuple(event["args"]["Input type"][:2])}

    analyzer.op_to_perf_model_class_map["my::linear"] = my_linear

Units: FLOPs, bytes, µs. ``flops()`` and the like raise NotImplementedError for what is not modelled; ``bytes()`` is None
when a dtype is unknown.
"""
import ast
import json
from math import prod

from .. import _core
from ._evaluate import Parameters, arguments, estimate, kernel_names, parameters, size
from .kernel_name_parser import gemm_name_parser
from .utils import name2bpe, optional_float, optional_int, parse_bool, simulation_dtype_map, torch_dtype_map


def _is_ours(cls, name):
    """Whether a method of a class is that of this package, not of a subclass."""
    owner = next(base for base in cls.__mro__ if name in vars(base))
    return owner.__module__.startswith("TraceLens.PerfModel")


class _Model:
    """What all models share."""

    #: Category of the operation, and of its backward pass.
    category = None
    bwd_category = None
    #: An operation whose arguments the library reads for this class.
    operation = None
    #: The unit that computes.
    _unit = "vector"
    #: The parameter with the dtypes.
    _dtypes = None

    def __init__(self, event, arch=None, python_path=None, **kwargs):
        self.event = event
        self.arch = arch
        self.python_path = python_path
        self.param_details = self.get_param_details(event)
        self._told = None
        self._set_up()
        self._answer = getattr(self.param_details, "answer", None)
        if self._answer is not None and dict(self.param_details) != self._answer["params"]:
            self._answer = None  # a subclass changed what the library read
        self._told = self._state()

    @classmethod
    def get_param_details(cls, event):
        """Parameters of the operation as a dict, in the order of their columns."""
        operation = cls._operation_of(event)
        if operation is None:
            raise NotImplementedError(f"{cls.__name__} does not say how to read events: override get_param_details")
        return parameters(operation, event)

    @classmethod
    def _operation_of(cls, event):
        name = event.get("name")
        return name if name in cls.operations() else cls.operation

    @classmethod
    def operations(cls):
        """Operations that the library reads for this class."""
        return _OPERATIONS.get(cls.operation, ())

    def _set_up(self):
        """Parameters as attributes."""
        for name, value in self.param_details.items():
            if name.isidentifier() and not hasattr(type(self), name):
                setattr(self, name, value)

    def _state(self):
        """What the answer of the library holds for: as long as it is unchanged."""
        attributes = vars(self)
        return [(name, value, attributes.get(name)) for name, value in self.param_details.items()]

    def _cost(self, which, *functions):
        """The library's answer for the event; for parameters that a subclass read or changed the formula itself."""
        if self._answer is not None and self._state() == self._told and all(
                _is_ours(type(self), name) for name in functions):
            value = self._answer[which]
            if value == "not modelled":
                raise NotImplementedError(f"{which} of {type(self).__name__} is not modelled")
            if value == "failed":
                raise ValueError(f"{which} of {type(self).__name__} cannot be told for these arguments")
            return value
        return getattr(self, "_" + which)()

    def _flops(self):
        raise NotImplementedError(f"{type(self).__name__} does not tell its FLOPs")

    def _bytes(self):
        raise NotImplementedError(f"{type(self).__name__} does not tell its bytes")

    def _flops_bwd(self):
        raise NotImplementedError(f"the backward pass of {type(self).__name__} is not modelled")

    def _bytes_bwd(self):
        raise NotImplementedError(f"the backward pass of {type(self).__name__} is not modelled")

    def flops(self):
        """Floating point operations."""
        return self._cost("flops")

    def bytes(self):
        """Bytes that are read and written at least; None when a dtype is unknown."""
        return self._cost("bytes")

    def get_maf_type(self):
        """``"matrix"`` or ``"vector"``, the unit that computes; None when there is none."""
        if self._answer is not None and self._state() == self._told:
            return self._answer["unit"]
        return self._unit

    def get_compute_precision(self):
        """Precision of the computation (``"bf16"``), None when unknown."""
        if self._answer is not None and self._state() == self._told:
            return self._answer["precision"]
        dtype = self._dtype()
        return torch_dtype_map(dtype) if isinstance(dtype, str) else None

    def _dtype(self, index=0):
        """A dtype among the parameters, None when there is none."""
        dtypes = self.param_details.get(self._dtypes)
        if isinstance(dtypes, (tuple, list)):
            return dtypes[index] if index < len(dtypes) else None
        return dtypes if index == 0 else None

    def _bpe(self, index=0):
        return name2bpe(self._dtype(index))

    def _value(self, name, default=None):
        """A parameter: as attribute, which scripts may have changed, else as it was read."""
        return vars(self).get(name, self.param_details.get(name, default))


class _NoBackward:
    """Makes models whose backward pass has no methods of its own."""

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd")

    def bytes_bwd(self, bytes_per_element=None):
        """Bytes of the backward pass."""
        return self._cost("bytes_bwd")


# ---- matrix multiplication ----


class GEMM(_Model):
    """Y[M,N] = A[M,K] B[K,N], with a bias of N elements or without.

    Parameters: ``M``, ``N``, ``K``, ``bias``, and ``dtype_A_B``, which ``bytes`` and the precision need. ``B`` (products
    in a batch) and ``transpose`` (from the kernel's name) are added.
    """

    category = "GEMM"
    _unit = "matrix"
    _dtypes = "dtype_A_B"
    _batched = False
    _block = 0

    def __init__(self, event, arch=None, python_path=None, enable_origami=False, **kwargs):
        self.enable_origami = enable_origami
        super().__init__(event, arch, python_path, **kwargs)
        self.simulation_time = None

    def _set_up(self):
        details = self.param_details
        if not isinstance(details, Parameters):
            details.setdefault("B", 1)
            for name in kernel_names(self.event):
                parsed = gemm_name_parser(name)
                if parsed:
                    details.setdefault("transpose", parsed["transpose"])
                    break
        super()._set_up()

    @staticmethod
    def flops_func(M, N, K, bias):
        """FLOPs: 2 M N K, and M N for a bias."""
        return estimate("gemm", "flops", M=M, N=N, K=K, bias=bool(bias))

    @staticmethod
    def bytes_func(M, N, K, bias, bpe_mat1, bpe_mat2, bpe_bias, bpe_output):
        """Bytes of both operands, the result and the bias; None when the size of an element is unknown."""
        if None in (bpe_mat1, bpe_mat2, bpe_bias, bpe_output):
            return None
        return estimate("gemm", "bytes", M=M, N=N, K=K, bias=bool(bias), dtype_A=size(bpe_mat1),
                        dtype_B=size(bpe_mat2), dtype_bias=size(bpe_bias), dtype_out=size(bpe_output))

    def flops(self):
        """FLOPs, of all products in a batch."""
        return self._cost("flops", "flops_func")

    def bytes(self, bpe_mat1=None, bpe_mat2=None, bpe_bias=None, bpe_output=None):
        """Bytes, of all products in a batch. Sizes of elements that are not given are those of the dtypes."""
        if bpe_mat1 is bpe_mat2 is bpe_bias is bpe_output is None:
            return self._cost("bytes", "bytes_func")
        return self._bytes(bpe_mat1, bpe_mat2, bpe_bias, bpe_output)

    def _products(self):
        return self._value("B", 1) if self._batched else 1

    def _sizes(self):
        return tuple(self._value(name) for name in ("M", "N", "K", "bias"))

    def _flops(self):
        return self.flops_func(*self._sizes()) * self._products()

    def _bytes(self, bpe_mat1=None, bpe_mat2=None, bpe_bias=None, bpe_output=None):
        first = bpe_mat1 if bpe_mat1 is not None else self._bpe(0)
        second = bpe_mat2 if bpe_mat2 is not None else self._bpe(1) or first
        # eight-bit operands give a result of two bytes an element
        out = bpe_output if bpe_output is not None else 2 if first == 1 else first
        moved = self.bytes_func(*self._sizes(), first, second, out if bpe_bias is None else bpe_bias, out)
        return None if moved is None else moved * self._products()

    def flops_bwd(self):
        """FLOPs of the gradients of both operands and the bias."""
        return self._cost("flops_bwd")

    def _flops_bwd(self):
        m, n, k, bias = self._sizes()
        return estimate("gemm", "flops", M=m, N=n, K=k, bias=bool(bias), B=self._products(), backward=True)

    def bytes_bwd(self, bytes_per_element=None):
        """Bytes of the same, all elements of one size."""
        return self._cost("bytes_bwd") if bytes_per_element is None else self._bytes_bwd(bytes_per_element)

    def _bytes_bwd(self, bytes_per_element=None):
        each = self._bpe() if bytes_per_element is None else bytes_per_element
        m, n, k, bias = self._sizes()
        if each is None:
            return None
        return estimate("gemm", "bytes", M=m, N=n, K=k, bias=bool(bias), B=self._products(), dtype=size(each),
                        dtype_out=size(each), backward=True)

    @staticmethod
    def get_simulation_time_func(arch, M, N, K, B, dtype, python_path=None, force_to_l1=False, num_cus=None,
                                 enable_origami=False):
        """None: simulators of matrix multiplications are programs of their own (docs/estimates.md)."""
        return None

    def get_simulation_time(self):
        """None: see :meth:`get_simulation_time_func`."""
        return self.simulation_time


class GroupedGemm(_Model):
    """X[M,K] in G groups of rows, each times a matrix [K,N] of its own.

    Parameters: ``M``, ``K``, ``N``, ``G``, ``bpe_in``, ``bpe_out``.
    """

    category = "GroupedGEMM_fwd"
    bwd_category = "GroupedGEMM_bwd"
    _unit = "matrix"

    @staticmethod
    def flops_func(M, K, N):
        """FLOPs: 2 M K N."""
        return estimate("grouped_gemm", "flops", M=M, K=K, N=N, G=1)

    @staticmethod
    def bytes_func(M, K, N, G, bpe_in, bpe_out):
        """Bytes of X, all matrices and the result; None when the size of an element is unknown."""
        if None in (bpe_in, bpe_out):
            return None
        return estimate("grouped_gemm", "bytes", M=M, K=K, N=N, G=G, dtype=size(bpe_in), dtype_out=size(bpe_out))

    @staticmethod
    def flops_bwd_func(M, K, N):
        """FLOPs of the gradients of X and the matrices: 4 M K N."""
        return estimate("grouped_gemm", "flops", M=M, K=K, N=N, G=1, backward=True)

    @staticmethod
    def bytes_bwd_func(M, K, N, G, bpe_in, bpe_out):
        """Bytes of the same."""
        if None in (bpe_in, bpe_out):
            return None
        return estimate("grouped_gemm", "bytes", M=M, K=K, N=N, G=G, dtype=size(bpe_in), dtype_out=size(bpe_out),
                        backward=True)

    def _sizes(self, *names):
        return tuple(self._value(name) for name in ("M", "K", "N", *names))

    def flops(self):
        """FLOPs of all groups."""
        return self._cost("flops", "flops_func")

    def bytes(self):
        """Bytes of all groups."""
        return self._cost("bytes", "bytes_func")

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd", "flops_bwd_func")

    def bytes_bwd(self):
        """Bytes of the backward pass."""
        return self._cost("bytes_bwd", "bytes_bwd_func")

    def _flops(self):
        return self.flops_func(*self._sizes())

    def _bytes(self):
        return self.bytes_func(*self._sizes("G", "bpe_in", "bpe_out"))

    def _flops_bwd(self):
        return self.flops_bwd_func(*self._sizes())

    def _bytes_bwd(self):
        return self.bytes_bwd_func(*self._sizes("G", "bpe_in", "bpe_out"))

    def _dtype(self, index=0):
        types = (self.event.get("args") or {}).get("Input type") or ()
        return types[index] if index < len(types) else None


# ---- attention ----


def extract_sdpa_cfg(q_shape, k_shape, v_shape, bhnd_idx):
    """Sizes of an attention from the shapes of queries, keys and values; ``bhnd_idx`` says where batch, heads, length
    and size of a head stand. ValueError when the shapes do not belong together."""
    b, h, n, d = bhnd_idx
    q, k, v = q_shape, k_shape, v_shape
    if not q[b] == k[b] == v[b]:
        raise ValueError(f"batches differ: {q[b]}, {k[b]}, {v[b]}")
    return _sdpa_cfg(q[b], q, k, v, (h, n, d))


def extract_sdpa_varlen_cfg(q_shape, k_shape, v_shape, hnd_idx):
    """The same of packed sequences, which have no batch."""
    return _sdpa_cfg(1, q_shape, k_shape, v_shape, hnd_idx)


def _sdpa_cfg(batch, q, k, v, hnd):
    h, n, d = hnd
    if k[h] != v[h] or k[n] != v[n]:
        raise ValueError(f"keys {k} and values {v} differ in heads or length")
    if q[d] != k[d]:
        raise ValueError(f"heads of queries {q} and keys {k} differ in size")
    return {"B": batch, "N_Q": q[n], "H_Q": q[h], "N_KV": k[n], "H_KV": k[h], "d_h_qk": q[d], "d_h_v": v[d]}


def _sdpa(which, B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, **more):
    return estimate("sdpa", which, B=B, N_Q=N_Q, H_Q=H_Q, N_KV=N_KV, H_KV=H_KV, d_h_qk=d_h_qk, d_h_v=d_h_v,
                    causal=bool(causal), **more)


class SDPA(_Model):
    """Scaled dot-product attention.

    Parameters: ``B``, ``N_Q``, ``H_Q``, ``N_KV``, ``H_KV``, ``d_h_qk``, ``d_h_v``, ``causal``, ``flash_impl``, and
    ``dtype_A_B`` for the precision.
    """

    category = "SDPA_fwd"
    bwd_category = "SDPA_bwd"
    _unit = "matrix"
    _dtypes = "dtype_A_B"
    _is_backward = False
    _varlen = False

    def __init__(self, event, arch=None, python_path=None, enable_origami=False, **kwargs):
        self.enable_origami = enable_origami
        super().__init__(event, arch, python_path, **kwargs)

    @staticmethod
    def flops_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal):
        """FLOPs of both products; with ``causal`` those of the pairs that the mask leaves."""
        return _sdpa("flops", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal)

    @staticmethod
    def bytes_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, bytes_per_element):
        """Bytes of queries, keys, values and the result."""
        if bytes_per_element is None:
            return None
        return _sdpa("bytes", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, dtype=size(bytes_per_element))

    @staticmethod
    def flops_bwd_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, flash_impl):
        """FLOPs of all gradients; with ``flash_impl`` the product of queries and keys is computed again."""
        return _sdpa("flops", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, flash=bool(flash_impl), backward=True)

    @staticmethod
    def bytes_bwd_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, bytes_per_element):
        """Bytes of queries, keys, values, the result's gradient, and the gradients of the first three."""
        if bytes_per_element is None:
            return None
        return _sdpa("bytes", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, dtype=size(bytes_per_element),
                     backward=True)

    def _sizes(self):
        names = ("B", "N_Q", "H_Q", "N_KV", "H_KV", "d_h_qk", "d_h_v", "causal")
        return tuple(self._value(name) for name in names)

    def flops(self):
        """FLOPs of the operation; of a backward one those of the gradients."""
        return self._cost("flops", "flops_bwd_func" if self._is_backward else "flops_func")

    def bytes(self, bytes_per_element=2):
        """Bytes of the operation."""
        if bytes_per_element in (None, 2):
            return self._cost("bytes", "bytes_bwd_func" if self._is_backward else "bytes_func")
        return self._bytes(bytes_per_element)

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd", "flops_bwd_func")

    def bytes_bwd(self, bytes_per_element=2):
        """Bytes of the backward pass."""
        if bytes_per_element in (None, 2):
            return self._cost("bytes_bwd", "bytes_bwd_func")
        return self._bytes_bwd(bytes_per_element)

    def _packed(self, backward):
        """FLOPs of sequences of several lengths, packed into one."""
        v = self._value
        return estimate("sdpa_varlen", "flops", N_Q=v("N_Q"), N_KV=v("N_KV"), num_seqs=v("num_seqs_q"),
                        max_seqlen_q=int(v("max_seqlen_q")), max_seqlen_kv=int(v("max_seqlen_kv")), H_Q=v("H_Q"),
                        H_KV=v("H_KV"), d_h_qk=v("d_h_qk"), d_h_v=v("d_h_v"), causal=bool(v("causal")),
                        flash=bool(v("flash_impl", True)), backward=backward)

    def _flops(self):
        if self._varlen:
            return self._packed(self._is_backward)
        return self._flops_bwd() if self._is_backward else self.flops_func(*self._sizes())

    def _bytes(self, bytes_per_element=2):
        function = self.bytes_bwd_func if self._is_backward else self.bytes_func
        return function(*self._sizes(), bytes_per_element)

    def _flops_bwd(self):
        return self.flops_bwd_func(*self._sizes(), self._value("flash_impl", False))

    def _bytes_bwd(self, bytes_per_element=2):
        return self.bytes_bwd_func(*self._sizes(), bytes_per_element)

    @staticmethod
    def get_simulation_time_func(arch, dtype, python_path, dtype_A_B, bytes, B, H_Q, N_Q, N_KV, d_h, fa=True,
                                 enable_origami=False):
        """None: simulators are programs of their own (docs/estimates.md)."""
        return None

    get_simulation_time_bwd_func = get_simulation_time_func

    def get_simulation_time(self):
        """None: see :meth:`get_simulation_time_func`."""
        return None

    get_simulation_time_bwd = get_simulation_time


class Softmax:
    """Softmax over the rows of ``B`` matrices [M,N]: sizes alone, no operation of a trace is counted with it."""

    @staticmethod
    def flops_func(M, N, B=1):
        """FLOPs: 3 B M N."""
        return estimate("softmax", "flops", M=M, N=N, B=B)

    @staticmethod
    def bytes_func(M, N, bytes_per_element, B=1):
        """Bytes read and written."""
        return estimate("softmax", "bytes", M=M, N=N, B=B, dtype=size(bytes_per_element))

    flops = flops_func
    bytes = bytes_func

    @staticmethod
    def flops_bwd(M, N, B=1):
        """FLOPs of the backward pass."""
        return estimate("softmax", "flops", M=M, N=N, B=B, backward=True)

    @staticmethod
    def bytes_bwd(M, N, bytes_per_element, B=1):
        """Bytes of the backward pass."""
        return estimate("softmax", "bytes", M=M, N=N, B=B, dtype=size(bytes_per_element), backward=True)

    @staticmethod
    def get_time(arch, M, N, bytes_per_element, B=1, force_to_l1=False, bwd=False, num_cus=None):
        """Time in µs on an architecture (a dict with ``mem_bw_gbps``, ``num_cus``, ``freq_mhz``,
        ``gemm_units_per_cu``, for ``force_to_l1`` ``l1_bw_gbps``), on ``num_cus`` compute units. ValueError when the
        architecture lacks a figure."""
        if arch is None:
            raise ValueError("a softmax takes time on a GPU only: arch is needed")
        return _core.softmax_time(json.dumps(dict(arch)), M, N, bytes_per_element, B, bool(force_to_l1), bool(bwd),
                                  num_cus or 0)


# ---- convolution ----


class CONV(_Model):
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
        return parameters(cls._operation_of(event), event, cls._forward.fwd_pass_cache.get(number))


# ---- elementwise operations, reductions ----


class UnaryElementwise(_Model):
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


class BinaryElementwise(_Model):
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
        # reading and writing as many elements is twice the reading
        return first + estimate("unary", "bytes", shape=[nelems_in2], dtype=size(bpe_in2)) // 2

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


class Reduce(_Model):
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


# ---- normalization ----


def _norm(which, bias, affine, training, elements, channels, **more):
    if channels != int(channels):
        raise ValueError("the number of channels must be whole")
    return estimate("normalization", which, shape=[elements], channels=int(channels), bias=bool(bias),
                    affine=bool(affine), training=bool(training), **more)


class Normalization(_Model):
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
        self.nelems = prod(self._value("op_shape"))
        self.bpe_in = self._bpe(0)
        self.bpe_out = self._bpe(1) or self.bpe_in

    def _state(self):
        return super()._state() + [self.nelems, self.bpe_in, self.bpe_out]

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
        return v("has_bias", False), v("is_affine", False), v("is_training", True), self.nelems, v("num_channels")

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
        return estimate("rmsnorm", which, shape=[self.nelems], channels=self._value("num_channels"),
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


# ---- mixture of experts, sequences, losses ----


class _Sized(_Model):
    """Models whose bytes count the first dtype of the event."""

    def _dtype(self, index=0):
        types = (self.event.get("args") or {}).get("Input type") or ()
        return types[index] if index < len(types) else None

    def _element(self):
        return size(self._bpe() or 2)


class MoEComm(_NoBackward, _Model):
    """Tokens on their way to experts, or back. Parameters: ``num_tokens``, ``hidden_dim``, ``bpe``."""

    category = "MoE_comm_fwd"
    bwd_category = "MoE_comm_bwd"
    _unit = None

    def _flops(self):
        return 0

    def _bytes(self):
        sizes = [self._value(name) for name in ("num_tokens", "hidden_dim", "bpe")]
        if None in sizes:
            return None
        return estimate("moe_comm", "bytes", tokens=sizes[0], hidden=sizes[1], dtype=size(sizes[2]))

    def get_compute_precision(self):
        """None: nothing is computed."""
        return None

    _flops_bwd = _flops
    _bytes_bwd = _bytes


class CausalConv1d(_Sized):
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


class FusedRoPE(_Sized):
    """Rotary embedding. Parameters: ``seq_len``, ``batch``, ``heads``, ``head_dim``, ``num_elements``."""

    category = "RoPE_fwd"

    def _flops(self):
        return estimate("rope", "flops", shape=[self._value("num_elements")])

    def _bytes(self):
        return estimate("rope", "bytes", shape=[self._value("num_elements")], dtype=self._element())


class CrossEntropy(_Sized):
    """Cross entropy. Parameters: ``batch``, ``vocab_size``, ``logits_shape``."""

    category = "CrossEntropy_fwd"

    def _estimate(self, which):
        return estimate("cross_entropy", which, rows=self._value("batch"), vocabulary=self._value("vocab_size"),
                        dtype=self._element())

    def _flops(self):
        return self._estimate("flops")

    def _bytes(self):
        return self._estimate("bytes")


class MambaSSD(_NoBackward, _Sized):
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


# ---- operations of traces ----

#: First operation of a class -> all its operations.
_OPERATIONS = {}
#: Operation -> category, backward category, sheet, as the library has them.
_REGISTRY = {name: (category, backward, sheet) for name, category, backward, sheet in _core.builtin_models()}
#: Operation -> class.
OP_TO_CLASS = {}


def define(module, name, base, *operations, mapped=True, **attributes):
    """Makes the class of some operations, whose arguments the library reads."""
    first = operations[0]
    _OPERATIONS[first] = frozenset(operations)
    category, backward, sheet = _REGISTRY.get(first, (base.category, base.bwd_category, None))
    names = ", ".join(f"``{operation}``" for operation in operations)
    values = {"__doc__": f"{base.__name__.lstrip('_')} of {names}.", "__module__": module, "operation": first,
              "category": category, "bwd_category": backward, **attributes}
    if sheet is not None and sheet != _sheet_of(category):
        values["sheet_category"] = sheet
    made = type(name, (base,), values)
    if mapped:
        OP_TO_CLASS.update((operation, made) for operation in operations if operation in _REGISTRY)
    return made


def _sheet_of(category):
    return category[:-4] if category.endswith(("_fwd", "_bwd")) else category


def _aten(*names, forms=("", "native_", "miopen_", "cudnn_")):
    return [f"aten::{form}{name}" for name in names for form in forms]


def _primus(*names):
    return [f"{space}::{name}" for name in names for space in ("primus_turbo_cpp_extension", "primus_turbo")]


def _define_all():
    backward = {"_is_backward": True}
    batch = {"_batched": True}
    scales = {"MXFP4_BLOCK_SIZE": 32}
    tev2 = [f"{name}_mm" for name in ("_Linear_yfwd", "_LinearBackward_xgrad", "_LinearBackward_wgrad",
                                      "_LayerNormLinear_yfwd", "_LayerNormLinearBackward_xgrad",
                                      "_LayerNormLinearBackward_wgrad")]
    reductions = ("sum", "mean", "max", "min", "norm", "linalg_norm", "std", "var", "logsumexp", "cumsum", "cumprod",
                  "amin", "amax")
    table = [
        ("aten_mm", GEMM, ["aten::mm"], {}),
        ("aten_addmm", GEMM, ["aten::addmm"], {}),
        ("aten_scaled_mm", GEMM, ["aten::_scaled_mm", "trtllm::cublas_scaled_mm", "bitsandbytes::int8_linear_matmul"],
         {}),
        ("aten_bmm", GEMM, ["aten::bmm"], batch),
        ("aten_baddbmm", GEMM, ["aten::baddbmm"], batch),
        ("tex_ts_te_gemm_ts", GEMM, ["tex_ts::te_gemm_ts"], {}),
        ("tev2_pseudo_gemm", GEMM, tev2, {}),
        ("vllm_gemm_with_dynamic_quant", GEMM, ["vllm::gemm_with_dynamic_quant"], {}),
        ("hipblaslt_gemm_fp8", GEMM, _primus("hipblaslt_gemm_fp8"), {}),
        ("hipblaslt_gemm_fp4", GEMM, _primus("hipblaslt_gemm_fp4"), scales),
        ("aiter_gemm_a4w4", GEMM, ["aiter::gemm_a4w4", "aiter::_gemm_a4w4_asm"], scales),
        ("primus_turbo_grouped_gemm", GroupedGemm,
         _primus("grouped_gemm", "grouped_gemm_impl", "ck_grouped_gemm"), {}),
        ("primus_turbo_grouped_gemm_variable_k", GroupedGemm,
         _primus("grouped_gemm_variable_k", "grouped_gemm_variable_k_impl", "ck_grouped_gemm_variable_k"), {}),
        ("flash_attention", SDPA, ["flash_attn::_flash_attn_forward", "FlashAttnFunc"], {}),
        ("flash_attention_backward", SDPA, ["flash_attn::_flash_attn_backward"], backward),
        ("flash_attention_varlen_forward", SDPA, ["flash_attn::_flash_attn_varlen_forward"], {"_varlen": True}),
        ("flash_attention_varlen_backward", SDPA, ["flash_attn::_flash_attn_varlen_backward"],
         {"_varlen": True, **backward}),
        ("aten__scaled_dot_product_cudnn_attention", SDPA, ["aten::_scaled_dot_product_cudnn_attention"], {}),
        ("aten__scaled_dot_product_efficient_attention", SDPA, ["aten::_scaled_dot_product_efficient_attention"], {}),
        ("aten__scaled_dot_product_flash_attention", SDPA, ["aten::_scaled_dot_product_flash_attention"], {}),
        ("aiter__flash_attn_forward", SDPA, ["aiter::_flash_attn_forward"], {}),
        ("aiter__flash_attn_backward", SDPA, ["aiter::_flash_attn_backward"], backward),
        ("aiter__fmha_v3_forward", SDPA, ["aiter::wrapper_fmha_v3_fwd"], {}),
        ("aiter__fmha_v3_backward", SDPA, ["aiter::wrapper_fmha_v3_bwd"], backward),
        ("aiter__fmha_v3_fwd", SDPA, ["aiter::fmha_v3_fwd"], {}),
        ("aiter__mha_fwd", SDPA, ["aiter::mha_fwd"], {}),
        ("aiter__mha_bwd", SDPA, ["aiter::mha_bwd"], backward),
        ("flash_attn_v3_forward", SDPA, ["flash_attn_3::fwd"], {}),
        ("evoformer_attention", SDPA, ["EvoformerAttention"], {}),
        ("vllm_unified_attention_with_output", SDPA, ["vllm::unified_attention_with_output"], {}),
        ("aten_conv", CONV, ["aten::convolution"], {"str_to_tuple": staticmethod(_str_to_tuple)}),
        ("aten_conv_bwd", CONV, ["aten::convolution_backward"], backward),
        ("ConvBias_", _ConvBias, ["ConvBias_"], {"fwd_pass_cache": {}}),
        ("ConvBiasReLU_", _ConvBias, ["ConvBiasReLU_"], {"fwd_pass_cache": {}}),
        ("aten_unary_elementwise", UnaryElementwise,
         _aten("copy", "copy_", "clamp_min", "clamp_min_", "clamp_max", "clamp_max_", "sigmoid", "rsqrt", "silu", "neg",
               "pow", forms=("",)), {}),
        ("aten_binary_elementwise", BinaryElementwise,
         _aten("div", "div_", "mul", "mul_", "add", "add_", "sigmoid_backward", "threshold_backward", forms=("",)), {}),
        ("aten_reduce", Reduce, _aten(*reductions, forms=("",)), {}),
        ("aten_replication_pad", _Resized, [f"aten::replication_pad{n}d" for n in (1, 2, 3)], {}),
        ("aten_upsample_nearest", _Resized, [f"aten::upsample_nearest{n}d" for n in (1, 2, 3)], {}),
        ("primus_turbo_quantize_fp8", UnaryElementwise, _primus("quantize_fp8_tensorwise"), {}),
        ("primus_turbo_quantize_mxfp4_dual", _Mxfp4Dual,
         [*_primus("quantize_mxfp4_dual"), "primus::quantize_mxfp4_dual"], {}),
        ("liger_silu_mul_function", BinaryElementwise, ["LigerSiLUMulFunction"], {}),
        ("BatchNorm", Normalization, _aten("batch_norm"), {}),
        ("BatchNormBwd", Normalization, _aten("batch_norm_backward"), backward),
        ("LayerNorm", Normalization, _aten("layer_norm"), {}),
        ("LayerNormBwd", Normalization, _aten("layer_norm_backward"), backward),
        ("GroupNorm", Normalization, [*_aten("group_norm"), "aiter::_groupnorm_run"], {}),
        ("GroupNormBwd", Normalization, _aten("group_norm_backward"), backward),
        ("InstanceNorm", Normalization, _aten("instance_norm"), {}),
        ("InstanceNormBwd", Normalization, _aten("instance_norm_backward"), backward),
        ("RMSNorm", _RMSNorm, ["aten::_fused_rms_norm"], {}),
        ("RMSNormBwd", _RMSNorm, ["aten::_fused_rms_norm_backward", *_aten("rms_norm_backward")], backward),
        ("FusedLnModulate", _LnModulate, ["primus::fused_ln_modulate"], {}),
        ("FusedLnModulateBackward", _LnModulate, ["primus::fused_ln_modulate_backward"], backward),
        ("moe_dispatch", MoEComm, ["MoEDispatch"], {}),
        ("moe_combine", MoEComm, ["MoECombine"], {}),
        ("causal_conv1d_fwd", CausalConv1d, ["DaoAILab::_causal_conv1d_fwd_cpp"], {}),
        ("fused_rope_fwd", FusedRoPE, ["FusedRoPEFunc"], {}),
        ("cross_entropy_fwd", CrossEntropy, ["CrossEntropyFunction"], {}),
        ("mamba_ssd_fwd", MambaSSD, ["MambaSplitConv1dScanCombinedFn"], {}),
    ]
    for name, base, operations, attributes in table:
        globals()[name] = define(__name__, name, base, *operations, **attributes)
    for name in ("ConvBias", "ConvBiasReLU"):
        globals()[name + "_Backward"] = define(__name__, name + "_Backward", _ConvBiasBackward, name + "_Backward",
                                               _forward=globals()[name + "_"])


def _str_to_tuple(s):
    """``"[1, 2]"`` as a tuple of integers."""
    return tuple(int(part) for part in s[1:-1].split(","))


def parse_list(input, dtype):
    """The items of a list in a text (``"[1, 2]"``), each as a ``dtype``."""
    return [dtype(item) for item in ast.literal_eval(input)]


_define_all()

__all__ = ["extract_sdpa_cfg", "extract_sdpa_varlen_cfg", "name2bpe", "optional_float", "optional_int", "parse_bool",
           "parse_list", "simulation_dtype_map", "torch_dtype_map", "gemm_name_parser",
           *(name for name, value in list(globals().items()) if isinstance(value, type) and not name.startswith("_")
             and value.__module__ == __name__)]
