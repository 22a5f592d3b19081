# SPDX-License-Identifier: MIT
"""Collectives over peer memory. The library reads their arguments and has their formulas (docs/models.md)."""
from ..perf_model import define
from ._bases import CustomCollective

aiter_fused_allreduce_rmsnorm = define(__name__, "aiter_fused_allreduce_rmsnorm", CustomCollective,
                                       "aiter::fused_allreduce_rmsnorm")
aiter_fused_allreduce_rmsnorm_ = define(__name__, "aiter_fused_allreduce_rmsnorm_", CustomCollective,
                                        "aiter::fused_allreduce_rmsnorm_")
custom_ar_all_reduce = define(__name__, "custom_ar_all_reduce", CustomCollective, "_C_custom_ar::all_reduce")
sgl_kernel_all_reduce_reg = define(__name__, "sgl_kernel_all_reduce_reg", CustomCollective,
                                   "sgl_kernel::all_reduce_reg")
sgl_kernel_qr_all_reduce = define(__name__, "sgl_kernel_qr_all_reduce", CustomCollective, "sgl_kernel::qr_all_reduce")
custom_ar_qr_all_reduce = define(__name__, "custom_ar_qr_all_reduce", CustomCollective, "_C_custom_ar::qr_all_reduce")
aiter_reduce_scatter = define(__name__, "aiter_reduce_scatter", CustomCollective, "aiter::reduce_scatter")
aiter_all_gather_reg = define(__name__, "aiter_all_gather_reg", CustomCollective, "aiter::all_gather_reg")
sgl_kernel_reg_all_gather_into_tensor = define(__name__, "sgl_kernel_reg_all_gather_into_tensor", CustomCollective,
                                               "sglang::reg_all_gather_into_tensor")
