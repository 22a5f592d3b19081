# SPDX-License-Identifier: MIT
"""Operation models: classes of `perf_model`, and which operation has which in `torch_op_mapping`."""
from .kernel_name_parser import gemm_name_parser  # noqa: F401
from .perf_model import *  # noqa: F401,F403
from .utils import name2bpe, optional_float, parse_bool, torch_dtype_map  # noqa: F401
