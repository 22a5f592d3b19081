# SPDX-License-Identifier: MIT
"""Two traces laid over each other by the structure of their call trees."""
from .trace_diff import TraceDiff

__all__ = ["TraceDiff"]
