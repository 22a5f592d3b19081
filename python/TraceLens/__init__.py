# SPDX-License-Identifier: MIT
"""TraceLens: from profiler traces to tables.

``TreePerfAnalyzer.from_file(path)`` loads a trace; its methods give pandas DataFrames, its ``tree`` the events.
"""
import importlib
import importlib.util

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

#: Modules whose names are here, too, and are imported when one is asked for: most scripts need neither.
_MORE = ("PerfModel", "PerfModel.torch_op_mapping", "Reporting")


def __getattr__(name):
    if name in _MORE:
        return importlib.import_module(f"{__name__}.{name}")
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is None:
        for place in _MORE:
            module = importlib.import_module(f"{__name__}.{place}")
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    names = {name for place in _MORE for name in vars(importlib.import_module(f"{__name__}.{place}"))}
    return sorted(set(globals()) | {name for name in names if not name.startswith("_")})
