# SPDX-License-Identifier: MIT
"""Operation models: FLOPs and bytes of operations, from their arguments in a trace or from sizes alone.

A model is made with an event (``aten_mm(event)``) and then tells its parameters (``param_details``), ``flops()`` and
``bytes()`` of the operation, and ``flops_bwd()`` and ``bytes_bwd()`` of its backward pass, where it has one. The base
classes (:class:`GEMM`, :class:`SDPA`, :class:`CONV` ...) also answer without an event through static functions such as
``GEMM.flops_func(M, N, K, bias)``. All figures come from the library's own models (docs/estimates.md, docs/models.md).

A model of one's own is a subclass that overrides ``get_param_details(event)``, and what else is different::

    class my_linear(GEMM):
        @staticmethod
        def get_param_details(event):
            (m, k), (n, _) = event["args"]["Input Dims"][:2]
            return {"M": m, "N": n, "K": k, "bias": False, "dtype_A_B": tuple(event["args"]["Input type"][:2])}

    analyzer.op_to_perf_model_class_map["my::linear"] = my_linear

Units: FLOPs, bytes, µs. ``flops()`` and the like raise NotImplementedError for what is not modelled; ``bytes()`` is None
when a dtype is unknown.
"""
import ast
from typing import TYPE_CHECKING, Any

from . import families
from .families import *  # noqa: F401,F403
from .families.registry import OP_TO_CLASS, define  # noqa: F401
from .kernel_name_parser import gemm_name_parser
from .utils import name2bpe, optional_float, optional_int, parse_bool, simulation_dtype_map, torch_dtype_map

if TYPE_CHECKING:  # classes are made from the library's list of models, which type checkers do not see

    def __getattr__(name: str) -> Any: ...


def parse_list(input, dtype):
    """The items of a list in a text (``"[1, 2]"``), each as a ``dtype``."""
    return [dtype(item) for item in ast.literal_eval(input)]


__all__ = ["name2bpe", "optional_float", "optional_int", "parse_bool", "parse_list", "simulation_dtype_map",
           "torch_dtype_map", "gemm_name_parser", *families.__all__]
