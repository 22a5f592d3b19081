# SPDX-License-Identifier: MIT
"""Names of dtypes, and texts of arguments as numbers."""
from .. import _core

#: Short name of a dtype -> its name in traces.
_TRACE_NAMES = {"fp32": "float", "fp64": "double", "fp16": "c10::half", "bf16": "c10::bfloat16",
                "fp8": "c10::float8_e4m3fnuz"}


def name2bpe(name):
    """Bytes an element of a dtype as traces name it (``"c10::BFloat16"``), whatever the case; None when unknown."""
    if not isinstance(name, str):
        return None
    return _core.dtype_info(name)[0] or None


def torch_dtype_map(dtype):
    """Precision of a dtype as traces name it (``"bf16"``), whatever the case; None when unknown."""
    return _core.dtype_info(dtype)[1]


def simulation_dtype_map(dtype):
    """Name in traces of a dtype by its short name: ``"bf16"`` is ``"c10::bfloat16"``; None when unknown."""
    return _TRACE_NAMES.get(dtype.lower())


def parse_bool(input):
    """A flag as traces print it: ``"True"``, ``"1"`` and other texts are true; ``"False"``, ``"0"``, ``""`` and None
    are not."""
    if isinstance(input, str):
        return input.strip().lower() not in ("", "0", "false")
    return bool(input)


def optional_int(value, default=None):
    """``int(value)``, or ``default`` when that is none."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return default


def optional_float(value, default=0.0):
    """``float(value)``, or ``default`` when that is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def add_simulation_time_columns(dict_metrics, simulated_time, gflops, bytes_moved, busy_kernel_time):
    """Adds the columns ``Origami ...`` of a simulated time (µs) to the metrics of an operation; nothing without one."""
    if not simulated_time:
        return
    nan = float("nan")
    dict_metrics["Origami Time (µs)"] = simulated_time
    dict_metrics["Origami TFLOPS/s"] = gflops / 1e3 / (simulated_time / 1e6)
    dict_metrics["Origami TB/s"] = nan if bytes_moved is None else bytes_moved / 1e12 / (simulated_time / 1e6)
    dict_metrics["Pct Origami"] = simulated_time / busy_kernel_time * 100 if busy_kernel_time > 0 else nan
