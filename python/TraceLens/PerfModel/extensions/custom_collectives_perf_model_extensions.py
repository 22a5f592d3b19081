# SPDX-License-Identifier: MIT
"""Collectives over peer memory. The library reads their arguments and has their formulas (docs/models.md)."""
from ._bases import CustomCollective  # noqa: F401
from ._generate import classes

globals().update(classes(__name__, {
    "aiter_fused_allreduce_rmsnorm": "aiter::fused_allreduce_rmsnorm",
    "aiter_fused_allreduce_rmsnorm_": "aiter::fused_allreduce_rmsnorm_",
    "custom_ar_all_reduce": "_C_custom_ar::all_reduce",
    "sgl_kernel_all_reduce_reg": "sgl_kernel::all_reduce_reg",
    "sgl_kernel_qr_all_reduce": "sgl_kernel::qr_all_reduce",
    "custom_ar_qr_all_reduce": "_C_custom_ar::qr_all_reduce",
    "aiter_reduce_scatter": "aiter::reduce_scatter",
    "aiter_all_gather_reg": "aiter::all_gather_reg",
    "sgl_kernel_reg_all_gather_into_tensor": "sglang::reg_all_gather_into_tensor",
}, "CustomCollective"))
