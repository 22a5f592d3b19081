# SPDX-License-Identifier: MIT
"""Analyses of a call tree, and GPU timelines of lists of events."""
from .gpu_event_analyser import GPUEventAnalyser, PytorchGPUEventAnalyser
from .tree_perf import TreePerfAnalyzer

__all__ = ["GPUEventAnalyser", "PytorchGPUEventAnalyser", "TreePerfAnalyzer"]
