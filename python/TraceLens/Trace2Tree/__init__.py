# SPDX-License-Identifier: MIT
"""The call tree of a trace."""
from .trace_to_tree import TraceToTree

__all__ = ["TraceToTree"]
