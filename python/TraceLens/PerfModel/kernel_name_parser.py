# SPDX-License-Identifier: MIT
"""What names of matrix multiplication kernels tell. Transposes are those of BLAS, which counts columns first."""
from .. import _core


def gemm_name_parser(kernel_name):
    """The first of :func:`parse_rocm_gemm` and :func:`parse_cuda_gemm` that understands the name; None if none does."""
    return parse_rocm_gemm(kernel_name) or parse_cuda_gemm(kernel_name)


def is_rocm_gemm(kernel_name):
    """Whether the name is one of Tensile or hipBLASLt."""
    return not is_cuda_gemm(kernel_name) and _core.gemm_kernel(kernel_name) is not None


def is_cuda_gemm(kernel_name):
    """Whether the name is one of nvjet."""
    return kernel_name.startswith("nvjet")


def parse_rocm_gemm(kernel_name):
    """``transpose`` (a pair), macro tile ``mt_m`` x ``mt_n``, ``depth_u``; None for other names."""
    if not is_rocm_gemm(kernel_name):
        return None
    a, b, *tile = _core.gemm_kernel(kernel_name)
    m, n, k = (size or None for size in tile)
    return {"transpose": (a, b), "mt_m": m, "mt_n": n, "depth_u": k}


def parse_cuda_gemm(kernel_name):
    """``transpose`` (a pair); None for other names."""
    found = _core.gemm_kernel(kernel_name) if is_cuda_gemm(kernel_name) else None
    return found and {"transpose": (found[0], found[1])}
