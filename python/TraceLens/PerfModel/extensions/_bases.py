# SPDX-License-Identifier: MIT
"""Base classes of models of serving frameworks."""
from ..families.model import Model, NoBackward


class ServingModel(NoBackward, Model):
    """A model whose formulas are the library's only: a subclass that reads other parameters tells its figures, too."""


class InferenceAttention(ServingModel):
    """Attention of serving frameworks."""

    category = "InferenceAttention"
    _unit = "matrix"


class FusedMoE(ServingModel):
    """Both layers of a mixture of experts in one operation."""

    category = "MoE_fused"
    _unit = "matrix"


class UnfusedMoE_Up(ServingModel):
    """First layer of a mixture of experts."""

    category = "MoE_unfused"
    _unit = "matrix"


class UnfusedMoE_Down(ServingModel):
    """Second layer of a mixture of experts."""

    category = "MoE_unfused"
    _unit = "matrix"


class CustomCollective(ServingModel):
    """A collective that is no operation of a communication library."""

    category = "CustomCollective"
