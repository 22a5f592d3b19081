# SPDX-License-Identifier: MIT
"""Matrix multiplication."""
from .._evaluate import Parameters, estimate, kernel_names, size
from ..kernel_name_parser import gemm_name_parser
from .model import Model
from .registry import define, matching, public


class GEMM(Model):
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


aten_mm = define(__name__, "aten_mm", GEMM, "aten::mm")
aten_addmm = define(__name__, "aten_addmm", GEMM, "aten::addmm")
aten_scaled_mm = define(__name__, "aten_scaled_mm", GEMM, "aten::_scaled_mm", "trtllm::cublas_scaled_mm",
                        "bitsandbytes::int8_linear_matmul")
aten_bmm = define(__name__, "aten_bmm", GEMM, "aten::bmm", _batched=True)
aten_baddbmm = define(__name__, "aten_baddbmm", GEMM, "aten::baddbmm", _batched=True)
tex_ts_te_gemm_ts = define(__name__, "tex_ts_te_gemm_ts", GEMM, "tex_ts::te_gemm_ts")
tev2_pseudo_gemm = define(__name__, "tev2_pseudo_gemm", GEMM, *matching(r"_(LayerNorm)?Linear\w*_mm"))
vllm_gemm_with_dynamic_quant = define(__name__, "vllm_gemm_with_dynamic_quant", GEMM, "vllm::gemm_with_dynamic_quant")
hipblaslt_gemm_fp8 = define(__name__, "hipblaslt_gemm_fp8", GEMM, *matching(r"primus_turbo\w*::hipblaslt_gemm_fp8"))
hipblaslt_gemm_fp4 = define(__name__, "hipblaslt_gemm_fp4", GEMM, *matching(r"primus_turbo\w*::hipblaslt_gemm_fp4"),
                            MXFP4_BLOCK_SIZE=32)
aiter_gemm_a4w4 = define(__name__, "aiter_gemm_a4w4", GEMM, "aiter::gemm_a4w4", "aiter::_gemm_a4w4_asm",
                         MXFP4_BLOCK_SIZE=32)

__all__ = public(__name__, globals())
