# SPDX-License-Identifier: MIT
"""Softmax."""
import json

from ... import _core
from .._evaluate import estimate, size
from .registry import public


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

__all__ = public(__name__, globals())
