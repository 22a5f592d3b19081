# SPDX-License-Identifier: MIT
"""Models of serving frameworks by operation."""
from ... import _core
from ..families.registry import OP_TO_CLASS


def get_pseudo_op_mappings():
    """Operation -> class, of models of serving frameworks."""
    return {name: cls for name, cls in OP_TO_CLASS.items() if cls.__module__.startswith(__package__)}


def get_pseudo_op_category_only_mappings():
    """Operation -> category, of operations that have no model."""
    return _core.category_only()
