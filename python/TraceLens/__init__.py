# SPDX-License-Identifier: MIT
"""TraceLens: from profiler traces to tables.

``TreePerfAnalyzer.from_file(path)`` loads a trace; its methods give pandas DataFrames, its ``tree`` the events.
"""
from . import _core
from ._event import Args as _Args  # noqa: F401  (registers the views of events)
from ._core import Table
from .Trace2Tree import TraceToTree
from .TraceDiff.trace_diff import TraceDiff
from .TreePerf import GPUEventAnalyser, PytorchGPUEventAnalyser, TreePerfAnalyzer
from .util import DataLoader, TraceEventUtils

__version__ = _core.__version__
__all__ = ["DataLoader", "GPUEventAnalyser", "PytorchGPUEventAnalyser", "Table", "TraceDiff", "TraceEventUtils",
           "TraceToTree", "TreePerfAnalyzer"]
