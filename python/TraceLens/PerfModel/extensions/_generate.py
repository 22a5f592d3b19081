# SPDX-License-Identifier: MIT
"""Makes the classes of serving frameworks' operations out of what models the library has."""
from ..families.gemm import GEMM
from ..families.registry import OP_TO_CLASS, REGISTRY, define
from ._bases import (CustomCollective, FusedMoE, GroupQuant, InferenceAttention, RMSNorm, ServingModel, ServingUnary,
                     UnfusedMoE_Down, UnfusedMoE_Up)

_BASES = {"CustomCollective": CustomCollective, "GEMM": GEMM, "InferenceAttention": InferenceAttention,
          "MoE_fused": FusedMoE, "RMSNorm": RMSNorm}


def _base(category, name):
    if category == "MoE_unfused" and name.endswith(("_up", "_stage1")):
        return UnfusedMoE_Up
    if category == "MoE_unfused" and name.endswith(("_down", "_stage2")):
        return UnfusedMoE_Down
    if name in ("per_group_quant", "vllm_triton_per_token_group_quant_fp8", "sglang_fused_append_shared_experts"):
        return GroupQuant
    if category == "GroupQuant" or name.endswith(("_and_mul", "_mx_quant_moe_sort_hip", "_mxfp4_quant_moe_sort_hip")):
        return ServingUnary
    return _BASES.get(category, ServingModel)


def classes(module, names, *categories):
    """Name -> class, for the operations of some categories, or of any, that have no class yet.

    ``names``: class -> its operation, or a tuple of them, where scripts know the class by another name than that of the
    operation without its namespace.
    """
    names_of = {operation: name for name, known in names.items()
                for operation in ((known,) if isinstance(known, str) else known)}
    found = {}
    for operation, (category, *_) in REGISTRY.items():
        if operation not in OP_TO_CLASS and (not categories or category in categories):
            name = names_of.get(operation, operation.split("::")[-1].lstrip("_"))
            found.setdefault(name, []).append(operation)
    return {name: define(module, name, _base(REGISTRY[operations[0]][0], name), *operations)
            for name, operations in found.items()}
