# SPDX-License-Identifier: MIT
"""Models of operations that serving frameworks bring along."""
from ._bases import CustomCollective, FusedMoE, InferenceAttention, UnfusedMoE_Down, UnfusedMoE_Up  # noqa: F401
from .attention_perf_model_extensions import *  # noqa: F401,F403
from .custom_collectives_perf_model_extensions import *  # noqa: F401,F403
from .moe_perf_model_extensions import *  # noqa: F401,F403
from .perf_model_extensions import *  # noqa: F401,F403
from .pseudo_ops_perf_utils import get_pseudo_op_category_only_mappings, get_pseudo_op_mappings  # noqa: F401
from .rmsnorm_perf_model_extensions import *  # noqa: F401,F403
