# SPDX-License-Identifier: MIT
"""Matrix multiplication in groups."""
from .._evaluate import estimate, size
from .model import Model
from .registry import define, matching, public


class GroupedGemm(Model):
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


primus_turbo_grouped_gemm = define(__name__, "primus_turbo_grouped_gemm", GroupedGemm,
                                   *matching(r"primus_turbo\w*::(ck_)?grouped_gemm(_impl)?"))
primus_turbo_grouped_gemm_variable_k = define(__name__, "primus_turbo_grouped_gemm_variable_k", GroupedGemm,
                                              *matching(r"primus_turbo\w*::(ck_)?grouped_gemm_variable_k(_impl)?"))

__all__ = public(__name__, globals())
