# SPDX-License-Identifier: MIT
"""Operation models, one module a family. Scripts find all of them in TraceLens.PerfModel.perf_model."""
from . import conv, elementwise, gemm, grouped_gemm, moe, norm, reduce, sdpa, sequence, softmax
from .conv import *  # noqa: F401,F403
from .elementwise import *  # noqa: F401,F403
from .gemm import *  # noqa: F401,F403
from .grouped_gemm import *  # noqa: F401,F403
from .moe import *  # noqa: F401,F403
from .norm import *  # noqa: F401,F403
from .reduce import *  # noqa: F401,F403
from .sdpa import *  # noqa: F401,F403
from .sequence import *  # noqa: F401,F403
from .softmax import *  # noqa: F401,F403

__all__ = [name for family in (conv, elementwise, gemm, grouped_gemm, moe, norm, reduce, sdpa, sequence, softmax)
           for name in family.__all__]
