# SPDX-License-Identifier: MIT
"""Mixtures of experts."""
from .._evaluate import estimate, size
from .model import Model, NoBackward
from .registry import define, public


class MoEComm(NoBackward, Model):
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


moe_dispatch = define(__name__, "moe_dispatch", MoEComm, "MoEDispatch")
moe_combine = define(__name__, "moe_combine", MoEComm, "MoECombine")

__all__ = public(__name__, globals())
