# SPDX-License-Identifier: MIT
"""Operation models: classes of `perf_model`, and which operation has which in `torch_op_mapping`."""
import importlib

from .kernel_name_parser import gemm_name_parser  # noqa: F401
from .perf_model import *  # noqa: F401,F403
from .utils import name2bpe, optional_float, parse_bool, torch_dtype_map  # noqa: F401

#: Modules that are imported when somebody asks for them.
_LATER = ("extensions", "torch_op_mapping", "triton_compiled_perf_model")


def __getattr__(name):
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
